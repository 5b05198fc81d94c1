//! The rules that are applied: the built-in ones, and those of a user's file.

use crate::tensor::facts::Facts;
use crate::tensor::rewrite::rewrites;
use crate::tensor::rule::{BUILTIN, Equality, Rule, Tensor};
use crate::tensor::term::Term;
use egg::Rewrite;
use std::cell::OnceCell;
use std::rc::Rc;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;
use visa_rules::{RuleReport, load, prove};

/// A user's file of rules, as the data of a context. The rules were proved when it was read.
#[derive(Clone, Debug, Default)]
pub struct UserRules {
    text: Option<Rc<str>>,
    /// The rules of the context, once they are needed.
    all: OnceCell<Rc<RuleSet>>,
}

impl UserRules {
    /// Reads and proves the rules of a file.
    ///
    /// # Errors
    /// Those of [`load`]; spans point into `text`.
    pub fn new(ctx: &Context, text: &str) -> Result<Self, Vec<Diagnostic>> {
        let builtin = RuleSet::builtin(ctx)?;
        load::<Tensor>(ctx, text, &|name| builtin.rule(name).is_some())?;
        Ok(Self { text: Some(text.into()), all: OnceCell::new() })
    }
}

/// Rules about the tensor level.
#[derive(Clone, Debug)]
pub struct RuleSet {
    rules: Vec<Rule>,
}

impl RuleSet {
    /// The built-in rules. They are proved by a test of this crate, not on every start.
    ///
    /// # Errors
    /// None: a test reads them.
    pub fn builtin(ctx: &Context) -> Result<Self, Vec<Diagnostic>> {
        let mut all = Self { rules: Vec::new() };
        for text in BUILTIN {
            let (rules, findings) = visa_rules::check::<Tensor>(ctx, text, &|name| all.rule(name).is_some());
            if !findings.is_empty() {
                return Err(findings);
            }
            all.rules.extend(rules);
        }
        Ok(all)
    }

    /// The built-in rules, and those of the user's file of a context.
    ///
    /// # Errors
    /// None for rules that were read before.
    pub fn of(ctx: &Context) -> Result<Rc<Self>, Vec<Diagnostic>> {
        let user = ctx.data::<UserRules>();
        if let Some(all) = user.all.get() {
            return Ok(Rc::clone(all));
        }
        let mut all = Self::builtin(ctx)?;
        if let Some(text) = &user.text {
            let (rules, findings) = visa_rules::check::<Tensor>(ctx, text, &|name| all.rule(name).is_some());
            if !findings.is_empty() {
                return Err(findings);
            }
            all.rules.extend(rules);
        }
        Ok(Rc::clone(user.all.get_or_init(|| Rc::new(all))))
    }

    /// The rule of that name.
    pub(crate) fn rule(&self, name: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.name == name)
    }

    /// Proves every rule again and returns the result of each proof.
    #[must_use]
    pub fn reports(&self, ctx: &Context) -> Vec<Result<RuleReport, Diagnostic>> {
        prove::<Tensor>(ctx, &self.rules)
    }

    /// The rules of real arithmetic.
    pub(crate) fn laws(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(|rule| rule.options == Equality::Reals)
    }

    /// The rules that hold bit for bit, as rewrites.
    ///
    /// # Errors
    /// A rule that egg refuses.
    pub(crate) fn rewrites<'a>(&self) -> Result<Vec<Rewrite<Term, Facts<'a>>>, Diagnostic> {
        let mut all = Vec::new();
        for rule in self.rules.iter().filter(|rule| rule.options == Equality::Bits) {
            let own = rewrites(rule)
                .map_err(|why| Diagnostic::error("rule-unbound", Span::new(rule.range.clone()), why))?;
            all.extend(own);
        }
        Ok(all)
    }
}
