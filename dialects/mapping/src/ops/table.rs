//! `tm.table`: a lookup table for fetches (book 08).

use crate::tensor::attrs::DTYPE;
use crate::tensor::numbers::{NUMBERS, Numbers};
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::OpRef;
use visa_ir::symbols;
use visa_numerics::{
    Bits, DType, LookupTable, TABLE_INDEX_BITS, from_f64, from_number, from_pattern, to_f64,
};

/// `tm.table`.
#[visa_ir::view(Table)]
pub static TABLE: OpDecl = OpDecl {
    name: "tm.table",
    summary: "A lookup table for fetches.",
    doc: "With `table`, `stream.fetch` takes each element of format `from` as an index: its bit pattern, read as an \
          unsigned number, selects the entry of `values` that replaces it (book 08). For i8 that is the element \
          itself from 0 to 127, and 128 to 255 for -128 to -1. Values of a floating-point format are rounded to it, \
          to nearest, ties to even.\n\n\
          Without `values`, each pattern becomes the number that it is: so `f4e2m1` becomes `f8e4m3`, two 8-bit \
          values of a byte, and `u8` becomes `i32`, which the fetch adapter converts in no other way.",
    constraints: &[
        ("C1", "`from` has 8 bits at most"),
        (
            "C2",
            "there are 1 to 2^n values for a `from` of n bits; elements beyond the last one may not be looked up",
        ),
        ("C3", "every value is in the format `to`; of an integer format it is an integer"),
        ("C4", "without `values`, `to` has each number of `from`, exactly"),
    ],
    clauses: &[
        ClauseDecl::lead("name", ClauseKind::Symbol, "the table"),
        ClauseDecl::required(
            "from",
            ClauseKind::body::<DType>(&DTYPE),
            "format of the elements that are looked up",
        ),
        ClauseDecl::required("to", ClauseKind::body::<DType>(&DTYPE), "format of the values"),
        ClauseDecl::optional(
            "values",
            ClauseKind::body::<Numbers>(&NUMBERS),
            "the value of each pattern, from index 0 on; its own number if absent",
        ),
    ],
    traits: &[Trait::TopLevel],
    effects: Effects::Declares,
    verify: Some(|op, _| read(op).map(drop)),
    example: "tm.table @double, from i8, to i8, values [0, 2, 4, 6, 8, 10, 12, 14]",
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&TABLE];

/// The format of a table's indices, and the table.
///
/// # Errors
/// C1, C2, C3 or C4.
pub fn read(op: OpRef<'_>) -> Result<(DType, LookupTable), Diagnostic> {
    let op = Table::of(op)?;
    let (from, to) = (*op.from()?, *op.to()?);
    if from.info().value_bits > TABLE_INDEX_BITS || !from.is_stored() {
        let bits = from.info().value_bits;
        let message = format!(
            "`{from}` has {}, expected a format of data memory of at most {TABLE_INDEX_BITS}",
            counted(bits, "bit")
        );
        return Err(op.clause_error("C1", "from", message));
    }
    let Some(values) = op.values()? else { return Ok((from, own_numbers(op, from, to)?)) };
    let (found, most) = (values.0.len(), 1_usize << from.bits());
    if !(1..=most).contains(&found) {
        let message = format!(
            "{}, expected 1 to {most}: one for each bit pattern of `{from}`",
            counted(found, "value")
        );
        return Err(op.clause_error("C2", "values", message));
    }
    let entry = |(index, &value): (usize, &f64)| {
        from_number(to, value).ok_or_else(|| {
            let expected = match to.range() {
                Some((least, most)) => format!("expected an integer from {least} to {most}"),
                None => "expected a number that it has, or one between two of its numbers".to_owned(),
            };
            let message = format!("value {index} is {value}, which is no `{to}`: {expected}");
            op.clause_error("C3", "values", message)
        })
    };
    let entries = values.0.iter().enumerate().map(entry).collect::<Result<_, _>>()?;
    Ok((from, LookupTable { to, entries }))
}

/// The table that changes the format of each number and nothing else: C4.
fn own_numbers(op: Table<'_>, from: DType, to: DType) -> Result<LookupTable, Diagnostic> {
    let entry = |bits: Bits| {
        exactly(from, bits, to).ok_or_else(|| {
            let message = format!("`{to}` does not have {}, a number of `{from}`", to_f64(from, bits));
            let fix = "give `values`, one for each bit pattern".to_owned();
            op.clause_error("C4", "to", message).fix(Some(fix))
        })
    };
    let patterns = (0..1 << from.bits()).map(|pattern| from_pattern(from, pattern));
    Ok(LookupTable { to, entries: patterns.map(entry).collect::<Result<_, _>>()? })
}

/// Returns true if a table without `values` makes `to` of `from`.
#[must_use]
pub fn converts(from: DType, to: DType) -> bool {
    own(from, to).is_some()
}

/// The table without `values` that makes `to` of `from`; `None` if `to` lacks a number, or `from` indexes no table.
#[must_use]
pub fn own(from: DType, to: DType) -> Option<LookupTable> {
    if !from.is_stored() || from.bits() > TABLE_INDEX_BITS {
        return None;
    }
    let entry = |pattern| exactly(from, from_pattern(from, pattern), to);
    let entries: Option<Vec<Bits>> = (0..1 << from.bits()).map(entry).collect();
    entries.map(|entries| LookupTable { to, entries })
}

/// The same number of another format, if it has it; any NaN is one.
fn exactly(from: DType, bits: Bits, to: DType) -> Option<Bits> {
    let number = to_f64(from, bits);
    let same = |found: f64| {
        let signs = found.is_sign_negative() == number.is_sign_negative();
        (found == number && signs) || (found.is_nan() && number.is_nan())
    };
    match to.is_float() {
        true => Some(from_f64(to, number)).filter(|&found| same(to_f64(to, found))),
        false => from_number(to, number),
    }
}

/// The table called `name` of the module around `op`.
///
/// # Errors
/// In words, if there is none.
pub fn find<'a>(op: OpRef<'a>, name: &str) -> Result<OpRef<'a>, String> {
    symbols::find(op, &TABLE, name)
}
