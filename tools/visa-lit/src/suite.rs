//! A set of tests and the way they are run.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use visa_files::Interrupts;

use crate::builtin::{Builtin, Invocation, Outcome};
use crate::directives::{Directives, RunLine};
use crate::discover::{self, DEFAULT_SKIPPED_DIRS};
use crate::exec::Shell;
use crate::filecheck;
use crate::golden::{BLESS_VARIABLE, Golden};
use crate::limits::{self, DEFAULT_TIME_LIMIT, Limits};
use crate::report::{Failure, Report, TestResult, Verdict, tail};
use crate::shell::Script;
use crate::substitution::Substitutions;

/// Returns true if the environment asks for blessing.
pub fn bless_requested() -> bool {
    std::env::var(BLESS_VARIABLE).is_ok_and(|value| value == "1")
}

/// The tests under one or more roots, with their commands and limits.
pub struct Suite {
    roots: Vec<PathBuf>,
    builtins: BTreeMap<String, Builtin>,
    features: BTreeSet<String>,
    substitutions: Substitutions,
    tools_dirs: Vec<PathBuf>,
    skipped_dirs: Vec<String>,
    filter: String,
    threads: usize,
    bless: bool,
    time_limit: Duration,
    interrupts: Option<Arc<Interrupts>>,
}

impl Default for Suite {
    /// No tests.
    fn default() -> Self {
        Self {
            roots: Vec::new(),
            builtins: BTreeMap::new(),
            features: BTreeSet::new(),
            substitutions: Substitutions::default(),
            tools_dirs: Vec::new(),
            skipped_dirs: DEFAULT_SKIPPED_DIRS.map(str::to_owned).to_vec(),
            filter: String::new(),
            threads: std::thread::available_parallelism().map_or(1, NonZero::get),
            bless: false,
            time_limit: DEFAULT_TIME_LIMIT,
            interrupts: None,
        }
    }
}

impl Suite {
    /// The tests under `root`, which is a directory or a test file.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self::default().with_root(root)
    }

    /// Adds another root.
    pub fn with_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.roots.push(root.into());
        self
    }

    /// Adds an in-process command; it goes before a program of the same name.
    pub fn with_builtin(
        mut self,
        name: &str,
        command: impl Fn(&Invocation) -> Outcome + Send + Sync + 'static,
    ) -> Self {
        self.builtins.insert(name.to_owned(), Arc::new(command));
        self
    }

    /// Declares a feature that `REQUIRES:`, `UNSUPPORTED:` and `XFAIL:` may name.
    pub fn with_feature(mut self, feature: &str) -> Self {
        self.features.insert(feature.to_owned());
        self
    }

    /// Adds a substitution; `name` may be written with or without its `%`.
    pub fn with_substitution(mut self, name: &str, value: &str) -> Self {
        self.substitutions.insert(name, value);
        self
    }

    /// Adds a directory in which programs are looked for before `PATH`.
    pub fn with_tools_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.tools_dirs.push(dir.into());
        self
    }

    /// Replaces the names of directories that hold no tests ([`DEFAULT_SKIPPED_DIRS`]).
    pub fn skip_dirs(mut self, names: &[&str]) -> Self {
        self.skipped_dirs = names.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    /// Runs only the tests whose path contains `part`.
    pub fn filter(mut self, part: &str) -> Self {
        self.filter = part.to_owned();
        self
    }

    /// Runs this many tests at a time; 0 counts as 1. The report does not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Makes `diff-expected` rewrite its file instead of comparing with it.
    pub fn bless(mut self, bless: bool) -> Self {
        self.bless = bless;
        self
    }

    /// The time that each test has ([`DEFAULT_TIME_LIMIT`] otherwise). One that takes longer fails.
    pub fn time_limit(mut self, time: Duration) -> Self {
        self.time_limit = time;
        self
    }

    /// Lets a signal that ends the process stop the tests first: their processes end, and their temporary files go.
    pub fn interrupts(mut self, interrupts: Interrupts) -> Self {
        self.interrupts = Some(Arc::new(interrupts));
        self
    }

    /// Runs the tests. An error of the run itself is in the report as an unresolved test.
    pub fn run(mut self) -> Report {
        // Dropped last: a signal that came ends the process when the temporary directory is gone.
        let interrupts = self.interrupts.clone();
        let _held = interrupts.as_ref().map(|interrupts| interrupts.hold());
        let golden = Arc::new(Golden::new(self.bless, interrupts.clone()));
        let diff = Arc::clone(&golden);
        self.builtins.insert("diff-expected".to_owned(), Arc::new(move |call| diff.run(call)));
        for name in ["FileCheck", "filecheck"] {
            self.builtins.entry(name.to_owned()).or_insert_with(|| Arc::new(filecheck::file_check));
        }
        let (tests, mut results) = self.find_tests();
        match tempfile::Builder::new().prefix("visa-lit-").tempdir() {
            Ok(temp) => results.extend(self.run_tests(&tests, temp.path())),
            Err(error) => results.push(unresolved("temporary directory", format!("cannot be made: {error}"))),
        }
        results.sort_by(|a, b| a.name.cmp(&b.name));
        Report { results, blessed: golden.blessed() }
    }

    /// The tests that the filter lets through, and a result for every root that cannot be read.
    fn find_tests(&self) -> (Vec<PathBuf>, Vec<TestResult>) {
        let mut tests = BTreeSet::new();
        let mut results = Vec::new();
        for root in &self.roots {
            match discover::tests_under(root, &self.skipped_dirs) {
                Ok(found) => tests.extend(found),
                Err(error) => results.push(unresolved(&root.to_string_lossy(), error)),
            }
        }
        tests.retain(|test| test.to_string_lossy().contains(&self.filter));
        (tests.into_iter().collect(), results)
    }

    /// Runs the tests on a fixed number of threads that take the next test until none is left.
    fn run_tests(&self, tests: &[PathBuf], temp: &Path) -> Vec<TestResult> {
        let next = AtomicUsize::new(0);
        let results = Mutex::new(Vec::with_capacity(tests.len()));
        let work = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(test) = tests.get(index).filter(|_| !self.interrupted()) else { break };
                let name = test.to_string_lossy().into_owned();
                // The number keeps the directories of tests with equal names in different roots apart.
                let verdict =
                    self.run_test(test, &temp.join(index.to_string())).unwrap_or_else(Verdict::Unresolved);
                let mut results = results.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                results.push(TestResult { name, verdict });
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.threads.min(tests.len()) {
                scope.spawn(work);
            }
        });
        results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn interrupted(&self) -> bool {
        self.interrupts.as_ref().is_some_and(|interrupts| interrupts.hold().check().is_err())
    }

    /// Runs one test in a separate directory; an error is the reason why it could not be run as written.
    fn run_test(&self, test: &Path, dir: &Path) -> Result<Verdict, String> {
        let source = limits::read(test).map_err(|error| format!("cannot read the test: {error}"))?;
        let directives = Directives::parse(&String::from_utf8_lossy(&source))?;
        let missing = directives.missing(&self.features);
        let excluded_by = directives.excluded_by(&self.features);
        if !missing.is_empty() || !excluded_by.is_empty() {
            return Ok(Verdict::Unsupported { missing, excluded_by });
        }
        std::fs::create_dir_all(dir)
            .map_err(|error| format!("cannot make a temporary directory: {error}"))?;
        let substitutions = self.substitutions_of(test, dir)?;
        let limits = Limits::starting(self.time_limit, self.interrupts.clone());
        let shell = Shell { builtins: &self.builtins, tools_dirs: &self.tools_dirs, cwd: dir, limits };
        let mut failure = None;
        for run in &directives.runs {
            failure = run_line(&shell, run, &substitutions)?;
            if failure.is_some() {
                break;
            }
        }
        Ok(match (failure, directives.expects_failure(&self.features)) {
            (None, false) => Verdict::Pass,
            (None, true) => Verdict::XPass,
            (Some(failure), false) => Verdict::Fail(failure),
            (Some(_), true) => Verdict::XFail,
        })
    }

    /// The suite's substitutions and those of this test.
    fn substitutions_of(&self, test: &Path, dir: &Path) -> Result<Substitutions, String> {
        // Commands run in the temporary directory, so the test's own path must be absolute.
        let file =
            std::path::absolute(test).map_err(|error| format!("cannot make the path absolute: {error}"))?;
        let dir = utf8(dir)?;
        let name = utf8(file.file_name().unwrap_or_default().as_ref())?;
        let parent = utf8(file.parent().unwrap_or(Path::new("/")))?;
        let mut substitutions = self.substitutions.clone();
        substitutions.insert("s", utf8(&file)?);
        substitutions.insert("S", parent);
        substitutions.insert("p", parent);
        substitutions.insert("t", &format!("{dir}/{name}.tmp"));
        Ok(substitutions)
    }
}

/// A path as commands get it: one that is not UTF-8 would have to be changed.
fn utf8(path: &Path) -> Result<&str, String> {
    path.to_str().ok_or_else(|| format!("the path {path:?} is not UTF-8: rename the file"))
}

/// Runs one script; an error is the reason why it could not be run as written.
fn run_line(
    shell: &Shell<'_>,
    run: &RunLine,
    substitutions: &Substitutions,
) -> Result<Option<Failure>, String> {
    let at_line = |message: String| format!("line {}: {message}", run.line);
    let script = Script::parse(&run.text, |word| substitutions.expand(word)).map_err(at_line)?;
    let Err(failure) = shell.run(&script) else {
        return Ok(None);
    };
    if failure.not_run {
        return Err(at_line(failure.reason));
    }
    Ok(Some(Failure {
        line: run.line,
        run: run.text.clone(),
        command: failure.command,
        reason: failure.reason,
        stdout: tail(&failure.stdout),
        stderr: tail(&failure.stderr),
    }))
}

fn unresolved(name: &str, reason: String) -> TestResult {
    TestResult { name: name.to_owned(), verdict: Verdict::Unresolved(reason) }
}
