//! The formula of a pipeline in the names of its tensors, for people: `scores = q * k` has `q * k` from here.
//!
//! A formula is a name, not a definition: it leaves out conversions, layouts, the axes of sums and the guards of
//! conditional operations.

use crate::semantics::{ContractionKind, Function, Semantics};
use std::collections::HashMap;
use visa_ir::context::Attr;
use visa_ir::module::{OpRef, ValueId};
use visa_mapping::Tensor;
use visa_mapping::tensor::numbers::Number;
use visa_numerics::{Arg, Bits, DType, to_f64};

/// The most letters of a formula; a longer one ends in `…`.
pub const MAX_LETTERS: usize = 200;

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

    /// The result of an operation: its operand, if it converts, moves or guards that. Clauses that its verifier
    /// refuses are left out.
    fn term(&self, op: OpRef<'_>) -> Term {
        let first = self.operand(op, 0);
        let Some(semantics) = op.decl().and_then(|decl| decl.interface::<Semantics>()) else { return first };
        match semantics {
            Semantics::Same
            | Semantics::Reinterpret
            | Semantics::Fetch(_)
            | Semantics::Branch(_)
            | Semantics::SumTime
            | Semantics::Overwrite(_) => first,
            Semantics::Constant(bits) => {
                let dtype = op.result_type::<Tensor>(0).map(|tensor| tensor.dtype);
                dtype.zip(bits(op).ok()).map_or(first, |(dtype, bits)| Term::number(dtype, bits))
            }
            Semantics::OverwriteWith(part) => {
                part(op).map_or(first, |(tensor, bits)| Term::number(tensor.dtype, bits))
            }
            Semantics::Pack(_) => Term::call("pack", &[first]),
            Semantics::Ids => Term::call("ids", &[first]),
            Semantics::Interleave(_) => {
                let tensors: Vec<_> = op.operands().iter().map(|&value| self.value(value)).collect();
                Term::call("", &tensors)
            }
            Semantics::Pair => first.infix("*", &self.operand(op, 1)),
            Semantics::SumPacket(kind) => match kind(op) {
                Ok(ContractionKind::Max) => Term::call("max", &[first]),
                Ok(ContractionKind::Add) | Err(_) => first,
            },
            Semantics::ReduceSlices(_) | Semantics::Reduce(_) => Term::call(&reduction(op), &[first]),
            Semantics::Elementwise(function) => {
                function(op).map_or(first, |function| self.elementwise(op, &function))
            }
            Semantics::Zip(zip) => zip(op).map_or(first, |zip| self.elementwise(op, &zip.function)),
            Semantics::Expression(_) => {
                let operands: Vec<_> = op.operands().iter().map(|&value| self.value(value)).collect();
                Term::call(&word(op), &operands)
            }
        }
    }

    fn elementwise(&self, op: OpRef<'_>, function: &Function) -> Term {
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
#[expect(clippy::disallowed_methods, reason = "a part of a name for people, which nothing compares")]
fn word(op: OpRef<'_>) -> String {
    match op.decl().and_then(|decl| op.attr(decl.lead()?.name)) {
        Some(Attr::Str(word)) => word.to_string(),
        Some(_) | None => op.name().rsplit('.').next().unwrap_or_default().to_owned(),
    }
}

/// The function of a reduction.
fn reduction(op: OpRef<'_>) -> String {
    let word = word(op);
    if sign(&word) == Some("+") { "sum".to_owned() } else { word.to_lowercase() }
}

/// The sign of an operation of two arguments that has one, for any format.
fn sign(word: &str) -> Option<&'static str> {
    let signs = [("Add", "+"), ("Sub", "-"), ("Mul", "*"), ("Div", "/")];
    signs.into_iter().find_map(|(name, sign)| word.starts_with(name).then_some(sign))
}
