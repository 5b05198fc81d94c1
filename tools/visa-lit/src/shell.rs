//! The grammar of RUN lines: a small part of the shell's, with its meaning.

use std::iter::Peekable;
use std::str::Chars;

use crate::glob::Word;

/// Pipelines in order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Script(pub(crate) Vec<Step>);

/// A pipeline and when it runs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// True after `&&`: runs only if the step before succeeded. After `;` a step always runs, and as in the shell the
    /// script's result is that of the last step that ran.
    pub(crate) only_after_success: bool,
    pub(crate) pipeline: Vec<Command>,
}

/// One stage of a pipeline.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) words: Vec<Word>,
    /// In the order written, which decides the meaning of `2>&1`.
    pub(crate) redirects: Vec<Redirect>,
}

/// A change of a stage's standard streams.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Redirect {
    Stdin(String),
    Stdout { path: String, append: bool },
    Stderr { path: String, append: bool },
    StderrToStdout,
}

impl Script {
    /// Parses one RUN line; `expand` is applied to every word, so that substituted text is never split or
    /// interpreted.
    pub(crate) fn parse(line: &str, expand: impl Fn(&str) -> String) -> Result<Self, String> {
        let mut steps = Vec::new();
        let mut pipeline = Vec::new();
        let mut command = Command::default();
        let mut only_after_success = false;
        let mut tokens = tokenize(line)?.into_iter();
        while let Some(token) = tokens.next() {
            match token {
                Token::Word(word) => command.words.push(word.expand(&expand)),
                Token::ErrToOut => command.redirects.push(Redirect::StderrToStdout),
                Token::Redirect(kind) => match tokens.next() {
                    Some(Token::Word(path)) if path.has_wildcard() => {
                        return Err(format!(
                            "a wildcard in the file name `{}` after `{}` is not supported: name one file",
                            path.text(),
                            kind.symbol()
                        ));
                    }
                    Some(Token::Word(path)) => command.redirects.push(kind.to(path.expand(&expand).text())),
                    other => {
                        return Err(format!(
                            "expected a file name after `{}`, found {}",
                            kind.symbol(),
                            describe(other)
                        ));
                    }
                },
                Token::Pipe => pipeline.push(finish(&mut command, "before `|`")?),
                Token::And | Token::Semicolon => {
                    pipeline.push(finish(&mut command, "before `&&` or `;`")?);
                    let pipeline = std::mem::take(&mut pipeline);
                    steps.push(Step { only_after_success, pipeline });
                    only_after_success = token == Token::And;
                }
            }
        }
        // A `;` may end a line; anything else needs a command after it.
        let empty = command == Command::default() && pipeline.is_empty();
        if !(empty && !steps.is_empty() && !only_after_success) {
            pipeline.push(finish(&mut command, "at the end of the line")?);
            steps.push(Step { only_after_success, pipeline });
        }
        Ok(Self(steps))
    }
}

fn finish(command: &mut Command, place: &str) -> Result<Command, String> {
    if command.words.is_empty() {
        return Err(format!("expected a command {place}"));
    }
    Ok(std::mem::take(command))
}

fn describe(token: Option<Token>) -> String {
    match token {
        None => "the end of the line".to_owned(),
        Some(Token::Word(word)) => format!("`{}`", word.text()),
        Some(Token::Redirect(kind)) => format!("`{}`", kind.symbol()),
        Some(Token::Pipe) => "`|`".to_owned(),
        Some(Token::And) => "`&&`".to_owned(),
        Some(Token::Semicolon) => "`;`".to_owned(),
        Some(Token::ErrToOut) => "`2>&1`".to_owned(),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(Word),
    Pipe,
    And,
    Semicolon,
    Redirect(RedirectKind),
    ErrToOut,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RedirectKind {
    In,
    Out,
    OutAppend,
    Err,
    ErrAppend,
}

impl RedirectKind {
    fn symbol(self) -> &'static str {
        match self {
            Self::In => "<",
            Self::Out => ">",
            Self::OutAppend => ">>",
            Self::Err => "2>",
            Self::ErrAppend => "2>>",
        }
    }

    fn to(self, path: String) -> Redirect {
        match self {
            Self::In => Redirect::Stdin(path),
            Self::Out => Redirect::Stdout { path, append: false },
            Self::OutAppend => Redirect::Stdout { path, append: true },
            Self::Err => Redirect::Stderr { path, append: false },
            Self::ErrAppend => Redirect::Stderr { path, append: true },
        }
    }
}

fn tokenize(line: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut chars = line.chars().peekable();
    while let Some(&next) = chars.peek() {
        match next {
            ' ' | '\t' => drop(chars.next()),
            '|' | '&' | ';' | '<' | '>' => tokens.push(operator(&mut chars)?),
            _ => {
                let (word, quoted) = word(&mut chars)?;
                let before_redirect = matches!(chars.peek(), Some('<' | '>'));
                let text = word.text();
                if before_redirect && !quoted && text.chars().all(|c| c.is_ascii_digit()) {
                    tokens.push(descriptor_redirect(&text, &mut chars)?);
                } else {
                    tokens.push(Token::Word(word));
                }
            }
        }
    }
    Ok(tokens)
}

fn operator(chars: &mut Peekable<Chars<'_>>) -> Result<Token, String> {
    let first = chars.next();
    let doubled = first.is_some() && chars.peek() == first.as_ref();
    let token = match (first, doubled) {
        (Some('|'), false) => return Ok(Token::Pipe),
        (Some(';'), _) => return Ok(Token::Semicolon),
        (Some('<'), false) => return Ok(Token::Redirect(RedirectKind::In)),
        (Some('>'), false) => return Ok(Token::Redirect(RedirectKind::Out)),
        (Some('&'), true) => Token::And,
        (Some('>'), true) => Token::Redirect(RedirectKind::OutAppend),
        (Some('|'), true) => {
            return Err("`||` is not supported: use `not`, or a separate test".to_owned());
        }
        (Some('<'), true) => {
            return Err("`<<` is not supported: keep the input in a file".to_owned());
        }
        (_, _) => {
            return Err("a single `&` is not supported: quote it, or write `&&` or `2>&1`".to_owned());
        }
    };
    chars.next();
    Ok(token)
}

/// The redirection whose descriptor number has been read and whose `<` or `>` comes next.
fn descriptor_redirect(number: &str, chars: &mut Peekable<Chars<'_>>) -> Result<Token, String> {
    let symbol: String = std::iter::from_fn(|| chars.next_if(|c| matches!(c, '<' | '>' | '&'))).collect();
    match (number, symbol.as_str()) {
        ("2", ">") => Ok(Token::Redirect(RedirectKind::Err)),
        ("2", ">>") => Ok(Token::Redirect(RedirectKind::ErrAppend)),
        ("2", ">&") if chars.next_if_eq(&'1').is_some() => Ok(Token::ErrToOut),
        (_, _) => Err(format!(
            "redirection `{number}{symbol}` is not supported: expected `<`, `>`, `>>`, `2>`, `2>>` or `2>&1`"
        )),
    }
}

/// Reads one word, and tells whether any of it was quoted or escaped.
fn word(chars: &mut Peekable<Chars<'_>>) -> Result<(Word, bool), String> {
    let mut word = Word::default();
    let mut quoted = false;
    while let Some(&next) = chars.peek() {
        match next {
            ' ' | '\t' | '|' | '&' | ';' | '<' | '>' => break,
            '\'' => single_quoted(chars, &mut word)?,
            '"' => double_quoted(chars, &mut word)?,
            '\\' => {
                chars.next();
                word.push(chars.next().ok_or("nothing follows the last `\\`")?);
            }
            '$' | '`' | '(' | ')' => {
                return Err(format!(
                    "`{next}` is not supported outside single quotes: quote it if it is meant literally"
                ));
            }
            _ => {
                word.push_unquoted(next);
                chars.next();
                continue;
            }
        }
        quoted = true;
    }
    Ok((word, quoted))
}

fn single_quoted(chars: &mut Peekable<Chars<'_>>, word: &mut Word) -> Result<(), String> {
    chars.next();
    for next in chars {
        if next == '\'' {
            return Ok(());
        }
        word.push(next);
    }
    Err("a single quote is not closed".to_owned())
}

/// Inside double quotes a backslash escapes only `"`, `\`, `$` and `` ` ``, as in the shell.
fn double_quoted(chars: &mut Peekable<Chars<'_>>, word: &mut Word) -> Result<(), String> {
    chars.next();
    while let Some(next) = chars.next() {
        match next {
            '"' => return Ok(()),
            '\\' => match chars.next_if(|c| matches!(c, '"' | '\\' | '$' | '`')) {
                Some(escaped) => word.push(escaped),
                None => word.push('\\'),
            },
            '$' | '`' => {
                return Err(format!("`{next}` is not supported in double quotes: use single quotes"));
            }
            _ => word.push(next),
        }
    }
    Err("a double quote is not closed".to_owned())
}
