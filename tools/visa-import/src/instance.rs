//! Instances of kernels: a generic kernel is imported once for each choice of its parameters, made by a launch or
//! by the name of the entry.

use crate::eval::{Eval, Evaluator, Frame, Generic};
use crate::marks::plain;
use crate::program::{FnId, Program};
use crate::value::{Type, Value};
use std::collections::HashMap;

/// A kernel for one choice of its parameters.
#[derive(Clone)]
pub(crate) struct Instance {
    /// Its name in the text.
    pub(crate) name: String,
    pub(crate) device: FnId,
    pub(crate) generics: HashMap<String, Generic>,
}

/// The parameters of a function that its launch chooses: types and constants.
pub(crate) fn parameters(generics: &syn::Generics) -> impl Iterator<Item = &syn::GenericParam> {
    generics.params.iter().filter(|own| !matches!(own, syn::GenericParam::Lifetime(_)))
}

/// The name of a parameter.
fn name_of(parameter: &syn::GenericParam) -> Option<String> {
    let ident = match parameter {
        syn::GenericParam::Type(own) => &own.ident,
        syn::GenericParam::Const(own) => &own.ident,
        syn::GenericParam::Lifetime(_) => return None,
    };
    Some(plain(&ident.to_string()).to_owned())
}

impl Program {
    /// The name of a kernel that is launched together with others, from here or from another file.
    pub(crate) fn launched_name(&self, device: FnId, others: &[Instance]) -> String {
        let names = self.kernel_names();
        let mut all = self.devices.iter().zip(&names);
        if let Some((_, name)) = all.find(|(other, _)| **other == device) {
            return name.clone();
        }
        let own = self.fn_name(device);
        let taken =
            names.contains(&own) || others.iter().any(|other| other.name == own && other.device != device);
        if taken { format!("{}_{own}", self.modules[self.functions[device.0].module.0].name) } else { own }
    }

    /// Returns true if a function has parameters that its launch chooses.
    pub(crate) fn is_generic(&self, id: FnId) -> bool {
        parameters(&self.functions[id.0].item.source.sig.generics).next().is_some()
    }
}

impl Evaluator<'_> {
    /// The part of an instance's name that its choice of parameters makes; `Err` with the parameter that has no value.
    pub(crate) fn instance_suffix(
        &self,
        item: &syn::ItemFn,
        generics: &HashMap<String, Generic>,
    ) -> Result<String, String> {
        let mut suffix = String::new();
        for name in parameters(&item.sig.generics).filter_map(name_of) {
            let text = match generics.get(&name) {
                Some(Generic::Type(Type::Map(map))) => self.text(map),
                Some(Generic::Type(Type::Number(format))) => format.to_string(),
                Some(Generic::Type(Type::Adt(of))) => self.program.adts[of.0].name.clone(),
                Some(Generic::Const(Value::Int(number))) => {
                    number.number().map(|own| own.to_string()).unwrap_or_default()
                }
                Some(Generic::Const(Value::Bool(truth))) => truth.to_string(),
                Some(Generic::Type(_) | Generic::Const(_)) => String::new(),
                None => return Err(name),
            };
            let words =
                text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
            words.for_each(|word| {
                suffix.push('_');
                suffix.push_str(word);
            });
        }
        Ok(suffix)
    }

    /// The instance that an entry names, as `copy::<Small>`.
    pub(crate) fn named_instance(
        &mut self,
        frame: &mut Frame,
        device: FnId,
        path: &syn::ExprPath,
    ) -> Eval<HashMap<String, Generic>> {
        let item = self.program.functions[device.0].item.tree.clone()?;
        self.generics(frame, &item, path)
    }
}

/// The terms of `m![..]` that are alone between commas: the name of each, or `None` for another term.
pub(crate) fn lone_terms(tokens: &proc_macro2::TokenStream) -> Vec<Option<String>> {
    let mut terms = vec![Vec::new()];
    for token in tokens.clone() {
        match &token {
            proc_macro2::TokenTree::Punct(sign) if sign.as_char() == ',' => terms.push(Vec::new()),
            _ => terms.last_mut().into_iter().for_each(|term| term.push(token.clone())),
        }
    }
    let name = |term: Vec<proc_macro2::TokenTree>| match &*term {
        [proc_macro2::TokenTree::Ident(ident)] => Some(plain(&ident.to_string()).to_owned()),
        _ => None,
    };
    terms.into_iter().filter(|term| !term.is_empty()).map(name).collect()
}
