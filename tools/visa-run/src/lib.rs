//! The visa-run driver as a library: runs a kernel on data, checks its lowering, and prices it.
//!
//! [`run`] does all of it in process, from arguments and bytes to bytes and an exit code.

mod check;
pub mod data;
mod flags;
mod kernel;
mod output;
mod session;

pub use output::Document;

use visa_opt::Io;

/// Runs on `args` (without the program's name). Returns the exit code: 0 only if everything asked for held.
pub fn run(args: &[String], io: &mut Io) -> i32 {
    run_with_progress(args, io, &mut |_, _| {})
}

/// Runs on `args` and tells `progress` how many commands of how many are done.
pub fn run_with_progress(args: &[String], io: &mut Io, progress: &mut dyn FnMut(usize, usize)) -> i32 {
    match flags::parse(args) {
        Ok(flags) => session::Session::new(&flags, io).run(progress),
        Err(stop) => {
            let stream = if stop.code == 0 { &mut io.stdout } else { &mut io.stderr };
            stream.extend(stop.message.into_bytes());
            stop.code
        }
    }
}
