//! The distribution of a kernel's tensors over the slices of data memory, where that is open. Each candidate is tried
//! with the whole kernel, and the cycles of the report decide.

use crate::config::candidate::close_addresses;
use crate::config::memo::Means;
use crate::distribution::distributions::{CLAUSES, Distribution, Load, distributions};
use crate::driver::{Chosen, Driver};
use crate::effort::budget::{Budget, Cut};
use crate::effort::clock::{Clock, Phase};
use crate::explain::refused;
use crate::price::{allocated, report};
use std::cell::OnceCell;
use std::rc::Rc;
use visa_algebra::Expr;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::infer::infer_all;
use visa_ir::module::{Module, OpId, OpRef};
use visa_ir::open::{is_open, untyped};
use visa_ir::verify::{Analysis, VerifyCx};
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::ops::func::Func;
use visa_mapping::ops::transfer::is_transfer;
use visa_mapping::tensor::attrs::MAP;
use visa_mapping::view;

/// Most distributions that a kernel is chosen for: those of the lowest estimates that can be loaded.
pub(crate) const MOST_DISTRIBUTIONS: usize = 24;

/// The search stops after this number of distributions in a row that are no better.
pub(crate) const PATIENCE: usize = 8;

/// After this number of distributions without a legal choice, only the one that spreads nothing is still a candidate.
pub(crate) const MOST_REFUSED: usize = 32;

/// A function of which all is chosen.
pub(crate) struct Kernel {
    /// The module with it.
    pub module: Module,
    /// The choices.
    pub choices: Vec<Chosen>,
    cycles: OnceCell<u64>,
}

impl Kernel {
    /// The kernel with all that is open of its pipelines chosen.
    ///
    /// # Errors
    /// The operation without a legal choice.
    fn of(ctx: &Context, mut module: Module, means: &Means<'_>) -> Result<Self, Diagnostic> {
        let mut choices = Vec::new();
        Driver { ctx, means, tell: &mut |choice| choices.push(choice) }.pipelines(&mut module)?;
        Ok(Self { module, choices, cycles: OnceCell::new() })
    }

    /// Its cycles; most of all if it cannot be lowered.
    pub(crate) fn cycles(&self, ctx: &Context, function: OpId) -> u64 {
        *self.cycles.get_or_init(|| cycles(ctx, &self.module, function).unwrap_or(u64::MAX))
    }
}

/// Chooses every open clause of a function, which is alone in its module: if its distribution is open, that first and
/// the rest for it.
///
/// # Errors
/// The operation without a legal choice.
pub(crate) fn function(
    ctx: &Context,
    module: &Module,
    function: OpId,
    means: &Means<'_>,
) -> Result<Kernel, Diagnostic> {
    let axes = Rc::new(DeclaredAxes::build(ctx, module));
    let distributions = distributions(module.op(ctx, function), &axes.0)?;
    let Some(first) =
        distributions.first().and_then(|distribution| distribution.loads.first()).map(|(load, _)| *load)
    else {
        return Kernel::of(ctx, module.clone(), means);
    };
    let budget = means.budget;
    let mut search = Search {
        ctx,
        function,
        means,
        budget,
        axes,
        best: None,
        refused: None,
        tried: 0,
        chosen: 0,
        compared: 0,
        worse: 0,
        padded: None,
    };
    for distribution in &distributions {
        if search.goes_on(distribution) {
            search.attempt(module, distribution);
        }
    }
    // Rows that start at whole flits are fetched in larger accesses, and may be loaded in smaller ones.
    if let Some(padded) = search.padded.take()
        && !search.stops()
    {
        search.choose(module, &padded);
    }
    let Search { best, refused, tried, .. } = search;
    let Some(mut best) = best else {
        let error = nowhere(module.op(ctx, first), tried, refused);
        return Err(if budget.exhausted() { refused::ended(error, budget) } else { error });
    };
    best.choices.push(Chosen::Distribution(tried));
    Ok(best)
}

/// The error that no distribution is legal, with the reason why the nearest one is not.
fn nowhere(load: OpRef<'_>, tried: usize, nearest: Option<(Expr, Diagnostic)>) -> Diagnostic {
    let message =
        format!("no distribution of the tensors over slices is legal for this kernel: {tried} tried");
    let error = Diagnostic::error("select-configs", load.span(), message);
    let Some((slice, why)) = nearest else { return error };
    let error = error.note(format!("the nearest, with slices `{slice}`: {}", why.message), Some(why.span));
    let error = why.notes.into_iter().fold(error, |error, note| error.note(note.message, note.span));
    let write = "write `cluster`, `slice` and `element` of the tensors that are loaded";
    error.fix(why.fix.unwrap_or_else(|| write.to_owned()))
}

/// The search for the cheapest distribution.
struct Search<'a> {
    ctx: &'a Context,
    function: OpId,
    means: &'a Means<'a>,
    budget: &'a Budget,
    axes: Rc<DeclaredAxes>,
    best: Option<Kernel>,
    /// The distribution whose refusal is furthest down in the kernel, the first of several: its slices, and why.
    refused: Option<(Expr, Diagnostic)>,
    tried: usize,
    /// For how many of them the kernel was chosen.
    chosen: usize,
    /// For how many of those before the budget ended.
    compared: usize,
    /// Number of distributions in a row that were no better.
    worse: usize,
    /// The loads of the best one with rows that start at whole flits, if some do not.
    padded: Option<Vec<Load>>,
}

/// The result of a distribution.
#[derive(PartialEq, Eq)]
enum Outcome {
    /// It is the best so far.
    Best,
    /// It is no better.
    Worse,
    /// It is not legal.
    Refused,
}

impl Search<'_> {
    /// Returns true if a distribution is within the bounds.
    fn goes_on(&self, distribution: &Distribution) -> bool {
        let within = match &self.best {
            Some(_) => self.chosen < MOST_DISTRIBUTIONS && self.worse < PATIENCE,
            None => self.chosen < MOST_REFUSED || distribution.slices == 1,
        };
        within && !self.stops()
    }

    /// Returns true if the budget allows no further distribution.
    fn stops(&self) -> bool {
        let stops = self.budget.exhausted() || (self.best.is_some() && self.budget.ended());
        if stops {
            self.budget.cut(Cut::Distributions(self.compared));
        }
        stops
    }

    /// Tries a distribution if its transfers leave it a chance; if it is not legal, with rows that start at whole
    /// flits.
    fn attempt(&mut self, module: &Module, distribution: &Distribution) {
        if self.best.as_ref().is_some_and(|best| distribution.transfers >= self.cycles(best)) {
            self.worse += 1;
            return;
        }
        let outcome = self.choose(module, &distribution.loads);
        let padded = distribution.padded.as_ref();
        match (outcome, padded) {
            (Outcome::Best, _) => self.padded = padded.cloned(),
            (Outcome::Refused, Some(padded)) => {
                if self.choose(module, padded) == Outcome::Best {
                    self.padded = None;
                }
            }
            (Outcome::Refused, None) | (Outcome::Worse, _) => {}
        }
    }

    /// Chooses the rest of the kernel for a distribution.
    fn choose(&mut self, module: &Module, distribution: &[Load]) -> Outcome {
        self.tried += 1;
        let mut placed = module.clone();
        if let Err(error) = self.write(&mut placed, distribution) {
            self.refuse(distribution, error);
            return Outcome::Refused;
        }
        self.chosen += 1;
        let found = match self.best {
            Some(_) => self.budget.without_reserve(|| self.rest(placed)),
            None => self.rest(placed),
        };
        self.compared += usize::from(!self.budget.ended());
        match found {
            Ok(found) if self.best.as_ref().is_none_or(|best| self.cycles(&found) < self.cycles(best)) => {
                (self.best, self.worse) = (Some(found), 0);
                Outcome::Best
            }
            Ok(_) => {
                self.worse += 1;
                self.drop_cut();
                Outcome::Worse
            }
            Err(error) => {
                self.worse += usize::from(self.best.is_some());
                self.drop_cut();
                self.refuse(distribution, error);
                Outcome::Refused
            }
        }
    }

    /// Forgets the omissions of a kernel that is dropped: its distribution was not compared.
    fn drop_cut(&self) {
        if !self.budget.take_cut().is_empty() {
            self.budget.cut(Cut::Distributions(self.compared));
        }
    }

    /// The module with all else chosen.
    ///
    /// # Errors
    /// The operation without a legal choice, or one that cannot be lowered.
    fn rest(&self, module: Module) -> Result<Kernel, Diagnostic> {
        let kernel = Kernel::of(self.ctx, module, &self.means.with_empty_memo())?;
        let cycles = cycles(self.ctx, &kernel.module, self.function)?;
        Ok(Kernel { cycles: cycles.into(), ..kernel })
    }

    fn cycles(&self, kernel: &Kernel) -> u64 {
        kernel.cycles(self.ctx, self.function)
    }

    fn refuse(&mut self, distribution: &[Load], why: Diagnostic) {
        let nearer = self.refused.as_ref().is_none_or(|(_, nearest)| nearest.span.start < why.span.start);
        if let Some((_, [_, slice, _])) = distribution.first().filter(|_| nearer) {
            self.refused = Some((slice.clone(), why));
        }
    }

    /// Gives every load its distribution.
    ///
    /// # Errors
    /// That a load cannot move its tensor there, or that a view is illegal with this distribution.
    fn write(&self, module: &mut Module, distribution: &[Load]) -> Result<(), Diagnostic> {
        for (load, maps) in distribution {
            let op = module.op(self.ctx, *load);
            let open = CLAUSES.iter().zip(maps).filter(|(name, _)| is_open(op, name));
            let chosen: Vec<_> =
                open.map(|(name, map)| (*name, self.ctx.body_attr(&MAP, map.clone()))).collect();
            chosen.into_iter().for_each(|(name, value)| module.set_clause(*load, name, Some(value)));
        }
        infer_all(self.ctx, module)?;
        let mut closed = module.clone();
        closed.walk_all().into_iter().for_each(|id| close_addresses(self.ctx, &mut closed, id));
        let known = VerifyCx::new(self.ctx, &closed);
        known.know(self.axes.clone());
        let ops = closed.walk_all().into_iter().map(|id| closed.op(self.ctx, id));
        let mut moves = ops.filter(|op| is_transfer(*op) || view::kind(*op).is_some());
        moves.try_for_each(|op| match op.decl().and_then(|decl| decl.verify) {
            Some(verify) if !untyped(op) => verify(op, &known),
            Some(_) | None => Ok(()),
        })
    }
}

/// The cycles that the report gives for a function that is alone in its module, of which no configuration is open.
///
/// # Errors
/// That it cannot be lowered.
pub(crate) fn cycles(ctx: &Context, module: &Module, function: OpId) -> Result<u64, Diagnostic> {
    let name = Func::of(module.op(ctx, function))?.name()?;
    ctx.data::<Clock>()
        .time(Phase::Price, || Ok(report(ctx, allocated(ctx, module)?, Some(&name))?.totals.cycles))
}
