//! Units of HBM of which a program covers a part (book 11: such a unit is read before it is written).

use crate::hbm::HBM_UNIT;
use crate::scale::{MOST, scale, too_many};
use visa_loops::{Program, SeqError};

/// Number of units of which packets of `program`, in bytes, cover a part: each packet counts those at its ends. Of
/// more than 65,536 packets, the rest is taken to be like the first ones.
///
/// # Errors
/// If packets cannot be counted.
pub fn partial_units(program: &Program) -> Result<u64, SeqError> {
    let whole = |number: i64| number.cast_unsigned().is_multiple_of(HBM_UNIT);
    let packets = program.accesses().ok_or_else(|| too_many(program))?;
    let strides = program.entries.iter().flat_map(|entry| entry.stride.numbers());
    let outer = strides.filter(|&&stride| stride != 1);
    if whole(program.packet.cast_signed()) && whole(program.base) && outer.copied().all(whole) {
        return Ok(0);
    }
    let starts = program.addresses().take(MOST as usize).map(i64::cast_unsigned);
    let parts: u64 = starts.map(|start| ends_in_part(start, start + program.packet)).sum();
    Ok(scale(parts, packets, packets.min(MOST)))
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

    /// More packets than are looked at: each of these 131,072 is a part.
    #[test]
    fn many_packets_are_scaled() {
        assert_eq!(parts("[131072 : 256, 8 : 1] : 8"), 131_072);
    }
}
