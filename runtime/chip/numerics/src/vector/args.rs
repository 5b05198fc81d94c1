//! Arguments of an ALU, as choices of stream and operands (book 21, argument modes).

use crate::bits::Bits;
use visa_words::words;

/// Where an argument comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arg {
    /// The element of the stream.
    Stream,
    /// The first operand.
    Operand0,
    /// The second operand, of an operation with three arguments.
    Operand1,
}

impl Arg {
    /// This one of an element of the stream and the operands.
    #[must_use]
    pub fn pick(self, stream: Bits, operands: [Bits; 2]) -> Bits {
        match self {
            Self::Stream => stream,
            Self::Operand0 => operands[0],
            Self::Operand1 => operands[1],
        }
    }
}

words! {
    /// An argument mode: a row of the book's three tables. Unary, then binary, then ternary modes.
    #[allow(missing_docs)] // The name spells where each argument comes from.
    pub enum ArgMode {
        Mode0 = "Mode0",
        Mode1 = "Mode1",
        Mode00 = "Mode00",
        Mode01 = "Mode01",
        Mode10 = "Mode10",
        Mode11 = "Mode11",
        Mode012 = "Mode012",
        Mode002 = "Mode002",
        Mode102 = "Mode102",
        Mode112 = "Mode112",
        Mode020 = "Mode020",
        Mode021 = "Mode021",
        Mode120 = "Mode120",
    }
}

const S: Arg = Arg::Stream;
const A: Arg = Arg::Operand0;
const B: Arg = Arg::Operand1;

impl ArgMode {
    /// The arguments, first to last.
    #[must_use]
    pub const fn args(self) -> &'static [Arg] {
        match self {
            Self::Mode0 => &[S],
            Self::Mode1 => &[A],
            Self::Mode00 => &[S, S],
            Self::Mode01 => &[S, A],
            Self::Mode10 => &[A, S],
            Self::Mode11 => &[A, A],
            Self::Mode012 => &[S, A, B],
            Self::Mode002 => &[S, S, B],
            Self::Mode102 => &[A, S, B],
            Self::Mode112 => &[A, A, B],
            Self::Mode020 => &[S, B, S],
            Self::Mode021 => &[S, B, A],
            Self::Mode120 => &[A, B, S],
        }
    }

    /// Returns true for operand 0 if some argument is operand 0, and for operand 1 likewise.
    #[must_use]
    pub fn operands(self) -> [bool; 2] {
        [self.args().contains(&Arg::Operand0), self.args().contains(&Arg::Operand1)]
    }

    /// Returns true if some argument is the stream.
    #[must_use]
    pub fn reads_stream(self) -> bool {
        self.args().contains(&Arg::Stream)
    }
}

/// The mode of an operation of `arity` arguments whose text names none: the stream first, then the operands.
#[must_use]
pub const fn default_mode(arity: usize) -> ArgMode {
    match arity {
        1 => ArgMode::Mode0,
        2 => ArgMode::Mode01,
        _ => ArgMode::Mode012,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use visa_words::Word as _;

    /// Book 21's tables: the name spells where each argument comes from.
    #[test]
    fn names_spell_the_arguments() {
        for &mode in ArgMode::ALL {
            let digit = |arg: &Arg| match arg {
                Arg::Stream => '0',
                Arg::Operand0 => '1',
                Arg::Operand1 => '2',
            };
            let spelled: String = mode.args().iter().map(digit).collect();
            assert_eq!(mode.word(), format!("Mode{spelled}"));
        }
        for (arity, name) in [(1, "Mode0"), (2, "Mode01"), (3, "Mode012")] {
            assert_eq!(default_mode(arity).word(), name);
            assert_eq!(default_mode(arity).args().len(), arity);
        }
        assert_eq!(ArgMode::from_word("Mode2"), None);
    }

    #[test]
    fn what_a_mode_reads() {
        for (name, operands, stream) in [
            ("Mode0", [false, false], true),
            ("Mode1", [true, false], false),
            ("Mode00", [false, false], true),
            ("Mode112", [true, true], false),
            ("Mode020", [false, true], true),
        ] {
            let mode = ArgMode::from_word(name).expect("a mode of the book");
            assert_eq!((mode.operands(), mode.reads_stream()), (operands, stream), "{name}");
        }
        assert_eq!(Arg::Operand1.pick(1, [2, 3]), 3);
    }
}
