//! One run, from the file to the exit code.

use crate::check::{self, CheckReport};
use crate::compare::{self, Comparison};
use crate::data::{self, Array, ChosenIndices, Summary};
use crate::files;
use crate::flags::{Flags, named, source};
use crate::kernel::{self, Refused};
use crate::output::{Document, ResultEntry};
use crate::pictures::{self, Kernel, Written};
use crate::relabelled::{self, Relabelled, RelabelledEntry};
use crate::rust::RustLines;
use std::collections::BTreeMap;
use visa_cost::{KnownIndices, MemoryModel, Rows, Timeline, with_table_loads};
use visa_files::FileRoles;
use visa_hw::ops::contract::CONTRACT;
use visa_hw::ops::fetch::FETCH;
use visa_hw::program::{Buffer, Program, Scalar, runs};
use visa_interpreter::{IndexError, IndexUse, Interpreter, Options, RunError, UndefinedReport};
use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, Severity, counted, nearest, visible, visible_json};
use visa_ir::location::Origins;
use visa_ir::module::Module;
use visa_ir::span::{Source, Span};
use visa_ir::verify::Analysis;
use visa_machine::Machine;
use visa_mapping::GivenSizes;
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::ops::call::calling;
use visa_mapping::ops::func::Func;
use visa_numerics::DType;
use visa_opt::progress::on_terminal;
use visa_opt::{
    Io, Registry, Renderer, load_config_rules, load_machine, load_module, read_source, shared_files,
};
use visa_pass::{Level, Output, Report};
use visa_reference::Given;
use visa_stream::unmasked::{self, of_fetch};

/// The most commands that a run has, and the most iterations that are evaluated beside it.
const MAX_RUNS: u64 = 1 << 32;

/// Most bytes of a trace or a schedule that is compared with.
const MAX_COMPARED_BYTES: u64 = 1 << 28;

/// The run stops here; what there is to say has been said.
struct Stopped;

type Outcome<T> = Result<T, Stopped>;

/// One run.
pub(crate) struct Session<'a> {
    registry: &'a Registry,
    flags: &'a Flags,
    io: &'a mut Io,
    renderer: Renderer,
    source: Option<Source>,
    /// Where the lines of the source come from, if it was imported.
    rust: Option<RustLines>,
    /// What the module calls otherwise.
    relabelled: Vec<Relabelled>,
}

/// What the interpreter made of a kernel.
struct Finished {
    results: BTreeMap<String, Vec<u8>>,
    undefined: Vec<UndefinedReport>,
}

impl<'a> Session<'a> {
    pub(crate) fn new(registry: &'a Registry, flags: &'a Flags, io: &'a mut Io) -> Self {
        let renderer = if flags.diagnostics == "json" { Renderer::Json } else { Renderer::Text };
        Self { registry, flags, io, renderer, source: None, rust: None, relabelled: Vec::new() }
    }

    pub(crate) fn run(mut self, progress: &mut dyn FnMut(usize, usize)) -> i32 {
        match self.steps(progress) {
            Ok(true) => 0,
            Ok(false) | Err(Stopped) => 1,
        }
    }

    /// Whether everything asked for held.
    fn steps(&mut self, progress: &mut dyn FnMut(usize, usize)) -> Outcome<bool> {
        let roles = files::roles(self.flags, &self.registry.passes, self.io);
        self.distinct(&roles)?;
        let mut ctx = self.registry.context().map_err(|findings| self.refuse(findings))?;
        if let Some(machine) = self.machine()? {
            ctx.set_data(machine);
        }
        self.rules(&mut ctx)?;
        ctx.set_data(self.flags.memory_model);
        ctx.set_data(GivenSizes::parse(&self.flags.axes).map_err(|error| self.refuse(vec![error]))?);
        if self.io.progress {
            ctx.set_data(on_terminal());
        }
        let machine = ctx.data::<Machine>();
        let mut module = self.load(&ctx)?;
        self.inline(&ctx, &mut module)?;
        self.choose(&ctx, &mut module)?;
        self.relabelled = relabelled::relabelled(&ctx, &module);
        let logical = (self.flags.check || self.flags.shadow).then(|| module.clone());
        self.check_level(&ctx, &module)?;
        self.passes(&ctx, &mut module)?;
        let entry = self.flags.entry.as_deref();
        let written = pictures::advised(self.flags).then(|| module.clone());
        let compiled = kernel::compile(&ctx, &mut module, &self.registry.passes, entry);
        let (program, warnings) = compiled.map_err(|findings| self.refuse(findings))?;
        self.emit(&warnings);
        self.emit(empty(&program).as_slice());
        let advice = self.advice(&ctx, written, &module);
        let args = self.flags.args.clone();
        let given = self.by_name("arg", &args, &program, true)?;
        let scalars = self.scalars(&program, &given)?;
        let numbers: Vec<u64> = program.scalars.iter().map(|scalar| scalars[&scalar.name]).collect();
        let program = program.started(&numbers);
        if self.flags.cost {
            let indices = self.indices(&program, &given)?;
            let program = with_table_loads(program, &machine);
            let report = self.price(&ctx, &program, &machine, &indices)?;
            let timeline = self.timeline(&ctx, &program, &machine, &indices)?;
            let compared = self.compare(&machine, &report, timeline.as_ref())?;
            let kernel = (&program, &*machine, &report);
            if !self.pictures(kernel, timeline, compared.as_ref(), advice)? {
                self.costs(&program, &report, compared.as_ref())?;
            }
            return self.compared(compared.as_ref());
        }
        self.check_iterations(&program)?;
        let outputs = self.outputs(&program)?;
        let all: Vec<&Buffer> = buffers(&program, true).collect();
        let mut arguments = Given { tensors: self.arguments(&all, &given)?, scalars };
        let finished = self.finish(&program, &machine, &mut arguments, &given, progress)?;
        self.undefined(&ctx, logical.as_ref(), &finished);
        let check = match logical.filter(|_| self.flags.check) {
            Some(module) => Some(self.check(&ctx, &module, &program, &machine, &arguments, &finished)?),
            None => None,
        };
        let program = with_table_loads(program, &machine);
        let report = self.price(&ctx, &program, &machine, &arguments.tensors)?;
        let timeline = self.timeline(&ctx, &program, &machine, &arguments.tensors)?;
        let compared = self.compare(&machine, &report, timeline.as_ref())?;
        let summaries = self.summaries(&program, &finished);
        let expected = self.expectations(&program, &finished)?;
        self.save(&program, &outputs, &finished)?;
        let shadow = self.flags.shadow.then_some(finished.undefined.is_empty());
        let kernel = (&program, &*machine, &report);
        let pictured = self.pictures(kernel, timeline, compared.as_ref(), advice)?;
        match self.flags.report.as_deref() {
            Some(_) if pictured => {}
            Some("json") => {
                let said = Said { summaries: &summaries, outputs: &outputs, check: check.as_ref(), shadow };
                self.json(&program, &said, compared.as_ref(), &report)?;
            }
            Some(_) | None => {
                self.text(&program, &summaries, &outputs, check.as_ref(), &report);
                self.comparison(compared.as_ref(), &report);
            }
        }
        let aligned = self.compared(compared.as_ref())?;
        let checked = check.as_ref().is_none_or(|check| check.mismatches == 0);
        Ok(checked && expected && aligned && shadow.unwrap_or(true))
    }

    /// Stops before a program that nobody would wait for. The evaluator goes through loops without commands, too.
    fn check_iterations(&mut self, program: &Program) -> Outcome<()> {
        let busy = runs(&program.commands);
        let evaluated = if self.flags.check { program.iterations() } else { 0 };
        let (count, what) =
            if busy >= evaluated { (busy, "commands") } else { (evaluated, "iterations of loops") };
        if count <= MAX_RUNS {
            return Ok(());
        }
        let count = if count == u64::MAX { "2^64 or more".to_owned() } else { count.to_string() };
        let message = format!("`{}` runs {count} {what}, at most {MAX_RUNS} are run", program.name);
        let error = Diagnostic::error("iterations", Span::default(), message);
        let fix = "give axes smaller sizes (`--axis`), or ask for the price alone (`--cost`)";
        Err(self.stop_with(error.fix(fix.to_owned())))
    }

    fn emit(&mut self, findings: &[Diagnostic]) {
        let (Some(rust), Some(module)) = (&self.rust, &self.source) else {
            self.renderer.emit(self.io, self.source.as_ref(), findings);
            return;
        };
        for finding in findings {
            match rust.shown(module, finding) {
                Some((file, shown)) => self.renderer.emit(self.io, Some(file), &[shown]),
                None => self.renderer.emit(self.io, Some(module), std::slice::from_ref(finding)),
            }
        }
    }

    /// The line of the author's text that a span is in.
    fn line(&self, span: Span) -> Option<String> {
        let source = self.source.as_ref()?;
        match &self.rust {
            Some(rust) => rust.line(source, span),
            None => Some(source.line(span.range().start).to_string()),
        }
    }

    /// What the entry calls otherwise by its author's word.
    fn relabelled(&self, program: &Program) -> Vec<RelabelledEntry> {
        let Some(source) = &self.source else { return Vec::new() };
        relabelled::entries(&self.relabelled, &program.name, |span| {
            let rust = self.rust.as_ref().and_then(|rust| rust.place_text(source, span));
            rust.unwrap_or_else(|| {
                let (line, column) = source.position(span.range().start);
                format!("{}:{line}:{column}", source.name)
            })
        })
    }

    fn refuse(&mut self, findings: Vec<Diagnostic>) -> Stopped {
        self.emit(&findings);
        Stopped
    }

    /// Stops with an error that has no place in the source.
    fn stop(&mut self, code: &str, message: impl Into<String>) -> Stopped {
        self.stop_with(Diagnostic::error(code, Span::default(), message))
    }

    fn stop_with(&mut self, finding: Diagnostic) -> Stopped {
        self.renderer.emit(self.io, None, &[finding]);
        Stopped
    }

    /// Stops where an output is another file of the run.
    fn distinct(&mut self, roles: &FileRoles) -> Outcome<()> {
        let shared = shared_files(roles);
        if shared.is_empty() { Ok(()) } else { Err(self.refuse(shared)) }
    }

    /// The machine that the flags name; `None` for RNGD as it is.
    fn machine(&mut self) -> Outcome<Option<Machine>> {
        let machine = match self.flags.machine.clone() {
            Some(name) => Some(load_machine(self.io, &name).map_err(|finding| self.stop_with(finding))?),
            None => None,
        };
        // The command line takes no other word.
        let order = self.flags.sum_order.as_deref().and_then(|order| order.parse().ok());
        Ok(match order {
            Some(sum_order) => Some(Machine { sum_order, ..machine.unwrap_or_else(Machine::rngd) }),
            None => machine,
        })
    }

    /// Gives the context the rules that the flags name.
    fn rules(&mut self, ctx: &mut Context) -> Outcome<()> {
        let Some(name) = &self.flags.rules else { return Ok(()) };
        let rules = load_config_rules(self.io, ctx, name).map_err(|(source, findings)| {
            self.renderer.emit(self.io, Some(&source), &findings);
            Stopped
        })?;
        ctx.set_data(rules);
        Ok(())
    }

    fn load(&mut self, ctx: &Context) -> Outcome<Module> {
        let name = self.flags.file.clone();
        let source = match name.ends_with(".rs") {
            true => self.import(&name)?,
            false => read_source(self.io, &name).map_err(|(source, finding)| {
                self.renderer.emit(self.io, Some(&source), &[finding]);
                Stopped
            })?,
        };
        let loaded = load_module(ctx, &source, 0..source.text.len());
        self.source = Some(source);
        self.emit(&loaded.findings);
        loaded.module.ok_or(Stopped)
    }

    /// The text of kernels that are written in Rust.
    fn import(&mut self, name: &str) -> Outcome<Source> {
        let imported = visa_import::import(&[self.io.path(name)], self.flags.entry.as_deref());
        let mut refused = false;
        for error in imported.refused() {
            let (source, finding) = imported.finding(error);
            self.renderer.emit(self.io, source, &[finding]);
            refused = true;
        }
        if refused {
            return Err(Stopped);
        }
        let mut roles = files::roles(self.flags, &self.registry.passes, self.io);
        for module in &imported.sources {
            if self.io.path(&module.name) != self.io.path(name) {
                roles.input(format!("{} (a module of {name})", module.name), self.io.path(&module.name));
            }
        }
        self.distinct(&roles)?;
        let source = Source::new(format!("{name} (imported)"), imported.module());
        self.rust = Some(RustLines::of(imported));
        Ok(source)
    }

    /// Puts functions in place of their calls: what they leave open is chosen for each call.
    fn inline(&mut self, ctx: &Context, module: &mut Module) -> Outcome<()> {
        if !module.walk_all().into_iter().any(|id| calling(module.op(ctx, id)).is_some()) {
            return Ok(());
        }
        let report = kernel::choose(ctx, module, &self.registry.passes, &[("inline", Some(""))]);
        let report = report.map_err(|findings| self.refuse(findings))?;
        self.report(&report)
    }

    /// Closes what the kernel leaves open, as far as that is asked for.
    fn choose(&mut self, ctx: &Context, module: &mut Module) -> Outcome<()> {
        let select = self.flags.select_configs.as_deref();
        let asked = [
            ("select-configs", select),
            ("schedule", self.flags.schedule.as_deref()),
            ("allocate", self.flags.allocate.then_some("")),
            ("select-transfers", self.flags.select_transfers.then_some("")),
        ];
        let report = kernel::choose(ctx, module, &self.registry.passes, &asked);
        let report = report.map_err(|findings| self.refuse(findings))?;
        self.report(&report)
    }

    /// Runs the passes that are asked for by name.
    fn passes(&mut self, ctx: &Context, module: &mut Module) -> Outcome<()> {
        let Some(text) = &self.flags.pass_pipeline else { return Ok(()) };
        let report = kernel::run(ctx, module, &self.registry.passes, text);
        let report = report.map_err(|refused| match refused {
            Refused::Kernel(findings) => self.refuse(findings),
            Refused::Pipeline(source, findings) => {
                self.renderer.emit(self.io, Some(&source), &findings);
                Stopped
            }
        })?;
        self.report(&report)
    }

    /// Says what passes found, and writes what they want written.
    fn report(&mut self, report: &Report) -> Outcome<()> {
        self.emit(&report.findings);
        for Output { name, bytes } in &report.outputs {
            let written = self.io.write(name, bytes);
            written.map_err(|why| self.stop("cannot-write", format!("cannot write `{name}`: {why}")))?;
        }
        Ok(())
    }

    /// `--check` needs the mappings, which only the tensor level has.
    fn check_level(&mut self, ctx: &Context, module: &Module) -> Outcome<()> {
        let level = Level::of(ctx, module);
        if self.flags.check && level > Level::Tensor {
            let message =
                format!("--check compares with the kernel's mappings, but the file is at the {level} level");
            return Err(self.stop("check", message));
        }
        Ok(())
    }

    /// The value that a `NAME=VALUE` flag gives each buffer of a role; unknown and repeated names are refused.
    fn by_name(
        &mut self,
        flag: &str,
        values: &[String],
        program: &Program,
        role: bool,
    ) -> Outcome<BTreeMap<String, String>> {
        let scalars = program.scalars.iter().filter(|_| role).map(|scalar| scalar.name.as_str());
        let names: Vec<&str> =
            buffers(program, role).map(|buffer| buffer.name.as_str()).chain(scalars).collect();
        let mut found = BTreeMap::new();
        for text in values {
            let (name, value) = named(flag, text).map_err(|why| self.stop("flags", why))?;
            if !names.contains(&name) {
                let kind = if role { "argument" } else { "result" };
                let message = format!(
                    "--{flag} {text}: `{}` has no {kind} `{name}`; it has `{}`",
                    program.name,
                    names.join("`, `")
                );
                let near = nearest(name, names.iter().copied()).map(|near| format!("did you mean `{near}`?"));
                return Err(self.stop_with(Diagnostic::error("flags", Span::default(), message).fix(near)));
            }
            if found.insert(name.to_owned(), value.to_owned()).is_some() {
                return Err(self.stop("flags", format!("--{flag} {text}: `{name}` is given twice")));
            }
        }
        Ok(found)
    }

    fn outputs(&mut self, program: &Program) -> Outcome<BTreeMap<String, String>> {
        let outs = self.flags.outs.clone();
        self.by_name("out", &outs, program, false)
    }

    /// The number that each scalar is.
    fn scalars(
        &mut self,
        program: &Program,
        given: &BTreeMap<String, String>,
    ) -> Outcome<BTreeMap<String, u64>> {
        let mut scalars = BTreeMap::new();
        for Scalar { name, count, span } in &program.scalars {
            let last = count - 1;
            let Some(text) = given.get(name) else {
                let message = format!("`{name}` is a number that is known when the kernel starts");
                let fix = format!("give it: `--arg {name}=N`, 0 to {last}");
                return Err(self.refuse(vec![Diagnostic::error("argument", *span, message).fix(fix)]));
            };
            let number = text.parse().ok().filter(|number| number < count);
            let refused = || format!("--arg {name}={text}: expected a number, 0 to {last}");
            scalars
                .insert(name.clone(), number.ok_or_else(refused).map_err(|why| self.stop("argument", why))?);
        }
        Ok(scalars)
    }

    /// The data that a price needs: of indices, where they are given.
    fn indices(
        &mut self,
        program: &Program,
        given: &BTreeMap<String, String>,
    ) -> Outcome<BTreeMap<String, Vec<u8>>> {
        let indices = KnownIndices::arguments(program);
        let (indices, others): (Vec<&Buffer>, Vec<&Buffer>) = buffers(program, true)
            .filter(|buffer| given.contains_key(&buffer.name))
            .partition(|buffer| indices.iter().any(|index| index.name == buffer.name));
        let Some(other) = others.first() else { return self.arguments(&indices, given) };
        let message = format!("--cost reads the data of indices alone, and `{}` holds none", other.name);
        let fix = format!("leave out `--arg {}=...`", other.name);
        Err(self.stop_with(Diagnostic::error("flags", Span::default(), message).fix(fix)))
    }

    /// The data of some arguments.
    fn arguments(
        &mut self,
        chosen: &[&Buffer],
        given: &BTreeMap<String, String>,
    ) -> Outcome<BTreeMap<String, Vec<u8>>> {
        // Their own bytes are taken; what they leave, the files that they are made of may take meanwhile.
        let left = self.flags.memory - self.argument_bytes(chosen)?;
        let mut arguments = BTreeMap::new();
        for (index, &buffer) in chosen.iter().enumerate() {
            let text = given.get(&buffer.name).map(String::as_str);
            let mut source = source(text, index)
                .map_err(|why| self.stop("argument", format!("--arg {}: {why}", buffer.name)))?;
            match &mut source {
                data::Source::Npy(path) | data::Source::Safetensors { path, .. } => {
                    *path = self.io.cwd.join(&*path)
                }
                data::Source::Rand(_) | data::Source::Zeros | data::Source::Iota => {}
            }
            let bytes = data::load(&source, buffer.dtype, &buffer.shape, left + bytes_of(buffer));
            let bytes =
                bytes.map_err(|error| self.stop("argument", format!("--arg {}: {error}", buffer.name)))?;
            if let Some(narrowing) = data::narrowing(&source, buffer.dtype) {
                let remark = Diagnostic::error(
                    "argument",
                    Span::default(),
                    format!("--arg {}: {narrowing}", buffer.name),
                );
                self.renderer.emit(self.io, None, &[Diagnostic { severity: Severity::Remark, ..remark }]);
            }
            arguments.insert(buffer.name.clone(), bytes);
        }
        Ok(arguments)
    }

    /// What all arguments take, which is held as long as the run: refused before any is read if it is over the bound.
    fn argument_bytes(&mut self, chosen: &[&Buffer]) -> Outcome<u64> {
        let needed = chosen.iter().map(|buffer| bytes_of(buffer)).fold(0, u64::saturating_add);
        let bound = self.flags.memory;
        if needed <= bound {
            return Ok(needed);
        }
        let message = format!(
            "the arguments take {} of memory, expected at most {bound}: raise --memory",
            counted(needed, "byte")
        );
        Err(self.stop("run", message))
    }

    /// Runs the kernel. Default data that are read as indices and choose no rows are replaced by some that do.
    fn finish(
        &mut self,
        program: &Program,
        machine: &Machine,
        arguments: &mut Given,
        given: &BTreeMap<String, String>,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Outcome<Finished> {
        let random = |buffer: &&Buffer| !given.contains_key(&buffer.name);
        let random: Vec<&Buffer> = buffers(program, true).filter(random).collect();
        let integers = random.iter().filter(|buffer| buffer.dtype == DType::I32);
        let integers: Vec<String> = integers.map(|buffer| buffer.name.clone()).collect();
        let mut chosen = ChosenIndices::default();
        loop {
            let error = match self.interpret(program, machine, arguments, progress) {
                Ok(finished) => return Ok(finished),
                Err(error) => error,
            };
            let refused = Diagnostic::error("run", error.span(), error.to_string());
            let RunError::Index { error: IndexError::Outside { value, .. }, .. } = error else {
                return Err(self.refuse(vec![refused]));
            };
            let mut others = given.keys().filter_map(|name| arguments.tensors.get(name));
            if random.is_empty() || others.any(|bytes| data::holds(bytes, value)) {
                return Err(self.refuse(vec![refused]));
            }
            let uses = self.index_uses(program, machine, arguments);
            let uses = uses.map_err(|error| self.stop("run", error.to_string()))?;
            let count = chosen.choose(&mut arguments.tensors, &integers, &uses);
            if count.map_err(|why| self.stop("argument", why.message))? == 0 {
                let names: Vec<&str> = random.iter().map(|buffer| buffer.name.as_str()).collect();
                let note = format!("default data are random, those of `{}` among them", names.join("`, `"));
                let fix = "give data with which each index is a row: `--arg NAME=FILE.npy`".to_owned();
                return Err(self.refuse(vec![refused.note(note, None).fix(fix)]));
            }
        }
    }

    fn interpret(
        &self,
        program: &Program,
        machine: &Machine,
        arguments: &Given,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Finished, RunError> {
        let mut interpreter = self.loaded(program, machine, arguments, self.flags.shadow)?;
        interpreter.run(progress)?;
        let mut finished = Finished { results: BTreeMap::new(), undefined: Vec::new() };
        for buffer in buffers(program, false) {
            let result = interpreter.result(&buffer.name)?;
            finished.results.insert(buffer.name.clone(), result.bytes);
            finished.undefined.extend(result.undefined);
        }
        Ok(finished)
    }

    /// What the kernel reads as indices; one that chooses no row counts as row 0.
    fn index_uses(
        &self,
        program: &Program,
        machine: &Machine,
        arguments: &Given,
    ) -> Result<Vec<IndexUse>, RunError> {
        let mut interpreter = self.loaded(program, machine, arguments, false)?;
        interpreter.note_indices();
        interpreter.run(&mut |_, _| ())?;
        Ok(interpreter.index_uses().collect())
    }

    /// An interpreter with the arguments in its memories.
    fn loaded<'p>(
        &self,
        program: &'p Program,
        machine: &'p Machine,
        arguments: &Given,
        shadow: bool,
    ) -> Result<Interpreter<'p>, RunError> {
        let threads = self.flags.threads.map(usize::from);
        let options = Options { threads, shadow, memory_bytes: self.flags.memory };
        let mut interpreter = Interpreter::new(program, machine, options)?;
        for (name, bytes) in &arguments.tensors {
            interpreter.set_argument(name, bytes)?;
        }
        Ok(interpreter)
    }

    /// The program's price, with the indices among the data of arguments.
    fn price(
        &mut self,
        ctx: &Context,
        program: &Program,
        machine: &Machine,
        tensors: &BTreeMap<String, Vec<u8>>,
    ) -> Outcome<visa_cost::Report> {
        let model = *ctx.data::<MemoryModel>();
        let rows = Rows { known: KnownIndices::new(program, tensors), assumed: self.flags.assume_indices };
        let report = visa_cost::price_with_rows(program, machine, model, &rows);
        report.map_err(|finding| self.refuse(vec![finding]))
    }

    /// Says the price alone.
    fn costs(
        &mut self,
        program: &Program,
        report: &visa_cost::Report,
        compared: Option<&Comparison>,
    ) -> Outcome<()> {
        match self.flags.report.as_deref() {
            Some("json") => {
                let said = Said { summaries: &[], outputs: &BTreeMap::new(), check: None, shadow: None };
                self.json(program, &said, compared, report)
            }
            Some(_) | None => {
                self.text(program, &[], &BTreeMap::new(), None, report);
                self.comparison(compared, report);
                Ok(())
            }
        }
    }

    /// The runs of the program in their places, if somebody asks for them; nothing where there are too many for a
    /// picture.
    fn timeline(
        &mut self,
        ctx: &Context,
        program: &Program,
        machine: &Machine,
        tensors: &BTreeMap<String, Vec<u8>>,
    ) -> Outcome<Option<Timeline>> {
        let (pictures, compare) = (pictures::asked(self.flags), self.flags.compare.is_some());
        let extent = pictures::extent(program);
        if !(compare || pictures && extent.each_run) {
            return Ok(None);
        }
        let model = *ctx.data::<MemoryModel>();
        let rows = Rows { known: KnownIndices::new(program, tensors), assumed: self.flags.assume_indices };
        let timeline = visa_cost::timeline(program, machine, model, &rows, pictures && extent.memory);
        timeline.map(Some).map_err(|finding| self.refuse(vec![finding]))
    }

    /// What passes say could be better: of the kernel as it is written in full, and of its transfers.
    fn advice(
        &self,
        ctx: &Context,
        written: Option<Module>,
        lowered: &Module,
    ) -> Vec<(&'static str, Diagnostic)> {
        let Some(written) = written else { return Vec::new() };
        let mut all = Vec::new();
        for (from, pipeline, mut module) in
            [("advise", "select-configs{advise}", written), ("lint", "lint-dma", lowered.clone())]
        {
            let findings = match kernel::run(ctx, &mut module, &self.registry.passes, pipeline) {
                Ok(report) => report.findings,
                Err(refused) => refused.findings(),
            };
            all.extend(findings.into_iter().map(|finding| (from, finding)));
        }
        all
    }

    /// Writes the pictures that are asked for. Whether one of them is the report.
    fn pictures(
        &mut self,
        (program, machine, report): (&Program, &Machine, &visa_cost::Report),
        timeline: Option<Timeline>,
        compared: Option<&Comparison>,
        advice: Vec<(&'static str, Diagnostic)>,
    ) -> Outcome<bool> {
        if !pictures::asked(self.flags) {
            return Ok(false);
        }
        let written = Written { source: self.source.as_ref(), rust: self.rust.as_ref() };
        let kernel = Kernel { program, machine, report, compared, written, advice };
        let document = pictures::document(kernel, timeline);
        let files = pictures::files(self.flags, &document).map_err(|why| self.stop("timeline", why))?;
        for (name, picture) in files {
            let written = self.io.write_with(&name, |out| picture.write(&document, out));
            written.map_err(|why| self.stop("cannot-write", format!("cannot write `{name}`: {why}")))?;
        }
        let shown = pictures::shown_as(self.flags, &document).map_err(|why| self.stop("timeline", why))?;
        let Some(shown) = shown else { return Ok(false) };
        self.io.stdout.extend(shown.into_bytes());
        Ok(true)
    }

    /// What the file of `--compare` says beside the price; a machine is fitted to it if that is asked for.
    fn compare(
        &mut self,
        machine: &Machine,
        report: &visa_cost::Report,
        timeline: Option<&Timeline>,
    ) -> Outcome<Option<Comparison>> {
        let (Some(name), Some(timeline)) = (self.flags.compare.clone(), timeline) else { return Ok(None) };
        let bytes = self.io.read(&name, MAX_COMPARED_BYTES);
        let bytes = bytes.map_err(|why| self.stop("cannot-read", format!("cannot read `{name}`: {why}")))?;
        let foreign = compare::read(&String::from_utf8_lossy(&bytes));
        let foreign = foreign.map_err(|why| self.stop("compare", format!("`{name}`: {why}")))?;
        if let Some(why) = compare::other_unit(report.unit, &foreign) {
            return Err(self.stop("compare", why));
        }
        let ours = compare::ours(report, &timeline.runs, |span| {
            self.rust.as_ref()?.file_line(self.source.as_ref()?, span)
        });
        let aligned = compare::align(&ours, &foreign);
        let aligned = aligned.map_err(|why| self.stop("compare", format!("`{name}`: {why}")))?;
        let found = Comparison::new(&ours, &foreign, &aligned);
        if let Some(to) = self.flags.fit.clone().filter(|_| found.other_kernel().is_none()) {
            self.fit(&to, &name, machine, report, &found)?;
        }
        Ok(Some(found))
    }

    /// Writes the machine whose figures fit the commands that align.
    fn fit(
        &mut self,
        to: &str,
        from: &str,
        machine: &Machine,
        report: &visa_cost::Report,
        found: &Comparison,
    ) -> Outcome<()> {
        let fitted = compare::fitted(machine, from, report, found);
        let text = fitted.map_err(|why| self.stop("fit", format!("`{from}`: {why}")))?;
        let written = self.io.write(to, text.as_bytes());
        written.map_err(|why| self.stop("cannot-write", format!("cannot write `{to}`: {why}")))
    }

    fn comparison(&mut self, compared: Option<&Comparison>, report: &visa_cost::Report) {
        let Some(found) = compared else { return };
        let span =
            |command: usize| report.commands.iter().find(|own| own.index == command).map(|own| own.span);
        let text = compare::text(found, |command| self.line(span(command)?));
        self.io.stdout.push(b'\n');
        self.io.stdout.extend(visible(&text).as_bytes());
    }

    /// Whether the file of `--compare` can be the kernel's; what is to be said of it is said.
    fn compared(&mut self, compared: Option<&Comparison>) -> Outcome<bool> {
        let Some(found) = compared else { return Ok(true) };
        for warning in &found.warnings {
            let finding = Diagnostic::error("compare", Span::default(), warning.clone());
            self.renderer.emit(self.io, None, &[Diagnostic { severity: Severity::Warning, ..finding }]);
        }
        match found.other_kernel() {
            Some(why) => Err(self.stop("compare", why)),
            None => Ok(true),
        }
    }

    /// Reports the results that depend on undefined data.
    fn undefined(&mut self, ctx: &Context, kernel: Option<&Module>, finished: &Finished) {
        let mut findings: Vec<_> =
            finished.undefined.iter().map(|report| undefined(ctx, kernel, report)).collect();
        kernel.into_iter().for_each(|kernel| Origins::of(ctx, kernel).explain(ctx, &mut findings));
        self.emit(&findings);
    }

    fn check(
        &mut self,
        ctx: &Context,
        module: &Module,
        program: &Program,
        machine: &Machine,
        arguments: &Given,
        finished: &Finished,
    ) -> Outcome<CheckReport> {
        let options = visa_reference::Options { sum_order: machine.sum_order };
        let expected = visa_reference::evaluate(ctx, module, Some(&program.name), arguments, options);
        let expected = expected.map_err(|finding| self.refuse(vec![finding]))?;
        let report = check::compare(&expected, &finished.results, self.flags.ulps);
        if let Some(first) = &report.first {
            let defined = self.flags.shadow.then_some(finished.undefined.is_empty());
            let finding = match summed_padding(ctx, module, &program.name) {
                Some(unmasked) => sums_padding(&report, first, unmasked),
                None => differs(&report, first, defined),
            };
            self.renderer.emit(self.io, None, &[finding]);
        }
        Ok(report)
    }

    fn summaries(&self, program: &Program, finished: &Finished) -> Vec<(String, &'static str, Summary)> {
        buffers(program, false)
            .map(|buffer| {
                let bytes = &finished.results[&buffer.name];
                (buffer.name.clone(), buffer.dtype.name(), data::summary(buffer.dtype, &buffer.shape, bytes))
            })
            .collect()
    }

    /// Whether every `--expect` held.
    fn expectations(&mut self, program: &Program, finished: &Finished) -> Outcome<bool> {
        let expects = self.flags.expects.clone();
        let expects = self.by_name("expect", &expects, program, false)?;
        let mut held = true;
        for buffer in buffers(program, false) {
            let Some(file) = expects.get(&buffer.name) else { continue };
            let expected = Array::read_npy(&self.io.path(file), self.flags.memory);
            let expected = expected
                .map_err(|error| self.stop("expect", format!("--expect {}: {error}", buffer.name)))?;
            let bytes = &finished.results[&buffer.name];
            if let Err(mismatch) =
                data::compare(buffer.dtype, &buffer.shape, bytes, &expected, self.flags.ulps)
            {
                held = false;
                let message = format!("--expect {}={file}: {mismatch}", buffer.name);
                self.renderer.emit(self.io, None, &[Diagnostic::error("expect", Span::default(), message)]);
            }
        }
        Ok(held)
    }

    fn save(
        &mut self,
        program: &Program,
        outputs: &BTreeMap<String, String>,
        finished: &Finished,
    ) -> Outcome<()> {
        for buffer in buffers(program, false) {
            let Some(file) = outputs.get(&buffer.name) else { continue };
            let bytes = &finished.results[&buffer.name];
            let interrupts = self.io.interrupts.as_ref();
            data::save_npy(&self.io.path(file), buffer.dtype, &buffer.shape, bytes, interrupts)
                .map_err(|error| self.stop("output", format!("--out {}: {error}", buffer.name)))?;
        }
        Ok(())
    }

    fn text(
        &mut self,
        program: &Program,
        summaries: &[(String, &'static str, Summary)],
        outputs: &BTreeMap<String, String>,
        check: Option<&CheckReport>,
        report: &visa_cost::Report,
    ) {
        let mut out = String::new();
        for (name, dtype, summary) in summaries {
            match outputs.get(name) {
                Some(file) => out.push_str(&format!("{name}: {dtype}, written to {file}\n")),
                None => out.push_str(&format!("{name}: {dtype}, {summary}\n")),
            }
        }
        if let Some(check) = check {
            let undefined =
                if check.undefined > 0 { format!(", {} undefined", check.undefined) } else { String::new() };
            let elements = if check.compared == 1 { "element" } else { "elements" };
            out.push_str(&format!(
                "check: {} {elements} compared, {} differ{undefined}\n",
                check.compared, check.mismatches
            ));
            out.extend(check.fast.as_ref().map(ToString::to_string));
        }
        if self.flags.report.is_some() {
            out.push_str(&report.text(|span| self.line(span)));
            out.extend(self.relabelled(program).iter().map(relabelled::line));
        } else {
            out.push_str(&format!(
                "{} on {} ({:.1} us)\n",
                counted(report.totals.cycles, report.unit.name()),
                report.machine,
                report.totals.microseconds
            ));
        }
        self.io.stdout.extend(visible(&out).as_bytes());
    }

    fn json(
        &mut self,
        program: &Program,
        said: &Said<'_>,
        compared: Option<&Comparison>,
        report: &visa_cost::Report,
    ) -> Outcome<()> {
        let entry = |(name, dtype, summary): &(String, &'static str, Summary)| {
            ResultEntry::new(name, dtype, summary, said.outputs.get(name).map(String::as_str))
        };
        let results = said.summaries.iter().map(entry).collect();
        let relabelled = self.relabelled(program);
        let Said { check, shadow, .. } = *said;
        let document =
            Document { entry: &program.name, results, check, shadow, report, compared, relabelled };
        let text = serde_json::to_string_pretty(&document);
        let text = text.map_err(|error| self.stop("report", error.to_string()))?;
        self.io.stdout.extend(visible_json(&text).as_bytes());
        self.io.stdout.push(b'\n');
        Ok(())
    }
}

/// What a run found, beside its price.
struct Said<'a> {
    summaries: &'a [(String, &'static str, Summary)],
    outputs: &'a BTreeMap<String, String>,
    check: Option<&'a CheckReport>,
    shadow: Option<bool>,
}

/// The warning for a program that runs no command and has no result.
fn empty(program: &Program) -> Option<Diagnostic> {
    if !program.commands.is_empty() || buffers(program, false).next().is_some() {
        return None;
    }
    let message =
        format!("`{}` has no commands and no results: there is nothing to run, check or price", program.name);
    let finding = Diagnostic::error("empty-kernel", Span::default(), message);
    let fix = "move a tensor with `tm.to_dm`, and return one with `tm.return`".to_owned();
    Some(Diagnostic { severity: Severity::Warning, ..finding.fix(fix) })
}

/// The buffers of a role: arguments or results.
fn buffers(program: &Program, argument: bool) -> impl Iterator<Item = &Buffer> {
    program.buffers.iter().filter(move |buffer| buffer.argument == argument)
}

/// Bytes of a buffer's array; past 2^64 as many as there can be.
fn bytes_of(buffer: &Buffer) -> u64 {
    data::array_bytes(buffer.dtype, &buffer.shape).unwrap_or(u64::MAX)
}

fn differing(report: &CheckReport) -> String {
    format!("{} of {} elements differ", report.mismatches, report.compared)
}

/// Elements that differ. `defined` is what shadow mode found, if it was asked for: memory that nothing wrote holds
/// anything, so that what depends on it differs without any mistake of the lowering.
fn differs(report: &CheckReport, first: &str, defined: Option<bool>) -> Diagnostic {
    let count = differing(report);
    let message = match defined {
        Some(false) => format!("{count}, and results depend on memory that nothing wrote; {first}"),
        Some(true) | None => format!("the lowering is wrong: {count}; {first}"),
    };
    let shadow = "run with `--shadow`, which says whether they depend on memory that nothing wrote";
    let fix = defined.is_none().then(|| shadow.to_owned());
    Diagnostic::error("check", Span::default(), message).fix(fix)
}

/// Elements that differ of a kernel that sums don't-care padding: what is there differs without any mistake of
/// the lowering.
fn sums_padding(report: &CheckReport, first: &str, unmasked: Diagnostic) -> Diagnostic {
    let count = differing(report);
    let message = format!("{count}: a sum takes in padding, where anything may stand; {first}");
    Diagnostic::error("check", unmasked.span, message).note(unmasked.message, None).fix(unmasked.fix)
}

/// The warning of the first sum in a function that takes in don't-care padding (`lint-M1`).
fn summed_padding(ctx: &Context, kernel: &Module, function: &str) -> Option<Diagnostic> {
    let axes = DeclaredAxes::build(ctx, kernel).0;
    let ops = kernel.walk_all().into_iter().map(|id| kernel.op(ctx, id));
    let is_of = |func: Func<'_>| func.name().is_ok_and(|name| *name == *function);
    let own = ops.filter(|op| op.parent().and_then(Func::cast).is_some_and(is_of));
    own.flat_map(|op| unmasked::warnings(op, &axes)).next()
}

/// A result that depends on undefined data. If a sum took it in, the kernel says which padding that was, and where
/// a mask is missing.
fn undefined(ctx: &Context, kernel: Option<&Module>, report: &UndefinedReport) -> Diagnostic {
    let span = report.chain.first().map(|step| step.span).unwrap_or_default();
    let mut finding = Diagnostic::error("shadow", span, report.to_string());
    for step in report.chain.iter().skip(1) {
        finding = finding.note(format!("then through {}", step.name), Some(step.span));
    }
    let sum = report.chain.iter().find(|step| step.name == CONTRACT.name);
    let (Some(sum), Some(kernel)) = (sum, kernel) else { return finding };
    let axes = DeclaredAxes::build(ctx, kernel).0;
    let ops = kernel.walk_all().into_iter().map(|id| kernel.op(ctx, id));
    let fetched = report.chain.iter().find(|step| step.name == FETCH.name);
    let fetch = fetched.and_then(|step| ops.into_iter().find(|op| op.span() == step.span));
    let Some(unmasked) = fetch.and_then(|fetch| of_fetch(fetch, &axes).into_iter().next()) else {
        return finding;
    };
    let note = format!("the sum takes in the {unmasked}: `{}` is fetched unmasked", unmasked.padding);
    finding.note(note, Some(sum.span)).fix(Some(unmasked.fix()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_defined_shows_a_wrong_lowering() {
        let report = CheckReport { compared: 8, mismatches: 2, ..CheckReport::default() };
        let said = |defined| {
            let finding = differs(&report, "out[0] is 1, the logical evaluator says 2", defined);
            (finding.message, finding.fix.is_some())
        };
        let wrong =
            "the lowering is wrong: 2 of 8 elements differ; out[0] is 1, the logical evaluator says 2";
        assert_eq!(said(Some(true)), (wrong.to_owned(), false));
        // Without shadow mode nobody knows yet.
        assert_eq!(said(None), (wrong.to_owned(), true));
        let undefined = "2 of 8 elements differ, and results depend on memory that nothing wrote; out[0] is 1, \
                         the logical evaluator says 2";
        assert_eq!(said(Some(false)), (undefined.to_owned(), false));
    }
}
