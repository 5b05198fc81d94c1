//! Row switches of HBM: a bank has one row open, and a request of another has to open that first (book 11, "Bank
//! Conflict").

use crate::hbm::{HBM_CHANNELS, HbmPlace, channel};
use crate::linear::{Linear, kernel};

/// The address bit that is 1 in the third slice of a bank.
const THIRD_SLICE: u64 = 1 << 34;

/// Number of times that requests, in their order, go from one row of a bank to another; all banks together.
///
/// The transfer is taken to go around: the first request of a bank follows its last. So a bank that is asked for
/// one row has no switch, and one whose every request is for another row has a switch for each. `None` where an
/// address is past the end of memory.
///
/// Bank and row of an address are linear in its bits, and so in the bits of a request's number. Requests of one bank
/// differ by sums of the kernel of the bank's map. In the order of the requests these sums are counted like a binary
/// number, so a step changes the lowest of them up to some level, and half as many steps change one more. A step is a
/// switch if the rows of the sums that it changes do not cancel out.
pub(crate) fn switches(linear: &Linear) -> Option<u64> {
    if let Some(at) = linear.bits.iter().position(|&bit| bit == THIRD_SLICE) {
        // Here the map is not linear: the meaning of bit 20 depends on the slice. The halves have no bank in common.
        let mut half = linear.clone();
        half.bits.remove(at);
        let other = Linear { base: linear.base | THIRD_SLICE, ..half.clone() };
        return Some(switches(&half)? + switches(&other)?);
    }
    let first = HbmPlace::of(linear.base)?;
    let places = linear.bits.iter().map(|bit| HbmPlace::of(linear.base ^ bit)).collect::<Option<Vec<_>>>()?;
    HbmPlace::of(linear.last())?;
    let sums = kernel(&places.iter().map(|place| bank(place) ^ bank(&first)).collect::<Vec<_>>());
    let row = |sum: u64| {
        let changed = places.iter().enumerate().filter(|(at, _)| sum >> at & 1 == 1);
        changed.fold(0, |row, (_, place)| row ^ place.row ^ first.row)
    };
    let banks = linear.count() >> sums.len();
    let (mut steps, mut changed, mut found) = (1 << sums.len(), 0, 0);
    for &sum in &sums {
        steps /= 2;
        changed ^= row(sum);
        found += if changed == 0 { 0 } else { steps };
    }
    // The way back from the last request to the first changes all of them.
    Some(banks * (found + u64::from(changed != 0)))
}

/// The bank as bits, of which each is linear in those of an address while its slice stays above or below the third.
fn bank(place: &HbmPlace) -> u64 {
    place.stack | place.channel << 1 | place.slice << 5 | place.bank_group << 7 | place.bank << 9
}

/// Number of banks of a channel that are accessed alternately while one of them goes to another row, the median; at
/// least 1. `None` where the first requests of a channel have no switch: then other banks hide all.
///
/// Requests of all channels follow each other alike, so those of the base's channel are looked at.
pub(crate) fn turns(linear: &Linear) -> Option<u64> {
    let channels: Vec<_> = linear.bits.iter().map(|&bit| channel(bit)).collect();
    let step = |sum: u64| {
        let changed = linear.bits.iter().enumerate().filter(|(at, _)| sum >> at & 1 == 1);
        changed.fold(0, |address, (_, bit)| address ^ bit)
    };
    let bits = kernel(&channels).into_iter().take(SAMPLE).map(step).collect();
    let mut rows = OpenRows::new();
    for address in (Linear { bits, ..linear.clone() }).addresses() {
        rows.ask(&HbmPlace::of(address)?);
    }
    rows.turns()
}

/// As many requests of a channel are looked at as this many bits count.
const SAMPLE: usize = 9;

/// The rows that are open, for requests that are looked at one by one.
#[derive(Clone, Debug)]
pub(crate) struct OpenRows {
    banks: Vec<Option<Bank>>,
    /// Requests of each channel.
    asked: [u64; HBM_CHANNELS as usize],
    /// For each switch the requests of its channel since the bank's last one, itself included.
    waits: Vec<u64>,
}

/// A bank that was asked for rows.
#[derive(Clone, Copy, Debug)]
struct Bank {
    first: u64,
    open: u64,
    /// The requests of its channel when it was asked last.
    at: u64,
}

impl OpenRows {
    /// All closed.
    pub(crate) fn new() -> Self {
        Self { banks: vec![None; HbmPlace::BANKS], asked: [0; HBM_CHANNELS as usize], waits: Vec::new() }
    }

    /// Asks for a place: whether its bank had another row open.
    pub(crate) fn ask(&mut self, place: &HbmPlace) -> bool {
        let asked = &mut self.asked[place.channel_of_chip() as usize];
        *asked += 1;
        let bank = &mut self.banks[place.bank_of_chip() as usize];
        let before = bank.replace(Bank {
            first: bank.map_or(place.row, |bank| bank.first),
            open: place.row,
            at: *asked,
        });
        let Some(before) = before.filter(|bank| bank.open != place.row) else { return false };
        self.waits.push(*asked - before.at);
        true
    }

    /// The banks, as [`HbmPlace::bank_of_chip`] counts them, whose last row is not the first one.
    pub(crate) fn switched_at_the_end(&self) -> impl Iterator<Item = u64> {
        let banks = self.banks.iter().zip(0..);
        banks.filter(|(bank, _)| bank.is_some_and(|bank| bank.first != bank.open)).map(|(_, number)| number)
    }

    /// As [`turns`].
    pub(crate) fn turns(&self) -> Option<u64> {
        let mut waits = self.waits.clone();
        let middle = waits.len().checked_sub(1)? / 2;
        Some(*waits.select_nth_unstable(middle).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requests::requests;
    use visa_loops::Program;
    use visa_machine::Machine;
    use visa_support::Random;

    fn program(text: &str) -> Program {
        text.parse().expect(text)
    }

    fn closed(program: &Program) -> Option<u64> {
        switches(&Linear::of(program, &Machine::rngd())?)
    }

    fn counted(program: &Program) -> u64 {
        let mut rows = OpenRows::new();
        let all = requests(program, &Machine::rngd()).expect("addresses");
        let places = all.map(|request| HbmPlace::of(request.address).expect("an address of the chip"));
        let found = places.filter(|place| rows.ask(place)).count() as u64;
        found + rows.switched_at_the_end().count() as u64
    }

    #[test]
    fn a_run_through_memory_opens_each_row_once() {
        // 16 MB: 8,192 rows, of which each of the 1,024 banks of two slices has 8.
        let all = program("[4096 : 4096, 4096 : 1] : 4096");
        assert_eq!((closed(&all), counted(&all)), (Some(8192), 8192));
        // 2 MB: a row of each bank.
        let one = program("[512 : 4096, 4096 : 1] : 4096");
        assert_eq!((closed(&one), counted(&one)), (Some(0), 0));
    }

    /// D6: each of the 65,536 requests of an engine is for another row than the one before it in its bank.
    #[test]
    fn book_10_example_4() {
        let text = format!("[256 : 1024, 4 : 256, 32 : {}, 2 : {}, 256 : 1] : 256", 1 << 21, 1 << 26);
        assert_eq!((closed(&program(&text)), counted(&program(&text))), (Some(65_536), 65_536));
    }

    #[test]
    fn two_rows_of_one_bank() {
        // Bits 9 and 21 are XORed to the channel's lowest: both together stay in the bank, and change the row.
        let there = (1_u64 << 21) + (1 << 9);
        let text = format!("[2 : {there}, 256 : 1] : 256");
        assert_eq!(counted(&program(&text)), 2);
        let again = "[4 : 0, 2 : 2097152, 2 : 512, 256 : 1] : 256";
        assert_eq!((closed(&program(again)), counted(&program(again))), (Some(16), 16));
        let apart = "[2 : 2097152, 2 : 512, 4 : 0, 256 : 1] : 256";
        assert_eq!((closed(&program(apart)), counted(&program(apart))), (Some(4), 4));
    }

    /// Where bit 34 changes, bit 20 is part of the slice in one half and of the row in the other.
    #[test]
    fn the_third_slice() {
        let text = format!("[2 : {}, 2 : {}, 2 : 8192, 256 : 1] : 256", 1_u64 << 34, 1 << 20);
        let program = program(&text);
        assert_eq!(closed(&program), Some(counted(&program)));
        assert_eq!(closed(&"[2 : 17179869184, 2 : 34359738368, 256 : 1] : 256".parse().expect("text")), None);
    }

    /// D6: requests of a channel stay in a bank. D2's writes, 64 KB apart, go through 16 banks, so that the
    /// others transfer while one opens a row. A run through memory opens the rows of a bank far apart.
    #[test]
    fn banks_in_turn() {
        let of = |text: &str| turns(&Linear::of(&program(text), &Machine::rngd()).expect(text));
        assert_eq!(
            of(&format!("[256 : 1024, 4 : 256, 32 : {}, 2 : {}, 256 : 1] : 256", 1 << 21, 1 << 26)),
            Some(1)
        );
        let through = of("[256 : 256, 256 : 65536, 256 : 1] : 256").expect("switches");
        assert!((12..=20).contains(&through), "{through}");
        assert_eq!(of("[4096 : 4096, 4096 : 1] : 4096").filter(|&turns| turns < 128), None);
        assert_eq!(of("[256 : 1] : 256"), None);
    }

    /// The first requests of a channel are like all of them, within a factor of 2.
    #[test]
    fn a_sample_is_like_the_whole() {
        let mut random = Random(0xabc);
        let mut seen = 0;
        for _ in 0..2_000 {
            let loops: Vec<_> = (0..1 + random.below(5))
                .map(|_| format!("{} : {}", 1 << random.below(5), 1_u64 << (8 + random.below(22))))
                .collect();
            let program = program(&format!("[{}, 256 : 1] : 256", loops.join(", ")));
            let Some(linear) = Linear::of(&program, &Machine::rngd()) else { continue };
            let mut rows = OpenRows::new();
            for address in linear.addresses() {
                rows.ask(&HbmPlace::of(address).expect("in memory"));
            }
            let (sample, whole) = (turns(&linear).unwrap_or(512), rows.turns().unwrap_or(512));
            assert!(
                sample.min(512) <= 2 * whole && whole.min(512) <= 2 * sample,
                "{program}: {sample}, {whole}"
            );
            seen += u64::from(sample < 512);
        }
        assert!(seen > 200, "{seen} programs switch rows");
    }

    /// The results without a look at the requests equal those with a look at each of them.
    #[test]
    fn the_closed_form_is_the_count_of_all() {
        let mut random = Random(0x5eed);
        let mut with = [0, 0];
        for _ in 0..4_000 {
            let mut loops: Vec<_> = (0..1 + random.below(4))
                .map(|_| {
                    format!(
                        "{} : {}",
                        1 << random.below(4),
                        (1_u64 << random.below(36)) * random.under(8).min(1)
                    )
                })
                .collect();
            loops.push(format!("{} : {}", 1 << random.below(3), 1 << (8 + random.below(8))));
            let packet = 1_u64 << random.below(11);
            let base = random.under(1 << 36) & !(random.bits() >> random.below(36)) & !255;
            let program = program(&format!("[{}, {packet} : 1] : {packet} @ {base}", loops.join(", ")));
            if let Some(found) = closed(&program) {
                assert_eq!(found, counted(&program), "{program}");
                with[usize::from(found > 0)] += 1;
            }
        }
        assert!(with[0] > 200 && with[1] > 200, "{with:?} programs without and with switches");
    }
}
