//! Valid count packing (book 09): the leading elements of each packet, as many as its count, one after the other.

use visa_algebra::{Axes, AxisId, Cell, Expr, Index, Map};
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;
use visa_mapping::error::mapping_error;
use visa_mapping::{Dim, Tensor};
use visa_numerics::{Bits, Guards};

use crate::coverage::Coverage;
use crate::layout::{Layout, offset};
use crate::tensor::{Axis, Logical, element_count, saturated, union};

/// The preserved part of each packet.
pub(crate) enum Kept {
    /// The number of leading elements in this tensor.
    Counted(Logical),
    /// The elements for whose execution id a guard holds.
    Where(Logical, Guards<Bits>),
}

impl Kept {
    /// The tensor that decides.
    fn deciding(&self) -> &Logical {
        match self {
            Self::Counted(tensor) | Self::Where(tensor, _) => tensor,
        }
    }
}

/// A packing: of the stream with this type, onto an axis.
pub(crate) struct Packing<'a> {
    pub(crate) stream: &'a Tensor,
    pub(crate) kept: &'a Kept,
    pub(crate) onto: AxisId,
    pub(crate) axes: &'a Axes,
    pub(crate) span: Span,
}

impl Packing<'_> {
    /// The packed tensor. Every combination of coordinates that a slice holds is packed by itself.
    pub(crate) fn pack(&self, tensor: &Logical) -> Result<Logical, Diagnostic> {
        let places = Coverage::of(self.stream, &[Dim::Chip, Dim::Cluster, Dim::Slice], self.axes, self.span)?;
        let outer = union(tensor, self.kept.deciding()).into_iter().filter(|axis| places.mentions(axis.id));
        let outer = outer.map(|axis| Axis { held: places.held(axis.id, axis.held.len()), id: axis.id });
        let mut axes: Vec<Axis> = outer.collect();
        let outer = Layout::new(&axes);
        let room = saturated(self.axes.size(self.onto));
        let slices = outer.count(self.span)?;
        let size = element_count(&[slices, room], self.span)?;
        let packets = self.packets()?;
        let (mut data, mut defined) = (vec![0; size], vec![false; size]);
        let mut at = Vec::new();
        for slice in 0..slices {
            outer.coordinates(slice, &mut at);
            let place: Vec<_> = axes.iter().map(|axis| axis.id).zip(at.iter().copied()).collect();
            let kept = self.kept(tensor, &packets, &place);
            for (number, bits) in kept.into_iter().enumerate().take(room) {
                data[slice * room + number] = bits.unwrap_or(0);
                defined[slice * room + number] = bits.is_some();
            }
        }
        axes.push(Axis { id: self.onto, held: vec![true; room] });
        Ok(Logical::partial(tensor.dtype, axes, data, defined))
    }

    /// The index of each packet, and of each live element within one.
    fn packets(&self) -> Result<(Vec<Index>, Vec<Index>), Diagnostic> {
        let live = |dim: Dim| live(&self.stream.dim(dim), self.axes, self.span);
        Ok((live(Dim::Time)?, live(Dim::Packet)?))
    }

    /// The preserved elements of one slice, in order; `None` for an undefined element. After an undefined count or id
    /// no element has a position.
    fn kept(
        &self,
        tensor: &Logical,
        (times, elements): &(Vec<Index>, Vec<Index>),
        place: &[(AxisId, usize)],
    ) -> Vec<Option<Bits>> {
        let mut kept = Vec::new();
        for time in times {
            let of_packet = match self.kept {
                Kept::Counted(counts) => element(counts, place, &[time]).map(|count| {
                    elements.iter().take(count.cast_signed().max(0).unsigned_abs() as usize).collect()
                }),
                Kept::Where(ids, guards) => {
                    let id = |within| element(ids, place, &[time, within]);
                    let all: Option<Vec<Bits>> = elements.iter().map(id).collect();
                    let holds = |(within, id): (_, Bits)| guards.slot(id as u8).map(|_| within);
                    all.map(|ids| elements.iter().zip(ids).filter_map(holds).collect())
                }
            };
            let of_packet: Vec<&Index> = match of_packet {
                Some(of_packet) => of_packet,
                None => break,
            };
            kept.extend(of_packet.into_iter().map(|within| element(tensor, place, &[time, within])));
        }
        kept
    }
}

/// The index at each live position of a mapping, in order.
pub(crate) fn live(map: &Expr, axes: &Axes, span: Span) -> Result<Vec<Index>, Diagnostic> {
    let map = Map::new(map, axes).map_err(|error| mapping_error(error, span))?;
    element_count(&[saturated(map.size())], span)?;
    let index = |at: u64| match map.cell(at) {
        Some(Cell::Live(index)) => Some(index),
        Some(Cell::Shared(_) | Cell::Pad(_)) | None => None,
    };
    Ok((0..map.size()).filter_map(index).collect())
}

/// The element of a tensor at the sum of coordinates, if it is defined.
pub(crate) fn element(tensor: &Logical, place: &[(AxisId, usize)], indices: &[&Index]) -> Option<Bits> {
    let mut at = Vec::with_capacity(tensor.axes.len());
    for axis in &tensor.axes {
        let outer = place.iter().find(|(id, _)| *id == axis.id).map_or(0, |(_, coordinate)| *coordinate);
        let inner: u64 = indices.iter().map(|index| index.get(axis.id)).sum();
        let coordinate = outer + usize::try_from(inner).ok()?;
        axis.held.get(coordinate).filter(|held| **held)?;
        at.push(coordinate);
    }
    let strides = tensor.strides(tensor.axes.iter().map(|axis| axis.id));
    let flat = offset(&strides, &at);
    tensor.is_defined(flat).then(|| tensor.at(flat))
}
