//! The two conversions between fixed and floating point (book 21, docs/numerics.md).
//!
//! A fixed-point number of integer width w is an i32 that counts units of 2^(w - 31): with w = 31 it is an
//! integer, with w = 0 it is between -1 and 1.

use super::{Alu, AluName, AluOp, Apply, VectorStage};
use crate::bits::Bits;
use crate::dtype::DType;
use crate::float::{canonical, flush};

/// The widest integer part; the sign takes the bit above.
const MAX_WIDTH: Bits = 31;

/// The conversion to floating point.
pub(super) const TO_FP: &[AluOp] = &[AluOp {
    name: AluName::FxpToFp,
    stage: VectorStage::FxpToFp,
    alu: Alu::FxpToFp,
    from: DType::I32,
    to: DType::F32,
    doc: "x * 2^(y - 31), y the integer width, to nearest, ties to even",
    apply: Apply::Binary(to_fp),
}];

/// The conversion to fixed point.
pub(super) const TO_FXP: &[AluOp] = &[AluOp {
    name: AluName::FpToFxp,
    stage: VectorStage::FpToFxp,
    alu: Alu::FpToFxp,
    from: DType::F32,
    to: DType::I32,
    doc: "x * 2^(31 - y), y the integer width, to nearest, ties away from zero, clamped; NaN gives MAX or MIN by \
          its sign",
    apply: Apply::Binary(to_fxp),
}];

/// 2^(31 - width) in f64, exact.
fn unit(width: Bits) -> f64 {
    f64::from(1_u32 << (MAX_WIDTH - width.min(MAX_WIDTH)))
}

fn to_fp(x: Bits, width: Bits) -> Bits {
    // The quotient by a power of two is exact in f64, so that only the last step rounds.
    let exact = f64::from(x.cast_signed()) / unit(width);
    (exact as f32).to_bits()
}

fn to_fxp(x: Bits, width: Bits) -> Bits {
    let x = f32::from_bits(x);
    if x.is_nan() {
        return if x.is_sign_negative() { i32::MIN } else { i32::MAX }.cast_unsigned();
    }
    // Exact in f64; `round` takes ties away from zero and `as` clamps.
    let scaled = f64::from(canonical(flush(x))) * unit(width);
    (scaled.round() as i32).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{alu_op, default_mode};

    fn fp(x: i32, width: Bits) -> f32 {
        let op = alu_op(VectorStage::FxpToFp, AluName::FxpToFp, DType::I32).expect("a row");
        f32::from_bits(op.apply.eval(default_mode(2), x.cast_unsigned(), [width, 0]))
    }

    fn fxp(x: f32, width: Bits) -> i32 {
        let op = alu_op(VectorStage::FpToFxp, AluName::FpToFxp, DType::F32).expect("a row");
        op.apply.eval(default_mode(2), x.to_bits(), [width, 0]).cast_signed()
    }

    #[test]
    fn to_floating_point_by_hand() {
        for (x, width, expected) in [
            (5, 31, 5.0),
            (-5, 31, -5.0),
            (1 << 30, 0, 0.5),
            (i32::MIN, 0, -1.0),
            (3, 30, 1.5),
            (i32::MAX, 31, 2_147_483_648.0), // rounds up to 2^31
            (16_777_217, 31, 16_777_216.0),  // a tie, to even
            (16_777_219, 31, 16_777_220.0),
            (0, 7, 0.0),
        ] {
            assert_eq!(fp(x, width), expected, "{x} {width}");
        }
    }

    #[test]
    fn to_fixed_point_by_hand() {
        for (x, width, expected) in [
            (5.5, 31, 6),
            (-5.5, 31, -6),
            (5.4, 31, 5),
            (0.5, 0, 1 << 30),
            (1.0, 0, i32::MAX), // just out of range
            (-1.0, 0, i32::MIN),
            (1.5, 30, 3),
            (0.25, 30, 1), // half a unit: away from zero
            (-0.25, 30, -1),
            (3.0e9, 31, i32::MAX),
            (f32::NEG_INFINITY, 31, i32::MIN),
            (f32::from_bits(0x7fc0_0000), 31, i32::MAX),
            (f32::from_bits(0xffc0_0000), 31, i32::MIN),
            (1.0e-40, 0, 0),
        ] {
            assert_eq!(fxp(x, width), expected, "{x} {width}");
        }
    }

    /// Back and forth is the identity where f32 holds the integer.
    #[test]
    fn round_trip() {
        for width in 0..=31 {
            for x in (-(1 << 24)..=1 << 24).step_by(65_537) {
                assert_eq!(fxp(fp(x, width), width), x, "{x} {width}");
            }
        }
    }
}
