//! The driver, flag by flag, run in process on a dialect and passes of the tests' own.

mod diagnostics;
mod files;
mod input;
mod listings;
mod passes;
mod toy;
