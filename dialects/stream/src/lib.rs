//! The stream dialect: the Tensor Unit's pipeline as typed values (book 04, 12).
//!
//! Each engine is an operation from stream to stream. A stream's type is named after the engine that it left, so the
//! order of the pipeline is checked by the types that each operation takes. [`plan`] computes the sequencer programs
//! of a fetch, commit or register-file read, for the verifier and the lowering.

pub mod adapter;
pub mod adapter_clauses;
pub mod attrs;
pub mod branch;
pub mod chain;
pub mod commit;
pub mod fill;
pub mod forgotten;
pub mod formula;
mod held;
pub mod inter_slice;
pub mod lift;
pub mod lower;
pub mod mask;
pub mod pad;
pub mod padding;
pub mod pipeline;
pub mod plan;
pub mod planner;
pub mod raise;
pub mod reduce;
pub mod shift;
pub mod snoop;
mod streams;
pub mod topology;
pub mod unmasked;
pub mod valid_count;
pub mod vector;

/// The operations, a file an engine.
pub mod ops {
    use visa_ir::decl::OpDecl;
    include!(concat!(env!("OUT_DIR"), "/ops.rs"));
}

pub use streams::{
    ACCUMULATE, ALIGN, BEGIN, CAST, COLLECT, CONTRACT, FETCH, FILTERED, FINAL, INIT, INTER, PAIR, PAIR4,
    SWITCH, TRANSPOSE, VECTOR, VECTOR4,
};
/// Names in the code of [`pipeline::after!`].
#[doc(hidden)]
pub use visa_ir;
use visa_mapping::expression::EXPRESSION;

/// The stream dialect.
pub static DIALECT: visa_ir::decl::Dialect = visa_ir::decl::Dialect {
    name: "stream",
    level: visa_ir::level::Level::Memory,
    doc: "The Tensor Unit: begin, fetch, switch, collect, then either a register file, or align, contract, \
          accumulate, the vector engine, cast, transpose and commit (book 12).\n\n\
          A stream type is named after the engine that the stream left; it holds the context, the number format, \
          and a mapping for chip, cluster, slice, time and packet. An operation does not repeat unchanged mappings.",
    ops: ops::OPS,
    types: &[
        &BEGIN.def,
        &FETCH.def,
        &SWITCH.def,
        &COLLECT.def,
        &ALIGN.def,
        &CONTRACT.def,
        &ACCUMULATE.def,
        &INIT.def,
        &VECTOR.def,
        &VECTOR4.def,
        &PAIR.def,
        &PAIR4.def,
        &INTER.def,
        &FILTERED.def,
        &FINAL.def,
        &CAST.def,
        &TRANSPOSE.def,
    ],
    attrs: &[&attrs::GUARDS, &attrs::COMPARISONS, &EXPRESSION],
};
