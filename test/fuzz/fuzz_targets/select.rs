//! Any text as a kernel whose configurations are opened and chosen: what `checks` says holds.

#![no_main]

#[macro_use]
mod kernel;

kernel_target!(kernel::checks::CHOSEN);
