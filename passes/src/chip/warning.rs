//! A warning of `lint-chip`.

/// A warning about a command.
pub(crate) struct ChipWarning {
    /// Its number.
    pub(crate) number: &'static str,
    /// The finding.
    pub(crate) message: String,
    /// The fix.
    pub(crate) fix: &'static str,
    /// The ticks of both ways, if they are known.
    pub(crate) note: Option<String>,
}
