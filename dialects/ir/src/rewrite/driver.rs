//! Applies folds and patterns until none matches: greedily, in a fixed order, and bounded.

use super::worklist::Worklist;
use super::{NoMatch, RewritePattern, Rewriter, fold};
use crate::context::Context;
use crate::decl::OpDecl;
use crate::diag::{Diagnostic, counted};
use crate::effects;
use crate::module::{BlockId, Module, OpId, OpRef};
use crate::span::Span;
use rustc_hash::FxBuildHasher as Fast;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Default limit of rewrites in a run: no kernel needs as many, and patterns that undo each other reach it at once.
pub const MAX_REWRITES: u64 = 1 << 16;

/// The code of the error of a run that needs more.
pub const NOT_CONVERGED: &str = "not-converged";

/// The patterns to apply, and the limits.
#[derive(Clone, Debug)]
pub struct Greedy<'p> {
    /// Patterns in addition to those of the declarations.
    pub patterns: &'p [&'static RewritePattern],
    /// True if the folds and the patterns that operations declare are applied.
    pub declared: bool,
    /// True if unused operations are erased ([`effects::erasable`]).
    pub erase_unused: bool,
    /// Most rewrites. A run that needs more stops with an error.
    pub max_rewrites: u64,
    /// True if [`Outcome::missed`] is filled.
    pub explain: bool,
}

impl Default for Greedy<'_> {
    fn default() -> Self {
        Self { patterns: &[], declared: true, erase_unused: true, max_rewrites: MAX_REWRITES, explain: false }
    }
}

/// Result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Operations that were folded.
    pub folds: u64,
    /// Number of unused operations that were erased.
    pub erased: u64,
    /// Number of applications of each pattern, by name.
    pub patterns: BTreeMap<&'static str, u64>,
    /// Reasons why patterns do not match the remaining operations, in the order of the module, with
    /// [`Greedy::explain`].
    pub missed: Vec<Missed>,
}

/// Reason why a pattern does not match an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missed {
    /// The operation.
    pub op: OpId,
    /// The name of the pattern.
    pub pattern: &'static str,
    /// The reason.
    pub why: Cow<'static, str>,
}

impl Outcome {
    /// Applications of all patterns.
    #[must_use]
    pub fn rewrites(&self) -> u64 {
        self.patterns.values().sum()
    }
}

impl Greedy<'_> {
    /// Rewrites everything below `blocks` until nothing matches.
    ///
    /// # Errors
    /// If it does not converge within the bound, if a fold changes a type, if a pattern refuses the input, or if a
    /// pattern changes something and returns a mismatch, or the reverse.
    pub fn run(&self, ctx: &Context, module: &mut Module, blocks: &[BlockId]) -> Result<Outcome, Diagnostic> {
        let ops: Vec<OpId> = blocks.iter().flat_map(|&block| module.walk(block)).collect();
        let mut run = Run {
            greedy: self,
            rewriter: Rewriter::new(ctx, module),
            work: Worklist::of(&ops),
            outcome: Outcome::default(),
            fired: BTreeMap::new(),
            missed: HashMap::default(),
            rewrites: 0,
        };
        while let Some(op) = run.work.pop() {
            run.visit(op)?;
        }
        let Run { mut outcome, mut missed, .. } = run;
        if self.explain {
            let left = blocks.iter().flat_map(|&block| module.walk(block));
            outcome.missed = left.filter_map(|op| missed.remove(&op)).flatten().collect();
        }
        Ok(outcome)
    }

    /// The patterns for an operation, in the order in which they are tried.
    fn patterns_for(&self, decl: Option<&'static OpDecl>) -> Vec<&'static RewritePattern> {
        let declared = decl.filter(|_| self.declared).map_or(&[][..], |decl| decl.patterns).iter();
        let fits = |pattern: &&&'static RewritePattern| match (pattern.root, decl) {
            (None, _) => true,
            (Some(root), Some(decl)) => root.name == decl.name,
            (Some(_), None) => false,
        };
        let mut patterns: Vec<_> = declared.chain(self.patterns.iter()).filter(fits).copied().collect();
        patterns.sort_by_key(|pattern| Reverse(pattern.benefit));
        patterns
    }
}

/// Number of applications and last position of each rewrite.
type Fired = BTreeMap<String, (u64, Span)>;

struct Run<'a, 'p> {
    greedy: &'a Greedy<'p>,
    rewriter: Rewriter<'a>,
    work: Worklist,
    outcome: Outcome,
    fired: Fired,
    /// Mismatches of each operation at its last visit.
    missed: HashMap<OpId, Vec<Missed>, Fast>,
    rewrites: u64,
}

impl Run<'_, '_> {
    fn visit(&mut self, id: OpId) -> Result<(), Diagnostic> {
        if self.rewriter.module().is_erased(id) {
            return Ok(());
        }
        if self.greedy.erase_unused && is_unused(self.rewriter.op(id)) {
            self.rewriter.erase(id);
            self.outcome.erased += 1;
            self.look_again();
            return Ok(());
        }
        let (span, name) = (self.rewriter.op(id).span(), self.rewriter.op(id).name().to_owned());
        if self.greedy.declared && fold::fold(&mut self.rewriter, id)? {
            self.outcome.folds += 1;
            return self.rewritten(format!("the fold of `{name}`"), span);
        }
        let mut missed = Vec::new();
        for pattern in self.greedy.patterns_for(self.rewriter.op(id).decl()) {
            let Some(why) = self.apply(pattern, id)? else {
                *self.outcome.patterns.entry(pattern.name).or_default() += 1;
                self.missed.remove(&id);
                return self.rewritten(format!("pattern `{}`", pattern.name), span);
            };
            missed.push(Missed { op: id, pattern: pattern.name, why });
        }
        if self.greedy.explain {
            self.missed.insert(id, missed);
        }
        Ok(())
    }

    /// Tries a pattern. Returns why it does not match, if it does not.
    fn apply(
        &mut self,
        pattern: &'static RewritePattern,
        id: OpId,
    ) -> Result<Option<Cow<'static, str>>, Diagnostic> {
        let (span, before) = (self.rewriter.op(id).span(), self.rewriter.changes());
        let matched = (pattern.rewrite)(&mut self.rewriter, id);
        let changed = self.rewriter.changes() != before;
        let broken = |what: &str| {
            let message = format!("pattern `{}` {what}: a mistake in the pattern", pattern.name);
            Err(Diagnostic::error("pattern", span, message))
        };
        match matched {
            Ok(()) if changed => Ok(None),
            Ok(()) => broken("returned success for this operation, but changed nothing"),
            Err(NoMatch::Refused(error)) => {
                Err(error.note(format!("found by pattern `{}`", pattern.name), None))
            }
            Err(NoMatch::Because(why)) if !changed => Ok(Some(why)),
            Err(NoMatch::Because(why)) => {
                broken(&format!("returned a mismatch ({why}), but changed something"))
            }
        }
    }

    /// Counts a rewrite, and continues with the operations that it touched.
    fn rewritten(&mut self, by: String, span: Span) -> Result<(), Diagnostic> {
        self.look_again();
        self.rewrites += 1;
        let (count, place) = self.fired.entry(by).or_insert((0, span));
        (*count, *place) = (*count + 1, span);
        if self.rewrites <= self.greedy.max_rewrites { Ok(()) } else { Err(self.diverged()) }
    }

    fn look_again(&mut self) {
        let touched = self.rewriter.take_touched();
        let module = self.rewriter.module();
        let there: Vec<OpId> = touched.into_iter().filter(|&op| !module.is_erased(op)).collect();
        self.work.push(&there);
    }

    /// The error of a run that has reached its bound. It names the rewrite that was applied most; of several, the
    /// first by name.
    fn diverged(&self) -> Diagnostic {
        let most = self.fired.iter().max_by_key(|(by, (count, _))| (*count, Reverse(*by)));
        let bound = counted(self.greedy.max_rewrites, "rewrite");
        let message = format!("rewriting did not converge within {bound}");
        let Some((by, &(count, span))) = most else {
            return Diagnostic::error(NOT_CONVERGED, Span::default(), message);
        };
        let times = counted(count, "time");
        Diagnostic::error(
            "not-converged",
            span,
            format!("{message}: {by} was applied {times}, here the last time"),
        )
        .note("patterns that undo each other, or one that matches its result, never end", None)
    }
}

/// Returns true if an operation is unused and may be erased.
fn is_unused(op: OpRef<'_>) -> bool {
    op.results().iter().all(|&result| op.module.uses(result).is_empty()) && effects::erasable(op)
}
