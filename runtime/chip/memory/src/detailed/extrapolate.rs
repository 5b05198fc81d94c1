//! Transfers of more requests than are simulated: the time of the whole follows from that of parts.

use super::error::DetailedError;
use super::run::{Detailed, simulate};
use super::timing::Timing;
use crate::descriptor::{Descriptor, Transfer};
use crate::requests::request_count;
use visa_loops::{PairedEntry, PairedProgram, Stride};
use visa_machine::Machine;

/// Requests of a transfer, of both sides, that are simulated at most. Engines that begin in step get out of it over
/// hundreds of thousands of requests, and only then the rate is that of the rest.
pub const MAX_REQUESTS: u64 = 1 << 22;

/// A transfer of which a part was simulated.
#[derive(Clone, Debug)]
pub struct Extrapolated {
    /// Results of the part.
    pub part: Detailed,
    /// Cycles of the whole.
    pub cycles: u64,
    /// Requests of the part.
    pub simulated: u64,
    /// Requests of the whole.
    pub requests: u64,
    /// Bound of the error of the time, as a share of it: the deviation of the part's time from the extrapolation of
    /// its half and its quarter, once for each time that the part doubles to the whole.
    pub error: f64,
}

/// The time of a transfer from that of its first requests: after its start, it goes on as from its half to its
/// simulated part. `None` if it has no more requests than `most`, and can be simulated completely.
///
/// # Errors
/// As of [`simulate`].
pub fn extrapolate(
    transfer: &Transfer,
    machine: &Machine,
    timing: &Timing,
    most: u64,
) -> Result<Option<Extrapolated>, DetailedError> {
    let all = requests_of(transfer, machine);
    if all <= most {
        return Ok(None);
    }
    let part = |share: u64| {
        let part = first_part(transfer, u128::from(most / share), all);
        let found = simulate(&part, machine, timing, &[])?;
        Ok::<_, DetailedError>((requests_of(&part, machine), found))
    };
    let ((first, whole), (second, half), (third, quarter)) = (part(1)?, part(2)?, part(4)?);
    let at = |requests: u64, (fewer, few): (u64, u64), (more, many): (u64, u64)| {
        let rate = (many as f64 - few as f64) / more.saturating_sub(fewer).max(1) as f64;
        many as f64 + rate * requests.saturating_sub(more) as f64
    };
    let (one, two, four) = ((first, whole.cycles), (second, half.cycles), (third, quarter.cycles));
    let expected = at(first, four, two);
    let cycles = at(all, two, one).max(whole.cycles as f64);
    let once = (expected - whole.cycles as f64).abs() / (whole.cycles as f64).max(1.0);
    let doublings = (all as f64 / first.max(1) as f64).log2();
    let error = 1.0 - (1.0 - once.min(1.0)).powf(doublings);
    Ok(Some(Extrapolated {
        cycles: cycles.round() as u64,
        part: whole,
        simulated: first,
        requests: all,
        error,
    }))
}

/// The requests of a transfer, of both sides.
#[must_use]
pub fn requests_of(transfer: &Transfer, machine: &Machine) -> u64 {
    let descriptors = transfer.engines.iter().flat_map(|(_, descriptors)| descriptors);
    let sides = descriptors.flat_map(|descriptor| [descriptor.loops.read(), descriptor.loops.write()]);
    let counts = sides.map(|side| request_count(&side, machine).unwrap_or(u64::MAX));
    counts.fold(0, u64::saturating_add)
}

/// The first `share` of `all` of the requests of each engine, in its order.
fn first_part(transfer: &Transfer, share: u128, all: u64) -> Transfer {
    let engines = transfer.engines.iter().map(|(engine, descriptors)| {
        let accesses = |descriptor: &Descriptor| descriptor.loops.accesses().unwrap_or(u64::MAX);
        let own = descriptors.iter().map(|own| u128::from(accesses(own))).sum::<u128>();
        let mut left = u64::try_from(own * share / u128::from(all.max(1))).unwrap_or(u64::MAX).max(1);
        let mut part = Vec::new();
        for descriptor in descriptors {
            if left == 0 {
                break;
            }
            let loops = first_accesses(&descriptor.loops, left);
            left = left.saturating_sub(accesses(descriptor).min(left));
            part.push(Descriptor { loops, ..descriptor.clone() });
        }
        (*engine, part)
    });
    Transfer { engines: engines.collect() }
}

/// The first accesses of a program, `count` of them or fewer: whole iterations of one of its loops.
fn first_accesses(loops: &PairedProgram, count: u64) -> PairedProgram {
    let mut part = loops.clone();
    let steps = u128::from(count) * u128::from(loops.packet);
    for depth in 0..part.entries.len() {
        let inner = part.entries[depth + 1..].iter().map(|entry| u128::from(entry.limit)).product::<u128>();
        let kept = u64::try_from(steps / inner.max(1)).unwrap_or(u64::MAX);
        let limit = part.entries[depth].limit;
        part.entries[depth] = first_iterations(&part.entries[depth], kept.clamp(1, limit));
        if kept > 0 && kept < limit {
            break;
        }
    }
    part
}

fn first_iterations(entry: &PairedEntry, count: u64) -> PairedEntry {
    let first = |stride: &Stride| match stride {
        Stride::Fixed(_) => stride.clone(),
        Stride::Table(table) => Stride::Table(table.iter().take(count as usize).copied().collect()),
    };
    PairedEntry { limit: count, read: first(&entry.read), write: first(&entry.write) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptor::{Engine, Memory};
    use visa_machine::Medium;

    fn copy(loops: &str, engines: u64) -> Transfer {
        let memory = |medium| Memory { medium, chip: 0 };
        let (from, to) = (memory(Medium::Hbm), memory(Medium::Hbm));
        let engine = |number: u64| {
            let mut loops: PairedProgram = loops.parse().expect(loops);
            loops.read_base += number.cast_signed() << 26;
            loops.write_base += number.cast_signed() << 26;
            (Engine::numbered(number, &Machine::rngd()), vec![Descriptor { from, to, loops }])
        };
        Transfer { engines: (0..engines).map(engine).collect() }
    }

    #[test]
    fn first_accesses_are_whole() {
        let first = |loops: &str, count: u64| {
            let loops: PairedProgram = loops.parse().expect(loops);
            let part = first_accesses(&loops, count);
            let accesses = part.accesses().expect("whole accesses");
            let all: Vec<i64> = loops.read().addresses().collect();
            assert_eq!(part.read().addresses().collect::<Vec<_>>(), all[..accesses as usize], "{part}");
            (accesses, part.to_string())
        };
        assert_eq!(first("[4096 : 1 -> 1] : 256", 3), (3, "[768 : 1 -> 1] : 256".to_owned()));
        assert_eq!(first("[8 : 512 -> 1024, 256 : 1 -> 1] : 256", 5).0, 5);
        assert_eq!(first("[8 : 4096 -> 8192, 4 : 512 -> 1024, 256 : 1 -> 1] : 256", 9).0, 8);
        assert_eq!(first("[8 : 4096 -> 8192, 4 : 512 -> 1024, 256 : 1 -> 1] : 256", 3).0, 3);
        assert_eq!(first("[8 : 4096 -> 8192, 4 : 512 -> 1024, 256 : 1 -> 1] : 256", 32).0, 32);
        assert_eq!(first("[3 : (0, 512, 256) -> 256, 256 : 1 -> 1] : 256", 2).0, 2);
    }

    /// The whole is simulated for comparison.
    #[test]
    fn an_extrapolated_time_is_near_the_simulated_one() {
        let machine = Machine::rngd();
        let timing = Timing::of(&machine);
        for (loops, engines) in [
            ("[16384 : 131072 -> 256, 256 : 1 -> 1] : 256 @ 0 -> 8589934592", 2),
            ("[16384 : 4096 -> 256, 256 : 1 -> 1] : 256 @ 0 -> 8589934592", 2),
            ("[2048 : 65536 -> 8192, 4096 : 1 -> 1] : 256 @ 0 -> 8589934592", 1),
        ] {
            let transfer = copy(loops, engines);
            let whole = simulate(&transfer, &machine, &timing, &[]).expect(loops).cycles;
            let found = extrapolate(&transfer, &machine, &timing, 1 << 14).expect(loops).expect("too many");
            assert_eq!(found.requests, requests_of(&transfer, &machine));
            assert!(found.simulated <= 1 << 14 && found.simulated > 1 << 13, "{}", found.simulated);
            let off = (found.cycles as f64 - whole as f64).abs() / whole as f64;
            assert!(
                off <= 0.02 + found.error,
                "{loops}: {} for {whole}, error {}",
                found.cycles,
                found.error
            );
            assert!(off < 0.1, "{loops}: {} for {whole}, error {}", found.cycles, found.error);
        }
    }

    #[test]
    fn what_can_be_simulated_is_not_extrapolated() {
        let (machine, transfer) = (Machine::rngd(), copy("[4096 : 1 -> 1] : 256", 1));
        let timing = Timing::of(&machine);
        assert_eq!(requests_of(&transfer, &machine), 32);
        assert!(extrapolate(&transfer, &machine, &timing, 32).expect("a time").is_none());
        assert!(extrapolate(&transfer, &machine, &timing, 31).expect("a time").is_some());
    }
}
