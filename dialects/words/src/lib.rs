//! Words: sets of words as enums, and words of messages: a number with its noun, the known word that is nearest to a
//! misspelt one, texts in columns, and text of files in a form safe for terminals.

mod columns;
mod visible;
mod word;

pub use columns::{columns, printable, shortened};
pub use visible::{hides, picture, visible, visible_json, visible_position};
pub use word::Word;

use std::fmt::Display;

/// A number and its noun: `1 element`, `3 elements`, `1 axis`, `2 axes`.
///
/// The type of the number keeps lists and texts out, which have no singular.
#[must_use]
pub fn counted<N: Display + TryInto<u128> + Copy>(number: N, noun: &str) -> String {
    if number.try_into().is_ok_and(|number| number == 1) {
        return format!("{number} {noun}");
    }
    format!("{number} {}", plural(noun))
}

/// The plural of a noun; of several words the last one changes.
fn plural(noun: &str) -> String {
    if let Some(stem) = noun.strip_suffix("xis") {
        return format!("{stem}xes");
    }
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o']) => format!("{stem}ies"),
        _ if noun.ends_with(['s', 'x']) || noun.ends_with("ch") => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

/// The candidate nearest to `word` by edit distance, if near enough to be a slip of the pen.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_by(word, candidates, |_| ()).map(|(candidate, _)| candidate)
}

/// The candidate nearest to `word` by edit distance, with its rank, if near enough to be a slip of the pen. Of
/// candidates at the same distance, the one with the lowest rank: the names of axes are single letters, all of
/// which are at distance 1.
#[must_use]
pub fn nearest_by<'a, R: Ord>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    rank: impl Fn(&str) -> R,
) -> Option<(&'a str, R)> {
    let limit = (word.chars().count() / 3).max(1) + 1;
    candidates
        .into_iter()
        .map(|candidate| (edit_distance(word, candidate), candidate))
        .filter(|&(distance, _)| distance <= limit)
        .map(|(distance, candidate)| (distance, rank(candidate), candidate))
        .min()
        .map(|(_, rank, candidate)| (candidate, rank))
}

/// Returns true if the two words have a letter in common.
#[must_use]
pub fn share_a_letter(left: &str, right: &str) -> bool {
    left.chars().any(|letter| right.contains(letter))
}

/// Levenshtein distance, one row at a time.
fn edit_distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, l) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, r) in right.iter().enumerate() {
            let substitute = diagonal + usize::from(l != *r);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_finds_slips_and_refuses_strangers() {
        assert_eq!(nearest("fech", ["fetch", "commit"]), Some("fetch"));
        assert_eq!(nearest("tiem", ["time", "packet"]), Some("time"));
        assert_eq!(nearest("xyzzyq", ["fetch", "commit"]), None);
    }

    #[test]
    fn rank_decides_between_candidates_at_one_distance() {
        let rank = |name: &str| u8::from(name != "N");
        assert_eq!(nearest_by("J", ["M", "N"], rank), Some(("N", 0)));
        // A nearer candidate wins regardless of its rank.
        assert_eq!(nearest_by("Batsh", ["Batch", "N"], rank), Some(("Batch", 1)));
        assert_eq!(nearest_by("Column", ["M", "N"], rank), None);
        assert!(share_a_letter("Rew", "Row") && !share_a_letter("J", "M"));
    }

    #[test]
    fn one_of_a_thing_is_singular() {
        let nouns = [
            "byte",
            "contiguous element",
            "HBM argument",
            "entry",
            "axis",
            "access",
            "copy",
            "box",
            "branch",
            "way",
        ];
        let one = nouns.map(|noun| counted(1_u64, noun)).join(", ");
        assert_eq!(
            one,
            "1 byte, 1 contiguous element, 1 HBM argument, 1 entry, 1 axis, 1 access, 1 copy, 1 box, 1 branch, 1 \
             way"
        );
        let two = nouns.map(|noun| counted(2_usize, noun)).join(", ");
        assert_eq!(
            two,
            "2 bytes, 2 contiguous elements, 2 HBM arguments, 2 entries, 2 axes, 2 accesses, 2 copies, 2 boxes, 2 \
             branches, 2 ways"
        );
        assert_eq!(
            [counted(0, "byte"), counted(11, "byte"), counted(-1, "step")],
            ["0 bytes", "11 bytes", "-1 steps"]
        );
    }

    #[test]
    fn edit_distance_of_worked_words() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
    }
}
