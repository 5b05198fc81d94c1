//! Unique names for variables, as expansion gives them.

use syn::visit_mut::{self, VisitMut};

/// Renames the variables of a function: `x` becomes `xʹ5`.
#[derive(Default)]
pub(crate) struct Rename {
    scope: Vec<(String, String)>,
    count: usize,
}

/// Declares the names of a pattern.
struct Declare<'r>(&'r mut Rename, usize);

impl VisitMut for Declare<'_> {
    fn visit_pat_mut(&mut self, pat: &mut syn::Pat) {
        if let syn::Pat::Ident(own) = pat {
            let name = own.ident.to_string();
            if name.starts_with(char::is_uppercase) {
                let ident = &own.ident;
                *pat = syn::Pat::Path(syn::parse_quote!(#ident));
                return;
            }
            let known =
                self.0.scope[self.1..].iter().find(|(own, _)| *own == name).map(|(_, new)| new.clone());
            let new = known.unwrap_or_else(|| self.0.declare(&name));
            own.ident = syn::Ident::new(&new, own.ident.span());
        }
        visit_mut::visit_pat_mut(self, pat);
    }

    fn visit_field_pat_mut(&mut self, field: &mut syn::FieldPat) {
        field.colon_token.get_or_insert_default();
        visit_mut::visit_field_pat_mut(self, field);
    }

    fn visit_expr_mut(&mut self, _: &mut syn::Expr) {}
}

impl Rename {
    fn declare(&mut self, name: &str) -> String {
        self.count += 1;
        let new = format!("{name}ʹ{}", self.count);
        self.scope.push((name.to_owned(), new.clone()));
        new
    }

    fn pattern(&mut self, pat: &mut syn::Pat) {
        let before = self.scope.len();
        Declare(self, before).visit_pat_mut(pat);
    }

    /// Visits the code that follows in a scope.
    fn scoped(&mut self, visit: impl FnOnce(&mut Self)) {
        let before = self.scope.len();
        visit(self);
        self.scope.truncate(before);
    }
}

impl VisitMut for Rename {
    fn visit_signature_mut(&mut self, sig: &mut syn::Signature) {
        for input in &mut sig.inputs {
            if let syn::FnArg::Typed(own) = input {
                self.pattern(&mut own.pat);
            }
        }
    }

    fn visit_item_fn_mut(&mut self, item: &mut syn::ItemFn) {
        self.scoped(|own| visit_mut::visit_item_fn_mut(own, item));
    }

    fn visit_impl_item_fn_mut(&mut self, item: &mut syn::ImplItemFn) {
        self.scoped(|own| visit_mut::visit_impl_item_fn_mut(own, item));
    }

    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        self.scoped(|own| visit_mut::visit_block_mut(own, block));
    }

    fn visit_local_mut(&mut self, local: &mut syn::Local) {
        if let Some(init) = &mut local.init {
            self.visit_local_init_mut(init);
        }
        self.pattern(&mut local.pat);
    }

    fn visit_expr_let_mut(&mut self, own: &mut syn::ExprLet) {
        self.visit_expr_mut(&mut own.expr);
        self.pattern(&mut own.pat);
    }

    fn visit_arm_mut(&mut self, arm: &mut syn::Arm) {
        self.scoped(|own| {
            own.pattern(&mut arm.pat);
            arm.guard.iter_mut().for_each(|(_, guard)| own.visit_expr_mut(guard));
            own.visit_expr_mut(&mut arm.body);
        });
    }

    fn visit_expr_closure_mut(&mut self, closure: &mut syn::ExprClosure) {
        self.scoped(|own| {
            closure.inputs.iter_mut().for_each(|input| own.pattern(input));
            own.visit_expr_mut(&mut closure.body);
        });
    }

    fn visit_expr_for_loop_mut(&mut self, each: &mut syn::ExprForLoop) {
        self.visit_expr_mut(&mut each.expr);
        self.scoped(|own| {
            own.pattern(&mut each.pat);
            own.visit_block_mut(&mut each.body);
        });
    }

    fn visit_expr_if_mut(&mut self, own: &mut syn::ExprIf) {
        self.scoped(|renamer| {
            renamer.visit_expr_mut(&mut own.cond);
            renamer.visit_block_mut(&mut own.then_branch);
        });
        own.else_branch.iter_mut().for_each(|(_, otherwise)| self.visit_expr_mut(otherwise));
    }

    fn visit_expr_while_mut(&mut self, own: &mut syn::ExprWhile) {
        self.scoped(|renamer| visit_mut::visit_expr_while_mut(renamer, own));
    }

    fn visit_expr_path_mut(&mut self, path: &mut syn::ExprPath) {
        if let Some(ident) = path.path.get_ident().map(ToString::to_string)
            && let Some((_, new)) = self.scope.iter().rev().find(|(own, _)| *own == ident)
        {
            let span = path.path.segments[0].ident.span();
            path.path.segments[0].ident = syn::Ident::new(new, span);
        }
    }

    fn visit_field_value_mut(&mut self, field: &mut syn::FieldValue) {
        field.colon_token.get_or_insert_default();
        self.visit_expr_mut(&mut field.expr);
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        use quote::ToTokens;
        if let Some(mut arguments) = super::super::holes::arguments(mac) {
            arguments.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
            mac.tokens = arguments.to_token_stream();
        }
    }
}
