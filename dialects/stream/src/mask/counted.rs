//! The positions of a padded term that the loops of a fetch count, and the mask's counts that follow.

use super::{Refused, width};
use visa_algebra::Padded;
use visa_ir::diag::counted;

/// The positions of a padded term that the loops of a fetch count: from `start` on, in iteration t of the outer loop
/// and d of the innermost one position start + t * stride + d * step.
pub(super) struct Counted<'a> {
    pub(super) term: &'a Padded,
    pub(super) start: u64,
    /// Iterations of the innermost loop of the fetch.
    pub(super) innermost: u64,
    /// Positions that one of them goes on; 0 where it counts something else.
    pub(super) step: u64,
    /// The outer loop, numbered from the outermost of the fetch, if there is one.
    pub(super) outer: Option<usize>,
    /// Positions that one of its iterations goes on.
    pub(super) stride: u64,
    /// Its iterations.
    pub(super) steps: u64,
}

impl Counted<'_> {
    /// Iterations of the innermost loop whose position is below `end`, in iteration t of the outer one.
    fn below(&self, end: u64, t: u64) -> u64 {
        let first = self.start.saturating_add(self.stride.saturating_mul(t));
        let room = end.saturating_sub(first);
        match self.step {
            0 if room > 0 => self.innermost,
            0 => 0,
            step => room.div_ceil(step).min(self.innermost),
        }
    }

    /// Elements masked on the left.
    pub(super) fn left(&self, t: u64) -> u64 {
        self.below(self.term.left, t)
    }

    /// Elements masked on the right.
    pub(super) fn right(&self, t: u64) -> u64 {
        self.innermost - self.below(self.term.left + self.term.live, t)
    }

    /// The left count of the first iteration and the valid count of the last one, where no other iteration is
    /// masked: the book's cases 1 and 2. At most `most` elements are masked on the right.
    pub(super) fn single(&self, most: u64) -> Result<(u64, u64), String> {
        let (text, last) = (&self.term.text, self.steps - 1);
        if last > 0 && self.left(1) > 0 {
            return Err(format!(
                "{} of `{text}` come before its elements, but the innermost loop has {}",
                counted(self.term.left, "position"),
                self.innermost
            ));
        }
        if last > 0 && self.right(last - 1) > 0 {
            return Err(format!(
                "{} of `{text}` come after its elements, but the innermost loop has {}",
                counted(self.term.size - self.term.left - self.term.live, "position"),
                self.innermost
            ));
        }
        let masked = self.right(last);
        if masked > most {
            return Err(format!(
                "{} are masked after those of `{text}`, at most {most} at once",
                counted(masked, "element")
            ));
        }
        Ok((self.left(0), self.innermost - masked))
    }

    /// A valid count for each iteration of the outer loop: case 3, needed for the reason `why`.
    pub(super) fn each(&self, most: u64, why: &str) -> Result<Vec<u64>, Refused> {
        if self.left(0) > 0 {
            return Err(width(format!(
                "{why}; with padding before the elements nothing else will do (book 08)"
            )));
        }
        if self.outer.is_none() {
            return Err(width(format!(
                "{why}; more takes a loop of at most {} around it (book 08)",
                counted(most, "iteration")
            )));
        }
        if self.steps > most {
            return Err(width(format!(
                "{why}; and there are at most {most} counts, where the loop around it has {} (book 08)",
                counted(self.steps, "iteration")
            )));
        }
        Ok((0..self.steps).map(|t| self.innermost - self.right(t)).collect())
    }
}
