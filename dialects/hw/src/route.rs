//! The packets that the switch engine's configuration delivers (book 13): the packets that each slice outputs, and
//! their order. The registers of every topology reduce to the same few numbers. [`crate::router`] is the hardware that
//! this stands for.

use crate::snoop::Snoop;

/// A configuration of the ring network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Slices of a ring, neighbours.
    pub ring: usize,
    /// The senders of the packets that each slice outputs.
    pub snoop: Snoop,
    /// Consecutive members of a ring whose packets travel one by one, alternately.
    pub group: usize,
    /// Packets that each member of a group sends before it is the next group's turn.
    pub burst: usize,
    /// Where a slice outputs a part of the time only.
    pub pick: Option<Pick>,
}

/// Time is `[outer, parts, packets]`; slice `n` outputs the packets of part `n / width % parts`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    /// Parts.
    pub parts: usize,
    /// Consecutive packets of a part.
    pub packets: usize,
    /// Neighbouring slices that take the same part.
    pub width: usize,
}

/// A packet of the ring: its source, and which of its source's packets it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The slice that sends it.
    pub source: usize,
    /// Its number among that slice's packets, from 0.
    pub time: usize,
}

impl Route {
    /// Every slice outputs its own packets.
    #[must_use]
    pub fn forwarding() -> Self {
        Self::plain(1, Snoop { rows: vec![vec![0]] })
    }

    /// Packet by packet, the members of a ring in order.
    #[must_use]
    pub fn plain(ring: usize, snoop: Snoop) -> Self {
        Self { ring, snoop, group: ring, burst: 1, pick: None }
    }

    /// Packets that a slice outputs, of `packets` that each slice sends; `None` past `u64`.
    #[must_use]
    pub fn delivered(&self, packets: u64) -> Option<u64> {
        self.taken(packets).checked_mul(self.sources())
    }

    /// The same for a cost, which is `u64::MAX` on overflow.
    #[must_use]
    pub fn priced(&self, packets: u64) -> u64 {
        self.taken(packets).saturating_mul(self.sources())
    }

    /// Packets that a slice takes of each source.
    fn taken(&self, packets: u64) -> u64 {
        packets / self.pick.map_or(1, |pick| pick.parts as u64)
    }

    /// Slices that a slice takes packets of.
    fn sources(&self) -> u64 {
        self.snoop.rows.first().map_or(0, Vec::len) as u64
    }

    /// Returns true if a slice outputs a packet of its ring.
    #[must_use]
    pub fn outputs(&self, slice: usize, packet: Packet) -> bool {
        let rows = self.snoop.rows.len();
        let snooped = packet.source.checked_sub(slice / rows * rows);
        snooped.is_some_and(|source| self.snoop.rows[slice % rows].binary_search(&source).is_ok())
            && self.takes(slice, packet.time)
    }

    fn takes(&self, slice: usize, time: usize) -> bool {
        self.pick.is_none_or(|Pick { parts, packets, width }| time / packets % parts == slice / width % parts)
    }

    /// Names the packets that `slice` outputs, in order, of `packets` that each slice sends: `[time / burst,
    /// group, time % burst, member]`, without those that it does not snoop.
    pub fn deliver(&self, slice: usize, packets: usize, mut output: impl FnMut(Packet)) {
        let rows = self.snoop.rows.len();
        let first = slice / rows * rows;
        let row = &self.snoop.rows[slice % rows];
        let groups: Vec<&[usize]> = row.chunk_by(|a, b| a / self.group == b / self.group).collect();
        for turn in 0..packets / self.burst {
            let times = turn * self.burst..(turn + 1) * self.burst;
            for group in &groups {
                for time in times.clone().filter(|&time| self.takes(slice, time)) {
                    group.iter().for_each(|source| output(Packet { source: first + source, time }));
                }
            }
        }
    }
}
