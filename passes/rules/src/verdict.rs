//! The results of proofs.

/// The result of a proof.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Both sides agreed on every example.
    Sound {
        /// The examples. A rule without one is refused.
        instances: u64,
        /// Comparisons in them: positions of mappings, verified configurations, results of expressions.
        compared: u64,
    },
    /// The sides of an example differ.
    Unsound(Counterexample),
    /// No example could be compared.
    Unchecked {
        /// The reason.
        why: String,
        /// An example that was refused.
        note: String,
    },
    /// The kind cannot compare the sides of such a rule.
    Undecided {
        /// The reason.
        why: String,
        /// The kinds that it can compare.
        note: String,
        /// The fix.
        fix: String,
    },
}

/// An example on which the sides of a rule differ.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The values of the example's metavariables: `axes A = 4, B = 6`.
    pub given: String,
    /// The left side.
    pub left: String,
    /// The right side; `None` if it cannot be computed.
    pub right: Option<String>,
    /// The difference and its position.
    pub why: String,
}
