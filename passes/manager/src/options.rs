//! Options of a pass: declared once, read from the pipeline's text, asked for by name.

use std::collections::BTreeMap;
use std::fmt;

/// What an option's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// A signed 64-bit integer, in decimal.
    Int,
    /// `true` or `false`; written without a value it is `true`.
    Bool,
    /// A string; quoted where it has blanks, commas or braces.
    Str,
    /// The name of a file that the pass writes, by [`PassCx::write`](crate::PassCx::write); empty for none. There is no kind for a file to
    /// read: inputs are named on the command line alone, so that a pipeline that comes in a file reaches none.
    Output,
    /// One of a fixed set of words.
    Word(&'static [&'static str]),
}

impl OptionKind {
    /// The kind in words, for messages and help.
    #[must_use]
    pub fn describe(self) -> String {
        match self {
            Self::Int => "an integer".into(),
            Self::Bool => "`true` or `false`".into(),
            Self::Str => "a string".into(),
            Self::Output => "the name of a file to write".into(),
            Self::Word(words) => format!("one of `{}`", words.join("`, `")),
        }
    }

    /// Reads a value; `None` if `text` is not of this kind.
    #[must_use]
    pub fn read(self, text: &str) -> Option<OptionValue> {
        match self {
            Self::Int => text.parse().ok().map(OptionValue::Int),
            Self::Bool => text.parse().ok().map(OptionValue::Bool),
            Self::Str | Self::Output => Some(OptionValue::Str(text.to_owned())),
            Self::Word(words) => words.contains(&text).then(|| OptionValue::Str(text.to_owned())),
        }
    }
}

/// Declares one option of a pass.
#[derive(Clone, Copy, Debug)]
pub struct OptionDecl {
    /// Its name in the pipeline's text.
    pub name: &'static str,
    /// What its value is.
    pub kind: OptionKind,
    /// The value it has where it is not written; must be of `kind`.
    pub default: &'static str,
    /// What it does, with its unit.
    pub doc: &'static str,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// Of an integer option.
    Int(i64),
    /// Of a boolean option.
    Bool(bool),
    /// Of a string, output or word option.
    Str(String),
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        match self {
            Self::Int(value) => write!(f, "{value}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Str(text) if !text.is_empty() && text.chars().all(plain) => f.write_str(text),
            Self::Str(text) => f.write_str(&visa_ir::context::quote(text)),
        }
    }
}

/// The options of one run of a pass: those that were written, and the declared defaults of the others.
#[derive(Clone, Debug)]
pub struct Options {
    decls: &'static [OptionDecl],
    written: BTreeMap<&'static str, OptionValue>,
}

impl Options {
    /// Nothing written: every option has its default.
    #[must_use]
    pub fn defaults(decls: &'static [OptionDecl]) -> Self {
        Self { decls, written: BTreeMap::new() }
    }

    /// Writes an option. Returns whether it was not written before.
    pub fn set(&mut self, decl: &'static OptionDecl, value: OptionValue) -> bool {
        self.written.insert(decl.name, value).is_none()
    }

    /// What was written, by name.
    pub fn written(&self) -> impl Iterator<Item = (&'static str, &OptionValue)> {
        self.written.iter().map(|(name, value)| (*name, value))
    }

    /// The files that the pass is told to write: option and name.
    pub fn outputs(&self) -> impl Iterator<Item = (&'static str, String)> {
        let outputs = self.decls.iter().filter(|decl| decl.kind == OptionKind::Output);
        outputs.map(|decl| (decl.name, self.text(decl.name))).filter(|(_, name)| !name.is_empty())
    }

    /// The option `name`; `None` only for a name that the pass does not declare.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<OptionValue> {
        let default = || {
            let decl = self.decls.iter().find(|decl| decl.name == name)?;
            decl.kind.read(decl.default)
        };
        self.written.get(name).cloned().or_else(default)
    }

    /// An integer option; 0 if the pass declares none of this name and kind.
    #[must_use]
    pub fn int(&self, name: &str) -> i64 {
        match self.get(name) {
            Some(OptionValue::Int(value)) => value,
            Some(OptionValue::Bool(_) | OptionValue::Str(_)) | None => 0,
        }
    }

    /// A boolean option; `false` if the pass declares none of this name and kind.
    #[must_use]
    pub fn bool(&self, name: &str) -> bool {
        self.get(name) == Some(OptionValue::Bool(true))
    }

    /// A string, output or word option; empty if the pass declares none of this name and kind.
    #[must_use]
    pub fn text(&self, name: &str) -> String {
        match self.get(name) {
            Some(OptionValue::Str(text)) => text,
            Some(OptionValue::Bool(_) | OptionValue::Int(_)) | None => String::new(),
        }
    }
}
