//! Operators, as rustc types those of numbers.

use super::obligations::Pending;
use super::types::{Con, Kind, Table, Ty};
use super::{Checker, Expect};
use proc_macro2::Span;
use syn::spanned::Spanned;

/// The rules of an operator's types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Both sides and the result have one type.
    Math,
    /// As [`Class::Math`], for `bool` too.
    Bits,
    /// The result has the left side's type.
    Shift,
}

/// True for a number, `bool`, `char`, or a variable of numbers.
pub(crate) fn scalar(table: &Table, ty: &Ty) -> bool {
    match table.resolve(ty) {
        Ty::Con(con, _) => matches!(con, Con::Int(_) | Con::Float(_) | Con::Bool | Con::Char),
        var @ Ty::Var(_) => !matches!(table.unknown(&var), Some((Kind::General, _))),
    }
}

/// An operator: of truth, a comparison, or one of numbers, which may assign.
enum Operator {
    Logic,
    Compare,
    Number(Class, bool),
}

fn operator(op: &syn::BinOp) -> Option<Operator> {
    use syn::BinOp::{
        Add, AddAssign, And, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign,
        Eq, Ge, Gt, Le, Lt, Mul, MulAssign, Ne, Or, Rem, RemAssign, Shl, ShlAssign, Shr, ShrAssign, Sub,
        SubAssign,
    };
    Some(match op {
        And(_) | Or(_) => Operator::Logic,
        Eq(_) | Ne(_) | Lt(_) | Le(_) | Gt(_) | Ge(_) => Operator::Compare,
        Add(_) | Sub(_) | Mul(_) | Div(_) | Rem(_) => Operator::Number(Class::Math, false),
        AddAssign(_) | SubAssign(_) | MulAssign(_) | DivAssign(_) | RemAssign(_) => {
            Operator::Number(Class::Math, true)
        }
        BitAnd(_) | BitOr(_) | BitXor(_) => Operator::Number(Class::Bits, false),
        BitAndAssign(_) | BitOrAssign(_) | BitXorAssign(_) => Operator::Number(Class::Bits, true),
        Shl(_) | Shr(_) => Operator::Number(Class::Shift, false),
        ShlAssign(_) | ShrAssign(_) => Operator::Number(Class::Shift, true),
        _ => return None,
    })
}

impl Checker<'_> {
    pub(crate) fn binary(&mut self, own: &syn::ExprBinary) -> Ty {
        match operator(&own.op) {
            Some(Operator::Logic) => {
                self.coerced(&own.left, &Ty::bool());
                let diverges = self.diverges;
                self.coerced(&own.right, &Ty::bool());
                self.diverges = diverges;
                Ty::bool()
            }
            Some(Operator::Compare) => {
                let left = self.check(&own.left, &Expect::None);
                let right = self.check(&own.right, &Expect::None);
                self.compare(&left, &right, own.span());
                Ty::bool()
            }
            Some(Operator::Number(class, is_assignment)) => {
                let left = self.check(&own.left, &Expect::None);
                let right = self.check(&own.right, &Expect::None);
                let out = self.table.fresh(Kind::General);
                let result = if is_assignment { Ty::unit() } else { out.clone() };
                self.relate(Pending::Binary { class, left, right, out, span: own.span() });
                result
            }
            None => self.unread(own.span(), "this operator is not read"),
        }
    }

    pub(crate) fn compare(&mut self, left: &Ty, right: &Ty, span: Span) {
        self.relate(Pending::Compare { left: left.clone(), right: right.clone(), span });
    }

    pub(crate) fn attempt_binary(
        &mut self,
        class: Class,
        (left, right): (&Ty, &Ty),
        out: &Ty,
        span: Span,
    ) -> bool {
        let (own, other) = (self.strip_one(left), self.strip_one(right));
        if scalar(&self.table, &own) && scalar(&self.table, &other) {
            if class != Class::Shift {
                self.unify(&own, &other, span);
            }
            self.unify(&own, out, span);
            return true;
        }
        let all = [own, other, out.clone()];
        let is_known = |ty: &Ty| self.table.unknown(ty).is_none() && !scalar(&self.table, ty);
        if all[..2].iter().any(is_known) {
            let (own, other) = (self.table.full(&all[0]), self.table.full(&all[1]));
            let taint = self.reason(span, format!("an operator of {own} and {other} is not read"));
            self.table.taint_all(&all, taint);
            return true;
        }
        self.spread(&all);
        false
    }

    pub(crate) fn unary(&mut self, own: &syn::ExprUnary, expect: &Expect) -> Ty {
        if let syn::UnOp::Deref(_) = own.op {
            let inner = self.check(&own.expr, &Expect::None);
            return self.dereferenced(&inner, own.span());
        }
        let inner = self.check(&own.expr, expect);
        let known = self.known(&inner);
        let stripped = self.strip_one(&known);
        match self.table.unknown(&stripped) {
            Some((Kind::General, Some(taint))) => self.table.tainted(taint),
            Some((Kind::General, None)) => {
                let taint = self.reason(own.span(), "the type of this operand is not known here");
                self.table.taint(&stripped, taint);
                self.table.tainted(taint)
            }
            _ if scalar(&self.table, &stripped) => stripped,
            _ if stripped.is_never() => stripped,
            _ => {
                let taint = self.reason(own.span(), "an operator of a type of the input is not read");
                self.table.taint(&stripped, taint);
                self.table.tainted(taint)
            }
        }
    }

    /// The type behind a reference or box.
    pub(crate) fn dereferenced(&mut self, ty: &Ty, span: Span) -> Ty {
        let known = self.known(ty);
        match (&known, self.table.unknown(&known)) {
            (Ty::Con(Con::Ref | Con::Std("Box"), args), _) => args[0].clone(),
            (_, Some((_, Some(taint)))) => self.table.tainted(taint),
            (_, _) => {
                let taint = self.reason(span, "a dereference of this type is not read");
                self.table.taint(&known, taint);
                self.table.tainted(taint)
            }
        }
    }
}
