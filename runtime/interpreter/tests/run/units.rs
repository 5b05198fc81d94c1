//! Runs of the Tensor Unit: active slices, the switch, threads, progress.

use visa_engine::Space;
use visa_hw::program::PlacedStage;
use visa_hw::program::Program;
use visa_machine::Machine;

use crate::doubles::{Add, Fetch, Rotate, Store, UNWRITTEN, buffer, dma, exec, options, program, run};

/// 8 bytes to each of 512 slices, `kind` on them, and bytes 64..72 of each slice back.
fn around(kind: visa_hw::program::CommandKind) -> Program {
    let buffers = vec![
        buffer(true, "in", Space::HBM, &[512, 8], "[4096 : 1 -> 1] : 1"),
        buffer(false, "out", Space::HBM, &[512, 8], "[4096 : 1 -> 1] : 1 @ 0 -> 8192"),
    ];
    let to = dma(Space::HBM, Space::DM, "[512 : 8 -> 524288, 8 : 1 -> 1] : 8");
    let back = dma(Space::DM, Space::HBM, "[512 : 524288 -> 8, 8 : 1 -> 1] : 8 @ 64 -> 8192");
    program(1, buffers, vec![to, kind, back])
}

fn input() -> Vec<u8> {
    (0..4096).map(|i| (i / 8) as u8).collect()
}

fn output(program: &Program, threads: usize) -> Vec<u8> {
    let machine = Machine::rngd();
    let mut interpreter = run(program, &machine, options(threads, false), &[("in", &input())]).unwrap();
    interpreter.result("out").unwrap().bytes
}

#[test]
fn only_active_slices_store() {
    let program = around(exec(
        &[[1, 3], [511, 512]],
        vec![PlacedStage::from(Fetch(0..8)), PlacedStage::from(Add(5)), PlacedStage::from(Store(64, 8))],
    ));
    let out = output(&program, 2);
    for slice in 0..512 {
        let active = matches!(slice, 1 | 2 | 511);
        let expected = if active { [(slice as u8).wrapping_add(5); 8] } else { UNWRITTEN };
        assert_eq!(out[8 * slice..][..8], expected, "slice {slice}");
    }
}

#[test]
fn the_switch_moves_between_active_slices_and_inactive_ones_give_zeros() {
    let stages: Vec<PlacedStage> = vec![
        PlacedStage::from(Fetch(0..8)),
        PlacedStage::from(Add(1)),
        PlacedStage::from(Rotate(3)),
        PlacedStage::from(Add(2)),
        PlacedStage::from(Store(64, 8)),
    ];
    let program = around(exec(&[[10, 20], [30, 32]], stages));
    let out = output(&program, 1);
    // Slice 12 receives slice 15: 15 + 1 + 2. Slices 17..20 and 30, 31 receive inactive slices: 0 + 2.
    for (slice, expected) in [(10, 16), (12, 18), (16, 22), (17, 2), (19, 2), (30, 2), (31, 2)] {
        assert_eq!(out[8 * slice..][..8], [expected; 8], "slice {slice}");
    }
    // Nothing is stored in these.
    for slice in [9, 20] {
        assert_eq!(out[8 * slice..][..8], UNWRITTEN, "slice {slice}");
    }
}

#[test]
fn threads_do_not_show() {
    let plain = || {
        exec(
            &[[0, 512]],
            vec![PlacedStage::from(Fetch(0..8)), PlacedStage::from(Add(9)), PlacedStage::from(Store(64, 8))],
        )
    };
    let switched = || {
        exec(
            &[[0, 512]],
            vec![
                PlacedStage::from(Fetch(0..8)),
                PlacedStage::from(Rotate(100)),
                PlacedStage::from(Store(64, 8)),
            ],
        )
    };
    for kind in [plain, switched] as [fn() -> _; 2] {
        let one = output(&around(kind()), 1);
        assert_ne!(one, UNWRITTEN.repeat(512));
        for threads in [0, 2, 5, 1000] {
            assert_eq!(output(&around(kind()), threads), one, "{threads} threads");
        }
    }
}

#[test]
fn a_run_of_no_stages_does_nothing() {
    assert_eq!(output(&around(exec(&[[0, 512]], Vec::new())), 2), UNWRITTEN.repeat(512));
    assert_eq!(
        output(&around(exec(&[], vec![PlacedStage::from(Fetch(0..8)), PlacedStage::from(Store(64, 8))])), 2),
        UNWRITTEN.repeat(512)
    );
}

#[test]
fn progress_counts_commands() {
    let program =
        around(exec(&[[0, 1]], vec![PlacedStage::from(Fetch(0..8)), PlacedStage::from(Store(64, 8))]));
    let machine = Machine::rngd();
    let mut interpreter = visa_interpreter::Interpreter::new(&program, &machine, options(1, false)).unwrap();
    interpreter.set_argument("in", &input()).unwrap();
    let mut seen = Vec::new();
    interpreter.run(&mut |done, total| seen.push((done, total))).unwrap();
    assert_eq!(seen, [(1, 3), (2, 3), (3, 3)]);
}
