//! `stream.vector_expr`: an expression of each element, which a pass schedules onto the vector engine.

use crate::chain::{axes, input, main_only, next, packet_bytes};
use crate::formula::{Formula, word};
use crate::lower::LowerStage;
use crate::ops::vector_alu::verify_register_file;
use crate::pipeline;
use crate::raise::{result, value_of};
use crate::streams::FINAL;
use std::collections::BTreeMap;
use visa_engine::place::rngd;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads};
use visa_ir::module::{OpRef, TypeId};
use visa_ir::verify::VerifyCx;
use visa_mapping::expression::{Dag, EXPRESSION, Expression};
use visa_mapping::facts::machine;
use visa_mapping::operand;
use visa_mapping::ops::map::Map;
use visa_mapping::raise::{Known, Raising, Semantics, both};
use visa_numerics::DType;

/// `stream.vector_expr`.
#[visa_ir::view(VectorExpr)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.vector_expr",
    summary: "An expression of each element: whole passes through the vector engine, not yet scheduled.",
    doc: "The first name is the stream's, the others are register files'; `gelu(x)` and the like stand for their \
          definitions. The pass `plan-vector` puts the operations onto stages and ALUs (book 21), in as few passes \
          through the Tensor Unit as there can be, and splits in several where an ALU runs out. The result has the \
          bits of the expression as written, operation by operation (docs/numerics.md), unless `fast` allows \
          rewrites that round differently (docs/choosing.md).\n\n\
          Between passes a value lies in data memory, or in the vector register file where another operation wants \
          it as its operand, at addresses that are open: `allocate` chooses them.",
    constraints: &[
        ("C1", "the stream is i32 or f32, in the main context (books 12, 20)"),
        ("C2", "there is a name for each operand"),
        (
            "C3",
            "every function takes its arguments' format, and numbers lie in it (book 21); 64 operations at most",
        ),
        ("C4", "a register file is in the same chips, clusters and slices"),
        ("C5", "a register file holds every element asked for, a packet at a time (book 21)"),
    ],
    operands: &[
        OperandDecl::accepting("stream", pipeline::after!(&rngd::ENTRY)),
        OperandDecl::variadic("operands", &["tm.vrf"]),
    ],
    clauses: &[
        ClauseDecl::lead("expression", ClauseKind::body::<Expression>(&EXPRESSION), "the computation"),
        ClauseDecl::optional("fast", ClauseKind::Flag, "rewrites that round otherwise are allowed"),
    ],
    results: &["stream"],
    effects: Effects::Are(&[reads(Target::Operand("operands"))]),
    infer: Some(infer),
    verify: Some(verify),
    example: "%o = stream.vector_expr [x, b: max(x + b, 0)] %c, %b",
    interfaces: &[
        Interface(&rngd::ENTRY),
        Interface(&Semantics(raised)),
        Interface(&Formula::CallOnAll(word)),
        Interface(&LowerStage(|_, op| Err(unplanned(op)))),
    ],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

/// The function of `op` on an element of each operand.
///
/// # Errors
/// C2 and C3.
pub fn meaning(op: OpRef<'_>) -> Result<Dag, Diagnostic> {
    let refuse = |constraint, message: String| op.clause_error(constraint, "expression", message);
    let expression = VectorExpr::of(op)?.expression()?;
    let (names, operands) = (expression.names.len(), op.operands().len());
    if names != operands {
        let message = format!("the expression names {}, there are {operands}", counted(names, "operand"));
        return Err(refuse("C2", message));
    }
    let dtypes = (0..operands).map(|at| operand(op, at).map(|tensor| tensor.dtype));
    let dtypes: Vec<DType> =
        dtypes.collect::<Option<_>>().ok_or_else(|| refuse("C2", "an operand is no tensor".to_owned()))?;
    Dag::new(&expression, &dtypes).map_err(|error| refuse("C3", error.message).fix(error.fix))
}

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    wide(op)?;
    next(op, &FINAL, meaning(op)?.dtype())
}

/// C1: the format.
fn wide(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let source = input(op)?;
    if matches!(source.dtype, DType::I32 | DType::F32) {
        return Ok(());
    }
    let wide = if source.dtype.is_float() { "f32" } else { "i32" };
    let message = format!("`{}` cannot enter the vector engine, which takes `i32` and `f32`", source.dtype);
    Err(op.error("C1", message).fix(Some(format!("convert at the fetch: `dtype {wide}`"))))
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    main_only(op, "C1")?;
    wide(op)?;
    meaning(op)?;
    packet_bytes(op, &*input(op)?, &axes(cx).0)?;
    let lanes = machine(op).limits.vector_lanes;
    (1..op.operands().len())
        .filter_map(|index| Some((index, operand(op, index)?)))
        .try_for_each(|(index, file)| verify_register_file(op, index, &file, lanes, cx))
}

/// The expression of one element of each operand.
fn raised(cx: &mut Raising<'_>, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let (to, of) = (result(op)?, VectorExpr::of(op)?);
    let values = (0..op.operands().len()).map(|index| value_of(cx, op, index, &to));
    let values = values.collect::<Result<Vec<_>, _>>()?;
    let held =
        values.iter().fold(BTreeMap::new(), |held, value| both(&Known { held, ..value.clone() }, value));
    let operands = values.iter().map(|known| known.value);
    let spec = Map::build(op, operands).expression((*of.expression()?).clone()).fast(of.fast()).spec();
    let known = cx.emit(spec, held)?;
    cx.bind(op, known)
}

fn unplanned(op: OpRef<'_>) -> Diagnostic {
    let message = "the expression is not scheduled onto the vector engine yet";
    Diagnostic::error("unplanned", op.span(), message).fix(Some("run `--plan-vector` before".to_owned()))
}
