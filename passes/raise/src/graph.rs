//! A function of the tensor level as a graph: each different value once, loops unrolled where that is short.
//!
//! Two functions with the same graph compute the same bits. Nodes are simplified while they are made, by rules that
//! hold bit for bit (`Graph::node`).

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use visa_ir::decl::OpDecl;
use visa_mapping::expression::Function;
use visa_mapping::ops::{cast, contract, rename, restrict};
use visa_numerics::DType;

/// A value's number.
pub type Id = usize;

/// The clauses of a node: name and text.
pub type Clauses = Vec<(&'static str, String)>;

/// Kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A tensor argument.
    Argument,
    /// A number that is known when a kernel starts.
    Scalar,
    /// A known number.
    Number,
    /// The index of a loop that stays one.
    LoopIndex,
    /// A value that such a loop carries.
    Carried,
    /// A result of such a loop.
    For,
    /// A result of a branch whose condition is not known.
    If,
    /// The same element everywhere.
    Element,
    /// A value that is undefined where others are.
    WhereDefined,
    /// A function of elements.
    Function(&'static Function),
    /// Another operation.
    Operation(Declared),
}

/// The clause of a sum whose result depends on its order, and whose order is free.
pub(crate) const FREE: &str = "free";

/// A declaration, which is the same as itself alone.
#[derive(Clone, Copy)]
pub struct Declared(pub &'static OpDecl);

impl PartialEq for Declared {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Declared {}

impl Hash for Declared {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.0).hash(state);
    }
}

impl PartialOrd for Declared {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Declared {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.name.cmp(other.0.name)
    }
}

impl fmt::Debug for Declared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

impl Kind {
    /// Returns true if it is the operation of a declaration.
    #[must_use]
    pub fn is(self, decl: &'static OpDecl) -> bool {
        self == Self::Operation(Declared(decl))
    }
}

/// A value: an operation of others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// Its kind.
    pub kind: Kind,
    /// Its clauses, with one text for all spellings of a clause.
    pub clauses: Clauses,
    /// The values that it takes.
    pub values: Vec<Id>,
}

/// All values of a function.
#[derive(Default)]
pub struct Graph {
    nodes: Vec<Node>,
    dtypes: Vec<Option<DType>>,
    known: HashMap<Node, Id>,
}

impl Node {
    /// The text of a clause.
    #[must_use]
    pub fn clause(&self, name: &str) -> Option<&str> {
        self.clauses.iter().find(|(own, _)| *own == name).map(|(_, text)| &**text)
    }
}

impl Graph {
    /// The node of a value.
    #[must_use]
    pub fn get(&self, id: Id) -> &Node {
        &self.nodes[id]
    }

    /// Format of a value; none for an index.
    #[must_use]
    pub fn dtype(&self, id: Id) -> Option<DType> {
        self.dtypes[id]
    }

    /// Returns true if a value is the result of one of these functions.
    #[must_use]
    pub(crate) fn has(&self, functions: &[&str]) -> bool {
        let is_one = |node: &Node| matches!(node.kind, Kind::Function(own) if functions.contains(&own.name));
        self.nodes.iter().any(is_one)
    }

    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns true if there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns true if a sum has no order that its result depends on.
    #[must_use]
    pub(crate) fn has_free_sums(&self) -> bool {
        self.nodes.iter().any(|node| node.clause(FREE).is_some())
    }

    /// The value that a node is: one that is there already, where a rule or the same node gives it.
    pub(crate) fn node(&mut self, node: Node, dtype: Option<DType>) -> Id {
        if let Some(simple) = self.simplified(&node, dtype) {
            return simple;
        }
        let node = self.sorted(node);
        if let Some(&known) = self.known.get(&node) {
            return known;
        }
        self.nodes.push(node.clone());
        self.dtypes.push(dtype);
        self.known.insert(node, self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// A value that is the same as a node, if a rule has one.
    fn simplified(&mut self, node: &Node, dtype: Option<DType>) -> Option<Id> {
        let &first = node.values.first()?;
        let inner = &self.nodes[first];
        let is = |decl| node.kind.is(decl);
        // A value is the same along every axis that it lacks.
        let same = is(&rename::BROADCAST)
            || is(&cast::DECL) && self.dtypes[first] == dtype
            || is(&restrict::RESTRICT) && inner.kind == node.kind && inner.clauses == node.clauses
            || is(&rename::RENAME) && node.clause("axes") == node.clause("to");
        if same {
            return Some(first);
        }
        if !is(&restrict::INSERT) {
            return None;
        }
        let before = self.nodes[node.values[1]].clone();
        let overwrites = before.kind == node.kind
            && before.clauses == node.clauses
            && before.values[2..] == node.values[2..];
        overwrites.then(|| {
            let values = [&[node.values[0], before.values[1]], &node.values[2..]].concat();
            self.node(Node { values, ..node.clone() }, dtype)
        })
    }

    /// The same node with its values in a fixed order, where their order does not count.
    fn sorted(&mut self, mut node: Node) -> Node {
        if node.kind.is(&contract::DECL) {
            // A product is the same both ways.
            node.values.sort_unstable();
        }
        if !node.kind.is(&restrict::INSERT) {
            return node;
        }
        // Parts that are apart may be written in any order: the least position first.
        let before = self.nodes[node.values[1]].clone();
        let (Some(own), Some(other)) = (position(&node), position(&before)) else { return node };
        if before.kind != node.kind || own >= other || !apart(&node, &before) {
            return node;
        }
        let dtype = self.dtypes[before.values[1]];
        let values = vec![node.values[0], before.values[1]];
        let inner = self.node(Node { values, ..node }, dtype);
        Node { values: vec![before.values[0], inner], ..before }
    }
}

/// The position of a part along its dimension, if it is known.
fn position(node: &Node) -> Option<u64> {
    if node.values.len() > 2 {
        return None;
    }
    node.clause("index")?.parse().ok()
}

/// Returns true if two parts of one dimension have no element in common: they are at different positions, and a part
/// is within one.
fn apart(left: &Node, right: &Node) -> bool {
    let same = ["along", "part"].iter().all(|clause| left.clause(clause) == right.clause(clause));
    same && left.clause("apart") == Some("yes") && right.clause("apart") == Some("yes")
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (id, node) in self.nodes.iter().enumerate() {
            let values: Vec<String> = node.values.iter().map(|value| format!("%{value}")).collect();
            let clauses: Vec<String> =
                node.clauses.iter().map(|(name, text)| format!("{name} {text}")).collect();
            writeln!(f, "%{id} = {:?} {} {}", node.kind, values.join(", "), clauses.join(", "))?;
        }
        Ok(())
    }
}
