//! Is a rule sound? Both sides are compared position by position on every small example that fits.
//!
//! Examples are grown from the left side: a metavariable for mappings takes each expression of a pool, a divisor each
//! divisor of its dividend, and so on, so that every example keeps the size rules. A condition is asked as soon as its
//! metavariables are known. Cells are those of [`Map`], the readable semantics of a mapping, not those of the normal
//! form.
//!
//! A rule is used inside groups too, and there equal cells are not enough: below another term of the same axis a
//! position may leave the axis, and then it matters whether a strict padding is met before or after. So both sides
//! are also compared below terms that are near the ends of all axes.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use visa_ir::diag::counted;

use visa_algebra::{Axes, Expr, Map, PadKind, describe};

use super::language::{Piece, group};
use super::pool::{self, Pool};
use super::rule::{Kind, Num, Operator, Rule, Sort, Term};
use visa_rules::{Counterexample, Verdict};

/// Most examples of one rule.
pub const MAX_INSTANCES: u64 = 20_000;

/// Most choices that are tried for one rule before the pool is thinned.
const MAX_CHOICES: u64 = 300_000;

/// The thinnest pool has every so-manieth expression.
const MAX_THINNING: usize = 32;

/// Most positions of an example.
const MAX_POSITIONS: u64 = 512;

/// Checks a rule, both ways if it is used both ways.
pub(crate) fn check(rule: &Rule) -> Verdict {
    let pool = Pool::new();
    let first = check_one(rule, &pool);
    match first {
        Verdict::Sound { instances, compared } if rule.both_ways => {
            match check_one(&rule.reversed(), &pool) {
                Verdict::Sound { instances: more, compared: others } => {
                    // A direction that no example covers is not checked.
                    let instances = if more == 0 { 0 } else { instances + more };
                    Verdict::Sound { instances, compared: compared + others }
                }
                failed @ (Verdict::Unsound(_) | Verdict::Unchecked { .. } | Verdict::Undecided { .. }) => {
                    failed
                }
            }
        }
        Verdict::Sound { .. }
        | Verdict::Unsound(_)
        | Verdict::Unchecked { .. }
        | Verdict::Undecided { .. } => first,
    }
}

fn check_one(rule: &Rule, pool: &Pool) -> Verdict {
    // Many metavariables have too many examples: then of the pool every second expression is taken, every fourth, ...
    let mut thinning = least_thinning(rule, pool);
    loop {
        let check = Check { rule, pool, thinning, state: RefCell::default() };
        let env = vec![None; rule.scope.names().len()];
        check.term(&rule.left, &env, &mut |env, left| check.instance(env, left));
        let state = check.state.into_inner();
        if let Some(example) = state.counterexample {
            return Verdict::Unsound(example);
        }
        if !state.full() || thinning == MAX_THINNING {
            return Verdict::Sound { instances: state.instances, compared: state.positions };
        }
        thinning *= 2;
    }
}

/// The thinning at which the metavariables for mappings alone stay below [`MAX_CHOICES`].
fn least_thinning(rule: &Rule, pool: &Pool) -> usize {
    let mappings = rule.scope.names().iter().filter(|(_, sort)| *sort == Sort::Mapping).count() as u32;
    let choices = |thinning: usize| (pool.expressions.len().div_ceil(thinning) as u64).checked_pow(mappings);
    let fits = |thinning: &usize| choices(*thinning).is_some_and(|choices| choices <= MAX_CHOICES);
    let mut thinnings =
        std::iter::successors(Some(1), |thinning| Some(thinning * 2)).take_while(|n| *n < MAX_THINNING);
    thinnings.find(fits).unwrap_or(MAX_THINNING)
}

#[derive(Default)]
struct State {
    choices: u64,
    instances: u64,
    positions: u64,
    counterexample: Option<Counterexample>,
}

impl State {
    fn full(&self) -> bool {
        self.instances > MAX_INSTANCES || self.choices > MAX_CHOICES
    }

    fn done(&self) -> bool {
        self.counterexample.is_some() || self.full()
    }
}

struct Check<'a> {
    rule: &'a Rule,
    pool: &'a Pool,
    thinning: usize,
    state: RefCell<State>,
}

/// The piece that each slot stands for so far.
type Slots = [Option<Piece>];
/// Takes the slots and the mapping that they make.
type Then<'a> = &'a mut dyn FnMut(&Slots, &Expr);

impl Check<'_> {
    fn axes(&self) -> &Axes {
        &self.pool.axes
    }

    /// The slots with one more known, unless a condition that can be asked now fails.
    fn bind(&self, slots: &Slots, slot: usize, piece: Piece) -> Option<Vec<Option<Piece>>> {
        let mut state = self.state.borrow_mut();
        state.choices += 1;
        if state.done() {
            return None;
        }
        let mut slots = slots.to_vec();
        slots[slot] = Some(piece);
        let env = |slot: usize| slots[slot].as_ref();
        let applies = self.rule.applies(&|test| test.holds(&env, self.axes()));
        if applies == Some(false) { None } else { Some(slots) }
    }

    /// Every example of a term that fits the slots known so far.
    fn term(&self, term: &Term, slots: &Slots, then: Then<'_>) {
        if self.state.borrow().done() {
            return;
        }
        match term {
            Term::Var(slot) => self.variable(*slot, &self.pool.expressions, slots, then),
            Term::Literal(n) => {
                self.number(n, &[1, 2, 3, 4, 6], slots, &mut |slots, n| then(slots, &Expr::Literal(n)))
            }
            Term::Group(terms, rest) => self.group(terms, *rest, slots, then),
            Term::Pad { inner, size, kind, side } => self.term(inner, slots, &mut |slots, inner| {
                self.kind(kind, slots, &mut |slots, kind| {
                    let Ok(least) = inner.size(self.axes()) else { return };
                    self.number(size, &pool::sizes_from(least), slots, &mut |slots, size| {
                        then(slots, &Expr::Pad { inner: Box::new(inner.clone()), size, kind, side: *side });
                    });
                });
            }),
            Term::Apply(inner, operator, n) => self.term(inner, slots, &mut |slots, inner| {
                let Ok(size) = inner.size(self.axes()) else { return };
                let numbers = match operator {
                    Operator::Stride | Operator::Modulo => pool::divisors(size),
                    Operator::Resize => pool::sizes_to(size),
                    Operator::Slice | Operator::Pick => pool::offsets(size),
                };
                self.number(n, &numbers, slots, &mut |slots, n| {
                    then(slots, &operator.apply(inner.clone(), n))
                });
            }),
            Term::Gather(inner, table) => self.term(inner, slots, &mut |slots, inner| {
                let Ok(size) = inner.size(self.axes()) else { return };
                self.table(*table, size, slots, &mut |slots, table| {
                    then(slots, &inner.clone().gather(table))
                });
            }),
            Term::Slide(terms, rest) => self.slide(terms, *rest, Vec::new(), slots, then),
        }
    }

    fn variable(&self, slot: usize, choices: &[Rc<Expr>], slots: &Slots, then: Then<'_>) {
        if let Some(Piece::Mapping(known)) = &slots[slot] {
            return then(slots, &known.clone());
        }
        for expr in choices.iter().step_by(self.thinning) {
            if let Some(slots) = self.bind(slots, slot, Piece::Mapping(expr.clone())) {
                then(&slots, expr);
            }
        }
    }

    fn group(&self, terms: &[Term], rest: Option<usize>, slots: &Slots, then: Then<'_>) {
        match (terms.split_first(), rest) {
            (Some((first, others)), _) => self.term(first, slots, &mut |slots, first| {
                self.group(others, rest, slots, &mut |slots, others| {
                    then(slots, &group(first.clone(), others))
                });
            }),
            (None, Some(slot)) => self.variable(slot, &self.pool.rests, slots, then),
            (None, None) => then(slots, &Expr::Literal(1)),
        }
    }

    fn slide(
        &self,
        terms: &[(Term, Num)],
        rest: Option<usize>,
        before: Vec<(Expr, u64)>,
        slots: &Slots,
        then: Then<'_>,
    ) {
        if let Some(((first, stride), others)) = terms.split_first() {
            let mut with = |slots: &Slots, first: &Expr| {
                self.number(stride, &pool::STRIDES, slots, &mut |slots, stride| {
                    let mut before = before.clone();
                    before.push((first.clone(), stride));
                    self.slide(others, rest, before, slots, then);
                });
            };
            return match first {
                Term::Var(slot) => self.variable(*slot, &self.pool.sliding, slots, &mut with),
                _ => self.term(first, slots, &mut with),
            };
        }
        let Some(slot) = rest else { return then(slots, &Expr::Slide(before)) };
        for more in self.pool.terms.iter().step_by(self.thinning) {
            if let Some(slots) = self.bind(slots, slot, Piece::Terms(more.clone())) {
                then(&slots, &Expr::Slide(before.iter().chain(more.iter()).cloned().collect()));
            }
        }
    }

    /// Every choice of a number: on the left side a number is written or a metavariable.
    fn number(&self, number: &Num, choices: &[u64], slots: &Slots, then: &mut dyn FnMut(&Slots, u64)) {
        let Num::Var(slot) = number else {
            let env = |slot: usize| slots[slot].as_ref();
            return number.value(&env, self.axes()).map_or((), |n| then(slots, n));
        };
        if let Some(known) = slots[*slot].as_ref().and_then(Piece::number) {
            return then(slots, known);
        }
        for &n in choices {
            if let Some(slots) = self.bind(slots, *slot, Piece::Number(n)) {
                then(&slots, n);
            }
        }
    }

    fn kind(&self, kind: &Kind, slots: &Slots, then: &mut dyn FnMut(&Slots, PadKind)) {
        let slot = match kind {
            Kind::Is(kind) => return then(slots, *kind),
            Kind::Var(slot) => *slot,
        };
        if let Some(Piece::Kind(known)) = slots[slot] {
            return then(slots, known);
        }
        for kind in [PadKind::Top, PadKind::Zero, PadKind::Bottom] {
            if let Some(slots) = self.bind(slots, slot, Piece::Kind(kind)) {
                then(&slots, kind);
            }
        }
    }

    fn table(&self, slot: usize, size: u64, slots: &Slots, then: &mut dyn FnMut(&Slots, Arc<[u64]>)) {
        if let Some(Piece::Table(known)) = &slots[slot] {
            return then(slots, known.clone());
        }
        for table in pool::tables(size) {
            if let Some(slots) = self.bind(slots, slot, Piece::Table(table.clone())) {
                then(&slots, table);
            }
        }
    }

    /// Compares the two sides of one example.
    fn instance(&self, slots: &Slots, left: &Expr) {
        let mut state = self.state.borrow_mut();
        if state.done() {
            return;
        }
        let env = |slot: usize| slots[slot].as_ref();
        // Left sides that break a size rule, and those too long to spell out, are no examples.
        let Ok(map) = Map::new(left, self.axes()) else { return };
        let applies = self.rule.applies(&|test| test.holds(&env, self.axes()));
        if map.size() > MAX_POSITIONS || applies != Some(true) {
            return;
        }
        let right = self.rule.right.build(&env, self.axes());
        match self.anywhere(left, &map, right.as_ref()) {
            None => {
                state.instances += 1;
                state.positions += map.size();
            }
            Some((left, right, why)) => {
                let axes: Vec<_> =
                    self.axes().iter().map(|(_, name, size)| format!("{name} = {size}")).collect();
                let given = format!("axes {}", axes.join(", "));
                let (left, right) = (left.to_string(), right.as_ref().map(ToString::to_string));
                state.counterexample = Some(Counterexample { given, left, right, why });
            }
        }
    }

    /// Where the sides differ, alone or inside a group, and how.
    fn anywhere(&self, left: &Expr, map: &Map, right: Option<&Expr>) -> Option<(Expr, Option<Expr>, String)> {
        if let Some(why) = self.difference(map, right) {
            return Some((left.clone(), right.cloned(), why));
        }
        let right = right?;
        self.pool.contexts.iter().find_map(|context| {
            let (left, right) = (group(context.clone(), left), group(context.clone(), right));
            let why = self.difference(&Map::new(&left, self.axes()).ok()?, Some(&right))?;
            Some((left, Some(right), why))
        })
    }

    fn difference(&self, left: &Map, right: Option<&Expr>) -> Option<String> {
        let Some(right) = right else {
            return Some(
                "a number of its right side cannot be computed (not whole, negative or too large)".to_owned(),
            );
        };
        let right = match Map::new(right, self.axes()) {
            Ok(right) => right,
            Err(error) => return Some(format!("its right side is broken, {}", error.message)),
        };
        if left.size() != right.size() {
            return Some(format!("its sides have {} and {}", left.size(), counted(right.size(), "position")));
        }
        let at = (0..left.size()).find(|&at| left.cell(at) != right.cell(at))?;
        let shown = |map: &Map| describe(map.cell(at).as_ref(), self.axes());
        Some(format!(
            "position {at} holds {} on the left side and {} on the right side",
            shown(left),
            shown(&right)
        ))
    }
}
