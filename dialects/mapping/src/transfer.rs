//! Transfers between memories: the loop nest that reads a tensor in one layout and writes it in another (book 06, 10).

use crate::divide::{DivideError, Placed, Walk, divide, place};
use crate::tensor::{Dim, Tensor};
use crate::{Axes, AxisId, digits};
use std::fmt;
use visa_machine::Machine;

/// One loop of a transfer, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferLoop {
    /// Iterations.
    pub limit: u64,
    /// Distance between bytes read.
    pub read: i64,
    /// Distance between bytes written.
    pub write: i64,
}

/// Distance between the memories of two chips in host-to-HBM transfers; the hw level has the same figure.
pub const CHIP_STRIDE: i64 = 1 << 40;

/// Why there is no such transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransferError {
    /// The source does not hold what the destination asks for.
    Divide(DivideError),
    /// A mapping has no digit form.
    Mapping(String),
}

impl fmt::Display for TransferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Divide(error) => error.fmt(f),
            Self::Mapping(why) => f.write_str(why),
        }
    }
}

/// A memory tensor's digits with their distances in bytes, minor first: element within a slice or chip, then slices
/// (`dm_bytes_per_slice` apart, clusters behind one another), then, if `chips`, chips.
fn placed(
    tensor: &Tensor,
    axes: &Axes,
    machine: &Machine,
    chips: bool,
) -> Result<Vec<Placed>, TransferError> {
    let slice = i64::try_from(machine.memory.dm_bytes_per_slice).unwrap_or(i64::MAX);
    let slices = i64::try_from(machine.topology.slices_per_cluster).unwrap_or(i64::MAX);
    let element = i64::try_from(tensor.element_bytes()).unwrap_or(i64::MAX);
    let units = [
        (Dim::Element, element),
        (Dim::Slice, slice),
        (Dim::Cluster, slice.saturating_mul(slices)),
        (Dim::Chip, CHIP_STRIDE),
    ];
    let mut all = Vec::new();
    for (dim, unit) in units {
        let Some(map) = tensor.map(dim).filter(|_| chips || dim != Dim::Chip) else { continue };
        let digits = digits(map, axes)
            .map_err(|error| TransferError::Mapping(format!("{} mapping `{map}`: {error}", dim.name())))?;
        all.extend(place(&digits, unit));
    }
    Ok(all)
}

/// The loops, outermost first, that fill every live element of `to` from `from`. `free` names the axes that the tensor
/// does not depend on. Chips take part where one side is host memory; otherwise each chip does the same in its own.
///
/// # Errors
/// Where `from` does not hold an element of `to`, or an order has no loop nest.
pub fn transfer(
    from: &Tensor,
    to: &Tensor,
    free: &dyn Fn(AxisId) -> bool,
    axes: &Axes,
    machine: &Machine,
) -> Result<Vec<TransferLoop>, TransferError> {
    let chips = from.map(Dim::Chip).is_none() || to.map(Dim::Chip).is_none();
    let source = placed(from, axes, machine, chips)?;
    let mut loops = Vec::new();
    for target in placed(to, axes, machine, chips)? {
        let one = crate::Digits::of(target.digit);
        let steps = divide(&one, &source, free, axes).map_err(TransferError::Divide)?;
        let mut write = target.weight;
        for step in steps {
            let read = match step.walk {
                Walk::Stride(stride) => stride,
                Walk::Broadcast | Walk::Padding => 0,
            };
            if step.live > 1 {
                loops.push(TransferLoop { limit: step.live, read, write });
            }
            write = write.saturating_mul(i64::try_from(step.extent).unwrap_or(i64::MAX));
        }
    }
    loops.reverse();
    loops.push(TransferLoop { limit: from.element_bytes(), read: 1, write: 1 });
    Ok(loops)
}
