//! From files to kernels: sizes and names of axes, then each kernel and each function that launches some.

use crate::addresses::Addresses;
use crate::emit::new;
use crate::error::{Error, SourcePosition};
use crate::eval::{Evaluator, Stop, Tables, Want};
use crate::imported::{Imported, Kernel};
use crate::instance::Instance;
use crate::map::AxisId;
use crate::place::deref;
use crate::program::{FnId, Program};
use crate::{emit, indexed, kernel, manifest, stream};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::rc::Rc;
use syn::spanned::Spanned;
use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_ir::print::{Form, print_op};
use visa_mapping::ops::func::AxesOp;
use visa_mapping::ops::table::Table;
use visa_mapping::tensor::attrs::{AxisSize, AxisSizes};

/// Imports the kernels of some files, and the functions that launch them over tensors in HBM; or one of these.
#[must_use]
pub fn import(paths: &[PathBuf], entry: Option<&str>, addresses: Addresses) -> Imported {
    let mut wrong = Vec::new();
    let paths: Vec<PathBuf> = paths
        .iter()
        .filter_map(|path| manifest::resolved(path).map_err(|why| wrong.push(Error::anywhere(why))).ok())
        .collect();
    let mut program = Program::read(&paths);
    program.addresses = addresses;
    wrong.append(&mut program.errors);
    let mut imported =
        Imported { errors: wrong, sources: std::mem::take(&mut program.sources), ..Imported::default() };
    let ctx = match visa_opt::Registry::standard().context() {
        Ok(ctx) => ctx,
        Err(wrong) => {
            imported.errors.extend(wrong.iter().map(|finding| Error::anywhere(&finding.message)));
            return imported;
        }
    };
    let (sizes, unsized_axes) = sizes(&ctx, &program);
    if entry.is_none() {
        imported.errors.extend(unsized_axes.values().cloned());
    }
    let axis_names = axis_names(&program, &sizes);
    let mut importer = Importer {
        ctx: &ctx,
        program: &program,
        sizes: (&sizes, &axis_names),
        unsized_axes: &unsized_axes,
        tables: BTreeSet::new(),
        blocks: BTreeMap::new(),
        dropped: BTreeSet::new(),
        imported,
    };
    importer.all(entry);
    importer.settle(entry);
    let Importer { tables, blocks, dropped, mut imported, .. } = importer;
    imported.remarks.extend(about_dropped(&dropped));
    imported.entry = match &*imported.kernels {
        [only] => Some(only.name.clone()),
        _ => None,
    };
    if imported.kernels.is_empty() && (imported.errors.is_empty() || entry.is_some()) {
        // The other errors may be the reason.
        imported.errors.insert(0, nothing_found(&program, entry));
    }
    let axes = new!(&ctx, AxesOp).sizes(declared(&axis_names, &sizes, &blocks, &imported));
    let mut tables: Vec<_> = tables.into_iter().collect();
    tables.sort_by_key(|(from, to)| (from.name(), to.name()));
    let tables = tables.into_iter().map(|(from, to)| {
        let name = stream::table_name(from, to);
        new!(&ctx, Table).name(name).from(from).to(to).spec()
    });
    let mut module = Module::default();
    let lines = std::iter::once(axes.spec()).chain(tables).map(|spec| {
        let op = module.append(module.body(), spec);
        print_op(&ctx, &module, op, Form::Pretty)
    });
    imported.axes = lines.collect::<String>().trim_end().to_owned();
    imported
}

/// The state of an import.
struct Importer<'a> {
    ctx: &'a Context,
    program: &'a Program,
    /// The axes' sizes and names.
    sizes: (&'a [u64], &'a [String]),
    /// The errors in the sizes of axes: a kernel that mentions none of them is imported.
    unsized_axes: &'a BTreeMap<AxisId, Error>,
    tables: Tables,
    blocks: BTreeMap<String, u64>,
    /// The positions of dropped addresses.
    dropped: BTreeSet<SourcePosition>,
    imported: Imported,
}

impl Importer<'_> {
    fn all(&mut self, entry: Option<&str>) {
        let names = self.program.kernel_names();
        for (&device, name) in self.program.devices.iter().zip(&names) {
            let path = self.program.path_of(device);
            let asked = entry.is_none_or(|entry| named(entry, name, &path));
            match (asked, self.program.is_generic(device)) {
                (true, true) => {
                    self.generic(&Instance { name: name.clone(), device, generics: HashMap::new() }, entry);
                }
                (true, false) => {
                    self.kernel(&Instance { name: name.clone(), device, generics: HashMap::new() });
                }
                (false, _) => {}
            }
        }
        for &host in &self.program.hosts {
            let name = self.program.fn_name(host);
            let asked = entry.map(|entry| entry == name);
            let unasked = |own: &Self| own.evaluator().is_host_program(host);
            if !names.contains(&name) && asked.unwrap_or_else(|| unasked(self)) {
                self.host(host, name, asked.is_some());
            }
        }
    }

    /// Errors in parts of the input that the entry, or the named files of a crate, do not use become notes.
    fn settle(&mut self, entry: Option<&str>) {
        let kernels = &self.imported.kernels;
        if kernels.is_empty() {
            return;
        }
        self.imported.names_entry = entry.is_some();
        let by_entry = entry.is_some() && kernels.iter().all(|kernel| kernel.text.is_ok());
        let all = std::mem::take(&mut self.imported.errors);
        let is_unused = |error: &Error| by_entry || self.program.is_elsewhere(error);
        let (unused, errors): (Vec<_>, Vec<_>) = all.into_iter().partition(is_unused);
        self.imported.errors = errors;
        let user = if by_entry { "the entry does" } else { "the kernels of this file do" };
        self.imported.left_out.extend(
            unused
                .into_iter()
                .map(|error| Error { message: format!("{user} not use this: {}", error.message), ..error }),
        );
    }

    fn evaluator(&self) -> Evaluator<'_> {
        let (sizes, axis_names) = self.sizes;
        Evaluator::new(self.ctx, self.program, sizes.to_vec(), axis_names)
    }

    /// Imports the instances of a generic kernel that the entry names, or that host programs launch.
    fn generic(&mut self, kernel: &Instance, entry: Option<&str>) {
        if let Some(path) = entry.filter(|entry| entry.contains('<')).map(syn::parse_str::<syn::ExprPath>) {
            let chosen = path.map_err(|why| Error::anywhere(format!("the entry is no path of Rust: {why}")));
            match chosen.and_then(|path| self.chosen(kernel, &path)) {
                Ok(instance) => {
                    self.kernel(&instance);
                }
                Err(error) => self.imported.errors.push(error),
            }
            return;
        }
        let mut launched = Vec::new();
        for &host in &self.program.hosts {
            let host = Instance { name: self.program.fn_name(host), device: host, generics: HashMap::new() };
            // An error is one of the host program: a launch before it has chosen.
            let _ = kernel::kernel(self.ctx, self.program, &host, self.sizes, &mut launched);
        }
        launched.retain(|own| own.device == kernel.device);
        if launched.is_empty() {
            self.kernel(kernel);
        }
        for instance in launched {
            self.kernel(&instance);
        }
    }

    /// The instance of a kernel that a path chooses.
    fn chosen(&self, kernel: &Instance, path: &syn::ExprPath) -> Result<Instance, Error> {
        let mut eval = self.evaluator();
        let mut frame = eval.frame_of(kernel.device);
        let found = eval.named_instance(&mut frame, kernel.device, path);
        let generics = found.map_err(|stop| match stop {
            Stop::Error(error) | Stop::NeedsNumber(error) => error,
            Stop::Return(_) | Stop::Break(..) | Stop::Continue(_) => {
                Error::anywhere("the entry is no choice of parameters")
            }
        })?;
        let item = &self.program.functions[kernel.device.0].item.source;
        let suffix = eval.instance_suffix(item, &generics);
        let name = format!("{}{}", kernel.name, suffix.unwrap_or_default());
        Ok(Instance { name, generics, ..kernel.clone() })
    }

    /// Imports a kernel; whether it could be.
    fn kernel(&mut self, instance: &Instance) -> bool {
        let name = &instance.name;
        if let Some(known) = self.imported.kernels.iter().find(|kernel| kernel.name == *name) {
            return known.text.is_ok();
        }
        let found = kernel::kernel(self.ctx, self.program, instance, self.sizes, &mut Vec::new());
        let found = found.and_then(|written| {
            match written.axes.iter().find_map(|axis| self.unsized_axes.get(axis)) {
                Some(error) => Err(error.clone()),
                None => Ok(written),
            }
        });
        let mut places = Vec::new();
        let text = found.map(|written| {
            self.tables.extend(written.tables);
            self.blocks.extend(written.blocks);
            self.dropped.extend(written.dropped);
            self.imported.remarks.extend(written.remarks);
            places = written.places;
            written.text
        });
        let read = text.is_ok();
        self.imported.kernels.push(Kernel { name: name.clone(), text, places });
        read
    }

    /// Imports a function that launches kernels, and these. One that was not requested is left out if it cannot be
    /// imported.
    fn host(&mut self, host: FnId, name: String, asked: bool) {
        let own = Instance { name: name.clone(), device: host, generics: HashMap::new() };
        let mut launched = Vec::new();
        let found = kernel::kernel(self.ctx, self.program, &own, self.sizes, &mut launched);
        let places = found.as_ref().map_or_else(|_| Vec::new(), |written| written.places.clone());
        let text = found.and_then(|written| match launched.iter().find(|own| !self.kernel(own)) {
            None => {
                self.imported.remarks.extend(written.remarks);
                Ok(written.text)
            }
            Some(kernel) => {
                let own = &self.program.functions[host.0];
                let place = self.program.place(own.module, own.item.source.sig.span());
                Err(Error::new(place, format!("`{name}` launches `{}`, which cannot be read", kernel.name)))
            }
        });
        match text {
            Err(error) if !asked => self
                .imported
                .left_out
                .push(Error { message: format!("a host program is left out: {}", error.message), ..error }),
            text => self.imported.kernels.push(Kernel { name, text, places }),
        }
    }
}

/// A note that addresses are dropped.
fn about_dropped(dropped: &BTreeSet<SourcePosition>) -> Option<Error> {
    let place = dropped.first()?.clone();
    let given = visa_words::counted(dropped.len(), "address");
    let message = format!("the input has {given}, which the import drops: `--allocate` chooses others");
    Some(Error::new(place, message).fix("`--addresses=keep` keeps them"))
}

/// Returns true if an entry names a kernel by its name in the text, or by a path of modules, alone or with the choice
/// of its parameters.
fn named(entry: &str, name: &str, path: &[String]) -> bool {
    let plain = entry.split_once("::<").map_or(entry, |(before, _)| before);
    let parts: Vec<&str> = plain.split("::").collect();
    plain == name
        || parts.len() > 1 && path.ends_with(&parts.iter().map(|&own| own.to_owned()).collect::<Vec<_>>())
}

/// The error for a file without kernels, or without the entry.
fn nothing_found(program: &Program, entry: Option<&str>) -> Error {
    let Some(entry) = entry else { return Error::anywhere("no function is marked `#[device]`") };
    let names = program.kernel_names();
    let error = Error::anywhere(format!("there is no kernel `{entry}`"));
    let alike = program.devices.iter().filter(|&&device| program.fn_name(device) == entry);
    let paths: Vec<String> =
        alike.map(|&device| format!("`--entry {}`", shortest(&program.path_of(device)))).collect();
    if paths.len() > 1 {
        let message = format!("{} kernels are called `{entry}`", paths.len());
        return Error::anywhere(message).fix(format!("name one by its path: {}", paths.join(", ")));
    }
    let hosts = program.hosts.iter().map(|&host| program.fn_name(host));
    let names: Vec<String> = names.into_iter().chain(hosts).collect();
    match visa_words::nearest(entry, names.iter().map(String::as_str)) {
        Some(near) => error.fix(format!("did you mean `{near}`?")),
        None => error,
    }
}

/// The path of a kernel in a module, without the crate.
fn shortest(path: &[String]) -> String {
    path[usize::from(path.len() > 2)..].join("::")
}

/// The sizes of all axes, and the errors in some of them.
fn sizes(ctx: &Context, program: &Program) -> (Vec<u64>, BTreeMap<AxisId, Error>) {
    let mut sizes = Vec::new();
    let mut errors = BTreeMap::new();
    for (at, axis) in program.axes.iter().enumerate() {
        let mut eval = Evaluator::new(ctx, program, sizes.clone(), &[]);
        let mut frame = eval.frame(axis.module);
        frame.unread = Rc::clone(&axis.size.unread);
        let found = axis.size.tree.clone().map_err(Stop::from);
        let found = found.and_then(|size| eval.expr(&mut frame, &size, &Want::default()));
        let error = match found.map(|size| deref(size).integer()) {
            Ok(Some(size)) if (1..=1 << 62).contains(&size) => {
                sizes.push(size as u64);
                continue;
            }
            Ok(_) => Some(Error::new(
                axis.place.clone(),
                format!("the size of `{}` is no positive integer", axis.name),
            )),
            Err(Stop::Error(error) | Stop::NeedsNumber(error)) => Some(error),
            Err(Stop::Return(_) | Stop::Break(..) | Stop::Continue(_)) => None,
        };
        errors.extend(error.map(|error| (AxisId(at), error)));
        sizes.push(1);
    }
    (sizes, errors)
}

/// The name of each axis in the text: the author's, if the text has it; axes of one name and one size share it.
fn axis_names(program: &Program, sizes: &[u64]) -> Vec<String> {
    let mut known: BTreeMap<String, (&str, u64)> = BTreeMap::new();
    let mut names = Vec::new();
    for (axis, &size) in program.axes.iter().zip(sizes) {
        let wanted = emit::written_axis(&axis.name);
        let mut name = wanted.clone();
        let mut number = 1;
        while known.get(&name).is_some_and(|&other| other != (axis.name.as_str(), size)) {
            number += 1;
            name = format!("{wanted}_{number}");
        }
        known.insert(name.clone(), (&axis.name, size));
        names.push(name);
    }
    names
}

/// The declaration of the axes that some kernel mentions.
fn declared(
    names: &[String],
    sizes: &[u64],
    blocks: &BTreeMap<String, u64>,
    imported: &Imported,
) -> AxisSizes {
    let mut own: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
    let texts: Vec<&String> =
        imported.kernels.iter().filter_map(|kernel| kernel.text.as_ref().ok()).collect();
    let rows: Vec<String> = names.iter().map(|name| indexed::rows_of(name)).collect();
    let all = names.iter().zip(sizes).chain(rows.iter().zip(sizes)).chain(blocks);
    for (at, (name, &size)) in all.enumerate() {
        if texts.iter().any(|text| mentions(text, name)) {
            own.entry(name).or_insert((at, size));
        }
    }
    let mut all: Vec<(usize, &str, u64)> =
        own.into_iter().map(|(name, (at, size))| (at, name, size)).collect();
    all.sort_unstable();
    AxisSizes(all.into_iter().map(|(_, name, size)| (name.to_owned(), AxisSize::Size(size))).collect())
}

fn mentions(text: &str, name: &str) -> bool {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).any(|word| word == name)
}
