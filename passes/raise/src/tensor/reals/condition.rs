//! Conditions on the indices of loops: bounds of a sum of indices.

use super::terms::{Reason, Terms, is};
use crate::tensor::term::Head;
use egg::Id;
use std::collections::BTreeMap;
use std::sync::Arc;
use visa_ir::context::Attr;
use visa_mapping::ops::number;
use visa_numerics::DType;

/// A loop whose iterations are blocks of an axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    /// The term of the loop: loops next to each other have one depth.
    pub(crate) of: Id,
    /// The depth of the loop.
    pub(crate) depth: usize,
    /// The axis.
    pub(crate) axis: Arc<str>,
    /// Coordinates of a block.
    pub(crate) block: u64,
    /// Number of blocks.
    pub(crate) count: u64,
}

/// A sum of indices, each times a factor, by the depths of their loops.
type Indices = BTreeMap<usize, i64>;

/// Bounds of a sum of indices.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Bounds {
    of: Indices,
    /// The least number.
    from: Option<i64>,
    /// The number after the greatest.
    below: Option<i64>,
}

/// The sum of indices that a number is, and its summand.
fn linear(terms: &Terms<'_>, number: Id) -> Option<(Indices, i64)> {
    let term = terms.term(number).ok()?;
    if let Head::Index(depth, _) = term.head {
        return Some((BTreeMap::from([(depth, 1)]), 0));
    }
    if !is(&term, &number::AFFINE) {
        return None;
    }
    let ctx = terms.graph.analysis.ctx;
    let (operands, clauses) = terms.parts(&term).ok()?;
    let Some(Attr::Ints(by)) = terms.clause(&term, "by").map(|attr| ctx.attr_data(attr)) else { return None };
    let mut plus = terms.integer(*clauses.get(1)?)?;
    let mut sum = Indices::new();
    for (&operand, &by) in operands.iter().zip(by.iter()) {
        let (of, more) = linear(terms, operand)?;
        plus = plus.checked_add(more.checked_mul(by)?)?;
        for (depth, factor) in of {
            let known = sum.get(&depth).copied().unwrap_or_default();
            sum.insert(depth, factor.checked_mul(by)?.checked_add(known)?);
        }
    }
    sum.retain(|_, factor| *factor != 0);
    Some((sum, plus))
}

impl Bounds {
    /// The condition of a branch.
    ///
    /// # Errors
    /// A number that depends on more than indices.
    pub(crate) fn of_branch(terms: &Terms<'_>, [from, below, number]: [Id; 3]) -> Result<Self, Reason> {
        let (of, plus) = linear(terms, number)
            .ok_or_else(|| "a branch depends on a number that is no sum of the loops' indices".to_owned())?;
        let bound = |clause: Id| terms.integer(clause).map(|bound| bound.saturating_sub(plus));
        Ok(Self { of, from: bound(from), below: bound(below) })
    }

    /// The condition that one index is less than another, or as great if `equal`.
    #[must_use]
    pub(crate) fn order(less: usize, greater: usize, equal: bool) -> Self {
        let of = BTreeMap::from([(less, -1), (greater, 1)]);
        Self { of, from: Some(i64::from(!equal)), below: None }
    }

    /// The opposite condition, if it is one bound.
    #[must_use]
    pub(crate) fn opposite(&self) -> Option<Self> {
        let (from, below) = match (self.from, self.below) {
            (Some(from), None) => (None, Some(from)),
            (None, Some(below)) => (Some(below), None),
            (Some(_), Some(_)) | (None, None) => return None,
        };
        Some(Self { of: self.of.clone(), from, below })
    }

    /// Returns true if it is about a loop.
    #[must_use]
    pub(crate) fn mentions(&self, depth: usize) -> bool {
        self.of.contains_key(&depth)
    }

    /// Returns true or false if the frames and other bounds of the same sum decide it, and else `None`.
    #[must_use]
    pub(crate) fn decided(&self, frames: &[Frame], known: &[Self]) -> Option<bool> {
        let (mut least, mut greatest) = (0_i64, 0_i64);
        for (depth, by) in &self.of {
            let frame = frames.iter().find(|frame| frame.depth == *depth)?;
            let last = by.checked_mul(i64::try_from(frame.count).ok()?.checked_sub(1)?)?;
            least = least.checked_add(last.min(0))?;
            greatest = greatest.checked_add(last.max(0))?;
        }
        for bounds in known.iter().filter(|bounds| bounds.of == self.of) {
            least = bounds.from.map_or(least, |from| from.max(least));
            greatest = bounds.below.map_or(greatest, |below| (below.saturating_sub(1)).min(greatest));
        }
        let inside =
            self.from.is_none_or(|from| from <= least) && self.below.is_none_or(|below| greatest < below);
        let outside =
            self.from.is_some_and(|from| greatest < from) || self.below.is_some_and(|below| below <= least);
        if inside { Some(true) } else { outside.then_some(false) }
    }

    /// The tests of elements that the condition is, each with true if it holds where elements count.
    ///
    /// # Errors
    /// An index of a loop that no frame is.
    pub(crate) fn tests(&self, terms: &mut Terms<'_>, frames: &[Frame]) -> Result<Vec<(Id, bool)>, Reason> {
        let mut sum: Option<Id> = None;
        // A difference begins with what is not subtracted.
        let mut ordered: Vec<(usize, i64)> = self.of.iter().map(|(depth, by)| (*depth, *by)).collect();
        ordered.sort_by_key(|(depth, by)| (*by < 0, *depth));
        for (depth, by) in ordered {
            let frame = frames.iter().find(|frame| frame.depth == depth);
            let frame = frame.ok_or_else(|| "a branch depends on a loop that is not folded".to_owned())?;
            let index = terms.block_number(&frame.axis, frame.block)?;
            let scaled = match by.unsigned_abs() {
                1 => index,
                by => {
                    let by = terms.number(DType::I32, by as f64)?;
                    terms.apply("mul", &[index, by])?
                }
            };
            sum = Some(match (sum, by < 0) {
                (None, false) => scaled,
                (None, true) => {
                    let zero = terms.number(DType::I32, 0.0)?;
                    terms.apply("sub", &[zero, scaled])?
                }
                (Some(sum), false) => terms.apply("add", &[sum, scaled])?,
                (Some(sum), true) => terms.apply("sub", &[sum, scaled])?,
            });
        }
        let sum = sum.ok_or_else(|| "a branch depends on no index".to_owned())?;
        let mut tests = Vec::new();
        if let Some(from) = self.from {
            tests.push((terms.less(sum, from)?, false));
        }
        if let Some(below) = self.below {
            tests.push((terms.less(sum, below)?, true));
        }
        Ok(tests)
    }
}
