//! Number formats and arithmetic of RNGD, bit-exact.
//!
//! A scalar travels as [`Bits`], a raw `u32`; a [`DType`] specifies its format. Every property of a number format is a
//! column of [`DTYPES`], every conversion a row of [`FETCH_CASTS`] or [`CAST_ENGINE`], every operation of a vector ALU
//! a row of [`alu_ops`]. `docs/numerics.md` states the rules for users.

mod adapter;
mod bits;
mod cast;
mod dot;
mod dtype;
pub mod edges;
mod float;
mod maximum;
mod memory;
mod minifloat;
mod reduce;
#[cfg(test)]
mod testing;
mod transpose;
mod vector;

pub use adapter::{
    LookupTable, TABLE_INDEX_BITS, from_f64, from_number, from_pattern, pattern, subtract_zero_point,
    zero_point_cast,
};
pub use bits::Bits;
pub use cast::{CAST_ENGINE, CastRow, FETCH_CASTS, cast_targets, engine_cast, fetch_cast, from_f32, to_f64};
pub use dot::{Meeting, Packets, Summand, TABLES, Table, Trees, tree_sums};
pub use dtype::{Contraction, DTYPES, DType, DTypeInfo};
pub use float::{BF16_NAN, F32_NAN, add, bf16_to_f32, canonical, f32_to_bf16, flush, mul, widen_bf16};
pub use maximum::maximum;
pub use memory::{KindError, decode_f32, decode_i32, load, store};
pub use minifloat::{
    f4e2m1_to_f32, f8e4m3_to_f32, f8e5m2_to_f32, f16_to_f32, f32_to_f4e2m1, f32_to_f8e4m3, f32_to_f8e5m2,
    f32_to_f16,
};
pub use reduce::{
    ROWS, SumOrder, SumOrderError, sequential_sum_f32, sequential_sum_i32, tree_sum_f32, tree_sum_i32,
};
pub use transpose::transposed;

pub use vector::{
    Alu, AluName, AluOp, AluStage, Apply, Arg, ArgMode, ClipName, Compare, Comparisons, CountDim, Counter,
    FpDivName, FpName, FxpName, Gate, Guard, GuardFault, Guards, IdSet, LogicName, ReduceName, ReduceOp,
    SliceReduceName, Slot, VectorStage, alu_op, alu_ops, default_mode, reduce_op, reduce_ops,
};
