//! Types of the host's Rust with unknown parts, and their unification.

use crate::program::AdtId;
use std::rc::Rc;

/// A type constructor; its arguments are in [`Ty::Con`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Con {
    /// An integer type, by its name.
    Int(&'static str),
    /// `f32` or `f64`.
    Float(&'static str),
    Bool,
    Char,
    Str,
    Never,
    Tuple,
    /// An array; the argument is its element. Lengths are not tracked.
    Array,
    Slice,
    /// A reference, of either mutability.
    Ref,
    Adt(AdtId),
    /// A type of the standard library, by its name. `Iter` stands for all iterators but ranges; its argument is the
    /// item.
    Std(&'static str),
    /// A function, function pointer or closure: the parameters, then the result.
    Fn,
    /// A generic parameter of the function that is checked.
    Param(Rc<str>),
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    Var(usize),
    Con(Con, Vec<Ty>),
}

/// The integer types.
pub(crate) const INTEGERS: [&str; 12] =
    ["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize"];

/// The floating-point types.
pub(crate) const FLOATS: [&str; 2] = ["f32", "f64"];

/// The types of the standard library that have a constructor here.
pub(crate) const STANDARD: [&str; 13] = [
    "Option",
    "Result",
    "Range",
    "RangeInclusive",
    "RangeFrom",
    "RangeTo",
    "RangeToInclusive",
    "RangeFull",
    "Iter",
    "Ordering",
    "Box",
    "TryFromIntError",
    "String",
];

impl Ty {
    pub(crate) fn leaf(con: Con) -> Self {
        Self::Con(con, Vec::new())
    }

    pub(crate) fn int(name: &'static str) -> Self {
        Self::leaf(Con::Int(name))
    }

    pub(crate) fn bool() -> Self {
        Self::leaf(Con::Bool)
    }

    pub(crate) fn unit() -> Self {
        Self::leaf(Con::Tuple)
    }

    pub(crate) fn never() -> Self {
        Self::leaf(Con::Never)
    }

    pub(crate) fn reference(inner: Self) -> Self {
        Self::Con(Con::Ref, vec![inner])
    }

    pub(crate) fn array(element: Self) -> Self {
        Self::Con(Con::Array, vec![element])
    }

    pub(crate) fn std(name: &'static str, args: Vec<Self>) -> Self {
        Self::Con(Con::Std(name), args)
    }

    pub(crate) fn iter(item: Self) -> Self {
        Self::std("Iter", vec![item])
    }

    pub(crate) fn function(mut params: Vec<Self>, result: Self) -> Self {
        params.push(result);
        Self::Con(Con::Fn, params)
    }

    /// The type of a primitive's name, or of one in [`STANDARD`] without arguments.
    pub(crate) fn primitive(name: &str) -> Option<Self> {
        let con = match name {
            "bool" => Con::Bool,
            "char" => Con::Char,
            "str" => Con::Str,
            _ => {
                let int = INTEGERS.iter().find(|own| **own == name).map(|own| Con::Int(own));
                int.or_else(|| FLOATS.iter().find(|own| **own == name).map(|own| Con::Float(own)))?
            }
        };
        Some(Self::leaf(con))
    }

    pub(crate) fn is_never(&self) -> bool {
        matches!(self, Self::Con(Con::Never, _))
    }
}

/// The types that a variable may stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    General,
    Int,
    Float,
}

/// Reason for an unknown type; the greater one prevails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Taint {
    /// The vendor's toolchain fixes it.
    Toolchain,
    /// It depends on a construct that is not read: the index of the reason.
    Unread(usize),
}

#[derive(Clone, Debug)]
struct Var {
    kind: Kind,
    bound: Option<Ty>,
    taint: Option<Taint>,
}

/// Variables and their bindings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    vars: Vec<Var>,
}

/// Two types that differ: the input has an error, or the inference has.
#[derive(Debug)]
pub(crate) struct Conflict;

impl Table {
    pub(crate) fn fresh(&mut self, kind: Kind) -> Ty {
        self.vars.push(Var { kind, bound: None, taint: None });
        Ty::Var(self.vars.len() - 1)
    }

    pub(crate) fn tainted(&mut self, taint: Taint) -> Ty {
        self.vars.push(Var { kind: Kind::General, bound: None, taint: Some(taint) });
        Ty::Var(self.vars.len() - 1)
    }

    /// Follows bindings at the top of a type.
    pub(crate) fn resolve(&self, ty: &Ty) -> Ty {
        let mut ty = ty;
        while let Ty::Var(var) = ty
            && let Some(bound) = &self.vars[*var].bound
        {
            ty = bound;
        }
        ty.clone()
    }

    /// Follows bindings everywhere in a type.
    pub(crate) fn full(&self, ty: &Ty) -> Ty {
        match self.resolve(ty) {
            Ty::Con(con, args) => Ty::Con(con, args.iter().map(|arg| self.full(arg)).collect()),
            var @ Ty::Var(_) => var,
        }
    }

    /// The kind and taint of a type that is a variable.
    pub(crate) fn unknown(&self, ty: &Ty) -> Option<(Kind, Option<Taint>)> {
        match self.resolve(ty) {
            Ty::Var(var) => Some((self.vars[var].kind, self.vars[var].taint)),
            Ty::Con(..) => None,
        }
    }

    /// Marks all unknown parts of a type, and returns true if that is new.
    pub(crate) fn taint(&mut self, ty: &Ty, taint: Taint) -> bool {
        match self.resolve(ty) {
            Ty::Var(var) => {
                let own = &mut self.vars[var].taint;
                let is_new = *own < Some(taint);
                *own = (*own).max(Some(taint));
                is_new
            }
            Ty::Con(_, args) => self.taint_all(&args, taint),
        }
    }

    /// Marks all unknown parts of some types, and returns true if one is new.
    pub(crate) fn taint_all(&mut self, types: &[Ty], taint: Taint) -> bool {
        types.iter().filter(|ty| self.taint(ty, taint)).count() > 0
    }

    pub(crate) fn unify(&mut self, left: &Ty, right: &Ty) -> Result<(), Conflict> {
        match (self.resolve(left), self.resolve(right)) {
            (Ty::Var(left), Ty::Var(right)) if left == right => Ok(()),
            (Ty::Var(left), Ty::Var(right)) => {
                let kind = match (self.vars[left].kind, self.vars[right].kind) {
                    (Kind::General, kind) | (kind, Kind::General) => kind,
                    (left, right) if left == right => left,
                    (_, _) => return Err(Conflict),
                };
                self.vars[right].kind = kind;
                self.vars[right].taint = self.vars[right].taint.max(self.vars[left].taint);
                self.vars[left].bound = Some(Ty::Var(right));
                Ok(())
            }
            (Ty::Var(var), ty) | (ty, Ty::Var(var)) => self.bind(var, ty),
            (Ty::Con(left, own), Ty::Con(right, args)) => {
                // Where a coercion made a slice of an array, the elements are the same.
                let sequences = [Con::Array, Con::Slice];
                let same = left == right || sequences.contains(&left) && sequences.contains(&right);
                if !same || own.len() != args.len() {
                    return Err(Conflict);
                }
                own.iter().zip(&args).try_for_each(|(left, right)| self.unify(left, right))
            }
        }
    }

    fn bind(&mut self, var: usize, ty: Ty) -> Result<(), Conflict> {
        let fits = match self.vars[var].kind {
            Kind::General => !self.mentions(&ty, var),
            Kind::Int => matches!(ty, Ty::Con(Con::Int(_), _)),
            Kind::Float => matches!(ty, Ty::Con(Con::Float(_), _)),
        };
        if !fits {
            return Err(Conflict);
        }
        if let Some(taint) = self.vars[var].taint {
            self.taint(&ty, taint);
        }
        self.vars[var].bound = Some(ty);
        Ok(())
    }

    fn mentions(&self, ty: &Ty, var: usize) -> bool {
        match self.resolve(ty) {
            Ty::Var(own) => own == var,
            Ty::Con(_, args) => args.iter().any(|arg| self.mentions(arg, var)),
        }
    }
}

impl std::fmt::Display for Ty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self::Con(con, args) = self else { return f.write_str("_") };
        let list: Vec<String> = args.iter().map(ToString::to_string).collect();
        match con {
            Con::Int(name) | Con::Float(name) => f.write_str(name),
            Con::Bool => f.write_str("bool"),
            Con::Char => f.write_str("char"),
            Con::Str => f.write_str("str"),
            Con::Never => f.write_str("!"),
            Con::Tuple => write!(f, "({})", list.join(", ")),
            Con::Array => write!(f, "[{}; _]", list[0]),
            Con::Slice => write!(f, "[{}]", list[0]),
            Con::Ref => write!(f, "&{}", list[0]),
            Con::Adt(_) => f.write_str("a type of the input"),
            Con::Std(name) if list.is_empty() => f.write_str(name),
            Con::Std(name) => write!(f, "{name}<{}>", list.join(", ")),
            Con::Fn => write!(f, "fn({})", list.join(", ")),
            Con::Param(name) => f.write_str(name),
        }
    }
}
