//! The skewed axes that are declared (book 03).

use visa_algebra::{Axes, AxisId};

/// A declared skewed axis, `axis = of - by`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Skewed {
    pub(crate) axis: AxisId,
    pub(crate) of: AxisId,
    pub(crate) by: AxisId,
    /// Coordinates of `of`, and of `axis`.
    pub(crate) size: u64,
    /// Coordinates of `by`.
    pub(crate) by_size: u64,
}

/// All skewed axes that are declared.
pub(crate) fn declared(axes: &Axes) -> Vec<Skewed> {
    let skewed = |(axis, _, size)| {
        let skew = axes.skew(axis)?;
        Some(Skewed { axis, of: skew.of, by: skew.by, size, by_size: axes.size(skew.by) })
    };
    axes.iter().filter_map(skewed).collect()
}
