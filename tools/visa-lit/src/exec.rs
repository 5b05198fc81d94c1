//! Runs a parsed script: pipelines of in-process commands and programs.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::builtin::{self, Builtin, Invocation, Outcome};
use crate::glob::Word;
use crate::limits::{self, Limits};
use crate::process;
use crate::shell::{Command, Redirect, Script};
use crate::status::Status;

/// The stage that made a script fail.
#[derive(Debug)]
pub(crate) struct StageFailure {
    /// The stage's words, for people.
    pub(crate) command: String,
    pub(crate) reason: String,
    /// True if the command could not even be started.
    pub(crate) not_run: bool,
    /// The stage's standard output, unless it went to a file.
    pub(crate) stdout: Vec<u8>,
    /// The standard error of it and the stages before it.
    pub(crate) stderr: Vec<u8>,
}

/// Where commands are found and run.
pub(crate) struct Shell<'a> {
    pub(crate) builtins: &'a BTreeMap<String, Builtin>,
    pub(crate) tools_dirs: &'a [PathBuf],
    pub(crate) cwd: &'a Path,
    pub(crate) limits: Limits,
}

/// The expectation of `not` for a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expectation {
    Success,
    Failure,
    Crash,
}

/// A command with `not` and `env` taken off its front.
struct Call<'a> {
    expectation: Expectation,
    env: BTreeMap<String, String>,
    program: &'a str,
    args: &'a [String],
}

impl Shell<'_> {
    pub(crate) fn run(&self, script: &Script) -> Result<(), StageFailure> {
        let mut result = Ok(());
        for step in &script.0 {
            if step.only_after_success && result.is_err() {
                continue;
            }
            result = self.run_pipeline(&step.pipeline);
        }
        result
    }

    /// Runs the stages one after the other, each on all of the output of the one before, up to the first that fails.
    /// Not starting the rest keeps `diff-expected` from blessing the output of a tool that failed.
    fn run_pipeline(&self, pipeline: &[Command]) -> Result<(), StageFailure> {
        let mut piped = Vec::new();
        let mut log = Vec::new();
        for command in pipeline {
            let fail = |reason, not_run, stdout, stderr| StageFailure {
                command: command.words.iter().map(Word::text).collect::<Vec<_>>().join(" "),
                reason,
                not_run,
                stdout,
                stderr,
            };
            let (expectation, status, outcome) = match self.run_stage(command, piped) {
                Ok(ran) => ran,
                Err(reason) => return Err(fail(reason, true, Vec::new(), log)),
            };
            log.extend(outcome.stderr);
            if let Some(reason) = objection(expectation, &status) {
                let not_run = matches!(status, Status::NotRun(_));
                return Err(fail(reason, not_run, outcome.stdout, log));
            }
            piped = outcome.stdout;
        }
        Ok(())
    }

    /// Runs one stage; the outcome holds the output that was not redirected to files.
    fn run_stage(&self, command: &Command, piped: Vec<u8>) -> Result<(Expectation, Status, Outcome), String> {
        let mut words = Vec::new();
        for word in &command.words {
            words.extend(word.files(self.cwd)?);
        }
        let call = Call::of(&words)?;
        let mut streams = Streams::open(&command.redirects, self.cwd, piped)?;
        let invocation = Invocation {
            args: call.args.to_vec(),
            stdin: std::mem::take(&mut streams.stdin),
            cwd: self.cwd.to_owned(),
            env: call.env.clone(),
        };
        let (status, outcome) = match self.builtins.get(call.program) {
            Some(builtin) => builtin::call(call.program, builtin, invocation, &self.limits),
            None => self.spawn(call.program, &invocation),
        };
        let outcome = streams.distribute(outcome)?;
        Ok((call.expectation, status, outcome))
    }

    /// Runs a program in a separate process, in a separate group.
    fn spawn(&self, program: &str, invocation: &Invocation) -> (Status, Outcome) {
        let Some(path) = self.find_program(program) else {
            let message = format!(
                "`{program}` is neither an in-process command nor a program in the tools directories or PATH; \
                 `cargo build` makes visa-opt and visa-run"
            );
            return (Status::NotRun(message), Outcome::default());
        };
        let mut command = std::process::Command::new(&path);
        command.args(&invocation.args).envs(&invocation.env).current_dir(&invocation.cwd);
        match process::run(&mut command, &invocation.stdin, &self.limits) {
            Ok(ended) => {
                let status = ended.status.map_or_else(Status::Stopped, Status::from_exit);
                (status, Outcome { code: 0, stdout: ended.stdout, stderr: ended.stderr })
            }
            Err(error) => {
                let message = format!("cannot run `{}`: {error}", path.display());
                (Status::NotRun(message), Outcome::default())
            }
        }
    }

    fn find_program(&self, program: &str) -> Option<PathBuf> {
        let file = format!("{program}{}", std::env::consts::EXE_SUFFIX);
        if program.contains(std::path::is_separator) {
            return [program, &file].iter().map(|name| self.cwd.join(name)).find(|path| path.is_file());
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let dirs = self.tools_dirs.iter().cloned().chain(std::env::split_paths(&path));
        dirs.map(|dir| dir.join(&file)).find(|path| path.is_file())
    }
}

impl<'a> Call<'a> {
    fn of(words: &'a [String]) -> Result<Self, String> {
        let mut expectation = Expectation::Success;
        let mut env = BTreeMap::new();
        let mut rest = words;
        loop {
            rest = match rest {
                [not, crash, tail @ ..] if not == "not" && crash == "--crash" => {
                    expectation = Expectation::Crash;
                    tail
                }
                [not, tail @ ..] if not == "not" => {
                    expectation = match expectation {
                        Expectation::Success => Expectation::Failure,
                        Expectation::Failure => Expectation::Success,
                        Expectation::Crash => {
                            return Err("`not` cannot follow `not --crash`".to_owned());
                        }
                    };
                    tail
                }
                [word, tail @ ..] if word == "env" => take_variables(tail, &mut env),
                [program, args @ ..] => {
                    return Ok(Self { expectation, env, program, args });
                }
                [] => return Err("expected a command after `not` or `env`".to_owned()),
            };
        }
    }
}

/// Takes the leading `NAME=VALUE` words off.
fn take_variables<'a>(words: &'a [String], env: &mut BTreeMap<String, String>) -> &'a [String] {
    let mut rest = words;
    while let [word, tail @ ..] = rest
        && let Some((name, value)) = word.split_once('=')
    {
        env.insert(name.to_owned(), value.to_owned());
        rest = tail;
    }
    rest
}

/// The reason why a command that ended so failed its expectation; `None` if it did not.
fn objection(expectation: Expectation, status: &Status) -> Option<String> {
    match (expectation, status) {
        (_, Status::NotRun(message) | Status::Stopped(message)) => Some(message.clone()),
        (Expectation::Success, Status::Exit(0)) | (Expectation::Crash, Status::Crash(_)) => None,
        (Expectation::Success, Status::Exit(code)) => Some(format!("exit code {code}")),
        (Expectation::Failure, Status::Exit(0)) => {
            Some("exit code 0, but `not` expects a failure".to_owned())
        }
        (Expectation::Failure, Status::Exit(_)) => None,
        (Expectation::Success | Expectation::Failure, Status::Crash(message)) => {
            Some(format!("crashed: {message}"))
        }
        (Expectation::Crash, Status::Exit(code)) => {
            Some(format!("exit code {code}, but `not --crash` expects a crash"))
        }
    }
}

/// Where a stage's output goes.
#[derive(Clone)]
enum Sink {
    /// Standard output to the next stage, standard error to the log.
    Default,
    /// Standard error to wherever standard output went by default.
    Stdout,
    /// `File` is shared where `2>&1` makes both streams write to it.
    File(Arc<File>),
}

struct Streams {
    stdin: Vec<u8>,
    out: Sink,
    err: Sink,
}

impl Streams {
    /// Applies redirections in the order written.
    fn open(redirects: &[Redirect], cwd: &Path, piped: Vec<u8>) -> Result<Self, String> {
        let mut streams = Self { stdin: piped, out: Sink::Default, err: Sink::Default };
        for redirect in redirects {
            match redirect {
                Redirect::Stdin(path) => {
                    streams.stdin = limits::read(&cwd.join(path))
                        .map_err(|error| format!("cannot read `{path}`: {error}"))?;
                }
                Redirect::Stdout { path, append } => streams.out = create(cwd, path, *append)?,
                Redirect::Stderr { path, append } => streams.err = create(cwd, path, *append)?,
                Redirect::StderrToStdout => {
                    streams.err = match &streams.out {
                        Sink::Default => Sink::Stdout,
                        sink => sink.clone(),
                    };
                }
            }
        }
        Ok(streams)
    }

    /// Sends the two outputs to their targets; the rest stays in the outcome for the next stage and the log.
    fn distribute(&self, outcome: Outcome) -> Result<Outcome, String> {
        let mut rest = Outcome { code: outcome.code, ..Outcome::default() };
        for (bytes, sink, is_stdout) in
            [(outcome.stdout, &self.out, true), (outcome.stderr, &self.err, false)]
        {
            match sink {
                Sink::File(file) => file
                    .as_ref()
                    .write_all(&bytes)
                    .map_err(|error| format!("cannot write a redirected output: {error}"))?,
                Sink::Stdout => rest.stdout.extend(bytes),
                Sink::Default if is_stdout => rest.stdout.extend(bytes),
                Sink::Default => rest.stderr.extend(bytes),
            }
        }
        Ok(rest)
    }
}

fn create(cwd: &Path, path: &str, append: bool) -> Result<Sink, String> {
    let mut options = OpenOptions::new();
    options.create(true).write(true).append(append).truncate(!append);
    let file = options.open(cwd.join(path)).map_err(|error| format!("cannot write `{path}`: {error}"))?;
    Ok(Sink::File(Arc::new(file)))
}
