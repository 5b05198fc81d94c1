//! The names of the vector engine's operations in the language.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use visa_numerics::{ClipName, Compare, DType, FpName, FxpName, LogicName, ReduceName, SliceReduceName};

/// An operation in the language.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    /// The stage, as in the names of methods.
    pub(crate) stage: &'static str,
    /// The operation as an argument; empty where the method determines it.
    pub(crate) name: TokenStream,
    /// Number of its arguments, with the stream.
    pub(crate) arguments: usize,
}

impl Operation {
    fn new(stage: &'static str, set: &str, word: &str) -> Self {
        let (set, word) = (format_ident!("{set}"), format_ident!("{word}"));
        Self { stage, name: quote!(#set::#word), arguments: 2 }
    }

    /// The division of the stage after the float stage.
    pub(crate) fn division() -> Self {
        Self { stage: "fp_div", name: TokenStream::new(), arguments: 2 }
    }
}

/// A bitwise operation; shifts are on `i32` alone.
pub(crate) fn logic(name: LogicName, dtype: DType) -> Option<Operation> {
    let is_float = dtype == DType::F32;
    match name {
        LogicName::BitAnd | LogicName::BitOr | LogicName::BitXor => {}
        LogicName::LeftShift | LogicName::LogicRightShift | LogicName::ArithRightShift if is_float => {
            return None;
        }
        LogicName::LeftShift | LogicName::LogicRightShift | LogicName::ArithRightShift => {}
    }
    let set = if is_float { "LogicBinaryOpF32" } else { "LogicBinaryOpI32" };
    Some(Operation::new("logic", set, name.word()))
}

/// An operation of the fixed-point stage.
pub(crate) fn fxp(name: FxpName) -> Operation {
    Operation::new("fxp", "FxpBinaryOp", name.word())
}

/// An operation of the clip stage.
pub(crate) fn clip(name: ClipName, dtype: DType) -> Option<Operation> {
    let is_float = dtype == DType::F32;
    match name {
        ClipName::Min | ClipName::Max | ClipName::AbsMin | ClipName::AbsMax => {}
        ClipName::AddFxp | ClipName::AddFxpSat if is_float => return None,
        ClipName::AddFxp | ClipName::AddFxpSat => {}
        ClipName::Add if !is_float => return None,
        ClipName::Add => {}
    }
    let set = if is_float { "ClipBinaryOpF32" } else { "ClipBinaryOpI32" };
    Some(Operation::new("clip", set, name.word()))
}

/// An operation of the float stage.
pub(crate) fn fp(name: FpName) -> Option<Operation> {
    let multiplied = |alu: &str| {
        let alu = format_ident!("{alu}");
        Operation { stage: "fp_binary", name: quote!(FpBinaryOp::MulF(FpMulAlu::#alu)), arguments: 2 }
    };
    Some(match name {
        FpName::Exp
        | FpName::NegExp
        | FpName::Sqrt
        | FpName::Tanh
        | FpName::Sigmoid
        | FpName::Erf
        | FpName::Log
        | FpName::Sin
        | FpName::Cos => Operation { arguments: 1, ..Operation::new("fp_unary", "FpUnaryOp", name.word()) },
        FpName::AddF | FpName::SubF | FpName::DivF => Operation::new("fp_binary", "FpBinaryOp", name.word()),
        FpName::MulF0 => multiplied("Mul0"),
        FpName::MulF1 => multiplied("Mul1"),
        FpName::MulFma => multiplied("Fma"),
        FpName::FmaF => {
            Operation { arguments: 3, ..Operation::new("fp_ternary", "FpTernaryOp", name.word()) }
        }
        FpName::MaskMulF0 | FpName::MaskMulF1 | FpName::MaskFmaF => return None,
    })
}

/// A reduction within a slice.
pub(crate) fn slice_reduce(name: SliceReduceName, dtype: DType) -> Option<TokenStream> {
    let is_float = dtype == DType::F32;
    match name {
        SliceReduceName::AddSat if is_float => return None,
        SliceReduceName::Add if !is_float => return None,
        SliceReduceName::AddSat | SliceReduceName::Add | SliceReduceName::Max | SliceReduceName::Min => {}
    }
    let set = if is_float { "IntraSliceReduceOpF32" } else { "IntraSliceReduceOpI32" };
    Some(Operation::new("", set, name.word()).name)
}

/// A reduction of slices.
pub(crate) fn reduce(name: ReduceName, dtype: DType) -> Option<TokenStream> {
    let is_float = dtype == DType::F32;
    match name {
        ReduceName::AddSat if is_float => return None,
        ReduceName::Mul if !is_float => return None,
        ReduceName::Add | ReduceName::AddSat | ReduceName::Max | ReduceName::Min | ReduceName::Mul => {}
    }
    let set = if is_float { "InterSliceReduceOpF32" } else { "InterSliceReduceOpI32" };
    Some(Operation::new("", set, name.word()).name)
}

/// A comparison of the branch stage.
pub(crate) fn comparison(kind: Compare) -> &'static str {
    match kind {
        Compare::Less => "Less",
        Compare::Equal => "Equal",
        Compare::Greater => "Greater",
        Compare::LessUnsigned => "LessUnsigned",
        Compare::GreaterUnsigned => "GreaterUnsigned",
        Compare::True => "True",
        Compare::False => "False",
    }
}
