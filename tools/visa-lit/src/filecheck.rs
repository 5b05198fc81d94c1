//! `FileCheck` as an in-process command: files and the environment for [`visa_filecheck`].

use visa_filecheck::{Call, Options, Text, Verdict, options_from_environment};

use crate::builtin::{Invocation, Outcome};
use crate::limits;

/// The variable that holds more options.
const OPTIONS_VARIABLE: &str = "FILECHECK_OPTS";

/// Name of standard input in messages.
const STDIN: &str = "<stdin>";

/// `FileCheck`, which a suite has unless it brings another command of that name: exit code 0 if the input matches, 1
/// if it does not, 2 if the call or the check file is wrong.
pub fn file_check(invocation: &Invocation) -> Outcome {
    match check(invocation) {
        Ok(outcome) => outcome,
        Err(message) => Outcome::failure(2, format!("FileCheck: {message}\n")),
    }
}

fn check(invocation: &Invocation) -> Result<Outcome, String> {
    let from_test = invocation.env.get(OPTIONS_VARIABLE).cloned();
    let more = from_test.or_else(|| std::env::var(OPTIONS_VARIABLE).ok()).unwrap_or_default();
    let mut arguments = options_from_environment(&more);
    arguments.extend(invocation.args.iter().cloned());
    let options = match Options::parse(&arguments)? {
        Call::Check(options) => options,
        Call::Print(text) => return Ok(Outcome::success(text)),
    };
    let mut stdin = Some(invocation.stdin.as_slice());
    let checks = read(invocation, &options.check_file, &mut stdin)?;
    let input = read(invocation, &options.input_file, &mut stdin)?;
    let checks = Text { name: name(&options.check_file), bytes: &checks };
    let input = Text { name: name(&options.input_file), bytes: &input };
    let Verdict { code, report } = visa_filecheck::check(&options, checks, input);
    Ok(Outcome::failure(code, report))
}

fn name(path: &str) -> &str {
    if path == "-" { STDIN } else { path }
}

/// The bytes of a file, or of standard input, which is empty after it was read once.
fn read(invocation: &Invocation, path: &str, stdin: &mut Option<&[u8]>) -> Result<Vec<u8>, String> {
    if path == "-" {
        return Ok(stdin.take().unwrap_or_default().to_vec());
    }
    limits::read(&invocation.cwd.join(path)).map_err(|error| format!("cannot read `{path}`: {error}"))
}
