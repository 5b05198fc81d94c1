//! Accesses of a sequencer: the size of its accesses and its program in bytes (book 07 to 10, 18). They are computed
//! once: `lower-to-seq` refuses programs that no sequencer can run while the mappings are at hand, and `lower-to-hw`
//! writes the same accesses.

use std::rc::Rc;
use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::span::Span;
use visa_loops::{
    EnginePart, Entry, Mask, PairedEntry, PairedProgram, Program, SeqError, SequencerLimits, Stride, check,
    commit_size, contiguous, contiguous_paired, dma_packet, fetch_size, innermost, misaligned,
};
use visa_machine::{Machine, Unit};
use visa_memory::Medium;
use visa_numerics::DType;

/// Reason why a fetch cannot be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessError {
    /// A limit of the sequencer.
    Sequencer(SeqError),
    /// No access size divides packet and contiguous bytes.
    Size {
        /// Of the diagnostic.
        code: &'static str,
        /// The text found.
        message: String,
    },
    /// A stride or the base violates the alignment of the memory.
    Aligned(String),
}

impl AccessError {
    /// The error, in one line.
    #[must_use]
    pub fn message(&self) -> &str {
        match self {
            Self::Sequencer(error) => &error.message,
            Self::Size { message, .. } | Self::Aligned(message) => message,
        }
    }

    /// Returns true if no access size fits, with this code.
    #[must_use]
    pub fn is_size(&self, wanted: &str) -> bool {
        matches!(self, Self::Size { code, .. } if *code == wanted)
    }

    /// The finding at `span`.
    #[must_use]
    pub fn diagnostic(&self, span: Span) -> Diagnostic {
        match self {
            Self::Sequencer(error) => {
                let code = format!("seq-{}", error.code);
                Diagnostic::error(code, span, error.message.clone()).fix(error.fix.clone())
            }
            Self::Size { code, message } => Diagnostic::error(*code, span, message.clone()),
            Self::Aligned(message) => Diagnostic::error("seq-aligned", span, message.clone()),
        }
    }
}

impl From<SeqError> for AccessError {
    fn from(error: SeqError) -> Self {
        Self::Sequencer(error)
    }
}

/// Reader or writer of a memory in the order of a program over elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Accessor {
    /// The fetch engine (book 08).
    Fetch {
        /// The format that elements are converted to, if they are.
        to: Option<DType>,
        /// The context that runs it.
        unit: Unit,
        /// The masked elements.
        mask: Option<Mask>,
    },
    /// The commit engine (book 09).
    Commit {
        /// The context that runs it.
        unit: Unit,
    },
    /// A read of the tensor register file (book 18).
    Align,
    /// A read of the vector register file (book 20).
    Vector,
}

/// The program of a sequencer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accesses {
    /// Its program: byte addresses, an access at a time.
    pub program: Program,
    /// The mask, in terms of the entries of `program`.
    pub mask: Option<Mask>,
    /// Bytes of a packet, or of its preserved part.
    pub packet: u64,
    /// The contiguous bytes of the elements.
    pub contiguous: u64,
}

impl Accessor {
    /// The accesses to `elements` of `dtype`.
    ///
    /// # Errors
    /// A limit of the sequencer, that no access size fits, or a stride that is not aligned.
    pub fn accesses(
        &self,
        elements: &Program,
        dtype: DType,
        machine: &Machine,
    ) -> Result<Accesses, AccessError> {
        let bytes = match self {
            Self::Fetch { mask: Some(_), .. } => elements.in_bytes_apart(dtype)?,
            Self::Fetch { mask: None, .. } | Self::Commit { .. } | Self::Align | Self::Vector => {
                elements.in_bytes(dtype)?
            }
        };
        let (program, mask) = match self {
            Self::Fetch { to, mask: Some(mask), .. } => {
                let (program, mask) = masked_fetch(&bytes, mask, dtype, *to, machine)?;
                (program, Some(mask))
            }
            Self::Fetch { to, unit, mask: None } => (fetch(&bytes, dtype, *to, *unit, machine)?, None),
            Self::Commit { unit } => (commit(&bytes, *unit, machine)?, None),
            Self::Align => (align(&bytes, machine)?, None),
            Self::Vector => (vector(&bytes, machine)?, None),
        };
        Ok(Accesses { program, mask, packet: bytes.packet, contiguous: contiguous(&bytes) })
    }

    /// The same on the machine of a context, which keeps the answer.
    ///
    /// # Errors
    /// As [`Self::accesses`].
    pub fn known(self, ctx: &Context, elements: &Program, dtype: DType) -> Result<Rc<Accesses>, AccessError> {
        let work = |accessor: &Self| accessor.accesses(elements, dtype, &ctx.data::<Machine>());
        let accessor = self.clone();
        ctx.once((self, elements.clone(), dtype), || work(&accessor))
    }
}

/// The code of a fetch that no access size of its context fits.
pub const FETCH_SIZE: &str = "fetch-size";

/// The machine's limits for a sequencer whose accesses have one of `sizes` bytes.
#[must_use]
pub fn limits(machine: &Machine, sizes: &[u64]) -> SequencerLimits {
    SequencerLimits {
        entries: usize::try_from(machine.limits.sequencer_entries).unwrap_or(usize::MAX),
        limit: machine.limits.sequencer_limit,
        packet_bytes: sizes.to_vec(),
    }
}

/// The same byte addresses, `access` bytes at a time, in as few entries as the sequencer needs, if it runs them.
fn cut(program: &Program, access: u64, limits: &SequencerLimits) -> Result<Program, AccessError> {
    let program = program.retile(access)?.fit(limits)?;
    match check(&program, limits).into_iter().next() {
        Some(error) => Err(error.into()),
        None => Ok(program),
    }
}

/// The sizes that a fetch may have, in bytes: those of its context whose elements, converted, are no more than the
/// adapter passes on at once (book 08).
#[must_use]
pub fn fetch_sizes(from: DType, to: Option<DType>, unit: Unit, machine: &Machine) -> Vec<u64> {
    let mut sizes = machine.fetch_sizes(unit, from, to.unwrap_or(from));
    if let Some(to) = to {
        let grown = |size: u64| size * u64::from(to.bits()) / u64::from(from.bits());
        sizes.retain(|&size| grown(size) <= machine.cast_fetch_max(unit));
    }
    sizes
}

/// The program of a fetch in bytes, cut into accesses, in as few entries as the sequencer needs.
fn fetch(
    program: &Program,
    from: DType,
    to: Option<DType>,
    unit: Unit,
    machine: &Machine,
) -> Result<Program, AccessError> {
    let sizes = fetch_sizes(from, to, unit, machine);
    let size = access_size(program.packet, contiguous(program), &sizes)?;
    cut(program, size, &limits(machine, &sizes))
}

/// Where slices start, in bytes.
///
/// # Errors
/// A start between two elements of a byte.
pub fn starts(starts: &Program, dtype: DType) -> Result<Program, AccessError> {
    let bits = u64::from(dtype.bits());
    let bytes = |offset: i64| {
        let bits = offset.checked_mul(i64::try_from(bits).ok()?)?;
        (bits % 8 == 0).then_some(bits / 8)
    };
    let scaled = |entry: &Entry| {
        let stride = match &entry.stride {
            Stride::Fixed(stride) => Stride::Fixed(bytes(*stride)?),
            Stride::Table(table) => Stride::Table(table.iter().copied().map(bytes).collect::<Option<_>>()?),
        };
        Some(Entry { limit: entry.limit, stride })
    };
    let entries = starts.entries.iter().map(scaled).collect::<Option<Vec<_>>>();
    let entries = entries.ok_or_else(|| {
        let message =
            format!("slices start at `{starts}` elements of `{dtype}`, some of them in the middle of a byte");
        AccessError::Aligned(message)
    })?;
    Ok(Program { entries, packet: 1, base: 0 })
}

/// [`fetch`] with a mask, in the main context: the entries that the mask names, and the innermost loop, stay apart
/// from the others. With the program comes the mask of its entries.
fn masked_fetch(
    program: &Program,
    mask: &Mask,
    from: DType,
    to: Option<DType>,
    machine: &Machine,
) -> Result<(Program, Mask), AccessError> {
    let sizes = fetch_sizes(from, to, Unit::Main, machine);
    let limits = limits(machine, &sizes);
    let (outer, inner) = program.entries.split_at(innermost(&program.entries, u64::from(from.bits())));
    let inner = Program { entries: inner.to_vec(), ..program.clone() };
    let size = access_size(program.packet, contiguous(&inner), &sizes)?;
    let mut entries: Vec<Entry> = Vec::new();
    let mut free: Vec<Entry> = Vec::new();
    let mut moved = mask.clone();
    for (index, entry) in outer.iter().enumerate() {
        if index != mask.dim && Some(index) != mask.by {
            free.push(entry.clone());
            continue;
        }
        entries.extend(fitted(&mut free, &limits)?);
        if index == mask.dim {
            moved.dim = entries.len();
        } else {
            moved.by = Some(entries.len());
        }
        entries.push(entry.clone());
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

/// The program of a commit in bytes: `commit_size` is the greatest common divisor of contiguous bytes and
/// `commit_in_size`, the packet (book 09); the sub context has a different size.
fn commit(program: &Program, unit: Unit, machine: &Machine) -> Result<Program, AccessError> {
    let (kept, run) = (program.packet, contiguous(program));
    let own = [machine.limits.commit_size_sub];
    let sizes = if unit.computes() { &machine.limits.commit_sizes } else { &own[..] };
    let size = if unit.computes() {
        let size = commit_size(run, kept, sizes);
        size.supported.then_some(size.bytes)
    } else {
        fetch_size(kept, run, sizes)
    };
    let Some(size) = size else {
        let message = format!(
            "{} kept of each packet with {} in data memory allow no write of {} bytes",
            counted(kept, "byte"),
            counted(run, "contiguous byte"),
            listed(sizes)
        );
        return Err(AccessError::Size { code: "commit-size", message });
    };
    let program = cut(program, size, &limits(machine, sizes))?;
    match misaligned(&program, machine.limits.commit_stride_align) {
        Some(message) => Err(AccessError::Aligned(message)),
        None => Ok(program),
    }
}

/// The program of a read of the tensor register file in bytes: an access has the bytes that are contiguous (book 18).
fn align(program: &Program, machine: &Machine) -> Result<Program, AccessError> {
    let read = program.packet;
    let program = cut(program, read, &limits(machine, &machine.limits.reg_read_sizes))?;
    let wide = read == machine.limits.mac_width_bytes;
    match misaligned(&program, machine.limits.trf_wide_align).filter(|_| wide) {
        Some(message) => Err(AccessError::Aligned(message)),
        None => Ok(program),
    }
}

/// The program of a read of the vector register file in bytes: an access has the bytes of a packet.
fn vector(program: &Program, machine: &Machine) -> Result<Program, AccessError> {
    cut(program, program.packet, &limits(machine, &machine.vrf_read_sizes()))
}

/// Most programs that loops above the sequencer's limit are cut into.
const MAX_CUTS: usize = 64;

/// The programs of a DMA in bytes, one after the other: a loop that is longer than a sequencer counts and has no
/// fitting factors is cut in two, the most of it that entries count together and the rest.
///
/// # Errors
/// A limit of the sequencer that no cut keeps.
pub fn dma(
    program: &PairedProgram,
    group: u64,
    machine: &Machine,
) -> Result<Vec<PairedProgram>, AccessError> {
    let halves = |program: &PairedProgram| {
        let packet = dma_packet(contiguous_paired(program), machine.limits.dma_packet_max_bytes, group);
        let parts = PairedProgram { packet, ..program.clone() }.cut(&limits(machine, &[]), 1)?;
        Some(parts.map(|part| PairedProgram { packet: program.packet, ..part }))
    };
    within_limits(program.clone(), &|program| single_dma(program, group, machine), &halves)
}

/// The result of `make` for a program, or for the parts that `halves` cuts it into as long as no sequencer runs it.
fn within_limits(
    program: PairedProgram,
    make: &dyn Fn(&PairedProgram) -> Result<PairedProgram, AccessError>,
    halves: &dyn Fn(&PairedProgram) -> Option<[PairedProgram; 2]>,
) -> Result<Vec<PairedProgram>, AccessError> {
    let (mut found, mut open) = (Vec::new(), vec![program]);
    while let Some(program) = open.pop() {
        let error = match make(&program) {
            Ok(program) => {
                found.push(program);
                continue;
            }
            Err(error) => error,
        };
        let few = found.len() + open.len() + 2 <= MAX_CUTS;
        let Some([before, after]) = halves(&program).filter(|_| few) else { return Err(error) };
        open.extend([after, before]);
    }
    Ok(found)
}

/// The program of a DMA in bytes: a packet is the largest contiguous run that a transaction carries (book 10), in
/// whole groups of `group` bytes.
///
/// # Errors
/// A limit of the sequencer.
pub fn single_dma(
    program: &PairedProgram,
    group: u64,
    machine: &Machine,
) -> Result<PairedProgram, AccessError> {
    let mut program = program.clone();
    program.merge();
    let run = contiguous_paired(&program);
    packets(&program, dma_packet(run, machine.limits.dma_packet_max_bytes, group), machine)
}

/// The program of a DMA in bytes, in packets of `size` bytes.
fn packets(program: &PairedProgram, size: u64, machine: &Machine) -> Result<PairedProgram, AccessError> {
    Ok(program.retile(size)?.fit(&limits(machine, &[size]))?)
}

/// The part of an engine, in bytes: the loops that count engines stay, those of each merge. Loops that no sequencer
/// counts are cut in two, as those of [`dma`], between packets.
///
/// # Errors
/// A limit of the sequencer, or outermost loops that do not count the engines.
pub fn dma_part(part: &EnginePart, dtype: DType, machine: &Machine) -> Result<Vec<EnginePart>, AccessError> {
    let count = part.engine_loops().ok_or_else(|| {
        let message =
            format!("no outermost loops of `{}` count {}", part.loops, counted(part.count(), "engine"));
        AccessError::Aligned(message)
    })?;
    let (outer, inner) = part.loops.entries.split_at(count);
    let whole = |entries: &[PairedEntry]| PairedProgram { entries: entries.to_vec(), ..part.loops.clone() };
    let mut own = whole(inner).in_bytes(dtype)?;
    let packet = own.packet;
    own.merge();
    let halves = |program: &PairedProgram| program.cut(&limits(machine, &[]), packet);
    let parts = within_limits(own, &|program| packets(program, packet, machine), &halves)?;
    let mut engines = Vec::new();
    for entry in outer {
        let scaled =
            |stride: &Stride| stride.scaled(u64::from(dtype.bits())).and_then(|bits| bits.divided(8));
        let sides = scaled(&entry.read).zip(scaled(&entry.write));
        let (read, write) =
            sides.ok_or_else(|| AccessError::Aligned(format!("engines are `{entry}` apart")))?;
        engines.push(PairedEntry { limit: entry.limit, read, write });
    }
    let parts = parts.into_iter().map(|mut loops| {
        loops.entries.splice(..0, engines.iter().cloned());
        EnginePart { engines: part.engines.clone(), loops }
    });
    Ok(parts.collect())
}

/// The bytes that a DMA writes together: SRAM in groups, and the requests of HBM (book 10).
pub fn dma_group(to: Medium, machine: &Machine) -> u64 {
    (to.decl().write_group)(machine)
}

fn access_size(packet: u64, run: u64, sizes: &[u64]) -> Result<u64, AccessError> {
    fetch_size(packet, run, sizes).ok_or_else(|| {
        let message = format!(
            "a packet of {} with {} in data memory allows no fetch of {} bytes",
            counted(packet, "byte"),
            counted(run, "contiguous byte"),
            listed(sizes)
        );
        AccessError::Size { code: FETCH_SIZE, message }
    })
}

fn listed(sizes: &[u64]) -> String {
    sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}
