//! `linalg.pack` and `linalg.unpack`: dimensions that are cut into tiles, whose coordinates come last.

use crate::import::emit::axes::Axis;
use crate::import::emit::elem::{Data, Elem};
use crate::import::importer::Importer;
use crate::import::ops::composite;
use crate::import::ops::slices::{check_rank, result_axes, statics, surrounded};
use crate::import::tensor::Tensor;
use melior::ir::operation::{OperationLike as _, OperationRef};
use visa_ir::diag::Diagnostic;

/// The tiles of a tensor's dimensions, and the order of the packed tensor's dimensions.
struct Layout {
    /// The tile of each dimension, if it is cut.
    tiles: Vec<Option<u64>>,
    /// The dimension that each tile cuts, in the order of the packed tensor.
    inner: Vec<usize>,
    /// The dimension that each of the first dimensions of the packed tensor counts.
    outer: Vec<usize>,
}

impl Layout {
    /// The layout of an operation on a tensor of `rank` dimensions, or of `rank` and its tiles.
    fn of(importer: &Importer<'_, '_>, op: OperationRef<'_, '_>, rank: usize) -> Result<Self, Diagnostic> {
        let sizes = statics(importer, op, "static_inner_tiles")?;
        let inner = places(importer, op, "inner_dims_pos", rank)?;
        check_rank(importer, &[sizes.len()], inner.len())?;
        let outer = match op.has_attribute("outer_dims_perm") {
            true => places(importer, op, "outer_dims_perm", rank)?,
            false => Vec::new(),
        };
        let outer = if outer.is_empty() { (0..rank).collect() } else { outer };
        check_rank(importer, &[outer.len()], rank)?;
        let mut tiles = vec![None; rank];
        for (&dim, &size) in inner.iter().zip(&sizes) {
            if size == 0 {
                return Err(importer.emit.refuse("has a tile of 0 elements; expected at least 1"));
            }
            tiles[dim] = Some(size);
        }
        Ok(Self { tiles, inner, outer })
    }

    /// Whole tiles of each dimension, of which a dimension has these sizes.
    fn counts(&self, shape: &[u64]) -> Vec<u64> {
        self.tiles
            .iter()
            .zip(shape)
            .map(|(tile, &size)| tile.map_or(size, |tile| size.div_ceil(tile)))
            .collect()
    }

    /// The sizes of the dimensions with all elements of their tiles.
    fn whole(&self, counts: &[u64]) -> Vec<u64> {
        self.tiles.iter().zip(counts).map(|(tile, &count)| count * tile.unwrap_or(1)).collect()
    }

    /// Values of dimensions and of tiles in the order of the packed tensor.
    fn packed<T: Clone>(&self, counts: &[T], tiles: &[T]) -> Vec<T> {
        let outer = self.outer.iter().map(|&dim| counts[dim].clone());
        outer.chain(self.inner.iter().map(|&dim| tiles[dim].clone())).collect()
    }
}

/// Dimensions of a list, none twice.
fn places(
    importer: &Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    name: &str,
    rank: usize,
) -> Result<Vec<usize>, Diagnostic> {
    let mut places = Vec::new();
    for place in statics(importer, op, name)? {
        let place = usize::try_from(place).ok().filter(|place| *place < rank && !places.contains(place));
        places.push(place.ok_or_else(|| {
            importer
                .emit
                .refuse(format!("has a `{name}` that is no list of different dimensions below {rank}"))
        })?);
    }
    Ok(places)
}

/// `linalg.pack`: the dimensions, padded to whole tiles, are split, and their axes are listed in another order.
///
/// # Errors
/// Tiles that are known only when the program runs, and padding that is no constant.
pub(crate) fn packed(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    shape: Vec<u64>,
) -> Result<Tensor, Diagnostic> {
    let tensor = composite::operand(importer, op, 0)?;
    let layout = Layout::of(importer, op, tensor.shape.len())?;
    let counts = layout.counts(&tensor.shape);
    let sizes: Vec<u64> = layout.tiles.iter().map(|tile| tile.unwrap_or(1)).collect();
    if layout.packed(&counts, &sizes) != shape {
        return Err(importer.emit.refuse(format!(
            "has a result of {shape:?}; expected {:?}, as whole tiles are",
            layout.packed(&counts, &sizes)
        )));
    }
    let whole = layout.whole(&counts);
    let tensor = filled(importer, op, tensor, whole)?;
    let Data::Value(mut value) = tensor.elem.data else { return Ok(Tensor::uniform(tensor.elem, shape)) };
    let proposed = result_axes(importer, op, &shape);
    let mut proposed = proposed.into_iter();
    let (mut outer, mut inner) = (vec![None; counts.len()], vec![None; counts.len()]);
    layout.outer.iter().for_each(|&dim| outer[dim] = proposed.next().flatten());
    layout.inner.iter().for_each(|&dim| inner[dim] = proposed.next().flatten());
    for (at, dim) in tensor.dims.iter().enumerate() {
        let [high, low] = [outer[at].take(), inner[at].take()];
        let Some(axis) = dim else { continue };
        if counts[at] == 1 || sizes[at] == 1 {
            let long = if counts[at] == 1 { &mut inner } else { &mut outer };
            long[at] = Some(axis.clone());
            continue;
        }
        let mut taken = importer.emit.axes_of(value)?;
        let high = importer.free_axis(high, counts[at], &taken);
        taken.push(high.clone());
        let low = importer.free_axis(low, sizes[at], &taken);
        value = importer.emit.split(value, axis, &[high.clone(), low.clone()])?;
        (outer[at], inner[at]) = (Some(high), Some(low));
    }
    let elem = Elem { data: Data::Value(value), narrow: None, ..tensor.elem };
    Ok(Tensor::plain(elem, shape, layout.packed(&outer, &inner)))
}

/// A tensor with whole tiles: padded by a constant if it lacks elements.
fn filled(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    tensor: Tensor,
    whole: Vec<u64>,
) -> Result<Tensor, Diagnostic> {
    if tensor.shape == whole {
        return Ok(tensor);
    }
    // The third operand is the padding: dynamic tiles are refused.
    if op.operand_count() < 3 {
        let message =
            format!("cuts a tensor of {:?} into tiles of {whole:?}, and has no padding", tensor.shape);
        return Err(importer.emit.refuse(message).fix("add `padding_value`".to_owned()));
    }
    let number = importer.whole_operand(op, 2)?.elem.as_number();
    let number = number
        .ok_or_else(|| importer.emit.refuse("pads by a number that is computed; expected a constant"))?;
    if tensor.elem.as_number() == Some(number) {
        return Ok(Tensor::uniform(tensor.elem, whole));
    }
    let (low, axes) = (vec![0; whole.len()], vec![None; whole.len()]);
    surrounded(importer, &tensor, (&low, whole, axes), number)
}

/// `linalg.unpack`: the opposite of [`packed`], without the padding.
///
/// # Errors
/// Tiles that are known only when the program runs.
pub(crate) fn unpacked(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    shape: Vec<u64>,
) -> Result<Tensor, Diagnostic> {
    let tensor = composite::operand(importer, op, 0)?;
    let layout = Layout::of(importer, op, shape.len())?;
    let counts = layout.counts(&shape);
    let sizes: Vec<u64> = layout.tiles.iter().map(|tile| tile.unwrap_or(1)).collect();
    if layout.packed(&counts, &sizes) != tensor.shape {
        return Err(importer.emit.refuse(format!(
            "has an operand of {:?}; expected {:?}, as whole tiles of the result are",
            tensor.shape,
            layout.packed(&counts, &sizes)
        )));
    }
    if !matches!(tensor.elem.data, Data::Value(_)) {
        return Ok(Tensor::uniform(tensor.elem, shape));
    }
    let (mut outer, mut inner): (Vec<Option<Axis>>, Vec<Option<Axis>>) =
        (vec![None; shape.len()], vec![None; shape.len()]);
    let mut dims = tensor.dims.into_iter();
    layout.outer.iter().for_each(|&dim| outer[dim] = dims.next().flatten());
    layout.inner.iter().for_each(|&dim| inner[dim] = dims.next().flatten());
    let (mut parts, mut axes) = (Vec::new(), Vec::new());
    for at in 0..shape.len() {
        let both = [(counts[at], outer[at].clone()), (sizes[at], inner[at].clone())];
        let mut own: Vec<_> = both.into_iter().filter(|(size, _)| *size > 1).collect();
        if own.is_empty() {
            own.push((1, None));
        }
        let (sizes, names): (Vec<u64>, Vec<Option<Axis>>) = own.into_iter().unzip();
        parts.push(sizes);
        axes.extend(names);
    }
    let elem = Elem { narrow: None, ..tensor.elem };
    let whole = Tensor { elem, shape: layout.whole(&counts), parts, dims: axes };
    if whole.shape == shape {
        return Ok(whole);
    }
    first(importer, op, whole, shape)
}

/// The first elements of each dimension.
fn first(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    whole: Tensor,
    shape: Vec<u64>,
) -> Result<Tensor, Diagnostic> {
    let whole = composite::flat(importer, None, whole)?;
    let Data::Value(mut value) = whole.elem.data else { return Ok(Tensor::uniform(whole.elem, shape)) };
    let proposed = result_axes(importer, op, &shape);
    let mut dims = Vec::new();
    for (at, dim) in whole.dims.iter().enumerate() {
        let Some(axis) = dim.as_ref().filter(|_| whole.shape[at] != shape[at]) else {
            dims.push(dim.clone());
            continue;
        };
        if shape[at] == 1 {
            value = importer.emit.without(value, std::slice::from_ref(axis))?;
            dims.push(None);
            continue;
        }
        let taken = importer.emit.axes_of(value)?;
        let to = importer.free_axis(proposed.get(at).cloned().flatten(), shape[at], &taken);
        value = importer.emit.every(value, axis, (0, 1), &to)?;
        dims.push(Some(to));
    }
    let elem = Elem { data: Data::Value(value), narrow: None, ..whole.elem };
    Ok(Tensor::plain(elem, shape, dims))
}
