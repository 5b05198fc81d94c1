//! Between text and cycles each stage and each table is built once, however many verifiers and readers ask for it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use visa::engine::Stage;
use visa::hw::build::Build;
use visa::hw::ops::exec::Built;
use visa::hw::program::{CommandKind, Dma, PlacedStage};
use visa::lowering::transfers::EnginePrograms;
use visa::machine::Machine;
use visa::pass::{PassManager, Pipeline, Silent};
use visa::{Registry, load_module};
use visa_ir::diag::Diagnostic;
use visa_ir::span::Source;

/// How often parts of a kernel are built between its text and its price, beside how many it has.
#[derive(Debug, PartialEq, Eq)]
struct Counts {
    /// Runs: a pipeline connected.
    runs: u64,
    /// Operations of pipelines whose stage comes from them alone.
    stages: u64,
    /// Transfers read.
    transfers: u64,
    /// Segments of transfers as programs of engines.
    segments: u64,
}

/// Lowers and prices a kernel as visa-run does, and counts.
fn counts(kernel: &str) -> (Counts, Counts) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels").join(kernel);
    let text = fs::read_to_string(&path).expect("a kernel");
    let source = Source::new(kernel.to_owned(), text);
    let registry = Registry::standard();
    let ctx = registry.context().expect("the standard dialects");
    let mut module = load_module(&ctx, &source, 0..source.text.len()).module.expect("a module");
    let mut lower = |passes: &str| {
        let pipeline = Pipeline::parse(passes, &registry.passes).expect("known passes");
        let lowered = PassManager::new(&pipeline, &registry.passes).run(&ctx, &mut module, &mut Silent);
        assert!(lowered.is_ok(), "{kernel} lowers");
    };
    // Stages and runs that need no sequencer are hw after the lowering to seq, and verified in that state, too.
    lower("plan-vector,allocate,lower-to-seq");
    let stages = || ctx.worked::<Result<Arc<Stage>, Diagnostic>>();
    let before = (ctx.worked::<Built>(), stages());
    lower("lower-to-hw");
    let program = visa::hw::compile(&ctx, &module, None).expect("a program");
    let report = visa::cost::price(&program, &ctx.data::<Machine>(), visa::cost::MemoryModel::default());
    assert!(report.expect("a price").totals.cycles > 0);
    let built = Counts {
        runs: ctx.worked::<Built>() - before.0,
        stages: stages() - before.1,
        transfers: ctx.worked::<Result<Dma, Diagnostic>>(),
        segments: ctx.worked::<EnginePrograms>(),
    };
    let mut held = Counts { runs: 0, stages: 0, transfers: 0, segments: built.segments };
    for (command, _) in program.flat() {
        match &command.kind {
            CommandKind::Exec(exec) => {
                held.runs += 1;
                let alone = |stage: &&PlacedStage| {
                    let build = ctx.op(stage.name).and_then(|decl| decl.interface::<Build>());
                    matches!(build, Some(Build::Alone(_)))
                };
                held.stages += exec.stages.iter().filter(alone).count() as u64;
            }
            CommandKind::Dma(_) => held.transfers += 1,
            CommandKind::Indexed(_) | CommandKind::Launch(_) | CommandKind::Loop(_) => {}
        }
    }
    (built, held)
}

#[test]
fn stages_and_tables_are_built_once() {
    for kernel in ["gemv.visa", "gemm.visa", "ffn.visa", "flash_attention.visa"] {
        let (built, held) = counts(kernel);
        assert_eq!(built, held, "{kernel} (left: built, right: in the program)");
        assert!(built.transfers > 0 && built.segments <= built.transfers, "{kernel}: {built:?}");
    }
}
