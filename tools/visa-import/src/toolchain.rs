//! The names that the vendor's toolchain and Rust's prelude bring into a kernel. A name that neither they nor the
//! input have is a misspelling, which rustc would refuse.

use crate::error::Error;
use crate::eval::{Eval, Evaluator, Frame, Stop, names};
use crate::program::{ModuleId, Program, Space};
use proc_macro2::Span;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::LazyLock;
use syn::spanned::Spanned;

/// Every capitalised identifier of the published crates; `test/peers/rust/names.py` lists them.
static TOOLCHAIN: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("toolchain/names.txt").lines().collect());

/// Types, traits and variants of Rust's prelude that may begin a path.
const PRELUDE: &[&str] = &[
    "AsMut",
    "AsRef",
    "AsyncFn",
    "AsyncFnMut",
    "AsyncFnOnce",
    "Box",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "DoubleEndedIterator",
    "Drop",
    "Eq",
    "Err",
    "ExactSizeIterator",
    "Extend",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "FromIterator",
    "Hash",
    "Into",
    "IntoIterator",
    "Iterator",
    "None",
    "Ok",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Result",
    "Self",
    "Send",
    "Sized",
    "Some",
    "String",
    "Sync",
    "ToOwned",
    "ToString",
    "TryFrom",
    "TryInto",
    "Unpin",
    "Vec",
];

/// Crates whose `*` imports bring in no more names than those above.
const LISTED: &[&str] = &["furiosa_opt_std", "furiosa_mapping", "furiosa_opt_macro", "std", "core", "alloc"];

impl Evaluator<'_> {
    /// Checks that a path which names no item of the input names one of the toolchain or of Rust.
    ///
    /// # Errors
    /// The name is defined nowhere.
    pub(crate) fn defined_outside(&self, frame: &Frame, span: Span, path: &[String]) -> Eval<()> {
        let Some(first) = path.first() else { return Ok(()) };
        let known = !first.starts_with(char::is_uppercase)
            || PRELUDE.contains(&first.as_str())
            || TOOLCHAIN.contains(first.as_str())
            || frame.generics.contains_key(first)
            || self.program.is_parameter(first)
            || self.program.has_name(frame.module, first);
        if known {
            return Ok(());
        }
        if let Some(error) = self.program.unresolved_use(frame.module, first) {
            return Err(Stop::Error(error));
        }
        let error = Error::new(frame.place(span), format!("`{first}` is not defined"));
        let all = self.program.names(frame.module).chain(TOOLCHAIN.iter().copied());
        let alike = all.filter(|name| name.chars().next() == first.chars().next());
        Err(Stop::Error(
            match visa_words::nearest_by(first, alike, |name| Reverse(common_prefix(name, first))) {
                Some((near, _)) => error.fix(format!("did you mean `{near}`?")),
                None => error.fix("define it, or import it by `use`"),
            },
        ))
    }

    /// Checks the types that a signature names.
    ///
    /// # Errors
    /// One of them is defined nowhere.
    pub(crate) fn signature_defined(&self, frame: &Frame, sig: &syn::Signature) -> Eval<()> {
        let inputs = sig.inputs.iter().filter_map(|input| match input {
            syn::FnArg::Typed(typed) => Some(&*typed.ty),
            syn::FnArg::Receiver(_) => None,
        });
        let output = match &sig.output {
            syn::ReturnType::Type(_, ty) => Some(&**ty),
            syn::ReturnType::Default => None,
        };
        inputs.chain(output).try_for_each(|ty| self.type_defined(frame, ty))
    }

    fn type_defined(&self, frame: &Frame, ty: &syn::Type) -> Eval<()> {
        match ty {
            syn::Type::Paren(inner) => self.type_defined(frame, &inner.elem),
            syn::Type::Group(inner) => self.type_defined(frame, &inner.elem),
            syn::Type::Reference(inner) => self.type_defined(frame, &inner.elem),
            syn::Type::Array(inner) => self.type_defined(frame, &inner.elem),
            syn::Type::Slice(inner) => self.type_defined(frame, &inner.elem),
            syn::Type::Tuple(tuple) => tuple.elems.iter().try_for_each(|ty| self.type_defined(frame, ty)),
            syn::Type::Path(own) if own.qself.is_none() => {
                let parts = names(&own.path);
                if self.program.find(frame.module, frame.of, &parts, Space::Types).is_none() {
                    self.defined_outside(frame, own.path.span(), &parts)?;
                }
                let arguments = own.path.segments.iter().filter_map(|segment| match &segment.arguments {
                    syn::PathArguments::AngleBracketed(list) => Some(&list.args),
                    syn::PathArguments::None | syn::PathArguments::Parenthesized(_) => None,
                });
                arguments.flatten().try_for_each(|argument| match argument {
                    syn::GenericArgument::Type(ty) => self.type_defined(frame, ty),
                    _ => Ok(()),
                })
            }
            _ => Ok(()),
        }
    }
}

/// Number of letters that two words share at their start.
fn common_prefix(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count()
}

impl Program {
    /// Returns true if a module has a name, or imports it from where names are not listed.
    fn has_name(&self, from: ModuleId, name: &str) -> bool {
        let path = [name.to_owned()];
        [Space::Types, Space::Values].iter().any(|&space| self.find(from, None, &path, space).is_some())
            || self.imports(from).any(|(named, path)| match named {
                Some(named) => named == name,
                None => !self.is_listed(from, path),
            })
    }

    /// Returns true if `use path::*` brings in names of the input or of [`LISTED`] crates alone.
    fn is_listed(&self, from: ModuleId, path: &[String]) -> bool {
        let first = path.first().map_or("", String::as_str);
        LISTED.contains(&first)
            || matches!(first, "crate" | "self" | "super")
            || self.find(from, None, path, Space::Types).is_some()
    }
}
