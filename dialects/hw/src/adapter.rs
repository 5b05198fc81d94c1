//! The Fetch Adapter (book 08): the steps for each element between data memory and the packets, in pipeline order:
//! table indexing, conversion, zero-point subtraction. Batching is the packet itself.

use crate::clauses::machine;
use crate::ops::exec::context_of;
use crate::ops::fetch::Fetch;
use crate::program::Context;
use visa_engine::shadow::{Marker, Shadow};
use visa_ir::diag::{Diagnostic, counted};
use visa_machine::Machine;
use visa_numerics::{
    Bits, CastRow, DType, LookupTable, TABLE_INDEX_BITS, load, store, subtract_zero_point, zero_point_cast,
};

/// The adapter's registers.
pub(crate) struct Adapter {
    /// Format in data memory.
    from: DType,
    table: Option<LookupTable>,
    cast: Option<&'static CastRow>,
    /// None, one for all packets, or one for even and one for odd packets.
    zero: Vec<i32>,
}

impl Adapter {
    /// Reads the clauses `table`, `to` and `zero`: C5's first half, C7 and C8 of `hw.fetch`.
    pub(crate) fn read(op: Fetch<'_>, from: DType) -> Result<Self, Diagnostic> {
        if !from.is_stored() {
            let message = format!("{from} has a sideband bit, which data memory does not hold");
            return Err(op.clause_error("C5", "dtype", message));
        }
        let table = table(op, from)?;
        let cast = conversion(op, table.as_ref().map_or(from, |table| table.to))?;
        Ok(Self { from, table, cast, zero: zero_points(op, cast)? })
    }

    /// Format after it.
    pub(crate) fn to(&self) -> DType {
        let indexed = self.table.as_ref().map_or(self.from, |table| table.to);
        self.cast.map_or(indexed, |row| row.to)
    }

    /// Returns true if elements change their width.
    pub(crate) fn converts(&self) -> bool {
        self.table.is_some() || self.cast.is_some()
    }

    /// Bytes after it of `bytes` before.
    pub(crate) fn converted(&self, bytes: u64) -> u64 {
        bytes * u64::from(self.to().bits()) / u64::from(self.from.bits())
    }

    /// Bytes that the stream after it holds of `bytes` in data memory.
    fn held(&self, bytes: usize) -> usize {
        self.converted(bytes as u64) as usize * self.to().wire_scale()
    }

    /// The result for a stream whose packets have `packet` bytes. An index outside the table gives 0.
    pub(crate) fn apply(&self, bytes: Vec<u8>, packet: u64) -> Vec<u8> {
        if !self.converts() {
            return bytes;
        }
        let (to, elements) = (self.to(), self.from.elements(bytes.len() as u64) as usize);
        let per_packet = (self.from.elements(packet) as usize).max(1);
        let mut out = vec![0; self.held(bytes.len())];
        for index in 0..elements {
            let zero = self.zero.get((index / per_packet) % self.zero.len().max(1)).copied();
            store(to, &mut out, index, self.element(load(self.from, &bytes, index), zero));
        }
        out
    }

    fn element(&self, bits: Bits, zero: Option<i32>) -> Bits {
        let bits = self.table.as_ref().map_or(bits, |table| table.get(self.from, bits).unwrap_or(0));
        match self.cast {
            Some(row) => {
                zero.map_or((row.apply)(bits), |zero| subtract_zero_point(row.to, (row.apply)(bits), zero))
            }
            None => bits,
        }
    }

    /// The marks after it of bytes with these marks: one mark for all bytes of an element, undefined where its
    /// index is outside the table.
    pub(crate) fn marks(&self, marks: Vec<Shadow>, bytes: &[u8], marker: &mut Marker<'_>) -> Vec<Shadow> {
        if !self.converts() {
            return marks;
        }
        // Elements of four bits share a byte, and also its converted bytes.
        let from = self.from.align() as usize;
        let to = self.held(from);
        let mut out = Vec::with_capacity(self.held(bytes.len()));
        for (at, own) in marks.chunks_exact(from).enumerate() {
            let mut mark = Shadow::all(own);
            if mark.is_defined() && self.is_outside(&bytes[at * from..(at + 1) * from]) {
                mark = marker.through(Shadow::OUTSIDE_TABLE);
            }
            out.extend(std::iter::repeat_n(mark, to));
        }
        out
    }

    /// Returns true if one of these elements indexes beyond the table.
    fn is_outside(&self, bytes: &[u8]) -> bool {
        let outside =
            |table: &LookupTable, index| table.get(self.from, load(self.from, bytes, index)).is_none();
        let mut elements = 0..self.from.elements(bytes.len() as u64) as usize;
        self.table.as_ref().is_some_and(|table| elements.any(|index| outside(table, index)))
    }

    /// Returns true if elements are indices of a table.
    pub(crate) const fn looks_up(&self) -> bool {
        self.table.is_some()
    }

    /// Bytes that the table gives for `bytes` of data memory; `None` without a table.
    pub(crate) fn looked_up(&self, bytes: u64) -> Option<u64> {
        let table = self.table.as_ref()?;
        Some((bytes * u64::from(table.to.bits())).div_ceil(u64::from(self.from.bits())))
    }

    /// Cycles from an element's entry to its exit.
    pub(crate) fn latency(&self, machine: &Machine) -> u64 {
        let table = self.table.as_ref().map_or(0, |_| machine.timing.fetch_table_cycles);
        table + self.cast.map_or(0, |_| machine.timing.fetch_cast_cycles)
    }

    /// The assumed fields of the machine description that [`Adapter::latency`] rests on.
    pub(crate) fn assumed(&self) -> Vec<&'static str> {
        let table = self.table.as_ref().map(|_| "timing.fetch_table_cycles");
        table.into_iter().chain(self.cast.map(|_| "timing.fetch_cast_cycles")).collect()
    }
}

/// C7.
fn table(op: Fetch<'_>, from: DType) -> Result<Option<LookupTable>, Diagnostic> {
    let Some(table) = op.table()? else { return Ok(None) };
    let refuse = |message: String| Err(op.clause_error("C7", "table", message));
    let context = context_of(*op)?;
    if context != Context::Main {
        return refuse(format!("a table in the {} context, which has no table indexing", context));
    }
    if from.bits() > TABLE_INDEX_BITS {
        return refuse(format!(
            "{from} has {}, expected at most {TABLE_INDEX_BITS} for an index",
            counted(from.bits(), "bit")
        ));
    }
    let (found, most) = (table.entries.len(), 1_usize << from.bits());
    if !(1..=most).contains(&found) {
        return refuse(format!(
            "{}, expected 1 to {most}: one for each bit pattern of {from}",
            counted(found, "entry")
        ));
    }
    Ok(Some((*table).clone()))
}

/// C5, first half.
fn conversion(op: Fetch<'_>, from: DType) -> Result<Option<&'static CastRow>, Diagnostic> {
    let Some(to) = op.to()? else { return Ok(None) };
    let machine = machine(*op);
    match machine.fetch_cast(from, *to) {
        Some(row) => Ok(Some(row)),
        None => Err(op.clause_error("C5", "to", machine.no_fetch_cast(from, *to))),
    }
}

/// C8.
fn zero_points(op: Fetch<'_>, cast: Option<&'static CastRow>) -> Result<Vec<i32>, Diagnostic> {
    let Some(numbers) = op.zero()? else { return Ok(Vec::new()) };
    let refuse = |message: String| Err(op.clause_error("C8", "zero", message));
    if !(1..=2).contains(&numbers.len()) {
        return refuse(format!(
            "{}, expected one, or two for even and odd packets",
            counted(numbers.len(), "zero point")
        ));
    }
    let subtracts = cast.and_then(|row| zero_point_cast(row.from, row.to));
    let Some((row, (least, most))) = subtracts.and_then(|row| Some((row, row.to.range()?))) else {
        let found = cast.map_or("none".to_owned(), |row| format!("{} to {}", row.from, row.to));
        return refuse(format!(
            "a zero point is subtracted after a conversion of an integer of up to 8 bits to a wider one, found \
             {found}"
        ));
    };
    let fits =
        |&zero: &i64| i32::try_from(zero).ok().filter(|zero| (least..=most).contains(zero)).ok_or(zero);
    match numbers.iter().map(fits).collect() {
        Ok(zero) => Ok(zero),
        Err(zero) => refuse(format!("zero point {zero} does not fit {}, expected {least} to {most}", row.to)),
    }
}
