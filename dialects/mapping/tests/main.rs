//! Transfers and facts from outside.

mod choices;
mod indexed;
mod segments;
mod transfer;
