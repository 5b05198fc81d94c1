//! Typed views of operations. An operation is handled through the view that its declaration makes
//! ([`macro@crate::view`]): `Fetch::of(op)?.time()?`. A clause that is absent, `auto` or of another kind is an
//! error at its accessor, never a default.

use crate::build::NewOp;
use crate::context::{Attr, TypeId};
use crate::decl::{Body, ClauseDecl, ClauseKind, OpDecl, Presence};
use crate::diag::Diagnostic;
use crate::module::{Module, OpRef, ValueId};
use crate::open;
use crate::verify::{may_be_absent, operand_counts};
use std::marker::PhantomData;
use std::rc::Rc;
use visa_words::Word;

/// A kind of clause as a Rust type.
pub trait Kind {
    /// Type of its value.
    type Value;
    /// The value, if the attribute is of this kind.
    fn read(attr: &Attr) -> Option<Self::Value>;
}

/// The constant of a shared clause ([`macro@crate::clause`]) as a type.
pub trait SharedClause {
    /// Result of its accessor.
    type Output;
    /// The value that its setter takes.
    type Value;
    /// Reads the clause.
    fn read(op: &OpRef<'_>) -> Self::Output;
    /// Sets the clause.
    fn write(new: NewOp<'_>, value: Self::Value) -> NewOp<'_>;
}

/// An integer.
pub struct Int;
/// A string.
pub struct Text;
/// One of the words of the enum `T`.
pub struct WordOf<T>(PhantomData<T>);
/// A symbol, without its `@`.
pub struct Symbol;
/// A list of integers.
pub struct Ints;
/// A list of strings.
pub struct Texts;
/// Nothing: the clause is there or it is not.
pub struct Flag;
/// A dialect attribute whose value is a `T`.
pub struct BodyOf<T>(PhantomData<T>);

impl Kind for Int {
    type Value = i64;
    fn read(attr: &Attr) -> Option<i64> {
        if let Attr::Int(value) = attr { Some(*value) } else { None }
    }
}

impl Kind for Text {
    type Value = Rc<str>;
    fn read(attr: &Attr) -> Option<Rc<str>> {
        if let Attr::Str(text) = attr { Some(text.clone()) } else { None }
    }
}

impl<T: Word> Kind for WordOf<T> {
    type Value = T;
    fn read(attr: &Attr) -> Option<T> {
        if let Attr::Str(text) = attr { T::from_word(text) } else { None }
    }
}

impl Kind for Symbol {
    type Value = Rc<str>;
    fn read(attr: &Attr) -> Option<Rc<str>> {
        if let Attr::Symbol(name) = attr { Some(name.clone()) } else { None }
    }
}

impl Kind for Ints {
    type Value = Rc<[i64]>;
    fn read(attr: &Attr) -> Option<Rc<[i64]>> {
        if let Attr::Ints(values) = attr { Some(values.clone()) } else { None }
    }
}

impl Kind for Texts {
    type Value = Rc<[Rc<str>]>;
    fn read(attr: &Attr) -> Option<Rc<[Rc<str>]>> {
        if let Attr::Strs(values) = attr { Some(values.clone()) } else { None }
    }
}

impl Kind for Flag {
    type Value = ();
    fn read(attr: &Attr) -> Option<()> {
        matches!(attr, Attr::Unit).then_some(())
    }
}

impl<T: Body> Kind for BodyOf<T> {
    type Value = Rc<T>;
    fn read(attr: &Attr) -> Option<Rc<T>> {
        if let Attr::Body(_, body) = attr { body.clone().into_any().downcast().ok() } else { None }
    }
}

/// The value of a clause that must be there, or its declared default.
///
/// # Errors
/// If the clause is absent, `auto` or of another kind.
pub fn required<K: Kind>(op: &OpRef<'_>, clause: &str) -> Result<K::Value, Diagnostic> {
    match op.attr(clause) {
        Some(attr) => K::read(&attr).ok_or_else(|| mistyped(op, clause, &attr)),
        None => default::<K>(op, clause)?.ok_or_else(|| missing(op, clause)),
    }
}

/// The value of a clause that may be absent.
///
/// # Errors
/// If the clause is `auto` or of another kind.
pub fn optional<K: Kind>(op: &OpRef<'_>, clause: &str) -> Result<Option<K::Value>, Diagnostic> {
    let Some(attr) = op.attr(clause) else { return Ok(None) };
    K::read(&attr).map(Some).ok_or_else(|| mistyped(op, clause, &attr))
}

/// The value of a clause; `None` while it is `auto`, or a list with an `auto` in it, and `None` if it is optional and
/// absent.
///
/// # Errors
/// If the clause is absent and may not be, or of another kind.
pub fn unless_auto<K: Kind>(op: &OpRef<'_>, clause: &str) -> Result<Option<K::Value>, Diagnostic> {
    let presence = declared(op, clause).map(|declared| declared.presence);
    match (open::is_open(*op, clause), presence) {
        (true, _) => Ok(None),
        (false, Some(Presence::Optional)) => optional::<K>(op, clause),
        (false, Some(Presence::Required | Presence::Default(_)) | None) => {
            required::<K>(op, clause).map(Some)
        }
    }
}

/// Returns true if a flag is set.
#[must_use]
pub fn flag(op: &OpRef<'_>, clause: &str) -> bool {
    op.attr(clause).is_some()
}

fn declared(op: &OpRef<'_>, clause: &str) -> Option<&'static ClauseDecl> {
    op.decl()?.clause(clause)
}

/// The declared default, read as the clause's kind.
fn default<K: Kind>(op: &OpRef<'_>, clause: &str) -> Result<Option<K::Value>, Diagnostic> {
    let Some(ClauseDecl { presence: Presence::Default(text), kind, .. }) = declared(op, clause) else {
        return Ok(None);
    };
    let attr = kind.read_default(text).ok_or_else(|| mistyped_text(op, clause, text))?;
    K::read(&attr).map(Some).ok_or_else(|| mistyped(op, clause, &attr))
}

fn missing(op: &OpRef<'_>, clause: &str) -> Diagnostic {
    let of_declared = declared(op, clause)
        .zip(op.decl())
        .and_then(|(clause, decl)| may_be_absent(decl, clause, op.span()).err());
    of_declared.unwrap_or_else(|| {
        Diagnostic::error("missing-clause", op.span(), format!("`{}` has no clause `{clause}`", op.name()))
    })
}

fn mistyped(op: &OpRef<'_>, clause: &str, found: &Attr) -> Diagnostic {
    mistyped_text(op, clause, &found.generic())
}

fn mistyped_text(op: &OpRef<'_>, clause: &str, found: &str) -> Diagnostic {
    let decl = declared(op, clause);
    let expected = decl.map_or_else(|| "another kind".to_owned(), |decl| decl.kind.describe());
    let message = format!("clause `{clause}` of `{}` is `{found}`, expected {expected}", op.name());
    let fix = decl.filter(|_| open::is_open(*op, clause)).map(ClauseDecl::in_place_of_auto);
    Diagnostic::error("clause-kind", op.clause_span(clause), message).fix(fix)
}

/// The error of a view that an operation is not seen through.
#[must_use]
pub fn another(op: OpRef<'_>, expected: &OpDecl) -> Diagnostic {
    let message = format!("found `{}`, expected `{}`", op.name(), expected.name);
    Diagnostic::error("structure", op.span(), message)
}

/// A value seen together with its module and context.
#[derive(Clone, Copy)]
pub struct ValueRef<'a> {
    /// The value.
    pub id: ValueId,
    of: OpRef<'a>,
}

impl<'a> ValueRef<'a> {
    /// The module.
    #[must_use]
    pub fn module(&self) -> &'a Module {
        self.of.module
    }

    /// Its type.
    #[must_use]
    pub fn ty(&self) -> TypeId {
        self.module().ty(self.id)
    }

    /// The value of its type.
    ///
    /// # Errors
    /// If the type's value is no `T`.
    pub fn of_type<T: Body>(&self) -> Result<Rc<T>, Diagnostic> {
        self.of.ctx.type_value(self.ty()).ok_or_else(|| {
            let found = self.of.ctx.type_text(self.ty());
            let message = format!("`{}` has a value of the unexpected type `{found}`", self.of.name());
            Diagnostic::error("value-type", self.of.span(), message)
        })
    }

    /// The operation whose result it is; nothing for an argument of a block.
    #[must_use]
    pub fn made_by(&self) -> Option<OpRef<'a>> {
        self.module().def_op(self.id).map(|id| self.of.other(id))
    }

    /// The operations that use it, one entry a use.
    pub fn users(&self) -> impl Iterator<Item = OpRef<'a>> + use<'a> {
        let of = self.of;
        of.module.uses(self.id).iter().map(move |&id| of.other(id))
    }
}

impl<'a> OpRef<'a> {
    /// A value of the same module.
    #[must_use]
    pub fn value(&self, id: ValueId) -> ValueRef<'a> {
        ValueRef { id, of: *self }
    }
}

/// Operand `index`, which the declaration calls `name`.
///
/// # Errors
/// If the operation has fewer operands.
pub fn operand<'a>(op: &OpRef<'a>, index: usize, name: &str) -> Result<ValueRef<'a>, Diagnostic> {
    operands(op, index).next().ok_or_else(|| {
        let message = || format!("`{}` has no operand `{name}`", op.name());
        operand_counts(*op).err().unwrap_or_else(|| Diagnostic::error("operands", op.span(), message()))
    })
}

/// The operands from `index` on.
pub fn operands<'a>(op: &OpRef<'a>, index: usize) -> impl Iterator<Item = ValueRef<'a>> + use<'a> {
    let op = *op;
    op.operands().iter().skip(index).map(move |&id| op.value(id))
}

/// Result `index`, which the declaration calls `name`.
///
/// # Errors
/// If the operation has fewer results.
pub fn result<'a>(op: &OpRef<'a>, index: usize, name: &str) -> Result<ValueRef<'a>, Diagnostic> {
    op.results().get(index).map(|&id| op.value(id)).ok_or_else(|| {
        Diagnostic::error("results", op.span(), format!("`{}` has no result `{name}`", op.name()))
    })
}

impl ClauseKind {
    /// A default as an attribute; `None` if it is not of this kind.
    #[must_use]
    pub fn read_default(self, text: &str) -> Option<Attr> {
        match self {
            Self::Int => text.parse().ok().map(Attr::Int),
            Self::Str | Self::Word(_) => Some(Attr::Str(text.into())),
            Self::Symbol => Some(Attr::Symbol(text.trim_start_matches('@').into())),
            Self::Body(def) => Some(Attr::Body(def, (def.parse)(text).ok()?)),
            Self::Ints | Self::Strs | Self::Flag => None,
        }
    }
}

impl ClauseDecl {
    /// The value of the clause where it is left out; `None` if it has no default.
    #[must_use]
    pub fn default_value(&self) -> Option<Attr> {
        match self.presence {
            Presence::Default(text) => self.kind.read_default(text),
            Presence::Required | Presence::Optional => None,
        }
    }
}
