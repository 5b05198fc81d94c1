//! Shapes of exported values: the axes of a value as dimensions, each with the coordinates from 0 on that may be
//! defined. A dimension is shorter than its axis where the value is a part, as a tile is.

use std::fmt;
use std::sync::Arc;
use visa_algebra::Axes;
use visa_ir::module::{OpRef, ValueId};
use visa_mapping::tensor::value::Value;

use crate::export::mlir::refusals::{Export, refuse};

/// A dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dim {
    /// The axis that it counts.
    pub(crate) axis: Arc<str>,
    /// Its extent.
    pub(crate) extent: u64,
}

/// The dimensions of an exported value, outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape(pub(crate) Vec<Dim>);

impl Shape {
    /// The shape with these axes, whose extents `extent` returns.
    ///
    /// # Errors
    /// Those of `extent`.
    pub(crate) fn new(axes: &[Arc<str>], mut extent: impl FnMut(&str) -> Export<u64>) -> Export<Self> {
        let dim = |axis: &Arc<str>| Ok(Dim { axis: Arc::clone(axis), extent: extent(axis)? });
        Ok(Self(axes.iter().map(dim).collect::<Export<_>>()?))
    }

    /// The extent along an axis; `None` if the value lacks it.
    pub(crate) fn extent(&self, axis: &str) -> Option<u64> {
        self.0.iter().find(|dim| *dim.axis == *axis).map(|dim| dim.extent)
    }

    /// The number of the dimension that counts an axis.
    pub(crate) fn place(&self, axis: &str) -> Option<usize> {
        self.0.iter().position(|dim| *dim.axis == *axis)
    }

    /// The extents.
    pub(crate) fn extents(&self) -> Vec<u64> {
        self.0.iter().map(|dim| dim.extent).collect()
    }

    /// The axes.
    pub(crate) fn axes(&self) -> Vec<Arc<str>> {
        self.0.iter().map(|dim| Arc::clone(&dim.axis)).collect()
    }

    /// The same axes with the extents that `extent` returns; `None` keeps one.
    pub(crate) fn with(&self, mut extent: impl FnMut(&str) -> Option<u64>) -> Self {
        let dim =
            |dim: &Dim| Dim { axis: Arc::clone(&dim.axis), extent: extent(&dim.axis).unwrap_or(dim.extent) };
        Self(self.0.iter().map(dim).collect())
    }

    /// The larger of both extents along each axis of this shape.
    pub(crate) fn join(&self, other: &Self) -> Self {
        self.with(|axis| Some(self.extent(axis)?.max(other.extent(axis)?)))
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dims: Vec<String> = self.0.iter().map(|dim| format!("{} = {}", dim.axis, dim.extent)).collect();
        write!(f, "[{}]", dims.join(", "))
    }
}

/// The type of a value.
///
/// # Errors
/// A tensor in a memory.
pub(crate) fn value_type(op: OpRef<'_>, value: ValueId) -> Export<Value> {
    let ty = op.module.ty(value);
    let known = op.ctx.type_value::<Value>(ty).map(|value| (*value).clone());
    known.ok_or_else(|| {
        let found = op.ctx.type_text(ty);
        let fix = "write its computation with `visa-opt --raise`, and export that";
        refuse(op, format!("found `{found}`, expected a value of the tensor level")).fix(fix.to_owned())
    })
}

/// A number of coordinates as one of MLIR's.
///
/// # Errors
/// A number past 63 bits.
pub(crate) fn signed(op: OpRef<'_>, number: u64) -> Export<i64> {
    i64::try_from(number).map_err(|_| refuse(op, format!("{number} exceeds a dimension of MLIR")))
}

/// A number of coordinates as one of elements in memory.
///
/// # Errors
/// A number that no memory here has.
pub(crate) fn count(op: OpRef<'_>, number: u64) -> Export<usize> {
    usize::try_from(number)
        .map_err(|_| refuse(op, format!("{number} coordinates exceed this machine's memory")))
}

/// The size of an axis.
///
/// # Errors
/// An axis that is not declared, or a skewed one.
pub(crate) fn size(op: OpRef<'_>, axis: &str, axes: &Axes) -> Export<u64> {
    let id = axes.id(axis).ok_or_else(|| refuse(op, format!("axis `{axis}` is not declared")))?;
    match axes.skew(id) {
        Some(_) => Err(refuse(op, format!("`{axis}` is a skewed axis, and linalg has none"))),
        None => Ok(axes.size(id)),
    }
}

/// The whole shape of a type.
///
/// # Errors
/// As of [`size`].
pub(crate) fn whole(op: OpRef<'_>, ty: &Value, axes: &Axes) -> Export<Shape> {
    Shape::new(&ty.axes, |axis| size(op, axis, axes))
}
