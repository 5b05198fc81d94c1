//! What the tests of random kernels share: numbers, mappings as text, and the run of many cases.

pub(crate) mod numbers;

pub(crate) use numbers::Random;
use std::panic::resume_unwind;
use std::path::PathBuf;
use visa_machine::Machine;
use visa_opt::Io;

/// A digit as text and its size.
pub(crate) type Digit = (String, u64);

/// Digits as a mapping.
pub(crate) fn mapping(digits: &[Digit]) -> String {
    match digits {
        [] => "[1]".to_owned(),
        _ => format!("[{}]", digits.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(", ")),
    }
}

/// Slices of a cluster: those of RNGD in one case of 64; otherwise few, since work grows with them and rules do not change.
const SLICES: [u64; 3] = [8, 16, 256];

/// What a kernel can have, and the words in its text that show it.
pub(crate) type Feature = (&'static str, &'static [&'static str]);

/// What became of some cases.
#[derive(Clone)]
struct Tally {
    accepted: u64,
    refused: u64,
    /// Accepted ones with each feature.
    with: Vec<u64>,
}

impl Tally {
    fn none(features: &[Feature]) -> Self {
        Self { accepted: 0, refused: 0, with: vec![0; features.len()] }
    }

    fn accept(&mut self, text: &str, features: &[Feature]) {
        self.accepted += 1;
        for (with, (_, words)) in self.with.iter_mut().zip(features) {
            *with += u64::from(words.iter().any(|word| text.contains(word)));
        }
    }

    fn add(mut self, other: Self) -> Self {
        self.accepted += other.accepted;
        self.refused += other.refused;
        self.with.iter_mut().zip(other.with).for_each(|(sum, more)| *sum += more);
        self
    }
}

/// What no kernel may be refused for: a mistake of a pass, a mismatch, or what only the evaluator does not know.
const WRONG: [&str; 6] =
    ["error[check]", "mistake in the pass", "error[pass]", "error[run]", "error[ragged]", "error[shadow]"];

/// Runs the kernel; whether it was accepted. A refusal must name a rule of the kernel.
fn run_kernel(name: &str, text: &str, machine: &str, shadow: bool) -> bool {
    let mut io = Io::buffered(text.to_owned(), ".");
    let mut flags = vec!["-", "--check", "--threads", "1", "--machine", machine];
    flags.extend(shadow.then_some("--shadow"));
    let flags: Vec<String> = flags.into_iter().map(str::to_owned).collect();
    if visa_run::run(&flags, &mut io) == 0 {
        return true;
    }
    let said = String::from_utf8_lossy(&io.stderr).into_owned();
    let found = WRONG.iter().find(|word| said.contains(*word));
    assert!(found.is_none(), "{name}: {said}\n{text}");
    false
}

/// A number from the environment.
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Machines with few slices, as files.
fn machines(folder: &std::path::Path) -> [PathBuf; SLICES.len()] {
    SLICES.map(|slices| {
        let mut machine = Machine::rngd();
        machine.topology.slices_per_cluster = slices;
        let path = folder.join(format!("{slices}.json"));
        std::fs::write(&path, serde_json::to_string(&machine).expect("JSON")).expect("a file");
        path
    })
}

/// Runs `VISA_PIPELINES` kernels (10,000 if unset) of the seed `VISA_SEED` (2026), every one generated from its own number, so that
/// each can be run alone; one in four asks shadow mode as well. One in ten at least must be legal, and one in a hundred have
/// each feature.
#[expect(clippy::print_stdout, reason = "how many kernels were legal, for whoever runs more of them")]
pub(crate) fn campaign(
    name: &str,
    generate: impl Fn(&mut Random, u64) -> String + Sync,
    features: &[Feature],
) {
    let (count, seed) = (setting("VISA_PIPELINES", 10_000), setting("VISA_SEED", 2026));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let machines = machines(folder.path());
    let run_case = |tally: &mut Tally, case: u64| {
        let mut random = Random(seed.wrapping_shl(32) ^ case);
        let size = match random.below(64) {
            0 => 2,
            1..24 => 1,
            _ => 0,
        };
        let text = generate(&mut random, SLICES[size]);
        let title = format!("{name}, seed {seed}, case {case}");
        if run_kernel(&title, &text, &machines[size].to_string_lossy(), case.is_multiple_of(4)) {
            tally.accept(&text, features);
        } else {
            tally.refused += 1;
        }
    };
    // Threads of our own: a pool whose worker waits for a case's inner parallelism would start the next case on its stack.
    let workers = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let share = |worker: u64| {
        let mut tally = Tally::none(features);
        (worker..count).step_by(workers as usize).for_each(|case| run_case(&mut tally, case));
        tally
    };
    let share = &share;
    let Tally { accepted, refused, with } = std::thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|worker| scope.spawn(move || share(worker))).collect();
        let done =
            running.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        done.fold(Tally::none(features), Tally::add)
    });
    println!("{name}, seed {seed}: {accepted} accepted and checked, {refused} refused");
    assert!(accepted >= count / 10, "seed {seed}: only {accepted} of {count} kernels are legal");
    for ((name, _), found) in features.iter().zip(with) {
        println!("  {found} {name}");
        assert!(found >= count / 100, "seed {seed}: only {found} of {count} kernels are {name}");
    }
}
