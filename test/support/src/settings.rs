//! Settings of tests and benchmarks.

/// The number of an environment variable, or what it is without one.
///
/// # Panics
/// If it is no number: a campaign with a mistyped setting must not run as if there were none.
#[must_use]
pub fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is `{text}`, expected a number")),
        Err(_) => default,
    }
}
