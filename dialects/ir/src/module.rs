//! The IR: operations with operands, results, clauses and regions, in arenas that a [`Module`] owns.

use crate::context::{Attr, Context};
pub use crate::context::{AttrId, TypeId};
use crate::decl::{Body, ClauseDecl, OpDecl, Presence};
use crate::diag::Diagnostic;
use crate::location::{LocId, Location};
use crate::span::Span;
use crate::stamp::Clock;
pub use crate::stamp::Stamp;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::rc::Rc;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub(crate) u32);
        impl $name {
            pub(crate) fn at(self) -> usize {
                self.0 as usize
            }
        }
    };
}
id!(
    /// An operation of a module.
    OpId
);
id!(
    /// An SSA value of a module.
    ValueId
);
id!(
    /// A block of a module.
    BlockId
);

/// Name of an operation.
#[derive(Clone, Debug)]
pub enum OpName {
    /// A declared one.
    Known(&'static OpDecl),
    /// One of an unregistered dialect.
    Unknown(Rc<str>),
}

impl OpName {
    /// A clause's keyword as it is kept on the operation.
    fn clause(&self, name: &str) -> Cow<'static, str> {
        let declared = match self {
            Self::Known(decl) => decl.clauses.iter().find(|clause| clause.name == name),
            Self::Unknown(_) => None,
        };
        declared.map_or_else(|| Cow::Owned(name.to_owned()), |clause| Cow::Borrowed(clause.name))
    }
}

/// A clause as it is on an operation.
#[derive(Clone, Debug)]
pub struct Clause {
    /// The keyword; borrowed from the declaration where there is one.
    pub name: Cow<'static, str>,
    /// The value.
    pub value: AttrId,
    /// Where the value is.
    pub span: Span,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueDef {
    /// Result `.1` of operation `.0`.
    Result(OpId, u32),
    /// Argument `.1` of block `.0`.
    Argument(BlockId, u32),
}

#[derive(Clone, Debug)]
pub(crate) struct OpData {
    pub(crate) name: OpName,
    pub(crate) operands: Vec<ValueId>,
    pub(crate) results: Vec<ValueId>,
    pub(crate) clauses: Vec<Clause>,
    /// Attributes of an operation in the generic form that are not clauses (`{...}` after the regions).
    pub(crate) extra: Vec<Clause>,
    pub(crate) regions: Vec<BlockId>,
    pub(crate) parent: BlockId,
    pub(crate) span: Span,
    /// True if the operation is erased and only its number is in use.
    pub(crate) erased: bool,
    /// Where it comes from, if not from where it is written.
    pub(crate) location: Option<LocId>,
}

#[derive(Clone, Debug)]
pub(crate) struct ValueData {
    pub(crate) ty: TypeId,
    pub(crate) def: ValueDef,
    pub(crate) name: Option<Rc<str>>,
    pub(crate) uses: Vec<OpId>,
    pub(crate) span: Span,
    /// Of an argument: where it comes from, if not from where it is written.
    pub(crate) location: Option<LocId>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct BlockData {
    pub(crate) args: Vec<ValueId>,
    pub(crate) ops: Vec<OpId>,
    pub(crate) parent: Option<OpId>,
    /// Position of the last operation that was looked up.
    last_found: Cell<usize>,
}

/// Everything needed to make an operation.
#[derive(Clone, Debug)]
pub struct OpSpec {
    name: OpName,
    operands: Vec<ValueId>,
    clauses: Vec<Clause>,
    extra: Vec<Clause>,
    result_types: Vec<TypeId>,
    result_names: Vec<Option<Rc<str>>>,
    span: Span,
    location: Option<LocId>,
}

impl OpSpec {
    /// An operation declared by `decl` that comes from `op`: it has its span and its location. A pass creates the
    /// replacement of an operation this way. A replacement of several is also [`fused`](Self::fused).
    #[must_use]
    pub fn at(decl: &'static OpDecl, op: OpRef<'_>) -> Self {
        Self { location: op.data().location, ..Self::new(decl, op.span()) }
    }

    /// An operation declared by `decl` that is written at `span`, and comes from there.
    #[must_use]
    pub fn new(decl: &'static OpDecl, span: Span) -> Self {
        Self::named(OpName::Known(decl), span)
    }

    /// An operation with the name, the clauses, the span and the location of `op`.
    pub(crate) fn copied(op: OpRef<'_>) -> Self {
        let OpData { name, clauses, location, .. } = op.data();
        Self { clauses: clauses.clone(), location: *location, ..Self::named(name.clone(), op.span()) }
    }

    /// An operation of any name.
    #[must_use]
    pub fn named(name: OpName, span: Span) -> Self {
        Self {
            name,
            operands: Vec::new(),
            clauses: Vec::new(),
            extra: Vec::new(),
            result_types: Vec::new(),
            result_names: Vec::new(),
            span,
            location: None,
        }
    }

    /// The same operation without the clauses that have their declared default.
    #[must_use]
    pub fn without_defaults(mut self, ctx: &Context) -> Self {
        let Some(decl) = self.decl() else { return self };
        let is_default = |clause: &Clause| {
            let default = decl.clause(&clause.name).and_then(ClauseDecl::default_value);
            default.is_some_and(|default| default.generic() == ctx.attr_data(clause.value).generic())
        };
        self.clauses.retain(|clause| !is_default(clause));
        self
    }

    /// Makes its location that of all of `ops`, in their order.
    #[must_use]
    pub fn fused<'a>(self, ops: impl IntoIterator<Item = OpRef<'a>>) -> Self {
        let mut ops = ops.into_iter().peekable();
        let Some(ctx) = ops.peek().map(|op| op.ctx) else { return self };
        self.located(ctx.fuse(ops.map(|op| op.location())))
    }

    /// Gives it a location.
    #[must_use]
    pub fn located(self, location: LocId) -> Self {
        Self { location: Some(location), ..self }
    }

    /// Gives its location a name, unless that has one: the name of the operation in reports.
    #[must_use]
    pub fn called(self, ctx: &Context, name: &str) -> Self {
        let location = self.location.unwrap_or_else(|| ctx.location(Location::Written(self.span)));
        self.located(ctx.named(name, location))
    }

    /// With another place in the source.
    #[must_use]
    pub fn spanned(self, span: Span) -> Self {
        Self { span, ..self }
    }

    /// Adds operands.
    #[must_use]
    pub fn operands(mut self, operands: impl IntoIterator<Item = ValueId>) -> Self {
        self.operands.extend(operands);
        self
    }

    /// Sets a clause. One that is new has the operation's span.
    #[must_use]
    pub(crate) fn clause(mut self, name: &str, value: AttrId) -> Self {
        let span = self.span;
        match self.clauses.iter_mut().find(|clause| clause.name == name) {
            Some(clause) => {
                clause.value = value;
                self
            }
            None => self.clause_at(name, value, span),
        }
    }

    /// Adds a clause that is at `span`.
    #[must_use]
    pub(crate) fn clause_at(mut self, name: &str, value: AttrId, span: Span) -> Self {
        self.clauses.push(Clause { name: self.name.clause(name), value, span });
        self
    }

    /// Its declaration, if it has one.
    pub(crate) fn decl(&self) -> Option<&'static OpDecl> {
        match self.name {
            OpName::Known(decl) => Some(decl),
            OpName::Unknown(_) => None,
        }
    }

    /// Returns true if it has a clause.
    #[must_use]
    pub fn has(&self, clause: &ClauseDecl) -> bool {
        self.clauses.iter().any(|set| set.name == clause.name)
    }

    /// The types of its results.
    pub(crate) fn result_types(&self) -> &[TypeId] {
        &self.result_types
    }

    /// Where it is to be.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// Adds a result of type `ty`, called `name` if that is still free when printed.
    #[must_use]
    pub fn result(mut self, ty: TypeId, name: Option<Rc<str>>) -> Self {
        self.result_types.push(ty);
        self.result_names.push(name);
        self
    }
}

/// A module: a block of top-level operations, and every operation, value and block below it.
#[derive(Clone, Debug)]
pub struct Module {
    /// The version of the text that it was read from or will be written in.
    pub version: u32,
    /// Attributes of the module itself, except its version.
    pub extra: Vec<Clause>,
    /// Where it comes from; `None` for one that was not read.
    pub location: Option<LocId>,
    ops: Vec<OpData>,
    values: Vec<ValueData>,
    blocks: Vec<BlockData>,
    comments: BTreeMap<Span, Rc<str>>,
    clock: Clock,
}

impl Default for Module {
    fn default() -> Self {
        Self {
            version: crate::version::VERSION,
            extra: Vec::new(),
            location: None,
            ops: Vec::new(),
            values: Vec::new(),
            blocks: vec![BlockData::default()],
            comments: BTreeMap::new(),
            clock: Clock::default(),
        }
    }
}

impl Module {
    /// The state that it is in: another one after each change. Equal stamps are of equal modules.
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        self.clock.stamp()
    }

    /// The block of top-level operations.
    #[must_use]
    pub fn body(&self) -> BlockId {
        BlockId(0)
    }

    /// The operations of a block, in order.
    #[must_use]
    pub fn ops(&self, block: BlockId) -> &[OpId] {
        &self.blocks[block.at()].ops
    }

    /// Makes `ops`, which were created for `block`, its operations. Previous operations that are left out are neither
    /// walked nor printed until they are put back.
    pub fn set_ops(&mut self, block: BlockId, ops: Vec<OpId>) {
        self.clock.tick();
        self.blocks[block.at()].ops = ops;
    }

    /// The arguments of a block.
    #[must_use]
    pub fn args(&self, block: BlockId) -> &[ValueId] {
        &self.blocks[block.at()].args
    }

    /// The operation whose region `block` is, unless it is the module's own.
    #[must_use]
    pub fn block_parent(&self, block: BlockId) -> Option<OpId> {
        self.blocks[block.at()].parent
    }

    /// A view of an operation.
    #[must_use]
    pub fn op<'a>(&'a self, ctx: &'a Context, id: OpId) -> OpRef<'a> {
        OpRef { ctx, module: self, id }
    }

    /// Every operation below `block`, each before the content of its regions.
    #[must_use]
    pub fn walk(&self, block: BlockId) -> Vec<OpId> {
        let mut out = Vec::new();
        let mut stack: Vec<OpId> = self.ops(block).iter().rev().copied().collect();
        while let Some(op) = stack.pop() {
            out.push(op);
            for &region in self.ops[op.at()].regions.iter().rev() {
                stack.extend(self.ops(region).iter().rev());
            }
        }
        out
    }

    /// Every operation of the module.
    #[must_use]
    pub fn walk_all(&self) -> Vec<OpId> {
        self.walk(self.body())
    }

    /// Appends an operation to `block`.
    pub fn append(&mut self, block: BlockId, spec: OpSpec) -> OpId {
        let at = self.ops(block).len();
        self.insert(block, at, spec)
    }

    /// Inserts an operation into `block` before position `at`.
    pub fn insert(&mut self, block: BlockId, at: usize, spec: OpSpec) -> OpId {
        self.clock.tick();
        let id = OpId(self.ops.len() as u32);
        let span = spec.span;
        let mut results = Vec::with_capacity(spec.result_types.len());
        for (index, (ty, name)) in spec.result_types.into_iter().zip(spec.result_names).enumerate() {
            results.push(self.new_value(ty, ValueDef::Result(id, index as u32), name, span));
        }
        for operand in &spec.operands {
            self.values[operand.at()].uses.push(id);
        }
        self.ops.push(OpData {
            name: spec.name,
            operands: spec.operands,
            results,
            clauses: spec.clauses,
            extra: spec.extra,
            regions: Vec::new(),
            parent: block,
            span,
            erased: false,
            location: spec.location,
        });
        self.blocks[block.at()].ops.insert(at, id);
        id
    }

    /// Inserts an operation directly before `anchor`.
    pub fn insert_before(&mut self, anchor: OpId, spec: OpSpec) -> OpId {
        let block = self.ops[anchor.at()].parent;
        let at = self.position(anchor).expect("an anchor is in its block");
        self.insert(block, at, spec)
    }

    /// Gives an operation a comment, whose lines the printer writes before it. Comments are found by the operation's
    /// span, which passes preserve. Of operations that replace this one, the first has the comment.
    pub fn set_comment(&mut self, op: OpId, text: &str) {
        self.clock.tick();
        self.comments.insert(self.ops[op.at()].span, text.into());
    }

    /// The comments, by the span of their operations.
    pub(crate) fn comments(&self) -> &BTreeMap<Span, Rc<str>> {
        &self.comments
    }

    /// Gives an operation one more region, and returns its block.
    pub fn add_region(&mut self, op: OpId) -> BlockId {
        self.clock.tick();
        let block = BlockId(self.blocks.len() as u32);
        self.blocks.push(BlockData { parent: Some(op), ..BlockData::default() });
        self.ops[op.at()].regions.push(block);
        block
    }

    /// Gives a block one more argument.
    pub fn add_arg(&mut self, block: BlockId, ty: TypeId, name: Option<Rc<str>>, span: Span) -> ValueId {
        let index = self.args(block).len() as u32;
        let value = self.new_value(ty, ValueDef::Argument(block, index), name, span);
        self.blocks[block.at()].args.push(value);
        value
    }

    /// Erases the arguments of a block. They must have no uses left.
    pub fn erase_arguments(&mut self, block: BlockId) {
        self.clock.tick();
        self.blocks[block.at()].args.clear();
    }

    /// Gives an operation one more result.
    pub fn add_result(&mut self, op: OpId, ty: TypeId, name: Option<Rc<str>>, span: Span) -> ValueId {
        let index = self.ops[op.at()].results.len() as u32;
        let value = self.new_value(ty, ValueDef::Result(op, index), name, span);
        self.ops[op.at()].results.push(value);
        value
    }

    /// Changes a value's type.
    pub fn set_type(&mut self, value: ValueId, ty: TypeId) {
        self.clock.tick();
        self.values[value.at()].ty = ty;
    }

    fn new_value(&mut self, ty: TypeId, def: ValueDef, name: Option<Rc<str>>, span: Span) -> ValueId {
        self.clock.tick();
        let id = ValueId(self.values.len() as u32);
        self.values.push(ValueData { ty, def, name, uses: Vec::new(), span, location: None });
        id
    }

    /// A value's type.
    #[must_use]
    pub fn ty(&self, value: ValueId) -> TypeId {
        self.values[value.at()].ty
    }

    /// Where a value comes from.
    #[must_use]
    pub fn def(&self, value: ValueId) -> ValueDef {
        self.values[value.at()].def
    }

    /// The operation whose result a value is.
    #[must_use]
    pub fn def_op(&self, value: ValueId) -> Option<OpId> {
        match self.def(value) {
            ValueDef::Result(op, _) => Some(op),
            ValueDef::Argument(..) => None,
        }
    }

    /// The name that a value was written with.
    #[must_use]
    pub fn value_name(&self, value: ValueId) -> Option<&Rc<str>> {
        self.values[value.at()].name.as_ref()
    }

    /// Renames a value.
    pub fn set_value_name(&mut self, value: ValueId, name: Option<Rc<str>>) {
        self.clock.tick();
        self.values[value.at()].name = name;
    }

    /// Where a value was written.
    #[must_use]
    pub fn value_span(&self, value: ValueId) -> Span {
        self.values[value.at()].span
    }

    /// Where a value comes from: a result from where its operation does.
    #[must_use]
    pub fn value_location(&self, ctx: &Context, value: ValueId) -> LocId {
        match self.def(value) {
            ValueDef::Result(op, _) => self.op(ctx, op).location(),
            ValueDef::Argument(..) => {
                let ValueData { location, span, .. } = self.values[value.at()];
                location.unwrap_or_else(|| ctx.location(Location::Written(span)))
            }
        }
    }

    /// Says where an argument of a block comes from.
    pub fn set_argument_location(&mut self, argument: ValueId, location: LocId) {
        self.values[argument.at()].location = Some(location);
    }

    /// Says where an operation comes from.
    pub fn set_location(&mut self, op: OpId, location: LocId) {
        self.ops[op.at()].location = Some(location);
    }

    /// The operations that use a value, one entry a use.
    #[must_use]
    pub fn uses(&self, value: ValueId) -> &[OpId] {
        &self.values[value.at()].uses
    }

    /// Makes every use of `old` a use of `new`.
    pub fn replace_uses(&mut self, old: ValueId, new: ValueId) {
        self.clock.tick();
        let uses = std::mem::take(&mut self.values[old.at()].uses);
        for &op in &uses {
            for operand in &mut self.ops[op.at()].operands {
                if *operand == old {
                    *operand = new;
                }
            }
        }
        self.values[new.at()].uses.extend(uses);
    }

    /// Makes operand `index` of an operation `value`; nothing happens if it has no such operand.
    pub fn set_operand(&mut self, op: OpId, index: usize, value: ValueId) {
        self.clock.tick();
        let Some(operand) = self.ops[op.at()].operands.get_mut(index) else { return };
        let old = std::mem::replace(operand, value);
        let uses = &mut self.values[old.at()].uses;
        if let Some(at) = uses.iter().position(|&user| user == op) {
            uses.remove(at);
        }
        self.values[value.at()].uses.push(op);
    }

    /// Removes an operation and everything below it. Its results must have no uses left.
    pub fn erase(&mut self, op: OpId) {
        self.clock.tick();
        for region in std::mem::take(&mut self.ops[op.at()].regions) {
            for inner in self.ops(region).to_vec().into_iter().rev() {
                self.erase(inner);
            }
        }
        for operand in std::mem::take(&mut self.ops[op.at()].operands) {
            let uses = &mut self.values[operand.at()].uses;
            if let Some(at) = uses.iter().position(|&user| user == op) {
                uses.remove(at);
            }
        }
        self.unlink(op);
        self.ops[op.at()].erased = true;
    }

    /// Returns true if an operation was erased: it is in no block, and has neither operands nor regions.
    #[must_use]
    pub fn is_erased(&self, op: OpId) -> bool {
        self.ops[op.at()].erased
    }

    /// Takes an operation out of its block, without erasing it.
    fn unlink(&mut self, op: OpId) {
        let parent = self.ops[op.at()].parent;
        if let Some(at) = self.position(op) {
            self.blocks[parent.at()].ops.remove(at);
        }
    }

    /// Index of an operation in its block. The search starts at the last result and goes outwards, so a pass that
    /// changes a long block from one end to the other is not quadratic.
    fn position(&self, op: OpId) -> Option<usize> {
        let BlockData { ops, last_found, .. } = &self.blocks[self.ops[op.at()].parent.at()];
        let start = last_found.get().min(ops.len());
        let below = (0..start).rev().map(Some).chain(std::iter::repeat(None));
        let above = (start..ops.len()).map(Some).chain(std::iter::repeat(None));
        let outwards = above.zip(below).take(ops.len() + 1).flat_map(|(above, below)| [above, below]);
        let found = outwards.flatten().find(|&at| ops[at] == op)?;
        last_found.set(found);
        Some(found)
    }

    /// Moves an operation and everything below it directly before `anchor`.
    pub fn move_before(&mut self, op: OpId, anchor: OpId) {
        self.clock.tick();
        self.unlink(op);
        let block = self.ops[anchor.at()].parent;
        let at = self.position(anchor).expect("an anchor is in its block");
        self.blocks[block.at()].ops.insert(at, op);
        self.ops[op.at()].parent = block;
    }

    /// Gives the regions of one operation, with all that is in them, to another one.
    pub fn move_regions(&mut self, from: OpId, to: OpId) {
        self.clock.tick();
        let regions = std::mem::take(&mut self.ops[from.at()].regions);
        regions.iter().for_each(|region| self.blocks[region.at()].parent = Some(to));
        self.ops[to.at()].regions.extend(regions);
    }

    /// Copies an operation and everything below it directly before `anchor`. Operands in `values` are replaced by
    /// their images; the copied results are added to `values`.
    pub fn copy_before(&mut self, op: OpId, anchor: OpId, values: &mut HashMap<ValueId, ValueId>) -> OpId {
        let copy = self.insert_before(anchor, self.spec_of(op, values));
        self.copy_inside(op, copy, values);
        copy
    }

    fn copy_inside(&mut self, op: OpId, copy: OpId, values: &mut HashMap<ValueId, ValueId>) {
        let pair =
            |module: &Self| (module.ops[op.at()].results.clone(), module.ops[copy.at()].results.clone());
        let (old, new) = pair(self);
        values.extend(old.into_iter().zip(new));
        for region in self.ops[op.at()].regions.clone() {
            let block = self.add_region(copy);
            for arg in self.args(region).to_vec() {
                let ValueData { ty, name, span, .. } = self.values[arg.at()].clone();
                let own = self.add_arg(block, ty, name, span);
                values.insert(arg, own);
            }
            for inner in self.ops(region).to_vec() {
                let own = self.append(block, self.spec_of(inner, values));
                self.copy_inside(inner, own, values);
            }
        }
    }

    /// The parts of an operation, without its regions.
    fn spec_of(&self, op: OpId, values: &HashMap<ValueId, ValueId>) -> OpSpec {
        let data = &self.ops[op.at()];
        let results = data.results.iter().map(|result| &self.values[result.at()]);
        OpSpec {
            name: data.name.clone(),
            operands: data
                .operands
                .iter()
                .map(|value| values.get(value).copied().unwrap_or(*value))
                .collect(),
            clauses: data.clauses.clone(),
            extra: data.extra.clone(),
            result_types: results.clone().map(|value| value.ty).collect(),
            result_names: results.map(|value| value.name.clone()).collect(),
            span: data.span,
            location: data.location,
        }
    }

    /// Sets (or, with `None`, removes) a clause of an operation.
    pub fn set_clause(&mut self, op: OpId, name: &str, value: Option<AttrId>) {
        self.clock.tick();
        let data = &mut self.ops[op.at()];
        let span = data.span;
        let found = data.clauses.iter().position(|clause| &*clause.name == name);
        match (found, value) {
            (Some(at), Some(value)) => data.clauses[at].value = value,
            (Some(at), None) => {
                data.clauses.remove(at);
            }
            (None, Some(value)) => data.clauses.push(Clause { name: data.name.clause(name), value, span }),
            (None, None) => {}
        }
    }

    pub(crate) fn data(&self, op: OpId) -> &OpData {
        &self.ops[op.at()]
    }

    pub(crate) fn data_mut(&mut self, op: OpId) -> &mut OpData {
        self.clock.tick();
        &mut self.ops[op.at()]
    }
}

/// An operation seen together with its module and context.
#[derive(Clone, Copy)]
pub struct OpRef<'a> {
    /// The context.
    pub ctx: &'a Context,
    /// The module.
    pub module: &'a Module,
    /// The operation.
    pub id: OpId,
}

/// The operation's full name, for messages.
impl fmt::Display for OpRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl<'a> OpRef<'a> {
    pub(crate) fn data(&self) -> &'a OpData {
        self.module.data(self.id)
    }

    /// The operation's full name.
    #[must_use]
    pub fn name(&self) -> &'a str {
        match &self.data().name {
            OpName::Known(decl) => decl.name,
            OpName::Unknown(name) => name,
        }
    }

    /// Its declaration, unless its dialect is unregistered.
    #[must_use]
    pub fn decl(&self) -> Option<&'static OpDecl> {
        match &self.data().name {
            OpName::Known(decl) => Some(decl),
            OpName::Unknown(_) => None,
        }
    }

    /// Returns true if `decl` declares the operation.
    #[must_use]
    pub fn is(&self, decl: &OpDecl) -> bool {
        self.name() == decl.name
    }

    /// Where it is written in the text being read.
    #[must_use]
    pub fn span(&self) -> Span {
        self.data().span
    }

    /// Where it comes from: the location that its text or a pass gave it, or where it is written.
    #[must_use]
    pub fn location(&self) -> LocId {
        self.given_location().unwrap_or_else(|| self.ctx.location(Location::Written(self.span())))
    }

    /// The name that its location has, as `loc("load %k"("gemv.visa":3:5))`.
    #[must_use]
    pub fn location_name(&self) -> Option<Rc<str>> {
        match self.ctx.location_data(self.given_location()?) {
            Location::Name(name, _) => Some(name),
            Location::Unknown
            | Location::Written(_)
            | Location::File { .. }
            | Location::CallSite { .. }
            | Location::Fused(_) => None,
        }
    }

    /// The location that its text or a pass gave it.
    #[must_use]
    pub fn given_location(&self) -> Option<LocId> {
        self.data().location
    }

    /// Its operands.
    #[must_use]
    pub fn operands(&self) -> &'a [ValueId] {
        &self.data().operands
    }

    /// Its results.
    #[must_use]
    pub fn results(&self) -> &'a [ValueId] {
        &self.data().results
    }

    /// Its clauses, as written.
    #[must_use]
    pub fn clauses(&self) -> &'a [Clause] {
        &self.data().clauses
    }

    /// Its attributes that are not clauses.
    #[must_use]
    pub fn extra(&self) -> &'a [Clause] {
        &self.data().extra
    }

    /// The blocks of its regions.
    #[must_use]
    pub fn regions(&self) -> &'a [BlockId] {
        &self.data().regions
    }

    /// The block that it is in.
    #[must_use]
    pub fn block(&self) -> BlockId {
        self.data().parent
    }

    /// The operation around it.
    #[must_use]
    pub fn parent(&self) -> Option<OpRef<'a>> {
        self.module.block_parent(self.block()).map(|id| OpRef { id, ..*self })
    }

    /// The operations around it, the innermost first.
    pub fn ancestors(&self) -> impl Iterator<Item = OpRef<'a>> + use<'a> {
        std::iter::successors(self.parent(), |op| op.parent())
    }

    /// Another operation of the same module.
    #[must_use]
    pub fn other(&self, id: OpId) -> OpRef<'a> {
        OpRef { id, ..*self }
    }

    /// The operation that makes operand `index`, if an operation does.
    #[must_use]
    pub fn operand_def(&self, index: usize) -> Option<OpRef<'a>> {
        let value = *self.operands().get(index)?;
        self.module.def_op(value).map(|id| self.other(id))
    }

    /// The value of operand `index`'s type, if it is a `T`.
    #[must_use]
    pub fn operand_type<T: Body>(&self, index: usize) -> Option<Rc<T>> {
        self.ctx.type_value(self.module.ty(*self.operands().get(index)?))
    }

    /// The value of result `index`'s type, if it is a `T`.
    #[must_use]
    pub fn result_type<T: Body>(&self, index: usize) -> Option<Rc<T>> {
        self.ctx.type_value(self.module.ty(*self.results().get(index)?))
    }

    /// Where the clause `name` is; the operation's own place if it was not written.
    #[must_use]
    pub fn clause_span(&self, name: &str) -> Span {
        self.clauses().iter().find(|clause| &*clause.name == name).map_or(self.span(), |clause| clause.span)
    }

    /// The clause `name` as written.
    #[must_use]
    pub fn attr(&self, name: &str) -> Option<Attr> {
        let clause = self.clauses().iter().find(|clause| &*clause.name == name)?;
        Some(self.ctx.attr_data(clause.value))
    }

    fn default_of(&self, name: &str) -> Option<&'static str> {
        match self.decl()?.clause(name)? {
            ClauseDecl { presence: Presence::Default(text), .. } => Some(text),
            _ => None,
        }
    }

    /// An integer clause, or its default.
    #[must_use]
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.attr(name) {
            Some(Attr::Int(value)) => Some(value),
            Some(_) => None,
            None => self.default_of(name)?.parse().ok(),
        }
    }

    /// A word or string clause, or its default.
    #[must_use]
    pub fn word(&self, name: &str) -> Option<Rc<str>> {
        match self.attr(name) {
            Some(Attr::Str(text)) => Some(text),
            Some(_) => None,
            None => self.default_of(name).map(Into::into),
        }
    }

    /// A symbol clause, without its `@`.
    #[must_use]
    pub fn symbol(&self, name: &str) -> Option<Rc<str>> {
        match self.attr(name)? {
            Attr::Symbol(text) => Some(text),
            _ => None,
        }
    }

    /// An integer-list clause; empty if absent.
    #[must_use]
    pub fn ints(&self, name: &str) -> Rc<[i64]> {
        match self.attr(name) {
            Some(Attr::Ints(values)) => values,
            Some(_) | None => Rc::from([]),
        }
    }

    /// An integer-list clause entry by entry, `None` for one that is open; empty if absent. `None` if the whole
    /// clause is open.
    #[must_use]
    pub fn entries(&self, name: &str) -> Option<Vec<Option<i64>>> {
        match self.attr(name) {
            Some(Attr::OpenInts(values)) => Some(values.to_vec()),
            Some(Attr::Auto) => None,
            Some(_) | None => Some(self.ints(name).iter().copied().map(Some).collect()),
        }
    }

    /// A string-list clause; empty if absent.
    #[must_use]
    pub fn strs(&self, name: &str) -> Rc<[Rc<str>]> {
        match self.attr(name) {
            Some(Attr::Strs(values)) => values,
            Some(_) | None => Rc::from([]),
        }
    }

    /// Returns true if a flag clause is set.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.attr(name).is_some()
    }

    /// A dialect attribute clause (or its default), if it is a `T`.
    #[must_use]
    pub fn body<T: Body>(&self, name: &str) -> Option<Rc<T>> {
        match self.attr(name) {
            Some(Attr::Body(_, body)) => body.into_any().downcast().ok(),
            Some(_) => None,
            None => {
                let decl = self.decl()?.clause(name)?;
                let (crate::decl::ClauseKind::Body(def), Presence::Default(text)) =
                    (decl.kind, decl.presence)
                else {
                    return None;
                };
                (def.parse)(text).ok()?.into_any().downcast().ok()
            }
        }
    }

    /// An error of this operation, at its own place.
    #[must_use]
    pub fn error(&self, constraint: &str, message: impl Into<String>) -> Diagnostic {
        self.error_at(constraint, self.span(), message)
    }

    /// An error of this operation at one of its clauses. `constraint` (e.g. `C2`) becomes part of the code.
    #[must_use]
    pub fn clause_error(&self, constraint: &str, clause: &str, message: impl Into<String>) -> Diagnostic {
        self.error_at(constraint, self.clause_span(clause), message)
    }

    fn error_at(&self, constraint: &str, span: Span, message: impl Into<String>) -> Diagnostic {
        let name = self.name();
        let error = Diagnostic::error(format!("{name}-{constraint}"), span, message);
        match self.decl().and_then(|decl| decl.constraint(constraint)) {
            Some(text) => error.note(format!("{name} {constraint}: {text}"), None),
            None => error,
        }
    }
}
