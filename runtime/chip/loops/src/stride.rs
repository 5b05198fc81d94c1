//! Distance of the iterations of an entry: a stride, or a separate offset for each (book 07, "Indirect Access").

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Movement of the address by the iterations of an entry, in the program's unit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Stride {
    /// Each iteration this far after the one before; 0 is a broadcast.
    Fixed(i64),
    /// An indirect entry: each iteration at its own offset. There are as many offsets as iterations (S6).
    Table(Arc<[i64]>),
}

/// The offsets of a table that a message shows.
const SHOWN: usize = 8;

/// The distance of that many units, as strides have it. Beyond 2^63 it is the farthest there is: mappings end at 2^62,
/// so no stride is that long.
#[must_use]
pub fn distance(units: u64) -> i64 {
    i64::try_from(units).unwrap_or(i64::MAX)
}

impl From<i64> for Stride {
    fn from(stride: i64) -> Self {
        Self::Fixed(stride)
    }
}

impl From<Vec<i64>> for Stride {
    fn from(table: Vec<i64>) -> Self {
        Self::Table(table.into())
    }
}

impl Stride {
    /// The distance, if all iterations have the same.
    #[must_use]
    pub fn fixed(&self) -> Option<i64> {
        match self {
            Self::Fixed(stride) => Some(*stride),
            Self::Table(_) => None,
        }
    }

    /// The offsets of an indirect entry.
    #[must_use]
    pub fn table(&self) -> Option<&[i64]> {
        match self {
            Self::Fixed(_) => None,
            Self::Table(table) => Some(table),
        }
    }

    /// The numbers that it takes: the stride, or each offset.
    #[must_use]
    pub fn numbers(&self) -> &[i64] {
        match self {
            Self::Fixed(stride) => std::slice::from_ref(stride),
            Self::Table(table) => table,
        }
    }

    /// Distance of iteration `at` from the first, limited to 64 bits. An iteration that the table lacks has distance
    /// 0.
    #[must_use]
    pub fn distance(&self, at: u64) -> i64 {
        match self {
            Self::Fixed(stride) => stride.saturating_mul(distance(at)),
            Self::Table(_) => self.offset(at),
        }
    }

    /// As messages show it: of a long table the first offsets.
    #[must_use]
    pub fn shortened(&self) -> String {
        match self {
            Self::Table(table) if table.len() > SHOWN => {
                let shown: Vec<_> = table.iter().take(SHOWN).map(i64::to_string).collect();
                format!("({}, ...)", shown.join(", "))
            }
            Self::Fixed(_) | Self::Table(_) => self.to_string(),
        }
    }

    /// Movement of the address by iteration `at`, modulo 2^64. An iteration that the table lacks moves it by 0.
    #[must_use]
    pub fn offset(&self, at: u64) -> i64 {
        match self {
            Self::Fixed(stride) => at.cast_signed().wrapping_mul(*stride),
            Self::Table(table) => {
                usize::try_from(at).ok().and_then(|at| table.get(at)).copied().unwrap_or_default()
            }
        }
    }

    /// The least and the largest offset of `limit` iterations, 1 or more. `None` past 128 bits.
    pub(crate) fn reach(&self, limit: u64) -> Option<(i128, i128)> {
        match self {
            Self::Fixed(stride) => {
                let last = i128::from(limit - 1).checked_mul(i128::from(*stride))?;
                Some((last.min(0), last.max(0)))
            }
            Self::Table(table) => {
                let least = table.iter().min().copied().unwrap_or_default();
                let largest = table.iter().max().copied().unwrap_or_default();
                Some((least.into(), largest.into()))
            }
        }
    }

    /// Every number times `factor`; `None` past 64 bits.
    #[must_use]
    pub fn scaled(&self, factor: u64) -> Option<Self> {
        let factor = i64::try_from(factor).ok()?;
        let numbers = self.numbers().iter().map(|number| number.checked_mul(factor));
        match self {
            Self::Fixed(stride) => stride.checked_mul(factor).map(Self::Fixed),
            Self::Table(_) => numbers.collect::<Option<Vec<_>>>().map(Self::from),
        }
    }

    /// Every number divided by `unit`, if it divides all of them.
    #[must_use]
    pub fn divided(&self, unit: i64) -> Option<Self> {
        let quotient = |number: &i64| (number.checked_rem(unit)? == 0).then(|| number / unit);
        match self {
            Self::Fixed(stride) => quotient(stride).map(Self::Fixed),
            Self::Table(table) => table.iter().map(quotient).collect::<Option<Vec<_>>>().map(Self::from),
        }
    }

    /// Two iterations, the earlier first, that are nearer than `least`: of a broadcast or a table. Of a table the
    /// nearest two, wherever they are; strides other than 0 are not looked at.
    #[must_use]
    pub fn clash(&self, limit: u64, least: u64) -> Option<Range<u64>> {
        match self {
            Self::Fixed(stride) => (limit > 1 && *stride == 0).then_some(0..1),
            Self::Table(table) => {
                let mut sorted: Vec<(i64, u64)> = table.iter().copied().zip(0..).collect();
                sorted.sort_unstable();
                let near = sorted.windows(2).min_by_key(|pair| pair[1].0.abs_diff(pair[0].0))?;
                let (a, b) = (near[0].1, near[1].1);
                (near[1].0.abs_diff(near[0].0) < least.max(1)).then(|| a.min(b)..a.max(b))
            }
        }
    }
}

/// A table is written like that of a mapping, `(0, 128, 64)`.
impl fmt::Display for Stride {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(stride) => write!(f, "{stride}"),
            Self::Table(table) => {
                f.write_str("(")?;
                for (index, offset) in table.iter().enumerate() {
                    let separator = if index == 0 { "" } else { ", " };
                    write!(f, "{separator}{offset}")?;
                }
                f.write_str(")")
            }
        }
    }
}
