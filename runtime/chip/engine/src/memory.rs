//! The memories of a slice, and the accesses of a stage to them.

use crate::shadow::Shadow;
use crate::unwritten::Unwritten;
use std::ops::Range;
use visa_machine::Medium;
use visa_numerics::DType;

/// The memories of one slice. They grow on demand; undefined bytes read as [`Unwritten`].
#[derive(Clone, Debug)]
pub struct SliceMemory {
    /// Data memory.
    pub dm: Bank,
    /// Tensor register file, row after row (`row * trf_bytes_per_row + address`).
    pub trf: Bank,
    /// The same with the sideband bits of i5 and i9, which the file holds in addition to its bytes (book 19). Such
    /// elements are here, at [`DType::wire_scale`] times their address.
    pub trf_extended: Bank,
    /// Vector register file.
    pub vrf: Bank,
}

/// A byte memory that grows when written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bank {
    bytes: Vec<u8>,
    /// The pattern that undefined bytes read as.
    unwritten: Unwritten,
    /// One mark a byte in shadow mode; bytes beyond its end were never written.
    shadow: Vec<Shadow>,
}

impl Default for SliceMemory {
    fn default() -> Self {
        let bank = || Bank::new(Unwritten::STORED);
        Self { dm: bank(), trf: bank(), trf_extended: Bank::new(Unwritten::WIDE), vrf: bank() }
    }
}

impl SliceMemory {
    /// The tensor register file as elements of `dtype` see it, [`DType::wire_scale`] bytes an address.
    #[must_use]
    pub fn trf_of(&self, dtype: DType) -> &Bank {
        if dtype.is_stored() { &self.trf } else { &self.trf_extended }
    }

    /// Writes elements of `dtype` into the tensor register file, at a nominal address, with their marks in shadow
    /// mode. Elements stored there before are lost, with or without sideband bits.
    pub fn write_trf(&mut self, dtype: DType, at: usize, bytes: &[u8], marks: Option<&[Shadow]>) {
        let (own, other, per_own) = match dtype.is_stored() {
            true => (&mut self.trf, &mut self.trf_extended, 2),
            false => (&mut self.trf_extended, &mut self.trf, 1),
        };
        let scale = dtype.wire_scale();
        own.write(at * scale, bytes);
        if let Some(marks) = marks {
            own.write_shadow(at * scale, marks);
        }
        other.forget(at * per_own..(at + bytes.len() / scale) * per_own);
    }
}

impl Bank {
    /// A memory that nothing was written to.
    #[must_use]
    pub fn new(unwritten: Unwritten) -> Self {
        Self { bytes: Vec::new(), unwritten, shadow: Vec::new() }
    }

    /// Copies `range` into `out`.
    pub fn read(&self, range: Range<usize>, out: &mut Vec<u8>) {
        let end = range.end.min(self.bytes.len());
        let start = range.start.min(end);
        out.extend_from_slice(&self.bytes[start..end]);
        let beyond = range.start.max(end);
        self.unwritten.extend(beyond as u64, range.end - beyond, out);
    }

    /// Copies `size` bytes from each of `addresses` into `out`. Short accesses are the
    /// many ones, and for them a copy whose size the compiler knows is far cheaper.
    pub fn gather(&self, addresses: &[u32], size: usize, out: &mut Vec<u8>) {
        match size {
            1 => self.gather_arrays::<1>(addresses, out),
            2 => self.gather_arrays::<2>(addresses, out),
            4 => self.gather_arrays::<4>(addresses, out),
            8 => self.gather_arrays::<8>(addresses, out),
            _ => addresses.iter().for_each(|&start| self.read(start as usize..start as usize + size, out)),
        }
    }

    fn gather_arrays<const N: usize>(&self, addresses: &[u32], out: &mut Vec<u8>) {
        out.reserve(addresses.len() * N);
        for &start in addresses {
            let start = start as usize;
            match self.bytes.get(start..).and_then(|rest| rest.first_chunk::<N>()) {
                Some(bytes) => out.extend_from_slice(bytes),
                None => self.read(start..start + N, out),
            }
        }
    }

    /// Copies the marks of `range` into `out`; a byte never written has the mark `unwritten`.
    pub fn read_shadow(&self, range: Range<usize>, unwritten: Shadow, out: &mut Vec<Shadow>) {
        for at in range {
            out.push(
                self.shadow
                    .get(at)
                    .copied()
                    .filter(|&mark| mark != Shadow::NEVER_WRITTEN)
                    .unwrap_or(unwritten),
            );
        }
    }

    /// Writes `bytes` at `at`.
    pub fn write(&mut self, at: usize, bytes: &[u8]) {
        let end = at + bytes.len();
        self.bytes_mut(end)[at..end].copy_from_slice(bytes);
    }

    /// Makes `range` as if it was never written.
    fn forget(&mut self, range: Range<usize>) {
        let bytes = self.bytes.len();
        self.unwritten
            .fill(range.start as u64, &mut self.bytes[range.start.min(bytes)..range.end.min(bytes)]);
        let marks = self.shadow.len();
        self.shadow[range.start.min(marks)..range.end.min(marks)].fill(Shadow::NEVER_WRITTEN);
    }

    /// Writes marks at `at`.
    pub fn write_shadow(&mut self, at: usize, marks: &[Shadow]) {
        let end = at + marks.len();
        if self.shadow.len() < end {
            self.shadow.resize(end, Shadow::NEVER_WRITTEN);
        }
        self.shadow[at..end].copy_from_slice(marks);
    }

    /// The bytes from address 0, at least `length` of them, to be written.
    pub fn bytes_mut(&mut self, length: usize) -> &mut [u8] {
        let held = self.bytes.len();
        if held < length {
            self.unwritten.extend(held as u64, length - held, &mut self.bytes);
        }
        &mut self.bytes
    }

    /// The bytes written so far, from address 0.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// A memory of a slice or of the chip.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// A memory that DMA engines reach.
    Memory(Medium),
    /// Tensor register file of a slice.
    Trf,
    /// Vector register file of a slice.
    Vrf,
}

impl From<Medium> for Space {
    fn from(medium: Medium) -> Self {
        Self::Memory(medium)
    }
}

impl std::fmt::Debug for Space {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Memory(medium) => std::fmt::Debug::fmt(medium, f),
            Self::Trf => f.write_str("Trf"),
            Self::Vrf => f.write_str("Vrf"),
        }
    }
}

impl Space {
    /// System memory of the host.
    pub const HOST: Self = Self::Memory(Medium::Host);
    /// High-bandwidth memory of a chip.
    pub const HBM: Self = Self::Memory(Medium::Hbm);
    /// Data memory of a slice.
    pub const DM: Self = Self::Memory(Medium::Dm);

    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory(medium) => medium.word(),
            Self::Trf => "trf",
            Self::Vrf => "vrf",
        }
    }

    /// The memory, if DMA engines reach it.
    #[must_use]
    pub const fn medium(self) -> Option<Medium> {
        match self {
            Self::Memory(medium) => Some(medium),
            Self::Trf | Self::Vrf => None,
        }
    }
}

/// A range of addresses that a command touches, in bytes. Ranges of slice memories are the same in every slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The accessed memory.
    pub space: Space,
    /// True if the access is a write.
    pub write: bool,
    /// Bytes from the first touched to one past the last touched.
    pub range: Range<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gathering_reads_what_reading_does() {
        let mut bank = Bank::new(Unwritten::STORED);
        bank.write(0, &(1..=20).collect::<Vec<u8>>());
        for size in [1, 2, 4, 8, 16] {
            // Inside, the last whole access, across the end, and never written.
            let addresses = [3, 20 - size as u32, 19, 20, 1000];
            let (mut gathered, mut read) = (vec![7], vec![7]);
            bank.gather(&addresses, size, &mut gathered);
            addresses.iter().for_each(|&at| bank.read(at as usize..at as usize + size, &mut read));
            assert_eq!(gathered, read, "{size}");
        }
        let mut two = Vec::new();
        bank.gather(&[18, 19, 20], 2, &mut two);
        assert_eq!(two, [19, 20, 20, 0xf5, 0xf5, 0xf5]);
    }

    /// An i9 takes two of the bytes held: at nominal address 2, bytes 4 and 5. Where one format is written, the
    /// other is gone.
    #[test]
    fn a_format_takes_the_addresses_of_the_other_in_the_register_file() {
        let mut memory = SliceMemory::default();
        let marks = |bank: &Bank, range| {
            let mut marks = Vec::new();
            bank.read_shadow(range, Shadow::NEVER_WRITTEN, &mut marks);
            marks.iter().map(|mark| mark.is_defined()).collect::<Vec<_>>()
        };
        memory.write_trf(DType::I8, 0, &[1, 2, 3, 4, 5, 6], Some(&[Shadow::DEFINED; 6]));
        memory.write_trf(DType::I9, 2, &[7, 0, 8, 0], Some(&[Shadow::DEFINED; 4]));
        assert_eq!(memory.trf.bytes(), [1, 2, 0x77, 0x77, 5, 6]);
        assert_eq!(marks(&memory.trf, 0..6), [true, true, false, false, true, true]);
        assert_eq!(memory.trf_extended.bytes()[4..], [7, 0, 8, 0]);
        assert_eq!(marks(&memory.trf_extended, 2..8), [false, false, true, true, true, true]);
        memory.write_trf(DType::I8, 3, &[9], Some(&[Shadow::DEFINED]));
        assert_eq!(memory.trf.bytes(), [1, 2, 0x77, 9, 5, 6]);
        assert_eq!(memory.trf_extended.bytes()[4..], [7, 0, 0xf3, 0xff]);
        assert_eq!(marks(&memory.trf_extended, 2..8), [false, false, true, true, false, false]);
    }
}
