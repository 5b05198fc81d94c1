//! Calls of the host: functions are evaluated at their calls, with the known values of their arguments.

use crate::constant::{Computed, computed};
use crate::error::Error;
use crate::eval::{Eval, Evaluator, Frame, Generic, MAX_ELEMENTS, State, Stop, Want, affine, names};
use crate::expand::arguments;
use crate::host::not_of_host;
use crate::instance::lone_terms;
use crate::integer::{Int, IntTy};
use crate::loops::pattern_name;
use crate::map::Map;
use crate::marks::plain;
use crate::method::Call;
use crate::numbers::{in_std, typed};
use crate::place::{Reference, Slot, deref};
use crate::program::{AdtId, FnId, Item, Space, called};
use crate::value::{Affine, Closure, Float, Memory, Record, Type, Value, merged};
use proc_macro2::Span;
use std::collections::{BTreeMap, HashMap};
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

    /// The type in front of the last segment of a path, as `DmTensor::<..>` of `DmTensor::<..>::new`.
    pub(crate) fn owner_of(&mut self, frame: &mut Frame, path: &syn::ExprPath) -> Eval<Type> {
        let mut own = path.path.clone();
        own.segments.pop();
        own.segments.pop_punct();
        self.ty(frame, &syn::Type::Path(syn::TypePath { qself: None, path: own }))
    }

    /// `DmTensor::<..>::new()`: a tensor that nothing has written yet.
    pub(crate) fn new_tensor(
        &mut self,
        frame: &mut Frame,
        path: &syn::ExprPath,
        want: &Want,
    ) -> Eval<Option<Value>> {
        let Type::Tensor(written) = self.owner_of(frame, path)? else { return Ok(None) };
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

    /// The generics that the call specifies.
    pub(crate) fn generics(
        &mut self,
        frame: &mut Frame,
        item: &syn::ItemFn,
        path: &syn::ExprPath,
    ) -> Eval<HashMap<String, Generic>> {
        match path.path.segments.last().map(|segment| &segment.arguments) {
            Some(syn::PathArguments::AngleBracketed(list)) => self.listed_generics(frame, item, Some(list)),
            Some(syn::PathArguments::None | syn::PathArguments::Parenthesized(_)) | None => {
                Ok(HashMap::new())
            }
        }
    }

    /// The generics that a list between `::<` and `>` specifies.
    fn listed_generics(
        &mut self,
        frame: &mut Frame,
        item: &syn::ItemFn,
        list: Option<&syn::AngleBracketedGenericArguments>,
    ) -> Eval<HashMap<String, Generic>> {
        let mut found = HashMap::new();
        let Some(list) = list else { return Ok(found) };
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
            found.extend(self.given_generic(frame, parameter, argument)?);
        }
        Ok(found)
    }

    /// A parameter and the value that an argument gives it; `None` where the argument leaves it open.
    pub(crate) fn given_generic(
        &mut self,
        frame: &mut Frame,
        parameter: &syn::GenericParam,
        argument: &syn::GenericArgument,
    ) -> Eval<Option<(String, Generic)>> {
        let (name, generic) = match (parameter, argument) {
            (syn::GenericParam::Type(own), syn::GenericArgument::Type(ty)) => match self.ty(frame, ty)? {
                Type::Open => return Ok(None),
                ty => (&own.ident, Generic::Type(ty)),
            },
            (syn::GenericParam::Const(own), syn::GenericArgument::Const(expr)) => {
                (&own.ident, self.const_generic(frame, own, expr)?)
            }
            (syn::GenericParam::Const(own), syn::GenericArgument::Type(syn::Type::Path(ty))) => {
                let path = ty.path.clone();
                let expr = syn::Expr::Path(syn::ExprPath { attrs: Vec::new(), qself: None, path });
                (&own.ident, self.const_generic(frame, own, &expr)?)
            }
            (_, _) => return Ok(None),
        };
        Ok(Some((plain(&name.to_string()).to_owned(), generic)))
    }

    /// The value of a constant parameter, of the parameter's type.
    pub(crate) fn const_generic(
        &mut self,
        frame: &mut Frame,
        parameter: &syn::ConstParam,
        expr: &syn::Expr,
    ) -> Eval<Generic> {
        let value = deref(self.expr(frame, expr, &Want::default())?);
        let ty = self.ty(frame, &parameter.ty)?;
        match typed(value, &ty) {
            value @ (Value::Int(_) | Value::Bool(_) | Value::Char(_)) => Ok(Generic::Const(value)),
            Value::Index(_) => Err(self.needs_number(frame, expr.span())),
            other => Err(frame.error(expr.span(), format!("{} is no constant parameter", other.kind()))),
        }
    }

    /// The generic parameters of an implementation that the receiver fixes by its fields.
    fn infer_self(&mut self, own: &mut Frame, id: FnId, receiver: &Value) {
        let Value::Struct(record) = deref(receiver.clone()) else { return };
        let Some(number) = self.program.functions[id.0].implementation else { return };
        let adt = &self.program.adts[record.of.0];
        let mut fields = self.frame(adt.module);
        for (name, ty) in &adt.variants[record.variant].fields {
            if let Some(value) = record.fields.get(name) {
                self.infer(&mut fields, &adt.generics, ty, value);
            }
        }
        // The implementation may call them otherwise.
        let syn::Type::Path(path) = &self.program.implementations[number].self_ty else { return };
        let Some(segment) = path.path.segments.last() else { return };
        let syn::PathArguments::AngleBracketed(list) = &segment.arguments else { return };
        let parameters = adt.generics.params.iter().filter_map(|parameter| match parameter {
            syn::GenericParam::Type(own) => Some(&own.ident),
            syn::GenericParam::Const(own) => Some(&own.ident),
            syn::GenericParam::Lifetime(_) => None,
        });
        let given =
            list.args.iter().filter(|argument| !matches!(argument, syn::GenericArgument::Lifetime(_)));
        for (parameter, argument) in parameters.zip(given) {
            if let (Some(found), syn::GenericArgument::Type(syn::Type::Path(path))) =
                (fields.generics.get(&parameter.to_string()), argument)
                && let Some(name) = path.path.get_ident()
            {
                own.generics.insert(name.to_string(), found.clone());
            }
        }
    }

    /// The generic parameters that an argument fixes.
    pub(crate) fn infer(&mut self, own: &mut Frame, generics: &syn::Generics, ty: &syn::Type, value: &Value) {
        match (ty, value) {
            (_, Value::View(view)) => self.infer_type(own, generics, ty, &Type::Tensor(view.ty.clone())),
            (syn::Type::Reference(inner), _) => self.infer(own, generics, &inner.elem, &deref(value.clone())),
            (syn::Type::Array(array), Value::Array(all)) => {
                if let syn::Expr::Path(path) = &array.len
                    && let Some(name) = path.path.get_ident().map(ToString::to_string)
                    && generics.const_params().any(|parameter| parameter.ident == name)
                {
                    own.generics.entry(name).or_insert(Generic::Const(Value::Int(Int::size(all.len()))));
                }
                if let Some(first) = all.first() {
                    self.infer(own, generics, &array.elem, first);
                }
            }
            (syn::Type::Path(path), Value::Struct(record)) => {
                if let Some(name) = path.path.get_ident().map(ToString::to_string)
                    && generics.type_params().any(|parameter| parameter.ident == name)
                {
                    own.generics.entry(name).or_insert(Generic::Type(Type::Adt(record.of)));
                }
            }
            (_, _) => {}
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
                    let Some(known) = known else { continue };
                    if let (syn::Type::Macro(map), Type::Map(known)) = (ty, &known) {
                        infer_terms(own, generics, &map.mac.tokens, known);
                    }
                    let syn::Type::Path(path) = ty else { continue };
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

    /// A new name for each of some tensors.
    pub(crate) fn new_names(&mut self, cells: &[usize]) -> Vec<String> {
        let State { out, cells: all, .. } = &mut self.state;
        cells.iter().map(|&at| out.name(all[at].wanted.as_deref())).collect()
    }

    /// A call of the constructor of a structure or a variant.
    fn constructed(&mut self, frame: &mut Frame, call: &syn::ExprCall, of: (AdtId, usize)) -> Eval<Value> {
        let mut args = Vec::new();
        for (at, arg) in call.args.iter().enumerate() {
            let want = self.field_want(of, &at.to_string(), arg);
            args.push(self.expr(frame, arg, &want)?);
        }
        self.construct(frame, call.span(), of, args)
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

    /// A structure or a variant of its fields in their order.
    pub(crate) fn construct(
        &mut self,
        frame: &Frame,
        span: Span,
        (of, variant): (AdtId, usize),
        args: Vec<Value>,
    ) -> Eval<Value> {
        self.check_drop(frame, span, of)?;
        let own = &self.program.adts[of.0].variants[variant];
        if own.fields.len() != args.len() {
            let message =
                format!("`{}` has {} fields, but {} are given", own.name, own.fields.len(), args.len());
            return Err(frame.error(span, message));
        }
        let fields = own.fields.iter().zip(args).map(|((name, _), value)| (name.clone(), value)).collect();
        Ok(Value::Struct(Record { of, variant, fields }))
    }

    /// Refuses a value at whose end code of the input would run.
    fn check_drop(&self, frame: &Frame, span: Span, of: AdtId) -> Eval<()> {
        let own = &self.program.adts[of.0];
        match own.implemented.iter().any(|name| name == "Drop") {
            true => Err(frame.error(span, format!("`{}` implements `Drop`, which is not read", own.name))),
            false => Ok(()),
        }
    }

    /// `S { a: 1, ..rest }`
    pub(crate) fn structure(&mut self, frame: &mut Frame, of: &syn::ExprStruct) -> Eval<Value> {
        let path = names(&of.path);
        let found = self.program.find(frame.module, frame.of, &path, Space::Types);
        let (adt, variant) = match found {
            Some(Item::Adt(id)) => (id, 0),
            Some(Item::Variant(id, at)) => (id, at),
            Some(Item::Type(..)) => match self.program.adt_of(frame.module, &path) {
                Some(id) => (id, 0),
                None => return Err(frame.error(of.span(), format!("`{}` is no structure", path.join("::")))),
            },
            Some(_) | None => return self.foreign_structure(frame, of, path),
        };
        let mut fields = BTreeMap::new();
        for field in &of.fields {
            let name = crate::place::member(&field.member);
            let want = self.field_want((adt, variant), &name, &field.expr);
            fields.insert(name, self.expr(frame, &field.expr, &want)?);
        }
        self.check_drop(frame, of.span(), adt)?;
        if let Some(rest) = &of.rest {
            let Value::Struct(rest) = deref(self.expr(frame, rest, &Want::default())?) else {
                return Err(frame.error(rest.span(), "what is after `..` is no structure"));
            };
            for (name, value) in rest.fields {
                fields.entry(name).or_insert(value);
            }
        }
        Ok(Value::Struct(Record { of: adt, variant, fields }))
    }

    /// A structure of the toolchain's.
    fn foreign_structure(
        &mut self,
        frame: &mut Frame,
        of: &syn::ExprStruct,
        path: Vec<String>,
    ) -> Eval<Value> {
        let mut fields = BTreeMap::new();
        for field in &of.fields {
            let value = self.expr(frame, &field.expr, &Want::default())?;
            fields.insert(crate::place::member(&field.member), value);
        }
        self.defined_outside(frame, of.path.span(), &path)?;
        let own = crate::value::Variant { path, args: Vec::new(), fields };
        Ok(Value::Variant(Box::new(own)))
    }

    /// A macro of the language.
    pub(crate) fn macro_call(&mut self, frame: &mut Frame, mac: &syn::Macro) -> Eval<Value> {
        let name = crate::program::last_name(&mac.path);
        match name.as_str() {
            "print" | "println" | "eprint" | "eprintln" => {
                self.silent(frame, mac, &name);
                Ok(Value::Nothing)
            }
            "dbg" => {
                self.silent(frame, mac, &name);
                let list = arguments(mac).map_err(|why| frame.error(mac.span(), why.to_string()))?;
                let values = list.iter().map(|own| self.expr(frame, own, &Want::default()));
                let values: Vec<Value> = values.collect::<Eval<_>>()?;
                Ok(match <[Value; 1]>::try_from(values) {
                    Ok([value]) => value,
                    Err(values) if values.is_empty() => Value::Nothing,
                    Err(values) => Value::Tuple(values),
                })
            }
            "assert" | "assert_eq" | "assert_ne" | "debug_assert" | "debug_assert_eq" | "debug_assert_ne" => {
                self.assertion(frame, mac, name.trim_start_matches("debug_"))
            }
            "panic" | "unimplemented" | "todo" | "unreachable" => {
                Err(frame.error(mac.span(), format!("the kernel reaches `{name}!`")))
            }
            _ if self.state.host.is_some() => Err(not_of_host(frame, mac.span(), &format!("{name}!"))),
            _ => Err(frame.error(mac.span(), format!("`{name}!` is not read in a kernel"))),
        }
    }

    /// Notes that the output of a macro is left out.
    fn silent(&mut self, frame: &Frame, mac: &syn::Macro, name: &str) {
        let message = format!("`{name}!` is left out: a kernel and a host program of visa print nothing");
        let remark = Error::new(frame.place(mac.span()), message);
        if !self.state.remarks.contains(&remark) {
            self.state.remarks.push(remark);
        }
    }

    /// A condition that must hold while a kernel is read; none on an index of a loop can be decided.
    fn assertion(&mut self, frame: &mut Frame, mac: &syn::Macro, name: &str) -> Eval<Value> {
        let list = arguments(mac).map_err(|why| frame.error(mac.span(), why.to_string()))?;
        let condition = match (name, list.iter().collect::<Vec<_>>().as_slice()) {
            ("assert", [condition, ..]) => (*condition).clone(),
            ("assert_eq", [left, right, ..]) => syn::parse_quote!((#left) == (#right)),
            ("assert_ne", [left, right, ..]) => syn::parse_quote!((#left) != (#right)),
            (_, _) => return Err(frame.error(mac.span(), format!("`{name}!` without what must hold"))),
        };
        // A condition on an index is one on a number that the kernel counts, also where it always holds.
        let counted = matches!(computed(frame, &condition), Some((_, Computed::Index)));
        match deref(self.expr(frame, &condition, &Want::default())?) {
            Value::Bool(false) => Err(frame.error(mac.span(), format!("`{name}!` does not hold"))),
            Value::Bool(true) if !counted => Ok(Value::Nothing),
            Value::Bool(true) | Value::Condition(_) => {
                let message =
                    format!("`{name}!` of a value known only at run time: the kernel does not stop");
                Err(frame.error(mac.span(), message))
            }
            other => Err(frame.error(mac.span(), format!("{} is no condition", other.kind()))),
        }
    }

    pub(crate) fn index_of(&self, frame: &Frame, span: Span, value: &Value) -> Eval<Affine> {
        affine(value).ok_or_else(|| frame.error(span, format!("{}, expected a position", value.kind())))
    }
}

/// The type parameters that are terms of `m![..]` alone: each is the factor at its position. One of them may be
/// several factors.
fn infer_terms(own: &mut Frame, generics: &syn::Generics, tokens: &proc_macro2::TokenStream, known: &Map) {
    let (terms, factors) = (lone_terms(tokens), known.factors());
    let is_own = |name: &String| generics.type_params().any(|parameter| parameter.ident == name);
    let parameters = terms.iter().filter(|term| term.as_ref().is_some_and(is_own)).count();
    let Some(more) = (factors.len() + 1).checked_sub(terms.len()) else { return };
    if parameters != 1 && more != 1 {
        return;
    }
    let mut at = 0;
    for term in &terms {
        let parameter = term.as_ref().filter(|name| is_own(name));
        let count = if parameter.is_some() && parameters == 1 { more } else { 1 };
        let part = factors.get(at..at + count).unwrap_or_default();
        at += count;
        if let Some(name) = parameter {
            let map = Map::List(part.iter().map(|&factor| factor.clone()).collect());
            own.generics.entry(name.clone()).or_insert(Generic::Type(Type::Map(map)));
        }
    }
}
