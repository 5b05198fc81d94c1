//! A program of one module, without items in blocks.

use super::super::{
    AdtDefinition, Definition, Definitions, Implementation, Reason, Scope, TypeDefinition, Variant,
};
use super::Suffixes;
use super::rename::Rename;
use crate::program::{AdtId, ModuleId};
use std::collections::HashMap;
use std::rc::Rc;
use syn::visit_mut::VisitMut;

const MODULE: ModuleId = ModuleId(0);

#[derive(Default)]
struct File {
    functions: HashMap<String, Rc<syn::Signature>>,
    constants: HashMap<String, Rc<syn::Type>>,
    aliases: HashMap<String, Rc<syn::ItemType>>,
    adts: Vec<Adt>,
    /// The heads of implementations, by the positions of items.
    implementations: HashMap<usize, Rc<Implementation>>,
    /// The names of the methods of traits.
    of_traits: Vec<String>,
}

struct Adt {
    name: String,
    variants: Vec<String>,
    definition: Rc<AdtDefinition>,
    functions: HashMap<String, (Scope, Rc<syn::Signature>)>,
    constants: HashMap<String, (Scope, Rc<syn::Type>)>,
}

fn scope(of: Option<AdtId>) -> Scope {
    Scope { module: MODULE, of, implementation: None }
}

fn variant(fields: &syn::Fields) -> Variant {
    let named = fields.iter().enumerate().map(|(at, field)| {
        let name = field.ident.as_ref().map_or_else(|| at.to_string(), ToString::to_string);
        (name, field.ty.clone())
    });
    Variant { fields: named.collect(), is_tuple: matches!(fields, syn::Fields::Unnamed(_)) }
}

impl File {
    fn new(file: &syn::File) -> Self {
        let mut own = Self::default();
        for item in &file.items {
            match item {
                syn::Item::Fn(item) => {
                    own.functions.insert(item.sig.ident.to_string(), Rc::new(item.sig.clone()));
                }
                syn::Item::Const(item) => {
                    own.constants.insert(item.ident.to_string(), Rc::new((*item.ty).clone()));
                }
                syn::Item::Static(item) => {
                    own.constants.insert(item.ident.to_string(), Rc::new((*item.ty).clone()));
                }
                syn::Item::Trait(item) => {
                    own.of_traits.extend(item.items.iter().filter_map(|item| match item {
                        syn::TraitItem::Fn(own) => Some(own.sig.ident.to_string()),
                        syn::TraitItem::Const(own) => Some(own.ident.to_string()),
                        _ => None,
                    }))
                }
                syn::Item::Type(item) => {
                    own.aliases.insert(item.ident.to_string(), Rc::new(item.clone()));
                }
                syn::Item::Struct(item) => {
                    own.add_adt(&item.ident, &item.generics, vec![(String::new(), &item.fields)])
                }
                syn::Item::Enum(item) => {
                    let variants = item.variants.iter().map(|own| (own.ident.to_string(), &own.fields));
                    own.add_adt(&item.ident, &item.generics, variants.collect());
                }
                _ => {}
            }
        }
        own.impls(file);
        own
    }

    fn add_adt(
        &mut self,
        name: &syn::Ident,
        generics: &syn::Generics,
        variants: Vec<(String, &syn::Fields)>,
    ) {
        let id = AdtId(self.adts.len());
        let definition = AdtDefinition {
            scope: scope(Some(id)),
            generics: generics.clone(),
            variants: variants.iter().map(|(_, fields)| variant(fields)).collect(),
        };
        self.adts.push(Adt {
            name: name.to_string(),
            variants: variants.into_iter().map(|(name, _)| name).collect(),
            definition: Rc::new(definition),
            functions: HashMap::new(),
            constants: HashMap::new(),
        });
    }

    fn impls(&mut self, file: &syn::File) {
        for (at, item) in file.items.iter().enumerate() {
            let syn::Item::Impl(item) = item else { continue };
            let head = Implementation { generics: item.generics.clone(), self_ty: (*item.self_ty).clone() };
            self.implementations.insert(at, Rc::new(head));
            let Some(adt) = self.implemented(item).filter(|_| item.trait_.is_none()) else { continue };
            for own in &item.items {
                let scope = Scope { implementation: Some(at), ..scope(Some(adt)) };
                let adt = &mut self.adts[adt.0];
                match own {
                    syn::ImplItem::Fn(own) => {
                        adt.functions.insert(own.sig.ident.to_string(), (scope, Rc::new(own.sig.clone())));
                    }
                    syn::ImplItem::Const(own) => {
                        adt.constants.insert(own.ident.to_string(), (scope, Rc::new(own.ty.clone())));
                    }
                    _ => {}
                }
            }
        }
    }

    fn implemented(&self, item: &syn::ItemImpl) -> Option<AdtId> {
        let syn::Type::Path(path) = &*item.self_ty else { return None };
        self.named(&path.path.segments.last()?.ident.to_string())
    }

    fn named(&self, name: &str) -> Option<AdtId> {
        self.adts.iter().position(|own| own.name == name).map(AdtId)
    }

    fn of(&self, scope: Scope, name: &str) -> Option<AdtId> {
        if name == "Self" { scope.of } else { self.named(name) }
    }
}

impl Definitions for File {
    fn value(&self, from: Scope, path: &[String]) -> Definition {
        if let [name] = path {
            if let Some(sig) = self.functions.get(name) {
                return Definition::Fn(scope(None), Rc::clone(sig));
            }
            if let Some(ty) = self.constants.get(name) {
                return Definition::Const(scope(None), Rc::clone(ty));
            }
            if let Some(adt) = self.of(from, name) {
                return Definition::Constructor(adt, 0);
            }
        }
        if let [name, item] = path
            && let Some(id) = self.of(from, name)
        {
            let adt = &self.adts[id.0];
            if let Some((scope, sig)) = adt.functions.get(item) {
                return Definition::Fn(*scope, Rc::clone(sig));
            }
            if let Some((scope, ty)) = adt.constants.get(item) {
                return Definition::Const(*scope, Rc::clone(ty));
            }
            if let Some(variant) = adt.variants.iter().position(|own| own == item) {
                return Definition::Constructor(id, variant);
            }
        }
        Definition::External(path.to_vec())
    }

    fn ty(&self, from: Scope, path: &[String]) -> TypeDefinition {
        if let [name] = path {
            if let Some(item) = self.aliases.get(name) {
                return TypeDefinition::Alias(scope(None), Rc::clone(item));
            }
            if let Some(adt) = self.of(from, name) {
                return TypeDefinition::Adt(adt);
            }
        }
        if let [name, item] = path
            && let Some(id) = self.of(from, name)
            && let Some(variant) = self.adts[id.0].variants.iter().position(|own| own == item)
        {
            return TypeDefinition::Variant(id, variant);
        }
        match &path[0][..] {
            "Tensor" => TypeDefinition::Toolchain,
            _ => TypeDefinition::External(path.to_vec()),
        }
    }

    fn adt(&self, adt: AdtId) -> Rc<AdtDefinition> {
        Rc::clone(&self.adts[adt.0].definition)
    }

    fn method(&self, adt: AdtId, name: &str) -> Option<(Scope, Rc<syn::Signature>)> {
        self.adts[adt.0].functions.get(name).cloned()
    }

    fn implementation(&self, number: usize) -> Rc<Implementation> {
        Rc::clone(&self.implementations[&number])
    }

    fn is_of_trait(&self, name: &str) -> bool {
        self.of_traits.iter().any(|own| own == name)
    }

    fn block(&self, _: &[syn::Stmt]) -> Option<ModuleId> {
        None
    }
}

/// The literals of a program, by their places.
#[derive(Default)]
struct Literals {
    found: Suffixes,
}

impl VisitMut for Literals {
    fn visit_lit_mut(&mut self, literal: &mut syn::Lit) {
        let suffix = literal.suffix().to_owned();
        let start = literal.span().start();
        if matches!(literal, syn::Lit::Int(_) | syn::Lit::Float(_)) {
            self.found.insert((start.line, start.column + 1), suffix);
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        for mut argument in super::super::holes::arguments(mac).into_iter().flatten() {
            self.visit_expr_mut(&mut argument);
        }
    }
}

/// The program with suffixes, and the reasons of those that are unread; their numbers count through all functions.
pub(crate) fn inferred(text: &str) -> (syn::File, Vec<Reason>) {
    let mut file = syn::parse_file(text).expect("the test is Rust");
    let program = File::new(&file);
    Rename::default().visit_file_mut(&mut file);
    let mut all = Vec::new();
    for (at, item) in file.items.iter_mut().enumerate() {
        match item {
            syn::Item::Fn(item) => {
                let reasons = super::super::function(&program, scope(None), &mut item.sig, &mut item.block);
                renumber(&mut all, reasons, |shift| shift.visit_item_fn_mut(item));
            }
            syn::Item::Const(item) => {
                let reasons = super::super::constant(&program, scope(None), &mut item.ty, &mut item.expr);
                renumber(&mut all, reasons, |shift| shift.visit_item_const_mut(item));
            }
            syn::Item::Static(item) => {
                let reasons = super::super::constant(&program, scope(None), &mut item.ty, &mut item.expr);
                renumber(&mut all, reasons, |shift| shift.visit_item_static_mut(item));
            }
            syn::Item::Enum(item) => {
                let values = item.variants.iter_mut().filter_map(|own| own.discriminant.as_mut());
                values.for_each(|(_, value)| {
                    let mut ty = syn::parse_quote!(isize);
                    all.extend(super::super::constant(&program, scope(None), &mut ty, value));
                });
            }
            syn::Item::Impl(item) => {
                let scope = Scope { implementation: Some(at), ..scope(program.implemented(item)) };
                item.items.iter_mut().for_each(|own| associated(&program, scope, own, &mut all));
            }
            _ => {}
        }
    }
    (file, all)
}

fn associated(program: &File, scope: Scope, item: &mut syn::ImplItem, all: &mut Vec<Reason>) {
    match item {
        syn::ImplItem::Fn(item) => {
            let reasons = super::super::function(program, scope, &mut item.sig, &mut item.block);
            renumber(all, reasons, |shift| shift.visit_impl_item_fn_mut(item));
        }
        syn::ImplItem::Const(item) => {
            let reasons = super::super::constant(program, scope, &mut item.ty, &mut item.expr);
            renumber(all, reasons, |shift| shift.visit_impl_item_const_mut(item));
        }
        _ => {}
    }
}

/// Adds the number of earlier reasons to the suffixes of a function.
fn renumber(all: &mut Vec<Reason>, reasons: Vec<Reason>, visit: impl FnOnce(&mut Shift)) {
    let mut shift = Shift { by: all.len() };
    visit(&mut shift);
    all.extend(reasons);
}

struct Shift {
    by: usize,
}

impl Shift {
    fn shifted(&self, literal: &str) -> Option<String> {
        let (digits, number) = literal.split_once("unread")?;
        Some(format!("{digits}unread{}", number.parse::<usize>().ok()? + self.by))
    }
}

impl VisitMut for Shift {
    fn visit_lit_int_mut(&mut self, literal: &mut syn::LitInt) {
        if let Some(text) = self.shifted(&literal.to_string()) {
            *literal = syn::LitInt::new(&text, literal.span());
        }
    }

    fn visit_lit_float_mut(&mut self, literal: &mut syn::LitFloat) {
        if let Some(text) = self.shifted(&literal.to_string()) {
            *literal = syn::LitFloat::new(&text, literal.span());
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        use quote::ToTokens;
        if let Some(mut arguments) = super::super::holes::arguments(mac) {
            arguments.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
            mac.tokens = arguments.to_token_stream();
        }
    }
}

/// The suffixes of a program's literals, and the reasons with their places.
pub(crate) fn suffixes(text: &str) -> (Suffixes, Vec<(String, String)>) {
    let (mut file, reasons) = inferred(text);
    let mut literals = Literals::default();
    literals.visit_file_mut(&mut file);
    let place = |span: proc_macro2::Span| format!("{}:{}", span.start().line, span.start().column + 1);
    (literals.found, reasons.into_iter().map(|(span, why)| (place(span), why)).collect())
}
