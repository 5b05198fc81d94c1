//! A pipeline under construction: operations get clauses one after the other, each is verified (the legality
//! oracle), lowered to the command it becomes, and priced by the cost function of the report.

use crate::config::graph::Candidates;
use crate::config::memo::{Means, Moment, Past};
use crate::config::task::Task;
use crate::effort::budget::Budget;
use crate::effort::clock::Clock;
use crate::rules::rule::Site;
use std::rc::Rc;
use visa_algebra::{Equality, equal_streams};
use visa_cost::PipelineTime;
use visa_engine::{Flow, Wire};
use visa_hw::build::Build;
use visa_hw::ops as hw;
use visa_hw::ops::collect::COLLECT;
use visa_hw::ops::store::contiguous_fetch;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::infer::result_types;
use visa_ir::module::{AttrId, BlockId, Module, OpId, OpRef, OpSpec, TypeId, ValueId};
use visa_ir::open::{self, Opening};
use visa_ir::verify::{Analysis, VerifyCx};
use visa_lowering::passes::lower_to_hw;
use visa_machine::Machine;
use visa_mapping::facts::frames::Frames;
use visa_mapping::facts::placed::written_place;
use visa_mapping::facts::{DeclaredAxes, Names, Support, machine};
use visa_mapping::index::affine::Affine;
use visa_mapping::index::cases::Cases;
use visa_mapping::ops::func::Func;
use visa_mapping::raise::close::some_value;
use visa_mapping::{Tensor, operand, view};
use visa_stream::lower::StageCx;
use visa_stream::lower::address::Addresses;
use visa_stream::ops::begin::context;
use visa_stream::ops::commit_tile::lower_alone;
use visa_stream::ops::store::TO_TRF;
use visa_stream::ops::vector_expr;
use visa_stream::{pipeline, unmasked};

/// The clauses that a choice gives an operation, and those that it takes away.
pub(crate) type Clauses = Rc<[(&'static str, Option<AttrId>)]>;

/// A candidate: a copy of the pipeline whose first operations have been given their clauses.
pub struct CandidatePipeline<'a> {
    ctx: &'a Context,
    /// The kernel as it is written.
    written: Module,
    /// The same with choices.
    module: Module,
    /// The pipeline's operations, first to last.
    chain: Vec<OpId>,
    /// The commands that they become.
    commands: Module,
    exec: BlockId,
    machine: Rc<Machine>,
    axes: Rc<DeclaredAxes>,
    /// Where the tensors that the pipeline reads are.
    addresses: Addresses,
    /// The choices, operation by operation.
    stages: Vec<ChosenStage>,
    /// Support of the operands: up to the stage that was pushed last.
    support: Rc<Support>,
    frames: Rc<Frames>,
    /// The memo of earlier pipelines, and the remaining budget.
    means: &'a Means<'a>,
    /// The numbers of the pipeline's operations there.
    waiting: Vec<usize>,
}

/// The result of an operation with its clauses.
#[derive(Clone)]
pub struct Made {
    results: Rc<[(TypeId, Rc<Names>)]>,
    command: Option<OpSpec>,
    wire: Wire,
    flow: Flow,
    /// Of this engine alone.
    time: PipelineTime,
    /// True if it is one contiguous run of data memory that a load of a register file may follow.
    run: bool,
}

/// An operation of the pipeline that has its clauses.
struct ChosenStage {
    /// The stream after it.
    made: Rc<Made>,
    command: Option<OpId>,
    /// True if the pipeline omits it.
    absent: bool,
    /// The choices up to it.
    past: Past,
}

/// Gives open addresses some value: no configuration depends on which.
pub(crate) fn close_addresses(ctx: &Context, module: &mut Module, id: OpId) {
    let open: Vec<_> =
        open::clauses(module.op(ctx, id)).filter(|clause| clause.opening == Opening::Address).collect();
    open.into_iter().for_each(|clause| module.set_clause(id, clause.name, some_value(ctx, clause)));
}

/// Addresses of the tensors that a pipeline reads and writes. A tensor in data memory with an open address is in the
/// middle: padding before a tensor is read from the memory before it (book 08), and the allocator leaves space for
/// that. Others are at 0: no configuration depends on their addresses.
fn addresses(chain: &[OpRef<'_>], machine: &Machine) -> Result<Addresses, Diagnostic> {
    let others = chain.iter().flat_map(|op| op.operands().iter().chain(op.results()));
    let mut addresses: Addresses =
        others.map(|&value| (value, Cases::always(Affine::default().into()))).collect();
    let begin = chain[0];
    // A slice has 2^24 bytes at most.
    let middle = (machine.memory.dm_bytes_per_slice / 2).cast_signed();
    for &tensor in begin.operands() {
        let written = view::origin(begin, tensor).map(written_place).transpose()?;
        let address = written.and_then(|(address, _)| address).unwrap_or(middle);
        addresses.insert(tensor, Cases::always(Affine::constant(address).into()));
    }
    Ok(addresses)
}

impl<'a> CandidatePipeline<'a> {
    /// The pipeline `chain` of `module`, with nothing chosen yet.
    ///
    /// # Errors
    /// If the hw dialect is not there.
    pub fn new(
        ctx: &'a Context,
        module: &Module,
        chain: &[OpId],
        means: &'a Means<'a>,
    ) -> Result<Self, Diagnostic> {
        let first = module.op(ctx, chain[0]);
        let machine = machine(first);
        let mut commands = Module::default();
        let mut body = commands.body();
        let func = first.ancestors().find_map(Func::cast);
        if let Some(pes) = func.map(|func| func.pes()).transpose()?.flatten() {
            // The operations inside know the device by the program around them.
            let program = commands.append(body, hw::program::Program::build(first).pes(Some(pes)).spec());
            body = commands.add_region(program);
        }
        let all = [0, machine.slices_per_chip().cast_signed()];
        let exec = hw::exec::Exec::build(first).context(context(first)?).slices(all);
        let exec = commands.append(body, exec.spec());
        let exec = commands.add_region(exec);
        let (written, mut module, chain) = (module.clone(), module.clone(), chain.to_vec());
        chain.iter().for_each(|&id| close_addresses(ctx, &mut module, id));
        let axes = Rc::new(DeclaredAxes::build(ctx, &module));
        let support = Rc::new(Support::build(ctx, &module));
        let frames = Rc::new(Frames::build(ctx, &module));
        let ops: Vec<_> = chain.iter().map(|&id| written.op(ctx, id)).collect();
        let addresses = addresses(&ops, &machine)?;
        let waiting = chain.iter().enumerate().map(|(stage, &id)| {
            let op = written.op(ctx, id);
            means.memo.waiting(op, &op.operands()[stage.min(1)..], &support)
        });
        let waiting = waiting.collect();
        Ok(Self {
            ctx,
            written,
            module,
            chain,
            commands,
            exec,
            machine,
            axes,
            addresses,
            stages: Vec::new(),
            support,
            frames,
            means,
            waiting,
        })
    }

    /// The remaining budget.
    pub fn budget(&self) -> &'a Budget {
        self.means.budget
    }

    /// The context's clock.
    pub fn clock(&self) -> Rc<Clock> {
        self.ctx.data()
    }

    /// Number of operations of the pipeline.
    pub fn operations(&self) -> usize {
        self.chain.len()
    }

    /// Operation `stage`, with the clauses that it was given last.
    pub fn op(&self, stage: usize) -> OpRef<'_> {
        self.module.op(self.ctx, self.chain[stage])
    }

    /// Operation `stage` as it is written.
    pub fn original(&self, stage: usize) -> OpRef<'_> {
        self.written.op(self.ctx, self.chain[stage])
    }

    /// Operation `stage`, which waits for its clauses; `None` if its operand has no type.
    pub fn site<'s>(&'s self, stage: usize, task: &'s Task) -> Option<Site<'s>> {
        let (op, written) = (self.op(stage), self.original(stage));
        let source = operand(op, 0)?;
        let (axes, machine, support) = (&self.axes.0, &*self.machine, &*self.support);
        Some(Site { op, written, source, axes, machine, support, task })
    }

    /// The module's axes.
    pub fn axes(&self) -> Rc<DeclaredAxes> {
        self.axes.clone()
    }

    /// The property of the stream, in addition to its type, that matters to the commands after it: true if it is one
    /// contiguous run, which makes a load of a register file a short command (book 18).
    pub fn run(&self) -> bool {
        self.stages.last().is_some_and(|placed| placed.made.run)
    }

    /// Takes back the last choice.
    pub fn pop(&mut self) {
        let Some(placed) = self.stages.pop() else { return };
        if let Some(command) = placed.command {
            self.commands.erase(command);
        }
        if placed.absent {
            let after = self.module.op(self.ctx, self.chain[self.stages.len()]).results()[0];
            self.pass(after);
        }
    }

    /// Omits the next operation: the following one takes its operand.
    pub fn skip(&mut self) {
        let stage = self.stages.len();
        let op = self.module.op(self.ctx, self.chain[stage]);
        let value = op.operands()[0];
        self.pass(value);
        let (made, past) = (self.flowing(), self.past());
        self.stages.push(ChosenStage { made, command: None, absent: true, past });
    }

    /// Lets the operation after the next one take `value`.
    fn pass(&mut self, value: ValueId) {
        if let Some(&after) = self.chain.get(self.stages.len() + 1) {
            self.module.set_operand(after, 0, value);
        }
    }

    /// Returns true if operation `stage` leaves its stream unchanged.
    pub fn changes_nothing(&self, stage: usize) -> bool {
        let op = self.op(stage);
        let made: Option<Rc<Tensor>> = op.result_type(0);
        made.zip(operand(op, 0)).is_some_and(|(made, taken)| {
            made.maps.len() == taken.maps.len()
                && made
                    .maps
                    .iter()
                    .zip(&*taken.maps)
                    .all(|(made, taken)| matches!(equal_streams(made, taken, &self.axes.0), Equality::Equal))
        })
    }

    /// Gives the next operation its clauses. Its result type, and the time of its engine alone.
    ///
    /// # Errors
    /// Why that is not legal; then nothing has changed.
    pub fn push(&mut self, clauses: &Clauses) -> Result<(TypeId, PipelineTime), Rc<Diagnostic>> {
        let (memo, id) = (&self.means.memo, self.chain[self.stages.len()]);
        clauses.iter().for_each(|&(name, value)| self.module.set_clause(id, name, value));
        let (made, past) = match self.moment() {
            Some(moment) => memo.verdict(moment, clauses, || self.charged(id))?,
            None => (Rc::new(self.charged(id)?), Past::default()),
        };
        let of = (made.results[0].0, made.time);
        let support = Rc::make_mut(&mut self.support);
        for (value, (ty, axes)) in
            self.module.op(self.ctx, id).results().to_vec().into_iter().zip(&*made.results)
        {
            self.module.set_type(value, *ty);
            support.recall(value, axes.clone());
        }
        let command = made.command.clone().map(|spec| self.commands.append(self.exec, spec));
        self.stages.push(ChosenStage { made, command, absent: false, past });
        Ok(of)
    }

    /// The moment of the next operation; `None` for the last one, because its choice depends on the readers of its
    /// tensor.
    fn moment(&self) -> Option<Moment> {
        let stage = self.stages.len();
        (stage + 1 < self.chain.len()).then(|| Moment { past: self.past(), waiting: self.waiting[stage] })
    }

    /// The choices so far.
    fn past(&self) -> Past {
        self.stages.last().map_or(Past::default(), |placed| placed.past)
    }

    /// The number of a task, for [`Self::candidates`].
    pub fn task(&self, task: &Task) -> usize {
        self.means.memo.task(task)
    }

    /// The candidates for the next operation with the task of this number, from `ask` if they are not known yet.
    pub fn candidates(&self, task: usize, ask: impl FnOnce() -> Candidates) -> Rc<Candidates> {
        match self.moment() {
            Some(moment) => self.means.memo.candidates(moment, task, ask),
            None => Rc::new(ask()),
        }
    }

    fn set_types(&mut self, id: OpId, types: &[TypeId]) {
        let results = self.module.op(self.ctx, id).results().to_vec();
        results.into_iter().zip(types).for_each(|(value, &ty)| self.module.set_type(value, ty));
    }

    /// The result of the next operation with its present clauses; this is work.
    fn charged(&mut self, id: OpId) -> Result<Made, Diagnostic> {
        let budget = self.means.budget;
        budget.spend(1);
        budget.charge(|| self.made(id))
    }

    /// The result of the next operation with its present clauses.
    fn made(&mut self, id: OpId) -> Result<Made, Diagnostic> {
        let op = self.module.op(self.ctx, id);
        let (decl, infer) = op.decl().and_then(|decl| Some((decl, decl.infer?))).ok_or_else(|| {
            op.error("C0", format!("the type of `{}` does not follow from its clauses", op))
        })?;
        let types = result_types(op, decl, infer)?;
        self.set_types(id, &types);
        let spec = self.lowered(id)?;
        let op = self.module.op(self.ctx, id);
        let support = Rc::make_mut(&mut self.support);
        support.learn(op, &self.axes.0);
        let results = op.results().iter().zip(&*types);
        let known =
            |value| support.axes(value).ok_or_else(|| op.error("C0", "it is not known what it depends on"));
        let results = results.map(|(&value, &ty)| Ok((ty, known(value)?)));
        let results = results.collect::<Result<_, Diagnostic>>()?;
        if self.moment().is_none() {
            self.check_users(id)?;
        }
        match spec {
            Some(spec) => self.priced(results, spec),
            None => Ok(Made {
                results,
                command: None,
                time: PipelineTime::default(),
                ..(*self.flowing()).clone()
            }),
        }
    }

    /// Asks the transfers and views of the result whether they can take it.
    fn check_users(&mut self, id: OpId) -> Result<(), Diagnostic> {
        let results = self.module.op(self.ctx, id).results().to_vec();
        let users: Vec<OpId> = results.iter().flat_map(|&result| self.module.uses(result).to_vec()).collect();
        for user in users {
            let op = self.module.op(self.ctx, user);
            if pipeline::contains(op) || open::untyped(op) {
                continue;
            }
            if let Some((decl, infer)) = op.decl().and_then(|decl| Some((decl, decl.infer?))) {
                let types = result_types(op, decl, infer)?;
                self.set_types(user, &types);
            }
            let op = self.module.op(self.ctx, user);
            let known = VerifyCx::new(self.ctx, &self.module);
            known.know(self.axes.clone());
            known.know(self.support.clone());
            known.know(self.frames.clone());
            op.decl().and_then(|decl| decl.verify).map_or(Ok(()), |verify| verify(op, &known))?;
        }
        Ok(())
    }

    /// Verifies an operation; returns its lowered form inside `hw.exec`.
    fn lowered(&self, id: OpId) -> Result<Option<OpSpec>, Diagnostic> {
        let op = self.module.op(self.ctx, id);
        let known = VerifyCx::new(self.ctx, &self.module);
        known.know(self.axes.clone());
        known.know(self.support.clone());
        known.know(self.frames.clone());
        if let Some(verify) = op.decl().and_then(|decl| decl.verify) {
            verify(op, &known)?;
        }
        // The verifier leaves padding to its author; a choice never sums undefined elements.
        if let Some(unmasked) = unmasked::warnings(op, &self.axes.0).into_iter().next() {
            return Err(unmasked);
        }
        // The operations that replace an expression are planned after this: it takes the stream's packets in any case.
        if op.is(&vector_expr::DECL) {
            return Ok(None);
        }
        let cx = StageCx {
            ctx: self.ctx,
            axes: &self.axes.0,
            machine: &self.machine,
            support: &self.support,
            addresses: &self.addresses,
            frames: &self.frames,
            case: &[],
            bitmap: None,
        };
        lower_alone(&cx, op)
    }

    /// The stream so far.
    fn flowing(&self) -> Rc<Made> {
        self.stages.last().map_or_else(|| Rc::new(Made::nothing()), |placed| placed.made.clone())
    }

    /// The answer to a question about a command, at its position.
    fn ask<T>(&mut self, command: &OpSpec, question: impl FnOnce(OpRef<'_>) -> T) -> T {
        let id = self.commands.append(self.exec, command.clone());
        let answer = question(self.commands.op(self.ctx, id));
        self.commands.erase(id);
        answer
    }

    /// Lowers a command to hw, checks it there, and prices it.
    fn priced(&mut self, results: Rc<[(TypeId, Rc<Names>)]>, spec: OpSpec) -> Result<Made, Diagnostic> {
        let (before, machine) = (self.flowing(), self.machine.clone());
        let loads = self.op(self.chain.len() - 1).is(&TO_TRF);
        let spec = self.ask(&spec, lower_to_hw::lowered).transpose()?.unwrap_or(spec);
        let command = self.ask(&spec, lower_to_hw::shortened).unwrap_or(spec);
        let (wire, flow, time, run) = self.ask(&command, |op| {
            let built = op
                .decl()
                .and_then(|decl| decl.interface::<Build>())
                .map(|build| build.trial(op, &before.wire));
            let unbuilt = || Err(op.error("C0", format!("`{}` is no stage of a pipeline", op)));
            let stage = built.unwrap_or_else(unbuilt)?;
            let wire = stage.connect(&machine, before.wire.clone()).map_err(|mismatch| {
                op.clause_error(mismatch.constraint, mismatch.clause, mismatch.message)
            })?;
            let cost = stage.cost(&machine, before.flow);
            let run = loads && is_run(op, &before, cost.out);
            let time = PipelineTime::default().then(&cost, stage.streaming());
            Ok::<_, Diagnostic>((wire, cost.out, time, run))
        })?;
        Ok(Made { results, command: Some(command), wire, flow, time, run })
    }
}

impl Made {
    /// Nothing flows yet.
    fn nothing() -> Self {
        let flow = Flow { packets: 0, packet: 0 };
        let results = Rc::from([]);
        Self { results, command: None, wire: Wire::NOTHING, flow, time: PipelineTime::default(), run: false }
    }
}

/// Returns true if the stream after a command is one contiguous run. Flits that the collect fills up are no longer the
/// bytes that were read.
fn is_run(op: OpRef<'_>, before: &Made, flow: Flow) -> bool {
    let bytes = |flow: Flow| flow.packets.saturating_mul(flow.packet);
    match op.is(&COLLECT) {
        true => before.run && bytes(before.flow) == bytes(flow),
        false => contiguous_fetch(op) == Some(bytes(flow)),
    }
}
