//! The formula of a pipeline in the names of its tensors, for people: `scores = q * k` has `q * k` from here.
//!
//! A formula is a name, not a definition: it leaves out conversions, layouts, the axes of sums and the guards of
//! conditional operations.

use std::collections::HashMap;
use visa_ir::context::Attr;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpRef, ValueId};
use visa_mapping::Tensor;
use visa_mapping::tensor::numbers::Number;
use visa_numerics::{Arg, ArgMode, Bits, DType, to_f64};

/// The most letters of a formula; a longer one ends in `…`.
pub const MAX_LETTERS: usize = 200;

/// The formula of an operation's result, declared as an interface. Without it, the formula is that of operand 0: the
/// operation converts, moves or guards its elements.
#[derive(Clone, Copy)]
pub enum Formula {
    /// A number in the format of the result.
    Number(fn(OpRef<'_>) -> Result<Bits, Diagnostic>),
    /// The product of operands 0 and 1.
    Product,
    /// A call of the function with this name on operand 0; the operand itself if there is no name.
    Call(fn(OpRef<'_>) -> Option<String>),
    /// A call of the function with this name on all operands.
    CallOnAll(fn(OpRef<'_>) -> String),
    /// The operation's lead clause as a function of these arguments, or as a sign between them.
    Elementwise(fn(OpRef<'_>) -> Result<Elementwise, Diagnostic>),
}

/// Arguments of an elementwise function.
#[derive(Clone, Copy)]
pub struct Elementwise {
    /// The choice of stream and operands for each argument.
    pub mode: ArgMode,
    /// The constant operands. Any other operand that the mode reads is a value: the first is operand 1.
    pub constants: [Option<Bits>; 2],
}

/// The formula of the tensor that the last operation of a pipeline stores. `name` gives the name of a tensor at rest.
#[must_use]
pub fn formula(pipeline: &[OpRef<'_>], name: &dyn Fn(ValueId) -> String) -> String {
    let mut formulas = Formulas { name, of: HashMap::new() };
    let mut last = Term::atom(String::new());
    for &op in pipeline {
        last = formulas.term(op);
        if let Some(&result) = op.results().first() {
            formulas.of.insert(result, last.clone());
        }
    }
    last.text
}

/// A part of a formula.
#[derive(Clone)]
struct Term {
    text: String,
    tightness: Tightness,
}

/// Precedence of a term.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tightness {
    Sum,
    Product,
    Atom,
}

impl Term {
    fn new(text: String, tightness: Tightness) -> Self {
        match text.char_indices().nth(MAX_LETTERS) {
            None => Self { text, tightness },
            // The text around a term that was cut is cut, too.
            Some((end, _)) => {
                let letters = text[..end].chars().take(MAX_LETTERS - 1);
                Self { text: letters.chain(['…']).collect(), tightness: Tightness::Atom }
            }
        }
    }

    fn atom(text: String) -> Self {
        Self::new(text, Tightness::Atom)
    }

    fn number(dtype: DType, bits: Bits) -> Self {
        let number = to_f64(dtype, bits);
        let short = number as f32;
        // Digits that the format does not hold tell nothing.
        let is_short = dtype.is_float() && f64::from(short).to_bits() == number.to_bits();
        Self::atom(if is_short { short.to_string() } else { Number(number).to_string() })
    }

    fn call(function: &str, arguments: &[Self]) -> Self {
        let arguments: Vec<&str> = arguments.iter().map(|argument| &*argument.text).collect();
        Self::atom(format!("{function}({})", arguments.join(", ")))
    }

    fn infix(&self, sign: &str, right: &Self) -> Self {
        let tightness = if matches!(sign, "+" | "-") { Tightness::Sum } else { Tightness::Product };
        let in_brackets = |term: &Self, loose: bool| match loose {
            true => format!("({})", term.text),
            false => term.text.clone(),
        };
        let left = in_brackets(self, self.tightness < tightness);
        let right = in_brackets(right, right.tightness <= tightness && right.tightness != Tightness::Atom);
        Self::new(format!("{left} {sign} {right}"), tightness)
    }
}

/// The formulas of a pipeline's streams.
struct Formulas<'a> {
    name: &'a dyn Fn(ValueId) -> String,
    of: HashMap<ValueId, Term>,
}

impl Formulas<'_> {
    fn value(&self, value: ValueId) -> Term {
        self.of.get(&value).cloned().unwrap_or_else(|| Term::atom((self.name)(value)))
    }

    fn operand(&self, op: OpRef<'_>, number: usize) -> Term {
        op.operands().get(number).map_or_else(|| Term::atom(String::new()), |&value| self.value(value))
    }

    /// The result of an operation. Clauses that its verifier refuses are left out.
    fn term(&self, op: OpRef<'_>) -> Term {
        let first = self.operand(op, 0);
        let Some(formula) = op.decl().and_then(|decl| decl.interface::<Formula>()) else { return first };
        match formula {
            Formula::Number(bits) => {
                let dtype = op.result_type::<Tensor>(0).map(|tensor| tensor.dtype);
                dtype.zip(bits(op).ok()).map_or(first, |(dtype, bits)| Term::number(dtype, bits))
            }
            Formula::Product => first.infix("*", &self.operand(op, 1)),
            Formula::Call(name) => match name(op) {
                Some(name) => Term::call(&name, &[first]),
                None => first,
            },
            Formula::CallOnAll(name) => {
                let operands: Vec<_> = op.operands().iter().map(|&value| self.value(value)).collect();
                Term::call(&name(op), &operands)
            }
            Formula::Elementwise(arguments) => {
                arguments(op).map_or(first, |arguments| self.elementwise(op, &arguments))
            }
        }
    }

    fn elementwise(&self, op: OpRef<'_>, function: &Elementwise) -> Term {
        let dtype = op.operand_type::<Tensor>(0).map(|tensor| tensor.dtype);
        let constant = |number: usize| function.constants[number].zip(dtype);
        let operand = |number: usize| match constant(number) {
            Some((bits, dtype)) => Term::number(dtype, bits),
            // The first value is the first operand that is no constant.
            None => self.operand(op, 1 + (0..number).filter(|&before| constant(before).is_none()).count()),
        };
        let arguments = function.mode.args().iter().map(|argument| match argument {
            Arg::Stream => self.operand(op, 0),
            Arg::Operand0 => operand(0),
            Arg::Operand1 => operand(1),
        });
        let (word, arguments) = (word(op), arguments.collect::<Vec<_>>());
        let converts = dtype != op.result_type::<Tensor>(0).map(|tensor| tensor.dtype);
        match (sign(&word), &arguments[..]) {
            (_, [converted]) if converts => converted.clone(),
            (Some(sign), [left, right]) => left.infix(sign, right),
            (Some(_) | None, _) => Term::call(&word.trim_end_matches('F').to_lowercase(), &arguments),
        }
    }
}

/// The word that identifies an operation: its lead clause, or its name without the dialect.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "a part of a name for people, which nothing compares")]
pub fn word(op: OpRef<'_>) -> String {
    match op.decl().and_then(|decl| op.attr(decl.lead()?.name)) {
        Some(Attr::Str(word)) => word.to_string(),
        Some(_) | None => op.name().rsplit('.').next().unwrap_or_default().to_owned(),
    }
}

/// The function of a reduction.
#[must_use]
pub fn function(op: OpRef<'_>) -> Option<String> {
    let word = word(op);
    Some(if sign(&word) == Some("+") { "sum".to_owned() } else { word.to_lowercase() })
}

/// The sign of an operation of two arguments that has one, for any format.
fn sign(word: &str) -> Option<&'static str> {
    let signs = [("Add", "+"), ("Sub", "-"), ("Mul", "*"), ("Div", "/")];
    signs.into_iter().find_map(|(name, sign)| word.starts_with(name).then_some(sign))
}
