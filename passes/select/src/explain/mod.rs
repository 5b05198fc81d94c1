//! What is said of a choice.

pub mod advise;
pub mod dump;
pub mod report;
