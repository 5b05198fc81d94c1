//! The distribution of tensors: which parts clusters and slices hold.

pub mod distributions;
pub mod given;
pub mod search;
