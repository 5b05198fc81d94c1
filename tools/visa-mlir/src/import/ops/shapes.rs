//! Reshaped tensors, and rows that an index chooses.

use crate::import::emit::axes::Axis;
use crate::import::emit::elem::{Data, Elem};
use crate::import::importer::{Importer, result_of};
use crate::import::ops::composite;
use crate::import::read::attributes::{Key, key, reassociation};
use crate::import::read::types::Kind;
use crate::import::tensor::Tensor;
use melior::ir::attribute::DenseI64ArrayAttribute;
use melior::ir::operation::{OperationLike as _, OperationRef};
use visa_ir::diag::Diagnostic;

/// The dimensions of each group of `reassociation`.
fn groups(importer: &Importer<'_, '_>, op: OperationRef<'_, '_>) -> Result<Vec<Vec<usize>>, Diagnostic> {
    reassociation(op).ok_or_else(|| importer.emit.refuse("`reassociation` is no list of groups"))
}

/// `tensor.collapse_shape`: several dimensions become one, which keeps their axes.
///
/// # Errors
/// A list of groups that is none.
pub(crate) fn collapse(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    shape: Vec<u64>,
) -> Result<Tensor, Diagnostic> {
    let tensor = importer.whole_operand(op, 0)?;
    Ok(joined(tensor, &groups(importer, op)?, shape))
}

/// A tensor whose dimensions of each group are one, which keeps their axes.
fn joined(tensor: Tensor, groups: &[Vec<usize>], shape: Vec<u64>) -> Tensor {
    if !matches!(tensor.elem.data, Data::Value(_)) {
        return Tensor::uniform(tensor.elem, shape);
    }
    let all: Vec<(Vec<u64>, Vec<Option<Axis>>)> =
        tensor.groups().map(|(sizes, dims)| (sizes.to_vec(), dims.to_vec())).collect();
    let (mut parts, mut dims) = (Vec::new(), Vec::new());
    for group in groups {
        let joined = group.iter().filter_map(|&dim| all.get(dim));
        let joined = joined.flat_map(|(sizes, dims)| sizes.iter().copied().zip(dims.iter().cloned()));
        let mut joined: Vec<(u64, Option<Axis>)> = joined.filter(|(size, _)| *size > 1).collect();
        if joined.is_empty() {
            joined.push((1, None));
        }
        let (sizes, axes): (Vec<u64>, Vec<Option<Axis>>) = joined.into_iter().unzip();
        parts.push(sizes);
        dims.extend(axes);
    }
    let elem = Elem { narrow: None, ..tensor.elem };
    Tensor { elem, shape, parts, dims }
}

/// `tensor.reshape`: the elements in the same order, under other dimensions.
///
/// # Errors
/// Those of the operations that it takes.
pub(crate) fn reshape(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    shape: Vec<u64>,
) -> Result<Tensor, Diagnostic> {
    let tensor = importer.whole_operand(op, 0)?;
    let (own, wanted) = (tensor.shape.len(), shape.len());
    let count = tensor.shape.iter().product();
    let whole = joined(tensor, &[(0..own).collect()], vec![count]);
    let proposed = result_of(op).map(|result| importer.value_axes(key(result))).unwrap_or_default();
    expanded(importer, (whole, None), &[(0..wanted).collect()], (shape, proposed))
}

/// `tensor.expand_shape`: a dimension becomes several. Its axes stay if they are cut alike.
///
/// # Errors
/// Those of the operations that it takes.
pub(crate) fn expand(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    shape: Vec<u64>,
) -> Result<Tensor, Diagnostic> {
    let (whole, groups) = (importer.whole_operand(op, 0)?, groups(importer, op)?);
    let source = op.operands().next().map(key);
    let proposed = result_of(op).map(|result| importer.value_axes(key(result))).unwrap_or_default();
    expanded(importer, (whole, source), &groups, (shape, proposed))
}

/// A tensor whose dimensions become several, each those of a group. `source` is its value in MLIR, if it has one.
fn expanded(
    importer: &mut Importer<'_, '_>,
    (whole, source): (Tensor, Option<Key>),
    groups: &[Vec<usize>],
    (shape, proposed): (Vec<u64>, Vec<Option<Axis>>),
) -> Result<Tensor, Diagnostic> {
    if let Some(regrouped) = regrouped(&whole, groups, &shape) {
        return Ok(regrouped);
    }
    let tensor = composite::flat(importer, source, whole)?;
    if let Some(source) = source {
        importer.bind(source, tensor.clone());
    }
    let Data::Value(mut value) = tensor.elem.data else { return Ok(Tensor::uniform(tensor.elem, shape)) };
    let mut dims = vec![None; shape.len()];
    for (group, axis) in groups.iter().zip(&tensor.dims) {
        let Some(axis) = axis else { continue };
        let long: Vec<usize> = group.iter().copied().filter(|&dim| shape[dim] > 1).collect();
        if let [dim] = long.as_slice() {
            dims[*dim] = Some(axis.clone());
            continue;
        }
        let mut taken = importer.emit.axes_of(value)?;
        let mut to = Vec::new();
        for &dim in &long {
            let name = importer.free_axis(proposed.get(dim).cloned().flatten(), shape[dim], &taken);
            taken.push(name.clone());
            dims[dim] = Some(name.clone());
            to.push(name);
        }
        value = importer.emit.split(value, axis, &to)?;
    }
    let elem = Elem { data: Data::Value(value), narrow: None, ..tensor.elem };
    Ok(Tensor::plain(elem, shape, dims))
}

/// The axes of a tensor under other dimensions; `None` if one of them would be cut.
fn regrouped(tensor: &Tensor, groups: &[Vec<usize>], shape: &[u64]) -> Option<Tensor> {
    let (mut parts, mut dims) = (Vec::new(), Vec::new());
    for ((sizes, axes), group) in tensor.groups().zip(groups) {
        let mut rest =
            sizes.iter().copied().zip(axes.iter().cloned()).filter(|(size, _)| *size > 1).peekable();
        for &dim in group {
            let (mut own, mut count) = (Vec::new(), 1);
            while count < shape[dim] {
                let (size, axis) = rest.next()?;
                count *= size;
                own.push(size);
                dims.push(axis);
            }
            if count != shape[dim] {
                return None;
            }
            if own.is_empty() {
                own.push(1);
                dims.push(None);
            }
            parts.push(own);
        }
    }
    let elem = Elem { narrow: None, ..tensor.elem.clone() };
    Some(Tensor { elem, shape: shape.to_vec(), parts, dims })
}

/// `tensor.gather` along one dimension.
///
/// # Errors
/// Coordinates along several dimensions.
pub(crate) fn gather(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    shape: Vec<u64>,
) -> Result<Tensor, Diagnostic> {
    let (table, index) = (composite::operand(importer, op, 0)?, composite::operand(importer, op, 1)?);
    let along = op.attribute("gather_dims").ok().and_then(|dims| DenseI64ArrayAttribute::try_from(dims).ok());
    let along = along.filter(|dims| dims.len() == 1).and_then(|dims| dims.element(0).ok());
    let along = along.and_then(|dim| usize::try_from(dim).ok()).filter(|&dim| dim < table.shape.len());
    let Some(along) = along else {
        return Err(importer.emit.refuse("`tensor.gather` is imported along one dimension"));
    };
    let Data::Value(mut rows) = table.elem.data else { return Ok(Tensor::uniform(table.elem, shape)) };
    let Some(axis) = table.dims[along].clone() else {
        return Err(importer.emit.refuse("`tensor.gather` along a dimension in which all rows are equal"));
    };
    let emit = &mut importer.emit;
    // Axes that table and index share would be read together.
    let index_value = emit.computed_value(&index.elem.clone().of_kind(Kind::I32))?;
    let shared = emit.axes_of(index_value)?;
    let mut pairs = Vec::new();
    let mut table_dims = table.dims.clone();
    for (dim, &size) in table_dims.iter_mut().zip(&table.shape) {
        if let Some(axis) = dim.clone().filter(|axis| shared.contains(axis)) {
            let fresh = emit.axes.fresh("D", size);
            pairs.push((axis, fresh.clone()));
            *dim = Some(fresh);
        }
    }
    rows = emit.rename(rows, &pairs)?;
    let axis = pairs.iter().find(|(old, _)| *old == axis).map_or(axis.clone(), |(_, new)| new.clone());
    let value = emit.gather(rows, index_value, &axis)?;
    // The last dimension of the index has the coordinate; the row keeps the gathered dimension or not.
    let front: Vec<_> = index.dims[..index.dims.len().saturating_sub(1)].to_vec();
    let keeps = shape.len() == front.len() + table.shape.len();
    let rest = table_dims.into_iter().enumerate().filter(|&(at, _)| keeps || at != along);
    let rest = rest.map(|(at, dim)| if at == along { None } else { dim });
    let dims: Vec<_> = front.into_iter().chain(rest).collect();
    Ok(Tensor::plain(Elem { data: Data::Value(value), narrow: None, ..table.elem }, shape, dims))
}

/// `tensor.dim`: the size of a dimension.
///
/// # Errors
/// A dimension that does not exist, or is known only when the program runs.
pub(crate) fn dim(importer: &Importer<'_, '_>, op: OperationRef<'_, '_>) -> Result<u64, Diagnostic> {
    let (source, at) = (importer.whole_operand(op, 0)?, importer.whole_operand(op, 1)?.elem.as_number());
    let at = at
        .ok_or_else(|| importer.emit.refuse("`tensor.dim` of a dimension that is known only when it runs"))?;
    let size = source.shape.iter().enumerate().find(|(dim, _)| *dim as f64 == at).map(|(_, &size)| size);
    size.ok_or_else(|| importer.emit.refuse(format!("`tensor.dim` of dimension {at}, which does not exist")))
}
