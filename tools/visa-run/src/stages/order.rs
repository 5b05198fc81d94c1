//! Order: the order in which commands are issued. A kernel from Rust has the vendor's on a measured machine; `--order`
//! takes that of a file.

use crate::compare::{self, Aligned, Comparison, Foreign, LEAST_ORDERED, Ours};
use crate::console::{Console, Outcome};
use crate::flags::Flags;
use crate::order_line::{OrderLine, OrderName};
use crate::passes;
use crate::stages::close::run;
use crate::stages::cost::price;
use crate::stages::read::read_compared;
use std::collections::BTreeMap;
use visa_cost::{Each, Report};
use visa_ir::analysis::Analysis as _;
use visa_ir::context::Context;
use visa_ir::diag::Severity;
use visa_ir::module::Module;
use visa_ir::span::Span;
use visa_machine::Machine;
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::ops::func::FUNC;
use visa_opt::Registry;
use visa_pass::{Pass, Pipeline};
use visa_schedule::issue::in_given_order;

/// The options of pass `schedule` for the vendor's order.
pub(crate) const VENDOR: &str = "vendor";

/// The passes that give a copy of the kernel its addresses.
const ALLOCATING: [(&str, Option<&str>); 2] = [("plan-vector", Some("")), ("allocate", Some(""))];

/// The order of the commands that are priced.
#[derive(Debug, Default)]
pub(crate) enum IssueOrder {
    /// The text's, or the one of the passes that the flags name.
    #[default]
    AsWritten,
    /// The vendor's. With the kernel in the order of the text.
    Vendor(Box<Module>),
    /// That of a file, by its name. With the kernel in the order of the text.
    File(String, Box<Module>),
}

/// Puts the commands of a kernel in the order that the flags name, or in the vendor's by default.
pub(crate) fn order(
    ctx: &Context,
    module: &mut Module,
    registry: &Registry,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<IssueOrder> {
    if let Some(name) = &flags.order {
        let ordered = of_file(ctx, module, name, registry, flags, console)?;
        return Ok(IssueOrder::File(name.clone(), Box::new(std::mem::replace(module, ordered))));
    }
    if let Some(options) = &flags.schedule {
        let written = module.clone();
        run(ctx, module, &registry.passes, &[("schedule", Some(options))], console)?;
        let is_vendor = is_vendor(options, &registry.passes);
        return Ok(if is_vendor { IssueOrder::Vendor(Box::new(written)) } else { IssueOrder::AsWritten });
    }
    if !has_vendor_order(ctx, console) {
        return Ok(IssueOrder::AsWritten);
    }
    let written = module.clone();
    match passes::choose(ctx, module, &registry.passes, &[("schedule", Some(VENDOR))]) {
        Ok(report) => {
            console.passed(&report)?;
            Ok(IssueOrder::Vendor(Box::new(written)))
        }
        // The error is reported where the kernel is lowered as it is written.
        Err(_) => {
            *module = written;
            Ok(IssueOrder::AsWritten)
        }
    }
}

/// Returns true if the vendor's scheduler orders the commands of a kernel: one from Rust, on a measured machine.
pub(crate) fn has_vendor_order(ctx: &Context, console: &Console<'_>) -> bool {
    console.rust.is_some() && ctx.data::<Machine>().measured.is_some()
}

/// Returns true if these options of `--schedule` request the vendor's order.
fn is_vendor(options: &str, known: &[&'static Pass]) -> bool {
    let pipeline = Pipeline::parse(&passes::pipeline_text(&[("schedule", Some(options))]), known);
    let steps = pipeline.map(|pipeline| pipeline.steps).unwrap_or_default();
    steps.iter().any(|step| step.options.get::<bool>(VENDOR).is_ok_and(|vendor| vendor))
}

/// The kernel in the order of a schedule or a trace.
fn of_file(
    ctx: &Context,
    module: &Module,
    name: &str,
    registry: &Registry,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<Module> {
    let foreign = read_compared("order", name, console)?;
    // Commands are aligned in the vendor's order: in that of the text, moved commands would have no partner.
    let mut guess = module.clone();
    let asked = [&[("schedule", Some(VENDOR))], &ALLOCATING[..]].concat();
    run(ctx, &mut guess, &registry.passes, &asked, console)?;
    let entry = flags.entry.as_deref();
    let found = price(ctx, guess, &registry.passes, entry, Each::PlaceAndMemory);
    let (program, priced) = found.map_err(|findings| console.refuse(findings))?;
    if let Some(why) = compare::other_unit(priced.report.unit, &foreign) {
        return Err(console.stop("order", why));
    }
    let machine = ctx.data::<Machine>();
    let ours = match &priced.timeline {
        Some(timeline) => {
            let place = |span| console.rust_line(span);
            compare::ours((&priced.report, &program), timeline, &machine, place)
        }
        None => Vec::new(),
    };
    let positions = positions(&priced.report, &ours, &foreign, &machine);
    let positions = positions.map_err(|why| console.stop("order", format!("`{name}`: {why}")))?;
    let mut ordered = module.clone();
    let axes = DeclaredAxes::build(ctx, module).0;
    for func in module.ops(module.body()).iter().copied().filter(|&id| module.op(ctx, id).is(&FUNC)) {
        let found = in_given_order(ctx, &ordered, func, &axes, |span| positions.get(&span).copied());
        ordered = found.map_err(|why| console.refuse(vec![why]))?;
    }
    for warning in &foreign.warnings {
        console.note(Severity::Warning, "order", warning.clone());
    }
    Ok(ordered)
}

/// The position of each command in a file, by its span in the text.
///
/// # Errors
/// A file of another kernel, and a trace that lacks a cluster.
fn positions(
    report: &Report,
    ours: &[Ours],
    foreign: &Foreign,
    machine: &Machine,
) -> Result<BTreeMap<Span, usize>, String> {
    if let Some(why) = compare::missing_clusters(foreign, machine) {
        return Err(format!("{why}. An order needs the spans of all clusters: trace all of them"));
    }
    let aligned = compare::align(ours, foreign)?;
    if let Some(why) = Comparison::new(ours, foreign, &aligned).other_kernel(LEAST_ORDERED) {
        return Err(why);
    }
    let mut order: Vec<usize> = (0..foreign.entries.len()).collect();
    order.sort_by_key(|&at| (foreign.entries[at].begin, at));
    let mut places = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, &at)| places[at] = place);
    let spans: BTreeMap<usize, Span> =
        report.commands.iter().map(|command| (command.index, command.span)).collect();
    let left = left(ours, foreign, &aligned);
    // Of a pass and the loads of its table, the pass is the last one.
    let each = ours.iter().zip(&aligned.pairs).enumerate().filter_map(|(at, (own, pairs))| {
        let entries = pairs.iter().map(|pair| pair.entry).chain(left.get(&at).copied());
        let first = entries.min_by_key(|&at| (foreign.entries[at].cluster, at))?;
        Some((*spans.get(&own.command)?, places[first]))
    });
    Ok(each.collect())
}

/// The entries of commands without a partner, if theirs without a partner are as many of each kind: a command that
/// breaks a dependence has no partner, and an order with it is refused.
fn left(ours: &[Ours], foreign: &Foreign, aligned: &Aligned) -> BTreeMap<usize, usize> {
    let alone = (0..ours.len()).filter(|&at| aligned.pairs[at].is_empty());
    let first = foreign.entries.iter().filter_map(|entry| entry.cluster).min();
    let mut theirs = aligned.theirs.clone();
    theirs.retain(|&at| foreign.entries[at].cluster == first);
    let mut found = BTreeMap::new();
    for own in alone {
        let may_be = |at: &usize| foreign.may_be(&ours[own], &foreign.entries[*at]);
        let Some(at) = theirs.iter().position(may_be) else { return BTreeMap::new() };
        found.insert(own, theirs.remove(at));
    }
    if theirs.is_empty() { found } else { BTreeMap::new() }
}

/// The line of a report about an order that is not the text's, with the total of `--schedule`; `None` for the
/// text's, and for the optimiser's.
pub(crate) fn line(
    order: &IssueOrder,
    ctx: &Context,
    registry: &Registry,
    flags: &Flags,
    report: &Report,
) -> Option<OrderLine> {
    let (name, written) = match order {
        IssueOrder::AsWritten => return None,
        IssueOrder::Vendor(written) => (OrderName::Vendor, written),
        IssueOrder::File(file, written) => (OrderName::File(file.clone()), written),
    };
    let optimised = flags.report.and_then(|_| {
        let mut module = (**written).clone();
        let asked = [&[("schedule", Some(""))], &ALLOCATING[..]].concat();
        passes::choose(ctx, &mut module, &registry.passes, &asked).ok()?;
        let entry = flags.entry.as_deref();
        price(ctx, module, &registry.passes, entry, Each::Nothing).ok()
    });
    let optimised = optimised.map(|(_, priced)| priced.report.totals.cycles);
    Some(OrderLine { order: name, optimised, total: report.totals.cycles, unit: report.unit.name() })
}
