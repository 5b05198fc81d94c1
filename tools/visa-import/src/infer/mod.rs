//! Types of literals, as rustc infers them, without running anything.
//!
//! The input is a body after expansion: without macros, with unique names of variables. Each integer and
//! floating-point literal gets a suffix: the name of its type; `toolchain` if only the vendor's toolchain fixes it; or
//! `unreadN` if it depends on a construct that is not read, where N is the index of a [`Reason`]. The same names
//! replace the types of `as _`; `x.into()` becomes a cast where its result is a primitive, and `sum()`, `product()`
//! and `try_into()` get their result's type as an argument.
//!
//! The input is taken for valid Rust. So each equation between types that rustc solves may be added at once. A type
//! without an equation gets `i32` or `f64`, unless it may depend on a construct without known equations: such a
//! construct taints all types that it sees. Two types that contradict each other taint the whole body.

mod calls;
mod closures;
mod control;
mod definitions;
mod expressions;
mod header;
mod holes;
mod methods;
mod obligations;
mod operators;
mod paths;
mod patterns;
mod signatures;
mod types;

#[cfg(test)]
mod tests;

pub(crate) use definitions::{
    AdtDefinition, Definition, Definitions, Implementation, Scope, TypeDefinition, Variant,
};

use obligations::Pending;
use proc_macro2::Span;
use signatures::{Env, Followed, Origin};
use std::collections::HashMap;
use syn::visit_mut::VisitMut;
use types::{Con, Kind, Table, Taint, Ty};

/// A construct at which inference stops, and why.
pub(crate) type Reason = (Span, String);

/// Suffixes the literals of a function's signature and body. The result lists the reasons of `unread` suffixes.
pub(crate) fn function(
    defs: &dyn Definitions,
    scope: Scope,
    sig: &mut syn::Signature,
    body: &mut syn::Block,
) -> Vec<Reason> {
    let mut number = holes::Number::default();
    number.visit_signature_mut(sig);
    number.visit_block_mut(body);
    let mut checker = Checker::new(defs, scope, &number.holes);
    checker.function(sig, body);
    let mut fill = holes::Fill { names: checker.names() };
    fill.visit_signature_mut(sig);
    fill.visit_block_mut(body);
    checker.reasons
}

/// Suffixes the literals of a constant's value, and of its type.
pub(crate) fn constant(
    defs: &dyn Definitions,
    scope: Scope,
    ty: &mut syn::Type,
    value: &mut syn::Expr,
) -> Vec<Reason> {
    let mut number = holes::Number::default();
    number.visit_type_mut(ty);
    number.visit_expr_mut(value);
    let mut checker = Checker::new(defs, scope, &number.holes);
    checker.env = checker.own_env(scope, &syn::Generics::default());
    let env = checker.env.clone();
    let lowered = checker.lower(&env, ty);
    checker.constant(value, &lowered);
    let mut fill = holes::Fill { names: checker.names() };
    fill.visit_type_mut(ty);
    fill.visit_expr_mut(value);
    checker.reasons
}

/// An expectation of an expression's type.
#[derive(Clone, Debug)]
enum Expect {
    None,
    /// The expression is coerced to it.
    Has(Ty),
    /// The expression is cast to it.
    Cast(Ty),
}

/// A loop or a labelled block.
#[derive(Debug)]
struct Loop {
    label: Option<String>,
    /// The type of the values of `break`; `None` for loops without value.
    result: Option<Ty>,
    /// True if some `break` leaves it.
    is_left: bool,
    /// False for a labelled block, which `break` without a label passes.
    is_loop: bool,
}

/// The state around a body that another body interrupts.
struct Frame {
    result: Ty,
    loops: Vec<Loop>,
    diverges: bool,
}

struct Checker<'d> {
    defs: &'d dyn Definitions,
    env: Env,
    table: Table,
    /// The types of the literals and types that are to be found.
    holes: Vec<Ty>,
    spans: Vec<Span>,
    /// True for each hole that the inference came to.
    reached: Vec<bool>,
    locals: HashMap<String, Ty>,
    /// Relations that wait.
    pending: Vec<Pending>,
    /// Relations of tainted types, which wait for the end of the body.
    stalled: Vec<Pending>,
    reasons: Vec<Reason>,
    /// The definitions whose parts are lowered, the outermost first.
    followed: Vec<Followed>,
    /// The first contradiction.
    conflict: Option<Taint>,
    /// The result of the function or closure that is checked.
    result: Ty,
    loops: Vec<Loop>,
    /// True after an expression that never ends.
    diverges: bool,
}

impl<'d> Checker<'d> {
    fn new(defs: &'d dyn Definitions, scope: Scope, holes: &[(Kind, Span)]) -> Self {
        let mut table = Table::default();
        let reached = vec![false; holes.len()];
        let spans = holes.iter().map(|(_, span)| *span).collect();
        let holes = holes.iter().map(|(kind, _)| table.fresh(*kind)).collect();
        let env =
            Env { scope, types: HashMap::new(), consts: HashMap::new(), self_ty: None, origin: Origin::Own };
        Self {
            defs,
            env,
            table,
            holes,
            spans,
            reached,
            locals: HashMap::new(),
            pending: Vec::new(),
            stalled: Vec::new(),
            reasons: Vec::new(),
            followed: Vec::new(),
            conflict: None,
            result: Ty::unit(),
            loops: Vec::new(),
            diverges: false,
        }
    }

    fn function(&mut self, sig: &syn::Signature, body: &syn::Block) {
        self.env = self.own_env(self.env.scope, &sig.generics);
        let env = self.env.clone();
        let (params, result) = self.instance(&env, sig);
        for (input, ty) in sig.inputs.iter().zip(&params) {
            match input {
                syn::FnArg::Receiver(_) => {
                    self.locals.insert("self".to_owned(), ty.clone());
                }
                syn::FnArg::Typed(own) => self.pattern(&own.pat, ty, false),
            }
        }
        self.result = result.clone();
        let ty = self.block(body, &Expect::Has(result.clone()));
        self.coerce(&ty, &result, proc_macro2::Span::call_site());
    }

    /// Records why something is not read.
    fn reason(&mut self, span: Span, why: impl Into<String>) -> Taint {
        self.reasons.push((span, why.into()));
        Taint::Unread(self.reasons.len() - 1)
    }

    /// A type that is not known.
    fn unread(&mut self, span: Span, why: impl Into<String>) -> Ty {
        let taint = self.reason(span, why);
        self.table.tainted(taint)
    }

    /// Makes two types equal.
    fn unify(&mut self, left: &Ty, right: &Ty, span: Span) {
        if self.table.unify(left, right).is_err() && self.conflict.is_none() {
            let (left, right) = (self.table.full(left), self.table.full(right));
            self.conflict = Some(self.reason(span, format!("the types {left} and {right} differ")));
        }
    }

    /// Makes a type fit where another is expected: references lose mutability and layers, arrays become slices.
    fn coerce(&mut self, from: &Ty, to: &Ty, span: Span) {
        let (from, to) = (self.table.resolve(from), self.table.resolve(to));
        match (&from, &to) {
            (Ty::Con(Con::Never, _), _) => {}
            (Ty::Con(Con::Ref, own), Ty::Con(Con::Ref, wanted)) => {
                let (own, wanted) = (self.table.resolve(&own[0]), self.table.resolve(&wanted[0]));
                match (&own, &wanted) {
                    (Ty::Con(Con::Ref, _), Ty::Con(con, _)) if *con != Con::Ref => {
                        self.coerce(&own, &to, span)
                    }
                    (_, _) => self.unify(&own, &wanted, span),
                }
            }
            (Ty::Con(Con::Ref, own), Ty::Con(Con::Fn, _)) => self.unify(&own[0], &to, span),
            (_, _) => self.unify(&from, &to, span),
        }
    }

    /// The known part of a type where a method or a field of it is used.
    fn known(&mut self, ty: &Ty) -> Ty {
        if let Some((_, None)) = self.table.unknown(ty) {
            self.settle();
        }
        self.table.resolve(ty)
    }

    /// Begins a body inside the body.
    fn enter(&mut self, result: Ty) -> Frame {
        Frame {
            result: std::mem::replace(&mut self.result, result),
            loops: std::mem::take(&mut self.loops),
            diverges: std::mem::replace(&mut self.diverges, false),
        }
    }

    fn leave(&mut self, frame: Frame) {
        Frame { result: self.result, loops: self.loops, diverges: self.diverges } = frame;
    }

    /// The names that replace the holes.
    fn names(&mut self) -> Vec<String> {
        self.finish();
        for (at, hole) in self.holes.clone().iter().enumerate() {
            if !self.reached[at] {
                let taint = self.reason(self.spans[at], "this is at a place that is not read");
                self.table.taint(hole, taint);
            }
        }
        let holes = self.holes.clone();
        holes.iter().zip(self.spans.clone()).map(|(hole, span)| self.name(hole, span)).collect()
    }

    /// Gives holes in the arguments of a path that is not read the taint of its type.
    fn leave_open(&mut self, holes: Vec<usize>, ty: &Ty) {
        let Some((_, Some(taint))) = self.table.unknown(ty) else { return };
        for hole in holes {
            if !self.reached[hole] {
                let own = self.reach(hole);
                self.table.taint(&own, taint);
            }
        }
    }

    /// The type of a hole that the inference comes to.
    fn reach(&mut self, hole: usize) -> Ty {
        self.reached[hole] = true;
        self.holes[hole].clone()
    }

    fn name(&mut self, hole: &Ty, span: Span) -> String {
        let named = |taint: Taint| match taint {
            Taint::Toolchain => "toolchain".to_owned(),
            Taint::Unread(reason) => format!("unread{reason}"),
        };
        if let Some(conflict) = self.conflict {
            return named(conflict);
        }
        match (self.table.resolve(hole), self.table.unknown(hole)) {
            (Ty::Con(Con::Int(name) | Con::Float(name), _), _) => name.to_owned(),
            (Ty::Con(Con::Bool, _), _) => "bool".to_owned(),
            (Ty::Con(Con::Char, _), _) => "char".to_owned(),
            (_, Some((_, Some(taint)))) => named(taint),
            (_, Some((Kind::Int, None))) => "i32".to_owned(),
            (_, Some((Kind::Float, None))) => "f64".to_owned(),
            (_, Some((Kind::General, None)) | None) => {
                let reason = self.reason(span, "the type of a conversion is not known");
                named(reason)
            }
        }
    }
}
