//! All plans of a contraction: every distribution of its axes over clusters, slices and rows, with the loops, rings
//! and sums between slices that it permits.

use crate::array::{Array, whole_groups};
use crate::contraction::layout::{Layout, MOST_COLUMNS, PACKET_BYTES, elements};
use crate::contraction::{Choice, Contraction, Gather, Mode, Prologue, Promotion, Role, SumOrder};
use crate::cut::tile_counts;
use crate::vocabulary::Vocabulary;
use rayon::prelude::*;
use std::ops::ControlFlow;
use visa_algebra::Axes;
use visa_cost::MemoryModel;
use visa_machine::{Machine, Unit};
use visa_memory::HBM_UNIT;
use visa_numerics::DType;
use visa_stream::fill::NUMBER_BITS;

/// Distributions whose plans are counted at the same time.
const BATCH: usize = 16;
/// Most iterations of a loop over tiles.
const MOST_TILES: u64 = 64;
/// Rows of the register file (book 18).
const ROWS: u64 = 8;

/// Most bytes of the operands and the result of a small contraction: slices are as many as any divisor, and more plans
/// are lowered, whose reports take a few milliseconds.
pub const SMALL_BYTES: u64 = 256 << 10;

/// Most results of a slice that are put in the order of the array where rows are innermost.
const MOST_ORDERED: u64 = 256;

/// Least bytes of a tile: a transfer's start-up takes as long as a few times as many.
const LEAST_TILE_BYTES: u64 = 256 << 10;

/// A space of plans.
pub struct Space<'a> {
    /// The contraction.
    pub problem: &'a Contraction,
    /// The axes.
    pub axes: &'a Axes,
    /// The machine.
    pub machine: &'a Machine,
    /// The model of memories.
    pub model: MemoryModel,
    /// The operations that plans may use.
    pub vocabulary: Vocabulary,
    /// The plans that are visited.
    pub visited: Visited,
}

/// The plans of a space that a search visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visited {
    /// All.
    All,
    /// Those whose values may stay in data memory: they have no loops and collect no results. Distributions whose
    /// multiplications take more than `most` cycles are left out.
    Straight {
        /// The most cycles.
        most: u64,
    },
}

impl Space<'_> {
    /// Calls `count` for each plan whose cuts exist, with the most cycles that a plan of interest may take, and then
    /// `visit` with its result, until that breaks. `visit` returns the most cycles: distributions whose plans all take
    /// more are left out. Returns the number of these.
    ///
    /// All cores count the plans of a batch with the same limit, and `visit` has them in the order of the space. So
    /// the results do not depend on the number of cores.
    pub fn each<T: Send>(
        &self,
        count: &(dyn Fn(Choice, Layout, u64) -> Option<T> + Sync),
        visit: &mut dyn FnMut(Option<T>) -> ControlFlow<(), u64>,
    ) -> u64 {
        let (mut limit, mut pruned) = (u64::MAX, 0);
        for stationary in [0, 1] {
            for mode in modes(self.problem, stationary) {
                for batch in distributions(self.problem, stationary, mode, self.machine).chunks(BATCH) {
                    let kept: Vec<&Choice> =
                        batch.iter().filter(|choice| !self.exceeds(choice, limit)).collect();
                    pruned += (batch.len() - kept.len()) as u64;
                    let counted = |base: &&Choice| -> Vec<Option<T>> {
                        let refined = self.refined(**base).into_iter();
                        let layouts =
                            refined.filter_map(|choice| Some((choice, Layout::new(self.problem, &choice)?)));
                        layouts.map(|(choice, layout)| count(choice, layout, limit)).collect()
                    };
                    let counted: Vec<Vec<Option<T>>> = kept.par_iter().map(counted).collect();
                    for plan in counted.into_iter().flatten() {
                        match visit(plan) {
                            ControlFlow::Continue(most) => limit = most,
                            ControlFlow::Break(()) => return pruned,
                        }
                    }
                }
            }
        }
        pruned
    }

    /// Returns true if no plan of a distribution is of interest. Each takes at least its multiplications or its loads,
    /// whichever take longer, and the start-ups of a load and of a store. Values in data memory need no transfers.
    fn exceeds(&self, choice: &Choice, limit: u64) -> bool {
        let work = self.multiplications(choice);
        match self.visited {
            Visited::All => work.max(self.loads(choice)) + 2 * self.machine.timing.dma_startup_cycles > limit,
            Visited::Straight { most } => work > most,
        }
    }

    /// Cycles that the multiplications of each plan of a distribution take at least.
    fn multiplications(&self, choice: &Choice) -> u64 {
        let clusters = if choice.cluster.is_some() { self.machine.topology.clusters_per_chip } else { 1 };
        let packet = elements(PACKET_BYTES, self.problem.dtype());
        let multiplied = match choice.mode {
            Mode::Columns => packet.min(MOST_COLUMNS),
            Mode::Tree | Mode::Blocks => packet,
        };
        let a_slice = multiplied * ROWS;
        self.problem.products() / (choice.slices() * clusters * a_slice)
    }

    /// Cycles in which all networks of data memory write the operands, each as often as the distribution copies it.
    fn loads(&self, choice: &Choice) -> u64 {
        let bytes = |operand: usize| {
            let problem = self.problem;
            let elements = problem.batch.size * problem.free[operand].size * problem.sum.size;
            elements * u64::from(problem.operands[operand].dtype.bits()) / 8
        };
        // Clusters that divide one operand copy the other one.
        let copied = |role: Role| choice.clusters(role);
        let rows = bytes(choice.stationary) * choice.stream * copied(Role::Stream);
        let stream = bytes(1 - choice.stationary) * (choice.rows / choice.share) * copied(Role::Rows);
        let (timing, topology) = (&self.machine.timing, &self.machine.topology);
        let networks = self.machine.pes_per_chip() * topology.dmns_per_pe;
        (rows + stream) / (networks * timing.dm_bytes_per_cycle_per_dmn).max(1)
    }
}

/// The packets that the order of the sum permits.
fn modes(problem: &Contraction, stationary: usize) -> Vec<Mode> {
    let images = [stationary, 1 - stationary].map(|operand| problem.operands[operand].image.is_some());
    let tree = elements(PACKET_BYTES, problem.dtype());
    let permits = |neighbours: u64| match problem.order {
        SumOrder::Free => true,
        SumOrder::Exact(tree) => tree == neighbours || problem.sum.size == 1,
    };
    let modes = [(Mode::Columns, 1), (Mode::Tree, tree)];
    // The windows of a packet are columns of the result.
    let reads = |mode: Mode| !images[0] && (!images[1] || mode == Mode::Columns);
    let all = modes.into_iter().filter(|(mode, neighbours)| permits(*neighbours) && reads(*mode));
    let blocks = has_blocks(problem, 1 - stationary).then_some(Mode::Blocks);
    all.map(|(mode, _)| mode).chain(blocks).collect()
}

/// Returns true if packets may hold blocks of a streamed operand: elements of 8 bits, whose columns are innermost, and
/// which are summed in any order.
fn has_blocks(problem: &Contraction, streamed: usize) -> bool {
    let array = &problem.operands[streamed];
    let narrow = array.dtype.bits() == 8 && problem.prologues[streamed] == Prologue::default();
    let innermost = array.axes.last().is_some_and(|axis| problem.free[streamed].axes.contains(axis));
    let images = problem.operands.iter().any(|array| array.image.is_some());
    let one = problem.sum.axes.len() == 1;
    problem.order == SumOrder::Free && problem.dtype().bits() == 8 && narrow && innermost && one && !images
}

/// Powers of two up to `most`.
fn powers(most: u64) -> impl Iterator<Item = u64> + Clone {
    std::iter::successors(Some(1_u64), |power| power.checked_mul(2)).take_while(move |&power| power <= most)
}

/// Numbers of slices that divide `size` positions: powers of two, and of small contractions all divisors, whose parts
/// need no padding.
fn parts_of(problem: &Contraction, size: u64, most: u64) -> Vec<u64> {
    let mut all: Vec<u64> = powers(size.next_power_of_two().min(most)).collect();
    if problem.bytes() <= SMALL_BYTES && problem.operands.iter().all(|array| array.image.is_none()) {
        all.extend((3..=size.min(most)).filter(|part| size.is_multiple_of(*part) && !part.is_power_of_two()));
    }
    all
}

/// Returns true if `sum` groups of slices, and rings of `share` of them, may divide more positions than the sum has. A
/// slice has all of its positions, or holds zeros; each group has some of them. Zeros change the order of a sum.
fn pads(problem: &Contraction, mode: Mode, sum: u64, share: u64) -> bool {
    let (group, parts) = (&problem.sum, sum * share);
    let held = group.size.div_ceil(parts);
    let whole = group.axes.len() == 1 && group.size.is_multiple_of(held);
    let each = (sum - 1) * share * held < group.size;
    mode == Mode::Columns && whole && each && may_pad(problem)
}

/// Returns true if `sum` slices may divide more positions than the sum of a tree has, each in whole packets, and the
/// last one ends with zeros. Where the sum is innermost, these begin where a fill may: at a multiple of 4 bytes.
fn pads_packets(problem: &Contraction, mode: Mode, sum: u64) -> bool {
    let (group, packet) = (&problem.sum, elements(PACKET_BYTES, problem.dtype()));
    let held = group.size.div_ceil(sum).next_multiple_of(packet);
    let each = (sum - 1) * held < group.size && sum * held > group.size;
    let fills = |array: &Array| {
        let innermost = array.axes.last().is_some_and(|axis| group.axes.contains(axis));
        !innermost || (group.size * u64::from(array.dtype.bits())).is_multiple_of(u64::from(NUMBER_BITS))
    };
    let filled = problem.operands.iter().all(fills);
    sum > 1 && mode == Mode::Tree && group.axes.len() == 1 && each && filled && may_pad(problem)
}

/// Returns true if zeros may be added to a sum: in any order, of operands that no table and no zero point changes.
fn may_pad(problem: &Contraction) -> bool {
    let stays = |prologue: &Prologue| prologue.table.is_none() && prologue.zero_points.is_none();
    problem.order == SumOrder::Free && problem.prologues.iter().all(stays)
}

/// The slices of a ring.
#[derive(Clone, Copy)]
struct Ring {
    /// All.
    share: u64,
    /// Those that divide the sum.
    sum: u64,
    /// Those that divide the batch.
    batch: u64,
}

/// Rings of `share` slices: all divide the streamed axes, the sum, or the batch, if a slice has as many results of it
/// as `batches`. Of packets of columns some divide the sum, if `held` positions of the stream are fewer packets than
/// slices.
fn shares(share: u64, mode: Mode, held: u64, batches: u64) -> impl Iterator<Item = Ring> {
    let columns = powers(held / MOST_COLUMNS).last();
    let both = columns.filter(|columns| mode == Mode::Columns && *columns > 1 && *columns < share);
    let sum = (share > 1).then_some(share);
    let both = both.map(|columns| share / columns);
    let sums = [Some(1), sum, both].into_iter().flatten().map(move |sum| Ring { share, sum, batch: 1 });
    sums.chain((share > 1 && batches >= share).then_some(Ring { share, sum: 1, batch: share }))
}

/// The distributions over clusters and slices.
fn distributions(problem: &Contraction, stationary: usize, mode: Mode, machine: &Machine) -> Vec<Choice> {
    let slices = machine.topology.slices_per_cluster;
    let (rows, stream) = (problem.free[stationary].size, problem.free[1 - stationary].size);
    let free = problem.order == SumOrder::Free;
    let useful = |size: u64| size.next_power_of_two().min(slices);
    let mut all = Vec::new();
    let clusters = match machine.topology.clusters_per_chip {
        2 => vec![None, Some(Role::Batch), Some(Role::Rows), Some(Role::Stream)],
        _ => vec![None],
    };
    for cluster in clusters {
        let used = |role: Role, size: u64| cluster != Some(role) || size > 1;
        let used_by = |role: Role| if cluster == Some(role) { 2 } else { 1 };
        // Results are added within a cluster.
        if cluster == Some(Role::Batch) && problem.adds_batch() {
            continue;
        }
        if !used(Role::Batch, problem.batch.size) || !used(Role::Rows, rows) || !used(Role::Stream, stream) {
            continue;
        }
        for batch in powers(useful(problem.batch.size)) {
            for sum in powers(if free { useful(problem.sum.size) } else { 1 }) {
                if batch * sum > slices || sum > 1 && problem.adds_batch() {
                    continue;
                }
                for across in
                    parts_of(problem, stream.div_ceil(used_by(Role::Stream)), slices / (batch * sum))
                {
                    for down in
                        parts_of(problem, rows.div_ceil(used_by(Role::Rows)), slices / (batch * sum * across))
                    {
                        let even = across.is_power_of_two() && down.is_power_of_two();
                        let held = stream / (across * if cluster == Some(Role::Stream) { 2 } else { 1 });
                        let rings = powers(down).filter(|share| down.is_multiple_of(*share));
                        let batches = problem.batch.size / (batch * used_by(Role::Batch));
                        for ring in rings.flat_map(|share| shares(share, mode, held, batches)) {
                            let Ring { share, sum: share_sum, batch: share_batch } = ring;
                            // Other slices within the ring of a sum leave it a power of two.
                            if !even && sum > 1 && share > 1 {
                                continue;
                            }
                            let whole = sum * share_sum;
                            let padded = !problem.sum.size.is_multiple_of(whole);
                            let sums = share > 1 && share_sum == share;
                            let pads = || sums && share == down && pads(problem, mode, sum, share);
                            if !problem.divides_sum(whole) {
                                continue;
                            }
                            let trees = share_sum == 1 && pads_packets(problem, mode, sum);
                            let exact = (!padded || pads()).then_some(padded);
                            let padding = exact.into_iter().chain(trees.then_some(true));
                            let variants = padding.flat_map(|padded| {
                                let around = sum > 1 && share == 1 && across * down > 1 && !padded;
                                let ways = [even.then_some(false), around.then_some(true)];
                                let alone = (!even && sum == 1).then_some(false);
                                ways.into_iter().chain([alone]).flatten().map(move |inside| (padded, inside))
                            });
                            all.extend(variants.map(|(padded, sum_inside)| Choice {
                                stationary,
                                mode,
                                unit: Unit::Main,
                                cluster,
                                batch,
                                sum,
                                stream: across,
                                rows: down,
                                share,
                                share_sum,
                                share_batch,
                                sum_inside,
                                by_rows: false,
                                padded,
                                row_tiles: 1,
                                stream_tiles: 1,
                                row: ROWS,
                                promotion: Promotion::None,
                                transposed: false,
                                neighbours: false,
                                gather: Gather::None,
                                spread: false,
                                queues: false,
                            }));
                        }
                    }
                }
            }
        }
    }
    all
}

/// The ways to store the results of a plan, where the memory model tells them apart.
fn stores(
    problem: &Contraction,
    plan: Choice,
    innermost: Option<Role>,
    machine: &Machine,
    (model, visited): (MemoryModel, Visited),
) -> impl Iterator<Item = Choice> {
    let flat = model == MemoryModel::Flat;
    let all = machine.topology.slices_per_cluster;
    let unused = !flat && plan.slices() < all && all.is_multiple_of(plan.slices());
    let columns = problem.free[1 - plan.stationary].size;
    let results = problem.batch.size * problem.free[0].size * problem.free[1].size / plan.slices();
    let gathers: &[Gather] = match (plan.mode, innermost) {
        (Mode::Tree | Mode::Columns | Mode::Blocks, _) if flat || visited != Visited::All => &[Gather::None],
        (Mode::Tree, Some(Role::Rows)) if !plan.transposed => &[Gather::None, Gather::Rows, Gather::Promoted],
        // Packets of columns end with padding.
        (Mode::Columns, Some(Role::Stream)) if !columns.is_multiple_of(MOST_COLUMNS) => {
            &[Gather::None, Gather::Stream, Gather::Promoted, Gather::Own]
        }
        (Mode::Columns | Mode::Blocks, Some(Role::Stream)) => {
            &[Gather::None, Gather::Stream, Gather::Promoted]
        }
        (Mode::Tree, Some(Role::Stream)) if plan.transposed => {
            &[Gather::None, Gather::Stream, Gather::Promoted]
        }
        (Mode::Tree | Mode::Columns | Mode::Blocks, Some(Role::Batch)) => &[Gather::None, Gather::Own],
        // Few results: otherwise, plans with the other operand in the register file take no longer.
        (Mode::Columns, Some(Role::Rows)) if results <= MOST_ORDERED => &[Gather::None, Gather::Own],
        (Mode::Tree | Mode::Columns | Mode::Blocks, _) => &[Gather::None],
    };
    let of_group = match innermost {
        Some(Role::Rows) => [Promotion::Reuse, Promotion::Row],
        Some(Role::Stream | Role::Batch) | None => [Promotion::Stream; 2],
    };
    let kept = of_group.contains(&plan.promotion);
    let narrow = whole_groups(plan.row, problem.out.dtype) != plan.row && plan.mode == Mode::Tree;
    let possible = move |gather: &Gather| match gather {
        Gather::None | Gather::Own => true,
        Gather::Rows => plan.rows > 1 && plan.rows.is_power_of_two() && !kept && !narrow,
        Gather::Stream => plan.stream > 1 && plan.stream.is_power_of_two() && !kept,
        Gather::Promoted => kept && !narrow,
    };
    let all = gathers.iter().filter(move |gather| possible(gather)).copied();
    all.flat_map(move |gather| {
        // Collected rows are neighbours, which unused slices around rings would separate.
        // The slices that divide a padded sum are all next to each other.
        let collects = !matches!(gather, Gather::None | Gather::Own);
        let apart = gather == Gather::Rows && plan.share > 1
            || plan.padded && plan.sum > 1
            || plan.sum_inside && collects;
        let spreads = [false, true].into_iter().filter(move |&spread| !spread || unused && !apart);
        spreads.map(move |spread| Choice { gather, spread, ..plan })
    })
}

impl Space<'_> {
    /// The plans of a distribution: contexts, tiles, promotions, and the order of rows.
    fn refined(&self, base: Choice) -> Vec<Choice> {
        let (problem, axes, machine) = (self.problem, self.axes, self.machine);
        let innermost = problem.innermost(base.stationary, axes);
        let rows = problem.free[base.stationary].size;
        let plain = problem.epilogue.expression.is_none();
        let flat = self.model == MemoryModel::Flat;
        let mut all = Vec::new();
        let clusters = if base.cluster == Some(Role::Rows) { 2 } else { 1 };
        let row = rows.div_ceil(base.rows * clusters).next_power_of_two().min(ROWS);
        let promotions: &[Promotion] = if base.sum == 1 {
            &[Promotion::None]
        } else {
            &[Promotion::None, Promotion::Stream, Promotion::Reuse, Promotion::Row]
        };
        let [row_counts, stream_counts] =
            [base.stationary, 1 - base.stationary].map(|operand| self.loop_counts(operand));
        for &unit in self.vocabulary.contexts() {
            for &promotion in promotions {
                if promotion == Promotion::Row && (base.mode == Mode::Tree || row < base.sum) {
                    continue;
                }
                for transposed in [false, true] {
                    let exchanged = base.mode == Mode::Tree && innermost == Some(Role::Stream);
                    if transposed && (!exchanged || promotion == Promotion::Reuse) {
                        continue;
                    }
                    for neighbours in [false, true] {
                        // Rows that are innermost in the result stay together in a slice.
                        if neighbours && (innermost == Some(Role::Rows) || base.rows == 1) {
                            continue;
                        }
                        for &row_tiles in &row_counts {
                            for &stream_tiles in &stream_counts {
                                let tiled = row_tiles * stream_tiles > 1;
                                if tiled && !plain && base.sum > 1 {
                                    continue;
                                }
                                let plan = Choice {
                                    unit,
                                    promotion,
                                    transposed,
                                    neighbours,
                                    row_tiles,
                                    stream_tiles,
                                    row,
                                    ..base
                                };
                                let by_rows = !flat && stream_tiles == 1 && self.may_load_rows(&plan);
                                let ways = [Some(false), by_rows.then_some(true)].into_iter().flatten();
                                all.extend(ways.flat_map(|by_rows| {
                                    let plan = Choice { by_rows, ..plan };
                                    stores(problem, plan, innermost, machine, (self.model, self.visited))
                                }));
                            }
                        }
                    }
                }
            }
        }
        all
    }

    /// Returns true if the slices of a ring may load whole rows of the stream.
    fn may_load_rows(&self, plan: &Choice) -> bool {
        plan.share_sum > 1
            && Layout::new(self.problem, plan).is_some_and(|layout| layout.may_load_rows(self.problem, plan))
    }

    /// Numbers of iterations of a loop over the free axes of an operand: powers of two. In the models of requests, a
    /// loop over the innermost axis of the result has the first number from each of these to the next one whose tiles
    /// are whole units of HBM, if there is one.
    fn loop_counts(&self, operand: usize) -> Vec<u64> {
        let (group, out) = (&self.problem.free[operand], &self.problem.out);
        let unit = elements(HBM_UNIT, out.dtype);
        let is_row = out.axes.last().is_some() && out.axes.last() == group.axes.first();
        let of_units: Vec<u64> =
            if self.model != MemoryModel::Flat && is_row && group.slowest.is_multiple_of(unit) {
                tile_counts(group.slowest / unit, MOST_TILES).collect()
            } else {
                Vec::new()
            };
        let near = |power: u64| of_units.iter().copied().find(|count| (power..2 * power).contains(count));
        powers(self.tiles(operand)).map(|power| near(power).unwrap_or(power)).collect()
    }

    /// Most iterations of a loop over the free axes of an operand.
    fn tiles(&self, operand: usize) -> u64 {
        let bits = |dtype: DType, count: u64| count * u64::from(dtype.bits());
        let (problem, free) = (self.problem, self.problem.free[operand].size);
        if problem.operands[operand].image.is_some() || self.visited != Visited::All {
            return 1;
        }
        let loaded = bits(problem.dtype(), problem.batch.size * free * problem.sum.size);
        let stored = bits(problem.out.dtype, problem.batch.size * free * problem.free[1 - operand].size);
        let worth = (loaded + stored) / 8 / LEAST_TILE_BYTES;
        worth.next_power_of_two().min(MOST_TILES).min(free)
    }
}
