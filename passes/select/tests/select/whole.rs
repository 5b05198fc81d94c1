//! Whole modules: read, chosen, lowered and priced by the ordinary tools.

use visa_cost::MemoryModel;
use visa_engine::{Flow, StageCost};
use visa_hw::program::{CommandKind, Program};
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId};
use visa_ir::open::{self, Opening};
use visa_ir::span::{Source, Span};
use visa_machine::Machine;
use visa_opt::{load_module, standard_dialects};
use visa_pass::{Cause, PassManager, Pipeline, Silent};
use visa_passes::standard_passes;
use visa_stream::ops::{commit, commit_view, store};
use visa_stream::pipeline;

/// RNGD with `slices` slices a cluster. At the flat price, no layout of a result leaves faster than another: the
/// comparison is of the pipeline alone.
pub(crate) fn context(slices: u64) -> Context {
    let mut machine = Machine::rngd();
    machine.topology.slices_per_cluster = slices;
    let mut ctx = Context::new(&standard_dialects());
    ctx.set_data(machine);
    ctx.set_data(MemoryModel::Flat);
    ctx
}

/// The module of a text.
pub(crate) fn load(ctx: &Context, text: &str) -> Result<Module, Vec<Diagnostic>> {
    let loaded = load_module(ctx, &Source::new("case", text), 0..text.len());
    loaded.module.ok_or(loaded.findings)
}

/// The module after some passes.
pub(crate) fn run(ctx: &Context, mut module: Module, passes: &str) -> Result<Module, Vec<Diagnostic>> {
    let pipeline = Pipeline::parse(passes, &standard_passes()).expect("passes");
    let ran = PassManager::new(&pipeline, &standard_passes()).run(ctx, &mut module, &mut Silent);
    ran.map(|_| module).map_err(|failure| match failure.cause {
        Cause::Level(finding) => vec![finding],
        Cause::Refused(findings) | Cause::Invalid(findings) => findings,
        Cause::WrongLevel { .. } | Cause::NotPreserved(_) | Cause::Panicked(_) => {
            panic!("{:?}", failure.cause)
        }
    })
}

/// With every open configuration chosen.
pub(crate) fn choose(ctx: &Context, module: Module) -> Result<Module, Vec<Diagnostic>> {
    run(ctx, module, "select-configs")
}

/// The program of a closed module.
pub(crate) fn compile(ctx: &Context, module: Module) -> Result<Program, Vec<Diagnostic>> {
    let module = run(ctx, module, "lower-to-seq,lower-to-hw")?;
    visa_hw::compile(ctx, &module, None)
}

/// The cost of each stage of the pipeline that ends at `last`, by the operation that it comes from, with the cycles that
/// later stages wait for its first result.
pub(crate) fn stages(program: &Program, machine: &Machine, last: Span) -> Vec<(Span, StageCost, u64)> {
    let own = program.commands.iter().filter(|command| command.span == last);
    let mut exec = own.filter_map(|command| match &command.kind {
        CommandKind::Exec(exec) => Some(exec),
        CommandKind::Dma(_) | CommandKind::Indexed(_) | CommandKind::Loop(_) | CommandKind::Launch(_) => None,
    });
    let exec = exec.next().expect("the pipeline's command");
    let mut flow = Flow { packets: 0, packet: 0 };
    let costs = exec.stages.iter().map(|stage| {
        let cost = stage.cost(machine, flow);
        flow = cost.out;
        (stage.span, cost, stage.streaming())
    });
    costs.collect()
}

/// The pipelines with open configurations, each as its operations.
pub(crate) fn open_chains(ctx: &Context, module: &Module) -> Vec<Vec<OpId>> {
    let is_open =
        |id: &OpId| open::clauses(module.op(ctx, *id)).any(|clause| clause.opening == Opening::Configuration);
    let found = ends(ctx, module).into_iter().map(|last| pipeline::Pipeline::up_to(module.op(ctx, last)).ops);
    found.filter(|chain| chain.iter().any(is_open)).collect()
}

/// The last operations of pipelines.
pub(crate) fn ends(ctx: &Context, module: &Module) -> Vec<OpId> {
    let ends = [&commit::DECL, &commit_view::DECL, &store::TO_TRF, &store::TO_VRF];
    module.walk_all().into_iter().filter(|&id| ends.iter().any(|end| module.op(ctx, id).is(end))).collect()
}
