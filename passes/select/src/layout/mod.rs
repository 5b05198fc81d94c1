//! Layouts that pipelines share: of register files and of tensors between pipelines.

pub(crate) mod dag;
pub(crate) mod digit_lists;
pub(crate) mod padded;
pub(crate) mod sharing;
pub(crate) mod stationary;
pub(crate) mod trf_layouts;
