//! Where the tensors of a kernel lie in data memory, if that is open: places are tried with the whole kernel, and the report's cycles
//! decide.

use super::clock::{Clock, Phase};
use super::driver::Driver;
use super::places::{CLAUSES, Load, Place, places};
use super::ruleset::RuleSet;
use super::scratch::close_addresses;
use super::tried::Means;
use crate::pass_list::{allocate, lower_to_hw, lower_to_seq, plan_vector};
use crate::{Options, PassCx};
use std::rc::Rc;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::infer::infer_all;
use visa_ir::module::{Module, OpId, OpRef};
use visa_ir::open::{is_open, untyped};
use visa_ir::verify::{Analysis, VerifyCx};
use visa_mapping::attrs::MAP;
use visa_mapping::facts::{DeclaredAxes, machine};
use visa_mapping::ops::func::FUNC;
use visa_mapping::{Expr, view};

/// Most places that a kernel is chosen for: those of the lowest estimates that can be loaded.
pub const MOST_PLACES: usize = 24;

/// After so many places in a row that are no better, no further is tried.
pub const PATIENCE: usize = 8;

/// After so many places that let nothing be chosen, only the one is tried where nothing is spread.
pub const MOST_REFUSED: usize = 32;

/// Operations that are verified before anything else is chosen.
const MOVES: [&str; 2] = ["tm.to_dm", "tm.to_hbm"];

/// Chooses the places of a function's tensors; how many were tried, or `None` if none is open.
///
/// # Errors
/// That none lets the kernel be chosen.
pub fn place(
    ctx: &Context,
    module: &mut Module,
    function: OpId,
    rules: &RuleSet,
) -> Result<Option<usize>, Diagnostic> {
    if !module.op(ctx, function).is(&FUNC) {
        return Ok(None);
    }
    let axes = Rc::new(DeclaredAxes::build(ctx, module));
    let places = places(module.op(ctx, function), &axes.0)?;
    let Some(first) = places.first().and_then(|place| place.loads.first()).map(|(load, _)| *load) else {
        return Ok(None);
    };
    let mut search =
        Search { ctx, function, rules, axes, best: None, refused: None, tried: 0, chosen: 0, worse: 0 };
    for place in &places {
        if search.goes_on(place) {
            search.attempt(module, place);
        }
    }
    let Search { best, refused, tried, .. } = search;
    let Some((_, placed)) = best else {
        return Err(nowhere(module.op(ctx, first), tried, refused));
    };
    *module = placed;
    Ok(Some(tried))
}

/// That no place does, and why the nearest one does not.
fn nowhere(load: OpRef<'_>, tried: usize, nearest: Option<(Expr, Diagnostic)>) -> Diagnostic {
    let message =
        format!("no place of the tensors in slices lets this kernel be chosen: {tried} tried, none legal");
    let error = Diagnostic::error("select-configs", load.span(), message);
    let Some((slice, why)) = nearest else { return error };
    let error = error.note(format!("the nearest, with slices `{slice}`: {}", why.message), Some(why.span));
    let error = why.notes.into_iter().fold(error, |error, note| error.note(note.message, note.span));
    Diagnostic { fix: why.fix, ..error }
}

/// The cheapest place so far.
struct Search<'a> {
    ctx: &'a Context,
    function: OpId,
    rules: &'a RuleSet,
    axes: Rc<DeclaredAxes>,
    best: Option<(u64, Module)>,
    /// The place whose refusal stands furthest on in the kernel, the first of several: its slices, and why.
    refused: Option<(Expr, Diagnostic)>,
    tried: usize,
    /// For how many of them the kernel was chosen.
    chosen: usize,
    /// How many places in a row were no better.
    worse: usize,
}

impl Search<'_> {
    /// Whether a place is within the bounds.
    fn goes_on(&self, place: &Place) -> bool {
        match &self.best {
            Some(_) => self.chosen < MOST_PLACES && self.worse < PATIENCE,
            None => self.chosen < MOST_REFUSED || place.slices == 1,
        }
    }

    /// Tries a place if its transfers leave it a chance; where it does not do, with rows that start at whole flits.
    fn attempt(&mut self, module: &Module, place: &Place) {
        if self.best.as_ref().is_some_and(|(least, _)| place.transfers >= *least) {
            self.worse += 1;
            return;
        }
        let padded = place.padded.as_ref();
        if !self.choose(module, &place.loads)
            && let Some(padded) = padded
        {
            self.choose(module, padded);
        }
    }

    /// Chooses the kernel for a place, and whether that is possible.
    fn choose(&mut self, module: &Module, place: &[Load]) -> bool {
        self.tried += 1;
        let mut placed = module.clone();
        if let Err(error) = self.write(&mut placed, place) {
            self.refuse(place, error);
            return false;
        }
        self.chosen += 1;
        match price(self.ctx, &placed, self.function, &Means::new(self.rules)) {
            Ok(cycles) if self.best.as_ref().is_none_or(|(least, _)| cycles < *least) => {
                (self.best, self.worse) = (Some((cycles, placed)), 0);
                true
            }
            Ok(_) => {
                self.worse += 1;
                true
            }
            Err(error) => {
                self.worse += usize::from(self.best.is_some());
                self.refuse(place, error);
                false
            }
        }
    }

    fn refuse(&mut self, place: &[Load], why: Diagnostic) {
        let nearer = self.refused.as_ref().is_none_or(|(_, nearest)| nearest.span.start < why.span.start);
        if let Some((_, [_, slice, _])) = place.first().filter(|_| nearer) {
            self.refused = Some((slice.clone(), why));
        }
    }

    /// Gives every load its place.
    ///
    /// # Errors
    /// That a load cannot move its tensor there, or that a view has no meaning of what lies so.
    fn write(&self, module: &mut Module, place: &[Load]) -> Result<(), Diagnostic> {
        for (load, maps) in place {
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
        let mut moves = ops.filter(|op| MOVES.contains(&op.name()) || view::kind(*op).is_some());
        moves.try_for_each(|op| match op.decl().and_then(|decl| decl.verify) {
            Some(verify) if !untyped(op) => verify(op, &known),
            Some(_) | None => Ok(()),
        })
    }
}

/// The cycles that the report gives for the function, once all else is chosen.
///
/// # Errors
/// What has no legal choice, or cannot be lowered.
pub fn price(ctx: &Context, module: &Module, function: OpId, means: &Means<'_>) -> Result<u64, Diagnostic> {
    let mut module = module.clone();
    let name = module.op(ctx, function).symbol("name");
    let mut others = module.ops(module.body()).to_vec();
    others.retain(|&id| id != function && module.op(ctx, id).is(&FUNC));
    others.into_iter().for_each(|id| module.erase(id));
    Driver { ctx, means, tell: &mut |_, _| () }.run(&mut module)?;
    ctx.data::<Clock>().time(Phase::Price, || priced(ctx, &mut module, name.as_deref()))
}

/// The cycles of a closed kernel.
fn priced(ctx: &Context, module: &mut Module, name: Option<&str>) -> Result<u64, Diagnostic> {
    for pass in [&plan_vector::PASS, &allocate::PASS, &lower_to_seq::PASS, &lower_to_hw::PASS] {
        let options = Options::defaults(pass.options);
        let mut cx = PassCx::new(ctx, module, &options);
        (pass.run)(&mut cx).map_err(first)?;
    }
    let program = visa_hw::compile(ctx, module, name).map_err(first)?;
    Ok(visa_cost::price(&program, &machine(ctx)).totals.cycles)
}

/// The first of some findings.
fn first(findings: Vec<Diagnostic>) -> Diagnostic {
    let none =
        || Diagnostic::error("select-configs", visa_ir::span::Span::default(), "refused without a reason");
    findings.into_iter().next().unwrap_or_else(none)
}
