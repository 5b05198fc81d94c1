//! Slices of a chip that take part in a pipeline.

use std::rc::Rc;
use visa_ir::context::TypeId;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_mapping::error::mapping_error;
use visa_mapping::{Dim, Tensor};
use visa_stream::fill::held;
use visa_stream::lower::StageCx;

/// A flag for each slice of a chip, counted through its clusters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slices(Vec<bool>);

impl Slices {
    /// Those in which a value of this type holds something.
    ///
    /// # Errors
    /// A mapping of the type that cannot be read, at `op`.
    pub fn holding(cx: &StageCx<'_>, op: OpRef<'_>, ty: TypeId) -> Result<Rc<Self>, Diagnostic> {
        let question = (cx.planner().number_of_axes(), ty);
        cx.ctx.once(question, || match cx.ctx.type_value::<Tensor>(ty) {
            Some(tensor) => Self::of(cx, op, &tensor),
            None => Err(op.error("C0", "no tensor type")),
        })
    }

    /// Those in which a tensor holds something.
    ///
    /// # Errors
    /// A mapping that cannot be read, at `op`.
    pub fn of(cx: &StageCx<'_>, op: OpRef<'_>, tensor: &Tensor) -> Result<Self, Diagnostic> {
        let count = cx.machine.topology.slices_per_cluster;
        let slices = held(&tensor.dim(Dim::Slice), count, cx.axes);
        Self::in_clusters(cx, op, tensor, &slices.map_err(|error| mapping_error(error, op.span()))?)
    }

    /// Those of the clusters in which a tensor holds something, with a flag for each slice of a cluster.
    ///
    /// # Errors
    /// A mapping that cannot be read, at `op`.
    pub fn in_clusters(
        cx: &StageCx<'_>,
        op: OpRef<'_>,
        tensor: &Tensor,
        slices: &[bool],
    ) -> Result<Self, Diagnostic> {
        let clusters = held(&tensor.dim(Dim::Cluster), cx.machine.topology.clusters_per_chip, cx.axes);
        let clusters = clusters.map_err(|error| mapping_error(error, op.span()))?;
        let in_cluster = |&cluster: &bool| slices.iter().map(move |&slice| cluster && slice);
        Ok(Self(clusters.iter().flat_map(in_cluster).collect()))
    }

    /// The half-open ranges of these slices, `first` slices further on, flattened.
    #[must_use]
    pub fn ranges_from(&self, first: i64) -> Vec<i64> {
        self.ranges().into_iter().map(|slice| slice.saturating_add(first)).collect()
    }

    /// Adds those of `other`.
    pub fn join(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own |= other);
    }

    /// Leaves those that `other` has too.
    pub fn meet(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own &= other);
    }

    /// The half-open ranges of the slices, flattened.
    #[must_use]
    pub fn ranges(&self) -> Vec<i64> {
        let mut ranges = Vec::new();
        let mut inside = false;
        for (at, &flag) in (0..).zip(self.0.iter().chain([&false])) {
            if flag != inside {
                ranges.push(at);
                inside = flag;
            }
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::Slices;

    fn slices(text: &str) -> Slices {
        Slices(text.chars().map(|flag| flag == 'x').collect())
    }

    #[test]
    fn ranges_are_half_open() {
        for (text, expected) in
            [("", &[][..]), ("..", &[]), ("xx", &[0, 2]), (".x", &[1, 2]), ("x.xx.", &[0, 1, 2, 4])]
        {
            assert_eq!(slices(text).ranges(), expected, "{text}");
        }
    }

    #[test]
    fn joined_and_met() {
        let (mut joined, mut met) = (slices("xx.."), slices("xx.."));
        joined.join(&slices("x.x."));
        met.meet(&slices("x.x."));
        assert_eq!((joined, met), (slices("xxx."), slices("x...")));
    }
}
