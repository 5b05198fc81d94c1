//! The operations of MLIR that are read. Any other one is refused by name.

use melior::ir::operation::{OperationLike as _, OperationRef};
use visa_ir::{Word, words};

/// A function.
pub(crate) const FUNC: &str = "func.func";

words! {
    /// An operation that ends a region, or that only the loops around it define.
    pub(crate) enum RegionOp {
        Index = "linalg.index",
        Yield = "scf.yield",
    }
}

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
        Pack = "linalg.pack",
        Unpack = "linalg.unpack",
        Reshape = "tensor.reshape",
        Generate = "tensor.generate",
        Insert = "tensor.insert",
        Rank = "tensor.rank",
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
        RemF = "arith.remf",
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
        CeilDivSI = "arith.ceildivsi",
        CeilDivUI = "arith.ceildivui",
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
        FPToUI = "arith.fptoui",
        ExtSI = "arith.extsi",
        ExtUI = "arith.extui",
        TruncI = "arith.trunci",
        IndexCast = "arith.index_cast",
        IndexCastUI = "arith.index_castui",
        Bitcast = "arith.bitcast",
        AbsF = "math.absf",
        AbsI = "math.absi",
        Ctlz = "math.ctlz",
        Cttz = "math.cttz",
        Ctpop = "math.ctpop",
        Exp = "math.exp",
        Exp2 = "math.exp2",
        ExpM1 = "math.expm1",
        Log = "math.log",
        Log2 = "math.log2",
        Log10 = "math.log10",
        Log1p = "math.log1p",
        Sqrt = "math.sqrt",
        Rsqrt = "math.rsqrt",
        Sinh = "math.sinh",
        Cosh = "math.cosh",
        Tanh = "math.tanh",
        Asin = "math.asin",
        Acos = "math.acos",
        Atan = "math.atan",
        Atan2 = "math.atan2",
        Cbrt = "math.cbrt",
        Asinh = "math.asinh",
        Acosh = "math.acosh",
        Atanh = "math.atanh",
        Erf = "math.erf",
        Erfc = "math.erfc",
        Sin = "math.sin",
        Cos = "math.cos",
        Tan = "math.tan",
        Fma = "math.fma",
        PowF = "math.powf",
        FPowI = "math.fpowi",
        IPowI = "math.ipowi",
        ClampF = "math.clampf",
        IsNan = "math.isnan",
        IsInf = "math.isinf",
        IsFinite = "math.isfinite",
        IsNormal = "math.isnormal",
        Floor = "math.floor",
        Ceil = "math.ceil",
        Round = "math.round",
        RoundEven = "math.roundeven",
        Trunc = "math.trunc",
        CopySign = "math.copysign",
    }
}

words! {
    /// A dialect whose operations are refused, with a way around them.
    enum RefusedDialect {
        Tosa = "tosa",
        Scf = "scf",
        Cf = "cf",
        Memref = "memref",
        Bufferization = "bufferization",
    }
}

words! {
    /// An operation that is refused, with a way around it.
    enum RefusedOp {
        Scatter = "tensor.scatter",
        Bitcast = "tensor.bitcast",
        ParallelInsertSlice = "tensor.parallel_insert_slice",
        AddUIExtended = "arith.addui_extended",
        MulSIExtended = "arith.mulsi_extended",
        MulUIExtended = "arith.mului_extended",
        ScalingExtF = "arith.scaling_extf",
        ScalingTruncF = "arith.scaling_truncf",
        SinCos = "math.sincos",
        WinogradFilter = "linalg.winograd_filter_transform",
        WinogradInput = "linalg.winograd_input_transform",
        WinogradOutput = "linalg.winograd_output_transform",
    }
}

/// The way around an operation that is not imported.
pub(crate) fn fix(name: &str) -> Option<&'static str> {
    if let Some(op) = RefusedOp::from_word(name) {
        return Some(match op {
            RefusedOp::Scatter => {
                "write each row by `tensor.insert_slice`, or choose the row of each result by `tensor.gather`"
            }
            RefusedOp::Bitcast => "convert each element by `arith.bitcast` in a `linalg.generic`",
            RefusedOp::ParallelInsertSlice => "use `tensor.insert_slice`, outside of `scf.forall`",
            RefusedOp::AddUIExtended | RefusedOp::MulSIExtended | RefusedOp::MulUIExtended => {
                "widen the operands first, by `arith.extsi` or `arith.extui`"
            }
            RefusedOp::ScalingExtF => "extend by `arith.extf`, and multiply by the scale",
            RefusedOp::ScalingTruncF => "divide by the scale, and truncate by `arith.truncf`",
            RefusedOp::SinCos => "use `math.sin` and `math.cos`",
            RefusedOp::WinogradFilter | RefusedOp::WinogradInput | RefusedOp::WinogradOutput => {
                "use the convolution itself, or decompose the transform before"
            }
        });
    }
    let (dialect, _) = name.split_once('.')?;
    Some(match RefusedDialect::from_word(dialect)? {
        RefusedDialect::Tosa => {
            "lower it first: mlir-opt-22 \
             --pass-pipeline='builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg))'"
        }
        RefusedDialect::Scf | RefusedDialect::Cf => {
            "branches, and loops other than `scf.for` with constant bounds, are not imported; unroll them before"
        }
        RefusedDialect::Memref | RefusedDialect::Bufferization => "import the module before it is bufferized",
    })
}

/// The operation as one of a set; `None` if the set lacks it.
pub(crate) fn known<W: Word>(op: OperationRef<'_, '_>) -> Option<W> {
    W::from_word(op.name().as_string_ref().as_str().ok()?)
}
