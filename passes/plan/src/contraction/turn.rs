//! The streamed operand, turned by the Transpose Engine (book 27). Packets of columns would gather them where summed
//! positions are innermost: afterwards columns are. Packets of blocks have 8 positions of each column next to each
//! other.

use crate::contraction::Mode;
use crate::contraction::emit::{Planned, divided};
use crate::contraction::guess::{turned_rows, turns};
use crate::contraction::layout::{FLIT_BYTES, Layout, SUMS, elements};
use crate::cut::{Part, side_by_side};
use crate::writer::{Writer, new};
use visa_algebra::{Expr, PadKind};
use visa_cost::MemoryModel;
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_stream::ops::commit::Commit;
use visa_stream::ops::transpose::Transpose;

/// Matrices that the Transpose Engine exchanges.
struct Matrices {
    /// Time steps around a matrix.
    outer: Expr,
    /// Its rows, which become packets.
    inner: Expr,
    /// Its packets, which become time steps.
    packet: Expr,
    /// The layout of the turned operand.
    element: Expr,
    /// Number of rows.
    rows: u64,
}

impl Planned<'_> {
    /// The summed positions that a slice loads of the stream: the number of the block, and the position within it.
    pub(super) fn blocks(&self) -> [Expr; 2] {
        let (map, by) = (self.layout.sum.part(Part::Time), self.layout.packet / SUMS);
        if self.layout.sum.count(Part::Time) == by {
            return [Expr::Literal(1), map];
        }
        [map.clone().stride(by), map.modulo(by)]
    }

    /// The matrices of the streamed operand that a pipeline turns; `None` if there is no such pipeline.
    fn matrices(&self, operand: usize) -> Option<Matrices> {
        let (problem, choice, layout) = (self.problem, self.choice, self.layout);
        let turned = || turns(problem, choice, layout, self.machine, MemoryModel::Flat);
        if operand == choice.stationary || !turned() {
            return None;
        }
        let (stream, sum, batch) = (&layout.stream, &layout.sum, layout.batch.part(Part::Time));
        let columns = stream.part(Part::Packet);
        let except = [Layout::elsewhere(choice, operand), &[Part::Packet]].concat();
        let rest = side_by_side(stream.rest(&except));
        if choice.mode == Mode::Blocks {
            let [steps, positions] = self.blocks();
            let outer = side_by_side([batch, steps, rest]);
            let element = side_by_side([outer.clone(), columns.clone(), positions.clone()]);
            return Some(Matrices { outer, inner: positions, packet: columns, element, rows: SUMS });
        }
        let rows = turned_rows(&problem.operands[operand]);
        let [groups, inner] = divided(columns.clone(), stream.count(Part::Packet), rows);
        let [steps, packet] = divided(sum.part(Part::Time), sum.count(Part::Time), SUMS);
        let outer = side_by_side([batch.clone(), rest.clone(), groups, steps]);
        let element = side_by_side([batch, sum.part(Part::Time), rest, columns]);
        Some(Matrices { outer, inner, packet, element, rows })
    }

    /// Turns the streamed operand, if its packets would gather elements that are apart, or are blocks.
    pub(super) fn turned(
        &self,
        writer: &mut Writer<'_>,
        operand: usize,
        loaded: ValueId,
    ) -> Result<ValueId, Diagnostic> {
        let Some(Matrices { outer, inner, packet, element, rows }) = self.matrices(operand) else {
            return Ok(loaded);
        };
        let array = &self.problem.operands[operand];
        let name = &array.name;
        let (positions, columns) = ("8 summed positions".to_owned(), format!("{rows} columns"));
        let [first, second] = match self.choice.mode {
            Mode::Blocks => [format!("{positions} of %{name}"), columns],
            Mode::Columns | Mode::Tree => [format!("{columns} of %{name}"), positions],
        };
        let exchanged = format!("The Transpose Engine exchanges {first} with {second}");
        writer.comment(&format!("{exchanged}: packets read neighbours."));
        let flit = elements(FLIT_BYTES, array.dtype);
        let padded = |packet: &Expr| self.tidy(packet.clone().pad(flit, PadKind::Top));
        let time = self.dimension([outer.clone(), inner.clone()]);
        let stream = writer.fetch(loaded, [time.clone(), self.tidy(packet.clone())], name)?;
        let stream = writer.collect(stream, [time, padded(&packet)], name)?;
        let time = self.dimension([outer, packet]);
        let op = new!(writer, Transpose, [stream]).time(time).packet(padded(&inner));
        let stream = writer.value(op, name)?;
        let op = new!(writer, Commit, [stream]).at_auto().element(self.tidy(element));
        writer.value(op, &format!("{name}_turned"))
    }
}
