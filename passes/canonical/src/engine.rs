//! Canonicalisation: an e-graph of equal expressions, and the shortest text in it.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use egg::{Extractor, Id, RecExpr, Runner, SimpleScheduler, StopReason};
use visa_algebra::{Axes, Digits, Equality, Expr, MapError, digits, equal, joined, rebuild};

use super::analysis::{Conflict, Graph, Semantics};
use super::extract::Text;
use super::language::{Node, Piece, lower};
use super::ruleset::RuleSet;

/// Most rounds of rewriting.
pub const MAX_ITERATIONS: usize = 16;

/// Most nodes of an e-graph; checked after each round.
pub const MAX_E_NODES: usize = 5_000;

/// Most nodes of an expression that is put into an e-graph. Only ragged ones get so long: digits are at most 62. A
/// longer one gets its parts rebuilt and nothing else.
pub const MAX_SEED_NODES: usize = 512;

/// Most e-graphs for one mapping. A second one is only needed where the rules find a normal form for a part that
/// had none.
pub const MAX_E_GRAPHS: usize = 4;

/// Never reached: results must not depend on the clock.
const NO_TIME_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// A canonical mapping and how it was found.
#[derive(Clone, Debug)]
pub struct Canonical {
    /// The mapping.
    pub expr: Expr,
    /// Size of the e-graph.
    pub statistics: Statistics,
}

/// Size of an e-graph, and the reason for the end of rewriting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Classes of equal terms.
    pub e_classes: usize,
    /// Terms.
    pub e_nodes: usize,
    /// Rounds of rewriting.
    pub iterations: usize,
    /// Reason for the end of rewriting.
    pub stop: Stop,
}

/// Reason for the end of rewriting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// No rule had a further equality.
    Saturated,
    /// [`MAX_E_NODES`] was reached, or the expression has more than [`MAX_SEED_NODES`].
    NodeLimit,
    /// [`MAX_ITERATIONS`] was reached.
    IterationLimit,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Saturated => "saturated",
            Self::NodeLimit => "node limit",
            Self::IterationLimit => "iteration limit",
        })
    }
}

/// Reason for the lack of a canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CanonicalError {
    /// The mapping is broken.
    Map(MapError),
    /// A rule equates mappings of different meaning.
    Unsound(Conflict),
}

impl fmt::Display for CanonicalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Map(error) => error.fmt(f),
            Self::Unsound(conflict) => write!(f, "internal error: {conflict}"),
        }
    }
}

impl std::error::Error for CanonicalError {}

impl From<MapError> for CanonicalError {
    fn from(error: MapError) -> Self {
        Self::Map(error)
    }
}

/// The canonical form of a mapping: of all texts that the rules find, the shortest, and of those the first in the
/// order of bytes. Mappings that have a normal form and hold the same cells have the same canonical form.
///
/// # Errors
/// A mapping that breaks a size rule; a rule that turns out not to be sound.
pub fn canonicalize(expr: &Expr, axes: &Axes, rules: &RuleSet) -> Result<Canonical, CanonicalError> {
    expr.size(axes)?;
    let (whole, views) = joined(expr, axes)?;
    if let Some(views) = views {
        // Parts that carry into each other are no mappings by themselves: the whole that they are parts of is an axis
        // for the rules.
        let found = canonicalize(&whole, views.axes(), rules)?;
        let back = views.back(&found.expr);
        let kept = equal(expr, &back, axes) == Equality::Equal;
        return Ok(Canonical { expr: if kept { back } else { views.back(&whole) }, ..found });
    }
    let axes = Arc::new(axes.clone());
    let start = tidy(&whole, &axes);
    let mut canonical = shortest(&start, &axes, rules)?;
    let mut seed = start.clone();
    for _ in 1..MAX_E_GRAPHS {
        let next = tidy(&canonical.expr, &axes);
        if next == seed {
            break;
        }
        canonical = shortest(&next, &axes, rules)?;
        seed = next;
    }
    match equal(&start, &canonical.expr, &axes) {
        Equality::Different { at, .. } => {
            let why = format!("they differ at position {at}");
            Err(CanonicalError::Unsound(Conflict { rule: None, left: start, right: canonical.expr, why }))
        }
        Equality::Equal | Equality::Unknown { .. } => Ok(canonical),
    }
}

/// The shortest text of one e-graph.
fn shortest(seed: &Expr, axes: &Arc<Axes>, rules: &RuleSet) -> Result<Canonical, CanonicalError> {
    if seed.nodes() > MAX_SEED_NODES {
        let statistics = Statistics { e_classes: 0, e_nodes: 0, iterations: 0, stop: Stop::NodeLimit };
        return Ok(Canonical { expr: seed.clone(), statistics });
    }
    let graph = Graph::new(Semantics::new(axes.clone()));
    let (graph, roots, statistics) = saturate(graph, &[lower(seed)], rules)?;
    let expr = best(&graph, roots[0]).unwrap_or_else(|| seed.clone());
    Ok(Canonical { expr, statistics })
}

/// The same mapping with every part that has a normal form written in that form, and sliding terms by falling stride:
/// so equal parts start out equal.
fn tidy(expr: &Expr, axes: &Axes) -> Expr {
    digits(expr, axes)
        .ok()
        .and_then(|digits| rebuild(&digits, axes).ok())
        .unwrap_or_else(|| tidy_parts(expr, axes))
}

fn tidy_parts(expr: &Expr, axes: &Axes) -> Expr {
    let part = |child: &Expr| {
        let rebuilt = digits(child, axes).ok().filter(Digits::holds_in_groups);
        let rebuilt = rebuilt.and_then(|digits| rebuild(&digits, axes).ok());
        Ok::<Expr, Infallible>(rebuilt.unwrap_or_else(|| tidy_parts(child, axes)))
    };
    let Ok(mut tidied) = expr.map_children(part);
    if let Expr::Slide(terms) = &mut tidied {
        terms.sort_by_key(|(_, stride)| std::cmp::Reverse(*stride));
    }
    tidied
}

/// Applies the rules until nothing changes or a bound is reached.
pub(crate) fn saturate(
    graph: Graph,
    terms: &[RecExpr<Node>],
    rules: &RuleSet,
) -> Result<(Graph, Vec<Id>, Statistics), CanonicalError> {
    let runner = Runner::<Node, Semantics, ()>::new(Semantics::new(graph.analysis.axes.clone()))
        .with_egraph(graph)
        .with_iter_limit(MAX_ITERATIONS)
        .with_node_limit(MAX_E_NODES)
        .with_time_limit(NO_TIME_LIMIT)
        .with_scheduler(SimpleScheduler)
        .with_hook(|runner| match runner.egraph.analysis.conflict {
            Some(_) => Err("a rule is not sound".to_owned()),
            None => Ok(()),
        });
    let runner = terms.iter().fold(runner, |runner, term| runner.with_expr(term)).run(rules.rewrites());
    if let Some(conflict) = runner.egraph.analysis.conflict {
        return Err(CanonicalError::Unsound(conflict));
    }
    let stop = match runner.stop_reason {
        Some(StopReason::Saturated) => Stop::Saturated,
        Some(StopReason::NodeLimit(_)) => Stop::NodeLimit,
        Some(StopReason::IterationLimit(_) | StopReason::TimeLimit(_) | StopReason::Other(_)) | None => {
            Stop::IterationLimit
        }
    };
    let statistics = Statistics {
        e_classes: runner.egraph.number_of_classes(),
        e_nodes: runner.egraph.total_size(),
        iterations: runner.iterations.len(),
        stop,
    };
    Ok((runner.egraph, runner.roots, statistics))
}

/// The mapping with the shortest text of a class.
pub(crate) fn best(graph: &Graph, class: Id) -> Option<Expr> {
    match Extractor::new(graph, Text).find_best_cost(class).3 {
        Some(Piece::Mapping(expr)) => Some((*expr).clone()),
        Some(Piece::Number(_) | Piece::Kind(_) | Piece::Table(_) | Piece::Terms(_)) | None => None,
    }
}
