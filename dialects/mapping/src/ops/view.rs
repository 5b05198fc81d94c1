//! `tm.slice`, `tm.tile`, `tm.pad`, `tm.unpad`, `tm.reshape`, `tm.window`, `tm.transpose`: views, which move no byte.

use crate::error::mapping_error;
use crate::facts::frames::Frames;
use crate::facts::{DeclaredAxes, check_mappings};
use crate::index::INDICES;
use crate::raise::{Semantics, moves};
use crate::tensor::attrs::MAP;
use crate::tensor::memories::{OF_A_CHIP, ON_CHIP};
use crate::tensor::relabel::Part;
use crate::tensor::{Dim, Tensor, make};
use crate::view;
use crate::view::tile::{ALONG, INDEX, SIZE};
use crate::view::{ELEMENT, ViewKind, element, own_element, renamed, renamed_axes, renaming, tile};
use std::collections::BTreeMap;
use std::sync::Arc;
use visa_algebra::{
    Axes, AxisId, Digit, Expr, Index, MapError, Opaque, Placement, Refinement, describe, digits,
    first_missing, first_unlike, padded_terms, place, place_expr, refines,
};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, TypeId};
use visa_ir::rewrite::{Fold, NoMatch, RewritePattern};
use visa_ir::verify::{Analysis, VerifyCx};

/// The common interface of all views.
#[visa_ir::view(ViewOp)]
pub const VIEW: OpDecl = OpDecl {
    operands: &[OperandDecl::one("source", ON_CHIP)],
    clauses: &[ELEMENT],
    results: &["view"],
    effects: Effects::PURE,
    infer: Some(infer),
    verify: Some(verify),
    fold: Some(fold),
    ..OpDecl::BASE
};

const CHIPS: &str = "chip, cluster, slice and PE mappings are those of the source";

/// `tm.slice`.
#[visa_ir::view(Slice: ViewOp)]
pub static SLICE: OpDecl = OpDecl {
    name: "tm.slice",
    summary: "A part of a tensor, under its own indices.",
    doc: "The view starts at the first index of `element` in the source, and holds the content there (book 33, \
          segmentation). `[A @ 1024, B]` of `[A, B]` is the part from A = 1024 on. A part of an inner axis keeps \
          the source's distances by padding: `[A, B @ 2 = 2 # 4]`. That padding covers the rest of the source, so a \
          view is read, never written.",
    constraints: &[
        ("C1", CHIPS),
        ("C2", "the source holds, at every live position of the view, the same index (book 03)"),
        ("C3", "a view of 4-bit elements, of which two share a byte, starts at a whole byte"),
    ],
    interfaces: &[Interface(&ViewKind::Slice), Interface(&Semantics(moves::shown))],
    example: "%s = tm.slice %x element [A @ 1024 = 512, B]",
    ..VIEW
};

/// `tm.tile`.
#[visa_ir::view(Tile: ViewOp)]
pub static TILE: OpDecl = OpDecl {
    name: "tm.tile",
    summary: "A tile of a tensor, its indices counted from the tile's first.",
    doc: "The positions `index`, ..., `index + size - 1` of the dimension `along` (book 03), moved by the operand \
          `first` where it is there: in a loop, `tm.tile %x, %i along [B / 32]` is another tile in each iteration. \
          With several operands, `along` has a term for each, and the tile has one position of each term. Tiles may \
          overlap. In the view the tile starts at coordinate 0, so every tile of a dimension has the same mapping: \
          `along [B / 32], size 2, index i, element [A, B / 32 = 2 # 16, B % 32]`.\n\n\
          The dimension may also be on chips, clusters, slices or PEs. With slices `[B]`, the tile `along [B / 32]` \
          is on slices 32 i to 32 i + 31. Its slice mapping, `[B / 32 = 1 # 8, B % 32]`, is counted from the first \
          of them. A transfer reads it there, from other chips by PCIe. A pipeline that begins with it runs there, \
          and so do those that read its result.",
    constraints: &[
        ("C1", "mappings of chips, clusters, slices and PEs that are not cut are those of the source"),
        (
            "C2",
            "the source holds, at every live position of the view, that index moved by the tile's first (book 03)",
        ),
        (
            "C3",
            "in every iteration of the loops around it the tile is inside `along`, and starts with an element; tiles \
             are evenly apart",
        ),
        ("C4", "a view of 4-bit elements, of which two share a byte, starts at a whole byte"),
    ],
    operands: &[OperandDecl::one("source", ON_CHIP), OperandDecl::variadic("first", INDICES)],
    clauses: &[ALONG, SIZE, INDEX, tile::ELEMENT],
    traits: &[Trait::InfersFromModule],
    infer: Some(infer_tile),
    interfaces: &[Interface(&ViewKind::Tile), Interface(&Semantics(moves::shown))],
    example: "%t = tm.tile %x along [B], size 2, index 2, element [A, B = 2 # 4]",
    ..VIEW
};

/// `tm.pad`.
#[visa_ir::view(Pad: ViewOp)]
pub static PAD: OpDecl = OpDecl {
    name: "tm.pad",
    summary: "A tensor with more padding after it.",
    doc: "The same elements at the same positions, and padding after the source's end (semantics: an extent \
          changes by pad and unpad, never by reshape). Padding inside may become stricter.",
    constraints: &[
        ("C1", CHIPS),
        (
            "C2",
            "the view's elements are the source's, at their positions, and its padding is at least as strict",
        ),
        ("C3", "the view is at least as long as the source"),
    ],
    interfaces: &[Interface(&ViewKind::Padding), Interface(&Semantics(moves::shown))],
    example: "%p = tm.pad %x element [[A, B] # 64]",
    ..VIEW
};

/// `tm.unpad`.
#[visa_ir::view(Unpad: ViewOp)]
pub static UNPAD: OpDecl = OpDecl {
    name: "tm.unpad",
    summary: "A tensor without the padding after it.",
    doc: "The same elements at the same positions; only padding at the source's end is left out.",
    constraints: &[
        ("C1", CHIPS),
        (
            "C2",
            "the view's elements are the source's, at their positions, and its padding is at least as strict",
        ),
        ("C3", "the view is at most as long as the source, and the part left out is padding"),
    ],
    interfaces: &[Interface(&ViewKind::Padding), Interface(&Semantics(moves::shown))],
    example: "%u = tm.unpad %x element [A, B]",
    ..VIEW
};

/// `tm.reshape`.
#[visa_ir::view(Reshape: ViewOp)]
pub static RESHAPE: OpDecl = OpDecl {
    name: "tm.reshape",
    summary: "The same positions under other axes.",
    doc: "Every cell keeps its position and its padding, and gets another index: `[A, B]` as `[C]` with |C| = |A| \
          |B| (semantics: relabelling). Changing an extent is `tm.pad`, `tm.unpad`, `tm.tile` or `tm.slice`.",
    constraints: &[
        ("C1", CHIPS),
        ("C2", "view and source have the same size, live positions and padding"),
        ("C3", "each index is at one position, in the source and in the view"),
        ("C4", "axes of terms that change, old or new, occur in no other dimension of the tensor"),
    ],
    patterns: &[&MERGE_RESHAPES],
    interfaces: &[Interface(&ViewKind::Reshape), Interface(&Semantics(moves::shown))],
    example: "%r = tm.reshape %x element [C]",
    ..VIEW
};

/// `tm.window`.
#[visa_ir::view(Window: ViewOp)]
pub static WINDOW: OpDecl = OpDecl {
    name: "tm.window",
    summary: "The same positions as windows that overlap.",
    doc: "Where `element` slides, as `$(W:1, F:1)` does, a position holds several indices, and the source's element \
          there is the view's at each of them (book 03, sliding): with the source's `[X]` of 32, `[$(W:1, F:1)]` \
          with |W| = 30 and |F| = 3 is at W, F the source's element at X = W + F. A convolution multiplies it with \
          its filter (book 15). Positions that no window reaches, as with `$(W:2, F:2)`, are left out.",
    constraints: &[
        ("C1", CHIPS),
        (
            "C2",
            "view and source have the same size, live positions and padding, where all of a sliding term counts \
             as live",
        ),
        ("C3", "each index is at one position, in the source and in the view"),
        ("C4", "axes of terms that change, old or new, occur in no other dimension of the tensor"),
    ],
    interfaces: &[Interface(&ViewKind::Window), Interface(&Semantics(moves::shown))],
    example: "%w = tm.window %x element [C, $(H:1, Fh:1), $(W:1, Fw:1)]",
    ..VIEW
};

/// `tm.relabel`.
#[visa_ir::view(Relabel: ViewOp)]
pub static RELABEL: OpDecl = OpDecl {
    name: "tm.relabel",
    summary: "The same bytes under other axes, by the author's word.",
    doc: "Every position keeps its bytes and gets another index, padding and copies included: slices `[L, 1 # 4]` \
          as `[L, D]`, or `[D]` as `[1 # 8]`. Padding is undefined under its new index. A dimension that is not \
          written stays; dimensions that share axes get their new indices together. The new indices are not \
          checked: where `tm.reshape` is possible, it is better. A register file is relabelled as other memories \
          are: it stays where it is.",
    constraints: &[
        ("C1", "each dimension that is written is one of the tensor's, and has as many positions as before"),
        ("C2", "each index of the view is at one position"),
    ],
    operands: &[OperandDecl::one("source", OF_A_CHIP)],
    clauses: &[
        ClauseDecl::optional("chip", ClauseKind::body::<Expr>(&MAP), "which part each chip holds"),
        ClauseDecl::optional("cluster", ClauseKind::body::<Expr>(&MAP), "which part each cluster holds"),
        ClauseDecl::optional("slice", ClauseKind::body::<Expr>(&MAP), "which part each slice holds"),
        ClauseDecl::optional("pe", ClauseKind::body::<Expr>(&MAP), "which part each PE of a cluster holds"),
        ClauseDecl::optional("row", ClauseKind::body::<Expr>(&MAP), "mapping of the rows of a register file"),
        ClauseDecl::optional("element", ClauseKind::body::<Expr>(&MAP), "the view's layout, in elements"),
    ],
    infer: Some(infer_relabel),
    fold: None,
    interfaces: &[Interface(&ViewKind::Relabel), Interface(&Semantics(moves::shown))],
    example: "%r = tm.relabel %x element [C]",
    ..VIEW
};

/// `tm.transpose`.
#[visa_ir::view(Transpose: ViewOp)]
pub static TRANSPOSE: OpDecl = OpDecl {
    name: "tm.transpose",
    summary: "A tensor whose axes exchange their names.",
    doc: "The element at B = i, A = j of the view is the source's at A = i, B = j: the transposed matrix without \
          moving it. `to` is the name of each axis of `axes` in the view; other axes of the same sizes are also \
          allowed.",
    constraints: &[
        (
            "C1",
            "`axes` and `to` list as many axes, each once, of the same sizes, and `to` names none that the rest \
             of the tensor has",
        ),
        ("C2", "the mappings use no alias: it stands for its own axes"),
    ],
    clauses: &[
        ClauseDecl::required("axes", ClauseKind::body::<Expr>(&MAP), "the axes that are renamed"),
        ClauseDecl::required(
            "to",
            ClauseKind::body::<Expr>(&MAP),
            "their names in the view, in the same order",
        ),
    ],
    infer: Some(infer_transpose),
    interfaces: &[Interface(&ViewKind::Transpose), Interface(&Semantics(moves::shown))],
    example: "%t = tm.transpose %x axes [A, B], to [B, A]",
    ..VIEW
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&SLICE, &TILE, &PAD, &UNPAD, &RESHAPE, &WINDOW, &RELABEL, &TRANSPOSE];

/// A view that leaves everything as it is, or that reverses the view of its source, is that tensor.
///
/// A tensor is a function from indices to elements, and its type specifies its indices and their positions. Slices and
/// paddings keep each element at its index, so with the same type it is the same tensor. Reshapes keep each element at
/// its position, which with the same mapping is the same index. A transposition renames the axes that the type
/// mentions; where the text stays, none of them has another name. Tiles are not among these: their indices are counted
/// again.
fn fold(op: OpRef<'_>) -> Option<Fold> {
    let ty = op.module.ty(*op.results().first()?);
    let source = *op.operands().first()?;
    let kind = view::kind(op).filter(|kind| match kind {
        ViewKind::Slice | ViewKind::Padding | ViewKind::Reshape | ViewKind::Transpose => true,
        ViewKind::Tile | ViewKind::Window | ViewKind::Relabel => false,
    })?;
    if op.module.ty(source) == ty {
        return Some(Fold::Values(vec![source]));
    }
    // A slice that is undone would have to bring back the elements that it left out.
    let inner =
        op.operand_def(0).filter(|inner| kind != ViewKind::Slice && view::kind(*inner) == Some(kind))?;
    let origin = *inner.operands().first()?;
    (op.module.ty(origin) == ty).then(|| Fold::Values(vec![origin]))
}

static MERGE_RESHAPES: RewritePattern = RewritePattern {
    name: "merge-reshapes",
    summary: "a reshape of a reshape takes the first one's source: every cell keeps its position in both",
    root: Some(&RESHAPE),
    benefit: 1,
    rewrite: |rewriter, id| {
        let inner = rewriter.op(id).operand_def(0).filter(|inner| inner.is(&RESHAPE));
        let source = inner.and_then(|inner| inner.operands().first().copied());
        let source = source.ok_or_else(|| NoMatch::because("its source is no `tm.reshape`"))?;
        rewriter.set_operand(id, 0, source)?;
        Ok(())
    },
};

/// The source's type with the element mapping of the clause.
fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let source = source(op)?;
    let given = [(Dim::Element, (*ViewOp::seen(op).element()?).clone())];
    let view = Tensor::build(source.kind, None, source.dtype, &given, &source)
        .map_err(|dim| op.error("C1", format!("the {dim} mapping is not known")))?;
    Ok(vec![make(op.ctx, view)])
}

/// The source's type with the element mapping of the tile.
fn infer_tile(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let source = source(op)?;
    let tile = Tile::of(op)?;
    let axes = DeclaredAxes::build(op.ctx, op.module).0;
    let along = (&*tile.along()?, tile.size()?);
    let maps = tile::layout(op, tile.element()?, along, tile.first().count(), &source, &axes)?;
    let view = Tensor::build(source.kind, None, source.dtype, &maps, &source)
        .map_err(|dim| op.error("C1", format!("the {dim} mapping is not known")))?;
    Ok(vec![make(op.ctx, view)])
}

/// The source's type with the mappings of the clauses.
fn infer_relabel(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let source = source(op)?;
    let given = Relabel::of(op)?.given()?;
    if let Some((dim, _)) = given.iter().find(|(dim, _)| !source.kind.dims.contains(dim)) {
        let message = format!("{} has no {} mapping", source.kind.def.name, dim.name());
        return Err(op.clause_error("C1", dim.name(), message));
    }
    let view = Tensor::build(source.kind, None, source.dtype, &given, &source)
        .map_err(|dim| op.error("C1", format!("the {dim} mapping is not known")))?;
    Ok(vec![make(op.ctx, view)])
}

impl Relabel<'_> {
    /// The dimensions that are written.
    fn given(&self) -> Result<Vec<(Dim, Expr)>, Diagnostic> {
        let all = [
            (Dim::Chip, self.chip()?),
            (Dim::Cluster, self.cluster()?),
            (Dim::Slice, self.slice()?),
            (Dim::Pe, self.pe()?),
            (Dim::Row, self.row()?),
            (Dim::Element, self.element()?),
        ];
        Ok(all.into_iter().filter_map(|(dim, map)| Some((dim, (*map?).clone()))).collect())
    }
}

fn infer_transpose(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let source = source(op)?;
    let (from, to) = renamed_axes(op)?;
    let names: Vec<(String, String)> = from.into_iter().zip(to).collect();
    let maps = source.maps.iter().map(|map| {
        renamed(map, &names).ok_or_else(|| {
            op.error("C2", format!("`{map}` uses an alias, which cannot be renamed: write it out"))
        })
    });
    let maps = maps.collect::<Result<Vec<_>, _>>()?;
    Ok(vec![make(op.ctx, Tensor { maps, ..(*source).clone() })])
}

fn source(op: OpRef<'_>) -> Result<std::rc::Rc<Tensor>, Diagnostic> {
    ViewOp::seen(op).source()?.of_type()
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &cx.analysis::<DeclaredAxes>().0;
    check_mappings(op, axes)?;
    let Some(kind) = view::kind(op) else { return Ok(()) };
    match kind {
        ViewKind::Slice => check_slice(op, axes),
        ViewKind::Tile => check_tile(op, &cx.analysis::<Frames>(), axes),
        ViewKind::Padding => check_padding(op, axes),
        ViewKind::Reshape | ViewKind::Window => check_relabelled(op, kind, axes),
        ViewKind::Relabel => check_relabel(op, axes),
        ViewKind::Transpose => check_transpose(op, axes),
    }
}

/// Relabellings: each dimension keeps its positions, and each new index is at one of them.
fn check_relabel(op: OpRef<'_>, axes: &Axes) -> Result<(), Diagnostic> {
    for own in view::relabellings(op, axes)? {
        let changed = own.0.iter().filter(|part| part.old != part.new);
        for Part { dim, old, new } in changed.clone() {
            let clause = dim.name();
            let size =
                |map: &Expr| map.size(axes).map_err(|error| mapping_error(error, op.clause_span(clause)));
            let (before, after) = (size(old)?, size(new)?);
            if before != after {
                let message =
                    format!("`{new}` has {}, where `{old}` has {before}", counted(after, "position"));
                return Err(op.clause_error("C1", clause, message));
            }
        }
        let Some(clause) = changed.map(|part| part.dim.name()).next_back() else { continue };
        let new = own.holds();
        let placed = digits(&new, axes)
            .map(|found| place(&found, 1))
            .map_err(|error| op.clause_error("C2", clause, format!("cannot relabel as `{new}`: {error}")))?;
        if !is_injective(&placed) {
            return Err(op.clause_error(
                "C2",
                clause,
                format!("`{new}` holds an index at several positions"),
            ));
        }
    }
    Ok(())
}

fn undecided(op: OpRef<'_>, error: MapError) -> Diagnostic {
    mapping_error(error, op.clause_span("element"))
}

/// A view is at an address, which is a byte's.
fn check_whole_byte(op: OpRef<'_>, constraint: &str, start: i64) -> Result<(), Diagnostic> {
    let dtype = source(op)?.dtype;
    if dtype.bits() >= 8 || start % 2 == 0 {
        return Ok(());
    }
    let message = format!("the view starts at element {start} of `{dtype}`, in the middle of a byte");
    Err(op.clause_error(constraint, "element", message).fix(Some("start it at an even element".to_owned())))
}

/// Slices: the elements of the view are in the source, the start of the slice further.
fn check_slice(op: OpRef<'_>, axes: &Axes) -> Result<(), Diagnostic> {
    let start = view::slice_start(op, axes)?;
    check_whole_byte(op, "C3", start.cast_signed())?;
    tile::check_part(op, (&own_element(op)?, &Index::new()), (&element(op)?, start), axes)
}

/// Tiles: the same of each, moved by its first index.
fn check_tile(op: OpRef<'_>, frames: &Frames, axes: &Axes) -> Result<(), Diagnostic> {
    let check = |tile: &tile::Tile<'_>| {
        let starts = tile.starts()?;
        let moves = starts.terms.iter().map(|term| term.factor);
        std::iter::once(starts.base).chain(moves).try_for_each(|start| check_whole_byte(op, "C4", start))
    };
    let tiles = view::tile(op, axes)?;
    frames.check_tiles(op, ViewOp::seen(op).source()?.id, &tiles)?;
    tiles.map(check).map(drop)
}

/// Pad and unpad: the same elements at the same positions.
fn check_padding(op: OpRef<'_>, axes: &Axes) -> Result<(), Diagnostic> {
    let (ours, theirs) = (own_element(op)?, element(op)?);
    let size = |map: &Expr| map.size(axes).map_err(|error| undecided(op, error));
    let (long, short) = (size(&ours)?, size(&theirs)?);
    let pads = op.is(&PAD);
    if (pads && long < short) || (!pads && long > short) {
        let (other, than) = if pads { ("tm.unpad", "fewer") } else { ("tm.pad", "more") };
        let message =
            format!("`{ours}` has {}, {than} than `{theirs}` with {short}", counted(long, "position"));
        return Err(op.clause_error("C3", "element", message).fix(Some(format!("use `{other}`"))));
    }
    let common = long.min(short);
    let cut = |map: &Expr| map.clone().resize(common);
    match refines(&cut(&ours), &cut(&theirs), axes) {
        Refinement::Refines => {}
        Refinement::Violated { at, left, right } => {
            let (left, right) = (describe(left.as_ref(), axes), describe(right.as_ref(), axes));
            let message = format!("`{ours}` holds {left} at position {at}, where `{theirs}` holds {right}");
            return Err(op.clause_error("C2", "element", message));
        }
        Refinement::Unknown { why } => return Err(op.clause_error("C2", "element", why)),
    }
    // Refinement may fill don't-care padding; a view may not. And the positions left out or added must be padding.
    let missing = |part: &Expr, whole: &Expr| {
        first_missing(part, &Index::new(), whole, 0, axes).map_err(|error| undecided(op, error))
    };
    if let Some(at) = missing(&ours, &theirs)? {
        let message = format!("`{ours}` holds an element at position {at}, `{theirs}` does not");
        return Err(op.clause_error("C2", "element", message));
    }
    match missing(&theirs, &ours)? {
        Some(at) => {
            let message = format!("`{theirs}` holds an element at position {at}, which `{ours}` leaves out");
            Err(op.clause_error("C3", "element", message).fix(Some("use `tm.slice` for a part".to_owned())))
        }
        None => Ok(()),
    }
}

/// Reshapes and windows: the same positions under other axes.
fn check_relabelled(op: OpRef<'_>, kind: ViewKind, axes: &Axes) -> Result<(), Diagnostic> {
    let (ours, theirs) = (own_element(op)?, element(op)?);
    let windows =
        if kind == ViewKind::Window { windows(&ours, axes) } else { Ok(Opaque::new(Vec::new(), axes)) };
    let windows = windows.map_err(|error| undecided(op, error))?;
    let whole = windows.view(&ours).map_err(|error| undecided(op, error))?;
    let unlike = first_unlike(&whole, &theirs, &windows.axes).map_err(|error| undecided(op, error))?;
    if let Some(at) = unlike {
        let cell = |map: &Expr| describe(visa_algebra::map(map, axes, at).as_ref(), axes);
        let (left, right) = (cell(&ours), cell(&theirs));
        let message = format!("`{ours}` holds {left} at position {at}, where `{theirs}` holds {right}");
        return Err(op
            .clause_error("C2", "element", message)
            .fix(Some("use `tm.pad`, `tm.unpad`, `tm.tile` or `tm.slice` to change an extent".to_owned())));
    }
    for (map, slides) in [(&ours, kind == ViewKind::Window), (&theirs, false)] {
        let placed =
            if slides { place_expr(map, axes, 1) } else { digits(map, axes).map(|found| place(&found, 1)) };
        let placed = placed
            .map_err(|error| op.clause_error("C3", "element", format!("cannot relabel `{map}`: {error}")))?;
        if !is_injective(&placed) {
            return Err(op.clause_error(
                "C3",
                "element",
                format!("`{map}` holds an index at several positions"),
            ));
        }
    }
    check_others_keep_names(op, axes)
}

/// The sliding terms of a mapping as opaque axes.
fn windows(map: &Expr, axes: &Axes) -> Result<Opaque, MapError> {
    let terms = padded_terms(&[map], axes)?.into_iter().filter(|term| term.slides);
    Ok(Opaque::new(terms.collect(), axes))
}

/// C4 of a reshape and of a window.
fn check_others_keep_names(op: OpRef<'_>, axes: &Axes) -> Result<(), Diagnostic> {
    let others = other_axes(op, axes)?;
    let [ours, theirs] = relabelled_terms(op, axes)?;
    let named = ours.axis_names(axes).into_iter().chain(theirs.axis_names(axes));
    match named.into_iter().find(|name| others.contains(name)) {
        Some(name) => {
            let message = format!(
                "axis `{name}` occurs in another dimension of the tensor too, where it keeps its name"
            );
            Err(op.clause_error("C4", "element", message))
        }
        None => Ok(()),
    }
}

/// The element mappings of a view and of its source, in the terms that a reshape or a window relabels. If other
/// dimensions have axes of these mappings, equal terms around the others are left out.
///
/// # Errors
/// An operation without its clauses.
pub fn relabelled_terms(op: OpRef<'_>, axes: &Axes) -> Result<[Expr; 2], Diagnostic> {
    let (ours, theirs) = (own_element(op)?, element(op)?);
    let others = other_axes(op, axes)?;
    if !ours.axis_names(axes).iter().chain(&theirs.axis_names(axes)).any(|name| others.contains(name)) {
        return Ok([ours, theirs]);
    }
    let (own, source) = (ours.terms(), theirs.terms());
    let equal = |pairs: &mut dyn Iterator<Item = (&&Expr, &&Expr)>| {
        pairs.take_while(|(one, other)| one == other).count()
    };
    let first = equal(&mut own.iter().zip(&source));
    let last = equal(&mut own[first..].iter().rev().zip(source[first..].iter().rev()));
    let changed =
        |terms: &[&Expr]| Expr::pair(terms[first..terms.len() - last].iter().map(|term| (*term).clone()));
    Ok([changed(&own), changed(&source)])
}

/// The axes of a view's source in other dimensions than elements.
fn other_axes(op: OpRef<'_>, axes: &Axes) -> Result<Vec<Arc<str>>, Diagnostic> {
    let source = source(op)?;
    let dims = source.kind.dims.iter().zip(&source.maps);
    let maps = dims.filter(|(dim, _)| **dim != Dim::Element).map(|(_, map)| map.clone()).collect();
    Ok(Tensor { maps, ..(*source).clone() }.axis_names(axes))
}

/// Returns true if each index has one position: no broadcast, and no digits of an axis that overlap.
fn is_injective(placed: &Placement) -> bool {
    let digits = || placed.digits.iter().map(|placed| &placed.digit);
    let broadcast = digits().any(|digit| digit.axis.is_none() && digit.live > 1);
    let mut axes: BTreeMap<AxisId, Vec<&Digit>> = BTreeMap::new();
    for (axis, digit) in digits().filter_map(|digit| Some((digit.axis?, digit))) {
        axes.entry(axis).or_default().push(digit);
    }
    let apart = axes.into_values().all(|mut own| {
        own.sort_by_key(|digit| digit.stride);
        let mut reach = 0;
        own.iter().all(|digit| {
            let above = digit.stride > reach;
            reach += digit.stride * (digit.live - 1);
            above
        })
    });
    !broadcast && apart
}

fn check_transpose(op: OpRef<'_>, axes: &Axes) -> Result<(), Diagnostic> {
    let pairs = renaming(op, axes)?;
    let (from, to) = renamed_axes(op)?;
    let refuse = |why: String| Err(op.clause_error("C1", "to", why));
    if from.len() != to.len() {
        return refuse(format!("{} are renamed to {}", counted(from.len(), "axis"), to.len()));
    }
    for names in [&from, &to] {
        if let Some(twice) = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
            return refuse(format!("axis `{}` is listed twice", twice.1));
        }
    }
    if let Some((a, b)) = pairs.iter().find(|(a, b)| axes.size(*a) != axes.size(*b)) {
        let (name, size) = (|id| axes.name(id).to_owned(), |id| axes.size(id));
        return refuse(format!(
            "`{}` has {}, `{}` has {}",
            name(*a),
            counted(size(*a), "position"),
            name(*b),
            size(*b)
        ));
    }
    let mentioned = source(op)?.axis_names(axes);
    let skewed = |name: &str| axes.id(name).is_some_and(|id| axes.skew(id).is_some());
    if let Some(name) =
        mentioned.iter().map(|name| &**name).chain(to.iter().map(|name| &**name)).find(|name| skewed(name))
    {
        return refuse(format!(
            "`{name}` is a skewed axis, which follows from others: such a tensor is not transposed"
        ));
    }
    match to.iter().find(|name| !from.contains(name) && mentioned.iter().any(|own| **own == ***name)) {
        Some(name) => refuse(format!("the tensor has an axis `{name}` already")),
        None => Ok(()),
    }
}
