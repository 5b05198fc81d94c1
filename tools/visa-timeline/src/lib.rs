//! The timeline of a kernel: who works when, who waits for whom, which bytes are where.
//!
//! [`collect()`] makes a [`Document`] of a price: it is data, with a schema in docs/timeline.md. All pictures are made of
//! it: [`perfetto`] for Perfetto, [`viewer`] for the vendor's schedule viewer, [`gantt`] for the terminal, [`page`] for a
//! browser.

pub mod collect;
mod columns;
mod counters;
pub mod document;
mod fold;
pub mod gantt;
pub mod page;
pub mod perfetto;
pub mod viewer;

pub use collect::{Given, collect};
pub use document::Document;

/// The largest time that a number of JavaScript holds exactly.
pub(crate) const MOST_EXACT: u64 = 1 << 53;

/// Most runs that a browser or a terminal draws one by one.
const MOST_DRAWN: usize = 50_000;

/// The timeline with as few runs as can be drawn.
pub(crate) fn drawn(document: &Document) -> std::borrow::Cow<'_, Document> {
    match document.runs.len() > MOST_DRAWN {
        true => std::borrow::Cow::Owned(fold::fold(document)),
        false => std::borrow::Cow::Borrowed(document),
    }
}

/// Why a picture cannot be made: its reader would round the times.
pub(crate) fn inexact(document: &Document) -> Option<String> {
    let latest = document.runs.iter().map(|run| run.end).fold(document.total, u64::max);
    (latest > MOST_EXACT).then(|| {
        format!(
            "the kernel ends at {latest}, a browser has exact times up to {MOST_EXACT}: ask for `--timeline`"
        )
    })
}
