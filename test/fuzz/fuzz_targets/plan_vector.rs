//! Any text as a kernel whose expressions are planned onto the vector engine: what `checks` says holds.

#![no_main]

#[macro_use]
mod kernel;

kernel_target!(kernel::checks::PLANNED);
