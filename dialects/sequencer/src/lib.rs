//! The seq dialect: the operations of a pipeline that a sequencer drives, as nested loops over elements.

pub mod access;
mod dialect;

/// The operations of the seq dialect.
pub mod ops {
    use visa_ir::decl::OpDecl;
    include!(concat!(env!("OUT_DIR"), "/ops.rs"));
}

pub use dialect::{
    COMPARISONS, DIALECT, DTYPE, ENGINES, GUARDS, MASK, PAIRED, PROGRAM, SEGMENTS, STEPS, TABLE,
};
