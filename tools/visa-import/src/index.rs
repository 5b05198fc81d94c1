//! Numbers that only the running kernel knows: sums of loop indices and of integers that the kernel takes.
//!
//! Such a number keeps its Rust type. An operation stays symbolic only if its result fits that type in every
//! iteration; else the loop is unrolled, and each iteration is evaluated as Rust does, with wrap-around and panics.

use crate::condition::{Condition, Ranges, range};
use crate::eval::{Eval, Evaluator, Frame};
use crate::integer::IntTy;
use crate::value::{Index, MAX_POSITION, Value};
use proc_macro2::Span;

impl Index {
    fn operated(&self, op: &syn::BinOp, right: &Self, ranges: &Ranges) -> Option<Value> {
        let (of, by) = (&self.sum, &right.sum);
        let sum = match op {
            syn::BinOp::Add(_) => of.add(by, 1)?,
            syn::BinOp::Sub(_) => of.add(by, -1)?,
            syn::BinOp::Mul(_) => match (of.number(), by.number()) {
                (Some(number), _) => by.times(number)?,
                (None, Some(number)) => of.times(number)?,
                (None, None) => return None,
            },
            syn::BinOp::Eq(_)
            | syn::BinOp::Ne(_)
            | syn::BinOp::Lt(_)
            | syn::BinOp::Le(_)
            | syn::BinOp::Ge(_)
            | syn::BinOp::Gt(_) => return Condition::compare(op, of, by, ranges).map(Condition::value),
            _ => return None,
        };
        Some(Value::Index(Self { sum, ty: self.ty.common(right.ty)? }))
    }
}

/// Returns true if an operator compares.
fn is_comparison(op: &syn::BinOp) -> bool {
    matches!(
        op,
        syn::BinOp::Eq(_)
            | syn::BinOp::Ne(_)
            | syn::BinOp::Lt(_)
            | syn::BinOp::Le(_)
            | syn::BinOp::Ge(_)
            | syn::BinOp::Gt(_)
    )
}

impl Evaluator<'_> {
    /// A binary operator of which one operand is an index.
    pub(crate) fn indices(
        &mut self,
        frame: &Frame,
        span: Span,
        op: &syn::BinOp,
        (left, right): (&Index, &Index),
    ) -> Eval<Value> {
        if is_comparison(op) {
            self.compared_with(&left.sum, &right.sum);
        }
        match left.operated(op, right, &self.state.ranges) {
            Some(Value::Index(index)) => self.checked(frame, span, index),
            Some(value) => Ok(value),
            None => Err(self.needs_number(frame, span)),
        }
    }

    /// `-index`.
    pub(crate) fn negated(&self, frame: &Frame, span: Span, index: &Index) -> Eval<Value> {
        match index.sum.times(-1) {
            Some(sum) => self.checked(frame, span, Index { sum, ty: index.ty }),
            None => Err(self.needs_number(frame, span)),
        }
    }

    /// `index as ty`. It stays symbolic if the cast changes the number in no iteration.
    pub(crate) fn cast_index(&self, frame: &Frame, span: Span, index: Index, ty: IntTy) -> Eval<Value> {
        let (min, max) = ty.limits();
        let keeps = range(&index.sum, &self.state.ranges).is_some_and(|(least, greatest)| {
            // The tensors that a kernel's integer indexes bound it below any 32-bit limit.
            min <= least && (greatest <= max || (greatest >= MAX_POSITION && max >= i32::MAX.into()))
        });
        match keeps {
            true => Ok(Value::Index(Index { ty, ..index })),
            false => Err(self.needs_number(frame, span)),
        }
    }

    /// An index that its type holds in every iteration. Of an integer that the kernel takes, the tensors decide.
    fn checked(&self, frame: &Frame, span: Span, index: Index) -> Eval<Value> {
        let (min, max) = index.ty.limits();
        let fits = match range(&index.sum, &self.state.ranges) {
            Some((least, greatest)) => {
                let least = if least <= -MAX_POSITION { min } else { least };
                let greatest = if greatest >= MAX_POSITION { max } else { greatest };
                min <= least && greatest <= max
            }
            None => true,
        };
        match fits {
            true => Ok(Value::Index(index)),
            false => Err(self.needs_number(frame, span)),
        }
    }
}
