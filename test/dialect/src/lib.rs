//! Dialect `test`: operations and passes that use, and misuse, each means of the IR core once. `visa-test-opt` knows
//! them. A crate of its own, so that visa-mlir's tests have the dialect without the rest of the tests.

mod conversion;
mod numbers;
mod passes;
mod regions;
mod wrong;

pub use passes::PASSES;

use std::rc::Rc;
use visa_ir::context::Context;
use visa_ir::decl::{
    Body, BodyDef, BodyError, ClauseDecl, ClauseKind, Dialect, OpDecl, OperandDecl, Trait, make_type,
};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, TypeId};

/// The dialect.
pub static TEST: Dialect = Dialect {
    name: "test",
    level: visa_ir::level::Level::Any,
    doc: "Operations that test the IR core.",
    ops: &[&[&FUNC, &RETURN], numbers::OPS, wrong::OPS, regions::OPS, conversion::OPS],
    types: &[&INT, &WIDE],
    attrs: &[],
};

pub(crate) static INT: BodyDef =
    BodyDef { name: "test.int", syntax: "BITS", doc: "An integer.", parse: bits, ..BodyDef::BASE };
pub(crate) static WIDE: BodyDef = BodyDef {
    name: "test.wide",
    syntax: "BITS",
    doc: "What conversions make of an integer.",
    parse: bits,
    ..BodyDef::BASE
};

fn bits(text: &str) -> Result<Rc<dyn Body>, BodyError> {
    let refused = || BodyError::new("bits", format!("`{text}` is no number of bits"));
    text.parse::<u32>().map(|bits| Rc::new(bits) as Rc<dyn Body>).map_err(|_| refused())
}

/// An integer of 32 bits.
pub(crate) fn int(ctx: &Context) -> TypeId {
    make_type(ctx, &INT, 32_u32)
}

/// The type of the first operand.
pub(crate) fn same_type(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    Ok(vec![op.value(op.operands()[0]).ty()])
}

/// The types of the dialect.
pub(crate) const ANY: &[&str] = &["test.int", "test.wide"];

/// An operand of any type of the dialect.
pub(crate) const fn any(name: &'static str) -> OperandDecl {
    OperandDecl::one(name, ANY)
}

pub(crate) static FUNC: OpDecl = OpDecl {
    name: "test.func",
    summary: "A function.",
    clauses: &[ClauseDecl::lead("name", ClauseKind::Symbol, "its name")],
    traits: &[Trait::Function, Trait::TopLevel, Trait::EndsWith("test.return")],
    effects: Effects::Declares,
    verify: Some(passes::count_in_verifier),
    ..OpDecl::BASE
};

static RETURN: OpDecl = OpDecl {
    name: "test.return",
    summary: "Ends a function.",
    operands: &[OperandDecl::variadic("values", &["test.int", "test.wide"])],
    traits: &[Trait::Terminator, Trait::Inside("test.func")],
    effects: Effects::PURE,
    ..OpDecl::BASE
};
