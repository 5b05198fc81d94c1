//! Paths of values.

use super::Checker;
use super::definitions::{Definition, Scope, TypeDefinition};
use super::header;
use super::holes;
use super::obligations::Pending;
use super::signatures::{Env, angled, is_standard};
use super::types::{Con, Kind, STANDARD, Taint, Ty};
use crate::program::AdtId;
use proc_macro2::Span;
use std::collections::HashMap;
use syn::spanned::Spanned;

/// Separates a variable's name from its number.
const MARK: char = 'ʹ';

/// The number of positions of a mapping, a `usize` of each of the toolchain's types of mappings.
const SIZE: &str = "SIZE";

type Arguments = syn::AngleBracketedGenericArguments;

impl Checker<'_> {
    /// The type of a path's value; a function's or constructor's is that of a function.
    pub(crate) fn path(&mut self, own: &syn::ExprPath) -> Ty {
        let ty = self.path_type(own);
        self.leave_open(holes::inside(&own.path), &ty);
        ty
    }

    fn path_type(&mut self, own: &syn::ExprPath) -> Ty {
        let names: Vec<String> = own.path.segments.iter().map(|own| own.ident.to_string()).collect();
        if let Some(qself) = &own.qself {
            return self.qualified(own, qself, &names);
        }
        if let [name] = &*names {
            if let Some(ty) = self.locals.get(name) {
                return ty.clone();
            }
            if let Some(ty) = self.env.consts.get(name) {
                return ty.clone();
            }
            if name.contains(MARK) {
                return self.unread(own.span(), "this variable is not known");
            }
        }
        let is_size = names.len() > 1 && names.last().is_some_and(|last| last == SIZE);
        if self.env.types.contains_key(&names[0]) {
            if is_size && !self.defs.is_of_trait(SIZE) {
                return Ty::int("usize");
            }
            return self.unread(own.span(), "an item of a generic parameter is not read");
        }
        match self.defs.value(self.env.scope, &names) {
            Definition::Fn(scope, sig) => self.function_path(scope, &sig, &own.path),
            Definition::Const(scope, ty) => {
                let env = self.item_env(scope, &own.path);
                self.lower(&env, &ty)
            }
            Definition::Constructor(adt, variant) => self.constructor(adt, variant, &own.path),
            Definition::External(names) => {
                let found = self.external(&names, &own.path, own.span());
                found
                    .unwrap_or_else(|| self.unread(own.span(), format!("`{}` is not read", names.join("::"))))
            }
            Definition::Toolchain if is_size => Ty::int("usize"),
            Definition::Toolchain => self.toolchain(),
            Definition::Unread(why) => self.unread(own.span(), why),
        }
    }

    /// `<u8>::MAX`, but no path through a trait.
    fn qualified(&mut self, own: &syn::ExprPath, qself: &syn::QSelf, names: &[String]) -> Ty {
        let env = self.env.clone();
        let ty = self.lower(&env, &qself.ty);
        let found = match names {
            [name] if name == SIZE && self.is_toolchain(&ty) => Some(Ty::int("usize")),
            [name] if qself.position == 0 => self.primitive_item(&ty, name, own.span()),
            _ => None,
        };
        found.unwrap_or_else(|| self.unread(own.span(), "a path through a trait is not read"))
    }

    /// Returns true if only the toolchain fixes a type.
    fn is_toolchain(&self, ty: &Ty) -> bool {
        matches!(self.table.unknown(ty), Some((_, Some(Taint::Toolchain))))
    }

    /// The arguments of the structure or enumeration that a path goes through.
    fn path_args(&mut self, adt: AdtId, path: &syn::Path) -> Vec<Ty> {
        if path.segments.first().is_some_and(|first| first.ident == "Self")
            && let Some(Ty::Con(Con::Adt(own), args)) = &self.env.self_ty
            && *own == adt
        {
            return args.clone();
        }
        let written = path.segments.iter().rev().take(2).find_map(|own| angled(&own.arguments));
        let env = self.env.clone();
        match self.adt_type(&env, adt, written, written.is_some()) {
            Ty::Con(_, args) => args,
            Ty::Var(_) => Vec::new(),
        }
    }

    /// The environment of an item's signature.
    fn item_env(&mut self, scope: Scope, path: &syn::Path) -> Env {
        match scope.of {
            Some(adt) => {
                let through = syn::Path { segments: before_last(path), ..path.clone() };
                let args = self.path_args(adt, &through);
                self.adt_env(scope, adt, &args)
            }
            None => Env {
                scope,
                types: HashMap::new(),
                consts: HashMap::new(),
                self_ty: None,
                origin: super::Origin::Other,
            },
        }
    }

    fn function_path(&mut self, scope: Scope, sig: &syn::Signature, path: &syn::Path) -> Ty {
        let mut env = self.item_env(scope, path);
        let args = path.segments.last().and_then(|own| angled(&own.arguments));
        let outer = self.env.clone();
        self.add_generics(&mut env, &sig.generics, (&outer, args));
        let (params, result) = self.instance(&env, sig);
        Ty::function(params, result)
    }

    fn constructor(&mut self, adt: AdtId, variant: usize, path: &syn::Path) -> Ty {
        let args = self.path_args(adt, path);
        let ty = Ty::Con(Con::Adt(adt), args.clone());
        if !self.defs.adt(adt).variants[variant].is_tuple {
            return ty;
        }
        let fields = self.fields(adt, variant, &args).into_iter().map(|(_, ty)| ty).collect();
        Ty::function(fields, ty)
    }

    /// The structure or variant that an expression or pattern with fields names, and its generic arguments.
    pub(crate) fn constructed(&mut self, path: &syn::Path) -> Option<(AdtId, usize, Vec<Ty>)> {
        let names: Vec<String> = path.segments.iter().map(|own| own.ident.to_string()).collect();
        match self.defs.ty(self.env.scope, &names) {
            TypeDefinition::Variant(adt, variant) => Some((adt, variant, self.path_args(adt, path))),
            TypeDefinition::Adt(adt) => Some((adt, 0, self.path_args(adt, path))),
            TypeDefinition::Alias(..) => {
                let env = self.env.clone();
                let ty = syn::Type::Path(syn::TypePath { qself: None, path: path.clone() });
                match self.lower(&env, &ty) {
                    Ty::Con(Con::Adt(adt), args) => Some((adt, 0, args)),
                    _ => None,
                }
            }
            TypeDefinition::External(_) | TypeDefinition::Toolchain | TypeDefinition::Unread(_) => None,
        }
    }

    /// A name of the standard library.
    fn external(&mut self, names: &[String], path: &syn::Path, span: Span) -> Option<Ty> {
        let turbofish = path.segments.iter().rev().take(2).find_map(|own| angled(&own.arguments));
        let (name, parent) = match names {
            [name] => (name.as_str(), ""),
            [.., parent, name] => (name.as_str(), parent.as_str()),
            [] => return None,
        };
        let is_standard = is_standard(names);
        if matches!(parent, "" | "Option" | "Result")
            && (is_standard || names.len() <= 2)
            && let Some(ty) = self.prelude_constructor(name, turbofish)
        {
            return Some(ty);
        }
        if let Some(ty) = Ty::primitive(parent).filter(|_| is_standard || names.len() == 2) {
            return self.primitive_item(&ty, name, span);
        }
        match (parent, name) {
            ("", "drop") => self.free("mem", "drop", turbofish),
            ("Option" | "Result", _) if is_standard || names.len() == 2 => self.standard_item(parent, name),
            (_, _) if !is_standard => None,
            ("Ordering", "Less" | "Equal" | "Greater") => Some(Ty::std("Ordering", Vec::new())),
            ("consts", _) => names.iter().rev().find_map(|own| Ty::primitive(own)),
            (_, _) => self.free(parent, name, turbofish),
        }
    }

    /// A method of a type of the standard library as a function.
    fn standard_item(&mut self, parent: &str, name: &str) -> Option<Ty> {
        let count = if parent == "Result" { 2 } else { 1 };
        let args: Vec<Ty> = (0..count).map(|_| self.table.fresh(Kind::General)).collect();
        let base = Ty::std(STANDARD.iter().find(|own| **own == parent)?, args);
        let (params, result) = self.standard(&base, name, None)?;
        Some(Ty::function(params, result))
    }

    /// A free function of the header.
    fn free(&mut self, module: &str, name: &str, turbofish: Option<&Arguments>) -> Option<Ty> {
        let is_module = module.starts_with(char::is_lowercase);
        let entry = header::entry(module, name).filter(|_| is_module)?;
        let (params, result) = self.entry(&Ty::unit(), &[], &entry, turbofish);
        Some(Ty::function(params, result))
    }

    fn prelude_constructor(&mut self, name: &str, args: Option<&Arguments>) -> Option<Ty> {
        if !matches!(name, "Some" | "None" | "Ok" | "Err") {
            return None;
        }
        let env = self.env.clone();
        let mut types = args.iter().flat_map(|args| &args.args).filter_map(|arg| match arg {
            syn::GenericArgument::Type(ty) => Some(ty.clone()),
            _ => None,
        });
        let mut next = || match types.next() {
            Some(ty) => self.lower(&env, &ty),
            None => self.table.fresh(Kind::General),
        };
        let (first, second) = (next(), next());
        Some(match name {
            "Some" => Ty::function(vec![first.clone()], Ty::std("Option", vec![first])),
            "None" => Ty::std("Option", vec![first]),
            "Ok" => Ty::function(vec![first.clone()], Ty::std("Result", vec![first, second])),
            _ => Ty::function(vec![second.clone()], Ty::std("Result", vec![first, second])),
        })
    }

    /// An associated constant or function of a primitive type.
    fn primitive_item(&mut self, ty: &Ty, name: &str, span: Span) -> Option<Ty> {
        let Ty::Con(con, _) = ty else { return None };
        let own = ty.clone();
        let u32 = || Ty::int("u32");
        let constant = match (con, name) {
            (Con::Int(_) | Con::Float(_) | Con::Char, "MAX" | "MIN") => Some(own.clone()),
            (Con::Int(_), "BITS") => Some(u32()),
            (Con::Float(_), "EPSILON" | "INFINITY" | "NEG_INFINITY" | "NAN" | "MIN_POSITIVE") => {
                Some(own.clone())
            }
            (Con::Float(_), "RADIX" | "DIGITS" | "MANTISSA_DIGITS") => Some(u32()),
            (Con::Char, "from_u32") => Some(Ty::function(vec![u32()], Ty::std("Option", vec![own.clone()]))),
            (Con::Char, "from_digit") => {
                Some(Ty::function(vec![u32(), u32()], Ty::std("Option", vec![own.clone()])))
            }
            (Con::Float("f32"), "from_bits") => Some(Ty::function(vec![u32()], own.clone())),
            (Con::Float("f64"), "from_bits") => Some(Ty::function(vec![Ty::int("u64")], own.clone())),
            (Con::Int(_), "from_be" | "from_le") => Some(Ty::function(vec![own.clone()], own.clone())),
            (Con::Int(_), "from_be_bytes" | "from_le_bytes" | "from_ne_bytes") => {
                Some(Ty::function(vec![Ty::array(Ty::int("u8"))], own.clone()))
            }
            (Con::Int(_) | Con::Float(_) | Con::Bool | Con::Char, "default") => {
                Some(Ty::function(Vec::new(), own.clone()))
            }
            (_, _) => None,
        };
        constant
            .or_else(|| self.primitive_conversion(&own, name, span))
            .or_else(|| self.primitive_method(&own, name))
    }

    fn primitive_conversion(&mut self, ty: &Ty, name: &str, span: Span) -> Option<Ty> {
        let source = self.table.fresh(Kind::General);
        match name {
            "from" => {
                self.relate(Pending::From { target: ty.clone(), source: source.clone(), span });
                Some(Ty::function(vec![source], ty.clone()))
            }
            "try_from" => {
                let error = self.table.fresh(Kind::General);
                Some(Ty::function(vec![source], Ty::std("Result", vec![ty.clone(), error])))
            }
            _ => None,
        }
    }

    /// A method as a function, whose first parameter is the receiver.
    fn primitive_method(&mut self, ty: &Ty, name: &str) -> Option<Ty> {
        let is_float = matches!(ty, Ty::Con(Con::Float(_), _));
        let (params, result) = match self.standard(ty, name, None) {
            Some(found) => found,
            None => {
                let by_value = header::entry("OrdByValue", name).filter(|_| !is_float);
                let entry = by_value.or_else(|| header::entry("ByReference", name))?;
                self.entry(ty, &[], &entry, None)
            }
        };
        Some(Ty::function(params, result))
    }
}

/// The segments of a path without the last one.
fn before_last(path: &syn::Path) -> syn::punctuated::Punctuated<syn::PathSegment, syn::Token![::]> {
    let count = path.segments.len().saturating_sub(1);
    path.segments.iter().take(count).cloned().collect()
}
