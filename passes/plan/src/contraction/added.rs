//! Results of an expression that are added along the batch: sums of groups of a quantised operand, each times its
//! scale. A second pipeline adds the results of a slice, and those of the slices that divide the batch.

use crate::contraction::emit::{Planned, Results};
use crate::contraction::layout::SUMS;
use crate::cut::Part;
use crate::region::lanes::ReducedLanes;
use crate::region::layout::Local;
use crate::region::within::{between_slices, reduced_within};
use crate::writer::{Writer, new};
use visa_algebra::Expr;
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_ir::span::Span;
use visa_mapping::error::mapping_error;
use visa_numerics::{ReduceName, SliceReduceName};
use visa_stream::ops::commit::Commit;
use visa_stream::ops::vector::VectorFinal;

impl Planned<'_> {
    /// Adds results along the axis of the batch.
    pub(super) fn added(
        &self,
        writer: &mut Writer<'_>,
        results: Results,
        axis: &str,
    ) -> Result<Results, Diagnostic> {
        let (choice, layout, name) = (self.choice, self.layout, &self.problem.out.name);
        let lanes = self.added_lanes(&results)?;
        let element = self.dimension(results.time.into_iter().chain([results.packet]));
        let op = new!(writer, Commit, [results.stream]).at_auto().element(element);
        let terms = writer.value(op, &format!("{name}_terms"))?;
        writer.part(&self.why_batch_added(axis));
        let stream = self.fetched_terms(writer, terms, &lanes)?;
        let op = (SliceReduceName::Add, axis);
        let mut stream = reduced_within(writer, stream, &lanes, op, (name, self.axes))?;
        if choice.batch > 1 {
            let slices = self.tidy(layout.result_slices(self.problem, choice, false, self.machine));
            stream = between_slices(writer, stream, (ReduceName::Add, slices), name)?;
        }
        let stream = writer.value(new!(writer, VectorFinal, [stream]), name)?;
        let [time, packet] = lanes.widened();
        Ok(Results { stream, time: vec![time], packet })
    }

    /// Fetches the results in the order of the sum along the batch.
    fn fetched_terms(
        &self,
        writer: &mut Writer<'_>,
        terms: ValueId,
        lanes: &ReducedLanes,
    ) -> Result<ValueId, Diagnostic> {
        let name = &self.problem.out.name;
        let maps = lanes.fetched().map(|map| self.tidy(map));
        let stream = writer.fetch(terms, maps.clone(), name)?;
        writer.collect(stream, maps, name)
    }

    /// The dimensions of the results: the batch is added in time, the lanes stay apart.
    fn added_lanes(&self, results: &Results) -> Result<ReducedLanes, Diagnostic> {
        let layout = self.layout;
        let (summed, count) = (layout.held_batch(), layout.batches());
        let batch = [Part::Time, Part::Share].map(|part| layout.batch.part(part));
        let size = |map: &Expr| map.size(self.axes).map_err(|error| mapping_error(error, Span::default()));
        let mut local = Vec::new();
        for map in results.time.iter().filter(|map| !batch.contains(map) && **map != Expr::Literal(1)) {
            local.push(Local::new(map.clone(), size(map)?));
        }
        let at = local.len();
        local.push(Local::new(summed, count));
        local.push(Local::new(results.packet.clone(), SUMS));
        Ok(ReducedLanes::new(local, at, false, false))
    }
}
