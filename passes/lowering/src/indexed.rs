//! Transfers of the rows that an index chooses (book 07, 34, 35): their loops, and the assignment of these to engines.

use crate::engines::{halves, split_order};
use crate::transfers::medium;
use visa_engine::words::{Direction, IndexMemory};
use visa_hw::ops::dma_indexed::INDEX_BYTES;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpRef, OpSpec};
use visa_ir::view;
use visa_loops::{Entry, PairedEntry, PairedProgram, Program, SeqError, Stride, check_paired, code};
use visa_machine::Machine;
use visa_mapping::ops::indexed::{Indexing, indexing, plan};
use visa_mapping::{Indexed, Tensor, TransferLoop};
use visa_memory::Medium;
use visa_sequencer::access::{self, AccessError, limits};
use visa_sequencer::ops::dma::DmaIndexed;
use visa_stream::lower::{StageCx, address, origin};

/// The `seq` counterpart of an operation that moves the rows that an index chooses.
///
/// # Errors
/// If it has no loops, or a tensor has no address.
pub(crate) fn lower(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<OpSpec, Diagnostic> {
    let plan = plan(op, cx.support, cx.axes, cx.machine)?;
    let direction = match indexing(op) {
        Some(Indexing::Gather) => Direction::Gather,
        Some(Indexing::Scatter) => Direction::Scatter,
        None => return Err(op.error("C0", "it chooses no rows")),
    };
    let first = match direction {
        Direction::Gather => "table",
        Direction::Scatter => "rows",
    };
    let first = view::operand(&op, 0, first)?;
    let (index, result) = (view::operand(&op, 1, "index")?, view::result(&op, 0, "tensor")?);
    let moving = |value| address::moving(cx, op, value);
    let (read, write, chosen) = (moving(first)?, moving(result)?, moving(index)?);
    let loops = loops(&plan, [read.base(), write.base()]);
    let indices = indices(&plan, chosen.base());
    let group = access::dma_group(medium(&*result.of_type::<Tensor>()?), cx.machine);
    accesses(&loops, &indices, group, cx.machine).map_err(|error| {
        let steps: Vec<TransferLoop> =
            plan.rows.iter().map(|row| &row.step).chain(&plan.loops).cloned().collect();
        let refused = error.diagnostic(op.span()).note(origin::entries(&steps, "bytes"), None);
        match size_fix(&error, &steps, cx.machine) {
            Some(fix) => refused.fix(fix),
            None => refused,
        }
    })?;
    let count = i64::try_from(plan.count).map_err(|_| op.error("C0", "a table of too many rows to write"))?;
    let memory = |value: view::ValueRef<'_>| Ok::<_, Diagnostic>(medium(&*value.of_type::<Tensor>()?));
    let held = memory(index)?;
    let held = IndexMemory::of(held).ok_or_else(|| op.error("C0", format!("indices are in {held}")))?;
    let lowered = DmaIndexed::build(op)
        .direction(direction)
        .from(memory(first)?)
        .to(memory(result)?)
        .loops(loops)
        .index(held)
        .indices(indices)
        .distance(plan.distance)
        .count(count)
        .read_steps(address::steps(op, &read))
        .write_steps(address::steps(op, &write))
        .index_steps(address::steps(op, &chosen));
    Ok(lowered.spec())
}

/// The fix for a loop with too many iterations and no factors that a sequencer counts. `None` for another error.
fn size_fix(error: &AccessError, steps: &[TransferLoop], machine: &Machine) -> Option<String> {
    let AccessError::Sequencer(SeqError { code: code::LIMIT, .. }) = error else { return None };
    let most = limits(machine, &[]).limit;
    let longest = steps.iter().filter(|step| step.limit > most).max_by_key(|step| step.limit)?;
    let rounded = longest.limit.next_multiple_of(ROUNDED_TO);
    Some(format!(
        "declare a size for `{}` whose prime factors are at most {most}, such as {rounded}",
        longest.factor
    ))
}

/// A proposed size is a multiple of this many elements, so that two loops count it.
const ROUNDED_TO: u64 = 256;

/// The loops of both sides, the addresses of whose tensors are given.
fn loops(plan: &Indexed, [read, write]: [i64; 2]) -> PairedProgram {
    let steps = plan.rows.iter().map(|row| &row.step).chain(&plan.loops);
    let entry = |step: &TransferLoop| PairedEntry {
        limit: step.limit,
        read: step.read.clone(),
        write: step.write.into(),
    };
    PairedProgram {
        entries: steps.map(entry).collect(),
        packet: 1,
        read_base: read.saturating_add(plan.read_base),
        write_base: write.saturating_add(plan.write_base),
    }
}

/// The loops over the indices, the address of whose tensor is given.
fn indices(plan: &Indexed, address: i64) -> Program {
    let rows = plan.rows.iter().map(|row| Entry::new(row.step.limit, row.index));
    Program {
        entries: rows.chain([Entry::new(INDEX_BYTES, 1)]).collect(),
        packet: INDEX_BYTES,
        base: address.saturating_add(plan.index_base),
    }
}

/// The same loops merged and cut to those that a sequencer runs: those that read indices among themselves, and those
/// of a row, of which a packet is the largest contiguous run that a transaction carries, in whole groups of `group`
/// bytes (book 10).
///
/// # Errors
/// A limit of the sequencer.
pub(crate) fn accesses(
    loops: &PairedProgram,
    indices: &Program,
    group: u64,
    machine: &Machine,
) -> Result<(PairedProgram, Program), AccessError> {
    let over_indices = indices.entries.len().saturating_sub(1);
    let (outer, inner) = loops.entries.split_at(over_indices.min(loops.entries.len()));
    let row =
        access::single_dma(&PairedProgram { entries: inner.to_vec(), ..loops.clone() }, group, machine)?;
    let mut rows: Vec<(PairedEntry, Entry)> = Vec::new();
    for next in outer.iter().cloned().zip(indices.entries.iter().cloned()) {
        match rows.last().and_then(|last| merged(last, &next)) {
            Some(both) => {
                rows.pop();
                rows.push(both);
            }
            None => rows.push(next),
        }
    }
    let most = limits(machine, &[]).limit;
    let rows = rows.into_iter().flat_map(|row| within(row, most));
    let (mut entries, mut over): (Vec<_>, Vec<_>) = rows.unzip();
    // A loop within a row that has nothing to do is left out, unless it is the only one.
    entries.extend(row.entries);
    over.extend(indices.entries.last().cloned());
    let loops = PairedProgram { entries, ..row };
    let limits = limits(machine, &[loops.packet]);
    // The number of entries is checked once the engines have their parts.
    let errors = check_paired(&loops, &limits, machine.limits.dma_packet_max_bytes);
    match errors.into_iter().find(|error| error.code == code::LIMIT) {
        Some(error) => Err(error.into()),
        None => Ok((loops, Program { entries: over, ..indices.clone() })),
    }
}

/// Two loops over indices as one, where the inner one goes on in the outer.
fn merged(outer: &(PairedEntry, Entry), inner: &(PairedEntry, Entry)) -> Option<(PairedEntry, Entry)> {
    let goes_on = |outer: &Stride, stride: &Stride| {
        let end = i64::try_from(inner.0.limit).ok()?.checked_mul(stride.fixed()?)?;
        (outer.fixed()? == end).then_some(())
    };
    goes_on(&outer.0.read, &inner.0.read)?;
    goes_on(&outer.0.write, &inner.0.write)?;
    goes_on(&outer.1.stride, &inner.1.stride)?;
    let limit = outer.0.limit.checked_mul(inner.0.limit)?;
    Some((PairedEntry { limit, ..inner.0.clone() }, Entry { limit, ..inner.1.clone() }))
}

/// A loop over indices as loops of at most `most` iterations, where it has factors.
fn within(row: (PairedEntry, Entry), most: u64) -> Vec<(PairedEntry, Entry)> {
    if row.0.limit <= most {
        return vec![row];
    }
    split(&row, most)
        .map_or_else(|| vec![row], |(far, near)| [within(far, most), within(near, most)].concat())
}

/// A loop over indices as one of at most `most` iterations and the rest of it.
fn split(row: &(PairedEntry, Entry), most: u64) -> Option<((PairedEntry, Entry), (PairedEntry, Entry))> {
    let (far, near) = halves(&row.0, most, 1)?;
    let stride = row.1.stride.fixed()?.checked_mul(i64::try_from(near.limit).ok()?)?;
    let index = Entry::new(far.limit, stride);
    let rest = Entry { limit: near.limit, ..row.1.clone() };
    Some(((far, index), (near, rest)))
}

/// A transfer that several engines share.
pub(crate) struct Shared {
    /// Its outermost loops count the engines.
    pub(crate) loops: PairedProgram,
    /// The indices, of which an engine reads its own.
    pub(crate) indices: Program,
    /// Number of engines.
    pub(crate) engines: u64,
}

/// The transfer within a chip, shared by as many of its engines as its loops can be split for: those over slices
/// first, as in a transfer without indices, then those over indices. Engines that share a row each read its index.
pub(crate) fn share(loops: PairedProgram, indices: Program, media: [Medium; 2], machine: &Machine) -> Shared {
    let over_indices = indices.entries.len().saturating_sub(1);
    let still = |entry: &PairedEntry| Entry::new(entry.limit, 0);
    let own = indices.entries.iter().take(over_indices).cloned().map(Some).chain(std::iter::repeat(None));
    let mut rows: Vec<(PairedEntry, Option<Entry>)> = loops.entries.iter().cloned().zip(own).collect();
    let order = split_order(&loops, media, machine);
    let (mut outer, mut left) = (Vec::new(), machine.topology.dma_engines_per_chip);
    let last = rows.len().saturating_sub(1);
    for at in order {
        // A packet is moved by one engine.
        let whole = if at == last { loops.packet } else { 1 };
        let Some((far, near)) = halves(&rows[at].0, left, whole) else { continue };
        let index = rows[at].1.clone().unwrap_or_else(|| still(&rows[at].0));
        let Some(near_limit) = i64::try_from(near.limit).ok() else { continue };
        let Some(stride) = index.stride.fixed().and_then(|stride| stride.checked_mul(near_limit)) else {
            continue;
        };
        left /= far.limit;
        outer.push((far.clone(), Entry::new(far.limit, stride)));
        rows[at].1 = rows[at].1.take().map(|index| Entry { limit: near.limit, ..index });
        rows[at].0 = near;
    }
    let engines = outer.iter().map(|(entry, _)| entry.limit).product();
    let (mut entries, mut over): (Vec<_>, Vec<_>) = outer.into_iter().unzip();
    for (entry, index) in rows.into_iter().filter(|(entry, _)| entry.limit != 1) {
        over.extend(index);
        entries.push(entry);
    }
    if over.len() == entries.len() {
        entries.push(PairedEntry::new(1, 1, 1));
    }
    over.extend(indices.entries.last().cloned());
    Shared {
        loops: PairedProgram { entries, ..loops },
        indices: Program { entries: over, ..indices },
        engines,
    }
}
