//! Load of a side of a transfer on the channels of HBM.

use crate::hbm::{HBM_CHANNELS, HBM_UNIT, HbmPlace, channel, channel_bits};
use crate::linear::Linear;
use crate::requests::{Request, request_count, requests};
use crate::rows::{OpenRows, switches, turns};
use crate::scale::{MOST, scale, too_many};
use visa_loops::{Program, SeqError, code};
use visa_machine::Machine;

/// Direction of an access to memory: read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// It is read.
    Read,
    /// It is written.
    Write,
}

/// Load of a channel of HBM (book 11).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelLoad {
    /// Units of [`HBM_UNIT`] bytes that it transfers: a read that goes over a boundary takes two.
    pub transfers: u64,
    /// Number of times that its banks go from one row to another, in the order of the requests.
    pub switches: u64,
    /// Those of them that other banks do not hide: of n banks that are accessed alternately, n open rows at the same
    /// time.
    pub exposed: u64,
    /// Units of which a part is written, so that they are read first.
    pub partial: u64,
}

impl ChannelLoad {
    fn plus(self, more: Self) -> Self {
        Self {
            transfers: self.transfers.saturating_add(more.transfers),
            switches: self.switches.saturating_add(more.switches),
            exposed: self.exposed.saturating_add(more.exposed),
            partial: self.partial.saturating_add(more.partial),
        }
    }

    /// The same for `all` requests in place of the `seen`.
    fn scaled(self, all: u64, seen: u64) -> Self {
        let of = |count| scale(count, all, seen);
        Self {
            transfers: of(self.transfers),
            switches: of(self.switches),
            exposed: of(self.exposed),
            partial: of(self.partial),
        }
    }
}

/// Load of one side of a transfer, or of several, on the channels of a chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channels {
    /// Of each, [`channel`] by channel.
    pub loads: [ChannelLoad; HBM_CHANNELS as usize],
    /// Requests.
    pub requests: u64,
    /// Requests that are not counted but taken to be like the first 65,536 of their side.
    pub estimated: u64,
}

impl Channels {
    /// No request.
    #[must_use]
    pub fn none() -> Self {
        Self { loads: [ChannelLoad::default(); HBM_CHANNELS as usize], requests: 0, estimated: 0 }
    }

    /// Load of the requests of a program in bytes.
    ///
    /// Where loops have powers of two, and no two of them change the same bit of an address, no request is looked
    /// at: requests are spread evenly over the channels that those bits reach, and switches of rows are counted
    /// in the same way. Else at most 65,536 are.
    ///
    /// # Errors
    /// If an address does not fit in 64 bits, is before 0, or past the end of HBM.
    pub fn of(program: &Program, access: Access, machine: &Machine) -> Result<Self, SeqError> {
        let all = requests(program, machine)?;
        let count = request_count(program, machine).ok_or_else(|| too_many(program))?;
        if let Some(linear) = Linear::of(program, machine).filter(|found| found.stays_within(HBM_UNIT)) {
            let switches = switches(&linear).ok_or_else(|| past_the_end(program))?;
            let mut found = Self::spread(&linear, switches, access);
            found.expose(turns(&linear));
            return Ok(found);
        }
        // A measured machine charges data memory for reads over a boundary (`measured.crossing`).
        let charged = machine.measured.as_ref().is_some_and(|measured| measured.crossing.is_some());
        let once = access == Access::Read && charged;
        Self::counted(all, (access, once), count).ok_or_else(|| past_the_end(program))
    }

    /// Requests that are evenly spread over the channels that they reach.
    fn spread(linear: &Linear, switches: u64, access: Access) -> Self {
        let mut reached = vec![channel(linear.base)];
        for step in linear.bits.iter().map(|&bit| channel(bit)) {
            if !reached.contains(&(reached[0] ^ step)) {
                let more: Vec<_> = reached.iter().map(|at| at ^ step).collect();
                reached.extend(more);
            }
        }
        let requests = linear.count();
        let each = requests / reached.len() as u64;
        let written_in_part = access == Access::Write && linear.bytes < HBM_UNIT;
        let load = ChannelLoad {
            transfers: each,
            switches: switches / reached.len() as u64,
            exposed: 0,
            partial: if written_in_part { each } else { 0 },
        };
        let mut found = Self { requests, ..Self::none() };
        reached.iter().for_each(|&at| found.loads[at as usize] = load);
        found
    }

    /// The first requests one by one, the rest like them. `once` counts a request over a boundary at its first unit.
    fn counted(
        all: impl Iterator<Item = Request>,
        (access, once): (Access, bool),
        count: u64,
    ) -> Option<Self> {
        let mut found = Self { requests: count, estimated: count.saturating_sub(MOST), ..Self::none() };
        let mut rows = OpenRows::new();
        let writes = access == Access::Write;
        for request in all.take(MOST as usize) {
            let mut unit = request.address - request.address % HBM_UNIT;
            let end = if once { unit + 1 } else { request.address + request.bytes };
            // A request touches few units: a loop takes less time than an iterator of them.
            while unit < end {
                let place = HbmPlace::of(unit)?;
                let load = &mut found.loads[place.channel_of_chip() as usize];
                load.transfers += 1;
                load.switches += u64::from(rows.ask(&place));
                let whole = request.address <= unit && unit + HBM_UNIT <= end;
                load.partial += u64::from(writes && !whole);
                unit += HBM_UNIT;
            }
        }
        for bank in rows.switched_at_the_end() {
            found.loads[HbmPlace::channel_of_bank(bank) as usize].switches += 1;
        }
        found.expose(rows.turns());
        if found.estimated > 0 {
            found.loads = found.loads.map(|load| load.scaled(count, MOST));
        }
        Some(found)
    }

    /// Sets the number of exposed switches if `turns` banks are accessed alternately.
    fn expose(&mut self, turns: Option<u64>) {
        for load in &mut self.loads {
            load.exposed = turns.map_or(0, |turns| load.switches.div_ceil(turns));
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(mut self, more: &Self) -> Self {
        for (load, more) in self.loads.iter_mut().zip(more.loads) {
            *load = load.plus(more);
        }
        self.requests = self.requests.saturating_add(more.requests);
        self.estimated = self.estimated.saturating_add(more.estimated);
        self
    }

    /// Number of channels that have a request.
    #[must_use]
    pub fn used(&self) -> usize {
        self.loads.iter().filter(|load| load.transfers > 0).count()
    }

    /// Bits of a channel's number that are the same in all channels that have a request, the stack the highest. They
    /// exclude the other channels.
    #[must_use]
    pub fn constant_bits(&self) -> Vec<u32> {
        let used = || self.loads.iter().zip(0_u64..).filter(|(load, _)| load.transfers > 0).map(|(_, at)| at);
        let first = used().next();
        let constant = |bit: &u32| first.is_some_and(|first| used().all(|at| (at ^ first) >> bit & 1 == 0));
        (0..HBM_CHANNELS.ilog2()).filter(constant).collect()
    }

    /// Number of active channels, and the bits of an address that exclude the others.
    #[must_use]
    pub fn in_words(&self) -> String {
        let (all, used, constant) = (self.loads.len(), self.used(), self.constant_bits());
        if used == 1 {
            return format!("all requests go to one of {all} channels of HBM");
        }
        if constant.is_empty() {
            return format!("{used} of {all} channels of HBM work");
        }
        let bits = constant.iter().map(|&bit| match channel_bits(bit).as_slice() {
            [only] => format!("bit {only} never changes"),
            several => {
                let several: Vec<_> = several.iter().map(u32::to_string).collect();
                format!("the XOR of bits {} never changes", several.join(", "))
            }
        });
        format!("{}: {used} of {all} channels of HBM", bits.collect::<Vec<_>>().join(", "))
    }

    /// All channels together.
    #[must_use]
    pub fn total(&self) -> ChannelLoad {
        self.loads.iter().fold(ChannelLoad::default(), |sum, &load| sum.plus(load))
    }
}

fn past_the_end(program: &Program) -> SeqError {
    let message = format!("`{program}` goes past the end of HBM, 48 GiB");
    SeqError { code: code::ADDRESS, message, fix: None, range: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use visa_support::Random;

    fn program(text: &str) -> Program {
        text.parse().expect(text)
    }

    fn of(text: &str) -> Channels {
        Channels::of(&program(text), Access::Read, &Machine::rngd()).expect(text)
    }

    fn transfers(found: &Channels) -> [u64; 32] {
        found.loads.map(|load| load.transfers)
    }

    /// The same request by request.
    fn enumerated(program: &Program, access: Access) -> Channels {
        let machine = Machine::rngd();
        let count = request_count(program, &machine).expect("a count");
        assert!(count <= MOST, "{program}");
        Channels::counted(requests(program, &machine).expect("addresses"), (access, false), count)
            .expect("in memory")
    }

    /// D3: each of the 64 reads of 16 KB finds another channel than those near it.
    #[test]
    fn a_contiguous_run_asks_all_channels_alike() {
        let found = of("[8 : 2048, 8 : 256, 256 : 1] : 256");
        assert_eq!((found.used(), found.requests, found.estimated), (32, 64, 0));
        assert_eq!(transfers(&found), [2; 32]);
        assert_eq!(of("[16384 : 1] : 4096"), found);
    }

    /// D6: 65,536 requests an engine, 8 engines, 16,384 a channel, each of them for another row.
    #[test]
    fn book_10_example_4() {
        let engines = (0..8).map(|engine| engine * 256 * 1024).map(|base| {
            of(&format!("[256 : 1024, 4 : 256, 32 : {}, 2 : {}, 256 : 1] : 256 @ {base}", 1 << 21, 1 << 26))
        });
        let total = engines.fold(Channels::none(), |total, engine| total.plus(&engine));
        assert_eq!(
            total.loads,
            [ChannelLoad { transfers: 16_384, switches: 16_384, exposed: 16_384, partial: 0 }; 32]
        );
        assert_eq!(total.requests, 524_288);
    }

    /// D7: bit 8 never changes, so half of the channels have 256 requests each, and the others none.
    #[test]
    fn book_10_example_5() {
        let engines = (0..8)
            .map(|engine| of(&format!("[8 : 512, 32 : 4096, 2 : 131072, 256 : 1] : 256 @ {}", engine << 18)));
        let total = engines.fold(Channels::none(), |total, engine| total.plus(&engine));
        assert_eq!((total.constant_bits(), total.used()), (vec![4], 16));
        assert_eq!(transfers(&total)[..16], [256; 16]);
        assert_eq!(transfers(&total)[16..], [0; 16]);
    }

    /// Book 11: a read that goes over a boundary takes two transfers, a write of a part reads first.
    #[test]
    fn boundaries_and_parts() {
        let machine = Machine::rngd();
        let total = |text: &str, access| Channels::of(&program(text), access, &machine).expect(text).total();
        let load = |transfers, partial| ChannelLoad { transfers, switches: 0, exposed: 0, partial };
        let (whole, over, part) = ("[256 : 1] : 256", "[256 : 1] : 256 @ 8", "[2 : 256, 248 : 1] : 248 @ 8");
        assert_eq!((total(whole, Access::Read), total(whole, Access::Write)), (load(1, 0), load(1, 0)));
        assert_eq!((total(over, Access::Read), total(over, Access::Write)), (load(2, 0), load(2, 2)));
        assert_eq!((total(part, Access::Read), total(part, Access::Write)), (load(2, 0), load(2, 2)));
        // 2,800 bytes: ten whole units and 240 bytes of one.
        assert_eq!(total("[2800 : 1] : 2800", Access::Write), load(11, 1));
    }

    #[test]
    fn memory_ends_after_48_gib() {
        let last = (48_u64 << 30) - 256;
        assert_eq!(of(&format!("[256 : 1] : 256 @ {last}")).requests, 1);
        for text in [
            format!("[256 : 1] : 256 @ {}", last + 256),
            format!("[2 : 256, 256 : 1] : 256 @ {last}"),
            format!("[3 : 256, 256 : 1] : 256 @ {last}"),
        ] {
            let wrong = Channels::of(&program(&text), Access::Read, &Machine::rngd()).expect_err(&text);
            assert!(wrong.message.contains("past the end of HBM"), "{}", wrong.message);
        }
    }

    /// The results without a look at the requests equal those with a look at each of them.
    #[test]
    fn the_closed_form_is_the_count_of_all() {
        let mut random = Random(0x0123_4567_89ab_cdef);
        let mut closed = 0;
        for _ in 0..2_000 {
            let loops: Vec<_> = (0..1 + random.below(4))
                .map(|_| format!("{} : {}", 1 << random.below(4), 1_u64 << random.below(30)))
                .collect();
            let run = 1_u64 << random.below(13);
            let packet = run >> random.below(13).min(run.trailing_zeros() as usize);
            let base = random.under(1 << 32) & !(packet - 1) & 0_u64.wrapping_sub(random.under(2));
            let program = program(&format!("[{}, {run} : 1] : {packet} @ {base}", loops.join(", ")));
            let count = request_count(&program, &Machine::rngd()).expect("a count");
            if count > MOST {
                continue;
            }
            closed += u64::from(Linear::of(&program, &Machine::rngd()).is_some());
            for access in [Access::Read, Access::Write] {
                let mut found = Channels::of(&program, access, &Machine::rngd()).expect("addresses");
                let mut expected = enumerated(&program, access);
                // How many switches are exposed is taken from a sample.
                [&mut found, &mut expected].into_iter().for_each(|side| side.expose(None));
                assert_eq!(found, expected, "{program}");
            }
        }
        assert!(closed > 200, "{closed} programs have a closed form");
    }

    /// A side of 16 MB is never a list: a program without closed form is looked at in part, and the result reports
    /// that.
    #[test]
    fn what_has_no_closed_form_is_counted_to_a_limit() {
        let just = of("[65536 : 768, 256 : 1] : 256");
        let over = of("[65537 : 768, 256 : 1] : 256");
        assert_eq!((just.estimated, over.estimated), (0, 1));
        assert_eq!(just.total().transfers, 65_536);
        let twice = of("[131072 : 768, 256 : 1] : 256");
        assert_eq!(transfers(&twice), transfers(&just).map(|count| 2 * count));
    }
}
