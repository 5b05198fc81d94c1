//! Checks that a plan writes each position of a tensor at most once, and none that must not be written (book 09, 33):
//! for all positions at once if loops and digits agree, or else position by position, which also gives the error.

use crate::plan::{Loop, Plan, PlanError};
use visa_algebra::{Cell, Digits, Expr, PadKind, count_effort};
use visa_loops::{Entry, Stride};

/// The content of data memory at the positions that a plan writes.
pub(super) struct WrittenTensor<'a> {
    pub(super) digits: &'a Digits,
    /// Where the part that is written starts, in elements.
    pub(super) start: u64,
    /// Its layout as the user wrote it.
    pub(super) element: &'a Expr,
}

/// Returns true if digits alone prove a plan safe: every loop moves within digits of `target`, in each digit they
/// write no position twice, and they end before padding that must not be written, or before any padding if other
/// elements are there. `false` proves nothing.
pub(super) fn by_digits(plan: &Plan, target: &Digits, within_others: bool) -> bool {
    let Ok(base) = u64::try_from(plan.base) else { return false };
    let Some(mut loops) =
        plan.loops.iter().filter(|step| step.entry.limit > 1).map(even).collect::<Option<Vec<_>>>()
    else {
        return false;
    };
    loops.sort_unstable();
    let (mut weight, mut loops) = (1, loops.into_iter().peekable());
    for digit in target.iter() {
        // The highest position within the digit that is written.
        let mut last = base / weight % digit.extent;
        let mut reach = 1;
        while let Some((stride, limit)) =
            loops.peek_mut().filter(|step| step.0 < weight.saturating_mul(digit.extent))
        {
            if *stride < weight {
                return false;
            }
            let step = *stride / weight;
            let inside = digit.extent / step;
            let whole = stride.is_multiple_of(weight) && step >= reach;
            if *limit > inside && (!digit.extent.is_multiple_of(step) || !limit.is_multiple_of(inside))
                || !whole
            {
                return false;
            }
            let steps = (*limit).min(inside);
            (last, reach) = (last + (steps - 1) * step, step * steps);
            *limit /= steps;
            if *limit > 1 {
                *stride = weight * digit.extent;
            } else {
                loops.next();
            }
        }
        let padded = last >= digit.live;
        if last >= digit.extent || padded && (within_others || digit.kind != PadKind::Top) {
            return false;
        }
        weight *= digit.extent;
    }
    let leaves_no_axis = target.live_count() == Some(target.iter().map(|digit| digit.live).product());
    loops.next().is_none() && base < weight && leaves_no_axis
}

/// Returns true if two loops of a plan certainly reach one position: one takes as many steps as a step of the other is
/// long.
pub(super) fn collides(plan: &Plan) -> bool {
    let loops: Vec<(u64, u64)> =
        plan.loops.iter().filter(|step| step.entry.limit > 1).filter_map(even).collect();
    let meets = |(stride, limit): (u64, u64), (other, _): (u64, u64)| {
        other.is_multiple_of(stride) && other / stride < limit
    };
    let pairs = loops
        .iter()
        .enumerate()
        .flat_map(|(at, &one)| loops[at + 1..].iter().map(move |&other| (one, other)));
    pairs.into_iter().any(|(one, other)| meets(one, other) || meets(other, one))
}

/// Stride and limit of a loop that goes forward in even steps.
fn even(step: &Loop) -> Option<(u64, u64)> {
    match step.entry.stride {
        Stride::Fixed(stride) => {
            Some((u64::try_from(stride).ok().filter(|&stride| stride > 0)?, step.entry.limit))
        }
        Stride::Table(_) => None,
    }
}

/// Checks that a plan is safe, position by position.
///
/// # Errors
/// The first position that is written and may not be.
pub(super) fn by_position(plan: &Plan, target: &Digits, held: &WrittenTensor<'_>) -> Result<(), PlanError> {
    let element = held.element;
    let others = || format!("`{element}` holds other elements there");
    let room = held.digits.size().saturating_sub(held.start);
    // Where no digit leaves its axis, each states for itself whether it is live.
    let apart = target.live_count() == Some(target.iter().map(|digit| digit.live).product());
    let is_live = |at: u64| match apart {
        true => within(target, at),
        false => matches!(target.cell(at), Some(Cell::Live(_))),
    };
    let written = (0..).zip(positions(plan, room, element, &others)?);
    for (at, _) in written.filter(|(_, written)| *written) {
        if at < target.size() && is_live(at) {
            continue;
        }
        match held.digits.cell(held.start + at) {
            Some(Cell::Pad(PadKind::Top)) | None => {}
            Some(Cell::Pad(kind)) => {
                return Err(format!("`{element}` has {kind} there, which may not be written"));
            }
            Some(Cell::Live(_) | Cell::Shared(_)) => return Err(others()),
        }
    }
    Ok(())
}

/// Returns true if a position is in the live part of every digit.
fn within(digits: &Digits, mut at: u64) -> bool {
    digits.iter().all(|digit| {
        let own = at % digit.extent;
        at /= digit.extent;
        own < digit.live
    })
}

/// So many positions that are only marked are as much work as one whose element is looked up.
const POSITIONS: u64 = 16;

/// Of each position up to `room` whether a plan writes it; none twice, and none from there on.
fn positions(
    plan: &Plan,
    room: u64,
    element: &Expr,
    others: &dyn Fn() -> String,
) -> Result<Vec<bool>, PlanError> {
    count_effort(room / POSITIONS);
    let mut written = vec![false; usize::try_from(room).unwrap_or(usize::MAX)];
    let mut counts = vec![0; plan.loops.len()];
    let mut at = plan.base;
    loop {
        let place = usize::try_from(at).ok().and_then(|at| written.get_mut(at));
        let Some(place) = place else {
            return Err(format!("`{element}` ends before; pad it (`# n`) so that the bytes are its own"));
        };
        if std::mem::replace(place, true) {
            return Err(format!("{}: position {at} is written twice", others()));
        }
        if !advance(&plan.loops, &mut counts, &mut at) {
            break;
        }
    }
    Ok(written)
}

/// Goes to the next position of a loop nest, outermost loop first; `false` after the last one.
fn advance(loops: &[Loop], counts: &mut [u64], at: &mut i64) -> bool {
    for (Loop { entry: Entry { limit, stride }, .. }, count) in loops.iter().zip(counts).rev() {
        *at = at.saturating_sub(stride.distance(*count));
        *count += 1;
        if *count < *limit {
            *at = at.saturating_add(stride.distance(*count));
            return true;
        }
        *count = 0;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use visa_algebra::{Axes, digits};

    const LAYOUTS: [&str; 10] = [
        "[A, B]",
        "[B, A # 8]",
        "[B # 4, A]",
        "[A # 8 {0}, B]",
        "[A, B # 4 {0}]",
        "[C / 4, A # 8, C % 4]",
        "[A / 2, B, A % 2]",
        "[A # 8 / 2, A # 8 % 2]",
        "[[A, B] # 21]",
        "[C # 16]",
    ];

    fn plan(base: i64, loops: &[(u64, i64)]) -> Plan {
        let step = |&(limit, stride)| Loop { entry: Entry::new(limit, stride), factor: String::new() };
        Plan {
            base,
            loops: loops.iter().map(step).collect(),
            packet_loops: 0,
            packet: 1,
            left_over: String::new(),
            starts: Vec::new(),
        }
    }

    /// The results of both checks for a plan.
    fn both(layout: &str, plan: &Plan) -> (bool, bool) {
        let mut axes = Axes::new();
        for (name, size) in [("A", 6), ("B", 3), ("C", 12)] {
            axes.declare(name, size).unwrap();
        }
        let element = Expr::parse(layout).unwrap();
        let digits = digits(&element, &axes).unwrap();
        let held = WrittenTensor { digits: &digits, start: 0, element: &element };
        (by_digits(plan, &digits, false), by_position(plan, &digits, &held).is_ok())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn what_digits_prove_holds_at_every_position(
            layout in prop::sample::select(&LAYOUTS[..]),
            base in 0..8_i64,
            loops in prop::collection::vec(
                (1..7_u64, prop::sample::select(&[1_i64, 2, 3, 4, 6, 8, 9, 12, 18, 24][..])),
                0..4,
            ),
        ) {
            let plan = plan(base, &loops);
            let (digits, positions) = both(layout, &plan);
            prop_assert!(positions || !digits, "{layout} {base} {loops:?}");
            prop_assert!(!positions || !collides(&plan), "{layout} {base} {loops:?}");
        }
    }

    #[test]
    fn digits_prove_what_they_can() {
        // Innermost loop last. 18 positions in order; in turns; one loop over both digits.
        for loops in [&[(3, 6), (6, 1)][..], &[(6, 3), (3, 1)], &[(18, 1)]] {
            assert_eq!(both("[B, A]", &plan(0, loops)), (true, true), "{loops:?}");
        }
        // Padding after A may be written, zeros may not.
        assert_eq!(both("[B, A # 8]", &plan(0, &[(3, 8), (8, 1)])), (true, true));
        assert_eq!(both("[B, A # 8 {0}]", &plan(0, &[(3, 8), (8, 1)])), (false, false));
        // The last packet runs over the end, two loops write position 2, a loop starts too late.
        assert_eq!(both("[B, A]", &plan(0, &[(4, 6), (6, 1)])), (false, false));
        assert_eq!(both("[B, A]", &plan(0, &[(3, 2), (3, 1)])), (false, false));
        assert!(collides(&plan(0, &[(3, 2), (3, 1)])) && !collides(&plan(0, &[(3, 3), (3, 1)])));
        assert_eq!(both("[B, A]", &plan(1, &[(3, 6), (6, 1)])), (false, false));
    }
}
