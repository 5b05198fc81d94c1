//! String and numeric variables.

use std::collections::{BTreeMap, BTreeSet};

use num_bigint::BigInt;

use crate::format::Format;

/// The name of a variable, with its `$` if it has one.
pub(crate) type Name = Vec<u8>;

/// The number of a numeric variable in [`Variables`].
pub(crate) type NumberId = usize;

/// A numeric variable.
#[derive(Debug)]
pub(crate) struct Number {
    /// The format of expressions that use it without a format.
    pub(crate) format: Format,
    pub(crate) value: Option<BigInt>,
    /// The line of the check file with its first definition.
    pub(crate) defined_on: Option<usize>,
}

/// All variables. Expressions are bound to a numeric variable when they are parsed, and string variables are looked up
/// when they are matched, as in LLVM.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    strings: BTreeMap<Name, Vec<u8>>,
    /// Names that a definition of a string variable has used so far.
    string_names: BTreeSet<Name>,
    numbers: Vec<Number>,
    number_names: BTreeMap<Name, NumberId>,
    line: Option<NumberId>,
}

impl Variables {
    pub(crate) fn string(&self, name: &[u8]) -> Option<&[u8]> {
        self.strings.get(name).map(Vec::as_slice)
    }

    pub(crate) fn set_string(&mut self, name: &[u8], value: &[u8]) {
        self.strings.insert(name.to_vec(), value.to_vec());
    }

    /// Defines a string variable of the command line; the first definition counts.
    pub(crate) fn define_string(&mut self, name: &[u8], value: &[u8]) {
        self.strings.entry(name.to_vec()).or_insert_with(|| value.to_vec());
        self.reserve_string(name);
    }

    /// Notes that a string variable has this name.
    pub(crate) fn reserve_string(&mut self, name: &[u8]) {
        self.string_names.insert(name.to_vec());
    }

    pub(crate) fn is_string(&self, name: &[u8]) -> bool {
        self.string_names.contains(name)
    }

    pub(crate) fn number(&self, id: NumberId) -> &Number {
        &self.numbers[id]
    }

    pub(crate) fn number_named(&self, name: &[u8]) -> Option<NumberId> {
        self.number_names.get(name).copied()
    }

    pub(crate) fn add_number(&mut self, name: &[u8], format: Format, defined_on: Option<usize>) -> NumberId {
        self.numbers.push(Number { format, value: None, defined_on });
        let id = self.numbers.len() - 1;
        self.number_names.insert(name.to_vec(), id);
        id
    }

    pub(crate) fn set_number(&mut self, name: &[u8], id: NumberId, value: BigInt) {
        self.numbers[id].value = Some(value);
        self.number_names.entry(name.to_vec()).or_insert(id);
    }

    /// Adds `@LINE`.
    pub(crate) fn add_line(&mut self) {
        self.line = Some(self.add_number(b"@LINE", Format::UNSIGNED, None));
    }

    pub(crate) fn set_line(&mut self, line: usize) {
        if let Some(id) = self.line {
            self.numbers[id].value = Some(line.into());
        }
    }

    /// Forgets the values of the variables without `$`.
    pub(crate) fn clear_local(&mut self) {
        let is_global = |name: &Name| name.first() == Some(&b'$');
        self.strings.retain(|name, _| is_global(name));
        for (_, id) in self.number_names.iter().filter(|(name, _)| !is_global(name)) {
            self.numbers[*id].value = None;
        }
        self.number_names.retain(|name, _| is_global(name));
    }
}
