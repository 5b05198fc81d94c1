//! Halves of the tensor register file: two tensors that are needed at the same time are in different halves, and
//! one that needs more than a half is alone.

/// A part of the register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// All of it.
    Full,
    /// The first half of each row.
    First,
    /// The second half of each row.
    Second,
}

impl Half {
    /// Every part, by the word of the clause.
    pub const ALL: [(&'static str, Self); 3] =
        [("full", Self::Full), ("first", Self::First), ("second", Self::Second)];

    /// The word of the clause.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::First => "first",
            Self::Second => "second",
        }
    }

    fn meets(self, other: Self) -> bool {
        self == other || self == Self::Full || other == Self::Full
    }

    fn other(self) -> Self {
        match self {
            Self::Full => Self::Full,
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

/// A tensor of the register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resident {
    /// Whether it fits a half.
    pub small: bool,
    /// The first and the last point of the program at which it is needed.
    pub live: (usize, usize),
    /// The part that it has already.
    pub fixed: Option<Half>,
}

impl Resident {
    fn meets(&self, other: &Self) -> bool {
        self.live.0.max(other.live.0) <= self.live.1.min(other.live.1)
    }
}

/// A part for each tensor, in the order of definition; `None` if there is no choice of parts without a collision.
///
/// Of two halves that would do, a tensor takes the one that has not been needed for longer: its load then runs beside
/// contractions that still read the other one (book 18).
#[must_use]
pub fn choose(residents: &[Resident]) -> Option<Vec<Half>> {
    let forced = |resident: &Resident| resident.fixed.or((!resident.small).then_some(Half::Full));
    let mut parts: Vec<Option<Half>> = residents.iter().map(forced).collect();
    // What is forced forces what it meets.
    for at in 0..residents.len() {
        if parts[at].is_some() {
            follow(residents, &mut parts, at)?;
        }
    }
    for at in 0..residents.len() {
        if parts[at].is_none() {
            parts[at] = Some(rested(residents, &parts, at));
            follow(residents, &mut parts, at)?;
        }
    }
    parts.into_iter().collect()
}

/// The half that was needed last the longer ago, of those before tensor `at`; the first one of equals.
fn rested(residents: &[Resident], parts: &[Option<Half>], at: usize) -> Half {
    let needed = |half: Half| {
        let known = residents.iter().zip(parts).filter(|(_, part)| part.is_some_and(|part| part.meets(half)));
        let before = known.filter(|(other, _)| other.live.1 < residents[at].live.0);
        before.map(|(other, _)| other.live.1).max()
    };
    if needed(Half::Second) < needed(Half::First) { Half::Second } else { Half::First }
}

/// Gives what tensor `at` meets the other half, and so on. With two halves each choice leaves one for what it
/// meets, so what is found here is all there is: if it collides, no choice of the rest helps.
fn follow(residents: &[Resident], parts: &mut [Option<Half>], at: usize) -> Option<()> {
    let mut open = vec![at];
    while let Some(at) = open.pop() {
        let part = parts[at]?;
        for (other, resident) in residents.iter().enumerate() {
            if other == at || !resident.meets(&residents[at]) {
                continue;
            }
            match parts[other] {
                Some(taken) if taken.meets(part) => return None,
                Some(_) => {}
                None if part == Half::Full => return None,
                None => {
                    parts[other] = Some(part.other());
                    open.push(other);
                }
            }
        }
    }
    Some(())
}
