//! Facts about a whole module that verifiers, lowering and the evaluator share: the declared axes, the axes each
//! value depends on, and how long each tensor must stay where it is.

use crate::address::{Address, address, carried_address, index};
pub use crate::error::mapping_error;
use crate::keeps_axes::KeepsAxes;
use crate::liveness::Positions;
use crate::ops::control::{Carried, For, carried, carries, times};
use crate::ops::func::{Func, addresses, declare};
use crate::succeeds::succeeded;
use crate::tensor::{Dim, Tensor};
use crate::view::{self, ViewKind};
use crate::{Axes, AxisId, Digits, Expr, digits};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use visa_ir::context::Context;
use visa_ir::decl::ClauseKind;
use visa_ir::diag::Diagnostic;
use visa_ir::hash::Fast;
use visa_ir::module::{BlockId, Clause, Module, OpRef, TypeId, ValueId};
use visa_ir::span::Span;
use visa_ir::verify::Analysis;
use visa_ir::view::{BodyOf, Int, Kind as _, Text, unless_auto};
use visa_loops::gcd;
use visa_machine::Machine;

/// The axes that the module declares and its aliases of mappings (all its `tm.axes` and `tm.alias` together).
pub struct DeclaredAxes(pub Axes);

impl Analysis for DeclaredAxes {
    const SAME: Option<fn(&Self, &Self) -> bool> = Some(|left, right| left.0 == right.0);

    fn build(ctx: &Context, module: &Module) -> Self {
        let mut axes = Axes::new();
        for &id in module.ops(module.body()) {
            declare(module.op(ctx, id), &mut axes);
        }
        Self(axes)
    }
}

/// The axes that each value's elements depend on. Along any other axis a mapping mentions, the tensor is constant: a
/// transfer or fetch that introduces the axis broadcasts. An argument depends on the axes of its type; a result on
/// the axes of its operands that its type still mentions (a reduced axis is gone).
#[derive(Clone, Debug, Default)]
pub struct Support {
    known: HashMap<ValueId, Rc<Names>, Fast>,
    /// The axes that types mention.
    of_types: HashMap<TypeId, Rc<Names>, Fast>,
}

/// Names of axes.
pub type Names = BTreeSet<Arc<str>>;

impl Support {
    /// Whether `value` depends on the axis called `name`.
    #[must_use]
    pub fn depends(&self, value: ValueId, name: &str) -> bool {
        self.known.get(&value).is_some_and(|axes| axes.contains(name))
    }

    /// The axes that `value` depends on, if that is known.
    #[must_use]
    pub fn axes(&self, value: ValueId) -> Option<Rc<Names>> {
        self.known.get(&value).cloned()
    }

    /// Says what `value` depends on, as it was learnt before.
    pub fn recall(&mut self, value: ValueId, axes: Rc<Names>) {
        self.known.insert(value, axes);
    }

    /// Adds what an operation's results depend on, or says it anew where its clauses or types are others than
    /// before. What its operands depend on must be known.
    pub fn learn(&mut self, op: OpRef<'_>, axes: &Axes) {
        for &result in op.results() {
            let mentioned = self.mentioned(op, result, axes);
            let operands: Vec<_> =
                op.operands().iter().filter_map(|operand| self.known.get(operand)).collect();
            if op.decl().is_some_and(|decl| decl.interface::<KeepsAxes>().is_some()) {
                self.known.insert(result, mentioned);
                continue;
            }
            let relabelled = relabels(op, axes);
            let reaches = |name: &Arc<str>| match &relabelled {
                Some(relabelled) => relabelled.depends(name, &operands),
                None => {
                    operands.iter().any(|own| own.contains(name) || turns(own, &mentioned, name, axes))
                        || introduces(op, name, axes)
                }
            };
            // Most operations keep every axis: such values share one set.
            let kept = if mentioned.iter().all(reaches) {
                mentioned
            } else {
                Rc::new(mentioned.iter().filter(|name| reaches(name)).cloned().collect())
            };
            self.known.insert(result, kept);
        }
    }

    /// The axes that a value's type mentions.
    fn mentioned(&mut self, op: OpRef<'_>, value: ValueId, axes: &Axes) -> Rc<Names> {
        let ty = op.module.ty(value);
        let tensor = || op.ctx.type_value::<Tensor>(ty);
        let of_type =
            || tensor().map_or_else(Names::new, |tensor| tensor.axis_names(axes).into_iter().collect());
        self.of_types.entry(ty).or_insert_with(|| Rc::new(of_type())).clone()
    }
}

/// Whether a tensor that depends on `held` depends on `name` once it is written in the axes `mentioned` (book 03):
/// of `B' = B - A`, both B and B' stand for the other one together with A.
fn turns(held: &Names, mentioned: &Names, name: &Arc<str>, axes: &Axes) -> bool {
    axes.iter().filter_map(|(axis, skewed, _)| Some((skewed, axes.skew(axis)?))).any(|(skewed, skew)| {
        let (of, by) = (axes.name(skew.of), axes.name(skew.by));
        let turned = |from: &str, to: &str| {
            held.contains(from) && !held.contains(to) && mentioned.contains(to) && [to, by].contains(&&**name)
        };
        turned(of, skewed) || turned(skewed, of)
    })
}

/// Clauses whose axes the result depends on, whatever the operands do. Declared as an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Introduces(pub &'static [&'static str]);

/// Whether the operation's result depends on an axis that no operand has.
fn introduces(op: OpRef<'_>, name: &Arc<str>, axes: &Axes) -> bool {
    let clauses = op.decl().and_then(|decl| decl.interface::<Introduces>());
    let mut maps =
        clauses.into_iter().flat_map(|Introduces(clauses)| *clauses).filter_map(|clause| written(op, clause));
    maps.any(|map| map.axis_names(axes).contains(name))
}

impl Analysis for Support {
    fn build(ctx: &Context, module: &Module) -> Self {
        let axes = DeclaredAxes::build(ctx, module).0;
        let mut support = Self::default();
        support.block(ctx, module, module.body(), &axes);
        support
    }
}

impl Support {
    /// Adds what the results in a block depend on.
    fn block(&mut self, ctx: &Context, module: &Module, block: BlockId, axes: &Axes) {
        for &id in module.ops(block) {
            let op = module.op(ctx, id);
            if carries(op) {
                self.carry(op, axes);
                continue;
            }
            for &region in op.regions() {
                for &arg in module.args(region) {
                    let names = self.mentioned(op, arg, axes);
                    self.known.insert(arg, names);
                }
            }
            self.learn(op, axes);
            op.regions().iter().for_each(|&region| self.block(ctx, module, region, axes));
        }
    }

    /// Adds what goes through a loop or a branch: it depends on what it does before, and on what the body yields. A
    /// body is gone through again until it yields nothing more.
    fn carry(&mut self, op: OpRef<'_>, axes: &Axes) {
        let through = carried(op);
        for own in &through {
            self.join(own.argument, own.initial);
        }
        let mut more = true;
        while more {
            op.regions().iter().for_each(|&region| self.block(op.ctx, op.module, region, axes));
            let yields = |own: &Carried| own.yielded.is_some_and(|value| self.join(own.argument, value));
            more = through.iter().map(yields).fold(false, |more, one| more | one);
        }
        for own in through {
            self.join(own.result, own.initial);
            if let Some(value) = own.yielded {
                self.join(own.result, value);
            }
        }
    }

    /// Lets a value depend on what another one does; whether it did not before.
    fn join(&mut self, value: Option<ValueId>, other: ValueId) -> bool {
        let (Some(value), Some(other)) = (value, self.known.get(&other).cloned()) else { return false };
        let own = self.known.entry(value).or_default();
        if other.is_subset(own) {
            return false;
        }
        *own = Rc::new(own.union(&other).cloned().collect());
        true
    }
}

/// Which axes of a view under other axes stand for axes of its source.
enum Relabelled {
    /// Those of the new element mapping, all together, for those of the old one.
    Reshaped(Names, Names),
    /// New name to old name.
    Renamed(Vec<(String, String)>),
}

impl Relabelled {
    /// Whether the view depends on the axis, given what its source depends on.
    fn depends(&self, name: &Arc<str>, source: &[&Rc<Names>]) -> bool {
        let held = |name: &str| source.iter().any(|axes| axes.contains(name));
        match self {
            Self::Reshaped(new, old) if new.contains(name) => old.iter().any(|name| held(name)),
            Self::Reshaped(..) => held(name),
            Self::Renamed(pairs) => match pairs.iter().find(|(to, _)| **to == **name) {
                Some((_, from)) => held(from),
                None => held(name),
            },
        }
    }
}

fn relabels(op: OpRef<'_>, axes: &Axes) -> Option<Relabelled> {
    let kind = view::kind(op)?;
    match kind {
        ViewKind::Slice | ViewKind::Tile | ViewKind::Padding => None,
        ViewKind::Reshape | ViewKind::Window => {
            let names = |map: Expr| map.axis_names(axes).into_iter().collect();
            let (own, source) = (view::own_element(op).ok()?, view::element(op).ok()?);
            Some(Relabelled::Reshaped(names(own), names(source)))
        }
        ViewKind::Transpose => {
            let (from, to) = view::renamed_axes(op).ok()?;
            Some(Relabelled::Renamed(to.into_iter().zip(from).collect()))
        }
    }
}

/// The machine whose limits hold for an operation: the one given to the context, or RNGD, with as many processing
/// elements as the function around the operation has.
#[must_use]
pub fn machine(op: OpRef<'_>) -> Rc<Machine> {
    let func = std::iter::once(op).chain(op.ancestors()).find_map(Func::cast);
    // The function reports a number that is wrong.
    let pes = func.and_then(|func| func.pes().ok().flatten());
    op.ctx.data::<Machine>().device_or_whole(pes)
}

/// The digits of a mapping, or the diagnostic that says what is wrong with it.
///
/// # Errors
/// A size rule that is broken, or a padding that falls inside a digit.
pub fn digits_of(map: &Expr, axes: &Axes, span: Span) -> Result<Digits, Diagnostic> {
    digits(map, axes).map_err(|error| match error {
        crate::DigitsError::Map(error) => mapping_error(error, span),
        crate::DigitsError::Ragged(ragged) => Diagnostic::error(
            "ragged",
            span,
            format!("padding or truncation that is no whole digit: {ragged}"),
        ),
    })
}

/// Checks every mapping that the operation's clauses give.
///
/// # Errors
/// The first one whose sizes are wrong.
pub fn check_mappings(op: OpRef<'_>, axes: &Axes) -> Result<(), Diagnostic> {
    for (clause, map) in mappings(op) {
        map.size(axes).map_err(|error| mapping_error(error, clause.span))?;
    }
    match op.result_type::<Tensor>(0) {
        Some(tensor) => check_skew(&tensor, axes, op.span()),
        None => Ok(()),
    }
}

/// The mapping that is written in a clause; nothing where it is `auto`, or the operation has no such clause.
#[must_use]
pub fn written(op: OpRef<'_>, clause: &str) -> Option<Rc<Expr>> {
    BodyOf::<Expr>::read(&op.attr(clause)?)
}

/// Every mapping that the operation's clauses give.
pub fn mappings(op: OpRef<'_>) -> impl Iterator<Item = (&Clause, Rc<Expr>)> {
    op.clauses()
        .iter()
        .filter_map(move |clause| Some((clause, BodyOf::<Expr>::read(&op.ctx.attr_data(clause.value))?)))
}

/// Checks that a tensor with a skewed axis also has the axis that is subtracted, without which it is not known
/// which elements are meant (book 03), and no other axis that says where it is along the one that is skewed.
///
/// # Errors
/// The skewed axis and what it lacks, or the other axis.
pub fn check_skew(tensor: &Tensor, axes: &Axes, span: Span) -> Result<(), Diagnostic> {
    if !axes.has_skew() {
        return Ok(());
    }
    let names = tensor.axis_names(axes);
    for name in &names {
        let Some(skew) = axes.id(name).and_then(|id| axes.skew(id)) else { continue };
        let (of, by) = (axes.name(skew.of), axes.name(skew.by));
        if names.iter().all(|other| **other != *by) {
            let message = format!(
                "`{name}` is `{of} - {by}`, but no mapping of this tensor mentions `{by}`: which `{of}` it holds \
                 is not known"
            );
            let fix = format!("map `{by}` too, or use `{of}`");
            return Err(Diagnostic::error("map-skew-alone", span, message).fix(Some(fix)));
        }
        let also = |other: &&Arc<str>| {
            let same = |id: AxisId| id == skew.of || axes.skew(id).is_some_and(|other| other.of == skew.of);
            other != &name && axes.id(other).is_some_and(same)
        };
        if let Some(other) = names.iter().find(also) {
            let message = format!(
                "`{name}` is `{of} - {by}`, and a mapping of this tensor mentions `{other}` too: each says where \
                 it is along `{of}`"
            );
            let fix = format!("write all of `{of}` in one of them");
            return Err(Diagnostic::error("map-skew-twice", span, message).fix(Some(fix)));
        }
    }
    Ok(())
}

/// The bytes of its memory that a tensor occupies (book 04): of a chip's HBM, of a PE's scratchpad memory, of a
/// slice's data memory or vector register file, of a row's tensor register file. `None` where it has no address.
#[must_use]
pub fn occupied(
    tensor: &Tensor,
    address: Option<i64>,
    half: Option<&str>,
    axes: &Axes,
    machine: &Machine,
) -> Option<Range<u64>> {
    let row = machine.memory.trf_bytes_per_row;
    match half {
        Some("full") => return Some(0..row),
        Some("first") => return Some(0..row / 2),
        Some("second") => return Some(row / 2..row),
        Some(_) | None => {}
    }
    let start = u64::try_from(address?).ok()?;
    Some(start..start.checked_add(tensor.dim_bytes(Dim::Element, axes)?)?)
}

/// A tensor at rest whose bytes are known, and the operations between which they must not change.
struct Resident {
    value: ValueId,
    /// The tensor that it was before it was changed in place.
    before: Option<ValueId>,
    name: String,
    space: &'static str,
    /// Its bytes, of each iteration in turn of the loop with that index.
    ranges: Vec<Range<u64>>,
    index: Option<ValueId>,
    from: usize,
    until: usize,
    span: Span,
}

impl Resident {
    /// Bytes of two tensors that overlap in an iteration.
    fn overlap<'a>(&'a self, other: &'a Self) -> Option<[&'a Range<u64>; 2]> {
        if self.space != other.space {
            return None;
        }
        // Of one loop, both are in the same iteration.
        let together = self.index.is_some() && self.index == other.index;
        let divisor =
            if together { gcd(self.ranges.len() as u64, other.ranges.len() as u64) as usize } else { 1 };
        let own = self.ranges.iter().enumerate();
        let mut pairs = own.flat_map(|(at, own)| {
            let others = other.ranges.iter().skip(at % divisor).step_by(divisor);
            others.map(move |other| [own, other])
        });
        pairs.find(|[own, other]| own.start < other.end && other.start < own.end)
    }

    /// Two of its own ranges that overlap.
    fn itself(&self) -> Option<[&Range<u64>; 2]> {
        let all = self.ranges.iter().enumerate();
        let mut pairs = all.flat_map(|(at, one)| self.ranges[at + 1..].iter().map(move |other| [one, other]));
        pairs.find(|[own, other]| own.start < other.end && other.start < own.end)
    }
}

/// Reports tensors of one memory whose bytes overlap while both are needed (book 01, 28: addresses must not collide).
/// A tensor that a pipeline reads is needed until the pipeline's last operation has stored its result.
///
/// Positions count the operations of the function; arguments are there from the start.
///
/// # Errors
/// If an address is no number.
pub fn check_overlaps(
    func: OpRef<'_>,
    axes: &Axes,
    machine: &Machine,
    report: &dyn Fn(Diagnostic),
) -> Result<(), Diagnostic> {
    let mut live: Vec<Resident> = Vec::new();
    let mut told_of = HashSet::new();
    let all = placements(func, axes)?;
    check_carried(func, &all, report);
    for placed in &all {
        let Some(resident) = resident(func, placed, axes, machine) else {
            check_changed(func, placed, &all, report);
            continue;
        };
        if placed.before.is_none() {
            overlaps_itself(&resident).into_iter().for_each(report);
        }
        live.retain(|earlier| earlier.until >= resident.from);
        let needed = live.iter().filter(|earlier| !is_spent(func, earlier.value, resident.before));
        for earlier in needed {
            let Some(found) = overlap(earlier, &resident) else { continue };
            // What it was before is in the same place: that was told.
            let told = resident.before.is_some_and(|before| told_of.contains(&(before, earlier.value)));
            told_of.insert((resident.value, earlier.value));
            if !told {
                report(found);
            }
        }
        live.push(resident);
    }
    Ok(())
}

/// Reports what a loop or a branch carries from one place to another (C3, C4 of `tm.for` and `tm.if`).
fn check_carried(func: OpRef<'_>, all: &[Placement], report: &dyn Fn(Diagnostic)) {
    let bodies = func.regions().iter().flat_map(|&block| func.module.walk(block));
    for op in bodies.map(|id| func.other(id)) {
        for Carried { initial: wanted, yielded, .. } in carried(op) {
            let Some(given) = yielded else { continue };
            let span = |value: ValueId| func.module.value_span(value);
            let refuse = |constraint: &str, value: ValueId, message: String| Diagnostic {
                span: span(value),
                ..op.error(constraint, message)
            };
            let is_view =
                |value: ValueId| op.value(value).made_by().is_some_and(|made| view::kind(made).is_some());
            if let Some(&value) = [wanted, given].iter().find(|&&value| is_view(value)) {
                let message = format!("{} is a view: whole tensors are carried", name_of(func, value));
                report(refuse("C4", value, message).fix("carry the view's source".to_owned()));
            }
            let address = |value: ValueId| all.iter().find(|placed| placed.value == value)?.address.clone();
            let (Some(from), Some(to)) = (address(wanted), address(given)) else { continue };
            let alike = func.module.ty(given) == func.module.ty(wanted);
            let before = to.before(index(op));
            if from != before && alike {
                let (given_name, wanted_name) = (name_of(func, given), name_of(func, wanted));
                let message =
                    format!("{given_name} is at {to}, and takes the place of {wanted_name} at {from}");
                let fix = match before == to {
                    true => format!("place it at {from}"),
                    false => format!(
                        "place {wanted_name} at {before}, the last of them: the first iteration reads it"
                    ),
                };
                report(
                    refuse("C3", given, message)
                        .note(format!("{wanted_name} is placed here"), Some(span(wanted)))
                        .fix(fix),
                );
            }
        }
    }
}

/// Reports what a tensor without an address yet has changed in place although it is still needed: that is so at
/// any address.
fn check_changed(func: OpRef<'_>, later: &Placement, all: &[Placement], report: &dyn Fn(Diagnostic)) {
    let before = |placed: &Placement| {
        let before = placed.before?;
        all.iter().find(|earlier| earlier.value == before)
    };
    let needed = std::iter::successors(before(later), |placed| before(placed));
    let needed = needed.filter(|earlier| !is_spent(func, earlier.value, later.before));
    for earlier in needed.filter(|earlier| earlier.until >= later.from) {
        let [earlier_name, later_name] = [earlier, later].map(|placed| name_of(func, placed.value));
        let span = func.module.value_span(later.value);
        let message = format!(
            "{later_name} overlaps {earlier_name}, which is still needed, and which it changes in place"
        );
        report(
            Diagnostic::error("overlap", span, message)
                .note(format!("{earlier_name} is placed here"), Some(func.module.value_span(earlier.value)))
                .fix(Some(read_after(&later_name))),
        );
    }
}

/// Whether a tensor is needed for nothing but to become another one in place: then positions do not matter, of which
/// an argument and the first operation share one.
fn is_spent(func: OpRef<'_>, earlier: ValueId, before: Option<ValueId>) -> bool {
    before == Some(earlier) && func.module.uses(earlier).len() == 1
}

fn name_of(func: OpRef<'_>, value: ValueId) -> String {
    func.module.value_name(value).map_or("a tensor".to_owned(), |name| format!("%{name}"))
}

/// A value as messages show it.
pub(crate) fn quoted(op: OpRef<'_>, value: ValueId) -> String {
    op.module.value_name(value).map_or("a tensor".to_owned(), |name| format!("`%{name}`"))
}

fn read_after(changed: &str) -> String {
    format!("read {changed} after it, which is the tensor from then on")
}

/// A tensor at rest as the function places it. Positions count the operations of the function, those of bodies among
/// them.
#[derive(Clone, Debug)]
pub struct Placement {
    /// The tensor.
    pub value: ValueId,
    /// The tensor that it was before it was changed in place: it is where that one stood.
    pub before: Option<ValueId>,
    /// Where it is as written; `None` for a view, a part of the tensor register file, and an open address.
    pub address: Option<Address>,
    /// Its part of the tensor register file as written.
    pub half: Option<Rc<str>>,
    /// The position at which it is there; arguments are there from the start.
    pub from: usize,
    /// The position of the last operation that needs it: through views, and through a stream up to the end of its
    /// pipeline.
    pub until: usize,
}

/// The tensors that a function places, views included: HBM arguments first, then results in the order of
/// definition. Host tensors, which have no address, are among them if they are results.
///
/// # Errors
/// If an address is no number.
pub fn placements(func: OpRef<'_>, axes: &Axes) -> Result<Vec<Placement>, Diagnostic> {
    let positions = Positions::of_function(func);
    let needed = positions.needed_until(func);
    let until = |value: ValueId, from: usize| needed.get(&value).map_or(from, |&until| until.max(from));
    let Some(&block) = func.regions().first() else { return Ok(Vec::new()) };
    let addresses = addresses(Func::of(func)?)?;
    let args =
        func.module.args(block).iter().filter(|&&arg| func.ctx.type_name(func.module.ty(arg)) == "tm.hbm");
    let all: Vec<_> = args
        .enumerate()
        .map(|(index, &value)| Placement {
            value,
            before: None,
            address: addresses.as_ref().and_then(|addresses| *addresses.get(index)?).map(Address::at),
            half: None,
            from: 0,
            until: until(value, 0),
        })
        .collect();
    let mut placing = Placing { func, axes, positions: &positions, until: &until, all };
    placing.block(block)?;
    Ok(placing.all)
}

/// The tensors that a function places, as far as they are known.
struct Placing<'a> {
    func: OpRef<'a>,
    axes: &'a Axes,
    positions: &'a Positions,
    /// The position up to which a value is needed that is there from another one on.
    until: &'a dyn Fn(ValueId, usize) -> usize,
    all: Vec<Placement>,
}

impl Placing<'_> {
    /// Adds what the operations of a block place, in the order in which it is there.
    fn block(&mut self, block: BlockId) -> Result<(), Diagnostic> {
        for &id in self.func.module.ops(block) {
            let (op, from) = (self.func.other(id), self.positions.of(id));
            if carries(op) {
                self.carry(op)?;
                continue;
            }
            let taken = succeeded(op);
            taken.iter().for_each(|&(value, before)| self.succeed(value, before, from));
            if op.results().first().is_some_and(|first| taken.iter().any(|(value, _)| value == first)) {
                continue;
            }
            let at_rest = op.result_type::<Tensor>(0).is_some_and(|tensor| !tensor.kind.stream);
            if let (true, Some(&value)) = (at_rest, op.results().first()) {
                let before = view::changed(op);
                let known = before.and_then(|before| self.of(before));
                let (first, half) = written_place(op)?;
                let address = known.map_or_else(|| address(op, first), |known| known.address.clone());
                let until = (self.until)(value, from);
                self.all.push(Placement { value, before, address, half, from, until });
            }
        }
        Ok(())
    }

    /// Adds what goes through a loop or a branch, and what its body places.
    fn carry(&mut self, op: OpRef<'_>) -> Result<(), Diagnostic> {
        let (through, from, end) = (carried(op), self.positions.of(op.id), self.positions.end(op));
        for Carried { initial, argument, yielded, .. } in &through {
            let Some(value) = *argument else { continue };
            let written = |op: OpRef<'_>| address(op, written_place(op).ok()?.0);
            self.succeed(value, *initial, from);
            if let (Some(turning), Some(placed)) =
                (carried_address(op, *yielded, written), self.all.last_mut())
            {
                placed.address = Some(turning);
            }
        }
        for &body in op.regions() {
            self.block(body)?;
        }
        let times = For::cast(op).map_or(Ok(1), |around| times(around, self.axes))?;
        for Carried { initial, yielded, result, .. } in through {
            let Some((value, before)) = result.zip(yielded) else { continue };
            let branch = index(op).is_none();
            let stays = self.of(initial).filter(|_| branch).and_then(|placed| placed.address.clone());
            self.succeed(value, before, end);
            if let Some(placed) = self.all.last_mut() {
                let after = placed.address.as_ref().map(|address| address.after(index(op), times));
                placed.address = stays.or(after);
            }
        }
        Ok(())
    }

    fn of(&self, value: ValueId) -> Option<&Placement> {
        self.all.iter().find(|placed| placed.value == value)
    }

    /// Adds a tensor that takes the place of another one.
    fn succeed(&mut self, value: ValueId, before: ValueId, from: usize) {
        let known = self.of(before);
        let (address, half) = known.map_or((None, None), |known| (known.address.clone(), known.half.clone()));
        let until = (self.until)(value, from);
        self.all.push(Placement { value, before: Some(before), address, half, from, until });
    }
}

/// The address, or the part of the tensor register file, where an operation writes that it puts its result. Neither
/// where that is open, and for a view.
///
/// # Errors
/// If it is of another kind.
pub fn written_place(op: OpRef<'_>) -> Result<(Option<i64>, Option<Rc<str>>), Diagnostic> {
    const AT: &str = "at";
    match op.decl().and_then(|decl| decl.clause(AT)).map(|clause| clause.kind) {
        Some(ClauseKind::Int) => Ok((unless_auto::<Int>(&op, AT)?, None)),
        Some(ClauseKind::Word(_)) => Ok((None, unless_auto::<Text>(&op, AT)?)),
        Some(
            ClauseKind::Str
            | ClauseKind::Symbol
            | ClauseKind::Ints
            | ClauseKind::Strs
            | ClauseKind::Flag
            | ClauseKind::Body(_),
        )
        | None => Ok((None, None)),
    }
}

fn resident(func: OpRef<'_>, placed: &Placement, axes: &Axes, machine: &Machine) -> Option<Resident> {
    let value = placed.value;
    let tensor = func.ctx.type_value::<Tensor>(func.module.ty(value))?;
    let name = name_of(func, value);
    let half = placed.half.as_deref();
    let addresses = match (half, &placed.address) {
        (Some(_), _) => vec![None],
        (None, address) => address.as_ref()?.addresses().iter().copied().map(Some).collect(),
    };
    let ranges = addresses.into_iter().map(|address| occupied(&tensor, address, half, axes, machine));
    Some(Resident {
        value,
        before: placed.before,
        name,
        space: tensor.kind.def.name,
        ranges: ranges.collect::<Option<_>>()?,
        index: placed.address.as_ref().and_then(Address::index),
        from: placed.from,
        until: placed.until,
        span: func.module.value_span(value),
    })
}

fn show(range: &Range<u64>) -> String {
    format!("bytes {} to {}", range.start, range.end)
}

fn overlap(earlier: &Resident, later: &Resident) -> Option<Diagnostic> {
    let [before, after] = earlier.overlap(later)?;
    let memory = earlier.space.trim_start_matches("tm.").to_uppercase();
    let message = format!(
        "{} ({}) overlaps {} ({}), which is still needed, in {memory}",
        later.name,
        show(after),
        earlier.name,
        show(before)
    );
    let fix = match later.before == Some(earlier.value) {
        true => read_after(&later.name),
        false => format!("place it at {} or beyond", before.end),
    };
    let error = Diagnostic::error("overlap", later.span, message);
    Some(error.note(format!("{} is placed here", earlier.name), Some(earlier.span)).fix(Some(fix)))
}

/// What a tensor that a loop puts at several addresses in turn says of itself.
fn overlaps_itself(resident: &Resident) -> Option<Diagnostic> {
    let [one, other] = resident.itself()?;
    let message =
        format!("{} ({}) overlaps itself ({}) in another iteration", resident.name, show(other), show(one));
    let fix = format!("place it at {} or beyond in one of them", one.end.max(other.end));
    Some(Diagnostic::error("overlap", resident.span, message).fix(Some(fix)))
}
