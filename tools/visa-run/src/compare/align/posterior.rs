//! Probabilities of pairs among all assignments of a search, forward and backward over its layers.

use std::collections::BTreeMap;

use super::beam::{Edge, Layers};

/// For each command of theirs, the probability of each run of ours that it may be, and of none.
pub(super) type Marginals = Vec<BTreeMap<Option<usize>, f64>>;

/// The probabilities.
pub(super) fn marginals(layers: &Layers) -> Marginals {
    let forward = forward(layers);
    let mut backward = weights(&layers.rest);
    let mut all = vec![BTreeMap::new(); layers.edges.len()];
    for (place, edges) in layers.edges.iter().enumerate().rev() {
        let through = |edge: &Edge| forward[place][edge.from] * (-edge.cost).exp() * backward[edge.to];
        let sum: f64 = edges.iter().map(through).sum();
        for edge in edges.iter().filter(|_| sum > 0.0) {
            *all[place].entry(edge.run).or_default() += through(edge) / sum;
        }
        let mut before = vec![0.0; forward[place].len()];
        for edge in edges {
            before[edge.from] += (-edge.cost).exp() * backward[edge.to];
        }
        backward = scaled(before);
    }
    all
}

/// The weight of the nodes before each command, of all ways to them.
fn forward(layers: &Layers) -> Vec<Vec<f64>> {
    let mut all = vec![vec![1.0]];
    for edges in &layers.edges {
        let nodes = edges.iter().map(|edge| edge.to + 1).max().unwrap_or_default();
        let mut next = vec![0.0; nodes];
        if let Some(before) = all.last() {
            edges.iter().for_each(|edge| next[edge.to] += before[edge.from] * (-edge.cost).exp());
        }
        all.push(scaled(next));
    }
    all
}

/// Weights of costs, the greatest 1.
fn weights(costs: &[f64]) -> Vec<f64> {
    let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
    costs.iter().map(|cost| (least - cost).exp()).collect()
}

/// The same weights with 1 as the greatest, so that none of many layers is lost.
fn scaled(weights: Vec<f64>) -> Vec<f64> {
    let most = weights.iter().copied().fold(0.0, f64::max);
    if most > 0.0 { weights.into_iter().map(|weight| weight / most).collect() } else { weights }
}
