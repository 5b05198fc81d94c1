//! HBM of a chip alone: a stream of requests, without the engines that make them.

use super::dram::{Channel, ChannelTotals, Direction, Piece, channel_of};
use super::error::DetailedError;
use super::pieces::split;
use super::timing::Timing;
use crate::descriptor::Memory;
use crate::hbm::{HBM_BYTES, HBM_CHANNELS, HBM_UNIT, HbmPlace};
use crate::requests::Request;
use visa_machine::Medium;

/// Time of a stream of requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Streamed {
    /// HBM cycles until the last byte is there ([`Timing::hbm_mhz`]).
    pub hbm_cycles: u64,
    /// Totals of each channel, the stack the highest bit of its number.
    pub channels: [ChannelTotals; HBM_CHANNELS as usize],
}

/// Gives requests to HBM in their order, each as soon as the queue of its channel has room: nothing else bounds them.
///
/// # Errors
/// If HBM ends before a request does.
pub fn stream(
    requests: impl IntoIterator<Item = (Request, Direction)>,
    timing: &Timing,
) -> Result<Streamed, DetailedError> {
    let mut channels: Vec<_> = (0..HBM_CHANNELS).map(|_| Channel::new(timing)).collect();
    let (mut now, mut end) = (0, 0);
    for (request, direction) in requests {
        let mut rest = request;
        while rest.bytes > 0 {
            let (first, after) = split(rest, HBM_UNIT);
            rest = after;
            let place = HbmPlace::of(first.address).ok_or_else(|| outside(&request))?;
            let channel = &mut channels[channel_of(&place)];
            now = channel.wait(now, |time| end = time.max(end));
            channel.push(&Piece { place, bytes: first.bytes, direction }, now, ());
        }
    }
    for channel in &mut channels {
        channel.advance(u64::MAX, |(), time| end = time.max(end));
    }
    let channels = std::array::from_fn(|at| *channels[at].totals());
    Ok(Streamed { hbm_cycles: end, channels })
}

impl Channel<()> {
    /// Goes on until cycle `now`, and further until the queue has room; returns the cycle reached.
    fn wait(&mut self, mut now: u64, mut done: impl FnMut(u64)) -> u64 {
        self.advance(now, |(), time| done(time));
        while !self.has_room() {
            let Some(next) = self.next() else { break };
            now = now.max(next + 1);
            self.advance(now, |(), time| done(time));
        }
        now
    }
}

fn outside(request: &Request) -> DetailedError {
    let memory = Memory { medium: Medium::Hbm, chip: 0 };
    DetailedError::Outside { memory, end: request.address.saturating_add(request.bytes), bytes: HBM_BYTES }
}

#[cfg(test)]
mod tests {
    use super::*;
    use visa_machine::Machine;

    fn book() -> Timing {
        Timing::of(&Machine::rngd())
    }

    /// A unit of channel 0: bank group (slice, group), bank, row, unit of the row.
    fn unit(slice: u64, bank_group: u64, row: u64, unit: u64) -> Request {
        let place = HbmPlace { stack: 0, channel: 0, slice, bank_group, bank: 0, row, byte: unit << 8 };
        Request { address: place.address(), bytes: HBM_UNIT }
    }

    fn run(requests: &[Request], direction: Direction, timing: &Timing) -> Streamed {
        stream(requests.iter().map(|&request| (request, direction)), timing).expect("addresses of HBM")
    }

    fn reads(requests: &[Request], timing: &Timing) -> Streamed {
        run(requests, Direction::Read, timing)
    }

    /// Requests that found a row open, that opened the first row of a bank, that changed it.
    fn rows(found: &Streamed) -> (u64, u64, u64) {
        let sum = |of: fn(&ChannelTotals) -> u64| found.channels.iter().map(of).sum();
        (sum(|totals| totals.row_hits), sum(|totals| totals.row_opens), sum(|totals| totals.row_switches))
    }

    /// H2, book 11: 1.5 TB/s. 64 MB in sequence, in HBM cycles: 8 a request and channel.
    #[test]
    fn a_sequence_streams_at_the_peak() {
        let count = 1 << 18;
        let sequence = (0..count).map(|at| (Request { address: at * 256, bytes: 256 }, Direction::Read));
        let found = stream(sequence, &book()).expect("addresses");
        let least = count / 32 * 8;
        assert!((least..least + least / 100).contains(&found.hbm_cycles), "{}", found.hbm_cycles);
        let bytes: u64 = found.channels.iter().map(|totals| totals.bytes_moved).sum();
        let terabytes = bytes as f64 / (found.hbm_cycles as f64 / 1.5e9) / 1e12;
        assert!((1.5..=1.536).contains(&terabytes), "{terabytes} TB/s");
        // 64 MB are 32768 rows of 2 KB, all but the first of each of 4 groups of 4 banks of 2 slices a switch.
        assert_eq!(rows(&found), (count - 32_768, 1024, 32_768 - 1024));
    }

    /// Book 11, tCCD 2, 3, 4: 16 requests of four commands. The first is sent when its row is open, in cycle 30.
    #[test]
    fn commands_are_2_or_3_or_4_cycles_apart() {
        let of = |next: fn(u64) -> Request| {
            let found = reads(&(0..16).map(next).collect::<Vec<_>>(), &book());
            found.hbm_cycles
        };
        assert_eq!(of(|at| unit(0, at % 2, 0, at / 2)), 30 + 63 * 2 + 2);
        assert_eq!(of(|at| unit(at % 2, 0, 0, at / 2)), 30 + 63 * 3 + 2);
        assert_eq!(of(|at| unit(0, 0, 0, at % 8)), 30 + 63 * 4 + 2);
    }

    /// A row of a bank after the other: four commands four cycles apart, and 68 cycles to the next row. That is 80
    /// cycles a request, ten times the 8 of a stream (book 10, example 4: approximately 10 times).
    #[test]
    fn a_bank_changes_its_row() {
        let requests: Vec<_> = (0..10).map(|row| unit(0, 0, row, 0)).collect();
        let found = reads(&requests, &book());
        assert_eq!((found.hbm_cycles, rows(&found)), (30 + 9 * 80 + 12 + 2, (0, 1, 9)));
        // 10 banks do so at the same time.
        let banks: Vec<_> = (0..10).map(|at| unit(at % 2, at / 2 % 4, at / 8, 0)).collect();
        assert!(reads(&banks, &book()).hbm_cycles < 30 + 80 + 80 + 12 + 2);
    }

    /// Two rows of one bank that alternate. A queue of one request changes the row each time; the book's takes five
    /// requests of a row, and then five of the other.
    #[test]
    fn two_rows_in_turn() {
        let requests: Vec<_> = (0..10).map(|at| unit(0, 0, at % 2, at / 2)).collect();
        let short = reads(&requests, &Timing { queue_commands: 4, ..book() });
        // A request comes in the cycle after the last command of the one before, when the row may not be closed yet.
        assert_eq!((short.hbm_cycles, rows(&short)), (30 + 9 * 80 + 12 + 2, (0, 1, 9)));
        let found = reads(&requests, &book());
        assert_eq!((found.hbm_cycles, rows(&found)), (30 + 19 * 4 + 68 + 19 * 4 + 2, (8, 1, 1)));
    }

    /// FR-FCFS: the third request goes before the second, whose row is not open.
    #[test]
    fn an_open_row_goes_first() {
        let requests = [unit(0, 0, 0, 0), unit(0, 0, 1, 0), unit(0, 0, 0, 1)];
        let found = reads(&requests, &book());
        assert_eq!((found.hbm_cycles, rows(&found)), (30 + 7 * 4 + 68 + 3 * 4 + 2, (1, 1, 1)));
        let short = reads(&requests, &Timing { queue_commands: 4, ..book() });
        assert_eq!(rows(&short), (0, 1, 2));
    }

    /// A request for the open row behind 63 for another one is the 65th, and comes when the first leaves: in time.
    /// Behind 64 it comes too late. With a queue of four commands more it comes in time.
    #[test]
    fn the_queue_sees_64_requests() {
        let behind = |others: u64, timing: &Timing| {
            let others = (0..others).map(|at| unit(0, 0, 1, at % 8));
            let requests: Vec<_> =
                [unit(0, 0, 0, 0)].into_iter().chain(others).chain([unit(0, 0, 0, 1)]).collect();
            rows(&reads(&requests, timing)).2
        };
        assert_eq!((behind(63, &book()), behind(64, &book())), (1, 2));
        assert_eq!(behind(64, &Timing { queue_commands: 260, ..book() }), 1);
    }

    /// H3: a read that goes over 256 bytes is two requests.
    #[test]
    fn a_read_over_a_boundary_is_two() {
        let found = reads(&[Request { address: 128, bytes: 256 }], &book());
        let asked: u64 = found.channels.iter().map(|totals| totals.bytes_asked).sum();
        let moved: u64 = found.channels.iter().map(|totals| totals.bytes_moved).sum();
        assert_eq!((rows(&found), asked, moved), ((0, 2, 0), 256, 512));
        // The two are in different stacks.
        assert_eq!((found.channels[0].reads, found.channels[16].reads), (1, 1));
        // In sequence they take twice as long as aligned ones.
        let run = |first: u64| {
            let requests: Vec<_> =
                (0..4096).map(|at| Request { address: first + at * 256, bytes: 256 }).collect();
            reads(&requests, &book()).hbm_cycles
        };
        let (aligned, crossing) = (run(0), run(8));
        assert!((2 * aligned - 64..=2 * aligned + 64).contains(&crossing), "{aligned}, {crossing}");
    }

    /// H3: about 50 times. 16 writes that alternate between two bank groups, 8 cycles each if they are whole.
    #[test]
    fn a_partial_write_reads_first() {
        let whole: Vec<_> = (0..16).map(|at| unit(0, at % 2, 0, at / 2)).collect();
        let partial: Vec<_> = whole.iter().map(|request| Request { bytes: 255, ..*request }).collect();
        let found = run(&whole, Direction::Write, &book());
        assert_eq!((found.hbm_cycles, found.channels[0].read_modify_writes), (30 + 16 * 8, 0));
        let found = run(&partial, Direction::Write, &book());
        let totals = &found.channels[0];
        assert_eq!((found.hbm_cycles, totals.read_modify_writes), (30 + 16 * 400, 16));
        assert_eq!((totals.bytes_asked, totals.bytes_moved), (16 * 255, 16 * 512));
        // A partial read moves a whole unit, once.
        let found = reads(&partial, &book());
        assert_eq!((found.hbm_cycles, found.channels[0].bytes_moved), (30 + 16 * 8, 16 * 256));
    }

    /// H1: HBM ends after 48 GiB.
    #[test]
    fn memory_ends() {
        let one = |address| stream([(Request { address, bytes: 256 }, Direction::Write)], &book());
        assert!(one(HBM_BYTES - 256).is_ok());
        for address in [HBM_BYTES, HBM_BYTES - 128, u64::MAX - 512] {
            let error = one(address).expect_err("outside").to_string();
            assert!(error.contains(&format!("ends at byte {} of HBM", address + 256)), "{error}");
        }
    }

    #[test]
    fn nothing_takes_no_time() {
        assert_eq!(reads(&[], &book()).hbm_cycles, 0);
    }
}
