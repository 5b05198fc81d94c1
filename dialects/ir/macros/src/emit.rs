//! Writes a view: the struct, how an operation is seen through it, and a method for each name of the declaration.

use crate::declaration::{Arity, Clause, Declaration, Kind, Names, Operand, OwnClause};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Ident, LitStr, Result};

/// The view that a declaration gives.
pub(crate) fn view(names: &Names, declaration: &Declaration<'_>) -> Result<TokenStream> {
    let Names { view, base } = names;
    let visibility = declaration.visibility;
    let inner = base.as_ref().map_or_else(|| quote!(::visa_ir::module::OpRef), |base| quote!(#base));
    let wrapped = base.as_ref().map_or_else(|| quote!(op), |base| quote!(#base::seen(op)));
    let doc = match &declaration.name {
        Some(name) => format!("`{}`, seen through its declaration.", name.value()),
        None => "What several operations declare in common.".to_owned(),
    };
    let casts = declaration.item.map(|item| casts(item, declaration.visibility));
    let mut methods = Vec::new();
    for (index, operand) in declaration.operands.iter().enumerate() {
        methods.push(operand_method(visibility, index, operand)?);
    }
    for clause in &declaration.clauses {
        methods.push(clause_method(visibility, clause)?);
    }
    for (index, name) in declaration.results.iter().enumerate() {
        methods.push(result_method(visibility, index, name)?);
    }
    Ok(quote! {
        #[doc = #doc]
        #[derive(Clone, Copy)]
        #visibility struct #view<'a>(#inner<'a>);

        impl<'a> ::std::ops::Deref for #view<'a> {
            type Target = #inner<'a>;
            fn deref(&self) -> &#inner<'a> {
                &self.0
            }
        }

        #[allow(dead_code, reason = "a view has a method for every name of its declaration")]
        #[allow(clippy::self_named_constructors, reason = "a view may be called `Cast`")]
        impl<'a> #view<'a> {
            /// The operation, which is known to be one of these.
            #[must_use]
            #visibility fn seen(op: ::visa_ir::module::OpRef<'a>) -> Self {
                Self(#wrapped)
            }
            #casts
            #(#methods)*
        }
    })
}

/// How an operation is seen through the view of declaration `item`.
fn casts(item: &Ident, visibility: &syn::Visibility) -> TokenStream {
    quote! {
        /// The operation, if it is this one.
        #[must_use]
        #visibility fn cast(op: ::visa_ir::module::OpRef<'a>) -> ::std::option::Option<Self> {
            op.is(&#item).then(|| Self::seen(op))
        }
        /// The operation.
        ///
        /// # Errors
        /// If it is another one.
        #visibility fn of(
            op: ::visa_ir::module::OpRef<'a>,
        ) -> ::std::result::Result<Self, ::visa_ir::diag::Diagnostic> {
            Self::cast(op).ok_or_else(|| ::visa_ir::view::another(op, &#item))
        }
    }
}

/// What the constant of a shared clause is as a type: its accessor.
pub(crate) fn shared_clause(item: &syn::ItemConst, clause: &Clause<'_>) -> Result<TokenStream> {
    let Clause::Own(clause) = clause else {
        return Err(syn::Error::new_spanned(&item.expr, "expected `ClauseDecl::required(...)` and the like"));
    };
    let (visibility, ident) = (&item.vis, &item.ident);
    let (output, value) = accessor(clause, quote!(op));
    Ok(quote! {
        #[allow(non_camel_case_types, reason = "the type of a clause is called like its constant")]
        #[doc(hidden)]
        #visibility enum #ident {}
        impl ::visa_ir::view::SharedClause for #ident {
            type Output = #output;
            fn read(op: &::visa_ir::module::OpRef<'_>) -> Self::Output {
                #value
            }
        }
    })
}

fn clause_method(visibility: &syn::Visibility, clause: &Clause<'_>) -> Result<TokenStream> {
    match clause {
        Clause::Own(clause) => {
            let method = ident(&clause.name)?;
            let (output, value) = accessor(clause, quote!(self));
            let doc = format!("The clause `{}`.{}", clause.name.value(), errors(clause));
            let chosen = clause.open.then(|| chosen_method(visibility, clause)).transpose()?;
            Ok(quote! {
                #[doc = #doc]
                #visibility fn #method(&self) -> #output {
                    #value
                }
                #chosen
            })
        }
        Clause::Shared(path) => {
            let constant = path.segments.last().expect("a path has a segment").ident.to_string();
            let method = ident(&LitStr::new(&constant.to_lowercase(), proc_macro2::Span::call_site()))?;
            let doc = format!("The clause `{}`.", constant.to_lowercase());
            Ok(quote! {
                #[doc = #doc]
                #visibility fn #method(&self) -> <#path as ::visa_ir::view::SharedClause>::Output {
                    <#path as ::visa_ir::view::SharedClause>::read(self)
                }
            })
        }
    }
}

/// The value of a clause that may be `auto`: nothing while it is.
fn chosen_method(visibility: &syn::Visibility, clause: &OwnClause<'_>) -> Result<TokenStream> {
    let OwnClause { name, kind, .. } = clause;
    let (method, marker, value) =
        (format_ident!("{}_unless_auto", ident(name)?), marker(kind), value_type(kind));
    let doc = format!(
        "The clause `{}`; nothing while it is `auto`.\n\n# Errors\nIf it is absent or of another kind.",
        name.value()
    );
    Ok(quote! {
        #[doc = #doc]
        #visibility fn #method(&self)
            -> ::std::result::Result<::std::option::Option<#value>, ::visa_ir::diag::Diagnostic>
        {
            ::visa_ir::view::unless_auto::<#marker>(self, #name)
        }
    })
}

/// The type of what a clause's accessor gives, and how it is read from `op`.
fn accessor(clause: &OwnClause<'_>, op: TokenStream) -> (TokenStream, TokenStream) {
    let OwnClause { name, kind, optional, .. } = clause;
    let (marker, value) = (marker(kind), value_type(kind));
    let result = |ok: TokenStream| quote!(::std::result::Result<#ok, ::visa_ir::diag::Diagnostic>);
    match (kind, optional) {
        (Kind::Flag, _) => (quote!(bool), quote!(::visa_ir::view::flag(#op, #name))),
        (_, true) => (
            result(quote!(::std::option::Option<#value>)),
            quote!(::visa_ir::view::optional::<#marker>(#op, #name)),
        ),
        (_, false) => (result(value), quote!(::visa_ir::view::required::<#marker>(#op, #name))),
    }
}

fn errors(clause: &OwnClause<'_>) -> &'static str {
    match (&clause.kind, clause.optional) {
        (Kind::Flag, _) => "",
        (_, true) => "\n\n# Errors\nIf it is `auto` or of another kind.",
        (_, false) => "\n\n# Errors\nIf it is absent, `auto` or of another kind.",
    }
}

/// The type that stands for a kind in `visa_ir::view`.
fn marker(kind: &Kind<'_>) -> TokenStream {
    match kind {
        Kind::Int => quote!(::visa_ir::view::Int),
        Kind::Text => quote!(::visa_ir::view::Text),
        Kind::Symbol => quote!(::visa_ir::view::Symbol),
        Kind::Ints => quote!(::visa_ir::view::Ints),
        Kind::Texts => quote!(::visa_ir::view::Texts),
        Kind::Flag => quote!(::visa_ir::view::Flag),
        Kind::Body(ty) => quote!(::visa_ir::view::BodyOf<#ty>),
    }
}

/// The Rust type of a kind's values.
fn value_type(kind: &Kind<'_>) -> TokenStream {
    match kind {
        Kind::Int => quote!(i64),
        Kind::Text | Kind::Symbol => quote!(::std::rc::Rc<str>),
        Kind::Ints => quote!(::std::rc::Rc<[i64]>),
        Kind::Texts => quote!(::std::rc::Rc<[::std::rc::Rc<str>]>),
        Kind::Flag => quote!(()),
        Kind::Body(ty) => quote!(::std::rc::Rc<#ty>),
    }
}

fn operand_method(visibility: &syn::Visibility, index: usize, operand: &Operand) -> Result<TokenStream> {
    let (name, method) = (&operand.name, ident(&operand.name)?);
    let value = quote!(::visa_ir::view::ValueRef<'a>);
    let doc = format!("The operand `{}`.", name.value());
    Ok(match operand.arity {
        Arity::One => quote! {
            #[doc = #doc]
            ///
            /// # Errors
            /// If the operation has no such operand.
            #visibility fn #method(&self) -> ::std::result::Result<#value, ::visa_ir::diag::Diagnostic> {
                ::visa_ir::view::operand(self, #index, #name)
            }
        },
        Arity::Optional => quote! {
            #[doc = #doc]
            #[must_use]
            #visibility fn #method(&self) -> ::std::option::Option<#value> {
                ::visa_ir::view::operands(self, #index).next()
            }
        },
        Arity::Variadic => quote! {
            #[doc = #doc]
            #visibility fn #method(&self) -> impl Iterator<Item = #value> + use<'a> {
                ::visa_ir::view::operands(self, #index)
            }
        },
    })
}

fn result_method(visibility: &syn::Visibility, index: usize, name: &LitStr) -> Result<TokenStream> {
    let method = format_ident!("result_{}", ident(name)?);
    let doc = format!("The result `{}`.\n\n# Errors\nIf the operation has no such result.", name.value());
    Ok(quote! {
        #[doc = #doc]
        #visibility fn #method(&self)
            -> ::std::result::Result<::visa_ir::view::ValueRef<'a>, ::visa_ir::diag::Diagnostic>
        {
            ::visa_ir::view::result(self, #index, #name)
        }
    })
}

/// A name as an identifier; a keyword gets a `_`.
fn ident(name: &LitStr) -> Result<Ident> {
    let text = name.value();
    syn::parse_str::<Ident>(&text)
        .or_else(|_| syn::parse_str(&format!("{text}_")))
        .map(|ident| Ident::new(&ident.to_string(), name.span()))
        .map_err(|_| syn::Error::new(name.span(), format!("`{text}` is no name of a method")))
}
