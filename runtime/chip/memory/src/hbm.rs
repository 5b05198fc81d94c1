//! The address map of RNGD's HBM (book 11, "Address Space in a Chip").

/// HBM of a chip, bytes: 2 stacks, 16 channels, 3 slices, 4 bank groups, 4 banks, 16 K rows of 2 KB.
pub const HBM_BYTES: u64 = 48 << 30;

/// Bytes of a row that are read or written together: bits 0 to 7 of an address.
pub const HBM_UNIT: u64 = 256;

/// Channels of a chip, both stacks together.
pub const HBM_CHANNELS: u64 = 32;

/// Bytes after which channels are the same again: no higher bit of an address has a part in them.
pub const CHANNEL_PERIOD: u64 = 1 << 29;

/// The lowest address bit of each group of four whose XOR is a channel of a stack. The book's example of the first bit
/// leaves out bit 17, which its table and its rule have.
const CHANNEL_GROUPS: [u32; 5] = [9, 13, 17, 21, 25];

/// Where a byte of HBM is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HbmPlace {
    /// One of 2.
    pub stack: u64,
    /// One of the 16 of a stack.
    pub channel: u64,
    /// One of 3.
    pub slice: u64,
    /// One of 4.
    pub bank_group: u64,
    /// One of the 4 of a group.
    pub bank: u64,
    /// One of the 16 K of a bank.
    pub row: u64,
    /// A byte of the 2 KB of a row.
    pub byte: u64,
}

/// `count` bits of `address` from bit `low` on.
const fn bits(address: u64, low: u32, count: u32) -> u64 {
    address >> low & ((1 << count) - 1)
}

/// The channel of an address, the stack its highest bit: one of [`HBM_CHANNELS`]. It is linear in the bits of an
/// address: that of an XOR is the XOR of the channels.
#[must_use]
pub fn channel(address: u64) -> u64 {
    let channel = CHANNEL_GROUPS.iter().fold(0, |channel, &low| channel ^ bits(address, low, 4));
    bits(address, 8, 1) << 4 | channel
}

/// The bits of an address whose XOR is a bit of [`channel`], the lowest first.
#[must_use]
pub fn channel_bits(bit: u32) -> Vec<u32> {
    (0..36).filter(|&at| channel(1 << at) >> bit & 1 == 1).collect()
}

impl HbmPlace {
    /// Banks of a chip: of each of 3 slices of a channel 16.
    pub const BANKS: usize = HBM_CHANNELS as usize * 3 * 16;

    /// The place of an address; `None` from [`HBM_BYTES`] on.
    ///
    /// Bits 34 and 35 are never both 1 below 48 GiB. Where bit 34 is 1, the slice is the third, and bit 20, which
    /// elsewhere chooses between the first two, takes the part of row bit 35. The book states only that bit 34 is
    /// influenced by the row; this is the one assignment that leaves bits 20 and 35 alone where bit 34 is 0.
    #[must_use]
    pub fn of(address: u64) -> Option<Self> {
        if address >= HBM_BYTES {
            return None;
        }
        let third = bits(address, 34, 1) == 1;
        let (slice, top) = match third {
            true => (2, bits(address, 20, 1)),
            false => (bits(address, 20, 1), bits(address, 35, 1)),
        };
        Some(Self {
            stack: bits(address, 8, 1),
            channel: channel(address) % 16,
            slice,
            bank_group: bits(address, 19, 1) << 1 | bits(address, 13, 1),
            bank: bits(address, 17, 2),
            row: top << 13 | bits(address, 21, 13),
            byte: bits(address, 14, 3) << 8 | bits(address, 0, 8),
        })
    }

    /// The address of a place.
    #[must_use]
    pub fn address(&self) -> u64 {
        let top = bits(self.row, 13, 1);
        let (bit_20, bit_34, bit_35) = match self.slice {
            2 => (top, 1, 0),
            slice => (slice, 0, top),
        };
        let mut address = bits(self.byte, 0, 8) | self.stack << 8 | bits(self.bank_group, 0, 1) << 13;
        address |= bits(self.byte, 8, 3) << 14 | self.bank << 17 | bits(self.bank_group, 1, 1) << 19;
        address |= bit_20 << 20 | bits(self.row, 0, 13) << 21 | bit_34 << 34 | bit_35 << 35;
        // Without bits 9 to 12 the rest of the XOR is known, and they make up the difference.
        address | ((channel(address) % 16) ^ self.channel) << 9
    }

    /// The channel that it is in, one of [`HBM_CHANNELS`] of a chip.
    #[must_use]
    pub fn channel_of_chip(&self) -> u64 {
        self.stack * 16 + self.channel
    }

    /// The channel of a bank of the chip.
    #[must_use]
    pub fn channel_of_bank(bank: u64) -> u64 {
        bank / (3 * 16)
    }

    /// The bank that it is in, one of [`Self::BANKS`] of a chip: only one row of a bank is open at a time.
    #[must_use]
    pub fn bank_of_chip(&self) -> u64 {
        let channel = self.channel_of_chip();
        ((channel * 3 + self.slice) * 4 + self.bank_group) * 4 + self.bank
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use visa_machine::Machine;
    use visa_support::Random;

    #[test]
    fn the_map_is_that_of_the_machine() {
        let machine = Machine::rngd();
        assert_eq!((machine.memory.hbm_bytes, machine.hbm_channels()), (HBM_BYTES, HBM_CHANNELS));
    }

    /// H1. As many places as addresses, and each has its own.
    #[test]
    fn the_map_is_one_to_one() {
        assert_eq!(HBM_BYTES, 2 * 16 * 3 * 4 * 4 * (16 << 10) * (2 << 10));
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let edges = (0..36).flat_map(|bit| [(1 << bit) - 1, 1 << bit, HBM_BYTES - (1 << bit)]);
        let addresses =
            edges.chain((0..100_000).map(|_| random.under(HBM_BYTES))).filter(|&at| at < HBM_BYTES);
        for address in addresses {
            let place = HbmPlace::of(address).expect("an address of the chip");
            assert_eq!(place.address(), address, "{place:?}");
            let within = place.stack < 2 && place.channel < 16 && place.slice < 3 && place.bank_group < 4;
            assert!(within && place.bank < 4 && place.row < 16 << 10 && place.byte < 2 << 10, "{place:?}");
            assert!(place.bank_of_chip() < 1536);
        }
        for _ in 0..100_000 {
            let place = HbmPlace {
                stack: random.under(2),
                channel: random.under(16),
                slice: random.under(3),
                bank_group: random.under(4),
                bank: random.under(4),
                row: random.under(16 << 10),
                byte: random.under(2 << 10),
            };
            assert_eq!(HbmPlace::of(place.address()), Some(place));
        }
    }

    /// H1. 36 bits, of which the highest two are never both 1.
    #[test]
    fn memory_ends_after_48_gib() {
        assert!(HbmPlace::of(HBM_BYTES - 1).is_some());
        assert_eq!(HbmPlace::of(HBM_BYTES), None);
        assert_eq!(HbmPlace::of(u64::MAX), None);
        assert_eq!((HBM_BYTES - 1) >> 34, 0b10);
    }

    /// Bit 28 has a part in a channel, higher ones have none.
    #[test]
    fn channels_repeat() {
        assert_eq!((0..5).flat_map(channel_bits).max(), Some(28));
        assert_eq!(CHANNEL_PERIOD, 1 << 29);
    }

    /// Book 11: each bit of an address and its field, alone.
    #[test]
    fn bits_of_the_table() {
        let zero = HbmPlace { stack: 0, channel: 0, slice: 0, bank_group: 0, bank: 0, row: 0, byte: 0 };
        for bit in 0_u32..36 {
            let xor = if (9..=28).contains(&bit) { 1 << ((bit - 9) % 4) } else { 0 };
            let place = HbmPlace { channel: xor, ..zero };
            let expected = match bit {
                0..=7 => HbmPlace { byte: 1 << bit, ..place },
                8 => HbmPlace { stack: 1, ..place },
                9..=12 => place,
                13 => HbmPlace { bank_group: 1, ..place },
                14..=16 => HbmPlace { byte: 1 << (bit - 14 + 8), ..place },
                17 | 18 => HbmPlace { bank: 1 << (bit - 17), ..place },
                19 => HbmPlace { bank_group: 2, ..place },
                20 => HbmPlace { slice: 1, ..place },
                21..=33 => HbmPlace { row: 1 << (bit - 21), ..place },
                34 => HbmPlace { slice: 2, ..place },
                35.. => HbmPlace { row: 1 << 13, ..place },
            };
            assert_eq!(HbmPlace::of(1 << bit), Some(expected), "bit {bit}");
        }
    }
}
