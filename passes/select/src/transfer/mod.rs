//! Streams of transfers: the engines' parts and their order.

pub mod choose;
pub(crate) mod leaving;
pub(crate) mod moved;
pub mod streams;
