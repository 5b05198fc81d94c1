//! Structures and variants of their fields.

use crate::eval::{Eval, Evaluator, Frame, Want, names};
use crate::place::{deref, member};
use crate::program::{AdtId, Item, Space};
use crate::value::{Record, Value, Variant};
use proc_macro2::Span;
use std::collections::BTreeMap;
use syn::spanned::Spanned;

impl Evaluator<'_> {
    /// A call of the constructor of a structure or a variant.
    pub(crate) fn constructed(
        &mut self,
        frame: &mut Frame,
        call: &syn::ExprCall,
        of: (AdtId, usize),
    ) -> Eval<Value> {
        let mut args = Vec::new();
        for (at, arg) in call.args.iter().enumerate() {
            let want = self.field_want(of, &at.to_string(), arg);
            args.push(self.expr(frame, arg, &want)?);
        }
        self.construct(frame, call.span(), of, args)
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
            let name = member(&field.member);
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
            fields.insert(member(&field.member), value);
        }
        self.defined_outside(frame, of.path.span(), &path)?;
        let own = Variant { path, args: Vec::new(), fields };
        Ok(Value::Variant(Box::new(own)))
    }
}
