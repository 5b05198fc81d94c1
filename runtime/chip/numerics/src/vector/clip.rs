//! The clip stage: minimum, maximum and a last addition (book 21).

use super::fixed::{self, i32_op};
use super::{Alu, AluName, AluOp, Apply, VectorStage};
use crate::bits::Bits;
use crate::dtype::DType;
use crate::float::{add, canonical, flush};

/// Its operations, in the book's order.
pub(super) const OPS: &[AluOp] = &[
    int(AluName::Min, Alu::ClipMin, "the smaller", |x, y| i32_op(x, y, i32::min)),
    int(AluName::Max, Alu::ClipMax, "the larger", |x, y| i32_op(x, y, i32::max)),
    int(
        AluName::AbsMin,
        Alu::ClipMin,
        "that of smaller magnitude, y if equal; the magnitude of MIN is MIN",
        |x, y| i32_op(x, y, |x, y| if x.wrapping_abs() < y.wrapping_abs() { x } else { y }),
    ),
    int(
        AluName::AbsMax,
        Alu::ClipMax,
        "that of larger magnitude, y if equal; the magnitude of MIN is MIN",
        |x, y| i32_op(x, y, |x, y| if x.wrapping_abs() > y.wrapping_abs() { x } else { y }),
    ),
    int(AluName::AddFxp, Alu::ClipAdd, "x + y, wrapping", fixed::add),
    int(AluName::AddFxpSat, Alu::ClipAdd, "x + y, saturating", fixed::add_sat),
    float(
        AluName::Min,
        Alu::ClipMin,
        "the smaller; a number if the other is NaN; -0 is smaller than 0",
        |x, y| f32_op(x, y, min),
    ),
    float(
        AluName::Max,
        Alu::ClipMax,
        "the larger; a number if the other is NaN; 0 is larger than -0",
        |x, y| f32_op(x, y, max),
    ),
    float(
        AluName::AbsMin,
        Alu::ClipMin,
        "that of smaller magnitude, y if equal or if either is NaN",
        |x, y| f32_op(x, y, |x, y| if x.abs() < y.abs() { x } else { y }),
    ),
    float(
        AluName::AbsMax,
        Alu::ClipMax,
        "that of larger magnitude, y if equal or if either is NaN",
        |x, y| f32_op(x, y, |x, y| if x.abs() > y.abs() { x } else { y }),
    ),
    float(AluName::Add, Alu::ClipAdd, "x + y", |x, y| f32_op(x, y, add)),
];

const fn int(name: AluName, alu: Alu, doc: &'static str, apply: fn(Bits, Bits) -> Bits) -> AluOp {
    let apply = Apply::Binary(apply);
    AluOp { name, stage: VectorStage::Clip, alu, from: DType::I32, to: DType::I32, doc, apply }
}

const fn float(name: AluName, alu: Alu, doc: &'static str, apply: fn(Bits, Bits) -> Bits) -> AluOp {
    let apply = Apply::Binary(apply);
    AluOp { name, stage: VectorStage::Clip, alu, from: DType::F32, to: DType::F32, doc, apply }
}

fn f32_op(x: Bits, y: Bits, op: fn(f32, f32) -> f32) -> Bits {
    let argument = |bits| flush(f32::from_bits(bits));
    canonical(op(argument(x), argument(y))).to_bits()
}

/// The smaller of two f32, or the one that is a number; -0 counts as smaller than 0.
#[must_use]
pub(crate) fn min(x: f32, y: f32) -> f32 {
    match x.partial_cmp(&y) {
        Some(std::cmp::Ordering::Less) => x,
        Some(std::cmp::Ordering::Greater) => y,
        Some(std::cmp::Ordering::Equal) => f32::from_bits(x.to_bits() | (y.to_bits() & 1 << 31)),
        None if x.is_nan() => y,
        None => x,
    }
}

/// The larger of two f32, or the one that is a number; 0 counts as larger than -0.
#[must_use]
pub(crate) fn max(x: f32, y: f32) -> f32 {
    -min(-x, -y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::float::F32_NAN;
    use crate::vector::{alu_op, default_mode};

    fn int(name: AluName, x: i32, y: i32) -> i32 {
        let op = alu_op(VectorStage::Clip, name, DType::I32).expect("an operation of the table");
        op.apply.eval(default_mode(2), x.cast_unsigned(), [y.cast_unsigned(), 0]).cast_signed()
    }

    fn float(name: AluName, x: f32, y: f32) -> Bits {
        let op = alu_op(VectorStage::Clip, name, DType::F32).expect("an operation of the table");
        op.apply.eval(default_mode(2), x.to_bits(), [y.to_bits(), 0])
    }

    #[test]
    fn integers_by_hand() {
        for (name, x, y, expected) in [
            (AluName::Min, -3, 2, -3),
            (AluName::Max, -3, 2, 2),
            (AluName::AbsMin, -3, 2, 2),
            (AluName::AbsMax, -3, 2, -3),
            (AluName::AbsMax, -3, 3, 3),
            (AluName::AbsMin, -3, 3, 3),
            (AluName::AbsMin, i32::MIN, 1, i32::MIN), // its magnitude wraps to itself, below every other
            (AluName::AbsMax, i32::MIN, 1, 1),
            (AluName::AddFxp, i32::MAX, 1, i32::MIN),
            (AluName::AddFxpSat, i32::MAX, 1, i32::MAX),
        ] {
            assert_eq!(int(name, x, y), expected, "{name} {x} {y}");
        }
    }

    #[test]
    fn floats_by_hand() {
        let nan = f32::NAN;
        for (name, x, y, expected) in [
            (AluName::Min, -3.0, 2.0, -3.0_f32),
            (AluName::Max, -3.0, 2.0, 2.0),
            (AluName::Max, nan, 2.0, 2.0),
            (AluName::Max, 2.0, nan, 2.0),
            (AluName::Min, nan, -2.0, -2.0),
            (AluName::Min, 0.0, -0.0, -0.0),
            (AluName::Min, -0.0, 0.0, -0.0),
            (AluName::Min, -0.0, -0.0, -0.0),
            (AluName::Min, 0.0, 0.0, 0.0),
            (AluName::Min, -3.0, -3.0, -3.0),
            (AluName::Max, 0.0, -0.0, 0.0),
            (AluName::Max, -0.0, 0.0, 0.0),
            (AluName::Max, -0.0, -0.0, -0.0),
            (AluName::Max, 0.0, 0.0, 0.0),
            (AluName::Max, -3.0, -3.0, -3.0),
            (AluName::AbsMin, -3.0, 2.0, 2.0),
            (AluName::AbsMin, 2.0, -3.0, 2.0),
            (AluName::AbsMin, -3.0, 3.0, 3.0),
            (AluName::AbsMax, -3.0, 2.0, -3.0),
            (AluName::AbsMax, -3.0, 3.0, 3.0),
            (AluName::AbsMax, nan, 3.0, 3.0),
            (AluName::Max, 1.0e-40, -1.0, 0.0), // a subnormal is zero
            (AluName::Add, 1.5, 2.25, 3.75),
        ] {
            assert_eq!(float(name, x, y), expected.to_bits(), "{name} {x} {y}");
        }
        for (name, x, y) in [
            (AluName::Max, nan, -nan),
            (AluName::AbsMin, 1.0, nan),
            (AluName::Add, f32::INFINITY, f32::NEG_INFINITY),
        ] {
            assert_eq!(float(name, x, y), F32_NAN, "{name} {x} {y}");
        }
    }
}
