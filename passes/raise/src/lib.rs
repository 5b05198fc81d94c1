//! Kernels at the tensor level: their computation, and the comparison of two.
//!
//! The pass `raise` replaces each kernel by its function of the tensor level. [`prove::prove`] compares two kernels:
//! first their graphs ([`mod@graph`]), and where these differ their results on some data.

pub mod free;
pub mod function;
pub mod graph;
pub mod interface;
pub mod prove;
pub mod tensor;

mod build;
mod data;
mod direct;
mod order;

/// The passes of this crate, a module a file.
pub mod passes {
    use visa_pass::Pass;
    include!(concat!(env!("OUT_DIR"), "/pass.rs"));
}
