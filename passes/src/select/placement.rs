//! Where the tensors of a kernel lie in data memory, if that is open: the axes of the result are spread over clusters and slices in every
//! way that uses the most of them, each slice holds what is left in the order of HBM, and the report's cost of the whole kernel decides.

use super::clock::{Clock, Phase};
use super::digit_lists::mapping;
use super::driver::Driver;
use super::ruleset::RuleSet;
use super::scratch::close_addresses;
use crate::pass_list::{lower_to_hw, lower_to_seq};
use crate::{Options, PassCx};
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::infer::infer_all;
use visa_ir::module::{Module, OpId, OpRef};
use visa_ir::open::is_open;
use visa_ir::verify::Analysis;
use visa_mapping::attrs::MAP;
use visa_mapping::facts::{DeclaredAxes, machine};
use visa_mapping::ops::func::FUNC;
use visa_mapping::{Axes, AxisId, Digit, Dim, Expr, PadKind, digits, operand};

const CLAUSES: [&str; 3] = ["cluster", "slice", "element"];

/// Most axes of a result that are spread.
const MOST_AXES: usize = 3;

/// Chooses the places of a function's tensors; how many were tried, or `None` if none is open.
///
/// # Errors
/// That none lets the kernel be chosen.
pub fn place(
    ctx: &Context,
    module: &mut Module,
    function: OpId,
    rules: &RuleSet,
) -> Result<Option<usize>, Diagnostic> {
    let op = module.op(ctx, function);
    let loads = if op.is(&FUNC) { open_loads(op) } else { Vec::new() };
    let Some(&first) = loads.first() else { return Ok(None) };
    let axes = DeclaredAxes::build(ctx, module).0;
    let (mut best, mut refused): (Option<(u64, Module)>, Option<Diagnostic>) = (None, None);
    let (mut tried, mut most) = (0, 0);
    for Place { slices, cluster, slice } in candidates(op, &axes)? {
        // Fewer slices are only tried where more of them do not do.
        if best.is_some() && slices < most {
            break;
        }
        (tried, most) = (tried + 1, slices);
        let mut placed = module.clone();
        let cycles = write(ctx, &mut placed, &loads, (&cluster, &slice), &axes)
            .and_then(|()| price(ctx, &placed, function, rules));
        match cycles {
            Ok(cycles) if best.as_ref().is_none_or(|(least, _)| cycles < *least) => {
                best = Some((cycles, placed))
            }
            Ok(_) => {}
            Err(error) => refused = Some(error),
        }
    }
    let Some((_, placed)) = best else {
        let op = module.op(ctx, first);
        let message =
            format!("no place of the tensors in slices lets this kernel be chosen; {tried} were tried");
        let error = Diagnostic::error("select-configs", op.span(), message);
        return Err(match refused {
            Some(last) => error.note(format!("the last one: {}", last.message), Some(last.span)),
            None => error,
        });
    };
    *module = placed;
    Ok(Some(tried))
}

/// Loads of data memory with an open layout.
fn open_loads(function: OpRef<'_>) -> Vec<OpId> {
    let block = function.regions().first();
    let ops = block.into_iter().flat_map(|&block| function.module.ops(block).iter().copied());
    let open = |id: &OpId| {
        let op = function.other(*id);
        op.name() == "tm.to_dm" && CLAUSES.iter().any(|clause| is_open(op, clause))
    };
    ops.filter(open).collect()
}

/// The axes of the tensors that the kernel gives, outermost first; `None` if it gives none.
fn kept(function: OpRef<'_>, axes: &Axes) -> Option<Vec<AxisId>> {
    let block = function.regions().first();
    let ops = block.into_iter().flat_map(|&block| function.module.ops(block).iter().copied());
    let mut results = ops.map(|id| function.other(id)).filter(|op| op.name() == "tm.to_hbm").peekable();
    results.peek()?;
    let mut kept: Vec<AxisId> = Vec::new();
    for result in results {
        let layout = result.body::<Expr>("element").and_then(|layout| digits(&layout, axes).ok());
        let own = layout
            .iter()
            .flat_map(|layout| layout.iter().rev().filter_map(|digit| digit.axis))
            .collect::<Vec<_>>();
        for axis in own {
            if !kept.contains(&axis) {
                kept.push(axis);
            }
        }
    }
    Some(kept)
}

/// The clusters and slices that are written of a load.
fn written(function: OpRef<'_>) -> Option<(Expr, Expr)> {
    let block = function.regions().first()?;
    let loads =
        function.module.ops(*block).iter().map(|&id| function.other(id)).filter(|op| op.name() == "tm.to_dm");
    let map = |op: OpRef<'_>, name: &str| op.body::<Expr>(name).map(|map| (*map).clone());
    loads.filter_map(|op| map(op, "cluster").zip(map(op, "slice"))).next()
}

/// Where tensors may lie.
struct Place {
    /// How many slices hold a part of them.
    slices: u64,
    cluster: Expr,
    slice: Expr,
}

/// What is written of any load, or every way to spread the result over slices, those over the most slices first.
fn candidates(function: OpRef<'_>, axes: &Axes) -> Result<Vec<Place>, Diagnostic> {
    if let Some((cluster, slice)) = written(function) {
        return Ok(vec![Place { slices: 1, cluster, slice }]);
    }
    let topology = &machine(function.ctx).topology;
    let Some(kept) = kept(function, axes) else {
        let message =
            "the layout of this kernel's tensors is open, and nothing says what axes its result has"
                .to_owned();
        let error = Diagnostic::error("select-configs", function.span(), message);
        return Err(error.fix("give `tm.to_hbm` an element mapping".to_owned()));
    };
    let kept: Vec<AxisId> = kept.into_iter().take(MOST_AXES).collect();
    let place = |way: &Vec<u64>| {
        let slices = way.iter().product();
        let spread = kept.iter().zip(way).filter(|(_, parts)| **parts > 1);
        let terms = spread.map(|(&axis, parts)| Expr::axis(axes.name(axis)).stride(axes.size(axis) / parts));
        let slice = if slices == 1 { Expr::Literal(1) } else { Expr::pair(terms) };
        let all = topology.slices_per_cluster;
        let slice = if slices < all { slice.pad(all, PadKind::Top) } else { slice };
        Place { slices, cluster: Expr::Literal(1).pad(topology.clusters_per_chip, PadKind::Top), slice }
    };
    let mut places: Vec<Place> = ways(&kept, topology.slices_per_cluster, axes).iter().map(place).collect();
    places.sort_by_key(|place| std::cmp::Reverse(place.slices));
    Ok(places)
}

/// For each axis into how many parts it is cut, all together at most `slices`.
fn ways(kept: &[AxisId], slices: u64, axes: &Axes) -> Vec<Vec<u64>> {
    let Some((&axis, rest)) = kept.split_first() else { return vec![Vec::new()] };
    let parts = (0..64).map(|power| 1_u64 << power).take_while(|&parts| parts <= slices);
    let parts = parts.filter(|&parts| axes.size(axis).is_multiple_of(parts));
    let all = parts.flat_map(|parts| {
        let inner = ways(rest, slices / parts, axes);
        inner.into_iter().map(move |way| [parts].into_iter().chain(way).collect::<Vec<_>>())
    });
    all.collect()
}

/// Gives every load its place.
fn write(
    ctx: &Context,
    module: &mut Module,
    loads: &[OpId],
    (cluster, slice): (&Expr, &Expr),
    axes: &Axes,
) -> Result<(), Diagnostic> {
    for &load in loads {
        let op = module.op(ctx, load);
        let mut chosen = Vec::new();
        for (name, value) in [
            ("cluster", Some(cluster.clone())),
            ("slice", Some(slice.clone())),
            ("element", element(op, slice, axes)),
        ] {
            if is_open(op, name) {
                let missing = || {
                    op.clause_error(
                        "C0",
                        name,
                        format!("`{slice}` cuts the tensor where its digits do not end"),
                    )
                };
                chosen.push((name, ctx.body_attr(&MAP, value.ok_or_else(missing)?)));
            }
        }
        chosen.into_iter().for_each(|(name, value)| module.set_clause(load, name, Some(value)));
    }
    infer_all(ctx, module)
}

/// What a slice holds of a tensor in HBM, in its order there.
fn element(load: OpRef<'_>, slice: &Expr, axes: &Axes) -> Option<Expr> {
    let held = digits(&operand(load, 0)?.dim(Dim::Element), axes).ok()?;
    let spread = digits(slice, axes).ok()?;
    let own = held.iter().map(|digit| {
        // Coordinates from the slice's stride on are other slices'.
        let end = spread
            .iter()
            .filter(|part| part.axis.is_some() && part.axis == digit.axis)
            .map(|part| part.stride)
            .min();
        let end = end.unwrap_or(u64::MAX);
        let extent = if end <= digit.stride { 1 } else { digit.live.min(end / digit.stride) };
        Digit { extent, live: extent, ..*digit }
    });
    let own: Vec<Digit> = own.filter(|digit| digit.extent > 1).collect();
    mapping(own.iter().rev(), axes)
}

/// The cycles that the report gives for the function, once all else is chosen, with open addresses at some place.
///
/// # Errors
/// What has no legal choice, or cannot be lowered.
pub fn price(ctx: &Context, module: &Module, function: OpId, rules: &RuleSet) -> Result<u64, Diagnostic> {
    let mut module = module.clone();
    let name = module.op(ctx, function).symbol("name");
    let mut others = module.ops(module.body()).to_vec();
    others.retain(|&id| id != function && module.op(ctx, id).is(&FUNC));
    others.into_iter().for_each(|id| module.erase(id));
    module.walk_all().into_iter().for_each(|id| close_addresses(ctx, &mut module, id));
    Driver { ctx, rules, tell: &mut |_, _| () }.run(&mut module)?;
    ctx.data::<Clock>().time(Phase::Price, || priced(ctx, &mut module, name.as_deref()))
}

/// The cycles of a closed kernel.
fn priced(ctx: &Context, module: &mut Module, name: Option<&str>) -> Result<u64, Diagnostic> {
    let options = Options::defaults(&[]);
    for pass in [&lower_to_seq::PASS, &lower_to_hw::PASS] {
        let mut cx = PassCx::new(ctx, module, &options);
        (pass.run)(&mut cx).map_err(first)?;
    }
    let program = visa_hw::compile(ctx, module, name).map_err(first)?;
    Ok(visa_cost::price(&program, &machine(ctx)).totals.cycles)
}

/// The first of some findings.
fn first(findings: Vec<Diagnostic>) -> Diagnostic {
    let none =
        || Diagnostic::error("select-configs", visa_ir::span::Span::default(), "refused without a reason");
    findings.into_iter().next().unwrap_or_else(none)
}
