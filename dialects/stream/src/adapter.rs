//! The element-wise stages of the fetch adapter (book 08), as a fetch asks for them: table, conversion, zero
//! points. Verifier, lowering and logical evaluator read them here.

use crate::pad::Pad;
use std::sync::Arc;
use visa_numerics::{Bits, CastRow, DType, LookupTable, from_pattern, to_f64};

/// The steps for each element, in this order.
pub struct Adapter {
    /// Format in data memory.
    pub from: DType,
    /// The look-up table.
    pub table: Option<LookupTable>,
    /// The conversion.
    pub cast: Option<&'static CastRow>,
    /// The subtracted zero point: one number for all, or one for each coordinate along [`Adapter::axis`].
    pub zero: Vec<i32>,
    /// The axis between two interleaved tensors.
    pub axis: Option<Arc<str>>,
}

impl Adapter {
    /// The bit pattern in data memory that masked elements become first, so that the adapter turns it into their
    /// value. `None` if there is none: the lowest and highest number of the tensor's format have to come through
    /// unchanged, except for the zero point.
    #[must_use]
    pub fn masked(&self, pad: Pad) -> Option<Bits> {
        let extreme = match pad {
            Pad::Zero => return self.zero(),
            Pad::Lowest => self.from.lowest(),
            Pad::Highest => self.from.highest(),
        };
        let to = self.cast.map_or(self.from, |row| row.to);
        let after = self.cast.map_or(extreme, |row| (row.apply)(extreme));
        let unchanged = self.table.is_none() && to_f64(to, after) == to_f64(self.from, extreme);
        let (least, most) = to.range().unwrap_or((i32::MIN, i32::MAX));
        let fits = |zero: &i32| {
            after.cast_signed().checked_sub(*zero).is_some_and(|shifted| (least..=most).contains(&shifted))
        };
        (unchanged && self.zero.iter().all(fits)).then_some(extreme)
    }

    /// The bit pattern in data memory that is zero after the adapter, for every coordinate along
    /// [`Adapter::axis`]: the first value of masked elements (book 08: pad_value). `None` if there is none.
    #[must_use]
    pub fn zero(&self) -> Option<Bits> {
        if self.table.is_none() && self.zero.is_empty() {
            return Some(0);
        }
        let after = |bits: Bits| {
            let indexed = self.table.as_ref().map_or(Some(bits), |table| table.get(self.from, bits))?;
            Some(self.cast.map_or(indexed, |row| (row.apply)(indexed)))
        };
        // Tables and zero points are for formats of up to 8 bits.
        let patterns = 0..1_u32.checked_shl(self.from.bits()).unwrap_or(0);
        patterns.into_iter().find(|&pattern| {
            let zero = after(from_pattern(self.from, pattern)).map(Bits::cast_signed);
            zero.is_some_and(|zero| {
                if self.zero.is_empty() { zero == 0 } else { self.zero.iter().all(|own| *own == zero) }
            })
        })
    }
}
