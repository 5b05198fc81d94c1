//! A researcher's rewrites: folds, patterns, a conversion, an analysis and options, on an operation of their
//! dialect. `docs/rewriting.md` goes through it part by part; `test/tests/rewriting.rs` runs it.

use std::process::ExitCode;
use visa::Tool;
use visa::ir::analysis::{Analysis, AnalysisKind, Preserved};
use visa::ir::context::{Attr, Context};
use visa::ir::decl::{ClauseDecl, ClauseKind, Dialect, OpDecl, OperandDecl};
use visa::ir::diag::{Diagnostic, Severity};
use visa::ir::effects::Effects;
use visa::ir::module::Module;
use visa::ir::rewrite::{Conversion, ConversionPattern, ConversionTarget, Fold, NoMatch, RewritePattern};
use visa::ir::span::Span;
use visa::pass::{Configured, Pass, PassCx, Scope};

fn main() -> ExitCode {
    visa::process(|args, io| tool().opt(args, io))
}

/// Everything that comes with visa, and the additions below.
pub(crate) fn tool() -> Tool {
    Tool::standard().dialect(&MY).pass(&LOWER).pass(&COUNT)
}

static MY: Dialect = Dialect {
    name: "my",
    doc: "Tensors, scaled.",
    level: visa::ir::level::Level::Any,
    ops: &[&[&SCALE, &ADD]],
    types: &[],
    attrs: &[],
};

#[visa::ir::view(Scale)]
static SCALE: OpDecl = OpDecl {
    name: "my.scale",
    summary: "Every element, times a number.",
    operands: &[OperandDecl::one("source", &["tm.hbm"])],
    clauses: &[ClauseDecl::required("by", ClauseKind::Int, "the number")],
    results: &["scaled"],
    effects: Effects::PURE,
    infer: Some(|op| Ok(vec![op.value(op.operands()[0]).ty()])),
    fold: Some(|op| {
        let scale = Scale::of(op).ok()?;
        let same = scale.by().ok()? == 1;
        same.then(|| Fold::Values(vec![op.operands()[0]]))
    }),
    patterns: &[&SCALE_OF_SCALE],
    example: "%y = my.scale %x by 3",
    ..OpDecl::BASE
};

#[visa::ir::view(Add)]
static ADD: OpDecl = OpDecl {
    name: "my.add",
    summary: "The sums of the elements of two tensors.",
    operands: &[OperandDecl::one("left", &["tm.hbm"]), OperandDecl::one("right", &["tm.hbm"])],
    results: &["sum"],
    effects: Effects::PURE,
    infer: Some(|op| Ok(vec![op.value(op.operands()[0]).ty()])),
    example: "%z = my.add %x, %y",
    ..OpDecl::BASE
};

static SCALE_OF_SCALE: RewritePattern = RewritePattern {
    name: "scale-of-scale",
    summary: "two factors are one: multiplication wraps, so it is associative",
    root: Some(&SCALE),
    benefit: 1,
    rewrite: |rewriter, id| {
        let outer = Scale::of(rewriter.op(id))?;
        let Some(inner) = outer.source()?.made_by().and_then(|op| Scale::of(op).ok()) else {
            return Err(NoMatch::because("the source is no `my.scale`"));
        };
        let (source, product) = (inner.source()?.id, outer.by()?.wrapping_mul(inner.by()?));
        let product = rewriter.ctx.attr(Attr::Int(product));
        rewriter.set_operand(id, 0, source)?;
        rewriter.set_clause(id, "by", Some(product));
        Ok(())
    },
};

visa::pass::options! {
    /// The options.
    struct Settings {
        most: i64 = ("most", "8", "the largest factor that becomes a sum"),
    }
}

static LOWER: Pass = Pass {
    name: "my-lower",
    summary: "scaling becomes additions",
    scope: Scope::Operation,
    preserves: Preserved::Only(&[AnalysisKind::of::<visa::mapping::facts::DeclaredAxes>()]),
    statistics: &[("lowered", "operations lowered")],
    ..Pass::with::<Settings>()
};

static TO_SUM: ConversionPattern = ConversionPattern {
    name: "to-sum",
    summary: "x times n is the sum of n times x",
    root: Some(&SCALE),
    benefit: 1,
    convert: |cx, id, operands| {
        let factor = Scale::of(cx.op(id))?.by()?;
        let source = operands[0];
        if factor < 2 {
            return Err(NoMatch::because(format!("{factor} times is no sum of several")));
        }
        let ty = cx.rewriter.module().ty(source);
        let mut sum = source;
        for _ in 1..factor {
            let spec = Add::build(cx.op(id), [sum, source]).result(ty, None).spec();
            let add = cx.rewriter.insert_before(id, spec);
            sum = cx.op(add).results()[0];
        }
        cx.replace(id, &[sum])
    },
};

impl Configured for Settings {
    fn run(self, cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
        let Settings { most } = self;
        let target =
            ConversionTarget::new().legal_dialect("tm").legal_op(&ADD).legal_where(&SCALE, move |op| {
                let factor = Scale::of(op).and_then(|scale| scale.by()).map_err(|error| error.message)?;
                if factor > most { Ok(()) } else { Err(format!("factors up to {most} become sums").into()) }
            });
        let blocks = cx.blocks();
        let applied = Conversion::new(LOWER.name, &target, &[&TO_SUM]).run(cx.ctx, cx.module, &blocks)?;
        cx.count("lowered", applied.values().sum());
        Ok(())
    }
}

/// Number of scaled tensors.
#[derive(PartialEq)]
struct Scalings(usize);

impl Analysis for Scalings {
    const SAME: Option<fn(&Self, &Self) -> bool> = Some(Self::eq);

    fn build(ctx: &Context, module: &Module) -> Self {
        Self(module.walk_all().into_iter().filter(|&id| module.op(ctx, id).is(&SCALE)).count())
    }
}

static COUNT: Pass = Pass {
    name: "my-count",
    summary: "reports the number of scaled tensors",
    run: |cx| {
        let message = format!("{} tensors are scaled", cx.analysis::<Scalings>().0);
        let remark = Diagnostic::error("my-count", Span::default(), message);
        cx.report(Diagnostic { severity: Severity::Remark, ..remark });
        Ok(())
    },
    ..Pass::BASE
};
