//! The search: a beam over sets of our runs that have a partner, one layer for each command of theirs.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use visa_cost::Resource;

use super::likely::{ALONE, Sides};

/// Sets that a layer keeps.
const WIDTH: usize = 64;

/// Runs that are tried for each command of theirs, the first of its kind in our order.
const WINDOW: usize = 24;

/// All layers: their nodes by costs, and the edges between them.
pub(super) struct Layers {
    /// For each command of theirs, the edges that end at its layer.
    pub(super) edges: Vec<Vec<Edge>>,
    /// Costs of the runs without a partner, for each node of the last layer.
    pub(super) rest: Vec<f64>,
    /// The run of each command in the likeliest assignment.
    best: Vec<Option<usize>>,
}

/// A command of theirs, taken for a run of ours or for none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// The node of the layer before.
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) run: Option<usize>,
    pub(super) cost: f64,
}

/// A set of runs that have a partner, with the state of the likeliest way to it.
#[derive(Clone, Default)]
struct Node {
    /// A bit for each run: it has a partner, or will have none.
    done: Vec<u64>,
    /// Hash of `done`, the same in any order of runs.
    key: u64,
    /// The last run of each queue.
    last: BTreeMap<Resource, usize>,
    /// Runs whose results are still to be read: the number of their command, and of their readers.
    sources: BTreeMap<usize, (usize, usize)>,
    cost: f64,
    /// Number of the edge that the likeliest way takes to it.
    by: usize,
}

impl Node {
    fn has(&self, run: usize) -> bool {
        self.done[run / 64] >> (run % 64) & 1 == 1
    }

    /// Runs without a partner, in our order.
    fn open(&self) -> impl Iterator<Item = usize> + '_ {
        let words = self.done.iter().enumerate().filter(|(_, word)| **word != u64::MAX);
        words.flat_map(|(at, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 0).map(move |bit| 64 * at + bit)
        })
    }

    /// The node after command `number` of theirs. Runs that it reads, and that had no partner so far, `lack` one.
    fn after(&self, sides: &Sides<'_>, number: usize, run: usize, lack: &[usize]) -> Self {
        let mut next = self.clone();
        for &done in lack.iter().chain([&run]) {
            next.done[done / 64] |= 1 << (done % 64);
            next.key ^= key(done);
        }
        next.last.insert(sides.ours[run].queue, run);
        for source in &sides.ours[run].sources {
            if let Some((_, readers)) = next.sources.get_mut(source) {
                *readers -= 1;
                if *readers == 0 {
                    next.sources.remove(source);
                }
            }
        }
        if sides.readers[run] > 0 {
            next.sources.insert(run, (number, sides.readers[run]));
        }
        next
    }

    /// Runs without a partner whose results lead to `run`.
    fn lacked(&self, sides: &Sides<'_>, run: usize) -> Vec<usize> {
        let (mut found, mut open) = (Vec::new(), vec![run]);
        while let Some(run) = open.pop() {
            for &source in &sides.ours[run].sources {
                if !self.has(source) && !found.contains(&source) {
                    found.push(source);
                    open.push(source);
                }
            }
        }
        found
    }
}

fn key(run: usize) -> u64 {
    let mut hasher = DefaultHasher::new();
    run.hash(&mut hasher);
    hasher.finish()
}

/// A way to a node of the next layer, with the costs of the whole way, and the runs that lack a partner with it.
struct Way {
    total: f64,
    edge: Edge,
    lack: Vec<usize>,
}

/// Assigns commands of theirs, in their order; each has an entry for each cluster.
pub(super) fn search(sides: &Sides<'_>, commands: &[Vec<usize>]) -> Layers {
    let runs = sides.ours.len();
    // Bits behind the last run count as done.
    let mut done = vec![0_u64; runs.div_ceil(64)];
    if let Some(last) = done.last_mut().filter(|_| !runs.is_multiple_of(64)) {
        *last = u64::MAX << (runs % 64);
    }
    let mut layer = vec![Node { done, ..Node::default() }];
    let mut edges = Vec::with_capacity(commands.len());
    let mut ways = Vec::with_capacity(commands.len());
    for number in 0..commands.len() {
        let (next, into) = step(sides, &layer, commands, number);
        ways.push(next.iter().map(|node| node.by).collect::<Vec<_>>());
        edges.push(into);
        layer = next;
    }
    let alone = |node: &Node| node.open().count() as f64 * ALONE;
    let rest: Vec<f64> = layer.iter().map(alone).collect();
    let total = |at: usize| layer[at].cost + rest[at];
    let mut at =
        (0..layer.len()).min_by(|&own, &other| total(own).total_cmp(&total(other))).unwrap_or_default();
    let mut best = vec![None; commands.len()];
    for place in (0..commands.len()).rev() {
        let edge: Edge = edges[place][ways[place][at]];
        best[place] = edge.run;
        at = edge.from;
    }
    Layers { edges, rest, best }
}

/// The next layer, and the edges to it.
fn step(sides: &Sides<'_>, layer: &[Node], commands: &[Vec<usize>], number: usize) -> (Vec<Node>, Vec<Edge>) {
    let all = layer.iter().enumerate().flat_map(|(from, node)| ways(sides, (from, node), commands, number));
    let mut ways: Vec<Way> = all.collect();
    ways.sort_by(|own, other| own.total.total_cmp(&other.total));
    let mut numbers: BTreeMap<u64, usize> = BTreeMap::new();
    let (mut next, mut edges) = (Vec::<Node>::with_capacity(WIDTH), Vec::new());
    for Way { total, edge, lack } in ways {
        let from = &layer[edge.from];
        let done = lack.iter().copied().chain(edge.run);
        let key = done.fold(from.key, |sum, run| sum ^ key(run));
        let to = match numbers.get(&key) {
            Some(&to) => to,
            None if next.len() < WIDTH => {
                let node = edge.run.map_or_else(|| from.clone(), |run| from.after(sides, number, run, &lack));
                next.push(Node { cost: total, by: edges.len(), ..node });
                numbers.insert(key, next.len() - 1);
                next.len() - 1
            }
            None => continue,
        };
        edges.push(Edge { to, ..edge });
    }
    (next, edges)
}

/// The ways from a node: the command is none of ours, or one of the first that it may be.
fn ways(sides: &Sides<'_>, (from, node): (usize, &Node), commands: &[Vec<usize>], number: usize) -> Vec<Way> {
    let way = |run: Option<usize>, cost: f64, lack: Vec<usize>| Way {
        total: node.cost + cost,
        edge: Edge { from, to: 0, run, cost },
        lack,
    };
    let entries = &commands[number];
    let may_be = node.open().filter_map(|run| Some((run, sides.pair(run, entries)?)));
    let pairs = may_be.take(WINDOW).map(|(run, cost)| {
        let begun = sides.ours[run].sources.iter().filter_map(|source| node.sources.get(source));
        let dataflow = sides.dataflow(entries, begun.map(|&(number, _)| &*commands[number]));
        let last = node.last.get(&sides.ours[run].queue).copied();
        let order = sides.order(run, last, |other| node.has(other));
        let lack = node.lacked(sides, run);
        way(Some(run), cost + dataflow + order + lack.len() as f64 * ALONE, lack)
    });
    std::iter::once(way(None, ALONE, Vec::new())).chain(pairs).collect()
}

impl Layers {
    /// The run of each command in the likeliest assignment.
    pub(super) fn best(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        self.best.iter().copied()
    }
}
