//! The hw dialect: the executable program, in bytes.
//!
//! An hw operation holds addresses, byte counts, loop limits and strides, slice ranges and opcodes. It knows no axes:
//! this crate cannot name a mapping (the crate graph has no edge to one), and the interpreter executes nothing else.

pub mod program;
pub mod stage;
pub mod taint;
