//! Places for buffers in one memory: buffers that are needed at the same time share no byte (dynamic storage
//! allocation).
//!
//! Finding the least memory is NP-hard. But some order of the buffers is the best: if they go, one after another, to
//! the lowest place that is free for each, the order of their addresses in a best solution gives no more memory than
//! that solution. (By induction no buffer ends up above its place there: the earlier buffers that it meets have not
//! moved up.) So orders are searched, separately for buffers that others do not meet: all orders of few buffers, else
//! some that are known to do well, and from the best of these on by moving a buffer that sticks out forward.

use std::collections::BTreeSet;

/// A buffer to place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its bytes.
    pub bytes: u64,
    /// Alignment: its address is a multiple of it; 0 counts as 1.
    pub align: u64,
    /// The first and the last point of the program at which it is needed.
    pub live: (usize, usize),
    /// The address that it has already.
    pub fixed: Option<u64>,
}

impl Buffer {
    fn meets(&self, other: &Self) -> bool {
        self.live.0.max(other.live.0) <= self.live.1.min(other.live.1)
    }
}

/// Where buffers are placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packing {
    /// An address a buffer; the given one of a fixed buffer.
    pub addresses: Vec<u64>,
    /// The end of the highest buffer that was not fixed; 0 if all were.
    pub peak: u64,
}

/// Where some of the buffers are placed.
#[derive(Clone)]
struct Partial {
    /// An address for each that is.
    addresses: Vec<Option<u64>>,
    /// The end of the highest buffer that was not fixed; 0 if all were.
    peak: u64,
}

impl Partial {
    /// The packing, if all are placed.
    fn whole(self) -> Option<Packing> {
        let addresses = self.addresses.into_iter().collect::<Option<_>>()?;
        Some(Packing { addresses, peak: self.peak })
    }
}

/// Most buffers that all orders are tried for.
pub const MAX_EXACT: usize = 7;

/// The extent of a search for orders of more buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The end of all buffers that is low enough.
    pub enough: u64,
    /// Most pairs of buffers that the improvement of one order looks at.
    pub steps: usize,
}

impl Effort {
    /// The search for the least memory.
    pub const LEAST: Self = Self { enough: 0, steps: 1 << 24 };
}

/// Places all buffers, as low as the search finds. `None` if an address would not fit 64 bits.
#[must_use]
pub fn pack(buffers: &[Buffer]) -> Option<Packing> {
    pack_within(buffers, Effort::LEAST)
}

/// As [`pack`], by a search of this extent.
#[must_use]
pub fn pack_within(buffers: &[Buffer], effort: Effort) -> Option<Packing> {
    let mut packing = in_order(buffers, &[])?;
    for group in groups(buffers) {
        let own = pack_group(buffers, group, packing.peak, effort)?;
        packing.peak = packing.peak.max(own.peak);
        let addresses = packing.addresses.iter_mut().zip(own.addresses);
        addresses.for_each(|(address, own)| *address = address.or(own));
    }
    packing.whole()
}

/// The buffers that are not fixed, in groups: none is needed when one of another group is, so each group is packed
/// by itself.
fn groups(buffers: &[Buffer]) -> Vec<Vec<usize>> {
    let mut free: Vec<usize> = (0..buffers.len()).filter(|&at| buffers[at].fixed.is_none()).collect();
    free.sort_by_key(|&at| buffers[at].live);
    let mut groups: Vec<(Vec<usize>, usize)> = Vec::new();
    for at in free {
        let (first, last) = buffers[at].live;
        match groups.last_mut().filter(|(_, end)| first <= *end) {
            Some((group, end)) => {
                group.push(at);
                *end = last.max(*end);
            }
            None => groups.push((vec![at], last)),
        }
    }
    groups.into_iter().map(|(group, _)| group).collect()
}

/// Places the buffers of a group: as low as the search finds, or below `peak`, which others take.
fn pack_group(buffers: &[Buffer], mut group: Vec<usize>, peak: u64, effort: Effort) -> Option<Partial> {
    group.sort_unstable();
    let own: Vec<_> = group.iter().map(|&at| buffers[at]).collect();
    let bound = peak.max(live_bytes(&own));
    if group.len() <= MAX_EXACT {
        let mut search = Exact { buffers, bound, best: in_order(buffers, &group)? };
        search.run(&mut group, 0);
        return Some(search.best);
    }
    let mut best: Option<(Partial, Vec<usize>)> = None;
    for key in KEYS {
        let mut order = group.clone();
        order.sort_by_key(|&at| (std::cmp::Reverse(key(&buffers[at])), at));
        keep_better(&mut best, in_order(buffers, &order)?, order);
    }
    let (packing, order) = best?;
    improve(buffers, packing, order, Effort { enough: bound.max(effort.enough), ..effort })
}

/// Places the buffers one after the other in the order given, as if all of them were needed all the time. `None`
/// if an address would not fit 64 bits.
#[must_use]
pub fn apart(buffers: &[Buffer]) -> Option<Packing> {
    let mut packing = in_order(buffers, &[])?;
    let fixed = buffers.iter().filter(|buffer| buffer.bytes > 0);
    let fixed = fixed.filter_map(|buffer| Some((buffer.fixed?, buffer.fixed?.saturating_add(buffer.bytes))));
    let mut taken: Vec<(u64, u64)> = fixed.collect();
    taken.sort_unstable();
    for (buffer, address) in
        buffers.iter().zip(&mut packing.addresses).filter(|(_, address)| address.is_none())
    {
        let start = lowest(buffer, &taken)?;
        let end = start.checked_add(buffer.bytes)?;
        packing.peak = packing.peak.max(end);
        *address = Some(start);
        take(&mut taken, start, end);
    }
    packing.whole()
}

/// Adds bytes to the sorted ones that are taken. Neighbours become one, so that few are looked at for each buffer.
fn take(taken: &mut Vec<(u64, u64)>, start: u64, end: u64) {
    let at = taken.partition_point(|(before, _)| *before <= start);
    match taken[..at].last_mut().filter(|before| before.1 == start) {
        Some(before) => before.1 = end,
        None if start < end => taken.insert(at, (start, end)),
        None => {}
    }
}

/// The lowest address of a buffer that meets none of the sorted bytes that are taken.
fn lowest(buffer: &Buffer, taken: &[(u64, u64)]) -> Option<u64> {
    let align = buffer.align.max(1);
    let mut address = 0_u64;
    for &(start, end) in taken {
        if address.checked_add(buffer.bytes)? <= start {
            break;
        }
        address = address.max(end.checked_next_multiple_of(align)?);
    }
    Some(address)
}

/// Sort keys of buffers, largest first.
const KEYS: [fn(&Buffer) -> u128; 4] = [
    |buffer| buffer.bytes.into(),
    |buffer| u128::from(buffer.bytes) * length(buffer),
    length,
    |buffer| (usize::MAX - buffer.live.0) as u128,
];

fn length(buffer: &Buffer) -> u128 {
    (buffer.live.1 - buffer.live.0) as u128 + 1
}

/// The most bytes that are needed at one point: no packing takes less.
#[must_use]
pub fn live_bytes(buffers: &[Buffer]) -> u64 {
    worst_point(buffers).map_or(0, |(_, bytes)| bytes)
}

/// The point at which most bytes are needed, the first of equals, and how many these are.
#[must_use]
pub fn worst_point(buffers: &[Buffer]) -> Option<(usize, u64)> {
    // The sum grows only where a buffer begins.
    let at =
        |point: usize| buffers.iter().filter(move |other| other.live.0 <= point && point <= other.live.1);
    let sums = buffers
        .iter()
        .map(|buffer| buffer.live.0)
        .map(|point| (point, at(point).fold(0_u64, |sum, other| sum.saturating_add(other.bytes))));
    sums.max_by_key(|&(point, sum)| (sum, std::cmp::Reverse(point)))
}

/// Places the buffers of `order` one after the other, each at the lowest place that is free.
fn in_order(buffers: &[Buffer], order: &[usize]) -> Option<Partial> {
    let mut placed = PackedBuffer::new(buffers);
    for &at in order {
        placed.add(at)?;
    }
    Some(placed.now)
}

fn keep_better(best: &mut Option<(Partial, Vec<usize>)>, packing: Partial, order: Vec<usize>) {
    if best.as_ref().is_none_or(|(known, _)| packing.peak < known.peak) {
        *best = Some((packing, order));
    }
}

/// Moves a buffer that ends at the peak forward in the order, to where the packing gets lowest of all orders not
/// seen before, again and again. Keeps the best packing.
fn improve(buffers: &[Buffer], mut best: Partial, mut order: Vec<usize>, effort: Effort) -> Option<Partial> {
    let mut orders = effort.steps / (order.len() * buffers.len()).max(1);
    let (mut seen, mut now) = (BTreeSet::new(), best.clone());
    let mut placed = PackedBuffer::new(buffers);
    let none = placed.now.clone();
    while best.peak > effort.enough && orders > 0 {
        let end = |at: usize| now.addresses[at].map(|address| address.saturating_add(buffers[at].bytes));
        let top = |&at: &usize| end(at) == Some(now.peak);
        let Some(place) = order.iter().rposition(top) else { break };
        let mut next: Option<(Partial, Vec<usize>)> = None;
        // The buffers in front of the moved one stay where they are from one order to the next.
        let mut front = none.clone();
        for to in (0..place).take(orders) {
            let mut moved = order.clone();
            moved[to..=place].rotate_right(1);
            if !seen.contains(&moved) {
                let lowest = next.as_ref().map_or(u64::MAX, |(known, _)| known.peak);
                placed.now.clone_from(&front);
                if placed.add_below(&moved[to..], lowest)? {
                    next = Some((placed.now.clone(), moved));
                }
            }
            placed.now.clone_from(&front);
            placed.add(order[to])?;
            front.clone_from(&placed.now);
        }
        orders = orders.saturating_sub(place);
        let Some(found) = next else { break };
        (now, order) = found;
        seen.insert(order.clone());
        if now.peak < best.peak {
            best = now.clone();
        }
    }
    Some(best)
}

/// Buffers that have their place already.
struct PackedBuffer<'a> {
    buffers: &'a [Buffer],
    /// The buffers with bytes that each one meets, if it was asked for.
    met: Vec<Option<Vec<usize>>>,
    /// The bytes that others take while a buffer is placed.
    taken: Vec<(u64, u64)>,
    now: Partial,
}

impl<'a> PackedBuffer<'a> {
    fn new(buffers: &'a [Buffer]) -> Self {
        let addresses = buffers.iter().map(|buffer| buffer.fixed).collect();
        let (met, taken) = (vec![None; buffers.len()], Vec::new());
        Self { buffers, met, taken, now: Partial { addresses, peak: 0 } }
    }

    /// Places buffers one after the other. Returns false as soon as they end at `most` bytes or higher.
    fn add_below(&mut self, order: &[usize], most: u64) -> Option<bool> {
        for &at in order {
            self.add(at)?;
            if self.now.peak >= most {
                return Some(false);
            }
        }
        Some(self.now.peak < most)
    }

    /// Places buffer `at` at the lowest free place.
    fn add(&mut self, at: usize) -> Option<()> {
        let (buffers, buffer, addresses) = (self.buffers, &self.buffers[at], &self.now.addresses);
        let met = self.met[at].get_or_insert_with(|| {
            let meets = |other: &usize| buffers[*other].bytes > 0 && buffer.meets(&buffers[*other]);
            (0..buffers.len()).filter(meets).collect()
        });
        self.taken.clear();
        self.taken.extend(met.iter().filter_map(|&other| {
            let start = addresses[other]?;
            Some((start, start.saturating_add(buffers[other].bytes)))
        }));
        self.taken.sort_unstable();
        let address = lowest(buffer, &self.taken)?;
        self.now.peak = self.now.peak.max(address.checked_add(buffer.bytes)?);
        self.now.addresses[at] = Some(address);
        Some(())
    }
}

/// All orders of few buffers.
struct Exact<'a> {
    buffers: &'a [Buffer],
    bound: u64,
    best: Partial,
}

impl Exact<'_> {
    /// Tries every order of the buffers after the first `fixed`.
    fn run(&mut self, order: &mut Vec<usize>, fixed: usize) {
        // The first placements decide the peak of all that follows: an order that has no chance is left early.
        let Some(begun) = in_order(self.buffers, &order[..fixed]).filter(|begun| begun.peak < self.best.peak)
        else {
            return;
        };
        if fixed == order.len() {
            self.best = begun;
            return;
        }
        for next in fixed..order.len() {
            if self.best.peak <= self.bound {
                return;
            }
            order.swap(fixed, next);
            self.run(order, fixed + 1);
            order.swap(fixed, next);
        }
    }
}
