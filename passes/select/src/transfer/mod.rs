//! Streams of transfers: which engine moves what, in which order.

pub mod choose;
pub(crate) mod leaving;
pub(crate) mod moved;
pub mod streams;
