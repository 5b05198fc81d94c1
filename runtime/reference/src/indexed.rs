//! Rows of a table that an index chooses: the semantics of gathers and scatters.

use std::collections::BTreeMap;

use visa_algebra::{Axes, AxisId, Cell, Index, Map};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::OpRef;
use visa_ir::span::Span;
use visa_machine::{IndexUnit, Medium};
use visa_mapping::ops::indexed::along;
use visa_mapping::{Dim, Tensor, operand};
use visa_numerics::Bits;

use crate::coverage::Coverage;
use crate::evaluate::Run;
use crate::layout::offset;
use crate::tensor::{Axis, Logical, saturated, union_axes};

impl Run<'_> {
    /// Operand 0, at the coordinate along an axis that operand 1 has.
    pub(crate) fn gathered(&self, op: OpRef<'_>, to: &Tensor) -> Result<Logical, Diagnostic> {
        let (span, along) = (op.span(), along(op, self.axes)?);
        let table = self.tensor_of(op.operands()[0], span)?;
        let index = self.held(op, 1, to)?;
        let choice = Choice::of(op, 0, along, self.axes)?;
        let rows = choice.rows(&index)?;
        let axes = union_axes(index.axes.clone(), table);
        let axes: Vec<Axis> = axes.into_iter().filter(|axis| axis.id != along).collect();
        let strides = |tensor: &Logical| tensor.strides(axes.iter().map(|axis| axis.id));
        let (indices, others) = (strides(&index), strides(table));
        let far = table.stride(along);
        let held = |row: usize| table.axis(along).is_none_or(|axis| axis.held.get(row) == Some(&true));
        let gathered = Logical::where_defined(table.dtype, axes.clone(), span, |at| {
            let row = rows[offset(&indices, at)].filter(|&row| held(row))?;
            let place = offset(&others, at) + far.offset(row);
            table.element(place)
        })?;
        gathered.narrow(&Coverage::new(to, self.axes, span)?, span)
    }

    /// Operand 2, with operand 0 at the coordinates along an axis that operand 1 has. An element that several indices
    /// name is undefined: the last one is unknown.
    pub(crate) fn scattered(&self, op: OpRef<'_>, to: &Tensor) -> Result<Logical, Diagnostic> {
        let (span, along) = (op.span(), along(op, self.axes)?);
        let [rows, index, old] = *op.operands() else { return Err(op.error("C0", "it lacks an operand")) };
        let rows = self.tensor_of(rows, span)?;
        let (index, old) = (self.tensor_of(index, span)?, self.tensor_of(old, span)?);
        let choice = Choice::of(op, 2, along, self.axes)?;
        let whole = Coverage::new(to, self.axes, span)?;
        let axes: Vec<Axis> =
            whole.axes().map(|id| Axis { id, held: whole.held(id, saturated(self.axes.size(id))) }).collect();
        let named = Named::new(&choice.rows(index)?, index, &axes, along);
        let ids = || axes.iter().map(|axis| axis.id);
        let (olds, news) = (old.strides(ids()), rows.strides(ids()));
        let of_index = rows.strides(index.axes.iter().map(|axis| axis.id).filter(|&id| !whole.mentions(id)));
        let scattered = Logical::where_defined(rows.dtype, axes.clone(), span, |at| match named.by(at) {
            None => {
                if !holds(old, &axes, at) {
                    return None;
                }
                old.element(offset(&olds, at))
            }
            Some(By::One(others)) => {
                if !holds(rows, &axes, at) {
                    return None;
                }
                rows.element(offset(&news, at) + offset(&of_index, others))
            }
            Some(By::Several) => None,
        })?;
        scattered.narrow(&whole, span)
    }
}

/// Returns true if a tensor holds the coordinates of its axes.
fn holds(tensor: &Logical, axes: &[Axis], at: &[usize]) -> bool {
    axes.iter().zip(at).all(|(axis, &coordinate)| {
        tensor.axis(axis.id).is_none_or(|own| own.held.get(coordinate) == Some(&true))
    })
}

/// Choice of a table's rows by the values of an index.
struct Choice<'a> {
    axes: &'a Axes,
    span: Span,
    /// The rows that the table holds.
    held: Vec<bool>,
    /// The unit of an index from row to row: their distance in bytes, or 1.
    unit: i64,
    /// True if it counts bytes.
    in_bytes: bool,
}

impl<'a> Choice<'a> {
    /// That of an operation whose operand `table` is the table.
    fn of(op: OpRef<'_>, table: usize, along: AxisId, axes: &'a Axes) -> Result<Self, Diagnostic> {
        let lacking = || op.error("C0", "an operand is no tensor");
        let table = operand(op, table).ok_or_else(lacking)?;
        let index = operand(op, 1).ok_or_else(lacking)?;
        let held = Coverage::new(&table, axes, op.span())?.held(along, saturated(axes.size(along)));
        let rows = |medium: Medium| medium.decl().indices == Some(IndexUnit::Row);
        let in_bytes = !index.medium().is_some_and(rows);
        let unit = if in_bytes { distance(op, &table, along, axes)? } else { 1 };
        Ok(Self { axes, span: op.span(), held, unit, in_bytes })
    }

    /// The row that each element of the index chooses; none where it is not held or undefined.
    fn rows(&self, index: &Logical) -> Result<Vec<Option<usize>>, Diagnostic> {
        let mut at = Vec::new();
        let row = |(flat, &bits): (usize, &Bits)| {
            if !index.locate(flat, &mut at) || !index.is_defined(flat) {
                return Ok(None);
            }
            let value = i64::from(bits.cast_signed());
            self.row(value).map(Some).ok_or_else(|| self.outside(value, index, &at))
        };
        index.elements().iter().enumerate().map(row).collect()
    }

    fn row(&self, value: i64) -> Option<usize> {
        let row = usize::try_from(value / self.unit).ok()?;
        (value >= 0 && value % self.unit == 0 && self.held.get(row) == Some(&true)).then_some(row)
    }

    fn outside(&self, value: i64, index: &Logical, at: &[usize]) -> Diagnostic {
        let names = index.axes.iter().map(|axis| self.axes.name(axis.id));
        let place: Vec<String> = names.zip(at).map(|(name, at)| format!("{name} = {at}")).collect();
        let place = if place.is_empty() { String::new() } else { format!(" at {}", place.join(", ")) };
        let last = self.held.iter().rposition(|&held| held).map(|last| last as i64);
        let expected = match (last, self.in_bytes) {
            (Some(last), true) => format!(
                "where a row starts: a multiple of {} from 0 to {}",
                counted(self.unit, "byte"),
                last.saturating_mul(self.unit)
            ),
            (Some(last), false) => format!("the number of a row: 0 to {last}"),
            (None, true | false) => "a row, of which the table has none".to_owned(),
        };
        let message = format!("the index{place} is {value}, expected {expected}");
        Diagnostic::error("index-outside", self.span, message)
    }
}

/// Distance of the rows of a table in bytes: the start of the second one in its mapping. The distance of a single row
/// is one element: it starts at 0.
fn distance(op: OpRef<'_>, table: &Tensor, along: AxisId, axes: &Axes) -> Result<i64, Diagnostic> {
    let refuse = |why: String| op.error("C3", why);
    let element = table.dim(Dim::Element);
    let map = Map::new(&element, axes).map_err(|error| refuse(error.message))?;
    let live = |at: u64| match map.cell(at) {
        Some(Cell::Live(index)) => Some((at, index)),
        Some(Cell::Shared(_) | Cell::Pad(_)) | None => None,
    };
    let mut cells = (0..map.size()).filter_map(live);
    let first = cells.next();
    let next = |index: &Index| {
        let mut next = index.clone();
        next.add(along, 1);
        next
    };
    let second = first.as_ref().map(|(_, index)| next(index));
    let second = cells.find(|(_, index)| second.as_ref() == Some(index));
    let positions = first.zip(second).map_or(1, |((first, _), (second, _))| second - first);
    let bytes = table.bytes(positions).and_then(|bytes| i64::try_from(bytes).ok());
    bytes.filter(|&bytes| bytes > 0).ok_or_else(|| refuse("rows are no whole bytes apart".to_owned()))
}

/// The selector of a table's row.
enum By<'a> {
    /// One index, with its coordinates along the axes that the table lacks.
    One(&'a [usize]),
    /// Several of them.
    Several,
}

/// The index that names each row, at the coordinates that index and table have in common.
struct Named {
    /// The axes of the table that select it.
    keys: Vec<usize>,
    rows: BTreeMap<Vec<usize>, Option<Vec<usize>>>,
}

impl Named {
    fn new(chosen: &[Option<usize>], index: &Logical, table: &[Axis], along: AxisId) -> Self {
        let of_index = |id: AxisId| index.axes.iter().position(|axis| axis.id == id);
        let is_key = |axis: &Axis| axis.id == along || of_index(axis.id).is_some();
        let keys: Vec<usize> = (0..table.len()).filter(|&at| is_key(&table[at])).collect();
        let others =
            (0..index.axes.len()).filter(|&at| table.iter().all(|axis| axis.id != index.axes[at].id));
        let others: Vec<usize> = others.collect();
        let (mut rows, mut at) = (BTreeMap::new(), Vec::new());
        for (flat, row) in chosen.iter().enumerate() {
            let Some(row) = *row else { continue };
            index.locate(flat, &mut at);
            let coordinate = |&key: &usize| of_index(table[key].id).map_or(row, |place| at[place]);
            let key: Vec<usize> = keys.iter().map(coordinate).collect();
            let by = Some(others.iter().map(|&other| at[other]).collect());
            rows.entry(key).and_modify(|by| *by = None).or_insert(by);
        }
        Self { keys, rows }
    }

    fn by(&self, at: &[usize]) -> Option<By<'_>> {
        let key: Vec<usize> = self.keys.iter().map(|&key| at[key]).collect();
        self.rows.get(&key).map(|by| by.as_deref().map_or(By::Several, By::One))
    }
}
