//! `--print-ir-*`: the module around passes, on standard error.

use crate::flags::Flags;
use crate::run::text_of;
use std::fmt::Write as _;
use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_ir::span::Source;
use visa_pass::{Instrument, Pass};

/// The passes that a dump is wanted around.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    /// Around every pass.
    pub(crate) all: bool,
    /// Around these.
    pub(crate) passes: Vec<String>,
}

impl Filter {
    fn wants(&self, pass: &Pass) -> bool {
        self.all || self.passes.iter().any(|name| name == pass.name)
    }
}

/// The dumps to write.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) before: Filter,
    pub(crate) after: Filter,
    /// After a pass that changed something.
    pub(crate) after_change: bool,
    /// After a pass that failed.
    pub(crate) after_failure: bool,
}

/// The instrument that dumps.
pub(crate) struct Dump<'a> {
    wanted: &'a Wanted,
    flags: &'a Flags,
    source: &'a Source,
    last: String,
    /// The text of the dump.
    pub(crate) out: String,
}

impl<'a> Dump<'a> {
    pub(crate) fn new(flags: &'a Flags, source: &'a Source) -> Self {
        Self { wanted: &flags.wanted, flags, source, last: String::new(), out: String::new() }
    }

    fn dump(&mut self, when: &str, pass: &Pass, remark: &str, text: &str) {
        let _ = writeln!(self.out, "// -----// IR Dump {when} {}{remark} //----- //\n{text}", pass.name);
    }
}

impl Instrument for Dump<'_> {
    fn before(&mut self, pass: &'static Pass, ctx: &Context, module: &Module) {
        let wanted = self.wanted.before.wants(pass);
        if !wanted && !self.wanted.after_change {
            return;
        }
        self.last = text_of(ctx, module, self.flags, self.source);
        if wanted {
            self.dump("Before", pass, "", &self.last.clone());
        }
    }

    fn after(&mut self, pass: &'static Pass, ctx: &Context, module: &Module, failed: bool) {
        let wanted = if failed { self.wanted.after_failure } else { self.wanted.after.wants(pass) };
        if !wanted && (failed || !self.wanted.after_change) {
            return;
        }
        let text = text_of(ctx, module, self.flags, self.source);
        if wanted || text != self.last {
            self.dump("After", pass, if failed { " Failed" } else { "" }, &text);
        }
    }
}
