//! One run, from the file to the exit code.

use crate::console::{Console, Outcome, Stopped};
use crate::flags::Flags;
use crate::stages::advise::Given;
use crate::stages::compile::Compiled;
use crate::stages::cost::Costed;
use crate::stages::run::Progress;
use crate::stages::{advise, arguments, choose, compile, cost, entry, evaluate, load, order, report, run};
use visa_opt::{Io, Registry};
use visa_pass::Level;

/// Runs the stages that the flags ask for. Returns the exit code: 0 only if everything asked for held.
pub(crate) fn session(registry: &Registry, flags: &Flags, io: &mut Io, progress: Progress<'_>) -> i32 {
    let mut console = Console::new(io, flags.shared.renderer());
    match stages(registry, flags, &mut console, progress) {
        Ok(true) => 0,
        Ok(false) | Err(Stopped) => 1,
    }
}

/// Returns true if every check passed.
fn stages(
    registry: &Registry,
    flags: &Flags,
    console: &mut Console<'_>,
    progress: Progress<'_>,
) -> Outcome<bool> {
    let (mut loaded, entry) = load::load(registry, flags, console)?;
    let renamed = entry.map(|entry| Flags { entry: Some(entry), ..flags.clone() });
    let flags = renamed.as_ref().unwrap_or(flags);
    entry::of_one_level(&mut loaded, flags);
    if flags.plan.is_none() && Level::of(&loaded.ctx, &loaded.module) == Level::Tensor {
        if flags.advise {
            return Err(console.stop_with(advise::of_function(&flags.file)));
        }
        return evaluate::evaluate(loaded, registry, flags, console);
    }
    let mut chosen = choose::choose(loaded, registry, flags, console)?;
    let compiled = compile::compile(&mut chosen, registry, flags, console)?;
    if flags.cost {
        let Compiled { program, ports, given, .. } = &compiled;
        let tensors = arguments::of_indices(program, ports, given, flags, console)?;
        let costed = cost::cost(compiled.program, &chosen.ctx, &tensors, flags, console)?;
        let order = order::line(&chosen.order, &chosen.ctx, registry, flags, &costed.report);
        let costed = Costed { order, ..costed };
        let given = Given { advice: compiled.advice, written: chosen.written.take() };
        let advice = advise::advise(&chosen, given, &costed, registry, flags, console);
        report::report(&chosen, &compiled.ports, None, costed, advice, flags, console)?;
        chosen.rust_file.map_or(Ok(()), |file| file.write(true, console))?;
        return Ok(true);
    }
    let ran = run::run(&chosen, &compiled, flags, console, progress)?;
    let costed = cost::cost(compiled.program, &chosen.ctx, &ran.tensors, flags, console)?;
    let order = order::line(&chosen.order, &chosen.ctx, registry, flags, &costed.report);
    let costed = Costed { order, ..costed };
    let given = Given { advice: compiled.advice, written: chosen.written.take() };
    let advice = advise::advise(&chosen, given, &costed, registry, flags, console);
    report::report(&chosen, &compiled.ports, Some(&ran), costed, advice, flags, console)?;
    chosen.rust_file.map_or(Ok(()), |file| file.write(ran.held(), console))?;
    Ok(ran.held())
}
