//! The declaration of a pass, and its interface while it runs.

use crate::options::{OptionDecls, Options, PassOptions};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;
use visa_ir::analysis::{Analyses, Analysis, Handle, Preserved};
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::level::Level;
use visa_ir::module::{BlockId, Module, OpId};
use visa_ir::open::Opening;
use visa_ir::verify::verify_with;

/// The part of a module that a pass visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The whole module.
    Module,
    /// The content of one operation, regardless of its context. In `tm.func(cse)` it runs on each function by itself;
    /// outside, on the whole module.
    Operation,
}

/// A pass, declared as data. Its file in `src/pass/`, its name and its test folder are called the same.
pub struct Pass {
    /// Its name in pipelines, and after `--` on the command line.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Its effect and the reason that it preserves the semantics (Markdown).
    pub doc: &'static str,
    /// Its options; from [`Pass::with`].
    pub options: OptionDecls,
    /// The part of the module that it visits.
    pub scope: Scope,
    /// The analyses that still hold when it has changed the module.
    pub preserves: Preserved,
    /// The level it takes.
    pub takes: Level,
    /// The level it gives.
    pub gives: Level,
    /// True if it takes modules with open clauses.
    pub open: bool,
    /// Warnings of the passes before it, by code, that are errors in a pipeline with this pass.
    pub denies: &'static [&'static str],
    /// The kind of open clauses that it closes: after it there are none of this kind.
    pub closes: Option<Opening>,
    /// Its counters, with their descriptions.
    pub statistics: &'static [(&'static str, &'static str)],
    /// Rewrites the module. Errors are about the input; the module is dropped then.
    pub run: fn(&mut PassCx<'_>) -> Result<(), Vec<Diagnostic>>,
}

/// A pass with options is its options: [`Pass::with`] declares these, and runs this.
pub trait Configured: PassOptions {
    /// Rewrites the module. Errors are about the input; the module is dropped then.
    ///
    /// # Errors
    /// The errors in the input.
    fn run(self, cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>>;
}

impl Pass {
    /// A pass that changes nothing: the base of a declaration (`..Pass::BASE`).
    pub const BASE: Self = Self {
        name: "",
        summary: "",
        doc: "",
        options: OptionDecls::NONE,
        scope: Scope::Module,
        preserves: Preserved::None,
        takes: Level::Any,
        gives: Level::Any,
        open: false,
        denies: &[],
        closes: None,
        statistics: &[],
        run: |_| Ok(()),
    };

    /// A pass that its options configure: the base of its declaration (`..Pass::with::<Settings>()`).
    #[must_use]
    pub const fn with<T: Configured>() -> Self {
        Self {
            options: T::DECLS,
            run: |cx| T::read(cx.options).map_err(|error| vec![error])?.run(cx),
            ..Self::BASE
        }
    }
}

impl fmt::Debug for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A file that a pass writes. The caller of the pass decides if and where: passes open no files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its name, as an option of kind [`Output`](crate::OptionKind::Output) gives it.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// The interface of a running pass.
pub struct PassCx<'a> {
    /// The context.
    pub ctx: &'a Context,
    /// The module to rewrite.
    pub module: &'a mut Module,
    /// The options of this run: only [`Pass::with`] reads them.
    pub(crate) options: &'a Options,
    /// The operation that the pass is nested in, as in `tm.func(cse)`; none where it runs on the whole module.
    pub root: Option<OpId>,
    pub(crate) analyses: Rc<Analyses>,
    pub(crate) findings: Vec<Diagnostic>,
    pub(crate) counts: BTreeMap<&'static str, u64>,
    pub(crate) phases: Vec<(&'static str, Duration)>,
    pub(crate) outputs: Vec<Output>,
}

impl<'a> PassCx<'a> {
    /// The interface of a pass that runs on `module` with `options`; for tests of a pass without a manager.
    #[must_use]
    pub fn new(ctx: &'a Context, module: &'a mut Module, options: &'a Options) -> Self {
        let (findings, phases, outputs) = (Vec::new(), Vec::new(), Vec::new());
        let (root, analyses) = (None, Rc::default());
        Self { ctx, module, options, root, analyses, findings, counts: BTreeMap::new(), phases, outputs }
    }

    /// The analysis `A` of the module as it is now: one that earlier passes preserved, or a new one.
    #[must_use]
    pub fn analysis<A: Analysis>(&self) -> Rc<A> {
        self.analyses.get(self.ctx, self.module)
    }

    /// The same, to be kept and asked again later, which fails if it does not hold any more.
    #[must_use]
    pub fn analysis_handle<A: Analysis>(&self) -> Handle<A> {
        self.analyses.handle(self.ctx, self.module)
    }

    /// The blocks that the pass looks at.
    #[must_use]
    pub fn blocks(&self) -> Vec<BlockId> {
        match self.root {
            Some(root) => self.module.op(self.ctx, root).regions().to_vec(),
            None => vec![self.module.body()],
        }
    }

    /// Every operation that the pass visits, each before the content of its regions.
    #[must_use]
    pub fn walk(&self) -> Vec<OpId> {
        self.blocks().into_iter().flat_map(|block| self.module.walk(block)).collect()
    }

    /// Everything wrong with the module, as the manager will find it when the pass ends.
    #[must_use]
    pub fn verify(&self) -> Vec<Diagnostic> {
        verify_with(self.ctx, self.module, &self.analyses)
    }

    /// Reports a warning or a remark and goes on. An error reported here refuses the input when the pass ends.
    pub fn report(&mut self, finding: Diagnostic) {
        self.findings.push(finding);
    }

    /// The warnings and remarks that were reported, for a pass that runs another one on a separate module.
    #[must_use]
    pub fn into_findings(self) -> Vec<Diagnostic> {
        self.findings
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

    /// Runs another pass with its default options as a part of this one. Its findings are those of this pass, its
    /// statistics are not.
    ///
    /// # Errors
    /// Those of the other pass.
    pub fn run(&mut self, pass: &Pass) -> Result<(), Vec<Diagnostic>> {
        self.run_with(pass, &Options::defaults(pass.options))
    }

    /// Runs another pass with these options as a part of this one, as [`PassCx::run`] does.
    ///
    /// # Errors
    /// Those of the other pass.
    pub fn run_with(&mut self, pass: &Pass, options: &Options) -> Result<(), Vec<Diagnostic>> {
        let mut inner = PassCx::new(self.ctx, self.module, options);
        let ran = (pass.run)(&mut inner);
        let findings = inner.findings;
        self.findings.extend(findings);
        ran
    }

    /// The count of a statistic so far.
    #[must_use]
    pub fn counted(&self, statistic: &str) -> u64 {
        self.counts.get(statistic).copied().unwrap_or_default()
    }
}
