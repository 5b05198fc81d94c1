//! Shared parts of the lowering passes: from tensors and mappings to loops and addresses.

pub mod buffers;
pub mod engines;
mod indexed;
pub mod names;
pub mod slices;
pub mod transfers;

/// The passes of this crate, a module a file.
pub mod passes {
    use visa_pass::Pass;
    include!(concat!(env!("OUT_DIR"), "/pass.rs"));
}
