//! The visa-run driver as a library: runs a kernel on data, checks its lowering, and prices it. A kernel of the tensor
//! level is evaluated instead.
//!
//! [`run`] does all of it in process, on the dialects and passes of a [`Registry`], from arguments and bytes to bytes
//! and an exit code.

mod author_names;
mod check;
mod compare;
mod console;
pub mod data;
mod files;
mod findings;
mod flags;
mod formats;
mod order_line;
mod passes;
mod pictures;
mod ports;
mod progress;
mod ran;
mod relabelled;
mod rust;
mod session;
mod stages;

pub use formats::Document;

use visa_opt::{Io, Registry};

/// Runs on `args` (without the program's name). Returns the exit code: 0 only if everything asked for held.
pub fn run(registry: &Registry, args: &[String], io: &mut Io) -> i32 {
    match flags::parse(args) {
        Ok(flags) => {
            let mut progress = progress::on_terminal(io.progress);
            session::session(registry, &flags, io, &mut progress)
        }
        Err(stop) => {
            let stream = if stop.code == 0 { &mut io.stdout } else { &mut io.stderr };
            stream.extend(stop.message.into_bytes());
            stop.code
        }
    }
}
