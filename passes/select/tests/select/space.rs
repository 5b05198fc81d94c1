//! The space of [`super::brute`]: the values that are tried for the open clauses of each operation, after each
//! stream. They are written from the book and not from the rules of `select-configs`:
//!
//! - **fetch**: every digit of the tensor and every digit of the result that the tensor lacks, cut wherever a
//!   written mapping cuts its axis, and once more at any divisor or nowhere; of that all lists of at most
//!   [`MOST_TERMS`] terms, in every order, cut anywhere into time and packet; each packet as it is and padded in
//!   steps of 8 bytes up to the next flit (for a contraction up to an even number of them), with anything or,
//!   where it is summed, with zeros; and each packet padded to a multiple of 8, 16, 24 or 32 bytes and cut into
//!   packets of that, where no digit ends there; of a tensor that slides, starts within an axis, picks elements or
//!   is padded, the terms as they are instead, a window whole or by its axes, padding with anything or with zeros
//!   and cut wherever a fetch can, and for a contraction the register file's own terms too;
//! - **collect** and **cast**: the only way;
//! - **align**: one or two flits a packet (one in the dual context), the register file's terms in every order, at
//!   every position in time; of a window every number of shifts a packet, or zeros for the gaps between its elements;
//! - **contract**: every depth of the tree that adds nothing of the result, with all sums, the live ones and as many
//!   as the accumulator has columns;
//! - **accumulate**: both modes, time without the summed factors;
//! - **commit**: every order of up to [`MOST_LAID_OUT`] terms; every order of time around the packet, as it is and
//!   with each tail that a write can have; time and packet with all their padding;
//! - **to_trf**: every number of rows; **to_vrf**: the only way.
//!
//! Everything else (switches, the Vector Engine) stays as it is written.

use std::cell::Cell;
use std::collections::BTreeSet;
use visa_algebra::{Axes, AxisId, Digit, Digits, Equality, Expr, PadKind, digits, equal_streams, rebuild};
use visa_ir::context::{Attr, Context};
use visa_ir::module::{AttrId, Module, OpId, OpRef};
use visa_machine::{Machine, Unit};
use visa_mapping::tensor::attrs::MAP;
use visa_mapping::{Dim, Tensor, operand};
use visa_numerics::DType;
use visa_stream::ops::{cast, collect, commit, contract, fetch, store};

/// Most terms of a fetch.
const MOST_TERMS: usize = 4;

/// Most terms that explicit clauses cut a fetch into.
const MOST_WRITTEN: usize = 6;

/// Most terms that a commit lays out in every order.
const MOST_LAID_OUT: usize = 3;

/// A value for each open clause.
pub(crate) type Values = Vec<(&'static str, AttrId)>;

/// The values of a pipeline.
pub(crate) struct Space<'a> {
    ctx: &'a Context,
    chain: &'a [OpId],
    machine: &'a Machine,
    axes: &'a Axes,
    layout: Option<Expr>,
    written: Vec<Expr>,
    kept: BTreeSet<AxisId>,
    whole: Cell<bool>,
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

impl<'a> Space<'a> {
    /// The space of the pipeline `chain` of a module.
    pub(crate) fn of(
        ctx: &'a Context,
        module: &Module,
        chain: &'a [OpId],
        machine: &'a Machine,
        axes: &'a Axes,
    ) -> Self {
        let last = chain.last().map(|&last| module.op(ctx, last));
        let layout = last.and_then(wanted_layout);
        let mut written: Vec<Expr> = layout.iter().cloned().collect();
        for &id in chain {
            let op = module.op(ctx, id);
            written.extend(
                op.clauses().iter().filter_map(|clause| Some((*op.body::<Expr>(&clause.name)?).clone())),
            );
            let operands = (0..op.operands().len()).filter_map(|at| operand(op, at));
            written
                .extend(operands.filter(|tensor| !tensor.kind.stream).map(|tensor| tensor.dim(Dim::Element)));
        }
        let mut kept: BTreeSet<AxisId> = layout.iter().flat_map(|layout| names(layout, axes)).collect();
        let row = last.and_then(|last| last.body::<Expr>("row"));
        kept.extend(row.iter().flat_map(|row| names(row, axes)));
        Self { ctx, chain, machine, axes, layout, written, kept, whole: Cell::new(true) }
    }

    /// Returns true if no fetch had more terms than [`MOST_WRITTEN`] by explicit clauses alone.
    pub(crate) fn is_whole(&self) -> bool {
        self.whole.get()
    }

    /// The values of the clauses `open` of an operation; nothing to choose is one way.
    pub(crate) fn values(&self, op: OpRef<'_>, open: &[&'static str]) -> Vec<Values> {
        if open.is_empty() {
            return vec![Vec::new()];
        }
        self.candidates(op).iter().filter_map(|candidate| self.chosen(op, open, candidate)).collect()
    }

    /// The candidate's values of open clauses; `None` if it differs from the explicit ones.
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

    /// A mapping as a value, in its shortest form: verifiers compare padding as it is written.
    fn map(&self, map: Expr) -> AttrId {
        let short = digits(&map, self.axes).ok().and_then(|digits| rebuild(&digits, self.axes).ok());
        self.ctx.body_attr(&MAP, short.unwrap_or(map))
    }

    /// Time and packet in their shortest forms, unless only both together show which padding a cut goes through.
    fn cut(&self, time: Expr, packet: Expr) -> Values {
        let short = [self.map(time.clone()), self.map(packet.clone())];
        if masks(&time) || masks(&packet) {
            let maps = short
                .map(|map| self.ctx.attr_value::<Expr>(map).map_or(Expr::Literal(1), |map| (*map).clone()));
            let whole = Expr::pair([time.clone(), packet.clone()]);
            if !matches!(equal_streams(&whole, &Expr::pair(maps), self.axes), Equality::Equal) {
                let bare = |map: &Expr| Expr::pair(map.counting().cloned());
                return vec![
                    ("time", self.ctx.body_attr(&MAP, bare(&time))),
                    ("packet", self.ctx.body_attr(&MAP, bare(&packet))),
                ];
            }
        }
        vec![("time", short[0]), ("packet", short[1])]
    }

    /// Elements of a flit up to the aligner.
    fn flit(&self, source: &Tensor) -> u64 {
        source.dtype.elements(self.machine.flit_bytes(source.unit.unwrap_or(Unit::Main)))
    }

    fn candidates(&self, op: OpRef<'_>) -> Vec<Values> {
        let Some(source) = operand(op, 0) else { return Vec::new() };
        let (time, packet) = (source.dim(Dim::Time), source.dim(Dim::Packet));
        if op.is(&fetch::DECL) {
            return self.fetch(op, &source);
        }
        if op.is(&collect::DECL) {
            let whole = self.padded(packet, self.flit(&source));
            let mut users = op.module.uses(op.results()[0]).iter().map(|&user| op.other(user));
            let taken = match users.all(|user| user.is(&contract::ALIGN_DECL)) {
                true => self.flit(&source),
                false => source.dtype.elements(self.machine.limits.flit_bytes),
            };
            if whole.size(self.axes).is_ok_and(|size| size == taken) {
                return vec![self.cut(time, whole)];
            }
            return vec![self.cut(Expr::pair([time, whole.clone().stride(taken)]), whole.modulo(taken))];
        }
        if op.is(&cast::DECL) {
            let to = op.body::<DType>("dtype").map_or(source.dtype, |dtype| *dtype);
            let flit = to.elements(self.machine.limits.flit_bytes);
            return vec![vec![("packet", self.map(packet.pad(flit, PadKind::Top)))]];
        }
        if op.is(&contract::ALIGN_DECL) {
            let slides = packet.slide().is_some();
            return if slides { self.shifts(op, &source) } else { self.align(op, &source) };
        }
        if op.is(&contract::CONTRACT_DECL) {
            return self.contract(packet);
        }
        if op.is(&contract::ACCUMULATE_DECL) {
            return self.accumulate(&source);
        }
        if op.is(&commit::DECL) {
            return self.commit(&source);
        }
        if op.is(&store::TO_TRF) {
            let all = Expr::pair([time, packet]);
            let Ok(size) = all.size(self.axes) else { return Vec::new() };
            let rows = [1, 2, 4, 8].into_iter().filter(|rows| size.is_multiple_of(*rows));
            let split = |rows: u64| {
                let (row, element) = (all.clone().stride(size / rows), all.clone().modulo(size / rows));
                vec![("row", self.map(row)), ("element", self.map(element))]
            };
            return rows.map(split).collect();
        }
        assert!(op.is(&store::TO_VRF), "no values are known for the open clauses of `{op}`");
        vec![vec![("element", self.map(Expr::pair([time, packet])))]]
    }

    /// Padded to a multiple of `unit` elements.
    fn padded(&self, map: Expr, unit: u64) -> Expr {
        let size = map.size(self.axes).unwrap_or(1);
        let whole = size.next_multiple_of(unit);
        if whole == size { map } else { map.pad(whole, PadKind::Top) }
    }

    /// Every order of the terms, every cut into time and packet, every padding (book 07, 08).
    fn fetch(&self, op: OpRef<'_>, source: &Tensor) -> Vec<Values> {
        let held = digits(&source.dim(Dim::Packet), self.axes).ok().filter(|held| held.offset().is_empty());
        let Some(held) = held else { return self.as_held(op, source) };
        let whole = held.iter().all(|digit| digit.live == digit.extent);
        let others = if whole { Vec::new() } else { self.as_held(op, source) };
        let mut own: Vec<Digit> = held.iter().filter(|digit| digit.axis.is_some()).copied().collect();
        if !self.pairs(op) {
            own.extend(self.broadcast(source));
        }
        let to = op.body::<DType>("dtype").map_or(source.dtype, |dtype| *dtype);
        let mut lists: Vec<Vec<Term>> = vec![Vec::new()];
        for digit in own {
            let ways = self.ways(&digit);
            let longer = |list: &Vec<Term>| {
                ways.iter().map(|way| [list.clone(), way.clone()].concat()).collect::<Vec<_>>()
            };
            lists = lists.iter().flat_map(longer).collect();
        }
        let written = lists.iter().map(Vec::len).min().unwrap_or(0);
        if written > MOST_WRITTEN {
            self.whole.set(false);
            return Vec::new();
        }
        lists.retain(|list| list.len() <= MOST_TERMS.max(written));
        let mut found: Vec<Values> = Vec::new();
        let mut known = BTreeSet::new();
        let key = |map: &Expr| {
            digits(map, self.axes).map_or_else(|_| map.to_string(), |digits| format!("{digits:?}"))
        };
        for order in lists.iter().flat_map(|list| orders(list)) {
            for at in 0..=order.len() {
                let (time, packet) = (self.expr(&order[..at]), self.expr(&order[at..]));
                let whole =
                    self.paddings(op, packet.clone(), to).into_iter().map(|packet| (time.clone(), packet));
                for (time, packet) in whole.chain(self.through(op, (&time, &packet), to)) {
                    if known.insert((key(&time), key(&packet))) {
                        found.push(self.cut(time, packet));
                    }
                }
            }
        }
        found.extend(others.into_iter().filter(|values| !found.contains(values)).collect::<Vec<_>>());
        found
    }

    /// A fetch by the terms that the tensor has: every order, every cut, every padding (book 07, 08, 15).
    fn as_held(&self, op: OpRef<'_>, source: &Tensor) -> Vec<Values> {
        let to = op.body::<DType>("dtype").map_or(source.dtype, |dtype| *dtype);
        let layout = source.dim(Dim::Packet);
        let mut lists: Vec<Vec<Expr>> = vec![self.lacking(op, source)];
        for term in layout.counting() {
            let ways = self.term_ways(op, term, to);
            let longer = |list: &Vec<Expr>| -> Vec<Vec<Expr>> {
                ways.iter().map(|way| [list.clone(), way.clone()].concat()).collect()
            };
            lists = lists.iter().flat_map(longer).collect();
        }
        let fewest = lists.iter().map(Vec::len).min().unwrap_or(0);
        lists.retain(|list| list.len() <= MOST_TERMS.max(fewest));
        if fewest > MOST_WRITTEN {
            self.whole.set(false);
            return Vec::new();
        }
        let mut found: Vec<Values> = Vec::new();
        for order in lists.iter().flat_map(|list| orders(list)) {
            for at in 0..=order.len() {
                let (time, packet) = order.split_at(at);
                let (time, packet) = (Expr::pair(time.to_vec()), Expr::pair(packet.to_vec()));
                for packet in self.paddings(op, packet, to) {
                    let values = self.cut(time.clone(), packet);
                    if !found.contains(&values) {
                        found.push(values);
                    }
                }
            }
        }
        found
    }

    /// The register file's own terms, for a stream that slides: shifts repeat nothing (book 15).
    fn lacking(&self, op: OpRef<'_>, source: &Tensor) -> Vec<Expr> {
        let streamed = names(&source.dim(Dim::Packet), self.axes);
        let align = self.chain.iter().map(|&id| op.other(id)).find(|op| op.is(&contract::ALIGN_DECL));
        let held = align.and_then(|align| operand(align, 1));
        let held =
            held.filter(|_| source.dim(Dim::Packet).terms().into_iter().any(|term| term.slide().is_some()));
        let all = held.and_then(|held| self.terms(&held.dim(Dim::Element))).unwrap_or_default();
        let own = all.into_iter().filter(|term| !streamed.contains(&term.axis));
        own.map(|term| self.expr(&[term])).collect()
    }

    /// The ways to take a term of a tensor: cut as a digit is, a window whole or by its axes, any other as it is;
    /// padding as it is or zero, and cut.
    fn term_ways(&self, op: OpRef<'_>, term: &Expr, dtype: DType) -> Vec<Vec<Expr>> {
        if let Some(windows) = term.slide() {
            return vec![vec![term.clone()], windows.iter().map(|(axis, _)| axis.clone()).collect()];
        }
        let held = digits(term, self.axes).ok().filter(|held| held.offset().is_empty());
        if let Some(held) = held.filter(|held| held.iter().all(|digit| digit.live == digit.extent)) {
            let mut ways: Vec<Vec<Expr>> = vec![Vec::new()];
            for digit in held.iter() {
                let own = self.ways(digit);
                let exprs = |way: &Vec<Term>| way.iter().map(|term| self.expr(&[*term])).collect::<Vec<_>>();
                ways = ways
                    .iter()
                    .flat_map(|all| own.iter().map(|way| [all.clone(), exprs(way)].concat()))
                    .collect();
            }
            return ways;
        }
        let mut whole = vec![term.clone()];
        if let Expr::Pad { inner, size, side, .. } = term
            && self.kinds(op).contains(&PadKind::Zero)
        {
            whole.push(Expr::Pad { inner: inner.clone(), size: *size, kind: PadKind::Zero, side: *side });
        }
        let size = term.size(self.axes).unwrap_or(1);
        let align = dtype.elements(self.machine.limits.fetch_align);
        let cuts = (2..size).filter(|&unit| size.is_multiple_of(unit) && unit.is_multiple_of(align));
        let cuts = cuts.flat_map(|unit| whole.iter().map(move |term| (term, unit)));
        let cut = cuts.map(|(term, unit)| vec![term.clone().stride(unit), term.clone().modulo(unit)]);
        let cut: Vec<_> = cut.collect();
        whole.into_iter().map(|term| vec![term]).chain(cut).collect()
    }

    fn pairs(&self, op: OpRef<'_>) -> bool {
        self.chain.iter().any(|&id| op.other(id).is(&contract::ALIGN_DECL))
    }

    /// The possible contents of padding: zeros if it can be summed.
    fn kinds(&self, op: OpRef<'_>) -> &'static [PadKind] {
        let sums = self.pairs(op) || self.chain.iter().any(|&id| op.other(id).is(&store::TO_TRF));
        if sums { &[PadKind::Top, PadKind::Zero] } else { &[PadKind::Top] }
    }

    /// A packet as it is, and padded in steps of 8 bytes up to the next flit.
    fn paddings(&self, op: OpRef<'_>, packet: Expr, dtype: DType) -> Vec<Expr> {
        let size = packet.size(self.axes).unwrap_or(1);
        let (step, flit) =
            (dtype.elements(self.machine.limits.fetch_align), dtype.elements(self.machine.limits.flit_bytes));
        let unit = if self.pairs(op) { 2 * flit } else { flit };
        let mut all = vec![packet.clone()];
        let mut whole = (size + 1).next_multiple_of(step);
        while whole <= size.next_multiple_of(unit) {
            all.extend(self.kinds(op).iter().map(|&kind| packet.clone().pad(whole, kind)));
            whole += step;
        }
        all
    }

    /// Packets that cut through a longer one where no digit of it ends.
    fn through(&self, op: OpRef<'_>, (time, inner): (&Expr, &Expr), dtype: DType) -> Vec<(Expr, Expr)> {
        let size = inner.size(self.axes).unwrap_or(1);
        let units = self.machine.limits.commit_sizes.iter().map(|&bytes| dtype.elements(bytes));
        let cut = |(unit, &kind): (u64, &PadKind)| {
            let whole = inner.clone().pad(size.next_multiple_of(unit), kind);
            (Expr::pair([time.clone(), whole.clone().stride(unit)]), whole.modulo(unit))
        };
        let units = units.filter(|&unit| unit < size && !size.is_multiple_of(unit));
        units.flat_map(|unit| self.kinds(op).iter().map(move |kind| (unit, kind))).map(cut).collect()
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

    /// Every way to cut a digit: where something written ends, and at one more divisor (book 08).
    fn ways(&self, digit: &Digit) -> Vec<Vec<Term>> {
        let Some(axis) = digit.axis else { return vec![Vec::new()] };
        let mut written = BTreeSet::new();
        for map in &self.written {
            let Ok(all) = digits(map, self.axes) else { continue };
            let own = all.iter().filter(|other| other.axis == Some(axis));
            written.extend(own.flat_map(|other| [other.stride, other.stride * other.extent]));
        }
        let mut found: Vec<Vec<Term>> = Vec::new();
        for unit in (1..=digit.live).filter(|&unit| digit.live.is_multiple_of(unit)) {
            let mut way = Vec::new();
            let (mut start, end) = (digit.stride, digit.stride * digit.live);
            for place in written.iter().copied().chain([digit.stride * unit, end]).collect::<BTreeSet<u64>>()
            {
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

    /// Terms, major to minor, as a mapping; `[0]`, which nothing takes, if there is none.
    fn expr(&self, terms: &[Term]) -> Expr {
        let all = terms
            .iter()
            .try_fold(Digits::unit(), |all, term| Digits::concat(&all, &Digits::of(term.digit(self.axes))));
        let map = all.ok().and_then(|digits| rebuild(&digits, self.axes).ok());
        map.unwrap_or(Expr::Literal(0))
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
        if self.flit(source) < whole && time.size(self.axes).unwrap_or(1).is_multiple_of(2) {
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
                    let (before, after) = outer.split_at(outer.len() - at);
                    found.push(self.cut(self.expr(&[before, &order, after].concat()), packet.clone()));
                }
            }
        }
        found
    }

    /// A window that the adapter shifts: a number of shifts a packet, the others in time, or zeros for the gaps
    /// between elements; the register file's terms at every position in time (book 15).
    fn shifts(&self, op: OpRef<'_>, source: &Tensor) -> Vec<Values> {
        let (time, packet) = (source.dim(Dim::Time), source.dim(Dim::Packet));
        let Some([first, second]) = packet.slide() else { return Vec::new() };
        let outer: Vec<Expr> = time.counting().filter(|term| term.slide().is_none()).cloned().collect();
        let streamed: BTreeSet<AxisId> =
            [&time, &packet].into_iter().flat_map(|map| names(map, self.axes)).collect();
        let weights = operand(op, 1).map(|weights| weights.dim(Dim::Element));
        let held = weights.as_ref().and_then(|weights| self.terms(weights)).unwrap_or_default();
        let own: Vec<Expr> = held
            .into_iter()
            .filter(|term| !streamed.contains(&term.axis))
            .map(|term| self.expr(&[term]))
            .collect();
        let gaps =
            weights.iter().flat_map(|weights| weights.terms().into_iter().cloned().collect::<Vec<_>>());
        let gaps = gaps.filter(|term| {
            matches!(term, Expr::Pad { inner, kind: PadKind::Zero, .. } if **inner == Expr::Literal(1))
        });
        let gaps: Vec<Expr> = gaps.collect();
        let mut found = Vec::new();
        for ((kept, _), (moved, _)) in [(first, second), (second, first)] {
            let shifts = moved.size(self.axes).unwrap_or(1);
            let several = (1..=shifts).filter(|inner| shifts.is_multiple_of(*inner));
            let parts = several.map(|inner| (moved.clone().stride(inner), moved.clone().modulo(inner)));
            let parts = parts.chain(gaps.iter().map(|gap| (moved.clone(), gap.clone())));
            for (shift, inner) in parts {
                for packet in self.filled(source.dtype, kept, &inner) {
                    for order in orders(&own) {
                        for at in 0..=outer.len() {
                            let (before, after) = outer.split_at(at);
                            let all = [before, &order, after, std::slice::from_ref(&shift)].concat();
                            found.push(self.cut(Expr::pair(all), packet.clone()));
                        }
                        let last = [&outer[..], std::slice::from_ref(&shift), &order].concat();
                        found.push(self.cut(Expr::pair(last), packet.clone()));
                    }
                }
            }
        }
        found
    }

    /// `[outer # n, inner]` with one and with two flits.
    fn filled(&self, dtype: DType, outer: &Expr, inner: &Expr) -> Vec<Expr> {
        let (size, within) = (outer.size(self.axes).unwrap_or(1), inner.size(self.axes).unwrap_or(1));
        let flit = dtype.elements(self.machine.limits.flit_bytes);
        let sizes =
            [flit, 2 * flit].into_iter().filter(|all| all.is_multiple_of(within) && all / within >= size);
        let packet = |all: u64| Expr::pair([outer.clone().pad(all / within, PadKind::Top), inner.clone()]);
        sizes.map(packet).collect()
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

    /// The result's part of a mapping, part by part if that cuts through padding; `None` if a part has both.
    fn unsummed(&self, map: &Expr) -> Option<Expr> {
        if let Some(terms) = self.terms(map) {
            let kept: Vec<Term> = terms.into_iter().filter(|term| self.kept.contains(&term.axis)).collect();
            return Some(self.expr(&kept));
        }
        match map {
            Expr::Pair(parts) => {
                let parts: Option<Vec<Expr>> = parts.iter().map(|part| self.unsummed(part)).collect();
                Some(Expr::pair(parts?.into_iter().filter(|part| *part != Expr::Literal(1))))
            }
            _ if names(map, self.axes).iter().all(|axis| !self.kept.contains(axis)) => Some(Expr::Literal(1)),
            _ if names(map, self.axes).iter().all(|axis| self.kept.contains(axis)) => Some(map.clone()),
            _ => None,
        }
    }

    /// Returns true if the result has none of the mapping's axes.
    fn summed(&self, map: &Expr) -> bool {
        let axes: Vec<AxisId> = match digits(map, self.axes) {
            Ok(digits) => digits.axes().into_keys().collect(),
            Err(_) => names(map, self.axes),
        };
        self.layout.is_some() && axes.iter().all(|axis| !self.kept.contains(axis))
    }

    /// Both modes, over the axes that the result lacks (book 19).
    fn accumulate(&self, source: &Tensor) -> Vec<Values> {
        let Some(time) = self.unsummed(&source.dim(Dim::Time)) else { return Vec::new() };
        let (row, packet) = (source.dim(Dim::Row), source.dim(Dim::Packet));
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
        let (mut layouts, stream) = (Vec::new(), Expr::pair([time.clone(), packet.clone()]));
        if names(&stream, self.axes).iter().any(|axis| !self.kept.contains(axis)) {
            return Vec::new();
        }
        if let Some(all) = self.terms(&stream).filter(|all| all.len() <= MOST_LAID_OUT) {
            layouts.extend(orders(&all).iter().map(|order| self.expr(order)));
        }
        if let (Some(outer), Some(inner)) = (self.terms(&time), self.terms(&packet)) {
            let count: u64 = inner.iter().map(|term| term.extent).product();
            for order in orders(&outer) {
                layouts.push(self.expr(&[&order[..], &inner].concat()));
                let sizes =
                    self.machine.limits.commit_sizes.iter().map(|&bytes| source.dtype.elements(bytes));
                let padded =
                    |size: u64| Expr::pair([self.expr(&order), self.expr(&inner).pad(size, PadKind::Top)]);
                layouts.extend(sizes.filter(|size| *size > count).map(padded));
            }
        }
        layouts.push(stream);
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
    fn digit(&self, axes: &Axes) -> Digit {
        let (extent, axis_size) = (self.extent, axes.size(self.axis));
        let axis = Some(self.axis);
        Digit { axis, stride: self.stride, extent, live: extent, kind: PadKind::Top, axis_size }
    }
}

/// Returns true if zeros pad a part of a mapping.
fn masks(map: &Expr) -> bool {
    let zeros = matches!(map, Expr::Pad { kind: PadKind::Zero, .. });
    zeros || map.children().into_iter().any(masks)
}

/// Every order of some terms.
fn orders<T: Clone>(terms: &[T]) -> Vec<Vec<T>> {
    match terms {
        [] => vec![Vec::new()],
        _ => {
            let first = |at: usize| {
                let (mut rest, first) = (terms.to_vec(), terms[at].clone());
                rest.remove(at);
                orders(&rest).into_iter().map(move |order| [vec![first.clone()], order].concat())
            };
            (0..terms.len()).flat_map(first).collect()
        }
    }
}
