//! Patterns: whether a value fits, and the variables that it gives.

use crate::eval::{Eval, Evaluator, Frame};
use crate::place::{Part, Reference, deref};
use crate::program::{Item, Space, Style, last_name, names};
use crate::value::Value;
use syn::spanned::Spanned;

/// The variables of a pattern with their values.
type Bound = Vec<(String, Value)>;

impl Evaluator<'_> {
    /// Gives the variables of a pattern that always fits their values.
    pub(crate) fn bind(&mut self, frame: &mut Frame, pat: &syn::Pat, value: Value) -> Eval<()> {
        let kind = value.kind();
        match self.fits(frame, pat, value)? {
            true => Ok(()),
            false => Err(frame.error(pat.span(), format!("{kind} does not fit the pattern"))),
        }
    }

    /// Returns true if a value fits; the variables have their values then.
    pub(crate) fn fits(&mut self, frame: &mut Frame, pat: &syn::Pat, value: Value) -> Eval<bool> {
        let mut bound = Bound::new();
        let fits = self.test(frame, pat, value, &mut bound)?;
        if fits {
            for (name, value) in bound {
                let slot = self.slot(value);
                frame.locals.insert(name, slot);
            }
        }
        Ok(fits)
    }

    fn test(&mut self, frame: &mut Frame, pat: &syn::Pat, value: Value, bound: &mut Bound) -> Eval<bool> {
        match pat {
            syn::Pat::Wild(_) | syn::Pat::Rest(_) => Ok(true),
            syn::Pat::Ident(own) => {
                if own.by_ref.is_some() && own.mutability.is_some() {
                    return Err(frame.error(own.span(), "`ref mut` is not read: match on `&mut`"));
                }
                if let Some((_, inner)) = &own.subpat
                    && !self.test(frame, inner, value.clone(), bound)?
                {
                    return Ok(false);
                }
                bound.push((own.ident.to_string(), value));
                Ok(true)
            }
            syn::Pat::Type(own) => self.test(frame, &own.pat, value, bound),
            syn::Pat::Paren(own) => self.test(frame, &own.pat, value, bound),
            syn::Pat::Reference(own) => self.test(frame, &own.pat, deref(value), bound),
            syn::Pat::Or(own) => {
                for case in &own.cases {
                    let count = bound.len();
                    if self.test(frame, case, value.clone(), bound)? {
                        return Ok(true);
                    }
                    bound.truncate(count);
                }
                Ok(false)
            }
            syn::Pat::Lit(own) => {
                let wanted = self.expr(frame, &syn::Expr::Lit(own.clone()), &Default::default())?;
                self.compares(frame, own.span(), &syn::BinOp::Eq(Default::default()), deref(value), wanted)
            }
            syn::Pat::Const(own) => {
                let wanted = self.block(frame, &own.block, &Default::default())?;
                self.compares(frame, own.span(), &syn::BinOp::Eq(Default::default()), deref(value), wanted)
            }
            syn::Pat::Range(own) => self.in_range(frame, own, deref(value)),
            syn::Pat::Path(own) => self.is_path(frame, own, value),
            syn::Pat::Tuple(own) => {
                let count = match &deref(value.clone()) {
                    Value::Tuple(all) => all.len(),
                    Value::Array(all) => all.len(),
                    Value::Nothing => 0,
                    other => return Err(frame.error(own.span(), format!("{} is no tuple", other.kind()))),
                };
                let elems: Vec<&syn::Pat> = own.elems.iter().collect();
                self.fields(frame, (&elems, count), pat, &value, bound)
            }
            syn::Pat::Slice(own) => {
                let Value::Array(all) = deref(value.clone()) else {
                    return Err(frame.error(own.span(), format!("{} is no array", value.kind())));
                };
                let elems: Vec<&syn::Pat> = own.elems.iter().collect();
                self.slice_pattern(frame, &elems, all.len(), &value, bound)
            }
            syn::Pat::TupleStruct(own) => {
                let Some(count) = self.is_variant(frame, &own.path, &value)? else { return Ok(false) };
                let elems: Vec<&syn::Pat> = own.elems.iter().collect();
                self.fields(frame, (&elems, count), pat, &value, bound)
            }
            syn::Pat::Struct(own) => {
                if self.is_variant(frame, &own.path, &value)?.is_none() {
                    return Ok(false);
                }
                for field in &own.fields {
                    let name = crate::place::member(&field.member);
                    let part = self.part(frame, field.span(), &value, Part::Field(name))?;
                    if !self.test(frame, &field.pat, part, bound)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            other => Err(frame.error(other.span(), "a pattern of this kind is not read in a kernel")),
        }
    }

    /// Tests patterns on the fields of a tuple, of which `..` leaves some out.
    fn fields(
        &mut self,
        frame: &mut Frame,
        (pats, count): (&[&syn::Pat], usize),
        whole: &syn::Pat,
        value: &Value,
        bound: &mut Bound,
    ) -> Eval<bool> {
        let rest = pats.iter().position(|pat| matches!(pat, syn::Pat::Rest(_)));
        let fields = pats.len() - usize::from(rest.is_some());
        if fields > count || rest.is_none() && fields != count {
            return Err(
                frame.error(whole.span(), format!("a pattern of {fields} fields, but there are {count}"))
            );
        }
        for (at, pat) in pats.iter().enumerate() {
            let field = match rest {
                Some(rest) if at == rest => continue,
                Some(rest) if at > rest => count - (pats.len() - at),
                Some(_) | None => at,
            };
            let part = match &deref(value.clone()) {
                Value::Array(_) => Part::Element(field),
                _ => Part::Field(field.to_string()),
            };
            let part = self.part(frame, pat.span(), value, part)?;
            if !self.test(frame, pat, part, bound)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn slice_pattern(
        &mut self,
        frame: &mut Frame,
        pats: &[&syn::Pat],
        count: usize,
        value: &Value,
        bound: &mut Bound,
    ) -> Eval<bool> {
        let is_rest = |pat: &&syn::Pat| match pat {
            syn::Pat::Rest(_) => true,
            syn::Pat::Ident(own) => {
                matches!(&own.subpat, Some((_, inner)) if matches!(**inner, syn::Pat::Rest(_)))
            }
            _ => false,
        };
        let rest = pats.iter().position(is_rest);
        let fields = pats.len() - usize::from(rest.is_some());
        if fields > count || rest.is_none() && fields != count {
            return Ok(false);
        }
        for (at, pat) in pats.iter().enumerate() {
            let element = match rest {
                Some(rest) if at == rest => {
                    if let syn::Pat::Ident(own) = pat {
                        let Value::Array(all) = deref(value.clone()) else { return Ok(false) };
                        if matches!(value, Value::Ref(_)) {
                            return Err(
                                frame.error(own.span(), "a part of an array that is changed is not read")
                            );
                        }
                        let part = all[at..count - (pats.len() - at - 1)].to_vec();
                        bound.push((own.ident.to_string(), Value::Array(part)));
                    }
                    continue;
                }
                Some(rest) if at > rest => count - (pats.len() - at),
                Some(_) | None => at,
            };
            let part = self.part(frame, pat.span(), value, Part::Element(element))?;
            if !self.test(frame, pat, part, bound)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A part of a value: of a reference, a reference to it.
    fn part(&mut self, frame: &Frame, span: proc_macro2::Span, value: &Value, part: Part) -> Eval<Value> {
        let found = match value {
            Value::Ref(of) => {
                let own = crate::place::followed(of.clone()).part(part);
                own.with(|_| ()).map(|()| own.clone().borrowed())
            }
            other => Reference::of(self.slot(other.clone())).part(part).read(),
        };
        found.ok_or_else(|| frame.error(span, format!("{} has no such part", value.kind())))
    }

    /// The fields of the variant or structure that a path names, if the value is of it.
    fn is_variant(&mut self, frame: &Frame, path: &syn::Path, value: &Value) -> Eval<Option<usize>> {
        let value = deref(value.clone());
        let found = self.program.find(frame.module, frame.of, &names(path), Space::Values);
        let found = found.or_else(|| self.program.find(frame.module, frame.of, &names(path), Space::Types));
        let wanted = match found {
            Some(Item::Variant(of, at)) => Some((of, at)),
            Some(Item::Adt(of)) => Some((of, 0)),
            Some(Item::Type(module, alias)) => match &*alias.ty {
                syn::Type::Path(path) => self.program.adt_of(module, &names(&path.path)).map(|of| (of, 0)),
                _ => None,
            },
            Some(_) | None => None,
        };
        match (&value, wanted) {
            (Value::Struct(own), Some((of, at))) => {
                Ok((own.of == of && own.variant == at).then_some(own.fields.len()))
            }
            (Value::Variant(own), None) => {
                Ok((own.name() == last_name(path)).then_some(own.args.len() + own.fields.len()))
            }
            (Value::Index(_) | Value::Condition(_), _) => Err(self.needs_number(frame, path.span())),
            (other, _) => {
                Err(frame.error(path.span(), format!("{} is no `{}`", other.kind(), names(path).join("::"))))
            }
        }
    }

    /// A constant, or a variant without fields.
    fn is_path(&mut self, frame: &mut Frame, own: &syn::PatPath, value: Value) -> Eval<bool> {
        let style = match self.program.find(frame.module, frame.of, &names(&own.path), Space::Values) {
            Some(Item::Variant(of, at)) => Some(self.program.adts[of.0].variants[at].style),
            Some(Item::Adt(_)) => Some(Style::Unit),
            Some(_) | None => None,
        };
        if style.is_some() || matches!(deref(value.clone()), Value::Variant(_)) {
            return Ok(self.is_variant(frame, &own.path, &value)?.is_some());
        }
        let wanted = self.expr(frame, &syn::Expr::Path(own.clone()), &Default::default())?;
        self.compares(frame, own.span(), &syn::BinOp::Eq(Default::default()), deref(value), wanted)
    }

    fn in_range(&mut self, frame: &mut Frame, own: &syn::PatRange, value: Value) -> Eval<bool> {
        let span = own.span();
        let below = |eval: &mut Self, frame: &mut Frame, left: Value, right: Value, or_equal: bool| {
            let op = if or_equal {
                syn::BinOp::Le(Default::default())
            } else {
                syn::BinOp::Lt(Default::default())
            };
            eval.compares(frame, span, &op, left, right)
        };
        if let Some(start) = &own.start {
            let start = self.expr(frame, start, &Default::default())?;
            if !below(self, frame, start, value.clone(), true)? {
                return Ok(false);
            }
        }
        if let Some(end) = &own.end {
            let end = self.expr(frame, end, &Default::default())?;
            let closed = matches!(own.limits, syn::RangeLimits::Closed(_));
            return below(self, frame, value, end, closed);
        }
        Ok(true)
    }
}
