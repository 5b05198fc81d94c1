//! Dimensions that several axes count, as `tensor.collapse_shape` makes them. They stay several axes where the loops
//! of an operation can be cut alike, and become one axis where an operation needs that.

use crate::import::emit::axes::Axis;
use crate::import::emit::elem::{Data, Elem};
use crate::import::importer::Importer;
use crate::import::read::attributes::{Key, key};
use crate::import::read::loops::{Digit, Linear, Loops};
use crate::import::tensor::Tensor;
use melior::ir::operation::{OperationLike as _, OperationRef};
use visa_ir::diag::Diagnostic;

/// The loops of an operation, with a loop for each axis.
pub(crate) struct Nest {
    pub(crate) loops: Loops,
    pub(crate) axes: Vec<Option<Axis>>,
    /// The loops that each loop of the operation has become, the outermost first.
    pub(crate) places: Vec<Vec<usize>>,
    /// The operands, with a dimension for each axis.
    pub(crate) tensors: Vec<Option<Tensor>>,
}

impl Nest {
    /// The sizes of the axes that count a dimension with this index.
    pub(crate) fn parts(&self, index: &Linear, size: u64) -> Vec<u64> {
        match index.single() {
            Some(at) => self.places[at].iter().map(|&place| self.loops.extents[place]).collect(),
            None => vec![size],
        }
    }
}

/// The axes of a loop that is cut.
type Cut = Option<(Vec<u64>, Vec<Option<Axis>>)>;

/// Cuts the loops of an operation as the dimensions of its operands are. If these do not agree, each dimension of an
/// operand becomes one axis.
///
/// # Errors
/// Those of the operations that it takes.
pub(crate) fn nest(
    importer: &mut Importer<'_, '_>,
    loops: Loops,
    axes: Vec<Option<Axis>>,
    mut operands: Vec<(Key, Option<Tensor>)>,
) -> Result<Nest, Diagnostic> {
    let cuts = match cuts(&loops, &operands) {
        Some(cuts) => cuts,
        None => {
            for (key, tensor) in &mut operands {
                if let Some(whole) = tensor.take() {
                    *tensor = Some(flat(importer, Some(*key), whole)?);
                }
            }
            vec![None; loops.extents.len()]
        }
    };
    let (mut places, mut extents, mut reduced) = (Vec::new(), Vec::new(), Vec::new());
    let mut named: Vec<Option<Axis>> = Vec::new();
    for (at, cut) in cuts.iter().enumerate() {
        let (sizes, names) = match cut {
            None => (vec![loops.extents[at]], vec![axes[at].clone()]),
            Some((sizes, names)) => (sizes.clone(), names.clone()),
        };
        places.push((extents.len()..extents.len() + sizes.len()).collect::<Vec<_>>());
        for (&size, name) in sizes.iter().zip(&names) {
            let is_free = |axis: &Axis| {
                !named.contains(&Some(axis.clone())) && (cut.is_none() || !axes.contains(&Some(axis.clone())))
            };
            let name = name.clone().filter(is_free);
            let name = name.or_else(|| (size > 1).then(|| importer.emit.axes.fresh("D", size)));
            extents.push(size);
            reduced.push(loops.reduced[at]);
            named.push(name);
        }
    }
    let tensors = operands.into_iter().zip(&loops.maps);
    let tensors =
        tensors.map(|((_, tensor), map)| tensor.map(|tensor| opened(tensor, map, &places, &extents)));
    let tensors = tensors.collect();
    let maps =
        loops.maps.iter().map(|map| map.iter().flat_map(|index| moved(index, &places)).collect()).collect();
    let inputs = loops.inputs;
    Ok(Nest { loops: Loops { maps, extents, reduced, inputs }, axes: named, places, tensors })
}

/// The cut of each loop; `None` if operands do not agree.
fn cuts(loops: &Loops, operands: &[(Key, Option<Tensor>)]) -> Option<Vec<Cut>> {
    let mut cuts: Vec<Cut> = vec![None; loops.extents.len()];
    let known =
        || operands.iter().zip(&loops.maps).filter_map(|((_, tensor), map)| Some((tensor.as_ref()?, map)));
    for (tensor, map) in known() {
        for ((sizes, dims), index) in tensor.groups().zip(map).filter(|((sizes, _), _)| sizes.len() > 1) {
            let cut = &mut cuts[index.single()?];
            match cut {
                None => *cut = Some((sizes.to_vec(), dims.to_vec())),
                Some((known, _)) if known == sizes => {}
                Some(_) => return None,
            }
        }
    }
    for (tensor, map) in known() {
        for ((sizes, dims), index) in tensor.groups().zip(map).filter(|((sizes, _), _)| sizes.len() == 1) {
            let is_cut = |at: usize| cuts[at].is_some();
            let is_plain = index.single().is_some() && dims[0].is_none();
            if !is_plain && index.has(&is_cut) && sizes[0] > 1 {
                return None;
            }
        }
    }
    Some(cuts)
}

/// An index as the indices of its loops' parts.
fn moved(index: &Linear, places: &[Vec<usize>]) -> Vec<Linear> {
    if let Some(at) = index.single() {
        return places[at].iter().map(|&place| Linear::of_loop(place)).collect();
    }
    vec![renumbered(index, places)]
}

/// An index whose loops are those of uncut ones.
fn renumbered(index: &Linear, places: &[Vec<usize>]) -> Linear {
    let terms = index.terms.iter().map(|&(at, factor)| (places[at][0], factor)).collect();
    let digits =
        index.digits.iter().map(|digit| Digit { of: renumbered(&digit.of, places), ..digit.clone() });
    Linear { terms, digits: digits.collect(), offset: index.offset }
}

/// A tensor with a dimension for each part of its loops.
fn opened(tensor: Tensor, map: &[Linear], places: &[Vec<usize>], extents: &[u64]) -> Tensor {
    let (mut shape, mut dims) = (Vec::new(), Vec::new());
    for ((sizes, own), index) in tensor.groups().zip(map) {
        match index.single().map(|at| &places[at]).filter(|places| places.len() > sizes.len()) {
            Some(places) => {
                shape.extend(places.iter().map(|&place| extents[place]));
                dims.extend(places.iter().map(|_| None));
            }
            None => {
                shape.extend(sizes);
                dims.extend(own.iter().cloned());
            }
        }
    }
    Tensor::plain(tensor.elem, shape, dims)
}

/// A tensor with one axis for each dimension, with the axes that are proposed for a value of MLIR if there is one.
///
/// # Errors
/// Those of the operations that it takes.
pub(crate) fn flat(
    importer: &mut Importer<'_, '_>,
    key: Option<Key>,
    tensor: Tensor,
) -> Result<Tensor, Diagnostic> {
    if tensor.parts.iter().all(|sizes| sizes.len() == 1) {
        return Ok(tensor);
    }
    let Data::Value(mut value) = tensor.elem.data else {
        return Ok(Tensor::uniform(tensor.elem, tensor.shape));
    };
    let proposed = key.map(|key| importer.value_axes(key)).unwrap_or_default();
    let mut dims = Vec::new();
    for (at, (sizes, axes)) in tensor.groups().enumerate() {
        if sizes.len() < 2 || axes.iter().all(Option::is_none) {
            dims.push(axes[0].clone());
            continue;
        }
        // Along an axis on which the value does not depend it has to be repeated.
        let named = axes.iter().zip(sizes);
        let merged: Vec<Axis> = named
            .map(|(axis, &size)| axis.clone().unwrap_or_else(|| importer.emit.axes.fresh("D", size)))
            .collect();
        value = importer.emit.broadcast(value, &merged)?;
        let taken = importer.emit.axes_of(value)?;
        let to = importer.free_axis(proposed.get(at).cloned().flatten(), tensor.shape[at], &taken);
        value = importer.emit.merge(value, &merged, &to)?;
        dims.push(Some(to));
    }
    let elem = Elem { data: Data::Value(value), narrow: None, ..tensor.elem };
    Ok(Tensor::plain(elem, tensor.shape, dims))
}

/// The tensor of an operand, with one axis for each dimension.
///
/// # Errors
/// A value that is not known.
pub(crate) fn operand(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    at: usize,
) -> Result<Tensor, Diagnostic> {
    let whole = importer.whole_operand(op, at)?;
    let Some(key) = op.operands().nth(at).map(key) else { return Ok(whole) };
    let tensor = flat(importer, Some(key), whole)?;
    importer.bind(key, tensor.clone());
    Ok(tensor)
}
