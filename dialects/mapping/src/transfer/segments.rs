//! Ragged parts of a transfer (book 10, example 6): a part without a single loop nest is cut in two until each part
//! has one.

use visa_algebra::{AxisId, Digit, Offset, PlacedDigit, Placement, times};

/// Most segments of a transfer. Each is a separate descriptor, which costs a start-up.
const MAX_SEGMENTS: usize = 64;

/// Blocks of an axis: those of the source, or those that a factor of the stream counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocks {
    pub(crate) axis: AxisId,
    /// Where the first begins.
    pub(crate) start: u64,
    /// Coordinates of each.
    pub(crate) length: u64,
}

/// Makes a segment of a target. Where it is `ragged`, the target is cut at the last boundary of blocks, of the largest
/// first: the part before it is whole blocks.
///
/// # Errors
/// As `make`, where no cut helps or there would be more than 64 segments.
pub(crate) fn segments<S, E>(
    target: Placement,
    blocks: &[Blocks],
    make: &dyn Fn(&Placement) -> Result<S, E>,
    ragged: &dyn Fn(&E) -> bool,
) -> Result<Vec<S>, E> {
    let (mut found, mut open) = (Vec::new(), vec![target]);
    while let Some(target) = open.pop() {
        let error = match make(&target) {
            Ok(segment) => {
                found.push(segment);
                continue;
            }
            Err(error) => error,
        };
        let few = found.len() + open.len() + 2 <= MAX_SEGMENTS;
        let Some([before, after]) = cut(&target, blocks).filter(|_| few && ragged(&error)) else {
            return Err(error);
        };
        open.extend([after, before]);
    }
    Ok(found)
}

/// The target in two parts. `None` if no digit reaches over a boundary of blocks without ending at one.
fn cut(target: &Placement, blocks: &[Blocks]) -> Option<[Placement; 2]> {
    let cuts = target.digits.iter().enumerate().flat_map(|(at, placed)| {
        let own = blocks.iter().filter(|blocks| placed.digit.axis == Some(blocks.axis));
        own.filter_map(move |blocks| {
            let start = target.start(blocks.axis).checked_sub(blocks.start)?;
            Some((blocks.length, at, boundary(&placed.digit, start, blocks.length)?))
        })
    });
    let (_, at, position) = cuts.max()?;
    Some(halves(target, at, position))
}

/// Number of positions of a digit, which starts at coordinate `start` of the blocks, before the last boundary that it
/// reaches over. `None` if it ends at one.
fn boundary(digit: &Digit, start: u64, block: u64) -> Option<u64> {
    let last = start.checked_add(digit.stride.checked_mul(digit.live - 1)?)?;
    let boundary = last / block * block;
    let before = boundary.checked_sub(start)?;
    let reaches_over = before.is_multiple_of(digit.stride) && before > 0;
    let ends_there = last.checked_add(digit.stride)?.is_multiple_of(block);
    (reaches_over && !ends_there).then(|| before / digit.stride)
}

/// The target with the digit at `at` up to before `position`, and from there on.
fn halves(target: &Placement, at: usize, position: u64) -> [Placement; 2] {
    let PlacedDigit { digit, weight } = target.digits[at];
    let part = |live: u64| PlacedDigit { digit: Digit { live, extent: live, ..digit }, weight };
    let (mut before, mut after) = (target.clone(), target.clone());
    before.digits[at] = part(position);
    after.digits[at] = part(digit.live - position);
    let start =
        |axis| Offset { axis, coordinate: digit.stride.saturating_mul(position), axis_size: digit.axis_size };
    let moved = Placement {
        base: times(weight, position),
        origin: digit.axis.map(start).into_iter().collect(),
        digits: Vec::new(),
    };
    [before, after.join(moved)]
}
