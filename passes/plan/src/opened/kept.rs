//! The parts of an open kernel that a plan of its function would lose.

use crate::placed::{DIMS as PLACED, loaded_argument, places};
use visa_algebra::Axes;
use visa_ir::context::Context;
use visa_ir::decl::{ClauseDecl, ClauseKind};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::{Module, OpId, OpRef};
use visa_ir::open::{self, Opening, is_open};
use visa_ir::span::Span;
use visa_machine::Unit;
use visa_mapping::Dim;
use visa_mapping::ops::call::{callee, calling};
use visa_mapping::ops::func::{Func, RETURN, argument_name, chips};
use visa_mapping::ops::transfer::{TO_DM, TO_HBM, is_transfer, queue};
use visa_mapping::tensor::attrs::MAP;
use visa_stream::ops::begin::Begin;

/// All dimensions that clauses give.
const DIMS: [Dim; 8] =
    [Dim::Chip, Dim::Cluster, Dim::Slice, Dim::Pe, Dim::Row, Dim::Element, Dim::Time, Dim::Packet];

/// The reason why a kernel is chosen within its operations.
pub struct Reason {
    /// The reason, as a clause of a sentence.
    pub message: String,
    /// Where it is written.
    pub span: Span,
    /// Where the clause is written that it contradicts.
    pub other: Option<Span>,
    /// The change that makes a plan of the function possible.
    pub fix: Option<String>,
}

impl Reason {
    /// A reason that no change of a clause removes.
    #[must_use]
    pub fn new(message: String, span: Span) -> Self {
        Self { message, span, other: None, fix: None }
    }
}

impl From<Diagnostic> for Reason {
    fn from(refused: Diagnostic) -> Self {
        Self { message: refused.message, span: refused.span, other: None, fix: refused.fix }
    }
}

/// The reason why a plan of the function of a kernel would not honour the kernel; `None` if it would.
///
/// # Errors
/// A clause of another kind than is declared.
pub fn kept(
    ctx: &Context,
    (module, axes): (&Module, &Axes),
    func: OpId,
) -> Result<Option<Reason>, Diagnostic> {
    let func = Func::of(module.op(ctx, func))?;
    let inside: Vec<OpRef<'_>> =
        func.regions().iter().flat_map(|&block| module.walk(block)).map(|id| module.op(ctx, id)).collect();
    let distributes = |op: &OpRef<'_>| {
        op.is(&TO_DM) && open::clauses(*op).any(|clause| clause.opening == Opening::Configuration)
    };
    if !inside.iter().any(distributes) {
        let message =
            "no distribution is open: `cluster`, `slice` and `element` of each `tm.to_dm` are written";
        return Ok(Some(Reason::new(message.to_owned(), func.span())));
    }
    if let Some(reason) = of_function(func)? {
        return Ok(Some(reason));
    }
    for id in module.walk_all() {
        let op = module.op(ctx, id);
        if calling(op).is_some() && callee(op)?.id == func.id {
            let message = format!("`{op}` calls it, and both agree on its tensors");
            return Ok(Some(Reason::new(message, op.span())));
        }
    }
    if let Some(op) = inside.iter().find(|op| !op.regions().is_empty()) {
        let message = format!("`{op}` is written, and a plan of the function has other loops and branches");
        return Ok(Some(Reason::new(message, op.span())));
    }
    let (_, several) = places(ctx, (module, axes), func.id);
    for op in inside {
        let argument = loaded_argument(op, *func);
        if let Some(argument) = argument.filter(|argument| several.contains(argument)) {
            let name = argument_name(*func, argument);
            let message = format!("loads of `%{name}` have different places, and a plan has one of them");
            return Ok(Some(Reason::new(message, op.span())));
        }
        if let Some(reason) = of_operation(op, argument.is_some())? {
            return Ok(Some(reason));
        }
    }
    Ok(None)
}

/// The reason why a plan of the function of a kernel would not honour its interface; `None` if it would.
///
/// # Errors
/// A clause of another kind than is declared.
pub fn kept_interface(ctx: &Context, module: &Module, func: OpId) -> Result<Option<Reason>, Diagnostic> {
    let func = Func::of(module.op(ctx, func))?;
    let inside = func.regions().iter().flat_map(|&block| module.walk(block)).map(|id| module.op(ctx, id));
    let call = inside.into_iter().find(|op| calling(*op).is_some());
    let call =
        call.map(|op| Reason::new(format!("it has a `{op}`: plan the function that it runs"), op.span()));
    Ok(of_function(func)?.or(call))
}

/// The reason that the head of a kernel gives.
fn of_function(func: Func<'_>) -> Result<Option<Reason>, Diagnostic> {
    let count = chips(func)?;
    let clause = |name: &str, message: String| Reason::new(message, func.clause_span(name));
    if count != 1 {
        let message =
            format!("it runs on {}, whose parts of each tensor are written", counted(count, "chip"));
        return Ok(Some(clause("chips", message)));
    }
    if func.pes()?.is_some() {
        let message = "`pes` is written, and a plan divides a whole chip".to_owned();
        return Ok(Some(clause("pes", message)));
    }
    Ok(None)
}

/// The reason that an operation gives. A plan has the written place of an argument where the operation `loads` one.
fn of_operation(op: OpRef<'_>, loads: bool) -> Result<Option<Reason>, Diagnostic> {
    if calling(op).is_some() {
        let message = format!("`{op}` is written, and both functions agree on their tensors");
        return Ok(Some(Reason::new(message, op.span())));
    }
    if is_transfer(op) && queue(op)?.is_some() {
        return Ok(Some(Reason::new(format!("`queue` of `{op}` is written"), op.span())));
    }
    let main = Begin::cast(op).map(|begin| begin.context()).filter(|_| open::clauses(op).next().is_none());
    if main.transpose()? == Some(Unit::Main) {
        return Ok(None);
    }
    let returned = op.is(&TO_HBM)
        && op
            .results()
            .iter()
            .any(|&result| op.module.uses(result).iter().any(|&user| op.module.op(op.ctx, user).is(&RETURN)));
    let clauses = op.decl().map_or(&[][..], |decl| decl.clauses).iter();
    let honoured = |clause: &ClauseDecl| loads && PLACED.iter().any(|dim| dim.name() == clause.name);
    let written = clauses.filter(|clause| op.attr(clause.name).is_some() && !is_open(op, clause.name));
    let lost = written.filter(|clause| !honoured(clause)).find(|clause| match clause.opening {
        Opening::Never => is_placement(clause) && !returned,
        // The interface has the addresses of results.
        Opening::Address => !returned,
        Opening::Configuration | Opening::Order => true,
    });
    Ok(lost.map(|clause| {
        let (name, span) = (clause.name, op.clause_span(clause.name));
        let may_open = clause.opening != Opening::Never;
        let fix = may_open.then(|| format!("write `auto` for `{name}`: the plan of the function chooses it"));
        Reason { message: format!("`{name}` of `{op}` is written"), span, other: None, fix }
    }))
}

/// Returns true if a clause states where elements are, or when they move.
fn is_placement(clause: &ClauseDecl) -> bool {
    let is_map = matches!(clause.kind, ClauseKind::Body(def) if std::ptr::eq(def, &MAP));
    is_map && DIMS.iter().any(|dim| dim.name() == clause.name)
}
