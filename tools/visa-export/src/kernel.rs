//! A kernel: a function marked `#[device]`.

use crate::body::{Body, File};
use crate::comments::above;
use crate::names::ident;
use crate::notes::Notes;
use crate::parts::counts_from_zero;
use crate::print::Placeholders;
use crate::refusals::{Export, has_only, refuse, refuse_with_fix};
use crate::roots::Roots;
use crate::values::{Linear, Ownership};
use crate::version::Integers;
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use visa_ir::module::{OpRef, ValueId};
use visa_mapping::ops::call::Launch;
use visa_mapping::ops::func::{Func, Return, addresses, inout, signature};
use visa_mapping::tensor::scalar::is_scalar;
use visa_mapping::tensor::value::Value;
use visa_mapping::{HBM, HOST};

/// A function of the file.
pub(crate) struct Written {
    pub(crate) item: TokenStream,
    pub(crate) notes: Notes,
}

/// Returns true if a function is a host program: it launches kernels.
pub(crate) fn is_host(func: Func<'_>) -> bool {
    let ops = func.regions().iter().flat_map(|&body| func.module.walk(body));
    ops.into_iter().any(|id| Launch::cast(func.other(id)).is_some())
}

/// Writes a function.
pub(crate) fn function(file: &File<'_>, parts: &mut Placeholders, func: Func<'_>) -> Export<Written> {
    check(func)?;
    let host = is_host(func);
    let mut body = Body::new(file, parts, Roots::of(func)?);
    body.is_host = host;
    let &[block] = func.regions() else { return Err(refuse(*func, "it has no body")) };
    let (parameters, addressed) = body.parameters(func)?;
    body.operations(*func, block)?;
    let (results, returned) = body.results(func)?;
    let statements = body.close();
    let name = &file.functions[&*func.name()?];
    let mut docs: Vec<String> = above(file.source, func.span());
    docs.extend(addressed);
    let docs = docs.into_iter().map(|line| format!(" {line}"));
    let (device, parameter) = (ident(file.spelling.device), body.device());
    let marked = marked(func)?;
    let head = if host { quote!(pub async fn) } else { quote!(#marked pub fn) };
    let item = quote! {
        #(#[doc = #docs])*
        #head #name(#parameter: &mut #device, #(#parameters),*) #results {
            #(#statements)*
            #returned
        }
    };
    Ok(Written { item, notes: body.notes })
}

/// Refuses functions that are no kernel of memory level.
pub(crate) fn check(func: Func<'_>) -> Export<()> {
    has_only(*func, &["name", "at", "chips", "pes", "inout"])?;
    at_memory_level(func)
}

/// The attribute of a kernel.
pub(crate) fn marked(func: Func<'_>) -> Export<TokenStream> {
    let (chips, pes) = (Literal::i64_unsuffixed(func.chips()?), func.pes()?.map(Literal::i64_unsuffixed));
    let pes = pes.map(|pes| quote!(, pe = #pes));
    Ok(quote!(#[device(chip = #chips #pes)]))
}

/// Refuses functions of other levels.
fn at_memory_level(func: Func<'_>) -> Export<()> {
    let (arguments, results) = signature(*func);
    for &value in arguments.iter().chain(results) {
        let ty = func.module.ty(value);
        if func.ctx.type_value::<Value>(ty).is_some() {
            let fix = "plan the kernel first: `visa-opt --plan-kernel=rust`, or `visa-run --plan=rust`";
            return Err(refuse_with_fix(*func, "it is at tensor level, without memories and transfers", fix));
        }
    }
    Ok(())
}

impl Body<'_, '_> {
    /// The parameters of a kernel, and the comment about their addresses.
    pub(crate) fn parameters(&mut self, func: Func<'_>) -> Export<(Vec<TokenStream>, Option<String>)> {
        let (arguments, _) = signature(*func);
        let changed = inout(func)?;
        let mut parameters = Vec::new();
        for (at, &argument) in arguments.iter().enumerate() {
            let is_scalar = is_scalar(func.ctx, func.module.ty(argument));
            parameters.push(if is_scalar {
                self.integer(func, argument)?
            } else {
                let is_changed = changed.contains(&at);
                let ownership = if is_changed { Ownership::Changed } else { Ownership::Shared };
                self.parameter(func, argument, ownership)?
            });
        }
        let known: Vec<String> =
            addresses(func)?.into_iter().flatten().flatten().map(|at| at.to_string()).collect();
        known.iter().for_each(|_| self.notes.count(crate::memory::ADDRESS));
        let comment = (!known.is_empty()).then(|| format!("Arguments at {}.", known.join(", ")));
        Ok((parameters, comment))
    }

    /// The parameter of a tensor.
    pub(crate) fn parameter(
        &mut self,
        func: Func<'_>,
        argument: ValueId,
        ownership: Ownership,
    ) -> Export<TokenStream> {
        let tensor = self.tensor(*func, argument)?;
        counts_from_zero(*func, &tensor, self.file.mappings.axes)?;
        if !(tensor.is(&HBM) || self.is_host && tensor.is(&HOST)) {
            let kind = tensor.kind.def.name;
            return Err(refuse(*func, format!("an argument is a tensor `!{kind}`, expected `!tm.hbm`")));
        }
        let ty = self.tensor_type(*func, &tensor)?;
        let name = self.declare(*func, argument, ownership);
        Ok(match ownership {
            Ownership::Changed => quote!(#name: &mut #ty),
            Ownership::Owned | Ownership::Shared => quote!(#name: &#ty),
        })
    }

    /// The parameter of an integer argument. The kernel reads one in HBM before its first operation.
    pub(crate) fn integer(&mut self, func: Func<'_>, argument: ValueId) -> Export<TokenStream> {
        let (name, device) = (self.name_of(*func, argument), self.device());
        self.numbers.insert(argument, Linear { terms: vec![(name.to_string(), 1)], plus: 0 });
        match self.file.spelling.integers {
            Integers::Plain => Ok(quote!(#name: usize)),
            Integers::InHbm if self.is_host => {
                let message = "a host program is given an integer for a kernel, and nothing in the language shows \
                               its range";
                Err(refuse_with_fix(
                    *func,
                    message,
                    "export the kernels by `--entry`, or launch them in a loop",
                ))
            }
            Integers::InHbm => {
                self.statement(quote!(let #name = #name.to_spm(&mut #device.tdma);));
                Ok(quote!(#name: &HbmScalar<usize>))
            }
            Integers::Absent => {
                let message = "an argument is an integer, and this version passes tensors alone";
                Err(refuse_with_fix(*func, message, "export `--for 0.6` or `--for 0.10`"))
            }
        }
    }

    /// The type of the results, and the last expression.
    pub(crate) fn results(&mut self, func: Func<'_>) -> Export<(TokenStream, TokenStream)> {
        let (_, all) = signature(*func);
        let own = all.len().saturating_sub(inout(func)?.len());
        let returned = func.module.ops(func.regions()[0]).last().map(|&id| func.other(id));
        let at = returned.filter(|op| Return::cast(*op).is_some()).unwrap_or(*func);
        let (mut types, mut values) = (Vec::new(), Vec::new());
        for (number, &value) in all[..own].iter().enumerate() {
            if all[..number].iter().any(|other| self.roots.root(*other) == self.roots.root(value)) {
                return Err(refuse(at, "it returns a tensor twice, and a value of the language moves once"));
            }
            types.push(self.result(at, value, &mut values)?);
        }
        Ok(match (&*types, &*values) {
            ([], _) => (quote!(), quote!()),
            ([ty], [value]) => (quote!(-> #ty), quote!(#value)),
            (_, _) => (quote!(-> (#(#types),*)), quote!((#(#values),*))),
        })
    }

    pub(crate) fn result(
        &mut self,
        op: OpRef<'_>,
        value: ValueId,
        values: &mut Vec<TokenStream>,
    ) -> Export<TokenStream> {
        if self.views.contains_key(&value) {
            let fix = "return a tensor that a transfer creates, with `tm.to_hbm`";
            return Err(refuse_with_fix(op, "it returns a view, and a kernel returns whole tensors", fix));
        }
        let variable = self.variable(op, value)?;
        if variable.ownership != Ownership::Owned {
            let message = format!("it returns argument `{}`, which the kernel borrows", variable.name);
            return Err(refuse_with_fix(op, message, "leave it out, or copy it with `tm.to_hbm`"));
        }
        let name = variable.name.clone();
        values.push(quote!(#name));
        let tensor = self.tensor(op, value)?;
        counts_from_zero(op, &tensor, self.file.mappings.axes)?;
        self.tensor_type(op, &tensor)
    }
}
