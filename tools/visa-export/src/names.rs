//! Names of the text as names of Rust, none of which are the same in one scope.

use proc_macro2::{Ident, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Names of the vendor's prelude, and of this file, that generated code uses: an axis may not hide them.
const RESERVED: &[&str] = &[
    "AxisName",
    "BinaryArgMode",
    "Branched",
    "Broadcast",
    "ClipBinaryOpF32",
    "ClipBinaryOpI32",
    "Cmp",
    "Context",
    "Device",
    "DmTensor",
    "FpBinaryOp",
    "FpMulAlu",
    "FpTernaryOp",
    "FpUnaryOp",
    "FxpBinaryOp",
    "HbmScalar",
    "HbmTensor",
    "HostTensor",
    "Identity",
    "Ignore",
    "InterSliceReduceOpF32",
    "InterSliceReduceOpI32",
    "IntraSliceReduceOpF32",
    "IntraSliceReduceOpI32",
    "LaneMode",
    "LogicBinaryOpF32",
    "LogicBinaryOpI32",
    "One",
    "Padding",
    "Pair",
    "Resize",
    "Self",
    "SpmTensor",
    "Stash",
    "SwitchConfig",
    "Symbol",
    "TagGuard",
    "TagMode",
    "TernaryArgMode",
    "TrfTensor",
    "VrfTensor",
    "Zero",
];

/// The keyword of edition 2024, which `syn` takes for a name.
const EDITION_KEYWORD: &str = "gen";

/// Names that are given so far in one scope.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    taken: BTreeSet<String>,
}

impl Names {
    /// A scope in which these names are taken.
    pub(crate) fn with<'n>(taken: impl IntoIterator<Item = &'n str>) -> Self {
        Self { taken: taken.into_iter().map(str::to_owned).collect() }
    }

    /// A scope for types, in which the names of the prelude are taken.
    pub(crate) fn of_types() -> Self {
        Self::with(RESERVED.iter().copied())
    }

    /// A new name: the given one if it is free, else one with a number after it.
    pub(crate) fn new_name(&mut self, wanted: &str) -> Ident {
        self.numbered(wanted, "_")
    }

    /// A new name of a function: `#[device]` takes no raw names.
    pub(crate) fn new_function(&mut self, wanted: &str) -> Ident {
        let is_raw = ident(&letters(wanted)).to_string().starts_with("r#");
        self.new_name(&if is_raw { format!("{wanted}_") } else { wanted.to_owned() })
    }

    /// A new name of a type.
    pub(crate) fn new_type(&mut self, wanted: &str) -> Ident {
        self.numbered(wanted, "")
    }

    fn numbered(&mut self, wanted: &str, between: &str) -> Ident {
        let plain = letters(wanted);
        let free =
            std::iter::once(plain.clone()).chain((2..).map(|number| format!("{plain}{between}{number}")));
        let name = free.into_iter().find(|name| !self.taken.contains(name));
        let name = name.expect("the numbers do not end");
        self.taken.insert(name.clone());
        ident(&name)
    }
}

/// The names of axes in the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct AxisNames(BTreeMap<String, Ident>);

impl AxisNames {
    /// Names for axes, in order.
    pub(crate) fn new<'n>(axes: impl IntoIterator<Item = &'n str>, types: &mut Names) -> Self {
        Self(axes.into_iter().map(|axis| (axis.to_owned(), types.new_name(axis))).collect())
    }

    /// The name of an axis; `None` if it is not declared.
    pub(crate) fn get(&self, axis: &str) -> Option<&Ident> {
        self.0.get(axis)
    }
}

/// A name as an identifier: raw if it is a keyword.
pub(crate) fn ident(name: &str) -> Ident {
    let plain = syn::parse_str(name).ok().filter(|_| name != EDITION_KEYWORD);
    plain.unwrap_or_else(|| Ident::new_raw(name, Span::call_site()))
}

/// A name with letters, digits and `_` alone, which does not begin with a digit. A keyword that cannot be raw has `_`
/// after it.
fn letters(name: &str) -> String {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '_' };
    let name: String = name.chars().map(letter).collect();
    match (name.as_str(), name.chars().next()) {
        ("self" | "Self" | "super" | "crate" | "_", _) => format!("{name}_"),
        (_, Some(first)) if !first.is_ascii_digit() => name,
        (_, Some(_) | None) => format!("v{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(wanted: &[&str]) -> Vec<String> {
        let mut names = Names::of_types();
        wanted.iter().map(|name| names.new_name(name).to_string()).collect()
    }

    #[test]
    fn names_are_those_of_the_text_where_they_can_be() {
        assert_eq!(names(&["x", "J", "a_1"]), ["x", "J", "a_1"]);
    }

    #[test]
    fn keywords_are_raw_or_changed() {
        assert_eq!(names(&["loop", "type", "gen"]), ["r#loop", "r#type", "r#gen"]);
        assert_eq!(names(&["self", "crate", "super"]), ["self_", "crate_", "super_"]);
        assert_eq!(names(&["self_", "self"]), ["self_", "self__2"]);
    }

    #[test]
    fn names_never_collide() {
        assert_eq!(names(&["a.b", "a-b", "a_b"]), ["a_b", "a_b_2", "a_b_3"]);
        assert_eq!(names(&["x_2", "x", "x"]), ["x_2", "x", "x_3"]);
        assert_eq!(names(&["0", "v0"]), ["v0", "v0_2"]);
        assert_eq!(names(&["Stash", "Stash"]), ["Stash_2", "Stash_3"]);
    }
}
