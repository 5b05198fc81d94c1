//! The table of declared axes: names and sizes, in order of declaration (book 03).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::error::{MapError, quote};
use crate::expr::Expr;
use crate::limits::{MAX_DEPTH, MAX_NODES, MAX_SIZE};
use rustc_hash::FxBuildHasher as Fast;
use visa_words::{counted, nearest, nearest_by, share_a_letter};

/// Most axes that one table holds.
pub const MAX_AXES: usize = 4096;

/// An axis of one [`Axes`] table; ordered by declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AxisId(u32);

impl AxisId {
    /// An axis of no table, for a sum that is kept like a coordinate.
    pub(crate) fn scratch(number: u32) -> Self {
        Self(u32::MAX - number)
    }
}

/// The definition of a skewed axis (book 03): `B' = B - A`. Its coordinate together with that of `by` gives the
/// coordinate of `of`: `B = (B' + A) mod |B|`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skew {
    /// The axis that is skewed.
    pub of: AxisId,
    /// The axis that is subtracted.
    pub by: AxisId,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Declared {
    name: Arc<str>,
    size: u64,
    skew: Option<Skew>,
}

/// The declared axes, in order, and the aliases of mappings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Axes {
    declared: Vec<Declared>,
    by_name: HashMap<Arc<str>, AxisId, Fast>,
    aliases: BTreeMap<Arc<str>, Expr>,
}

impl Axes {
    /// A table without axes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares an axis of `size` positions. A name starts with an uppercase letter, goes on with
    /// letters, digits and `_`, and may end in `'`; it can be declared once.
    pub fn declare(&mut self, name: &str, size: u64) -> Result<AxisId, MapError> {
        self.add(name, size, None)
    }

    /// Declares `name` as `of - by`, a skewed axis with as many positions as `of`: coordinates wrap (book 03).
    ///
    /// # Errors
    /// Unless `of` and `by` are two different declared axes that are not skewed themselves.
    pub fn declare_skew(&mut self, name: &str, of: &str, by: &str) -> Result<AxisId, MapError> {
        let quoted = quote(name);
        let refuse = |why: String| MapError::new("map-skew", format!("skewed axis {quoted}: {why}"));
        let plain = |part: &str| {
            let id = self.resolve(part)?;
            match self.skew(id) {
                Some(_) => Err(refuse(format!("{} is skewed itself; skew a plain axis", quote(part)))),
                None => Ok(id),
            }
        };
        let skew = Skew { of: plain(of)?, by: plain(by)? };
        if skew.of == skew.by {
            return Err(refuse(format!("`{of} - {by}` is always 0; subtract another axis")));
        }
        self.add(name, self.size(skew.of), Some(skew))
    }

    /// Names a mapping, to be used as `{name}`. It may use aliases that are defined already.
    ///
    /// # Errors
    /// If the name is taken or no name, an alias in it is not defined, or it is larger than [`MAX_NODES`] or deeper
    /// than [`MAX_DEPTH`] with its aliases written out.
    pub fn define(&mut self, name: &str, mapping: &Expr) -> Result<(), MapError> {
        self.check_name(name, "alias")?;
        let expanded = mapping.expanded(self)?;
        let (nodes, depth) = (expanded.nodes(), expanded.depth());
        if nodes > MAX_NODES || depth > MAX_DEPTH {
            let message = format!(
                "alias {} has {} in {} when written out; the most are {MAX_NODES} in {MAX_DEPTH}",
                quote(name),
                counted(nodes, "node"),
                counted(depth, "level")
            );
            return Err(MapError::new("map-alias-size", message));
        }
        self.aliases.insert(name.into(), expanded);
        Ok(())
    }

    /// Checks that `name` is an axis name that neither an axis nor an alias has.
    fn check_name(&self, name: &str, what: &str) -> Result<(), MapError> {
        let quoted = quote(name);
        if !is_axis_name(name) {
            let rule = "starts with an uppercase letter, followed by letters, digits or `_`";
            return Err(MapError::new("map-axis-name", format!("{quoted} is no {what} name: one {rule}")));
        }
        if let Some(id) = self.id(name) {
            let size = self.size(id);
            let message = format!("axis {quoted} is declared already, with size {size}");
            return Err(MapError::new("map-duplicate-axis", message));
        }
        if let Some(mapping) = self.aliases.get(name) {
            let message = format!("alias {quoted} is defined already, as {}", quote(mapping));
            return Err(MapError::new("map-duplicate-alias", message));
        }
        Ok(())
    }

    fn add(&mut self, name: &str, size: u64, skew: Option<Skew>) -> Result<AxisId, MapError> {
        let quoted = quote(name);
        self.check_name(name, "axis")?;
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
        self.declared.push(Declared { name: name.clone(), size, skew });
        self.by_name.insert(name, id);
        Ok(id)
    }

    /// The same axes with other sizes for those of `sizes`.
    pub fn resized(&self, sizes: &[(&str, u64)]) -> Self {
        let mut resized = self.clone();
        for (name, size) in sizes {
            if let Some(id) = self.id(name) {
                resized.declared[id.0 as usize].size = *size;
            }
        }
        resized
    }

    /// An axis that stands for a part of a mapping, `text`, and that no text can name. The table is a working
    /// copy, so that it is not counted among [`MAX_AXES`].
    pub(crate) fn stand_in(&mut self, text: &str, size: u64) -> AxisId {
        let mut name = text.to_owned();
        while self.by_name.contains_key(&*name) {
            name.push('\'');
        }
        let id = AxisId(self.declared.len() as u32);
        let name: Arc<str> = name.into();
        self.declared.push(Declared { name: name.clone(), size, skew: None });
        self.by_name.insert(name, id);
        id
    }

    /// The axis of that name, if it is declared.
    pub fn id(&self, name: &str) -> Option<AxisId> {
        self.by_name.get(name).copied()
    }

    /// The axis of that name, or an error whose fix is the nearest declared name.
    pub fn resolve(&self, name: &str) -> Result<AxisId, MapError> {
        self.id(name).ok_or_else(|| self.undeclared(name, |_| AxisUse::Elsewhere))
    }

    /// The error for the undeclared axis `name`. Its fix is the nearest declared name; where several are equally
    /// near, the one with the lowest `usage`. A name that shares no letter with `name` is a fix only if it is the
    /// only axis or has a use nearby: otherwise the message lists the declared axes.
    pub fn undeclared(&self, name: &str, usage: impl Fn(&str) -> AxisUse) -> MapError {
        let names = || self.iter().map(|(_, name, _)| name);
        let near = nearest_by(name, names(), usage);
        let near = near.filter(|(near, usage)| {
            self.declared.len() == 1 || *usage != AxisUse::Elsewhere || share_a_letter(name, near)
        });
        let message = format!("axis {} is not declared", quote(name));
        if let Some((near, _)) = near {
            return MapError::new("map-undeclared-axis", message).with_fix(near);
        }
        let listed: Vec<String> = names().take(MAX_LISTED).map(quote).collect();
        let more = if self.declared.len() > MAX_LISTED { ", ..." } else { "" };
        let message = match &listed[..] {
            [] => format!("{message}: the module declares no axes (`tm.axes`)"),
            _ => format!("{message}; the declared axes are {}{more}", listed.join(", ")),
        };
        MapError::new("map-undeclared-axis", message)
    }

    /// The name of an axis of this table.
    ///
    /// # Panics
    /// When `id` comes from another, longer table.
    pub fn name(&self, id: AxisId) -> &str {
        &self.declared[id.0 as usize].name
    }

    /// The size of an axis of this table, in positions.
    ///
    /// # Panics
    /// When `id` comes from another, longer table.
    pub fn size(&self, id: AxisId) -> u64 {
        self.declared[id.0 as usize].size
    }

    /// All axes with name and size, in order of declaration.
    pub fn iter(&self) -> impl Iterator<Item = (AxisId, &str, u64)> {
        let numbered = self.declared.iter().enumerate();
        numbered.map(|(i, axis)| (AxisId(i as u32), &*axis.name, axis.size))
    }

    /// The difference that defines the axis, if it is a skewed one.
    ///
    /// # Panics
    /// When `id` comes from another, longer table.
    pub fn skew(&self, id: AxisId) -> Option<Skew> {
        self.declared[id.0 as usize].skew
    }

    /// Returns true if some axis is skewed.
    pub fn has_skew(&self) -> bool {
        self.declared.iter().any(|axis| axis.skew.is_some())
    }

    /// The mapping of that name, with its aliases written out, or an error whose fix is the nearest name.
    pub fn alias(&self, name: &str) -> Result<&Expr, MapError> {
        self.aliases.get(name).ok_or_else(|| {
            let message = format!("alias `{{{name}}}` is not defined");
            let error = MapError::new("map-undefined-alias", message);
            match nearest(name, self.aliases.keys().map(|name| &**name)) {
                Some(near) => error.with_fix(format!("{{{near}}}")),
                None => error,
            }
        })
    }
}

/// Most declared axes that a message lists.
const MAX_LISTED: usize = 8;

/// Use of a declared axis by an operation that names an undeclared one, the likeliest substitute first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AxisUse {
    /// An operand or a user has the axis, and no clause of the operation mentions it.
    Missing,
    /// An operand or a clause mentions it.
    Nearby,
    /// Only other operations mention it.
    Elsewhere,
}

/// Returns true if the text is an axis name; the same rule as `map_axis` in `mapping.pest`.
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

    #[test]
    fn an_axis_without_a_common_letter_is_no_fix_unless_it_is_used_nearby() {
        let mut axes = Axes::new();
        let none = axes.resolve("J").unwrap_err();
        assert_eq!(none.message, "axis `J` is not declared: the module declares no axes (`tm.axes`)");
        axes.declare("M", 4).unwrap();
        assert_eq!(axes.resolve("J").unwrap_err().fix.as_deref(), Some("M"));
        axes.declare("N", 4).unwrap();
        let error = axes.resolve("J").unwrap_err();
        assert_eq!(error.message, "axis `J` is not declared; the declared axes are `M`, `N`");
        assert_eq!(error.fix, None);
        let usage = |name: &str| if name == "N" { AxisUse::Missing } else { AxisUse::Nearby };
        assert_eq!(axes.undeclared("J", usage).fix.as_deref(), Some("N"));
        let nearby = |name: &str| if name == "M" { AxisUse::Nearby } else { AxisUse::Elsewhere };
        assert_eq!(axes.undeclared("J", nearby).fix.as_deref(), Some("M"));
    }

    #[test]
    fn a_message_lists_at_most_eight_axes() {
        let mut axes = Axes::new();
        for number in 0..MAX_LISTED {
            axes.declare(&format!("Axis{number}"), 4).unwrap();
        }
        assert!(axes.resolve("Q").unwrap_err().message.ends_with("`Axis7`"));
        axes.declare("Last", 4).unwrap();
        assert!(axes.resolve("Q").unwrap_err().message.ends_with("`Axis7`, ..."));
    }
}
