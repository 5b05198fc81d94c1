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
/// Slices are split first, so that an engine has slices that are side by side. Between memories of two kinds the
/// loops of an engine may also go from slice to slice with each request, so that no slice's queue is full:
/// whichever order takes less by the `book` model is taken.
pub fn share(program: &PairedProgram, from: Medium, to: Medium, machine: &Machine) -> Shared {
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

/// A loop as one over at most `most` engines and the rest of it, which has multiples of `whole` iterations.
/// `None` if it cannot be split.
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
    let contiguous = |run: &PairedEntry| (run.read.fixed(), run.write.fixed()) == (Some(1), Some(1));
    let run = loops.entries.pop().filter(|run| contiguous(run) && run.limit.is_multiple_of(request))?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use visa_support::Random;

    const SLICE: u64 = 1 << 19;

    fn shared(text: &str, from: Medium, to: Medium) -> (String, u64) {
        let found = share(&text.parse().expect(text), from, to, &Machine::rngd());
        (found.loops.to_string(), found.engines)
    }

    /// Both sides of each group of 8 bytes that is moved.
    fn moved(program: &PairedProgram) -> BTreeSet<(i64, i64)> {
        let (read, write) = (program.read(), program.write());
        let packets = read.addresses().zip(write.addresses());
        let groups = (0..program.packet.cast_signed()).step_by(8);
        packets.flat_map(|(from, to)| groups.clone().map(move |at| (from + at, to + at))).collect()
    }

    #[test]
    fn slices_are_split_before_rows() {
        let text = format!("[16 : 64 -> 64, 256 : 1024 -> {SLICE}, 64 : 1 -> 1] : 64");
        let far = 32 * SLICE;
        let expected = format!("[8 : 32768 -> {far}, 16 : 64 -> 64, 32 : 1024 -> {SLICE}, 64 : 1 -> 1] : 64");
        assert_eq!(shared(&text, Medium::Hbm, Medium::Dm), (expected, 8));
    }

    #[test]
    fn what_is_contiguous_is_split_between_packets() {
        let expected = "[8 : 8192 -> 8192, 8192 : 1 -> 1] : 4096 @ 0 -> 65536".to_owned();
        let text = "[65536 : 1 -> 1] : 4096 @ 0 -> 65536";
        assert_eq!(shared(text, Medium::Hbm, Medium::Hbm), (expected, 8));
        let whole = "[4096 : 1 -> 1] : 4096 @ 0 -> 65536";
        assert_eq!(shared(whole, Medium::Hbm, Medium::Hbm), (whole.to_owned(), 1));
    }

    #[test]
    fn as_many_engines_as_divide_the_loops() {
        let engines = |text: &str| shared(text, Medium::Hbm, Medium::Dm).1;
        let rows = |count: u64| format!("[{count} : 64 -> {SLICE}, 64 : 1 -> 1] : 64");
        assert_eq!([1, 2, 3, 7, 8, 9, 11, 12].map(|count| engines(&rows(count))), [1, 2, 3, 7, 8, 3, 1, 6]);
        assert_eq!(engines(&format!("[3 : 64 -> {SLICE}, 2 : 32 -> 8192, 32 : 1 -> 1] : 32")), 6);
        assert_eq!(engines(&format!("[2 : (0, 64) -> {SLICE}, 64 : 1 -> 1] : 64")), 1);
    }

    /// 512 slices: an engine has both networks of its PE, and alternates between them.
    #[test]
    fn requests_go_from_network_to_network_where_that_is_faster() {
        let text = format!("[512 : 4096 -> {SLICE}, 4096 : 1 -> 1] : 4096");
        let far = 32 * SLICE;
        let expected = format!(
            "[8 : 262144 -> {}, 16 : 256 -> 256, 32 : 4096 -> {SLICE}, 2 : 131072 -> {far}, 256 : 1 -> 1] : 256",
            2 * far
        );
        assert_eq!(shared(&text, Medium::Hbm, Medium::Dm), (expected, 8));
        // Slices of one cluster are one network for each engine, which is what takes the time.
        let one = format!("[256 : 4096 -> {SLICE}, 4096 : 1 -> 1] : 4096");
        let plain = format!("[8 : 131072 -> {far}, 32 : 4096 -> {SLICE}, 4096 : 1 -> 1] : 4096");
        assert_eq!(shared(&one, Medium::Hbm, Medium::Dm), (plain, 8));
    }

    /// However a transfer is shared, the same bytes go to the same places.
    #[test]
    fn the_same_bytes_are_moved() {
        let mut random = Random(0xd3a);
        let machine = Machine::rngd();
        let media = [Medium::Hbm, Medium::Dm];
        let (mut several, mut in_turn) = (0, 0);
        for _ in 0..400 {
            let packet = [8, 24, 256, 512, 1024][random.below(5)];
            let run = packet * (1 + random.under(4));
            let rows = 1 + random.under(3);
            let (slices, far) = ([1 + random.under(12), 96, 512][random.below(3)], run * rows);
            let order = random.below(2);
            let mut loops = [
                format!("{slices} : {far} -> {SLICE}"),
                format!("{rows} : {run} -> {}", run.next_multiple_of(8)),
            ];
            loops.swap(0, order);
            let text = format!("[{}, {run} : 1 -> 1] : {packet}", loops.join(", "));
            let program: PairedProgram = text.parse().expect("a program");
            let (from, to) = (media[random.below(2)], media[random.below(2)]);
            let found = share(&program, from, to, &machine);
            assert_eq!(moved(&found.loops), moved(&program), "{program}: {}", found.loops);
            let mut outer = 1;
            let engines = found.loops.entries.iter().take_while(|entry| {
                outer *= entry.limit;
                outer <= found.engines
            });
            assert_eq!(engines.map(|entry| entry.limit).product::<u64>(), found.engines, "{}", found.loops);
            several += u64::from(found.engines > 1);
            in_turn += u64::from(found.loops.packet != program.packet);
        }
        assert!(several > 200 && in_turn > 5, "{several} are shared, {in_turn} go from slice to slice");
    }
}
