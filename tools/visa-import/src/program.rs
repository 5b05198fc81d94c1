//! The files of the input as modules, and the items that their names stand for.

use crate::addresses::Addresses;
use crate::cfg;
use crate::depth::{MAX_NESTING, too_deep};
use crate::error::{Error, SourcePosition};
use crate::infer::Implementation;
use crate::macros::{Macro, MacroId, MacroScope};
use crate::manifest::{canonical, read, root_of};
use crate::map::AxisId;
use crate::marks::{MARK, plain};
use proc_macro2::Span;
use quote::ToTokens;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use visa_ir::span::Source;

/// Most modules that the input may have: those in files, those in braces, and blocks with items.
pub(crate) const MAX_MODULES: usize = 10_000;

/// A module: its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ModuleId(pub(crate) usize);

/// A function or method: its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FnId(pub(crate) usize);

/// A constant or a static: its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ConstId(pub(crate) usize);

/// A structure or an enumeration: its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AdtId(pub(crate) usize);

/// The definition that a name of a module stands for.
#[derive(Clone)]
pub(crate) enum Item {
    Module(ModuleId),
    Axis(AxisId),
    Fn(FnId),
    Const(ConstId),
    Type(ModuleId, Rc<syn::ItemType>),
    Adt(AdtId),
    /// A variant of an enumeration, by its position.
    Variant(AdtId, usize),
    Trait(ModuleId, Rc<syn::ItemTrait>),
    Macro(Rc<Macro>),
}

/// The kinds of names, which are apart from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    /// Modules, types and axes.
    Types,
    /// Functions, constants and constructors.
    Values,
    /// Macros that a path names.
    Macros,
}

/// An item and the module in which, and below which, its name may be used; `None` for `pub`.
#[derive(Clone)]
struct Named {
    item: Item,
    within: Option<ModuleId>,
}

/// A `use`.
#[derive(Clone, Debug)]
struct Use {
    /// The name that it makes; `None` for `*`.
    name: Option<String>,
    path: Vec<String>,
    within: Option<ModuleId>,
    place: SourcePosition,
}

/// An axis as the input declares it.
pub(crate) struct Axis {
    pub(crate) name: String,
    pub(crate) module: ModuleId,
    pub(crate) size: Expanded<syn::Expr>,
    pub(crate) place: SourcePosition,
}

/// A tree before its macros are expanded, and after.
pub(crate) struct Expanded<T> {
    /// The tree as it is written.
    pub(crate) source: Rc<T>,
    /// The macros before it.
    pub(crate) macros: MacroScope,
    /// The tree without macros and with unique names, or the error that stops that.
    pub(crate) tree: Result<Rc<T>, Error>,
    /// Reasons for the unknown types of some of its literals.
    pub(crate) unread: Rc<Unread>,
}

/// Constructs that stop inference, and their places.
pub(crate) type Unread = Vec<(SourcePosition, String)>;

impl<T> Expanded<T> {
    fn new(source: T, macros: &MacroScope) -> Self {
        let source = Rc::new(source);
        Self { tree: Ok(Rc::clone(&source)), source, macros: macros.clone(), unread: Rc::default() }
    }

    /// Replaces the tree by the one with suffixes.
    pub(crate) fn settle(&mut self, tree: T, unread: Unread) {
        self.tree = Ok(Rc::new(tree));
        self.unread = Rc::new(unread);
    }
}

/// A function or a method.
pub(crate) struct Function {
    pub(crate) module: ModuleId,
    /// The structure or enumeration that it is a method of.
    pub(crate) of: Option<AdtId>,
    /// The implementation that has it, by its number.
    pub(crate) implementation: Option<usize>,
    pub(crate) item: Expanded<syn::ItemFn>,
}

/// A constant or a static.
pub(crate) struct Constant {
    pub(crate) module: ModuleId,
    pub(crate) of: Option<AdtId>,
    /// The implementation that has it, by its number.
    pub(crate) implementation: Option<usize>,
    pub(crate) item: Expanded<syn::ItemConst>,
}

/// A structure or an enumeration.
pub(crate) struct Adt {
    pub(crate) module: ModuleId,
    pub(crate) name: String,
    pub(crate) generics: syn::Generics,
    /// The variants; a structure has one.
    pub(crate) variants: Vec<Variant>,
    pub(crate) is_enum: bool,
    /// Methods, associated functions and constants.
    pub(crate) items: HashMap<String, Item>,
    /// Names that several implementations have for different arguments of the type or of a trait: they are not read.
    pub(crate) several: HashSet<String>,
    /// Names among the items that come from traits.
    of_traits: HashSet<String>,
    /// The traits that it derives or that are implemented for it.
    pub(crate) derived: Vec<String>,
    pub(crate) implemented: Vec<String>,
    pub(crate) span: Span,
}

impl Adt {
    /// The method, function or constant of a name, if there is just one.
    pub(crate) fn item(&self, name: &str) -> Option<Item> {
        self.items.get(name).filter(|_| !self.several.contains(name)).cloned()
    }
}

/// A variant of an enumeration, or the fields of a structure.
pub(crate) struct Variant {
    pub(crate) name: String,
    /// The fields by their names; those of a tuple by their positions.
    pub(crate) fields: Vec<(String, syn::Type)>,
    pub(crate) style: Style,
    /// The constant that is its number, where it is written.
    pub(crate) discriminant: Option<ConstId>,
}

/// Form in which a variant is constructed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Named,
    Tuple,
    Unit,
}

pub(crate) struct Module {
    pub(crate) file: Rc<str>,
    pub(crate) name: String,
    pub(crate) parent: Option<ModuleId>,
    /// True for the items of a block: names that it lacks are those of the scopes around it.
    pub(crate) is_block: bool,
    items: [HashMap<String, Named>; 3],
    uses: Vec<Use>,
    /// Directories in which `mod x;` looks.
    folder: PathBuf,
}

/// The queries on the path to a name: modules may name each other.
type Asked = HashSet<(ModuleId, Vec<String>, Space)>;

/// A use of a macro among items whose definition has not been found yet.
struct Pending {
    module: ModuleId,
    item: syn::ItemMacro,
    macros: MacroScope,
    depth: usize,
}

/// An implementation that has not been added to its type yet.
struct Impl {
    module: ModuleId,
    item: syn::ItemImpl,
    macros: MacroScope,
}

/// The input.
#[derive(Default)]
pub(crate) struct Program {
    pub(crate) modules: Vec<Module>,
    pub(crate) axes: Vec<Axis>,
    pub(crate) functions: Vec<Function>,
    pub(crate) constants: Vec<Constant>,
    pub(crate) adts: Vec<Adt>,
    /// Functions that are marked `#[device]`.
    pub(crate) devices: Vec<FnId>,
    /// Functions that may launch kernels.
    pub(crate) hosts: Vec<FnId>,
    pub(crate) errors: Vec<Error>,
    /// The treatment of the input's addresses.
    pub(crate) addresses: Addresses,
    /// The texts of the files.
    pub(crate) sources: Vec<Source>,
    /// The definitions of macros, by their numbers.
    pub(crate) macros: Vec<Rc<Macro>>,
    /// The macro of each expansion, by the mark.
    pub(crate) expansions: Vec<MacroId>,
    /// The heads of implementations.
    pub(crate) implementations: Vec<Rc<Implementation>>,
    /// The names of the items of the input's traits.
    pub(crate) trait_items: HashSet<String>,
    pending: Vec<Pending>,
    impls: Vec<Impl>,
    /// Files that are being read, and all that were.
    files: HashSet<PathBuf>,
    /// The named files, if each of them is a part of a crate; `None` if one is a root.
    parts: Option<HashSet<PathBuf>>,
}

impl Program {
    /// The input of some files, each the root of a crate, or a file of one whose root is found next to it.
    pub(crate) fn read(paths: &[PathBuf]) -> Self {
        let parts = paths.iter().map(|path| root_of(path).map(|_| canonical(path)));
        let mut program = Self { parts: parts.collect(), ..Self::default() };
        let mut wanted = HashSet::new();
        for path in paths {
            if !wanted.insert(path.clone()) {
                program.errors.push(Error::anywhere(format!("`{}` is given twice", path.display())));
                continue;
            }
            program.root(path);
        }
        program.expand_pending();
        crate::expand::all(&mut program);
        crate::suffix::all(&mut program);
        program
    }

    /// Returns true if an error is outside of the named files, which are parts of a crate.
    pub(crate) fn is_elsewhere(&self, error: &Error) -> bool {
        match (&self.parts, &error.place) {
            (Some(parts), Some(place)) => !parts.contains(&canonical(Path::new(&*place.file))),
            (_, _) => false,
        }
    }

    /// Reads the crate that a file is of, and keeps the kernels of that file alone.
    fn root(&mut self, path: &Path) {
        let crate_root = root_of(path);
        let before = (self.devices.len(), self.hosts.len());
        let root = crate_root.clone().unwrap_or_else(|| path.to_owned());
        let folder = root.parent().map_or_else(PathBuf::new, Path::to_owned);
        self.file(&root, "crate".to_owned(), None, folder, &mut MacroScope::default(), None);
        if crate_root.is_some() {
            let own = canonical(path);
            let is_own = |id: &FnId| {
                let module = self.functions[id.0].module;
                canonical(Path::new(&*self.modules[module.0].file)) == own
            };
            let devices: Vec<FnId> = self.devices[before.0..].iter().copied().filter(is_own).collect();
            let hosts: Vec<FnId> = self.hosts[before.1..].iter().copied().filter(is_own).collect();
            self.devices.truncate(before.0);
            self.hosts.truncate(before.1);
            if devices.is_empty()
                && !self.modules.iter().any(|module| canonical(Path::new(&*module.file)) == own)
            {
                // No module of the crate: it is read by itself.
                let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
                self.file(path, "crate".to_owned(), None, folder, &mut MacroScope::default(), None);
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
        macros: &mut MacroScope,
        asked: Option<SourcePosition>,
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
        let parsed = parsed(&file, &text);
        self.sources.push(Source::new(&*file, text));
        match parsed {
            Ok(parsed) => Some(self.module(file, name, parent, folder, macros, parsed.items)),
            Err(error) => {
                self.errors.push(error);
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
        macros: &mut MacroScope,
        items: Vec<syn::Item>,
    ) -> ModuleId {
        let id = self.new_module(file, name, parent, folder, false);
        if self.modules.len() <= MAX_MODULES {
            self.items(id, items, macros, 0);
        }
        id
    }

    fn new_module(
        &mut self,
        file: Rc<str>,
        name: String,
        parent: Option<ModuleId>,
        folder: PathBuf,
        is_block: bool,
    ) -> ModuleId {
        let id = ModuleId(self.modules.len());
        let items = Default::default();
        self.modules.push(Module { file, name, parent, is_block, items, uses: Vec::new(), folder });
        if self.modules.len() == MAX_MODULES + 1 {
            self.errors.push(Error::anywhere(format!("more than {MAX_MODULES} modules")));
        }
        id
    }

    /// A module for the items of a block.
    pub(crate) fn block_module(&mut self, parent: ModuleId) -> ModuleId {
        let around = &self.modules[parent.0];
        let (file, name, folder) = (Rc::clone(&around.file), around.name.clone(), around.folder.clone());
        self.new_module(file, name, Some(parent), folder, true)
    }

    /// Adds items, of which macros see those before them.
    pub(crate) fn items(
        &mut self,
        id: ModuleId,
        items: Vec<syn::Item>,
        macros: &mut MacroScope,
        depth: usize,
    ) {
        for item in items {
            self.item(id, item, macros, depth);
        }
    }

    pub(crate) fn place(&self, id: ModuleId, span: Span) -> SourcePosition {
        SourcePosition::of(&self.modules[id.0].file, span)
    }

    fn add(
        &mut self,
        id: ModuleId,
        (name, vis): (&syn::Ident, &syn::Visibility),
        spaces: &[Space],
        item: Item,
    ) {
        let within = self.within(id, vis);
        for &space in spaces {
            let named = Named { item: item.clone(), within };
            self.modules[id.0].items[space as usize].insert(plain(&name.to_string()).to_owned(), named);
        }
    }

    /// The module within which a name may be used.
    fn within(&self, id: ModuleId, vis: &syn::Visibility) -> Option<ModuleId> {
        match vis {
            syn::Visibility::Public(_) => None,
            syn::Visibility::Restricted(own) if own.path.is_ident("crate") => Some(self.crate_of(id)),
            syn::Visibility::Restricted(own) if own.path.is_ident("super") => {
                self.modules[self.named(id).0].parent
            }
            // `pub(in path)` names a module around it: rustc refuses uses that are not below the module.
            syn::Visibility::Restricted(own) if own.in_token.is_some() => Some(self.crate_of(id)),
            syn::Visibility::Restricted(_) | syn::Visibility::Inherited => Some(self.named(id)),
        }
    }

    /// The module itself, or the one around a block.
    fn named(&self, mut id: ModuleId) -> ModuleId {
        while let (true, Some(parent)) = (self.modules[id.0].is_block, self.modules[id.0].parent) {
            id = parent;
        }
        id
    }

    pub(crate) fn item(&mut self, id: ModuleId, item: syn::Item, macros: &mut MacroScope, depth: usize) {
        match item {
            syn::Item::Fn(item) => self.function(id, item, macros),
            syn::Item::Const(item) => self.constant(id, item, macros),
            syn::Item::Static(item) => {
                let syn::Item::Const(item) = constant_of(item) else { return };
                self.constant(id, item, macros);
            }
            syn::Item::Type(item) => {
                let name = (&item.ident.clone(), &item.vis.clone());
                self.add(id, name, &[Space::Types], Item::Type(id, Rc::new(unmarked_tree(item))));
            }
            syn::Item::Struct(item) => self.structure(id, item),
            syn::Item::Enum(item) => self.enumeration(id, item, macros),
            syn::Item::Trait(item) => {
                self.trait_items.extend(item.items.iter().filter_map(trait_item_name));
                let name = (&item.ident.clone(), &item.vis.clone());
                self.add(id, name, &[Space::Types], Item::Trait(id, Rc::new(item)));
            }
            syn::Item::Impl(item) => self.impls.push(Impl { module: id, item, macros: macros.clone() }),
            syn::Item::Use(item) => {
                let within = self.within(id, &item.vis);
                self.import(id, &item.tree, &mut Vec::new(), (macros, within));
            }
            syn::Item::Mod(item) => self.submodule(id, item, macros),
            syn::Item::Macro(item) => self.macro_item(id, item, macros, depth),
            // Items that the host needs, and no kernel: only names that are used are looked at.
            syn::Item::ExternCrate(_)
            | syn::Item::ForeignMod(_)
            | syn::Item::TraitAlias(_)
            | syn::Item::Union(_)
            | syn::Item::Verbatim(_) => {}
            other => {
                let place = self.place(id, other.span());
                self.errors.push(Error::new(place, "an item of a kind that is not known here"));
            }
        }
    }

    fn function(&mut self, id: ModuleId, item: syn::ItemFn, macros: &MacroScope) {
        // Functions that are compiled for tests alone.
        if item.attrs.iter().any(|attr| attr.path().is_ident("test")) {
            return;
        }
        let own = FnId(self.functions.len());
        match (is_device(&item), item.sig.asyncness.is_some()) {
            (true, _) => self.devices.push(own),
            (false, true) => self.hosts.push(own),
            (false, false) => {}
        }
        self.add(id, (&item.sig.ident, &item.vis), &[Space::Values], Item::Fn(own));
        self.functions.push(Function {
            module: id,
            of: None,
            implementation: None,
            item: Expanded::new(item, macros),
        });
    }

    fn constant(&mut self, id: ModuleId, item: syn::ItemConst, macros: &MacroScope) {
        let own = ConstId(self.constants.len());
        if item.ident != "_" {
            self.add(id, (&item.ident, &item.vis), &[Space::Values], Item::Const(own));
        }
        self.constants.push(Constant {
            module: id,
            of: None,
            implementation: None,
            item: Expanded::new(item, macros),
        });
    }

    fn structure(&mut self, id: ModuleId, item: syn::ItemStruct) {
        let own = AdtId(self.adts.len());
        let spaces: &[Space] = match item.fields {
            syn::Fields::Named(_) => &[Space::Types],
            syn::Fields::Unnamed(_) | syn::Fields::Unit => &[Space::Types, Space::Values],
        };
        self.add(id, (&item.ident, &item.vis), spaces, Item::Adt(own));
        let variants = vec![variant(&item.ident, &item.fields, None)];
        self.adts.push(adt(id, &item.ident, (&item.generics, &item.attrs), variants, false));
    }

    fn enumeration(&mut self, id: ModuleId, item: syn::ItemEnum, macros: &MacroScope) {
        let own = AdtId(self.adts.len());
        self.add(id, (&item.ident, &item.vis), &[Space::Types], Item::Adt(own));
        let mut variants = Vec::new();
        for of in &item.variants {
            let number = of.discriminant.as_ref().map(|(_, expr)| {
                let ty = representation(&item.attrs);
                let number: syn::ItemConst = syn::parse_quote!(const DISCRIMINANT: #ty = #expr;);
                let at = ConstId(self.constants.len());
                self.constants.push(Constant {
                    module: id,
                    of: None,
                    implementation: None,
                    item: Expanded::new(number, macros),
                });
                at
            });
            variants.push(variant(&of.ident, &of.fields, number));
        }
        self.adts.push(adt(id, &item.ident, (&item.generics, &item.attrs), variants, true));
    }

    fn submodule(&mut self, id: ModuleId, item: syn::ItemMod, macros: &mut MacroScope) {
        let name = plain(&item.ident.to_string()).to_owned();
        let stays = item.attrs.iter().any(|attr| attr.path().is_ident("macro_use"));
        let mut inside = macros.clone();
        let found = match item.content {
            Some((_, items)) => {
                let (file, folder) =
                    (Rc::clone(&self.modules[id.0].file), self.modules[id.0].folder.join(&name));
                Some(self.module(file, name, Some(id), folder, &mut inside, items))
            }
            None => {
                let folder = self.modules[id.0].folder.clone();
                let place = self.place(id, item.ident.span());
                let given = item.attrs.iter().find_map(path_of);
                let beside = [folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs")];
                let paths = given.map_or_else(|| beside.to_vec(), |given| vec![folder.join(given)]);
                let below = self.below_file(id, &name);
                match paths.iter().chain(&below).find(|path| path.is_file()) {
                    Some(path) => {
                        let folder = folder.join(&name);
                        self.file(path, name, Some(id), folder, &mut inside, Some(place))
                    }
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
        if stays {
            *macros = inside;
        }
        if let Some(module) = found {
            self.add(id, (&item.ident, &item.vis), &[Space::Types], Item::Module(module));
        }
    }

    /// The files of a module of a file that is read without its crate: below the folder of the file's name.
    fn below_file(&self, id: ModuleId, name: &str) -> Vec<PathBuf> {
        let module = &self.modules[id.0];
        let file = Path::new(&*module.file);
        let is_root = ["lib.rs", "main.rs", "mod.rs"].iter().any(|root| file.ends_with(root));
        match (module.parent, file.file_stem()) {
            (None, Some(stem)) if !is_root => {
                let folder = module.folder.join(stem);
                vec![folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")]
            }
            (_, _) => Vec::new(),
        }
    }

    /// The error of a `use` that may bring in a name that a module lacks: its path leads nowhere.
    pub(crate) fn unresolved_use(&self, from: ModuleId, name: &str) -> Option<Error> {
        let uses = self.scopes(from).flat_map(|module| &module.uses);
        let of_input =
            |own: &&Use| own.path.first().is_some_and(|first| matches!(&**first, "crate" | "self" | "super"));
        let brings = |own: &&Use| own.name.as_deref().is_none_or(|own| own == name);
        let leads = |own: &&Use| {
            let found = |space| self.find(from, None, &own.path, space).is_some();
            [Space::Types, Space::Values, Space::Macros].into_iter().any(found)
        };
        let own = uses.filter(of_input).filter(brings).find(|own| !leads(own))?;
        let error = Error::new(own.place.clone(), format!("`{}` is not found", own.path.join("::")));
        Some(error.fix("import the crate's root or folder, or add the file of the module that it names"))
    }

    /// The path of a function from the root of its crate.
    pub(crate) fn path_of(&self, id: FnId) -> Vec<String> {
        let own = self.functions[id.0].module;
        let modules = std::iter::successors(Some(own), |id| self.modules[id.0].parent);
        let mut path: Vec<String> = modules
            .map(|id| &self.modules[id.0])
            .filter(|module| !module.is_block)
            .map(|module| module.name.clone())
            .collect();
        path.reverse();
        path.push(plain(&self.functions[id.0].item.source.sig.ident.to_string()).to_owned());
        path
    }

    /// Adds a definition of a macro.
    pub(crate) fn define(
        &mut self,
        id: ModuleId,
        item: &syn::ItemMacro,
        macros: &mut MacroScope,
    ) -> Option<MacroId> {
        let name = plain(&item.ident.as_ref()?.to_string()).to_owned();
        let number = MacroId(self.macros.len());
        let own = Rc::new(Macro { id: number, name: name.clone(), rules: item.mac.tokens.clone() });
        self.macros.push(Rc::clone(&own));
        *macros = macros.with(Rc::clone(&own));
        if item.attrs.iter().any(|attr| attr.path().is_ident("macro_export")) {
            let root = self.crate_of(id);
            let named = Named { item: Item::Macro(own), within: None };
            self.modules[root.0].items[Space::Macros as usize].insert(name, named);
        }
        Some(number)
    }

    fn macro_item(&mut self, id: ModuleId, item: syn::ItemMacro, macros: &mut MacroScope, depth: usize) {
        let name = last_name(&item.mac.path);
        if name == "macro_rules" {
            self.define(id, &item, macros);
            return;
        }
        match self.definition(id, &item.mac.path, macros) {
            Some(definition) => self.expand_item(id, &definition, item, macros, depth),
            None if name == "axes" => self.declare_axes(id, &item.mac, macros),
            None if name == "compile_error" => {
                let place = self.place(id, item.mac.path.span());
                self.errors.push(Error::new(place, "`compile_error!`"));
            }
            None => {
                let macros = macros.clone();
                self.pending.push(Pending { module: id, item, macros, depth });
            }
        }
    }

    /// Expands the macros that were defined after their use, or whose names come from elsewhere.
    fn expand_pending(&mut self) {
        loop {
            let before = self.pending.len();
            for own in std::mem::take(&mut self.pending) {
                match self.definition(own.module, &own.item.mac.path, &own.macros) {
                    Some(definition) => {
                        self.expand_item(
                            own.module,
                            &definition,
                            own.item,
                            &mut own.macros.clone(),
                            own.depth,
                        );
                    }
                    None => self.pending.push(own),
                }
            }
            if self.pending.is_empty() || self.pending.len() == before {
                break;
            }
        }
        for own in std::mem::take(&mut self.pending) {
            let place = self.place(own.module, own.item.mac.path.span());
            let name = last_name(&own.item.mac.path);
            self.errors.push(Error::new(place, format!("the macro `{name}!` is not known")));
        }
    }

    fn expand_item(
        &mut self,
        id: ModuleId,
        definition: &Macro,
        item: syn::ItemMacro,
        macros: &mut MacroScope,
        depth: usize,
    ) {
        let place = self.place(id, item.mac.path.span());
        let expanded = self.expanded_tokens(definition, item.mac.tokens, depth).and_then(|tokens| {
            let mut file = syn::parse2::<syn::File>(tokens).map_err(|why| why.to_string())?;
            cfg::strip(|strip| strip.visit_file_mut(&mut file)).map_err(|(_, why)| why)?;
            Ok(file)
        });
        match expanded {
            Ok(file) => self.items(id, file.items, macros, depth + 1),
            Err(why) => self.errors.push(Error::new(place, why)),
        }
    }

    /// Expands a use of a macro, which gets the next mark.
    pub(crate) fn expanded_tokens(
        &mut self,
        definition: &Macro,
        given: proc_macro2::TokenStream,
        depth: usize,
    ) -> Result<proc_macro2::TokenStream, String> {
        if depth >= crate::macros::MAX_DEPTH {
            return Err(format!(
                "`{}!` expands into macros without end: more than {} in each other",
                definition.name,
                crate::macros::MAX_DEPTH
            ));
        }
        let mark = self.expansions.len();
        self.expansions.push(definition.id);
        let tokens = crate::macros::expand(definition, given, mark)?;
        match too_deep(tokens.clone()) {
            Some(_) => Err(format!("`{}!` expands to more than {MAX_NESTING} levels", definition.name)),
            None => Ok(tokens),
        }
    }

    /// The definition that the path of a macro names.
    pub(crate) fn definition(
        &self,
        id: ModuleId,
        path: &syn::Path,
        macros: &MacroScope,
    ) -> Option<Rc<Macro>> {
        let names = names(path);
        if let [name] = &*names
            && let Some(found) = macros.find(name)
        {
            return Some(found);
        }
        match self.find(id, None, &names, Space::Macros) {
            Some(Item::Macro(found)) => Some(found),
            Some(_) | None => None,
        }
    }

    /// `axes![A = 8, B = 16]`
    pub(crate) fn declare_axes(&mut self, id: ModuleId, mac: &syn::Macro, macros: &MacroScope) {
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
            let Some(name) = axis_name(&axis.left) else {
                self.errors.push(Error::new(place, "an axis is a name"));
                continue;
            };
            let number = AxisId(self.axes.len());
            let public = syn::Visibility::Public(Default::default());
            self.add(id, (&name, &public), &[Space::Types], Item::Axis(number));
            let size = Expanded::new(*axis.right, macros);
            self.axes.push(Axis { name: plain(&name.to_string()).to_owned(), module: id, size, place });
        }
    }

    fn import(
        &mut self,
        id: ModuleId,
        tree: &syn::UseTree,
        path: &mut Vec<String>,
        (macros, within): (&MacroScope, Option<ModuleId>),
    ) {
        let name_of = |ident: &syn::Ident| plain(&ident.to_string()).to_owned();
        let (name, whole) = match tree {
            syn::UseTree::Path(own) => {
                path.push(name_of(&own.ident));
                self.import(id, &own.tree, path, (macros, within));
                path.pop();
                return;
            }
            syn::UseTree::Group(own) => {
                for tree in &own.items {
                    self.import(id, tree, path, (macros, within));
                }
                return;
            }
            syn::UseTree::Glob(_) => (None, path.clone()),
            syn::UseTree::Name(own) if own.ident == "self" => (path.last().cloned(), path.clone()),
            syn::UseTree::Name(own) => {
                let name = name_of(&own.ident);
                (Some(name.clone()), path.iter().cloned().chain([name]).collect())
            }
            syn::UseTree::Rename(own) if own.ident == "self" => (Some(name_of(&own.rename)), path.clone()),
            syn::UseTree::Rename(own) => {
                let whole = path.iter().cloned().chain([name_of(&own.ident)]).collect();
                (Some(name_of(&own.rename)), whole)
            }
        };
        // A macro of the text before it, by another name or for other modules.
        if let (Some(name), [own]) = (&name, &*whole)
            && let Some(found) = macros.find(own)
        {
            let named = Named { item: Item::Macro(found), within };
            self.modules[id.0].items[Space::Macros as usize].insert(name.clone(), named);
        }
        if name.as_deref() != Some("_") {
            let place = self.place(id, tree_start(tree));
            self.modules[id.0].uses.push(Use { name, path: whole, within, place });
        }
    }

    /// Adds the implementations to their types.
    pub(crate) fn add_impls(&mut self) {
        for Impl { module, item, macros } in std::mem::take(&mut self.impls) {
            let syn::Type::Path(path) = &*item.self_ty else { continue };
            let Some(of) = self.adt_of(module, &names(&path.path)) else { continue };
            let number = self.implementations.len();
            let head = Implementation { generics: item.generics.clone(), self_ty: (*item.self_ty).clone() };
            self.implementations.push(Rc::new(head));
            let traits = item.trait_.as_ref().map(|(_, path, _)| names(path));
            let mut given = HashSet::new();
            for own in &item.items {
                let place = (module, of, number);
                if let Some(name) = self.associated(place, own.clone(), &macros, traits.is_some()) {
                    given.insert(name);
                }
            }
            let Some(of_trait) = traits else { continue };
            self.adts[of.0].implemented.extend(of_trait.last().cloned());
            let Some(Item::Trait(defined, own)) = self.find(module, None, &of_trait, Space::Types) else {
                continue;
            };
            // The parameters of a trait have no values here.
            if own.generics.params.is_empty() {
                let defaults = own.items.iter().filter_map(default_item);
                for (_, default) in defaults.filter(|(name, _)| !given.contains(name)) {
                    self.associated((defined, of, number), default, &macros, true);
                }
            }
        }
    }

    /// Adds an item of an implementation; that of a trait gives way to the type's own.
    fn associated(
        &mut self,
        (module, of, number): (ModuleId, AdtId, usize),
        item: syn::ImplItem,
        macros: &MacroScope,
        of_trait: bool,
    ) -> Option<String> {
        let implementation = Some(number);
        let (name, found) = match item {
            syn::ImplItem::Fn(own) => {
                let id = FnId(self.functions.len());
                let name = plain(&own.sig.ident.to_string()).to_owned();
                let item =
                    syn::ItemFn { attrs: own.attrs, vis: own.vis, sig: own.sig, block: Box::new(own.block) };
                let item = Expanded::new(item, macros);
                self.functions.push(Function { module, of: Some(of), implementation, item });
                (name, Item::Fn(id))
            }
            syn::ImplItem::Const(own) => {
                let id = ConstId(self.constants.len());
                let name = plain(&own.ident.to_string()).to_owned();
                let (ident, ty, expr) = (own.ident, own.ty, own.expr);
                let item: syn::ItemConst = syn::parse_quote!(const #ident: #ty = #expr;);
                let item = Expanded::new(item, macros);
                self.constants.push(Constant { module, of: Some(of), implementation, item });
                (name, Item::Const(id))
            }
            _ => return None,
        };
        let adt = &mut self.adts[of.0];
        match (adt.items.contains_key(&name), of_trait) {
            (false, _) => {
                adt.items.insert(name.clone(), found);
                if of_trait {
                    adt.of_traits.insert(name.clone());
                }
            }
            // The type's own is found first.
            (true, false) if adt.of_traits.remove(&name) => {
                adt.items.insert(name.clone(), found);
            }
            (true, true) if !adt.of_traits.contains(&name) => {}
            (true, _) => {
                adt.several.insert(name.clone());
            }
        }
        Some(name)
    }

    /// The structure or enumeration that a path names, also through aliases.
    pub(crate) fn adt_of(&self, from: ModuleId, path: &[String]) -> Option<AdtId> {
        let mut at = (from, path.to_vec());
        for _ in 0..MAX_ALIASES {
            match self.find(at.0, None, &at.1, Space::Types)? {
                Item::Adt(id) => return Some(id),
                Item::Type(module, alias) => match &*alias.ty {
                    syn::Type::Path(path) if path.qself.is_none() => at = (module, names(&path.path)),
                    _ => return None,
                },
                Item::Module(_) | Item::Axis(_) | Item::Fn(_) | Item::Const(_) => return None,
                Item::Variant(..) | Item::Trait(..) | Item::Macro(_) => return None,
            }
        }
        None
    }

    /// The definition that a path stands for in a module, in a method of `of`; `None` if none of the input's names
    /// matches.
    pub(crate) fn find(
        &self,
        from: ModuleId,
        of: Option<AdtId>,
        path: &[String],
        space: Space,
    ) -> Option<Item> {
        if let (Some(of), Some(("Self", rest))) =
            (of, path.split_first().map(|(first, rest)| (first.as_str(), rest)))
        {
            return if rest.is_empty() {
                Some(Item::Adt(of))
            } else {
                self.below(Item::Adt(of), rest, space, &mut HashSet::new())
            };
        }
        self.find_within(from, path, space, &mut HashSet::new())
    }

    /// The item of a block itself, not of the scopes around it.
    pub(crate) fn find_in_block(&self, block: ModuleId, name: &str, space: Space) -> Option<Item> {
        self.name_in(block, name, space, &mut HashSet::new())
    }

    fn find_within(&self, from: ModuleId, path: &[String], space: Space, asked: &mut Asked) -> Option<Item> {
        if !asked.insert((from, path.to_vec(), space)) {
            return None;
        }
        let (first, rest) = path.split_first()?;
        let own = if rest.is_empty() { space } else { Space::Types };
        let start = match first.as_str() {
            "crate" | "$crate" => Some(Item::Module(self.crate_of(from))),
            "self" => Some(Item::Module(self.named(from))),
            "super" => self.modules[self.named(from).0].parent.map(|parent| Item::Module(self.named(parent))),
            name => self.name(from, name, own, asked),
        }?;
        if rest.is_empty() { Some(start) } else { self.below(start, rest, space, asked) }
    }

    /// The item that the rest of a path names below another one.
    fn below(&self, start: Item, rest: &[String], space: Space, asked: &mut Asked) -> Option<Item> {
        match (start, rest) {
            (Item::Module(module), [first, others @ ..]) if first == "super" => {
                let parent = self.modules[self.named(module).0].parent?;
                let parent = self.named(parent);
                match others.is_empty() {
                    true => Some(Item::Module(parent)),
                    false => self.below(Item::Module(parent), others, space, asked),
                }
            }
            (Item::Module(module), [name]) => self.name_in(module, name, space, asked),
            (Item::Module(module), [first, others @ ..]) => {
                let next = self.name_in(module, first, Space::Types, asked)?;
                self.below(next, others, space, asked)
            }
            (Item::Adt(of), [name]) => {
                let adt = &self.adts[of.0];
                let at = adt.variants.iter().position(|own| adt.is_enum && own.name == *name);
                at.map(|at| Item::Variant(of, at)).or_else(|| adt.item(name))
            }
            (Item::Type(module, alias), _) => match &*alias.ty {
                syn::Type::Path(path) if path.qself.is_none() => {
                    let of = self.adt_of(module, &names(&path.path))?;
                    self.below(Item::Adt(of), rest, space, asked)
                }
                _ => None,
            },
            (_, _) => None,
        }
    }

    /// A name as it is seen from a module: in blocks, also the names of the scopes around them.
    fn name(&self, from: ModuleId, name: &str, space: Space, asked: &mut Asked) -> Option<Item> {
        let found = self.name_in(from, name, space, asked);
        let module = &self.modules[from.0];
        match (found, module.is_block, module.parent) {
            (Some(found), _, _) => Some(found),
            (None, true, Some(parent)) => self.name(parent, name, space, asked),
            (None, _, _) => None,
        }
    }

    /// A name of a module: an item, a `use`, or a name of a module that `*` brings in.
    fn name_in(&self, of: ModuleId, name: &str, space: Space, asked: &mut Asked) -> Option<Item> {
        self.visible(of, of, name, space, asked)
    }

    /// A name of module `of` that may be used in module `from`.
    fn visible(
        &self,
        of: ModuleId,
        from: ModuleId,
        name: &str,
        space: Space,
        asked: &mut Asked,
    ) -> Option<Item> {
        let module = &self.modules[of.0];
        let may =
            |within: Option<ModuleId>| of == from || within.is_none_or(|within| self.is_below(from, within));
        if let Some(own) = module.items[space as usize].get(name).filter(|own| may(own.within)) {
            return Some(own.item.clone());
        }
        let uses = || module.uses.iter().filter(|own| may(own.within));
        let renamed = uses().filter(|own| own.name.as_deref() == Some(name));
        let found = renamed.clone().find_map(|own| self.find_use(of, &own.path, space, asked));
        if found.is_some() {
            return found;
        }
        uses().filter(|own| own.name.is_none()).find_map(|own| {
            match self.find_use(of, &own.path, Space::Types, &mut asked.clone())? {
                Item::Module(other) => {
                    asked.insert((other, vec!["*".to_owned(), name.to_owned()], space)).then_some(())?;
                    self.visible(other, of, name, space, asked)
                }
                Item::Adt(of) => self
                    .below(Item::Adt(of), &[name.to_owned()], space, asked)
                    .filter(|found| matches!(found, Item::Variant(..))),
                Item::Axis(_) | Item::Fn(_) | Item::Const(_) | Item::Type(..) => None,
                Item::Variant(..) | Item::Trait(..) | Item::Macro(_) => None,
            }
        })
    }

    /// The definition that the path of a `use` names.
    fn find_use(&self, of: ModuleId, path: &[String], space: Space, asked: &mut Asked) -> Option<Item> {
        self.find_within(of, path, space, asked)
    }

    fn is_below(&self, mut id: ModuleId, within: ModuleId) -> bool {
        loop {
            if id == within {
                return true;
            }
            match self.modules[id.0].parent {
                Some(parent) => id = parent,
                None => return false,
            }
        }
    }

    /// The path of an item that is not of the input, with the names that `use` gives to its parts.
    pub(crate) fn external(&self, from: ModuleId, path: &[String]) -> Vec<String> {
        let Some((first, rest)) = path.split_first() else { return Vec::new() };
        let mut at = Some(from);
        while let Some(id) = at {
            let module = &self.modules[id.0];
            let named = module.uses.iter().rev().find(|own| own.name.as_deref() == Some(first));
            if let Some(own) = named.filter(|own| own.path.first() != Some(first) || own.path.len() > 1) {
                return own.path.iter().chain(rest).cloned().collect();
            }
            at = module.parent.filter(|_| module.is_block);
        }
        path.to_vec()
    }

    /// The imports that a module sees: the name of each, or `None` for `*`, and its path.
    pub(crate) fn imports(&self, from: ModuleId) -> impl Iterator<Item = (Option<&str>, &[String])> {
        let seen = self.scopes(from).flat_map(|module| &module.uses);
        seen.map(|own| (own.name.as_deref(), &*own.path))
    }

    /// The names that a module sees without a path.
    pub(crate) fn names(&self, from: ModuleId) -> impl Iterator<Item = &str> {
        self.scopes(from).flat_map(|module| {
            let items = module.items.iter().flat_map(|items| items.keys().map(String::as_str));
            items.chain(module.uses.iter().filter_map(|own| own.name.as_deref()))
        })
    }

    /// A module, and the modules around it whose names it sees.
    fn scopes(&self, from: ModuleId) -> impl Iterator<Item = &Module> {
        let around =
            |module: &&Module| module.parent.filter(|_| module.is_block).map(|id| &self.modules[id.0]);
        std::iter::successors(Some(&self.modules[from.0]), around)
    }

    /// Returns true if a function, type, trait or implementation has a generic parameter of a name.
    pub(crate) fn is_parameter(&self, name: &str) -> bool {
        let of_functions = self.functions.iter().map(|own| &own.item.source.sig.generics);
        let of_adts = self.adts.iter().map(|own| &own.generics);
        let of_implementations = self.implementations.iter().map(|own| &own.generics);
        let items = self.modules.iter().flat_map(|module| module.items.iter().flat_map(HashMap::values));
        let of_items = items.filter_map(|named| match &named.item {
            Item::Trait(_, own) => Some(&own.generics),
            Item::Type(_, own) => Some(&own.generics),
            Item::Module(_) | Item::Axis(_) | Item::Fn(_) | Item::Const(_) => None,
            Item::Adt(_) | Item::Variant(..) | Item::Macro(_) => None,
        });
        let mut all = of_functions.chain(of_adts).chain(of_implementations).chain(of_items);
        all.any(|generics| {
            generics.params.iter().any(|parameter| parameter_name(parameter) == Some(name.into()))
        })
    }

    pub(crate) fn crate_of(&self, from: ModuleId) -> ModuleId {
        std::iter::successors(Some(from), |id| self.modules[id.0].parent).last().unwrap_or(from)
    }

    /// The name of a function in the text.
    pub(crate) fn fn_name(&self, id: FnId) -> String {
        crate::emit::written(&self.functions[id.0].item.source.sig.ident.to_string())
    }

    /// The names of the kernels; those that two have come with the names of their modules.
    pub(crate) fn kernel_names(&self) -> Vec<String> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        self.devices.iter().for_each(|&device| *counts.entry(self.fn_name(device)).or_default() += 1);
        let name = |&device: &FnId| match counts[&self.fn_name(device)] {
            1 => self.fn_name(device),
            _ => format!("{}_{}", self.modules[self.functions[device.0].module.0].name, self.fn_name(device)),
        };
        let mut names: Vec<String> = Vec::new();
        for wanted in self.devices.iter().map(name) {
            let mut name = wanted.clone();
            let mut number = 1;
            while names.contains(&name) {
                number += 1;
                name = format!("{wanted}_{number}");
            }
            names.push(name);
        }
        names
    }
}

/// Most aliases that may name each other.
pub(crate) const MAX_ALIASES: usize = 100;

/// The names of a path, without marks.
pub(crate) fn names(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| plain(&segment.ident.to_string()).to_owned()).collect()
}

/// The last name of a path, without marks.
pub(crate) fn last_name(path: &syn::Path) -> String {
    path.segments.last().map(|last| plain(&last.ident.to_string()).to_owned()).unwrap_or_default()
}

/// A file as a tree, of which the rest is compiled.
fn parsed(file: &Rc<str>, text: &str) -> Result<syn::File, Error> {
    if let Some(at) = text.find(MARK) {
        let line = text[..at].lines().count().max(1);
        let place = SourcePosition { file: Rc::clone(file), line, column: 1 };
        return Err(Error::new(place, format!("the character `{MARK}` is not read in an input")));
    }
    if let Some(span) = text.parse().ok().and_then(too_deep) {
        let message = format!("this is nested more than {MAX_NESTING} deep");
        return Err(Error::new(SourcePosition::of(file, span), message));
    }
    let parsed = syn::parse_file(text);
    let mut parsed = parsed
        .map_err(|why| Error::new(SourcePosition::of(file, why.span()), format!("this is no Rust: {why}")))?;
    cfg::strip(|strip| strip.visit_file_mut(&mut parsed))
        .map_err(|(span, why)| Error::new(SourcePosition::of(file, span), why))?;
    Ok(parsed)
}

/// The last name of a `use`.
fn tree_start(tree: &syn::UseTree) -> Span {
    match tree {
        syn::UseTree::Path(own) => own.ident.span(),
        syn::UseTree::Name(own) => own.ident.span(),
        syn::UseTree::Rename(own) => own.ident.span(),
        syn::UseTree::Glob(own) => own.star_token.span(),
        syn::UseTree::Group(own) => own.brace_token.span.open(),
    }
}

fn axis_name(expr: &syn::Expr) -> Option<syn::Ident> {
    match expr {
        syn::Expr::Path(path) => path.path.get_ident().cloned(),
        syn::Expr::Group(inner) => axis_name(&inner.expr),
        _ => None,
    }
}

/// A static as a constant: no code of the input changes one.
fn constant_of(item: syn::ItemStatic) -> syn::Item {
    let syn::ItemStatic { attrs, vis, ident, ty, expr, .. } = item;
    let mut made: syn::ItemConst = syn::parse_quote!(#vis const #ident: #ty = #expr;);
    made.attrs = attrs;
    syn::Item::Const(made)
}

fn unmarked_tree(item: syn::ItemType) -> syn::ItemType {
    let tokens = crate::marks::unmarked_tokens(item.to_token_stream());
    syn::parse2(tokens).unwrap_or(item)
}

fn variant(name: &syn::Ident, fields: &syn::Fields, discriminant: Option<ConstId>) -> Variant {
    let style = match fields {
        syn::Fields::Named(_) => Style::Named,
        syn::Fields::Unnamed(_) => Style::Tuple,
        syn::Fields::Unit => Style::Unit,
    };
    let field = |(at, field): (usize, &syn::Field)| {
        let name =
            field.ident.as_ref().map_or_else(|| at.to_string(), |name| plain(&name.to_string()).to_owned());
        (name, field.ty.clone())
    };
    let fields = fields.iter().enumerate().map(field).collect();
    Variant { name: plain(&name.to_string()).to_owned(), fields, style, discriminant }
}

fn adt(
    module: ModuleId,
    name: &syn::Ident,
    (generics, attrs): (&syn::Generics, &[syn::Attribute]),
    variants: Vec<Variant>,
    is_enum: bool,
) -> Adt {
    type Paths = syn::punctuated::Punctuated<syn::Path, syn::Token![,]>;
    let derives = attrs.iter().filter(|attr| attr.path().is_ident("derive"));
    let derived = derives.filter_map(|attr| attr.parse_args_with(Paths::parse_terminated).ok()).flatten();
    Adt {
        module,
        name: plain(&name.to_string()).to_owned(),
        generics: generics.clone(),
        variants,
        is_enum,
        items: HashMap::new(),
        several: HashSet::new(),
        of_traits: HashSet::new(),
        derived: derived.map(|path| last_name(&path)).collect(),
        implemented: Vec::new(),
        span: name.span(),
    }
}

/// The type of the numbers of variants.
fn representation(attrs: &[syn::Attribute]) -> syn::Ident {
    let given = attrs.iter().filter(|attr| attr.path().is_ident("repr"));
    let word = given.filter_map(|attr| attr.parse_args::<syn::Ident>().ok()).find(|word| word != "C");
    word.unwrap_or_else(|| syn::Ident::new("isize", Span::call_site()))
}

/// The name of an item of a trait.
fn trait_item_name(item: &syn::TraitItem) -> Option<String> {
    let name = match item {
        syn::TraitItem::Fn(own) => &own.sig.ident,
        syn::TraitItem::Const(own) => &own.ident,
        syn::TraitItem::Type(own) => &own.ident,
        _ => return None,
    };
    Some(plain(&name.to_string()).to_owned())
}

/// An item that a trait gives to the types that do not.
fn default_item(item: &syn::TraitItem) -> Option<(String, syn::ImplItem)> {
    match item {
        syn::TraitItem::Fn(own) => {
            let (sig, block) = (&own.sig, own.default.as_ref()?);
            let name = plain(&sig.ident.to_string()).to_owned();
            Some((name, syn::ImplItem::Fn(syn::parse_quote!(#sig #block))))
        }
        syn::TraitItem::Const(own) => {
            let (ident, ty, (_, expr)) = (&own.ident, &own.ty, own.default.as_ref()?);
            let name = plain(&ident.to_string()).to_owned();
            Some((name, syn::ImplItem::Const(syn::parse_quote!(const #ident: #ty = #expr;))))
        }
        _ => None,
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

/// Returns true if a function runs on the device.
pub(crate) fn is_device(item: &syn::ItemFn) -> bool {
    item.attrs.iter().any(|attr| attr.path().is_ident("device"))
}

/// The name of a type or a number that is a parameter.
fn parameter_name(parameter: &syn::GenericParam) -> Option<String> {
    match parameter {
        syn::GenericParam::Type(own) => Some(plain(&own.ident.to_string()).to_owned()),
        syn::GenericParam::Const(own) => Some(plain(&own.ident.to_string()).to_owned()),
        syn::GenericParam::Lifetime(_) => None,
    }
}

/// The path that is called, through parentheses.
pub(crate) fn called(func: &syn::Expr) -> Option<&syn::ExprPath> {
    match func {
        syn::Expr::Path(path) => Some(path),
        syn::Expr::Group(inner) => called(&inner.expr),
        _ => None,
    }
}
