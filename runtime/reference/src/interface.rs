//! The arguments and results of a kernel, as arrays.

use std::collections::BTreeMap;
use std::sync::Arc;

use visa_algebra::{Axes, AxisId};
use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, counted, nearest};
use visa_ir::module::{Module, OpId, ValueId};
use visa_ir::span::Span;
use visa_ir::verify::Analysis;
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::ops::func::{Func, RETURN, argument_name, result_names};
use visa_mapping::tensor::scalar;
use visa_mapping::tensor::value::Value;
use visa_mapping::{ArrayLayout, HBM, HOST, Tensor, array_layout, skewed_axes};
use visa_numerics::DType;

/// An argument or result of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorInfo {
    /// Its name in data files and reports.
    pub name: String,
    /// Format of the elements.
    pub dtype: DType,
    /// Elements along each axis, outermost first.
    pub shape: Vec<u64>,
}

impl TensorInfo {
    /// Bytes of the whole array; `None` past 64 bits.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        let elements = self.shape.iter().try_fold(1_u64, |count, &extent| count.checked_mul(extent))?;
        self.dtype.bytes(elements)
    }
}

/// A number that a kernel takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScalarInfo {
    /// Its name on the command line.
    pub name: String,
    /// It is below this.
    pub count: u64,
    /// Where it is declared.
    pub span: Span,
}

/// The arguments and results of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The kernel's name, without `@`.
    pub entry: String,
    /// Its arguments, in order, by their names without `%`.
    pub arguments: Vec<TensorInfo>,
    /// The numbers among its arguments, in order.
    pub scalars: Vec<ScalarInfo>,
    /// Its results, in order: `out`, or `out0`, `out1` and so on if there are several, and the final values of
    /// arguments.
    pub results: Vec<TensorInfo>,
}

/// The signature of a kernel: `entry` names it (without `@`), and may be left out where the module has only one.
///
/// # Errors
/// If there is no such kernel, or a tensor of its signature is no array.
pub fn interface(ctx: &Context, module: &Module, entry: Option<&str>) -> Result<Signature, Diagnostic> {
    let axes = DeclaredAxes::build(ctx, module).0;
    Ok(Kernel::find(ctx, module, entry, &axes)?.signature())
}

/// A tensor of a signature with its place in the module.
pub(crate) struct Port {
    pub(crate) info: TensorInfo,
    pub(crate) layout: ArrayLayout,
    /// The skewed axes that it is written in and holds at coordinate 0 only.
    pub(crate) still: Vec<AxisId>,
}

/// A kernel with its signature.
pub(crate) struct Kernel {
    pub(crate) func: OpId,
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) arguments: Vec<Port>,
    pub(crate) scalars: Vec<(ScalarInfo, ValueId)>,
    pub(crate) results: Vec<Port>,
}

impl Kernel {
    /// Finds a kernel and works out its signature.
    pub(crate) fn find(
        ctx: &Context,
        module: &Module,
        entry: Option<&str>,
        axes: &Axes,
    ) -> Result<Self, Diagnostic> {
        let func = module.op(ctx, entry_point(ctx, module, entry)?);
        let block = *func.regions().first().ok_or_else(|| func.error("C0", "the kernel has no body"))?;
        let ops = module.ops(block);
        let end = ops.last().map(|&last| func.other(last)).filter(|last| last.is(&RETURN));
        let end = end.ok_or_else(|| func.error("C0", "the kernel does not end with `tm.return`"))?;
        let (mut arguments, mut scalars) = (Vec::new(), Vec::new());
        for (at, &value) in module.args(block).iter().enumerate() {
            let name = argument_name(func, at);
            let span = module.value_span(value);
            match scalar::count(ctx, module.ty(value), axes, span)? {
                Some(count) => scalars.push((ScalarInfo { name, count, span }, value)),
                None => arguments.push(port(ctx, module, value, span, name, "argument", axes)?),
            }
        }
        let mut results = Vec::new();
        for (&value, name) in end.operands().iter().zip(result_names(Func::of(func)?)?) {
            results.push(port(ctx, module, value, end.span(), name, "result", axes)?);
        }
        let name = Func::of(func)?.name()?.to_string();
        Ok(Self { func: func.id, name, span: func.span(), arguments, scalars, results })
    }

    /// Its arguments and results.
    pub(crate) fn signature(&self) -> Signature {
        let infos = |ports: &[Port]| ports.iter().map(|port| port.info.clone()).collect();
        Signature {
            entry: self.name.clone(),
            arguments: infos(&self.arguments),
            scalars: self.scalars.iter().map(|(info, _)| info.clone()).collect(),
            results: infos(&self.results),
        }
    }

    /// The number that each scalar is.
    ///
    /// # Errors
    /// One that is missing or outside, or a number for an argument that is no scalar.
    pub(crate) fn bind_scalars(
        &self,
        given: &BTreeMap<String, u64>,
    ) -> Result<Vec<(ValueId, u64)>, Diagnostic> {
        let refuse = |code: &str, message: String| Diagnostic::error(code, self.span, message);
        let names: Vec<&str> = self.scalars.iter().map(|(info, _)| &*info.name).collect();
        if let Some(extra) = given.keys().find(|name| !names.contains(&name.as_str())) {
            let message = format!("`@{}` has no scalar `{extra}`; it has {}", self.name, list(&names));
            return Err(refuse("argument-unknown", message));
        }
        let number = |(info, value): &(ScalarInfo, ValueId)| match given.get(&info.name) {
            Some(&number) if number < info.count => Ok((*value, number)),
            Some(number) => Err(refuse(
                "argument-size",
                format!(
                    "scalar `{}` of `@{}` is {number}, expected less than {}",
                    info.name, self.name, info.count
                ),
            )),
            None => {
                let message = format!("scalar `{}` of `@{}` is missing", info.name, self.name);
                Err(refuse("argument-missing", message))
            }
        };
        self.scalars.iter().map(number).collect()
    }

    /// The bytes of each argument, in order.
    pub(crate) fn bind<'a>(&self, given: &'a BTreeMap<String, Vec<u8>>) -> Result<Vec<&'a [u8]>, Diagnostic> {
        let names: Vec<&str> = self.arguments.iter().map(|port| &*port.info.name).collect();
        if let Some(extra) = given.keys().find(|name| !names.contains(&name.as_str())) {
            let message = format!("`@{}` has no argument `{extra}`; it takes {}", self.name, list(&names));
            let fix = nearest(extra, names).map(|near| format!("did you mean `{near}`?"));
            return Err(Diagnostic::error("argument-unknown", self.span, message).fix(fix));
        }
        let bytes = |port: &Port| {
            let TensorInfo { name, dtype, shape } = &port.info;
            let span = Span::default();
            let Some(bytes) = given.get(name) else {
                let message =
                    format!("argument `{name}` of `@{}` is missing: `{dtype}` of shape {shape:?}", self.name);
                return Err(Diagnostic::error("argument-missing", span, message));
            };
            let wanted = port.info.bytes();
            if wanted != Some(bytes.len() as u64) {
                let wanted = wanted.map_or("more than 2^64".to_owned(), |wanted| wanted.to_string());
                let message = format!(
                    "argument `{name}` of `@{}` has {}, expected {wanted}: `{dtype}` of shape {shape:?}",
                    self.name,
                    counted(bytes.len(), "byte")
                );
                return Err(Diagnostic::error("argument-size", span, message));
            }
            Ok(bytes.as_slice())
        };
        self.arguments
            .iter()
            .map(|port| bytes(port).map_err(|error| Diagnostic { span: self.span, ..error }))
            .collect()
    }
}

/// The kernel of a module with a name, or the only one.
///
/// # Errors
/// No such kernel, or several without a name.
pub fn entry_point(ctx: &Context, module: &Module, entry: Option<&str>) -> Result<OpId, Diagnostic> {
    let functions = module.ops(module.body()).iter().filter_map(|&id| Func::cast(module.op(ctx, id)));
    let kernels: Vec<(String, OpId)> =
        functions.map(|func| Ok((func.name()?.to_string(), func.id))).collect::<Result<_, Diagnostic>>()?;
    let names: Vec<&str> = kernels.iter().map(|(name, _)| &**name).collect();
    let span = kernels.first().map_or_else(Span::default, |&(_, first)| module.op(ctx, first).span());
    let error = |message: String| Diagnostic::error("unknown-entry", span, message);
    match (entry, &*kernels) {
        (_, []) => Err(error("the module has no kernel: expected a `tm.func`".to_owned())),
        (None, [(_, only)]) => Ok(*only),
        (None, _) => {
            Err(error(format!("the module has {} kernels, choose one: {}", names.len(), list(&names))))
        }
        (Some(entry), kernels) => {
            let wanted = entry.trim_start_matches('@');
            let found = kernels.iter().find(|(name, _)| name == wanted).map(|&(_, id)| id);
            found.ok_or_else(|| {
                let fix =
                    nearest(wanted, names.iter().copied()).map(|near| format!("did you mean `{near}`?"));
                error(format!("there is no kernel `{wanted}`; the module has {}", list(&names))).fix(fix)
            })
        }
    }
}

fn list(names: &[&str]) -> String {
    match names {
        [] => "none".to_owned(),
        names => format!("`{}`", names.join("`, `")),
    }
}

fn port(
    ctx: &Context,
    module: &Module,
    id: ValueId,
    span: Span,
    name: String,
    role: &str,
    axes: &Axes,
) -> Result<Port, Diagnostic> {
    let ty = module.ty(id);
    let refuse = |why: String| Diagnostic::error("array-layout", span, format!("{role} `{name}`: {why}"));
    if let Some(value) = ctx.type_value::<Value>(ty) {
        let axis = |axis: &Arc<str>| {
            let id = axes.resolve(axis).map_err(|error| refuse(error.message))?;
            Ok((id, axes.size(id)))
        };
        let dims = value.axes.iter().map(axis).collect::<Result<Vec<_>, Diagnostic>>()?;
        let layout = ArrayLayout { shape: dims.iter().map(|&(_, size)| size).collect(), dims };
        let info = TensorInfo { name, dtype: value.dtype, shape: layout.shape.clone() };
        return Ok(Port { info, layout, still: Vec::new() });
    }
    let tensor = ctx.type_value::<Tensor>(ty).filter(|tensor| tensor.is(&HOST) || tensor.is(&HBM));
    let tensor = tensor
        .ok_or_else(|| refuse(format!("type `{}`, expected `!tm.host` or `!tm.hbm`", ctx.type_text(ty))))?;
    let layout = array_layout(&tensor, axes).map_err(refuse)?;
    let mut still = skewed_axes(&tensor, axes);
    still.retain(|&axis| layout.dims.iter().all(|&(own, _)| own != axis));
    let info = TensorInfo { name, dtype: tensor.dtype, shape: layout.shape.clone() };
    Ok(Port { info, layout, still })
}
