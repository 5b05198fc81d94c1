//! Terms of an e-graph: a head and children, for any kind of heads.

use egg::{Id, Language};
use std::fmt;
use std::hash::Hash;

/// A node of an e-graph. Nodes of equal heads with as many children match.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node<H> {
    /// The head, without its children.
    pub head: H,
    /// Its children.
    pub children: Vec<Id>,
}

impl<H> Node<H> {
    /// A node with children.
    #[must_use]
    pub fn new(head: H, children: impl Into<Vec<Id>>) -> Self {
        Self { head, children: children.into() }
    }
}

impl<H: Clone + fmt::Debug + Ord + Hash> Language for Node<H> {
    type Discriminant = H;

    fn discriminant(&self) -> H {
        self.head.clone()
    }

    fn matches(&self, other: &Self) -> bool {
        self.head == other.head && self.children.len() == other.children.len()
    }

    fn children(&self) -> &[Id] {
        &self.children
    }

    fn children_mut(&mut self) -> &mut [Id] {
        &mut self.children
    }
}

impl<H: fmt::Debug> fmt::Display for Node<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.head)
    }
}
