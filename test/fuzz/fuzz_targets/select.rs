//! Any text as a kernel whose configurations are left open and chosen: `checks` must hold.

#![no_main]

#[macro_use]
mod kernel;

kernel_target!(kernel::checks::CHOSEN);
