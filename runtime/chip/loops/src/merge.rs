//! Merging adjacent entries, and splitting one (book 07).

use crate::program::{Loop, PairedProgram, Program};

/// Merged limits stay literals of the text form.
const MAX_LIMIT: u64 = i64::MAX.cast_unsigned();

/// Largest factor tried when an entry is split; it bounds the search on machines with larger limits.
const MAX_FACTOR: u64 = 65_536;

impl Program {
    /// Merges all entries that it can: entries of one iteration go, and an outer `(n1 : s1)` and an inner `(n2 : s2)`
    /// become `(n1 * n2 : s2)` if `s1 == n2 * s2` (book 07). Addresses, packet and base stay. The limit of 65536 is
    /// ignored: [`Program::fit`] checks it.
    pub fn merge(&mut self) {
        self.entries = merged(&self.entries);
    }
}

impl PairedProgram {
    /// [`Program::merge`]; two entries merge only where both sides allow it.
    pub fn merge(&mut self) {
        self.entries = merged(&self.entries);
    }
}

/// One pass suffices: a merged pair continues its outer neighbour exactly when its outer half did,
/// as `(n1 * n2) * s2 == n1 * s1`.
pub(crate) fn merged<const SIDES: usize, L: Loop<SIDES>>(entries: &[L]) -> Vec<L> {
    let mut result: Vec<L> = Vec::with_capacity(entries.len());
    for entry in entries.iter().filter(|entry| !entry.is_idle()) {
        match result.last().and_then(|outer| merge_pair(outer, entry)) {
            Some(both) => {
                result.pop();
                result.push(both);
            }
            None => result.push(entry.clone()),
        }
    }
    // The sequencer has at least one entry (book 18), so a single step keeps one.
    if result.is_empty() {
        result.extend(entries.last().cloned());
    }
    result
}

/// The single loop with the effect of `outer` around `inner`, if there is one. An indirect entry never merges.
pub(crate) fn merge_pair<const SIDES: usize, L: Loop<SIDES>>(outer: &L, inner: &L) -> Option<L> {
    let strides = inner.fixed()?;
    let continues = outer
        .fixed()?
        .into_iter()
        .zip(strides)
        .all(|(s1, s2)| i128::from(s1) == i128::from(inner.limit()) * i128::from(s2));
    let limit = outer.limit().checked_mul(inner.limit()).filter(|&limit| limit <= MAX_LIMIT)?;
    continues.then(|| L::even(limit, strides))
}

/// The nested loops of at most `max` iterations that entry `index` splits into. The innermost entry
/// is cut between packets where it holds whole packets.
pub(crate) fn split_entry<const SIDES: usize, L: Loop<SIDES>>(
    entries: &[L],
    index: usize,
    packet: u64,
    max: u64,
) -> Option<Vec<L>> {
    let entry = entries.get(index)?.clone();
    let whole_packets = index + 1 == entries.len() && entry.limit().is_multiple_of(packet);
    split(entry, max, if whole_packets { packet.max(1) } else { 1 })
}

/// Splits a loop into nested loops of at most `max` iterations, the innermost a multiple of
/// `multiple`; an indirect one only where it needs no split. Taking the largest factor first needs two loops
/// wherever two can do.
fn split<const SIDES: usize, L: Loop<SIDES>>(entry: L, max: u64, mut multiple: u64) -> Option<Vec<L>> {
    let mut pieces = Vec::new();
    let mut rest = entry;
    while rest.limit() > max {
        let (factor, strides) = (largest_factor(rest.limit(), max, multiple)?, rest.fixed()?);
        pieces.push(L::even(factor, strides));
        rest = L::even(rest.limit() / factor, scaled(strides, factor)?);
        multiple = 1;
    }
    pieces.push(rest);
    pieces.reverse();
    Some(pieces)
}

fn largest_factor(n: u64, max: u64, multiple: u64) -> Option<u64> {
    let most = max.min(MAX_FACTOR) / multiple;
    let factor = (1..=most).rev().map(|k| k * multiple).find(|&d| n.is_multiple_of(d))?;
    (factor > 1).then_some(factor)
}

/// Every stride times `factor`; `None` past 64 bits.
pub(crate) fn scaled<const SIDES: usize>(strides: [i64; SIDES], factor: u64) -> Option<[i64; SIDES]> {
    let factor = i64::try_from(factor).ok()?;
    let mut result = strides;
    for stride in &mut result {
        *stride = stride.checked_mul(factor)?;
    }
    Some(result)
}
