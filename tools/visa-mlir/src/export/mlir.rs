//! Values and operations of MLIR, and the shapes and formats that they have.

pub(crate) mod builder;
pub(crate) mod formats;
pub(crate) mod generic;
pub(crate) mod linear;
pub(crate) mod refusals;
pub(crate) mod scalars;
pub(crate) mod shape;
pub(crate) mod value;
