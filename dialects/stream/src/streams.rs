//! The stream types: a type is named after the engine that the stream left.

use visa_engine::place::rngd;
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
    "Packets of 64 bytes, each paired with the elements that every row reads from its register file (book 16).",
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
