//! Reads `RUN:`, `REQUIRES:`, `UNSUPPORTED:` and `XFAIL:` out of a test file's comments.

use std::collections::BTreeSet;

/// The directives of a test file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Directives {
    pub(crate) runs: Vec<RunLine>,
    /// Terms of `REQUIRES:`; a leading `!` asks for absence.
    pub(crate) requires: Vec<String>,
    pub(crate) unsupported: Vec<String>,
    pub(crate) xfail: Vec<String>,
}

/// One script, with its continuation lines joined.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RunLine {
    /// Line of its first `RUN:`, from 1.
    pub(crate) line: usize,
    pub(crate) text: String,
}

impl Directives {
    /// Reads the directives of a test file, or reports their error.
    pub(crate) fn parse(source: &str) -> Result<Self, String> {
        let mut directives = Self::default();
        // The last RUN line ended in `\` and waits for its next line.
        let mut open = false;
        for (index, line) in source.lines().enumerate() {
            let number = index + 1;
            let Some((keyword, rest)) = directive(line) else {
                continue;
            };
            match keyword {
                Keyword::Run => open = directives.push_run(number, rest, open),
                Keyword::Requires => directives.requires.extend(terms(number, rest, Keyword::Requires)?),
                Keyword::Unsupported => {
                    directives.unsupported.extend(terms(number, rest, Keyword::Unsupported)?)
                }
                Keyword::Xfail => directives.xfail.extend(terms(number, rest, Keyword::Xfail)?),
            }
        }
        match directives.runs.last() {
            None => Err("no RUN line: add one, such as `// RUN: visa-opt %s | FileCheck %s`".to_owned()),
            Some(run) if open => Err(format!(
                "line {}: this RUN line ends in `\\`, but no RUN line follows to continue it",
                run.line
            )),
            Some(_) => Ok(directives),
        }
    }

    /// Adds a RUN line, or joins it to the open one; tells whether it ends in `\`.
    fn push_run(&mut self, line: usize, text: &str, continues_last: bool) -> bool {
        let (text, open) = match text.strip_suffix('\\') {
            Some(text) => (text.trim_end(), true),
            None => (text, false),
        };
        match self.runs.last_mut() {
            Some(run) if continues_last => {
                run.text.push(' ');
                run.text.push_str(text);
            }
            Some(_) | None => self.runs.push(RunLine { line, text: text.to_owned() }),
        }
        open
    }

    /// The unmet terms of `REQUIRES:`.
    pub(crate) fn missing(&self, features: &BTreeSet<String>) -> Vec<String> {
        let unmet = |term: &&String| match term.strip_prefix('!') {
            Some(absent) => features.contains(absent),
            None => !features.contains(*term),
        };
        self.requires.iter().filter(unmet).cloned().collect()
    }

    /// The present features that `UNSUPPORTED:` names.
    pub(crate) fn excluded_by(&self, features: &BTreeSet<String>) -> Vec<String> {
        let holds = |term: &&String| term_holds(term, features);
        self.unsupported.iter().filter(holds).cloned().collect()
    }

    /// Returns true if `XFAIL:` applies.
    pub(crate) fn expects_failure(&self, features: &BTreeSet<String>) -> bool {
        self.xfail.iter().any(|term| term_holds(term, features))
    }
}

#[derive(Debug, Clone, Copy)]
enum Keyword {
    Run,
    Requires,
    Unsupported,
    Xfail,
}

impl Keyword {
    const ALL: [Keyword; 4] = [Self::Run, Self::Requires, Self::Unsupported, Self::Xfail];

    fn name(self) -> &'static str {
        match self {
            Self::Run => "RUN",
            Self::Requires => "REQUIRES",
            Self::Unsupported => "UNSUPPORTED",
            Self::Xfail => "XFAIL",
        }
    }
}

/// The directive on this line, if it is a comment that starts with one, and the text after the colon.
fn directive(line: &str) -> Option<(Keyword, &str)> {
    let line = line.trim();
    let comment = ["//", "#", ";"].iter().find_map(|marker| line.strip_prefix(marker))?;
    // `///` and `##` are also comments.
    let comment = comment.trim_start_matches(['/', '#', ';']).trim_start();
    Keyword::ALL.into_iter().find_map(|keyword| {
        let rest = comment.strip_prefix(keyword.name())?.strip_prefix(':')?;
        Some((keyword, rest.trim()))
    })
}

/// The comma-separated feature names of a directive.
fn terms(line: usize, list: &str, keyword: Keyword) -> Result<Vec<String>, String> {
    let term = |term: &str| {
        let term = term.trim();
        let name = term.strip_prefix('!').unwrap_or(term);
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
        let valid = !name.is_empty() && name.chars().all(plain);
        if valid || (term == "*" && matches!(keyword, Keyword::Xfail)) {
            return Ok(term.to_owned());
        }
        Err(format!(
            "line {line}: {} lists `{term}`, expected feature names separated by commas",
            keyword.name()
        ))
    };
    list.split(',').map(term).collect()
}

fn term_holds(term: &str, features: &BTreeSet<String>) -> bool {
    match term.strip_prefix('!') {
        Some(absent) => !features.contains(absent),
        None => term == "*" || features.contains(term),
    }
}
