//! The amount of work of choosing, its time, and its progress.

pub(crate) mod budget;
pub(crate) mod clock;
pub mod watch;
