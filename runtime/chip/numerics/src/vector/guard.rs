//! Guards: patterns over the execution id of an element, and the operation for elements that match (book 21).

use std::fmt;
use std::str::FromStr;

/// Bits of an execution id (book 21).
const ID_BITS: usize = 4;

/// The word that stands for the operation's value operand in a list of guards.
const VALUE: &str = "value";

/// A set of execution ids: bit n stands for id n.
pub type IdSet = u16;

/// A pattern over the bits of an execution id, bit 3 first: `1`, `0`, or `x` for either.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Guard {
    /// The bits that it looks at.
    care: u8,
    /// Their required values.
    wanted: u8,
}

impl Guard {
    /// Returns true if it holds for an execution id.
    #[must_use]
    pub fn holds(self, id: u8) -> bool {
        id & self.care == self.wanted
    }

    /// The required values of the bits, bit 0 first; `None` for either value.
    #[must_use]
    pub fn bits(self) -> [Option<bool>; ID_BITS] {
        std::array::from_fn(|bit| (self.care >> bit & 1 == 1).then_some(self.wanted >> bit & 1 == 1))
    }

    /// The ids for which it holds.
    #[must_use]
    pub fn ids(self) -> IdSet {
        (0..1 << ID_BITS).filter(|&id| self.holds(id)).map(|id| 1 << id).sum()
    }
}

impl FromStr for Guard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || format!("found `{text}`, expected a guard of 4 bits such as `x1x0`, bit 3 first");
        let mut guard = Self { care: 0, wanted: 0 };
        if text.len() != ID_BITS {
            return Err(refuse());
        }
        for bit in text.bytes() {
            let (care, wanted) = match bit {
                b'x' => (0, 0),
                b'0' => (1, 0),
                b'1' => (1, 1),
                _ => return Err(refuse()),
            };
            guard = Self { care: guard.care << 1 | care, wanted: guard.wanted << 1 | wanted };
        }
        Ok(guard)
    }
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for bit in (0..ID_BITS).rev() {
            f.write_str(match (self.care >> bit & 1, self.wanted >> bit & 1) {
                (0, _) => "x",
                (_, 0) => "0",
                (_, _) => "1",
            })?;
        }
        Ok(())
    }
}

/// The operation on an element for which a guard holds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Slot<V> {
    /// It applies; it has no operand to choose.
    Apply,
    /// It applies, with this operand.
    Immediate(V),
    /// It applies, with its value operand, from the register-file port.
    Value,
}

/// A conditional operand: the slot of the first guard that holds counts; where none holds the element passes
/// unchanged.
#[derive(Clone, PartialEq, Debug)]
pub struct Guards<V>(pub Vec<(Guard, Slot<V>)>);

/// Reason why a list of guards is invalid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GuardFault {
    /// The operation has fewer slots.
    Slots(String),
    /// A guard never holds; with the operation.
    Dead(String, String),
}

impl<V> Guards<V> {
    /// The slot that counts for an execution id.
    #[must_use]
    pub fn slot(&self, id: u8) -> Option<&Slot<V>> {
        self.0.iter().find(|(guard, _)| guard.holds(id)).map(|(_, slot)| slot)
    }

    /// Reads a list; `value` reads an immediate.
    ///
    /// # Errors
    /// The texts found and expected.
    pub fn parse(text: &str, value: impl Fn(&str) -> Option<V>) -> Result<Self, String> {
        let refuse = |found: &str| {
            format!("found `{}`, expected `[GUARD, ...]` or `[GUARD: OPERAND, ...]`", found.trim())
        };
        let inside = text.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let inside = inside.ok_or_else(|| refuse(text))?;
        let slot = |slot: &str| {
            let Some((guard, operand)) = slot.split_once(':') else {
                return Ok((slot.trim().parse()?, Slot::Apply));
            };
            let slot = match operand.trim() {
                VALUE => Slot::Value,
                number => Slot::Immediate(value(number).ok_or_else(|| refuse(number))?),
            };
            Ok((guard.trim().parse()?, slot))
        };
        inside.split(',').map(slot).collect::<Result<_, _>>().map(Self)
    }

    /// The same guards with other immediates.
    ///
    /// # Errors
    /// The first one that has none.
    pub fn try_map<W, E>(&self, of: impl Fn(&V) -> Result<W, E>) -> Result<Guards<W>, E> {
        let slot = |(guard, slot): &(Guard, Slot<V>)| {
            let slot = match slot {
                Slot::Apply => Slot::Apply,
                Slot::Immediate(value) => Slot::Immediate(of(value)?),
                Slot::Value => Slot::Value,
            };
            Ok((*guard, slot))
        };
        self.0.iter().map(slot).collect::<Result<_, _>>().map(Guards)
    }

    /// Checks the slots: `most` immediates, then the value operand, and every guard holds for one of `ids` for
    /// which none before it does.
    ///
    /// # Errors
    /// The first fault.
    pub fn check(&self, most: u64, ids: IdSet) -> Result<(), GuardFault> {
        let immediates = self.0.iter().filter(|(_, slot)| matches!(slot, Slot::Immediate(_))).count();
        if immediates as u64 > most {
            let message = format!("{immediates} immediates, expected {most} at most");
            return Err(GuardFault::Slots(message));
        }
        let first = self.0.iter().position(|(_, slot)| matches!(slot, Slot::Value));
        if first.is_some_and(|first| first + 1 < self.0.len()) {
            let message = "a slot after that of `value`, which the engine tries last and has once".to_owned();
            return Err(GuardFault::Slots(message));
        }
        let mut left = ids;
        for (guard, _) in &self.0 {
            if guard.ids() & ids == 0 {
                let fix = "leave it out, or choose another branch mode".to_owned();
                return Err(GuardFault::Dead(
                    format!("guard `{guard}` never holds: the branch mode gives no such id"),
                    fix,
                ));
            }
            if guard.ids() & left == 0 {
                let message = format!("guard `{guard}` never counts: those before it hold wherever it does");
                return Err(GuardFault::Dead(message, "put it before them, or leave it out".to_owned()));
            }
            left &= !guard.ids();
        }
        Ok(())
    }
}

impl<V: fmt::Display> fmt::Display for Guards<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (guard, slot)) in self.0.iter().enumerate() {
            write!(f, "{}{guard}", if at == 0 { "[" } else { ", " })?;
            match slot {
                Slot::Apply => {}
                Slot::Immediate(value) => write!(f, ": {value}")?,
                Slot::Value => write!(f, ": {VALUE}")?,
            }
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guards(text: &str) -> Guards<i32> {
        Guards::parse(text, |text| text.parse().ok()).expect("guards")
    }

    #[test]
    fn a_guard_looks_at_the_bits_it_names() {
        for (text, ids) in [
            ("xxxx", 0xffff),
            ("0000", 1),
            ("1xxx", 0xff00),
            ("0xxx", 0x00ff),
            ("xxx1", 0xaaaa),
            ("x10x", 1 << 4 | 1 << 5 | 1 << 12 | 1 << 13),
        ] {
            let guard: Guard = text.parse().expect("a guard");
            assert_eq!((guard.ids(), guard.to_string().as_str()), (ids, text));
        }
        for text in ["", "xxx", "xxxxx", "2xxx", "x xx", "é00"] {
            assert!(text.parse::<Guard>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_first_guard_that_holds_counts() {
        let list = guards("[1x0x: 7,xxx1:-2, x000: value]");
        assert_eq!(list.to_string(), "[1x0x: 7, xxx1: -2, x000: value]");
        assert_eq!(list.slot(0b1001), Some(&Slot::Immediate(7)));
        assert_eq!(list.slot(0b0001), Some(&Slot::Immediate(-2)));
        assert_eq!(list.slot(0), Some(&Slot::Value));
        assert_eq!(list.slot(0b0010), None);
        assert_eq!(guards("[1xxx]").slot(8), Some(&Slot::Apply));
        for text in ["", "[]", "[1xxx", "1xxx", "[1xxx:]", "[1xxx: a]", "[1xxx, ]"] {
            assert!(Guards::parse(text, |text| text.parse::<i32>().ok()).is_err(), "{text}");
        }
    }

    #[test]
    fn slots_just_inside_and_just_outside() {
        let check = |text: &str, ids| guards(text).check(3, ids);
        assert_eq!(check("[0001: 1, 0010: 2, 0100: 3, 1000: value]", 0xffff), Ok(()));
        assert!(matches!(check("[0001: 1, 0010: 2, 0100: 3, 1000: 4]", 0xffff), Err(GuardFault::Slots(_))));
        assert!(matches!(check("[0001: value, 0010: 2]", 0xffff), Err(GuardFault::Slots(_))));
        assert!(matches!(check("[0001: value, 0010: value]", 0xffff), Err(GuardFault::Slots(_))));
        assert_eq!(check("[0001: 1, 00xx: 2]", 0xffff), Ok(()));
        let dead = |text, ids, why| {
            let found = check(text, ids);
            assert!(
                matches!(&found, Err(GuardFault::Dead(message, _)) if message.contains(why)),
                "{found:?}"
            );
        };
        dead("[00xx: 1, 0001: 2]", 0xffff, "never counts");
        dead("[0xxx: 1, 1xxx: 2, x1xx: 3]", 0xffff, "never counts");
        assert_eq!(check("[1xxx: 1]", 0x0101), Ok(()));
        dead("[1xxx: 1]", 0x0001, "never holds");
    }
}
