//! Reason why the Valid Count Generator cannot leave out an axis' padding at the mappings' positions, and the
//! corrected text (book 23, the rows that are not supported).

use super::Placement;
use crate::reduce::{Factor, factors};
use visa_algebra::Expr;
use visa_ir::diag::counted;
use visa_mapping::Dim;

/// A placement that the generator cannot express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The placement, and why.
    pub message: String,
    /// The corrected text, if the book names it.
    pub fix: Option<String>,
}

impl Placement<'_> {
    /// A refusal: where the axis is, and why that is none of the generator's patterns.
    fn refuse(&self, why: &str, fix: Option<String>) -> Refusal {
        let lies = |dim: &Dim| {
            let map = self.entry.dim(*dim);
            let holds = map.axis_names(self.axes).iter().any(|name| **name == *self.name());
            holds.then(|| format!("{} `{map}`", dim.name()))
        };
        let dims: Vec<String> = [Dim::Slice, Dim::Time, Dim::Packet].iter().filter_map(lies).collect();
        let name = self.name();
        let size = self.axes.size(self.axis);
        let message = format!(
            "padding of {name} ({}) would be reduced, and no valid count excludes it: {name} is in {}; {why}",
            counted(size, "element"),
            dims.join(", ")
        );
        Refusal { message, fix }
    }

    /// The axis cut in two, the outer part and the inner one of `inner` positions, padded to `padded`.
    fn cut(&self, outer: &str, inner_place: &str, padded: u64, inner: u64) -> Option<String> {
        let name = self.name();
        Some(format!(
            "write {outer} `{name} # {padded} / {inner}`, {inner_place} `{name} # {padded} % {inner}`"
        ))
    }

    /// To how many positions the axis is padded where the mappings write it so; `None` where they pad otherwise.
    fn written(&self) -> Option<u64> {
        fn find(map: &Expr, name: &str) -> Option<u64> {
            let axis = |inner: &Expr| matches!(inner, Expr::Axis(found) if **found == *name);
            match map {
                Expr::Pad { inner, size, .. } if axis(inner) => Some(*size),
                other => other.children().into_iter().find_map(|child| find(child, name)),
            }
        }
        let maps = [Dim::Slice, Dim::Time, Dim::Packet].map(|dim| self.dim(dim));
        maps.into_iter().flatten().find_map(|map| find(&map, self.name()))
    }

    /// The axis from its size up, in whole packets.
    fn whole_packets(&self) -> (u64, u64) {
        let lanes = self.machine.limits.vector_lanes;
        (self.axes.size(self.axis).next_multiple_of(lanes), lanes)
    }

    pub(super) fn unreadable(&self, why: String) -> Refusal {
        let fix =
            format!("pad the whole axis first, then split it: `{0} # n / k` and `{0} # n % k`", self.name());
        self.refuse(&why, Some(fix))
    }

    pub(super) fn across(&self, dim: Dim) -> Refusal {
        let why = format!(
            "{} `{}` holds it too, and the generator sees the slice's number within its cluster only",
            dim.name(),
            self.entry.dim(dim)
        );
        self.refuse(&why, Some(format!("keep {} within the slices of one cluster", self.name())))
    }

    pub(super) fn mixed(&self) -> Refusal {
        let name = self.name();
        let why = format!(
            "a valid count takes leading lanes only, and the packet holds another axis in addition to {name}"
        );
        let (padded, lanes) = self.whole_packets();
        let fix = format!(
            "put the other axis outside the packet, or let {name} fill it: time `{name} # {padded} / {lanes}`, \
             packet `{name} # {padded} % {lanes}`"
        );
        self.refuse(&why, Some(fix))
    }

    pub(super) fn no_prefix(&self) -> Refusal {
        self.refuse(
            "a valid count takes leading lanes only, and padding is before elements in the packet",
            None,
        )
    }

    pub(super) fn not_innermost(&self) -> Refusal {
        let (padded, lanes) = self.whole_packets();
        let why = "the packet does not hold the innermost part of it, so its last elements are spread over \
                   several packets";
        self.refuse(why, self.cut("time", "packet", padded, lanes))
    }

    pub(super) fn slice_and_packet(&self, padded: u64) -> Refusal {
        let lanes = self.machine.limits.vector_lanes;
        let why = "a partial packet has the same valid count in all slices, and they need different ones";
        let fix = self.cut("slice", "time", self.written().unwrap_or(padded), lanes);
        let whole = format!(
            "or make {} a multiple of the packet's part, which leaves no partial packet",
            self.name()
        );
        self.refuse(why, fix.map(|fix| format!("{fix}, {whole}")))
    }

    pub(super) fn over_allocated(&self, slices: u64, found: u64) -> Refusal {
        let size = self.axes.size(self.axis);
        let padded = size.next_multiple_of(slices);
        let why = format!(
            "with the inner part in slices, time has to have ceil({size} / {slices}) = {}, found {found}: slices \
             that are always valid would count too many",
            counted(padded / slices, "step")
        );
        self.refuse(&why, Some(format!("pad to `{} # {padded}`", self.name())))
    }

    pub(super) fn interleaved(&self, time: u64, padded: u64) -> Refusal {
        let why = "time holds parts both outside and inside the slices' part, so slices have different numbers of \
                   valid steps, and a gate has one threshold";
        self.refuse(why, self.cut("slice", "time", self.written().unwrap_or(padded), time))
    }

    pub(super) fn unordered(&self) -> Refusal {
        let slice = self.entry.dim(Dim::Slice);
        let own = factors(&slice, self.axis, self.axes).unwrap_or_default();
        let mut terms: Vec<Expr> =
            own.into_iter().filter(|factor| factor.reduced).map(|factor: Factor| factor.term).collect();
        let stride = |term: &Expr| {
            super::digits_of(term, self.axes)
                .map_or(0, |digits| digits.iter().map(|digit| digit.stride).max().unwrap_or(0))
        };
        terms.sort_by_key(|term| std::cmp::Reverse(stride(term)));
        let why = "its parts in slices are not ordered outer to inner, so valid slices are not those below a \
                   threshold";
        self.refuse(why, Some(format!("order them as `{}`", Expr::pair(terms))))
    }

    pub(super) fn bits(&self) -> Refusal {
        let why = "its parts in slices do not have separate bits in the slice number, which is all that a gate's \
                   mask can see";
        self.refuse(why, Some("use powers of two for the factors of the slice mapping inside it".to_owned()))
    }

    pub(super) fn two_dims(&self) -> Refusal {
        let why = "a loop over time is padded by itself and counts towards the end of the axis too, and a counter \
                   belongs to one dimension";
        self.refuse(
            why,
            Some(format!(
                "pad the whole axis first, then split it: `{0} # n / k` and `{0} # n % k`",
                self.name()
            )),
        )
    }

    pub(super) fn too_long(&self) -> Refusal {
        let most = super::MAX_STEPS;
        self.refuse(
            &format!(
                "it takes more than {} over time, the most that are examined (ours)",
                counted(most, "step")
            ),
            None,
        )
    }

    pub(super) fn too_many(&self, what: &str, found: usize, most: u64) -> Refusal {
        let why = format!(
            "that takes {found} {what}, of which the generator has {most}, with limits up to {}",
            self.machine.limits.sequencer_limit
        );
        self.refuse(&why, None)
    }
}
