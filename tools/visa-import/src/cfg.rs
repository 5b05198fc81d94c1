//! Conditional compilation: `#[cfg(..)]` and `#[cfg_attr(..)]` at every position, as `cargo build` has them (the dev
//! profile, x86-64 Linux, no features).

use crate::marks::unmarked_tokens;
use crate::program::last_name;
use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Expr, Meta, Token};

/// Options that are set without a value.
const SET: &[&str] = &["debug_assertions", "unix"];

/// Options that are set, with their values.
const VALUES: &[(&str, &str)] = &[
    ("panic", "unwind"),
    ("target_abi", ""),
    ("target_arch", "x86_64"),
    ("target_endian", "little"),
    ("target_env", "gnu"),
    ("target_family", "unix"),
    ("target_feature", "fxsr"),
    ("target_feature", "sse"),
    ("target_feature", "sse2"),
    ("target_has_atomic", "16"),
    ("target_has_atomic", "32"),
    ("target_has_atomic", "64"),
    ("target_has_atomic", "8"),
    ("target_has_atomic", "ptr"),
    ("target_os", "linux"),
    ("target_pointer_width", "64"),
    ("target_vendor", "unknown"),
];

/// A condition that is not one, and its position.
pub(crate) type Wrong = (Span, String);

/// Removes the parts of a tree that are not compiled.
///
/// # Errors
/// A predicate that is not known.
pub(crate) fn strip(visit: impl FnOnce(&mut Strip)) -> Result<(), Wrong> {
    let mut strip = Strip { wrong: None };
    visit(&mut strip);
    strip.wrong.map_or(Ok(()), Err)
}

/// Returns true if a predicate holds, such as `all(unix, not(test))`.
///
/// # Errors
/// A predicate that is not known.
pub(crate) fn holds(predicate: &Meta) -> Result<bool, Wrong> {
    match predicate {
        Meta::Path(path) => Ok(SET.contains(&last_name(path).as_str())),
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => {
                let value = text.value();
                let given = last_name(&pair.path);
                Ok(VALUES.iter().any(|(name, own)| given == *name && *own == value))
            }
            other => Err((other.span(), "an option of `cfg` has a string as its value".to_owned())),
        },
        Meta::List(list) => listed(list),
    }
}

fn listed(list: &syn::MetaList) -> Result<bool, Wrong> {
    let all = predicates(list)?;
    let name = last_name(&list.path);
    match (name.as_str(), &*all) {
        ("all", _) => all.iter().try_fold(true, |found, own| Ok(holds(own)? && found)),
        ("any", _) => all.iter().try_fold(false, |found, own| Ok(holds(own)? || found)),
        ("not", [one]) => Ok(!holds(one)?),
        (_, _) => Err((list.span(), format!("`{name}` is no predicate of `cfg`: `all`, `any`, `not`"))),
    }
}

/// The predicates in brackets. `true` and `false` are identifiers of a path here.
fn predicates(list: &syn::MetaList) -> Result<Vec<Meta>, Wrong> {
    let parser =
        |input: syn::parse::ParseStream<'_>| Punctuated::<Predicate, Token![,]>::parse_terminated(input);
    // A macro may have passed them on.
    let all = syn::parse::Parser::parse2(parser, unmarked_tokens(list.tokens.clone()));
    let all = all.map_err(|why| (why.span(), format!("a predicate of `cfg` is not read: {why}")))?;
    Ok(all.into_iter().map(|own| own.0).collect())
}

/// A predicate: `Meta` does not parse `true` and `false`, which become `all()` and `any()`.
struct Predicate(Meta);

impl syn::parse::Parse for Predicate {
    fn parse(input: syn::parse::ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(syn::LitBool) {
            let truth: syn::LitBool = input.parse()?;
            return Ok(Self(if truth.value { syn::parse_quote!(all()) } else { syn::parse_quote!(any()) }));
        }
        input.parse().map(Self)
    }
}

/// The value of a macro `cfg!(..)`.
///
/// # Errors
/// A predicate that is not known.
pub(crate) fn of_macro(mac: &syn::Macro) -> Result<bool, Wrong> {
    let list = syn::MetaList {
        path: mac.path.clone(),
        delimiter: mac.delimiter.clone(),
        tokens: mac.tokens.clone(),
    };
    match &*predicates(&list)? {
        [one] => holds(one),
        _ => Err((mac.path.span(), "`cfg!` takes one predicate".to_owned())),
    }
}

/// Removes the parts that are not compiled.
pub(crate) struct Strip {
    wrong: Option<Wrong>,
}

impl Strip {
    /// Expands `cfg_attr` among attributes; returns true if their item is compiled.
    fn keeps(&mut self, attrs: &mut Vec<Attribute>) -> bool {
        let mut keeps = true;
        let mut left: Vec<Attribute> = attrs.drain(..).rev().collect();
        while let Some(attr) = left.pop() {
            let list = match &attr.meta {
                Meta::List(list) if attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr") => list,
                Meta::List(_) | Meta::Path(_) | Meta::NameValue(_) => {
                    attrs.push(attr);
                    continue;
                }
            };
            let all = match predicates(list) {
                Ok(all) => all,
                Err(wrong) => {
                    self.wrong.get_or_insert(wrong);
                    continue;
                }
            };
            let Some((first, rest)) = all.split_first() else {
                self.wrong.get_or_insert((attr.span(), "`cfg` without a predicate".to_owned()));
                continue;
            };
            match (holds(first), attr.path().is_ident("cfg")) {
                (Ok(truth), true) => keeps &= truth,
                (Ok(true), false) => {
                    let own = rest.iter().rev().map(|meta| Attribute { meta: meta.clone(), ..attr.clone() });
                    left.extend(own);
                }
                (Ok(false), false) => {}
                (Err(wrong), _) => {
                    self.wrong.get_or_insert(wrong);
                }
            }
        }
        keeps
    }

    fn list<T, P: Default>(
        &mut self,
        list: &mut Punctuated<T, P>,
        attrs: fn(&mut T) -> Option<&mut Vec<Attribute>>,
    ) {
        let all = std::mem::take(list);
        *list = all.into_iter().filter_map(|mut own| self.keeps_it(&mut own, attrs).then_some(own)).collect();
    }

    fn keeps_it<T>(&mut self, own: &mut T, attrs: fn(&mut T) -> Option<&mut Vec<Attribute>>) -> bool {
        attrs(own).is_none_or(|attrs| self.keeps(attrs))
    }

    fn stmts(&mut self, stmts: &mut Vec<syn::Stmt>) {
        stmts.retain_mut(|stmt| match stmt {
            syn::Stmt::Local(local) => self.keeps(&mut local.attrs),
            syn::Stmt::Item(item) => self.keeps_it(item, item_attrs),
            syn::Stmt::Expr(expr, _) => self.keeps_it(first_operand(expr), expr_attrs),
            syn::Stmt::Macro(own) => self.keeps(&mut own.attrs),
        });
    }
}

/// The operand that syn puts the attributes of a statement on.
fn first_operand(expr: &mut Expr) -> &mut Expr {
    match expr {
        Expr::Assign(own) => first_operand(&mut own.left),
        Expr::Binary(own) => first_operand(&mut own.left),
        Expr::Cast(own) => first_operand(&mut own.expr),
        other => other,
    }
}

macro_rules! attributes_of {
    ($of:ident: $name:ident, $($variant:ident)*) => {
        match $of {
            $(syn::$name::$variant(own) => Some(&mut own.attrs),)*
            _ => None,
        }
    };
}

fn expr_attrs(expr: &mut Expr) -> Option<&mut Vec<Attribute>> {
    attributes_of!(expr: Expr, Array Assign Async Await Binary Block Break Call Cast Closure Const Continue Field
        ForLoop Group If Index Infer Let Lit Loop Macro Match MethodCall Paren Path Range RawAddr Reference Repeat
        Return Struct Try TryBlock Tuple Unary Unsafe While Yield)
}

fn item_attrs(item: &mut syn::Item) -> Option<&mut Vec<Attribute>> {
    attributes_of!(item: Item, Const Enum ExternCrate Fn ForeignMod Impl Macro Mod Static Struct Trait TraitAlias Type
        Union Use)
}

fn impl_attrs(item: &mut syn::ImplItem) -> Option<&mut Vec<Attribute>> {
    attributes_of!(item: ImplItem, Const Fn Type Macro)
}

fn trait_attrs(item: &mut syn::TraitItem) -> Option<&mut Vec<Attribute>> {
    attributes_of!(item: TraitItem, Const Fn Type Macro)
}

fn pat_attrs(pat: &mut syn::Pat) -> Option<&mut Vec<Attribute>> {
    match pat {
        syn::Pat::Type(own) => Some(&mut own.attrs),
        syn::Pat::Ident(own) => Some(&mut own.attrs),
        syn::Pat::Tuple(own) => Some(&mut own.attrs),
        syn::Pat::Wild(own) => Some(&mut own.attrs),
        _ => None,
    }
}

impl VisitMut for Strip {
    fn visit_file_mut(&mut self, file: &mut syn::File) {
        if !self.keeps(&mut file.attrs) {
            file.items.clear();
        }
        file.items.retain_mut(|item| self.keeps_it(item, item_attrs));
        visit_mut::visit_file_mut(self, file);
    }

    fn visit_item_mod_mut(&mut self, item: &mut syn::ItemMod) {
        if let Some((_, items)) = &mut item.content {
            items.retain_mut(|item| self.keeps_it(item, item_attrs));
        }
        visit_mut::visit_item_mod_mut(self, item);
    }

    fn visit_item_impl_mut(&mut self, item: &mut syn::ItemImpl) {
        item.items.retain_mut(|item| self.keeps_it(item, impl_attrs));
        visit_mut::visit_item_impl_mut(self, item);
    }

    fn visit_item_trait_mut(&mut self, item: &mut syn::ItemTrait) {
        item.items.retain_mut(|item| self.keeps_it(item, trait_attrs));
        visit_mut::visit_item_trait_mut(self, item);
    }

    fn visit_item_enum_mut(&mut self, item: &mut syn::ItemEnum) {
        self.list(&mut item.variants, |own| Some(&mut own.attrs));
        visit_mut::visit_item_enum_mut(self, item);
    }

    fn visit_fields_mut(&mut self, fields: &mut syn::Fields) {
        match fields {
            syn::Fields::Named(named) => self.list(&mut named.named, |own| Some(&mut own.attrs)),
            syn::Fields::Unnamed(unnamed) => self.list(&mut unnamed.unnamed, |own| Some(&mut own.attrs)),
            syn::Fields::Unit => {}
        }
        visit_mut::visit_fields_mut(self, fields);
    }

    fn visit_signature_mut(&mut self, sig: &mut syn::Signature) {
        self.list(&mut sig.inputs, |own| {
            Some(match own {
                syn::FnArg::Receiver(own) => &mut own.attrs,
                syn::FnArg::Typed(own) => &mut own.attrs,
            })
        });
        visit_mut::visit_signature_mut(self, sig);
    }

    fn visit_generics_mut(&mut self, generics: &mut syn::Generics) {
        self.list(&mut generics.params, |own| {
            Some(match own {
                syn::GenericParam::Lifetime(own) => &mut own.attrs,
                syn::GenericParam::Type(own) => &mut own.attrs,
                syn::GenericParam::Const(own) => &mut own.attrs,
            })
        });
        visit_mut::visit_generics_mut(self, generics);
    }

    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        self.stmts(&mut block.stmts);
        visit_mut::visit_block_mut(self, block);
    }

    fn visit_expr_match_mut(&mut self, own: &mut syn::ExprMatch) {
        own.arms.retain_mut(|arm| self.keeps(&mut arm.attrs));
        visit_mut::visit_expr_match_mut(self, own);
    }

    fn visit_expr_array_mut(&mut self, own: &mut syn::ExprArray) {
        self.list(&mut own.elems, expr_attrs);
        visit_mut::visit_expr_array_mut(self, own);
    }

    fn visit_expr_tuple_mut(&mut self, own: &mut syn::ExprTuple) {
        self.list(&mut own.elems, expr_attrs);
        visit_mut::visit_expr_tuple_mut(self, own);
    }

    fn visit_expr_call_mut(&mut self, own: &mut syn::ExprCall) {
        self.list(&mut own.args, expr_attrs);
        visit_mut::visit_expr_call_mut(self, own);
    }

    fn visit_expr_method_call_mut(&mut self, own: &mut syn::ExprMethodCall) {
        self.list(&mut own.args, expr_attrs);
        visit_mut::visit_expr_method_call_mut(self, own);
    }

    fn visit_expr_struct_mut(&mut self, own: &mut syn::ExprStruct) {
        self.list(&mut own.fields, |own| Some(&mut own.attrs));
        visit_mut::visit_expr_struct_mut(self, own);
    }

    fn visit_expr_closure_mut(&mut self, own: &mut syn::ExprClosure) {
        self.list(&mut own.inputs, pat_attrs);
        visit_mut::visit_expr_closure_mut(self, own);
    }

    fn visit_pat_struct_mut(&mut self, own: &mut syn::PatStruct) {
        self.list(&mut own.fields, |own| Some(&mut own.attrs));
        visit_mut::visit_pat_struct_mut(self, own);
    }
}
