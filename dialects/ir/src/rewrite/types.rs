//! Conversion of types.

use super::{NoMatch, Rewriter};
use crate::context::Context;
use crate::module::{OpId, TypeId, ValueId};

/// The converted type; `None` if the function does not handle the type.
pub type ConvertTypeFn = fn(&Context, TypeId) -> Option<TypeId>;

/// Makes of a value one of another type, by operations before the given one; `None` if it cannot.
pub type MaterializeFn = fn(&mut Rewriter<'_>, ValueId, TypeId, OpId) -> Option<ValueId>;

/// Functions from types to types. The first one that handles a type decides; a type that none handles stays.
#[derive(Clone, Copy, Debug, Default)]
pub struct TypeConverter {
    /// The functions, in the order in which they are asked.
    pub types: &'static [ConvertTypeFn],
    /// Makes the conversion between converted operations and others, in both directions.
    pub materialize: Option<MaterializeFn>,
}

impl TypeConverter {
    /// The type that `ty` becomes.
    #[must_use]
    pub fn convert(&self, ctx: &Context, ty: TypeId) -> TypeId {
        self.types.iter().find_map(|convert| convert(ctx, ty)).unwrap_or(ty)
    }

    /// Returns true if a type stays.
    #[must_use]
    pub fn keeps(&self, ctx: &Context, ty: TypeId) -> bool {
        self.convert(ctx, ty) == ty
    }

    /// A value of type `ty` with the content of `value`, created before `anchor` unless it has that type already.
    ///
    /// # Errors
    /// If nothing makes one.
    pub(super) fn value(
        &self,
        rewriter: &mut Rewriter<'_>,
        value: ValueId,
        ty: TypeId,
        anchor: OpId,
    ) -> Result<ValueId, NoMatch> {
        let found = rewriter.module().ty(value);
        if found == ty {
            return Ok(value);
        }
        let made = self.materialize.and_then(|materialize| materialize(rewriter, value, ty, anchor));
        made.ok_or_else(|| {
            let (found, wanted) = (rewriter.ctx.type_text(found), rewriter.ctx.type_text(ty));
            NoMatch::because(format!(
                "nothing makes `{wanted}` of `{found}`: the type converter has no materialization for it"
            ))
        })
    }
}
