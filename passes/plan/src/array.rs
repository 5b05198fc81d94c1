//! Arrays in HBM: the arguments, results and intermediate values of a kernel.

use std::sync::Arc;
use visa_algebra::{Axes, Expr, PadKind, Side};
use visa_ir::context::Context;
use visa_ir::module::TypeId;
use visa_mapping::transfer::padding::padded_axes;
use visa_mapping::{Dim, HBM, Tensor, make};
use visa_numerics::DType;

/// Bytes that transfers into data memory move together (book 10).
pub const GROUP_BYTES: u64 = 8;
/// Elements of a packet of the vector engine (book 21).
pub const PACKET: u64 = 8;

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
    /// The limit on the padding of rows.
    pub most_padding: MostPadding,
    /// Number of the last axes that have no padding between them.
    pub joined: usize,
    /// Elements from the start of a row to the next one, if the rows are those of another array.
    pub row: Option<u64>,
    /// The windows that its axes count, if it is an image.
    pub image: Option<Image>,
    /// The terms of the windows that its axes count, if it is an array without copies of them.
    pub view: Option<Expr>,
}

/// The greatest part of a row that padding to whole units of HBM may add.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MostPadding {
    /// A quarter: kernels read the array, and more padding costs more units than it saves.
    Quarter,
    /// All of it: a step writes the array, and a part of a unit costs as much as many whole ones (book 11). Shorter
    /// rows end with whole packets of the vector engine, as in data memory, where a slice then has several as one run.
    Packets,
    /// All of it, and rows of which several are a unit: results of contractions end with padding to as many columns,
    /// but for those of whole packets of 16.
    Whole,
}

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
        if let Some(view) = &self.view {
            return view.clone();
        }
        if let Some(image) = &self.image {
            let (row, padded) = (Expr::axis(&image.row), self.pitch(size(&image.row)));
            let row = if padded == size(&image.row) { row } else { row.pad(padded, PadKind::Top) };
            return Expr::pair(image.outer.iter().cloned().chain([row]));
        }
        let Some(last) = self.axes.iter().rposition(|name| size(name) > 1) else {
            let all = Expr::pair(self.axes.iter().map(|name| Expr::axis(name)));
            return all.pad(whole_groups(1, self.dtype), PadKind::Top);
        };
        if self.joined > 1 {
            let (outer, inner) = self.axes.split_at(self.axes.len().saturating_sub(self.joined));
            let (count, axis) = (inner.iter().map(size).product::<u64>(), |name: &Arc<str>| Expr::axis(name));
            let within = inner.iter().skip(1).map(size).product();
            let (row, padded) = (Expr::pair(inner.iter().map(axis)), self.joined_pitch(count, within));
            let row = if padded == count { row } else { row.pad(padded, PadKind::Top) };
            return Expr::pair(outer.iter().map(axis).chain([row]));
        }
        let term = |(at, name): (usize, &Arc<str>)| {
            let (axis, padded) = (Expr::axis(name), self.pitch(size(name)));
            if at == last && padded != size(name) { axis.pad(padded, PadKind::Top) } else { axis }
        };
        Expr::pair(self.axes.iter().enumerate().map(term))
    }

    /// The same array with its axes of one position first, which are nowhere in memory.
    #[must_use]
    pub fn with_long_axes_last(mut self, axes: &Axes) -> Self {
        let long = |name: &Arc<str>| axes.id(name).is_some_and(|id| axes.size(id) > 1);
        let joined = self.axes.iter().rev().take(self.joined);
        let whole = self.joined <= 1 || joined.into_iter().all(long);
        if self.image.is_none() && self.view.is_none() && whole {
            self.axes.sort_by_key(long);
        }
        self
    }

    /// A layout in data memory whose rows end with the padding of the array, if a slice holds whole rows: a store can
    /// then move the padding.
    #[must_use]
    pub fn with_padding(&self, element: Expr, axes: &Axes) -> Expr {
        let size = |name: &str| axes.id(name).map_or(1, |id| axes.size(id));
        let last = self.axes.iter().rev().find(|name| size(name) > 1);
        let Some(last) = last.filter(|_| self.unit > GROUP_BYTES) else { return element };
        let (mut terms, padded) = (element.terms(), self.pitch(size(last)));
        let axis = Expr::axis(last);
        let ends = match terms.last() {
            Some(Expr::Pad { inner, size, kind: PadKind::Top, side: Side::High }) => {
                **inner == axis && *size < padded
            }
            Some(term) => **term == axis && size(last) < padded,
            None => false,
        };
        if !ends {
            return element;
        }
        terms.pop();
        Expr::pair(terms.into_iter().cloned().chain([axis.pad(padded, PadKind::Top)]))
    }

    /// Elements from the start of a row of `count` elements to the next one: whole units, rows of which several are a
    /// unit, whole packets, or whole groups of 8 bytes.
    #[must_use]
    pub fn pitch(&self, count: u64) -> u64 {
        if let Some(row) = self.row {
            return row;
        }
        let groups = whole_groups(count, self.dtype);
        let unit = (self.unit * 8 / u64::from(self.dtype.bits())).max(1);
        let units = count.next_multiple_of(unit);
        let most = match self.most_padding {
            MostPadding::Quarter => count / 4,
            MostPadding::Packets | MostPadding::Whole => count,
        };
        if units - count <= most {
            return units;
        }
        let several = groups.next_power_of_two();
        let most = match self.most_padding {
            MostPadding::Whole if !count.is_multiple_of(COLUMNS[1]) => count,
            MostPadding::Quarter | MostPadding::Packets | MostPadding::Whole => count / 4,
        };
        if unit.is_multiple_of(several) && several - count <= most {
            return several;
        }
        let packets = self.most_padding == MostPadding::Packets && count > PACKET;
        if packets { count.next_multiple_of(PACKET) } else { groups }
    }

    /// Elements from the start of a row of several axes to the next one: also whole positions of the slowest of them,
    /// which have `within` elements.
    pub fn joined_pitch(&self, count: u64, within: u64) -> u64 {
        let group = whole_groups(1, self.dtype);
        let ends = |step: u64| {
            let mut whole = within;
            while !whole.is_multiple_of(step) {
                whole += within;
            }
            count.next_multiple_of(whole)
        };
        let units = ends((self.unit * 8 / u64::from(self.dtype.bits())).max(1));
        if units - count <= count / 4 { units } else { ends(group) }
    }

    /// Returns true if an axis counts windows, or positions within windows.
    #[must_use]
    pub fn slides_along(&self, axis: &str, axes: &Axes) -> bool {
        let terms = self.image.iter().flat_map(|image| image.outer.iter().chain([&image.windows]));
        let view = self.view.iter().flat_map(|view| view.terms());
        let mut slides = terms.chain(view).filter(|term| term.slide().is_some());
        slides.any(|term| term.axis_names(axes).iter().any(|own| **own == *axis))
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
            // Of an axis with padding, a tile has none of it.
            let divided = match term {
                Expr::Pad { inner, kind: PadKind::Top, side: Side::High, .. } => inner,
                other => other,
            };
            let tile = tiles.iter().find(|(axis, _)| *divided == Expr::axis(axis));
            let all = term.size(axes).ok();
            match tile.zip(all) {
                Some(((_, size), all)) => divided.clone().modulo(*size).pad(all, PadKind::Top),
                None => term.clone(),
            }
        });
        Tensor { maps: vec![Expr::Literal(1), Expr::pair(terms)], ..whole }
    }

    /// Elements from a position along an axis to the next one; `None` if the axis shares a dimension with others.
    #[must_use]
    pub fn step(&self, axis: &str, axes: &Axes) -> Option<u64> {
        let layout = self.layout(axes);
        let terms = layout.terms();
        let has = |term: &&Expr| matches!(&term.axis_names(axes)[..], [own] if **own == *axis);
        let at = terms.iter().position(has)?;
        terms[at + 1..].iter().map(|term| term.size(axes).ok()).product()
    }

    /// Bits from the first element of a tile of `size` positions of an axis to that of the next one. `None` if the
    /// axis shares a dimension with others.
    #[must_use]
    pub fn tile_bits(&self, (axis, size): &(Arc<str>, u64), axes: &Axes) -> Option<u64> {
        Some(size * self.step(axis, axes)? * u64::from(self.dtype.bits()))
    }

    /// The axes of a transfer of `source` to `result`, the array or a tile of it, that moves the padding of rows, so
    /// that it writes whole units of HBM (book 11); `None` if it moves none.
    #[must_use]
    pub fn padded_axes(&self, source: &Tensor, result: &Tensor, axes: &Axes) -> Option<Axes> {
        if self.unit > GROUP_BYTES { padded_axes(source, result, axes) } else { None }
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

/// Columns of a packet of the stream, from the fewest.
const COLUMNS: [u64; 3] = [PACKET, 16, 32];

/// The windows of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The terms around its rows in HBM, slowest first: axes, and windows along others.
    pub outer: Vec<Expr>,
    /// The axis of a row.
    pub row: Arc<str>,
    /// The windows within a row.
    pub windows: Expr,
    /// The axes of all windows and of their positions.
    pub within: Vec<Arc<str>>,
}

impl Image {
    /// Returns true if there are windows along other axes than that of a row.
    #[must_use]
    pub fn has_outer_windows(&self) -> bool {
        self.outer.iter().any(|term| matches!(term, Expr::Slide(_)))
    }

    /// Columns of a row of `count` windows with their padding: whole packets.
    #[must_use]
    pub fn padded(count: u64) -> u64 {
        let few = COLUMNS.into_iter().find(|columns| count <= *columns);
        few.unwrap_or_else(|| count.next_multiple_of(COLUMNS[COLUMNS.len() - 1]))
    }
}
