//! Expressions.

use super::definitions::TypeDefinition;
use super::holes;
use super::obligations::Pending;
use super::types::{Con, Kind, Taint, Ty};
use super::{Checker, Expect};
use proc_macro2::Span;
use syn::spanned::Spanned;

impl Checker<'_> {
    /// The type of an expression.
    pub(crate) fn check(&mut self, expr: &syn::Expr, expect: &Expect) -> Ty {
        let before = std::mem::replace(&mut self.diverges, false);
        let ty = self.expr(expr, expect);
        self.diverges |= before || self.table.resolve(&ty).is_never();
        ty
    }

    /// Checks an expression that is coerced to a type.
    pub(crate) fn coerced(&mut self, expr: &syn::Expr, to: &Ty) {
        let ty = self.check(expr, &Expect::Has(to.clone()));
        self.coerce(&ty, to, expr.span());
    }

    fn expr(&mut self, expr: &syn::Expr, expect: &Expect) -> Ty {
        use syn::Expr;
        match expr {
            Expr::Lit(own) => self.literal(&own.lit, expect),
            Expr::Paren(own) => self.expr(&own.expr, expect),
            Expr::Group(own) => self.expr(&own.expr, expect),
            Expr::Path(own) => self.path(own),
            Expr::Binary(own) => self.binary(own),
            Expr::Unary(own) => self.unary(own, expect),
            Expr::Cast(own) => self.cast(own),
            Expr::Tuple(own) => self.tuple(own, expect),
            Expr::Array(own) => self.array(own, expect),
            Expr::Repeat(own) => self.repeat(own, expect),
            Expr::Reference(own) => self.reference(own, expect),
            Expr::Field(own) => self.field(own),
            Expr::Index(own) => self.index(own),
            Expr::Range(own) => self.range(own, expect),
            Expr::Struct(own) => self.structure(own),
            Expr::Assign(own) => self.assign(own),
            Expr::Call(own) => self.call(own, expect),
            Expr::MethodCall(own) => self.method_call(own),
            Expr::Closure(own) => self.closure(own, expect),
            Expr::Try(own) => self.question(own),
            Expr::Macro(own) => self.macro_call(&own.mac),
            Expr::Let(own) => {
                let ty = self.check(&own.expr, &Expect::None);
                self.pattern(&own.pat, &ty, false);
                Ty::bool()
            }
            _ => self.control(expr, expect),
        }
    }

    pub(crate) fn literal(&mut self, literal: &syn::Lit, expect: &Expect) -> Ty {
        match literal {
            syn::Lit::Int(own) => self.number(own.suffix(), Kind::Int, expect),
            syn::Lit::Float(own) => self.number(own.suffix(), Kind::Float, expect),
            syn::Lit::Byte(_) => Ty::int("u8"),
            syn::Lit::Char(_) => Ty::leaf(Con::Char),
            syn::Lit::Bool(_) => Ty::bool(),
            syn::Lit::Str(_) => Ty::reference(Ty::leaf(Con::Str)),
            syn::Lit::ByteStr(_) => Ty::reference(Ty::array(Ty::int("u8"))),
            _ => self.unread(literal.span(), "this literal is not read"),
        }
    }

    /// A number takes the type that is expected, even of a cast.
    fn number(&mut self, suffix: &str, kind: Kind, expect: &Expect) -> Ty {
        if let Some(ty) = Ty::primitive(suffix) {
            return ty;
        }
        let own = match holes::hole(suffix) {
            Some(number) => self.reach(number),
            None => self.table.fresh(kind),
        };
        let wanted = self.hint(expect).and_then(|ty| match (ty, kind) {
            (ty @ Ty::Con(Con::Int(_), _), Kind::Int) | (ty @ Ty::Con(Con::Float(_), _), Kind::Float) => {
                Some(ty)
            }
            (Ty::Con(Con::Char, _), Kind::Int) => Some(Ty::int("u8")),
            (_, _) => None,
        });
        if let Some(wanted) = wanted {
            self.unify(&own, &wanted, Span::call_site());
        }
        own
    }

    fn cast(&mut self, own: &syn::ExprCast) -> Ty {
        let env = self.env.clone();
        let target = self.lower(&env, &own.ty);
        let from = self.check(&own.expr, &Expect::Cast(target.clone()));
        let taint = match (self.table.resolve(&target), self.table.unknown(&target)) {
            (Ty::Con(Con::Int(_) | Con::Float(_) | Con::Bool | Con::Char, _), _) | (_, Some((_, None))) => {
                None
            }
            (_, Some((_, Some(taint)))) => Some(taint),
            (_, None) => Some(self.reason(own.span(), "a cast to this type is not read")),
        };
        if let Some(taint) = taint {
            self.table.taint(&from, taint);
        }
        target
    }

    fn tuple(&mut self, own: &syn::ExprTuple, expect: &Expect) -> Ty {
        let hint = match (expect, self.hint(expect)) {
            (Expect::Has(_), Some(Ty::Con(Con::Tuple, args))) if args.len() == own.elems.len() => Some(args),
            (_, _) => None,
        };
        let elem = |(at, elem): (usize, &syn::Expr)| match &hint {
            Some(args) => {
                self.coerced(elem, &args[at]);
                args[at].clone()
            }
            None => self.check(elem, &Expect::None),
        };
        let elems = own.elems.iter().enumerate().map(elem).collect();
        Ty::Con(Con::Tuple, elems)
    }

    /// The element type that an array is expected to have.
    fn element(&mut self, expect: &Expect) -> Ty {
        match self.hint(expect) {
            Some(Ty::Con(Con::Array | Con::Slice, args)) => args[0].clone(),
            _ => self.table.fresh(Kind::General),
        }
    }

    fn array(&mut self, own: &syn::ExprArray, expect: &Expect) -> Ty {
        let element = self.element(expect);
        own.elems.iter().for_each(|elem| self.coerced(elem, &element));
        Ty::array(element)
    }

    fn repeat(&mut self, own: &syn::ExprRepeat, expect: &Expect) -> Ty {
        let element = self.element(expect);
        self.coerced(&own.expr, &element);
        self.constant(&own.len, &Ty::int("usize"));
        Ty::array(element)
    }

    fn reference(&mut self, own: &syn::ExprReference, expect: &Expect) -> Ty {
        let inner = match (expect, self.hint(expect)) {
            (Expect::Has(_), Some(Ty::Con(Con::Ref, args))) => Expect::Has(args[0].clone()),
            (_, _) => Expect::None,
        };
        Ty::reference(self.check(&own.expr, &inner))
    }

    /// A type behind references and boxes.
    pub(crate) fn autoderef(&mut self, ty: &Ty) -> Ty {
        match self.known(ty) {
            Ty::Con(Con::Ref | Con::Std("Box"), args) => self.autoderef(&args[0]),
            other => other,
        }
    }

    fn field(&mut self, own: &syn::ExprField) -> Ty {
        let base = self.check(&own.base, &Expect::None);
        let base = self.autoderef(&base);
        let name = match &own.member {
            syn::Member::Named(name) => name.to_string(),
            syn::Member::Unnamed(index) => index.index.to_string(),
        };
        let found = match &base {
            Ty::Con(Con::Tuple, args) => name.parse().ok().and_then(|at: usize| args.get(at).cloned()),
            Ty::Con(Con::Adt(adt), args) => {
                let fields = self.fields(*adt, 0, args);
                fields.into_iter().find(|(own, _)| *own == name).map(|(_, ty)| ty)
            }
            Ty::Con(Con::Std("Range" | "RangeFrom" | "RangeTo"), args) => Some(args[0].clone()),
            _ => None,
        };
        found.unwrap_or_else(|| {
            self.missing(&base, own.span(), &format!("the field `{name}` is not known here"))
        })
    }

    /// A part that a type is not known to have.
    pub(crate) fn missing(&mut self, ty: &Ty, span: Span, why: &str) -> Ty {
        let taint = match self.table.unknown(ty) {
            Some((_, Some(taint))) => taint,
            _ => self.reason(span, why),
        };
        self.table.taint(ty, taint);
        self.table.tainted(taint)
    }

    fn index(&mut self, own: &syn::ExprIndex) -> Ty {
        let base = self.check(&own.expr, &Expect::None);
        let index = self.check(&own.index, &Expect::None);
        let base = self.autoderef(&base);
        let index = self.known(&index);
        let usize = Ty::int("usize");
        match (&base, &index) {
            (Ty::Con(Con::Array | Con::Slice, args), Ty::Con(Con::Std(name), bounds))
                if name.starts_with("Range") =>
            {
                bounds.iter().for_each(|bound| self.unify(bound, &usize, own.span()));
                Ty::Con(Con::Slice, args.clone())
            }
            (Ty::Con(Con::Array | Con::Slice, args), _) if super::operators::scalar(&self.table, &index) => {
                self.unify(&index, &usize, own.span());
                args[0].clone()
            }
            (Ty::Con(Con::Array | Con::Slice, args), _)
                if let Some((_, Some(Taint::Toolchain))) = self.table.unknown(&index) =>
            {
                args[0].clone()
            }
            (_, _) => {
                let of = if self.table.unknown(&base).is_some() { &base } else { &index };
                let result = self.missing(of, own.span(), "an index of this type is not read");
                if let Some((_, Some(taint))) = self.table.unknown(&result) {
                    self.table.taint(&index, taint);
                    self.table.taint(&base, taint);
                }
                result
            }
        }
    }

    fn range(&mut self, own: &syn::ExprRange, expect: &Expect) -> Ty {
        let name = match (&own.start, &own.limits, &own.end) {
            (Some(_), syn::RangeLimits::HalfOpen(_), Some(_)) => "Range",
            (Some(_), syn::RangeLimits::Closed(_), _) => "RangeInclusive",
            (Some(_), syn::RangeLimits::HalfOpen(_), None) => "RangeFrom",
            (None, syn::RangeLimits::HalfOpen(_), Some(_)) => "RangeTo",
            (None, syn::RangeLimits::Closed(_), _) => "RangeToInclusive",
            (None, syn::RangeLimits::HalfOpen(_), None) => return Ty::std("RangeFull", Vec::new()),
        };
        let bound = match self.hint(expect) {
            Some(Ty::Con(Con::Std(wanted), args)) if wanted == name => args[0].clone(),
            _ => self.table.fresh(Kind::General),
        };
        own.start.iter().chain(&own.end).for_each(|end| self.coerced(end, &bound));
        Ty::std(name, vec![bound])
    }

    fn structure(&mut self, own: &syn::ExprStruct) -> Ty {
        let Some((adt, variant, args)) = self.constructed(&own.path) else {
            own.fields.iter().for_each(|field| {
                let ty = self.check(&field.expr, &Expect::None);
                let taint = self.path_taint(&own.path);
                self.table.taint(&ty, taint);
            });
            let taint = self.path_taint(&own.path);
            return self.table.tainted(taint);
        };
        let fields = self.fields(adt, variant, &args);
        for field in &own.fields {
            let name = match &field.member {
                syn::Member::Named(name) => name.to_string(),
                syn::Member::Unnamed(index) => index.index.to_string(),
            };
            match fields.iter().find(|(own, _)| *own == name) {
                Some((_, ty)) => self.coerced(&field.expr, ty),
                None => {
                    let ty = self.check(&field.expr, &Expect::None);
                    self.missing(&ty, field.span(), "this field is not known");
                }
            }
        }
        let ty = Ty::Con(Con::Adt(adt), args);
        if let Some(rest) = &own.rest {
            self.coerced(rest, &ty);
        }
        ty
    }

    /// The taint of a path that constructs nothing of the input.
    fn path_taint(&mut self, path: &syn::Path) -> Taint {
        let names: Vec<String> = path.segments.iter().map(|own| own.ident.to_string()).collect();
        match self.defs.ty(self.env.scope, &names) {
            TypeDefinition::Toolchain => Taint::Toolchain,
            _ => self.reason(path.span(), "this structure is not known"),
        }
    }

    fn assign(&mut self, own: &syn::ExprAssign) -> Ty {
        match &*own.left {
            syn::Expr::Infer(_) => {
                self.check(&own.right, &Expect::None);
            }
            syn::Expr::Tuple(_) | syn::Expr::Array(_) | syn::Expr::Struct(_) | syn::Expr::Call(_) => {
                let right = self.check(&own.right, &Expect::None);
                self.destructure(&own.left, &right);
            }
            left => {
                let ty = self.check(left, &Expect::None);
                self.coerced(&own.right, &ty);
            }
        }
        Ty::unit()
    }

    /// Assigns to the parts of a tuple or array.
    fn destructure(&mut self, left: &syn::Expr, right: &Ty) {
        match left {
            syn::Expr::Infer(_) => {}
            syn::Expr::Tuple(own) if !own.elems.iter().any(is_rest) => {
                let parts: Vec<Ty> = own.elems.iter().map(|_| self.table.fresh(Kind::General)).collect();
                self.unify(&Ty::Con(Con::Tuple, parts.clone()), right, left.span());
                own.elems.iter().zip(&parts).for_each(|(elem, part)| self.destructure(elem, part));
            }
            syn::Expr::Array(own) => {
                let part = self.table.fresh(Kind::General);
                self.unify(&Ty::array(part.clone()), right, left.span());
                let elems = own.elems.iter().filter(|elem| !is_rest(elem));
                elems.for_each(|elem| self.destructure(elem, &part));
            }
            syn::Expr::Struct(_) | syn::Expr::Call(_) | syn::Expr::Tuple(_) => {
                let taint = self.reason(left.span(), "this assignment is not read");
                let ty = self.check(left, &Expect::None);
                self.table.taint(&ty, taint);
                self.table.taint(right, taint);
            }
            _ => {
                let ty = self.check(left, &Expect::None);
                self.coerce(right, &ty, left.span());
            }
        }
    }

    /// `value?` ends the function or closure around it unless there is a value.
    fn question(&mut self, own: &syn::ExprTry) -> Ty {
        let inner = self.check(&own.expr, &Expect::None);
        match self.known(&inner) {
            Ty::Con(Con::Std("Option"), args) => {
                let rest = self.table.fresh(Kind::General);
                let result = self.result.clone();
                self.unify(&result, &Ty::std("Option", vec![rest]), own.span());
                args[0].clone()
            }
            Ty::Con(Con::Std("Result"), args) => {
                let rest = self.table.fresh(Kind::General);
                let target = self.table.fresh(Kind::General);
                let result = self.result.clone();
                self.unify(&result, &Ty::std("Result", vec![rest, target.clone()]), own.span());
                self.relate(Pending::From { target, source: args[1].clone(), span: own.span() });
                args[0].clone()
            }
            other => self.missing(&other, own.span(), "the type before `?` is not known here"),
        }
    }
}

fn is_rest(expr: &syn::Expr) -> bool {
    matches!(expr, syn::Expr::Range(own) if own.start.is_none() && own.end.is_none())
}
