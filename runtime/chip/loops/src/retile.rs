//! Cutting a byte program into accesses of another size (book 08: fetch_size, book 09: commit_size).

use std::fmt;
use visa_words::counted;

use crate::error::{SeqError, code};
use crate::merge::merge_pair;
use crate::program::{Loop, PairedProgram, Program};
use crate::sizes::{contiguous, contiguous_paired, gcd};

impl Program {
    /// The same bytes in the same order, `access` bytes at a time: the innermost contiguous run is cut into `(run /
    /// access : access, access : 1)`, and outer entries are merged into it only if that is needed. An error (A3) if
    /// `access` does not divide the whole contiguous run, which ends at an indirect entry.
    pub fn retile(&self, access: u64) -> Result<Self, SeqError> {
        let entries = cut(&self.entries, access).ok_or_else(|| cannot_cut(self, access, contiguous(self)))?;
        Ok(Self { entries, packet: access, base: self.base })
    }
}

impl PairedProgram {
    /// [`Program::retile`] on both sides.
    pub fn retile(&self, access: u64) -> Result<Self, SeqError> {
        let entries =
            cut(&self.entries, access).ok_or_else(|| cannot_cut(self, access, contiguous_paired(self)))?;
        Ok(Self { entries, packet: access, ..self.clone() })
    }
}

fn cut<const SIDES: usize, L: Loop<SIDES>>(entries: &[L], access: u64) -> Option<Vec<L>> {
    if access == 1 {
        return Some(entries.to_vec());
    }
    let stride = i64::try_from(access).ok().filter(|&stride| stride != 0)?;
    let mut outer: Vec<L> = entries.iter().filter(|entry| !entry.is_idle()).cloned().collect();
    let mut run = outer.pop().filter(|entry| entry.fixed() == Some([1; SIDES]))?;
    while !run.limit().is_multiple_of(access) {
        run = merge_pair(&outer.pop()?, &run)?;
    }
    if run.limit() != access {
        outer.push(L::even(run.limit() / access, [stride; SIDES]));
    }
    outer.push(L::even(access, [1; SIDES]));
    Some(outer)
}

fn cannot_cut(program: &dyn fmt::Display, access: u64, run: u64) -> SeqError {
    let message = format!(
        "`{program}` cannot be cut into accesses of {}: its contiguous run is {}",
        counted(access, "byte"),
        counted(run, "byte")
    );
    let fix = (access != 0).then(|| format!("use accesses of {}", counted(gcd(run, access), "byte")));
    SeqError::new(code::ACCESS, message).with_fix(fix)
}
