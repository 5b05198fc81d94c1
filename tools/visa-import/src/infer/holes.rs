//! Numbers of the literals and types that inference finds, and their replacement by the inferred types.

use super::types::Kind;
use proc_macro2::Span;
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};

/// Begins the suffix of a literal, or the name of a type, that is to be found.
const HOLE: &str = "holeʹ";

/// Methods whose result is a type that only inference knows.
const BY_RESULT: [&str; 4] = ["into", "try_into", "sum", "product"];

/// The number of a hole.
pub(crate) fn hole(name: &str) -> Option<usize> {
    name.strip_prefix(HOLE).and_then(|number| number.parse().ok())
}

/// The number of a type that is a hole.
pub(crate) fn type_hole(ty: &syn::Type) -> Option<usize> {
    let syn::Type::Path(path) = ty else { return None };
    hole(&path.path.get_ident()?.to_string())
}

/// The arguments of a macro such as `assert!`; `None` if they are no expressions.
pub(crate) fn arguments(mac: &syn::Macro) -> Option<Punctuated<syn::Expr, syn::Token![,]>> {
    mac.parse_body_with(Punctuated::parse_terminated).ok()
}

fn int(literal: &syn::LitInt, suffix: &str) -> syn::LitInt {
    let text = literal.to_string();
    let text = text.strip_suffix(literal.suffix()).unwrap_or(&text);
    syn::LitInt::new(&format!("{text}{suffix}"), literal.span())
}

fn float(literal: &syn::LitFloat, suffix: &str) -> syn::LitFloat {
    let text = literal.to_string();
    let text = text.strip_suffix(literal.suffix()).unwrap_or(&text);
    let zero = if text.ends_with('.') { "0" } else { "" };
    syn::LitFloat::new(&format!("{text}{zero}{suffix}"), literal.span())
}

fn named(name: &str) -> syn::Type {
    let ident = syn::Ident::new(name, proc_macro2::Span::call_site());
    syn::parse_quote!(#ident)
}

/// Visits the expressions in the arguments of a macro.
fn visit_arguments(visitor: &mut impl VisitMut, mac: &mut syn::Macro) {
    if let Some(mut arguments) = arguments(mac) {
        arguments.iter_mut().for_each(|argument| visitor.visit_expr_mut(argument));
        mac.tokens = arguments.to_token_stream();
    }
}

/// Gives each literal without suffix, and each type that is not written, its number.
#[derive(Default)]
pub(crate) struct Number {
    pub(crate) holes: Vec<(Kind, Span)>,
}

impl Number {
    fn next(&mut self, kind: Kind, span: Span) -> String {
        self.holes.push((kind, span));
        format!("{HOLE}{}", self.holes.len() - 1)
    }
}

impl VisitMut for Number {
    fn visit_lit_int_mut(&mut self, literal: &mut syn::LitInt) {
        if literal.suffix().is_empty() {
            *literal = int(literal, &self.next(Kind::Int, literal.span()));
        }
    }

    fn visit_lit_float_mut(&mut self, literal: &mut syn::LitFloat) {
        if literal.suffix().is_empty() {
            *literal = float(literal, &self.next(Kind::Float, literal.span()));
        }
    }

    fn visit_expr_method_call_mut(&mut self, call: &mut syn::ExprMethodCall) {
        visit_mut::visit_expr_method_call_mut(self, call);
        let turbofish = call.turbofish.as_ref().and_then(|own| own.args.first());
        let is_written = !matches!(turbofish, None | Some(syn::GenericArgument::Type(syn::Type::Infer(_))));
        if BY_RESULT.iter().any(|name| call.method == name) && call.args.is_empty() && !is_written {
            let ty = named(&self.next(Kind::General, call.method.span()));
            call.turbofish = Some(syn::parse_quote!(::<#ty>));
        }
    }

    fn visit_expr_cast_mut(&mut self, cast: &mut syn::ExprCast) {
        visit_mut::visit_expr_cast_mut(self, cast);
        if matches!(&*cast.ty, syn::Type::Infer(_)) {
            *cast.ty = named(&self.next(Kind::General, cast.as_token.span));
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        visit_arguments(self, mac);
    }

    fn visit_type_macro_mut(&mut self, _: &mut syn::TypeMacro) {}
}

/// The holes in the generic arguments of a path.
pub(crate) fn inside(path: &syn::Path) -> Vec<usize> {
    let mut find = Find::default();
    if path.segments.iter().any(|own| !own.arguments.is_none()) {
        find.visit_path_mut(&mut path.clone());
    }
    find.found
}

/// The holes in generic arguments.
pub(crate) fn inside_arguments(arguments: &syn::AngleBracketedGenericArguments) -> Vec<usize> {
    let mut find = Find::default();
    find.visit_angle_bracketed_generic_arguments_mut(&mut arguments.clone());
    find.found
}

#[derive(Default)]
struct Find {
    found: Vec<usize>,
}

impl VisitMut for Find {
    fn visit_lit_int_mut(&mut self, literal: &mut syn::LitInt) {
        self.found.extend(hole(literal.suffix()));
    }

    fn visit_lit_float_mut(&mut self, literal: &mut syn::LitFloat) {
        self.found.extend(hole(literal.suffix()));
    }

    fn visit_type_mut(&mut self, ty: &mut syn::Type) {
        self.found.extend(type_hole(ty));
        visit_mut::visit_type_mut(self, ty);
    }

    fn visit_type_macro_mut(&mut self, _: &mut syn::TypeMacro) {}
}

/// Replaces each hole by its type.
pub(crate) struct Fill {
    /// The names of the types, by the numbers of the holes.
    pub(crate) names: Vec<String>,
}

impl Fill {
    fn name(&self, suffix: &str) -> Option<&str> {
        self.names.get(hole(suffix)?).map(String::as_str)
    }
}

impl VisitMut for Fill {
    fn visit_lit_int_mut(&mut self, literal: &mut syn::LitInt) {
        if let Some(name) = self.name(literal.suffix()) {
            *literal = int(literal, name);
        }
    }

    fn visit_lit_float_mut(&mut self, literal: &mut syn::LitFloat) {
        if let Some(name) = self.name(literal.suffix()) {
            *literal = float(literal, name);
        }
    }

    fn visit_type_mut(&mut self, ty: &mut syn::Type) {
        match type_hole(ty).and_then(|number| self.names.get(number)) {
            Some(name) => *ty = named(name),
            None => visit_mut::visit_type_mut(self, ty),
        }
    }

    fn visit_expr_mut(&mut self, expr: &mut syn::Expr) {
        visit_mut::visit_expr_mut(self, expr);
        if let Some(cast) = conversion(expr) {
            *expr = cast;
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        visit_arguments(self, mac);
    }

    fn visit_type_macro_mut(&mut self, _: &mut syn::TypeMacro) {}
}

/// The cast that `x.into()` is where its result is a primitive.
fn conversion(expr: &syn::Expr) -> Option<syn::Expr> {
    let syn::Expr::MethodCall(call) = expr else { return None };
    let syn::GenericArgument::Type(ty) = call.turbofish.as_ref()?.args.first()? else { return None };
    let syn::Type::Path(path) = ty else { return None };
    super::types::Ty::primitive(&path.path.get_ident()?.to_string())?;
    if call.method != "into" {
        return None;
    }
    let receiver = &call.receiver;
    Some(syn::parse_quote!(((#receiver) as #ty)))
}
