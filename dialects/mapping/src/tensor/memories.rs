//! The tensor types of the memories: a row for each, and the lists of them that operations take.

use crate::index::INDEX;
use crate::tensor::TensorKind;
use crate::tensor::scalar::SCALAR;
use crate::tensor_kind;
use visa_ir::decl::BodyDef;
use visa_ir::effects::{Effect, Target, allocates, reads, writes};
use visa_machine::Medium;

tensor_kind!(
    /// Host memory.
    HOST, "tm.host", "DTYPE, ELEMENT", false, [Element],
    "A tensor in the host's memory: one flat buffer (book 03).", in Medium::Host
);
tensor_kind!(
    /// HBM.
    HBM, "tm.hbm", "DTYPE, CHIP, ELEMENT", false, [Chip, Element],
    "A tensor in the HBM of each chip (book 04).", in Medium::Hbm
);
tensor_kind!(
    /// Data memory.
    DM, "tm.dm", "DTYPE, CHIP, CLUSTER, SLICE, ELEMENT", false, [Chip, Cluster, Slice, Element],
    "A tensor in the data memory of the slices (book 04).", in Medium::Dm
);
tensor_kind!(
    /// Scratchpad memory.
    SPM, "tm.spm", "DTYPE, CHIP, CLUSTER, PE, ELEMENT", false, [Chip, Cluster, Pe, Element],
    "A tensor in the scratchpad memories of the processing elements (book 10, 11).", in Medium::Spm
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

/// The types of the tm dialect.
pub(crate) const TYPES: &[&BodyDef] =
    &[&HOST.def, &HBM.def, &DM.def, &SPM.def, &TRF.def, &VRF.def, &INDEX, &SCALAR];

/// The types of tensors that DMA engines reach.
pub static AT_REST: [&TensorKind; 4] = [&HOST, &HBM, &DM, &SPM];

/// Their names but for the host's: the tensors of a chip.
pub(crate) const ON_CHIP: &[&str] = &["tm.hbm", "tm.dm", "tm.spm"];
/// The names of all of them.
pub(crate) const EVERYWHERE: &[&str] = &["tm.host", "tm.hbm", "tm.dm", "tm.spm"];
/// The names of tensors that hold indices (book 10).
pub(crate) const OF_INDICES: &[&str] = &["tm.hbm", "tm.spm"];
/// The names of tensors of a chip and of the register files.
pub(crate) const OF_A_CHIP: &[&str] = &["tm.hbm", "tm.dm", "tm.spm", "tm.trf", "tm.vrf"];

/// The effects of an operation that may do to tensors all that a function can.
pub(crate) const EVERYTHING: &[Effect] = &[
    reads(Target::Operand("arguments")),
    allocates(Target::Memory("tm.hbm")),
    writes(Target::Memory("tm.hbm")),
    allocates(Target::Memory("tm.host")),
    writes(Target::Memory("tm.host")),
    allocates(Target::Memory("tm.dm")),
    writes(Target::Memory("tm.dm")),
    allocates(Target::Memory("tm.spm")),
    writes(Target::Memory("tm.spm")),
    allocates(Target::Memory("tm.trf")),
    writes(Target::Memory("tm.trf")),
    allocates(Target::Memory("tm.vrf")),
    writes(Target::Memory("tm.vrf")),
];
/// Writes to the memories of a chip: nothing moves across such an operation.
pub(crate) const WRITES_ON_CHIP: &[Effect] =
    &[writes(Target::Memory("tm.hbm")), writes(Target::Memory("tm.dm")), writes(Target::Memory("tm.spm"))];

/// The type of tensors in a memory that DMA engines reach.
#[must_use]
pub fn kind_of(medium: Medium) -> &'static TensorKind {
    AT_REST.into_iter().find(|kind| kind.medium == Some(medium)).unwrap_or(&HBM)
}
