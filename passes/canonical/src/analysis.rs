//! The facts that the e-graph keeps of each class: an example, its size, and its normal form where it has one.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use visa_ir::diag::counted;

use egg::{Analysis, DidMerge, EGraph, Id, Symbol};
use visa_algebra::{Axes, Digits, Expr, digits};

use super::language::{Node, Piece, assemble};

/// The e-graph of mappings.
pub(crate) type Graph = EGraph<Node, Semantics>;

/// The analysis: it makes sure that only equals are merged.
#[derive(Clone)]
pub(crate) struct Semantics {
    /// The axes of the mappings.
    pub(crate) axes: Arc<Axes>,
    /// The rule that is being applied.
    pub(crate) rule: Option<Symbol>,
    /// The first merge of unequals, or the first broken mapping, that a rule asked for.
    pub(crate) conflict: Option<Conflict>,
}

/// A rule that is not sound: it equates mappings of different meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The rule, unless the merge only followed from an earlier one.
    pub rule: Option<String>,
    /// One mapping.
    pub left: Expr,
    /// The other one.
    pub right: Expr,
    /// The difference.
    pub why: String,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = self
            .rule
            .as_ref()
            .map_or("what follows from the rules".to_owned(), |rule| format!("rule `{rule}`"));
        write!(f, "{rule} makes `{}` equal to `{}`, but {}", self.left, self.right, self.why)
    }
}

/// The known facts of a class.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// One of the terms in it: the first one that was made.
    pub(crate) piece: Piece,
    /// Size and normal form, for mappings.
    pub(crate) facts: Option<Facts>,
}

/// The known facts of a mapping.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// Positions.
    pub(crate) size: u64,
    /// Its normal form, unless it is ragged.
    pub(crate) digits: Option<Rc<Digits>>,
}

impl Semantics {
    /// Nothing known yet.
    #[must_use]
    pub(crate) fn new(axes: Arc<Axes>) -> Self {
        Self { axes, rule: None, conflict: None }
    }

    fn clash(&mut self, left: &Piece, right: &Piece, why: impl Into<String>) {
        let shown =
            |piece: &Piece| piece.mapping().cloned().unwrap_or(Expr::Literal(piece.number().unwrap_or(1)));
        let rule = self.rule.map(|rule| rule.as_str().trim_end_matches(REVERSED).to_owned());
        let conflict = Conflict { rule, left: shown(left), right: shown(right), why: why.into() };
        self.conflict.get_or_insert(conflict);
    }
}

/// The suffix of the name of a rule that is used from right to left.
pub(crate) const REVERSED: &str = " (reversed)";

impl Analysis<Node> for Semantics {
    type Data = Known;

    fn make(graph: &mut Graph, node: &Node, _id: Id) -> Known {
        let Some(piece) = assemble(node, |id| &graph[id].data.piece) else {
            let broken = Piece::Mapping(Rc::new(Expr::Literal(1)));
            graph.analysis.clash(&broken, &broken, "a term has a child of the wrong sort");
            return Known { piece: broken, facts: None };
        };
        let Some(expr) = piece.mapping() else { return Known { piece, facts: None } };
        let axes = &graph.analysis.axes;
        let facts = match expr.size(axes) {
            Ok(size) => Facts { size, digits: digits(expr, axes).ok().map(Rc::new) },
            Err(error) => {
                graph.analysis.clash(&piece, &piece, error.message);
                return Known { piece, facts: None };
            }
        };
        Known { piece, facts: Some(facts) }
    }

    fn merge(&mut self, to: &mut Known, from: Known) -> DidMerge {
        let (left, right) = (&to.facts, &from.facts);
        match (left, right) {
            // Terms of sliding expressions are equal because their parts are.
            (None, None) if matches!((&to.piece, &from.piece), (Piece::Terms(_), Piece::Terms(_))) => {}
            (None, None) if to.piece == from.piece => {}
            (Some(left), Some(right)) if left.size != right.size => {
                let why = format!("they have {} and {}", left.size, counted(right.size, "position"));
                self.clash(&to.piece, &from.piece, why);
            }
            (Some(Facts { digits: Some(left), .. }), Some(Facts { digits: Some(right), .. })) => {
                if left != right {
                    self.clash(&to.piece, &from.piece, "their normal forms differ");
                }
            }
            // The example with a normal form tells more; who used the other one is looked at again.
            (Some(Facts { digits: None, .. }), Some(Facts { digits: Some(_), .. })) => {
                *to = from;
                return DidMerge(true, false);
            }
            (Some(Facts { digits: Some(_), .. }), Some(Facts { digits: None, .. })) => {
                return DidMerge(false, true);
            }
            (Some(_), Some(_)) => {}
            (None | Some(_), None | Some(_)) => {
                self.clash(&to.piece, &from.piece, "they are different things");
            }
        }
        DidMerge(false, false)
    }
}
