//! The visa-opt driver as a library: [`run`] does all of it in process, on the dialects and passes of a [`Registry`],
//! from arguments and bytes to bytes and an exit code. Tests use that, and binaries with [`process`] around it.

mod docs;
mod dump;
mod expect;
mod files;
mod flags;
mod io;
mod load;
mod outputs;
mod pass_flags;
pub mod progress;
mod prove;
mod query;
pub(crate) mod registry;
pub mod render;
mod report;
mod reproducer;
mod run;
mod shared;
mod split;
mod validate;

pub use files::{pass_outputs, shared_files};
pub use io::{Io, process};
pub use load::{
    Loaded, MAX_HAND_WRITTEN_BYTES, load_config_rules, load_machine, load_module, near_file, read_source,
};
pub use registry::{Registry, standard_dialects};
pub use render::Renderer;
pub use reproducer::{pipeline_of, reproducer};
pub use shared::SharedFlags;
pub use split::split;

use flags::Asked;

/// Runs on `args` (without the program's name). Returns the exit code: 0 if everything asked for held, 2 if a `query`
/// or an equality of kernels is not decided, else 1.
pub fn run(registry: &Registry, args: &[String], io: &mut Io) -> i32 {
    match flags::parse(args, &registry.passes) {
        Ok(Asked::Modules(flags)) => {
            let driver = run::Driver::new(registry, &flags, io);
            match &flags.prove_equal {
                Some(first) => driver.prove(first),
                None => driver.run(),
            }
        }
        Ok(Asked::Query(asked)) => query::run(*asked, io),
        Err(stop) => {
            let stream = if stop.code == 0 { &mut io.stdout } else { &mut io.stderr };
            stream.extend(stop.message.into_bytes());
            stop.code
        }
    }
}
