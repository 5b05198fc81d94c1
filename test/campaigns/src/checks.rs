//! What must hold of any text and any file that the tools are given, in process: whatever is wrong with it is a
//! diagnostic, nothing panics, no pass leaves what does not verify, and what is taken means after choosing,
//! planning and lowering what the evaluator says. The mutants and the fuzzer's targets share it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use visa_opt::{Io, Registry};

/// Most combinations of all axes of a kernel that is run.
const MOST_POINTS: u64 = 1 << 18;

/// What a tool must never say: of a panic, and of a pass that breaks its promise.
const NEVER: [&str; 2] = ["panicked", "a mistake in the pass"];

/// What a run says of a kernel whose lowering does not mean what the evaluator says.
const DIFFERS: &str = "the lowering is wrong";

/// Passes that take a kernel with nothing left open.
pub const AS_WRITTEN: &[&str] = &["-"];

/// Passes that choose configurations and then addresses; tensors stay in their slices.
pub const CHOSEN: &[&str] =
    &["-", "--open-clauses=distributions=false", "--select-configs=budget=10000", "--allocate"];

/// Passes that choose distributions too.
pub const DISTRIBUTED: &[&str] = &["-", "--open-clauses", "--select-configs=budget=10000", "--allocate"];

/// Passes that choose addresses alone.
pub const ALLOCATED: &[&str] =
    &["-", "--open-clauses=configurations=false distributions=false", "--allocate"];

/// Passes that plan expressions onto the vector engine.
pub const PLANNED: &[&str] = &["-", "--plan-vector", "--allocate"];

/// A kernel of one argument `x` of 8 times 16 `f32`, and a copy of it.
pub const COPY: &str = "visa 1
tm.axes [A = 8, B = 16]
tm.func @copy(%x: !tm.hbm<f32, [1], [A, B]>) at [0], chips 1 {
  %d = tm.to_dm %x at 0, cluster [1 # 2], slice [A # 256], element [B]
  %b = stream.begin main %d
  %f = stream.fetch %b time [1], packet [B]
  %c = stream.collect %f time [B / 8], packet [B % 8]
  %y = stream.commit %c at 4096, element [B]
  %out = tm.to_hbm %y at 0x20000000, element [A, B]
  tm.return %out
}
";

/// What a tool gives: its exit code, standard output and standard error.
pub type Ran = (i32, String, String);

/// What became of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The passes refuse it.
    Refused,
    /// The passes take it; it was not run, because it is large or not one kernel, or its run was refused.
    Taken,
    /// It ran, and gave what the evaluator says.
    Compared,
}

/// Runs a tool on a text; `about` is shown if it breaks a promise.
fn ran(about: &str, text: &str, tool: impl FnOnce(&mut Io) -> i32) -> Ran {
    let mut io = Io::buffered(text.as_bytes(), std::env::temp_dir());
    let code = catch_unwind(AssertUnwindSafe(|| tool(&mut io)));
    let (out, err) = (String::from_utf8_lossy(&io.stdout), String::from_utf8_lossy(&io.stderr));
    let code = code.unwrap_or_else(|_| panic!("{about}: a panic\n{text}"));
    let broken = NEVER.iter().any(|never| err.contains(never)) || !(0..=1).contains(&code);
    assert!(!broken, "{about}: exit code {code}\n{err}\n{text}");
    (code, out.into_owned(), err.into_owned())
}

/// Runs `visa-opt` on a text.
pub fn opt(about: &str, text: &str, args: &[&str]) -> Ran {
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    ran(about, text, |io| visa_opt::run(&Registry::standard(), &args, io))
}

/// Runs a kernel, compared with the evaluator.
pub fn run(about: &str, text: &str, more: &[String]) -> Ran {
    let with = |extra: &[&str]| {
        let fixed = ["-", "--check", "--threads", "1", "--memory", "1073741824"];
        let args: Vec<String> =
            fixed.iter().chain(extra).map(|&arg| arg.to_owned()).chain(more.iter().cloned()).collect();
        ran(about, text, |io| visa_run::run(&Registry::standard(), &args, io))
    };
    let found = with(&[]);
    // What depends on memory that nothing wrote differs without any mistake; only shadow mode knows.
    let found = if found.2.contains(DIFFERS) { with(&["--shadow"]) } else { found };
    assert!(!found.2.contains(DIFFERS), "{about}: {}\n{text}", found.2);
    found
}

/// Evaluates a function of the tensor level.
pub fn evaluate(about: &str, text: &str) -> String {
    let (_, out, _) = ran(about, text, |io| visa_run::run(&Registry::standard(), &["-".to_owned()], io));
    out
}

/// The checksums of results.
pub(crate) fn crc(out: &str) -> Vec<&str> {
    out.lines().filter_map(|line| line.split_once("crc32 ")).map(|(_, crc)| crc).collect()
}

/// Whether a kernel is small enough to be run: the product of its axes, as far as they can be read.
fn is_small(text: &str) -> bool {
    let declared = text.lines().filter(|line| line.contains("tm.axes"));
    let sizes = declared.flat_map(|line| line.split([',', '[', ']'])).filter_map(|axis| axis.split_once('='));
    let sizes = sizes.map(|(_, size)| size.trim().parse::<u64>().unwrap_or(u64::MAX));
    sizes.fold(1, u64::saturating_mul) <= MOST_POINTS
}

/// The names of the kernels of a text.
fn kernels(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter_map(|line| line.trim_start().strip_prefix("tm.func @")?.split_once('('))
        .map(|kernel| kernel.0)
}

/// Runs each kernel of what passes make of a text, if they take it and it is small.
pub fn passes(about: &str, text: &str, args: &[&str]) -> Outcome {
    let (code, made, _) = opt(about, text, args);
    if code != 0 {
        return Outcome::Refused;
    }
    if !is_small(&made) {
        return Outcome::Taken;
    }
    let mut outcome = Outcome::Taken;
    for kernel in kernels(&made) {
        let entry = [format!("--entry={kernel}")];
        let (code, out, _) = run(about, &made, &entry);
        if code != 0 || !out.contains(" compared,") {
            continue;
        }
        outcome = Outcome::Compared;
        if args == ALLOCATED {
            moved(about, text, &entry, &out);
        }
    }
    outcome
}

/// Addresses decide no value: a kernel whose addresses its author wrote has the same results.
fn moved(about: &str, text: &str, entry: &[String], allocated: &str) {
    let (code, written, _) = run(about, text, entry);
    let results =
        |out: &str| out.lines().filter(|line| line.contains("crc32")).collect::<Vec<_>>().join("\n");
    let same = code != 0 || written.contains("undefined") || results(&written) == results(allocated);
    assert!(same, "{about}: {written} is not {allocated}\n{text}");
}

/// Runs the copy on a data file.
pub fn data(about: &str, path: &Path, key: &str) -> Outcome {
    taken(run(about, COPY, &[format!("--arg=x={}{key}", path.display())]))
}

/// Runs the copy on a machine that a file describes.
pub fn machine(about: &str, path: &Path) -> Outcome {
    taken(run(about, COPY, &[format!("--machine={}", path.display())]))
}

fn taken((code, _, _): Ran) -> Outcome {
    if code == 0 { Outcome::Compared } else { Outcome::Refused }
}

/// Most cycles that a kernel may take with other addresses than the author's: a thousandth more than by hand. Where a
/// transfer within HBM reads and writes at once, it depends on both addresses which channels meet, and `allocate`
/// does not look at that.
pub(crate) fn most_cycles(by_hand: u64) -> u64 {
    by_hand + by_hand / 1000
}
