//! A module as a file of the vendor's Rust.

use crate::body::File;
use crate::comments::head;
use crate::host_memory::has_host_tensors;
use crate::host_tensors::split;
use crate::kernel::{Written, function, is_host};
use crate::mappings::Mappings;
use crate::names::{AxisNames, Names};
use crate::notes::Notes;
use crate::print::Placeholders;
use crate::version::Version;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;
use std::collections::{BTreeMap, BTreeSet};
use visa_algebra::Expr;
use visa_ir::analysis::Analysis;
use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, nearest};
use visa_ir::module::Module;
use visa_ir::span::{Source, Span};
use visa_mapping::facts::{DeclaredAxes, mappings};
use visa_mapping::ops::call::calling;
use visa_mapping::ops::func::Func;
use visa_mapping::{Dim, Tensor};

/// The request of an export.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The version of the vendor's crates; the newest if absent.
    pub version: Option<Version>,
    /// The only function to export, with those that it launches; all if absent.
    pub entry: Option<String>,
}

/// The result for a function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its symbol.
    pub name: String,
    /// The clauses that its Rust lacks, or the reason why there is none.
    pub notes: Result<Notes, Diagnostic>,
}

/// A file of Rust.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The text, with the functions that could be exported.
    pub text: String,
    /// The functions, in the order of the module.
    pub functions: Vec<Function>,
}

impl Exported {
    /// The refusals.
    pub fn refused(&self) -> impl Iterator<Item = &Diagnostic> {
        self.functions.iter().filter_map(|function| function.notes.as_ref().err())
    }

    /// The clauses that the language lacks, of all functions.
    #[must_use]
    pub fn notes(&self) -> Notes {
        let mut all = Notes::default();
        self.functions
            .iter()
            .filter_map(|function| function.notes.as_ref().ok())
            .for_each(|own| all.add(own));
        all
    }
}

/// Writes a verified module as a file of the vendor's Rust.
///
/// # Errors
/// A module without functions, or without the entry.
pub fn rust(
    ctx: &Context,
    module: &Module,
    source: &Source,
    options: &Options,
) -> Result<Exported, Diagnostic> {
    let functions = chosen(ctx, module, options.entry.as_deref())?;
    let axes = DeclaredAxes::build(ctx, module).0;
    let used = axes_used(ctx, module, &functions, &axes);
    let mut types = Names::of_types();
    let axis_names = AxisNames::new(used.iter().map(|(axis, _)| axis.as_str()), &mut types);
    let mut mappings = Mappings::new(&axes, &axis_names);
    mappings.name(&dims_used(&functions), &mut types);
    let mut values = Names::default();
    let named = functions.iter().filter_map(|func| {
        let name = func.name().ok()?;
        Some((name.to_string(), values.new_function(&name)))
    });
    let functions_named: BTreeMap<String, Ident> = named.collect();
    let around = functions.iter().filter(|func| has_host_tensors(**func) && !is_host(**func));
    let kernels = around.filter_map(|func| {
        let name = func.name().ok()?.to_string();
        let kernel = values.new_function(&format!("{name}_kernel"));
        Some((name, kernel))
    });
    let kernels: BTreeMap<String, Ident> = kernels.collect();
    let spelling = options.version.unwrap_or(Version::DEFAULT).spelling();
    let file = File { source, spelling, mappings, functions: functions_named, kernels };
    let mut parts = Placeholders::default();
    let (mut written, mut items, mut refused) = (Vec::new(), Vec::new(), BTreeSet::new());
    for func in &functions {
        let name = func.name().map(|name| name.to_string()).unwrap_or_default();
        let write = if file.kernels.contains_key(&name) { split } else { function };
        let result = launches_refused(*func, &refused).and_then(|()| write(&file, &mut parts, *func));
        written.push(Function {
            name: name.clone(),
            notes: result.map(|Written { item, notes }| {
                items.push(parts.empty_line());
                items.push(item);
                notes
            }),
        });
        if written.last().is_some_and(|own| own.notes.is_err()) {
            refused.insert(name);
        }
    }
    let sizes = used.iter().map(|(axis, size)| (axis_names.get(axis), Literal::u64_unsuffixed(*size)));
    let text = whole(&file, &mut parts, sizes.collect(), items);
    let text = text.map_err(|why| Diagnostic::error("export", Span::default(), format!("no Rust: {why}")))?;
    Ok(Exported { text, functions: written })
}

/// The file around the functions.
fn whole(
    file: &File<'_>,
    parts: &mut Placeholders,
    sizes: Vec<(Option<&Ident>, Literal)>,
    functions: Vec<TokenStream>,
) -> Result<String, syn::Error> {
    let comments: Vec<TokenStream> = head(file.source).iter().map(|line| parts.comment(line)).collect();
    let axes: Vec<TokenStream> =
        sizes.into_iter().filter_map(|(name, size)| name.map(|name| quote!(#name = #size))).collect();
    let axes = (!axes.is_empty()).then(|| quote!(axes![#(#axes),*];));
    let aliases = file.mappings.items(parts);
    let (first, second) = (parts.empty_line(), parts.empty_line());
    let zeroth = (!comments.is_empty()).then(|| parts.empty_line());
    let third = (!aliases.is_empty()).then(|| parts.empty_line());
    parts.print(quote! {
        #![feature(register_tool)]
        #![register_tool(furiosa_opt)]
        #first
        #(#comments)*
        #zeroth
        use furiosa_opt_std::prelude::*;
        #second
        #axes
        #third
        #(#aliases)*
        #(#functions)*
    })
}

/// The functions to export: the entry with those that it launches, or all.
fn chosen<'a>(
    ctx: &'a Context,
    module: &'a Module,
    entry: Option<&str>,
) -> Result<Vec<Func<'a>>, Diagnostic> {
    let mut all: Vec<Func<'a>> =
        module.ops(module.body()).iter().filter_map(|&id| Func::cast(module.op(ctx, id))).collect();
    let name = |func: &Func<'a>| func.name().map(|name| name.to_string()).unwrap_or_default();
    if all.is_empty() {
        let message = "there is no kernel: found no `tm.func`";
        let fix = "give text at memory level, before `--lower-to-seq` and `--lower-to-hw`";
        return Err(Diagnostic::error("export", Span::default(), message).fix(Some(fix.to_owned())));
    }
    // A host program is refused if a kernel that it launches is.
    all.sort_by_key(|func| is_host(*func));
    let Some(entry) = entry else { return Ok(all) };
    let Some(first) = all.iter().find(|func| name(func) == entry) else {
        let names: Vec<String> = all.iter().map(name).collect();
        let near =
            nearest(entry, names.iter().map(String::as_str)).map(|near| format!("did you mean `{near}`?"));
        let fix = near.unwrap_or_else(|| format!("the kernels are `{}`", names.join("`, `")));
        let message = format!("there is no kernel `{entry}`");
        return Err(Diagnostic::error("export", Span::default(), message).fix(Some(fix)));
    };
    let launched = called(*first);
    Ok(all.iter().copied().filter(|func| name(func) == entry || launched.contains(&name(func))).collect())
}

/// The functions that one launches.
fn called(func: Func<'_>) -> BTreeSet<String> {
    let ops = func.regions().iter().flat_map(|&body| func.module.walk(body));
    ops.filter_map(|id| Some(calling(func.other(id))?.callee().ok()?.to_string())).collect()
}

/// Refuses a host program that launches a refused kernel.
fn launches_refused(func: Func<'_>, refused: &BTreeSet<String>) -> Result<(), Diagnostic> {
    match called(func).intersection(refused).next() {
        Some(kernel) => {
            let message = format!("`@{}` launches `@{kernel}`, which is refused", func.name()?);
            Err(Diagnostic::error("export", func.span(), message))
        }
        None => Ok(()),
    }
}

/// The tensor types of the values of functions.
fn tensors<'a>(functions: &'a [Func<'a>]) -> impl Iterator<Item = std::rc::Rc<Tensor>> + 'a {
    functions.iter().flat_map(|func| {
        let bodies = func.regions().iter().flat_map(|&body| {
            let blocks = func.module.walk(body).into_iter().flat_map(|id| func.other(id).regions().to_vec());
            std::iter::once(body).chain(blocks)
        });
        let arguments = bodies.flat_map(|body| func.module.args(body).to_vec());
        let results = func.regions().iter().flat_map(|&body| {
            func.module.walk(body).into_iter().flat_map(|id| func.other(id).results().to_vec())
        });
        let values: Vec<_> = arguments.chain(results).collect();
        values.into_iter().filter_map(|value| func.value(value).of_type::<Tensor>().ok()).collect::<Vec<_>>()
    })
}

/// The mappings of the tensors at rest, by dimension.
fn dims_used(functions: &[Func<'_>]) -> Vec<(Dim, Expr)> {
    let at_rest = tensors(functions).filter(|tensor| !tensor.kind.stream);
    at_rest
        .flat_map(|tensor| tensor.kind.dims.iter().copied().zip(tensor.maps.clone()).collect::<Vec<_>>())
        .collect()
}

/// The axes of the functions with their sizes, in the order of their declaration.
fn axes_used(
    ctx: &Context,
    module: &Module,
    functions: &[Func<'_>],
    axes: &visa_algebra::Axes,
) -> Vec<(String, u64)> {
    let mut used: BTreeSet<String> = BTreeSet::new();
    for tensor in tensors(functions) {
        used.extend(tensor.axis_names(axes).iter().map(ToString::to_string));
    }
    for func in functions {
        for id in func.regions().iter().flat_map(|&body| module.walk(body)) {
            let op = module.op(ctx, id);
            for (_, map) in mappings(op) {
                used.extend(map.axis_names(axes).iter().map(ToString::to_string));
            }
        }
    }
    axes.iter()
        .filter(|(id, name, _)| used.contains(*name) && axes.skew(*id).is_none())
        .map(|(_, name, size)| (name.to_owned(), size))
        .collect()
}
