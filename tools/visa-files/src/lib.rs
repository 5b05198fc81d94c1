//! How the tools read and write files. Whatever is read has a bound ([`read`], [`read_stream`], [`open`]);
//! whatever is written is there whole or not at all ([`write()`], [`write_in`]), also where a signal ends the
//! process meanwhile ([`Interrupts`]). Two outputs of a run that are one file are found before it
//! starts ([`FileRoles`]).

mod interrupts;
mod read;
mod roles;
mod write;

pub use interrupts::{Held, Interrupts};
pub use read::{open, read, read_stream};
pub use roles::{FileRoles, SharedFile};
pub use write::{is_plain_name, write, write_in};
