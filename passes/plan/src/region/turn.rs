//! Elements turned by the Transpose Engine (book 27). Memory holds one dimension innermost, and packets another one:
//! those of an ordered reduction, whose lanes are rows, and those of a copy whose result is in another order. A packet
//! gathers an element of each row, or a pipeline exchanges rows and columns, so that the elements of a packet are
//! neighbours.

use crate::array::Array;
use crate::contraction::layout::{FLIT_BYTES, elements};
use crate::cut::side_by_side;
use crate::region::Slot;
use crate::region::emit::Held;
use crate::region::lanes::ReducedLanes;
use crate::region::layout::{LANES, Local};
use crate::region::planned::PlannedRegion;
use crate::writer::{Writer, new};
use visa_algebra::{Expr, PadKind};
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_stream::ops::commit::Commit;
use visa_stream::ops::transpose::Transpose;

/// Latency of a pipeline without computation: its fetch, its collection in flits and its commit.
const LATENCY: u64 = 3;

/// Matrices that the Transpose Engine turns: some rows, which are apart in memory, and a packet of columns each.
pub struct Matrices {
    /// The dimension of the rows.
    rows: Local,
    /// Rows of a matrix.
    height: u64,
    /// The innermost dimension in memory.
    columns: Local,
    /// The other dimensions, slowest first.
    others: Vec<Expr>,
    /// Number of their positions.
    steps: u64,
}

impl Matrices {
    /// Cycles of the pipeline.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        let matrices = self.steps * (self.rows.size / self.height) * self.columns.size.div_ceil(LANES);
        self.height + (matrices - 1) * self.height.max(LANES) + LANES + LATENCY
    }

    /// Outer and inner parts of the rows and of the columns.
    fn parts(&self) -> ([Expr; 2], [Expr; 2]) {
        (self.rows.packets(self.height), self.columns.packets(LANES))
    }

    /// All other dimensions around `inner`.
    fn time(&self, inner: impl IntoIterator<Item = Expr>) -> Expr {
        side_by_side(self.others.iter().cloned().chain(inner))
    }

    /// Time and packet of all elements in the order of memory: the rows of a matrix are innermost in time.
    fn unturned(&self) -> [Expr; 2] {
        let ([outer, inner], [steps, packet]) = self.parts();
        [self.time([outer, steps, inner]), packet]
    }

    /// Time and packet of the same elements, with packets of a matrix's rows.
    fn turned(&self) -> [Expr; 2] {
        let ([outer, inner], [steps, packet]) = self.parts();
        [self.time([outer, steps, packet]), inner]
    }

    /// A layout of the turned elements.
    fn memory(&self) -> Expr {
        let ([outer, inner], [steps, packet]) = self.parts();
        self.time([steps, packet, outer, inner])
    }
}

impl PlannedRegion<'_> {
    /// The matrices of an operand's elements, if the Transpose Engine and the reduction after it take fewer cycles
    /// than a reduction of gathered packets.
    #[must_use]
    pub fn turned(&self, operand: Slot, lanes: &ReducedLanes) -> Option<Matrices> {
        lanes.rows()?;
        let (rows, columns, others) = lanes.apart();
        let matrices =
            self.matrices(self.array(self.region.values[operand].storage), rows, columns, others)?;
        (matrices.cycles() + lanes.neighbours().cycles() < lanes.cycles()).then_some(matrices)
    }

    /// The matrices of a copy to `result`, if the Transpose Engine takes fewer cycles than packets that gather
    /// their elements. Columns have no padding, which the copy would leave out.
    #[must_use]
    pub fn turned_copy(&self, operand: Slot, result: &Array) -> Option<Matrices> {
        let (slot, value) = (self.region.values[operand].storage, &self.region.values[operand]);
        if slot != operand || value.table.is_some() || value.is_converted() || self.is_grouped(slot) {
            return None;
        }
        let (array, last) = (self.array(slot), self.layout.local(result).pop()?);
        let mut others = self.layout.local(array);
        let columns = others.pop().filter(|own| *own != last && own.size.is_multiple_of(LANES))?;
        let at = others.iter().position(|own| *own == last)?;
        let matrices = self.matrices(array, others.remove(at), columns, others)?;
        let gathered = self.streamed_packets(operand, result, self.copied(result)).accesses;
        (matrices.cycles() < gathered).then_some(matrices)
    }

    /// Matrices of these dimensions of an array; `None` if the engine turns none of them.
    fn matrices(&self, array: &Array, rows: Local, columns: Local, others: Vec<Local>) -> Option<Matrices> {
        let bits = u64::from(array.dtype.bits());
        let shape = self.machine.transpose(bits);
        let height = (2..=shape.rows).rev().find(|&height| rows.size.is_multiple_of(height))?;
        let fills = height * bits == self.machine.limits.transpose_row_bytes * 8 && shape.elements == LANES;
        let steps = others.iter().map(|own| own.size).product();
        let others = others.into_iter().map(|own| own.map).collect();
        fills.then_some(Matrices { rows, height, columns, others, steps })
    }

    /// Cycles of the reduction of an operand, with those of the pipeline that turns it.
    #[must_use]
    pub fn reduction_cycles(&self, operand: Slot, lanes: &ReducedLanes) -> u64 {
        match self.turned(operand, lanes) {
            Some(matrices) => matrices.cycles() + lanes.neighbours().cycles(),
            None => lanes.cycles(),
        }
    }

    /// Writes the pipeline that turns an operand of a reduction. Returns its result in data memory.
    pub(super) fn turn(
        &self,
        writer: &mut Writer<'_>,
        held: &mut Held,
        operand: Slot,
        matrices: &Matrices,
    ) -> Result<ValueId, Diagnostic> {
        let stream = self.turned_stream(writer, held, operand, matrices)?;
        let op = new!(writer, Commit, [stream]).at_auto().element(self.tidy(matrices.memory()));
        let name = &self.array(self.region.values[operand].storage).name;
        writer.value(op, &format!("{name}_turned"))
    }

    /// Writes a fetch of an operand, and the exchange of rows and columns. Returns the stream.
    pub(super) fn turned_stream(
        &self,
        writer: &mut Writer<'_>,
        held: &mut Held,
        operand: Slot,
        matrices: &Matrices,
    ) -> Result<ValueId, Diagnostic> {
        let source = self.resident(writer, held, operand)?;
        let array = self.array(self.region.values[operand].storage);
        let (name, flit, height) = (&array.name, elements(FLIT_BYTES, array.dtype), matrices.height);
        writer.comment(&format!(
            "The Transpose Engine exchanges {height} rows of %{name} with their elements: packets read neighbours."
        ));
        let [time, packet] = matrices.unturned().map(|map| self.tidy(map));
        let stream = writer.fetch(source, [time.clone(), packet.clone()], name)?;
        let whole = if flit > LANES { packet.pad(flit, PadKind::Top) } else { packet };
        let stream = writer.collect(stream, [time, whole], name)?;
        let [time, packet] = matrices.turned().map(|map| self.tidy(map));
        let op = new!(writer, Transpose, [stream]).time(time).packet(packet.pad(flit, PadKind::Top));
        writer.value(op, name)
    }
}
