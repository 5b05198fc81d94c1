//! Places in data memory that a kernel writes for its arguments, while other parts of it are open. A plan honours
//! them: its loads of these arguments have the written clauses.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use visa_algebra::{Axes, Equality, Expr, equal};
use visa_ir::context::Context;
use visa_ir::module::{Module, OpId, OpRef};
use visa_mapping::facts::written;
use visa_mapping::ops::func::signature;
use visa_mapping::ops::transfer::TO_DM;
use visa_mapping::{Dim, Tensor};

/// The dimensions of a load that a plan can honour.
pub const DIMS: [Dim; 3] = [Dim::Cluster, Dim::Slice, Dim::Element];

/// The written dimensions of the place of an argument in data memory; the others are open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    dims: Vec<(Dim, Expr)>,
    /// The axes of the argument.
    axes: Vec<Arc<str>>,
}

/// The written places of arguments, by the numbers of these.
pub type Places = HashMap<usize, Arc<Place>>;

impl Place {
    /// The place that a load writes; `None` if all of it is open.
    fn of(load: OpRef<'_>, axes: &Axes) -> Option<Self> {
        let dims: Vec<_> =
            DIMS.into_iter().filter_map(|dim| Some((dim, (*written(load, dim.name())?).clone()))).collect();
        let own = load.operand_type::<Tensor>(0)?.axis_names(axes);
        (!dims.is_empty()).then_some(Self { dims, axes: own })
    }

    /// Returns true if a load puts a tensor there.
    #[must_use]
    pub fn has(&self, tensor: &Tensor, axes: &Axes) -> bool {
        let loaded = |map: &Expr| self.loaded(map, axes);
        let same = |(dim, map): &(Dim, Expr)| {
            equal(&loaded(map), &loaded(&tensor.dim(*dim)), axes) == Equality::Equal
        };
        self.dims.iter().all(same)
    }

    /// A mapping as the load sees it: positions of axes that the argument lacks are copies.
    fn loaded(&self, map: &Expr, axes: &Axes) -> Expr {
        let names = map.axis_names(axes);
        let lacks = |name: &Arc<str>| !self.axes.contains(name);
        match map {
            Expr::Pair(terms) => Expr::pair(terms.iter().map(|term| self.loaded(term, axes))),
            Expr::Axis(_) | Expr::Stride { .. } | Expr::Modulo { .. }
                if !names.is_empty() && names.iter().all(lacks) && !has_padding(map) =>
            {
                map.size(axes).map_or_else(|_| map.clone(), Expr::Literal)
            }
            Expr::Axis(_)
            | Expr::Alias(_)
            | Expr::Literal(_)
            | Expr::Outer(_)
            | Expr::Pad { .. }
            | Expr::Resize { .. }
            | Expr::Stride { .. }
            | Expr::Modulo { .. }
            | Expr::Slice { .. }
            | Expr::Gather { .. }
            | Expr::Slide(_) => map.clone(),
        }
    }
}

/// Returns true if a part of a mapping is padding: some of its positions are no copies.
fn has_padding(map: &Expr) -> bool {
    matches!(map, Expr::Pad { .. }) || map.children().into_iter().any(has_padding)
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |(dim, map): &(Dim, Expr)| format!("{} {map}", dim.name());
        f.write_str(&self.dims.iter().map(text).collect::<Vec<_>>().join(", "))
    }
}

/// Returns true if a plan whose inputs are in these tensors honours the written places of these inputs.
#[must_use]
pub fn honours(places: &[Option<Arc<Place>>], axes: &Axes, input: &dyn Fn(usize) -> Tensor) -> bool {
    let has = |(number, place): (usize, &Option<Arc<Place>>)| {
        place.as_ref().is_none_or(|place| place.has(&input(number), axes))
    };
    places.iter().enumerate().all(has)
}

/// The number of the argument that a load reads; `None` for another operation.
#[must_use]
pub fn loaded_argument(op: OpRef<'_>, func: OpRef<'_>) -> Option<usize> {
    let source = op.is(&TO_DM).then(|| op.operands().first())??;
    signature(func).0.iter().position(|argument| argument == source)
}

/// The written places of the arguments of a kernel. Loads of one argument in different places are no single place:
/// the second value lists these arguments.
#[must_use]
pub fn places(ctx: &Context, (module, axes): (&Module, &Axes), func: OpId) -> (Places, Vec<usize>) {
    let func = module.op(ctx, func);
    let (mut places, mut open, mut several) = (Places::new(), Vec::new(), Vec::new());
    for id in func.regions().iter().flat_map(|&block| module.walk(block)) {
        let op = module.op(ctx, id);
        let Some(argument) = loaded_argument(op, func) else { continue };
        let place = Place::of(op, axes).map(Arc::new);
        let known = places.get(&argument);
        if known.is_some() && known != place.as_ref() || place.is_some() && open.contains(&argument) {
            several.push(argument);
        }
        match place {
            Some(place) => drop(places.insert(argument, place)),
            None => open.push(argument),
        }
    }
    (places, several)
}
