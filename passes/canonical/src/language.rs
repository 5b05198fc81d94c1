//! Mappings as terms of an e-graph.
//!
//! A pair is a right-nested list of `Head::Pair` nodes that ends in the identity `1`, so that one rule on the front of
//! a list works at every place of a group; `[A, B]` is `pair(A, pair(B, 1))`. Sizes, kinds of padding and offset
//! tables are separate leaves, so that a rule can bind them like mappings.

use std::rc::Rc;
use std::sync::Arc;

use egg::{Id, RecExpr};
use visa_algebra::{Expr, PadKind, Side};

/// The head of a node, without its children.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Head {
    /// A size, a divisor, a stride: no mapping.
    Number(u64),
    /// A kind of padding.
    Kind(PadKind),
    /// An offset table, in positions.
    Table(Arc<[u64]>),
    /// An axis.
    Axis(Arc<str>),
    /// A broadcast: its size. `1` is the identity and the end of every group.
    Literal,
    /// A term and the rest of its group.
    Pair,
    /// Operand, size and kind.
    Pad(Side),
    /// Operand and size.
    Resize,
    /// Operand and step.
    Stride,
    /// Operand and block size.
    Modulo,
    /// Operand and offset.
    Slice,
    /// Operand and table.
    Gather,
    /// Operand and the one entry of its table.
    Pick,
    /// The terms of a sliding expression.
    Slide,
    /// A term of a sliding expression, its stride, and the terms after it.
    Term,
    /// The end of the terms of a sliding expression.
    End,
}

/// A node of the e-graph.
pub(crate) type Node = crate::node::Node<Head>;

/// The piece that a term of the e-graph stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Piece {
    /// A size, a divisor, a stride.
    Number(u64),
    /// A kind of padding.
    Kind(PadKind),
    /// An offset table.
    Table(Arc<[u64]>),
    /// A mapping.
    Mapping(Rc<Expr>),
    /// Terms of a sliding expression with their strides.
    Terms(Rc<[(Expr, u64)]>),
}

impl Piece {
    /// The mapping that it is.
    #[must_use]
    pub fn mapping(&self) -> Option<&Expr> {
        match self {
            Self::Mapping(expr) => Some(expr),
            Self::Number(_) | Self::Kind(_) | Self::Table(_) | Self::Terms(_) => None,
        }
    }

    /// The number that it is.
    pub(crate) fn number(&self) -> Option<u64> {
        match self {
            Self::Number(n) => Some(*n),
            Self::Mapping(_) | Self::Kind(_) | Self::Table(_) | Self::Terms(_) => None,
        }
    }

    /// The table that it is.
    pub(crate) fn table(&self) -> Option<&Arc<[u64]>> {
        match self {
            Self::Table(table) => Some(table),
            Self::Mapping(_) | Self::Kind(_) | Self::Number(_) | Self::Terms(_) => None,
        }
    }

    fn owned(&self) -> Option<Expr> {
        self.mapping().cloned()
    }
}

/// A term of a group and the rest of the group: `1` is no term, and a rest that is a group is flat.
pub(crate) fn group(first: Expr, rest: &Expr) -> Expr {
    let rest: &[Expr] = match rest {
        Expr::Literal(1) => &[],
        Expr::Pair(terms) => terms,
        other => std::slice::from_ref(other),
    };
    match rest {
        [] => first,
        _ => Expr::pair(std::iter::once(first).chain(rest.iter().cloned())),
    }
}

/// The piece that a node stands for, given those of its children. `None` where the children are of the wrong sort: no
/// term that [`lower`] or a rule makes.
pub(crate) fn assemble<'a>(node: &Node, child: impl Fn(Id) -> &'a Piece) -> Option<Piece> {
    let at = |index: usize| node.children.get(index).map(|&id| child(id));
    let inner = || at(0)?.owned();
    let number = || at(1)?.number();
    let expr = match &node.head {
        Head::Number(n) => return Some(Piece::Number(*n)),
        Head::Kind(kind) => return Some(Piece::Kind(*kind)),
        Head::Table(table) => return Some(Piece::Table(table.clone())),
        Head::End => return Some(Piece::Terms(Rc::from([]))),
        Head::Term => {
            let Some(Piece::Terms(rest)) = at(2) else { return None };
            let first = (inner()?, number()?);
            return Some(Piece::Terms(std::iter::once(first).chain(rest.iter().cloned()).collect()));
        }
        Head::Axis(name) => Expr::Axis(name.clone()),
        Head::Literal => Expr::Literal(at(0)?.number()?),
        Head::Pair => group(inner()?, at(1)?.mapping()?),
        Head::Pad(side) => {
            let Some(Piece::Kind(kind)) = at(2) else { return None };
            Expr::Pad { inner: Box::new(inner()?), size: number()?, kind: *kind, side: *side }
        }
        Head::Resize => inner()?.resize(number()?),
        Head::Stride => inner()?.stride(number()?),
        Head::Modulo => inner()?.modulo(number()?),
        Head::Slice => inner()?.slice(number()?),
        Head::Gather => inner()?.gather(at(1)?.table()?.clone()),
        Head::Pick => inner()?.gather([number()?]),
        Head::Slide => {
            let Some(Piece::Terms(terms)) = at(0) else { return None };
            Expr::Slide(terms.to_vec())
        }
    };
    Some(Piece::Mapping(Rc::new(expr)))
}

/// The term of an expression, whose aliases are written out.
pub(crate) fn lower(expr: &Expr) -> RecExpr<Node> {
    let mut term = RecExpr::default();
    lower_into(expr, &mut term);
    term
}

fn lower_into(expr: &Expr, term: &mut RecExpr<Node>) -> Id {
    let leaf = |head, term: &mut RecExpr<Node>| term.add(Node::new(head, []));
    let operator = |head, inner: &Expr, operand: Head, term: &mut RecExpr<Node>| {
        let inner = lower_into(inner, term);
        let operand = leaf(operand, term);
        term.add(Node::new(head, [inner, operand]))
    };
    match expr {
        Expr::Axis(name) | Expr::Alias(name) => leaf(Head::Axis(name.clone()), term),
        Expr::Literal(n) => {
            let n = leaf(Head::Number(*n), term);
            term.add(Node::new(Head::Literal, [n]))
        }
        Expr::Pair(terms) | Expr::Outer(terms) => {
            let rest = lower_into(&Expr::Literal(1), term);
            terms.iter().rev().fold(rest, |rest, first| {
                let first = lower_into(first, term);
                term.add(Node::new(Head::Pair, [first, rest]))
            })
        }
        Expr::Pad { inner, size, kind, side } => {
            let inner = lower_into(inner, term);
            let size = leaf(Head::Number(*size), term);
            let kind = leaf(Head::Kind(*kind), term);
            term.add(Node::new(Head::Pad(*side), [inner, size, kind]))
        }
        Expr::Resize { inner, size } => operator(Head::Resize, inner, Head::Number(*size), term),
        Expr::Stride { inner, n } => operator(Head::Stride, inner, Head::Number(*n), term),
        Expr::Modulo { inner, n } => operator(Head::Modulo, inner, Head::Number(*n), term),
        Expr::Slice { inner, offset } => operator(Head::Slice, inner, Head::Number(*offset), term),
        Expr::Gather { inner, table } if table.len() == 1 => {
            operator(Head::Pick, inner, Head::Number(table[0]), term)
        }
        Expr::Gather { inner, table } => operator(Head::Gather, inner, Head::Table(table.clone()), term),
        Expr::Slide(terms) => {
            let end = leaf(Head::End, term);
            let list = terms.iter().rev().fold(end, |rest, (inner, stride)| {
                let inner = lower_into(inner, term);
                let stride = leaf(Head::Number(*stride), term);
                term.add(Node::new(Head::Term, [inner, stride, rest]))
            });
            term.add(Node::new(Head::Slide, [list]))
        }
    }
}

/// The expression of a term.
#[cfg(test)]
pub(crate) fn raise(term: &RecExpr<Node>) -> Option<Expr> {
    let mut pieces: Vec<Piece> = Vec::new();
    for node in term {
        pieces.push(assemble(node, |id| &pieces[usize::from(id)])?);
    }
    pieces.last()?.owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constructor_comes_back() {
        for text in [
            "[A]",
            "[4]",
            "[A, B, 2]",
            "[[A, B], C]",
            "[A # 8]",
            "[A # 8 {0}]",
            "[A # 8 {left !}]",
            "[[A, B] / 2 % 3 = 2 @ 1]",
            "[A @ (0, 2, 1)]",
            "[$(A:1, [B, C]:2)]",
        ] {
            let expr = Expr::parse(text).unwrap();
            assert_eq!(raise(&lower(&expr)), Some(expr), "{text}");
        }
        // `1` at the end of a group is its end.
        assert_eq!(raise(&lower(&Expr::parse("[A, B, 1]").unwrap())), Some(Expr::parse("[A, B]").unwrap()));
    }

    #[test]
    fn children_of_the_wrong_sort_are_no_term() {
        let mut term = RecExpr::default();
        let n = term.add(Node::new(Head::Number(2), []));
        term.add(Node::new(Head::Stride, [n, n]));
        assert_eq!(raise(&term), None);
    }
}
