//! The tm dialect: tensors in memories, transfers of whole tensors, and facts about modules.
//!
//! It stands on the algebra of mappings ([`visa_algebra`]). [`tensor`] has the types and their parts, [`mod@transfer`]
//! transfers of tensors between memories, [`view`] parts of tensors, [`index`] numbers made of loop indices,
//! [`expression`] elementwise expressions, [`ops`] the operations, and [`facts`] analyses of a module for verifiers,
//! lowering and the evaluator.

pub mod coverage;
pub mod error;
pub mod expression;
pub mod facts;
pub mod index;
pub mod interfaces;
pub mod raise;
pub mod summed;
pub mod tensor;
pub mod transfer;
pub mod view;

/// The operations of the tm dialect, a file a group.
pub mod ops {
    use visa_ir::decl::OpDecl;
    include!(concat!(env!("OUT_DIR"), "/ops.rs"));
}

pub use facts::given_sizes::GivenSizes;
pub use tensor::array::{ArrayLayout, array_layout};
pub use tensor::memories::{DM, HBM, HOST, SPM, TRF, VRF, kind_of};
pub use tensor::{
    Dim, Tensor, TensorKind, make, map_error, operand, parse_tensor, skewed_axes, tensor_symbols,
};
pub use transfer::aggregate::StreamOrder;
pub use transfer::error::TransferError;
pub use transfer::indexed::{Indexed, IndexedLoop, Operand, gather, scatter};
pub use transfer::{
    CHIP_STRIDE, GivenStream, Transfer, TransferLoop, byte_units, flat, leaves_chip, shuffle, transfer,
};
/// Names that the code of [`tensor_kind!`] uses.
#[doc(hidden)]
pub use visa_ir;
pub use visa_machine::Unit;

/// The tm dialect.
pub static DIALECT: visa_ir::decl::Dialect = visa_ir::decl::Dialect {
    name: "tm",
    level: visa_ir::level::Level::Memory,
    doc: "Tensor mapping: axes, tensors in memories, kernels, and transfers of whole tensors.\n\n\
          A tensor is a function from named axes to elements. Its type gives the position of each element: a \
          mapping for every dimension of the memory. A transfer keeps the tensor and changes its mapping (book 05); \
          along an axis that the tensor does not depend on, it broadcasts.",
    ops: ops::OPS,
    types: tensor::memories::TYPES,
    attrs: &[
        &tensor::attrs::MAP,
        &tensor::attrs::DTYPE,
        &tensor::attrs::SIZES,
        &tensor::attrs::ENTRIES,
        &tensor::attrs::COMPARISONS,
        &tensor::numbers::NUMBER,
        &tensor::numbers::NUMBERS,
    ],
};
