//! Host programs: `async` functions that launch kernels.

use crate::body::Body;
use crate::refusals::{Export, refuse, refuse_with_fix};
use crate::values::Ownership;
use crate::version::Integers;
use proc_macro2::TokenStream;
use quote::quote;
use visa_ir::module::{OpRef, ValueId};
use visa_mapping::ops::call::Launch;
use visa_mapping::ops::func::{Func, inout, signature};

impl Body<'_, '_> {
    /// `tm.launch`.
    pub(crate) fn launch(&mut self, op: OpRef<'_>) -> Export<()> {
        let launch = Launch::of(op)?;
        let callee = launch.callee()?;
        let mut functions = op.module.ops(op.module.body()).iter().filter_map(|&id| Func::cast(op.other(id)));
        let func = functions.find(|func| func.name().is_ok_and(|name| *name == *callee));
        let func = func.ok_or_else(|| refuse(op, format!("there is no kernel `@{callee}`")))?;
        let changed = inout(func)?;
        let device = self.device();
        let mut given = vec![quote!(&mut *#device)];
        for (at, &operand) in op.operands().iter().enumerate() {
            given.push(self.launched_with(op, operand, changed.contains(&at))?);
        }
        let kernel = self.file.functions.get(&*callee).cloned();
        let kernel = kernel.ok_or_else(|| refuse(op, format!("kernel `@{callee}` is not in the file")))?;
        let fails = self.file.spelling.launch_fails.then(|| quote!(.unwrap()));
        let call = quote!(launch(#kernel, (#(#given),*)).await #fails);
        let own = signature(*func).1.len().saturating_sub(changed.len());
        self.launched(op, &op.results()[..own.min(op.results().len())], &call)
    }

    /// An argument of a launch.
    pub(crate) fn launched_with(
        &mut self,
        op: OpRef<'_>,
        operand: ValueId,
        changed: bool,
    ) -> Export<TokenStream> {
        if let Some(number) = self.numbers.get(&operand) {
            return match self.file.spelling.integers {
                Integers::Plain => number.expression(op),
                Integers::InHbm => {
                    let (number, name, device) =
                        (number.expression(op)?, self.name_of(op, operand), self.device());
                    self.statement(quote! {
                        let #name = HbmScalar::<usize>::from_host(#number, &mut #device.pdma).await.unwrap();
                    });
                    Ok(quote!(&#name))
                }
                Integers::Absent => {
                    let message = "it gives an integer, and this version passes tensors alone";
                    Err(refuse_with_fix(op, message, "export `--for 0.6` or `--for 0.10`"))
                }
            };
        }
        if changed {
            let name = self.changed(op, operand)?;
            let is_reference = self.variable(op, operand)?.ownership == Ownership::Changed;
            return Ok(if is_reference { quote!(&mut *#name) } else { quote!(&mut #name) });
        }
        let is_owned = self.variable(op, operand)?.ownership == Ownership::Owned;
        let tokens = self.operand(op, operand)?;
        if !tokens.is_whole {
            return Err(refuse(op, "it gives a view, and the language launches kernels over whole tensors"));
        }
        let tokens = tokens.tokens;
        Ok(if is_owned { quote!(&#tokens) } else { quote!(#tokens) })
    }

    /// The results of a launch as variables.
    fn launched(&mut self, op: OpRef<'_>, results: &[ValueId], call: &TokenStream) -> Export<()> {
        let comments = self.comments_of(op);
        self.comment(&comments);
        for &result in results {
            if self.roots.place(result).is_some() {
                let message = "a loop carries the result of a launch, and the language's launch creates it";
                return Err(
                    refuse(op, message).fix(Some("make it an `inout` argument of the kernel".to_owned()))
                );
            }
        }
        self.bound(op, results, call);
        Ok(())
    }

    /// Declares variables of tensors as the values of a call.
    pub(crate) fn bound(&mut self, op: OpRef<'_>, results: &[ValueId], call: &TokenStream) {
        let mut patterns = Vec::new();
        for &result in results {
            let is_written = self.roots.is_written(result);
            let name = self.declare(op, result, Ownership::Owned);
            patterns.push(if is_written { quote!(mut #name) } else { quote!(#name) });
        }
        self.statement(match &*patterns {
            [] => quote!(#call;),
            [only] => quote!(let #only = #call;),
            _ => quote!(let (#(#patterns),*) = #call;),
        });
    }
}
