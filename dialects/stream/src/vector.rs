//! A pass through the vector engine: its used stages and ALUs, the content of its stash, and the arguments of an
//! operation (book 21).

use crate::branch::GivesIds;
use crate::chain::{input, next};
use crate::formula::Elementwise;
use crate::ops::vector_alu::{MODE, WHEN, WIDTH, WRITE_BACK};
use crate::streams::{PAIR, PAIR4, VECTOR, VECTOR4};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::{OpRef, TypeId};
use visa_ir::view::{self, BodyOf, SharedClause, WordOf};
use visa_mapping::facts::machine;
use visa_mapping::tensor::numbers::Number;
use visa_mapping::{Tensor, TensorKind, operand};
use visa_numerics::AluName;
use visa_numerics::{
    AluOp, ArgMode, Bits, DType, GuardFault, Guards, IdSet, Slot, VectorStage, alu_op, alu_ops, default_mode,
    from_number,
};

/// An interface with the stage of the vector engine at which an operation works. The stages are in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Station(pub VectorStage);

/// The stage at which `op` works, if it is one of the vector engine's that has a fixed place.
#[must_use]
pub fn station(op: OpRef<'_>) -> Option<VectorStage> {
    op.decl()?.interface::<Station>().map(|Station(stage)| *stage)
}

/// The types between stages of the vector engine: 8 lanes and 4, of a stream and of two groups.
const INSIDE: [[&TensorKind; 2]; 2] = [[&VECTOR, &VECTOR4], [&PAIR, &PAIR4]];

/// Returns true if `op` gives a stream between stages of the vector engine.
fn inside(op: OpRef<'_>) -> bool {
    op.result_type::<Tensor>(0).is_some_and(|tensor| INSIDE.as_flattened().iter().any(|kind| tensor.is(kind)))
}

/// The type after a stage: that of operand 0, of 8 lanes or 4, with the dimensions that clauses give.
///
/// # Errors
/// If operand 0 is no tensor, or a dimension is neither inherited nor given.
pub fn next_stage(op: OpRef<'_>, narrow: bool, dtype: Option<DType>) -> Result<Vec<TypeId>, Diagnostic> {
    let source = input(op)?;
    let pair = INSIDE[1].iter().any(|kind| source.is(kind));
    next(op, INSIDE[usize::from(pair)][usize::from(narrow)], dtype)
}

/// The operations of the pass before `op`, the last one first.
pub fn earlier<'a>(op: OpRef<'a>) -> impl Iterator<Item = OpRef<'a>> {
    std::iter::successors(op.operand_def(0), |earlier| earlier.operand_def(0))
        .take_while(|&earlier| inside(earlier))
}

/// The ids that elements have in front of `op`: those of the last operation that gave some.
#[must_use]
pub fn ids_before(op: OpRef<'_>) -> IdSet {
    let given = |op: OpRef<'_>| op.decl()?.interface::<GivesIds>().map(|GivesIds(ids)| ids(op));
    earlier(op).find_map(given).unwrap_or(1)
}

/// The last stage of the pass before `op`.
#[must_use]
pub fn stage_before(op: OpRef<'_>) -> Option<VectorStage> {
    earlier(op).find_map(station)
}

/// Checks that no later stage is before `op`, whose own stage is `stage`.
///
/// # Errors
/// The stage that does.
pub fn check_order(op: OpRef<'_>, stage: VectorStage, constraint: &str) -> Result<(), Diagnostic> {
    let before = earlier(op).find_map(|earlier| Some((station(earlier)?, earlier)));
    match before.filter(|(before, _)| *before > stage) {
        None => Ok(()),
        Some((before, earlier)) => {
            let message = format!("the stage {stage} comes after {before}, but the engine has it before");
            let fix = "commit and start another pass, or change the order".to_owned();
            Err(op.error(constraint, message).note("which is here", Some(earlier.span())).fix(Some(fix)))
        }
    }
}

/// The row of the operation that `op` names, for elements of its stream.
///
/// # Errors
/// If its stage has no such operation for that format.
pub fn row(op: OpRef<'_>, stage: VectorStage, dtype: DType) -> Result<&'static AluOp, Diagnostic> {
    let only = || alu_ops().find(|row| row.stage == stage).map(|row| row.name);
    // Each stage declares a separate list; a stage of one operation has no such clause.
    let name = view::optional::<WordOf<AluName>>(&op, "op")?.or_else(only);
    let name = name.ok_or_else(|| op.error("C1", format!("the stage {stage} computes nothing")))?;
    alu_op(stage, name, dtype).ok_or_else(|| {
        let able: Vec<_> = alu_ops()
            .filter(|row| row.stage == stage && row.name == name)
            .map(|row| format!("`{}`", row.from))
            .collect();
        op.error("C1", format!("`{name}` works on {}, the stream is `{dtype}`", able.join(" and ")))
    })
}

/// Checks that no operation before `op` in the pass has used the ALU of `row`.
///
/// # Errors
/// The one that has.
pub fn check_alu(op: OpRef<'_>, row: &AluOp, constraint: &str) -> Result<(), Diagnostic> {
    for earlier in earlier(op) {
        let (Some(stage), Some(tensor)) = (station(earlier), earlier.operand_type::<Tensor>(0)) else {
            continue;
        };
        let used = self::row(earlier, stage, tensor.dtype).ok();
        if let Some(used) = used.filter(|used| used.alu == row.alu) {
            let message = format!("`{}` needs {}, which is in use by `{}`", row.name, row.alu, used.name);
            let fix = "commit and start another pass for one of them".to_owned();
            return Err(op
                .clause_error(constraint, "op", message)
                .note("used here", Some(earlier.span()))
                .fix(Some(fix)));
        }
    }
    Ok(())
}

/// The arguments of an operation: its mode, its constants, and the operand of `op` that is the other one.
#[derive(Clone, Debug)]
pub struct Arguments {
    /// The choice of stream and operands for each argument.
    pub mode: ArgMode,
    /// Operand 0 and operand 1, where they are constants.
    pub constants: [Option<Bits>; 2],
    /// Number of values among the others, in the order of the operation's operands after the stream: one at most, or
    /// two of three arguments.
    pub values: usize,
    /// Where the operation applies; its slots give the operand that is no constant, unless they have none.
    pub guards: Option<Guards<Bits>>,
    /// Where the result also replaces the value that was read.
    pub write_back: Option<Guards<Bits>>,
}

/// The arguments of `op`, whose ALU's row is `row`.
///
/// # Errors
/// C2 if an operand is missing or left over, C6 if a constant does not fit, C8 if the mode has another number of
/// arguments, C9 and C10 if the guards are at fault.
pub fn arguments(op: OpRef<'_>, row: &AluOp) -> Result<Arguments, Diagnostic> {
    let mode = mode(op, row)?;
    let values = op.operands().len().saturating_sub(1);
    let guards = guards(op, row)?;
    // Sources of the operands that are no constants: the slots of the guards, or the values.
    let chosen = guards.as_ref().is_some_and(|guards| guards.0.iter().any(|(_, slot)| *slot != Slot::Apply));
    let mut open = values.max(usize::from(chosen));
    let mut constants = [None; 2];
    for ((constant, clause), read) in constants.iter_mut().zip(["constant", "constant1"]).zip(mode.operands())
    {
        *constant = self::constant(op, clause, row)?;
        if constant.is_some() && !read {
            let message = format!("`{}` in {} has no argument for `{clause}`", row.name, mode);
            return Err(op.clause_error("C2", clause, message));
        }
        if read && constant.is_none() {
            open = open.checked_sub(1).ok_or_else(|| missing(op, row, mode, clause))?;
        }
    }
    if open > 0 && chosen {
        let message = format!(
            "the guards choose an operand, but `{}` in {} has no argument left for it",
            row.name, mode
        );
        return Err(op.clause_error("C2", "when", message).fix(Some("leave out `constant`".to_owned())));
    }
    if open > 0 {
        let message = match op.attr("constant") {
            Some(_) => "both a constant and a register-file operand".to_owned(),
            None => format!("`{}` in {} has no argument for a value", row.name, mode),
        };
        return Err(op.error("C2", message));
    }
    Ok(Arguments { mode, constants, values, guards, write_back: write_back(op)? })
}

/// C11.
fn write_back(op: OpRef<'_>) -> Result<Option<Guards<Bits>>, Diagnostic> {
    let Some(written) = <WRITE_BACK as SharedClause>::read(&op)? else { return Ok(None) };
    let refuse = |message: &str| op.clause_error("C11", "write_back", message);
    let guards = written.try_map(|_| Err(refuse("a guard of `write_back` has no operand")))?;
    if guards.0.iter().any(|(_, slot)| *slot != Slot::Apply) {
        return Err(refuse("a guard of `write_back` has no operand"));
    }
    let Some(&file) = op.operands().get(1).filter(|_| operand(op, 1).is_some_and(|file| !file.kind.stream))
    else {
        return Err(refuse("there is no register-file operand to write to"));
    };
    if op.operands().len() > 2 {
        return Err(refuse("with two values the written one is ambiguous"));
    }
    if op.module.uses(file).len() > 1 {
        let message = "the register file is overwritten here, and another operation reads it";
        return Err(
            refuse(message).fix(Some("store the other operation's operand at another address".to_owned()))
        );
    }
    match guards.check(0, ids_before(op)) {
        Ok(()) => Ok(Some(guards)),
        Err(GuardFault::Slots(message)) => Err(refuse(&message)),
        Err(GuardFault::Dead(message, fix)) => Err(refuse(&message).fix(Some(fix))),
    }
}

/// The guards, as bits of the row's format: C6, C9 and C10.
fn guards(op: OpRef<'_>, row: &AluOp) -> Result<Option<Guards<Bits>>, Diagnostic> {
    let Some(written) = <WHEN as SharedClause>::read(&op)? else { return Ok(None) };
    let guards = written.try_map(|value| bits(op, "when", *value, row.from))?;
    let has = |wanted: fn(&Slot<Bits>) -> bool| guards.0.iter().any(|(_, slot)| wanted(slot));
    let (bare, value) = (has(|slot| *slot == Slot::Apply), has(|slot| *slot == Slot::Value));
    if bare && guards.0.iter().any(|(_, slot)| *slot != Slot::Apply) {
        let message = "some guards choose an operand, others do not".to_owned();
        return Err(op.clause_error("C9", "when", message));
    }
    if !bare && op.operands().len() > 2 {
        let message = "a guard chooses an operand, but both are values".to_owned();
        return Err(op
            .clause_error("C9", "when", message)
            .fix(Some("use guards without operands".to_owned())));
    }
    if value != operand(op, 1).is_some() && !bare {
        let message = match value {
            true => "a guard chooses `value`, but the operation has no value operand",
            false => "the operation has a value operand, which no guard chooses",
        };
        return Err(op.clause_error("C9", "when", message.to_owned()));
    }
    match guards.check(machine(op).limits.vector_immediates, ids_before(op)) {
        Ok(()) => Ok(Some(guards)),
        Err(GuardFault::Slots(message)) => Err(op.clause_error("C9", "when", message)),
        Err(GuardFault::Dead(message, fix)) => Err(op.clause_error("C10", "when", message).fix(Some(fix))),
    }
}

fn missing(op: OpRef<'_>, row: &AluOp, mode: ArgMode, clause: &str) -> Diagnostic {
    let which =
        if row.apply.arity() == 2 && mode.reads_stream() { "the second argument" } else { "an argument" };
    let fix = match operand(op, 1) {
        Some(_) => format!("add `{clause} N` or a second value"),
        None => format!("add `{clause} N`, a `!tm.vrf` operand or a stashed stream"),
    };
    op.error("C2", format!("{which} is missing")).fix(Some(fix))
}

fn mode(op: OpRef<'_>, row: &AluOp) -> Result<ArgMode, Diagnostic> {
    let Some(mode) = <MODE as SharedClause>::read(&op)? else { return Ok(default_mode(row.apply.arity())) };
    let arguments = mode.args().len();
    if arguments == row.apply.arity() {
        return Ok(mode);
    }
    let named = counted(arguments, "argument");
    let message = format!("`{mode}` names {named}, `{}` has {}", row.name, row.apply.arity());
    Err(op.clause_error("C8", "mode", message))
}

/// A constant as bits of the row's format; the operand of a conversion is its integer width.
fn constant(op: OpRef<'_>, clause: &str, row: &AluOp) -> Result<Option<Bits>, Diagnostic> {
    if clause == "constant" && row.from != row.to {
        return int_width(op).map(Some);
    }
    let Some(value) = view::optional::<BodyOf<Number>>(&op, clause)? else { return Ok(None) };
    bits(op, clause, *value, row.from).map(Some)
}

/// A number of `clause` as bits of `dtype`: C6.
fn bits(op: OpRef<'_>, clause: &str, value: Number, dtype: DType) -> Result<Bits, Diagnostic> {
    match from_number(dtype, value.0) {
        Some(bits) => Ok(bits),
        None if dtype.is_float() => Err(op.clause_error("C6", clause, format!("{value} is no `{dtype}`"))),
        None => Err(op.clause_error("C6", clause, format!("{value} does not fit a 32-bit integer"))),
    }
}

/// The integer width of a conversion.
fn int_width(op: OpRef<'_>) -> Result<Bits, Diagnostic> {
    let width = <WIDTH as SharedClause>::read(&op)?;
    let found = || format!("an integer width of {width}, expected 0 to 31 bits");
    Bits::try_from(width)
        .ok()
        .filter(|&width| width < 32)
        .ok_or_else(|| op.clause_error("C6", "int_width", found()))
}

/// The arguments of `op` in its formula.
///
/// # Errors
/// An operation that its verifier refuses.
pub fn elementwise(op: OpRef<'_>) -> Result<Elementwise, Diagnostic> {
    let (_, Arguments { mode, constants, .. }) = configuration(op)?;
    Ok(Elementwise { mode, constants })
}

/// The ALU that `op` uses, and its arguments.
///
/// # Errors
/// An operation that its verifier refuses.
pub fn configuration(op: OpRef<'_>) -> Result<(&'static AluOp, Arguments), Diagnostic> {
    let stage = station(op).ok_or_else(|| op.error("C1", "no stage of the vector engine"))?;
    let source = operand(op, 0).ok_or_else(|| op.error("C1", "no stream"))?;
    let row = row(op, stage, source.dtype)?;
    Ok((row, arguments(op, row)?))
}
