//! Which engine moves which part of a transfer, and in which order (book 10, "Homogeneous Aggregate Operation").

use visa_loops::{PairedEntry, PairedProgram, Stride};
use visa_machine::Machine;
use visa_memory::{Descriptor, Engine, Medium, Memory, Transfer, book, channel_cycles};

/// A transfer that several engines share.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// Its outermost loops count the engines.
    pub loops: PairedProgram,
    /// How many engines.
    pub engines: u64,
}

/// A transfer, within a chip shared by as many of its engines as its loops can be split for.
///
/// Slices are split first, so that an engine has slices that are side by side. Between memories of two kinds the loops of
/// an engine may also go from slice to slice with each request, so that no slice's queue is full: whichever order takes
/// less by the `book` model is taken.
pub fn share(program: &PairedProgram, from: Medium, to: Medium, machine: &Machine) -> Shared {
    if from == Medium::Host || to == Medium::Host {
        // PCIe has one engine.
        return Shared { loops: program.clone(), engines: 1 };
    }
    let plain = split(program, from, to, machine);
    if from == to {
        return plain;
    }
    let by_slices = interleaved(&plain, from, to, machine).filter(|other| {
        let cycles = |shared| cycles(shared, from, to, machine);
        cycles(other).zip(cycles(&plain)).is_some_and(|(other, plain)| other < plain)
    });
    by_slices.unwrap_or(plain)
}

/// The distance of a side in data memory; the source's, if both are.
fn in_dm(entry: &PairedEntry, from: Medium, to: Medium) -> Option<i64> {
    match (from == Medium::Dm, to == Medium::Dm) {
        (true, _) => entry.read.fixed(),
        (false, true) => entry.write.fixed(),
        (false, false) => None,
    }
}

/// Whether iterations are in different slices.
fn counts_slices(entry: &PairedEntry, from: Medium, to: Medium, machine: &Machine) -> bool {
    let slice = machine.memory.dm_bytes_per_slice;
    in_dm(entry, from, to).is_some_and(|distance| distance.unsigned_abs() >= slice)
}

/// Splits loops until every engine has a part: those over slices first, the farthest apart before the others.
fn split(program: &PairedProgram, from: Medium, to: Medium, machine: &Machine) -> Shared {
    let mut order: Vec<usize> = (0..program.entries.len()).collect();
    order.sort_by_key(|&at| {
        let entry = &program.entries[at];
        let slices = counts_slices(entry, from, to, machine);
        std::cmp::Reverse(if slices { in_dm(entry, from, to).map(i64::unsigned_abs) } else { None })
    });
    let (mut outer, mut loops) = (Vec::new(), program.clone());
    let mut left = machine.topology.dma_engines_per_chip;
    let last = program.entries.len().saturating_sub(1);
    for at in order {
        // A packet is moved by one engine.
        let whole = if at == last { program.packet } else { 1 };
        let Some((engines, rest)) = halves(&loops.entries[at], left, whole) else { continue };
        left /= engines.limit;
        outer.push(engines);
        loops.entries[at] = rest;
    }
    let engines = outer.iter().map(|entry| entry.limit).product();
    loops.entries.retain(|entry| entry.limit != 1);
    if loops.entries.is_empty() {
        loops.entries.push(PairedEntry::new(1, 1, 1));
    }
    loops.entries.splice(..0, outer);
    Shared { loops, engines }
}

/// A loop as one over at most `most` engines and the rest of it, which has multiples of `whole` iterations. `None` if it
/// cannot be split.
fn halves(entry: &PairedEntry, most: u64, whole: u64) -> Option<(PairedEntry, PairedEntry)> {
    let (Stride::Fixed(read), Stride::Fixed(write)) = (&entry.read, &entry.write) else { return None };
    let divides = |count: &u64| entry.limit.is_multiple_of(whole * count);
    let count = (2..=most).rev().find(divides)?;
    let rest = entry.limit / count;
    let far = i64::try_from(rest).ok()?;
    let engines = PairedEntry::new(count, read.checked_mul(far)?, write.checked_mul(far)?);
    Some((engines, PairedEntry { limit: rest, ..entry.clone() }))
}

/// The same with requests that go from slice to slice, and from network to network first.
fn interleaved(plain: &Shared, from: Medium, to: Medium, machine: &Machine) -> Option<Shared> {
    let request = machine.limits.dma_request_bytes;
    let mut loops = plain.loops.clone();
    let run =
        loops.entries.pop().filter(|run| run.limit == loops.packet && run.limit.is_multiple_of(request))?;
    let outermost = plain.loops.entries.iter().scan(1, |count, entry| {
        *count *= entry.limit;
        Some(*count)
    });
    let engines = outermost.take_while(|&count| count <= plain.engines).count();
    let inner = loops.entries.split_off(engines);
    let (slices, others): (Vec<_>, Vec<_>) =
        inner.into_iter().partition(|entry| counts_slices(entry, from, to, machine));
    if slices.is_empty() {
        return None;
    }
    let networks = machine.pes_per_chip() * machine.topology.dmns_per_pe;
    let in_network = machine.slices_per_chip() / networks;
    loops.entries.extend(others);
    let step = request.cast_signed();
    loops.entries.push(PairedEntry::new(run.limit / request, step, step));
    for entry in slices {
        match halves(&entry, entry.limit / in_network.max(1), 1).filter(|(far, _)| far.limit > 1) {
            Some((far, near)) => loops.entries.extend([near, far]),
            None => loops.entries.push(entry),
        }
    }
    loops.entries.retain(|entry| entry.limit != 1);
    loops.entries.push(PairedEntry { limit: request, ..run });
    loops.packet = request;
    let fits = loops.entries.len() - engines <= machine.limits.sequencer_entries as usize;
    fits.then_some(Shared { loops, engines: plain.engines })
}

/// About how long it takes by the `book` model: one engine is priced, and its work in HBM is taken for that of all,
/// evenly spread. `None` where the model has no price.
fn cycles(shared: &Shared, from: Medium, to: Medium, machine: &Machine) -> Option<u64> {
    let memory = |medium| Memory { medium, chip: 0 };
    let mut loops = shared.loops.clone();
    let mut count = 1;
    while count < shared.engines {
        count *= loops.entries.remove(0).limit;
    }
    let descriptor = Descriptor { from: memory(from), to: memory(to), loops };
    let engines = vec![(Engine { chip: 0, cluster: 0, pe: 0 }, vec![descriptor])];
    let price = book(&Transfer { engines }, machine).ok()?;
    let all = price.hbm.values().flat_map(|asked| asked.loads);
    let work = all.map(|load| channel_cycles(&load, machine).0).sum::<u64>();
    Some(price.cycles.max(work.saturating_mul(shared.engines) / machine.hbm_channels()))
}
