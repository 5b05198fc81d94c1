//! The switch's topologies (book 13): the slices and time after each, given those before.

use crate::ops::switch::Switch;
use visa_algebra::{Axes, AxisId, Cell, Equality, Expr, Refinement, describe, equal_streams, refines};
use visa_engine::words::TopologyName;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_ir::words;

/// The parameters that each topology takes.
fn parameters(topology: TopologyName) -> &'static [&'static str] {
    match topology {
        TopologyName::Broadcast01 | TopologyName::InterTranspose => &["slice1", "slice0", "time0"],
        TopologyName::Broadcast1 | TopologyName::Transpose | TopologyName::TransposedBroadcast1 => {
            &["slice1", "slice0"]
        }
        TopologyName::Custom => &["ring"],
        TopologyName::Forwarding => &[],
    }
}

/// A predefined topology with its parameters: sizes of parts of slice and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topology {
    kind: Kind,
    /// Outer ring slices.
    pub slice1: u64,
    /// Inner ring slices.
    pub slice0: u64,
    /// Innermost time steps.
    pub time0: u64,
}

words! {
    /// A topology that its parameters determine.
    enum Kind: TopologyName {
        Forwarding,
        Broadcast01,
        Broadcast1,
        Transpose,
        InterTranspose,
        TransposedBroadcast1,
    }
}

impl Kind {
    /// Those that move packets around a ring.
    const RINGS: [Self; 5] = [
        Self::Broadcast01,
        Self::Broadcast1,
        Self::Transpose,
        Self::InterTranspose,
        Self::TransposedBroadcast1,
    ];
}

impl Topology {
    /// The topology of a switch; `None` if it is custom. `slices` are those of a cluster.
    ///
    /// # Errors
    /// C1: a parameter that is no power of two, or too large; C4: one too few or too many.
    pub fn read(op: OpRef<'_>, slices: u64) -> Result<Option<Self>, Diagnostic> {
        let switch = Switch::of(op)?;
        let name = switch.topology()?;
        check_parameters(op, name)?;
        let Some(kind) = Kind::of(name) else { return Ok(None) };
        if kind == Kind::Forwarding {
            return Ok(Some(Self::FORWARDING));
        }
        let part = |clause: &str, written: Option<i64>| match written {
            Some(written) => power(op, clause, written, slices),
            None => Err(lacks(op, name, clause)),
        };
        let (slice1, slice0) = (part("slice1", switch.slice1()?)?, part("slice0", switch.slice0()?)?);
        if !slices.is_multiple_of(slice1 * slice0) {
            let message = format!("a ring of {slice1} x {slice0} slices does not divide {slices}");
            return Err(op.clause_error("C1", "slice1", message));
        }
        let time0 = match switch.time0()? {
            None => 1,
            Some(time0) => u64::try_from(time0).ok().filter(|&time0| time0 > 0).ok_or_else(|| {
                op.clause_error("C1", "time0", format!("time0 is {time0}, expected at least 1"))
            })?,
        };
        Ok(Some(Self { kind, slice1, slice0, time0 }))
    }

    /// Packets stay in their slices.
    pub const FORWARDING: Self = Self { kind: Kind::Forwarding, slice1: 1, slice0: 1, time0: 1 };

    /// Every named topology for `slices` slices of a cluster and `steps` time steps, forwarding first. Parameters
    /// that make no difference are 1.
    #[must_use]
    pub fn every(slices: u64, steps: u64) -> Vec<Self> {
        let powers = || (0..u64::BITS).map(|bit| 1 << bit).take_while(|&power| power <= slices);
        let small: Vec<u64> = (1..=steps.isqrt()).filter(|&time0| steps.is_multiple_of(time0)).collect();
        let mut times: Vec<u64> = small.iter().flat_map(|&time0| [time0, steps / time0]).collect();
        times.sort_unstable();
        times.dedup();
        let rings = || powers().flat_map(|slice1| powers().map(move |slice0| (slice1, slice0)));
        let mut found = vec![Self::FORWARDING];
        for kind in Kind::RINGS {
            for (slice1, slice0) in rings().filter(|&(slice1, slice0)| slices.is_multiple_of(slice1 * slice0))
            {
                let all = times.iter().map(|&time0| Self { kind, slice1, slice0, time0 });
                found.extend(all.filter(|own| own.moves() && steps.is_multiple_of(own.time_step())));
            }
        }
        found
    }

    /// Returns true if packets go to other slices, so that time0 makes a difference if it is not 1.
    fn moves(&self) -> bool {
        let Self { kind, slice1, slice0, time0 } = *self;
        match kind {
            Kind::Forwarding => time0 == 1,
            Kind::Broadcast01 => slice1 * slice0 > 1 && (slice1 > 1 || time0 == 1),
            Kind::Broadcast1 => slice1 > 1 && time0 == 1,
            Kind::Transpose => slice1 > 1 && slice0 > 1 && time0 == 1,
            Kind::InterTranspose => slice1 > 1,
            Kind::TransposedBroadcast1 => slice0 > 1 && time0 == 1,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> TopologyName {
        self.kind.into()
    }

    /// The value of a parameter; none if the topology has no such parameter.
    #[must_use]
    pub fn parameter(&self, clause: &str) -> Option<u64> {
        let value = match clause {
            "slice1" => self.slice1,
            "slice0" => self.slice0,
            "time0" => self.time0,
            _ => return None,
        };
        parameters(self.name()).contains(&clause).then_some(value)
    }

    /// Time steps that must divide time.
    #[must_use]
    pub fn time_step(&self) -> u64 {
        match self.kind {
            Kind::InterTranspose => self.slice1.saturating_mul(self.time0),
            Kind::Broadcast01 => self.time0,
            Kind::Forwarding | Kind::Broadcast1 | Kind::Transpose | Kind::TransposedBroadcast1 => 1,
        }
    }

    /// Slice and time after the switch. New broadcast parts are literals.
    #[must_use]
    pub fn result(&self, slice: &Expr, time: &Expr) -> (Expr, Expr) {
        let Self { kind, slice1, slice0, time0 } = *self;
        let slice2 = every(slice, slice1.saturating_mul(slice0));
        let (outer, inner) = (part(slice, slice0, slice1), part(slice, 1, slice0));
        let (tile1, tile0) = (Expr::Literal(slice1), Expr::Literal(slice0));
        let whole = time.clone();
        let (slice, time) = match kind {
            Kind::Forwarding => return (slice.clone(), whole),
            Kind::Broadcast01 => {
                (vec![slice2, tile1, tile0], vec![every(time, time0), outer, part(time, 1, time0), inner])
            }
            Kind::Broadcast1 => (vec![slice2, tile1, inner], vec![whole, outer]),
            Kind::Transpose => (vec![slice2, inner, outer], vec![whole]),
            Kind::InterTranspose => {
                let moved = part(time, time0, slice1);
                let outermost = every(time, slice1.saturating_mul(time0));
                (vec![slice2, moved, inner], vec![outermost, part(time, 1, time0), outer])
            }
            Kind::TransposedBroadcast1 => (vec![slice2, tile0, outer], vec![whole, inner]),
        };
        (group(slice), group(time))
    }
}

/// A group without the parts of one position.
fn group(terms: Vec<Expr>) -> Expr {
    Expr::pair(terms.into_iter().filter(|term| !matches!(term, Expr::Literal(1))))
}

fn every(map: &Expr, n: u64) -> Expr {
    if n == 1 { map.clone() } else { map.clone().stride(n) }
}

/// `map / low % count`.
fn part(map: &Expr, low: u64, count: u64) -> Expr {
    if count == 1 { Expr::Literal(1) } else { every(map, low).modulo(count) }
}

/// C4: the topology's parameters are there, and no others.
fn check_parameters(op: OpRef<'_>, topology: TopologyName) -> Result<(), Diagnostic> {
    let wanted = parameters(topology);
    for clause in ["slice1", "slice0", "time0", "ring"] {
        let (found, known) = (op.attr(clause).is_some(), wanted.contains(&clause));
        if found && !known {
            let message = format!("`{clause}` is no parameter of `{topology}`");
            return Err(op.clause_error("C4", clause, message).fix(Some(format!("leave `{clause}` out"))));
        }
        // The ring of a custom topology follows from the mappings.
        if known && !found && clause != "ring" {
            return Err(lacks(op, topology, clause));
        }
    }
    if topology == TopologyName::Custom && ["slice", "time"].iter().any(|clause| op.attr(clause).is_none()) {
        return Err(op.clause_error(
            "C4",
            "topology",
            "`custom` needs `slice` and `time`: no other clause specifies the destination of packets",
        ));
    }
    Ok(())
}

/// C4: a parameter is not there.
fn lacks(op: OpRef<'_>, topology: TopologyName, clause: &str) -> Diagnostic {
    op.clause_error("C4", "topology", format!("`{topology}` needs `{clause}`"))
}

/// C1: a clause value that is a size within the slices of a cluster.
pub(crate) fn power(op: OpRef<'_>, clause: &str, value: i64, slices: u64) -> Result<u64, Diagnostic> {
    let part = u64::try_from(value).ok().filter(|part| part.is_power_of_two() && *part <= slices);
    part.ok_or_else(|| {
        op.clause_error("C1", clause, format!("{clause} is {value}, expected a power of two up to {slices}"))
    })
}

/// The mapping with a broadcast instead of each axis that the tensor does not depend on: every index along it means
/// the same element.
///
/// # Errors
/// An alias that is not defined.
pub fn blanked(map: &Expr, free: &dyn Fn(AxisId) -> bool, axes: &Axes) -> Result<Expr, String> {
    fn blank(map: &Expr, free: &dyn Fn(AxisId) -> bool, axes: &Axes) -> Result<Expr, ()> {
        let Expr::Axis(name) = map else {
            return map.map_children(|child| blank(child, free, axes));
        };
        match axes.id(name).filter(|&axis| axes.skew(axis).is_none() && free(axis)) {
            Some(axis) => Ok(Expr::Literal(axes.size(axis))),
            None => Ok(map.clone()),
        }
    }
    let plain = map.expanded(axes).map_err(|error| error.to_string())?;
    Ok(blank(&plain, free, axes).unwrap_or(plain))
}

/// The difference of `found`, as the user wrote it, from `wanted`; it names the axis at fault. Both may use other axes
/// if the tensor is the same anyway.
///
/// # Errors
/// The first position that differs; or that the question cannot be decided.
pub fn same(found: &Expr, wanted: &Expr, free: &dyn Fn(AxisId) -> bool, axes: &Axes) -> Result<(), String> {
    match equal_streams(&blanked(found, free, axes)?, &blanked(wanted, free, axes)?, axes) {
        Equality::Equal => Ok(()),
        Equality::Unknown { why } => Err(format!("cannot decide whether `{found}` is `{wanted}`: {why}")),
        Equality::Different { at, left, right } => Err(differs(at, (found, left), (wanted, right), axes)),
    }
}

/// [`same`] for slices, of which `found` may claim fewer: its don't-care padding may hold anything.
///
/// # Errors
/// As [`same`].
pub fn same_slices(
    found: &Expr,
    wanted: &Expr,
    free: &dyn Fn(AxisId) -> bool,
    axes: &Axes,
) -> Result<(), String> {
    same(found, wanted, free, axes).or_else(|why| {
        match refines(&blanked(wanted, free, axes)?, &blanked(found, free, axes)?, axes) {
            Refinement::Refines => Ok(()),
            Refinement::Unknown { .. } => Err(why),
            Refinement::Violated { at, left, right } => {
                Err(differs(at, (found, right), (wanted, left), axes))
            }
        }
    })
}

/// The contents of both mappings at their first difference.
fn differs(
    at: u64,
    (found, left): (&Expr, Option<Cell>),
    (wanted, right): (&Expr, Option<Cell>),
    axes: &Axes,
) -> String {
    let axis = at_fault(left.as_ref(), right.as_ref(), axes);
    let (left, right) = (describe(left.as_ref(), axes), describe(right.as_ref(), axes));
    format!("{axis}`{found}` has {left} at position {at}, expected {right} as in `{wanted}`")
}

/// `axis A: `, the first axis along which two cells differ.
fn at_fault(left: Option<&Cell>, right: Option<&Cell>, axes: &Axes) -> String {
    let index = |cell: Option<&Cell>| match cell {
        Some(Cell::Live(index)) => index.clone(),
        Some(Cell::Shared(_) | Cell::Pad(_)) | None => visa_algebra::Index::new(),
    };
    let (left, right) = (index(left), index(right));
    let differs = axes.iter().find(|&(axis, ..)| left.get(axis) != right.get(axis));
    differs.map_or_else(String::new, |(_, name, _)| format!("axis {name}: "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four slices, two time steps; parts of the ring are (1, 2), (1, 4), (2, 1), (2, 2) and (4, 1).
    #[test]
    fn every_topology_of_four_slices_once() {
        let every = Topology::every(4, 2);
        let count = |name| every.iter().filter(|topology| topology.name() == name).count();
        assert_eq!(count(TopologyName::Forwarding), 1);
        // time0 is 1 or 2 where an outer part moves, which it does in three rings.
        assert_eq!(count(TopologyName::Broadcast01), 2 + 3 * 2);
        assert_eq!(count(TopologyName::Broadcast1), 3);
        assert_eq!(count(TopologyName::Transpose), 1);
        // slice1 * time0 divides two steps: slice1 is 2, time0 is 1.
        assert_eq!(count(TopologyName::InterTranspose), 2);
        assert_eq!(count(TopologyName::TransposedBroadcast1), 3);
        assert_eq!(every.len(), 18);
    }

    #[test]
    fn parameters_are_those_of_the_topology() {
        let every = Topology::every(4, 2);
        let first = every.iter().find(|topology| topology.name() == TopologyName::Transpose);
        let parameter = |clause| first.and_then(|topology| topology.parameter(clause));
        assert_eq!((parameter("slice1"), parameter("slice0")), (Some(2), Some(2)));
        assert_eq!((parameter("time0"), parameter("ring")), (None, None));
        assert!(every[0].parameter("slice1").is_none());
    }
}
