//! Mappings as the tokens of `m![..]`, and names for those that repeat.

use crate::names::{AxisNames, Names};
use crate::print::Placeholders;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use std::collections::BTreeMap;
use visa_algebra::{Axes, Expr, PadKind, Side};
use visa_mapping::Dim;

/// Uses of a mapping from which on it has a name.
const USES: usize = 2;

/// The mappings of a file.
pub(crate) struct Mappings<'a> {
    /// The axes of the module.
    pub(crate) axes: &'a Axes,
    /// Their names in the file.
    pub(crate) axis_names: &'a AxisNames,
    /// Names of the mappings of chips, clusters and slices that repeat.
    aliases: BTreeMap<(&'static str, String), Ident>,
}

impl<'a> Mappings<'a> {
    /// Mappings without names.
    pub(crate) fn new(axes: &'a Axes, axis_names: &'a AxisNames) -> Self {
        Self { axes, axis_names, aliases: BTreeMap::new() }
    }

    /// Names the mappings that are used several times.
    pub(crate) fn name(&mut self, used: &[(Dim, Expr)], types: &mut Names) {
        let mut counts: Vec<((&'static str, String), usize)> = Vec::new();
        for (dim, map) in used {
            let (Some(word), Ok(text)) = (alias_word(*dim), self.text(map)) else { continue };
            let key = (word, text);
            match counts.iter_mut().find(|(known, _)| *known == key) {
                Some((_, count)) => *count += 1,
                None => counts.push((key, 1)),
            }
        }
        for (key, _) in counts.into_iter().filter(|(_, count)| *count >= USES) {
            let name = types.new_type(key.0);
            self.aliases.insert(key, name);
        }
    }

    /// The items that declare the names.
    pub(crate) fn items(&self, parts: &mut Placeholders) -> Vec<TokenStream> {
        let items = self.aliases.iter().map(|((_, text), name)| {
            let map = parts.mapping(text);
            quote!(type #name = #map;)
        });
        items.collect()
    }

    /// The mapping of a dimension as a type.
    ///
    /// # Errors
    /// The reason why it has no form in the language.
    pub(crate) fn of_dim(
        &self,
        dim: Dim,
        map: &Expr,
        parts: &mut Placeholders,
    ) -> Result<TokenStream, String> {
        let text = self.text(map)?;
        let alias = alias_word(dim).and_then(|word| self.aliases.get(&(word, text.clone())));
        Ok(match alias {
            Some(name) => quote!(#name),
            None => {
                let map = parts.mapping(&text);
                quote!(#map)
            }
        })
    }

    /// A mapping as a type.
    ///
    /// # Errors
    /// The reason why it has no form in the language.
    pub(crate) fn map(&self, map: &Expr, parts: &mut Placeholders) -> Result<Ident, String> {
        Ok(parts.mapping(&self.text(map)?))
    }

    /// The text between the brackets of `m![..]`.
    ///
    /// # Errors
    /// The reason why it has no form in the language.
    pub(crate) fn text(&self, map: &Expr) -> Result<String, String> {
        let map = map.expanded(self.axes).map_err(|error| error.message)?;
        let map = from_first(&map, self.axes)?;
        let terms: Vec<String> =
            map.terms().into_iter().map(|term| self.term(term)).collect::<Result<_, _>>()?;
        Ok(terms.join(", "))
    }

    /// The name of the only axis of a mapping, for parameters that are axes.
    ///
    /// # Errors
    /// If the mapping is no whole axis.
    pub(crate) fn axis(&self, map: &Expr) -> Result<Ident, String> {
        let map = map.expanded(self.axes).map_err(|error| error.message)?;
        match &*map.terms() {
            [Expr::Axis(name)] => self.axis_name(name).cloned(),
            _ => Err(format!("`{map}` is no whole axis")),
        }
    }

    fn axis_name(&self, name: &str) -> Result<&Ident, String> {
        let skewed = self.axes.resolve(name).ok().and_then(|id| self.axes.skew(id)).is_some();
        if skewed {
            return Err(format!("`{name}` is a skewed axis, and the language has none"));
        }
        self.axis_names.get(name).ok_or_else(|| format!("axis `{name}` is not declared"))
    }

    fn term(&self, term: &Expr) -> Result<String, String> {
        Ok(match term {
            Expr::Axis(name) => self.axis_name(name)?.to_string(),
            Expr::Literal(count) => count.to_string(),
            Expr::Pair(_) | Expr::Outer(_) => format!("[{}]", self.text(term)?),
            Expr::Pad { side: Side::Low, .. } => {
                return Err(format!(
                    "`{term}` has padding before it, and the language has padding after a term"
                ));
            }
            Expr::Pad { inner, size, kind, side: Side::High } => {
                let fill = match kind {
                    PadKind::Top => "",
                    PadKind::Zero => "{0}",
                    PadKind::Bottom => "{!}",
                };
                format!("{} #{fill} {size}", self.term(inner)?)
            }
            Expr::Resize { inner, size } => format!("{} = {size}", self.term(inner)?),
            Expr::Stride { inner, n } => format!("{} / {n}", self.term(inner)?),
            Expr::Modulo { inner, n } => format!("{} % {n}", self.term(inner)?),
            Expr::Slice { .. } => {
                return Err(format!("`{term}` begins at an offset, and the language's mappings begin at 0"));
            }
            Expr::Gather { .. } => {
                return Err(format!("`{term}` lists positions, and the language's mappings have no lists"));
            }
            Expr::Slide(_) => {
                return Err(format!("`{term}` slides over an axis, and the language's mappings do not"));
            }
            Expr::Alias(name) => return Err(format!("mapping `{name}` is not declared")),
        })
    }
}

/// The mapping with its parts counted from their first positions.
///
/// # Errors
/// If the size of a part is not known.
fn from_first(map: &Expr, axes: &Axes) -> Result<Expr, String> {
    let sized = |inner: &Expr, size: u64| Ok(from_first(inner, axes)?.resize(size));
    match map {
        Expr::Resize { inner, size } if matches!(**inner, Expr::Slice { .. }) => match &**inner {
            Expr::Slice { inner, .. } => sized(inner, *size),
            inner => sized(inner, *size),
        },
        Expr::Slice { inner, offset } => {
            let all = inner.size(axes).map_err(|error| error.message)?;
            let size = all.checked_sub(*offset);
            sized(inner, size.ok_or_else(|| format!("`{map}` begins behind its last position"))?)
        }
        map => map.map_children(|child| from_first(child, axes)),
    }
}

/// The word for the names of mappings of a dimension; `None` for dimensions whose mappings have no names.
fn alias_word(dim: Dim) -> Option<&'static str> {
    match dim {
        Dim::Chip => Some("Chip"),
        Dim::Cluster => Some("Cluster"),
        Dim::Slice => Some("Slice"),
        Dim::Pe => Some("Pe"),
        Dim::Row | Dim::Element | Dim::Time | Dim::Packet => None,
    }
}
