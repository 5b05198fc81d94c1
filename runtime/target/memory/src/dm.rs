//! The addresses of a slice's data memory (book 11, "Address Space in a Slice").

/// Where a byte of a slice is: bits 0 to 2 choose it in a row, 3 to 6 the bank, 7 to 18 the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DmPlace {
    /// One of 16.
    pub bank: u64,
    /// One of the 4096 of a bank.
    pub row: u64,
    /// One of the 8 of a row.
    pub byte: u64,
}

/// Data memory of a slice, bytes.
const BYTES: u64 = 512 << 10;

impl DmPlace {
    /// The place of an address within a slice; `None` from 512 KB on.
    #[must_use]
    pub fn of(address: u64) -> Option<Self> {
        (address < BYTES).then_some(Self { bank: address >> 3 & 15, row: address >> 7, byte: address & 7 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// B1.
    #[test]
    fn bytes_in_a_row_touch_all_banks() {
        assert_eq!(DmPlace::of(0), Some(DmPlace { bank: 0, row: 0, byte: 0 }));
        assert_eq!(
            DmPlace::of(0b1010_1011_1101 << 7 | 0b1110 << 3 | 0b101),
            Some(DmPlace { bank: 0b1110, row: 0b1010_1011_1101, byte: 0b101 })
        );
        assert_eq!(DmPlace::of(BYTES - 1), Some(DmPlace { bank: 15, row: 4095, byte: 7 }));
        assert_eq!(DmPlace::of(BYTES), None);
        for start in [0, 128, 4096, BYTES - 128] {
            let places: Vec<_> = (start..start + 128).filter_map(DmPlace::of).collect();
            let banks: BTreeSet<_> = places.iter().map(|place| place.bank).collect();
            assert_eq!((banks.len(), places.len()), (16, 128));
            assert!(places.iter().all(|place| place.row == places[0].row));
        }
    }
}
