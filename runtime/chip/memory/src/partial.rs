//! Packets and units of HBM: units of which a program covers a part (book 11: such a unit is read before it is
//! written), and requests that go over the boundary of a unit.

use crate::hbm::HBM_UNIT;
use crate::requests::Request;
use crate::scale::{MOST, scale, too_many};
use visa_loops::{Program, SeqError, gcd};
use visa_machine::Machine;

/// Number of units of which packets of `program`, in bytes, cover a part: each packet counts those at its ends. Of
/// more than 65,536 packets, the rest is taken to be like the first ones.
///
/// # Errors
/// If packets cannot be counted.
pub fn partial_units(program: &Program) -> Result<u64, SeqError> {
    if alignment(program) == HBM_UNIT {
        return Ok(0);
    }
    over_packets(program, |start| ends_in_part(start, start + program.packet))
}

/// Number of requests of `program`, in bytes, that go over a boundary of [`HBM_UNIT`]. Of more than 65,536 packets,
/// the rest is taken to be like the first ones.
///
/// # Errors
/// If packets cannot be counted.
pub fn crossing_requests(program: &Program, machine: &Machine) -> Result<u64, SeqError> {
    let most = machine.limits.dma_request_bytes;
    if program.packet.min(most) <= alignment(program) {
        return Ok(0);
    }
    over_packets(program, |start| {
        let request = |at| Request { address: start + at, bytes: most.min(program.packet - at) };
        (0..program.packet).step_by(most as usize).map(request).filter(Request::crosses).count() as u64
    })
}

/// The largest power of two up to [`HBM_UNIT`] of which base, packet and all strides between packets are multiples.
fn alignment(program: &Program) -> u64 {
    let strides = program.entries.iter().flat_map(|entry| entry.stride.numbers());
    let between = strides.filter(|&&stride| stride != 1).map(|stride| stride.unsigned_abs());
    let all = between.chain([program.base.unsigned_abs(), program.packet]);
    all.fold(HBM_UNIT, gcd)
}

/// The sum over all packets, by their first bytes. Of more than 65,536, the rest is taken to be like the first ones.
fn over_packets(program: &Program, of: impl Fn(u64) -> u64) -> Result<u64, SeqError> {
    let packets = program.accesses().ok_or_else(|| too_many(program))?;
    let starts = program.addresses().take(MOST as usize).map(i64::cast_unsigned);
    Ok(scale(starts.map(of).sum(), packets, packets.min(MOST)))
}

/// Units at the ends of a packet of which it covers a part.
fn ends_in_part(start: u64, end: u64) -> u64 {
    let ends = u64::from(!start.is_multiple_of(HBM_UNIT)) + u64::from(!end.is_multiple_of(HBM_UNIT));
    let in_one = start / HBM_UNIT == end.saturating_sub(1) / HBM_UNIT;
    if in_one { ends.min(1) } else { ends }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> u64 {
        partial_units(&text.parse().expect(text)).expect(text)
    }

    /// Eight rows of 960 bytes one after the other: 3.75 units each, so that six of the seven boundaries between them,
    /// and none of the two ends, are within a unit.
    #[test]
    fn units_at_the_ends_of_a_packet() {
        assert_eq!(parts("[8 : 960, 960 : 1] : 960"), 12);
        // As packets of 32 bytes, 30 of which make a row: only those in the middle of a unit have a part each, all of
        // them, as no packet fills a unit.
        assert_eq!(parts("[8 : 960, 960 : 1] : 32"), 240);
        // At a distance of 1024 each ends within a unit.
        assert_eq!(parts("[8 : 1024, 960 : 1] : 960"), 8);
    }

    #[test]
    fn packets_within_a_unit_count_once() {
        assert_eq!(parts("[16 : 512, 16 : 1] : 16 @ 16"), 16);
        assert_eq!(parts("[1 : 0, 256 : 1] : 256"), 0);
        assert_eq!(parts("[1 : 0, 256 : 1] : 256 @ 8"), 2);
        assert_eq!(parts("[1 : 0, 255 : 1] : 255"), 1);
        assert_eq!(parts("[0 : 256, 8 : 1] : 8"), 0);
    }

    /// Of rows of 960 bytes every fourth starts where a unit does. Requests of 256 bytes cross where they do not start
    /// with a unit, and the last 192 bytes of a row where less than 192 of a unit are left.
    #[test]
    fn requests_over_boundaries() {
        let over = |text: &str| crossing_requests(&text.parse().expect(text), &Machine::rngd()).expect(text);
        // Starts at 0, 192, 128 and 64 of a unit: 0, 3 + 1, 3 + 1 and 3 + 0 requests, twice.
        assert_eq!(over("[8 : 960, 960 : 1] : 960"), 22);
        // Of 32 bytes, which divide a unit, none; of 120 at 0, 120, 240 and so on, those at 240, 480, 720 and 960.
        assert_eq!(over("[8 : 960, 960 : 1] : 32"), 0);
        assert_eq!(over("[10 : 120, 120 : 1] : 120"), 4);
        assert_eq!((over("[4 : 256, 256 : 1] : 256"), over("[4 : 256, 256 : 1] : 256 @ 8")), (0, 4));
        assert_eq!((over("[1 : 0, 512 : 1] : 512 @ 256"), over("[1 : 0, 512 : 1] : 512 @ 255")), (0, 2));
        assert_eq!(over("[0 : 256, 8 : 1] : 8 @ 252"), 0);
        assert_eq!(over("[131072 : 256, 16 : 1] : 16 @ 248"), 131_072);
    }

    /// More packets than are looked at: each of these 131,072 is a part.
    #[test]
    fn many_packets_are_scaled() {
        assert_eq!(parts("[131072 : 256, 8 : 1] : 8"), 131_072);
    }
}
