//! Pairs of their commands and ours. The commands of each cluster are taken in the order of their begins, and each is
//! a run of ours or none. The likeliest assignment is chosen by kind, dataflow, duration, order, and the author's
//! lines if both sides have them. A command may have no partner at a cost, so that one that lacks shifts nothing.
//!
//! Clusters run the same commands, each kind in the same order, so they are aligned together. Where one has fewer of a
//! kind, each of these is the command of the other that begins at the nearest time.

mod beam;
mod likely;
mod posterior;
mod together;

use super::foreign::{Foreign, Ours};

/// Commands of a cluster that are aligned at most.
const MOST: usize = 20_000;

/// The pairs, and the commands of theirs without a partner.
#[derive(Debug, Default)]
pub(crate) struct Aligned {
    /// For each run of ours: its partners, one a cluster.
    pub(crate) pairs: Vec<Vec<Partner>>,
    /// Entries of theirs that are none of ours.
    pub(crate) theirs: Vec<usize>,
}

/// An entry of theirs that is a run of ours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Partner {
    pub(crate) entry: usize,
    /// Probability of this pair among all assignments that were weighed.
    pub(crate) sure: f64,
}

/// Aligns both sides.
///
/// # Errors
/// Sequences that are too long.
pub(crate) fn align(ours: &[Ours], foreign: &Foreign) -> Result<Aligned, String> {
    let mut numbers: Vec<Option<u64>> = foreign.entries.iter().map(|entry| entry.cluster).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let of = |number: Option<u64>| {
        (0..foreign.entries.len()).filter(|&at| foreign.entries[at].cluster == number).collect()
    };
    let clusters: Vec<Vec<usize>> = numbers.into_iter().map(of).collect();
    let most = clusters.iter().map(Vec::len).max().unwrap_or_default();
    if ours.len().max(most) > MOST {
        return Err(format!(
            "{} commands and {most} of {} are too many to align, expected at most {MOST}: compare a kernel with fewer \
             iterations",
            ours.len(),
            foreign.what
        ));
    }
    let sides = likely::Sides::new(ours, foreign);
    let mut aligned = Aligned { pairs: vec![Vec::new(); ours.len()], theirs: Vec::new() };
    let commands = together::commands(foreign, &clusters);
    let layers = beam::search(&sides, &commands);
    for ((entries, run), found) in commands.iter().zip(layers.best()).zip(posterior::marginals(&layers)) {
        let sure = found.get(&run).copied().unwrap_or_default();
        match run {
            Some(run) => aligned.pairs[run].extend(entries.iter().map(|&entry| Partner { entry, sure })),
            None => aligned.theirs.extend(entries),
        }
    }
    aligned.theirs.sort_unstable();
    Ok(aligned)
}

#[cfg(test)]
mod tests;
