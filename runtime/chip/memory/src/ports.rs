//! Load of a side of a transfer on memories whose parts have a port each, such as scratchpad memory (book 11,
//! "Scratchpad Memory").

use crate::requests::{request_count, requests};
use crate::scale::{MOST, scale, too_many};
use visa_loops::{Program, SeqError};
use visa_machine::{Machine, Medium, Ports};

/// Load of a side of a transfer on the parts of a memory in a chip, each of which has a separate bandwidth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortLoads {
    /// Cycles that each part is busy, counted through the chip's clusters.
    pub busy: Vec<u64>,
    /// Requests that are not looked at but taken to be like those before them.
    pub estimated: u64,
}

impl PortLoads {
    /// The loads by the requests of a program in bytes, whose addresses are `part * (bytes of a part) + byte`. A
    /// memory without such ports is never busy.
    ///
    /// # Errors
    /// If an address does not fit in 64 bits, or is before 0.
    pub fn of(program: &Program, medium: Medium, machine: &Machine) -> Result<Self, SeqError> {
        let Ports::Each(rate) = medium.decl().ports else {
            return Ok(Self { busy: Vec::new(), estimated: 0 });
        };
        let mut bytes = vec![0; medium.decl().part.per_chip(machine) as usize];
        let size = medium.bytes(machine);
        let followed = requests(program, machine)?.take(MOST as usize);
        followed.for_each(|request| add(&mut bytes, request.address, request.bytes, size));
        let all = request_count(program, machine).ok_or_else(|| too_many(program))?;
        let estimated = all.saturating_sub(MOST);
        if estimated > 0 {
            bytes.iter_mut().for_each(|bytes| *bytes = scale(*bytes, all, MOST));
        }
        let rate = rate(machine);
        Ok(Self { busy: bytes.into_iter().map(|bytes| bytes.div_ceil(rate)).collect(), estimated })
    }

    /// Cycles of the busiest part.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.busy.iter().copied().fold(0, u64::max)
    }
}

/// Adds the bytes of a request to the parts that they are in, of `size` bytes each. Bytes past the end are in the
/// last.
fn add(parts: &mut [u64], address: u64, bytes: u64, size: u64) {
    let last = parts.len() - 1;
    let (mut at, end) = (address, address.saturating_add(bytes));
    while at < end {
        let part = at / size;
        let next = (part + 1).saturating_mul(size).min(end);
        parts[(part as usize).min(last)] += next - at;
        at = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(program: &str) -> Vec<u64> {
        PortLoads::of(&program.parse().unwrap(), Medium::Spm, &Machine::rngd()).unwrap().busy
    }

    #[test]
    fn each_moves_its_own_bytes() {
        assert_eq!(busy("[8 : 4096, 4096 : 1] : 4096"), [32; 8]);
        assert_eq!(busy("[2 : 16384, 256 : 1] : 256"), [2, 0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(busy("[3 : (0, 8192, 4096), 64 : 1] : 64 @ 4096"), [0, 1, 1, 1, 0, 0, 0, 0]);
        // The same bytes again, for copies.
        assert_eq!(busy("[256 : 0, 128 : 1] : 128 @ 28672"), [0, 0, 0, 0, 0, 0, 0, 256]);
    }

    #[test]
    fn a_request_may_go_over_the_border_of_two() {
        assert_eq!(busy("[256 : 1] : 256 @ 4032"), [1, 2, 0, 0, 0, 0, 0, 0]);
        assert_eq!(busy("[8192 : 1] : 4096 @ 2048"), [16, 32, 16, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn what_is_not_looked_at_is_like_the_rest() {
        // 2^17 requests of 128 bytes alternately from two PEs; half of them are looked at.
        let program = "[65536 : 0, 2 : 4096, 128 : 1] : 128".parse().unwrap();
        let found = PortLoads::of(&program, Medium::Spm, &Machine::rngd()).unwrap();
        assert_eq!((found.most(), found.estimated), (65_536, 65_536));
        assert_eq!(found.busy[..3], [65_536, 65_536, 0]);
    }

    #[test]
    fn addresses_before_0_are_errors() {
        assert!(
            PortLoads::of(&"[2 : -8, 8 : 1] : 8".parse().unwrap(), Medium::Spm, &Machine::rngd()).is_err()
        );
    }
}
