//! How a crate is stacked: in each of its folders, what is imported is below, but for a few imports.
//!
//! A *room* of a folder is a file or a folder in it, with all that is inside; an *arrow* leads from a room to one that it
//! imports. Rooms stand in the order with the fewest *upward* arrows; a room's *floor* is one above the highest room
//! that it imports downward.

#![expect(clippy::print_stdout, reason = "the figures of docs/rationale/layout.md")]

use crate::imports::{Names, arrows, from_the_root, sources};
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use std::collections::{BTreeMap, BTreeSet};

/// Most floors of a folder.
const FLOORS: usize = 9;
/// Most upward arrows in a folder.
const UPWARD: usize = 4;

/// Folders above a goal, with their floors and upward arrows. They may shrink, and are then corrected here.
const ABOVE: &[(&str, usize, usize)] = &[
    ("dialects/ir", 12, 15),
    ("dialects/stream", 9, 8),
    ("passes/select", 8, 6),
    ("runtime/cost", 13, 0),
    ("tools/visa-import", 15, 13),
];

/// The arrows between the rooms of the folder `at`. The file of the folder's own module is a room named `mod`.
fn rooms(arrows: &BTreeSet<(Names, Names)>, at: &[String]) -> BTreeSet<(String, String)> {
    let room = |file: &Names| {
        file.strip_prefix(at).map(|rest| rest.first().map_or("mod", String::as_str).to_owned())
    };
    let between = arrows.iter().filter_map(|(from, to)| Some((room(from)?, room(to)?)));
    between.filter(|(from, to)| from != to).collect()
}

/// The order of a circle's rooms, lowest first, that has the fewest arrows up: by dynamic programming over the sets of
/// rooms that are below.
fn order<'a>(circle: &[&'a str], graph: &DiGraphMap<&'a str, ()>) -> Vec<&'a str> {
    let n = circle.len();
    assert!(n <= 20, "{n} files or folders import each other: {circle:?}");
    let imports: Vec<u32> = circle
        .iter()
        .map(|from| (0..n).filter(|&to| graph.contains_edge(from, circle[to])).map(|to| 1 << to).sum())
        .collect();
    let mut best = vec![(u32::MAX, 0); 1 << n];
    best[0] = (0, 0);
    for below in 0..(1_u32 << n) {
        let (cost, _) = best[below as usize];
        for next in (0..n).filter(|next| below & 1 << next == 0) {
            let up = (0..n).filter(|&room| below & 1 << room != 0 && imports[room] & 1 << next != 0).count();
            let with = (below | 1 << next) as usize;
            best[with] = best[with].min((cost + up as u32, next));
        }
    }
    let mut left = (1_usize << n) - 1;
    let mut order = Vec::new();
    while left != 0 {
        let (_, top) = best[left];
        order.push(circle[top]);
        left &= !(1 << top);
    }
    order.reverse();
    order
}

/// Floors and upward arrows of a folder.
fn stacked(arrows: &BTreeSet<(String, String)>) -> (usize, usize) {
    let graph =
        DiGraphMap::<&str, ()>::from_edges(arrows.iter().map(|(from, to)| (from.as_str(), to.as_str())));
    // What is imported comes first.
    let order: Vec<&str> = tarjan_scc(&graph).iter().flat_map(|circle| order(circle, &graph)).collect();
    let mut floors = BTreeMap::new();
    let mut upward = 0;
    for &room in &order {
        let mut floor = 1;
        for to in graph.neighbors(room) {
            match floors.get(to) {
                Some(below) => floor = floor.max(below + 1),
                None => upward += 1,
            }
        }
        floors.insert(room, floor);
    }
    (floors.into_values().max().unwrap_or(1), upward)
}

/// Every folder of a crate that has folders or files in it, the crate itself first.
fn folders(arrows: &BTreeSet<(Names, Names)>) -> BTreeSet<Names> {
    let parents = |file: &Names| (0..file.len()).map(|end| file[..end].to_vec()).collect::<Vec<_>>();
    arrows.iter().flat_map(|(from, to)| [parents(from), parents(to)]).flatten().collect()
}

#[test]
fn crates_have_few_floors_and_few_imports_upward() {
    let mut found = BTreeMap::new();
    let mut all = Vec::new();
    for (name, src) in sources() {
        let arrows = arrows(&src);
        for folder in folders(&arrows) {
            let (floors, upward) = stacked(&rooms(&arrows, &folder));
            let path = [name.clone()].into_iter().chain(folder).collect::<Vec<_>>().join("/");
            all.push(format!("{path}: {floors} floors, {upward} upward"));
            if floors > FLOORS || upward > UPWARD {
                found.insert(path, (floors, upward));
            }
        }
    }
    println!("{}", all.join("\n"));
    let known: BTreeMap<_, _> =
        ABOVE.iter().map(|&(path, floors, upward)| (path.to_owned(), (floors, upward))).collect();
    assert_eq!(
        found, known,
        "folders above {FLOORS} floors or {UPWARD} upward arrows (left: found, right: listed)"
    );
    assert!(all.iter().any(|line| line.starts_with("dialects/algebra: ")), "{all:#?}");
}

#[test]
fn items_are_taken_from_the_file_that_defines_them() {
    let hubs: Vec<String> = sources()
        .iter()
        .flat_map(|(name, src)| from_the_root(src).into_iter().map(move |of| format!("{name}/{of}")))
        .collect();
    assert!(hubs.is_empty(), "{hubs:#?}\nwrite the module in the path: `crate::module::Item`");
}

#[test]
fn floors_and_upward_arrows_are_counted() {
    let arrows =
        |list: &[(&str, &str)]| list.iter().map(|&(from, to)| (from.to_owned(), to.to_owned())).collect();
    assert_eq!(stacked(&arrows(&[])), (1, 0));
    assert_eq!(stacked(&arrows(&[("c", "b"), ("b", "a"), ("c", "a")])), (3, 0));
    // Of the circle a b c, one arrow up is left, whichever order is taken.
    assert_eq!(stacked(&arrows(&[("c", "b"), ("b", "a"), ("a", "c"), ("d", "c")])).1, 1);
    // b and c both import a and the other way round: two up.
    assert_eq!(stacked(&arrows(&[("b", "a"), ("a", "b"), ("c", "a"), ("a", "c")])), (2, 2));
    let files = |list: &[(&str, &str)]| {
        let names = |path: &str| path.split('/').map(str::to_owned).collect::<Names>();
        list.iter().map(|&(from, to)| (names(from), names(to))).collect::<BTreeSet<_>>()
    };
    let files = files(&[("x/one", "x/two"), ("x/one", "y/three"), ("x", "x/one"), ("y/three", "x/two")]);
    assert_eq!(rooms(&files, &[]), arrows(&[("x", "y"), ("y", "x")]));
    assert_eq!(rooms(&files, &["x".to_owned()]), arrows(&[("one", "two"), ("mod", "one")]));
}
