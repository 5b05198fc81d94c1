//! Reasons why there is no choice, or not every possible one: errors and warnings.

use crate::config::graph::{Graph, open_clauses};
use crate::config::task::Task;
use crate::effort::budget::{Budget, Cut};
use crate::rules::ruleset::RuleSet;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use visa_ir::decl::ClauseDecl;
use visa_ir::diag::{Diagnostic, Severity, counted};
use visa_ir::module::OpRef;
use visa_ir::open::{self, Opening};
use visa_ir::span::Span;

/// The code of findings about the budget.
pub(crate) const BUDGET: &str = "select-budget";

/// Most things that were cut that a warning lists.
const LISTED: usize = 8;

/// Most near misses that an error names.
const NEAREST: usize = 4;

/// An open clause that no rule closes.
pub(crate) fn unruled(op: OpRef<'_>, rules: &RuleSet) -> Diagnostic {
    let clause = open_clauses(op).next().unwrap_or_default();
    let able = rules.operations();
    let message =
        format!("no rule chooses `{clause}` of `{}`; there are rules for `{}`", op, able.join("`, `"));
    let written = open_decls(op).next().map(ClauseDecl::in_place_of_auto);
    Diagnostic::error("select-configs", op.clause_span(clause), message).fix(written)
}

/// A pipeline whose tensor is not known.
pub(crate) fn unknown_source(op: OpRef<'_>) -> Diagnostic {
    let message = format!("the layout of the tensor that `{}` takes is open, and nothing chooses it", op);
    Diagnostic::error("select-configs", op.span(), message).fix("write the layout of the tensor".to_owned())
}

/// No configuration is legal: how far they came, and the limits that the ones that came farthest broke.
pub(crate) fn none_legal(ops: &[OpRef<'_>], graph: &Graph, task: &Task, budget: &Budget) -> Diagnostic {
    if graph.cut {
        return none_in_time(ops, graph, budget);
    }
    // A stage that need not be there stops nothing.
    let stops = |stage: &usize| !task.optional.contains(stage);
    let farthest = graph.refusals.keys().map(|(stage, _)| *stage).filter(stops).max();
    let reached = (reached(graph)..ops.len()).find(stops).unwrap_or(ops.len() - 1);
    let stage = farthest.filter(|stage| *stage >= reached).unwrap_or(reached);
    let op = ops[stage];
    let mut message = format!("no configuration of this pipeline is legal: none of `{}`", op);
    let tried: u64 =
        graph.refusals.iter().filter(|((at, _), _)| *at == stage).map(|(_, refused)| refused.count).sum();
    let _ = write!(message, ", {tried} tried");
    let mut error = Diagnostic::error("select-configs", op.span(), message);
    let own = graph.refusals.iter().filter(|((at, _), _)| *at == stage);
    for ((_, code), refused) in own.take(NEAREST) {
        let (text, finding) = &refused.example;
        error = error
            .note(format!("`{text}` breaks {code}: {} ({} in all)", finding.message, refused.count), None);
    }
    if let Some((rule, bound)) = graph.limits.get(&stage) {
        error = error
            .note(format!("rules of the text stop here after {bound}: `{rule}` has more to propose"), None);
    }
    if graph.disagreeing > 0 {
        error = error.note(
            format!("{} proposals disagree with the clauses that are written", graph.disagreeing),
            None,
        );
    }
    error.fix(
        write_some(&[op]).map(|some| format!("{some}, or change the explicit clauses of its neighbours")),
    )
}

/// The fix for open operations; `None` if none is open.
fn write_some(ops: &[OpRef<'_>]) -> Option<String> {
    let open = ops.iter().filter_map(|op| {
        let clauses: Vec<String> = open_decls(*op).map(|clause| format!("`{}`", clause.example())).collect();
        (!clauses.is_empty()).then(|| format!("{} of `{}`", clauses.join(", "), op))
    });
    let open: Vec<String> = open.collect();
    (!open.is_empty()).then(|| format!("write values in place of `auto`, as in {}", open.join("; ")))
}

/// The declarations of an operation's open clauses that are no addresses.
fn open_decls(op: OpRef<'_>) -> impl Iterator<Item = &'static ClauseDecl> {
    open::clauses(op).filter(|clause| clause.opening == Opening::Configuration)
}

/// The budget ended before any configuration was legal: writing the operation with the fewest legal candidates is
/// quickest.
fn none_in_time(ops: &[OpRef<'_>], graph: &Graph, budget: &Budget) -> Diagnostic {
    let reached = reached(graph).min(ops.len() - 1);
    let message = format!(
        "the budget ({}) ended before a legal configuration of this pipeline was found: none of `{}` yet",
        counted(budget.most(), "unit"),
        ops[reached]
    );
    let error = Diagnostic::error(BUDGET, ops[reached].span(), message);
    let some = write_some(ops).map(|some| format!(", or {some}")).unwrap_or_default();
    error.fix(format!("{}{some}", more(budget)))
}

/// The fix for a larger budget.
fn more(budget: &Budget) -> String {
    format!("give it more, as in `--select-configs=budget={}`", budget.most().saturating_mul(4))
}

/// An error, with a fix for the budget that had ended by then.
pub(crate) fn ended(error: Diagnostic, budget: &Budget) -> Diagnostic {
    let note = format!(
        "the budget ({}) ended; a distribution that was not tried may be legal",
        counted(budget.most(), "unit")
    );
    let fix = format!("{}, or write `cluster`, `slice` and `element` of the tensors", more(budget));
    Diagnostic { code: BUDGET.to_owned(), ..error }.note(note, None).fix(fix)
}

/// The omissions of the budget in a function, as a warning; `None` if there are none.
pub(crate) fn cut(function: Span, budget: &Budget) -> Option<Diagnostic> {
    let cut = budget.take_cut();
    if cut.is_empty() {
        return None;
    }
    let message = format!(
        "choosing stopped at its budget ({}, option `budget`): the cheapest that was found is kept",
        counted(budget.most(), "unit")
    );
    let warning = Diagnostic { severity: Severity::Warning, ..Diagnostic::error(BUDGET, function, message) };
    let noted = cut.iter().take(LISTED).fold(warning, |warning, cut| {
        let (text, span) = match *cut {
            Cut::Distributions(compared) => (
                format!(
                    "distributions of its tensors that the whole kernel was chosen for: {compared}; there are more"
                ),
                None,
            ),
            Cut::Context(begin) => {
                ("not tried: to run the pipeline that begins here in `dual`".to_owned(), Some(begin))
            }
            Cut::Pipeline(end) => {
                ("not all configurations of the pipeline that ends here were tried".to_owned(), Some(end))
            }
            Cut::Layouts(end) => (
                "not all layouts of what the pipeline that ends here reads or makes were tried".to_owned(),
                Some(end),
            ),
            Cut::Exchange(load) => (
                "not tried: to keep the other tensor of this contraction in the register file".to_owned(),
                Some(load),
            ),
        };
        warning.note(text, span)
    });
    let noted = match cut.len().saturating_sub(LISTED) {
        0 => noted,
        others => noted.note(format!("and {others} more"), None),
    };
    Some(noted.fix(format!("{}, or write what is known", more(budget))))
}

/// The positions at which a bound left out proposals of textual rules: a remark an operation.
pub(crate) fn limits(graph: &Graph, ops: &[OpRef<'_>]) -> Vec<Diagnostic> {
    let limits = graph.limits.iter().map(|(&stage, (rule, bound))| {
        let op = ops[stage];
        let message =
            format!("rules of the text stop at `{}` after {bound}: `{rule}` has more to propose", op);
        Diagnostic { severity: Severity::Remark, ..Diagnostic::error("rule-limit", op.span(), message) }
    });
    limits.collect()
}

/// Number of candidates that broke each limit, most first.
pub(crate) fn refused(graph: &Graph) -> String {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for ((_, code), refused) in &graph.refusals {
        *counts.entry(code).or_default() += refused.count;
    }
    let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|&(code, count)| (std::cmp::Reverse(count), code));
    let counts: Vec<String> = counts.iter().map(|(code, count)| format!("{count} by {code}")).collect();
    counts.join(", ")
}

/// The first operation of the pipeline that no candidate has passed: the first of all where nothing was legal.
fn reached(graph: &Graph) -> usize {
    graph.classes.iter().map(|class| class.stage + 1).max().unwrap_or(0)
}
