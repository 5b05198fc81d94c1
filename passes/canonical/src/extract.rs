//! The shortest readable text of a class.

use std::rc::Rc;

use egg::{CostFunction, Id};

use super::language::{Node, Piece, assemble};

/// Fewer characters first, then the text in the order of its bytes (`%` before `=`), then fewer nodes: a total
/// order on texts, so the choice never depends on the order in which an e-graph grew.
pub(crate) type Cost = (usize, Rc<str>, usize, Option<Piece>);

/// The length of the canonical text, brackets of a group included.
pub(crate) struct Text;

impl CostFunction<Node> for Text {
    type Cost = Cost;

    fn cost<C>(&mut self, node: &Node, mut costs: C) -> Cost
    where
        C: FnMut(Id) -> Cost,
    {
        let below: Vec<Cost> = node.children.iter().map(|&id| costs(id)).collect();
        let nodes = 1 + below.iter().map(|cost| cost.2).sum::<usize>();
        let missing = Piece::Terms(Rc::from([]));
        let child = |id: Id| {
            let at = node.children.iter().position(|&own| own == id);
            at.and_then(|at| below[at].3.as_ref()).unwrap_or(&missing)
        };
        let piece = assemble(node, child);
        let text: Rc<str> = match &piece {
            Some(Piece::Mapping(expr)) => expr.to_string().into(),
            // The rest of a sliding expression is compared by its texts; other leaves have no alternatives.
            Some(Piece::Terms(terms)) => visa_algebra::Expr::Slide(terms.to_vec()).to_string().into(),
            Some(Piece::Number(_) | Piece::Kind(_) | Piece::Table(_)) | None => "".into(),
        };
        // A term that cannot be assembled is never chosen.
        let length = if piece.is_some() { text.chars().count() } else { usize::MAX };
        (length, text, nodes, piece)
    }
}
