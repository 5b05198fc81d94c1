//! Guesses which part of the input a pattern was meant for.

/// Bytes of the input that are considered.
const MAX_INPUT: usize = 4096;

/// Most cells of the tables of edit distances.
const MAX_WORK: usize = 20_000_000;

/// A distance from which on nothing was meant.
const MAX_DISTANCE: f64 = 50.0;

/// The offset in `input` whose text is most like `example`, unless it is the first one or nothing is like it.
pub(crate) fn closest(example: &[u8], input: &[u8]) -> Option<usize> {
    let considered = &input[..input.len().min(MAX_INPUT)];
    if considered.len().saturating_mul(example.len()).saturating_mul(example.len()) > MAX_WORK {
        return None;
    }
    let mut lines = 0;
    let mut best: Option<(f64, usize)> = None;
    for (at, byte) in considered.iter().enumerate() {
        match byte {
            b'\n' => lines += 1,
            b' ' | b'\t' => continue,
            _ => {}
        }
        let text = &input[at..input.len().min(at + example.len())];
        let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        // A line further down costs a hundredth of a letter.
        let quality = f64::from(distance(line, example)) + f64::from(lines) / 100.0;
        if best.is_none_or(|(least, _)| quality < least) {
            best = Some((quality, at));
        }
    }
    best.filter(|(quality, at)| *at > 0 && *quality < MAX_DISTANCE).map(|(_, at)| at)
}

/// The number of bytes to insert, remove or replace to turn one text into the other.
fn distance(from: &[u8], to: &[u8]) -> u32 {
    let mut row: Vec<u32> = (0..).take(to.len() + 1).collect();
    for byte in from {
        let mut diagonal = row[0];
        row[0] += 1;
        for (index, other) in to.iter().enumerate() {
            let replaced = diagonal + u32::from(byte != other);
            diagonal = row[index + 1];
            row[index + 1] = replaced.min(diagonal + 1).min(row[index] + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}
