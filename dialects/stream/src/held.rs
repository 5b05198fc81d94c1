//! The content of a stream along axes that the tensor does not depend on. Any index of such an axis means the same
//! element, but an author who writes the axis specifies the position of each part: a switch that puts it elsewhere, or
//! names a broadcast by the axis that the stream holds already, is not the intended one (book 13: the axis is new).

use crate::topology::same;
use visa_algebra::{Axes, AxisId, Cell, Digit, Expr, Index, describe, digits, map};

/// The parts of free axes that slices and time hold.
pub(crate) struct FreeParts<'a> {
    parts: Vec<(AxisId, Digit)>,
    names: Vec<AxisId>,
    free: &'a dyn Fn(AxisId) -> bool,
    axes: &'a Axes,
}

impl<'a> FreeParts<'a> {
    /// Those of a stream. Of a mapping that is no list of digits none is known, and nothing is refused for it.
    pub(crate) fn of(slice: &Expr, time: &Expr, free: &'a dyn Fn(AxisId) -> bool, axes: &'a Axes) -> Self {
        let maps = [slice, time];
        let parts = maps.into_iter().filter_map(|map| digits(map, axes).ok());
        let parts = parts.flat_map(|own| own.iter().copied().collect::<Vec<_>>());
        let parts = parts.filter_map(|digit| Some((digit.axis.filter(|&axis| free(axis))?, digit)));
        let names = maps.into_iter().flat_map(|map| map.axis_names(axes));
        let names = names.filter_map(|name| axes.id(&name)).filter(|&axis| free(axis)).collect();
        Self { parts: parts.collect(), names, free, axes }
    }

    /// Checks that these parts are at the same positions in `found` and in `made`.
    ///
    /// # Errors
    /// The first position that has another part than the topology makes.
    pub(crate) fn check_slices(&self, found: &Expr, made: &Expr) -> Result<(), String> {
        if self.parts.is_empty() {
            return Ok(());
        }
        for at in 0..made.size(self.axes).map_err(|error| error.to_string())? {
            let (Some(Cell::Live(own)), Some(Cell::Live(wanted))) =
                (map(found, self.axes, at), map(made, self.axes, at))
            else {
                continue;
            };
            let Some(axis) =
                self.names.iter().find(|&&axis| self.part(axis, &own) != self.part(axis, &wanted))
            else {
                continue;
            };
            let name = self.axes.name(*axis);
            let (own, wanted) = (Cell::Live(own), Cell::Live(wanted));
            let (own, wanted) = (describe(Some(&own), self.axes), describe(Some(&wanted), self.axes));
            return Err(format!(
                "axis {name}, which the stream holds already: `{found}` has {own} at position {at}, expected {wanted} \
                 as in `{made}`"
            ));
        }
        Ok(())
    }

    /// The same of time, in which no topology puts a broadcast.
    ///
    /// # Errors
    /// The first step that has another part than the topology makes.
    pub(crate) fn check_time(&self, found: &Expr, made: &Expr) -> Result<(), String> {
        let new = |axis: AxisId| (self.free)(axis) && !self.names.contains(&axis);
        if self.names.is_empty() { Ok(()) } else { same(found, made, &new, self.axes) }
    }

    /// The part of a coordinate that the stream holds.
    fn part(&self, axis: AxisId, index: &Index) -> u64 {
        let own = self.parts.iter().filter(|(held, _)| *held == axis);
        let at = index.get(axis);
        let parts = own.map(|(_, digit)| (at / digit.stride.max(1) % digit.live.max(1)) * digit.stride);
        parts.fold(0, u64::saturating_add)
    }
}
