//! Random functions of the tensor level as steps, each of which can be written in two ways that compute the same, and
//! changed a little.

use std::fmt::Write as _;
use visa_support::Random;

/// The operation of a step on the values before it, all along M and K.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// `left + right * number`.
    Sum,
    /// The same, with `left` rounded to `bf16`.
    Rounded,
    /// Two blocks of `left`, from block `number` on, as blocks of `right`.
    Slices,
    /// `right`, and a weighted sum of `left` padded at the front.
    Pad,
    /// `right`, less the greatest, the least or the sum of `left` along K.
    Reduction,
    /// `left` where it is negative, and `right` elsewhere.
    Select,
    /// Rows of `left` that an index chooses, plus `right`.
    Gather,
    /// `right` with blocks of `left` times `number`, block by block.
    Loop,
    /// The same for some of the blocks.
    Branch,
    /// `right` with blocks of `left` from other positions, which are chosen.
    Choice,
}

/// All kinds.
pub(crate) const KINDS: [Kind; 10] = [
    Kind::Sum,
    Kind::Rounded,
    Kind::Slices,
    Kind::Pad,
    Kind::Reduction,
    Kind::Select,
    Kind::Gather,
    Kind::Loop,
    Kind::Branch,
    Kind::Choice,
];

/// The way in which a step is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Plain,
    /// Another form with the same bits.
    Equal,
}

#[derive(Clone, Debug)]
struct Step {
    kind: Kind,
    left: usize,
    right: usize,
    /// From 1 to 3.
    number: u64,
    is_changed: bool,
    form: Form,
}

/// A function of two values: steps, and the contraction of the last two values.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    steps: Vec<Step>,
    order: usize,
    turned: bool,
}

const ORDERS: [&str; 3] = ["[K]", "[K % 4, K / 4]", "[K], tree 4"];

/// Blocks of K.
const BLOCK: &str = "along [K / 4]";

impl Step {
    fn random(random: &mut Random, at: usize) -> Self {
        Self {
            kind: random.of(&KINDS),
            // A step depends on the one before, so that each change may reach the result.
            left: at + 1,
            right: random.below(at + 1),
            number: 1 + random.under(3),
            is_changed: false,
            form: Form::Plain,
        }
    }

    /// Its lines, of which the last defines `%v{value}`.
    fn lines(&self, value: usize) -> String {
        let Self { kind, left, right, number, .. } = *self;
        let (x, y, v, t) =
            (format!("%v{left}"), format!("%v{right}"), format!("%v{value}"), format!("%t{value}"));
        let equal = self.form == Form::Equal;
        let changed = u64::from(self.is_changed);
        let sum = |first: &str, second: &str, factor: u64| match equal {
            false => format!("{v} = tm.map [x, y: x + y * {factor}] {first}, {second}\n"),
            true => format!("{v} = tm.map [b, a: {factor} * b + a] {second}, {first}\n"),
        };
        match kind {
            Kind::Sum => sum(&x, &y, 1 + number + changed),
            Kind::Rounded => {
                let rounded = format!("{t}a = tm.cast bf16 {x}\n{t}b = tm.cast f32 {t}a\n");
                rounded + &sum(&format!("{t}b"), &y, 1 + number + changed)
            }
            Kind::Slices => {
                let blocks = [number % 4, (number + 1 + changed) % 4];
                let [first, second] = if equal { [1, 0] } else { [0, 1] };
                format!(
                    "{t}0 = tm.extract {x} {BLOCK}, index {}, part [K % 4]
                     {t}1 = tm.extract {x} {BLOCK}, index {}, part [K % 4]
                     {t}a = tm.insert {t}{first}, {y} {BLOCK}, index {}, part [K % 4]
                     {v} = tm.insert {t}{second}, {t}a {BLOCK}, index {}, part [K % 4]\n",
                    blocks[0],
                    blocks[1],
                    2 * first,
                    2 * second
                )
            }
            Kind::Pad => {
                let padded = format!(
                    "{t}a = tm.extend {x} axis [K], to [P], from {}, with {number}
                     {t}i = tm.index [P]
                     {t}w = tm.map [i: float(i, 31)] {t}i\n",
                    number - 1 + changed
                );
                let [first, second] = if equal { ["w", "a"] } else { ["a", "w"] };
                padded
                    + &format!("{t}s = tm.contract {t}{first}, {t}{second} over [P]\n")
                    + &sum(&y, &format!("{t}s"), 1)
            }
            Kind::Reduction => {
                let operation = ["Max", "Min", "Add"][(number - 1 + changed) as usize % 3];
                let over = if equal && operation != "Add" { "[K % 4, K / 4]" } else { "[K]" };
                format!(
                    "{t}r = tm.reduce {operation} {x} over {over}\n{v} = tm.map [x, r: x - r] {y}, {t}r\n"
                )
            }
            Kind::Select => {
                let [first, second] = if self.is_changed { [&y, &x] } else { [&x, &y] };
                let unused = if equal { format!("{t}u = tm.map [x: exp(x)] {x}\n") } else { String::new() };
                format!(
                    "{unused}{t}c = tm.compare {x} with [less 0]\n{v} = tm.where {t}c, {first}, {second}\n"
                )
            }
            Kind::Gather => {
                let rows = format!(
                    "{t}i = tm.index [J]
                     {t}n = tm.map [i: max({} - i, 0)] {t}i
                     {t}g = tm.gather {x}, {t}n along [M]
                     {t}h = tm.rename {t}g axes [J], to [M]\n",
                    number - 1 + changed
                );
                rows + &sum(&format!("{t}h"), &y, 1)
            }
            Kind::Loop => self.blocks(&t, [&x, &y, &v], number + 1 + changed, 0),
            Kind::Branch => self.blocks(&t, [&x, &y, &v], 2, (number - 1 + changed).min(3)),
            Kind::Choice => self.chosen(&t, [&x, &y, &v]),
        }
    }

    /// Blocks of `x` from `first` on, times a factor: a loop, or its iterations from the last to the first.
    fn blocks(&self, t: &str, [x, y, v]: [&str; 3], factor: u64, first: u64) -> String {
        if self.form == Form::Plain {
            let (open, close) = match first {
                0 => (String::new(), "tm.yield %n\n".to_owned()),
                _ => {
                    let close = "tm.yield %n\n}\ntm.yield %m\n".to_owned();
                    (format!("%m = tm.if %i, %acc from {first} {{\n"), close)
                }
            };
            return format!(
                "{v} = tm.for [K / 4](%i, %acc) {y} {{
                 {open}%p = tm.extract {x}, %i {BLOCK}, part [K % 4]
                 %q = tm.map [x: x * {factor}] %p
                 %n = tm.insert %q, %acc, %i {BLOCK}, part [K % 4]
                 {close}}}\n"
            );
        }
        let mut text = String::new();
        let mut before = y.to_owned();
        for block in (first..4).rev() {
            let after = if block == first { v.to_owned() } else { format!("{t}n{block}") };
            let _ = writeln!(
                text,
                "{t}p{block} = tm.extract {x} {BLOCK}, index {block}, part [K % 4]
                 {t}q{block} = tm.map [x: {factor} * x] {t}p{block}
                 {after} = tm.insert {t}q{block}, {before} {BLOCK}, index {block}, part [K % 4]"
            );
            before = after;
        }
        text
    }

    /// Each block of `x` moved to the next, and the first one from block `number`.
    fn chosen(&self, t: &str, [x, y, v]: [&str; 3]) -> String {
        let first = (self.number + u64::from(self.is_changed)) % 4;
        let (open, source) = match self.form {
            Form::Plain => ("%b = tm.affine %i by [1], plus -1", "tm.select %i, %b, %l from 1"),
            Form::Equal => ("%b = tm.affine %i by [1], plus -1", "tm.select %i, %l, %b below 1"),
        };
        format!(
            "{v} = tm.for [4](%i, %acc) {y} {{
             %l = tm.affine by [], plus {first}
             {open}
             %s = {source}
             {t}p = tm.extract {x}, %s {BLOCK}, part [K % 4]
             {t}n = tm.insert {t}p, %acc, %i {BLOCK}, part [K % 4]
             tm.yield {t}n
             }}\n"
        )
    }
}

impl Function {
    /// Two to four steps.
    pub(crate) fn random(random: &mut Random) -> Self {
        let count = 2 + random.below(3);
        let steps = (0..count).map(|at| Step::random(random, at)).collect();
        Self { steps, order: 0, turned: false }
    }

    /// Its text.
    pub(crate) fn text(&self) -> String {
        let mut text = "visa 1\ntm.axes [M = 4, K = 16, J = 4, P = 20]\n\
                        tm.func @f(%v0: !tm.tensor<f32, [M, K]>, %v1: !tm.tensor<f32, [M, K]>) {\n"
            .to_owned();
        for (at, step) in self.steps.iter().enumerate() {
            text.push_str(&step.lines(at + 2));
        }
        let count = self.steps.len();
        let [first, second] = if self.turned { [count + 1, count] } else { [count, count + 1] };
        let order = ORDERS[self.order];
        text + &format!("%s = tm.contract %v{first}, %v{second} over {order}\ntm.return %s\n}}\n")
    }

    /// The same function, written differently.
    pub(crate) fn rewritten(&self) -> Self {
        let rewrite = |step: &Step| Step { form: Form::Equal, ..step.clone() };
        Self { steps: self.steps.iter().map(rewrite).collect(), turned: true, ..self.clone() }
    }

    /// The same with one of two other orders of its sum.
    pub(crate) fn reordered(&self, order: usize) -> Self {
        Self { order: 1 + order, ..self.clone() }
    }

    /// The same with a change in one step, and the kind of that.
    pub(crate) fn changed(&self, random: &mut Random) -> (Self, Kind) {
        let mut changed = self.clone();
        let at = random.below(changed.steps.len());
        changed.steps[at].is_changed = true;
        let kind = changed.steps[at].kind;
        (changed, kind)
    }
}
