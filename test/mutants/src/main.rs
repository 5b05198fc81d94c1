//! Mutants of a crate against its tests (docs/mutants.md).
//!
//! cargo-mutants lists them. It would build the crate once for each; here all go into one binary of a copy of the tree (`target/mutants/tree`),
//! each behind `crate::mutated(NUMBER)`, which the environment variable `MUTANT` chooses. Mutants that do not compile are taken out until the
//! rest does. Results are appended to `target/mutants/PACKAGE.txt`, and a run goes on where the last one stopped.

mod list;
mod place;
mod run;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use list::Mutant;

const USAGE: &str = "usage: visa-mutants PACKAGE FOLDER [FOLDER OF LIT TESTS]...";

const SWITCH: &str = "
#[doc(hidden)]
pub fn mutated(number: usize) -> bool {
    static CHOSEN: std::sync::OnceLock<Option<usize>> = std::sync::OnceLock::new();
    *CHOSEN.get_or_init(|| std::env::var(\"MUTANT\").ok()?.parse().ok()) == Some(number)
}
";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [package, folder, lit @ ..] = &arguments[..] else { panic!("{USAGE}") };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the root of the tree");
    let mut campaign = Campaign {
        root,
        tree: root.join("target/mutants/tree"),
        folder: Path::new(folder),
        results: root.join(format!("target/mutants/{package}.txt")),
        mutants: Vec::new(),
    };
    campaign.copy(&BTreeSet::new());
    campaign.mutants = list::list(&campaign.tree, package, campaign.folder);
    let (placed, tests) = campaign.build(&["test", "--no-run", "--package", package]);
    println!("{package}: {} mutants, {} in the binary", campaign.mutants.len(), placed.len());
    campaign.own_tests(&placed, &tests);
    if !lit.is_empty() {
        campaign.build(&["build"]);
        campaign.lit_tests(&placed, lit);
    }
}

struct Campaign<'a> {
    root: &'a Path,
    /// The copy of it that has the mutants.
    tree: PathBuf,
    /// The crate, from the root.
    folder: &'a Path,
    /// A line for every run: what noticed the mutant, or `missed`, and its name.
    results: PathBuf,
    mutants: Vec<Mutant>,
}

impl Campaign<'_> {
    /// Builds the copy of the tree with as many mutants as compile: these, and the programs.
    fn build(&self, arguments: &[&str]) -> (BTreeSet<usize>, Vec<PathBuf>) {
        let mut out = BTreeSet::new();
        loop {
            let placed = self.copy(&out);
            match run::cargo(&self.tree, arguments) {
                Ok(programs) => return (placed, programs),
                Err(wrong) => out.extend(wrong),
            }
        }
    }

    /// Copies the tree with its mutants, but for those that are `out`; which are in it. What is the same is left as it is, for cargo.
    fn copy(&self, out: &BTreeSet<usize>) -> BTreeSet<usize> {
        let mut git = Command::new("git");
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(self.root);
        let listed = git.output().expect("git runs").stdout;
        let mutated: BTreeSet<&Path> = self.mutants.iter().map(|mutant| mutant.file.as_path()).collect();
        let crate_root = self.folder.join("src/lib.rs");
        let mut placed = BTreeSet::new();
        for file in String::from_utf8(listed).expect("names in UTF-8").split_terminator('\0').map(Path::new) {
            let Ok(mut text) = fs::read(self.root.join(file)) else { continue };
            if mutated.contains(file) {
                let places = list::places(&self.mutants, file);
                let source = str::from_utf8(&text).expect("a source in UTF-8");
                let source = place::with_mutants(source, &self.mutants, places, out);
                placed.extend(place::behind(&source).into_iter().map(|(_, number)| number));
                text = source.into_bytes();
            }
            if file == crate_root {
                text.extend_from_slice(SWITCH.as_bytes());
            }
            let copy = self.tree.join(file);
            if fs::read(&copy).ok().as_ref() != Some(&text) {
                fs::create_dir_all(copy.parent().expect("a folder")).expect("the copy's folders can be made");
                fs::write(copy, text).expect("the copy can be written");
            }
        }
        placed
    }

    /// Every mutant's last outcome.
    fn outcomes(&self) -> BTreeMap<String, String> {
        let Ok(text) = fs::read_to_string(&self.results) else { return BTreeMap::new() };
        let outcomes = text.lines().filter_map(|line| line.split_once('\t'));
        outcomes.map(|(outcome, name)| (name.to_owned(), outcome.to_owned())).collect()
    }

    fn append(&self, outcome: &str, number: usize) {
        let mut file =
            File::options().create(true).append(true).open(&self.results).expect("results can be written");
        writeln!(file, "{outcome}\t{}", self.mutants[number].name).expect("results can be written");
    }

    /// The tests of the crate itself.
    fn own_tests(&self, placed: &BTreeSet<usize>, tests: &[PathBuf]) {
        let folder = self.tree.join(self.folder);
        let noticed = |mutant, seconds| {
            tests.iter().find_map(|test| {
                let mut command = run::with_mutant(test, mutant, seconds);
                command.current_dir(&folder);
                let failed = |line: &str| line.strip_suffix(" ... FAILED").map(str::to_owned);
                run::noticed(command, failed)
            })
        };
        let began = Instant::now();
        assert_eq!(noticed(None, 3600), None, "the tests fail without a mutant");
        let limit = 10 + 5 * began.elapsed().as_secs();
        let outcomes = self.outcomes();
        for &number in placed.iter().filter(|&&number| !outcomes.contains_key(&self.mutants[number].name)) {
            let noticed = noticed(Some(number), limit);
            self.append(noticed.as_deref().unwrap_or("missed"), number);
        }
    }

    /// The lit tests of some folders, for what the crate's own missed.
    fn lit_tests(&self, placed: &BTreeSet<usize>, folders: &[String]) {
        let noticed = |mutant| {
            let mut command = run::with_mutant(&self.root.join("target/release/visa-lit"), mutant, 600);
            command
                .arg("--tools-dir")
                .arg(self.tree.join("target/debug"))
                .args(["--threads", "1"])
                .args(folders);
            command.current_dir(&self.tree);
            run::noticed(command, |line| line.starts_with("FAIL").then(|| line.to_owned()))
        };
        assert_eq!(noticed(None), None, "the lit tests fail without a mutant");
        let outcomes = self.outcomes();
        let missed = |number: &&usize| {
            outcomes.get(&self.mutants[**number].name).is_some_and(|outcome| outcome == "missed")
        };
        for &number in placed.iter().filter(missed) {
            self.append(noticed(Some(number)).as_deref().unwrap_or("missed by lit tests too"), number);
        }
    }
}
