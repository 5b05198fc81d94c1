//! `my.negate`, an operation of the vector engine, and a pass about it.

use visa::engine::place::rngd;
use visa::hw::ops::vector::Vector;
use visa::ir::decl::{Interface, OpDecl, OperandDecl};
use visa::ir::diag::Diagnostic;
use visa::ir::effects::Effects;
use visa::ir::module::{OpRef, OpSpec};
use visa::ir::verify::VerifyCx;
use visa::mapping::expression::Term;
use visa::mapping::raise::{Raising, Semantics};
use visa::numerics::{AluName, DType};
use visa::pass::{Configured, Level, Pass, PassCx, options};
use visa::stream::formula::Formula;
use visa::stream::lower::{LowerStage, StageCx};
use visa::stream::raise::{call, mapped, result};
use visa::stream::{VECTOR, chain};

pub(crate) static OPS: &[&OpDecl] = &[&NEGATE];

#[visa::ir::view(Negate)]
static NEGATE: OpDecl = OpDecl {
    name: "my.negate",
    summary: "Negates every element.",
    doc: "Wraps: the least integer is its own negation.",
    constraints: &[("C1", "the format is i32")],
    operands: &[OperandDecl::one("stream", &["stream.vector"])],
    results: &["stream"],
    effects: Effects::PURE,
    infer: Some(|op| chain::next(op, &VECTOR, None)),
    verify: Some(verify),
    example: "%n = my.negate %x",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Semantics(negated)),
        Interface(&Formula::Call(|_| Some("negate".to_owned()))),
        Interface(&LowerStage(lower)),
    ],
    ..OpDecl::BASE
};

fn verify(op: OpRef<'_>, _: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let found = chain::input(op)?.dtype;
    if found == DType::I32 {
        return Ok(());
    }
    Err(op.error("C1", format!("the stream is `{found}`, expected `i32`")))
}

/// `0 - x` of each element `x`.
fn negated(cx: &mut Raising<'_>, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let stream = cx.held(op, 0, &*result(op)?)?;
    let negated = mapped(cx, op, &[&stream], call("sub", vec![Term::Number(0.0), Term::Name(0)]))?;
    cx.bind(op, negated)
}

/// An existing operation does it: a multiplication by -1.
fn lower(_: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    Ok(Some(Vector::build(op).op(AluName::MulInt).constant(Some(-1)).spec()))
}

options! {
    /// The pass is its options.
    struct Cancel {
        most: i64 = ("most", "1000", "most pairs that are removed"),
    }
}

pub(crate) static CANCEL: Pass = Pass {
    name: "my-cancel",
    summary: "removes pairs of negations",
    doc: "-(-x) is x for every x, the least integer included, because negation wraps.",
    takes: Level::Memory,
    gives: Level::Memory,
    statistics: &[("pairs", "pairs of negations removed")],
    ..Pass::with::<Cancel>()
};

impl Configured for Cancel {
    fn run(self, cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
        let mut removed = 0;
        for id in cx.module.walk_all() {
            let outer = Negate::cast(cx.module.op(cx.ctx, id)).filter(|_| removed < self.most);
            let Some(outer) = outer else { continue };
            let negated = outer.stream().map_err(|error| vec![error])?;
            let Some(inner) = negated.made_by().and_then(Negate::cast) else { continue };
            let (negated_twice, plain) = (outer.results()[0], inner.operands()[0]);
            cx.module.replace_uses(negated_twice, plain);
            cx.module.erase(id);
            cx.count("pairs", 1);
            removed += 1;
        }
        Ok(())
    }
}
