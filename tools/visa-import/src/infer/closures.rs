//! Closures.

use super::types::{Con, Kind, Ty};
use super::{Checker, Expect};

impl Checker<'_> {
    pub(crate) fn closure(&mut self, own: &syn::ExprClosure, expect: &Expect) -> Ty {
        let hint = match self.hint(expect) {
            Some(Ty::Con(Con::Fn, types)) if types.len() == own.inputs.len() + 1 => Some(types),
            _ => None,
        };
        let taint = match expect {
            Expect::Has(ty) => self.table.unknown(ty).and_then(|(_, taint)| taint),
            Expect::Cast(_) | Expect::None => None,
        };
        let mut params = Vec::new();
        for (at, input) in own.inputs.iter().enumerate() {
            let expected =
                hint.as_ref().map_or_else(|| self.table.fresh(Kind::General), |types| types[at].clone());
            if let Some(taint) = taint {
                self.table.taint(&expected, taint);
            }
            let pat = match input {
                syn::Pat::Type(typed) => {
                    let env = self.env.clone();
                    let ty = self.lower(&env, &typed.ty);
                    self.unify(&ty, &expected, proc_macro2::Span::call_site());
                    &*typed.pat
                }
                pat => pat,
            };
            self.pattern(pat, &expected, false);
            params.push(expected);
        }
        let result = match (&own.output, hint) {
            (syn::ReturnType::Type(_, ty), _) => {
                let env = self.env.clone();
                self.lower(&env, ty)
            }
            (syn::ReturnType::Default, Some(types)) => types[params.len()].clone(),
            (syn::ReturnType::Default, None) => self.table.fresh(Kind::General),
        };
        let frame = self.enter(result.clone());
        self.coerced(&own.body, &result);
        self.leave(frame);
        Ty::function(params, result)
    }
}
