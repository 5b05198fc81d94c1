//! Reports of a choice.

pub(crate) mod advise;
pub(crate) mod dump;
pub(crate) mod refused;
pub(crate) mod report;
