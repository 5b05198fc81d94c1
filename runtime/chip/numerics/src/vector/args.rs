//! Which of stream and operands each argument of an ALU is (book 21, argument modes).

use crate::bits::Bits;

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

/// An argument mode: a row of the book's three tables.
#[derive(Debug, PartialEq, Eq)]
pub struct ArgMode {
    /// Its name in the text.
    pub name: &'static str,
    /// The arguments, first to last.
    pub args: &'static [Arg],
}

impl ArgMode {
    /// Whether some argument is operand 0, and whether one is operand 1.
    #[must_use]
    pub fn operands(&self) -> [bool; 2] {
        [self.args.contains(&Arg::Operand0), self.args.contains(&Arg::Operand1)]
    }

    /// Whether some argument is the stream.
    #[must_use]
    pub fn reads_stream(&self) -> bool {
        self.args.contains(&Arg::Stream)
    }
}

const S: Arg = Arg::Stream;
const A: Arg = Arg::Operand0;
const B: Arg = Arg::Operand1;

/// Unary, then binary, then ternary modes; the default of each comes first but for Mode00.
const MODES: [ArgMode; 13] = [
    ArgMode { name: "Mode0", args: &[S] },
    ArgMode { name: "Mode1", args: &[A] },
    ArgMode { name: "Mode00", args: &[S, S] },
    ArgMode { name: "Mode01", args: &[S, A] },
    ArgMode { name: "Mode10", args: &[A, S] },
    ArgMode { name: "Mode11", args: &[A, A] },
    ArgMode { name: "Mode012", args: &[S, A, B] },
    ArgMode { name: "Mode002", args: &[S, S, B] },
    ArgMode { name: "Mode102", args: &[A, S, B] },
    ArgMode { name: "Mode112", args: &[A, A, B] },
    ArgMode { name: "Mode020", args: &[S, B, S] },
    ArgMode { name: "Mode021", args: &[S, B, A] },
    ArgMode { name: "Mode120", args: &[A, B, S] },
];

/// What the text may call an argument mode.
pub const ARG_MODE_NAMES: [&str; MODES.len()] = {
    let mut names = [""; MODES.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = MODES[at].name;
        at += 1;
    }
    names
};

/// Every argument mode, those of fewer arguments first.
pub fn arg_modes() -> impl Iterator<Item = &'static ArgMode> {
    MODES.iter()
}

/// The mode called `name`, exactly as the book spells it.
#[must_use]
pub fn arg_mode(name: &str) -> Option<&'static ArgMode> {
    MODES.iter().find(|mode| mode.name == name)
}

/// The mode of an operation of `arity` arguments whose text names none: the stream first, then the operands.
#[must_use]
pub fn default_mode(arity: usize) -> &'static ArgMode {
    match arity {
        1 => &MODES[0],
        2 => &MODES[3],
        _ => &MODES[6],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Book 21's tables: the name spells where each argument comes from.
    #[test]
    fn names_spell_the_arguments() {
        for mode in &MODES {
            let digit = |arg: &Arg| match arg {
                Arg::Stream => '0',
                Arg::Operand0 => '1',
                Arg::Operand1 => '2',
            };
            let spelled: String = mode.args.iter().map(digit).collect();
            assert_eq!(mode.name, format!("Mode{spelled}"));
            assert_eq!(arg_mode(mode.name), Some(mode));
        }
        for (arity, name) in [(1, "Mode0"), (2, "Mode01"), (3, "Mode012")] {
            assert_eq!(default_mode(arity).name, name);
            assert_eq!(default_mode(arity).args.len(), arity);
        }
        assert_eq!(arg_mode("Mode2"), None);
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
            let mode = arg_mode(name).expect("a mode of the book");
            assert_eq!((mode.operands(), mode.reads_stream()), (operands, stream), "{name}");
        }
        assert_eq!(Arg::Operand1.pick(1, [2, 3]), 3);
    }
}
