//! Facts about a whole module that verifiers, lowering and the evaluator share: the declared axes, and the
//! axes each value depends on.

pub mod address;
pub mod calls;
pub mod frames;
pub(crate) mod given_sizes;
pub(crate) mod liveness;
pub(crate) mod overlaps;
pub(crate) mod overwrites;
pub mod placed;

pub use crate::error::mapping_error;
use crate::interfaces::KeepsAxes;
use crate::ops::control::{Carried, carried, carries};
use crate::ops::func::{Func, declare};
use crate::tensor::Tensor;
use crate::tensor::relabel::Relabelling;
use crate::view;
use crate::view::ViewKind;
use rustc_hash::FxBuildHasher as Fast;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;
use visa_algebra::{Axes, AxisId, AxisUse, Digits, Expr, MapError, digits};
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{BlockId, Clause, Module, OpRef, TypeId, ValueId};
use visa_ir::span::Span;
use visa_ir::verify::Analysis;
use visa_ir::view::{BodyOf, Kind as _};
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
    /// Returns true if `value` depends on the axis called `name`.
    #[must_use]
    pub fn depends(&self, value: ValueId, name: &str) -> bool {
        self.known.get(&value).is_some_and(|axes| axes.contains(name))
    }

    /// The axes that `value` depends on, if that is known.
    #[must_use]
    pub fn axes(&self, value: ValueId) -> Option<Rc<Names>> {
        self.known.get(&value).cloned()
    }

    /// Records the axes that `value` depends on, as computed before.
    pub fn recall(&mut self, value: ValueId, axes: Rc<Names>) {
        self.known.insert(value, axes);
    }

    /// Adds the axes that an operation's results depend on. Replaces them if its clauses or types have changed. The
    /// axes of its operands must be known.
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

/// Returns true if a tensor that depends on `held` depends on `name` once it is written in the axes `mentioned` (book
/// 03): of `B' = B - A`, both B and B' stand for the other one together with A.
fn turns(held: &Names, mentioned: &Names, name: &Arc<str>, axes: &Axes) -> bool {
    axes.iter().filter_map(|(axis, skewed, _)| Some((skewed, axes.skew(axis)?))).any(|(skewed, skew)| {
        let (of, by) = (axes.name(skew.of), axes.name(skew.by));
        let turned = |from: &str, to: &str| {
            held.contains(from) && !held.contains(to) && mentioned.contains(to) && [to, by].contains(&&**name)
        };
        turned(of, skewed) || turned(skewed, of)
    })
}

/// Clauses whose axes the result depends on, regardless of the operands. Declared as an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Introduces(pub &'static [&'static str]);

/// Returns true if the operation's result depends on an axis that no operand has.
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
    /// Adds the axes that the results in a block depend on.
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

    /// Adds the values that pass through a loop or a branch. Such a value depends on the axes of its initial value and
    /// of the values that the body yields. A body is processed again until it yields no further axes.
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

    /// Adds the axes of `other` to those of a value. Returns true if it adds any.
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

/// Axes of a view under other axes that stand for axes of its source.
enum Relabelled {
    /// Those of new mappings, of each all together, for those of an old one. Where that was padding, the view depends
    /// on the new ones in any case.
    Reshaped(Vec<(Names, Names, bool)>),
    /// New name to old name.
    Renamed(Vec<(String, String)>),
}

impl Relabelled {
    /// Returns true if the view depends on the axis, given the axes of its source.
    fn depends(&self, name: &Arc<str>, source: &[&Rc<Names>]) -> bool {
        let held = |name: &str| source.iter().any(|axes| axes.contains(name));
        match self {
            Self::Reshaped(pairs) => match pairs.iter().find(|(new, ..)| new.contains(name)) {
                Some((_, old, padded)) => *padded || old.iter().any(|name| held(name)),
                None => held(name),
            },
            Self::Renamed(pairs) => match pairs.iter().find(|(to, _)| **to == **name) {
                Some((_, from)) => held(from),
                None => held(name),
            },
        }
    }
}

fn relabels(op: OpRef<'_>, axes: &Axes) -> Option<Relabelled> {
    let kind = view::kind(op)?;
    let names = |map: &Expr| -> Names { map.axis_names(axes).into_iter().collect() };
    match kind {
        ViewKind::Slice | ViewKind::Tile | ViewKind::Padding => None,
        ViewKind::Reshape | ViewKind::Window => {
            let (own, source) = (view::own_element(op).ok()?, view::element(op).ok()?);
            Some(Relabelled::Reshaped(vec![(names(&own), names(&source), false)]))
        }
        ViewKind::Relabel => {
            let all = view::relabellings(op, axes).ok()?;
            let reach =
                |own: &Relabelling| (own.new_axes(axes), own.old_axes(axes), own.reaches_padding(axes));
            Some(Relabelled::Reshaped(all.iter().map(reach).collect()))
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

/// The digits of a mapping, or the diagnostic of its error.
///
/// # Errors
/// A size rule that is broken, or a padding that falls inside a digit.
pub fn digits_of(map: &Expr, axes: &Axes, span: Span) -> Result<Digits, Diagnostic> {
    digits(map, axes).map_err(|error| match error {
        visa_algebra::DigitsError::Map(error) => mapping_error(error, span),
        visa_algebra::DigitsError::Ragged(ragged) => Diagnostic::error(
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
        map.size(axes).map_err(|error| {
            let missing = undeclared_axis(&map, axes).map(|name| {
                let clauses = mappings(op).flat_map(|(_, map)| map.axis_names(axes)).collect();
                axes.undeclared(&name, usage(names_of_types(op, op.operands(), axes), clauses))
            });
            mapping_error(missing.unwrap_or(error), clause.span).in_type()
        })?;
    }
    match op.result_type::<Tensor>(0) {
        Some(tensor) => check_skew(&tensor, axes, op.span()),
        None => Ok(()),
    }
}

/// The first axis of a mapping that is not declared.
fn undeclared_axis(map: &Expr, axes: &Axes) -> Option<Arc<str>> {
    map.axis_names(axes).into_iter().find(|name| axes.id(name).is_none())
}

/// The use of each axis where `mentioned` is written and `candidates` could be: the axes of the operands of an
/// operation, or those that the users of an argument mention.
fn usage(candidates: Names, mentioned: Names) -> impl Fn(&str) -> AxisUse {
    move |name| match (candidates.contains(name), mentioned.contains(name)) {
        (true, false) => AxisUse::Missing,
        (_, true) => AxisUse::Nearby,
        (false, false) => AxisUse::Elsewhere,
    }
}

/// The axes that the types of values mention.
fn names_of_types(op: OpRef<'_>, values: &[ValueId], axes: &Axes) -> Names {
    let tensors = values.iter().filter_map(|&value| op.ctx.type_value::<Tensor>(op.module.ty(value)));
    tensors.flat_map(|tensor| tensor.axis_names(axes)).collect()
}

/// The error for a mapping in the type of an argument. If an axis is not declared, its fix is one that the users
/// of the argument mention and its type does not.
pub(crate) fn argument_error(
    error: MapError,
    func: OpRef<'_>,
    argument: ValueId,
    map: &Expr,
    axes: &Axes,
) -> Diagnostic {
    let span = func.module.value_span(argument);
    let Some(name) = undeclared_axis(map, axes) else { return mapping_error(error, span).in_type() };
    let own = names_of_types(func, &[argument], axes);
    let users = func.module.uses(argument).iter().map(|&user| func.other(user));
    let mentioned: Names = users
        .flat_map(|user| mappings(user).flat_map(|(_, map)| map.axis_names(axes)).collect::<Vec<_>>())
        .collect();
    mapping_error(axes.undeclared(&name, usage(mentioned, own)), span).in_type()
}

/// The mapping that is written in a clause; `None` where it is `auto`, or the operation has no such clause.
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

/// Checks that a tensor with a skewed axis also has the axis that is subtracted, without which it is not known which
/// elements are meant (book 03), and no other axis that gives its position along the one that is skewed.
///
/// # Errors
/// The skewed axis and the axis that it lacks, or the other axis.
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
                "`{name}` is `{of} - {by}`, and a mapping of this tensor mentions `{other}` too: each gives its \
                 position along `{of}`"
            );
            let fix = format!("write all of `{of}` in one of them");
            return Err(Diagnostic::error("map-skew-twice", span, message).fix(Some(fix)));
        }
    }
    Ok(())
}

/// A value as messages show it.
pub(crate) fn quoted(op: OpRef<'_>, value: ValueId) -> String {
    op.module.value_name(value).map_or("a tensor".to_owned(), |name| format!("`%{name}`"))
}
