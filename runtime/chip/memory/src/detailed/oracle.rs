//! HBM once more, in another way: one cycle after the other, every command alone, every rule looked up in the list of
//! all commands sent. It is the reference for the event model.

use super::dram::{ChannelTotals, Direction};
use super::stream::stream;
use super::timing::Timing;
use crate::hbm::{HBM_CHANNELS, HBM_UNIT, HbmPlace};
use crate::requests::Request;
use std::collections::HashMap;
use visa_machine::Machine;
use visa_support::Random;

/// A command of 64 bytes, waiting or sent.
#[derive(Clone, Copy)]
struct Command {
    place: HbmPlace,
    direction: Direction,
    /// Waiting commands of one request are sent in order of no other rule than their age.
    request: usize,
}

#[derive(Default)]
struct Slow {
    waiting: Vec<Command>,
    sent: Vec<(u64, Command)>,
    /// The row of each bank, and from when on it takes commands.
    rows: HashMap<(u64, u64, u64), (u64, u64)>,
    opens: u64,
    switches: u64,
}

fn bank(place: &HbmPlace) -> (u64, u64, u64) {
    (place.slice, place.bank_group, place.bank)
}

impl Slow {
    fn is_open(&self, place: &HbmPlace) -> bool {
        self.rows.get(&bank(place)).is_some_and(|&(row, _)| row == place.row)
    }

    /// Banks whose row no command wants go to the row of the oldest command that wants them, if they may.
    fn turn_rows(&mut self, cycle: u64, timing: &Timing) {
        for at in 0..self.waiting.len() {
            let place = self.waiting[at].place;
            let same = |other: &&Command| bank(&other.place) == bank(&place);
            if self.waiting.iter().filter(same).any(|other| self.is_open(&other.place)) {
                continue;
            }
            let last = self.sent.iter().rev().find(|(_, command)| bank(&command.place) == bank(&place));
            let ready = match (self.rows.contains_key(&bank(&place)), last) {
                (true, Some((last, _))) if cycle < last + timing.row_idle => continue,
                (true, Some(_)) => {
                    self.switches += 1;
                    cycle + timing.row_close + timing.row_open
                }
                (true, None) => panic!("a row was opened for nothing"),
                (false, _) => {
                    self.opens += 1;
                    cycle + timing.row_open
                }
            };
            self.rows.insert(bank(&place), (place.row, ready));
        }
    }

    fn may_send(&self, cycle: u64, command: &Command, timing: &Timing) -> bool {
        let ready = self.rows.get(&bank(&command.place)).is_some_and(|&(_, ready)| ready <= cycle);
        let apart = |&(sent, ref other): &(u64, Command)| {
            let gap = if other.place.slice != command.place.slice {
                timing.ccd_other_slice
            } else if other.place.bank_group != command.place.bank_group {
                timing.ccd_other_group
            } else {
                timing.ccd_same_group
            };
            let turn = match (other.direction, command.direction) {
                (Direction::Read, Direction::Write) => timing.read_to_write,
                (Direction::Write, Direction::Read) => timing.write_to_read,
                (Direction::Read, Direction::Read) | (Direction::Write, Direction::Write) => 0,
            };
            cycle >= sent + gap.max(turn)
        };
        // A command of a hundred cycles ago binds no other.
        let recent = self.sent.iter().rev().take_while(|(sent, _)| sent + 100 > cycle);
        ready && self.is_open(&command.place) && recent.into_iter().all(apart)
    }

    fn send(&mut self, cycle: u64, timing: &Timing) {
        let first = (0..self.waiting.len()).find(|&at| self.may_send(cycle, &self.waiting[at], timing));
        if let Some(at) = first {
            self.sent.push((cycle, self.waiting.remove(at)));
        }
    }
}

/// Cycles, first rows and other rows.
fn slow(requests: &[(Request, Direction)], timing: &Timing) -> (u64, u64, u64) {
    let mut channels: Vec<_> = (0..HBM_CHANNELS).map(|_| Slow::default()).collect();
    let (mut given, mut cycle) = (0, 0);
    let commands = HBM_UNIT / timing.command_bytes;
    while given < requests.len() || channels.iter().any(|channel| !channel.waiting.is_empty()) {
        while let Some(&(request, direction)) = requests.get(given) {
            let place = HbmPlace::of(request.address).expect("an address");
            let channel = &mut channels[(place.stack * 16 + place.channel) as usize];
            if channel.waiting.len() as u64 + commands > timing.queue_commands {
                break;
            }
            let command = Command { place, direction, request: given };
            channel.waiting.extend((0..commands).map(|_| command));
            given += 1;
        }
        for channel in &mut channels {
            channel.send(cycle, timing);
            channel.turn_rows(cycle, timing);
        }
        cycle += 1;
    }
    for channel in &channels {
        // Each request was served once.
        let mut of_request = HashMap::new();
        channel.sent.iter().for_each(|(_, command)| *of_request.entry(command.request).or_insert(0) += 1);
        assert!(of_request.values().all(|&count| count == commands));
    }
    let sum = |count: fn(&Slow) -> u64| channels.iter().map(count).sum();
    let last =
        channels.iter().flat_map(|channel| channel.sent.last()).map(|(cycle, _)| cycle + timing.burst).max();
    (last.unwrap_or(0), sum(|channel| channel.opens), sum(|channel| channel.switches))
}

/// Streams of all kinds: few banks or many, one slice or three, reads or both, short queues and long ones.
fn random_stream(random: &mut Random) -> Vec<(Request, Direction)> {
    let channels = random.of(&[1, 1, 2, 8]);
    let [slices, groups, banks] = [random.of(&[1, 2, 3]), random.of(&[1, 2, 4]), random.of(&[1, 2, 4])];
    let rows = random.of(&[1, 2, 3, 16]);
    let writes = random.of(&[0, 0, 1, 4]);
    let count = 1 + random.below(160);
    let one = |random: &mut Random| {
        let place = HbmPlace {
            stack: 0,
            channel: random.under(channels),
            slice: random.under(slices),
            bank_group: random.under(groups),
            bank: random.under(banks),
            row: random.under(rows),
            byte: random.under(8) << 8,
        };
        let direction = if random.under(8) < writes { Direction::Write } else { Direction::Read };
        (Request { address: place.address(), bytes: 256 }, direction)
    };
    (0..count).map(|_| one(random)).collect()
}

#[test]
fn events_and_single_cycles_agree() {
    let mut random = Random(0x00c0_ffee_0123_4567);
    let book = Timing::of(&Machine::rngd());
    for case in 0..400 {
        let mut timing = Timing { queue_commands: random.of(&[4, 8, 20, 64, 64]), ..book };
        if random.under(2) == 1 {
            timing = Timing {
                read_to_write: random.under(20),
                write_to_read: random.under(30),
                row_idle: random.under(12),
                row_close: random.under(30),
                row_open: 1 + random.under(30),
                ..timing
            };
        }
        let requests = random_stream(&mut random);
        let found = stream(requests.iter().copied(), &timing).expect("addresses");
        let sum = |count: fn(&ChannelTotals) -> u64| found.channels.iter().map(count).sum::<u64>();
        let opens = sum(|totals| totals.row_opens);
        let switches = sum(|totals| totals.row_switches);
        assert_eq!((found.hbm_cycles, opens, switches), slow(&requests, &timing), "case {case}: {timing:?}");
        assert_eq!(sum(|totals| totals.row_hits) + opens + switches, requests.len() as u64);
    }
}
