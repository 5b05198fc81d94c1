//! Where something is in its source text.

use std::ops::Range;
use std::sync::OnceLock;

/// A half-open byte range of a [`Source`]. Every operation, clause and value knows its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span of `range`, which must be within a source (sources are bounded below 4 GiB).
    #[must_use]
    pub fn new(range: Range<usize>) -> Self {
        Self { start: range.start as u32, end: range.end as u32 }
    }

    /// The same span as a byte range.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The part of this span that `inner` (relative to its start) names.
    #[must_use]
    pub fn part(self, inner: Range<usize>) -> Self {
        let clamp = |at: usize| (self.start as usize + at).min(self.end as usize);
        Self::new(clamp(inner.start)..clamp(inner.end).max(clamp(inner.start)))
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// Bytes of a block of text. Line breaks are counted once a block: where many places are asked for, a look-up
/// reads a block and not the whole text, and a text of nothing but line breaks takes little more memory than its
/// bytes.
const BLOCK: usize = 1 << 12;

/// A named text that spans point into.
#[derive(Clone, Debug)]
pub struct Source {
    /// File name, or `<stdin>`.
    pub name: String,
    /// The whole text. It does not change once a line has been asked for.
    pub text: String,
    /// Line breaks before each block, and in all: made when a line is asked for.
    breaks: OnceLock<Box<[u32]>>,
    /// Characters before each block, made when a column is asked for: a line may be as long as the text.
    characters: OnceLock<Box<[u32]>>,
}

impl Source {
    /// A source called `name`.
    #[must_use]
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), breaks: OnceLock::new(), characters: OnceLock::new() }
    }

    /// One-based line of a byte offset.
    #[must_use]
    pub fn line(&self, offset: usize) -> usize {
        let offset = offset.min(self.text.len());
        let block = offset / BLOCK;
        self.breaks()[block] as usize + count(&self.text.as_bytes()[block * BLOCK..offset]) + 1
    }

    /// One-based line and column (in characters) of a byte offset.
    #[must_use]
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let line = self.line(offset);
        let start = self.line_start(line).expect("the line of a place is one of the text");
        (line, self.before(offset) - self.before(start) + 1)
    }

    /// The characters that begin before a byte offset.
    fn before(&self, offset: usize) -> usize {
        let offset = offset.min(self.text.len());
        let block = offset / BLOCK;
        let characters = self.characters.get_or_init(|| sums(&self.text, starts));
        characters[block] as usize + starts(&self.text.as_bytes()[block * BLOCK..offset])
    }

    /// The bytes of a one-based line, its line break included; `None` if the text has no such line.
    #[must_use]
    pub fn line_range(&self, line: usize) -> Option<Range<usize>> {
        let start = self.line_start(line)?;
        Some(start..self.after_break(start).unwrap_or(self.text.len()))
    }

    /// Where a line starts. Its end is not looked for: it may be far.
    fn line_start(&self, line: usize) -> Option<usize> {
        let breaks = line.checked_sub(1)?;
        if breaks == 0 {
            return Some(0);
        }
        let blocks = self.breaks().partition_point(|&before| (before as usize) < breaks);
        // Those in front of the last of these blocks are fewer, so it holds the break: unless there is none.
        let block = blocks.checked_sub(1).filter(|block| block * BLOCK < self.text.len())?;
        let further = breaks - self.breaks()[block] as usize;
        (0..further).try_fold(block * BLOCK, |from, _| self.after_break(from))
    }

    /// The place after the first line break from there on.
    fn after_break(&self, from: usize) -> Option<usize> {
        let length = self.text.as_bytes()[from..].iter().position(|&b| b == b'\n');
        length.map(|length| from + length + 1)
    }

    fn breaks(&self) -> &[u32] {
        self.breaks.get_or_init(|| sums(&self.text, count))
    }
}

/// Counts before each block of a text, and the total.
fn sums(text: &str, count: fn(&[u8]) -> usize) -> Box<[u32]> {
    let sums = text.as_bytes().chunks(BLOCK).scan(0, |sum, block| {
        // Spans count bytes in 32 bits, so that there is no more to count.
        *sum += count(block) as u32;
        Some(*sum)
    });
    std::iter::once(0).chain(sums).collect()
}

/// The characters that begin in `bytes`.
fn starts(bytes: &[u8]) -> usize {
    // Of UTF-8, all bytes but the first of a character are 10xxxxxx.
    bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}

/// The line breaks in `bytes`.
fn count(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_a_long_line_are_looked_up_in_blocks() {
        // Read from the start of the line each time, these are 200 GB.
        let source = Source::new("text", "\u{e9}a".repeat(1_400_000));
        for at in (0..source.text.len()).step_by(42) {
            assert_eq!(source.position(at), (1, at / 3 * 2 + 1));
        }
        assert_eq!(source.position(1), (1, 2), "within a character");
    }

    /// Lines of the text as the standard library splits it; each place is looked up in it from the start.
    fn agrees(text: &str) {
        let source = Source::new("text", text);
        let lines: Vec<&str> = text.split('\n').collect();
        let mut start = 0;
        for (number, line) in lines.iter().enumerate() {
            let end = (start + line.len() + 1).min(text.len());
            assert_eq!(source.line_range(number + 1), Some(start..end), "line {number} of {text:?}");
            for offset in [start, start + line.len() / 2, start + line.len()] {
                assert_eq!(source.line(offset), number + 1, "{offset}");
                if text.is_char_boundary(offset) {
                    let column = text[start..offset].chars().count() + 1;
                    assert_eq!(source.position(offset), (number + 1, column), "{offset}");
                }
            }
            start = end;
        }
        assert_eq!(source.line_range(lines.len() + 1), None);
        assert_eq!(source.line_range(0), None);
        assert_eq!(source.position(text.len() + 1), source.position(text.len()));
    }

    #[test]
    fn lines_are_those_of_the_text() {
        for text in ["", "\n", "a", "a\n", "\na", "ä\n\nü", "a\r\nb"] {
            agrees(text);
        }
        // Breaks at the ends of blocks, before and after them, and in blocks that have none.
        for length in [BLOCK - 1, BLOCK, 2 * BLOCK + 1] {
            agrees(&"\n".repeat(length));
            agrees(&"a".repeat(length));
            for line in [5, 64, BLOCK - 1, BLOCK, BLOCK + 1] {
                let text: String =
                    (0..length).map(|at| if (at + 1) % line == 0 { '\n' } else { 'a' }).collect();
                agrees(&text);
                agrees(&text.replace('a', "é"));
            }
        }
    }

    /// The stored data of a text does not grow with its lines.
    #[test]
    fn blank_lines_take_no_more_than_their_bytes() {
        let source = Source::new("blank", "\n".repeat(10 * BLOCK));
        assert_eq!(source.line(10 * BLOCK), 10 * BLOCK + 1);
        assert_eq!(source.breaks().len(), 11);
    }
}
