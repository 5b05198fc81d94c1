//! Replaces `%name` in the words of a RUN line.

use std::collections::BTreeMap;

/// Names (with their `%`) and their replacements.
#[derive(Debug, Clone, Default)]
pub(crate) struct Substitutions(BTreeMap<String, String>);

impl Substitutions {
    /// Adds a substitution; `name` may be given with or without its `%`.
    pub(crate) fn insert(&mut self, name: &str, value: &str) {
        let name = name.strip_prefix('%').unwrap_or(name);
        self.0.insert(format!("%{name}"), value.to_owned());
    }

    /// Expands one word, from left to right. The longest name wins (`%mlir-opt` over `%m`); an expansion is not
    /// expanded again; an unknown `%name` stays as it is, because IR is full of them.
    pub(crate) fn expand(&self, word: &str) -> String {
        let mut expanded = String::with_capacity(word.len());
        let mut rest = word;
        while let Some(position) = rest.find('%') {
            expanded.push_str(&rest[..position]);
            rest = &rest[position..];
            let matching = self.0.iter().filter(|(name, _)| rest.starts_with(name.as_str()));
            let (consumed, value) = match matching.max_by_key(|(name, _)| name.len()) {
                Some((name, value)) => (name.len(), value.as_str()),
                None if rest.starts_with("%%") => (2, "%"),
                None => (1, "%"),
            };
            expanded.push_str(value);
            rest = &rest[consumed..];
        }
        expanded.push_str(rest);
        expanded
    }
}
