//! Notes of a schedule: the moved commands, and the reasons why they may move.

use crate::commands::{Commands, name};
use crate::dependences::Dependences;
use crate::rotate::{Body, Plan};
use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, Severity, counted};
use visa_ir::module::Module;
use visa_ir::span::Span;

/// A decision, with the lines that explain it.
pub(crate) struct Decision {
    pub(crate) span: Span,
    what: String,
    lines: Vec<String>,
    cycles: [u64; 2],
}

impl Decision {
    /// With the cycles of the kernel before and after.
    pub(crate) fn cycles(self, cycles: [u64; 2]) -> Self {
        Self { cycles, ..self }
    }

    /// Adds the cycles of the block's order by itself, and the lower bound of all orders.
    pub(crate) fn bound(mut self, cycles: u64, bound: u64, proven: bool) -> Self {
        let how = match (cycles <= bound, proven) {
            (true, _) => "no order takes less: it is at its bound".to_owned(),
            (false, true) => "no order takes less: the solver has proved it".to_owned(),
            (false, false) => format!("no order takes less than {bound}"),
        };
        self.lines.push(format!("these commands by themselves take {}; {how}", counted(cycles, "cycle")));
        self
    }

    /// As a remark.
    pub(crate) fn remark(&self) -> Diagnostic {
        let [before, after] = self.cycles;
        let message = match before == after {
            true => self.what.clone(),
            false => format!("{}: {before} cycles become {after}", self.what),
        };
        let remark =
            Diagnostic { severity: Severity::Remark, ..Diagnostic::error("schedule", self.span, message) };
        self.lines.iter().fold(remark, |remark, line| remark.note(line.clone(), None))
    }
}

/// The notes of the commands that moved in a block.
pub(crate) fn moved(
    ctx: &Context,
    module: &Module,
    commands: &Commands,
    order: &[usize],
    dependences: &Dependences,
) -> Decision {
    let name = |number: usize| name(ctx, module, &commands.all[number]);
    let mut lines = Vec::new();
    for (at, &number) in order.iter().enumerate() {
        // It has passed those that come later now, and came before.
        let passed: Vec<usize> = order[at + 1..].iter().copied().filter(|&other| other < number).collect();
        let Some(&first) = passed.iter().min() else { continue };
        let stays = dependences.before[number].iter().max_by_key(|(other, _)| *other);
        let stays = stays.map_or_else(
            || "it needs no other command of this block".to_owned(),
            |(other, why)| format!("it stays after {}, as it {}", name(*other), why.text()),
        );
        let more = if passed.len() > 1 { format!(" and {} more", passed.len() - 1) } else { String::new() };
        lines.push(format!("{} runs before {}{more}: {stays}", name(number), name(first)));
    }
    let span = order
        .first()
        .map_or_else(Span::default, |&number| module.op(ctx, commands.all[number].last()).span());
    let what = format!("{} moved up", counted(lines.len() as u64, "command"));
    Decision { span, what, lines, cycles: [0; 2] }
}

/// The notes of a pipelined loop.
pub(crate) fn pipelined(
    ctx: &Context,
    module: &Module,
    body: &Body,
    plan: Option<&Plan>,
    held: Vec<String>,
    refused: Option<Diagnostic>,
) -> Decision {
    let span = module.op(ctx, body.op).span();
    let Some(plan) = plan else {
        let mut lines = held;
        lines.extend(refused.map(|why| format!("a plan does not fit: {}", why.message)));
        let what = "the iterations of this loop overlap no more than before".to_owned();
        return Decision { span, what, lines, cycles: [0; 2] };
    };
    let names = |stage: usize| {
        let own = (0..plan.stages.len()).filter(|&number| plan.stages[number] == stage);
        let names: Vec<String> = own.map(|number| name(ctx, module, &body.commands.all[number])).collect();
        names.join(", ")
    };
    let last = plan.depth() - 1;
    let mut lines: Vec<String> = (0..last)
        .map(|stage| {
            let ahead = counted((last - stage) as u64, "iteration");
            format!("{} ahead of the last stage: {}", ahead, names(stage))
        })
        .collect();
    if last > 0 {
        lines.push(format!("in their iteration: {}", names(last)));
    }
    if plan.turns > 1 {
        lines.push(format!("values that are needed an iteration later have {} rotating buffers", plan.turns));
    }
    lines.extend(refused.map(|why| format!("a plan that does not fit was left out: {}", why.message)));
    let what = match last {
        0 => "rotating buffers let iterations of this loop overlap".to_owned(),
        _ => format!("this loop is pipelined in {} stages", last + 1),
    };
    Decision { span, what, lines, cycles: [0; 2] }
}
