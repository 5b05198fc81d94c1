//! Marks in identifiers: which expansion of a macro an identifier comes from, and which variable it is.
//!
//! `macro_rules!` is hygienic for variables and labels. An identifier of a macro's body gets the number of the
//! expansion as a mark (`tʹ3`), once for each expansion that it passes through. After names are resolved, each
//! variable has a unique name of the same form (`tʹ12`), and every other identifier has none. The input cannot
//! contain the character.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};

/// The character before a mark; it may be in an identifier, and no text of the input has it.
pub(crate) const MARK: char = 'ʹ';

/// Words that never name a variable or a label.
const KEYWORDS: &[&str] = &[
    "_",
    "abstract",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "const",
    "continue",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro",
    "macro_rules",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "pub",
    "ref",
    "return",
    "self",
    "Self",
    "static",
    "struct",
    "super",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "union",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
];

/// The name without marks and without `r#`.
pub(crate) fn plain(name: &str) -> &str {
    let name = name.strip_prefix("r#").unwrap_or(name);
    name.split(MARK).next().unwrap_or(name)
}

/// The name without `r#`, with its marks.
pub(crate) fn marked_name(ident: &Ident) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").map(str::to_owned).unwrap_or(name)
}

/// Returns true if an identifier names a variable whose name has been resolved.
pub(crate) fn is_local(name: &str) -> bool {
    name.contains(MARK)
}

/// The last mark of a name, with the name before it.
pub(crate) fn last_mark(name: &str) -> Option<(&str, usize)> {
    let (before, mark) = name.rsplit_once(MARK)?;
    Some((before, mark.parse().ok()?))
}

/// The identifier with one more mark; a keyword stays as it is.
pub(crate) fn mark(ident: &Ident, number: usize) -> Ident {
    let name = ident.to_string();
    if KEYWORDS.contains(&name.as_str()) {
        return ident.clone();
    }
    let name = name.strip_prefix("r#").unwrap_or(&name);
    Ident::new(&format!("{name}{MARK}{number}"), ident.span())
}

/// The identifier without marks.
pub(crate) fn unmarked(ident: &Ident) -> Ident {
    let name = ident.to_string();
    if !is_local(&name) {
        return ident.clone();
    }
    let name = plain(&name);
    if KEYWORDS.contains(&name) { Ident::new_raw(name, ident.span()) } else { Ident::new(name, ident.span()) }
}

/// Tokens without marks.
pub(crate) fn unmarked_tokens(tokens: TokenStream) -> TokenStream {
    let own = |token| match token {
        TokenTree::Ident(ident) => TokenTree::Ident(unmarked(&ident)),
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), unmarked_tokens(group.stream()));
            inner.set_span(group.span());
            TokenTree::Group(inner)
        }
        other @ (TokenTree::Punct(_) | TokenTree::Literal(_)) => other,
    };
    tokens.into_iter().map(own).collect()
}
