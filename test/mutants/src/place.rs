//! Puts the mutants of a file where they belong, each behind `crate::mutated(NUMBER)`.

use std::collections::HashMap;
use std::mem;
use std::ops::Range;

use proc_macro2::Span;
use quote::ToTokens;
use syn::punctuated::Pair;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Arm, BinOp, Block, Expr, Signature, parse_quote};

use crate::list::{Genre, Mutant, Place, place};

/// The file's text with the mutants whose places are given.
pub(crate) fn with_mutants(text: &str, mutants: &[Mutant], places: HashMap<Place, Vec<usize>>) -> String {
    let mut file = syn::parse_file(text).expect("the source is Rust");
    Placing { mutants, places, constant: false }.visit_file_mut(&mut file);
    file.into_token_stream().to_string()
}

struct Placing<'a> {
    mutants: &'a [Mutant],
    places: HashMap<Place, Vec<usize>>,
    /// Whether the compiler evaluates what is visited: no mutant can be chosen there.
    constant: bool,
}

impl Placing<'_> {
    /// The mutants of a kind that begin where a span does, and what they put there.
    fn at(&self, genre: Genre, span: Span) -> Vec<(usize, &str)> {
        if self.constant {
            return Vec::new();
        }
        let numbers = self.places.get(&place(genre, span.start())).into_iter().flatten();
        numbers.map(|&number| (number, self.mutants[number].replacement.as_str())).collect()
    }

    /// An expression's mutants: the whole expression with the mistake in it.
    fn alternatives(&self, expr: &Expr) -> Vec<(usize, Expr)> {
        match expr {
            Expr::Binary(binary) if !is_let_chain(expr) => {
                let operators = self.at(Genre::BinaryOperator, binary.op.span()).into_iter();
                let other = |(number, operator)| {
                    let op: BinOp = syn::parse_str(operator).expect("an operator");
                    let (left, right) = (&binary.left, &binary.right);
                    // In parentheses, for a type would go on: `x as u32 << 1`.
                    (number, parse_quote!((#left) #op #right))
                };
                operators.map(other).collect()
            }
            Expr::Unary(unary) => {
                let deleted = self.at(Genre::UnaryOperator, unary.op.span()).into_iter();
                deleted.map(|(number, _)| (number, (*unary.expr).clone())).collect()
            }
            Expr::Struct(whole) => {
                let without = |field: usize| {
                    let fields = whole.fields.iter().enumerate().filter(|&(at, _)| at != field);
                    // With a comma behind the last, for `..rest` may follow.
                    let fields = fields.map(|(_, field)| Pair::Punctuated(field.clone(), Default::default()));
                    let fields = fields.collect();
                    Expr::Struct(syn::ExprStruct { fields, ..whole.clone() })
                };
                let fields = whole.fields.iter().enumerate();
                let deleted = fields.flat_map(|(at, field)| {
                    let deleted = self.at(Genre::StructField, field.span()).into_iter();
                    deleted.map(move |(number, _)| (number, at))
                });
                deleted.map(|(number, at)| (number, without(at))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Visits what the compiler may evaluate.
    fn within(&mut self, constant: bool, visit: impl FnOnce(&mut Self)) {
        let outside = mem::replace(&mut self.constant, constant);
        visit(self);
        self.constant = outside;
    }

    /// Values instead of a function's are returned where its body begins. `impl Trait` is one type: it has no
    /// other value.
    fn function(&mut self, signature: &Signature, body: &mut Block) {
        let returns_a_trait = signature.output.to_token_stream().to_string().contains("impl ");
        self.within(signature.constness.is_some(), |placing| {
            let values = match body.stmts.first() {
                Some(first) if !returns_a_trait => placing.at(Genre::FnValue, first.span()),
                Some(_) | None => Vec::new(),
            };
            let values = values.into_iter().map(|(number, value)| {
                let value: Expr = syn::parse_str(value).expect("a value");
                parse_quote!(if crate::mutated(#number) { return #value; })
            });
            let values: Vec<syn::Stmt> = values.collect();
            placing.visit_block_mut(body);
            body.stmts.splice(0..0, values);
        });
    }
}

impl VisitMut for Placing<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        // The alternatives take the expression as it is written: of two mutants, one is chosen.
        let alternatives = self.alternatives(expr);
        let constant = match expr {
            Expr::Closure(_) => false,
            Expr::Const(_) => true,
            _ => self.constant,
        };
        self.within(constant, |placing| match expr {
            Expr::Repeat(repeat) => placing.visit_expr_mut(&mut repeat.expr),
            _ => visit_mut::visit_expr_mut(placing, expr),
        });
        for (number, other) in alternatives {
            *expr = parse_quote!((if crate::mutated(#number) { #other } else { #expr }));
        }
    }

    fn visit_arm_mut(&mut self, arm: &mut Arm) {
        let owned = |(number, value): (usize, &str)| (number, value == "true");
        let guards = arm
            .guard
            .as_ref()
            .map_or_else(Vec::new, |(_, guard)| self.at(Genre::MatchArmGuard, guard.span()));
        let guards: Vec<_> = guards.into_iter().map(owned).collect();
        let deleted: Vec<_> = self.at(Genre::MatchArm, arm.span()).into_iter().map(owned).collect();
        visit_mut::visit_arm_mut(self, arm);
        for (number, always) in guards.into_iter().chain(deleted) {
            let guard = arm.guard.as_ref().map(|(_, guard)| guard);
            let guard: Expr = match (always, guard) {
                (true, guard) => parse_quote!(crate::mutated(#number) || (#guard)),
                (false, Some(guard)) => parse_quote!(!crate::mutated(#number) && (#guard)),
                (false, None) => parse_quote!(!crate::mutated(#number)),
            };
            arm.guard = Some((Default::default(), Box::new(guard)));
        }
    }

    fn visit_item_fn_mut(&mut self, function: &mut syn::ItemFn) {
        self.function(&function.sig, &mut function.block);
    }

    fn visit_impl_item_fn_mut(&mut self, function: &mut syn::ImplItemFn) {
        self.function(&function.sig, &mut function.block);
    }

    fn visit_trait_item_fn_mut(&mut self, function: &mut syn::TraitItemFn) {
        if let Some(body) = &mut function.default {
            self.function(&function.sig, body);
        }
    }

    fn visit_item_const_mut(&mut self, item: &mut syn::ItemConst) {
        self.within(true, |placing| placing.visit_expr_mut(&mut item.expr));
    }

    fn visit_impl_item_const_mut(&mut self, item: &mut syn::ImplItemConst) {
        self.within(true, |placing| placing.visit_expr_mut(&mut item.expr));
    }

    fn visit_item_static_mut(&mut self, item: &mut syn::ItemStatic) {
        self.within(true, |placing| placing.visit_expr_mut(&mut item.expr));
    }

    // Lengths of arrays, generic arguments, discriminants and patterns are constants.
    fn visit_type_mut(&mut self, _: &mut syn::Type) {}
    fn visit_generic_argument_mut(&mut self, _: &mut syn::GenericArgument) {}
    fn visit_variant_mut(&mut self, _: &mut syn::Variant) {}
    fn visit_pat_mut(&mut self, _: &mut syn::Pat) {}
}

/// Whether `&&` joins a `let`, which stands in no parentheses.
fn is_let_chain(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(syn::ExprBinary { op: BinOp::And(_), left, right, .. }) => {
            is_let_chain(left) || is_let_chain(right)
        }
        _ => false,
    }
}

/// Where the mutants are in the text of a file: what is behind `crate::mutated(NUMBER)`, and the number.
pub(crate) fn behind(text: &str) -> Vec<(Range<usize>, usize)> {
    let mut behind = Behind(Vec::new());
    behind.visit_file(&syn::parse_file(text).expect("what was written is Rust"));
    behind.0
}

struct Behind(Vec<(Range<usize>, usize)>);

impl<'a> Visit<'a> for Behind {
    fn visit_expr_if(&mut self, expr: &'a syn::ExprIf) {
        if let Some(number) = chosen(&expr.cond) {
            self.0.push((expr.then_branch.span().byte_range(), number));
        }
        visit::visit_expr_if(self, expr);
    }

    /// Without an arm, others may not be all that there is: a mistake of what is matched.
    fn visit_expr_match(&mut self, matched: &'a syn::ExprMatch) {
        let range = matched.expr.span().byte_range();
        let deleted = matched.arms.iter().filter_map(|arm| match arm.guard.as_ref()?.1.as_ref() {
            Expr::Unary(not) => chosen(&not.expr),
            _ => None,
        });
        self.0.extend(deleted.map(|number| (range.clone(), number)));
        visit::visit_expr_match(self, matched);
    }

    fn visit_expr_call(&mut self, call: &'a syn::ExprCall) {
        let range = call.span().byte_range();
        self.0.extend(chosen(&Expr::Call(call.clone())).map(|number| (range, number)));
        visit::visit_expr_call(self, call);
    }
}

/// NUMBER of `crate::mutated(NUMBER)`.
fn chosen(expr: &Expr) -> Option<usize> {
    let Expr::Call(call) = expr else { return None };
    let Expr::Path(function) = &*call.func else { return None };
    let Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(number), .. }) = call.args.first()? else { return None };
    (function.path.segments.last()?.ident == "mutated")
        .then(|| number.base10_parse().expect("a mutant's number"))
}
