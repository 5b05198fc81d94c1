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
mod query;
pub mod render;
mod report;
mod reproducer;
mod run;
mod split;

pub use files::{pass_outputs, shared_files};
pub use io::{Io, process};
pub use load::{
    Loaded, MAX_HAND_WRITTEN_BYTES, load_config_rules, load_machine, load_module, near_file, read_source,
};
pub use render::Renderer;
pub use reproducer::{pipeline_of, reproducer};
pub use split::split;

use flags::Asked;
use visa_ir::context::Context;
use visa_ir::decl::Dialect;
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;
use visa_pass::Pass;

/// The dialects and passes that a tool knows.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    /// The dialects.
    pub dialects: Vec<&'static Dialect>,
    /// The passes.
    pub passes: Vec<&'static Pass>,
}

/// The dialects that come with visa, from the highest level to the lowest.
#[must_use]
pub fn standard_dialects() -> Vec<&'static Dialect> {
    vec![&visa_mapping::DIALECT, &visa_stream::DIALECT, &visa_sequencer::DIALECT, &visa_hw::DIALECT]
}

impl Registry {
    /// Everything that comes with visa.
    #[must_use]
    pub fn standard() -> Self {
        Self { dialects: standard_dialects(), passes: visa_passes::standard_passes() }
    }

    /// With one more dialect.
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

    /// A context with the dialects.
    ///
    /// # Errors
    /// What is wrong with the declarations of one, or that two have one name.
    pub fn context(&self) -> Result<Context, Vec<Diagnostic>> {
        let mut ctx = Context::default();
        let refused = |why| Diagnostic::error("dialect", Span::default(), why);
        let wrong: Vec<_> = self.dialects.iter().filter_map(|dialect| ctx.register(dialect).err()).collect();
        if wrong.is_empty() { Ok(ctx) } else { Err(wrong.into_iter().flatten().map(refused).collect()) }
    }
}

/// Runs on `args` (without the program's name). Returns the exit code: 0 if everything asked for held, 2 if a `query`
/// is not decided, else 1.
pub fn run(registry: &Registry, args: &[String], io: &mut Io) -> i32 {
    match flags::parse(args, &registry.passes) {
        Ok(Asked::Modules(flags)) => run::Driver::new(registry, &flags, io).run(),
        Ok(Asked::Query(asked)) => query::run(*asked, io),
        Err(stop) => {
            let stream = if stop.code == 0 { &mut io.stdout } else { &mut io.stderr };
            stream.extend(stop.message.into_bytes());
            stop.code
        }
    }
}
