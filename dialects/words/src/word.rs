//! Sets of words as enums: the values of a clause that takes a word.

use std::fmt::{Debug, Display};
use std::hash::Hash;

/// An enum whose values are written as words. [`words!`](crate::words) declares one.
pub trait Word: Copy + Eq + Ord + Hash + Debug + Display + 'static {
    /// The values, in the order of their declaration.
    const ALL: &'static [Self];
    /// Their words, in the same order.
    const WORDS: &'static [&'static str];

    /// The word of the value.
    fn word(self) -> &'static str;

    /// The value with this word.
    #[must_use]
    fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.word() == word)
    }
}

/// Declares an enum whose values are written as words: `words! { pub enum Region { Full = "full", Half = "half" } }`.
///
/// `enum Half: Region { First, Second }` declares a part of another such enum: the words are those of `Region`, each
/// `Half` is a `Region` by `From`, and `Half::of` gives the `Half` of a `Region`.
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal),+ $(,)? }
    ) => {
        $crate::words!(@enum [$(#[$meta])*] $visibility $name { $([$(#[$doc])*] $variant ($word)),+ });
    };
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident: $whole:ident { $($(#[$doc:meta])* $variant:ident),+ $(,)? }
    ) => {
        $crate::words!(
            @enum [$(#[$meta])*] $visibility $name { $([$(#[$doc])*] $variant ($whole::$variant.word())),+ }
        );
        impl ::std::convert::From<$name> for $whole {
            fn from(value: $name) -> Self {
                match value {
                    $($name::$variant => Self::$variant),+
                }
            }
        }
        #[allow(dead_code, reason = "a set of words has the methods of all of them")]
        impl $name {
            /// The value that is this one of the whole set; `None` if the part lacks it.
            #[must_use]
            $visibility fn of(value: $whole) -> ::std::option::Option<Self> {
                <Self as $crate::Word>::ALL.iter().copied().find(|part| $whole::from(*part) == value)
            }
        }
    };
    (@enum [$($meta:tt)*] $visibility:vis $name:ident { $([$($doc:tt)*] $variant:ident ($word:expr)),+ }) => {
        $($meta)*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility enum $name {
            $($($doc)* $variant),+
        }
        #[allow(dead_code, reason = "a set of words has the methods of all of them")]
        impl $name {
            /// The word of the value.
            #[must_use]
            $visibility const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }
        }
        impl $crate::Word for $name {
            const ALL: &'static [Self] = &[$(Self::$variant),+];
            const WORDS: &'static [&'static str] = &[$(Self::$variant.word()),+];
            fn word(self) -> &'static str {
                self.word()
            }
        }
        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.word())
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::Word as _;

    crate::words! {
        /// A part of a row.
        enum Region {
            /// All of it.
            Full = "full",
            /// Its first half.
            First = "first",
            /// Its second half.
            Second = "second",
        }
    }

    crate::words! {
        /// A half of a row.
        enum Half: Region { First, Second }
    }

    #[test]
    fn words_and_values() {
        assert_eq!(Region::WORDS, ["full", "first", "second"]);
        assert_eq!(Region::ALL, [Region::Full, Region::First, Region::Second]);
        assert_eq!(Region::from_word("first"), Some(Region::First));
        assert_eq!(Region::from_word("First"), None);
        assert_eq!(format!("{} {:>7}", Region::Full, Region::Second), "full  second");
    }

    #[test]
    fn a_part_of_a_set() {
        assert_eq!(Half::WORDS, ["first", "second"]);
        assert_eq!((Half::of(Region::Second), Half::of(Region::Full)), (Some(Half::Second), None));
        assert_eq!(Region::from(Half::First), Region::First);
        assert_eq!(Half::from_word("full"), None);
    }
}
