//! Declarations with a mistake each.

use super::{INT, any, int, same_type};
use visa_ir::build::NewOp;
use visa_ir::context::Attr;
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, make_type};
use visa_ir::effects::Effects;
use visa_ir::rewrite::{Fold, NoMatch, RewriteFn, RewritePattern};

pub(crate) static OPS: &[&OpDecl] =
    &[&WIDEN, &GROW, &TWO, &SPIN, &PING, &PONG, &IDLE, &SHY, &REFUSED, &RETYPED];

const BASE: OpDecl = OpDecl {
    summary: "It is declared with a mistake.",
    operands: &[any("number")],
    results: &["number"],
    effects: Effects::PURE,
    infer: Some(same_type),
    ..OpDecl::BASE
};

static WIDEN: OpDecl = OpDecl {
    name: "test.widen",
    infer: Some(|op| Ok(vec![make_type(op.ctx, &INT, 64_u32)])),
    fold: Some(|op| Some(Fold::Values(vec![*op.operands().first()?]))),
    ..BASE
};

#[visa_ir::view(Grow)]
static GROW: OpDecl = OpDecl {
    name: "test.grow",
    operands: &[],
    clauses: &[ClauseDecl::required("bits", ClauseKind::Int, "the bits of the result")],
    infer: Some(|op| {
        let bits = u32::try_from(Grow::of(op)?.bits()?).ok();
        let bits = bits.ok_or_else(|| op.error("C0", "`bits` is no number of bits"))?;
        Ok(vec![make_type(op.ctx, &INT, bits)])
    }),
    fold: Some(|op| {
        let more = Grow::of(op).ok()?.bits().ok()? + 1;
        Some(Fold::Clauses(vec![("bits", Some(op.ctx.attr(Attr::Int(more))))]))
    }),
    ..BASE
};

static TWO: OpDecl = OpDecl {
    name: "test.two",
    fold: Some(|op| Some(Fold::Values(vec![op.operands()[0], op.operands()[0]]))),
    ..BASE
};

#[visa_ir::view(Spin)]
static SPIN: OpDecl = OpDecl {
    name: "test.spin",
    clauses: &[ClauseDecl::required("count", ClauseKind::Int, "how often it was rewritten")],
    patterns: &[&COUNT_UP],
    ..BASE
};

static COUNT_UP: RewritePattern = RewritePattern {
    name: "count-up",
    summary: "counts, and never stops",
    root: Some(&SPIN),
    benefit: 1,
    rewrite: |rewriter, id| {
        let count = Spin::of(rewriter.op(id))?.count()?;
        let next = rewriter.ctx.attr(Attr::Int(count.wrapping_add(1)));
        rewriter.set_clause(id, "count", Some(next));
        Ok(())
    },
};

static PING: OpDecl = OpDecl { name: "test.ping", patterns: &[&TO_PONG], ..BASE };
static PONG: OpDecl = OpDecl { name: "test.pong", patterns: &[&TO_PING], ..BASE };

const fn turn(name: &'static str, root: &'static OpDecl, rewrite: RewriteFn) -> RewritePattern {
    RewritePattern { name, summary: "undoes another pattern", root: Some(root), benefit: 1, rewrite }
}

static TO_PONG: RewritePattern = turn("to-pong", &PING, |rewriter, id| become_other(rewriter, id, &PONG));
static TO_PING: RewritePattern = turn("to-ping", &PONG, |rewriter, id| become_other(rewriter, id, &PING));

fn become_other(
    rewriter: &mut visa_ir::rewrite::Rewriter<'_>,
    id: visa_ir::module::OpId,
    decl: &'static OpDecl,
) -> Result<(), NoMatch> {
    let operand = rewriter.op(id).operands()[0];
    let spec = NewOp::from(decl, rewriter.op(id)).operands([operand]);
    let spec = spec.result(rewriter.module().ty(operand), None).spec();
    rewriter.replace_with(id, spec)?;
    Ok(())
}

static IDLE: OpDecl = OpDecl { name: "test.idle", patterns: &[&DO_NOTHING], ..BASE };
static DO_NOTHING: RewritePattern = RewritePattern {
    name: "do-nothing",
    summary: "says that it rewrites",
    root: Some(&IDLE),
    benefit: 1,
    rewrite: |_, _| Ok(()),
};

static SHY: OpDecl = OpDecl {
    name: "test.shy",
    clauses: &[ClauseDecl::optional("seen", ClauseKind::Flag, "whether it was rewritten")],
    patterns: &[&SAY_NO],
    ..BASE
};
static SAY_NO: RewritePattern = RewritePattern {
    name: "say-no",
    summary: "rewrites, and says that it does not",
    root: Some(&SHY),
    benefit: 1,
    rewrite: |rewriter, id| {
        let flag = rewriter.ctx.attr(Attr::Unit);
        rewriter.set_clause(id, "seen", Some(flag));
        Err(NoMatch::because("I would rather not"))
    },
};

static REFUSED: OpDecl = OpDecl { name: "test.refused", patterns: &[&REFUSE], ..BASE };
static REFUSE: RewritePattern = RewritePattern {
    name: "refuse",
    summary: "refuses the input",
    root: Some(&REFUSED),
    benefit: 1,
    rewrite: |rewriter, id| Err(rewriter.op(id).error("X", "this number is not wanted").into()),
};

static RETYPED: OpDecl = OpDecl { name: "test.retyped", patterns: &[&RETYPE], ..BASE };
static RETYPE: RewritePattern = RewritePattern {
    name: "retype",
    summary: "replaces by a value of another type",
    root: Some(&RETYPED),
    benefit: 1,
    rewrite: |rewriter, id| {
        let ty = make_type(rewriter.ctx, &INT, 8_u32);
        debug_assert_ne!(ty, int(rewriter.ctx));
        let spec = Grow::build(rewriter.op(id)).bits(8).result(ty, None).spec();
        rewriter.replace_with(id, spec)?;
        Ok(())
    },
};
