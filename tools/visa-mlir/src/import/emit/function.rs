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

/// The least and the greatest number of an integer.
type Range = (i64, i64);

/// The value of a function for known numbers, before it is rounded to a kind.
#[derive(Clone, Copy)]
enum OfNumbers {
    /// The machine computes it.
    Machine,
    One(fn(f64) -> f64),
    Two(fn(f64, f64) -> f64),
}

/// The value of a function for known integers, where it is one of bits; `None` if the machine computes it.
type OfBits = fn(i64, i64) -> Option<i64>;

/// The results of a function for two integers with these ranges, without wrapping; `None` if there is no bound.
type Bounds = fn(Range, Range) -> Option<Range>;

/// Results of a function that are known before it runs.
#[derive(Clone, Copy)]
struct Law {
    numbers: OfNumbers,
    bits: OfBits,
    bounds: Bounds,
}

impl Law {
    /// Nothing is known before the function runs.
    const MACHINE: Self = Self { numbers: OfNumbers::Machine, bits: |_, _| None, bounds: |_, _| None };

    const fn one(of: fn(f64) -> f64) -> Self {
        Self { numbers: OfNumbers::One(of), ..Self::MACHINE }
    }

    const fn two(of: fn(f64, f64) -> f64, bounds: Bounds) -> Self {
        Self { numbers: OfNumbers::Two(of), bounds, ..Self::MACHINE }
    }

    const fn bits(bits: OfBits, bounds: Bounds) -> Self {
        Self { bits, bounds, ..Self::MACHINE }
    }
}

impl Function {
    fn law(self) -> Law {
        match self {
            Self::Add => Law::two(|x, y| x + y, |x, y| Some((x.0.checked_add(y.0)?, x.1.checked_add(y.1)?))),
            Self::Sub => Law::two(|x, y| x - y, |x, y| Some((x.0.checked_sub(y.1)?, x.1.checked_sub(y.0)?))),
            Self::Mul => Law::two(|x, y| x * y, products),
            Self::Div => Law::two(|x, y| x / y, |_, _| None),
            Self::Max => Law::two(f64::max, |x, y| Some((x.0.max(y.0), x.1.max(y.1)))),
            Self::Min => Law::two(f64::min, |x, y| Some((x.0.min(y.0), x.1.min(y.1)))),
            Self::Neg => Law::one(|x| -x),
            Self::Abs => Law::one(f64::abs),
            Self::Sqrt => Law::one(f64::sqrt),
            Self::And => {
                Law::bits(|x, y| Some(x & y), |x, y| (x.0 >= 0 && y.0 >= 0).then_some((0, x.1.min(y.1))))
            }
            Self::Or => Law::bits(|x, y| Some(x | y), digits_of_both),
            Self::Xor => Law::bits(|x, y| Some(x ^ y), digits_of_both),
            Self::Shl => Law::bits(
                |_, _| None,
                |x, y| {
                    let factor = 1 << shift(y).filter(|by| *by < 31)?;
                    Some((x.0.checked_mul(factor)?, x.1.checked_mul(factor)?))
                },
            ),
            Self::Ashr => Law::bits(
                |x, y| shift((y, y)).map(|by| x >> by),
                |x, y| shift(y).map(|by| (x.0 >> by, x.1 >> by)),
            ),
            Self::SubSat
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
            | Self::Fixed => Law::MACHINE,
        }
    }

    /// Its value for known numbers, before it is rounded to a kind; `None` if the machine computes it. It rounds as
    /// the machine does: `f64` has twice the digits.
    pub(crate) fn of_numbers(self, numbers: &[f64]) -> Option<f64> {
        match (self.law().numbers, numbers) {
            (OfNumbers::One(of), &[x]) => Some(of(x)),
            (OfNumbers::Two(of), &[x, y]) => Some(of(x, y)),
            (OfNumbers::Machine | OfNumbers::One(_) | OfNumbers::Two(_), _) => None,
        }
    }

    /// Its value for known integers, where it is one of bits.
    pub(crate) fn of_bits(self, numbers: &[f64]) -> Option<f64> {
        let &[x, y] = numbers else { return None };
        (self.law().bits)(x as i64, y as i64).map(|bits| bits as f64)
    }

    /// The least and the greatest result for integers with these ranges, without wrapping; `None` if there is none.
    pub(crate) fn bounds(self, ranges: &[Range]) -> Option<Range> {
        let &[x, y] = ranges else { return None };
        (self.law().bounds)(x, y)
    }
}

/// The bounds of a product.
fn products(x: Range, y: Range) -> Option<Range> {
    let ends = [(x.0, y.0), (x.0, y.1), (x.1, y.0), (x.1, y.1)];
    let ends = ends.into_iter().map(|(x, y)| x.checked_mul(y)).collect::<Option<Vec<_>>>()?;
    Some((*ends.iter().min()?, *ends.iter().max()?))
}

/// The bounds of bits that one of two natural numbers has.
fn digits_of_both(x: Range, y: Range) -> Option<Range> {
    let ones = |most: i64| (most.unsigned_abs() + 1).next_power_of_two() as i64 - 1;
    (x.0 >= 0 && y.0 >= 0).then(|| (0, ones(x.1.max(y.1))))
}

/// A known number of digits to shift by.
fn shift(range: Range) -> Option<i64> {
    Some(range.0).filter(|by| *by == range.1 && (0..32).contains(by))
}
