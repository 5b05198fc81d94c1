//! `stream.vector_branch`: gives every element its execution id (book 21).

use crate::attrs::COMPARISONS;
use crate::branch::{self, BranchMode, GIVES_OWN, IdSource};
use crate::chain::{axes, ends, input, next};
use crate::lower::{LowerStage, StageCx};
use crate::ops::vector_alu::{lanes, register_loops, verify_register_file};
use crate::ops::vector_inter;
use crate::streams::VECTOR;
use crate::vector::Station;
use visa_algebra::Expr;
use visa_engine::place::rngd;
use visa_hw::ops as hw;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::{Effects, Target, reads};
use visa_ir::module::{OpRef, OpSpec};
use visa_ir::verify::VerifyCx;
use visa_mapping::facts::{Introduces, check_mappings};
use visa_mapping::operand;
use visa_mapping::raise::Semantics;
use visa_mapping::tensor::attrs::MAP;
use visa_mapping::tensor::numbers::Number;
use visa_numerics::{Comparisons, DType, VectorStage};
use visa_sequencer::ops::stages;

/// `stream.vector_branch`.
#[visa_ir::view(VectorBranch)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.vector_branch",
    summary: "Enters the stages; chooses how elements get their execution ids.",
    doc: "An execution id has 4 bits; the clause `when` of an operation further on looks at them (book 21).\n\n\
          - `unconditional`: every element has id 0.\n\
          - `axis_toggle axis [A]`: bit 3, the group, is the coordinate along A modulo 2; the others are 0.\n\
          - `valid_count`: bit 0 is 1 for elements within the valid count of their packet; every element of a \
          tensor is.\n\
          - `comparison compare [less 0, ...]`: each comparison sets a bit, from bit 0 on; the others are 0.\n\
          - `vrf %ids`: the id is the low 4 bits of the element with the same index in the vector register file.",
    constraints: &[
        ("C1", "`axis`, `compare` and the register file are there in their modes and in no other"),
        ("C2", "there are 4 comparisons at most, with numbers of the stream's format"),
        ("C3", "whether the coordinate along `axis` is odd depends on the position in time and packet alone"),
        ("C4", "the register file is i32 and is in the same chips, clusters and slices"),
        ("C5", "the register file holds every element asked for, a packet at a time"),
        ("C6", "not after an inter-slice reduction that follows stages of its pass (book 20)"),
    ],
    operands: &[
        OperandDecl::one("stream", &["stream.init", "stream.inter"]),
        OperandDecl::optional("ids", &["tm.vrf"]),
    ],
    clauses: &[
        ClauseDecl::lead("mode", ClauseKind::word::<IdSource>(), "the branch mode"),
        ClauseDecl::optional(
            "axis",
            ClauseKind::body::<Expr>(&MAP),
            "the axis whose coordinate is the group",
        ),
        ClauseDecl::optional(
            "compare",
            ClauseKind::body::<Comparisons<Number>>(&COMPARISONS),
            "conditions that set the bits, bit 0 first",
        ),
    ],
    results: &["stream"],
    effects: Effects::Are(&[reads(Target::Operand("ids"))]),
    infer: Some(|op| next(op, &VECTOR, None)),
    verify: Some(verify),
    example: "%b = stream.vector_branch comparison %i compare [less 0, greater 255]",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Semantics(|cx, op| branch::branched(cx, op, branch::mode(op)?))),
        Interface(&LowerStage(lower)),
        Interface(&Station(VectorStage::Branch)),
        Interface(&Introduces(&["axis"])),
        GIVES_OWN,
    ],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    check_place(op)?;
    let axes = axes(cx);
    match branch::mode(op)? {
        BranchMode::Unconditional | BranchMode::ValidCount | BranchMode::Comparison(_) => Ok(()),
        BranchMode::AxisToggle(axis) => {
            check_mappings(op, &axes.0)?;
            branch::toggles(op, &*input(op)?, &axis, &axes.0).map(drop)
        }
        BranchMode::RegisterFile => {
            let file = operand(op, 1).ok_or_else(|| op.error("C1", "no register file"))?;
            if file.dtype != DType::I32 {
                return Err(op.error("C4", format!("ids are `{}`, expected `{}`", file.dtype, DType::I32)));
            }
            verify_register_file(op, 1, &file, lanes(op), cx)
        }
    }
}

/// C6.
fn check_place(op: OpRef<'_>) -> Result<(), Diagnostic> {
    match op.operand_def(0).filter(|&before| vector_inter::stands_last(before)) {
        None => Ok(()),
        Some(before) => {
            let message = "the pass has been through its stages, and then through the inter-slice block";
            let fix = "go on with `stream.vector_final`, or reduce between slices first, right after \
                       `stream.vector_init`";
            Err(op
                .error("C6", message)
                .note("the slices are reduced here", Some(before.span()))
                .fix(Some(fix.to_owned())))
        }
    }
}

fn lower(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let lowered = |mode| hw::vector_branch::VectorBranch::build(op).mode(mode);
    let (source, _) = ends(op)?;
    Ok(Some(match branch::mode(op)? {
        // Ids are 0 unless something sets them.
        BranchMode::Unconditional => return Ok(None),
        BranchMode::AxisToggle(axis) => {
            let toggles = branch::toggles(op, &source, &axis, cx.axes)?;
            let pairs = toggles.iter().flat_map(|toggle| [toggle.apart, toggle.limit]);
            let pairs: Result<Vec<i64>, _> = pairs.map(i64::try_from).collect();
            let pairs = pairs.map_err(|_| op.error("C0", "its axis is too long to toggle along"))?;
            lowered(hw::vector_branch::IdSource::Toggle).toggle(Some(pairs)).spec()
        }
        BranchMode::ValidCount => lowered(hw::vector_branch::IdSource::ValidCount).spec(),
        BranchMode::Comparison(comparisons) => {
            let comparisons = comparisons.try_map(|bits| Ok::<_, Diagnostic>(bits.cast_signed()))?;
            lowered(hw::vector_branch::IdSource::Comparison).compare(Some(comparisons)).spec()
        }
        BranchMode::RegisterFile => stages::VectorBranch::build(op).loops(register_loops(cx, op, 1)?).spec(),
    }))
}
