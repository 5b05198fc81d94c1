//! The operations of a kernel while it is read, and the names of their values.

use crate::error::SourcePosition;
use std::collections::HashMap;
use std::rc::Rc;
use visa_algebra::Expr;
use visa_ir::build::NewOp;
use visa_ir::context::{Attr, Context};
use visa_ir::location::{LocId, Location};
use visa_ir::module::{BlockId, Module, OpId, OpSpec, TypeId, ValueId};
use visa_ir::open;
use visa_ir::print::{Form, print_op_given};
use visa_ir::span::Span;
use visa_machine::Unit;
use visa_mapping::ops::func::Func;
use visa_mapping::tensor::attrs::MAP;
use visa_stream::ops::begin::{Begin, CONTEXT};

/// Starts an operation of a view: `new!(ctx, Collect, [stream])`.
macro_rules! new {
    ($ctx:expr, $($view:ident)::+ $(, $operands:expr)?) => {
        $($view)::+::build_at($ctx, visa_ir::span::Span::default() $(, $operands)?)
    };
}
pub(crate) use new;

/// Sets the address of an operation, which `None` leaves open.
macro_rules! at {
    ($new:expr, $address:expr) => {
        match $address {
            Some(address) => $new.at(address),
            None => $new.at_auto(),
        }
    };
}
pub(crate) use at;

/// Sets a required clause if its value is known: the verifier reports missing ones.
pub(crate) fn with<B, V>(new: B, value: Option<V>, set: impl FnOnce(B, V) -> B) -> B {
    match value {
        Some(value) => set(new, value),
        None => new,
    }
}

/// The body of a kernel. The types of results are those that the parser of the printed text infers.
#[derive(Clone, Default)]
pub(crate) struct Emitter {
    module: Module,
    /// The operations whose bodies are being written, and these bodies, the innermost last.
    bodies: Vec<(OpId, BlockId)>,
    /// The values by their names.
    values: HashMap<String, ValueId>,
    /// The place of each operation in the input. That of an operation with a body is known at its end.
    places: HashMap<OpId, SourcePosition>,
    /// Number of requests for each name.
    names: HashMap<String, usize>,
    /// The number of the next generated name.
    next: usize,
    /// Operations that do something. Those that make a number of others do not.
    acts: usize,
}

impl Emitter {
    /// A name that nothing else has: as the author has it, if it can be.
    pub(crate) fn name(&mut self, wanted: Option<&str>) -> String {
        let Some(wanted) = wanted.filter(|wanted| !wanted.is_empty()) else {
            self.next += 1;
            return format!("%{}", self.next - 1);
        };
        let wanted = written(wanted);
        let mut free = wanted.clone();
        loop {
            let count = self.names.entry(free.clone()).or_default();
            *count += 1;
            if *count == 1 {
                return format!("%{free}");
            }
            let number = *count;
            free = format!("{wanted}_{number}");
        }
    }

    /// Begins the function, whose head is known at its end.
    pub(crate) fn begin(&mut self, ctx: &Context) {
        let func = self.module.append(self.module.body(), new!(ctx, Func).spec());
        let body = self.module.add_region(func);
        self.bodies.push((func, body));
    }

    /// The value with this name.
    pub(crate) fn value(&self, name: &str) -> ValueId {
        self.values[name]
    }

    /// Adds an argument to the body that is being written.
    pub(crate) fn argument(&mut self, name: &str, ty: TypeId) {
        let (_, body) = self.body();
        let value = self.module.add_arg(body, ty, Some(unmarked(name)), Span::default());
        self.values.insert(name.to_owned(), value);
    }

    /// Changes the type of an argument.
    pub(crate) fn set_type(&mut self, name: &str, ty: TypeId) {
        self.module.set_type(self.value(name), ty);
    }

    /// Writes an operation with results of these names and types, and its place in the input.
    pub(crate) fn typed(
        &mut self,
        ctx: &Context,
        new: NewOp<'_>,
        results: &[(String, TypeId)],
        place: &SourcePosition,
    ) {
        let op = self.append(ctx, new.spec(), results);
        self.set_place(ctx, op, place);
    }

    /// Writes an operation with results of these names, and its place in the input.
    pub(crate) fn write(
        &mut self,
        ctx: &Context,
        new: NewOp<'_>,
        results: &[String],
        place: &SourcePosition,
    ) {
        self.typed(ctx, new, &untyped(ctx, results), place);
    }

    /// Writes an operation that makes a number of others.
    pub(crate) fn number(&mut self, ctx: &Context, new: NewOp<'_>, result: &str, place: &SourcePosition) {
        self.write(ctx, new, &[result.to_owned()], place);
        self.acts -= 1;
    }

    /// The operations so far that do something.
    pub(crate) fn acts(&self) -> usize {
        self.acts
    }

    /// Moves a pipeline, which begins with the value of this name, into another context. One whose tensors are
    /// interleaved stays.
    pub(crate) fn set_context(&mut self, ctx: &Context, name: &str, unit: Unit) {
        let begin = self.module.def_op(self.value(name));
        let begin = begin.filter(|&op| Begin::cast(self.module.op(ctx, op)).is_some());
        if let Some(begin) = begin {
            self.module.set_clause(begin, CONTEXT, Some(ctx.attr(Attr::Str(unit.word().into()))));
        }
    }

    /// Changes a mapping of the operation with this result.
    pub(crate) fn set_mapping(&mut self, ctx: &Context, name: &str, clause: &str, map: Expr) {
        if let Some(op) = self.module.def_op(self.value(name)) {
            self.module.set_clause(op, clause, Some(ctx.body_attr(&MAP, map)));
        }
    }

    /// Begins the body of an operation with results of these names.
    pub(crate) fn open(&mut self, ctx: &Context, new: NewOp<'_>, results: &[String]) {
        let op = self.append(ctx, new.spec(), &untyped(ctx, results));
        let body = self.module.add_region(op);
        self.bodies.push((op, body));
    }

    /// Ends a body.
    pub(crate) fn close(&mut self, ctx: &Context, place: &SourcePosition) {
        let (op, _) = self.body();
        self.set_place(ctx, op, place);
        self.bodies.pop();
    }

    /// Ends the function: its text, and the place of each line of it in the input.
    pub(crate) fn end(
        &mut self,
        ctx: &Context,
        head: OpSpec,
        place: &SourcePosition,
    ) -> (String, Vec<Option<SourcePosition>>) {
        let (body, _) = self.body();
        let func = self.module.append(self.module.body(), head);
        self.module.move_regions(body, func);
        self.module.erase(body);
        self.set_place(ctx, func, place);
        let mut places = Vec::new();
        self.lines(ctx, func, &mut places);
        (print_op_given(ctx, &self.module, func, Form::Pretty), places)
    }

    /// The place of each line of an operation: a body has a line before it and one after it.
    fn lines(&self, ctx: &Context, op: OpId, places: &mut Vec<Option<SourcePosition>>) {
        let place = self.places.get(&op).cloned();
        places.push(place.clone());
        let regions = self.module.op(ctx, op).regions();
        for &body in regions {
            self.module.ops(body).iter().for_each(|&inner| self.lines(ctx, inner, places));
            places.push(place.clone());
        }
    }

    fn body(&self) -> (OpId, BlockId) {
        *self.bodies.last().expect("the function has begun")
    }

    fn append(&mut self, ctx: &Context, spec: OpSpec, results: &[(String, TypeId)]) -> OpId {
        let spec = results.iter().fold(spec, |spec, (name, ty)| spec.result(*ty, Some(unmarked(name))));
        let (_, body) = self.body();
        let op = self.module.append(body, spec);
        let values = self.module.op(ctx, op).results();
        self.values.extend(results.iter().zip(values).map(|((name, _), &value)| (name.clone(), value)));
        self.acts += 1;
        op
    }

    fn set_place(&mut self, ctx: &Context, op: OpId, place: &SourcePosition) {
        self.module.set_location(op, place.location(ctx));
        self.places.insert(op, place.clone());
    }
}

/// Results whose types follow from their operation.
fn untyped(ctx: &Context, names: &[String]) -> Vec<(String, TypeId)> {
    names.iter().map(|name| (name.clone(), open::unknown(ctx))).collect()
}

/// A name of a value without its `%`.
fn unmarked(name: &str) -> Rc<str> {
    name.trim_start_matches('%').into()
}

impl SourcePosition {
    /// The place as a location of an operation.
    fn location(&self, ctx: &Context) -> LocId {
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let start = (number(self.line), number(self.column));
        ctx.location(Location::File { file: self.file.clone(), start, end: start })
    }
}

/// A name of Rust as one of the text, which has letters of ASCII alone.
pub(crate) fn written(name: &str) -> String {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '_' };
    crate::marks::plain(name).chars().map(letter).collect()
}

/// The name of an axis: it begins with a capital letter.
pub(crate) fn written_axis(name: &str) -> String {
    let name = written(name);
    let mut letters = name.chars();
    match letters.next() {
        Some(first) if first.is_ascii_alphabetic() => {
            format!("{}{}", first.to_ascii_uppercase(), letters.as_str())
        }
        Some(_) | None => format!("A{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_text() {
        assert_eq!(written("gr\u{f6}\u{df}e"), "gr__e");
        assert_eq!(written("r#type"), "type");
        assert_eq!(written_axis("x"), "X");
        assert_eq!(written_axis("_1"), "A_1");
        assert_eq!(written_axis("\u{c4}b"), "A_b");
        let mut out = Emitter::default();
        assert_eq!(out.name(Some("\u{e4}")), "%_");
        assert_eq!(out.name(Some("\u{f6}")), "%__2");
    }
}
