//! Arithmetic of the machine from its description (docs/numerics.md), which shares no code with `visa-numerics`.

use visa_numerics::DType;

/// The one NaN of `f32`.
const NAN: u32 = 0x7fc0_0000;

/// A floating-point format.
struct Float {
    exponent: u32,
    fraction: u32,
    /// The greatest number.
    most: f64,
    /// Bits of a NaN that a conversion produces.
    nan: u32,
    /// Bits of the result past the greatest number, without its sign.
    overflow: u32,
    /// Magnitude from which on a number is past the greatest.
    past: f64,
    /// True if ties go away from zero, not to even.
    away: bool,
}

fn float(dtype: DType) -> Option<Float> {
    let row = |exponent, fraction, most, nan, overflow, past, away| {
        Some(Float { exponent, fraction, most, nan, overflow, past, away })
    };
    match dtype {
        DType::F8e4m3 => row(4, 3, 448.0, 0x7f, 0x7e, f64::INFINITY, false),
        DType::F8e5m2 => row(5, 2, 57344.0, 0x7e, 0x7c, 61440.0, true),
        DType::F16 => row(5, 10, 65504.0, 0x7e00, 0x7c00, 65520.0, false),
        // Past the greatest number and half of its last place.
        DType::Bf16 => row(8, 7, 255.0 * 2_f64.powi(120), 0x7fc0, 0x7f80, 511.0 * 2_f64.powi(119), false),
        DType::F32 => row(8, 23, f64::from(f32::MAX), NAN, 0x7f80_0000, f64::INFINITY, false),
        DType::I4
        | DType::I5
        | DType::I8
        | DType::I9
        | DType::I16
        | DType::I32
        | DType::U8
        | DType::F4e2m1 => None,
    }
}

/// `f32` as the machine has it: one NaN, no subnormals.
fn canonical(x: f32) -> f32 {
    if x.is_nan() {
        f32::from_bits(NAN)
    } else if x.is_subnormal() {
        0_f32.copysign(x)
    } else {
        x
    }
}

/// A function of `f32` on bits, of operands and with a result that are canonical.
pub(super) fn on_floats<const N: usize>(bits: [u32; N], function: impl Fn([f32; N]) -> f32) -> u32 {
    canonical(function(bits.map(|bits| canonical(f32::from_bits(bits))))).to_bits()
}

/// The number of a floating-point format, widened.
fn decode(dtype: DType, bits: u32) -> Option<f64> {
    let format = float(dtype)?;
    let magnitude = bits & ((1 << (format.exponent + format.fraction)) - 1);
    let (exponent, fraction) = (magnitude >> format.fraction, magnitude & ((1 << format.fraction) - 1));
    let sign = if bits >> (format.exponent + format.fraction) & 1 == 1 { -1.0 } else { 1.0 };
    let bias = (1 << (format.exponent - 1)) - 1;
    let all_ones = (1 << format.exponent) - 1;
    let special = exponent == all_ones && (dtype != DType::F8e4m3 || fraction == (1 << format.fraction) - 1);
    let flushes = matches!(dtype, DType::Bf16 | DType::F32);
    let number = match (exponent, fraction) {
        (_, 0) if special => f64::INFINITY,
        (_, _) if special => f64::NAN,
        (0, _) if flushes => 0.0,
        (0, fraction) => f64::from(fraction) * 2_f64.powi(1 - bias - format.fraction as i32),
        (exponent, fraction) => {
            let significand = f64::from(1_u32 << format.fraction | fraction);
            significand * 2_f64.powi(exponent as i32 - bias - format.fraction as i32)
        }
    };
    Some(sign * number)
}

/// The bits of a number in a narrower floating-point format, rounded once.
fn encode(dtype: DType, number: f64) -> Option<u32> {
    let format = float(dtype)?;
    if number.is_nan() {
        return Some(format.nan);
    }
    let sign = u32::from(number.is_sign_negative()) << (format.exponent + format.fraction);
    let magnitude = number.abs();
    if magnitude >= format.past {
        return Some(sign | format.overflow);
    }
    let bias = (1 << (format.exponent - 1)) - 1;
    let least = 1 - bias;
    let exponent = if magnitude == 0.0 { least } else { exponent_of(magnitude).max(least) };
    // Units of the last place: exact, as both are powers of two.
    let units = magnitude / 2_f64.powi(exponent - format.fraction as i32);
    let rounded = if format.away { units.round() } else { units.round_ties_even() };
    let value = rounded * 2_f64.powi(exponent - format.fraction as i32);
    if value > format.most {
        return Some(sign | format.overflow);
    }
    // A sum, not an or: a significand that rounds up to the next power of two carries into the exponent.
    let hidden = 1_u32 << format.fraction;
    let bits = match rounded as u32 {
        subnormal if subnormal < hidden => subnormal,
        normal => (((exponent + bias) as u32) << format.fraction) + (normal - hidden),
    };
    Some(sign | bits)
}

/// The exponent of the power of two that is at most a positive number, which is normal in `f64`.
fn exponent_of(magnitude: f64) -> i32 {
    (magnitude.to_bits() >> 52) as i32 - 1023
}

/// Bits of an integer of a format that is narrower than 32 bits.
fn narrow(dtype: DType) -> Option<u32> {
    match dtype {
        DType::I4 => Some(4),
        DType::I8 => Some(8),
        DType::I16 => Some(16),
        DType::I32
        | DType::I5
        | DType::I9
        | DType::U8
        | DType::F4e2m1
        | DType::F8e4m3
        | DType::F8e5m2
        | DType::F16
        | DType::Bf16
        | DType::F32 => None,
    }
}

/// The number of an integer format with these bits.
fn integer(dtype: DType, bits: u32) -> i32 {
    narrow(dtype).map_or(bits as i32, |width| ((bits << (32 - width)) as i32) >> (32 - width))
}

/// The bits of an integer in a format, which wraps.
fn wrapped(dtype: DType, number: i32) -> u32 {
    narrow(dtype).map_or(number as u32, |width| number as u32 & ((1 << width) - 1))
}

/// An element in another format of the same kind, less a zero point.
pub(super) fn converted(from: DType, to: DType, bits: u32, zero: i64) -> Option<u32> {
    if from == to {
        return Some(bits);
    }
    match float(from) {
        Some(_) => {
            let number = decode(from, bits)?;
            if to == DType::F32 { Some(canonical(number as f32).to_bits()) } else { encode(to, number) }
        }
        None => Some(wrapped(to, integer(from, bits).wrapping_sub(zero as i32))),
    }
}

/// The product of two elements of a contraction, as the accumulator has it: `i32` or `f32`.
pub(super) fn product(dtype: DType, x: u32, y: u32) -> u32 {
    match (decode(dtype, x), decode(dtype, y)) {
        (Some(x), Some(y)) => on_floats([(x as f32).to_bits(), (y as f32).to_bits()], |[x, y]| x * y),
        _ => integer(dtype, x).wrapping_mul(integer(dtype, y)) as u32,
    }
}

/// The sum of two numbers of the accumulator.
pub(super) fn sum(is_float: bool, x: u32, y: u32) -> u32 {
    if is_float { on_floats([x, y], |[x, y]| x + y) } else { x.wrapping_add(y) }
}

/// The greater of two numbers of the accumulator: NaN if one is, and of zeros the positive one.
pub(super) fn greater(is_float: bool, x: u32, y: u32) -> u32 {
    let float = |[x, y]: [f32; 2]| match x.partial_cmp(&y) {
        None => f32::NAN,
        Some(std::cmp::Ordering::Equal) if x.is_sign_negative() => y,
        Some(std::cmp::Ordering::Less) => y,
        Some(_) => x,
    };
    if is_float { on_floats([x, y], float) } else { (x as i32).max(y as i32) as u32 }
}

/// The lesser or greater of two `f32`: a number if the other is NaN, and -0 less than 0.
fn bound([x, y]: [f32; 2], takes_first: impl Fn(std::cmp::Ordering) -> bool) -> f32 {
    match (x.is_nan(), y.is_nan()) {
        (true, _) => y,
        (false, true) => x,
        (false, false) => {
            if takes_first(x.total_cmp(&y)) {
                x
            } else {
                y
            }
        }
    }
}

/// The greater of two `f32`, as the vector engine has it.
pub(super) fn greatest(x: u32, y: u32) -> u32 {
    on_floats([x, y], |both| bound(both, std::cmp::Ordering::is_ge))
}

/// The lesser of two `f32`, as the vector engine has it.
pub(super) fn least(x: u32, y: u32) -> u32 {
    on_floats([x, y], |both| bound(both, std::cmp::Ordering::is_le))
}

/// `x * 2^(width - 31)` as `f32`.
pub(super) fn to_float(x: u32, width: u32) -> u32 {
    canonical((f64::from(x as i32) * 2_f64.powi(width as i32 - 31)) as f32).to_bits()
}

/// `x * 2^(31 - width)` as `i32`: to nearest, ties away from zero, clamped; a NaN by its sign.
pub(super) fn to_fixed(x: u32, width: u32) -> u32 {
    let number = f32::from_bits(x);
    if number.is_nan() {
        return if number.is_sign_negative() { i32::MIN as u32 } else { i32::MAX as u32 };
    }
    let scaled = f64::from(canonical(number)) * 2_f64.powi(31 - width as i32);
    scaled.round().clamp(f64::from(i32::MIN), f64::from(i32::MAX)) as i32 as u32
}
