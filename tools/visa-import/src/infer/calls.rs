//! Calls of functions and closures.

use super::types::{Con, Kind, Taint, Ty};
use super::{Checker, Expect};
use proc_macro2::Span;
use syn::spanned::Spanned;

impl Checker<'_> {
    pub(crate) fn call(&mut self, own: &syn::ExprCall, expect: &Expect) -> Ty {
        let callee = self.check(&own.func, &Expect::None);
        let callee = self.autoderef(&callee);
        let args: Vec<&syn::Expr> = own.args.iter().collect();
        match callee {
            Ty::Con(Con::Fn, mut types) if types.len() == args.len() + 1 => {
                let result = types.pop().unwrap_or_else(Ty::unit);
                self.expect_result(&result, expect);
                self.arguments(&args, &types);
                result
            }
            other => {
                let taint =
                    self.why_unknown(&other, own.span(), "the function that is called is not known here");
                self.opaque_call(&args, taint)
            }
        }
    }

    /// An expected result tells the types of the arguments.
    fn expect_result(&mut self, result: &Ty, expect: &Expect) {
        if let (Expect::Has(_), Some(Ty::Con(wanted, args))) = (expect, self.hint(expect))
            && let Ty::Con(con @ (Con::Adt(_) | Con::Std(_)), own) = self.table.resolve(result)
            && con == wanted
        {
            self.unify(&Ty::Con(con, own), &Ty::Con(wanted, args), Span::call_site());
        }
    }

    /// Checks arguments: closures last, as rustc does.
    pub(crate) fn arguments(&mut self, args: &[&syn::Expr], params: &[Ty]) {
        for are_closures in [false, true] {
            if are_closures && args.iter().any(|arg| is_closure(arg)) {
                self.settle();
            }
            for (arg, param) in args.iter().zip(params) {
                if is_closure(arg) == are_closures {
                    self.coerced(arg, param);
                }
            }
        }
    }

    /// A call of which nothing is known: it may relate all types that it sees.
    pub(crate) fn opaque_call(&mut self, args: &[&syn::Expr], taint: Taint) -> Ty {
        for arg in args {
            let expected = self.table.tainted(taint);
            let ty = self.check(arg, &Expect::Has(expected));
            self.table.taint(&ty, taint);
        }
        self.table.tainted(taint)
    }

    /// The taint of a type, or a new one.
    pub(crate) fn why_unknown(&mut self, ty: &Ty, span: Span, why: &str) -> Taint {
        let taint = match self.table.unknown(ty) {
            Some((Kind::General, Some(taint))) => taint,
            _ => self.reason(span, why),
        };
        self.table.taint(ty, taint);
        taint
    }
}

fn is_closure(expr: &syn::Expr) -> bool {
    match expr {
        syn::Expr::Closure(_) => true,
        syn::Expr::Paren(own) => is_closure(&own.expr),
        syn::Expr::Group(own) => is_closure(&own.expr),
        _ => false,
    }
}
