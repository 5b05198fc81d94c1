//! Relations between types that wait until enough is known.

use super::Checker;
use super::operators::{Class, scalar};
use super::types::{Con, Kind, Taint, Ty};
use proc_macro2::Span;

/// A relation that has not been used yet.
#[derive(Clone, Debug)]
pub(crate) enum Pending {
    /// A binary operator of two operands.
    Binary { class: Class, left: Ty, right: Ty, out: Ty, span: Span },
    /// A comparison.
    Compare { left: Ty, right: Ty, span: Span },
    /// A type that is iterated over.
    Items { ty: Ty, item: Ty, span: Span },
    /// A sum or product of items.
    Sum { item: Ty, out: Ty, span: Span },
    /// `target: From<source>`.
    From { target: Ty, source: Ty, span: Span },
}

impl Pending {
    fn types(&self) -> Vec<&Ty> {
        match self {
            Self::Binary { left, right, out, .. } => vec![left, right, out],
            Self::Compare { left, right, .. } => vec![left, right],
            Self::Items { ty, item, .. } => vec![ty, item],
            Self::Sum { item, out, .. } => vec![item, out],
            Self::From { target, source, .. } => vec![target, source],
        }
    }

    fn span(&self) -> Span {
        match self {
            Self::Binary { span, .. }
            | Self::Compare { span, .. }
            | Self::Items { span, .. }
            | Self::Sum { span, .. }
            | Self::From { span, .. } => *span,
        }
    }
}

impl Checker<'_> {
    /// Adds a relation, and uses it if enough is known.
    pub(crate) fn relate(&mut self, pending: Pending) {
        if !self.attempt(&pending) {
            let types: Vec<Ty> = pending.types().into_iter().cloned().collect();
            match self.taint_of(&types) {
                Some(_) => self.stalled.push(pending),
                None => self.pending.push(pending),
            }
        }
    }

    /// Uses all relations for which enough is known.
    pub(crate) fn settle(&mut self) {
        let mut count = self.pending.len() + 1;
        while self.pending.len() < count {
            count = self.pending.len();
            for pending in std::mem::take(&mut self.pending) {
                self.relate(pending);
            }
        }
    }

    /// Uses the relations that wait at the end of a body, and taints the types of those that cannot be used.
    pub(crate) fn finish(&mut self) {
        self.settle();
        loop {
            let stalled = std::mem::take(&mut self.stalled);
            let count = stalled.len();
            self.pending.extend(stalled);
            self.settle();
            if self.stalled.len() >= count {
                break;
            }
        }
        let mut all = std::mem::take(&mut self.pending);
        all.append(&mut self.stalled);
        self.spread_all(&all);
        for pending in &all {
            let types: Vec<Ty> = pending.types().into_iter().cloned().collect();
            // Two numbers of which nothing else is known have several conversions, so that none tells a type.
            let is_open =
                matches!(pending, Pending::From { .. }) && types.iter().all(|ty| scalar(&self.table, ty));
            if self.taint_of(&types).is_none() && !is_open {
                let taint = self.reason(pending.span(), "the types here are not known");
                self.table.taint_all(&types, taint);
            }
        }
        self.spread_all(&all);
    }

    /// Spreads taints through relations.
    fn spread_all(&mut self, all: &[Pending]) {
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for pending in all {
                let types: Vec<Ty> = pending.types().into_iter().cloned().collect();
                if let Some(taint) = self.taint_of(&types) {
                    has_changed |= self.table.taint_all(&types, taint);
                }
            }
        }
    }

    /// The taint of the types that are tainted variables.
    pub(crate) fn taint_of(&self, types: &[Ty]) -> Option<Taint> {
        types.iter().filter_map(|ty| self.table.unknown(&self.stripped(ty))?.1).max()
    }

    /// A type without the references around it.
    pub(crate) fn stripped(&self, ty: &Ty) -> Ty {
        match self.table.resolve(ty) {
            Ty::Con(Con::Ref, args) => self.stripped(&args[0]),
            other => other,
        }
    }

    /// A type without the reference around it, if there is one.
    pub(crate) fn strip_one(&self, ty: &Ty) -> Ty {
        match self.table.resolve(ty) {
            Ty::Con(Con::Ref, args) => self.table.resolve(&args[0]),
            other => other,
        }
    }

    /// Uses a relation; false if it must wait.
    fn attempt(&mut self, pending: &Pending) -> bool {
        match pending {
            Pending::Binary { class, left, right, out, span } => {
                self.attempt_binary(*class, (left, right), out, *span)
            }
            Pending::Compare { left, right, span } => self.attempt_compare(left, right, *span),
            Pending::Items { ty, item, span } => self.attempt_items(ty, item, *span),
            Pending::Sum { item, out, span } => self.attempt_sum(item, out, *span),
            Pending::From { target, source, span } => self.attempt_from(target, source, *span),
        }
    }

    /// Spreads the taint of an operand that is not known. The relation still waits: the operand may become known.
    pub(crate) fn spread(&mut self, types: &[Ty]) {
        let is_general =
            |ty: &Ty| matches!(self.table.unknown(&self.stripped(ty)), Some((Kind::General, Some(_))));
        if types.iter().any(is_general)
            && let Some(taint) = self.taint_of(types)
        {
            self.table.taint_all(types, taint);
        }
    }

    fn attempt_compare(&mut self, left: &Ty, right: &Ty, span: Span) -> bool {
        let (own, other) = (self.table.resolve(left), self.table.resolve(right));
        let is_general = |ty: &Ty| matches!(self.table.unknown(ty), Some((Kind::General, _)));
        let is_tainted = |ty: &Ty| matches!(self.table.unknown(ty), Some((Kind::General, Some(_))));
        match (is_general(&own), is_general(&other)) {
            (true, true) => {}
            (_, _) if is_tainted(&own) || is_tainted(&other) => {}
            (false, false) if differ(&own, &other) => {
                let taint = self.reason(span, "a comparison with a type of the input is not read");
                self.table.taint(&own, taint);
                self.table.taint(&other, taint);
                return true;
            }
            (true, false) if !scalar(&self.table, &other) => {}
            (false, true) if !scalar(&self.table, &own) => {}
            (_, _) => {
                self.unify(&own, &other, span);
                return true;
            }
        }
        self.spread(&[own, other]);
        false
    }

    fn attempt_items(&mut self, ty: &Ty, item: &Ty, span: Span) -> bool {
        match self.items(ty) {
            Some(own) => {
                self.unify(&own, item, span);
                true
            }
            None => {
                self.spread(&[ty.clone(), item.clone()]);
                let own = self.stripped(ty);
                if self.table.unknown(&own).is_none() {
                    let taint =
                        self.reason(span, format!("iteration over {} is not read", self.table.full(ty)));
                    self.table.taint(ty, taint);
                    self.table.taint(item, taint);
                    return true;
                }
                false
            }
        }
    }

    /// The items of a type that is iterated over; `None` if it is not known.
    pub(crate) fn items(&self, ty: &Ty) -> Option<Ty> {
        let Ty::Con(con, args) = self.table.resolve(ty) else { return None };
        match con {
            Con::Array | Con::Std("Iter" | "Range" | "RangeInclusive" | "RangeFrom" | "Option") => {
                Some(args[0].clone())
            }
            Con::Ref => {
                let Ty::Con(con, inner) = self.table.resolve(&args[0]) else { return None };
                match con {
                    Con::Array | Con::Slice | Con::Std("Option") => Some(Ty::reference(inner[0].clone())),
                    Con::Std("Iter" | "Range" | "RangeInclusive" | "RangeFrom") => Some(inner[0].clone()),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn attempt_sum(&mut self, item: &Ty, out: &Ty, span: Span) -> bool {
        let own = self.strip_one(item);
        let is_number = |ty: &Ty| {
            scalar(&self.table, ty) && !matches!(self.table.resolve(ty), Ty::Con(Con::Bool | Con::Char, _))
        };
        if is_number(&own) && is_number(out) {
            self.unify(&own, out, span);
            return true;
        }
        self.spread(&[item.clone(), out.clone()]);
        false
    }

    /// Some conversions of numbers are the only ones of their source or target.
    fn attempt_from(&mut self, target: &Ty, source: &Ty, span: Span) -> bool {
        let (to, from) = (self.table.resolve(target), self.table.resolve(source));
        match (self.table.unknown(&to), self.table.unknown(&from)) {
            (Some((Kind::General, _)), _) | (_, Some((Kind::General, _))) => false,
            (Some((Kind::Int, _)), None) if is_widest(&from) => {
                self.unify(&to, &from, span);
                true
            }
            (Some(_), _) if scalar(&self.table, &from) => false,
            (Some(_), _) | (None, None) => {
                self.known_conversion(&to, &from, span);
                true
            }
            (None, Some((kind, _))) => {
                self.literal_conversion(&to, (&from, kind), span);
                true
            }
        }
    }

    /// A conversion from a number whose type is not known: `u8`, `i8` and `char` have one.
    fn literal_conversion(&mut self, to: &Ty, (from, kind): (&Ty, Kind), span: Span) {
        match (to, kind) {
            (Ty::Con(Con::Int("u8" | "i8"), _), Kind::Int) => self.unify(to, from, span),
            (Ty::Con(Con::Char, _), Kind::Int) => self.unify(&Ty::int("u8"), from, span),
            (Ty::Con(Con::Int(_) | Con::Float(_), _), Kind::Int)
            | (Ty::Con(Con::Float("f64"), _), Kind::Float) => {}
            (_, _) => {
                let taint = self.reason(span, "this conversion of a literal is not read");
                self.table.taint(from, taint);
            }
        }
    }

    /// Types with parameters may have several conversions between them.
    fn known_conversion(&mut self, target: &Ty, source: &Ty, span: Span) {
        let (to, from) = (self.table.full(target), self.table.full(source));
        if to != from && !(scalar(&self.table, &to) && scalar(&self.table, &from)) {
            let taint = self.reason(span, format!("a conversion from {from} to {to} is not read"));
            self.table.taint(&to, taint);
            self.table.taint(&from, taint);
        }
    }
}

/// True for an integer type that converts to no other integer type.
fn is_widest(ty: &Ty) -> bool {
    matches!(ty, Ty::Con(Con::Int("i128" | "u128" | "isize" | "usize"), _))
}

/// True if only an implementation of the input can compare two types.
fn differ(left: &Ty, right: &Ty) -> bool {
    let is_own = |ty: &Ty| matches!(ty, Ty::Con(Con::Adt(_), _));
    match (left, right) {
        (Ty::Con(own, _), Ty::Con(other, _)) => (is_own(left) || is_own(right)) && own != other,
        (_, _) => is_own(left) || is_own(right),
    }
}
