//! Software pipelining: a loop in which iterations overlap. Commands of an early stage run for a later iteration than
//! those of the stages after it. Before the loop is a prologue with the commands of the first iterations, and after it
//! an epilogue with the remaining commands of the last ones.
//!
//! Of `S` stages, stage `s` runs in iteration `j` of the new loop for iteration `j + S - 1 - s` of the old one. The
//! result of a stage for the next one is carried from one iteration to the next; if both are live at once, it is in a
//! rotating buffer.

use crate::commands::{Commands, needs, quoted};
use std::collections::{BTreeSet, HashMap, HashSet};
use visa_algebra::Expr;
use visa_ir::context::{Attr, Context};
use visa_ir::diag::Diagnostic;
use visa_ir::module::{BlockId, Module, OpId, OpRef, ValueDef, ValueId};
use visa_ir::open::is_open;
use visa_mapping::facts::address::THEN;
use visa_mapping::ops::control::{For, Yield, arguments, carried, yielded};
use visa_mapping::ops::number::Sum;
use visa_mapping::{DM, Tensor};

/// Plan for pipelining a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The stage of each command, from 0 on.
    pub(crate) stages: Vec<usize>,
    /// The commands in their order in the new loop's body.
    pub(crate) order: Vec<usize>,
    /// Number of addresses of a rotating buffer.
    pub(crate) turns: usize,
    /// The values in rotating buffers.
    pub(crate) turning: Turning,
}

/// Values in rotating buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turning {
    /// Values carried to the next stage.
    Crossing,
    /// Those, and results of commands in data memory at an open address.
    All,
}

impl Plan {
    /// Returns true if another plan has the same stages in the same order, with other buffers.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        self.stages == other.stages && self.order == other.order
    }

    /// Number of stages.
    pub(crate) fn depth(&self) -> usize {
        self.stages.iter().max().map_or(0, |most| most + 1)
    }
}

/// A loop, and the results of its commands.
pub(crate) struct Body {
    pub(crate) op: OpId,
    pub(crate) block: BlockId,
    pub(crate) commands: Commands,
    /// Iterations.
    pub(crate) times: u64,
}

/// The values that a stage makes for the next one, each with the stage that makes it, in the order in which they are
/// made.
///
/// # Errors
/// Why the plan cannot be: a value that is needed two stages later, or is not in data memory.
pub(crate) fn crossing(
    ctx: &Context,
    module: &Module,
    body: &Body,
    plan: &Plan,
) -> Result<Vec<(ValueId, usize)>, String> {
    let mut made: HashMap<ValueId, usize> = HashMap::new();
    for (command, &stage) in body.commands.all.iter().zip(&plan.stages) {
        let results = command.ops.iter().flat_map(|&id| module.op(ctx, id).results());
        made.extend(results.map(|&value| (value, stage)));
    }
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    for (command, &stage) in body.commands.all.iter().zip(&plan.stages) {
        for value in needed(ctx, module, &body.commands, &command.ops) {
            let Some(&from) = made.get(&value).filter(|from| **from != stage) else { continue };
            let name = quoted(module, value);
            if from + 1 != stage {
                return Err(format!("{name} would be needed more than one iteration after it is made"));
            }
            let tensor = ctx.type_value::<Tensor>(module.ty(value));
            if tensor.is_none_or(|tensor| !tensor.is(&DM)) {
                return Err(format!(
                    "{name} is not in data memory, and only that is carried to the next iteration"
                ));
            }
            if seen.insert(value) {
                found.push((value, from));
            }
        }
    }
    Ok(found)
}

/// The values that operations need of others, through views and numbers.
pub(crate) fn needed(ctx: &Context, module: &Module, commands: &Commands, ops: &[OpId]) -> BTreeSet<ValueId> {
    let own: HashSet<OpId> = ops.iter().copied().collect();
    let (mut found, mut left) = (BTreeSet::new(), ops.to_vec());
    let mut seen: HashSet<OpId> = HashSet::new();
    while let Some(id) = left.pop() {
        for value in needs(ctx, module, id) {
            match module.def(value) {
                ValueDef::Result(made, _) if commands.free.contains(&made) => {
                    if seen.insert(made) {
                        left.push(made);
                    }
                }
                ValueDef::Result(made, _) if own.contains(&made) => {}
                ValueDef::Result(..) | ValueDef::Argument(..) => {
                    found.insert(value);
                }
            }
        }
    }
    found
}

/// Replaces a loop by a pipelined one.
///
/// # Errors
/// As of [`crossing`].
pub(crate) fn rotate(ctx: &Context, module: &mut Module, body: &Body, plan: &Plan) -> Result<(), Diagnostic> {
    let refuse = |module: &Module, why: String| module.op(ctx, body.op).error("C0", why);
    let crossing = crossing(ctx, module, body, plan).map_err(|why| refuse(module, why))?;
    let depth = plan.depth();
    let rounds = depth as u64 - 1;
    let times = body.times.checked_sub(rounds).filter(|times| *times > 0);
    let times = times.ok_or_else(|| refuse(module, "it has fewer iterations than stages".to_owned()))?;
    let carried = through(ctx, module, body, plan);
    let mut rotation = Rotation { ctx, module, body, plan, crossing, carried, envs: HashMap::new() };
    rotation.start();
    for round in 0..rounds {
        for stage in (0..=round as usize).rev() {
            rotation.straight(stage, round - stage as u64, body.op);
        }
    }
    rotation.repeated(times);
    for round in body.times..body.times + rounds {
        for stage in ((round - body.times) as usize + 1..depth).rev() {
            rotation.straight(stage, round - stage as u64, body.op);
        }
    }
    rotation.finish();
    Ok(())
}

/// Returns true if an operation makes a tensor in data memory with an open address that its loop does not carry: a
/// carried one has a single address.
pub(crate) fn may_turn(op: OpRef<'_>) -> bool {
    let yields = |value: &ValueId| op.parent().is_some_and(|around| yielded(around).contains(value));
    if op.results().iter().any(yields) {
        return false;
    }
    let in_memory = op.result_type::<Tensor>(0).is_some_and(|tensor| tensor.is(&DM));
    let takes = op.decl().is_some_and(|decl| decl.clause(THEN.name).is_some());
    in_memory && takes && is_open(op, AT) && op.attr(THEN.name).is_none()
}

/// Gives the result of an operation `times` open addresses.
pub(crate) fn turn(ctx: &Context, module: &mut Module, id: OpId, turns: usize) {
    if turns > 1 {
        let open = vec![None; turns - 1];
        module.set_clause(id, THEN.name, Some(ctx.attr(Attr::OpenInts(open.into()))));
    }
}

/// The clause of an address.
const AT: &str = "at";

struct Rotation<'a> {
    ctx: &'a Context,
    module: &'a mut Module,
    body: &'a Body,
    plan: &'a Plan,
    crossing: Vec<(ValueId, usize)>,
    /// The values that the old loop carries.
    carried: Vec<Through>,
    /// The values of the old body in each of its iterations, outside of the new loop.
    envs: HashMap<u64, HashMap<ValueId, ValueId>>,
}

impl Rotation<'_> {
    /// The values carried into the first iteration.
    fn start(&mut self) {
        let all = carried(self.module.op(self.ctx, self.body.op));
        let first = all.into_iter().filter_map(|own| Some((own.argument?, own.initial))).collect();
        self.envs.insert(0, first);
    }

    fn index(&self) -> ValueId {
        self.module.args(self.body.block)[0]
    }

    /// The commands of a stage, in program order or in that of the plan.
    fn of_stage(&self, stage: usize) -> Vec<usize> {
        (0..self.plan.stages.len()).filter(|&number| self.plan.stages[number] == stage).collect()
    }

    /// Writes a stage of an iteration before `anchor`, outside of the new loop.
    fn straight(&mut self, stage: usize, iteration: u64, anchor: OpId) {
        let mut env = self.envs.remove(&iteration).unwrap_or_default();
        let number = self.number(&[], iteration, anchor);
        env.insert(self.index(), number);
        for command in self.of_stage(stage) {
            self.copy(command, anchor, &mut env, false);
        }
        self.carry_on(stage, iteration, &env);
        self.envs.insert(iteration, env);
    }

    /// Passes on the yielded values that a stage makes to the next iteration.
    fn carry_on(&mut self, stage: usize, iteration: u64, env: &HashMap<ValueId, ValueId>) {
        for own in self.carried.iter().filter(|own| own.maker == stage) {
            // A value that no command makes is made outside of the loop.
            let value = env.get(&own.yielded).copied().unwrap_or(own.yielded);
            self.envs.entry(iteration + 1).or_default().insert(own.argument, value);
        }
    }

    /// A number before `anchor`: an index and so much more.
    fn number(&mut self, of: &[ValueId], plus: u64, anchor: OpId) -> ValueId {
        let origin = self.module.op(self.ctx, self.body.op);
        let number = Sum::build(origin, of.iter().copied()).by(vec![1; of.len()]).plus(plus.cast_signed());
        let spec = number.spec().result(self.module.ty(self.index()), None);
        let id = self.module.insert_before(anchor, spec);
        self.module.op(self.ctx, id).results()[0]
    }

    /// Copies a command before `anchor`, with the operations without cost that it needs; with a rotating buffer if the
    /// plan has one and the result is carried to the next stage.
    fn copy(&mut self, number: usize, anchor: OpId, env: &mut HashMap<ValueId, ValueId>, turning: bool) {
        for id in self.body.commands.all[number].ops.clone() {
            let known = |free: OpId| {
                self.module.op(self.ctx, free).results().iter().all(|value| env.contains_key(value))
            };
            for free in self.body.commands.free_before(self.ctx, self.module, id, known) {
                self.module.copy_before(free, anchor, env);
            }
            let copy = self.module.copy_before(id, anchor, env);
            if turning && self.turns(id) {
                turn(self.ctx, self.module, copy, self.plan.turns);
            }
        }
    }

    /// Returns true if the result of an operation is in a rotating buffer.
    fn turns(&self, id: OpId) -> bool {
        let op = self.module.op(self.ctx, id);
        let crosses = op.results().iter().any(|value| self.crossing.iter().any(|(own, _)| own == value));
        match self.plan.turning {
            Turning::Crossing => crosses,
            Turning::All => crosses || may_turn(op),
        }
    }

    /// Writes the new loop.
    fn repeated(&mut self, times: u64) {
        let depth = self.plan.depth();
        let (all, old) = (self.all_carried(), self.body.op);
        let initial: Vec<ValueId> = all.iter().map(|own| self.before(own)).collect();
        let op = self.module.op(self.ctx, old);
        let mut spec = For::build(op, initial.iter().copied()).over(Expr::Literal(times)).spec();
        for own in &all {
            spec = spec.result(self.module.ty(own.argument), self.module.value_name(own.argument).cloned());
        }
        let repeated = self.module.insert_before(old, spec);
        let block = self.module.add_region(repeated);
        let add = |module: &mut Module, like: ValueId| {
            let (ty, name, span) =
                (module.ty(like), module.value_name(like).cloned(), module.value_span(like));
            module.add_arg(block, ty, name, span)
        };
        let index = add(self.module, self.index());
        let mut envs: Vec<HashMap<ValueId, ValueId>> = vec![HashMap::new(); depth];
        let mut arguments = Vec::new();
        for own in &all {
            let argument = add(self.module, own.argument);
            envs[own.reader].insert(own.argument, argument);
            arguments.push(argument);
        }
        let end = Yield::build(self.module.op(self.ctx, old), arguments).spec();
        let end = self.module.append(block, end);
        for (stage, env) in envs.iter_mut().enumerate() {
            let ahead = (depth - 1 - stage) as u64;
            let own = if ahead == 0 { index } else { self.number(&[index], ahead, end) };
            env.insert(self.index(), own);
        }
        for number in self.plan.order.clone() {
            let stage = self.plan.stages[number];
            self.copy(number, end, &mut envs[stage], true);
        }
        for (at, own) in all.iter().enumerate() {
            let value = envs[own.maker].get(&own.yielded).copied().unwrap_or(own.yielded);
            self.module.set_operand(end, at, value);
        }
        self.after(&all, repeated, times);
    }

    /// All that the new loop carries.
    fn all_carried(&self) -> Vec<Through> {
        let crossing = self.crossing.iter().map(|&(value, stage)| Through {
            argument: value,
            yielded: value,
            maker: stage,
            reader: stage + 1,
        });
        self.carried.iter().copied().chain(crossing).collect()
    }

    /// The initial values of the new loop.
    fn before(&self, own: &Through) -> ValueId {
        let iteration = (self.plan.depth() - 1 - own.reader) as u64;
        let known = self.envs.get(&iteration).and_then(|env| env.get(&own.argument));
        known.copied().unwrap_or(own.argument)
    }

    /// The values that the new loop gives to the unfinished iterations.
    fn after(&mut self, all: &[Through], repeated: OpId, times: u64) {
        let results = self.module.op(self.ctx, repeated).results().to_vec();
        for (own, result) in all.iter().zip(results) {
            let next = times + (self.plan.depth() - 1 - own.reader) as u64;
            self.envs.entry(next).or_default().insert(own.argument, result);
        }
    }

    /// Replaces the old loop's results by the values that the last iteration yields.
    fn finish(&mut self) {
        let op = self.module.op(self.ctx, self.body.op);
        let (results, arguments) = (op.results().to_vec(), arguments(op).to_vec());
        for (result, argument) in results.into_iter().zip(arguments) {
            let last = self.envs.get(&self.body.times).and_then(|env| env.get(&argument)).copied();
            if let Some(value) = last {
                self.module.replace_uses(result, value);
            }
        }
        self.module.erase(self.body.op);
    }
}

/// The values that a loop carries, each with its stage; the last stage for values that no command uses.
fn through(ctx: &Context, module: &Module, body: &Body, plan: &Plan) -> Vec<Through> {
    let stage_of = |argument: ValueId, value: ValueId| {
        let concerned = |ops: &[OpId]| {
            ops.iter().any(|&id| module.op(ctx, id).results().contains(&value))
                || needed(ctx, module, &body.commands, ops).contains(&argument)
        };
        let own = body.commands.all.iter().zip(&plan.stages).find(|(command, _)| concerned(&command.ops));
        own.map_or(plan.depth() - 1, |(_, stage)| *stage)
    };
    let op = module.op(ctx, body.op);
    let pairs = arguments(op).iter().copied().zip(yielded(op).iter().copied());
    let through = |(argument, yielded): (ValueId, ValueId)| {
        let stage = stage_of(argument, yielded);
        Through { argument, yielded, maker: stage, reader: stage }
    };
    pairs.map(through).collect()
}

/// A tensor that the new loop carries.
#[derive(Clone, Copy)]
struct Through {
    /// The value in the old body before its first use.
    argument: ValueId,
    /// The value in the old body at the end.
    yielded: ValueId,
    /// The stage that makes it.
    maker: usize,
    /// The stage that needs it in the next iteration.
    reader: usize,
}
