//! All functions that an expression may call: those of the ALUs, and those that named.txt defines by them.

use super::Expression;
use super::functions::{FUNCTIONS, Function};
use super::parse::{self, Vocabulary};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// The functions that an expression may call.
pub(super) const VOCABULARY: Vocabulary<'static> = Vocabulary { arity: &arity, names: &names };

/// The functions that named.txt defines: the names of their parameters, and the expression.
static NAMED: LazyLock<BTreeMap<Arc<str>, Expression>> = LazyLock::new(|| {
    // A definition that does not parse is missing, and the test below reports that.
    parse::definitions(include_str!("named.txt")).unwrap_or_default()
});

/// The definition of the function called `name`, if it is no ALU's.
#[must_use]
pub fn named(name: &str) -> Option<&'static Expression> {
    NAMED.get(name)
}

/// Number of arguments of the function called `name`, if there is one.
fn arity(name: &str) -> Option<usize> {
    let unit = Function::find(name).map(|function| function.arity);
    unit.or_else(|| named(name).map(|definition| definition.names.len()))
}

/// Every name that an expression may call, in the order of their kind.
fn names() -> Vec<&'static str> {
    FUNCTIONS.iter().map(|function| function.name).chain(NAMED.keys().map(|name| &**name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_parse() {
        let found = parse::definitions(include_str!("named.txt"));
        assert_eq!(found.as_ref().map(BTreeMap::len), Ok(16), "{found:?}");
    }
}
