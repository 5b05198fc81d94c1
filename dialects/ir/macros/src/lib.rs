//! Attributes that make a typed view of an operation from its declaration, so that a clause is named and typed in
//! one place: [`macro@view`] and [`macro@clause`]. `visa_ir` exports both; its module `view` holds what the code
//! that they make calls.

mod declaration;
mod emit;

use proc_macro::TokenStream;
use syn::parse_macro_input;

/// Makes a typed view of the operation that a `static` declares: `#[view(Fetch)] pub static DECL: OpDecl = OpDecl
/// { ... };` makes `Fetch::cast(op)`, `Fetch::of(op)`, a method for each operand and each clause, called like it,
/// and `result_NAME` for each result.
///
/// A declaration that takes its operands or clauses from a common base names the base's view: `#[view(Slice:
/// ViewOp)]`, where `#[view(ViewOp)] const BASE: OpDecl` is the base.
#[proc_macro_attribute]
pub fn view(args: TokenStream, item: TokenStream) -> TokenStream {
    let names = parse_macro_input!(args as declaration::Names);
    let item = parse_macro_input!(item as syn::Item);
    let made = declaration::Declaration::read(&item).and_then(|declaration| emit::view(&names, &declaration));
    joined(&item, made)
}

/// Types a clause that several operations share: `#[clause] const TIME: ClauseDecl = ClauseDecl::required(...)`. A
/// declaration may then list `TIME` among its clauses.
#[proc_macro_attribute]
pub fn clause(args: TokenStream, item: TokenStream) -> TokenStream {
    let _: syn::parse::Nothing = parse_macro_input!(args);
    let item = parse_macro_input!(item as syn::ItemConst);
    let made = declaration::Clause::read(&item.expr).and_then(|clause| emit::shared_clause(&item, &clause));
    joined(&syn::Item::Const(item), made)
}

/// The item as it is written, and what was made from it or why nothing was.
fn joined(item: &syn::Item, made: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    let made = made.unwrap_or_else(|error| error.to_compile_error());
    quote::quote!(#item #made).into()
}
