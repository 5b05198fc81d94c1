//! Parts of the semantics of several operations: functions of elements, guards, register files.

pub mod asked;
mod by_axes;
pub mod contraction;
pub mod reduction;

use crate::chain::coarse;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use visa_algebra::{AxisId, Expr, PadKind};
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_mapping::coverage::Coverage;
use visa_mapping::expression::{Expression, FUNCTIONS, Term};
use visa_mapping::ops::constant::Constant;
use visa_mapping::ops::gather::Lookup;
use visa_mapping::ops::map::Map;
use visa_mapping::ops::rename::Rearrange;
use visa_mapping::ops::where_::Where;
use visa_mapping::raise::{Known, Raising, both};
use visa_mapping::tensor::numbers::Numbers;
use visa_mapping::{Tensor, operand};
use visa_numerics::{AluOp, Arg, ArgMode, Bits, DType, Guards, LookupTable, Slot, from_number, to_f64};

/// The number of execution ids (book 21).
const IDS: u8 = 16;

/// A number that is the same everywhere.
///
/// # Errors
/// Those of the inference.
pub fn constant(cx: &mut Raising<'_>, op: OpRef<'_>, dtype: DType, bits: Bits) -> Result<Known, Diagnostic> {
    let number = to_f64(dtype, bits);
    let is_exact = from_number(dtype, number) == Some(bits) && number.is_finite();
    let number = if is_exact { number } else { f64::from(bits) };
    let built = Constant::build(op).dtype(dtype).values(Numbers(vec![number])).bits(!is_exact);
    cx.emit(built.spec(), BTreeMap::new())
}

/// The table with an entry of `i32` for each execution id.
pub fn by_id(
    cx: &mut Raising<'_>,
    op: OpRef<'_>,
    ids: &Known,
    entry: impl Fn(u8) -> Bits,
) -> Result<Known, Diagnostic> {
    let table = LookupTable { to: DType::I32, entries: (0..IDS).map(entry).collect() };
    let spec = Lookup::build(op, [ids.value]).table(table).spec();
    cx.emit(spec, ids.held.clone())
}

/// An operand of the vector engine: the content of a register file for a block is that of all of the block.
///
/// # Errors
/// Those of [`Raising::held`].
pub fn value_of(cx: &mut Raising<'_>, op: OpRef<'_>, index: usize, to: &Tensor) -> Result<Known, Diagnostic> {
    let held = cx.held(op, index, to)?;
    let Some(file) = operand(op, index).filter(|own| !own.kind.stream) else { return Ok(held) };
    let blocks = coarse(&file, cx.axes);
    spread(cx, op, held, blocks, to)
}

/// A value that has one element for all coordinates up to the next multiple of a number, with all of those that a type
/// holds.
///
/// # Errors
/// Those of the operations that it takes.
pub fn spread(
    cx: &mut Raising<'_>,
    op: OpRef<'_>,
    mut known: Known,
    blocks: Vec<(AxisId, u64)>,
    to: &Tensor,
) -> Result<Known, Diagnostic> {
    for (axis, step) in blocks {
        if !known.held.contains_key(&axis) {
            continue;
        }
        let (name, size) = (cx.axes.name(axis).to_owned(), cx.axes.size(axis));
        let whole = match size % step {
            0 => Expr::axis(&name),
            rest => Expr::axis(&name).pad(size + step - rest, PadKind::Top),
        };
        let from = Expr::pair([whole.clone().stride(step), Expr::Literal(step)]);
        let spec = Rearrange::build(op, [known.value]).from(from).to(whole).spec();
        let mut held = known.held.clone();
        held.remove(&axis);
        known = cx.emit(spec, held)?;
        known = cx.narrow(op, known, &Coverage::new(to, cx.axes, op.span())?)?;
    }
    Ok(known)
}

/// An expression of values, whose names are `x`, `y`, `z` and so on.
///
/// # Errors
/// Functions of formats that they do not take.
pub fn mapped(
    cx: &mut Raising<'_>,
    op: OpRef<'_>,
    values: &[&Known],
    term: Term,
) -> Result<Known, Diagnostic> {
    let names = (0..values.len()).map(name).collect();
    let expression = Expression { names, term };
    let held =
        values.iter().fold(BTreeMap::new(), |held, value| both(&Known { held, ..(*value).clone() }, value));
    let spec = Map::build(op, values.iter().map(|known| known.value)).expression(expression).spec();
    cx.emit(spec, held)
}

/// The name of an operand in an expression.
fn name(at: usize) -> Arc<str> {
    ["x", "y", "z", "w"].get(at).map_or_else(|| format!("v{at}").into(), |name| (*name).into())
}

/// The call of a function.
#[must_use]
pub fn call(name: &str, args: Vec<Term>) -> Term {
    Term::Call(name.into(), args)
}

/// The one of two values that a condition chooses.
///
/// # Errors
/// Those of the inference.
pub fn chosen(
    cx: &mut Raising<'_>,
    op: OpRef<'_>,
    condition: &Known,
    [then, otherwise]: [&Known; 2],
) -> Result<Known, Diagnostic> {
    let spec = Where::build(op, [condition.value, then.value, otherwise.value]).spec();
    // Along an axis of the condition nothing is defined outside of it.
    cx.emit(spec, condition.held.clone())
}

/// An operation of an ALU: its arguments, and where it applies.
pub struct Applied<'a> {
    /// The operation.
    pub row: &'static AluOp,
    /// The choice of stream and operands for each of its arguments.
    pub mode: ArgMode,
    /// The operands that are constants.
    pub constants: [Option<Bits>; 2],
    /// Where it applies, the others pass unchanged.
    pub guards: Option<&'a Guards<Bits>>,
}

impl Applied<'_> {
    /// The function of the stream's element, and of the values or of an immediate in place of them.
    ///
    /// # Errors
    /// A mode that asks for more values than there are.
    fn function(
        &self,
        cx: &mut Raising<'_>,
        op: OpRef<'_>,
        stream: &Known,
        values: &[Known],
        immediate: Option<Bits>,
    ) -> Result<Known, Diagnostic> {
        let mut all = vec![stream.clone()];
        let mut operands: [Option<Term>; 2] = [None, None];
        let reads = self.mode.operands();
        let mut open = values.iter();
        for ((operand, constant), reads) in operands.iter_mut().zip(self.constants).zip(reads) {
            if !reads {
                continue;
            }
            *operand = Some(match constant.or(immediate) {
                Some(bits) => number(cx, op, self.row.from, bits, &mut all)?,
                None => {
                    let value = open.next().ok_or_else(|| op.error("C2", "an operand is missing"))?;
                    all.push(value.clone());
                    Term::Name(all.len() - 1)
                }
            });
        }
        let function = FUNCTIONS.iter().find(|function| function.operations.contains(&self.row.name));
        let function =
            function.ok_or_else(|| op.error("C1", format!("`{}` is no function", self.row.name)))?;
        if let (true, Some(width)) = (function.is_conversion(), self.constants[0]) {
            // The integer width is a number, and no element.
            operands[0] = Some(Term::Number(f64::from(width)));
            all.truncate(1);
        }
        let [first, second] = operands;
        let argument = |arg: &Arg| match arg {
            Arg::Stream => Some(Term::Name(0)),
            Arg::Operand0 => first.clone(),
            Arg::Operand1 => second.clone(),
        };
        let args: Option<Vec<Term>> = self.mode.args().iter().map(argument).collect();
        let mut args = args.ok_or_else(|| op.error("C2", "an operand is missing"))?;
        if let (true, Some(bits)) = (args.iter().all(is_number), self.constants[0].or(immediate)) {
            // An expression depends on an operand: a number alone becomes one.
            all.push(constant(cx, op, self.row.from, bits)?);
            args[0] = Term::Name(all.len() - 1);
        }
        mapped(cx, op, &all.iter().collect::<Vec<_>>(), call(function.name, args))
    }

    /// The results for the elements of the stream, whose execution ids are `ids`.
    ///
    /// # Errors
    /// A mode that requires more values than there are.
    pub fn apply(
        &self,
        cx: &mut Raising<'_>,
        op: OpRef<'_>,
        stream: &Known,
        values: &[Known],
        ids: Option<&Known>,
    ) -> Result<Known, Diagnostic> {
        let Some(guards) = self.guards else { return self.function(cx, op, stream, values, None) };
        let Some(ids) = ids else {
            // All ids are 0.
            return match guards.slot(0) {
                None => Ok(stream.clone()),
                Some(slot) => self.function(cx, op, stream, values, immediate(slot)),
            };
        };
        // Each different slot, with the ids that it is for.
        let mut slots: Vec<(Slot<Bits>, Vec<u8>)> = Vec::new();
        for (id, slot) in (0..IDS).filter_map(|id| Some((id, guards.slot(id)?))) {
            match slots.iter_mut().find(|(known, _)| known == slot) {
                Some((_, of)) => of.push(id),
                None => slots.push((*slot, vec![id])),
            }
        }
        let mut result = stream.clone();
        for (slot, of) in slots {
            let condition = by_id(cx, op, ids, |id| of.contains(&id).into())?;
            let applied = self.function(cx, op, stream, values, immediate(&slot))?;
            result = chosen(cx, op, &condition, [&applied, &result])?;
        }
        Ok(result)
    }
}

fn is_number(term: &Term) -> bool {
    matches!(term, Term::Number(_))
}

fn immediate(slot: &Slot<Bits>) -> Option<Bits> {
    match slot {
        Slot::Immediate(bits) => Some(*bits),
        Slot::Apply | Slot::Value => None,
    }
}

/// A number in an expression: written in it if it can be, and otherwise one more operand.
fn number(
    cx: &mut Raising<'_>,
    op: OpRef<'_>,
    dtype: DType,
    bits: Bits,
    all: &mut Vec<Known>,
) -> Result<Term, Diagnostic> {
    let number = to_f64(dtype, bits);
    let plain = number.is_finite() && !(number == 0.0 && number.is_sign_negative());
    if plain && from_number(dtype, number) == Some(bits) {
        return Ok(Term::Number(number));
    }
    all.push(constant(cx, op, dtype, bits)?);
    Ok(Term::Name(all.len() - 1))
}

/// The type of the result of an operation.
///
/// # Errors
/// If it is no tensor.
pub fn result(op: OpRef<'_>) -> Result<Rc<Tensor>, Diagnostic> {
    op.result_type::<Tensor>(0).ok_or_else(|| op.error("C0", "the result is no tensor"))
}
