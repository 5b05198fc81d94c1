//! Questions that inference has about the program around a body.

use crate::program::{AdtId, ModuleId};
use std::rc::Rc;

/// The place from which names are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    pub(crate) module: ModuleId,
    /// The type that `Self` is.
    pub(crate) of: Option<AdtId>,
    /// The implementation that has the item, by its number.
    pub(crate) implementation: Option<usize>,
}

/// The head of an `impl`.
pub(crate) struct Implementation {
    pub(crate) generics: syn::Generics,
    pub(crate) self_ty: syn::Type,
}

/// The item that a path of the value namespace names.
pub(crate) enum Definition {
    /// A function or an associated function, its signature seen from its scope.
    Fn(Scope, Rc<syn::Signature>),
    /// A constant or a static, its type seen from its scope.
    Const(Scope, Rc<syn::Type>),
    /// A structure (position 0) or a variant, as a constructor or a pattern.
    Constructor(AdtId, usize),
    /// A name that is not of the input: the known part of its full path (`core::f32::consts::PI`, `Some`, `i32::MAX`).
    External(Vec<String>),
    /// An axis or another number of the toolchain.
    Toolchain,
    /// An item that is not read, and why.
    Unread(String),
}

/// The item that a path of the type namespace names.
pub(crate) enum TypeDefinition {
    Alias(Scope, Rc<syn::ItemType>),
    Adt(AdtId),
    /// A variant, in an expression or pattern with fields.
    Variant(AdtId, usize),
    /// A name that is not of the input: its full path.
    External(Vec<String>),
    /// A type of the toolchain.
    Toolchain,
    /// An item that is not read, and why.
    Unread(String),
}

/// The fields of a structure or a variant, by their names; those of a tuple by their positions.
pub(crate) struct Variant {
    pub(crate) fields: Vec<(String, syn::Type)>,
    /// True if it is constructed by a call.
    pub(crate) is_tuple: bool,
}

/// A structure or an enumeration.
pub(crate) struct AdtDefinition {
    /// The scope of its fields' types.
    pub(crate) scope: Scope,
    pub(crate) generics: syn::Generics,
    /// The variants; a structure has one.
    pub(crate) variants: Vec<Variant>,
}

/// The program, as inference sees it.
pub(crate) trait Definitions {
    /// Looks up a path of values; `Self::f` and `Type::f` are paths, too.
    fn value(&self, scope: Scope, path: &[String]) -> Definition;
    /// Looks up a path of types.
    fn ty(&self, scope: Scope, path: &[String]) -> TypeDefinition;
    fn adt(&self, adt: AdtId) -> Rc<AdtDefinition>;
    /// Looks up a method that the input implements for a type.
    fn method(&self, adt: AdtId, name: &str) -> Option<(Scope, Rc<syn::Signature>)>;
    /// The head of the implementation of a scope's number.
    fn implementation(&self, number: usize) -> Rc<Implementation>;
    /// Returns true if a trait of the input has a method or constant of that name. Calls of it are not read, but for
    /// inherent methods of the input's types.
    fn is_of_trait(&self, name: &str) -> bool;
    /// The module of the items of a block, if it begins with a marker.
    fn block(&self, stmts: &[syn::Stmt]) -> Option<ModuleId>;
}
