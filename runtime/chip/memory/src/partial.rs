//! Requests and units of HBM: rounds of writes that cover a unit in part (book 11: such a unit is read before it is
//! written), and reads that go over the boundary of a unit.

use crate::descriptor::{Descriptor, Transfer};
use crate::hbm::HBM_UNIT;
use crate::requests::Request;
use crate::scale::{MOST, scale, too_many};
use std::collections::BTreeMap;
use visa_loops::{Program, SeqError, gcd};
use visa_machine::{Machine, Medium};

/// Writes of a slice that an engine has in flight while units are read that they cover in part. In the vendor's
/// schedules, 32 pieces of 64 bytes of each slice (`gemm`) take as long as 8 slices with one piece (`add`).
const IN_FLIGHT: u64 = 4;

/// Rounds of writes that cover a unit of HBM in part, of the cluster with the most. A round is up to `IN_FLIGHT`
/// such requests of a slice, and the engines of the slice's cluster share the rounds of all slices. A source that is
/// no data memory has the rounds of its engine. Of more than 65,536 packets, the rest is taken to be like the first
/// ones.
///
/// # Errors
/// If packets cannot be counted.
pub fn partial_rounds(transfer: &Transfer, machine: &Machine) -> Result<u64, SeqError> {
    let mut owners: BTreeMap<(u64, u64, Option<u64>), BTreeMap<u64, u64>> = BTreeMap::new();
    for (engine, told) in &transfer.engines {
        for one in told.iter().filter(|one| one.to.medium == Medium::Hbm) {
            for (slice, requests) in partial_requests(one, machine)? {
                let cluster = slice / machine.topology.slices_per_cluster;
                let owner = match one.from.medium == Medium::Dm {
                    true => (one.from.chip, cluster, None),
                    false => (engine.chip, engine.cluster, Some(engine.pe)),
                };
                let sum = owners.entry(owner).or_default().entry(slice).or_default();
                *sum = sum.saturating_add(requests);
            }
        }
    }
    let rounds = owners.into_iter().map(|((.., pe), slices)| {
        let engines = if pe.is_some() { 1 } else { machine.topology.pes_per_cluster };
        let all = slices.into_values().map(|requests| requests.div_ceil(IN_FLIGHT));
        all.fold(0, u64::saturating_add).div_ceil(engines)
    });
    Ok(rounds.fold(0, u64::max))
}

/// Requests that cover a unit in part, by the slice that is read; 0 stands for a source that is no data memory.
fn partial_requests(one: &Descriptor, machine: &Machine) -> Result<BTreeMap<u64, u64>, SeqError> {
    let (read, write) = (one.read(), one.write());
    let mut slices = BTreeMap::new();
    if alignment(&write) == HBM_UNIT {
        return Ok(slices);
    }
    let packets = write.accesses().ok_or_else(|| too_many(&write))?;
    let bytes = machine.memory.dm_bytes_per_slice.max(1);
    let both = read.addresses().zip(write.addresses()).take(MOST as usize);
    for (from, to) in both {
        let slice = if one.from.medium == Medium::Dm { from.cast_unsigned() / bytes } else { 0 };
        let partial = in_packet(&write, to.cast_unsigned(), machine).filter(Request::is_partial).count();
        *slices.entry(slice).or_default() += partial as u64;
    }
    slices.values_mut().for_each(|requests| *requests = scale(*requests, packets, packets.min(MOST)));
    Ok(slices)
}

/// The requests of a packet that begins at `start`.
fn in_packet(program: &Program, start: u64, machine: &Machine) -> impl Iterator<Item = Request> + use<> {
    let (packet, most) = (program.packet, machine.limits.dma_request_bytes);
    (0..packet)
        .step_by(most as usize)
        .map(move |at| Request { address: start + at, bytes: most.min(packet - at) })
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
    let packets = program.accesses().ok_or_else(|| too_many(program))?;
    let starts = program.addresses().take(MOST as usize).map(i64::cast_unsigned);
    let over = starts.map(|start| in_packet(program, start, machine).filter(Request::crosses).count() as u64);
    Ok(scale(over.sum(), packets, packets.min(MOST)))
}

/// The largest power of two up to [`HBM_UNIT`] of which base, packet and all strides between packets are multiples.
fn alignment(program: &Program) -> u64 {
    let strides = program.entries.iter().flat_map(|entry| entry.stride.numbers());
    let between = strides.filter(|&&stride| stride != 1).map(|stride| stride.unsigned_abs());
    let all = between.chain([program.base.unsigned_abs(), program.packet]);
    all.fold(HBM_UNIT, gcd)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rounds of a transfer with a descriptor for each engine. Slices are 524,288 bytes apart.
    fn rounds_of(between: [Medium; 2], texts: &[&str]) -> u64 {
        let engines = texts.iter().map(|text| vec![text.parse().expect(text)]);
        let transfer = Transfer::of_chip((0..).zip(engines).collect(), between, &Machine::rngd());
        partial_rounds(&transfer, &Machine::rngd()).expect("rounds")
    }

    fn rounds(texts: &[&str]) -> u64 {
        rounds_of([Medium::Dm, Medium::Hbm], texts)
    }

    /// Eight rows of 960 bytes one after the other: each is four requests, of which one or all are partial. So each
    /// slice has a round, and four engines share the eight, however they are split.
    #[test]
    fn rounds_of_slices_are_shared_by_the_engines_of_a_cluster() {
        assert_eq!(rounds(&["[8 : 524288 -> 960, 960 : 1 -> 1] : 960"]), 2);
        let halves = [
            "[4 : 524288 -> 960, 960 : 1 -> 1] : 960",
            "[4 : 524288 -> 960, 960 : 1 -> 1] : 960 @ 2097152 -> 3840",
        ];
        assert_eq!(rounds(&halves), 2);
        assert_eq!(rounds(&["[256 : 524288 -> 16, 16 : 1 -> 1] : 16"]), 64);
        // Each cluster has engines: 256 slices of either take as long as those of one.
        assert_eq!(rounds(&["[512 : 524288 -> 16, 16 : 1 -> 1] : 16"]), 64);
        assert_eq!(rounds(&["[4 : 524288 -> 16, 16 : 1 -> 1] : 16"]), 1);
        assert_eq!(rounds(&["[5 : 524288 -> 16, 16 : 1 -> 1] : 16"]), 2);
    }

    #[test]
    fn four_requests_of_a_slice_are_a_round() {
        assert_eq!(rounds(&["[256 : 524288 -> 32768, 32 : 64 -> 1024, 64 : 1 -> 1] : 64"]), 512);
        assert_eq!(rounds(&["[4 : 524288 -> 4096, 4 : 64 -> 1024, 64 : 1 -> 1] : 64"]), 1);
        assert_eq!(rounds(&["[4 : 524288 -> 8192, 5 : 64 -> 1024, 64 : 1 -> 1] : 64"]), 2);
        // Of 4 slices each has 5 requests of 256 bytes, all of them 8 bytes after a boundary.
        assert_eq!(rounds(&["[4 : 524288 -> 1280, 1280 : 1 -> 1] : 1280 @ 0 -> 8"]), 2);
    }

    #[test]
    fn whole_units_and_other_memories_have_no_rounds_of_slices() {
        assert_eq!(rounds(&["[8 : 524288 -> 1024, 1024 : 1 -> 1] : 1024"]), 0);
        assert_eq!(rounds(&["[1 : 0 -> 0, 256 : 1 -> 1] : 256 @ 0 -> 8"]), 1);
        assert_eq!(rounds(&["[1 : 0 -> 0, 255 : 1 -> 1] : 255"]), 1);
        assert_eq!(rounds(&["[0 : 524288 -> 16, 16 : 1 -> 1] : 16"]), 0);
        let pieces = "[8 : 64 -> 64, 64 : 1 -> 1] : 64";
        assert_eq!(rounds_of([Medium::Hbm, Medium::Dm], &[pieces]), 0);
        // From HBM, the rounds are those of the engine: 8 requests are two, and an engine with as many adds none.
        assert_eq!(rounds_of([Medium::Hbm, Medium::Hbm], &[pieces]), 2);
        assert_eq!(rounds_of([Medium::Hbm, Medium::Hbm], &[pieces, pieces]), 2);
    }

    /// More packets than are looked at: 131,072 requests are 32,768 rounds, which four engines share.
    #[test]
    fn many_packets_are_scaled() {
        assert_eq!(rounds(&["[131072 : 8 -> 256, 8 : 1 -> 1] : 8"]), 8192);
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
}
