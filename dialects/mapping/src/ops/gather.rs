//! `tm.gather`, `tm.scatter_into`, `tm.lookup`: elements that other elements choose.

use crate::facts::{DeclaredAxes, check_mappings};
use crate::tensor::attrs::{ENTRIES, MAP};
use crate::tensor::value::{Value, one_axis, union_of_axes, value_result};
use std::sync::Arc;
use visa_algebra::Expr;
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, OperandDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::Effects;
use visa_ir::module::OpRef;
use visa_ir::verify::VerifyCx;
use visa_numerics::{DType, LookupTable};

/// The axis along which rows are chosen.
#[visa_ir::clause]
const ALONG: ClauseDecl = ClauseDecl::required(
    "along",
    ClauseKind::body::<Expr>(&MAP),
    "the axis along which rows are chosen, as `[V]`",
);
/// Difference between the indices of adjacent rows.
#[visa_ir::clause]
const UNIT: ClauseDecl =
    ClauseDecl::default("unit", ClauseKind::Int, "1", "the difference between the indices of adjacent rows");

/// `tm.gather`.
#[visa_ir::view(Gather)]
pub static GATHER: OpDecl = OpDecl {
    name: "tm.gather",
    summary: "The rows of a table that an index chooses.",
    doc: "A row is the part of the table at one coordinate along `along`. Where the index is r, the result has row r \
          / `unit` (book 34). Axes that table and index share mean the same in both. An index that is no row stops \
          the evaluation.",
    constraints: &[
        ("C1", "`along` is one axis, which the table has and the index lacks"),
        ("C2", "the index is `i32`"),
        ("C3", "`unit` is at least 1"),
    ],
    operands: &[OperandDecl::one("table", &["tm.tensor"]), OperandDecl::one("index", &["tm.tensor"])],
    clauses: &[ALONG, UNIT],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(|op| {
        let op = Gather::of(op)?;
        let (table, index) = (op.table()?.of_type::<Value>()?, op.index()?.of_type::<Value>()?);
        let along = axis(*op, &*op.along()?)?;
        let mut axes = union_of_axes([&*index, &*table]);
        axes.retain(|axis| *axis != along);
        value_result(*op, table.dtype, axes)
    }),
    verify: Some(|op, cx| {
        let gather = Gather::of(op)?;
        let (table, index) = (gather.table()?.of_type::<Value>()?, gather.index()?.of_type::<Value>()?);
        check(op, cx, (&table, &index), (&*gather.along()?, gather.unit()?))
    }),
    example: "%r = tm.gather %t, %i along [V]",
    ..OpDecl::BASE
};

/// `tm.scatter_into`.
#[visa_ir::view(ScatterInto)]
pub static SCATTER_INTO: OpDecl = OpDecl {
    name: "tm.scatter_into",
    summary: "A table with the rows that an index chooses replaced.",
    doc: "The result is the table, with the row r / `unit` replaced where the index is r (book 34). A row that \
          several indices choose is undefined.",
    constraints: &[
        ("C1", "`along` is one axis, which the table has and the index lacks"),
        ("C2", "the index is `i32`"),
        ("C3", "`unit` is at least 1"),
        ("C4", "rows and table have the same format"),
    ],
    operands: &[
        OperandDecl::one("rows", &["tm.tensor"]),
        OperandDecl::one("index", &["tm.tensor"]),
        OperandDecl::one("table", &["tm.tensor"]),
    ],
    clauses: &[ALONG, UNIT],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(|op| {
        let op = ScatterInto::of(op)?;
        let values = [op.table()?, op.rows()?, op.index()?];
        let [table, rows, index] = values.map(|value| value.of_type::<Value>());
        let (table, rows, index) = (table?, rows?, index?);
        // An axis that only chooses rows is gone; one that rows have and the table lacked is the result's too.
        let mut axes = union_of_axes([&*table, &*rows]);
        axes.retain(|axis| table.has(axis) || !index.has(axis));
        value_result(*op, table.dtype, axes)
    }),
    verify: Some(|op, cx| {
        let scatter = ScatterInto::of(op)?;
        let (table, rows) = (scatter.table()?.of_type::<Value>()?, scatter.rows()?.of_type::<Value>()?);
        let index = scatter.index()?.of_type::<Value>()?;
        if table.dtype != rows.dtype {
            return Err(op.error(
                "C4",
                format!("rows of `{}` in a table of `{}`, expected one format", rows.dtype, table.dtype),
            ));
        }
        check(op, cx, (&table, &index), (&*scatter.along()?, scatter.unit()?))
    }),
    example: "%n = tm.scatter_into %r, %i, %t along [V]",
    ..OpDecl::BASE
};

/// `tm.lookup`.
#[visa_ir::view(Lookup)]
pub static LOOKUP: OpDecl = OpDecl {
    name: "tm.lookup",
    summary: "Replaces each element by the entry of a list that it numbers.",
    doc: "The bits of an element, as an unsigned number, are the index of its entry (book 08, table). An element \
          without an entry stops the evaluation.",
    constraints: &[("C1", "there is an entry")],
    operands: &[OperandDecl::one("value", &["tm.tensor"])],
    clauses: &[ClauseDecl::required(
        "table",
        ClauseKind::body::<LookupTable>(&ENTRIES),
        "the entries from 0 on, as bits of the new format",
    )],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(|op| {
        let op = Lookup::of(op)?;
        let axes = op.value()?.of_type::<Value>()?.axes.clone();
        value_result(*op, op.table()?.to, axes)
    }),
    verify: Some(|op, _| match Lookup::of(op)?.table()?.entries.is_empty() {
        true => {
            Err(op.clause_error("C1", "table", "a table without an entry, expected one or more".to_owned()))
        }
        false => Ok(()),
    }),
    example: "%y = tm.lookup %x table i8 [0x00, 0x01, 0x03]",
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&GATHER, &SCATTER_INTO, &LOOKUP];

/// The axis along which rows are chosen.
///
/// # Errors
/// C1.
pub fn axis(op: OpRef<'_>, along: &Expr) -> Result<Arc<str>, Diagnostic> {
    one_axis(op, "C1", "along", along)
}

/// C1 to C3.
fn check(
    op: OpRef<'_>,
    cx: &VerifyCx<'_>,
    (table, index): (&Value, &Value),
    (along, unit): (&Expr, i64),
) -> Result<(), Diagnostic> {
    check_mappings(op, &cx.analysis::<DeclaredAxes>().0)?;
    let along = axis(op, along)?;
    if !table.has(&along) {
        let message = format!("the table of type `!tm.tensor<{table}>` has no axis `{along}`");
        return Err(op.clause_error("C1", "along", message));
    }
    if index.has(&along) {
        let message = format!("the index of type `!tm.tensor<{index}>` has axis `{along}` too");
        return Err(op.clause_error("C1", "along", message).fix("rename the index's axis".to_owned()));
    }
    if index.dtype != DType::I32 {
        return Err(op.error("C2", format!("an index of `{}`, expected `i32`", index.dtype)));
    }
    if unit < 1 {
        return Err(op.clause_error("C3", "unit", format!("a unit of {unit}, expected 1 or more")));
    }
    Ok(())
}
