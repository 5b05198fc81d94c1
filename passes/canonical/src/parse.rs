//! Mappings with metavariables, and tests of them, from trees of the grammar of rules.

use super::rule::{Arithmetic, Kind, Num, Operator, Relation, Sort, Term, Test};
use visa_algebra::{PadKind, Side};
use visa_ir::diag::Diagnostic;
use visa_rules::{Scope, Syntax, Tree, Trees, refuse};

/// Reads the mappings of one rule.
pub struct Reader<'a> {
    /// The rule's metavariables.
    pub scope: &'a mut Scope<Sort>,
}

impl Reader<'_> {
    /// A mapping.
    pub fn term(&mut self, piece: Tree<'_>) -> Result<Term, Diagnostic> {
        let mut parts = piece.into_inner();
        let mut term = match parts.next() {
            Some(atom) => self.atom(atom)?,
            None => Term::Literal(Num::Is(1)),
        };
        for operator in parts.flat_map(Tree::into_inner) {
            term = self.operator(term, operator)?;
        }
        Ok(term)
    }

    fn atom(&mut self, piece: Tree<'_>) -> Result<Term, Diagnostic> {
        match piece.as_rule() {
            Syntax::mapping => Ok(Term::Var(self.scope.slot(&piece, Sort::Mapping)?)),
            Syntax::source => self.source(&piece),
            Syntax::group => self.group(piece),
            Syntax::slide => self.slide(piece),
            Syntax::literal => Ok(Term::Literal(self.only_number(piece)?)),
            _ => Err(unexpected(&piece)),
        }
    }

    /// A mapping of the stream that flows in: it is bound from the start, or there is none.
    fn source(&self, piece: &Tree<'_>) -> Result<Term, Diagnostic> {
        let slot = self.scope.position(piece.as_str());
        let unknown = || {
            let known = self.scope.names().iter().filter(|(name, _)| name.starts_with("in."));
            let known: Vec<_> = known.map(|(name, _)| format!("`{name}`")).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            let message = format!("no stream flows in as `{}`: there is {known} here", piece.as_str());
            refuse("rule-unbound", piece, message)
        };
        slot.map(Term::Var).ok_or_else(unknown)
    }

    fn group(&mut self, piece: Tree<'_>) -> Result<Term, Diagnostic> {
        let (mut terms, mut rest) = (Vec::new(), None);
        for item in piece.into_inner().flat_map(Tree::into_inner) {
            not_after_rest(&item, rest)?;
            match item.as_rule() {
                Syntax::rest => rest = Some(self.rest(item, Sort::Mapping)?),
                Syntax::term => terms.push(self.term(item)?),
                _ => return Err(unexpected(&item)),
            }
        }
        Ok(match (terms.is_empty(), rest) {
            (true, Some(slot)) => Term::Var(slot),
            _ => Term::Group(terms, rest),
        })
    }

    fn slide(&mut self, piece: Tree<'_>) -> Result<Term, Diagnostic> {
        let (mut terms, mut rest) = (Vec::new(), None);
        for item in piece.into_inner() {
            not_after_rest(&item, rest)?;
            let mut parts = item.into_inner();
            match (parts.next(), parts.next()) {
                (Some(term), Some(stride)) => terms.push((self.term(term)?, self.number(stride)?)),
                (Some(only), None) => rest = Some(self.rest(only, Sort::Terms)?),
                (None, _) => {}
            }
        }
        Ok(Term::Slide(terms, rest))
    }

    fn rest(&mut self, piece: Tree<'_>, sort: Sort) -> Result<usize, Diagnostic> {
        let whole = piece.clone();
        match piece.into_inner().next() {
            Some(name) => self.scope.slot(&name, sort),
            None => Err(refuse("rule-syntax", &whole, "expected a name after `...`".to_owned())),
        }
    }

    fn operator(&mut self, inner: Term, piece: Tree<'_>) -> Result<Term, Diagnostic> {
        let operator = match piece.as_rule() {
            Syntax::pad => return self.pad(inner, piece.into_inner()),
            Syntax::gather => {
                let whole = piece.clone();
                let table = piece.into_inner().next().unwrap_or(whole);
                return Ok(Term::Gather(Box::new(inner), self.scope.slot(&table, Sort::Table)?));
            }
            Syntax::stride => Operator::Stride,
            Syntax::modulo => Operator::Modulo,
            Syntax::slice => Operator::Slice,
            Syntax::pick => Operator::Pick,
            Syntax::resize => Operator::Resize,
            _ => return Err(unexpected(&piece)),
        };
        Ok(Term::Apply(Box::new(inner), operator, self.only_number(piece)?))
    }

    fn pad(&mut self, inner: Term, parts: Trees<'_>) -> Result<Term, Diagnostic> {
        let (mut size, mut kind, mut side) = (Num::Is(1), Kind::Is(PadKind::Top), Side::High);
        for part in parts {
            match part.as_rule() {
                Syntax::mark => {
                    for mark in part.into_inner() {
                        match (mark.as_rule(), mark.as_str()) {
                            (Syntax::left, _) => side = Side::Low,
                            (_, "0") => kind = Kind::Is(PadKind::Zero),
                            (_, "!") => kind = Kind::Is(PadKind::Bottom),
                            _ => kind = Kind::Var(self.scope.slot(&mark, Sort::Kind)?),
                        }
                    }
                }
                _ => size = self.number(part)?,
            }
        }
        Ok(Term::Pad { inner: Box::new(inner), size, kind, side })
    }

    /// The number that is all that `piece` holds.
    fn only_number(&mut self, piece: Tree<'_>) -> Result<Num, Diagnostic> {
        match piece.clone().into_inner().next() {
            Some(number) => self.number(number),
            None => self.number(piece),
        }
    }

    fn number(&mut self, piece: Tree<'_>) -> Result<Num, Diagnostic> {
        let whole = piece.clone();
        let Some(part) = piece.into_inner().next() else {
            return Err(refuse("rule-syntax", &whole, "expected a number".to_owned()));
        };
        if self.scope.binding() && !matches!(part.as_rule(), Syntax::integer | Syntax::variable) {
            let message = format!("`{}` is computed, but the left side is matched", part.as_str().trim());
            return Err(refuse("rule-left", &part, message)
                .fix("write a number or a metavariable here, and compare it in a condition".to_owned()));
        }
        match part.as_rule() {
            Syntax::integer => part.as_str().parse().map(Num::Is).map_err(|_| {
                refuse("rule-syntax", &part, format!("`{}` is not a number below 2^64", part.as_str()))
            }),
            Syntax::variable => Ok(Num::Var(self.scope.slot(&part, Sort::Number)?)),
            Syntax::size => match part.into_inner().next() {
                Some(term) => Ok(Num::Size(Box::new(self.term(term)?))),
                None => Err(refuse("rule-syntax", &whole, "expected a mapping between bars".to_owned())),
            },
            Syntax::call => self.call(part.into_inner(), &whole),
            _ => self.arithmetic(part),
        }
    }

    fn call(&mut self, mut parts: Trees<'_>, whole: &Tree<'_>) -> Result<Num, Diagnostic> {
        let (Some(function), Some(table)) = (parts.next(), parts.next()) else {
            return Err(refuse("rule-syntax", whole, "expected `first(T)` or `count(T)`".to_owned()));
        };
        let slot = self.scope.slot(&table, Sort::Table)?;
        Ok(if function.as_str() == "first" { Num::First(slot) } else { Num::Count(slot) })
    }

    /// A sum or a product: operands with signs between them.
    fn arithmetic(&mut self, piece: Tree<'_>) -> Result<Num, Diagnostic> {
        let (mut value, mut operation) = (None, Arithmetic::Add);
        for part in piece.clone().into_inner() {
            match part.as_rule() {
                Syntax::sign | Syntax::factor => {
                    operation = match part.as_str() {
                        "+" => Arithmetic::Add,
                        "-" => Arithmetic::Subtract,
                        "*" => Arithmetic::Multiply,
                        "/" => Arithmetic::Divide,
                        _ => return Err(unexpected(&part)),
                    }
                }
                _ => {
                    let one = part.as_rule() == Syntax::number;
                    let next = if one { self.number(part)? } else { self.arithmetic(part)? };
                    value = Some(match value {
                        Some(value) => Num::Of(Box::new(value), operation, Box::new(next)),
                        None => next,
                    });
                }
            }
        }
        value.ok_or_else(|| refuse("rule-syntax", &piece, "expected a number".to_owned()))
    }

    /// A test, of the grammar's rule `compare` or `predicate`.
    ///
    /// # Errors
    /// The first mistake.
    pub fn test(&mut self, tree: Tree<'_>) -> Result<Test, Diagnostic> {
        let (shape, whole) = (tree.as_rule(), tree.clone());
        let parts: Vec<_> = tree.into_inner().collect();
        match (shape, parts.as_slice()) {
            (Syntax::compare, [left, relation, right]) => {
                let relation = match relation.as_str() {
                    "==" => Relation::Equal,
                    "<=" => Relation::AtMost,
                    "<" => Relation::Less,
                    "divides" => Relation::Divides,
                    _ => return Err(unexpected(relation)),
                };
                let (left, right) = (self.arithmetic(left.clone())?, self.arithmetic(right.clone())?);
                Ok(Test::Compare(left, relation, right))
            }
            (Syntax::predicate, [name, term]) => self.predicate(name.as_str(), term),
            _ => Err(refuse("rule-syntax", &whole, "expected a condition")),
        }
    }

    fn predicate(&mut self, name: &str, term: &Tree<'_>) -> Result<Test, Diagnostic> {
        match name {
            "exact" => match self.term(term.clone())? {
                Term::Apply(inner, Operator::Stride, n) => Ok(Test::Exact(*inner, n)),
                _ => Err(refuse("rule-syntax", term, "expected a split, `exact(E / n)`")),
            },
            "anchored" => Ok(Test::Anchored(self.term(term.clone())?)),
            "consecutive" => match only(term, Syntax::mapping) {
                Some(table) => Ok(Test::Consecutive(self.scope.slot(&table, Sort::Table)?)),
                None => Err(refuse("rule-syntax", term, "expected an offset table, `consecutive(T)`")),
            },
            _ => Err(unexpected(term)),
        }
    }
}

/// The refusal of text that the grammar accepts and no arm reads: the grammar was extended without its reader.
fn unexpected(piece: &Tree<'_>) -> Diagnostic {
    refuse("rule-syntax", piece, format!("`{}` is not a part of a mapping rule", piece.as_str()))
}

/// The tree of the grammar's rule `shape` that is all of a term.
fn only<'i>(term: &Tree<'i>, shape: Syntax) -> Option<Tree<'i>> {
    let mut parts = term.clone().into_inner();
    let first = parts.next().filter(|first| first.as_rule() == shape);
    first.filter(|_| parts.next().is_none())
}

fn not_after_rest(item: &Tree<'_>, rest: Option<usize>) -> Result<(), Diagnostic> {
    match rest {
        Some(_) => Err(refuse("rule-syntax", item, "the rest `...R` is the last of its group".to_owned())),
        None => Ok(()),
    }
}
