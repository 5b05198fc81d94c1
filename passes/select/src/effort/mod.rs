//! How much work choosing may be, where its time goes, and who is told.

pub(crate) mod budget;
pub(crate) mod clock;
pub mod watch;
