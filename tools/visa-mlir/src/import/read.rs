//! Modules of MLIR, as melior gives them.

pub(crate) mod attributes;
pub(crate) mod capi;
pub(crate) mod limits;
pub(crate) mod loops;
pub(crate) mod operations;
pub(crate) mod parse;
pub(crate) mod place;
pub(crate) mod resources;
pub(crate) mod types;
