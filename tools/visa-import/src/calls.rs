//! Calls of the host: functions are evaluated at their calls, with the known values of their arguments.

use crate::constant::{Computed, computed};
use crate::error::Error;
use crate::eval::{Eval, Evaluator, Frame, MAX_ELEMENTS, State, Stop, Want, affine, names};
use crate::host::not_of_host;
use crate::integer::{Int, IntTy};
use crate::loops::pattern_name;
use crate::method::Call;
use crate::numbers::{in_std, typed};
use crate::place::{Reference, Slot, deref};
use crate::program::{FnId, Item, called};
use crate::value::{Affine, Closure, Float, Memory, Type, Value, merged};
use proc_macro2::Span;
use std::rc::Rc;
use syn::spanned::Spanned;
use visa_numerics::DType;

/// An argument with why its number is known only when the kernel runs.
type Argument = (Value, Option<Computed>);

impl Evaluator<'_> {
    pub(crate) fn call(&mut self, frame: &mut Frame, call: &syn::ExprCall, want: &Want) -> Eval<Value> {
        let Some(path) = called(&call.func) else {
            let of = self.expr(frame, &call.func, &Want::default())?;
            let args = self.arguments(frame, &call.args)?;
            return self.apply(frame, call.span(), &of, args);
        };
        let parts = names(&path.path);
        if self.state.host.is_some() && crate::host::is_launch(&call.func) {
            let error = Error::new(frame.place(call.span()), "nothing awaits the launch: it does not run");
            return Err(Stop::Error(error.fix("write `.await` after it")));
        }
        let local = path.path.get_ident().and_then(|name| frame.local(&name.to_string()));
        match local {
            Some(Value::Closure(closure)) => return self.call_closure(frame, &closure, call, want),
            Some(Value::Function(id)) => return self.call_fn(frame, id, path, call, want),
            Some(other) => {
                let args = self.arguments(frame, &call.args)?;
                return self.apply(frame, call.span(), &other, args);
            }
            None => {}
        }
        let item = match &path.qself {
            Some(_) => self.associated(frame, path)?,
            None => self.value_item(frame, &parts),
        };
        match item {
            Some(Item::Fn(id)) => return self.call_fn(frame, id, path, call, want),
            Some(Item::Variant(of, at)) => return self.constructed(frame, call, (of, at)),
            Some(Item::Adt(of)) => return self.constructed(frame, call, (of, 0)),
            Some(Item::Const(id)) => {
                let of = self.constant_value(frame, path.span(), id)?;
                let args = self.arguments(frame, &call.args)?;
                return self.apply(frame, call.span(), &of, args);
            }
            Some(Item::Module(_) | Item::Axis(_) | Item::Type(..) | Item::Trait(..) | Item::Macro(_))
            | None => {}
        }
        self.toolchain_call(frame, path, call, want)
    }

    /// A function of the toolchain or of the language.
    fn toolchain_call(
        &mut self,
        frame: &mut Frame,
        path: &syn::ExprPath,
        call: &syn::ExprCall,
        want: &Want,
    ) -> Eval<Value> {
        let parts = names(&path.path);
        let last = parts.last().map_or("", String::as_str);
        if matches!(last, "new" | "default")
            && let Some(tensor) = self.new_tensor(frame, path, want)?
        {
            return Ok(tensor);
        }
        if last == "zero"
            && let Some(zeros) = self.host_zeros(frame, path, want)?
        {
            return Ok(zeros);
        }
        if last == "from_addr" {
            let args: Vec<syn::Expr> = call.args.iter().cloned().collect();
            if let Some(tensor) = self.by_address(frame, path, (&args, call.span()), want)? {
                return Ok(tensor);
            }
        }
        if last == "size_of" && call.args.is_empty() {
            return self.bytes_of(frame, path);
        }
        if let ("transmute", [tensor]) = (last, &*Vec::from_iter(&call.args)) {
            return self.transmuted(frame, path, tensor, want);
        }
        if let ("Ok", [value], true) = (last, &*Vec::from_iter(&call.args), self.state.host.is_some()) {
            let value = self.expr(frame, value, want)?;
            return Ok(Value::variant(parts, vec![value]));
        }
        if let ("Some" | "Ok", [value], Some(Type::Within(content))) =
            (last, &*Vec::from_iter(&call.args), &want.ty)
        {
            let value = self.expr(frame, value, &Want::of((**content).clone()))?;
            return Ok(Value::variant(parts, vec![value]));
        }
        let args = self.arguments(frame, &call.args)?;
        let full = self.program.external(frame.module, &parts);
        if let (["array", "from_fn"], [closure]) = (&*in_std(&full), &*args) {
            return self.array_from(frame, path, closure, want);
        }
        if let Some(value) = self.language_call(frame, call.span(), &full, &args)? {
            return Ok(value);
        }
        match (last, &*args) {
            ("from_f32" | "from_f64" | "from", [number @ (Value::Float(_) | Value::Int(_))]) => {
                Ok(number.clone())
            }
            ("from_i32", [number @ Value::Int(_)]) => Ok(number.clone()),
            // `VeRhs::vrf(&r)`, `VeBranchOperand::always(2)`: their operands.
            ("vrf" | "always", [operand]) if parts.len() > 1 => Ok(operand.clone()),
            ("imm" | "rf" | "matches" | "not_matches" | "all", _) => Ok(Value::variant(parts, args)),
            (name, _) if name.starts_with(char::is_uppercase) => {
                self.defined_outside(frame, path.span(), &parts)?;
                Ok(Value::variant(parts, args))
            }
            (_, _) => Err(self.unknown_function(frame, path.span(), &parts)),
        }
    }

    /// The error of a function that is neither of the input nor of the toolchain: that of the `use` that should bring
    /// it in, if there is one.
    fn unknown_function(&self, frame: &Frame, span: Span, path: &[String]) -> Stop {
        let brought = path.first().and_then(|first| self.program.unresolved_use(frame.module, first));
        match brought {
            Some(error) => Stop::Error(error),
            None if self.state.host.is_some() => not_of_host(frame, span, &path.join("::")),
            None => frame.error(span, format!("the function `{}` is not known", path.join("::"))),
        }
    }

    /// A function of the language, by its whole path; `None` for another one.
    fn language_call(
        &mut self,
        frame: &mut Frame,
        span: Span,
        path: &[String],
        args: &[Value],
    ) -> Eval<Option<Value>> {
        let parts = &*in_std(path);
        let plain: Vec<Value> = args.iter().cloned().map(deref).collect();
        Ok(match (parts, &*plain) {
            (["f32", "from_bits"], [Value::Int(bits)]) => {
                Some(Value::Float(Float::F32(f32::from_bits(bits.bits() as u32))))
            }
            (["f64", "from_bits"], [Value::Int(bits)]) => {
                Some(Value::Float(Float::F64(f64::from_bits(bits.bits() as u64))))
            }
            (["f32" | "f64", "from"], [value]) => self.converted(parts[0], value),
            ([of, "from"], [value]) if IntTy::named(of).is_some() => self.converted(of, value),
            ([of, "try_from"], [Value::Int(number)]) => IntTy::named(of).map(|ty| {
                let held = number
                    .number()
                    .map_or_else(|| (ty == IntTy::U128).then_some(*number), |own| Int::new(ty, own));
                let error = Value::variant(vec!["TryFromIntError".to_owned()], Vec::new());
                crate::methods::result(held.map(Value::Int).ok_or(error))
            }),
            (["char", "from"], [Value::Int(own)]) if own.ty == IntTy::U8 => {
                Some(Value::Char(own.bits() as u8 as char))
            }
            (["char", "from_u32"], [Value::Int(own)]) => {
                Some(Value::option(u32::try_from(own.bits()).ok().and_then(char::from_u32).map(Value::Char)))
            }
            (["cmp", name @ ("min" | "max")], [one, other]) => {
                Some(self.extreme(frame, span, *name == "max", one.clone(), other.clone())?)
            }
            (["mem", "drop"] | ["drop"], [_]) => Some(Value::Nothing),
            (["mem", "swap"], [Value::View(one), other @ Value::View(_)]) => {
                Some(self.exchanged(frame, span, (one, other), true)?)
            }
            (["mem", "replace"], [Value::View(one), other @ Value::View(_)]) => {
                Some(self.exchanged(frame, span, (one, other), false)?)
            }
            (["mem", "swap"], _) => match args {
                [Value::Ref(one), Value::Ref(other)] => {
                    let (Some(first), Some(second)) = (one.read(), other.read()) else { return Ok(None) };
                    self.write(frame, span, one, second)?;
                    self.write(frame, span, other, first)?;
                    Some(Value::Nothing)
                }
                _ => None,
            },
            (["mem", "replace"], _) => match args {
                [Value::Ref(one), value] => {
                    let before = one.read();
                    self.write(frame, span, one, value.clone())?;
                    before
                }
                _ => None,
            },
            (["convert", "identity"], [value]) => Some(value.clone()),
            ([of, name], [first, ..]) if IntTy::named(of).is_some() || matches!(*of, "f32" | "f64") => {
                let place = Reference::of(self.slot(first.clone()));
                let call =
                    crate::methods::HostCall { name, span, place, args: args[1..].to_vec(), types: &[] };
                Some(self.host_method(frame, first.clone(), call)?)
            }
            (_, _) => None,
        })
    }

    /// `T::from(value)` of numbers: every value of the one type is one of the other.
    fn converted(&self, to: &str, value: &Value) -> Option<Value> {
        match (value, IntTy::named(to)) {
            (Value::Int(number), Some(ty)) => Some(Value::Int(number.cast(ty))),
            (Value::Bool(truth), Some(ty)) => Some(Value::Int(Int::wrapped(ty, (*truth).into()))),
            (Value::Char(own), Some(ty)) => Some(Value::Int(Int::wrapped(ty, u32::from(*own).into()))),
            (Value::Int(number), None) if to == "f32" => Some(Value::Float(Float::F32(number.to_f32()))),
            (Value::Int(number), None) => Some(Value::Float(Float::F64(number.to_f64()))),
            (Value::Float(number), None) if to == "f64" => Some(Value::Float(Float::F64(number.number()))),
            (Value::Float(number @ Float::F32(_)), None) => Some(Value::Float(*number)),
            (_, _) => None,
        }
    }

    fn arguments(
        &mut self,
        frame: &mut Frame,
        all: &syn::punctuated::Punctuated<syn::Expr, syn::Token![,]>,
    ) -> Eval<Vec<Value>> {
        all.iter().map(|arg| self.expr(frame, arg, &Want::default())).collect()
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
            Some(bits) => Ok(Value::Int(Int::size((bits / 8) as usize))),
            None => {
                Err(frame
                    .error(path.span(), "`size_of` takes a format of whole bytes, as `size_of::<bf16>()`"))
            }
        }
    }

    /// `DmTensor::<..>::new()`: a tensor that nothing has written yet.
    pub(crate) fn new_tensor(
        &mut self,
        frame: &mut Frame,
        path: &syn::ExprPath,
        want: &Want,
    ) -> Eval<Option<Value>> {
        let Some(Type::Tensor(written)) = self.owner_of(frame, path)? else { return Ok(None) };
        if written.memory == Memory::Host {
            return Ok(None);
        }
        let ty = match want.tensor() {
            Some(wanted) => merged(&written, wanted),
            None => written,
        };
        let view = self.cell(None, ty, want.name.clone());
        Ok(Some(Value::View(view)))
    }

    /// A closure with the variables that it sees; one that moves them has its own.
    pub(crate) fn closure(&mut self, frame: &Frame, item: &syn::ExprClosure) -> Value {
        let mut frame = frame.clone();
        if item.capture.is_some() {
            let locals = std::mem::take(&mut frame.locals);
            let own = |(name, slot): (String, Rc<Slot>)| {
                let made = self.slot(slot.value());
                made.mark(slot.computed());
                (name, made)
            };
            frame.locals = locals.into_iter().map(own).collect();
        }
        Value::Closure(Rc::new(Closure { item: Rc::new(item.clone()), frame }))
    }

    /// A copy of a closure: one that moved its variables has them apart from the other's.
    pub(crate) fn copied(&mut self, closure: &Rc<Closure>) -> Value {
        match closure.item.capture.is_some() {
            true => self.closure(&closure.frame, &closure.item),
            false => Value::Closure(Rc::clone(closure)),
        }
    }

    fn call_closure(
        &mut self,
        frame: &mut Frame,
        closure: &Closure,
        call: &syn::ExprCall,
        want: &Want,
    ) -> Eval<Value> {
        let mut args = Vec::new();
        for arg in &call.args {
            args.push((self.expr(frame, arg, &Want::default())?, computed(frame, arg).map(|(_, why)| why)));
        }
        self.enter_closure(frame, call.span(), closure, (args, want))
    }

    /// Calls a closure on values.
    pub(crate) fn run_closure(
        &mut self,
        frame: &Frame,
        span: Span,
        closure: &Closure,
        args: Vec<Value>,
    ) -> Eval<Value> {
        let args = args.into_iter().map(|value| (value, None)).collect();
        self.enter_closure(frame, span, closure, (args, &Want::default()))
    }

    fn enter_closure(
        &mut self,
        frame: &Frame,
        span: Span,
        closure: &Closure,
        (args, want): (Vec<Argument>, &Want),
    ) -> Eval<Value> {
        let mut own = closure.frame.clone();
        if closure.item.inputs.len() != args.len() {
            let message =
                format!("a closure of {} arguments, but {} are given", closure.item.inputs.len(), args.len());
            return Err(frame.error(span, message));
        }
        for (pat, (value, why)) in closure.item.inputs.iter().zip(args) {
            self.bind(&mut own, pat, value)?;
            own.mark(pattern_name(pat), why);
        }
        own.result = match &closure.item.output {
            syn::ReturnType::Default => want.ty.clone(),
            syn::ReturnType::Type(_, ty) => Some(self.ty(&mut own, ty)?),
        };
        let want = Want { ty: own.result.clone(), name: want.name.clone() };
        self.enter(frame, span, |eval| match eval.expr(&mut own, &closure.item.body, &want) {
            Err(Stop::Return(value)) => Ok(value),
            other => other,
        })
    }

    fn call_fn(
        &mut self,
        frame: &mut Frame,
        id: FnId,
        path: &syn::ExprPath,
        call: &syn::ExprCall,
        want: &Want,
    ) -> Eval<Value> {
        let item = self.program.functions[id.0].item.tree.clone()?;
        self.check_called(frame, &item, call.span())?;
        let mut own = self.frame_of(id);
        self.signature_defined(&own, &item.sig)?;
        own.generics = self.generics(frame, &item, path)?;
        self.check_count(frame, call.span(), &item, call.args.len())?;
        let values = self.given_values(frame, (id, &item, &mut own), call.args.iter().collect())?;
        self.enter_with(frame, call.span(), (&item, own), values, want)
    }

    /// The values of the last arguments of a call, of the types of the parameters.
    fn given_values(
        &mut self,
        frame: &mut Frame,
        (id, item, own): (FnId, &syn::ItemFn, &mut Frame),
        args: Vec<&syn::Expr>,
    ) -> Eval<Vec<Argument>> {
        let mut values = Vec::new();
        let skipped = item.sig.inputs.len() - args.len();
        for (input, arg) in item.sig.inputs.iter().skip(skipped).zip(args) {
            // Generics that are not known yet leave the type open.
            let wanted = match input {
                syn::FnArg::Typed(typed) => self.ty(own, &typed.ty).unwrap_or(Type::Open),
                syn::FnArg::Receiver(_) => Type::Open,
            };
            let value = self.expr(frame, arg, &Want::of(wanted))?;
            match input {
                syn::FnArg::Typed(typed) => self.infer(own, &item.sig.generics, &typed.ty, &value),
                syn::FnArg::Receiver(_) => self.infer_self(own, id, &value),
            }
            values.push((value, computed(frame, arg).map(|(_, why)| why)));
        }
        Ok(values)
    }

    /// Runs the body of a function whose result has a wanted type, which may fix its parameters.
    fn enter_with(
        &mut self,
        frame: &Frame,
        span: Span,
        (item, mut own): (&syn::ItemFn, Frame),
        values: Vec<Argument>,
        want: &Want,
    ) -> Eval<Value> {
        if let (syn::ReturnType::Type(_, ty), Some(wanted)) = (&item.sig.output, &want.ty) {
            self.infer_type(&mut own, &item.sig.generics, ty, wanted);
        }
        self.enter_fn(frame, span, item, own, (values, want.name.clone()))
    }

    /// Calls a function on values.
    pub(crate) fn run_fn(&mut self, frame: &Frame, span: Span, id: FnId, args: Vec<Value>) -> Eval<Value> {
        let item = self.program.functions[id.0].item.tree.clone()?;
        self.check_called(frame, &item, span)?;
        self.check_count(frame, span, &item, args.len())?;
        let mut own = self.frame_of(id);
        self.signature_defined(&own, &item.sig)?;
        for (input, value) in item.sig.inputs.iter().zip(&args) {
            match input {
                syn::FnArg::Typed(typed) => self.infer(&mut own, &item.sig.generics, &typed.ty, value),
                syn::FnArg::Receiver(_) => self.infer_self(&mut own, id, value),
            }
        }
        let args = args.into_iter().map(|value| (value, None)).collect();
        self.enter_fn(frame, span, &item, own, (args, None))
    }

    /// Calls a method that the input implements.
    pub(crate) fn call_method(
        &mut self,
        frame: &mut Frame,
        id: FnId,
        receiver: &Reference,
        call: &syn::ExprMethodCall,
        want: &Want,
    ) -> Eval<Value> {
        let item = self.program.functions[id.0].item.tree.clone()?;
        let Some(syn::FnArg::Receiver(own)) = item.sig.inputs.first() else {
            return Err(frame.error(call.span(), format!("`{}` is no method", call.method)));
        };
        let changes = matches!(&*own.ty, syn::Type::Reference(reference) if reference.mutability.is_some());
        let receiver = match changes {
            true => receiver.clone().borrowed(),
            false => receiver.read().unwrap_or(Value::Nothing),
        };
        self.check_called(frame, &item, call.span())?;
        self.check_count(frame, call.span(), &item, call.args.len() + 1)?;
        let mut own = self.frame_of(id);
        self.signature_defined(&own, &item.sig)?;
        own.generics = self.listed_generics(frame, &item, call.turbofish.as_ref())?;
        self.infer_self(&mut own, id, &receiver);
        let mut values = vec![(receiver, None)];
        values.extend(self.given_values(frame, (id, &item, &mut own), call.args.iter().collect())?);
        self.enter_with(frame, call.span(), (&item, own), values, want)
    }

    /// The names of a function before its arguments.
    pub(crate) fn frame_of(&self, id: FnId) -> Frame {
        let own = &self.program.functions[id.0];
        let mut frame = self.frame(own.module);
        frame.of = own.of;
        frame.unread = Rc::clone(&own.item.unread);
        frame
    }

    fn check_count(&self, frame: &Frame, span: Span, item: &syn::ItemFn, count: usize) -> Eval<()> {
        let takes = item.sig.inputs.len();
        if takes == count {
            return Ok(());
        }
        let message = format!("`{}` takes {takes} arguments, but {count} are given", item.sig.ident);
        Err(frame.error(span, message))
    }

    /// Runs the body of a function on its arguments.
    fn enter_fn(
        &mut self,
        frame: &Frame,
        span: Span,
        item: &syn::ItemFn,
        mut own: Frame,
        (args, name): (Vec<Argument>, Option<String>),
    ) -> Eval<Value> {
        for (input, (value, why)) in item.sig.inputs.iter().zip(args) {
            match input {
                syn::FnArg::Typed(parameter) => {
                    let ty = self.ty(&mut own, &parameter.ty).unwrap_or(Type::Open);
                    self.bind(&mut own, &parameter.pat, typed(value, &ty))?;
                    own.mark(pattern_name(&parameter.pat), why);
                }
                syn::FnArg::Receiver(_) => {
                    let slot = self.slot(value);
                    own.locals.insert("self".to_owned(), slot);
                }
            }
        }
        let ty = match &item.sig.output {
            syn::ReturnType::Default => None,
            syn::ReturnType::Type(_, ty) => Some(self.ty(&mut own, ty)?),
        };
        own.result.clone_from(&ty);
        let want = Want { ty, name };
        self.enter(frame, span, |eval| match eval.block(&mut own, &item.block, &want) {
            Err(Stop::Return(value)) => Ok(value),
            other => other,
        })
    }

    /// A new name for each of some tensors.
    pub(crate) fn new_names(&mut self, cells: &[usize]) -> Vec<String> {
        let State { out, cells: all, .. } = &mut self.state;
        cells.iter().map(|&at| out.name(all[at].wanted.as_deref())).collect()
    }

    /// `array::from_fn(f)`: the length is that of the type that is wanted, or that the call names.
    fn array_from(
        &mut self,
        frame: &mut Frame,
        path: &syn::ExprPath,
        closure: &Value,
        want: &Want,
    ) -> Eval<Value> {
        let (element, named) = match path.path.segments.last().map(|segment| &segment.arguments) {
            Some(syn::PathArguments::AngleBracketed(list)) => (list.args.first(), list.args.iter().nth(1)),
            Some(syn::PathArguments::None | syn::PathArguments::Parenthesized(_)) | None => (None, None),
        };
        let element = match element {
            Some(syn::GenericArgument::Type(ty)) => Some(self.ty(frame, ty)?),
            Some(_) | None => None,
        };
        let named = match named {
            Some(syn::GenericArgument::Const(expr)) => Some(self.number(frame, expr)?),
            Some(syn::GenericArgument::Type(syn::Type::Path(ty))) => {
                let expr = syn::ExprPath { attrs: Vec::new(), qself: None, path: ty.path.clone() };
                Some(self.number(frame, &syn::Expr::Path(expr))?)
            }
            Some(_) | None => None,
        };
        let (of_want, wanted) = match &want.ty {
            Some(Type::Array(element, length)) => (Some((**element).clone()), *length),
            Some(_) | None => (None, None),
        };
        let element = element.filter(|ty| *ty != Type::Open).or(of_want);
        let want = element.map_or_else(Want::default, Want::of);
        let length = named.and_then(|number| usize::try_from(number).ok()).or(wanted);
        let Some(length) = length.filter(|&length| length <= MAX_ELEMENTS) else {
            let message = "the length of the array that `from_fn` makes is not known here";
            let error = Error::new(frame.place(path.span()), message);
            return Err(Stop::Error(error.fix("give the variable a type, such as `[i32; 4]`")));
        };
        let made = |at| {
            let at = Value::Int(Int::size(at));
            match closure {
                Value::Closure(own) => self.enter_closure(frame, path.span(), own, (vec![(at, None)], &want)),
                other => self.apply(frame, path.span(), other, vec![at]),
            }
        };
        Ok(Value::Array((0..length).map(made).collect::<Eval<_>>()?))
    }

    pub(crate) fn index_of(&self, frame: &Frame, span: Span, value: &Value) -> Eval<Affine> {
        affine(value).ok_or_else(|| frame.error(span, format!("{}, expected a position", value.kind())))
    }
}
