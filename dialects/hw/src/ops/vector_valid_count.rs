//! `hw.vector_valid_count`: the Valid Count Generator at the entry of the Vector Engine (book 24).

use crate::attrs::{COUNTERS, GATES};
use crate::build::{Build, KnowsSlices, verify};
use crate::clauses::{at_least, machine};
use crate::valid_count::{CountDim, Counters, Gates, ValidCount};
use crate::ways::way_bytes;
use visa_engine::place::{Station, rngd};
use visa_engine::{Engine, Flow, Map, Mismatch, RunCx, SliceMemory, Stage, StageCost, Stream, Unit, Wire};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_machine::Machine;
use visa_numerics::VectorStage;

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&VECTOR_VALID_COUNT];

/// `hw.vector_valid_count`.
#[visa_ir::view(VectorValidCount)]
pub static VECTOR_VALID_COUNT: OpDecl = OpDecl {
    name: "hw.vector_valid_count",
    summary: "counts the valid leading elements of each packet",
    doc: "The elements go on unchanged; each packet is accompanied by its valid count, from 0 to 8, by which the \
          reduction within the slice leaves out padding (book 24). The count is min(stride, max(0, packet - index)) \
          of the packet dimension, with the stride of its innermost counter, or 8 where it has no counter; and 0 \
          where a gate is closed. A gate sees the slice's number within its cluster. Counters count packets, \
          outermost first.",
    constraints: &[
        ("C1", "packets of 8 elements of 32 bits (book 24)"),
        ("C2", "at most 8 counters, of limits from 1 to 65536, which together count the packets (book 24)"),
        ("C3", "at most 3 gates; a counter's dimension is `p` or one of them (book 24)"),
        (
            "C4",
            "`packet` is given if a counter has the dimension `p`, and then only; the innermost such stride is 1 \
             to 8 (book 24)",
        ),
        ("C5", "`mask` has no bit that no slice number of a cluster has"),
    ],
    clauses: &[
        ClauseDecl::required(
            "counters",
            ClauseKind::body::<Counters>(&COUNTERS),
            "The counters, outermost first.",
        ),
        ClauseDecl::optional("packet", ClauseKind::Int, "Valid elements along the packet dimension."),
        ClauseDecl::optional("gates", ClauseKind::body::<Gates>(&GATES), "The gates, from `g0` on."),
    ],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Stream), writes(Target::Stream)]),
    verify: Some(|op, _| verify(op)),
    example: "hw.vector_valid_count counters [2 : 1 g0, 3 : 8 p], packet 19, gates [mask 0x3 match 2 valid 1]",
    interfaces: &[
        Interface(&KnowsSlices(|_| true)),
        Interface(&rngd::VECTOR),
        Interface(&Build::Alone(|op| Ok(Stage::map(read(op)?)))),
        Interface(&Station::At(VectorStage::Branch)),
    ],
    ..OpDecl::BASE
};

struct VectorValidCountUnit {
    generator: ValidCount,
}

fn read(op: OpRef<'_>) -> Result<VectorValidCountUnit, Diagnostic> {
    let op = VectorValidCount::of(op)?;
    let gates = op.gates()?.map_or_else(Gates::default, |gates| (*gates).clone());
    let counters = (*op.counters()?).clone();
    let packet = op.packet()?.map(|packet| at_least(*op, "C4", ("packet", packet), 0)).transpose()?;
    let generator = ValidCount { counters, packet, gates };
    let machine = machine(*op);
    check_counters(*op, &generator, &machine)?;
    check_packet(*op, &generator, &machine)?;
    check_gates(*op, &generator.gates, &machine)?;
    Ok(VectorValidCountUnit { generator })
}

/// C2 and C3.
fn check_counters(op: OpRef<'_>, generator: &ValidCount, machine: &Machine) -> Result<(), Diagnostic> {
    let (counters, limits) = (&generator.counters.0, &machine.limits);
    let error = |constraint, message| Err(op.clause_error(constraint, "counters", message));
    if counters.len() as u64 > limits.valid_count_counters {
        let message = format!(
            "{}, expected at most {}",
            counted(counters.len(), "counter"),
            limits.valid_count_counters
        );
        return error("C2", message);
    }
    for counter in counters {
        if !(1..=limits.sequencer_limit).contains(&counter.limit) {
            let message =
                format!("a counter's limit is {}, expected 1 to {}", counter.limit, limits.sequencer_limit);
            return error("C2", message);
        }
        if let Some(CountDim::Gate(gate)) = counter.dim
            && gate >= generator.gates.0.len()
        {
            return error(
                "C3",
                format!("a counter belongs to `g{gate}`, of {} gate(s)", generator.gates.0.len()),
            );
        }
    }
    Ok(())
}

/// C4.
fn check_packet(op: OpRef<'_>, generator: &ValidCount, machine: &Machine) -> Result<(), Diagnostic> {
    let given = generator.packet.is_some();
    let lanes = machine.limits.vector_lanes;
    let error = |message| Err(op.clause_error("C4", "packet", message));
    match generator.packet_stride() {
        Some(_) if !given => error("`packet` is missing: a counter has the dimension `p`".to_owned()),
        None if given => error("`packet` without a counter of the dimension `p`".to_owned()),
        Some(stride) if !(1..=lanes).contains(&stride) => {
            error(format!("the innermost counter of `p` has stride {stride}, expected 1 to {lanes}"))
        }
        Some(_) | None => Ok(()),
    }
}

/// C3 and C5.
fn check_gates(op: OpRef<'_>, gates: &Gates, machine: &Machine) -> Result<(), Diagnostic> {
    let error = |constraint, message| Err(op.clause_error(constraint, "gates", message));
    let most = machine.limits.valid_count_gates;
    if gates.0.len() as u64 > most {
        return error("C3", format!("{}, expected at most {most}", counted(gates.0.len(), "gate")));
    }
    let bits = machine.topology.slices_per_cluster.next_power_of_two() - 1;
    match gates.0.iter().find(|gate| gate.mask & !bits != 0) {
        None => Ok(()),
        Some(gate) => error("C5", format!("mask {:#x} has bits outside {bits:#x}", gate.mask)),
    }
}

impl Unit for VectorValidCountUnit {
    fn connect(&self, machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        let wide = way_bytes(VectorStage::Branch, machine);
        if input.packet != wide || input.dtype.bits() != 32 {
            let message = format!(
                "found packets of {} of {}, expected {} of i32 or f32",
                counted(input.packet, "byte"),
                input.dtype,
                counted(wide, "byte")
            );
            return Err(Mismatch::new("C1", "counters", message));
        }
        let limits = self.generator.counters.0.iter().map(|counter| counter.limit);
        let steps = limits.into_iter().try_fold(1_u64, u64::checked_mul);
        if steps == Some(input.packets) {
            return Ok(input);
        }
        let steps = steps.map_or_else(|| "too many packets".to_owned(), |steps| counted(steps, "packet"));
        let message = format!("the counters count {steps}, found {}", input.packets);
        Err(Mismatch::new("C2", "counters", message))
    }

    /// It works in parallel with the elements.
    fn cost(&self, _machine: &Machine, input: Flow) -> StageCost {
        StageCost { engine: Engine::VECTOR, cycles: input.packets, latency: 0, macs: 0, out: input }
    }
}

impl Map for VectorValidCountUnit {
    fn run(&self, cx: RunCx<'_>, _memory: &SliceMemory, mut input: Stream) -> Stream {
        input.pass_marks(cx);
        let slice = cx.slice as u64 % cx.machine.topology.slices_per_cluster;
        let counts = self.generator.counts(slice, cx.machine.limits.vector_lanes);
        input.lanes.get_or_insert_default().valid = counts;
        input
    }
}
