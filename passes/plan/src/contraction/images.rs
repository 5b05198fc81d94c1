//! The layout of an image in the slices of a contraction.

use crate::array::{Array, Image};
use crate::contraction::Choice;
use crate::contraction::layout::{Layout, in_memory};
use crate::cut::{Cut, Group, Part, side_by_side};
use std::sync::Arc;
use visa_algebra::{Axes, Expr};

impl Layout {
    /// The rows of an image that a slice holds.
    #[must_use]
    pub fn image(&self, array: &Array, image: &Image, choice: &Choice, axes: &Axes) -> Expr {
        let elsewhere = Self::elsewhere(choice, 1 - choice.stationary);
        let group = self.stream.group();
        let row = group.row.unwrap_or(1);
        let mut parts: Vec<(Part, u64)> = self.stream.parts().to_vec();
        parts.retain(|(part, _)| !matches!(part, Part::Time | Part::Packet));
        let inside = self.stream.count(Part::Time) * self.stream.count(Part::Packet);
        parts.push((Part::Time, inside / row));
        let outer = group.axes.split_last().map_or(&[][..], |(_, outer)| outer);
        let rows = if outer.is_empty() {
            Vec::new()
        } else {
            Cut::new(&Arc::new(Group::new(outer, axes)), 1, &parts).rest(elsewhere)
        };
        let terms = self.batch.rest(elsewhere).into_iter().chain(rows).chain(self.summed_image(image, axes));
        in_memory(terms.chain([Expr::axis(&image.row)]), array.dtype, axes)
    }

    /// The summed positions of an image that a slice holds, but for those within a row.
    fn summed_image(&self, image: &Image, axes: &Axes) -> Vec<Expr> {
        let group = self.sum.group();
        let whole = |axis: &Arc<str>| !image.within.contains(axis);
        let apart: Vec<Arc<str>> = group.axes.iter().filter(|axis| whole(axis)).cloned().collect();
        let in_row = image.windows.axis_names(axes);
        let around = |axis: &&Arc<str>| image.within.contains(axis) && !in_row.contains(axis);
        let windows = group.axes.iter().filter(around).map(|axis| Expr::axis(axis));
        let divided = self.sum.count(Part::Slice) * self.sum.count(Part::Share);
        let mut terms: Vec<Expr> = if divided == 1 {
            apart.iter().map(|axis| Expr::axis(axis)).collect()
        } else {
            let own = Arc::new(Group::new(&apart, axes));
            let parts = [Part::Slice, Part::Share].map(|part| (part, self.sum.count(part)));
            let rest = (Part::Time, own.size / divided);
            let parts = [&parts[..], &[rest]].concat();
            Cut::new(&own, 1, &parts).rest(&[Part::Slice, Part::Share])
        };
        terms.extend(windows);
        terms
    }
}

/// The layout of the windows of an image in data memory, from that of its rows.
#[must_use]
pub fn windows(rows: &Expr, image: &Image) -> Expr {
    let axis = Expr::axis(&image.row);
    let terms = rows.terms().into_iter().map(|term| match term {
        Expr::Pad { inner, size, kind, .. } if **inner == axis => image.windows.clone().pad(*size, *kind),
        term if *term == axis => image.windows.clone(),
        term => term.clone(),
    });
    side_by_side(terms)
}
