//! The algebra of mappings from outside.

mod algebra;
mod decide;
mod laws;
