//! Two-group mode: `stream.vector_unzip` takes a stream as two, the `_zip` operations make one of them again (book
//! 21).

use crate::branch::{BranchMode, GIVES_NONE, GROUP_BIT, GivesIds, branched, toggles};
use crate::chain::{axes, input, next, with_dims};
use crate::forgotten::DropsAxes;
use crate::formula::{Elementwise, Formula};
use crate::lower::{LowerStage, StageCx};
use crate::ops::begin_interleaved::without_axis;
use crate::plan::digits_of;
use crate::raise::{Applied, result};
use crate::streams::{PAIR, VECTOR, VECTOR4};
use crate::vector::{Station, check_alu, check_order, earlier, row, station};
use std::sync::Arc;
use visa_algebra::{Axes, Digits, Expr};
use visa_engine::place::rngd;
use visa_hw::ops as hw;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, OpSpec, TypeId};
use visa_ir::verify::VerifyCx;
use visa_ir::view::SharedClause;
use visa_loops::distance;
use visa_mapping::coverage::Coverage;
use visa_mapping::error::mapping_error;
use visa_mapping::facts::check_mappings;
use visa_mapping::ops::restrict::Extract;
use visa_mapping::raise::{Known, Raising, Semantics};
use visa_mapping::tensor::attrs::MAP;
use visa_mapping::{Dim, Tensor, operand};
use visa_numerics::{
    AluOp, AluStage, ArgMode, ClipName, FpName, FxpName, LogicName, VectorStage, default_mode,
};

/// `stream.vector_unzip`.
#[visa_ir::view(VectorUnzip)]
pub static UNZIP_DECL: OpDecl = OpDecl {
    name: "stream.vector_unzip",
    summary: "Enters the stages in two-group mode: packets alternate between group 0 and group 1.",
    doc: "The axis numbers the group of an element; packets of both alternate, as `stream.begin_interleaved` makes \
          them. The stages go on as they do for one stream. Bit 3 of an element's execution id is its group, so \
          that `when [0xxx: 10]` applies to group 0 with the operand 10 and leaves group 1 as it is, and `when \
          [0xxx: 10, 1xxx: 20]` gives each another operand. An ALU counts as used whichever group uses it. A `_zip` \
          operation ends the mode; there is no stash and no filter in it, nor after it in the same pass (book 21).",
    constraints: &[
        ("C1", "`axis` is an axis of 2 positions"),
        ("C2", "it is innermost in time, whole: packets of the two groups alternate (book 21)"),
    ],
    operands: &[OperandDecl::one("stream", &["stream.init"])],
    clauses: &[ClauseDecl::required(
        "axis",
        ClauseKind::body::<Expr>(&MAP),
        "the axis that numbers the groups, as `[I]`",
    )],
    results: &["stream"],
    effects: Effects::PURE,
    infer: Some(|op| next(op, &PAIR, None)),
    verify: Some(verify_unzip),
    example: "%p = stream.vector_unzip %i axis [I]",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Semantics(|cx, op| branched(cx, op, BranchMode::AxisToggle(axis(op)?)))),
        Interface(&Station(VectorStage::Branch)),
        Interface(&GivesIds(|_| 1 | 1 << (1 << GROUP_BIT))),
        Interface(&LowerStage(lower_unzip)),
    ],
    ..OpDecl::BASE
};

const OPERATION: &str = "the operation";

#[visa_ir::clause]
const MODE: ClauseDecl = ClauseDecl::optional(
    "mode",
    ClauseKind::word::<ArgMode>(),
    "which argument is group 0 (0) and group 1 (1)",
);
#[visa_ir::clause]
const TIME: ClauseDecl = ClauseDecl::optional(
    "time",
    ClauseKind::body::<Expr>(&MAP),
    "mapping of the packets; if absent as before, without the term that is the axis",
)
.open();

/// Common parts of the operations that make one group of two.
#[visa_ir::view(ZipOp)]
pub const BASE: OpDecl = OpDecl {
    doc: "The element of group 0 and that of group 1 with the same index become one, and the axis of \
          `stream.vector_unzip` is gone. `mode` orders the arguments: Mode01, if absent, is group 0 then group 1, \
          Mode10 the other way round; Mode00 and Mode11 take one group twice (book 21).",
    constraints: &[
        ("C1", "the operation has two arguments, of the stream's format (book 21)"),
        ("C2", "the stages follow the engine's order, and each ALU is used once a pass (book 21)"),
        ("C3", "time is the stream's, without the axis of the groups"),
        ("C4", "the mode has two arguments (book 21)"),
    ],
    operands: &[OperandDecl::one("stream", &["stream.pair"])],
    results: &["stream"],
    effects: Effects::PURE,
    infer: Some(infer_zip),
    verify: Some(verify_zip),
    ..OpDecl::BASE
};

/// `stream.vector_logic_zip`.
#[visa_ir::view(VectorLogicZip: ZipOp)]
pub static LOGIC_ZIP_DECL: OpDecl = OpDecl {
    name: "stream.vector_logic_zip",
    summary: "Makes one stream of two groups by a bitwise operation, 8 lanes wide.",
    clauses: &[ClauseDecl::lead("op", ClauseKind::word::<LogicName>(), OPERATION), MODE, TIME],
    example: "%x = stream.vector_logic_zip BitXor %p",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Semantics(zipped)),
        Interface(&Formula::Elementwise(groups)),
        Interface(&DropsAxes::BySelection),
        Interface(&Station(VectorStage::Logic)),
        Interface(&LowerStage(lower_zip)),
        GIVES_NONE,
    ],
    ..BASE
};

/// `stream.vector_fxp_zip`.
#[visa_ir::view(VectorFxpZip: ZipOp)]
pub static FXP_ZIP_DECL: OpDecl = OpDecl {
    name: "stream.vector_fxp_zip",
    summary: "Makes one stream of two groups by an integer or fixed-point operation, 8 lanes wide.",
    clauses: &[ClauseDecl::lead("op", ClauseKind::word::<FxpName>(), OPERATION), MODE, TIME],
    example: "%x = stream.vector_fxp_zip SubFxp %p mode Mode10",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Semantics(zipped)),
        Interface(&Formula::Elementwise(groups)),
        Interface(&DropsAxes::BySelection),
        Interface(&Station(VectorStage::Fxp)),
        Interface(&LowerStage(lower_zip)),
        GIVES_NONE,
    ],
    ..BASE
};

/// `stream.vector_fp_zip`.
#[visa_ir::view(VectorFpZip: ZipOp)]
pub static FP_ZIP_DECL: OpDecl = OpDecl {
    name: "stream.vector_fp_zip",
    summary: "Makes one stream of two groups by a floating-point operation, 4 lanes wide.",
    operands: &[OperandDecl::one("stream", &["stream.pair4"])],
    clauses: &[ClauseDecl::lead("op", ClauseKind::word::<FpName>(), OPERATION), MODE, TIME],
    example: "%x = stream.vector_fp_zip MulF0 %n",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Semantics(zipped)),
        Interface(&Formula::Elementwise(groups)),
        Interface(&DropsAxes::BySelection),
        Interface(&Station(VectorStage::Float)),
        Interface(&LowerStage(lower_zip)),
        GIVES_NONE,
    ],
    ..BASE
};

/// `stream.vector_clip_zip`.
#[visa_ir::view(VectorClipZip: ZipOp)]
pub static CLIP_ZIP_DECL: OpDecl = OpDecl {
    name: "stream.vector_clip_zip",
    summary: "Makes one stream of two groups by a minimum, a maximum or an addition, 8 lanes wide.",
    clauses: &[ClauseDecl::lead("op", ClauseKind::word::<ClipName>(), OPERATION), MODE, TIME],
    example: "%x = stream.vector_clip_zip Max %p",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Semantics(zipped)),
        Interface(&Formula::Elementwise(groups)),
        Interface(&DropsAxes::BySelection),
        Interface(&Station(VectorStage::Clip)),
        Interface(&LowerStage(lower_zip)),
        GIVES_NONE,
    ],
    ..BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&UNZIP_DECL, &LOGIC_ZIP_DECL, &FXP_ZIP_DECL, &FP_ZIP_DECL, &CLIP_ZIP_DECL];

/// The operation that began two-group mode in the pass before `op`, also where the mode has ended.
#[must_use]
pub fn unzip(op: OpRef<'_>) -> Option<OpRef<'_>> {
    earlier(op).find(|earlier| earlier.is(&UNZIP_DECL))
}

/// The axis of the groups: C1.
fn axis(op: OpRef<'_>) -> Result<Arc<str>, Diagnostic> {
    match &*VectorUnzip::of(op)?.axis()? {
        Expr::Axis(name) => Ok(name.clone()),
        other => {
            Err(op.clause_error("C1", "axis", format!("`{other}` is no axis: expected one such as `[I]`")))
        }
    }
}

fn verify_unzip(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    let name = axis(op)?;
    let size = axes.id(&name).filter(|&id| axes.skew(id).is_none()).map(|id| axes.size(id));
    if size != Some(2) {
        let found =
            size.map_or_else(|| "is skewed".to_owned(), |size| format!("has {}", counted(size, "position")));
        return Err(op.clause_error(
            "C1",
            "axis",
            format!("axis `{name}` {found}, expected 2: one for each group"),
        ));
    }
    let time = input(op)?.dim(Dim::Time);
    without_axis(&Expr::Axis(name.clone()), &time, axes).map(drop).map_err(|_| {
        let message = format!("time `{time}` does not end in `{name}`: packets of the two groups alternate");
        op.clause_error("C2", "axis", message)
    })
}

fn lower_unzip(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let toggles = toggles(op, &*input(op)?, &axis(op)?, cx.axes)?;
    let numbers = toggles.iter().flat_map(|toggle| [toggle.apart, toggle.limit]);
    let numbers: Vec<i64> = numbers.map(distance).collect();
    Ok(Some(
        hw::vector_branch::VectorBranch::build(op)
            .mode(hw::vector_branch::IdSource::Toggle)
            .toggle(Some(numbers))
            .spec(),
    ))
}

fn infer_zip(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let kind = if station(op).is_some_and(VectorStage::is_narrow) { &VECTOR4 } else { &VECTOR };
    if op.attr("time").is_some() {
        return next(op, kind, None);
    }
    let source = input(op)?;
    let time = without_term(&source.dim(Dim::Time), &Expr::Axis(axis_of(op)?));
    with_dims(op, kind, source.unit, source.dtype, &[(Dim::Time, time)], &source)
}

/// `time` as it is written, without the term `axis`.
fn without_term(time: &Expr, axis: &Expr) -> Expr {
    match time {
        Expr::Pair(terms) => Expr::pair(terms.iter().filter(|&term| term != axis).cloned()),
        other if other == axis => Expr::Literal(1),
        other => other.clone(),
    }
}

/// The axis of the groups that `op` makes one.
fn axis_of(op: OpRef<'_>) -> Result<Arc<str>, Diagnostic> {
    axis(unzip(op).ok_or_else(|| op.error("C3", "the pass has no `stream.vector_unzip`"))?)
}

/// C1 and C4.
fn configuration(op: OpRef<'_>) -> Result<(&'static AluOp, ArgMode), Diagnostic> {
    let stage = station(op).ok_or_else(|| op.error("C1", "no stage of the vector engine"))?;
    let row = row(op, stage, input(op)?.dtype)?;
    if row.apply.arity() != 2 {
        let message =
            format!("`{}` has {} argument(s), expected two, one for each group", row.name, row.apply.arity());
        return Err(op.clause_error("C1", "op", message));
    }
    let mode = <MODE as SharedClause>::read(&op)?.unwrap_or(default_mode(2));
    if mode.args().len() == 2 {
        return Ok((row, mode));
    }
    let message = format!("`{mode}` has not two arguments, expected Mode00, Mode01, Mode10 or Mode11");
    Err(op.clause_error("C4", "mode", message))
}

/// The arguments of the operation: the two groups.
fn groups(op: OpRef<'_>) -> Result<Elementwise, Diagnostic> {
    let (_, mode) = configuration(op)?;
    Ok(Elementwise { mode, constants: [None; 2] })
}

fn verify_zip(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    let (row, _) = configuration(op)?;
    check_order(op, row.stage, "C2")?;
    check_alu(op, row, "C2")?;
    apart(op, axes).map(drop)
}

/// Packets of group 0 that are in front of those of group 1: 1, or 2 where packets have been split. C3.
fn apart(op: OpRef<'_>, axes: &Axes) -> Result<u64, Diagnostic> {
    let Some(result) = op.result_type::<Tensor>(0) else { return Ok(1) };
    let (old, new) = (input(op)?.dim(Dim::Time), result.dim(Dim::Time));
    let name = axis_of(op)?;
    let refuse = |why| op.clause_error("C3", "time", why);
    let group = digits_of(&Expr::Axis(name.clone()), axes).map_err(refuse)?;
    let (was, is) = (digits_of(&old, axes).map_err(refuse)?, digits_of(&new, axes).map_err(refuse)?);
    let after = |apart: &u64| -> Option<Digits> {
        let (inner, rest) = was.split(*apart).ok()?;
        let (found, outer) = rest.split(group.size()).ok()?;
        Digits::concat(&outer, &inner).ok().filter(|_| found == group)
    };
    let found = [1, 2].into_iter().find(|apart| after(apart).as_ref() == Some(&is));
    found.ok_or_else(|| refuse(format!("time `{new}` is not `{old}` without `{name}`")))
}

/// Operand 0 at the first coordinate along the axis of the groups, with the same at the second.
fn zipped(cx: &mut Raising<'_>, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let source = operand(op, 0).ok_or_else(|| op.error("C0", "the operand is no tensor"))?;
    let (row, mode) = configuration(op)?;
    let name = axis_of(op)?;
    let group = cx.axes.resolve(&name).map_err(|error| mapping_error(error, op.span()))?;
    let known = cx.held(op, 0, &source)?;
    let known = cx.broadcast(op, known, std::iter::once(group))?;
    let of = |cx: &mut Raising<'_>, number: i64| -> Result<Known, Diagnostic> {
        let spec =
            Extract::build(op, [known.value]).along(std::rc::Rc::new(Expr::axis(&name))).index(number).spec();
        let seen = cx.emit(spec, known.held.clone())?;
        let others =
            seen.held.keys().filter(|axis| **axis != group).map(|&axis| Expr::axis(cx.axes.name(axis)));
        let others = Expr::pair(others);
        let others = Coverage::of_map(&others, cx.axes, op.span())?;
        cx.narrow(op, seen, &others)
    };
    let (first, second) = (of(cx, 0)?, of(cx, 1)?);
    let applied = Applied { row, mode, constants: [None; 2], guards: None };
    let zipped = applied.apply(cx, op, &first, &[second], None)?;
    let zipped = cx.narrow(op, zipped, &Coverage::new(&*result(op)?, cx.axes, op.span())?)?;
    cx.bind(op, zipped)
}

fn lower_zip(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (row, mode) = configuration(op)?;
    let stage = AluStage::of(row.stage).ok_or_else(|| op.error("C1", "no stage with ALUs"))?;
    let lowered = hw::vector_zip::VectorZip::build(op)
        .op(row.name)
        .stage(stage)
        .mode(Some(mode).filter(|&mode| mode != default_mode(2)))
        .apart(distance(apart(op, cx.axes)?));
    Ok(Some(lowered.spec()))
}
