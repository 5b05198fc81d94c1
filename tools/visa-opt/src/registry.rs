//! The dialects and passes of a tool.

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
    /// The errors in the declarations of one, or that two have one name.
    pub fn context(&self) -> Result<Context, Vec<Diagnostic>> {
        let mut ctx = Context::default();
        let refused = |why| Diagnostic::error("dialect", Span::default(), why);
        let wrong: Vec<_> = self.dialects.iter().filter_map(|dialect| ctx.register(dialect).err()).collect();
        if wrong.is_empty() { Ok(ctx) } else { Err(wrong.into_iter().flatten().map(refused).collect()) }
    }
}
