//! Sides of too many requests to look at each of them.

use visa_loops::{Program, SeqError, code};

/// Most requests that are looked at one by one.
pub(crate) const MOST: u64 = 1 << 16;

/// Scales `count`, which is of `seen` requests, to `all` of them; saturates at 64 bits.
pub(crate) fn scale(count: u64, all: u64, seen: u64) -> u64 {
    let scaled = u128::from(count) * u128::from(all) / u128::from(seen.max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// The error where requests cannot be counted.
pub(crate) fn too_many(program: &Program) -> SeqError {
    let message = format!(
        "`{program}` makes more requests than fit in 64 bits, or its packet does not divide its steps"
    );
    SeqError { code: code::ADDRESS, message, fix: None, range: None }
}
