//! `--split-input-file`: the parts between lines that start with `// -----`.

use std::ops::Range;

/// The separator of two parts, in the input and in the output.
pub(crate) const SEPARATOR: &str = "// -----";

/// The byte ranges of the parts of a text that are between lines `// -----`.
#[must_use]
pub fn split(text: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        // An IR dump's header starts with the same characters: only the bare separator separates.
        if line.trim_end() == SEPARATOR {
            parts.push(start..at);
            start = at + line.len();
        }
        at += line.len();
    }
    parts.push(start..text.len());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<&str> {
        split(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn parts_lie_between_separator_lines() {
        assert_eq!(parts("a\nb"), ["a\nb"]);
        assert_eq!(parts("a\n// -----\nb\n"), ["a\n", "b\n"]);
        assert_eq!(parts("// -----\n"), ["", ""]);
        assert_eq!(parts("// -----// IR Dump\n // -----\n"), ["// -----// IR Dump\n // -----\n"]);
    }
}
