//! HBM of a chip alone: a stream of requests, without the engines that make them.

use super::dram::{Channel, ChannelTotals, Direction, Piece, channel_of};
use super::error::DetailedError;
use super::pieces::split;
use super::timing::Timing;
use crate::descriptor::{Medium, Memory};
use crate::hbm::{HBM_BYTES, HBM_CHANNELS, HBM_UNIT, HbmPlace};
use crate::requests::Request;

/// What a stream of requests takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Streamed {
    /// HBM cycles until the last byte is there ([`Timing::hbm_mhz`]).
    pub hbm_cycles: u64,
    /// What each channel did, the stack the highest bit of its number.
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
