//! Contractions and convolutions: each sum in the order of the machine, over indices that the generator knows.

use super::array::{Array, Axis, Point};
use super::intent::Intent;
use super::numbers::{greater, product, sum};
use crate::contractions::{Convolution, Product};
use visa_numerics::{DType, SumOrder};
use visa_support::Random;

/// The sum of products in packets: the products of each as a tree, these sums one after the other; or all products one
/// after the other, from -0.0 on.
fn summed(packets: &[Vec<u32>], is_float: bool, order: SumOrder) -> Option<u32> {
    let add = |x: u32, y: u32| sum(is_float, x, y);
    match order {
        SumOrder::Tree => packets.iter().map(|packet| tree(packet, &add)).reduce(add),
        SumOrder::Sequential => {
            let start = if is_float { (-0_f32).to_bits() } else { 0 };
            Some(packets.iter().flatten().fold(start, |sum, &x| add(sum, x)))
        }
    }
}

/// The sum of neighbours, then of these sums, and so on.
fn tree(packet: &[u32], add: &impl Fn(u32, u32) -> u32) -> u32 {
    match packet {
        [only] => *only,
        _ => {
            let (left, right) = packet.split_at(packet.len() / 2);
            add(tree(left, add), tree(right, add))
        }
    }
}

fn order(random: &mut Random) -> SumOrder {
    if random.below(4) == 0 { SumOrder::Sequential } else { SumOrder::Tree }
}

fn accumulator(dtype: DType) -> DType {
    if dtype.is_float() { DType::F32 } else { DType::I32 }
}

/// A product of two tensors: R is summed over time, G as a tree.
pub(super) fn contraction(random: &mut Random) -> Intent {
    let size = 2 + random.under(5);
    let mut drawn = Product::draw(random, size);
    let mut steps: Vec<u64> = (0..size).collect();
    if drawn.sums_over_time() && size.is_multiple_of(2) && random.below(2) == 0 {
        drawn.sum_in("R % 2, R / 2");
        steps = (0..2).flat_map(|low| (0..size / 2).map(move |high| 2 * high + low)).collect();
    }
    if !drawn.sums_over_time() {
        steps = vec![0];
    }
    let (text, order) = (drawn.text(random), order(random));
    Intent::new(text, move |random| {
        let dtype = drawn.dtype();
        let named = |axes: &[&'static str]| -> Vec<Axis> { drawn.sized(axes) };
        let x = Array::random(random, dtype, named(&[&["S"], drawn.stream()].concat()));
        let w = Array::random(random, dtype, named(&[&["S", "N"], drawn.file()].concat()));
        let (format, group) = (accumulator(dtype), drawn.size("G"));
        let axes = named(&[&["S"], drawn.kept(), &["N", "L", "D"]].concat());
        let result = Array::of(format, axes, |point| {
            let at = |r: u64, g: u64| {
                let point = point.with("R", r).with("G", g);
                Some(product(dtype, x.at(&point)?, w.at(&point)?))
            };
            let packet = |&r: &u64| (0..group).map(|g| at(r, g)).collect();
            let packets: Option<Vec<Vec<u32>>> = steps.iter().map(packet).collect();
            let packets = packets?;
            if drawn.max {
                return packets.into_iter().flatten().reduce(|x, y| greater(format.is_float(), x, y));
            }
            summed(&packets, format.is_float(), order)
        });
        (vec![("x", x), ("w", w)], result)
    })
    .in_order(order)
}

/// A convolution along W: F is summed over time, its pairs as a tree with stride 2.
pub(super) fn convolution(random: &mut Random) -> Intent {
    let drawn = Convolution::draw(random);
    let (text, order) = (drawn.text(random), order(random));
    Intent::new(text, move |random| {
        let dtype = drawn.dtype();
        let named = |axes: &[&'static str]| -> Vec<Axis> {
            axes.iter().map(|&axis| (axis, drawn.size(axis))).collect()
        };
        // Zeros in the register file add a zero, which changes the sign of one.
        let x = Array::nonzero(random, dtype, named(&["S", "A", "B", "X"]));
        let w = Array::nonzero(random, dtype, named(&["S", "N", "A", "Y"]));
        let format = accumulator(dtype);
        let axes = named(&[&["S"], &*drawn.kept, &["N", "W"]].concat());
        let rows = if drawn.kept.contains(&"A") { 1 } else { drawn.size("A") };
        let pair = if (drawn.stride, drawn.dilation) == (2, 1) { 2 } else { 1 };
        let result = Array::of(format, axes, |point| {
            let at = |point: &Point, f: u64| {
                let column = point.at("W") * drawn.stride + f * drawn.dilation;
                let element = x.at(&point.with("X", column))?;
                Some(product(dtype, element, w.at(&point.with("Y", f))?))
            };
            let mut packets = Vec::new();
            for row in 0..rows {
                let point = if rows == 1 { *point } else { point.with("A", row) };
                for first in (0..drawn.size("F")).step_by(pair as usize) {
                    packets.push((first..first + pair).map(|f| at(&point, f)).collect::<Option<Vec<u32>>>()?);
                }
            }
            summed(&packets, format.is_float(), order)
        });
        (vec![("x", x), ("w", w)], result)
    })
    .in_order(order)
}
