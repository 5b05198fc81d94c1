//! The library and the tool, by small trees of tests.

mod binary;
mod common;
mod filecheck;
mod golden;
mod limits;
mod shell;
mod suite;
