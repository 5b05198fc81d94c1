//! What a kernel computes, against what another one means.

use std::collections::BTreeMap;
use visa_hw::program::Program;
use visa_interpreter::{Interpreter, Options, ResultData};
use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_machine::Machine;
use visa_numerics::{DType, from_f64, load, store, to_f64};
use visa_reference::{KernelArguments, LogicalResult, evaluate, interface};
use visa_support::Random;

/// Random integers that every format holds, so that most sums are exact in any order.
fn arguments(program: &Program) -> BTreeMap<String, Vec<u8>> {
    let (mut random, given) = (Random(2026), program.buffers.iter().filter(|buffer| buffer.argument));
    let bytes = given.map(|buffer| {
        let count = buffer.shape.iter().product::<u64>();
        let mut bytes = vec![0; buffer.dtype.bytes(count).unwrap_or(count.div_ceil(2)) as usize];
        for at in 0..count as usize {
            store(buffer.dtype, &mut bytes, at, from_f64(buffer.dtype, random.below(16) as f64 - 8.0));
        }
        (buffer.name.clone(), bytes)
    });
    bytes.collect()
}

/// Whether two elements are the same: floating-point sums may have been added in another order, which shows in the
/// last bits.
fn same(dtype: DType, left: &[u8], right: &[u8], at: usize) -> bool {
    let (left, right) = (load(dtype, left, at), load(dtype, right, at));
    let (near, far) = (to_f64(dtype, left), to_f64(dtype, right));
    left == right || (dtype.is_float() && (near - far).abs() <= near.abs() / 128.0)
}

/// Compares every defined element of what a program computes with what the logical evaluator says of the kernel as
/// it is written. Whether it has a meaning for this data.
///
/// # Errors
/// Where they differ.
pub(crate) fn same_results(
    ctx: &Context,
    written: &Module,
    by_hand: &Program,
    chosen: &Program,
) -> Result<bool, String> {
    let arguments = arguments(by_hand);
    let given = started_first(ctx, written, &by_hand.name, &arguments);
    let options = visa_reference::Options {
        sum_order: ctx.data::<Machine>().sum_order,
        ..visa_reference::Options::default()
    };
    let Ok(meant) = evaluate(ctx, written, Some(&by_hand.name), &given, options) else {
        return Ok(false);
    };
    let found = run(ctx, chosen, &meant, &arguments)?;
    for (wanted, found) in meant.iter().zip(&found) {
        compare(wanted, &found.bytes)?;
    }
    // What nobody wrote may only show in a result where it does with what the author wrote.
    if found.iter().any(|found| found.undefined.is_some()) {
        for (found, own) in found.iter().zip(run(ctx, by_hand, &meant, &arguments)?) {
            if let (Some(undefined), None) = (&found.undefined, own.undefined) {
                return Err(undefined.to_string());
            }
        }
    }
    Ok(true)
}

/// Arguments for a kernel that is started with 0 for each of its scalars.
fn started_first(
    ctx: &Context,
    kernel: &Module,
    name: &str,
    tensors: &BTreeMap<String, Vec<u8>>,
) -> KernelArguments {
    let scalars =
        interface(ctx, kernel, Some(name)).map_or_else(|_| Vec::new(), |signature| signature.scalars);
    let scalars = scalars.into_iter().map(|scalar| (scalar.name, 0)).collect();
    KernelArguments { tensors: tensors.clone(), scalars }
}

/// The results of a program, in shadow mode.
fn run(
    ctx: &Context,
    program: &Program,
    results: &[LogicalResult],
    arguments: &BTreeMap<String, Vec<u8>>,
) -> Result<Vec<ResultData>, String> {
    let options = Options { threads: Some(1), shadow: true, ..Options::default() };
    let machine = ctx.data::<Machine>();
    let mut interpreter = Interpreter::new(program, &machine, options).expect("memory");
    for (name, bytes) in arguments {
        interpreter.set_argument(name, bytes).expect("an argument");
    }
    interpreter.run(&mut |_, _| {}).map_err(|error| format!("{error:?}"))?;
    Ok(results.iter().map(|result| interpreter.result(&result.name).expect("a result")).collect())
}

fn compare(wanted: &LogicalResult, found: &[u8]) -> Result<(), String> {
    let count = wanted.shape.iter().product::<u64>() as usize;
    let defined = |at: &usize| wanted.defined.as_ref().is_none_or(|defined| defined[*at]);
    let differs = |at: &usize| !same(wanted.dtype, &wanted.bytes, found, *at);
    match (0..count).filter(defined).find(differs) {
        Some(at) => Err(format!("element {at} of `{}` differs", wanted.name)),
        None => Ok(()),
    }
}
