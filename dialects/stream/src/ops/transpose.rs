//! `stream.transpose`: the transpose engine swaps rows and columns of small matrices (book 27).

use crate::chain::{
    axes, check_same, check_skewed, check_stored, ends, input, main_only, next, packet_bytes,
};
use crate::lower::{LowerStage, StageCx};
use crate::pipeline;
use crate::planner::{Planner, StagePlan, planned};
use crate::streams::TRANSPOSE;
use visa_algebra::{Axes, Cell, Equality, Expr, Map, PadKind, equal, normalize};
use visa_engine::place::rngd;
use visa_engine::words::Buffering;
use visa_hw::ops as hw;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, OpSpec};
use visa_ir::verify::VerifyCx;
use visa_loops::distance;
use visa_machine::{Machine, TransposeShape};
use visa_mapping::error::mapping_error;
use visa_mapping::facts::check_mappings;
use visa_mapping::raise::Semantics;
use visa_mapping::raise::moves::same;
use visa_mapping::tensor::attrs::MAP;
use visa_mapping::{Dim, Tensor};

/// `stream.transpose`.
#[visa_ir::view(Transpose)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.transpose",
    summary: "Swaps the rows and columns of the matrices that time and packet make up.",
    doc: "Innermost in time are the rows of a matrix (in_rows), within a row the flits that hold its columns \
          (packets_per_col); of each flit the first 8 elements, 16 of 4 bits, are columns (in_cols). Out come the \
          columns, one a time step: the first ones (out_rows), each with its rows at the start of a flit. Rows, \
          columns and how many are kept follow from the two mappings; where several fit, the fewest columns. Up \
          to 16 columns a matrix comes in while the one before goes out (book 27).",
    constraints: &[
        (
            "C1",
            "a matrix has at most 16 rows of 4 bits, 8 of 8, 4 of 16 or 2 of 32; its elements are not i5 or i9 \
             (book 27: in_rows)",
        ),
        ("C2", "it has 8, 16 or 32 columns, 16 or 32 of 4 bits (book 27: in_cols)"),
        (
            "C3",
            "the input comes in flits; the part of each after its first 8 elements (16 of 4 bits) is padding, which \
             is left out (book 27: unpack)",
        ),
        ("C4", "at most all columns are kept, and those left out at the end are padding (book 27: trim)"),
        (
            "C5",
            "[time, packet] is the input's with rows and columns swapped, the rows padded to a flit (book 27: \
             align)",
        ),
        ("C6", "main context only (book 09, 12)"),
    ],
    operands: &[OperandDecl::accepting("stream", pipeline::after!(&rngd::TRANSPOSE))],
    clauses: &[
        ClauseDecl::required(
            "time",
            ClauseKind::body::<Expr>(&MAP),
            "mapping of the time steps afterwards: the columns, innermost",
        )
        .open(),
        ClauseDecl::required(
            "packet",
            ClauseKind::body::<Expr>(&MAP),
            "mapping of the elements of a flit afterwards: the rows, padded",
        )
        .open(),
    ],
    results: &["stream"],
    effects: Effects::PURE,
    infer: Some(|op| next(op, &TRANSPOSE, None)),
    verify: Some(verify),
    example: "%t = stream.transpose %c time [C, E], packet [D # 32]",
    interfaces: &[Interface(&rngd::TRANSPOSE), Interface(&Semantics(same)), Interface(&LowerStage(lower))],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

/// The configuration of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Matrix {
    /// Rows that come in.
    rows: u64,
    /// Flits of a row.
    packets: u64,
    /// Columns that go out.
    kept: u64,
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    main_only(op, "C6")?;
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    let source = input(op)?;
    let Some(result) = op.result_type::<Tensor>(0) else { return Ok(()) };
    check_skewed(op, "C5", "time", [&source, &result], axes)?;
    planned::<Matrix>(op, cx).map(drop)
}

fn lower(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (source, found) = (input(op)?, cx.plan::<Matrix>(op)?);
    let columns = found.packets * cx.machine.transpose(u64::from(source.dtype.bits())).elements;
    let buffering = if cx.machine.transposes_twice(columns) { Buffering::Double } else { Buffering::Single };
    let lowered = hw::transpose::Transpose::build(op)
        .buffering(buffering)
        .bits(i64::from(source.dtype.bits()))
        .rows(distance(found.rows))
        .columns(distance(columns))
        .kept(distance(found.kept));
    Ok(Some(lowered.spec()))
}

impl StagePlan for Matrix {
    fn make(planner: &Planner<'_>, op: OpRef<'_>) -> Result<Self, Diagnostic> {
        let (source, result) = ends(op)?;
        matrix(op, &source, &result, planner.axes, planner.machine)
    }
}

/// The matrices that the engine has to be set to.
fn matrix(
    op: OpRef<'_>,
    source: &Tensor,
    result: &Tensor,
    axes: &Axes,
    machine: &Machine,
) -> Result<Matrix, Diagnostic> {
    check_stored(op, source, "C1")?;
    let shape = machine.transpose(u64::from(source.dtype.bits()));
    let (flit, bytes) = (machine.limits.flit_bytes, packet_bytes(op, result, axes)?);
    if bytes != flit {
        let message = format!(
            "packet `{}` has {}, expected one flit of {flit}",
            result.dim(Dim::Packet),
            counted(bytes, "byte")
        );
        let fix =
            format!("pad the rows to {} (`# {}`)", counted(shape.alignment, "element"), shape.alignment);
        return Err(op.clause_error("C5", "packet", message).fix((bytes < flit).then_some(fix)));
    }
    check_unpacked(op, source, &shape, axes, flit)?;
    let search = Search { op, source, result, axes, shape: &shape };
    let found = search.matrix()?;
    search.check_rows(found.rows)?;
    let columns = found.packets * shape.elements;
    if !shape.columns.contains(&columns) {
        let sizes: Vec<_> = shape.columns.iter().map(u64::to_string).collect();
        let message = format!(
            "a row is {} of {}, {columns} in all, expected {}",
            counted(found.packets, "flit"),
            counted(shape.elements, "column"),
            sizes.join(" or ")
        );
        return Err(op.clause_error("C2", "time", message));
    }
    search.check_trimmed(found)?;
    Ok(found)
}

/// C3: nothing but padding is where the engine does not look.
fn check_unpacked(
    op: OpRef<'_>,
    source: &Tensor,
    shape: &TransposeShape,
    axes: &Axes,
    flit: u64,
) -> Result<(), Diagnostic> {
    let (packet, bytes) = (source.dim(Dim::Packet), packet_bytes(op, source, axes)?);
    if bytes != flit {
        return Err(op.error(
            "C3",
            format!(
                "the input's packet `{packet}` has {}, expected one flit of {flit}",
                counted(bytes, "byte")
            ),
        ));
    }
    let map = Map::new(&packet, axes).map_err(|error| mapping_error(error, op.span()))?;
    let lost = (shape.elements..map.size()).find_map(|at| Some((at, held(&map, at, axes)?)));
    match lost {
        None => Ok(()),
        Some((at, cell)) => {
            let message = format!(
                "the engine takes the first {} of a flit, but element {at} of `{packet}` is {cell}",
                counted(shape.elements, "element")
            );
            let fix = format!("collect packets of {}, padded to a flit", counted(shape.elements, "element"));
            Err(op.error("C3", message).fix(Some(fix)))
        }
    }
}

/// The content of position `at`, unless it is padding.
fn held(map: &Map, at: u64, axes: &Axes) -> Option<String> {
    match map.cell(at) {
        None | Some(Cell::Pad(_)) => None,
        Some(Cell::Live(_) | Cell::Shared(_)) => Some(visa_algebra::describe(map.cell(at).as_ref(), axes)),
    }
}

/// The search for the matrices that two mappings speak of.
struct Search<'a> {
    op: OpRef<'a>,
    source: &'a Tensor,
    result: &'a Tensor,
    axes: &'a Axes,
    shape: &'a TransposeShape,
}

/// Rows of up to this multiple of the flits that the engine takes are candidates too, so that a message can give their
/// number.
const BEYOND: u64 = 4;

impl Search<'_> {
    /// The first candidate that gives the result's mapping; limits of the engine aside.
    fn matrix(&self) -> Result<Matrix, Diagnostic> {
        let found = Expr::pair([self.result.dim(Dim::Time), self.result.dim(Dim::Packet)]);
        let least = self.least_rows()?;
        self.check_rows(least)?;
        let candidates = self.candidates(least)?;
        let fitting = || {
            candidates.iter().copied().filter(|matrix| matrix.kept <= matrix.packets * self.shape.elements)
        };
        // The candidate that agrees with the result for longest is the intended one.
        let mut nearest: Option<(u64, Expr)> = None;
        for matrix in fitting() {
            let wanted = self.transposed(matrix);
            let agrees = match equal(&found, &wanted, self.axes) {
                Equality::Equal => {
                    self.check_cut(matrix)?;
                    return Ok(matrix);
                }
                Equality::Different { at, .. } => at,
                Equality::Unknown { .. } => 0,
            };
            if nearest.as_ref().is_none_or(|(longest, _)| agrees > *longest) {
                nearest = Some((agrees, wanted));
            }
        }
        let (before, after) = (self.source.dim(Dim::Time), self.result.dim(Dim::Time));
        match (nearest, candidates.iter().find(|matrix| matrix.rows <= self.shape.rows)) {
            (Some((_, wanted)), _) => {
                let wanted = normalize(&wanted, self.axes).unwrap_or(wanted);
                check_same(self.op, "C5", "time", &found, &wanted, self.axes)?;
                Err(self.op.clause_error("C5", "time", format!("`{found}` is not the transposed input")))
            }
            (None, Some(matrix)) => {
                let columns = matrix.packets * self.shape.elements;
                let message = format!("time `{after}` keeps {} of {columns}", counted(matrix.kept, "column"));
                Err(self.op.clause_error("C4", "time", message))
            }
            (None, None) => {
                let message = format!(
                    "no matrix of {} or more makes time `{after}` of time `{before}`",
                    counted(least, "row")
                );
                Err(self.op.clause_error("C5", "time", message))
            }
        }
    }

    /// C1.
    fn check_rows(&self, rows: u64) -> Result<(), Diagnostic> {
        let most = self.shape.rows;
        if rows <= most {
            return Ok(());
        }
        let message = format!(
            "a matrix has {} of `{}`, expected at most {most}",
            counted(rows, "row"),
            self.source.dtype
        );
        let fix = "leave the outer part of the rows in time".to_owned();
        Err(self.op.clause_error("C1", "packet", message).fix(Some(fix)))
    }

    /// Rows up to the last that the result holds.
    fn least_rows(&self) -> Result<u64, Diagnostic> {
        let packet = Map::new(&self.result.dim(Dim::Packet), self.axes);
        let packet = packet.map_err(|error| mapping_error(error, self.op.span()))?;
        let last = (0..packet.size()).rev().find(|&at| held(&packet, at, self.axes).is_some());
        Ok(last.map_or(1, |last| last + 1))
    }

    /// Every matrix that the sizes allow, fewest columns first: of `least` rows or more, the others being padding.
    fn candidates(&self, least: u64) -> Result<Vec<Matrix>, Diagnostic> {
        let size = |map: &Expr| map.size(self.axes).map_err(|error| mapping_error(error, self.op.span()));
        let (steps, kept) = (size(&self.source.dim(Dim::Time))?, size(&self.result.dim(Dim::Time))?);
        let most = self.shape.columns.last().map_or(1, |columns| columns / self.shape.elements * BEYOND);
        let pairs =
            (1..=most).flat_map(|packets| (least..=self.shape.alignment).map(move |rows| (packets, rows)));
        let fitting = pairs.filter(|(packets, rows)| steps.is_multiple_of(packets * rows));
        let matrices = fitting.filter_map(|(packets, rows)| {
            let count = steps / (packets * rows);
            kept.is_multiple_of(count).then(|| Matrix { rows, packets, kept: kept / count })
        });
        Ok(matrices.collect())
    }

    /// C5: time is its parts. It is not if they cut through a truncation or through strict padding, and then no
    /// mapping made of them describes the engine's result.
    fn check_cut(&self, matrix: Matrix) -> Result<(), Diagnostic> {
        let time = self.source.dim(Dim::Time);
        let Matrix { rows, packets, .. } = matrix;
        let parts = Expr::pair([
            time.clone().stride(packets * rows),
            time.clone().stride(packets).modulo(rows),
            time.clone().modulo(packets),
        ]);
        check_same(self.op, "C5", "time", &parts, &time, self.axes)
    }

    /// The columns of a matrix, before any are left out.
    fn columns(&self, matrix: Matrix) -> Expr {
        let (time, packet) = (self.source.dim(Dim::Time), self.source.dim(Dim::Packet));
        Expr::pair([time.modulo(matrix.packets), packet.resize(self.shape.elements)])
    }

    /// [time, packet] after the engine.
    fn transposed(&self, matrix: Matrix) -> Expr {
        let time = self.source.dim(Dim::Time);
        let rows = time.clone().stride(matrix.packets).modulo(matrix.rows);
        Expr::pair([
            time.stride(matrix.packets * matrix.rows),
            self.columns(matrix).resize(matrix.kept),
            rows.pad(self.shape.alignment, PadKind::Top),
        ])
    }

    /// C4: the part left out is padding.
    fn check_trimmed(&self, matrix: Matrix) -> Result<(), Diagnostic> {
        let columns = self.columns(matrix);
        let map = Map::new(&columns, self.axes).map_err(|error| mapping_error(error, self.op.span()))?;
        match (matrix.kept..map.size()).find_map(|at| held(&map, at, self.axes)) {
            None => Ok(()),
            Some(cell) => {
                let message = format!(
                    "{} of {} columns are kept, but {cell} is in one of the others",
                    matrix.kept,
                    map.size()
                );
                Err(self.op.clause_error("C4", "time", message))
            }
        }
    }
}
