//! From the pieces of a statement to an operation: the part that both forms share.

use super::Parser;
use crate::context::{Attr, AttrId, symbol_name, unquote};
use crate::decl::{BodyDef, BodyError, ClauseDecl, ClauseKind, OpDecl, Trait};
use crate::diag::{Diagnostic, counted, nearest};
use crate::module::{OpId, TypeId};
use crate::open::{self, Opening};
use crate::span::Span;
use std::borrow::Cow;

/// Refuses text that is kept and printed as it is, and moves or hides other text.
pub(super) fn refuse_hidden(text: &str, span: Span) -> Result<(), Diagnostic> {
    let hidden =
        text.char_indices().find(|&(_, letter)| visa_words::hides(letter) && !"\t\n\r".contains(letter));
    let Some((at, letter)) = hidden else { return Ok(()) };
    let message = format!(
        "found the character U+{:04X}, which moves or hides other text, expected it in a string or a comment alone",
        u32::from(letter)
    );
    Err(Diagnostic::error("syntax", span.part(at..at + letter.len_utf8()), message)
        .fix("leave it out".to_owned()))
}

impl<'a> Parser<'a> {
    /// The declaration of `name`, or an error that knows the nearest one.
    pub(super) fn op_decl(&self, name: &str, span: Span) -> Result<&'static OpDecl, Diagnostic> {
        if let Some(decl) = self.ctx.op(name) {
            return Ok(decl);
        }
        let dialect = name.split('.').next().unwrap_or(name);
        if self.ctx.dialect(dialect).is_none() {
            let names: Vec<_> = self.ctx.dialects().map(|d| d.name).collect();
            let message = format!("unknown dialect `{dialect}`; known are `{}`", names.join("`, `"));
            return Err(Diagnostic::error("unknown-dialect", span.part(0..dialect.len()), message)
                .fix(nearest(dialect, names).map(|near| format!("did you mean `{near}`?"))));
        }
        Err(Diagnostic::error("unknown-op", span, format!("unknown operation `{name}`"))
            .fix(nearest(name, self.ctx.op_names()).map(|near| format!("did you mean `{near}`?"))))
    }

    /// Reads a type; `!dialect.name<body>` of a registered dialect must be well formed.
    pub(super) fn ty(&self, text: &str, span: Span) -> Result<TypeId, Diagnostic> {
        refuse_hidden(text, span)?;
        let Some(inside) = text.strip_prefix('!') else { return Ok(self.ctx.opaque_type(text)) };
        let (name, body) = match inside.split_once('<') {
            Some((name, body)) => (name, body.strip_suffix('>').unwrap_or(body)),
            None => (inside, ""),
        };
        if text == open::TYPE {
            return Ok(open::unknown(self.ctx));
        }
        let Some(def) = self.ctx.type_def(name) else {
            let dialect = name.split('.').next().unwrap_or(name);
            if self.ctx.dialect(dialect).is_none() && self.ctx.allow_unregistered {
                return Ok(self.ctx.opaque_type(text));
            }
            return Err(Diagnostic::error("unknown-type", span, format!("unknown type `!{name}`"))
                .fix(nearest(name, self.ctx.type_names()).map(|near| format!("did you mean `!{near}`?"))));
        };
        let offset = 2 + name.len();
        self.ctx
            .parse_type(def, text, body)
            .map_err(|error| body_error(def, '!', error, span.part(offset..offset + body.len()), span))
    }

    /// Reads a clause's value in the pretty form.
    pub(super) fn pretty_value(
        &self,
        clause: &ClauseDecl,
        text: &str,
        span: Span,
    ) -> Result<AttrId, Diagnostic> {
        if let Some(open) = open_value(clause, text, span)? {
            return Ok(self.ctx.attr(open));
        }
        let wrong = || wrong_literal(clause, text, span);
        let attr = match clause.kind {
            ClauseKind::Int => Attr::Int(integer(text).map_err(|why| wrong().note(why, None))?),
            ClauseKind::Str => Attr::Str(string(text, span).ok_or_else(wrong)??.into()),
            ClauseKind::Word(words) => Attr::Str(known_word(words, text, span, clause)?.into()),
            ClauseKind::Symbol => Attr::Symbol(symbol_name(text).ok_or_else(wrong)?.into()),
            ClauseKind::Ints => {
                let items = list(text).ok_or_else(wrong)?;
                let values: Result<Vec<_>, _> = items.iter().map(|item| integer(item)).collect();
                Attr::Ints(values.map_err(|why| wrong().note(why, None))?.into())
            }
            ClauseKind::Strs => {
                let items = list(text).ok_or_else(wrong)?;
                let value = |item| Ok(string(item, span).ok_or_else(wrong)??.into());
                let values: Result<Vec<_>, Diagnostic> = items.into_iter().map(value).collect();
                Attr::Strs(values?.into())
            }
            ClauseKind::Flag if text.is_empty() => Attr::Unit,
            ClauseKind::Flag => return Err(wrong()),
            ClauseKind::Body(def) => {
                let parsed = self.ctx.parse_attr(def, text);
                return parsed.map_err(|error| body_error(def, '#', error, span, span));
            }
        };
        Ok(self.ctx.attr(attr))
    }

    /// Finds the clause that a keyword names.
    pub(super) fn clause_decl(
        &self,
        decl: &'static OpDecl,
        name: &str,
        span: Span,
    ) -> Result<&'static ClauseDecl, Diagnostic> {
        decl.clause(name).ok_or_else(|| {
            let names: Vec<_> = decl.clauses.iter().map(|clause| clause.name).collect();
            let message = match names.as_slice() {
                [] => format!("`{}` takes no clauses, found `{name}`", decl.name),
                _ => format!("`{}` has no clause `{name}`; it has `{}`", decl.name, names.join("`, `")),
            };
            let near = nearest(name, names).map(|near| format!("did you mean `{near}`?"));
            Diagnostic::error("unknown-clause", span, message).fix(near)
        })
    }

    /// Gives `op` its results: types inferred where the declaration can, and checked against the written ones.
    /// `names` are the results' names, `written` the types that the text gives.
    pub(super) fn attach_results(
        &mut self,
        op: OpId,
        decl: Option<&'static OpDecl>,
        names: &[(Cow<'a, str>, Span)],
        written: &[(TypeId, Span)],
        span: Span,
    ) -> Result<(), Diagnostic> {
        let results = match decl {
            Some(decl) if !decl.has(Trait::AnyResults) => decl.results.len(),
            Some(decl) if decl.infer.is_some() => self.inferred_results(op, decl)?.unwrap_or(names.len()),
            Some(_) | None => written.len(),
        };
        for index in 0..results {
            let ty = written.get(index).map_or(self.unknown, |&(ty, _)| ty);
            let name = names.get(index).and_then(|(name, _)| super::kept_name(name));
            self.module.add_result(op, ty, name, names.get(index).map_or(span, |&(_, span)| span));
        }
        for (index, (name, span)) in names.iter().enumerate() {
            match self.module.data(op).results.get(index) {
                Some(&value) => self.define(name.clone(), value, *span),
                None => self.too_many_results(decl, results, *span),
            }
        }
        match decl {
            Some(decl) => self.infer(op, decl, written, span),
            None => Ok(()),
        }
    }

    /// Number of results of an operation that infers their types; `None` if an operand has no known type.
    fn inferred_results(&self, op: OpId, decl: &'static OpDecl) -> Result<Option<usize>, Diagnostic> {
        let view = self.module.op(self.ctx, op);
        if view.operands().iter().any(|&value| self.module.ty(value) == self.unknown) {
            return Ok(None);
        }
        let Some(infer) = decl.infer else { return Ok(None) };
        crate::verify::operand_counts(view)?;
        crate::verify::operand_types(view, decl)?;
        Ok(Some(crate::infer::result_types(view, decl, infer)?.len()))
    }

    fn too_many_results(&mut self, decl: Option<&'static OpDecl>, results: usize, span: Span) {
        let name = decl.map_or("the operation", |decl| decl.name);
        self.error(
            "results",
            span,
            format!("`{name}` has {}, more are named here", counted(results, "result")),
        );
    }

    fn infer(
        &mut self,
        op: OpId,
        decl: &'static OpDecl,
        written: &[(TypeId, Span)],
        span: Span,
    ) -> Result<(), Diagnostic> {
        let view = self.module.op(self.ctx, op);
        if view.operands().iter().any(|&value| self.module.ty(value) == self.unknown) {
            return Ok(());
        }
        let Some(infer) = decl.infer else {
            let results = if decl.has(Trait::AnyResults) { written.len() } else { decl.results.len() };
            if written.len() != results {
                let message = format!(
                    "`{}` needs {}, found {}",
                    decl.name,
                    counted(results, "result type"),
                    written.len()
                );
                return Err(Diagnostic::error("result-types", span, message));
            }
            return Ok(());
        };
        crate::verify::operand_counts(view)?;
        crate::verify::operand_types(view, decl)?;
        let inferred = crate::infer::result_types(view, decl, infer)?;
        for (index, &ty) in inferred.iter().enumerate() {
            let Some(&value) = self.module.data(op).results.get(index) else { break };
            self.module.set_type(value, ty);
            if let Some(&(found, span)) = written.get(index)
                && found != ty
            {
                let (found, wanted) = (self.ctx.type_text(found), self.ctx.type_text(ty));
                let message = format!("`{}` gives `{wanted}`, but `{found}` is written", decl.name);
                return Err(Diagnostic::error("result-types", span, message)
                    .fix(Some(format!("write `{wanted}`, or leave the type out"))));
            }
        }
        Ok(())
    }
}

/// A refused body, placed in the source.
pub(super) fn body_error(
    def: &BodyDef,
    sigil: char,
    error: BodyError,
    body: Span,
    whole: Span,
) -> Diagnostic {
    let span = error.range.map_or(whole, |range| body.part(range));
    Diagnostic::error(error.code, span, error.message)
        .note(format!("`{sigil}{}` is written `{}`", def.name, def.syntax), None)
        .fix(error.fix)
}

/// A refused value, with the comma that seems to be missing in its text, if nothing else is to be written: in
/// front of another clause of the operation, or after a number.
pub(super) fn with_comma(error: Diagnostic, decl: &OpDecl, text: &str) -> Diagnostic {
    if error.fix.is_some() {
        return error;
    }
    if comment_starts(text) {
        return error
            .fix("write `//` in front of a comment; padding, `# n`, stands within brackets".to_owned());
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned();
    let number = |word: &str| word.bytes().next_back().is_some_and(|byte| byte.is_ascii_digit());
    let begins = |word: &str| word.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    let comma = words.windows(2).find_map(|pair| {
        let clause = decl.clauses.iter().any(|clause| clause.name == pair[1]);
        let after = number(pair[0]) && bare(pair[0]).parse::<u64>().is_ok() && begins(pair[1]);
        (clause || after).then(|| format!("write a comma between `{}` and `{}`", pair[0], pair[1]))
    });
    error.fix(comma)
}

/// The fix for a comment in the notation of other languages: `rest` starts with `#`.
pub(super) fn comment_fix(rest: &str) -> Option<String> {
    rest.starts_with('#').then(|| "write `//` in front of a comment".to_owned())
}

/// Returns true if a `#` stands outside of brackets and strings.
fn comment_starts(text: &str) -> bool {
    let (mut depth, mut in_string) = (0_usize, false);
    text.bytes().any(|byte| {
        match byte {
            b'"' => in_string = !in_string,
            b'[' if !in_string => depth += 1,
            b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        byte == b'#' && depth == 0 && !in_string
    })
}

/// The error for a value of the wrong kind for its clause.
pub(super) fn wrong_literal(clause: &ClauseDecl, text: &str, span: Span) -> Diagnostic {
    let found = if text.is_empty() { "nothing".to_owned() } else { format!("`{text}`") };
    let message = format!("clause `{}`: found {found}, expected {}", clause.name, clause.kind.describe());
    Diagnostic::error("wrong-literal", span, message)
}

/// An `auto` for a clause that is never open.
pub(super) fn never_open(clause: &ClauseDecl, span: Span) -> Diagnostic {
    let message =
        format!("clause `{}` is never `{}`: expected {}", clause.name, open::WORD, clause.kind.describe());
    Diagnostic::error("never-open", span, message).fix(clause.in_place_of_auto())
}

/// The value of an open clause in the pretty form: `auto`, or a list of integers with an `auto` in it.
fn open_value(clause: &ClauseDecl, text: &str, span: Span) -> Result<Option<Attr>, Diagnostic> {
    let known = matches!(clause.kind, ClauseKind::Word(words) if words.contains(&text));
    let of_list = matches!(clause.kind, ClauseKind::Ints).then(|| list(text)).flatten();
    let items = of_list.filter(|items| items.contains(&open::WORD));
    if known || (text != open::WORD && items.is_none()) {
        return Ok(None);
    }
    if clause.opening == Opening::Never {
        return Err(never_open(clause, span));
    }
    let Some(items) = items else { return Ok(Some(Attr::Auto)) };
    let read = |item: &&str| if *item == open::WORD { Ok(None) } else { integer(item).map(Some) };
    let values: Result<Vec<_>, _> = items.iter().map(read).collect();
    values
        .map(|values| Some(Attr::OpenInts(values.into())))
        .map_err(|why| wrong_literal(clause, text, span).note(why, None))
}

fn known_word<'t>(
    words: &[&'static str],
    text: &'t str,
    span: Span,
    clause: &ClauseDecl,
) -> Result<&'t str, Diagnostic> {
    if words.contains(&text) {
        return Ok(text);
    }
    let near = nearest(text, words.iter().copied()).map(|near| format!("did you mean `{near}`?"));
    Err(wrong_literal(clause, text, span).fix(near))
}

/// Reads a decimal or hexadecimal integer.
pub(super) fn integer(text: &str) -> Result<i64, String> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (radix, digits) = match digits.strip_prefix("0x") {
        Some(digits) => (16, digits),
        None => (10, digits),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err("an integer is written in decimal digits, or in hexadecimal ones after `0x`".into());
    }
    let magnitude = i128::from_str_radix(digits, radix).unwrap_or(i128::MAX);
    let value = if negative { -magnitude } else { magnitude };
    i64::try_from(value).map_err(|_| format!("{text} does not fit a signed 64-bit integer"))
}

/// Reads a quoted string; `None` if the text is not quoted.
fn string(text: &str, span: Span) -> Option<Result<String, Diagnostic>> {
    let inside = text.strip_prefix('"')?.strip_suffix('"')?;
    Some(unquote(inside).map_err(|why| Diagnostic::error("wrong-literal", span, why)))
}

/// The text that the string literal at `span` stands for.
pub(super) fn literal(text: &str, span: Span) -> Result<String, Diagnostic> {
    let unquoted = || Diagnostic::error("wrong-literal", span, format!("{text}: expected a quoted string"));
    string(text, span).ok_or_else(unquoted)?
}

/// The comma-separated items of `[...]`; a comma within a string separates nothing.
pub(super) fn list(text: &str) -> Option<Vec<&str>> {
    let inside = text.strip_prefix('[')?.strip_suffix(']')?;
    if inside.trim().is_empty() {
        return Some(Vec::new());
    }
    let mut items = Vec::new();
    let (mut start, mut in_string, mut escaped) = (0, false, false);
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            b'"' if !escaped => in_string = !in_string,
            b',' if !in_string => {
                items.push(inside[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
        escaped = byte == b'\\' && !escaped;
    }
    items.push(inside[start..].trim());
    Some(items)
}
