//! Rules. A rule gives, for an operation of a pipeline, clauses that leave the tensor at its end as it is. A rule only
//! proposes; the verifiers refuse, and the cost function decides.

use crate::config::task::Task;
use std::rc::Rc;
use visa_algebra::{Axes, AxisId, Digits, Equality, Expr, cuts_unevenly, digits, equal_streams, rebuild};
use visa_ir::context::{Attr, Context};
use visa_ir::decl::{ClauseKind, OpDecl};
use visa_ir::module::{AttrId, OpRef};
use visa_machine::Machine;
use visa_mapping::facts::Support;
use visa_mapping::tensor::attrs::MAP;
use visa_mapping::{Dim, Tensor};
use visa_stream::chain::flit_bytes;

/// A rule.
pub struct Rule {
    /// Its name, in reports and proofs.
    pub name: &'static str,
    /// The rule, as an equation of streams.
    pub equation: &'static str,
    /// The operation whose clauses it proposes.
    pub op: &'static OpDecl,
    /// Its proposals. Each has a value for every open clause; values for explicit clauses must agree with the text.
    pub propose: fn(&Site<'_>) -> Vec<Proposal>,
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// An operation that waits for its clauses.
pub struct Site<'a> {
    /// The operation; its open clauses may hold anything.
    pub op: OpRef<'a>,
    /// The operation as it is written, with its open clauses. Its operands need not have a type.
    pub written: OpRef<'a>,
    /// The stream that flows in.
    pub source: Rc<Tensor>,
    /// The module's axes.
    pub axes: &'a Axes,
    /// The machine.
    pub machine: &'a Machine,
    /// The axes that the stream and the other operands depend on.
    pub support: &'a Support,
    /// The computation of the pipeline, and the constraints on it.
    pub task: &'a Task,
}

/// Values for clauses, by name.
pub type Proposal = Vec<(&'static str, Value)>;

/// A clause's value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// A mapping.
    Map(Expr),
    /// A word.
    Word(&'static str),
    /// A number.
    Int(i64),
    /// The clause is absent: the choices of the others have no use for it.
    Absent,
}

impl Value {
    /// The value that an attribute of a clause is; `None` for one that no rule proposes.
    pub fn of(ctx: &Context, kind: ClauseKind, value: Option<AttrId>) -> Option<Self> {
        let Some(value) = value else { return Some(Self::Absent) };
        if let Some(map) = ctx.attr_value::<Expr>(value) {
            return Some(Self::Map((*map).clone()));
        }
        match (ctx.attr_data(value), kind) {
            (Attr::Int(number), _) => Some(Self::Int(number)),
            (Attr::Str(word), ClauseKind::Word(words)) => {
                words.iter().find(|own| ***own == *word).map(|word| Self::Word(word))
            }
            (Attr::Str(_) | Attr::Symbol(_) | Attr::Ints(_) | Attr::Strs(_) | Attr::Unit, _) => None,
            (Attr::Auto | Attr::OpenInts(_) | Attr::Body(..) | Attr::Opaque(_), _) => None,
        }
    }

    /// The value as an attribute; none for a clause that is not there.
    pub fn attr(&self, ctx: &Context) -> Option<AttrId> {
        match self {
            Self::Map(map) => Some(ctx.body_attr(&MAP, map.clone())),
            Self::Word(word) => Some(ctx.attr(Attr::Str((*word).into()))),
            Self::Int(number) => Some(ctx.attr(Attr::Int(*number))),
            Self::Absent => None,
        }
    }
}

impl Site<'_> {
    /// A mapping of the stream that flows in.
    pub fn dim(&self, dim: Dim) -> Expr {
        self.source.dim(dim)
    }

    /// The axes that operand `index` does not depend on.
    pub fn free(&self, index: usize) -> impl Fn(AxisId) -> bool + '_ {
        let value = self.op.operands().get(index).copied();
        move |axis| value.is_none_or(|value| !self.support.depends(value, self.axes.name(axis)))
    }

    /// Bytes of a flit up to the aligner.
    pub fn flit_bytes(&self) -> u64 {
        flit_bytes(&self.source, self.machine)
    }

    /// Elements of a flit up to the aligner.
    pub fn flit(&self) -> u64 {
        self.source.dtype.elements(self.flit_bytes())
    }

    /// Time and packet of the stream that flows in, as one mapping.
    pub fn stream(&self) -> Expr {
        Expr::pair([self.dim(Dim::Time), self.dim(Dim::Packet)])
    }

    /// The digits of a mapping, if it has some.
    pub fn digits(&self, map: &Expr) -> Option<Digits> {
        digits(map, self.axes).ok()
    }

    /// A mapping in its normal form.
    pub fn tidy(&self, map: Expr) -> Expr {
        // A part that carries is known by the whole that it is a part of.
        if cuts_unevenly(&map, self.axes).is_ok_and(|uneven| uneven) {
            return map;
        }
        self.digits(&map).and_then(|digits| rebuild(&digits, self.axes).ok()).unwrap_or(map)
    }

    /// The clauses `time` and `packet`: each in its normal form, unless they cut through padding, which only both
    /// together show.
    pub fn cut(&self, time: Expr, packet: Expr) -> Proposal {
        let (short_time, short_packet) = (self.tidy(time.clone()), self.tidy(packet.clone()));
        let same = || {
            let short = Expr::pair([short_time.clone(), short_packet.clone()]);
            let whole = Expr::pair([time.clone(), packet.clone()]);
            matches!(equal_streams(&whole, &short, self.axes), Equality::Equal)
        };
        let (time, packet) = match (cuts_padding(&time) || cuts_padding(&packet)) && !same() {
            true => (Expr::pair(time.counting().cloned()), Expr::pair(packet.counting().cloned())),
            false => (short_time, short_packet),
        };
        vec![("time", Value::Map(time)), ("packet", Value::Map(packet))]
    }

    /// A mapping's outer and inner part: `[E / n, E % n]`. Where it starts within an axis, the outer part does,
    /// and the inner one counts from there.
    pub fn divided(&self, map: &Expr, n: u64) -> [Expr; 2] {
        let inner = map.clone().modulo(n);
        let starts = self.digits(&inner).filter(|digits| !digits.offset().is_empty());
        let moved = starts.and_then(|digits| rebuild(&digits.without_offset(), self.axes).ok());
        [map.clone().stride(n), moved.unwrap_or(inner)]
    }
}

/// Returns true if a part of a mapping is a part of something padded.
#[must_use]
pub fn cuts_padding(map: &Expr) -> bool {
    has_cut_padding(map, false)
}

/// The same of a part of a mapping, which is `within` a part of another.
fn has_cut_padding(map: &Expr, within: bool) -> bool {
    let within = match map {
        Expr::Pad { .. } | Expr::Alias(_) if within => return true,
        Expr::Stride { .. } | Expr::Modulo { .. } => true,
        Expr::Axis(_)
        | Expr::Alias(_)
        | Expr::Literal(_)
        | Expr::Pair(_)
        | Expr::Outer(_)
        | Expr::Pad { .. }
        | Expr::Resize { .. }
        | Expr::Slice { .. }
        | Expr::Gather { .. }
        | Expr::Slide(_) => within,
    };
    map.children().into_iter().any(|child| has_cut_padding(child, within))
}
