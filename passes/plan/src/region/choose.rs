//! Comparisons and choices of a region: execution ids of the vector engine, and operations that they guard (book 21).

use crate::array::Array;
use crate::region::emit::{Held, as_format, too_large, unwritten};
use crate::region::pieces::Piece;
use crate::region::planned::PlannedRegion;
use crate::region::{Arm, Slot};
use crate::writer::{Writer, new};
use std::rc::Rc;
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_ir::span::Span;
use visa_mapping::tensor::numbers::Number;
use visa_numerics::{
    ArgMode, Compare, Comparisons, DType, FxpName, Guard, Guards, IdSet, LogicName, Slot as Operand,
};
use visa_stream::branch::IdSource;
use visa_stream::ops::vector::{VectorFinal, VectorInit};
use visa_stream::ops::vector_alu::{VectorFxp, VectorLogic};
use visa_stream::ops::vector_branch::VectorBranch;
use visa_stream::ops::vector_log::VectorLog;

/// Bits of an id that one operation tells apart: it has three immediates (book 21).
const BITS: usize = 2;

/// A choice while it is written: its result, its condition, and the two values.
struct Choice<'a> {
    array: &'a Array,
    condition: Slot,
    arms: [Arm; 2],
}

impl PlannedRegion<'_> {
    /// The number of the value of a choice that streams; `None` if both are numbers.
    fn kept(&self, arms: [Arm; 2]) -> Option<usize> {
        let elements = |slot: Slot| self.layout.elements(self.array(slot));
        match arms {
            [Arm::Bits(_), Arm::Bits(_)] => None,
            [Arm::Value(_), Arm::Bits(_)] => Some(0),
            [Arm::Bits(_), Arm::Value(_)] => Some(1),
            [Arm::Value(then), Arm::Value(otherwise)] => {
                Some(usize::from(elements(then) <= elements(otherwise)))
            }
        }
    }

    /// The value of a choice that streams, and those in the register file: the condition, and the other value.
    #[must_use]
    pub fn chosen(&self, condition: Slot, arms: [Arm; 2]) -> (Slot, Vec<Slot>) {
        let slot = |arm: Arm| match arm {
            Arm::Value(slot) => Some(slot),
            Arm::Bits(_) => None,
        };
        match self.kept(arms) {
            None => (condition, Vec::new()),
            Some(kept) => {
                let others = std::iter::once(condition).chain(slot(arms[1 - kept]));
                (slot(arms[kept]).unwrap_or(condition), others.collect())
            }
        }
    }

    /// Writes the comparisons of a value.
    pub(super) fn compare(
        &self,
        writer: &mut Writer<'_>,
        held: &mut Held,
        result: Slot,
        operand: Slot,
        with: &Comparisons<Number>,
    ) -> Result<ValueId, Diagnostic> {
        let array = self.array(result);
        let [time, packet] = self.stream_of(array, None);
        let stream = self.fetch(writer, held, operand, [&time, &packet])?;
        let stream = writer.value(new!(writer, VectorInit, [stream]), &array.name)?;
        let stream = compared(writer, stream, with.clone(), &array.name)?;
        let stream = as_format(writer, stream, self.region.values[operand].read, DType::I32, &array.name)?;
        let op = new!(writer, VectorLogic, [stream]).op(LogicName::BitAnd).constant(number(0));
        let mut stream = writer.value(op, &array.name)?;
        if let Some(when) = parts(with.ids(), 0)? {
            let op = new!(writer, VectorLogic, [stream]).op(LogicName::BitOr).when(Some(Rc::new(when)));
            stream = writer.value(op, &array.name)?;
        }
        if let Some(when) = parts(with.ids(), BITS)? {
            let op = new!(writer, VectorFxp, [stream]).op(FxpName::AddFxp).when(Some(Rc::new(when)));
            stream = writer.value(op, &array.name)?;
        }
        let stream = writer.value(new!(writer, VectorFinal, [stream]), &array.name)?;
        self.commit(writer, array, stream)
    }

    /// Writes a choice between two values.
    pub(super) fn choose(
        &self,
        writer: &mut Writer<'_>,
        held: &mut Held,
        result: Slot,
        condition: Slot,
        arms: [Arm; 2],
    ) -> Result<ValueId, Diagnostic> {
        let array = self.array(result);
        let (_, others) = self.chosen(condition, arms);
        let Some(count) = self.pieces_with(&others, array) else { return Err(too_large(array)) };
        let mut whole = if count == 1 { None } else { Some(self.empty(writer, array)?) };
        let choice = Choice { array, condition, arms };
        for piece in self.divided(array, count) {
            let stream = self.chosen_stream(writer, held, &choice, piece.as_ref())?;
            whole = Some(self.commit_part(writer, array, stream, piece.as_ref().zip(whole))?);
        }
        whole.ok_or_else(|| unwritten(array))
    }

    /// The stream of the chosen elements, all of them or a piece.
    fn chosen_stream(
        &self,
        writer: &mut Writer<'_>,
        held: &mut Held,
        choice: &Choice<'_>,
        piece: Option<&Piece>,
    ) -> Result<ValueId, Diagnostic> {
        let &Choice { array, condition, arms } = choice;
        let (streamed, others) = self.chosen(condition, arms);
        let ids = if others.is_empty() { None } else { Some(self.ids(writer, held, choice, piece)?) };
        let replaced = match others[..] {
            [_, slot] => Some(self.bits_in_file(writer, held, (slot, array), piece)?),
            [] | [_] | [_, _, _, ..] => None,
        };
        let [time, packet] = self.stream_of(array, piece);
        let stream = self.fetch(writer, held, streamed, [&time, &packet])?;
        let stream = writer.value(new!(writer, VectorInit, [stream]), &array.name)?;
        let stream = match ids {
            Some(ids) => {
                writer.value(new!(writer, VectorBranch, [stream, ids]).mode(IdSource::Vrf), &array.name)?
            }
            None => compared(writer, stream, is_zero(), &array.name)?,
        };
        let read = self.region.values[streamed].read;
        let stream = as_format(writer, stream, read, DType::I32, &array.name)?;
        let when = guards(arms, self.kept(arms))?;
        let values = std::iter::once(stream).chain(replaced);
        let op = new!(writer, VectorLogic, values).op(LogicName::BitOr).mode(Some(ArgMode::Mode11));
        let stream = writer.value(op.when(Some(Rc::new(when))), &array.name)?;
        let stream = as_format(writer, stream, DType::I32, array.dtype, &array.name)?;
        writer.value(new!(writer, VectorFinal, [stream]), &array.name)
    }

    /// The ids of a choice in the register file: 1 where the condition is 0.
    fn ids(
        &self,
        writer: &mut Writer<'_>,
        held: &mut Held,
        choice: &Choice<'_>,
        piece: Option<&Piece>,
    ) -> Result<ValueId, Diagnostic> {
        let condition = self.array(choice.condition);
        let [time, packet] = self.operand_stream(condition, choice.array, piece);
        let stream = self.fetch(writer, held, choice.condition, [&time, &packet])?;
        let stream = writer.value(new!(writer, VectorInit, [stream]), &condition.name)?;
        let stream = compared(writer, stream, is_zero(), &condition.name)?;
        let element = self.dimension([time, packet]);
        let name = format!("{}_ids", condition.name);
        writer.value(new!(writer, VectorLog, [stream]).at_auto().element(element), &name)
    }

    /// A value in the register file, as integers with its bits: no operation on floats keeps all of them.
    fn bits_in_file(
        &self,
        writer: &mut Writer<'_>,
        held: &mut Held,
        (slot, array): (Slot, &Array),
        piece: Option<&Piece>,
    ) -> Result<ValueId, Diagnostic> {
        if self.region.values[slot].read == DType::I32 {
            return self.operand(writer, held, slot, array, piece);
        }
        let (source, value) = (self.bits(writer, held, slot)?, self.array(slot));
        let [time, packet] = self.operand_stream(value, array, piece);
        let stream =
            self.fetch_from(writer, (source, &value.name), (DType::I32, (None, None)), [&time, &packet])?;
        self.to_file(writer, &value.name, stream, [time, packet])
    }

    /// The bits of a value of floats in data memory, as integers.
    fn bits(&self, writer: &mut Writer<'_>, held: &mut Held, slot: Slot) -> Result<ValueId, Diagnostic> {
        if let Some(known) = held.bits[slot] {
            return Ok(known);
        }
        let value = Array { dtype: DType::I32, ..self.array(slot).clone() };
        let name = format!("{}_bits", value.name);
        let [time, packet] = self.stream_of(&value, None);
        let stream = self.fetch(writer, held, slot, [&time, &packet])?;
        let stream = writer.value(new!(writer, VectorInit, [stream]), &name)?;
        let branch = new!(writer, VectorBranch, [stream]).mode(IdSource::Unconditional);
        let stream = writer.value(branch, &name)?;
        let stream = as_format(writer, stream, self.region.values[slot].read, DType::I32, &name)?;
        let stream = writer.value(new!(writer, VectorFinal, [stream]), &name)?;
        let bits = self.commit(writer, &Array { name, ..value }, stream)?;
        held.bits[slot] = Some(bits);
        Ok(bits)
    }
}

/// Gives each element of a stream the bits of comparisons as its id.
fn compared(
    writer: &mut Writer<'_>,
    stream: ValueId,
    with: Comparisons<Number>,
    name: &str,
) -> Result<ValueId, Diagnostic> {
    let branch = new!(writer, VectorBranch, [stream]).mode(IdSource::Comparison);
    writer.value(branch.compare(Some(Rc::new(with))), name)
}

/// The comparison whose bit is set where an element is 0.
fn is_zero() -> Comparisons<Number> {
    Comparisons(vec![(Compare::Equal, Some(Number(0.0)))])
}

/// The guards under which elements of a stream are replaced, which are those of value `kept` or of neither: id 1
/// stands for the second value.
fn guards(arms: [Arm; 2], kept: Option<usize>) -> Result<Guards<Number>, Diagnostic> {
    let mut all = Vec::new();
    for (at, (arm, id)) in arms.into_iter().zip(["xxx0", "xxx1"]).enumerate() {
        if kept == Some(at) {
            continue;
        }
        let operand = match arm {
            Arm::Bits(bits) => Operand::Immediate(Number(bits.into())),
            Arm::Value(_) => Operand::Apply,
        };
        all.push((guard(id)?, operand));
    }
    Ok(Guards(all))
}

/// The guards that add bits `from` and `from + 1` of an id, of those in `ids`; `None` if no id has one of them.
fn parts(ids: IdSet, from: usize) -> Result<Option<Guards<Number>>, Diagnostic> {
    let mut all = Vec::new();
    for part in 1..1_u8 << BITS {
        let text: String = (0..2 * BITS)
            .rev()
            .map(|bit| match bit.checked_sub(from).filter(|at| *at < BITS) {
                Some(at) if part >> at & 1 == 1 => '1',
                Some(_) => '0',
                None => 'x',
            })
            .collect();
        let guard = guard(&text)?;
        if guard.ids() & ids != 0 {
            all.push((guard, Operand::Immediate(Number(f64::from(part << from)))));
        }
    }
    Ok((!all.is_empty()).then_some(Guards(all)))
}

/// A guard from its text.
fn guard(text: &str) -> Result<Guard, Diagnostic> {
    text.parse().map_err(|why: String| Diagnostic::error("plan-kernel", Span::default(), why))
}

/// A clause that is an integer.
fn number(value: i32) -> Option<Rc<Number>> {
    Some(Rc::new(Number(value.into())))
}
