//! `digits`: the digit normal form as a table, or why there is none.

use super::{Answer, Query, UNKNOWN, YES, cell, input};
use crate::run::Refusal;
use serde_json::{Value, json};
use std::fmt::Write as _;
use visa_algebra::{Axes, Cell, Digit, Digits, DigitsError, Index, describe};

/// A line a digit, major first, and the offset.
pub(super) fn answer(query: &Query) -> Result<Answer, Refusal> {
    let (axes, [mapping]) = query.mappings()?;
    match visa_algebra::digits(&mapping, &axes) {
        Ok(digits) => Ok(Answer { text: table(&digits, &axes), json: json(&digits, &axes), code: YES }),
        Err(DigitsError::Ragged(ragged)) => Ok(Answer {
            text: format!("no digits: {ragged}\n"),
            json: json!({ "ragged": ragged.at }),
            code: UNKNOWN,
        }),
        Err(DigitsError::Map(error)) => Err(input::refusal(error.code, None, error.message)),
    }
}

fn axis<'a>(digit: &Digit, axes: &'a Axes) -> Option<&'a str> {
    digit.axis.map(|axis| axes.name(axis))
}

/// The content of the positions past the live ones, if there are any.
fn padding(digit: &Digit) -> Option<&'static str> {
    (!digit.is_full()).then_some(cell::word(digit.kind))
}

/// The index at position 0.
fn offset(digits: &Digits) -> Index {
    digits.offset().iter().map(|offset| (offset.axis, offset.coordinate)).collect()
}

fn table(digits: &Digits, axes: &Axes) -> String {
    let row = |cells: [&str; 5]| cells.map(str::to_owned);
    let mut rows = vec![row(["axis", "stride", "extent", "live", "padding"])];
    for digit in digits.iter().rev() {
        let numbers = [digit.stride, digit.extent, digit.live].map(|n| n.to_string());
        let [stride, extent, live] = numbers.each_ref().map(String::as_str);
        rows.push(row([
            axis(digit, axes).unwrap_or("-"),
            stride,
            extent,
            live,
            padding(digit).unwrap_or("-"),
        ]));
    }
    let widths: [usize; 5] =
        std::array::from_fn(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0));
    let mut text = String::new();
    for [name, stride, extent, live, padding] in rows {
        let [w0, w1, w2, w3, _] = widths;
        let _ = writeln!(text, "{name:<w0$}  {stride:>w1$}  {extent:>w2$}  {live:>w3$}  {padding}");
    }
    let _ = writeln!(text, "offset: {}", describe(Some(&Cell::Live(offset(digits))), axes));
    text
}

fn json(digits: &Digits, axes: &Axes) -> Value {
    let rows = digits.iter().rev().map(|digit| {
        json!({
            "axis": axis(digit, axes),
            "stride": digit.stride,
            "extent": digit.extent,
            "live": digit.live,
            "padding": padding(digit),
        })
    });
    json!({ "digits": rows.collect::<Vec<_>>(), "offset": cell::coordinates(&offset(digits), axes) })
}
