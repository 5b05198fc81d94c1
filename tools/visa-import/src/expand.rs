//! Bodies without macros: each use is expanded, each item of a block moves to a separate module, and each variable
//! gets a unique name. The result is Rust with the same semantics, which inference and evaluation read.
//!
//! A block with items begins with a marker `mod blockʹ7;`: its names are looked up from module 7.

mod macros;
mod names;

use crate::macros::MacroId;
use crate::marks::{MARK, last_mark};
use crate::program::{ModuleId, Program};
use std::rc::Rc;
use syn::visit_mut::VisitMut;

pub(crate) use macros::arguments;

/// The name of the marker of a block with items.
const BLOCK: &str = "block";

/// The name of the marker of a definition of a macro.
const DEFINITION: &str = "macro";

/// Expands all bodies of the input, those that other bodies define too; then resolves the variables in all.
pub(crate) fn all(program: &mut Program) {
    let mut done = (0, 0, 0);
    loop {
        program.add_impls();
        let before = done;
        while done.0 < program.functions.len() {
            let own = &program.functions[done.0];
            let (module, macros, source) = (own.module, own.item.macros.clone(), (*own.item.source).clone());
            program.functions[done.0].item.tree =
                macros::expand(program, module, macros, source).map(Rc::new);
            done.0 += 1;
        }
        while done.1 < program.constants.len() {
            let own = &program.constants[done.1];
            let (module, macros, source) = (own.module, own.item.macros.clone(), (*own.item.source).clone());
            program.constants[done.1].item.tree =
                macros::expand(program, module, macros, source).map(Rc::new);
            done.1 += 1;
        }
        while done.2 < program.axes.len() {
            let own = &program.axes[done.2];
            let (module, macros, source) = (own.module, own.size.macros.clone(), (*own.size.source).clone());
            program.axes[done.2].size.tree = macros::expand(program, module, macros, source).map(Rc::new);
            done.2 += 1;
        }
        if done == before {
            break;
        }
    }
    for at in 0..program.functions.len() {
        let own = &program.functions[at];
        let tree = names::resolve(program, (own.module, own.of), &own.item.tree);
        program.functions[at].item.tree = tree;
    }
    for at in 0..program.constants.len() {
        let own = &program.constants[at];
        let tree = names::resolve(program, (own.module, own.of), &own.item.tree);
        program.constants[at].item.tree = tree;
    }
    for at in 0..program.axes.len() {
        let own = &program.axes[at];
        let tree = names::resolve(program, (own.module, None), &own.size.tree);
        program.axes[at].size.tree = tree;
    }
}

/// A tree that is walked.
trait Tree: Clone {
    fn visit(&mut self, visitor: &mut impl VisitMut);
}

impl Tree for syn::ItemFn {
    fn visit(&mut self, visitor: &mut impl VisitMut) {
        visitor.visit_item_fn_mut(self);
    }
}

impl Tree for syn::ItemConst {
    fn visit(&mut self, visitor: &mut impl VisitMut) {
        visitor.visit_item_const_mut(self);
    }
}

impl Tree for syn::Expr {
    fn visit(&mut self, visitor: &mut impl VisitMut) {
        visitor.visit_expr_mut(self);
    }
}

/// A statement that marks something by its number.
fn marker(name: &str, number: usize) -> syn::Stmt {
    let ident = syn::Ident::new(&format!("{name}{MARK}{number}"), proc_macro2::Span::call_site());
    syn::Stmt::Item(syn::parse_quote!(mod #ident;))
}

/// The number of a marker.
fn marked(stmt: &syn::Stmt, name: &str) -> Option<usize> {
    let syn::Stmt::Item(syn::Item::Mod(item)) = stmt else { return None };
    let ident = item.ident.to_string();
    last_mark(&ident).filter(|(own, _)| *own == name).map(|(_, number)| number)
}

/// The module of the items of a block, if it has some.
pub(crate) fn block_module(stmts: &[syn::Stmt]) -> Option<ModuleId> {
    stmts.first().and_then(|first| marked(first, BLOCK)).map(ModuleId)
}

/// The definition that a statement marks.
fn definition(stmt: &syn::Stmt) -> Option<MacroId> {
    marked(stmt, DEFINITION).map(MacroId)
}
