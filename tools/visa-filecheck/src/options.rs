//! The command line.

/// The text of `--help`.
pub const HELP: &str = "usage: FileCheck [options] <check-file>

  --input-file=FILE               the text to \
check; standard input without it
  --check-prefix=NAME             prefix of directives, CHECK without it; may be \
repeated
  --check-prefixes=NAME,...       several of them
  --comment-prefixes=NAME,...     prefixes of comments, \
COM and RUN without it
  --allow-unused-prefixes         a prefix may occur nowhere in the check file
  \
--allow-empty                   the text to check may be empty
  --match-full-lines              a match is a whole \
line, but for blanks at its ends
  --strict-whitespace             runs of blanks are not equal
  --ignore-case                   \
letters match in both cases
  --implicit-check-not=PATTERN    PATTERN is nowhere between the other matches
  \
--enable-var-scope              -LABEL forgets variables without $
  -DNAME=VALUE                    defines a \
string variable
  -D#FORMAT,NAME=EXPRESSION       defines a numeric variable
  --allow-deprecated-dag-overlap  \
matches of -DAG may overlap
  --dump-input=MODE               shows the text to check: never, on fail, always, or \
help
  --dump-input-filter=KIND        shows all lines (all), or those near errors
  --dump-input-context=N          \
shows N lines before and after those of errors, 5 without it
  -v, -vv                         reports matches, \
like -vv of LLVM's tool
  --color                         accepted; reports have no colours
  --help, \
--version

Options may be written with one dash, and values after `=` or as the next argument. The environment \
variable
FILECHECK_OPTS holds more options, which come first.
";

const DUMP_HELP: &str = "\
A report shows the input with line numbers after the messages. `--dump-input` chooses the reports that show it,
`--dump-input-filter` and `--dump-input-context` the lines.
";

const VERSION: &str =
    concat!("FileCheck of visa ", env!("CARGO_PKG_VERSION"), ", with the verdicts of LLVM 22\n");

/// When the input is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DumpInput {
    /// Never.
    Never,
    /// If the input does not match.
    Fail,
    /// Always.
    Always,
}

/// The request of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// A comparison.
    Check(Box<Options>),
    /// A text to print, with exit code 0.
    Print(String),
}

/// The options of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The file with the checks; `-` is standard input.
    pub check_file: String,
    /// The file to check; `-` is standard input.
    pub input_file: String,
    pub(crate) check_prefixes: Vec<String>,
    comment_prefixes: Vec<String>,
    pub(crate) defines: Vec<String>,
    pub(crate) implicit_check_not: Vec<String>,
    pub(crate) allow_empty: bool,
    pub(crate) allow_unused_prefixes: bool,
    pub(crate) allow_deprecated_dag_overlap: bool,
    pub(crate) match_full_lines: bool,
    pub(crate) strict_whitespace: bool,
    pub(crate) ignore_case: bool,
    pub(crate) enable_var_scope: bool,
    /// 0, or the number of `v`.
    pub(crate) verbosity: u8,
    pub(crate) dump_input: DumpInput,
    pub(crate) dump_all: bool,
    pub(crate) dump_context: usize,
}

/// Splits the value of `FILECHECK_OPTS` into arguments: quotes and backslashes keep blanks.
pub fn options_from_environment(value: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut current: Option<String> = None;
    let mut quote = None;
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', _) => current.get_or_insert_default().extend(chars.next()),
            ('"' | '\'', None) => {
                quote = Some(c);
                current.get_or_insert_default();
            }
            (_, Some(open)) if c == open => quote = None,
            (_, None) if c.is_ascii_whitespace() => arguments.extend(current.take()),
            (_, _) => current.get_or_insert_default().push(c),
        }
    }
    arguments.extend(current);
    arguments
}

impl Default for Options {
    fn default() -> Self {
        Self {
            check_file: String::new(),
            input_file: "-".to_owned(),
            check_prefixes: Vec::new(),
            comment_prefixes: Vec::new(),
            defines: Vec::new(),
            implicit_check_not: Vec::new(),
            allow_empty: false,
            allow_unused_prefixes: false,
            allow_deprecated_dag_overlap: false,
            match_full_lines: false,
            strict_whitespace: false,
            ignore_case: false,
            enable_var_scope: false,
            verbosity: 0,
            dump_input: DumpInput::Fail,
            dump_all: false,
            dump_context: 5,
        }
    }
}

impl Options {
    /// Parses the arguments after the program's name.
    pub fn parse(arguments: &[String]) -> Result<Call, String> {
        let mut parser = Parser { rest: arguments.iter(), options: Self::default(), modes: Vec::new() };
        let mut files = Vec::new();
        let mut only_files = false;
        while let Some(argument) = parser.rest.next() {
            let dashed = argument.strip_prefix('-').filter(|name| !name.is_empty() && !only_files);
            match dashed {
                Some("-") => only_files = true,
                Some(name) => {
                    if let Some(text) = parser.option(argument, name)? {
                        return Ok(Call::Print(text));
                    }
                }
                None => files.push(argument),
            }
        }
        let Parser { mut options, modes, .. } = parser;
        if let Some(mode) = modes.iter().max() {
            options.dump_input = *mode;
        }
        match files.as_slice() {
            [file] => options.check_file.clone_from(file),
            [] => return Err("no check file, expected `FileCheck [options] <check-file>`".to_owned()),
            [_, more, ..] => return Err(format!("unexpected argument `{more}`, expected one check file")),
        }
        Ok(Call::Check(Box::new(options)))
    }

    /// Checks the values that [`parse`](Self::parse) accepts in any form.
    pub(crate) fn validate(&self) -> Result<(), String> {
        for definition in &self.defines {
            match definition.find('=') {
                None => return Err(format!("`-D{definition}` has no equal sign, expected `-DNAME=VALUE`")),
                Some(0) => return Err(format!("`-D{definition}` has no name, expected `-DNAME=VALUE`")),
                Some(_) => {}
            }
        }
        let mut known: Vec<&str> = Vec::new();
        if self.check_prefixes.is_empty() {
            known.extend(DEFAULT_PREFIXES);
        }
        if self.comment_prefixes.is_empty() {
            known.extend(DEFAULT_COMMENTS);
        }
        let supplied = self.check_prefixes.iter().map(|prefix| ("check", prefix));
        for (kind, prefix) in supplied.chain(self.comment_prefixes.iter().map(|prefix| ("comment", prefix))) {
            if prefix.is_empty() {
                return Err(format!("supplied {kind} prefix must not be the empty string"));
            }
            if !prefix.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
                return Err(format!(
                    "supplied {kind} prefix '{prefix}' must contain only ASCII letters, digits, `-` and `_`"
                ));
            }
            if known.contains(&prefix.as_str()) {
                return Err(format!(
                    "supplied {kind} prefix '{prefix}' must be unique among check and comment prefixes"
                ));
            }
            known.push(prefix);
        }
        Ok(())
    }

    pub(crate) fn prefixes(&self) -> Vec<String> {
        or_default(&self.check_prefixes, &DEFAULT_PREFIXES)
    }

    pub(crate) fn comments(&self) -> Vec<String> {
        or_default(&self.comment_prefixes, &DEFAULT_COMMENTS)
    }
}

const DEFAULT_PREFIXES: [&str; 1] = ["CHECK"];
const DEFAULT_COMMENTS: [&str; 2] = ["COM", "RUN"];

fn or_default(supplied: &[String], default: &[&str]) -> Vec<String> {
    if supplied.is_empty() {
        default.iter().map(|&prefix| prefix.to_owned()).collect()
    } else {
        supplied.to_vec()
    }
}

struct Parser<'a> {
    rest: std::slice::Iter<'a, String>,
    options: Options,
    /// The values of `--dump-input`; the one that shows most counts.
    modes: Vec<DumpInput>,
}

impl Parser<'_> {
    /// Reads one option, `dashed` without its first dash. Returns the text that it asks to print, if it does.
    fn option(&mut self, argument: &str, dashed: &str) -> Result<Option<String>, String> {
        if let Some(definition) = dashed.strip_prefix('D') {
            if definition.is_empty() {
                return Err("`-D` has no value, expected `-DNAME=VALUE`".to_owned());
            }
            self.options.defines.push(definition.to_owned());
            return Ok(None);
        }
        let long = dashed.strip_prefix('-').unwrap_or(dashed);
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        match name {
            "help" | "h" | "help-hidden" => return Ok(Some(HELP.to_owned())),
            "version" => return Ok(Some(VERSION.to_owned())),
            "v" | "vv" => {
                let level = u8::try_from(name.len()).unwrap_or(u8::MAX);
                self.options.verbosity = if flag(argument, value)? { level } else { 0 };
            }
            "color" => {
                flag(argument, value)?;
            }
            "dump-input" => match self.value(name, value)?.as_str() {
                "help" => return Ok(Some(DUMP_HELP.to_owned())),
                "always" => self.modes.push(DumpInput::Always),
                "fail" => self.modes.push(DumpInput::Fail),
                "never" => self.modes.push(DumpInput::Never),
                other => {
                    return Err(format!(
                        "`--dump-input` is `{other}`, expected `help`, `always`, `fail` or `never`"
                    ));
                }
            },
            "dump-input-filter" => match self.value(name, value)?.as_str() {
                "all" => self.options.dump_all = true,
                "annotation-full" | "annotation" | "error" => {}
                other => {
                    return Err(format!(
                        "`--dump-input-filter` is `{other}`, expected `all`, `annotation-full`, \
                         `annotation` or `error`"
                    ));
                }
            },
            "dump-input-context" => {
                let text = self.value(name, value)?;
                let lines = text
                    .parse()
                    .map_err(|_| format!("`--dump-input-context` is `{text}`, expected a number of lines"))?;
                self.options.dump_context = lines;
            }
            _ => self.comparison(argument, name, value)?,
        }
        Ok(None)
    }

    /// Reads an option on which verdicts depend.
    fn comparison(&mut self, argument: &str, name: &str, value: Option<&str>) -> Result<(), String> {
        match name {
            "input-file" => self.options.input_file = self.value(name, value)?,
            "check-prefix" => {
                let prefix = self.value(name, value)?;
                self.options.check_prefixes.push(prefix);
            }
            "check-prefixes" => {
                let prefixes = self.value(name, value)?;
                self.options.check_prefixes.extend(prefixes.split(',').map(str::to_owned));
            }
            "comment-prefixes" => {
                let prefixes = self.value(name, value)?;
                self.options.comment_prefixes.extend(prefixes.split(',').map(str::to_owned));
            }
            "implicit-check-not" => {
                let pattern = self.value(name, value)?;
                self.options.implicit_check_not.push(pattern);
            }
            _ => {
                let on = flag(argument, value);
                match self.switch(name) {
                    Some(switch) => *switch = on?,
                    None => {
                        return Err(format!(
                            "unknown option `{argument}`: `FileCheck --help` lists the options"
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    fn switch(&mut self, name: &str) -> Option<&mut bool> {
        let options = &mut self.options;
        match name {
            "allow-empty" => Some(&mut options.allow_empty),
            "allow-unused-prefixes" => Some(&mut options.allow_unused_prefixes),
            "allow-deprecated-dag-overlap" => Some(&mut options.allow_deprecated_dag_overlap),
            "match-full-lines" => Some(&mut options.match_full_lines),
            "strict-whitespace" => Some(&mut options.strict_whitespace),
            "ignore-case" => Some(&mut options.ignore_case),
            "enable-var-scope" => Some(&mut options.enable_var_scope),
            _ => None,
        }
    }

    /// The value after `=`, or the next argument.
    fn value(&mut self, name: &str, value: Option<&str>) -> Result<String, String> {
        let value = value.map(str::to_owned).or_else(|| self.rest.next().cloned());
        value.ok_or_else(|| format!("`--{name}` has no value, expected `--{name}=...`"))
    }
}

/// The value of an option that is on or off.
fn flag(argument: &str, value: Option<&str>) -> Result<bool, String> {
    match value {
        None | Some("" | "true" | "TRUE" | "True" | "1") => Ok(true),
        Some("false" | "FALSE" | "False" | "0") => Ok(false),
        Some(other) => Err(format!("`{argument}` has the value `{other}`, expected `true` or `false`")),
    }
}
