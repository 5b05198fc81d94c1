//! The differences between a folded function and the kernel: the sums and maxima that round otherwise.

use super::condition::Frame;
use super::real::{Factor, Product, Real};
use egg::Id;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use visa_numerics::DType;

/// The text of a loop's dimension.
#[must_use]
pub(crate) fn dimension(frame: &Frame) -> String {
    match frame.block {
        1 => format!("[{}]", frame.axis),
        block => format!("[{} / {block}]", frame.axis),
    }
}

/// A loop that is not folded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeptLoop {
    /// The reason.
    pub reason: String,
    /// The dimension of the loop, as the kernel has it; `None` if the reason is about the whole function.
    pub over: Option<String>,
}

/// A sum that the kernel adds in blocks.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    /// The axes of the sum.
    pub(crate) axes: Vec<Arc<str>>,
    /// The dimension of the kernel's loop.
    pub(crate) dimension: String,
    /// The values by which the kernel rescales the sum in each iteration.
    pub(crate) references: Vec<Id>,
    /// The formats to which summands are rounded.
    pub(crate) formats: BTreeSet<DType>,
}

/// A maximum, and the same with the initial value of the kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Maximum {
    /// The maximum of the elements.
    pub(crate) plain: Id,
    /// The maximum of these and of the initial value.
    pub(crate) bounded: Id,
}

/// The folded loops of a function, the others, and the differences.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    /// The dimensions of the loops that were folded.
    pub(crate) folded: BTreeSet<String>,
    /// The loops that were not.
    pub(crate) kept: BTreeSet<KeptLoop>,
    /// The maxima.
    pub(crate) maxima: Vec<Maximum>,
    /// The sums.
    pub(crate) differences: BTreeMap<Id, Difference>,
    /// The laws of real arithmetic that were used.
    pub(crate) laws: BTreeSet<&'static str>,
}

impl Notes {
    /// A maximum of a loop.
    pub(crate) fn maximum(&mut self, frame: &Frame, plain: Id, bounded: Id) {
        self.folded.insert(dimension(frame));
        let maximum = Maximum { plain, bounded };
        if !self.maxima.contains(&maximum) {
            self.maxima.push(maximum);
        }
    }

    /// The sums of a carried value of a loop.
    pub(crate) fn sums(&mut self, frame: &Frame, sums: Vec<(Id, Vec<Arc<str>>)>, by: &[Id], real: &Real) {
        self.folded.insert(dimension(frame));
        let mut formats = BTreeSet::new();
        real.0.keys().for_each(|product| rounded(product, &mut formats));
        for (sum, axes) in sums {
            let (dimension, formats) = (dimension(frame), formats.clone());
            let difference = Difference { axes, dimension, references: by.to_vec(), formats };
            self.differences.insert(sum, difference);
        }
    }

    /// A loop whose iterations are independent: it is folded bit by bit.
    pub(crate) fn independent(&mut self, frame: &Frame) {
        self.folded.insert(dimension(frame));
    }

    /// Laws that were used.
    pub(crate) fn laws(&mut self, laws: BTreeSet<&'static str>) {
        self.laws.extend(laws);
    }
}

fn rounded(product: &Product, formats: &mut BTreeSet<DType>) {
    product.any(&mut |factor| {
        if let Factor::Rounded(format, _) = factor {
            formats.insert(*format);
        }
        false
    });
}
