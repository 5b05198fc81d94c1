//! `tm.contract` and `tm.reduce`: loops that combine elements.

use melior::ir::Type;
use std::sync::Arc;
use visa_engine::words::ContractionKind;
use visa_ir::module::OpRef;
use visa_mapping::ops::contract::{Contract, accumulator};
use visa_mapping::ops::reduce::{Reduce, function};
use visa_numerics::{Bits, DType, ReduceName};

use crate::export::known::Known;
use crate::export::mlir::builder::{Builder, Offset, Slice, Val};
use crate::export::mlir::formats::{element, number};
use crate::export::mlir::generic::{Access, Loop, generic};
use crate::export::mlir::refusals::{Export, refuse};
use crate::export::mlir::scalars::Scalars;
use crate::export::mlir::shape::{Dim, Shape};
use crate::export::mlir::value::{Tensor, filled};
use crate::export::scope::Scope;
use crate::export::summed::{Range, Summed, result_shape, summed};

/// The shape of a contraction.
pub(crate) fn contract_shape(known: &Known<'_>, op: OpRef<'_>) -> Export<Shape> {
    let view = Contract::of(op)?;
    let all = summed(op, &*view.over()?, view.keep()?.as_deref(), known.axes)?;
    let operands = [known.operand(op, 0)?, known.operand(op, 1)?];
    result_shape(&all, &known.result(op)?.axes, &operands)
}

/// `tm.contract`: products of widened elements, and their sum or the greatest one.
pub(crate) fn contract<'c>(scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Tensor<'c>> {
    let view = Contract::of(op)?;
    let all = summed(op, &*view.over()?, view.keep()?.as_deref(), scope.known.axes)?;
    let (left, right) = (scope.operand(op, 0)?, scope.operand(op, 1)?);
    let (from, kind) = (left.dtype, view.kind()?);
    let to = accumulator(from).ok_or_else(|| refuse(op, format!("`{from}` does not accumulate")))?;
    let product = |builder: Builder<'c, '_>, arguments: &[Val<'c>]| {
        let [x, y] = [arguments[0], arguments[1]].map(|x| widened(builder, x, from, to));
        let (operation, ty) =
            (if to.is_float() { "arith.mulf" } else { "arith.muli" }, accumulated(builder, to)?);
        builder.op(operation, &[x?, y?], ty)
    };
    let identity = match (kind, to.is_float()) {
        (ContractionKind::Add, _) => 0,
        (ContractionKind::Max, true) => f32::NEG_INFINITY.to_bits(),
        (ContractionKind::Max, false) => i32::MIN.cast_unsigned(),
    };
    let combine = move |builder: Builder<'c, '_>, x: Val<'c>, y: Val<'c>| {
        let operation = match (kind, to.is_float()) {
            (ContractionKind::Add, true) => "arith.addf",
            (ContractionKind::Add, false) => "arith.addi",
            // A NaN among the products is the result.
            (ContractionKind::Max, true) => "arith.maximumf",
            (ContractionKind::Max, false) => "arith.maxsi",
        };
        builder.op(operation, &[x, y], accumulated(builder, to)?)
    };
    let loops = Sum { all, identity, to };
    loops.write(scope, op, &[&left, &right], product, combine)
}

/// The shape of a reduction.
pub(crate) fn reduce_shape(known: &Known<'_>, op: OpRef<'_>) -> Export<Shape> {
    let view = Reduce::of(op)?;
    let all = summed(op, &*view.over()?, view.keep()?.as_deref(), known.axes)?;
    result_shape(&all, &known.result(op)?.axes, &[known.operand(op, 0)?])
}

/// `tm.reduce`: elements combined by a function of two.
pub(crate) fn reduce<'c>(scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Tensor<'c>> {
    let view = Reduce::of(op)?;
    let all = summed(op, &*view.over()?, view.keep()?.as_deref(), scope.known.axes)?;
    let (value, row) = (scope.operand(op, 0)?, function(view)?);
    let (name, to): (ReduceName, DType) = (row.name, value.dtype);
    let loops = Sum { all, identity: row.identity, to };
    loops.write(
        scope,
        op,
        &[&value],
        |_, arguments| Ok(arguments[0]),
        move |builder, x, y| Scalars::new(builder).reduction(name, to, x, y),
    )
}

fn accumulated<'c>(builder: Builder<'c, '_>, to: DType) -> Export<Type<'c>> {
    element(builder.context, builder.source, to)
}

/// An element in the format that sums have.
fn widened<'c>(builder: Builder<'c, '_>, x: Val<'c>, from: DType, to: DType) -> Export<Val<'c>> {
    let operation = match (from == to, from.is_float()) {
        (true, _) => return Ok(x),
        (false, true) => "arith.extf",
        (false, false) => "arith.extsi",
    };
    builder.op(operation, &[x], accumulated(builder, to)?)
}

/// A sum, or another combination of elements.
struct Sum {
    all: Vec<Summed>,
    /// The number that the combination starts with.
    identity: Bits,
    /// The format of the result.
    to: DType,
}

impl Sum {
    /// Appends the loops: `term` computes a term of an element of each operand, `combine` adds it.
    fn write<'c>(
        &self,
        scope: &Scope<'c, '_>,
        op: OpRef<'_>,
        operands: &[&Tensor<'c>],
        term: impl FnOnce(Builder<'c, '_>, &[Val<'c>]) -> Export<Val<'c>>,
        combine: impl FnOnce(Builder<'c, '_>, Val<'c>, Val<'c>) -> Export<Val<'c>>,
    ) -> Export<Tensor<'c>> {
        let (builder, shape) = (scope.builder, scope.shape(op)?);
        // The result's axes, those that it keeps in part counted without gaps, and then the summed ones.
        let dense = shape.with(|axis| self.keep(axis).map(|keep| keep.count));
        let count = dense.0.len();
        let names: Vec<Arc<str>> =
            dense.axes().into_iter().chain(self.all.iter().map(Summed::name)).collect();
        let loops: Vec<Loop> =
            (0..names.len()).map(|at| if at < count { Loop::Parallel } else { Loop::Reduction }).collect();
        let input = |operand: &&Tensor<'c>| {
            let operand = self.aligned(builder, operand, &dense)?;
            let number = |dim: &Dim| names.iter().position(|name| *name == dim.axis);
            let coordinates = operand.shape.0.iter().filter_map(number).map(|at| format!("d{at}")).collect();
            operand.access(builder, coordinates)
        };
        let inputs = operands.iter().map(input).collect::<Export<Vec<_>>>()?;
        let ty = accumulated(builder, self.to)?;
        let output = match self.all.is_empty() {
            true => builder.empty(&dense, ty)?,
            false => {
                filled(builder, &dense, self.to, number(builder.context, ty, self.to, self.identity))?.value
            }
        };
        let coordinates = (0..count).map(|at| format!("d{at}")).collect();
        let output = Access { value: output, element: ty, coordinates };
        let value = generic(builder, &loops, &inputs, &output, |inner, arguments| {
            let term = term(inner, arguments)?;
            match self.all.is_empty() {
                true => Ok(term),
                false => combine(inner, arguments[arguments.len() - 1], term),
            }
        })?;
        self.spread(builder, Tensor { value, dtype: self.to, shape: dense }, &shape)
    }

    fn keep(&self, axis: &str) -> Option<Range> {
        self.all.iter().find(|own| *own.axis == *axis).and_then(|own| own.keep)
    }

    /// An operand whose dimensions are loops: the summed coordinates of an axis are one dimension, those that are kept
    /// another one.
    fn aligned<'c>(
        &self,
        builder: Builder<'c, '_>,
        operand: &Tensor<'c>,
        dense: &Shape,
    ) -> Export<Tensor<'c>> {
        let reach = |axis: &str| self.all.iter().find(|own| *own.axis == *axis).map(Summed::reach);
        let wanted = operand.shape.with(|axis| reach(axis).or_else(|| dense.extent(axis)));
        let mut whole = operand.clone();
        whole = whole.fitted(builder, &self.counted(&wanted))?;
        whole = self.thinned(builder, &whole)?;
        let (mut shape, mut groups) = (Shape::default(), Vec::new());
        for dim in &whole.shape.0 {
            let first = shape.0.len();
            match self.all.iter().find(|own| own.axis == dim.axis) {
                Some(own) => shape.0.extend(own.dims()),
                None => shape.0.push(dim.clone()),
            }
            groups.push((first..shape.0.len()).collect::<Vec<_>>());
        }
        if groups.iter().all(|group| group.len() == 1) {
            return Ok(whole.renamed(shape));
        }
        let value = builder.expand(whole.value, &groups, &shape, whole.element(builder)?)?;
        Ok(Tensor { value, dtype: whole.dtype, shape })
    }

    /// A shape whose axes with kept parts are whole multiples of them.
    fn counted(&self, shape: &Shape) -> Shape {
        let count = |own: &Summed| own.keep.map(|keep| keep.count * own.over.count);
        shape.with(|axis| self.all.iter().find(|own| *own.axis == *axis).and_then(count))
    }

    /// The summed coordinates alone, where they are not the first ones.
    fn thinned<'c>(&self, builder: Builder<'c, '_>, value: &Tensor<'c>) -> Export<Tensor<'c>> {
        let mut slice = Slice::first(value.shape.extents());
        let mut shape = value.shape.clone();
        for own in self.all.iter().filter(|own| own.keep.is_none()) {
            let Some(place) = value.shape.place(&own.axis) else { continue };
            slice.offsets[place] = Offset::Static(own.over.first);
            slice.steps[place] = own.over.step;
            slice.extents[place] = own.over.count;
            shape.0[place].extent = own.over.count;
        }
        if shape == value.shape { Ok(value.clone()) } else { value.part(builder, &slice, shape) }
    }

    /// The result with its kept coordinates at their distance.
    fn spread<'c>(&self, builder: Builder<'c, '_>, value: Tensor<'c>, shape: &Shape) -> Export<Tensor<'c>> {
        if value.shape == *shape {
            return Ok(value);
        }
        let mut slice = Slice::first(value.shape.extents());
        for (step, dim) in slice.steps.iter_mut().zip(&shape.0) {
            *step = self.keep(&dim.axis).map_or(1, |keep| keep.step);
        }
        let empty = builder.empty(shape, value.element(builder)?)?;
        let spread = builder.insert(value.value, empty, &slice)?;
        Ok(Tensor { value: spread, shape: shape.clone(), ..value })
    }
}

impl Summed {
    /// The name of the loop that sums.
    fn name(&self) -> Arc<str> {
        match self.keep {
            None => Arc::clone(&self.axis),
            Some(_) => format!("{} summed", self.axis).into(),
        }
    }

    /// The dimensions of an operand along the axis, outermost first.
    fn dims(&self) -> Vec<Dim> {
        let summed = Dim { axis: self.name(), extent: self.over.count };
        let Some(keep) = self.keep else { return vec![summed] };
        let kept = Dim { axis: Arc::clone(&self.axis), extent: keep.count };
        if keep.step < self.over.step { vec![summed, kept] } else { vec![kept, summed] }
    }
}
