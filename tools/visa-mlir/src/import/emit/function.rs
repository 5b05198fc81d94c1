//! The functions of expressions that imported modules use.

use visa_ir::words;

words! {
    /// A function of an expression.
    pub(crate) enum Function {
        Add = "add",
        Sub = "sub",
        SubSat = "sub_sat",
        Mul = "mul",
        Div = "div",
        Neg = "neg",
        Abs = "abs",
        Max = "max",
        Min = "min",
        And = "and",
        Or = "or",
        Xor = "xor",
        Shl = "shl",
        Ashr = "ashr",
        Lshr = "lshr",
        Exp = "exp",
        Log = "log",
        Sqrt = "sqrt",
        Rsqrt = "rsqrt",
        Tanh = "tanh",
        Erf = "erf",
        Sin = "sin",
        Cos = "cos",
        Fma = "fma",
        Float = "float",
        Fixed = "fixed",
    }
}

impl Function {
    /// Its value for known numbers, before it is rounded to a kind; `None` if the machine computes it. It rounds as
    /// the machine does: `f64` has twice the digits.
    pub(crate) fn of_numbers(self, numbers: &[f64]) -> Option<f64> {
        let unary = |of: fn(f64) -> f64| <[f64; 1]>::try_from(numbers).ok().map(|[x]| of(x));
        let binary = |of: fn(f64, f64) -> f64| <[f64; 2]>::try_from(numbers).ok().map(|[x, y]| of(x, y));
        match self {
            Self::Add => binary(|x, y| x + y),
            Self::Sub => binary(|x, y| x - y),
            Self::Mul => binary(|x, y| x * y),
            Self::Div => binary(|x, y| x / y),
            Self::Max => binary(f64::max),
            Self::Min => binary(f64::min),
            Self::Neg => unary(|x| -x),
            Self::Abs => unary(f64::abs),
            Self::Sqrt => unary(f64::sqrt),
            Self::SubSat
            | Self::And
            | Self::Or
            | Self::Xor
            | Self::Shl
            | Self::Ashr
            | Self::Lshr
            | Self::Exp
            | Self::Log
            | Self::Rsqrt
            | Self::Tanh
            | Self::Erf
            | Self::Sin
            | Self::Cos
            | Self::Fma
            | Self::Float
            | Self::Fixed => None,
        }
    }

    /// Its value for known integers, where it is one of bits.
    pub(crate) fn of_bits(self, numbers: &[f64]) -> Option<f64> {
        let &[x, y] = numbers else { return None };
        let (x, y) = (x as i64, y as i64);
        match self {
            Self::And => Some((x & y) as f64),
            Self::Or => Some((x | y) as f64),
            Self::Xor => Some((x ^ y) as f64),
            Self::Ashr => u32::try_from(y).ok().filter(|by| *by < 32).map(|by| (x >> by) as f64),
            Self::Add
            | Self::Sub
            | Self::SubSat
            | Self::Mul
            | Self::Div
            | Self::Neg
            | Self::Abs
            | Self::Max
            | Self::Min
            | Self::Shl
            | Self::Lshr
            | Self::Exp
            | Self::Log
            | Self::Sqrt
            | Self::Rsqrt
            | Self::Tanh
            | Self::Erf
            | Self::Sin
            | Self::Cos
            | Self::Fma
            | Self::Float
            | Self::Fixed => None,
        }
    }

    /// The least and the greatest result for integers with these ranges, without wrapping; `None` if there is none.
    pub(crate) fn bounds(self, ranges: &[(i64, i64)]) -> Option<(i64, i64)> {
        let &[x, y] = ranges else { return None };
        let hull = |ends: [Option<i64>; 4]| {
            let ends = ends.into_iter().collect::<Option<Vec<_>>>()?;
            Some((*ends.iter().min()?, *ends.iter().max()?))
        };
        let natural = x.0 >= 0 && y.0 >= 0;
        // A shift by a known number of digits.
        let digits = Some(y.0).filter(|by| *by == y.1 && (0..32).contains(by));
        match self {
            Self::Add => Some((x.0.checked_add(y.0)?, x.1.checked_add(y.1)?)),
            Self::Sub => Some((x.0.checked_sub(y.1)?, x.1.checked_sub(y.0)?)),
            Self::Mul => {
                hull([x.0.checked_mul(y.0), x.0.checked_mul(y.1), x.1.checked_mul(y.0), x.1.checked_mul(y.1)])
            }
            Self::Max => Some((x.0.max(y.0), x.1.max(y.1))),
            Self::Min => Some((x.0.min(y.0), x.1.min(y.1))),
            Self::And => natural.then_some((0, x.1.min(y.1))),
            Self::Or | Self::Xor => {
                let ones = |most: i64| (most.unsigned_abs() + 1).next_power_of_two() as i64 - 1;
                natural.then(|| (0, ones(x.1.max(y.1))))
            }
            Self::Shl => {
                let factor = 1 << digits.filter(|by| *by < 31)?;
                Some((x.0.checked_mul(factor)?, x.1.checked_mul(factor)?))
            }
            Self::Ashr => digits.map(|by| (x.0 >> by, x.1 >> by)),
            Self::SubSat
            | Self::Div
            | Self::Neg
            | Self::Abs
            | Self::Lshr
            | Self::Exp
            | Self::Log
            | Self::Sqrt
            | Self::Rsqrt
            | Self::Tanh
            | Self::Erf
            | Self::Sin
            | Self::Cos
            | Self::Fma
            | Self::Float
            | Self::Fixed => None,
        }
    }
}
