//! Bounds of a text before MLIR's parser reads it. That parser calls itself for brackets, signs and operators.

use visa_ir::diag::{Diagnostic, counted};
use visa_ir::span::Span;

/// The largest module, in bytes.
pub(crate) const MAX_BYTES: u64 = 1 << 28;
/// The deepest nesting of brackets of any kind.
const MAX_NESTING: usize = 128;
/// The most signs and operators of one affine map or set.
const MAX_AFFINE: usize = 1024;
/// Words of dialects whose own parsers nest without a bound. None of their operations is imported.
const UNBOUNDED: [&str; 2] = ["affine.", "sparse_tensor."];
/// Words before an affine map or set.
const AFFINE: [&str; 2] = ["affine_map<", "affine_set<"];

/// Checks a text, or the texts within bytecode.
///
/// # Errors
/// Brackets or an affine map that nest too deep, and dialects whose parsers have no bound.
pub(crate) fn check(bytes: &[u8], is_text: bool) -> Result<(), Diagnostic> {
    if is_text {
        brackets(bytes)?;
    }
    for word in AFFINE {
        for at in places(bytes, word) {
            affine(bytes, at + word.len())?;
        }
    }
    for word in UNBOUNDED {
        if let Some(at) = places(bytes, word).find(|&at| is_word(bytes, at)) {
            let message = format!(
                "found `{word}`: operations and attributes of this dialect are not imported, and MLIR reads them \
                 without a bound on nesting"
            );
            return Err(Diagnostic::error("unbounded", Span::new(at..at + word.len()), message)
                .fix("lower the module to linalg on tensors first".to_owned()));
        }
    }
    Ok(())
}

/// The offsets of a word.
fn places<'a>(bytes: &'a [u8], word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let first = word.as_bytes()[0];
    let starts = bytes.iter().enumerate().filter(move |&(_, &byte)| byte == first);
    starts.filter(move |&(at, _)| bytes[at..].starts_with(word.as_bytes())).map(|(at, _)| at)
}

/// Returns true if a word that is found at `at` begins there.
fn is_word(bytes: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).map(|at| bytes[at]);
    !before.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_.$-@%\"".contains(&byte))
}

fn brackets(bytes: &[u8]) -> Result<(), Diagnostic> {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'/' if bytes.get(at + 1) == Some(&b'/') => at = after(bytes, at, b'\n'),
            b'"' => at = string(bytes, at),
            b'-' if bytes.get(at + 1) == Some(&b'>') => at += 1,
            b'(' | b'[' | b'{' | b'<' => {
                depth += 1;
                if depth > MAX_NESTING {
                    let message = format!("brackets nest deeper than {MAX_NESTING}");
                    return Err(Diagnostic::error("nesting", Span::new(at..at + 1), message));
                }
            }
            b')' | b']' | b'}' | b'>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    Ok(())
}

/// The next place of a byte, or the end.
fn after(bytes: &[u8], from: usize, wanted: u8) -> usize {
    bytes[from..].iter().position(|&byte| byte == wanted).map_or(bytes.len(), |at| from + at)
}

/// The end of the string that begins at `at`.
fn string(bytes: &[u8], mut at: usize) -> usize {
    at += 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'"' => return at,
            _ => {}
        }
        at += 1;
    }
    at
}

/// Counts the signs and operators of an affine map: its parser calls itself for each.
fn affine(bytes: &[u8], from: usize) -> Result<(), Diagnostic> {
    let (mut depth, mut signs, mut at) = (0_usize, 0, from);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'-' if bytes.get(at + 1) == Some(&b'>') => at += 1,
            b'<' => depth += 1,
            b'>' if depth == 0 => return Ok(()),
            b'>' => depth -= 1,
            b'-' | b'+' | b'*' | b'(' | b'm' | b'f' | b'c' => signs += 1,
            0 | b'"' => return Ok(()),
            _ => {}
        }
        if signs > MAX_AFFINE {
            let message = format!("an affine map of more than {}", counted(MAX_AFFINE, "operator"));
            return Err(Diagnostic::error("nesting", Span::new(from..from + 1), message));
        }
        at += 1;
    }
    Ok(())
}
