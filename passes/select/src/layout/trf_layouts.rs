//! The layouts of a tensor register file that a contraction can read.

use crate::config::computation::{Computation, Computations};
use crate::config::constraints::names;
use crate::layout::digit_lists::{mapping, orders};
use crate::layout::padded::whole_flits;
use crate::rules::engines::{sliding, switch};
use std::collections::BTreeSet;
use std::rc::Rc;
use visa_algebra::{Axes, AxisId, Digit, Expr, PadKind, digits};
use visa_ir::module::OpRef;
use visa_ir::open::is_open;
use visa_ir::verify::VerifyCx;
use visa_mapping::facts::{DeclaredAxes, machine, written};
use visa_mapping::ops::transfer::free_axes;
use visa_mapping::{Dim, Tensor};
use visa_numerics::DType;
use visa_stream::ops::cast::Cast;
use visa_stream::ops::fetch::Fetch;
use visa_stream::ops::store::TO_TRF;
use visa_stream::ops::switch::DECL as SWITCH_DECL;

/// Returns true if an operation loads a register file whose layout is open.
pub(crate) fn is_open_load(op: OpRef<'_>) -> bool {
    op.is(&TO_TRF) && (is_open(op, "row") || is_open(op, "element"))
}

/// Returns true if a clause is open or has this value.
pub(crate) fn agrees(op: OpRef<'_>, name: &str, value: &Expr) -> bool {
    is_open(op, name) || written(op, name).is_some_and(|written| *written == *value)
}

/// Most digits whose every order is tried.
const MOST_ORDERED: usize = 3;

/// Layouts of the tensor that the pipeline `loader` loads and that the contraction of the pipeline `reader` can read,
/// those with the most rows first: in rows the inner or outer part of an axis that the stream lacks, in each row the
/// rest.
pub(crate) fn layouts(
    loader: &[OpRef<'_>],
    reader: &[OpRef<'_>],
    computations: &Computations,
    cx: &VerifyCx<'_>,
) -> Vec<(Expr, Expr)> {
    let (Some(source), Some(&first)) = (source(loader), loader.first()) else { return Vec::new() };
    let (axes, machine) = (&cx.analysis::<DeclaredAxes>().0, &*machine(first));
    let converted = loader.iter().rev().find_map(|op| format(*op));
    let dtype = converted.map_or(source.dtype, |dtype| *dtype);
    let Ok(held) = digits(&source.dim(Dim::Packet), axes) else { return Vec::new() };
    let held = held.iter().rev().filter(|digit| digit.axis.is_some() && digit.live > 1);
    let held = held.map(|digit| Digit { extent: digit.live, ..*digit });
    let held: Vec<Digit> = switched(loader, cx).into_iter().chain(held).collect();
    let partner = Partner::of(reader, computations, cx);
    let counts = machine.limits.row_counts.iter().rev();
    let rows: Vec<_> = counts.flat_map(|&rows| row_choices(&held, rows, &partner)).collect();
    // Elements that no row has room for need not be tried. Rows that take the room of others compute less, so they
    // come in only where nothing else fits.
    let room = |rows: u64| machine.trf_row_bytes(rows);
    let fits = |row: &Expr, element: &Expr| {
        let bytes = element.size(axes).ok().and_then(|elements| dtype.bytes(elements));
        let rows = row.size(axes).ok();
        bytes.zip(rows).filter(|&(bytes, rows)| bytes <= room(rows)).map(|(bytes, _)| bytes)
    };
    let (mut found, mut larger) = (Vec::new(), Vec::new());
    for (row, rest) in &rows {
        let Some(row) = mapping(row.iter(), axes) else { continue };
        let parts =
            [in_order, apart, shared_inside, by_sums].into_iter().flat_map(|ways| ways(rest, &partner, axes));
        let elements = parts.flat_map(|parts| whole_flits(parts, dtype, machine, axes));
        for element in elements {
            let Some(bytes) = fits(&row, &element) else { continue };
            let all = if bytes <= machine.memory.trf_bytes_per_row { &mut found } else { &mut larger };
            let layout = (row.clone(), element);
            if !all.contains(&layout) {
                all.push(layout);
            }
        }
    }
    if found.is_empty() { larger } else { found }
}

/// The format that a fetch or a cast converts to.
fn format(op: OpRef<'_>) -> Option<Rc<DType>> {
    let fetched = Fetch::cast(op).and_then(|fetch| fetch.dtype().ok()?);
    fetched.or_else(|| Cast::cast(op).and_then(|cast| cast.dtype().ok()))
}

/// The stream that a pipeline begins with.
fn source(pipeline: &[OpRef<'_>]) -> Option<Rc<Tensor>> {
    pipeline.first().and_then(|begin| begin.result_type(0)).filter(|source: &Rc<Tensor>| source.kind.stream)
}

/// The axes that the switch of a pipeline brings from slices into the stream, if the slices' content is explicit.
fn switched(pipeline: &[OpRef<'_>], cx: &VerifyCx<'_>) -> Vec<Digit> {
    let switches = pipeline.iter().filter(|op| op.is(&SWITCH_DECL));
    let slice = switches.filter_map(|op| written(*op, "slice")).next();
    let (Some(source), Some(slice)) = (source(pipeline), slice) else {
        return Vec::new();
    };
    let axes = &cx.analysis::<DeclaredAxes>().0;
    let free = free_axes(pipeline[0], cx, 0);
    let slices = digits(&source.dim(Dim::Slice), axes).ok().zip(digits(&slice, axes).ok());
    slices.map(|(held, kept)| switch::leaving(&held, &kept, &free)).unwrap_or_default()
}

/// The stream that meets a register file.
struct Partner {
    computation: Computation,
    /// The axes of the stream.
    streamed: BTreeSet<AxisId>,
    /// Distances of the elements of its windows.
    strides: BTreeSet<u64>,
}

impl Partner {
    fn of(reader: &[OpRef<'_>], computations: &Computations, cx: &VerifyCx<'_>) -> Self {
        let axes = &cx.analysis::<DeclaredAxes>().0;
        let stream = source(reader).map(|tensor| tensor.dim(Dim::Packet));
        let held = stream.iter().flat_map(|stream| names(stream, axes));
        let brought = switched(reader, cx).into_iter().filter_map(|digit| digit.axis);
        Self {
            computation: computations.of(reader, axes),
            streamed: held.chain(brought).collect(),
            strides: stream.iter().flat_map(sliding::strides).filter(|&stride| stride > 1).collect(),
        }
    }

    fn sums(&self, digit: &Digit) -> bool {
        digit.axis.is_some_and(|axis| self.computation.contracted.contains(&axis))
    }

    fn streams(&self, digit: &Digit) -> bool {
        digit.axis.is_some_and(|axis| self.streamed.contains(&axis))
    }
}

/// An outer part of a row, and an inner one: it is filled up where the row has no whole flits.
type Parts = (Expr, Expr);

fn parts((outer, inner): (&[Digit], &[Digit]), axes: &Axes) -> Option<Parts> {
    mapping(outer, axes).zip(mapping(inner, axes))
}

/// The order of the tensor: the loaded elements are contiguous (book 18).
fn in_order(rest: &[Digit], partner: &Partner, axes: &Axes) -> Vec<Parts> {
    let shared = rest.iter().rev().take_while(|digit| partner.streams(digit)).count();
    let mut cuts = vec![rest.len() - shared, rest.len().saturating_sub(1)];
    cuts.dedup();
    cuts.into_iter().filter_map(|cut| parts(rest.split_at(cut), axes)).collect()
}

/// The kept digits in any order, and innermost, where packets are contiguous, the summed ones in any order.
fn by_sums(rest: &[Digit], partner: &Partner, axes: &Axes) -> Vec<Parts> {
    let (summed, kept): (Vec<Digit>, Vec<Digit>) =
        rest.iter().copied().partition(|digit| partner.sums(digit));
    let inner = orders(&summed, MOST_ORDERED);
    let all = orders(&kept, MOST_ORDERED).into_iter();
    let all = all.flat_map(|outer| inner.iter().map(move |inner| (outer.clone(), inner)));
    all.filter_map(|(outer, inner)| parts((&outer, inner), axes)).collect()
}

/// The digits with any one innermost that the stream also has.
fn with_shared_inside(rest: &[Digit], partner: &Partner) -> Vec<Vec<Digit>> {
    let shared = rest.iter().filter(|digit| partner.streams(digit));
    let others = |own: &Digit| rest.iter().filter(|digit| *digit != own).copied().collect::<Vec<_>>();
    shared.map(|own| [&others(own)[..], &[*own]].concat()).collect()
}

/// Innermost any one axis that the stream also has: its packets may hold it, summed or not.
fn shared_inside(rest: &[Digit], partner: &Partner, axes: &Axes) -> Vec<Parts> {
    let all = with_shared_inside(rest, partner);
    all.iter().filter_map(|order| parts(order.split_at(order.len() - 1), axes)).collect()
}

/// Zeros after each element, for the gaps between the elements of a window (book 15). A load may only be able to fetch
/// the zeros after one of the axes.
fn apart(rest: &[Digit], partner: &Partner, axes: &Axes) -> Vec<Parts> {
    let all = with_shared_inside(rest, partner);
    let gaps = partner.strides.iter().map(|&stride| Expr::Literal(1).pad(stride, PadKind::Zero));
    let both = gaps.flat_map(|gap| all.iter().map(move |order| (mapping(order, axes), gap.clone())));
    both.filter_map(|(order, gap)| order.map(|order| (order, gap))).collect()
}

/// Ways to put `rows` positions of one digit that the stream lacks into rows, with the rest.
fn row_choices(held: &[Digit], rows: u64, partner: &Partner) -> Vec<(Option<Digit>, Vec<Digit>)> {
    if rows == 1 {
        return vec![(None, held.to_vec())];
    }
    let may =
        |digit: &Digit| digit.live.is_multiple_of(rows) && !partner.sums(digit) && !partner.streams(digit);
    let mut choices = Vec::new();
    for (at, digit) in held.iter().enumerate().filter(|(_, digit)| may(digit)) {
        let left = digit.live / rows;
        let parts = [
            (
                Digit { extent: rows, live: rows, ..*digit },
                Digit { stride: digit.stride * rows, extent: left, live: left, ..*digit },
            ),
            (
                Digit { stride: digit.stride * left, extent: rows, live: rows, ..*digit },
                Digit { extent: left, live: left, ..*digit },
            ),
        ];
        for (row, rest) in parts {
            let mut others = held.to_vec();
            others[at] = rest;
            others.retain(|digit| digit.extent > 1);
            choices.push((Some(row), others));
        }
    }
    choices
}
