//! Which channels of HBM a transfer asks.

use crate::hbm::{HBM_CHANNELS, channel};
use crate::requests::{request_count, requests};
use visa_loops::{Entry, Program, SeqError, Stride};
use visa_machine::Machine;

/// Most requests that are looked at one by one.
const MOST: usize = 1 << 16;

/// How the requests of a program are spread over the channels of a chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channels {
    /// Requests to each, [`channel`] by channel.
    pub requests: [u64; HBM_CHANNELS as usize],
    /// Whether all requests are counted: otherwise the first 65,536 are.
    pub complete: bool,
}

impl Channels {
    /// How many have a request.
    #[must_use]
    pub fn used(&self) -> usize {
        self.requests.iter().filter(|&&count| count > 0).count()
    }

    /// The requests of the channel that has most.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.requests.iter().copied().fold(0, u64::max)
    }
}

/// Counts the requests of a program in bytes, channel by channel.
///
/// A channel is linear in the bits of an address. Where loops have powers of two, and no two of them change the same
/// bit, their requests are spread evenly over the channels that those bits reach: no request is looked at.
///
/// # Errors
/// If an address does not fit in 64 bits, or is before 0.
pub fn channels(program: &Program, machine: &Machine) -> Result<Channels, SeqError> {
    let all = requests(program, machine)?;
    if let (Some(bits), Some(count)) = (bits(program, machine), request_count(program, machine)) {
        return Ok(spread(program.base.cast_unsigned(), &bits, count));
    }
    let mut found = Channels { requests: [0; HBM_CHANNELS as usize], complete: true };
    for (at, request) in all.enumerate() {
        if at == MOST {
            found.complete = false;
            break;
        }
        found.requests[channel(request.address) as usize] += 1;
    }
    Ok(found)
}

/// The address bits that change from request to request, each of them alone and in all combinations. `None` if they
/// do not change so.
fn bits(program: &Program, machine: &Machine) -> Option<Vec<u64>> {
    let mut loops = packets(program)?;
    let most = machine.limits.dma_request_bytes;
    loops.push((program.packet.div_ceil(most), most));
    let mut bits = Vec::new();
    let mut taken = program.base.cast_unsigned();
    for (limit, stride) in loops {
        // A loop that stays where it is repeats all requests.
        if limit == 1 || stride == 0 {
            continue;
        }
        if !limit.is_power_of_two() || !stride.is_power_of_two() {
            return None;
        }
        for bit in (0..limit.trailing_zeros()).map(|at| stride << at) {
            if taken & bit != 0 {
                return None;
            }
            taken |= bit;
            bits.push(bit);
        }
    }
    Some(bits)
}

/// The loops over packets, as limits and strides: those of the program without what a packet covers.
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

/// `count` requests from `base` on, whose addresses differ in `bits`.
fn spread(base: u64, bits: &[u64], count: u64) -> Channels {
    let mut reached = vec![channel(base)];
    for step in bits.iter().map(|&bit| channel(bit)) {
        if !reached.contains(&(reached[0] ^ step)) {
            let more: Vec<_> = reached.iter().map(|at| at ^ step).collect();
            reached.extend(more);
        }
    }
    let mut found = Channels { requests: [0; HBM_CHANNELS as usize], complete: true };
    for &at in &reached {
        found.requests[at as usize] = count / reached.len() as u64;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use visa_support::Random;

    fn program(text: &str) -> Program {
        text.parse().expect(text)
    }

    fn of(text: &str) -> Channels {
        channels(&program(text), &Machine::rngd()).expect(text)
    }

    /// The same request by request.
    fn enumerated(program: &Program) -> Vec<u64> {
        let mut counts = vec![0; HBM_CHANNELS as usize];
        for request in requests(program, &Machine::rngd()).expect("addresses") {
            counts[channel(request.address) as usize] += 1;
        }
        counts
    }

    /// D3: each of the 64 reads of 16 KB finds another channel than those near it.
    #[test]
    fn a_contiguous_run_asks_all_channels_alike() {
        let found = of("[8 : 2048, 8 : 256, 256 : 1] : 256");
        assert_eq!((found.used(), found.most(), found.complete), (32, 2, true));
        assert_eq!(of("[16384 : 1] : 4096"), found);
    }

    /// D6: 65,536 requests an engine, 8 engines, 16,384 a channel.
    #[test]
    fn book_10_example_4() {
        let mut total = [0; HBM_CHANNELS as usize];
        for engine in 0..8 {
            let base = engine * 256 * 1024;
            let text =
                format!("[256 : 1024, 4 : 256, 32 : {}, 2 : {}, 256 : 1] : 256 @ {base}", 1 << 21, 1 << 26);
            let program = program(&text);
            assert_eq!(request_count(&program, &Machine::rngd()), Some(65_536));
            let found = channels(&program, &Machine::rngd()).expect("addresses");
            total.iter_mut().zip(found.requests).for_each(|(total, more)| *total += more);
        }
        assert_eq!(total, [16_384; 32]);
    }

    /// D7: bit 8 never changes, so half of the channels have 256 requests each, and the others none.
    #[test]
    fn book_10_example_5() {
        let mut total = [0; HBM_CHANNELS as usize];
        for engine in 0..8 {
            let base = engine << 18;
            let text = format!("[8 : 512, 32 : 4096, 2 : 131072, 256 : 1] : 256 @ {base}");
            let found = of(&text);
            total.iter_mut().zip(found.requests).for_each(|(total, more)| *total += more);
        }
        assert_eq!(total[..16], [256; 16]);
        assert_eq!(total[16..], [0; 16]);
    }

    /// What is said without a look at the requests is what a look at each of them says.
    #[test]
    fn the_closed_form_is_the_count_of_all() {
        let mut random = Random(0x0123_4567_89ab_cdef);
        let mut closed = 0;
        for _ in 0..2_000 {
            let loops: Vec<_> = (0..1 + random.below(4))
                .map(|_| format!("{} : {}", 1 << random.below(5), 1_u64 << random.below(30)))
                .collect();
            let run = 1_u64 << random.below(13);
            let packet = run >> random.below(13).min(run.trailing_zeros() as usize);
            let base = random.under(1 << 32) & !(packet - 1) & 0_u64.wrapping_sub(random.under(2));
            let program = program(&format!("[{}, {run} : 1] : {packet} @ {base}", loops.join(", ")));
            closed += u64::from(bits(&program, &Machine::rngd()).is_some());
            let found = channels(&program, &Machine::rngd()).expect("addresses");
            assert!(!found.complete || found.requests.to_vec() == enumerated(&program), "{program}");
            assert!(found.complete || bits(&program, &Machine::rngd()).is_none(), "{program}");
        }
        assert!(closed > 200, "{closed} programs have a closed form");
    }

    /// A side of 16 MB is never a list: what has no closed form is looked at in part, and says so.
    #[test]
    fn what_has_no_closed_form_is_counted_to_a_limit() {
        let just = of("[65536 : 768, 256 : 1] : 256");
        let over = of("[65537 : 768, 256 : 1] : 256");
        assert!(just.complete && !over.complete);
        assert_eq!(just.requests, over.requests);
        assert_eq!(over.requests.iter().sum::<u64>(), 65_536);
    }
}
