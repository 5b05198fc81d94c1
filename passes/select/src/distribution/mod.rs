//! The distribution of tensors: which parts clusters and slices hold.

pub mod distributions;
pub(crate) mod given;
pub(crate) mod search;
