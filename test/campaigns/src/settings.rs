//! How much a campaign runs, and where its files are.

use crate::files::Files;
use std::path::{Path, PathBuf};

/// How much a campaign runs.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// Cases, where cases are drawn or counted.
    pub count: u64,
    /// Where chance comes from.
    pub seed: u64,
    /// Files, where those of the tree are run.
    pub files: Files<'a>,
}

/// The seed without another one.
pub const SEED: u64 = 2026;

/// The repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// `test/`.
pub(crate) fn test_folder() -> PathBuf {
    root().join("test")
}
