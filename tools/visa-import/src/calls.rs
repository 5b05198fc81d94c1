//! Functions and loops of the input: functions are written in place of their calls, loops over an index stay loops.

use crate::constant::{Computed, computed};
use crate::error::Error;
use crate::eval::{Eval, Evaluator, Frame, Generic, State, Stop, Want, affine, names};
use crate::host::not_of_host;
use crate::map::Map;
use crate::method::Call;
use crate::program::{Item, ModuleId, Space};
use crate::value::{Affine, PlaceId, TensorType, Type, Value, Variant};
use proc_macro2::Span;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use syn::spanned::Spanned;
use visa_numerics::DType;

/// Iterations of a loop that are written out.
pub(crate) const MAX_WRITTEN_OUT: i128 = 4096;

/// The function that a statement gives a variable to, and at which place.
fn given_to(stmt: &syn::Stmt, name: &str) -> Option<(Vec<String>, usize)> {
    match stmt {
        syn::Stmt::Local(local) => taken_by(&local.init.as_ref()?.expr, name),
        syn::Stmt::Expr(expr, _) => taken_by(expr, name),
        syn::Stmt::Item(_) | syn::Stmt::Macro(_) => None,
    }
}

fn taken_by(expr: &syn::Expr, name: &str) -> Option<(Vec<String>, usize)> {
    let of = |inner: &syn::Expr| taken_by(inner, name);
    match expr {
        syn::Expr::Call(call) => {
            let own = |arg: &syn::Expr| match arg {
                syn::Expr::Path(path) => path.path.is_ident(name),
                syn::Expr::Reference(inner) => {
                    matches!(&*inner.expr, syn::Expr::Path(path) if path.path.is_ident(name))
                }
                _ => false,
            };
            match (call.args.iter().position(own), &*call.func) {
                (Some(at), syn::Expr::Path(path)) => Some((names(&path.path), at)),
                (_, _) => call.args.iter().find_map(of),
            }
        }
        syn::Expr::MethodCall(call) => of(&call.receiver).or_else(|| call.args.iter().find_map(of)),
        syn::Expr::Reference(inner) => of(&inner.expr),
        syn::Expr::Paren(inner) => of(&inner.expr),
        syn::Expr::Assign(assign) => of(&assign.right),
        syn::Expr::Tuple(tuple) => tuple.elems.iter().find_map(of),
        syn::Expr::Unsafe(inner) => inner.block.stmts.iter().find_map(|stmt| given_to(stmt, name)),
        syn::Expr::Block(inner) => inner.block.stmts.iter().find_map(|stmt| given_to(stmt, name)),
        _ => None,
    }
}

impl Evaluator<'_> {
    pub(crate) fn call(&mut self, frame: &mut Frame, call: &syn::ExprCall, want: &Want) -> Eval<Value> {
        let syn::Expr::Path(path) = &*call.func else {
            return Err(frame.error(call.func.span(), "what is called is a name here"));
        };
        let parts = names(&path.path);
        if self.state.host.is_some() && crate::host::is_launch(&call.func) {
            let error = Error::new(frame.place(call.span()), "nothing awaits the launch: it does not run");
            return Err(Stop::Error(error.fix("write `.await` after it")));
        }
        if let [name] = &*parts {
            if let Some(Value::Closure(closure)) = frame.local(name).cloned() {
                return self.call_closure(frame, &closure, call, want);
            }
            if let Some(item) = frame.item(name)
                && let syn::Item::Fn(item) = &*item
            {
                let module = frame.module;
                return self.call_fn(frame, (module, &Rc::new(item.clone())), path, call, want);
            }
        }
        if let Some(Item::Fn(module, item)) = self.program.find(frame.module, &parts, Space::Values) {
            return self.call_fn(frame, (module, &item), path, call, want);
        }
        if parts.last().is_some_and(|last| last == "new")
            && let Some(tensor) = self.new_tensor(frame, path, want)?
        {
            return Ok(tensor);
        }
        if parts.last().is_some_and(|last| last == "size_of") && call.args.is_empty() {
            return self.bytes_of(frame, path);
        }
        if let ("transmute", [tensor]) =
            (parts.last().map_or("", String::as_str), &*Vec::from_iter(&call.args))
        {
            return self.transmuted(frame, path, tensor, want);
        }
        let mut args = Vec::new();
        for arg in &call.args {
            args.push(self.expr(frame, arg, &Want::default())?);
        }
        match (parts.last().map(String::as_str), &*args) {
            (Some("from_f32" | "from_f64" | "from"), [number @ (Value::Float(_) | Value::Int(_))]) => {
                Ok(number.clone())
            }
            (Some("from_i32"), [number @ Value::Int(_)]) => Ok(number.clone()),
            // `VeRhs::vrf(&r)`, `VeBranchOperand::always(2)`: what they hold.
            (Some("vrf" | "always"), [operand]) if parts.len() > 1 => Ok(operand.clone()),
            (Some("imm" | "rf" | "matches" | "not_matches" | "all"), _) => Ok(variant(parts, args)),
            (Some(name), _) if name.starts_with(char::is_uppercase) => Ok(variant(parts, args)),
            (_, _) if self.state.host.is_some() => Err(not_of_host(frame, path.span(), &parts.join("::"))),
            (_, _) => {
                Err(frame.error(path.span(), format!("the function `{}` is not known", parts.join("::"))))
            }
        }
    }

    /// `transmute(tensor)`: the same bytes as a tensor of the type that is wanted, or that the call names.
    fn transmuted(
        &mut self,
        frame: &mut Frame,
        path: &syn::ExprPath,
        tensor: &syn::Expr,
        want: &Want,
    ) -> Eval<Value> {
        let Value::View(view) = self.expr(frame, tensor, &Want::default())? else {
            return Err(frame.error(tensor.span(), "`transmute` of what is no tensor is not read"));
        };
        let last = path.path.segments.last().map(|segment| &segment.arguments);
        let named = match last {
            Some(syn::PathArguments::AngleBracketed(list)) => match list.args.last() {
                Some(syn::GenericArgument::Type(ty)) => Some(self.ty(frame, ty)?),
                Some(_) | None => None,
            },
            Some(_) | None => None,
        };
        let named = named.filter(|ty| *ty != Type::Open);
        let want = Want { ty: named.or_else(|| want.ty.clone()), name: want.name.clone() };
        let Some(wanted) = want.tensor() else {
            let error = Error::new(frame.place(path.span()), "nothing says what `transmute` makes");
            return Err(Stop::Error(error.fix("write the type of the variable")));
        };
        if wanted.memory != view.ty.memory || wanted.dtype.is_some_and(|dtype| Some(dtype) != view.ty.dtype) {
            let message = "`transmute` to another memory or another format: it changes mappings alone here";
            return Err(frame.error(path.span(), message));
        }
        self.relabelled(frame, view, &Call::alone("transmute", path.span(), want))
    }

    /// `size_of::<bf16>()`: bytes of an element.
    fn bytes_of(&mut self, frame: &mut Frame, path: &syn::ExprPath) -> Eval<Value> {
        let last = path.path.segments.last().map(|segment| &segment.arguments);
        let ty = match last {
            Some(syn::PathArguments::AngleBracketed(list)) => match list.args.first() {
                Some(syn::GenericArgument::Type(ty)) => Some(self.ty(frame, ty)?),
                Some(_) | None => None,
            },
            Some(_) | None => None,
        };
        let bits = match ty {
            Some(Type::Number(name)) => DType::parse(&name).map(DType::bits),
            Some(_) | None => None,
        };
        match bits.filter(|bits| bits.is_multiple_of(8)) {
            Some(bits) => Ok(Value::Int(i128::from(bits / 8))),
            None => {
                Err(frame
                    .error(path.span(), "`size_of` takes a format of whole bytes, as `size_of::<bf16>()`"))
            }
        }
    }

    /// `DmTensor::<..>::new()`: a tensor that nothing has written yet.
    fn new_tensor(&mut self, frame: &mut Frame, path: &syn::ExprPath, want: &Want) -> Eval<Option<Value>> {
        let mut own = path.path.clone();
        own.segments.pop();
        own.segments.pop_punct();
        let written = self.ty(frame, &syn::Type::Path(syn::TypePath { qself: None, path: own }))?;
        let Type::Tensor(written) = written else { return Ok(None) };
        let ty = match want.tensor() {
            Some(wanted) => merged(&written, wanted),
            None => written,
        };
        let view = self.cell(None, ty, want.name.clone());
        Ok(Some(Value::View(view)))
    }

    /// The type of a variable that has none written: what the first function takes that it is given to.
    pub(crate) fn type_by_use(&mut self, frame: &Frame, name: &str, rest: &[syn::Stmt]) -> Option<Type> {
        let (path, at) = rest.iter().find_map(|stmt| given_to(stmt, name))?;
        let Item::Fn(module, item) = self.program.find(frame.module, &path, Space::Values)? else {
            return None;
        };
        let syn::FnArg::Typed(typed) = item.sig.inputs.get(at)? else { return None };
        let mut own = self.frame(module);
        self.ty(&mut own, &typed.ty).ok()
    }

    fn call_closure(
        &mut self,
        frame: &mut Frame,
        closure: &crate::value::Closure,
        call: &syn::ExprCall,
        want: &Want,
    ) -> Eval<Value> {
        let mut own = closure.frame.clone();
        own.seen = own.scopes.len();
        own.scopes.push(crate::eval::Scope::default());
        for (pat, arg) in closure.item.inputs.iter().zip(&call.args) {
            let value = self.expr(frame, arg, &Want::default())?;
            self.bind(&mut own, pat, value)?;
            own.mark(pattern_name(pat), computed(frame, arg).map(|(_, why)| why));
        }
        let frame = frame.clone();
        self.enter(&frame, call.span(), |eval| eval.expr(&mut own, &closure.item.body, want))
    }

    fn call_fn(
        &mut self,
        frame: &mut Frame,
        (module, item): (ModuleId, &Rc<syn::ItemFn>),
        path: &syn::ExprPath,
        call: &syn::ExprCall,
        want: &Want,
    ) -> Eval<Value> {
        self.check_called(frame, item, call.span())?;
        let mut own = self.frame(module);
        own.generics = self.generics(frame, item, path)?;
        let inputs = &item.sig.inputs;
        if inputs.len() != call.args.len() {
            let message = format!(
                "`{}` takes {} arguments, but {} are given",
                item.sig.ident,
                inputs.len(),
                call.args.len()
            );
            return Err(frame.error(call.span(), message));
        }
        let mut values = Vec::new();
        for (input, arg) in inputs.iter().zip(&call.args) {
            let syn::FnArg::Typed(typed) = input else {
                return Err(own.error(input.span(), "methods of the input are not read"));
            };
            // Generics that are not known yet leave the type open.
            let wanted = self.ty(&mut own, &typed.ty).unwrap_or(Type::Open);
            let value = self.expr(frame, arg, &Want::of(wanted))?;
            self.infer(&mut own, &item.sig.generics, &typed.ty, &value);
            values.push((typed.pat.clone(), value, computed(frame, arg).map(|(_, why)| why)));
        }
        if let (syn::ReturnType::Type(_, ty), Some(wanted)) = (&item.sig.output, &want.ty) {
            self.infer_type(&mut own, &item.sig.generics, ty, wanted);
        }
        for (pat, value, why) in values {
            self.bind(&mut own, &pat, value)?;
            own.mark(pattern_name(&pat), why);
        }
        let ty = match &item.sig.output {
            syn::ReturnType::Default => None,
            syn::ReturnType::Type(_, ty) => Some(self.ty(&mut own, ty)?),
        };
        let want = Want { ty, name: want.name.clone() };
        let frame = frame.clone();
        self.enter(&frame, call.span(), |eval| match eval.block(&mut own, &item.block, &want) {
            Err(Stop::Return(value)) => Ok(value),
            other => other,
        })
    }

    /// What the call says of the generics.
    fn generics(
        &mut self,
        frame: &mut Frame,
        item: &syn::ItemFn,
        path: &syn::ExprPath,
    ) -> Eval<HashMap<String, Generic>> {
        let mut found = HashMap::new();
        let Some(segment) = path.path.segments.last() else { return Ok(found) };
        let syn::PathArguments::AngleBracketed(list) = &segment.arguments else { return Ok(found) };
        let parameters: Vec<&syn::GenericParam> = item
            .sig
            .generics
            .params
            .iter()
            .filter(|parameter| !matches!(parameter, syn::GenericParam::Lifetime(_)))
            .collect();
        let given =
            list.args.iter().filter(|argument| !matches!(argument, syn::GenericArgument::Lifetime(_)));
        for (parameter, argument) in parameters.into_iter().zip(given) {
            match (parameter, argument) {
                (syn::GenericParam::Type(own), syn::GenericArgument::Type(ty)) => {
                    let ty = self.ty(frame, ty)?;
                    if ty != Type::Open {
                        found.insert(own.ident.to_string(), Generic::Type(ty));
                    }
                }
                (syn::GenericParam::Const(own), syn::GenericArgument::Const(expr)) => {
                    found.insert(own.ident.to_string(), Generic::Const(self.number(frame, expr)?));
                }
                (syn::GenericParam::Const(own), syn::GenericArgument::Type(syn::Type::Path(ty))) => {
                    let expr = syn::Expr::Path(syn::ExprPath {
                        attrs: Vec::new(),
                        qself: None,
                        path: ty.path.clone(),
                    });
                    found.insert(own.ident.to_string(), Generic::Const(self.number(frame, &expr)?));
                }
                (_, _) => {}
            }
        }
        Ok(found)
    }

    /// What a generic parameter is, by an argument.
    fn infer(&mut self, own: &mut Frame, generics: &syn::Generics, ty: &syn::Type, value: &Value) {
        if let Value::View(view) = value {
            self.infer_type(own, generics, ty, &Type::Tensor(view.ty.clone()));
        }
    }

    fn infer_type(&mut self, own: &mut Frame, generics: &syn::Generics, ty: &syn::Type, known: &Type) {
        match (ty, known) {
            (syn::Type::Reference(inner), _) => self.infer_type(own, generics, &inner.elem, known),
            (syn::Type::Tuple(tuple), Type::Tuple(types)) => {
                for (ty, known) in tuple.elems.iter().zip(types) {
                    self.infer_type(own, generics, ty, known);
                }
            }
            (syn::Type::Path(path), Type::Tensor(tensor)) => {
                let Some(segment) = path.path.segments.last() else { return };
                let syn::PathArguments::AngleBracketed(list) = &segment.arguments else { return };
                let types = list.args.iter().filter_map(|argument| match argument {
                    syn::GenericArgument::Type(ty) => Some(ty),
                    _ => None,
                });
                let dtype = tensor.dtype.map(|dtype| Type::Number(dtype.name().into()));
                let maps = tensor.maps.iter().cloned().map(|map| map.map(Type::Map));
                for (ty, known) in types.zip(std::iter::once(dtype).chain(maps)) {
                    let (syn::Type::Path(path), Some(known)) = (ty, known) else { continue };
                    let Some(name) = path.path.get_ident().map(ToString::to_string) else { continue };
                    let is_own = generics.type_params().any(|parameter| parameter.ident == name);
                    if is_own {
                        own.generics.entry(name).or_insert(Generic::Type(known));
                    }
                }
            }
            (_, _) => {}
        }
    }

    pub(crate) fn for_loop(&mut self, frame: &mut Frame, own: &syn::ExprForLoop) -> Eval<Value> {
        match self.expr(frame, &own.expr, &Want::default())? {
            Value::Array(values) => self.written_out(frame, own, values.into_iter(), None),
            Value::Range(start, end) => {
                let (Value::Int(start), Value::Int(end)) = (*start, *end) else {
                    let message = "a loop over a range that is known only when the kernel runs";
                    let fix = "go through all positions, and do in the loop what is to be done `if i < n`";
                    let error = Error::new(frame.place(own.expr.span()), message).fix(fix);
                    return Err(Stop::NeedsNumber(error));
                };
                if end <= start {
                    return Ok(Value::Nothing);
                }
                self.counted(frame, own, start, end)
            }
            other => {
                Err(frame
                    .error(own.expr.span(), format!("{} is nothing that a loop goes through", other.kind())))
            }
        }
    }

    fn written_out(
        &mut self,
        frame: &mut Frame,
        own: &syn::ExprForLoop,
        values: impl Iterator<Item = Value>,
        why: Option<Computed>,
    ) -> Eval<Value> {
        for value in values {
            frame.scopes.push(crate::eval::Scope::default());
            let bound = self.bind(frame, &own.pat, value);
            frame.mark(pattern_name(&own.pat), why);
            let found = bound.and_then(|()| self.block(frame, &own.body, &Want::default()));
            frame.scopes.pop();
            match found {
                Err(Stop::Break) => break,
                Ok(_) | Err(Stop::Continue) => {}
                Err(other) => return Err(other),
            }
        }
        Ok(Value::Nothing)
    }

    /// A loop over numbers: one of ours, unless something in it needs the number.
    fn counted(&mut self, frame: &mut Frame, own: &syn::ExprForLoop, start: i128, end: i128) -> Eval<Value> {
        let before = (self.state.clone(), frame.clone());
        if end - start > 1 {
            match self.as_loop(frame, own, start, end) {
                Err(Stop::NeedsNumber(_)) => {}
                Ok(()) => return Ok(Value::Nothing),
                Err(other) => return Err(other),
            }
        }
        (self.state, *frame) = before;
        if end - start > MAX_WRITTEN_OUT {
            let message = format!("a loop of {} iterations whose index is needed as a number", end - start);
            return Err(frame.error(own.span(), message));
        }
        self.written_out(frame, own, (start..end).map(Value::Int), Some(Computed::Index))
    }

    fn as_loop(&mut self, frame: &mut Frame, own: &syn::ExprForLoop, start: i128, end: i128) -> Eval<()> {
        let before = (self.state.clone(), frame.clone());
        let index = self.state.out.name(pattern_name(&own.pat).as_deref());
        // Which tensors does it change?
        self.iteration(frame, own, &index, (start, end))?;
        let changed = before.0.changed_by(&self.state);
        (self.state, *frame) = before;
        for &at in &changed {
            self.current(frame, own.span(), PlaceId(at))?;
        }
        let index = self.state.out.name(pattern_name(&own.pat).as_deref());
        let initial = self.state.names(&changed);
        let (carried, results) = (self.new_names(&changed), self.new_names(&changed));
        for (&at, name) in changed.iter().zip(&carried) {
            self.state.cells[at].name = Some(name.clone());
        }
        let arguments: Vec<&str> = std::iter::once(&index).chain(&carried).map(String::as_str).collect();
        let made = if results.is_empty() { String::new() } else { format!("{} = ", results.join(", ")) };
        let given = if initial.is_empty() { String::new() } else { format!(" {}", initial.join(", ")) };
        self.state.out.open(&format!("{made}tm.for [{}]({}){given}", end - start, arguments.join(", ")));
        self.iteration(frame, own, &index, (start, end))?;
        self.close(frame, own.span(), &changed, results);
        Ok(())
    }

    /// A new name for each of some tensors.
    pub(crate) fn new_names(&mut self, cells: &[usize]) -> Vec<String> {
        let State { out, cells: all, .. } = &mut self.state;
        cells.iter().map(|&at| out.name(all[at].wanted.as_deref())).collect()
    }

    fn iteration(
        &mut self,
        frame: &mut Frame,
        own: &syn::ExprForLoop,
        index: &str,
        (start, end): (i128, i128),
    ) -> Eval<()> {
        let last = i64::try_from(end - start - 1).unwrap_or(i64::MAX);
        self.state.ranges.insert(index.to_owned(), (0, last));
        let mut number = Affine::index(index);
        number.plus = i64::try_from(start).unwrap_or(i64::MAX);
        let outside = std::mem::replace(&mut frame.same_each_time, frame.scopes.len());
        frame.scopes.push(crate::eval::Scope::default());
        let bound = self.bind(frame, &own.pat, Value::Index(number));
        frame.mark(pattern_name(&own.pat), Some(Computed::Index));
        let found = bound.and_then(|()| self.block(frame, &own.body, &Want::default()));
        frame.scopes.pop();
        frame.same_each_time = outside;
        match found {
            Ok(_) => Ok(()),
            Err(Stop::Break | Stop::Continue | Stop::Return(_)) => Err(self.needs_number(frame, own.span())),
            Err(other) => Err(other),
        }
    }

    pub(crate) fn macro_call(&mut self, frame: &mut Frame, mac: &syn::Macro, want: &Want) -> Eval<Value> {
        let name = names(&mac.path).last().cloned().unwrap_or_default();
        if self.state.host.is_some() && !self.program.modules[frame.module.0].macros.contains_key(&name) {
            return Err(not_of_host(frame, mac.span(), &format!("{name}!")));
        }
        match name.as_str() {
            "assert" | "assert_eq" | "assert_ne" | "debug_assert" | "debug_assert_eq" | "debug_assert_ne" => {
                self.assertion(frame, mac, name.trim_start_matches("debug_"))
            }
            "panic" | "unimplemented" | "todo" | "unreachable" => {
                Err(frame.error(mac.span(), format!("the kernel reaches `{name}!`")))
            }
            _ => {
                let rules = self.program.modules[frame.module.0].macros.get(&name).cloned();
                let rules = rules
                    .ok_or_else(|| frame.error(mac.span(), format!("the macro `{name}!` is not known")))?;
                let tokens = crate::macros::expand(&rules, mac.tokens.clone(), &name, 0)
                    .map_err(|why| frame.error(mac.span(), why))?;
                let braced = proc_macro2::TokenStream::from(proc_macro2::TokenTree::Group(
                    proc_macro2::Group::new(proc_macro2::Delimiter::Brace, tokens),
                ));
                let block: syn::Block =
                    syn::parse2(braced).map_err(|why| frame.error(mac.span(), why.to_string()))?;
                let place = frame.clone();
                self.enter(&place, mac.span(), |eval| eval.block(frame, &block, want))
            }
        }
    }

    /// What must hold while a kernel is read; of an index of a loop nothing can be said.
    fn assertion(&mut self, frame: &mut Frame, mac: &syn::Macro, name: &str) -> Eval<Value> {
        type List = syn::punctuated::Punctuated<syn::Expr, syn::Token![,]>;
        let list = mac.parse_body_with(List::parse_terminated);
        let list = list.map_err(|why| frame.error(mac.span(), why.to_string()))?;
        let condition = match (name, list.iter().collect::<Vec<_>>().as_slice()) {
            ("assert", [condition, ..]) => (*condition).clone(),
            ("assert_eq", [left, right, ..]) => syn::parse_quote!(#left == #right),
            ("assert_ne", [left, right, ..]) => syn::parse_quote!(#left != #right),
            (_, _) => return Err(frame.error(mac.span(), format!("`{name}!` without what must hold"))),
        };
        // A condition on an index is one on what the kernel counts, also where it always holds.
        let counted = matches!(computed(frame, &condition), Some((_, Computed::Index)));
        match self.expr(frame, &condition, &Want::default())? {
            Value::Bool(false) => Err(frame.error(mac.span(), format!("`{name}!` does not hold"))),
            Value::Bool(true) if !counted => Ok(Value::Nothing),
            Value::Bool(true) | Value::Condition(_) => {
                let message =
                    format!("`{name}!` of what is known only when the kernel runs: it does not stop then");
                Err(frame.error(mac.span(), message))
            }
            other => Err(frame.error(mac.span(), format!("{} is no condition", other.kind()))),
        }
    }

    pub(crate) fn index_of(&self, frame: &Frame, span: Span, value: &Value) -> Eval<Affine> {
        affine(value).ok_or_else(|| frame.error(span, format!("{}, expected a position", value.kind())))
    }
}

/// A type with what another one knows of it.
pub(crate) fn merged(written: &TensorType, wanted: &TensorType) -> TensorType {
    let map = |(own, other): (&Option<Map>, &Option<Map>)| own.clone().or_else(|| other.clone());
    match written.memory == wanted.memory {
        true => TensorType {
            memory: written.memory,
            dtype: written.dtype.or(wanted.dtype),
            maps: written.maps.iter().zip(&wanted.maps).map(map).collect(),
        },
        false => written.clone(),
    }
}

fn variant(path: Vec<String>, args: Vec<Value>) -> Value {
    Value::Variant(Box::new(Variant { path, args, fields: BTreeMap::new() }))
}

fn pattern_name(pat: &syn::Pat) -> Option<String> {
    match pat {
        syn::Pat::Ident(ident) => Some(ident.ident.to_string()),
        syn::Pat::Type(typed) => pattern_name(&typed.pat),
        _ => None,
    }
}
