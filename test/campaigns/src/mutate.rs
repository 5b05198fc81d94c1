//! Mutations that keep most of a text readable. Flipped bytes alone hardly get past the grammar; a number, a word
//! or a line in another place gets to the verifiers and the lowering. The fuzzer's targets share this file.

use std::ops::Range;
use visa_support::Random;

/// Numbers at and around the limits of the machine and of the text.
const NUMBERS: [u64; 20] =
    [0, 1, 2, 3, 4, 7, 8, 9, 16, 32, 33, 64, 255, 256, 4096, 65536, 65537, 524_288, 1 << 32, i64::MAX as u64];

/// Another text: a number, a word or a line in another place; `None` if there is nothing to change.
pub fn change(text: &str, random: &mut Random) -> Option<String> {
    if random.below(6) == 0 {
        return change_lines(text, random);
    }
    let words = words(text);
    let at = random.pick(&words)?.clone();
    let old = &text[at.clone()];
    if random.below(3) > 0
        && let Ok(old) = old.parse()
    {
        return Some(replaced(text, at, &number(old, random).to_string()));
    }
    // Most words are only understood where others of their kind are.
    let any = random.below(8) == 0;
    let alike: Vec<_> =
        words.iter().filter(|range| any || kind(&text[(*range).clone()]) == kind(old)).cloned().collect();
    let other = random.pick(&alike)?.clone();
    let changed = replaced(text, at.clone(), &text[other.clone()]);
    // Half of the time the two change places: the terms of a mapping in another order, for one.
    match random.below(2) {
        0 if other.start > at.end => {
            let by = |place: usize| place + other.len() - at.len();
            Some(replaced(&changed, by(other.start)..by(other.end), old))
        }
        0 if other.end < at.start => Some(replaced(&changed, other, old)),
        _ => Some(changed),
    }
}

/// The text with another word in a place.
fn replaced(text: &str, at: Range<usize>, new: &str) -> String {
    format!("{}{new}{}", &text[..at.start], &text[at.end..])
}

/// What a word may be: a number, an operation, a name with a sigil, an axis, or a word of a clause.
fn kind(word: &str) -> char {
    let first = word.chars().next().unwrap_or(' ');
    match first {
        '0'..='9' => '0',
        'A'..='Z' => 'A',
        'a'..='z' if word.contains('.') => '.',
        'a'..='z' => 'a',
        sigil => sigil,
    }
}

/// Another number: one of the limits, or near or a multiple of the old one.
fn number(old: u64, random: &mut Random) -> u64 {
    match random.below(6) {
        0 => old.wrapping_add(1),
        1 => old.saturating_sub(1),
        2 => old.wrapping_mul(2),
        3 => old / 2,
        _ => NUMBERS[random.below(NUMBERS.len())],
    }
}

/// Drops, doubles or swaps lines.
fn change_lines(text: &str, random: &mut Random) -> Option<String> {
    let mut lines: Vec<&str> = text.lines().collect();
    let (first, second) = (random.below(lines.len()), random.below(lines.len()));
    let line = *lines.get(first)?;
    match random.below(3) {
        0 => drop(lines.remove(first)),
        1 => lines.insert(second, line),
        _ => lines.swap(first, second),
    }
    Some(lines.join("\n"))
}

/// Where the words and numbers are.
fn words(text: &str) -> Vec<Range<usize>> {
    let is_word =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'%' | b'@' | b'!' | b'#');
    let mut words = Vec::new();
    let mut start = 0;
    for (at, byte) in text.bytes().chain([b' ']).enumerate() {
        if !is_word(byte) {
            if start < at {
                words.push(start..at);
            }
            start = at + 1;
        }
    }
    words
}
