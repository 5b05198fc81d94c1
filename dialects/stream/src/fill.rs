//! Fills: one number at every place of a tensor in data memory, or of a part of it (book 09, generate mode).

use crate::plan::{PlanError, digits_of};
use visa_algebra::{Axes, Cell, Expr, Map, MapError, PadKind, place};
use visa_ir::diag::counted;
use visa_loops::{Entry, Program, SequencerLimits, check, contiguous, distance, misaligned};
use visa_machine::Machine;
use visa_numerics::{Bits, DType, from_number, pattern};

/// Bits that generate mode writes at once (book 09).
pub const NUMBER_BITS: u32 = 32;

/// Where a tensor is taken to be while its address is not known: then only places within it are looked at.
pub const FROM_ITS_START: i64 = 0;

/// Where a fill writes.
#[derive(Clone, Debug)]
pub struct Fill {
    /// The loops in bytes, from the tensor's first byte on, as far merged as they can be.
    program: Program,
}

impl Fill {
    /// The loops over the elements of a layout that starts `start` positions into a tensor, and over padding of the
    /// kinds that are `written` too.
    ///
    /// # Errors
    /// A layout without digits, or 4-bit elements that begin or end in the middle of a byte.
    pub fn new(
        element: &Expr,
        start: u64,
        dtype: DType,
        written: &dyn Fn(PadKind) -> bool,
        axes: &Axes,
    ) -> Result<Self, PlanError> {
        let placed = place(&digits_of(element, axes)?, 1);
        let mut entries: Vec<Entry> = placed
            .digits
            .iter()
            .map(|placed| {
                let digit = placed.digit;
                Entry::new(if written(digit.kind) { digit.extent } else { digit.live }, placed.weight)
            })
            .collect();
        entries.reverse();
        if entries.is_empty() {
            entries.push(Entry::new(1, 1));
        }
        Self::along(Program { entries, packet: 1, base: placed.base.saturating_add(distance(start)) }, dtype)
    }

    /// The loops over elements of `dtype` from a tensor's first one on.
    ///
    /// # Errors
    /// 4-bit elements that begin or end in the middle of a byte.
    pub fn along(mut program: Program, dtype: DType) -> Result<Self, PlanError> {
        program.merge();
        program.packet = contiguous(&program);
        let program = program.in_bytes(dtype).map_err(|error| error.message)?;
        Ok(Self { program })
    }

    /// The accesses of the fill of a tensor at `address`, and in other iterations so far from it: 8 bytes at once, the
    /// width of a bank, or the 4 of one number where the places ask for it (book 09, 11).
    ///
    /// # Errors
    /// Places that are no whole numbers of 4 bytes, or loops that no sequencer runs.
    pub fn at(&self, address: i64, distances: &[i64], machine: &Machine) -> Result<Program, PlanError> {
        let base = self.program.base.saturating_add(address);
        let run = contiguous(&self.program);
        let own = |size: u64| Program { base, packet: size, ..self.program.clone() };
        let number = u64::from(NUMBER_BITS) / 8;
        let apart = |size: u64| distances.iter().all(|distance| distance.unsigned_abs().is_multiple_of(size));
        let fits = |size: &u64| {
            run.is_multiple_of(*size) && misaligned(&own(*size), *size).is_none() && apart(*size)
        };
        let Some(size) = [machine.limits.commit_size_sub, number].into_iter().find(fits) else {
            let why = misaligned(&own(number), number)
                .or_else(|| {
                    (!apart(number))
                        .then(|| "the distance of its rotating addresses is no such multiple".to_owned())
                })
                .unwrap_or_else(|| format!("the fill writes runs of {}", counted(run, "byte")));
            return Err(format!("{why}: expected multiples of {number} bytes (book 09, generate mode)"));
        };
        let limits = SequencerLimits {
            entries: usize::try_from(machine.limits.sequencer_entries).unwrap_or(usize::MAX),
            limit: machine.limits.sequencer_limit,
            packet_bytes: vec![size],
        };
        let program = own(size).retile(size).and_then(|program| program.fit(&limits));
        let program = program.map_err(|error| error.message)?;
        match check(&program, &limits).into_iter().next() {
            Some(error) => Err(error.message),
            None => Ok(program),
        }
    }
}

/// Flags of the first `count` slices of a mapping: true for those with elements or with zeros.
///
/// # Errors
/// A mapping that cannot be read.
pub fn held(map: &Expr, count: u64, axes: &Axes) -> Result<Vec<bool>, MapError> {
    let map = Map::new(map, axes)?;
    let is_held = |cell: Option<Cell>| match cell {
        Some(Cell::Live(_) | Cell::Pad(PadKind::Zero)) => true,
        Some(Cell::Shared(_) | Cell::Pad(PadKind::Top | PadKind::Bottom)) | None => false,
    };
    Ok((0..count).map(|at| is_held(map.cell(at))).collect())
}

/// A number as elements of `dtype`, over and over in the 32 bits that generate mode writes.
///
/// # Errors
/// If the format does not have it, or no memory has the format.
pub fn word(value: f64, dtype: DType) -> Result<Bits, String> {
    if !dtype.is_stored() {
        return Err(format!("{dtype} has a sideband bit, which data memory does not hold"));
    }
    let bits = from_number(dtype, value).ok_or_else(|| format!("{value} is no `{dtype}`"))?;
    let elements = 0..NUMBER_BITS / dtype.bits();
    Ok(elements.fold(0, |word, at| word | pattern(dtype, bits) << (at * dtype.bits())))
}
