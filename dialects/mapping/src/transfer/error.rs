//! Reasons for a missing transfer.

use std::fmt;
use visa_algebra::{DivideError, Expr};

/// Reason for the lack of a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransferError {
    /// The source does not hold the elements that the destination requires.
    Divide {
        /// The required expression, as the user wrote it.
        wanted: Expr,
        /// The expression that the source holds.
        held: Expr,
        /// The cause.
        error: DivideError,
    },
    /// A mapping has no digit form.
    Mapping(String),
    /// 4-bit elements that share a byte on one side do not on the other.
    HalfByte(String),
    /// The stream that is given does not fit the transfer.
    Stream {
        /// The clause at fault: `engines`, `time` or `packet`.
        clause: &'static str,
        /// The description of the error.
        message: String,
        /// The suggested replacement.
        fix: Option<String>,
        /// True if a part of the transfer might fit: a factor ends within a loop.
        ragged: bool,
    },
}

impl TransferError {
    /// Returns true if a part of the transfer might have a loop nest.
    pub(crate) fn is_ragged(&self) -> bool {
        match self {
            Self::Divide { error, .. } => matches!(error, DivideError::Incompatible { .. }),
            Self::Stream { ragged, .. } => *ragged,
            Self::Mapping(_) | Self::HalfByte(_) => false,
        }
    }

    /// The clause that is at fault.
    #[must_use]
    pub const fn clause(&self) -> &'static str {
        match self {
            Self::Divide { .. } | Self::Mapping(_) | Self::HalfByte(_) => "element",
            Self::Stream { clause, .. } => clause,
        }
    }
}

impl fmt::Display for TransferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Divide { wanted, held, error } => {
                write!(f, "`{wanted}` cannot be read from `{held}`: {error}")
            }
            Self::Mapping(why) | Self::HalfByte(why) | Self::Stream { message: why, .. } => f.write_str(why),
        }
    }
}
