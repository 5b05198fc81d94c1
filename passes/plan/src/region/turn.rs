//! Operands of ordered reductions, turned by the Transpose Engine (book 27): memory holds the reduced axis innermost,
//! and the lanes are rows that are apart. A packet gathers an element of each row, or a pipeline before exchanges
//! both, so that the elements of a packet are neighbours.

use crate::contraction::layout::{FLIT_BYTES, elements};
use crate::region::Slot;
use crate::region::emit::Held;
use crate::region::lanes::ReducedLanes;
use crate::region::layout::LANES;
use crate::region::planned::PlannedRegion;
use crate::writer::{Writer, new};
use visa_algebra::{Expr, PadKind};
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_stream::ops::commit::Commit;
use visa_stream::ops::transpose::Transpose;

/// Latency of a pipeline without computation: its fetch, its collection in flits and its commit.
const LATENCY: u64 = 3;

impl PlannedRegion<'_> {
    /// Rows that the Transpose Engine exchanges with the elements of a flit, if this and the reduction take fewer
    /// cycles than a reduction of gathered packets.
    #[must_use]
    pub fn turned(&self, operand: Slot, lanes: &ReducedLanes) -> Option<u64> {
        let array = self.array(self.region.values[operand].storage);
        let bits = u64::from(array.dtype.bits());
        let shape = self.machine.transpose(bits);
        let rows = (2..=shape.rows).rev().find(|&rows| lanes.rows().is_some_and(|all| all % rows == 0))?;
        let fills = rows * bits == self.machine.limits.transpose_row_bytes * 8 && shape.elements == LANES;
        (fills && self.turn_cycles(lanes, rows) + lanes.neighbours().cycles() < lanes.cycles())
            .then_some(rows)
    }

    /// Cycles of the reduction of an operand, with those of the pipeline that turns it.
    #[must_use]
    pub fn reduction_cycles(&self, operand: Slot, lanes: &ReducedLanes) -> u64 {
        match self.turned(operand, lanes) {
            Some(rows) => self.turn_cycles(lanes, rows) + lanes.neighbours().cycles(),
            None => lanes.cycles(),
        }
    }

    /// Cycles of the pipeline that turns an operand: matrices of `rows` rows and one flit of columns.
    fn turn_cycles(&self, lanes: &ReducedLanes, rows: u64) -> u64 {
        let matrices = lanes.matrices(rows);
        rows + (matrices - 1) * rows.max(LANES) + LANES + LATENCY
    }

    /// Writes the pipeline that turns an operand of a reduction. Returns its result in data memory.
    pub(super) fn turn(
        &self,
        writer: &mut Writer<'_>,
        held: &mut Held,
        operand: Slot,
        lanes: &ReducedLanes,
        rows: u64,
    ) -> Result<ValueId, Diagnostic> {
        let source = self.resident(writer, held, operand)?;
        let array = self.array(self.region.values[operand].storage);
        let (name, flit) = (&array.name, elements(FLIT_BYTES, array.dtype));
        writer.comment(&format!(
            "The Transpose Engine exchanges {rows} rows of %{name} with their elements: packets read neighbours."
        ));
        let [time, packet] = lanes.unturned(rows).map(|map| self.tidy(map));
        let stream = writer.fetch(source, [time.clone(), packet.clone()], name)?;
        let whole = if flit > LANES { packet.pad(flit, PadKind::Top) } else { packet };
        let stream = writer.collect(stream, [time, whole], name)?;
        let [time, packet] = lanes.turned(rows).map(|map| self.tidy(map));
        let op = new!(writer, Transpose, [stream]).time(time).packet(packet.pad(flit, PadKind::Top));
        let stream = writer.value(op, name)?;
        let op = new!(writer, Commit, [stream]).at_auto().element(self.tidy(lanes.memory(rows)));
        writer.value(op, &format!("{name}_turned"))
    }
}

impl ReducedLanes {
    /// Time and packet of all elements in the order of memory: `rows` rows of a matrix are innermost in time.
    fn unturned(&self, rows: u64) -> [Expr; 2] {
        let ([outer, inner], [steps, packet]) = self.exchanged(rows);
        [self.time([outer, steps, inner]), packet]
    }

    /// Time and packet of the same elements, with packets of a matrix's rows.
    fn turned(&self, rows: u64) -> [Expr; 2] {
        let ([outer, inner], [steps, packet]) = self.exchanged(rows);
        [self.time([outer, steps, packet]), inner]
    }

    /// The layout of the turned elements.
    fn memory(&self, rows: u64) -> Expr {
        let ([outer, inner], [steps, packet]) = self.exchanged(rows);
        self.time([steps, packet, outer, inner])
    }
}
