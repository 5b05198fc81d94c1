//! Uses of macros in bodies, expanded in the order of the text: a definition is seen after it, in its block.

use super::{BLOCK, DEFINITION, Tree, marker};
use crate::cfg;
use crate::error::Error;
use crate::macros::{Macro, MacroScope};
use crate::program::{ModuleId, Program, last_name};
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use std::collections::VecDeque;
use std::rc::Rc;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};

/// Macros of the language that stay: evaluation knows them, or refuses them by their names.
const BUILTIN: &[&str] = &[
    "assert",
    "assert_eq",
    "assert_ne",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "eprint",
    "eprintln",
    "format",
    "panic",
    "print",
    "println",
    "todo",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
];

/// The tree without uses of macros of the input.
///
/// # Errors
/// A use that has no expansion.
pub(super) fn expand<T: Tree>(
    program: &mut Program,
    module: ModuleId,
    macros: MacroScope,
    mut tree: T,
) -> Result<T, Error> {
    let mut own = Expander { program, module, macros, depth: 0, error: None };
    tree.visit(&mut own);
    own.error.map_or(Ok(tree), Err)
}

/// The arguments of a macro of the language, as `assert!(a, b)` has them.
pub(crate) fn arguments(mac: &syn::Macro) -> syn::Result<Punctuated<syn::Expr, syn::Token![,]>> {
    mac.parse_body_with(Punctuated::parse_terminated)
}

struct Expander<'p> {
    program: &'p mut Program,
    module: ModuleId,
    macros: MacroScope,
    /// The expansions around.
    depth: usize,
    error: Option<Error>,
}

impl Expander<'_> {
    fn fail(&mut self, span: Span, message: impl Into<String>) {
        let error = Error::new(self.program.place(self.module, span), message);
        self.error.get_or_insert(error);
    }

    fn definition(&self, mac: &syn::Macro) -> Option<Rc<Macro>> {
        self.program.definition(self.module, &mac.path, &self.macros)
    }

    /// The tree that a use stands for, whose own uses are one level deeper.
    fn expanded<T>(
        &mut self,
        (definition, mac): (&Macro, &syn::Macro),
        parse: impl FnOnce(TokenStream) -> syn::Result<T>,
        strip: impl FnOnce(&mut T, &mut cfg::Strip),
    ) -> Option<T> {
        let tokens = self.program.expanded_tokens(definition, mac.tokens.clone(), self.depth);
        let tree = tokens.and_then(|tokens| {
            let mut tree = parse(tokens)
                .map_err(|why| format!("the expansion of `{}!` is not read: {why}", definition.name))?;
            cfg::strip(|own| strip(&mut tree, own)).map_err(|(_, why)| why)?;
            Ok(tree)
        });
        tree.map_err(|why| self.fail(mac.path.span(), why)).ok()
    }

    fn deeper(&mut self, visit: impl FnOnce(&mut Self)) {
        self.depth += 1;
        visit(self);
        self.depth -= 1;
    }

    /// A use among expressions.
    fn expression(&mut self, mac: &mut syn::Macro) -> Option<syn::Expr> {
        let Some(definition) = self.definition(mac) else { return self.builtin(mac) };
        let parse = |input: syn::parse::ParseStream<'_>| {
            let expr = input.parse::<syn::Expr>()?;
            // One semicolon after it is left out.
            let _: Option<syn::Token![;]> = input.parse()?;
            Ok(expr)
        };
        self.expanded(
            (&definition, mac),
            |tokens| parse.parse2(tokens),
            |tree, strip| strip.visit_expr_mut(tree),
        )
    }

    /// A macro of the language: the expression that it is, or none if it stays.
    fn builtin(&mut self, mac: &mut syn::Macro) -> Option<syn::Expr> {
        let name = last_name(&mac.path);
        match name.as_str() {
            "matches" => match matched(mac) {
                Ok(expr) => Some(expr),
                Err(why) => {
                    self.fail(mac.path.span(), format!("`matches!` is not read: {why}"));
                    None
                }
            },
            "cfg" => match cfg::of_macro(mac) {
                Ok(truth) => Some(syn::parse_quote!(#truth)),
                Err((span, why)) => {
                    self.fail(span, why);
                    None
                }
            },
            _ if BUILTIN.contains(&name.as_str()) => {
                if let Ok(mut arguments) = arguments(mac) {
                    arguments.iter_mut().for_each(|own| self.visit_expr_mut(own));
                    mac.tokens = arguments.to_token_stream();
                }
                None
            }
            _ => {
                self.fail(mac.path.span(), format!("the macro `{name}!` is not known"));
                None
            }
        }
    }

    /// The statements of a block, with those that macros stand for.
    fn statements(&mut self, stmts: Vec<syn::Stmt>) -> Vec<syn::Stmt> {
        let mut left: VecDeque<(syn::Stmt, usize)> = stmts.into_iter().map(|own| (own, self.depth)).collect();
        let mut out = Vec::new();
        let mut has_items = false;
        let outer = self.depth;
        while let Some((stmt, depth)) = left.pop_front() {
            if self.error.is_some() {
                break;
            }
            self.depth = depth;
            match stmt {
                syn::Stmt::Item(syn::Item::Macro(item)) if last_name(&item.mac.path) == "macro_rules" => {
                    let id = self.program.define(self.module, &item, &mut self.macros);
                    out.extend(id.map(|id| marker(DEFINITION, id.0)));
                }
                syn::Stmt::Item(item) => {
                    self.program.item(self.module, item, &mut self.macros, depth);
                    has_items = true;
                }
                syn::Stmt::Macro(own)
                    if last_name(&own.mac.path) == "axes" && self.definition(&own.mac).is_none() =>
                {
                    self.program.declare_axes(self.module, &own.mac, &self.macros);
                    has_items = true;
                }
                syn::Stmt::Macro(own) => {
                    for (at, stmt) in self.statement(own, left.is_empty()).into_iter().enumerate() {
                        left.insert(at, stmt);
                    }
                    if let Some((stmt, depth)) = left.pop_front() {
                        match stmt {
                            syn::Stmt::Macro(mut own) if depth == usize::MAX => {
                                self.builtin(&mut own.mac);
                                out.push(syn::Stmt::Macro(own));
                            }
                            other => left.push_front((other, depth)),
                        }
                    }
                }
                mut other @ (syn::Stmt::Local(_) | syn::Stmt::Expr(..)) => {
                    self.visit_stmt_mut(&mut other);
                    out.push(other);
                }
            }
        }
        self.depth = outer;
        if has_items {
            out.insert(0, marker(BLOCK, self.module.0));
        }
        out
    }

    /// The statements that a use stands for, with their depths; the largest number where it stays.
    fn statement(&mut self, own: syn::StmtMacro, last: bool) -> Vec<(syn::Stmt, usize)> {
        let Some(definition) = self.definition(&own.mac) else {
            let name = last_name(&own.mac.path);
            if BUILTIN.contains(&name.as_str()) {
                return vec![(syn::Stmt::Macro(own), usize::MAX)];
            }
            let expr = syn::Expr::Macro(syn::ExprMacro { attrs: own.attrs, mac: own.mac });
            return vec![(syn::Stmt::Expr(expr, own.semi_token), self.depth)];
        };
        let braces = matches!(own.mac.delimiter, syn::MacroDelimiter::Brace(_));
        if last && own.semi_token.is_none() && !braces {
            let expr = syn::Expr::Macro(syn::ExprMacro { attrs: own.attrs, mac: own.mac });
            return vec![(syn::Stmt::Expr(expr, None), self.depth)];
        }
        let parse = |tokens| syn::Block::parse_within.parse2(tokens);
        let strip = |tree: &mut Vec<syn::Stmt>, strip: &mut cfg::Strip| {
            let mut block = syn::Block { brace_token: Default::default(), stmts: std::mem::take(tree) };
            strip.visit_block_mut(&mut block);
            *tree = block.stmts;
        };
        let mut stmts = self.expanded((&definition, &own.mac), parse, strip).unwrap_or_default();
        match stmts.last_mut() {
            Some(syn::Stmt::Expr(_, semicolon)) if semicolon.is_none() => *semicolon = own.semi_token,
            Some(syn::Stmt::Macro(inner)) if inner.semi_token.is_none() => inner.semi_token = own.semi_token,
            Some(_) | None => {}
        }
        stmts.into_iter().map(|stmt| (stmt, self.depth + 1)).collect()
    }
}

impl VisitMut for Expander<'_> {
    fn visit_expr_mut(&mut self, expr: &mut syn::Expr) {
        if self.error.is_some() {
            return;
        }
        match expr {
            syn::Expr::Macro(own) => {
                if let Some(expanded) = self.expression(&mut own.mac) {
                    *expr = expanded;
                    self.deeper(|own| own.visit_expr_mut(expr));
                }
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        let (module, macros) = (self.module, self.macros.clone());
        let may_have_items = block.stmts.iter().any(|stmt| match stmt {
            syn::Stmt::Item(_) => true,
            syn::Stmt::Macro(own) => !BUILTIN.contains(&last_name(&own.mac.path).as_str()),
            syn::Stmt::Local(_) | syn::Stmt::Expr(..) => false,
        });
        if may_have_items {
            self.module = self.program.block_module(module);
        }
        let stmts = std::mem::take(&mut block.stmts);
        block.stmts = self.statements(stmts);
        (self.module, self.macros) = (module, macros);
    }

    fn visit_type_mut(&mut self, ty: &mut syn::Type) {
        if let syn::Type::Macro(own) = ty
            && let Some(definition) = self.definition(&own.mac)
        {
            let strip = |tree: &mut syn::Type, strip: &mut cfg::Strip| strip.visit_type_mut(tree);
            if let Some(expanded) = self.expanded((&definition, &own.mac), syn::parse2, strip) {
                *ty = expanded;
                self.deeper(|own| own.visit_type_mut(ty));
            }
            return;
        }
        visit_mut::visit_type_mut(self, ty);
    }

    fn visit_pat_mut(&mut self, pat: &mut syn::Pat) {
        let syn::Pat::Macro(own) = pat else { return visit_mut::visit_pat_mut(self, pat) };
        let Some(definition) = self.definition(&own.mac) else {
            let span = own.mac.path.span();
            return self.fail(span, format!("the macro `{}!` is not known", last_name(&own.mac.path)));
        };
        let parse = |tokens| syn::Pat::parse_multi_with_leading_vert.parse2(tokens);
        let strip = |tree: &mut syn::Pat, strip: &mut cfg::Strip| strip.visit_pat_mut(tree);
        if let Some(expanded) = self.expanded((&definition, &own.mac), parse, strip) {
            *pat = expanded;
            self.deeper(|own| own.visit_pat_mut(pat));
        }
    }
}

/// `matches!(value, pattern if guard)` as a `match`.
fn matched(mac: &syn::Macro) -> syn::Result<syn::Expr> {
    mac.parse_body_with(|input: syn::parse::ParseStream<'_>| {
        let value: syn::Expr = input.parse()?;
        input.parse::<syn::Token![,]>()?;
        let pattern = syn::Pat::parse_multi_with_leading_vert(input)?;
        let guard: Option<syn::Expr> = match input.parse::<Option<syn::Token![if]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        let _: Option<syn::Token![,]> = input.parse()?;
        let guard = guard.map(|guard| quote::quote!(if #guard));
        Ok(syn::parse_quote!(match #value { #pattern #guard => true, _ => false }))
    })
}
