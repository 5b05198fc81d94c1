//! Rules that propose configurations: those written in Rust, a file an engine, and those of a user's text.

pub mod engines;
pub mod rule;
pub mod ruleset;
pub mod text;
