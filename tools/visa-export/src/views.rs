//! Views of tensors, written where they are used: a variable for a view would borrow its tensor.

use crate::body::Body;
use crate::refusals::{Export, refuse};
use crate::values::{Linear, Ownership, Step, Variable, View};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use std::rc::Rc;
use visa_algebra::{Expr, PadKind};
use visa_ir::module::{OpRef, ValueId};
use visa_mapping::ops::to_tile::{TileWrite, part};
use visa_mapping::ops::view;
use visa_mapping::view::tile::layout;
use visa_mapping::{DM, Dim, HBM, TRF, Tensor, VRF};

/// A tile of a tensor, as clauses give it.
struct TileParts {
    along: Rc<Expr>,
    size: i64,
    index: i64,
    first: Vec<ValueId>,
}

/// A tensor as an operand: its expression, and the tensor that it borrows.
pub(crate) struct Operand {
    /// A view, or the variable if it is all of it.
    pub(crate) tokens: TokenStream,
    /// True if it is a variable, and no view.
    pub(crate) is_whole: bool,
    /// The tensor that is borrowed.
    pub(crate) root: ValueId,
}

impl Operand {
    /// The operand as a view.
    pub(crate) fn into_view(self) -> Self {
        let tokens = &self.tokens;
        let tokens = if self.is_whole { quote!(#tokens.view()) } else { quote!(#tokens) };
        Self { tokens, is_whole: false, ..self }
    }
}

impl Body<'_, '_> {
    /// A tensor that is read.
    pub(crate) fn operand(&self, op: OpRef<'_>, value: ValueId) -> Export<Operand> {
        let Some(view) = self.views.get(&value) else {
            let name = &self.variable(op, value)?.name;
            return Ok(Operand { tokens: quote!(#name), is_whole: true, root: self.roots.root(value) });
        };
        let name = &self.variable(op, view.of)?.name;
        let tokens = view.steps.iter().fold(quote!(#name.view()), |view, step| step.on(&view));
        Ok(Operand { tokens, is_whole: false, root: self.roots.root(view.of) })
    }

    /// The part of a tensor that other mappings read, as a view.
    pub(crate) fn read_part(&mut self, op: OpRef<'_>, value: ValueId, read: &[Expr]) -> Export<Operand> {
        let source = self.tensor(op, value)?;
        let steps = self.read_parts(op, &source, read)?;
        if steps.is_empty() {
            return self.operand(op, value);
        }
        let view = self.read_view(op, value)?;
        let tokens = steps.iter().fold(view.tokens, |view, step| step.on(&view));
        Ok(Operand { tokens, ..view })
    }

    /// A tensor that is read, as a view.
    pub(crate) fn read_view(&self, op: OpRef<'_>, value: ValueId) -> Export<Operand> {
        Ok(self.operand(op, value)?.into_view())
    }

    /// `tm.tile`.
    pub(crate) fn tile(&mut self, op: OpRef<'_>) -> Export<()> {
        let tile = view::Tile::of(op)?;
        let (source, result) = (tile.source()?, tile.result_view()?);
        let parts = TileParts {
            along: tile.along()?,
            size: tile.size()?,
            index: tile.index()?,
            first: tile.first().map(|first| first.id).collect(),
        };
        let (whole, own) = (source.of_type::<Tensor>()?, result.of_type::<Tensor>()?);
        let steps = self.tile_steps(op, &parts, (&whole, &own))?;
        self.view(op, source.id, result.id, steps)
    }

    /// The tile that an operation writes, as a view of the tensor.
    pub(crate) fn written_tile(&mut self, op: OpRef<'_>, write: TileWrite<'_>) -> Export<TokenStream> {
        let name = self.changed(op, write.tensor()?.id)?;
        let parts = TileParts {
            along: write.along()?,
            size: write.size()?,
            index: write.index()?,
            first: write.first().map(|first| first.id).collect(),
        };
        let whole = write.tensor()?.of_type::<Tensor>()?;
        let own = part(write, self.file.mappings.axes)?;
        let steps = self.tile_steps(op, &parts, (&whole, &own))?;
        Ok(steps.iter().fold(quote!(#name.view_mut()), |view, step| step.on(&view)))
    }

    /// The method calls that cut a tile out of a tensor.
    fn tile_steps(
        &mut self,
        op: OpRef<'_>,
        parts: &TileParts,
        (whole, own): (&Tensor, &Tensor),
    ) -> Export<Vec<Step>> {
        let axes = self.file.mappings.axes;
        let first: Vec<Linear> =
            parts.first.iter().map(|&value| self.number(op, value)).collect::<Export<_>>()?;
        let [.., _, _] = &*first else {
            let start = first.first().cloned().unwrap_or_default().add(&Linear::of(parts.index), 1);
            let start = start.ok_or_else(|| refuse(op, "the tile begins past 64 bits"))?;
            let step = self.tile_step(op, (&parts.along, parts.size), &start, (whole, own))?;
            return Ok(step.into_iter().collect());
        };
        // A term of `along` for each index: a tile of a tile.
        let terms: Vec<Expr> = parts.along.terms().into_iter().cloned().collect();
        let mut steps = Vec::new();
        let mut before = whole.clone();
        for (at, (term, start)) in terms.iter().zip(&first).enumerate() {
            let after = if at + 1 == terms.len() {
                own.clone()
            } else {
                let mut maps = layout(op, None, (term, 1), 1, &before, axes)?;
                if own.maps.iter().any(has_bottom) {
                    maps.iter_mut().for_each(|(_, map)| *map = visa_mapping::view::tile::keeping(map));
                }
                Tensor::build(before.kind, None, before.dtype, &maps, &before)
                    .map_err(|dim| refuse(op, format!("the {dim} mapping of the tile is not known")))?
            };
            steps.extend(self.tile_step(op, (term, 1), start, (&before, &after))?);
            before = after;
        }
        Ok(steps)
    }

    /// One method call that cuts a tile; `None` if the tile is the whole tensor.
    fn tile_step(
        &mut self,
        op: OpRef<'_>,
        (along, size): (&Expr, i64),
        start: &Linear,
        (whole, own): (&Tensor, &Tensor),
    ) -> Export<Option<Step>> {
        let dims = whole.kind.dims.iter().copied();
        let cut: Vec<Dim> = dims.filter(|&dim| whole.dim(dim) != own.dim(dim)).collect();
        let dim = match *cut {
            [] => return Ok(None),
            [dim] => dim,
            _ => return Err(refuse(op, "a tile along two dimensions, and the language's tiles have one")),
        };
        let method = match (dim, whole.kind) {
            (Dim::Element, kind) if kind.is_one_of(&[&HBM, &DM]) => "tile",
            (Dim::Chip, kind) if kind.is_one_of(&[&HBM, &DM]) => "chip_tile",
            (Dim::Cluster, kind) if kind.is_one_of(&[&DM]) => "cluster_tile",
            (Dim::Slice, kind) if kind.is_one_of(&[&DM]) => "slice_tile",
            (dim, kind) => {
                let (dim, kind) = (dim.name(), kind.def.name);
                return Err(refuse(
                    op,
                    format!("the language has no tiles along `{dim}` of tensors `!{kind}`"),
                ));
            }
        };
        let (method, along) = (format_ident!("{method}"), self.map(op, along)?);
        let held = self.map(op, &without_single(&own.dim(dim)))?;
        let size = Literal::i64_unsuffixed(size);
        let start = start.expression(op)?;
        Ok(Some(Step { call: quote!(.#method::<#along, #size, #held>(#start)), is_unsafe: false }))
    }

    /// `tm.slice`: a tile of each axis that it shortens.
    pub(crate) fn slice(&mut self, op: OpRef<'_>) -> Export<()> {
        let slice = view::Slice::of(op)?;
        let (source, result) = (slice.source()?, slice.result_view()?);
        let (whole, own) = (source.of_type::<Tensor>()?, result.of_type::<Tensor>()?);
        let steps = self.shortened(op, (&whole.dim(Dim::Element), &own.dim(Dim::Element)), false)?;
        self.view(op, source.id, result.id, steps)
    }

    /// `tm.pad`.
    pub(crate) fn pad(&mut self, op: OpRef<'_>) -> Export<()> {
        let pad = view::Pad::of(op)?;
        self.shaped(op, (pad.source()?.id, pad.result_view()?.id), "pad", &[&HBM, &DM])
    }

    /// `tm.unpad`.
    pub(crate) fn unpad(&mut self, op: OpRef<'_>) -> Export<()> {
        let unpad = view::Unpad::of(op)?;
        self.shaped(op, (unpad.source()?.id, unpad.result_view()?.id), "unpad", &[&DM])
    }

    fn shaped(
        &mut self,
        op: OpRef<'_>,
        (source, result): (ValueId, ValueId),
        method: &str,
        kinds: &[&'static visa_mapping::TensorKind],
    ) -> Export<()> {
        let own = self.tensor(op, result)?;
        if !own.kind.is_one_of(kinds) {
            let kind = own.kind.def.name;
            return Err(refuse(op, format!("the language has no `{method}` of tensors `!{kind}`")));
        }
        let (method, element) = (format_ident!("{method}"), self.map(op, &own.dim(Dim::Element))?);
        let step = Step { call: quote!(.#method::<#element>()), is_unsafe: false };
        self.view(op, source, result, vec![step])
    }

    /// `tm.reshape`, which the language does not check.
    pub(crate) fn reshape(&mut self, op: OpRef<'_>) -> Export<()> {
        let reshape = view::Reshape::of(op)?;
        self.relabelled(op, (reshape.source()?.id, reshape.result_view()?.id))
    }

    /// `tm.relabel`.
    pub(crate) fn relabel(&mut self, op: OpRef<'_>) -> Export<()> {
        let relabel = view::Relabel::of(op)?;
        self.relabelled(op, (relabel.source()?.id, relabel.result_view()?.id))
    }

    /// `tm.transpose`: other names of the axes, at the same positions.
    pub(crate) fn transposed(&mut self, op: OpRef<'_>) -> Export<()> {
        let transpose = view::Transpose::of(op)?;
        self.relabelled(op, (transpose.source()?.id, transpose.result_view()?.id))
    }

    fn relabelled(&mut self, op: OpRef<'_>, (source, result): (ValueId, ValueId)) -> Export<()> {
        let own = self.tensor(op, result)?;
        if own.kind.is_one_of(&[&TRF, &VRF]) {
            return self.renamed_file(op, source, (result, &own));
        }
        if !own.kind.is_one_of(&[&HBM, &DM]) {
            let kind = own.kind.def.name;
            return Err(refuse(op, format!("the language has no `reshape` of a view of `!{kind}`")));
        }
        let mut maps = Vec::new();
        for (&dim, map) in own.kind.dims.iter().zip(&own.maps) {
            maps.push(self.dim_type(op, dim, map)?);
        }
        let step = Step { call: quote!(.reshape::<#(#maps),*>()), is_unsafe: true };
        self.view(op, source, result, vec![step])
    }

    /// A register file under other mappings, as a reference: the language has no views of them.
    fn renamed_file(
        &mut self,
        op: OpRef<'_>,
        source: ValueId,
        (result, own): (ValueId, &Tensor),
    ) -> Export<()> {
        let (ty, given) = (self.tensor_type(op, own)?, self.borrowed(op, source)?);
        let comments = self.comments_of(op);
        self.comment(&comments);
        let name = self.declare(op, result, Ownership::Shared);
        self.statement(quote!(let #name: &#ty = unsafe { std::mem::transmute(#given) };));
        Ok(())
    }

    /// A reference to a register file.
    pub(crate) fn borrowed(&self, op: OpRef<'_>, file: ValueId) -> Export<TokenStream> {
        let Variable { name, ownership } = self.variable(op, file)?;
        Ok(match ownership {
            Ownership::Owned => quote!(&#name),
            Ownership::Shared | Ownership::Changed => quote!(#name),
        })
    }

    /// Makes a value a view of another one, with further method calls.
    fn view(&mut self, op: OpRef<'_>, source: ValueId, result: ValueId, steps: Vec<Step>) -> Export<()> {
        let kind = self.tensor(op, source)?.kind;
        if kind.is_one_of(&[&TRF, &VRF]) {
            return Err(refuse(op, "the language has no views of register files"));
        }
        let mut view = match self.views.get(&source) {
            Some(view) => view.clone(),
            None => View { of: source, steps: Vec::new() },
        };
        view.steps.extend(steps);
        self.views.insert(result, view);
        let comments = self.comments_of(op);
        self.comment(&comments);
        Ok(())
    }
}

/// Membership of a kind of tensors in a list.
pub(crate) trait OneOf {
    /// Returns true if the kind is in the list.
    fn is_one_of(&self, kinds: &[&'static visa_mapping::TensorKind]) -> bool;
}

impl OneOf for &'static visa_mapping::TensorKind {
    fn is_one_of(&self, kinds: &[&'static visa_mapping::TensorKind]) -> bool {
        kinds.iter().any(|own| std::ptr::eq(*own, *self))
    }
}

/// The mapping with `1` where a term has one position of an axis, as authors write tiles.
fn without_single(map: &Expr) -> Expr {
    if let Expr::Resize { size: 1, .. } = map {
        return Expr::Literal(1);
    }
    map.map_children(|child| Ok::<_, std::convert::Infallible>(without_single(child)))
        .unwrap_or_else(|_| map.clone())
}

/// Returns true if a mapping has padding that must not be written.
fn has_bottom(map: &Expr) -> bool {
    matches!(map, Expr::Pad { kind: PadKind::Bottom, .. }) || map.children().into_iter().any(has_bottom)
}
