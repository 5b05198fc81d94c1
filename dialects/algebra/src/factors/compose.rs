//! Composition: one mapping read in the order of another.
//!
//! Let f be a mapping and P an axis with as many positions as f. A mapping g that moves along P names positions of f,
//! and `(f . g)(i)` is the index f(g(i).P) plus the coordinates of g(i) along other axes. Padding of g stays, a padded
//! position of f is padding.
//!
//! *Laws.* With the identity `[P]`, `f . [P] = f`. `f . [P / n]` is `f / n` and `f . [P % n]` is `f % n`.
//! Composition is associative where it is defined.
//!
//! Lowering composes when a view or a relabelling is between a buffer and its reader, and where the switch or a
//! transposition rearranges the output of an earlier stage.
//!
//! A digit of g along P is cut at the boundaries of the digits of f, as in division (book 07). It is refused where
//! a cut falls inside a step, where steps carry from one digit of f into the next, and where two kinds of padding
//! would be met in another order.

use crate::expr::axes::{Axes, AxisId};
use crate::expr::{Expr, PadKind};
use crate::meaning::digits::{Digit, Digits, DigitsError, Ragged};
use visa_words::counted;

/// f read in the order of g, which names its positions by `axis`.
///
/// # Errors
/// If the axis has not as many positions as f, f moves along it itself, or the result has no digits.
pub fn compose(f: &Digits, g: &Digits, axis: AxisId, axes: &Axes) -> Result<Digits, DigitsError> {
    let name = axes.name(axis);
    if f.size() != axes.size(axis) {
        let (count, size) = (f.size(), axes.size(axis));
        return Err(ragged(format!(
            "{name} has {}, the mapping that it names has {count}",
            counted(size, "position")
        )));
    }
    if f.axes().contains_key(&axis) || f.offset().iter().any(|offset| offset.axis == axis) {
        return Err(ragged(format!("the mapping that {name} names moves along {name} itself")));
    }
    let mut composer = Composer::start(f, g, axis);
    for digit in g.iter() {
        match digit.axis {
            Some(own) if own == axis => composer.cut(*digit, name)?,
            Some(_) | None => {
                composer.result.push(Part { digit: *digit, from: Source::Outer, pads: Source::Outer });
            }
        }
    }
    composer.check_carries(name)?;
    composer.check_padding()?;
    composer.finish(f, g, axis, axes)
}

fn ragged(at: String) -> DigitsError {
    Ragged { at }.into()
}

/// Where a digit of the result comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    /// g: its padding decides before that of f.
    Outer,
    /// The digit of f with this number, counted from the major end: a smaller one decides first.
    Inner(usize),
}

/// A digit of f, and the coordinates of it that g visits.
struct VisitedDigit {
    digit: Digit,
    /// Positions of f a step.
    weight: u64,
    /// Its value at the first position that g names.
    start: u64,
    /// Sum of the last steps.
    reach: u64,
    steps: usize,
}

/// A digit of the result.
struct Part {
    digit: Digit,
    /// Source of its coordinates.
    from: Source,
    /// Source of its padding.
    pads: Source,
}

struct Composer {
    held: Vec<VisitedDigit>,
    /// Minor first.
    result: Vec<Part>,
}

impl Composer {
    fn start(f: &Digits, g: &Digits, axis: AxisId) -> Self {
        let first =
            g.offset().iter().find(|offset| offset.axis == axis).map_or(0, |offset| offset.coordinate);
        let mut weight = 1;
        let held = f.iter().map(|digit| {
            let start = first / weight % digit.extent;
            let held = VisitedDigit { digit: *digit, weight, start, reach: start, steps: 0 };
            weight *= digit.extent;
            held
        });
        Self { held: held.collect(), result: Vec::new() }
    }

    /// Cuts one digit of g at the boundaries of the digits of f.
    fn cut(&mut self, digit: Digit, name: &str) -> Result<(), DigitsError> {
        let mut rest = digit;
        while rest.extent > 1 {
            let inside =
                |held: &VisitedDigit| (held.weight..held.weight * held.digit.extent).contains(&rest.stride);
            // The strides of g are positions of f, so some digit counts them.
            let Some(at) = self.held.iter().position(inside) else {
                return Err(ragged(format!("{name} / {} is no position", rest.stride)));
            };
            let VisitedDigit { weight, digit: Digit { extent, .. }, .. } = self.held[at];
            let end = weight * extent;
            let count = end.div_ceil(rest.stride);
            let fits = rest.live <= count;
            let whole = end.is_multiple_of(rest.stride)
                && rest.live.is_multiple_of(count)
                && rest.extent.is_multiple_of(count);
            if !rest.stride.is_multiple_of(weight) || !(fits || whole) {
                return Err(ragged(format!("radices {} of {name} and {end} do not fit", rest.stride)));
            }
            let live = rest.live.min(count);
            let positions = if fits { rest.extent } else { count };
            self.take(at, Digit { extent: positions, live, ..rest })?;
            if fits {
                break;
            }
            let (extent, live) = (rest.extent / count, rest.live / count);
            rest = Digit { stride: end, extent, live, ..rest };
        }
        Ok(())
    }

    /// The part of a digit of f that `asked`, a digit of g inside it, walks through.
    fn take(&mut self, at: usize, asked: Digit) -> Result<(), DigitsError> {
        let number = self.held.len() - at;
        let held = &mut self.held[at];
        let step = asked.stride / held.weight;
        held.reach = held.reach.saturating_add(step.saturating_mul(asked.live - 1));
        held.steps += 1;
        if held.start >= held.digit.live {
            return Err(ragged("the first position is padding".to_owned()));
        }
        let own = held.digit;
        let live = asked.live.min((own.live - held.start).div_ceil(step));
        let stride = own.stride.saturating_mul(step);
        let digit = Digit { stride, extent: asked.extent, live, ..own };
        let from = Source::Inner(number);
        let mut push = |digit, pads| self.result.push(Part { digit, from, pads });
        if live == asked.live {
            push(Digit { kind: asked.kind, ..digit }, Source::Outer);
        } else if asked.live == asked.extent || asked.kind == own.kind {
            push(digit, from);
        } else if asked.extent.is_multiple_of(asked.live) {
            push(Digit { extent: asked.live, ..digit }, from);
            let above = Digit {
                axis: None,
                stride: 0,
                extent: asked.extent / asked.live,
                live: 1,
                axis_size: 1,
                ..asked
            };
            push(above, Source::Outer);
        } else {
            return Err(ragged(format!("{} and {} share a digit", own.kind, asked.kind)));
        }
        Ok(())
    }

    /// Checks that steps stay inside their digit of f; in padding they may do so together only at the end of the
    /// axis.
    fn check_carries(&self, name: &str) -> Result<(), DigitsError> {
        for held in &self.held {
            let Digit { live, extent, stride, kind, axis_size, axis } = held.digit;
            let axis_ends =
                axis.is_some() && kind == PadKind::Top && stride.saturating_mul(live) >= axis_size;
            if held.reach >= extent {
                let block = held.weight * extent;
                return Err(ragged(format!(
                    "steps along {name} run from one block of {block} into the next"
                )));
            }
            if held.steps > 1 && held.reach >= live && !axis_ends {
                return Err(ragged(format!("several steps along {name} meet in {kind}")));
            }
            if held.steps == 0 && held.start >= live {
                return Err(ragged("the first position is padding".to_owned()));
            }
        }
        Ok(())
    }

    /// Checks that padding of different kinds is met in the order in which g, then f, would meet it.
    fn check_padding(&self) -> Result<(), DigitsError> {
        let mut met: Vec<(Source, PadKind)> = Vec::new();
        for part in self.result.iter().rev() {
            let pads = (!part.digit.is_full()).then_some((part.pads, part.digit.kind));
            for (source, kind) in pads.into_iter().chain(self.past_the_axis(part)) {
                if met.iter().any(|&(above, other)| above > source && other != kind) {
                    return Err(ragged("two kinds of padding change their order".to_owned()));
                }
                met.push((source, kind));
            }
        }
        Ok(())
    }

    /// The don't-care padding that a digit may meet past the end of its axis: among the digits of g or those of f
    /// alone as they meet it, and past all other padding where only both together leave the axis.
    fn past_the_axis(&self, part: &Part) -> Vec<(Source, PadKind)> {
        let leaves = |counts: &dyn Fn(&Part) -> bool| {
            let own = self.result.iter().filter(|other| other.digit.axis == part.digit.axis && counts(other));
            let reach = own.map(|other| other.digit.stride.saturating_mul(other.digit.live - 1));
            part.digit.axis.is_some() && reach.fold(0, u64::saturating_add) >= part.digit.axis_size
        };
        let outer = |part: &Part| part.from == Source::Outer;
        let mixed = [true, false].map(|side| {
            self.result.iter().any(|other| other.digit.axis == part.digit.axis && outer(other) == side)
        });
        let alone = leaves(&|other| outer(other) == outer(part)).then_some((part.from, PadKind::Top));
        let together =
            (mixed == [true; 2] && leaves(&|_| true)).then_some((Source::Inner(usize::MAX), PadKind::Top));
        alone.into_iter().chain(together).collect()
    }

    /// The digits with their offset: the index of f at the first position, and the coordinates of g along other axes.
    fn finish(self, f: &Digits, g: &Digits, axis: AxisId, axes: &Axes) -> Result<Digits, DigitsError> {
        let mut all = Digits::unit();
        let moved =
            self.held.iter().filter_map(|held| Some((held.digit.axis?, held.digit.stride * held.start)));
        let offsets = |digits: &Digits| -> Vec<(AxisId, u64)> {
            digits.offset().iter().map(|offset| (offset.axis, offset.coordinate)).collect()
        };
        let outer = offsets(g).into_iter().filter(|(own, _)| *own != axis);
        for (axis, coordinate) in offsets(f).into_iter().chain(outer).chain(moved) {
            let start = Expr::axis(axes.name(axis)).slice(coordinate).resize(1);
            all = Digits::concat(&all, &crate::meaning::digits::digits(&start, axes)?)?;
        }
        for part in self.result {
            all = Digits::concat(&Digits::of(part.digit), &all)?;
        }
        Ok(all.written_in(f.skewed()).written_in(g.skewed()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Composes with P as the axis of as many positions as f.
    fn composed(f: &str, g: &str) -> Result<Digits, String> {
        let (mut axes, f) = (axes(), read(f));
        let p = axes.declare("P", f.size()).unwrap();
        let g = crate::meaning::digits::digits(&Expr::parse(g).unwrap(), &axes).unwrap();
        compose(&f, &g, p, &axes).map_err(|error| error.to_string())
    }

    fn axes() -> Axes {
        let mut axes = Axes::new();
        for (name, size) in [("A", 8), ("B", 6), ("K", 61), ("T", 2)] {
            axes.declare(name, size).unwrap();
        }
        axes
    }

    fn read(text: &str) -> Digits {
        crate::meaning::digits::digits(&Expr::parse(text).unwrap(), &axes()).unwrap()
    }

    #[test]
    fn worked_out_by_hand() {
        for (f, g, expected) in [
            ("[A, B]", "[P]", "[A, B]"),
            ("[A, B]", "[P % 6, P / 6]", "[B, A]"),
            ("[A, B]", "[P / 12]", "[A / 2]"),
            ("[A, B]", "[P % 12]", "[A % 2, B]"),
            ("[A, B]", "[P / 2]", "[A, B / 2]"),
            ("[A, B]", "[T, P / 6]", "[T, A]"),
            ("[A]", "[P @ 3]", "[A @ 3]"),
            ("[A @ 2]", "[P @ 3]", "[A @ 5]"),
            ("[A, B]", "[P @ 18]", "[A @ 3, B]"),
            ("[A # 16 {0}]", "[P]", "[A # 16 {0}]"),
            ("[A # 16]", "[P / 4]", "[A # 16 / 4]"),
            ("[A]", "[P # 16 {0}]", "[A # 16 {0}]"),
            ("[2, B]", "[P / 6]", "[2]"),
            ("[K # 64]", "[P % 16, P / 16]", "[K # 64 % 16, K # 64 / 16]"),
            ("[1]", "[T]", "[T]"),
        ] {
            assert_eq!(composed(f, g), Ok(read(expected)), "{f} . {g}");
        }
    }

    #[test]
    fn refused() {
        for (f, g, why) in [
            ("[A, B]", "[P / 4]", "radices 4 of P and 6 do not fit"),
            ("[A, B]", "[P = 9]", "radices 1 of P and 6 do not fit"),
            ("[A, B]", "[P @ 4 = 4]", "steps along P run from one block of 6 into the next"),
            ("[A, B]", "[P / 3, P % 6]", "steps along P run from one block of 6 into the next"),
            ("[A = 5 # 8]", "[P % 2, P / 2]", "several steps along P meet in padding"),
            ("[A # 16 {0}]", "[P @ 8]", "the first position is padding"),
            ("[A # 16 {0}]", "[P, T # 4]", "two kinds of padding change their order"),
            ("[A = 5 # 7 {0}]", "[P = 6 # 9]", "zero padding and padding share a digit"),
        ] {
            assert_eq!(composed(f, g).unwrap_err(), why, "{f} . {g}");
        }
        let mut axes = axes();
        let p = axes.declare("P", 7).unwrap();
        let error = compose(&read("[A]"), &Digits::unit(), p, &axes).unwrap_err().to_string();
        assert_eq!(error, "P has 7 positions, the mapping that it names has 8");
        let a = axes.id("A").unwrap();
        let error = compose(&read("[A]"), &read("[A]"), a, &axes).unwrap_err().to_string();
        assert_eq!(error, "the mapping that A names moves along A itself");
    }
}
