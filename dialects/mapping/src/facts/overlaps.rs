//! Tensors at rest that would be where another one is still needed.

use crate::facts::address::{Address, further, index, maker};
use crate::facts::placed::{Placement, occupied, placements};
use crate::facts::quoted;
use crate::ops::control::{Carried, carried};
use crate::tensor::Tensor;
use crate::view;
use std::collections::HashSet;
use std::ops::Range;
use visa_algebra::Axes;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpRef, ValueDef, ValueId};
use visa_ir::open::is_open;
use visa_ir::span::Span;
use visa_loops::gcd;
use visa_machine::Machine;

/// A tensor at rest whose bytes are known, and the operations between which they must not change.
struct Resident {
    value: ValueId,
    /// The tensor that it was before it was changed in place.
    before: Option<ValueId>,
    name: String,
    space: &'static str,
    /// Its bytes in each iteration of the loop with that index, one iteration after another.
    ranges: Vec<Range<u64>>,
    index: Option<ValueId>,
    from: usize,
    until: usize,
    span: Span,
}

impl Resident {
    /// Bytes of two tensors that overlap in an iteration.
    fn overlap<'a>(&'a self, other: &'a Self) -> Option<[&'a Range<u64>; 2]> {
        if self.space != other.space {
            return None;
        }
        // Of one loop, both are in the same iteration.
        let together = self.index.is_some() && self.index == other.index;
        let divisor =
            if together { gcd(self.ranges.len() as u64, other.ranges.len() as u64) as usize } else { 1 };
        let own = self.ranges.iter().enumerate();
        let mut pairs = own.flat_map(|(at, own)| {
            let others = other.ranges.iter().skip(at % divisor).step_by(divisor);
            others.map(move |other| [own, other])
        });
        pairs.find(|[own, other]| own.start < other.end && other.start < own.end)
    }

    /// Two ranges of the same tensor that overlap.
    fn itself(&self) -> Option<[&Range<u64>; 2]> {
        let all = self.ranges.iter().enumerate();
        let mut pairs = all.flat_map(|(at, one)| self.ranges[at + 1..].iter().map(move |other| [one, other]));
        pairs.find(|[own, other]| own.start < other.end && other.start < own.end)
    }
}

/// Reports tensors of one memory whose bytes overlap while both are needed (book 01, 28: addresses must not collide).
/// A tensor that a pipeline reads is needed until the pipeline's last operation has stored its result.
///
/// Positions count the operations of the function; arguments are there from the start.
///
/// # Errors
/// If an address is no number.
pub(crate) fn check_overlaps(
    func: OpRef<'_>,
    axes: &Axes,
    machine: &Machine,
    report: &dyn Fn(Diagnostic),
) -> Result<(), Diagnostic> {
    let mut live: Vec<Resident> = Vec::new();
    let mut told_of = HashSet::new();
    let all = placements(func, axes)?;
    check_carried(func, &all, report);
    for placed in &all {
        let Some(resident) = resident(func, placed, axes, machine) else {
            check_changed(func, placed, &all, report);
            continue;
        };
        if placed.before.is_none() {
            overlaps_itself(&resident).into_iter().for_each(report);
        }
        live.retain(|earlier| earlier.until >= resident.from);
        let needed = live.iter().filter(|earlier| !is_spent(func, earlier.value, resident.before));
        for earlier in needed {
            let Some(found) = overlap(func, earlier, &resident) else { continue };
            // The value before it is in the same place: that was reported.
            let told = resident.before.is_some_and(|before| told_of.contains(&(before, earlier.value)));
            told_of.insert((resident.value, earlier.value));
            if !told {
                report(found);
            }
        }
        live.push(resident);
    }
    Ok(())
}

/// Reports tensors that a loop or a branch carries from one address to another (C3, C4 of `tm.for` and `tm.if`).
fn check_carried(func: OpRef<'_>, all: &[Placement], report: &dyn Fn(Diagnostic)) {
    let bodies = func.regions().iter().flat_map(|&block| func.module.walk(block));
    for op in bodies.map(|id| func.other(id)) {
        for through in carried(op) {
            let (wanted, Some(given)) = (through.initial, through.yielded) else { continue };
            check_replaced(op, &through, all, report);
            let span = |value: ValueId| func.module.value_span(value);
            let refuse = |constraint: &str, value: ValueId, message: String| Diagnostic {
                span: span(value),
                ..op.error(constraint, message)
            };
            let is_view =
                |value: ValueId| op.value(value).made_by().is_some_and(|made| view::kind(made).is_some());
            if let Some(&value) = [wanted, given].iter().find(|&&value| is_view(value)) {
                let message = format!("{} is a view: whole tensors are carried", name_of(func, value));
                report(refuse("C4", value, message).fix("carry the view's source".to_owned()));
            }
            let address = |value: ValueId| all.iter().find(|placed| placed.value == value)?.address.clone();
            let (Some(from), Some(to)) = (address(wanted), address(given)) else { continue };
            let alike = func.module.ty(given) == func.module.ty(wanted);
            let before = to.before(index(op));
            if from != before && alike {
                let (given_name, wanted_name) = (name_of(func, given), name_of(func, wanted));
                let message =
                    format!("{given_name} is at {to}, and takes the place of {wanted_name} at {from}");
                let fix = match before == to {
                    true => format!("place it at {from}"),
                    false => format!(
                        "place {wanted_name} at {before}, the last of them: the first iteration reads it"
                    ),
                };
                report(
                    refuse("C3", given, message)
                        .note(format!("{wanted_name} is placed here"), Some(span(wanted)))
                        .fix(fix),
                );
            }
        }
    }
}

/// Reports a tensor that a body places where the tensor that it carries is, although that is still needed. It does so
/// where an address of the two is open yet: the conflict exists at any address. Several rotating addresses are
/// disjoint.
fn check_replaced(op: OpRef<'_>, through: &Carried, all: &[Placement], report: &dyn Fn(Diagnostic)) {
    let find = |value: ValueId| all.iter().find(|placed| placed.value == value);
    let was = |value: ValueId| std::iter::successors(find(value), |placed| placed.before.and_then(find));
    let changes = |value: ValueId| was(value).any(|placed| placed.value == through.initial);
    let Some(given) = through.yielded.filter(|&given| !changes(given)) else { return };
    let inside = |made: &OpRef<'_>| made.ancestors().any(|around| around.id == op.id);
    let made = maker(op, given).filter(|made| inside(made) && further(*made).is_empty());
    let (Some(made), Some(later)) = (made, was(given).last()) else { return };
    if later.address.is_none() && !is_open(made, "at") {
        return;
    }
    let open = |earlier: &&Placement| earlier.address.is_none() || later.address.is_none();
    let needed = all.iter().filter(|placed| placed.until >= later.from && changes(placed.value));
    let Some(earlier) = needed.filter(open).find(|placed| placed.from <= later.from) else { return };
    let [earlier_name, later_name] = [earlier, later].map(|placed| quoted(op, placed.value));
    let span = |placed: &Placement| op.module.value_span(placed.value);
    let message = format!("{later_name} takes the place of {earlier_name}, which is still needed");
    let fix = index(op).map(|_| "put it in a rotating buffer: `at auto, then [auto]`".to_owned());
    let error = Diagnostic::error("overlap", span(later), message);
    report(error.note(format!("{earlier_name} is placed here"), Some(span(earlier))).fix(fix));
}

/// Reports a change in place of a tensor without an address yet, although the tensor is still needed: the conflict
/// exists at any address.
fn check_changed(func: OpRef<'_>, later: &Placement, all: &[Placement], report: &dyn Fn(Diagnostic)) {
    let before = |placed: &Placement| {
        let before = placed.before?;
        all.iter().find(|earlier| earlier.value == before)
    };
    let needed = std::iter::successors(before(later), |placed| before(placed));
    let needed = needed.filter(|earlier| !is_spent(func, earlier.value, later.before));
    for earlier in needed.filter(|earlier| earlier.until >= later.from) {
        let [earlier_name, later_name] = [earlier, later].map(|placed| name_of(func, placed.value));
        let span = func.module.value_span(later.value);
        let message = format!(
            "{later_name} overlaps {earlier_name}, which is still needed, and which it changes in place"
        );
        report(
            Diagnostic::error("overlap", span, message)
                .note(format!("{earlier_name} is placed here"), Some(func.module.value_span(earlier.value)))
                .fix(Some(read_after(&later_name))),
        );
    }
}

/// Returns true if a tensor is needed for nothing but to become another one in place: then positions do not matter, of
/// which an argument and the first operation share one.
fn is_spent(func: OpRef<'_>, earlier: ValueId, before: Option<ValueId>) -> bool {
    before == Some(earlier) && func.module.uses(earlier).len() == 1
}

fn name_of(func: OpRef<'_>, value: ValueId) -> String {
    func.module.value_name(value).map_or("a tensor".to_owned(), |name| format!("%{name}"))
}

fn read_after(changed: &str) -> String {
    format!("read {changed} after it, which is the tensor from then on")
}

fn resident(func: OpRef<'_>, placed: &Placement, axes: &Axes, machine: &Machine) -> Option<Resident> {
    let value = placed.value;
    let tensor = func.ctx.type_value::<Tensor>(func.module.ty(value))?;
    let name = name_of(func, value);
    let half = placed.half;
    let addresses = match (half, &placed.address) {
        (Some(_), _) => vec![None],
        (None, address) => address.as_ref()?.addresses().iter().copied().map(Some).collect(),
    };
    let ranges = addresses.into_iter().map(|address| occupied(&tensor, address, half, axes, machine));
    Some(Resident {
        value,
        before: placed.before,
        name,
        space: tensor.kind.def.name,
        ranges: ranges.collect::<Option<_>>()?,
        index: placed.address.as_ref().and_then(Address::index),
        from: placed.from,
        until: placed.until,
        span: func.module.value_span(value),
    })
}

fn show(range: &Range<u64>) -> String {
    format!("bytes {} to {}", range.start, range.end)
}

fn overlap(func: OpRef<'_>, earlier: &Resident, later: &Resident) -> Option<Diagnostic> {
    let [before, after] = earlier.overlap(later)?;
    let memory = earlier.space.trim_start_matches("tm.").to_uppercase();
    let message = format!(
        "{} ({}) overlaps {} ({}), which is still needed, in {memory}",
        later.name,
        show(after),
        earlier.name,
        show(before)
    );
    let fix = match later.before == Some(earlier.value) {
        true => read_after(&later.name),
        false if replaces(func, earlier.value, later.value) => {
            format!("put it in a rotating buffer: `at {}, then [{}]`", before.end, before.start)
        }
        false => format!("place it at {} or beyond", before.end),
    };
    let error = Diagnostic::error("overlap", later.span, message);
    Some(error.note(format!("{} is placed here", earlier.name), Some(earlier.span)).fix(Some(fix)))
}

/// Returns true if a loop's body yields one tensor for another that it was given.
fn replaces(func: OpRef<'_>, given: ValueId, yielded: ValueId) -> bool {
    let ValueDef::Argument(block, _) = func.module.def(given) else { return false };
    let around = func.module.block_parent(block).map(|op| func.other(op));
    let all = around.filter(|around| index(*around).is_some()).map(carried);
    let own = |own: &Carried| own.argument == Some(given) && own.yielded == Some(yielded);
    all.is_some_and(|all| all.iter().any(own))
}

/// Reports a rotating buffer that overlaps itself.
fn overlaps_itself(resident: &Resident) -> Option<Diagnostic> {
    let [one, other] = resident.itself()?;
    let message =
        format!("{} ({}) overlaps itself ({}) in another iteration", resident.name, show(other), show(one));
    let fix = format!("place it at {} or beyond in one of them", one.end.max(other.end));
    Some(Diagnostic::error("overlap", resident.span, message).fix(Some(fix)))
}
