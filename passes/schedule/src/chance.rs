//! Random schedules, regardless of their cost: tests run them to check that every plan and every order preserves the
//! values.

use crate::commands::Commands;
use crate::dependences::Dependences;
use crate::driver::{as_planned, body, plans_of, times_of};
use crate::emit::reorder;
use crate::places::Places;
use crate::price::Time;
use std::collections::HashMap;
use visa_algebra::Axes;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{BlockId, Module, OpId};
use visa_ir::span::Span;
use visa_mapping::ops::control::FOR;

/// A function in which each loop follows one of its plans, and each block one of its valid orders: `draw` returns a
/// number below another one. The result may not verify if a plan needs more memory than there is.
///
/// # Errors
/// Why the function cannot be priced as it is.
pub fn scheduled(
    ctx: &Context,
    module: &Module,
    func: OpId,
    axes: &Axes,
    draw: &mut dyn FnMut(usize) -> usize,
) -> Result<Module, Diagnostic> {
    let times = times_of(ctx, module, func)?;
    let mut chance = Chance { ctx, func, axes, times, module: module.clone(), draw };
    for block in module.op(ctx, func).regions().to_vec() {
        chance.block(block)?;
    }
    Ok(chance.module)
}

struct Chance<'a> {
    ctx: &'a Context,
    func: OpId,
    axes: &'a Axes,
    times: HashMap<Span, Time>,
    module: Module,
    draw: &'a mut dyn FnMut(usize) -> usize,
}

impl Chance<'_> {
    fn block(&mut self, block: BlockId) -> Result<(), Diagnostic> {
        for command in &Commands::of(self.ctx, &self.module, block).all {
            let last = command.last();
            for inner in self.module.op(self.ctx, last).regions().to_vec() {
                self.block(inner)?;
            }
            if self.module.op(self.ctx, last).is(&FOR) {
                self.pipeline(last)?;
            }
        }
        self.order(block)
    }

    fn pipeline(&mut self, op: OpId) -> Result<(), Diagnostic> {
        let Some(body) = body(self.ctx, &self.module, op, self.axes)? else { return Ok(()) };
        let places = Places::of(self.module.op(self.ctx, self.func), self.axes)?;
        let plans = plans_of(self.ctx, &self.module, &body, &places, (&self.times, self.axes))?.all;
        // As often as any plan, the loop stays.
        let Some(plan) = plans.get((self.draw)(plans.len() + 1)) else { return Ok(()) };
        if let Ok(Some(planned)) = as_planned(self.ctx, &self.module, &body, plan) {
            self.module = planned;
        }
        Ok(())
    }

    fn order(&mut self, block: BlockId) -> Result<(), Diagnostic> {
        let commands = Commands::of(self.ctx, &self.module, block);
        let places = Places::of(self.module.op(self.ctx, self.func), self.axes)?;
        let before = Dependences::of(self.ctx, &self.module, &commands, &places).numbers();
        let (mut order, mut left): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..before.len()).collect());
        while !left.is_empty() {
            let may: Vec<usize> = (0..left.len())
                .filter(|&at| before[left[at]].iter().all(|other| order.contains(other)))
                .collect();
            order.push(left.remove(may[(self.draw)(may.len())]));
        }
        reorder(self.ctx, &mut self.module, block, &commands, &order);
        Ok(())
    }
}
