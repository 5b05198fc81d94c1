//! The possible values of an expression when `fast` lets its operations round differently, or its operands are not
//! known to the last bit (docs/numerics.md, fast expressions).

use super::dag::{Dag, NodeKind};
use super::functions::{Function, Shape};
use visa_numerics::{Bits, DType, to_f64};

/// The unit roundoff of f32: half the distance from 1 to the next number.
const ROUNDOFF: f64 = 1.0 / (1u64 << 24) as f64;

/// The least normal number of f32: less than that is lost where a result is flushed.
const LEAST_NORMAL: f64 = f32::MIN_POSITIVE as f64;

/// The least and the greatest number that a value may be, as patterns of its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The least.
    pub low: Bits,
    /// The greatest.
    pub high: Bits,
}

impl Range {
    /// One value of any kind.
    #[must_use]
    pub const fn exactly(bits: Bits) -> Self {
        Self { low: bits, high: bits }
    }

    /// Every value of `dtype`, i32 or f32: no bound is known.
    #[must_use]
    pub const fn anything(dtype: DType) -> Self {
        match dtype.range() {
            Some((least, greatest)) => Self { low: least.cast_unsigned(), high: greatest.cast_unsigned() },
            None => Self { low: f32::NEG_INFINITY.to_bits(), high: f32::INFINITY.to_bits() },
        }
    }

    /// Returns true if it is one value.
    #[must_use]
    pub fn is_exact(self) -> bool {
        self.low == self.high
    }

    /// From the least to the greatest of `values`; anything if one is no number.
    #[must_use]
    pub fn hull(dtype: DType, values: impl IntoIterator<Item = Bits>) -> Self {
        let number = |bits| to_f64(dtype, bits);
        let mut values = values.into_iter();
        let Some(first) = values.next().filter(|&first| !number(first).is_nan()) else {
            return Self::anything(dtype);
        };
        let mut hull = Self::exactly(first);
        for bits in values {
            if number(bits).is_nan() {
                return Self::anything(dtype);
            }
            if number(bits) < number(hull.low) {
                hull.low = bits;
            }
            if number(bits) > number(hull.high) {
                hull.high = bits;
            }
        }
        hull
    }

    /// From `low` to `high`, rounded outwards.
    fn around(low: f64, high: f64) -> Self {
        let (below, above) = (low as f32, high as f32);
        let below = if f64::from(below) > low { below.next_down() } else { below };
        let above = if f64::from(above) < high { above.next_up() } else { above };
        Self { low: below.to_bits(), high: above.to_bits() }
    }
}

/// Sums, products and quotients of numbers, in any order and grouping.
#[derive(Clone, Copy, Debug)]
struct Regrouped {
    /// Bounds of their exact value.
    low: f64,
    high: f64,
    /// The same of the absolute values, each difference a sum: no rounding loses more than its part of this.
    magnitude: f64,
    /// No number on the way is greater in any grouping, and none that divides is less than its reciprocal.
    most: f64,
    /// Most roundings between an input number and the result.
    roundings: f64,
}

impl Regrouped {
    /// A number that goes in, `roundings` from the one that it stands for; `None` where it is infinite or none.
    fn leaf(range: Range, roundings: f64) -> Option<Self> {
        let [low, high] = [range.low, range.high].map(|bits| f64::from(f32::from_bits(bits)));
        let magnitude = low.abs().max(high.abs());
        let known = low.is_finite() && high.is_finite();
        known.then_some(Self { low, high, magnitude, most: magnitude.max(1.0), roundings })
    }

    fn plus(self, other: Self) -> Self {
        Self {
            low: self.low + other.low,
            high: self.high + other.high,
            magnitude: self.magnitude + other.magnitude,
            most: self.most + other.most,
            roundings: self.roundings + other.roundings + 1.0,
        }
    }

    fn negated(self) -> Self {
        Self { low: -self.high, high: -self.low, ..self }
    }

    fn times(self, other: Self) -> Self {
        let corners =
            [self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high];
        Self {
            low: corners.into_iter().fold(f64::INFINITY, f64::min),
            high: corners.into_iter().fold(f64::NEG_INFINITY, f64::max),
            magnitude: self.magnitude * other.magnitude,
            most: self.most * other.most,
            roundings: self.roundings + other.roundings + 1.0,
        }
    }

    /// The quotient by a number that is known up to its range. A quotient may become a product with a rounded
    /// reciprocal, two quotients one by a product: two roundings each.
    fn over(self, divisor: Range) -> Option<Self> {
        let divisor = Self::leaf(divisor, 0.0).filter(|divisor| divisor.low > 0.0 || divisor.high < 0.0)?;
        let least = divisor.low.abs().min(divisor.high.abs());
        let reciprocal = Self {
            low: 1.0 / divisor.high,
            high: 1.0 / divisor.low,
            magnitude: 1.0 / least,
            most: divisor.most * (1.0 / least).max(1.0),
            roundings: 1.0,
        };
        Some(self.times(reciprocal))
    }

    /// The possible results of the machine. Each of n roundings changes its operand by a factor of 1 + d, |d| at most
    /// the unit roundoff u, so that the result is off by at most n u / (1 - n u) of the magnitude; a flush takes less
    /// than the least normal number, which a later factor may raise. One rounding more stands for those of this
    /// computation, which is in f64.
    fn range(self) -> Range {
        let n = self.roundings + 1.0;
        if !(self.most < 1.0 / LEAST_NORMAL && n * ROUNDOFF < 1.0) {
            return Range::anything(DType::F32);
        }
        let relative = n * ROUNDOFF / (1.0 - n * ROUNDOFF);
        let error = relative * self.magnitude + n * LEAST_NORMAL * self.most;
        Range::around(self.low - error, self.high + error)
    }
}

/// The known part of an expression's node.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// A value of the machine.
    Value(Range),
    /// A value that may be regrouped with its user; and its range if it is not, which is that of one operation.
    Open(Regrouped, Option<Range>),
}

impl Part {
    fn range(self) -> Range {
        match self {
            Self::Value(range) => range,
            Self::Open(_, Some(alone)) => alone,
            Self::Open(regrouped, None) => regrouped.range(),
        }
    }
}

impl Dag {
    /// The range of the result for one element of each operand. It includes the result of the expression as written,
    /// and with `fast` the result of any rewriting by the fast rules of plan-vector.
    ///
    /// # Panics
    /// If there are fewer operands than the expression names: the verifier refuses that.
    #[must_use]
    pub fn range(&self, operands: &[Range], fast: bool) -> Range {
        let mut parts: Vec<Part> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let part = match &node.kind {
                NodeKind::Operand(at) => Part::Value(operands[*at]),
                NodeKind::Number(bits) => Part::Value(Range::exactly(*bits)),
                NodeKind::Apply(function, args) => {
                    let dtype = args.first().map_or(node.dtype, |&at| self.nodes[at].dtype);
                    let regrouped = fast && dtype == DType::F32 && node.dtype == DType::F32;
                    let regrouped = regrouped.then(|| self.regrouped(function, args, &parts)).flatten();
                    regrouped.unwrap_or_else(|| {
                        let args: Vec<Range> = args.iter().map(|&at| parts[at].range()).collect();
                        Part::Value(function.range((dtype, node.dtype), &args))
                    })
                }
            };
            parts.push(part);
        }
        parts[self.root].range()
    }

    /// A sum, product or quotient of f32, and the operations that the fast rules treat as one; `None` for others.
    fn regrouped(&self, function: &'static Function, args: &[usize], parts: &[Part]) -> Option<Part> {
        // A function's value is one rounding from the expression that it stands for: rules exchange 1 / (exp(-x) + 1)
        // and sigmoid(x).
        let open = |at: usize| match parts[at] {
            Part::Open(regrouped, _) => Some(regrouped),
            Part::Value(range) => {
                let rounded = matches!(self.nodes[at].kind, NodeKind::Apply(..));
                Regrouped::leaf(range, f64::from(u8::from(rounded)))
            }
        };
        let unknown = Part::Value(Range::anything(DType::F32));
        let regrouped = match (function.shape, args) {
            (Shape::Sum, &[x, y]) => open(x).zip(open(y)).map(|(x, y)| x.plus(y)),
            (Shape::Difference, &[x, y]) => open(x).zip(open(y)).map(|(x, y)| x.plus(y.negated())),
            (Shape::Product, &[x, y]) => open(x).zip(open(y)).map(|(x, y)| x.times(y)),
            (Shape::Fused, &[x, y, z]) => {
                open(x).zip(open(y)).zip(open(z)).map(|((x, y), z)| x.times(y).plus(z))
            }
            (Shape::Quotient, &[x, y]) => {
                let divisor = match parts[y] {
                    Part::Open(regrouped, _) => regrouped.range(),
                    Part::Value(range) => range,
                };
                open(x).and_then(|x| x.over(divisor))
            }
            (Shape::Sigmoid, &[x]) => {
                // exp, sum and quotient, or the function.
                let value = function.range((DType::F32, DType::F32), &[parts[x].range()]);
                Regrouped::leaf(value, 4.0)
            }
            (
                Shape::Sum
                | Shape::Difference
                | Shape::Product
                | Shape::Fused
                | Shape::Quotient
                | Shape::Sigmoid
                | Shape::Monotone
                | Shape::Other,
                _,
            ) => return None,
        };
        let Some(regrouped) = regrouped else { return Some(unknown) };
        let plain = matches!(function.shape, Shape::Sum | Shape::Difference | Shape::Product);
        let values = args.iter().map(|&at| match parts[at] {
            Part::Value(range) => Some(range),
            Part::Open(..) => None,
        });
        let values = values.collect::<Option<Vec<Range>>>().filter(|_| plain);
        let alone = values.map(|values| function.range((DType::F32, DType::F32), &values));
        Some(Part::Open(regrouped, alone))
    }
}

impl Function {
    /// Its value for arguments of the format `from` that are known up to their ranges, in the format `to`.
    fn range(&self, (from, to): (DType, DType), args: &[Range]) -> Range {
        if args.iter().all(|arg| arg.is_exact()) {
            let args: Vec<Bits> = args.iter().map(|arg| arg.low).collect();
            return self.apply(from, &args).map_or(Range::anything(to), Range::exactly);
        }
        let divides_by_zero = || {
            args.get(1).is_none_or(|divisor| {
                let [low, high] = [divisor.low, divisor.high].map(f32::from_bits);
                low <= 0.0 && high >= 0.0
            })
        };
        let at_the_ends = match self.shape {
            Shape::Monotone | Shape::Sigmoid => true,
            // Integers wrap.
            Shape::Sum | Shape::Difference | Shape::Product | Shape::Fused => from == DType::F32,
            Shape::Quotient => !divides_by_zero(),
            Shape::Other => false,
        };
        if !at_the_ends {
            return Range::anything(to);
        }
        let corners = (0..1usize << args.len()).map(|corner| {
            let end = |(at, arg): (usize, &Range)| if corner >> at & 1 == 0 { arg.low } else { arg.high };
            let args: Vec<Bits> = args.iter().enumerate().map(end).collect();
            self.apply(from, &args)
        });
        corners.collect::<Option<Vec<Bits>>>().map_or(Range::anything(to), |corners| Range::hull(to, corners))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::Expression;

    /// The expression of f32 operands.
    fn dag(text: &str) -> Dag {
        let expression = Expression::parse(text).unwrap();
        Dag::new(&expression, &vec![DType::F32; expression.names.len()]).unwrap()
    }

    fn exactly(operands: &[f32]) -> Vec<Range> {
        operands.iter().map(|operand| Range::exactly(operand.to_bits())).collect()
    }

    fn ends(range: Range) -> [f32; 2] {
        [range.low, range.high].map(f32::from_bits)
    }

    fn value(text: &str, operands: &[f32]) -> f32 {
        let bits: Vec<Bits> = operands.iter().map(|operand| operand.to_bits()).collect();
        f32::from_bits(dag(text).eval(&bits).expect(text))
    }

    fn fast(text: &str, operands: &[f32]) -> [f32; 2] {
        ends(dag(text).range(&exactly(operands), true))
    }

    const ANYTHING: [f32; 2] = [f32::NEG_INFINITY, f32::INFINITY];

    /// Three roundings (two sums, and one for the bound itself) of 2^24 + 2 are 3 + 15 / 2^24 at most. The numbers
    /// of f32 are 1 apart below 2^24 and 2 above.
    #[test]
    fn a_bound_by_hand() {
        assert_eq!(fast("[x, y, z: x + y + z]", &[16_777_216.0, 1.0, 1.0]), [16_777_214.0, 16_777_222.0]);
    }

    /// The result of a cancellation is no measure of the tolerance: 1e8 + 1 rounds to 1e8.
    #[test]
    fn cancellation_is_allowed_what_was_there_before() {
        let (text, operands) = ("[x, y: x + y - x]", [1e8, 1.0]);
        assert_eq!((value(text, &operands), value("[x, y: x - x + y]", &operands)), (0.0, 1.0));
        let [low, high] = fast(text, &operands);
        assert!(low <= 0.0 && (1.0..100.0).contains(&high), "{low} {high}");
    }

    #[test]
    fn without_fast_and_for_one_operation_every_bit_stays() {
        for text in ["[x, y: x * y + x]", "[x, y: x / y / 3]", "[x, y: sigmoid(x) * y]"] {
            let exact = value(text, &[0.3, 0.7]);
            assert_eq!(ends(dag(text).range(&exactly(&[0.3, 0.7]), false)), [exact; 2], "{text}");
            let [low, high] = fast(text, &[0.3, 0.7]);
            assert!(low < exact && exact < high, "{text}");
        }
        for text in
            ["[x, y: x + y]", "[x, y: exp(x - y)]", "[x, y: max(x * y, 0.1)]", "[x, y: tanh(x) + exp(y)]"]
        {
            assert_eq!(fast(text, &[0.3, 0.7]), [value(text, &[0.3, 0.7]); 2], "{text}");
        }
    }

    #[test]
    fn nothing_is_promised_where_a_grouping_may_overflow_or_divide_by_zero() {
        assert_eq!(fast("[x, y: x * x * y]", &[1e30, 1e-30]), ANYTHING);
        assert_eq!(fast("[x, y: x + y + y]", &[f32::INFINITY, 1.0]), ANYTHING);
        assert_eq!(fast("[x, y: x + y + y]", &[f32::NAN, 1.0]), ANYTHING);
        assert_eq!(fast("[x, y: 1 / (x + y - 1)]", &[1.0, 1e-9]), ANYTHING);
        let [low, high] = fast("[x, y: 1 / (x + y - 1)]", &[1.0, 1e-2]);
        assert!(low < 100.0 && 100.0 < high && high - low < 0.1, "{low} {high}");
        // Just inside the largest product of one grouping, and just outside.
        assert_ne!(fast("[x, y: x * x * y]", &[9e18, 1.0]), ANYTHING);
        assert_eq!(fast("[x, y: x * x * y]", &[1e19, 1.0]), ANYTHING);
    }

    /// Numbers and terms.
    struct Random(visa_support::Random);

    impl Random {
        fn below(&mut self, bound: usize) -> usize {
            self.0.below(bound)
        }

        /// A number between 2^-10 and 2^10 in magnitude.
        fn number(&mut self) -> f32 {
            let bits = self.0.word();
            f32::from_bits((bits & 0x807f_ffff) | ((117 + bits.rotate_left(9) % 20) << 23))
        }

        /// The terms, joined by `sign` in some order and grouping.
        fn grouped(&mut self, mut terms: Vec<String>, sign: &str) -> String {
            while terms.len() > 1 {
                let left = terms.swap_remove(self.below(terms.len()));
                let right = terms.swap_remove(self.below(terms.len()));
                terms.push(format!("({left} {sign} {right})"));
            }
            terms.remove(0)
        }
    }

    /// Sums of products in random orders and groupings, with a common factor in front or not, fused or not: each
    /// is in the range of each.
    #[test]
    fn every_grouping_is_in_the_range_of_every_other() {
        let names = ["a", "b", "c", "d"];
        let (mut random, mut different) = (Random(visa_support::Random(0x9e37_79b9_7f4a_7c15)), 0);
        for _ in 0..3000 {
            let operands: Vec<f32> = names.iter().map(|_| random.number()).collect();
            let products: Vec<Vec<&str>> = (0..2 + random.below(3))
                .map(|_| (0..1 + random.below(3)).map(|_| names[random.below(4)]).collect())
                .collect();
            let mut text = || {
                let factor = |factors: &Vec<&str>| factors.iter().map(|&name| name.to_owned()).collect();
                let terms = products.iter().map(|factors| random.grouped(factor(factors), "*"));
                let terms: Vec<String> = terms.collect();
                let fused = match &terms[..] {
                    [first, rest @ ..] if random.below(2) == 0 => {
                        let rest = random.grouped(rest.to_vec(), "+");
                        format!("fma(d, {first}, d * {rest})")
                    }
                    _ => format!("d * {}", random.grouped(terms, "+")),
                };
                format!("[a, b, c, d: {fused}]")
            };
            let (one, other) = (text(), text());
            let found = value(&other, &operands);
            let [low, high] = fast(&one, &operands);
            assert!((low..=high).contains(&found), "{one} {other} {operands:?}: {found} in {low} to {high}");
            different += u32::from(found != value(&one, &operands));
        }
        assert!(different > 300, "{different}");
    }

    /// The rules about division and sigmoid, and both ways round.
    #[test]
    fn quotients_and_their_forms_are_in_each_others_ranges() {
        let mut random = Random(visa_support::Random(0x1234_5678_9abc_def1));
        for (one, other) in [
            ("[x, y, z: x / y / z]", "[x, y, z: x / (y * z)]"),
            ("[x, y, z: x / 3 * y]", "[x, y, z: x * (0.3333333333333333 * y)]"),
            ("[x, y, z: 1 / (negexp(x) + 1)]", "[x, y, z: sigmoid(x)]"),
            ("[x, y, z: x * sigmoid(x)]", "[x, y, z: x / (negexp(x) + 1)]"),
            ("[x, y, z: y * sigmoid(x) * z]", "[x, y, z: y * z / (negexp(x) + 1)]"),
        ] {
            for _ in 0..2000 {
                let operands = [random.number() % 16.0, random.number(), random.number()];
                for (range, found) in [(one, other), (other, one)] {
                    let ([low, high], found) = (fast(range, &operands), value(found, &operands));
                    assert!(
                        (low..=high).contains(&found),
                        "{range} {operands:?}: {found} in {low} to {high}"
                    );
                }
            }
        }
    }

    /// Operands within their ranges give results within the result's.
    #[test]
    fn ranges_of_operands_are_followed() {
        let mut random = Random(visa_support::Random(0x2545_f491_4f6c_dd1d));
        for text in [
            "[x, y: negexp(x) * y]",
            "[x, y: x / y]",
            "[x, y: fma(x, y, x)]",
            "[x, y: max(x, y) - min(x, y)]",
            "[x, y: float(fixed(x, 20), 20) + tanh(y)]",
            "[x, y: sigmoid(x - y)]",
            "[x, y: log(x) + sqrt(y)]",
            "[x, y: and(x, y)]",
            "[x, y: sin(x)]",
            "[x, y: abs_max(x, y)]",
        ] {
            let dag = dag(text);
            for _ in 0..500 {
                let middle = [random.number(), random.number()];
                let around = |x: f32| [x - x.abs() / 64.0, x + x.abs() / 64.0];
                let ranges =
                    middle.map(|x| Range { low: around(x)[0].to_bits(), high: around(x)[1].to_bits() });
                let [low, high] = ends(dag.range(&ranges, false));
                let within = |x: f32, at: f32| around(x)[0] + (around(x)[1] - around(x)[0]) * at;
                for at in [0.0, 0.3, 0.9, 1.0] {
                    let operands = [within(middle[0], at).to_bits(), within(middle[1], 1.0 - at).to_bits()];
                    let found = f32::from_bits(dag.eval(&operands).expect(text));
                    let inside = (low..=high).contains(&found) || [low, high] == ANYTHING;
                    assert!(inside, "{text} {middle:?}: {found} in {low} to {high}");
                }
            }
        }
    }
}
