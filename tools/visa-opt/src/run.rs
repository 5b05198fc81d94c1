//! One run of the tool, from flags to an exit code.

use crate::dump::Dump;
use crate::files::{pass_outputs, shared_files};
use crate::flags::Flags;
use crate::io::Io;
use crate::load::{load_config_rules, load_machine, load_module, read_rules, read_source, unwritable};
use crate::progress::on_terminal;
use crate::query::rules;
use crate::registry::Registry;
use crate::report::{Timing, statistics};
use crate::reproducer::{pipeline_of, reproducer};
use crate::split::{SEPARATOR, split};
use crate::validate::{Both, Validation};
use crate::{docs, expect, files, outputs};
use std::ops::Range;
use std::time::Instant;
use visa_files::FileRoles;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::irdl;
use visa_ir::module::Module;
use visa_ir::print::{Form, print, print_located};
use visa_ir::span::{Source, Span};
use visa_ir::verify::has_errors;
use visa_mapping::GivenSizes;
use visa_pass::{About, Failure, Output, PassManager, Pipeline, StepReport};
use visa_raise::tensor::ruleset::UserRules;

/// Findings, and the text that their spans point into, if any: not all are about a text.
pub(crate) type Refusal = (Option<Source>, Vec<Diagnostic>);

/// Refuses an output that is another file of the run.
fn refuse_shared(roles: &FileRoles) -> Result<(), Refusal> {
    let shared = shared_files(roles);
    if shared.is_empty() { Ok(()) } else { Err((None, shared)) }
}

/// A module read from `source`, as the flags want it printed.
pub(crate) fn text_of(ctx: &Context, module: &Module, flags: &Flags, source: &Source) -> String {
    if flags.registered {
        return irdl::registered(ctx, module).text;
    }
    let form = if flags.generic { Form::Generic } else { Form::Pretty };
    if flags.locations { print_located(ctx, module, form, source) } else { print(ctx, module, form) }
}

/// The state of one run.
pub(crate) struct Driver<'a> {
    registry: &'a Registry,
    flags: &'a Flags,
    io: &'a mut Io,
    timing: Timing,
    steps: Vec<StepReport>,
}

impl<'a> Driver<'a> {
    pub(crate) fn new(registry: &'a Registry, flags: &'a Flags, io: &'a mut Io) -> Self {
        Self { registry, flags, io, timing: Timing::default(), steps: Vec::new() }
    }

    /// Executes the flags' requests.
    pub(crate) fn run(mut self) -> i32 {
        let start = Instant::now();
        let held = match self.listings() {
            Some(result) => result.map(|()| true),
            None => self.modules(),
        };
        if self.flags.statistics {
            self.io.stderr.extend(statistics(&self.steps).into_bytes());
        }
        if self.flags.timing {
            self.io.stderr.extend(self.timing.table(&self.steps, start.elapsed()).into_bytes());
        }
        let held = held.unwrap_or_else(|(source, findings)| {
            self.flags.shared.renderer().emit(self.io, source.as_ref(), &findings);
            false
        });
        i32::from(!held)
    }

    /// The requests that need no input; `None` if there is none.
    fn listings(&mut self) -> Option<Result<(), Refusal>> {
        let about_run = |findings| (None, findings);
        let flags = self.flags;
        if let Some(folder) = &flags.docs {
            let written = docs::write_docs(self.registry, folder, self.io);
            return Some(written.map_err(|finding| about_run(vec![finding])));
        }
        if let Some(folder) = &flags.check_docs {
            let stale = docs::check_docs(self.registry, &self.io.path(folder));
            return Some(if stale.is_empty() { Ok(()) } else { Err(about_run(stale)) });
        }
        let text = match &flags.show_dialects {
            Some(name) => docs::show_dialects(self.registry, name.as_deref()),
            None if flags.list_passes => Ok(docs::list_passes(self.registry)),
            None if flags.emit_irdl => Ok(irdl::emit(&self.registry.dialects)),
            None => return None,
        };
        Some(text.map_err(|finding| about_run(vec![finding])).and_then(|text| self.write(&text)))
    }

    /// Reads the input, treats each of its parts, writes the output. Returns whether everything held.
    fn modules(&mut self) -> Result<bool, Refusal> {
        let mut roles = files::roles(self.flags, &self.io.cwd);
        refuse_shared(&roles)?;
        let ctx = self.context()?;
        let source =
            read_source(self.io, &self.flags.input).map_err(|(source, why)| (Some(source), vec![why]))?;
        let pipeline = self.pipeline(&source)?;
        pass_outputs(&pipeline, self.flags.reproducer_outputs.as_deref(), &mut roles);
        refuse_shared(&roles)?;
        let parts = if self.flags.split {
            split(&source.text)
        } else {
            std::iter::once(0..source.text.len()).collect()
        };
        let mut outputs = Vec::new();
        let mut held = true;
        for range in parts {
            let (module, findings, good) = self.part(&ctx, &source, range.clone(), &pipeline);
            held &= good && self.judge(&source, range, &findings);
            outputs.extend(module.map(|module| self.print(&ctx, &module, &source)));
        }
        // A file is the whole answer or is left alone; standard output shows the part that could be done.
        if held || self.flags.output == "-" {
            self.write(&outputs.join(&format!("{SEPARATOR}\n")))?;
        }
        Ok(held)
    }

    /// The flags of the run.
    pub(crate) fn flags(&self) -> &'a Flags {
        self.flags
    }

    /// The streams of the run.
    pub(crate) fn io(&mut self) -> &mut Io {
        self.io
    }

    pub(crate) fn context(&mut self) -> Result<Context, Refusal> {
        let mut ctx = self.registry.context().map_err(|findings| (None, findings))?;
        ctx.allow_unregistered = self.flags.allow_unregistered;
        if self.io.progress {
            ctx.set_data(on_terminal());
        }
        if let Some(name) = &self.flags.shared.machine {
            let machine = load_machine(self.io, name).map_err(|finding| (None, vec![finding]))?;
            ctx.set_data(machine);
        }
        ctx.set_data(self.flags.shared.memory_model);
        ctx.set_data(GivenSizes::parse(&self.flags.shared.axes).map_err(|finding| (None, vec![finding]))?);
        if let Some(file) = &self.flags.mapping_rules {
            ctx.set_data(rules::load(self.io, file)?);
        }
        if let Some(file) = &self.flags.tensor_rules {
            let source =
                read_rules(self.io, file).map_err(|(source, finding)| (Some(source), vec![finding]))?;
            let rules = UserRules::new(&ctx, &source.text).map_err(|findings| (Some(source), findings))?;
            ctx.set_data(rules);
        }
        if let Some(file) = &self.flags.shared.rules {
            let rules = load_config_rules(self.io, &ctx, file);
            ctx.set_data(rules.map_err(|(source, findings)| (Some(source), findings))?);
        }
        Ok(ctx)
    }

    fn pipeline(&self, source: &Source) -> Result<Pipeline, Refusal> {
        let text = if self.flags.run_reproducer {
            let Some(text) = pipeline_of(&source.text) else {
                let message =
                    "the input is no crash reproducer: expected `// visa-reproducer: pipeline=\"...\"`";
                let first = source.text.lines().next().map_or(0, str::len);
                let finding = Diagnostic::error("reproducer", Span::new(0..first), message);
                return Err((Some(source.clone()), vec![finding]));
            };
            text
        } else {
            let Some(text) = &self.flags.pipeline else { return Ok(Pipeline::empty()) };
            text.clone()
        };
        let pipeline = Pipeline::parse(&text, &self.registry.passes)
            .map_err(|findings| (Some(Source::new(Pipeline::SOURCE, text)), findings))?;
        let refused = outputs::refused(self.flags, &pipeline);
        if refused.is_empty() { Ok(pipeline) } else { Err((Some(pipeline.source), refused)) }
    }

    /// Writes the outputs of passes. Returns true if all were written.
    fn write_outputs(&mut self, wanted: &[Output]) -> bool {
        let failed = outputs::write(self.io, self.flags, wanted);
        self.flags.shared.renderer().emit(self.io, None, &failed);
        failed.is_empty()
    }

    /// Reads one part and runs the pipeline on it. Returns the module if it came through, the findings about the part,
    /// and true if the run itself succeeded.
    fn part(
        &mut self,
        ctx: &Context,
        source: &Source,
        range: Range<usize>,
        pipeline: &Pipeline,
    ) -> (Option<Module>, Vec<Diagnostic>, bool) {
        let start = Instant::now();
        let loaded = load_module(ctx, source, range);
        self.timing.read += start.elapsed();
        let mut findings = loaded.findings;
        let Some(mut module) = loaded.module else { return (None, findings, true) };
        let mut manager = PassManager::new(pipeline, &self.registry.passes);
        manager.verify_each = self.flags.verify_each;
        manager.verify_analyses = self.flags.verify_analyses;
        manager.keep_before = self.flags.crash_reproducer.is_some();
        let mut dump = Dump::new(self.flags, source);
        let mut validation = Validation::default();
        let outcome = match self.flags.validate {
            true => manager.run(ctx, &mut module, &mut Both(&mut dump, &mut validation)),
            false => manager.run(ctx, &mut module, &mut dump),
        };
        let changed = has_errors(&validation.findings);
        self.flags.shared.renderer().emit(self.io, None, &validation.findings);
        self.io.stderr.extend(dump.out.into_bytes());
        match outcome {
            Ok(report) => {
                self.steps.extend(report.steps);
                findings.extend(report.findings);
                let written = self.write_outputs(&report.outputs);
                (Some(module), findings, written && !changed)
            }
            Err(failure) => {
                let good = self.failed(ctx, *failure, pipeline, &mut findings);
                (None, findings, good)
            }
        }
    }

    /// Splits a failure: findings about the module go to `findings`, those about the run are written. Returns true if
    /// there is none of the latter.
    fn failed(
        &mut self,
        ctx: &Context,
        failure: Failure,
        pipeline: &Pipeline,
        findings: &mut Vec<Diagnostic>,
    ) -> bool {
        let Failure { report, .. } = &failure;
        self.steps.extend(report.steps.iter().cloned());
        findings.extend(report.findings.iter().cloned());
        let written = self.write_outputs(&report.outputs);
        let reproduced = written & self.write_reproducer(ctx, failure.before.as_ref(), &failure.step);
        let (about, found) = failure.findings();
        let source = match about {
            About::Module => {
                findings.extend(found);
                return reproduced;
            }
            About::Pipeline => Some(&pipeline.source),
            About::Pass => None,
        };
        self.flags.shared.renderer().emit(self.io, source, &found);
        false
    }

    fn write_reproducer(&mut self, ctx: &Context, before: Option<&Module>, step: &visa_pass::Step) -> bool {
        let (Some(name), Some(module)) = (&self.flags.crash_reproducer, before) else { return true };
        let written = self.io.write(name, reproducer(ctx, module, step).as_bytes());
        written
            .map_err(|why| self.flags.shared.renderer().emit(self.io, None, &[unwritable(name, &why)]))
            .is_ok()
    }

    /// Writes the findings, or compares them with the expectations. Returns true if that part of the input passed.
    fn judge(&mut self, source: &Source, range: Range<usize>, findings: &[Diagnostic]) -> bool {
        if self.flags.verify_diagnostics {
            let wrong = expect::compare(source, range, findings);
            self.flags.shared.renderer().emit(self.io, Some(source), &wrong);
            return wrong.is_empty();
        }
        self.flags.shared.renderer().emit(self.io, Some(source), findings);
        !has_errors(findings)
    }

    fn print(&mut self, ctx: &Context, module: &Module, source: &Source) -> String {
        let start = Instant::now();
        let text = text_of(ctx, module, self.flags, source);
        self.timing.print += start.elapsed();
        text
    }

    fn write(&mut self, text: &str) -> Result<(), Refusal> {
        let name = &self.flags.output;
        self.io.write(name, text.as_bytes()).map_err(|why| (None, vec![unwritable(name, &why)]))
    }
}
