//! Types that follow from the context: of fields and parameters, of places that are assigned to, and of variables by
//! their later uses.

use crate::eval::{Evaluator, Frame, Generic, Want, names, takes_type};
use crate::instance::parameters;
use crate::place::{deref, member};
use crate::program::{AdtId, FnId, Item, Space, called};
use crate::value::{TensorType, Type, Value, merged};
use std::collections::BTreeMap;

impl Evaluator<'_> {
    /// The types of the fields of a structure or a variant. Those that depend on a parameter are open.
    pub(crate) fn field_types(&mut self, of: AdtId, variant: usize) -> BTreeMap<String, Type> {
        let own = &self.program.adts[of.0];
        let mut frame = self.frame(own.module);
        frame.of = Some(of);
        let open = |parameter: &syn::GenericParam| match parameter {
            syn::GenericParam::Type(own) => Some((own.ident.to_string(), Generic::Type(Type::Open))),
            syn::GenericParam::Const(_) | syn::GenericParam::Lifetime(_) => None,
        };
        frame.generics.extend(parameters(&own.generics).filter_map(open));
        let Some(variant) = own.variants.get(variant) else { return BTreeMap::new() };
        let place = frame.clone();
        let mut typed =
            |ty| self.enter(&place, own.span, |eval| eval.ty(&mut frame, ty)).unwrap_or(Type::Open);
        variant.fields.iter().map(|(name, ty)| (name.clone(), typed(ty))).collect()
    }

    /// The type that an expression has as a field.
    pub(crate) fn field_want(&mut self, of: (AdtId, usize), field: &str, expr: &syn::Expr) -> Want {
        match takes_type(expr) {
            true => self.field_types(of.0, of.1).remove(field).map_or_else(Want::default, Want::of),
            false => Want::default(),
        }
    }

    /// The types of a function's parameters without the receiver. Those that depend on a parameter are open.
    fn parameter_types(&mut self, id: FnId) -> Vec<Type> {
        let item = std::rc::Rc::clone(&self.program.functions[id.0].item.source);
        let mut own = self.frame_of(id);
        let mut typed = |input: &syn::FnArg| match input {
            syn::FnArg::Typed(typed) => Some(self.ty(&mut own, &typed.ty).unwrap_or(Type::Open)),
            syn::FnArg::Receiver(_) => None,
        };
        item.sig.inputs.iter().filter_map(&mut typed).collect()
    }

    /// The type of a place that is assigned to: the declared one, or that of its value.
    pub(crate) fn type_of_place(&mut self, frame: &Frame, place: &syn::Expr) -> Option<Type> {
        match place {
            syn::Expr::Paren(inner) => self.type_of_place(frame, &inner.expr),
            syn::Expr::Group(inner) => self.type_of_place(frame, &inner.expr),
            syn::Expr::Unary(inner) => self.type_of_place(frame, &inner.expr),
            syn::Expr::Path(path) => {
                let slot = frame.slot(&path.path.get_ident()?.to_string())?;
                slot.declared().or_else(|| type_of(&slot.value()))
            }
            syn::Expr::Field(field) => match self.type_of_place(frame, &field.base)? {
                Type::Adt(of) => self.field_types(of, 0).remove(&member(&field.member)),
                Type::Tuple(types) => types.get(member(&field.member).parse::<usize>().ok()?).cloned(),
                Type::Open
                | Type::Tensor(_)
                | Type::Number(_)
                | Type::Map(_)
                | Type::Array(..)
                | Type::Within(_)
                | Type::Context
                | Type::Other(_) => None,
            },
            syn::Expr::Index(index) => match self.type_of_place(frame, &index.expr)? {
                Type::Array(element, _) => Some(*element),
                Type::Open
                | Type::Tensor(_)
                | Type::Number(_)
                | Type::Map(_)
                | Type::Tuple(_)
                | Type::Within(_)
                | Type::Adt(_)
                | Type::Context
                | Type::Other(_) => None,
            },
            syn::Expr::Tuple(tuple) => {
                let types =
                    tuple.elems.iter().map(|own| self.type_of_place(frame, own).unwrap_or(Type::Open));
                Some(Type::Tuple(types.collect()))
            }
            _ => None,
        }
    }

    /// The type that the uses of a variable in some statements give it, where `end` is wanted of their block. The
    /// uses of a tensor complete each other.
    pub(crate) fn type_by_use(
        &mut self,
        frame: &mut Frame,
        name: &str,
        rest: &[syn::Stmt],
        end: Option<&Type>,
    ) -> Option<Type> {
        let mut known = None;
        for (at, stmt) in rest.iter().enumerate() {
            let (used, is_hidden) = match stmt {
                syn::Stmt::Local(local) => {
                    let ty = match &local.pat {
                        syn::Pat::Type(typed) => self.ty(frame, &typed.ty).ok(),
                        _ => None,
                    };
                    let init = local.init.as_ref();
                    let used = init.and_then(|init| self.used(frame, name, &init.expr, ty.as_ref()));
                    (used, binds(&local.pat, name))
                }
                syn::Stmt::Expr(expr, None) if at + 1 == rest.len() => {
                    (self.used(frame, name, expr, end), false)
                }
                syn::Stmt::Expr(expr, _) => (self.used(frame, name, expr, None), false),
                syn::Stmt::Item(_) | syn::Stmt::Macro(_) => (None, false),
            };
            known = both(known, used);
            if is_hidden || known.as_ref().is_some_and(is_complete) {
                break;
            }
        }
        known
    }

    /// The type of a variable by its uses in an expression, of which `want` is wanted.
    fn used(&mut self, frame: &mut Frame, name: &str, expr: &syn::Expr, want: Option<&Type>) -> Option<Type> {
        match expr {
            syn::Expr::Path(path) => want.filter(|_| path.path.is_ident(name)).cloned(),
            syn::Expr::Paren(inner) => self.used(frame, name, &inner.expr, want),
            syn::Expr::Group(inner) => self.used(frame, name, &inner.expr, want),
            syn::Expr::Reference(inner) => self.used(frame, name, &inner.expr, want),
            syn::Expr::Unsafe(inner) => self.type_by_use(frame, name, &inner.block.stmts, want),
            syn::Expr::Block(inner) => self.type_by_use(frame, name, &inner.block.stmts, want),
            syn::Expr::Loop(inner) => self.type_by_use(frame, name, &inner.body.stmts, None),
            syn::Expr::ForLoop(inner) => self.type_by_use(frame, name, &inner.body.stmts, None),
            syn::Expr::While(inner) => self.type_by_use(frame, name, &inner.body.stmts, None),
            syn::Expr::Try(inner) => self.used(frame, name, &inner.expr, None),
            syn::Expr::Await(inner) => self.used(frame, name, &inner.base, None),
            syn::Expr::Return(own) => {
                let result = frame.result.clone();
                self.used(frame, name, own.expr.as_ref()?, result.as_ref())
            }
            syn::Expr::Assign(own) => {
                let ty = self.type_of_place(frame, &own.left);
                self.used(frame, name, &own.right, ty.as_ref())
            }
            syn::Expr::If(own) => {
                let then = self.type_by_use(frame, name, &own.then_branch.stmts, want);
                let other = own.else_branch.as_ref().and_then(|(_, expr)| self.used(frame, name, expr, want));
                both(then, other)
            }
            syn::Expr::Match(own) => {
                own.arms.iter().fold(None, |known, arm| both(known, self.used(frame, name, &arm.body, want)))
            }
            _ => self.used_as_part(frame, name, expr, want),
        }
    }

    /// The type of a variable that is a part of a value, or an argument.
    fn used_as_part(
        &mut self,
        frame: &mut Frame,
        name: &str,
        expr: &syn::Expr,
        want: Option<&Type>,
    ) -> Option<Type> {
        let parts: Vec<(&syn::Expr, Option<Type>)> = match expr {
            syn::Expr::Tuple(tuple) => {
                let types = match want {
                    Some(Type::Tuple(types)) if types.len() == tuple.elems.len() => types.clone(),
                    Some(_) | None => Vec::new(),
                };
                with_types(&tuple.elems, types)
            }
            syn::Expr::Array(array) => {
                let element = match want {
                    Some(Type::Array(element, _)) => Some((**element).clone()),
                    Some(_) | None => None,
                };
                array.elems.iter().map(|own| (own, element.clone())).collect()
            }
            syn::Expr::Struct(of) => {
                let adt = self.program.adt_of(frame.module, &names(&of.path));
                let adt = if of.path.is_ident("Self") { frame.of } else { adt };
                let types = adt.map(|adt| self.field_types(adt, 0)).unwrap_or_default();
                let typed = |field: &'_ syn::FieldValue| types.get(&member(&field.member)).cloned();
                of.fields.iter().map(|field| (&field.expr, typed(field))).collect()
            }
            syn::Expr::Call(call) => with_types(&call.args, self.argument_types(frame, call, want)),
            syn::Expr::MethodCall(call) => {
                let receiver = self.type_of_place(frame, &call.receiver);
                let method = match receiver {
                    Some(Type::Adt(of)) => self.program.adts[of.0].item(&call.method.to_string()),
                    Some(_) | None => None,
                };
                let types = match method {
                    Some(Item::Fn(id)) => self.parameter_types(id),
                    Some(_) | None => Vec::new(),
                };
                let mut all = with_types(&call.args, types);
                all.push((&call.receiver, None));
                all
            }
            _ => return None,
        };
        parts
            .into_iter()
            .fold(None, |known, (part, ty)| both(known, self.used(frame, name, part, ty.as_ref())))
    }

    /// The types of the arguments of a call.
    fn argument_types(&mut self, frame: &mut Frame, call: &syn::ExprCall, want: Option<&Type>) -> Vec<Type> {
        let Some(path) = called(&call.func) else { return Vec::new() };
        let local = path.path.get_ident().and_then(|name| frame.local(&name.to_string()));
        if let Some(Value::Closure(closure)) = local.map(deref) {
            let mut own = closure.frame.clone();
            let typed = |pat: &syn::Pat| match pat {
                syn::Pat::Type(typed) => self.ty(&mut own, &typed.ty).unwrap_or(Type::Open),
                _ => Type::Open,
            };
            return closure.item.inputs.iter().map(typed).collect();
        }
        let parts = names(&path.path);
        match self.program.find(frame.module, frame.of, &parts, Space::Values) {
            Some(Item::Fn(id)) => self.parameter_types(id),
            Some(Item::Adt(of)) => self.positional(of, 0),
            Some(Item::Variant(of, at)) => self.positional(of, at),
            Some(_) => Vec::new(),
            None => match (parts.last().map(String::as_str), want) {
                (Some("Some" | "Ok"), Some(Type::Within(content))) => vec![(**content).clone()],
                (_, _) => Vec::new(),
            },
        }
    }

    /// The types of the fields of a tuple structure, in their order.
    fn positional(&mut self, of: AdtId, variant: usize) -> Vec<Type> {
        let mut types = self.field_types(of, variant);
        (0..types.len()).map(|at| types.remove(&at.to_string()).unwrap_or(Type::Open)).collect()
    }
}

/// Expressions with those types that are known.
fn with_types(
    all: &syn::punctuated::Punctuated<syn::Expr, syn::Token![,]>,
    types: Vec<Type>,
) -> Vec<(&syn::Expr, Option<Type>)> {
    all.iter().zip(types.into_iter().map(Some).chain(std::iter::repeat(None))).collect()
}

/// The type of a value, if it gives one to tensors.
fn type_of(value: &Value) -> Option<Type> {
    match deref(value.clone()) {
        Value::View(view) if view.steps.is_empty() => Some(Type::Tensor(view.ty)),
        Value::Struct(own) if own.variant == 0 => Some(Type::Adt(own.of)),
        Value::Tuple(all) => {
            Some(Type::Tuple(all.iter().map(|own| type_of(own).unwrap_or(Type::Open)).collect()))
        }
        Value::Array(all) => Some(Type::Array(Box::new(type_of(all.first()?)?), Some(all.len()))),
        Value::Variant(own) if matches!(own.name(), "Some" | "Ok") => {
            Some(Type::Within(Box::new(type_of(own.args.first()?)?)))
        }
        Value::View(_)
        | Value::Struct(_)
        | Value::Variant(_)
        | Value::Nothing
        | Value::Int(_)
        | Value::Float(_)
        | Value::Bool(_)
        | Value::Char(_)
        | Value::Range(_)
        | Value::Ref(_)
        | Value::Function(_)
        | Value::Constructor(..)
        | Value::Iter(_)
        | Value::Index(_)
        | Value::Condition(_)
        | Value::Context
        | Value::Unit(_)
        | Value::Stream(_)
        | Value::Deferred(_)
        | Value::Closure(_) => None,
    }
}

/// Two types that one variable has, the first of which counts.
fn both(one: Option<Type>, other: Option<Type>) -> Option<Type> {
    match (one, other) {
        (Some(Type::Tensor(one)), Some(Type::Tensor(other))) => Some(Type::Tensor(merged(&one, &other))),
        (Some(Type::Open) | None, other) => other,
        (one, _) => one,
    }
}

fn is_complete(ty: &Type) -> bool {
    match ty {
        Type::Open => false,
        Type::Tensor(TensorType { dtype, maps, .. }) => dtype.is_some() && maps.iter().all(Option::is_some),
        Type::Number(_)
        | Type::Map(_)
        | Type::Tuple(_)
        | Type::Array(..)
        | Type::Within(_)
        | Type::Adt(_)
        | Type::Context
        | Type::Other(_) => true,
    }
}

/// Returns true if a pattern makes a variable of that name.
fn binds(pat: &syn::Pat, name: &str) -> bool {
    match pat {
        syn::Pat::Ident(ident) => ident.ident == name,
        syn::Pat::Type(typed) => binds(&typed.pat, name),
        syn::Pat::Reference(inner) => binds(&inner.pat, name),
        syn::Pat::Paren(inner) => binds(&inner.pat, name),
        syn::Pat::Tuple(tuple) => tuple.elems.iter().any(|own| binds(own, name)),
        syn::Pat::TupleStruct(tuple) => tuple.elems.iter().any(|own| binds(own, name)),
        syn::Pat::Slice(slice) => slice.elems.iter().any(|own| binds(own, name)),
        syn::Pat::Struct(of) => of.fields.iter().any(|field| binds(&field.pat, name)),
        _ => false,
    }
}
