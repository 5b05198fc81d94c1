//! The configuration of the Valid Count Generator (book 24) that excludes the padding of one axis from a reduction
//! within a slice, derived from where the mappings place the axis (book 23).
//!
//! An element of slice s, time step t and lane p is at coordinate c(s) + o(t) + l(p) of the axis, the sum of the
//! mappings' contributions, and is live while that is below the axis' size n. The generator has one count that all
//! slices share, min(k, V - index), and gates, each with one threshold on the slice number. So:
//!
//! - lanes 0 to k - 1 at l(p) = p, and c(s) the same for all slices: the count, V = n - c, index = o(t);
//! - lanes that are live together: a gate that is open while c(s) + o(t) < n. With the slices in the order of their
//!   numbers, b the first that is not always live: those before it pass, b passes while o(t) < n - c(b), and
//!   after it either none is live (standard) or each at the same o(t) as b (transposed).
//!
//! The generator cannot express other placements, and the error names the possible ones.

mod refusal;

use crate::plan::digits_of;
use crate::reduce::{factors, mentions};
pub use refusal::Refusal;
use std::collections::BTreeMap;
use visa_algebra::{Axes, AxisId, Cell, Digit, Expr, Map, without_zeros};
use visa_machine::Machine;
use visa_mapping::{Dim, Tensor};
use visa_numerics::{CountDim, Counter, Gate};

/// Most time steps of an axis that are listed. Ours: it bounds the work on a mapping.
pub const MAX_STEPS: u64 = 1 << 20;

/// A configuration of the generator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counting {
    /// The counters, outermost first.
    pub counters: Vec<Counter>,
    /// Valid elements along the packet dimension, if a counter has it.
    pub packet: Option<u64>,
    /// The gates.
    pub gates: Vec<Gate>,
}

/// An axis in the stream that enters the vector engine.
pub struct Placement<'a> {
    /// The stream, in packets of 8 lanes.
    pub entry: &'a Tensor,
    /// The axis.
    pub axis: AxisId,
    /// Leading lanes of a packet that reach the reduction: all, or half of them where the stream is trimmed.
    pub lanes: u64,
    /// The axes.
    pub axes: &'a Axes,
    /// The machine.
    pub machine: &'a Machine,
}

/// The mappings' parts of the axis.
struct Layout {
    /// Number and coordinate of each slice that holds elements.
    slices: Vec<(u64, u64)>,
    /// The counters of the generator, outermost first.
    steps: Vec<Step>,
    /// Where each live lane is, for a packet that holds the axis.
    packet: Option<Vec<Option<u64>>>,
    /// Coordinate of the first time step.
    start: u64,
    /// Positions of the axis, padding included.
    padded: u64,
}

/// A loop over time.
#[derive(Clone, Copy)]
struct Step {
    limit: u64,
    /// Number of live iterations; fewer than `limit` if the padding belongs to the loop.
    live: u64,
    /// Distance along the axis; 0 for a loop of something else.
    stride: u64,
    /// True if it is a loop of the axis.
    own: bool,
}

impl Step {
    fn last(&self) -> u64 {
        self.stride.saturating_mul(self.live - 1)
    }

    fn counts(&self) -> bool {
        self.stride > 0
    }
}

/// The configuration under which exactly the live elements of the axis are valid; `None` where nothing needs to be
/// left out.
///
/// # Errors
/// The placement, the reason why the generator cannot express it, and a fix: the content of C7 of the reduction.
pub fn counting(placement: &Placement<'_>) -> Result<Option<Counting>, Refusal> {
    let layout = placement.layout()?;
    let builder = Builder { placement, layout, dims: Vec::new(), gates: Vec::new(), packet: None };
    builder.build()
}

impl Placement<'_> {
    fn name(&self) -> &str {
        self.axes.name(self.axis)
    }

    fn dim(&self, dim: Dim) -> Result<Expr, Refusal> {
        without_zeros(&self.entry.dim(dim), self.axes).map_err(|error| self.unreadable(error.message))
    }

    fn layout(&self) -> Result<Layout, Refusal> {
        for dim in [Dim::Chip, Dim::Cluster] {
            let map = self.dim(dim)?;
            if mentions(&map, self.axis, self.axes)
                && !map.size(self.axes).is_ok_and(|size| size <= 1)
                && self.is_padded()
            {
                return Err(self.across(dim));
            }
        }
        let (steps, start) = self.steps()?;
        let packet = self.packet()?;
        let slices = self.slices()?;
        let own =
            |steps: &[Step]| steps.iter().filter(|step| step.own).map(|step| step.limit).product::<u64>();
        let lanes = packet.as_ref().map_or(1, |lanes| lanes.iter().flatten().count() as u64);
        let slice_digits =
            self.slice_digits().map_or(1, |digits| digits.iter().map(|(_, digit)| digit.extent).product());
        let padded = own(&steps).saturating_mul(lanes).saturating_mul(slice_digits);
        Ok(Layout { slices, steps, packet, start, padded })
    }

    /// Returns true if the axis has fewer elements than the mappings of the stream have positions for it.
    fn is_padded(&self) -> bool {
        let held = self.entry.kind.dims.iter().filter_map(|&dim| self.dim(dim).ok());
        let own = held.filter_map(|map| factors(&map, self.axis, self.axes).ok()).flatten();
        let positions = own.filter(|factor| factor.reduced).map(|factor| factor.size);
        positions.fold(1, u64::saturating_mul) != self.axes.size(self.axis)
    }

    /// The loops over time, and where the axis starts.
    fn steps(&self) -> Result<(Vec<Step>, u64), Refusal> {
        let time = self.dim(Dim::Time)?;
        let mut start = 0;
        let mut steps = Vec::new();
        for factor in factors(&time, self.axis, self.axes).map_err(|why| self.unreadable(why))? {
            if !factor.reduced {
                steps.push(Step { limit: factor.size, live: factor.size, stride: 0, own: false });
                continue;
            }
            let digits = digits_of(&factor.term, self.axes).map_err(|why| self.unreadable(why))?;
            start += digits.offset().iter().map(|offset| offset.coordinate).sum::<u64>();
            for digit in digits.iter().rev() {
                if digit.axis.is_none() && digit.live > 1 {
                    return Err(
                        self.unreadable(format!("`{}` repeats elements", Expr::pair([factor.term.clone()])))
                    );
                }
                let Digit { extent, live, stride, .. } = *digit;
                // The bound on coordinates already covers any step that ends with the axis.
                let ends = digit.axis.is_some() && stride.saturating_mul(live) >= self.axes.size(self.axis);
                steps.push(Step { limit: extent, live: if ends { extent } else { live }, stride, own: true });
            }
        }
        Ok((steps, start))
    }

    /// Where each lane is, if the packet holds the axis.
    fn packet(&self) -> Result<Option<Vec<Option<u64>>>, Refusal> {
        let packet = self.dim(Dim::Packet)?;
        if !mentions(&packet, self.axis, self.axes) {
            return Ok(None);
        }
        if packet.axis_names(self.axes).iter().any(|name| **name != *self.name()) {
            return Err(self.mixed());
        }
        let map = Map::new(&packet, self.axes).map_err(|error| self.unreadable(error.message))?;
        let lane = |at| match map.cell(at) {
            Some(Cell::Live(index)) => Some(index.get(self.axis)),
            Some(Cell::Shared(_) | Cell::Pad(_)) | None => None,
        };
        Ok(Some((0..map.size().min(self.machine.limits.vector_lanes)).map(lane).collect()))
    }

    /// The slices that hold elements, and where they are along the axis.
    fn slices(&self) -> Result<Vec<(u64, u64)>, Refusal> {
        let map =
            Map::new(&self.dim(Dim::Slice)?, self.axes).map_err(|error| self.unreadable(error.message))?;
        let slice = |at| match map.cell(at) {
            Some(Cell::Live(index)) => Some((at, index.get(self.axis))),
            Some(Cell::Shared(_) | Cell::Pad(_)) | None => None,
        };
        let all = 0..map.size().min(self.machine.topology.slices_per_cluster);
        Ok(all.filter_map(slice).collect())
    }

    /// The digits of the axis in the slice mapping, each with its distance in slices, minor first.
    fn slice_digits(&self) -> Option<Vec<(u64, Digit)>> {
        let digits = digits_of(&self.dim(Dim::Slice).ok()?, self.axes).ok()?;
        let weighed = digits.iter().scan(1_u64, |weight, &digit| {
            let here = *weight;
            *weight = weight.saturating_mul(digit.extent);
            Some((here, digit))
        });
        Some(weighed.filter(|(_, digit)| digit.axis == Some(self.axis)).collect())
    }
}

/// A configuration in the making.
struct Builder<'a> {
    placement: &'a Placement<'a>,
    layout: Layout,
    /// The dimension of each step: its number, the dimension, and the step's increment.
    dims: Vec<(usize, CountDim, u64)>,
    gates: Vec<Gate>,
    /// Elements along the packet dimension, and how many of them a packet has.
    packet: Option<(u64, u64)>,
}

impl Builder<'_> {
    fn build(mut self) -> Result<Option<Counting>, Refusal> {
        self.own_padding();
        let size = self.placement.axes.size(self.placement.axis);
        let bound = size.saturating_sub(self.layout.start);
        let farthest = self.layout.slices.iter().map(|&(_, coordinate)| coordinate).max().unwrap_or(0);
        let time: u64 = self.layout.steps.iter().map(Step::last).fold(0, u64::saturating_add);
        match self.layout.packet.clone() {
            None if farthest.saturating_add(time) < bound => {}
            None => self.gate(bound)?,
            Some(lanes) => {
                let live = lanes.iter().flatten().count() as u64;
                if lanes[..usize::try_from(live).unwrap_or(0)].iter().any(Option::is_none) {
                    return Err(self.placement.no_prefix());
                }
                let last = lanes.iter().flatten().max().copied().unwrap_or(0);
                if farthest.saturating_add(time).saturating_add(last) >= bound {
                    self.packets(&lanes, live, bound)?;
                }
                if self.packet.is_none() && live < self.placement.lanes {
                    self.packet = Some((live, live));
                }
            }
        }
        self.finish()
    }

    /// Gates for loops of the axis whose padding is their own.
    fn own_padding(&mut self) {
        for (at, step) in self.layout.steps.iter().enumerate().filter(|(_, step)| step.live < step.limit) {
            self.dims.push((at, CountDim::Gate(self.gates.len()), 1));
            self.gates.push(Gate { mask: 0, matches: 0, valid: step.live, transposed: false });
        }
    }

    /// The axis ends in some packet, whose `live` lanes hold it.
    fn packets(&mut self, lanes: &[Option<u64>], live: u64, bound: u64) -> Result<(), Refusal> {
        let first = lanes.first().copied().flatten().unwrap_or(0);
        let bound = bound.saturating_sub(first);
        let consecutive = lanes.iter().flatten().zip(first..).all(|(&lane, wanted)| lane == wanted);
        if !consecutive {
            return Err(self.placement.not_innermost());
        }
        let start = self.layout.slices.first().map_or(0, |&(_, coordinate)| coordinate);
        if self.layout.slices.iter().all(|&(_, coordinate)| coordinate == start) {
            self.packet = Some((bound.saturating_sub(start), live));
            return self.assign(CountDim::Packet, 1);
        }
        let whole = |distance: u64| distance.is_multiple_of(live);
        let packets_apart = self.layout.slices.iter().all(|&(_, coordinate)| whole(coordinate))
            && self.layout.steps.iter().all(|step| whole(step.stride));
        if packets_apart && whole(bound) {
            return self.gate(bound);
        }
        if packets_apart && bound <= live {
            self.packet = Some((bound, live));
            return self.gate(1);
        }
        Err(self.placement.slice_and_packet(self.layout.padded))
    }

    /// Gives the loops of the axis to a dimension whose index counts `unit` positions a step.
    fn assign(&mut self, dim: CountDim, unit: u64) -> Result<(), Refusal> {
        for (at, step) in self.layout.steps.iter().enumerate().filter(|(_, step)| step.counts()) {
            if self.dims.iter().any(|&(other, ..)| other == at) {
                return Err(self.placement.two_dims());
            }
            self.dims.push((at, dim, step.stride / unit));
        }
        Ok(())
    }

    /// A gate that is open while slice and time are together below `bound`.
    fn gate(&mut self, bound: u64) -> Result<(), Refusal> {
        let mask = self.mask()?;
        let mut groups: BTreeMap<u64, u64> = BTreeMap::new();
        for &(slice, coordinate) in &self.layout.slices {
            if *groups.entry(slice & mask).or_insert(coordinate) != coordinate {
                return Err(self.placement.bits());
            }
        }
        let groups: Vec<(u64, u64)> = groups.into_iter().collect();
        let offsets = self.offsets()?;
        let last = offsets.last().copied().unwrap_or(0);
        let live =
            |coordinate: u64| offsets.partition_point(|&offset| offset.saturating_add(coordinate) < bound);
        let Some(at) = groups.iter().position(|(_, coordinate)| coordinate.saturating_add(last) >= bound)
        else {
            return Ok(());
        };
        let (matches, boundary) = groups[at];
        let after =
            || groups[at + 1..].iter().map(|&(_, coordinate)| live(coordinate)).filter(|&live| live > 0);
        let transposed = after().next().is_some();
        if after().any(|steps| steps != live(boundary)) {
            return Err(self.refused(&groups));
        }
        let unit = self.layout.steps.iter().map(|step| step.stride).fold(0, gcd).max(1);
        let valid = match bound.saturating_sub(boundary) {
            0 => 0,
            _ if last == 0 => 1,
            left => left.div_ceil(unit),
        };
        self.assign(CountDim::Gate(self.gates.len()), unit)?;
        self.gates.push(Gate { mask, matches, valid, transposed });
        Ok(())
    }

    /// The bits of the slice number that give the position of a slice along the axis.
    fn mask(&self) -> Result<u64, Refusal> {
        let start = self.layout.slices.first().map_or(0, |&(_, coordinate)| coordinate);
        if self.layout.slices.iter().all(|&(_, coordinate)| coordinate == start) {
            return Ok(0);
        }
        let digits = self.placement.slice_digits().ok_or_else(|| self.placement.bits())?;
        let bits = |(weight, digit): &(u64, Digit)| {
            weight.is_power_of_two().then(|| (digit.extent.next_power_of_two() - 1) * weight)
        };
        digits
            .iter()
            .try_fold(0, |mask, digit| Some(mask | bits(digit)?))
            .ok_or_else(|| self.placement.bits())
    }

    /// The distances along the axis that time adds, ascending.
    fn offsets(&self) -> Result<Vec<u64>, Refusal> {
        let own = || self.layout.steps.iter().filter(|step| step.counts());
        let count = own().fold(1_u64, |count, step| count.saturating_mul(step.live));
        if count > MAX_STEPS {
            return Err(self.placement.too_long());
        }
        let mut offsets = vec![0];
        for step in own() {
            let more =
                (0..step.live).flat_map(|at| offsets.iter().map(move |offset| offset + at * step.stride));
            offsets = more.collect();
        }
        offsets.sort_unstable();
        Ok(offsets)
    }

    /// The reason why no gate gives slices these coordinates.
    fn refused(&self, groups: &[(u64, u64)]) -> Refusal {
        if !groups.is_sorted_by_key(|&(_, coordinate)| coordinate) {
            return self.placement.unordered();
        }
        let strides = || self.layout.steps.iter().filter(|step| step.counts()).map(|step| step.stride);
        let least = strides().min().unwrap_or(1);
        let count: u64 =
            self.layout.steps.iter().filter(|step| step.counts()).map(|step| step.limit).product();
        match groups.last() {
            Some(&(_, coordinate)) if coordinate < least => self.placement.over_allocated(least, count),
            Some(_) | None => self.placement.interleaved(count, self.layout.padded),
        }
    }

    /// The counters, as few as there can be.
    fn finish(self) -> Result<Option<Counting>, Refusal> {
        if self.gates.is_empty() && self.packet.is_none() {
            return Ok(None);
        }
        let mut counters = Vec::new();
        for (at, step) in self.layout.steps.iter().enumerate() {
            let own = self.dims.iter().find(|(other, ..)| *other == at);
            let counter = match own {
                Some(&(_, dim, stride)) => Counter { limit: step.limit, stride, dim: Some(dim) },
                None => Counter { limit: step.limit, stride: 0, dim: None },
            };
            push(&mut counters, counter, self.placement.machine.limits.sequencer_limit);
        }
        if let Some((_, width)) = self.packet
            && counters
                .iter()
                .rfind(|counter| counter.dim == Some(CountDim::Packet))
                .is_none_or(|inner| inner.stride != width)
        {
            // Its innermost counter specifies how many elements of a packet belong to the axis (book 24).
            counters.push(Counter { limit: 1, stride: width, dim: Some(CountDim::Packet) });
        }
        let limits = &self.placement.machine.limits;
        let long = counters.iter().any(|counter| counter.limit > limits.sequencer_limit);
        if long || counters.len() as u64 > limits.valid_count_counters {
            return Err(self.placement.too_many("counters", counters.len(), limits.valid_count_counters));
        }
        if self.gates.len() as u64 > limits.valid_count_gates {
            return Err(self.placement.too_many("gates", self.gates.len(), limits.valid_count_gates));
        }
        Ok(Some(Counting { counters, packet: self.packet.map(|(valid, _)| valid), gates: self.gates }))
    }
}

/// Adds a counter inside the others, as part of the innermost one if that counts on where this one ends.
fn push(counters: &mut Vec<Counter>, inner: Counter, most: u64) {
    if inner.limit == 1 {
        return;
    }
    let continues = |outer: &Counter| {
        outer.dim == inner.dim
            && outer.stride == inner.stride * inner.limit
            && outer.limit.saturating_mul(inner.limit) <= most
    };
    match counters.last_mut() {
        Some(outer) if continues(outer) => {
            *outer = Counter { limit: outer.limit * inner.limit, ..inner };
        }
        Some(_) | None => counters.push(inner),
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
