//! From operations to a program.

use crate::text::GEMV;
use crate::{context, parsed, program};
use visa_engine::{Access, Engine, Flow, Space};
use visa_hw::program::{CommandKind, Context};
use visa_ir::decl::{Dialect, OpDecl, Trait};
use visa_ir::effects::Effects;
use visa_ir::level::Level;
use visa_machine::Machine;

fn refused(text: &str, entry: Option<&str>) -> (String, Option<String>) {
    let ctx = context();
    let module = parsed(&ctx, text);
    let Err(errors) = visa_hw::compile(&ctx, &module, entry) else { panic!("{text} compiles") };
    assert_eq!(errors.len(), 1, "{errors:?}");
    (errors[0].message.clone(), errors[0].fix.clone())
}

#[test]
fn the_example_as_plain_data() {
    let program = program(GEMV);
    assert_eq!((program.name.as_str(), program.chips), ("gemv", 1));
    let names: Vec<_> = program.buffers.iter().map(|buffer| (&*buffer.name, buffer.argument)).collect();
    assert_eq!(names, [("matrix", true), ("out", false)]);
    assert_eq!(program.buffers[0].shape, [256, 2048]);
    let [dma, sub, main] = program.commands.as_slice() else { panic!("three commands") };
    let CommandKind::Dma(dma) = &dma.kind else { panic!("a transfer") };
    assert_eq!((dma.pcie, dma.from, dma.to), (false, Space::HBM, Space::DM));
    let (CommandKind::Exec(sub), CommandKind::Exec(main)) = (&sub.kind, &main.kind) else {
        panic!("two runs")
    };
    assert_eq!((sub.context, main.context), (Context::Sub, Context::Main));
    assert_eq!(sub.slices, vec![0..256]);
    let names: Vec<_> = main.stages.iter().map(|stage| stage.name).collect();
    let expected =
        ["hw.fetch", "hw.collect", "hw.align", "hw.contract", "hw.accumulate", "hw.cast", "hw.commit"];
    assert_eq!(names, expected);
    assert_eq!(
        main.accesses(),
        [
            Access { space: Space::DM, write: false, range: 0..4096 },
            Access { space: Space::Trf, write: false, range: 0..4096 },
            Access { space: Space::DM, write: true, range: 8192..8200 },
        ]
    );
}

/// 128 fetches, 128 flits, 64 products of 32 elements, then one packet.
#[test]
fn costs_of_the_example() {
    let machine = Machine::rngd();
    let program = program(GEMV);
    let CommandKind::Exec(main) = &program.commands[2].kind else { panic!("a run") };
    let mut flow = Flow { packets: 0, packet: 0 };
    let mut costs = Vec::new();
    for stage in &main.stages {
        let cost = stage.cost(&machine, flow);
        costs.push((cost.engine, cost.cycles, cost.latency, cost.macs));
        flow = cost.out;
    }
    let expected = [
        (Engine::FETCH, 128, 1, 0),
        (Engine::COLLECT, 128, 1, 0),
        (Engine::CONTRACTION, 64, 1, 0),
        (Engine::CONTRACTION, 64, 6, 2048),
        (Engine::CONTRACTION, 1, 1, 0),
        (Engine::CAST, 1, 1, 0),
        (Engine::COMMIT, 1, 1, 0),
    ];
    assert_eq!(costs, expected);
    assert_eq!(flow, Flow { packets: 1, packet: 8 });
}

#[test]
fn results_come_after_arguments() {
    let buffer = |name: &str, role: &str| {
        format!(
            "hw.buffer \"{name}\", role {role}, space hbm, dtype i8, shape [8], layout [8 : 1 -> 1] : 1\n"
        )
    };
    let buffers = [buffer("r", "result"), buffer("b", "arg"), buffer("a", "arg")].concat();
    let program = program(&format!("visa 1\nhw.program @p, chips 1 {{\n{buffers}}}\n"));
    let names: Vec<_> = program.buffers.iter().map(|buffer| &*buffer.name).collect();
    assert_eq!(names, ["b", "a", "r"]);
}

#[test]
fn entries_are_chosen_by_name() {
    let two = "visa 1\nhw.program @first, chips 1 {\n}\nhw.program @second, chips 2 {\n}\n";
    let ctx = context();
    let module = parsed(&ctx, two);
    let second =
        visa_hw::compile(&ctx, &module, Some("second")).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!((second.name.as_str(), second.chips), ("second", 2));
    let (message, _) = refused(two, None);
    assert!(message.contains("several programs") && message.contains("`first`, `second`"), "{message}");
    let (message, fix) = refused(two, Some("secnd"));
    assert!(message.contains("no program `secnd`") && message.contains("`first`, `second`"), "{message}");
    assert_eq!(fix.as_deref(), Some("did you mean `second`?"));
    assert!(refused("visa 1\n", None).0.contains("the input has no kernel"));
}

/// A dialect at memory level.
static TM: Dialect =
    Dialect { name: "tm", doc: "", level: Level::Memory, ops: &[&[&AXES]], types: &[], attrs: &[] };
static AXES: OpDecl =
    OpDecl { name: "tm.axes", effects: Effects::Declares, traits: &[Trait::TopLevel], ..OpDecl::BASE };

#[test]
fn other_dialects_are_named_with_their_pass() {
    let mut ctx = context();
    ctx.register(&TM).expect("a dialect");
    let foreign = "\"tm.axes\"() : () -> ()\n";
    for text in [format!("visa 1\n{foreign}"), format!("visa 1\nhw.program @p, chips 1 {{\n{foreign}}}\n")] {
        let module = parsed(&ctx, &text);
        let Err(errors) = visa_hw::compile(&ctx, &module, None) else { panic!("compiles") };
        assert!(errors[0].message.contains("`tm.axes` is not hw"), "{}", errors[0].message);
        let fix = errors[0].fix.as_deref();
        assert!(fix.is_some_and(|fix| fix.contains("--lower-to-hw")), "{fix:?}");
    }
}

/// Compiling asks the same rules as verifying.
#[test]
fn faulty_operations_do_not_compile() {
    let text = "visa 1\nhw.program @p, chips 1 {\nhw.dma pcie, from hbm, to dm, loops [8 : 1 -> 1] : 8\n}\n";
    assert!(refused(text, None).0.contains("does not move from hbm to dm"));
}
