//! `tm.to_tile`: a transfer into a tile of a tensor.

use super::number::{constant, in_each, numbers};
use super::transfer::{ENGINES, MovesTensor, PACKET, RUNS, TIME, check_runs, check_transfer};
use crate::cases::Cases;
use crate::facts::{DeclaredAxes, check_mappings};
use crate::index::INDICES;
use crate::keeps_axes::KeepsAxes;
use crate::tensor::{Dim, Tensor, make};
use crate::tile::{self, ALONG, Clauses, ELEMENT, INDEX, SIZE, Tile, keeping};
use crate::view;
use crate::{Axes, HBM};
use std::rc::Rc;
use visa_ir::decl::{Interface, OpDecl, OperandDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_ir::verify::VerifyCx;

/// `tm.to_tile`.
#[visa_ir::view(ToTile)]
pub static TO_TILE: OpDecl = OpDecl {
    name: "tm.to_tile",
    summary: "Moves a tensor into a tile of another one.",
    doc: "The result is `tensor` with the elements of the tile replaced by those of `source`, whose coordinates are \
          counted from the tile's first, as in `tm.tile`. It has the address of `tensor`: if anything still needs \
          `tensor` after this operation, it overlaps the result and is refused. In a loop that carries `tensor`, tile \
          after tile is filled. Tensor DMA moves it, within each chip (book 10).\n\n\
          What is written twice without being read between is a mistake in an index. It is refused where both \
          writes say `along` alike, and nothing reads the tensor between them, or in the loop that both are in.",
    constraints: &[
        ("C1", "`tensor` is no view, has the number format of `source`, and both are on chips alike"),
        (
            "C2",
            "`source` holds every element of the tile, and `tensor` holds, at every live position of `element`, that \
             index moved by the tile's first (book 03, 07)",
        ),
        (
            "C3",
            "in every iteration of the loops around it the tile is inside `along`, and starts with an element; tiles \
             are evenly apart",
        ),
        ("C4", "`engines`, `time` and `packet` are a stream of the tile, as in `tm.to_hbm`"),
        ("C5", RUNS),
        (
            "C6",
            "an element that it has written is read before it, or another `tm.to_tile`, writes that again",
        ),
    ],
    operands: &[
        OperandDecl::one("source", &["tm.hbm", "tm.dm", "tm.spm"]),
        OperandDecl::one("tensor", &["tm.hbm", "tm.dm", "tm.spm"]),
        OperandDecl::variadic("first", INDICES),
    ],
    clauses: &[ALONG, SIZE, INDEX, ELEMENT, ENGINES, TIME, PACKET],
    results: &["tensor"],
    effects: Effects::Are(&[reads(Target::Operand("source")), writes(Target::Operand("tensor"))]),
    infer: Some(|op| {
        let tensor = ToTile::of(op)?.tensor()?.of_type::<Tensor>()?;
        Ok(vec![make(op.ctx, (*tensor).clone())])
    }),
    verify: Some(verify),
    example: "%n = tm.to_tile %y, %x, %i along [B / 2], size 1, element [B / 2 = 1, B % 2]",
    interfaces: &[Interface(&MovesTensor), Interface(&KeepsAxes)],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&TO_TILE];

/// The tile as a tensor by itself. What its padding covers is the rest of the tensor, and must not be written.
///
/// # Errors
/// If an operand is no tensor.
pub fn part(op: ToTile<'_>, axes: &Axes) -> Result<Tensor, Diagnostic> {
    let whole = op.tensor()?.of_type::<Tensor>()?;
    let along = (&*op.along()?, op.size()?);
    let element =
        tile::element(*op, op.element()?, along, op.first().count(), whole.dim(Dim::Element), axes)?;
    let element = [(Dim::Element, keeping(&element))];
    Tensor::build(whole.kind, None, whole.dtype, &element, &whole)
        .map_err(|dim| op.error("C2", format!("the {dim} mapping is not known")))
}

/// The tensor that a transfer writes: its result, or the tile of it; nothing where its type is not known.
///
/// # Errors
/// If an operand is no tensor.
pub fn written(op: OpRef<'_>, axes: &Axes) -> Result<Option<Rc<Tensor>>, Diagnostic> {
    match ToTile::cast(op) {
        Some(tile) => part(tile, axes).map(|part| Some(Rc::new(part))),
        None => Ok(op.result_type::<Tensor>(0)),
    }
}

/// The tile that is written.
///
/// # Errors
/// If it is not inside the tensor in some iteration, or an operand is no tensor.
pub fn tile<'a>(op: ToTile<'a>, axes: &'a Axes) -> Result<Cases<Tile<'a>>, Diagnostic> {
    let parts = (part(op, axes)?.dim(Dim::Element), op.tensor()?.of_type::<Tensor>()?.dim(Dim::Element));
    let (along, size, index) = (op.along()?, op.size()?, constant(*op, op.index()?, axes)?);
    in_each(*op, &numbers(*op, op.first().map(|first| first.id), axes)?, |first| {
        let clauses = Clauses { along: along.clone(), size, index, first: first.clone() };
        Tile::read(*op, clauses, parts.clone(), axes)
    })
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &cx.analysis::<DeclaredAxes>().0;
    check_mappings(op, axes)?;
    let view = ToTile::of(op)?;
    let (source, whole) = (view.source()?.of_type::<Tensor>()?, view.tensor()?.of_type::<Tensor>()?);
    if view.tensor()?.made_by().is_some_and(|def| view::kind(def).is_some()) {
        let error = op.error("C1", "the tensor is a view: what it does not show would change too");
        return Err(error.fix("write into the view's source".to_owned()));
    }
    if source.dtype != whole.dtype {
        return Err(op.error("C1", format!("the source is `{}`, the tensor `{}`", source.dtype, whole.dtype)));
    }
    let part = part(view, axes)?;
    if crate::leaves_chip(&source, &part) {
        let (from, to) = (source.dim(Dim::Chip), part.dim(Dim::Chip));
        return Err(op.error("C1", format!("the source is on chips `{from}`, the tensor on `{to}`")));
    }
    self::tile(view, axes)?.map(Tile::check)?;
    let segments = check_transfer(op, cx, ["C2", "C4"], &source, &part)?;
    if whole.is(&HBM) {
        return Ok(());
    }
    segments.iter().try_for_each(|segment| check_runs(op, segment, source.is(&HBM), None))
}
