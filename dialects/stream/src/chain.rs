//! Helpers that the operations of the pipeline share: types of their results, comparisons of mappings.

use std::collections::BTreeMap;
use std::rc::Rc;
use visa_algebra::{Axes, AxisId, Equality, Expr, Refinement, describe, equal_streams, refines};
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpRef, TypeId};
use visa_ir::verify::VerifyCx;
use visa_machine::Machine;
use visa_mapping::error::mapping_error;
use visa_mapping::facts::frames::Frames;
use visa_mapping::facts::{DeclaredAxes, written};
use visa_mapping::index::cases::Case;
use visa_mapping::{Dim, Tensor, TensorKind, Unit, make, operand, skewed_axes};
use visa_numerics::DType;

/// The stream that operand 0 is.
///
/// # Errors
/// If it is no tensor type.
pub fn input(op: OpRef<'_>) -> Result<Rc<Tensor>, Diagnostic> {
    operand(op, 0).ok_or_else(|| op.error("C0", format!("`{op}` takes a stream")))
}

/// The tensor types of an operation's operand 0 and result.
///
/// # Errors
/// If one of both is no tensor type.
pub fn ends(op: OpRef<'_>) -> Result<(Rc<Tensor>, Rc<Tensor>), Diagnostic> {
    let result = op.result_type::<Tensor>(0);
    operand(op, 0).zip(result).ok_or_else(|| op.error("C0", format!("a type of `{op}` is no tensor type")))
}

/// The type of operand 0 with another kind, and the dimensions that clauses of their name give.
///
/// # Errors
/// If a dimension is neither inherited nor given.
pub fn next(
    op: OpRef<'_>,
    kind: &'static TensorKind,
    dtype: Option<DType>,
) -> Result<Vec<TypeId>, Diagnostic> {
    let source = input(op)?;
    let given = given(op, kind.dims);
    with_dims(op, kind, source.unit, dtype.unwrap_or(source.dtype), &given, &source)
}

/// The mappings that are written in clauses called like these dimensions.
#[must_use]
pub fn given(op: OpRef<'_>, dims: &[Dim]) -> Vec<(Dim, Expr)> {
    dims.iter().filter_map(|&dim| Some((dim, (*written(op, dim.name())?).clone()))).collect()
}

/// The type of operand 0.
///
/// # Errors
/// If it is no tensor type.
pub fn next_same(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    Ok(vec![make(op.ctx, (*input(op)?).clone())])
}

/// A result type from explicit dimensions.
///
/// # Errors
/// If a dimension is neither inherited nor given.
pub fn with_dims(
    op: OpRef<'_>,
    kind: &'static TensorKind,
    unit: Option<Unit>,
    dtype: DType,
    given: &[(Dim, Expr)],
    source: &Tensor,
) -> Result<Vec<TypeId>, Diagnostic> {
    let tensor = Tensor::build(kind, if kind.stream { unit } else { None }, dtype, given, source)
        .map_err(|dim| op.error("C0", format!("the {dim} mapping is not known")))?;
    Ok(vec![make(op.ctx, tensor)])
}

/// The module's axes.
#[must_use]
pub fn axes(cx: &VerifyCx<'_>) -> Rc<DeclaredAxes> {
    cx.analysis()
}

/// Checks that `found` (a clause) holds the same cells as `wanted`.
///
/// # Errors
/// The first position that differs, with both cells; or that the question cannot be decided.
pub fn check_same(
    op: OpRef<'_>,
    constraint: &str,
    clause: &str,
    found: &Expr,
    wanted: &Expr,
    axes: &Axes,
) -> Result<(), Diagnostic> {
    match equal_streams(found, wanted, axes) {
        Equality::Equal => Ok(()),
        Equality::Different { at, left, right } => {
            let (left, right) = (describe(left.as_ref(), axes), describe(right.as_ref(), axes));
            let message =
                format!("`{found}` differs from `{wanted}` at position {at}: {left} instead of {right}");
            Err(op.clause_error(constraint, clause, message))
        }
        Equality::Unknown { why } => {
            let message = format!("cannot decide whether `{found}` is `{wanted}`: {why}");
            Err(op.clause_error(constraint, clause, message))
        }
    }
}

/// Checks that a register file is in the same chips, clusters and slices as the stream.
///
/// # Errors
/// The first of these that is another, as `constraint` of the operation.
pub fn check_place(
    op: OpRef<'_>,
    constraint: &str,
    (file, free): (&Tensor, &dyn Fn(AxisId) -> bool),
    stream: &Tensor,
    axes: &Axes,
) -> Result<(), Diagnostic> {
    check_same(op, constraint, Dim::Chip.name(), &file.dim(Dim::Chip), &stream.dim(Dim::Chip), axes)?;
    [Dim::Cluster, Dim::Slice].into_iter().try_for_each(|dim| {
        let (name, wanted) = (dim.name(), stream.dim(dim));
        let held = file.dim(dim);
        // Places that the stream does not have may hold more of the same.
        let named = wanted.axis_names(axes);
        let mut more = held.axis_names(axes).into_iter().filter(|name| !named.contains(name));
        let same = more.all(|name| axes.id(&name).is_some_and(free));
        if same && refines(&held, &wanted, axes) == Refinement::Refines {
            return Ok(());
        }
        check_same(op, constraint, name, &held, &wanted, axes).map_err(|error| {
            error.fix(format!(
                "load the register file with `{name} {wanted}`: along an axis that the source lacks, a load copies"
            ))
        })
    })
}

/// Axes of which a register file holds the multiples of a number only, as `H / 16` does: each of its elements is
/// meant for all coordinates up to the next, as one scale is for a block of 16.
#[must_use]
pub fn coarse(file: &Tensor, axes: &Axes) -> Vec<(AxisId, u64)> {
    let mut steps: BTreeMap<AxisId, u64> = BTreeMap::new();
    for digits in file.maps.iter().map(|map| crate::plan::digits_of(map, axes)) {
        let Ok(digits) = digits else { return Vec::new() };
        if !digits.offset().is_empty() {
            return Vec::new();
        }
        for digit in digits.iter().filter(|digit| digit.live > 1) {
            let Some(axis) = digit.axis else { continue };
            steps.entry(axis).and_modify(|step| *step = digit.stride.min(*step)).or_insert(digit.stride);
        }
    }
    steps.retain(|_, step| *step > 1);
    steps.into_iter().collect()
}

/// Those of [`coarse`] that chips, clusters and slices alone tell apart: rows and elements do not have the axis, so
/// that in each place they are the same for all coordinates up to the next.
#[must_use]
pub fn coarse_in_places(file: &Tensor, axes: &Axes) -> Vec<(AxisId, u64)> {
    let inside: Vec<_> =
        [Dim::Row, Dim::Element].into_iter().flat_map(|dim| file.dim(dim).axis_names(axes)).collect();
    let mut coarse = coarse(file, axes);
    coarse.retain(|(axis, _)| inside.iter().all(|name| **name != *axes.name(*axis)));
    coarse
}

/// Checks that an operation that only moves elements names the skewed axes that its stream names: `B' = 1` gives the
/// position of the elements along B.
///
/// # Errors
/// A skewed axis that one of both names.
pub fn check_skewed(
    op: OpRef<'_>,
    constraint: &str,
    clause: &str,
    [source, result]: [&Tensor; 2],
    axes: &Axes,
) -> Result<(), Diagnostic> {
    let (before, after) = (skewed_axes(source, axes), skewed_axes(result, axes));
    let dropped = before.iter().find(|axis| !after.contains(axis));
    let Some(&axis) = dropped.or_else(|| after.iter().find(|axis| !before.contains(axis))) else {
        return Ok(());
    };
    let name = axes.name(axis);
    let (with, without) = if dropped.is_some() { ("stream", "result") } else { ("result", "stream") };
    let message = format!("the {with} is written in the skewed axis `{name}`, the {without} is not");
    let fix = dropped.map(|_| format!("keep a term of it, as `{name} = 1`"));
    Err(op.clause_error(constraint, clause, message).fix(fix))
}

/// Positions of a mapping of dimension `dim`.
///
/// # Errors
/// If the mapping is unsound.
pub fn positions(op: OpRef<'_>, dim: Dim, map: &Expr, axes: &Axes) -> Result<u64, Diagnostic> {
    map.size(axes).map_err(|error| mapping_error(error, op.clause_span(dim.name())))
}

/// Bytes that a dimension of a tensor spans.
///
/// # Errors
/// If its mapping is unsound, or they are too many to count.
pub fn dim_bytes(op: OpRef<'_>, tensor: &Tensor, dim: Dim, axes: &Axes) -> Result<u64, Diagnostic> {
    let (map, name) = (tensor.dim(dim), dim.name());
    tensor
        .bytes(positions(op, dim, &map, axes)?)
        .ok_or_else(|| op.clause_error("C0", name, format!("{name} `{map}` has too many elements to count")))
}

/// Bytes of a stream's packet.
///
/// # Errors
/// If the packet's mapping is unsound.
pub fn packet_bytes(op: OpRef<'_>, stream: &Tensor, axes: &Axes) -> Result<u64, Diagnostic> {
    dim_bytes(op, stream, Dim::Packet, axes)
}

/// Bytes of a stream's flits up to the aligner.
#[must_use]
pub fn flit_bytes(stream: &Tensor, machine: &Machine) -> u64 {
    machine.flit_bytes(stream.unit.unwrap_or(Unit::Main))
}

/// Checks that a memory can hold the stream's format: i5 and i9 have a sideband bit (book 19).
///
/// # Errors
/// If it cannot.
pub fn check_stored(op: OpRef<'_>, stream: &Tensor, constraint: &str) -> Result<(), Diagnostic> {
    let dtype = stream.dtype;
    if dtype.is_stored() {
        return Ok(());
    }
    let message =
        format!("`{dtype}` has a sideband bit, which only streams and the tensor register file hold");
    Err(op
        .error(constraint, message)
        .fix(Some("convert at the fetch to a format that is stored: `dtype i32`".to_owned())))
}

/// The compute engines belong to the main context (book 12).
///
/// # Errors
/// If the stream flows in the sub context.
pub fn main_only(op: OpRef<'_>, constraint: &str) -> Result<(), Diagnostic> {
    match input(op)?.unit {
        Some(Unit::Sub) => Err(op
            .error(constraint, format!("`{}` in the sub context: the compute engines belong to main", op))
            .fix(Some("begin the pipeline with `stream.begin main`".to_owned()))),
        Some(Unit::Main | Unit::Dual) | None => Ok(()),
    }
}

/// Checks that the slices of an operation that knows which they are begin with the first one.
///
/// # Errors
/// `constraint`: they begin elsewhere, with a tile.
pub fn check_first_slices(op: OpRef<'_>, cx: &VerifyCx<'_>, constraint: &str) -> Result<(), Diagnostic> {
    let frames = cx.analysis::<Frames>();
    let begins = op.operands().first().map(|&stream| frames.of(stream).iter());
    let elsewhere = begins.and_then(|mut cases| cases.find(|case| !case.what.is_first()));
    let Some(Case { what: frame, .. }) = elsewhere else { return Ok(()) };
    let message = format!("the stream begins on {frame}, and the result here depends on the slice numbers");
    let fix = "move the tile to slices from the first on before, with `tm.to_dm`".to_owned();
    Err(op.error(constraint, message).fix(fix))
}
