//! Masking in the fetch adapter (book 08): the checks of a mask, and what it does to the bytes of a stream.

use crate::clauses::{in_sub_context, machine};
use crate::taint::Taint;
use std::ops::Range;
use std::sync::OnceLock;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_machine::Machine;
use visa_numerics::{DType, store};
use visa_sequencer::{Entry, Mask, Program, innermost};

/// A checked mask. The bytes that it replaces are worked out once, on first use, and shared by all slices.
pub(crate) struct Masking {
    mask: Mask,
    entries: Vec<Entry>,
    ranges: OnceLock<Vec<Range<usize>>>,
    /// The bytes of one masked element.
    value: Vec<u8>,
}

/// A mask as it stands in a fetch, to be checked.
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
    /// The mask of a fetch whose other clauses are checked, if it has one; `packet` is the bytes of a packet behind the fetch.
    ///
    /// # Errors
    /// C7 to C9 of `hw.fetch`.
    pub(crate) fn read(
        op: OpRef<'_>,
        dtype: DType,
        packet: u64,
        program: &Program,
    ) -> Result<Option<Self>, Diagnostic> {
        let Some(mask) = op.body::<Mask>("mask") else { return Ok(None) };
        let element = u64::from(dtype.bits() / 8);
        let (outer, inner) = program.entries.split_at(innermost(&program.entries, element));
        let bytes: u64 = inner.iter().map(|entry| entry.limit).product();
        let written = Written { op, mask: &mask, dtype, outer, width: bytes / element };
        let machine = machine(op);
        written.check_entries()?;
        if !bytes.is_multiple_of(element) {
            let message =
                format!("the innermost loop of `{program}` has {bytes} bytes, no whole elements of {dtype}");
            return Err(written.error("C8", message));
        }
        written.check_counts(&machine)?;
        written.check_context(packet, &machine)?;
        let value = written.value()?;
        Ok(Some(Self {
            mask: (*mask).clone(),
            entries: program.entries.clone(),
            ranges: OnceLock::new(),
            value,
        }))
    }

    /// The bytes of the stream that are masked.
    fn ranges(&self) -> &[Range<usize>] {
        self.ranges.get_or_init(|| {
            let ranges = self.mask.masked(&self.entries, self.value.len() as u64);
            ranges.into_iter().map(|range| range.start as usize..range.end as usize).collect()
        })
    }

    /// Replaces the masked bytes of a stream before the conversion.
    pub(crate) fn apply(&self, bytes: &mut [u8]) {
        for range in self.ranges() {
            for element in bytes[range.clone()].chunks_exact_mut(self.value.len()) {
                element.copy_from_slice(&self.value);
            }
        }
    }

    /// Masked bytes are defined, whatever was read.
    pub(crate) fn apply_marks(&self, marks: &mut [Taint]) {
        for range in self.ranges() {
            marks[range.clone()].fill(Taint::DEFINED);
        }
    }
}

impl Written<'_> {
    fn error(&self, constraint: &str, message: String) -> Diagnostic {
        self.op.clause_error(constraint, "mask", message)
    }

    /// C7.
    fn check_entries(&self) -> Result<(), Diagnostic> {
        let (dim, count) = (self.mask.dim, self.outer.len());
        if let Some(entry) = [Some(dim), self.mask.by].into_iter().flatten().find(|entry| *entry >= count) {
            let message = format!(
                "entry {entry} is not outside the innermost loop: the loops have {count} such entries"
            );
            let fix = "put `1 : 0` above the innermost entry and name that".to_owned();
            return Err(self.error("C7", message).fix((count == 0).then_some(fix)));
        }
        if self.mask.by == Some(dim) {
            let message =
                format!("`dim` and `by` are both entry {dim}: in the last iteration there is one count only");
            let fix = "put `1 : 0` above the innermost entry and let `dim` name that".to_owned();
            return Err(self.error("C7", message).fix(Some(fix)));
        }
        Ok(())
    }

    /// C8.
    fn check_counts(&self, machine: &Machine) -> Result<(), Diagnostic> {
        let Self { mask, width, dtype, .. } = self;
        let most = machine.limits.mask_counts;
        let (wanted, what) = match mask.by {
            Some(by) => (self.outer[by].limit, format!("entry {by} has that many iterations")),
            None => (1, "without `by` there is one".to_owned()),
        };
        let found = mask.valid.len() as u64;
        if found != wanted {
            return Err(self.error("C8", format!("{found} valid counts, expected {wanted}: {what}")));
        }
        if found > most {
            return Err(self.error("C8", format!("{found} valid counts, expected at most {most}")));
        }
        if let Some(count) = mask.valid.iter().chain([&mask.left]).find(|count| *count > width) {
            let message = format!("a count of {count} elements, but the innermost loop has {width}");
            return Err(self.error("C8", message));
        }
        let (masked, most) = (width - mask.valid[0], machine.masked_right_max(u64::from(dtype.bits())));
        if mask.by.is_none() && masked > most {
            let message =
                format!("{masked} elements of {dtype} are masked on the right, expected at most {most}");
            return Err(self.error("C8", message));
        }
        Ok(())
    }

    /// C9.
    fn check_context(&self, packet: u64, machine: &Machine) -> Result<(), Diagnostic> {
        if in_sub_context(self.op) {
            return Err(self.error("C9", "the sub context cannot mask".to_owned()));
        }
        let most = machine.limits.mask_packet_max_bytes;
        if packet > most {
            let message =
                format!("a packet of {packet} bytes behind the fetch, expected at most {most} with a mask");
            return Err(self.error("C9", message));
        }
        Ok(())
    }

    /// The bytes of `value`.
    fn value(&self) -> Result<Vec<u8>, Diagnostic> {
        let bits = self.dtype.bits();
        let value = u32::try_from(self.mask.value).ok().filter(|value| bits >= 32 || value >> bits == 0);
        let Some(value) = value else {
            let message = format!("value {} does not fit the {bits} bits of {}", self.mask.value, self.dtype);
            return Err(self.error("C8", message));
        };
        let mut bytes = vec![0; bits as usize / 8];
        store(self.dtype, &mut bytes, 0, value);
        Ok(bytes)
    }
}
