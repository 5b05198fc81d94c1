//! Sets of coordinates along an axis, and the mapping that holds one.

use std::sync::Arc;
use visa_algebra::{Axes, AxisId, Expr, PadKind};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::span::Span;

/// Longest axis that is raised: a set has a mark for each coordinate.
const MAX_COORDINATES: u64 = 1 << 28;

/// The coordinates along an axis at which a value may be defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set {
    marks: Arc<Vec<bool>>,
    is_all: bool,
}

impl From<Vec<bool>> for Set {
    fn from(marks: Vec<bool>) -> Self {
        Self { is_all: !marks.contains(&false), marks: Arc::new(marks) }
    }
}

impl Set {
    /// The marked coordinates.
    #[must_use]
    pub fn of(marks: &[bool]) -> Self {
        marks.to_vec().into()
    }

    /// All coordinates along an axis.
    ///
    /// # Errors
    /// More than 2^28 of them.
    pub fn all(axes: &Axes, axis: AxisId, span: Span) -> Result<Self, Diagnostic> {
        let size = axes.size(axis);
        let count = usize::try_from(size).ok().filter(|_| size <= MAX_COORDINATES);
        let count = count.ok_or_else(|| {
            let message = format!(
                "axis `{}` has {}, at most {MAX_COORDINATES} are evaluated",
                axes.name(axis),
                counted(size, "coordinate")
            );
            Diagnostic::error("too-large", span, message)
        })?;
        Ok(vec![true; count].into())
    }

    /// Number of coordinates of the axis.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "an axis has a coordinate")]
    pub fn len(&self) -> usize {
        self.marks.len()
    }

    /// The marks.
    #[must_use]
    pub fn marks(&self) -> &[bool] {
        &self.marks
    }

    /// Returns true if it has a coordinate.
    #[must_use]
    pub fn has(&self, coordinate: usize) -> bool {
        self.marks.get(coordinate) == Some(&true)
    }

    /// Returns true if it has every coordinate.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.is_all
    }

    /// The coordinates that both have.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        if other.is_all() && other.len() >= self.len() {
            return self.clone();
        }
        let own = self.marks.iter().enumerate();
        own.map(|(at, &own)| own && other.has(at)).collect::<Vec<bool>>().into()
    }

    /// A mapping of one axis that holds these coordinates.
    #[must_use]
    pub fn expr(&self, axis: AxisId, axes: &Axes) -> Expr {
        let whole = Expr::axis(axes.name(axis));
        if self.is_all() {
            return whole;
        }
        coordinates_expr(whole, axes.size(axis), &self.coordinates())
    }

    /// The coordinates, in order.
    #[must_use]
    pub fn coordinates(&self) -> Vec<u64> {
        self.marks.iter().zip(0..).filter_map(|(&has, at)| has.then_some(at)).collect()
    }
}

/// A mapping whose positions hold these coordinates along an axis of `size`, in their order: the plainest of a part,
/// of every n-th, and of a table.
#[must_use]
pub fn coordinates_expr(whole: Expr, size: u64, coordinates: &[u64]) -> Expr {
    let Some((&first, rest)) = coordinates.split_first() else {
        // Nothing is held: padding alone.
        return Expr::Literal(1).slice(0).pad(2, PadKind::Top).slice(1);
    };
    let step = rest.first().map_or(1, |second| second.wrapping_sub(first));
    let even = coordinates.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == step);
    let count = coordinates.len() as u64;
    let from_first = if first == 0 { whole.clone() } else { whole.clone().slice(first) };
    let left = size - first;
    if even && step == 1 {
        return match (first, left) {
            (0, left) if left.is_multiple_of(count) => from_first.modulo(count),
            (_, left) if left == count => from_first,
            _ => from_first.resize(count),
        };
    }
    if even && step > 1 && step < size && left.is_multiple_of(step) {
        let every = from_first.stride(step);
        return if left / step == count { every } else { every.resize(count) };
    }
    Expr::Gather { inner: Box::new(whole), table: coordinates.into() }
}
