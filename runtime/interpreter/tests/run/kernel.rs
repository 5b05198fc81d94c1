//! A whole kernel from hw text against a plain matrix-vector product in integers.

use visa_hw::program::Program;
use visa_interpreter::Options;
use visa_ir::context::Context;
use visa_ir::parse::parse;
use visa_ir::span::Source;
use visa_ir::verify::verify;
use visa_machine::Machine;
use visa_numerics::{f32_to_bf16, widen_bf16};

use crate::doubles::{options, run};

const GEMV: &str = r#"visa 1
hw.program @gemv, chips 1 {
  hw.buffer "matrix", role arg, space hbm, dtype bf16, shape [256, 2048], layout [524288 : 1 -> 2] : 1
  hw.buffer "vector", role arg, space hbm, dtype bf16, shape [2048], layout [2048 : 1 -> 2] : 1 @ 0 -> 2097152
  hw.buffer "out", role result, space hbm, dtype bf16, shape [256], layout [256 : 1 -> 2] : 1 @ 0 -> 4194304
  hw.dma tensor, from hbm, to dm, loops [256 : 4096 -> 524288, 4096 : 1 -> 1] : 4096
  hw.dma tensor, from hbm, to dm, loops [256 : 0 -> 524288, 4096 : 1 -> 1] : 4096 @ 2097152 -> 8192
  hw.exec sub, slices [0, 256] {
    hw.fetch bf16, packet 4096, loops [512 : 8, 8 : 1] : 8 @ 8192
    hw.collect flits 128
    hw.store_trf full, rows 1, row_bytes 4096
  }
  hw.exec main, slices [0, 256] {
    hw.fetch bf16, packet 32, loops [128 : 32, 32 : 1] : 32
    hw.collect flits 1
    hw.align full, flits 2, repeat 1, rows 1, data 64, loops [64 : 64, 64 : 1] : 64
    hw.contract bf16, depth 5
    hw.accumulate interleaved, rows 1, columns 1, slots [64 : 0] : 1
    hw.cast bf16
    hw.commit bytes 8, loops [8 : 1] : 8 @ 16384
  }
  hw.dma tensor, from dm, to hbm, loops [256 : 524288 -> 2, 2 : 1 -> 1] : 2 @ 16384 -> 4194304
}
"#;

fn compiled(text: &str) -> Program {
    let ctx = Context::new(&[&visa_hw::DIALECT]);
    let parsed = parse(&ctx, &Source::new("test", text), 0..text.len());
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    assert_eq!(verify(&ctx, &parsed.module), []);
    visa_hw::compile(&ctx, &parsed.module, None).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// Small integers are exact in bf16, and so are their products and sums in f32.
fn matrix(row: usize, column: usize) -> i32 {
    ((row * 7 + column * 13 + column / 64) % 5) as i32 - 2
}

fn vector(column: usize) -> i32 {
    ((column * 11 + column / 32) % 3) as i32 - 1
}

fn bf16_bytes(values: impl Iterator<Item = i32>) -> Vec<u8> {
    values.flat_map(|value| (f32_to_bf16(value as f32) as u16).to_le_bytes()).collect()
}

fn product(program: &Program, options: Options) -> visa_interpreter::ResultData {
    let machine = Machine::rngd();
    let rows = bf16_bytes((0..256 * 2048).map(|at| matrix(at / 2048, at % 2048)));
    let column = bf16_bytes((0..2048).map(vector));
    let mut interpreter = run(program, &machine, options, &[("matrix", &rows), ("vector", &column)]).unwrap();
    interpreter.result("out").unwrap()
}

#[test]
fn gemv_is_a_matrix_vector_product() {
    let result = product(&compiled(GEMV), options(2, false));
    let (found, _) = result.bytes.as_chunks();
    assert_eq!(found.len(), 256);
    let mut distinct = std::collections::BTreeSet::new();
    for (row, &bits) in found.iter().enumerate() {
        let sum: i32 = (0..2048).map(|column| matrix(row, column) * vector(column)).sum();
        assert!(sum.abs() <= 256, "the data must give sums that bf16 holds exactly");
        distinct.insert(sum);
        assert_eq!(widen_bf16(u32::from(u16::from_le_bytes(bits))), sum as f32, "row {row}");
    }
    assert!(distinct.len() > 2, "the data must tell rows apart");
}

#[test]
fn gemv_gives_the_same_bits_for_any_threads_and_in_shadow_mode() {
    let program = compiled(GEMV);
    let one = product(&program, options(1, false));
    assert_eq!(product(&program, options(2, false)), one);
    assert_eq!(product(&program, options(3, true)), one);
}

#[test]
fn a_vector_that_reaches_only_half_the_slices_is_reported_with_its_way() {
    let half = GEMV.replace("[256 : 0 -> 524288, 4096", "[128 : 0 -> 524288, 4096");
    let result = product(&compiled(&half), options(2, true));
    let report = result.undefined.unwrap();
    assert_eq!(report.index, [128]);
    let names: Vec<&str> = report.chain.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names[..3], ["hw.fetch", "hw.collect", "hw.store_trf"]);
    assert!(names.contains(&"hw.contract"), "{names:?}");
    assert_eq!(names.last(), Some(&"hw.dma"));
    let store = report.chain[2].span.range();
    assert!(half[store].starts_with("hw.store_trf"));
}
