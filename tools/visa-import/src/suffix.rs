//! The types of all literals of the input, which inference finds body by body.

use crate::infer::{
    self, AdtDefinition, Definition, Definitions, Implementation, Reason, Scope, TypeDefinition, Variant,
};
use crate::program::{AdtId, Function, Item, ModuleId, Program, Space, Style, Unread};
use std::rc::Rc;

/// Names of the language that a path may begin with, which no `use` brings in.
const LANGUAGE: &[&str] = &[
    "Box", "Default", "Err", "From", "Into", "Iterator", "None", "Ok", "Option", "Result", "Some", "String",
    "TryFrom", "TryInto", "Vec", "alloc", "bool", "char", "core", "drop", "f32", "f64", "i128", "i16", "i32",
    "i64", "i8", "isize", "std", "str", "u128", "u16", "u32", "u64", "u8", "usize",
];

/// Gives each literal of the input the suffix of its type.
pub(crate) fn all(program: &mut Program) {
    for at in 0..program.functions.len() {
        let own = &program.functions[at];
        let Ok(tree) = &own.item.tree else { continue };
        let mut tree = (**tree).clone();
        let scope = Scope { module: own.module, of: own.of, implementation: own.implementation };
        let syn::ItemFn { sig, block, .. } = &mut tree;
        let reasons = infer::function(program, scope, sig, block);
        let unread = located(program, scope.module, reasons);
        program.functions[at].item.settle(tree, unread);
    }
    for at in 0..program.constants.len() {
        let own = &program.constants[at];
        let Ok(tree) = &own.item.tree else { continue };
        let mut tree = (**tree).clone();
        let scope = Scope { module: own.module, of: own.of, implementation: own.implementation };
        let reasons = infer::constant(program, scope, &mut tree.ty, &mut tree.expr);
        let unread = located(program, scope.module, reasons);
        program.constants[at].item.settle(tree, unread);
    }
    for at in 0..program.axes.len() {
        let own = &program.axes[at];
        let Ok(tree) = &own.size.tree else { continue };
        let mut tree = (**tree).clone();
        let scope = Scope { module: own.module, of: None, implementation: None };
        let mut ty: syn::Type = syn::parse_quote!(usize);
        let reasons = infer::constant(program, scope, &mut ty, &mut tree);
        let unread = located(program, scope.module, reasons);
        program.axes[at].size.settle(tree, unread);
    }
}

/// Reasons with their places, which suffixes cite by their numbers.
fn located(program: &Program, module: ModuleId, reasons: Vec<Reason>) -> Unread {
    reasons.into_iter().map(|(span, why)| (program.place(module, span), why)).collect()
}

impl Definitions for Program {
    fn value(&self, scope: Scope, path: &[String]) -> Definition {
        match self.find(scope.module, scope.of, path, Space::Values) {
            Some(Item::Fn(id)) => {
                let own = &self.functions[id.0];
                match &own.item.tree {
                    Ok(tree) => Definition::Fn(own.scope(), Rc::new(tree.sig.clone())),
                    Err(error) => Definition::Unread(error.message.clone()),
                }
            }
            Some(Item::Const(id)) => {
                let own = &self.constants[id.0];
                let scope = Scope { module: own.module, of: own.of, implementation: own.implementation };
                Definition::Const(scope, Rc::new((*own.item.source.ty).clone()))
            }
            Some(Item::Adt(id)) => Definition::Constructor(id, 0),
            Some(Item::Variant(id, at)) => Definition::Constructor(id, at),
            Some(Item::Axis(_)) => Definition::Toolchain,
            Some(Item::Module(_) | Item::Type(..) | Item::Trait(..) | Item::Macro(_)) => {
                Definition::Unread(format!("`{}` is no value", path.join("::")))
            }
            None => match self.find(scope.module, scope.of, path, Space::Types) {
                Some(Item::Adt(id)) => Definition::Constructor(id, 0),
                Some(Item::Variant(id, at)) => Definition::Constructor(id, at),
                Some(_) | None => match self.outside(scope, path) {
                    Some(path) => Definition::External(path),
                    None => Definition::Toolchain,
                },
            },
        }
    }

    fn ty(&self, scope: Scope, path: &[String]) -> TypeDefinition {
        match self.find(scope.module, scope.of, path, Space::Types) {
            Some(Item::Type(module, alias)) => {
                TypeDefinition::Alias(Scope { module, of: None, implementation: None }, alias)
            }
            Some(Item::Adt(id)) => TypeDefinition::Adt(id),
            Some(Item::Variant(id, at)) => TypeDefinition::Variant(id, at),
            Some(Item::Axis(_)) => TypeDefinition::Toolchain,
            Some(Item::Module(_) | Item::Fn(_) | Item::Const(_) | Item::Trait(..) | Item::Macro(_)) => {
                TypeDefinition::Unread(format!("`{}` is no type", path.join("::")))
            }
            None => match self.outside(scope, path) {
                Some(path) => TypeDefinition::External(path),
                None => TypeDefinition::Toolchain,
            },
        }
    }

    fn adt(&self, adt: AdtId) -> Rc<AdtDefinition> {
        let own = &self.adts[adt.0];
        let variant = |of: &crate::program::Variant| Variant {
            fields: of.fields.clone(),
            is_tuple: of.style == Style::Tuple,
        };
        Rc::new(AdtDefinition {
            scope: Scope { module: own.module, of: Some(adt), implementation: None },
            generics: own.generics.clone(),
            variants: own.variants.iter().map(variant).collect(),
        })
    }

    fn method(&self, adt: AdtId, name: &str) -> Option<(Scope, Rc<syn::Signature>)> {
        match self.adts[adt.0].item(name)? {
            Item::Fn(id) => {
                let own = &self.functions[id.0];
                let tree = own.item.tree.as_ref().ok()?;
                Some((own.scope(), Rc::new(tree.sig.clone())))
            }
            _ => None,
        }
    }

    fn implementation(&self, number: usize) -> Rc<Implementation> {
        Rc::clone(&self.implementations[number])
    }

    fn is_of_trait(&self, name: &str) -> bool {
        self.trait_items.contains(name)
    }

    fn block(&self, stmts: &[syn::Stmt]) -> Option<ModuleId> {
        crate::expand::block_module(stmts)
    }
}

impl Function {
    /// The place from which the names of its signature are looked up.
    fn scope(&self) -> Scope {
        Scope { module: self.module, of: self.of, implementation: self.implementation }
    }
}

impl Program {
    /// The whole path of a name of the language; `None` for the toolchain's.
    fn outside(&self, scope: Scope, path: &[String]) -> Option<Vec<String>> {
        let whole = self.external(scope.module, path);
        LANGUAGE.contains(&whole.first()?.as_str()).then_some(whole)
    }
}
