//! What a side of a transfer asks of the scratchpad memories (book 11, "Scratchpad Memory").

use crate::requests::{request_count, requests};
use crate::scale::{MOST, scale, too_many};
use visa_loops::{Program, SeqError};
use visa_machine::Machine;

/// What a side of a transfer asks of the scratchpad memories of a chip, each of which has a bandwidth of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scratchpads {
    /// Cycles that each is busy, counted through the PEs of the chip's clusters.
    pub busy: Vec<u64>,
    /// Requests that are not looked at but taken to be like those before them.
    pub estimated: u64,
}

impl Scratchpads {
    /// What the requests of a program in bytes ask; an address is `PE * (bytes of a PE's memory) + byte`.
    ///
    /// # Errors
    /// If an address does not fit in 64 bits, or is before 0.
    pub fn of(program: &Program, machine: &Machine) -> Result<Self, SeqError> {
        let mut bytes = vec![0; machine.pes_per_chip() as usize];
        let followed = requests(program, machine)?.take(MOST as usize);
        followed.for_each(|request| add(&mut bytes, request.address, request.bytes, machine));
        let all = request_count(program, machine).ok_or_else(|| too_many(program))?;
        let estimated = all.saturating_sub(MOST);
        if estimated > 0 {
            bytes.iter_mut().for_each(|bytes| *bytes = scale(*bytes, all, MOST));
        }
        let rate = machine.timing.spm_bytes_per_cycle;
        Ok(Self { busy: bytes.into_iter().map(|bytes| bytes.div_ceil(rate)).collect(), estimated })
    }

    /// Cycles of the busiest one.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.busy.iter().copied().fold(0, u64::max)
    }
}

/// Adds the bytes of a request to the memories that they are in. What is past the end is in the last.
fn add(memories: &mut [u64], address: u64, bytes: u64, machine: &Machine) {
    let (size, last) = (machine.memory.spm_bytes_per_pe, memories.len() - 1);
    let (mut at, end) = (address, address.saturating_add(bytes));
    while at < end {
        let pe = at / size;
        let next = (pe + 1).saturating_mul(size).min(end);
        memories[(pe as usize).min(last)] += next - at;
        at = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(program: &str) -> Vec<u64> {
        Scratchpads::of(&program.parse().unwrap(), &Machine::rngd()).unwrap().busy
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
        // 2^17 requests of 128 bytes in turn from two PEs; half of them are looked at.
        let program = "[65536 : 0, 2 : 4096, 128 : 1] : 128".parse().unwrap();
        let found = Scratchpads::of(&program, &Machine::rngd()).unwrap();
        assert_eq!((found.most(), found.estimated), (65_536, 65_536));
        assert_eq!(found.busy[..3], [65_536, 65_536, 0]);
    }

    #[test]
    fn addresses_before_0_are_errors() {
        assert!(Scratchpads::of(&"[2 : -8, 8 : 1] : 8".parse().unwrap(), &Machine::rngd()).is_err());
    }
}
