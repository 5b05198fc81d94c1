//! `hw.store_trf` and `hw.store_vrf`: the ends that fill a register file (books 18, 20).

use crate::build::{Build, verify};
use crate::clauses::{at_least, machine, one_of};
use crate::ops::fetch::Fetch;
use crate::trf::Region;
use visa_engine::place::rngd;
use visa_engine::words::{LoadPath, RegionName};
use visa_engine::{
    Access, BankUse, Engine, Flow, Mismatch, RunCx, SliceMemory, Space, Stage, StageCost, Store, Stream,
    Unit, Wire,
};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_loops::contiguous;
use visa_machine::Machine;

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&STORE_TRF, &STORE_VRF];

/// `hw.store_trf`.
#[visa_ir::view(StoreTrf)]
pub static STORE_TRF: OpDecl = OpDecl {
    name: "hw.store_trf",
    summary: "stores the stream in the tensor register file",
    doc: "The stream is `rows` chunks of `row_bytes`; chunk r goes to row r, from the start of the region (book \
          18). The second half of the file starts in the middle of every bank row. i5 and i9 keep their sideband \
          bits there, so that an i5 takes half a byte of a row and an i9 a byte (book 19); as other formats they \
          read as never written.\n\n\
          A load is `short`, a command that bypasses the pipeline, or goes through all of it, which takes longer to \
          set up (book 18).",
    constraints: &[
        ("C1", "the Reducer can use that many rows: 1, 2, 4 or 8 (book 18)"),
        (
            "C2",
            "a chunk fits the region's part of a row: with fewer than 8 rows, the free part extends them, also in a \
             half (book 18)",
        ),
        ("C3", "the stream is `rows` times `row_bytes`"),
        (
            "C4",
            "a short load is of one contiguous run of data memory, as it is there: no mask, table, conversion or \
             zero point, and no engine but collect (book 18)",
        ),
    ],
    clauses: &[
        ClauseDecl::lead(
            "region",
            ClauseKind::word::<RegionName>(),
            "The part of every row that is written.",
        ),
        ClauseDecl::required("rows", ClauseKind::Int, "Rows that are written."),
        ClauseDecl::required("row_bytes", ClauseKind::Int, "Bytes written to each row."),
        ClauseDecl::default("load", ClauseKind::word::<LoadPath>(), "full", "Which path the data takes."),
    ],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Stream), writes(Target::Memory("trf"))]),
    verify: Some(|op, _| verify(op)),
    example: "hw.store_trf full, rows 8, row_bytes 4096",
    interfaces: &[Interface(&rngd::LOAD), Interface(&Build::Alone(|op| Ok(Stage::store(read_trf(op)?))))],
    ..OpDecl::BASE
};

/// `hw.store_vrf`.
#[visa_ir::view(StoreVrf)]
pub static STORE_VRF: OpDecl = OpDecl {
    name: "hw.store_vrf",
    summary: "stores the stream in the vector register file",
    doc: "The stream's bytes go to consecutive addresses of the vector register file, from `at` (book 20). In the \
          main context it may end a pass through the Vector Engine, whose stages then read other bytes of the file.",
    constraints: &[
        ("C1", "the bytes are in the vector register file (book 04)"),
        ("C2", "the elements are not i5 or i9, whose sideband bit has no place there (book 19)"),
    ],
    clauses: &[ClauseDecl::required("at", ClauseKind::Int, "Address of the first byte.")],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Stream), writes(Target::Memory("vrf"))]),
    verify: Some(|op, _| vrf_address(op).map(drop)),
    example: "hw.store_vrf at 0",
    interfaces: &[
        Interface(&rngd::KEEP),
        Interface(&Build::After(|op, input| Ok(Stage::store(read_vrf(op, input)?)))),
    ],
    ..OpDecl::BASE
};

struct StoreTrfUnit {
    region: Region,
    rows: u64,
    row_bytes: u64,
    /// True if it is a short command.
    short: bool,
}

/// Returns true if the load that a `hw.store_trf` ends can be a short command (book 18): its fetch reads as many
/// contiguous bytes as are stored, and nothing changes them.
#[must_use]
pub fn contiguous_load(op: OpRef<'_>) -> bool {
    let Some(store) = StoreTrf::cast(op) else { return false };
    let collect = crate::order::before(op).filter(|collect| collect.is(&super::collect::COLLECT));
    let bytes = |bytes: Result<i64, Diagnostic>| u64::try_from(bytes.ok()?).ok();
    let stored =
        bytes(store.rows()).zip(bytes(store.row_bytes())).and_then(|(rows, row)| rows.checked_mul(row));
    let read = collect.and_then(crate::order::before).and_then(contiguous_fetch);
    read.is_some() && read == stored
}

/// The contiguous bytes that a fetch reads, if it leaves them as they are.
#[must_use]
pub fn contiguous_fetch(op: OpRef<'_>) -> Option<u64> {
    let fetch = Fetch::cast(op)?;
    let changes = fetch.mask().ok()?.is_some()
        || fetch.table().ok()?.is_some()
        || fetch.to().ok()?.is_some()
        || fetch.zero().ok()?.is_some();
    if changes { None } else { Some(contiguous(&*fetch.loops().ok()?)) }
}

fn read_trf(op: OpRef<'_>) -> Result<StoreTrfUnit, Diagnostic> {
    let op = StoreTrf::of(op)?;
    let rows = one_of(*op, "C1", ("rows", op.rows()?), &machine(*op).limits.row_counts)?;
    let region = Region::of(op.region()?, rows, &machine(*op));
    let row_bytes = at_least(*op, "C2", ("row_bytes", op.row_bytes()?), 1)?;
    if row_bytes > region.bytes {
        let message = format!(
            "a row gets {}, expected at most {} in this region",
            counted(row_bytes, "byte"),
            region.bytes
        );
        return Err(op.clause_error("C2", "row_bytes", message));
    }
    let short = match op.load()? {
        LoadPath::Short => true,
        LoadPath::Full => false,
    };
    if short && !contiguous_load(*op) {
        let message =
            "a short load, but its fetch is not one contiguous run of the stored elements".to_owned();
        return Err(op.clause_error("C4", "load", message).fix(Some("leave `load short` out".to_owned())));
    }
    Ok(StoreTrfUnit { region, rows, row_bytes, short })
}

impl Unit for StoreTrfUnit {
    fn connect(&self, _machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        let (found, wanted) = (input.packets.saturating_mul(input.packet), self.rows * self.row_bytes);
        if found != wanted {
            let message = format!(
                "the stream is {}, expected {} of {} ({wanted})",
                counted(found, "byte"),
                counted(self.rows, "row"),
                self.row_bytes
            );
            return Err(Mismatch::new("C3", "row_bytes", message));
        }
        Ok(input)
    }

    fn cost(&self, machine: &Machine, input: Flow) -> StageCost {
        let setup = if self.short { 0 } else { machine.timing.trf_load_setup_cycles };
        let latency = 1u64.saturating_add(setup);
        StageCost { engine: Engine::COMMIT, cycles: input.packets, latency, macs: 0, out: input }
    }

    fn assumed(&self) -> Vec<&'static str> {
        if self.short { Vec::new() } else { vec!["timing.trf_load_setup_cycles"] }
    }

    fn bank_use(&self, machine: &Machine, input: Flow) -> Option<BankUse> {
        let bytes = input.packets.saturating_mul(input.packet);
        Some(BankUse::Writes(bytes.div_ceil(machine.memory.trf_bank_width)))
    }

    fn accesses(&self) -> Vec<Access> {
        self.region.accesses(self.rows, 0..self.row_bytes, true)
    }
}

impl Store for StoreTrfUnit {
    fn store(&self, cx: RunCx<'_>, memory: &mut SliceMemory, mut stream: Stream) {
        stream.pass_marks(cx);
        let scale = stream.dtype.wire_scale();
        let row_bytes = self.row_bytes as usize * scale;
        let mut marks = stream.shadow.as_deref().map(|marks| marks.chunks(row_bytes));
        for (row, chunk) in stream.bytes.chunks(row_bytes).enumerate() {
            let marks = marks.as_mut().and_then(Iterator::next);
            for part in self.region.parts(0..self.row_bytes) {
                let at = self.region.at(row as u64, part.start) as usize;
                let own = part.start as usize * scale..part.end as usize * scale;
                let marks = marks.and_then(|marks| marks.get(own.clone()));
                memory.write_trf(stream.dtype, at, &chunk[own], marks);
            }
        }
    }
}

struct StoreVrfUnit {
    at: u64,
    /// Bytes of the stream.
    bytes: u64,
}

fn vrf_address(op: OpRef<'_>) -> Result<u64, Diagnostic> {
    let op = StoreVrf::of(op)?;
    at_least(*op, "C1", ("at", op.at()?), 0)
}

fn read_vrf(op: OpRef<'_>, input: &Wire) -> Result<StoreVrfUnit, Diagnostic> {
    Ok(StoreVrfUnit { at: vrf_address(op)?, bytes: super::exec::bytes(op, "C1", input)? })
}

impl Unit for StoreVrfUnit {
    fn stores_apart(&self) -> bool {
        true
    }

    fn connect(&self, machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        input.stored("C2", "at")?;
        let capacity = machine.memory.vrf_bytes;
        let end = input.bytes().and_then(|bytes| bytes.checked_add(self.at));
        if end.is_none_or(|end| end > capacity) {
            let message = format!(
                "{} of {} at {} end past the register file's {}",
                counted(input.packets, "packet"),
                counted(input.packet, "byte"),
                self.at,
                counted(capacity, "byte"),
            );
            return Err(Mismatch::new("C1", "at", message));
        }
        Ok(input)
    }

    fn cost(&self, _machine: &Machine, input: Flow) -> StageCost {
        StageCost { engine: Engine::COMMIT, cycles: input.packets, latency: 1, macs: 0, out: input }
    }

    fn accesses(&self) -> Vec<Access> {
        vec![Access { space: Space::Vrf, write: true, range: self.at..self.at.saturating_add(self.bytes) }]
    }
}

impl Store for StoreVrfUnit {
    fn store(&self, cx: RunCx<'_>, memory: &mut SliceMemory, mut stream: Stream) {
        stream.pass_marks(cx);
        memory.vrf.write(self.at as usize, &stream.bytes);
        if let Some(marks) = &stream.shadow {
            memory.vrf.write_shadow(self.at as usize, marks);
        }
    }
}
