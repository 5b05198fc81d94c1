//! Images that a contraction reads through windows: a convolution. A slice holds whole rows of the image, and the
//! fetch of the stream reads each window where it lies. Windows along other axes are copies of these rows.

use crate::array::Array;
use crate::contraction::Choice;
use crate::contraction::layout::{Layout, in_memory};
use crate::cut::{Cut, Group, Part, side_by_side};
use std::sync::Arc;
use visa_algebra::{Axes, Expr};

/// Columns of a packet of the stream, from the fewest.
const COLUMNS: [u64; 3] = [8, 16, 32];

/// The windows of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The terms around its rows in HBM, slowest first: axes, and windows along others.
    pub outer: Vec<Expr>,
    /// The axis of a row.
    pub row: Arc<str>,
    /// The windows within a row.
    pub windows: Expr,
    /// The axes of all windows and of their positions.
    pub within: Vec<Arc<str>>,
}

impl Image {
    /// Returns true if there are windows along other axes than that of a row.
    #[must_use]
    pub fn has_outer_windows(&self) -> bool {
        self.outer.iter().any(|term| matches!(term, Expr::Slide(_)))
    }

    /// Columns of a row of `count` windows with their padding: whole packets.
    #[must_use]
    pub fn padded(count: u64) -> u64 {
        let few = COLUMNS.into_iter().find(|columns| count <= *columns);
        few.unwrap_or_else(|| count.next_multiple_of(COLUMNS[COLUMNS.len() - 1]))
    }
}

/// Returns true if each slice has whole rows of windows, and of whole images or of one image.
#[must_use]
pub fn has_whole_rows(stream: &Cut) -> bool {
    let group = stream.group();
    let Some(row) = group.row else { return true };
    let product = |parts: &[Part]| parts.iter().map(|part| stream.count(*part)).product::<u64>();
    let (within, all) = (product(&[Part::Time, Part::Packet]), group.size / row);
    let rows = product(&[Part::Promoted, Part::Time, Part::Packet]) / row;
    let whole =
        all == group.rows || rows > 0 && (group.rows.is_multiple_of(rows) || rows.is_multiple_of(group.rows));
    let divided = product(&[Part::Cluster, Part::Slice, Part::Share]);
    whole && within.is_multiple_of(row) && divided <= all.next_power_of_two()
}

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
            Cut::new(&Group::new(outer, axes), 1, &parts).rest(elsewhere)
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
            let own = Group::new(&apart, axes);
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
