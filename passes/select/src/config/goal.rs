//! The goal of a pipeline: the mappings of its explicit clauses and of the tensor that its result becomes.

use crate::config::graph::Candidate;
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
use visa_stream::ops::vector_inter::{self, DECL as INTER_DECL};
use visa_stream::ops::vector_intra_slice_reduce::DECL as INTRA_DECL;
use visa_stream::ops::{begin_interleaved, commit, contract};
use visa_stream::pipeline;
use visa_stream::reduce::axis_of;

/// The goal of a pipeline: the explicit constraints of the choice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Goal {
    /// Every mapping that is written in it, and of the tensors that it reads and makes: their digits end where
    /// terms may be cut.
    pub written: Vec<Expr>,
    /// The layout that the result has, or that the next tensor made of it has.
    pub layout: Option<Expr>,
    /// The axes of the result, or those after an explicit accumulator; `None` if they are not specified.
    pub kept: Option<BTreeSet<AxisId>>,
    /// The axes that a contraction is to sum, if they are explicit: then they decide, and not `kept`.
    pub summed: Option<BTreeSet<AxisId>>,
    /// Axes that a switch brings, or a reduction between slices instead of the reduced ones.
    pub brought: BTreeSet<AxisId>,
    /// Axes that are reduced within slices: the stream has all of them, also if the result has only a part.
    pub reduced: BTreeSet<AxisId>,
    /// True if a reduction between slices may move part of time into them: then the layout at the end does not hold
    /// all wanted axes.
    pub moves: bool,
    /// True if the pipeline fills the rows of a register file: then the layout at the end does not hold all wanted
    /// axes.
    pub rows: bool,
    /// True if the stream meets a register file, which brings additional axes.
    pub pairs: bool,
    /// True if the stream is summed, or is in a register file that sums are made with, or is masked with a number:
    /// padding must be masked.
    pub sums: bool,
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
    /// Clauses that each operation had before they became holes, for advice, or that were found before the budget
    /// ended; they are tried before the proposals.
    pub seed: Vec<Candidate>,
    /// The numbers of operations that the pipeline may do without.
    pub optional: BTreeSet<usize>,
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

impl Goal {
    /// The clauses of operation `stage` that are tried first, if it has some.
    pub fn seed_of(&self, stage: usize) -> Option<&Candidate> {
        self.seed.get(stage).filter(|(_, clauses)| !clauses.is_empty())
    }

    /// The explicit constraints of the pipeline `chain`.
    pub fn of(chain: &[OpRef<'_>], axes: &Axes) -> Self {
        let mut goal = Self { pairs: chain.iter().any(|op| op.is(&contract::ALIGN_DECL)), ..Self::default() };
        for op in chain {
            goal.written.extend(mappings(*op).map(|(_, map)| (*map).clone()));
            goal.written.extend(op.operands().iter().filter_map(|&operand| element(*op, operand)));
        }
        let switches = chain.iter().filter(|op| op.is(&SWITCH_DECL) || op.is(&INTER_DECL));
        let slices = switches.filter_map(|op| written(*op, "slice"));
        goal.brought = slices.flat_map(|slice| names(&slice, axes)).collect();
        goal.reduced = reduced_within(chain, axes);
        for digits in chain.iter().flat_map(|op| named(*op, axes)) {
            let known = |digit: &Digit| goal.named.iter().any(|own| own.axis == digit.axis);
            let new: Vec<Digit> = digits.into_iter().filter(|digit| !known(digit)).collect();
            goal.named.extend(new);
        }
        goal.ordered = Ordered::of(chain, axes);
        let Some(last) = chain.last() else { return goal };
        goal.places = last.is(&commit::DECL) && written(*last, "element").is_some();
        goal.layout = if last.is(&PACKED) { None } else { layout(*last) };
        goal.written.extend(goal.layout.clone());
        goal.slice = met(chain);
        goal.rows = last.is(&TO_TRF);
        let masks = |op: &OpRef<'_>| op.is(&INTRA_DECL) || op.attr("pad").is_some();
        goal.sums = goal.pairs || goal.rows || chain.iter().any(masks);
        goal.zeros = chain.iter().flat_map(|op| zeros(*op, axes)).collect();
        goal.masked = goal.written.iter().flat_map(|map| masked(map, axes)).collect();
        goal.filed = filed(chain);
        let result = goal.layout.as_ref().map(|layout| names(layout, axes));
        goal.kept = result.or_else(|| accumulated(chain, axes));
        let over =
            chain.iter().find(|op| op.is(&contract::CONTRACT_DECL)).and_then(|op| contract::over(*op, axes));
        goal.summed = over.map(|over| over.iter().filter_map(|name| axes.id(name)).collect());
        goal.brought.extend(goal.freed(chain, axes));
        goal.moves = chain.iter().any(|op| op.is(&INTER_DECL) && is_open(*op, "slice"));
        if let (Some(kept), Some(row)) = (&mut goal.kept, written(*last, "row")) {
            kept.extend(names(&row, axes));
        }
        goal
    }

    /// Axes of the result that the tensor lacks and that an open reduction between slices has room for: slices
    /// cost no time.
    fn freed(&self, chain: &[OpRef<'_>], axes: &Axes) -> BTreeSet<AxisId> {
        let reduction = chain.iter().find(|op| op.is(&INTER_DECL) && is_open(**op, "slice"));
        let source = chain.first().and_then(|first| operand(*first, 0));
        let (Some(reduction), Some(source), Some(kept)) = (reduction, source, &self.kept) else {
            return BTreeSet::new();
        };
        let over = vector_inter::over(*reduction, axes);
        let slices = digits(&source.dim(Dim::Slice), axes).ok();
        let slices: Vec<Digit> = slices.iter().flat_map(|slices| slices.iter().copied()).collect();
        let reduced = |axis: AxisId| over.as_ref().map_or(self.sums_over(axis), |over| over.contains(&axis));
        let own = slices.into_iter().filter(|digit| digit.axis.is_some_and(reduced));
        let mut room: Vec<u64> = own.map(|digit| digit.extent).collect();
        let held: BTreeSet<AxisId> =
            source.kind.dims.iter().flat_map(|&dim| names(&source.dim(dim), axes)).collect();
        let lacking = kept.difference(&held).copied();
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

    /// Returns true if the result is known to lack the axis, which then is summed.
    pub fn sums_over(&self, axis: AxisId) -> bool {
        match &self.summed {
            Some(summed) => summed.contains(&axis),
            None => self.kept.as_ref().is_some_and(|kept| !kept.contains(&axis)),
        }
    }

    /// Returns true if the axis goes through a contraction and is in the result.
    pub fn keeps(&self, axis: AxisId) -> bool {
        let is_there = self.kept.as_ref().is_none_or(|kept| kept.contains(&axis));
        self.knows_sums() && !self.sums_over(axis) && is_there
    }

    /// Returns true if the summed axes are specified.
    pub fn knows_sums(&self) -> bool {
        self.summed.is_some() || self.kept.is_some()
    }

    /// Number of coordinates of an axis in the result, counted from 0; `None` if it may have all.
    pub fn wanted(&self, axis: AxisId, axes: &Axes) -> Option<u64> {
        let own = self.stored(axis, axes)?;
        let reaches = own.iter().map(|digit| digit.stride.saturating_mul(digit.live)).max()?;
        let whole = own.iter().map(|digit| digit.live).product::<u64>() == reaches;
        whole.then_some(reaches)
    }

    /// Number of coordinates of a part of an axis in the result, counted from 0; `None` if it may have all.
    pub fn wanted_part(&self, part: &Digit, axes: &Axes) -> Option<u64> {
        let own = self.stored(part.axis?, axes).filter(|_| !self.rows)?;
        let end = part.stride.saturating_mul(part.live);
        let overlaps =
            |digit: &&Digit| digit.stride < end && digit.stride.saturating_mul(digit.live) > part.stride;
        let within: Vec<&Digit> = own.iter().filter(overlaps).collect();
        match within[..] {
            // Of the axis, but none of this part: always its first coordinate.
            [] => (!own.is_empty()).then_some(1),
            [only] => (only.stride == part.stride && only.live < part.live).then_some(only.live),
            [..] => None,
        }
    }

    /// The digits of an axis in the result's layout, innermost first; `None` where that is not all that is wanted
    /// of it.
    fn stored(&self, axis: AxisId, axes: &Axes) -> Option<Vec<Digit>> {
        if self.moves || self.brought.contains(&axis) || self.reduced.contains(&axis) {
            return None;
        }
        let layout = digits(self.layout.as_ref().filter(|_| !self.pairs)?, axes).ok()?;
        let own = layout.iter().filter(|digit| digit.axis == Some(axis)).copied().collect();
        layout.offset().is_empty().then_some(own)
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

/// The axes after an accumulator, if all its clauses are explicit.
fn accumulated(chain: &[OpRef<'_>], axes: &Axes) -> Option<BTreeSet<AxisId>> {
    let accumulator = chain.iter().find(|op| op.is(&contract::ACCUMULATE_DECL))?;
    let (time, packet) = written(*accumulator, "time").zip(written(*accumulator, "packet"))?;
    Some(names(&time, axes).union(&names(&packet, axes)).copied().collect())
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
