//! `tm.restrict`, `tm.extract`, `tm.insert`, `tm.extend`, `tm.concat`: parts of values, and values made of parts.

use crate::error::mapping_error;
use crate::facts::{DeclaredAxes, check_mappings};
use crate::index::INDICES;
use crate::index::affine::Indices;
use crate::ops::number::numbers;
use crate::summed::named;
use crate::tensor::attrs::MAP;
use crate::tensor::numbers::{NUMBER, Number};
use crate::tensor::value::{Value, one_axis, union_of_axes, value_result};
use std::sync::Arc;
use visa_algebra::{Axes, Cell, Expr, Index, Map};
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, TypeId, ValueId};
use visa_ir::verify::VerifyCx;
use visa_numerics::{Bits, DType, from_number};

/// `tm.restrict`.
#[visa_ir::view(Restrict)]
pub static RESTRICT: OpDecl = OpDecl {
    name: "tm.restrict",
    summary: "Leaves out the elements outside of a mapping's indices.",
    doc: "An element stays if `to` holds its coordinate along each axis that it mentions; others are undefined. An \
          axis that `to` does not mention is gone: the result is the value at coordinate 0 along it.",
    operands: &[OperandDecl::one("value", &["tm.tensor"])],
    clauses: &[ClauseDecl::required("to", ClauseKind::body::<Expr>(&MAP), "the indices that stay")],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(|op| {
        let op = Restrict::of(op)?;
        let (value, stay) = (op.value()?.of_type::<Value>()?, named(&*op.to()?));
        let axes = value.axes.iter().filter(|axis| stay.contains(axis)).cloned().collect();
        value_result(*op, value.dtype, axes)
    }),
    verify: Some(|op, cx| check_mappings(op, &cx.analysis::<DeclaredAxes>().0)),
    example: "%y = tm.restrict %x to [M % 16, K]",
    ..OpDecl::BASE
};

/// The dimension that is cut.
#[visa_ir::clause]
const ALONG: ClauseDecl = ClauseDecl::required(
    "along",
    ClauseKind::body::<Expr>(&MAP),
    "the dimension that is cut; with several indices a list, a term for each",
);

/// A position that is added to each index.
#[visa_ir::clause]
const INDEX: ClauseDecl =
    ClauseDecl::default("index", ClauseKind::Int, "0", "a position that is added to each index");

/// `tm.extract`.
#[visa_ir::view(Extract)]
pub static EXTRACT: OpDecl = OpDecl {
    name: "tm.extract",
    summary: "A part of a value, with coordinates counted from its first.",
    doc: "`tm.extract %x, %i along [M / 32], part [M % 32]` is the i-th block of 32 rows: at M = m the element of \
          `%x` at M = 32 i + m, for each m that `part` holds. Axes that neither clause mentions stay as they are.",
    constraints: &[
        ("C1", "the value has each axis of `along` and of `part`"),
        ("C2", "the first position is inside `along`"),
    ],
    operands: &[OperandDecl::one("value", &["tm.tensor"]), OperandDecl::variadic("first", INDICES)],
    clauses: &[
        ALONG,
        INDEX,
        ClauseDecl::optional(
            "part",
            ClauseKind::body::<Expr>(&MAP),
            "the coordinates of the part; all if absent",
        ),
    ],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(|op| {
        let value = Extract::of(op)?.value()?.of_type::<Value>()?;
        value_result(op, value.dtype, value.axes.clone())
    }),
    verify: Some(verify_extract),
    example: "%y = tm.extract %x, %i along [M / 32], part [M % 32]",
    ..OpDecl::BASE
};

/// `tm.insert`.
#[visa_ir::view(Insert)]
pub static INSERT: OpDecl = OpDecl {
    name: "tm.insert",
    summary: "A value with a part replaced.",
    doc: "`tm.insert %p, %x, %i along [M / 32], part [M % 32]` is `%x` with its i-th block of 32 rows replaced by \
          `%p`, whose coordinates count from the block's first: the opposite of `tm.extract`.",
    constraints: &[
        ("C1", "both values have the same format"),
        ("C2", "the first position is inside `along`"),
    ],
    operands: &[
        OperandDecl::one("part_value", &["tm.tensor"]),
        OperandDecl::one("value", &["tm.tensor"]),
        OperandDecl::variadic("first", INDICES),
    ],
    clauses: &[
        ClauseDecl::default(
            "along",
            ClauseKind::body::<Expr>(&MAP),
            "[1]",
            "the dimension that is cut; with several indices a list, a term for each",
        ),
        INDEX,
        ClauseDecl::required("part", ClauseKind::body::<Expr>(&MAP), "the coordinates of the part"),
    ],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(|op| {
        let op = Insert::of(op)?;
        let (part, whole) = (op.part_value()?.of_type::<Value>()?, op.value()?.of_type::<Value>()?);
        let mut axes = union_of_axes([&*whole, &*part]);
        for axis in named(&*op.along()?).into_iter().chain(named(&*op.part()?)) {
            if !axes.contains(&axis) {
                axes.push(axis);
            }
        }
        value_result(*op, whole.dtype, axes)
    }),
    verify: Some(verify_insert),
    example: "%y = tm.insert %p, %x, %i along [M / 32], part [M % 32]",
    ..OpDecl::BASE
};

/// `tm.extend`.
#[visa_ir::view(Extend)]
pub static EXTEND: OpDecl = OpDecl {
    name: "tm.extend",
    summary: "Pads an axis: a longer one, with a number around the elements.",
    doc: "`tm.extend %x axis [M], to [P], from 2, with 0` has at P = p the element at M = p - 2, and 0 where there \
          is none.",
    constraints: &[
        ("C1", "`axis` is one axis, which the operand has, and `to` one that it lacks"),
        ("C2", "the elements fit: `from` is not negative, and the axis from there on is inside `to`"),
        ("C3", "`with` is a number of the format"),
    ],
    operands: &[OperandDecl::one("value", &["tm.tensor"])],
    clauses: &[
        ClauseDecl::required("axis", ClauseKind::body::<Expr>(&MAP), "the axis, as `[M]`"),
        ClauseDecl::required("to", ClauseKind::body::<Expr>(&MAP), "the longer axis, as `[P]`"),
        ClauseDecl::default("from", ClauseKind::Int, "0", "where the first element is"),
        ClauseDecl::default("with", ClauseKind::body::<Number>(&NUMBER), "0", "the number around them"),
    ],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(|op| {
        let op = Extend::of(op)?;
        replaced(
            *op,
            &*op.value()?.of_type::<Value>()?,
            &one(*op, "axis", &*op.axis()?)?,
            &one(*op, "to", &*op.to()?)?,
        )
    }),
    verify: Some(verify_extend),
    example: "%y = tm.extend %x axis [M], to [P], from 2, with 0",
    ..OpDecl::BASE
};

/// `tm.concat`.
#[visa_ir::view(Concat)]
pub static CONCAT: OpDecl = OpDecl {
    name: "tm.concat",
    summary: "Values one after the other along an axis.",
    doc: "`tm.concat %a, %b axes [M, N], to [P]` has the elements of `%a` along M, then those of `%b` along N.",
    constraints: &[
        ("C1", "there is an axis for each operand, which it has; `to` is one axis that no operand has"),
        ("C2", "the sizes of the axes add up to that of `to`"),
        ("C3", "all operands have the same format"),
    ],
    operands: &[OperandDecl::variadic("values", &["tm.tensor"])],
    clauses: &[
        ClauseDecl::required(
            "axes",
            ClauseKind::body::<Expr>(&MAP),
            "the axis of each operand; one may repeat",
        ),
        ClauseDecl::required("to", ClauseKind::body::<Expr>(&MAP), "the axis of the result, as `[P]`"),
    ],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(infer_concat),
    verify: Some(verify_concat),
    example: "%y = tm.concat %a, %b axes [M, N], to [P]",
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&RESTRICT, &EXTRACT, &INSERT, &EXTEND, &CONCAT];

/// The one axis that a clause names: C1.
fn one(op: OpRef<'_>, clause: &str, written: &Expr) -> Result<Arc<str>, Diagnostic> {
    one_axis(op, "C1", clause, written)
}

/// The type of a value with an axis replaced by another.
fn replaced(op: OpRef<'_>, value: &Value, old: &str, new: &Arc<str>) -> Result<Vec<TypeId>, Diagnostic> {
    if !value.has(old) {
        return Err(op.error("C1", format!("the operand of type `!tm.tensor<{value}>` has no axis `{old}`")));
    }
    if value.has(new) {
        return Err(op.clause_error("C1", "to", format!("the operand has axis `{new}` already")));
    }
    let axes = value.axes.iter().map(|axis| Arc::clone(if **axis == *old { new } else { axis })).collect();
    value_result(op, value.dtype, axes)
}

fn verify_extract(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &cx.analysis::<DeclaredAxes>().0;
    check_mappings(op, axes)?;
    let extract = Extract::of(op)?;
    let value = extract.value()?.of_type::<Value>()?;
    for (clause, map) in [("along", Some(extract.along()?)), ("part", extract.part()?)] {
        let names = map.map_or_else(Vec::new, |map| named(&map));
        if let Some(missing) = names.iter().find(|axis| !value.has(axis)) {
            let message = format!("the operand of type `!tm.tensor<{value}>` has no axis `{missing}`");
            return Err(op.clause_error("C1", clause, message));
        }
    }
    check_shift(extract.shift_clauses()?, axes)
}

fn verify_insert(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &cx.analysis::<DeclaredAxes>().0;
    check_mappings(op, axes)?;
    let insert = Insert::of(op)?;
    let (part, whole) = (insert.part_value()?.of_type::<Value>()?, insert.value()?.of_type::<Value>()?);
    if part.dtype != whole.dtype {
        let message =
            format!("a part of `{}` in a value of `{}`, expected one format", part.dtype, whole.dtype);
        return Err(op.error("C1", message));
    }
    check_shift(insert.shift_clauses()?, axes)
}

/// The clauses that give the first index of a part.
pub struct Shift<'a> {
    op: OpRef<'a>,
    along: Expr,
    index: i64,
    first: Vec<ValueId>,
}

impl<'a> Extract<'a> {
    /// Its first index.
    ///
    /// # Errors
    /// If a clause is of another kind.
    pub fn shift_clauses(self) -> Result<Shift<'a>, Diagnostic> {
        let first = self.first().map(|value| value.id).collect();
        Ok(Shift { op: *self, along: (*self.along()?).clone(), index: self.index()?, first })
    }
}

impl<'a> Insert<'a> {
    /// Its first index.
    ///
    /// # Errors
    /// If a clause is of another kind.
    pub fn shift_clauses(self) -> Result<Shift<'a>, Diagnostic> {
        let first = self.first().map(|value| value.id).collect();
        Ok(Shift { op: *self, along: (*self.along()?).clone(), index: self.index()?, first })
    }
}

impl Shift<'_> {
    /// The dimensions, one for each index.
    fn terms(&self) -> Vec<Expr> {
        match &self.along {
            Expr::Pair(terms) if self.first.len() > 1 => terms.clone(),
            along => vec![along.clone()],
        }
    }

    /// The index that coordinates count from, in an iteration of the loops around the operation.
    ///
    /// # Errors
    /// C2.
    pub fn at(&self, axes: &Axes, indices: &Indices) -> Result<Index, Diagnostic> {
        let outside = || self.op.clause_error("C2", "along", format!("no position of `{}`", self.along));
        let all = numbers(self.op, self.first.iter().copied(), axes)?;
        let first = all.at(indices).ok_or_else(outside)?;
        let mut shift = Index::new();
        for (number, term) in self.terms().into_iter().enumerate() {
            let moved = match first.get(number) {
                Some(first) => first.at(indices).and_then(|at| at.checked_add(self.index)),
                None => Some(self.index),
            };
            let at = moved.and_then(|at| u64::try_from(at).ok()).ok_or_else(outside)?;
            let map = Map::new(&term, axes).map_err(|error| mapping_error(error, self.op.span()))?;
            match map.cell(at) {
                Some(Cell::Live(index)) => shift.add_index(&index),
                Some(Cell::Shared(_) | Cell::Pad(_)) | None => {
                    let message = format!("`{term}` holds no element at position {at}");
                    return Err(self.op.clause_error("C2", "along", message));
                }
            }
        }
        Ok(shift)
    }
}

/// C2: each index is inside its dimension, in each iteration.
fn check_shift(shift: Shift<'_>, axes: &Axes) -> Result<(), Diagnostic> {
    let (op, terms) = (shift.op, shift.terms());
    if shift.first.len() > 1 && terms.len() != shift.first.len() {
        let message =
            format!("{} for {}", counted(shift.first.len(), "index"), counted(terms.len(), "dimension"));
        return Err(op.clause_error("C2", "along", message));
    }
    let all = numbers(op, shift.first.iter().copied(), axes)?;
    for case in all.iter() {
        for (number, term) in terms.iter().enumerate() {
            let size = term.size(axes).map_err(|error| mapping_error(error, op.clause_span("along")))?;
            let range = match case.what.get(number) {
                Some(first) => first.range(),
                None => Some((0, 0)),
            };
            let Some((least, most)) = range else { continue };
            let inside = |at: i64| at.checked_add(shift.index).and_then(|at| u64::try_from(at).ok());
            if inside(least).is_some() && inside(most).is_some_and(|most| most < size) {
                continue;
            }
            let (least, most) = (least.saturating_add(shift.index), most.saturating_add(shift.index));
            let found = if least == most { format!("{most}") } else { format!("{least} to {most}") };
            let message = format!("position {found} of `{term}`, which has {}", counted(size, "position"));
            return Err(op.clause_error("C2", "along", message));
        }
    }
    Ok(())
}

/// The number around the elements.
///
/// # Errors
/// C3.
pub fn around(op: Extend<'_>) -> Result<Bits, Diagnostic> {
    let (dtype, number) = (op.value()?.of_type::<Value>()?.dtype, op.with()?);
    from_number(dtype, number.0)
        .ok_or_else(|| op.clause_error("C3", "with", format!("{number} is no `{dtype}`")))
}

fn verify_extend(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &cx.analysis::<DeclaredAxes>().0;
    check_mappings(op, axes)?;
    let extend = Extend::of(op)?;
    around(extend)?;
    let sizes = [("axis", extend.axis()?), ("to", extend.to()?)].map(|(clause, map)| {
        let name = one(op, clause, &map)?;
        Ok(axes.id(&name).map_or(0, |axis| axes.size(axis)))
    });
    let [own, whole] = sizes;
    let (own, whole, from) = (own?, whole?, extend.from()?);
    let end = u64::try_from(from).ok().and_then(|from| from.checked_add(own));
    if end.is_some_and(|end| end <= whole) {
        return Ok(());
    }
    let message = format!(
        "{} from {from} on do not fit `{}`, which has {}",
        counted(own, "element"),
        extend.to()?,
        counted(whole, "coordinate")
    );
    Err(op.clause_error("C2", "from", message))
}

/// The axis of each operand of a concatenation, and the axis of the result.
///
/// # Errors
/// C1.
pub fn joined(op: Concat<'_>) -> Result<(Vec<Arc<str>>, Arc<str>), Diagnostic> {
    let terms = match &*op.axes()? {
        Expr::Pair(terms) => terms.clone(),
        term => vec![term.clone()],
    };
    let names: Vec<Arc<str>> =
        terms.iter().map(|term| one(*op, "axes", term)).collect::<Result<_, Diagnostic>>()?;
    let count = op.operands().len();
    if names.len() != count || count == 0 {
        let message = format!(
            "{} for {}, expected one for each",
            counted(names.len(), "axis"),
            counted(count, "operand")
        );
        return Err(op.clause_error("C1", "axes", message));
    }
    Ok((names, one(*op, "to", &*op.to()?)?))
}

fn infer_concat(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let op = Concat::of(op)?;
    let (names, to) = joined(op)?;
    let mut all: Vec<Value> = Vec::new();
    for (number, axis) in names.iter().enumerate() {
        let value =
            op.operand_type::<Value>(number).ok_or_else(|| op.error("C1", "an operand is no value"))?;
        if !value.has(axis) || value.has(&to) {
            let fault = if value.has(&to) {
                format!("has axis `{to}`, which is the result's")
            } else {
                format!("has no axis `{axis}`")
            };
            let message = format!("operand {number} of type `!tm.tensor<{value}>` {fault}");
            return Err(op.clause_error("C1", "axes", message));
        }
        let axes = value.axes.iter().map(|own| Arc::clone(if own == axis { &to } else { own })).collect();
        all.push(Value { dtype: value.dtype, axes });
    }
    let dtype = all.first().map_or(DType::F32, |value| value.dtype);
    value_result(*op, dtype, union_of_axes(&all))
}

fn verify_concat(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &cx.analysis::<DeclaredAxes>().0;
    check_mappings(op, axes)?;
    let concat = Concat::of(op)?;
    let (names, to) = joined(concat)?;
    let size = |name: &Arc<str>| axes.id(name).map_or(0, |axis| axes.size(axis));
    let (sum, whole) = (names.iter().map(size).fold(0, u64::saturating_add), size(&to));
    if sum != whole {
        let message = format!("the axes have {} together, `{to}` has {whole}", counted(sum, "coordinate"));
        return Err(op.clause_error("C2", "to", message));
    }
    let dtypes: Vec<DType> =
        (0..names.len()).filter_map(|at| op.operand_type::<Value>(at)).map(|value| value.dtype).collect();
    match dtypes.iter().find(|dtype| **dtype != dtypes[0]) {
        Some(other) => {
            Err(op.error("C3", format!("values of `{}` and `{other}`, expected one format", dtypes[0])))
        }
        None => Ok(()),
    }
}
