//! Mutated kernels and data files through the tools, in process. Whatever is wrong with one is a diagnostic: no panic, no pass that leaves what does
//! not verify; and what is taken means the same after choosing, planning and lowering as the evaluator says.
//!
//! The seed is fixed, so a run is the same everywhere. A campaign: `VISA_MUTANTS=20000 cargo test --release -p visa-test --test mutants`, with
//! `VISA_SEED` for other mutants and a test's name for one of them; docs/benchmarks.md has the last one.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use visa_opt::{Io, Tool};
use visa_test::mutate::{Random, change};

/// Mutants of each kind in a run without `VISA_MUTANTS`.
const SMOKE: u64 = 25;

/// Most mutations of a mutant.
const MOST_CHANGES: usize = 3;

/// Longest seed, in bytes.
const MOST_BYTES: usize = 3000;

/// Most combinations of all axes of a kernel that is run.
const MOST_POINTS: u64 = 1 << 19;

/// What a tool must never say: of a panic, and of a pass that breaks its promise.
const NEVER: [&str; 3] = ["panicked", "a mistake in the pass", "the lowering is wrong"];

fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Calls `run` for each mutant: its number, and where chance comes from.
fn mutants(run: impl Fn(u64, &mut Random)) {
    for number in 0..variable("VISA_MUTANTS", SMOKE) {
        let seed = variable("VISA_SEED", 2026).wrapping_mul(1 << 32).wrapping_add(number);
        run(number, &mut Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1));
    }
}

/// The modules of the files below a folder of this tree, those that are short.
fn seeds(folders: &[&str]) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let entries = fs::read_dir(root.join(folder)).expect("a folder");
        files.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "visa"));
    files.sort();
    let texts = files.iter().map(|path| fs::read_to_string(path).expect("a text"));
    let modules = texts.flat_map(|text| text.split("// -----").map(versioned).collect::<Vec<_>>());
    modules.filter(|text| text.contains("tm.func") && text.len() <= MOST_BYTES).collect()
}

/// The module without comments: it is to be changed where it says something.
fn versioned(text: &str) -> String {
    let lines =
        text.lines().filter(|line| !line.trim_start().starts_with("//") && !line.starts_with("visa "));
    format!("visa 1\n{}\n", lines.collect::<Vec<_>>().join("\n"))
}

/// A seed with one to three changes.
fn mutant(seeds: &[String], random: &mut Random) -> String {
    let seed = random.pick(seeds).expect("seeds").clone();
    (0..=random.below(MOST_CHANGES)).fold(seed, |text, _| change(&text, random).unwrap_or(text))
}

/// Whether a kernel is small enough to be run: the product of its axes, as far as they can be read.
fn is_small(text: &str) -> bool {
    let declared = text.lines().filter(|line| line.contains("tm.axes"));
    let sizes = declared.flat_map(|line| line.split([',', '[', ']'])).filter_map(|axis| axis.split_once('='));
    let sizes = sizes.map(|(_, size)| size.trim().parse::<u64>().unwrap_or(1));
    sizes.fold(1, u64::saturating_mul) <= MOST_POINTS
}

/// What a tool gives: its exit code, standard output and standard error.
type Ran = (i32, String, String);

/// Runs a tool on a text; `about` is shown if it breaks a promise.
fn ran(about: &str, text: &[u8], tool: impl FnOnce(&mut Io) -> i32) -> Ran {
    let mut io = Io::buffered(text, env!("CARGO_MANIFEST_DIR"));
    let code = catch_unwind(AssertUnwindSafe(|| tool(&mut io)));
    let (out, err) = (String::from_utf8_lossy(&io.stdout), String::from_utf8_lossy(&io.stderr));
    let code = code.unwrap_or_else(|_| panic!("{about}: a panic\n{}", String::from_utf8_lossy(text)));
    let broken = NEVER.iter().any(|never| err.contains(never)) || !(0..=1).contains(&code);
    assert!(!broken, "{about}: exit code {code}\n{err}\n{}", String::from_utf8_lossy(text));
    (code, out.into_owned(), err.into_owned())
}

fn opt(about: &str, text: &str, args: &[&str]) -> Ran {
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    ran(about, text.as_bytes(), |io| Tool::standard().run(&args, io))
}

/// Runs a kernel, compared with the evaluator.
fn run(about: &str, text: &str, more: &[String]) -> Ran {
    let fixed = ["-", "--check", "--threads", "1", "--memory", "67108864"];
    let args: Vec<String> = fixed.map(str::to_owned).into_iter().chain(more.iter().cloned()).collect();
    ran(about, text.as_bytes(), |io| visa_run::run(&args, io))
}

/// Runs what a pipeline of passes makes of each mutant, if it is taken and small.
fn passes(folders: &[&str], args: &[&str]) {
    let seeds = seeds(folders);
    assert!(seeds.len() > 5, "{folders:?}");
    mutants(|number, random| {
        let text = mutant(&seeds, random);
        let about = format!("mutant {number} of {}", args.join(" "));
        let (code, made, _) = opt(&about, &text, args);
        if code == 0 && made.matches("tm.func").count() == 1 && is_small(&made) {
            run(&about, &made, &[]);
        }
    });
}

#[test]
fn kernels_are_lowered_and_run_as_the_evaluator_says() {
    passes(&["kernels", "book", "passes/lower-to-seq"], &["-"]);
}

#[test]
fn configurations_are_chosen() {
    let args = ["-", "--open-clauses", "--select-configs=budget=200", "--allocate"];
    passes(&["kernels", "passes/select-configs", "book"], &args);
}

#[test]
fn addresses_are_allocated() {
    passes(&["kernels", "passes/allocate"], &["-", "--open-clauses=configurations=false", "--allocate"]);
}

#[test]
fn expressions_are_planned() {
    passes(&["passes/plan-vector"], &["-", "--plan-vector", "--allocate"]);
}

/// A kernel of one argument and a copy of it.
const COPY: &str = "visa 1
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

/// Bytes with some of them changed: other bytes, fewer, more, or words of the text in them in another place.
fn bytes(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(MOST_CHANGES) {
        let at = random.below(bytes.len());
        match random.below(5) {
            0 if at < bytes.len() => bytes[at] = random.below(256) as u8,
            1 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            2 => bytes.truncate(at),
            3 => bytes.insert(at, random.below(256) as u8),
            _ => {
                let header = bytes.iter().position(|&byte| byte == b'{').unwrap_or(0);
                let end =
                    bytes.iter().rposition(|&byte| byte == b'}').map_or(header, |end| end + 1).max(header);
                let text = String::from_utf8_lossy(&bytes[header..end]).into_owned();
                let changed = change(&text, random).unwrap_or(text);
                bytes.splice(header..end, changed.into_bytes());
            }
        }
    }
    bytes
}

/// Runs the copy on each mutant of a data file.
fn data(name: &str, key: &str, seed: &[u8]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    let argument = [format!("--arg=x={}{key}", path.display())];
    fs::write(&path, seed).expect("a writable folder");
    assert_eq!(run("the seed", COPY, &argument).0, 0);
    mutants(|number, random| {
        let file = bytes(seed, random);
        fs::write(&path, &file).expect("a writable folder");
        run(&format!("mutant {number} of {name}: {file:?}"), COPY, &argument);
    });
}

#[test]
fn npy_files_are_read_or_refused() {
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (8, 16), }\n";
    let length = (header.len() as u16).to_le_bytes();
    data("x.npy", "", &[b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), &[0x3f; 512]].concat());
}

#[test]
fn safetensors_files_are_read_or_refused() {
    let header = r#"{"x":{"dtype":"F32","shape":[8,16],"data_offsets":[0,512]},"y":{"dtype":"I8","shape":[2],"data_offsets":[512,514]}}"#;
    let length = (header.len() as u64).to_le_bytes();
    data("x.safetensors", ":x", &[&length[..], header.as_bytes(), &[0x3f; 514]].concat());
}

#[test]
fn machine_descriptions_are_read_or_refused() {
    let seed = r#"{"name": "other", "topology": {"max_chips": 8, "clusters_per_chip": 2, "slices_per_cluster": 256, "dmns_per_pe": 2},
        "memory": {"dm_bytes_per_slice": 524288, "dm_banks": 16, "trf_rows": 8, "vrf_bytes": 8192}, "limits": {"flit_bytes": 32,
        "sequencer_entries": 8, "fetch_align": 1, "commit_sizes": [8, 16, 24, 32], "vector_lanes": 8}, "timing": {"clock_ghz": 1.0,
        "dma_startup_cycles": 500, "fetch_cast_cycles": 1}}"#;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("machine.json");
    let argument = [format!("--machine={}", path.display())];
    mutants(|number, random| {
        let file = bytes(seed.as_bytes(), random);
        fs::write(&path, &file).expect("a writable folder");
        run(&format!("mutant {number}: {}", String::from_utf8_lossy(&file)), COPY, &argument);
    });
}
