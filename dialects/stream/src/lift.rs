//! Lifts: copies of a tensor in chips, clusters or slices, each of which a fetch reads in part (book 08).

use visa_algebra::{Axes, Cell, Expr, Index, Map, describe};
use visa_ir::diag::counted;
use visa_ir::module::OpRef;
use visa_mapping::{Dim, Tensor};

/// The dimensions whose copies a fetch can read in part, outermost first.
const DIMS: [Dim; 3] = [Dim::Chip, Dim::Cluster, Dim::Slice];

/// The first clause that gives copies parts; `None` if there is none.
pub(crate) fn clause(op: OpRef<'_>) -> Option<&'static str> {
    DIMS.into_iter().map(Dim::name).find(|name| op.attr(name).is_some())
}

/// The coordinates at which the part of each slice of each cluster and chip starts.
pub struct Parts {
    /// `None` for a slice that holds no element.
    pub at: Vec<Option<Index>>,
}

impl Parts {
    /// The parts that the stream `result` reads of the tensor `source`, in at most `most` slices; `None` if it reads
    /// whole copies.
    ///
    /// # Errors
    /// A position of the stream that holds another coordinate than the tensor.
    pub fn new(source: &Tensor, result: &Tensor, axes: &Axes, most: u64) -> Result<Option<Self>, String> {
        if DIMS.iter().all(|&dim| source.dim(dim) == result.dim(dim)) {
            return Ok(None);
        }
        let mut at = vec![Some(Index::new())];
        for dim in DIMS {
            let inner = added(dim, &source.dim(dim), &result.dim(dim), axes, most)?;
            let count = at.len().saturating_mul(inner.len());
            if count as u64 > most {
                return Err(format!("a fetch into {count} slices in parts, at most {most}"));
            }
            at = at.iter().flat_map(|outer| inner.iter().map(|inner| sum(outer, inner))).collect();
        }
        Ok(Some(Self { at }))
    }
}

fn sum(outer: &Option<Index>, inner: &Option<Index>) -> Option<Index> {
    let mut sum = outer.clone()?;
    sum.add_index(inner.as_ref()?);
    Some(sum)
}

/// The coordinates that `stream` has in addition to those of `tensor`, by position.
fn added(
    dim: Dim,
    tensor: &Expr,
    stream: &Expr,
    axes: &Axes,
    most: u64,
) -> Result<Vec<Option<Index>>, String> {
    let [before, after] = [tensor, stream].map(|map| Map::new(map, axes).map_err(|error| error.message));
    let (before, after) = (before?, after?);
    let name = dim.name();
    if before.size() != after.size() || before.size() > most {
        let [before, after] = [before, after].map(|map| counted(map.size(), "position"));
        return Err(format!("{name} `{stream}` has {after}, the tensor's `{tensor}` has {before}"));
    }
    let part = |at: u64| match (before.cell(at), after.cell(at)) {
        (Some(Cell::Live(held)), Some(Cell::Live(wanted))) => match difference(&held, &wanted) {
            Some(added) => Ok(Some(added)),
            None => Err((Cell::Live(held), Cell::Live(wanted))),
        },
        (Some(Cell::Pad(_)), Some(Cell::Pad(_))) => Ok(None),
        (Some(held), Some(wanted)) => Err((held, wanted)),
        (_, _) => Ok(None),
    };
    let part = |at: u64| {
        part(at).map_err(|(held, wanted)| {
            let [held, wanted] = [held, wanted].map(|cell| describe(Some(&cell), axes));
            format!(
                "{name} `{stream}` has {wanted} at position {at}, where the tensor's `{tensor}` has {held}: only \
                 copies are read in part"
            )
        })
    };
    (0..before.size()).map(part).collect()
}

/// The coordinates that an index has in addition to another one's; `None` if it lacks some.
fn difference(held: &Index, wanted: &Index) -> Option<Index> {
    let all = held.iter().all(|(axis, own)| wanted.get(axis) >= own);
    all.then(|| wanted.iter().map(|(axis, own)| (axis, own - held.get(axis))).collect())
}
