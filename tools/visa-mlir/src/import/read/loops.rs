//! The loops of a `linalg.generic`: their extents, and the elements of each operand that they read.

use crate::import::read::capi;
use crate::import::read::types;
use melior::ir::attribute::ArrayAttribute;
use melior::ir::operation::{OperationLike as _, OperationRef};
use melior::ir::{AffineExpr, ValueLike as _};

/// A sum of loops, each times a factor, and a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Linear {
    /// Loops with their factors, in order; no factor is 0.
    pub(crate) terms: Vec<(usize, i64)>,
    pub(crate) offset: i64,
}

impl Linear {
    /// Reads an affine expression.
    fn of(expr: AffineExpr<'_>) -> Result<Self, String> {
        if expr.is_dim() {
            return Ok(Self { terms: vec![(expr.dim_position(), 1)], offset: 0 });
        }
        if expr.is_constant() {
            return Ok(Self { terms: Vec::new(), offset: expr.constant_value() });
        }
        if expr.is_add() {
            let (mut left, right) = (Self::of(expr.lhs())?, Self::of(expr.rhs())?);
            for (at, factor) in right.terms {
                match left.terms.iter_mut().find(|(known, _)| *known == at) {
                    Some((_, sum)) => *sum += factor,
                    None => left.terms.push((at, factor)),
                }
            }
            left.offset += right.offset;
            left.terms.retain(|(_, factor)| *factor != 0);
            return Ok(left);
        }
        if expr.is_mul() {
            let (left, right) = (Self::of(expr.lhs())?, Self::of(expr.rhs())?);
            let (sum, factor) =
                if right.terms.is_empty() { (left, right.offset) } else { (right, left.offset) };
            let terms = sum.terms.into_iter().map(|(at, own)| (at, own * factor));
            return Ok(Self {
                terms: terms.filter(|(_, factor)| *factor != 0).collect(),
                offset: sum.offset * factor,
            });
        }
        Err(format!("the index `{expr}` is not a sum of loops times constants"))
    }

    /// The loop that it is, if it is one.
    pub(crate) fn single(&self) -> Option<usize> {
        match (self.terms.as_slice(), self.offset) {
            ([(at, 1)], 0) => Some(*at),
            _ => None,
        }
    }
}

/// The loops of an operation.
pub(crate) struct Loops {
    /// The map of each operand: an index for each of its dimensions.
    pub(crate) maps: Vec<Vec<Linear>>,
    pub(crate) extents: Vec<u64>,
    /// True for the loops that no result counts.
    pub(crate) reduced: Vec<bool>,
    /// Number of inputs, which come before the outputs.
    pub(crate) inputs: usize,
}

impl Loops {
    /// Reads the loops of a `linalg.generic`.
    ///
    /// # Errors
    /// Maps with other indices than sums, types without a static shape.
    pub(crate) fn of(op: OperationRef<'_, '_>) -> Result<Self, String> {
        let maps = op.attribute("indexing_maps").map_err(|_| "it has no `indexing_maps`".to_owned())?;
        let maps = ArrayAttribute::try_from(maps).map_err(|error| error.to_string())?;
        let (mut all, mut count) = (Vec::new(), 0);
        for at in 0..maps.len() {
            let map = maps.element(at).ok().and_then(capi::affine_map);
            let map = map.ok_or("an entry of `indexing_maps` is no map")?;
            if map.symbol_count() > 0 {
                return Err("its maps have symbols".to_owned());
            }
            count = map.dim_count();
            let results = (0..map.result_count())
                .map(|at| map.result(at).map_err(|error| error.to_string()).and_then(Linear::of));
            all.push(results.collect::<Result<Vec<_>, _>>()?);
        }
        let inputs = op.operand_count().saturating_sub(op.result_count());
        let extents = extents(op, &all, count)?;
        let counted = |at: usize| {
            all.iter().skip(inputs).flatten().any(|index| index.terms.iter().any(|&(known, _)| known == at))
        };
        let reduced = (0..count).map(|at| !counted(at)).collect();
        Ok(Self { extents, reduced, inputs, maps: all })
    }
}

fn extents(op: OperationRef<'_, '_>, maps: &[Vec<Linear>], count: usize) -> Result<Vec<u64>, String> {
    let mut extents = vec![None; count];
    for (operand, map) in op.operands().zip(maps) {
        let (_, shape) = types::tensor(operand.r#type())?;
        for (index, size) in map.iter().zip(shape) {
            if let Some(extent) = index.single().and_then(|at| extents.get_mut(at)) {
                *extent = Some(size);
            }
        }
    }
    let known = extents.into_iter().enumerate();
    known.map(|(at, extent)| extent.ok_or(format!("no operand has the extent of loop d{at}"))).collect()
}
