//! The generic parameters of a call: those that it specifies, and those that its arguments fix.

use crate::eval::{Eval, Evaluator, Frame, Generic, Want};
use crate::instance::lone_terms;
use crate::integer::Int;
use crate::map::Map;
use crate::marks::plain;
use crate::numbers::typed;
use crate::place::deref;
use crate::program::FnId;
use crate::value::{Type, Value};
use std::collections::HashMap;
use syn::spanned::Spanned;

impl Evaluator<'_> {
    /// The generics that the call specifies.
    pub(crate) fn generics(
        &mut self,
        frame: &mut Frame,
        item: &syn::ItemFn,
        path: &syn::ExprPath,
    ) -> Eval<HashMap<String, Generic>> {
        match path.path.segments.last().map(|segment| &segment.arguments) {
            Some(syn::PathArguments::AngleBracketed(list)) => self.listed_generics(frame, item, Some(list)),
            Some(syn::PathArguments::None | syn::PathArguments::Parenthesized(_)) | None => {
                Ok(HashMap::new())
            }
        }
    }

    /// The generics that a list between `::<` and `>` specifies.
    pub(crate) fn listed_generics(
        &mut self,
        frame: &mut Frame,
        item: &syn::ItemFn,
        list: Option<&syn::AngleBracketedGenericArguments>,
    ) -> Eval<HashMap<String, Generic>> {
        let mut found = HashMap::new();
        let Some(list) = list else { return Ok(found) };
        let parameters: Vec<&syn::GenericParam> = item
            .sig
            .generics
            .params
            .iter()
            .filter(|parameter| !matches!(parameter, syn::GenericParam::Lifetime(_)))
            .collect();
        let given =
            list.args.iter().filter(|argument| !matches!(argument, syn::GenericArgument::Lifetime(_)));
        for (parameter, argument) in parameters.into_iter().zip(given) {
            found.extend(self.given_generic(frame, parameter, argument)?);
        }
        Ok(found)
    }

    /// A parameter and the value that an argument gives it; `None` where the argument leaves it open.
    pub(crate) fn given_generic(
        &mut self,
        frame: &mut Frame,
        parameter: &syn::GenericParam,
        argument: &syn::GenericArgument,
    ) -> Eval<Option<(String, Generic)>> {
        let (name, generic) = match (parameter, argument) {
            (syn::GenericParam::Type(own), syn::GenericArgument::Type(ty)) => match self.ty(frame, ty)? {
                Type::Open => return Ok(None),
                ty => (&own.ident, Generic::Type(ty)),
            },
            (syn::GenericParam::Const(own), syn::GenericArgument::Const(expr)) => {
                (&own.ident, self.const_generic(frame, own, expr)?)
            }
            (syn::GenericParam::Const(own), syn::GenericArgument::Type(syn::Type::Path(ty))) => {
                let path = ty.path.clone();
                let expr = syn::Expr::Path(syn::ExprPath { attrs: Vec::new(), qself: None, path });
                (&own.ident, self.const_generic(frame, own, &expr)?)
            }
            (_, _) => return Ok(None),
        };
        Ok(Some((plain(&name.to_string()).to_owned(), generic)))
    }

    /// The value of a constant parameter, of the parameter's type.
    pub(crate) fn const_generic(
        &mut self,
        frame: &mut Frame,
        parameter: &syn::ConstParam,
        expr: &syn::Expr,
    ) -> Eval<Generic> {
        let value = deref(self.expr(frame, expr, &Want::default())?);
        let ty = self.ty(frame, &parameter.ty)?;
        match typed(value, &ty) {
            value @ (Value::Int(_) | Value::Bool(_) | Value::Char(_)) => Ok(Generic::Const(value)),
            Value::Index(_) => Err(self.needs_number(frame, expr.span())),
            other => Err(frame.error(expr.span(), format!("{} is no constant parameter", other.kind()))),
        }
    }

    /// The generic parameters of an implementation that the receiver fixes by its fields.
    pub(crate) fn infer_self(&mut self, own: &mut Frame, id: FnId, receiver: &Value) {
        let Value::Struct(record) = deref(receiver.clone()) else { return };
        let Some(number) = self.program.functions[id.0].implementation else { return };
        let adt = &self.program.adts[record.of.0];
        let mut fields = self.frame(adt.module);
        for (name, ty) in &adt.variants[record.variant].fields {
            if let Some(value) = record.fields.get(name) {
                self.infer(&mut fields, &adt.generics, ty, value);
            }
        }
        // The implementation may call them otherwise.
        let syn::Type::Path(path) = &self.program.implementations[number].self_ty else { return };
        let Some(segment) = path.path.segments.last() else { return };
        let syn::PathArguments::AngleBracketed(list) = &segment.arguments else { return };
        let parameters = adt.generics.params.iter().filter_map(|parameter| match parameter {
            syn::GenericParam::Type(own) => Some(&own.ident),
            syn::GenericParam::Const(own) => Some(&own.ident),
            syn::GenericParam::Lifetime(_) => None,
        });
        let given =
            list.args.iter().filter(|argument| !matches!(argument, syn::GenericArgument::Lifetime(_)));
        for (parameter, argument) in parameters.zip(given) {
            if let (Some(found), syn::GenericArgument::Type(syn::Type::Path(path))) =
                (fields.generics.get(&parameter.to_string()), argument)
                && let Some(name) = path.path.get_ident()
            {
                own.generics.insert(name.to_string(), found.clone());
            }
        }
    }

    /// The generic parameters that an argument fixes.
    pub(crate) fn infer(&mut self, own: &mut Frame, generics: &syn::Generics, ty: &syn::Type, value: &Value) {
        match (ty, value) {
            (_, Value::View(view)) => self.infer_type(own, generics, ty, &Type::Tensor(view.ty.clone())),
            (syn::Type::Reference(inner), _) => self.infer(own, generics, &inner.elem, &deref(value.clone())),
            (syn::Type::Array(array), Value::Array(all)) => {
                if let syn::Expr::Path(path) = &array.len
                    && let Some(name) = path.path.get_ident().map(ToString::to_string)
                    && generics.const_params().any(|parameter| parameter.ident == name)
                {
                    own.generics.entry(name).or_insert(Generic::Const(Value::Int(Int::size(all.len()))));
                }
                if let Some(first) = all.first() {
                    self.infer(own, generics, &array.elem, first);
                }
            }
            (syn::Type::Path(path), Value::Struct(record)) => {
                if let Some(name) = path.path.get_ident().map(ToString::to_string)
                    && generics.type_params().any(|parameter| parameter.ident == name)
                {
                    own.generics.entry(name).or_insert(Generic::Type(Type::Adt(record.of)));
                }
            }
            (_, _) => {}
        }
    }

    pub(crate) fn infer_type(
        &mut self,
        own: &mut Frame,
        generics: &syn::Generics,
        ty: &syn::Type,
        known: &Type,
    ) {
        match (ty, known) {
            (syn::Type::Reference(inner), _) => self.infer_type(own, generics, &inner.elem, known),
            (syn::Type::Tuple(tuple), Type::Tuple(types)) => {
                for (ty, known) in tuple.elems.iter().zip(types) {
                    self.infer_type(own, generics, ty, known);
                }
            }
            (syn::Type::Path(path), Type::Tensor(tensor)) => {
                let Some(segment) = path.path.segments.last() else { return };
                let syn::PathArguments::AngleBracketed(list) = &segment.arguments else { return };
                let types = list.args.iter().filter_map(|argument| match argument {
                    syn::GenericArgument::Type(ty) => Some(ty),
                    _ => None,
                });
                let dtype = tensor.dtype.map(|dtype| Type::Number(dtype.name().into()));
                let maps = tensor.maps.iter().cloned().map(|map| map.map(Type::Map));
                for (ty, known) in types.zip(std::iter::once(dtype).chain(maps)) {
                    let Some(known) = known else { continue };
                    if let (syn::Type::Macro(map), Type::Map(known)) = (ty, &known) {
                        infer_terms(own, generics, &map.mac.tokens, known);
                    }
                    let syn::Type::Path(path) = ty else { continue };
                    let Some(name) = path.path.get_ident().map(ToString::to_string) else { continue };
                    let is_own = generics.type_params().any(|parameter| parameter.ident == name);
                    if is_own {
                        own.generics.entry(name).or_insert(Generic::Type(known));
                    }
                }
            }
            (_, _) => {}
        }
    }
}

/// The type parameters that are terms of `m![..]` alone: each is the factor at its position. One of them may be
/// several factors.
fn infer_terms(own: &mut Frame, generics: &syn::Generics, tokens: &proc_macro2::TokenStream, known: &Map) {
    let (terms, factors) = (lone_terms(tokens), known.factors());
    let is_own = |name: &String| generics.type_params().any(|parameter| parameter.ident == name);
    let parameters = terms.iter().filter(|term| term.as_ref().is_some_and(is_own)).count();
    let Some(more) = (factors.len() + 1).checked_sub(terms.len()) else { return };
    if parameters != 1 && more != 1 {
        return;
    }
    let mut at = 0;
    for term in &terms {
        let parameter = term.as_ref().filter(|name| is_own(name));
        let count = if parameter.is_some() && parameters == 1 { more } else { 1 };
        let part = factors.get(at..at + count).unwrap_or_default();
        at += count;
        if let Some(name) = parameter {
            let map = Map::List(part.iter().map(|&factor| factor.clone()).collect());
            own.generics.entry(name.clone()).or_insert(Generic::Type(Type::Map(map)));
        }
    }
}
