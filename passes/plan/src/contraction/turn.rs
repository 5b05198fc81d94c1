//! The streamed operand of blocks, turned by the Transpose Engine (book 27): data memory holds its columns innermost,
//! and a packet has 8 summed positions of each column next to each other.

use crate::contraction::Mode;
use crate::contraction::emit::Planned;
use crate::contraction::layout::{FLIT_BYTES, Layout, SUMS, elements};
use crate::cut::{Part, side_by_side};
use crate::writer::{Writer, new};
use visa_algebra::{Expr, PadKind};
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_machine::Unit;
use visa_stream::ops::begin::Begin;
use visa_stream::ops::collect::Collect;
use visa_stream::ops::commit::Commit;
use visa_stream::ops::fetch::Fetch;
use visa_stream::ops::transpose::Transpose;

impl Planned<'_> {
    /// The summed positions that a slice loads of the stream: the number of the block, and the position within it.
    pub(super) fn blocks(&self) -> [Expr; 2] {
        let (map, by) = (self.layout.sum.part(Part::Time), self.layout.packet / SUMS);
        if self.layout.sum.count(Part::Time) == by {
            return [Expr::Literal(1), map];
        }
        [map.clone().stride(by), map.modulo(by)]
    }

    /// Turns the streamed operand, if the plan has blocks.
    pub(super) fn turned(
        &self,
        writer: &mut Writer<'_>,
        operand: usize,
        loaded: ValueId,
    ) -> Result<ValueId, Diagnostic> {
        if self.choice.mode != Mode::Blocks || operand == self.choice.stationary {
            return Ok(loaded);
        }
        let name = &self.problem.operands[operand].name;
        writer.comment(&format!(
            "The Transpose Engine exchanges 8 summed positions of %{name} with 8 columns: packets read neighbours."
        ));
        let (stream, [steps, positions]) = (&self.layout.stream, self.blocks());
        let columns = stream.part(Part::Packet);
        let except = [Layout::elsewhere(self.choice, operand), &[Part::Packet]].concat();
        let outer =
            side_by_side([self.layout.batch.part(Part::Time), steps].into_iter().chain(stream.rest(&except)));
        let flit = elements(FLIT_BYTES, self.problem.dtype());
        let padded = |packet: &Expr| self.tidy(packet.clone().pad(flit, PadKind::Top));
        let time = self.dimension([outer.clone(), positions.clone()]);
        let begin = writer.value(new!(writer, Begin, [loaded]).context(Unit::Main), name)?;
        let op = new!(writer, Fetch, [begin]).time(time.clone()).packet(self.tidy(columns.clone()));
        let stream = writer.value(op, name)?;
        let op = new!(writer, Collect, [stream]).time(time).packet(padded(&columns));
        let stream = writer.value(op, name)?;
        let time = self.dimension([outer.clone(), columns.clone()]);
        let op = new!(writer, Transpose, [stream]).time(time).packet(padded(&positions));
        let stream = writer.value(op, name)?;
        let element = self.dimension([outer, columns, positions]);
        writer.value(new!(writer, Commit, [stream]).at_auto().element(element), &format!("{name}_turned"))
    }
}
