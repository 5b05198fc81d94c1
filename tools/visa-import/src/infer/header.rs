//! The standard library's signatures.

use std::collections::HashMap;
use std::rc::Rc;

/// The signatures by the name of their trait or module, then by their own name.
pub(crate) struct Header {
    signatures: HashMap<String, HashMap<String, Entry>>,
}

/// A signature, and the parameters of the trait around it.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) params: Rc<Vec<String>>,
    pub(crate) sig: Rc<syn::Signature>,
}

thread_local! {
    static HEADER: Header = Header::read();
}

/// Looks up a signature.
pub(crate) fn entry(kind: &str, name: &str) -> Option<Entry> {
    HEADER.with(|header| header.signatures.get(kind)?.get(name).cloned())
}

impl Header {
    fn read() -> Self {
        let file = syn::parse_file(include_str!("header.txt"));
        let items = file.unwrap_or_else(|error| unreachable!("header.txt: {error}")).items;
        let mut signatures: HashMap<String, HashMap<String, Entry>> = HashMap::new();
        for item in items {
            match item {
                syn::Item::Trait(own) => {
                    let params =
                        Rc::new(own.generics.type_params().map(|own| own.ident.to_string()).collect());
                    let methods = own.items.into_iter().filter_map(|item| match item {
                        syn::TraitItem::Fn(own) => Some(own.sig),
                        _ => None,
                    });
                    signatures.insert(own.ident.to_string(), entries(&params, methods));
                }
                syn::Item::Mod(own) => {
                    let items = own.content.map_or_else(Vec::new, |(_, items)| items);
                    let functions = items.into_iter().filter_map(|item| match item {
                        syn::Item::Fn(own) => Some(own.sig),
                        _ => None,
                    });
                    signatures.insert(own.ident.to_string(), entries(&Rc::default(), functions));
                }
                _ => {}
            }
        }
        Self { signatures }
    }
}

fn entries(params: &Rc<Vec<String>>, sigs: impl Iterator<Item = syn::Signature>) -> HashMap<String, Entry> {
    sigs.map(|sig| (sig.ident.to_string(), Entry { params: Rc::clone(params), sig: Rc::new(sig) })).collect()
}
