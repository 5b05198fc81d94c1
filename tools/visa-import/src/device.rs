//! The arguments of `#[device]` on a function.

use crate::eval::{Eval, Evaluator, Frame};
use quote::ToTokens;
use std::fmt;
use syn::spanned::Spanned;

/// The values of `#[device(chip = 1, pe = 4)]`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) chips: i128,
    pub(crate) pes: Option<i128>,
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "chips {}", self.chips)?;
        self.pes.map_or(Ok(()), |pes| write!(f, ", pes {pes}"))
    }
}

/// The size that a function is marked with: one chip by default.
pub(crate) fn size(eval: &mut Evaluator<'_>, frame: &mut Frame, item: &syn::ItemFn) -> Eval<Size> {
    type List = syn::punctuated::Punctuated<syn::MetaNameValue, syn::Token![,]>;
    let mut size = Size { chips: 1, pes: None };
    let Some(attr) = item.attrs.iter().find(|attr| attr.path().is_ident("device")) else { return Ok(size) };
    if matches!(attr.meta, syn::Meta::Path(_)) {
        return Ok(size);
    }
    let list = attr.parse_args_with(List::parse_terminated);
    let list = list.map_err(|why| frame.error(attr.span(), why.to_string()))?;
    for pair in list {
        let number = eval.number(frame, &pair.value)?;
        match pair.path.to_token_stream().to_string().as_str() {
            "chip" => size.chips = number,
            "pe" if number == 8 => {}
            "pe" => size.pes = Some(number),
            other => return Err(frame.error(pair.span(), format!("`{other}` of a device is not known"))),
        }
    }
    Ok(size)
}

/// Returns true if a type is that of an argument that is changed and stays.
pub(crate) fn changes(ty: &syn::Type) -> bool {
    match ty {
        syn::Type::Reference(reference) => reference.mutability.is_some() || changes(&reference.elem),
        syn::Type::Path(path) => {
            path.path.segments.last().is_some_and(|last| last.ident.to_string().ends_with("ViewMut"))
        }
        _ => false,
    }
}
