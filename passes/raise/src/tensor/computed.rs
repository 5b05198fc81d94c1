//! Clauses that rules compute, and the predicates of their conditions.

use crate::order::without_order;
use crate::tensor::facts::{Fact, Facts, Kind};
use std::collections::BTreeMap;
use std::rc::Rc;
use visa_algebra::{AxisId, Cell, Expr, Map, digits};
use visa_ir::context::{AttrId, Context};
use visa_ir::span::Span;
use visa_mapping::coverage::Coverage;
use visa_mapping::ops::cast::conversion;
use visa_mapping::raise::sets::Set;
use visa_mapping::summed::named;
use visa_mapping::tensor::attrs::MAP;
use visa_numerics::{DType, ReduceName};

/// Longest axis whose coordinates are looked at.
const MAX_COORDINATES: u64 = 1 << 20;

/// A clause that is computed of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Computed {
    /// The indices that stay where those of the first mapping stay, and of these those of the second.
    Both,
    /// The positions of two mappings, those of the first outermost.
    Pair,
    /// The positions of a mapping in the order of their coordinates. One position of padding stays if there was any.
    Sorted,
    /// The same without padding.
    Live,
}

impl Computed {
    /// The names, in the order of the variants.
    pub(crate) const NAMES: [&str; 4] = ["both", "pair", "sorted", "live"];
    const ALL: [Self; 4] = [Self::Both, Self::Pair, Self::Sorted, Self::Live];

    /// The function of this name.
    #[must_use]
    pub(crate) fn find(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|known| *known == name).map(|at| Self::ALL[at])
    }

    /// Number of its arguments.
    #[must_use]
    pub(crate) fn arguments(self) -> usize {
        match self {
            Self::Both | Self::Pair => 2,
            Self::Sorted | Self::Live => 1,
        }
    }

    /// The clause; `None` if it has none.
    #[must_use]
    pub(crate) fn value(self, facts: &Facts<'_>, arguments: &[&Fact]) -> Option<AttrId> {
        let maps: Vec<Rc<Expr>> = arguments.iter().map(|fact| map(facts.ctx, fact)).collect::<Option<_>>()?;
        let expr = match (self, maps.as_slice()) {
            (Self::Both, [first, second]) => both(facts, first, second)?,
            (Self::Pair, [first, second]) => {
                let names = named(first);
                if named(second).iter().any(|axis| names.contains(axis)) {
                    return None;
                }
                Expr::pair([(**first).clone(), (**second).clone()])
            }
            (Self::Sorted, [only]) => without_order(only, &facts.axes, true)?,
            (Self::Live, [only]) => without_order(only, &facts.axes, false)?,
            (Self::Both | Self::Pair | Self::Sorted | Self::Live, _) => return None,
        };
        Some(facts.ctx.body_attr(&MAP, expr))
    }
}

/// The mapping that a clause is.
fn map(ctx: &Context, fact: &Fact) -> Option<Rc<Expr>> {
    match fact.kind {
        Kind::Clause(Some(attr)) => ctx.attr_value(attr),
        Kind::Clause(None) | Kind::Value(_) | Kind::Results(_) | Kind::Function(_) | Kind::Wrong => None,
    }
}

/// The coordinates that a mapping holds along each axis that it mentions.
pub(crate) fn held(facts: &Facts<'_>, map: &Expr) -> Option<BTreeMap<AxisId, Set>> {
    let coverage = Coverage::of_map(map, &facts.axes, Span::default()).ok()?;
    let of = |axis: AxisId| {
        let size = Some(facts.axes.size(axis)).filter(|&size| size <= MAX_COORDINATES)?;
        Some((axis, Set::of(&coverage.held(axis, usize::try_from(size).ok()?))))
    };
    coverage.axes().map(of).collect()
}

fn both(facts: &Facts<'_>, first: &Expr, second: &Expr) -> Option<Expr> {
    let (outer, inner) = (held(facts, first)?, held(facts, second)?);
    // Along an axis that goes, coordinate 0 is looked at.
    let gone = outer.iter().filter(|(axis, _)| !inner.contains_key(axis));
    if !gone.into_iter().all(|(_, set)| set.has(0)) {
        return None;
    }
    let both = inner.iter().map(|(axis, set)| {
        let both = outer.get(axis)?.intersection(set);
        (!both.coordinates().is_empty()).then(|| both.expr(*axis, &facts.axes))
    });
    let terms: Vec<Expr> = both.collect::<Option<_>>()?;
    Some(if terms.is_empty() { Expr::Literal(1) } else { Expr::pair(terms) })
}

/// A predicate of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Predicate {
    /// Each element of a value is defined.
    Total,
    /// A mapping holds every coordinate along its axes, each at one position.
    Whole,
    /// The first position of a mapping holds coordinate 0 along every axis.
    Starts,
    /// Every position of a mapping holds an index.
    Unpadded,
    /// The elements of a value are integers.
    Integer,
    /// A value is an integer other than 0.
    Nonzero,
    /// A value is the integer 0.
    Zero,
    /// A value is the integer 1.
    One,
    /// A cast of a value to a format loses nothing.
    Lossless,
    /// An engine converts a value to a format.
    Converts,
    /// A mapping mentions each axis of a mapping or value.
    Mentions,
    /// A value has no axis of a mapping.
    Lacks,
    /// A value has each axis of a mapping.
    Has,
    /// A reduction of a value by a function has the same result in any order, and without padding.
    Regroups,
    /// A reduction of a value by a function has the same result in any order.
    Reorders,
    /// The indices that the first mapping holds are among those of the second, which cuts no other axis.
    Within,
}

impl Predicate {
    /// The names, in the order of the variants.
    pub(crate) const NAMES: [&str; 16] = [
        "total", "whole", "starts", "unpadded", "integer", "nonzero", "zero", "one", "lossless", "converts",
        "mentions", "lacks", "has", "regroups", "reorders", "within",
    ];
    const ALL: [Self; 16] = [
        Self::Total,
        Self::Whole,
        Self::Starts,
        Self::Unpadded,
        Self::Integer,
        Self::Nonzero,
        Self::Zero,
        Self::One,
        Self::Lossless,
        Self::Converts,
        Self::Mentions,
        Self::Lacks,
        Self::Has,
        Self::Regroups,
        Self::Reorders,
        Self::Within,
    ];

    /// The predicate of this name.
    #[must_use]
    pub(crate) fn find(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|known| *known == name).map(|at| Self::ALL[at])
    }

    /// Number of its arguments.
    #[must_use]
    pub(crate) fn arguments(self) -> usize {
        match self {
            Self::Total | Self::Whole | Self::Starts | Self::Unpadded | Self::Integer => 1,
            Self::Nonzero | Self::Zero | Self::One => 1,
            Self::Lossless | Self::Converts | Self::Mentions | Self::Lacks | Self::Has => 2,
            Self::Regroups | Self::Reorders | Self::Within => 2,
        }
    }

    /// Returns true if it holds; of arguments of the wrong sort it does not.
    #[must_use]
    pub(crate) fn holds(self, facts: &Facts<'_>, arguments: &[&Fact]) -> bool {
        let holds = match arguments {
            [only] => self.holds_of(facts, only),
            [first, second] => self.holds_between(facts, first, second),
            _ => None,
        };
        holds == Some(true)
    }

    /// Returns true if it holds of its one argument.
    fn holds_of(self, facts: &Facts<'_>, only: &Fact) -> Option<bool> {
        let dtype = || facts.value(only).map(|value| value.dtype);
        let number = || (dtype()? == DType::I32).then_some(only.number).flatten();
        Some(match self {
            Self::Total => only.total,
            Self::Whole => is_whole(facts, &*map(facts.ctx, only)?),
            Self::Starts => starts(facts, &*map(facts.ctx, only)?),
            Self::Unpadded => is_unpadded(facts, &*map(facts.ctx, only)?),
            Self::Integer => !dtype()?.is_float(),
            Self::Nonzero => number()? != 0,
            Self::Zero => number()? == 0,
            Self::One => number()? == 1,
            Self::Lossless | Self::Converts | Self::Mentions | Self::Lacks | Self::Has => return None,
            Self::Regroups | Self::Reorders | Self::Within => return None,
        })
    }

    /// Returns true if it holds of its two arguments.
    fn holds_between(self, facts: &Facts<'_>, first: &Fact, second: &Fact) -> Option<bool> {
        let ctx = facts.ctx;
        let dtype = || facts.value(first).map(|value| value.dtype);
        let format = || attr(second).and_then(|attr| ctx.attr_value::<DType>(attr)).map(|dtype| *dtype);
        let axes = |fact: &Fact| match facts.value(fact) {
            Some(value) => Some(value.axes.clone()),
            None => Some(named(&*map(ctx, fact)?)),
        };
        Some(match self {
            Self::Lossless => is_lossless(dtype()?, format()?),
            Self::Converts => conversion(dtype()?, format()?).is_some(),
            Self::Mentions | Self::Has => {
                let all = axes(first)?;
                axes(second)?.iter().all(|axis| all.contains(axis))
            }
            Self::Lacks => {
                let own = axes(first)?;
                !axes(second)?.iter().any(|axis| own.contains(axis))
            }
            Self::Regroups | Self::Reorders => {
                let exact = !dtype()?.is_float();
                match function(ctx, attr(second)?)? {
                    ReduceName::Max | ReduceName::Min => exact || self == Self::Reorders,
                    ReduceName::Add | ReduceName::Mul => exact,
                    ReduceName::AddSat => false,
                }
            }
            Self::Within => is_within(facts, &*map(ctx, first)?, &*map(ctx, second)?),
            Self::Total | Self::Whole | Self::Starts | Self::Unpadded | Self::Integer => return None,
            Self::Nonzero | Self::Zero | Self::One => return None,
        })
    }
}

fn attr(fact: &Fact) -> Option<AttrId> {
    match fact.kind {
        Kind::Clause(attr) => attr,
        Kind::Value(_) | Kind::Results(_) | Kind::Function(_) | Kind::Wrong => None,
    }
}

/// The function of a reduction that a clause is.
fn function(ctx: &Context, attr: AttrId) -> Option<ReduceName> {
    match ctx.attr_data(attr) {
        visa_ir::context::Attr::Str(word) => visa_ir::Word::from_word(&word),
        _ => None,
    }
}

fn is_whole(facts: &Facts<'_>, map: &Expr) -> bool {
    let Some(held) = held(facts, map) else { return false };
    let sizes = held.keys().map(|axis| facts.axes.size(*axis)).fold(1, u64::saturating_mul);
    held.values().all(Set::is_all) && map.size(&facts.axes).is_ok_and(|size| size == sizes)
}

/// Returns true if the first position holds the empty index.
fn starts(facts: &Facts<'_>, map: &Expr) -> bool {
    let cell = Map::new(map, &facts.axes).ok().and_then(|map| map.cell(0));
    matches!(cell, Some(Cell::Live(index)) if index.iter().next().is_none())
}

/// Returns true if every position holds an index.
fn is_unpadded(facts: &Facts<'_>, map: &Expr) -> bool {
    digits(map, &facts.axes).is_ok_and(|own| own.live_count() == Some(own.size()))
}

/// Returns true if `outer` cuts only axes of `inner`, and holds its coordinates along them.
fn is_within(facts: &Facts<'_>, inner: &Expr, outer: &Expr) -> bool {
    let (Some(inner), Some(outer)) = (held(facts, inner), held(facts, outer)) else { return false };
    outer.iter().all(|(axis, set)| match inner.get(axis) {
        Some(inside) => inside.intersection(set) == *inside,
        None => set.is_all(),
    })
}

/// Returns true if the conversion keeps all bits, so that one back gives the same element. Floats have subnormal
/// numbers, which conversions lose.
fn is_lossless(from: DType, to: DType) -> bool {
    conversion(from, to).is_some() && from.bits() < to.bits() && !from.is_float() && !to.is_float()
}
