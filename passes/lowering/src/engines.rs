//! Assignment of the parts of a transfer to engines, and their order (book 10, "Homogeneous Aggregate Operation" and
//! "Heterogeneous Aggregate Operation").

use std::collections::BTreeMap;
use std::ops::Range;
use visa_loops::{EnginePart, EngineTable, PairedEntry, PairedProgram, Stride, contiguous_paired};
use visa_machine::Machine;
use visa_memory::{Descriptor, Engine, Medium, Memory, Transfer, book, channel_cycles};

/// A transfer that several engines share.
#[derive(Clone, Debug, PartialEq)]
struct Shared {
    /// Its outermost loops count the engines.
    loops: PairedProgram,
    /// Number of engines.
    engines: u64,
}

/// Deals the segments of a transfer within a chip, in bytes, to some of its engines. The fastest of these by the
/// `book` model is taken:
///
/// - A single segment is shared by as many engines as its loops can be split for. Slices are split first, so that an
///   engine has slices that are side by side. Between memories of two kinds the loops of an engine may also go from
///   slice to slice with each request, so that no slice's queue is full.
/// - If no loops divide among all engines, they are dealt unevenly: the last engine has the rest.
/// - Several segments have separate engines, more for those that move more; or each is shared by all engines, one
///   after the other.
/// - Runs that have no large packet, as primes have none, are cut in two: the most that whole packets carry, and the
///   rest (book 10).
#[must_use]
pub fn deal(
    segments: &[PairedProgram],
    [from, to]: [Medium; 2],
    engines: Range<u64>,
    machine: &Machine,
) -> EngineTable {
    let cx = Dealer { from, to, first: engines.start, count: engines.end - engines.start, machine };
    let plain = cx.best(segments);
    let cut: Vec<_> = segments.iter().flat_map(|program| cx.whole_packets(program)).collect();
    if cut.len() == segments.len() { plain } else { cx.faster(plain, cx.best(&cut)) }
}

/// All segments for one engine, as PCIe has one.
#[must_use]
pub fn alone(segments: &[PairedProgram]) -> EngineTable {
    EngineTable(segments.iter().map(|loops| EnginePart { engines: 0..1, loops: loops.clone() }).collect())
}

/// Inputs of the assignment of segments.
struct Dealer<'a> {
    from: Medium,
    to: Medium,
    /// The first engine.
    first: u64,
    /// Number of engines.
    count: u64,
    machine: &'a Machine,
}

impl Dealer<'_> {
    /// A segment, shared by as many engines as its loops can be split for, in the faster order.
    fn share(&self, program: &PairedProgram) -> Shared {
        share(program, [self.from, self.to], self.count, self.machine)
    }

    fn best(&self, segments: &[PairedProgram]) -> EngineTable {
        let [single] = segments else {
            return self.faster(self.apart(segments), self.in_turn(segments));
        };
        let even = self.share(single);
        let all = even.engines == self.count;
        let even = EngineTable(vec![part(even, self.first)]);
        match self.unevenly(single).filter(|_| !all) {
            Some(uneven) => self.faster(even, uneven),
            None => even,
        }
    }

    /// The faster of two; the first if they are alike or have no price.
    fn faster(&self, one: EngineTable, other: EngineTable) -> EngineTable {
        match (self.cycles(&one), self.cycles(&other)) {
            (Some(cycles), Some(others)) if others < cycles => other,
            (_, _) => one,
        }
    }

    /// Each segment is shared by all engines, one after the other.
    fn in_turn(&self, segments: &[PairedProgram]) -> EngineTable {
        EngineTable(segments.iter().map(|program| part(self.share(program), self.first)).collect())
    }

    /// Each segment has separate engines. Those that would take longest get one more as long as there are some; if
    /// there are more segments than engines, each goes to the one that has least to do.
    fn apart(&self, segments: &[PairedProgram]) -> EngineTable {
        let size = |program: &PairedProgram| program.steps().unwrap_or(u64::MAX);
        let engines = self.count as usize;
        if segments.len() > engines {
            let mut largest_first: Vec<_> = segments.iter().collect();
            largest_first.sort_by_key(|program| std::cmp::Reverse(size(program)));
            let mut loads = vec![0_u64; engines];
            let dealt = largest_first.into_iter().map(|program| {
                let least = (0_u64..).zip(&loads).min_by_key(|(_, load)| **load);
                let engine = least.map_or(0, |(engine, _)| engine);
                loads[engine as usize] = loads[engine as usize].saturating_add(size(program));
                let engine = self.first + engine;
                EnginePart { engines: engine..engine + 1, loops: program.clone() }
            });
            return EngineTable(dealt.collect());
        }
        let mut most = vec![1_u64; segments.len()];
        for _ in segments.len()..engines {
            let load = |at: usize| size(&segments[at]) / most[at];
            if let Some(at) = (0..segments.len()).max_by_key(|&at| load(at)) {
                most[at] += 1;
            }
        }
        let mut first = self.first;
        let dealt = segments.iter().zip(most).map(|(program, most)| {
            let part = part(split(program, [self.from, self.to], most, self.machine), first);
            first = part.engines.end;
            part
        });
        EngineTable(dealt.collect())
    }

    /// As many iterations of the first loop that is split for each engine, fewer for the last one. `None` if all
    /// engines have as many, or no loop has one for each.
    fn unevenly(&self, program: &PairedProgram) -> Option<EngineTable> {
        let order = split_order(program, [self.from, self.to], self.machine);
        let last = program.entries.len().saturating_sub(1);
        let at = order.into_iter().find(|&at| at != last && program.entries[at].limit > self.count)?;
        let entry = &program.entries[at];
        let (Stride::Fixed(read), Stride::Fixed(write)) = (&entry.read, &entry.write) else { return None };
        let each = entry.limit.div_ceil(self.count);
        let (whole, rest) = (entry.limit / each, entry.limit % each);
        let far = |stride: &i64, count: u64| stride.checked_mul(i64::try_from(count).ok()?);
        let own = |limit: u64| {
            let mut own = program.clone();
            own.entries[at].limit = limit;
            own.entries.retain(|entry| entry.limit != 1);
            own
        };
        let mut most = own(each);
        most.entries.insert(0, PairedEntry::new(whole, far(read, each)?, far(write, each)?));
        let mut table =
            EngineTable(vec![EnginePart { engines: self.first..self.first + whole, loops: most }]);
        if rest > 0 {
            let mut left = own(rest);
            left.read_base = left.read_base.checked_add(far(read, whole * each)?)?;
            left.write_base = left.write_base.checked_add(far(write, whole * each)?)?;
            let engine = self.first + whole;
            table.0.push(EnginePart { engines: engine..engine + 1, loops: left });
        }
        Some(table)
    }

    /// A run that has no large packet as whole packets and the rest; the program itself if its packets are large.
    fn whole_packets(&self, program: &PairedProgram) -> Vec<PairedProgram> {
        let most = self.machine.limits.dma_packet_max_bytes;
        let run = contiguous_paired(program);
        if run <= most || program.packet * 2 > most {
            return vec![program.clone()];
        }
        let mut merged = program.clone();
        merged.merge();
        let part = |from: u64, length: u64, packet: u64| {
            let mut own = merged.clone();
            let innermost = own.entries.last_mut().filter(|entry| entry.limit == run)?;
            innermost.limit = length;
            own.read_base = own.read_base.checked_add_unsigned(from)?;
            own.write_base = own.write_base.checked_add_unsigned(from)?;
            own.retile(packet).ok()
        };
        let whole = run / most * most;
        let parts = [part(0, whole, most), part(whole, run - whole, run - whole)];
        let limit = self.machine.limits.sequencer_entries as usize;
        let parts: Option<Vec<_>> = parts.into_iter().collect();
        let fits = |parts: &Vec<PairedProgram>| parts.iter().all(|part| part.entries.len() <= limit);
        parts.filter(fits).unwrap_or_else(|| vec![program.clone()])
    }

    /// Time by the `book` model. `None` where the model has no price.
    fn cycles(&self, table: &EngineTable) -> Option<u64> {
        let mut engines: BTreeMap<u64, Vec<PairedProgram>> = BTreeMap::new();
        for part in &table.0 {
            let outer = part.engine_loops()?;
            for (engine, iteration) in part.engines.clone().zip(0..) {
                engines.entry(engine).or_default().push(part.loops.iteration(outer, iteration));
            }
        }
        let transfer = Transfer::of_chip(engines, [self.from, self.to], self.machine);
        Some(book(&transfer, self.machine).ok()?.cycles)
    }
}

/// Part of a transfer that engines from `first` on share.
fn part(shared: Shared, first: u64) -> EnginePart {
    EnginePart { engines: first..first + shared.engines, loops: shared.loops }
}

/// A segment, shared by as many engines as its loops can be split for, in the faster order.
fn share(program: &PairedProgram, [from, to]: [Medium; 2], engines: u64, machine: &Machine) -> Shared {
    let plain = split(program, [from, to], engines, machine);
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

/// Returns true if iterations are in different slices.
fn counts_slices(entry: &PairedEntry, from: Medium, to: Medium, machine: &Machine) -> bool {
    let slice = machine.memory.dm_bytes_per_slice;
    in_dm(entry, from, to).is_some_and(|distance| distance.unsigned_abs() >= slice)
}

/// Loops in the order in which they are split: those over slices first, the farthest apart before the others.
pub(crate) fn split_order(program: &PairedProgram, [from, to]: [Medium; 2], machine: &Machine) -> Vec<usize> {
    let mut order: Vec<usize> = (0..program.entries.len()).collect();
    order.sort_by_key(|&at| {
        let entry = &program.entries[at];
        let slices = counts_slices(entry, from, to, machine);
        std::cmp::Reverse(if slices { in_dm(entry, from, to).map(i64::unsigned_abs) } else { None })
    });
    order
}

/// Splits loops until each of at most `most` engines has a part.
fn split(program: &PairedProgram, media: [Medium; 2], most: u64, machine: &Machine) -> Shared {
    let order = split_order(program, media, machine);
    let (mut outer, mut loops) = (Vec::new(), program.clone());
    let mut left = most;
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
pub(crate) fn halves(entry: &PairedEntry, most: u64, whole: u64) -> Option<(PairedEntry, PairedEntry)> {
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
        let found = share(&text.parse().expect(text), [from, to], 8, &Machine::rngd());
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

    #[test]
    fn pcie_has_one_engine() {
        let program: PairedProgram = "[8 : 64 -> 128, 64 : 1 -> 1] : 64".parse().expect("a program");
        let found = alone(&[program.clone(), program.clone()]);
        assert_eq!(found.to_string(), format!("[0 : {program}, 0 : {program}]"));
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
        // Slices of one cluster are one network for each engine, and the network takes the time.
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
            let found = share(&program, [from, to], 8, &machine);
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

    fn dealt(segments: &[&str], from: Medium, to: Medium) -> String {
        let segments: Vec<PairedProgram> = segments.iter().map(|text| text.parse().expect(text)).collect();
        deal(&segments, [from, to], 0..8, &Machine::rngd()).to_string()
    }

    /// 1009 rows are prime: 127 for each of seven engines, and 120 for the last.
    #[test]
    fn what_does_not_divide_is_dealt_unevenly() {
        let rows = "[1009 : 512 -> 1024, 512 : 1 -> 1] : 512";
        let expected = "[0..7 : [7 : 65024 -> 130048, 127 : 512 -> 1024, 512 : 1 -> 1] : 512, \
                        7 : [120 : 512 -> 1024, 512 : 1 -> 1] : 512 @ 455168 -> 910336]";
        assert_eq!(dealt(&[rows], Medium::Hbm, Medium::Hbm), expected);
    }

    /// D8: the two small segments take one engine each, and the idle engines go to the largest segment.
    #[test]
    fn segments_have_engines_of_their_own() {
        let [most, two, one] = [
            "[3 : 33554432 -> 1024, 2 : 256 -> 256, 32 : 524288 -> 3840, 2 : 16777216 -> 512, 256 : 1 -> 1] : 256",
            "[2 : 256 -> 256, 32 : 524288 -> 3840, 256 : 1 -> 1] : 256 @ 100663296 -> 3072",
            "[32 : 524288 -> 3840, 256 : 1 -> 1] : 256 @ 117440512 -> 3584",
        ];
        let found = dealt(&[most, two, one], Medium::Dm, Medium::Hbm);
        let table: EngineTable = found.parse().expect("a table");
        let engines: Vec<_> = table.0.iter().map(|part| part.engines.clone()).collect();
        assert_eq!(engines, [0..6, 6..7, 7..8], "{found}");
    }

    /// D9: 4,099 bytes are a packet of 4,096 and one of 3; short runs stay as they are.
    #[test]
    fn primes_are_cut() {
        let (from, to) = (Medium::Hbm, Medium::Hbm);
        let prime = "[4099 : 1 -> 1] : 1 @ 0 -> 65536";
        let expected = "[0 : [4096 : 1 -> 1] : 4096 @ 0 -> 65536, 1 : [3 : 1 -> 1] : 3 @ 4096 -> 69632]";
        assert_eq!(dealt(&[prime], from, to), expected);
        let whole = "[4095 : 1 -> 1] : 4095 @ 0 -> 65536";
        assert_eq!(dealt(&[whole], from, to), format!("[0 : {whole}]"));
    }

    /// More segments than engines: each to the one that has least to do.
    #[test]
    fn many_segments() {
        let segments: Vec<String> = (0..11)
            .map(|at| format!("[{} : 64 -> 64, 64 : 1 -> 1] : 64 @ {} -> {}", 3 + at, at << 16, at << 16))
            .collect();
        let texts: Vec<&str> = segments.iter().map(String::as_str).collect();
        let table: EngineTable = dealt(&texts, Medium::Hbm, Medium::Hbm).parse().expect("a table");
        let all: BTreeSet<_> = table.0.iter().flat_map(|part| moved(&part.loops)).collect();
        let expected: BTreeSet<_> =
            segments.iter().flat_map(|text| moved(&text.parse().expect("loops"))).collect();
        assert_eq!(all, expected);
        assert!(table.0.iter().all(|part| part.engines.end <= 8));
    }
}
