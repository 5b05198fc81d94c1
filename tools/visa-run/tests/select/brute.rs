//! Every configuration of a pipeline, one after the other: no e-graph, no fronts, no sharing. Candidate values come from the book and
//! not from the rules; the ordinary verifier refuses, the ordinary passes lower, and the report prices.

use super::whole;
use std::collections::BTreeSet;
use visa_ir::context::{Attr, Context};
use visa_ir::infer::infer_all;
use visa_ir::module::{AttrId, Module, OpId, OpRef};
use visa_ir::open::{self, Opening};
use visa_ir::print::{Form, print_op};
use visa_ir::verify::{Analysis, VerifyCx, has_errors, verify};
use visa_machine::Machine;
use visa_mapping::attrs::MAP;
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::{
    Axes, AxisId, Digit, Dim, Equality, Expr, PadKind, Tensor, digits, equal_streams, operand,
};
use visa_numerics::DType;

/// Most terms whose every order is tried.
const MOST_TERMS: usize = 5;

/// How long a first legal configuration is looked for.
const MOST_UNTIL_FIRST: u64 = 40;

/// What was found.
pub(crate) enum Outcome {
    /// Every configuration was priced.
    All(Least),
    /// There are more than the bound; what was priced until then.
    TooMany(Least),
}

/// The cheapest of all.
#[derive(Default)]
pub(crate) struct Least {
    /// Legal configurations.
    pub(crate) legal: u64,
    /// Refused ones, of whole pipelines or of their first operations.
    pub(crate) refused: u64,
    /// Cycles of the pipeline's command, and its text; none if nothing is legal.
    pub(crate) best: Option<(u64, String)>,
    /// The module with the first legal configuration.
    pub(crate) first: Option<Module>,
}

/// Prices every configuration of the pipeline `chain` of a module in which nothing else is open, up to `bound` of them.
pub(crate) fn enumerate(ctx: &Context, module: &Module, chain: &[OpId], bound: u64) -> Outcome {
    let least = search(ctx, module, chain, bound, false);
    if least.1 { Outcome::TooMany(least.0) } else { Outcome::All(least.0) }
}

/// The module with the first legal configuration, in the order of the search.
pub(crate) fn first(ctx: &Context, module: &Module, chain: &[OpId]) -> Option<Module> {
    search(ctx, module, chain, MOST_UNTIL_FIRST, true).0.first
}

/// The least of all configurations, and whether there were more.
fn search(ctx: &Context, module: &Module, chain: &[OpId], bound: u64, first_only: bool) -> (Least, bool) {
    let axes = DeclaredAxes::build(ctx, module).0;
    let Some(&last) = chain.last() else { return (Least::default(), false) };
    let last = module.op(ctx, last);
    let layout = wanted_layout(last);
    let mut written: Vec<Expr> = layout.iter().cloned().collect();
    for &id in chain {
        let op = module.op(ctx, id);
        written
            .extend(op.clauses().iter().filter_map(|clause| Some((*op.body::<Expr>(&clause.name)?).clone())));
        let operands = (0..op.operands().len()).filter_map(|at| operand(op, at));
        written.extend(operands.filter(|tensor| !tensor.kind.stream).map(|tensor| tensor.dim(Dim::Element)));
    }
    let mut kept: BTreeSet<AxisId> = layout.iter().flat_map(|layout| names(layout, &axes)).collect();
    kept.extend(last.body::<Expr>("row").iter().flat_map(|row| names(row, &axes)));
    let machine = visa_mapping::facts::machine(ctx);
    let (least, over) = (Least::default(), false);
    let mut search = Search {
        ctx,
        chain,
        machine: &machine,
        axes: &axes,
        layout,
        written,
        kept,
        bound,
        first_only,
        least,
        over,
    };
    search.descend(&mut module.clone(), 0);
    (search.least, search.over)
}

fn names(map: &Expr, axes: &Axes) -> Vec<AxisId> {
    map.axis_names(axes).iter().filter_map(|name| axes.id(name)).collect()
}

/// The layout in which the result is wanted: its own, or that of the first tensor made of it that has one.
fn wanted_layout(op: OpRef<'_>) -> Option<Expr> {
    if let Some(own) = op.body::<Expr>("element") {
        return Some((*own).clone());
    }
    let result = *op.results().first()?;
    op.module.uses(result).iter().find_map(|&user| wanted_layout(op.other(user)))
}

/// A value for each open clause.
type Values = Vec<(&'static str, AttrId)>;

struct Search<'a> {
    ctx: &'a Context,
    chain: &'a [OpId],
    machine: &'a Machine,
    axes: &'a Axes,
    layout: Option<Expr>,
    written: Vec<Expr>,
    kept: BTreeSet<AxisId>,
    bound: u64,
    first_only: bool,
    least: Least,
    over: bool,
}

impl Search<'_> {
    fn descend(&mut self, module: &mut Module, stage: usize) {
        let Some(&id) = self.chain.get(stage) else { return self.price(module) };
        let op = module.op(self.ctx, id);
        let open: Vec<&'static str> = open::clauses(op)
            .filter(|clause| clause.opening == Opening::Configuration)
            .map(|clause| clause.name)
            .collect();
        if open.is_empty() {
            return self.try_next(module, stage);
        }
        let values = self.candidates(op);
        for candidate in values {
            if self.over {
                break;
            }
            let Some(chosen) = self.chosen(module.op(self.ctx, id), &open, &candidate) else { continue };
            chosen.iter().for_each(|&(name, value)| module.set_clause(id, name, Some(value)));
            self.try_next(module, stage);
        }
        let auto = self.ctx.attr(Attr::Auto);
        open.iter().for_each(|name| module.set_clause(id, name, Some(auto)));
    }

    /// Goes on if what is chosen so far is legal.
    fn try_next(&mut self, module: &mut Module, stage: usize) {
        let legal = infer_all(self.ctx, module).is_ok() && {
            let op = module.op(self.ctx, self.chain[stage]);
            let verify = op.decl().and_then(|decl| decl.verify);
            verify.is_none_or(|verify| verify(op, &VerifyCx::new(self.ctx, module)).is_ok())
        };
        if !legal {
            self.least.refused += 1;
            // Ten refused ones cost as much time as one that is priced.
            self.over |= self.least.refused / 10 + self.least.legal > self.bound;
            return;
        }
        self.descend(module, stage + 1);
    }

    fn price(&mut self, module: &Module) {
        let last = module.op(self.ctx, self.chain[self.chain.len() - 1]).span();
        let compiled = if has_errors(&verify(self.ctx, module)) {
            None
        } else {
            whole::compile(self.ctx, module.clone()).ok()
        };
        let Some(program) = compiled else {
            self.least.refused += 1;
            return;
        };
        let cycles = whole::cycles(&program, self.machine, last);
        self.least.legal += 1;
        self.over |= self.first_only || self.least.refused / 10 + self.least.legal > self.bound;
        self.least.first.get_or_insert_with(|| module.clone());
        if self.least.best.as_ref().is_none_or(|(least, _)| cycles < *least) {
            let text = self.chain.iter().map(|&id| print_op(self.ctx, module, id, Form::Pretty));
            self.least.best = Some((cycles, text.collect::<Vec<_>>().join("\n")));
        }
    }

    /// The candidate's values of open clauses; none if it differs from what is written.
    fn chosen(&self, op: OpRef<'_>, open: &[&'static str], candidate: &Values) -> Option<Values> {
        let agrees =
            |name: &str, value: AttrId| match (op.body::<Expr>(name), self.ctx.attr_value::<Expr>(value)) {
                (Some(written), Some(map)) => {
                    matches!(equal_streams(&written, &map, self.axes), Equality::Equal)
                }
                _ => op.attr(name).is_some_and(|written| self.ctx.attr(written) == value),
            };
        let (chosen, written): (Values, Values) =
            candidate.iter().copied().partition(|(name, _)| open.contains(name));
        written.iter().all(|&(name, value)| agrees(name, value)).then_some(chosen)
    }

    fn map(&self, map: Expr) -> AttrId {
        self.ctx.body_attr(&MAP, map)
    }

    fn cut(&self, time: Expr, packet: Expr) -> Values {
        vec![("time", self.map(time)), ("packet", self.map(packet))]
    }

    fn candidates(&mut self, op: OpRef<'_>) -> Vec<Values> {
        let Some(source) = operand(op, 0) else { return Vec::new() };
        let (time, packet) = (source.dim(Dim::Time), source.dim(Dim::Packet));
        match op.name() {
            "stream.fetch" => self.fetch(op, &source),
            "stream.collect" => {
                let flit = source.dtype.elements(self.machine.limits.flit_bytes);
                let whole = self.padded(packet, flit);
                vec![self.cut(Expr::pair([time, whole.clone().stride(flit)]), whole.modulo(flit))]
            }
            "stream.cast" => {
                let to = op.body::<DType>("dtype").map_or(source.dtype, |dtype| *dtype);
                let flit = to.elements(self.machine.limits.flit_bytes);
                vec![vec![("packet", self.map(packet.pad(flit, PadKind::Top)))]]
            }
            "stream.align" => self.align(op, &source),
            "stream.contract" => self.contract(packet),
            "stream.accumulate" => self.accumulate(&source),
            "stream.commit" => self.commit(&source),
            "stream.to_trf" => {
                let all = Expr::pair([time, packet]);
                let size = all.size(self.axes).unwrap_or(0);
                let rows = [1, 2, 4, 8].into_iter().filter(|rows| size.is_multiple_of(*rows));
                let split = |rows: u64| {
                    let (row, element) = (all.clone().stride(size / rows), all.clone().modulo(size / rows));
                    vec![("row", self.map(row)), ("element", self.map(element))]
                };
                rows.map(split).collect()
            }
            "stream.to_vrf" => vec![vec![("element", self.map(Expr::pair([time, packet])))]],
            _ => Vec::new(),
        }
    }

    /// Padded to a multiple of so many elements.
    fn padded(&self, map: Expr, unit: u64) -> Expr {
        let size = map.size(self.axes).unwrap_or(1);
        let whole = size.next_multiple_of(unit);
        if whole == size { map } else { map.pad(whole, PadKind::Top) }
    }

    /// Every order of the terms, every cut into time and packet, every padding up to the next flit (book 07, 08).
    fn fetch(&mut self, op: OpRef<'_>, source: &Tensor) -> Vec<Values> {
        let Ok(held) = digits(&source.dim(Dim::Packet), self.axes) else { return Vec::new() };
        let pairs = self.chain.iter().any(|&id| op.other(id).name() == "stream.align");
        let mut own: Vec<Digit> = held.iter().filter(|digit| digit.axis.is_some()).copied().collect();
        if !pairs {
            own.extend(self.broadcast(source));
        }
        let to = op.body::<DType>("dtype").map_or(source.dtype, |dtype| *dtype);
        let mut lists = vec![Vec::new()];
        for digit in own {
            let ways = self.ways(&digit, to);
            let longer = |list: &Vec<Term>| {
                ways.iter().map(|way| [list.clone(), way.clone()].concat()).collect::<Vec<_>>()
            };
            lists = lists.iter().flat_map(longer).collect();
        }
        if lists.iter().any(|list| list.len() > MOST_TERMS) {
            self.over = true;
            return Vec::new();
        }
        let sums = pairs || self.chain.iter().any(|&id| op.other(id).name() == "stream.to_trf");
        let mut found: Vec<Values> = Vec::new();
        let mut known = BTreeSet::new();
        for order in lists.iter().flat_map(|list| orders(list)) {
            for at in 0..=order.len() {
                let (time, packet) = (self.expr(&order[..at]), self.expr(&order[at..]));
                for packet in self.paddings(packet, to, sums) {
                    let key = |map: &Expr| {
                        digits(map, self.axes)
                            .map_or_else(|_| map.to_string(), |digits| format!("{digits:?}"))
                    };
                    if known.insert((key(&time), key(&packet))) {
                        found.push(self.cut(time.clone(), packet));
                    }
                }
            }
        }
        found
    }

    /// A packet as it is, and padded in steps of 8 bytes up to the next flit, with anything or with zeros.
    fn paddings(&self, packet: Expr, dtype: DType, sums: bool) -> Vec<Expr> {
        let size = packet.size(self.axes).unwrap_or(1);
        let (step, flit) =
            (dtype.elements(self.machine.limits.fetch_align), dtype.elements(self.machine.limits.flit_bytes));
        let mut all = vec![packet.clone()];
        let mut whole = (size + 1).next_multiple_of(step);
        while whole <= size.next_multiple_of(flit) {
            all.push(packet.clone().pad(whole, PadKind::Top));
            if sums {
                all.push(packet.clone().pad(whole, PadKind::Zero));
            }
            whole += step;
        }
        all
    }

    /// Whole axes of the result that the tensor does not have in any dimension.
    fn broadcast(&self, source: &Tensor) -> Vec<Digit> {
        let dims = [Dim::Chip, Dim::Cluster, Dim::Slice, Dim::Packet];
        let held: BTreeSet<AxisId> =
            dims.into_iter().flat_map(|dim| names(&source.dim(dim), self.axes)).collect();
        let layout = self.layout.as_ref().and_then(|layout| digits(layout, self.axes).ok());
        let own = layout.iter().flat_map(|layout| layout.iter().copied().collect::<Vec<_>>());
        own.filter(|digit| digit.axis.is_some_and(|axis| !held.contains(&axis))).collect()
    }

    /// Every way to cut a digit where something written ends, and at a flit or at what a commit can write (book 08, 09).
    fn ways(&self, digit: &Digit, dtype: DType) -> Vec<Vec<Term>> {
        let Some(axis) = digit.axis else { return vec![Vec::new()] };
        let mut written = BTreeSet::new();
        for map in &self.written {
            let Ok(all) = digits(map, self.axes) else { continue };
            let own = all.iter().filter(|other| other.axis == Some(axis));
            written.extend(own.flat_map(|other| [other.stride, other.stride * other.extent]));
        }
        let units =
            self.machine.limits.commit_sizes.iter().map(|&bytes| digit.stride * dtype.elements(bytes));
        let mut found: Vec<Vec<Term>> = Vec::new();
        for unit in units {
            let mut way = Vec::new();
            let (mut start, end) = (digit.stride, digit.stride * digit.live);
            for place in written.iter().copied().chain([unit, end]).collect::<BTreeSet<u64>>() {
                if place > start && place.is_multiple_of(start) && end.is_multiple_of(place) {
                    way.push(Term { axis, stride: start, extent: place / start });
                    start = place;
                }
            }
            if !found.contains(&way) {
                found.push(way);
            }
        }
        found
    }

    /// Terms, major to minor, as a mapping.
    fn expr(&self, terms: &[Term]) -> Expr {
        match terms {
            [] => Expr::Literal(1),
            _ => Expr::pair(terms.iter().map(|term| term.expr(self.axes))),
        }
    }

    /// The live terms of a mapping, major to minor.
    fn terms(&self, map: &Expr) -> Option<Vec<Term>> {
        let digits = digits(map, self.axes).ok()?;
        let live = digits
            .iter()
            .rev()
            .filter_map(|digit| Some(Term { axis: digit.axis?, stride: digit.stride, extent: digit.live }));
        Some(live.collect())
    }

    /// One or two flits a packet, and the register file's own terms in any order, anywhere in time (book 16, 17).
    fn align(&self, op: OpRef<'_>, source: &Tensor) -> Vec<Values> {
        let (time, packet) = (source.dim(Dim::Time), source.dim(Dim::Packet));
        let whole = source.dtype.elements(self.machine.limits.mac_width_bytes);
        let mut ways = vec![(time.clone(), self.padded(packet.clone(), whole))];
        if time.size(self.axes).unwrap_or(1).is_multiple_of(2) {
            ways.push((time.clone().stride(2), Expr::pair([time.clone().modulo(2), packet.clone()])));
        }
        let streamed: BTreeSet<AxisId> =
            [&time, &packet].into_iter().flat_map(|map| names(map, self.axes)).collect();
        let held =
            operand(op, 1).and_then(|weights| self.terms(&weights.dim(Dim::Element))).unwrap_or_default();
        let own: Vec<Term> = held.into_iter().filter(|term| !streamed.contains(&term.axis)).collect();
        let mut found = Vec::new();
        for (time, packet) in ways {
            let outer = self.terms(&time);
            for order in orders(&own) {
                let places =
                    outer.as_ref().map_or(1, |outer| if order.is_empty() { 1 } else { outer.len() + 1 });
                found.push(self.cut(Expr::pair([time.clone(), self.expr(&order)]), packet.clone()));
                for at in 1..places {
                    let outer = outer.as_deref().unwrap_or_default();
                    let (before, behind) = outer.split_at(outer.len() - at);
                    found.push(self.cut(self.expr(&[before, &order, behind].concat()), packet.clone()));
                }
            }
        }
        found
    }

    /// Every depth of the tree: sums of 2^n neighbours, with and without the padding that is left (book 19).
    fn contract(&self, packet: Expr) -> Vec<Values> {
        let most = self.machine.limits.accumulator_columns;
        let mut found = Vec::new();
        for depth in 0..=7 {
            let size = packet.size(self.axes).unwrap_or(1);
            if !size.is_multiple_of(1 << depth) || !self.summed(&packet.clone().modulo(1 << depth)) {
                continue;
            }
            let sums = packet.clone().stride(1 << depth);
            let live = digits(&sums, self.axes).ok().and_then(|digits| digits.live_count());
            let sizes = [Some(size >> depth), live, Some(most)];
            let sizes: BTreeSet<u64> =
                sizes.into_iter().flatten().filter(|&count| count <= size >> depth).collect();
            let whole =
                |count: u64| if count == size >> depth { sums.clone() } else { sums.clone().resize(count) };
            found.extend(sizes.into_iter().map(|count| vec![("packet", self.map(whole(count)))]));
        }
        found
    }

    /// Whether the result has none of the mapping's axes.
    fn summed(&self, map: &Expr) -> bool {
        self.layout.is_some()
            && digits(map, self.axes)
                .is_ok_and(|digits| digits.axes().keys().all(|axis| !self.kept.contains(axis)))
    }

    /// Both modes, over what the result does not have (book 19).
    fn accumulate(&self, source: &Tensor) -> Vec<Values> {
        let Some(time) = self.terms(&source.dim(Dim::Time)) else { return Vec::new() };
        let kept: Vec<Term> = time.into_iter().filter(|term| self.kept.contains(&term.axis)).collect();
        let (time, row, packet) = (self.expr(&kept), source.dim(Dim::Row), source.dim(Dim::Packet));
        let lanes = self.machine.limits.vector_lanes;
        let word = |mode: &str| ("mode", self.ctx.attr(Attr::Str(mode.into())));
        let mut interleaved =
            self.cut(Expr::pair([time.clone(), packet.clone()]), self.padded(row.clone(), lanes));
        interleaved.push(word("interleaved"));
        let all = Expr::pair([row, self.padded(packet, lanes)]);
        let mut sequential = self.cut(Expr::pair([time, all.clone().stride(lanes)]), all.modulo(lanes));
        sequential.push(word("sequential"));
        vec![interleaved, sequential]
    }

    /// Every order of the terms in data memory, and every tail that a write can have (book 09, 33).
    fn commit(&self, source: &Tensor) -> Vec<Values> {
        let (time, packet) = (source.dim(Dim::Time), source.dim(Dim::Packet));
        let mut layouts = Vec::new();
        let all = self.terms(&Expr::pair([time.clone(), packet.clone()]));
        match (all, self.terms(&time), self.terms(&packet)) {
            (Some(all), Some(outer), Some(inner)) => {
                if all.iter().any(|term| !self.kept.contains(&term.axis)) {
                    return Vec::new();
                }
                layouts.extend(orders(&all).iter().map(|order| self.expr(order)));
                let count: u64 = inner.iter().map(|term| term.extent).product();
                for order in orders(&outer) {
                    let split = [&order[..], &inner].concat();
                    layouts.push(self.expr(&split));
                    let sizes =
                        self.machine.limits.commit_sizes.iter().map(|&bytes| source.dtype.elements(bytes));
                    let padded = |size: u64| {
                        Expr::pair([self.expr(&order), self.expr(&inner).pad(size, PadKind::Top)])
                    };
                    layouts.extend(sizes.filter(|size| *size > count).map(padded));
                }
            }
            _ => layouts.push(Expr::pair([time, packet])),
        }
        let mut known = BTreeSet::new();
        let new = |layout: &Expr| {
            known.insert(
                digits(layout, self.axes).map_or_else(|_| layout.to_string(), |digits| format!("{digits:?}")),
            )
        };
        layouts.retain(new);
        layouts.into_iter().map(|layout| vec![("element", self.map(layout))]).collect()
    }
}

/// Part of an axis: `extent` positions, `stride` apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Term {
    axis: AxisId,
    stride: u64,
    extent: u64,
}

impl Term {
    fn expr(&self, axes: &Axes) -> Expr {
        let axis = Expr::axis(axes.name(self.axis));
        let strided = if self.stride == 1 { axis } else { axis.stride(self.stride) };
        let whole = self.stride * self.extent == axes.size(self.axis);
        if whole { strided } else { strided.modulo(self.extent) }
    }
}

/// Every order of some terms.
fn orders(terms: &[Term]) -> Vec<Vec<Term>> {
    match terms {
        [] => vec![Vec::new()],
        _ => {
            let first = |at: usize| {
                let (mut rest, first) = (terms.to_vec(), terms[at]);
                rest.remove(at);
                orders(&rest).into_iter().map(move |order| [vec![first], order].concat())
            };
            (0..terms.len()).flat_map(first).collect()
        }
    }
}
