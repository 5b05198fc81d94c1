//! Rules from text: every mistake is a diagnostic at its place in the file.

use crate::condition::Condition;
use crate::grammar::{RuleGrammar, Syntax, Tree, in_words, refuse, span};
use crate::header::header;
use crate::kind::{COMPARISON, Rule, RuleKind};
use crate::scope::Scope;
use pest::Parser as _;
use pest::error::{Error, ErrorVariant, InputLocation};
use std::ops::Range;
use visa_ir::diag::{Diagnostic, counted, nearest};
use visa_ir::span::Span;

/// Deepest nesting of brackets: the grammar is recursive.
pub const MAX_NESTING: usize = 64;

/// Most bytes of a rule: a term may be as deep as it has operators.
pub const MAX_BYTES: usize = 2_048;

/// Most mistakes of syntax that are reported for one file.
pub const MAX_SYNTAX_ERRORS: usize = 20;

/// The rules of a file that can be read, in order, and the errors of the others.
pub fn read<K: RuleKind>(session: K::Session<'_>, text: &str) -> (Vec<Rule<K>>, Vec<Diagnostic>) {
    let (mut rules, mut findings) = (Vec::new(), Vec::new());
    let start = match header(text, K::KIND) {
        Ok(start) => start,
        Err(finding) => return (rules, vec![finding]),
    };
    if let Err(finding) = nesting(text) {
        return (rules, vec![finding]);
    }
    let entry = K::KIND.entry();
    let mut readable = without(text, 0..start);
    while let Err(error) = RuleGrammar::parse(entry, &readable) {
        findings.push(syntax(&error, K::FORM));
        let rest = without(&readable, around(&readable, place(&error).start));
        if findings.len() == MAX_SYNTAX_ERRORS || rest == readable {
            return (rules, findings);
        }
        readable = rest;
    }
    let Ok(trees) = RuleGrammar::parse(entry, &readable) else { return (rules, findings) };
    let mut above: Vec<(usize, String)> = Vec::new();
    for tree in trees {
        let (start, end) = (tree.as_span().start(), tree.as_span().end());
        match tree.as_rule() {
            Syntax::comment => {
                // A blank line ends the comments that belong to the next rule.
                let blank = |end: &usize| text[*end..start].matches('\n').count() > 1;
                if above.last().is_some_and(|(end, _)| blank(end)) {
                    above.clear();
                }
                above.push((end, tree.as_str().trim_start_matches('/').trim().to_owned()));
            }
            Syntax::mapping_rule | Syntax::configuration_rule | Syntax::vector_rule | Syntax::tensor_rule => {
                let near = |end: &usize| text[*end..start].matches('\n').count() <= 1;
                let doc = if above.last().is_some_and(|(end, _)| near(end)) { above.as_slice() } else { &[] };
                let doc: Vec<&str> = doc.iter().map(|(_, line)| line.as_str()).collect();
                match rule::<K>(session, tree, doc.join(" ")) {
                    Ok(rule) => rules.push(rule),
                    Err(finding) => findings.push(finding),
                }
                above.clear();
            }
            _ => above.clear(),
        }
    }
    (rules, findings)
}

/// The text with a range blanked out, so that the rest keeps its place.
fn without(text: &str, range: Range<usize>) -> String {
    let blank = text[range.clone()]
        .chars()
        .map(|c| if c == '\n' { "\n".to_owned() } else { " ".repeat(c.len_utf8()) });
    [&text[..range.start], &blank.collect::<String>(), &text[range.end..]].concat()
}

/// The rule around `at`.
fn around(text: &str, at: usize) -> Range<usize> {
    let starts = |from: usize| text[from..].trim_start().starts_with("rule ");
    let lines = || std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    // A rule that lacks its end is found out at the start of the next one.
    let start = lines().take_while(|&line| line < at.max(1)).filter(|&line| starts(line)).last().unwrap_or(0);
    let end = lines().find(|&line| line >= at.max(1) && starts(line)).unwrap_or(text.len());
    start..end
}

fn nesting(text: &str) -> Result<(), Diagnostic> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_NESTING {
            let message = format!("brackets nest deeper than {MAX_NESTING} levels");
            return Err(Diagnostic::error("rule-syntax", Span::new(at..at + c.len_utf8()), message));
        }
    }
    Ok(())
}

fn place(error: &Error<Syntax>) -> Range<usize> {
    match error.location {
        InputLocation::Pos(at) => at..at,
        InputLocation::Span((start, end)) => start..end,
    }
}

fn syntax(error: &Error<Syntax>, form: &str) -> Diagnostic {
    let mut expected: Vec<&str> = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => positives.iter().map(in_words).collect(),
        ErrorVariant::CustomError { .. } => Vec::new(),
    };
    expected.sort_unstable();
    expected.dedup();
    let expected = if expected.is_empty() { "a rule".to_owned() } else { expected.join(" or ") };
    Diagnostic::error("rule-syntax", Span::new(place(error)), format!("expected {expected}")).note(form, None)
}

/// Reads one rule.
fn rule<K: RuleKind>(session: K::Session<'_>, tree: Tree<'_>, doc: String) -> Result<Rule<K>, Diagnostic> {
    let whole = tree.as_str().trim_end();
    let start = tree.as_span().start();
    let range = start..start + whole.len();
    if whole.len() > MAX_BYTES {
        let message = format!("the rule has {} bytes; a rule has at most {MAX_BYTES}", whole.len());
        return Err(Diagnostic::error("rule-size", Span::new(range), message)
            .fix("write several shorter rules".to_owned()));
    }
    let line = whole.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = line.split_once(':').map_or("", |(_, rule)| rule).trim().to_owned();
    let missing = refuse("rule-syntax", &tree, "a rule has a name and two sides");
    let (mut name, mut options, mut arrow, mut sides, mut requirement) =
        (None, Vec::new(), None, Vec::new(), None);
    for part in tree.into_inner() {
        match part.as_rule() {
            Syntax::opening => {}
            Syntax::name => name = Some(part),
            Syntax::option => options.push(part),
            Syntax::arrow => arrow = Some(part),
            Syntax::requirement => requirement = part.into_inner().next(),
            _ => sides.push(part),
        }
    }
    let (Some(name), Some(arrow), Some(right), Some(left)) = (name, arrow, sides.pop(), sides.pop()) else {
        return Err(missing);
    };
    let both_ways = arrow.as_str() == "<=>";
    if both_ways && !K::BOTH_WAYS {
        let message = format!("`<=>` is not an arrow of {} rules; expected `=>`", K::KIND.word());
        return Err(refuse("rule-syntax", &arrow, message).fix("write `=>`".to_owned()));
    }
    let options = K::options(session, &name, &options)?;
    let mut scope = K::scope();
    let left = K::side(session, &options, &mut scope, left)?;
    scope.close();
    if both_ways {
        binds_all::<K>(session, &options, &scope, &right)?;
    }
    let right = K::side(session, &options, &mut scope, right)?;
    let condition = requirement.map(|tree| condition::<K>(&mut scope, tree)).transpose()?;
    let name = egg::Symbol::from(name.as_str()).as_str();
    Ok(Rule { name, doc, text, range, options, both_ways, left, right, condition, scope })
}

/// Checks that a right side binds all that the left side does: the rule is used from right to left too.
fn binds_all<K: RuleKind>(
    session: K::Session<'_>,
    options: &K::Options,
    left: &Scope<K::Sort>,
    right: &Tree<'_>,
) -> Result<(), Diagnostic> {
    let mut reversed = K::scope();
    K::side(session, options, &mut reversed, right.clone())?;
    match left.names().iter().find(|(name, _)| reversed.position(name).is_none()) {
        Some((name, _)) => {
            let message =
                format!("`{name}` is not bound from right to left: it does not occur on the right side");
            Err(refuse("rule-unbound", right, message).fix("write `=>`".to_owned()))
        }
        None => Ok(()),
    }
}

/// Reads a condition, of the grammar's rule `either`, `both`, `denial` or `test`.
fn condition<K: RuleKind>(
    scope: &mut Scope<K::Sort>,
    tree: Tree<'_>,
) -> Result<Condition<K::Test>, Diagnostic> {
    let (shape, whole) = (tree.as_rule(), tree.clone());
    let mut parts: Vec<_> = tree.into_inner().collect();
    let empty = || refuse("rule-syntax", &whole, "expected a condition");
    match shape {
        Syntax::either | Syntax::both => {
            let parts = parts.into_iter().map(|part| condition::<K>(scope, part));
            let mut parts = parts.collect::<Result<Vec<_>, _>>()?;
            Ok(match (shape, parts.len()) {
                (_, 1) => parts.remove(0),
                (Syntax::either, _) => Condition::Either(parts),
                (_, _) => Condition::Both(parts),
            })
        }
        Syntax::denial => {
            let inner = condition::<K>(scope, parts.pop().ok_or_else(empty)?)?;
            // A condition that is denied twice is itself.
            Ok(if parts.len() % 2 == 1 { Condition::Not(Box::new(inner)) } else { inner })
        }
        _ => {
            let test = parts.pop().ok_or_else(empty)?;
            known::<K>(&test)?;
            Ok(Condition::Test(K::test(scope, test)?))
        }
    }
}

/// Checks the number of arguments of a predicate.
fn arguments<K: RuleKind>(test: &Tree<'_>, word: &str) -> Result<(), Diagnostic> {
    if test.as_rule() != Syntax::predicate {
        return Ok(());
    }
    let count = test.clone().into_inner().filter(|part| part.as_rule() == Syntax::term).count();
    let expected = K::arguments(word);
    if count == expected {
        return Ok(());
    }
    let message = format!("`{word}` has {}, expected {expected}", counted(count, "argument"));
    Err(refuse("rule-condition", test, message))
}

/// Checks that a test is a condition of the kind.
fn known<K: RuleKind>(test: &Tree<'_>) -> Result<(), Diagnostic> {
    let (at, word) = match test.as_rule() {
        Syntax::format => (span(test), "dtype"),
        Syntax::compare => (span(test), COMPARISON),
        _ => test.clone().into_inner().next().map_or((span(test), ""), |name| (span(&name), name.as_str())),
    };
    if K::CONDITIONS.contains(&word) {
        return arguments::<K>(test, word);
    }
    let quoted = |word: &str| if word == COMPARISON { word.to_owned() } else { format!("`{word}`") };
    let known: Vec<_> = K::CONDITIONS.iter().map(|word| quoted(word)).collect();
    let message = format!(
        "{} is not a condition of {} rules; expected {}",
        quoted(word),
        K::KIND.word(),
        known.join(", ")
    );
    let near = nearest(word, K::CONDITIONS.iter().copied().filter(|&word| word != COMPARISON));
    let near = near.filter(|_| word != COMPARISON).map(|near| format!("write `{near}`"));
    Err(Diagnostic::error("rule-condition", at, message).fix(near))
}
