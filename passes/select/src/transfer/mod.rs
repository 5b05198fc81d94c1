//! Streams of transfers: which engine moves what, in which order.

pub mod choose;
pub mod streams;
