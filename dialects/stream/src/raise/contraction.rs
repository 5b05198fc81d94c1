//! The semantics of the contraction engine: products, their sums in a packet, and over time.
//!
//! The three operations are one `tm.contract`. The first two are deferred; the third works out which axes are summed,
//! and in which order: the order of time, in each step a packet's group as a tree.

use crate::chain::coarse_in_places;
use crate::plan::tree_depth;
use crate::raise::by_axes;
use crate::raise::{result, spread};
use std::collections::BTreeMap;
use std::rc::Rc;
use visa_algebra::{Axes, AxisId, Cell, Expr, Index, Map, without_zeros};
use visa_engine::words::ContractionKind;
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::OpRef;
use visa_ir::span::Span;
use visa_mapping::coverage::{Coverage, Starts, complement, coordinates};
use visa_mapping::error::mapping_error;
use visa_mapping::facts::digits_of;
use visa_mapping::ops::contract;
use visa_mapping::raise::order::order_expr;
use visa_mapping::raise::sets::Set;
use visa_mapping::raise::{Known, Raising, both};
use visa_mapping::{Dim, Tensor, operand};

/// Most positions of a mapping that are gone through.
const MAX_POSITIONS: u64 = 1 << 28;

/// Two tensors that are multiplied, and the type of the computation.
struct Products {
    left: Known,
    right: Known,
    tensor: Rc<Tensor>,
}

/// Products that are summed within each packet.
struct Sums {
    products: Rc<Products>,
    /// The type of the sums.
    tensor: Rc<Tensor>,
    kind: ContractionKind,
}

/// Two tensors, paired.
pub fn align(cx: &mut Raising<'_>, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let tensor = result(op)?;
    let (left, right) = (factor(cx, op, 0, &tensor)?, factor(cx, op, 1, &tensor)?);
    cx.defer(op, Rc::new(Products { left, right, tensor }));
    Ok(())
}

/// An operand of a product. Both its type and that of the product hold its elements.
fn factor(cx: &mut Raising<'_>, op: OpRef<'_>, index: usize, to: &Tensor) -> Result<Known, Diagnostic> {
    let own = operand(op, index).ok_or_else(|| op.error("C0", format!("operand {index} is no tensor")))?;
    let mut known = cx.held(op, index, to)?;
    if !own.kind.stream {
        // The values that a file holds for a place alone are those of everything that the place computes.
        let blocks = coarse_in_places(&own, cx.axes);
        known = spread(cx, op, known, blocks, to)?;
    }
    let (own, product) = (Coverage::new(&own, cx.axes, op.span())?, Coverage::new(to, cx.axes, op.span())?);
    for (&axis, set) in known.held.iter_mut().filter(|(axis, _)| own.mentions(**axis)) {
        // What the file has for a block alone is there for all of it.
        let both = own.held(axis, set.len()).into_iter().zip(product.held(axis, set.len()));
        let marks = both.zip(set.marks()).map(|((own, product), &known)| known || own && product);
        *set = Set::of(&marks.collect::<Vec<_>>());
    }
    Ok(known)
}

/// The sums of each packet.
pub fn sum_packet(cx: &mut Raising<'_>, op: OpRef<'_>, kind: ContractionKind) -> Result<(), Diagnostic> {
    let products = cx.deferred::<Products>(op, 0);
    let products = products.ok_or_else(|| op.error("C0", "the operand is no pair of tensors"))?;
    cx.defer(op, Rc::new(Sums { products, tensor: result(op)?, kind }));
    Ok(())
}

/// The sums over time: the whole contraction.
pub fn sum_time(cx: &mut Raising<'_>, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let sums = cx.deferred::<Sums>(op, 0).ok_or_else(|| op.error("C0", "the operand is no partial sums"))?;
    let to = result(op)?;
    let dtype = sums.products.left.dtype;
    if dtype.accumulator().is_none() {
        let message = format!("{dtype} cannot enter a contraction");
        return Err(Diagnostic::error("contraction", op.span(), message));
    }
    if cx.open_types().is_some() {
        let Products { left, right, .. } = &*sums.products;
        let known = by_axes::contraction(cx, op, [left, right], sums.kind)?;
        let known = cx.narrow(op, known, &Coverage::new(&to, cx.axes, op.span())?)?;
        return cx.bind(op, known);
    }
    let contraction = Contraction { sums: &sums, result: &to, axes: cx.axes, span: op.span() };
    let parts = contraction.parts()?;
    let steps = contraction.steps(&parts)?;
    let (members, width) = contraction.members()?;
    let order = joint(&steps, &members, &parts);
    let over = order_expr(&order, cx.axes);
    let summed: Vec<AxisId> = moved(&order, &parts);
    let mentioned = over.axis_names(cx.axes).into_iter().filter_map(|name| cx.axes.id(&name));
    let mentioned: Vec<AxisId> = mentioned.collect();
    let kept = Coverage::new(&to, cx.axes, op.span())?;
    let keep: Vec<Expr> = parts
        .iter()
        .filter(|part| mentioned.contains(&part.id) && kept.mentions(part.id) && summed.contains(&part.id))
        .map(|part| Set::of(&part.kept).expr(part.id, cx.axes))
        .collect();
    let keep = if keep.is_empty() { None } else { Some(Expr::pair(keep)) };
    let Products { left, right, .. } = &*sums.products;
    let left = cx.broadcast(op, left.clone(), mentioned.iter().copied())?;
    let right = cx.broadcast(op, right.clone(), mentioned.iter().copied())?;
    let mut held = both(&left, &right);
    for part in &parts {
        if let Some(set) = held.get_mut(&part.id) {
            *set = set_of(part, set.len());
        }
    }
    let built = contract::Contract::build(op, [left.value, right.value]).over(over).keep(keep);
    let built = built.tree_unless_default(width.cast_signed());
    let built = if sums.kind == ContractionKind::Max { built.kind(ContractionKind::Max) } else { built };
    let known = cx.emit(built.spec(), held)?;
    let known = cx.narrow(op, known, &kept)?;
    cx.bind(op, known)
}

fn set_of(part: &Part, len: usize) -> Set {
    let mut marks = part.kept.clone();
    marks.resize(len, false);
    Set::of(&marks)
}

/// The axes along which positions differ, and the axes that the result lacks.
fn moved(order: &[Option<Index>], parts: &[Part]) -> Vec<AxisId> {
    let moves = |part: &&Part| order.iter().flatten().any(|index| index.get(part.id) > 0);
    parts.iter().filter(moves).map(|part| part.id).collect()
}

/// The positions of a sum: in each step the members of a group. One past the end of an axis is padding.
fn joint(steps: &[Index], members: &[Option<Index>], parts: &[Part]) -> Vec<Option<Index>> {
    let position = |step: &Index, member: &Option<Index>| {
        let mut index = step.clone();
        index.add_index(member.as_ref()?);
        let inside = |part: &Part| usize::try_from(index.get(part.id)).is_ok_and(|at| at < part.end);
        parts.iter().all(inside).then_some(index)
    };
    steps.iter().flat_map(|step| members.iter().map(move |member| position(step, member))).collect()
}

/// A pair that is summed within each packet, and over time to `result`; or of which the greatest products are taken.
struct Contraction<'a> {
    sums: &'a Sums,
    result: &'a Tensor,
    axes: &'a Axes,
    span: Span,
}

/// Division of the coordinates along one axis of the computation.
struct Part {
    id: AxisId,
    /// Those of the result.
    kept: Vec<bool>,
    /// Those that are summed.
    summed: Vec<bool>,
    /// Where the axis ends for at least one operand: a product there is padding.
    end: usize,
}

impl Contraction<'_> {
    fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error("contraction", self.span, message)
    }

    fn computed(&self) -> &Tensor {
        &self.sums.products.tensor
    }

    fn coverage(&self, tensor: &Tensor, dims: &[Dim]) -> Result<Coverage, Diagnostic> {
        Coverage::of(tensor, dims, self.axes, self.span)
    }

    fn starts(&self, tensor: &Tensor, dims: &[Dim]) -> Result<Starts, Diagnostic> {
        Starts::of(tensor, dims, self.axes, self.span)
    }

    /// Each axis of the computation.
    fn parts(&self) -> Result<Vec<Part>, Diagnostic> {
        let computed = self.coverage(self.computed(), self.computed().kind.dims)?;
        let kept = self.coverage(self.result, self.result.kind.dims)?;
        let group = self.coverage(&self.sums.tensor, &[Dim::Packet])?;
        let part = |id| {
            let size = Set::all(self.axes, id, self.span)?.len();
            let named = |why| self.error(format!("axis `{}`: {why}", self.axes.name(id)));
            self.part(id, &computed.held(id, size), kept.held(id, size), &group.held(id, size)).map_err(named)
        };
        computed.axes().map(part).collect()
    }

    fn part(&self, id: AxisId, computed: &[bool], kept: Vec<bool>, group: &[bool]) -> Result<Part, String> {
        let mut end = kept.len();
        let Products { left, right, .. } = &*self.sums.products;
        for set in [left, right].iter().filter_map(|operand| operand.held.get(&id)) {
            let missing = |&at: &usize| !set.has(at);
            if let Some(missing) = coordinates(computed).into_iter().find(missing) {
                return Err(format!("a product is taken at {missing}, where an operand holds no element"));
            }
            end = end.min(set.marks().iter().rposition(|&held| held).map_or(0, |last| last + 1));
        }
        let no_part = |what: &str| format!("the coordinates of {what} are not among the computed ones");
        let summed = complement(computed, &kept).ok_or_else(|| no_part("the result"))?;
        complement(&kept, group).ok_or_else(|| no_part("a packet's sums"))?;
        Ok(Part { id, kept, summed, end })
    }

    /// The summed packets, in time order: the contribution of each to the index.
    ///
    /// Along an axis that is sliced (`K @ 16`) coordinates count from an offset, which place and packet contribute
    /// where the result or the packet's sums keep it; a step contributes the rest.
    fn steps(&self, parts: &[Part]) -> Result<Vec<Index>, Diagnostic> {
        let time = self.computed().dim(Dim::Time);
        let starts = self.starts(self.computed(), &[Dim::Time])?;
        let packet = self.starts(self.computed(), &[Dim::Packet])?;
        let group = self.starts(&self.sums.tensor, &[Dim::Packet])?;
        let contribution = |index: &Index| -> Option<Index> {
            let along = |part: &Part| {
                let least = part.summed.iter().position(|&summed| summed)? as u64;
                let sum = index.get(part.id).checked_sub(starts.along(part.id))? + least;
                let summed = usize::try_from(sum).ok().and_then(|at| part.summed.get(at).copied());
                let within = packet.along(part.id).checked_sub(group.along(part.id))?;
                Some((part.id, sum.checked_sub(within).filter(|_| summed == Some(true))?))
            };
            parts.iter().map(along).collect()
        };
        let cells = self.cells(&time)?;
        let indices = cells.into_iter().zip(0..).filter_map(|(cell, at)| Some((live(cell)?, at)));
        let indices = indices.filter_map(|(index, at)| Some((contribution(&index)?, at)));
        Ok(match self.keeps_copies(&time)? {
            false => indices.map(|(index, _)| index).collect(),
            true => {
                let digits = digits_of(&time, self.axes, self.span)?;
                let first = |at: u64| {
                    let mut rest = at;
                    digits.iter().all(|digit| {
                        let number = rest % digit.extent;
                        rest /= digit.extent;
                        digit.axis.is_some() || number == 0
                    })
                };
                indices.filter(|&(_, at)| first(at)).map(|(index, _)| index).collect()
            }
        })
    }

    /// Returns true if the result has the repetitions of time. Steps of a broadcast have the same index, so only their
    /// number tells that they are kept, and not summed.
    fn keeps_copies(&self, time: &Expr) -> Result<bool, Diagnostic> {
        let before = self.starts(&self.sums.tensor, &[Dim::Row, Dim::Time, Dim::Packet])?.copies();
        let after = self.starts(self.result, &[Dim::Time, Dim::Packet])?.copies();
        if before == after || after == 1 {
            return Ok(before > 1 && before == after);
        }
        Err(self.error(format!(
            "with time `{time}` each index is computed {}, and the result holds it {}: part of a broadcast cannot \
             be summed",
            counted(before, "time"),
            counted(after, "time"),
        )))
    }

    /// The elements that each sum of a packet adds, counted from the index of the sum, and their number. `None` is
    /// padding.
    fn members(&self) -> Result<(Vec<Option<Index>>, u64), Diagnostic> {
        let (packet, sums) = (self.computed().dim(Dim::Packet), self.sums.tensor.dim(Dim::Packet));
        let dtype = self.sums.products.left.dtype;
        let deepest =
            dtype.tree_depth().ok_or_else(|| self.error(format!("the Reducer does not multiply {dtype}")))?;
        let depth = tree_depth(&packet, &sums, deepest, self.axes).map_err(|why| self.error(why))?;
        let all: Vec<Option<Index>> = self.cells(&packet)?.into_iter().map(live).collect();
        let groups = self.cells(&sums)?.into_iter().zip(all.chunks(1 << depth));
        let mut common: Option<Vec<Option<Index>>> = None;
        for (sum, members) in groups.filter_map(|(sum, members)| Some((live(sum)?, members))) {
            let members: Vec<Option<Index>> =
                members.iter().map(|member| member.as_ref().and_then(|member| from(member, &sum))).collect();
            match &common {
                None => common = Some(members),
                Some(common) if *common == members => {}
                Some(_) => {
                    let message = format!("the sums `{sums}` of packet `{packet}` add different elements");
                    return Err(self.error(message));
                }
            }
        }
        let common = common.ok_or_else(|| self.error(format!("packet `{sums}` holds no sum")))?;
        Ok((common, 1 << depth))
    }

    /// All cells of a mapping.
    fn cells(&self, map: &Expr) -> Result<Vec<Cell>, Diagnostic> {
        let prepared = Map::new(map, self.axes).map_err(|error| mapping_error(error, self.span))?;
        let size = prepared.size();
        if size > MAX_POSITIONS {
            let message =
                format!("`{map}` has {}, at most {MAX_POSITIONS} are evaluated", counted(size, "position"));
            return Err(self.error(message));
        }
        Ok((0..size).filter_map(|position| prepared.cell(position)).collect())
    }
}

/// An index counted from another; `None` if it is before that.
fn from(index: &Index, first: &Index) -> Option<Index> {
    let mut rest = Index::new();
    for (axis, coordinate) in index.iter() {
        rest.add(axis, coordinate.checked_sub(first.get(axis))?);
    }
    first.iter().all(|(axis, coordinate)| index.get(axis) >= coordinate).then_some(rest)
}

/// The index of a cell.
pub(super) fn live(cell: Cell) -> Option<Index> {
    match cell {
        Cell::Live(index) => Some(index),
        Cell::Shared(_) | Cell::Pad(_) => None,
    }
}

/// All cells of a mapping, zeros as other padding.
pub(super) fn cells_without_zeros(map: &Expr, axes: &Axes, span: Span) -> Result<Vec<Cell>, Diagnostic> {
    let wrong = |error| mapping_error(error, span);
    let prepared = Map::new(&without_zeros(map, axes).map_err(wrong)?, axes).map_err(wrong)?;
    let size = prepared.size();
    if size > MAX_POSITIONS {
        let message =
            format!("`{map}` has {}, at most {MAX_POSITIONS} are evaluated", counted(size, "position"));
        return Err(Diagnostic::error("reduction", span, message));
    }
    Ok((0..size).filter_map(|position| prepared.cell(position)).collect())
}

/// Coordinates along axes, of no interest to a map that has none.
pub(super) type Held = BTreeMap<AxisId, Set>;
