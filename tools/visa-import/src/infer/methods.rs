//! Calls of methods.

use super::header;
use super::holes;
use super::obligations::Pending;
use super::operators::scalar;
use super::signatures::{Env, Instance, Origin};
use super::types::{Con, Kind, Ty};
use super::{Checker, Expect};
use crate::program::AdtId;
use std::collections::HashMap;
use std::rc::Rc;
use syn::spanned::Spanned;

type Arguments = syn::AngleBracketedGenericArguments;

/// A method that was found: its types without the receiver.
type Method = Option<Instance>;

impl Checker<'_> {
    pub(crate) fn method_call(&mut self, own: &syn::ExprMethodCall) -> Ty {
        let receiver = self.check(&own.receiver, &Expect::None);
        let receiver = self.known(&receiver);
        let args: Vec<&syn::Expr> = own.args.iter().collect();
        let turbofish = own.turbofish.as_ref();
        if let Some(result) = self.conversion(own, &receiver) {
            return result;
        }
        match self.method(&receiver, &own.method.to_string(), turbofish) {
            Some((params, result)) if params.len() == args.len() => {
                self.arguments(&args, &params);
                result
            }
            _ => {
                let base = self.autoderef(&receiver);
                let name = &own.method;
                let taint = match self.table.unknown(&base) {
                    Some((_, Some(taint))) => taint,
                    _ => {
                        let why = format!("the method `{name}` of {} is not read", self.table.full(&base));
                        self.reason(own.span(), why)
                    }
                };
                self.table.taint(&receiver, taint);
                let result = self.opaque_call(&args, taint);
                let open = turbofish.map(holes::inside_arguments).unwrap_or_default();
                self.leave_open(open, &result);
                result
            }
        }
    }

    /// Methods whose result is chosen by its use.
    fn conversion(&mut self, own: &syn::ExprMethodCall, receiver: &Ty) -> Option<Ty> {
        let written = own.turbofish.as_ref().and_then(|own| match own.args.first() {
            Some(syn::GenericArgument::Type(ty)) => Some(ty.clone()),
            _ => None,
        })?;
        let env = self.env.clone();
        let span = own.span();
        let base = self.autoderef(receiver);
        if !own.args.is_empty() || matches!(self.table.unknown(&base), Some((Kind::General, _))) {
            return None;
        }
        match own.method.to_string().as_str() {
            "into" if !self.is_of_input(receiver) => {
                let target = self.lower(&env, &written);
                self.relate(Pending::From { target: target.clone(), source: receiver.clone(), span });
                Some(target)
            }
            "try_into" if scalar(&self.table, receiver) => {
                let target = self.lower(&env, &written);
                let error = self.table.fresh(Kind::General);
                Some(Ty::std("Result", vec![target, error]))
            }
            "sum" | "product" => {
                let out = self.lower(&env, &written);
                match self.iterator(receiver) {
                    Some(item) => self.relate(Pending::Sum { item, out: out.clone(), span }),
                    None => {
                        let base = self.autoderef(receiver);
                        let taint =
                            self.why_unknown(&base, span, "the items that are added are not known here");
                        self.table.taint(&out, taint);
                    }
                }
                Some(out)
            }
            _ => None,
        }
    }

    fn is_of_input(&mut self, ty: &Ty) -> bool {
        matches!(self.autoderef(ty), Ty::Con(Con::Adt(_) | Con::Param(_), _))
    }

    /// The items of an iterator.
    fn iterator(&mut self, ty: &Ty) -> Option<Ty> {
        match self.autoderef(ty) {
            Ty::Con(Con::Std("Iter" | "Range" | "RangeInclusive" | "RangeFrom"), args) => {
                Some(args[0].clone())
            }
            _ => None,
        }
    }

    /// Finds a method as rustc does: of the receiver, then behind each reference.
    fn method(&mut self, receiver: &Ty, name: &str, turbofish: Option<&Arguments>) -> Method {
        if name == "into_iter"
            && let Some(item) = self.items(receiver)
        {
            return Some((Vec::new(), Ty::iter(item)));
        }
        let base = self.autoderef(receiver);
        if let Ty::Con(Con::Adt(adt), args) = &base
            && let Some(found) = self.own_method((*adt, args), name, turbofish)
        {
            return Some(found);
        }
        if self.defs.is_of_trait(name) {
            return None;
        }
        let (params, result) = self.standard(&base, name, turbofish).or_else(|| {
            let is_float = matches!(base, Ty::Con(Con::Float(_), _))
                || matches!(self.table.unknown(&base), Some((Kind::Float, _)));
            let by_value = header::entry("OrdByValue", name).filter(|_| !is_float && is_ordered(&base));
            let by_reference = header::entry("ByReference", name).filter(|_| is_compared(&base, name));
            let (own, entry) = match (by_value, by_reference) {
                (Some(entry), _) => (receiver.clone(), entry),
                (None, Some(entry)) => (self.strip_one(receiver), entry),
                (None, None) => return None,
            };
            Some(self.entry(&own, &[], &entry, turbofish))
        })?;
        Some((params.into_iter().skip(1).collect(), result))
    }

    /// A method that the input defines.
    fn own_method(
        &mut self,
        (adt, args): (AdtId, &[Ty]),
        name: &str,
        turbofish: Option<&Arguments>,
    ) -> Method {
        let (scope, sig) = self.defs.method(adt, name)?;
        sig.receiver()?;
        let mut env = self.adt_env(scope, adt, args);
        let outer = self.env.clone();
        self.add_generics(&mut env, &sig.generics, (&outer, turbofish));
        let (params, result) = self.instance(&env, &sig);
        Some((params.into_iter().skip(1).collect(), result))
    }

    /// The environment of the items of a structure or enumeration.
    pub(crate) fn adt_env(&mut self, scope: super::Scope, adt: AdtId, args: &[Ty]) -> Env {
        let own = Ty::Con(Con::Adt(adt), args.to_vec());
        if let Some(number) = scope.implementation {
            let head = self.defs.implementation(number);
            let outer = self.env.clone();
            let mut env = self.generic_env(scope, None, &head.generics, (&outer, None), false);
            let written = self.lower(&env, &head.self_ty);
            self.unify(&written, &own, head.self_ty.span());
            env.self_ty = Some(own);
            return env;
        }
        let definition = self.defs.adt(adt);
        let names = definition.generics.type_params().map(|own| own.ident.to_string());
        Env {
            scope,
            types: names.zip(args.iter().cloned()).collect(),
            consts: HashMap::new(),
            self_ty: Some(own),
            origin: Origin::Other,
        }
    }

    /// A method of the standard library, with its receiver, if the header has it for the type.
    pub(crate) fn standard(&mut self, base: &Ty, name: &str, turbofish: Option<&Arguments>) -> Method {
        let Ty::Con(con, args) = base else { return None };
        for kind in kinds(con) {
            let Some(entry) = header::entry(kind, name) else { continue };
            let mut args = args.clone();
            if kind.ends_with("OfReference") {
                let inner = self.table.fresh(Kind::General);
                match self.table.resolve(&args[0]) {
                    Ty::Con(Con::Ref, own) => args = own,
                    Ty::Var(_) => return None,
                    Ty::Con(..) => args = vec![inner],
                }
            }
            return Some(self.entry(base, &args, &entry, turbofish));
        }
        None
    }

    /// The types of a signature of the header.
    pub(crate) fn entry(
        &mut self,
        own: &Ty,
        args: &[Ty],
        entry: &header::Entry,
        turbofish: Option<&Arguments>,
    ) -> Instance {
        let sig = Rc::clone(&entry.sig);
        let mut env = Env {
            scope: self.env.scope,
            types: entry.params.iter().cloned().zip(args.iter().cloned()).collect(),
            consts: HashMap::new(),
            self_ty: Some(own.clone()),
            origin: Origin::Header,
        };
        let outer = self.env.clone();
        self.add_generics(&mut env, &sig.generics, (&outer, turbofish));
        self.instance(&env, &sig)
    }
}

/// The traits of the header that a type has.
fn kinds(con: &Con) -> &'static [&'static str] {
    match con {
        Con::Int(name) if name.starts_with('i') => &["Int", "SignedInt"],
        Con::Int(_) => &["Int", "UnsignedInt"],
        Con::Float(_) => &["Float"],
        Con::Bool => &["Bool"],
        Con::Char => &["Char"],
        Con::Str => &["Str"],
        Con::Array => &["Array", "Seq"],
        Con::Slice => &["Seq"],
        Con::Std("Option") => &["Option", "OptionOfReference"],
        Con::Std("Result") => &["Result"],
        Con::Std("Ordering") => &["Ordering"],
        Con::Std("Iter") => &["Iter", "IterOfReference"],
        Con::Std("RangeInclusive") => &["RangeInclusive", "Range", "Iter"],
        Con::Std("Range" | "RangeFrom") => &["Range", "Iter"],
        Con::Std("RangeTo" | "RangeToInclusive") => &["Range"],
        _ => &[],
    }
}

/// True if `Ord::max` and its siblings are the methods of that name.
fn is_ordered(base: &Ty) -> bool {
    match base {
        Ty::Var(_) => true,
        Ty::Con(con, _) => matches!(
            con,
            Con::Int(_)
                | Con::Bool
                | Con::Char
                | Con::Tuple
                | Con::Array
                | Con::Adt(_)
                | Con::Std("Option" | "Ordering")
        ),
    }
}

/// True if a method of `Clone`, `PartialEq`, `PartialOrd` or `Ord` is the one of that name.
fn is_compared(base: &Ty, name: &str) -> bool {
    match base {
        Ty::Var(_) => true,
        Ty::Con(Con::Slice | Con::Str, _) => name != "clone" && name != "to_owned",
        Ty::Con(Con::Fn | Con::Param(_), _) => name == "clone",
        Ty::Con(con, _) => is_ordered(base) || matches!(con, Con::Float(_) | Con::Std("Result")),
    }
}
