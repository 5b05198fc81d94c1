//! The entries of all clusters that are one command.

use crate::compare::foreign::{Foreign, Kind};

/// Their commands, each with its entries, one a cluster at most, in the order of their begins.
pub(super) fn commands(foreign: &Foreign, clusters: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = Vec::new();
    for kind in Kind::ALL {
        let of_kind = |entries: &Vec<usize>| -> Vec<usize> {
            entries.iter().copied().filter(|&at| foreign.entries[at].kind == kind).collect()
        };
        let mut each: Vec<Vec<usize>> = clusters.iter().map(of_kind).collect();
        // The longest one has all commands.
        let Some(longest) = (0..each.len()).max_by_key(|&at| (each[at].len(), usize::MAX - at)) else {
            break;
        };
        let mut commands: Vec<Vec<usize>> =
            std::mem::take(&mut each[longest]).into_iter().map(|entry| vec![entry]).collect();
        for other in each {
            let places = nearest(foreign, &commands, &other);
            for (place, entry) in places.into_iter().zip(other) {
                commands[place].push(entry);
            }
        }
        commands.iter_mut().for_each(|entries| entries.sort_unstable());
        all.extend(commands);
    }
    let main = clusters.iter().max_by_key(|entries| entries.len()).and_then(|entries| entries.first());
    let main = main.and_then(|&entry| foreign.entries[entry].cluster);
    let begins: Vec<u64> = all.iter().map(|entries| begin(foreign, &all, entries, main)).collect();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|&at| (begins[at], all[at][0]));
    order.into_iter().map(|at| std::mem::take(&mut all[at])).collect()
}

/// The begin of a command on the cluster that has the most. If it has no entry there, it is as far behind the command
/// before it as on its cluster.
fn begin(foreign: &Foreign, all: &[Vec<usize>], entries: &[usize], main: Option<u64>) -> u64 {
    let on = |entries: &[usize], cluster: Option<u64>| {
        entries
            .iter()
            .find(|&&entry| foreign.entries[entry].cluster == cluster)
            .map(|&at| foreign.since_start(at))
    };
    if let Some(begin) = on(entries, main) {
        return begin;
    }
    let (cluster, own) = (foreign.entries[entries[0]].cluster, foreign.since_start(entries[0]));
    let both = all.iter().filter_map(|other| Some((on(other, cluster)?, on(other, main)?)));
    let before = both.filter(|(there, _)| *there <= own).max();
    before.map_or(own, |(there, here)| here + (own - there))
}

/// Ticks between the begins of a command on two clusters that count as much as a time that differs e times.
const APART: f64 = 4000.0;

/// For each of `other`, the place of the command that it is: in order, with the least sum of differences.
fn nearest(foreign: &Foreign, commands: &[Vec<usize>], other: &[usize]) -> Vec<usize> {
    let most = commands.len() - other.len();
    let width = most + 1;
    // The least sum up to each of `other`, by the number of commands that are left out before it; and that number for
    // the one before it.
    let mut best: Vec<(f64, usize)> = Vec::with_capacity(other.len() * width);
    for (row, &entry) in other.iter().enumerate() {
        let mut least = (f64::INFINITY, 0);
        for left_out in 0..width {
            let before = if row == 0 { 0.0 } else { best[(row - 1) * width + left_out].0 };
            if before < least.0 {
                least = (before, left_out);
            }
            best.push((least.0 + differ(foreign, commands[row + left_out][0], entry), least.1));
        }
    }
    let Some(last) = other.len().checked_sub(1) else { return Vec::new() };
    let sum = |left_out: usize| best[last * width + left_out].0;
    let mut left_out = (0..width).min_by(|&own, &other| sum(own).total_cmp(&sum(other))).unwrap_or_default();
    let mut places = vec![0; other.len()];
    for row in (0..other.len()).rev() {
        places[row] = row + left_out;
        left_out = best[row * width + left_out].1;
    }
    places
}

/// Difference of two entries of different clusters: of their times, of which one may have a wait, and of their begins.
fn differ(foreign: &Foreign, own: usize, other: usize) -> f64 {
    let time = |at: usize| foreign.entries[at].time().max(1) as f64;
    let begins = foreign.since_start(own).abs_diff(foreign.since_start(other)) as f64;
    (time(own) / time(other)).ln().abs().min(1.0) + (begins / APART).min(1.0)
}
