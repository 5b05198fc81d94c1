//! Diagnostics are values: what was found, what was expected, where, and the fix. Only tools print.

use crate::span::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The input is refused.
    Error,
    /// The input is taken, but something in it is likely wrong or slow.
    Warning,
    /// Something worth knowing.
    Remark,
}

impl Severity {
    /// The word that tools print and `expected-...` comments use.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Remark => "remark",
        }
    }
}

/// A further remark under a diagnostic, with its own place where it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What to know.
    pub message: String,
    /// Where, if somewhere else than the diagnostic.
    pub span: Option<Span>,
}

/// One finding about the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// A stable short name, e.g. `syntax`, `unknown-op` or `stream.fetch-C2` (an op's constraint).
    pub code: String,
    /// What was found and what was expected, in one line.
    pub message: String,
    /// Where.
    pub span: Span,
    /// More to know.
    pub notes: Vec<Note>,
    /// What to write instead, where there is one answer.
    pub fix: Option<String>,
}

impl Diagnostic {
    /// An error at `span`.
    #[must_use]
    pub fn error(code: impl Into<String>, span: Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code: code.into(),
            message: singular(message.into()),
            span,
            notes: Vec::new(),
            fix: None,
        }
    }

    /// The same with a note.
    #[must_use]
    pub fn note(mut self, message: impl Into<String>, span: Option<Span>) -> Self {
        self.notes.push(Note { message: singular(message.into()), span });
        self
    }

    /// The same with a fix, if there is one.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<Option<String>>) -> Self {
        self.fix = fix.into().map(singular);
        self
    }
}

/// What messages count.
const NOUNS: [&str; 30] = [
    "accesses",
    "addresses",
    "arguments",
    "axes",
    "bits",
    "bytes",
    "candidates",
    "channels",
    "chips",
    "clusters",
    "columns",
    "comparisons",
    "copies",
    "counters",
    "elements",
    "entries",
    "flits",
    "gates",
    "iterations",
    "mappings",
    "names",
    "numbers",
    "operands",
    "packets",
    "positions",
    "results",
    "rows",
    "slices",
    "steps",
    "values",
];

/// Words behind a number that end what it counts.
const JOINING: [&str; 11] = ["and", "apart", "at", "bring", "by", "from", "in", "of", "or", "times", "to"];

/// A message in which one of a thing is singular (`1 bytes` becomes `1 byte`): messages count in the plural. What stands in backquotes is the user's.
fn singular(message: String) -> String {
    if !message.contains("1 ") {
        return message;
    }
    let parts = message.split('`').enumerate();
    let parts = parts.map(|(at, part)| if at % 2 == 0 { ones(part) } else { part.to_owned() });
    parts.collect::<Vec<_>>().join("`")
}

/// A text with the nouns behind each `1` in the singular; one word may stand between.
fn ones(text: &str) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    // `1 of 1 elements differ` counts what differs.
    let number = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
    let of_them = |at: usize| at > 1 && words[at - 1] == "of" && number(&words[at - 2]);
    let counts = |at: &usize| words[*at] == "1" && !of_them(*at);
    for at in (0..words.len()).filter(counts).collect::<Vec<_>>() {
        let between = words.get(at + 1).is_some_and(|word| {
            let letters = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic());
            letters && !JOINING.contains(&word.as_str())
        });
        let own = (1..=1 + usize::from(between))
            .find_map(|ahead| Some((at + ahead, noun(words.get(at + ahead)?)?)));
        if let Some((at, noun)) = own {
            words[at] = noun;
        }
    }
    words.join(" ")
}

/// A counted noun in the singular, with the punctuation behind it; `None` for another word.
fn noun(word: &str) -> Option<String> {
    let bare = word.trim_end_matches([',', '.', ';', ':', ')']);
    let known = NOUNS.contains(&bare).then_some(bare)?;
    let stem = match known {
        "axes" => "axis".to_owned(),
        "accesses" | "addresses" => known.trim_end_matches("es").to_owned(),
        _ => match known.strip_suffix("ies") {
            Some(stem) => format!("{stem}y"),
            None => known.trim_end_matches('s').to_owned(),
        },
    };
    Some(format!("{stem}{}", &word[bare.len()..]))
}

/// The candidate nearest to `word` by edit distance, if near enough to be a slip of the pen.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).max(1) + 1;
    candidates
        .into_iter()
        .map(|candidate| (edit_distance(word, candidate), candidate))
        .filter(|&(distance, _)| distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
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
    fn one_of_a_thing_is_singular() {
        let said =
            |text: &str| Diagnostic::error("a", Span::default(), text).note(text, None).fix(text.to_owned());
        for (text, expected) in [
            ("reads 1 contiguous elements of `[Q]`", "reads 1 contiguous element of `[Q]`"),
            ("has 1 bytes, expected 8", "has 1 byte, expected 8"),
            ("1 operands, 2 results and 1 entries", "1 operand, 2 results and 1 entry"),
            ("1 addresses for 1 HBM arguments", "1 address for 1 HBM argument"),
            ("1 axes; 1 accesses", "1 axis; 1 access"),
            ("11 bytes, 0 bytes, 1.1 bytes", "11 bytes, 0 bytes, 1.1 bytes"),
            ("1 to 8 bytes", "1 to 8 bytes"),
            ("1 of elements", "1 of elements"),
            ("1 of 1 elements differ", "1 of 1 elements differ"),
            ("runs of 1 elements", "runs of 1 element"),
            ("the file `1 bytes` has 1 bytes", "the file `1 bytes` has 1 byte"),
            ("  1  bytes", "  1  bytes"),
        ] {
            let said = said(text);
            assert_eq!((said.message.as_str(), said.notes[0].message.as_str()), (expected, expected));
            assert_eq!(said.fix.as_deref(), Some(expected));
        }
    }

    #[test]
    fn edit_distance_of_worked_words() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
    }
}
