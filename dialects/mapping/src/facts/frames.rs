//! Origins of mappings: the chips, clusters, slices and PEs from which they are counted.
//!
//! The mappings of a tile count from its first position. Where the dimension that is cut is on slices, its slices are
//! counted from the first one that holds it, which may be another one in each iteration. A pipeline keeps to its
//! slices: its streams, and the tensors that it writes, are counted from there too. A transfer makes a tensor that is
//! counted from the first chip, cluster and slice.

use crate::facts::{DeclaredAxes, quoted};
use crate::index::affine::{Affine, Indices};
use crate::index::cases::{Case, Cases, Narrowing, narrowing};
use crate::ops::chip_shuffle::CHIP_SHUFFLE;
use crate::ops::control::{YIELD, carried, carries};
use crate::ops::number::runs;
use crate::ops::to_tile;
use crate::ops::to_tile::TileWrite;
use crate::ops::transfer::is_transfer;
use crate::tensor::scalar::is_scalar;
use crate::tensor::{Dim, Tensor};
use crate::transfer::{CHIP_STRIDE, leaves_chip};
use crate::view;
use crate::view::ViewKind;
use crate::view::tile::Tile;
use rustc_hash::FxBuildHasher as Fast;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::rc::Rc;
use visa_algebra::Axes;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpRef, ValueId};
use visa_ir::open::is_unknown;
use visa_ir::verify::Analysis;
use visa_machine::Machine;

/// The chip, cluster, slice and PE that the mappings of a tensor are counted from, each as it depends on loops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    chip: Affine,
    cluster: Affine,
    /// A slice, or a PE.
    part: Affine,
}

impl Frame {
    /// The chip.
    #[must_use]
    pub fn chip(&self) -> &Affine {
        &self.chip
    }

    /// Returns true if it is the first chip, cluster and slice in every iteration.
    #[must_use]
    pub fn is_first(&self) -> bool {
        [&self.chip, &self.cluster, &self.part].into_iter().all(|at| *at == Affine::ZERO)
    }

    /// Returns true if two are the same in every iteration.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        self.chip.is(&other.chip) && self.cluster.is(&other.cluster) && self.part.is(&other.part)
    }

    /// Where it is in the iterations of a case.
    fn narrowed(&self, known: &Narrowing) -> Self {
        Self { chip: known.of(&self.chip), cluster: known.of(&self.cluster), part: known.of(&self.part) }
    }

    /// Where a tile of a tensor that is counted from here is; `None` on overflow.
    #[must_use]
    pub fn tile(&self, tile: &Tile<'_>) -> Option<Self> {
        let mut frame = self.clone();
        for dim in tile.places() {
            let start = tile.starts_in(dim).ok()?;
            let own = match dim {
                Dim::Chip => &mut frame.chip,
                Dim::Cluster => &mut frame.cluster,
                Dim::Slice | Dim::Pe => &mut frame.part,
                Dim::Row | Dim::Element | Dim::Time | Dim::Packet => continue,
            };
            *own = own.plus(&start)?;
        }
        Some(frame)
    }

    /// The slice, counted through the clusters of a chip; `None` on overflow.
    #[must_use]
    pub fn slice(&self, machine: &Machine) -> Option<Affine> {
        self.counted(machine.topology.slices_per_cluster)
    }

    /// The slice or PE, counted through the clusters, each of which has `of_cluster`; `None` on overflow.
    fn counted(&self, of_cluster: u64) -> Option<Affine> {
        self.cluster.times(i64::try_from(of_cluster).ok()?)?.plus(&self.part)
    }

    /// Distance in bytes, in addresses of a transfer, from the memory of the first chip, cluster and slice to the
    /// memory of this one; `None` on overflow.
    #[must_use]
    pub fn bytes(&self, tensor: &Tensor, machine: &Machine) -> Option<Affine> {
        let (part, bytes) = tensor.cluster_part(machine);
        let parts = self.counted(part.per_cluster(machine))?.times(i64::try_from(bytes).ok()?)?;
        self.chip.times(CHIP_STRIDE)?.plus(&parts)
    }
}

/// The form in messages: `chip 1`, `cluster 1, slice 32`; a number that a loop changes is its first one.
impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = [("chip", &self.chip), ("cluster", &self.cluster), ("slice", &self.part)];
        let moved = named.into_iter().filter(|(_, at)| **at != Affine::ZERO);
        let text: Vec<String> = moved
            .map(|(name, at)| {
                let first = at.at(&Indices::new()).unwrap_or_default();
                if at.terms.is_empty() {
                    format!("{name} {first}")
                } else {
                    format!("a {name} that a loop changes")
                }
            })
            .collect();
        f.write_str(&if text.is_empty() { "the first slice".to_owned() } else { text.join(", ") })
    }
}

/// The origin of the mappings of each value of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frames {
    /// Those that are not counted from the first chip, cluster and slice.
    known: HashMap<ValueId, Cases<Frame>, Fast>,
    /// All others.
    first: Cases<Frame>,
    /// Tiles of tensors whose types are not known yet, and the values derived from them: they may begin anywhere.
    open: HashSet<ValueId, Fast>,
    /// True if something is written elsewhere.
    written: bool,
}

impl Frames {
    /// The origin of a value's mappings; one of several where an index is chosen.
    #[must_use]
    pub fn of(&self, value: ValueId) -> &Cases<Frame> {
        self.known.get(&value).unwrap_or(&self.first)
    }

    /// The origin of the mappings of the tensor, or of the part of it, that an operation writes.
    #[must_use]
    pub fn written(&self, op: OpRef<'_>, axes: &Axes) -> Cases<Frame> {
        let whole = op.results().first().map_or(&self.first, |&result| self.of(result));
        let tiles = TileWrite::cast(op).and_then(|op| to_tile::tile(op, axes).ok());
        tiles.and_then(|tiles| tiled(whole, &tiles)).unwrap_or_else(|| whole.clone())
    }

    /// Checks the tile of every iteration in each case of its index, and that they are few with those of the tensor.
    ///
    /// # Errors
    /// As of [`Tile::check`], and C0: more than [`crate::index::cases::MAX_CASES`].
    pub fn check_tiles(
        &self,
        op: OpRef<'_>,
        whole: ValueId,
        tiles: &Cases<Tile<'_>>,
    ) -> Result<(), Diagnostic> {
        tiles.map(Tile::check)?;
        self.bounded(op, whole, tiles)
    }

    fn bounded(&self, op: OpRef<'_>, whole: ValueId, tiles: &Cases<Tile<'_>>) -> Result<(), Diagnostic> {
        self.of(whole).join(tiles, |_, _| ()).bounded(op).map(drop)
    }

    /// Returns true if a transfer of a tensor `from` to a tensor `to` at the destination is one of PCIe: chips hold
    /// other parts after it than before, or a tile is on other chips. Otherwise each chip does the same in its own
    /// memories.
    #[must_use]
    pub fn cross_chips(&self, op: OpRef<'_>, [from, to]: [&Tensor; 2], axes: &Axes) -> bool {
        // Chips that do not hold the tile would write theirs.
        let on_chips = |tile: &Tile<'_>| tile.places().any(|dim| dim == Dim::Chip);
        let cuts = |op| to_tile::tile(op, axes).is_ok_and(|tiles| tiles.first().is_some_and(on_chips));
        leaves_chip(from, to, axes)
            || op.operands().first().is_some_and(|&source| self.on_chip(source).is_some())
            || self.written(op, axes).any(|frame| frame.chip != Affine::ZERO)
            || TileWrite::cast(op).is_some_and(cuts)
    }

    /// The origin of a value in the first case in which it is another chip than the first.
    fn on_chip(&self, value: ValueId) -> Option<&Frame> {
        self.of(value).iter().map(|case| &case.what).find(|frame| frame.chip != Affine::ZERO)
    }

    /// The origins of two values in the first case in which `op` runs and they differ.
    fn apart(op: OpRef<'_>, one: &Cases<Frame>, other: &Cases<Frame>, axes: &Axes) -> Option<(Frame, Frame)> {
        let pairs = one.join(other, |one, other| (one.clone(), other.clone()));
        // A branch that is wrong is refused by itself.
        let pairs = runs(op, &pairs, axes).ok()?;
        let differ = |case: &&Case<(Frame, Frame)>| {
            let (one, other) = &case.what;
            narrowing(&case.bounds).is_some_and(|known| !one.narrowed(&known).is(&other.narrowed(&known)))
        };
        pairs.iter().find(differ).map(|case| case.what.clone())
    }

    /// Adds the origins of the results of an operation.
    fn learn(&mut self, op: OpRef<'_>, axes: &Axes) {
        for own in carried(op) {
            self.give(own.initial, own.argument.into_iter().chain(own.result));
        }
        let (Some(&result), Some(&first)) = (op.results().first(), op.operands().first()) else { return };
        self.written |= TileWrite::cast(op).is_some() && self.written(op, axes).any(|own| !own.is_first());
        let is_tile = view::kind(op) == Some(ViewKind::Tile);
        if is_tile && is_unknown(op.ctx, op.module.ty(first)) {
            self.open.insert(result);
        } else if is_tile && let Ok(tiles) = view::tile(op, axes) {
            // Too many cases, and numbers past 64 bits, are refused where the tile is.
            let bounded = self.bounded(op, first, &tiles).is_ok();
            let frames = if bounded { tiled(self.of(first), &tiles) } else { None };
            self.insert(result, frames.unwrap_or_default());
        } else if let Some(before) = changed(op) {
            self.give(before, [result]);
        } else if view::kind(op).is_some() || flows(op) {
            self.give(first, op.results().iter().copied());
        }
    }

    fn give(&mut self, from: ValueId, to: impl IntoIterator<Item = ValueId>) {
        if self.open.contains(&from) {
            return self.open.extend(to);
        }
        let Some(frames) = self.known.get(&from).cloned() else { return };
        to.into_iter().for_each(|value| self.insert(value, frames.clone()));
    }

    fn insert(&mut self, value: ValueId, frames: Cases<Frame>) {
        if frames.any(|frame| !frame.is_first()) {
            self.known.insert(value, frames);
        }
    }
}

/// The origins of tiles of a tensor that is counted from `whole`; `None` on overflow.
fn tiled(whole: &Cases<Frame>, tiles: &Cases<Tile<'_>>) -> Option<Cases<Frame>> {
    whole.join(tiles, Frame::tile).map(|frame| frame.clone().ok_or(())).ok()
}

/// The tensor that an operation changes in place; of a write into a tile also where its type is not known yet.
fn changed(op: OpRef<'_>) -> Option<ValueId> {
    view::changed(op).or_else(|| Some(TileWrite::cast(op)?.tensor().ok()?.id))
}

/// Returns true if an operation is one of a pipeline: its results are where its first operand is. Types of streams may
/// not be known yet.
fn flows(op: OpRef<'_>) -> bool {
    let untyped = |value: &ValueId| is_unknown(op.ctx, op.module.ty(*value));
    let is_stream = |tensor: Option<Rc<Tensor>>| tensor.is_some_and(|tensor| tensor.kind.stream);
    let streams = is_stream(op.result_type(0)) || is_stream(op.operand_type(0));
    !is_transfer(op) && (streams || op.results().iter().any(untyped))
}

impl Analysis for Frames {
    const SAME: Option<fn(&Self, &Self) -> bool> = Some(Self::eq);

    fn build(ctx: &Context, module: &Module) -> Self {
        let ops: Vec<OpRef<'_>> = module.walk_all().into_iter().map(|id| module.op(ctx, id)).collect();
        let mut frames = Self::default();
        // Without tiles all is on the first slice.
        let is_tile =
            |op: &OpRef<'_>| view::kind(*op) == Some(ViewKind::Tile) || TileWrite::cast(*op).is_some();
        if ops.iter().any(is_tile) {
            let axes = DeclaredAxes::build(ctx, module).0;
            ops.into_iter().for_each(|op| frames.learn(op, &axes));
        }
        frames
    }
}

/// C10 of a function, and C3 of the loops and branches in it.
pub(crate) fn check(func: OpRef<'_>, frames: &Frames, axes: &Axes, report: &dyn Fn(Diagnostic)) {
    if frames.known.is_empty() && !frames.written {
        return;
    }
    for id in func.regions().iter().flat_map(|&block| func.module.walk(block)) {
        let op = func.other(id);
        let found = match (carries(op), flows(op)) {
            (true, _) => frames.check_carried(op, axes),
            (false, true) => frames.check_pipeline(func, op, axes),
            (false, false) => frames.check_taken(func, op, axes),
        };
        found.into_iter().for_each(report);
    }
}

impl Frames {
    /// Checks the values that a loop or a branch carries from slices to others.
    fn check_carried(&self, op: OpRef<'_>, axes: &Axes) -> Option<Diagnostic> {
        let pairs = carried(op).into_iter().filter_map(|own| Some((own.initial, own.yielded?)));
        let mut apart = pairs.filter_map(|(wanted, given)| {
            let frames = Self::apart(op, self.of(given), self.of(wanted), axes)?;
            Some(([given, wanted], frames))
        });
        let ([given, wanted], (from, to)) = apart.next()?;
        let (name, before) = (quoted(op, given), quoted(op, wanted));
        let message = format!("{name} begins on {from}, and takes the place of {before}, which does on {to}");
        let error = Diagnostic { span: op.module.value_span(given), ..op.error("C3", message) };
        Some(error.fix("move it with `tm.to_tile` or `tm.to_dm`".to_owned()))
    }

    /// Checks the tensors that a pipeline reads and writes in addition to its stream.
    fn check_pipeline(&self, func: OpRef<'_>, op: OpRef<'_>, axes: &Axes) -> Option<Diagnostic> {
        let (&first, rest) = op.operands().split_first()?;
        if op.operands().iter().any(|value| self.open.contains(value)) {
            return None;
        }
        let own = self.of(first);
        let refuse = |message: String, fix: &str| {
            let error = Diagnostic { span: op.span(), ..func.error("C10", message) };
            Some(error.fix(fix.to_owned()))
        };
        let begins = op.operand_type::<Tensor>(0).is_some_and(|tensor| !tensor.kind.stream);
        if let Some(found) = self.on_chip(first).filter(|_| begins) {
            let message =
                format!("{} begins on {found}: a pipeline reads on all chips alike", quoted(op, first));
            return refuse(message, "move it between chips before, with `tm.to_dm`");
        }
        let by_scalar = |own: &Frame| {
            let mut terms = own.cluster.terms.iter().chain(&own.part.terms);
            terms.any(|term| is_scalar(op.ctx, op.module.ty(term.index)))
        };
        if begins && own.any(by_scalar) {
            let message =
                format!("a scalar gives the slices of {}, which only transfers support", quoted(op, first));
            return refuse(message, "move it with `tm.to_dm` before");
        }
        let changed = self::changed(op).map(|before| (before, self.written(op, axes)));
        let tensors = rest.iter().filter(|value| op.value(**value).of_type::<Tensor>().is_ok());
        let others = tensors.filter(|value| changed.as_ref().is_none_or(|(before, _)| before != *value));
        let others = others.map(|&value| (value, self.of(value).clone())).chain(changed.clone());
        let mut apart =
            others.filter_map(|(value, other)| Some((value, Self::apart(op, &other, own, axes)?)));
        let (value, (frame, own)) = apart.next()?;
        let what = match changed {
            Some((before, _)) if before == value => "the written part of ",
            Some(_) | None => "",
        };
        let (name, stream) = (quoted(op, value), quoted(op, first));
        let message =
            format!("{what}{name} begins on {frame}, {stream} on {own}: a pipeline stays on its slices");
        refuse(message, "move a tile with `tm.to_dm`, or the written part with `tm.to_tile`")
    }

    /// Checks the tensor that a transfer moves between chips: not to or from scratchpad memory.
    fn check_scratchpad(&self, func: OpRef<'_>, op: OpRef<'_>) -> Option<Diagnostic> {
        let stays = |tensor: Option<Rc<Tensor>>| tensor.is_some_and(|tensor| tensor.stays_on_chip());
        let mut operands = op.operands().iter();
        let (tile, frame) = operands.find_map(|&value| Some((value, self.on_chip(value)?)))?;
        if !stays(op.operand_type(0)) && !stays(op.result_type(0)) {
            return None;
        }
        let name = quoted(op, tile);
        let message = format!("{name} begins on {frame}: scratchpad memory is not reached from other chips");
        let error = Diagnostic { span: op.span(), ..func.error("C10", message) };
        Some(error.fix("move it through data memory or HBM".to_owned()))
    }

    /// Checks operations that take a tile and are neither transfers nor pipelines.
    fn check_taken(&self, func: OpRef<'_>, op: OpRef<'_>, axes: &Axes) -> Option<Diagnostic> {
        let moves = is_transfer(op) && !op.is(&CHIP_SHUFFLE);
        if moves {
            return self.check_scratchpad(func, op);
        }
        if view::kind(op).is_some() || op.is(&YIELD) {
            return None;
        }
        let elsewhere =
            |&value: &ValueId| Some((value, Self::apart(op, self.of(value), &self.first, axes)?.0));
        let (tile, frame) = op.operands().iter().find_map(elsewhere)?;
        let name = quoted(op, tile);
        let message = format!("{name} begins on {frame}: only transfers and pipelines take it from there");
        let error = Diagnostic { span: op.span(), ..func.error("C10", message) };
        Some(error.fix("move it with a transfer before".to_owned()))
    }
}
