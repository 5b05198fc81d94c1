//! Makes texts that FileCheck treats as equal equal, before they are compared. Line numbers stay as they are.

/// Turns every run of blanks into one space, and CRLF into LF, as LLVM does unless `--strict-whitespace` is given.
pub(super) fn collapse_blanks(text: &str) -> String {
    let mut collapsed = String::with_capacity(text.len());
    let mut after_blank = false;
    for c in text.replace("\r\n", "\n").chars() {
        let blank = matches!(c, ' ' | '\t');
        if !blank {
            collapsed.push(c);
        } else if !after_blank {
            collapsed.push(' ');
        }
        after_blank = blank;
    }
    collapsed
}

/// Takes the blanks off the ends of the lines of a check file: they are no part of a pattern.
pub(super) fn trim_line_ends(text: &str) -> String {
    let trimmed = text.lines().map(|line| line.trim_end_matches([' ', '\t']));
    trimmed.flat_map(|line| [line, "\n"]).collect()
}

/// Puts a space between a line's comment marker and its text: `//CHECK: x` is a check to LLVM, but `litcheck` takes a
/// prefix for one only at the start of a word, and would ignore the line without a word.
pub(super) fn separate_markers(text: &str) -> String {
    text.split_inclusive('\n').map(separate_marker).collect()
}

fn separate_marker(line: &str) -> String {
    let body = line.trim_start().trim_start_matches(['/', '#', ';']);
    let marker = &line[..line.len() - body.len()];
    if marker.trim().is_empty() || !body.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return line.to_owned();
    }
    format!("{marker} {body}")
}

/// Writes a blank at either end of a `{{regex}}` as `[ ]`: `litcheck` trims regexes, and would read `{{ +}}` as
/// `{{+}}`.
pub(super) fn keep_regex_blanks(text: &str) -> String {
    text.split_inclusive('\n').map(keep_line_blanks).collect()
}

fn keep_line_blanks(line: &str) -> String {
    if line.contains("{LITERAL}:") {
        return line.to_owned();
    }
    let mut kept = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, (regex, after))) =
        rest.split_once("{{").and_then(|(before, opened)| Some((before, opened.split_once("}}")?)))
    {
        let inner = regex.trim_matches([' ', '\t']);
        let start = regex.len() - regex.trim_start_matches([' ', '\t']).len();
        let classes = |blanks: &str| blanks.chars().map(|blank| format!("[{blank}]")).collect::<String>();
        let (leading, trailing) = (classes(&regex[..start]), classes(&regex[start + inner.len()..]));
        kept.push_str(&format!("{before}{{{{{leading}{inner}{trailing}}}}}"));
        rest = after;
    }
    kept + rest
}
