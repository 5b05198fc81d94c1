//! Random kernels of the memory level whose computation the generator knows, as functions of coordinates in plain
//! Rust. The pass `raise` replaces each by its function of the tensor level; that is printed, read again and
//! evaluated, and equals the generator's function bit for bit.

mod array;
mod elementwise;
mod intent;
mod loops;
mod moves;
mod numbers;
mod reductions;
mod sums;
mod views;

use crate::files::{context_of, read};
use crate::open_clauses::cases::passes;
use crate::settings::Settings;
use crate::shared;
use array::{Array, Axis, named};
use intent::{Intent, SLICES};
use std::collections::BTreeMap;
use visa_ir::context::Context;
use visa_ir::module::{Module, ValueId};
use visa_ir::print::{Form, print};
use visa_mapping::ops::func::{Func, signature};
use visa_mapping::tensor::value::Value;
use visa_numerics::SumOrder;
use visa_reference::{KernelArguments, LogicalResult, Options, TensorInfo, evaluate, interface};
use visa_support::Random;

/// Kernels of a case that are drawn until one is legal.
const MAX_DRAWS: u64 = 200;

/// Bits of elements of an argument that the kernel does not have.
const OUTSIDE: u32 = 0x4b5a_6b5a;

/// The kinds of kernels: a name, the generator, and the share of cases.
type Kind = (&'static str, fn(&mut Random) -> Intent, u64);

const KINDS: [Kind; 11] = [
    ("transfers", moves::transfer, 4),
    ("views", views::views, 3),
    ("pipelines that move", moves::pipeline, 4),
    ("pipelines that compute", elementwise::expression, 6),
    ("contractions", sums::contraction, 5),
    ("convolutions", sums::convolution, 2),
    ("reductions between slices", reductions::between_slices, 1),
    ("reductions within slices", reductions::within_slices, 2),
    ("gathers and scatters", moves::row, 2),
    ("loops over tiles", loops::tiles, 3),
    ("loops that carry sums", loops::carried, 1),
];

/// The kind of a case.
fn kind(random: &mut Random) -> usize {
    let shares = (0..).zip(KINDS).flat_map(|(number, (_, _, share))| (0..share).map(move |_| number));
    random.of(&shares.collect::<Vec<usize>>())
}

/// Draws kernels of a seed, as many as the settings count. Each is legal: those that the verifier refuses are drawn
/// again.
///
/// # Panics
/// If the raised function of a kernel computes something else.
pub fn run(settings: &Settings<'_>) {
    let Settings { count, seed, .. } = *settings;
    let shares = shared::each_core(|numbers| {
        let mut tally = [[0_u64; 2]; KINDS.len()];
        for number in numbers.take_while(|number| *number < count) {
            let mut random = Random::of_case(seed, number);
            let kind = kind(&mut random);
            tally[kind][0] += 1;
            tally[kind][1] += run_case(&mut random, kind, &format!("raise, seed {seed}, case {number}"));
        }
        tally
    });
    let sum = |kind: usize, at: usize| shares.iter().map(|tally| tally[kind][at]).sum::<u64>();
    println!("raise, seed {seed}: {count} kernels, 0 wrong");
    for (number, (name, ..)) in KINDS.iter().enumerate() {
        println!("  {} {name}, {} refused", sum(number, 0), sum(number, 1));
    }
}

/// Checks one kernel. Returns the number of kernels that were refused before it.
fn run_case(random: &mut Random, kind: usize, title: &str) -> u64 {
    let (name, draw, _) = KINDS[kind];
    for refused in 0..MAX_DRAWS {
        let intent = draw(random);
        let ctx = context_of(SLICES);
        let Some(module) = read(&ctx, &intent.text) else { continue };
        let text = intent.text.clone();
        if let Err(why) = compare(random, &ctx, module, intent) {
            panic!("{title}, {name}: {why}\n{text}");
        }
        return refused;
    }
    panic!("{title}, {name}: none of {MAX_DRAWS} kernels is legal\n{}", draw(random).text);
}

/// Compares the raised function of a kernel with the computation, and in one of eight cases the kernel as an array.
fn compare(random: &mut Random, ctx: &Context, module: Module, intent: Intent) -> Result<(), String> {
    let (arguments, intended) = (intent.computation)(random);
    if random.below(8) == 0 {
        let tensors = arguments.iter().map(|(name, array)| ((*name).to_owned(), array.bytes(0)));
        let LogicalResult { dtype, shape, bytes, defined, .. } =
            evaluated(ctx, &module, tensors.collect(), intent.order)?;
        let axes = intended.axes.clone();
        if dtype != intended.dtype || axes.iter().map(|(_, size)| *size).ne(shape.iter().copied()) {
            return Err(format!("the result is {dtype} of shape {shape:?}, intended {axes:?}"));
        }
        let array = Array::read(dtype, axes, &bytes, defined.as_deref());
        intended.difference(&array).map_or(Ok(()), Err)?;
    }
    let raised = print(ctx, &passes(ctx, module, "raise")?, Form::Pretty);
    let ctx = context_of(SLICES);
    let module = read(&ctx, &raised).ok_or_else(|| format!("it does not verify: {raised}"))?;
    compare_values(&ctx, &module, &arguments, &intended, intent.order)
        .map_err(|why| format!("{why}\n{raised}"))
}

/// Compares the result of a raised function. A value has its axes in any order, none of one element, and each as long
/// as it is declared: an argument has any bits outside of the kernel's, and a result is not compared there.
fn compare_values(
    ctx: &Context,
    module: &Module,
    arguments: &[(&'static str, Array)],
    intended: &Array,
    order: SumOrder,
) -> Result<(), String> {
    let func = module.ops(module.body()).iter().find_map(|&id| Func::cast(module.op(ctx, id)));
    let (of_arguments, of_results) = signature(*func.ok_or("there is no function")?);
    let ports = interface(ctx, module, None).map_err(|error| error.message)?;
    let axes_of = |value: ValueId, info: &TensorInfo| -> Result<Vec<Axis>, String> {
        let ty = ctx.type_value::<Value>(module.ty(value)).ok_or("it is no value")?;
        let named: Option<Vec<_>> = ty.axes.iter().map(|axis| named(axis)).collect();
        let named = named.ok_or_else(|| format!("`{}` has other axes", info.name))?;
        Ok(named.into_iter().zip(info.shape.iter().copied()).collect())
    };
    let mut tensors = BTreeMap::new();
    for (&value, info) in of_arguments.iter().zip(&ports.arguments) {
        let argument = arguments.iter().find(|(name, _)| *name == info.name);
        let (_, array) = argument.ok_or_else(|| format!("an argument is named `{}`", info.name))?;
        let array = array.along(axes_of(value, info)?);
        let array = array.ok_or_else(|| format!("`{}` lacks an axis", info.name))?;
        tensors.insert(info.name.clone(), array.bytes(OUTSIDE));
    }
    let (Some(&value), Some(info)) = (of_results.first(), ports.results.first()) else {
        return Err("it has no result".to_owned());
    };
    let axes = axes_of(value, info)?;
    if intended.along(axes.clone()).is_none() || info.dtype != intended.dtype {
        return Err(format!("the result is {} along {axes:?}, intended {:?}", info.dtype, intended.axes));
    }
    let LogicalResult { dtype, bytes, defined, .. } = evaluated(ctx, module, tensors, order)?;
    let computed = Array::read(dtype, axes, &bytes, defined.as_deref());
    intended.difference(&computed).map_or(Ok(()), Err)
}

/// The result of the only function of a module.
fn evaluated(
    ctx: &Context,
    module: &Module,
    tensors: BTreeMap<String, Vec<u8>>,
    sum_order: SumOrder,
) -> Result<LogicalResult, String> {
    let arguments = KernelArguments { tensors, ..KernelArguments::default() };
    let results = evaluate(ctx, module, None, &arguments, Options { sum_order, ..Options::default() });
    results.map_err(|error| error.message)?.into_iter().next().ok_or_else(|| "it has no result".to_owned())
}
