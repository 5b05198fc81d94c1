//! The tensor types of the memories: a row for each, and the lists of them that operations take.

use crate::index::INDEX;
use crate::tensor::TensorKind;
use crate::tensor::scalar::SCALAR;
use crate::tensor::value::VALUE;
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
    &[&HOST.def, &HBM.def, &DM.def, &SPM.def, &TRF.def, &VRF.def, &INDEX, &SCALAR, &VALUE];

/// The names of the types of tensors that DMA engines reach, the host's first.
const AT_REST: [&str; Medium::ALL.len()] = ["tm.host", "tm.hbm", "tm.dm", "tm.spm"];
/// The names of the types of tensors that DMA engines reach.
pub(crate) const EVERYWHERE: &[&str] = &AT_REST;
/// The names of the types of tensors in the memories of a chip.
pub(crate) const ON_CHIP: &[&str] = AT_REST.split_at(1).1;
/// The names of the types of values that loops and branches carry: tensors in the memories of a chip, and values.
pub(crate) const CARRIED: &[&str] = &{
    let mut all = [VALUE.name; ON_CHIP.len() + 1];
    let mut at = 0;
    while at < ON_CHIP.len() {
        all[at] = ON_CHIP[at];
        at += 1;
    }
    all
};
/// The names of the types of tensors that contain indices (book 10).
pub(crate) const OF_INDICES: &[&str] = &["tm.hbm", "tm.spm"];
/// The names of the types of tensors in the register files.
const REGISTER_FILES: [&str; 2] = ["tm.trf", "tm.vrf"];

/// The names of the types of tensors in the memories of a chip and in the register files.
pub(crate) const OF_A_CHIP: &[&str] = &{
    let mut all = [REGISTER_FILES[0]; ON_CHIP.len() + REGISTER_FILES.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = if at < ON_CHIP.len() { ON_CHIP[at] } else { REGISTER_FILES[at - ON_CHIP.len()] };
        at += 1;
    }
    all
};

/// The effects of an operation that may do to tensors all that a function can.
pub(crate) const EVERYTHING: &[Effect] = &{
    const KINDS: usize = AT_REST.len() + REGISTER_FILES.len();
    let mut all = [reads(Target::Operand("arguments")); 1 + 2 * KINDS];
    let mut at = 0;
    while at < KINDS {
        let name = if at < AT_REST.len() { AT_REST[at] } else { REGISTER_FILES[at - AT_REST.len()] };
        all[1 + 2 * at] = allocates(Target::Memory(name));
        all[2 + 2 * at] = writes(Target::Memory(name));
        at += 1;
    }
    all
};

/// Writes to the memories of a chip: nothing moves across such an operation.
pub(crate) const WRITES_ON_CHIP: &[Effect] = &{
    let mut all = [writes(Target::Memory(AT_REST[0])); ON_CHIP.len()];
    let mut at = 0;
    while at < ON_CHIP.len() {
        all[at] = writes(Target::Memory(ON_CHIP[at]));
        at += 1;
    }
    all
};

/// The type of tensors in a memory that DMA engines reach.
#[must_use]
pub fn kind_of(medium: Medium) -> &'static TensorKind {
    match medium {
        Medium::Host => &HOST,
        Medium::Hbm => &HBM,
        Medium::Dm => &DM,
        Medium::Spm => &SPM,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use visa_ir::effects::EffectKind;

    #[test]
    fn names_are_those_of_the_memories_in_their_order() {
        let kinds = Medium::ALL.iter().map(|&medium| kind_of(medium));
        assert!(kinds.clone().map(|kind| kind.def.name).eq(AT_REST));
        assert!(kinds.map(|kind| kind.medium).eq(Medium::ALL.iter().copied().map(Some)));
        assert!(Medium::OF_A_CHIP.iter().map(|&medium| kind_of(medium).def.name).eq(ON_CHIP.iter().copied()));
        let indexed = Medium::ALL.iter().filter(|medium| medium.decl().indices.is_some());
        assert!(indexed.map(|&medium| kind_of(medium).def.name).eq(OF_INDICES.iter().copied()));
        let written = |all: &[Effect]| all.iter().filter(|effect| effect.kind == EffectKind::Write).count();
        assert_eq!((written(EVERYTHING), written(WRITES_ON_CHIP)), (AT_REST.len() + 2, ON_CHIP.len()));
    }
}
