//! Terms as text.

use crate::tensor::choose::{Choice, text};
use crate::tensor::facts::Graph;
use crate::tensor::term::Head;
use egg::Id;
use visa_ir::decl::{ClauseKind, OpDecl, Presence};

/// Deepest term that is shown; deeper ones are `...`.
const MAX_SHOWN: usize = 4;

/// The term of a class as rules write it.
#[must_use]
pub(crate) fn shown(graph: &Graph<'_>, choice: &Choice, class: Id) -> String {
    let of = |id: Id| choice.term(graph.find(id)).map(|term| (term.head.clone(), term.children.clone()));
    Shown { graph, of: &of }.text(class, 0)
}

/// The head and the children of a term.
type Parts = (Head, Vec<Id>);

/// Terms to show, whose parts `of` gives.
pub(crate) struct Shown<'g, 'a> {
    /// The e-graph of the attributes.
    pub(crate) graph: &'g Graph<'a>,
    /// The head and the children of a term.
    pub(crate) of: &'g dyn Fn(Id) -> Option<Parts>,
}

impl Shown<'_, '_> {
    /// The text of a term.
    #[must_use]
    pub(crate) fn text(&self, id: Id, depth: usize) -> String {
        let Some((head, children)) = (self.of)(id) else { return "?".to_owned() };
        let inner = |ids: &[Id]| ids.iter().map(|&id| self.text(id, depth + 1)).collect::<Vec<_>>();
        if depth == MAX_SHOWN && !children.is_empty() {
            return "...".to_owned();
        }
        match &head {
            Head::Argument(number, _) => format!("%{number}"),
            Head::Index(depth, _) => format!("index{depth}"),
            Head::Carried { depth, number, .. } => format!("carried{depth}.{number}"),
            Head::Number(dtype, bits) => visa_numerics::to_f64(*dtype, *bits).to_string(),
            Head::Apply => {
                let mut parts = inner(&children);
                let name = parts.remove(0);
                format!("{name}({})", parts.join(", "))
            }
            Head::WhereDefined => format!("where_defined({})", inner(&children).join(", ")),
            Head::Operation(declared) => self.operation(declared.0, &children, depth),
            Head::Loop(_) => "loop(...)".to_owned(),
            Head::Branch => "branch(...)".to_owned(),
            Head::Result(number) => format!("result{number}({})", inner(&children).join(", ")),
            Head::Clause(attr) => clause(&text(self.graph, &Head::Clause(*attr))),
            Head::Absent => "none".to_owned(),
            Head::Name(function) => function.name.to_owned(),
        }
    }

    fn operation(&self, decl: &'static OpDecl, children: &[Id], depth: usize) -> String {
        let (operands, clauses) = children.split_at(children.len() - decl.clauses.len());
        let mut parts: Vec<String> = operands.iter().map(|&id| self.text(id, depth + 1)).collect();
        for (declared, &id) in decl.clauses.iter().zip(clauses) {
            let text = self.text(id, depth + 1);
            let default = match declared.presence {
                Presence::Default(default) => default,
                Presence::Optional => "none",
                Presence::Required => "",
            };
            if text == default {
                continue;
            }
            parts.push(match declared.kind {
                ClauseKind::Flag => declared.name.to_owned(),
                _ => format!("{} {text}", declared.name),
            });
        }
        format!("{}({})", decl.name.trim_start_matches("tm."), parts.join(", "))
    }
}

/// The text of an attribute without its kind.
fn clause(generic: &str) -> String {
    let inside = generic.split_once('<').and_then(|(_, rest)| rest.strip_suffix('>'));
    let plain = inside.unwrap_or(generic);
    plain.trim_end_matches(" : i64").trim_matches('"').to_owned()
}
