//! Gathered terms of a stream (book 07, "Indirect Access"): `E @ (o, p, ...)` becomes a loop with an offset table.
//!
//! Each gathered term is replaced by a *scratch axis* with a position for each entry of its table, so that the rest
//! has digits. The stream is then divided by the buffer once for each entry: as if it started at the index which that
//! entry picks. The start of each of these divisions in the buffer, relative to the first, is the entry's offset;
//! their loops are the same. So any layout of the buffer will do, and the properties of a division (its law, its
//! checks) hold for each entry.
//!
//! A buffer that was itself filled through the same table holds the scratch axis, and then the term is read in order.

use crate::division::divide::{DivideError, Division, Movement, Step, divide};
use crate::expr::axes::{Axes, AxisId};
use crate::expr::{Expr, Term};
use crate::meaning::cell::{Cell, Index, Map};
use crate::meaning::digits::{Digit, Offset};
use crate::meaning::placement::{PlacedDigit, Placement};
use std::borrow::Cow;
use std::sync::Arc;
use visa_loops::Stride;

/// Most picks of a stream that are divided: the product of its tables' lengths.
pub const MAX_PICKS: u64 = 1 << 16;

/// Entries of a table that the name of its scratch axis shows.
const SHOWN: usize = 8;

/// The gathered terms of a stream, and the axes with their scratch axes.
#[derive(Clone, Debug)]
pub struct Gathers<'a> {
    axes: Cow<'a, Axes>,
    terms: Vec<Gathered>,
}

#[derive(Clone, Debug)]
struct Gathered {
    term: Expr,
    axis: AxisId,
    /// The index that each entry picks.
    picks: Vec<Index>,
    /// True if the buffer holds it too.
    held: bool,
}

/// The replacement of a gathered term; `None` if it stays.
type Replace<'r, 'a> = &'r mut dyn FnMut(&mut Gathers<'a>, &Expr) -> Result<Option<Expr>, String>;

/// A digit of the stream that counts entries of a table.
struct Counter<'a> {
    placed: PlacedDigit,
    term: &'a Gathered,
}

impl<'a> Gathers<'a> {
    /// No gathered term yet.
    #[must_use]
    pub fn new(axes: &'a Axes) -> Self {
        Self { axes: Cow::Borrowed(axes), terms: Vec::new() }
    }

    /// The axes, the scratch axes among them.
    #[must_use]
    pub fn axes(&self) -> &Axes {
        &self.axes
    }

    /// A mapping of the stream, with a scratch axis instead of each gathered term. A table that counts up also has
    /// digits, but as a table it is read from any layout.
    ///
    /// # Errors
    /// If an entry of a table picks no single element.
    pub fn stream(&mut self, map: &Expr) -> Result<Expr, String> {
        self.replaced(map, &mut |gathers, term| gathers.scratch(term).map(Some))
    }

    /// A mapping of the buffer, with the stream's scratch axis in place of a term that both have once.
    ///
    /// # Errors
    /// An alias that is not defined.
    pub fn buffer(&mut self, map: &Expr) -> Result<Expr, String> {
        self.replaced(map, &mut |gathers, term| {
            let mut same = gathers.terms.iter_mut().filter(|gathered| gathered.term == *term);
            Ok(match (same.next(), same.next()) {
                (Some(gathered), None) if !gathered.held => {
                    gathered.held = true;
                    let axis = gathered.axis;
                    Some(Expr::axis(gathers.axes.name(axis)))
                }
                (Some(_) | None, _) => None,
            })
        })
    }

    fn replaced(&mut self, map: &Expr, with: Replace<'_, 'a>) -> Result<Expr, String> {
        if !is_gathered(map, &self.axes) {
            return Ok(map.clone());
        }
        if let Expr::Alias(name) = map {
            let mapping = self.axes.alias(name).map_err(|error| error.message)?.clone();
            return self.replaced(&mapping, with);
        }
        if let Expr::Gather { inner, table } = map {
            return match **table {
                // One entry is a slice, which is in the digits.
                [entry] => Ok((**inner).clone().slice(entry).resize(1)),
                _ => Ok(with(self, map)?.unwrap_or_else(|| map.clone())),
            };
        }
        map.map_children(|child| self.replaced(child, with))
    }

    /// A new scratch axis for a gathered term.
    fn scratch(&mut self, term: &Expr) -> Result<Expr, String> {
        let map = Map::new(term, &self.axes).map_err(|error| error.message)?;
        let pick = |at: u64| match map.cell(at) {
            Some(Cell::Live(index)) => Ok(index),
            Some(Cell::Shared(_)) => {
                Err(format!("entry {at} of the table of `{}` picks several indices", Term(term)))
            }
            Some(Cell::Pad(kind)) => Err(format!("entry {at} of the table of `{}` picks {kind}", Term(term))),
            None => Err(format!("`{}` has no entry {at}", Term(term))),
        };
        let picks = (0..map.size()).map(pick).collect::<Result<Vec<_>, _>>()?;
        let axis = self.axes.to_mut().stand_in(&shown(term), map.size());
        let name = Expr::axis(self.axes.name(axis));
        self.terms.push(Gathered { term: term.clone(), axis, picks, held: false });
        Ok(name)
    }

    /// [`divide`](crate::divide) for mappings that [`Gathers::stream`] and [`Gathers::buffer`] gave.
    ///
    /// # Errors
    /// As there, for any entry of a table; and if the entries of several tables do not add up, or are too many.
    pub fn divide(
        &self,
        stream: &Placement,
        buffer: &Placement,
        free: &dyn Fn(AxisId) -> bool,
    ) -> Result<Division, DivideError> {
        let is_scratch = |axis: AxisId| self.terms.iter().any(|term| term.axis == axis);
        let free = |axis: AxisId| !is_scratch(axis) && free(axis);
        let picked: Vec<&Gathered> = self.terms.iter().filter(|term| !term.held).collect();
        if picked.is_empty() {
            return divide(stream, buffer, &free, &self.axes);
        }
        let term_of = |axis: Option<AxisId>| picked.iter().copied().find(|term| Some(term.axis) == axis);
        let counter =
            |placed: &PlacedDigit| term_of(placed.digit.axis).map(|term| Counter { placed: *placed, term });
        let counters = stream.digits.iter().filter_map(counter).collect();
        let mut rest = stream.clone();
        rest.digits.retain(|placed| term_of(placed.digit.axis).is_none());
        rest.origin.retain(|offset| term_of(Some(offset.axis)).is_none());
        Picking { axes: &self.axes, stream, rest, buffer, free: &free, picked, counters }.divide()
    }
}

/// A division for each pick.
struct Picking<'a> {
    axes: &'a Axes,
    stream: &'a Placement,
    /// The stream without its gathered terms.
    rest: Placement,
    buffer: &'a Placement,
    free: &'a dyn Fn(AxisId) -> bool,
    picked: Vec<&'a Gathered>,
    counters: Vec<Counter<'a>>,
}

impl Picking<'_> {
    fn divide(&self) -> Result<Division, DivideError> {
        let lives: Vec<u64> = self.counters.iter().map(|counter| counter.placed.digit.live).collect();
        let picks = lives.iter().try_fold(1_u64, |all, live| all.checked_mul(*live));
        let picks = picks.filter(|picks| *picks <= MAX_PICKS);
        let picks =
            picks.ok_or_else(|| self.refuse(format!("there are more than {MAX_PICKS} picks together")))?;
        let zeros = vec![0; lives.len()];
        let mut division = self.at(&zeros)?;
        let tables = lives.iter().enumerate().map(|(counter, &live)| {
            let at = |at: u64| {
                let mut numbers = zeros.clone();
                numbers[counter] = at;
                self.offset(&numbers, &division)
            };
            (0..live).map(at).collect::<Result<Vec<_>, _>>()
        });
        let tables = tables.collect::<Result<Vec<_>, _>>()?;
        // Several tables of one axis may carry: then the offset of two entries is not the sum of theirs.
        for number in if tables.len() > 1 { 0..picks } else { 0..0 } {
            let at = mixed(number, &lives);
            let mut parts = tables.iter().zip(&at).map(|(table, &at)| table.get(at as usize).copied());
            let sum = parts.try_fold(0_i64, |sum, part| sum.checked_add(part?));
            if sum != Some(self.offset(&at, &division)?) {
                return Err(self.refuse("their entries are at no sum of an offset each".to_owned()));
            }
        }
        for (counter, table) in self.counters.iter().zip(tables) {
            let PlacedDigit { digit: Digit { extent, live, .. }, weight } = counter.placed;
            division.steps.push(Step { extent, live, at: weight, movement: movement(table) });
        }
        division.steps.sort_by_key(|step| step.at);
        division.relaxed.get_or_insert_with(|| format!("`{}` is gathered", self.names()));
        Ok(division)
    }

    fn names(&self) -> String {
        self.picked.iter().map(|term| self.axes.name(term.axis)).collect::<Vec<_>>().join("`, `")
    }

    fn refuse(&self, why: String) -> DivideError {
        DivideError::Gathered { terms: self.names(), why }
    }

    /// The index of the stream's position where each counter is at its number. An entry past the table's end
    /// is padding, which may be read anywhere.
    fn index(&self, at: &[u64]) -> Index {
        let mut index = Index::new();
        for term in &self.picked {
            let own = self.counters.iter().zip(at).filter(|(counter, _)| counter.term.axis == term.axis);
            let steps = own.map(|(counter, at)| counter.placed.digit.stride.saturating_mul(*at));
            let entry = steps.fold(self.stream.start(term.axis), u64::saturating_add);
            if let Some(pick) = usize::try_from(entry).ok().and_then(|entry| term.picks.get(entry)) {
                index.add_index(pick);
            }
        }
        index
    }

    /// The division of the stream from there on.
    fn at(&self, at: &[u64]) -> Result<Division, DivideError> {
        divide(&started(&self.rest, &self.index(at), self.axes), self.buffer, self.free, self.axes)
    }

    /// Where it starts, relative to the first.
    fn offset(&self, at: &[u64], first: &Division) -> Result<i64, DivideError> {
        let own = self.at(at)?;
        if own.steps != first.steps {
            return Err(self.refuse("the loops of the entries differ".to_owned()));
        }
        Ok(own.base.saturating_sub(first.base))
    }
}

/// The digits of a number in mixed radix, first digit minor.
pub(crate) fn mixed(mut number: u64, radices: &[u64]) -> Vec<u64> {
    let digit = |radix: &u64| {
        let digit = number % radix;
        number /= radix;
        digit
    };
    radices.iter().map(digit).collect()
}

/// A table whose offsets are evenly apart is a stride.
pub(crate) fn movement(table: Vec<i64>) -> Movement {
    let step = table.get(1).copied().unwrap_or_default();
    let even = (0_i64..).zip(&table).all(|(at, offset)| at.checked_mul(step) == Some(*offset));
    match (even, step) {
        (true, 0) => Movement::Broadcast,
        (true, step) => Movement::By(Stride::Fixed(step)),
        (false, _) => Movement::By(Stride::Table(table.into())),
    }
}

/// The stream from `index` on.
fn started(stream: &Placement, index: &Index, axes: &Axes) -> Placement {
    let offset = |(axis, coordinate)| Offset { axis, coordinate, axis_size: axes.size(axis) };
    let start = Placement { origin: index.iter().map(offset).collect(), ..Placement::default() };
    stream.clone().join(start)
}

/// Returns true if some part of the mapping is gathered: `X @(...)`.
#[must_use]
pub fn is_gathered(map: &Expr, axes: &Axes) -> bool {
    match map {
        Expr::Gather { .. } => true,
        Expr::Alias(name) => axes.alias(name).is_ok_and(|mapping| is_gathered(mapping, axes)),
        Expr::Axis(_)
        | Expr::Literal(_)
        | Expr::Pair(_)
        | Expr::Outer(_)
        | Expr::Pad { .. }
        | Expr::Resize { .. }
        | Expr::Stride { .. }
        | Expr::Modulo { .. }
        | Expr::Slice { .. }
        | Expr::Slide(_) => map.children().into_iter().any(|child| is_gathered(child, axes)),
    }
}

/// A gathered term in a message: of a long table the first entries.
fn shown(term: &Expr) -> String {
    match term {
        Expr::Gather { inner, table } if table.len() > SHOWN => {
            let short = inner.as_ref().clone().gather(Arc::from(&table[..SHOWN]));
            format!("{}, ...)", Term(&short).to_string().trim_end_matches(')'))
        }
        Expr::Gather { .. }
        | Expr::Axis(_)
        | Expr::Alias(_)
        | Expr::Literal(_)
        | Expr::Pair(_)
        | Expr::Outer(_)
        | Expr::Pad { .. }
        | Expr::Resize { .. }
        | Expr::Stride { .. }
        | Expr::Modulo { .. }
        | Expr::Slice { .. }
        | Expr::Slide(_) => Term(term).to_string(),
    }
}

#[cfg(test)]
mod tests;
