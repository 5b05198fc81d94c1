//! `divide`: the loops that read a stream from a buffer (book 07), or the factor that is at fault.

use super::{Answer, NO, Query, YES, compare, input};
use crate::run::Refusal;
use serde_json::{Value, json};
use std::fmt::Write as _;
use visa_mapping::{
    Axes, AxisId, DigitsError, Division, Expr, Placement, Step, Walk, crossings, divide_across, place_expr,
    step_text,
};

/// A line a loop, outermost first. Axes that the buffer does not name are broadcast.
pub(super) fn answer(query: &Query) -> Result<Answer, Refusal> {
    let (axes, [stream, buffer]) = query.mappings()?;
    let place = |mapping: &Expr| match place_expr(mapping, &axes, 1) {
        Ok(placement) => Ok(Ok(placement)),
        Err(DigitsError::Ragged(ragged)) => Ok(Err(compare::unknown(&ragged.to_string()))),
        Err(DigitsError::Map(error)) => Err(input::refusal(error.code, None, error.message)),
    };
    let (order, held) = match (place(&stream)?, place(&buffer)?) {
        (Ok(order), Ok(held)) => (order, held),
        (Err(unknown), _) | (_, Err(unknown)) => return Ok(unknown),
    };
    let named = input::named(&buffer, &axes);
    let free = |axis: AxisId| !named.contains(&axis);
    let walk = |order: &Placement| visa_mapping::divide(order, &held, &free, &axes);
    let unlike = crossings(&[&stream], &[&buffer], &free, &axes);
    let division = match unlike.len() {
        0 => walk(&order),
        count => divide_across(&order, &unlike, &vec![0; count], &walk, &axes),
    };
    Ok(match division {
        Ok(division) => {
            Answer { text: text(&division, &order, &axes), json: json(&division, &order, &axes), code: YES }
        }
        Err(error) => {
            let why = format!("`{stream}` cannot be read from `{buffer}`: {error}");
            Answer { text: format!("{why}\n"), json: json!({ "answer": "no", "why": why }), code: NO }
        }
    })
}

/// Elements from one iteration to the next, and a word for a loop that does not step.
fn walk(step: &Step) -> (Option<i64>, Option<&'static str>) {
    match step.walk {
        Walk::Stride(stride) => (Some(stride), None),
        Walk::Table(_) => (None, Some("table")),
        Walk::Broadcast => (Some(0), Some("broadcast")),
        Walk::Padding => (None, Some("padding")),
    }
}

fn text(division: &Division, stream: &Placement, axes: &Axes) -> String {
    let mut text = String::new();
    for step in division.steps.iter().rev() {
        let (stride, word) = walk(step);
        let stride = stride.map_or("-".to_owned(), |stride| stride.to_string());
        let _ = write!(text, "{} : {stride}  {}", step.extent, step_text(step, stream, axes));
        text.push_str(&word.map_or(String::new(), |word| format!(" ({word})")));
        text.push('\n');
    }
    let _ = writeln!(text, "base: {}\nleft over: {}", division.base, division.left_over(axes));
    let _ = match &division.relaxed {
        Some(why) => writeln!(text, "relaxed: {why}"),
        None => writeln!(text, "exact"),
    };
    text
}

fn json(division: &Division, stream: &Placement, axes: &Axes) -> Value {
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
        "base": division.base,
        "left_over": division.left_over(axes),
        "relaxed": division.relaxed,
    })
}
