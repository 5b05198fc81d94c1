//! Written types, generics and bounds as types.

use super::definitions::{Scope, TypeDefinition};
use super::types::{Con, Kind, STANDARD, Taint, Ty};
use super::{Checker, Expect, Pending};
use crate::program::{AdtId, MAX_ALIASES};
use std::collections::HashMap;
use std::rc::Rc;
use syn::spanned::Spanned;

/// The body that the types belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The function that is checked: its literals are found.
    Own,
    /// Another item of the input.
    Other,
    /// The header of the standard library.
    Header,
}

/// Names that types are written with.
#[derive(Clone, Debug)]
pub(crate) struct Env {
    pub(crate) scope: Scope,
    pub(crate) types: HashMap<String, Ty>,
    /// The types of generic constants.
    pub(crate) consts: HashMap<String, Ty>,
    pub(crate) self_ty: Option<Ty>,
    pub(crate) origin: Origin,
}

/// Traits whose bounds do not relate types.
const PLAIN: [&str; 16] = [
    "Copy",
    "Clone",
    "Debug",
    "Display",
    "PartialEq",
    "Eq",
    "PartialOrd",
    "Ord",
    "Default",
    "Hash",
    "Send",
    "Sync",
    "Sized",
    "Unpin",
    "LowerHex",
    "Binary",
];

/// Traits of operators, whose results have the type of their operands for numbers.
const OPERATORS: [&str; 12] =
    ["Add", "Sub", "Mul", "Div", "Rem", "Neg", "Not", "BitAnd", "BitOr", "BitXor", "AddAssign", "MulAssign"];

/// The parameters' types and the result's type.
pub(crate) type Instance = (Vec<Ty>, Ty);

type Arguments = syn::AngleBracketedGenericArguments;

/// A type of a definition: the right side of an alias, or the default of a parameter.
#[derive(PartialEq, Eq)]
pub(crate) enum Followed {
    Alias(*const syn::ItemType),
    Default(Scope, String),
}

impl Checker<'_> {
    /// The type that is written as `ty`.
    pub(crate) fn lower(&mut self, env: &Env, ty: &syn::Type) -> Ty {
        match ty {
            syn::Type::Array(array) => {
                self.length(env, &array.len);
                Ty::array(self.lower(env, &array.elem))
            }
            syn::Type::Slice(slice) => Ty::Con(Con::Slice, vec![self.lower(env, &slice.elem)]),
            syn::Type::Reference(own) => Ty::reference(self.lower(env, &own.elem)),
            syn::Type::Tuple(own) => {
                Ty::Con(Con::Tuple, own.elems.iter().map(|elem| self.lower(env, elem)).collect())
            }
            syn::Type::Paren(own) => self.lower(env, &own.elem),
            syn::Type::Group(own) => self.lower(env, &own.elem),
            syn::Type::Never(_) => Ty::never(),
            syn::Type::Infer(_) => self.table.fresh(Kind::General),
            syn::Type::BareFn(own) => {
                let params = own.inputs.iter().map(|input| self.lower(env, &input.ty)).collect();
                Ty::function(params, self.output(env, &own.output))
            }
            syn::Type::ImplTrait(own) => self.opaque(env, &own.bounds),
            syn::Type::TraitObject(own) => self.opaque(env, &own.bounds),
            syn::Type::Path(path) => {
                let ty = self.type_path(env, path);
                if env.origin == Origin::Own {
                    self.leave_open(super::holes::inside(&path.path), &ty);
                }
                ty
            }
            syn::Type::Macro(_) => self.table.tainted(Taint::Toolchain),
            syn::Type::Ptr(_) | syn::Type::Verbatim(_) => self.unread(ty.span(), "this type is not read"),
            _ => self.unread(ty.span(), "this type is not read"),
        }
    }

    pub(crate) fn output(&mut self, env: &Env, output: &syn::ReturnType) -> Ty {
        match output {
            syn::ReturnType::Default => Ty::unit(),
            syn::ReturnType::Type(_, ty) => self.lower(env, ty),
        }
    }

    /// Checks a length or an argument of a generic constant of type `usize`.
    fn length(&mut self, env: &Env, value: &syn::Expr) {
        if env.origin == Origin::Own {
            self.constant(value, &Ty::int("usize"));
        }
    }

    /// Checks a constant inside a body.
    pub(crate) fn constant(&mut self, value: &syn::Expr, ty: &Ty) {
        if !matches!(value, syn::Expr::Infer(_)) {
            let frame = self.enter(ty.clone());
            self.coerced(value, ty);
            self.leave(frame);
        }
    }

    /// A type of which only bounds are written.
    fn opaque(&mut self, env: &Env, bounds: &Bounds) -> Ty {
        let ty = self.table.fresh(Kind::General);
        let before = self.pending.len();
        bounds.iter().for_each(|bound| self.bound(env, &ty, bound));
        let is_iterator = self.pending.drain(before..).find_map(|pending| match pending {
            Pending::Items { item, .. } => Some(item),
            _ => None,
        });
        is_iterator.map_or(ty, Ty::iter)
    }

    /// The type of a parameter; `impl Trait` is a generic parameter without a name.
    fn param(&mut self, env: &Env, ty: &syn::Type) -> Ty {
        match ty {
            syn::Type::ImplTrait(own) if env.origin != Origin::Own => {
                let ty = self.table.fresh(Kind::General);
                own.bounds.iter().for_each(|bound| self.bound(env, &ty, bound));
                ty
            }
            _ => self.lower(env, ty),
        }
    }

    /// Adds the facts that a bound gives about a type.
    fn bound(&mut self, env: &Env, ty: &Ty, bound: &syn::TypeParamBound) {
        let syn::TypeParamBound::Trait(bound) = bound else { return };
        let Some(last) = bound.path.segments.last() else { return };
        let name = last.ident.to_string();
        match &last.arguments {
            syn::PathArguments::Parenthesized(own) => {
                let params = own.inputs.iter().map(|input| self.lower(env, input)).collect();
                let function = Ty::function(params, self.output(env, &own.output));
                self.unify(ty, &function, bound.span());
            }
            syn::PathArguments::AngleBracketed(args) if name.ends_with("Iterator") => {
                if let Some(item) = args.args.iter().find_map(|arg| match arg {
                    syn::GenericArgument::AssocType(own) if own.ident == "Item" => Some(&own.ty),
                    _ => None,
                }) {
                    let item = self.lower(env, item);
                    self.pending.push(Pending::Items { ty: ty.clone(), item, span: bound.span() });
                }
            }
            syn::PathArguments::None if PLAIN.contains(&&*name) || OPERATORS.contains(&&*name) => {}
            syn::PathArguments::AngleBracketed(args)
                if OPERATORS.contains(&&*name) && self.is_own_output(env, ty, args) => {}
            syn::PathArguments::None => {
                let taint = self.reason(bound.span(), format!("the bound `{name}` is not read"));
                self.table.taint(ty, taint);
            }
            syn::PathArguments::AngleBracketed(args) => {
                let taint = self.reason(bound.span(), format!("the bound `{name}` is not read"));
                self.table.taint(ty, taint);
                for own in bound_types(args) {
                    let own = self.lower(env, own);
                    self.table.taint(&own, taint);
                }
            }
        }
    }

    /// True of `Add<Output = T>` as a bound of `T`, which no choice of a number contradicts.
    fn is_own_output(&mut self, env: &Env, ty: &Ty, args: &Arguments) -> bool {
        match args.args.first() {
            Some(syn::GenericArgument::AssocType(own)) if args.args.len() == 1 => {
                self.lower(env, &own.ty) == *ty
            }
            _ => false,
        }
    }

    fn type_path(&mut self, env: &Env, path: &syn::TypePath) -> Ty {
        if let Some(number) = super::holes::type_hole(&syn::Type::Path(path.clone())) {
            return self.reach(number);
        }
        let names: Vec<String> = path.path.segments.iter().map(|own| own.ident.to_string()).collect();
        let is_parameter = names[0] == "Self" || env.types.contains_key(&names[0]);
        if path.qself.is_some() || names.len() > 1 && is_parameter {
            return self.unread(path.span(), "an associated type is not read");
        }
        let args = path.path.segments.last().and_then(|own| angled(&own.arguments));
        if let [name] = &*names {
            if let Some(ty) = env.types.get(name) {
                return ty.clone();
            }
            if name == "Self"
                && let Some(ty) = &env.self_ty
            {
                return ty.clone();
            }
        }
        if env.origin == Origin::Header {
            return self.external_type(env, &names, args, path.span());
        }
        match self.defs.ty(env.scope, &names) {
            TypeDefinition::Alias(scope, item) => {
                let inner = self.generic_env(scope, None, &item.generics, (env, args), true);
                let followed = Followed::Alias(Rc::as_ptr(&item));
                self.follow(followed, path.span(), |own| own.lower(&inner, &item.ty))
            }
            TypeDefinition::Adt(adt) => self.adt_type(env, adt, args, true),
            TypeDefinition::External(names) => self.external_type(env, &names, args, path.span()),
            TypeDefinition::Toolchain => self.table.tainted(Taint::Toolchain),
            TypeDefinition::Variant(..) => self.unread(path.span(), "a variant is no type"),
            TypeDefinition::Unread(why) => self.unread(path.span(), why),
        }
    }

    /// The type or item that a definition stands for. One that is its own part has no end, and a chain of many costs
    /// the stack.
    fn follow(&mut self, of: Followed, span: proc_macro2::Span, run: impl FnOnce(&mut Self) -> Ty) -> Ty {
        if self.followed.len() >= MAX_ALIASES || self.followed.contains(&of) {
            return self.unread(span, "types that use each other without end are not read");
        }
        self.followed.push(of);
        let ty = run(self);
        self.followed.pop();
        ty
    }

    /// A structure or enumeration with the arguments that are written, or with defaults if it is a written type.
    pub(crate) fn adt_type(&mut self, env: &Env, adt: AdtId, args: Option<&Arguments>, defaults: bool) -> Ty {
        let definition = self.defs.adt(adt);
        let inner = self.generic_env(definition.scope, None, &definition.generics, (env, args), defaults);
        let params = definition.generics.type_params().map(|own| inner.types[&own.ident.to_string()].clone());
        Ty::Con(Con::Adt(adt), params.collect())
    }

    fn external_type(
        &mut self,
        env: &Env,
        names: &[String],
        args: Option<&Arguments>,
        span: proc_macro2::Span,
    ) -> Ty {
        let name = names.last().map_or("", String::as_str);
        let is_prelude = names.len() == 1 && (env.origin == Origin::Header || PRELUDE.contains(&name));
        if let Some(ty) = Ty::primitive(name).filter(|_| names.len() == 1) {
            return ty;
        }
        if !is_prelude && !is_standard(names) {
            return self.unread(span, format!("the type `{}` is not read", names.join("::")));
        }
        if let Some(Ty::Con(Con::Int(own), _)) = &env.self_ty
            && let Some(ty) = counterpart(own, name)
        {
            return Ty::int(ty);
        }
        if let (Some(Ty::Con(Con::Float(own), _)), "Bits") = (&env.self_ty, name) {
            return Ty::int(if *own == "f32" { "u32" } else { "u64" });
        }
        let Some(known) = STANDARD.iter().find(|own| **own == name) else {
            return self.unread(span, format!("the type `{name}` is not read"));
        };
        let is_external = *known == "Iter" && env.origin != Origin::Header;
        if is_external {
            return self.unread(span, format!("the type `{name}` is not read"));
        }
        let written: Vec<Ty> = args.map(|args| self.type_args(env, args)).unwrap_or_default();
        let count = standard_arity(known);
        let rest = count.saturating_sub(written.len());
        let mut all = written;
        all.truncate(count);
        all.extend((0..rest).map(|_| self.table.fresh(Kind::General)));
        Ty::std(known, all)
    }

    fn type_args(&mut self, env: &Env, args: &Arguments) -> Vec<Ty> {
        let types = args.args.iter().filter_map(|arg| match arg {
            syn::GenericArgument::Type(ty) => Some(ty),
            _ => None,
        });
        types.map(|ty| self.lower(env, ty)).collect()
    }

    /// The names of a type's generic parameters: as they are written in `args` (seen from another environment), by
    /// their defaults, or unknown.
    pub(crate) fn generic_env(
        &mut self,
        scope: Scope,
        self_ty: Option<Ty>,
        generics: &syn::Generics,
        (outer, args): (&Env, Option<&Arguments>),
        defaults: bool,
    ) -> Env {
        let origin = if outer.origin == Origin::Header { Origin::Header } else { Origin::Other };
        let mut env = Env { scope, types: HashMap::new(), consts: HashMap::new(), self_ty, origin };
        self.add_all_generics(&mut env, generics, (outer, args), defaults);
        env
    }

    /// Adds generic parameters, without defaults, and their bounds to an environment.
    pub(crate) fn add_generics(
        &mut self,
        env: &mut Env,
        generics: &syn::Generics,
        args: (&Env, Option<&Arguments>),
    ) {
        self.add_all_generics(env, generics, args, false);
    }

    fn add_all_generics(
        &mut self,
        env: &mut Env,
        generics: &syn::Generics,
        (outer, args): (&Env, Option<&Arguments>),
        defaults: bool,
    ) {
        let is_lifetime = |arg: &&syn::GenericArgument| matches!(arg, syn::GenericArgument::Lifetime(_));
        let args: Vec<&syn::GenericArgument> =
            args.iter().flat_map(|args| args.args.iter()).filter(|arg| !is_lifetime(arg)).collect();
        let params = generics.params.iter().filter(|own| !matches!(own, syn::GenericParam::Lifetime(_)));
        for (at, param) in params.enumerate() {
            match (param, args.get(at)) {
                (syn::GenericParam::Type(own), Some(syn::GenericArgument::Type(ty))) => {
                    let ty = self.lower(outer, ty);
                    env.types.insert(own.ident.to_string(), ty);
                }
                (syn::GenericParam::Type(own), _) => {
                    let ty = match &own.default {
                        Some(default) if defaults => {
                            let (followed, env) =
                                (Followed::Default(env.scope, own.ident.to_string()), env.clone());
                            self.follow(followed, default.span(), |own| own.lower(&env, default))
                        }
                        _ => self.table.fresh(Kind::General),
                    };
                    env.types.insert(own.ident.to_string(), ty);
                }
                (syn::GenericParam::Const(own), arg) => {
                    let ty = self.lower(env, &own.ty);
                    if let (Some(syn::GenericArgument::Const(value)), Origin::Own) = (arg, outer.origin) {
                        self.constant(value, &ty);
                    }
                    env.consts.insert(own.ident.to_string(), ty);
                }
                (syn::GenericParam::Lifetime(_), _) => {}
            }
        }
        self.add_bounds(env, generics);
    }

    fn add_bounds(&mut self, env: &Env, generics: &syn::Generics) {
        for own in generics.type_params() {
            let ty = env.types[&own.ident.to_string()].clone();
            own.bounds.iter().for_each(|bound| self.bound(env, &ty, bound));
        }
        for predicate in generics.where_clause.iter().flat_map(|own| &own.predicates) {
            if let syn::WherePredicate::Type(own) = predicate {
                let ty = self.lower(env, &own.bounded_ty);
                own.bounds.iter().for_each(|bound| self.bound(env, &ty, bound));
            }
        }
    }

    /// The environment of the function that is checked: its type parameters stand for themselves, or for the types of
    /// their bounds.
    pub(crate) fn own_env(&mut self, scope: Scope, generics: &syn::Generics) -> Env {
        let mut env =
            Env { scope, types: HashMap::new(), consts: HashMap::new(), self_ty: None, origin: Origin::Own };
        if let Some(number) = scope.implementation {
            let head = self.defs.implementation(number);
            let outer = env.clone();
            self.add_generics(&mut env, &head.generics, (&outer, None));
            self.close(&mut env, &head.generics);
            env.self_ty = Some(self.lower(&env, &head.self_ty));
        } else if let Some(adt) = scope.of {
            let definition = self.defs.adt(adt);
            let outer = env.clone();
            self.add_generics(&mut env, &definition.generics, (&outer, None));
            self.close(&mut env, &definition.generics);
            let args = definition.generics.type_params().map(|own| env.types[&own.ident.to_string()].clone());
            env.self_ty = Some(Ty::Con(Con::Adt(adt), args.collect()));
        }
        let outer = env.clone();
        self.add_generics(&mut env, generics, (&outer, None));
        self.close(&mut env, generics);
        env
    }

    /// Binds type parameters that are still open: to an iterator by their bound, or to themselves.
    fn close(&mut self, env: &mut Env, generics: &syn::Generics) {
        for pending in std::mem::take(&mut self.pending) {
            if let Pending::Items { ty, item, span } = pending {
                self.unify(&ty, &Ty::iter(item), span);
            }
        }
        for own in generics.type_params() {
            let name = own.ident.to_string();
            let ty = env.types[&name].clone();
            if self.table.unknown(&ty).is_some() {
                env.types.insert(name.clone(), Ty::leaf(Con::Param(Rc::from(name))));
            }
        }
    }

    /// A signature's types, with the receiver as a parameter.
    pub(crate) fn instance(&mut self, env: &Env, sig: &syn::Signature) -> Instance {
        let params = sig.inputs.iter().map(|input| match input {
            syn::FnArg::Typed(own) => self.param(env, &own.ty),
            syn::FnArg::Receiver(own) => {
                let ty =
                    env.self_ty.clone().unwrap_or_else(|| self.unread(own.span(), "`self` has no type here"));
                if own.reference.is_some() { Ty::reference(ty) } else { ty }
            }
        });
        let params = params.collect();
        (params, self.output(env, &sig.output))
    }

    /// The types of the fields of a structure or a variant.
    pub(crate) fn fields(&mut self, adt: AdtId, variant: usize, args: &[Ty]) -> Vec<(String, Ty)> {
        let definition = self.defs.adt(adt);
        let names = definition.generics.type_params().map(|own| own.ident.to_string());
        let env = Env {
            scope: definition.scope,
            types: names.zip(args.iter().cloned()).collect(),
            consts: HashMap::new(),
            self_ty: Some(Ty::Con(Con::Adt(adt), args.to_vec())),
            origin: Origin::Other,
        };
        let fields = definition.variants[variant].fields.iter();
        fields.map(|(name, ty)| (name.clone(), self.lower(&env, ty))).collect()
    }

    /// The result of a hint: an expectation without unknown parts at its top.
    pub(crate) fn hint(&self, expect: &Expect) -> Option<Ty> {
        match expect {
            Expect::Has(ty) | Expect::Cast(ty) => {
                Some(self.table.resolve(ty)).filter(|ty| matches!(ty, Ty::Con(..)))
            }
            Expect::None => None,
        }
    }
}

/// The types that a bound mentions.
fn bound_types(args: &Arguments) -> impl Iterator<Item = &syn::Type> {
    args.args.iter().filter_map(|arg| match arg {
        syn::GenericArgument::Type(ty) => Some(ty),
        syn::GenericArgument::AssocType(own) => Some(&own.ty),
        _ => None,
    })
}

type Bounds = syn::punctuated::Punctuated<syn::TypeParamBound, syn::Token![+]>;

/// The types of the standard library that need no `use`.
const PRELUDE: [&str; 4] = ["Option", "Result", "Box", "String"];

/// True for a path of the standard library.
pub(crate) fn is_standard(names: &[String]) -> bool {
    names.len() > 1 && ["std", "core", "alloc"].contains(&&*names[0])
}

/// The generic arguments of a segment.
pub(crate) fn angled(arguments: &syn::PathArguments) -> Option<&Arguments> {
    match arguments {
        syn::PathArguments::AngleBracketed(own) => Some(own),
        syn::PathArguments::None | syn::PathArguments::Parenthesized(_) => None,
    }
}

/// The signed or unsigned type of an integer type's width.
fn counterpart(own: &str, name: &str) -> Option<&'static str> {
    let letter = match name {
        "Unsigned" => "u",
        "Signed" => "i",
        _ => return None,
    };
    let wanted = format!("{letter}{}", &own[1..]);
    super::types::INTEGERS.iter().find(|own| **own == wanted).copied()
}

fn standard_arity(name: &str) -> usize {
    match name {
        "Result" => 2,
        "RangeFull" | "Ordering" | "TryFromIntError" | "String" => 0,
        _ => 1,
    }
}
