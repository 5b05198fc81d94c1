//! Contiguous runs, access sizes, and the step from elements to bytes (book 08, 09).

use crate::error::{SeqError, code};
use crate::merge::{merge_pair, merged, scaled};
use crate::program::{Entry, Loop, PairedEntry, PairedProgram, Program};
use crate::stride::Stride;
use visa_numerics::DType;
use visa_words::counted;

/// Length of the innermost contiguous run, in the program's unit: the product of the consecutive
/// entries, from the innermost outwards, that continue each other (book 08). 1 where the innermost
/// stride is not 1; entries of one iteration do not count, and an indirect one ends the run.
pub fn contiguous(program: &Program) -> u64 {
    run(&program.entries)
}

/// [`contiguous`] on the read and the write side at once: the most that one DMA access can move.
pub fn contiguous_paired(program: &PairedProgram) -> u64 {
    run(&program.entries)
}

/// The packet of a DMA that moves runs of `run` bytes: the largest part of at most `most` bytes that divides the run
/// (book 10), in whole groups of `group` bytes where the run is. One group of a prime number of them that is larger.
pub fn dma_packet(run: u64, most: u64, group: u64) -> u64 {
    let group = if run.is_multiple_of(group.max(1)) { group.max(1) } else { 1 };
    let groups = run / group;
    let mut packet = (most / group).min(groups).max(1);
    while !groups.is_multiple_of(packet) {
        packet -= 1;
    }
    packet * group
}

fn run<const SIDES: usize, L: Loop<SIDES>>(entries: &[L]) -> u64 {
    let mut outwards = entries.iter().rev().filter(|entry| !entry.is_idle());
    let Some(mut run) = outwards.next().filter(|entry| entry.fixed() == Some([1; SIDES])).cloned() else {
        return 1;
    };
    for outer in outwards {
        match merge_pair(outer, &run) {
            Some(longer) => run = longer,
            None => break,
        }
    }
    run.limit().max(1)
}

/// Bytes of one fetch: the largest supported size that divides both the packet and the contiguous
/// run (book 08). `None` where no supported size does.
pub fn fetch_size(packet_bytes: u64, contiguous_bytes: u64, supported: &[u64]) -> Option<u64> {
    largest_divisor(gcd(packet_bytes, contiguous_bytes), supported)
}

/// Bytes of one commit, and whether the context can do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitSize {
    /// Bytes written at a time.
    pub bytes: u64,
    /// True if `bytes` is one of the supported sizes.
    pub supported: bool,
}

/// Bytes of one commit: gcd(contiguous run, commit_in_size), both in bytes (book 09). Supported are 8,
/// 16, 24 and 32 in the main context, 8 in the sub context.
pub fn commit_size(contiguous_bytes: u64, commit_in: u64, supported: &[u64]) -> CommitSize {
    let bytes = gcd(contiguous_bytes, commit_in);
    CommitSize { bytes, supported: supported.contains(&bytes) }
}

impl Program {
    /// The byte program of an element program: strides and base are scaled; an innermost stride of one
    /// element becomes `limit * element_bytes : 1`, any other gets an entry `element_bytes : 1` below
    /// it. The packet is scaled too.
    pub fn to_bytes(&self, element_bytes: u64) -> Result<Self, SeqError> {
        let bytes = || {
            Some(Self {
                entries: entries_to_bytes(&self.entries, element_bytes)?,
                packet: self.packet.checked_mul(element_bytes)?,
                base: scale(self.base, element_bytes)?,
            })
        };
        element_size(element_bytes)?;
        bytes().ok_or_else(|| too_large(&self.to_string(), element_bytes))
    }

    /// The byte program of a program over elements of `dtype`: [`Program::to_bytes`], and for 4-bit elements, of
    /// which two share a byte, half of everything.
    ///
    /// # Errors
    /// Numbers past 64 bits (A1), or a place that is half a byte (A4).
    pub fn in_bytes(&self, dtype: DType) -> Result<Self, SeqError> {
        match dtype.bits() {
            4 => self.halved(merged(&self.entries)),
            bits => self.to_bytes(u64::from(bits) / 8),
        }
    }

    /// [`Program::in_bytes`], each entry by itself: outer entries keep their number.
    ///
    /// # Errors
    /// As there.
    pub fn in_bytes_apart(&self, dtype: DType) -> Result<Self, SeqError> {
        match dtype.bits() {
            4 => self.halved(self.entries.clone()),
            bits => self.to_bytes(u64::from(bits) / 8),
        }
    }

    /// The byte program of a program over half bytes, written with `entries`: the innermost loop goes through
    /// whole bytes, and everything else starts at one.
    fn halved(&self, mut entries: Vec<Entry>) -> Result<Self, SeqError> {
        let half = |found: String, expected: &str| {
            let message =
                format!("`{self}` of 4-bit elements is at half a byte: {found}, expected {expected}");
            let fix =
                "keep pairs of elements that share a byte together, innermost in both mappings".to_owned();
            Err(SeqError::new(code::HALF_BYTE, message).with_fix(Some(fix)))
        };
        if self.base % 2 != 0 {
            return half(format!("the base is {}", self.base), "an even number");
        }
        if !self.packet.is_multiple_of(2) {
            return half(format!("the packet is {}", self.packet), "an even number");
        }
        let neighbours = "an even number of neighbours, `n : 1`";
        let Some(inner) = entries.pop() else { return half("there is no loop".to_owned(), neighbours) };
        if inner.stride != Stride::Fixed(1) || !inner.limit.is_multiple_of(2) {
            return half(format!("the innermost loop is {inner}"), neighbours);
        }
        for entry in &mut entries {
            let Some(stride) = entry.stride.divided(2) else {
                return half(format!("a loop is {entry}"), "an even stride");
            };
            entry.stride = stride;
        }
        entries.push(Entry::new(inner.limit / 2, 1));
        Ok(Self { entries, packet: self.packet / 2, base: self.base / 2 })
    }

    /// Lets one access transfer more: the packet becomes the largest supported multiple of itself that
    /// divides the innermost entry, if that has stride 1. This is how merging a time entry into the
    /// packet's widens the packet (book 07).
    pub fn widen(&mut self, supported: &[u64]) {
        let Some(innermost) = self.entries.last().filter(|entry| entry.stride == Stride::Fixed(1)) else {
            return;
        };
        let fits = |size: &u64| {
            *size > self.packet && size.is_multiple_of(self.packet) && innermost.limit.is_multiple_of(*size)
        };
        if let Some(size) = supported.iter().copied().filter(fits).max() {
            self.packet = size;
        }
    }
}

impl PairedProgram {
    /// [`Program::to_bytes`]; the innermost entry is contiguous where it is so on both sides.
    pub fn to_bytes(&self, element_bytes: u64) -> Result<Self, SeqError> {
        let bytes = || {
            Some(Self {
                entries: entries_to_bytes(&self.entries, element_bytes)?,
                packet: self.packet.checked_mul(element_bytes)?,
                read_base: scale(self.read_base, element_bytes)?,
                write_base: scale(self.write_base, element_bytes)?,
            })
        };
        element_size(element_bytes)?;
        bytes().ok_or_else(|| too_large(&self.to_string(), element_bytes))
    }

    /// The byte program of a program over elements of `dtype`: [`PairedProgram::to_bytes`], and for 4-bit elements,
    /// of which two share a byte, half of everything.
    ///
    /// # Errors
    /// Numbers past 64 bits (A1), or a place that is half a byte (A4).
    pub fn in_bytes(&self, dtype: DType) -> Result<Self, SeqError> {
        if dtype.bits() != 4 {
            return self.to_bytes(u64::from(dtype.bits()) / 8);
        }
        let merged = Self { entries: merged(&self.entries), ..self.clone() };
        let (read, write) = (merged.read().in_bytes_apart(dtype)?, merged.write().in_bytes_apart(dtype)?);
        let pairs = read.entries.into_iter().zip(write.entries);
        let entries = pairs.map(|(read, write)| PairedEntry {
            limit: read.limit,
            read: read.stride,
            write: write.stride,
        });
        let entries = entries.collect();
        Ok(Self { entries, packet: read.packet, read_base: read.base, write_base: write.base })
    }
}

fn entries_to_bytes<const SIDES: usize, L: Loop<SIDES>>(entries: &[L], element_bytes: u64) -> Option<Vec<L>> {
    if element_bytes == 1 {
        return Some(entries.to_vec());
    }
    let scale_entry = |entry: &L| {
        let mut strides = [const { Stride::Fixed(0) }; SIDES];
        for (scaled, stride) in strides.iter_mut().zip(entry.strides()) {
            *scaled = stride.scaled(element_bytes)?;
        }
        Some(L::of(entry.limit(), strides))
    };
    let unit = [1; SIDES];
    let (outer, inner) = match entries.split_last() {
        Some((last, outer)) if last.fixed() == Some(unit) => {
            (outer, L::even(last.limit().checked_mul(element_bytes)?, unit))
        }
        Some(_) | None => (entries, L::even(element_bytes, unit)),
    };
    let mut bytes = outer.iter().map(scale_entry).collect::<Option<Vec<L>>>()?;
    bytes.push(inner);
    Some(bytes)
}

fn scale(base: i64, element_bytes: u64) -> Option<i64> {
    scaled([base], element_bytes).map(|[base]| base)
}

fn element_size(element_bytes: u64) -> Result<(), SeqError> {
    if element_bytes > 0 {
        return Ok(());
    }
    let message = "an element has 0 bytes, expected at least 1".to_string();
    Err(SeqError::new(code::ELEMENT, message))
}

fn too_large(program: &str, element_bytes: u64) -> SeqError {
    let message = format!(
        "`{program}` with elements of {} has limits, strides or a base past 64 bits",
        counted(element_bytes, "byte")
    );
    SeqError::new(code::ADDRESS, message)
}

/// The part of `program` that is no multiple of `align`: its base, a stride of more than one iteration or an offset of
/// a table, except for the innermost entry's if that is contiguous.
#[must_use]
pub fn misaligned(program: &Program, align: u64) -> Option<String> {
    let aligned = |value: i64| value.unsigned_abs().is_multiple_of(align);
    if !aligned(program.base) {
        return Some(format!("the base of `{program}` is {}, expected a multiple of {align}", program.base));
    }
    let last = program.entries.len().saturating_sub(1);
    let (_, entry) = program.entries.iter().enumerate().find(|&(index, entry)| {
        let contiguous =
            index == last && entry.stride == Stride::Fixed(1) && program.packet.is_multiple_of(align);
        let moves = entry.limit > 1 || entry.stride.table().is_some();
        moves && !contiguous && !entry.stride.numbers().iter().copied().all(aligned)
    })?;
    Some(format!("the stride of entry `{entry}` of `{program}` is no multiple of {align}"))
}

/// Greatest common divisor; gcd(0, n) = n.
pub(crate) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The largest of `sizes` that divides `n`; `None` for `n == 0`.
pub(crate) fn largest_divisor(n: u64, sizes: &[u64]) -> Option<u64> {
    sizes.iter().copied().filter(|&size| n != 0 && n.is_multiple_of(size)).max()
}
