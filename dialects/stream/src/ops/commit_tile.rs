//! `stream.commit_tile`: the commit engine writes into a tile of a tensor in data memory (book 03, 09).

use crate::chain::{axes, check_stored, input};
use crate::commit::{Write, zeros_kept};
use crate::lower::{LowerStage, StageCx, address, loops};
use crate::pipeline;
use crate::plan::Plan;
use crate::planner::{Planner, StagePlan, planned};
use visa_algebra::{Axes, Expr, Index, describe, first_missing};
use visa_engine::place::rngd;
use visa_ir::decl::{Interface, OpDecl, OperandDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::{Effects, Target, writes};
use visa_ir::module::{OpRef, OpSpec};
use visa_ir::verify::VerifyCx;
use visa_mapping::error::mapping_error;
use visa_mapping::facts::address::Moving;
use visa_mapping::facts::frames::Frames;
use visa_mapping::facts::{check_mappings, machine};
use visa_mapping::index::INDICES;
use visa_mapping::index::affine::Affine;
use visa_mapping::interfaces::KeepsAxes;
use visa_mapping::ops::to_tile;
use visa_mapping::ops::to_tile::{TILE_WRITE, TileWrite, WritesTile};
use visa_mapping::raise::Semantics;
use visa_mapping::raise::moves::tiled;
use visa_mapping::tensor::scalar::is_scalar;
use visa_mapping::view::tile::Tile;
use visa_mapping::{Dim, Tensor, view};

/// `stream.commit_tile`.
#[visa_ir::view(CommitTile: TileWrite)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.commit_tile",
    summary: "Ends a pipeline: writes into a tile of a tensor in data memory.",
    doc: "The result is `tensor` with the elements of the tile replaced by the stream's, whose coordinates are \
          counted from the tile's first, as in `tm.tile` and `tm.to_tile`. So a loop that carries a tensor in data \
          memory fills it tile by tile without a transfer. The result has the address of `tensor`: if anything \
          still needs `tensor` after this operation, the pipeline itself included, it overlaps the result and is \
          refused.\n\n\
          A pipeline writes where it reads. A tile of slices is written by a pipeline that began with that tile of \
          another tensor; `tm.to_tile` moves data of other slices.",
    constraints: &[
        ("C1", "`tensor` is no view, and has the stream's number format"),
        (
            "C2",
            "the stream holds every element of the tile, in the same slice, cluster and chip, and `tensor` holds, at \
             every live position of the tile, that index moved by the tile's first (book 03)",
        ),
        (
            "C3",
            "in every iteration of the loops around it the tile is inside `along`, and starts with an element; tiles \
             are evenly apart",
        ),
        ("C4", "tiles start a multiple of 8 bytes into the tensor (book 09)"),
        (
            "C5",
            "8, 16, 24 or 32 leading bytes of a flit are kept; every live element of the tile is written once, and \
             nothing else (book 09, 33)",
        ),
        (
            "C6",
            "an element that it has written is read before it, or another operation that fills a tile, writes that \
             again",
        ),
        ("C7", "the tile is at a number that no scalar changes: only transfers move with a scalar"),
    ],
    operands: &[
        OperandDecl::accepting("stream", pipeline::after!(&rngd::COMMIT)),
        OperandDecl::one("tensor", &["tm.dm"]),
        OperandDecl::variadic("first", INDICES),
    ],
    effects: Effects::Are(&[writes(Target::Operand("tensor"))]),
    verify: Some(verify),
    example: "%n = stream.commit_tile %s, %acc, %i along [M / 8]",
    interfaces: &[
        Interface(&rngd::COMMIT),
        Interface(&Semantics(tiled)),
        Interface(&LowerStage(lower)),
        Interface(&WritesTile),
        Interface(&KeepsAxes),
    ],
    ..TILE_WRITE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    let view = CommitTile::of(op)?;
    let (source, whole) = (input(op)?, view.tensor()?.of_type::<Tensor>()?);
    if view.tensor()?.made_by().is_some_and(|def| view::kind(def).is_some()) {
        let error = op.error("C1", "the tensor is a view: elements outside of the view would change too");
        return Err(error.fix("commit into a tile of the view's source".to_owned()));
    }
    if source.dtype != whole.dtype {
        return Err(op.error("C1", format!("the stream is `{}`, the tensor `{}`", source.dtype, whole.dtype)));
    }
    check_stored(op, &source, "C1")?;
    let (part, tiles) = (to_tile::part(*view, axes)?, to_tile::tile(*view, axes)?);
    for dim in [Dim::Chip, Dim::Cluster, Dim::Slice] {
        check_held(op, dim, &part.dim(dim), &source.dim(dim), axes)?;
    }
    cx.analysis::<Frames>().check_tiles(op, view.tensor()?.id, &tiles)?;
    tiles.map(|tile| check_starts(op, tile, &whole))?;
    // A tensor that does not fit its memory is refused where it is made.
    let machine = machine(op);
    if whole.dim_bytes(Dim::Element, axes).is_none_or(|bytes| bytes > machine.memory.dm_bytes_per_slice) {
        return Ok(());
    }
    planned::<TilePlan>(op, cx).map(drop)
}

/// C2: the tile and the stream hold the same at each position of a dimension.
fn check_held(op: OpRef<'_>, dim: Dim, part: &Expr, held: &Expr, axes: &Axes) -> Result<(), Diagnostic> {
    let missing = first_missing(part, &Index::new(), held, 0, axes);
    let Some(at) = missing.map_err(|error| mapping_error(error, op.span()))? else { return Ok(()) };
    let cell = |map: &Expr| describe(visa_algebra::map(map, axes, at).as_ref(), axes);
    let (name, wanted, found) = (dim.name(), cell(part), cell(held));
    let message =
        format!("the tile `{part}` holds {wanted} in {name} {at}, where the stream `{held}` holds {found}");
    let fix = "commit to a separate tensor, and move that into the tile with `tm.to_tile`".to_owned();
    Err(op.error("C2", message).fix(fix))
}

/// C4 and C7.
fn check_starts(op: OpRef<'_>, tile: &Tile<'_>, whole: &Tensor) -> Result<(), Diagnostic> {
    let starts = tile.starts()?;
    let align = machine(op).limits.commit_stride_align;
    let bits = u64::from(whole.dtype.bits());
    let whole_group = |elements: i64| (elements.unsigned_abs() * bits).is_multiple_of(align * 8);
    let Affine { base, terms } = &starts;
    let mut apart = std::iter::once(*base).chain(terms.iter().map(|term| term.factor));
    if let Some(elements) = apart.find(|&elements| !whole_group(elements)) {
        let bytes = elements.unsigned_abs() * bits / 8;
        let what = if elements == *base { "the first tile starts" } else { "tiles are apart by" };
        let message =
            format!("{what} {bytes} bytes in `{}`, expected a multiple of {align}", whole.dim(Dim::Element));
        let fix = format!("pad the tensor so that tiles begin at multiples of {align} bytes");
        return Err(op.clause_error("C4", "along", message).fix(fix));
    }
    let mut indices = tile.places().map(|dim| tile.starts_in(dim)).collect::<Result<Vec<_>, _>>()?;
    indices.push(starts);
    for term in indices.iter().flat_map(|number| &number.terms) {
        if is_scalar(op.ctx, op.module.ty(term.index)) {
            let message = "a scalar gives the position of the tile, which only transfers support";
            let fix = "commit to a separate tensor, and move that with `tm.to_tile`".to_owned();
            return Err(op.error("C7", message).fix(fix));
        }
    }
    Ok(())
}

/// The loops of a write into a tile, from the tile's first element on.
pub struct TilePlan(pub Plan);

impl StagePlan for TilePlan {
    fn make(planner: &Planner<'_>, op: OpRef<'_>) -> Result<Self, Diagnostic> {
        let source = input(op)?;
        // Behind its padding, and between its elements, is the rest of the tensor.
        let part = to_tile::part(*CommitTile::of(op)?, planner.axes)?;
        let write = Write {
            element: &part.dim(Dim::Element),
            time: &source.dim(Dim::Time),
            packet: &source.dim(Dim::Packet),
            dtype: source.dtype,
            unit: source.unit,
            sizes: &planner.machine.limits.commit_sizes,
            axes: planner.axes,
            zeros: zeros_kept(op)?,
            into: None,
        };
        write.plan().map(Self).map_err(|why| op.error("C5", why))
    }
}

fn lower(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let address = address::written(cx, op)?;
    loops::commit_at(cx, op, &cx.plan::<TilePlan>(op)?.0, &address).map(Some)
}

/// Lowers an operation outside of the loops around it, with which its tile would move.
///
/// # Errors
/// As [`crate::lower::lower`].
pub fn lower_alone(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    match op.is(&DECL) {
        true => loops::commit_at(cx, op, &cx.plan::<TilePlan>(op)?.0, &Moving::default()).map(Some),
        false => crate::lower::lower(cx, op),
    }
}
