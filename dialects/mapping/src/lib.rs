//! Mapping expressions and the tm dialect.
//!
//! A mapping says what each position of a buffer holds (book 03). The algebra: the expression and its text
//! ([`Expr`]), the declared axes ([`Axes`]), the readable meaning ([`map`], [`Map`]), the digit normal form
//! ([`digits()`]), equality ([`equal()`]) and division ([`divide()`]). On it is the tm dialect: tensor types
//! ([`Tensor`]), whole-tensor transfers, and facts about modules ([`facts`]).

mod across;
pub mod address;
pub mod affine;
mod aggregate;
mod array;
pub mod attrs;
mod axes;
pub mod calls;
mod carry;
pub mod cases;
mod cell;
mod common;
mod complement;
mod compose;
mod digits;
mod divide;
mod effort;
mod equal;
mod error;
mod expr;
pub mod facts;
pub mod frames;
mod gather;
mod given_sizes;
mod grammar;
pub mod index;
mod indexed;
mod inverse;
pub mod keeps_axes;
mod limits;
mod liveness;
mod normal;
pub mod numbers;
mod opaque;
mod overlaps;
mod overwrites;
mod parse;
pub mod placed;
mod placement;
mod rebuild;
mod relabel;
mod runs;
pub mod scalar;
mod segments;
pub mod shuffle;
mod skew;
pub mod succeeds;
mod tensor;
pub mod tile;
mod transfer;
mod transfer_error;
pub mod view;

/// The operations of the tm dialect, a file a group.
pub mod ops {
    use visa_ir::decl::OpDecl;
    include!(concat!(env!("OUT_DIR"), "/ops.rs"));
}

pub use across::{Divide, divide_across, loops_of};
pub use aggregate::StreamOrder;
pub use array::{ArrayLayout, array_layout};
pub use axes::{Axes, AxisId, MAX_AXES, Skew};
pub use carry::{Carries, Views, cuts_unevenly, joined};
pub use cell::{Cell, Index, Map, describe, map};
pub use common::{FactorError, common};
pub use complement::{ComplementError, complement};
pub use compose::compose;
pub use digits::{Digit, Digits, DigitsError, Offset, Ragged, digits};
pub use divide::{DivideError, Division, Movement, Step, digit_text, divide, divide_exact, step_text};
pub use effort::{count_effort, effort};
pub use equal::{
    ENUMERATION_BOUND, Equality, Refinement, Tier, decide, equal, first_missing, first_unlike, refines,
};
pub use error::MapError;
pub use expr::{Expr, MAX_SHARED, PadKind, Side};
pub use gather::{Gathers, MAX_PICKS};
pub use given_sizes::GivenSizes;
pub use indexed::{Indexed, IndexedLoop, Operand, gather, scatter};
pub use inverse::{Inverse, inverse};
pub use limits::{MAX_DEPTH, MAX_NODES, MAX_SIZE};
pub use normal::normalize;
pub use opaque::{Opaque, Padded, equal_streams, padded_terms, without_zeros};
pub use placement::{MAX_CHOICES, Placed, Placement, place, place_expr};
pub use rebuild::rebuild;
pub use runs::{MAX_RUN_NODES, MAX_RUN_STEPS};
pub use skew::{Crossing, crossings, skewed_axes, skewed_names};
pub use tensor::{Dim, Tensor, TensorKind, make, map_error, operand, parse_tensor, tensor_symbols};
pub use transfer::{CHIP_STRIDE, Given, Transfer, TransferLoop, byte_units, flat, leaves_chip, transfer};
pub use transfer_error::TransferError;
/// What the code of [`tensor_kind!`] names.
#[doc(hidden)]
pub use visa_ir;
pub use visa_machine::Unit;

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

/// The tm dialect.
pub static DIALECT: visa_ir::decl::Dialect = visa_ir::decl::Dialect {
    name: "tm",
    level: visa_ir::level::Level::Tensor,
    doc: "Tensor mapping: axes, tensors in memories, kernels, and transfers of whole tensors.\n\n\
          A tensor is a function from named axes to elements. Its type says where each element is: a mapping for \
          every dimension of the memory. A transfer keeps the tensor and changes its mapping (book 05); along an \
          axis that the tensor does not depend on, it broadcasts.",
    ops: ops::OPS,
    types: &[&HOST.def, &HBM.def, &DM.def, &SPM.def, &TRF.def, &VRF.def, &index::INDEX, &scalar::SCALAR],
    attrs: &[&attrs::MAP, &attrs::DTYPE, &attrs::SIZES, &numbers::NUMBER, &numbers::NUMBERS],
};
