//! Random kernels through the vendor's Rust and back. A kernel that is exported must be imported, and then it computes
//! the same in as many cycles.

use crate::kernels::Kernels;
use crate::settings::Settings;
use crate::{chips, compute, pipelines, transfers};
use std::fs;
use std::path::Path;
use visa_opt::{Io, Registry};
use visa_support::Random;

/// Slices of a cluster of RNGD, which the vendor's language is for.
const SLICES: u64 = 256;

/// The generators of kernels.
const KINDS: [&Kernels; 4] = [&pipelines::KERNELS, &compute::KERNELS, &transfers::KERNELS, &chips::KERNELS];

/// Opens addresses alone: those of both texts are then chosen in the same way.
const ADDRESSES: &str = "--open-clauses=configurations=false orders=false distributions=false";

/// The result of a tool: its exit code, and both of its streams.
fn tool(run: impl FnOnce(&[String], &mut Io) -> i32, args: &[&str], input: &str) -> (i32, String, String) {
    let mut io = Io::buffered(input.to_owned(), ".");
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    let code = run(&args, &mut io);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (code, text(&io.stdout), text(&io.stderr))
}

/// The line with the cycles of a kernel; `None` if it cannot be lowered.
fn cycles(about: &str, text: &str) -> Option<String> {
    let opt = |args: &[String], io: &mut Io| visa_opt::run(&Registry::standard(), args, io);
    let (code, opened, errors) = tool(opt, &["-", ADDRESSES], text);
    assert_eq!(code, 0, "{about}: {errors}\n{text}");
    let run = |args: &[String], io: &mut Io| visa_run::run(&Registry::standard(), args, io);
    let flags = ["-", "--allocate", "--cost", "--memory-model", "flat"];
    let (code, found, _) = tool(run, &flags, &opened);
    found.lines().next().filter(|_| code == 0).map(str::to_owned)
}

/// Returns true if a legal kernel is exported; it must then come back. `None` if the kernel is not legal.
fn round_trip(about: &str, text: &str, folder: &Path) -> Option<bool> {
    let opt = |args: &[String], io: &mut Io| visa_opt::run(&Registry::standard(), args, io);
    if tool(opt, &["-"], text).0 != 0 {
        return None;
    }
    let (code, rust, left_out) = tool(visa_export::run, &["rust", "-"], text);
    if code != 0 {
        assert!(left_out.contains("is not exported: "), "{about}: {left_out}\n{text}");
        return Some(false);
    }
    let path = folder.join("kernel.rs");
    fs::write(&path, &rust).expect("a file");
    let path = path.to_string_lossy();
    let (code, back, errors) = tool(visa_import::run, &["rust", &path], "");
    assert_eq!(code, 0, "{about}: not imported: {errors}\n{rust}\nof\n{text}");
    let first = folder.join("kernel.visa");
    fs::write(&first, text).expect("a file");
    let (code, _, errors) = tool(opt, &["-", "--prove-equal", &first.to_string_lossy()], &back);
    assert_ne!(code, 1, "{about}: not equal: {errors}\n{back}\nof\n{text}");
    // The note counts streams of transfers that the text gives and the language lacks.
    if !left_out.contains("transfer stream") {
        assert_eq!(cycles(about, text), cycles(about, &back), "{about}: other cycles\n{back}\nof\n{text}");
    }
    Some(true)
}

/// Exports and imports random kernels of every kind.
pub fn run(settings: &Settings<'_>) {
    let Settings { count, seed, .. } = *settings;
    let folder = tempfile::tempdir().expect("a folder");
    let (mut exported, mut refused, mut illegal) = (0_u64, 0_u64, 0_u64);
    for case in 0..count {
        let mut random = Random::of_case(seed, case);
        let kind = random.pick(&KINDS).expect("kinds");
        let text = (kind.generate)(&mut random, SLICES);
        let about = format!("exports, seed {seed}, case {case}, {}", kind.name);
        match round_trip(&about, &text, folder.path()) {
            Some(true) => exported += 1,
            Some(false) => refused += 1,
            None => illegal += 1,
        }
    }
    println!("exports, seed {seed}: {exported} came back, {refused} refused, {illegal} not legal");
    assert!(exported >= count / 20, "only {exported} of {count} kernels were exported");
}
