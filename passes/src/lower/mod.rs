//! What the lowering passes share: from tensors and mappings to loops and addresses.

pub mod access;
pub mod buffers;
pub mod origin;
pub mod stages;

pub use stages::{LowerStage, StageCx};
