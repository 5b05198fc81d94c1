//! The operations of MLIR that are read. Any other one is refused by name.

use melior::ir::operation::{OperationLike as _, OperationRef};
use visa_ir::{Word, words};

/// A function.
pub(crate) const FUNC: &str = "func.func";

words! {
    /// An operation of a function's body, on tensors.
    pub(crate) enum TensorOp {
        Call = "func.call",
        Return = "func.return",
        Generic = "linalg.generic",
        Constant = "arith.constant",
        Empty = "tensor.empty",
        Fill = "linalg.fill",
        Splat = "tensor.splat",
        Cast = "tensor.cast",
        CollapseShape = "tensor.collapse_shape",
        ExpandShape = "tensor.expand_shape",
        Pad = "tensor.pad",
        ExtractSlice = "tensor.extract_slice",
        InsertSlice = "tensor.insert_slice",
        Concat = "tensor.concat",
        Gather = "tensor.gather",
        FromElements = "tensor.from_elements",
        Extract = "tensor.extract",
        Softmax = "linalg.softmax",
        Dim = "tensor.dim",
        For = "scf.for",
        If = "scf.if",
    }
}

words! {
    /// An operation on elements.
    pub(crate) enum ScalarOp {
        Constant = "arith.constant",
        AddF = "arith.addf",
        SubF = "arith.subf",
        MulF = "arith.mulf",
        DivF = "arith.divf",
        NegF = "arith.negf",
        MaximumF = "arith.maximumf",
        MinimumF = "arith.minimumf",
        MaxNumF = "arith.maxnumf",
        MinNumF = "arith.minnumf",
        AddI = "arith.addi",
        SubI = "arith.subi",
        MulI = "arith.muli",
        AndI = "arith.andi",
        OrI = "arith.ori",
        XOrI = "arith.xori",
        ShLI = "arith.shli",
        ShRSI = "arith.shrsi",
        ShRUI = "arith.shrui",
        MaxSI = "arith.maxsi",
        MinSI = "arith.minsi",
        MaxUI = "arith.maxui",
        MinUI = "arith.minui",
        DivSI = "arith.divsi",
        DivUI = "arith.divui",
        FloorDivSI = "arith.floordivsi",
        RemSI = "arith.remsi",
        RemUI = "arith.remui",
        CmpF = "arith.cmpf",
        CmpI = "arith.cmpi",
        Select = "arith.select",
        ExtF = "arith.extf",
        TruncF = "arith.truncf",
        SIToFP = "arith.sitofp",
        UIToFP = "arith.uitofp",
        FPToSI = "arith.fptosi",
        ExtSI = "arith.extsi",
        ExtUI = "arith.extui",
        TruncI = "arith.trunci",
        IndexCast = "arith.index_cast",
        IndexCastUI = "arith.index_castui",
        Bitcast = "arith.bitcast",
        AbsF = "math.absf",
        AbsI = "math.absi",
        Exp = "math.exp",
        Exp2 = "math.exp2",
        ExpM1 = "math.expm1",
        Log = "math.log",
        Log2 = "math.log2",
        Log10 = "math.log10",
        Log1p = "math.log1p",
        Sqrt = "math.sqrt",
        Rsqrt = "math.rsqrt",
        Tanh = "math.tanh",
        Erf = "math.erf",
        Sin = "math.sin",
        Cos = "math.cos",
        Fma = "math.fma",
        PowF = "math.powf",
        FPowI = "math.fpowi",
        Floor = "math.floor",
        Ceil = "math.ceil",
        Round = "math.round",
        RoundEven = "math.roundeven",
        Trunc = "math.trunc",
        CopySign = "math.copysign",
    }
}

/// The operation as one of a set; `None` if the set lacks it.
pub(crate) fn known<W: Word>(op: OperationRef<'_, '_>) -> Option<W> {
    W::from_word(op.name().as_string_ref().as_str().ok()?)
}
