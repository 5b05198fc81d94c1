//! The written interface of a kernel whose function is planned: the layouts in HBM of its arguments and results, and
//! the arguments that it writes over.

use crate::array::{Array, GROUP_BYTES, MostPadding};
use crate::changed::Change;
use crate::placed::{Place, Places};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use visa_algebra::Axes;
use visa_ir::context::Context;
use visa_ir::module::{Module, OpId, TypeId, ValueId};
use visa_mapping::ops::cast::{self, Cast};
use visa_mapping::ops::func::signature;
use visa_mapping::ops::{contract, map, reduce, where_};
use visa_mapping::tensor::value::Value;
use visa_raise::interface::Interface;

/// The layout of an array.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The axes, outermost first.
    pub axes: Vec<Arc<str>>,
    /// Bytes that HBM moves together.
    pub unit: u64,
    /// The limit on the padding of rows.
    pub most_padding: MostPadding,
}

/// The layouts of values.
pub type Layouts = HashMap<ValueId, Layout>;

/// The written interface of a function.
#[derive(Clone, Default)]
pub struct Written {
    /// The layouts of arguments and results.
    pub layouts: Layouts,
    /// The arguments whose memory results may have.
    pub changed: HashSet<ValueId>,
    /// The places in data memory of arguments.
    pub places: HashMap<ValueId, Arc<Place>>,
}

/// The written interface of `func`, the function of a kernel with this interface, which makes these changes and writes
/// these places of its arguments. HBM moves `unit` bytes together.
#[must_use]
pub fn written(
    ctx: &Context,
    (module, func): (&Module, OpId),
    (interface, changes, places): (&Interface, &[Change], &Places),
    (axes, unit): (&Axes, u64),
) -> Written {
    let arguments = signature(module.op(ctx, func)).0;
    let changed = changes.iter().filter_map(|change| arguments.get(change.argument).copied()).collect();
    let placed = |(number, place): (&usize, &Arc<Place>)| Some((*arguments.get(*number)?, Arc::clone(place)));
    let places = places.iter().filter_map(placed).collect();
    Written { layouts: layouts(ctx, (module, func), interface, (axes, unit)), changed, places }
}

/// The layouts of the arguments and results of `func`.
fn layouts(
    ctx: &Context,
    (module, func): (&Module, OpId),
    interface: &Interface,
    (axes, unit): (&Axes, u64),
) -> Layouts {
    let mut layouts = Layouts::new();
    let (arguments, results) = signature(module.op(ctx, func));
    let (quarter, whole) = (MostPadding::Quarter, MostPadding::Whole);
    let value = |id: ValueId| ctx.type_value::<Value>(module.ty(id));
    for (&id, &ty) in results.iter().zip(&interface.results) {
        let Some(own) = value(id).filter(|_| is_computed(ctx, module, id)) else { continue };
        let order = interface.result_axes.iter().zip(results).find(|(_, result)| **result == id);
        let order = order.map_or(&own.axes, |(order, _)| order);
        let same = order.len() == own.axes.len() && order.iter().all(|axis| own.has(axis));
        let order = if same { order } else { &own.axes };
        let candidates = [(unit, whole), (unit, quarter), (GROUP_BYTES, whole)];
        let written = matching(ctx, (&own, order), ty, axes, &candidates);
        let other = || Layout { axes: order.clone(), unit, most_padding: whole };
        layouts.entry(id).or_insert_with(|| written.unwrap_or_else(other));
    }
    for (&id, &ty) in arguments.iter().zip(&interface.arguments) {
        let Some(own) = value(id) else { continue };
        let candidates = [(unit, quarter), (unit, whole), (GROUP_BYTES, quarter)];
        let written = matching(ctx, (&own, &own.axes), ty, axes, &candidates);
        layouts.extend(written.map(|layout| (id, layout)));
    }
    layouts
}

/// The first layout of a value that is that of a type in HBM.
fn matching(
    ctx: &Context,
    (value, order): (&Rc<Value>, &[Arc<str>]),
    written: TypeId,
    axes: &Axes,
    candidates: &[(u64, MostPadding)],
) -> Option<Layout> {
    let layouts =
        candidates.iter().map(|&(unit, most_padding)| Layout { axes: order.to_vec(), unit, most_padding });
    let is_written = |layout: &Layout| {
        let Layout { axes: order, unit, most_padding } = layout.clone();
        let (name, dtype) = (String::new(), value.dtype);
        let array = Array {
            name,
            dtype,
            axes: order,
            unit,
            most_padding,
            joined: 1,
            row: None,
            image: None,
            view: None,
        };
        array.ty(ctx, axes) == written
    };
    layouts.into_iter().find(is_written)
}

/// Returns true if an operation computes a value in separate memory, so that its axes may have any order there.
#[must_use]
pub fn is_computed(ctx: &Context, module: &Module, value: ValueId) -> bool {
    let Some(op) = module.def_op(value).map(|id| module.op(ctx, id)) else { return false };
    let converts = Cast::cast(op).is_some_and(|cast| !cast.bits());
    let computes = [&contract::DECL, &map::DECL, &reduce::DECL, &where_::DECL, &where_::COMPARE];
    (op.is(&cast::DECL) && converts) || computes.into_iter().any(|decl| op.is(decl))
}
