//! `test-convert`: from `test.old_...` on integers to `test.new_...` on wide ones.

use super::{ANY, INT, WIDE};
use visa_ir::context::{Attr, Context};
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, OperandDecl, Trait, make_type};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::Effects;
use visa_ir::module::{OpId, TypeId, ValueId};
use visa_ir::rewrite::{
    Conversion, ConversionPattern, ConversionTarget, Kind, NoMatch, Rewriter, TypeConverter,
};
use visa_pass::{Configured, Pass, PassCx, Scope};

pub(crate) static OPS: &[&OpDecl] = &[
    &OLD_MAKE, &NEW_MAKE, &OLD_ADD, &NEW_ADD, &OLD_BODY, &NEW_BODY, &STUCK, &ALONE, &AGAIN, &SLOPPY, &EVEN,
    &TAKE, &CAST, &HALF,
];

#[visa_ir::view(Make)]
const MAKE: OpDecl = OpDecl {
    summary: "A number.",
    clauses: &[ClauseDecl::required("value", ClauseKind::Int, "the number")],
    results: &["number"],
    effects: Effects::PURE,
    ..OpDecl::BASE
};
#[visa_ir::view(Add)]
const ADD: OpDecl = OpDecl {
    summary: "A sum.",
    operands: &[OperandDecl::one("left", ANY), OperandDecl::one("right", ANY)],
    results: &["sum"],
    effects: Effects::PURE,
    ..OpDecl::BASE
};
#[visa_ir::view(One)]
const ONE: OpDecl = OpDecl {
    summary: "A number of a number.",
    operands: &[OperandDecl::one("number", ANY)],
    results: &["number"],
    effects: Effects::PURE,
    ..OpDecl::BASE
};
const BODY: OpDecl = OpDecl {
    summary: "A body with arguments.",
    traits: &[Trait::Function, Trait::EndsWith("test.yield")],
    effects: Effects::OfBody,
    ..OpDecl::BASE
};

#[visa_ir::view(OldMake: Make)]
static OLD_MAKE: OpDecl = OpDecl { name: "test.old_make", ..MAKE };
#[visa_ir::view(NewMake: Make)]
static NEW_MAKE: OpDecl = OpDecl { name: "test.new_make", ..MAKE };
#[visa_ir::view(OldAdd: Add)]
static OLD_ADD: OpDecl = OpDecl { name: "test.old_add", ..ADD };
#[visa_ir::view(NewAdd: Add)]
static NEW_ADD: OpDecl = OpDecl { name: "test.new_add", ..ADD };
static OLD_BODY: OpDecl = OpDecl { name: "test.old_body", ..BODY };
#[visa_ir::view(NewBody)]
static NEW_BODY: OpDecl = OpDecl { name: "test.new_body", ..BODY };
static STUCK: OpDecl = OpDecl { name: "test.old_stuck", ..ONE };
static ALONE: OpDecl = OpDecl { name: "test.old_alone", ..ONE };
#[visa_ir::view(Again: One)]
static AGAIN: OpDecl = OpDecl { name: "test.old_again", ..ONE };
static SLOPPY: OpDecl = OpDecl { name: "test.old_sloppy", ..ONE };
/// Two steps: it becomes an old operation, which another pattern converts.
static HALF: OpDecl = OpDecl { name: "test.old_half", ..ONE };
/// Legal where its value is even.
#[visa_ir::view(Even)]
static EVEN: OpDecl = OpDecl {
    name: "test.even",
    clauses: &[ClauseDecl::required("value", ClauseKind::Int, "the number")],
    ..MAKE
};
/// Stays, and takes an integer.
static TAKE: OpDecl = OpDecl {
    name: "test.take",
    operands: &[OperandDecl::one("number", ANY)],
    results: &[],
    effects: Effects::Declares,
    ..ONE
};
#[visa_ir::view(Cast: One)]
static CAST: OpDecl = OpDecl { name: "test.cast", ..ONE };

fn widened(ctx: &Context, ty: TypeId) -> Option<TypeId> {
    let bits = ctx.type_value::<u32>(ty).filter(|_| ctx.type_name(ty) == INT.name)?;
    Some(make_type(ctx, &WIDE, *bits))
}

fn cast(rewriter: &mut Rewriter<'_>, value: ValueId, ty: TypeId, anchor: OpId) -> Option<ValueId> {
    let spec = Cast::build(rewriter.op(anchor), [value]).result(ty, None).spec();
    let made = rewriter.insert_before(anchor, spec);
    rewriter.op(made).results().first().copied()
}

const fn pattern(root: &'static OpDecl, convert: visa_ir::rewrite::ConvertFn) -> ConversionPattern {
    ConversionPattern {
        name: root.name,
        summary: "what is old becomes new",
        root: Some(root),
        benefit: 1,
        convert,
    }
}

static PATTERNS: [&ConversionPattern; 9] = [
    &pattern(&OLD_MAKE, |cx, id, _| {
        let op = cx.op(id);
        let ty = cx.convert_type(op.value(op.results()[0]).ty());
        let value = OldMake::of(op)?.value()?;
        let name = op.module.value_name(op.results()[0]).cloned();
        let make = NewMake::build(op, []).common(|common| common.value(value)).result(ty, name);
        cx.replace_with(id, make.spec()).map(drop)
    }),
    &pattern(&OLD_ADD, |cx, id, operands| {
        let op = cx.op(id);
        let ty = cx.convert_type(op.value(op.results()[0]).ty());
        let spec = NewAdd::build(op, operands.iter().copied()).result(ty, None).spec();
        cx.replace_with(id, spec).map(drop)
    }),
    &pattern(&OLD_BODY, |cx, id, _| {
        let spec = NewBody::build(cx.op(id)).spec();
        let made = cx.rewriter.insert_before(id, spec);
        cx.rewriter.move_region(id, made);
        cx.op(made).regions().to_vec().into_iter().for_each(|block| cx.convert_arguments(block));
        cx.replace(id, &[])
    }),
    &pattern(&STUCK, |_, _, _| Err(NoMatch::because("it is stuck"))),
    &ConversionPattern {
        name: "pull",
        benefit: 2,
        ..pattern(&STUCK, |_, _, _| Err(NoMatch::because("pulling does not help")))
    },
    &pattern(&AGAIN, |cx, id, _| {
        let (operand, ty) = (cx.op(id).operands()[0], cx.op(id).value(cx.op(id).results()[0]).ty());
        let spec = Again::build(cx.op(id), [operand]).result(ty, None).spec();
        cx.replace_with(id, spec).map(drop)
    }),
    &pattern(&SLOPPY, |cx, id, operands| {
        cx.rewriter.set_operand(id, 0, operands[0])?;
        Err(NoMatch::because("half of it was done"))
    }),
    &pattern(&HALF, |cx, id, _| {
        let (operand, ty) = (cx.op(id).operands()[0], cx.op(id).value(cx.op(id).results()[0]).ty());
        let spec = OldAdd::build(cx.op(id), [operand, operand]).result(ty, None).spec();
        cx.replace_with(id, spec).map(drop)
    }),
    &pattern(&EVEN, |cx, id, _| {
        let value = Even::of(cx.op(id))?.value()?;
        let next = value.checked_add(1).ok_or_else(|| NoMatch::because("there is no greater number"))?;
        let next = cx.rewriter.ctx.attr(Attr::Int(next));
        cx.rewriter.set_clause(id, "value", Some(next));
        Ok(())
    }),
];

visa_pass::options! {
    /// What can be chosen.
    struct Settings {
        full: bool = ("full", "false", "whether what the target says nothing of is illegal"),
        materialize: bool = ("materialize", "true", "whether casts stand between old and new"),
    }
}

pub(crate) static CONVERT: Pass = Pass {
    name: "test-convert",
    summary: "converts old operations to new ones",
    scope: Scope::Operation,
    statistics: &[("converted", "operations converted")],
    open: true,
    ..Pass::with::<Settings>()
};

impl Configured for Settings {
    fn run(self, cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
        let Settings { full, materialize } = self;
        let old = [&OLD_MAKE, &OLD_ADD, &OLD_BODY, &STUCK, &ALONE, &AGAIN, &SLOPPY, &HALF];
        let new = [&NEW_MAKE, &NEW_ADD, &NEW_BODY, &CAST, &super::FUNC];
        let target = old.into_iter().fold(ConversionTarget::new(), |target, decl| target.illegal_op(decl));
        let target = new.into_iter().fold(target, |target, decl| target.legal_op(decl));
        let target = target.legal_where(&EVEN, |op| match Even::of(op).and_then(|even| even.value()) {
            Ok(value) if value % 2 == 0 => Ok(()),
            Ok(_) | Err(_) => Err("its value is odd".into()),
        });
        let types = TypeConverter { types: &[widened], materialize: materialize.then_some(cast) };
        let kind = if full { Kind::Full } else { Kind::Partial };
        let conversion = Conversion { types, kind, ..Conversion::new(CONVERT.name, &target, &PATTERNS) };
        let blocks = cx.blocks();
        let applied = conversion.run(cx.ctx, cx.module, &blocks)?;
        cx.count("converted", applied.values().sum());
        Ok(())
    }
}
