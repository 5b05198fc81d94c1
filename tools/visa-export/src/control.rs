//! Loops and branches.

use crate::body::Body;
use crate::indices::condition;
use crate::refusals::{Export, refuse};
use crate::values::Linear;
use proc_macro2::Literal;
use quote::quote;
use visa_ir::module::OpRef;
use visa_mapping::ops::control::{For, If};

impl Body<'_, '_> {
    /// `tm.for`.
    pub(crate) fn for_loop(&mut self, op: OpRef<'_>) -> Export<()> {
        let looped = For::of(op)?;
        let count =
            looped.over()?.size(self.file.mappings.axes).map_err(|error| refuse(op, error.message))?;
        let &[body] = op.regions() else { return Err(refuse(op, "it has no body")) };
        let index = op.module.args(body).first().copied();
        let index = index.ok_or_else(|| refuse(op, "its body has no index"))?;
        let comments = self.comments_of(op);
        self.comment(&comments);
        let is_used = !op.module.uses(index).is_empty();
        let name = if is_used { self.name_of(op, index) } else { crate::names::ident("_i") };
        self.numbers.insert(index, Linear { terms: vec![(name.to_string(), 1)], plus: 0 });
        self.open();
        self.operations(op, body)?;
        let (statements, count) = (self.close(), Literal::u64_unsuffixed(count));
        self.statement(quote!(for #name in 0..#count { #(#statements)* }));
        Ok(())
    }

    /// `tm.if`.
    pub(crate) fn branch(&mut self, op: OpRef<'_>) -> Export<()> {
        let branch = If::of(op)?;
        let number = self.number(op, branch.number()?.id)?;
        let condition = condition(op, &number, (branch.from()?, branch.below()?))?;
        let &[body] = op.regions() else { return Err(refuse(op, "it has no body")) };
        let comments = self.comments_of(op);
        self.comment(&comments);
        self.open();
        self.operations(op, body)?;
        let statements = self.close();
        self.statement(quote!(if #condition { #(#statements)* }));
        Ok(())
    }
}
