//! Pipelines that compute an expression of each element: operands in any format that the fetch converts, random
//! expressions, and a cast. The generator evaluates each expression as a tree.

use super::array::{Array, axes_of};
use super::intent::{Intent, SLICES};
use super::numbers::{converted, greatest, least, on_floats, to_fixed, to_float};
use crate::pipelines::digits;
use visa_numerics::DType;
use visa_support::Random;
use visa_support::kernel::{Digit, Kernel, bare, mapping};

/// An expression of the operands `x` and `b`.
pub(super) enum Expression {
    X,
    B,
    /// A number as text, and its bits.
    Number(String, u32),
    Apply(&'static Function, Vec<Expression>),
}

/// A function of elements: its text with `@` for its first argument and `$` for its second, and its bits.
pub(super) struct Function {
    text: &'static str,
    of: DType,
    gives: DType,
    bits: fn(u32, u32) -> u32,
}

const fn row(text: &'static str, of: DType, bits: fn(u32, u32) -> u32) -> Function {
    Function { text, of, gives: of, bits }
}

fn floats(x: u32, y: u32, function: impl Fn(f32, f32) -> f32) -> u32 {
    on_floats([x, y], |[x, y]| function(x, y))
}

/// `x * -1`.
fn negated(x: u32) -> u32 {
    floats(x, 0, |x, _| -x)
}

fn integers(x: u32, y: u32, function: impl Fn(i32, i32) -> i32) -> u32 {
    function(x as i32, y as i32) as u32
}

/// The functions that are drawn.
static FUNCTIONS: &[Function] = &[
    row("(@ + $)", DType::F32, |x, y| floats(x, y, |x, y| x + y)),
    row("(@ - $)", DType::F32, |x, y| floats(x, y, |x, y| x - y)),
    row("(@ * $)", DType::F32, |x, y| floats(x, y, |x, y| x * y)),
    row("(@ / $)", DType::F32, |x, y| floats(x, y, |x, y| x / y)),
    row("max(@, $)", DType::F32, greatest),
    row("min(@, $)", DType::F32, least),
    row("relu(@)", DType::F32, |x, _| greatest(x, 0)),
    row("(-@)", DType::F32, |x, _| negated(x)),
    row("abs(@)", DType::F32, |x, _| greatest(x, negated(x))),
    row("sqrt(@)", DType::F32, |x, _| floats(x, 0, |x, _| x.sqrt())),
    row("exp(@)", DType::F32, |x, _| floats(x, 0, |x, _| f64::from(x).exp() as f32)),
    row("and(@, $)", DType::F32, |x, y| x & y),
    Function { text: "fixed(@, 20)", of: DType::F32, gives: DType::I32, bits: |x, _| to_fixed(x, 20) },
    Function { text: "fixed(@, 31)", of: DType::F32, gives: DType::I32, bits: |x, _| to_fixed(x, 31) },
    row("(@ + $)", DType::I32, |x, y| integers(x, y, i32::wrapping_add)),
    row("(@ - $)", DType::I32, |x, y| integers(x, y, i32::wrapping_sub)),
    row("(@ * $)", DType::I32, |x, y| integers(x, y, i32::wrapping_mul)),
    row("max(@, $)", DType::I32, |x, y| integers(x, y, i32::max)),
    row("min(@, $)", DType::I32, |x, y| integers(x, y, i32::min)),
    row("(-@)", DType::I32, |x, _| integers(x, 0, |x, _| x.wrapping_neg())),
    row("abs(@)", DType::I32, |x, _| integers(x, 0, |x, _| x.max(x.wrapping_neg()))),
    row("add_sat(@, $)", DType::I32, |x, y| integers(x, y, i32::saturating_add)),
    row("sub_sat(@, $)", DType::I32, |x, y| integers(x, y, i32::saturating_sub)),
    row("and(@, $)", DType::I32, |x, y| x & y),
    row("or(@, $)", DType::I32, |x, y| x | y),
    row("xor(@, $)", DType::I32, |x, y| x ^ y),
    row("shl(@, 3)", DType::I32, |x, _| x << 3),
    row("lshr(@, 5)", DType::I32, |x, _| x >> 5),
    row("ashr(@, 7)", DType::I32, |x, _| integers(x, 0, |x, _| x >> 7)),
    Function { text: "float(@, 31)", of: DType::I32, gives: DType::F32, bits: |x, _| to_float(x, 31) },
    Function { text: "float(@, 12)", of: DType::I32, gives: DType::F32, bits: |x, _| to_float(x, 12) },
];

impl Expression {
    /// Draws an expression of a format, of operands of these formats. It is no number alone.
    pub(super) fn draw(random: &mut Random, gives: DType, x: DType, b: Option<DType>, depth: u64) -> Self {
        let mut leaves = Vec::new();
        leaves.extend((x == gives).then_some(Self::X));
        leaves.extend((b == Some(gives)).then_some(Self::B));
        if !leaves.is_empty() && (depth == 0 || random.below(4) == 0) {
            return leaves.swap_remove(random.below(leaves.len()));
        }
        let function = Self::function(random, gives, x, b, depth);
        let mut arguments = vec![Self::draw(random, function.of, x, b, depth.saturating_sub(1))];
        if function.text.contains('$') {
            arguments.push(match random.below(3) {
                0 => Self::number(random, function.of),
                _ => Self::draw(random, function.of, x, b, depth.saturating_sub(1)),
            });
        }
        Self::Apply(function, arguments)
    }

    /// A function with that result. At the end of the depth its arguments have the format of an operand.
    fn function(
        random: &mut Random,
        gives: DType,
        x: DType,
        b: Option<DType>,
        depth: u64,
    ) -> &'static Function {
        let fits = |function: &&Function| {
            function.gives == gives && (depth > 0 || function.of == x || Some(function.of) == b)
        };
        let fitting: Vec<&'static Function> = FUNCTIONS.iter().filter(fits).collect();
        random.of(&fitting)
    }

    fn number(random: &mut Random, dtype: DType) -> Self {
        if dtype.is_float() {
            let number = random.of(&[0.5_f32, 1.25, 3.0, 1000.0, 0.001]);
            return Self::Number(number.to_string(), number.to_bits());
        }
        let number = random.of(&[1_u32, 5, 1000, 123_456, 2_147_483_647]);
        Self::Number(number.to_string(), number)
    }

    /// Its text.
    pub(super) fn text(&self) -> String {
        match self {
            Self::X => "x".to_owned(),
            Self::B => "b".to_owned(),
            Self::Number(text, _) => text.clone(),
            Self::Apply(function, arguments) => {
                let [first, second] = [0, 1].map(|at| arguments.get(at).map(Self::text).unwrap_or_default());
                // The marks occur in no argument.
                function.text.replace('@', &first).replace('$', &second)
            }
        }
    }

    /// The bits of its value at an element of each operand.
    pub(super) fn bits(&self, x: u32, b: u32) -> u32 {
        match self {
            Self::X => x,
            Self::B => b,
            Self::Number(_, bits) => *bits,
            Self::Apply(function, arguments) => {
                let first = arguments[0].bits(x, b);
                let second = arguments.get(1).map_or(0, |argument| argument.bits(x, b));
                (function.bits)(first, second)
            }
        }
    }
}

/// The formats of an operand: in memory, and after the fetch.
const FETCHED: [(DType, DType); 10] = [
    (DType::F32, DType::F32),
    (DType::Bf16, DType::F32),
    (DType::F16, DType::F32),
    (DType::F8e4m3, DType::F32),
    (DType::F8e5m2, DType::F32),
    (DType::I32, DType::I32),
    (DType::I16, DType::I32),
    (DType::I8, DType::I32),
    (DType::I4, DType::I32),
    (DType::I32, DType::I32),
];

/// Formats that the Cast Engine makes of a result.
fn casts(from: DType) -> &'static [DType] {
    match from.is_float() {
        true => &[DType::F8e4m3, DType::F8e5m2, DType::F16, DType::Bf16],
        false => &[DType::I4, DType::I8, DType::I16],
    }
}

/// The clause of the fetch for a conversion.
fn fetched((stored, fetched): (DType, DType)) -> String {
    if stored == fetched { String::new() } else { format!("dtype {fetched}, ") }
}

fn size(axis: &str) -> u64 {
    match axis {
        "A" => 8,
        "B" => 4,
        "C" => 6,
        _ => SLICES,
    }
}

/// A kernel of one expression.
pub(super) struct Computed {
    expression: Expression,
    x: (DType, DType),
    b: Option<(DType, DType)>,
    cast: Option<DType>,
    /// The digits of time and of the packet.
    time: Vec<Digit>,
    packet: Vec<Digit>,
    /// Layouts of `x` and of the result.
    memory: Vec<Digit>,
    result: Vec<Digit>,
    /// True if `b` has the axes of the packet alone, which are whole.
    shared: bool,
}

impl Computed {
    fn draw(random: &mut Random) -> Self {
        let x = random.of(&FETCHED);
        let b = (random.below(2) == 0).then(|| random.of(&FETCHED));
        let gives = random.of(&[DType::F32, DType::I32]);
        let depth = 1 + random.under(3);
        let expression = Expression::draw(random, gives, x.1, b.map(|b| b.1), depth);
        let cast = (random.below(2) == 0).then(|| random.of(casts(gives)));
        let mut order = digits(random);
        random.shuffle(&mut order);
        let elements =
            |inner: usize| order[order.len() - inner..].iter().map(|(_, size)| size).product::<u64>();
        let fits = |&inner: &usize| elements(inner) <= 8 && elements(inner).is_multiple_of(2);
        let inner: Vec<usize> = (1..=order.len()).filter(fits).collect();
        let inner = random.pick(&inner).copied().unwrap_or(1);
        let packet = order.split_off(order.len() - inner);
        let mut memory = if random.below(4) == 0 { digits(random) } else { [&*order, &packet].concat() };
        random.shuffle(&mut memory);
        let mut result = [&*order, &packet].concat();
        random.shuffle(&mut result);
        let whole = packet.iter().all(|(text, _)| text.len() == 1);
        let shared = whole && random.below(2) == 0;
        Self { expression, x, b, cast, time: order, packet, memory, result, shared }
    }

    /// The digits of `b` in a slice.
    fn of_b(&self) -> Vec<Digit> {
        if self.shared { self.packet.clone() } else { [&*self.time, &self.packet].concat() }
    }

    fn text(&self) -> String {
        let (time, packet) = (mapping(&self.time), mapping(&self.packet));
        let memory = bare(&self.memory);
        let mut kernel = Kernel::new(&format!("S = {}, A = 8, B = 4, C = 6", SLICES))
            .argument("x", &self.x.0.to_string(), &format!("S, {memory}"), 0)
            .to_dm("d", "x", 0, "S", &memory);
        let mut operands = "%2".to_owned();
        if let Some(b) = self.b {
            let of_b = bare(&self.of_b());
            let steps = if self.shared { "[1]" } else { &time };
            kernel = kernel
                .argument("b", &b.0.to_string(), &format!("S, {of_b}"), 1 << 28)
                .to_dm("e", "b", 4096, "S", &of_b)
                .line("%b0 = stream.begin sub %e")
                .line(&format!("%b1 = stream.fetch %b0 {}time {steps}, packet {packet}", fetched(b)))
                .line(&format!("%b2 = stream.collect %b1 time {steps}, packet [{packet} # 8]"))
                .line(&format!("%v = stream.to_vrf %b2 at 0, element [{}, {packet} # 8]", inside(steps)));
            operands.push_str(", %v");
        }
        let names = if self.b.is_some() { "x, b" } else { "x" };
        kernel = kernel
            .line("%0 = stream.begin main %d")
            .line(&format!("%1 = stream.fetch %0 {}time {time}, packet {packet}", fetched(self.x)))
            .line(&format!("%2 = stream.collect %1 time {time}, packet [{packet} # 8]"))
            .line(&format!("%3 = stream.vector_expr [{names}: {}] {operands}", self.expression.text()));
        let mut end = "%3";
        if let Some(to) = self.cast {
            kernel =
                kernel.line(&format!("%4 = stream.cast {to} %3 packet [{packet} # {}]", to.elements(32)));
            end = "%4";
        }
        kernel
            .line(&format!("%y = stream.commit {end} at 8192, element [{}, {packet} # 8]", inside(&time)))
            .returns("y", 1 << 29, &format!("S, {}", bare(&self.result)))
    }
}

/// The inside of a mapping.
fn inside(mapping: &str) -> &str {
    mapping.trim_start_matches('[').trim_end_matches(']')
}

/// A pipeline with an expression.
pub(super) fn expression(random: &mut Random) -> Intent {
    let computed = Computed::draw(random);
    Intent::new(computed.text(), move |random| {
        let x = Array::random(random, computed.x.0, axes_of(&format!("S, {}", bare(&computed.memory)), size));
        let b = computed.b.map(|(stored, _)| {
            Array::random(random, stored, axes_of(&format!("S, {}", bare(&computed.of_b())), size))
        });
        let gives = computed.gives();
        let committed = computed.cast.unwrap_or(gives);
        let axes = axes_of(&format!("S, {}", bare(&computed.result)), size);
        let result = Array::of(committed, axes, |point| {
            let of_x = converted(computed.x.0, computed.x.1, x.at(point)?, 0)?;
            let of_b = match (&b, computed.b) {
                (Some(array), Some((stored, fetched))) => converted(stored, fetched, array.at(point)?, 0)?,
                (_, _) => 0,
            };
            converted(gives, committed, computed.expression.bits(of_x, of_b), 0)
        });
        let arguments = [("x", x)].into_iter().chain(b.map(|b| ("b", b)));
        (arguments.collect(), result)
    })
}

impl Computed {
    /// The format of the expression.
    fn gives(&self) -> DType {
        match &self.expression {
            Expression::X => self.x.1,
            Expression::B => self.b.map_or(self.x.1, |b| b.1),
            Expression::Number(..) => DType::F32,
            Expression::Apply(function, _) => function.gives,
        }
    }
}
