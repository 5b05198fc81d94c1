//! The decisions of a plan as remarks: distribution, reuse, the bound, and the next best plan.

use crate::contraction::emit::Planned;
use crate::contraction::layout::Layout;
use crate::contraction::{Choice, Contraction, Gather, Mode, Promotion, Role};
use crate::cut::Group;
use crate::effort::Ending;
use crate::program::Work;
use crate::region::planned::PlannedRegion;
use crate::region::{Region, RegionChoice};
use crate::residency;
use crate::search::{Candidate, Outcome, Plan, Search};
use visa_algebra::Axes;
use visa_cost::TimeUnit;
use visa_ir::diag::{Diagnostic, Severity, counted};
use visa_ir::span::Span;
use visa_machine::Unit;

/// The remark of a step: its place in the program, its cycles and their bound, its decisions, the extent of the
/// search, the next best plan.
#[must_use]
pub fn remark(
    search: &Search<'_>,
    work: &Work,
    outcome: &Outcome,
    (place, span): (Option<String>, Span),
) -> Option<Diagnostic> {
    let best = outcome.lowered.first()?;
    let unit = TimeUnit::of(search.machine).name();
    let message = format!("{}{}", counted(best.cycles, unit), bound(best));
    let remark = Diagnostic { severity: Severity::Remark, ..Diagnostic::error("plan-kernel", span, message) };
    let decisions = place.into_iter().chain(lines(work, &best.plan, search.axes));
    let all = decisions.into_iter().chain(places(search, work, best)).chain(best.binding.clone());
    let remark = all.fold(remark, |remark, line| remark.note(line, None));
    let (explored, pruned) = (counted(outcome.counted.explored, "plan"), outcome.counted.pruned);
    let pruned = if pruned == 0 {
        String::new()
    } else {
        format!("{} left out by their bound, ", counted(pruned, "distribution"))
    };
    let lowered = outcome.lowered.len();
    let remark =
        remark.note(format!("{pruned}{explored} ranked by counts, {lowered} lowered and priced"), None);
    let remark = match accuracy(&outcome.lowered).filter(|_| search.effort.is_every()) {
        Some(accuracy) => remark.note(accuracy, None),
        None => remark,
    };
    let remark = match search.effort.sample() {
        Some(_) => remark.note(ranks(&outcome.lowered), None),
        None => remark,
    };
    let remark = remark.note(ending(outcome.ending), None);
    let Some(next) = outcome.lowered.iter().find(|next| next.cycles > best.cycles) else {
        return Some(remark);
    };
    Some(remark.note(runner_up((work, search.axes), best, next, unit), None))
}

/// The rank and the cycles of each plan, with a `~` in front if the plan has loops.
fn ranks(lowered: &[Candidate]) -> String {
    let plan = |candidate: &Candidate| {
        let loops = if candidate.plan.has_loops() { "~" } else { "" };
        format!("{loops}{}:{}", candidate.ranked, candidate.cycles)
    };
    format!("ranks and cycles: {}", lowered.iter().map(plan).collect::<Vec<_>>().join(" "))
}

/// The distance of the ranks of plans from their cycles; `None` if there are no plans.
fn accuracy(lowered: &[Candidate]) -> Option<String> {
    let permille = |plan: &Candidate| plan.ranked.abs_diff(plan.cycles) * 1000 / plan.cycles.max(1);
    let mut distances: Vec<u64> = lowered.iter().map(permille).collect();
    distances.sort_unstable();
    let last = distances.len().checked_sub(1)?;
    let at = |tenths: usize| distances[last * tenths / 10];
    let percent = |permille: u64| format!("{}.{} %", permille / 10, permille % 10);
    let exact = distances.iter().filter(|distance| **distance == 0).count();
    Some(format!(
        "ranks differ from cycles by at most {} in half of the plans and {} in nine tenths; {exact} by less than \
         0.1 %",
        percent(at(5)),
        percent(at(9))
    ))
}

/// The runner-up: its decisions that differ, and the component of its report that is greater.
fn runner_up((work, axes): (&Work, &Axes), best: &Candidate, next: &Candidate, unit: &str) -> String {
    let before = lines(work, &best.plan, axes);
    let differences: Vec<String> =
        lines(work, &next.plan, axes).into_iter().filter(|line| !before.contains(line)).collect();
    let differences = if differences.is_empty() {
        "its decisions above are the same".to_owned()
    } else {
        differences.join("; ")
    };
    let lost = match best.components.greatest_growth(&next.components) {
        Some(("overlap", cycles)) => format!("; it lost because {cycles} {unit}s less run in parallel"),
        Some((part, cycles)) => format!("; it lost because its {part} take {cycles} {unit}s more"),
        None => String::new(),
    };
    format!("the next best plan takes {}: {differences}{lost}", counted(next.cycles, unit))
}

/// The places of the values of a plan, and their reuse.
fn places(search: &Search<'_>, work: &Work, best: &Candidate) -> Vec<String> {
    let (axes, machine, ways) = (search.axes, search.machine, &best.ways);
    match (work, &best.plan) {
        (Work::Contraction(problem), Plan::Contraction(plan)) => {
            let (choice, layout) = &**plan;
            residency::of_contraction(&Planned { problem, choice, layout, axes, machine }, ways)
        }
        (Work::Region(region), Plan::Region(choice)) => PlannedRegion::new(region, choice, axes, machine)
            .map_or_else(Vec::new, |planned| residency::of_region(&planned, ways)),
        (Work::Single(_), Plan::Contraction(_) | Plan::Region(_) | Plan::Single)
        | (Work::Contraction(_), Plan::Region(_) | Plan::Single)
        | (Work::Region(_), Plan::Contraction(_) | Plan::Single) => Vec::new(),
    }
}

/// The reason why a search ended.
fn ending(ending: Ending) -> &'static str {
    match ending {
        Ending::Complete => {
            "the search is complete: all plans that rank within a twentieth of the best one were priced"
        }
        Ending::Nodes => "the search ended at its limit of plans: others rank near the best one",
        Ending::Time => "the time limit ended the search: another machine may find another plan",
    }
}

/// The distance from the bound of the report.
fn bound(best: &Candidate) -> String {
    let Some(part) = best.bound.parts.first() else { return String::new() };
    format!(", {:.2} times the bound of {} by {}", best.bound.times, best.bound.cycles, part.of)
}

/// The decisions of a plan.
fn lines(work: &Work, plan: &Plan, axes: &Axes) -> Vec<String> {
    match (work, plan) {
        (Work::Contraction(problem), Plan::Contraction(plan)) => contraction(problem, &plan.0, &plan.1),
        (Work::Region(region), Plan::Region(choice)) => division(region, choice, axes),
        (Work::Single(single), Plan::Single) => vec![single.explain()],
        (Work::Single(_), Plan::Contraction(_) | Plan::Region(_))
        | (Work::Contraction(_), Plan::Region(_) | Plan::Single)
        | (Work::Region(_), Plan::Contraction(_) | Plan::Single) => Vec::new(),
    }
}

/// The axes of a group, for messages.
fn axes(group: &Group) -> String {
    format!("`{}`", group.text())
}

fn contraction(problem: &Contraction, choice: &Choice, layout: &Layout) -> Vec<String> {
    let name = |operand: usize| format!("`%{}`", problem.operands[operand].name);
    let (held, streamed) = (name(choice.stationary), name(1 - choice.stationary));
    let (rows, columns) = (axes(layout.rows.group()), axes(layout.stream.group()));
    let sum = axes(layout.sum.group());
    let unit = if choice.unit == Unit::Dual { "the dual context" } else { "main" };
    let mut all = vec![format!(
        "{held} is in the register file, {} of it; {streamed} streams past it in {unit}",
        counted(choice.row, "row")
    )];
    all.push(match choice.mode {
        Mode::Columns => format!("packets hold {columns}: products are summed over {sum} in time"),
        Mode::Tree => format!("packets hold {sum}: the tree sums their products"),
        Mode::Blocks => format!("packets hold {columns} and {sum}: the tree sums 8 products for each column"),
    });
    let parts = [
        (choice.batch, axes(layout.batch.group())),
        (choice.sum, sum),
        (choice.stream, columns),
        (choice.rows, rows),
    ];
    let divided =
        parts.iter().filter(|(count, _)| *count > 1).map(|(count, axes)| format!("{axes} over {count}"));
    let divided: Vec<String> = divided.collect();
    let clusters = match choice.cluster {
        None => "one cluster works".to_owned(),
        Some(Role::Batch) => format!("clusters divide {}", parts[0].1),
        Some(Role::Rows) => format!("clusters divide {}", parts[3].1),
        Some(Role::Stream) => format!("clusters divide {}", parts[2].1),
    };
    all.push(format!(
        "{clusters}; slices divide {}",
        if divided.is_empty() { "nothing".to_owned() } else { divided.join(", ") }
    ));
    if choice.share > 1 {
        all.push(format!(
            "rings of {} slices load {streamed} once and exchange it by the switch",
            choice.share
        ));
    }
    if choice.padded {
        let (sum, padded, size) = (axes(layout.sum.group()), layout.sum.padded(), layout.sum.size());
        all.push(format!("slices divide {padded} positions of {sum}: those beyond {size} are zeros"));
    }
    if choice.sum > 1 {
        let freed = match choice.promotion {
            Promotion::None => "the first slice of each group keeps the sums",
            Promotion::Stream => "the slices of a group divide the columns of the sums",
            Promotion::Reuse | Promotion::Row => "the slices of a group divide the rows of the sums",
        };
        let neighbours = if choice.sum_inside { "neighbouring " } else { "" };
        all.push(format!("sums are added between {} {neighbours}slices; {freed}", choice.sum));
    }
    if let Some(axis) = &problem.epilogue.added {
        all.push(format!("results along `[{axis}]` are added in data memory"));
    }
    if choice.transposed {
        all.push("the Transpose Engine exchanges rows and columns before the commit".to_owned());
    }
    match choice.gather {
        Gather::None => {}
        Gather::Own => all.push("each slice orders its results before the store: longer runs".to_owned()),
        Gather::Rows | Gather::Stream | Gather::Promoted => all.push(format!(
            "a slice collects the results of {} before the store: longer runs",
            Layout::gathered(choice).0
        )),
    }
    if choice.neighbours {
        all.push("neighbouring rows are in neighbouring slices".to_owned());
    }
    if choice.spread {
        all.push(
            "unused slices are between the used ones, so that all networks of data memory work".to_owned(),
        );
    }
    let (row_tiles, stream_tiles) = (layout.rows.tiles(), layout.stream.tiles());
    if choice.queues {
        all.push(if row_tiles * stream_tiles == 1 {
            format!(
                "{streamed} is loaded by the DMA engines of cluster 1, in parallel with {held} by those of 0"
            )
        } else {
            "the DMA engines of cluster 0 load, in parallel with stores by those of cluster 1".to_owned()
        });
    }
    if row_tiles * stream_tiles > 1 {
        all.push(format!(
            "loops over {row_tiles} x {stream_tiles} tiles: loads run in parallel with the pipelines"
        ));
    }
    all
}

fn division(region: &Region, choice: &RegionChoice, declared: &Axes) -> Vec<String> {
    let blocks = region.blocks(choice.blocks, declared);
    let rows = axes(&region.divided(choice.rows, &blocks, declared));
    let mut all = match (choice.clusters * choice.slices, choice.sum) {
        (1, None) => vec!["one slice works".to_owned()],
        (1, Some(_)) => Vec::new(),
        (_, _) => vec![format!("{} x {} slices divide {rows}", choice.clusters, choice.slices)],
    };
    if choice.multiple > 1 {
        all.push(format!("each slice has a multiple of {} rows: the last ones are padding", choice.multiple));
    }
    let sums = region.divided_sums();
    if let Some((sum, axis)) = choice.sum.and_then(|sum| Some((sum, sums.get(sum.axis)?))) {
        let order = if sum.neighbours { ", neighbouring positions in neighbouring slices" } else { "" };
        let slices = counted(sum.slices, "slice");
        all.push(format!("{slices} divide `[{axis}]`, and are reduced to one{order}"));
        if sum.multiple > 1 {
            let multiple = sum.multiple;
            all.push(format!("each has a multiple of {multiple} positions: the last one ends with padding"));
        }
    }
    if choice.neighbours {
        all.push("neighbouring rows are in neighbouring slices".to_owned());
    }
    if choice.spread {
        all.push(
            "unused slices are between the used ones, so that all networks of data memory work".to_owned(),
        );
    }
    if choice.queues {
        all.push("the DMA engines of two clusters divide the transfers".to_owned());
    }
    if choice.tiles > 1 {
        all.push(format!("a loop over {} tiles: loads run in parallel with the pipelines", choice.tiles));
    }
    all
}
