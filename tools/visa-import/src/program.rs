//! The files of the input as modules, and what their names stand for.

use crate::depth::{MAX_NESTING, too_deep};
use crate::error::{Error, Place};
use crate::map::AxisId;
use proc_macro2::TokenStream;
use quote::ToTokens;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use syn::spanned::Spanned;

/// Most bytes of a file that is read.
pub(crate) const MAX_BYTES: u64 = 16 << 20;

/// Most modules that the input may have, those in files and those in braces.
pub(crate) const MAX_MODULES: usize = 10_000;

/// A module: its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ModuleId(pub(crate) usize);

/// A structure or an enumeration: its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AdtId(pub(crate) usize);

/// What a name of a module stands for.
#[derive(Clone)]
pub(crate) enum Item {
    Module(ModuleId),
    Axis(AxisId),
    Fn(ModuleId, Rc<syn::ItemFn>),
    Const(ModuleId, Rc<syn::ItemConst>),
    Type(ModuleId, Rc<syn::ItemType>),
    Struct(ModuleId, Rc<syn::ItemStruct>),
}

/// What a name may stand for beside the same name of the other kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    /// Modules, types and axes.
    Types,
    /// Functions and constants.
    Values,
}

impl Item {
    fn space(&self) -> Space {
        match self {
            Self::Module(_) | Self::Axis(_) | Self::Type(..) | Self::Struct(..) => Space::Types,
            Self::Fn(..) | Self::Const(..) => Space::Values,
        }
    }
}

/// An axis as the input declares it.
pub(crate) struct Axis {
    pub(crate) name: String,
    pub(crate) module: ModuleId,
    pub(crate) size: syn::Expr,
    pub(crate) place: Place,
}

pub(crate) struct Module {
    pub(crate) file: Rc<str>,
    pub(crate) name: String,
    pub(crate) parent: Option<ModuleId>,
    /// Modules and types, and apart from them functions and constants.
    items: [HashMap<String, Item>; 2],
    /// Names that stand for those of other modules.
    uses: Vec<(String, Vec<String>)>,
    /// Modules all of whose names are names of this one.
    globs: Vec<Vec<String>>,
    pub(crate) macros: HashMap<String, TokenStream>,
    /// Directories in which `mod x;` looks.
    folder: PathBuf,
}

/// What was asked on the way to a name: modules may name each other.
type Asked = HashSet<(ModuleId, Vec<String>, Space)>;

/// A function that is marked `#[device]`.
#[derive(Clone)]
pub(crate) struct Device {
    pub(crate) module: ModuleId,
    pub(crate) item: Rc<syn::ItemFn>,
}

/// The input.
#[derive(Default)]
pub(crate) struct Program {
    pub(crate) modules: Vec<Module>,
    pub(crate) axes: Vec<Axis>,
    pub(crate) devices: Vec<Device>,
    /// Functions that may launch kernels.
    pub(crate) hosts: Vec<Device>,
    pub(crate) errors: Vec<Error>,
    /// The texts of the files, by their names in places.
    pub(crate) sources: Vec<(Rc<str>, String)>,
    /// Files that are being read, and all that were.
    files: HashSet<PathBuf>,
}

impl Program {
    /// The input of some files, each the root of a crate, or a file of one whose root is found beside it.
    pub(crate) fn read(paths: &[PathBuf]) -> Self {
        let mut program = Self::default();
        let mut wanted = HashSet::new();
        for path in paths {
            if !wanted.insert(path.clone()) {
                program.errors.push(Error::anywhere(format!("`{}` is given twice", path.display())));
                continue;
            }
            program.root(path);
        }
        program
    }

    /// Reads the crate that a file is of, and keeps the kernels of that file alone.
    fn root(&mut self, path: &Path) {
        let crate_root = crate_root(path);
        let before = (self.devices.len(), self.hosts.len());
        let root = crate_root.clone().unwrap_or_else(|| path.to_owned());
        let folder = root.parent().map_or_else(PathBuf::new, Path::to_owned);
        self.file(&root, "crate".to_owned(), None, folder, None);
        if crate_root.is_some() {
            let own = canonical(path);
            let modules = &self.modules;
            let is_own = |device: &Device| canonical(Path::new(&*modules[device.module.0].file)) == own;
            let mut devices = self.devices.split_off(before.0);
            devices.retain(is_own);
            let mut hosts = self.hosts.split_off(before.1);
            hosts.retain(is_own);
            if devices.is_empty()
                && !self.modules.iter().any(|module| canonical(Path::new(&*module.file)) == own)
            {
                // No module of the crate: it is read by itself.
                let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
                self.file(path, "crate".to_owned(), None, folder, None);
            } else {
                self.devices.extend(devices);
                self.hosts.extend(hosts);
            }
        }
    }

    fn file(
        &mut self,
        path: &Path,
        name: String,
        parent: Option<ModuleId>,
        folder: PathBuf,
        asked: Option<Place>,
    ) -> Option<ModuleId> {
        let at = |message: String| Error { place: asked.clone(), message, fix: None };
        let known = canonical(path);
        if !self.files.insert(known) {
            self.errors
                .push(at(format!("`{}` is a module of two places, or includes itself", path.display())));
            return None;
        }
        let text = match read(path) {
            Ok(text) => text,
            Err(why) => {
                self.errors.push(at(why));
                return None;
            }
        };
        let file: Rc<str> = path.display().to_string().into();
        let deep = text.parse().ok().and_then(too_deep);
        if let Some(span) = deep {
            let message = format!("this is nested more than {MAX_NESTING} deep");
            self.errors.push(Error::new(Place::of(&file, span), message));
            return None;
        }
        let parsed = syn::parse_file(&text);
        self.sources.push((Rc::clone(&file), text));
        match parsed {
            Ok(parsed) => Some(self.module(file, name, parent, folder, parsed.items)),
            Err(why) => {
                self.errors.push(Error::new(Place::of(&file, why.span()), format!("this is no Rust: {why}")));
                None
            }
        }
    }

    fn module(
        &mut self,
        file: Rc<str>,
        name: String,
        parent: Option<ModuleId>,
        folder: PathBuf,
        items: Vec<syn::Item>,
    ) -> ModuleId {
        let id = ModuleId(self.modules.len());
        let macros = parent.map_or_else(HashMap::new, |parent| self.modules[parent.0].macros.clone());
        self.modules.push(Module {
            file,
            name,
            parent,
            items: [HashMap::new(), HashMap::new()],
            uses: Vec::new(),
            globs: Vec::new(),
            macros,
            folder,
        });
        if self.modules.len() > MAX_MODULES {
            self.errors.push(Error::anywhere(format!("more than {MAX_MODULES} modules")));
            return id;
        }
        self.items(id, items, 0);
        id
    }

    fn items(&mut self, id: ModuleId, items: Vec<syn::Item>, depth: usize) {
        for item in items {
            if !is_for_tests(&item) {
                self.item(id, item, depth);
            }
        }
    }

    fn place(&self, id: ModuleId, span: proc_macro2::Span) -> Place {
        Place::of(&self.modules[id.0].file, span)
    }

    fn add(&mut self, id: ModuleId, name: String, item: Item) {
        let space = item.space() as usize;
        self.modules[id.0].items[space].insert(name, item);
    }

    fn item(&mut self, id: ModuleId, item: syn::Item, depth: usize) {
        match item {
            syn::Item::Fn(item) => {
                let item = Rc::new(item);
                let device = Device { module: id, item: Rc::clone(&item) };
                match (is_device(&item), item.sig.asyncness.is_some()) {
                    (true, _) => self.devices.push(device),
                    (false, true) => self.hosts.push(device),
                    (false, false) => {}
                }
                self.add(id, item.sig.ident.to_string(), Item::Fn(id, item));
            }
            syn::Item::Const(item) => self.add(id, item.ident.to_string(), Item::Const(id, Rc::new(item))),
            syn::Item::Type(item) => self.add(id, item.ident.to_string(), Item::Type(id, Rc::new(item))),
            syn::Item::Struct(item) => self.add(id, item.ident.to_string(), Item::Struct(id, Rc::new(item))),
            syn::Item::Use(item) => self.import(id, &item.tree, &mut Vec::new()),
            syn::Item::Mod(item) => self.submodule(id, item),
            syn::Item::Macro(item) => self.macro_item(id, item, depth),
            // What the host needs, and no kernel: only names that are used are looked at.
            syn::Item::Enum(_)
            | syn::Item::ExternCrate(_)
            | syn::Item::ForeignMod(_)
            | syn::Item::Impl(_)
            | syn::Item::Static(_)
            | syn::Item::Trait(_)
            | syn::Item::TraitAlias(_)
            | syn::Item::Union(_)
            | syn::Item::Verbatim(_) => {}
            other => {
                let place = self.place(id, other.span());
                self.errors.push(Error::new(place, "an item of a kind that is not known here"));
            }
        }
    }

    fn submodule(&mut self, id: ModuleId, item: syn::ItemMod) {
        let name = item.ident.to_string();
        let found = match item.content {
            Some((_, items)) => {
                let (file, folder) =
                    (Rc::clone(&self.modules[id.0].file), self.modules[id.0].folder.join(&name));
                Some(self.module(file, name.clone(), Some(id), folder, items))
            }
            None => {
                let folder = self.modules[id.0].folder.clone();
                let place = self.place(id, item.ident.span());
                let given = item.attrs.iter().find_map(path_of);
                let beside = [folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs")];
                let paths = given.map_or_else(|| beside.to_vec(), |given| vec![folder.join(given)]);
                match paths.iter().find(|path| path.is_file()) {
                    Some(path) => self.file(path, name.clone(), Some(id), folder.join(&name), Some(place)),
                    None => {
                        let names: Vec<_> =
                            paths.iter().map(|path| format!("`{}`", path.display())).collect();
                        let message =
                            format!("the file of module `{name}` is missing: {}", names.join(" or "));
                        self.errors.push(Error::new(place, message));
                        None
                    }
                }
            }
        };
        if let Some(module) = found {
            self.add(id, name, Item::Module(module));
        }
    }

    fn macro_item(&mut self, id: ModuleId, item: syn::ItemMacro, depth: usize) {
        let path = item.mac.path.to_token_stream().to_string().replace(' ', "");
        let name = path.rsplit("::").next().unwrap_or_default().to_owned();
        if let ("macro_rules", Some(own)) = (name.as_str(), &item.ident) {
            self.modules[id.0].macros.insert(own.to_string(), item.mac.tokens);
            return;
        }
        if name == "axes" {
            return self.declare_axes(id, &item.mac);
        }
        let place = self.place(id, item.mac.path.span());
        let Some(rules) = self.modules[id.0].macros.get(&name).cloned() else {
            self.errors.push(Error::new(place, format!("the macro `{name}!` is not known")));
            return;
        };
        let expanded = crate::macros::expand(&rules, item.mac.tokens, &name, depth)
            .and_then(|tokens| syn::parse2::<syn::File>(tokens).map_err(|why| why.to_string()));
        match expanded {
            Ok(file) => self.items(id, file.items, depth + 1),
            Err(why) => self.errors.push(Error::new(place, why)),
        }
    }

    /// `axes![A = 8, B = 16]`
    fn declare_axes(&mut self, id: ModuleId, mac: &syn::Macro) {
        type List = syn::punctuated::Punctuated<syn::ExprAssign, syn::Token![,]>;
        let list = match mac.parse_body_with(List::parse_terminated) {
            Ok(list) => list,
            Err(why) => {
                let place = self.place(id, why.span());
                self.errors.push(Error::new(place, format!("axes are written `A = 8, B = 16`: {why}")));
                return;
            }
        };
        for axis in list {
            let place = self.place(id, axis.left.span());
            let syn::Expr::Path(path) = &*axis.left else {
                self.errors.push(Error::new(place, "an axis is a name"));
                continue;
            };
            let name = path.to_token_stream().to_string();
            let number = AxisId(self.axes.len());
            self.axes.push(Axis { name: name.clone(), module: id, size: *axis.right, place });
            self.add(id, name, Item::Axis(number));
        }
    }

    fn import(&mut self, id: ModuleId, tree: &syn::UseTree, path: &mut Vec<String>) {
        match tree {
            syn::UseTree::Path(own) => {
                path.push(own.ident.to_string());
                self.import(id, &own.tree, path);
                path.pop();
            }
            syn::UseTree::Name(own) if own.ident == "self" => {
                let name = path.last().cloned().unwrap_or_default();
                self.modules[id.0].uses.push((name, path.clone()));
            }
            syn::UseTree::Name(own) => {
                let name = own.ident.to_string();
                let whole = path.iter().cloned().chain([name.clone()]).collect();
                self.modules[id.0].uses.push((name, whole));
            }
            syn::UseTree::Rename(own) => {
                let whole = path.iter().cloned().chain([own.ident.to_string()]).collect();
                self.modules[id.0].uses.push((own.rename.to_string(), whole));
            }
            syn::UseTree::Glob(_) => self.modules[id.0].globs.push(path.clone()),
            syn::UseTree::Group(own) => {
                for tree in &own.items {
                    self.import(id, tree, path);
                }
            }
        }
    }

    /// What a path stands for in a module; nothing if none of the input's names does.
    pub(crate) fn find(&self, from: ModuleId, path: &[String], space: Space) -> Option<Item> {
        self.find_within(from, path, space, &mut HashSet::new())
    }

    fn find_within(&self, from: ModuleId, path: &[String], space: Space, asked: &mut Asked) -> Option<Item> {
        if !asked.insert((from, path.to_vec(), space)) {
            return None;
        }
        let (first, rest) = path.split_first()?;
        let own = if rest.is_empty() { space } else { Space::Types };
        let start = match first.as_str() {
            "crate" => Some(Item::Module(self.crate_of(from))),
            "self" => Some(Item::Module(from)),
            "super" => self.modules[from.0].parent.map(Item::Module),
            name => self.name(from, name, own, asked),
        }?;
        match (rest.is_empty(), start) {
            (true, found) => Some(found),
            (false, Item::Module(module)) => self.find_within(module, rest, space, asked),
            (false, _) => None,
        }
    }

    fn name(&self, from: ModuleId, name: &str, space: Space, asked: &mut Asked) -> Option<Item> {
        let module = &self.modules[from.0];
        if let Some(own) = module.items[space as usize].get(name) {
            return Some(own.clone());
        }
        let mut renamed = module.uses.iter().filter(|(own, _)| own == name);
        let found = renamed.find_map(|(_, path)| self.find_within(from, path, space, asked));
        found.or_else(|| {
            module.globs.iter().find_map(|path| {
                let Some(Item::Module(other)) =
                    self.find_within(from, path, Space::Types, &mut asked.clone())
                else {
                    return None;
                };
                self.find_within(other, &[name.to_owned()], space, asked)
            })
        })
    }

    fn crate_of(&self, from: ModuleId) -> ModuleId {
        std::iter::successors(Some(from), |id| self.modules[id.0].parent).last().unwrap_or(from)
    }

    /// What a kernel is called that is launched beside others, from here or from another file.
    pub(crate) fn launched_name(&self, device: &Device, others: &[(String, Device)]) -> String {
        let own = device.item.sig.ident.to_string();
        let names = self.kernel_names();
        let mut all = self.devices.iter().zip(&names);
        if let Some((_, name)) = all.find(|(other, _)| Rc::ptr_eq(&other.item, &device.item)) {
            return name.clone();
        }
        let taken = names.contains(&own) || others.iter().any(|(other, _)| *other == own);
        if taken { format!("{}_{own}", self.modules[device.module.0].name) } else { own }
    }

    /// The kernels by their names; those that two have come with the names of their modules.
    pub(crate) fn kernel_names(&self) -> Vec<String> {
        let own = |device: &Device| device.item.sig.ident.to_string();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        self.devices.iter().for_each(|device| *counts.entry(own(device)).or_default() += 1);
        let name = |device: &Device| match counts[&own(device)] {
            1 => own(device),
            _ => format!("{}_{}", self.modules[device.module.0].name, own(device)),
        };
        self.devices.iter().map(name).collect()
    }
}

/// The file of `#[path = "x.rs"]`.
fn path_of(attr: &syn::Attribute) -> Option<String> {
    let syn::Meta::NameValue(pair) = &attr.meta else { return None };
    match (&pair.value, attr.path().is_ident("path")) {
        (syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }), true) => Some(text.value()),
        (_, _) => None,
    }
}

/// Whether it is compiled for tests alone.
fn is_for_tests(item: &syn::Item) -> bool {
    let attrs = match item {
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => return false,
    };
    attrs.iter().any(|attr| {
        attr.path().is_ident("cfg") && attr.meta.to_token_stream().to_string().replace(' ', "") == "cfg(test)"
            || attr.path().is_ident("test")
    })
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The root of the crate that a file is in, if it is another one.
fn crate_root(path: &Path) -> Option<PathBuf> {
    let own = canonical(path);
    let folders = own.ancestors().skip(1);
    let sources = folders.map(|folder| folder.join("Cargo.toml")).find(|manifest| manifest.is_file())?;
    let root = sources.with_file_name("src").join("lib.rs");
    (root.is_file() && root != own && own.starts_with(root.parent()?)).then_some(root)
}

fn read(path: &Path) -> Result<String, String> {
    let bytes = visa_files::read(path, MAX_BYTES)
        .map_err(|why| format!("cannot read `{}`: {why}", path.display()))?;
    String::from_utf8(bytes).map_err(|_| format!("`{}` is no UTF-8 text", path.display()))
}

/// Whether a function runs on the device.
pub(crate) fn is_device(item: &syn::ItemFn) -> bool {
    item.attrs.iter().any(|attr| attr.path().is_ident("device"))
}
