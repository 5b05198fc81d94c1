//! Common parts of the tests and the bench of `select-configs`: cases, whole modules, and the search without an
//! e-graph.

#![expect(clippy::disallowed_methods, reason = "clauses are compared whatever they are called")]

pub(crate) mod brute;
pub(crate) mod cases;
pub(crate) mod compare;
pub(crate) mod sound;
pub(crate) mod space;
pub(crate) mod whole;
