//! Reading and writing of files by the tools. Every input has a size limit ([`read`], [`read_stream`], [`open`]).
//! Every output is there whole or not at all ([`write()`], [`write_in`]), also if a signal ends the process meanwhile
//! ([`Interrupts`]). Two outputs of a run that are one file are found before it starts ([`FileRoles`]).

mod interrupts;
mod read;
mod roles;
mod write;

pub use interrupts::{Interrupts, SignalGuard};
pub use read::{open, read, read_stream};
pub use roles::{FileRoles, SharedFile};
pub use write::{is_plain_name, write, write_in};
