//! What a pass is, and what it sees while it runs.

use crate::options::{OptionDecl, Options};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::Module;
use visa_ir::open::Opening;

/// How far down a module has been lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// No operation of the levels below. As what a pass takes or gives: whatever it gets.
    Any,
    /// Tensors and streams: dialects `tm` and `stream`.
    Tensor,
    /// Nested-loop programs: dialect `seq`.
    Sequencer,
    /// Commands on bytes: dialect `hw`.
    Hardware,
}

impl Level {
    /// The level of a module: the least lowered one that an operation of it belongs to.
    #[must_use]
    pub fn of(ctx: &Context, module: &Module) -> Self {
        let level = |name: &str| match name.split('.').next() {
            Some("tm" | "stream") => Self::Tensor,
            Some("seq") => Self::Sequencer,
            Some("hw") => Self::Hardware,
            Some(_) | None => Self::Any,
        };
        let levels = module.walk_all().into_iter().map(|id| level(module.op(ctx, id).name()));
        levels.filter(|level| *level != Self::Any).min().unwrap_or(Self::Any)
    }

    /// Whether a pass that takes this level can run on a module at `found`.
    #[must_use]
    pub fn accepts(self, found: Self) -> bool {
        self == Self::Any || found == Self::Any || self == found
    }

    /// The level of a module at `before` when a pass that gives this one is through.
    #[must_use]
    pub fn after(self, before: Self) -> Self {
        if self == Self::Any { before } else { self }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Any => "any",
            Self::Tensor => "tensor",
            Self::Sequencer => "sequencer",
            Self::Hardware => "hardware",
        })
    }
}

/// A pass, declared as data. Its file in `src/pass/`, its name and its test folder are called the same.
pub struct Pass {
    /// Its name in pipelines, and behind `--` on the command line.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// What it does and why that keeps the meaning (Markdown).
    pub doc: &'static str,
    /// What can be chosen.
    pub options: &'static [OptionDecl],
    /// The level it takes.
    pub takes: Level,
    /// The level it gives.
    pub gives: Level,
    /// Whether it takes modules with open clauses.
    pub open: bool,
    /// Warnings of the passes before it, by code, that are errors in a pipeline with this pass.
    pub denies: &'static [&'static str],
    /// Which open clauses it closes: behind it there are none of this kind.
    pub closes: Option<Opening>,
    /// What it counts, with what each count means.
    pub statistics: &'static [(&'static str, &'static str)],
    /// Rewrites the module. Errors are about the input; the module is dropped then.
    pub run: fn(&mut PassCx<'_>) -> Result<(), Vec<Diagnostic>>,
}

impl Pass {
    /// A pass that changes nothing: the base of a declaration (`..Pass::BASE`).
    pub const BASE: Self = Self {
        name: "",
        summary: "",
        doc: "",
        options: &[],
        takes: Level::Any,
        gives: Level::Any,
        open: false,
        denies: &[],
        closes: None,
        statistics: &[],
        run: |_| Ok(()),
    };
}

impl fmt::Debug for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A file that a pass wants written. Whoever runs the pass decides whether and where: passes open no files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its name, as an option of kind [`Output`](crate::OptionKind::Output) gives it.
    pub name: String,
    /// What it is to hold.
    pub bytes: Vec<u8>,
}

/// What a running pass sees.
pub struct PassCx<'a> {
    /// The context.
    pub ctx: &'a Context,
    /// The module to rewrite.
    pub module: &'a mut Module,
    /// The options of this run.
    pub options: &'a Options,
    pub(crate) findings: Vec<Diagnostic>,
    pub(crate) counts: BTreeMap<&'static str, u64>,
    pub(crate) phases: Vec<(&'static str, Duration)>,
    pub(crate) outputs: Vec<Output>,
}

impl<'a> PassCx<'a> {
    /// What a pass sees when it runs on `module` with `options`; for tests of a pass without a manager.
    #[must_use]
    pub fn new(ctx: &'a Context, module: &'a mut Module, options: &'a Options) -> Self {
        let (findings, phases, outputs) = (Vec::new(), Vec::new(), Vec::new());
        Self { ctx, module, options, findings, counts: BTreeMap::new(), phases, outputs }
    }

    /// Reports a warning or a remark and goes on. An error reported here refuses the input when the pass ends.
    pub fn report(&mut self, finding: Diagnostic) {
        self.findings.push(finding);
    }

    /// Asks for a file to be written, if the pass succeeds.
    pub fn write(&mut self, output: Output) {
        self.outputs.push(output);
    }

    /// Adds `n` to a declared statistic.
    pub fn count(&mut self, statistic: &'static str, n: u64) {
        *self.counts.entry(statistic).or_default() += n;
    }

    /// Says how much of the pass's wall time a phase took.
    pub fn spend(&mut self, phase: &'static str, time: Duration) {
        self.phases.push((phase, time));
    }

    /// The count of a statistic so far.
    #[must_use]
    pub fn counted(&self, statistic: &str) -> u64 {
        self.counts.get(statistic).copied().unwrap_or_default()
    }
}
