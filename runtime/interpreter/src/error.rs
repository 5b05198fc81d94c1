//! Reasons why a run stopped.

use crate::index_error::IndexError;
use std::fmt;
use visa_ir::diag::counted;
use visa_ir::span::Span;

/// Errors in a run of a verified program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// An argument or result of this name does not exist.
    UnknownBuffer {
        /// `"argument"` or `"result"`.
        role: &'static str,
        /// The name asked for.
        found: String,
        /// The names that exist.
        expected: Vec<String>,
    },
    /// The data of an argument has the wrong length.
    ArgumentSize {
        /// The argument.
        name: String,
        /// Bytes given.
        found: u64,
        /// Bytes of the whole array.
        expected: u64,
    },
    /// Arguments have no data.
    MissingArguments(Vec<String>),
    /// A result was asked for before the program ran.
    NotRun,
    /// The run would hold more memory than its bound.
    MemoryBound {
        /// Bytes that it would hold.
        needed: u64,
        /// The bound, bytes.
        bound: u64,
    },
    /// An access is outside its memory; the verifier refuses such programs.
    Address(String),
    /// An index chooses no row, or one that another has chosen.
    Index {
        /// Where the transfer is declared.
        span: Span,
        /// The index and its error.
        error: IndexError,
    },
    /// The machine has no such number of processing elements.
    Device(String),
    /// The threads could not be started.
    Threads(String),
}

impl RunError {
    /// Where in the kernel the run stopped, if it was at one of its commands.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Self::Index { span, .. } => *span,
            Self::UnknownBuffer { .. }
            | Self::ArgumentSize { .. }
            | Self::MissingArguments(_)
            | Self::NotRun
            | Self::MemoryBound { .. }
            | Self::Address(_)
            | Self::Device(_)
            | Self::Threads(_) => Span::default(),
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownBuffer { role, found, expected } if expected.is_empty() => {
                write!(f, "no {role} is called `{found}`; the program has none")
            }
            Self::UnknownBuffer { role, found, expected } => {
                write!(f, "no {role} is called `{found}`, expected {}", quoted(expected))
            }
            Self::ArgumentSize { name, found, expected } => {
                write!(f, "argument `{name}` is given {}, expected {expected}", counted(*found, "byte"))
            }
            Self::MissingArguments(names) => {
                write!(f, "no data for {}: set every argument before the run", quoted(names))
            }
            Self::NotRun => write!(f, "the program has not run, so it has no results: run it first"),
            Self::MemoryBound { needed, bound } => write!(
                f,
                "the run needs {} of memory, expected at most {bound}: raise the memory bound",
                counted(*needed, "byte")
            ),
            Self::Address(message) | Self::Device(message) => f.write_str(message),
            Self::Index { error, .. } => write!(f, "{error}"),
            Self::Threads(message) => write!(f, "the threads could not be started: {message}"),
        }
    }
}

impl std::error::Error for RunError {}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
