//! The table of declared axes: names and sizes, in order of declaration (book 03).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::{MapError, quote};
use visa_ir::diag::nearest;

/// Largest size of an axis or a mapping, in positions. Far beyond any memory, and small enough that the
/// sum of two coordinates never leaves 64 bits.
pub const MAX_SIZE: u64 = 1 << 62;

/// Most axes that one table holds.
pub const MAX_AXES: usize = 4096;

/// An axis of one [`Axes`] table; ordered by declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AxisId(u32);

/// The declared axes, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Axes {
    declared: Vec<(Arc<str>, u64)>,
    by_name: BTreeMap<Arc<str>, AxisId>,
}

impl Axes {
    /// A table without axes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares an axis of `size` positions. A name starts with an uppercase letter, goes on with
    /// letters, digits and `_`, and may end in `'`; it can be declared once.
    pub fn declare(&mut self, name: &str, size: u64) -> Result<AxisId, MapError> {
        let quoted = quote(name);
        if !is_axis_name(name) {
            let rule = "starts with an uppercase letter, followed by letters, digits or `_`";
            return Err(MapError::new("map-axis-name", format!("{quoted} is no axis name: one {rule}")));
        }
        if let Some(id) = self.id(name) {
            let size = self.size(id);
            let message = format!("axis {quoted} is declared already, with size {size}");
            return Err(MapError::new("map-duplicate-axis", message));
        }
        if !(1..=MAX_SIZE).contains(&size) {
            let message = format!("axis {quoted} has size {size}; it must be 1 to {MAX_SIZE} (2^62)");
            return Err(MapError::new("map-axis-size", message));
        }
        if self.declared.len() == MAX_AXES {
            let message = format!("axis {quoted} is one too many: at most {MAX_AXES} can be declared");
            return Err(MapError::new("map-too-many-axes", message));
        }
        let id = AxisId(self.declared.len() as u32);
        let name: Arc<str> = name.into();
        self.declared.push((name.clone(), size));
        self.by_name.insert(name, id);
        Ok(id)
    }

    /// The axis of that name, if it is declared.
    pub fn id(&self, name: &str) -> Option<AxisId> {
        self.by_name.get(name).copied()
    }

    /// The axis of that name, or an error whose fix is the nearest declared name.
    pub fn resolve(&self, name: &str) -> Result<AxisId, MapError> {
        self.id(name).ok_or_else(|| {
            let message = format!("axis {} is not declared", quote(name));
            let error = MapError::new("map-undeclared-axis", message);
            match nearest(name, self.iter().map(|(_, name, _)| name)) {
                Some(near) => error.with_fix(near),
                None => error,
            }
        })
    }

    /// The name of an axis of this table.
    ///
    /// # Panics
    /// When `id` comes from another, longer table.
    pub fn name(&self, id: AxisId) -> &str {
        &self.declared[id.0 as usize].0
    }

    /// The size of an axis of this table, in positions.
    ///
    /// # Panics
    /// When `id` comes from another, longer table.
    pub fn size(&self, id: AxisId) -> u64 {
        self.declared[id.0 as usize].1
    }

    /// All axes with name and size, in order of declaration.
    pub fn iter(&self) -> impl Iterator<Item = (AxisId, &str, u64)> {
        let numbered = self.declared.iter().enumerate();
        numbered.map(|(i, (name, size))| (AxisId(i as u32), &**name, *size))
    }
}

/// Whether the text is an axis name; the same rule as `map_axis` in `mapping.pest`.
fn is_axis_name(text: &str) -> bool {
    let stem = text.strip_suffix('\'').unwrap_or(text);
    stem.starts_with(|c: char| c.is_ascii_uppercase())
        && stem.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(result: Result<AxisId, MapError>) -> &'static str {
        result.map_or_else(|error| error.code, |_| "accepted")
    }

    #[test]
    fn keeps_order_names_and_sizes() {
        let mut axes = Axes::new();
        let b = axes.declare("B", 512).unwrap();
        let a = axes.declare("A'", 8).unwrap();
        assert_eq!(axes.iter().collect::<Vec<_>>(), [(b, "B", 512), (a, "A'", 8)]);
        assert_eq!((axes.id("B"), axes.id("A'"), axes.id("A")), (Some(b), Some(a), None));
        assert_eq!((axes.name(a), axes.size(a)), ("A'", 8));
    }

    #[test]
    fn bounds_sizes() {
        let mut axes = Axes::new();
        assert_eq!(code(axes.declare("A", 0)), "map-axis-size");
        assert_eq!(code(axes.declare("A", 1)), "accepted");
        assert_eq!(code(axes.declare("B", MAX_SIZE)), "accepted");
        assert_eq!(code(axes.declare("C", MAX_SIZE + 1)), "map-axis-size");
        assert_eq!(axes.id("C"), None);
    }

    #[test]
    fn rejects_a_second_declaration() {
        let mut axes = Axes::new();
        axes.declare("Row", 4).unwrap();
        let error = axes.declare("Row", 4).unwrap_err();
        assert_eq!(error.code, "map-duplicate-axis");
        assert!(error.message.contains("`Row`") && error.message.contains("size 4"), "{error}");
    }

    #[test]
    fn rejects_names_that_are_no_axis_names() {
        let mut axes = Axes::new();
        for name in ["", "a", "1A", "_A", "'", "A-B", "A''", "A'B", "É", "A B"] {
            assert_eq!(code(axes.declare(name, 2)), "map-axis-name", "{name:?}");
        }
        for name in ["A", "Z9", "Batch_size", "B'"] {
            assert_eq!(code(axes.declare(name, 2)), "accepted", "{name:?}");
        }
    }

    #[test]
    fn bounds_the_number_of_axes() {
        let mut axes = Axes::new();
        for i in 0..MAX_AXES {
            axes.declare(&format!("A{i}"), 2).unwrap();
        }
        assert_eq!(code(axes.declare("B", 2)), "map-too-many-axes");
    }

    #[test]
    fn an_unknown_axis_suggests_the_nearest() {
        let mut axes = Axes::new();
        axes.declare("Batch", 4).unwrap();
        axes.declare("Row", 4).unwrap();
        let error = axes.resolve("Rew").unwrap_err();
        assert_eq!((error.code, error.fix.as_deref()), ("map-undeclared-axis", Some("Row")));
        assert_eq!(axes.resolve("Column").unwrap_err().fix, None);
    }
}
