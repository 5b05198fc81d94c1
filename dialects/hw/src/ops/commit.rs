//! `hw.commit`: the Commit Engine (book 09).

use crate::attrs::{PROGRAM, STEPS};
use crate::build::{Build, Moves, verify};
use crate::clauses::{machine, one_of};
use crate::loops::{Loops, Written, overwrites};
use crate::ops::control::{Moving, steps_of_stage};
use crate::ops::exec;
use crate::ops::exec::context_of;
use std::ops::Range;
use std::rc::Rc;
use visa_engine::place::rngd;
use visa_engine::{
    Access, Engine, Flow, Mismatch, RunCx, SliceMemory, Space, Stage, StageCost, Store, Stream, Unit, Wire,
};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_loops::{Program, Steps};
use visa_machine::Machine;

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&COMMIT];

/// The clause for the slice bitmap.
#[visa_ir::clause]
pub const SLICES: ClauseDecl = ClauseDecl::optional(
    "slices",
    ClauseKind::Ints,
    "Slices that are written, if not all of the run's: start, end (one past), start, end, ... (slice bitmap). Where \
     the run goes from slices to others, these do too.",
);

/// `hw.commit`.
#[visa_ir::view(Commit)]
pub static COMMIT: OpDecl = OpDecl {
    name: "hw.commit",
    summary: "writes the stream to data memory",
    doc: "The first `bytes` of every 32-byte packet are kept (commit_in_size) and written, in accesses of the \
          loops' packet (commit_size), at the loops' addresses in order (book 09).",
    constraints: &[
        ("C1", "8, 16, 24 or 32 bytes of a packet are kept (book 09: commit_in_size)"),
        ("C2", "one access is of a size that the context's Commit Engine writes (book 09: commit_size)"),
        ("C3", "the kept bytes are a whole number of accesses (book 09)"),
        ("C4", "the loops fit the sequencer, and are contiguous within an access (book 07)"),
        ("C5", "base and strides are multiples of 8 bytes (book 09)"),
        (
            "C6",
            "no stride is 0, and no two offsets of a table are nearer than a write: nothing is written twice \
             (book 33)",
        ),
        ("C7", "every address is in the slice's data memory"),
        ("C8", "the accesses write all kept bytes, and no more"),
        (
            "C9",
            "`slices` is pairs of start and end, in order, apart, not empty, within the run's slices (book 09: \
             slice bitmap)",
        ),
        ("C10", "the elements are not i5 or i9, whose sideband bit data memory does not hold (book 19)"),
        (
            "C11",
            "`steps` has a number for each scalar and each loop around the run at most, a multiple of 8 bytes, 0 for \
             scalars: only transfers move with them",
        ),
    ],
    clauses: &[
        ClauseDecl::required("bytes", ClauseKind::Int, "Bytes of each packet that are kept."),
        ClauseDecl::required(
            "loops",
            ClauseKind::body::<Program>(&PROGRAM),
            "Data memory addresses, bytes; the packet is the size of one access (`commit_size`).",
        ),
        SLICES,
        ClauseDecl::optional(
            "steps",
            ClauseKind::body::<Steps>(&STEPS),
            "How far all addresses move with each `hw.scalar` and then each `hw.for` around the run, the outermost \
             first, in bytes.",
        ),
    ],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Stream), writes(Target::Memory("dm"))]),
    verify: Some(|op, _| verify(op)),
    example: "hw.commit bytes 8, loops [4 : 16, 8 : 1] : 8 @ 8192",
    interfaces: &[
        Interface(&rngd::COMMIT),
        Interface(&Moves(|op| moving(op).map(Moving::after_first))),
        Interface(&Build::Alone(|op| Ok(Stage::store(read(op)?)))),
    ],
    ..OpDecl::BASE
};

struct CommitUnit {
    /// Bytes kept of a packet.
    bytes: u64,
    loops: Loops,
    /// The slice bitmap, as ranges; `None` where all active slices are written.
    slices: Option<Vec<Range<usize>>>,
}

fn read(op: OpRef<'_>) -> Result<CommitUnit, Diagnostic> {
    let op = Commit::of(op)?;
    let machine = machine(*op);
    let limits = &machine.limits;
    let bytes = one_of(*op, "C1", ("bytes", op.bytes()?), &limits.commit_sizes)?;
    let written = Written::new(*op, "loops", op.loops()?);
    let access = written.program.packet;
    let sub = [limits.commit_size_sub];
    let sizes = if context_of(*op)?.computes() { limits.commit_sizes.as_slice() } else { &sub };
    if !sizes.contains(&access) {
        let sizes = crate::clauses::list(sizes);
        let message =
            format!("an access is {}, expected one of {sizes} in this context", counted(access, "byte"));
        return Err(written.error("C2", message));
    }
    if !bytes.is_multiple_of(access) {
        let message = format!(
            "an access is {}, which does not divide the {bytes} that are kept",
            counted(access, "byte")
        );
        return Err(written.error("C3", message));
    }
    written.sequencer("C4", sizes)?;
    written.aligned("C5", limits.commit_stride_align)?;
    if let Some(message) = overwrites(&written.program) {
        return Err(written.error("C6", message));
    }
    let moving = moving(*op)?;
    for touched in moving.reaches(&written.program) {
        Written::new(*op, "loops", Rc::new(touched)).within(
            "C7",
            machine.memory.dm_bytes_per_slice,
            "the slice's data memory",
        )?;
    }
    let slices = bitmap(*op, "C9", op.slices()?)?;
    Ok(CommitUnit { bytes, loops: written.loops_from("C7", moving.first())?, slices })
}

/// C11: how the addresses of a commit move with the loops around it.
fn moving(op: OpRef<'_>) -> Result<Moving, Diagnostic> {
    steps_of_stage(op, "C11", Commit::of(op)?.steps()?, machine(op).limits.commit_stride_align)
}

/// The slice bitmap; `constraint` wants its ranges in order, within the run's slices.
pub(crate) fn bitmap(
    op: OpRef<'_>,
    constraint: &str,
    written: Option<Rc<[i64]>>,
) -> Result<Option<Vec<Range<usize>>>, Diagnostic> {
    let Some(written) = written else { return Ok(None) };
    // A run whose own slices are wrong reports that itself.
    let Some(moving) = op.parent().and_then(|run| exec::moving(run).ok()) else { return Ok(None) };
    let slices = exec::slices(op, constraint, &written, &moving)?;
    let active = op.parent().and_then(|run| exec::active(run).ok());
    let is_active = |slice: usize| active.iter().flatten().any(|range| range.contains(&slice));
    match slices.iter().cloned().flatten().find(|&slice| active.is_some() && !is_active(slice)) {
        Some(slice) => {
            let message = format!("slice {slice} is written, but the run is not active there");
            Err(op.clause_error(constraint, "slices", message))
        }
        None => Ok(Some(slices)),
    }
}

impl CommitUnit {
    /// Cuts the kept part of `items` (one a byte) into the contiguous runs of its target addresses, moved by the given
    /// number of bytes from the first iteration.
    fn scatter<T: Copy>(
        &self,
        items: &[T],
        (packet, moved): (usize, i64),
        mut write: impl FnMut(usize, &[T]),
    ) {
        let kept = self.bytes as usize;
        let mut truncated = Vec::new();
        let mut rest = if kept == packet {
            items
        } else {
            truncated.reserve(items.len() / packet.max(1) * kept);
            items.chunks_exact(packet.max(1)).for_each(|packet| truncated.extend_from_slice(&packet[..kept]));
            &truncated
        };
        for run in self.loops.runs_from(moved as isize) {
            let Some((now, later)) = rest.split_at_checked(run.len()) else { return };
            write(run.start, now);
            rest = later;
        }
    }
}

impl Unit for CommitUnit {
    fn connect(&self, _machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        input.stored("C10", "bytes")?;
        let (found, wanted) = (self.loops.steps(), input.packets.saturating_mul(self.bytes));
        if found != wanted {
            let message = format!(
                "the loops write {}, expected {wanted}: {} of each of {}",
                counted(found, "byte"),
                self.bytes,
                counted(input.packets, "packet")
            );
            return Err(Mismatch::new("C8", "loops", message));
        }
        Ok(Wire { packet: self.bytes, ..input })
    }

    fn cost(&self, _machine: &Machine, input: Flow) -> StageCost {
        let out = Flow { packets: input.packets, packet: self.bytes };
        StageCost { engine: Engine::COMMIT, cycles: self.loops.accesses(), latency: 1, macs: 0, out }
    }

    fn walk(&self) -> Option<&Program> {
        Some(&self.loops.program)
    }

    fn accesses(&self) -> Vec<Access> {
        vec![Access { space: Space::DM, write: true, range: self.loops.extent() }]
    }
}

impl Store for CommitUnit {
    fn store(&self, cx: RunCx<'_>, memory: &mut SliceMemory, mut stream: Stream) {
        stream.pass_marks(cx);
        self.scatter(&stream.bytes, (stream.packet, cx.moved), |at, bytes| memory.dm.write(at, bytes));
        if let Some(marks) = &stream.shadow {
            self.scatter(marks, (stream.packet, cx.moved), |at, marks| memory.dm.write_shadow(at, marks));
        }
    }

    fn slices(&self) -> Option<&[Range<usize>]> {
        self.slices.as_deref()
    }
}
