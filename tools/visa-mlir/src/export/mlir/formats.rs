//! Formats of elements as types of MLIR, and their numbers as attributes.

use melior::Context;
use melior::ir::attribute::{FloatAttribute, IntegerAttribute};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Type};
use visa_ir::module::OpRef;
use visa_numerics::{Bits, DType, to_f64};

use crate::export::mlir::refusals::{Export, refuse};

/// The type of the elements of a format.
///
/// # Errors
/// A format that MLIR has no arithmetic for.
pub(crate) fn element<'c>(context: &'c Context, op: OpRef<'_>, dtype: DType) -> Export<Type<'c>> {
    let integer = |bits| Ok(IntegerType::new(context, bits).into());
    match dtype {
        DType::I4 => integer(4),
        DType::I5 => integer(5),
        DType::I8 => integer(8),
        DType::I9 => integer(9),
        DType::I16 => integer(16),
        DType::I32 => integer(32),
        DType::F8e4m3 => Ok(Type::float8_e4m3fn(context)),
        DType::F8e5m2 => Ok(Type::float8_e5m2(context)),
        DType::F16 => Ok(Type::float16(context)),
        DType::Bf16 => Ok(Type::bfloat16(context)),
        DType::F32 => Ok(Type::float32(context)),
        DType::U8 => {
            let fix = "read the bytes as `i8` with `tm.cast i8 %x bits`, and export that";
            Err(refuse(op, "`u8` has no signless integer of MLIR as its counterpart").fix(fix.to_owned()))
        }
        DType::F4e2m1 => {
            Err(refuse(op, "`f4e2m1` is read through a table (`tm.lookup`), which linalg has no form of"))
        }
    }
}

/// A number of a format as an attribute of the element's type.
pub(crate) fn number<'c>(context: &'c Context, ty: Type<'c>, dtype: DType, bits: Bits) -> Attribute<'c> {
    if dtype.is_float() {
        FloatAttribute::new(context, ty, to_f64(dtype, bits)).into()
    } else {
        IntegerAttribute::new(ty, to_f64(dtype, bits) as i64).into()
    }
}
