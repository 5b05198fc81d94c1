//! Warnings about transfers: layouts of tensors in HBM, and stores in pieces.

use crate::chip::warning::ChipWarning;
use visa_cost::{MemoryModel, measured_ticks, transfer_cost};
use visa_engine::words::DmaEngine;
use visa_hw::ops::dma::{self, Dma};
use visa_hw::program;
use visa_ir::diag::{Diagnostic, counted};
use visa_loops::{PairedEntry, PairedProgram, Stride};
use visa_machine::{Machine, Medium};
use visa_memory::{Access, Channels, HBM_UNIT};

/// Bytes from which the layout of a tensor is worth a change.
const LARGE_BYTES: u64 = 256 << 10;

/// Share of the time of a load that another layout has to gain.
const WORTH: f64 = 0.05;

/// Share of the time of a store that its pieces have to take.
const PIECES: f64 = 0.1;

/// Neighbour slices whose pieces alternate in a stripe.
const STRIPE_SLICES: u64 = 8;

/// The longest piece of a slice in a stripe: the packet of the DMA (book 10).
const LONGEST_PIECE: u64 = 4096;

/// The warnings about a transfer, with its ticks on `machine`.
///
/// # Errors
/// A clause that cannot be read.
pub(crate) fn warnings(op: Dma<'_>, machine: Option<&Machine>) -> Result<Vec<ChipWarning>, Diagnostic> {
    let (from, to) = (op.from()?, op.to()?);
    let Some(machine) = machine.filter(|machine| machine.measured.is_some()) else { return Ok(Vec::new()) };
    match op.engine()? {
        DmaEngine::Pcie => return Ok(Vec::new()),
        DmaEngine::Tensor => {}
    }
    let (_, table) = dma::engine_table(op)?;
    let Some(own) = program::Dma::of_table(false, [from.into(), to.into()], &table) else {
        return Ok(Vec::new());
    };
    let found = match (from, to) {
        (Medium::Hbm, Medium::Dm) => slow_layout(&own, machine),
        (_, Medium::Hbm) => pieces(&own, machine),
        (_, _) => None,
    };
    Ok(found.into_iter().collect())
}

/// S2.
fn slow_layout(own: &program::Dma, machine: &Machine) -> Option<ChipWarning> {
    let stripes = Stripes::of(own, machine)?;
    let tick = machine.measured.as_ref()?.ticks_per_cycle.value;
    let ticks = |dma: &program::Dma| {
        let cycles = transfer_cost(dma, machine, MemoryModel::Detailed).ok()?.cycles;
        Some((cycles as f64 * tick).round() as u64)
    };
    let (now, then) = (ticks(own)?, ticks(&stripes.transfer(own))?);
    let Stripes { slices, bytes, piece, .. } = stripes;
    let message = format!(
        "this load of {} for each of {slices} slices takes {now} ticks, and {then} from HBM in stripes, where pieces \
         of {piece} bytes of {STRIPE_SLICES} neighbour slices alternate",
        counted(bytes, "byte"),
    );
    let fix = "let the host store the tensor as `[slice / 8, byte / piece, slice % 8, byte % piece]` before the job";
    let note = format!("prices are those of {} by `--memory-model detailed`", machine.name);
    let worth = then as f64 <= now as f64 * (1.0 - WORTH);
    worth.then_some(ChipWarning { number: "S2", message, fix, note: Some(note) })
}

/// A layout of the bytes of a load in HBM: stripes of pieces of neighbour slices.
struct Stripes {
    /// Slices that the load fills.
    slices: u64,
    /// Bytes of a slice.
    bytes: u64,
    /// Bytes of a piece.
    piece: u64,
    /// Bytes of the data memory of a slice.
    distance: u64,
    /// Engines of the chip.
    engines: u64,
    /// Where the load writes first.
    base: i64,
}

impl Stripes {
    /// The stripes for a load; `None` if it is small, reads bytes more than once, or its slices have no such pieces.
    fn of(own: &program::Dma, machine: &Machine) -> Option<Self> {
        let [part] = own.parts.as_slice() else { return None };
        let distance = machine.memory.dm_bytes_per_slice;
        let engines = machine.topology.dma_engines_per_chip;
        let (mut slices, mut bytes) = (1_u64, 1_u64);
        for entry in &part.loops.entries {
            let (read, write) = (entry.read.fixed()?, entry.write.fixed()?);
            if read == 0 && entry.limit > 1 {
                return None;
            }
            let between = write != 0 && write.unsigned_abs().is_multiple_of(distance);
            let sum = if between { &mut slices } else { &mut bytes };
            *sum = sum.checked_mul(entry.limit)?;
        }
        let pieces = (1..=LONGEST_PIECE / HBM_UNIT).map(|units| units * HBM_UNIT);
        let piece = pieces.filter(|&piece| bytes.is_multiple_of(piece)).max()?;
        let fits = slices.is_multiple_of(engines.checked_mul(STRIPE_SLICES)?);
        let large = slices.checked_mul(bytes)? >= LARGE_BYTES;
        let base = part.loops.write_base;
        (fits && large).then_some(Self { slices, bytes, piece, distance, engines, base })
    }

    /// The load of the same slices from this layout.
    fn transfer(&self, own: &program::Dma) -> program::Dma {
        let entry = |limit: u64, read: u64, write: u64| {
            let stride = |distance: u64| Stride::Fixed(distance.cast_signed());
            PairedEntry { limit, read: stride(read), write: stride(write) }
        };
        let Self { slices, bytes, piece, distance, engines, base } = *self;
        let (stripe, group) = (STRIPE_SLICES * piece, STRIPE_SLICES * bytes);
        let each = slices / STRIPE_SLICES / engines;
        // Requests of one unit of HBM go to all slices of an engine before the next unit: no queue of a slice fills.
        let entries = vec![
            entry(engines, each * group, each * STRIPE_SLICES * distance),
            entry(bytes / piece, stripe, piece),
            entry(piece / HBM_UNIT, HBM_UNIT, HBM_UNIT),
            entry(each, group, STRIPE_SLICES * distance),
            entry(STRIPE_SLICES, piece, distance),
            entry(HBM_UNIT, 1, 1),
        ];
        let loops = PairedProgram { entries, packet: HBM_UNIT, read_base: 0, write_base: base };
        program::Dma::homogeneous(false, [own.from, own.to], loops, 1)
    }
}

/// S3.
fn pieces(own: &program::Dma, machine: &Machine) -> Option<ChipWarning> {
    let written = own.programs().try_fold(Channels::none(), |sum, loops| {
        Some(sum.plus(&Channels::of(&loops.write(), Access::Write, machine).ok()?))
    })?;
    let partial = written.total().partial;
    let [now, then] = measured_ticks(own, machine)?;
    let message = format!(
        "{} of this store cover a part of {HBM_UNIT} bytes of HBM: it takes {now} ticks, and {then} in whole units",
        counted(partial, "piece"),
    );
    let fix = "gather the pieces in fewer slices first, so that at least 256 bytes are contiguous on both sides and \
               start at a multiple of 256";
    let note = format!("prices are those of {}", machine.name);
    let slow = partial > 0 && (now.saturating_sub(then)) as f64 >= now as f64 * PIECES;
    slow.then_some(ChipWarning { number: "S3", message, fix, note: Some(note) })
}
