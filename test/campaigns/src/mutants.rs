//! Mutated kernels and data files through the tools, in process. Whatever is wrong with one is a diagnostic: no
//! panic, no pass that leaves what does not verify; and what is taken means the same after choosing, planning and
//! lowering as the evaluator says.

use crate::checks::{self, ALLOCATED, AS_WRITTEN, CHOSEN, DISTRIBUTED, Outcome, PLANNED};
use crate::mutate::change;
use crate::settings::{Settings, test_folder};
use std::fs;
use std::path::{Path, PathBuf};
use visa_support::Random;

/// Most mutations of a mutant that may be anything.
const MOST_CHANGES: usize = 3;

/// Most mutations that are tried on a mutant that is to be taken.
const MOST_TRIED: usize = 12;

/// Longest seed, in bytes.
const MOST_BYTES: usize = 3000;

/// Calls `run` for each mutant: its number, and where chance comes from. A kind of which hardly any mutant is
/// compared tests nothing.
fn mutants(kind: &str, settings: &Settings<'_>, run: impl Fn(u64, &mut Random) -> Outcome) {
    let Settings { count, seed, .. } = *settings;
    let mut outcomes = [0; 3];
    for number in 0..count {
        outcomes[run(number, &mut Random::of_case(seed, number)) as usize] += 1;
    }
    let [refused, taken, compared] = outcomes;
    println!("{kind}, seed {seed}: {count} mutants, {refused} refused, {taken} taken, {compared} compared");
    assert!(compared >= count / 10, "{kind}: {compared} of {count} mutants were compared");
}

/// The modules of the files below a folder of this tree, those that are short.
fn seeds(folders: &[&str]) -> Vec<String> {
    let root = test_folder();
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let entries = fs::read_dir(root.join(folder)).expect("a folder");
        files.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "visa"));
    files.sort();
    let texts = files.iter().map(|path| fs::read_to_string(path).expect("a text"));
    let modules = texts.flat_map(|text| text.split("// -----").map(versioned).collect::<Vec<_>>());
    modules.filter(|text| text.contains("tm.func") && text.len() <= MOST_BYTES && verifies(text)).collect()
}

/// The module without comments: it is to be changed where it says something.
fn versioned(text: &str) -> String {
    let lines =
        text.lines().filter(|line| !line.trim_start().starts_with("//") && !line.starts_with("visa "));
    format!("visa 1\n{}\n", lines.collect::<Vec<_>>().join("\n"))
}

/// A seed with changes. Of four mutants three keep only changes after which it is still taken: they get beyond the
/// first check.
fn mutant<T>(
    mut seed: T,
    random: &mut Random,
    change: impl Fn(&T, &mut Random) -> Option<T>,
    taken: impl Fn(&T) -> bool,
) -> T {
    let anything = random.below(4) == 0;
    for _ in 0..=random.below(if anything { MOST_CHANGES } else { MOST_TRIED }) {
        if let Some(changed) = change(&seed, random)
            && (anything || taken(&changed))
        {
            seed = changed;
        }
    }
    seed
}

fn verifies(text: &str) -> bool {
    checks::opt("a mutant", text, AS_WRITTEN).0 == 0
}

/// Runs what passes make of each mutant.
fn passes(settings: &Settings<'_>, folders: &[&str], args: &[&str]) {
    let seeds = seeds(folders);
    assert!(seeds.len() > 5, "{folders:?}");
    mutants(&args.join(" "), settings, |number, random| {
        let seed = random.pick(&seeds).expect("seeds").clone();
        let text = mutant(seed, random, |text, random| change(text, random), |text| verifies(text));
        checks::passes(&format!("mutant {number} of {}", args.join(" ")), &text, args)
    });
}

/// Kernels are lowered and run as the evaluator says.
pub fn lowered(settings: &Settings<'_>) {
    passes(settings, &["kernels", "book", "passes/lower-to-seq"], AS_WRITTEN);
}

/// Configurations are chosen.
pub fn configurations(settings: &Settings<'_>) {
    passes(settings, &["kernels", "passes/select-configs", "book"], CHOSEN);
}

/// Distributions are chosen too.
pub fn distributions(settings: &Settings<'_>) {
    passes(settings, &["kernels", "passes/select-configs", "book"], DISTRIBUTED);
}

/// Addresses are allocated.
pub fn addresses(settings: &Settings<'_>) {
    passes(settings, &["kernels", "passes/allocate"], ALLOCATED);
}

/// Expressions are planned.
pub fn expressions(settings: &Settings<'_>) {
    passes(settings, &["passes/plan-vector"], PLANNED);
}

/// Bytes with some of them changed: other bytes, fewer, more, or words of the text in them in another place.
fn change_bytes(seed: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut bytes = seed.to_vec();
    let at = random.below(bytes.len());
    match random.below(5) {
        0 => *bytes.get_mut(at)? = random.below(256) as u8,
        1 => *bytes.get_mut(at)? ^= 1 << random.below(8),
        2 => bytes.truncate(at),
        3 => bytes.insert(at, random.below(256) as u8),
        _ => {
            let header = bytes.iter().position(|&byte| byte == b'{')?;
            let end = bytes.iter().rposition(|&byte| byte == b'}').filter(|&end| end > header)? + 1;
            let changed = change(&String::from_utf8_lossy(&bytes[header..end]), random)?;
            bytes.splice(header..end, changed.into_bytes());
        }
    }
    Some(bytes)
}

/// Runs the copy on each mutant of a data file.
fn data(settings: &Settings<'_>, name: &str, key: &str, seed: &[u8]) {
    files(settings, name, seed, |about, path| checks::data(about, path, key));
}

/// Checks each mutant of a file.
fn files(settings: &Settings<'_>, name: &str, seed: &[u8], check: impl Fn(&str, &Path) -> Outcome) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    let checked = |about: &str, file: &[u8]| {
        fs::write(&path, file).expect("a writable folder");
        check(about, &path)
    };
    assert_eq!(checked("the seed", seed), Outcome::Compared);
    mutants(name, settings, |number, random| {
        let taken = |file: &Vec<u8>| checked("a mutant", file) == Outcome::Compared;
        let file = mutant(seed.to_vec(), random, |file, random| change_bytes(file, random), taken);
        checked(&format!("mutant {number} of {name}: {}", file.escape_ascii()), &file)
    });
}

/// npy files are read or refused.
pub fn npy(settings: &Settings<'_>) {
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (8, 16), }\n";
    let length = (header.len() as u16).to_le_bytes();
    data(
        settings,
        "x.npy",
        "",
        &[b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), &[0x3f; 512]].concat(),
    );
}

/// safetensors files are read or refused.
pub fn safetensors(settings: &Settings<'_>) {
    let header = r#"{"x":{"dtype":"F32","shape":[8,16],"data_offsets":[0,512]},
        "y":{"dtype":"I8","shape":[2],"data_offsets":[512,514]}}"#;
    let length = (header.len() as u64).to_le_bytes();
    data(settings, "x.safetensors", ":x", &[&length[..], header.as_bytes(), &[0x3f; 514]].concat());
}

/// Machine descriptions are read or refused.
pub fn machine(settings: &Settings<'_>) {
    let seed = r#"{"name": "other",
        "topology": {"max_chips": 8, "clusters_per_chip": 2, "slices_per_cluster": 256, "dmns_per_pe": 2},
        "memory": {"dm_bytes_per_slice": 524288, "dm_banks": 16, "trf_rows": 8, "vrf_bytes": 8192},
        "limits": {"flit_bytes": 32, "sequencer_entries": 8, "fetch_align": 1,
                   "commit_sizes": [8, 16, 24, 32], "vector_lanes": 8},
        "timing": {"clock_ghz": 1.0, "dma_startup_cycles": 500, "fetch_cast_cycles": 1}}"#;
    files(settings, "machine.json", seed.as_bytes(), checks::machine);
}
