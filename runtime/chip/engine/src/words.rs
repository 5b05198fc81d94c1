//! The words that operations of several levels choose among.

pub use visa_machine::{IndexMemory, ProgramMemory, TensorMemory};
use visa_numerics::VectorStage;
use visa_words::words;

words! {
    /// An engine that moves data between memories (book 10).
    pub enum DmaEngine {
        /// The tensor DMA engines of a chip.
        Tensor = "tensor",
        /// The engine that reaches the host and other chips.
        Pcie = "pcie",
    }
}

words! {
    /// The direction of a transfer by indices.
    pub enum Direction {
        /// The table is read.
        Gather = "gather",
        /// The table is written.
        Scatter = "scatter",
    }
}

words! {
    /// A region of the tensor register file (book 18): the whole file, or a half of each bank row.
    pub enum RegionName {
        /// The whole file.
        Full = "full",
        /// The first half.
        First = "first",
        /// The second half.
        Second = "second",
    }
}

words! {
    /// The path of data into the tensor register file (book 18).
    pub enum LoadPath {
        /// Through the engines before it.
        Full = "full",
        /// From data memory, unchanged.
        Short = "short",
    }
}

words! {
    /// Reduction that a contraction applies to its products (book 19).
    pub enum ContractionKind {
        /// Their sum.
        Add = "add",
        /// The greatest.
        Max = "max",
    }
}

words! {
    /// The contents of a packet that the accumulator gives (book 19).
    pub enum AccumulatorOrder {
        /// The rows.
        Interleaved = "interleaved",
        /// The columns.
        Sequential = "sequential",
    }
}

words! {
    /// The lanes over which a reduction within a slice goes (book 22).
    pub enum ReducedLanes {
        /// All lanes of a packet become one.
        Tree = "tree",
        /// Each lane stays separate.
        Apart = "apart",
    }
}

words! {
    /// The use of the two buffers of the transpose engine (book 27).
    pub enum Buffering {
        /// A matrix comes in while the one before goes out.
        Double = "double",
        /// Both buffers hold one matrix.
        Single = "single",
    }
}

words! {
    /// A topology of the switch, in the book's order (book 13).
    pub enum TopologyName {
        /// Packets stay in their slices.
        Forwarding = "forwarding",
        /// Every slice receives the packets of all of its ring.
        Broadcast01 = "broadcast01",
        /// Every slice receives the packets of the slices with its inner number.
        Broadcast1 = "broadcast1",
        /// The inner and the outer number of a slice change places.
        Transpose = "transpose",
        /// The outer number of a slice and a part of time change places.
        InterTranspose = "inter_transpose",
        /// `broadcast1` after `transpose`.
        TransposedBroadcast1 = "transposed_broadcast1",
        /// A bitmap specifies where packets go.
        Custom = "custom",
    }
}

words! {
    /// A change between packets of 8 lanes and of 4 (book 21).
    pub enum LaneChange {
        /// One packet becomes two.
        Split = "split",
        /// The upper lanes go.
        Trim = "trim",
        /// Two packets become one.
        Concat = "concat",
        /// Undefined lanes come.
        Pad = "pad",
    }
}

impl LaneChange {
    /// The stage that does it.
    #[must_use]
    pub const fn stage(self) -> VectorStage {
        match self {
            Self::Split | Self::Trim => VectorStage::Narrow,
            Self::Concat | Self::Pad => VectorStage::Widen,
        }
    }
}
