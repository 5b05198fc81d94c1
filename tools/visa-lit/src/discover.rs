//! Finds the test files under a root.

use std::path::{Path, PathBuf};

/// Extensions of the files that are tests.
pub const TEST_EXTENSIONS: [&str; 3] = ["visa", "mlir", "test"];

/// Directories without tests, at any depth below a root. Hidden directories are also skipped.
pub const DEFAULT_SKIPPED_DIRS: [&str; 6] = ["Inputs", "data", "fuzz", "src", "target", "tests"];

/// The tests under `root` in a fixed order, or `root` itself if it is a file.
///
/// Symbolic links to directories are not followed: they could close a cycle.
pub(crate) fn tests_under(root: &Path, skipped: &[String]) -> Result<Vec<PathBuf>, String> {
    let describe = |path: &Path, error: std::io::Error| format!("cannot read `{}`: {error}", path.display());
    let metadata = std::fs::metadata(root).map_err(|error| describe(root, error))?;
    if metadata.is_file() {
        return Ok(vec![root.to_owned()]);
    }
    let mut found = Vec::new();
    let mut pending = vec![root.to_owned()];
    while let Some(dir) = pending.pop() {
        for entry in std::fs::read_dir(&dir).map_err(|error| describe(&dir, error))? {
            let entry = entry.map_err(|error| describe(&dir, error))?;
            let kind = entry.file_type().map_err(|error| describe(&entry.path(), error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if kind.is_dir() {
                if !name.starts_with('.') && !skipped.contains(&name) {
                    pending.push(entry.path());
                }
            } else if is_test_name(&entry.path()) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

fn is_test_name(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| TEST_EXTENSIONS.contains(&extension))
}
