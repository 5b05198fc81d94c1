//! Opens every clause that may be chosen: the kernel then contains its semantics alone.

use std::collections::{BTreeMap, BTreeSet};
use visa_algebra::{Axes, AxisId, Expr, digits};
use visa_ir::context::AttrId;
use visa_ir::decl::ClauseDecl;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpId, OpRef, ValueId};
use visa_ir::open::{self, Opening};
use visa_mapping::facts::{DeclaredAxes, Support, machine, written};
use visa_mapping::ops::transfer::TO_DM;
use visa_mapping::tensor::attrs::MAP;
use visa_mapping::{DM, Dim, Tensor, operand, skewed_axes, view};
use visa_pass::{Configured, Pass, PassCx};
use visa_select::config::constraints::{names, reduced_within};
use visa_select::distribution::distributions::CLAUSES;
use visa_select::driver::in_pipelines;
use visa_stream::inter_slice::Reduction;
use visa_stream::ops::contract::{ACCUMULATE_DECL, CONTRACT_DECL};
use visa_stream::ops::store::TO_VRF;
use visa_stream::ops::{begin, commit, commit_packed, fetch, switch, vector_inter};
use visa_stream::pipeline;

visa_pass::options! {
    /// The options.
    struct Settings {
        addresses: bool = ("addresses", "true", "open the addresses of tensors in memories"),
        configurations: bool = ("configurations", "true", "open the configurations of pipelines, and the layouts of \
             register files and commits"),
        orders: bool = ("orders", "true", "open the engines' parts of transfers and their order"),
        distributions: bool = ("distributions", "true", "open the distribution of tensors over the slices of data \
             memory, and its order"),
    }
}

/// The pass.
pub static PASS: Pass = Pass {
    name: "open-clauses",
    summary: "replaces every clause that may be open by `auto`",
    doc: "The inverse of `select-configs` and `allocate`: the author's choices become `auto`, so that those of the \
          passes can be compared with them. Semantics that only those clauses express stay, or are made explicit: \
          `over` names the axes that a contraction sums or a reduction between slices reduces, and `slice` the \
          output of a switch in each slice. These stay unchanged: a contraction that sums a part of an axis, and \
          its fetch; the fetch of a stream whose flits are packed by counts or a filter; the slices after a \
          reduction between them, if anything but a transfer reads the result; the layout of a commit that leaves \
          elements out, starts within an axis, writes values that run along the stream, or is not read; the layout \
          of a register file that holds copies in lanes, or in which values run; every clause that names a skewed \
          axis, with the loads of its tensors; and a stream that ends nowhere. The distribution of a tensor stays \
          if a load moves a part of it, or elements one by one, if it is moved within data memory, if an unread \
          result is made of it, or if slices hold a part of an axis that is reduced in each.",
    statistics: &[
        ("opened", "clauses that became `auto`"),
        ("stated", "clauses that were added to preserve the semantics"),
    ],
    open: true,
    ..Pass::with::<Settings>()
};

impl Configured for Settings {
    fn run(self, cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
        let Settings { addresses, configurations, orders, distributions } = self;
        let (axes, support) = (cx.analysis::<DeclaredAxes>(), cx.analysis::<Support>());
        let axes = &axes.0;
        let (mut stated, mut kept) = (Vec::new(), Vec::new());
        let pipelines = in_pipelines(cx.ctx, cx.module);
        if configurations {
            for id in cx.module.walk_all() {
                let op = cx.module.op(cx.ctx, id);
                stated.extend(given_by_others(op, axes));
                kept.extend(meant(op, axes, &support));
            }
        }
        cx.count("stated", stated.len() as u64);
        stated.into_iter().for_each(|(id, name, value)| cx.module.set_clause(id, name, Some(value)));
        for id in cx.module.walk_all() {
            let op = cx.module.op(cx.ctx, id);
            let names = if is_turned(op, axes) { &CLAUSES[..] } else { &DISTRIBUTION[..] };
            let loads = decided_by_distribution(op, axes).into_iter();
            kept.extend(loads.flat_map(|load| names.iter().map(move |&name| (load, name))));
        }
        let mut holes = 0;
        let wanted = |op: OpRef<'_>, clause: &ClauseDecl| {
            let wanted = match clause.opening {
                Opening::Never => false,
                Opening::Address => addresses,
                Opening::Order => orders,
                Opening::Configuration if op.is(&TO_DM) => distributions,
                // The author chooses the pipelines that sub runs in parallel with it: only main and dual would be
                // chosen from.
                Opening::Configuration if op.is(&begin::DECL) => false,
                Opening::Configuration if pipeline::contains(op) && !pipelines.contains(&op.id) => false,
                Opening::Configuration => configurations,
            };
            wanted && !kept.contains(&(op.id, clause.name)) && !open::is_open(op, clause.name)
        };
        for id in cx.module.walk_all() {
            let op = cx.module.op(cx.ctx, id);
            let clauses = op.decl().map_or(&[][..], |decl| decl.clauses).iter();
            holes += clauses.filter(|clause| op.attr(clause.name).is_some() && wanted(op, clause)).count();
        }
        cx.count("opened", holes as u64);
        open::open_up(cx.ctx, cx.module, wanted).map_err(|refused| vec![refused])
    }
}

/// The semantics of clauses that become open, as clauses that stay.
fn given_by_others(op: OpRef<'_>, axes: &Axes) -> Option<(OpId, &'static str, AttrId)> {
    let map = |map: Expr| op.ctx.body_attr(&MAP, map);
    if op.is(&ACCUMULATE_DECL) {
        let contraction = op.operand_def(0).filter(|contraction| contraction.attr("over").is_none())?;
        let summed = summed(op, axes)?;
        let names = summed.into_iter().map(|axis| Expr::axis(axes.name(axis))).collect::<Vec<_>>();
        return (!names.is_empty()).then(|| (contraction.id, "over", map(Expr::pair(names))));
    }
    if op.is(&vector_inter::DECL) && op.attr("over").is_none() {
        let names =
            reduced(op, axes)?.into_iter().map(|axis| Expr::axis(axes.name(axis))).collect::<Vec<_>>();
        return Some((op.id, "over", map(Expr::pair(names))));
    }
    if op.is(&switch::DECL) && op.attr("slice").is_none() {
        let result = op.result_type::<Tensor>(0)?;
        return Some((op.id, "slice", map(result.dim(Dim::Slice))));
    }
    None
}

/// Returns true if the result of an operation is written in a skewed axis: the elements of each chip or slice.
fn is_turned(op: OpRef<'_>, axes: &Axes) -> bool {
    op.result_type::<Tensor>(0).is_some_and(|result| !skewed_axes(&result, axes).is_empty())
}

/// Clauses of an operation that define its semantics.
fn meant(op: OpRef<'_>, axes: &Axes, support: &Support) -> Vec<(OpId, &'static str)> {
    if is_turned(op, axes) {
        let clauses = op.decl().map_or(&[][..], |decl| decl.clauses).iter();
        let configurations = clauses.filter(|clause| clause.opening == Opening::Configuration);
        return configurations.map(|clause| (op.id, clause.name)).collect();
    }
    if op.is(&switch::DECL) && drops(op, axes) {
        return vec![(op.id, "slice"), (op.id, "time")];
    }
    if op.is(&switch::DECL) || op.is(&vector_inter::DECL) && reduced(op, axes).is_none() {
        return vec![(op.id, "slice")];
    }
    if op.is(&TO_DM) && (loads_a_part(op, axes) || is_moved_within(op)) {
        return CLAUSES.map(|name| (op.id, name)).into();
    }
    if op.is(&TO_VRF) && (copies_in_lanes(op, axes, support) || runs_in_copies(op, axes, support)) {
        return vec![(op.id, "element")];
    }
    if op.is(&fetch::DECL) && decides(op, axes) {
        return vec![(op.id, "time"), (op.id, "packet")];
    }
    if op.is(&commit::DECL) {
        let whole = operand(op, 0).zip(op.result_type::<Tensor>(0)).is_some_and(|(stream, tensor)| {
            let streamed = reaches(&stream, &[Dim::Time, Dim::Packet], axes);
            let starts =
                digits(&tensor.dim(Dim::Element), axes).is_ok_and(|digits| digits.offset().is_empty());
            starts && streamed.is_some() && streamed == reaches(&tensor, &[Dim::Element], axes)
        });
        let free = whole && !runs(op) && !is_unread(op);
        return if free { Vec::new() } else { vec![(op.id, "element")] };
    }
    let sums = [
        (op.is(&CONTRACT_DECL), "packet"),
        (op.is(&ACCUMULATE_DECL), "time"),
        (op.is(&ACCUMULATE_DECL), "packet"),
    ];
    let mut own = sums.into_iter().filter(|(is, _)| *is).peekable();
    if own.peek().is_none() {
        return Vec::new();
    }
    let accumulation = if op.is(&ACCUMULATE_DECL) { Some(op) } else { accumulated(op) };
    if accumulation.and_then(|op| summed(op, axes)).is_some() {
        return Vec::new();
    }
    own.map(|(_, name)| (op.id, name)).collect()
}

/// The distribution of a tensor over slices; each may hold it in another order.
const DISTRIBUTION: [&str; 2] = ["cluster", "slice"];

/// The loads whose distribution an operation's result depends on: nothing reads it, it is written in a skewed axis, or
/// slices hold a part of the axis that it reduces in each.
fn decided_by_distribution(op: OpRef<'_>, axes: &Axes) -> BTreeSet<OpId> {
    let ends = pipeline::contains(op) && is_unread(op);
    if !ends && !reduces_a_part(op, axes) && !is_turned(op, axes) {
        return BTreeSet::new();
    }
    let (mut seen, mut values) = (BTreeSet::new(), op.operands().to_vec());
    while let Some(value) = values.pop() {
        let made = op.module.def_op(value).map(|id| op.other(id));
        if let Some(made) = made.filter(|made| seen.insert(made.id) && !made.is(&TO_DM)) {
            values.extend(made.operands());
        }
    }
    seen.retain(|&id| op.other(id).is(&TO_DM));
    seen
}

/// Returns true if the result of an operation is not read.
fn is_unread(op: OpRef<'_>) -> bool {
    !op.results().is_empty() && op.results().iter().all(|&result| op.module.uses(result).is_empty())
}

/// Returns true if slices hold a part of an axis that a reduction within them reduces.
fn reduces_a_part(op: OpRef<'_>, axes: &Axes) -> bool {
    let Some(result) = op.result_type::<Tensor>(0) else { return false };
    let held = [Dim::Chip, Dim::Cluster, Dim::Slice].map(|dim| result.dim(dim));
    reduced_within(&[op], axes).iter().any(|axis| held.iter().any(|map| names(map, axes).contains(axis)))
}

/// Returns true if a load moves a part of its tensor, or elements that it names one by one.
fn loads_a_part(load: OpRef<'_>, axes: &Axes) -> bool {
    let (source, result) = (operand(load, 0), load.result_type::<Tensor>(0));
    let held = |tensor: Option<std::rc::Rc<Tensor>>, dims: &[Dim]| reaches(&*tensor?, dims, axes);
    let there = held(source, &[Dim::Cluster, Dim::Slice, Dim::Pe, Dim::Element]);
    let here = held(result, &[Dim::Cluster, Dim::Slice, Dim::Element]);
    let (Some(there), Some(here)) = (there, here) else { return true };
    there.iter().any(|(axis, reach)| here.get(axis) != Some(reach))
}

/// Returns true if a load moves a tensor from data memory to data memory, or makes one that is moved so: two
/// distributions, of which each would follow from the other.
fn is_moved_within(load: OpRef<'_>) -> bool {
    let from_dm = operand(load, 0).is_some_and(|source| source.is(&DM));
    from_dm || load.results().iter().any(|&result| is_loaded(load, result))
}

/// Returns true if a load reads a tensor, through views.
fn is_loaded(op: OpRef<'_>, tensor: ValueId) -> bool {
    op.module.uses(tensor).iter().map(|&id| op.other(id)).any(|user| {
        let viewed = view::kind(user).is_some() && user.results().iter().any(|&view| is_loaded(user, view));
        user.is(&TO_DM) || viewed
    })
}

/// Returns true if a switch leaves out some of the elements of slices and stream.
fn drops(switch: OpRef<'_>, axes: &Axes) -> bool {
    let (source, result) = (operand(switch, 0), switch.result_type::<Tensor>(0));
    let held =
        |tensor: Option<std::rc::Rc<Tensor>>| reaches(&*tensor?, &[Dim::Slice, Dim::Time, Dim::Packet], axes);
    let (Some(before), Some(after)) = (held(source), held(result)) else { return true };
    before.iter().any(|(axis, reach)| after.get(axis).is_some_and(|kept| kept < reach))
}

/// Returns true if values of the stream run along it, so that the content of a slice decides their range.
fn runs(commit: OpRef<'_>) -> bool {
    let mut op = Some(commit);
    while let Some(own) = op {
        if own.attr("write_back").is_some() {
            return true;
        }
        op = own.operand_def(0);
    }
    false
}

/// Returns true if a register file holds an element several times side by side, once for each lane that reads it: the
/// lanes that share an element follow from the order of the stream that meets it, and from no other clause.
fn copies_in_lanes(load: OpRef<'_>, axes: &Axes, support: &Support) -> bool {
    let (Some(file), Some(&stream)) = (load.result_type::<Tensor>(0), load.operands().first()) else {
        return false;
    };
    let lanes = file.dtype.elements(machine(load).limits.flit_bytes);
    let Ok(element) = digits(&file.dim(Dim::Element), axes) else { return false };
    let mut below = 1_u64;
    let within = element.iter().take_while(|digit| {
        let is_lane = below < lanes;
        below = below.saturating_mul(digit.extent);
        is_lane
    });
    within.filter_map(|digit| digit.axis).any(|axis| !support.depends(stream, axes.name(axis)))
}

/// Returns true if values run in a register file that holds copies: each copy runs by itself. So the range of the sums
/// follows from the copies.
fn runs_in_copies(load: OpRef<'_>, axes: &Axes, support: &Support) -> bool {
    let written_back = |&file: &ValueId| {
        let users = load.module.uses(file).iter().map(|&user| load.other(user));
        users.into_iter().any(|user| user.attr("write_back").is_some())
    };
    let (Some(element), Some(&stream)) = (written(load, "element"), load.operands().first()) else {
        return false;
    };
    let copies = element.axis_names(axes).iter().any(|name| !support.depends(stream, name));
    copies && load.results().iter().any(written_back)
}

/// The axes that a reduction between slices reduces, each whole, if the slices after it do not matter to the readers
/// of the result.
fn reduced(op: OpRef<'_>, axes: &Axes) -> Option<Vec<AxisId>> {
    let result = op.result_type::<Tensor>(0)?;
    let kept = [Dim::Slice, Dim::Time, Dim::Packet].map(|dim| result.dim(dim).axis_names(axes)).concat();
    let source = operand(op, 0)?;
    let reduction = Reduction { op, source: &source, result: &result, free: &|_| false, axes };
    let gone: Vec<AxisId> = reduction.axes().ok()?.into_iter().collect();
    let whole = gone.iter().all(|&axis| kept.iter().all(|name| **name != *axes.name(axis)));
    let rest = digits(&result.dim(Dim::Slice), axes).ok()?;
    let copies = rest.iter().any(|digit| digit.axis.is_none() && digit.live > 1);
    (whole && !copies && only_moved(op)).then_some(gone)
}

/// Returns true if all users of a stream end in a tensor that transfers read.
fn only_moved(op: OpRef<'_>) -> bool {
    let users = op.results().iter().flat_map(|&result| op.module.uses(result)).map(|&user| op.other(user));
    users.into_iter().all(|user| match pipeline::contains(user) {
        false => view::kind(user).is_none(),
        true => user.operands().len() == 1 && !pipeline::begins(user) && only_moved(user),
    })
}

/// Returns true if the summed or kept elements depend on the fetch of a stream: a part of an axis is summed, or flits
/// are packed by counts.
fn decides(fetch: OpRef<'_>, axes: &Axes) -> bool {
    let mut op = fetch;
    loop {
        let Some(&stream) = op.results().first() else { return false };
        let users = op.module.uses(stream).iter().map(|&user| op.other(user));
        let Some(next) = users.into_iter().find(|user| user.operands().first() == Some(&stream)) else {
            return false;
        };
        if next.is(&commit_packed::DECL) {
            return true;
        }
        if next.is(&ACCUMULATE_DECL) {
            return summed(next, axes).is_none_or(|summed| leaves_out(fetch, &summed, axes));
        }
        op = next;
    }
}

/// Returns true if a fetch reads only a part of its tensor along some axes.
fn leaves_out(fetch: OpRef<'_>, of: &[AxisId], axes: &Axes) -> bool {
    let held = operand(fetch, 0).and_then(|held| reaches(&held, &[Dim::Packet], axes));
    let stream =
        fetch.result_type::<Tensor>(0).and_then(|stream| reaches(&stream, &[Dim::Time, Dim::Packet], axes));
    let (Some(held), Some(stream)) = (held, stream) else { return true };
    of.iter().any(|axis| stream.get(axis).is_some_and(|read| held.get(axis) != Some(read)))
}

/// The accumulation after a contraction.
fn accumulated(contraction: OpRef<'_>) -> Option<OpRef<'_>> {
    let &result = contraction.results().first()?;
    let users = contraction.module.uses(result).iter().map(|&user| contraction.other(user));
    users.into_iter().find(|user| user.is(&ACCUMULATE_DECL))
}

/// The axes that a contraction and its accumulation sum, each whole; `None` if they sum a part of one.
fn summed(accumulation: OpRef<'_>, axes: &Axes) -> Option<Vec<AxisId>> {
    let pair = operand(accumulation.operand_def(0)?, 0)?;
    let result = accumulation.result_type::<Tensor>(0)?;
    let dims = [Dim::Row, Dim::Time, Dim::Packet];
    let (before, after) = (reaches(&pair, &dims, axes)?, reaches(&result, &dims, axes)?);
    let whole = |(axis, reach): (&AxisId, &u64)| after.get(axis).is_none_or(|kept| kept == reach);
    let gone = before.keys().filter(|axis| !after.contains_key(axis)).copied();
    before.iter().all(whole).then(|| gone.collect())
}

/// Number of coordinates of each axis that a tensor holds in some dimensions, counted from the first; `None` if one
/// has no digits.
fn reaches(tensor: &Tensor, dims: &[Dim], axes: &Axes) -> Option<BTreeMap<AxisId, u64>> {
    let mut last: BTreeMap<AxisId, u64> = BTreeMap::new();
    for &dim in dims {
        for digit in digits(&tensor.dim(dim), axes).ok()?.iter() {
            if let Some(axis) = digit.axis {
                let reach = last.entry(axis).or_default();
                *reach = reach.saturating_add((digit.live - 1).saturating_mul(digit.stride));
            }
        }
    }
    Some(last.into_iter().map(|(axis, reach)| (axis, axes.size(axis).min(reach + 1))).collect())
}
