//! The figures of the model.

use crate::hbm::HBM_UNIT;
use visa_machine::{Assumption, Machine};

/// Counts and times of the model that the description of the machine does not have, or has in another form. Bytes a
/// cycle of data memory, scratchpads and PCIe, and the start-up of a command, are the machine's.
///
/// An HBM cycle is one of [`Timing::hbm_mhz`]; an engine cycle is one of `timing.clock_ghz` of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Clock that the HBM figures below count by, MHz (book 11: 1.5 GHz).
    pub hbm_mhz: u64,
    /// Engine cycles that they are compared with, MHz (book 10: 1 GHz).
    pub engine_mhz: u64,
    /// Bytes of an HBM command (book 11: 64 bytes a cycle of 0.75 GHz).
    pub command_bytes: u64,
    /// HBM cycles that the data of a command is on the bus (book 11: 64 bytes in a cycle of 0.75 GHz).
    pub burst: u64,
    /// Commands that the queue of a channel holds (book 11: 64 entries). An entry is taken to be a request of a unit,
    /// which is four commands: so the loads of test/peers/silicon/loads.csv are met. With one command they are not.
    pub queue_commands: u64,
    /// HBM cycles from a command to the next in another bank group of its slice (book 11, tCCD).
    pub ccd_other_group: u64,
    /// HBM cycles from a command to the next in another slice (book 11, tCCD).
    pub ccd_other_slice: u64,
    /// HBM cycles from a command to the next in the same bank group (book 11, tCCD).
    pub ccd_same_group: u64,
    /// HBM cycles from the last command of a row until the row may be closed. Book 11 has the sum of this and the two
    /// below, 60 to 75, of which this is the middle; how it divides is assumed. The book model has another figure,
    /// `timing.hbm_row_switch_cycles` of the machine: that of book 10's example.
    pub row_idle: u64,
    /// HBM cycles of closing a row; see [`Timing::row_idle`].
    pub row_close: u64,
    /// HBM cycles of opening a row, which is all that the first row of a bank takes; see [`Timing::row_idle`].
    pub row_open: u64,
    /// HBM cycles from a read to the next write of a channel, where they are more than the figures for two reads.
    /// Assumed to be none: book 11 has no figure, and its 1.5 TB/s are reads and writes together.
    pub read_to_write: u64,
    /// The same from a write to the next read.
    pub write_to_read: u64,
    /// HBM cycles that a read-modify-write has its channel for itself, its row being open: those of a whole write
    /// times `timing.hbm_partial_write_times` of the machine (book 11).
    pub read_modify_write: u64,
    /// Requests that the command queue of a slice of data memory holds: `limits.dm_queue_requests` of the machine.
    pub slice_queue: usize,
    /// Factor of the time of a write to data memory that begins or ends within the width of a bank (book 10: a
    /// read-modify-write triples the time).
    pub bank_modify: u64,
    /// Requests that an engine has read or is reading and has not yet written. Assumed: twice as many as the command
    /// queues of its data memory hold, 2 for each of 64 slices, which the measured loads need.
    pub in_flight: usize,
}

/// The assumed figures; a report whose figures rest on one lists it.
pub const ASSUMED: &[Assumption] = &[
    Assumption {
        field: "detailed.row_idle, row_close, row_open",
        why: "book 11 gives 60 to 75 cycles for a row switch; 68 are taken, of which 30 open a row",
    },
    Assumption {
        field: "detailed.read_to_write, write_to_read",
        why: "book 11 has no figure for a channel that goes from reads to writes or back; none is taken",
    },
    Assumption {
        field: "detailed.read_modify_write",
        why: "book 11 has only how much longer a partial write takes; its channel is taken to do nothing else",
    },
    Assumption {
        field: "detailed.in_flight",
        why: "no book bounds the requests of an engine; twice those that the queues of its data memory hold are \
              taken, as measured loads need",
    },
];

impl Timing {
    /// The figures of the books, for a machine.
    #[must_use]
    pub fn of(machine: &Machine) -> Self {
        let slice_queue = machine.limits.dm_queue_requests as usize;
        let slices = machine.topology.dmns_per_pe * machine.slices_per_dmn();
        let (command_bytes, ccd_other_group) = (64, 2);
        let unit = HBM_UNIT / command_bytes * ccd_other_group;
        Self {
            hbm_mhz: 1500,
            engine_mhz: (machine.timing.clock_ghz * 1000.0).round() as u64,
            command_bytes,
            burst: 2,
            queue_commands: 64 * (HBM_UNIT / command_bytes),
            ccd_other_group,
            ccd_other_slice: 3,
            ccd_same_group: 4,
            row_idle: 8,
            row_close: 30,
            row_open: 30,
            read_to_write: 0,
            write_to_read: 0,
            read_modify_write: machine.timing.hbm_partial_write_times * unit,
            slice_queue,
            bank_modify: 3,
            in_flight: 2 * slices as usize * slice_queue,
        }
    }

    /// HBM cycles from the last command of a row to the first of another row of its bank.
    #[must_use]
    pub const fn row_switch(&self) -> u64 {
        self.row_idle + self.row_close + self.row_open
    }

    /// The first HBM cycle that is not before an engine cycle.
    #[must_use]
    pub const fn hbm_cycle(&self, engine: u64) -> u64 {
        (engine * self.hbm_mhz).div_ceil(self.engine_mhz)
    }

    /// The first engine cycle that is not before an HBM cycle.
    #[must_use]
    pub const fn engine_cycle(&self, hbm: u64) -> u64 {
        (hbm * self.engine_mhz).div_ceil(self.hbm_mhz)
    }

    /// The first engine cycle after an HBM cycle.
    #[must_use]
    pub const fn engine_cycle_after(&self, hbm: u64) -> u64 {
        hbm * self.engine_mhz / self.hbm_mhz + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Book 11: 40 to 50 ns, 60 to 75 cycles at 1.5 GHz; 64 bytes a cycle at 0.75 GHz.
    #[test]
    fn the_figures_of_book_11() {
        let timing = Timing::of(&Machine::rngd());
        assert!((60..=75).contains(&timing.row_switch()));
        assert_eq!(timing.command_bytes * timing.hbm_mhz / timing.burst, 48_000);
        assert_eq!((timing.in_flight, timing.queue_commands), (256, 256));
        // A whole unit is four commands, each two cycles after the one before: 8, of which 50 are 400.
        assert_eq!(timing.read_modify_write, 50 * 4 * timing.ccd_other_group);
    }

    #[test]
    fn cycles_of_one_clock_in_cycles_of_the_other() {
        let timing = Timing::of(&Machine::rngd());
        assert_eq!([0, 1, 2, 3].map(|cycle| timing.hbm_cycle(cycle)), [0, 2, 3, 5]);
        assert_eq!([0, 1, 2, 3, 4].map(|cycle| timing.engine_cycle(cycle)), [0, 1, 2, 2, 3]);
        // An engine cycle sees the effects of HBM before it.
        for hbm in 0..100 {
            let seen = timing.engine_cycle_after(hbm);
            assert!(timing.hbm_cycle(seen) > hbm && timing.hbm_cycle(seen - 1) <= hbm);
        }
    }
}
