//! The warnings of `lint-chip`.

pub(crate) mod pipelines;
pub(crate) mod transfers;
pub(crate) mod warning;
