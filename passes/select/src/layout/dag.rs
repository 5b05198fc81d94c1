//! Exact extraction from candidates that share tensors: one candidate for each pipeline, such that every reader of a
//! tensor takes the layout in which it is made, at the least total cost. A cheapest tree for each pipeline would count
//! a tensor once for each reader, and two readers could require two layouts of it.
//!
//! The method is variable elimination (nonserial dynamic programming). A variable is the layout that a pipeline makes;
//! a table holds the least cost for each combination of the layouts in its scope. A pipeline has few layouts and few
//! readers, so the tables stay small.

use std::collections::BTreeMap;

/// A candidate of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// The pipeline, called the maker: exactly one of its candidates is chosen.
    pub maker: usize,
    /// The layout that it makes, numbered for each maker.
    pub value: usize,
    /// Maker and layout of each tensor that it reads. All candidates of a maker read from the same makers.
    pub takes: Vec<(usize, usize)>,
    /// Its cost in cycles.
    pub cost: u64,
}

/// Most rows of a table; the costlier ones are dropped.
const MOST_ROWS: usize = 1 << 16;

/// The chosen candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extraction {
    /// The number of the chosen node, by maker.
    pub nodes: Vec<usize>,
    /// True if a table exceeded its limit, so that a cheaper choice may exist.
    pub bounded: bool,
}

/// The least cost of a combination of layouts, and the nodes that attain it: a number by maker.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Best {
    cost: u64,
    nodes: BTreeMap<usize, usize>,
}

/// The best nodes for each combination of the layouts of some makers.
struct Table {
    /// The makers, ascending.
    scope: Vec<usize>,
    /// By the layout of each maker in the scope.
    rows: BTreeMap<Vec<usize>, Best>,
}

/// Chooses one node for each maker, at the least total cost; of equal costs, the nodes of least numbers. `None` if no
/// choice gives every reader the layout that it takes.
#[must_use]
pub(crate) fn extract(nodes: &[Node], makers: usize) -> Option<Extraction> {
    let mut tables: Vec<Table> = (0..makers).map(|maker| Table::new(nodes, maker)).collect();
    let (mut variables, mut bounded): (Vec<usize>, bool) = ((0..makers).collect(), false);
    while !variables.is_empty() {
        let width = |variable: usize| {
            joined_scope(tables.iter().filter(|table| table.scope.contains(&variable))).len()
        };
        let (position, _) = variables.iter().enumerate().min_by_key(|&(_, &variable)| width(variable))?;
        let variable = variables.remove(position);
        let (with, without): (Vec<Table>, Vec<Table>) =
            tables.into_iter().partition(|table| table.scope.contains(&variable));
        let mut table = with.into_iter().reduce(|left, right| left.join(&right))?.without(variable);
        bounded |= table.limit(MOST_ROWS);
        tables = without;
        tables.push(table);
    }
    let whole = tables.into_iter().reduce(|left, right| left.join(&right));
    let nodes = match whole {
        Some(mut table) => table.rows.remove(&[][..])?.nodes.into_values().collect(),
        None => Vec::new(),
    };
    Some(Extraction { nodes, bounded })
}

/// All makers in the scopes of tables, ascending.
fn joined_scope<'a>(tables: impl Iterator<Item = &'a Table>) -> Vec<usize> {
    let mut scope: Vec<usize> = tables.flat_map(|table| table.scope.iter().copied()).collect();
    scope.sort_unstable();
    scope.dedup();
    scope
}

impl Table {
    /// The candidates of one maker.
    fn new(nodes: &[Node], maker: usize) -> Self {
        let own = || nodes.iter().enumerate().filter(move |(_, node)| node.maker == maker);
        let layouts = |node: &Node| -> BTreeMap<usize, usize> {
            node.takes.iter().copied().chain([(maker, node.value)]).collect()
        };
        let scope = own().next().map_or_else(|| vec![maker], |(_, node)| layouts(node).into_keys().collect());
        let mut rows = BTreeMap::new();
        for (number, node) in own() {
            let best = Best { cost: node.cost, nodes: [(maker, number)].into() };
            keep_less(&mut rows, layouts(node).into_values().collect(), best);
        }
        Self { scope, rows }
    }

    /// The sums of all rows that agree on the makers that both scopes contain.
    fn join(&self, other: &Self) -> Self {
        let scope = joined_scope([self, other].into_iter());
        let mut rows = BTreeMap::new();
        for (left, best) in &self.rows {
            for (right, more) in &other.rows {
                let mut layouts: BTreeMap<usize, usize> =
                    self.scope.iter().copied().zip(left.iter().copied()).collect();
                let mut agree = true;
                for (&maker, &layout) in other.scope.iter().zip(right) {
                    agree &= *layouts.entry(maker).or_insert(layout) == layout;
                }
                if agree {
                    let nodes =
                        best.nodes.iter().chain(&more.nodes).map(|(&maker, &node)| (maker, node)).collect();
                    let cost = best.cost.saturating_add(more.cost);
                    rows.insert(layouts.into_values().collect(), Best { cost, nodes });
                }
            }
        }
        Self { scope, rows }
    }

    /// The least over the layouts of a maker in the scope.
    fn without(self, variable: usize) -> Self {
        let keep: Vec<bool> = self.scope.iter().map(|&maker| maker != variable).collect();
        let project =
            |row: &[usize]| row.iter().zip(&keep).filter(|(_, keep)| **keep).map(|(&one, _)| one).collect();
        let mut rows = BTreeMap::new();
        for (row, best) in self.rows {
            keep_less(&mut rows, project(&row), best);
        }
        Self { scope: project(&self.scope), rows }
    }

    /// Drops the costliest rows above a limit; returns true if there were any.
    fn limit(&mut self, most: usize) -> bool {
        if self.rows.len() <= most {
            return false;
        }
        let mut rows: Vec<(Vec<usize>, Best)> = std::mem::take(&mut self.rows).into_iter().collect();
        rows.sort_by(|left, right| left.1.cmp(&right.1));
        rows.truncate(most);
        self.rows = rows.into_iter().collect();
        true
    }
}

/// Inserts a row unless the table has a better one for the same layouts.
fn keep_less(rows: &mut BTreeMap<Vec<usize>, Best>, row: Vec<usize>, best: Best) {
    match rows.get(&row) {
        Some(known) if *known <= best => {}
        Some(_) | None => drop(rows.insert(row, best)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The least cost of all choices of one node for each maker.
    fn brute(nodes: &[Node], makers: usize) -> Option<u64> {
        let mut choices: Vec<Vec<usize>> = vec![Vec::new()];
        for maker in 0..makers {
            let own: Vec<usize> = (0..nodes.len()).filter(|&node| nodes[node].maker == maker).collect();
            choices = choices
                .iter()
                .flat_map(|choice| own.iter().map(move |&node| [&choice[..], &[node]].concat()))
                .collect();
        }
        choices.retain(|choice| agree(nodes, choice));
        choices.iter().map(|choice| cost(nodes, choice)).min()
    }

    fn agree(nodes: &[Node], choice: &[usize]) -> bool {
        choice
            .iter()
            .flat_map(|&node| &nodes[node].takes)
            .all(|&(maker, value)| nodes[choice[maker]].value == value)
    }

    fn cost(nodes: &[Node], choice: &[usize]) -> u64 {
        choice.iter().map(|&node| nodes[node].cost).sum()
    }

    fn node(maker: usize, value: usize, takes: &[(usize, usize)], cost: u64) -> Node {
        Node { maker, value, takes: takes.to_vec(), cost }
    }

    #[test]
    fn two_readers_agree_on_what_is_made_once() {
        // Alone, one reader would take value 0 and the other value 1.
        let nodes = [
            node(0, 0, &[], 5),
            node(0, 1, &[], 6),
            node(1, 0, &[(0, 0)], 1),
            node(1, 0, &[(0, 1)], 9),
            node(2, 0, &[(0, 0)], 30),
            node(2, 0, &[(0, 1)], 2),
        ];
        assert_eq!(extract(&nodes, 3).map(|choice| choice.nodes), Some(vec![1, 3, 5]));
    }

    #[test]
    fn a_layout_that_no_candidate_makes_is_none() {
        let nodes = [node(0, 0, &[], 4), node(1, 0, &[(0, 1)], 3)];
        assert_eq!(extract(&nodes, 2), None);
        assert_eq!(extract(&nodes[..1], 2), None);
    }

    /// Each maker reads from up to two of the earlier makers.
    fn graphs() -> impl Strategy<Value = (usize, Vec<Node>)> {
        let maker = |maker: usize| {
            let takes = proptest::collection::btree_set(0..maker.max(1), 0..3);
            let node = (0..3_usize, 0..40_u64, [0..3_usize, 0..3_usize]);
            (takes, proptest::collection::vec(node, 1..5)).prop_map(move |(takes, nodes)| {
                let takes = if maker == 0 { Default::default() } else { takes };
                let built = nodes.into_iter().map(move |(value, cost, layouts)| Node {
                    maker,
                    value,
                    takes: takes.iter().copied().zip(layouts).collect(),
                    cost,
                });
                built.collect::<Vec<_>>()
            })
        };
        (1..6_usize).prop_flat_map(move |makers| {
            let nodes: Vec<_> = (0..makers).map(maker).collect();
            (Just(makers), nodes.prop_map(|nodes| nodes.concat()))
        })
    }

    #[test]
    fn of_equal_costs_the_first_candidates_are_chosen() {
        let nodes =
            [node(0, 1, &[], 2), node(0, 0, &[], 2), node(1, 0, &[(0, 0)], 1), node(1, 0, &[(0, 1)], 1)];
        assert_eq!(extract(&nodes, 2).map(|choice| choice.nodes), Some(vec![0, 3]));
    }

    #[test]
    fn a_table_at_its_limit_is_whole_and_above_it_is_bounded() {
        let nodes = [node(0, 0, &[], 7), node(0, 1, &[], 3), node(0, 2, &[], 5)];
        let mut table = Table::new(&nodes, 0);
        assert!(!table.limit(3));
        assert!(table.limit(2));
        assert_eq!(table.rows.into_keys().collect::<Vec<_>>(), [[1], [2]]);
    }

    proptest! {
        #[test]
        fn no_choice_costs_less((makers, nodes) in graphs()) {
            let extracted = extract(&nodes, makers).map(|choice| choice.nodes);
            if let Some(choice) = &extracted {
                prop_assert!(agree(&nodes, choice));
            }
            prop_assert_eq!(extracted.map(|choice| cost(&nodes, &choice)), brute(&nodes, makers));
        }
    }
}
