//! Where arguments and results are: from an array in C order to addresses in host memory or HBM.

use visa_algebra::{Axes, AxisId, digits, place};
use visa_loops::{PairedEntry, PairedProgram};
use visa_mapping::{CHIP_STRIDE, Dim, Tensor, array_layout, byte_units};

/// An argument's or result's array, and the loops from its elements to their bytes.
pub struct BufferPlan {
    /// Extents of the array.
    pub shape: Vec<u64>,
    /// Element number (read side) to byte address (write side); half bytes for 4-bit elements.
    pub layout: PairedProgram,
}

/// Plans the buffer of a host or HBM tensor at `address`. For a result, an element that is stored several times is
/// read from its first place.
///
/// # Errors
/// If the tensor does not hold whole axes, or more elements than can be counted.
pub fn plan(tensor: &Tensor, address: i64, argument: bool, axes: &Axes) -> Result<BufferPlan, String> {
    let array = array_layout(tensor, axes)?;
    let mut stride = 1_i64;
    let mut strides = Vec::new();
    for &(axis, extent) in array.dims.iter().rev() {
        check_parts(tensor, axis, extent, axes)?;
        strides.push((axis, stride));
        stride = times(stride, extent)?;
    }
    let element = tensor.dtype.align().cast_signed();
    let byte = byte_units(tensor.dtype);
    let mut entries = Vec::new();
    for (dim, unit) in [(Dim::Element, element), (Dim::Chip, byte * CHIP_STRIDE)] {
        let Some(map) = tensor.map(dim) else { continue };
        let digits = digits(map, axes).map_err(|error| format!("`{map}`: {error}"))?;
        for placed in place(&digits, unit).digits {
            let digit = placed.digit;
            let step = strides.iter().find(|(axis, _)| Some(*axis) == digit.axis).map(|&(_, stride)| stride);
            let read = match step {
                Some(stride) => times(stride, digit.stride)?,
                None if argument && digit.live > 1 => 0,
                None => continue,
            };
            entries.push(PairedEntry::new(digit.live, read, placed.weight));
        }
    }
    entries.reverse();
    if entries.is_empty() {
        entries.push(PairedEntry::new(1, 1, element));
    }
    let mut layout =
        PairedProgram { entries, packet: 1, read_base: 0, write_base: address.saturating_mul(byte) };
    layout.merge();
    Ok(BufferPlan { shape: array.shape, layout })
}

/// Refuses an axis whose digits count further than it goes: the padding of its last part is amid the elements, where
/// no single loop nest leaves it out.
fn check_parts(tensor: &Tensor, axis: AxisId, extent: u64, axes: &Axes) -> Result<(), String> {
    let mut last = 0_u64;
    for map in [Dim::Element, Dim::Chip].into_iter().filter_map(|dim| tensor.map(dim)) {
        let digits = digits(map, axes).map_err(|error| format!("`{map}`: {error}"))?;
        let own = digits.iter().filter(|digit| digit.axis == Some(axis));
        last = own.fold(last, |last, digit| last.saturating_add(digit.stride.saturating_mul(digit.live - 1)));
    }
    if last < extent {
        return Ok(());
    }
    let name = axes.name(axis);
    Err(format!(
        "its parts of {name} count {} coordinates, and {name} has {extent}: a tensor from or to the host holds an \
         axis in parts that divide it",
        last.saturating_add(1)
    ))
}

/// The elements of `count` steps.
fn times(step: i64, count: u64) -> Result<i64, String> {
    let steps = i64::try_from(count).ok().and_then(|count| step.checked_mul(count));
    steps.ok_or_else(|| "its elements are too many to count in a signed 64-bit integer".to_owned())
}
