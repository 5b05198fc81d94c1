//! The tensor types of the memories.

use crate::tensor_kind;

tensor_kind!(
    /// Host memory.
    HOST, "tm.host", "DTYPE, ELEMENT", false, [Element],
    "A tensor in the host's memory: one flat buffer (book 03)."
);
tensor_kind!(
    /// HBM.
    HBM, "tm.hbm", "DTYPE, CHIP, ELEMENT", false, [Chip, Element],
    "A tensor in the HBM of each chip (book 04)."
);
tensor_kind!(
    /// Data memory.
    DM, "tm.dm", "DTYPE, CHIP, CLUSTER, SLICE, ELEMENT", false, [Chip, Cluster, Slice, Element],
    "A tensor in the data memory of the slices (book 04)."
);
tensor_kind!(
    /// Scratchpad memory.
    SPM, "tm.spm", "DTYPE, CHIP, CLUSTER, PE, ELEMENT", false, [Chip, Cluster, Pe, Element],
    "A tensor in the scratchpad memories of the processing elements (book 10, 11)."
);
tensor_kind!(
    /// Tensor register file.
    TRF, "tm.trf", "DTYPE, CHIP, CLUSTER, SLICE, ROW, ELEMENT", false, [Chip, Cluster, Slice, Row, Element],
    "A tensor in the tensor register files (book 18): each row holds its own elements."
);
tensor_kind!(
    /// Vector register file.
    VRF, "tm.vrf", "DTYPE, CHIP, CLUSTER, SLICE, ELEMENT", false, [Chip, Cluster, Slice, Element],
    "A tensor in the vector register files (book 20)."
);
