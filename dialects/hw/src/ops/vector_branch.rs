//! `hw.vector_branch`: gives every element of a stream its execution id (book 21).

use crate::attrs::{COMPARISONS, PROGRAM};
use crate::build::{Build, verify};
use crate::clauses::given;
use crate::vrf::RegisterFile;
use crate::ways::way_bytes;
use visa_engine::place::{Station, rngd};
use visa_engine::shadow::Shadow;
use visa_engine::{
    Access, Engine, Flow, Map, Mismatch, RunCx, SliceMemory, Stage, StageCost, Stream, Unit, Wire,
};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_ir::words;
use visa_loops::Program;
use visa_machine::Machine;
use visa_numerics::{Bits, Comparisons, DType, VectorStage};

/// The bits of an execution id.
const ID_BITS: usize = 4;
/// The bit that the toggle sets: bit 3, the group.
const GROUP: u8 = 1 << 3;

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&VECTOR_BRANCH];

words! {
    /// The source of execution ids.
    pub enum IdSource {
        /// The position in the stream.
        Toggle = "toggle",
        /// The valid counts of packets.
        ValidCount = "valid_count",
        /// Comparisons of the elements.
        Comparison = "comparison",
        /// The vector register file.
        Vrf = "vrf",
    }
}

/// `hw.vector_branch`.
#[visa_ir::view(VectorBranch)]
pub static VECTOR_BRANCH: OpDecl = OpDecl {
    name: "hw.vector_branch",
    summary: "gives every element its execution id",
    doc: "An execution id has 4 bits; without this operation they are 0. `toggle` sets bit 3, the group, from the \
          element's position in the stream: for each pair of numbers d and n the parity of position / d % n, and \
          the group is whether an odd number of them is odd. `valid_count` sets bit 0 of elements within the valid \
          count of their packet, `comparison` each bit by comparing the element, and `vrf` takes the low 4 bits of \
          the vector register file's output, a packet at a time (book 21).",
    constraints: &[
        ("C1", "`toggle`, `compare` and `vrf` are there in their modes and in no other"),
        ("C2", "`toggle` is pairs of at least 1 and at least 2"),
        ("C3", "there are 4 comparisons at most"),
        (
            "C4",
            "the loops fit the sequencer, with accesses of one packet (book 07), or of a power of two of its \
             elements, repeated (w)",
        ),
        ("C5", "every address is in the vector register file (book 04)"),
        ("C6", "the loops make one access for each packet"),
        ("C7", "a packet is 8 elements of i32 or f32 (book 21)"),
    ],
    clauses: &[
        ClauseDecl::lead("mode", ClauseKind::word::<IdSource>(), "Where ids come from."),
        ClauseDecl::optional("toggle", ClauseKind::Ints, "Elements between two steps, steps; and so on."),
        ClauseDecl::optional(
            "compare",
            ClauseKind::body::<Comparisons<i32>>(&COMPARISONS),
            "Conditions that set the bits, bit 0 first.",
        ),
        ClauseDecl::optional(
            "vrf",
            ClauseKind::body::<Program>(&PROGRAM),
            "Addresses in the vector register file, bytes.",
        ),
    ],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[
        reads(Target::Stream),
        reads(Target::Memory("vrf")).with("vrf"),
        writes(Target::Stream),
    ]),
    verify: Some(|op, _| verify(op)),
    example: "hw.vector_branch comparison, compare [less 0, greater 255]",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Build::Alone(|op| Ok(Stage::map(read(op)?)))),
        Interface(&Station::At(VectorStage::Branch)),
    ],
    ..OpDecl::BASE
};

enum Mode {
    /// Distances and steps.
    Toggle(Vec<[u64; 2]>),
    ValidCount,
    Comparison(Comparisons<Bits>),
    Vrf(RegisterFile),
}

struct VectorBranchUnit {
    mode: Mode,
}

fn read(op: OpRef<'_>) -> Result<VectorBranchUnit, Diagnostic> {
    let op = VectorBranch::of(op)?;
    let word = op.mode()?;
    let (toggles, compare, vrf) = (op.toggle()?, op.compare()?, op.vrf()?);
    for (clause, owner, found) in [
        ("toggle", IdSource::Toggle, toggles.is_some()),
        ("compare", IdSource::Comparison, compare.is_some()),
        ("vrf", IdSource::Vrf, vrf.is_some()),
    ] {
        if found != (word == owner) {
            let what = if word == owner { "needs" } else { "has no" };
            return Err(op.error("C1", format!("`{word}` {what} clause `{clause}`")));
        }
    }
    let mode = match word {
        IdSource::Toggle => Mode::Toggle(toggle(*op, &given(*op, "C1", ("toggle", toggles))?)?),
        IdSource::Comparison => {
            Mode::Comparison(comparisons(*op, &*given(*op, "C1", ("compare", compare))?)?)
        }
        IdSource::Vrf => Mode::Vrf(RegisterFile::of(*op, ("vrf", given(*op, "C1", ("vrf", vrf))?))?),
        IdSource::ValidCount => Mode::ValidCount,
    };
    Ok(VectorBranchUnit { mode })
}

fn toggle(op: OpRef<'_>, numbers: &[i64]) -> Result<Vec<[u64; 2]>, Diagnostic> {
    let (pairs, rest) = numbers.as_chunks::<2>();
    if pairs.is_empty() || !rest.is_empty() || pairs.iter().any(|&[apart, limit]| apart < 1 || limit < 2) {
        let message = format!("`toggle` is {numbers:?}, expected pairs of at least 1 and at least 2");
        return Err(op.clause_error("C2", "toggle", message));
    }
    Ok(pairs.iter().map(|pair| pair.map(i64::cast_unsigned)).collect())
}

fn comparisons(op: OpRef<'_>, written: &Comparisons<i32>) -> Result<Comparisons<Bits>, Diagnostic> {
    if written.0.len() > ID_BITS {
        let message = format!("{}, expected {ID_BITS} at most", counted(written.0.len(), "comparison"));
        return Err(op.clause_error("C3", "compare", message));
    }
    written.try_map(|value| Ok(value.cast_unsigned()))
}

/// The group of the element at `position`.
fn group(toggles: &[[u64; 2]], position: u64) -> u8 {
    let odd = toggles.iter().filter(|[apart, limit]| position / apart % limit % 2 == 1).count();
    if odd % 2 == 1 { GROUP } else { 0 }
}

/// Bit 0 for the elements of each packet within its valid count; no counts: all are.
fn valid(counts: &[u8], elements: usize, lanes: usize) -> Vec<u8> {
    let within = |at: usize| counts.get(at / lanes).is_none_or(|&count| at % lanes < usize::from(count));
    (0..elements).map(|at| u8::from(within(at))).collect()
}

impl VectorBranchUnit {
    fn ids(&self, memory: &SliceMemory, stream: &Stream) -> Vec<u8> {
        let (elements, _) = stream.bytes.as_chunks::<4>();
        match &self.mode {
            Mode::Toggle(toggles) => (0..elements.len() as u64).map(|at| group(toggles, at)).collect(),
            Mode::ValidCount => {
                let counts = stream.lanes.as_ref().map_or(&[][..], |lanes| &lanes.valid);
                valid(counts, elements.len(), (stream.packet / 4).max(1))
            }
            Mode::Comparison(comparisons) => elements
                .iter()
                .map(|element| comparisons.id(stream.dtype, Bits::from_le_bytes(*element)))
                .collect(),
            Mode::Vrf(file) => file.words(memory, stream.packet).chunks(4).map(|word| word[0] & 15).collect(),
        }
    }

    /// The marks of the ids: those of their sources.
    fn marks(&self, memory: &SliceMemory, stream: &Stream) -> Vec<Shadow> {
        match &self.mode {
            Mode::Toggle(_) | Mode::ValidCount => Vec::new(),
            Mode::Comparison(_) => {
                let marks = stream.shadow.as_deref().unwrap_or_default();
                marks.chunks(4).map(Shadow::all).collect()
            }
            Mode::Vrf(file) => file.marks(memory, stream.packet).chunks(4).map(Shadow::all).collect(),
        }
    }
}

impl Unit for VectorBranchUnit {
    fn connect(&self, machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        let wanted = way_bytes(VectorStage::Branch, machine);
        if input.packet != wanted || !matches!(input.dtype, DType::I32 | DType::F32) {
            let message = format!(
                "found packets of {} of {}, expected {} of i32 or f32",
                counted(input.packet, "byte"),
                input.dtype,
                counted(wanted, "byte")
            );
            return Err(Mismatch::new("C7", "mode", message));
        }
        match &self.mode {
            Mode::Vrf(file) => file.check("vrf", &input)?,
            Mode::Toggle(_) | Mode::ValidCount | Mode::Comparison(_) => {}
        }
        Ok(input)
    }

    fn cost(&self, _machine: &Machine, input: Flow) -> StageCost {
        StageCost { engine: Engine::VECTOR, cycles: input.packets, latency: 0, macs: 0, out: input }
    }

    fn accesses(&self) -> Vec<Access> {
        match &self.mode {
            Mode::Vrf(file) => vec![file.access(false)],
            Mode::Toggle(_) | Mode::ValidCount | Mode::Comparison(_) => Vec::new(),
        }
    }
}

impl Map for VectorBranchUnit {
    fn run(&self, cx: RunCx<'_>, memory: &SliceMemory, mut input: Stream) -> Stream {
        let ids = self.ids(memory, &input);
        let mut id_marks = if cx.shadow.is_some() { self.marks(memory, &input) } else { Vec::new() };
        if let Some(mut marker) = cx.marker() {
            marker.through_all(&mut id_marks);
        }
        input.pass_marks(cx);
        let lanes = input.lanes.get_or_insert_default();
        (lanes.ids, lanes.id_marks) = (ids, id_marks);
        input
    }
}
