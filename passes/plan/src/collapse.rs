//! Axes that a function always has together, as one axis. Loops divide one axis, and slices a power of two of its
//! positions: rows along several axes of odd sizes are few for each of them, and many together.

use crate::counters::{declare, unused};
use crate::order::{ReduceOrder, is_permutation};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use visa_algebra::{Axes, Expr, MAX_SIZE};
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId, OpRef, ValueId};
use visa_ir::verify::verify;
use visa_mapping::facts::mappings;
use visa_mapping::ops::contract::Contract;
use visa_mapping::ops::func::{RETURN, signature};
use visa_mapping::ops::reduce::Reduce;
use visa_mapping::ops::rename::{Merge, Rearrange, Split};
use visa_mapping::ops::{cast, constant, contract, map, reduce, where_};
use visa_mapping::tensor::attrs::MAP;
use visa_mapping::tensor::value::{Value, axis_list, value_type};

/// Neighbouring axes, slowest first, and the axis that counts all of their positions.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    parts: Vec<Arc<str>>,
    whole: Arc<str>,
    size: u64,
}

/// The axes that functions have together.
#[derive(Clone, Debug, Default)]
pub struct Collapses {
    /// For each function the ways to have fewer axes.
    ways: BTreeMap<OpId, Vec<Vec<Run>>>,
}

impl Collapses {
    /// The axes that each of the functions has together, if one of them has another size than a power of two: all of
    /// them as one axis, or all but the innermost one.
    #[must_use]
    pub fn new(ctx: &Context, module: &Module, funcs: &[OpId], axes: &Axes) -> Self {
        let mut known: BTreeMap<Vec<Arc<str>>, Run> = BTreeMap::new();
        let mut collapsed = |parts: &[Arc<str>]| {
            let run = known.get(parts).cloned().or_else(|| Run::new(parts, axes))?;
            known.insert(parts.to_vec(), run.clone());
            Some(run)
        };
        let mut ways = BTreeMap::new();
        for &func in funcs {
            let all = Neighbours::new(ctx, module, func, axes).runs();
            let whole: Vec<Run> = all.iter().filter_map(|parts| collapsed(parts)).collect();
            let outer = all.iter().filter_map(|parts| match &parts[..] {
                [outer @ .., _] if outer.len() > 1 => collapsed(outer),
                [..] => collapsed(parts),
            });
            let mut own = vec![outer.collect(), whole];
            own.dedup();
            own.retain(|runs| !runs.is_empty());
            ways.insert(func, own);
        }
        Self { ways }
    }

    /// Declares axes at the beginning of a module, and among `axes`: those of all ways, or of the way that functions
    /// are in. Returns the declaration.
    ///
    /// # Errors
    /// More axes than a module may have.
    pub fn declare(
        &self,
        ctx: &Context,
        module: &mut Module,
        (only, axes): (Option<&BTreeMap<OpId, usize>>, &mut Axes),
    ) -> Result<Option<OpId>, Diagnostic> {
        let mut sizes: BTreeMap<Arc<str>, u64> = BTreeMap::new();
        for (func, ways) in &self.ways {
            for (way, runs) in ways.iter().enumerate() {
                if only.is_none_or(|only| only.get(func) == Some(&way)) {
                    sizes.extend(runs.iter().map(|run| (Arc::clone(&run.whole), run.size)));
                }
            }
        }
        declare(ctx, module, axes, sizes.into_iter().collect())
    }

    /// The ways of a function, each with the module in which it has one axis instead of several. Its arguments and
    /// results stay as they are.
    #[must_use]
    pub fn applied(&self, ctx: &Context, module: &Module, func: OpId) -> Vec<(usize, Module)> {
        let ways = self.ways.get(&func).into_iter().flatten();
        let applied = ways.enumerate().filter_map(|(way, runs)| {
            let mut module = module.clone();
            runs.iter().for_each(|run| run.apply(ctx, &mut module, func));
            verify(ctx, &module).is_empty().then_some((way, module))
        });
        applied.collect()
    }
}

impl Run {
    /// The axis of these parts; `None` if there is nothing to gain, or it is too long.
    fn new(parts: &[Arc<str>], axes: &Axes) -> Option<Self> {
        let sizes =
            parts.iter().map(|axis| axes.id(axis).map(|id| axes.size(id))).collect::<Option<Vec<_>>>()?;
        let odd = sizes.iter().any(|size| !size.is_power_of_two());
        let long = sizes.iter().filter(|size| **size > 1).count() > 1;
        let size = sizes.iter().try_fold(1_u64, |all, size| all.checked_mul(*size))?;
        (odd && long && size <= MAX_SIZE).then(|| Self {
            parts: parts.to_vec(),
            whole: unused(&parts.concat(), axes),
            size,
        })
    }

    /// Names with the axis instead of the parts.
    fn within(&self, names: &[Arc<str>]) -> Vec<Arc<str>> {
        let kept = |axis: &Arc<str>| match self.parts.iter().position(|part| part == axis) {
            Some(0) => Some(Arc::clone(&self.whole)),
            Some(_) => None,
            None => Some(Arc::clone(axis)),
        };
        names.iter().filter_map(kept).collect()
    }

    /// Returns true if a value of the tensor level has the parts.
    fn has(&self, value: &Value) -> bool {
        self.parts.first().is_some_and(|first| value.has(first))
    }

    /// Merges the parts at the arguments of a function, and splits the axis at its results.
    fn apply(&self, ctx: &Context, module: &mut Module, func: OpId) {
        let inside = inside(module, ctx, func);
        let arguments = signature(module.op(ctx, func)).0.to_vec();
        for &id in &inside {
            let op = module.op(ctx, id);
            let lists: Vec<(String, Expr)> = mappings(op)
                .filter_map(|(clause, list)| {
                    let names = in_any_order(op, axis_list(&list).ok()?);
                    let list = Expr::pair(self.within(&names).iter().map(|axis| Expr::axis(axis)));
                    Some((clause.name.to_string(), list))
                })
                .collect();
            let results: Vec<ValueId> = op.results().to_vec();
            for (name, list) in lists {
                module.set_clause(id, &name, Some(ctx.body_attr(&MAP, list)));
            }
            for result in results {
                if let Some(value) = ctx.type_value::<Value>(module.ty(result)) {
                    module.set_type(result, value_type(ctx, value.dtype, self.within(&value.axes)));
                }
            }
        }
        let (parts, whole) = (axes_of(&self.parts), Expr::axis(&self.whole));
        let Some(&first) = inside.first() else { return };
        for argument in arguments {
            let Some(value) = ctx.type_value::<Value>(module.ty(argument)) else { continue };
            if !self.has(&value) {
                continue;
            }
            let span = module.value_span(argument);
            let merge = Merge::build_at(ctx, span, [argument]).axes(parts.clone()).to(whole.clone());
            let ty = value_type(ctx, value.dtype, self.within(&value.axes));
            let name = module.value_name(argument).map(|name| format!("{name}_{}", self.whole).into());
            let users = module.uses(argument).to_vec();
            let merged = module.insert_before(first, merge.spec().result(ty, name));
            let merged = module.op(ctx, merged).results()[0];
            for user in users {
                replace(module, ctx, user, argument, merged);
            }
        }
        for id in inside {
            if !module.op(ctx, id).is(&RETURN) {
                continue;
            }
            for (at, value) in module.op(ctx, id).operands().to_vec().into_iter().enumerate() {
                let Some(own) = ctx.type_value::<Value>(module.ty(value)) else { continue };
                let Some(place) = own.axes.iter().position(|axis| *axis == self.whole) else { continue };
                let mut names = own.axes.clone();
                names.splice(place..=place, self.parts.iter().cloned());
                let span = module.op(ctx, id).span();
                let split = Split::build_at(ctx, span, [value]).axis(whole.clone()).to(parts.clone());
                let name = module.value_name(value).cloned();
                let ty = value_type(ctx, own.dtype, names);
                let split = module.insert_before(id, split.spec().result(ty, name));
                let split = module.op(ctx, split).results()[0];
                module.set_operand(id, at, split);
            }
        }
    }
}

/// Replaces an operand of an operation wherever it is there.
fn replace(module: &mut Module, ctx: &Context, op: OpId, old: ValueId, new: ValueId) {
    for (at, operand) in module.op(ctx, op).operands().to_vec().into_iter().enumerate() {
        if operand == old {
            module.set_operand(op, at, new);
        }
    }
}

/// The list of these axes.
fn axes_of(names: &[Arc<str>]) -> Expr {
    Expr::pair(names.iter().map(|axis| Expr::axis(axis)))
}

/// The operations of a function.
fn inside(module: &Module, ctx: &Context, func: OpId) -> Vec<OpId> {
    module.op(ctx, func).regions().iter().flat_map(|&block| module.walk(block)).collect()
}

/// The neighbours of each axis in all lists of axes of a function.
#[derive(Default)]
struct Neighbours {
    /// The axis after each one; `None` if it is the last one of a list, or differs.
    next: BTreeMap<Arc<str>, Option<Arc<str>>>,
    /// The axis before each one.
    before: BTreeMap<Arc<str>, Option<Arc<str>>>,
    /// Axes that an operation needs as they are.
    fixed: BTreeSet<Arc<str>>,
}

impl Neighbours {
    fn new(ctx: &Context, module: &Module, func: OpId, axes: &Axes) -> Self {
        let mut own = Self::default();
        let value = |value: &ValueId| ctx.type_value::<Value>(module.ty(*value));
        signature(module.op(ctx, func)).0.iter().filter_map(value).for_each(|value| own.add(&value.axes));
        for id in inside(module, ctx, func) {
            let op = module.op(ctx, id);
            op.results().iter().filter_map(value).for_each(|value| own.add(&value.axes));
            for (_, list) in mappings(op) {
                match axis_list(&list) {
                    Ok(names) => own.add(&in_any_order(op, names)),
                    Err(_) => own.fixed.extend(list.axis_names(axes)),
                }
            }
            if !takes_any_axes(op) {
                let values = op.operands().iter().chain(op.results()).filter_map(value);
                values.for_each(|value| own.fixed.extend(value.axes.iter().cloned()));
            }
        }
        own
    }

    /// Adds the axes of a value, or those that a clause lists.
    fn add(&mut self, names: &[Arc<str>]) {
        for (at, axis) in names.iter().enumerate() {
            let (next, before) = (names.get(at + 1), at.checked_sub(1).and_then(|at| names.get(at)));
            for (known, found) in [(&mut self.next, next), (&mut self.before, before)] {
                let known = known.entry(Arc::clone(axis)).or_insert_with(|| found.cloned());
                if known.as_ref() != found {
                    *known = None;
                }
            }
        }
    }

    /// The axis that is after another one wherever one of the two is.
    fn after(&self, axis: &Arc<str>) -> Option<&Arc<str>> {
        let next = self.next.get(axis)?.as_ref()?;
        let together = self.before.get(next)?.as_ref() == Some(axis);
        (together && !self.fixed.contains(axis) && !self.fixed.contains(next)).then_some(next)
    }

    /// The longest runs of axes that are always together.
    fn runs(&self) -> Vec<Vec<Arc<str>>> {
        let inner: BTreeSet<&Arc<str>> = self.next.keys().filter_map(|axis| self.after(axis)).collect();
        let firsts = self.next.keys().filter(|axis| !inner.contains(axis));
        let run = |first: &Arc<str>| {
            std::iter::successors(Some(first), |axis| self.after(axis)).cloned().collect::<Vec<_>>()
        };
        firsts.map(run).filter(|run| run.len() > 1).collect()
    }
}

/// The axes that a clause lists; those of a sum or an extremum in any order in that of its operand.
fn in_any_order(op: OpRef<'_>, mut names: Vec<Arc<str>>) -> Vec<Arc<str>> {
    let reduces = Reduce::cast(op)
        .is_some_and(|op| ReduceOrder::of(op).is_ok_and(|own| own == Some(ReduceOrder::Free)));
    let sums = Contract::cast(op).is_some_and(|op| op.free());
    if let Some(value) = op.operand_type::<Value>(0).filter(|_| reduces || sums) {
        names.sort_by_key(|axis| value.axes.iter().position(|own| own == axis));
    }
    names
}

/// Returns true if an operation takes values along any axes, and lists those that it needs in order.
fn takes_any_axes(op: OpRef<'_>) -> bool {
    let all = [
        &map::DECL,
        &cast::DECL,
        &where_::DECL,
        &where_::COMPARE,
        &reduce::DECL,
        &contract::DECL,
        &constant::CONSTANT,
        &RETURN,
    ];
    all.iter().any(|decl| op.is(decl))
        || Rearrange::cast(op).is_some_and(|op| is_permutation(op).is_ok_and(|permutes| permutes))
}
