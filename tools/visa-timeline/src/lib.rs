//! The timeline of a kernel: who works when, who waits for whom, which bytes are where.
//!
//! [`collect()`] makes a [`Document`] of a price: it is data, with a schema in docs/timeline.md. All pictures are
//! made of it: [`perfetto`] for Perfetto, [`viewer`] for the vendor's schedule viewer, [`gantt`] for the terminal,
//! [`page`] for a browser.

pub mod collect;
mod columns;
mod counters;
pub mod document;
mod fold;
pub mod gantt;
mod lanes;
mod limits;
pub mod page;
pub mod perfetto;
pub mod viewer;

pub use collect::{TimelineInput, collect};
pub use document::Document;
