//! The stream dialect: the Tensor Unit's pipeline as typed values (book 04, 12).
//!
//! Each engine is an operation from stream to stream. A stream's type is named after the engine that it left, so the
//! order of the pipeline is checked by the types that each operation takes. What a fetch, commit or register-file
//! read asks of its sequencer is worked out in [`plan`], which the verifier and the lowering share.

pub mod adapter;
pub mod adapter_clauses;
pub mod attrs;
pub mod branch;
pub mod chain;
pub mod commit;
pub mod expression;
pub mod fill;
pub mod forgotten;
pub mod formula;
mod held;
pub mod inter_slice;
pub mod lower;
pub mod mask;
pub mod pad;
pub mod padding;
pub mod pipeline;
pub mod plan;
pub mod planner;
pub mod reduce;
pub mod semantics;
pub mod shift;
pub mod snoop;
pub mod topology;
pub mod unmasked;
pub mod valid_count;
pub mod vector;

/// The operations, a file an engine.
pub mod ops {
    use visa_ir::decl::OpDecl;
    include!(concat!(env!("OUT_DIR"), "/ops.rs"));
}

use visa_engine::place::rngd;
/// What the code of [`pipeline::after!`] names.
#[doc(hidden)]
pub use visa_ir;
use visa_mapping::tensor_kind;

tensor_kind!(
    /// Before the fetch engine.
    BEGIN, "stream.begin", "CONTEXT, DTYPE, CHIP, CLUSTER, SLICE, TIME, PACKET", true,
    [Chip, Cluster, Slice, Time, Packet],
    "A tensor about to be fetched: one packet that holds a slice's elements."
);
tensor_kind!(
    /// Out of the fetch engine.
    FETCH, "stream.fetch", "CONTEXT, DTYPE, CHIP, CLUSTER, SLICE, TIME, PACKET", true,
    [Chip, Cluster, Slice, Time, Packet],
    "Packets from data memory (book 08).",
    left &rngd::FETCH
);
tensor_kind!(
    /// Out of the switch engine.
    SWITCH, "stream.switch", "CONTEXT, DTYPE, CHIP, CLUSTER, SLICE, TIME, PACKET", true,
    [Chip, Cluster, Slice, Time, Packet],
    "Packets redistributed between slices (book 13).",
    left &rngd::SWITCH
);
tensor_kind!(
    /// Out of the collect engine.
    COLLECT, "stream.collect", "CONTEXT, DTYPE, CHIP, CLUSTER, SLICE, TIME, PACKET", true,
    [Chip, Cluster, Slice, Time, Packet],
    "Flits of 32 bytes (book 14).",
    left &rngd::COLLECT
);
tensor_kind!(
    /// Out of the aligner.
    ALIGN, "stream.align", "CONTEXT, DTYPE, CHIP, CLUSTER, SLICE, ROW, TIME, PACKET", true,
    [Chip, Cluster, Slice, Row, Time, Packet],
    "Packets of 64 bytes, each paired with what every row reads from its register file (book 16).",
    left &rngd::ALIGN
);
tensor_kind!(
    /// Out of the reduction tree.
    CONTRACT, "stream.contract", "CONTEXT, DTYPE, CHIP, CLUSTER, SLICE, ROW, TIME, PACKET", true,
    [Chip, Cluster, Slice, Row, Time, Packet],
    "Partial sums of each row (book 19).",
    left &rngd::CONTRACT
);
tensor_kind!(
    /// Out of the accumulator.
    ACCUMULATE, "stream.accumulate", "CONTEXT, DTYPE, CHIP, CLUSTER, SLICE, TIME, PACKET", true,
    [Chip, Cluster, Slice, Time, Packet],
    "Flits of sums (book 19).",
    left &rngd::ACCUMULATE
);
tensor_kind!(
    /// In the vector engine, before its entry is chosen.
    INIT, "stream.init", "CONTEXT, DTYPE, CHIP, CLUSTER, SLICE, TIME, PACKET", true,
    [Chip, Cluster, Slice, Time, Packet],
    "Flits at the vector engine's entry (book 20)."
);
tensor_kind!(
    /// In the vector engine.
    VECTOR, "stream.vector", "CONTEXT, DTYPE, CHIP, CLUSTER, SLICE, TIME, PACKET", true,
    [Chip, Cluster, Slice, Time, Packet],
    "Packets of 8 lanes between stages of the vector engine, Way8 (book 21)."
);
tensor_kind!(
    /// In the vector engine, between Narrow and Widen.
    VECTOR4, "stream.vector4", "CONTEXT, DTYPE, CHIP, CLUSTER, SLICE, TIME, PACKET", true,
    [Chip, Cluster, Slice, Time, Packet],
    "Packets of 4 lanes between stages of the vector engine, Way4 (book 21)."
);
tensor_kind!(
    /// In the vector engine, in two-group mode.
    PAIR, "stream.pair", "CONTEXT, DTYPE, CHIP, CLUSTER, SLICE, TIME, PACKET", true,
    [Chip, Cluster, Slice, Time, Packet],
    "Packets of 8 lanes of two groups, which alternate, between stages of the vector engine (book 21)."
);
tensor_kind!(
    /// In the vector engine, in two-group mode, between Narrow and Widen.
    PAIR4, "stream.pair4", "CONTEXT, DTYPE, CHIP, CLUSTER, SLICE, TIME, PACKET", true,
    [Chip, Cluster, Slice, Time, Packet],
    "Packets of 4 lanes of two groups, between stages of the vector engine (book 21)."
);
tensor_kind!(
    /// Out of the inter-slice block of the vector engine.
    INTER, "stream.inter", "CONTEXT, DTYPE, CHIP, CLUSTER, SLICE, TIME, PACKET", true,
    [Chip, Cluster, Slice, Time, Packet],
    "Packets reduced between slices, in the vector engine (book 25)."
);
tensor_kind!(
    /// Out of the vector engine's filter.
    FILTERED, "stream.filtered", "CONTEXT, DTYPE, CHIP, CLUSTER, SLICE, TIME, PACKET", true,
    [Chip, Cluster, Slice, Time, Packet],
    "Flits out of the vector engine, of whose elements only some are left (book 21).",
    left &rngd::FILTER
);
tensor_kind!(
    /// Out of the vector engine.
    FINAL, "stream.final", "CONTEXT, DTYPE, CHIP, CLUSTER, SLICE, TIME, PACKET", true,
    [Chip, Cluster, Slice, Time, Packet],
    "Flits out of the vector engine (book 21).",
    left &rngd::VECTOR
);
tensor_kind!(
    /// Out of the cast engine.
    CAST, "stream.cast", "CONTEXT, DTYPE, CHIP, CLUSTER, SLICE, TIME, PACKET", true,
    [Chip, Cluster, Slice, Time, Packet],
    "Flits of narrow elements (book 26).",
    left &rngd::CAST
);
tensor_kind!(
    /// Out of the transpose engine.
    TRANSPOSE, "stream.transpose", "CONTEXT, DTYPE, CHIP, CLUSTER, SLICE, TIME, PACKET", true,
    [Chip, Cluster, Slice, Time, Packet],
    "Flits that hold a transposed row each (book 27).",
    left &rngd::TRANSPOSE
);

/// The stream dialect.
pub static DIALECT: visa_ir::decl::Dialect = visa_ir::decl::Dialect {
    name: "stream",
    level: visa_ir::level::Level::Tensor,
    doc: "The Tensor Unit: begin, fetch, switch, collect, then either a register file, or align, contract, \
          accumulate, the vector engine, cast, transpose and commit (book 12).\n\nA stream type is named after \
          the engine that the stream left; it holds the context, the number format, and a mapping for chip, \
          cluster, slice, time and packet. What an operation does not change it does not repeat.",
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
    attrs: &[&attrs::GUARDS, &attrs::COMPARISONS, &expression::EXPRESSION],
};
