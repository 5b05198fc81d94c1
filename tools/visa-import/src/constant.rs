//! Numbers that an engine is given are part of its instruction: they must be constants of the language, not numbers
//! that the kernel computes while it runs.

use crate::eval::{Eval, Evaluator, Frame, Stop, is_float};
use crate::value::Value;
use proc_macro2::Span;
use syn::spanned::Spanned;

/// Reason for a number that is known only when the kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Computed {
    /// A cast to a floating-point format.
    Cast,
    /// A call of a function of numbers.
    Call,
    /// It depends on the index of a loop.
    Index,
}

impl Computed {
    fn what(self) -> &'static str {
        match self {
            Self::Cast => "a cast to a floating-point number",
            Self::Call => "a call",
            Self::Index => "the index of a loop",
        }
    }

    fn fix(self) -> &'static str {
        match self {
            Self::Cast | Self::Call => "write it as a constant: `const { .. }`",
            Self::Index => "write the operation once for each number, outside of the loop",
        }
    }
}

/// Functions of floating-point numbers that run where they are called.
const FUNCTIONS: [&str; 8] = ["sqrt", "recip", "exp", "ln", "powf", "abs", "to_f32", "into"];

/// Functions that make a number of one of another format.
const CONVERSIONS: [&str; 4] = ["from_f32", "from_f64", "from_i32", "from"];

impl Evaluator<'_> {
    /// The numbers that a method gives to an engine are constants.
    pub(crate) fn check_constants(&self, frame: &Frame, of: &Value, call: &syn::ExprMethodCall) -> Eval<()> {
        let name = call.method.to_string();
        let takes = match of {
            Value::View(_) => name == "memset",
            Value::Stream(_) => name.starts_with("vector_") || name == "fetch_zero_point_sub",
            _ => false,
        };
        let Some((span, why)) = call.args.iter().filter(|_| takes).find_map(|arg| computed(frame, arg))
        else {
            return Ok(());
        };
        let message = format!(
            "`{name}` takes a constant, which its instruction holds: {} is known only when the kernel runs",
            why.what()
        );
        Err(Stop::Error(crate::error::Error::new(frame.place(span), message).fix(why.fix())))
    }
}

/// The part of an expression that the kernel computes while it runs, outside of `const { .. }`.
pub(crate) fn computed(frame: &Frame, expr: &syn::Expr) -> Option<(Span, Computed)> {
    let any = |all: &syn::punctuated::Punctuated<syn::Expr, syn::Token![,]>| {
        all.iter().find_map(|own| computed(frame, own))
    };
    match expr {
        syn::Expr::Path(path) => {
            let why = path.path.get_ident().and_then(|name| frame.computed(&name.to_string()))?;
            Some((path.span(), why))
        }
        syn::Expr::Paren(inner) => computed(frame, &inner.expr),
        syn::Expr::Group(inner) => computed(frame, &inner.expr),
        syn::Expr::Reference(inner) => computed(frame, &inner.expr),
        syn::Expr::Unary(inner) => computed(frame, &inner.expr),
        syn::Expr::Field(inner) => computed(frame, &inner.base),
        syn::Expr::Cast(cast) => computed(frame, &cast.expr).or_else(|| {
            last_name(&cast.ty).is_some_and(|name| is_float(&name)).then(|| (cast.span(), Computed::Cast))
        }),
        syn::Expr::Binary(own) => computed(frame, &own.left).or_else(|| computed(frame, &own.right)),
        syn::Expr::Index(own) => computed(frame, &own.expr).or_else(|| computed(frame, &own.index)),
        syn::Expr::Tuple(own) => any(&own.elems),
        syn::Expr::Array(own) => any(&own.elems),
        syn::Expr::Block(own) => in_block(frame, &own.block),
        syn::Expr::If(own) => computed(frame, &own.cond)
            .or_else(|| in_block(frame, &own.then_branch))
            .or_else(|| own.else_branch.as_ref().and_then(|(_, other)| computed(frame, other))),
        syn::Expr::Match(own) => {
            computed(frame, &own.expr).or_else(|| own.arms.iter().find_map(|arm| computed(frame, &arm.body)))
        }
        syn::Expr::Call(own) => any(&own.args).or_else(|| called(own)),
        syn::Expr::MethodCall(own) => {
            let runs = FUNCTIONS.iter().any(|name| own.method == name);
            let inner = computed(frame, &own.receiver).or_else(|| any(&own.args));
            inner.or_else(|| runs.then(|| (own.span(), Computed::Call)))
        }
        // A literal, `const { .. }`, and expressions that are no numbers.
        _ => None,
    }
}

/// The choice by the index of a loop that an expression is, as `if i == 0 { 0 } else { 1 }`.
pub(crate) fn chosen(frame: &Frame, expr: &syn::Expr) -> Option<Span> {
    let of = match expr {
        syn::Expr::Paren(inner) => return chosen(frame, &inner.expr),
        syn::Expr::Group(inner) => return chosen(frame, &inner.expr),
        syn::Expr::If(own) => &own.cond,
        syn::Expr::Match(own) => &own.expr,
        _ => return None,
    };
    matches!(computed(frame, of), Some((_, Computed::Index))).then(|| expr.span())
}

fn called(call: &syn::ExprCall) -> Option<(Span, Computed)> {
    let syn::Expr::Path(path) = &*call.func else { return None };
    let name = path.path.segments.last()?.ident.to_string();
    CONVERSIONS.contains(&name.as_str()).then(|| (call.span(), Computed::Call))
}

fn in_block(frame: &Frame, block: &syn::Block) -> Option<(Span, Computed)> {
    match block.stmts.last()? {
        syn::Stmt::Expr(last, None) => computed(frame, last),
        syn::Stmt::Expr(_, Some(_)) | syn::Stmt::Local(_) | syn::Stmt::Item(_) | syn::Stmt::Macro(_) => None,
    }
}

fn last_name(ty: &syn::Type) -> Option<String> {
    match ty {
        syn::Type::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
        _ => None,
    }
}
