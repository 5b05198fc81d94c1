//! What a rule is: for an operation of a pipeline, clauses that leave the tensor at its end as it is. A rule only proposes; the
//! verifiers refuse, and the cost function decides.

use super::aim::Aim;
use std::rc::Rc;
use visa_ir::context::{Attr, Context};
use visa_ir::module::{AttrId, OpRef};
use visa_machine::Machine;
use visa_mapping::attrs::MAP;
use visa_mapping::{Axes, Digits, Dim, Equality, Expr, PadKind, Side, Tensor, digits, equal_streams, rebuild};

/// A rule.
pub struct Rule {
    /// Its name, in reports and proofs.
    pub name: &'static str,
    /// What it says, as an equation of streams.
    pub equation: &'static str,
    /// The operation whose clauses it proposes.
    pub op: &'static str,
    /// Its proposals. Each has a value for every open clause; values of written ones must agree with what is written.
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
    /// The operation as it is written, with its open clauses. What it takes need not have a type.
    pub written: OpRef<'a>,
    /// The stream that flows in.
    pub source: Rc<Tensor>,
    /// The module's axes.
    pub axes: &'a Axes,
    /// The machine.
    pub machine: &'a Machine,
    /// What the rest of the pipeline says.
    pub aim: &'a Aim,
}

/// Values for clauses, by name.
pub type Proposal = Vec<(&'static str, Value)>;

/// A clause's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A mapping.
    Map(Expr),
    /// A word.
    Word(&'static str),
    /// A number.
    Int(i64),
    /// The clause is not there: what the others choose has no use for it.
    Absent,
}

impl Value {
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

    /// Elements of a flit.
    pub fn flit(&self) -> u64 {
        self.source.dtype.elements(self.machine.limits.flit_bytes)
    }

    /// The digits of a mapping, if it has some.
    pub fn digits(&self, map: &Expr) -> Option<Digits> {
        digits(map, self.axes).ok()
    }

    /// A mapping in its normal form.
    pub fn tidy(&self, map: Expr) -> Expr {
        self.digits(&map).and_then(|digits| rebuild(&digits, self.axes).ok()).unwrap_or(map)
    }

    /// The clauses `time` and `packet`, in their normal form where that says the same: each by itself may forget padding that both share.
    pub fn cut(&self, time: Expr, packet: Expr) -> Proposal {
        let (mut time, mut packet) = (time, packet);
        let tidy = [self.tidy(time.clone()), self.tidy(packet.clone())];
        if !is_padded(&time) && !is_padded(&packet) || self.same([&time, &packet], [&tidy[0], &tidy[1]]) {
            [time, packet] = tidy;
        }
        vec![("time", Value::Map(time)), ("packet", Value::Map(packet))]
    }

    /// A mapping's outer and inner part: `[E / n, E % n]`. Where it starts within an axis, the outer part does, and the inner one counts from there.
    pub fn divided(&self, map: &Expr, n: u64) -> [Expr; 2] {
        let inner = map.clone().modulo(n);
        let starts = self.digits(&inner).filter(|digits| !digits.offset().is_empty());
        let moved = starts.and_then(|digits| rebuild(&digits.without_offset(), self.axes).ok());
        [map.clone().stride(n), moved.unwrap_or(inner)]
    }

    /// Whether two streams hold the same.
    fn same(&self, left: [&Expr; 2], right: [&Expr; 2]) -> bool {
        let whole = |parts: [&Expr; 2]| Expr::pair(parts.map(Clone::clone));
        matches!(equal_streams(&whole(left), &whole(right), self.axes), Equality::Equal)
    }
}

/// Whether a mapping has padding that is zeros or stands in front: a sum or a commit may need it as it is.
fn is_padded(map: &Expr) -> bool {
    let own = match map {
        Expr::Pad { kind, side, .. } => *kind == PadKind::Zero || *side == Side::Low,
        Expr::Alias(_) => true,
        Expr::Axis(_)
        | Expr::Literal(_)
        | Expr::Pair(_)
        | Expr::Resize { .. }
        | Expr::Stride { .. }
        | Expr::Modulo { .. }
        | Expr::Slice { .. }
        | Expr::Gather { .. }
        | Expr::Slide(_) => false,
    };
    own || map.children().into_iter().any(is_padded)
}
