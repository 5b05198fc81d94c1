//! The transfers of a plan by their prices, instead of counts.

use crate::contraction::Move;
use crate::contraction::emit::Planned;
use crate::contraction::parts::{LoadCycles, Parts};
use crate::cut::Cut;
use crate::flow::Ways;
use crate::memory::Transfers;
use visa_cost::TransferCost;

impl Planned<'_> {
    /// Cycles of the transfers of an iteration in the queues of the plan, instead of the guessed ones; `None` if no
    /// engine makes one of them.
    #[must_use]
    pub fn transfers(&self, parts: Parts, ways: &Ways, prices: &Transfers<'_>) -> Option<Parts> {
        let (problem, choice) = (self.problem, self.choice);
        let load = |operand: usize, queue: Option<u64>| {
            if ways.here[operand] {
                return Some(TransferCost::default());
            }
            prices.load(queue, &self.first_tile(&problem.operands[operand]), &self.operand_tensor(operand))
        };
        let [operand, stream, store] =
            [Move::Operand, Move::Stream, Move::Store].map(|transfer| choice.queue(transfer));
        let out = &problem.out;
        let mut operands = TransferCost::default();
        for (number, array) in (problem.operands.len()..).zip(&problem.epilogue.operands) {
            if !ways.here[number] {
                let cost = prices.load(operand, &self.first_tile(array), &self.input(number))?;
                operands.cycles += cost.cycles;
                operands.hbm += cost.hbm;
            }
        }
        let (rows, streamed) = (load(choice.stationary, operand)?, load(1 - choice.stationary, stream)?);
        let store = if ways.stores[0] {
            let (source, result) = (self.results(), self.first_tile(out));
            let from = |offset| Some(prices.store_to(out, (store, offset), &source, &result)?.cycles);
            mean_store(&self.store_offsets(prices), from)?
        } else {
            0
        };
        let hbm = LoadCycles { rows: rows.hbm, stream: streamed.hbm, operands: operands.hbm };
        let (rows, stream, operands) = (rows.cycles, streamed.cycles, operands.cycles);
        Some(Parts { rows, stream, operands, store, hbm, ..parts })
    }

    /// For each tile of the result, the bytes from a multiple of a request to its first one. Tiles of an axis within
    /// another dimension count as aligned.
    fn store_offsets(&self, prices: &Transfers<'_>) -> Vec<u64> {
        let starts = |cut: &Cut| -> Vec<u64> {
            let bits = cut.first_tile().and_then(|first| self.problem.out.tile_bits(&first, self.axes));
            (0..cut.tiles()).map(|tile| bits.map_or(0, |bits| tile * bits / 8)).collect()
        };
        let (rows, columns) = (starts(&self.layout.rows), starts(&self.layout.stream));
        rows.iter().flat_map(|row| columns.iter().map(move |column| prices.offset(row + column))).collect()
    }
}

/// The mean of the cycles of stores, by the bytes from a multiple of a request to the first byte of each. All that do
/// not begin at a multiple take as long as the first of them.
fn mean_store(offsets: &[u64], cycles: impl Fn(u64) -> Option<u64>) -> Option<u64> {
    let aligned = offsets.iter().filter(|offset| **offset == 0).count() as u64;
    let apart = offsets.len() as u64 - aligned;
    let first = if aligned > 0 { aligned * cycles(0)? } else { 0 };
    let others = match offsets.iter().find(|offset| **offset != 0) {
        Some(&offset) => apart * cycles(offset)?,
        None => 0,
    };
    Some((first + others) / (aligned + apart).max(1))
}
