//! `stream.vector_log`: the branch logger, which keeps execution ids for another pass (book 21).

use crate::chain::{axes, check_same, input, with_dims};
use crate::formula::Formula;
use crate::lower::LowerStage;
use crate::raise::{constant, mapped, result};
use crate::streams::VECTOR;
use visa_algebra::Expr;
use visa_engine::place::rngd;
use visa_hw::ops as hw;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::{Effects, Target, allocates, writes};
use visa_ir::module::OpRef;
use visa_ir::verify::VerifyCx;
use visa_mapping::expression::Term;
use visa_mapping::facts::{check_mappings, machine};
use visa_mapping::ops::func::check_place;
use visa_mapping::raise::{Raising, Semantics};
use visa_mapping::tensor::attrs::MAP;
use visa_mapping::{Dim, Tensor, VRF};
use visa_numerics::DType;

/// `stream.vector_log`.
#[visa_ir::view(VectorLog)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.vector_log",
    summary: "Ends a pipeline: stores the execution ids of its elements into the vector register file.",
    doc: "A later pass takes them by `stream.vector_branch vrf`. Each id is an i32 at the place of its element \
          (book 21, branch logger; the layout is ours).",
    constraints: &[
        ("C1", "the ids fit the register file: 8 KB (book 04)"),
        ("C2", "element is the stream's [time, packet]"),
    ],
    operands: &[OperandDecl::one("stream", &[VECTOR.def.name])],
    clauses: &[
        ClauseDecl::required("at", ClauseKind::Int, "address in the register file, in bytes").open_address(),
        ClauseDecl::required("element", ClauseKind::body::<Expr>(&MAP), "the layout, in elements"),
    ],
    results: &["ids"],
    effects: Effects::Are(&[allocates(Target::Memory("tm.vrf")), writes(Target::Memory("tm.vrf"))]),
    infer: Some(|op| {
        let element = (*VectorLog::of(op)?.element()?).clone();
        with_dims(op, &VRF, None, DType::I32, &[(Dim::Element, element)], &*input(op)?)
    }),
    verify: Some(verify),
    example: "%ids = stream.vector_log %b at 0, element [A % 8]",
    interfaces: &[
        Interface(&rngd::STORE_IDS),
        Interface(&Semantics(raised)),
        Interface(&Formula::Call(|_| Some("ids".to_owned()))),
        Interface(&LowerStage(|_, op| {
            Ok(Some(hw::store_ids::StoreIds::build(op).at(VectorLog::of(op)?.at()?).spec()))
        })),
    ],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    let source = input(op)?;
    let Some(result) = op.result_type::<Tensor>(0) else { return Ok(()) };
    let at = VectorLog::of(op)?.at_unless_auto()?;
    check_place(op, "at", &result, at, machine(op).memory.vrf_bytes, axes, "C1")?;
    let wanted = Expr::pair([source.dim(Dim::Time), source.dim(Dim::Packet)]);
    check_same(op, "C2", "element", &result.dim(Dim::Element), &wanted, axes)
}

/// The execution ids of operand 0, where its elements are.
fn raised(cx: &mut Raising<'_>, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let known = cx.held(op, 0, &*result(op)?)?;
    let ids = match cx.ids(op, 0) {
        Some(ids) => (*ids).clone(),
        None => constant(cx, op, DType::I32, 0)?,
    };
    let known = mapped(cx, op, &[&known, &ids], Term::Name(1))?;
    cx.bind(op, known)
}
