//! Limit on the nesting of a text: its readers recurse to the same depth, and a stack ends.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

/// Most levels of brackets, operators and types within each other.
pub(crate) const MAX_NESTING: usize = 256;

/// Where a text is deeper than may be read. Every bracket is a level, and so is every sign, such as `+` and `&`, since
/// the last `,`, `;` or braces.
pub(crate) fn too_deep(tokens: TokenStream) -> Option<Span> {
    let mut levels = vec![(tokens.into_iter(), 0)];
    while let Some((tokens, depth)) = levels.last_mut() {
        match tokens.next() {
            None => {
                levels.pop();
            }
            Some(TokenTree::Punct(sign)) => {
                *depth = if matches!(sign.as_char(), ',' | ';') { 0 } else { *depth + 1 };
                if levels.iter().map(|(_, depth)| depth + 1).sum::<usize>() > MAX_NESTING {
                    return Some(sign.span());
                }
            }
            Some(TokenTree::Group(group)) => {
                if group.delimiter() == Delimiter::Brace {
                    *depth = 0;
                }
                if levels.iter().map(|(_, depth)| depth + 1).sum::<usize>() > MAX_NESTING {
                    return Some(group.span_open());
                }
                levels.push((group.stream().into_iter(), 0));
            }
            Some(TokenTree::Ident(_) | TokenTree::Literal(_)) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_too_deep(text: &str) -> bool {
        too_deep(text.parse().unwrap()).is_some()
    }

    #[test]
    fn levels_are_brackets_and_signs() {
        let within =
            |open: &str, close: &str, count: usize| format!("{}1{}", open.repeat(count), close.repeat(count));
        for (open, close) in [("(", ")"), ("[", "]"), ("{", "}")] {
            assert!(!is_too_deep(&within(open, close, MAX_NESTING)));
            assert!(is_too_deep(&within(open, close, MAX_NESTING + 1)));
        }
        assert!(!is_too_deep(&within("&", "", MAX_NESTING - 1)));
        assert!(is_too_deep(&within("&", "", MAX_NESTING)));
        assert!(is_too_deep(&format!("1{}", " + 1".repeat(MAX_NESTING))));
        // A long list is not deep, nor are many statements.
        assert!(!is_too_deep(&"-1, ".repeat(10 * MAX_NESTING)));
        assert!(!is_too_deep(&"f(&x); ".repeat(10 * MAX_NESTING)));
        assert!(!is_too_deep(&"impl<'a> A<'a> {} ".repeat(10 * MAX_NESTING)));
    }
}
