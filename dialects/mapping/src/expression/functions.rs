//! The functions of an expression that the vector engine's ALUs compute, a row each.

use visa_numerics::{AluName, AluOp, Bits, DType, alu_ops, default_mode};

/// A function that some ALU computes.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Function {
    /// Its name in expressions.
    pub name: &'static str,
    /// Number of its arguments.
    pub arity: usize,
    /// The operations of the vector engine that compute it, each for its formats. Those of one
    /// format give the same bits.
    pub operations: &'static [AluName],
    /// Dependence of its value on its arguments.
    pub shape: Shape,
}

/// Dependence of a function's value on its arguments, as bounds of it need to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shape {
    /// `x + y`.
    Sum,
    /// `x - y`.
    Difference,
    /// `x * y`.
    Product,
    /// `x / y`.
    Quotient,
    /// `x * y + z`.
    Fused,
    /// `1 / (exp(-x) + 1)`.
    Sigmoid,
    /// It rises or falls in each argument, the others held: its extremes are at the ends of their ranges.
    Monotone,
    /// None of these.
    Other,
}

/// Every function of an ALU. `+`, `-`, `*` and `/` are the first four.
pub static FUNCTIONS: &[Function] = &[
    row("add", 2, &[AluName::AddF, AluName::Add, AluName::AddFxp], Shape::Sum),
    row("sub", 2, &[AluName::SubF, AluName::SubFxp], Shape::Difference),
    row("mul", 2, &[AluName::MulF0, AluName::MulF1, AluName::MulInt], Shape::Product),
    row("div", 2, &[AluName::DivF], Shape::Quotient),
    row("fused_mul", 2, &[AluName::MulFma], Shape::Other),
    row("fma", 3, &[AluName::FmaF], Shape::Fused),
    row("mask_mul", 2, &[AluName::MaskMulF0, AluName::MaskMulF1], Shape::Other),
    row("mask_fma", 3, &[AluName::MaskFmaF], Shape::Other),
    row("exp", 1, &[AluName::Exp], Shape::Monotone),
    row("negexp", 1, &[AluName::NegExp], Shape::Monotone),
    row("sqrt", 1, &[AluName::Sqrt], Shape::Monotone),
    row("tanh", 1, &[AluName::Tanh], Shape::Monotone),
    row("sigmoid", 1, &[AluName::Sigmoid], Shape::Sigmoid),
    row("erf", 1, &[AluName::Erf], Shape::Monotone),
    row("log", 1, &[AluName::Log], Shape::Monotone),
    row("sin", 1, &[AluName::Sin], Shape::Other),
    row("cos", 1, &[AluName::Cos], Shape::Other),
    row("min", 2, &[AluName::Min], Shape::Monotone),
    row("max", 2, &[AluName::Max], Shape::Monotone),
    row("abs_min", 2, &[AluName::AbsMin], Shape::Other),
    row("abs_max", 2, &[AluName::AbsMax], Shape::Other),
    row("and", 2, &[AluName::BitAnd], Shape::Other),
    row("or", 2, &[AluName::BitOr], Shape::Other),
    row("xor", 2, &[AluName::BitXor], Shape::Other),
    row("shl", 2, &[AluName::LeftShift], Shape::Other),
    row("shl_sat", 2, &[AluName::LeftShiftSat], Shape::Other),
    row("lshr", 2, &[AluName::LogicRightShift], Shape::Other),
    row("ashr", 2, &[AluName::ArithRightShift], Shape::Other),
    row("ashr_round", 2, &[AluName::ArithRightShiftRound], Shape::Other),
    row("add_sat", 2, &[AluName::AddFxpSat], Shape::Monotone),
    row("sub_sat", 2, &[AluName::SubFxpSat], Shape::Monotone),
    row("mul_fxp", 2, &[AluName::MulFxp], Shape::Other),
    row("float", 2, &[AluName::FxpToFp], Shape::Monotone),
    row("fixed", 2, &[AluName::FpToFxp], Shape::Monotone),
];

const fn row(name: &'static str, arity: usize, operations: &'static [AluName], shape: Shape) -> Function {
    Function { name, arity, operations, shape }
}

impl Function {
    /// The function called `name`.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        FUNCTIONS.iter().find(|function| function.name == name)
    }

    /// The operations that compute it for arguments of `dtype`, in the order of the pipeline.
    pub fn rows(&self, dtype: DType) -> impl Iterator<Item = &'static AluOp> + '_ {
        alu_ops().filter(move |op| op.from == dtype && self.operations.contains(&op.name))
    }

    /// Its value for arguments of the format `dtype`; `None` if it does not take that, or another number of them.
    #[must_use]
    pub fn apply(&self, dtype: DType, args: &[Bits]) -> Option<Bits> {
        let row = self.rows(dtype).next()?;
        let mut ports = [0; 3];
        if args.len() != self.arity {
            return None;
        }
        ports.get_mut(..self.arity)?.copy_from_slice(args);
        let [stream, others @ ..] = ports;
        Some(row.apply.eval(default_mode(row.apply.arity()), stream, others))
    }

    /// The formats that it takes.
    #[must_use]
    pub fn formats(&self) -> Vec<DType> {
        [DType::I32, DType::F32].into_iter().filter(|&dtype| self.rows(dtype).next().is_some()).collect()
    }

    /// Returns true if its second argument is an integer width, a number from 0 to 31.
    #[must_use]
    pub fn is_conversion(&self) -> bool {
        matches!(self.name, "float" | "fixed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two conversions apart, every operation of the engine is some function's, and no other.
    #[test]
    fn every_operation_is_a_function() {
        for op in alu_ops() {
            let of: Vec<_> =
                FUNCTIONS.iter().filter(|function| function.operations.contains(&op.name)).collect();
            assert_eq!(of.len(), 1, "{}", op.name);
            assert_eq!(of[0].arity, op.apply.arity(), "{}", op.name);
        }
    }

    /// A planner may take any of the operations of a function: they give the same bits.
    #[test]
    fn operations_of_a_function_agree() {
        let edges = [1, 2, 31, 32].into_iter().chain(visa_numerics::edges::F32);
        let sweep = (0..400_u32).map(|at| at.wrapping_mul(0x9e37_79b9));
        let values: Vec<u32> = edges.chain(sweep).collect();
        for function in FUNCTIONS {
            for dtype in function.formats() {
                let rows: Vec<_> = function.rows(dtype).collect();
                for (&x, &y) in values.iter().flat_map(|x| values.iter().map(move |y| (x, y))) {
                    let of = |op: &AluOp| op.apply.eval(default_mode(op.apply.arity()), x, [y, x ^ y]);
                    let first = of(rows[0]);
                    assert!(rows.iter().all(|op| of(op) == first), "{} {dtype} {x:#x} {y:#x}", function.name);
                }
            }
        }
    }
}
