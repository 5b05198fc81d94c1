//! Limits of evaluation.

/// Most elements of one tensor, counted at the coordinates that it holds, and most coordinates of one axis, that are
/// evaluated.
pub const MAX_ELEMENTS: u64 = 1 << 28;
