//! What a fetch reads at once: the size of its accesses and its program in bytes (book 07, 08). Both lowering passes ask: the
//! first to refuse what no sequencer can run while the mappings are at hand, the second to write it.

use visa_machine::Machine;
use visa_numerics::DType;
use visa_sequencer::{
    Entry, Mask, Program, SeqError, SequencerLimits, check, contiguous, fetch_size, innermost,
};

/// Why a fetch cannot be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessError {
    /// A limit of the sequencer.
    Sequencer(SeqError),
    /// No access size divides packet and contiguous bytes.
    Size(String),
}

impl From<SeqError> for AccessError {
    fn from(error: SeqError) -> Self {
        Self::Sequencer(error)
    }
}

/// The bytes of an element in data memory.
#[must_use]
pub fn element_bytes(dtype: DType) -> u64 {
    u64::from(dtype.bits()).div_ceil(8)
}

/// The machine's limits for a sequencer whose accesses have one of `sizes` bytes.
#[must_use]
pub fn limits(machine: &Machine, sizes: &[u64]) -> SequencerLimits {
    SequencerLimits {
        entries: usize::try_from(machine.limits.sequencer_entries).unwrap_or(usize::MAX),
        limit: machine.limits.sequencer_limit,
        packet_bytes: sizes.to_vec(),
    }
}

/// The program of a fetch in bytes, cut into accesses, in as few entries as the sequencer needs.
///
/// # Errors
/// A limit of the sequencer, or that no access size fits.
pub fn fetch(
    program: &Program,
    from: DType,
    to: Option<DType>,
    sub: bool,
    machine: &Machine,
) -> Result<Program, AccessError> {
    let sizes = sizes(from, to, sub, machine);
    let size = access_size(program.packet, contiguous(program), &sizes)?;
    Ok(program.retile(size)?.fit(&limits(machine, &sizes))?)
}

/// [`fetch`] with a mask, in the main context: the entries that the mask names, and the innermost loop, stay apart from the others.
/// With the program comes the mask of its entries.
///
/// # Errors
/// A limit of the sequencer, or that no access size fits.
pub fn masked_fetch(
    program: &Program,
    mask: &Mask,
    from: DType,
    to: Option<DType>,
    machine: &Machine,
) -> Result<(Program, Mask), AccessError> {
    let sizes = sizes(from, to, false, machine);
    let limits = limits(machine, &sizes);
    let (outer, inner) = program.entries.split_at(innermost(&program.entries, element_bytes(from)));
    let inner = Program { entries: inner.to_vec(), ..program.clone() };
    let size = access_size(program.packet, contiguous(&inner), &sizes)?;
    let mut entries: Vec<Entry> = Vec::new();
    let mut free: Vec<Entry> = Vec::new();
    let mut moved = mask.clone();
    for (index, entry) in outer.iter().enumerate() {
        if index != mask.dim && Some(index) != mask.by {
            free.push(*entry);
            continue;
        }
        entries.extend(fitted(&mut free, &limits)?);
        if index == mask.dim {
            moved.dim = entries.len();
        } else {
            moved.by = Some(entries.len());
        }
        entries.push(*entry);
    }
    entries.extend(fitted(&mut free, &limits)?);
    entries.extend(inner.retile(size)?.fit(&limits)?.entries);
    let program = Program { entries, packet: size, base: program.base };
    match check(&program, &limits).into_iter().next() {
        Some(error) => Err(error.into()),
        None => Ok((program, moved)),
    }
}

/// Takes the entries of `free` and merges them.
fn fitted(free: &mut Vec<Entry>, limits: &SequencerLimits) -> Result<Vec<Entry>, SeqError> {
    let entries: Vec<Entry> = free.drain(..).filter(|entry| entry.limit != 1).collect();
    if entries.is_empty() {
        return Ok(entries);
    }
    Ok(Program { entries, packet: 1, base: 0 }.fit(limits)?.entries)
}

/// The access sizes of a context, with a conversion that lets them grow.
fn sizes(from: DType, to: Option<DType>, sub: bool, machine: &Machine) -> Vec<u64> {
    let limit = &machine.limits;
    let mut sizes = if sub { vec![limit.fetch_size_sub] } else { limit.fetch_sizes_main.clone() };
    if let Some(to) = to {
        let grown = |size: u64| size * element_bytes(to) / element_bytes(from);
        sizes.retain(|&size| grown(size) <= limit.cast_fetch_max_bytes);
    }
    sizes
}

fn access_size(packet: u64, run: u64, sizes: &[u64]) -> Result<u64, AccessError> {
    fetch_size(packet, run, sizes).ok_or_else(|| {
        let sizes: Vec<_> = sizes.iter().map(u64::to_string).collect();
        AccessError::Size(format!(
            "a packet of {packet} bytes with {run} contiguous bytes in data memory allows no fetch of {} bytes",
            sizes.join(", ")
        ))
    })
}
