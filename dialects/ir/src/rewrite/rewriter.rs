//! All changes of a rewrite go through a [`Rewriter`]: it collects the operations to visit again.

use crate::context::Context;
use crate::diag::{Diagnostic, counted};
use crate::module::{AttrId, BlockId, Module, OpId, OpRef, OpSpec, TypeId, ValueId};
use std::collections::HashMap;

/// A module while patterns change it.
pub struct Rewriter<'a> {
    /// The context.
    pub ctx: &'a Context,
    module: &'a mut Module,
    changes: u64,
    touched: Vec<OpId>,
    created: Vec<OpId>,
}

impl<'a> Rewriter<'a> {
    /// A rewriter of `module`.
    #[must_use]
    pub fn new(ctx: &'a Context, module: &'a mut Module) -> Self {
        Self { ctx, module, changes: 0, touched: Vec::new(), created: Vec::new() }
    }

    /// The module as it is now.
    #[must_use]
    pub fn module(&self) -> &Module {
        self.module
    }

    /// A view of an operation.
    #[must_use]
    pub fn op(&self, id: OpId) -> OpRef<'_> {
        self.module.op(self.ctx, id)
    }

    /// Number of changes.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// The operations to visit after the changes since the last call, in the order of the changes; erased operations
    /// may be among them.
    pub(super) fn take_touched(&mut self) -> Vec<OpId> {
        std::mem::take(&mut self.touched)
    }

    /// The operations that were made since the last call, in their order; erased ones may be among them.
    pub(super) fn take_created(&mut self) -> Vec<OpId> {
        std::mem::take(&mut self.created)
    }

    /// Inserts an operation directly before `anchor`.
    pub fn insert_before(&mut self, anchor: OpId, spec: OpSpec) -> OpId {
        let made = self.module.insert_before(anchor, spec);
        self.made(made)
    }

    /// Appends an operation to a block.
    pub fn append(&mut self, block: BlockId, spec: OpSpec) -> OpId {
        let made = self.module.append(block, spec);
        self.made(made)
    }

    /// Gives an operation one more region, and returns its block.
    pub fn add_region(&mut self, op: OpId) -> BlockId {
        self.changed(op);
        self.module.add_region(op)
    }

    /// Makes each result of `op` the value in its place, and erases `op`.
    ///
    /// # Errors
    /// If there are more or fewer values than results, or one is of another type. Nothing has changed then.
    pub fn replace(&mut self, op: OpId, values: &[ValueId]) -> Result<(), Diagnostic> {
        self.check_replacement(op, values)?;
        self.replace_as(op, values);
        Ok(())
    }

    /// Makes each result of `op` the result in its place of a new operation before it, and erases `op`.
    ///
    /// # Errors
    /// If the new operation has more or fewer results, or one is of another type. Nothing has changed then.
    pub fn replace_with(&mut self, op: OpId, spec: OpSpec) -> Result<OpId, Diagnostic> {
        check_types(self.op(op), spec.result_types())?;
        let made = self.insert_before(op, spec);
        let values = self.op(made).results().to_vec();
        self.replace_as(op, &values);
        Ok(made)
    }

    /// Checks that values can replace the results of `op`.
    ///
    /// # Errors
    /// If there are more or fewer, or one is of another type.
    pub fn check_replacement(&self, op: OpId, values: &[ValueId]) -> Result<(), Diagnostic> {
        let types: Vec<TypeId> = values.iter().map(|&value| self.module.ty(value)).collect();
        check_types(self.op(op), &types)
    }

    /// Replaces results by values of any types.
    pub(super) fn replace_as(&mut self, op: OpId, values: &[ValueId]) {
        for (old, &new) in self.op(op).results().to_vec().into_iter().zip(values) {
            self.replace_uses(old, new);
        }
        self.erase(op);
    }

    /// Makes every use of `old` a use of `new`.
    pub fn replace_uses(&mut self, old: ValueId, new: ValueId) {
        self.changes += 1;
        self.touched.extend(self.module.uses(old));
        self.module.replace_uses(old, new);
    }

    /// Erases an operation and everything below it. Its results must have no uses left.
    pub fn erase(&mut self, op: OpId) {
        self.changes += 1;
        // Values that only it used may be dead now.
        let inner = self.op(op).regions().iter().flat_map(|&region| self.module.walk(region));
        let gone: Vec<OpId> = std::iter::once(op).chain(inner).collect();
        let operands = gone.iter().flat_map(|&op| self.op(op).operands().to_vec());
        let made: Vec<OpId> = operands.filter_map(|value| self.module.def_op(value)).collect();
        self.touched.extend(made);
        self.module.erase(op);
    }

    /// Sets (or, with `None`, removes) a clause.
    pub fn set_clause(&mut self, op: OpId, name: &str, value: Option<AttrId>) {
        self.module.set_clause(op, name, value);
        self.changed(op);
    }

    /// Makes operand `index` of an operation `value`.
    ///
    /// # Errors
    /// If it has no such operand. Nothing has changed then.
    pub fn set_operand(&mut self, op: OpId, index: usize, value: ValueId) -> Result<(), Diagnostic> {
        let Some(&old) = self.op(op).operands().get(index) else {
            let count = counted(self.op(op).operands().len(), "operand");
            let message = format!("`{}` has {count}, none with the number {index}", self.op(op).name());
            return Err(Diagnostic::error("rewrite", self.op(op).span(), message));
        };
        self.module.set_operand(op, index, value);
        self.touched.extend(self.module.def_op(old));
        self.changed(op);
        Ok(())
    }

    /// Changes a value's type.
    pub fn set_type(&mut self, value: ValueId, ty: TypeId) {
        self.changes += 1;
        self.module.set_type(value, ty);
        self.touched.extend(self.module.uses(value));
    }

    /// Moves an operation directly before `anchor`.
    pub fn move_before(&mut self, op: OpId, anchor: OpId) {
        self.module.move_before(op, anchor);
        self.changed(op);
    }

    /// Copies an operation and everything below it directly before `anchor`; see [`Module::copy_before`].
    pub fn copy_before(&mut self, op: OpId, anchor: OpId, values: &mut HashMap<ValueId, ValueId>) -> OpId {
        let copy = self.module.copy_before(op, anchor, values);
        let inner = self.op(copy).regions().iter().flat_map(|&region| self.module.walk(region));
        let inner: Vec<OpId> = inner.collect();
        self.touched.extend(inner);
        self.made(copy)
    }

    /// Gives the region of one operation, with all that is in it, to another one that has none.
    pub fn move_region(&mut self, from: OpId, to: OpId) {
        self.module.move_regions(from, to);
        self.changed(to);
    }

    /// Erases the arguments of a block. They must have no uses left.
    pub fn erase_arguments(&mut self, block: BlockId) {
        self.changes += 1;
        self.module.erase_arguments(block);
    }

    fn made(&mut self, op: OpId) -> OpId {
        self.created.push(op);
        self.changed(op);
        op
    }

    /// Marks a changed operation: it and the users of its results are visited again.
    fn changed(&mut self, op: OpId) {
        self.changes += 1;
        let users = self.op(op).results().iter().flat_map(|&result| self.module.uses(result)).copied();
        let users: Vec<OpId> = users.collect();
        self.touched.push(op);
        self.touched.extend(users);
    }
}

/// Checks that types are those of the results of `op`.
fn check_types(op: OpRef<'_>, types: &[TypeId]) -> Result<(), Diagnostic> {
    let error = |message: String| Err(Diagnostic::error("rewrite", op.span(), message));
    if op.results().len() != types.len() {
        let (found, wanted) = (counted(types.len(), "value"), counted(op.results().len(), "result"));
        return error(format!("{found} in place of the {wanted} of `{}`", op.name()));
    }
    let wrong = op.results().iter().zip(types).position(|(&result, &ty)| op.module.ty(result) != ty);
    let Some(index) = wrong else { return Ok(()) };
    let (found, wanted) =
        (op.ctx.type_text(types[index]), op.ctx.type_text(op.module.ty(op.results()[index])));
    let name =
        op.decl().and_then(|decl| decl.results.get(index)).map_or(String::new(), |name| format!(" `{name}`"));
    error(format!(
        "a value of type `{found}` in place of the result{name} of `{}`, which has type `{wanted}`",
        op.name()
    ))
}
