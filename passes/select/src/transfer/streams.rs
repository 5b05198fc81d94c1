//! The e-graph of a transfer's streams: all ways to deal its loops to engines, to order the rest, and to cut packets.
//! They move the same elements, so that they are one class.

use egg::{
    Analysis, DidMerge, EGraph, Id, Language, Pattern, RecExpr, Rewrite, Runner, Subst, Symbol, SymbolLang,
};
use std::collections::BTreeSet;
use visa_algebra::Expr;

/// Most nodes of the e-graph.
const MAX_NODES: usize = 20_000;

/// Most streams that are taken from it.
pub const MAX_STREAMS: usize = 4096;

/// Most orders of an engine's part: those of six loops.
const MAX_ORDERS: usize = 720;

/// The subject of a transfer's loop.
#[derive(Clone, Debug)]
pub struct Factor {
    /// As a mapping.
    pub map: Expr,
    /// Its iterations.
    pub limit: u64,
}

impl Factor {
    /// The factor as one of `limit / inner` iterations, each of which is `inner` iterations.
    fn split(&self, inner: u64) -> [Self; 2] {
        let outer = Self { map: self.map.clone().stride(inner), limit: self.limit / inner };
        [outer, Self { map: self.map.clone().modulo(inner), limit: inner }]
    }
}

/// Numbers of factors, outermost first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stream {
    /// The factors that count engines.
    pub engines: Vec<usize>,
    /// In which order an engine moves packets.
    pub time: Vec<usize>,
    /// The factors of a packet.
    pub packet: Vec<usize>,
}

/// The product of the iterations of a list's factors.
#[derive(Clone, Debug, Default)]
struct Iterations {
    of_factor: Vec<u64>,
}

impl Analysis<SymbolLang> for Iterations {
    type Data = u64;

    fn make(egraph: &mut EGraph<SymbolLang, Self>, node: &SymbolLang, _: Id) -> u64 {
        match factor(node.op) {
            Some(at) => egraph.analysis.of_factor[at],
            None => node.fold(1_u64, |all, child| all.saturating_mul(egraph[child].data)),
        }
    }

    fn merge(&mut self, one: &mut u64, other: u64) -> DidMerge {
        debug_assert_eq!(*one, other, "equal lists have as many iterations");
        DidMerge(false, false)
    }
}

/// The number of a factor whose node it is.
fn factor(op: Symbol) -> Option<usize> {
    op.as_str().strip_prefix('f')?.parse().ok()
}

/// The streams of a transfer.
pub struct Streams {
    /// The factors: those of the transfer, and their parts.
    pub factors: Vec<Factor>,
    egraph: EGraph<SymbolLang, Iterations>,
    root: Id,
}

/// The possible cuts of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Cuts {
    /// Most engines.
    pub engines: u64,
    /// Slices of a network of data memory.
    pub network: u64,
    /// Elements of a request.
    pub request: u64,
}

impl Streams {
    /// Grows the e-graph from the order of the destination: `outer` factors, and a packet of those that are
    /// contiguous, both outermost first.
    #[must_use]
    pub fn grow(outer: &[Factor], packet: &[Factor], cuts: &Cuts) -> Self {
        let mut factors: Vec<Factor> = outer.iter().chain(packet).cloned().collect();
        let mut rules = order_rules(cuts.engines);
        for at in 0..outer.len() {
            let limit = factors[at].limit;
            if limit > cuts.network && limit.is_multiple_of(cuts.network) {
                rules.push(split_rule("cons", at, cuts.network, &mut factors));
            }
        }
        let whole = outer.len() + packet.len();
        for at in (0..outer.len()).chain(whole..factors.len()) {
            for inner in engine_cuts(factors[at].limit, cuts.engines) {
                rules.push(deal_rule(at, inner, cuts.engines, &mut factors));
            }
        }
        for at in outer.len()..outer.len() + packet.len() {
            let limit = factors[at].limit;
            let inner = cuts.request;
            if limit > inner && limit.is_multiple_of(inner) {
                rules.push(split_rule("pack", at, inner, &mut factors));
            }
        }
        let mut start = RecExpr::default();
        let nil = start.add(SymbolLang::leaf("nil"));
        let mut list = |head: &str, numbers: std::ops::Range<usize>| {
            numbers.rev().fold(nil, |tail, at| {
                let leaf = start.add(SymbolLang::leaf(format!("f{at}")));
                start.add(SymbolLang::new(head, vec![leaf, tail]))
            })
        };
        let time = list("cons", 0..outer.len());
        let own = list("pack", outer.len()..outer.len() + packet.len());
        start.add(SymbolLang::new("stream", vec![nil, time, own]));
        let analysis = Iterations { of_factor: factors.iter().map(|factor| factor.limit).collect() };
        let runner: Runner<_, _> =
            Runner::new(analysis).with_expr(&start).with_node_limit(MAX_NODES).with_iter_limit(24);
        let runner = runner.with_time_limit(std::time::Duration::MAX).run(&rules);
        Self { factors, root: runner.egraph.find(runner.roots[0]), egraph: runner.egraph }
    }

    /// Number of nodes of the e-graph.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.egraph.total_number_of_nodes()
    }

    /// The streams that it holds, at most [`MAX_STREAMS`]. Engines come in one order: exchanging their parts makes no
    /// difference.
    #[must_use]
    pub fn all(&self) -> BTreeSet<Stream> {
        let mut found = BTreeSet::new();
        for node in self.egraph[self.root].iter() {
            let [engines, time, packet] = [0, 1, 2].map(|at| node.children()[at]);
            let first = |list: Id| self.orders(list, 1).pop().unwrap_or_default();
            let mut engines = first(engines);
            engines.sort_unstable();
            let packet = first(packet);
            for time in self.orders(time, MAX_ORDERS) {
                if found.len() == MAX_STREAMS {
                    return found;
                }
                found.insert(Stream { engines: engines.clone(), time, packet: packet.clone() });
            }
        }
        found
    }

    /// At most `most` lists of a class.
    fn orders(&self, list: Id, most: usize) -> Vec<Vec<usize>> {
        let mut found = Vec::new();
        for node in self.egraph[list].iter() {
            let [head, tail] = node.children() else {
                found.push(Vec::new());
                continue;
            };
            let heads = self.egraph[*head].iter().filter_map(|leaf| factor(leaf.op));
            for head in heads {
                let tails = self.orders(*tail, most - found.len());
                found.extend(tails.into_iter().map(|tail| [vec![head], tail].concat()));
                if found.len() == most {
                    return found;
                }
            }
        }
        found
    }
}

/// Iterations inside, for each number of engines that divides a loop.
fn engine_cuts(limit: u64, engines: u64) -> Vec<u64> {
    let counts = (2..=engines).filter(|&count| limit > count && limit.is_multiple_of(count));
    counts.map(|count| limit / count).collect()
}

/// A pattern of ours.
fn pattern(text: &str) -> Pattern<SymbolLang> {
    text.parse().expect("a pattern")
}

fn rule(name: &str, from: &str, to: &str) -> Rewrite<SymbolLang, Iterations> {
    Rewrite::new(name, pattern(from), pattern(to)).expect("variables are bound")
}

/// Returns true if this number of iterations more is enough for the engines.
fn few(
    more: impl Fn(&EGraph<SymbolLang, Iterations>, &Subst) -> u64,
    engines: u64,
) -> impl Fn(&mut EGraph<SymbolLang, Iterations>, Id, &Subst) -> bool {
    move |egraph, _, found| {
        let before = egraph[found["?e".parse().expect("a variable")]].data;
        before.saturating_mul(more(egraph, found)) <= engines
    }
}

/// Loops change places, go to engines, and leave a packet.
fn order_rules(engines: u64) -> Vec<Rewrite<SymbolLang, Iterations>> {
    let iterations = |egraph: &EGraph<SymbolLang, Iterations>, found: &Subst| {
        egraph[found["?a".parse().expect("a variable")]].data
    };
    let applier = pattern("(stream (cons ?a ?e) ?t ?p)");
    let to_engines = egg::ConditionalApplier { condition: few(iterations, engines), applier };
    vec![
        rule("in-turn", "(cons ?a (cons ?b ?r))", "(cons ?b (cons ?a ?r))"),
        Rewrite::new("to-engines", pattern("(stream ?e (cons ?a ?t) ?p)"), to_engines)
            .expect("variables are bound"),
        rule(
            "out-of-packet",
            "(stream ?e ?t (pack ?a (pack ?b ?p)))",
            "(stream ?e (cons ?a ?t) (pack ?b ?p))",
        ),
    ]
}

/// The outer part of a factor goes to engines.
fn deal_rule(
    at: usize,
    inner: u64,
    engines: u64,
    factors: &mut Vec<Factor>,
) -> Rewrite<SymbolLang, Iterations> {
    let next = factors.len();
    let parts = factors[at].split(inner);
    let count = parts[0].limit;
    factors.extend(parts);
    let to = format!("(stream (cons f{next} ?e) (cons f{} ?t) ?p)", next + 1);
    let applier =
        egg::ConditionalApplier { condition: few(move |_, _| count, engines), applier: pattern(&to) };
    let from = pattern(&format!("(stream ?e (cons f{at} ?t) ?p)"));
    Rewrite::new(format!("deal-{at}-{inner}"), from, applier).expect("variables are bound")
}

/// A factor is one of its parts inside the other.
fn split_rule(
    list: &str,
    at: usize,
    inner: u64,
    factors: &mut Vec<Factor>,
) -> Rewrite<SymbolLang, Iterations> {
    let next = factors.len();
    let parts = factors[at].split(inner);
    factors.extend(parts);
    let to = format!("({list} f{next} ({list} f{} ?r))", next + 1);
    rule(&format!("split-{at}-{inner}"), &format!("({list} f{at} ?r)"), &to)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(name: &str, limit: u64) -> Factor {
        Factor { map: Expr::axis(name), limit }
    }

    fn streams(outer: &[Factor], packet: &[Factor]) -> Streams {
        Streams::grow(outer, packet, &Cuts { engines: 8, network: 32, request: 256 })
    }

    #[test]
    fn every_order_and_deal() {
        // Three loops, each of more than 8 iterations that no number of engines divides: 6 orders.
        let [a, b, c] = [factor("A", 11), factor("B", 13), factor("C", 17)];
        assert_eq!(streams(&[a, b, c], &[factor("D", 8)]).all().len(), 6);
        // Of 3 and 5 iterations, either may go to engines, not both: 2 orders, and one each.
        assert_eq!(streams(&[factor("A", 3), factor("B", 5)], &[factor("D", 8)]).all().len(), 4);
        // 2 and 4 may go both.
        let found = streams(&[factor("A", 2), factor("B", 4)], &[factor("D", 8)]);
        assert!(found.all().contains(&Stream { engines: vec![0, 1], time: vec![], packet: vec![2] }));
    }

    #[test]
    fn several_loops_share_the_engines() {
        let found = streams(&[factor("S", 64), factor("R", 8)], &[factor("D", 256)]);
        let engines = found.all().into_iter().filter(|stream| !stream.engines.is_empty()).count();
        assert!(engines > 10, "{engines} of {}", found.all().len());
    }

    #[test]
    fn parts_of_loops_go_to_engines_and_packets_are_cut() {
        let found = streams(&[factor("A", 64)], &[factor("D", 512)]);
        let texts: BTreeSet<String> = found
            .all()
            .into_iter()
            .map(|stream| {
                let list = |numbers: &[usize]| {
                    numbers.iter().map(|&at| found.factors[at].map.to_string()).collect::<Vec<_>>().join(", ")
                };
                format!("{} | {} | {}", list(&stream.engines), list(&stream.time), list(&stream.packet))
            })
            .collect();
        for expected in
            ["[A / 8] | [A % 8] | [D]", " | [A] | [D]", "[A / 32] | [D / 256], [A % 32] | [D % 256]"]
        {
            assert!(texts.contains(expected), "{expected} is not in {texts:#?}");
        }
    }
}
