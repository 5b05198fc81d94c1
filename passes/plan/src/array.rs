//! Arrays in HBM: the arguments, results and intermediate values of a kernel.

use std::sync::Arc;
use visa_algebra::{Axes, Expr, PadKind};
use visa_ir::context::Context;
use visa_ir::module::TypeId;
use visa_mapping::{Dim, HBM, Tensor, make};
use visa_numerics::DType;

/// Bytes that transfers into data memory move together (book 10).
pub const GROUP_BYTES: u64 = 8;

/// An array in HBM, in row-major order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Name of the value in the kernel.
    pub name: String,
    /// Format of the elements.
    pub dtype: DType,
    /// The axes, outermost first.
    pub axes: Vec<Arc<str>>,
    /// Bytes that HBM moves together: rows start at multiples of it, if that costs little memory.
    pub unit: u64,
}

/// Most of a row that padding to whole units of HBM may add: a quarter.
const MOST_PADDING: u64 = 4;

/// The least multiple of [`GROUP_BYTES`] in elements that holds `count` of them.
#[must_use]
pub fn whole_groups(count: u64, dtype: DType) -> u64 {
    let group = (GROUP_BYTES * 8 / u64::from(dtype.bits())).max(1);
    count.next_multiple_of(group)
}

impl Array {
    /// Its layout in HBM: row-major, with rows of whole units of HBM or of whole groups of 8 bytes.
    #[must_use]
    pub fn layout(&self, axes: &Axes) -> Expr {
        let size = |name: &Arc<str>| axes.id(name).map_or(1, |id| axes.size(id));
        let Some(last) = self.axes.iter().rposition(|name| size(name) > 1) else {
            let all = Expr::pair(self.axes.iter().map(|name| Expr::axis(name)));
            return all.pad(whole_groups(1, self.dtype), PadKind::Top);
        };
        let term = |(at, name): (usize, &Arc<str>)| {
            let (axis, padded) = (Expr::axis(name), self.pitch(size(name)));
            if at == last && padded != size(name) { axis.pad(padded, PadKind::Top) } else { axis }
        };
        Expr::pair(self.axes.iter().enumerate().map(term))
    }

    /// Elements from the start of a row of `count` elements to the next one: whole units, or whole groups of 8 bytes.
    fn pitch(&self, count: u64) -> u64 {
        let groups = whole_groups(count, self.dtype);
        let units = count.next_multiple_of((self.unit * 8 / u64::from(self.dtype.bits())).max(1));
        if units - count <= count / MOST_PADDING { units } else { groups }
    }

    /// Its tensor in HBM.
    #[must_use]
    pub fn tensor(&self, axes: &Axes) -> Tensor {
        Tensor { kind: &HBM, unit: None, dtype: self.dtype, maps: vec![Expr::Literal(1), self.layout(axes)] }
    }

    /// Its first tile, where loops divide axes: `tiles` has their names and the size of a tile.
    #[must_use]
    pub fn first_tile(&self, tiles: &[(Arc<str>, u64)], axes: &Axes) -> Tensor {
        let whole = self.tensor(axes);
        let layout = whole.dim(Dim::Element);
        let terms = layout.terms().into_iter().map(|term| {
            let tile = tiles.iter().find(|(axis, _)| *term == Expr::axis(axis));
            let all = term.size(axes).ok();
            match tile.zip(all) {
                Some(((_, size), all)) => term.clone().modulo(*size).pad(all, PadKind::Top),
                None => term.clone(),
            }
        });
        Tensor { maps: vec![Expr::Literal(1), Expr::pair(terms)], ..whole }
    }

    /// Its type.
    #[must_use]
    pub fn ty(&self, ctx: &Context, axes: &Axes) -> TypeId {
        make(ctx, self.tensor(axes))
    }

    /// The position of an axis.
    #[must_use]
    pub fn position(&self, axis: &str) -> Option<usize> {
        self.axes.iter().position(|own| **own == *axis)
    }
}
