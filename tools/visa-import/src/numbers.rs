//! Arithmetic of the host, and names that stand for numbers.

use crate::condition::Condition;
use crate::constant::computed;
use crate::error::Error;
use crate::eval::{Eval, Evaluator, Frame, Generic, Stop, Want, names};
use crate::integer::{Int, IntOp, IntTy};
use crate::map::Map;
use crate::place::deref;
use crate::program::{AdtId, ConstId, Item, Space, Style};
use crate::value::{AXIS_NAME, Float, HOST_NUMBERS, Index, Record, Type, Unit, Value, Variant};
use proc_macro2::Span;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;
use syn::spanned::Spanned;
use visa_algebra::Expr;
use visa_mapping::tensor::numbers::Number;

impl Evaluator<'_> {
    pub(crate) fn path(&mut self, frame: &mut Frame, path: &syn::ExprPath) -> Eval<Value> {
        let parts = names(&path.path);
        if let Some(name) = path.path.get_ident().map(ToString::to_string) {
            match frame.local(&name) {
                // A copy has separate variables.
                Some(Value::Closure(own)) => return Ok(self.copied(&own)),
                Some(value) => return Ok(value),
                None => {}
            }
            if let Some(Generic::Const(number)) = frame.generics.get(&name) {
                return Ok(number.clone());
            }
        }
        if parts.last().is_some_and(|last| last == "SIZE")
            && let Some(size) = self.size_of(frame, path)?
        {
            return Ok(Value::Int(Int::wrapped(IntTy::Usize, size.into())));
        }
        if path.qself.is_some()
            && let Some(found) = self.associated(frame, path)?
        {
            return self.item_value(frame, path.span(), &found);
        }
        if let Some(found) = self.value_item(frame, &parts) {
            return self.item_value(frame, path.span(), &found);
        }
        if parts.last().is_some_and(|last| last == "NAME")
            && let Some(axis) = self.axis_of(frame, path)?
        {
            return Ok(Value::variant(vec![AXIS_NAME.to_owned(), axis], Vec::new()));
        }
        if let Some(id) = self.identified_axis(frame, path) {
            let name = self.axis_names[id.0].clone();
            return Ok(Value::variant(vec![AXIS_NAME.to_owned(), name], Vec::new()));
        }
        let full = self.program.external(frame.module, &parts);
        if let Some(number) = constant(&full) {
            return Ok(number);
        }
        if parts.first().is_some_and(|first| HOST_NUMBERS.contains(&first.as_str())) {
            return Err(frame.error(path.span(), format!("`{}` is not read", parts.join("::"))));
        }
        // Arguments of the engines are not looked up: the operation that takes them knows their names.
        match parts.last().is_some_and(|last| last.starts_with(char::is_uppercase)) {
            true => {
                self.defined_outside(frame, path.span(), &parts)?;
                Ok(Value::variant(parts, Vec::new()))
            }
            false => Err(frame.error(path.span(), format!("`{}` is not known", parts.join("::")))),
        }
    }

    /// The item that a path of values names, also below a generic parameter.
    pub(crate) fn value_item(&self, frame: &Frame, parts: &[String]) -> Option<Item> {
        if let [first, rest @ ..] = parts
            && let (Some(Generic::Type(Type::Adt(of))), [name]) = (frame.generics.get(first), rest)
        {
            return self.program.adts[of.0].item(name);
        }
        self.program.find(frame.module, frame.of, parts, Space::Values)
    }

    /// `<T>::NAME` of a type of the input.
    pub(crate) fn associated(&mut self, frame: &mut Frame, path: &syn::ExprPath) -> Eval<Option<Item>> {
        let Some(own) = &path.qself else { return Ok(None) };
        let ty = self.ty(frame, &own.ty)?;
        let Some(name) = names(&path.path).pop() else { return Ok(None) };
        Ok(match ty {
            Type::Adt(of) => {
                let at = self.program.adts[of.0].variants.iter().position(|own| own.name == name);
                let variant = at.filter(|_| self.program.adts[of.0].is_enum).map(|at| Item::Variant(of, at));
                variant.or_else(|| self.program.adts[of.0].item(&name))
            }
            _ => None,
        })
    }

    /// The value that an item is.
    fn item_value(&mut self, frame: &Frame, span: Span, item: &Item) -> Eval<Value> {
        match item {
            Item::Const(id) => self.constant_value(frame, span, *id),
            Item::Fn(id) => Ok(Value::Function(*id)),
            Item::Variant(of, at) => self.constructor(frame, span, *of, *at),
            Item::Adt(of) => self.constructor(frame, span, *of, 0),
            Item::Module(_) | Item::Axis(_) | Item::Type(..) | Item::Trait(..) | Item::Macro(_) => {
                Err(frame.error(span, "a name that stands for no value"))
            }
        }
    }

    /// A variant or a structure by its name alone.
    fn constructor(&self, frame: &Frame, span: Span, of: AdtId, variant: usize) -> Eval<Value> {
        match self.program.adts[of.0].variants.get(variant).map(|own| own.style) {
            Some(Style::Unit) => Ok(Value::Struct(Record { of, variant, fields: BTreeMap::new() })),
            Some(Style::Tuple) => Ok(Value::Constructor(of, variant)),
            Some(Style::Named) | None => Err(frame.error(span, "a structure without its fields")),
        }
    }

    /// The value of a constant of the input.
    pub(crate) fn constant_value(&mut self, frame: &Frame, span: Span, id: ConstId) -> Eval<Value> {
        let own = &self.program.constants[id.0];
        let item = own.item.tree.clone()?;
        let mut inner = self.frame(own.module);
        inner.of = own.of;
        inner.unread = Rc::clone(&own.item.unread);
        let place = frame.clone();
        self.enter(&place, span, |eval| {
            let ty = eval.ty(&mut inner, &item.ty)?;
            match eval.expr(&mut inner, &item.expr, &Want::of(ty.clone())) {
                Err(Stop::Return(_) | Stop::Break(..) | Stop::Continue(_)) => {
                    Err(inner.error(item.ident.span(), "`return`, `break` or `continue` out of place"))
                }
                found => found.map(|value| typed(value, &ty)),
            }
        })
    }

    /// The positions of a mapping: `A::SIZE`, `<m![A / 2]>::SIZE`.
    fn size_of(&mut self, frame: &mut Frame, path: &syn::ExprPath) -> Eval<Option<u64>> {
        let Some(map) = self.mapping_of(frame, path)? else { return Ok(None) };
        let size = map.size(self);
        size.map(Some)
            .ok_or_else(|| frame.error(path.span(), "a mapping of more positions than 64 bits count"))
    }

    /// The axis of `A::NAME`; `None` if `A` is no axis.
    fn axis_of(&mut self, frame: &mut Frame, path: &syn::ExprPath) -> Eval<Option<String>> {
        let map = self.mapping_of(frame, path)?;
        Ok(match map.map(|map| self.mapping(&map)) {
            Some(Expr::Axis(name)) => Some(name.to_string()),
            Some(_) | None => None,
        })
    }

    /// The mapping whose associated constant a path names.
    fn mapping_of(&mut self, frame: &mut Frame, path: &syn::ExprPath) -> Eval<Option<Map>> {
        Ok(match self.owner_of(frame, path)? {
            Some(Type::Map(map)) => Some(map),
            Some(_) | None => None,
        })
    }

    /// The type in front of the last segment of a path, as `DmTensor::<..>` of `DmTensor::<..>::new` and `m![A]` of
    /// `<m![A]>::SIZE`; `None` for a name alone.
    pub(crate) fn owner_of(&mut self, frame: &mut Frame, path: &syn::ExprPath) -> Eval<Option<Type>> {
        let ty = match &path.qself {
            Some(own) => (*own.ty).clone(),
            None => {
                let mut own = path.path.clone();
                own.segments.pop();
                own.segments.pop_punct();
                if own.segments.is_empty() {
                    return Ok(None);
                }
                syn::Type::Path(syn::TypePath { qself: None, path: own })
            }
        };
        self.ty(frame, &ty).map(Some)
    }

    pub(crate) fn unary(&mut self, frame: &mut Frame, unary: &syn::ExprUnary, want: &Want) -> Eval<Value> {
        if let (syn::UnOp::Neg(_), Some(lit)) = (&unary.op, literal_in(&unary.expr)) {
            return self.literal(frame, lit, true);
        }
        let value = self.expr(frame, &unary.expr, want)?;
        let value = match (&unary.op, value) {
            (syn::UnOp::Deref(_), Value::Ref(own)) => {
                return own.read().ok_or_else(|| frame.error(unary.span(), "a reference to nothing"));
            }
            (syn::UnOp::Deref(_), value) => return Ok(value),
            (_, value) => deref(value),
        };
        match (&unary.op, value) {
            (syn::UnOp::Neg(_), Value::Int(number)) => {
                number.negated().map(Value::Int).ok_or_else(|| overflow(frame, unary.span(), number.ty))
            }
            (syn::UnOp::Neg(_), Value::Float(Float::F32(number))) => Ok(Value::Float(Float::F32(-number))),
            (syn::UnOp::Neg(_), Value::Float(Float::F64(number))) => Ok(Value::Float(Float::F64(-number))),
            (syn::UnOp::Not(_), Value::Int(number)) => {
                number.inverted().map(Value::Int).ok_or_else(|| overflow(frame, unary.span(), number.ty))
            }
            (syn::UnOp::Not(_), Value::Bool(truth)) => Ok(Value::Bool(!truth)),
            (syn::UnOp::Not(_), Value::Condition(own)) => Ok(Value::Condition(own.negated().into())),
            (syn::UnOp::Neg(_), Value::Index(index)) => self.negated(frame, unary.span(), &index),
            (syn::UnOp::Not(_), Value::Index(_)) => Err(self.needs_number(frame, unary.span())),
            (op, Value::Struct(own)) => {
                let name = if matches!(op, syn::UnOp::Neg(_)) { "neg" } else { "not" };
                self.operator(frame, unary.span(), name, vec![Value::Struct(own)])
            }
            (_, value) => Err(frame.error(unary.span(), format!("{} has no such sign", value.kind()))),
        }
    }

    pub(crate) fn cast(&mut self, frame: &mut Frame, cast: &syn::ExprCast) -> Eval<Value> {
        let value = deref(self.expr(frame, &cast.expr, &Want::default())?);
        let ty = self.ty(frame, &cast.ty)?;
        let Type::Number(name) = ty else {
            return match (ty, value) {
                (Type::Other(name), Value::Char(own)) if name == "char" => Ok(Value::Char(own)),
                (Type::Other(name), Value::Int(own)) if name == "char" && own.ty == IntTy::U8 => {
                    Ok(Value::Char(own.bits() as u8 as char))
                }
                (_, value @ (Value::View(_) | Value::Function(_))) => Ok(value),
                (_, value) => {
                    Err(frame.error(cast.span(), format!("a cast of {} is not read", value.kind())))
                }
            };
        };
        let unread = || frame.error(cast.span(), format!("a cast to `{name}` is not read"));
        if let Some(ty) = IntTy::named(&name) {
            return match value {
                Value::Int(number) => Ok(Value::Int(number.cast(ty))),
                Value::Float(number) => Ok(Value::Int(Int::of_f64(ty, number.number()))),
                Value::Bool(truth) => Ok(Value::Int(Int::wrapped(ty, truth.into()))),
                Value::Char(own) => Ok(Value::Int(Int::wrapped(ty, u32::from(own).into()))),
                Value::Struct(own) => {
                    let variants = &self.program.adts[own.of.0].variants;
                    if variants.iter().any(|own| own.style != Style::Unit) {
                        return Err(frame.error(cast.span(), "a cast of what has fields is not read"));
                    }
                    let number = self.discriminant(frame, cast.span(), own.of, own.variant)?;
                    Ok(Value::Int(number.cast(ty)))
                }
                Value::Index(index) => self.cast_index(frame, cast.span(), index, ty),
                Value::Condition(_) => Err(self.needs_number(frame, cast.span())),
                other => Err(frame.error(cast.span(), format!("{} is no number", other.kind()))),
            };
        }
        match (value, &*name) {
            (Value::Int(number), "f32") => Ok(Value::Float(Float::F32(number.to_f32()))),
            (Value::Int(number), "f64") => Ok(Value::Float(Float::F64(number.to_f64()))),
            (Value::Float(number), "f32") => Ok(Value::Float(Float::F32(single(number)))),
            (Value::Float(number), "f64") => Ok(Value::Float(Float::F64(number.number()))),
            (Value::Bool(truth), "bool") => Ok(Value::Bool(truth)),
            (Value::Index(_) | Value::Condition(_), _) => Err(self.needs_number(frame, cast.span())),
            (Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Char(_) | Value::Struct(_), _) => {
                Err(unread())
            }
            (other, _) => Err(frame.error(cast.span(), format!("{} is no number", other.kind()))),
        }
    }

    /// The number of a variant.
    fn discriminant(&mut self, frame: &Frame, span: Span, of: AdtId, variant: usize) -> Eval<Int> {
        let variants = &self.program.adts[of.0].variants;
        let given = variants[..=variant].iter().rposition(|own| own.discriminant.is_some());
        let first = match given.and_then(|at| variants[at].discriminant) {
            Some(number) => match self.constant_value(frame, span, number)? {
                Value::Int(number) => number,
                other => return Err(frame.error(span, format!("{} is no number of a variant", other.kind()))),
            },
            None => Int::wrapped(IntTy::Isize, 0),
        };
        let after = variant - given.unwrap_or_default();
        let number = Int::new(first.ty, after as i128).and_then(|after| first.checked(IntOp::Add, after));
        number.ok_or_else(|| overflow(frame, span, first.ty))
    }

    pub(crate) fn binary(&mut self, frame: &mut Frame, binary: &syn::ExprBinary) -> Eval<Value> {
        let span = binary.span();
        if let Some(op) = assigned(&binary.op) {
            return self.assigned(frame, binary, &op);
        }
        let left = deref(self.expr(frame, &binary.left, &Want::default())?);
        // Only needed operands are looked at.
        match (&binary.op, &left) {
            (syn::BinOp::And(_), Value::Bool(false)) | (syn::BinOp::Or(_), Value::Bool(true)) => {
                return Ok(left);
            }
            (_, _) => {}
        }
        let right = deref(self.expr(frame, &binary.right, &Want::default())?);
        self.operated(frame, span, &binary.op, left, right)
    }

    /// `a += b` and the like: the right operand first.
    fn assigned(&mut self, frame: &mut Frame, binary: &syn::ExprBinary, op: &syn::BinOp) -> Eval<Value> {
        let span = binary.span();
        let right = deref(self.expr(frame, &binary.right, &Want::default())?);
        let place = crate::place::followed(self.place(frame, &binary.left)?);
        let left = place.read().ok_or_else(|| frame.error(span, "a part that the variable lacks"))?;
        let value = self.operated(frame, span, op, left, right)?;
        let why = computed(frame, &binary.right).map(|(_, why)| why);
        self.write(frame, span, &place, value)?;
        if let syn::Expr::Path(path) = &*binary.left {
            frame.mark(path.path.get_ident().map(ToString::to_string), why);
        }
        Ok(Value::Nothing)
    }

    /// The value of an operator.
    pub(crate) fn operated(
        &mut self,
        frame: &mut Frame,
        span: Span,
        op: &syn::BinOp,
        left: Value,
        right: Value,
    ) -> Eval<Value> {
        match (deref(left), deref(right)) {
            (Value::Int(left), Value::Int(right)) => integers(frame, span, op, left, right),
            (Value::Float(left), Value::Float(right)) => floats(op, left, right)
                .ok_or_else(|| frame.error(span, "floating-point numbers have no such operator")),
            (Value::Bool(left), Value::Bool(right)) => {
                truths(op, left, right).ok_or_else(|| frame.error(span, "truth values have no such operator"))
            }
            (Value::Char(left), Value::Char(right)) => ordered(op, left.cmp(&right))
                .ok_or_else(|| frame.error(span, "characters have no such operator")),
            (left, right) if [&left, &right].iter().any(|own| matches!(own, Value::Condition(_))) => {
                conditions(op, left, right).ok_or_else(|| self.needs_number(frame, span))
            }
            (left @ Value::Struct(_), right) => self.of_structures(frame, span, op, left, right),
            (
                left @ (Value::Tuple(_) | Value::Array(_) | Value::Variant(_) | Value::Nothing),
                right @ (Value::Tuple(_) | Value::Array(_) | Value::Variant(_) | Value::Nothing),
            ) => self.compared(frame, span, op, left, right),
            (left, right) => {
                match (Index::of(&left), Index::of(&right)) {
                    (Some(left), Some(right)) => self.indices(frame, span, op, (&left, &right)),
                    (_, _) => Err(frame
                        .error(span, format!("{} and {} have no such operator", left.kind(), right.kind()))),
                }
            }
        }
    }

    /// Operators of structures: those that the input implements, and comparisons that it derives.
    fn of_structures(
        &mut self,
        frame: &mut Frame,
        span: Span,
        op: &syn::BinOp,
        left: Value,
        right: Value,
    ) -> Eval<Value> {
        let Value::Struct(own) = &left else { return Err(frame.error(span, "no structure")) };
        let adt = &self.program.adts[own.of.0];
        let (name, derived) = match op {
            syn::BinOp::Eq(_) | syn::BinOp::Ne(_) => ("eq", "PartialEq"),
            syn::BinOp::Lt(_) | syn::BinOp::Le(_) | syn::BinOp::Gt(_) | syn::BinOp::Ge(_) => {
                ("partial_cmp", "PartialOrd")
            }
            syn::BinOp::Add(_) => ("add", "Add"),
            syn::BinOp::Sub(_) => ("sub", "Sub"),
            syn::BinOp::Mul(_) => ("mul", "Mul"),
            syn::BinOp::Div(_) => ("div", "Div"),
            syn::BinOp::Rem(_) => ("rem", "Rem"),
            syn::BinOp::BitAnd(_) => ("bitand", "BitAnd"),
            syn::BinOp::BitOr(_) => ("bitor", "BitOr"),
            syn::BinOp::BitXor(_) => ("bitxor", "BitXor"),
            syn::BinOp::Shl(_) => ("shl", "Shl"),
            syn::BinOp::Shr(_) => ("shr", "Shr"),
            _ => return Err(frame.error(span, "structures have no such operator")),
        };
        if adt.derived.iter().any(|own| own == derived) {
            return self.compared(frame, span, op, left, right);
        }
        if name == "partial_cmp" {
            return Err(frame.error(span, "an order that the input implements is not read"));
        }
        let found = self.operator(frame, span, name, vec![left, right])?;
        match (op, found) {
            (syn::BinOp::Ne(_), Value::Bool(truth)) => Ok(Value::Bool(!truth)),
            (_, found) => Ok(found),
        }
    }

    /// The function by which the input implements an operator.
    fn operator(&mut self, frame: &mut Frame, span: Span, name: &str, args: Vec<Value>) -> Eval<Value> {
        let of = match args.first() {
            Some(Value::Struct(own)) => own.of,
            Some(_) | None => return Err(frame.error(span, "no structure")),
        };
        match self.program.adts[of.0].item(name) {
            Some(Item::Fn(id)) => self.apply(frame, span, &Value::Function(id), args),
            Some(_) | None => {
                let adt = &self.program.adts[of.0];
                Err(frame.error(span, format!("`{}` has no `{name}`", adt.name)))
            }
        }
    }

    /// Comparisons of values with parts, one part after the other.
    fn compared(
        &mut self,
        frame: &mut Frame,
        span: Span,
        op: &syn::BinOp,
        left: Value,
        right: Value,
    ) -> Eval<Value> {
        let place = frame.place(span);
        let refused = |own: &Value, other: &Value| {
            let message = format!("{} and {} have no such operator", own.kind(), other.kind());
            Stop::Error(Error::new(place.clone(), message))
        };
        let of_order =
            matches!(op, syn::BinOp::Lt(_) | syn::BinOp::Le(_) | syn::BinOp::Gt(_) | syn::BinOp::Ge(_));
        let (first, second) = match (&left, &right) {
            (Value::Nothing, Value::Nothing) => (Vec::new(), Vec::new()),
            (Value::Tuple(one), Value::Tuple(other)) if one.len() == other.len() => {
                (one.clone(), other.clone())
            }
            (Value::Array(one), Value::Array(other)) => (one.clone(), other.clone()),
            (Value::Struct(one), Value::Struct(other)) if one.of == other.of => {
                if one.variant != other.variant {
                    // The order is that of the variants' numbers.
                    let first = self.discriminant(frame, span, one.of, one.variant)?;
                    let second = self.discriminant(frame, span, other.of, other.variant)?;
                    return ordered(op, first.compare(second)).ok_or_else(|| refused(&left, &right));
                }
                let fields = &self.program.adts[one.of.0].variants[one.variant].fields;
                let of = |own: &Record| {
                    fields.iter().filter_map(|(name, _)| own.fields.get(name).cloned()).collect()
                };
                (of(one), of(other))
            }
            (Value::Variant(one), Value::Variant(other)) => {
                let known = ["None", "Some", "Ok", "Err"];
                let at = |own: &Variant| known.iter().position(|name| own.name() == *name);
                match at(one).zip(at(other)) {
                    Some((one, other)) if one != other => {
                        return ordered(op, one.cmp(&other)).ok_or_else(|| refused(&left, &right));
                    }
                    Some(_) => (one.args.clone(), other.args.clone()),
                    None => return Err(refused(&left, &right)),
                }
            }
            (_, _) => return Err(refused(&left, &right)),
        };
        let equal = syn::BinOp::Eq(Default::default());
        for (one, other) in first.iter().zip(&second) {
            if self.compares(frame, span, &equal, one.clone(), other.clone())? {
                continue;
            }
            return match of_order {
                true => self.operated(frame, span, op, one.clone(), other.clone()),
                false => Ok(Value::Bool(matches!(op, syn::BinOp::Ne(_)))),
            };
        }
        ordered(op, first.len().cmp(&second.len())).ok_or_else(|| refused(&left, &right))
    }
}

/// The literal that a minus is before, through parentheses.
fn literal_in(expr: &syn::Expr) -> Option<&syn::Lit> {
    match expr {
        syn::Expr::Lit(lit) => Some(&lit.lit),
        syn::Expr::Paren(inner) => literal_in(&inner.expr),
        syn::Expr::Group(inner) => literal_in(&inner.expr),
        _ => None,
    }
    .filter(|lit| matches!(lit, syn::Lit::Int(_) | syn::Lit::Float(_)))
}

/// An integer whose type is the toolchain's, as a value of a type that is written.
pub(crate) fn typed(value: Value, ty: &Type) -> Value {
    match (&value, ty) {
        (Value::Int(number), Type::Number(name)) if number.ty == IntTy::Toolchain => {
            match IntTy::named(name).and_then(|ty| Int::new(ty, number.number()?)) {
                Some(number) => Value::Int(number),
                None => value,
            }
        }
        (_, _) => value,
    }
}

/// An operation whose result its type does not hold.
fn overflow(frame: &Frame, span: Span, ty: IntTy) -> Stop {
    if ty == IntTy::Toolchain {
        let message =
            "the type of this number follows from the toolchain alone, and the result depends on it";
        return Stop::Error(
            Error::new(frame.place(span), message).fix("write the type of the number, such as `8usize`"),
        );
    }
    let message = format!("the result is no number of type `{}`: Rust panics here", ty.name());
    frame.error(span, message)
}

/// A number as `f32`, rounded once.
fn single(number: Float) -> f32 {
    match number {
        Float::F32(number) => number,
        Float::F64(number) => number as f32,
    }
}

/// A path of the language without the library that it is in.
pub(crate) fn in_std(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).skip_while(|name| matches!(*name, "std" | "core")).collect()
}

/// Numbers that the language names, by their whole paths.
fn constant(path: &[String]) -> Option<Value> {
    let float = |ty: &str, single: f32, double: f64| match ty {
        "f32" => Some(Value::Float(Float::F32(single))),
        "f64" => Some(Value::Float(Float::F64(double))),
        _ => None,
    };
    match &*in_std(path) {
        ["char", "MAX"] => Some(Value::Char(char::MAX)),
        [of, name] => match IntTy::named(of) {
            Some(ty) => of_integers(ty, name),
            None => {
                let (single, double) = of_floats(name)?;
                float(of, single, double)
            }
        },
        [of, "consts", name] => {
            let (single, double) = mathematical(name)?;
            float(of, single, double)
        }
        _ => None,
    }
}

#[expect(clippy::unnecessary_cast, reason = "`native!` has one expression for all types")]
fn of_integers(ty: IntTy, name: &str) -> Option<Value> {
    let number = crate::integer::native!(ty, T => match name {
        "MAX" => Int::wrapped(ty, T::MAX as u128),
        "MIN" => Int::wrapped(ty, T::MIN as u128),
        "BITS" => Int::word(T::BITS),
        _ => return None,
    });
    Some(Value::Int(number))
}

/// The constants of both formats.
fn of_floats(name: &str) -> Option<(f32, f64)> {
    Some(match name {
        "INFINITY" => (f32::INFINITY, f64::INFINITY),
        "NEG_INFINITY" => (f32::NEG_INFINITY, f64::NEG_INFINITY),
        "NAN" => (f32::NAN, f64::NAN),
        "MAX" => (f32::MAX, f64::MAX),
        "MIN" => (f32::MIN, f64::MIN),
        "MIN_POSITIVE" => (f32::MIN_POSITIVE, f64::MIN_POSITIVE),
        "EPSILON" => (f32::EPSILON, f64::EPSILON),
        _ => return None,
    })
}

macro_rules! constants_of_both {
    ($name:ident: $($constant:ident)*) => {
        match $name {
            $(stringify!($constant) => Some((std::f32::consts::$constant, std::f64::consts::$constant)),)*
            _ => None,
        }
    };
}

fn mathematical(name: &str) -> Option<(f32, f64)> {
    constants_of_both!(name: PI TAU E LN_2 LN_10 LOG2_E LOG2_10 LOG10_E LOG10_2 SQRT_2 FRAC_1_SQRT_2 FRAC_1_PI
        FRAC_2_PI
        FRAC_2_SQRT_PI FRAC_PI_2 FRAC_PI_3 FRAC_PI_4 FRAC_PI_6 FRAC_PI_8)
}

/// The operator of `+=` and the like.
fn assigned(op: &syn::BinOp) -> Option<syn::BinOp> {
    Some(match op {
        syn::BinOp::AddAssign(_) => syn::BinOp::Add(Default::default()),
        syn::BinOp::SubAssign(_) => syn::BinOp::Sub(Default::default()),
        syn::BinOp::MulAssign(_) => syn::BinOp::Mul(Default::default()),
        syn::BinOp::DivAssign(_) => syn::BinOp::Div(Default::default()),
        syn::BinOp::RemAssign(_) => syn::BinOp::Rem(Default::default()),
        syn::BinOp::BitAndAssign(_) => syn::BinOp::BitAnd(Default::default()),
        syn::BinOp::BitOrAssign(_) => syn::BinOp::BitOr(Default::default()),
        syn::BinOp::BitXorAssign(_) => syn::BinOp::BitXor(Default::default()),
        syn::BinOp::ShlAssign(_) => syn::BinOp::Shl(Default::default()),
        syn::BinOp::ShrAssign(_) => syn::BinOp::Shr(Default::default()),
        _ => return None,
    })
}

fn integers(frame: &Frame, span: Span, op: &syn::BinOp, left: Int, right: Int) -> Eval<Value> {
    let op = match op {
        syn::BinOp::Add(_) => IntOp::Add,
        syn::BinOp::Sub(_) => IntOp::Sub,
        syn::BinOp::Mul(_) => IntOp::Mul,
        syn::BinOp::Div(_) => IntOp::Div,
        syn::BinOp::Rem(_) => IntOp::Rem,
        syn::BinOp::BitAnd(_) => IntOp::And,
        syn::BinOp::BitOr(_) => IntOp::Or,
        syn::BinOp::BitXor(_) => IntOp::Xor,
        syn::BinOp::Shl(_) | syn::BinOp::Shr(_) => {
            let found = left.shifted(matches!(op, syn::BinOp::Shl(_)), right);
            return found.map(Value::Int).ok_or_else(|| overflow(frame, span, left.ty));
        }
        other => {
            let found = left.ty.common(right.ty).and_then(|_| ordered(other, left.compare(right)));
            return found.ok_or_else(|| frame.error(span, "integers have no such operator"));
        }
    };
    let Some(ty) = left.ty.common(right.ty) else {
        let message = format!("an operator of `{}` and `{}`", left.ty.name(), right.ty.name());
        return Err(frame.error(span, message));
    };
    if matches!(op, IntOp::Div | IntOp::Rem) && right.is_zero() {
        return Err(frame.error(span, "a division by zero: Rust panics here"));
    }
    left.checked(op, right).map(Value::Int).ok_or_else(|| overflow(frame, span, ty))
}

/// The result of a comparison for an order; `None` for another operator.
fn ordered(op: &syn::BinOp, order: Ordering) -> Option<Value> {
    Some(Value::Bool(match op {
        syn::BinOp::Eq(_) => order.is_eq(),
        syn::BinOp::Ne(_) => order.is_ne(),
        syn::BinOp::Lt(_) => order.is_lt(),
        syn::BinOp::Le(_) => order.is_le(),
        syn::BinOp::Gt(_) => order.is_gt(),
        syn::BinOp::Ge(_) => order.is_ge(),
        _ => return None,
    }))
}

fn floats(op: &syn::BinOp, left: Float, right: Float) -> Option<Value> {
    macro_rules! of_format {
        ($format:path, $left:expr, $right:expr) => {
            Some(match op {
                syn::BinOp::Add(_) => Value::Float($format($left + $right)),
                syn::BinOp::Sub(_) => Value::Float($format($left - $right)),
                syn::BinOp::Mul(_) => Value::Float($format($left * $right)),
                syn::BinOp::Div(_) => Value::Float($format($left / $right)),
                syn::BinOp::Rem(_) => Value::Float($format($left % $right)),
                syn::BinOp::Eq(_) => Value::Bool($left == $right),
                syn::BinOp::Ne(_) => Value::Bool($left != $right),
                syn::BinOp::Lt(_) => Value::Bool($left < $right),
                syn::BinOp::Le(_) => Value::Bool($left <= $right),
                syn::BinOp::Gt(_) => Value::Bool($left > $right),
                syn::BinOp::Ge(_) => Value::Bool($left >= $right),
                _ => return None,
            })
        };
    }
    match (left, right) {
        (Float::F32(left), Float::F32(right)) => of_format!(Float::F32, left, right),
        (Float::F64(left), Float::F64(right)) => of_format!(Float::F64, left, right),
        (Float::F32(_), Float::F64(_)) | (Float::F64(_), Float::F32(_)) => None,
    }
}

fn truths(op: &syn::BinOp, left: bool, right: bool) -> Option<Value> {
    Some(Value::Bool(match op {
        syn::BinOp::And(_) | syn::BinOp::BitAnd(_) => left && right,
        syn::BinOp::Or(_) | syn::BinOp::BitOr(_) => left || right,
        syn::BinOp::BitXor(_) => left != right,
        other => return ordered(other, left.cmp(&right)),
    }))
}

/// A condition that holds in some iterations, combined with one that holds in others, or in all, or in none.
fn conditions(op: &syn::BinOp, left: Value, right: Value) -> Option<Value> {
    match (op, left, right) {
        (syn::BinOp::And(_) | syn::BinOp::BitAnd(_), Value::Condition(left), Value::Condition(right)) => {
            left.and(&right).map(Condition::value)
        }
        (syn::BinOp::Or(_) | syn::BinOp::BitOr(_), Value::Condition(left), Value::Condition(right)) => {
            left.or(&right).map(Condition::value)
        }
        (syn::BinOp::And(_) | syn::BinOp::BitAnd(_), Value::Bool(truth), other)
        | (syn::BinOp::And(_) | syn::BinOp::BitAnd(_), other, Value::Bool(truth)) => {
            Some(if truth { other } else { Value::Bool(false) })
        }
        (syn::BinOp::Or(_) | syn::BinOp::BitOr(_), Value::Bool(truth), other)
        | (syn::BinOp::Or(_) | syn::BinOp::BitOr(_), other, Value::Bool(truth)) => {
            Some(if truth { Value::Bool(true) } else { other })
        }
        (_, _, _) => None,
    }
}

/// The context that a value is, for `begin`.
pub(crate) fn context(value: &Value) -> Option<visa_machine::Unit> {
    match value {
        Value::Unit(Unit::Main) => Some(visa_machine::Unit::Main),
        Value::Unit(Unit::Sub) => Some(visa_machine::Unit::Sub),
        _ => None,
    }
}

/// A number as clauses have it.
pub(crate) fn number(value: &Value) -> Option<Number> {
    let text = match value {
        Value::Int(number) => number.to_string(),
        // The shortest text that is the number in its format: the device rounds it to the format of the stream.
        Value::Float(Float::F32(number)) => number.to_string(),
        Value::Float(Float::F64(number)) => number.to_string(),
        Value::Ref(own) => return own.read().as_ref().and_then(number),
        _ => return None,
    };
    text.parse().ok().map(Number)
}

/// A number of a clause that takes integers; `None` for other values, and past 64 bits.
pub(crate) fn whole_number(value: &Value) -> Option<i64> {
    match value {
        Value::Ref(own) => own.read().as_ref().and_then(whole_number),
        other => i64::try_from(other.integer()?).ok(),
    }
}
