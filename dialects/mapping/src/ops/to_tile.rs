//! `tm.to_tile`: a transfer into a tile of a tensor.

use super::number::{constant, in_each, numbers};
use super::transfer::{
    CLUSTER_QUEUE, ENGINES, MovesTensor, PACKET, PADDED, PADDED_AXIS, QUEUE, RUNS, TIME, check_runs,
    check_transfer,
};
use crate::facts::frames::{Frame, Frames};
use crate::facts::{DeclaredAxes, check_mappings};
use crate::index::INDICES;
use crate::index::cases::Cases;
use crate::interfaces::KeepsAxes;
use crate::raise::{Semantics, moves};
use crate::tensor::memories::{HBM, ON_CHIP};
use crate::tensor::{Dim, Tensor, make};
use crate::transfer::{CHIP_STRIDE, Transfer};
use crate::view;
use crate::view::tile::{self, ALONG, Clauses, ELEMENT, INDEX, SIZE, Tile, keeping};
use std::rc::Rc;
use visa_algebra::Axes;
use visa_ir::decl::{Interface, OpDecl, OperandDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_ir::verify::VerifyCx;
use visa_loops::Stride;

/// The interface of an operation that writes into a tile of a tensor.
#[derive(Clone, Copy, Debug)]
pub struct WritesTile;

/// The common interface of operations that write into a tile. Each specifies separately the tensor that it writes and
/// the method.
#[visa_ir::view(TileWrite)]
pub const TILE_WRITE: OpDecl = OpDecl {
    operands: &[
        OperandDecl::one("source", &[]),
        OperandDecl::one("tensor", ON_CHIP),
        OperandDecl::variadic("first", INDICES),
    ],
    clauses: &[ALONG, SIZE, INDEX, ELEMENT],
    results: &["tensor"],
    infer: Some(|op| {
        let tensor = TileWrite::seen(op).tensor()?.of_type::<Tensor>()?;
        Ok(vec![make(op.ctx, (*tensor).clone())])
    }),
    interfaces: &[Interface(&WritesTile), Interface(&KeepsAxes)],
    ..OpDecl::BASE
};

impl<'a> TileWrite<'a> {
    /// The operation, if it writes into a tile.
    #[must_use]
    pub fn cast(op: OpRef<'a>) -> Option<Self> {
        op.decl().is_some_and(|decl| decl.interface::<WritesTile>().is_some()).then(|| Self::seen(op))
    }
}

/// `tm.to_tile`.
#[visa_ir::view(ToTile: TileWrite)]
pub static TO_TILE: OpDecl = OpDecl {
    name: "tm.to_tile",
    summary: "Moves a tensor into a tile of another one.",
    doc: "The result is `tensor` with the elements of the tile replaced by those of `source`, whose coordinates are \
          counted from the tile's first, as in `tm.tile`. It has the address of `tensor`: if anything still needs \
          `tensor` after this operation, it overlaps the result and is refused. In a loop that carries `tensor`, \
          tile after tile is filled. Tensor DMA moves it, within each chip (book 10); to a tile of chips PCIe DMA \
          does.\n\n\
          Elements that are written twice without a read in between are a mistake in an index. They are refused if \
          both writes have the same `along`, and the tensor is not read between them, or in the loop that both are \
          in.",
    constraints: &[
        (
            "C1",
            "`tensor` is no view, has the number format of `source`, and both are on chips alike, unless the tile is \
             cut along chips: then PCIe moves it, from other chips",
        ),
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
            "an element that it has written is read before it, or another operation that fills a tile, writes that \
             again",
        ),
        ("C7", PADDED_AXIS),
        ("C8", CLUSTER_QUEUE),
    ],
    operands: &[
        OperandDecl::one("source", ON_CHIP),
        OperandDecl::one("tensor", ON_CHIP),
        OperandDecl::variadic("first", INDICES),
    ],
    clauses: &[ALONG, SIZE, INDEX, ELEMENT, PADDED, QUEUE, ENGINES, TIME, PACKET],
    effects: Effects::Are(&[reads(Target::Operand("source")), writes(Target::Operand("tensor"))]),
    verify: Some(verify),
    example: "%n = tm.to_tile %y, %x, %i along [B / 2], size 1, element [B / 2 = 1, B % 2]",
    interfaces: &[
        Interface(&MovesTensor),
        Interface(&WritesTile),
        Interface(&KeepsAxes),
        Interface(&Semantics(moves::tiled)),
    ],
    ..TILE_WRITE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&TO_TILE];

/// The tile as a tensor by itself. Its padding covers the rest of the tensor, and must not be written, but for padding
/// that the tensor has there too.
///
/// # Errors
/// If an operand is no tensor.
pub fn part(op: TileWrite<'_>, axes: &Axes) -> Result<Tensor, Diagnostic> {
    let whole = op.tensor()?.of_type::<Tensor>()?;
    let along = (&*op.along()?, op.size()?);
    let mut maps = tile::layout(*op, op.element()?, along, op.first().count(), &whole, axes)?;
    maps.iter_mut().for_each(|(dim, map)| {
        *map = if *dim == Dim::Element { tile::keeping_others(map, &whole.dim(*dim)) } else { keeping(map) };
    });
    Tensor::build(whole.kind, None, whole.dtype, &maps, &whole)
        .map_err(|dim| op.error("C2", format!("the {dim} mapping is not known")))
}

/// Returns true if each term of the mapping in a clause has a separate index. Then two terms must not become one.
#[must_use]
pub fn counts_terms(op: OpRef<'_>, clause: &str) -> bool {
    let read = super::view::Tile::cast(op).map(|tile| tile.first().count());
    let written = TileWrite::cast(op).map(|tile| tile.first().count());
    clause == ALONG.name && read.or(written).is_some_and(|indices| indices > 1)
}

/// The tensor that a transfer writes: its result, or the tile of it; `None` where its type is not known.
///
/// # Errors
/// If an operand is no tensor.
pub fn written(op: OpRef<'_>, axes: &Axes) -> Result<Option<Rc<Tensor>>, Diagnostic> {
    match TileWrite::cast(op) {
        Some(tile) => part(tile, axes).map(|part| Some(Rc::new(part))),
        None => Ok(op.result_type::<Tensor>(0)),
    }
}

/// The tile that is written.
///
/// # Errors
/// If it is not inside the tensor in some iteration, or an operand is no tensor.
pub fn tile<'a>(op: TileWrite<'a>, axes: &'a Axes) -> Result<Cases<Tile<'a>>, Diagnostic> {
    let (part, whole) = (part(op, axes)?, op.tensor()?.of_type::<Tensor>()?);
    let (along, size, index) = (op.along()?, op.size()?, constant(*op, op.index()?, axes)?);
    in_each(*op, &numbers(*op, op.first().map(|first| first.id), axes)?, |first| {
        let clauses = Clauses { along: along.clone(), size, index, first: first.clone() };
        Tile::read(*op, clauses, (&part, &whole), axes)
    })
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &cx.analysis::<DeclaredAxes>().0;
    check_mappings(op, axes)?;
    let view = ToTile::of(op)?;
    let (source, whole) = (view.source()?.of_type::<Tensor>()?, view.tensor()?.of_type::<Tensor>()?);
    if view.tensor()?.made_by().is_some_and(|def| view::kind(def).is_some()) {
        let error = op.error("C1", "the tensor is a view: elements outside of the view would change too");
        return Err(error.fix("write into the view's source".to_owned()));
    }
    if source.dtype != whole.dtype {
        return Err(op.error("C1", format!("the source is `{}`, the tensor `{}`", source.dtype, whole.dtype)));
    }
    let (part, tiles) = (part(*view, axes)?, tile(*view, axes)?);
    let on_chips = tiles.first().is_some_and(|tile| tile.places().any(|dim| dim == Dim::Chip));
    if crate::transfer::leaves_chip(&source, &part, axes) && !on_chips {
        let (from, to) = (source.dim(Dim::Chip), part.dim(Dim::Chip));
        return Err(op.error("C1", format!("the source is on chips `{from}`, the tensor on `{to}`")));
    }
    if on_chips && (source.stays_on_chip() || whole.stays_on_chip()) {
        let error = op.error("C1", "scratchpad memory is not reached from other chips");
        return Err(error.fix("move it through data memory or HBM".to_owned()));
    }
    cx.analysis::<Frames>().check_tiles(op, view.tensor()?.id, &tiles)?;
    let segments = check_transfer(op, cx, ["C2", "C4", "C7", "C8"], &source, &part)?;
    if on_chips {
        check_crosses(view, cx, &segments)?;
    }
    if whole.is(&HBM) {
        return Ok(());
    }
    segments.iter().try_for_each(|segment| check_runs(op, segment, source.is(&HBM), None))
}

/// C1 of a tile that is cut along chips: a transfer within one chip is that of all chips.
fn check_crosses(op: ToTile<'_>, cx: &VerifyCx<'_>, segments: &[Transfer]) -> Result<(), Diagnostic> {
    let frames = cx.analysis::<Frames>();
    let written = frames.written(**op, &cx.analysis::<DeclaredAxes>().0);
    let chip = |address: i64| address.div_euclid(CHIP_STRIDE);
    let between = |stride: &Stride| {
        stride.divided(CHIP_STRIDE).is_some_and(|chips| chips.numbers().iter().any(|&chip| chip != 0))
    };
    let stays = |from: &Frame, to: &Frame| from.chip().is(to.chip());
    let crosses = |segment: &Transfer| {
        chip(segment.read_base) != chip(segment.write_base)
            || segment.loops.iter().any(|step| between(&step.read) || between(&Stride::Fixed(step.write)))
    };
    if segments.iter().any(crosses) || !frames.of(op.source()?.id).join(&written, stays).any(|stays| *stays) {
        return Ok(());
    }
    let message = "the tile is on the chip of the source, and all chips run in lockstep";
    let fix = "write the tiles of all chips at once, without the term that cuts them".to_owned();
    Err(op.clause_error("C1", "along", message).fix(fix))
}
