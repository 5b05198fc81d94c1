//! Transfers of a host program as an author writes them.

use crate::marks::plain;

/// The methods of the transfers.
const METHODS: &[&str] = &["to_hbm", "to_host"];

/// A transfer as an author writes it.
pub(crate) struct WrittenTransfer<'e> {
    pub(crate) method: &'e syn::ExprMethodCall,
    /// The tensor that gets the elements.
    pub(crate) into: Option<&'e syn::Expr>,
}

/// The transfer that is awaited: `x.to_hbm(..)` or `x.to_host(..)`, either with `.output(..)` or `.submit()` after it.
pub(crate) fn written_transfer(expr: &syn::Expr) -> Option<WrittenTransfer<'_>> {
    match expr {
        syn::Expr::Paren(inner) => written_transfer(&inner.expr),
        syn::Expr::MethodCall(call) => match (plain(&call.method.to_string()), call.args.first()) {
            (name, _) if METHODS.contains(&name) => Some(WrittenTransfer { method: call, into: None }),
            ("output", Some(into)) => {
                Some(WrittenTransfer { into: Some(into), ..written_transfer(&call.receiver)? })
            }
            ("submit", None) => written_transfer(&call.receiver),
            (_, _) => None,
        },
        _ => None,
    }
}

/// The number in `HbmScalar::from_host(number, ..)`.
pub(crate) fn written_number(expr: &syn::Expr) -> Option<&syn::Expr> {
    let syn::Expr::Call(call) = expr else { return None };
    let syn::Expr::Path(path) = &*call.func else { return None };
    let mut names = path.path.segments.iter().rev().map(|segment| &segment.ident);
    let is_copy = names.next()? == "from_host" && names.next()? == "HbmScalar";
    call.args.first().filter(|_| is_copy)
}
