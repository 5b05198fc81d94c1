//! Errors in a machine description.

use std::fmt;

/// One field whose value cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FieldError {
    /// Path of the field, as in the JSON description.
    pub field: &'static str,
    /// Its value.
    pub found: String,
    /// The valid values.
    pub expected: String,
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}, expected {}", self.field, self.found, self.expected)
    }
}

/// Reason that a machine description was refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MachineError {
    /// The text is not JSON, or not of the description's shape.
    Json {
        /// The value found and the values expected, in one line.
        message: String,
        /// Line of the text, from 1; 0 if the text is empty.
        line: usize,
        /// Column of the line, from 1.
        column: usize,
    },
    /// Fields have values that no machine can have: all of them, in the order of declaration.
    Invalid(Vec<FieldError>),
}

impl MachineError {
    /// Refuses lists where the description has objects: serde would take their elements for fields in the order of
    /// declaration.
    pub(crate) fn check_objects(written: &serde_json::Value) -> Result<(), Self> {
        const PARTS: [&str; 5] = ["topology", "memory", "limits", "timing", "measured"];
        let parts = PARTS.into_iter().filter_map(|part| Some((part, written.get(part)?)));
        let mut all = std::iter::once(("the description", written)).chain(parts);
        let list = all.find(|(_, value)| !value.is_object());
        list.map_or(Ok(()), |(field, _)| {
            let (found, expected) = ("a list".to_owned(), "an object with named fields (`{...}`)".to_owned());
            Err(Self::Invalid(vec![FieldError { field, found, expected }]))
        })
    }

    /// Refuses a figure that descriptions had before: its replacement is not in the same unit.
    pub(crate) fn check_figures(written: &serde_json::Value) -> Result<(), Self> {
        const OLD: [(&str, &str, &str, &str); 3] = [
            (
                "register_operand_ticks",
                "measured.register_operand_ticks",
                "a figure for each step of a pass",
                "`register_row_ticks`, for each row of 32 bytes of an operand, with `store_startup_ticks` and \
                 `partial_round_ticks`: fit the machine again with `--fit`",
            ),
            (
                "partial_write_ticks",
                "measured.partial_write_ticks",
                "a figure for each unit of HBM that is written in part",
                "`partial_round_ticks`, for each round of up to four such writes of a slice: fit the machine again \
                 with `--fit`",
            ),
            (
                "contraction_ticks",
                "measured.contraction_ticks",
                "a figure for each packet of a contraction",
                "`contraction_startup_ticks`, once for each contraction: fit the machine again with `--fit`",
            ),
        ];
        let measured = written.get("measured");
        let is_written = |(name, ..): &&(&str, &str, &str, &str)| {
            measured.is_some_and(|measured| measured.get(name).is_some())
        };
        match OLD.iter().find(is_written) {
            None => Ok(()),
            Some(&(_, field, found, expected)) => {
                let (found, expected) = (found.to_owned(), expected.to_owned());
                Err(Self::Invalid(vec![FieldError { field, found, expected }]))
            }
        }
    }

    /// Takes the position out of serde's message, which ends in it.
    pub(crate) fn from_serde(error: serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let text = error.to_string();
        let position = format!(" at line {line} column {column}");
        let message = text.strip_suffix(&position).unwrap_or(&text).to_owned();
        Self::Json { message, line, column }
    }
}

impl fmt::Display for MachineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json { message, line, column } => {
                write!(f, "machine description, line {line} column {column}: {message}")
            }
            Self::Invalid(fields) => {
                write!(f, "machine description: ")?;
                for (index, field) in fields.iter().enumerate() {
                    let separator = if index == 0 { "" } else { "; " };
                    write!(f, "{separator}{field}")?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for MachineError {}
