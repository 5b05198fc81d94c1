//! Layouts that pipelines share: of register files and of tensors between pipelines.

pub mod dag;
pub mod digit_lists;
pub mod padded;
pub mod sharing;
pub mod stationary;
pub mod trf_layouts;
