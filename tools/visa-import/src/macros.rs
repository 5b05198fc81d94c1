//! `macro_rules!` of the input: definitions, their scope, and expansion.
//!
//! Scope is textual: a name means the last definition before its use, in the block or module around it. Expansion is
//! hygienic: the identifiers of a macro's body get a mark ([`crate::marks`]), those of its arguments stay as they
//! are.

use crate::marks::{mark, marked_name, plain};
use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeMap;
use std::rc::Rc;
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseBuffer, ParseStream, Parser};

/// Most macros that may be expanded one in the other.
pub(crate) const MAX_DEPTH: usize = 64;

/// Most tokens that an expansion may have.
pub(crate) const MAX_TOKENS: usize = 1 << 20;

/// A definition: its number among all of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MacroId(pub(crate) usize);

/// A definition by `macro_rules!`.
#[derive(Debug)]
pub(crate) struct Macro {
    pub(crate) id: MacroId,
    pub(crate) name: String,
    pub(crate) rules: TokenStream,
}

/// The definitions before a position of the text, the last one first.
#[derive(Clone, Default)]
pub(crate) struct MacroScope(Option<Rc<(Rc<Macro>, MacroScope)>>);

impl MacroScope {
    /// The scope after one more definition.
    pub(crate) fn with(&self, definition: Rc<Macro>) -> Self {
        Self(Some(Rc::new((definition, self.clone()))))
    }

    /// The last definition of a name.
    pub(crate) fn find(&self, name: &str) -> Option<Rc<Macro>> {
        let mut scope = self;
        while let Some(node) = &scope.0 {
            if node.0.name == name {
                return Some(Rc::clone(&node.0));
            }
            scope = &node.1;
        }
        None
    }
}

/// Expands a use of a macro by the first rule that matches. The identifiers of the body get `number` as a mark.
///
/// # Errors
/// The message, where no rule matches, or the rules have something that is not read.
pub(crate) fn expand(definition: &Macro, given: TokenStream, number: usize) -> Result<TokenStream, String> {
    let name = &definition.name;
    let rules =
        rules_of(definition.rules.clone()).ok_or_else(|| format!("the rules of `{name}!` are not read"))?;
    for (pattern, body) in rules {
        let Some(pattern) = Part::all(pattern) else {
            return Err(format!("a rule of `{name}!` has a fragment that is not known here"));
        };
        let whole = |input: ParseStream<'_>| {
            let (found, left) = sequence(&pattern, input.fork(), Bindings::new(), true)?;
            input.advance_to(&left);
            Ok(found)
        };
        let Ok(found) = whole.parse2(given.clone()) else { continue };
        let expanded = substitute(body, &found, Some(number))?;
        if count(&expanded) > MAX_TOKENS {
            return Err(format!("`{name}!` expands to more than {MAX_TOKENS} tokens"));
        }
        return Ok(expanded);
    }
    Err(format!("no rule of `{name}!` matches"))
}

fn count(tokens: &TokenStream) -> usize {
    let own = |token: TokenTree| match token {
        TokenTree::Group(group) => 1 + count(&group.stream()),
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => 1,
    };
    tokens.clone().into_iter().map(own).sum()
}

/// The patterns of the rules with their bodies.
fn rules_of(rules: TokenStream) -> Option<Vec<(TokenStream, TokenStream)>> {
    let mut left = rules.into_iter().peekable();
    let mut found = Vec::new();
    while left.peek().is_some() {
        let Some(TokenTree::Group(pattern)) = left.next() else { return None };
        // `=>`
        left.next()?;
        left.next()?;
        let Some(TokenTree::Group(body)) = left.next() else { return None };
        found.push((pattern.stream(), body.stream()));
        if matches!(left.peek(), Some(TokenTree::Punct(end)) if end.as_char() == ';') {
            left.next();
        }
    }
    Some(found)
}

#[derive(Clone, Copy)]
enum Fragment {
    Ident,
    Type,
    Expr,
    Literal,
    Path,
    Block,
    Tree,
    Stmt,
    Pat,
    PatParam,
    Item,
    Vis,
    Lifetime,
    Meta,
}

impl Fragment {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "ident" => Self::Ident,
            "ty" => Self::Type,
            "expr" | "expr_2021" => Self::Expr,
            "literal" => Self::Literal,
            "path" => Self::Path,
            "block" => Self::Block,
            "tt" => Self::Tree,
            "stmt" => Self::Stmt,
            "pat" => Self::Pat,
            "pat_param" => Self::PatParam,
            "item" => Self::Item,
            "vis" => Self::Vis,
            "lifetime" => Self::Lifetime,
            "meta" => Self::Meta,
            _ => return None,
        })
    }
}

enum Part {
    Token(TokenTree),
    Group(Delimiter, Vec<Part>),
    Named(String, Fragment),
    Repeated { parts: Vec<Part>, between: Option<TokenTree>, least: usize, most: usize },
}

impl Part {
    fn all(pattern: TokenStream) -> Option<Vec<Self>> {
        let mut left = pattern.into_iter();
        let mut parts = Vec::new();
        while let Some(token) = left.next() {
            parts.push(match token {
                TokenTree::Punct(dollar) if dollar.as_char() == '$' => match left.next()? {
                    TokenTree::Ident(name) => {
                        left.next()?;
                        let TokenTree::Ident(fragment) = left.next()? else { return None };
                        Self::Named(marked_name(&name), Fragment::named(plain(&fragment.to_string()))?)
                    }
                    TokenTree::Group(inner) => {
                        let (between, (least, most)) = repetition(&mut left)?;
                        Self::Repeated { parts: Self::all(inner.stream())?, between, least, most }
                    }
                    TokenTree::Punct(_) | TokenTree::Literal(_) => return None,
                },
                TokenTree::Group(group) => Self::Group(group.delimiter(), Self::all(group.stream())?),
                other => Self::Token(other),
            });
        }
        Some(parts)
    }

    /// The names that parts bind.
    fn names(parts: &[Self]) -> Vec<&String> {
        let mut names = Vec::new();
        for part in parts {
            match part {
                Self::Token(_) => {}
                Self::Named(name, _) => names.push(name),
                Self::Group(_, parts) | Self::Repeated { parts, .. } => names.extend(Self::names(parts)),
            }
        }
        names
    }
}

/// The separator of the repetitions, and the permitted number of repetitions.
fn repetition(left: &mut impl Iterator<Item = TokenTree>) -> Option<(Option<TokenTree>, (usize, usize))> {
    let times = |token: &TokenTree| match token {
        TokenTree::Punct(sign) => match sign.as_char() {
            '*' => Some((0, usize::MAX)),
            '+' => Some((1, usize::MAX)),
            '?' => Some((0, 1)),
            _ => None,
        },
        TokenTree::Group(_) | TokenTree::Ident(_) | TokenTree::Literal(_) => None,
    };
    let first = left.next()?;
    match times(&first) {
        Some(found) => Some((None, found)),
        None => Some((Some(first), times(&left.next()?)?)),
    }
}

type Bindings = BTreeMap<String, Bound>;

#[derive(Clone)]
enum Bound {
    One(TokenStream),
    Repeated(Vec<Bindings>),
}

/// Returns true if two tokens are the same but for marks.
fn same(one: &TokenTree, other: &TokenTree) -> bool {
    match (one, other) {
        (TokenTree::Ident(one), TokenTree::Ident(other)) => {
            plain(&one.to_string()) == plain(&other.to_string())
        }
        (TokenTree::Punct(one), TokenTree::Punct(other)) => one.as_char() == other.as_char(),
        (TokenTree::Literal(one), TokenTree::Literal(other)) => one.to_string() == other.to_string(),
        (_, _) => false,
    }
}

/// Matches parts one after the other, with the input that is then left; `whole` if nothing may be left. Fewer
/// repetitions are tried where the parts after them do not match after the most.
fn sequence<'a>(
    parts: &[Part],
    input: ParseBuffer<'a>,
    mut found: Bindings,
    whole: bool,
) -> syn::Result<(Bindings, ParseBuffer<'a>)> {
    let Some((part, rest)) = parts.split_first() else {
        return if whole && !input.is_empty() {
            Err(input.error("more tokens than the rule has"))
        } else {
            Ok((found, input))
        };
    };
    match part {
        Part::Token(wanted) => {
            let token: TokenTree = input.parse()?;
            if !same(&token, wanted) {
                return Err(input.error("another token"));
            }
        }
        Part::Group(delimiter, inner) => {
            let TokenTree::Group(group) = input.parse()? else { return Err(input.error("no group")) };
            if group.delimiter() != *delimiter {
                return Err(input.error("another delimiter"));
            }
            let given = std::mem::take(&mut found);
            let matched = |input: ParseStream<'_>| {
                let (found, left) = sequence(inner, input.fork(), given, true)?;
                input.advance_to(&left);
                Ok(found)
            };
            found = matched.parse2(group.stream())?;
        }
        Part::Named(name, fragment) => {
            let tokens = fragment.parse(&input)?;
            found.insert(name.clone(), Bound::One(tokens));
        }
        Part::Repeated { parts, between, least, most } => {
            return repeated((parts, between.as_ref(), *least, *most), rest, input, (&found, whole));
        }
    }
    sequence(rest, input, found, whole)
}

/// Matches a repetition and the parts after it.
fn repeated<'a>(
    (parts, between, least, most): (&[Part], Option<&TokenTree>, usize, usize),
    rest: &[Part],
    input: ParseBuffer<'a>,
    (found, whole): (&Bindings, bool),
) -> syn::Result<(Bindings, ParseBuffer<'a>)> {
    let mut all = Vec::new();
    let mut ends = vec![input];
    while all.len() < most {
        let Some(end) = ends.last().filter(|end| !end.is_empty()) else { break };
        let fork = end.fork();
        if let (Some(between), false) = (between, all.is_empty())
            && !fork.parse::<TokenTree>().is_ok_and(|token| same(&token, between))
        {
            break;
        }
        let start = fork.cursor();
        let Ok((own, left)) = sequence(parts, fork, Bindings::new(), false) else { break };
        if left.cursor() == start {
            break;
        }
        all.push(own);
        ends.push(left);
    }
    while let Some(end) = ends.pop() {
        if all.len() < least {
            break;
        }
        let mut own = found.clone();
        for name in Part::names(parts) {
            own.insert(name.clone(), Bound::Repeated(all.clone()));
        }
        if let Ok(matched) = sequence(rest, end.fork(), own, whole) {
            return Ok(matched);
        }
        all.pop();
    }
    Err(syn::Error::new(proc_macro2::Span::call_site(), "no number of repetitions matches"))
}

impl Fragment {
    fn parse(self, input: ParseStream<'_>) -> syn::Result<TokenStream> {
        // An expression that an outer macro was given is one token for `tt` and `expr`, and no name.
        let opaque = matches!(
            input.fork().parse::<TokenTree>(),
            Ok(TokenTree::Group(group)) if group.delimiter() == Delimiter::None
        );
        Ok(match self {
            Self::Expr if input.peek(syn::Token![let]) => {
                return Err(input.error("`let` begins no expression"));
            }
            Self::Ident | Self::Lifetime | Self::Block | Self::Item | Self::Vis | Self::Meta if opaque => {
                return Err(input.error("an expression"));
            }
            Self::Ident => {
                let ident = syn::Ident::parse_any(input)?;
                if ident == "_" {
                    return Err(input.error("`_` is no name"));
                }
                ident.into_token_stream()
            }
            Self::Type => input.parse::<syn::Type>()?.into_token_stream(),
            Self::Expr => one_operand(input.parse::<syn::Expr>()?.into_token_stream()),
            Self::Literal => {
                let sign: Option<syn::Token![-]> = input.parse()?;
                let literal = input.parse::<syn::Lit>()?;
                let mut tokens = sign.into_token_stream();
                literal.to_tokens(&mut tokens);
                one_operand(tokens)
            }
            Self::Path => input.parse::<syn::Path>()?.into_token_stream(),
            Self::Block => input.parse::<syn::Block>()?.into_token_stream(),
            Self::Tree => tree(input)?,
            Self::Stmt => statement(input)?,
            Self::Pat => syn::Pat::parse_multi_with_leading_vert(input)?.into_token_stream(),
            Self::PatParam => syn::Pat::parse_single(input)?.into_token_stream(),
            Self::Item => input.parse::<syn::Item>()?.into_token_stream(),
            Self::Vis => input.parse::<syn::Visibility>()?.into_token_stream(),
            Self::Lifetime => input.parse::<syn::Lifetime>()?.into_token_stream(),
            Self::Meta => input.parse::<syn::Meta>()?.into_token_stream(),
        })
    }
}

/// A token tree; a lifetime is one.
fn tree(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    if input.peek(syn::Lifetime) {
        return Ok(input.parse::<syn::Lifetime>()?.into_token_stream());
    }
    let first: TokenTree = input.parse()?;
    let mut tokens = TokenStream::from(first.clone());
    // An operator of several signs is one token.
    let mut signs = match &first {
        TokenTree::Punct(sign) => sign.as_char().to_string(),
        TokenTree::Group(_) | TokenTree::Ident(_) | TokenTree::Literal(_) => return Ok(tokens),
    };
    let mut last = first;
    while matches!(&last, TokenTree::Punct(sign) if sign.spacing() == proc_macro2::Spacing::Joint) {
        let fork = input.fork();
        let Ok(TokenTree::Punct(next)) = fork.parse::<TokenTree>() else { break };
        signs.push(next.as_char());
        if !OPERATORS.contains(&signs.as_str()) {
            break;
        }
        input.advance_to(&fork);
        last = TokenTree::Punct(next);
        tokens.extend([last.clone()]);
    }
    Ok(tokens)
}

/// Operators of several signs.
const OPERATORS: &[&str] = &[
    "==", "!=", "<=", ">=", "&&", "||", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<<", ">>", "<<=",
    ">>=", "..", "...", "..=", "::", "->", "=>", "<-",
];

/// A statement without its semicolon.
fn statement(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    if input.peek(syn::Token![let]) {
        let mut tokens = input.parse::<syn::Token![let]>()?.into_token_stream();
        syn::Pat::parse_single(input)?.to_tokens(&mut tokens);
        if input.peek(syn::Token![:]) {
            input.parse::<syn::Token![:]>()?.to_tokens(&mut tokens);
            input.parse::<syn::Type>()?.to_tokens(&mut tokens);
        }
        if input.peek(syn::Token![=]) {
            input.parse::<syn::Token![=]>()?.to_tokens(&mut tokens);
            input.parse::<syn::Expr>()?.to_tokens(&mut tokens);
        }
        return Ok(tokens);
    }
    let item = input.fork();
    if let Ok(parsed) = item.parse::<syn::Item>() {
        input.advance_to(&item);
        return Ok(parsed.into_token_stream());
    }
    Ok(input.parse::<syn::Expr>()?.into_token_stream())
}

/// An expression as one operand, in any context: in parentheses, or a single token in a group without delimiters,
/// which `m![..]` and patterns take.
fn one_operand(tokens: TokenStream) -> TokenStream {
    let mut all = tokens.clone().into_iter();
    let delimiter = match (all.next(), all.next()) {
        (Some(TokenTree::Group(group)), None) => match group.delimiter() {
            Delimiter::None | Delimiter::Parenthesis => return tokens,
            Delimiter::Brace | Delimiter::Bracket => Delimiter::Parenthesis,
        },
        (_, None) => Delimiter::None,
        (_, Some(_)) => Delimiter::Parenthesis,
    };
    let span = all.next().map_or_else(proc_macro2::Span::call_site, |token| token.span());
    let span = tokens.clone().into_iter().next().map_or(span, |token| token.span());
    let mut group = Group::new(delimiter, tokens);
    group.set_span(span);
    TokenTree::Group(group).into()
}

/// The body with the bindings of its names substituted; other identifiers get the mark.
fn substitute(body: TokenStream, found: &Bindings, number: Option<usize>) -> Result<TokenStream, String> {
    let mut out = Vec::new();
    let mut left = body.into_iter().peekable();
    let mut after_hash = false;
    while let Some(token) = left.next() {
        // The words of attributes name no variables.
        let is_attribute = std::mem::replace(&mut after_hash, is_hash(&token));
        match token {
            TokenTree::Punct(dollar) if dollar.as_char() == '$' => match left.next() {
                Some(TokenTree::Ident(name)) => match found.get(&marked_name(&name)) {
                    Some(Bound::One(tokens)) => out.extend(tokens.clone()),
                    Some(Bound::Repeated(_)) => {
                        return Err(format!("`${name}` is repeated: it is in no repetition"));
                    }
                    None if name == "crate" => out.push(TokenTree::Ident(name)),
                    // The name of a macro that the body defines.
                    None => out.extend([TokenTree::Punct(dollar), TokenTree::Ident(marked(&name, number))]),
                },
                Some(TokenTree::Group(inner)) => {
                    let (between, _) = repetition(&mut left).ok_or("a repetition without `*`, `+` or `?`")?;
                    out.extend(repeat(&inner.stream(), between.as_ref(), found, number)?);
                }
                Some(TokenTree::Punct(_) | TokenTree::Literal(_)) | None => {
                    return Err("`$` without a name".to_owned());
                }
            },
            TokenTree::Group(group) => {
                let number = number.filter(|_| !is_attribute);
                let mut inner = Group::new(group.delimiter(), substitute(group.stream(), found, number)?);
                inner.set_span(group.span());
                out.push(inner.into());
            }
            TokenTree::Ident(ident) => out.push(TokenTree::Ident(marked(&ident, number))),
            other @ (TokenTree::Punct(_) | TokenTree::Literal(_)) => out.push(other),
        }
    }
    Ok(out.into_iter().collect())
}

/// The identifier with a mark, if there is one to give.
fn marked(ident: &Ident, number: Option<usize>) -> Ident {
    number.map_or_else(|| ident.clone(), |number| mark(ident, number))
}

/// Returns true for the sign before an attribute.
fn is_hash(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(sign) if sign.as_char() == '#')
}

fn repeat(
    body: &TokenStream,
    between: Option<&TokenTree>,
    found: &Bindings,
    number: Option<usize>,
) -> Result<TokenStream, String> {
    let mut mentioned = Vec::new();
    mentions(body.clone(), &mut mentioned);
    let repeated = mentioned.iter().filter_map(|name| match found.get(&marked_name(name)) {
        Some(Bound::Repeated(all)) => Some(all),
        Some(Bound::One(_)) | None => None,
    });
    let repeated: Vec<&Vec<Bindings>> = repeated.collect();
    let Some(count) = repeated.first().map(|all| all.len()) else {
        return Err("a repetition of nothing that is repeated".to_owned());
    };
    if repeated.iter().any(|all| all.len() != count) {
        return Err("a repetition of names that are repeated different numbers of times".to_owned());
    }
    let mut out = TokenStream::new();
    for at in 0..count {
        if let (Some(between), true) = (between, at > 0) {
            out.extend([between.clone()]);
        }
        let mut own = found.clone();
        for all in &repeated {
            own.extend(all[at].clone());
        }
        out.extend(substitute(body.clone(), &own, number)?);
    }
    Ok(out)
}

/// The names after `$` in a body.
fn mentions(body: TokenStream, names: &mut Vec<Ident>) {
    let mut left = body.into_iter().peekable();
    while let Some(token) = left.next() {
        match token {
            TokenTree::Punct(dollar) if dollar.as_char() == '$' => {
                if let Some(TokenTree::Ident(name)) = left.peek() {
                    names.push(name.clone());
                }
            }
            TokenTree::Group(group) => mentions(group.stream(), names),
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(rules: &str) -> Macro {
        let rules = rules.parse().expect(rules);
        Macro { id: MacroId(0), name: "own".to_owned(), rules }
    }

    fn tokens(rules: &str, given: &str) -> Result<TokenStream, String> {
        expand(&definition(rules), given.parse().expect(given), 7)
    }

    /// The expansion, in which `ʹ7` marks the tokens of the macro.
    fn expanded(rules: &str, given: &str) -> Result<String, String> {
        tokens(rules, given).map(|found| found.to_string())
    }

    #[test]
    fn fragments_are_put_in_place() {
        assert_eq!(
            expanded("($a:ident, $t:ty) => { let $a: $t; };", "x, Vec<u8>"),
            Ok("let x : Vec < u8 > ;".into())
        );
        assert_eq!(expanded("($n:literal) => { $n + 1 }", "-3"), Ok("(- 3) + 1".into()));
        assert_eq!(
            expanded("($a:lifetime $b:stmt; $p:pat, $v:vis) => { $a $b; $p $v }", "'x let y = 1; A | B, pub"),
            Ok("'x let y = 1 ; A | B pub".into())
        );
    }

    #[test]
    fn an_expression_is_one_operand() {
        assert_eq!(expanded("($e:expr) => { $e * 2 }", "1 + 2"), Ok("(1 + 2) * 2".into()));
        assert_eq!(expanded("($e:expr) => { $e - 1 }", "{ 3 }"), Ok("({ 3 }) - 1".into()));
        let single = tokens("($e:expr) => { $e }", "x").expect("it matches").into_iter().next();
        assert!(matches!(single, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::None));
        // An argument of an outer macro is no literal for an inner one.
        let group = TokenTree::Group(Group::new(Delimiter::None, "0".parse().expect("a number")));
        let found = expand(&definition("(0) => { zero }; ($e:expr) => { other }"), group.into(), 7);
        assert_eq!(found.map(|found| found.to_string()), Ok("otherʹ7".into()));
    }

    #[test]
    fn names_of_the_body_are_marked() {
        assert_eq!(expanded("($e:ident) => { let t = $e; t + $e }", "t"), Ok("let tʹ7 = t ; tʹ7 + t".into()));
        assert_eq!(expanded("() => { self.x; break 'a }", ""), Ok("self . xʹ7 ; break 'aʹ7".into()));
        assert_eq!(expanded("() => { #[cfg(unix)] x }", ""), Ok("# [cfg (unix)] xʹ7".into()));
    }

    #[test]
    fn the_first_rule_that_matches_counts() {
        let rules = "() => { 0 }; ($a:ident) => { 1 $a }; ($a:ident, $($b:ident),+) => { $a $(, $b)* }";
        assert_eq!(expanded(rules, ""), Ok("0".into()));
        assert_eq!(expanded(rules, "x"), Ok("1 x".into()));
        assert_eq!(expanded(rules, "x, y, z"), Ok("x , y , z".into()));
        assert_eq!(expanded(rules, "x, 3"), Err("no rule of `own!` matches".into()));
        assert_eq!(
            expanded("($x:expr) => { 1 }; (let $v:ident = $x:expr) => { 2 }", "let q = 3"),
            Ok("2".into())
        );
    }

    #[test]
    fn a_repetition_leaves_what_follows_it() {
        let rules = "($($name:ident = $size:expr),* $(,)?) => { [$($size),*] $($name;)* }";
        let found = expanded(rules, "A = 1, B = 2,").expect("it matches");
        assert!(found.ends_with("A ; B ;"), "{found}");
        assert_eq!(expanded(rules, ""), Ok("[]".into()));
        // As many as leave one for the next fragment.
        assert_eq!(expanded("($(a)* a $last:ident) => { $last }", "a a a b"), Ok("b".into()));
        let nested = "($($name:ident: $($size:literal)*;)*) => { $($name [$($size)*])* }";
        let found = expanded(nested, "A: 1 2; B: ; C: 3;").expect("it matches");
        assert_eq!(found.matches('[').count(), 3, "{found}");
        assert!(expanded("($($a:ident)*; $($b:ident)*) => { $($a $b)* }", "x y; z").is_err());
    }

    #[test]
    fn a_body_defines_macros() {
        let rules = "($name:ident, $by:literal) => { macro_rules! $name { ($x:expr) => { $x * $by } } }";
        let found = expanded(rules, "twice, 2").expect("it matches");
        assert_eq!(found, "macro_rules ! twice { ($ xʹ7 : exprʹ7) => { $ xʹ7 * 2 } }");
    }

    #[test]
    fn the_last_definition_counts() {
        let scope = MacroScope::default();
        assert!(scope.find("own").is_none());
        let first = scope.with(Rc::new(definition("() => { 1 }")));
        let second = first.with(Rc::new(Macro { id: MacroId(1), ..definition("() => { 2 }") }));
        assert_eq!(first.find("own").map(|own| own.id), Some(MacroId(0)));
        assert_eq!(second.find("own").map(|own| own.id), Some(MacroId(1)));
    }

    #[test]
    fn what_is_not_read_is_refused() {
        assert_eq!(
            expanded("($a:nothing) => {}", ""),
            Err("a rule of `own!` has a fragment that is not known here".into())
        );
        assert_eq!(
            expanded("($($a:ident)*) => { $a }", "x"),
            Err("`$a` is repeated: it is in no repetition".into())
        );
        assert_eq!(
            expanded("($a:ident) => { $($a)* }", "x"),
            Err("a repetition of nothing that is repeated".into())
        );
    }
}
