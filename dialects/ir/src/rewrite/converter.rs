//! The interface of conversion patterns.

use super::{NoMatch, Rewriter, TypeConverter};
use crate::decl::OpDecl;
use crate::module::{BlockId, OpId, OpRef, OpSpec, TypeId, ValueId};
use rustc_hash::FxBuildHasher as Fast;
use std::collections::HashMap;
use std::fmt;

/// Converts an operation, or returns the reason for no match. It receives the operands with their converted types.
pub type ConvertFn<S = ()> = fn(&mut Converter<'_, S>, OpId, &[ValueId]) -> Result<(), NoMatch>;

/// A rewrite of an illegal operation into legal ones, declared as data. It sees the state `S` of the conversion.
pub struct ConversionPattern<S: 'static = ()> {
    /// Its name, for messages and statistics.
    pub name: &'static str,
    /// Its effect and the reason that it preserves the semantics, in one line.
    pub summary: &'static str,
    /// The operation that it converts; it is tried on every illegal one if there is none.
    pub root: Option<&'static OpDecl>,
    /// Of several patterns for an operation, the one with the greatest benefit is tried first; of equal ones, the
    /// one that was given first.
    pub benefit: u32,
    /// The conversion.
    pub convert: ConvertFn<S>,
}

impl<S> fmt::Debug for ConversionPattern<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A module while conversion patterns change it.
pub struct Converter<'a, S = ()> {
    /// For all changes but replacements and arguments.
    pub rewriter: Rewriter<'a>,
    /// State of the conversion in addition to the module.
    pub state: &'a S,
    pub(super) types: TypeConverter,
    /// Values whose type was converted, with the type that they had.
    pub(super) converted: HashMap<ValueId, TypeId, Fast>,
}

impl<S> Converter<'_, S> {
    /// A view of an operation.
    #[must_use]
    pub fn op(&self, id: OpId) -> OpRef<'_> {
        self.rewriter.op(id)
    }

    /// The type that `ty` becomes.
    #[must_use]
    pub fn convert_type(&self, ty: TypeId) -> TypeId {
        self.types.convert(self.rewriter.ctx, ty)
    }

    /// Makes each result of `op` the value in its place, which has the type that the result's type becomes, and
    /// erases `op`.
    ///
    /// # Errors
    /// If there are more or fewer values than results, or one is of another type. Nothing has changed then.
    pub fn replace(&mut self, op: OpId, values: &[ValueId]) -> Result<(), NoMatch> {
        let old: Vec<(ValueId, TypeId)> = self.results(op);
        let fits = |(&value, &(_, ty)): (&ValueId, &(ValueId, TypeId))| {
            self.rewriter.module().ty(value) == self.convert_type(ty)
        };
        if values.len() != old.len() || !values.iter().zip(&old).all(fits) {
            // A value of the old type is right too: a user that needs the new one gets it materialized.
            self.rewriter.check_replacement(op, values)?;
        }
        for (&new, (_, ty)) in values.iter().zip(old) {
            self.note(new, ty);
        }
        self.rewriter.replace_as(op, values);
        Ok(())
    }

    /// Makes each result of `op` the result in its place of a new operation before it, and erases `op`.
    ///
    /// # Errors
    /// As for [`Self::replace`]; the new operation is erased again then.
    pub fn replace_with(&mut self, op: OpId, spec: OpSpec) -> Result<OpId, NoMatch> {
        let made = self.rewriter.insert_before(op, spec);
        let values = self.op(made).results().to_vec();
        self.replace(op, &values).inspect_err(|_| self.rewriter.erase(made))?;
        Ok(made)
    }

    /// Checks that some values are unused, so that their operations can be erased.
    ///
    /// # Errors
    /// The operation that still uses one.
    pub fn unused(&self, values: &[ValueId]) -> Result<(), NoMatch> {
        let module = self.rewriter.module();
        match values.iter().flat_map(|&value| module.uses(value)).next() {
            None => Ok(()),
            Some(&user) => Err(NoMatch::because(format!("`{}` uses its result", self.op(user).name()))),
        }
    }

    /// Gives the arguments of a block their converted types.
    pub fn convert_arguments(&mut self, block: BlockId) {
        for argument in self.rewriter.module().args(block).to_vec() {
            let old = self.rewriter.module().ty(argument);
            let new = self.convert_type(old);
            if new != old {
                self.rewriter.set_type(argument, new);
                self.note(argument, old);
            }
        }
    }

    /// Stores the type that the users of a value expect.
    fn note(&mut self, value: ValueId, old: TypeId) {
        if self.rewriter.module().ty(value) != old {
            self.converted.entry(value).or_insert(old);
        }
    }

    fn results(&self, op: OpId) -> Vec<(ValueId, TypeId)> {
        let op = self.op(op);
        op.results().iter().map(|&result| (result, op.module.ty(result))).collect()
    }
}
