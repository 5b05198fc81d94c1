//! `stream.vector_*`: the vector engine (book 20, 21).

use crate::chain::{axes, check_same, input, main_only, next, packet_bytes};
use crate::meaning::{Function, Meaning};
use crate::{FINAL, INIT, VECTOR, plan};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_ir::verify::VerifyCx;
use visa_mapping::facts::machine;
use visa_mapping::ops::transfer::free_axes;
use visa_mapping::{Dim, Expr, operand};
use visa_numerics::{ALU_NAMES, AluOp, Bits, DType, alu_op};

/// `stream.vector_init`.
pub static INIT_DECL: OpDecl = OpDecl {
    name: "stream.vector_init",
    summary: "Enters the vector engine.",
    doc: "From the collect engine, or from the contraction engine (book 20).",
    constraints: &[
        ("C1", "the format is i32 or f32 (book 20)"),
        ("C2", "main context only (book 12)"),
    ],
    operands: &[OperandDecl::one("stream", &["stream.collect", "stream.accumulate"])],
    results: &["stream"],
    infer: Some(|op| next(op, &INIT, None)),
    verify: Some(verify_init),
    example: "%i = stream.vector_init %c",
    interfaces: &[Interface(&Meaning::Same)],
    ..OpDecl::BASE
};

/// `stream.vector_branch`.
pub static BRANCH_DECL: OpDecl = OpDecl {
    name: "stream.vector_branch",
    summary: "Chooses how elements get their execution ids.",
    doc: "`unconditional` gives every element id 0: every operation applies to every element (book 21).",
    operands: &[OperandDecl::one("stream", &["stream.init"])],
    clauses: &[ClauseDecl::lead("mode", ClauseKind::Word(&["unconditional"]), "the branch mode")],
    results: &["stream"],
    infer: Some(|op| next(op, &VECTOR, None)),
    example: "%b = stream.vector_branch unconditional %i",
    interfaces: &[Interface(&Meaning::Same)],
    ..OpDecl::BASE
};

/// `stream.vector_fxp`.
pub static FXP_DECL: OpDecl = OpDecl {
    name: "stream.vector_fxp",
    summary: "An integer or fixed-point operation on every element.",
    doc: "The second argument is a constant, or an element of the vector register file: the one with the same index, along \
          axes that the register file does not depend on the same for all (book 21; semantics in docs/numerics.md).",
    constraints: &[
        ("C1", "the format is i32 (book 21)"),
        ("C2", "the second argument is either `constant` or an operand, not both"),
        ("C3", "each ALU is used once a pass: FxpAdd, FxpLshift, FxpMul, FxpRshift (book 21)"),
        ("C4", "the register file lies in the same chips, clusters and slices, in the same format"),
        ("C5", "the register file holds every element asked for, a packet at a time (book 21)"),
        ("C6", "the constant is a 32-bit integer"),
    ],
    operands: &[OperandDecl::one("stream", &["stream.vector"]), OperandDecl::optional("operand", &["tm.vrf"])],
    clauses: &[
        ClauseDecl::lead("op", ClauseKind::Word(&ALU_NAMES), "the operation"),
        ClauseDecl::optional("constant", ClauseKind::Int, "the second argument, the same for every element"),
    ],
    results: &["stream"],
    infer: Some(|op| next(op, &VECTOR, None)),
    verify: Some(verify_fxp),
    example: "%x = stream.vector_fxp AddFxp %b constant 1",
    interfaces: &[Interface(&Meaning::Elementwise(function))],
    ..OpDecl::BASE
};

/// `stream.vector_final`.
pub static FINAL_DECL: OpDecl = OpDecl {
    name: "stream.vector_final",
    summary: "Leaves the vector engine.",
    doc: "The stream goes on to the cast engine or to the commit engine (book 21).",
    operands: &[OperandDecl::one("stream", &["stream.vector"])],
    results: &["stream"],
    infer: Some(|op| next(op, &FINAL, None)),
    example: "%o = stream.vector_final %x",
    interfaces: &[Interface(&Meaning::Same)],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&INIT_DECL, &BRANCH_DECL, &FXP_DECL, &FINAL_DECL];

fn verify_init(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    main_only(op, "C2")?;
    let source = input(op)?;
    if !matches!(source.dtype, DType::I32 | DType::F32) {
        let wide = if source.dtype.is_float() { "f32" } else { "i32" };
        let message = format!("`{}` cannot enter the vector engine, which takes `i32` and `f32`", source.dtype);
        return Err(op.error("C1", message).fix(Some(format!("convert at the fetch: `dtype {wide}`"))));
    }
    packet_bytes(op, &source, &axes(cx).0).map(drop)
}

/// The table row of the operation.
///
/// # Errors
/// If no such operation exists.
pub fn alu(op: OpRef<'_>) -> Result<&'static AluOp, Diagnostic> {
    let name = op.word("op").unwrap_or_default();
    alu_op(&name).ok_or_else(|| op.clause_error("C1", "op", format!("unknown operation `{name}`")))
}

/// The constant argument as bits.
///
/// # Errors
/// If it does not fit 32 bits.
pub fn constant(op: OpRef<'_>) -> Result<Option<Bits>, Diagnostic> {
    let Some(value) = op.int("constant") else { return Ok(None) };
    match i32::try_from(value) {
        Ok(value) => Ok(Some(value.cast_unsigned())),
        Err(_) => Err(op.clause_error("C6", "constant", format!("{value} does not fit a 32-bit integer"))),
    }
}

fn function(op: OpRef<'_>) -> Result<Function, Diagnostic> {
    Ok(Function { apply: alu(op)?.apply, constant: constant(op)? })
}

fn verify_fxp(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let source = input(op)?;
    let row = alu(op)?;
    if source.dtype != row.dtype {
        return Err(op.error("C1", format!("`{}` works on `{}`, the stream is `{}`", row.name, row.dtype, source.dtype)));
    }
    single_use(op, row)?;
    match (constant(op)?, operand(op, 1)) {
        (Some(_), None) => Ok(()),
        (None, Some(_)) => verify_operand(op, cx),
        (Some(_), Some(_)) => Err(op.clause_error("C2", "constant", "both a constant and a register-file operand")),
        (None, None) => Err(op.error("C2", "the second argument is missing").fix(Some("add `constant N` or a `!tm.vrf` operand".to_owned()))),
    }
}

/// Each ALU once a pass: walks back to the entry of the vector engine.
fn single_use(op: OpRef<'_>, row: &AluOp) -> Result<(), Diagnostic> {
    let mut before = op.operand_def(0);
    while let Some(earlier) = before.filter(|earlier| earlier.is(&FXP_DECL)) {
        if let Some(used) = alu(earlier).ok().filter(|used| used.alu == row.alu) {
            let message = format!("`{}` needs {}, which is in use by `{}`", row.name, row.alu, used.name);
            let fix = "commit and start another pass for one of them".to_owned();
            return Err(op.clause_error("C3", "op", message).note("used here", Some(earlier.span())).fix(Some(fix)));
        }
        before = earlier.operand_def(0);
    }
    Ok(())
}

fn verify_operand(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    let (source, Some(file)) = (input(op)?, operand(op, 1)) else { return Ok(()) };
    if source.dtype != file.dtype {
        return Err(op.error("C4", format!("the stream is `{}`, the register file `{}`", source.dtype, file.dtype)));
    }
    for dim in [Dim::Chip, Dim::Cluster, Dim::Slice] {
        check_same(op, "C4", dim.name(), &file.dim(dim), &source.dim(dim), axes)?;
    }
    let free = free_axes(op, cx, 1);
    let element: Expr = file.dim(Dim::Element);
    let read = plan::register_read(&element, &source.dim(Dim::Time), &source.dim(Dim::Packet), &free, axes)
        .map_err(|why| op.error("C5", why))?;
    let lanes = machine(op.ctx).limits.vector_lanes;
    let live = plan::digits_of(&source.dim(Dim::Packet), axes).ok().and_then(|digits| digits.live_count());
    if read.packet == lanes || live.is_some_and(|live| read.packet >= live) {
        return Ok(());
    }
    Err(op.error("C5", format!("packet `{}` reads {} contiguous elements of `{element}`, expected all {lanes}", source.dim(Dim::Packet), read.packet)))
}
