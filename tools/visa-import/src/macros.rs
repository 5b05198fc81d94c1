//! `macro_rules!` of the input: rules of names, types, expressions, literals and token trees, with repetitions.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeMap;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};

/// Most macros that may be expanded one in the other.
pub(crate) const MAX_DEPTH: usize = 64;

/// Most tokens that an expansion may have.
pub(crate) const MAX_TOKENS: usize = 1 << 20;

/// What a macro's use stands for: that of its first rule that matches.
pub(crate) fn expand(
    rules: &TokenStream,
    given: TokenStream,
    name: &str,
    depth: usize,
) -> Result<TokenStream, String> {
    if depth >= MAX_DEPTH {
        return Err(format!(
            "`{name}!` expands into macros without end: more than {MAX_DEPTH} in each other"
        ));
    }
    for (pattern, body) in
        rules_of(rules.clone()).ok_or_else(|| format!("the rules of `{name}!` are not read"))?
    {
        let Some(pattern) = Part::all(pattern) else {
            return Err(format!("a rule of `{name}!` has a fragment that is not known here"));
        };
        let whole = |input: ParseStream<'_>| {
            let mut found = Bindings::new();
            matches(&pattern, input, &mut found)?;
            if input.is_empty() { Ok(found) } else { Err(input.error("more tokens than the rule has")) }
        };
        let Ok(found) = whole.parse2(given.clone()) else { continue };
        let expanded = substitute(body, &found)?;
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

/// The patterns of the rules with what each stands for.
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
                        Self::Named(name.to_string(), fragment(&left.next()?.to_string())?)
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
}

fn fragment(name: &str) -> Option<Fragment> {
    Some(match name {
        "ident" => Fragment::Ident,
        "ty" => Fragment::Type,
        "expr" => Fragment::Expr,
        "literal" => Fragment::Literal,
        "path" => Fragment::Path,
        "block" => Fragment::Block,
        "tt" => Fragment::Tree,
        _ => return None,
    })
}

/// What is between the turns of a repetition, and how many turns there may be.
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
    Turns(Vec<Bindings>),
}

fn matches(parts: &[Part], input: ParseStream<'_>, found: &mut Bindings) -> syn::Result<()> {
    for part in parts {
        match part {
            Part::Token(wanted) => {
                let token: TokenTree = input.parse()?;
                if token.to_string() != wanted.to_string() {
                    return Err(input.error("another token"));
                }
            }
            Part::Group(delimiter, inner) => {
                let TokenTree::Group(group) = input.parse()? else { return Err(input.error("no group")) };
                if group.delimiter() != *delimiter {
                    return Err(input.error("another delimiter"));
                }
                let whole = |input: ParseStream<'_>| {
                    matches(inner, input, found)?;
                    if input.is_empty() { Ok(()) } else { Err(input.error("more tokens")) }
                };
                whole.parse2(group.stream())?;
            }
            Part::Named(name, fragment) => {
                let tokens = one(*fragment, input)?;
                found.insert(name.clone(), Bound::One(tokens));
            }
            Part::Repeated { parts, between, least, most } => {
                let turns = turns(parts, between.as_ref(), *most, input)?;
                if turns.len() < *least {
                    return Err(input.error("too few"));
                }
                let mut names = Vec::new();
                names_of(parts, &mut names);
                for name in names {
                    found.insert(name, Bound::Turns(turns.clone()));
                }
            }
        }
    }
    Ok(())
}

fn names_of(parts: &[Part], names: &mut Vec<String>) {
    for part in parts {
        match part {
            Part::Token(_) => {}
            Part::Named(name, _) => names.push(name.clone()),
            Part::Group(_, parts) | Part::Repeated { parts, .. } => names_of(parts, names),
        }
    }
}

fn turns(
    parts: &[Part],
    between: Option<&TokenTree>,
    most: usize,
    input: ParseStream<'_>,
) -> syn::Result<Vec<Bindings>> {
    let mut found = Vec::new();
    while found.len() < most && !input.is_empty() {
        let fork = input.fork();
        if let (Some(between), false) = (between, found.is_empty()) {
            match fork.parse::<TokenTree>() {
                Ok(token) if token.to_string() == between.to_string() => {}
                Ok(_) | Err(_) => break,
            }
        }
        let mut own = Bindings::new();
        if matches(parts, &fork, &mut own).is_err() {
            break;
        }
        syn::parse::discouraged::Speculative::advance_to(input, &fork);
        found.push(own);
    }
    Ok(found)
}

fn one(fragment: Fragment, input: ParseStream<'_>) -> syn::Result<TokenStream> {
    Ok(match fragment {
        Fragment::Ident => syn::Ident::parse_any(input)?.into_token_stream(),
        Fragment::Type => input.parse::<syn::Type>()?.into_token_stream(),
        // In parentheses of no delimiter, as rustc has it: precedence stays.
        Fragment::Expr => grouped(input.parse::<syn::Expr>()?.into_token_stream()),
        Fragment::Literal => {
            let sign: Option<syn::Token![-]> = input.parse()?;
            let literal = input.parse::<syn::Lit>()?;
            let mut tokens = sign.into_token_stream();
            literal.to_tokens(&mut tokens);
            tokens
        }
        Fragment::Path => input.parse::<syn::Path>()?.into_token_stream(),
        Fragment::Block => input.parse::<syn::Block>()?.into_token_stream(),
        Fragment::Tree => input.parse::<TokenTree>()?.into_token_stream(),
    })
}

fn grouped(tokens: TokenStream) -> TokenStream {
    // A single token needs none, and `m!` would not take one.
    match tokens.clone().into_iter().count() {
        1 => tokens,
        _ => TokenTree::Group(Group::new(Delimiter::None, tokens)).into(),
    }
}

fn substitute(body: TokenStream, found: &Bindings) -> Result<TokenStream, String> {
    let mut out = Vec::new();
    let mut left = body.into_iter().peekable();
    while let Some(token) = left.next() {
        match token {
            TokenTree::Punct(dollar) if dollar.as_char() == '$' => match left.next() {
                Some(TokenTree::Ident(name)) => match found.get(&name.to_string()) {
                    Some(Bound::One(tokens)) => out.extend(tokens.clone()),
                    Some(Bound::Turns(_)) => {
                        return Err(format!("`${name}` is repeated: it is in no repetition"));
                    }
                    None if name == "crate" => out.push(TokenTree::Ident(name)),
                    None => return Err(format!("`${name}` is not bound")),
                },
                Some(TokenTree::Group(inner)) => {
                    let (between, _) = repetition(&mut left).ok_or("a repetition without `*`, `+` or `?`")?;
                    out.extend(repeat(&inner.stream(), between.as_ref(), found)?);
                }
                Some(TokenTree::Punct(_) | TokenTree::Literal(_)) | None => {
                    return Err("`$` without a name".to_owned());
                }
            },
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), substitute(group.stream(), found)?);
                inner.set_span(group.span());
                out.push(inner.into());
            }
            other => out.push(other),
        }
    }
    Ok(out.into_iter().collect())
}

fn repeat(body: &TokenStream, between: Option<&TokenTree>, found: &Bindings) -> Result<TokenStream, String> {
    let mut mentioned = Vec::new();
    mentions(body.clone(), &mut mentioned);
    let turns = mentioned.iter().find_map(|name| match found.get(name) {
        Some(Bound::Turns(turns)) => Some(turns),
        Some(Bound::One(_)) | None => None,
    });
    let turns = turns.ok_or("a repetition of nothing that is repeated")?;
    let mut out = TokenStream::new();
    for (at, turn) in turns.iter().enumerate() {
        if let (Some(between), true) = (between, at > 0) {
            out.extend([between.clone()]);
        }
        let mut own = found.clone();
        own.extend(turn.clone());
        out.extend(substitute(body.clone(), &own)?);
    }
    Ok(out)
}

fn mentions(body: TokenStream, names: &mut Vec<String>) {
    let mut left = body.into_iter().peekable();
    while let Some(token) = left.next() {
        match token {
            TokenTree::Punct(dollar) if dollar.as_char() == '$' => {
                if let Some(TokenTree::Ident(name)) = left.peek() {
                    names.push(name.to_string());
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

    fn expanded(rules: &str, given: &str) -> Result<String, String> {
        let tokens = |text: &str| text.parse::<TokenStream>().expect(text);
        expand(&tokens(rules), tokens(given), "own", 0).map(|found| found.to_string())
    }

    #[test]
    fn fragments_are_put_in_place() {
        assert_eq!(
            expanded("($a:ident, $t:ty) => { let $a: $t; };", "x, Vec<u8>"),
            Ok("let x : Vec < u8 > ;".into())
        );
        assert_eq!(expanded("($n:literal) => { $n + 1 }", "-3"), Ok("- 3 + 1".into()));
        // An expression stays one.
        assert_eq!(expanded("($e:expr) => { $e * 2 }", "1 + 2"), Ok("1 + 2 * 2".into()));
        let grouped = expand(
            &"($e:expr) => { $e * 2 }".parse().expect("rules"),
            "1 + 2".parse().expect("tokens"),
            "own",
            0,
        );
        let grouped = grouped.expect("it matches").into_iter().next();
        assert!(matches!(grouped, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::None));
    }

    #[test]
    fn the_first_rule_that_matches_counts() {
        let rules =
            "() => { none }; ($a:ident) => { one $a }; ($a:ident, $($b:ident),+) => { $a $(and $b)* }";
        assert_eq!(expanded(rules, ""), Ok("none".into()));
        assert_eq!(expanded(rules, "x"), Ok("one x".into()));
        assert_eq!(expanded(rules, "x, y, z"), Ok("x and y and z".into()));
        assert_eq!(expanded(rules, "x, 3"), Err("no rule of `own!` matches".into()));
    }

    #[test]
    fn what_is_repeated_is_so_with_what_is_between() {
        let rules = "($($name:ident = $size:expr),* $(,)?) => { [$($size),*] $($name;)* }";
        assert_eq!(expanded(rules, "A = 1, B = 2,"), Ok("[1 ,2] A ; B ;".into()));
        assert_eq!(expanded(rules, ""), Ok("[]".into()));
    }

    #[test]
    fn expansions_end() {
        let rules: TokenStream = "() => {}".parse().expect("rules");
        assert!(expand(&rules, TokenStream::new(), "own", MAX_DEPTH - 1).is_ok());
        let error = expand(&rules, TokenStream::new(), "own", MAX_DEPTH).expect_err("too deep");
        assert_eq!(error, "`own!` expands into macros without end: more than 64 in each other");
        assert_eq!(
            expanded("($a:vis) => {}", ""),
            Err("a rule of `own!` has a fragment that is not known here".into())
        );
        assert_eq!(expanded("() => { $b }", ""), Err("`$b` is not bound".into()));
    }
}
