//! A researcher's visa-opt, visa-run and visa-lit.

use std::path::PathBuf;
use std::process::ExitCode;
use visa_ir::decl::Dialect;
use visa_lit::{Invocation, Outcome, Suite, bless_requested};
use visa_opt::{Io, Registry};
use visa_pass::Pass;

/// The usage text of `main`.
const USAGE: &str = "usage: PROGRAM opt|run|lit ARGUMENTS\n\n  opt  reads modules, runs passes, writes modules\n  \
                     run  runs, checks and prices a kernel\n  lit  runs the RUN lines of test files\n\n`PROGRAM opt \
                     --help` and the like list the flags.\n";

/// Everything that comes with visa, and dialects and passes of one's own: a visa-opt, a visa-run and a visa-lit that
/// know all of it.
#[derive(Clone, Debug, Default)]
pub struct Tool {
    /// Its dialects and passes.
    pub registry: Registry,
}

impl Tool {
    /// Everything that comes with visa.
    #[must_use]
    pub fn standard() -> Self {
        Self { registry: Registry::standard() }
    }

    /// With one more dialect.
    #[must_use]
    pub fn dialect(self, dialect: &'static Dialect) -> Self {
        Self { registry: self.registry.dialect(dialect) }
    }

    /// With one more pass. It takes the place of one with the same name.
    #[must_use]
    pub fn pass(self, pass: &'static Pass) -> Self {
        Self { registry: self.registry.pass(pass) }
    }

    /// visa-opt on `args` (without the program's name). Returns the exit code.
    pub fn opt(&self, args: &[String], io: &mut Io) -> i32 {
        visa_opt::run(&self.registry, args, io)
    }

    /// visa-run on `args` (without the program's name). Returns the exit code.
    pub fn run(&self, args: &[String], io: &mut Io) -> i32 {
        visa_run::run(&self.registry, args, io)
    }

    /// visa-lit on `args` (without the program's name), with the tool's own visa-opt and visa-run. Returns the exit
    /// code.
    pub fn lit(&self, args: &[String], io: &mut Io) -> i32 {
        let interrupts = io.interrupts.take();
        let Outcome { code, stdout, stderr } = visa_lit::run(args, &io.cwd, |suite| {
            let suite = self.with_programs(suite);
            interrupts.into_iter().fold(suite, Suite::interrupts)
        });
        io.stdout.extend(stdout);
        io.stderr.extend(stderr);
        code
    }

    /// The tests under `root`, for a user's `cargo test`. `VISA_BLESS=1` accepts their outputs.
    #[must_use]
    pub fn suite(&self, root: impl Into<PathBuf>) -> Suite {
        self.with_programs(Suite::new(root)).bless(bless_requested())
    }

    /// In `RUN` lines visa-opt and visa-run are those of this tool, in this process.
    fn with_programs(&self, suite: Suite) -> Suite {
        let (opt, run) = (self.clone(), self.clone());
        suite
            .with_builtin("visa-opt", command(move |args, io| opt.opt(args, io)))
            .with_builtin("visa-run", command(move |args, io| run.run(args, io)))
            .with_builtin("visa-import", command(visa_import::run))
            .with_builtin("visa-export", command(visa_export::run))
    }

    /// The three as one program, on the process's own arguments and streams: `PROGRAM opt|run|lit ARGUMENTS`.
    #[must_use]
    pub fn main(&self) -> ExitCode {
        visa_opt::process(|args, io| self.program(args, io))
    }

    /// [`Tool::main`] on `args` (without the program's name). Returns the exit code.
    pub fn program(&self, args: &[String], io: &mut Io) -> i32 {
        match args.split_first().map(|(name, rest)| (name.as_str(), rest)) {
            Some(("opt", args)) => self.opt(args, io),
            Some(("run", args)) => self.run(args, io),
            Some(("lit", args)) => self.lit(args, io),
            Some(("--help" | "-h", _)) => {
                io.stdout.extend(USAGE.as_bytes());
                0
            }
            Some((other, _)) => {
                let message = format!("error: found `{other}`, expected `opt`, `run` or `lit`\n\n{USAGE}");
                io.stderr.extend(message.into_bytes());
                2
            }
            None => {
                io.stderr.extend(USAGE.as_bytes());
                2
            }
        }
    }
}

/// A program as an in-process command of a suite.
pub fn command(
    program: impl Fn(&[String], &mut Io) -> i32 + Send + Sync,
) -> impl Fn(&Invocation) -> Outcome + Send + Sync {
    move |call| {
        let mut io = Io::buffered(call.stdin.clone(), call.cwd.clone());
        let code = program(&call.args, &mut io);
        Outcome { code, stdout: io.stdout, stderr: io.stderr }
    }
}
