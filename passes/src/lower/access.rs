//! What a fetch reads at once: the size of its accesses and its program in bytes (book 07, 08). Both lowering passes ask: the
//! first to refuse what no sequencer can run while the mappings are at hand, the second to write it.

use visa_machine::Machine;
use visa_numerics::DType;
use visa_sequencer::{Program, SeqError, SequencerLimits, contiguous, fetch_size};

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
    let mut sizes = machine.fetch_sizes(sub, from, to.unwrap_or(from));
    if let Some(to) = to {
        let grown = |size: u64| size * u64::from(to.bits()) / u64::from(from.bits());
        sizes.retain(|&size| grown(size) <= machine.limits.cast_fetch_max_bytes);
    }
    let run = contiguous(program);
    let Some(size) = fetch_size(program.packet, run, &sizes) else {
        let sizes: Vec<_> = sizes.iter().map(u64::to_string).collect();
        return Err(AccessError::Size(format!(
            "a packet of {} bytes with {run} contiguous bytes in data memory allows no fetch of {} bytes",
            program.packet,
            sizes.join(", ")
        )));
    };
    Ok(program.retile(size)?.fit(&limits(machine, &sizes))?)
}
