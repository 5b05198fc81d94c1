//! Sequencer programs of the engines: their checks, and their addresses as the engines use them.

use crate::clauses::machine;
use crate::gather::Gather;
use crate::limits::MAX_STREAM_BYTES;
use std::ops::Range;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use visa_engine::Bank;
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::OpRef;
use visa_loops::{Entry, Program, SeqError, SequencerLimits, Stride, check, misaligned};
use visa_machine::Machine;

/// A program of whole accesses to addresses from 0 on. Its addresses are worked out once, on first use, and shared
/// by all slices.
pub(crate) struct Loops {
    /// The program.
    pub(crate) program: Program,
    extent: Range<u64>,
    steps: u64,
    accesses: u64,
    addresses: OnceLock<Arc<[u32]>>,
    runs: OnceLock<Vec<Range<usize>>>,
    gather: OnceLock<Option<Gather>>,
}

impl Loops {
    /// `None` if an address is negative, or an access incomplete.
    fn new(program: Program) -> Option<Self> {
        let (start, end) = program.extent().ok()?;
        let extent = u64::try_from(start).ok()?..u64::try_from(end).ok()?;
        let (steps, accesses) = (program.steps()?, program.accesses()?);
        let (addresses, runs, gather) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Some(Self { program, extent, steps, accesses, addresses, runs, gather })
    }

    /// The address of each access, in loop order.
    pub(crate) fn addresses(&self) -> &Arc<[u32]> {
        self.addresses.get_or_init(|| self.program.addresses().map(|address| address as u32).collect())
    }

    /// The bytes of all accesses in loop order, accesses that continue each other as one range.
    pub(crate) fn runs(&self) -> &[Range<usize>] {
        self.runs.get_or_init(|| {
            let mut runs: Vec<Range<usize>> = Vec::new();
            for address in self.program.addresses() {
                let start = address as usize;
                let end = start + self.program.packet as usize;
                match runs.last_mut() {
                    Some(last) if last.end == start => last.end = end,
                    Some(_) | None => runs.push(start..end),
                }
            }
            runs
        })
    }

    /// Appends the bytes of all accesses in loop order.
    pub(crate) fn read(&self, bank: &Bank, out: &mut Vec<u8>) {
        if self.runs().len() as u64 != self.accesses() {
            return self.runs().iter().for_each(|run| bank.read(run.clone(), out));
        }
        let size = self.program.packet as usize;
        let gather = self.gather.get_or_init(|| Gather::new(&self.program));
        if !gather.as_ref().is_some_and(|gather| gather.read(bank, self.extent(), size, out)) {
            bank.gather(self.addresses(), size, out);
        }
    }

    /// [`Loops::read`] with every address `start` bytes further, or before; none of them is below 0.
    pub(crate) fn read_from(&self, start: isize, bank: &Bank, out: &mut Vec<u8>) {
        if start == 0 {
            return self.read(bank, out);
        }
        self.runs_from(start).for_each(|run| bank.read(run, out));
    }

    /// [`Loops::runs`], `start` bytes further.
    pub(crate) fn runs_from(&self, start: isize) -> impl Iterator<Item = Range<usize>> {
        let moved = move |at: usize| at.wrapping_add_signed(start);
        self.runs().iter().map(move |run| moved(run.start)..moved(run.end))
    }

    /// From the first byte touched to one past the last.
    pub(crate) fn extent(&self) -> Range<u64> {
        self.extent.clone()
    }

    /// Accesses made.
    pub(crate) fn accesses(&self) -> u64 {
        self.accesses
    }

    /// Bytes (or steps) visited.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }
}

/// The capabilities of the sequencers of `machine`, with accesses of `packet_bytes`.
pub(crate) fn limits(machine: &Machine, packet_bytes: &[u64]) -> SequencerLimits {
    SequencerLimits {
        entries: machine.limits.sequencer_entries as usize,
        limit: machine.limits.sequencer_limit,
        packet_bytes: packet_bytes.to_vec(),
    }
}

/// A program as it is in a clause of an operation, to be checked.
pub(crate) struct Written<'a> {
    op: OpRef<'a>,
    clause: &'static str,
    /// The program.
    pub(crate) program: Rc<Program>,
}

impl<'a> Written<'a> {
    pub(crate) fn new(op: OpRef<'a>, clause: &'static str, program: Rc<Program>) -> Self {
        Self { op, clause, program }
    }

    /// The program as the engines use it, which `constraint` wants.
    pub(crate) fn loops(&self, constraint: &str) -> Result<Loops, Diagnostic> {
        self.loops_from(constraint, 0)
    }

    /// [`Written::loops`] with every address `start` bytes further, or before.
    pub(crate) fn loops_from(&self, constraint: &str, start: i64) -> Result<Loops, Diagnostic> {
        let program = &self.program;
        let base = program.base.checked_add(start);
        let moved = base.map(|base| Program { base, ..(**program).clone() });
        moved.and_then(Loops::new).ok_or_else(|| {
            let message = format!("`{program}` has a negative address, or makes no whole accesses");
            self.error(constraint, message)
        })
    }

    pub(crate) fn error(&self, constraint: &str, message: String) -> Diagnostic {
        self.op.clause_error(constraint, self.clause, message)
    }

    fn finding(&self, constraint: &str, error: SeqError) -> Diagnostic {
        self.error(constraint, error.message).fix(error.fix)
    }

    /// Checks that the sequencer can run the program with accesses of one of `packet_bytes`.
    pub(crate) fn sequencer(&self, constraint: &str, packet_bytes: &[u64]) -> Result<(), Diagnostic> {
        let program = &self.program;
        let limits = limits(&machine(self.op), packet_bytes);
        if let Some(error) = check(program, &limits).into_iter().next() {
            return Err(self.finding(constraint, error));
        }
        let repeats =
            program.entries.last().is_some_and(|entry| entry.stride == Stride::Fixed(0) && entry.limit > 1);
        if repeats && program.packet > 1 {
            let message = format!(
                "the innermost entry of `{program}` repeats a byte within an access: expected stride 1, or \
                 packets of 1"
            );
            return Err(self.error(constraint, message));
        }
        match program.steps() {
            Some(steps) if steps <= MAX_STREAM_BYTES => Ok(()),
            Some(_) | None => {
                let message = format!(
                    "`{program}` takes more than {MAX_STREAM_BYTES} steps, the most that visa runs in a slice"
                );
                Err(self.error(constraint, message))
            }
        }
    }

    /// Checks that every address is in the `capacity` bytes of `memory`.
    pub(crate) fn within(&self, constraint: &str, capacity: u64, memory: &str) -> Result<(), Diagnostic> {
        let program = &self.program;
        let (start, end) = program.extent().map_err(|error| self.finding(constraint, error))?;
        if start >= 0 && end.cast_unsigned() <= capacity {
            return Ok(());
        }
        let message = format!("`{program}` touches bytes {start} to {end} of {memory}, which has {capacity}");
        Err(self.error(constraint, message))
    }

    /// Checks that base and strides are multiples of `align` bytes; the contiguous innermost entry is exempt.
    pub(crate) fn aligned(&self, constraint: &str, align: u64) -> Result<(), Diagnostic> {
        match misaligned(&self.program, align) {
            Some(message) => Err(self.error(constraint, message)),
            None => Ok(()),
        }
    }
}

/// Checks that no two iterations of an entry write the same place: a stride of 0, or offsets of a table that are
/// nearer than one access.
pub(crate) fn overwrites(program: &Program) -> Option<String> {
    let clash = |entry: &Entry| entry.stride.clash(entry.limit, program.packet);
    let (entry, clash) = program.entries.iter().find_map(|entry| Some((entry, clash(entry)?)))?;
    Some(match &entry.stride {
        Stride::Fixed(_) => {
            format!("entry `{entry}` of `{program}` writes the same bytes {}", counted(entry.limit, "time"))
        }
        Stride::Table(_) => format!(
            "iterations {} and {} of entry `{entry}` of `{program}` write the same bytes",
            clash.start, clash.end
        ),
    })
}
