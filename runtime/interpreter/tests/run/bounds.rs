//! Refusals: wrong data, unknown names, too much memory.

use visa_engine::Space;
use visa_hw::program::PlacedStage;
use visa_interpreter::{Interpreter, Options, PAGE_BYTES, RunError};
use visa_machine::Machine;

use crate::doubles::{Fetch, Rotate, Store, buffer, dma, exec, options, program, run};

#[test]
fn a_missing_argument_is_named() {
    let machine = Machine::rngd();
    let buffers =
        ["a", "b", "c"].map(|name| buffer(true, name, Space::HBM, &[8], "[8 : 1 -> 1] : 1")).to_vec();
    let program = program(1, buffers, Vec::new());
    let error = run(&program, &machine, options(1, false), &[("b", &[0; 8])]).err().unwrap();
    assert_eq!(error, RunError::MissingArguments(vec!["a".to_owned(), "c".to_owned()]));
    assert_eq!(error.to_string(), "no data for `a`, `c`: set every argument before the run");
}

#[test]
fn names_and_sizes_are_checked() {
    let machine = Machine::rngd();
    let buffers = vec![
        buffer(true, "in", Space::HBM, &[2, 4], "[8 : 1 -> 1] : 1"),
        buffer(false, "out", Space::HBM, &[8], "[8 : 1 -> 1] : 1"),
    ];
    let program = program(1, buffers, Vec::new());
    let mut interpreter = Interpreter::new(&program, &machine, options(1, false)).unwrap();
    let message = |result: Result<(), RunError>| result.unwrap_err().to_string();
    assert_eq!(
        message(interpreter.set_argument("out", &[0; 8])),
        "no argument is called `out`, expected `in`"
    );
    for size in [7, 9] {
        let expected = format!("argument `in` is given {size} bytes, expected 8");
        assert_eq!(message(interpreter.set_argument("in", &vec![0; size])), expected);
    }
    assert_eq!(interpreter.result("out"), Err(RunError::NotRun));
    assert_eq!(interpreter.set_argument("in", &[1; 8]), Ok(()));
    assert_eq!(interpreter.run(&mut |_, _| {}), Ok(()));
    assert_eq!(interpreter.result("in").unwrap_err().to_string(), "no result is called `in`, expected `out`");
    assert_eq!(interpreter.result("out").unwrap().bytes, [1; 8]);
}

#[test]
fn a_layout_outside_its_array_is_an_error() {
    let machine = Machine::rngd();
    let program = program(1, vec![buffer(true, "in", Space::HBM, &[8], "[9 : 1 -> 1] : 1")], Vec::new());
    let mut interpreter = Interpreter::new(&program, &machine, options(1, false)).unwrap();
    let error = interpreter.set_argument("in", &[0; 8]).unwrap_err().to_string();
    assert!(error.contains("reads addresses 0 to 9, expected within 0 to 8"), "{error}");
}

#[test]
fn an_array_past_64_bits_is_an_error() {
    let machine = Machine::rngd();
    let program =
        program(1, vec![buffer(true, "in", Space::HBM, &[1 << 40, 1 << 40], "[8 : 1 -> 1] : 1")], Vec::new());
    let mut interpreter = Interpreter::new(&program, &machine, options(1, false)).unwrap();
    assert!(matches!(interpreter.set_argument("in", &[0; 8]), Err(RunError::Address(_))));
}

/// An argument of 8 bytes, one page of HBM, 8 bytes of data memory in one slice from the transfer, then a stage
/// that grows slices 0 and 1 to 72 bytes while the streams of 8 bytes are in and out of each of two slices.
fn memory_needed(bound: u64, rotated: bool) -> Result<(), RunError> {
    let machine = Machine::rngd();
    let buffers = vec![buffer(true, "in", Space::HBM, &[8], "[8 : 1 -> 1] : 1")];
    let mut stages: Vec<PlacedStage> = vec![PlacedStage::from(Fetch(0..8)), PlacedStage::from(Store(64, 8))];
    if rotated {
        stages.insert(1, PlacedStage::from(Rotate(1)));
    }
    let program =
        program(1, buffers, vec![dma(Space::HBM, Space::DM, "[8 : 1 -> 1] : 8"), exec(&[[0, 2]], stages)]);
    let options = Options { memory_bytes: bound, ..options(1, false) };
    run(&program, &machine, options, &[("in", &[0; 8])]).map(|_| ())
}

#[test]
fn the_memory_bound_counts_arguments_pages_slices_and_streams() {
    // Growth: slice 0 from 8 to 72 bytes, slice 1 from 0 to 72. Streams: 16 bytes in each of two slices.
    let page = PAGE_BYTES as u64;
    let needed = 8 + page + 8 + 64 + 72 + 2 * 16;
    assert_eq!(memory_needed(needed, false), Ok(()));
    let error = memory_needed(needed - 1, false).unwrap_err();
    assert_eq!(error, RunError::MemoryBound { needed, bound: needed - 1 });
    // The switch also holds the 8 bytes of both slices.
    assert_eq!(memory_needed(needed + 16, true), Ok(()));
    assert!(memory_needed(needed + 15, true).is_err());
}

#[test]
fn a_page_and_a_slice_past_the_bound_are_errors() {
    let page = PAGE_BYTES as u64;
    let refused = |needed| Err(RunError::MemoryBound { needed, bound: needed - 1 });
    assert_eq!(memory_needed(7, false), refused(8));
    assert_eq!(memory_needed(8 + page - 1, false), refused(8 + page));
    assert_eq!(memory_needed(8 + page + 7, false), refused(8 + page + 8));
}

#[test]
fn a_stream_past_all_memory_is_an_error_before_it_is_made() {
    let machine = Machine::rngd();
    let stages: Vec<PlacedStage> = vec![PlacedStage::from(Fetch(0..1 << 60)), PlacedStage::from(Store(0, 8))];
    let program = program(1, Vec::new(), vec![exec(&[[0, 512]], stages)]);
    let error = run(&program, &machine, options(2, false), &[]).err().unwrap();
    assert!(matches!(error, RunError::MemoryBound { .. }), "{error}");
}

#[test]
fn a_result_past_the_bound_is_an_error() {
    let machine = Machine::rngd();
    for (bound, ok) in [(1 << 20, true), ((1 << 20) - 1, false)] {
        let program =
            program(1, vec![buffer(false, "out", Space::HBM, &[1 << 20], "[8 : 1 -> 1] : 1")], Vec::new());
        let options = Options { memory_bytes: bound, ..options(1, false) };
        let mut interpreter = run(&program, &machine, options, &[]).unwrap();
        assert_eq!(interpreter.result("out").is_ok(), ok, "{bound}");
    }
}

/// The owner of the first result still has it.
#[test]
fn results_count_together() {
    let machine = Machine::rngd();
    for (bound, ok) in [(2 << 20, true), ((2 << 20) - 1, false)] {
        let buffers = ["a", "b"].map(|name| buffer(false, name, Space::HBM, &[1 << 20], "[8 : 1 -> 1] : 1"));
        let program = program(1, buffers.to_vec(), Vec::new());
        let options = Options { memory_bytes: bound, ..options(1, false) };
        let mut interpreter = run(&program, &machine, options, &[]).unwrap();
        assert!(interpreter.result("a").is_ok(), "{bound}");
        assert_eq!(interpreter.result("b").is_ok(), ok, "{bound}");
    }
}
