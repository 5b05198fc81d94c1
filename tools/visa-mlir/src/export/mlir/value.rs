//! Exported values: tensors of MLIR with their axes, and the changes of their dimensions.

use melior::ir::{Attribute, Type};
use std::sync::Arc;
use visa_numerics::DType;

use crate::export::mlir::builder::{Builder, Offset, Slice, Val};
use crate::export::mlir::formats::element;
use crate::export::mlir::generic::{Access, Loop, generic};
use crate::export::mlir::refusals::Export;
use crate::export::mlir::shape::Shape;

/// A tensor of MLIR.
#[derive(Clone)]
pub(crate) struct Tensor<'c> {
    pub(crate) value: Val<'c>,
    pub(crate) dtype: DType,
    pub(crate) shape: Shape,
}

impl<'c> Tensor<'c> {
    /// The type of the elements.
    pub(crate) fn element(&self, builder: Builder<'c, '_>) -> Export<Type<'c>> {
        element(builder.context, builder.source, self.dtype)
    }

    /// The same elements with their dimensions under other axes.
    pub(crate) fn renamed(self, shape: Shape) -> Self {
        Self { shape, ..self }
    }

    /// The access of a loop at these coordinates.
    pub(crate) fn access(&self, builder: Builder<'c, '_>, coordinates: Vec<String>) -> Export<Access<'c>> {
        Ok(Access { value: self.value, element: self.element(builder)?, coordinates })
    }

    /// The same with other extents: elements past the new ones are left out, new ones have no defined contents.
    pub(crate) fn fitted(&self, builder: Builder<'c, '_>, to: &Shape) -> Export<Self> {
        let wanted = self.shape.with(|axis| to.extent(axis));
        if wanted == self.shape {
            return Ok(self.clone());
        }
        let common = self.shape.with(|axis| Some(self.shape.extent(axis)?.min(wanted.extent(axis)?)));
        let part = match common == self.shape {
            true => self.clone(),
            false => self.part(builder, &Slice::first(common.extents()), common.clone())?,
        };
        if wanted == common {
            return Ok(part);
        }
        let empty = builder.empty(&wanted, self.element(builder)?)?;
        let value = builder.insert(part.value, empty, &Slice::first(common.extents()))?;
        Ok(Self { value, dtype: self.dtype, shape: wanted })
    }

    /// A part. A shape with fewer dimensions lacks dimensions of extent 1.
    pub(crate) fn part(&self, builder: Builder<'c, '_>, slice: &Slice<'c>, shape: Shape) -> Export<Self> {
        let ty = builder.tensor(&shape, self.element(builder)?);
        Ok(Self { value: builder.extract(self.value, slice, ty)?, dtype: self.dtype, shape })
    }

    /// The elements at one coordinate along an axis, which is gone.
    pub(crate) fn at(&self, builder: Builder<'c, '_>, axis: &str, coordinate: u64) -> Export<Self> {
        let Some(place) = self.shape.place(axis) else { return Ok(self.clone()) };
        let mut slice = Slice::first(self.shape.extents());
        slice.offsets[place] = Offset::Static(coordinate);
        slice.extents[place] = 1;
        let mut shape = self.shape.clone();
        shape.0.remove(place);
        self.part(builder, &slice, shape)
    }

    /// The value of this shape: fitted to it, repeated along axes that it lacks, its dimensions in this order.
    pub(crate) fn shaped(&self, builder: Builder<'c, '_>, shape: &Shape) -> Export<Self> {
        let fitted = self.fitted(builder, shape)?;
        match fitted.shape == *shape {
            true => Ok(fitted),
            false => elementwise(builder, &[&fitted], shape, self.dtype, |_, arguments| Ok(arguments[0])),
        }
    }
}

/// The tensor of one number.
pub(crate) fn filled<'c>(
    builder: Builder<'c, '_>,
    shape: &Shape,
    dtype: DType,
    with: Attribute<'c>,
) -> Export<Tensor<'c>> {
    let value = builder.filled(shape, element(builder.context, builder.source, dtype)?, with)?;
    Ok(Tensor { value, dtype, shape: shape.clone() })
}

/// The name of the loop of each dimension that a tensor has, among loops that count these axes.
pub(crate) fn loops_of(shape: &Shape, axes: &[Arc<str>]) -> Vec<String> {
    let number = |axis: &Arc<str>| axes.iter().position(|own| own == axis);
    shape.axes().iter().filter_map(number).map(|number| format!("d{number}")).collect()
}

/// An expression of the elements with the same coordinates.
pub(crate) fn elementwise<'c>(
    builder: Builder<'c, '_>,
    operands: &[&Tensor<'c>],
    shape: &Shape,
    dtype: DType,
    body: impl FnOnce(Builder<'c, '_>, &[Val<'c>]) -> Export<Val<'c>>,
) -> Export<Tensor<'c>> {
    let axes = shape.axes();
    let input = |operand: &&Tensor<'c>| {
        let fitted = operand.fitted(builder, shape)?;
        fitted.access(builder, loops_of(&fitted.shape, &axes))
    };
    let inputs = operands.iter().map(input).collect::<Export<Vec<_>>>()?;
    let element = element(builder.context, builder.source, dtype)?;
    let output =
        Access { value: builder.empty(shape, element)?, element, coordinates: loops_of(shape, &axes) };
    let value = generic(builder, &vec![Loop::Parallel; axes.len()], &inputs, &output, body)?;
    Ok(Tensor { value, dtype, shape: shape.clone() })
}
