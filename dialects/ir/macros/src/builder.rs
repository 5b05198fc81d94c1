//! Writes a builder: the counterpart of a view, with a setter for each clause of the declaration.

use crate::declaration::{Arity, Clause, Declaration, Kind, Names, OwnClause};
use crate::emit::{Emit, ident, value_type};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Ident, LitStr, Result};

impl Emit<'_> {
    /// The builder that a declaration generates.
    pub(crate) fn builder(&self, names: &Names, declaration: &Declaration<'_>) -> Result<TokenStream> {
        let (Self { ir, visibility }, Names { view, base }) = (self, names);
        let builder = format_ident!("{view}Builder");
        let doc = match &declaration.name {
            Some(name) => format!("A `{}` under construction.", name.value()),
            None => "The clauses that several operations have in common, under construction.".to_owned(),
        };
        let setters: Vec<_> =
            declaration.clauses.iter().map(|clause| self.setter(clause)).collect::<Result<_>>()?;
        let constructors = declaration.item.map(|item| self.constructors(item, &builder, names, declaration));
        let common = base.as_ref().map(|base| self.common(base));
        Ok(quote! {
            #[doc = #doc]
            #[derive(Clone)]
            #visibility struct #builder<'c>(#ir::build::NewOp<'c>);

            impl #ir::build::View for #view<'_> {
                type Builder<'c> = #builder<'c>;
            }
            impl<'c> ::std::convert::From<#ir::build::NewOp<'c>> for #builder<'c> {
                fn from(new: #ir::build::NewOp<'c>) -> Self {
                    Self(new)
                }
            }
            impl<'c> ::std::convert::From<#builder<'c>> for #ir::build::NewOp<'c> {
                fn from(builder: #builder<'c>) -> Self {
                    builder.0
                }
            }
            #constructors
            #[allow(dead_code, reason = "a builder has a setter for every clause of the declaration")]
            impl<'c> #builder<'c> {
                #(#setters)*
                #common
                /// Appends a result of type `ty`, called `name` if that is still free when printed.
                #[must_use]
                #visibility fn result(
                    self,
                    ty: #ir::module::TypeId,
                    name: ::std::option::Option<::std::rc::Rc<str>>,
                ) -> Self {
                    Self(self.0.result(ty, name))
                }
                /// The finished operation. Its required clauses are checked by the verifier.
                #[must_use]
                #visibility fn spec(self) -> #ir::module::OpSpec {
                    self.0.spec()
                }
            }
        })
    }

    /// The functions of the view that start a builder.
    fn constructors(
        &self,
        item: &Ident,
        builder: &Ident,
        names: &Names,
        declaration: &Declaration<'_>,
    ) -> TokenStream {
        let (Self { ir, visibility }, view) = (self, &names.view);
        let count = declaration.operands.len();
        let single = declaration.operands.iter().all(|operand| matches!(operand.arity, Arity::One));
        let (parameter, operands) = match (names.base.is_some(), single, count) {
            (false, true, 0) => (None, None),
            (false, true, count) => {
                (Some(quote!(, operands: [#ir::module::ValueId; #count])), Some(quote!(.operands(operands))))
            }
            (true, _, _) | (false, false, _) => (
                Some(quote!(, operands: impl ::std::iter::IntoIterator<Item = #ir::module::ValueId>)),
                Some(quote!(.operands(operands))),
            ),
        };
        quote! {
            #[allow(dead_code, reason = "a view has a builder, whether or not a pass makes the operation")]
            impl<'a> #view<'a> {
                /// Starts an operation that replaces `origin`, with its span and its location.
                #[must_use]
                #visibility fn build(origin: #ir::module::OpRef<'a> #parameter) -> #builder<'a> {
                    #builder(#ir::build::NewOp::from(&#item, origin) #operands)
                }
                /// Starts an operation that is written at `span`.
                #[must_use]
                #visibility fn build_at(
                    ctx: &'a #ir::context::Context,
                    span: #ir::span::Span
                    #parameter
                ) -> #builder<'a> {
                    #builder(#ir::build::NewOp::written(&#item, ctx, span) #operands)
                }
            }
        }
    }

    /// The method that sets clauses of the base.
    fn common(&self, base: &Ident) -> TokenStream {
        let Self { ir, visibility } = self;
        let inner = quote!(<#base<'c> as #ir::build::View>::Builder<'c>);
        quote! {
            /// Sets clauses that the operation has in common with others.
            #[must_use]
            #visibility fn common(self, set: impl ::std::ops::FnOnce(#inner) -> #inner) -> Self {
                Self(set(self.0.into()).into())
            }
        }
    }

    fn setter(&self, clause: &Clause<'_>) -> Result<TokenStream> {
        let Self { ir, visibility } = self;
        match clause {
            Clause::Own(clause) => {
                let (method, name) = (ident(&clause.name)?, &clause.name);
                let doc = format!("Sets the clause `{}`.", name.value());
                let (parameter, set) = self.set(clause, &format_ident!("attr"));
                let auto = clause.open.then(|| self.auto(name)).transpose()?;
                let unless_default = clause.default.then(|| self.unless_default(clause)).transpose()?;
                Ok(quote! {
                    #[doc = #doc]
                    #[must_use]
                    #visibility fn #method(self, value: #parameter) -> Self {
                        let new = self.0;
                        Self(#set)
                    }
                    #unless_default
                    #auto
                })
            }
            Clause::Shared(path) => {
                let name =
                    path.segments.last().expect("a path has a segment").ident.to_string().to_lowercase();
                let method = ident(&LitStr::new(&name, proc_macro2::Span::call_site()))?;
                let doc = format!("Sets the clause `{name}`.");
                Ok(quote! {
                    #[doc = #doc]
                    #[must_use]
                    #visibility fn #method(self, value: <#path as #ir::view::SharedClause>::Value) -> Self {
                        Self(<#path as #ir::view::SharedClause>::write(self.0, value))
                    }
                })
            }
        }
    }

    /// The setter of a clause with a default, which omits that value.
    fn unless_default(&self, clause: &OwnClause<'_>) -> Result<TokenStream> {
        let (Self { visibility, .. }, name) = (self, &clause.name);
        let method = format_ident!("{}_unless_default", ident(name)?);
        let doc = format!("Sets the clause `{}`, unless the value is its default.", name.value());
        let (parameter, set) = self.set(clause, &format_ident!("attr_unless_default"));
        Ok(quote! {
            #[doc = #doc]
            #[must_use]
            #visibility fn #method(self, value: #parameter) -> Self {
                let new = self.0;
                Self(#set)
            }
        })
    }

    /// The setter that leaves a clause to a pass.
    fn auto(&self, name: &LitStr) -> Result<TokenStream> {
        let (Self { ir, visibility }, method) = (self, format_ident!("{}_auto", ident(name)?));
        let doc = format!("Leaves the clause `{}` to a pass.", name.value());
        Ok(quote! {
            #[doc = #doc]
            #[must_use]
            #visibility fn #method(self) -> Self {
                Self(self.0.attr(#name, #ir::context::Attr::Auto))
            }
        })
    }

    /// The type of a setter's parameter, and the expression that sets `value` in `new` through `method` of `NewOp`.
    fn set(&self, clause: &OwnClause<'_>, method: &Ident) -> (TokenStream, TokenStream) {
        let OwnClause { name, kind, optional, .. } = clause;
        let written = value_type(kind);
        let (parameter, converted) = match kind {
            Kind::Int | Kind::Word(_) => (quote!(#written), quote!(value)),
            Kind::Flag => return (quote!(bool), quote!(new.flag(#name, value))),
            Kind::Text | Kind::Symbol | Kind::Ints | Kind::Texts | Kind::Body(..) => {
                (quote!(impl ::std::convert::Into<#written>), quote!(value.into()))
            }
        };
        let set = self.set_one(clause, method, converted);
        match optional {
            false => (parameter, set),
            true => (
                quote!(::std::option::Option<#parameter>),
                quote!(match value {
                    ::std::option::Option::Some(value) => #set,
                    ::std::option::Option::None => new,
                }),
            ),
        }
    }

    /// The expression that sets `value`, of the type that the view reads.
    fn set_one(&self, clause: &OwnClause<'_>, method: &Ident, value: TokenStream) -> TokenStream {
        let (Self { ir, .. }, OwnClause { name, kind, .. }) = (self, clause);
        let attr = |variant: TokenStream| quote!(new.#method(#name, #ir::context::Attr::#variant(#value)));
        match kind {
            Kind::Int => attr(quote!(Int)),
            Kind::Text => attr(quote!(Str)),
            Kind::Word(ty) => {
                quote!(new.#method(#name, #ir::context::Attr::Str(<#ty as #ir::Word>::word(#value).into())))
            }
            Kind::Symbol => attr(quote!(Symbol)),
            Kind::Ints => attr(quote!(Ints)),
            Kind::Texts => attr(quote!(Strs)),
            Kind::Flag => quote!(new.flag(#name, true)),
            Kind::Body(ty, def) => {
                quote!({
                    let body: ::std::rc::Rc<#ty> = #value;
                    new.#method(#name, #ir::context::Attr::Body(#def, body))
                })
            }
        }
    }

    /// The value that a shared clause's setter takes, and the expression that sets `value` in `new`.
    pub(crate) fn shared_setter(&self, clause: &OwnClause<'_>) -> (TokenStream, TokenStream) {
        let OwnClause { name, kind, optional, .. } = clause;
        let (written, set) = (value_type(kind), self.set_one(clause, &format_ident!("attr"), quote!(value)));
        match (kind, optional) {
            (Kind::Flag, _) => (quote!(bool), quote!(new.flag(#name, value))),
            (_, false) => (written, set),
            (_, true) => (
                quote!(::std::option::Option<#written>),
                quote!(match value {
                    ::std::option::Option::Some(value) => #set,
                    ::std::option::Option::None => new,
                }),
            ),
        }
    }
}
