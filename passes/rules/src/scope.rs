//! The metavariables of a rule: bound on the left side, used on the right side and in conditions.

use crate::grammar::{Tree, refuse};
use visa_ir::diag::Diagnostic;

/// Most metavariables of a rule. Each multiplies the examples that a proof enumerates.
pub const MAX_VARIABLES: usize = 16;

/// The sort of a metavariable's value.
pub trait Sort: Copy + PartialEq + std::fmt::Debug {
    /// In words, for messages.
    fn describe(self) -> &'static str;
}

/// The metavariables of a rule, by slot.
#[derive(Clone, Debug)]
pub struct Scope<S> {
    names: Vec<(String, S)>,
    binding: bool,
}

impl<S: Sort> Default for Scope<S> {
    fn default() -> Self {
        Self::with(Vec::new())
    }
}

impl<S: Sort> Scope<S> {
    /// A scope in which these names are bound from the start.
    #[must_use]
    pub fn with(names: Vec<(String, S)>) -> Self {
        Self { names, binding: true }
    }

    /// The metavariables with their sorts, in the order of their slots.
    #[must_use]
    pub fn names(&self) -> &[(String, S)] {
        &self.names
    }

    /// The slot of a name that is bound.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|(own, _)| own == name)
    }

    /// Returns true on the left side, where a new name is bound.
    #[must_use]
    pub fn binding(&self) -> bool {
        self.binding
    }

    /// Ends the left side: from here on, every name must be bound.
    pub(crate) fn close(&mut self) {
        self.binding = false;
    }

    /// The slot of the metavariable that `tree` names; a new slot on the left side.
    ///
    /// # Errors
    /// A metavariable of another sort, one that is not bound, one more than [`MAX_VARIABLES`].
    pub fn slot(&mut self, tree: &Tree<'_>, sort: S) -> Result<usize, Diagnostic> {
        let name = tree.as_str();
        match self.position(name) {
            Some(slot) if self.names[slot].1 == sort => Ok(slot),
            Some(slot) => {
                let (found, before) = (sort.describe(), self.names[slot].1.describe());
                Err(refuse("rule-sort", tree, format!("`{name}` is {found} here, and {before} before")))
            }
            None if self.binding && self.names.len() == MAX_VARIABLES => {
                let message = format!(
                    "`{name}` is one metavariable more than the {MAX_VARIABLES} that a rule may have"
                );
                let fix = "take terms that stay together as one, such as `...R` for the rest of a group";
                Err(refuse("rule-variables", tree, message).fix(fix.to_owned()))
            }
            None if self.binding => {
                self.names.push((name.to_owned(), sort));
                Ok(self.names.len() - 1)
            }
            None => {
                let message = format!("`{name}` is not bound: it does not occur on the left side");
                Err(refuse("rule-unbound", tree, message))
            }
        }
    }
}
