//! All plans of a contraction: every distribution of its axes over clusters, slices and rows, with the loops, rings
//! and sums between slices that it permits.

use crate::array::whole_groups;
use crate::contraction::layout::{Layout, PACKET_BYTES};
use crate::contraction::{Choice, Contraction, Gather, Mode, Promotion, Role, SumOrder};
use visa_algebra::Axes;
use visa_machine::{Machine, Unit};

/// Most iterations of a loop over tiles.
const MOST_TILES: u64 = 64;
/// Rows of the register file (book 18).
const ROWS: u64 = 8;

/// Calls `visit` for each plan whose cuts exist.
pub fn each(problem: &Contraction, axes: &Axes, machine: &Machine, visit: &mut dyn FnMut(Choice, Layout)) {
    for stationary in [0, 1] {
        for mode in modes(problem) {
            for choice in distributions(problem, stationary, mode, machine) {
                for choice in refined(problem, choice, axes, machine) {
                    if let Some(layout) = Layout::new(problem, &choice) {
                        visit(choice, layout);
                    }
                }
            }
        }
    }
}

/// The packets that the order of the sum permits.
fn modes(problem: &Contraction) -> Vec<Mode> {
    let tree = crate::contraction::layout::elements(PACKET_BYTES, problem.dtype());
    let permits = |neighbours: u64| match problem.order {
        SumOrder::Free => true,
        SumOrder::Exact(tree) => tree == neighbours || problem.sum.size == 1,
    };
    let modes = [(Mode::Columns, 1), (Mode::Tree, tree)];
    modes.into_iter().filter(|(_, neighbours)| permits(*neighbours)).map(|(mode, _)| mode).collect()
}

/// Powers of two up to `most`.
fn powers(most: u64) -> impl Iterator<Item = u64> + Clone {
    std::iter::successors(Some(1_u64), |power| power.checked_mul(2)).take_while(move |&power| power <= most)
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
        if !used(Role::Batch, problem.batch.size) || !used(Role::Rows, rows) || !used(Role::Stream, stream) {
            continue;
        }
        for batch in powers(useful(problem.batch.size)) {
            for sum in powers(if free { useful(problem.sum.size) } else { 1 }) {
                if !problem.sum.size.is_multiple_of(sum) || batch * sum > slices {
                    continue;
                }
                for across in powers(useful(stream).min(slices / (batch * sum))) {
                    for down in powers(useful(rows).min(slices / (batch * sum * across))) {
                        let shares = powers(down).flat_map(|share| [(share, false), (share, true)]);
                        for (share, share_sum) in shares {
                            let whole = problem.sum.size.is_multiple_of(sum * share);
                            if share_sum && (share == 1 || !whole) {
                                continue;
                            }
                            all.push(Choice {
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
                                row_tiles: 1,
                                stream_tiles: 1,
                                row: ROWS,
                                promotion: Promotion::None,
                                transposed: false,
                                neighbours: false,
                                gather: Gather::None,
                                spread: false,
                            });
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
) -> impl Iterator<Item = Choice> {
    let unused = plan.slices() < machine.topology.slices_per_cluster && plan.share == 1;
    let gathers: &[Gather] = match (plan.mode, innermost) {
        (Mode::Tree, Some(Role::Rows)) if !plan.transposed => &[Gather::None, Gather::Rows, Gather::Promoted],
        (Mode::Columns, Some(Role::Stream)) => &[Gather::None, Gather::Stream, Gather::Promoted],
        (Mode::Tree, Some(Role::Stream)) if plan.transposed => {
            &[Gather::None, Gather::Stream, Gather::Promoted]
        }
        (Mode::Tree | Mode::Columns, _) => &[Gather::None],
    };
    let of_group = match innermost {
        Some(Role::Rows) => [Promotion::Reuse, Promotion::Row],
        Some(Role::Stream | Role::Batch) | None => [Promotion::Stream; 2],
    };
    let kept = of_group.contains(&plan.promotion);
    let narrow = whole_groups(plan.row, problem.out.dtype) != plan.row && plan.mode == Mode::Tree;
    let possible = move |gather: &Gather| match gather {
        Gather::None => true,
        Gather::Rows => plan.rows > 1 && !kept && !narrow,
        Gather::Stream => plan.stream > 1 && !kept,
        Gather::Promoted => kept && !narrow,
    };
    let all = gathers.iter().filter(move |gather| possible(gather)).copied();
    all.flat_map(move |gather| {
        let spreads = [false, true].into_iter().filter(move |&spread| !spread || unused);
        spreads.map(move |spread| Choice { gather, spread, ..plan })
    })
}

/// The plans of a distribution: contexts, tiles, promotions, and the order of rows.
fn refined(problem: &Contraction, base: Choice, axes: &Axes, machine: &Machine) -> Vec<Choice> {
    let innermost = problem.innermost(base.stationary, axes);
    let rows = problem.free[base.stationary].size;
    let plain = problem.epilogue.expression.is_none();
    let mut all = Vec::new();
    let clusters = if base.cluster == Some(Role::Rows) { 2 } else { 1 };
    let row = rows.div_ceil(base.rows * clusters).next_power_of_two().min(ROWS);
    let promotions: &[Promotion] = if base.sum == 1 {
        &[Promotion::None]
    } else {
        &[Promotion::None, Promotion::Stream, Promotion::Reuse, Promotion::Row]
    };
    for unit in [Unit::Main, Unit::Dual] {
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
                    for row_tiles in powers(MOST_TILES.min(rows)) {
                        for stream_tiles in powers(MOST_TILES) {
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
                            all.extend(stores(problem, plan, innermost, machine));
                        }
                    }
                }
            }
        }
    }
    all
}
