//! Printing of the syntax tree, with the parts that `prettyplease` does not print: comments, empty lines, and the
//! tokens of `m![..]`. The tree has a placeholder for each, which the printed text replaces.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// Prefix of the placeholder of a mapping. Its number and its underscores have the width of the mapping, so that lines
/// break as with the mapping itself.
const MAPPING: &str = "m__";

/// The macro that stands for a comment, with its number.
const COMMENT: &str = "c__!";

/// The parts of a file that the printed text has placeholders for.
#[derive(Debug, Default)]
pub(crate) struct Placeholders {
    mappings: Vec<String>,
    comments: Vec<String>,
}

impl Placeholders {
    /// A mapping, as the text between the brackets of `m![..]`, as a type.
    pub(crate) fn mapping(&mut self, inside: &str) -> Ident {
        let text = format!("m![{inside}]");
        let number = match self.mappings.iter().position(|known| *known == text) {
            Some(number) => number,
            None => {
                self.mappings.push(text.clone());
                self.mappings.len() - 1
            }
        };
        let width = text.len().saturating_sub(MAPPING.len() + 1);
        Ident::new(&format!("{MAPPING}{number:0width$}_"), Span::call_site())
    }

    /// A line of a comment, as a statement or an item.
    pub(crate) fn comment(&mut self, text: &str) -> TokenStream {
        let number = proc_macro2::Literal::usize_unsuffixed(self.comments.len());
        self.comments.push(format!("// {text}").trim_end().to_owned());
        quote!(c__!(#number);)
    }

    /// An empty line.
    pub(crate) fn empty_line(&mut self) -> TokenStream {
        let number = proc_macro2::Literal::usize_unsuffixed(self.comments.len());
        self.comments.push(String::new());
        quote!(c__!(#number);)
    }

    /// Prints a file, formatted, with these parts in it.
    ///
    /// # Errors
    /// If the tokens are no file of Rust.
    pub(crate) fn print(&self, file: TokenStream) -> Result<String, syn::Error> {
        let printed = prettyplease::unparse(&syn::parse2(file)?);
        let mut text = String::new();
        for line in printed.lines() {
            match self.commented(line) {
                Some(comment) => {
                    let indent = &line[..line.len() - line.trim_start().len()];
                    text.push_str(format!("{indent}{comment}").trim_end());
                }
                None => self.mapped(line, &mut text),
            }
            text.push('\n');
        }
        Ok(text)
    }

    /// The comment that a line stands for.
    fn commented(&self, line: &str) -> Option<&str> {
        let rest = line.trim().strip_prefix(COMMENT)?;
        let number = rest.trim_start_matches('(').trim_end_matches(';').trim_end_matches(')');
        self.comments.get(number.trim().parse::<usize>().ok()?).map(String::as_str)
    }

    /// Adds a line, with the mappings instead of their placeholders.
    fn mapped(&self, line: &str, text: &mut String) {
        let mut rest = line;
        while let Some((before, after)) = rest.split_once(MAPPING) {
            text.push_str(before);
            let digits = after.len() - after.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
            let mapping = after[..digits].parse::<usize>().ok().and_then(|number| self.mappings.get(number));
            match mapping.filter(|_| after[digits..].starts_with('_')) {
                Some(mapping) => {
                    text.push_str(mapping);
                    rest = &after[digits + 1..];
                }
                None => {
                    text.push_str(MAPPING);
                    rest = after;
                }
            }
        }
        text.push_str(rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_mappings_are_printed() {
        let mut parts = Placeholders::default();
        let mapping = parts.mapping("A / 8, B # 16");
        let (above, empty, inside) = (parts.comment("above"), parts.empty_line(), parts.comment("inside"));
        let text = parts.print(quote! {
            #above
            #empty
            fn f() {
                #inside
                let x: HbmTensor<bf16, #mapping> = g::<#mapping>();
            }
        });
        let expected = "// above\n\nfn f() {\n    // inside\n    let x: HbmTensor<bf16, m![A / 8, B # 16]> = \
                        g::<m![A / 8, B # 16]>();\n}\n";
        assert_eq!(text.expect("a file"), expected);
    }

    #[test]
    fn lines_break_by_the_width_of_mappings() {
        let mut parts = Placeholders::default();
        let short = parts.mapping("A");
        let long = parts.mapping(&"A / 8, ".repeat(20));
        let lines = |parts: &Placeholders, map: &Ident| {
            let text = parts.print(quote!(fn f() { let x: T<#map> = y.to_dm(&mut d.tdma); }));
            text.expect("a file").lines().count()
        };
        assert_eq!(lines(&parts, &short), 3);
        assert!(lines(&parts, &long) > 3);
    }
}
