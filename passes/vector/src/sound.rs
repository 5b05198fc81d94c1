//! Is a rule sound? Both sides are evaluated on all edge values against all edge values, and on random patterns.

use crate::rule::{Predicate, Test, Vector};
use visa_mapping::expression::Dag;
use visa_numerics::{Bits, edges};
use visa_rules::{Counterexample, Rule, Verdict};

/// Random patterns of each sort.
const PATTERNS: usize = 20_000;

/// Most operands that take all edge values against each other; the others take the first one.
const MAX_CROSSED: u32 = 3;

/// Proves a rule for each of its formats: without `fast` it has the same bits on both sides, with it the sides
/// differ by at most the bound.
pub(crate) fn check(rule: &Rule<Vector>) -> Verdict {
    let examples = examples(rule);
    let mut instances = 0;
    for (left, right) in rule.left.iter().zip(&rule.right) {
        for operands in &examples {
            let difference = match rule.options.fast {
                Some(bound) => distance(left, right, operands).map(|ulps| {
                    let why = format!("its sides differ by {ulps:.3} ulps; the bound is {bound}");
                    (ulps > f64::from(bound)).then_some(why)
                }),
                None => Some(bits(left, right, operands)),
            };
            let Some(difference) = difference else { continue };
            instances += 1;
            if let Some(why) = difference {
                return Verdict::Unsound(counterexample(rule, left, operands, why));
            }
        }
    }
    Verdict::Sound { instances, compared: instances }
}

/// Operands for which the rule's condition holds. A rule that preserves bits takes edge values and all patterns; a
/// `fast` one takes numbers of moderate size, because its bound is about numbers that do not overflow.
fn examples(rule: &Rule<Vector>) -> Vec<Vec<Bits>> {
    let count = rule.scope.names().len();
    let mut patterns = Patterns(2026);
    let mut all: Vec<Vec<Bits>> = Vec::new();
    let exact = rule.options.fast.is_none();
    if exact {
        let edges: Vec<Bits> = [2, 3].into_iter().chain(edges::F32).collect();
        let digit = |at: usize, slot: usize| at / edges.len().saturating_pow(slot as u32) % edges.len();
        let most = edges.len().pow(MAX_CROSSED.min(count as u32));
        all.extend((0..most).map(|at| (0..count).map(|slot| edges[digit(at, slot)]).collect()));
    }
    for _ in 0..PATTERNS {
        if exact {
            all.push((0..count).map(|_| patterns.next()).collect());
        }
        all.push((0..count).map(|_| patterns.moderate()).collect());
    }
    let tests = rule.condition.as_ref().map(|condition| condition.tests()).unwrap_or_default();
    let powers: Vec<&Test> =
        tests.into_iter().filter(|test| test.predicate == Predicate::PowerOfTwo).collect();
    all.retain_mut(|operands| {
        // Few patterns are powers of two: the others become one.
        for test in &powers {
            if !test.predicate.holds(operands[test.operand]) {
                operands[test.operand] = patterns.next() & 0xff80_0000;
            }
        }
        rule.applies(&|test| Some(test.predicate.holds(operands[test.operand]))) == Some(true)
    });
    all
}

/// The same patterns for every rule: SplitMix64.
struct Patterns(u64);

impl Patterns {
    fn next(&mut self) -> Bits {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 32) as Bits
    }

    /// A number between 2^-20 and 2^20 in magnitude.
    fn moderate(&mut self) -> Bits {
        let bits = self.next();
        (bits & 0x807f_ffff) | ((107 + bits.rotate_left(9) % 40) << 23)
    }
}

/// The difference of two sides that must have the same bits.
fn bits(left: &Dag, right: &Dag, operands: &[Bits]) -> Option<String> {
    let [left, right] = [left, right].map(|side| side.eval(operands));
    (left != right).then(|| {
        let shown = |bits: Option<Bits>| bits.map_or("nothing".to_owned(), |bits| format!("{bits:#010x}"));
        format!("its left side is {} and its right side is {}", shown(left), shown(right))
    })
}

/// The distance of two sides in ulps of the greatest operand or intermediate result; `None` if one overflows.
fn distance(left: &Dag, right: &Dag, operands: &[Bits]) -> Option<f64> {
    let side = |dag: &Dag| Some(f32::from_bits(dag.eval(operands)?));
    let (first, second) = (side(left)?, side(right)?);
    let most = greatest(left, operands).max(greatest(right, operands));
    if !most.is_finite() || !first.is_finite() || !second.is_finite() {
        return None;
    }
    let ulp = f64::from(f32::from_bits(most.to_bits() + 1)) - f64::from(most);
    Some((f64::from(first) - f64::from(second)).abs() / ulp)
}

/// The greatest magnitude of the operands and the intermediate results.
fn greatest(dag: &Dag, operands: &[Bits]) -> f32 {
    let mut prefix = dag.clone();
    let roots = 0..dag.nodes.len();
    let values = roots.filter_map(|root| {
        prefix.root = root;
        prefix.eval(operands)
    });
    values.map(|bits| f32::from_bits(bits).abs()).fold(0.0, f32::max)
}

fn counterexample(rule: &Rule<Vector>, left: &Dag, operands: &[Bits], why: String) -> Counterexample {
    let (before, after) = rule.text.split_once("=>").unwrap_or((&rule.text, ""));
    let after = after.split_once(" if ").map_or(after, |(side, _)| side);
    let names = rule.scope.names().iter().zip(operands);
    let names: Vec<_> = names.map(|((name, _), bits)| format!("{name} = {bits:#010x}")).collect();
    let dtype = left.nodes.first().map(|node| node.dtype.to_string()).unwrap_or_default();
    Counterexample {
        given: format!("operands {} of {dtype}", names.join(", ")),
        left: before.trim_end_matches('<').trim().to_owned(),
        right: Some(after.trim().to_owned()),
        why,
    }
}
