//! Facts about a whole module that verifiers, lowering and the evaluator share: the declared axes, the axes each value
//! depends on, and how long each tensor must stay where it is.

use crate::tensor::{Dim, Tensor};
use crate::{Axes, Digits, Expr, digits};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::rc::Rc;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpRef, ValueId};
use visa_ir::span::Span;
use visa_ir::verify::Analysis;
use visa_machine::Machine;

/// The axes that the module declares (all its `tm.axes` together).
pub struct DeclaredAxes(pub Axes);

impl Analysis for DeclaredAxes {
    fn build(ctx: &Context, module: &Module) -> Self {
        let mut axes = Axes::new();
        for &id in module.ops(module.body()) {
            let op = module.op(ctx, id);
            let Some(sizes) = op.body::<crate::attrs::AxisSizes>("sizes") else { continue };
            for (name, size) in &sizes.0 {
                // A repeated name keeps its first size; `tm.axes` reports it.
                let _ = axes.declare(name, *size);
            }
        }
        Self(axes)
    }
}

/// The axes that each value's elements depend on. Along any other axis a mapping mentions, the tensor is constant: a
/// transfer or fetch that introduces the axis broadcasts. An argument depends on the axes of its type; a result on the
/// axes of its operands that its type still mentions (a reduced axis is gone).
pub struct Support(HashMap<ValueId, BTreeSet<Rc<str>>>);

impl Support {
    /// Whether `value` depends on the axis called `name`.
    #[must_use]
    pub fn depends(&self, value: ValueId, name: &str) -> bool {
        self.0.get(&value).is_some_and(|axes| axes.contains(name))
    }
}

impl Analysis for Support {
    fn build(ctx: &Context, module: &Module) -> Self {
        let mut support = HashMap::new();
        let names = |value: ValueId| -> BTreeSet<Rc<str>> {
            let tensor = ctx.type_value::<Tensor>(module.ty(value));
            tensor.map(|tensor| tensor.axis_names().into_iter().collect()).unwrap_or_default()
        };
        for id in module.walk_all() {
            let op = module.op(ctx, id);
            for &region in op.regions() {
                for &arg in module.args(region) {
                    support.insert(arg, names(arg));
                }
            }
            let mut of_operands: BTreeSet<Rc<str>> = BTreeSet::new();
            for operand in op.operands() {
                of_operands.extend(support.get(operand).into_iter().flatten().cloned());
            }
            for &result in op.results() {
                support.insert(result, names(result).intersection(&of_operands).cloned().collect());
            }
        }
        Self(support)
    }
}

/// The machine whose limits hold: the one given to the context, or RNGD.
#[must_use]
pub fn machine(ctx: &Context) -> Rc<Machine> {
    ctx.data()
}

/// The digits of a mapping, or the diagnostic that says what is wrong with it.
///
/// # Errors
/// A size rule that is broken, or a padding that falls inside a digit.
pub fn digits_of(map: &Expr, axes: &Axes, span: Span) -> Result<Digits, Diagnostic> {
    digits(map, axes).map_err(|error| match error {
        crate::DigitsError::Map(error) => mapping_error(error, span),
        crate::DigitsError::Ragged(ragged) => {
            Diagnostic::error("ragged", span, format!("padding or truncation that is no whole digit: {ragged}"))
        }
    })
}

/// A mapping's error as a diagnostic at `span`.
#[must_use]
pub fn mapping_error(error: crate::MapError, span: Span) -> Diagnostic {
    Diagnostic::error(error.code, span, error.message).fix(error.fix.map(|fix| format!("write `{fix}`")))
}

/// Checks every mapping that the operation's clauses give.
///
/// # Errors
/// The first one whose sizes are wrong.
pub fn check_mappings(op: OpRef<'_>, axes: &Axes) -> Result<(), Diagnostic> {
    for clause in op.clauses() {
        if let Some(map) = op.body::<Expr>(&clause.name) {
            map.size(axes).map_err(|error| mapping_error(error, clause.span))?;
        }
    }
    Ok(())
}

/// The bytes of its memory that a tensor occupies (book 04): of a chip's HBM, of a slice's data memory or vector
/// register file, of a row's tensor register file. `None` where it has no address.
#[must_use]
pub fn occupied(tensor: &Tensor, address: Option<i64>, half: Option<&str>, axes: &Axes, machine: &Machine) -> Option<Range<u64>> {
    let row = machine.memory.trf_bytes_per_row;
    match half {
        Some("full") => return Some(0..row),
        Some("first") => return Some(0..row / 2),
        Some("second") => return Some(row / 2..row),
        Some(_) | None => {}
    }
    let start = u64::try_from(address?).ok()?;
    Some(start..start.checked_add(tensor.dim_bytes(Dim::Element, axes)?)?)
}

/// A tensor at rest, and the operations between which its bytes must not change.
struct Resident {
    name: String,
    space: &'static str,
    range: Range<u64>,
    from: usize,
    until: usize,
    span: Span,
}

/// Reports tensors of one memory whose bytes overlap while both are needed (book 01, 28: addresses must not collide).
/// A tensor that a pipeline reads is needed until the pipeline's last operation has stored its result.
///
/// Positions count the operations of the function; arguments are there from the start.
pub fn check_overlaps(func: OpRef<'_>, axes: &Axes, machine: &Machine, report: &dyn Fn(Diagnostic)) {
    let Some(&block) = func.regions().first() else { return };
    let ops = func.module.ops(block);
    let position: HashMap<_, _> = ops.iter().enumerate().map(|(at, &op)| (op, at)).collect();
    let mut residents = Vec::new();
    let addresses = func.ints("at");
    let mut hbm_args = 0;
    for &arg in func.module.args(block) {
        let Some(tensor) = func.ctx.type_value::<Tensor>(func.module.ty(arg)) else { continue };
        if tensor.kind.def.name != "tm.hbm" {
            continue;
        }
        let address = addresses.get(hbm_args).copied();
        hbm_args += 1;
        residents.extend(resident(func, arg, &tensor, address, None, 0, &position, axes, machine));
    }
    for (at, &id) in ops.iter().enumerate() {
        let op = func.other(id);
        let Some(&result) = op.results().first() else { continue };
        let Some(tensor) = op.result_type::<Tensor>(0) else { continue };
        if tensor.kind.stream {
            continue;
        }
        let half = op.word("at");
        residents.extend(resident(func, result, &tensor, op.int("at"), half.as_deref(), at, &position, axes, machine));
    }
    for (index, later) in residents.iter().enumerate() {
        for earlier in &residents[..index] {
            overlap(earlier, later, report);
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "the facts of one tensor, gathered in one place")]
fn resident(
    func: OpRef<'_>,
    value: ValueId,
    tensor: &Tensor,
    address: Option<i64>,
    half: Option<&str>,
    from: usize,
    position: &HashMap<visa_ir::module::OpId, usize>,
    axes: &Axes,
    machine: &Machine,
) -> Option<Resident> {
    let name = func.module.value_name(value).map_or("a tensor".to_owned(), |name| format!("%{name}"));
    Some(Resident {
        name,
        space: tensor.kind.def.name,
        range: occupied(tensor, address, half, axes, machine)?,
        from,
        until: last_use(func, value, position).max(from),
        span: func.module.value_span(value),
    })
}

/// The position of the last operation that needs the value: through streams, up to the end of the pipeline.
fn last_use(func: OpRef<'_>, value: ValueId, position: &HashMap<visa_ir::module::OpId, usize>) -> usize {
    let mut last = 0;
    for &user in func.module.uses(value) {
        let op = func.other(user);
        last = last.max(position.get(&user).copied().unwrap_or(usize::MAX));
        let stream = op.result_type::<Tensor>(0).is_some_and(|tensor| tensor.kind.stream);
        if let (true, Some(&result)) = (stream, op.results().first()) {
            last = last.max(last_use(func, result, position));
        }
    }
    last
}

fn overlap(earlier: &Resident, later: &Resident, report: &dyn Fn(Diagnostic)) {
    let bytes = earlier.range.start < later.range.end && later.range.start < earlier.range.end;
    if earlier.space != later.space || !bytes || later.from > earlier.until {
        return;
    }
    let show = |range: &Range<u64>| format!("bytes {} to {}", range.start, range.end);
    let memory = earlier.space.trim_start_matches("tm.").to_uppercase();
    let message = format!(
        "{} ({}) overlaps {} ({}), which is still needed, in {memory}",
        later.name,
        show(&later.range),
        earlier.name,
        show(&earlier.range)
    );
    report(
        Diagnostic::error("overlap", later.span, message)
            .note(format!("{} is placed here", earlier.name), Some(earlier.span))
            .fix(Some(format!("place it at {} or beyond", earlier.range.end))),
    );
}
