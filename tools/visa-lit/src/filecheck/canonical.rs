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
