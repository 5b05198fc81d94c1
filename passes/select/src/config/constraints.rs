//! The constraints on the choice for a pipeline: its explicit clauses, and the types of the tensors that it meets. Its
//! computation is no part of them ([`crate::config::computation`]).
//!
//! The layout of a result is a constraint and no property of the computation: the next explicit layout states an order
//! that is needed soon, and the elements that are needed at all. Terms are cut only where a digit of an explicit
//! mapping ends. Padding, the order of running values, and the order of a register file are explicit too, or part of
//! types.

use crate::config::computation::Computation;
use std::collections::BTreeSet;
use std::rc::Rc;
use visa_algebra::{Axes, AxisId, Digit, Expr, PadKind, digits};
use visa_ir::module::{OpRef, ValueId};
use visa_ir::open::is_open;
use visa_mapping::facts::{mappings, written};
use visa_mapping::view::ViewKind;
use visa_mapping::{Dim, Tensor, VRF, operand, view};
use visa_stream::ops::commit_packed::DECL as PACKED;
use visa_stream::ops::store::{TO_TRF, TO_VRF};
use visa_stream::ops::switch::DECL as SWITCH_DECL;
use visa_stream::ops::vector_branch::DECL as BRANCH_DECL;
use visa_stream::ops::vector_inter::DECL as INTER_DECL;
use visa_stream::ops::vector_intra_slice_reduce::DECL as INTRA_DECL;
use visa_stream::ops::{begin_interleaved, commit, contract};
use visa_stream::pipeline;
use visa_stream::reduce::axis_of;

/// The explicit constraints of the choice for a pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Constraints {
    /// Every mapping that is written in it, and of the tensors that it reads and makes: their digits end where
    /// terms may be cut.
    pub written: Vec<Expr>,
    /// The layout that the result has, or that the next tensor made of it has.
    pub layout: Option<Expr>,
    /// Axes that a switch brings, or a reduction between slices instead of the reduced ones.
    pub brought: BTreeSet<AxisId>,
    /// True if a reduction between slices may move part of time into them: then the layout at the end does not hold
    /// all wanted axes.
    pub moves: bool,
    /// True if the pipeline fills the rows of a register file: then the layout at the end does not hold all wanted
    /// axes.
    pub rows: bool,
    /// True if padding is masked with a number that is explicit.
    pub masks: bool,
    /// Axes of integers after which a register file that the stream meets holds zeros: products there are zero, with
    /// any stream. A float may be an infinity or NaN, and times zero it is NaN (docs/numerics.md).
    pub zeros: BTreeSet<AxisId>,
    /// Axes that something written pads with zeros.
    pub masked: BTreeSet<AxisId>,
    /// Axes whose order in the stream is part of the semantics: packing and running values follow it. It is then the
    /// tensor's.
    pub ordered: Ordered,
    /// Digits that an operation of the pipeline names, or a vector register file holds: the stream must have them.
    pub named: Vec<Digit>,
    /// The slice mapping of the tensors at rest that the stream meets after a switch: the stream must hold the same
    /// there.
    pub slice: Option<Expr>,
    /// True if the pipeline's end specifies its layout: then the slices must not hold the layout's axes.
    pub places: bool,
    /// The content of a register file, row by row, if all of it is explicit and the stream goes there directly from
    /// the fetch: it must be in this order.
    pub filed: Option<Expr>,
}

/// The axes whose order in the stream matters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ordered {
    /// None does.
    #[default]
    None,
    /// All do but these.
    But(BTreeSet<AxisId>),
}

impl Ordered {
    fn of(chain: &[OpRef<'_>], axes: &Axes) -> Self {
        if chain.iter().any(|op| op.is(&PACKED)) {
            return Self::But(BTreeSet::new());
        }
        // Each element of the register file runs by itself.
        let running = chain.iter().find(|op| op.attr("write_back").is_some());
        let file = running.and_then(|op| operand(*op, 1));
        file.map_or(Self::None, |file| Self::But(names(&file.dim(Dim::Element), axes)))
    }
}

impl Constraints {
    /// The constraints of the pipeline `chain`, which computes `computation`.
    pub fn of(chain: &[OpRef<'_>], axes: &Axes, computation: &Computation) -> Self {
        let mut found = Self { ordered: Ordered::of(chain, axes), ..Self::default() };
        for op in chain {
            found.written.extend(mappings(*op).map(|(_, map)| (*map).clone()));
            found.written.extend(op.operands().iter().filter_map(|&operand| element(*op, operand)));
        }
        let switches = chain.iter().filter(|op| op.is(&SWITCH_DECL) || op.is(&INTER_DECL));
        let slices = switches.filter_map(|op| written(*op, "slice"));
        found.brought = slices.flat_map(|slice| names(&slice, axes)).collect();
        for digits in chain.iter().flat_map(|op| named(*op, axes)) {
            let known = |digit: &Digit| found.named.iter().any(|own| own.axis == digit.axis);
            let new: Vec<Digit> = digits.into_iter().filter(|digit| !known(digit)).collect();
            found.named.extend(new);
        }
        let Some(last) = chain.last() else { return found };
        found.places = last.is(&commit::DECL) && written(*last, "element").is_some();
        found.layout = if last.is(&PACKED) { None } else { layout(*last) };
        found.written.extend(found.layout.clone());
        found.slice = met(chain);
        found.rows = last.is(&TO_TRF);
        found.masks = chain.iter().any(|op| op.attr("pad").is_some());
        found.zeros = chain.iter().flat_map(|op| zeros(*op, axes)).collect();
        found.masked = found.written.iter().flat_map(|map| masked(map, axes)).collect();
        found.filed = filed(chain);
        found.brought.extend(found.freed(chain, axes, computation));
        found.moves = chain.iter().any(|op| op.is(&INTER_DECL) && is_open(*op, "slice"));
        found
    }

    /// Axes of the result that the tensor lacks and that an open reduction between slices has room for: slices
    /// cost no time.
    fn freed(&self, chain: &[OpRef<'_>], axes: &Axes, computation: &Computation) -> BTreeSet<AxisId> {
        let reduction = chain.iter().find(|op| op.is(&INTER_DECL) && is_open(**op, "slice"));
        let source = chain.first().and_then(|first| operand(*first, 0));
        let (Some(_), Some(source), Some(layout)) = (reduction, source, &self.layout) else {
            return BTreeSet::new();
        };
        let slices = digits(&source.dim(Dim::Slice), axes).ok();
        let slices: Vec<Digit> = slices.iter().flat_map(|slices| slices.iter().copied()).collect();
        let reduced = |axis: AxisId| computation.between.contains(&axis);
        let own = slices.into_iter().filter(|digit| digit.axis.is_some_and(reduced));
        let mut room: Vec<u64> = own.map(|digit| digit.extent).collect();
        let held: BTreeSet<AxisId> =
            source.kind.dims.iter().flat_map(|&dim| names(&source.dim(dim), axes)).collect();
        let wanted = names(layout, axes);
        let lacking = wanted.difference(&held).copied();
        lacking.filter(|&axis| takes(&mut room, axes.size(axis))).collect()
    }

    /// Returns true if the stream may hold the digits in this order, given the tensor's order.
    pub fn allows(&self, order: &[Digit], tensor: &[Digit]) -> bool {
        let matters = |digit: &&Digit| match &self.ordered {
            Ordered::None => false,
            Ordered::But(free) => digit.axis.is_some_and(|axis| !free.contains(&axis)),
        };
        let own = tensor.iter().filter(matters).filter(|digit| order.contains(digit));
        order.iter().filter(matters).eq(own)
    }

    /// The ends of an axis's digits in explicit mappings, as coordinates.
    pub fn ends(&self, axis: AxisId, axes: &Axes) -> BTreeSet<u64> {
        let all = self.written.iter().filter_map(|map| digits(map, axes).ok());
        let own = all.flat_map(|digits| digits.iter().copied().collect::<Vec<_>>());
        own.filter(|digit| digit.axis == Some(axis))
            .flat_map(|digit| [digit.stride, digit.stride.saturating_mul(digit.extent)])
            .collect()
    }
}

/// The axes that a mapping names.
pub fn names(map: &Expr, axes: &Axes) -> BTreeSet<AxisId> {
    map.axis_names(axes).iter().filter_map(|name| axes.id(name)).collect()
}

/// The axes that operations reduce within slices.
pub fn reduced_within(ops: &[OpRef<'_>], axes: &Axes) -> BTreeSet<AxisId> {
    let reductions = ops.iter().filter(|op| op.is(&INTRA_DECL));
    reductions.filter_map(|op| axis_of(*op, axes).ok()).collect()
}

/// The slice mapping of the first tensor at rest that the stream meets after its switch, before slices change again.
fn met(chain: &[OpRef<'_>]) -> Option<Expr> {
    let switch = chain.iter().position(|op| op.is(&SWITCH_DECL))?;
    let after = chain[switch + 1..].iter().take_while(|op| written(**op, "slice").is_none());
    let others = after.flat_map(|op| op.operands().iter().skip(1).map(|&operand| (*op, operand)));
    let mut tensors = others.filter_map(|(op, value)| op.ctx.type_value::<Tensor>(op.module.ty(value)));
    tensors.find(|tensor| !tensor.kind.stream).map(|tensor| tensor.dim(Dim::Slice))
}

/// The axes that a mapping pads with zeros.
fn masked(map: &Expr, axes: &Axes) -> BTreeSet<AxisId> {
    let own = matches!(map, Expr::Pad { kind: PadKind::Zero, .. }).then(|| names(map, axes));
    let below = map.children().into_iter().flat_map(|child| masked(child, axes));
    own.into_iter().flatten().chain(below).collect()
}

/// The axes of integers that are padded with nothing but zeros in the register file that a stream is aligned to.
fn zeros(align: OpRef<'_>, axes: &Axes) -> BTreeSet<AxisId> {
    let weights =
        operand(align, 1).filter(|weights| align.is(&contract::ALIGN_DECL) && !weights.dtype.is_float());
    let held = weights.and_then(|weights| digits(&weights.dim(Dim::Element), axes).ok());
    let padded: Vec<Digit> =
        held.iter().flat_map(|held| held.iter().copied()).filter(|digit| digit.live < digit.extent).collect();
    let unknown = |axis| padded.iter().any(|digit| digit.axis == Some(axis) && digit.kind != PadKind::Zero);
    padded.iter().filter_map(|digit| digit.axis).filter(|&axis| !unknown(axis)).collect()
}

/// Rows and elements of the register file that a pipeline fills as it fetches.
fn filed(chain: &[OpRef<'_>]) -> Option<Expr> {
    let (last, others) = chain.split_last()?;
    let map = |name: &str| written(*last, name).map(|map| (*map).clone());
    let whole = if last.is(&TO_TRF) {
        Expr::pair([map("row")?, map("element")?])
    } else {
        map("element").filter(|_| last.is(&TO_VRF))?
    };
    let reorders = |op: &OpRef<'_>| op.is(&SWITCH_DECL) || op.is(&begin_interleaved::DECL);
    (!others.iter().any(reorders)).then_some(whole)
}

/// The element mapping of a tensor at rest.
fn element(op: OpRef<'_>, value: ValueId) -> Option<Expr> {
    let tensor: Rc<Tensor> = op.ctx.type_value(op.module.ty(value))?;
    (!tensor.kind.stream).then(|| tensor.dim(Dim::Element))
}

/// Takes `size` slices of the first place that can be cut into as many.
fn takes(room: &mut [u64], size: u64) -> bool {
    let place = room.iter_mut().find(|place| size > 0 && place.is_multiple_of(size));
    place.map(|place| *place /= size).is_some()
}

/// The axis that a branch asks for by name, and those of the vector register files that it meets: each element is
/// met by its own.
fn named(op: OpRef<'_>, axes: &Axes) -> Vec<Vec<Digit>> {
    let axis = written(op, "axis").filter(|_| op.is(&BRANCH_DECL)).map(|axis| (*axis).clone());
    let files = (1..op.operands().len()).filter_map(|at| operand(op, at));
    let held = files.filter(|file| file.is(&VRF)).map(|file| file.dim(Dim::Element));
    let asked = axis.into_iter().chain(held).filter_map(|map| digits(&map, axes).ok());
    let live = |digit: &Digit| Digit { extent: digit.live, ..*digit };
    asked.map(|own| own.iter().rev().filter(|digit| digit.axis.is_some()).map(live).collect()).collect()
}

/// The layout of an operation's result, or of the tensor that a transfer makes of it.
fn layout(last: OpRef<'_>) -> Option<Expr> {
    let own = written(last, "element").map(|map| (*map).clone());
    own.or_else(|| last.results().first().and_then(|&result| made_of(last, result)))
}

/// Returns true if the elements of an operation's result keep their indices.
fn same_indices(op: OpRef<'_>) -> bool {
    match view::kind(op) {
        None | Some(ViewKind::Slice | ViewKind::Padding) => true,
        Some(
            ViewKind::Tile | ViewKind::Reshape | ViewKind::Window | ViewKind::Relabel | ViewKind::Transpose,
        ) => false,
    }
}

/// The layout of the tensor that a transfer makes of `value`, through transfers whose layout is not written.
fn made_of(op: OpRef<'_>, value: ValueId) -> Option<Expr> {
    let users = op.module.uses(value).iter().map(|&user| op.other(user));
    users.filter(|user| !pipeline::contains(*user) && same_indices(*user)).find_map(|user| {
        let own = written(user, "element").map(|map| (*map).clone());
        own.or_else(|| user.results().first().and_then(|&result| made_of(user, result)))
    })
}
