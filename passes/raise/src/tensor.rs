//! Canonical functions of the tensor level, with rules as data.

pub mod canonical;
mod choose;
mod computed;
pub(crate) mod equal;
pub mod explain;
mod facts;
mod fuse;
mod kind;
mod read;
pub mod reals;
mod rewrite;
mod rule;
pub mod ruleset;
mod sample;
mod schedule;
mod sound;
mod term;
mod tolerance;
mod write;
