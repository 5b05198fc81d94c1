//! The distributions that a kernel's tensors may have in data memory: the parts of axes that clusters and slices hold,
//! and the lower bound of their costs.

use crate::distribution::given::{
    Part, cuts, elements, held_of_reduced, left_out, met, reach, reaches, reduced, source, whole,
};
use crate::layout::digit_lists::mapping;
use crate::transfer::moved::Moves;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use visa_algebra::{Axes, AxisId, Digit, Digits, Expr, PadKind, digits};
use visa_cost::MemoryModel;
use visa_ir::diag::Diagnostic;
use visa_ir::effects::{self, EffectKind};
use visa_ir::module::{OpId, OpRef, ValueId};
use visa_ir::open::is_open;
use visa_machine::Machine;
use visa_mapping::facts::machine;
use visa_mapping::facts::placed::written_place;
use visa_mapping::ops::control::{Carried, YIELD, carried, carries};
use visa_mapping::ops::func::RETURN;
use visa_mapping::ops::indexed::SCATTER;
use visa_mapping::ops::to_tile;
use visa_mapping::ops::to_tile::{TO_TILE, TileWrite};
use visa_mapping::ops::transfer::{TO_DM, TO_HBM};
use visa_mapping::{DM, Dim, HBM, Tensor, facts, operand};
use visa_numerics::DType;
use visa_stream::ops::cast::Cast;
use visa_stream::ops::commit_packed::DECL as PACKED;
use visa_stream::ops::contract::{ACCUMULATE_DECL, CONTRACT_DECL};
use visa_stream::ops::fetch::Fetch;
use visa_stream::ops::{fill, generate};
use visa_stream::pipeline;

/// The clauses with the distribution of a tensor.
pub const CLAUSES: [&str; 3] = ["cluster", "slice", "element"];

/// Returns true if an operation makes a tensor in data memory from one in another memory.
fn brings(op: OpRef<'_>) -> bool {
    effects::may(op, EffectKind::Allocate, DM.def.name) && !pipeline::ends(op)
}

/// Most axes of the results that are spread, and most that are reduced.
const MOST_AXES: usize = 3;

/// Most combinations of the distributions of tensors that have nothing to do with each other.
const MOST_COMBINATIONS: usize = 1024;

/// A load with its cluster, slice and element mapping.
pub type Load = (OpId, [Expr; 3]);

/// A distribution of all tensors whose distribution is open.
#[derive(Clone)]
pub struct Distribution {
    /// Each load with its cluster, slice and element mapping.
    pub loads: Vec<Load>,
    /// The same with rows that start at whole flits, if some do not.
    pub padded: Option<Vec<Load>>,
    /// Lower bound of the cycles of all transfers of stored tensors: a kernel takes at least these.
    pub transfers: u64,
    /// Cycles to transfer the tensors, by the memory model, and to fetch each once: the order of the candidates.
    pub estimate: u64,
    /// Number of slices that hold a part.
    pub slices: u64,
    /// Terms of the mappings of slices.
    terms: usize,
    /// True if it leads to explicit slices of an operation.
    led: bool,
}

/// The elements of a tensor that a slice holds.
struct SlicePart {
    element: Expr,
    /// The same with rows that start at whole flits, if they do not.
    padded: Option<Expr>,
    count: u64,
    bytes: u64,
    /// The element mapping's digits, innermost first; none where it has none.
    digits: Vec<Digit>,
}

/// A result in HBM.
struct Stored {
    layout: Expr,
    elements: u64,
    address: i64,
}

/// Tensors that meet each other, with their users.
struct Group<'a> {
    function: OpRef<'a>,
    axes: &'a Axes,
    machine: Rc<Machine>,
    /// The loads with an open distribution.
    loads: Vec<OpId>,
    /// The layout of each one's source.
    sources: BTreeMap<OpId, Expr>,
    /// Clusters and slices that are written of another load.
    written: Option<(Expr, Expr)>,
    /// The slices of loads that a stream meets after an operation that gives its slices.
    met: BTreeMap<OpId, Expr>,
    /// The results that are made of them and stored.
    stored: Vec<Stored>,
    /// The axes of the results, outermost first.
    kept: Vec<Part>,
    /// Axes that are reduced between slices.
    reduced: Vec<Part>,
    /// True if a register file multiplies the streamed elements.
    contracts: bool,
    /// The format of the results, if operations specify it.
    format: Option<DType>,
    /// The slices that operations give for their results.
    given: Vec<Digits>,
    /// The axes of the loaded tensors, with the number of coordinates of each.
    loaded: Vec<(AxisId, u64)>,
}

/// Distributions of those tensors of a function whose distribution is open, the cheapest by estimate first; empty if
/// there is no such tensor.
///
/// # Errors
/// The axes of the results are not specified.
pub fn distributions(function: OpRef<'_>, axes: &Axes) -> Result<Vec<Distribution>, Diagnostic> {
    let groups = groups(function, axes);
    if !groups.is_empty() && groups.iter().all(Group::says_nothing) {
        let message =
            "the layout of this kernel's tensors is open, and nothing says what axes its result has"
                .to_owned();
        let error = Diagnostic::error("select-configs", function.span(), message);
        return Err(error.fix("give `tm.to_hbm` an element mapping".to_owned()));
    }
    let all = |each: usize| groups.iter().try_fold(1_usize, |all, _| all.checked_mul(each));
    let fits = |each: &usize| all(*each).is_some_and(|all| all <= MOST_COMBINATIONS);
    let each = (1..=MOST_COMBINATIONS).take_while(fits).last().unwrap_or(1);
    let none = Distribution::none();
    let mut all = if groups.is_empty() { Vec::new() } else { vec![none] };
    for group in groups {
        let mut own = group.distributions();
        own.truncate(each);
        all = all.iter().flat_map(|before| own.iter().map(|other| before.with(other))).collect();
    }
    sort(&mut all);
    Ok(all)
}

/// Those that lead to written slices come first. Then the cheapest, of those the ones in the fewest slices, and of
/// those the ones with the fewest terms.
fn sort(distributions: &mut [Distribution]) {
    distributions.sort_by_key(|own| (!own.led, own.estimate, own.slices, own.terms));
}

impl Distribution {
    fn none() -> Self {
        Self { loads: Vec::new(), padded: None, transfers: 0, estimate: 0, slices: 1, terms: 0, led: false }
    }

    fn with(&self, other: &Self) -> Self {
        let rows = |own: &Self| own.padded.clone().unwrap_or_else(|| own.loads.clone());
        let padded = self.padded.is_some() || other.padded.is_some();
        Self {
            loads: [&self.loads[..], &other.loads[..]].concat(),
            padded: padded.then(|| [rows(self), rows(other)].concat()),
            terms: self.terms + other.terms,
            led: self.led || other.led,
            transfers: self.transfers.saturating_add(other.transfers),
            estimate: self.estimate.saturating_add(other.estimate),
            slices: self.slices.saturating_mul(other.slices),
        }
    }
}

/// The groups of tensors of a function that meet each other, of those with an open distribution.
fn groups<'a>(function: OpRef<'a>, axes: &'a Axes) -> Vec<Group<'a>> {
    let ops: Vec<OpRef<'a>> = body(function);
    let mut group_of: BTreeMap<ValueId, usize> = BTreeMap::new();
    for (number, op) in ops.iter().enumerate() {
        if op.is(&YIELD) {
            // The values that a body yields are the carried ones.
            op.parent().into_iter().flat_map(carried).for_each(|same| join(&mut group_of, same));
            continue;
        }
        if carries(*op) {
            carried(*op).into_iter().for_each(|same| join(&mut group_of, same));
            continue;
        }
        let apart = op.is(&TO_DM) || op.is(&RETURN);
        let operands = op.operands().iter().filter(|_| !apart);
        let own: BTreeSet<usize> = operands.filter_map(|value| group_of.get(value).copied()).collect();
        let joined = own.first().copied().or(brings(*op).then_some(number));
        let Some(joined) = joined else { continue };
        group_of.values_mut().filter(|group| own.contains(group)).for_each(|group| *group = joined);
        group_of.extend(op.results().iter().map(|&value| (value, joined)));
    }
    let numbers: BTreeSet<usize> = group_of.values().copied().collect();
    let member = |op: &&OpRef<'_>, group: usize| {
        let values = if brings(**op) { op.results() } else { op.operands() };
        values.iter().any(|value| group_of.get(value) == Some(&group))
    };
    let grouped = numbers.into_iter().map(|group| {
        let own: Vec<OpRef<'a>> = ops.iter().filter(|op| member(op, group)).copied().collect();
        Group::of(function, &own, axes)
    });
    grouped.filter(|group| !group.loads.is_empty()).collect()
}

/// Joins the groups of the values that a tensor becomes, if it is in any, to one that all of it is in.
fn join(group_of: &mut BTreeMap<ValueId, usize>, same: Carried) {
    let values: Vec<ValueId> = std::iter::once(same.initial).chain(same.later()).collect();
    let own: BTreeSet<usize> = values.iter().filter_map(|value| group_of.get(value).copied()).collect();
    let Some(&joined) = own.first() else { return };
    group_of.values_mut().filter(|group| own.contains(group)).for_each(|group| *group = joined);
    group_of.extend(values.into_iter().map(|value| (value, joined)));
}

/// The operations of a function, those of bodies among them.
fn body(function: OpRef<'_>) -> Vec<OpRef<'_>> {
    let blocks = function.regions().iter();
    blocks.flat_map(|&block| function.module.walk(block)).map(|id| function.other(id)).collect()
}

impl<'a> Group<'a> {
    fn of(function: OpRef<'a>, ops: &[OpRef<'a>], axes: &'a Axes) -> Self {
        let (open, closed): (Vec<OpRef<'a>>, Vec<OpRef<'a>>) = ops
            .iter()
            .filter(|op| op.is(&TO_DM))
            .partition(|op| CLAUSES.iter().any(|clause| is_open(**op, clause)));
        let map = |op: OpRef<'_>, name: &str| facts::written(op, name).map(|map| (*map).clone());
        let spread = |op: &OpRef<'_>| map(*op, "cluster").zip(map(*op, "slice"));
        let made = ops.iter().filter(|op| op.is(&generate::DECL) || op.is(&fill::DECL));
        let stored = |op: &OpRef<'_>| {
            let layout = match TileWrite::cast(*op) {
                Some(tile) => to_tile::part(tile, axes).ok()?.dim(Dim::Element),
                None => map(*op, "element")?,
            };
            let address = written_place(*op).ok().and_then(|(address, _)| address);
            // An address that is open may be any: the first one is.
            Some(Stored { elements: elements(&layout, axes), layout, address: address.unwrap_or_default() })
        };
        let stored: Vec<Stored> =
            ops.iter().filter(|op| op.is(&TO_HBM) || op.is(&TO_TILE)).filter_map(stored).collect();
        let results: Vec<Expr> = stored.iter().map(|result| result.layout.clone()).collect();
        let loaded = ops.iter().filter(|op| op.is(&TO_DM)).filter_map(|op| source(*op, axes));
        let loaded = reaches(loaded, axes);
        let mut kept = reaches(results.iter().cloned(), axes);
        // Rows that an index finds a place for: the loaded axes are the stored ones.
        if kept.is_empty() && ops.iter().any(|op| op.is(&SCATTER)) {
            kept.clone_from(&loaded);
        }
        let reduced = reduced(ops, &kept, &loaded, axes);
        let slices = ops.iter().filter(|op| pipeline::contains(**op)).filter_map(|op| map(*op, "slice"));
        let given = slices.filter_map(|slice| digits(&slice, axes).ok()).collect();
        let (mut cuts, whole) = (cuts(ops, axes), whole(ops, axes));
        let brought = loaded.iter().map(|(axis, _)| *axis).collect();
        cuts.extend(left_out(ops, &kept, &brought, axes));
        let ordered = ops.iter().any(|op| op.is(&PACKED) || op.attr("write_back").is_some());
        let apart = held_of_reduced(ops, &results, axes);
        let part = |(axis, reach): (AxisId, u64)| {
            let held = apart.get(&axis);
            let counted = held.map(|held| held.iter().map(|digit| digit.live).product());
            let known = counted.or_else(|| cuts.get(&axis).copied());
            let written = held.cloned().unwrap_or_default();
            let parts = known.or((ordered || whole.contains(&axis)).then_some(1));
            Part { axis, reach, parts, written }
        };
        Self {
            function,
            axes,
            machine: machine(function),
            loads: open.iter().map(|op| op.id).collect(),
            sources: open.iter().filter_map(|op| Some((op.id, source(*op, axes)?))).collect(),
            written: closed.iter().chain(&open).chain(made).find_map(spread),
            met: met(ops),
            stored,
            kept: kept.into_iter().map(part).collect(),
            reduced,
            contracts: ops.iter().any(|op| op.is(&CONTRACT_DECL)),
            format: ops.iter().fold(None, |format, op| made_format(format, *op)),
            given,
            loaded,
        }
    }
}

impl Group<'_> {
    /// Returns true if no clause restricts the slices of its tensors.
    fn says_nothing(&self) -> bool {
        self.written.is_none() && self.stored.is_empty() && self.kept.is_empty()
    }

    /// Every distribution, the cheapest first.
    fn distributions(&self) -> Vec<Distribution> {
        let mut distributions: Vec<Distribution> = match &self.written {
            Some((cluster, slice)) => self.distribution(cluster, slice).into_iter().collect(),
            None => {
                let before = self.given.iter().flat_map(|slice| self.before(slice));
                let before = before.flat_map(|digits| [self.with_clusters(&digits), vec![digits]].concat());
                let led: Vec<_> = before.flat_map(|digits| self.spread(&digits, &[])).collect();
                let distribution = |led| {
                    move |(cluster, slice)| Some(Distribution { led, ..self.distribution(&cluster, &slice)? })
                };
                let others = self.spreads().into_iter().filter_map(distribution(false));
                led.into_iter().filter_map(distribution(true)).chain(others).collect()
            }
        };
        sort(&mut distributions);
        let mut seen = BTreeSet::new();
        distributions.retain(|distribution| seen.insert(distribution.loads.clone()));
        distributions
    }

    /// Every way to spread the axes over clusters and slices.
    fn spreads(&self) -> Vec<(Expr, Expr)> {
        let topology = &self.machine.topology;
        let all = topology.clusters_per_chip.saturating_mul(topology.slices_per_cluster);
        let kept = self.kept.iter().filter(|part| part.parts != Some(1)).enumerate();
        let kept = kept.filter(|(at, part)| *at < MOST_AXES || !part.written.is_empty());
        let kept: Vec<&Part> = kept.map(|(_, part)| part).collect();
        let reduced: Vec<&Part> = self.reduced.iter().take(MOST_AXES).collect();
        let mut found = Vec::new();
        for way in ways(&kept, all) {
            let outer: Vec<Digit> = self.digits(&kept, &way);
            let room = all / way.iter().product::<u64>().max(1);
            for way in ways(&reduced, room) {
                let inner = self.digits(&reduced, &way);
                found.extend(self.spread(&outer, &inner));
                if !outer.is_empty() && !inner.is_empty() {
                    found.extend(self.spread(&inner, &outer));
                }
            }
        }
        if found.is_empty() {
            found.extend(self.spread(&[], &[]));
        }
        found
    }

    /// The possible slices before an operation after which they hold `slice`: the same, limited to the loaded axes;
    /// and instead of one of its digits, which is copied or comes from time, as many coordinates of a loaded axis that
    /// it lacks.
    fn before(&self, slice: &Digits) -> Vec<Vec<Digit>> {
        let all = slice.iter().rev().filter(|digit| digit.live > 1);
        let all: Vec<Digit> = all.map(|digit| self.as_loaded(digit, slice)).collect();
        let held = |digits: &[Digit]| -> Vec<Digit> {
            digits.iter().filter(|digit| digit.axis.is_some()).copied().collect()
        };
        let same = held(&all);
        let lacking: Vec<Digit> =
            self.loaded.iter().filter_map(|loaded| self.below(*loaded, &same)).collect();
        let mut found = vec![same];
        for (at, digit) in all.iter().enumerate() {
            for part in lacking.iter().filter(|part| part.live == digit.live) {
                found.push(held(&[&all[..at], &[*part], &all[at + 1..]].concat()));
            }
        }
        found
    }

    /// Digits that fill all slices, with the outer part of another axis of the results for the clusters.
    fn with_clusters(&self, digits: &[Digit]) -> Vec<Vec<Digit>> {
        let topology = &self.machine.topology;
        let clusters = topology.clusters_per_chip;
        let filled = digits.iter().map(|digit| digit.extent).product::<u64>() == topology.slices_per_cluster;
        let lacks = |part: &&Part| digits.iter().all(|digit| digit.axis != Some(part.axis));
        let others = self.kept.iter().filter(|part| filled && part.parts.is_none() && lacks(part));
        let cut = others.filter(|part| part.reach.is_multiple_of(clusters));
        cut.map(|part| [self.digits(&[part], &[clusters]), digits.to_vec()].concat()).collect()
    }

    /// The outermost digit of an axis in slices with all that is loaded of it; any other as it is.
    fn as_loaded(&self, digit: &Digit, slice: &Digits) -> Digit {
        let loaded = self.loaded.iter().find(|(axis, _)| Some(*axis) == digit.axis);
        let outermost =
            |(axis, _): &&(AxisId, u64)| reach(slice, *axis) == digit.stride.saturating_mul(digit.live);
        let all = loaded.filter(outermost).map_or(0, |(_, reach)| reach / digit.stride);
        let live = digit.live.max(all);
        Digit { extent: live, live, ..*digit }
    }

    /// The part of a loaded axis, below the lowest of its digits, that slices with those digits lack; `None` if that
    /// is one coordinate.
    fn below(&self, (axis, reach): (AxisId, u64), held: &[Digit]) -> Option<Digit> {
        let strides = held.iter().filter(|digit| digit.axis == Some(axis)).map(|digit| digit.stride);
        let live = strides.min().unwrap_or(reach);
        let axis_size = self.axes.size(axis);
        let part = Digit { axis: Some(axis), stride: 1, extent: live, live, kind: PadKind::Top, axis_size };
        (live > 1).then_some(part)
    }

    /// The parts of axes as digits.
    fn digits(&self, parts: &[&Part], way: &[u64]) -> Vec<Digit> {
        let digits = |(part, &parts): (&&Part, &u64)| match part.written.is_empty() {
            false => part.written.clone(),
            true => vec![Digit {
                axis: Some(part.axis),
                stride: part.reach / parts,
                extent: parts,
                live: parts,
                kind: PadKind::Top,
                axis_size: self.axes.size(part.axis),
            }],
        };
        parts.iter().zip(way).flat_map(digits).filter(|digit| digit.extent > 1).collect()
    }

    /// Digits over slices; where there are too many, over the clusters part of the outermost, or one that has as
    /// many coordinates.
    fn spread(&self, outer: &[Digit], inner: &[Digit]) -> Vec<(Expr, Expr)> {
        let topology = &self.machine.topology;
        let (clusters, all) = (topology.clusters_per_chip, topology.slices_per_cluster);
        let slice: Vec<Digit> = outer.iter().chain(inner).copied().collect();
        if slice.iter().map(|digit| digit.extent).product::<u64>() <= all {
            return self.mappings(None, slice).into_iter().collect();
        }
        // Clusters exchange nothing.
        let reduces = |digit: &Digit| self.reduced.iter().any(|part| digit.axis == Some(part.axis));
        let may = |digit: &Digit| !reduces(digit) && digit.extent.is_multiple_of(clusters);
        let first = slice.iter().position(may);
        let cuts = slice.iter().enumerate().filter(|(_, digit)| may(digit));
        let cuts = cuts.filter(|(at, digit)| Some(*at) == first || digit.extent == clusters);
        let cut = |(at, digit): (usize, &Digit)| {
            let (extent, mut slice) = (digit.extent / clusters, slice.clone());
            let cluster = Digit { stride: digit.stride * extent, extent: clusters, live: clusters, ..*digit };
            slice[at] = Digit { extent, live: extent, ..*digit };
            slice.retain(|digit| digit.extent > 1);
            self.mappings(Some(cluster), slice)
        };
        cuts.filter_map(cut).collect()
    }

    /// The content of clusters and slices as mappings; `None` if there are too few slices.
    fn mappings(&self, cluster: Option<Digit>, mut slice: Vec<Digit>) -> Option<(Expr, Expr)> {
        let topology = &self.machine.topology;
        let (clusters, all) = (topology.clusters_per_chip, topology.slices_per_cluster);
        // A digit that is within another one must end where that one steps.
        let inner = slice.iter().skip(1).map(|digit| digit.extent).product::<u64>();
        if !all.is_multiple_of(inner) {
            slice.iter_mut().skip(1).for_each(|digit| digit.extent = digit.live.next_power_of_two());
        }
        let padded = |map: Expr, all: u64| match map.size(self.axes) {
            Ok(size) if size < all => Some(map.pad(all, PadKind::Top)),
            Ok(size) => (size == all).then_some(map),
            Err(_) => None,
        };
        Some((padded(mapping(&cluster, self.axes)?, clusters)?, padded(mapping(&slice, self.axes)?, all)?))
    }

    /// The distribution of each tensor; `None` if a digit of one is cut where it does not end.
    fn distribution(&self, cluster: &Expr, slice: &Expr) -> Option<Distribution> {
        let (mut distribution, mut padded, mut all) = (Distribution::none(), Vec::new(), Vec::new());
        let mut moved = 0_u64;
        for &load in &self.loads {
            let slice = self.met.get(&load).unwrap_or(slice);
            let spread = self.spread_digits(cluster, slice)?;
            let source = operand(self.function.other(load), 0)?;
            let held = self.held(&source, self.sources.get(&load)?, &spread)?;
            let slices = spread.iter().fold(1_u64, |all, digit| all.saturating_mul(digit.live));
            let least = self.transfer(held.bytes.saturating_mul(slices), source.is(&HBM));
            distribution.transfers = distribution.transfers.saturating_add(least);
            distribution.slices = distribution.slices.max(slices);
            distribution.terms = distribution.terms.max(spread.len());
            let at = |element: &Expr| [cluster.clone(), slice.clone(), element.clone()];
            let (own, rows) = (at(&held.element), held.padded.as_ref().map(at));
            let price = |parts: &[Expr; 3]| self.moves().load(&source, 0, parts);
            let priced = price(&own).or_else(|| price(rows.as_ref()?));
            moved = moved.saturating_add(priced.unwrap_or(least));
            padded.push((load, rows.unwrap_or_else(|| own.clone())));
            distribution.loads.push((load, own));
            all.push(held);
        }
        let others = self.leaves(&mut distribution, cluster, slice).saturating_add(self.computes(&all));
        distribution.estimate = moved.saturating_add(others);
        distribution.padded = (padded != distribution.loads).then_some(padded);
        Some(distribution)
    }

    /// Cycles to store the results, whose least are added to the distribution's.
    fn leaves(&self, distribution: &mut Distribution, cluster: &Expr, slice: &Expr) -> u64 {
        let like = self.loads.first().and_then(|&load| operand(self.function.other(load), 0));
        let spread = self.spread_digits(cluster, slice);
        let like = like.map(|like| Tensor { dtype: self.format.unwrap_or(like.dtype), ..(*like).clone() });
        let store = |stored: &Stored| {
            let (like, spread) = (like.as_ref()?, spread.as_ref()?);
            let held = self.held(like, &stored.layout, spread)?;
            let parts = [cluster.clone(), slice.clone(), held.element];
            self.moves().store(like, &parts, (&stored.layout, stored.address))
        };
        let mut all = 0_u64;
        for stored in &self.stored {
            // Two elements a byte at least.
            let least = self.transfer(stored.elements.div_ceil(2), true);
            distribution.transfers = distribution.transfers.saturating_add(least);
            all = all.saturating_add(store(stored).unwrap_or(least));
        }
        all
    }

    fn spread_digits(&self, cluster: &Expr, slice: &Expr) -> Option<Vec<Digit>> {
        let spread = [digits(cluster, self.axes).ok()?, digits(slice, self.axes).ok()?];
        Some(spread.iter().flat_map(|part| part.iter().copied()).collect())
    }

    fn moves(&self) -> Moves<'_> {
        let model = *self.function.ctx.data::<MemoryModel>();
        Moves { axes: self.axes, machine: &self.machine, model }
    }

    /// Cycles to fetch all tensors once, and to multiply them if they meet in a contraction, in all rows of the
    /// register file (book 15).
    fn computes(&self, tensors: &[SlicePart]) -> u64 {
        let flit = self.machine.limits.flit_bytes;
        let fetched = tensors.iter().map(|held| held.bytes.div_ceil(flit)).fold(0, u64::saturating_add);
        if !self.contracts {
            return fetched;
        }
        let mut extents: BTreeMap<AxisId, u64> = BTreeMap::new();
        for digit in tensors.iter().flat_map(|held| &held.digits) {
            if let Some(axis) = digit.axis {
                let extent = extents.entry(axis).or_insert(1);
                *extent = digit.stride.saturating_mul(digit.live).max(*extent);
            }
        }
        let width = tensors.iter().map(|held| held.bytes.div_ceil(held.count.max(1))).max().unwrap_or(0);
        let products = extents.values().fold(width, |all, &extent| all.saturating_mul(extent));
        fetched.saturating_add(products / flit.saturating_mul(self.machine.memory.trf_rows).max(1))
    }

    /// The part of a tensor that a slice holds, in the order of its load.
    fn held(&self, tensor: &Tensor, source: &Expr, spread: &[Digit]) -> Option<SlicePart> {
        let element = source.clone();
        let names: Vec<AxisId> =
            element.axis_names(self.axes).iter().filter_map(|name| self.axes.id(name)).collect();
        let mut spread =
            spread.iter().filter(|part| part.axis.is_some_and(|axis| names.contains(&axis))).peekable();
        let found = digits(&element, self.axes).ok().filter(|found| found.offset().is_empty());
        let Some(found) = found else {
            let count = element.size(self.axes).ok()?;
            let bytes = tensor.bytes(count)?;
            let held = SlicePart { element, padded: None, count, bytes, digits: Vec::new() };
            return spread.peek().is_none().then_some(held);
        };
        let mut digits: Vec<Digit> = found.iter().filter(|digit| digit.axis.is_some()).copied().collect();
        for part in spread {
            digits = digits.iter().map(|digit| without(digit, part)).collect::<Option<Vec<_>>>()?.concat();
        }
        digits.iter_mut().for_each(|digit| digit.extent = digit.live);
        digits.retain(|digit| digit.extent > 1);
        let flit = tensor.dtype.elements(self.machine.limits.flit_bytes);
        let mut rows = digits.clone();
        // A row of one element is as long as it is there: padding that both sides have moves along.
        rows.extend(found.iter().next().filter(|row| digits.is_empty() && row.axis.is_none()));
        let row = rows.first_mut().filter(|row| !row.live.is_multiple_of(flit));
        let is_short = row.is_some();
        if let Some(row) = row.filter(|row| row.axis.is_some()) {
            row.extent = row.live.next_multiple_of(flit);
        }
        let padded = if is_short { mapping(rows.iter().rev(), self.axes) } else { None };
        let count = digits.iter().map(|digit| digit.live).product();
        let (element, bytes) = (mapping(digits.iter().rev(), self.axes)?, tensor.bytes(count)?);
        Some(SlicePart { element, padded, count, bytes, digits })
    }

    /// Lower bound of the cycles to transfer `bytes` bytes, between data memory and HBM or within the clusters (book
    /// 10).
    fn transfer(&self, bytes: u64, with_hbm: bool) -> u64 {
        let (timing, topology) = (&self.machine.timing, &self.machine.topology);
        let engines = topology.dma_engines_per_chip.saturating_mul(timing.dma_bytes_per_cycle);
        let clusters = self.machine.dm_bytes_per_cycle().min(engines);
        let rate = if with_hbm { timing.hbm_bytes_per_cycle.min(clusters) } else { clusters };
        timing.dma_startup_cycles.saturating_add(bytes.div_ceil(rate.max(1)))
    }
}

/// The format after an operation, where that before it is `format`: that of the first tensor that is loaded, as
/// fetches, accumulators and casts change it.
fn made_format(format: Option<DType>, op: OpRef<'_>) -> Option<DType> {
    let given = Cast::cast(op).map(|cast| cast.dtype().ok().map(|dtype| *dtype));
    let given = given.or_else(|| Fetch::cast(op).map(|fetch| fetch.dtype().ok()?.map(|dtype| *dtype)));
    if let Some(given) = given.flatten() {
        return Some(given);
    }
    if op.is(&ACCUMULATE_DECL) {
        return format.and_then(DType::accumulator);
    }
    format.or_else(|| operand(op, 0).filter(|_| op.is(&TO_DM)).map(|loaded| loaded.dtype))
}

/// The rest of a digit, innermost first, if slices hold a part of its axis; `None` if that cuts it where it does not
/// end.
fn without(digit: &Digit, part: &Digit) -> Option<Vec<Digit>> {
    if digit.axis != part.axis {
        return Some(vec![*digit]);
    }
    let end = digit.stride.saturating_mul(digit.live);
    let cut = |from: u64, to: u64| {
        let (from, to) = (from.max(digit.stride), to.min(end));
        // Where the axis ends, the last part of it may be a shorter one.
        let ends = to.is_multiple_of(from) || to == digit.axis_size;
        let whole = from.is_multiple_of(digit.stride) && ends;
        let live = to.div_ceil(from.max(1));
        if from >= to {
            Some(None)
        } else {
            whole.then_some(Some(Digit { stride: from, extent: live, live, ..*digit }))
        }
    };
    let (low, high) = (cut(0, part.stride)?, cut(part.stride.saturating_mul(part.live), end)?);
    Some(low.into_iter().chain(high).collect())
}

/// The possible numbers of parts of `reach` coordinates: powers of two, or single ones.
fn parts(reach: u64, most: u64) -> Vec<u64> {
    let powers = (0..64).map(|power| 1_u64 << power).take_while(|&parts| parts <= most);
    let powers = powers.filter(|&parts| reach.is_multiple_of(parts));
    powers.chain((!reach.is_power_of_two() && reach <= most).then_some(reach)).collect()
}

/// Into how many parts axes are cut, in all at most `most`, the first as often as possible.
fn ways(axes: &[&Part], most: u64) -> Vec<Vec<u64>> {
    let Some((first, rest)) = axes.split_first() else { return vec![Vec::new()] };
    let own = first.parts.map_or_else(|| parts(first.reach, most), |parts| vec![parts]);
    let fitting = own.into_iter().filter(|&parts| parts > 0 && parts <= most);
    let all = fitting
        .rev()
        .flat_map(|parts| ways(rest, most / parts).into_iter().map(move |way| [&[parts], &way[..]].concat()));
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digit(axis: Option<AxisId>, stride: u64, live: u64) -> Digit {
        Digit { axis, stride, extent: live, live, kind: PadKind::Top, axis_size: 4096 }
    }

    #[test]
    fn axes_are_cut_into_powers_of_two_or_into_single_coordinates() {
        assert_eq!(parts(12, 512), [1, 2, 4, 12]);
        assert_eq!(parts(12, 8), [1, 2, 4]);
        assert_eq!(parts(64, 4), [1, 2, 4]);
        assert_eq!(parts(131_101, 512), [1]);
    }

    #[test]
    fn all_axes_together_take_no_more_slices_than_there_are_and_the_first_takes_the_most() {
        let mut axes = Axes::new();
        let mut part = |name: &str, parts| Part {
            axis: axes.declare(name, 4).expect("a new axis"),
            reach: 4,
            parts,
            written: Vec::new(),
        };
        let (a, b, c) = (part("A", None), part("B", None), part("C", Some(2)));
        assert_eq!(ways(&[&a, &b], 4), [[4, 1], [2, 2], [2, 1], [1, 4], [1, 2], [1, 1]]);
        assert_eq!(ways(&[&a, &c], 4), [[2, 2], [1, 2]]);
        assert_eq!(ways(&[&c], 1), Vec::<Vec<u64>>::new());
    }

    #[test]
    fn a_slice_holds_what_is_below_its_part_and_above_it() {
        let mut axes = Axes::new();
        let a = Some(axes.declare("A", 4096).expect("a new axis"));
        let b = Some(axes.declare("B", 4096).expect("a new axis"));
        let left = without(&digit(a, 1, 4096), &digit(a, 8, 256));
        assert_eq!(left, Some(vec![digit(a, 1, 8), digit(a, 2048, 2)]));
        assert_eq!(without(&digit(a, 1, 64), &digit(a, 1, 64)), Some(Vec::new()));
        assert_eq!(without(&digit(a, 1, 64), &digit(b, 8, 8)), Some(vec![digit(a, 1, 64)]));
        // A digit of steps of 4 does not end at 6.
        assert_eq!(without(&digit(a, 4, 16), &digit(a, 6, 8)), None);
    }
}
