//! Attributes that make a typed view of an operation from its declaration, so that a clause is named and typed once:
//! [`macro@view`] and [`macro@clause`]. `visa_ir` exports both; its module `view` has the functions that the generated
//! code calls. Crate `visa`, the only dependency of other dialects, exports [`macro@visa_view`] and
//! [`macro@visa_clause`] under the same names: their code finds that module in `visa`.

mod builder;
mod declaration;
mod emit;

use declaration::{Clause, Declaration, Names};
use emit::Emit;
use proc_macro::TokenStream;
use quote::quote;
use syn::parse_macro_input;

/// Makes a typed view of the operation that a `static` declares: `#[view(Fetch)] pub static DECL: OpDecl = OpDecl
/// { ... };` makes `Fetch::cast(op)`, `Fetch::of(op)`, a method for each operand and each clause, called like it,
/// and `result_NAME` for each result. `Fetch::build(op)` starts an operation, with a setter for each clause.
///
/// A declaration that takes its operands or clauses from a common base names the base's view: `#[view(Slice:
/// ViewOp)]`, where `#[view(ViewOp)] const BASE: OpDecl` is the base.
#[proc_macro_attribute]
pub fn view(args: TokenStream, item: TokenStream) -> TokenStream {
    view_under(&quote!(::visa_ir), args, item)
}

/// [`macro@view`] for crates that depend on `visa` alone.
#[proc_macro_attribute]
pub fn visa_view(args: TokenStream, item: TokenStream) -> TokenStream {
    view_under(&quote!(::visa::ir), args, item)
}

/// Types a clause that several operations share: `#[clause] const TIME: ClauseDecl = ClauseDecl::required(...)`. A
/// declaration may then list `TIME` among its clauses.
#[proc_macro_attribute]
pub fn clause(args: TokenStream, item: TokenStream) -> TokenStream {
    clause_under(&quote!(::visa_ir), args, item)
}

/// [`macro@clause`] for crates that depend on `visa` alone.
#[proc_macro_attribute]
pub fn visa_clause(args: TokenStream, item: TokenStream) -> TokenStream {
    clause_under(&quote!(::visa::ir), args, item)
}

fn view_under(ir: &proc_macro2::TokenStream, args: TokenStream, item: TokenStream) -> TokenStream {
    let names = parse_macro_input!(args as Names);
    let item = parse_macro_input!(item as syn::Item);
    let made = Declaration::read(&item)
        .and_then(|declaration| Emit { ir, visibility: declaration.visibility }.view(&names, &declaration));
    joined(&item, made)
}

fn clause_under(ir: &proc_macro2::TokenStream, args: TokenStream, item: TokenStream) -> TokenStream {
    let _: syn::parse::Nothing = parse_macro_input!(args);
    let item = parse_macro_input!(item as syn::ItemConst);
    let emit = Emit { ir, visibility: &item.vis };
    let made = Clause::read(&item.expr).and_then(|clause| emit.shared_clause(&item, &clause));
    joined(&syn::Item::Const(item.clone()), made)
}

/// The item as written, and the generated code or its error.
fn joined(item: &syn::Item, made: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    let made = made.unwrap_or_else(|error| error.to_compile_error());
    quote!(#item #made).into()
}
