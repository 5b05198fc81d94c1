//! Comparisons of the branch stage: each gives one bit of an element's execution id (book 21).

use super::IdSet;
use crate::bits::Bits;
use crate::dtype::DType;
use std::fmt;

/// Kind of a comparison (source v: the operators of `InputCmp`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compare {
    /// Below the boundary; never for NaN.
    Less,
    /// At the boundary; -0 is 0.
    Equal,
    /// Above the boundary; never for NaN.
    Greater,
    /// Bits below those of the boundary, as unsigned numbers.
    LessUnsigned,
    /// Bits above those of the boundary, as unsigned numbers.
    GreaterUnsigned,
    /// Always.
    True,
    /// Never.
    False,
}

impl Compare {
    const ALL: [Self; 7] = [
        Self::Less,
        Self::Equal,
        Self::Greater,
        Self::LessUnsigned,
        Self::GreaterUnsigned,
        Self::True,
        Self::False,
    ];

    /// Its name in the text.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Less => "less",
            Self::Equal => "equal",
            Self::Greater => "greater",
            Self::LessUnsigned => "less_unsigned",
            Self::GreaterUnsigned => "greater_unsigned",
            Self::True => "true",
            Self::False => "false",
        }
    }

    /// Returns true if it compares with a boundary.
    #[must_use]
    pub const fn has_boundary(self) -> bool {
        !matches!(self, Self::True | Self::False)
    }

    /// Returns true if it holds for an element of `dtype`, i32 or f32; subnormals count with their values.
    #[must_use]
    pub fn holds(self, dtype: DType, element: Bits, boundary: Bits) -> bool {
        let order = match dtype.is_float() {
            true => f32::from_bits(element).partial_cmp(&f32::from_bits(boundary)),
            false => Some(element.cast_signed().cmp(&boundary.cast_signed())),
        };
        match self {
            Self::Less => order.is_some_and(std::cmp::Ordering::is_lt),
            Self::Equal => order.is_some_and(std::cmp::Ordering::is_eq),
            Self::Greater => order.is_some_and(std::cmp::Ordering::is_gt),
            Self::LessUnsigned => element < boundary,
            Self::GreaterUnsigned => element > boundary,
            Self::True => true,
            Self::False => false,
        }
    }
}

/// A comparison for each bit of the execution id, bit 0 first, with its boundary; bits beyond are 0.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparisons<V>(pub Vec<(Compare, Option<V>)>);

impl<V> Comparisons<V> {
    /// Reads a list; `value` reads a boundary.
    ///
    /// # Errors
    /// The texts found and expected.
    pub fn parse(text: &str, value: impl Fn(&str) -> Option<V>) -> Result<Self, String> {
        let names = Compare::ALL.map(Compare::name).join("`, `");
        let refuse = |found: &str| {
            format!(
                "found `{}`, expected `[COMPARISON BOUNDARY, ...]`, a comparison being one of `{names}`",
                found.trim()
            )
        };
        let inside = text.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let comparison = |text: &str| {
            let (name, boundary) = match text.trim().split_once(' ') {
                Some((name, boundary)) => (name, Some(boundary.trim())),
                None => (text.trim(), None),
            };
            let compare = Compare::ALL.into_iter().find(|compare| compare.name() == name)?;
            match boundary {
                Some(boundary) if compare.has_boundary() => Some((compare, Some(value(boundary)?))),
                None if !compare.has_boundary() => Some((compare, None)),
                Some(_) | None => None,
            }
        };
        let read = |text: &str| comparison(text).ok_or_else(|| refuse(text));
        inside.ok_or_else(|| refuse(text))?.split(',').map(read).collect::<Result<_, _>>().map(Self)
    }

    /// The same comparisons with other boundaries.
    ///
    /// # Errors
    /// The first one that has none.
    pub fn try_map<W, E>(&self, of: impl Fn(&V) -> Result<W, E>) -> Result<Comparisons<W>, E> {
        let one = |(compare, boundary): &(Compare, Option<V>)| {
            boundary.as_ref().map(&of).transpose().map(|boundary| (*compare, boundary))
        };
        self.0.iter().map(one).collect::<Result<_, _>>().map(Comparisons)
    }
}

impl<V> Comparisons<V> {
    /// The ids that elements can have, each comparison taken by itself.
    #[must_use]
    pub fn ids(&self) -> IdSet {
        let can = |id: &u32| {
            (0..IdSet::BITS.ilog2()).all(|bit| {
                let compare = self.0.get(bit as usize).map_or(Compare::False, |(compare, _)| *compare);
                match compare {
                    Compare::True => id >> bit & 1 == 1,
                    Compare::False => id >> bit & 1 == 0,
                    Compare::Less
                    | Compare::Equal
                    | Compare::Greater
                    | Compare::LessUnsigned
                    | Compare::GreaterUnsigned => true,
                }
            })
        };
        (0..IdSet::BITS).filter(can).map(|id| 1 << id).sum()
    }
}

impl Comparisons<Bits> {
    /// The execution id of an element.
    #[must_use]
    pub fn id(&self, dtype: DType, element: Bits) -> u8 {
        let bit = |(at, (compare, boundary)): (usize, &(Compare, Option<Bits>))| {
            u8::from(compare.holds(dtype, element, boundary.unwrap_or(0))) << at
        };
        self.0.iter().enumerate().map(bit).sum()
    }
}

impl<V: fmt::Display> fmt::Display for Comparisons<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (compare, boundary)) in self.0.iter().enumerate() {
            write!(f, "{}{}", if at == 0 { "[" } else { ", " }, compare.name())?;
            if let Some(boundary) = boundary {
                write!(f, " {boundary}")?;
            }
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_by_hand() {
        let list = Comparisons::parse("[less 0, equal 7, greater_unsigned 10,true]", |text| {
            text.parse::<i32>().ok()
        });
        let list = list.expect("comparisons");
        assert_eq!(list.to_string(), "[less 0, equal 7, greater_unsigned 10, true]");
        let bits: Comparisons<Bits> = list.try_map(|value| Ok::<_, ()>(value.cast_unsigned())).expect("bits");
        for (element, id) in [(-1, 0b1101), (0, 0b1000), (7, 0b1010), (10, 0b1000), (11, 0b1100)] {
            assert_eq!(bits.id(DType::I32, i32::cast_unsigned(element)), id, "{element}");
        }
    }

    #[test]
    fn floats_by_hand() {
        let holds = |compare: Compare, x: f32, y: f32| compare.holds(DType::F32, x.to_bits(), y.to_bits());
        assert!(holds(Compare::Less, -0.5, 0.0) && !holds(Compare::Less, 0.0, 0.0));
        assert!(holds(Compare::Equal, -0.0, 0.0) && !holds(Compare::Equal, f32::NAN, f32::NAN));
        assert!(holds(Compare::Greater, 1.0e-40, 0.0) && !holds(Compare::Greater, f32::NAN, 0.0));
        // The bits of a negative number are above those of every positive one.
        assert!(holds(Compare::GreaterUnsigned, -1.0, 1.0e30) && holds(Compare::LessUnsigned, 1.0, 2.0));
        assert!(!holds(Compare::GreaterUnsigned, 2.0, 2.0) && !holds(Compare::LessUnsigned, 2.0, 2.0));
        assert!(holds(Compare::True, f32::NAN, 0.0) && !holds(Compare::False, 1.0, 0.0));
    }

    #[test]
    fn ids_that_elements_can_have() {
        for (text, ids) in [
            ("[less 0]", 0b11),
            ("[true]", 0b10),
            ("[false, equal 1]", 0b101),
            ("[true, less 1, true]", 0b1010_0000),
        ] {
            let list = Comparisons::parse(text, |text| text.parse::<i32>().ok()).expect("comparisons");
            assert_eq!(list.ids(), ids, "{text}");
        }
    }

    #[test]
    fn bad_text_is_refused() {
        for text in ["", "[]", "less 0", "[less]", "[less a]", "[true 1]", "[below 3]", "[less 0"] {
            assert!(Comparisons::parse(text, |text| text.parse::<i32>().ok()).is_err(), "{text}");
        }
    }
}
