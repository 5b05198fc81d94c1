//! Canonical mappings in a module: the common part of the passes `canonicalize-mappings` and `simplify-types`.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use visa_algebra::{Expr, cuts_unevenly, padded_terms};
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::infer::infer_all;
use visa_ir::span::Span;
use visa_mapping::facts::DeclaredAxes;

use super::engine::{Canonical, CanonicalError, Stop, canonicalize};
use super::explain::explain;
use super::ruleset::RuleSet;
use visa_pass::PassCx;

/// The statistics of both passes.
pub const STATISTICS: &[(&str, &str)] = &[
    ("mappings", "mappings looked at"),
    ("changed", "mappings replaced by their canonical form"),
    ("kept", "mappings left alone because their canonical form mentions fewer axes"),
    ("e-nodes", "nodes of all e-graphs"),
    ("iterations", "rounds of rewriting in all e-graphs"),
    ("saturated", "e-graphs in which no rule found anything more"),
    ("bounded", "e-graphs that stopped at a bound"),
];

/// Rewrites the mappings of one module; each different mapping once.
pub struct MappingRewriter {
    axes: Rc<DeclaredAxes>,
    rules: Rc<RuleSet>,
    explain: bool,
    known: BTreeMap<Expr, Option<Expr>>,
}

impl MappingRewriter {
    /// For the module of `cx`; the rules are those of the context, or the built-in ones. With `explain`, each
    /// change is reported with its proof, as a remark.
    #[must_use]
    pub fn new(cx: &PassCx<'_>, explain: bool) -> Self {
        let axes = cx.analysis::<DeclaredAxes>();
        Self { axes, rules: cx.ctx.data::<RuleSet>(), explain, known: BTreeMap::new() }
    }

    /// The replacement of a mapping that is at `span`; `None` to leave it alone. A mapping that breaks a size rule is
    /// left to the verifier.
    ///
    /// # Errors
    /// A rule that turns out not to be sound.
    pub fn replacement(
        &mut self,
        cx: &mut PassCx<'_>,
        mapping: &Expr,
        span: Span,
    ) -> Result<Option<Expr>, Vec<Diagnostic>> {
        cx.count("mappings", 1);
        let replacement = match self.known.get(mapping) {
            Some(known) => known.clone(),
            None => {
                let found = self.find(cx, mapping, span)?;
                self.known.insert(mapping.clone(), found.clone());
                found
            }
        };
        if let Some(canonical) = &replacement {
            cx.count("changed", 1);
            if self.explain {
                cx.report(self.proof(mapping, canonical, span)?);
            }
        }
        Ok(replacement)
    }

    fn find(&self, cx: &mut PassCx<'_>, mapping: &Expr, span: Span) -> Result<Option<Expr>, Vec<Diagnostic>> {
        // Streams know a padded term by its text, regardless of its parts (visa_algebra::Opaque).
        if padded_terms(&[mapping], &self.axes.0).is_ok_and(|terms| !terms.is_empty()) {
            return Ok(None);
        }
        if cuts_unevenly(mapping, &self.axes.0).is_ok_and(|uneven| uneven) {
            return Ok(None);
        }
        let Canonical { expr, statistics } = match canonicalize(mapping, &self.axes.0, &self.rules) {
            Ok(canonical) => canonical,
            Err(CanonicalError::Map(_)) => return Ok(None),
            Err(error @ CanonicalError::Unsound(_)) => return Err(internal(&error, span)),
        };
        cx.count("e-nodes", statistics.e_nodes as u64);
        cx.count("iterations", statistics.iterations as u64);
        let saturated = statistics.stop == Stop::Saturated;
        cx.count(if saturated { "saturated" } else { "bounded" }, 1);
        if expr == *mapping {
            return Ok(None);
        }
        let mentioned =
            |mapping: &Expr| mapping.axis_names(&self.axes.0).into_iter().collect::<BTreeSet<_>>();
        if mentioned(&expr) != mentioned(mapping) {
            cx.count("kept", 1);
            return Ok(None);
        }
        Ok(Some(expr))
    }

    fn proof(&self, from: &Expr, to: &Expr, span: Span) -> Result<Diagnostic, Vec<Diagnostic>> {
        let proof = explain(from, to, &self.axes.0, &self.rules).map_err(|error| internal(&error, span))?;
        let message = format!("`{from}` is `{to}`");
        let remark =
            Diagnostic { severity: Severity::Remark, ..Diagnostic::error("canonical", span, message) };
        Ok(proof.to_string().lines().fold(remark, |remark, line| remark.note(line, None)))
    }
}

fn internal(error: &CanonicalError, span: Span) -> Vec<Diagnostic> {
    vec![Diagnostic::error("unsound-rule", span, error.to_string())]
}

/// Infers every result type again, from the first operation to the last: types follow from clauses and operands.
///
/// # Errors
/// The diagnostics of type inference; none for a module that verified before.
pub fn infer_again(cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
    infer_all(cx.ctx, cx.module).map_err(|finding| vec![finding])
}
