//! Compile: the program that the machine runs, with a number for each of its scalars.

use crate::console::{Console, Outcome};
use crate::flags::Flags;
use crate::passes;
use crate::pictures;
use crate::ports::Ports;
use crate::stages::arguments;
use crate::stages::choose::Chosen;
use std::collections::BTreeMap;
use std::rc::Rc;
use visa_hw::program::Program;
use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::module::Module;
use visa_ir::span::Span;
use visa_machine::Machine;
use visa_opt::Registry;
use visa_pass::Pass;

/// A finding about the kernel that a pass gave, and the word that pictures show for that pass.
pub(crate) type Advice = (&'static str, Diagnostic);

/// A program, ready to start.
pub(crate) struct Compiled {
    pub(crate) program: Program,
    /// Its arguments and results, with the scalars that have their numbers now.
    pub(crate) ports: Ports,
    pub(crate) machine: Rc<Machine>,
    /// The value of each `--arg`, by the name of its argument.
    pub(crate) given: BTreeMap<String, String>,
    /// The number of each scalar.
    pub(crate) scalars: BTreeMap<String, u64>,
    /// The advice, if it is requested or a chart shows it.
    pub(crate) advice: Vec<Advice>,
}

/// Lowers a kernel and gives its scalars their numbers.
pub(crate) fn compile(
    chosen: &mut Chosen,
    registry: &Registry,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<Compiled> {
    let Chosen { ctx, module, .. } = chosen;
    let written = pictures::advised(flags).then(|| module.clone());
    let compiled = passes::compile(ctx, module, &registry.passes, flags.entry.as_deref());
    let (program, warnings) = compiled.map_err(|findings| console.refuse(findings))?;
    console.emit(&warnings);
    let ports = Ports::from(&program);
    console.emit(empty(&program, &ports).as_slice());
    let advice = written.map_or_else(Vec::new, |written| advice(ctx, written, module, &registry.passes));
    let given = arguments::by_name("arg", &flags.args, &ports, true, console)?;
    let scalars = arguments::scalars(&ports, &given, console)?;
    let numbers: Vec<u64> = ports.scalars.iter().map(|scalar| scalars[&scalar.name]).collect();
    let program = program.started(&numbers);
    Ok(Compiled { program, ports, machine: ctx.data::<Machine>(), given, scalars, advice })
}

/// The warning for a program that runs no command and has no result.
fn empty(program: &Program, ports: &Ports) -> Option<Diagnostic> {
    if !program.commands.is_empty() || !ports.results.is_empty() {
        return None;
    }
    let message =
        format!("`{}` has no commands and no results: there is nothing to run, check or price", ports.kernel);
    let finding = Diagnostic::error("empty-kernel", Span::default(), message);
    let fix = "move a tensor with `tm.to_dm`, and return one with `tm.return`".to_owned();
    Some(Diagnostic { severity: Severity::Warning, ..finding.fix(fix) })
}

/// The advice for the kernel as written in full, and for its transfers.
fn advice(ctx: &Context, written: Module, lowered: &Module, known: &[&'static Pass]) -> Vec<Advice> {
    let mut all = Vec::new();
    for (from, pipeline, mut module) in
        [("advise", "select-configs{advise}", written), ("lint", "lint-dma", lowered.clone())]
    {
        let findings = match passes::run(ctx, &mut module, known, pipeline) {
            Ok(report) => report.findings,
            Err(refused) => refused.findings(),
        };
        all.extend(findings.into_iter().map(|finding| (from, finding)));
    }
    all
}
