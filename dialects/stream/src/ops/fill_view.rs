//! `stream.fill_view`: the sub context overwrites a part of a tensor in data memory with one number (book 09, generate
//! mode).

use crate::chain::{axes, given};
use crate::fill::{FROM_ITS_START, Fill, word};
use crate::formula::Formula;
use crate::lower::{LowerStage, loops};
use crate::ops::commit::check_slices;
use crate::ops::commit_view::check_held;
use crate::planner::{Planner, StagePlan, planned};
use crate::raise::{constant, result};
use std::rc::Rc;
use visa_algebra::Expr;
use visa_engine::place::rngd;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::{Effects, Target, writes};
use visa_ir::module::{OpRef, TypeId};
use visa_ir::verify::VerifyCx;
use visa_mapping::facts::{Introduces, check_mappings, machine};
use visa_mapping::raise::moves::overwritten;
use visa_mapping::raise::{Raising, Semantics};
use visa_mapping::tensor::attrs::MAP;
use visa_mapping::tensor::numbers::{NUMBER, Number};
use visa_mapping::view::part_start;
use visa_mapping::{DM, Dim, Tensor, make, operand, view};
use visa_numerics::{Bits, load};

/// `stream.fill_view`.
#[visa_ir::view(FillView)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.fill_view",
    summary: "Overwrites a part of a tensor in data memory with one number.",
    doc: "A command of the sub context by itself, as `stream.fill` (book 09, generate mode). The result is `tensor` \
          with the number at each index that `element` holds. It has the address of `tensor`: if anything still \
          needs `tensor` after this operation, it overlaps the result and is refused. The part has the tensor's \
          own indices, and pads inner terms to the tensor's sizes, as in `stream.commit_view`: `[A, B @ 28 = 4 # \
          32]` of `[A, B = 32]`. Padding is left as it is. Only slices that `slice` holds are written.",
    constraints: &[
        ("C1", "`tensor` is no view"),
        ("C2", "`tensor` holds, at every live position of the part, the same index"),
        ("C3", "the number is in the tensor's format; of an integer format it is an integer"),
        (
            "C4",
            "the filled part is contiguous in multiples of 4 bytes, a multiple of 4 bytes apart, from an address \
             that is one (book 09)",
        ),
        (
            "C5",
            "`slice` has a position for each slice of a cluster, and the tensor holds in every live one the same \
             (book 09)",
        ),
    ],
    operands: &[OperandDecl::one("tensor", &["tm.dm"])],
    clauses: &[
        ClauseDecl::required("value", ClauseKind::body::<Number>(&NUMBER), "the number"),
        ClauseDecl::optional(
            "slice",
            ClauseKind::body::<Expr>(&MAP),
            "mapping of the written slices: a part of the tensor's",
        ),
        ClauseDecl::required(
            "element",
            ClauseKind::body::<Expr>(&MAP),
            "the part's layout within a slice, in elements",
        ),
    ],
    results: &["tensor"],
    effects: Effects::Are(&[writes(Target::Operand("tensor"))]),
    infer: Some(infer),
    verify: Some(verify),
    example: "%z = stream.fill_view %y value 0, element [A @ 60 = 4 # 64]",
    interfaces: &[
        Interface(&rngd::GENERATE),
        Interface(&Semantics(raised)),
        Interface(&Formula::Number(element)),
        Interface(&LowerStage(|cx, op| loops::fill(cx, op, &cx.plan::<FillViewPlan>(op)?.0, number(op)?))),
        Interface(&Introduces(&["slice", "element"])),
    ],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

fn whole(op: OpRef<'_>) -> Result<Rc<Tensor>, Diagnostic> {
    operand(op, 0).ok_or_else(|| op.error("C1", "operand 0 is no tensor"))
}

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    Ok(vec![make(op.ctx, (*whole(op)?).clone())])
}

/// The part as a tensor by itself.
///
/// # Errors
/// If the operand is no tensor.
pub fn part(op: OpRef<'_>) -> Result<Tensor, Diagnostic> {
    let whole = whole(op)?;
    Tensor::build(&DM, None, whole.dtype, &given(op, &[Dim::Slice, Dim::Element]), &whole)
        .map_err(|dim| op.error("C2", format!("the {dim} mapping is not known")))
}

/// The 32 bits that are written over and over: C3.
///
/// # Errors
/// A violation of C3.
pub fn number(op: OpRef<'_>) -> Result<Bits, Diagnostic> {
    let value = FillView::of(op)?.value()?;
    word(value.0, whole(op)?.dtype).map_err(|why| op.clause_error("C3", "value", why))
}

/// One element.
fn element(op: OpRef<'_>) -> Result<Bits, Diagnostic> {
    Ok(load(whole(op)?.dtype, &number(op)?.to_le_bytes(), 0))
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    let (whole, part) = (whole(op)?, part(op)?);
    if op.operand_def(0).is_some_and(|def| view::kind(def).is_some()) {
        let error = op.error("C1", "the tensor is a view: elements outside of the view would change too");
        return Err(error.fix(Some("fill the view's source, with the part as `element`".to_owned())));
    }
    number(op)?;
    check_slices(op, &whole, &part, axes, "C5")?;
    let machine = machine(op);
    // A tensor that does not fit its memory is refused where it is made.
    if whole.dim_bytes(Dim::Element, axes).is_none_or(|bytes| bytes > machine.memory.dm_bytes_per_slice) {
        return Ok(());
    }
    let plan = planned::<FillViewPlan>(op, cx)?;
    plan.0.at(FROM_ITS_START, &[], &machine).map(drop).map_err(|why| op.clause_error("C4", "element", why))
}

/// Where the fill of a part writes, from the tensor's first byte on.
pub struct FillViewPlan(pub Fill);

impl StagePlan for FillViewPlan {
    fn make(planner: &Planner<'_>, op: OpRef<'_>) -> Result<Self, Diagnostic> {
        let (whole, axes) = (whole(op)?, planner.axes);
        let (part, held) = (part(op)?.dim(Dim::Element), whole.dim(Dim::Element));
        let start = part_start(&part, &held, axes).map_err(|why| op.clause_error("C2", "element", why))?;
        check_held(op, &part, &held, start, axes)?;
        // The rest of the tensor is between the elements of a part.
        Fill::new(&part, start, whole.dtype, &|_| false, axes)
            .map(Self)
            .map_err(|why| op.clause_error("C4", "element", why))
    }
}

/// Operand 0, the elements of a part of it replaced by a number.
fn raised(cx: &mut Raising<'_>, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let (part, to) = (part(op)?, result(op)?);
    let new = constant(cx, op, to.dtype, element(op)?)?;
    let old = cx.held(op, 0, &to)?;
    overwritten(cx, op, new, old, &part)
}
