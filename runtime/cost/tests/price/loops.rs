//! Loops are priced as the program written out, and in time that does not grow with their iterations.

use std::fmt::Write;

use visa_cost::{MAX_RUNS, MAX_SAMPLED, MemoryModel, Report, Why, price};
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::parse::parse;
use visa_ir::span::Source;
use visa_loops::{Step, Steps};
use visa_machine::{Machine, Medium};
use visa_support::Random;

fn try_priced(text: &str, model: MemoryModel) -> Result<Report, Diagnostic> {
    let ctx = Context::new(&[&visa_hw::DIALECT]);
    let parsed = parse(&ctx, &Source::new("test", text), 0..text.len());
    assert!(parsed.diagnostics.is_empty(), "{:?}\n{text}", parsed.diagnostics);
    let program = visa_hw::compile(&ctx, &parsed.module, None);
    let program = program.unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    price(&program, &Machine::rngd(), model)
}

fn priced(text: &str, model: MemoryModel) -> Report {
    try_priced(text, model).unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

/// A command whose addresses move with the loops around it.
#[derive(Clone)]
enum Command {
    Load {
        from: i64,
        to: i64,
        steps: [Steps; 2],
        loops: String,
        pcie: bool,
        engine: i64,
    },
    Store {
        from: i64,
        to: i64,
        steps: [Steps; 2],
        bytes: i64,
        engine: i64,
    },
    /// A fetch and a commit of `flits` flits; if `apart` is given, of 8 bytes at that distance in data memory.
    Run {
        context: &'static str,
        slice: i64,
        from: i64,
        flits: i64,
        apart: Option<i64>,
        to: i64,
        steps: [Steps; 3],
    },
    /// A switch that is set up first.
    Custom,
    Launch,
    Loop {
        times: u64,
        body: Vec<Command>,
    },
    If {
        steps: Vec<i64>,
        from: i64,
        below: Option<i64>,
        body: Vec<Command>,
    },
}

fn moved(base: i64, steps: &[i64], indices: &[u64]) -> i64 {
    base + steps.iter().zip(indices).map(|(step, index)| step * index.cast_signed()).sum::<i64>()
}

/// The text of commands: with their loops if `indices` are not given, else of one iteration of the loops around them,
/// with those inside written out.
fn text(commands: &[Command], indices: Option<&[u64]>, out: &mut String) {
    for command in commands {
        let at = |base: i64, steps: &Steps| base + indices.map_or(0, |indices| steps.at(indices));
        let clause = |name: &str, steps: &Steps| match indices {
            None if !steps.each.is_empty() => format!(", {name} {steps}"),
            None | Some(_) => String::new(),
        };
        let _infallible = match command {
            Command::Load { from, to, steps: [read, write], loops, pcie, engine } => writeln!(
                out,
                "hw.dma {}, from {}, to {}, table [{engine} : {loops} @ {} -> {}]{}{}",
                if *pcie { "pcie" } else { "tensor" },
                if *pcie { "host" } else { "hbm" },
                if *pcie { "hbm" } else { "dm" },
                at(*from, read),
                at(*to, write),
                clause("read_steps", read),
                clause("write_steps", write)
            ),
            Command::Store { from, to, steps: [read, write], bytes, engine } => writeln!(
                out,
                "hw.dma tensor, from dm, to hbm, table [{engine} : [{bytes} : 1 -> 1] : 8 @ {} -> {}]{}{}",
                at(*from, read),
                at(*to, write),
                clause("read_steps", read),
                clause("write_steps", write)
            ),
            Command::Custom => writeln!(
                out,
                "hw.exec main, slices [2, 4] {{\n  hw.fetch i8, packet 32, loops [64 : 1] : 32\n  hw.switch custom, ring 2, \
                 snoop [{{1}}, {{0}}]\n  hw.collect flits 1\n  hw.commit bytes 32, loops [64 : 1] : 32 @ 4096\n}}"
            ),
            Command::Run { context, slice, from, flits, apart, to, steps: [slices, read, write] } => {
                let (flit, halves) = if *context == "dual" { (64, ", halves") } else { (32, "") };
                let (packet, bytes) = if apart.is_some() { (8, 8) } else { (flit, 32) };
                let loops = |of: i64| match apart {
                    Some(apart) => format!("[{flits} : {apart}, 8 : 1]"),
                    None => format!("[{} : 1]", flits * of),
                };
                writeln!(
                    out,
                    "hw.exec {context}, slices [{}, {}]{} {{\n  hw.fetch i8, packet {packet}, loops {} : 8 @ {}{}\n  \
                     hw.collect flits 1{halves}\n  hw.commit bytes {bytes}, loops {} : 8 @ {}{}\n}}",
                    at(*slice, slices),
                    at(*slice, slices) + 2,
                    clause("steps", slices),
                    loops(flit),
                    at(*from, read),
                    clause("steps", read),
                    loops(flit),
                    at(*to, write),
                    clause("steps", write),
                )
            }
            Command::Launch => writeln!(out, "hw.launch @kernel"),
            Command::If { steps, from, below, body } => match indices {
                None => {
                    let below = below.map_or(String::new(), |below| format!(", below {below}"));
                    let _infallible = writeln!(out, "hw.if steps {steps:?}, from {from}{below} {{");
                    text(body, None, out);
                    writeln!(out, "}}")
                }
                Some(indices) => {
                    let sum = moved(0, steps, indices);
                    if sum >= *from && below.is_none_or(|below| sum < below) {
                        text(body, Some(indices), out);
                    }
                    Ok(())
                }
            },
            Command::Loop { times, body } => match indices {
                None => {
                    let _infallible = writeln!(out, "hw.for {times} {{");
                    text(body, None, out);
                    writeln!(out, "}}")
                }
                Some(indices) => {
                    for index in 0..*times {
                        let inner: Vec<u64> = indices.iter().copied().chain([index]).collect();
                        text(body, Some(&inner), out);
                    }
                    Ok(())
                }
            },
        };
    }
}

fn program(commands: &[Command], indices: Option<&[u64]>) -> String {
    let mut out = "visa 1\nhw.program @p, chips 1 {\n".to_owned();
    text(commands, indices, &mut out);
    out + "}\n"
}

/// Commands under loops, whose addresses are few, so that they often meet. All branches are taken in the iteration
/// `taken`.
fn commands(random: &mut Random, taken: &[u64]) -> Vec<Command> {
    let depth = taken.len();
    let steps = |random: &mut Random, unit: i64| -> Steps {
        let step = |random: &mut Random| {
            // Mostly one step for all, so that iterations repeat; sometimes others, so that they do not.
            let by = [0, 0, unit, unit, 2 * unit, 5 * unit][random.below(6)];
            let turns = if random.below(4) == 0 { 2 + random.below(2) } else { 0 };
            Step { by, turns: (0..turns).map(|_| unit * random.below(4) as i64).collect() }
        };
        Steps { each: (0..depth).map(|_| step(random)).collect(), plus: 0 }
    };
    let mut out = Vec::new();
    for _ in 0..1 + random.below(4) {
        let dm = |random: &mut Random| 65536 + 64 * random.below(8) as i64;
        let hbm = |random: &mut Random| (1 << 30) + 4096 * random.below(8) as i64;
        // Mostly of one cluster, sometimes of the other.
        let engine = |random: &mut Random, pcie: bool| match random.below(3) {
            0 if !pcie => 4,
            _ => 0,
        };
        let bytes = 64 << random.below(4);
        let slice = 524_288;
        out.push(match random.below(if depth < 2 { 10 } else { 8 }) {
            0 | 1 => {
                let pcie = random.below(8) == 0;
                let to = if pcie { hbm(random) } else { dm(random) };
                let unit = [64, slice][random.below(2)];
                let steps = [steps(random, 4096), steps(random, if pcie { 4096 } else { unit })];
                let steps =
                    if pcie || random.below(2) == 0 { steps } else { [steps[0].clone(), Steps::default()] };
                let from = hbm(random);
                let to = if pcie { to } else { to + slice * random.below(2) as i64 };
                // Some read another row of the same bank of HBM each time, so that it is busy most of the time.
                let loops = match random.below(4) {
                    0 if !pcie => "[32 : 536870912 -> 64, 64 : 1 -> 1] : 64".to_owned(),
                    _ => format!("[{bytes} : 1 -> 1] : 8"),
                };
                Command::Load { from, to, steps, loops, pcie, engine: engine(random, pcie) }
            }
            2 | 3 => {
                let (from, to) = (dm(random) + slice * random.below(2) as i64, hbm(random));
                let steps = [Steps::default(), steps(random, 4096)];
                Command::Store { from, to, steps, bytes, engine: engine(random, false) }
            }
            4 | 5 => {
                // Some stay on a bank, and are in each other's way there alone.
                let apart = (random.below(2) == 0).then(|| [8, 128, 128, 256, 136][random.below(5)]);
                let far = if apart.is_some() { 131_072 } else { 0 };
                let own = if apart.is_some() { 2 } else { 3 };
                // Most runs stay on their slices, and write where they have written.
                let steps = [1, 64, 64].map(|unit| {
                    match unit == 64 && random.below(2) == 0 || random.below(4) == 0 {
                        true => steps(random, unit),
                        false => Steps::default(),
                    }
                });
                Command::Run {
                    context: ["main", "sub", "dual"][random.below(own)],
                    slice: random.below(2) as i64,
                    from: dm(random) + far,
                    flits: 1 + random.below(if apart.is_some() { 80 } else { 40 }) as i64,
                    apart,
                    to: dm(random) + far + 65536 * random.below(2) as i64,
                    steps,
                }
            }
            6 if random.below(2) == 0 => Command::Custom,
            6 => Command::Launch,
            7 if depth > 0 => {
                let steps: Vec<i64> = (0..depth).map(|_| random.below(5) as i64 - 2).collect();
                let sum = moved(0, &steps, taken);
                let below = (random.below(2) == 0).then(|| sum + 1 + random.below(12) as i64);
                let body = commands(random, taken);
                Command::If { steps, from: sum - random.below(4) as i64, below, body }
            }
            _ => {
                let times = [1, 2, 5, 30][random.below(4)];
                let taken: Vec<u64> = taken.iter().copied().chain([random.below(times) as u64]).collect();
                Command::Loop { times: times as u64, body: commands(random, &taken) }
            }
        });
    }
    out
}

/// All content of a report for the whole, and start and end of the first and the last command.
fn summary(report: &Report) -> String {
    let (first, last) =
        (report.commands.iter().map(|c| c.start).min(), report.commands.iter().map(|c| c.end).max());
    format!("{:?} {first:?} {last:?}", report.totals)
}

#[test]
fn a_loop_is_priced_as_it_is_written_out() {
    let mut with_loops = 0;
    let mut seen = [Why::Starvation, Why::Setup, Why::Banks, Why::Hbm].map(|why| (why, 0));
    for case in 0..400 {
        let random = &mut Random::of_case(2026, case);
        let commands = commands(random, &[]);
        with_loops +=
            u64::from(commands.iter().any(|command| matches!(command, Command::Loop { times: 30, .. })));
        let model = [MemoryModel::Flat, MemoryModel::Book][random.below(2)];
        let (looped, written_out) = (program(&commands, None), program(&commands, Some(&[])));
        let (one, other) = (priced(&looped, model), priced(&written_out, model));
        assert_eq!(summary(&one), summary(&other), "case {case}\n{looped}\n{written_out}");
        let runs: u64 = one.commands.iter().map(|command| command.runs).sum();
        assert_eq!(runs, other.commands.len() as u64, "case {case}\n{looped}");
        for (why, cases) in &mut seen {
            let mut waits = one.commands.iter().flat_map(|command| &command.waits);
            *cases += u64::from(one.commands.len() < runs as usize && waits.any(|wait| wait.why == *why));
        }
    }
    assert!(with_loops > 40, "{with_loops} cases have a long loop");
    assert!(seen.iter().all(|(_, cases)| *cases > 10), "{seen:?}");
}

/// A tile in, a run over it, a tile out: from the second iteration on they repeat. Each takes a load and a store of
/// 500 cycles and the time of their bytes, one after the other on the DMA, and the run between them.
fn copies(times: u64) -> String {
    format!(
        "visa 1\nhw.program @p, chips 1 {{\nhw.for {times} {{\n\
         hw.dma tensor, from hbm, to dm, loops [4096 : 1 -> 1] : 256, read_steps [4096]\n\
         hw.exec main, slices [0, 1] {{\n  hw.fetch i8, packet 32, loops [4096 : 1] : 32\n  hw.collect flits 1\n  hw.commit \
         bytes 32, loops [4096 : 1] : 32 @ 8192\n}}\n\
         hw.dma tensor, from dm, to hbm, loops [4096 : 1 -> 1] : 256 @ 8192 -> 8589934592, write_steps [4096]\n}}\n}}\n"
    )
}

#[test]
fn a_million_iterations_are_a_million_times_one() {
    let of = |times: u64| priced(&copies(times), MemoryModel::Flat).totals;
    // 503 cycles for 4096 bytes at 1536 a cycle, each way; 128 flits in a pipeline that three engines fill.
    assert_eq!(of(1).cycles, 503 + 131 + 503);
    assert_eq!(of(1_000_000).cycles, 1_000_000 * (503 + 131 + 503));
    assert_eq!(of(1_000_000).bytes.of(Medium::Hbm).read, 1_000_000 * 4096);
    let book = |times: u64| priced(&copies(times), MemoryModel::Book).totals.cycles;
    assert_eq!(book(1_000_000), 1_000_000 * book(1));
}

/// An iteration is 32 requests of 256 bytes, each at other addresses: after 2^18 of them iterations take as long as on
/// average.
#[test]
fn the_detailed_model_simulates_some_of_many_iterations() {
    let of = |times: u64| priced(&copies(times), MemoryModel::Detailed);
    let (all, some) = (of(MAX_SAMPLED / 32), of(MAX_SAMPLED / 32 * 2));
    assert!(all.commands.iter().all(|command| command.error.is_none()), "{:?}", all.commands);
    let errors: Vec<_> = some.commands.iter().filter_map(|command| command.error).collect();
    assert_eq!(errors.len(), 2, "a load and a store");
    assert!(errors.iter().all(|error| (0.0..0.2).contains(error)), "{errors:?}");
    let (one, two) = (all.totals.cycles as f64, some.totals.cycles as f64);
    assert!((two - 2.0 * one).abs() < 0.01 * two, "{one} and {two}");
}

/// A loop that does not repeat is followed run by run, up to a limit: a store that meets each load of an earlier
/// iteration at another distance.
#[test]
fn too_many_iterations_that_do_not_repeat_are_refused() {
    let text = |times: u64| {
        format!(
            "visa 1\nhw.program @p, chips 1 {{\nhw.for {times} {{\n\
             hw.dma tensor, from hbm, to dm, loops [64 : 1 -> 1] : 64, read_steps [64]\n\
             hw.dma tensor, from dm, to hbm, loops [64 : 1 -> 1] : 64 @ 0 -> 4096, write_steps [128]\n}}\n}}\n"
        )
    };
    assert!(try_priced(&text(1000), MemoryModel::Flat).is_ok());
    let refused = try_priced(&text(MAX_RUNS / 2 + 1), MemoryModel::Flat).expect_err("too many");
    assert!(refused.message.contains("run one by one, at most 16777216 are priced"), "{}", refused.message);
}

/// Loads of one half of the register file in parallel with contractions that read the other: each waits for reads.
fn loads_beside_contractions(times: u64, written_out: bool) -> String {
    let load = |half: &str, rows: u64| {
        format!(
            "hw.exec sub, slices [0, 2] {{\n  hw.fetch bf16, packet 1024, loops [{0} : 1] : 8 @ 16384\n  hw.collect flits \
             32\n  hw.store_trf {half}, rows {rows}, row_bytes 4096, load short\n}}\n",
            4096 * rows
        )
    };
    // Each read misses the cache, in every cycle.
    let contract = |half: &str, times: u64, to: u64| {
        format!(
            "hw.exec main, slices [0, 2] {{\n  hw.fetch bf16, packet 1024, loops [{0} : 1] : 32\n  hw.collect flits 32\n  \
             hw.align {half}, flits 2, repeat 4, rows 8, data 64, loops [{times} : 0, 16 : 64, 4 : 1024, 64 : 1] : \
             64\n  hw.contract bf16, depth 5\n  hw.accumulate interleaved, rows 8, columns 1, slots [{times} : 4, 16 : 0, 4 \
             : 1] : 1\n  hw.commit bytes 32, loops [{1} : 1] : 32 @ {to}\n}}\n",
            1024 * times,
            128 * times
        )
    };
    let body =
        [load("first", 8), contract("second", 4, 8192), load("second", 2), contract("first", 7, 12288)]
            .concat();
    let inside = match written_out {
        true => body.repeat(times as usize),
        false => format!("hw.for {times} {{\n{body}}}\n"),
    };
    // Something is before the loop, and something after it.
    let (before, after) = (load("second", 8), contract("first", 3, 12288));
    format!("visa 1\nhw.program @p, chips 1 {{\n{before}{inside}{after}}}\n")
}

/// The loads wait for later commands; a long loop is priced as the program written out nevertheless.
#[test]
fn long_loops_of_loads_that_wait_are_priced_as_they_are_written_out() {
    for times in [3, 193, 194, 260, 401] {
        let looped = priced(&loads_beside_contractions(times, false), MemoryModel::Flat);
        let written_out = priced(&loads_beside_contractions(times, true), MemoryModel::Flat);
        assert_eq!(looped.totals, written_out.totals, "{times}");
        let stalls = |report: &Report| report.commands.iter().map(|command| command.stalls).sum::<u64>();
        assert_eq!(stalls(&looped), stalls(&written_out), "{times}");
        assert!(stalls(&looped) >= times, "{times}: nothing waits");
    }
    let million = priced(&loads_beside_contractions(1_000_000, false), MemoryModel::Flat).totals.cycles;
    let [one, two] =
        [500, 501].map(|times| priced(&loads_beside_contractions(times, false), MemoryModel::Flat));
    let each = two.totals.cycles - one.totals.cycles;
    assert_eq!(million, one.totals.cycles + 999_500 * each);
}

/// A run that comes to a bank `count` times in a row from an address on, and writes to another one.
fn strided(context: &str, count: u64, [from, to]: [u64; 2], steps: u64) -> String {
    let steps = if steps > 0 { format!(", steps [{steps}]") } else { String::new() };
    format!(
        "hw.exec {context}, slices [0, 2] {{\n  hw.fetch i8, packet 8, loops [{count} : 128, 8 : 1] : 8 @ \
         {from}{steps}\n  hw.collect flits 1\n  hw.commit bytes 8, loops [{} : 1] : 8 @ {to}\n}}\n",
        8 * count,
    )
}

/// Runs of sub that want bank 0 in parallel with runs of main that take it: in every iteration, or in every 16th, as
/// sub is a bank further in each. Then main needs the bytes that sub has written.
fn sub_behind_main(times: u64, step: u64, written_out: bool) -> String {
    let body = |sub: u64, step: u64| {
        strided("main", 100, [0, 65536], 0)
            + &strided("sub", 70, [sub, 196_608], step)
            + &strided("main", 4, [196_616, 262_144], 0)
    };
    let inside = match written_out {
        true => (0..times).map(|index| body(131_072 + step * index, 0)).collect(),
        false => format!("hw.for {times} {{\n{}}}\n", body(131_072, step)),
    };
    let [before, after] = [("sub", 9, 131_072), ("main", 3, 0)]
        .map(|(context, count, from)| strided(context, count, [from, 327_680], 0));
    format!("visa 1\nhw.program @p, chips 1 {{\n{before}{inside}{after}}}\n")
}

#[test]
fn long_loops_of_runs_behind_main_are_priced_as_they_are_written_out() {
    let stalls =
        |report: &Report| report.commands.iter().map(|command| command.stalls_for.banks).sum::<u64>();
    for (times, step) in [(3, 0), (193, 0), (260, 0), (401, 0), (3500, 8)] {
        let looped = priced(&sub_behind_main(times, step, false), MemoryModel::Flat);
        let written_out = priced(&sub_behind_main(times, step, true), MemoryModel::Flat);
        assert_eq!(looped.totals, written_out.totals, "{times}");
        assert_eq!(stalls(&looped), stalls(&written_out), "{times}");
        assert!(stalls(&looped) >= times / if step > 0 { 16 } else { 1 }, "{times}: nothing waits");
    }
    let total = |times| priced(&sub_behind_main(times, 0, false), MemoryModel::Flat).totals.cycles;
    let each = total(501) - total(500);
    assert_eq!(total(1_000_000), total(500) + 999_500 * each);
}

/// Main and sub that nothing orders drift apart; each run of sub waits for the runs of main that overlap it then.
#[test]
fn a_bank_that_main_and_sub_share_takes_no_longer_than_both() {
    let all = |main: usize, sub: usize| {
        let runs = |context, from, times| strided(context, 50, [from, 65536 + from], 0).repeat(times);
        let text = runs("sub", 131_072, sub) + &runs("main", 0, main);
        priced(&format!("visa 1\nhw.program @p, chips 1 {{\n{text}}}\n"), MemoryModel::Flat).totals.cycles
    };
    // 50 accesses and 3 cycles that fill the pipeline.
    for (main, sub) in [(1, 1), (7, 3), (3, 7), (20, 20), (60, 1)] {
        let [alone, other, both] = [all(main, 0), all(0, sub), all(main, sub)];
        assert_eq!((alone, other), (53 * main as u64, 53 * sub as u64));
        assert!(both >= alone.max(other) && both <= alone + other, "{alone} and {other} take {both}");
        // Main leaves the bank free in the 3 cycles in which its pipeline fills, of which the price knows nothing.
        assert_eq!(both, alone + other, "{main} and {sub}");
    }
}

/// Main reads one buffer while a transfer fills the other one, and sub the output of main: with 64 accesses to a bank
/// in a row main and the transfer take turns. Loops repeat either way.
#[test]
fn long_loops_of_transfers_that_would_starve_repeat() {
    let run = |context: &str, count: u64, [from, to]: [u64; 2], steps: &str| {
        format!(
            "hw.exec {context}, slices [0, 2] {{\n  hw.fetch i8, packet 8, loops [{count} : 128, 8 : 1] : 8 @ \
             {from}{steps}\n  hw.collect flits 1\n  hw.commit bytes 8, loops [{count} : 128, 8 : 1] : 8 @ {to}\n}}\n"
        )
    };
    let of = |times: u64, count: u64| {
        let main = run("main", count, [327_680, 65544], ", steps [(0, -65536)]");
        let sub = run("sub", 20, [65552, 196_632], "");
        let load = "hw.dma tensor, from hbm, to dm, loops [64 : 1 -> 1] : 64 @ 0 -> 262144, read_steps [64], \
                    write_steps [(0, 65536)]\n";
        let text = format!("visa 1\nhw.program @p, chips 1 {{\nhw.for {times} {{\n{main}{sub}{load}}}\n}}\n");
        let report = priced(&text, MemoryModel::Flat);
        let mut waits = report.commands[2].waits.iter();
        (report.totals.cycles, waits.any(|wait| (wait.command, wait.why) == (0, Why::Starvation)))
    };
    // A transfer takes 501 cycles, a run of 64 accesses 67.
    assert_eq!(of(1_000_000, 63), (1_000_000 * 501, false));
    assert_eq!(of(1_000_000, 64), (1_000_000 * (501 + 67), true));
}
