//! Host programs: functions that launch kernels over tensors in HBM.

use crate::device::{Size, changes, size};
use crate::emit::new;
use crate::error::Error;
use crate::eval::{Eval, Evaluator, Frame, Stop, Want, names};
use crate::instance::Instance;
use crate::place::deref;
use crate::program::{FnId, Item, Space, is_device};
use crate::value::{Affine, Memory, Step, Type, Value, View};
use crate::written_transfer::{written_number, written_transfer};
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use visa_mapping::ops::call::Launch;
use visa_mapping::{HBM, Tensor, make};

/// The known facts of a function that is a host program.
#[derive(Clone, Default)]
pub(crate) struct Host {
    /// The device that its kernels have, and the first of them.
    pub(crate) size: Option<(Size, String)>,
    /// The kernels that it launches.
    pub(crate) launched: Vec<Instance>,
}

/// The operands that a launch gives to a kernel.
#[derive(Default)]
struct LaunchArguments {
    operands: Vec<String>,
    /// Tensors that the kernel changes.
    inout: Vec<View>,
}

impl Evaluator<'_> {
    /// `f(..).await` of a host program.
    pub(crate) fn awaited(&mut self, frame: &mut Frame, own: &syn::ExprAwait, want: &Want) -> Eval<Value> {
        if let Some(written) = written_launch(&own.base) {
            return self.launch(frame, &written, want);
        }
        if let Some(number) = written_number(&own.base) {
            return self.number_in_hbm(frame, number);
        }
        if let Some(written) = written_transfer(&own.base) {
            return self.host_transfer(frame, &written, want);
        }
        let syn::Expr::Call(call) = &*own.base else {
            // Its evaluation reports which construct is not read.
            self.expr(frame, &own.base, want)?;
            let message = "what a host program awaits is a launch, a transfer, or a function that launches";
            return Err(frame.error(own.span(), message));
        };
        self.awaiting = true;
        self.call(frame, call, want)
    }

    /// The result of a launch, which an author takes out of a `Result` by `?`, `unwrap` or `expect` since 0.8. In the
    /// text a launch does not fail.
    pub(crate) fn launched_result(&self, value: &Value, name: &str) -> Option<Value> {
        let takes = self.state.host.is_some() && matches!(name, "unwrap" | "expect" | "?");
        let is_result = match value {
            Value::View(_) | Value::Function(_) | Value::Nothing | Value::Int(_) | Value::Index(_) => true,
            Value::Tuple(all) => all.iter().all(|own| matches!(own, Value::View(_))),
            _ => false,
        };
        (takes && is_result).then(|| value.clone())
    }

    /// A launch or transfer that is awaited under `?`, `unwrap` or `expect`, with the type and name of its variable;
    /// `None` for other values.
    pub(crate) fn awaited_result(
        &mut self,
        frame: &mut Frame,
        of: &syn::Expr,
        name: &str,
        want: &Want,
    ) -> Option<Eval<Value>> {
        let syn::Expr::Await(own) = of else { return None };
        let takes = self.state.host.is_some() && matches!(name, "unwrap" | "expect" | "?");
        let gives = written_launch(&own.base).is_some() || written_transfer(&own.base).is_some();
        (takes && gives).then(|| self.awaited(frame, own, want))
    }

    /// A kernel that is loaded before its launches, as `kernel.load(&device)?` since 0.10. In the text all are.
    pub(crate) fn loaded_kernel(&self, of: &Value, name: &str, arguments: usize) -> Option<Value> {
        let loads = self.state.host.is_some() && name == "load" && arguments == 1;
        matches!(of, Value::Function(id) if loads && is_device(&self.program.functions[id.0].item.source))
            .then(|| of.clone())
    }

    /// Refuses functions that a host program calls in a way that does not run them.
    pub(crate) fn check_called(&mut self, frame: &Frame, item: &syn::ItemFn, span: Span) -> Eval<()> {
        let awaiting = std::mem::take(&mut self.awaiting);
        if self.state.host.is_none() {
            return Ok(());
        }
        let name = &item.sig.ident;
        let refuse =
            |message: String, fix: String| Err(Stop::Error(Error::new(frame.place(span), message).fix(fix)));
        if is_device(item) {
            let fix = format!("launch it: `launch({name}, (..)).await`");
            return refuse(format!("`{name}` is a kernel, and a host program does not call it"), fix);
        }
        match (item.sig.asyncness.is_some(), awaiting) {
            (true, false) => {
                refuse(format!("`{name}` does not run: nothing awaits it"), "write `.await` after it".into())
            }
            (false, true) => refuse(format!("`{name}` is no `async` function"), "leave out `.await`".into()),
            (true, true) | (false, false) => Ok(()),
        }
    }

    /// Refuses methods that move or compute, which kernels do.
    pub(crate) fn check_method(&self, frame: &Frame, of: &Value, name: &str, span: Span) -> Eval<()> {
        if self.state.host.is_some() && is_transfer(of, name) {
            let error = Error::new(frame.place(span), format!("nothing awaits `{name}`: it does not run"));
            return Err(Stop::Error(error.fix("write `.await` after it")));
        }
        let own = match of {
            Value::View(_) => {
                matches!(
                    name,
                    "view" | "view_mut" | "as_ref" | "as_mut" | "reshape" | "transmute" | "unwrap" | "expect"
                )
            }
            Value::Stream(_) | Value::Unit(_) => false,
            _ => true,
        };
        match own || self.state.host.is_none() {
            true => Ok(()),
            false => Err(not_of_host(frame, span, name)),
        }
    }

    fn launch(&mut self, frame: &mut Frame, call: &WrittenLaunch<'_>, want: &Want) -> Eval<Value> {
        let span = call.span;
        let [kernel, given] = *call.arguments.as_slice() else {
            return Err(frame.error(span, "`launch` takes a kernel and what it is given"));
        };
        if let Some(of) = call.of {
            let of = deref(self.expr(frame, of, &Want::default())?);
            if !matches!(of, Value::Context) {
                let message = format!("`launch` of {}, expected the context", of.kind());
                return Err(frame.error(span, message));
            }
        }
        let (device, path) = self.launched(frame, kernel)?;
        let given = match given {
            syn::Expr::Tuple(tuple) => tuple.elems.iter().collect(),
            other => vec![other],
        };
        let item = self.program.functions[device.0].item.tree.clone()?;
        // A method's receiver is the kernel's first argument.
        let inputs: Vec<_> = item.sig.inputs.iter().skip(usize::from(call.of.is_some())).collect();
        if inputs.len() != given.len() {
            let name = &item.sig.ident;
            let message = format!("`{name}` takes {} arguments, but {} are given", inputs.len(), given.len());
            return Err(frame.error(span, message));
        }
        let mut own = self.frame_of(device);
        own.generics = self.generics(frame, &item, path)?;
        let mut all = LaunchArguments::default();
        for (input, argument) in inputs.into_iter().zip(given) {
            let syn::FnArg::Typed(typed) = input else {
                return Err(own.error(input.span(), "a kernel is a function, not a method"));
            };
            // Generics that are not known yet leave the type open.
            let ty = match item.sig.generics.params.is_empty() {
                true => self.ty(&mut own, &typed.ty)?,
                false => self.ty(&mut own, &typed.ty).unwrap_or(Type::Open),
            };
            let value = self.expr(frame, argument, &Want::of(ty))?;
            self.infer(&mut own, &item.sig.generics, &typed.ty, &value);
            self.give(frame, argument.span(), &value, changes(&typed.ty), &mut all)?;
        }
        let name = self.check_launched(frame, kernel.span(), device, &own)?;
        let result = match &item.sig.output {
            syn::ReturnType::Default => Type::Tuple(Vec::new()),
            syn::ReturnType::Type(_, ty) => self.ty(&mut own, ty)?,
        };
        let value = self.launched_as(frame, span, (&name, &result, all), want)?;
        match call.into {
            None => Ok(value),
            Some(into) => {
                let into = deref(self.expr(frame, into, &Want::default())?);
                self.take_results(frame, span, &value, &into)?;
                Ok(Value::Nothing)
            }
        }
    }

    /// Makes the results of a launch or a transfer the contents of tensors that exist.
    pub(crate) fn take_results(&mut self, frame: &Frame, span: Span, from: &Value, into: &Value) -> Eval<()> {
        match (from, into) {
            (Value::View(from), Value::View(into)) if into.steps.is_empty() && into.ty == from.ty => {
                if self.state.cells[into.place.0].stays {
                    let message = "`output` into an argument is not read: a host program changes its arguments by \
                                   kernels that take them as `&mut`";
                    let fix = "return the result of the launch";
                    return Err(Stop::Error(Error::new(frame.place(span), message).fix(fix)));
                }
                let name = self.current(frame, span, from.place)?;
                let cell = &mut self.state.cells[into.place.0];
                cell.name = Some(name);
                cell.writes += 1;
                Ok(())
            }
            (Value::Tuple(from), Value::Tuple(into)) if from.len() == into.len() => {
                from.iter().zip(into).try_for_each(|(from, into)| self.take_results(frame, span, from, into))
            }
            (_, _) => Err(frame.error(span, "`output` takes a whole tensor of the type of each result")),
        }
    }

    /// The kernel that a launch names, and its path.
    fn launched<'e>(&mut self, frame: &mut Frame, kernel: &'e syn::Expr) -> Eval<(FnId, &'e syn::ExprPath)> {
        let syn::Expr::Path(path) = kernel else {
            return Err(frame.error(kernel.span(), "what is launched is the name of a kernel"));
        };
        let parts = names(&path.path);
        match self.program.find(frame.module, frame.of, &parts, Space::Values) {
            Some(Item::Fn(id)) if is_device(&self.program.functions[id.0].item.source) => Ok((id, path)),
            // A variable, to which a kernel was loaded.
            None if parts.len() == 1 => {
                let value = deref(self.expr(frame, kernel, &Want::default())?);
                if let Value::Function(id) = &value
                    && is_device(&self.program.functions[id.0].item.source)
                {
                    return Ok((*id, path));
                }
                Err(frame.error(kernel.span(), format!("{} is no kernel that is read", value.kind())))
            }
            _ => Err(frame.error(kernel.span(), format!("`{}` is no kernel that is read", parts.join("::")))),
        }
    }

    /// Notes that a kernel is launched, under which name it is in the text: all of them have one device.
    fn check_launched(&mut self, frame: &Frame, span: Span, device: FnId, kernel: &Frame) -> Eval<String> {
        let mut own = self.frame_of(device);
        let item = self.program.functions[device.0].item.tree.clone()?;
        let wanted = size(self, &mut own, &item)?;
        let suffix = self.instance_suffix(&item, &kernel.generics).map_err(|parameter| {
            let name = &item.sig.ident;
            let message = format!("the launch of `{name}` leaves `{parameter}` open");
            Stop::Error(Error::new(frame.place(span), message).fix(format!("write it: `{name}::<..>`")))
        })?;
        let Some(host) = &mut self.state.host else {
            return Err(frame.error(span, "a kernel that launches another one"));
        };
        let name = format!("{}{suffix}", self.program.launched_name(device, &host.launched));
        let known = host.launched.iter().any(|other| other.device == device && other.name == name);
        if !known {
            let generics = kernel.generics.clone();
            host.launched.push(Instance { name: name.clone(), device, generics });
        }
        match &host.size {
            Some((size, first)) if *size != wanted => {
                let message =
                    format!("`{name}` is for {wanted}, `{first}` for {size}: a host program has one device");
                Err(frame.error(span, message))
            }
            Some(_) => Ok(name),
            None => {
                host.size = Some((wanted, name.clone()));
                Ok(name)
            }
        }
    }

    /// Adds the value of an argument to the operands, part by part.
    fn give(
        &mut self,
        frame: &Frame,
        span: Span,
        value: &Value,
        changed: bool,
        all: &mut LaunchArguments,
    ) -> Eval<()> {
        match value {
            Value::Context | Value::Unit(_) => Ok(()),
            Value::View(view) => self.give_tensor(frame, span, view, changed, all),
            Value::Tuple(values) | Value::Array(values) => {
                values.iter().try_for_each(|own| self.give(frame, span, own, changed, all))
            }
            Value::Struct(own) => {
                own.fields.values().try_for_each(|own| self.give(frame, span, own, changed, all))
            }
            Value::Int(number) => {
                let number = number.number().and_then(|number| i64::try_from(number).ok());
                let number = number.ok_or_else(|| frame.error(span, "a number of more than 64 bits"))?;
                let name = self.operand_name(frame, span, &Affine::of(number))?;
                all.operands.push(name);
                Ok(())
            }
            Value::Index(index) => {
                let name = self.operand_name(frame, span, &index.sum)?;
                all.operands.push(name);
                Ok(())
            }
            other => Err(frame.error(
                span,
                format!("a kernel is given {}, expected tensors in HBM and integers", other.kind()),
            )),
        }
    }

    fn give_tensor(
        &mut self,
        frame: &Frame,
        span: Span,
        view: &View,
        changed: bool,
        all: &mut LaunchArguments,
    ) -> Eval<()> {
        let whole = view.steps.iter().all(|step| !changed && matches!(step, Step::Reshape(..)));
        if view.ty.memory != Memory::Hbm || !whole {
            return Err(frame.error(span, "a kernel is given whole tensors in HBM"));
        }
        all.operands.push(self.read(frame, span, view)?);
        if changed {
            all.inout.push(view.clone());
        }
        Ok(())
    }

    fn launched_as(
        &mut self,
        frame: &Frame,
        span: Span,
        (kernel, result, given): (&str, &Type, LaunchArguments),
        want: &Want,
    ) -> Eval<Value> {
        let mut made = Vec::new();
        let value = self.results_of(frame, span, result, want.name.as_deref(), &mut made)?;
        let cells: Vec<usize> = made
            .iter()
            .map(|view: &View| view.place.0)
            .chain(given.inout.iter().map(|view| view.place.0))
            .collect();
        let mut types = Vec::new();
        for view in made.iter().chain(&given.inout) {
            let dtype = self.dtype(frame, span, &view.ty)?;
            let maps = view.ty.maps.iter().flatten().map(|map| self.mapping(map)).collect();
            types.push(make(self.ctx, Tensor { kind: &HBM, unit: None, dtype, maps }));
        }
        let names = self.new_names(&cells);
        let new = new!(self.ctx, Launch, self.values(&given.operands));
        let new = new.common(|calling| calling.callee(kernel));
        let results: Vec<_> = names.iter().cloned().zip(types).collect();
        self.state.out.typed(self.ctx, new.into(), &results, &frame.place(span));
        for (&at, name) in cells.iter().zip(names) {
            self.state.cells[at].name = Some(name);
            self.state.cells[at].writes += 1;
        }
        Ok(value)
    }

    /// The results of a kernel: a new tensor for each in its type.
    fn results_of(
        &mut self,
        frame: &Frame,
        span: Span,
        ty: &Type,
        name: Option<&str>,
        made: &mut Vec<View>,
    ) -> Eval<Value> {
        match ty {
            Type::Tensor(tensor)
                if matches!(tensor.memory, Memory::Hbm | Memory::Dm)
                    && tensor.maps.iter().all(Option::is_some) =>
            {
                let view = self.cell(None, tensor.in_hbm(), name.map(str::to_owned));
                made.push(view.clone());
                Ok(Value::View(view))
            }
            Type::Tuple(types) if types.is_empty() => Ok(Value::Nothing),
            Type::Tuple(types) => {
                let own = |(at, ty): (usize, &Type)| {
                    let name = name.map(|name| format!("{name}_{at}"));
                    self.results_of(frame, span, ty, name.as_deref(), made)
                };
                types.iter().enumerate().map(own).collect::<Eval<_>>().map(Value::Tuple)
            }
            Type::Open
            | Type::Number(_)
            | Type::Map(_)
            | Type::Tensor(_)
            | Type::Array(..)
            | Type::Within(_)
            | Type::Adt(_)
            | Type::Context
            | Type::Other(_) => Err(frame.error(span, "the kernel gives something else than tensors in HBM")),
        }
    }

    /// Returns true if a function takes tensors in HBM and the context, and launches: it is a host program unasked.
    pub(crate) fn is_host_program(&mut self, device: FnId) -> bool {
        let mut frame = self.frame_of(device);
        let item = &self.program.functions[device.0].item.source;
        let mut tensors = 0;
        for input in &item.sig.inputs {
            let syn::FnArg::Typed(typed) = input else { return false };
            match self.ty(&mut frame, &typed.ty) {
                Ok(Type::Tensor(tensor))
                    if matches!(tensor.memory, Memory::Hbm | Memory::Dm | Memory::Host) =>
                {
                    tensors += 1
                }
                Ok(Type::Context) => {}
                Ok(_) | Err(_) => return false,
            }
        }
        tensors > 0 && launches(item.block.to_token_stream())
    }
}

/// An error for a part of a host program that visa's host programs lack.
pub(crate) fn not_of_host(frame: &Frame, span: Span, name: &str) -> Stop {
    let message =
        format!("`{name}` is not read in a host program, which launches kernels over tensors in HBM");
    frame.error(span, message)
}

/// Returns true if a method moves a tensor between the host and HBM.
fn is_transfer(of: &Value, name: &str) -> bool {
    let Value::View(view) = of else { return false };
    matches!((view.ty.memory, name), (Memory::Host, "to_hbm") | (Memory::Hbm, "to_host"))
}

/// A launch as an author writes it.
struct WrittenLaunch<'e> {
    span: Span,
    /// The receiver of the method of that name.
    of: Option<&'e syn::Expr>,
    arguments: Vec<&'e syn::Expr>,
    /// The tensors that get its results.
    into: Option<&'e syn::Expr>,
}

/// The launch that is awaited: `launch(..)`, `device.launch(..)`, either with `.output(..)` or `.submit()` after it.
fn written_launch(expr: &syn::Expr) -> Option<WrittenLaunch<'_>> {
    match expr {
        syn::Expr::Paren(inner) => written_launch(&inner.expr),
        syn::Expr::Call(call) if is_launch(&call.func) => Some(WrittenLaunch {
            span: call.span(),
            of: None,
            arguments: call.args.iter().collect(),
            into: None,
        }),
        syn::Expr::MethodCall(call) => match (&*call.method.to_string(), call.args.first()) {
            ("launch", _) => Some(WrittenLaunch {
                span: call.span(),
                of: Some(&call.receiver),
                arguments: call.args.iter().collect(),
                into: None,
            }),
            ("output", Some(into)) => {
                Some(WrittenLaunch { into: Some(into), ..written_launch(&call.receiver)? })
            }
            ("submit", None) => written_launch(&call.receiver),
            (_, _) => None,
        },
        _ => None,
    }
}

pub(crate) fn is_launch(func: &syn::Expr) -> bool {
    matches!(func, syn::Expr::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "launch"))
}

/// Returns true if `launch(..)` is somewhere in tokens.
fn launches(tokens: TokenStream) -> bool {
    let mut named = false;
    for token in tokens {
        let found = match &token {
            TokenTree::Group(group) => {
                named && group.delimiter() == Delimiter::Parenthesis || launches(group.stream())
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => false,
        };
        if found {
            return true;
        }
        named = matches!(&token, TokenTree::Ident(ident) if ident == "launch");
    }
    false
}
