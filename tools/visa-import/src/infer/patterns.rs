//! Patterns and their binding modes.

use super::types::{Con, Kind, Ty};
use super::{Checker, Expect};
use syn::spanned::Spanned;

impl Checker<'_> {
    /// Binds the names of a pattern. `by_ref` is true inside a reference that the pattern does not show.
    pub(crate) fn pattern(&mut self, pat: &syn::Pat, ty: &Ty, by_ref: bool) {
        match pat {
            syn::Pat::Ident(own) => self.binding(own, ty, by_ref),
            syn::Pat::Wild(_) | syn::Pat::Rest(_) => {}
            syn::Pat::Paren(own) => self.pattern(&own.pat, ty, by_ref),
            syn::Pat::Type(own) => {
                let env = self.env.clone();
                let written = self.lower(&env, &own.ty);
                self.unify(&written, ty, own.span());
                self.pattern(&own.pat, &written, by_ref);
            }
            syn::Pat::Reference(own) => {
                let inner = self.table.fresh(Kind::General);
                let outer = if by_ref { ty.clone() } else { self.known(ty) };
                self.unify(&outer, &Ty::reference(inner.clone()), own.span());
                self.pattern(&own.pat, &inner, false);
            }
            syn::Pat::Or(own) => own.cases.iter().for_each(|case| self.pattern(case, ty, by_ref)),
            syn::Pat::Lit(own) => self.literal_pattern(&syn::Expr::Lit(own.clone()), ty),
            syn::Pat::Range(own) => {
                own.start.iter().chain(&own.end).for_each(|end| self.literal_pattern(end, ty));
            }
            syn::Pat::Const(own) => {
                let own = syn::Expr::Const(own.clone());
                self.literal_pattern(&own, ty);
            }
            _ => {
                let (ty, by_ref) = self.peeled(ty, by_ref);
                self.peeled_pattern(pat, &ty, by_ref);
            }
        }
    }

    /// A type without the references that a pattern does not show.
    fn peeled(&mut self, ty: &Ty, by_ref: bool) -> (Ty, bool) {
        match self.known(ty) {
            Ty::Con(Con::Ref, args) => self.peeled(&args[0], true),
            other => (other, by_ref),
        }
    }

    fn binding(&mut self, own: &syn::PatIdent, ty: &Ty, by_ref: bool) {
        let is_ref = own.by_ref.is_some() || by_ref && own.mutability.is_none();
        let bound = if is_ref { Ty::reference(ty.clone()) } else { ty.clone() };
        let name = own.ident.to_string();
        match self.locals.get(&name).cloned() {
            Some(known) => self.unify(&known, &bound, own.span()),
            None => {
                self.locals.insert(name, bound);
            }
        }
        if let Some((_, pat)) = &own.subpat {
            self.pattern(pat, ty, by_ref);
        }
    }

    fn literal_pattern(&mut self, value: &syn::Expr, ty: &Ty) {
        let own = self.check(value, &Expect::None);
        let (own, ty) = (self.stripped(&own), self.peeled(ty, false).0);
        self.unify(&own, &ty, value.span());
    }

    fn peeled_pattern(&mut self, pat: &syn::Pat, ty: &Ty, by_ref: bool) {
        match pat {
            syn::Pat::Path(own) => {
                let own = self.path(own);
                let own = self.stripped(&own);
                self.unify(&own, ty, pat.span());
            }
            syn::Pat::Tuple(own) => self.tuple_pattern(own, ty, by_ref),
            syn::Pat::Slice(own) => self.slice_pattern(own, ty, by_ref),
            syn::Pat::TupleStruct(own) => {
                let types = self.tuple_struct(own, ty);
                let count = types.as_ref().map_or(0, Vec::len);
                for (at, elem) in positions(&own.elems, count) {
                    let part = match &types {
                        Some(types) if at < count => types[at].clone(),
                        _ => self.missing(ty, pat.span(), "this pattern is not read"),
                    };
                    self.pattern(elem, &part, by_ref);
                }
            }
            syn::Pat::Struct(own) => self.struct_pattern(own, ty, by_ref),
            _ => {
                let taint = self.reason(pat.span(), "this pattern is not read");
                self.table.taint(ty, taint);
            }
        }
    }

    fn tuple_pattern(&mut self, own: &syn::PatTuple, ty: &Ty, by_ref: bool) {
        let has_rest = own.elems.iter().any(|elem| matches!(elem, syn::Pat::Rest(_)));
        let parts = match self.table.resolve(ty) {
            Ty::Con(Con::Tuple, args) if has_rest || args.len() == own.elems.len() => args,
            _ if has_rest => {
                for elem in &own.elems {
                    let part = self.missing(ty, own.span(), "the type of this tuple is not known here");
                    self.pattern(elem, &part, by_ref);
                }
                return;
            }
            _ => {
                let parts: Vec<Ty> = own.elems.iter().map(|_| self.table.fresh(Kind::General)).collect();
                self.unify(ty, &Ty::Con(Con::Tuple, parts.clone()), own.span());
                parts
            }
        };
        for (at, elem) in positions(&own.elems, parts.len()) {
            match parts.get(at) {
                Some(part) => self.pattern(elem, part, by_ref),
                None => self.unify(ty, &Ty::unit(), own.span()),
            }
        }
    }

    fn slice_pattern(&mut self, own: &syn::PatSlice, ty: &Ty, by_ref: bool) {
        let (element, is_slice) = match self.table.resolve(ty) {
            Ty::Con(Con::Slice, args) => (args[0].clone(), true),
            Ty::Con(Con::Array, args) => (args[0].clone(), false),
            _ => (self.missing(ty, own.span(), "the type of this array is not known here"), true),
        };
        let con = if is_slice { Con::Slice } else { Con::Array };
        let rest = Ty::Con(con, vec![element.clone()]);
        for elem in &own.elems {
            match elem {
                syn::Pat::Ident(name) if is_rest(name) => {
                    let name = syn::PatIdent { subpat: None, ..name.clone() };
                    self.binding(&name, &rest, by_ref);
                }
                _ => self.pattern(elem, &element, by_ref),
            }
        }
    }

    /// The types of the fields of a tuple structure or variant.
    fn tuple_struct(&mut self, own: &syn::PatTupleStruct, ty: &Ty) -> Option<Vec<Ty>> {
        let path = syn::ExprPath { attrs: Vec::new(), qself: own.qself.clone(), path: own.path.clone() };
        let constructor = self.path(&path);
        match self.table.resolve(&constructor) {
            Ty::Con(Con::Fn, mut types) => {
                let result = types.pop()?;
                self.unify(&result, ty, own.span());
                Some(types)
            }
            other => {
                if let Some((_, Some(taint))) = self.table.unknown(&other) {
                    self.table.taint(ty, taint);
                }
                None
            }
        }
    }

    fn struct_pattern(&mut self, own: &syn::PatStruct, ty: &Ty, by_ref: bool) {
        let fields = self.constructed(&own.path).map(|(adt, variant, args)| {
            self.unify(&Ty::Con(Con::Adt(adt), args.clone()), ty, own.span());
            self.fields(adt, variant, &args)
        });
        for field in &own.fields {
            let name = match &field.member {
                syn::Member::Named(name) => name.to_string(),
                syn::Member::Unnamed(index) => index.index.to_string(),
            };
            let part = fields.iter().flatten().find(|(own, _)| *own == name).map(|(_, ty)| ty.clone());
            let part = part.unwrap_or_else(|| self.missing(ty, field.span(), "this field is not known here"));
            self.pattern(&field.pat, &part, by_ref);
        }
    }
}

/// True for `name @ ..`.
fn is_rest(name: &syn::PatIdent) -> bool {
    name.subpat.as_ref().is_some_and(|(_, sub)| matches!(**sub, syn::Pat::Rest(_)))
}

type Elems = syn::punctuated::Punctuated<syn::Pat, syn::Token![,]>;

/// The patterns with their positions in a tuple of `count` parts; those after `..` are counted from the end.
fn positions(elems: &Elems, count: usize) -> Vec<(usize, &syn::Pat)> {
    let rest = elems.iter().position(|elem| matches!(elem, syn::Pat::Rest(_)));
    let shown = elems.iter().enumerate().filter(|(at, _)| Some(*at) != rest);
    let position = |at: usize| match rest {
        Some(rest) if at > rest => (at + count).saturating_sub(elems.len()),
        _ => at,
    };
    shown.map(|(at, elem)| (position(at), elem)).collect()
}
