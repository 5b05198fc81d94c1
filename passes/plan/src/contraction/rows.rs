//! Rows of the streamed operand that the slices of a ring load whole, and of which they exchange parts of the sum. A
//! load of these parts would have short contiguous runs.

use crate::array::{GROUP_BYTES, whole_groups};
use crate::contraction::emit::{Planned, divided, integer};
use crate::contraction::layout::{FLIT_BYTES, Layout, elements, in_memory, position};
use crate::contraction::{Choice, Contraction, Mode};
use crate::cut::{Part, side_by_side};
use crate::writer::{Writer, new};
use visa_algebra::{Axes, Expr, PadKind};
use visa_engine::words::TopologyName;
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_stream::ops::commit::Commit;
use visa_stream::ops::switch::Switch;

impl Layout {
    /// Returns true if the slices of a ring may load whole rows of the stream: memory has the sum innermost, each
    /// slice has as many rows as others, and a part of the sum is a packet.
    #[must_use]
    pub fn may_load_rows(&self, problem: &Contraction, choice: &Choice) -> bool {
        let array = &problem.operands[1 - choice.stationary];
        let part = self.sum.count(Part::Time);
        let bytes = part * u64::from(array.dtype.bits()) / 8;
        let is_packet =
            whole_groups(part, array.dtype) == part && (GROUP_BYTES..=FLIT_BYTES).contains(&bytes);
        let whole = choice.sum == 1
            && !choice.padded
            && self.stream.tiles() == 1
            && self.stream.padded() == self.stream.size()
            && self.columns().is_multiple_of(choice.share_sum);
        let inner = position(array, &self.sum) > position(array, &self.stream)
            && position(array, &self.sum) > position(array, &self.batch);
        choice.mode == Mode::Columns
            && choice.share_sum > 1
            && choice.share_batch == 1
            && array.image.is_none()
            && is_packet
            && whole
            && inner
    }

    /// Streamed positions that a slice holds.
    fn columns(&self) -> u64 {
        self.stream.count(Part::Time) * self.stream.count(Part::Packet)
    }

    /// The rows of the stream before they are exchanged: the number of the slice, and those that it loads.
    fn row_parts(&self, choice: &Choice) -> [Expr; 2] {
        let held = side_by_side(self.stream.rest(&[Part::Cluster, Part::Slice, Part::Share]));
        divided(held, self.columns(), self.columns() / choice.share_sum)
    }

    /// The members of a ring that load whole rows.
    #[must_use]
    pub fn row_members(&self, choice: &Choice) -> Expr {
        let [member, _] = self.row_parts(choice);
        side_by_side([self.stream.part(Part::Share), member])
    }

    /// The layout of whole rows in data memory.
    #[must_use]
    pub fn loaded_rows(&self, problem: &Contraction, choice: &Choice, axes: &Axes) -> Expr {
        let array = &problem.operands[1 - choice.stationary];
        let [_, rows] = self.row_parts(choice);
        let mut around = [
            (position(array, &self.batch), self.batch.part(Part::Time)),
            (position(array, &self.stream), rows),
        ];
        around.sort_by_key(|(position, _)| *position);
        let terms = around.into_iter().map(|(_, term)| term).chain([self.sum.group().mapping()]);
        in_memory(terms, array.dtype, axes)
    }

    /// Packets of a slice that the exchange moves around its ring.
    #[must_use]
    pub fn row_packets(&self) -> u64 {
        self.batch.count(Part::Time) * self.columns()
    }
}

impl Planned<'_> {
    /// Exchanges parts of the rows that the slices of a ring have loaded.
    pub(super) fn exchanged_rows(
        &self,
        writer: &mut Writer<'_>,
        operand: usize,
        loaded: ValueId,
    ) -> Result<ValueId, Diagnostic> {
        let (layout, choice, problem) = (self.layout, self.choice, self.problem);
        if operand == choice.stationary || !choice.by_rows {
            return Ok(loaded);
        }
        let array = &problem.operands[operand];
        let name = &array.name;
        writer.comment(&self.why_rows_exchanged(operand));
        let ([member, rows], batch) = (layout.row_parts(choice), layout.batch.part(Part::Time));
        let packet = self.tidy(layout.sum.part(Part::Time));
        let flit = packet.clone().pad(elements(FLIT_BYTES, array.dtype), PadKind::Top);
        let time = self.dimension([batch.clone(), layout.sum.part(Part::Share), rows.clone()]);
        let stream = writer.fetch(loaded, [time, packet], name)?;
        let time = self.dimension([batch, rows, member]);
        let op = new!(writer, Switch, [stream]).topology(TopologyName::InterTranspose);
        let op = op.slice1(Some(integer(choice.share_sum))).slice0(Some(1));
        let op = op.time0(Some(integer(layout.columns() / choice.share_sum)));
        let op =
            op.slice(Some(self.tidy(layout.loaded_slices(choice, self.machine)))).time(Some(time.clone()));
        let stream = writer.value(op, name)?;
        let stream = writer.collect(stream, [time, self.tidy(flit)], name)?;
        let element = layout.loaded(problem, choice, operand, self.axes);
        writer.value(new!(writer, Commit, [stream]).at_auto().element(element), &format!("{name}_parts"))
    }
}
