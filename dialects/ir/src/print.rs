//! IR to text, in the pretty and in the generic form. Parsing the printed text gives the same module.

use crate::context::{Attr, Context, is_pretty_symbol, key, quote, symbol};
use crate::decl::{ClauseKind, OpDecl, Trait};
use crate::location::{LocId, Location};
use crate::module::{BlockId, Module, OpId, OpRef, ValueId};
use crate::open;
use crate::span::{Source, Span};
use rustc_hash::FxBuildHasher as Fast;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::rc::Rc;

/// A textual form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The one that people write.
    Pretty,
    /// MLIR's generic form.
    Generic,
}

/// The module as text.
#[must_use]
pub fn print(ctx: &Context, module: &Module, form: Form) -> String {
    printed(Printer::new(ctx, module, form))
}

/// The module as text, with the location of each operation and argument. `source` is the text that the module was
/// read from.
#[must_use]
pub fn print_located(ctx: &Context, module: &Module, form: Form, source: &Source) -> String {
    printed(Printer { locations: Locations::All(source), ..Printer::new(ctx, module, form) })
}

fn printed(mut printer: Printer<'_>) -> String {
    let Printer { ctx, module, form, .. } = printer;
    printer.comments = module.comments().clone();
    let location = |ctx: &Context| module.location.unwrap_or_else(|| ctx.location(Location::Unknown));
    match form {
        Form::Pretty if module.extra.is_empty() => {
            let _ = write!(printer.out, "visa {}", module.version);
            printer.location(module.location, location);
            printer.out.push('\n');
            printer.block(module.body(), 0);
        }
        // The pretty form has no place for a module's attributes: around it is the generic module.
        Form::Pretty | Form::Generic => {
            printer.out.push_str("\"builtin.module\"() ({\n");
            if module.ops(module.body()).is_empty() {
                // Without it, MLIR reads a region without a block, which a module may not have.
                printer.out.push_str("^bb0:\n");
            }
            printer.block(module.body(), 1);
            let _ = write!(printer.out, "}}) {{{} = {} : i64", crate::parse::VERSION_ATTR, module.version);
            for extra in &module.extra {
                let _ =
                    write!(printer.out, ", {} = {}", key(&extra.name), ctx.attr_data(extra.value).generic());
            }
            printer.out.push_str("} : () -> ()");
            printer.location(module.location, location);
            printer.out.push('\n');
        }
    }
    printer.out
}

/// One operation and everything below it, as text.
#[must_use]
pub fn print_op(ctx: &Context, module: &Module, op: OpId, form: Form) -> String {
    let mut printer = Printer::new(ctx, module, form);
    printer.op(op, 0);
    printer.out
}

/// The same with the locations that the operations were given. Where they are written is omitted.
#[must_use]
pub fn print_op_given(ctx: &Context, module: &Module, op: OpId, form: Form) -> String {
    let mut printer = Printer { locations: Locations::Given, ..Printer::new(ctx, module, form) };
    printer.op(op, 0);
    printer.out
}

/// The locations that are printed.
#[derive(Clone, Copy)]
enum Locations<'a> {
    /// None.
    Omitted,
    /// Those that operations were given.
    Given,
    /// All of a module that was read from this text.
    All(&'a Source),
}

struct Printer<'a> {
    ctx: &'a Context,
    module: &'a Module,
    form: Form,
    locations: Locations<'a>,
    names: HashMap<ValueId, String, Fast>,
    /// Comments that are not printed yet.
    comments: BTreeMap<Span, Rc<str>>,
    out: String,
}

impl<'a> Printer<'a> {
    fn new(ctx: &'a Context, module: &'a Module, form: Form) -> Self {
        let (locations, names) = (Locations::Omitted, name_values(ctx, module));
        Self { ctx, module, form, locations, names, comments: BTreeMap::new(), out: String::new() }
    }

    fn block(&mut self, block: BlockId, depth: usize) {
        for &op in self.module.ops(block) {
            self.op(op, depth);
        }
    }

    fn indent(&mut self, depth: usize) {
        self.out.extend(std::iter::repeat_n("  ", depth));
    }

    fn value(&mut self, value: ValueId) {
        self.out.push('%');
        match self.names.get(&value) {
            Some(name) => self.out.push_str(name),
            None => self.out.push('?'),
        }
    }

    fn values(&mut self, values: &[ValueId]) {
        for (index, &value) in values.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            self.value(value);
        }
    }

    fn op(&mut self, id: OpId, depth: usize) {
        let op = self.module.op(self.ctx, id);
        self.comment(op.span(), depth);
        self.indent(depth);
        if !op.results().is_empty() {
            self.values(op.results());
            self.out.push_str(" = ");
        }
        match (self.form, op.decl()) {
            // Nor has it one for attributes that no clause declares, and for marks of values that are no arguments.
            (Form::Pretty, Some(decl)) if op.data().extra.is_empty() && has_marks(op, decl) => {
                self.pretty(op, decl, depth);
            }
            (Form::Pretty | Form::Generic, _) => self.generic(op, depth),
        }
        self.location(op.given_location(), |_| op.location());
        self.out.push('\n');
    }

    /// Writes the comment of the operations at `span` before the first of them. An empty line sets it off.
    fn comment(&mut self, span: Span, depth: usize) {
        for line in self.comments.remove(&span).iter().flat_map(|text| text.lines()) {
            if !line.is_empty() {
                self.indent(depth);
                let _ = write!(self.out, "// {line}");
            }
            self.out.push('\n');
        }
    }

    /// Adds a location, if locations are printed: the given one, or the one that `location` finds.
    fn location(&mut self, given: Option<LocId>, location: impl FnOnce(&Context) -> LocId) {
        let text = match (self.locations, given) {
            (Locations::Omitted, _) | (Locations::Given, None) => return,
            (Locations::Given, Some(given)) => self.ctx.location_text(&Source::new("", ""), given),
            (Locations::All(source), _) => self.ctx.location_text(source, location(self.ctx)),
        };
        let _ = write!(self.out, " loc({text})");
    }

    /// An argument of a block, with its marks and its type.
    fn argument(&mut self, value: ValueId, marks: &[&str]) {
        self.value(value);
        self.out.push_str(": ");
        marks.iter().for_each(|mark| self.out.extend([mark, " "]));
        self.out.push_str(&self.ctx.type_text(self.module.ty(value)));
        self.argument_location(value);
    }

    /// An argument whose type is inferred.
    fn untyped_argument(&mut self, value: ValueId) {
        self.value(value);
        self.argument_location(value);
    }

    fn argument_location(&mut self, value: ValueId) {
        let module = self.module;
        self.location(None, |ctx| module.value_location(ctx, value));
    }

    fn pretty(&mut self, op: OpRef<'a>, decl: &'static OpDecl, depth: usize) {
        self.out.push_str(decl.name);
        let lead = decl.lead();
        if let Some((clause, attr)) = lead.and_then(|clause| Some((clause, op.attr(clause.name)?))) {
            self.out.push(' ');
            self.pretty_attr(clause.kind, &attr);
        }
        if decl.has(Trait::Function) {
            self.signature(op);
        }
        if !op.operands().is_empty() {
            self.out.push(' ');
            self.values(op.operands());
        }
        // A lead clause directly before the others is set off by a comma: the parser could not tell them apart.
        let after_lead = op.operands().is_empty() && lead.is_some() && !decl.has(Trait::Function);
        let mut separator = if after_lead { "," } else { "" };
        for clause in decl.clauses.iter().filter(|clause| !clause.lead && !clause.mark) {
            let Some(attr) = op.attr(clause.name) else { continue };
            let _ = write!(self.out, "{separator} {}", clause.name);
            if !matches!(clause.kind, ClauseKind::Flag) {
                self.out.push(' ');
                self.pretty_attr(clause.kind, &attr);
            }
            separator = ",";
        }
        if decl.infer.is_none() && !op.results().is_empty() {
            self.out.push_str(" : ");
            let types: Vec<_> = op.results().iter().map(|&v| self.ctx.type_text(self.module.ty(v))).collect();
            self.out.push_str(&types.join(", "));
        }
        if let Some(&block) = op.regions().first() {
            self.out.push_str(" {\n");
            self.block(block, depth + 1);
            self.indent(depth);
            self.out.push('}');
        }
    }

    fn signature(&mut self, op: OpRef<'a>) {
        self.out.push('(');
        let args = op.regions().first().map_or(&[][..], |&block| self.module.args(block));
        for (index, &arg) in args.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            // Inferred types are not written.
            match op.decl().is_some_and(|decl| decl.arguments.is_some()) {
                true => self.untyped_argument(arg),
                false => self.argument(arg, &marks(op, index)),
            }
        }
        self.out.push(')');
    }

    fn pretty_attr(&mut self, kind: ClauseKind, attr: &Attr) {
        let _ = match attr {
            Attr::Int(value) => write!(self.out, "{value}"),
            Attr::Str(text) if matches!(kind, ClauseKind::Word(_)) => write!(self.out, "{text}"),
            Attr::Ints(values) => write!(self.out, "{values:?}"),
            Attr::Body(_, body) => write!(self.out, "{body}"),
            Attr::Auto => write!(self.out, "{}", open::WORD),
            Attr::OpenInts(values) => {
                let items =
                    values.iter().map(|value| value.map_or(open::WORD.into(), |value| value.to_string()));
                write!(self.out, "[{}]", items.collect::<Vec<_>>().join(", "))
            }
            Attr::Symbol(name) => write!(self.out, "{}", symbol(name, is_pretty_symbol)),
            Attr::Str(_) | Attr::Strs(_) | Attr::Unit | Attr::Opaque(_) => {
                write!(self.out, "{}", attr.generic())
            }
        };
    }

    fn generic(&mut self, op: OpRef<'a>, depth: usize) {
        self.out.push_str(&quote(op.name()));
        self.out.push('(');
        self.values(op.operands());
        self.out.push(')');
        self.properties(op);
        if !op.regions().is_empty() {
            self.out.push_str(" (");
            for (index, &block) in op.regions().iter().enumerate() {
                self.out.push_str(if index > 0 { ", {\n" } else { "{\n" });
                self.label(block, depth);
                self.block(block, depth + 1);
                self.indent(depth);
                self.out.push('}');
            }
            self.out.push(')');
        }
        self.dictionary(
            " {",
            op.data().extra.iter().map(|c| (&*c.name, self.ctx.attr_data(c.value))).collect(),
            "}",
        );
        self.out.push_str(" : ");
        self.type_list(op.operands(), true);
        self.out.push_str(" -> ");
        self.type_list(op.results(), op.results().len() != 1);
    }

    fn properties(&mut self, op: OpRef<'a>) {
        let mut entries: Vec<(&str, Attr)> =
            op.clauses().iter().map(|clause| (&*clause.name, self.ctx.attr_data(clause.value))).collect();
        let block = op.regions().first().filter(|_| op.decl().is_some_and(|decl| decl.has(Trait::Function)));
        if let Some(&block) = block {
            let names = self.module.args(block).iter().map(|value| self.names[value].as_str().into());
            entries.push((crate::parse::ARG_NAMES, Attr::Strs(names.collect::<Vec<_>>().into())));
        }
        self.dictionary(" <{", entries, "}>");
    }

    fn dictionary(&mut self, open: &str, mut entries: Vec<(&str, Attr)>, close: &str) {
        if entries.is_empty() {
            return;
        }
        entries.sort_by(|left, right| left.0.cmp(right.0));
        self.out.push_str(open);
        for (index, (name, attr)) in entries.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            self.out.push_str(&key(name));
            if !matches!(attr, Attr::Unit) {
                let _ = write!(self.out, " = {}", attr.generic());
            }
        }
        self.out.push_str(close);
    }

    fn label(&mut self, block: BlockId, depth: usize) {
        let args = self.module.args(block);
        if args.is_empty() {
            return;
        }
        self.indent(depth);
        self.out.push_str("^bb0(");
        for (index, &arg) in args.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            self.argument(arg, &[]);
        }
        self.out.push_str("):\n");
    }

    fn type_list(&mut self, values: &[ValueId], parentheses: bool) {
        let types: Vec<_> = values.iter().map(|&value| self.ctx.type_text(self.module.ty(value))).collect();
        let list = types.join(", ");
        let _ = if parentheses { write!(self.out, "({list})") } else { write!(self.out, "{list}") };
    }
}

/// The marks of argument `number`.
fn marks(op: OpRef<'_>, number: usize) -> Vec<&'static str> {
    let marks = op.decl().map_or(&[][..], |decl| decl.clauses).iter().filter(|clause| clause.mark);
    let has = |name: &str| matches!(op.attr(name), Some(Attr::Ints(of)) if of.contains(&(number as i64)));
    marks.map(|clause| clause.name).filter(|name| has(name)).collect()
}

/// Returns true if all marks belong to arguments, in order.
fn has_marks(op: OpRef<'_>, decl: &OpDecl) -> bool {
    let arguments = op.regions().first().map_or(0, |&block| op.module.args(block).len());
    decl.clauses.iter().filter(|clause| clause.mark).filter_map(|clause| op.attr(clause.name)).all(|attr| {
        let Attr::Ints(numbers) = attr else { return false };
        let inside = |number: &i64| usize::try_from(*number).is_ok_and(|number| number < arguments);
        !numbers.is_empty() && numbers.iter().all(inside) && numbers.windows(2).all(|pair| pair[0] < pair[1])
    })
}

/// A name for every value: the one it was written with if that is free in its scope, else a number.
fn name_values(ctx: &Context, module: &Module) -> HashMap<ValueId, String, Fast> {
    let mut names = HashMap::default();
    name_block(ctx, module, module.body(), &mut Scope::default(), &mut names);
    names
}

/// The names of a region and those around it.
#[derive(Clone, Default)]
struct Scope {
    taken: HashSet<String, Fast>,
    /// The last number that was given to a value of the same name: names are only added, so lower ones stay taken.
    last: HashMap<Rc<str>, usize, Fast>,
    /// The number of the next value without a name.
    next: usize,
}

impl Scope {
    /// A name that is free, for a value that was written with `name`.
    fn free(&mut self, name: Option<&Rc<str>>) -> String {
        let Some(name) = name else {
            self.next += 1;
            return (self.next - 1).to_string();
        };
        if self.taken.insert(name.to_string()) {
            return name.to_string();
        }
        let last = self.last.entry(Rc::clone(name)).or_default();
        loop {
            *last += 1;
            let numbered = format!("{name}_{last}");
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

fn name_block(
    ctx: &Context,
    module: &Module,
    block: BlockId,
    scope: &mut Scope,
    names: &mut HashMap<ValueId, String, Fast>,
) {
    let mut give = |value: ValueId, scope: &mut Scope| {
        names.insert(value, scope.free(module.value_name(value)));
    };
    for &arg in module.args(block) {
        give(arg, scope);
    }
    let ops: Vec<_> = module.ops(block).iter().map(|&id| module.op(ctx, id)).collect();
    for op in &ops {
        op.results().iter().for_each(|&result| give(result, scope));
    }
    for op in &ops {
        for &region in op.regions() {
            name_block(ctx, module, region, &mut scope.clone(), names);
        }
    }
}
