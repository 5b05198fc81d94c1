//! The visa-opt driver as a library: a binary with a dialect or a pass of one's own is a few lines.
//!
//! ```no_run
//! use std::process::ExitCode;
//! use visa_ir::decl::Dialect;
//! use visa_pass::Pass;
//!
//! static MY_DIALECT: Dialect =
//!     Dialect { name: "my", doc: "", level: visa_ir::level::Level::Any, ops: &[], types: &[], attrs: &[] };
//! static MY_PASS: Pass = Pass { name: "my-pass", summary: "does nothing yet", ..Pass::BASE };
//!
//! fn main() -> ExitCode {
//!     visa_opt::Tool::standard().dialect(&MY_DIALECT).pass(&MY_PASS).main()
//! }
//! ```
//!
//! [`Tool::run`] does all of it in process, from arguments and bytes to bytes and an exit code: tests use that.

mod docs;
mod dump;
mod expect;
mod flags;
mod io;
mod load;
mod outputs;
mod pass_flags;
pub mod progress;
mod query;
pub mod render;
mod report;
mod reproducer;
mod run;
mod split;

pub use io::{Io, process};
pub use load::{
    Loaded, MAX_HAND_WRITTEN_BYTES, load_config_rules, load_machine, load_module, near_file, read_source,
};
pub use render::Renderer;
pub use reproducer::{pipeline_of, reproducer};
pub use split::split;

use flags::Asked;
use std::process::ExitCode;
use visa_ir::decl::Dialect;
use visa_pass::Pass;

/// What a binary of this driver knows.
#[derive(Clone, Debug, Default)]
pub struct Tool {
    /// The dialects that it registers.
    pub dialects: Vec<&'static Dialect>,
    /// The passes that it can run.
    pub passes: Vec<&'static Pass>,
}

/// The dialects that come with visa, from the highest level to the lowest.
#[must_use]
pub fn standard_dialects() -> Vec<&'static Dialect> {
    vec![&visa_mapping::DIALECT, &visa_stream::DIALECT, &visa_sequencer::DIALECT, &visa_hw::DIALECT]
}

impl Tool {
    /// Everything that comes with visa.
    #[must_use]
    pub fn standard() -> Self {
        Self { dialects: standard_dialects(), passes: visa_passes::standard_passes() }
    }

    /// With one more dialect. A run in which two have the same name is refused.
    #[must_use]
    pub fn dialect(mut self, dialect: &'static Dialect) -> Self {
        self.dialects.push(dialect);
        self
    }

    /// With one more pass. It takes the place of one with the same name.
    #[must_use]
    pub fn pass(mut self, pass: &'static Pass) -> Self {
        self.passes.retain(|known| known.name != pass.name);
        self.passes.push(pass);
        self
    }

    /// Runs on the process's own arguments and streams.
    #[must_use]
    pub fn main(&self) -> ExitCode {
        process(|args, io| self.run(args, io))
    }

    /// Runs on `args` (without the program's name). Returns the exit code: 0 if everything asked for held, 2 if a
    /// `query` is not decided, else 1.
    pub fn run(&self, args: &[String], io: &mut Io) -> i32 {
        match flags::parse(args, &self.passes) {
            Ok(Asked::Modules(flags)) => run::Driver::new(self, &flags, io).run(),
            Ok(Asked::Query(asked)) => query::run(*asked, io),
            Err(stop) => {
                let stream = if stop.code == 0 { &mut io.stdout } else { &mut io.stderr };
                stream.extend(stop.message.into_bytes());
                stop.code
            }
        }
    }
}
