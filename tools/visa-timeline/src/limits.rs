//! The limits of a browser or a terminal.

use std::borrow::Cow;

use crate::document::Document;
use crate::fold::fold;

/// The largest time that a number of JavaScript holds exactly.
const MOST_EXACT: u64 = 1 << 53;
/// Most runs that are drawn one by one.
const MOST_DRAWN: usize = 50_000;

/// The timeline with as few runs as can be drawn.
pub(crate) fn drawn(document: &Document) -> Cow<'_, Document> {
    match document.runs.len() > MOST_DRAWN {
        true => Cow::Owned(fold(document)),
        false => Cow::Borrowed(document),
    }
}

/// The reason why a chart cannot be made: its reader would round the times.
pub(crate) fn inexact(document: &Document) -> Option<String> {
    let latest = document.last_end();
    (latest > MOST_EXACT).then(|| {
        format!(
            "the kernel ends at {latest}, a browser has exact times up to {MOST_EXACT}: ask for `--timeline`"
        )
    })
}
