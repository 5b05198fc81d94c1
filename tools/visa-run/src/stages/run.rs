//! Run: the results of a program on its arguments, and whether they are as they should be.

use crate::check::{self, CheckReport};
use crate::console::{Console, Outcome};
use crate::data::{self, ChosenIndices};
use crate::findings;
use crate::flags::Flags;
use crate::ports::Port;
use crate::ran::{Masks, Ran, Tensors};
use crate::stages::arguments;
use crate::stages::choose::Chosen;
use crate::stages::compile::Compiled;
use crate::stages::expect::expectations;
use std::collections::BTreeMap;
use visa_hw::program::{Program, runs};
use visa_interpreter::{IndexError, IndexUse, Interpreter, Options, RunError, UndefinedReport};
use visa_ir::diag::Diagnostic;
use visa_ir::location::Origins;
use visa_ir::module::Module;
use visa_ir::span::Span;
use visa_machine::Machine;
use visa_numerics::DType;
use visa_reference::KernelArguments;

/// The most commands of a run, and the most iterations of the evaluator.
const MAX_RUNS: u64 = 1 << 32;

/// Shows how many commands of how many have run.
pub(crate) type Progress<'a> = &'a mut dyn FnMut(usize, usize);

/// The results of the interpreter.
struct Finished {
    results: Tensors,
    undefined: Vec<UndefinedReport>,
}

/// Runs a program, and compares its results as the flags ask.
pub(crate) fn run(
    chosen: &Chosen,
    compiled: &Compiled,
    flags: &Flags,
    console: &mut Console<'_>,
    progress: Progress<'_>,
) -> Outcome<Ran> {
    let Compiled { program, ports, given, scalars, .. } = compiled;
    check_iterations(program, flags, console)?;
    let outputs = arguments::by_name("out", &flags.outs, ports, false, console)?;
    let tensors = arguments::load(&ports.arguments, given, flags, console)?;
    let mut arguments = KernelArguments { tensors, scalars: scalars.clone() };
    let finished = finish(compiled, &mut arguments, flags, console, progress)?;
    let Chosen { ctx, logical, .. } = chosen;
    let mut undefined: Vec<_> =
        finished.undefined.iter().map(|report| findings::undefined(ctx, logical.as_ref(), report)).collect();
    if let Some(kernel) = logical {
        Origins::of(ctx, kernel).explain(ctx, &mut undefined);
    }
    console.emit(&undefined);
    let defined = flags.shadow.then_some(finished.undefined.is_empty());
    let check = match logical.as_ref().filter(|_| flags.check) {
        Some(kernel) => Some(check_results(chosen, kernel, compiled, &arguments, &finished, flags, console)?),
        None => None,
    };
    let plan = match &chosen.function {
        Some(function) => {
            Some(check_plan(chosen, function, compiled, &arguments, &finished, flags, console)?)
        }
        None => None,
    };
    let results = finished.results;
    let expected = expectations(ports, &results, &Masks::new(), flags, console)?;
    let (tensors, masks) = (arguments.tensors, Masks::new());
    Ok(Ran { tensors, results, masks, outputs, check, plan, defined, expected })
}

/// Stops before a program that would run too long. The evaluator goes through loops without commands, too.
fn check_iterations(program: &Program, flags: &Flags, console: &mut Console<'_>) -> Outcome<()> {
    let busy = runs(&program.commands);
    let evaluated = if flags.check { program.iterations() } else { 0 };
    let (count, what) =
        if busy >= evaluated { (busy, "commands") } else { (evaluated, "iterations of loops") };
    if count <= MAX_RUNS {
        return Ok(());
    }
    let count = if count == u64::MAX { "2^64 or more".to_owned() } else { count.to_string() };
    let message = format!("`{}` runs {count} {what}, at most {MAX_RUNS} are run", program.name);
    let error = Diagnostic::error("iterations", Span::default(), message);
    let fix = "give axes smaller sizes (`--axis`), or ask for the price alone (`--cost`)";
    Err(console.stop_with(error.fix(fix.to_owned())))
}

/// Runs the kernel. Default data that are read as indices and choose no rows are replaced by some that do.
fn finish(
    compiled: &Compiled,
    arguments: &mut KernelArguments,
    flags: &Flags,
    console: &mut Console<'_>,
    progress: Progress<'_>,
) -> Outcome<Finished> {
    let Compiled { program, ports, machine, given, .. } = compiled;
    let random = |port: &&Port| !given.contains_key(&port.name);
    let random: Vec<&Port> = ports.arguments.iter().filter(random).collect();
    let integers = random.iter().filter(|port| port.dtype == DType::I32);
    let integers: Vec<String> = integers.map(|port| port.name.clone()).collect();
    let mut chosen = ChosenIndices::default();
    loop {
        let error = match interpret(compiled, arguments, flags, progress) {
            Ok(finished) => return Ok(finished),
            Err(error) => error,
        };
        let refused = Diagnostic::error("run", error.span(), error.to_string());
        let RunError::Index { error: IndexError::Outside { value, .. }, .. } = error else {
            return Err(console.refuse(vec![refused]));
        };
        let mut others = given.keys().filter_map(|name| arguments.tensors.get(name));
        if random.is_empty() || others.any(|bytes| data::holds(bytes, value)) {
            return Err(console.refuse(vec![refused]));
        }
        let uses = index_uses(program, machine, arguments, flags);
        let uses = uses.map_err(|error| console.stop("run", error.to_string()))?;
        let count = chosen.choose(&mut arguments.tensors, &integers, &uses);
        if count.map_err(|why| console.stop("argument", why.message))? == 0 {
            let names: Vec<&str> = random.iter().map(|port| port.name.as_str()).collect();
            let note = format!("default data are random, those of `{}` among them", names.join("`, `"));
            let fix = "give data with which each index is a row: `--arg NAME=FILE.npy`".to_owned();
            return Err(console.refuse(vec![refused.note(note, None).fix(fix)]));
        }
    }
}

fn interpret(
    compiled: &Compiled,
    arguments: &KernelArguments,
    flags: &Flags,
    progress: Progress<'_>,
) -> Result<Finished, RunError> {
    let Compiled { program, ports, machine, .. } = compiled;
    let mut interpreter = loaded(program, machine, arguments, flags, flags.shadow)?;
    interpreter.run(progress)?;
    let mut finished = Finished { results: BTreeMap::new(), undefined: Vec::new() };
    for Port { name, .. } in &ports.results {
        let result = interpreter.result(name)?;
        finished.results.insert(name.clone(), result.bytes);
        finished.undefined.extend(result.undefined);
    }
    Ok(finished)
}

/// The indices that the kernel reads; one that chooses no row counts as row 0.
fn index_uses(
    program: &Program,
    machine: &Machine,
    arguments: &KernelArguments,
    flags: &Flags,
) -> Result<Vec<IndexUse>, RunError> {
    let mut interpreter = loaded(program, machine, arguments, flags, false)?;
    interpreter.note_indices();
    interpreter.run(&mut |_, _| ())?;
    Ok(interpreter.index_uses().collect())
}

/// An interpreter with the arguments in its memories.
fn loaded<'p>(
    program: &'p Program,
    machine: &'p Machine,
    arguments: &KernelArguments,
    flags: &Flags,
    shadow: bool,
) -> Result<Interpreter<'p>, RunError> {
    let threads = flags.threads.map(usize::from);
    let options = Options { threads, shadow, memory_bytes: flags.memory };
    let mut interpreter = Interpreter::new(program, machine, options)?;
    for (name, bytes) in &arguments.tensors {
        interpreter.set_argument(name, bytes)?;
    }
    Ok(interpreter)
}

/// Compares the results with those of the logical evaluator.
fn check_results(
    chosen: &Chosen,
    kernel: &Module,
    compiled: &Compiled,
    arguments: &KernelArguments,
    finished: &Finished,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<CheckReport> {
    let (ctx, name) = (&chosen.ctx, &compiled.program.name);
    let options = visa_reference::Options { sum_order: compiled.machine.sum_order, any_order: false };
    let expected = visa_reference::evaluate(ctx, kernel, Some(name), arguments, options);
    let expected = expected.map_err(|finding| console.refuse(vec![finding]))?;
    let report = check::compare(&expected, &finished.results, flags.ulps);
    if let Some(first) = &report.first {
        let defined = flags.shadow.then_some(finished.undefined.is_empty());
        let finding = match findings::summed_padding(ctx, kernel, name) {
            Some(unmasked) => findings::sums_padding(&report, first, unmasked),
            None => findings::differs(&report, first, defined),
        };
        console.emit_about(None, &[finding]);
    }
    Ok(report)
}

/// Compares the results with those of the function that was planned.
fn check_plan(
    chosen: &Chosen,
    function: &Module,
    compiled: &Compiled,
    arguments: &KernelArguments,
    finished: &Finished,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<CheckReport> {
    let name = &compiled.program.name;
    let options = visa_reference::Options { sum_order: compiled.machine.sum_order, any_order: true };
    let expected = visa_reference::evaluate(&chosen.ctx, function, Some(name), arguments, options);
    let mut expected = expected.map_err(|finding| console.refuse(vec![finding]))?;
    // The function returns the new value of an `inout` argument as one of its results.
    for (result, port) in expected.iter_mut().zip(&compiled.ports.results) {
        result.name.clone_from(&port.name);
    }
    let report = check::compare(&expected, &finished.results, flags.ulps);
    if let Some(first) = &report.first {
        console.emit_about(None, &[findings::plan_differs(&report, name, first)]);
    }
    Ok(report)
}
