//! Bounds of sums in any order, against sums in many orders.

use visa_numerics::{SumOrder, load, to_f64};
use visa_reference::{Allowed, KernelArguments, LogicalResult, Options, evaluate};

use crate::support::{arguments, bytes_u16, context, narrow, verified, wide};
use visa_support::Random;

/// The results of the only function of a text, with the bounds of its sums.
fn bounded<const N: usize>(text: &str, given: [(&str, Vec<u8>); N]) -> Vec<LogicalResult> {
    let ctx = context();
    let module = verified(&ctx, text);
    let given: KernelArguments = arguments(given).into();
    let options = Options { sum_order: SumOrder::Tree, any_order: true };
    evaluate(&ctx, &module, None, &given, options).unwrap()
}

/// The bounds of the elements of a result; the evaluator's number is between them.
fn ranges(result: &LogicalResult) -> Vec<[f64; 2]> {
    let number = |bytes: &[u8], at: usize| to_f64(result.dtype, load(result.dtype, bytes, at));
    let Allowed::Between { low, high } = &result.allowed else {
        panic!("{:?} has no bounds", result.allowed)
    };
    let ends = |at: usize| [number(low, at), number(high, at)];
    let count = result.shape.iter().product::<u64>() as usize;
    for at in 0..count {
        let ([low, high], own) = (ends(at), number(&result.bytes, at));
        assert!((low..=high).contains(&own), "{low} {own} {high}");
    }
    (0..count).map(ends).collect()
}

/// An array of bf16; each number has one.
fn bf16(numbers: &[f32]) -> Vec<u8> {
    bytes_u16(&numbers.iter().map(|&number| narrow(number)).collect::<Vec<_>>())
}

/// bf16 numbers with eight significant bits, of several orders of magnitude.
fn numbers(random: &mut Random, count: usize) -> Vec<f32> {
    let mut number = || {
        let (bits, scale) = (random.below(255) as f32 + 1.0, random.below(13) as i32 - 6);
        bits * 2_f32.powi(scale) * if random.below(2) == 0 { 1.0 } else { -1.0 }
    };
    (0..count).map(|_| number()).collect()
}

/// A sum in a random order: two of the terms become one until one is left.
fn sum(random: &mut Random, mut terms: Vec<f32>) -> f32 {
    while terms.len() > 1 {
        let left = terms.swap_remove(random.below(terms.len()));
        let at = random.below(terms.len());
        terms[at] += left;
    }
    terms[0]
}

const SUM: &str = "tm.axes [K = 4]
tm.func @sum(%a: !tm.tensor<bf16, [K]>, %b: !tm.tensor<bf16, [K]>) {
  %out = tm.contract %a, %b over [K], free
  tm.return %out
}";

/// gamma(4) = 4 u / (1 - 4 u) with u = 2^-24, times 2^25 + 2, is 8 + 2^-19 + 2^-21 and less than 2^-40: around the
/// exact sum 2.
#[test]
fn the_bound_of_four_terms_is_gamma_times_their_absolute_values() {
    let huge = 16_777_216.0;
    let given = [("a", bf16(&[huge, 1.0, -huge, 1.0])), ("b", bf16(&[1.0; 4]))];
    let [low, high] = ranges(&bounded(SUM, given)[0])[0];
    assert!((-6.000_004..=-6.000_002).contains(&low), "{low}");
    assert!((10.000_002..=10.000_004).contains(&high), "{high}");
}

#[test]
fn a_sum_that_may_overflow_has_no_bound() {
    let huge = 2_f32.powi(126);
    let given = [("a", bf16(&[huge, huge, -huge, -huge])), ("b", bf16(&[1.0, 1.0, 1.0, 1.0]))];
    assert_eq!(ranges(&bounded(SUM, given)[0]), [[f64::NEG_INFINITY, f64::INFINITY]]);
}

#[test]
fn sums_in_order_and_sums_of_integers_have_no_bounds() {
    let ordered = SUM.replace(", free", "");
    let given = || [("a", bf16(&[1.0; 4])), ("b", bf16(&[1.0; 4]))];
    assert_eq!(bounded(&ordered, given())[0].allowed, Allowed::Same);
    let integers = SUM.replace("bf16", "i8");
    assert_eq!(bounded(&integers, [("a", vec![1; 4]), ("b", vec![1; 4])])[0].allowed, Allowed::Same);
    let greatest = SUM.replace("free", "free, kind max");
    assert_eq!(bounded(&greatest, given())[0].allowed, Allowed::Same);
}

/// A sum, an expression, a sum of the results and a contraction of them: numbers in random orders stay between.
#[test]
fn bounds_are_carried_through_later_operations() {
    const TEXT: &str = "tm.axes [M = 5, K = 6]
tm.func @f(%a: !tm.tensor<bf16, [M, K]>, %b: !tm.tensor<bf16, [K]>, %c: !tm.tensor<bf16, [M]>) {
  %sum = tm.contract %a, %b over [K], free
  %half = tm.map [x: relu(x * 0.5)] %sum
  %all = tm.reduce Add %half over [M], free
  %rounded = tm.cast bf16 %half
  %out = tm.contract %rounded, %c over [M], free
  tm.return %half, %all, %out
}";
    let mut random = Random(44);
    for _ in 0..50 {
        let [a, b, c] = [30, 6, 5].map(|count| numbers(&mut random, count));
        let results = bounded(TEXT, [("a", bf16(&a)), ("b", bf16(&b)), ("c", bf16(&c))]);
        let ranges: Vec<_> = results.iter().map(ranges).collect();
        for _ in 0..50 {
            let half: Vec<f32> = a
                .chunks(6)
                .map(|row| sum(&mut random, row.iter().zip(&b).map(|(x, y)| x * y).collect()))
                .map(|sum| (sum * 0.5).max(0.0))
                .collect();
            let all = sum(&mut random, half.clone());
            let products = half.iter().zip(&c).map(|(x, y)| wide(narrow(*x)) * y).collect();
            let out = sum(&mut random, products);
            let inside = |[low, high]: &[f64; 2], number: f32| (*low..=*high).contains(&f64::from(number));
            assert!(ranges[0].iter().zip(&half).all(|(range, number)| inside(range, *number)), "{half:?}");
            assert!(inside(&ranges[1][0], all), "{all} {:?}", ranges[1]);
            assert!(inside(&ranges[2][0], out), "{out} {:?}", ranges[2]);
        }
    }
}
