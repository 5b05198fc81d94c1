//! Reads of the same bytes of HBM for many slices, on a machine that was measured.
//!
//! Where the requests of a transfer read different bytes, engines drift apart until each channel has work. Engines
//! that read the same bytes wait for the same channels, and stay together. So the requests that are in flight at the
//! same time take as long as their busiest channel. On silicon 7,680 bytes for each of 512 slices take six times as
//! long as the same number of different bytes (`loads.csv` of test/peers/silicon).

use crate::book::channel_cycles;
use crate::channels::ChannelLoad;
use crate::descriptor::{Descriptor, Transfer};
use crate::detailed::Timing;
use crate::hbm::{HBM_CHANNELS, HBM_UNIT, channel};
use crate::requests::{request_count, requests};
use crate::scale::{MOST, scale};
use std::collections::HashSet;
use visa_loops::{Program, SeqError, Stride};
use visa_machine::{Machine, Medium};

/// Cycles in which HBM gives the bytes that several slices read; 0 if no bytes are read twice.
///
/// # Errors
/// If an address does not fit in 64 bits, or is before 0.
pub fn repeated_reads(transfer: &Transfer, machine: &Machine) -> Result<u64, SeqError> {
    let from_hbm = |one: &&Descriptor| one.from.medium == Medium::Hbm;
    let engines = transfer.engines.iter().map(|(_, told)| told.iter().filter(from_hbm));
    let reads: Vec<Vec<Program>> = engines.map(|told| told.map(Descriptor::read).collect()).collect();
    if !repeat(&reads) {
        return Ok(0);
    }
    let count = |told: &Vec<Program>| {
        told.iter().filter_map(|read| request_count(read, machine)).fold(0, u64::saturating_add)
    };
    let most = reads.iter().map(count).fold(0, u64::max);
    let mut streams = Vec::new();
    for told in &reads {
        let own = told.iter().map(|read| requests(read, machine)).collect::<Result<Vec<_>, _>>()?;
        streams.push(own.into_iter().flatten().take(MOST as usize));
    }
    let in_flight = Timing::of(machine).in_flight;
    let (mut cycles, mut seen) = (0_u64, 0_u64);
    loop {
        let mut loads = [0_u64; HBM_CHANNELS as usize];
        for request in streams.iter_mut().flat_map(|stream| stream.take(in_flight)) {
            let (first, last) =
                (request.address / HBM_UNIT, (request.address + request.bytes - 1) / HBM_UNIT);
            (first..=last).for_each(|unit| loads[channel(unit * HBM_UNIT) as usize] += 1);
        }
        let transfers = loads.into_iter().fold(0, u64::max);
        if transfers == 0 {
            return Ok(scale(cycles, most, seen.min(most).max(1)));
        }
        cycles += channel_cycles(&ChannelLoad { transfers, ..ChannelLoad::default() }, machine).0;
        seen += in_flight as u64;
    }
}

/// Returns true if a program reads the same bytes again, or two engines do.
fn repeat(reads: &[Vec<Program>]) -> bool {
    let mut all = HashSet::new();
    reads.iter().flatten().any(|read| {
        let again = read.entries.iter().any(|entry| entry.limit > 1 && entry.stride == Stride::Fixed(0));
        again || !all.insert(read)
    })
}
