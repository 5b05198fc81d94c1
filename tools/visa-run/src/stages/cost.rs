//! Cost: the price of a program, its runs with their times, and both next to a trace or a schedule.

use crate::compare::{self, Comparison, LEAST_COMPARED};
use crate::console::{Console, Outcome};
use crate::flags::Flags;
use crate::order_line::OrderLine;
use crate::passes;
use crate::pictures;
use crate::ran::Tensors;
use crate::stages::read::read_compared;
use visa_cost::{
    AssumedRows, Each, KnownIndices, MemoryModel, Priced, Report, Rows, Timeline, priced, with_table_loads,
};
use visa_hw::program::Program;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::Module;
use visa_machine::Machine;
use visa_pass::Pass;

/// A program with its price.
pub(crate) struct Costed {
    pub(crate) program: Program,
    pub(crate) report: Report,
    /// The runs in their places, if a picture or a comparison needs them.
    pub(crate) timeline: Option<Timeline>,
    /// With `--compare`, the file next to the price.
    pub(crate) compared: Option<Comparison>,
    /// The order of the commands, if it is not that of the text.
    pub(crate) order: Option<OrderLine>,
}

/// Prices a program, with the indices among the data of its arguments and the loads of its look-up tables.
pub(crate) fn cost(
    program: Program,
    ctx: &Context,
    tensors: &Tensors,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<Costed> {
    let (machine, model) = (ctx.data::<Machine>(), *ctx.data::<MemoryModel>());
    let program = with_table_loads(program, &machine);
    let rows = Rows { known: KnownIndices::new(&program, tensors), assumed: flags.assume_indices };
    let each = pictures::extent(flags, &program);
    let found = priced(&program, &machine, model, &rows, each);
    let Priced { report, timeline } = found.map_err(|finding| console.refuse(vec![finding]))?;
    let compared = match (&flags.compare, &timeline) {
        (Some(name), Some(timeline)) => {
            Some(compare(name, &machine, (&report, &program), timeline, flags, console)?)
        }
        (Some(_) | None, Some(_) | None) => None,
    };
    Ok(Costed { program, report, timeline, compared, order: None })
}

/// The price of a kernel whose clauses are chosen, with its loads of tables.
pub(crate) fn price(
    ctx: &Context,
    mut module: Module,
    known: &[&'static Pass],
    entry: Option<&str>,
    each: Each,
) -> Result<(Program, Priced), Vec<Diagnostic>> {
    let (program, _) = passes::compile(ctx, &mut module, known, entry)?;
    let (machine, model) = (ctx.data::<Machine>(), *ctx.data::<MemoryModel>());
    let program = with_table_loads(program.started_first(), &machine);
    let rows = Rows { known: KnownIndices::default(), assumed: AssumedRows::default() };
    let found = priced(&program, &machine, model, &rows, each).map_err(|why| vec![why])?;
    Ok((program, found))
}

/// The file of `--compare` next to the price; a machine is fitted to it if that is requested.
fn compare(
    name: &str,
    machine: &Machine,
    (report, program): (&Report, &Program),
    timeline: &Timeline,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<Comparison> {
    let mut foreign = read_compared("compare", name, console)?;
    foreign.warnings.extend(compare::missing_clusters(&foreign, machine));
    if let Some(why) = compare::other_unit(report.unit, &foreign) {
        return Err(console.stop("compare", why));
    }
    let ours = compare::ours((report, program), timeline, machine, |span| console.rust_line(span));
    let aligned = compare::align(&ours, &foreign);
    let aligned = aligned.map_err(|why| console.stop("compare", format!("`{name}`: {why}")))?;
    let found = Comparison::new(&ours, &foreign, &aligned);
    if let Some(to) = flags.fit.as_ref().filter(|_| found.other_kernel(LEAST_COMPARED).is_none()) {
        fit(to, name, machine, report, &found, console)?;
    }
    Ok(found)
}

/// Writes the machine whose figures fit the commands that align.
fn fit(
    to: &str,
    from: &str,
    machine: &Machine,
    report: &Report,
    found: &Comparison,
    console: &mut Console<'_>,
) -> Outcome<()> {
    let fitted = compare::fitted(machine, from, report, found);
    let text = fitted.map_err(|why| console.stop("fit", format!("`{from}`: {why}")))?;
    let written = console.io.write(to, text.as_bytes());
    console.written(to, written)
}
