//! The snoop bitmap of the switch engine (book 13): for each slice, the source slices whose packets it outputs.

use std::fmt;
use std::rc::Rc;
use std::str::FromStr;
use visa_ir::decl::{Body, BodyDef, BodyError};
use visa_ir::diag::counted;

/// Most rows of a bitmap, and most sources of a row. A limit of this implementation (the hardware has 256): it bounds
/// the allocations of a text.
pub const MAX_ROWS: usize = 1 << 10;

/// `#hw.snoop<[{0-3} x 4]>`: a [`Snoop`].
pub static SNOOP: BodyDef = BodyDef {
    name: "hw.snoop",
    syntax: "[{SOURCE, FIRST-LAST, ...} x TIMES, ...]",
    doc: "Rows of the snoop bitmap (book 13): the source slices whose packets a slice outputs, in ascending \
          order. `x n` repeats a row. Rows follow each other slice by slice, and all of them again for the slices \
          after; sources count from the slice of the first row.",
    parse: |text| text.parse::<Snoop>().map(|snoop| Rc::new(snoop) as Rc<dyn Body>),
    ..BodyDef::BASE
};

/// Rows of a snoop bitmap: those of slice `n` are row `n % rows`, and its sources count from slice `n - n % rows`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snoop {
    /// The sources of each row, ascending.
    pub rows: Vec<Vec<usize>>,
}

impl fmt::Display for Snoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.rows.chunk_by(|a, b| a == b).map(|same| match same.len() {
            1 => row_text(&same[0]),
            times => format!("{} x {times}", row_text(&same[0])),
        });
        write!(f, "[{}]", rows.collect::<Vec<_>>().join(", "))
    }
}

/// A row as a set: three or more neighbours as first and last.
fn row_text(row: &[usize]) -> String {
    let mut parts = Vec::new();
    for run in row.chunk_by(|a, b| a + 1 == *b) {
        match run {
            [first, _, .., last] => parts.push(format!("{first}-{last}")),
            few => parts.extend(few.iter().map(usize::to_string)),
        }
    }
    format!("{{{}}}", parts.join(", "))
}

impl FromStr for Snoop {
    type Err = BodyError;

    fn from_str(text: &str) -> Result<Self, BodyError> {
        let inside = text.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let mut rest = inside.ok_or_else(|| malformed(text))?.trim();
        let mut rows: Vec<Vec<usize>> = Vec::new();
        while !rest.is_empty() {
            let (set, after) = rest
                .strip_prefix('{')
                .and_then(|rest| rest.split_once('}'))
                .ok_or_else(|| malformed(rest))?;
            let (times, next) = after.split_once(',').unwrap_or((after, ""));
            let times = match times.trim().strip_prefix('x') {
                None if times.trim().is_empty() => 1,
                None => return Err(malformed(times)),
                Some(times) => number(times)?,
            };
            if times == 0 || times > MAX_ROWS - rows.len() {
                return Err(too_many(&format!("a row occurs {}", counted(times, "time"))));
            }
            let row = row(set)?;
            rows.extend(std::iter::repeat_n(row, times));
            rest = next.trim();
        }
        if rows.is_empty() { Err(malformed(text)) } else { Ok(Self { rows }) }
    }
}

/// The sources of a row: each once, ascending, as the bits of a bitmap are.
fn row(text: &str) -> Result<Vec<usize>, BodyError> {
    let mut row: Vec<usize> = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if first > last || row.last().is_some_and(|&before| before >= first) {
            let message = format!(
                "`{{{text}}}`: `{part}` is out of order or there already; a bitmap has one bit a source"
            );
            return Err(BodyError::new("snoop-order", message));
        }
        if last >= MAX_ROWS {
            return Err(too_many(&format!("`{{{text}}}` names slice {last}")));
        }
        row.extend(first..=last);
    }
    Ok(row)
}

fn number(text: &str) -> Result<usize, BodyError> {
    text.trim().parse().map_err(|_| malformed(text))
}

fn too_many(found: &str) -> BodyError {
    let message =
        format!("{found}, expected 1 or more and at most {MAX_ROWS} rows in all, of slices below {MAX_ROWS}");
    BodyError::new("snoop-rows", message)
}

fn malformed(text: &str) -> BodyError {
    let message = format!("found `{}`, expected rows such as `[{{0-3}} x 4, {{4, 6}}]`", text.trim());
    BodyError::new("snoop-text", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        text.parse::<Snoop>().map(|snoop| snoop.to_string()).map_err(|error| error.code)
    }

    #[test]
    fn text_is_canonical() {
        assert_eq!(read("[{0-3} x 4]").as_deref(), Ok("[{0-3} x 4]"));
        assert_eq!(read(" [ {0, 1,2} ,{0-2}, { 4 ,5} x 1, {} ] ").as_deref(), Ok("[{0-2} x 2, {4, 5}, {}]"));
        assert_eq!(read("[{7-7, 9}]").as_deref(), Ok("[{7, 9}]"));
    }

    #[test]
    fn rows_are_sets() {
        let snoop: Snoop = "[{0, 1, 16, 17} x 2]".parse().unwrap();
        assert_eq!(snoop.rows, [vec![0, 1, 16, 17], vec![0, 1, 16, 17]]);
    }

    #[test]
    fn bad_text_is_refused() {
        let bad = ["", "[]", "{0}", "[0]", "[{0]", "[{0} 4]", "[{0} x]", "[{a}]", "[{-1}]", "[{0} x 4 {1}]"];
        for text in bad {
            assert_eq!(read(text), Err("snoop-text".into()), "{text}");
        }
        for text in ["[{0, 0}]", "[{1, 0}]", "[{0-2, 2}]", "[{3-1}]"] {
            assert_eq!(read(text), Err("snoop-order".into()), "{text}");
        }
        assert!(read("[{0} x 1023, {1023}]").is_ok());
        assert_eq!(read("[{0} x 1023, {1} x 2]"), Err("snoop-rows".into()));
        assert_eq!(read("[{0} x 0]"), Err("snoop-rows".into()));
        assert_eq!(read("[{0-1024}]"), Err("snoop-rows".into()));
        assert_eq!(read("[{0} x 18446744073709551616]"), Err("snoop-text".into()));
    }
}
