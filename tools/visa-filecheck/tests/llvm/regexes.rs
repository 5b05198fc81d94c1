//! Regular expressions, and the captures of their groups.

use visa_support::Random;

use super::generate::{Pair, item};

/// The first 36 are valid.
const ATOMS: [&str; 44] = [
    "a",
    "b",
    "a",
    "b",
    "c",
    ".",
    "[ab]",
    "[^a]",
    "[^ab]",
    "[a-b]",
    "[]a]",
    "[^]a]",
    "[a-]",
    "[-a]",
    "[[:alpha:]]",
    "[[:space:]]",
    "[[:digit:]b]",
    "[[.a.]]",
    "[[=b=]]",
    "[[.hyphen.]]",
    "[[:<:]]",
    "[[:>:]]",
    "^",
    "$",
    "\\.",
    "\\d",
    "\\a",
    "\\(",
    "x",
    "-",
    "()",
    "A",
    "[A-C]",
    "[[:upper:]]",
    "é",
    "[é]",
    "[c-a]",
    "\\1",
    "\\2",
    "{",
    "}",
    "b*?",
    "a**",
    "[[:foo:]]",
];

/// The first 12 are valid.
const REPEATS: [&str; 15] =
    ["*", "+", "?", "*", "+", "?", "{2}", "{1,2}", "{0,1}", "{1,}", "{0,2}", "{2,3}", "{2,1}", "{,2}", "{0}"];

/// An expression over a few letters, most of the time a valid one.
fn expression(random: &mut Random, depth: usize, wild: bool) -> String {
    let mut text = String::new();
    let branches = if random.below(3) == 0 { 2 + random.below(2) } else { 1 };
    for branch in 0..branches {
        if branch > 0 {
            text.push('|');
        }
        for _ in 0..1 + random.below(3) {
            if depth > 0 && random.below(3) == 0 {
                text.push_str(&format!("({})", expression(random, depth - 1, wild)));
            } else if random.below(4) > 0 {
                text.push_str(ATOMS[random.below(5)]);
            } else {
                text.push_str(item(&ATOMS, 36, wild, random));
            }
            if random.below(3) == 0 && (wild || !text.ends_with('^')) {
                text.push_str(item(&REPEATS, 12, wild, random));
            }
        }
    }
    text
}

fn letters(random: &mut Random, most: usize) -> String {
    (0..random.below(most))
        .map(|_| random.of(&['a', 'b', 'a', 'b', 'a', 'b', 'c', 'x', '-', ' ', 'A', '\n', 'é']))
        .collect()
}

/// All parts of a text without line ends, each once.
fn parts(text: &str) -> Vec<&str> {
    let mut ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    ends.push(text.len());
    let spans = ends
        .iter()
        .flat_map(|start| ends.iter().filter(move |end| *end >= start).map(move |end| *start..*end));
    let mut parts: Vec<&str> = spans.map(|span| &text[span]).filter(|part| !part.contains('\n')).collect();
    parts.sort_unstable();
    parts.dedup();
    parts
}

/// `[[X:...]]` among other expressions. The line after it holds a part of the text, if there is one that is our
/// capture: then LLVM has to capture the same.
pub(super) fn pair(random: &mut Random, wild: bool) -> Pair {
    let mut pattern = String::new();
    let captured = random.below(3);
    for number in 0..3 {
        let inner = expression(random, 2, wild);
        // Braces end a block.
        let inner = if wild { inner } else { inner.replace("}}", "}") };
        match (number == captured, random.below(4)) {
            (true, _) => pattern.push_str(&format!("[[X:{inner}]]")),
            (false, 0) => pattern.push_str(&letters(random, 3).replace(['\n', ' '], "")),
            (false, 1) => {}
            (false, _) => pattern.push_str(&format!("{{{{{inner}}}}}")),
        }
    }
    match random.below(12) {
        0 => pattern.push_str("[[X]]"),
        1 => pattern.push_str("{{(a|b|c)\\1}}"),
        2 => pattern.push_str("{{(a*)(b|\\1)}}"),
        _ => {}
    }
    let suffix = random.of(&["", "", "", "-NOT", "-DAG", "-COUNT-2"]);
    let text = letters(random, 10);
    let mut options = Vec::new();
    for option in ["--ignore-case", "--match-full-lines", "--strict-whitespace"] {
        if random.below(6) == 0 {
            options.push(option.to_owned());
        }
    }
    let checks = format!("CHECK{suffix}: {pattern}\nCHECK: <[[X]]>\n").into_bytes();
    let with = |part: &str| {
        let input = format!("{text}\n<{part}>\n").into_bytes();
        Pair { checks: checks.clone(), input, options: options.clone() }
    };
    let parts = parts(&text);
    let matching = parts.iter().map(|part| with(part)).find(|pair| pair.verdict().0 == 0);
    matching.unwrap_or_else(|| with(random.pick(&parts).copied().unwrap_or_default()))
}
