//! Clauses that several operations have: the mappings of a tensor, and a tile of one.

use crate::emit::{new, with};
use std::rc::Rc;
use visa_algebra::Expr;
use visa_ir::build::NewOp;
use visa_ir::context::Context;
use visa_ir::module::ValueId;
use visa_mapping::ops::to_tile::{TileWriteBuilder, ToTile};
use visa_mapping::ops::view::{Tile, TileBuilder};
use visa_stream::ops::commit_tile::CommitTile;

/// The explicit mappings of a tensor as clauses.
pub(crate) struct Dims {
    pub(crate) chip: Option<Expr>,
    pub(crate) cluster: Option<Expr>,
    pub(crate) slice: Option<Expr>,
    pub(crate) pe: Option<Expr>,
    pub(crate) row: Option<Expr>,
    pub(crate) element: Option<Expr>,
}

/// A tile of a tensor, as operands and clauses specify it.
pub(crate) struct TilePart {
    /// Indices that are added to the first position.
    pub(crate) first: Vec<ValueId>,
    pub(crate) along: Expr,
    /// Its positions, if they are not one.
    pub(crate) size: Option<i64>,
    pub(crate) index: Option<i64>,
    pub(crate) element: Option<Expr>,
}

impl TilePart {
    /// The tile at one known position.
    pub(crate) fn at(along: Expr, index: i64) -> Self {
        Self { first: Vec::new(), along, size: None, index: Some(index), element: None }
    }

    /// The tile of a tensor as a view.
    pub(crate) fn tile(self, ctx: &Context, source: ValueId) -> NewOp<'_> {
        let Self { first, along, size, index, element } = self;
        let new = new!(ctx, Tile, std::iter::once(source).chain(first)).along(along.into());
        let new = with(new, size, TileBuilder::size);
        with(new, index, TileBuilder::index).element(element.map(Rc::new)).into()
    }

    /// A transfer of a tensor into the tile of another one.
    pub(crate) fn transfer(self, ctx: &Context, source: ValueId, tensor: ValueId) -> NewOp<'_> {
        let operands = [source, tensor].into_iter().chain(self.first.iter().copied());
        let new = new!(ctx, ToTile, operands.collect::<Vec<_>>());
        new.common(|write| self.clauses(write)).into()
    }

    /// A commit of a stream into the tile of a tensor.
    pub(crate) fn commit(self, ctx: &Context, stream: ValueId, tensor: ValueId) -> NewOp<'_> {
        let operands = [stream, tensor].into_iter().chain(self.first.iter().copied());
        let new = new!(ctx, CommitTile, operands.collect::<Vec<_>>());
        new.common(|write| self.clauses(write)).into()
    }

    fn clauses(self, write: TileWriteBuilder<'_>) -> TileWriteBuilder<'_> {
        let write = with(write.along(self.along.into()), self.size, TileWriteBuilder::size);
        with(write, self.index, TileWriteBuilder::index).element(self.element.map(Rc::new))
    }
}
