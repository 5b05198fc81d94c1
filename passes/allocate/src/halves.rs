//! Halves of the tensor register file: two tensors that are needed at the same time are in different halves, and
//! one that needs more than a half is alone.

use visa_engine::words::RegionName;

/// Returns true if two regions share bytes.
fn meet(one: RegionName, other: RegionName) -> bool {
    one == other || one == RegionName::Full || other == RegionName::Full
}

/// The half that is left next to a region; all of the file next to all of it.
fn rest(region: RegionName) -> RegionName {
    match region {
        RegionName::Full => RegionName::Full,
        RegionName::First => RegionName::Second,
        RegionName::Second => RegionName::First,
    }
}

/// A tensor of the register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resident {
    /// True if it fits a half.
    pub small: bool,
    /// The first and the last point of the program at which it is needed.
    pub live: (usize, usize),
    /// The part that it has already.
    pub fixed: Option<RegionName>,
}

impl Resident {
    fn meets(&self, other: &Self) -> bool {
        self.live.0.max(other.live.0) <= self.live.1.min(other.live.1)
    }
}

/// A part for each tensor, in the order of definition; `None` if there is no choice of parts without a collision.
///
/// Of two halves that would do, a tensor takes the one that has not been needed for longer: its load then runs in
/// parallel with contractions that still read the other one (book 18).
#[must_use]
pub fn choose(residents: &[Resident]) -> Option<Vec<RegionName>> {
    let forced = |resident: &Resident| resident.fixed.or((!resident.small).then_some(RegionName::Full));
    let mut parts: Vec<Option<RegionName>> = residents.iter().map(forced).collect();
    // A forced part forces those of the tensors it meets.
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
fn rested(residents: &[Resident], parts: &[Option<RegionName>], at: usize) -> RegionName {
    let needed = |half: RegionName| {
        let known = residents.iter().zip(parts).filter(|(_, part)| part.is_some_and(|part| meet(part, half)));
        let before = known.filter(|(other, _)| other.live.1 < residents[at].live.0);
        before.map(|(other, _)| other.live.1).max()
    };
    if needed(RegionName::Second) < needed(RegionName::First) {
        RegionName::Second
    } else {
        RegionName::First
    }
}

/// Gives the tensors that tensor `at` meets the other half, and so on. With two halves each choice leaves one for the
/// tensors it meets, so this search is complete: if it collides, no choice of the rest helps.
fn follow(residents: &[Resident], parts: &mut [Option<RegionName>], at: usize) -> Option<()> {
    let mut open = vec![at];
    while let Some(at) = open.pop() {
        let part = parts[at]?;
        for (other, resident) in residents.iter().enumerate() {
            if other == at || !resident.meets(&residents[at]) {
                continue;
            }
            match parts[other] {
                Some(taken) if meet(taken, part) => return None,
                Some(_) => {}
                None if part == RegionName::Full => return None,
                None => {
                    parts[other] = Some(rest(part));
                    open.push(other);
                }
            }
        }
    }
    Some(())
}
