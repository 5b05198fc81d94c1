//! The cheapest pipeline of an e-graph, exactly. Cycles of a pipeline are not the sum over its engines (the busiest
//! counts), so a class keeps every way that may still become the cheapest, with any following engines: its Pareto
//! front.

use crate::config::graph::{Graph, Step};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use visa_cost::PipelineTime;

/// A pipeline up to some value.
#[derive(Clone, Debug)]
pub struct Way {
    /// Its time.
    pub time: PipelineTime,
    /// Characters of its text: of equal times the shorter is the better one, of equal lengths the first by bytes.
    pub text: String,
    /// Class and step of each operation, first to last.
    pub path: Vec<(usize, usize)>,
}

impl Way {
    /// Cheaper first: cycles, then cycles of all engines, then size. A total order: nothing depends on how the
    /// e-graph grew.
    pub fn compare(&self, other: &Self) -> Ordering {
        let size = |way: &Self| way.text.len();
        self.time.cmp(&other.time).then(size(self).cmp(&size(other))).then_with(|| self.text.cmp(&other.text))
    }

    fn dominates(&self, other: &Self) -> bool {
        let shorter = (self.text.len(), &self.text) <= (other.text.len(), &other.text);
        self.time.dominates(other.time) && (self.time != other.time || shorter)
    }

    /// The operations of the way.
    pub fn steps<'g>(&self, graph: &'g Graph) -> Vec<&'g Step> {
        self.path.iter().map(|&(class, step)| &graph.classes[class].steps[step]).collect()
    }
}

/// The front of every class.
fn fronts(graph: &Graph) -> Vec<Vec<Way>> {
    let mut fronts: Vec<Vec<Way>> = vec![Vec::new(); graph.classes.len()];
    let mut order: Vec<usize> = (0..graph.classes.len()).collect();
    order.sort_by_key(|&class| graph.classes[class].stage);
    for number in order {
        let mut front: Vec<Way> = Vec::new();
        for (at, step) in graph.classes[number].steps.iter().enumerate() {
            let start = [Way { time: PipelineTime::default(), text: String::new(), path: Vec::new() }];
            let before = step.source.map_or(&start[..], |source| &fronts[source]);
            for way in before {
                let mut path = way.path.clone();
                path.push((number, at));
                let text = format!("{}\n{}", way.text, step.head);
                insert(&mut front, Way { time: way.time.join(step.time), text, path });
            }
        }
        fronts[number] = front;
    }
    fronts
}

fn insert(front: &mut Vec<Way>, way: Way) {
    if front.iter().any(|known| known.dominates(&way)) {
        return;
    }
    front.retain(|known| !way.dominates(known));
    front.push(way);
}

/// The result of an extraction.
#[derive(Clone, Debug)]
pub(crate) struct Extraction {
    /// The cheapest way to the end of the pipeline.
    pub best: Way,
    /// The most expensive way on the front of the same tensor.
    pub peer: Way,
    /// Cycles of the most expensive way on the front of any tensor at the end.
    pub most_expensive: u64,
    /// The cheapest way to each tensor that the pipeline can end in, cheapest first.
    pub ends: Vec<Way>,
}

/// The cheapest way to the end of a pipeline of `stages` operations, with its measures. `after` returns the cycles
/// that a tensor at the pipeline's end takes afterwards.
pub(crate) fn extract(
    graph: &Graph,
    stages: usize,
    after: &dyn Fn(usize) -> Option<u64>,
) -> Option<Extraction> {
    let fronts = fronts(graph);
    let ways = || graph.ends(stages).flat_map(|class| fronts[class].iter());
    // Where one of them is not known, nothing is stated about the others.
    let known: Option<BTreeMap<usize, u64>> =
        graph.ends(stages).map(|class| Some((class, after(class)?))).collect();
    let later = |way: &Way| way.path.last().and_then(|(class, _)| known.as_ref()?.get(class)).copied();
    let whole = |way: &Way| later(way).map(|later| later.saturating_add(way.time.cycles()));
    let best = ways()
        .min_by(|left, right| whole(left).cmp(&whole(right)).then_with(|| left.compare(right)))?
        .clone();
    let peers = fronts[best.path.last()?.0].iter();
    let peer = peers.max_by(|left, right| left.compare(right))?.clone();
    let least = |class: usize| fronts[class].iter().min_by(|left, right| left.compare(right)).cloned();
    let mut ends: Vec<Way> = graph.ends(stages).filter_map(least).collect();
    ends.sort_by(Way::compare);
    Some(Extraction { best, peer, most_expensive: ways().map(|way| way.time.cycles()).max()?, ends })
}
