//! The values of a kernel in the language: variables, views of them, pipelines under construction, and numbers.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use std::collections::BTreeSet;
use visa_algebra::Expr;
use visa_ir::module::ValueId;
use visa_machine::Unit;

/// The ownership of a tensor in a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ownership {
    /// A variable of the kernel.
    Owned,
    /// An argument that stays unchanged.
    Shared,
    /// An argument that is changed.
    Changed,
}

/// The variable of a tensor.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: Ident,
    pub(crate) ownership: Ownership,
}

/// A view of a tensor: method calls on `x.view()`.
#[derive(Clone, Debug)]
pub(crate) struct View {
    /// The tensor.
    pub(crate) of: ValueId,
    pub(crate) steps: Vec<Step>,
}

/// A method call that makes a view of another one.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// The call, with its dot.
    pub(crate) call: TokenStream,
    /// True if the method is `unsafe`.
    pub(crate) is_unsafe: bool,
}

impl Step {
    /// The call on a view.
    pub(crate) fn on(&self, view: &TokenStream) -> TokenStream {
        let call = &self.call;
        if self.is_unsafe { quote!(unsafe { #view #call }) } else { quote!(#view #call) }
    }
}

/// A pipeline under construction.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    /// The method chain.
    pub(crate) chain: TokenStream,
    /// The tensors that it borrows.
    pub(crate) reads: BTreeSet<ValueId>,
    /// Lines of comments, which come before the statement.
    pub(crate) comments: Vec<String>,
    /// The context that runs it.
    pub(crate) unit: Unit,
    /// The axis of the two groups, from the split of the stream to where they become one.
    pub(crate) groups: Option<Expr>,
}

impl Stream {
    /// Adds a method call.
    pub(crate) fn then(mut self, call: TokenStream) -> Self {
        self.chain.extend(call);
        self
    }
}

/// A sum of numbers, each times a factor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Linear {
    pub(crate) terms: Vec<(String, i64)>,
    pub(crate) plus: i64,
}
