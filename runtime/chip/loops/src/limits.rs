//! The sequencer's limits as rules S1 to S6 (book 07, "Configuration Failures"; book 18).

use std::fmt;
use visa_words::counted;

use crate::error::{SeqError, code};
use crate::merge::{merged, split_entry};
use crate::program::{Loop, PairedProgram, Program};
use crate::sizes::{gcd, largest_divisor};
use crate::stride::Stride;
use crate::table::check_table;
use crate::text::EntryList;

/// The most iterations of a loop over commands (ours: the interpreter runs each of them).
pub const MAX_TIMES: u64 = 1 << 32;

/// Limits of one sequencer. The caller fills it from the machine description, with the packet sizes of the engine and
/// context at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequencerLimits {
    /// Most entries of a program.
    pub entries: usize,
    /// Most iterations of an entry.
    pub limit: u64,
    /// Sizes of one access, in bytes.
    pub packet_bytes: Vec<u64>,
}

impl SequencerLimits {
    /// RNGD (book 07): 8 entries, 65536 iterations, accesses of 1, 2, 4, 8, 16 or 32 bytes.
    pub fn rngd() -> Self {
        Self { entries: 8, limit: 65_536, packet_bytes: vec![1, 2, 4, 8, 16, 32] }
    }
}

/// Every rule that a byte program breaks, as it is (nothing is merged first), in this order:
///
/// - S1: 1 to `limits.entries` entries.
/// - S2: each entry's limit is 1 to `limits.limit`.
/// - S3: the packet is one of `limits.packet_bytes`.
/// - S4: the innermost entry is contiguous (stride 0 or 1, its limit a multiple of the packet), or
///   the packet is 1.
/// - S5: each stride, and each offset of a table, fits signed 32 bits.
/// - S6: an indirect entry has an offset for each iteration.
pub fn check(program: &Program, limits: &SequencerLimits) -> Vec<SeqError> {
    let mut errors = check_entries(&program.entries, program.packet, program, limits);
    errors.extend(check_packet(program, limits));
    errors.extend(check_innermost(&program.entries, program.packet, program));
    errors.extend(check_strides(&program.entries, program));
    errors.extend(check_tables(&program.entries));
    errors
}

/// [`check`] for a DMA byte program, both sides. In place of a list of packet sizes, S3 asks for 1 to
/// `max_packet` bytes (book 10: 4096); `limits.packet_bytes` is not used.
pub fn check_paired(program: &PairedProgram, limits: &SequencerLimits, max_packet: u64) -> Vec<SeqError> {
    let mut errors = check_entries(&program.entries, program.packet, program, limits);
    if !(1..=max_packet).contains(&program.packet) {
        let message = format!(
            "the packet of `{program}` is {}, expected 1 to {max_packet}",
            counted(program.packet, "byte")
        );
        errors.push(SeqError::new(code::PACKET, message));
    }
    errors.extend(check_innermost(&program.entries, program.packet, program));
    errors.extend(check_strides(&program.entries, program));
    errors.extend(check_tables(&program.entries));
    errors
}

/// S1 and S2.
pub(crate) fn check_entries<const SIDES: usize, L: Loop<SIDES>>(
    entries: &[L],
    packet: u64,
    program: &dyn fmt::Display,
    limits: &SequencerLimits,
) -> Vec<SeqError> {
    let mut errors = Vec::new();
    if entries.is_empty() {
        let message = format!("`{program}` has no entry, expected 1 to {}", limits.entries);
        let once = L::even(1, [1; SIDES]);
        let fix = format!("write `[{once}]` for a single step");
        errors.push(SeqError::new(code::ENTRIES, message).with_fix(fix));
    } else if entries.len() > limits.entries {
        errors.push(too_many_entries(entries, program, limits));
    }
    for (index, entry) in entries.iter().enumerate() {
        if !(1..=limits.limit).contains(&entry.limit()) {
            let message = format!(
                "entry {index}, `{entry}`, of `{program}` iterates {}, expected 1 to {}",
                counted(entry.limit(), "time"),
                limits.limit
            );
            let pieces = split_entry(entries, index, packet, limits.limit).filter(|pieces| pieces.len() > 1);
            let fix = pieces.map(|pieces| format!("split it into `{}`", EntryList(&pieces)));
            errors.push(SeqError::new(code::LIMIT, message).with_fix(fix));
        }
    }
    errors
}

fn too_many_entries<const SIDES: usize, L: Loop<SIDES>>(
    entries: &[L],
    program: &dyn fmt::Display,
    limits: &SequencerLimits,
) -> SeqError {
    let message =
        format!("`{program}` has {}, expected at most {}", counted(entries.len(), "entry"), limits.entries);
    let shorter = merged(entries);
    let fix = if shorter.len() <= limits.entries {
        format!("merge them to `{}`", EntryList(&shorter))
    } else {
        "reorder the axes so that more entries merge, or split the transfer in two".to_string()
    };
    SeqError::new(code::ENTRIES, message).with_fix(fix)
}

/// S3.
fn check_packet(program: &Program, limits: &SequencerLimits) -> Option<SeqError> {
    if limits.packet_bytes.contains(&program.packet) {
        return None;
    }
    let sizes: Vec<String> = limits.packet_bytes.iter().map(u64::to_string).collect();
    let message = format!(
        "the packet of `{program}` is {}, expected one of {}",
        counted(program.packet, "byte"),
        sizes.join(", ")
    );
    let fix = largest_divisor(program.packet, &limits.packet_bytes)
        .map(|size| format!("transfer it in accesses of {}", counted(size, "byte")));
    Some(SeqError::new(code::PACKET, message).with_fix(fix))
}

/// S4.
fn check_innermost<const SIDES: usize, L: Loop<SIDES>>(
    entries: &[L],
    packet: u64,
    program: &dyn fmt::Display,
) -> Option<SeqError> {
    let innermost = entries.last()?;
    let contiguous = innermost.strides().iter().all(|stride| matches!(stride.fixed(), Some(0 | 1)));
    if packet == 1 || (contiguous && innermost.limit().is_multiple_of(packet)) {
        return None;
    }
    let message = format!(
        "entry {}, `{innermost}`, the innermost of `{program}`, does not fill packets of {packet}: expected \
         stride 0 or 1 and a multiple of {}, or packets of 1",
        entries.len() - 1,
        counted(packet, "iteration")
    );
    let largest = if contiguous { gcd(innermost.limit(), packet).max(1) } else { 1 };
    let fix = format!("use packets of {largest}");
    Some(SeqError::new(code::INNERMOST, message).with_fix(fix))
}

/// S5.
fn check_strides<const SIDES: usize, L: Loop<SIDES>>(
    entries: &[L],
    program: &dyn fmt::Display,
) -> Vec<SeqError> {
    let fits = |stride: i64| i32::try_from(stride).is_ok();
    let mut errors = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let mut numbers = entry.strides().into_iter().flat_map(Stride::numbers);
        if let Some(stride) = numbers.find(|&&stride| !fits(stride)) {
            let message = format!(
                "stride {stride} of entry {index}, `{entry}`, of `{program}` does not fit 32 bits, expected {} to \
                 {}",
                i32::MIN,
                i32::MAX
            );
            errors.push(SeqError::new(code::STRIDE, message));
        }
    }
    errors
}

/// S6.
fn check_tables<const SIDES: usize, L: Loop<SIDES>>(entries: &[L]) -> Vec<SeqError> {
    entries.iter().filter_map(check_table).collect()
}
