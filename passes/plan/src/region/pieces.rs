//! Pieces of a map: where the operands of the register file are too large for it, a pipeline computes a part of the
//! innermost dimension.

use crate::array::Array;
use crate::region::Slot;
use crate::region::layout::{LANES, Local};
use crate::region::planned::PlannedRegion;
use visa_algebra::Expr;

/// Most pieces of a map.
const MOST_PIECES: u64 = 64;
/// Bytes of an element of the vector engine.
const WORD: u64 = 4;

/// A part of the innermost dimension of a result.
pub struct Piece {
    /// The dimension.
    pub whole: Local,
    /// The part of it.
    pub part: Local,
}

impl PlannedRegion<'_> {
    /// Number of pieces in which a map of `operands` to `result` has its operands in the register file; `None` if
    /// there is none.
    #[must_use]
    pub fn pieces(&self, operands: &[Slot], result: &Array) -> Option<u64> {
        let (_, others) = self.streamed(operands)?;
        self.pieces_with(&others, result)
    }

    /// Number of pieces in which a computation of `result` has the values `others` in the register file; `None` if
    /// there is none.
    #[must_use]
    pub fn pieces_with(&self, others: &[Slot], result: &Array) -> Option<u64> {
        let innermost = self.layout.local(result).pop();
        let fits = |count: u64| {
            let words = others.iter().map(|&slot| {
                let parts = if self.is_divided(slot, result) { count } else { 1 };
                self.layout.elements(&self.region.values[slot].array) / parts
            });
            words.sum::<u64>() * WORD <= self.machine.memory.vrf_bytes
        };
        if fits(1) {
            return Some(1);
        }
        let last = innermost.as_ref().filter(|last| matches!(last.map, Expr::Axis(_)))?;
        let even =
            |count: &u64| last.size.is_multiple_of(*count) && (last.size / count).is_multiple_of(LANES);
        (2..=MOST_PIECES).filter(even).find(|&count| fits(count))
    }

    /// Returns true if pieces of a result read pieces of a value.
    #[must_use]
    pub fn is_divided(&self, slot: Slot, result: &Array) -> bool {
        let local = self.layout.local(&self.region.values[slot].array);
        self.layout.local(result).pop().is_some_and(|last| local.contains(&last))
    }

    /// The operand of a map that streams, the one with the most elements, and the others, each once. Padding counts
    /// less: a later pass cannot repeat the only element of a packet.
    #[must_use]
    pub fn streamed(&self, operands: &[Slot]) -> Option<(Slot, Vec<Slot>)> {
        let elements = |slot: &&Slot| {
            let array = self.array(**slot);
            let defined: u64 = self.layout.local(array).iter().map(|local| local.size).product();
            (self.layout.elements(array), defined)
        };
        // The passes of an expression are those of a stream of its first operand: it streams if it has as many.
        let &streamed = operands.iter().rev().max_by_key(elements)?;
        let mut others: Vec<Slot> = operands.iter().copied().filter(|&slot| slot != streamed).collect();
        others.sort_unstable();
        others.dedup();
        Some((streamed, others))
    }

    /// The pieces of the innermost dimension of a result; one that is `None` if there is a single one.
    #[must_use]
    pub fn divided(&self, result: &Array, count: u64) -> Vec<Option<Piece>> {
        let last = self.layout.local(result).pop().filter(|_| count > 1);
        let Some(whole) = last else { return vec![None] };
        let size = whole.size / count;
        let part = |number: u64| Local { size, piece: Some(number * size), ..whole.clone() };
        (0..count).map(|number| Some(Piece { whole: whole.clone(), part: part(number) })).collect()
    }

    /// The dimensions of a value in a slice, of which a piece is read.
    #[must_use]
    pub fn local(&self, array: &Array, piece: Option<&Piece>) -> Vec<Local> {
        let mut local = self.layout.local(array);
        if let Some(piece) = piece {
            local.iter_mut().filter(|own| **own == piece.whole).for_each(|own| *own = piece.part.clone());
        }
        local
    }
}
