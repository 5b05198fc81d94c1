//! Integers: what folds, what patterns rewrite, what reads and writes.

use super::{any, int, same_type};
use visa_ir::context::Attr;
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, OperandDecl};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_ir::rewrite::{Fold, NoMatch, RewritePattern};

pub(crate) static OPS: &[&OpDecl] = &[&CONST, &COPY, &ADD, &SCALE, &LOAD, &STORE];

#[visa_ir::view(Const)]
pub(crate) static CONST: OpDecl = OpDecl {
    name: "test.const",
    summary: "A number.",
    clauses: &[ClauseDecl::required("value", ClauseKind::Int, "the number").open_address()],
    results: &["number"],
    effects: Effects::PURE,
    infer: Some(|op| Ok(vec![int(op.ctx)])),
    ..OpDecl::BASE
};

static COPY: OpDecl = OpDecl {
    name: "test.copy",
    summary: "The same number.",
    operands: &[any("number")],
    results: &["copy"],
    effects: Effects::PURE,
    infer: Some(same_type),
    fold: Some(|op| Some(Fold::Values(vec![*op.operands().first()?]))),
    ..OpDecl::BASE
};

/// The value of a constant that an operand is.
fn constant(op: OpRef<'_>, index: usize) -> Option<i64> {
    Const::of(op.operand_def(index)?).ok()?.value().ok()
}

static ADD: OpDecl = OpDecl {
    name: "test.add",
    summary: "A sum.",
    operands: &[any("left"), any("right")],
    results: &["sum"],
    effects: Effects::PURE,
    infer: Some(same_type),
    fold: Some(|op| match (constant(op, 0), constant(op, 1)) {
        (_, Some(0)) => Some(Fold::Values(vec![op.operands()[0]])),
        (Some(0), _) => Some(Fold::Values(vec![op.operands()[1]])),
        (Some(_) | None, Some(_) | None) => None,
    }),
    patterns: &[&CONSTANT_RIGHT, &ADD_CONSTANTS],
    ..OpDecl::BASE
};

static ADD_CONSTANTS: RewritePattern = RewritePattern {
    name: "add-constants",
    summary: "the sum of two constants is a constant",
    root: Some(&ADD),
    benefit: 2,
    rewrite: |rewriter, id| {
        let op = rewriter.op(id);
        let (Some(left), Some(right)) = (constant(op, 0), constant(op, 1)) else {
            return Err(NoMatch::because("an operand is no constant"));
        };
        let ty = op.value(op.results()[0]).ty();
        let sum = Const::build(op).value(left.wrapping_add(right)).result(ty, Some("sum".into()));
        let spec = sum.spec();
        rewriter.replace_with(id, spec)?;
        Ok(())
    },
};

static CONSTANT_RIGHT: RewritePattern = RewritePattern {
    name: "constant-right",
    summary: "a constant is the right operand of a sum",
    root: Some(&ADD),
    benefit: 1,
    rewrite: |rewriter, id| {
        let op = rewriter.op(id);
        let (left, right) = (op.operands()[0], op.operands()[1]);
        if constant(op, 0).is_none() || constant(op, 1).is_some() {
            return Err(NoMatch::because("the left operand is no constant, or both are"));
        }
        rewriter.set_operand(id, 0, right)?;
        rewriter.set_operand(id, 1, left)?;
        Ok(())
    },
};

#[visa_ir::view(Scale)]
static SCALE: OpDecl = OpDecl {
    name: "test.scale",
    summary: "A number, times a factor, perhaps in thousands.",
    operands: &[OperandDecl::one("number", &["test.int", "test.wide"])],
    clauses: &[
        ClauseDecl::required("by", ClauseKind::Int, "the factor"),
        ClauseDecl::optional("thousands", ClauseKind::Flag, "whether the factor counts thousands"),
    ],
    results: &["product"],
    effects: Effects::PURE,
    infer: Some(same_type),
    fold: Some(|op| {
        let scale = Scale::of(op).ok()?;
        let by = scale.by().ok()?;
        match (scale.thousands(), by) {
            (true, by) => {
                let factor = op.ctx.attr(Attr::Int(by.checked_mul(1000)?));
                Some(Fold::Clauses(vec![("by", Some(factor)), ("thousands", None)]))
            }
            (false, 1) => Some(Fold::Values(vec![*op.operands().first()?])),
            (false, _) => None,
        }
    }),
    ..OpDecl::BASE
};

visa_ir::words! {
    /// A memory of numbers.
    enum MemoryName {
        Near = "near",
        Far = "far",
    }
}

const MEMORIES: ClauseKind = ClauseKind::word::<MemoryName>();

static LOAD: OpDecl = OpDecl {
    name: "test.load",
    summary: "Reads a number.",
    clauses: &[ClauseDecl::lead("from", MEMORIES, "the memory")],
    results: &["number"],
    effects: Effects::Are(&[reads(Target::Clause("from"))]),
    infer: Some(|op| Ok(vec![int(op.ctx)])),
    ..OpDecl::BASE
};

static STORE: OpDecl = OpDecl {
    name: "test.store",
    summary: "Writes a number.",
    operands: &[any("number")],
    clauses: &[ClauseDecl::lead("to", MEMORIES, "the memory")],
    effects: Effects::Are(&[writes(Target::Clause("to"))]),
    ..OpDecl::BASE
};
