use super::super::foreign::{Entry, Kind};
use super::*;
use std::collections::BTreeMap;
use visa_cost::{Resource, TimeUnit};

/// Runs of one queue, one after the other.
fn ours(times: &[u64]) -> Vec<Ours> {
    let mut start = 0;
    let each = times.iter().enumerate().map(|(command, &time)| {
        let own = Ours {
            name: None,
            run: command,
            command,
            kind: Kind::Dma,
            queue: Resource::Dma,
            clusters: None,
            plain: false,
            sources: Vec::new(),
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
        let entry = Entry { cluster: None, kind: Kind::Dma, begin, end, name: String::new(), synced: false };
        begin = end;
        entry
    });
    let entries = each.collect();
    let (starts, warnings) = (BTreeMap::new(), Vec::new());
    Foreign { what: "a test", unit: TimeUnit::Cycle, entries, starts, makespan: begin, warnings }
}

/// The entries of each run, and those of none.
fn found(ours: &[Ours], foreign: &Foreign) -> (Vec<Vec<usize>>, Vec<usize>) {
    let found = align(ours, foreign).expect("aligned");
    let entries = |partners: &Vec<Partner>| partners.iter().map(|partner| partner.entry).collect();
    (found.pairs.iter().map(entries).collect(), found.theirs)
}

/// They have a table's load that we lack, and lack a store that we have.
#[test]
fn what_one_side_lacks_shifts_nothing() {
    let mut own = ours(&[100, 5000, 90, 4000, 300]);
    own[1].sources = vec![0];
    own[3].sources = vec![1, 2];
    own[4].sources = vec![3];
    let found = found(&own, &theirs(&[110, 5100, 838, 95, 4100]));
    assert_eq!(found, (vec![vec![0], vec![1], vec![3], vec![4], vec![]], vec![2]));
}

/// Of runs with equal times the order decides.
#[test]
fn equal_times_are_in_order_and_less_sure() {
    let own = ours(&[100, 100, 100]);
    let all = align(&own, &theirs(&[100, 100, 100])).expect("aligned");
    let pairs: Vec<(usize, usize)> =
        all.pairs.iter().enumerate().map(|(run, partners)| (run, partners[0].entry)).collect();
    assert_eq!(pairs, [(0, 0), (1, 1), (2, 2)]);
    // Runs a, b, c: the order abc breaks nothing, cba three times, and the others twice; cab counts three times, as
    // its set of a and c continues like acb. The middle one is b in abc and cba:
    // (1 + exp(-1.5)) / (1 + 3 exp(-1) + 2 exp(-1.5)) = 0.480.
    let sure = all.pairs[1][0].sure;
    assert!((sure - 0.480).abs() < 0.005, "{sure}");
    let different = align(&ours(&[100, 1000]), &theirs(&[100, 1000])).expect("aligned");
    assert!(different.pairs[0][0].sure > 0.98, "{}", different.pairs[0][0].sure);
}

/// They load the second run's source first. By their order the first entry would be run 0, whose time is nearer.
#[test]
fn a_run_follows_what_it_reads() {
    let mut own = ours(&[100, 101, 400, 420]);
    (own[2].queue, own[3].queue) = (Resource::Main, Resource::Main);
    (own[2].kind, own[3].kind) = (Kind::Pass, Kind::Pass);
    own[2].sources = vec![1];
    own[3].sources = vec![0, 2];
    let mut foreign = theirs(&[100, 400, 101, 420]);
    for at in [1, 3] {
        foreign.entries[at].kind = Kind::Pass;
    }
    assert_eq!(found(&own, &foreign).0, [vec![2], vec![0], vec![1], vec![3]]);
    // Without the sources the order decides.
    own.iter_mut().for_each(|own| own.sources.clear());
    assert_eq!(found(&own, &foreign).0, [vec![0], vec![2], vec![1], vec![3]]);
}

/// They run the command of line 20 first; ours ends in line 22, the other one in line 12.
#[test]
fn lines_find_what_was_moved() {
    let mut own = ours(&[100, 110]);
    own[0].place = Some(("a.rs".to_owned(), 12));
    own[1].place = Some(("a.rs".to_owned(), 22));
    let mut foreign = theirs(&[100, 110]);
    foreign.entries[0].name = "a.rs:20:5".to_owned();
    foreign.entries[1].name = "a.rs:10:5".to_owned();
    assert_eq!(found(&own, &foreign).0, [vec![1], vec![0]]);
    // By their times and order they are the other way round.
    own.iter_mut().for_each(|own| own.place = None);
    assert_eq!(found(&own, &foreign).0, [vec![0], vec![1]]);
}

/// In a trace a load that converts is a pass, and a plain one is not; a schedule names the register file.
#[test]
fn loads_that_convert_are_passes_of_a_trace() {
    let mut own = ours(&[100, 100]);
    for own in &mut own {
        (own.kind, own.queue) = (Kind::Vrf, Resource::Sub);
    }
    own[1].plain = true;
    let mut foreign = theirs(&[100, 100]);
    (foreign.entries[0].kind, foreign.entries[1].kind) = (Kind::Vrf, Kind::Pass);
    foreign.unit = TimeUnit::Tick;
    assert_eq!(found(&own, &foreign).0, [vec![1], vec![0]]);
    foreign.unit = TimeUnit::Cycle;
    assert_eq!(found(&own, &foreign), (vec![vec![0], vec![]], vec![1]));
}

/// Runs of equal length, of which the second moves nothing in cluster 0.
#[test]
fn idle_clusters_tell_transfers_apart() {
    let mut foreign = theirs(&[170, 2900, 2900, 3000]);
    for (entry, cluster) in foreign.entries.iter_mut().zip([0, 0, 1, 1]) {
        entry.cluster = Some(cluster);
    }
    let mut own = ours(&[3000, 3000]);
    own[0].clusters = Some(0..2);
    own[1].clusters = Some(1..2);
    assert_eq!(found(&own, &foreign).0, [[1, 3], [0, 2]]);
    // Of 251 ticks it moves something, for which 170 are too few: neither is idle, and the order decides.
    own[0].clusters = Some(0..2);
    own[1].clusters = Some(0..2);
    foreign.entries[0].end += 81;
    assert_eq!(found(&own, &foreign).0, [[0, 2], [1, 3]]);
}

/// The log of cluster 1 lacks the second command, and that of cluster 0 nothing.
#[test]
fn a_cluster_may_lack_a_command() {
    let mut foreign = theirs(&[1000, 300, 500, 1010, 505]);
    for (entry, cluster) in foreign.entries.iter_mut().zip([0, 0, 0, 1, 1]) {
        entry.cluster = Some(cluster);
    }
    let own = ours(&[1000, 300, 500]);
    assert_eq!(found(&own, &foreign), (vec![vec![0, 3], vec![1], vec![2, 4]], vec![]));
}

#[test]
fn too_many_are_refused() {
    let times = vec![10; MOST + 1];
    let why = align(&ours(&[10]), &theirs(&times)).expect_err("refused");
    assert!(why.starts_with("1 commands and 20001 of a test are too many to align"), "{why}");
    assert!(align(&ours(&[10; 30]), &theirs(&[10; 30])).is_ok());
}
