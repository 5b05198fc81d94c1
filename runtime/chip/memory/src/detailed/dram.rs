//! One channel of HBM: its command queue, its banks, and the bus on which commands follow one another (book 11).
//!
//! All times here are HBM cycles. The controller serves by FR-FCFS: of the commands whose row is open, the one that
//! the bus can take first, and of several the oldest. A bank closes its row when it may and no waiting command wants
//! it, and opens that of its oldest command. So a command that finds its row open goes before older ones that do not,
//! and banks change rows while others transfer.

use super::timing::Timing;
use crate::hbm::{HBM_UNIT, HbmPlace};

/// Slices, bank groups and banks of a channel (book 11).
const SLICES: usize = 3;
const GROUPS: usize = SLICES * 4;
const BANKS: usize = GROUPS * 4;

/// Direction of a memory access: read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Read.
    Read,
    /// Written.
    Write,
}

impl Direction {
    const fn other(self) -> Self {
        match self {
            Self::Read => Self::Write,
            Self::Write => Self::Read,
        }
    }
}

/// Requests to a channel, and its work for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelTotals {
    /// Requests to read, each of one unit of 256 bytes or a part of it.
    pub reads: u64,
    /// Requests to write.
    pub writes: u64,
    /// Requests that found their row open.
    pub row_hits: u64,
    /// Requests for which another row was closed (conflicts).
    pub row_switches: u64,
    /// Requests that opened the first row of their bank.
    pub row_opens: u64,
    /// Writes of a part of a unit, which read it first.
    pub read_modify_writes: u64,
    /// Bytes that were asked for.
    pub bytes_asked: u64,
    /// Bytes that went over the bus: whole units, and both ways for a read-modify-write.
    pub bytes_moved: u64,
}

impl ChannelTotals {
    /// Requests of both kinds.
    #[must_use]
    pub const fn requests(&self) -> u64 {
        self.reads + self.writes
    }
}

/// A request for bytes of one unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) place: HbmPlace,
    pub(super) bytes: u64,
    pub(super) direction: Direction,
}

/// A request in the queue.
#[derive(Clone, Copy, Debug)]
struct Waiting<T> {
    bank: u8,
    /// True if its row is open, or is being opened.
    is_open: bool,
    row: u16,
    direction: Direction,
    modify: bool,
    /// Commands not yet sent.
    left: u16,
    /// Owner that waits for it.
    owner: T,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bank {
    row: Option<u16>,
    /// When the open row takes its first command.
    usable: u64,
    /// When the open row may be closed.
    closable: u64,
    /// Waiting requests for the open row.
    wanted: u16,
    /// All waiting requests.
    waiting: u16,
}

/// The bus: when it took its last commands.
#[derive(Clone, Debug)]
struct Bus {
    /// The last command.
    last: u64,
    /// Its slice; [`SLICES`] before the first command.
    slice: usize,
    /// First cycle for the next command of each bank group, by that group's own last one.
    groups: [u64; GROUPS],
    /// First cycle for the next command in each direction.
    turned: [u64; 2],
}

/// A channel, for requests of owners `T`.
#[derive(Clone, Debug)]
pub(super) struct Channel<T> {
    timing: Timing,
    banks: [Bank; BANKS],
    bus: Bus,
    /// Oldest first.
    queue: Vec<Waiting<T>>,
    /// Commands of the queue.
    queued: u64,
    /// Banks whose open row no request wants, while one wants another row: the cycle in which they close it, the
    /// latest first.
    turns: Vec<(u64, usize)>,
    /// All before this cycle is settled.
    now: u64,
    /// The next command: which request's, and when.
    next: Option<(usize, u64)>,
    totals: ChannelTotals,
}

/// The channel of a chip, the stack the highest bit.
pub(super) const fn channel_of(place: &HbmPlace) -> usize {
    (place.stack * 16 + place.channel) as usize
}

/// The bank of a channel.
const fn bank_of(place: &HbmPlace) -> usize {
    ((place.slice * 4 + place.bank_group) * 4 + place.bank) as usize
}

impl Bus {
    const fn new() -> Self {
        Self { last: 0, slice: SLICES, groups: [0; GROUPS], turned: [0; 2] }
    }

    /// No command can come earlier.
    const fn soonest(&self, timing: &Timing) -> u64 {
        if self.slice == SLICES { 0 } else { self.last + timing.ccd_other_group }
    }

    /// The first cycle for a command in a bank. Of the gaps to earlier commands only those to the last one, to the
    /// last one in the bank group and to the last one in the other direction can bind.
    fn free(&self, timing: &Timing, bank: usize, direction: Direction) -> u64 {
        let gap = if self.slice == SLICES {
            0
        } else if self.slice == bank / 16 {
            timing.ccd_other_group
        } else {
            timing.ccd_other_slice
        };
        (self.last + gap).max(self.groups[bank / 4]).max(self.turned[direction as usize])
    }

    /// Takes a command that is done with the bus, but for the gaps, in cycle `time`.
    fn take(&mut self, timing: &Timing, bank: usize, direction: Direction, time: u64) {
        self.last = time;
        self.slice = bank / 16;
        self.groups[bank / 4] = time + timing.ccd_same_group;
        let turn = match direction {
            Direction::Read => timing.read_to_write,
            Direction::Write => timing.write_to_read,
        };
        self.turned[direction.other() as usize] = time + turn;
    }
}

impl<T: Copy> Channel<T> {
    pub(super) fn new(timing: &Timing) -> Self {
        Self {
            timing: *timing,
            banks: [Bank::default(); BANKS],
            bus: Bus::new(),
            queue: Vec::with_capacity(timing.queue_commands as usize),
            queued: 0,
            turns: Vec::new(),
            now: 0,
            next: None,
            totals: ChannelTotals::default(),
        }
    }

    pub(super) const fn totals(&self) -> &ChannelTotals {
        &self.totals
    }

    /// The next cycle in which it does something; `None` where nothing waits.
    pub(super) fn next(&self) -> Option<u64> {
        let command = self.next.map(|(_, time)| time);
        match (command, self.turns.last()) {
            (Some(command), Some(&(turn, _))) => Some(command.min(turn)),
            (command, turn) => command.or(turn.map(|&(turn, _)| turn)),
        }
    }

    /// Commands of a unit.
    const fn commands(&self) -> u64 {
        HBM_UNIT / self.timing.command_bytes
    }

    /// Returns true if the queue has room for a request, as it has when it is empty.
    pub(super) fn has_room(&self) -> bool {
        self.queue.is_empty() || self.queued + self.commands() <= self.timing.queue_commands
    }

    /// Takes a request in cycle `now`, which is not before the one before, and up to which [`Channel::advance`] came.
    pub(super) fn push(&mut self, piece: &Piece, now: u64, owner: T) {
        debug_assert!(self.has_room() && now >= self.now);
        self.now = now;
        let bank = bank_of(&piece.place);
        let modify = piece.direction == Direction::Write && piece.bytes < HBM_UNIT;
        self.count(piece, modify);
        let commands = self.commands();
        let state = &mut self.banks[bank];
        let row = piece.place.row as u16;
        let waiting = Waiting {
            bank: bank as u8,
            is_open: state.row == Some(row),
            row,
            direction: piece.direction,
            modify,
            left: commands as u16,
            owner,
        };
        self.queue.push(waiting);
        self.queued += commands;
        state.waiting += 1;
        if waiting.is_open {
            if state.wanted == 0 {
                self.turns.retain(|&(_, other)| other != bank);
            }
            state.wanted += 1;
            self.totals.row_hits += 1;
            self.offer(self.queue.len() - 1);
        } else if state.waiting == 1 {
            self.leave_row(bank);
        }
    }

    /// Notes a request as the one that sends the next command, if it is.
    fn offer(&mut self, at: usize) {
        let time = self.first_time(&self.queue[at]);
        if self.next.is_none_or(|(next, earliest)| (time, at) < (earliest, next)) {
            self.next = Some((at, time));
        }
    }

    fn count(&mut self, piece: &Piece, modify: bool) {
        match piece.direction {
            Direction::Read => self.totals.reads += 1,
            Direction::Write => self.totals.writes += 1,
        }
        self.totals.read_modify_writes += u64::from(modify);
        self.totals.bytes_asked += piece.bytes;
        self.totals.bytes_moved += HBM_UNIT << u32::from(modify);
    }

    /// Lets a bank without an open row, or whose open row no request wants, go to the row that a request wants.
    fn leave_row(&mut self, bank: usize) {
        let state = &self.banks[bank];
        if state.row.is_none() {
            self.totals.row_opens += 1;
            self.open(bank, self.now + self.timing.row_open);
            return;
        }
        let time = state.closable.max(self.now);
        let later = self.turns.partition_point(|&(other, _)| other > time);
        self.turns.insert(later, (time, bank));
    }

    /// Closes the open row of a bank in cycle `time`, and opens the one that is wanted.
    fn turn(&mut self, bank: usize, time: u64) {
        self.now = time;
        self.totals.row_switches += 1;
        self.open(bank, time + self.timing.row_close + self.timing.row_open);
    }

    /// Opens the row of the oldest request for a bank, which is usable in a cycle.
    fn open(&mut self, bank: usize, usable: u64) {
        let mut row = None;
        for at in 0..self.queue.len() {
            let waiting = &mut self.queue[at];
            if usize::from(waiting.bank) != bank || row.is_some_and(|row| row != waiting.row) {
                continue;
            }
            waiting.is_open = true;
            let state = &mut self.banks[bank];
            if row.is_none() {
                row = Some(waiting.row);
                *state = Bank { row, usable, ..*state };
            } else {
                self.totals.row_hits += 1;
            }
            state.wanted += 1;
            self.offer(at);
        }
    }

    /// The first cycle in which a request whose row is open can send a command.
    fn first_time(&self, waiting: &Waiting<T>) -> u64 {
        let bank = usize::from(waiting.bank);
        self.bus.free(&self.timing, bank, waiting.direction).max(self.banks[bank].usable).max(self.now)
    }

    /// The command that comes first, by FR-FCFS.
    fn choose(&self) -> Option<(usize, u64)> {
        // Nothing is earlier, so the first that reaches it is the oldest.
        let soonest = self.now.max(self.bus.soonest(&self.timing));
        let mut best: Option<(usize, u64)> = None;
        for (at, waiting) in self.queue.iter().enumerate() {
            if !waiting.is_open {
                continue;
            }
            let time = self.first_time(waiting);
            if best.is_none_or(|(_, best)| time < best) {
                best = Some((at, time));
                if time <= soonest {
                    break;
                }
            }
        }
        best
    }

    /// Does all of cycles before `until`; `done` is told who has all data, and when.
    pub(super) fn advance(&mut self, until: u64, mut done: impl FnMut(T, u64)) {
        loop {
            let turn = self.turns.last().copied().filter(|&(time, _)| time < until);
            let command = self.next.filter(|&(_, time)| time < until);
            match (command, turn) {
                (Some((at, time)), turn) if turn.is_none_or(|(turn, _)| time <= turn) => {
                    if let Some((owner, end)) = self.send(at, time) {
                        done(owner, end);
                    }
                    self.next = self.choose();
                }
                (_, Some((time, bank))) => {
                    self.turns.pop();
                    self.turn(bank, time);
                }
                (_, None) => return,
            }
        }
    }

    /// Sends a command; returns the owner whose data are complete with it, and the cycle.
    fn send(&mut self, at: usize, time: u64) -> Option<(T, u64)> {
        self.now = time;
        let waiting = &mut self.queue[at];
        let bank = usize::from(waiting.bank);
        // A read-modify-write sends all of its commands while it has the channel.
        let (sent, last) = match waiting.modify {
            true => (waiting.left, time + self.timing.read_modify_write - self.timing.ccd_other_group),
            false => (1, time),
        };
        waiting.left -= sent;
        self.queued -= u64::from(sent);
        self.bus.take(&self.timing, bank, waiting.direction, last);
        self.banks[bank].closable = last + self.timing.row_idle;
        if waiting.left > 0 {
            return None;
        }
        let owner = self.queue.remove(at).owner;
        let state = &mut self.banks[bank];
        state.wanted -= 1;
        state.waiting -= 1;
        if state.wanted == 0 && state.waiting > 0 {
            self.leave_row(bank);
        }
        Some((owner, last + self.timing.burst))
    }
}
