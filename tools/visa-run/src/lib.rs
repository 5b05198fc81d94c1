//! Runs, checks and prices a kernel.

pub mod data;
