//! The transfers of a plan by their prices, instead of counts.

use crate::array::Array;
use crate::contraction::Move;
use crate::contraction::emit::Planned;
use crate::contraction::parts::{LoadCycles, Parts};
use crate::cut::Cut;
use crate::flow::Ways;
use crate::memory::Transfers;
use std::collections::BTreeMap;
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
            let (array, result) = (&problem.operands[operand], self.operand_tensor(operand));
            let source = self.first_tile(array);
            self.mean(array, prices, |offset| prices.load_from((queue, offset), &source, &result))
        };
        let [operand, stream, store] =
            [Move::Operand, Move::Stream, Move::Store].map(|transfer| choice.queue(transfer));
        let out = &problem.out;
        let mut operands = TransferCost::default();
        for (number, array) in (problem.operands.len()..).zip(&problem.epilogue.operands) {
            if !ways.here[number] {
                let (source, result) = (self.first_tile(array), self.input(number));
                let from = |offset| prices.load_from((operand, offset), &source, &result);
                let cost = self.mean(array, prices, from)?;
                operands.cycles += cost.cycles;
                operands.hbm += cost.hbm;
            }
        }
        let (rows, streamed) = (load(choice.stationary, operand)?, load(1 - choice.stationary, stream)?);
        let store = if ways.stores[0] {
            let (source, result) = (self.results(), self.first_tile(out));
            self.mean(out, prices, |at| prices.store_to(out, (store, at), &source, &result))?.cycles
        } else {
            0
        };
        let hbm = LoadCycles { rows: rows.hbm, stream: streamed.hbm, operands: operands.hbm };
        let (rows, stream, operands) = (rows.cycles, streamed.cycles, operands.cycles);
        Some(Parts { rows, stream, operands, store, hbm, ..parts })
    }

    /// The mean cost of the transfers of all tiles of an array: `cost` has that of a tile by the bytes from a multiple
    /// of a request to its first one. `None` if one has none.
    fn mean(
        &self,
        array: &Array,
        prices: &Transfers<'_>,
        cost: impl Fn(u64) -> Option<TransferCost>,
    ) -> Option<TransferCost> {
        let step = |cut: &Cut| {
            let step = cut.first_tile().and_then(|(axis, size)| Some(size * array.step(&axis, self.axes)?));
            step.map(|elements| elements * u64::from(array.dtype.bits()) / 8)
        };
        let starts = |cut: &Cut| {
            // Tiles of an axis within another dimension count as aligned.
            let step = if cut.tiles() > 1 { step(cut) } else { None };
            step.map_or(vec![0], |step| (0..cut.tiles()).map(|tile| tile * step).collect::<Vec<u64>>())
        };
        let mut counts = BTreeMap::<u64, u64>::new();
        let columns = starts(&self.layout.stream);
        for row in starts(&self.layout.rows) {
            columns.iter().for_each(|column| *counts.entry(prices.offset(row + column)).or_default() += 1);
        }
        let (mut total, mut tiles) = (TransferCost::default(), 0);
        for (offset, count) in counts {
            let one = cost(offset)?;
            total.cycles += count * one.cycles;
            total.hbm += count * one.hbm;
            tiles += count;
        }
        Some(TransferCost { cycles: total.cycles / tiles, hbm: total.hbm / tiles })
    }
}
