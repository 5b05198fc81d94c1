//! The float stage and the division stage (book 21, docs/numerics.md).
//!
//! Operands and results have no subnormals and one NaN, as in all arithmetic on f32. A function is taken in 64
//! bits and rounded once to f32; how far the unit's own approximation is from that is not known.

use super::{Alu, AluName, AluOp, Apply, VectorStage};
use crate::bits::Bits;
use crate::dtype::DType;
use crate::float::{add, canonical, flush, mul};

/// The operations of the float stage, in the book's order.
pub(super) const OPS: &[AluOp] = &[
    unary(AluName::Exp, Alu::FpExp, "e^x", |x| function(x, libm::exp)),
    unary(AluName::NegExp, Alu::FpExp, "e^-x", |x| function(x, |x| libm::exp(-x))),
    unary(AluName::Sqrt, Alu::FpFpu, "the square root of x", |x| function(x, libm::sqrt)),
    unary(AluName::Tanh, Alu::FpFpu, "tanh x", |x| function(x, libm::tanh)),
    unary(AluName::Sigmoid, Alu::FpFpu, "1 / (1 + e^-x)", |x| function(x, |x| 1.0 / (1.0 + libm::exp(-x)))),
    unary(AluName::Erf, Alu::FpFpu, "the error function of x", |x| function(x, libm::erf)),
    unary(AluName::Log, Alu::FpFpu, "the natural logarithm of x", |x| function(x, libm::log)),
    unary(AluName::Sin, Alu::FpFpu, "sin x", |x| function(x, libm::sin)),
    unary(AluName::Cos, Alu::FpFpu, "cos x", |x| function(x, libm::cos)),
    binary(AluName::AddF, Alu::FpFma, "x + y", |x, y| of(x, y, add)),
    binary(AluName::SubF, Alu::FpFma, "x - y", |x, y| of(x, y, |x, y| add(x, -y))),
    binary(AluName::MulF0, Alu::FpMul0, "x * y", |x, y| of(x, y, mul)),
    binary(AluName::MulF1, Alu::FpMul1, "x * y", |x, y| of(x, y, mul)),
    binary(AluName::MulFma, Alu::FpFma, "x * y", |x, y| of(x, y, mul)),
    binary(AluName::MaskMulF0, Alu::FpMul0, "x * y; 0 if y is 0, for any x", |x, y| of(x, y, mask_mul)),
    binary(AluName::MaskMulF1, Alu::FpMul1, "x * y; 0 if y is 0, for any x", |x, y| of(x, y, mask_mul)),
    binary(AluName::DivF, Alu::FpFpu, "x / y", |x, y| of(x, y, div)),
    ternary(AluName::FmaF, "x * y + z, rounded once", fma),
    ternary(AluName::MaskFmaF, "x * y + z, rounded once; z if y is 0, for any x", mask_fma),
];

/// The operation of the division stage.
pub(super) const DIV: &[AluOp] = &[AluOp {
    stage: VectorStage::FpDiv,
    ..binary(AluName::DivF, Alu::FpDiv, "x / y", |x, y| of(x, y, div))
}];

const fn unary(name: AluName, alu: Alu, doc: &'static str, apply: fn(Bits) -> Bits) -> AluOp {
    let apply = Apply::Unary(apply);
    AluOp { name, stage: VectorStage::Float, alu, from: DType::F32, to: DType::F32, doc, apply }
}

const fn binary(name: AluName, alu: Alu, doc: &'static str, apply: fn(Bits, Bits) -> Bits) -> AluOp {
    let apply = Apply::Binary(apply);
    AluOp { name, stage: VectorStage::Float, alu, from: DType::F32, to: DType::F32, doc, apply }
}

const fn ternary(name: AluName, doc: &'static str, apply: fn(Bits, Bits, Bits) -> Bits) -> AluOp {
    let apply = Apply::Ternary(apply);
    AluOp { name, stage: VectorStage::Float, alu: Alu::FpFma, from: DType::F32, to: DType::F32, doc, apply }
}

fn argument(bits: Bits) -> f32 {
    flush(f32::from_bits(bits))
}

fn result(value: f32) -> Bits {
    canonical(flush(value)).to_bits()
}

fn function(x: Bits, apply: fn(f64) -> f64) -> Bits {
    result(apply(f64::from(argument(x))) as f32)
}

fn of(x: Bits, y: Bits, apply: fn(f32, f32) -> f32) -> Bits {
    result(apply(argument(x), argument(y)))
}

fn div(x: f32, y: f32) -> f32 {
    x / y
}

fn mask_mul(x: f32, y: f32) -> f32 {
    if y == 0.0 { 0.0 } else { mul(x, y) }
}

fn fma(x: Bits, y: Bits, z: Bits) -> Bits {
    result(argument(x).mul_add(argument(y), argument(z)))
}

fn mask_fma(x: Bits, y: Bits, z: Bits) -> Bits {
    if argument(y) == 0.0 { result(argument(z)) } else { fma(x, y, z) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges;
    use crate::float::F32_NAN;
    use crate::vector::{alu_op, default_mode};

    fn run(name: AluName, x: f32, y: f32, z: f32) -> f32 {
        let op = alu_op(VectorStage::Float, name, DType::F32).expect("an operation of the table");
        f32::from_bits(op.apply.eval(default_mode(op.apply.arity()), x.to_bits(), [y.to_bits(), z.to_bits()]))
    }

    #[test]
    fn arithmetic_by_hand() {
        for (name, x, y, z, expected) in [
            (AluName::AddF, 1.5, 2.0, 0.0, 3.5),
            (AluName::SubF, 1.5, 2.0, 0.0, -0.5),
            (AluName::MulF0, 1.5, -2.0, 0.0, -3.0),
            (AluName::MulF1, 1.5, -2.0, 0.0, -3.0),
            (AluName::MulFma, 1.5, -2.0, 0.0, -3.0),
            (AluName::DivF, 3.0, -2.0, 0.0, -1.5),
            (AluName::DivF, 1.0, 0.0, 0.0, f32::INFINITY),
            (AluName::FmaF, 3.0, 4.0, 5.0, 17.0),
            // (1 + 2^-12)^2 - 1 = 2^-11 + 2^-24: a product rounded by itself loses the last term.
            (AluName::FmaF, 1.000_244_1, 1.000_244_1, -1.0, 4.883_408_5e-4),
            (AluName::MaskMulF0, f32::NAN, 0.0, 0.0, 0.0),
            (AluName::MaskMulF1, f32::INFINITY, -0.0, 0.0, 0.0),
            (AluName::MaskMulF0, 3.0, 2.0, 0.0, 6.0),
            (AluName::MaskFmaF, f32::NAN, 0.0, 7.0, 7.0),
            (AluName::MaskFmaF, 3.0, 2.0, 1.0, 7.0),
        ] {
            assert_eq!(run(name, x, y, z), expected, "{name} {x} {y} {z}");
        }
        assert_eq!(run(AluName::DivF, 0.0, 0.0, 0.0).to_bits(), F32_NAN);
        assert_eq!(run(AluName::MulF0, f32::INFINITY, 0.0, 0.0).to_bits(), F32_NAN);
        // 2^-63 * 2^-64 is subnormal; so is an operand of 1e-40.
        assert_eq!(run(AluName::MulF0, 1.084_202_2e-19, 5.421_011e-20, 0.0).to_bits(), 0);
        assert_eq!(run(AluName::AddF, 1.0e-40, 0.0, 0.0).to_bits(), 0);
    }

    /// Values from tables, to the last digit of f32.
    #[test]
    #[expect(clippy::approx_constant, reason = "a constant of the library would be no table of our own")]
    fn functions_by_table() {
        for (name, x, expected) in [
            (AluName::Exp, 1.0, 2.718_281_8),
            (AluName::NegExp, 1.0, 0.367_879_44),
            (AluName::Sqrt, 2.0, 1.414_213_5),
            (AluName::Tanh, 0.5, 0.462_117_16),
            (AluName::Sigmoid, 1.0, 0.731_058_6),
            (AluName::Erf, 0.5, 0.520_499_9),
            (AluName::Log, 2.0, 0.693_147_2),
            (AluName::Sin, 1.0, 0.841_470_96),
            (AluName::Cos, 1.0, 0.540_302_3),
        ] {
            assert_eq!(run(name, x, 0.0, 0.0), expected, "{name} {x}");
        }
    }

    /// The vendor's model gives NaN from 2 pi on. The f32 nearest to 2 pi is 6.283185482025146, which is
    /// 1.7484556e-7 more, and the one before it 3.0199160e-7 less: the rest is the sine. The others are from
    /// tables.
    #[test]
    fn sine_and_cosine_are_defined_from_two_pi_on() {
        let two_pi = std::f32::consts::TAU;
        for (x, sine, cosine) in [
            (two_pi.next_down(), -3.019_916e-7, 1.0),
            (two_pi, 1.748_455_6e-7, 1.0),
            (-two_pi, -1.748_455_6e-7, 1.0),
            (7.0, 0.656_986_6, 0.753_902_25),
            (100.0, -0.506_365_65, 0.862_318_9),
            (1e5, 0.035_748_8, -0.999_360_8),
        ] {
            assert_eq!(run(AluName::Sin, x, 0.0, 0.0), sine, "{x}");
            assert_eq!(run(AluName::Cos, x, 0.0, 0.0), cosine, "{x}");
        }
    }

    #[test]
    fn functions_at_the_edges() {
        for (name, x, expected) in [
            (AluName::Exp, 89.0, f32::INFINITY),
            (AluName::Exp, -88.0, 0.0), // 6.05e-39 is subnormal
            (AluName::Exp, f32::NEG_INFINITY, 0.0),
            (AluName::NegExp, -89.0, f32::INFINITY),
            (AluName::Sqrt, -0.0, -0.0),
            (AluName::Sqrt, -1.0e-40, -0.0),
            (AluName::Log, 0.0, f32::NEG_INFINITY),
            (AluName::Log, 1.0e-40, f32::NEG_INFINITY),
            (AluName::Tanh, 100.0, 1.0),
            (AluName::Sigmoid, -200.0, 0.0),
            (AluName::Sigmoid, 200.0, 1.0),
            (AluName::Erf, f32::NEG_INFINITY, -1.0),
        ] {
            assert_eq!(run(name, x, 0.0, 0.0).to_bits(), expected.to_bits(), "{name} {x}");
        }
        for (name, x) in [
            (AluName::Sqrt, -1.0),
            (AluName::Log, -1.0),
            (AluName::Sin, f32::INFINITY),
            (AluName::Cos, f32::NEG_INFINITY),
            (AluName::Exp, -f32::NAN),
        ] {
            assert_eq!(run(name, x, 0.0, 0.0).to_bits(), F32_NAN, "{name} {x}");
        }
    }

    /// The platform's own 64-bit functions are an implementation written differently.
    #[test]
    fn functions_agree_with_the_platform() {
        type Oracle = (AluName, fn(f64) -> f64);
        let oracle: [Oracle; 8] = [
            (AluName::Exp, f64::exp),
            (AluName::NegExp, |x| (-x).exp()),
            (AluName::Sqrt, f64::sqrt),
            (AluName::Tanh, f64::tanh),
            (AluName::Sigmoid, |x| 0.5 + 0.5 * (x / 2.0).tanh()),
            (AluName::Log, f64::ln),
            (AluName::Sin, f64::sin),
            (AluName::Cos, f64::cos),
        ];
        let sweep = (0..200_000_u32).map(|at| at.wrapping_mul(21_493));
        for bits in edges::F32.into_iter().chain(sweep) {
            let x = f32::from_bits(bits);
            for (name, expected) in oracle {
                let (found, expected) =
                    (run(name, x, 0.0, 0.0), result(expected(f64::from(argument(bits))) as f32));
                // Where 0.5 + 0.5 tanh cancels, the oracle is the coarser one.
                if name == AluName::Sigmoid && x < -8.0 {
                    continue;
                }
                assert_eq!(found.to_bits(), expected, "{name} {x}");
            }
        }
    }
}
