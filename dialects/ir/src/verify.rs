//! The verifier: structure first, then the checks of each operation's declaration.

use crate::analysis::Analyses;
pub use crate::analysis::Analysis;
use crate::context::Context;
use crate::decl::{Arity, ClauseDecl, OpDecl, Presence, Trait};
use crate::diag::{Diagnostic, Severity, counted};
use crate::effects::{EffectKind, Effects, Target};
use crate::infer::result_types;
use crate::module::{BlockId, Module, OpId, OpRef, TypeId, ValueDef, ValueId};
use crate::open;
use crate::parse::limits::MAX_ERRORS;
use crate::span::Span;
use rustc_hash::FxBuildHasher as Fast;
use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

/// The environment of an operation's verifier.
pub struct VerifyCx<'a> {
    /// The context.
    pub ctx: &'a Context,
    /// The module.
    pub module: &'a Module,
    found: RefCell<Vec<Diagnostic>>,
    analyses: Source<'a>,
}

/// Owner of the analyses.
enum Source<'a> {
    Own(Analyses),
    Shared(&'a Analyses),
}

impl<'a> VerifyCx<'a> {
    /// Nothing found yet, and no analysis known.
    #[must_use]
    pub fn new(ctx: &'a Context, module: &'a Module) -> Self {
        Self { ctx, module, found: RefCell::default(), analyses: Source::Own(Analyses::default()) }
    }

    /// Nothing found yet; analyses are those that are kept between passes.
    #[must_use]
    pub fn sharing(ctx: &'a Context, module: &'a Module, analyses: &'a Analyses) -> Self {
        Self { analyses: Source::Shared(analyses), ..Self::new(ctx, module) }
    }

    /// Reports a finding and goes on.
    pub fn report(&self, finding: Diagnostic) {
        self.found.borrow_mut().push(finding);
    }

    fn analyses(&self) -> &Analyses {
        match &self.analyses {
            Source::Own(own) => own,
            Source::Shared(shared) => shared,
        }
    }

    /// Takes an analysis of the module that was built before.
    pub fn know<A: Analysis>(&self, analysis: Rc<A>) {
        self.analyses().know(analysis, self.module);
    }

    /// The analysis `A` of the module.
    pub fn analysis<A: Analysis>(&self) -> Rc<A> {
        self.analyses().get(self.ctx, self.module)
    }

    fn full(&self) -> bool {
        self.found.borrow().len() >= MAX_ERRORS
    }
}

/// Everything wrong with the module, in source order; at most [`MAX_ERRORS`] findings. Of an operation whose types
/// depend on an open clause, the structure is checked only.
#[must_use]
pub fn verify(ctx: &Context, module: &Module) -> Vec<Diagnostic> {
    verify_with(ctx, module, &Analyses::default())
}

/// The same with analyses that are kept: those that hold are not built again.
#[must_use]
pub fn verify_with(ctx: &Context, module: &Module, analyses: &Analyses) -> Vec<Diagnostic> {
    let cx = VerifyCx::sharing(ctx, module, analyses);
    crate::symbols::check(&cx);
    structure(&cx, module.body(), &mut HashSet::default());
    if cx.found.borrow().is_empty() {
        declared(&cx);
    }
    let mut found = cx.found.into_inner();
    found.sort_by_key(|finding| finding.span);
    found.dedup();
    found
}

/// Runs the verifier of each operation's declaration, up to [`MAX_ERRORS`] findings. Operations that take a value of a
/// malformed type are skipped: the error of its definition has been reported.
fn declared(cx: &VerifyCx<'_>) {
    let mut malformed: HashSet<ValueId, Fast> = HashSet::default();
    for id in cx.module.walk_all() {
        let op = cx.module.op(cx.ctx, id);
        if op.operands().iter().any(|value| malformed.contains(value)) {
            malformed.extend(op.results());
            continue;
        }
        let Some(verify) = op.decl().and_then(|decl| decl.verify) else { continue };
        if open::untyped(op) {
            continue;
        }
        let before = cx.found.borrow().len();
        if let Err(finding) = verify(op, cx) {
            cx.report(finding);
        }
        for finding in cx.found.borrow()[before..].iter().filter(|finding| finding.malformed_type) {
            let arguments = op.regions().iter().flat_map(|&region| cx.module.args(region));
            malformed.extend(op.results());
            malformed.extend(arguments.filter(|&&value| cx.module.value_span(value) == finding.span));
        }
        if cx.full() {
            break;
        }
    }
}

/// Returns true if any of the findings refuses the input.
#[must_use]
pub fn has_errors(findings: &[Diagnostic]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}

/// Returns true if a clause may be absent.
pub(crate) fn may_be_absent(decl: &OpDecl, clause: &ClauseDecl, span: Span) -> Result<(), Diagnostic> {
    if clause.presence != Presence::Required {
        return Ok(());
    }
    let message = format!("`{}` needs its clause `{}` ({})", decl.name, clause.name, clause.kind.describe());
    Err(Diagnostic::error("missing-clause", span, message).note(clause.doc, None))
}

/// Checks that an operation has as many operands as its declaration requires.
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

/// Checks that an operation has as many results as its declaration requires.
fn result_count(op: OpRef<'_>, decl: &OpDecl) -> Result<(), Diagnostic> {
    let (found, wanted) = (op.results().len(), decl.results.len());
    if found == wanted || decl.has(Trait::AnyResults) {
        return Ok(());
    }
    let message = format!("`{}` has {}, found {found}", decl.name, counted(wanted, "result"));
    Err(Diagnostic::error("results", op.span(), message))
}

/// Checks that operands have the types that the declaration accepts.
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
                .note("the operand is made here", defined)
                .fix(made_of(op.ctx, ty, &wanted.types.names())));
        }
    }
    Ok(())
}

/// The fix for a value in a memory where one of `wanted` is expected: the operation that puts it there.
fn made_of(ctx: &Context, ty: TypeId, wanted: &[&str]) -> Option<String> {
    let takes = |decl: &OpDecl| decl.operands.first().is_some_and(|first| first.types.takes(ctx, ty));
    let makes = |decl: &OpDecl, name: &str| match decl.effects {
        Effects::Are(effects) => effects.iter().any(|effect| {
            effect.kind == EffectKind::Allocate && matches!(effect.on, Target::Memory(own) if own == name)
        }),
        Effects::Undeclared | Effects::OfBody | Effects::Declares => false,
    };
    let decls = ctx.dialects().flat_map(|dialect| dialect.ops.iter().copied().flatten());
    let mut decls = decls.filter(|decl| decl.results.len() == 1 && takes(decl));
    let (decl, made) = decls.find_map(|decl| Some((decl, wanted.iter().find(|name| makes(decl, name))?)))?;
    Some(format!("`{}` makes a `!{made}` of it", decl.name))
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
        // The values that a region defines are known in it alone.
        for &region in op.regions() {
            structure(cx, region, &mut defined.clone());
        }
        defined.extend(op.results());
    }
}

fn one(op: OpRef<'_>, defined: &HashSet<ValueId, Fast>, last: bool) -> Result<(), Diagnostic> {
    if let Some(&value) = op.operands().iter().find(|value| !defined.contains(value)) {
        let place = op.module.value_span(value);
        let message = match is_around(op, value) {
            true => format!("`{}` uses a value before it is defined", op.name()),
            false => format!("`{}` uses a value of a body that it is not in", op.name()),
        };
        return Err(Diagnostic::error("dominance", op.span(), message).note("defined here", Some(place)));
    }
    let Some(decl) = op.decl() else { return Ok(()) };
    operand_counts(op)?;
    operand_types(op, decl)?;
    result_count(op, decl)?;
    for clause in decl.clauses.iter().filter(|clause| op.attr(clause.name).is_none()) {
        may_be_absent(decl, clause, op.span())?;
    }
    places(op, decl, last)?;
    inferred(op, decl)
}

/// Returns true if a value is of a block that an operation is in, directly or deeper.
fn is_around(op: OpRef<'_>, value: ValueId) -> bool {
    let block = match op.module.def(value) {
        ValueDef::Result(made, _) => op.other(made).block(),
        ValueDef::Argument(block, _) => block,
    };
    std::iter::once(op).chain(op.ancestors()).any(|op| op.block() == block)
}

/// Checks the parent of an operation, and the terminator of its block.
fn places(op: OpRef<'_>, decl: &OpDecl, last: bool) -> Result<(), Diagnostic> {
    let error = |message: String| Err(Diagnostic::error("structure", op.span(), message));
    let around = op.parent().map(|parent| parent.name().to_owned());
    // Passes go through functions: operations next to them would be left as they are.
    if around.is_none() && !decl.traits.contains(&Trait::TopLevel) {
        return error(format!("`{}` may not be at the top of a module, only inside a function", decl.name));
    }
    for wanted in decl.traits {
        match *wanted {
            Trait::Terminator if !last => {
                return error(format!("nothing may follow `{}` in its block", decl.name));
            }
            Trait::TopLevel if around.is_some() => {
                return error(format!("`{}` may only be at the top of a module", decl.name));
            }
            Trait::Inside(outer) if around.as_deref() != Some(outer) => {
                return error(format!("`{}` may only be inside `{outer}`", decl.name));
            }
            Trait::InsideOneOf(outer) if around.as_deref().is_none_or(|around| !outer.contains(&around)) => {
                return error(format!("`{}` may only be inside `{}`", decl.name, outer.join("` or `")));
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
            Trait::Region if op.regions().iter().any(|&block| !op.module.args(block).is_empty()) => {
                return error(format!("the body of `{}` takes no arguments", decl.name));
            }
            Trait::Region | Trait::Function | Trait::Terminator => {}
            Trait::AnyResults | Trait::InfersFromModule => {}
            Trait::Inside(_) | Trait::InsideOneOf(_) | Trait::TopLevel => {}
        }
    }
    Ok(())
}

/// Arguments are those that the declaration infers.
fn inferred_arguments(op: OpRef<'_>, decl: &OpDecl, wanted: &[TypeId]) -> Result<(), Diagnostic> {
    let found = op.regions().first().map_or(&[][..], |&block| op.module.args(block));
    if found.len() != wanted.len() {
        let wanted = counted(wanted.len(), "argument");
        let message = format!("the body of `{}` takes {wanted}, found {}", decl.name, found.len());
        return Err(Diagnostic::error("arguments", op.span(), message));
    }
    for (&value, &ty) in found.iter().zip(wanted) {
        if op.module.ty(value) != ty {
            let (found, wanted) = (op.ctx.type_text(op.module.ty(value)), op.ctx.type_text(ty));
            let message =
                format!("an argument of the body of `{}` is `{wanted}`, found `{found}`", decl.name);
            return Err(Diagnostic::error("argument-types", op.module.value_span(value), message)
                .fix(format!("write `{wanted}`, or leave the type out")));
        }
    }
    Ok(())
}

/// Types of arguments and results are those that the declaration infers.
fn inferred(op: OpRef<'_>, decl: &'static OpDecl) -> Result<(), Diagnostic> {
    if let Some(arguments) = decl.arguments {
        inferred_arguments(op, decl, &arguments(op)?)?;
    }
    let Some(infer) = decl.infer else { return Ok(()) };
    let types = result_types(op, decl, infer)?;
    if types.len() != op.results().len() {
        let (wanted, found) = (counted(types.len(), "result"), op.results().len());
        return Err(Diagnostic::error(
            "results",
            op.span(),
            format!("`{}` has {wanted}, found {found}", decl.name),
        ));
    }
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

/// Returns true if two modules are the same but for names of values and positions in the source.
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
