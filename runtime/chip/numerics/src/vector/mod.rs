//! The ALUs of the vector engine: a row an operation (book 21).

mod args;
mod clip;
mod compare;
mod convert;
mod fixed;
mod float;
mod guard;
mod logic;
mod names;
mod reduce;
mod valid_count;

pub use args::{Arg, ArgMode, default_mode};
pub use compare::{Compare, Comparisons};
pub use guard::{Guard, GuardFault, Guards, IdSet, Slot};
pub use names::{
    AluName, AluStage, ClipName, FpDivName, FpName, FxpName, LogicName, ReduceName, SliceReduceName,
};
pub use reduce::{ReduceOp, reduce_op, reduce_ops};
pub use valid_count::{CountDim, Counter, Gate};

use crate::bits::Bits;
use crate::dtype::DType;

/// A stage of the vector engine's pipeline, in its order (book 21).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum VectorStage {
    /// Gives every element its execution id.
    Branch,
    /// Bitwise operations, 8 lanes wide.
    Logic,
    /// Integer and fixed-point arithmetic, 8 lanes wide.
    Fxp,
    /// From fixed point to floating point, 8 lanes wide.
    FxpToFp,
    /// From 8 lanes to 4.
    Narrow,
    /// Floating-point arithmetic and functions, 4 lanes wide.
    Float,
    /// Reduces an axis within a slice, 4 lanes wide.
    Reduce,
    /// Floating-point division, 4 lanes wide.
    FpDiv,
    /// From 4 lanes to 8.
    Widen,
    /// From floating point to fixed point, 8 lanes wide.
    FpToFxp,
    /// Minimum, maximum and a last addition, 8 lanes wide.
    Clip,
    /// Drops elements, 8 lanes wide.
    Filter,
}

impl VectorStage {
    /// Its name in messages and in the text of hw.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Branch => "branch",
            Self::Logic => "logic",
            Self::Fxp => "fxp",
            Self::FxpToFp => "fxp_to_fp",
            Self::Narrow => "narrow",
            Self::Float => "fp",
            Self::Reduce => "reduce",
            Self::FpDiv => "fp_div",
            Self::Widen => "widen",
            Self::FpToFxp => "fp_to_fxp",
            Self::Clip => "clip",
            Self::Filter => "filter",
        }
    }

    /// Returns true if it works on 4 lanes (Way4); the others work on 8 (Way8).
    #[must_use]
    pub const fn is_narrow(self) -> bool {
        matches!(self, Self::Float | Self::Reduce | Self::FpDiv)
    }
}

impl std::fmt::Display for VectorStage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// An ALU, which one pass through the vector engine can use once (book 21).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)] // Their names are the book's, and what each computes is in the rows that use it.
pub enum Alu {
    LogicAnd,
    LogicOr,
    LogicXor,
    LogicLshift,
    LogicRshift,
    FxpAdd,
    FxpLshift,
    FxpMul,
    FxpRshift,
    FxpToFp,
    FpFma,
    FpFpu,
    FpExp,
    FpMul0,
    FpMul1,
    FpDiv,
    FpToFxp,
    ClipAdd,
    ClipMax,
    ClipMin,
}

impl std::fmt::Display for Alu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(self, f)
    }
}

/// The function of an ALU, a lane at a time.
#[derive(Clone, Copy, Debug)]
pub enum Apply {
    /// Of one argument.
    Unary(fn(Bits) -> Bits),
    /// Of two.
    Binary(fn(Bits, Bits) -> Bits),
    /// Of three.
    Ternary(fn(Bits, Bits, Bits) -> Bits),
}

/// An operation of the vector engine: a row of [`alu_ops`].
#[derive(Clone, Copy, Debug)]
pub struct AluOp {
    /// Its name.
    pub name: AluName,
    /// The stage that holds its ALU.
    pub stage: VectorStage,
    /// The ALU that it occupies for the pass.
    pub alu: Alu,
    /// The format of its arguments.
    pub from: DType,
    /// The format of its result.
    pub to: DType,
    /// Its result for the arguments `x`, `y` and `z`.
    pub doc: &'static str,
    /// Computes one lane.
    pub apply: Apply,
}

impl Apply {
    /// Number of its arguments.
    #[must_use]
    pub const fn arity(&self) -> usize {
        match self {
            Self::Unary(_) => 1,
            Self::Binary(_) => 2,
            Self::Ternary(_) => 3,
        }
    }

    /// The result for an element of the stream and the two operands; `mode` assigns them to arguments.
    #[must_use]
    pub fn eval(&self, mode: ArgMode, stream: Bits, operands: [Bits; 2]) -> Bits {
        let args = mode.args();
        let argument = |at: usize| args.get(at).copied().unwrap_or(Arg::Stream).pick(stream, operands);
        match self {
            Self::Unary(apply) => apply(argument(0)),
            Self::Binary(apply) => apply(argument(0), argument(1)),
            Self::Ternary(apply) => apply(argument(0), argument(1), argument(2)),
        }
    }
}

/// All operations, in the order of the pipeline, then the book's.
pub fn alu_ops() -> impl Iterator<Item = &'static AluOp> {
    TABLES.into_iter().flatten()
}

/// The operation called `name` of a stage on elements of `dtype`, if it has one.
#[must_use]
pub fn alu_op(stage: VectorStage, name: AluName, dtype: DType) -> Option<&'static AluOp> {
    alu_ops().find(|op| op.stage == stage && op.name == name && op.from == dtype)
}

/// Every row, in the order of the pipeline, then the book's.
const TABLES: [&[AluOp]; 7] =
    [logic::OPS, fixed::OPS, convert::TO_FP, float::OPS, float::DIV, convert::TO_FXP, clip::OPS];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use visa_words::Word as _;

    #[test]
    fn the_text_knows_every_operation() {
        let part = |stage, has: fn(AluName) -> bool| {
            let rows: BTreeSet<_> = alu_ops().filter(|op| op.stage == stage).map(|op| op.name).collect();
            let words: BTreeSet<_> = AluName::ALL.iter().copied().filter(|&name| has(name)).collect();
            assert_eq!(rows, words, "{stage}");
        };
        part(VectorStage::Logic, |name| LogicName::of(name).is_some());
        part(VectorStage::Fxp, |name| FxpName::of(name).is_some());
        part(VectorStage::Float, |name| FpName::of(name).is_some());
        part(VectorStage::FpDiv, |name| FpDivName::of(name).is_some());
        part(VectorStage::Clip, |name| ClipName::of(name).is_some());
        assert!(AluName::ALL.iter().all(|&name| alu_ops().any(|op| op.name == name)));
        assert!(AluStage::ALL.iter().all(|own| own.word() == own.stage().name()));
        assert!(alu_ops().all(|op| AluStage::of(op.stage).is_some_and(|own| own.stage() == op.stage)));
        assert_eq!(
            format!("{} {:>4} {}", VectorStage::FpDiv, VectorStage::Float, Alu::FxpToFp),
            "fp_div   fp FxpToFp"
        );
    }

    /// Semantics, "most operations in one pass": logic 5, fxp 4, float 5, clip 3.
    #[test]
    fn alus_of_each_stage() {
        for (stage, expected) in [
            (VectorStage::Logic, 5),
            (VectorStage::Fxp, 4),
            (VectorStage::FxpToFp, 1),
            (VectorStage::Float, 5),
            (VectorStage::FpDiv, 1),
            (VectorStage::FpToFxp, 1),
            (VectorStage::Clip, 3),
        ] {
            let alus: BTreeSet<Alu> = alu_ops().filter(|op| op.stage == stage).map(|op| op.alu).collect();
            assert_eq!(alus.len(), expected, "{stage}");
        }
    }

    #[test]
    fn lookup_is_by_stage_name_and_format() {
        let find = |stage, name, dtype| alu_op(stage, name, dtype).is_some();
        assert!(
            find(VectorStage::Clip, AluName::Max, DType::F32)
                && find(VectorStage::Clip, AluName::Max, DType::I32)
        );
        assert!(
            find(VectorStage::Clip, AluName::AddFxp, DType::I32)
                && !find(VectorStage::Clip, AluName::AddFxp, DType::F32)
        );
        assert!(
            find(VectorStage::Clip, AluName::Add, DType::F32)
                && !find(VectorStage::Clip, AluName::Add, DType::I32)
        );
        assert!(
            !find(VectorStage::Logic, AluName::LeftShift, DType::F32)
                && find(VectorStage::Logic, AluName::BitXor, DType::F32)
        );
        for name in ["", "addfxp", "AddFxp ", "FxpAdd"] {
            assert_eq!(AluName::from_word(name), None, "{name:?}");
        }
    }
}
