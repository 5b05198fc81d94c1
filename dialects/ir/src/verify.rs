//! The verifier: structure first, then what each operation's declaration checks.

use crate::context::Context;
use crate::decl::{Arity, ClauseDecl, OpDecl, Presence, Trait};
use crate::diag::{Diagnostic, Severity, counted};
use crate::hash::Fast;
use crate::infer::result_types;
use crate::module::{BlockId, Module, OpId, OpRef, ValueDef, ValueId};
use crate::open;
use crate::parse::limits::MAX_ERRORS;
use crate::span::Span;
use std::any::Any;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A fact about a whole module that several verifiers need, computed once.
pub trait Analysis: Any + Sized {
    /// Computes it.
    fn build(ctx: &Context, module: &Module) -> Self;
}

/// What an operation's verifier sees besides the operation.
pub struct VerifyCx<'a> {
    /// The context.
    pub ctx: &'a Context,
    /// The module.
    pub module: &'a Module,
    found: RefCell<Vec<Diagnostic>>,
    analyses: RefCell<Vec<Rc<dyn Any>>>,
}

impl<'a> VerifyCx<'a> {
    /// Nothing found yet.
    #[must_use]
    pub fn new(ctx: &'a Context, module: &'a Module) -> Self {
        Self { ctx, module, found: RefCell::default(), analyses: RefCell::default() }
    }

    /// Reports a finding and goes on.
    pub fn report(&self, finding: Diagnostic) {
        self.found.borrow_mut().push(finding);
    }

    /// Takes an analysis of the module that was built before.
    pub fn know<A: Analysis>(&self, analysis: Rc<A>) {
        self.analyses.borrow_mut().push(analysis);
    }

    /// The analysis `A` of the module.
    pub fn analysis<A: Analysis>(&self) -> Rc<A> {
        let known = self.analyses.borrow().iter().find_map(|any| any.clone().downcast().ok());
        known.unwrap_or_else(|| {
            let built = Rc::new(A::build(self.ctx, self.module));
            self.analyses.borrow_mut().push(built.clone());
            built
        })
    }

    fn full(&self) -> bool {
        self.found.borrow().len() >= MAX_ERRORS
    }
}

/// Everything wrong with the module, in source order; at most [`MAX_ERRORS`] findings. Of an operation whose types depend on an
/// open clause, the structure is checked only.
#[must_use]
pub fn verify(ctx: &Context, module: &Module) -> Vec<Diagnostic> {
    let cx = VerifyCx::new(ctx, module);
    symbols(&cx);
    structure(&cx, module.body(), &mut HashSet::default());
    if cx.found.borrow().is_empty() {
        for id in module.walk_all() {
            let op = module.op(ctx, id);
            let Some(verify) = op.decl().and_then(|decl| decl.verify) else { continue };
            if open::untyped(op) {
                continue;
            }
            if let Err(finding) = verify(op, &cx) {
                cx.report(finding);
            }
            if cx.full() {
                break;
            }
        }
    }
    let mut found = cx.found.into_inner();
    found.sort_by_key(|finding| finding.span);
    found.dedup();
    found
}

/// Whether any of the findings refuses the input.
#[must_use]
pub fn has_errors(findings: &[Diagnostic]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}

/// Whether a clause that is not there may be missing.
pub(crate) fn may_be_absent(decl: &OpDecl, clause: &ClauseDecl, span: Span) -> Result<(), Diagnostic> {
    if clause.presence != Presence::Required {
        return Ok(());
    }
    let message = format!("`{}` needs its clause `{}` ({})", decl.name, clause.name, clause.kind.describe());
    Err(Diagnostic::error("missing-clause", span, message).note(clause.doc, None))
}

/// Whether an operation has as many operands as its declaration says.
pub(crate) fn operand_counts(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let Some(decl) = op.decl() else { return Ok(()) };
    let found = op.operands().len();
    let least = decl.operands.iter().filter(|operand| operand.arity == Arity::One).count();
    let most = match decl.operands.last().map(|operand| operand.arity) {
        Some(Arity::Variadic) => usize::MAX,
        Some(Arity::One | Arity::Optional) | None => decl.operands.len(),
    };
    if (least..=most).contains(&found) {
        return Ok(());
    }
    let names: Vec<_> = decl.operands.iter().map(|operand| operand.name).collect();
    let message = format!(
        "`{}` takes {} ({}), found {}",
        decl.name,
        count(least, most),
        names.join(", "),
        counted(found, "operand")
    );
    Err(Diagnostic::error("operands", op.span(), message))
}

fn count(least: usize, most: usize) -> String {
    match most {
        usize::MAX => format!("at least {}", counted(least, "operand")),
        1 if least == 1 => "1 operand".into(),
        most if most == least => counted(least, "operand"),
        most => format!("{least} to {}", counted(most, "operand")),
    }
}

/// Whether operands have the types that the declaration takes.
pub(crate) fn operand_types(op: OpRef<'_>, decl: &OpDecl) -> Result<(), Diagnostic> {
    let last = decl.operands.len().saturating_sub(1);
    for (index, &value) in op.operands().iter().enumerate() {
        let Some(wanted) = decl.operands.get(index.min(last)) else { continue };
        let ty = op.module.ty(value);
        let known = !open::is_unknown(op.ctx, ty);
        if known && !wanted.types.takes(op.ctx, ty) {
            let message = format!(
                "`{}`: operand `{}` has type `{}`, expected `!{}`",
                decl.name,
                wanted.name,
                op.ctx.type_text(ty),
                wanted.types.names().join("` or `!")
            );
            let defined = Some(op.module.value_span(value));
            return Err(Diagnostic::error("operand-types", op.span(), message)
                .note("the operand is made here", defined));
        }
    }
    Ok(())
}

/// Symbols are unique among the operations of a block.
fn symbols(cx: &VerifyCx<'_>) {
    let mut seen: HashMap<Rc<str>, Span> = HashMap::new();
    for &id in cx.module.ops(cx.module.body()) {
        let op = cx.module.op(cx.ctx, id);
        let Some(clause) = op.decl().and_then(OpDecl::lead) else { continue };
        let Some(name) = op.symbol(clause.name) else { continue };
        let span = op.clause_span(clause.name);
        if let Some(&earlier) = seen.get(&name) {
            cx.report(
                Diagnostic::error("duplicate-symbol", span, format!("`@{name}` is declared twice"))
                    .note("first declared here", Some(earlier)),
            );
        }
        seen.entry(name).or_insert(span);
    }
}

/// Checks a block: definitions before uses, counts, types, clauses, places and terminators.
fn structure(cx: &VerifyCx<'_>, block: BlockId, defined: &mut HashSet<ValueId, Fast>) {
    defined.extend(cx.module.args(block));
    let ops = cx.module.ops(block);
    for (index, &id) in ops.iter().enumerate() {
        let op = cx.module.op(cx.ctx, id);
        if cx.full() {
            return;
        }
        if let Err(finding) = one(op, defined, index + 1 == ops.len()) {
            cx.report(finding);
        }
        let mut inner = None;
        for &region in op.regions() {
            structure(cx, region, inner.get_or_insert_with(|| defined.clone()));
        }
        defined.extend(op.results());
    }
}

fn one(op: OpRef<'_>, defined: &HashSet<ValueId, Fast>, last: bool) -> Result<(), Diagnostic> {
    if let Some(&value) = op.operands().iter().find(|value| !defined.contains(value)) {
        let place = op.module.value_span(value);
        let message = format!("`{}` uses a value before it is defined", op.name());
        return Err(Diagnostic::error("dominance", op.span(), message).note("defined here", Some(place)));
    }
    let Some(decl) = op.decl() else { return Ok(()) };
    operand_counts(op)?;
    operand_types(op, decl)?;
    for clause in decl.clauses.iter().filter(|clause| op.attr(clause.name).is_none()) {
        may_be_absent(decl, clause, op.span())?;
    }
    places(op, decl, last)?;
    inferred(op, decl)
}

/// Where an operation may stand, and what its own block must end in.
fn places(op: OpRef<'_>, decl: &OpDecl, last: bool) -> Result<(), Diagnostic> {
    let error = |message: String| Err(Diagnostic::error("structure", op.span(), message));
    let around = op.parent().map(|parent| parent.name().to_owned());
    // Passes go through functions: what stands beside them would be left as it is.
    if around.is_none() && !decl.traits.contains(&Trait::TopLevel) {
        return error(format!(
            "`{}` may not stand at the top of a module, only inside a function",
            decl.name
        ));
    }
    for wanted in decl.traits {
        match *wanted {
            Trait::Terminator if !last => {
                return error(format!("nothing may follow `{}` in its block", decl.name));
            }
            Trait::TopLevel if around.is_some() => {
                return error(format!("`{}` may only stand at the top of a module", decl.name));
            }
            Trait::Inside(outer) if around.as_deref() != Some(outer) => {
                return error(format!("`{}` may only stand inside `{outer}`", decl.name));
            }
            Trait::EndsWith(terminator) => {
                let end = op.regions().first().and_then(|&block| op.module.ops(block).last());
                if end.is_none_or(|&id| op.other(id).name() != terminator) {
                    return error(format!("the body of `{}` must end with `{terminator}`", decl.name));
                }
            }
            Trait::Region | Trait::Function if op.regions().len() != 1 => {
                return error(format!("`{}` needs a body", decl.name));
            }
            Trait::Region | Trait::Function | Trait::Terminator => {}
            Trait::Inside(_) | Trait::TopLevel => {}
        }
    }
    Ok(())
}

/// Result types are those that the declaration infers.
fn inferred(op: OpRef<'_>, decl: &'static OpDecl) -> Result<(), Diagnostic> {
    let Some(infer) = decl.infer else { return Ok(()) };
    let types = result_types(op, decl, infer)?;
    for (&wanted, &value) in types.iter().zip(op.results()) {
        let found = op.module.ty(value);
        if found != wanted {
            let (found, wanted) = (op.ctx.type_text(found), op.ctx.type_text(wanted));
            let message = format!("`{}` gives `{wanted}`, but its result has type `{found}`", decl.name);
            return Err(Diagnostic::error("result-types", op.span(), message));
        }
    }
    Ok(())
}

/// Whether two modules are the same but for names of values and places in the source.
#[must_use]
pub fn same(ctx: &Context, left: &Module, right: &Module) -> bool {
    let key = |module: &Module| {
        let mut module = module.clone();
        for id in module.walk_all() {
            for value in module.op(ctx, id).results().to_vec() {
                module.set_value_name(value, None);
            }
        }
        crate::print::print(ctx, &module, crate::print::Form::Generic)
    };
    key(left) == key(right)
}

/// The operation that defines a value, or the one whose region has it as an argument.
#[must_use]
pub fn owner(module: &Module, value: ValueId) -> Option<OpId> {
    match module.def(value) {
        ValueDef::Result(op, _) => Some(op),
        ValueDef::Argument(block, _) => module.block_parent(block),
    }
}
