//! `tm.call` and `tm.launch`: a function used in another one.

use super::empty::EMPTY;
use super::func::{FUNC, Func, chips, chips_of, inout, signature};
use super::number::number;
use crate::facts::calls::CallGraph;
use crate::facts::{DeclaredAxes, machine, quoted};
use crate::index::INDICES;
use crate::interfaces::{KeepsAxes, Succeeds};
use crate::tensor::memories::{EVERYTHING, WRITES_ON_CHIP};
use crate::tensor::scalar;
use crate::view;
use visa_algebra::Axes;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, TypeId, ValueId};
use visa_ir::open::is_unknown;
use visa_ir::symbols::{self, Symbols};
use visa_ir::verify::VerifyCx;

/// The common interface of a call and a launch.
#[visa_ir::view(Calling)]
pub const CALLING: OpDecl = OpDecl {
    operands: &[OperandDecl::variadic(
        "arguments",
        &["tm.host", "tm.hbm", "tm.tensor", "tm.index", "tm.scalar"],
    )],
    clauses: &[ClauseDecl::lead("callee", ClauseKind::Symbol, "the function")],
    traits: &[Trait::AnyResults],
    // The callee's body is not inspected: it may have every effect that a function can.
    effects: Effects::Are(EVERYTHING),
    verify: Some(verify),
    // A call of a symbol that is no function reports that itself.
    interfaces: &[Interface(&KeepsAxes), Interface(&Succeeds(|op| changed(op).unwrap_or_default()))],
    ..OpDecl::BASE
};

/// `tm.call`.
#[visa_ir::view(Call: Calling)]
pub static CALL: OpDecl = OpDecl {
    name: "tm.call",
    summary: "Runs another function of the module on tensors of this one.",
    doc: "The results are those of the callee's `tm.return`, in its order. The pass `inline` replaces a call by the \
          callee's body, and lowering demands that: a program has no functions.\n\n\
          The arguments are where the caller's tensors are. The callee's clause `at` has the addresses of its \
          arguments when it is a kernel by itself, and does not apply to a call. Addresses in the callee's body \
          stay unchanged: they are the caller's from then on, so tensors that are needed at the same time may not \
          overlap (`tm.func` C6), those of the callee among them. `at auto` in the callee is left to `allocate`, \
          once for each call.",
    constraints: &[CALLEE, VALUES, CHIPS, CYCLE, ALIAS],
    example: "%y = tm.call @double %x : !tm.hbm<i32, [1], [A]>",
    ..CALLING
};

/// `tm.launch`.
#[visa_ir::view(Launch: Calling)]
pub static LAUNCH: OpDecl = OpDecl {
    name: "tm.launch",
    summary: "Starts a kernel from a host program.",
    doc: "A function with launches is a host program (book 00, 01): it starts kernels one after the other, over \
          tensors that stay in HBM, and moves tensors between its memory and HBM. A launch runs its function as \
          `tm.call` does, but has the device to itself: it begins when the device has completed all earlier \
          commands. Transfers over PCIe that do not depend on it run in parallel. The pass `inline` puts \
          `tm.begin_launch` and the function's body in its place.",
    constraints: &[
        CALLEE,
        VALUES,
        CHIPS,
        CYCLE,
        ALIAS,
        ("C6", "its arguments are written before, except `inout` ones"),
        ("C7", "the kernel launches no other one"),
    ],
    verify: Some(verify_launch),
    example: "%y = tm.launch @double %x : !tm.hbm<i32, [1], [A]>",
    ..CALLING
};

/// `tm.begin_launch`.
#[visa_ir::view(BeginLaunch)]
pub static BEGIN_LAUNCH: OpDecl = OpDecl {
    name: "tm.begin_launch",
    summary: "A kernel is launched here.",
    doc: "Later commands of the device begin when it has completed all earlier ones (`tm.launch`).",
    clauses: &[ClauseDecl::lead("kernel", ClauseKind::Symbol, "the kernel")],
    // It orders all that follows: nothing moves across it.
    effects: Effects::Are(WRITES_ON_CHIP),
    interfaces: &[Interface(&KeepsAxes)],
    example: "tm.begin_launch @double",
    ..OpDecl::BASE
};

/// A numbered constraint.
type Constraint = (&'static str, &'static str);

const CALLEE: Constraint = ("C1", "`callee` names a `tm.func` of the module");
const VALUES: Constraint = (
    "C2",
    "operands and results are as many as the callee's, of the same types; a scalar may be any number that is inside",
);
const CHIPS: Constraint =
    ("C3", "the callee runs on as many chips as the caller, and on as many processing elements of them");
const CYCLE: Constraint = ("C4", "no function calls itself, directly or through others");
const ALIAS: Constraint = ("C5", "a tensor of an `inout` argument belongs to no other one, and is no view");

/// An operation that runs a function; `None` if it runs none.
#[must_use]
pub fn calling(op: OpRef<'_>) -> Option<Calling<'_>> {
    (op.is(&CALL) || op.is(&LAUNCH)).then(|| Calling::seen(op))
}

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&CALL, &LAUNCH, &BEGIN_LAUNCH];

/// The function that a call runs.
///
/// # Errors
/// C1.
pub fn callee(op: OpRef<'_>) -> Result<OpRef<'_>, Diagnostic> {
    let name = Calling::seen(op).callee()?;
    symbols::find(op, &FUNC, &name).map_err(|why| op.clause_error("C1", "callee", why))
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let name = Calling::seen(op).callee()?;
    let known = cx.analysis::<Symbols>().lookup(&name).map(|id| op.other(id)).filter(|known| known.is(&FUNC));
    let callee = known.map_or_else(|| callee(op), Ok)?;
    let (arguments, results) = signature(callee);
    let axes = &cx.analysis::<DeclaredAxes>().0;
    check_values(op, &name, "argument", op.operands(), arguments, axes)?;
    check_values(op, &name, "result", op.results(), results, axes)?;
    check_aliases(op, &name)?;
    let (found, wanted) = (chips(Func::of(callee)?)?, chips_of(op)?);
    if found != wanted {
        let message = format!(
            "`@{name}` runs on {}, but is called where {} run",
            counted(found, "chip"),
            counted(wanted, "chip")
        );
        return Err(op
            .clause_error("C3", "callee", message)
            .fix(format!("write `chips {wanted}` at `@{name}`")));
    }
    check_pes(op, &name, Func::of(callee)?)?;
    let caller = op.ancestors().find(|op| op.is(&FUNC));
    let cycle = caller.and_then(|caller| cx.analysis::<CallGraph>().cycle(caller.id, callee.id));
    let Some(path) = cycle else { return Ok(()) };
    let path = path.iter().map(|name| format!("`@{name}`")).collect::<Vec<_>>().join(" calls ");
    Err(op.clause_error("C4", "callee", format!("a function calls itself: {path}")))
}

/// C3 of processing elements.
fn check_pes(op: OpRef<'_>, name: &str, callee: Func<'_>) -> Result<(), Diagnostic> {
    let (found, wanted) = (machine(*callee).pes_per_chip(), machine(op).pes_per_chip());
    if found == wanted {
        return Ok(());
    }
    let elements = |count: u64| counted(count, "processing element");
    let message =
        format!("`@{name}` runs on {}, but is called where {} run", elements(found), elements(wanted));
    Err(op.clause_error("C3", "callee", message).fix(format!("write `pes {wanted}` at `@{name}`")))
}

fn verify_launch(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    verify(op, cx)?;
    let (kernel, changed) = (callee(op)?, changed(op)?);
    let own = op.operands().iter().filter(|&operand| changed.iter().all(|(_, given)| given != operand));
    for &operand in own {
        if let Some(empty) = op.value(operand).made_by().filter(|made| made.is(&EMPTY)) {
            let message = format!("nothing has written {}, which the kernel needs", quoted(op, operand));
            let error = op.error("C6", message);
            let fix = "let a launch before fill it, or mark the argument `inout` if the kernel fills it";
            return Err(error.note("it is empty from here on", Some(empty.span())).fix(fix.to_owned()));
        }
    }
    let graph = cx.analysis::<CallGraph>();
    let reached = graph.reached(kernel.id).into_iter().flat_map(|func| op.other(func).regions());
    let bodies = reached.flat_map(|&block| op.module.walk(block)).map(|id| op.other(id));
    match bodies.into_iter().find(|inside| inside.is(&LAUNCH)) {
        Some(inside) => {
            let error = op.error(
                "C7",
                format!("`@{}` launches a kernel, itself or by a call", Calling::seen(op).callee()?),
            );
            Err(error.note("launched here", Some(inside.span())).fix("write `tm.call`".to_owned()))
        }
        None => Ok(()),
    }
}

/// The results of a call that are changed versions of its operands, each with that operand.
///
/// # Errors
/// If there is no such function.
pub fn changed(op: OpRef<'_>) -> Result<Vec<(ValueId, ValueId)>, Diagnostic> {
    let numbers = inout(Func::of(callee(op)?)?)?;
    let others = op.results().len().saturating_sub(numbers.len());
    let given = numbers.iter().filter_map(|&number| op.operands().get(number));
    Ok(op.results()[others..].iter().copied().zip(given.copied()).collect())
}

/// C5.
fn check_aliases(op: OpRef<'_>, name: &str) -> Result<(), Diagnostic> {
    for (_, given) in changed(op)? {
        let own = quoted(op, given);
        if op.value(given).made_by().is_some_and(|made| view::kind(made).is_some()) {
            let message = format!("{own} is a view, and `@{name}` changes it");
            return Err(op.error("C5", message).fix("give the view's source".to_owned()));
        }
        if op.operands().iter().filter(|&&operand| operand == given).count() > 1 {
            let message = format!("{own} is given twice, and `@{name}` changes it");
            return Err(op
                .error("C5", message)
                .fix("give each `inout` argument a separate tensor".to_owned()));
        }
    }
    Ok(())
}

/// C2: values of the call against those of the callee.
fn check_values(
    op: OpRef<'_>,
    name: &str,
    role: &str,
    own: &[ValueId],
    theirs: &[ValueId],
    axes: &Axes,
) -> Result<(), Diagnostic> {
    if own.len() != theirs.len() {
        let message = format!("`@{name}` has {}, found {}", counted(theirs.len(), role), own.len());
        return Err(op.error("C2", message));
    }
    let ty = |value: &ValueId| -> TypeId { op.module.ty(*value) };
    for (index, (own, theirs)) in own.iter().zip(theirs).enumerate() {
        let there = op.module.value_span(*theirs);
        let refuse = |message: String| Err(op.error("C2", message).note("declared here", Some(there)));
        let count = scalar::count(op.ctx, ty(theirs), axes, there)?;
        if let Some(count) = count.filter(|_| is_number(op, *own)) {
            let ranges = number(op, *own, axes)?;
            let ranges = ranges.iter().map(|case| case.what.range().unwrap_or((i64::MIN, i64::MAX)));
            let (least, most) =
                ranges.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1))).unwrap_or_default();
            if least < 0 || most.cast_unsigned() >= count {
                let found = if least == most { least.to_string() } else { format!("{least} to {most}") };
                let wanted = counted(count, "number");
                return refuse(format!(
                    "{role} {index} of `@{name}` is one of {wanted} from 0 on, found {found}"
                ));
            }
        } else if ty(own) != ty(theirs) && ![ty(own), ty(theirs)].iter().any(|&ty| is_unknown(op.ctx, ty)) {
            let (found, wanted) = (op.ctx.type_text(ty(own)), op.ctx.type_text(ty(theirs)));
            return refuse(format!("{role} {index} of `@{name}` has type `{wanted}`, found `{found}`"));
        }
    }
    Ok(())
}

/// Returns true if a value is an index or a scalar.
fn is_number(op: OpRef<'_>, value: ValueId) -> bool {
    INDICES.contains(&op.ctx.type_name(op.module.ty(value)))
}
