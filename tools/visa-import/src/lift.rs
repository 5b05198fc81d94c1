//! Lifts: fetches whose chips, clusters or slices each read a part of the copy that they hold.

use crate::error::Error;
use crate::eval::{Eval, Evaluator, Frame, Stop};
use crate::method::Call;
use crate::value::{FetchClauses, Stream, Value};
use visa_mapping::Dim;

/// The dimensions of lifts, in the order in which a fetch may have them.
const LIFTS: [Dim; 3] = [Dim::Chip, Dim::Cluster, Dim::Slice];

impl Evaluator<'_> {
    /// Gives a fetch a lift.
    pub(crate) fn lift(&mut self, frame: &Frame, mut stream: Stream, call: &Call, dim: Dim) -> Eval<Value> {
        let what = format!("the {}s of the stream", dim.name());
        let held = self.wanted_map(frame, call, call.map(0), &what)?;
        let held = self.with_idle(frame, call.span, dim, held);
        let time = self.wanted_map(frame, call, call.map(1), "its time")?;
        let Some(fetch) = stream.fetch.as_mut().filter(|fetch| fetch.clauses == FetchClauses::default())
        else {
            let message = format!("`{}` comes right after `fetch`, or after another lift", call.name);
            return Err(frame.error(call.span, message));
        };
        let position = |dim: Dim| LIFTS.iter().position(|own| *own == dim);
        if let Some((after, _)) = fetch.lifts.iter().find(|(own, _)| position(*own) >= position(dim)) {
            let message = format!("`{}` after the lift of the {}s", call.name, after.name());
            let fix = "lift chips first, then clusters, then slices, each at most once";
            return Err(Stop::Error(Error::new(frame.place(call.span), message).fix(fix)));
        }
        fetch.time = time;
        fetch.lifts.push((dim, held.clone()));
        match dim {
            Dim::Chip => stream.chip = held,
            Dim::Cluster => stream.cluster = held,
            Dim::Slice => stream.slice = held,
            Dim::Pe | Dim::Row | Dim::Element | Dim::Time | Dim::Packet => {
                return Err(frame.error(call.span, format!("a lift of the {}s", dim.name())));
            }
        }
        Ok(Value::Stream(Box::new(stream)))
    }
}
