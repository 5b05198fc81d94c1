//! `tm.axes`, `tm.func`, `tm.return`: the operations of a kernel file.

use crate::error::mapping_error;
use crate::facts::frames::Frames;
use crate::facts::overlaps::check_overlaps;
use crate::facts::placed::placements;
use crate::facts::{DeclaredAxes, argument_error, check_skew, frames, machine, overwrites, quoted};
use crate::tensor::attrs::{AxisSizes, MAP, SIZES};
use crate::tensor::memories::{HBM, HOST};
use crate::tensor::value::Value;
use crate::tensor::{Dim, Tensor, scalar};
use visa_algebra::{Axes, Expr};
use visa_ir::context::Attr;
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, OperandDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, ValueId};
use visa_ir::open::is_unknown;
use visa_ir::span::Span;
use visa_ir::verify::VerifyCx;
use visa_machine::Machine;

/// `tm.axes`.
#[visa_ir::view(AxesOp)]
pub static AXES: OpDecl = OpDecl {
    name: "tm.axes",
    summary: "Declares axes and their sizes.",
    doc: "Axis names and sizes hold for the whole module (book 03). A name starts with an upper-case letter. A \
          skewed axis, as in `B' = B - A`, has the size of `B`; its coordinate b together with that of `A` means \
          `B = (b + A) mod |B|`, also where b is 0: a tensor whose type names `B'` is written in it, in place of \
          `B`.",
    constraints: &[(
        "C1",
        "an axis is declared once; a skewed axis is the difference of two different axes declared before it",
    )],
    clauses: &[ClauseDecl::lead(
        "sizes",
        ClauseKind::body::<AxisSizes>(&SIZES),
        "the axes, each with its size in indices",
    )],
    traits: &[Trait::TopLevel],
    effects: Effects::Declares,
    verify: Some(verify_axes),
    example: "tm.axes [I = 256, J = 2048]",
    ..OpDecl::BASE
};

/// `tm.alias`.
#[visa_ir::view(Alias)]
pub static ALIAS: OpDecl = OpDecl {
    name: "tm.alias",
    summary: "Names a mapping.",
    doc: "Below it, `{L}` in a mapping stands for the mapping named `@L` (book 03, \"escape\"), as one term: \
          `[{L}, {R}]` is the pair of the two. An alias may use aliases above it.",
    constraints: &[(
        "C1",
        "the name is an axis name that no axis and no alias has, and the mapping's axes are declared above",
    )],
    clauses: &[
        ClauseDecl::lead("name", ClauseKind::Symbol, "the alias"),
        ClauseDecl::required("map", ClauseKind::body::<Expr>(&MAP), "the mapping it stands for"),
    ],
    traits: &[Trait::TopLevel],
    effects: Effects::Declares,
    verify: Some(verify_alias),
    example: "tm.alias @L, map [A / 8 # 256]",
    ..OpDecl::BASE
};

/// `tm.func`.
#[visa_ir::view(Func)]
pub static FUNC: OpDecl = OpDecl {
    name: "tm.func",
    summary: "A kernel: a function on tensors in host memory or HBM, or on values.",
    doc: "A function on `!tm.tensor` values states the computation, without memories. Arguments and results \
          of all others are `!tm.host` or `!tm.hbm` tensors. An HBM argument is already in place: the \
          clause `at` lists the addresses of the HBM arguments in order; `at auto` leaves all of them open, `at [0, \
          auto]` some. Results are those of `tm.return`. Operations run in the order in which they are written \
          (book 28). An argument of type `!tm.scalar` is a number that is known when the kernel starts: tiles that \
          transfers read or write may have positions that depend on it.\n\n\
          An argument that is marked `inout` is changed and stays: `tm.return` gives, after the other results, the \
          final value of each, in their order. It is called as the argument is.",
    constraints: &[
        ("C1", "arguments are tensors in host memory or HBM, or scalars; or all are values and scalars"),
        ("C2", "`at` lists one address for each HBM argument"),
        ("C3", "1 <= chips <= the machine's chips"),
        ("C4", "a chip mapping has as many positions as the function has chips (book 04)"),
        ("C5", "addresses are multiples of the element size (book 04), and the tensor fits the memory"),
        ("C6", "tensors that are needed at the same time do not overlap (book 01, 28)"),
        ("C7", "an `inout` argument is a tensor in HBM"),
        ("C8", "the last results are the final values of the `inout` arguments, in their order"),
        ("C9", "the processing elements are a part of a cluster, or whole clusters"),
        (
            "C10",
            "a pipeline stays on its slices: its inputs and its output begin on the same, and on the first chip; \
             nothing but transfers and pipelines takes a tile that begins elsewhere",
        ),
        ("C11", "the format of a value is one that memories store (book 19)"),
    ],
    clauses: &[
        ClauseDecl::lead("name", ClauseKind::Symbol, "the kernel's name"),
        ClauseDecl::optional("at", ClauseKind::Ints, "HBM addresses of the HBM arguments, in bytes")
            .open_address(),
        ClauseDecl::default("chips", ClauseKind::Int, "1", "how many chips run it"),
        ClauseDecl::optional(
            "pes",
            ClauseKind::Int,
            "how many processing elements of each chip run it: slices, clusters and DMA engines follow; all if absent",
        ),
        ClauseDecl::optional(
            "inout",
            ClauseKind::Ints,
            "which arguments are changed and stay (book 34), by number",
        )
        .marks_arguments(),
    ],
    traits: &[Trait::Function, Trait::TopLevel, Trait::EndsWith("tm.return")],
    effects: Effects::Declares,
    verify: Some(verify_func),
    example: "tm.func @kernel(%x: !tm.hbm<i32, [1], [A]>) at [0], chips 1 {\n  tm.return %x\n}",
    ..OpDecl::BASE
};

/// `tm.return`.
#[visa_ir::view(Return)]
pub static RETURN: OpDecl = OpDecl {
    name: "tm.return",
    summary: "Ends a kernel and names its results.",
    doc: "One result is called `out`; several are `out0`, `out1`, ... in data files and reports. The final value of \
          an `inout` argument has the argument's name.",
    constraints: &[("C1", "the format of a value is one that memories store (book 19)")],
    operands: &[OperandDecl::variadic("results", &["tm.host", "tm.hbm", "tm.tensor"])],
    traits: &[Trait::Terminator, Trait::Inside("tm.func")],
    effects: Effects::PURE,
    verify: Some(verify_return),
    example: "tm.return %y",
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&AXES, &ALIAS, &FUNC, &RETURN];

fn verify_axes(op: OpRef<'_>, _cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let mut axes = declared_above(op);
    AxesOp::of(op)?.sizes()?.declare_in(&mut axes).map_err(|error| refused(op, "sizes", error))
}

fn verify_return(op: OpRef<'_>, _cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let values = (0..op.operands().len()).filter_map(|number| op.operand_type::<Value>(number));
    match values.map(|value| value.dtype).find(|dtype| !dtype.is_stored()) {
        Some(dtype) => {
            let message =
                format!("a result of `{dtype}`, which no memory stores: only a contraction takes it");
            Err(op.error("C1", message).fix("return a contraction of the value".to_owned()))
        }
        None => Ok(()),
    }
}

fn verify_alias(op: OpRef<'_>, _cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let mut axes = declared_above(op);
    let alias = Alias::of(op)?;
    let mapping = alias.map()?;
    axes.define(&alias.name()?, &mapping).map_err(|error| refused(op, "name", error))?;
    mapping.size(&axes).map(drop).map_err(|error| mapping_error(error, op.clause_span("map")))
}

fn refused(op: OpRef<'_>, clause: &str, error: visa_algebra::MapError) -> Diagnostic {
    op.clause_error("C1", clause, error.message).fix(error.fix.map(|fix| format!("write `{fix}`")))
}

/// Adds the declarations of an operation to `axes`. The operation itself reports invalid declarations.
pub(crate) fn declare(op: OpRef<'_>, axes: &mut Axes) {
    if let Some(Ok(sizes)) = AxesOp::cast(op).map(|op| op.sizes()) {
        // A repeated name keeps its first size.
        let _ = sizes.declare_in(axes);
    }
    if let Some((Ok(name), Ok(mapping))) = Alias::cast(op).map(|op| (op.name(), op.map())) {
        let _ = axes.define(&name, &mapping);
    }
}

/// The axes and aliases that are above `op`.
fn declared_above(op: OpRef<'_>) -> Axes {
    let mut axes = Axes::new();
    for &id in op.module.ops(op.block()) {
        if id == op.id {
            break;
        }
        declare(op.other(id), &mut axes);
    }
    axes
}

fn verify_func(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let machine = machine(op);
    let axes = cx.analysis::<DeclaredAxes>();
    let chips = chips(Func::of(op)?)?;
    check_pes(Func::of(op)?)?;
    let Some(&block) = op.regions().first() else { return Ok(()) };
    // A whole list that is open has as many entries as there are arguments to place.
    let addresses = addresses(Func::of(op)?)?;
    let malformed: Vec<Diagnostic> =
        op.module.args(block).iter().filter_map(|&arg| malformed_argument(op, arg, &axes.0)).collect();
    if !malformed.is_empty() {
        malformed.into_iter().for_each(|finding| cx.report(finding));
        return Ok(());
    }
    let mut hbm = 0;
    for &arg in op.module.args(block) {
        let span = op.module.value_span(arg);
        if scalar::count(op.ctx, op.module.ty(arg), &axes.0, span)?.is_some() {
            continue;
        }
        if let Some(value) = op.ctx.type_value::<Value>(op.module.ty(arg)) {
            check_value(op, &value, span, &axes.0)?;
            continue;
        }
        let Some(tensor) = op.ctx.type_value::<Tensor>(op.module.ty(arg)) else {
            let found = op.ctx.type_text(op.module.ty(arg));
            return Err(Diagnostic::error(
                "tm.func-C1",
                span,
                format!(
                    "argument of type `{found}`, expected `!tm.host`, `!tm.hbm`, `!tm.scalar` or `!tm.tensor`"
                ),
            ));
        };
        check_skew(&tensor, &axes.0, span)?;
        if tensor.is(&HOST) {
            continue;
        }
        if !tensor.is(&HBM) {
            let message = format!(
                "argument in `!{}`, expected `!tm.host`, `!tm.hbm` or `!tm.scalar`",
                tensor.kind.def.name
            );
            return Err(Diagnostic::error("tm.func-C1", span, message));
        }
        let address = match addresses.as_ref().map(|addresses| (addresses.get(hbm), addresses.len())) {
            Some((Some(&address), _)) => address,
            Some((None, count)) => {
                let message =
                    format!("{} for {}", counted(count, "address"), counted(hbm + 1, "HBM argument"));
                return Err(op
                    .clause_error("C2", "at", message)
                    .fix(Some("write `at [0, ...]` with an address for each".to_owned())));
            }
            None => None,
        };
        hbm += 1;
        check_chips(&tensor, chips, &axes.0, span)?;
        check_place(op, "at", &tensor, address, machine.memory.hbm_bytes, &axes.0, "C5")?;
    }
    if let Some(addresses) = addresses.filter(|addresses| addresses.len() != hbm) {
        let message = format!("{} for {}", counted(addresses.len(), "address"), counted(hbm, "HBM argument"));
        return Err(op.clause_error("C2", "at", message));
    }
    check_changed_arguments(op, &axes.0)?;
    check_overlaps(op, &axes.0, &machine, &|finding| cx.report(finding))?;
    frames::check(op, &cx.analysis::<Frames>(), &axes.0, &|finding| cx.report(finding));
    overwrites::check(op, &axes.0, &|finding| cx.report(finding))
}

/// An argument of the tensor level: its axes are declared, memories store its format, and no other argument is in a
/// memory.
fn check_value(op: OpRef<'_>, value: &Value, span: Span, axes: &Axes) -> Result<(), Diagnostic> {
    for axis in &value.axes {
        axes.resolve(axis).map_err(|error| mapping_error(error, span))?;
    }
    if !value.dtype.is_stored() {
        let message = format!("an argument of `{}`, which no memory stores", value.dtype);
        let fix = format!("take a narrower format, and convert it with `tm.cast {}`", value.dtype);
        return Err(Diagnostic { span, ..op.error("C11", message) }.fix(fix));
    }
    let other = signature(op).0.iter().find_map(|&arg| op.ctx.type_value::<Tensor>(op.module.ty(arg)));
    match other {
        Some(tensor) => {
            let message = format!(
                "a value next to a tensor in `!{}`: a function is at one level",
                tensor.kind.def.name
            );
            Err(Diagnostic { span, ..op.error("C1", message) })
        }
        None => Ok(()),
    }
}

/// The error in a mapping of an argument's type.
fn malformed_argument(op: OpRef<'_>, arg: ValueId, axes: &visa_algebra::Axes) -> Option<Diagnostic> {
    let tensor = op.ctx.type_value::<Tensor>(op.module.ty(arg))?;
    tensor.maps.iter().find_map(|map| {
        let error = map.size(axes).err()?;
        Some(argument_error(error, op, arg, map, axes))
    })
}

/// C7 and C8.
fn check_changed_arguments(op: OpRef<'_>, axes: &visa_algebra::Axes) -> Result<(), Diagnostic> {
    let (func, (arguments, results)) = (Func::of(op)?, signature(op));
    let wanted = inout(func)?;
    let others = results.len().checked_sub(wanted.len());
    let Some(given) = others.map(|others| &results[others..]) else {
        let (found, wanted) = (counted(results.len(), "value"), counted(wanted.len(), "`inout` argument"));
        return Err(op.error("C8", format!("`tm.return` gives {found}, and there are {wanted}")));
    };
    let placed = placements(op, axes)?;
    let before =
        |value: ValueId| placed.iter().find(|placed| placed.value == value).and_then(|placed| placed.before);
    for (number, &given) in wanted.into_iter().zip(given) {
        let argument = arguments[number];
        let span = op.module.value_span(argument);
        if op.ctx.type_name(op.module.ty(argument)) != HBM.def.name {
            let found = op.ctx.type_text(op.module.ty(argument));
            let error = op.error("C7", format!("`inout` of type `{found}`, expected `!tm.hbm`"));
            return Err(Diagnostic { span, ..error });
        }
        let is_known = !is_unknown(op.ctx, op.module.ty(given));
        if is_known
            && std::iter::successors(Some(given), |&value| before(value)).all(|value| value != argument)
        {
            let message = format!(
                "{} is not the final value of {}, which is `inout`",
                quoted(op, given),
                quoted(op, argument)
            );
            let error = Diagnostic { span: op.module.value_span(given), ..op.error("C8", message) };
            let fix =
                "return it after the other results: those that changed are last, in the order of arguments";
            return Err(error.note("declared here", Some(span)).fix(fix.to_owned()));
        }
    }
    Ok(())
}

/// The arguments and the results of a function.
#[must_use]
pub fn signature<'a>(func: OpRef<'a>) -> (&'a [ValueId], &'a [ValueId]) {
    let Some(&block) = func.regions().first() else { return (&[], &[]) };
    let end = func.module.ops(block).last().map(|&id| func.other(id));
    (func.module.args(block), end.map_or(&[][..], |end| end.operands()))
}

/// The arguments of a function that are changed and stay, by number, in order.
///
/// # Errors
/// A number of no argument.
pub fn inout(func: Func<'_>) -> Result<Vec<usize>, Diagnostic> {
    let Some(written) = func.inout()? else { return Ok(Vec::new()) };
    let count = signature(*func).0.len();
    let number = |&number: &i64| usize::try_from(number).ok().filter(|&number| number < count).ok_or(number);
    let mut numbers = written.iter().map(number).collect::<Result<Vec<_>, _>>().map_err(|number| {
        let message = format!("there is no argument {number}, of {}", counted(count, "argument"));
        func.clause_error("C7", "inout", message)
    })?;
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

/// The name of a function's argument in data files and reports.
#[must_use]
pub fn argument_name(func: OpRef<'_>, number: usize) -> String {
    let name = signature(func).0.get(number).and_then(|&value| func.module.value_name(value));
    name.map_or_else(|| format!("arg{number}"), |name| name.to_string())
}

/// The names of a function's results in data files and reports.
///
/// # Errors
/// As of [`inout`].
pub fn result_names(func: Func<'_>) -> Result<Vec<String>, Diagnostic> {
    let ((_, results), changed) = (signature(*func), inout(func)?);
    let others = results.len().saturating_sub(changed.len());
    let other = |index: usize| if others == 1 { "out".to_owned() } else { format!("out{index}") };
    let argument = |number: usize| argument_name(*func, number);
    Ok((0..others).map(other).chain(changed.into_iter().map(argument)).collect())
}

/// Checks that a tensor's chip mapping has as many positions as its function has chips.
///
/// # Errors
/// `tm.func` C4.
pub fn check_chips(
    tensor: &Tensor,
    chips: u64,
    axes: &visa_algebra::Axes,
    span: visa_ir::span::Span,
) -> Result<(), Diagnostic> {
    let map = tensor.dim(Dim::Chip);
    let size = map.size(axes).map_err(|error| mapping_error(error, span))?;
    if size == chips {
        return Ok(());
    }
    let message = format!(
        "chip mapping `{map}` has {}, but the function runs on {} (book 04)",
        counted(size, "position"),
        counted(chips, "chip")
    );
    let fix =
        (size < chips).then(|| format!("pad it: `[{} # {chips}]`", map.to_string().trim_matches(['[', ']'])));
    Err(Diagnostic::error("tm.func-C4", span, message).fix(fix))
}

/// The chips that run a function.
///
/// # Errors
/// `tm.func` C3.
pub fn chips(func: Func<'_>) -> Result<u64, Diagnostic> {
    let (chips, most) = (func.chips()?, machine(*func).topology.max_chips);
    u64::try_from(chips).ok().filter(|chips| (1..=most).contains(chips)).ok_or_else(|| {
        func.clause_error("C3", "chips", format!("{}, expected 1 to {most}", counted(chips, "chip")))
    })
}

/// C9.
fn check_pes(func: Func<'_>) -> Result<(), Diagnostic> {
    let Some(pes) = func.pes()? else { return Ok(()) };
    let device = func.ctx.data::<Machine>().device(pes);
    device.map(drop).map_err(|why| func.clause_error("C9", "pes", why))
}

/// The chips of the function around `op`.
///
/// # Errors
/// If there is no function around it, or one on more chips than there are.
pub fn chips_of(op: OpRef<'_>) -> Result<u64, Diagnostic> {
    let outside =
        || Diagnostic::error("structure", op.span(), format!("`{op}` is not inside `{}`", FUNC.name));
    chips(op.ancestors().find_map(Func::cast).ok_or_else(outside)?)
}

/// The addresses of the HBM arguments of a function, nothing for each that is open; nothing at all if the whole list
/// is.
///
/// # Errors
/// If the clause is of another kind.
pub fn addresses(func: Func<'_>) -> Result<Option<Vec<Option<i64>>>, Diagnostic> {
    match func.attr("at") {
        Some(Attr::Auto) => Ok(None),
        Some(Attr::OpenInts(addresses)) => Ok(Some(addresses.to_vec())),
        Some(_) | None => {
            let written = func.at()?;
            Ok(Some(written.iter().flat_map(|written| written.iter().copied().map(Some)).collect()))
        }
    }
}

/// The fix for an address that is no multiple of `align`: the next one, if there is one.
#[must_use]
pub fn aligned_fix(address: i64, align: i64) -> Option<String> {
    let next = address.checked_div_euclid(align)?.checked_add(1)?.checked_mul(align)?;
    Some(format!("write {next}"))
}

/// Checks an address: not negative, a multiple of the element size, and the tensor fits the memory after it. While
/// it is open, whether the tensor fits the whole memory.
pub fn check_place(
    op: OpRef<'_>,
    clause: &str,
    tensor: &Tensor,
    address: impl Into<Option<i64>>,
    capacity: u64,
    axes: &visa_algebra::Axes,
    constraint: &str,
) -> Result<(), Diagnostic> {
    let address = address.into();
    let element = tensor.dtype.align();
    let memory = tensor.kind.def.name.trim_start_matches("tm.").to_uppercase();
    let map = tensor.dim(Dim::Element);
    let negative = |address| op.clause_error(constraint, clause, format!("address {address} is negative"));
    let start = match address {
        Some(address) => u64::try_from(address).map_err(|_| negative(address))?,
        None => 0,
    };
    if !start.is_multiple_of(element) {
        let message = format!(
            "address {start} is not a multiple of {element}, the size of a `{}` (book 04)",
            tensor.dtype
        );
        let fix = address.zip(i64::try_from(element).ok()).and_then(|(at, align)| aligned_fix(at, align));
        return Err(op.clause_error(constraint, clause, message).fix(fix));
    }
    let bytes = tensor.dim_bytes(Dim::Element, axes);
    let end = bytes.and_then(|bytes| start.checked_add(bytes));
    match (bytes, end) {
        (Some(_), Some(end)) if end <= capacity => Ok(()),
        (Some(bytes), _) => {
            let over = u128::from(start) + u128::from(bytes) - u128::from(capacity);
            let message = format!(
                "element mapping `{map}` of `{}` takes {} at {start}, but {memory} has {capacity}: {} over",
                tensor.dtype,
                counted(bytes, "byte"),
                counted(over, "byte"),
            );
            let fix = match capacity.checked_sub(bytes) {
                Some(last) => format!("put it at {} or before", last - last % element),
                None => format!(
                    "at most {} of `{}` fit, it holds {}",
                    counted(tensor.dtype.elements(capacity), "element"),
                    tensor.dtype,
                    tensor.dtype.elements(bytes)
                ),
            };
            Err(op.clause_error(constraint, clause, message).fix(fix))
        }
        (None, _) => {
            Err(op.clause_error(constraint, clause, format!("element mapping `{map}` is too large to count")))
        }
    }
}
