//! Formats of numbers.

use num_bigint::{BigInt, Sign};

use crate::cursor::Cursor;
use crate::source::{Diagnostic, Origin};

/// The base, sign and case of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Base {
    Unsigned,
    Signed,
    HexUpper,
    HexLower,
}

/// The format in which a number is matched: `%u`, `%d`, `%X` or `%x`, a precision, and `#` for `0x`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) base: Base,
    pub(crate) precision: u32,
    pub(crate) alternate: bool,
}

impl Format {
    pub(crate) const UNSIGNED: Self = Self { base: Base::Unsigned, precision: 0, alternate: false };

    /// The letter of the format, as in messages.
    pub(crate) fn name(&self) -> &'static str {
        match self.base {
            Base::Unsigned => "%u",
            Base::Signed => "%d",
            Base::HexUpper => "%X",
            Base::HexLower => "%x",
        }
    }

    fn radix(&self) -> u32 {
        match self.base {
            Base::Unsigned | Base::Signed => 10,
            Base::HexUpper | Base::HexLower => 16,
        }
    }

    fn prefix(&self) -> &'static str {
        if self.alternate { "0x" } else { "" }
    }

    /// The regular expression of all numbers in this format.
    pub(crate) fn wildcard(&self) -> String {
        let prefix = self.prefix();
        let (sign, first, digit) = match self.base {
            Base::Unsigned => ("", "1-9", "0-9"),
            Base::Signed => ("-?", "1-9", "0-9"),
            Base::HexUpper => ("", "1-9A-F", "0-9A-F"),
            Base::HexLower => ("", "1-9a-f", "0-9a-f"),
        };
        match self.precision {
            0 => format!("{prefix}{sign}[{digit}]+"),
            precision => format!("{prefix}{sign}([{first}][{digit}]*)?[{digit}]{{{precision}}}"),
        }
    }

    /// The text of `value`; `None` for a negative number in a format without sign.
    pub(crate) fn text_of(&self, value: &BigInt) -> Option<String> {
        let negative = value.sign() == Sign::Minus;
        if negative && self.base != Base::Signed {
            return None;
        }
        let digits = value.magnitude().to_str_radix(self.radix());
        let digits = if self.base == Base::HexUpper { digits.to_uppercase() } else { digits };
        let sign = if negative { "-" } else { "" };
        let zeros = (self.precision as usize).saturating_sub(digits.len());
        Some(format!("{sign}{}{}{digits}", self.prefix(), "0".repeat(zeros)))
    }

    /// The value of a text that [`wildcard`](Self::wildcard) matched. As in LLVM, the first character that is no digit
    /// ends the number.
    pub(crate) fn value_of(&self, text: &[u8], offset: usize) -> Result<BigInt, Diagnostic> {
        let mut rest = Cursor::new(text, Origin::Input, offset);
        let negative = rest.eat(b"-");
        if self.alternate && self.base != Base::Signed {
            rest.eat(b"0x");
        }
        let value = rest.digits(self.radix())?.unwrap_or_default();
        Ok(if negative { -value } else { value })
    }
}
