//! The hw dialect: the executable program, in bytes.
//!
//! An hw operation holds addresses, byte counts, loop limits and strides, slice ranges and opcodes. It knows no axes:
//! this crate cannot name a mapping (the crate graph has no edge to one), and the interpreter executes nothing else.
//!
//! [`compile()`] turns an `hw.program` operation into a [`program::Program`]: plain data and
//! [`visa_engine::Stage`]s, which the interpreter runs and the cost model prices.

mod adapter;
mod addresses;
pub mod attrs;
pub mod build;
mod clauses;
mod compile;
mod gather;
mod greatest;
mod limits;
mod loops;
mod mask;
mod memories;
mod number;
mod order;
pub mod ops {
    //! The operations, a file each or a tight group a file.
    use visa_ir::decl::OpDecl;
    include!(concat!(env!("OUT_DIR"), "/ops.rs"));
}
pub mod program;
pub mod route;
pub mod router;
pub mod snoop;
mod trf;
mod uses;
pub mod valid_count;
mod vrf;
mod ways;

pub use clauses::machine;
pub use compile::compile;
pub use limits::MAX_STREAM_BYTES;
pub use uses::{EarlyUse, Uses, early_uses};
use visa_ir::decl::Dialect;

/// The hw dialect.
pub static DIALECT: Dialect = Dialect {
    name: "hw",
    level: visa_ir::level::Level::Hardware,
    doc: "The executable program: commands for the Tensor Unit's contexts and the DMA engines, in program order, \
          with every engine's configuration in bytes. No axis and no mapping can be named here.",
    ops: ops::OPS,
    types: &[],
    attrs: attrs::ATTRS,
};
