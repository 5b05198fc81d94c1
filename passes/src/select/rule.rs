//! What a rule is: for an operation of a pipeline, clauses that leave the tensor at its end as it is. A rule only proposes; the
//! verifiers refuse, and the cost function decides.

use super::aim::Aim;
use std::rc::Rc;
use visa_ir::context::{Attr, Context};
use visa_ir::module::{AttrId, OpRef};
use visa_machine::Machine;
use visa_mapping::attrs::MAP;
use visa_mapping::{Axes, Digits, Dim, Expr, Tensor, digits, rebuild};

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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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

    /// The clauses `time` and `packet`.
    pub fn cut(&self, time: Expr, packet: Expr) -> Proposal {
        vec![("time", Value::Map(self.tidy(time))), ("packet", Value::Map(self.tidy(packet)))]
    }
}
