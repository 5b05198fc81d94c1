//! Pairs of their commands and ours: by cluster, kind and order. If both sides know the author's lines, by these
//! first: a compiler may have moved a command.
//!
//! For each cluster and kind the two sequences are aligned with the least cost: the sum of the differences of pairs,
//! as logarithms, and of commands without a partner. So a command that one side lacks shifts nothing.

use std::collections::BTreeMap;

use super::foreign::{Entry, Foreign, Kind, Ours};

/// Cost of a command without a partner: a pair that differs 4 times costs as much as two of them.
const ALONE: f64 = 0.7;

/// The same where both have the same place in the text.
const ALONE_AT_PLACE: f64 = 2.0;

/// Pairs that are weighed at most, of each cluster and kind.
const MOST: usize = 1 << 26;

/// The pairs, and the commands of both sides without a partner.
#[derive(Debug, Default)]
pub(crate) struct Aligned {
    /// For each run of ours: the entries of theirs that it is, one a cluster.
    pub(crate) pairs: Vec<Vec<usize>>,
    /// Entries of theirs that are none of ours.
    pub(crate) theirs: Vec<usize>,
}

/// Aligns both sides.
///
/// # Errors
/// Sequences that are too long.
pub(crate) fn align(ours: &[Ours], foreign: &Foreign) -> Result<Aligned, String> {
    let mut clusters: Vec<Option<u64>> = foreign.entries.iter().map(|entry| entry.cluster).collect();
    clusters.sort_unstable();
    clusters.dedup();
    let mut aligned = Aligned { pairs: vec![Vec::new(); ours.len()], theirs: Vec::new() };
    for cluster in clusters {
        for kind in Kind::ALL {
            let mut own: Vec<usize> =
                (0..ours.len()).filter(|&at| ours[at].kind == kind && ours[at].is_on(cluster)).collect();
            own.sort_by_key(|&at| (ours[at].start, at));
            let other: Vec<usize> = (0..foreign.entries.len())
                .filter(|&at| foreign.entries[at].kind == kind && foreign.entries[at].cluster == cluster)
                .collect();
            if (own.len() + 1).saturating_mul(other.len() + 1) > MOST {
                return Err(format!(
                    "{} commands and {} of one kind are too many to align",
                    own.len(),
                    other.len()
                ));
            }
            let differs = |own: usize, other: usize| differ(&ours[own], &foreign.entries[other]);
            let (mut rest, mut their_rest) = (Vec::new(), Vec::new());
            let groups = at_places(ours, foreign, own, other);
            for (place, (own, other)) in &groups {
                let alone = if place.is_some() { ALONE_AT_PLACE } else { ALONE };
                for pair in partners(own, other, alone, differs) {
                    match pair {
                        (Some(own), Some(other)) => aligned.pairs[own].push(other),
                        (own, other) => {
                            rest.extend(own);
                            their_rest.extend(other);
                        }
                    }
                }
            }
            if groups.len() < 2 {
                aligned.theirs.extend(their_rest);
                continue;
            }
            // An entry without a partner at its line may have one elsewhere.
            rest.sort_by_key(|&at| (ours[at].start, at));
            their_rest.sort_unstable();
            for pair in partners(&rest, &their_rest, ALONE, differs) {
                match pair {
                    (Some(own), Some(other)) => aligned.pairs[own].push(other),
                    (None, Some(other)) => aligned.theirs.push(other),
                    (Some(_) | None, None) => {}
                }
            }
        }
    }
    Ok(aligned)
}

/// Commands by the place in the author's text that begins them: ours, and theirs.
type Places<'a> = BTreeMap<Option<(&'a str, usize)>, (Vec<usize>, Vec<usize>)>;

/// Both sides by their positions: theirs specify it, and ours are the commands that end at its line or below, before
/// the next one begins. Commands without a position are together.
fn at_places<'a>(ours: &[Ours], foreign: &'a Foreign, own: Vec<usize>, other: Vec<usize>) -> Places<'a> {
    let mut places = Places::new();
    for at in other {
        places.entry(foreign.entries[at].place()).or_default().1.push(at);
    }
    for at in own {
        let begins = ours[at].place.as_ref().and_then(|(file, line)| {
            let all = places.keys().flatten().filter(|(of, from)| of == file && from <= line);
            all.max_by_key(|(_, from)| *from).copied()
        });
        places.entry(begins).or_default().0.push(at);
    }
    places
}

/// Ratio of the durations of a pair, as a logarithm.
fn differ(own: &Ours, other: &Entry) -> f64 {
    (own.time().max(1) as f64 / other.time().max(1) as f64).ln().abs()
}

/// The cheapest alignment of two sequences.
fn partners(
    own: &[usize],
    other: &[usize],
    alone: f64,
    differs: impl Fn(usize, usize) -> f64,
) -> Vec<(Option<usize>, Option<usize>)> {
    let width = other.len() + 1;
    let mut costs = vec![0.0_f64; (own.len() + 1) * width];
    for row in 0..=own.len() {
        for column in 0..width {
            let skipped = |at: usize| costs[at] + alone;
            let mut ways = Vec::with_capacity(3);
            if row > 0 && column > 0 {
                let pair = differs(own[row - 1], other[column - 1]);
                ways.push(costs[(row - 1) * width + column - 1] + pair);
            }
            if row > 0 {
                ways.push(skipped((row - 1) * width + column));
            }
            if column > 0 {
                ways.push(skipped(row * width + column - 1));
            }
            if let Some(least) = ways.into_iter().reduce(f64::min) {
                costs[row * width + column] = least;
            }
        }
    }
    let (mut row, mut column) = (own.len(), other.len());
    let mut found = Vec::new();
    while row > 0 || column > 0 {
        let here = costs[row * width + column];
        let near = |cost: f64| (cost - here).abs() < 1e-9;
        let paired = row > 0
            && column > 0
            && near(costs[(row - 1) * width + column - 1] + differs(own[row - 1], other[column - 1]));
        if paired {
            (row, column) = (row - 1, column - 1);
            found.push((Some(own[row]), Some(other[column])));
        } else if row > 0 && near(costs[(row - 1) * width + column] + alone) {
            row -= 1;
            found.push((Some(own[row]), None));
        } else {
            column -= 1;
            found.push((None, Some(other[column])));
        }
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use visa_cost::TimeUnit;

    fn ours(times: &[u64]) -> Vec<Ours> {
        let mut start = 0;
        let each = times.iter().enumerate().map(|(command, &time)| {
            let own = Ours {
                name: None,
                run: 0,
                command,
                kind: Kind::Dma,
                clusters: Vec::new(),
                start,
                end: start + time,
                place: None,
            };
            start += time;
            own
        });
        each.collect()
    }

    fn theirs(times: &[u64]) -> Foreign {
        let mut begin = 0;
        let each = times.iter().map(|&time| {
            let end = begin + time;
            let entry = Entry { cluster: None, kind: Kind::Dma, begin, end, name: String::new() };
            begin = end;
            entry
        });
        let entries = each.collect();
        Foreign { what: "a test", unit: TimeUnit::Cycle, entries, makespan: begin, warnings: Vec::new() }
    }

    /// They have a table's load that we lack, and lack a store that we have.
    #[test]
    fn what_one_side_lacks_shifts_nothing() {
        let found =
            align(&ours(&[100, 5000, 90, 4000, 300]), &theirs(&[110, 5100, 838, 95, 4100])).expect("aligned");
        assert_eq!(found.pairs, [vec![0], vec![1], vec![3], vec![4], vec![]]);
        assert_eq!(found.theirs, [2]);
    }

    /// They run the command of line 20 first; ours ends in line 22, the other one in line 12.
    #[test]
    fn lines_find_what_was_moved() {
        let mut own = ours(&[100, 400]);
        own[0].place = Some(("a.rs".to_owned(), 12));
        own[1].place = Some(("a.rs".to_owned(), 22));
        let mut foreign = theirs(&[410, 105]);
        foreign.entries[0].name = "a.rs:20:5".to_owned();
        foreign.entries[1].name = "a.rs:10:5".to_owned();
        assert_eq!(align(&own, &foreign).expect("aligned").pairs, [vec![1], vec![0]]);
        // By their order alone the short one would have the long one: one of the two is left out.
        own.iter_mut().for_each(|own| own.place = None);
        assert_eq!(align(&own, &foreign).expect("aligned").pairs, [vec![], vec![0]]);
    }

    #[test]
    fn clusters_are_aligned_each_by_itself() {
        let mut foreign = theirs(&[100, 50, 100]);
        for (entry, cluster) in foreign.entries.iter_mut().zip([0, 1, 1]) {
            entry.cluster = Some(cluster);
        }
        let mut own = ours(&[50, 100]);
        own[0].clusters = vec![1];
        let found = align(&own, &foreign).expect("aligned");
        assert_eq!((found.pairs, found.theirs), (vec![vec![1], vec![0, 2]], vec![]));
    }
}
