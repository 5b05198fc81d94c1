//! The skewed axes that are declared (book 03).

use visa_algebra::{Axes, AxisId};

/// A declared skewed axis, `axis = of - by`.
#[derive(Clone, Copy, Debug)]
pub struct Skewed {
    /// The axis.
    pub axis: AxisId,
    /// The axis that it is a difference of.
    pub of: AxisId,
    /// The axis that is subtracted.
    pub by: AxisId,
    /// Coordinates of `of`, and of `axis`.
    pub size: u64,
    /// Coordinates of `by`.
    pub by_size: u64,
}

/// All skewed axes that are declared.
pub fn declared(axes: &Axes) -> Vec<Skewed> {
    let skewed = |(axis, _, size)| {
        let skew = axes.skew(axis)?;
        Some(Skewed { axis, of: skew.of, by: skew.by, size, by_size: axes.size(skew.by) })
    };
    axes.iter().filter_map(skewed).collect()
}
