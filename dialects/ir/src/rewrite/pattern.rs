//! Declaration of a rewrite pattern.

use super::Rewriter;
use crate::decl::OpDecl;
use crate::diag::Diagnostic;
use crate::module::OpId;
use std::borrow::Cow;
use std::fmt;

/// Rewrites an operation, or returns the reason for no match. It changes something exactly if it returns `Ok`.
pub type RewriteFn = fn(&mut Rewriter<'_>, OpId) -> Result<(), NoMatch>;

/// A local rewrite, declared as data. It matches an operation and its neighbours, and changes them through the
/// [`Rewriter`].
pub struct RewritePattern {
    /// Its name, for messages and statistics.
    pub name: &'static str,
    /// Its effect and the reason that it preserves the semantics, in one line.
    pub summary: &'static str,
    /// The operation that it is tried on; every operation if there is none.
    pub root: Option<&'static OpDecl>,
    /// Of several patterns for an operation, the one with the greatest benefit is tried first; of equal ones, the
    /// one that was given first.
    pub benefit: u32,
    /// The rewrite.
    pub rewrite: RewriteFn,
}

impl fmt::Debug for RewritePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Reason why a pattern did not rewrite an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoMatch {
    /// It is for other operations than this one. The reason is shown if an operation has to be rewritten and no
    /// pattern does, and with [`Greedy::explain`](super::Greedy::explain).
    Because(Cow<'static, str>),
    /// It is for this one, but the input is wrong: the run stops with this error.
    Refused(Box<Diagnostic>),
}

impl NoMatch {
    /// The operation is none that the pattern is for.
    #[must_use]
    pub fn because(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::Because(reason.into())
    }
}

impl From<Diagnostic> for NoMatch {
    fn from(error: Diagnostic) -> Self {
        Self::Refused(Box::new(error))
    }
}
