//! Runs of the Tensor Unit: every active slice, in parallel.

use std::collections::BTreeMap;
use std::ops::Range;

use rayon::prelude::*;
use visa_engine::shadow::ShadowLog;
use visa_engine::{Bank, Flow, RunCx, SliceMemory, Space, Stage, Stream};
use visa_hw::program::{Exec, PlacedStage};
use visa_machine::Machine;
use visa_numerics::DType;

use crate::error::RunError;
use crate::memory::{Memories, resident};

/// Most threads of a run. The memory bound counts this many slices at work, for any number of threads.
pub const MAX_THREADS: usize = 64;

/// Common context of all stages of a command.
#[derive(Clone, Copy)]
pub(crate) struct ExecCx<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) log: Option<&'a ShadowLog>,
    /// The chip that it runs on.
    pub(crate) chip: usize,
    /// Number of the first stage; the others follow.
    pub(crate) first_op: u32,
    /// The iteration of each loop around the command, the outermost first.
    pub(crate) indices: &'a [u64],
}

impl<'a> ExecCx<'a> {
    /// For stage `number` in slice `slice`.
    fn stage(self, stage: &PlacedStage, number: usize, slice: usize) -> RunCx<'a> {
        RunCx {
            machine: self.machine,
            shadow: self.log,
            op: self.first_op + number as u32,
            chip: self.chip,
            slice,
            moved: stage.steps.at(self.indices),
        }
    }
}

type Stages = [PlacedStage];

/// Runs a command on every chip. Slices do not share their sums, so the order of threads cannot show.
pub(crate) fn run(exec: &Exec, memories: &mut Memories, cx: ExecCx<'_>) {
    for (chip, slices) in memories.chips.iter_mut().enumerate() {
        let cx = ExecCx { chip, ..cx };
        let mut exchange = None;
        for (at, _) in exec.stages.iter().enumerate().filter(|(_, stage)| stage.as_exchange().is_some()) {
            exchange = Some(Exchange { at, inputs: streams(exec, exchange.as_ref(), at, slices, cx) });
        }
        let all = slices.par_iter_mut().enumerate();
        all.filter(|(slice, _)| stores(exec, *slice, cx)).for_each(|(slice, memory)| {
            let (first, input) = Exchange::received(exchange.as_ref(), exec, slice, cx);
            finish(&exec.stages, first, (slice, memory), input, cx);
        });
    }
}

/// Runs a command without exchange in one slice.
pub(crate) fn run_slice(exec: &Exec, slice: usize, memory: &mut SliceMemory, cx: ExecCx<'_>) {
    if stores(exec, slice, cx) {
        finish(&exec.stages, 0, (slice, memory), empty(), cx);
    }
}

/// Returns true if slices exchange data.
pub(crate) fn exchanges(exec: &Exec) -> bool {
    exec.stages.iter().any(|stage| stage.as_exchange().is_some())
}

/// A stage that exchanges data between slices. It needs every slice's stream before it gives any.
struct Exchange {
    /// The stage's number.
    at: usize,
    /// The stream of each slice into it.
    inputs: Vec<Stream>,
}

impl Exchange {
    /// The number of the stage after an exchange, the first if there is none, and its input stream in a slice.
    fn received(exchange: Option<&Self>, exec: &Exec, slice: usize, cx: ExecCx<'_>) -> (usize, Stream) {
        let Some(Self { at, inputs }) = exchange else { return (0, empty()) };
        let unit = exec.stages[*at].as_exchange();
        let received =
            unit.and_then(|unit| unit.exchange(cx.stage(&exec.stages[*at], *at, slice), inputs, slice));
        (at + 1, received.unwrap_or_else(empty))
    }
}

/// The output stream of each slice, from one exchange up to the stage number `end`.
fn streams(
    exec: &Exec,
    from: Option<&Exchange>,
    end: usize,
    slices: &[SliceMemory],
    cx: ExecCx<'_>,
) -> Vec<Stream> {
    let stream = |(slice, memory): (usize, &SliceMemory)| {
        if !is_active(&exec.slices, slice, exec.steps.at(cx.indices)) {
            return empty();
        }
        let (first, input) = Exchange::received(from, exec, slice, cx);
        transform(&exec.stages[first..end], first, (slice, memory), input, cx)
    };
    slices.par_iter().enumerate().map(stream).collect()
}

/// Returns true if the last stage stores into a slice. The streams of the other slices are unused.
fn stores(exec: &Exec, slice: usize, cx: ExecCx<'_>) -> bool {
    let stored = exec.stages.last().and_then(|last| last.stored_slices()).unwrap_or(&exec.slices);
    is_active(stored, slice, exec.steps.at(cx.indices))
}

/// Runs the stages from number `first` on and lets the last one store.
fn finish(
    stages: &Stages,
    first: usize,
    (slice, memory): (usize, &mut SliceMemory),
    input: Stream,
    cx: ExecCx<'_>,
) {
    if let Some((last, inner)) = stages[first..].split_last() {
        let mut stream = input;
        for (stage, number) in inner.iter().zip(first..) {
            stream = map(stage, cx.stage(stage, number, slice), memory, stream);
            if let Some(written) = stream.lanes.as_mut().and_then(|lanes| lanes.written.take()) {
                memory.vrf = written;
            }
        }
        if let Some(unit) = last.as_store() {
            unit.store(cx.stage(last, stages.len() - 1, slice), memory, stream);
        }
    }
}

/// Sends a stream through `stages`, of which the first has the number `first`.
fn transform(
    stages: &Stages,
    first: usize,
    (slice, memory): (usize, &SliceMemory),
    input: Stream,
    cx: ExecCx<'_>,
) -> Stream {
    let numbered = stages.iter().zip(first..);
    numbered.fold(input, |stream, (stage, number)| map(stage, cx.stage(stage, number, slice), memory, stream))
}

/// The result of a stage for one slice's stream. Stages that exchange or store are at the end of such a part, and are
/// not called.
fn map(stage: &Stage, cx: RunCx<'_>, memory: &SliceMemory, stream: Stream) -> Stream {
    match stage.as_map() {
        Some(unit) => unit.run(cx, memory, stream),
        None => stream,
    }
}

/// Returns true if a slice is among those that are active in the first iteration, `moved` slices further.
fn is_active(active: &[Range<usize>], slice: usize, moved: i64) -> bool {
    let first = i64::try_from(slice).ok().and_then(|slice| usize::try_from(slice.checked_sub(moved)?).ok());
    first.is_some_and(|slice| active.iter().any(|range| range.contains(&slice)))
}

/// The input of the fetch, and the stream that a slice without part in the command gives to the switch: the format
/// does not matter.
fn empty() -> Stream {
    Stream::empty(DType::I8)
}

/// Reserves the bytes that the command's stores will add to the memories in an iteration of the enclosing loops, in
/// addition to those of `growth`, and checks that its streams fit too. The check counts [`MAX_THREADS`] slices at
/// work, so that it does not depend on the number of threads.
pub(crate) fn reserve(
    exec: &Exec,
    memories: &mut Memories,
    (machine, indices): (&Machine, &[u64]),
    growth: &mut Growth,
) -> Result<(), RunError> {
    let mut reaches = Vec::new();
    let ends = |stage: &PlacedStage, space: Space| {
        let writes = stage.accesses().into_iter().filter(|access| access.write && access.space == space);
        let moved = stage.steps.at(indices);
        writes.map(|access| access.range.end.saturating_add_signed(moved)).max()
    };
    let moved = exec.steps.at(indices) as isize;
    for space in [Space::DM, Space::Trf, Space::Vrf] {
        let end = exec.stages.iter().filter_map(|stage| ends(stage, space)).max().unwrap_or(0);
        let slices = exec.slices.iter().cloned().flatten().map(|slice| slice.saturating_add_signed(moved));
        reaches.extend(slices.map(|slice| ((space, slice), end)));
    }
    let active = exec.slices.iter().map(ExactSizeIterator::len).sum::<usize>() as u64;
    growth.take(memories, &reaches, stream_bytes(exec, machine, active))
}

/// Highest bytes that commands write in the memories of each slice, of every chip alike.
#[derive(Debug, Default)]
pub(crate) struct Growth(BTreeMap<(Space, usize), u64>);

impl Growth {
    /// Reserves the memory of writes with these ends, of a place each, and checks that `streams` more bytes fit for a
    /// while. An error reserves nothing.
    pub(crate) fn take(
        &mut self,
        memories: &mut Memories,
        reaches: &[((Space, usize), u64)],
        streams: u64,
    ) -> Result<(), RunError> {
        let held = |chip: &[SliceMemory], (space, slice): (Space, usize)| {
            let bank = chip.get(slice).map_or(u64::MAX, |memory| bank(memory, space).bytes().len() as u64);
            bank.max(self.0.get(&(space, slice)).copied().unwrap_or(0))
        };
        let more = |chip: &Vec<SliceMemory>| {
            let more = reaches.iter().map(|&(place, end)| end.saturating_sub(held(chip, place)));
            more.fold(0, u64::saturating_add)
        };
        let bytes = memories.chips.iter().map(more).fold(0, u64::saturating_add);
        memories.budget.check(resident(bytes, memories.shadow))?;
        memories.budget.check(resident(bytes.saturating_add(streams), memories.shadow))?;
        memories.budget.charge(resident(bytes, memories.shadow))?;
        for &(place, end) in reaches {
            let known = self.0.entry(place).or_default();
            *known = end.max(*known);
        }
        Ok(())
    }
}

fn bank(memory: &SliceMemory, space: Space) -> &Bank {
    match space {
        Space::Trf => &memory.trf,
        Space::Vrf => &memory.vrf,
        Space::Memory(_) => &memory.dm,
    }
}

/// Bytes of all streams that are alive at once, at most.
fn stream_bytes(exec: &Exec, machine: &Machine, active: u64) -> u64 {
    let mut flow = Flow { packets: 0, packet: 0 };
    let (mut peak, mut before, mut exchanged) = (0u64, 0u64, 0u64);
    for stage in &exec.stages {
        let input = flow.packets.saturating_mul(flow.packet);
        flow = stage.cost(machine, flow).out;
        peak = peak.max(input.saturating_add(flow.packets.saturating_mul(flow.packet)));
        if stage.as_exchange().is_some() {
            // The inputs of one exchange are there until those of the next are.
            exchanged = exchanged.max(before.saturating_add(input));
            before = input;
        }
    }
    let at_work = active.min(MAX_THREADS as u64);
    exchanged.saturating_mul(active).saturating_add(peak.saturating_mul(at_work))
}
