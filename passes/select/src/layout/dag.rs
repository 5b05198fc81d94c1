//! Exact extraction where ways share what they use: a choice of one way for each pipeline, such that whoever reads
//! a tensor finds it as it was made, and all of them together cost the least. The cheapest tree of each pipeline
//! would count a tensor once for each of its readers, and each could want it otherwise. It is an integer program;
//! the solver is Rust.

use good_lp::{Expression, ProblemVariables, Solution, SolverModel, Variable, constraint, microlp, variable};

/// A way to make a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// What makes the value: exactly one of its ways is taken.
    pub maker: usize,
    /// The value, a number of the maker's own.
    pub value: usize,
    /// Maker and value of each thing that the way takes.
    pub takes: Vec<(usize, usize)>,
    /// Its cost.
    pub cost: u64,
}

/// One node of each maker, whose values are those that the others take, of the least cost together: their numbers,
/// by maker. Of choices that cost the same it is any, but the same one every time. `None` if there is none.
#[must_use]
pub(crate) fn extract(nodes: &[Node], makers: usize) -> Option<Vec<usize>> {
    let mut least = vec![u64::MAX; makers];
    nodes.iter().for_each(|node| least[node.maker] = least[node.maker].min(node.cost));
    let mut problem = ProblemVariables::new();
    let taken: Vec<Variable> = nodes.iter().map(|_| problem.add(variable().binary())).collect();
    let sum = |of: &dyn Fn(&Node) -> bool| -> Expression {
        nodes.iter().zip(&taken).filter(|(node, _)| of(node)).map(|(_, &taken)| taken).sum()
    };
    // A maker costs at least its least: what is above that stays small, and so exact in the solver's numbers.
    let over = |node: &Node| f64::from(u32::try_from(node.cost - least[node.maker]).unwrap_or(u32::MAX));
    let cost: Expression = nodes.iter().zip(&taken).map(|(node, &taken)| taken * over(node)).sum();
    let mut model = problem.minimise(cost).using(microlp);
    for maker in 0..makers {
        model = model.with(constraint!(sum(&|node| node.maker == maker) == 1));
    }
    for (node, &own) in nodes.iter().zip(&taken) {
        for &(maker, value) in &node.takes {
            model =
                model.with(constraint!(own <= sum(&|other| other.maker == maker && other.value == value)));
        }
    }
    let solution = model.solve().ok()?;
    // The solver's numbers are not exact: near 0 or near 1.
    let is_taken = |node: &usize| solution.value(taken[*node]) > 0.5;
    (0..makers)
        .map(|maker| (0..nodes.len()).filter(|&node| nodes[node].maker == maker).find(is_taken))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every choice of one node a maker.
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
        assert_eq!(extract(&nodes, 3), Some(vec![1, 3, 5]));
    }

    #[test]
    fn what_nobody_can_take_is_none() {
        let nodes = [node(0, 0, &[], 4), node(1, 0, &[(0, 1)], 3)];
        assert_eq!(extract(&nodes, 2), None);
        assert_eq!(extract(&nodes[..1], 2), None);
    }

    fn graphs() -> impl Strategy<Value = (usize, Vec<Node>)> {
        let nodes = |makers: usize| {
            let node =
                (0..makers, 0..3_usize, 0..40_u64, proptest::collection::vec((0..makers, 0..3_usize), 0..3));
            let nodes = proptest::collection::vec(node, makers..makers * 5).prop_map(|nodes| {
                let built = nodes.into_iter().map(|(maker, value, cost, mut takes)| {
                    takes.retain(|&(taken, _)| taken < maker);
                    Node { maker, value, takes, cost }
                });
                built.collect::<Vec<_>>()
            });
            (Just(makers), nodes)
        };
        (1..5_usize).prop_flat_map(nodes)
    }

    proptest! {
        #[test]
        fn nothing_is_cheaper((makers, nodes) in graphs()) {
            let found = extract(&nodes, makers);
            if let Some(choice) = &found {
                prop_assert!(agree(&nodes, choice));
            }
            prop_assert_eq!(found.map(|choice| cost(&nodes, &choice)), brute(&nodes, makers));
        }
    }
}
