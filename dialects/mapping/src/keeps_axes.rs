//! The interface of operations whose results depend on every axis that their types mention.

/// The results depend on every axis that their types mention, as what a function takes does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepsAxes;
