//! Random pairs of checks and input.

use std::fmt;

use visa_support::Random;

use super::{directives, expressions, regexes};

/// Checks, input and options.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pair {
    pub(crate) checks: Vec<u8>,
    pub(crate) input: Vec<u8>,
    pub(crate) options: Vec<String>,
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [checks, input] = [&self.checks, &self.input].map(|text| String::from_utf8_lossy(text));
        write!(f, "options: {:?}\nchecks:\n{checks}\ninput:\n{input}", self.options)
    }
}

/// Bytes with a meaning for FileCheck.
const SPECIAL: &[u8] = b"[]{}()#:\\|*+?^$-_,@%= \n.\"01aX";

impl Pair {
    pub(super) fn generate(random: &mut Random) -> Self {
        // A quarter of the pairs has mistakes of all kinds, and half of those are damaged too.
        let wild = random.below(4) == 0;
        let kind = random.below(8);
        let draw = |random: &mut Random| match kind {
            0..=2 => directives::pair(random, wild),
            3..=5 => regexes::pair(random, wild),
            _ => expressions::pair(random, wild),
        };
        let mut pair = draw(random);
        // Few pairs match by chance: half of them are drawn until one does, or some times.
        if random.below(2) == 0 {
            let more = (0..6).map(|_| draw(random)).find(|pair| pair.verdict().0 == 0);
            pair = more.unwrap_or(pair);
        }
        if wild && random.below(2) == 0 {
            for _ in 0..=random.below(3) {
                damage(&mut pair.checks, random);
            }
        }
        if random.below(20) == 0 {
            damage(&mut pair.input, random);
        }
        pair
    }
}

/// An item: the first `valid` ones make no mistake, and only they are chosen unless the pair is `wild`.
pub(super) fn item<'a>(items: &[&'a str], valid: usize, wild: bool, random: &mut Random) -> &'a str {
    items[random.below(if wild { items.len() } else { valid })]
}

/// Changes one place of a text.
fn damage(text: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(text.len() + 1);
    match random.below(4) {
        0 if at < text.len() => drop(text.remove(at)),
        1 if at < text.len() => text[at] = random.of(SPECIAL),
        2 => {
            let end = (at + random.below(6)).min(text.len());
            let copied = text[at..end].to_vec();
            let to = random.below(text.len() + 1);
            text.splice(to..to, copied);
        }
        _ => text.insert(at, random.of(SPECIAL)),
    }
}
