//! Every kernel of `test/kernels` and `test/book` with every clause that may be open left open: `select-configs` and
//! `allocate` close them, the kernel takes no more cycles than as its author wrote it, and its results are the same.

pub(crate) mod cases;
mod outcome;
mod results;

use crate::settings::Settings;

/// Configurations are open, and tensors stay in the slices where they are written.
///
/// # Panics
/// If a kernel is slower or computes something else.
pub fn configurations(settings: &Settings<'_>) {
    outcome::are_as_good("open-clauses{distributions=false}", settings.files);
}

/// The distribution of tensors is open too.
///
/// # Panics
/// If a kernel is slower or computes something else.
pub fn distributions(settings: &Settings<'_>) {
    outcome::are_as_good(outcome::DISTRIBUTIONS, settings.files);
}
