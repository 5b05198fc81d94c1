//! Random kernels through lowering, interpreter and logical evaluator. What the verifier accepts must check; what
//! it refuses must be refused by a rule of the kernel.

use crate::files::machine_of;
use crate::settings::Settings;
use crate::shared;
use std::path::{Path, PathBuf};
use visa_opt::{Io, Registry};
use visa_support::Random;

/// Slices of a cluster: those of RNGD in one case of 64; otherwise few, since work grows with them and rules do
/// not change.
pub(crate) const SLICES: [u64; 3] = [8, 16, 256];

/// What a kernel can have, and the words in its text that show it.
pub(crate) type Feature = (&'static str, &'static [&'static str]);

/// A kind of random kernels.
pub struct Kernels {
    /// What they are called.
    pub(crate) name: &'static str,
    /// Slices of the machines that they run on: one machine, or three with the first of them mostly.
    pub(crate) slices: &'static [u64],
    /// The text of a kernel for so many slices.
    pub(crate) generate: fn(&mut Random, u64) -> String,
    /// What of so many kernels one at least must have and be accepted.
    pub(crate) features: &'static [Feature],
    /// See `features`.
    pub(crate) one_in: u64,
}

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
const WRONG: [&str; 6] = [
    "error[check]",
    "mistake in the pass",
    "error[pass-failed]",
    "error[run]",
    "error[ragged]",
    "error[shadow]",
];

/// Runs the kernel with more flags; whether it was accepted. A refusal must name a rule of the kernel.
pub(crate) fn run_kernel(name: &str, text: &str, machine: &str, shadow: bool, more: &[&str]) -> bool {
    let mut io = Io::buffered(text.to_owned(), ".");
    let mut flags = vec!["-", "--check", "--threads", "1", "--machine", machine];
    flags.extend(shadow.then_some("--shadow"));
    flags.extend(more);
    let flags: Vec<String> = flags.into_iter().map(str::to_owned).collect();
    if visa_run::run(&Registry::standard(), &flags, &mut io) == 0 {
        return true;
    }
    let errors = String::from_utf8_lossy(&io.stderr).into_owned();
    let found = WRONG.iter().find(|word| errors.contains(*word));
    assert!(found.is_none(), "{name}: {errors}\n{text}");
    false
}

/// Machines with these slices, as files.
pub(crate) fn machines(folder: &Path, slices: &[u64]) -> Vec<PathBuf> {
    let machine = |&slices: &u64| {
        let machine = machine_of(slices);
        let path = folder.join(format!("{slices}.json"));
        std::fs::write(&path, serde_json::to_string(&machine).expect("JSON")).expect("a file");
        path
    };
    slices.iter().map(machine).collect()
}

impl Kernels {
    /// Runs so many kernels of a seed, every one generated from its own number, so that each can be run alone; one
    /// in four asks shadow mode as well. One in ten at least must be legal.
    ///
    /// # Panics
    /// If a kernel breaks a promise, or if the kernels show too little.
    pub fn run(&self, settings: &Settings<'_>) {
        let Settings { count, seed, .. } = *settings;
        let Self { name, slices, features, .. } = *self;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let machines = machines(folder.path(), slices);
        let run_case = |tally: &mut Tally, case: u64| {
            let mut random = Random::of_case(seed, case);
            let size = match slices {
                [_] => 0,
                _ => match random.below(64) {
                    0 => 2,
                    1..24 => 1,
                    _ => 0,
                },
            };
            let text = (self.generate)(&mut random, slices[size]);
            let title = format!("{name}, seed {seed}, case {case}");
            if run_kernel(&title, &text, &machines[size].to_string_lossy(), case.is_multiple_of(4), &[]) {
                tally.accept(&text, features);
            } else {
                tally.refused += 1;
            }
        };
        let shares = shared::each_core(|numbers| {
            let mut tally = Tally::none(features);
            numbers.take_while(|case| *case < count).for_each(|case| run_case(&mut tally, case));
            tally
        });
        let Tally { accepted, refused, with } = shares.into_iter().fold(Tally::none(features), Tally::add);
        println!("{name}, seed {seed}: {accepted} accepted and checked, {refused} refused");
        assert!(accepted >= count / 10, "seed {seed}: only {accepted} of {count} kernels are legal");
        for ((name, _), found) in features.iter().zip(with) {
            println!("  {found} {name}");
            let least = count / self.one_in;
            assert!(found >= least, "seed {seed}: only {found} of {count} kernels are {name}");
        }
    }
}
