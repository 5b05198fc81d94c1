//! Pipelines: the operations that a stream flows through, from its beginning to its end. The places that operations
//! declare determine the operations, their possible order and the ends of a pipeline.

use crate::streams::{ACCUMULATE, ALIGN, CAST, COLLECT, CONTRACT, FETCH, FILTERED, FINAL, SWITCH, TRANSPOSE};
use visa_engine::place::{After, Place, Places, Then};
use visa_ir::context::{Context, TypeId};
use visa_ir::module::{OpId, OpRef};
use visa_mapping::{Tensor, TensorKind};

/// The streams between two engines, in pipeline order.
static KINDS: [&TensorKind; 10] =
    [&FETCH, &SWITCH, &COLLECT, &ALIGN, &CONTRACT, &ACCUMULATE, &FILTERED, &FINAL, &CAST, &TRANSPOSE];

/// The streams that an engine in these places takes, for its operand's declaration: those that have left an engine
/// which it may be right after.
#[macro_export]
#[doc(hidden)]
macro_rules! after {
    ($places:expr) => {
        $crate::visa_ir::decl::Accepts::Derived {
            takes: |ctx, ty| $crate::pipeline::takes(ctx, ty, $places),
            names: || $crate::pipeline::taken($places),
        }
    };
}
pub use after;

/// Returns true if an engine in `places` takes a stream of this type.
#[must_use]
pub fn takes(ctx: &Context, ty: TypeId, places: &Places) -> bool {
    ctx.type_value::<Tensor>(ty).is_some_and(|stream| may_follow(stream.kind, places))
}

/// The types of visa whose streams an engine in `places` takes.
#[must_use]
pub fn taken(places: &Places) -> Vec<&'static str> {
    KINDS.iter().filter(|kind| may_follow(kind, places)).map(|kind| kind.def.name).collect()
}

fn may_follow(kind: &TensorKind, Places(next): &Places) -> bool {
    let Some(Places(left)) = kind.left else { return false };
    left.iter().any(|before| next.iter().any(|place| place.follows(Some(before))))
}

/// Returns true if an engine in `places` may be directly after an operation.
#[must_use]
pub fn may_be_after(Places(next): &Places, before: OpRef<'_>) -> bool {
    let left = places(before).unwrap_or_default();
    left.iter().any(|before| next.iter().any(|place| place.follows(Some(before))))
}

/// The places of an operation, if it is one of a pipeline.
#[must_use]
pub fn places(op: OpRef<'_>) -> Option<&'static [Place]> {
    op.decl()?.interface::<Places>().map(|Places(places)| *places)
}

/// Returns true if an operation is one of a pipeline.
#[must_use]
pub fn contains(op: OpRef<'_>) -> bool {
    places(op).is_some()
}

/// Returns true if an operation ends a pipeline: it stores the stream that it takes.
#[must_use]
pub fn ends(op: OpRef<'_>) -> bool {
    let ends = |place: &Place| place.then == Then::Nothing && place.after != After::Nothing;
    places(op).is_some_and(|places| !places.is_empty() && places.iter().all(ends))
}

/// Returns true if an operation begins a pipeline: it takes tensors at rest.
#[must_use]
pub fn begins(op: OpRef<'_>) -> bool {
    places(op).is_some_and(<[_]>::is_empty)
}

/// The operations of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// From the one that begins it, if the stream does, to the one that ends it or is the last so far.
    pub ops: Vec<OpId>,
}

impl Pipeline {
    /// The pipeline whose last operation is `last`: the operations that flow into it, back to the first one.
    #[must_use]
    pub fn up_to(last: OpRef<'_>) -> Self {
        let mut ops = vec![last.id];
        let mut op = last;
        while let Some(before) =
            op.operand_def(0).filter(|before| contains(*before) && !ends(*before) && !generates(*before))
        {
            ops.push(before.id);
            op = before;
        }
        ops.reverse();
        Self { ops }
    }
}

/// Returns true if an operation writes data memory without a stream.
#[must_use]
pub fn generates(op: OpRef<'_>) -> bool {
    places(op).is_some_and(|places| {
        places.iter().any(|place| place.after == After::Nothing && place.then == Then::Nothing)
    })
}
