//! The words for the operations of the vector engine.

use super::VectorStage;
use visa_words::words;

words! {
    /// An operation of an ALU, as the text spells it. The book's `MulF(FpMulAlu::Mul0)` is `MulF0`.
    #[allow(missing_docs)] // Their names are the book's, and what each computes is in the rows that use it.
    pub enum AluName {
        BitAnd = "BitAnd",
        BitOr = "BitOr",
        BitXor = "BitXor",
        LeftShift = "LeftShift",
        LogicRightShift = "LogicRightShift",
        ArithRightShift = "ArithRightShift",
        AddFxp = "AddFxp",
        AddFxpSat = "AddFxpSat",
        SubFxp = "SubFxp",
        SubFxpSat = "SubFxpSat",
        LeftShiftSat = "LeftShiftSat",
        MulFxp = "MulFxp",
        MulInt = "MulInt",
        ArithRightShiftRound = "ArithRightShiftRound",
        FxpToFp = "FxpToFp",
        Exp = "Exp",
        NegExp = "NegExp",
        Sqrt = "Sqrt",
        Tanh = "Tanh",
        Sigmoid = "Sigmoid",
        Erf = "Erf",
        Log = "Log",
        Sin = "Sin",
        Cos = "Cos",
        AddF = "AddF",
        SubF = "SubF",
        MulF0 = "MulF0",
        MulF1 = "MulF1",
        MulFma = "MulFma",
        MaskMulF0 = "MaskMulF0",
        MaskMulF1 = "MaskMulF1",
        DivF = "DivF",
        FmaF = "FmaF",
        MaskFmaF = "MaskFmaF",
        FpToFxp = "FpToFxp",
        Min = "Min",
        Max = "Max",
        AbsMin = "AbsMin",
        AbsMax = "AbsMax",
        Add = "Add",
    }
}

words! {
    /// An operation of the logic stage.
    #[allow(missing_docs)]
    pub enum LogicName: AluName {
        BitAnd, BitOr, BitXor, LeftShift, LogicRightShift, ArithRightShift,
    }
}

words! {
    /// An operation of the fixed-point stage.
    #[allow(missing_docs)]
    pub enum FxpName: AluName {
        AddFxp, AddFxpSat, SubFxp, SubFxpSat, LeftShift, LeftShiftSat, MulFxp, MulInt, LogicRightShift,
        ArithRightShift, ArithRightShiftRound,
    }
}

words! {
    /// An operation of the float stage.
    #[allow(missing_docs)]
    pub enum FpName: AluName {
        Exp, NegExp, Sqrt, Tanh, Sigmoid, Erf, Log, Sin, Cos, AddF, SubF, MulF0, MulF1, MulFma, MaskMulF0,
        MaskMulF1, DivF, FmaF, MaskFmaF,
    }
}

words! {
    /// The operation of the division stage.
    #[allow(missing_docs)]
    pub enum FpDivName: AluName {
        DivF,
    }
}

words! {
    /// An operation of the clip stage.
    #[allow(missing_docs)]
    pub enum ClipName: AluName {
        Min, Max, AbsMin, AbsMax, AddFxp, AddFxpSat, Add,
    }
}

words! {
    /// A reduction across slices.
    #[allow(missing_docs)] // What each computes is in the rows that use it.
    pub enum ReduceName {
        Add = "Add",
        AddSat = "AddSat",
        Max = "Max",
        Min = "Min",
        Mul = "Mul",
    }
}

words! {
    /// A reduction within a slice.
    #[allow(missing_docs)]
    pub enum SliceReduceName: ReduceName {
        AddSat, Add, Max, Min,
    }
}

words! {
    /// A stage that holds ALUs, as the text of hw names it.
    pub enum AluStage {
        /// Bitwise operations.
        Logic = "logic",
        /// Integer and fixed-point arithmetic.
        Fxp = "fxp",
        /// From fixed point to floating point.
        FxpToFp = "fxp_to_fp",
        /// Floating-point arithmetic and functions.
        Float = "fp",
        /// Floating-point division.
        FpDiv = "fp_div",
        /// From floating point to fixed point.
        FpToFxp = "fp_to_fxp",
        /// Minimum, maximum and a last addition.
        Clip = "clip",
    }
}

impl AluStage {
    /// The stage of the pipeline.
    #[must_use]
    pub const fn stage(self) -> VectorStage {
        match self {
            Self::Logic => VectorStage::Logic,
            Self::Fxp => VectorStage::Fxp,
            Self::FxpToFp => VectorStage::FxpToFp,
            Self::Float => VectorStage::Float,
            Self::FpDiv => VectorStage::FpDiv,
            Self::FpToFxp => VectorStage::FpToFxp,
            Self::Clip => VectorStage::Clip,
        }
    }

    /// The ALUs of a stage of the pipeline; `None` if it holds none.
    #[must_use]
    pub const fn of(stage: VectorStage) -> Option<Self> {
        match stage {
            VectorStage::Logic => Some(Self::Logic),
            VectorStage::Fxp => Some(Self::Fxp),
            VectorStage::FxpToFp => Some(Self::FxpToFp),
            VectorStage::Float => Some(Self::Float),
            VectorStage::FpDiv => Some(Self::FpDiv),
            VectorStage::FpToFxp => Some(Self::FpToFxp),
            VectorStage::Clip => Some(Self::Clip),
            VectorStage::Branch
            | VectorStage::Narrow
            | VectorStage::Reduce
            | VectorStage::Widen
            | VectorStage::Filter => None,
        }
    }
}
