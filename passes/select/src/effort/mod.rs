//! How much work choosing may be, where its time goes, and who is told.

pub mod budget;
pub mod clock;
pub mod watch;
