//! Floats: precision of literals, arithmetic in the type, casts.

pub fn single_literals() -> f32 {
    0.1
}

pub fn single_sum() -> f32 {
    0.1 + 0.2
}

pub fn double_sum_then_single() -> f32 {
    (0.1 + 0.2_f64) as f32
}

pub fn single_then_double() -> i32 {
    (0.1f32 as f64 * 1e9) as i32
}

pub fn a_literal_is_rounded_once() -> f32 {
    1.000_000_059_604_644_775_390_625_1
}

pub fn ends_of_precision() -> i32 {
    let x: f32 = 16_777_216.0;
    let y = x + 1.0;
    (y == x) as i32 + ((x as f64 + 1.0) as i32) * 2
}

pub fn division() -> f32 {
    1.0 / 3.0
}

pub fn remainder() -> f32 {
    -7.5 % 2.0 + 7.5f32.rem_euclid(-2.0)
}

pub fn casts_saturate() -> i32 {
    let a = 300.7f32 as u8 as i32;
    let b = -5.5f32 as u8 as i32;
    let c = -129.9f64 as i8 as i32;
    let d = f32::NAN as i32;
    let e = (f64::INFINITY as i64 >> 40) as i32;
    let f = 1e30f32 as i32;
    a + b + c * 1000 + d + (e ^ f)
}

pub fn casts_truncate() -> i32 {
    (2.99f32 as i32) * 100 + (-2.99f64 as i32) * 10 + 0.5f32 as i32
}

pub fn integers_round_to_even() -> i32 {
    (16_777_217i32 as f32) as i32 + (16_777_219u32 as f32) as i32
}

pub fn wide_integers_to_single() -> i32 {
    let x = u64::MAX as f32;
    let y = i64::MIN as f64;
    let z = u128::MAX as f32;
    (x.to_bits() ^ (y.to_bits() >> 32) as u32 ^ z.to_bits()) as i32
}

pub fn bits() -> i32 {
    1.5f32.to_bits() as i32 ^ f32::from_bits(0x4049_0fdb) as i32 ^ (2.0f64.to_bits() >> 40) as i32
}

pub fn comparisons_of_nan() -> i32 {
    let n = f32::NAN;
    (n == n) as i32
        + (n != n) as i32 * 10
        + (n < 1.0) as i32 * 100
        + (!(n >= 1.0)) as i32 * 1000
        + n.is_nan() as i32 * 10000
}

pub fn minimum_ignores_nan() -> f32 {
    f32::NAN.min(3.0) + 4f32.max(f32::NAN)
}

pub fn negative_zero() -> i32 {
    let z = -0.0f32;
    (z == 0.0) as i32
        + ((1.0 / z) < 0.0) as i32 * 10
        + z.is_sign_negative() as i32 * 100
        + (z.to_bits() >> 31) as i32 * 1000
}

pub fn rounding() -> i32 {
    let r = |x: f32| x.round() as i32 * 100 + x.floor() as i32 * 10 + x.ceil() as i32;
    r(2.5) + r(-2.5) * 10000 + 2.5f32.round_ties_even() as i32 + (-2.5f32).trunc() as i32
}

pub fn fractions() -> f32 {
    -2.75f32.fract() + (-2.75f32).fract()
}

pub fn minus_binds_after_methods() -> f32 {
    -2.0f32.abs()
}

pub fn powers() -> f32 {
    2f32.powi(-3) + 9f32.sqrt() + 3f32.recip() + 2.5f32.mul_add(2.0, 0.5)
}

pub fn constants() -> f32 {
    use std::f32::consts::{FRAC_1_SQRT_2, PI as P};
    P * 2.0 + FRAC_1_SQRT_2 + std::f32::consts::E
}

pub fn constants_of_double() -> f32 {
    (std::f64::consts::PI - std::f32::consts::PI as f64) as f32
}

pub fn limits() -> i32 {
    (f32::MAX.to_bits() ^ f32::MIN.to_bits() ^ f32::MIN_POSITIVE.to_bits() ^ f32::EPSILON.to_bits()) as i32
}

pub fn scientific() -> f32 {
    1e-3 + 2.5E2 + 1_0.0_1 + 3f32 + 1e1f32 + 2.
}

pub fn subnormals() -> i32 {
    let x = 1e-40f32;
    let y = f32::MIN_POSITIVE / 2.0;
    (x.to_bits() ^ y.to_bits()) as i32
}

pub fn overflow_is_infinite() -> i32 {
    let x = f32::MAX * 2.0;
    (x == f32::INFINITY) as i32
        + x.is_infinite() as i32 * 10
        + ((x - x) != 0.0) as i32 * 100
        + (1e39f64 as f32).is_infinite() as i32 * 1000
}

pub fn sums() -> f32 {
    let a = [0.1f32, 0.2, 0.3];
    let s: f32 = a.iter().sum();
    let mut t = 0.0;
    for x in a {
        t += x * x;
    }
    s + t
}

pub fn inference_through_a_closure() -> f32 {
    let half = |x| x / 2.0;
    half(0.7f32) + half(0.1)
}

pub fn double_arithmetic_stays_double() -> f32 {
    let x = 0.1;
    let y: f64 = x;
    (y * 3.0 - x * 3.0 + 1e-9) as f32
}

pub fn clamp_and_signs() -> f32 {
    5.5f32.clamp(0.0, 1.5) + (-3.5f32).signum() + 3f32.copysign(-0.0)
}

pub fn total_order() -> i32 {
    (-0.0f32).total_cmp(&0.0) as i32 + 1.0f32.partial_cmp(&2.0).unwrap() as i32 * 10
}

const SCALE: f32 = 1.0 / 127.0;
const SHIFT: f64 = 0.1;

pub fn of_constants() -> f32 {
    SCALE * 3.0 + SHIFT as f32
}

pub fn a_struct_of_floats() -> f32 {
    #[derive(Clone, Copy, Default)]
    struct V {
        x: f32,
        y: f32,
    }
    let v = V { x: 0.3, ..V::default() };
    v.x * v.x + v.y - 0.7
}
