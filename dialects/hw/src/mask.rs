//! Masking in the fetch adapter (book 08): the checks of a mask, and its effect on the bytes of a stream.

use crate::clauses::machine;
use crate::ops::exec::context_of;
use crate::ops::fetch::Fetch;
use crate::program::Context;
use std::ops::Range;
use std::sync::OnceLock;
use visa_engine::shadow::Shadow;
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::OpRef;
use visa_loops::{Entry, Mask, Program, innermost};
use visa_machine::Machine;
use visa_numerics::{Bits, DType, store};

/// A checked mask. The elements that it replaces are worked out once, on first use, and shared by all slices.
pub(crate) struct Masking {
    mask: Mask,
    entries: Vec<Entry>,
    ranges: OnceLock<Vec<Range<usize>>>,
    dtype: DType,
    /// The replacement of masked elements.
    value: Bits,
}

/// A mask as it is in a fetch, to be checked.
struct Written<'a> {
    op: OpRef<'a>,
    mask: &'a Mask,
    dtype: DType,
    /// The loops outside the innermost one.
    outer: &'a [Entry],
    /// Elements of the innermost loop.
    width: u64,
}

impl Masking {
    /// The mask of a fetch whose other clauses are checked, if it has one; `packet` is the bytes of a packet
    /// after the fetch.
    ///
    /// # Errors
    /// C9 to C11 of `hw.fetch`.
    pub(crate) fn read(
        op: Fetch<'_>,
        dtype: DType,
        packet: u64,
        program: &Program,
    ) -> Result<Option<Self>, Diagnostic> {
        let Some(mask) = op.mask()? else { return Ok(None) };
        let (outer, inner) = program.entries.split_at(innermost(&program.entries, u64::from(dtype.bits())));
        let bytes: u64 = inner.iter().map(|entry| entry.limit).product();
        let written = Written { op: *op, mask: &mask, dtype, outer, width: dtype.elements(bytes) };
        let machine = machine(*op);
        written.check_entries()?;
        if !bytes.is_multiple_of(dtype.align()) {
            let message = format!(
                "the innermost loop of `{program}` has {}, no whole elements of {dtype}",
                counted(bytes, "byte")
            );
            return Err(written.error("C10", message));
        }
        written.check_counts(&machine)?;
        written.check_context(packet, &machine)?;
        let value = written.value()?;
        let (mask, entries) = ((*mask).clone(), program.entries.clone());
        Ok(Some(Self { mask, entries, ranges: OnceLock::new(), dtype, value }))
    }

    /// The elements of the stream that are masked.
    fn ranges(&self) -> &[Range<usize>] {
        self.ranges.get_or_init(|| {
            let ranges = self.mask.masked(&self.entries, u64::from(self.dtype.bits()));
            ranges.into_iter().map(|range| range.start as usize..range.end as usize).collect()
        })
    }

    /// Replaces the masked elements of a stream before the conversion.
    pub(crate) fn apply(&self, bytes: &mut [u8]) {
        for range in self.ranges() {
            range.clone().for_each(|index| store(self.dtype, bytes, index, self.value));
        }
    }

    /// Masked elements are defined, regardless of the bytes read. Half a byte is masked with the other half's mark.
    pub(crate) fn apply_marks(&self, marks: &mut [Shadow]) {
        let bits = self.dtype.bits() as usize;
        for range in self.ranges() {
            marks[(range.start * bits).div_ceil(8)..range.end * bits / 8].fill(Shadow::DEFINED);
        }
    }
}

impl Written<'_> {
    fn error(&self, constraint: &str, message: String) -> Diagnostic {
        self.op.clause_error(constraint, "mask", message)
    }

    /// C9.
    fn check_entries(&self) -> Result<(), Diagnostic> {
        let (dim, count) = (self.mask.dim, self.outer.len());
        if let Some(entry) = [Some(dim), self.mask.by].into_iter().flatten().find(|entry| *entry >= count) {
            let message = format!(
                "entry {entry} is not outside the innermost loop: the loops have {}",
                counted(count, "such entry")
            );
            let fix = "put `1 : 0` above the innermost entry and name that".to_owned();
            return Err(self.error("C9", message).fix((count == 0).then_some(fix)));
        }
        if self.mask.by == Some(dim) {
            let message =
                format!("`dim` and `by` are both entry {dim}: in the last iteration there is one count only");
            let fix = "put `1 : 0` above the innermost entry and let `dim` name that".to_owned();
            return Err(self.error("C9", message).fix(Some(fix)));
        }
        Ok(())
    }

    /// C10.
    fn check_counts(&self, machine: &Machine) -> Result<(), Diagnostic> {
        let Self { mask, width, dtype, .. } = self;
        let most = machine.limits.mask_counts;
        let (wanted, what) = match mask.by {
            Some(by) => (self.outer[by].limit, format!("entry {by} has that many iterations")),
            None => (1, "without `by` there is one".to_owned()),
        };
        let found = mask.valid.len() as u64;
        if found != wanted {
            return Err(self.error("C10", format!("{found} valid counts, expected {wanted}: {what}")));
        }
        if found > most {
            return Err(self.error("C10", format!("{found} valid counts, expected at most {most}")));
        }
        if let Some(count) = mask.valid.iter().chain([&mask.left]).find(|count| *count > width) {
            let message =
                format!("a count of {}, but the innermost loop has {width}", counted(*count, "element"));
            return Err(self.error("C10", message));
        }
        let (masked, most) = (width - mask.valid[0], machine.masked_right_max(u64::from(dtype.bits())));
        if mask.by.is_none() && masked > most {
            let message = format!(
                "{} of {dtype} are masked on the right, expected at most {most}",
                counted(masked, "element")
            );
            return Err(self.error("C10", message));
        }
        Ok(())
    }

    /// C11.
    fn check_context(&self, packet: u64, machine: &Machine) -> Result<(), Diagnostic> {
        let context = context_of(self.op)?;
        if context != Context::Main {
            return Err(self.error("C11", format!("the {} context cannot mask", context)));
        }
        let most = machine.limits.mask_packet_max_bytes;
        if packet > most {
            let message = format!(
                "a packet of {} after the fetch, expected at most {most} with a mask",
                counted(packet, "byte")
            );
            return Err(self.error("C11", message));
        }
        Ok(())
    }

    /// The bits of `value`.
    fn value(&self) -> Result<Bits, Diagnostic> {
        let bits = self.dtype.bits();
        let value = u32::try_from(self.mask.value).ok().filter(|value| bits >= 32 || value >> bits == 0);
        value.ok_or_else(|| {
            let message = format!(
                "value {} does not fit the {} of {}",
                self.mask.value,
                counted(bits, "bit"),
                self.dtype
            );
            self.error("C10", message)
        })
    }
}
