//! The flags that several tools have, each declared once.

use crate::render::Renderer;
use clap::Args;
use visa_cost::MemoryModel;
use visa_files::FileRoles;
use visa_machine::Machine;

/// Format of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Diagnostics {
    Text,
    Json,
}

/// The flags of every tool that reads a kernel.
#[derive(Args, Clone, Debug)]
#[group(skip)]
pub struct SharedFlags {
    /// The machine: rngd (the default), rngd-s, rngd-silicon (in ticks, as measured), rngd-schedule (as the vendor's
    /// schedules have it), or a description (JSON).
    #[arg(long, value_name = "NAME|FILE.json")]
    pub machine: Option<String>,
    /// Cost model of transfers, in reports and for choosing: `flat` by a start-up and a bandwidth, `book` by the
    /// requests to the memories, `detailed` by following each of them.
    #[arg(id = "memory-model", long, value_name = "MODEL", default_value = MemoryModel::default().name())]
    pub memory_model: MemoryModel,
    /// Give an axis another size than its declaration; can be repeated.
    #[arg(id = "axis", long, value_name = "NAME=SIZE")]
    pub axes: Vec<String>,
    /// Rules of select-configs in addition to the built-in ones; each is checked when it is read.
    #[arg(long, value_name = "FILE")]
    pub rules: Option<String>,
    /// Format of findings.
    #[arg(long, value_name = "FORMAT", default_value = "text", global = true)]
    diagnostics: Diagnostics,
}

impl SharedFlags {
    /// Registers the files that the flags name. A flag that is added has to be named here: the pattern is complete.
    pub fn inputs(&self, roles: &mut FileRoles) {
        let Self { machine, rules, memory_model: _, axes: _, diagnostics: _ } = self;
        let machine = machine.as_ref().filter(|name| Machine::named(name).is_none());
        for (option, name) in [("--machine", machine), ("--rules", rules.as_ref())] {
            name.into_iter().for_each(|name| roles.input(format!("{option} {name}"), name));
        }
    }

    /// The writer of findings.
    #[must_use]
    pub fn renderer(&self) -> Renderer {
        match self.diagnostics {
            Diagnostics::Text => Renderer::Text,
            Diagnostics::Json => Renderer::Json,
        }
    }
}
