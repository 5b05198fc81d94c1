//! Operations with bodies: a loop that carries values, and a plain body.

use super::{any, int};
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, OperandDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, TypeId, ValueId};
use visa_ir::verify::VerifyCx;

pub(crate) static OPS: &[&OpDecl] = &[&FOR, &YIELD, &BODY];

static FOR: OpDecl = OpDecl {
    name: "test.for",
    summary: "A loop: its body has the index and the carried values as arguments, and yields their next values.",
    constraints: &[
        (
            "C1",
            "the body has an index, a `!test.int<32>`, and an argument for each initial value, of its type",
        ),
        ("C2", "what the body yields, and what the loop gives, has the types of the initial values"),
    ],
    operands: &[OperandDecl::variadic("initial", &["test.int", "test.wide"])],
    clauses: &[ClauseDecl::required("times", ClauseKind::Int, "how often the body runs")],
    traits: &[Trait::Function, Trait::AnyResults, Trait::EndsWith("test.yield")],
    effects: Effects::OfBody,
    verify: Some(verify),
    ..OpDecl::BASE
};

static YIELD: OpDecl = OpDecl {
    name: "test.yield",
    summary: "Ends a body.",
    operands: &[OperandDecl::variadic("values", &["test.int", "test.wide"])],
    traits: &[Trait::Terminator, Trait::InsideOneOf(&["test.for", "test.new_body", "test.old_body"])],
    effects: Effects::PURE,
    ..OpDecl::BASE
};

static BODY: OpDecl = OpDecl {
    name: "test.body",
    summary: "A body without arguments.",
    operands: &[OperandDecl { arity: visa_ir::decl::Arity::Optional, ..any("number") }],
    traits: &[Trait::Region],
    effects: Effects::OfBody,
    ..OpDecl::BASE
};

fn verify(op: OpRef<'_>, _: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let Some(&block) = op.regions().first() else { return Ok(()) };
    let types = |values: &[ValueId]| values.iter().map(|&value| op.module.ty(value)).collect::<Vec<TypeId>>();
    let initial = types(op.operands());
    let wanted: Vec<_> = std::iter::once(int(op.ctx)).chain(initial.iter().copied()).collect();
    let arguments = types(op.module.args(block));
    let text = |types: &[TypeId]| {
        types.iter().map(|&ty| op.ctx.type_text(ty).to_string()).collect::<Vec<_>>().join(", ")
    };
    if arguments != wanted {
        let count = counted(arguments.len(), "argument");
        return Err(op.error("C1", format!("{count} ({}), expected {}", text(&arguments), text(&wanted))));
    }
    let yielded = op.module.ops(block).last().map_or_else(Vec::new, |&end| types(op.other(end).operands()));
    for (what, found) in [("yields", yielded), ("gives", types(op.results()))] {
        if found != initial {
            return Err(
                op.error("C2", format!("the loop {what} ({}), expected ({})", text(&found), text(&initial)))
            );
        }
    }
    Ok(())
}
