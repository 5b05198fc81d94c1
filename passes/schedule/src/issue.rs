//! Puts the commands of a function in another order than that of its text: the vendor's, or a given one.

use crate::commands::{Command, Commands, name};
use crate::dependences::{Dependences, Why};
use crate::driver::CommandTimes;
use crate::emit::reorder;
use crate::explain::{Decision, moved};
use crate::places::Places;
use crate::price::{times, vendor_report};
use crate::registers;
use crate::vendor::{self, VendorCommand};
use std::collections::{HashMap, HashSet};
use visa_algebra::Axes;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{BlockId, Module, OpId, ValueDef, ValueId};
use visa_ir::span::Span;
use visa_mapping::view::changed;

/// A function in another order.
pub(crate) struct Reordered {
    pub(crate) module: Module,
    /// The decisions, in order.
    pub(crate) decisions: Vec<Decision>,
}

/// A function in the order in which the vendor's scheduler issues its commands, block by block.
///
/// # Errors
/// Why it cannot be allocated, lowered or priced as it is.
pub(crate) fn in_vendor_order(
    ctx: &Context,
    module: &Module,
    func: OpId,
    axes: &Axes,
) -> Result<Reordered, Diagnostic> {
    let times = times(&vendor_report(ctx, module, func)?);
    let ordered = |module: &Module, ahead: usize| {
        in_order(ctx, module, func, axes, |block| {
            let tasks = CommandTimes { ctx, module: block.module, times: &times, axes };
            let commands = vendor_commands(&tasks, block)?;
            Ok(vendor::order(&commands, ahead))
        })
    };
    let cycles = |module: &Module| vendor_report(ctx, module, func).ok().map(|report| report.totals.cycles);
    let whole = ordered(module, usize::MAX)?;
    if cycles(&whole.module).is_some() {
        return Ok(whole);
    }
    let pinned = registers::pinned(ctx, module, func);
    let pinned = pinned.iter().map(|pinned| (pinned, usize::MAX));
    let mut best: Option<(u64, Reordered)> = None;
    for (module, distance) in pinned.chain(AHEAD.map(|distance| (module, distance))) {
        let found = ordered(module, distance)?;
        let Some(cycles) = cycles(&found.module) else { continue };
        if best.as_ref().is_none_or(|(least, _)| cycles < *least) {
            best = Some((cycles, found));
        }
    }
    best.map(|(_, found)| found).ok_or_else(|| {
        let message = "no order like that of the vendor's scheduler leaves room for all tensors";
        Diagnostic::error("schedule", module.op(ctx, func).span(), message)
            .fix("price the order of the text: `--schedule=written`".to_owned())
    })
}

/// Ranks that a command is issued ahead of one that waits, at most, where the tensors do not fit otherwise: commands
/// further ahead need more memory at the same time. The distance with the fewest cycles is taken; also tried is an
/// order without a limit in which tensors of register files have the places that they have in the order of the text.
const AHEAD: [usize; 7] = [64, 32, 16, 8, 4, 2, 0];

/// A function whose commands run in the order of their positions. A command without one runs before the first command
/// that needs it, or where it is.
///
/// # Errors
/// Two commands whose order breaks a dependence.
pub fn in_given_order(
    ctx: &Context,
    module: &Module,
    func: OpId,
    axes: &Axes,
    position: impl Fn(Span) -> Option<usize>,
) -> Result<Module, Diagnostic> {
    let order = |block: &Block<'_>| given_order(block, |op| position(block.module.op(ctx, op).span()));
    in_order(ctx, module, func, axes, order).map(|found| found.module)
}

/// The commands of a block, with their dependences.
struct Block<'a> {
    ctx: &'a Context,
    module: &'a Module,
    commands: Commands,
    dependences: Dependences,
}

/// A function whose blocks have the orders of `order`, the inner ones first.
fn in_order(
    ctx: &Context,
    module: &Module,
    func: OpId,
    axes: &Axes,
    order: impl Fn(&Block<'_>) -> Result<Vec<usize>, Diagnostic>,
) -> Result<Reordered, Diagnostic> {
    let mut found = Reordered { module: module.clone(), decisions: Vec::new() };
    for id in blocks(ctx, module, func) {
        let places = Places::of(found.module.op(ctx, func), axes)?;
        let commands = Commands::of(ctx, &found.module, id);
        let dependences = Dependences::of(ctx, &found.module, &commands, &places);
        let block = Block { ctx, module: &found.module, commands, dependences };
        let order = order(&block)?;
        if order.is_sorted() {
            continue;
        }
        let Block { commands, dependences, .. } = block;
        found.decisions.push(moved(ctx, &found.module, &commands, &order, &dependences));
        reorder(ctx, &mut found.module, id, &commands, &order);
    }
    Ok(found)
}

/// The blocks of a function that run commands, the inner ones first.
fn blocks(ctx: &Context, module: &Module, func: OpId) -> Vec<BlockId> {
    let mut found = Vec::new();
    let mut left: Vec<BlockId> = module.op(ctx, func).regions().to_vec();
    while let Some(block) = left.pop() {
        found.push(block);
        for command in Commands::of(ctx, module, block).all {
            left.extend(module.op(ctx, command.last()).regions());
        }
    }
    found.reverse();
    found
}

/// The commands of a block with the facts of the vendor's order.
fn vendor_commands(times: &CommandTimes<'_>, block: &Block<'_>) -> Result<Vec<VendorCommand>, Diagnostic> {
    let tasks = times.tasks(&block.commands, block.dependences.numbers())?;
    let made = makers(block);
    let each = tasks.0.into_iter().zip(&block.commands.all).enumerate();
    Ok(each
        .map(|(text, (task, command))| {
            let mut operands = operands(block, command, &made);
            operands.retain(|operand| task.after.contains(operand));
            VendorCommand { task, operands, stores: command.writes_hbm(block.ctx, block.module), text }
        })
        .collect())
}

/// The command that makes each value of a block.
fn makers(block: &Block<'_>) -> HashMap<ValueId, usize> {
    let each = block.commands.all.iter().enumerate();
    let of = |(number, command): (usize, &Command)| {
        let ops = command.ops.clone();
        let results = ops.into_iter().flat_map(|id| block.module.op(block.ctx, id).results().to_vec());
        results.map(move |value| (value, number)).collect::<Vec<_>>()
    };
    each.flat_map(of).collect()
}

/// The commands that make a command's operands, in the order of the operands, through views. A tensor that it writes
/// in place comes first: a reader of the whole tensor has the commands that write its parts as operands, in their
/// order.
fn operands(block: &Block<'_>, command: &Command, made: &HashMap<ValueId, usize>) -> Vec<usize> {
    let Block { ctx, module, commands, .. } = block;
    let all = command.ops.iter().rev().flat_map(|&id| module.op(ctx, id).operands().iter().rev().copied());
    let mut left: Vec<ValueId> = all.chain(changed(module.op(ctx, command.last()))).collect();
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    while let Some(value) = left.pop() {
        if !seen.insert(value) {
            continue;
        }
        match (made.get(&value), module.def(value)) {
            (Some(&number), _) => found.push(number),
            (None, ValueDef::Result(view, _)) if commands.free.contains(&view) => {
                left.extend(module.op(ctx, view).operands().iter().rev().copied());
            }
            (None, ValueDef::Result(..) | ValueDef::Argument(..)) => {}
        }
    }
    let mut once = HashSet::new();
    found.retain(|&number| once.insert(number));
    found
}

/// The order of positions, in which commands without one run before the first command that needs them.
fn given_order(
    block: &Block<'_>,
    position: impl Fn(OpId) -> Option<usize>,
) -> Result<Vec<usize>, Diagnostic> {
    let all = &block.commands.all;
    let own: Vec<Option<usize>> = all.iter().map(|command| position(command.last())).collect();
    let mut keys = own.clone();
    for number in (0..all.len()).rev() {
        for (before, _) in &block.dependences.before[number] {
            if own[*before].is_none() {
                keys[*before] = keys[*before].into_iter().chain(keys[number]).min();
            }
        }
    }
    let last = own.iter().flatten().max().map_or(0, |last| last + 1);
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|&number| (keys[number].unwrap_or(last), own[number].is_some(), number));
    match broken(block, &order) {
        Some(why) => Err(why),
        None => Ok(order),
    }
}

/// The error for the first dependence that an order breaks.
fn broken(block: &Block<'_>, order: &[usize]) -> Option<Diagnostic> {
    let mut places = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, &number)| places[number] = place);
    let mut broken = order.iter().flat_map(|&number| {
        block.dependences.before[number].iter().map(move |&(before, why)| (number, before, why))
    });
    let (number, before, why) = broken.find(|&(number, before, _)| places[number] < places[before])?;
    Some(refused(block, number, before, why))
}

fn refused(block: &Block<'_>, number: usize, before: usize, why: Why) -> Diagnostic {
    let named = |number: usize| name(block.ctx, block.module, &block.commands.all[number]);
    let span = |number: usize| block.module.op(block.ctx, block.commands.all[number].last()).span();
    let message = format!("the order runs {} before {}, but it {}", named(number), named(before), why.text());
    Diagnostic::error("order", span(number), message)
        .note("this command must run first", Some(span(before)))
        .fix("take a dump or trace of this kernel, as it is written".to_owned())
}
