//! Options of a pass: declared once with [`options!`](crate::options!), read from the pipeline's text, and then
//! fields of a struct.

use std::collections::BTreeMap;
use std::fmt;
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;

/// Kind of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// A signed 64-bit integer, in decimal.
    Int,
    /// `true` or `false`; written without a value it is `true`.
    Bool,
    /// A string; quoted where it has blanks, commas or braces.
    Str,
    /// The name of a file that the pass writes, by [`PassCx::write`](crate::PassCx::write); empty for none. There
    /// is no kind for a file to read: inputs are named on the command line alone, so that a pipeline that comes in
    /// a file reaches none.
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

    /// Returns true if a text is of this kind; called for defaults while a pass is compiled.
    #[must_use]
    pub const fn takes(self, text: &str) -> bool {
        match self {
            Self::Int => i64::from_str_radix(text, 10).is_ok(),
            Self::Bool => is_one_of(text, &["true", "false"]),
            Self::Str | Self::Output => true,
            Self::Word(words) => is_one_of(text, words),
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

/// Returns true if a text is one of `words`. While compiling, texts are compared byte by byte.
const fn is_one_of(text: &str, words: &[&str]) -> bool {
    let mut at = 0;
    while at < words.len() {
        if is_same(text.as_bytes(), words[at].as_bytes()) {
            return true;
        }
        at += 1;
    }
    false
}

const fn is_same(left: &[u8], right: &[u8]) -> bool {
    let mut at = 0;
    while at < left.len() && at < right.len() && left[at] == right[at] {
        at += 1;
    }
    at == left.len() && at == right.len()
}

/// A Rust type that an option may have. A set of words is an enum that implements it with [`OptionKind::Word`].
pub trait OptionType: Sized {
    /// Kind of its text.
    const KIND: OptionKind;
    /// Reads a value; `None` if it is of another kind.
    fn read(value: &OptionValue) -> Option<Self>;
}

impl OptionType for i64 {
    const KIND: OptionKind = OptionKind::Int;
    fn read(value: &OptionValue) -> Option<Self> {
        if let OptionValue::Int(value) = value { Some(*value) } else { None }
    }
}

impl OptionType for bool {
    const KIND: OptionKind = OptionKind::Bool;
    fn read(value: &OptionValue) -> Option<Self> {
        if let OptionValue::Bool(value) = value { Some(*value) } else { None }
    }
}

impl OptionType for String {
    const KIND: OptionKind = OptionKind::Str;
    fn read(value: &OptionValue) -> Option<Self> {
        value.text().map(str::to_owned)
    }
}

/// The name of a file that a pass writes; empty for none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputName(pub String);

impl OptionType for OutputName {
    const KIND: OptionKind = OptionKind::Output;
    fn read(value: &OptionValue) -> Option<Self> {
        String::read(value).map(Self)
    }
}

/// A struct whose fields are options of a pass; [`options!`](crate::options!) makes one.
pub trait PassOptions: Sized {
    /// Their declarations.
    const DECLS: OptionDecls;
    /// Reads them.
    ///
    /// # Errors
    /// If the type of an option does not read a text of its kind.
    fn read(options: &Options) -> Result<Self, Diagnostic>;
}

/// Declares the options of a pass as a struct: `name: type = ("name", "default", "doc")`. A default of another
/// kind does not compile. A pass reads its options only by being [`Configured`](crate::Configured), so it cannot read
/// one that it does not declare.
///
/// ```
/// visa_pass::options! {
///     /// What can be chosen.
///     struct Chosen {
///         max_rewrites: i64 = ("max-rewrites", "100", "most rewrites"),
///         explain: bool = ("explain", "false", "whether to say why"),
///     }
/// }
/// static PASS: visa_pass::Pass = visa_pass::Pass {
///     name: "my-pass",
///     ..visa_pass::Pass::with::<Chosen>()
/// };
/// impl visa_pass::Configured for Chosen {
///     fn run(self, cx: &mut visa_pass::PassCx<'_>) -> Result<(), Vec<visa_ir::diag::Diagnostic>> {
///         cx.count("rewrites", if self.explain { self.max_rewrites as u64 } else { 0 });
///         Ok(())
///     }
/// }
/// ```
///
/// ```compile_fail
/// visa_pass::options! {
///     /// A default that is no integer.
///     struct Chosen { most: i64 = ("most", "many", "") }
/// }
/// ```
///
/// ```compile_fail,E0609
/// visa_pass::options! {
///     /// Nothing of `least`.
///     struct Chosen { most: i64 = ("most", "1", "") }
/// }
/// impl visa_pass::Configured for Chosen {
///     fn run(self, cx: &mut visa_pass::PassCx<'_>) -> Result<(), Vec<visa_ir::diag::Diagnostic>> {
///         cx.count("rewrites", self.least as u64);
///         Ok(())
///     }
/// }
/// ```
///
/// ```compile_fail,E0616
/// static PASS: visa_pass::Pass = visa_pass::Pass {
///     name: "my-pass",
///     // A pass that declares no options reaches none.
///     run: |cx| Ok(drop(cx.options)),
///     ..visa_pass::Pass::BASE
/// };
/// ```
#[macro_export]
macro_rules! options {
    ($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($field:ident: $ty:ty = ($option:literal, $default:expr, $doc:expr)),* $(,)?
    }) => {
        $(#[$meta])*
        $vis struct $name {
            $(#[doc = $doc] $vis $field: $ty,)*
        }
        $(const _: () = assert!(
            <$ty as $crate::OptionType>::KIND.takes($default),
            concat!("the default of option `", $option, "` is not of its kind")
        );)*
        impl $crate::PassOptions for $name {
            const DECLS: $crate::OptionDecls = $crate::OptionDecls::of(&[$($crate::OptionDecl {
                name: $option,
                kind: <$ty as $crate::OptionType>::KIND,
                default: $default,
                doc: $doc,
            }),*]);
            fn read(options: &$crate::Options) -> Result<Self, $crate::Diagnostic> {
                Ok(Self { $($field: options.get($option)?),* })
            }
        }
    };
}

/// Declares one option of a pass.
#[derive(Clone, Copy, Debug)]
pub struct OptionDecl {
    /// Its name in the pipeline's text.
    pub name: &'static str,
    /// Kind of its value.
    pub kind: OptionKind,
    /// The value it has where it is not written; must be of `kind`.
    pub default: &'static str,
    /// Its effect, with its unit.
    pub doc: &'static str,
}

/// The declarations of the options of a pass. A pass gets them with the code that reads them, from
/// [`Pass::with`](crate::Pass::with).
#[derive(Clone, Copy, Debug)]
pub struct OptionDecls(&'static [OptionDecl]);

impl OptionDecls {
    /// Of a pass that has none.
    pub(crate) const NONE: Self = Self(&[]);

    /// For [`options!`](crate::options!).
    #[doc(hidden)]
    #[must_use]
    pub const fn of(decls: &'static [OptionDecl]) -> Self {
        Self(decls)
    }

    /// Each of them, in the order of their declaration.
    pub fn iter(self) -> std::slice::Iter<'static, OptionDecl> {
        self.0.iter()
    }

    /// Returns true if there is none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }
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

impl OptionValue {
    /// The text of a string, output or word option.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text),
            Self::Int(_) | Self::Bool(_) => None,
        }
    }
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
    decls: OptionDecls,
    written: BTreeMap<&'static str, OptionValue>,
}

impl Options {
    /// Nothing written: every option has its default.
    #[must_use]
    pub fn defaults(decls: OptionDecls) -> Self {
        Self { decls, written: BTreeMap::new() }
    }

    /// The options with a boolean option set to `true`.
    ///
    /// # Errors
    /// The pass declares no such option.
    pub fn with_flag(mut self, name: &str) -> Result<Self, Diagnostic> {
        let declared = self.decls.iter().find(|decl| decl.name == name && decl.kind == OptionKind::Bool);
        let decl = declared.ok_or_else(|| {
            let message = format!("option `{name}` is no flag that is declared: a mistake in the pass");
            Diagnostic::error("option-type", Span::default(), message)
        })?;
        self.set(decl, OptionValue::Bool(true));
        Ok(self)
    }

    /// Writes an option. Returns whether it was not written before.
    pub(crate) fn set(&mut self, decl: &'static OptionDecl, value: OptionValue) -> bool {
        self.written.insert(decl.name, value).is_none()
    }

    /// The explicit options, by name.
    pub fn written(&self) -> impl Iterator<Item = (&'static str, &OptionValue)> {
        self.written.iter().map(|(name, value)| (*name, value))
    }

    /// The files that the pass is told to write: option and name.
    pub fn outputs(&self) -> impl Iterator<Item = (&'static str, String)> {
        let outputs = self.decls.iter().filter(|decl| decl.kind == OptionKind::Output);
        let named = outputs.filter_map(|decl| Some((decl.name, self.value(decl)?.text()?.to_owned())));
        named.filter(|(_, name)| !name.is_empty())
    }

    fn value(&self, decl: &OptionDecl) -> Option<OptionValue> {
        self.written.get(decl.name).cloned().or_else(|| decl.kind.read(decl.default))
    }

    /// The option `name` as a `T`.
    ///
    /// # Errors
    /// If no such option of this type is declared, which [`options!`](crate::options!) prevents, or if `T` does not
    /// read a text of its kind.
    pub fn get<T: OptionType>(&self, name: &str) -> Result<T, Diagnostic> {
        let wrong = |what: &str| {
            let message = format!("option `{name}` {what}: a mistake in the pass");
            Diagnostic::error("option-type", Span::default(), message)
        };
        let declared = self.decls.iter().find(|decl| decl.name == name && decl.kind == T::KIND);
        let decl = declared.ok_or_else(|| wrong(&format!("is not declared as {}", T::KIND.describe())))?;
        let value = self.value(decl).ok_or_else(|| wrong("has a default of another kind"))?;
        T::read(&value).ok_or_else(|| wrong(&format!("has a type that does not read `{value}`")))
    }
}
