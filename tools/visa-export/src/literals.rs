//! Numbers of clauses as expressions of Rust, in the format of their stream.

use crate::refusals::{Export, refuse};
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use visa_ir::module::OpRef;
use visa_mapping::tensor::numbers::Number;
use visa_numerics::DType;

/// A number as a constant of the vector engine, whose formats are `i32` and `f32`.
pub(crate) fn constant(op: OpRef<'_>, number: Number, dtype: DType) -> Export<TokenStream> {
    match dtype {
        DType::I32 => integer(op, number),
        DType::F32 => Ok(float(number.0 as f32)),
        DType::I4
        | DType::I5
        | DType::I8
        | DType::I9
        | DType::I16
        | DType::U8
        | DType::F4e2m1
        | DType::F8e4m3
        | DType::F8e5m2
        | DType::F16
        | DType::Bf16 => {
            Err(refuse(op, format!("the language has no constants of `{dtype}` in the vector engine")))
        }
    }
}

/// A number as a fill value, which the language wants as a constant.
pub(crate) fn fill(op: OpRef<'_>, number: Number, dtype: DType) -> Export<TokenStream> {
    let converted = |name: &str| {
        let (ty, value) = (crate::names::ident(name), float(number.0 as f32));
        quote!(const { #ty::from_f32(#value) })
    };
    Ok(match dtype {
        DType::I8 | DType::I16 | DType::I32 => integer(op, number)?,
        DType::I4 => {
            let value = integer(op, number)?;
            quote!(const { i4::from_i32(#value) })
        }
        DType::F32 => float(number.0 as f32),
        DType::Bf16 => converted("bf16"),
        DType::F8e4m3 => converted("f8e4m3"),
        DType::F8e5m2 => converted("f8e5m2"),
        DType::I5 | DType::I9 | DType::U8 | DType::F4e2m1 | DType::F16 => {
            return Err(refuse(op, format!("the language fills no tensor of `{dtype}`")));
        }
    })
}

fn integer(op: OpRef<'_>, number: Number) -> Export<TokenStream> {
    let whole = number.0 as i32;
    if f64::from(whole) != number.0 {
        return Err(refuse(op, format!("{number} is no number of `i32`")));
    }
    let literal = Literal::u32_unsuffixed(whole.unsigned_abs());
    Ok(if whole < 0 { quote!(-#literal) } else { quote!(#literal) })
}

fn float(number: f32) -> TokenStream {
    if number.is_infinite() {
        return if number > 0.0 { quote!(f32::INFINITY) } else { quote!(f32::NEG_INFINITY) };
    }
    // `1.0f32`, and not `1f32`, which reads as an integer.
    let literal: Literal = format!("{:?}f32", number.abs()).parse().expect("a finite number is a literal");
    if number.is_sign_negative() { quote!(-#literal) } else { quote!(#literal) }
}
