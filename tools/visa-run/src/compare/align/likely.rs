//! Costs of assignments: logarithms of how much less likely each makes the whole.

use std::collections::{BTreeMap, BTreeSet};

use crate::compare::foreign::{Entry, Foreign, Ours};

/// Cost of a command without a partner. It exceeds that of a pair whose times differ three times: a kernel's log lacks
/// few of its commands.
pub(super) const ALONE: f64 = 4.0;

/// Share by which most predictions are off. Some are off by factors, so the cost grows with the logarithm.
const TYPICAL: f64 = 0.15;

/// Cost of a pair whose time has a wait in it, and the most of one from the same line.
const UNTOLD: f64 = 1.0;

/// Most ticks of a transfer on a cluster that moves nothing. Those of kernel K2 take 162 to 215.
const IDLE: u64 = 250;

/// Cost of a longer one.
const MOVES: f64 = 6.0;

/// Cost of a command that begins before another one ends whose result its run reads.
const DATAFLOW: f64 = 6.0;

/// Cost of a run that does not follow its predecessor in its queue.
const ORDER: f64 = 0.5;

/// Cost of a pair from different lines of the author's text.
const ELSEWHERE: f64 = 3.0;

/// Ticks by which a begin may precede the end of a command before it.
const SLACK: u64 = 8;

/// Both sides.
pub(super) struct Sides<'a> {
    pub(super) ours: &'a [Ours],
    pub(super) foreign: &'a Foreign,
    /// For each run of ours, the place in the author's text that begins it, if theirs name places.
    places: Vec<Option<(&'a str, usize)>>,
    /// For each run of ours, the one before it in its queue.
    pub(super) before: Vec<Option<usize>>,
    /// For each run of ours, the number of runs that read its result.
    pub(super) readers: Vec<usize>,
}

impl<'a> Sides<'a> {
    pub(super) fn new(ours: &'a [Ours], foreign: &'a Foreign) -> Self {
        let mut order: Vec<usize> = (0..ours.len()).collect();
        order.sort_by_key(|&at| (ours[at].start, at));
        let (mut before, mut last) = (vec![None; ours.len()], BTreeMap::new());
        for at in order {
            before[at] = last.insert(ours[at].queue, at);
        }
        let mut readers = vec![0; ours.len()];
        for &source in ours.iter().flat_map(|own| &own.sources) {
            readers[source] += 1;
        }
        Self { ours, foreign, places: places(ours, foreign), before, readers }
    }

    /// Cost of a command of theirs as a run of ours, by its kind, its durations and its lines; `None` if it cannot be
    /// this run.
    pub(super) fn pair(&self, run: usize, entries: &[usize]) -> Option<f64> {
        let own = &self.ours[run];
        entries.iter().map(|&entry| &self.foreign.entries[entry]).try_fold(0.0, |sum, theirs| {
            let cost = self.foreign.may_be(own, theirs).then(|| match (self.places[run], theirs.place()) {
                (Some(place), Some(their_place)) if place == their_place => duration(own, theirs).min(UNTOLD),
                (Some(_), Some(_)) => duration(own, theirs) + ELSEWHERE,
                (Some(_) | None, Some(_) | None) => duration(own, theirs),
            });
            // Clusters err alike, so their mean counts.
            Some(sum + cost? / entries.len() as f64)
        })
    }

    /// Cost of a command whose run reads results of commands that have not ended: `sources` are their entries.
    pub(super) fn dataflow<'e>(&self, entries: &[usize], sources: impl Iterator<Item = &'e [usize]>) -> f64 {
        let entry = |at: &usize| &self.foreign.entries[*at];
        let late = |source: &&[usize]| {
            source.iter().map(entry).any(|source| {
                let own = entries.iter().map(entry).find(|own| own.cluster == source.cluster);
                own.is_some_and(|own| source.end > own.begin + SLACK)
            })
        };
        sources.filter(late).count() as f64 * DATAFLOW
    }

    /// Cost of a run after `last` of its queue; `done` are the runs that have a partner.
    pub(super) fn order(&self, run: usize, last: Option<usize>, done: impl Fn(usize) -> bool) -> f64 {
        let mut before = self.before[run];
        while let Some(other) = before.filter(|&other| Some(other) != last && done(other)) {
            before = self.before[other];
        }
        if before == last { 0.0 } else { ORDER }
    }
}

/// Our runs by the places that theirs name: a command begins at the last of these before the line that ends it.
fn places<'a>(ours: &[Ours], foreign: &'a Foreign) -> Vec<Option<(&'a str, usize)>> {
    let places: BTreeSet<(&str, usize)> = foreign.entries.iter().filter_map(Entry::place).collect();
    let begins = |own: &Ours| {
        let (file, line) = own.place.as_ref()?;
        let all = places.iter().filter(|(of, from)| of == file && from <= line);
        all.max_by_key(|(_, from)| *from).copied()
    };
    ours.iter().map(begins).collect()
}

fn duration(own: &Ours, theirs: &Entry) -> f64 {
    if own.is_idle(theirs) {
        return if theirs.time() <= IDLE { 0.0 } else { MOVES };
    }
    if theirs.synced && theirs.time() > own.time() {
        return UNTOLD;
    }
    let ratio = own.time().max(1) as f64 / theirs.time().max(1) as f64;
    (ratio.ln() / TYPICAL).powi(2).ln_1p()
}
