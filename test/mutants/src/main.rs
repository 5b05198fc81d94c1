//! Mutants of a crate against its tests (docs/mutants.md).
//!
//! cargo-mutants lists them. It would build the crate once for each; here all go into one binary of a copy of the
//! tree (`target/mutants/PACKAGE`), each behind `crate::mutated(NUMBER)`, which the environment variable `MUTANT`
//! chooses. Mutants that do not compile are taken out until the rest does. Results are appended to
//! `target/mutants/PACKAGE.txt`, and a run goes on where the last one stopped.

mod list;
mod place;
mod run;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use list::Mutant;

const USAGE: &str = "usage: visa-mutants PACKAGE FOLDER [FOLDER OF LIT TESTS]...";

/// Outcome of a mutant that the compiler refuses.
const WRONG: &str = "does not compile";

/// Lit tests for one mutant, the quickest: all that come by it would take a minute.
const MOST_LIT_TESTS: usize = 12;

/// `MUTANT` chooses one. Those that a run comes by are written into the file that `REACHED` names.
const SWITCH: &str = "
#[doc(hidden)]
pub fn mutated(number: usize) -> bool {
    use std::io::Write;
    use std::sync::{OnceLock, atomic::{AtomicBool, Ordering}};
    static CHOSEN: OnceLock<Option<usize>> = OnceLock::new();
    static FILE: OnceLock<Option<std::fs::File>> = OnceLock::new();
    static REACHED: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];
    let open = || std::fs::File::options().create(true).append(true).open(std::env::var_os(\"REACHED\")?).ok();
    if let Some(mut file) = FILE.get_or_init(open).as_ref() && !REACHED[number].swap(true, Ordering::Relaxed) {
        file.write_all(format!(\"{number}\\n\").as_bytes()).expect(\"the file can be written\");
    }
    *CHOSEN.get_or_init(|| std::env::var(\"MUTANT\").ok()?.parse().ok()) == Some(number)
}
";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [package, folder, lit @ ..] = &arguments[..] else { panic!("{USAGE}") };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the root of the tree");
    let mut campaign = Campaign {
        root,
        tree: root.join("target/mutants").join(package),
        folder: Path::new(folder),
        results: root.join(format!("target/mutants/{package}.txt")),
        mutants: Vec::new(),
    };
    campaign.copy();
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
        loop {
            let placed = self.copy();
            match run::cargo(&self.tree, &self.root.join("target/mutants/target"), arguments) {
                Ok(programs) => return (placed, programs),
                Err(wrong) => wrong.iter().for_each(|&number| self.append(WRONG, number)),
            }
        }
    }

    /// Copies the tree with its mutants; which are in it. What is the same is left as it is, for cargo.
    fn copy(&self) -> BTreeSet<usize> {
        let mutated: BTreeSet<&Path> = self.mutants.iter().map(|mutant| mutant.file.as_path()).collect();
        let crate_root = self.folder.join("src/lib.rs");
        let outcomes = self.outcomes();
        let is_wrong = |mutant: &Mutant| outcomes.get(&mutant.name).is_some_and(|outcome| outcome == WRONG);
        let mut placed = BTreeSet::new();
        for file in files(self.root, &[]) {
            let file = file.as_path();
            let Ok(mut text) = fs::read(self.root.join(file)) else { continue };
            if mutated.contains(file) {
                let places = list::places(&self.mutants, |mutant| mutant.file == file && !is_wrong(mutant));
                let source = str::from_utf8(&text).expect("a source in UTF-8");
                let source = place::with_mutants(source, &self.mutants, places);
                placed.extend(place::behind(&source).into_iter().map(|(_, number)| number));
                text = source.into_bytes();
            }
            if file == crate_root && !mutated.is_empty() {
                text.extend(SWITCH.replace("COUNT", &self.mutants.len().to_string()).into_bytes());
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

    /// The lit tests of some folders, for what the crate's own missed: of each mutant those that reach it, the
    /// quickest first.
    fn lit_tests(&self, placed: &BTreeSet<usize>, folders: &[String]) {
        let mut tests: Vec<LitTest> = folders.iter().flat_map(|folder| self.lit_tests_of(folder)).collect();
        tests.sort_by_key(|test| test.time);
        let outcomes = self.outcomes();
        let missed = |number: &&usize| {
            outcomes.get(&self.mutants[**number].name).is_some_and(|outcome| outcome == "missed")
        };
        for &number in placed.iter().filter(missed) {
            let reaching = tests.iter().filter(|test| test.reached.contains(&number));
            let mut reaching = reaching.take(MOST_LIT_TESTS).peekable();
            let outcome = match reaching.peek() {
                None => "missed, reached by no lit test".to_owned(),
                Some(_) => match reaching.find(|test| self.fails(&test.path, number)) {
                    Some(test) => test.path.display().to_string(),
                    None => "missed by lit tests too".to_owned(),
                },
            };
            self.append(&outcome, number);
        }
    }

    /// Runs the lit tests of a folder without a mutant.
    fn lit_tests_of(&self, folder: &str) -> Vec<LitTest> {
        let files = files(self.root, &[folder]);
        let tests = files.into_iter().filter(|file| {
            let extension = file.extension().and_then(|extension| extension.to_str());
            matches!(extension, Some("visa" | "test" | "mlir"))
        });
        let run = |path: PathBuf| {
            let reached = self.root.join("target/mutants/reached.txt");
            fs::write(&reached, "").expect("the copy can be written");
            let began = Instant::now();
            let mut command = self.lit(&path, None);
            command.env("REACHED", &reached);
            assert_eq!(run::noticed(command, |_| None), None, "{} fails without a mutant", path.display());
            let time = began.elapsed();
            let reached = fs::read_to_string(&reached).expect("it was written");
            let reached = reached.lines().map(|number| number.parse().expect("a number")).collect();
            LitTest { path, reached, time }
        };
        tests.map(run).collect()
    }

    fn fails(&self, test: &Path, mutant: usize) -> bool {
        run::noticed(self.lit(test, Some(mutant)), |_| None).is_some()
    }

    fn lit(&self, test: &Path, mutant: Option<usize>) -> Command {
        let mut command = run::with_mutant(&self.root.join("target/release/visa-lit"), mutant, 100);
        command
            .arg("--tools-dir")
            .arg(self.root.join("target/mutants/target/debug"))
            .arg("--threads=1")
            .arg(test);
        command.current_dir(&self.tree);
        command
    }
}

struct LitTest {
    path: PathBuf,
    /// The mutants that it comes by.
    reached: BTreeSet<usize>,
    time: Duration,
}

/// Files of a tree, but for what git ignores.
fn files(tree: &Path, below: &[&str]) -> Vec<PathBuf> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).args(below).current_dir(tree);
    let listed = String::from_utf8(git.output().expect("git runs").stdout).expect("names in UTF-8");
    listed.split_terminator('\0').map(PathBuf::from).collect()
}
