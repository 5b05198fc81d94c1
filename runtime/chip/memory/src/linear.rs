//! Requests whose addresses are linear in the bits of their number.

use visa_loops::{Entry, Program, Stride};
use visa_machine::Machine;

/// Requests as many as a power of two. Each bit of a request's number changes bits of the address that no other
/// changes: the address is the XOR of the base and of the changes of the bits that are 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Linear {
    /// The address of the first request.
    pub base: u64,
    /// Change of each bit of the number, the bit that changes most often first; 0 where requests are repeated.
    pub bits: Vec<u64>,
    /// Bytes of each request.
    pub bytes: u64,
}

impl Linear {
    /// The requests of a program in bytes. `None` where an address carries from one bit into another, or where
    /// requests are of different sizes, or are 2^63 or more.
    pub(crate) fn of(program: &Program, machine: &Machine) -> Option<Self> {
        let most = machine.limits.dma_request_bytes;
        let bytes = program.packet.min(most);
        if !program.packet.is_multiple_of(bytes) {
            return None;
        }
        let mut loops = packets(program)?;
        loops.insert(0, (program.packet / bytes, most));
        let base = u64::try_from(program.base).ok()?;
        let (mut bits, mut taken) = (Vec::new(), base);
        for (limit, stride) in loops.into_iter().filter(|&(limit, _)| limit != 1) {
            if !limit.is_power_of_two() || !(stride == 0 || stride.is_power_of_two()) {
                return None;
            }
            for at in 0..limit.trailing_zeros() {
                let bit = stride.checked_mul(1 << at)?;
                if taken & bit != 0 {
                    return None;
                }
                taken |= bit;
                bits.push(bit);
            }
        }
        (bits.len() < 63).then_some(Self { base, bits, bytes })
    }

    /// Number of requests.
    pub(crate) fn count(&self) -> u64 {
        1 << self.bits.len()
    }

    /// The address of each request, in order.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = u64> {
        // From one number to the next, the lowest bits change up to the first that was 0.
        let steps: Vec<_> = self
            .bits
            .iter()
            .scan(0, |changed, bit| {
                *changed ^= bit;
                Some(*changed)
            })
            .collect();
        let mut address = self.base;
        (0..self.count()).map(move |number| {
            if number > 0 {
                address ^= steps[number.trailing_zeros() as usize];
            }
            address
        })
    }

    /// The last address that is asked for.
    pub(crate) fn last(&self) -> u64 {
        self.bits.iter().fold(self.base, |address, bit| address | bit) + (self.bytes - 1)
    }

    /// Returns true if no request goes over a boundary of `unit` bytes, a power of two.
    pub(crate) fn stays_within(&self, unit: u64) -> bool {
        let most = self.bits.iter().fold(self.base, |address, bit| address | bit) % unit;
        most + self.bytes <= unit
    }
}

/// The loops over packets, innermost first, as limits and strides: those of the program without the part that a packet
/// covers.
fn packets(program: &Program) -> Option<Vec<(u64, u64)>> {
    let mut covered = program.packet;
    let mut loops = Vec::new();
    for Entry { limit, stride } in program.entries.iter().rev() {
        let Stride::Fixed(stride) = *stride else { return None };
        let stride = u64::try_from(stride).ok()?;
        if covered.is_multiple_of(*limit) {
            covered /= limit;
        } else if limit.is_multiple_of(covered) {
            loops.push((limit / covered, stride.checked_mul(covered)?));
            covered = 1;
        } else {
            return None;
        }
    }
    Some(loops)
}

/// Vectors of bits, and those sums of them that are 0.
///
/// Each sum is the mask of its vectors. Its highest vector is in no other sum, so that in ascending order of masks the
/// numbers of requests that have the same image are counted like a binary number.
pub(crate) fn kernel(vectors: &[u64]) -> Vec<u64> {
    let mut reduced: Vec<(u64, u64)> = Vec::new();
    let mut sums = Vec::new();
    for (at, &vector) in vectors.iter().enumerate() {
        let (mut rest, mut mask) = (vector, 1_u64 << at);
        for &(other, others) in &reduced {
            if rest ^ other < rest {
                rest ^= other;
                mask ^= others;
            }
        }
        if rest == 0 {
            sums.push(mask);
        } else {
            reduced.push((rest, mask));
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requests::{request_count, requests};
    use visa_support::Random;

    fn linear(text: &str) -> Option<Linear> {
        Linear::of(&text.parse().expect(text), &Machine::rngd())
    }

    #[test]
    fn bits_are_those_of_the_loops_from_the_innermost_out() {
        let found = linear("[2 : 8192, 4 : 0, 1024 : 1] : 1024 @ 16384").expect("powers of two");
        assert_eq!((found.bits, found.base), (vec![256, 512, 0, 0, 8192], 16384));
        assert_eq!(linear("[4 : 64, 64 : 1] : 64").expect("small packets").bits, [64, 128]);
    }

    #[test]
    fn what_carries_is_not_linear() {
        for text in [
            "[3 : 256, 256 : 1] : 256",
            "[2 : 768, 256 : 1] : 256",
            "[4 : 256, 2 : 256, 256 : 1] : 256",
            "[2 : 256, 256 : 1] : 256 @ 256",
            "[2 : 512, 300 : 1] : 300",
            "[2 : (0, 512), 256 : 1] : 256",
            "[2 : -256, 256 : 1] : 256 @ 1024",
        ] {
            assert_eq!(linear(text), None, "{text}");
        }
    }

    #[test]
    fn boundaries() {
        assert!(linear("[4 : 64, 64 : 1] : 64 @ 0").expect("linear").stays_within(256));
        assert!(linear("[1 : 0, 64 : 1] : 64 @ 192").expect("linear").stays_within(256));
        assert!(!linear("[1 : 0, 64 : 1] : 64 @ 193").expect("linear").stays_within(256));
        assert_eq!(linear("[2 : 256, 256 : 1] : 256").expect("linear").last(), 511);
    }

    /// The address of each request is the XOR that it should be.
    #[test]
    fn the_addresses_are_those_of_the_program() {
        let mut random = Random(7);
        let mut found = 0;
        for _ in 0..2_000 {
            let loops: Vec<_> = (0..1 + random.below(3))
                .map(|_| {
                    format!("{} : {}", 1 << random.below(4), (1_u64 << random.below(24)) * random.under(2))
                })
                .collect();
            let packet = 1_u64 << random.below(12);
            let text = format!("[{}, {packet} : 1] : {packet} @ {}", loops.join(", "), random.under(1 << 24));
            let Some(linear) = linear(&text) else { continue };
            let program: Program = text.parse().expect("a program");
            let all: Vec<_> = requests(&program, &Machine::rngd()).expect("addresses").collect();
            assert_eq!(request_count(&program, &Machine::rngd()), Some(linear.count()), "{text}");
            assert!(linear.addresses().eq(all.iter().map(|request| request.address)), "{text}");
            for (number, request) in all.iter().enumerate() {
                let ones = linear.bits.iter().enumerate().filter(|(at, _)| number >> at & 1 == 1);
                let address = ones.fold(linear.base, |address, (_, bit)| address ^ bit);
                assert_eq!((request.address, request.bytes), (address, linear.bytes), "{text}");
            }
            assert_eq!(all.iter().map(|at| at.address + at.bytes - 1).max(), Some(linear.last()));
            found += 1;
        }
        assert!(found > 300, "{found} programs are linear");
    }

    /// All masks whose sum is 0 are found: as many as the independent ones make up, each with a highest vector that no
    /// other has.
    #[test]
    fn the_kernel_is_all_of_it() {
        let mut random = Random(11);
        for _ in 0..500 {
            let vectors: Vec<u64> = (0..random.below(9)).map(|_| random.under(32)).collect();
            let sum = |mask: u64| {
                vectors
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| mask >> at & 1 == 1)
                    .fold(0, |sum, (_, v)| sum ^ v)
            };
            let all = (0..1_u64 << vectors.len()).filter(|&mask| sum(mask) == 0).count();
            let found = kernel(&vectors);
            assert!(found.iter().all(|&mask| sum(mask) == 0), "{vectors:?}: {found:?}");
            assert_eq!(all, 1 << found.len(), "{vectors:?}: {found:?}");
            for (at, mask) in found.iter().enumerate() {
                let highest = mask.ilog2();
                assert!(found[at + 1..].iter().all(|more| more >> highest & 1 == 0 && more > mask));
                assert!(found[..at].iter().all(|less| less >> highest & 1 == 0));
            }
        }
    }
}
