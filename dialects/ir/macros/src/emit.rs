//! Writes a view: the struct, the casts of an operation to it, and a method for each name of the declaration. Called
//! functions have a path that depends on the crate that exports the attribute.

use crate::declaration::{Arity, Clause, Declaration, Kind, Names, Operand, OwnClause};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Ident, LitStr, Result, Visibility};

/// The common data of all parts of a view.
pub(crate) struct Emit<'a> {
    /// The path of crate `visa_ir`, as the code that is made can name it.
    pub(crate) ir: &'a TokenStream,
    /// Visibility of the declaration.
    pub(crate) visibility: &'a Visibility,
}

impl Emit<'_> {
    /// The view and the builder that a declaration generates.
    pub(crate) fn view(&self, names: &Names, declaration: &Declaration<'_>) -> Result<TokenStream> {
        let (Self { ir, visibility }, Names { view, base }) = (self, names);
        let inner = base.as_ref().map_or_else(|| quote!(#ir::module::OpRef), |base| quote!(#base));
        let wrapped = base.as_ref().map_or_else(|| quote!(op), |base| quote!(#base::seen(op)));
        let doc = match &declaration.name {
            Some(name) => format!("`{}`, seen through its declaration.", name.value()),
            None => "Common declarations of several operations.".to_owned(),
        };
        let casts = declaration.item.map(|item| self.casts(item));
        let mut methods = Vec::new();
        for (index, operand) in declaration.operands.iter().enumerate() {
            methods.push(self.operand_method(index, operand)?);
        }
        for clause in &declaration.clauses {
            methods.push(self.clause_method(clause)?);
        }
        for (index, name) in declaration.results.iter().enumerate() {
            methods.push(self.result_method(index, name)?);
        }
        let builder = self.builder(names, declaration)?;
        Ok(quote! {
            #builder
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
                #visibility fn seen(op: #ir::module::OpRef<'a>) -> Self {
                    Self(#wrapped)
                }
                #casts
                #(#methods)*
            }
        })
    }

    /// The casts of an operation to the view of declaration `item`.
    fn casts(&self, item: &Ident) -> TokenStream {
        let Self { ir, visibility } = self;
        quote! {
            /// The operation, if it is this one.
            #[must_use]
            #visibility fn cast(op: #ir::module::OpRef<'a>) -> ::std::option::Option<Self> {
                op.is(&#item).then(|| Self::seen(op))
            }
            /// The operation.
            ///
            /// # Errors
            /// If it is another one.
            #visibility fn of(
                op: #ir::module::OpRef<'a>,
            ) -> ::std::result::Result<Self, #ir::diag::Diagnostic> {
                Self::cast(op).ok_or_else(|| #ir::view::another(op, &#item))
            }
        }
    }

    /// The constant of a shared clause as a type: its accessor.
    pub(crate) fn shared_clause(&self, item: &syn::ItemConst, clause: &Clause<'_>) -> Result<TokenStream> {
        let Clause::Own(clause) = clause else {
            let expected = "expected `ClauseDecl::required(...)` and the like";
            return Err(syn::Error::new_spanned(&item.expr, expected));
        };
        let (ir, ident) = (self.ir, &item.ident);
        let (output, value) = self.accessor(clause, quote!(op));
        let (parameter, set) = self.shared_setter(clause);
        Ok(quote! {
            #[allow(non_camel_case_types, reason = "the type of a clause is called like its constant")]
            #[doc(hidden)] // Public, because views of other crates name it.
            pub enum #ident {}
            impl #ir::view::SharedClause for #ident {
                type Output = #output;
                type Value = #parameter;
                fn read(op: &#ir::module::OpRef<'_>) -> Self::Output {
                    #value
                }
                fn write(new: #ir::build::NewOp<'_>, value: Self::Value) -> #ir::build::NewOp<'_> {
                    #set
                }
            }
        })
    }

    fn clause_method(&self, clause: &Clause<'_>) -> Result<TokenStream> {
        let Self { ir, visibility } = self;
        match clause {
            Clause::Own(clause) => {
                let method = ident(&clause.name)?;
                let (output, value) = self.accessor(clause, quote!(self));
                let doc = format!("The clause `{}`.{}", clause.name.value(), errors(clause));
                let chosen = clause.open.then(|| self.chosen_method(clause)).transpose()?;
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
                let name = constant.to_lowercase();
                let method = ident(&LitStr::new(&name, proc_macro2::Span::call_site()))?;
                let doc = format!("The clause `{name}`.");
                Ok(quote! {
                    #[doc = #doc]
                    #visibility fn #method(&self) -> <#path as #ir::view::SharedClause>::Output {
                        <#path as #ir::view::SharedClause>::read(self)
                    }
                })
            }
        }
    }

    /// The value of a clause that may be `auto`; `None` while it is.
    fn chosen_method(&self, clause: &OwnClause<'_>) -> Result<TokenStream> {
        let (Self { ir, visibility }, OwnClause { name, kind, .. }) = (self, clause);
        let method = format_ident!("{}_unless_auto", ident(name)?);
        let (marker, value) = (self.marker(kind), value_type(kind));
        let doc = format!(
            "The clause `{}`; `None` while it is `auto`.\n\n# Errors\nIf it is absent or of another kind.",
            name.value()
        );
        Ok(quote! {
            #[doc = #doc]
            #visibility fn #method(&self)
                -> ::std::result::Result<::std::option::Option<#value>, #ir::diag::Diagnostic>
            {
                #ir::view::unless_auto::<#marker>(self, #name)
            }
        })
    }

    /// The result type of a clause's accessor, and the expression that reads it from `op`.
    fn accessor(&self, clause: &OwnClause<'_>, op: TokenStream) -> (TokenStream, TokenStream) {
        let (Self { ir, .. }, OwnClause { name, kind, optional, .. }) = (self, clause);
        let (marker, value) = (self.marker(kind), value_type(kind));
        let result = |ok: TokenStream| quote!(::std::result::Result<#ok, #ir::diag::Diagnostic>);
        match (kind, optional) {
            (Kind::Flag, _) => (quote!(bool), quote!(#ir::view::flag(#op, #name))),
            (_, true) => (
                result(quote!(::std::option::Option<#value>)),
                quote!(#ir::view::optional::<#marker>(#op, #name)),
            ),
            (_, false) => (result(value), quote!(#ir::view::required::<#marker>(#op, #name))),
        }
    }

    /// The type that stands for a kind in module `view`.
    fn marker(&self, kind: &Kind<'_>) -> TokenStream {
        let ir = self.ir;
        match kind {
            Kind::Int => quote!(#ir::view::Int),
            Kind::Text => quote!(#ir::view::Text),
            Kind::Word(ty) => quote!(#ir::view::WordOf<#ty>),
            Kind::Symbol => quote!(#ir::view::Symbol),
            Kind::Ints => quote!(#ir::view::Ints),
            Kind::Texts => quote!(#ir::view::Texts),
            Kind::Flag => quote!(#ir::view::Flag),
            Kind::Body(ty, _) => quote!(#ir::view::BodyOf<#ty>),
        }
    }

    fn operand_method(&self, index: usize, operand: &Operand) -> Result<TokenStream> {
        let (Self { ir, visibility }, name) = (self, &operand.name);
        let method = ident(name)?;
        let value = quote!(#ir::view::ValueRef<'a>);
        let doc = format!("The operand `{}`.", name.value());
        Ok(match operand.arity {
            Arity::One => quote! {
                #[doc = #doc]
                ///
                /// # Errors
                /// If the operation has no such operand.
                #visibility fn #method(&self) -> ::std::result::Result<#value, #ir::diag::Diagnostic> {
                    #ir::view::operand(self, #index, #name)
                }
            },
            Arity::Optional => quote! {
                #[doc = #doc]
                #[must_use]
                #visibility fn #method(&self) -> ::std::option::Option<#value> {
                    #ir::view::operands(self, #index).next()
                }
            },
            Arity::Variadic => quote! {
                #[doc = #doc]
                #visibility fn #method(&self) -> impl Iterator<Item = #value> + use<'a> {
                    #ir::view::operands(self, #index)
                }
            },
        })
    }

    fn result_method(&self, index: usize, name: &LitStr) -> Result<TokenStream> {
        let Self { ir, visibility } = self;
        let method = format_ident!("result_{}", ident(name)?);
        let doc = format!("The result `{}`.\n\n# Errors\nIf the operation has no such result.", name.value());
        Ok(quote! {
            #[doc = #doc]
            #visibility fn #method(&self)
                -> ::std::result::Result<#ir::view::ValueRef<'a>, #ir::diag::Diagnostic>
            {
                #ir::view::result(self, #index, #name)
            }
        })
    }
}

fn errors(clause: &OwnClause<'_>) -> &'static str {
    match (&clause.kind, clause.optional) {
        (Kind::Flag, _) => "",
        (_, true) => "\n\n# Errors\nIf it is `auto` or of another kind.",
        (_, false) => "\n\n# Errors\nIf it is absent, `auto` or of another kind.",
    }
}

/// The Rust type of a kind's values.
pub(crate) fn value_type(kind: &Kind<'_>) -> TokenStream {
    match kind {
        Kind::Int => quote!(i64),
        Kind::Text | Kind::Symbol => quote!(::std::rc::Rc<str>),
        Kind::Word(ty) => quote!(#ty),
        Kind::Ints => quote!(::std::rc::Rc<[i64]>),
        Kind::Texts => quote!(::std::rc::Rc<[::std::rc::Rc<str>]>),
        Kind::Flag => quote!(()),
        Kind::Body(ty, _) => quote!(::std::rc::Rc<#ty>),
    }
}

/// A name as an identifier; a keyword gets a `_`.
pub(crate) fn ident(name: &LitStr) -> Result<Ident> {
    let text = name.value();
    syn::parse_str::<Ident>(&text)
        .or_else(|_| syn::parse_str(&format!("{text}_")))
        .map(|ident| Ident::new(&ident.to_string(), name.span()))
        .map_err(|_| syn::Error::new(name.span(), format!("`{text}` is no name of a method")))
}
