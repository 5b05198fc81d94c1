//! Writes the operations of a kernel at the memory level. The types of results follow from the operations.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use visa_algebra::Expr;
use visa_ir::build::NewOp;
use visa_ir::context::Context;
use visa_ir::decl::OpDecl;
use visa_ir::decl::make_type;
use visa_ir::diag::Diagnostic;
use visa_ir::infer::result_types;
use visa_ir::module::{BlockId, Module, OpId, OpRef, OpSpec, TypeId, ValueId};
use visa_ir::open::unknown;
use visa_ir::span::Span;
use visa_machine::Unit;
use visa_mapping::index::{INDEX, Index};
use visa_mapping::ops::func::Func;
use visa_mapping::ops::view::TILE;
use visa_stream::ops::begin::Begin;
use visa_stream::ops::collect::Collect;
use visa_stream::ops::contract::{ACCUMULATE_DECL, ALIGN_DECL, CONTRACT_DECL};
use visa_stream::ops::fetch::Fetch;
use visa_stream::ops::{begin, cast, collect, fetch, switch, transpose, vector_inter};

/// Starts an operation of a view: `new!(writer, Collect, [stream])`.
macro_rules! new {
    ($writer:expr, $($view:ident)::+ $(, $operands:expr)?) => {
        $($view)::+::build_at($writer.ctx, $writer.span() $(, $operands)?)
    };
}
pub(crate) use new;

/// The content of the stages of a pipeline, for the names of their results.
static STAGES: [(&OpDecl, &str); 11] = [
    (&TILE, "tile"),
    (&begin::DECL, "stream"),
    (&fetch::DECL, "packets"),
    (&switch::DECL, "shared"),
    (&collect::DECL, "flits"),
    (&ALIGN_DECL, "aligned"),
    (&CONTRACT_DECL, "products"),
    (&ACCUMULATE_DECL, "sums"),
    (&vector_inter::DECL, "added"),
    (&cast::DECL, "cast"),
    (&transpose::DECL, "transposed"),
];

/// A module while it is written.
pub struct Writer<'c> {
    /// The context.
    pub ctx: &'c Context,
    /// The module.
    pub module: Module,
    /// The block that operations are appended to.
    block: BlockId,
    /// The operation for which operations are written.
    origin: Cell<Span>,
    /// Number of spans within each operation that have been used.
    spans: RefCell<HashMap<Span, u32>>,
    /// The comment of the next operation.
    comment: String,
}

impl<'c> Writer<'c> {
    /// Writes to the end of `module`.
    #[must_use]
    pub fn new(ctx: &'c Context, module: Module) -> Self {
        let block = module.body();
        let origin = Cell::new(Span { start: 0, end: 256 });
        Self { ctx, module, block, origin, spans: RefCell::default(), comment: String::new() }
    }

    /// Writes for the operation at `span` from now on.
    pub fn write_for(&self, span: Span) {
        self.origin.set(span);
    }

    /// A span within the operation for which operations are written, different from those before: reports and
    /// schedules tell commands apart by their spans.
    pub fn span(&self) -> Span {
        let origin = self.origin.get();
        let mut spans = self.spans.borrow_mut();
        let count = spans.entry(origin).or_default();
        let number = *count;
        *count += 1;
        let length = origin.end.saturating_sub(origin.start).max(1);
        let (from, cut) = (number / length, number % length);
        Span { start: origin.start + from, end: (origin.end + from).saturating_sub(cut) }
    }

    /// Gives the next operation a comment: a line after those that it already has.
    pub fn comment(&mut self, text: &str) {
        self.comment.push_str(text);
        self.comment.push('\n');
    }

    /// Begins a part of the kernel: a comment, after an empty line unless the part begins its block.
    pub fn part(&mut self, text: &str) {
        if self.comment.is_empty() && !self.module.ops(self.block).is_empty() {
            self.comment.push('\n');
        }
        self.comment(text);
    }

    fn append(&mut self, spec: OpSpec) -> OpId {
        let id = self.module.append(self.block, spec);
        if !self.comment.is_empty() {
            self.module.set_comment(id, &std::mem::take(&mut self.comment));
        }
        id
    }

    /// Appends an operation without results.
    pub fn end(&mut self, op: impl Into<NewOp<'c>>) -> OpId {
        self.append(op.into().spec())
    }

    /// Appends an operation, and returns its result, called `name`.
    ///
    /// # Errors
    /// The operation has no result type: its clauses do not fit its operands.
    pub fn value(&mut self, op: impl Into<NewOp<'c>>, name: &str) -> Result<ValueId, Diagnostic> {
        let spec = op.into().result(unknown(self.ctx), Some(name.into())).spec();
        let id = self.append(spec);
        self.name_stage(id, name);
        let written = self.module.op(self.ctx, id);
        let value = written.results()[0];
        if let Some((decl, infer)) = written.decl().and_then(|decl| Some((decl, decl.infer?))) {
            let types = result_types(written, decl, infer)?;
            self.module.set_type(value, types[0]);
        }
        Ok(value)
    }

    /// The result of an operation of the block so far, declared by `decl`, whose first operand is `operand`; `None` if
    /// there is none.
    #[must_use]
    pub fn earlier(&self, decl: &'static OpDecl, operand: ValueId) -> Option<ValueId> {
        let ops = self.module.ops(self.block).iter().map(|&id| self.module.op(self.ctx, id));
        let mut found = ops.filter(|op| op.is(decl) && op.operands().first() == Some(&operand));
        found.find_map(|op| op.results().first().copied())
    }

    /// Appends an operation with the name and the clauses of `op`, and other operands and results. Returns these.
    pub fn copy(
        &mut self,
        op: OpRef<'_>,
        operands: Vec<ValueId>,
        results: &[(TypeId, &str)],
    ) -> Vec<ValueId> {
        let spec = NewOp::copied(op).spec().spanned(self.span()).operands(operands);
        let spec = results.iter().fold(spec, |spec, &(ty, name)| spec.result(ty, Some(name.into())));
        let id = self.append(spec);
        self.module.op(self.ctx, id).results().to_vec()
    }

    /// Renames the result of a stage of a pipeline: the name of its tensor, and the content of the stage.
    fn name_stage(&mut self, id: OpId, name: &str) {
        let op = self.module.op(self.ctx, id);
        let Some((_, content)) = STAGES.iter().find(|(decl, _)| op.is(decl)) else { return };
        let value = op.results()[0];
        self.module.set_value_name(value, Some(format!("{name}_{content}").into()));
    }

    /// Appends a loop that carries the values `initial`, called `names` after it, and in its body, whose index is
    /// `index`. `body` writes it and its end. Returns the results.
    ///
    /// # Errors
    /// Those of the body.
    pub fn repeat(
        &mut self,
        op: impl Into<NewOp<'c>>,
        index: &str,
        initial: &[ValueId],
        names: &[&str],
        body: impl FnOnce(&mut Self, ValueId, &[ValueId]) -> Result<(), Diagnostic>,
    ) -> Result<Vec<ValueId>, Diagnostic> {
        let carried = initial.iter().zip(names).map(|(&value, &name)| (self.module.ty(value), name));
        let carried: Vec<(TypeId, &str)> = carried.collect();
        let op = carried.iter().fold(op.into(), |op, &(ty, name)| op.result(ty, Some(name.into())));
        let id = self.append(op.spec());
        let block = self.module.add_region(id);
        let index = self.argument(block, make_type(self.ctx, &INDEX, Index), index);
        let values: Vec<ValueId> = carried.iter().map(|&(ty, name)| self.argument(block, ty, name)).collect();
        let outer = std::mem::replace(&mut self.block, block);
        let written = body(self, index, &values);
        self.block = outer;
        written?;
        Ok(self.module.op(self.ctx, id).results().to_vec())
    }

    /// Begins a pipeline of the main context with a tensor, and fetches it in these time steps and packets.
    ///
    /// # Errors
    /// Mappings that do not fit the tensor.
    pub fn fetch(
        &mut self,
        tensor: ValueId,
        [time, packet]: [Expr; 2],
        name: &str,
    ) -> Result<ValueId, Diagnostic> {
        let begin = self.value(new!(self, Begin, [tensor]).context(Unit::Main), name)?;
        self.value(new!(self, Fetch, [begin]).time(time).packet(packet), name)
    }

    /// Collects packets into flits.
    ///
    /// # Errors
    /// Mappings that do not fit the packets.
    pub fn collect(
        &mut self,
        stream: ValueId,
        [time, packet]: [Expr; 2],
        name: &str,
    ) -> Result<ValueId, Diagnostic> {
        self.value(new!(self, Collect, [stream]).time(time).packet(packet), name)
    }

    /// Adds an argument to a block. Values without a name have the same one, and a program takes each name once.
    pub fn argument(&mut self, block: BlockId, ty: TypeId, name: &str) -> ValueId {
        let arguments = self.module.args(block);
        let is_taken = |name: &str| {
            arguments.iter().any(|&known| self.module.value_name(known).map(|known| &**known) == Some(name))
        };
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        let name = names.find(|name| !is_taken(name)).map(Into::into);
        self.module.add_arg(block, ty, name, self.span())
    }

    /// Appends a function whose addresses are open, and continues in its body.
    pub fn function(&mut self, name: &str) -> BlockId {
        let func = self.end(new!(self, Func).name(name).at_auto());
        let body = self.module.add_region(func);
        self.continue_in(body);
        body
    }

    /// Continues at the end of `block`.
    pub fn continue_in(&mut self, block: BlockId) {
        self.block = block;
    }
}
