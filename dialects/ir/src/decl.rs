//! Declarations: an operation, a type or an attribute is declared once, as data. Parser, printer, verifier messages,
//! `--show-dialects` and the language reference all read the declaration.

use crate::context::Context;
use crate::diag::{Diagnostic, nearest};
use crate::effects::{Effects, Target};
use crate::level::Level;
use crate::module::{OpRef, TypeId};
use crate::open::Opening;
use crate::rewrite::{FoldFn, RewritePattern};
use crate::verify::VerifyCx;
use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;
use visa_words::Word;

/// A dialect: a name and its declarations.
#[derive(Debug)]
pub struct Dialect {
    /// Prefix of its names, e.g. `stream`.
    pub name: &'static str,
    /// Its purpose (Markdown).
    pub doc: &'static str,
    /// The level of its operations; any where it has operations of several.
    pub level: Level,
    /// Its operations, a list a file.
    pub ops: &'static [&'static [&'static OpDecl]],
    /// Its types.
    pub types: &'static [&'static BodyDef],
    /// Its attributes.
    pub attrs: &'static [&'static BodyDef],
}

/// The value inside a dialect type or attribute. Its `Display` is the canonical body text: two bodies are the same
/// exactly when they print the same.
pub trait Body: Any + fmt::Display {
    /// For downcasting.
    fn into_any(self: Rc<Self>) -> Rc<dyn Any>;
    /// For downcasting.
    fn as_any(&self) -> &dyn Any;
}

impl<T: Any + fmt::Display> Body for T {
    fn into_any(self: Rc<Self>) -> Rc<dyn Any> {
        self
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Reason for the refusal of a body's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyError {
    /// Stable short name.
    pub code: String,
    /// The text found and the text expected.
    pub message: String,
    /// Where in the body's text, if known.
    pub range: Option<Range<usize>>,
    /// The corrected text.
    pub fix: Option<String>,
}

impl BodyError {
    /// An error for the whole body.
    #[must_use]
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), range: None, fix: None }
    }

    /// A `what` that is none of `known`: all of them are listed, and the nearest is the fix.
    #[must_use]
    pub fn unknown<'a>(
        code: &str,
        what: &str,
        found: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let known: Vec<_> = known.into_iter().collect();
        let message = format!("unknown {what} `{found}`; known are `{}`", known.join("`, `"));
        let fix = nearest(found, known).map(|near| format!("did you mean `{near}`?"));
        Self { fix, ..Self::new(code, message) }
    }
}

/// Declares a dialect type (`!tm.dm<...>`) or attribute (`#tm.map<...>`).
pub struct BodyDef {
    /// Full name without sigil, e.g. `tm.dm`.
    pub name: &'static str,
    /// The body's syntax, for messages and docs, e.g. `DTYPE, CHIP, CLUSTER, SLICE, ELEMENT`. MLIR is told of two
    /// kinds: names in capitals with commas between them are the fields, and `a | b` are all the words that the
    /// body may be.
    pub syntax: &'static str,
    /// Its semantics (Markdown).
    pub doc: &'static str,
    /// Reads the body text.
    pub parse: fn(&str) -> Result<Rc<dyn Body>, BodyError>,
    /// The symbols that a body names; a body names none where there is no such function.
    pub symbols: Option<SymbolsFn>,
    /// The level of the operations on values of this type, if it is another than that of their dialect.
    pub level: Option<Level>,
}

/// Calls a function for each symbol that a body names, in the order of its text, and returns the body with the new
/// names; `None` if no name changes.
pub type SymbolsFn = fn(&dyn Body, &mut dyn FnMut(&str) -> Option<Rc<str>>) -> Option<Rc<dyn Body>>;

impl BodyDef {
    /// A definition that reads nothing: the base of one (`..BodyDef::BASE`).
    pub const BASE: Self = Self {
        name: "",
        syntax: "",
        doc: "",
        parse: |text| Err(BodyError::new("body", format!("nothing reads `{text}`"))),
        symbols: None,
        level: None,
    };
}

impl fmt::Debug for BodyDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Kind of a clause's value.
#[derive(Clone, Copy, Debug)]
pub enum ClauseKind {
    /// A signed 64-bit integer, decimal or `0x` hexadecimal.
    Int,
    /// A quoted string.
    Str,
    /// One of a fixed set of words: [`ClauseKind::word`] gives those of an enum.
    Word(&'static [&'static str]),
    /// `@name`.
    Symbol,
    /// `[1, 2, 3]`.
    Ints,
    /// `["a", "b"]`.
    Strs,
    /// No value: the clause is there or it is not.
    Flag,
    /// A dialect attribute, written without its `#name<...>` wrapper in the pretty form.
    Body(&'static BodyDef),
}

impl ClauseKind {
    /// A dialect attribute whose values are of the Rust type `T`, the result type of [`macro@crate::view`].
    #[must_use]
    pub const fn body<T: Body>(def: &'static BodyDef) -> Self {
        Self::Body(def)
    }

    /// One of the words of the enum `T`: the values that [`macro@crate::view`] gives.
    #[must_use]
    pub const fn word<T: Word>() -> Self {
        Self::Word(T::WORDS)
    }

    /// The kind in words, for messages and docs.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Int => "integer".into(),
            Self::Str => "string".into(),
            Self::Word(words) => format!("one of `{}`", words.join("`, `")),
            Self::Symbol => "symbol (`@name`)".into(),
            Self::Ints => "integer list (`[1, 2]`)".into(),
            Self::Strs => "string list (`[\"a\"]`)".into(),
            Self::Flag => "flag".into(),
            Self::Body(def) => format!("`{}` ({})", def.name, def.syntax),
        }
    }

    /// A value of the kind, as it is written.
    fn example(&self) -> String {
        match self {
            Self::Int => "0".into(),
            Self::Str => "\"a\"".into(),
            Self::Word(words) => words.first().copied().unwrap_or_default().into(),
            Self::Symbol => "@name".into(),
            Self::Ints => "[1, 2]".into(),
            Self::Strs => "[\"a\"]".into(),
            Self::Flag => String::new(),
            Self::Body(def) => def.syntax.into(),
        }
    }
}

/// Presence of a clause: required, optional or with a default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It must.
    Required,
    /// It may be left out, and then is absent.
    Optional,
    /// It may be left out, and then has this value (as written).
    Default(&'static str),
}

/// Declares one clause of an operation.
#[derive(Clone, Copy, Debug)]
pub struct ClauseDecl {
    /// The keyword.
    pub name: &'static str,
    /// Kind of its value.
    pub kind: ClauseKind,
    /// Presence: required, optional or with a default.
    pub presence: Presence,
    /// A *lead* clause comes right after the operation's name, without its keyword.
    pub lead: bool,
    /// A *mark* is written before the types of the arguments whose numbers it lists: `%x: inout !tm.hbm<...>`.
    pub mark: bool,
    /// Use of `auto`.
    pub opening: Opening,
    /// Its semantics, with its unit.
    pub doc: &'static str,
}

impl ClauseDecl {
    /// The text to write instead of an `auto` that is not allowed.
    #[must_use]
    pub fn in_place_of_auto(&self) -> String {
        format!("write a value in place of `auto`, as in `{}`", self.example())
    }

    /// The clause with some value, as it is written.
    #[must_use]
    pub fn example(&self) -> String {
        let keyword = if self.lead { String::new() } else { format!("{} ", self.name) };
        format!("{keyword}{}", self.kind.example())
    }

    /// A clause with its keyword that is never `auto`.
    const fn new(name: &'static str, kind: ClauseKind, presence: Presence, doc: &'static str) -> Self {
        Self { name, kind, presence, lead: false, mark: false, opening: Opening::Never, doc }
    }

    /// A required clause.
    #[must_use]
    pub const fn required(name: &'static str, kind: ClauseKind, doc: &'static str) -> Self {
        Self::new(name, kind, Presence::Required, doc)
    }

    /// An optional clause.
    #[must_use]
    pub const fn optional(name: &'static str, kind: ClauseKind, doc: &'static str) -> Self {
        Self::new(name, kind, Presence::Optional, doc)
    }

    /// A clause with a default.
    #[must_use]
    pub const fn default(
        name: &'static str,
        kind: ClauseKind,
        default: &'static str,
        doc: &'static str,
    ) -> Self {
        Self::new(name, kind, Presence::Default(default), doc)
    }

    /// The required clause that comes first, without its keyword.
    #[must_use]
    pub const fn lead(name: &'static str, kind: ClauseKind, doc: &'static str) -> Self {
        Self { lead: true, ..Self::new(name, kind, Presence::Required, doc) }
    }

    /// The clause, which may also be `auto`; result types may depend on it.
    #[must_use]
    pub const fn open(self) -> Self {
        Self { opening: Opening::Configuration, ..self }
    }

    /// The clause, a place in a memory, which may also be `auto`; no result type depends on it.
    #[must_use]
    pub const fn open_address(self) -> Self {
        Self { opening: Opening::Address, ..self }
    }

    /// The clause, of numbers of arguments, as a mark of these arguments.
    #[must_use]
    pub const fn marks_arguments(self) -> Self {
        Self { mark: true, ..self }
    }

    /// The clause, an order in which something is done, which may also be `auto`.
    #[must_use]
    pub const fn open_order(self) -> Self {
        Self { opening: Opening::Order, ..self }
    }
}

/// Declares one operand.
#[derive(Clone, Copy, Debug)]
pub struct OperandDecl {
    /// Its role, for messages and docs.
    pub name: &'static str,
    /// The types it may have.
    pub types: Accepts,
    /// Number of its values.
    pub arity: Arity,
}

/// The types that an operand takes.
#[derive(Clone, Copy, Debug)]
pub enum Accepts {
    /// Those of these definitions; any if there are none.
    Named(&'static [&'static str]),
    /// Those that follow from something else in the declarations.
    Derived {
        /// Returns true if it accepts a type.
        takes: fn(&Context, TypeId) -> bool,
        /// The definitions whose types it takes, for messages and docs.
        names: fn() -> Vec<&'static str>,
    },
}

impl Accepts {
    /// Returns true if it accepts a value of this type.
    #[must_use]
    pub fn takes(&self, ctx: &Context, ty: TypeId) -> bool {
        match self {
            Self::Named(names) => names.is_empty() || names.contains(&ctx.type_name(ty)),
            Self::Derived { takes, .. } => takes(ctx, ty),
        }
    }

    /// The definitions whose types are taken; none means any.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        match self {
            Self::Named(names) => names.to_vec(),
            Self::Derived { names, .. } => names(),
        }
    }
}

/// Number of values of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// Exactly one.
    One,
    /// None or one; must be the last operand.
    Optional,
    /// Any number; must be the last operand.
    Variadic,
}

impl OperandDecl {
    /// One value of one of `types`.
    #[must_use]
    pub const fn one(name: &'static str, types: &'static [&'static str]) -> Self {
        Self { name, types: Accepts::Named(types), arity: Arity::One }
    }

    /// One value whose types follow from something else in the declarations.
    #[must_use]
    pub const fn accepting(name: &'static str, types: Accepts) -> Self {
        Self { name, types, arity: Arity::One }
    }

    /// At most one value.
    #[must_use]
    pub const fn optional(name: &'static str, types: &'static [&'static str]) -> Self {
        Self { name, types: Accepts::Named(types), arity: Arity::Optional }
    }

    /// Any number of values.
    #[must_use]
    pub const fn variadic(name: &'static str, types: &'static [&'static str]) -> Self {
        Self { name, types: Accepts::Named(types), arity: Arity::Variadic }
    }
}

/// Structural facts that the parser, the printer and the verifier act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trait {
    /// Has one region with one block, which has no arguments.
    Region,
    /// Has one region with one block, which has named, typed arguments, written as a signature: `(%a: !t, %b:
    /// !u)`. A function has one, and so has a loop, with its index and the values that it carries.
    Function,
    /// Ends a block; no operation may follow it. Its operands are the block's results for the enclosing operation.
    Terminator,
    /// Its block must end in the terminator of this name.
    EndsWith(&'static str),
    /// May be only directly inside the operation of this name.
    Inside(&'static str),
    /// May be only directly inside an operation of one of these names.
    InsideOneOf(&'static [&'static str]),
    /// Has any number of results: as many as are inferred, or as are written with their types.
    AnyResults,
    /// May be only at the top of a module.
    TopLevel,
    /// The types of its results also depend on declarations of the module.
    InfersFromModule,
}

/// A piece of behaviour that another crate looks for on a declaration, found by its Rust type.
#[derive(Clone, Copy)]
pub struct Interface(pub &'static (dyn Any + Send + Sync));

impl fmt::Debug for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Interface")
    }
}

/// Result types from operands and clauses. `None` where the result type must be written.
pub type InferFn = fn(OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic>;

/// Checks constraints that the structure does not express. Findings go to the context.
pub type VerifyFn = fn(OpRef<'_>, &VerifyCx<'_>) -> Result<(), Diagnostic>;

/// Declares an operation.
#[derive(Debug)]
pub struct OpDecl {
    /// Full name, e.g. `stream.fetch`.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Its semantics (Markdown), with the book chapter of its rules.
    pub doc: &'static str,
    /// Numbered constraints: `("C1", "the packet is a multiple of 8 bytes (book 08)")`.
    pub constraints: &'static [(&'static str, &'static str)],
    /// Operands in order.
    pub operands: &'static [OperandDecl],
    /// Clauses in print order.
    pub clauses: &'static [ClauseDecl],
    /// Names of the results.
    pub results: &'static [&'static str],
    /// Structural facts.
    pub traits: &'static [Trait],
    /// Its effects.
    pub effects: Effects,
    /// Result types from the types of the operands and from the clauses, and nothing else: asked once for each
    /// combination of them, unless it has the trait [`Trait::InfersFromModule`].
    pub infer: Option<InferFn>,
    /// Types of the arguments of its region, inferred from the inputs of result types. With such a function, a
    /// signature may omit them.
    pub arguments: Option<InferFn>,
    /// Checks of the constraints.
    pub verify: Option<VerifyFn>,
    /// An equal value that exists already, if there is one.
    pub fold: Option<FoldFn>,
    /// Patterns that bring it into its canonical form.
    pub patterns: &'static [&'static RewritePattern],
    /// An example in the pretty form, shown in the language reference.
    pub example: &'static str,
    /// Behaviour that other crates look for.
    pub interfaces: &'static [Interface],
}

impl OpDecl {
    /// An operation with nothing: the base of a declaration (`..OpDecl::BASE`).
    pub const BASE: Self = Self {
        name: "",
        summary: "",
        doc: "",
        constraints: &[],
        operands: &[],
        clauses: &[],
        results: &[],
        traits: &[],
        effects: Effects::Undeclared,
        infer: None,
        arguments: None,
        verify: None,
        fold: None,
        patterns: &[],
        example: "",
        interfaces: &[],
    };

    /// Returns true if it has a trait.
    #[must_use]
    pub fn has(&self, wanted: Trait) -> bool {
        self.traits.contains(&wanted)
    }

    /// Returns true if it has a region.
    #[must_use]
    pub fn has_region(&self) -> bool {
        self.has(Trait::Region) || self.has(Trait::Function)
    }

    /// The behaviour of Rust type `T`, if declared.
    #[must_use]
    pub fn interface<T: Any>(&self) -> Option<&'static T> {
        self.interfaces.iter().find_map(|interface| interface.0.downcast_ref())
    }

    /// The clause called `name`.
    #[must_use]
    pub fn clause(&self, name: &str) -> Option<&ClauseDecl> {
        self.clauses.iter().find(|clause| clause.name == name)
    }

    /// The lead clause, if any.
    #[must_use]
    pub fn lead(&self) -> Option<&ClauseDecl> {
        self.clauses.iter().find(|clause| clause.lead)
    }

    /// The text of constraint `number`, for messages that cite it.
    #[must_use]
    pub fn constraint(&self, number: &str) -> Option<&'static str> {
        self.constraints.iter().find(|(n, _)| *n == number).map(|&(_, text)| text)
    }
}

/// The errors in the declarations of a dialect.
pub(crate) fn check(dialect: &Dialect) -> Vec<String> {
    let prefix = format!("{}.", dialect.name);
    let ops = dialect.ops.iter().copied().flatten();
    let names = ops.clone().map(|op| op.name);
    let names =
        names.chain(dialect.types.iter().map(|def| def.name)).chain(dialect.attrs.iter().map(|def| def.name));
    let outside = names.filter(|name| !name.starts_with(&prefix));
    let mut wrong: Vec<_> = outside
        .map(|name| format!("`{name}` of dialect `{}` does not begin with `{prefix}`", dialect.name))
        .collect();
    for op in ops {
        wrong.extend(foreign_patterns(op));
        if op.arguments.is_some() && !op.has(Trait::Function) {
            wrong.push(format!("`{}` infers the types of arguments, but its body takes none", op.name));
        }
        let effects = match op.effects {
            Effects::Undeclared => {
                wrong.push(format!(
                    "`{}` declares no effects (`effects: Effects::PURE` if it has none)",
                    op.name
                ));
                continue;
            }
            Effects::Are(effects) => effects,
            Effects::OfBody | Effects::Declares => &[],
        };
        for effect in effects {
            let (kind, name, known) = match effect.on {
                Target::Operand(name) => {
                    ("operand", name, op.operands.iter().any(|operand| operand.name == name))
                }
                Target::Result(name) => ("result", name, op.results.contains(&name)),
                Target::Clause(name) => ("clause", name, op.clause(name).is_some()),
                Target::Memory(_) | Target::Stream => continue,
            };
            if !known {
                wrong.push(format!(
                    "`{}` has an effect on its {kind} `{name}`, which it does not declare",
                    op.name
                ));
            }
        }
    }
    wrong
}

/// Patterns of a declaration that would never be tried: their root is another operation.
fn foreign_patterns(op: &'static OpDecl) -> impl Iterator<Item = String> {
    let root = |pattern: &RewritePattern| pattern.root.filter(|root| root.name != op.name);
    op.patterns.iter().filter_map(move |pattern| {
        let root = root(pattern)?.name;
        Some(format!("`{}` declares pattern `{}`, which is for `{root}`", op.name, pattern.name))
    })
}

/// Types that an inference function builds: `make_type(ctx, &DEF, value)`.
pub fn make_type(ctx: &Context, def: &'static BodyDef, value: impl Body) -> TypeId {
    ctx.intern_type(def, Rc::new(value))
}
