//! Tensors of the host. A kernel of the language has none, so a function with transfers to and from the host becomes
//! two: a kernel, and a host program that moves the tensors and launches it.

use crate::body::{Body, File};
use crate::comments::above;
use crate::host_memory::in_host_memory;
use crate::kernel::{Written, check};
use crate::memory::Created;
use crate::names::ident;
use crate::parts::counts_from_zero;
use crate::print::Placeholders;
use crate::refusals::{Export, refuse, refuse_with_fix};
use crate::roots::Roots;
use crate::values::Ownership;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use visa_ir::module::{OpRef, ValueId};
use visa_mapping::Dim;
use visa_mapping::ops::func::{Func, Return, inout, signature};
use visa_mapping::ops::transfer::{ToHbm, ToHost};
use visa_mapping::tensor::scalar::is_scalar;

/// The transfers of a function between the host and HBM.
struct HostTransfers<'a> {
    /// Those to HBM.
    sent: Vec<ToHbm<'a>>,
    /// Those to the host.
    returned: Vec<ToHost<'a>>,
}

impl<'a> HostTransfers<'a> {
    fn of(func: Func<'a>) -> Export<Self> {
        let mut own = Self { sent: Vec::new(), returned: Vec::new() };
        let &[block] = func.regions() else { return Err(refuse(*func, "it has no body")) };
        for id in func.module.walk(block) {
            let op = func.other(id);
            let sent = ToHbm::cast(op).filter(|to| to.source().is_ok_and(|of| in_host_memory(op, of.id)));
            let returned = ToHost::cast(op);
            if (sent.is_some() || returned.is_some()) && op.block() != block {
                let message = "it moves a tensor of the host in a loop or branch of a kernel, and a kernel of the \
                               language has no tensors in host memory";
                return Err(refuse_with_fix(op, message, "move it before or after the loop"));
            }
            if let Some(first) =
                own.returned.first().filter(|_| returned.is_none() && Return::cast(op).is_none())
            {
                let message = "the kernel goes on after it, and the host takes its results when it has ended";
                return Err(refuse_with_fix(**first, message, "move it to the end of the function"));
            }
            if let Some(sent) = sent {
                let source = sent.source()?.id;
                if !func.module.args(block).contains(&source) {
                    let message = "it moves back what the kernel moved to the host";
                    return Err(refuse_with_fix(op, message, "use the tensor in HBM"));
                }
                own.sent.push(sent);
            }
            own.returned.extend(returned);
        }
        Ok(own)
    }

    /// The tensors that are sent from an argument.
    fn of_argument(&self, argument: ValueId) -> Export<Vec<ValueId>> {
        let mut all = Vec::new();
        for sent in &self.sent {
            if sent.source()?.id == argument {
                all.push(sent.result_tensor()?.id);
            }
        }
        Ok(all)
    }
}

/// The interface of the kernel of a function.
struct Interface {
    /// Its arguments, each with the ownership in the kernel.
    arguments: Vec<(ValueId, Ownership)>,
    /// The tensors that it creates and returns, by their roots.
    results: Vec<ValueId>,
}

impl Interface {
    fn of(func: Func<'_>, transfers: &HostTransfers<'_>, roots: &Roots<'_>) -> Export<Self> {
        let (given, returned) = signature(*func);
        let changed = inout(func)?;
        let mut arguments = Vec::new();
        for (at, &argument) in given.iter().enumerate() {
            if in_host_memory(*func, argument) {
                for sent in transfers.of_argument(argument)? {
                    let is_written = roots.is_written(roots.root(sent));
                    arguments.push((sent, if is_written { Ownership::Changed } else { Ownership::Shared }));
                }
            } else {
                let is_changed = changed.contains(&at);
                arguments.push((argument, if is_changed { Ownership::Changed } else { Ownership::Shared }));
            }
        }
        let own = returned.len().saturating_sub(changed.len());
        let mut wanted: Vec<ValueId> =
            returned[..own].iter().copied().filter(|&value| !in_host_memory(*func, value)).collect();
        for to in &transfers.returned {
            wanted.push(to.source()?.id);
        }
        let mut results: Vec<ValueId> = Vec::new();
        for root in wanted.into_iter().map(|value| roots.root(value)) {
            let is_given = arguments.iter().any(|&(argument, _)| roots.root(argument) == root);
            if !is_given && !results.contains(&root) {
                results.push(root);
            }
        }
        Ok(Self { arguments, results })
    }
}

/// Writes a function with tensors of the host: its kernel, and the host program around it.
pub(crate) fn split(file: &File<'_>, parts: &mut Placeholders, func: Func<'_>) -> Export<Written> {
    check(func)?;
    let transfers = HostTransfers::of(func)?;
    let interface = Interface::of(func, &transfers, &Roots::of(func)?)?;
    let name = func.name()?.to_string();
    let (host, kernel) = (&file.functions[&name], &file.kernels[&name]);
    let mut written = kernel_of(file, parts, func, (&transfers, &interface, kernel, host))?;
    let around = host_of(file, parts, func, (&transfers, &interface, kernel, host))?;
    let (item, around_item, line) = (&written.item, &around.item, parts.empty_line());
    written.item = quote!(#item #line #around_item);
    written.notes.add(&around.notes);
    Ok(written)
}

type Parts<'p, 'a> = (&'p HostTransfers<'a>, &'p Interface, &'p Ident, &'p Ident);

/// The kernel: the function without the transfers of the host.
fn kernel_of(
    file: &File<'_>,
    parts: &mut Placeholders,
    func: Func<'_>,
    (transfers, interface, name, host): Parts<'_, '_>,
) -> Export<Written> {
    let mut body = Body::new(file, parts, Roots::of(func)?);
    let left_out = transfers.sent.iter().map(|to| to.id).chain(transfers.returned.iter().map(|to| to.id));
    body.left_out = left_out.collect();
    let mut parameters = Vec::new();
    for &(argument, ownership) in &interface.arguments {
        parameters.push(match is_scalar(func.ctx, func.module.ty(argument)) {
            true => body.integer(func, argument)?,
            false => body.parameter(func, argument, ownership)?,
        });
    }
    body.operations(*func, func.regions()[0])?;
    let (mut types, mut values) = (Vec::new(), Vec::new());
    for &root in &interface.results {
        types.push(body.result(*func, root, &mut values)?);
    }
    let (results, returned) = match (&*types, &*values) {
        ([], _) => (quote!(), quote!()),
        ([ty], [value]) => (quote!(-> #ty), quote!(#value)),
        (_, _) => (quote!(-> (#(#types),*)), quote!((#(#values),*))),
    };
    let statements = body.close();
    let (device, parameter) = (ident(file.spelling.device), body.device());
    let marked = crate::kernel::marked(func)?;
    let docs = format!(" The kernel of [`{host}`].");
    let item = quote! {
        #[doc = #docs]
        #marked pub fn #name(#parameter: &mut #device, #(#parameters),*) #results {
            #(#statements)*
            #returned
        }
    };
    Ok(Written { item, notes: body.notes })
}

/// The host program: transfers to HBM, the launch, and transfers to the host.
fn host_of(
    file: &File<'_>,
    parts: &mut Placeholders,
    func: Func<'_>,
    (transfers, interface, kernel, name): Parts<'_, '_>,
) -> Export<Written> {
    let mut body = Body::new(file, parts, Roots::of(func)?);
    body.is_host = true;
    let (parameters, addressed) = body.parameters(func)?;
    for to in &transfers.sent {
        body.sent_to_hbm(*to)?;
    }
    let device = body.device();
    let mut given = vec![quote!(&mut *#device)];
    for &(argument, ownership) in &interface.arguments {
        given.push(body.launched_with(*func, argument, ownership == Ownership::Changed)?);
    }
    let fails = file.spelling.launch_fails.then(|| quote!(.unwrap()));
    body.bound(*func, &interface.results, &quote!(launch(#kernel, (#(#given),*)).await #fails));
    for to in &transfers.returned {
        body.to_host(**to)?;
    }
    let (results, returned) = body.results(func)?;
    let statements = body.close();
    let mut docs: Vec<String> = above(file.source, func.span());
    docs.extend(addressed);
    let docs = docs.into_iter().map(|line| format!(" {line}"));
    let (context, parameter) = (ident(file.spelling.device), body.device());
    let item = quote! {
        #(#[doc = #docs])*
        pub async fn #name(#parameter: &mut #context, #(#parameters),*) #results {
            #(#statements)*
            #returned
        }
    };
    Ok(Written { item, notes: body.notes })
}

#[expect(clippy::wrong_self_convention, reason = "methods have the names of the operations")]
impl Body<'_, '_> {
    /// `tm.to_hbm` of a tensor of the host.
    pub(crate) fn sent_to_hbm(&mut self, to: ToHbm<'_>) -> Export<()> {
        let (op, result) = (*to, to.result_tensor()?.id);
        let mut lacking = self.address(to.at_unless_auto()?);
        self.check_padded(op, to.padded())?;
        lacking.extend(self.stream_of(op)?);
        let tensor = self.tensor(op, result)?;
        counts_from_zero(op, &tensor, self.file.mappings.axes)?;
        let chip = self.dim_type(op, Dim::Chip, &tensor.dim(Dim::Chip))?;
        let element = self.dim_type(op, Dim::Element, &tensor.dim(Dim::Element))?;
        let call = quote!(to_hbm::<#chip, #element>);
        self.host_transfer(op, (to.source()?.id, result), &call, &lacking)
    }

    /// `tm.to_host`.
    pub(crate) fn to_host(&mut self, op: OpRef<'_>) -> Export<()> {
        let to = ToHost::of(op)?;
        let result = to.result_tensor()?.id;
        let tensor = self.tensor(op, result)?;
        counts_from_zero(op, &tensor, self.file.mappings.axes)?;
        let element = self.dim_type(op, Dim::Element, &tensor.dim(Dim::Element))?;
        self.host_transfer(op, (to.source()?.id, result), &quote!(to_host::<#element>), &[])
    }

    fn host_transfer(
        &mut self,
        op: OpRef<'_>,
        (source, result): (ValueId, ValueId),
        call: &TokenStream,
        lacking: &[String],
    ) -> Export<()> {
        if self.roots.place(result).is_some() {
            let message = "a loop or an argument has its result, and a transfer of the host creates a tensor";
            return Err(refuse_with_fix(
                op,
                message,
                "move the tensor before the loop, or copy it in a kernel",
            ));
        }
        let (from, device) = (self.whole(op, source)?, self.device());
        let fails = self.file.spelling.launch_fails.then(|| quote!(.unwrap()));
        let value = quote!(#from.#call(&mut #device.pdma).await #fails);
        self.created(op, result, lacking, Created::Value(value))
    }
}
