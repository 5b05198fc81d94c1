//! The fixed-point stage: integers of 32 bits (book 21).

use super::{Alu, AluName, AluOp, Apply, VectorStage};
use crate::bits::Bits;
use crate::dtype::DType;

/// Its operations, in the book's order.
///
/// A shift amount is the operand read as an unsigned number. From 32 on (a negative amount is one of these) the shift
/// behaves as in unbounded arithmetic: every bit leaves, and the sign, the clamp or the rounding remains.
pub(super) const OPS: &[AluOp] = &[
    row(AluName::AddFxp, Alu::FxpAdd, "x + y, wrapping", add),
    row(AluName::AddFxpSat, Alu::FxpAdd, "x + y, saturating", add_sat),
    row(AluName::SubFxp, Alu::FxpAdd, "x - y, wrapping", |x, y| x.wrapping_sub(y)),
    row(AluName::SubFxpSat, Alu::FxpAdd, "x - y, saturating", |x, y| i32_op(x, y, i32::saturating_sub)),
    row(AluName::LeftShift, Alu::FxpLshift, "x * 2^y, the low 32 bits of it", left_shift),
    row(AluName::LeftShiftSat, Alu::FxpLshift, "x * 2^y, saturating", left_shift_sat),
    row(AluName::MulFxp, Alu::FxpMul, "x * y / 2^31, to nearest, ties up; MIN * MIN gives MAX", mul_fxp),
    row(AluName::MulInt, Alu::FxpMul, "x * y, wrapping", |x, y| x.wrapping_mul(y)),
    row(
        AluName::LogicRightShift,
        Alu::FxpRshift,
        "x / 2^y of the unsigned x, rounded down",
        logic_right_shift,
    ),
    row(AluName::ArithRightShift, Alu::FxpRshift, "x / 2^y, rounded down", arith_right_shift),
    row(
        AluName::ArithRightShiftRound,
        Alu::FxpRshift,
        "x / 2^y, to nearest, ties away from zero",
        arith_right_shift_round,
    ),
];

/// A row of the stage, whose operations all work on i32.
const fn row(name: AluName, alu: Alu, doc: &'static str, apply: fn(Bits, Bits) -> Bits) -> AluOp {
    let apply = Apply::Binary(apply);
    AluOp { name, stage: VectorStage::Fxp, alu, from: DType::I32, to: DType::I32, doc, apply }
}

pub(super) fn add(x: Bits, y: Bits) -> Bits {
    x.wrapping_add(y)
}

pub(super) fn add_sat(x: Bits, y: Bits) -> Bits {
    i32_op(x, y, i32::saturating_add)
}

pub(super) fn left_shift(x: Bits, amount: Bits) -> Bits {
    x.checked_shl(amount).unwrap_or(0)
}

pub(super) fn logic_right_shift(x: Bits, amount: Bits) -> Bits {
    x.checked_shr(amount).unwrap_or(0)
}

pub(super) fn arith_right_shift(x: Bits, amount: Bits) -> Bits {
    (x.cast_signed() >> amount.min(31)).cast_unsigned()
}

pub(super) fn i32_op(x: Bits, y: Bits, op: fn(i32, i32) -> i32) -> Bits {
    op(x.cast_signed(), y.cast_signed()).cast_unsigned()
}

fn clamp_to_i32(x: i64) -> Bits {
    (x.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32).cast_unsigned()
}

fn left_shift_sat(x: Bits, amount: Bits) -> Bits {
    // 32 places take any number but zero out of range, and i64 still holds the result.
    clamp_to_i32(i64::from(x.cast_signed()) << amount.min(32))
}

fn mul_fxp(x: Bits, y: Bits) -> Bits {
    let product = i64::from(x.cast_signed()) * i64::from(y.cast_signed());
    // Only MIN * MIN needs the clamp.
    clamp_to_i32(((product >> 30) + 1) >> 1)
}

fn arith_right_shift_round(x: Bits, amount: Bits) -> Bits {
    // By 33 places every magnitude is below one half.
    let amount = amount.min(33);
    let x = i64::from(x.cast_signed());
    let half = (1_i64 << amount) >> 1;
    let magnitude = (x.abs() + half) >> amount;
    clamp_to_i32(magnitude * x.signum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{alu_op, default_mode};

    const MIN: i32 = i32::MIN;
    const MAX: i32 = i32::MAX;

    /// Values around every change of behaviour, as elements and as shift amounts.
    const INTERESTING: [i32; 33] = [
        0,
        1,
        -1,
        2,
        -2,
        3,
        -3,
        5,
        -5,
        6,
        7,
        -7,
        8,
        30,
        31,
        32,
        33,
        34,
        63,
        64,
        65,
        -32,
        255,
        256,
        0x5555_5555,
        -0x5555_5555,
        1 << 30,
        -(1 << 30),
        (1 << 30) - 1,
        MAX,
        MAX - 1,
        MIN,
        MIN + 1,
    ];

    fn run(name: AluName, x: i32, y: i32) -> i32 {
        let op = alu_op(VectorStage::Fxp, name, DType::I32).expect("an operation of the table");
        op.apply.eval(default_mode(2), x.cast_unsigned(), [y.cast_unsigned(), 0]).cast_signed()
    }

    /// Book 21's table of the fixed-point stage.
    #[test]
    fn operations_and_their_alus() {
        let rows: Vec<_> = OPS.iter().map(|op| (op.name, op.alu.to_string())).collect();
        let expected = [
            (AluName::AddFxp, "FxpAdd"),
            (AluName::AddFxpSat, "FxpAdd"),
            (AluName::SubFxp, "FxpAdd"),
            (AluName::SubFxpSat, "FxpAdd"),
            (AluName::LeftShift, "FxpLshift"),
            (AluName::LeftShiftSat, "FxpLshift"),
            (AluName::MulFxp, "FxpMul"),
            (AluName::MulInt, "FxpMul"),
            (AluName::LogicRightShift, "FxpRshift"),
            (AluName::ArithRightShift, "FxpRshift"),
            (AluName::ArithRightShiftRound, "FxpRshift"),
        ];
        assert_eq!(rows, expected.map(|(name, alu)| (name, alu.to_owned())));
        assert!(OPS.iter().all(|op| op.from == DType::I32 && op.to == DType::I32));
    }

    #[test]
    fn sums_and_products_by_hand() {
        for (name, x, y, expected) in [
            (AluName::AddFxp, MAX, 1, MIN),
            (AluName::AddFxpSat, MAX, 1, MAX),
            (AluName::AddFxpSat, MIN, -1, MIN),
            (AluName::SubFxp, 3, 5, -2),
            (AluName::SubFxp, MIN, 1, MAX),
            (AluName::SubFxpSat, MIN, 1, MIN),
            (AluName::SubFxpSat, 0, MIN, MAX),
            (AluName::MulInt, 65536, 65536, 0),
            (AluName::MulInt, -3, 7, -21),
            (AluName::MulFxp, MIN, MIN, MAX),
            (AluName::MulFxp, 1 << 30, 1 << 30, 1 << 29), // 0.5 * 0.5 = 0.25
            (AluName::MulFxp, MIN, 5, -5),                // -1 * 5
            (AluName::MulFxp, 1 << 30, 1, 1),             // half a unit: up
            (AluName::MulFxp, 1 << 30, -1, 0),            // minus half a unit: up
            (AluName::MulFxp, 1 << 30, 3, 2),             // 1.5: up
            (AluName::MulFxp, 1 << 30, -3, -1),           // -1.5: up
        ] {
            assert_eq!(run(name, x, y), expected, "{name} {x} {y}");
        }
    }

    #[test]
    fn shifts_by_hand() {
        for (name, x, y, expected) in [
            (AluName::LeftShift, 3, 31, MIN),
            (AluName::LeftShift, 3, 32, 0),
            (AluName::LeftShift, 3, -1, 0),
            (AluName::LeftShiftSat, 1, 30, 1 << 30),
            (AluName::LeftShiftSat, 1, 31, MAX),
            (AluName::LeftShiftSat, -1, 31, MIN),
            (AluName::LeftShiftSat, -1, 32, MIN),
            (AluName::LeftShiftSat, 0, 99, 0),
            (AluName::LeftShiftSat, 7, -1, MAX),
            (AluName::LogicRightShift, -1, 31, 1),
            (AluName::LogicRightShift, -1, 32, 0),
            (AluName::ArithRightShift, -5, 1, -3),
            (AluName::ArithRightShift, -5, 31, -1),
            (AluName::ArithRightShift, -5, 32, -1),
            (AluName::ArithRightShift, 5, -1, 0),
            (AluName::ArithRightShiftRound, 5, 0, 5),
            (AluName::ArithRightShiftRound, MIN, 0, MIN),
            (AluName::ArithRightShiftRound, 5, 1, 3),
            (AluName::ArithRightShiftRound, -5, 1, -3),
            (AluName::ArithRightShiftRound, 5, 2, 1),
            (AluName::ArithRightShiftRound, 6, 2, 2),
            (AluName::ArithRightShiftRound, -7, 2, -2),
            (AluName::ArithRightShiftRound, 1 << 30, 31, 1),
            (AluName::ArithRightShiftRound, (1 << 30) - 1, 31, 0),
            (AluName::ArithRightShiftRound, MIN, 32, -1), // minus one half
            (AluName::ArithRightShiftRound, MIN + 1, 32, 0),
            (AluName::ArithRightShiftRound, MIN, 33, 0),
            (AluName::ArithRightShiftRound, MIN, -1, 0),
        ] {
            assert_eq!(run(name, x, y), expected, "{name} {x} {y}");
        }
    }

    /// The same meanings in i128, by division and remainder instead of shifts.
    fn oracle(name: AluName, x: i32, y: i32) -> i32 {
        let wrap = |v: i128| v.rem_euclid(1 << 32) as u32 as i32;
        let clamp = |v: i128| v.clamp(i128::from(MIN), i128::from(MAX)) as i32;
        let (a, b) = (i128::from(x), i128::from(y));
        // Past 64 places nothing changes any more.
        let power = 1_i128 << (y as u32).min(64);
        match name {
            AluName::AddFxp => wrap(a + b),
            AluName::AddFxpSat => clamp(a + b),
            AluName::SubFxp => wrap(a - b),
            AluName::SubFxpSat => clamp(a - b),
            AluName::LeftShift => wrap(a * power),
            AluName::LeftShiftSat => clamp(a * power),
            AluName::MulFxp => clamp((2 * a * b + (1 << 31)).div_euclid(1 << 32)),
            AluName::MulInt => wrap(a * b),
            AluName::LogicRightShift => wrap(i128::from(x as u32) / power),
            AluName::ArithRightShift => wrap(a.div_euclid(power)),
            AluName::ArithRightShiftRound => {
                let away = i128::from(2 * (a % power).abs() >= power);
                wrap(a / power + away * a.signum())
            }
            other => panic!("no oracle for {other}"),
        }
    }

    #[test]
    fn operations_agree_with_wide_arithmetic() {
        for op in OPS {
            for x in INTERESTING {
                for y in INTERESTING {
                    assert_eq!(run(op.name, x, y), oracle(op.name, x, y), "{} {x} {y}", op.name);
                }
            }
        }
    }
}
