//! Elements: numbers, values, and expressions of values that are not built yet.

use crate::import::emit::axes::Axis;
use crate::import::emit::emitter::{Emitter, shortest};
use crate::import::emit::function::Function;
use crate::import::read::types::Kind;
use visa_algebra::Expr;
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_mapping::expression::{Expression, Term};
use visa_mapping::ops::constant::Coordinate;
use visa_mapping::ops::map::Map;
use visa_mapping::ops::where_::Compare;
use visa_mapping::tensor::numbers::Number;
use visa_numerics::{DType, from_number, to_f64};

/// Most functions of an expression. Larger ones become several operations.
const MAX_FUNCTIONS: usize = 24;
/// Most operands of an expression.
const MAX_OPERANDS: usize = 12;

/// A number, a value or an expression.
#[derive(Clone, Debug)]
pub(crate) enum Data {
    /// The same number everywhere.
    Number(f64),
    Value(ValueId),
    /// An expression of `i32` or `f32`, its operands, and the number of its functions.
    Term(Term, Vec<ValueId>, usize),
    /// Elements that nothing has written.
    Undefined,
}

/// Integers or floats that a contraction takes, of which a wider element was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Narrow {
    pub(crate) value: ValueId,
    /// The zero point that was subtracted.
    pub(crate) point: i64,
}

/// A condition that two numbers differ.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unequal {
    /// An integer is not 0: it is a condition itself.
    Number(ValueId),
    /// Another condition does not hold.
    Condition(ValueId),
}

/// An element of each coordinate.
#[derive(Clone, Debug)]
pub(crate) struct Elem {
    pub(crate) kind: Kind,
    pub(crate) data: Data,
    /// The least and the greatest value of an integer.
    pub(crate) range: (i64, i64),
    pub(crate) narrow: Option<Narrow>,
    /// True for elements of `f64` that `f32` lacks: the data has them rounded to it.
    pub(crate) inexact: bool,
}

impl Elem {
    pub(crate) fn number(kind: Kind, number: f64) -> Self {
        let range = if kind.is_float() { (0, 0) } else { (number as i64, number as i64) };
        Self { kind, data: Data::Number(number), range, narrow: None, inexact: false }
    }

    pub(crate) fn value(kind: Kind, value: ValueId) -> Self {
        Self { kind, data: Data::Value(value), range: kind.range(), narrow: None, inexact: false }
    }

    pub(crate) fn undefined(kind: Kind) -> Self {
        Self { kind, data: Data::Undefined, range: kind.range(), narrow: None, inexact: false }
    }

    pub(crate) fn with_range(self, range: (i64, i64)) -> Self {
        Self { range, ..self }
    }

    /// The same element under another kind with the same numbers.
    pub(crate) fn of_kind(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    pub(crate) fn as_number(&self) -> Option<f64> {
        match self.data {
            Data::Number(number) => Some(number),
            Data::Value(_) | Data::Term(..) | Data::Undefined => None,
        }
    }

    /// Returns true if it is an expression that building it twice would compute twice.
    pub(crate) fn is_expression(&self) -> bool {
        matches!(self.data, Data::Term(..))
    }
}

impl Emitter<'_> {
    /// The axis whose coordinate an element is, if it is one.
    pub(crate) fn coordinate(&self, elem: &Elem) -> Option<Axis> {
        let Data::Value(value) = elem.data else { return None };
        let op = self.module.op(self.ctx, self.module.def_op(value)?);
        let axis = Coordinate::cast(op)?.axis().ok()?;
        if let Expr::Axis(name) = &*axis { Some(Axis::clone(name)) } else { None }
    }

    /// A NaN next to a computed value as a quotient of zeros that are made of the value: the machine's constants have
    /// no NaN. Other elements are the same.
    pub(crate) fn not_a_number(&mut self, elem: &Elem, next: &Elem) -> Result<Elem, Diagnostic> {
        let is_plain = elem.kind == Kind::F32 && elem.as_number().is_some_and(f64::is_nan);
        if !is_plain || !matches!(next.data, Data::Value(_) | Data::Term(..)) {
            return Ok(elem.clone());
        }
        let next = self.built(next)?;
        let zero = self.apply(Function::Sub, &[&next, &next], Kind::F32)?;
        let quotient = self.apply(Function::Div, &[&zero, &zero], Kind::F32)?;
        self.built(&quotient)
    }

    /// The condition that `value`, which is 0 or 1, negates.
    pub(crate) fn unequal(&self, value: ValueId) -> Option<Unequal> {
        let map = Map::cast(self.module.op(self.ctx, self.module.def_op(value)?))?;
        let expression = map.expression().ok()?;
        let Term::Call(name, args) = &expression.term else { return None };
        let is_negation =
            **name == *Function::Xor.word() && matches!(args[..], [Term::Name(0), Term::Number(1.0)]);
        let &[condition] = map.operands() else { return None };
        if !is_negation {
            return None;
        }
        let compare = Compare::cast(self.module.op(self.ctx, self.module.def_op(condition)?));
        let number = compare.and_then(|compare| {
            let with = compare.with().ok()?;
            let is_zero = matches!(with.0[..], [(visa_numerics::Compare::Equal, Some(Number(0.0)))]);
            let value = compare.operands()[0];
            (is_zero && self.dtype(value).ok()? == DType::I32).then_some(value)
        });
        Some(number.map_or(Unequal::Condition(condition), Unequal::Number))
    }

    /// Every `stride`-th element along an axis from `offset` on, counted by another axis. A part that is one of
    /// several equal ones is a view, another one a gather.
    pub(crate) fn every(
        &mut self,
        value: ValueId,
        axis: &Axis,
        (offset, stride): (u64, u64),
        to: &Axis,
    ) -> Result<ValueId, Diagnostic> {
        let (whole, count) = (self.size(axis)?, self.size(to)?);
        let is_block = stride == 1 && whole.is_multiple_of(count) && offset.is_multiple_of(count);
        let is_digit = stride > 1 && whole == stride * count && offset < stride;
        if !is_block && !is_digit {
            let offset = Elem::number(Kind::I32, offset as f64);
            return self.every_from(value, axis, (&offset, stride), to);
        }
        let parts = self.axes.fresh("S", whole / count);
        let order = if is_block { [parts.clone(), to.clone()] } else { [to.clone(), parts.clone()] };
        let split = self.split(value, axis, &order)?;
        let part = self.extract(split, &parts, if is_block { offset / count } else { offset })?;
        self.without(part, &[parts])
    }

    /// Every `stride`-th element along an axis from a computed place on, counted by another axis.
    pub(crate) fn every_from(
        &mut self,
        value: ValueId,
        axis: &Axis,
        (offset, stride): (&Elem, u64),
        to: &Axis,
    ) -> Result<ValueId, Diagnostic> {
        let mut place = Elem::value(Kind::I32, self.index(to)?);
        if stride != 1 {
            place =
                self.apply(Function::Mul, &[&place, &Elem::number(Kind::I32, stride as f64)], Kind::I32)?;
        }
        if offset.as_number() != Some(0.0) {
            place = self.apply(Function::Add, &[&place, offset], Kind::I32)?;
        }
        let place = self.value(&place)?;
        self.gather(value, place, axis)
    }

    /// The value of an element: in its stored format, or as it is computed.
    pub(crate) fn value(&mut self, elem: &Elem) -> Result<ValueId, Diagnostic> {
        match &elem.data {
            Data::Value(value) => Ok(*value),
            Data::Number(number) => {
                let Some(dtype) = elem.kind.stored() else { return Err(self.double()) };
                let outside = elem.range.0 < i64::from(i32::MIN) || elem.range.1 > i64::from(i32::MAX);
                if !elem.kind.is_float() && outside {
                    return Err(self.refuse(format!("the number {number} is no `i32`")));
                }
                self.constant(dtype, *number)
            }
            Data::Term(term, operands, _) => {
                if elem.kind == Kind::F64 {
                    return Err(self.double());
                }
                let names = names(operands.len());
                self.map(Expression { names, term: term.clone() }, operands.clone())
            }
            Data::Undefined => Err(self.refuse(
                "reads elements of a `tensor.empty` that nothing has written; fill the tensor first, with \
                 `linalg.fill`",
            )),
        }
    }

    /// The refusal of an operation that computes in `f64`.
    pub(crate) fn double(&self) -> Diagnostic {
        let message = "computes in `f64`, which no engine does; expected `f32`, `bf16` or `f16`";
        self.refuse(message).fix(
            "truncate its operands first, by `arith.truncf` to `f32`: of `f64`, constants are imported, and elements \
             of `f32` that are extended"
                .to_owned(),
        )
    }

    /// The element as a value, built once.
    pub(crate) fn built(&mut self, elem: &Elem) -> Result<Elem, Diagnostic> {
        if !elem.is_expression() {
            return Ok(elem.clone());
        }
        Ok(Elem { data: Data::Value(self.value(elem)?), ..elem.clone() })
    }

    /// The element in the format that functions compute in.
    pub(crate) fn computed(&mut self, elem: &Elem) -> Result<Elem, Diagnostic> {
        let Data::Value(value) = elem.data else { return Ok(elem.clone()) };
        let (from, to) = (self.dtype(value)?, elem.kind.computed());
        if from == to {
            return Ok(elem.clone());
        }
        let narrow = elem.narrow.or(Some(Narrow { value, point: 0 }));
        Ok(Elem { data: Data::Value(self.cast(value, to)?), narrow, ..elem.clone() })
    }

    /// The value of an element in the format that functions compute in.
    pub(crate) fn computed_value(&mut self, elem: &Elem) -> Result<ValueId, Diagnostic> {
        let elem = self.computed(elem)?;
        match elem.as_number() {
            Some(number) if elem.kind != Kind::F64 => self.constant(elem.kind.computed(), number),
            Some(_) | None => self.value(&elem),
        }
    }

    /// A computed element rounded to its kind, if that is narrower.
    pub(crate) fn rounded(&mut self, elem: Elem) -> Result<Elem, Diagnostic> {
        let stored = elem.kind.stored();
        match (stored, elem.as_number()) {
            (None, _) => Ok(elem),
            (Some(dtype), Some(number)) => Ok(Elem::number(elem.kind, nearest(elem.kind, dtype, number))),
            (Some(dtype), None) if dtype == elem.kind.computed() => Ok(elem),
            (Some(dtype), None) => {
                let value = self.value(&elem)?;
                Ok(Elem { data: Data::Value(self.cast(value, dtype)?), narrow: None, ..elem })
            }
        }
    }

    /// A function of elements, in `i32` or `f32`.
    pub(crate) fn apply(
        &mut self,
        function: Function,
        args: &[&Elem],
        kind: Kind,
    ) -> Result<Elem, Diagnostic> {
        let mut args: Vec<Elem> = args.iter().map(|arg| self.computed(arg)).collect::<Result<_, _>>()?;
        if args.iter().all(|arg| arg.as_number().is_some()) {
            let numbers: Vec<f64> = args.iter().filter_map(Elem::as_number).collect();
            let integers = args.iter().all(|arg| !arg.kind.is_float());
            let bits = || if integers { function.of_bits(&numbers) } else { None };
            if let Some(folded) = function.of_numbers(&numbers).or_else(bits) {
                return Ok(Elem::number(kind, folded));
            }
            let value = self.computed_value(&args[0])?;
            args[0].data = Data::Value(value);
        }
        if let Some(elem) = unchanged(function, &args) {
            return Ok(elem.of_kind(kind));
        }
        let functions = |args: &[Elem]| args.iter().map(size).sum::<usize>() + 1;
        let operands = |args: &[Elem]| args.iter().map(operand_count).sum::<usize>();
        while functions(&args) > MAX_FUNCTIONS || operands(&args) > MAX_OPERANDS {
            let Some(largest) =
                (0..args.len()).filter(|&at| args[at].is_expression()).max_by_key(|&at| size(&args[at]))
            else {
                break;
            };
            args[largest] = self.built(&args[largest])?;
        }
        let (mut terms, mut values) = (Vec::new(), Vec::new());
        for arg in &args {
            terms.push(self.term(arg, &mut values)?);
        }
        let count = functions(&args);
        let data = Data::Term(Term::Call(function.word().into(), terms), values, count);
        Ok(Elem { kind, data, range: kind.range(), narrow: None, inexact: false })
    }

    /// The term of an element, whose operands are appended to `values`.
    fn term(&mut self, elem: &Elem, values: &mut Vec<ValueId>) -> Result<Term, Diagnostic> {
        let operand = |value: ValueId, values: &mut Vec<ValueId>| {
            values.iter().position(|&known| known == value).unwrap_or_else(|| {
                values.push(value);
                values.len() - 1
            })
        };
        match &elem.data {
            Data::Number(number) => match literal(elem.kind, *number) {
                Some(literal) => Ok(Term::Number(literal)),
                None => {
                    let value = self.computed_value(elem)?;
                    Ok(Term::Name(operand(value, values)))
                }
            },
            Data::Term(term, operands, _) => {
                let places: Vec<usize> = operands.iter().map(|&value| operand(value, values)).collect();
                Ok(renumbered(term, &places))
            }
            Data::Value(value) => Ok(Term::Name(operand(*value, values))),
            Data::Undefined => {
                let value = self.value(elem)?;
                Ok(Term::Name(operand(value, values)))
            }
        }
    }
}

/// The result of a function of bits of two integers of which one is 0, without the function.
fn unchanged(function: Function, args: &[Elem]) -> Option<Elem> {
    let [left, right] = args else { return None };
    let is_zero = |elem: &Elem| !elem.kind.is_float() && elem.as_number() == Some(0.0);
    let (zero, other) = match (is_zero(left), is_zero(right)) {
        (true, _) => (left, right),
        (false, true) => (right, left),
        (false, false) => return None,
    };
    let is_symmetric = matches!(function, Function::And | Function::Or | Function::Xor);
    if !is_symmetric || other.kind.is_float() {
        return None;
    }
    Some(if function == Function::And { zero } else { other }.clone())
}

/// Number of functions of an element's expression.
fn size(elem: &Elem) -> usize {
    if let Data::Term(_, _, functions) = elem.data { functions } else { 0 }
}

fn operand_count(elem: &Elem) -> usize {
    match &elem.data {
        Data::Term(_, operands, _) => operands.len(),
        Data::Value(_) | Data::Number(_) | Data::Undefined => 1,
    }
}

fn renumbered(term: &Term, places: &[usize]) -> Term {
    match term {
        Term::Name(at) => Term::Name(places[*at]),
        Term::Number(number) => Term::Number(*number),
        Term::Call(name, args) => {
            Term::Call(name.clone(), args.iter().map(|arg| renumbered(arg, places)).collect())
        }
    }
}

/// The names of an expression's operands: `x` if there is one, else `a`, `b` and so on.
fn names(count: usize) -> Vec<std::sync::Arc<str>> {
    if count == 1 {
        return vec!["x".into()];
    }
    ('a'..='z').take(count).map(|letter| letter.to_string().into()).collect()
}

/// The number nearest to `number` of a kind; integers wrap.
fn nearest(kind: Kind, dtype: DType, number: f64) -> f64 {
    if kind.is_float() {
        return from_number(dtype, number).map_or(number, |bits| to_f64(dtype, bits));
    }
    let (least, greatest) = kind.range();
    let count = greatest - least + 1;
    ((number as i64 - least).rem_euclid(count) + least) as f64
}

/// A number of an expression: the shortest decimal that rounds to an `f32`; `None` if it is not finite.
fn literal(kind: Kind, number: f64) -> Option<f64> {
    if !number.is_finite() {
        return None;
    }
    if !kind.is_float() {
        return (i32::try_from(number as i64).is_ok()).then_some(number);
    }
    Some(shortest(DType::F32, number))
}
