//! The names that an author's Rust has for operations and engines of visa: `contract_lane` for accumulate.

use std::collections::{BTreeMap, BTreeSet};
use visa_ir::diag::Diagnostic;

/// Operations and the methods that they were imported from, where these have other names.
#[derive(Debug, Default)]
pub(crate) struct AuthorNames(BTreeMap<String, BTreeSet<String>>);

/// Engines whose names in reports are not those of the operations of streams.
const ENGINES: [(&str, &str); 2] = [("store_trf", "to_trf"), ("store_vrf", "to_vrf")];

impl AuthorNames {
    /// The names of pairs of an operation and a method.
    pub(crate) fn of<'a>(methods: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut names: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (operation, method) in methods.filter(|(operation, method)| short(operation) != *method) {
            names.entry(operation.to_owned()).or_default().insert(method.to_owned());
        }
        Self(names)
    }

    /// The engines of a command, as `fetch>align>contract`, each with its name in Rust if that is another one.
    pub(crate) fn label(&self, label: &str) -> String {
        let parts: Vec<String> = label.split('>').map(|engine| self.engine(engine)).collect();
        parts.join(">")
    }

    /// A line of a report that lists the names of the engines of some commands; empty if all are the author's.
    pub(crate) fn line<'a>(&self, labels: impl Iterator<Item = &'a str>) -> String {
        let mut known = BTreeSet::new();
        let engines = labels.flat_map(|label| label.split('>')).filter(|engine| known.insert(*engine));
        let names: Vec<String> =
            engines.filter_map(|engine| Some(format!("{engine} is {}", self.methods(engine)?))).collect();
        if names.is_empty() { String::new() } else { format!("in Rust   {}\n", names.join(", ")) }
    }

    /// The note that a finding needs: the names of the operations that it mentions.
    pub(crate) fn of_finding(&self, finding: &Diagnostic) -> Option<String> {
        let notes = finding.notes.iter().map(|note| &note.message);
        let texts: Vec<&String> = [&finding.message].into_iter().chain(&finding.fix).chain(notes).collect();
        let mentioned =
            self.0.iter().filter(|(operation, _)| texts.iter().any(|text| mentions(text, operation)));
        let names: Vec<String> =
            mentioned.map(|(operation, methods)| format!("`{operation}` is {}", listed(methods))).collect();
        (!names.is_empty()).then(|| format!("in Rust, {}", names.join(", ")))
    }

    fn engine(&self, engine: &str) -> String {
        self.methods(engine).map_or_else(|| engine.to_owned(), |methods| format!("{engine} ({methods})"))
    }

    /// The methods of an engine of a report, unless its name is one of them.
    fn methods(&self, engine: &str) -> Option<String> {
        let own = ENGINES.iter().find(|(name, _)| *name == engine).map_or(engine, |(_, operation)| operation);
        let methods = self.0.get(&format!("stream.{own}"))?;
        Some(methods.iter().map(String::as_str).collect::<Vec<_>>().join(" or "))
    }
}

/// An operation without its dialect.
fn short(operation: &str) -> &str {
    operation.split_once('.').map_or(operation, |(_, name)| name)
}

/// Methods as a sentence has them.
fn listed(methods: &BTreeSet<String>) -> String {
    methods.iter().map(|method| format!("`{method}`")).collect::<Vec<_>>().join(" or ")
}

/// Returns true if a text mentions an operation, and not one whose name continues its name.
fn mentions(text: &str, operation: &str) -> bool {
    text.match_indices(operation).any(|(at, _)| {
        let next = text[at + operation.len()..].chars().next();
        !next.is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use visa_ir::span::Span;

    fn names() -> AuthorNames {
        let methods = [
            ("stream.accumulate", "contract_lane"),
            ("stream.align", "contract_outer"),
            ("stream.align", "align"),
            ("stream.fetch", "fetch"),
            ("stream.to_trf", "to_trf"),
            ("stream.vector_init", "commit_cast_relu"),
            ("stream.vector_init", "vector_init"),
            ("tm.relabel", "reshape"),
        ];
        AuthorNames::of(methods.into_iter())
    }

    #[test]
    fn engines_have_both_names() {
        let label = names().label("fetch>align>accumulate>store_trf");
        assert_eq!(label, "fetch>align (contract_outer)>accumulate (contract_lane)>store_trf");
        assert_eq!(names().label("hbm>dm"), "hbm>dm");
    }

    #[test]
    fn a_line_lists_each_engine_once() {
        let labels = ["fetch>align", "fetch>align>vector_init", "relabel"];
        let line = names().line(labels.into_iter());
        assert_eq!(line, "in Rust   align is contract_outer, vector_init is commit_cast_relu\n");
        assert_eq!(names().line(["fetch>to_trf"].into_iter()), "");
    }

    #[test]
    fn a_finding_gets_the_names_of_its_operations() {
        let finding = |message: &str| Diagnostic::error("x", Span::default(), message);
        let mentioned = names().of_finding(&finding("`stream.align` and stream.accumulates"));
        assert_eq!(mentioned.as_deref(), Some("in Rust, `stream.align` is `contract_outer`"));
        let fixed = finding("slow").fix("write `stream.accumulate sequential`".to_owned());
        let mentioned = names().of_finding(&fixed);
        assert_eq!(mentioned.as_deref(), Some("in Rust, `stream.accumulate` is `contract_lane`"));
        assert_eq!(names().of_finding(&finding("`stream.fetch`, `stream.to_trf`")), None);
    }
}
