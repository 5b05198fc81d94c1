//! A visa of one's own: an operation, a pass and an engine more.

mod flip;
mod negate;

use visa::Tool;
use visa::ir::decl::Dialect;
use visa::ir::level::Level;

/// Everything that comes with visa, and this crate's additions.
pub fn tool() -> Tool {
    Tool::standard().dialect(&MY).pass(&negate::CANCEL)
}

static MY: Dialect = Dialect {
    name: "my",
    level: Level::Any,
    doc: "An operation of the vector engine, and a new engine.",
    ops: &[negate::OPS, flip::OPS],
    types: &[&flip::FLIPPED.def],
    attrs: &[],
};
