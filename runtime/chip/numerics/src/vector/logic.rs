//! The logic stage: bits of any format (book 21).

use super::fixed::{arith_right_shift, left_shift, logic_right_shift};
use super::{Alu, AluName, AluOp, Apply, VectorStage};
use crate::bits::Bits;
use crate::dtype::DType;

/// Its operations, in the book's order. Shift amounts read as in the fixed-point stage.
pub(super) const OPS: &[AluOp] = &[
    row(AluName::BitAnd, Alu::LogicAnd, DType::I32, "the bits that both have", |x, y| x & y),
    row(AluName::BitOr, Alu::LogicOr, DType::I32, "the bits that either has", |x, y| x | y),
    row(AluName::BitXor, Alu::LogicXor, DType::I32, "the bits that one of the two has", |x, y| x ^ y),
    row(AluName::LeftShift, Alu::LogicLshift, DType::I32, "x * 2^y, the low 32 bits of it", left_shift),
    row(
        AluName::LogicRightShift,
        Alu::LogicRshift,
        DType::I32,
        "x / 2^y of the unsigned x, rounded down",
        logic_right_shift,
    ),
    row(AluName::ArithRightShift, Alu::LogicRshift, DType::I32, "x / 2^y, rounded down", arith_right_shift),
    row(AluName::BitAnd, Alu::LogicAnd, DType::F32, "the bits that both have", |x, y| x & y),
    row(AluName::BitOr, Alu::LogicOr, DType::F32, "the bits that either has", |x, y| x | y),
    row(AluName::BitXor, Alu::LogicXor, DType::F32, "the bits that one of the two has", |x, y| x ^ y),
];

const fn row(
    name: AluName,
    alu: Alu,
    dtype: DType,
    doc: &'static str,
    apply: fn(Bits, Bits) -> Bits,
) -> AluOp {
    AluOp { name, stage: VectorStage::Logic, alu, from: dtype, to: dtype, doc, apply: Apply::Binary(apply) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{ArgMode, alu_op};

    fn run(name: AluName, dtype: DType, x: Bits, y: Bits) -> Bits {
        let op = alu_op(VectorStage::Logic, name, dtype).expect("an operation of the table");
        op.apply.eval(ArgMode::Mode01, x, [y, 0])
    }

    #[test]
    fn bits_by_hand() {
        for dtype in [DType::I32, DType::F32] {
            assert_eq!(run(AluName::BitAnd, dtype, 0xff00_ff00, 0x0ff0_0ff0), 0x0f00_0f00);
            assert_eq!(run(AluName::BitOr, dtype, 0xff00_ff00, 0x0ff0_0ff0), 0xfff0_fff0);
            assert_eq!(run(AluName::BitXor, dtype, 0xff00_ff00, 0x0ff0_0ff0), 0xf0f0_f0f0);
        }
        // |-2.5| by clearing the sign; a subnormal is bits like any other.
        let abs = run(AluName::BitAnd, DType::F32, (-2.5_f32).to_bits(), 0x7fff_ffff);
        assert_eq!(f32::from_bits(abs), 2.5);
        assert_eq!(run(AluName::BitOr, DType::F32, 1, 2), 3);
    }

    #[test]
    fn shifts_by_hand() {
        for (name, x, y, expected) in [
            (AluName::LeftShift, 0x8000_0001, 1, 2),
            (AluName::LeftShift, 1, 32, 0),
            (AluName::LogicRightShift, 0x8000_0000, 31, 1),
            (AluName::LogicRightShift, 0x8000_0000, 32, 0),
            (AluName::ArithRightShift, 0x8000_0000, 31, u32::MAX),
            (AluName::ArithRightShift, 0x8000_0000, 99, u32::MAX),
            (AluName::ArithRightShift, 0x7fff_ffff, 31, 0),
        ] {
            assert_eq!(run(name, DType::I32, x, y), expected, "{name} {x:#x} {y}");
        }
    }
}
