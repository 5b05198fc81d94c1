//! From files to kernels: sizes and names of axes, then each kernel and each function that launches some.

use crate::emit::new;
use crate::error::Error;
use crate::eval::{Evaluator, Stop, Tables, Want};
use crate::instance::Instance;
use crate::imported::{Imported, Kernel};
use crate::place::deref;
use crate::program::{FnId, Program};
use crate::{emit, kernel, memory, stream};
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
pub fn import(paths: &[PathBuf], entry: Option<&str>) -> Imported {
    let mut program = Program::read(paths);
    let mut imported = Imported {
        errors: std::mem::take(&mut program.errors),
        sources: std::mem::take(&mut program.sources),
        ..Imported::default()
    };
    let ctx = match visa_opt::Registry::standard().context() {
        Ok(ctx) => ctx,
        Err(wrong) => {
            imported.errors.extend(wrong.iter().map(|finding| Error::anywhere(&finding.message)));
            return imported;
        }
    };
    let sizes = match sizes(&ctx, &program) {
        Ok(sizes) => sizes,
        Err(errors) => {
            imported.errors.extend(errors);
            return imported;
        }
    };
    let axis_names = axis_names(&program, &sizes);
    let mut importer = Importer {
        ctx: &ctx,
        program: &program,
        sizes: (&sizes, &axis_names),
        tables: BTreeSet::new(),
        blocks: BTreeMap::new(),
        imported,
    };
    importer.all(entry);
    let Importer { tables, blocks, mut imported, .. } = importer;
    if imported.kernels.is_empty() && imported.errors.is_empty() {
        imported.errors.push(nothing_found(&program, entry));
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
    tables: Tables,
    blocks: BTreeMap<String, u64>,
    imported: Imported,
}

impl Importer<'_> {
    fn all(&mut self, entry: Option<&str>) {
        let names = self.program.kernel_names();
        let mut generic = Vec::new();
        for (&device, name) in self.program.devices.iter().zip(&names) {
            let asked = entry.is_none_or(|entry| named(entry, name));
            match (asked, self.program.is_generic(device)) {
                (true, true) => generic.push(Instance { name: name.clone(), device, generics: HashMap::new() }),
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
        for kernel in generic {
            self.generic(kernel, entry);
        }
    }

    fn evaluator(&self) -> Evaluator<'_> {
        let (sizes, axis_names) = self.sizes;
        Evaluator::new(self.ctx, self.program, sizes.to_vec(), axis_names)
    }

    /// Imports the instances of a generic kernel that the entry names, or that host programs launch.
    fn generic(&mut self, kernel: Instance, entry: Option<&str>) {
        if let Some(path) = entry.filter(|entry| entry.contains('<')).map(syn::parse_str::<syn::ExprPath>) {
            let chosen = path.map_err(|why| Error::anywhere(format!("the entry is no path of Rust: {why}")));
            match chosen.and_then(|path| self.chosen(&kernel, &path)) {
                Ok(instance) => {
                    self.kernel(&instance);
                }
                Err(error) => self.imported.errors.push(error),
            }
            return;
        }
        let mut launched = Vec::new();
        for &host in &self.program.hosts {
            let host =
                Instance { name: self.program.fn_name(host), device: host, generics: HashMap::new() };
            // An error is one of the host program: a launch before it has chosen.
            let _ = kernel::kernel(self.ctx, self.program, &host, self.sizes, &mut launched);
        }
        launched.retain(|own| own.device == kernel.device);
        if launched.is_empty() {
            self.kernel(&kernel);
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
        let mut places = Vec::new();
        let text = found.map(|written| {
            self.tables.extend(written.tables);
            self.blocks.extend(written.blocks);
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
            None => Ok(written.text),
            Some(kernel) => {
                let own = &self.program.functions[host.0];
                let place = self.program.place(own.module, own.item.source.sig.span());
                Err(Error::new(place, format!("`{name}` launches `{}`, which cannot be read", kernel.name)))
            }
        });
        match text {
            Err(error) if !asked => self.imported.left_out.push(error),
            text => self.imported.kernels.push(Kernel { name, text, places }),
        }
    }
}

/// Returns true if an entry names a kernel, alone or with the choice of its parameters.
fn named(entry: &str, name: &str) -> bool {
    entry == name || entry.split_once("::<").is_some_and(|(before, _)| before == name)
}

/// That there is no kernel, or none of the name that is asked for.
fn nothing_found(program: &Program, entry: Option<&str>) -> Error {
    let Some(entry) = entry else { return Error::anywhere("no function is marked `#[device]`") };
    let names = program.kernel_names();
    let hosts = program.hosts.iter().map(|&host| program.fn_name(host));
    let names: Vec<String> = names.into_iter().chain(hosts).collect();
    let error = Error::anywhere(format!("there is no kernel `{entry}`"));
    match visa_words::nearest(entry, names.iter().map(String::as_str)) {
        Some(near) => error.fix(format!("did you mean `{near}`?")),
        None => error,
    }
}

/// The sizes of all axes.
fn sizes(ctx: &Context, program: &Program) -> Result<Vec<u64>, Vec<Error>> {
    let mut sizes = Vec::new();
    let mut errors = Vec::new();
    for axis in &program.axes {
        let mut eval = Evaluator::new(ctx, program, sizes.clone(), &[]);
        let mut frame = eval.frame(axis.module);
        frame.unread = Rc::clone(&axis.size.unread);
        let found = axis.size.tree.clone().map_err(Stop::from);
        let found = found.and_then(|size| eval.expr(&mut frame, &size, &Want::default()));
        let size = match found.map(|size| deref(size).integer()) {
            Ok(Some(size)) if (1..=1 << 62).contains(&size) => size as u64,
            Ok(_) => {
                errors.push(Error::new(
                    axis.place.clone(),
                    format!("the size of `{}` is no positive integer", axis.name),
                ));
                1
            }
            Err(Stop::Error(error) | Stop::NeedsNumber(error)) => {
                errors.push(error);
                1
            }
            Err(Stop::Return(_) | Stop::Break(..) | Stop::Continue(_)) => 1,
        };
        sizes.push(size);
    }
    if errors.is_empty() { Ok(sizes) } else { Err(errors) }
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
    let rows: Vec<String> = names.iter().map(|name| memory::rows_of(name)).collect();
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
