//! The loop over time.

use super::chip::{Chip, ChipTotals, Owner};
use super::dm::Claim;
use super::engine::{Command, EngineTotals, Runner};
use super::error::DetailedError;
use super::timing::Timing;
use crate::descriptor::{Descriptor, Engine, Memory, Transfer};
use crate::hbm::HBM_BYTES;
use visa_loops::{Program, contiguous_paired};
use visa_machine::{Machine, Part};

/// Time of a transfer, with totals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detailed {
    /// Engine cycles until the last byte is written, start-ups included.
    pub cycles: u64,
    /// Totals of the memories of each chip, from chip 0 to the last that is used.
    pub chips: Vec<ChipTotals>,
    /// Totals of each engine, in the order of the transfer.
    pub engines: Vec<(Engine, EngineTotals)>,
}

/// Carries out a transfer, request by request. `claims` are the accesses of other engines to data memory meanwhile.
///
/// # Errors
/// If a program has no addresses, goes beyond its memory or has no whole packets, if a chip does not exist, or if the
/// figures of the model let the transfer wait for ever.
pub fn simulate(
    transfer: &Transfer,
    machine: &Machine,
    timing: &Timing,
    claims: &[Claim],
) -> Result<Detailed, DetailedError> {
    for descriptor in transfer.engines.iter().flat_map(|(_, work)| work) {
        check_packet(descriptor)?;
    }
    let commands: Vec<Vec<Command>> =
        transfer.engines.iter().map(|(_, work)| work.iter().map(Command::new).collect()).collect();
    let mut system = System::new(&commands, machine, timing, claims)?;
    system.run()?;
    let totals: Vec<_> = system.runners.iter().map(|runner| *runner.totals()).collect();
    Ok(Detailed {
        cycles: totals.iter().map(|totals| totals.end).fold(0, u64::max),
        chips: system.chips.into_iter().map(Chip::totals).collect(),
        engines: transfer.engines.iter().map(|(engine, _)| *engine).zip(totals).collect(),
    })
}

/// The chips, and the engines that work on them.
struct System<'a> {
    chips: Vec<Chip>,
    runners: Vec<Runner<'a>>,
    /// Order in which engines ask. An engine that could not read asks first the next time, so that none waits for
    /// ever.
    order: Vec<usize>,
}

impl<'a> System<'a> {
    fn new(
        commands: &'a [Vec<Command>],
        machine: &'a Machine,
        timing: &Timing,
        claims: &[Claim],
    ) -> Result<Self, DetailedError> {
        let mut last = 0;
        for (memory, program) in commands.iter().flatten().flat_map(Command::sides) {
            check(memory, program, machine)?;
            last = last.max(memory.chip);
        }
        let runner = |(number, work): (usize, &'a Vec<Command>)| {
            Runner::new(work, machine, timing.in_flight, number as u32)
        };
        Ok(Self {
            chips: (0..=last).map(|chip| Chip::new(machine, timing, chip, claims)).collect(),
            runners: commands.iter().enumerate().map(runner).collect(),
            order: (0..commands.len()).collect(),
        })
    }

    /// Lets all engines and memories work until none has anything to do.
    fn run(&mut self) -> Result<(), DetailedError> {
        let mut now = 0;
        loop {
            let next = self.cycle(now)?;
            if next == u64::MAX {
                let ended = self.runners.iter().all(Runner::has_ended);
                return if ended { Ok(()) } else { Err(DetailedError::Stuck { cycle: now }) };
            }
            now = next;
        }
    }

    /// Simulates up to a cycle, and this cycle. Returns the next cycle in which an event happens, [`u64::MAX`] if
    /// there is none.
    fn cycle(&mut self, now: u64) -> Result<u64, DetailedError> {
        for chip in &mut self.chips {
            chip.settle(now, |Owner { engine, slot }, at| self.runners[engine as usize].done(slot, at));
        }
        let mut next = u64::MAX;
        let mut waiting = 0;
        for at in 0..self.order.len() {
            let runner = &mut self.runners[self.order[at]];
            let reads = runner.reads();
            next = next.min(runner.step(now, &mut self.chips)?);
            if runner.reads() == reads {
                // It goes behind those that wait already, and before those that have been served.
                self.order[waiting..=at].rotate_right(1);
                waiting += 1;
            }
        }
        for chip in &self.chips {
            next = next.min(chip.next());
        }
        Ok(next)
    }
}

/// Checks that packets are contiguous bytes, as requests are.
fn check_packet(descriptor: &Descriptor) -> Result<(), DetailedError> {
    let (packet, run) = (descriptor.loops.packet, contiguous_paired(&descriptor.loops));
    if packet > 0 && run.is_multiple_of(packet) { Ok(()) } else { Err(DetailedError::Packet { packet, run }) }
}

/// Checks that a program stays within its memory.
fn check(memory: Memory, program: &Program, machine: &Machine) -> Result<(), DetailedError> {
    let chips = machine.topology.max_chips;
    if memory.chip >= chips {
        return Err(DetailedError::NoChip { chip: memory.chip, chips });
    }
    let bytes = match memory.medium.decl().part {
        // The host has as much as it has.
        Part::Host => return Ok(()),
        Part::Chip => HBM_BYTES,
        Part::Cluster(_) => memory.medium.bytes_per_chip(machine),
    };
    let (_, end) = program.extent()?;
    match u64::try_from(end) {
        Ok(end) if end > bytes => Err(DetailedError::Outside { memory, end, bytes }),
        // Addresses before 0 are refused when their requests are made.
        Ok(_) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detailed::{ChannelTotals, Requester};
    use visa_machine::Medium;
    use visa_support::Random;

    const SLICE: u64 = 512 << 10;
    /// From a network to the next.
    const DMN: u64 = 32 * SLICE;
    /// From an engine's data memory to the next one's.
    const PE: u64 = 2 * DMN;

    fn on(medium: Medium, chip: u64) -> Memory {
        Memory { medium, chip }
    }

    fn hbm() -> Memory {
        on(Medium::Hbm, 0)
    }

    fn dm() -> Memory {
        on(Medium::Dm, 0)
    }

    fn descriptor(from: Memory, to: Memory, text: &str) -> Descriptor {
        Descriptor { from, to, loops: text.parse().expect(text) }
    }

    /// A transfer of engines that each have one descriptor or more.
    fn transfer(engines: impl IntoIterator<Item = Vec<Descriptor>>) -> Transfer {
        let place = |number: u64| Engine { chip: 0, cluster: number / 4, pe: number % 4 };
        Transfer { engines: (0..).map(place).zip(engines).collect() }
    }

    fn try_run(transfer: &Transfer, claims: &[Claim]) -> Result<Detailed, DetailedError> {
        let machine = Machine::rngd();
        simulate(transfer, &machine, &Timing::of(&machine), claims)
    }

    fn run(transfer: &Transfer) -> Detailed {
        try_run(transfer, &[]).expect("a transfer")
    }

    /// A descriptor alone.
    fn one(from: Memory, to: Memory, text: &str) -> Detailed {
        run(&transfer([vec![descriptor(from, to, text)]]))
    }

    /// A quantity of the channels of chip 0, all channels together.
    fn sum(found: &Detailed, of: fn(&ChannelTotals) -> u64) -> u64 {
        found.chips[0].channels.iter().map(of).sum()
    }

    /// `cycles` is not below `least`, and not much above it.
    fn near(cycles: u64, least: u64, percent: u64) {
        assert!(
            (least..=least + least * percent / 100).contains(&cycles),
            "{cycles} cycles, at least {least}"
        );
    }

    /// D3, book 10, example 1: 64 reads and 64 writes. The book adds them, which makes 628; here they overlap, and
    /// wait for rows to be opened.
    #[test]
    fn book_10_example_1() {
        let found = one(hbm(), hbm(), "[8 : 2048 -> 256, 8 : 256 -> 2048, 256 : 1 -> 1] : 256 @ 0 -> 16384");
        assert!((500 + 64..=628).contains(&found.cycles), "{}", found.cycles);
        assert_eq!((sum(&found, |totals| totals.reads), sum(&found, |totals| totals.writes)), (64, 64));
    }

    /// D4, book 10, example 2: reads and writes overlap, a request a cycle.
    #[test]
    fn book_10_example_2() {
        let text = format!(
            "[256 : 65536 -> 256, 4 : 256 -> 65536, 32 : 1024 -> {SLICE}, 2 : 32768 -> {DMN}, 256 : 1 -> 1] : 256"
        );
        let found = one(hbm(), dm(), &text);
        near(found.cycles, 66_036, 1);
        assert_eq!(sum(&found, ChannelTotals::requests), 65_536);
        // 16 MB are 8192 rows of 2 KB.
        assert_eq!(sum(&found, |totals| totals.row_opens + totals.row_switches), 8192);
        let dmns = &found.chips[0].dmns;
        assert_eq!((dmns[0].writes, dmns[1].writes, dmns[2].writes), (32_768, 32_768, 0));
        assert_eq!((dmns[0].busy, dmns[0].bytes), (65_536, 8 << 20));
        // Each bank of the 64 slices: 256 KB in words of 8 bytes, over 16 banks.
        assert_eq!(found.chips[0].banks[..1024], [2048; 1024]);
        assert!(found.chips[0].banks[1024..].iter().all(|&accesses| accesses == 0));
        let totals = found.engines[0].1;
        assert_eq!((totals.descriptors, totals.requests, totals.bytes), (1, 65_536, 16 << 20));
    }

    /// D5, book 10, example 3: reads and writes share the networks.
    #[test]
    fn book_10_example_3() {
        let text = format!(
            "[256 : 256 -> 1024, 4 : 65536 -> 256, 32 : {SLICE} -> {SLICE}, 2 : {DMN} -> {DMN}, 256 : 1 -> 1] : 256 \
             @ 0 -> 262144"
        );
        near(one(dm(), dm(), &text).cycles, 131_572, 1);
    }

    /// D6, book 10, example 4: every request changes the row of its bank. The book has all row changes of a channel
    /// one after the other, 16384 x 40 cycles, "a conservative estimate"; but the eight engines use eight banks of it,
    /// which change their rows at the same time: 2048 x 80 HBM cycles each. Where an engine goes on to another bank,
    /// requests for both are in flight, which saves a few rows. The same data in a good order are as fast as HBM.
    #[test]
    fn book_10_example_4() {
        let run = |loops: &str| {
            run(&transfer((0..8).map(|engine| {
                let text = format!("[{loops}, 256 : 1 -> 1] : 256 @ {} -> {}", engine << 18, engine * PE);
                vec![descriptor(hbm(), dm(), &text)]
            })))
        };
        let rows =
            format!("256 : 1024 -> 1024, 4 : 256 -> 256, 32 : 2097152 -> {SLICE}, 2 : 67108864 -> {DMN}");
        let found = run(&rows);
        assert!(
            found.chips[0].channels.iter().all(|totals| totals.requests() == 16_384 && totals.row_hits == 0)
        );
        assert!((500 + 2020 * 80 * 2 / 3..655_860).contains(&found.cycles), "{}", found.cycles);
        let order = format!(
            "64 : 2097152 -> 4096, 16 : 16384 -> 256, 16 : 1024 -> {}, 2 : 512 -> {SLICE}, 2 : 256 -> {DMN}",
            2 * SLICE
        );
        let good = run(&order);
        near(good.cycles, 500 + 16_384 * 8 * 2 / 3, 3);
        // 2048 x 80 are 1.25 times 16384 x 8: the queue has enough requests for other banks to hide the rest.
        assert!(found.cycles * 100 > good.cycles * 122, "{} and {}", found.cycles, good.cycles);
    }

    /// D7, book 10, example 5: half of the channels, 256 requests each, 8 HBM cycles a request: the book rounds
    /// 500 + 1365 to 1857.
    #[test]
    fn book_10_example_5() {
        let found = run(&transfer((0..8).map(|engine| {
            let text = format!(
                "[8 : 512 -> 256, 32 : 4096 -> {SLICE}, 2 : 131072 -> {DMN}, 256 : 1 -> 1] : 256 @ {} -> {}",
                engine << 18,
                engine * PE
            );
            vec![descriptor(hbm(), dm(), &text)]
        })));
        near(found.cycles, 1857, 3);
        let requests: Vec<_> = found.chips[0].channels.iter().map(ChannelTotals::requests).collect();
        assert_eq!((requests[..16].to_vec(), requests[16..].to_vec()), (vec![256; 16], vec![0; 16]));
    }

    /// D8, book 10, example 6: the work that one engine does in one command (756) another does in two (1192). A
    /// command starts when the one before is done, and each of the two opens separate rows.
    #[test]
    fn book_10_example_6() {
        let part = |outer: u64, inner: u64, offset: u64, engine: u64| {
            let text = format!(
                "[{outer} : 256 -> 256, 32 : {SLICE} -> 3840, {inner} : {DMN} -> 512, 256 : 1 -> 1] : 256 @ {} -> {}",
                engine * PE,
                engine * 1024 + offset
            );
            descriptor(dm(), hbm(), &text)
        };
        let whole = (0..3).map(|engine| vec![part(2, 2, 0, engine)]);
        let found = run(&transfer(whole.chain([vec![part(2, 1, 0, 3), part(1, 1, 512, 3)]])));
        let totals: Vec<_> = found.engines.iter().map(|(_, totals)| *totals).collect();
        for engine in &totals[..3] {
            assert_eq!((engine.descriptors, engine.requests), (1, 128));
            assert!((500 + 128..=756).contains(&engine.end), "{}", engine.end);
        }
        assert_eq!((totals[3].descriptors, totals[3].requests), (2, 96));
        assert_eq!(found.cycles, totals[3].end);
        near(found.cycles, 1000 + 64 + 32, 20);
    }

    /// B3: from two networks that alternate to two others a request a cycle, from one to one two cycles a request. The
    /// last request ends two cycles after it was read, and two after it was written.
    #[test]
    fn networks_of_data_memory() {
        let turns = format!("[32 : {SLICE} -> {SLICE}, 2 : {DMN} -> {DMN}, 256 : 1 -> 1] : 256 @ 0 -> {PE}");
        assert_eq!(one(dm(), dm(), &turns).cycles, 500 + 63 + 2 + 2);
        let alone = format!("[32 : {SLICE} -> {SLICE}, 256 : 1 -> 1] : 256 @ 0 -> {PE}");
        assert_eq!(one(dm(), dm(), &alone).cycles, 500 + 2 * 32 + 2);
    }

    /// H3: a read over a boundary of HBM is two requests, and takes the engine two cycles.
    #[test]
    fn reads_over_a_boundary() {
        let run = |base: u64| {
            let text = format!(
                "[8 : 16384 -> 256, 32 : 512 -> {SLICE}, 2 : 256 -> {DMN}, 256 : 1 -> 1] : 256 @ {base} -> 0"
            );
            one(hbm(), dm(), &text)
        };
        let (aligned, crossing) = (run(0), run(8));
        assert_eq!(
            (sum(&aligned, |totals| totals.reads), sum(&crossing, |totals| totals.reads)),
            (512, 1024)
        );
        assert_eq!(crossing.engines[0].1.requests, 512);
        near(aligned.cycles, 500 + 512, 5);
        near(crossing.cycles, 500 + 1024, 5);
    }

    /// Book 10: 30 bytes a cycle between chips, and to the host. 7680 bytes are 256 cycles, and the last 256 of them 9
    /// more cycles on the second chip's end of the link.
    #[test]
    fn pcie() {
        let text = format!("[30 : {SLICE} -> {SLICE}, 256 : 1 -> 1] : 256");
        let found = one(dm(), on(Medium::Dm, 1), &text);
        // The first read takes two cycles, the last write too.
        near(found.cycles, 500 + 2 + 256 + 8 + 2, 1);
        assert_eq!((found.chips[0].pcie_out, found.chips[0].pcie_in), (7680, 0));
        assert_eq!((found.chips[1].pcie_out, found.chips[1].pcie_in), (0, 7680));
        assert_eq!(found.chips[1].dmns[0].writes, 30);
        let found = one(on(Medium::Host, 0), dm(), &text);
        near(found.cycles, 500 + 256 + 2, 1);
        assert_eq!((found.chips[0].pcie_out, found.chips[0].pcie_in), (0, 7680));
    }

    /// Errata 93: 128 bytes a cycle for each PE's scratchpad: 4 KB in 32 cycles.
    #[test]
    fn scratchpads() {
        let text = format!("[16 : 256 -> {SLICE}, 256 : 1 -> 1] : 256 @ 4096 -> 0");
        let found = one(on(Medium::Spm, 0), dm(), &text);
        assert_eq!(found.cycles, 500 + 32 + 2);
        assert_eq!(found.chips[0].ports[&Medium::Spm][..3], [0, 4096, 0]);
    }

    /// Two engines that read one slice, whose queue has room for a request every two cycles, get as much of it each.
    #[test]
    fn engines_take_turns() {
        let found = run(&transfer((0..2).map(|engine| {
            let text = format!("[64 : 0 -> 256, 256 : 1 -> 1] : 256 @ 0 -> {}", (engine + 1) * PE);
            vec![descriptor(dm(), dm(), &text)]
        })));
        let ends: Vec<_> = found.engines.iter().map(|(_, totals)| totals.end).collect();
        near(found.cycles, 500 + 2 * 2 * 64, 2);
        assert!(ends[0].abs_diff(ends[1]) <= 4, "{ends:?}");
    }

    /// Book 11: a fetch that has a bank holds the DMA up.
    #[test]
    fn claims_hold_a_transfer_up() {
        let work = transfer([vec![descriptor(dm(), dm(), &format!("[256 : 1 -> 1] : 256 @ 0 -> {PE}"))]]);
        assert_eq!(run(&work).cycles, 504);
        let claim = Claim { by: Requester::MainFetch, chip: 0, slice: 0, banks: 1, cycles: 0..700 };
        let found = try_run(&work, &[claim]).expect("a transfer");
        assert_eq!((found.cycles, found.chips[0].dmns[0].longest), (704, 202));
    }

    #[test]
    fn nothing_to_do() {
        assert_eq!(run(&Transfer::default()).cycles, 0);
        let empty = transfer([vec![descriptor(hbm(), dm(), "[0 : 1 -> 1, 8 : 1 -> 1] : 8")]]);
        assert_eq!(run(&empty).cycles, 500);
    }

    #[test]
    fn what_cannot_be_carried_out() {
        let refused = |from, to, text: &str| {
            let work = transfer([vec![descriptor(from, to, text)]]);
            try_run(&work, &[]).expect_err(text).to_string()
        };
        let last = HBM_BYTES - 256;
        assert!(one(hbm(), dm(), &format!("[256 : 1 -> 1] : 256 @ {last} -> 0")).cycles > 500);
        let found = refused(hbm(), dm(), &format!("[256 : 1 -> 1] : 256 @ {} -> 0", last + 1));
        assert_eq!(found, "the transfer ends at byte 51539607553 of HBM, which has 51539607552 bytes a chip");
        let found = refused(hbm(), dm(), &format!("[256 : 1 -> 1] : 256 @ 0 -> {}", (256 << 20) - 255));
        assert!(found.contains("of data memory"), "{found}");
        let found = refused(on(Medium::Spm, 0), dm(), "[256 : 1 -> 1] : 256 @ 32768 -> 0");
        assert!(found.contains("of scratchpad memory, which has 32768"), "{found}");
        let found = refused(hbm(), on(Medium::Dm, 8), "[256 : 1 -> 1] : 256");
        assert_eq!(found, "chip 8 does not exist, expected one below 8");
        let found = refused(hbm(), dm(), "[8 : 512 -> 256, 256 : 1 -> 1] : 512");
        assert_eq!(found, "packets have 512 bytes, expected a divisor of the 256 that lie side by side");
        assert!(refused(hbm(), dm(), "[4 : 1 -> 2] : 4").contains("a divisor of the 1 that"));
        assert!(refused(hbm(), dm(), "[4 : 1 -> 1] : 0").contains("have 0 bytes"));
        let found = refused(hbm(), dm(), "[256 : 1 -> 1] : 256 @ -1 -> 0");
        assert!(found.contains("begins at address -1"), "{found}");
    }

    /// No cycle in which something happens is left out: to look at every cycle changes nothing.
    #[test]
    fn every_cycle_has_been_looked_at() {
        let machine = Machine::rngd();
        let mut random = Random(0x5eed_0123_4567_89ab);
        for case in 0..60 {
            let works: Vec<Vec<_>> = (0..1 + random.below(4))
                .map(|engine| {
                    (0..1 + random.below(2)).map(|_| random_work(&mut random, engine as u64)).collect()
                })
                .collect();
            // Few requests in flight make engines wait for one another.
            let timing = Timing { in_flight: random.of(&[1, 2, 5, 128]), ..Timing::of(&machine) };
            let found = simulate(&transfer(works.clone()), &machine, &timing, &[]).expect("a transfer");
            let commands: Vec<Vec<_>> =
                works.iter().map(|work| work.iter().map(Command::new).collect()).collect();
            let mut system = System::new(&commands, &machine, &timing, &[]).expect("a transfer");
            let mut now = 0;
            while !system.runners.iter().all(Runner::has_ended) {
                system.cycle(now).expect("a cycle");
                now += 1;
            }
            let ends: Vec<_> = system.runners.iter().map(|runner| *runner.totals()).collect();
            assert_eq!(
                found.engines.iter().map(|(_, totals)| *totals).collect::<Vec<_>>(),
                ends,
                "case {case}"
            );
            assert_eq!(found.chips, system.chips.into_iter().map(Chip::totals).collect::<Vec<_>>());
        }
    }

    /// Without a queue data memory takes nothing.
    #[test]
    fn a_model_that_does_not_end() {
        let machine = Machine::rngd();
        let work = transfer([vec![descriptor(hbm(), dm(), "[256 : 1 -> 1] : 256")]]);
        let timing = Timing { slice_queue: 0, ..Timing::of(&machine) };
        let error = simulate(&work, &machine, &timing, &[]).expect_err("no room").to_string();
        assert!(error.contains("nothing happens after cycle 5"), "{error}");
    }

    /// A transfer of an engine between random memories, and how many requests it makes.
    fn random_work(random: &mut Random, engine: u64) -> Descriptor {
        let loops: Vec<_> = (0..1 + random.below(3))
            .map(|_| {
                let stride = |random: &mut Random| 8_u64 << random.below(16);
                format!("{} : {} -> {}", 1 + random.below(12), stride(random), stride(random))
            })
            .collect();
        let run = 8 * (1 + random.under(64));
        let mut side = || match random.below(4) {
            0 | 1 => (on(Medium::Hbm, random.under(2)), random.under(HBM_BYTES / 2)),
            2 => (on(Medium::Dm, random.under(2)), engine * PE + 8 * random.under(SLICE)),
            _ => (on(Medium::Host, 0), 0),
        };
        let ((from, read), (to, write)) = (side(), side());
        descriptor(from, to, &format!("[{}, {run} : 1 -> 1] : {run} @ {read} -> {write}", loops.join(", ")))
    }

    /// Invariants of every transfer: bytes and requests are neither lost nor made, and nothing is faster than its
    /// peak.
    #[test]
    fn nothing_is_lost() {
        let machine = Machine::rngd();
        let mut random = Random(0x0bad_cafe_0123_4567);
        for case in 0..300 {
            let works: Vec<_> = (0..1 + random.below(4))
                .map(|engine| {
                    (0..1 + random.below(2)).map(|_| random_work(&mut random, engine as u64)).collect()
                })
                .collect();
            let found = run(&transfer(works.clone()));
            let mut asked = [[0; 2]; 2];
            let media = [Medium::Hbm, Medium::Dm];
            for (work, (_, totals)) in works.iter().zip(&found.engines) {
                let programs: Vec<_> = work.iter().map(|one: &Descriptor| (one, one.read())).collect();
                let count = |program| crate::requests::request_count(program, &machine).expect("a count");
                let requests: u64 = programs.iter().map(|(_, read)| count(read)).sum();
                let bytes: u64 = programs.iter().map(|(_, read)| read.steps().expect("a count")).sum();
                assert_eq!((totals.requests, totals.bytes), (requests, bytes), "case {case}");
                let startup = 500 * work.len() as u64;
                assert!(totals.end >= startup + requests, "case {case}: {} cycles", totals.end);
                for (one, read) in &programs {
                    for memory in [one.from, one.to] {
                        if let Some(medium) = media.iter().position(|&medium| medium == memory.medium) {
                            asked[medium][memory.chip as usize] += read.steps().expect("a count");
                        }
                    }
                }
            }
            for (chip, totals) in found.chips.iter().enumerate() {
                let hbm: u64 = totals.channels.iter().map(|channel| channel.bytes_asked).sum();
                let dm: u64 = totals.dmns.iter().map(|dmn| dmn.bytes).sum();
                assert_eq!([hbm, dm], [asked[0][chip], asked[1][chip]], "case {case}");
                assert!(totals.dmns.iter().all(|dmn| dmn.busy <= found.cycles));
                for channel in &totals.channels {
                    let rows = channel.row_hits + channel.row_opens + channel.row_switches;
                    assert_eq!(rows, channel.requests(), "case {case}");
                    let moved = (channel.requests() + channel.read_modify_writes) * 256;
                    assert_eq!(channel.bytes_moved, moved, "case {case}");
                    let least = channel.requests() * 8 + channel.read_modify_writes * 392;
                    assert!(found.cycles * 3 / 2 + 8 >= least, "case {case}");
                }
                for pcie in [totals.pcie_in, totals.pcie_out] {
                    assert!(found.cycles * 30 >= pcie, "case {case}");
                }
            }
        }
    }
}
