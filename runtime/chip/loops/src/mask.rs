//! Masks of the fetch adapter: which elements of a stream are replaced by a value (book 08).

use std::ops::Range;

use crate::program::Entry;

/// The masked elements, in terms of the entries of a program, numbered from the outermost. The innermost loop (book
/// 08: dim0) is masked from either side; it is no entry that a mask may name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mask {
    /// The entry whose first iteration is masked on the left, and whose last one on the right (book 08: last_dim).
    pub dim: usize,
    /// Elements masked on the left.
    pub left: u64,
    /// The entry whose iterations have a count each (book 08: last_dim_rightmost_valid_count_dim).
    pub by: Option<usize>,
    /// Elements of the innermost loop that are not masked on the right: one count, or one an iteration of `by`.
    pub valid: Vec<u64>,
    /// Value of masked elements, in bits of the format in data memory (book 08: pad_value).
    pub value: u64,
}

/// The first entry of the innermost loop over elements of that many bits. In a program over bytes, an innermost
/// entry that only runs over the bytes of an element belongs to the entry above it.
#[must_use]
pub fn innermost(entries: &[Entry], element_bits: u64) -> usize {
    let last = entries.len().saturating_sub(1);
    let bytes_only = element_bits > 8 && entries.last().is_some_and(|entry| entry.limit * 8 == element_bits);
    if bytes_only { last.saturating_sub(1) } else { last }
}

impl Mask {
    /// The same mask after a loop has been inserted at `index`.
    #[must_use]
    pub fn below(self, index: usize) -> Self {
        let moved = |entry: usize| entry + usize::from(entry >= index);
        Self { dim: moved(self.dim), by: self.by.map(moved), ..self }
    }

    /// The elements of the stream that are masked, in order, for a program over bytes; ranges that touch are joined.
    #[must_use]
    pub fn masked(&self, entries: &[Entry], element_bits: u64) -> Vec<Range<u64>> {
        let (outer, inner) = entries.split_at(innermost(entries, element_bits));
        let width = inner.iter().map(|entry| entry.limit).product::<u64>() * 8 / element_bits;
        let mut ranges: Vec<Range<u64>> = Vec::new();
        let mut push = |range: Range<u64>| match ranges.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            Some(_) | None if range.is_empty() => {}
            Some(_) | None => ranges.push(range),
        };
        let mut at = vec![0; outer.len()];
        for run in 0..outer.iter().map(|entry| entry.limit).product() {
            let start = run * width;
            let left = if at.get(self.dim) == Some(&0) { self.left } else { 0 };
            let is_last =
                at.get(self.dim).zip(outer.get(self.dim)).is_some_and(|(at, entry)| at + 1 == entry.limit);
            let count = self.by.map_or(0, |by| at.get(by).copied().unwrap_or(0));
            let count = usize::try_from(count).ok().and_then(|count| self.valid.get(count));
            let valid = count.filter(|_| is_last).map_or(width, |count| *count);
            push(start..start + left.min(width));
            push(start + left.max(valid).min(width)..start + width);
            advance(outer, &mut at);
        }
        ranges
    }
}

/// Goes to the next iteration, innermost entry first.
fn advance(entries: &[Entry], at: &mut [u64]) {
    for (entry, at) in entries.iter().zip(at).rev() {
        *at += 1;
        if *at < entry.limit {
            return;
        }
        *at = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Program;

    fn masked(mask: &str, program: &str, element_bits: u64) -> Vec<(u64, u64)> {
        let program: Program = program.parse().unwrap();
        let mask: Mask = mask.parse().unwrap();
        mask.masked(&program.entries, element_bits).iter().map(|range| (range.start, range.end)).collect()
    }

    #[test]
    fn book_08_case_1() {
        // Two of A = 32: 96 bytes each, the first 2 and the last 4 masked. The bytes between two of A touch.
        let found = masked("[dim 1, left 2, valid [28]]", "[2 : 96, 3 : 32, 32 : 1] : 32", 8);
        assert_eq!(found, [(0, 2), (92, 98), (188, 192)]);
    }

    #[test]
    fn book_08_case_2() {
        // B / 32 is outermost: the left pad is in the first block of 2 x 32, the right pad in the last.
        let found = masked("[dim 0, left 2, valid [28]]", "[3 : 32, 2 : 96, 32 : 1] : 32", 8);
        assert_eq!(found, [(0, 2), (32, 34), (156, 160), (188, 192)]);
    }

    #[test]
    fn book_08_case_3() {
        // f32, 97 of 128: all but the first element of packet 6, all of packet 7.
        let mask = "[dim 1, by 0, valid [16, 16, 16, 16, 16, 16, 1, 0]]";
        assert_eq!(masked(mask, "[8 : 64, 1 : 0, 64 : 1] : 32", 32), [(97, 128)]);
    }

    #[test]
    fn elements_apart_in_memory() {
        // Three elements of two bytes, eight apart: the last is masked.
        assert_eq!(masked("[dim 0, valid [2]]", "[1 : 0, 3 : 8, 2 : 1] : 2", 16), [(2, 3)]);
    }

    #[test]
    fn two_elements_a_byte() {
        // 32 elements of four bits in 16 bytes: the last three are masked, half a byte of them.
        assert_eq!(masked("[dim 0, valid [29]]", "[2 : 16, 16 : 1] : 16", 4), [(61, 64)]);
    }

    #[test]
    fn text_is_canonical() {
        let read = |text: &str| text.parse::<Mask>().map(|mask| mask.to_string()).map_err(|error| error.code);
        assert_eq!(read("[ dim 1,left 0, valid[28] ]").as_deref(), Ok("[dim 1, valid [28]]"));
        let full = "[dim 2, left 1, by 1, valid [16, 0], value 128]";
        assert_eq!(read(full).as_deref(), Ok(full));
        for text in [
            "",
            "[]",
            "[dim 1]",
            "[valid [1]]",
            "[dim 1, valid []]",
            "[dim -1, valid [1]]",
            "[dim 1, valid 3]",
        ] {
            assert_eq!(read(text), Err("P1"), "{text}");
        }
        assert_eq!(read("[dim 1, valid [9223372036854775808]]"), Err("P2"));
        assert_eq!(read(&format!("[dim 1, valid [{}]]", vec!["1"; 65].join(", "))), Err("P3"));
    }
}
