//! The registers of the Valid Count Generator (book 24), one by one: counters and gates.

/// A dimension of the generator that a counter belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountDim {
    /// The packet dimension, which counts elements.
    Packet,
    /// The gate of this number, which opens or closes.
    Gate(usize),
}

/// A counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Values that it takes: 0 to one less.
    pub limit: u64,
    /// Added to the index of its dimension at each step, in that dimension's positions.
    pub stride: u64,
    /// The dimension; none for a counter that only counts packets.
    pub dim: Option<CountDim>,
}

/// A gate: whether a packet of a slice is valid at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// The bits of the slice number that it sees.
    pub mask: u64,
    /// The slice number under the mask at which not every packet is valid.
    pub matches: u64,
    /// The index from which on packets are not valid there.
    pub valid: u64,
    /// True if slices beyond behave like matching ones instead of closed ones.
    pub transposed: bool,
}

impl Gate {
    /// Returns true if packets with this index pass in a slice.
    #[must_use]
    pub fn is_open(&self, slice: u64, index: u64) -> bool {
        match (slice & self.mask).cmp(&self.matches) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Equal => index < self.valid,
            std::cmp::Ordering::Greater => self.transposed && index < self.valid,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A gate that sees the low two bits of the slice, and closes from slice 2 on: before it all pass, in it those
    /// below 5; beyond none, or as many where it is transposed (book 24).
    #[test]
    fn gates_by_hand() {
        let gate = Gate { mask: 3, matches: 2, valid: 5, transposed: false };
        for (slice, index, open, transposed) in [
            (1, 4, true, true),
            (1, 5, true, true),
            (2, 4, true, true),
            (2, 5, false, false),
            (3, 4, false, true),
            (3, 5, false, false),
            // The third bit of the slice is not seen.
            (5, 9, true, true),
            (6, 4, true, true),
            (6, 5, false, false),
            (7, 0, false, true),
        ] {
            assert_eq!(gate.is_open(slice, index), open, "slice {slice}, {index}");
            let gate = Gate { transposed: true, ..gate };
            assert_eq!(gate.is_open(slice, index), transposed, "transposed, slice {slice}, {index}");
        }
    }
}
