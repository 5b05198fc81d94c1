//! `diff-expected FILE`: compares standard input with a golden file, or blesses it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use visa_files::Interrupts;

use crate::builtin::{Invocation, Outcome};
use crate::limits;

/// The environment variable that turns blessing on when it is `1`.
pub const BLESS_VARIABLE: &str = "VISA_BLESS";

/// Most differing lines shown of either side.
const MAX_SHOWN_LINES: usize = 30;

/// The command, and the files that it has blessed.
#[derive(Debug, Default)]
pub(crate) struct Golden {
    bless: bool,
    interrupts: Option<Arc<Interrupts>>,
    blessed: Mutex<BTreeSet<PathBuf>>,
}

impl Golden {
    pub(crate) fn new(bless: bool, interrupts: Option<Arc<Interrupts>>) -> Self {
        Self { bless, interrupts, blessed: Mutex::default() }
    }

    /// The files rewritten so far, in order.
    pub(crate) fn blessed(&self) -> Vec<PathBuf> {
        let blessed = self.blessed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        blessed.iter().cloned().collect()
    }

    /// The command itself: exit code 0 if equal or blessed, 1 if different or missing, 2 if called wrongly.
    pub(crate) fn run(&self, invocation: &Invocation) -> Outcome {
        let [file] = invocation.args.as_slice() else {
            let found = invocation.args.len();
            return Outcome::failure(
                2,
                format!("diff-expected: expected one argument, the expected file, found {found}\n"),
            );
        };
        let path = invocation.cwd.join(file);
        let actual = portable(&invocation.stdin, &path);
        let expected = match limits::read(&path) {
            Ok(expected) => Some(expected),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => {
                return Outcome::failure(2, format!("diff-expected: cannot read `{file}`: {error}\n"));
            }
        };
        if expected.as_ref() == Some(&actual) {
            return Outcome::default();
        }
        if self.bless {
            return self.rewrite(&path, &actual);
        }
        let hint = format!(
            "to accept the output as it is, run `{BLESS_VARIABLE}=1 cargo test -p visa-test` or `visa-lit \
             --bless`"
        );
        let message = match expected {
            None => format!("diff-expected: `{file}` does not exist\n{hint}\n"),
            Some(expected) => {
                let difference = describe_difference(&expected, &actual);
                format!(
                    "diff-expected: the output differs from `{file}` (- expected, + found)\n{difference}{hint}\n"
                )
            }
        };
        Outcome::failure(1, message)
    }

    fn rewrite(&self, path: &Path, content: &[u8]) -> Outcome {
        match visa_files::write(path, self.interrupts.as_deref(), |out| out.write_all(content)) {
            Ok(()) => {
                let mut blessed = self.blessed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                blessed.insert(path.to_owned());
                Outcome::default()
            }
            Err(error) => {
                Outcome::failure(2, format!("diff-expected: cannot write `{}`: {error}\n", path.display()))
            }
        }
    }
}

/// The output with the directory of the expected file written as `%S`, so that a checkout may be anywhere.
fn portable(output: &[u8], expected_file: &Path) -> Vec<u8> {
    let Some(dir) = expected_file.parent().and_then(Path::to_str) else {
        return output.to_vec();
    };
    match std::str::from_utf8(output) {
        Ok(text) => text.replace(&format!("{dir}/"), "%S/").into_bytes(),
        Err(_) => output.to_vec(),
    }
}

/// The lines between the common start and the common end of both texts.
fn describe_difference(expected: &[u8], actual: &[u8]) -> String {
    let expected = String::from_utf8_lossy(expected);
    let actual = String::from_utf8_lossy(actual);
    let expected: Vec<&str> = expected.lines().collect();
    let actual: Vec<&str> = actual.lines().collect();
    if expected == actual {
        return "the lines are equal: only line endings, the final newline or bytes that are not UTF-8 differ\n"
            .to_owned();
    }
    let start = expected.iter().zip(&actual).take_while(|(e, a)| e == a).count();
    let ends = expected[start..].iter().rev().zip(actual[start..].iter().rev());
    let end = ends.take_while(|(e, a)| e == a).count();
    let mut text = format!("from line {}:\n", start + 1);
    for (sign, lines) in
        [('-', &expected[start..expected.len() - end]), ('+', &actual[start..actual.len() - end])]
    {
        for line in lines.iter().take(MAX_SHOWN_LINES) {
            text.push_str(&format!("{sign}{line}\n"));
        }
        if lines.len() > MAX_SHOWN_LINES {
            text.push_str(&format!("{sign}... {} more lines\n", lines.len() - MAX_SHOWN_LINES));
        }
    }
    text
}
