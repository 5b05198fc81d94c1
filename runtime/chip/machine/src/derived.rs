//! Figures that follow from the description.

use std::rc::Rc;

use visa_numerics::{CastRow, DType, fetch_cast};

use crate::machine::{Machine, Topology};
use crate::unit::Unit;

/// Buffer space that a temporal accumulation needs in the accumulator (book 19).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferUse {
    /// Sums kept within the outermost loop that is summed.
    pub inner: u64,
    /// Most of them that the mode keeps.
    pub most: u64,
    /// Slots that each takes, idle ones included.
    pub width: u64,
    /// Slots of the buffer.
    pub slots: u64,
}

impl BufferUse {
    /// Slots taken.
    pub const fn used(&self) -> u64 {
        self.width.saturating_mul(self.inner)
    }

    /// Most sums that fit.
    pub fn limit(&self) -> u64 {
        self.most.min(self.slots / self.width.max(1))
    }

    /// Returns true if it fits.
    pub fn fits(&self) -> bool {
        self.inner <= self.limit()
    }
}

/// The matrices that the Transpose Engine takes of elements of one width (book 27).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransposeShape {
    /// Elements that it takes of each flit, from the first on: columns that one flit brings.
    pub elements: u64,
    /// Most rows.
    pub rows: u64,
    /// Columns, in ascending order.
    pub columns: Vec<u64>,
    /// Elements of a flit: those of a transposed row, and padding after them.
    pub alignment: u64,
}

/// Bits that are written to a register at once (book 09: generate mode writes 32).
const REGISTER_BITS: u64 = 32;

impl Machine {
    /// The same machine with `pes` processing elements a chip: a part of a cluster, or whole clusters. Slices,
    /// clusters and DMA engines follow; HBM and PCIe do not change.
    ///
    /// # Errors
    /// A number that is neither a part of a cluster nor whole clusters: the message lists the valid numbers.
    pub fn device(&self, pes: impl Into<i128>) -> Result<Self, String> {
        let asked = pes.into();
        let Topology { clusters_per_chip, pes_per_cluster, .. } = self.topology;
        let choices = || {
            let parts = (1..pes_per_cluster).filter(|pes| pes_per_cluster.is_multiple_of(*pes));
            let wholes = (1..=clusters_per_chip).map(|clusters| clusters.saturating_mul(pes_per_cluster));
            parts.chain(wholes)
        };
        let Some(pes) = choices().find(|choice| i128::from(*choice) == asked) else {
            let choices: Vec<String> = choices().map(|choice| choice.to_string()).collect();
            return Err(format!(
                "{asked} of {} processing elements, expected {}",
                self.pes_per_chip(),
                choices.join(", ")
            ));
        };
        let own = pes.min(pes_per_cluster);
        let of = |whole: u64, parts: u64, own: u64| whole / parts.max(1) * own;
        let mut device = self.clone();
        device.topology.clusters_per_chip = (pes / pes_per_cluster).max(1);
        device.topology.pes_per_cluster = own;
        device.topology.slices_per_cluster = of(self.topology.slices_per_cluster, pes_per_cluster, own);
        device.topology.dma_engines_per_chip =
            of(self.topology.dma_engines_per_chip, self.pes_per_chip(), pes);
        if pes < self.pes_per_chip() {
            device.name = format!("{} with {pes} PE{}", self.name, if pes == 1 { "" } else { "s" });
        }
        Ok(device)
    }

    /// [`Machine::device`] with as many processing elements as are written; the machine itself where none are, or
    /// where that is no device.
    #[must_use]
    pub fn device_or_whole(self: Rc<Self>, pes: Option<i64>) -> Rc<Self> {
        pes.and_then(|pes| self.device(pes).ok()).map_or(self, Rc::new)
    }

    /// Most elements of that many bits that a fetch masks at the right end of an axis by one count (book 08).
    pub const fn masked_right_max(&self, bits: u64) -> u64 {
        self.limits.mask_right_nibbles * 4 / bits
    }

    /// The matrices that the Transpose Engine takes of elements of `bits` bits (book 27). Elements narrower than a
    /// byte fill as many bytes of a flit as bytes do, so that there are more of them.
    pub fn transpose(&self, bits: u64) -> TransposeShape {
        let limits = &self.limits;
        let elements = limits.transpose_elements.max(limits.transpose_elements * 8 / bits);
        let columns =
            limits.transpose_columns.iter().copied().filter(|columns| columns.is_multiple_of(elements));
        TransposeShape {
            elements,
            rows: limits.transpose_row_bytes * 8 / bits,
            columns: columns.collect(),
            alignment: limits.flit_bytes * 8 / bits,
        }
    }

    /// Cycles of writing a snoop bitmap before a custom switch runs: for each slice of a cluster a row of a bit a
    /// slice, 32 bits at a time (book 13: one router entry a slice). Slices have different rows, so one is written
    /// after the other.
    pub const fn bitmap_cycles(&self) -> u64 {
        let slices = self.topology.slices_per_cluster;
        slices.saturating_mul(slices.div_ceil(REGISTER_BITS)).saturating_mul(self.timing.bitmap_word_cycles)
    }

    /// Returns true if the Transpose Engine buffers twice, so that a matrix of that many columns comes in while the
    /// previous one goes out (book 27).
    pub const fn transposes_twice(&self, columns: u64) -> bool {
        columns <= self.limits.transpose_buffer_columns
    }

    /// The buffer rule of an accumulation of `rows` x `columns` sums that keeps `kept` steps within the outermost
    /// loop that is summed (book 19): interleaved, `align_up(rows, 8) x inner` slots, at most 128 inner; sequential,
    /// `align_up(columns, 32) x inner`, at most 32.
    pub fn accumulator(&self, interleaved: bool, rows: u64, columns: u64, kept: u64) -> BufferUse {
        let limits = &self.limits;
        let slots = limits.accumulator_slots;
        if interleaved {
            let (inner, width) = (kept.saturating_mul(columns), rows.next_multiple_of(self.memory.trf_rows));
            BufferUse { inner, most: limits.interleaved_inner_max, width, slots }
        } else {
            let (inner, width) =
                (kept.saturating_mul(rows), columns.next_multiple_of(limits.accumulator_columns));
            BufferUse { inner, most: limits.sequential_inner_max, width, slots }
        }
    }

    /// The Fetch Adapter's conversion, or `None` where this machine has none (book 08).
    pub fn fetch_cast(&self, from: DType, to: DType) -> Option<&'static CastRow> {
        if self.limits.fetch_casts.contains(&(from, to)) { fetch_cast(from, to) } else { None }
    }

    /// Reason that the Fetch Adapter cannot convert: the formats that it converts `from` to, and another machine that
    /// could.
    pub fn no_fetch_cast(&self, from: DType, to: DType) -> String {
        let casts = self.limits.fetch_casts.iter().filter(|cast| cast.0 == from);
        let targets: Vec<_> = casts.map(|(_, to)| format!("`{to}`")).collect();
        let known = if targets.is_empty() { "nothing".to_owned() } else { targets.join(", ") };
        let other = Machine::builtin().find(|other| other.fetch_cast(from, to).is_some());
        let other = other.map(|other| format!("; {} could (`--machine {}`)", other.name, other.name));
        let name = &self.name;
        format!(
            "the fetch adapter of {name} does not convert {from} to {to}; it converts {from} to {known}{}",
            other.unwrap_or_default()
        )
    }

    /// Bytes that the Fetch Engine can read at once (book 08), in ascending order: how much they grow is not
    /// looked at.
    pub fn fetch_sizes(&self, unit: Unit, from: DType, to: DType) -> Vec<u64> {
        let limits = &self.limits;
        match unit {
            Unit::Main => limits.fetch_sizes_main.clone(),
            Unit::Sub if (from, to) == (DType::I4, DType::I32) => vec![limits.fetch_size_sub_i4_to_i32],
            Unit::Sub => vec![limits.fetch_size_sub],
            Unit::Dual => limits.fetch_sizes_dual.clone(),
        }
    }

    /// Bytes of a flit between fetch and collect (book 08), and bytes that a switch moves in a cycle.
    pub const fn flit_bytes(&self, unit: Unit) -> u64 {
        match unit {
            Unit::Main | Unit::Sub => self.limits.flit_bytes,
            Unit::Dual => self.limits.dual_flit_bytes,
        }
    }

    /// Bytes of the whole tensor register file for each of `rows` rows: with fewer rows than the maximum, the space of
    /// the unused rows extends them (book 18).
    #[must_use]
    pub fn trf_row_bytes(&self, rows: u64) -> u64 {
        self.memory.trf_bytes_per_row * (self.memory.trf_rows / rows.max(1)).max(1)
    }

    /// Bytes of a half of the tensor register file for each of `rows` rows.
    #[must_use]
    pub fn trf_half_bytes(&self, rows: u64) -> u64 {
        self.trf_row_bytes(rows) / 2
    }

    /// Bytes of a read of the vector register file: a power of two of words of 32 bits, up to a packet (book 20;
    /// fewer than a packet has are an assumption, after the tensor register file, book 18).
    #[must_use]
    pub fn vrf_read_sizes(&self) -> Vec<u64> {
        let word = u64::from(u32::BITS) / 8;
        let up_to_flit = |size: &u64| *size <= self.limits.flit_bytes;
        std::iter::successors(Some(word), |size| size.checked_mul(2)).take_while(up_to_flit).collect()
    }

    /// Most bytes that one fetch may grow to when its elements are converted: in dual channel mode its flits hold
    /// more, and the limit grows by the same bytes (book 08: the limit avoids an overflow of flits).
    pub const fn cast_fetch_max(&self, unit: Unit) -> u64 {
        self.limits.cast_fetch_max_bytes * (self.flit_bytes(unit) / self.limits.flit_bytes)
    }

    /// Slices of a chip, which work in lockstep.
    pub const fn slices_per_chip(&self) -> u64 {
        self.topology.clusters_per_chip * self.topology.slices_per_cluster
    }

    /// Processing elements of a chip.
    pub const fn pes_per_chip(&self) -> u64 {
        self.topology.clusters_per_chip * self.topology.pes_per_cluster
    }

    /// Slices of a data memory network.
    pub const fn slices_per_dmn(&self) -> u64 {
        self.topology.slices_per_cluster / (self.topology.pes_per_cluster * self.topology.dmns_per_pe)
    }

    /// Data memory of a chip, bytes.
    pub const fn dm_bytes_per_chip(&self) -> u64 {
        self.slices_per_chip() * self.memory.dm_bytes_per_slice
    }

    /// HBM channels of a chip.
    pub const fn hbm_channels(&self) -> u64 {
        self.memory.hbm_stacks * self.memory.hbm_channels_per_stack
    }

    /// Bytes a cycle of all data memory networks of a chip.
    pub const fn dm_bytes_per_cycle(&self) -> u64 {
        self.pes_per_chip() * self.topology.dmns_per_pe * self.timing.dm_bytes_per_cycle_per_dmn
    }

    /// Elements of `dtype` that a row of the Reducer multiplies in a cycle, or `None` if it cannot enter a
    /// contraction.
    pub fn macs_per_row(&self, dtype: DType) -> Option<u64> {
        dtype.accumulator()?;
        Some(self.limits.mac_width_bytes * 8 / u64::from(dtype.bits()))
    }

    /// Multiplications and additions of a chip in a cycle, or `None` if `dtype` cannot enter a contraction (book 19).
    pub fn peak_operations_per_cycle(&self, dtype: DType) -> Option<u64> {
        let macs = self.slices_per_chip() * self.memory.trf_rows * self.macs_per_row(dtype)?;
        Some(2 * macs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_rngd() {
        let rngd = Machine::rngd();
        assert_eq!(rngd.slices_per_chip(), 512);
        assert_eq!(rngd.pes_per_chip(), 8);
        assert_eq!(rngd.pes_per_chip(), rngd.topology.dma_engines_per_chip);
        assert_eq!(rngd.slices_per_dmn(), 32);
        assert_eq!(rngd.dm_bytes_per_chip(), 256 << 20);
        // Book 11's table: 16 banks of 4096 rows of 8 bytes.
        assert_eq!(rngd.memory.dm_bytes_per_slice, 16 * 4096 * 8);
        // Book 18's picture: 2 bank columns of 128 rows of 32 bytes.
        assert_eq!(rngd.memory.trf_bytes_per_row, 2 * 128 * 32);
    }

    /// Book 08's tables, and the conversions that the message about a missing one offers.
    #[test]
    fn conversions_of_the_machines() {
        use DType::{Bf16, F8e4m3, F8e5m2, F16, F32, I4, I5, I8, I9, I16, I32};
        let rngd = [
            (I4, I5),
            (I4, I32),
            (I8, I9),
            (I8, I32),
            (I16, I32),
            (F8e4m3, F32),
            (F8e5m2, F32),
            (Bf16, F32),
            (F16, F32),
            (F32, Bf16),
        ];
        let more = [(I4, I9), (I16, I9), (F8e4m3, Bf16), (F8e5m2, Bf16)];
        for from in DType::all() {
            for to in DType::all() {
                let common = rngd.contains(&(from, to));
                assert_eq!(Machine::rngd().fetch_cast(from, to).is_some(), common, "{from} to {to}");
                let found = Machine::rngd_s().fetch_cast(from, to).is_some();
                assert_eq!(found, common || more.contains(&(from, to)), "{from} to {to} on RNGD-S");
            }
        }
        assert_eq!(
            Machine::rngd().no_fetch_cast(I4, I9),
            "the fetch adapter of rngd does not convert i4 to i9; it converts i4 to `i5`, `i32`; rngd-s could \
             (`--machine rngd-s`)"
        );
        assert_eq!(
            Machine::rngd_s().no_fetch_cast(I32, F32),
            "the fetch adapter of rngd-s does not convert i32 to f32; it converts i32 to nothing"
        );
    }

    #[test]
    fn fetch_sizes_of_rngd() {
        let rngd = Machine::rngd();
        assert_eq!(rngd.fetch_sizes(Unit::Main, DType::I4, DType::I32), [1, 2, 4, 8, 16, 32]);
        assert_eq!(rngd.fetch_sizes(Unit::Sub, DType::I4, DType::I32), [4]);
        assert_eq!(rngd.fetch_sizes(Unit::Sub, DType::I4, DType::I5), [8]);
        assert_eq!(rngd.fetch_sizes(Unit::Sub, DType::I8, DType::I32), [8]);
    }

    /// Book 08: 64 bytes a cycle, in flits of 64 bytes, which one conversion fills at most.
    #[test]
    fn dual_channel_mode_of_rngd() {
        let rngd = Machine::rngd();
        assert_eq!(rngd.fetch_sizes(Unit::Dual, DType::I4, DType::I32), [1, 2, 4, 8, 16, 32, 64]);
        let units = [Unit::Main, Unit::Sub, Unit::Dual];
        assert_eq!(units.map(|unit| rngd.flit_bytes(unit)), [32, 32, 64]);
        assert_eq!(units.map(|unit| rngd.cast_fetch_max(unit)), [32, 32, 64]);
        // The banks of a slice deliver more in a cycle (book 11) than it reads.
        assert!(rngd.memory.dm_banks * rngd.memory.dm_bank_width >= 64);
    }

    #[test]
    fn peak_operations_of_rngd() {
        let rngd = Machine::rngd();
        assert_eq!(rngd.peak_operations_per_cycle(DType::Bf16), Some(1 << 18));
        assert_eq!(rngd.peak_operations_per_cycle(DType::I8), Some(1 << 19));
        assert_eq!(rngd.peak_operations_per_cycle(DType::F8e4m3), Some(1 << 19));
        assert_eq!(rngd.peak_operations_per_cycle(DType::I4), Some(1 << 20));
        assert_eq!(rngd.peak_operations_per_cycle(DType::I32), None);
        assert_eq!(rngd.peak_operations_per_cycle(DType::F32), None);
    }

    /// The MAC width is the number of elements that the tree of each format can add.
    #[test]
    fn trees_take_the_whole_width() {
        let rngd = Machine::rngd();
        for dtype in DType::all() {
            let leaves = dtype.tree_depth().map(|depth| 1 << depth);
            assert_eq!(rngd.macs_per_row(dtype), leaves, "{dtype}");
        }
    }

    /// Case H2 of the book: 32 channels of 64 bytes at 0.75 GHz, counted in cycles of 1 GHz.
    #[test]
    fn hbm_bandwidth_of_rngd() {
        let rngd = Machine::rngd();
        assert_eq!(rngd.hbm_channels(), 32);
        let bytes_per_cycle = 32.0 * 64.0 * 0.75 / rngd.timing.clock_ghz;
        assert_eq!(rngd.timing.hbm_bytes_per_cycle as f64, bytes_per_cycle);
        assert_eq!(rngd.timing.hbm_bytes_per_cycle, 1536);
        assert_eq!(rngd.dm_bytes_per_cycle(), 16 * 128);
    }

    /// Book 27's table of data types, and its buffering modes.
    #[test]
    fn transposes_of_rngd() {
        let rngd = Machine::rngd();
        let shape = |elements, alignment, rows, columns: &[u64]| TransposeShape {
            elements,
            rows,
            columns: columns.to_vec(),
            alignment,
        };
        assert_eq!(rngd.transpose(4), shape(16, 64, 16, &[16, 32]));
        assert_eq!(rngd.transpose(8), shape(8, 32, 8, &[8, 16, 32]));
        assert_eq!(rngd.transpose(16), shape(8, 16, 4, &[8, 16, 32]));
        assert_eq!(rngd.transpose(32), shape(8, 8, 2, &[8, 16, 32]));
        assert_eq!([8, 16, 17, 32].map(|columns| rngd.transposes_twice(columns)), [true, true, false, false]);
    }

    #[test]
    fn a_bitmap_of_rngd_is_256_rows_of_8_words() {
        assert_eq!(Machine::rngd().bitmap_cycles(), 2048);
    }

    #[test]
    fn accumulator_of_rngd() {
        let Machine { limits, memory, .. } = Machine::rngd();
        // 8 rows, 32 columns, 4 registers each.
        assert_eq!(limits.accumulator_slots, memory.trf_rows * limits.accumulator_columns * 4);
        assert_eq!(limits.interleaved_inner_max, limits.accumulator_slots / memory.trf_rows);
        assert_eq!(limits.sequential_inner_max, limits.accumulator_slots / limits.accumulator_columns);
    }
}
