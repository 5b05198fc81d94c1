//! `divide`: the loops that read a stream from a buffer (book 07), or the factor that is at fault.

use super::{Answer, NO, Query, YES, compare, input};
use crate::run::Refusal;
use serde_json::{Value, json};
use std::fmt::Write as _;
use visa_algebra::{
    Axes, AxisId, Carries, DigitsError, Division, Expr, MapError, Movement, Placement, Step, crossings,
    divide_across, place_expr, step_text,
};
use visa_loops::Stride;

/// A line a loop, outermost first. Axes that the buffer does not name are broadcast.
pub(super) fn answer(query: &Query) -> Result<Answer, Refusal> {
    let (axes, [stream, buffer]) = query.mappings()?;
    let carries = Carries::new(&[&stream, &buffer], &axes).map_err(broken)?;
    let found = divided(&stream, &buffer, &axes, carries.as_ref())?;
    if found.code == YES || carries.is_none() {
        return Ok(found);
    }
    // Parts that have separate digits can be read by these: the positions that they count beyond the composite are
    // padding.
    let by_digits = divided(&stream, &buffer, &axes, None)?;
    Ok(if by_digits.code == YES { by_digits } else { found })
}

fn broken(error: MapError) -> Refusal {
    input::refusal(error.code, None, error.message)
}

/// The division in terms of the composites whose parts carry.
fn divided(
    stream: &Expr,
    buffer: &Expr,
    declared: &Axes,
    carries: Option<&Carries>,
) -> Result<Answer, Refusal> {
    let axes = carries.map_or(declared, Carries::axes);
    let place = |mapping: &Expr| {
        let view = carries.map_or(Ok(mapping.clone()), |carries| carries.view(mapping));
        match place_expr(&view.map_err(broken)?, axes, 1) {
            Ok(placement) => Ok(Ok(placement)),
            Err(DigitsError::Ragged(ragged)) => Ok(Err(compare::unknown(&ragged.to_string()))),
            Err(DigitsError::Map(error)) => Err(broken(error)),
        }
    };
    let (order, held) = match (place(stream)?, place(buffer)?) {
        (Ok(order), Ok(held)) => (order, held),
        (Err(unknown), _) | (_, Err(unknown)) => return Ok(unknown),
    };
    let named = input::named(buffer, declared);
    let stands_in = |axis: AxisId| carries.is_some_and(|carries| carries.stands_in(axis));
    let free = |axis: AxisId| !stands_in(axis) && !named.contains(&axis);
    let walk = |order: &Placement| visa_algebra::divide(order, &held, &free, axes);
    let unlike = crossings(&[stream], &[buffer], &free, axes);
    let division = match unlike.len() {
        0 => walk(&order),
        count => divide_across(&order, &unlike, &vec![0; count], &walk, axes),
    };
    Ok(match division {
        Ok(division) => {
            let size = stream.size(declared).map_err(broken)?;
            let found = DividedStream { division: &division, stream: &order, axes, size };
            Answer { text: found.text(), json: found.json(), code: YES }
        }
        Err(error) => {
            let why = format!("`{stream}` cannot be read from `{buffer}`: {error}");
            Answer { text: format!("{why}\n"), json: json!({ "answer": "no", "why": why }), code: NO }
        }
    })
}

/// Elements from one iteration to the next, and a word for a loop that does not step.
fn walk(step: &Step) -> (Option<i64>, Option<&'static str>) {
    match step.movement {
        Movement::By(Stride::Fixed(stride)) => (Some(stride), None),
        Movement::By(Stride::Table(_)) => (None, Some("table")),
        Movement::Broadcast => (Some(0), Some("broadcast")),
        Movement::Padding => (None, Some("padding")),
    }
}

/// A division and the stream that is divided.
struct DividedStream<'a> {
    division: &'a Division,
    stream: &'a Placement,
    axes: &'a Axes,
    /// Positions of the stream.
    size: u64,
}

impl DividedStream<'_> {
    /// Positions of the stream that no loop counts: padding that is no digit. The loops of a window count
    /// positions several times.
    fn dropped(&self) -> u64 {
        let counted = self.division.steps.iter().map(|step| step.extent).fold(1, u64::saturating_mul);
        self.size.saturating_sub(counted)
    }

    fn text(&self) -> String {
        let Self { division, stream, axes, size } = *self;
        let mut text = String::new();
        for step in division.steps.iter().rev() {
            let (stride, word) = walk(step);
            let stride = stride.map_or("-".to_owned(), |stride| stride.to_string());
            let _ = write!(text, "{} : {stride}  {}", step.extent, step_text(step, stream, axes));
            text.push_str(&word.map_or(String::new(), |word| format!(" ({word})")));
            text.push('\n');
        }
        if self.dropped() > 0 {
            let _ = writeln!(text, "dropped: {} of {size} positions, which are padding", self.dropped());
        }
        let _ = writeln!(text, "base: {}\nleft over: {}", division.base, division.left_over(axes));
        let _ = match &division.relaxed {
            Some(why) => writeln!(text, "relaxed: {why}"),
            None => writeln!(text, "exact"),
        };
        text
    }

    fn json(&self) -> Value {
        let Self { division, stream, axes, .. } = *self;
        let loops = division.steps.iter().rev().map(|step| {
            let (stride, word) = walk(step);
            json!({
                "limit": step.extent,
                "live": step.live,
                "stride": stride,
                "walk": word.unwrap_or("stride"),
                "factor": step_text(step, stream, axes),
            })
        });
        json!({
            "answer": "yes",
            "loops": loops.collect::<Vec<_>>(),
            "dropped": self.dropped(),
            "base": division.base,
            "left_over": division.left_over(axes),
            "relaxed": division.relaxed,
        })
    }
}
