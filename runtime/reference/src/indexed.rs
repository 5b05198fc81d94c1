//! Rows of a table that an index chooses: the semantics of gathers and scatters.

use std::collections::BTreeMap;

use visa_algebra::{Axes, AxisId};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::span::Span;
use visa_numerics::Bits;

use crate::layout::offset;
use crate::tensor::{Axis, Logical, saturated, union_axes};

/// The choice of rows along an axis by an index that counts `unit` for each.
pub(crate) struct Rows<'a> {
    pub(crate) along: AxisId,
    pub(crate) unit: i64,
    pub(crate) axes: &'a Axes,
    pub(crate) span: Span,
}

/// The rows of a table that an index chooses.
pub(crate) fn chosen_rows(table: &Logical, index: &Logical, rows: &Rows<'_>) -> Result<Logical, Diagnostic> {
    let along = rows.along;
    let chosen = rows.of(index, table)?;
    let axes = union_axes(index.axes.clone(), table);
    let axes: Vec<Axis> = axes.into_iter().filter(|axis| axis.id != along).collect();
    let strides = |tensor: &Logical| tensor.strides(axes.iter().map(|axis| axis.id));
    let (indices, others) = (strides(index), strides(table));
    let far = table.stride(along);
    Logical::where_defined(table.dtype, axes.clone(), rows.span, |at| {
        let row = chosen[offset(&indices, at)]?;
        table.element(offset(&others, at) + far.offset(row))
    })
}

/// A table with the rows that an index chooses replaced by others. An element that several indices choose is
/// undefined: the last one is unknown.
pub(crate) fn scattered_rows(
    rows: &Logical,
    index: &Logical,
    table: &Logical,
    chosen: &Rows<'_>,
) -> Result<Logical, Diagnostic> {
    let mut axes = table.axes.clone();
    let further = |axis: &&Axis| index.axis(axis.id).is_none() && table.axis(axis.id).is_none();
    axes.extend(rows.axes.iter().filter(further).cloned());
    let named = Named::new(&chosen.of(index, table)?, index, &axes, chosen.along);
    let ids = || axes.iter().map(|axis| axis.id);
    let (olds, news) = (table.strides(ids()), rows.strides(ids()));
    let only_of_index = index.axes.iter().map(|axis| axis.id).filter(|&id| ids().all(|own| own != id));
    let of_index = rows.strides(only_of_index);
    Logical::where_defined(rows.dtype, axes.clone(), chosen.span, |at| match named.by(at) {
        None => {
            if !holds(table, &axes, at) {
                return None;
            }
            table.element(offset(&olds, at))
        }
        Some(By::One(others)) => {
            if !holds(rows, &axes, at) {
                return None;
            }
            rows.element(offset(&news, at) + offset(&of_index, others))
        }
        Some(By::Several) => None,
    })
}

/// Returns true if a tensor holds the coordinates of its axes.
fn holds(tensor: &Logical, axes: &[Axis], at: &[usize]) -> bool {
    axes.iter().zip(at).all(|(axis, &coordinate)| {
        tensor.axis(axis.id).is_none_or(|own| own.held.get(coordinate) == Some(&true))
    })
}

impl Rows<'_> {
    /// The row that each element of the index chooses; none where it is not held or undefined.
    fn of(&self, index: &Logical, table: &Logical) -> Result<Vec<Option<usize>>, Diagnostic> {
        let all = vec![true; saturated(self.axes.size(self.along))];
        let held = table.axis(self.along).map_or(&all, |axis| &axis.held);
        let mut at = Vec::new();
        let row = |(flat, &bits): (usize, &Bits)| {
            if !index.locate(flat, &mut at) || !index.is_defined(flat) {
                return Ok(None);
            }
            let value = i64::from(bits.cast_signed());
            self.row(value, held).map(Some).ok_or_else(|| self.outside(value, held, index, &at))
        };
        index.elements().iter().enumerate().map(row).collect()
    }

    fn row(&self, value: i64, held: &[bool]) -> Option<usize> {
        let row = usize::try_from(value / self.unit).ok()?;
        (value >= 0 && value % self.unit == 0 && held.get(row) == Some(&true)).then_some(row)
    }

    fn outside(&self, value: i64, held: &[bool], index: &Logical, at: &[usize]) -> Diagnostic {
        let names = index.axes.iter().map(|axis| self.axes.name(axis.id));
        let place: Vec<String> = names.zip(at).map(|(name, at)| format!("{name} = {at}")).collect();
        let place = if place.is_empty() { String::new() } else { format!(" at {}", place.join(", ")) };
        let last = held.iter().rposition(|&held| held).map(|last| last as i64);
        let expected = match last {
            Some(last) if self.unit > 1 => format!(
                "where a row starts: a multiple of {} from 0 to {}",
                counted(self.unit, "byte"),
                last.saturating_mul(self.unit)
            ),
            Some(last) => format!("the number of a row: 0 to {last}"),
            None => "a row, of which the table has none".to_owned(),
        };
        let message = format!("the index{place} is {value}, expected {expected}");
        Diagnostic::error("index-outside", self.span, message)
    }
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
