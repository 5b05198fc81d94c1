//! Kernels evaluated from their text, against plain loops over arrays.

mod any_order;
mod contraction;
mod defined;
mod elementwise;
mod enumerated;
mod interface;
mod packing;
mod support;
