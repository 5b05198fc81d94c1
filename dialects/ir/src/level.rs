//! The abstraction level of operations. A dialect declares the level of its operations.

use crate::context::Context;
use crate::module::{Module, OpRef};
use std::fmt;

/// The abstraction level of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// No operation of the levels below. As the input or output level of a pass: any.
    Any,
    /// Tensors without a memory or an order of elements: operations of `tm` on `!tm.tensor`.
    Tensor,
    /// Tensors in memories and streams: dialects `tm` and `stream`.
    Memory,
    /// Nested-loop programs: dialect `seq`.
    Sequencer,
    /// Commands on bytes: dialect `hw`.
    Hardware,
}

impl Level {
    /// The level of a module: the least lowered one that an operation of it belongs to.
    #[must_use]
    pub fn of(ctx: &Context, module: &Module) -> Self {
        let levels = module.walk_all().into_iter().map(|id| module.op(ctx, id).level());
        levels.filter(|level| *level != Self::Any).min().unwrap_or(Self::Any)
    }

    /// Returns true if a pass with this input level can run on a module at `found`.
    #[must_use]
    pub fn accepts(self, found: Self) -> bool {
        self == Self::Any || found == Self::Any || self == found
    }

    /// The level of a module at `before` when a pass that gives this one is through.
    #[must_use]
    pub fn after(self, before: Self) -> Self {
        if self == Self::Any { before } else { self }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Any => "any",
            Self::Tensor => "tensor",
            Self::Memory => "memory",
            Self::Sequencer => "sequencer",
            Self::Hardware => "hardware",
        })
    }
}

impl OpRef<'_> {
    /// The level of the operation's dialect, or of a type of its values that has a level and is less lowered.
    #[must_use]
    pub fn level(&self) -> Level {
        let dialect = self.name().split('.').next().and_then(|name| self.ctx.dialect(name));
        let dialect = dialect.map_or(Level::Any, |dialect| dialect.level);
        let arguments = self.regions().iter().flat_map(|&block| self.module.args(block));
        let values = self.operands().iter().chain(self.results()).chain(arguments);
        let levels = values.filter_map(|&value| self.ctx.def_of(self.module.ty(value))?.level);
        levels.fold(dialect, Level::min)
    }
}
