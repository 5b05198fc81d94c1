//! Rows that the indices of a gather or a scatter are taken to choose: they are known at run time alone.

use std::fmt;
use std::str::FromStr;

use crate::indices::KnownIndices;

/// The rows that indices choose: the known ones, and assumed ones for the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// Known indices.
    pub known: KnownIndices,
    /// Assumption for other indices.
    pub assumed: AssumedRows,
}

/// The rows that indices choose, by the number of the index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AssumedRows {
    /// As far through the table as the fraction of the number times the golden ratio, which no two numbers have in
    /// common and which leaves no gaps.
    #[default]
    Spread,
    /// One after the other, from the first again after the last.
    Sequential,
    /// Any, by a generator with this seed.
    Random(u64),
}

impl AssumedRows {
    /// The row, of `rows`, that the index of this number chooses.
    #[must_use]
    pub fn row(self, number: u64, rows: u64) -> u64 {
        let part = |fraction: u64| ((u128::from(fraction) * u128::from(rows)) >> 64) as u64;
        match self {
            Self::Spread => part(number.wrapping_mul(GOLDEN)),
            Self::Sequential => number % rows.max(1),
            Self::Random(seed) => part(mixed(seed.wrapping_add(number.wrapping_mul(GOLDEN)))),
        }
    }

    /// Text of the assumption for a price that rests on it.
    pub(crate) fn assumption(self) -> String {
        let rows = match self {
            Self::Spread => "they are taken to be spread over the table".to_owned(),
            Self::Sequential => {
                "they are taken to be chosen one after the other (--assume-indices sequential)".to_owned()
            }
            Self::Random(_) => format!("they are drawn at random (--assume-indices {self})"),
        };
        format!("which rows are chosen is known at run time alone; {rows}")
    }
}

/// 2^64 over the golden ratio.
pub(crate) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finalizer of SplitMix64: all bits of the result depend on all bits of the number.
pub(crate) const fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

impl fmt::Display for AssumedRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spread => f.write_str("spread"),
            Self::Sequential => f.write_str("sequential"),
            Self::Random(seed) => write!(f, "random:{seed}"),
        }
    }
}

impl FromStr for AssumedRows {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = || format!("found `{text}`, expected `spread`, `sequential` or `random:SEED`");
        match text.split_once(':') {
            Some(("random", seed)) => seed.parse().map(Self::Random).map_err(|_| refused()),
            None if text == "spread" => Ok(Self::Spread),
            None if text == "sequential" => Ok(Self::Sequential),
            Some(_) | None => Err(refused()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for rows in [AssumedRows::Spread, AssumedRows::Sequential, AssumedRows::Random(7)] {
            assert_eq!(rows.to_string().parse(), Ok(rows));
        }
        for text in ["", "random", "random:", "random:-1", "sequential:1", "any"] {
            assert!(text.parse::<AssumedRows>().is_err(), "{text}");
        }
    }

    #[test]
    fn rows_are_of_the_table() {
        for rows in [AssumedRows::Spread, AssumedRows::Sequential, AssumedRows::Random(7)] {
            let mut counts = [0_u32; 5];
            (0..5000).for_each(|number| counts[rows.row(number, 5) as usize] += 1);
            assert!(counts.iter().all(|count| (900..1100).contains(count)), "{rows}: {counts:?}");
            assert_eq!(rows.row(u64::MAX, 1), 0);
        }
        let sequential = (0..4).map(|number| AssumedRows::Sequential.row(number, 3)).collect::<Vec<_>>();
        assert_eq!(sequential, [0, 1, 2, 0]);
        assert_ne!(AssumedRows::Random(1).row(0, 1 << 40), AssumedRows::Random(2).row(0, 1 << 40));
    }
}
