//! The cost of moving tensors between HBM and the slices' parts, by the memory model.

use crate::transfer::choose::TransferCx;
use visa_algebra::{Axes, AxisId, Expr};
use visa_cost::MemoryModel;
use visa_lowering::transfers::Start;
use visa_machine::Machine;
use visa_mapping::{DM, Dim, HBM, Tensor, leaves_chip};

/// A transfer between HBM and data memory, of which the lowering chooses the stream.
pub(crate) struct Moves<'a> {
    pub(crate) axes: &'a Axes,
    pub(crate) machine: &'a Machine,
    pub(crate) model: MemoryModel,
}

impl Moves<'_> {
    /// Cycles to load a tensor from an address into the parts of a cluster, slice and element mapping. `None` if that
    /// is not legal or has no price.
    pub(crate) fn load(&self, source: &Tensor, address: i64, parts: &[Expr; 3]) -> Option<u64> {
        let result = in_dm(source, parts)?;
        let names = Expr::pair(source.maps.iter().cloned()).axis_names(self.axes);
        let names: Vec<AxisId> = names.iter().filter_map(|name| self.axes.id(name)).collect();
        self.price((source, address), (&result, 0), &|axis| !names.contains(&axis))
    }

    /// Cycles to store those parts of a tensor like `like` at an address, in the layout `element`. `None` as of
    /// [`Moves::load`].
    pub(crate) fn store(
        &self,
        like: &Tensor,
        parts: &[Expr; 3],
        (element, address): (&Expr, i64),
    ) -> Option<u64> {
        let source = in_dm(like, parts)?;
        let given = [(Dim::Element, element.clone())];
        let result = Tensor::build(&HBM, None, like.dtype, &given, like).ok()?;
        self.price((&source, 0), (&result, address), &|_| false)
    }

    /// Cycles to move the tensor at the first address to the second. `None` as for [`Moves::load`].
    pub(crate) fn price(
        &self,
        (source, read): (&Tensor, i64),
        (result, write): (&Tensor, i64),
        free: &dyn Fn(AxisId) -> bool,
    ) -> Option<u64> {
        let start = Start { read, write, dtype: source.dtype };
        let Self { axes, machine, model } = *self;
        let pcie = leaves_chip(source, result, axes);
        let cx = TransferCx { source, result, start, free, pcie, queue: None, axes, machine, model };
        cx.price(None).map(|(cost, _)| cost.cycles)
    }
}

/// The tensor in data memory, in those parts.
fn in_dm(tensor: &Tensor, [cluster, slice, element]: &[Expr; 3]) -> Option<Tensor> {
    let maps = [(Dim::Cluster, cluster), (Dim::Slice, slice), (Dim::Element, element)];
    let given = maps.map(|(dim, map)| (dim, map.clone()));
    Tensor::build(&DM, None, tensor.dtype, &given, tensor).ok()
}
