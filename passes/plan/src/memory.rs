//! Cycles of transfers by the functions that the report uses, each different transfer once.

use crate::array::Array;
use crate::vocabulary::Vocabulary;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use visa_algebra::{Axes, AxisId};
use visa_cost::{MemoryModel, TransferCost};
use visa_lowering::transfers::Start;
use visa_machine::Machine;
use visa_mapping::ops::transfer::moves_whole_groups;
use visa_mapping::{DM, HBM, Tensor, transfer};
use visa_select::transfer::choose::TransferCx;

/// Prices of transfers.
pub struct Transfers<'a> {
    /// The axes.
    pub axes: &'a Axes,
    /// The machine.
    pub machine: &'a Machine,
    model: MemoryModel,
    /// The operations that plans may use.
    pub vocabulary: Vocabulary,
    known: Mutex<HashMap<PricedTransfer, Option<TransferCost>>>,
}

/// A transfer by the texts of its source and its result, the cluster of its engines, the bytes from a request to its
/// first byte in HBM, and true if it moves padding.
type PricedTransfer = (String, String, (Option<u64>, u64), bool);

impl<'a> Transfers<'a> {
    /// No prices yet.
    #[must_use]
    pub fn new(axes: &'a Axes, machine: &'a Machine, model: MemoryModel, vocabulary: Vocabulary) -> Self {
        Self { axes, machine, model, vocabulary, known: Mutex::default() }
    }

    /// The cost of a load by the engines of a cluster, or of all; `None` if no engine makes it.
    #[must_use]
    pub fn load(&self, queue: Option<u64>, source: &Tensor, result: &Tensor) -> Option<TransferCost> {
        self.priced(source, result, (queue, 0), None)
    }

    /// The same of a tile that begins `offset` bytes after a multiple of a request.
    #[must_use]
    pub fn load_from(
        &self,
        (queue, offset): (Option<u64>, u64),
        source: &Tensor,
        result: &Tensor,
    ) -> Option<TransferCost> {
        self.priced(source, result, (queue, offset), None)
    }

    /// Bytes from a multiple of a request to a byte of an array that starts at one. By the `flat` model all bytes cost
    /// the same.
    #[must_use]
    pub fn offset(&self, byte: u64) -> u64 {
        match self.model {
            MemoryModel::Flat => 0,
            MemoryModel::Book | MemoryModel::Detailed => byte % self.machine.limits.dma_request_bytes.max(1),
        }
    }

    /// The cost of a store of an array with the padding that it moves; `None` if no engine makes it.
    #[must_use]
    pub fn store(
        &self,
        array: &Array,
        queue: Option<u64>,
        source: &Tensor,
        result: &Tensor,
    ) -> Option<TransferCost> {
        self.store_to(array, (queue, 0), source, result)
    }

    /// The same of a tile that begins `offset` bytes after a multiple of a request.
    #[must_use]
    pub fn store_to(
        &self,
        array: &Array,
        (queue, offset): (Option<u64>, u64),
        source: &Tensor,
        result: &Tensor,
    ) -> Option<TransferCost> {
        let padded = array.padded_axes(source, result, self.axes);
        self.priced(source, result, (queue, offset), padded.as_ref())
    }

    /// Returns true if transfers may have a queue, and those of different clusters run in parallel (book 10): in the
    /// models of requests, if the chip has several clusters. A calibrated machine has no rows of such transfers.
    #[must_use]
    pub fn has_queues(&self) -> bool {
        let several = self.machine.topology.clusters_per_chip > 1;
        let parallel = self.model != MemoryModel::Flat && several && self.machine.measured.is_none();
        parallel && self.vocabulary.has_queues()
    }

    /// The cost of a transfer with these engines and this offset, and with the axes of the padding that it moves.
    fn priced(
        &self,
        source: &Tensor,
        result: &Tensor,
        from: (Option<u64>, u64),
        padded: Option<&Axes>,
    ) -> Option<TransferCost> {
        let (axes, key) =
            (padded.unwrap_or(self.axes), (source.to_string(), result.to_string(), from, padded.is_some()));
        // No thread waits for another one's price, which may be divided among threads too.
        if let Some(&known) = self.known().get(&key) {
            return known;
        }
        let cost = self.price(source, result, from, axes);
        self.known().insert(key, cost);
        cost
    }

    fn known(&self) -> MutexGuard<'_, HashMap<PricedTransfer, Option<TransferCost>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works out the cost of a transfer.
    fn price(
        &self,
        source: &Tensor,
        result: &Tensor,
        (queue, offset): (Option<u64>, u64),
        axes: &Axes,
    ) -> Option<TransferCost> {
        let names = source.axis_names(axes);
        let free = |axis: AxisId| names.iter().all(|name| **name != *axes.name(axis));
        // A move within data memory has another address at its end.
        let half = (self.machine.memory.dm_bytes_per_slice / 2).cast_signed();
        let write = if source.is(&DM) && result.is(&DM) { half } else { 0 };
        let at = |tensor: &Tensor| if tensor.is(&HBM) { offset.cast_signed() } else { 0 };
        let start = Start { read: at(source), write: write + at(result), dtype: source.dtype };
        let (pcie, machine, model) = (false, self.machine, self.model);
        let cx = TransferCx { source, result, start, free: &free, pcie, queue, axes, machine, model };
        let price = || match model {
            MemoryModel::Flat => cx.flat_price(),
            MemoryModel::Book | MemoryModel::Detailed => cx.price(None).map(|(cost, _)| cost),
        };
        self.is_legal(source, result, &free).then(price).flatten()
    }

    /// Returns true if a transfer writes data memory in whole groups (book 10).
    fn is_legal(&self, source: &Tensor, result: &Tensor, free: &dyn Fn(AxisId) -> bool) -> bool {
        if !result.is(&DM) {
            return true;
        }
        let align = self.machine.limits.dma_dm_align;
        let segments = transfer(source, result, free, None, false, self.axes, self.machine);
        segments
            .is_ok_and(|all| all.iter().all(|segment| moves_whole_groups(segment, align, source.is(&HBM))))
    }
}

/// Cycles until the end of a transfer of one cluster's engines, if `other` is one of another cluster, which has HBM
/// first and runs for `parallel` cycles from its start on (as the report's schedule has it).
#[must_use]
pub fn next_to(own: TransferCost, other: TransferCost, parallel: u64) -> u64 {
    if own.hbm == 0 || other.hbm == 0 {
        return own.cycles;
    }
    let free = other.cycles.saturating_sub(other.hbm).max(1);
    let slowed = (own.hbm * other.cycles).div_ceil(free).max(own.cycles);
    if slowed <= parallel {
        return slowed;
    }
    own.cycles + (parallel * (slowed - own.cycles)).div_ceil(slowed.max(1))
}
