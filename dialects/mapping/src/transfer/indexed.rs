//! Transfers of the rows that an index tensor chooses at run time (book 07, "Indirect Access"; book 34, 35).
//!
//! A *row* is the part of a table at one coordinate of an axis. Its address is linear in the coordinate, so a transfer
//! of chosen rows is a loop nest like any other, in which some loops read an index in each iteration: the distance
//! that it selects is added to the table's side. The nest is found by division (book 07) of one stream by each tensor
//! that it walks: the table without that axis, the index, and in a scatter the written tensor. Each division cuts the
//! stream's digits at the borders of its buffer, and so all of them have the same loops.

use crate::tensor::Tensor;
use crate::transfer::error::TransferError;
use crate::transfer::{Access, TransferLoop, byte_units, placed, whole};
use visa_algebra::{
    Axes, AxisId, Carries, Digit, Division, Expr, Gathers, PlacedDigit, Placement, digit_text, divide,
    is_gathered, times,
};
use visa_ir::diag::counted;
use visa_loops::Stride;
use visa_machine::Machine;
use visa_numerics::DType;

/// A tensor that such a transfer reads.
#[derive(Clone, Copy)]
pub struct Operand<'a> {
    /// Its type.
    pub tensor: &'a Tensor,
    /// The axes that it does not depend on.
    pub free: &'a dyn Fn(AxisId) -> bool,
}

/// A loop of whose iterations each reads an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedLoop {
    /// The loop, as it moves through the read and written tensors while the index stays the same.
    pub step: TransferLoop,
    /// Distance between the indices, in bytes.
    pub index: i64,
}

/// The loops of a transfer of chosen rows, and where they start, relative to the addresses of its tensors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Indexed {
    /// The loops over indices, outermost first.
    pub rows: Vec<IndexedLoop>,
    /// The loops within a row, outermost first; the last one runs over the bytes of an element.
    pub loops: Vec<TransferLoop>,
    /// First byte read, of row 0 in a gather.
    pub read_base: i64,
    /// First byte written, of row 0 in a scatter.
    pub write_base: i64,
    /// First byte of the first index.
    pub index_base: i64,
    /// Distance between the rows of the table, in bytes.
    pub distance: i64,
    /// The rows of the table, padding left out.
    pub count: u64,
}

/// The loops that fill every live element of `result` from the rows of `table` along an axis that `index` chooses.
///
/// # Errors
/// Where a tensor does not hold an element of the result, or an order has no loop nest.
pub fn gather(
    table: Operand<'_>,
    index: Operand<'_>,
    result: &Tensor,
    along: AxisId,
    axes: &Axes,
    machine: &Machine,
) -> Result<Indexed, TransferError> {
    check_forms(&[table.tensor, index.tensor, result], axes)?;
    let rows = Table::of(table.tensor, along, axes, machine, Access::Read)?;
    let indices = at(index.tensor, axes, machine, Access::Read)?;
    let stream = at(result, axes, machine, Access::Write)?;
    let buffers = [
        Buffer { tensor: table.tensor, at: &rows.rest, free: table.free },
        Buffer { tensor: index.tensor, at: &indices, free: index.free },
    ];
    let walk = Walk::new(stream, result, &buffers, axes)?;
    let [read, by] = walk.divisions.as_slice() else { return Err(uneven()) };
    let moves = |at: usize| Ok([distance(read, at)?, walk.stream.digits[at].weight, distance(by, at)?]);
    walk.indexed(table.tensor.dtype, &rows, [read.base, walk.stream.base, by.base], moves)
}

/// The loops that write `rows` into the rows of `table` along an axis that `index` chooses: into every live element
/// of each of them.
///
/// # Errors
/// Where a tensor does not hold an element of these rows, or an order has no loop nest.
pub fn scatter(
    rows: Operand<'_>,
    index: Operand<'_>,
    table: &Tensor,
    along: AxisId,
    axes: &Axes,
    machine: &Machine,
) -> Result<Indexed, TransferError> {
    check_forms(&[rows.tensor, index.tensor, table], axes)?;
    let target = Table::of(table, along, axes, machine, Access::Write)?;
    let indices = at(index.tensor, axes, machine, Access::Write)?;
    let source = at(rows.tensor, axes, machine, Access::Read)?;
    let own = names(table, axes);
    let lacking = |axis: AxisId| !own.contains(&axis);
    let stream = over_rows(&indices, index.free, &target.rest);
    let buffers = [
        Buffer { tensor: rows.tensor, at: &source, free: rows.free },
        Buffer { tensor: table, at: &target.rest, free: &lacking },
        Buffer { tensor: index.tensor, at: &indices, free: index.free },
    ];
    let walk = Walk::new(stream, table, &buffers, axes)?;
    let [read, write, by] = walk.divisions.as_slice() else { return Err(uneven()) };
    let moves = |at: usize| {
        let PlacedDigit { digit, weight } = walk.stream.digits[at];
        // A digit without an axis is a copy within the table: it has a separate place.
        let written = if digit.axis.is_none() { weight } else { distance(write, at)? };
        Ok([distance(read, at)?, written, distance(by, at)?])
    };
    walk.indexed(rows.tensor.dtype, &target, [read.base, write.base, by.base], moves)
}

/// All that a scatter visits: each index, and the axes of a row that the index lacks.
fn over_rows(indices: &Placement, free: &dyn Fn(AxisId) -> bool, row: &Placement) -> Placement {
    let is_index = |axis: AxisId| !free(axis) && indices.of_axis(axis).next().is_some();
    let of_index = indices.digits.iter().filter(|placed| placed.digit.axis.is_some_and(|axis| !free(axis)));
    let of_row = row.digits.iter().filter(|placed| placed.digit.axis.is_none_or(|axis| !is_index(axis)));
    let starts = indices.origin.iter().filter(|offset| !free(offset.axis));
    let others = row.origin.iter().filter(|offset| !is_index(offset.axis));
    let mut origin: Vec<_> = starts.chain(others).copied().collect();
    origin.sort_by_key(|offset| offset.axis);
    origin.dedup_by_key(|offset| offset.axis);
    Placement { base: 0, origin, digits: of_row.chain(of_index).copied().collect() }
}

/// The axes that a type names.
fn names(tensor: &Tensor, axes: &Axes) -> Vec<AxisId> {
    tensor.axis_names(axes).iter().filter_map(|name| axes.id(name)).collect()
}

/// Where a tensor is within its chip.
fn at(tensor: &Tensor, axes: &Axes, machine: &Machine, access: Access) -> Result<Placement, TransferError> {
    placed(tensor, &mut Gathers::new(axes), machine, false, access)
}

/// Refuses tensors that the loops of rows do not support.
fn check_forms(tensors: &[&Tensor], axes: &Axes) -> Result<(), TransferError> {
    let refuse = |why: String| Err(TransferError::Mapping(why));
    for tensor in tensors {
        if byte_units(tensor.dtype) > 1 {
            return Err(TransferError::HalfByte(format!(
                "two elements of `{}` share a byte, and an index counts whole ones",
                tensor.dtype
            )));
        }
        for map in &tensor.maps {
            if is_gathered(map, axes) {
                return refuse(format!("`{map}` has a table already: rows are chosen by one of the two"));
            }
            let skewed = map.axis_names(axes);
            let skewed = skewed.iter().find(|name| axes.id(name).and_then(|id| axes.skew(id)).is_some());
            if let Some(name) = skewed {
                return refuse(format!(
                    "`{map}`: {name} is skewed, and rows are read in loops without wrapping"
                ));
            }
        }
        let maps: Vec<&Expr> = tensor.maps.iter().collect();
        if Carries::new(&maps, axes).map_err(|error| TransferError::Mapping(error.message))?.is_some() {
            let map = whole(tensor, true);
            return refuse(format!("`{map}`: its parts carry into each other, and rows are not separate"));
        }
    }
    Ok(())
}

/// A table, as its rows are placed.
struct Table {
    /// Row 0.
    rest: Placement,
    /// Distance between rows, in bytes.
    distance: i64,
    /// Number of rows.
    count: u64,
}

impl Table {
    fn of(
        tensor: &Tensor,
        along: AxisId,
        axes: &Axes,
        machine: &Machine,
        access: Access,
    ) -> Result<Self, TransferError> {
        let mut rest = at(tensor, axes, machine, access)?;
        let name = axes.name(along);
        let refuse = |why: String| {
            let within = whole(tensor, false);
            Err(TransferError::Mapping(format!(
                "rows of `{within}` along {name} have no even distance: {why}"
            )))
        };
        let first = rest.start(along);
        if first != 0 {
            return refuse(format!("the first is {first}, expected 0"));
        }
        let of_axis: Vec<PlacedDigit> =
            rest.digits.extract_if(.., |placed| placed.digit.axis == Some(along)).collect();
        match of_axis.as_slice() {
            // An axis of one coordinate counts nothing.
            [] => Ok(Self { rest, distance: times(1, tensor.dtype.align()), count: 1 }),
            [PlacedDigit { digit: Digit { stride: 1, live, .. }, weight }] => {
                Ok(Self { rest, distance: *weight, count: *live })
            }
            [PlacedDigit { digit, .. }] => refuse(format!("it holds one of {} alone", digit.stride)),
            parts => refuse(format!("{name} is in {}", counted(parts.len(), "part"))),
        }
    }
}

/// A tensor that the stream is divided by.
struct Buffer<'a> {
    tensor: &'a Tensor,
    at: &'a Placement,
    free: &'a dyn Fn(AxisId) -> bool,
}

/// A stream and its divisors, in the same loops.
struct Walk<'a> {
    stream: Placement,
    divisions: Vec<Division>,
    axes: &'a Axes,
}

impl<'a> Walk<'a> {
    fn new(
        mut stream: Placement,
        wanted: &Tensor,
        buffers: &[Buffer<'_>],
        axes: &'a Axes,
    ) -> Result<Self, TransferError> {
        let divided = |stream: &Placement, buffer: &Buffer<'_>| {
            divide(stream, buffer.at, buffer.free, axes).map_err(|error| TransferError::Divide {
                wanted: whole(wanted, false),
                held: whole(buffer.tensor, false),
                error,
            })
        };
        for buffer in buffers {
            let division = divided(&stream, buffer)?;
            stream.digits = cut(&stream.digits, &division);
        }
        let divisions = buffers.iter().map(|buffer| divided(&stream, buffer));
        let divisions = divisions.collect::<Result<Vec<_>, _>>()?;
        if divisions.iter().any(|division| division.steps.len() != stream.digits.len()) {
            return Err(uneven());
        }
        Ok(Self { stream, divisions, axes })
    }

    /// The loops. `moves` gives the distance of each: through the tensor read, the tensor written, and the index.
    fn indexed(
        &self,
        dtype: DType,
        table: &Table,
        [read_base, write_base, index_base]: [i64; 3],
        moves: impl Fn(usize) -> Result<[i64; 3], TransferError>,
    ) -> Result<Indexed, TransferError> {
        let Some(division) = self.divisions.first() else { return Err(uneven()) };
        let (mut rows, mut loops) = (Vec::new(), Vec::new());
        for (at, step) in division.steps.iter().enumerate().rev().filter(|(_, step)| step.live > 1) {
            let [read, write, index] = moves(at)?;
            let factor = digit_text(&self.stream.digits[at].digit, self.axes);
            let step =
                TransferLoop { limit: step.live, read: Stride::Fixed(read), write, factor, counts: None };
            match index {
                0 => loops.push(step),
                index => rows.push(IndexedLoop { step, index }),
            }
        }
        let bytes = dtype.align();
        loops.push(TransferLoop {
            limit: bytes,
            read: Stride::Fixed(1),
            write: 1,
            factor: "an element".to_owned(),
            counts: None,
        });
        let Table { distance, count, .. } = *table;
        Ok(Indexed { rows, loops, read_base, write_base, index_base, distance, count })
    }
}

/// The digits of a stream, cut where a division cuts them.
fn cut(digits: &[PlacedDigit], division: &Division) -> Vec<PlacedDigit> {
    let mut steps = division.steps.iter();
    let mut all = Vec::new();
    for whole in digits {
        let mut counted = 1_u64;
        for step in steps.by_ref() {
            let stride = whole.digit.stride.saturating_mul(counted);
            let digit = Digit { stride, extent: step.extent, live: step.live, ..whole.digit };
            all.push(PlacedDigit { digit, weight: step.at });
            counted = counted.saturating_mul(step.extent);
            if counted >= whole.digit.extent {
                break;
            }
        }
    }
    all
}

/// Distance that step `at` moves through the divisor of a stream.
fn distance(division: &Division, at: usize) -> Result<i64, TransferError> {
    let step = division.steps.get(at);
    step.and_then(|step| step.movement.read(step.live).fixed()).ok_or_else(uneven)
}

/// Two tensors cut a digit at different places.
fn uneven() -> TransferError {
    let message = "table, index and rows cut an axis at places that no loop nest has in common";
    TransferError::Mapping(message.to_owned())
}
