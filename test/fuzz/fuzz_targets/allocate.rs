//! Any text as a kernel whose addresses are opened and allocated: what `checks` says holds.

#![no_main]

#[macro_use]
mod kernel;

kernel_target!(kernel::checks::ALLOCATED);
