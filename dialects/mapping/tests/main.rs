//! The algebra of mappings from outside.

mod algebra;
mod choices;
mod decide;
mod indexed;
mod laws;
mod segments;
mod transfer;
