//! Any text as a kernel whose addresses are left open and allocated: `checks` must hold.

#![no_main]

#[macro_use]
mod kernel;

kernel_target!(kernel::checks::ALLOCATED);
