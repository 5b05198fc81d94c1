//! `hw.vector_inter_reduce`: the inter-slice block of the Vector Engine (book 25).

use crate::build::{Build, KnowsSlices, verify};
use crate::clauses::{at_least, machine};
use crate::route::Pick;
use crate::ways::way_bytes;
use std::ops::Range;
use visa_engine::place::rngd;
use visa_engine::shadow::Shadow;
use visa_engine::{Engine, Exchange, Flow, Mismatch, RunCx, Stage, StageCost, Stream, Unit, Wire};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_machine::Machine;
use visa_numerics::{Bits, DType, ReduceName, ReduceOp, VectorStage, reduce_op};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&VECTOR_INTER_REDUCE];

/// `hw.vector_inter_reduce`.
#[visa_ir::view(VectorInterReduce)]
pub static VECTOR_INTER_REDUCE: OpDecl = OpDecl {
    name: "hw.vector_inter_reduce",
    summary: "reduces the streams of groups of slices to one",
    doc: "The slices of a group differ in no other bits of their numbers than those of `bits`. Element by \
          element, their packets are reduced to one, in the order of the slices: that of the first with that of \
          the second, the result with that of the third, and so on (docs/numerics.md). Every slice of the group \
          receives the result; one that is not active gives packets of zeros.\n\n\
          With `parts`, a slice receives a part of the time only: time is [outer, parts, packets], and slice n \
          receives the packets of part n / width % parts.\n\n\
          Execution ids, valid counts and the stash end here.",
    constraints: &[
        ("C1", "`bits` is at least one bit of a slice's number within its cluster (book 25)"),
        (
            "C2",
            "parts, packets and width are all there or none; parts and width are powers of two, parts at least 2",
        ),
        (
            "C3",
            "the bits that number the parts, width * (parts - 1), are among `bits`: a group's slices together \
             keep all packets",
        ),
        ("C4", "the operation works on the stream's format (book 25)"),
        ("C5", "a packet is 8 elements (book 25)"),
        ("C6", "parts * packets divides the packets that flow in"),
    ],
    clauses: &[
        ClauseDecl::lead("op", ClauseKind::word::<ReduceName>(), "How two elements become one."),
        ClauseDecl::required(
            "bits",
            ClauseKind::Int,
            "The bits in which the numbers of a group's slices differ.",
        ),
        ClauseDecl::optional("parts", ClauseKind::Int, "Parts of the time, of which a slice receives one."),
        ClauseDecl::optional("packets", ClauseKind::Int, "Consecutive packets of a part."),
        ClauseDecl::optional("width", ClauseKind::Int, "Neighbouring slices that receive the same part."),
    ],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Stream), writes(Target::Stream)]),
    verify: Some(|op, _| verify(op)),
    example: "hw.vector_inter_reduce Add, bits 3",
    interfaces: &[
        Interface(&KnowsSlices(|_| true)),
        Interface(&rngd::VECTOR),
        Interface(&Build::Alone(|op| Ok(Stage::exchange(read(op)?)))),
    ],
    ..OpDecl::BASE
};

struct InterReduce {
    name: ReduceName,
    /// The bits in which the slices of a group differ.
    bits: usize,
    pick: Option<Pick>,
}

fn read(op: OpRef<'_>) -> Result<InterReduce, Diagnostic> {
    let op = VectorInterReduce::of(op)?;
    let slices = machine(*op).topology.slices_per_cluster;
    let bits = at_least(*op, "C1", ("bits", op.bits()?), 1)?;
    if bits >= slices {
        let message = format!(
            "`bits` is {bits}, expected 1 to {}: a cluster has {}",
            slices - 1,
            counted(slices, "slice")
        );
        return Err(op.clause_error("C1", "bits", message));
    }
    let pick = pick(op, bits)?;
    Ok(InterReduce { name: op.op()?, bits: bits as usize, pick })
}

/// C2 and C3.
fn pick(op: VectorInterReduce<'_>, bits: u64) -> Result<Option<Pick>, Diagnostic> {
    let clauses = [("parts", op.parts()?), ("packets", op.packets()?), ("width", op.width()?)];
    let Some((first, _)) = clauses.iter().find(|(_, value)| value.is_some()) else { return Ok(None) };
    let [parts, packets, width] = clauses.map(|(clause, value)| {
        let message = || format!("`{first}` is there, but `{clause}` is not");
        value.map(|value| (clause, value)).ok_or_else(|| op.clause_error("C2", first, message()))
    });
    let (parts, packets, width) = (parts?, packets?, width?);
    let packets = at_least(*op, "C2", packets, 1)?;
    let (parts, width) = (power(*op, parts, 2)?, power(*op, width, 1)?);
    let numbering = width.checked_mul(parts - 1).filter(|numbering| numbering & !bits == 0);
    if numbering.is_none() {
        let message = format!(
            "{} of {} are numbered by other bits than `bits`, {bits}",
            counted(parts, "part"),
            counted(width, "neighbouring slice")
        );
        return Err(op.clause_error("C3", "parts", message));
    }
    Ok(Some(Pick { parts: parts as usize, packets: packets as usize, width: width as usize }))
}

fn power(op: OpRef<'_>, (clause, value): (&str, i64), least: u64) -> Result<u64, Diagnostic> {
    let value = at_least(op, "C2", (clause, value), least)?;
    if value.is_power_of_two() {
        return Ok(value);
    }
    Err(op.clause_error("C2", clause, format!("`{clause}` is {value}, expected a power of two")))
}

impl InterReduce {
    /// Parts of the time, of which a slice receives one.
    fn parts(&self) -> u64 {
        self.pick.map_or(1, |pick| pick.parts as u64)
    }

    /// The slices of the group of `slice`, in order, out of `slices`.
    fn group(&self, slice: usize, slices: usize) -> impl Iterator<Item = usize> + Clone {
        let bits = self.bits;
        (0..slices).filter(move |member| (member ^ slice) & !bits == 0)
    }

    /// Slices of the smallest ring of neighbours that holds a group.
    fn slices(&self) -> u64 {
        (self.bits as u64 + 1).next_power_of_two()
    }

    /// The ranges, in items, that `slice` receives of `count` packets of `size` items each.
    fn received(&self, slice: usize, count: usize, size: usize) -> Vec<Range<usize>> {
        let whole = Pick { parts: 1, packets: count.max(1), width: 1 };
        let Pick { parts, packets, width } = self.pick.unwrap_or(whole);
        let own = slice / width % parts;
        let range = |outer: usize| (outer * parts + own) * packets * size;
        (0..count / (parts * packets)).map(range).map(|start| start..start + packets * size).collect()
    }
}

/// The element that a slice that is not active gives.
const ABSENT: Bits = 0;

/// Reduces `other` into `result`, element by element.
fn reduce(op: &ReduceOp, result: &mut [u8], other: Option<&[u8]>) {
    let (results, _) = result.as_chunks_mut::<4>();
    let (others, _) = other.unwrap_or(&[]).as_chunks::<4>();
    let others = others.iter().map(|other| Bits::from_le_bytes(*other)).chain(std::iter::repeat(ABSENT));
    for (result, other) in results.iter_mut().zip(others) {
        *result = (op.apply)(Bits::from_le_bytes(*result), other).to_le_bytes();
    }
}

/// The bytes or marks of these ranges, one after the other.
fn gathered<T: Copy>(items: &[T], ranges: &[Range<usize>]) -> Vec<T> {
    ranges.iter().filter_map(|range| items.get(range.clone())).flatten().copied().collect()
}

impl Unit for InterReduce {
    fn connect(&self, machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        if reduce_op(self.name, input.dtype).is_none() {
            let able = DType::all().filter(|&dtype| reduce_op(self.name, dtype).is_some()).map(DType::name);
            let able = able.collect::<Vec<_>>().join(" and ");
            let message = format!("{} works on {able}, the stream's elements are {}", self.name, input.dtype);
            return Err(Mismatch::new("C4", "op", message));
        }
        let wanted = way_bytes(VectorStage::Branch, machine);
        if input.packet != wanted {
            let message = format!("found packets of {}, expected {wanted}", counted(input.packet, "byte"));
            return Err(Mismatch::new("C5", "op", message));
        }
        let step = self.pick.map_or(Some(1), |pick| (pick.parts as u64).checked_mul(pick.packets as u64));
        if step.is_none_or(|step| !input.packets.is_multiple_of(step)) {
            let message = format!("parts * packets does not divide {}", counted(input.packets, "packet"));
            return Err(Mismatch::new("C6", "parts", message));
        }
        Ok(Wire { packets: input.packets / self.parts(), stash: None, ..input })
    }

    fn ring(&self) -> u64 {
        self.slices()
    }

    /// Book 25: the input streams in, and the way along the ring comes on top.
    fn cost(&self, machine: &Machine, input: Flow) -> StageCost {
        let latency = self.slices().saturating_mul(machine.timing.inter_slice_cycles);
        let out = Flow { packets: input.packets / self.parts(), ..input };
        StageCost { engine: Engine::VECTOR, cycles: input.packets, latency, macs: 0, out }
    }

    fn assumed(&self) -> Vec<&'static str> {
        vec!["timing.inter_slice_cycles"]
    }
}

impl Exchange for InterReduce {
    fn exchange(&self, cx: RunCx<'_>, inputs: &[Stream], slice: usize) -> Option<Stream> {
        let members = || self.group(slice, inputs.len()).map(|member| &inputs[member]);
        let model = members().find(|member| !member.bytes.is_empty())?;
        let op = reduce_op(self.name, model.dtype)?;
        let ranges = self.received(slice, model.bytes.len() / model.packet, model.packet);
        let length = ranges.iter().map(ExactSizeIterator::len).sum();
        let given = |member: &Stream| (!member.bytes.is_empty()).then(|| gathered(&member.bytes, &ranges));
        let mut streams = members().map(given);
        let mut bytes = streams.next().flatten().unwrap_or_else(|| vec![0; length]);
        streams.for_each(|other| reduce(op, &mut bytes, other.as_deref()));
        let shadow = cx.marker().map(|mut marker| {
            let mut marks = vec![Shadow::DEFINED; length];
            for member in members() {
                let own = member.shadow.as_deref().map(|marks| gathered(marks, &ranges));
                let own = own.filter(|own| own.len() == length);
                let own = own.unwrap_or_else(|| vec![Shadow::NEVER_WRITTEN; length]);
                marks.iter_mut().zip(own).for_each(|(mark, own)| *mark = mark.or(own));
            }
            for element in marks.chunks_mut(4) {
                element.fill(marker.through(Shadow::all(element)));
            }
            marks
        });
        Some(Stream { packet: model.packet, bytes, shadow, ..Stream::empty(model.dtype) })
    }
}
