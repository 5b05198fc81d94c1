//! From the memory level to the tensor level: the operations on values that an operation stands for.
//!
//! Each operation declares its [`Semantics`], which builds them. [`function`] goes through a kernel in program order
//! and inlines calls. The result is a function of the tensor level: the definition of the kernel's results. The
//! evaluator runs it, and kernels are compared by it.

pub mod close;
pub mod function;
pub mod moves;
pub mod open;
pub mod order;
pub mod sets;

use crate::coverage::Coverage;
use crate::ops::cast::Cast;
use crate::ops::rename::Broadcast;
use crate::ops::restrict::Restrict;
use crate::ops::skew::Skew;
use crate::raise::open::OpenTypes;
use crate::raise::sets::Set;
use crate::tensor::value::{Value, union_of_axes};
use crate::tensor::{Dim, Tensor};
use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;
use visa_algebra::{Axes, AxisId, Expr};
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::infer::result_types;
use visa_ir::module::{BlockId, Module, OpRef, OpSpec, ValueId};
use visa_ir::span::Span;
use visa_numerics::DType;

/// The semantics of an operation of the memory level: it builds operations of the tensor level, and binds the results.
/// Declared as an interface.
pub struct Semantics(pub fn(&mut Raising<'_>, OpRef<'_>) -> Result<(), Diagnostic>);

/// The code of errors about axes of kernels with open clauses.
pub const OPEN: &str = "open-axes";

/// A value of the tensor level, and the coordinates along each of its axes at which it may be defined.
#[derive(Clone, Debug)]
pub struct Known {
    /// The value.
    pub value: ValueId,
    /// Format of its elements.
    pub dtype: DType,
    /// The coordinates along each axis; it is undefined at all others.
    pub held: BTreeMap<AxisId, Set>,
    /// The execution ids of its elements in the vector engine; all are 0 if there are none.
    pub ids: Option<Rc<Known>>,
}

/// The value of the tensor level for one of the memory level.
#[derive(Clone)]
enum Meaning {
    Known(Known),
    /// A part of a computation that a later operation completes, such as products that are not summed yet.
    Deferred(Rc<dyn Any>),
}

/// A kernel that is being raised.
pub struct Raising<'a> {
    /// The context.
    pub ctx: &'a Context,
    /// The axes that the module declares.
    pub axes: &'a Axes,
    module: Module,
    block: BlockId,
    meanings: HashMap<ValueId, Meaning>,
    /// Indices and scalars, by those of the memory level.
    numbers: HashMap<ValueId, ValueId>,
    /// Number of operations so far.
    emitted: usize,
    /// The types that depend on open clauses, if the kernel is raised by axes.
    open: Option<Rc<OpenTypes>>,
    /// The error for the first result, of an operation or of the kernel, that is not computed.
    incomplete: Option<Diagnostic>,
}

impl<'a> Raising<'a> {
    /// An operand at the tensor level.
    ///
    /// # Errors
    /// An operand that is only a part of a computation.
    pub fn operand(&self, op: OpRef<'_>, index: usize) -> Result<Known, Diagnostic> {
        let value =
            op.operands().get(index).ok_or_else(|| op.error("C0", format!("it lacks operand {index}")))?;
        match self.meanings.get(value) {
            Some(Meaning::Known(known)) => Ok(known.clone()),
            Some(Meaning::Deferred(_)) | None => Err(op.error("C0", format!("operand {index} is no tensor"))),
        }
    }

    /// The part of an operand that a type holds.
    ///
    /// # Errors
    /// As of [`Raising::operand`], and a type whose mappings are wrong.
    pub fn held(&mut self, op: OpRef<'_>, index: usize, to: &Tensor) -> Result<Known, Diagnostic> {
        let known = self.operand(op, index)?;
        self.narrow(op, known, &Coverage::new(to, self.axes, op.span())?)
    }

    /// Returns true if one of these dimensions of operand 0 is open, and notes it: the elements of the operation's
    /// result depend on the mapping.
    pub fn depends_on_open(&mut self, op: OpRef<'_>, dims: &[Dim]) -> bool {
        let open = |types: &Rc<OpenTypes>| {
            let value = op.operands().first();
            dims.iter().find(|&&dim| value.is_some_and(|&value| types.is_open(value, dim))).copied()
        };
        let Some(dim) = self.open.as_ref().and_then(open) else { return false };
        self.incomplete.get_or_insert_with(|| {
            let message = format!(
                "the elements of the result depend on `{}` of the operand, which is open",
                dim.name()
            );
            let fix = "choose the open clauses first (`--select-configs`), or write them";
            Diagnostic::error(OPEN, op.span(), message).fix(fix.to_owned())
        });
        true
    }

    /// The types that depend on open clauses, if the kernel is raised by axes.
    #[must_use]
    pub fn open_types(&self) -> Option<Rc<OpenTypes>> {
        self.open.clone()
    }

    /// The part of a value that a type holds.
    ///
    /// # Errors
    /// Those of the operations that it takes.
    pub fn narrow(&mut self, op: OpRef<'_>, known: Known, to: &Coverage) -> Result<Known, Diagnostic> {
        let known = self.written_as(op, known, to)?;
        let mut held = BTreeMap::new();
        for (&axis, own) in known.held.iter().filter(|(axis, _)| to.mentions(**axis)) {
            held.insert(axis, own.intersection(&Set::of(&to.held(axis, own.len()))));
        }
        if held == known.held {
            return Ok(known);
        }
        let terms = held.iter().map(|(&axis, set)| set.expr(axis, self.axes));
        let stays = Expr::pair(terms);
        let stays = if held.is_empty() { Expr::Literal(1) } else { stays };
        let spec = Restrict::build(op, [known.value]).to(stays).spec();
        self.emit(spec, held)
    }

    /// A value as a function of the axes that a type is written in: of a skewed axis where the type mentions that.
    fn written_as(&mut self, op: OpRef<'_>, mut known: Known, to: &Coverage) -> Result<Known, Diagnostic> {
        for skew in to.skewed() {
            let (from, onto) =
                if to.mentions(skew.axis) { (skew.of, skew.axis) } else { (skew.axis, skew.of) };
            if !known.held.contains_key(&from) {
                continue;
            }
            let mut held = known.held.clone();
            held.remove(&from);
            held.insert(onto, Set::all(self.axes, onto, op.span())?);
            held.entry(skew.by).or_insert(Set::all(self.axes, skew.by, op.span())?);
            let name = |axis| Expr::axis(self.axes.name(axis));
            let spec =
                Skew::build(op, [known.value]).axis(name(from)).to(name(onto)).by(name(skew.by)).spec();
            known = self.emit(spec, held)?;
        }
        Ok(known)
    }

    /// A value in another format, as the machine converts.
    ///
    /// # Errors
    /// If the format is the same, or none converts.
    pub fn cast(&mut self, op: OpRef<'_>, known: Known, to: DType) -> Result<Known, Diagnostic> {
        if known.dtype == to {
            return Ok(known);
        }
        let spec = Cast::build(op, [known.value]).dtype(to).spec();
        self.emit(spec, known.held)
    }

    /// A value with axes that it may lack, along which it is the same everywhere.
    ///
    /// # Errors
    /// An axis that is too long.
    pub fn broadcast(
        &mut self,
        op: OpRef<'_>,
        known: Known,
        wanted: impl Iterator<Item = AxisId>,
    ) -> Result<Known, Diagnostic> {
        let mut held = known.held.clone();
        let mut further = Vec::new();
        for axis in wanted.filter(|axis| !known.held.contains_key(axis)) {
            held.insert(axis, Set::all(self.axes, axis, op.span())?);
            further.push(Expr::axis(self.axes.name(axis)));
        }
        if further.is_empty() {
            return Ok(known);
        }
        let spec = Broadcast::build(op, [known.value]).along(Expr::pair(further)).spec();
        self.emit(spec, held)
    }

    /// Appends an operation, and gives its result, which is defined at these coordinates or at fewer. Axes that its
    /// type lacks are left out; along one that `held` lacks it may be defined everywhere.
    ///
    /// # Errors
    /// Those of the inference.
    pub fn emit(&mut self, spec: OpSpec, mut held: BTreeMap<AxisId, Set>) -> Result<Known, Diagnostic> {
        self.emitted += 1;
        let id = self.module.append(self.block, spec.without_defaults(self.ctx));
        let op = self.module.op(self.ctx, id);
        let span = op.span();
        let infer = op.decl().and_then(|decl| Some((decl, decl.infer?)));
        let (decl, infer) = infer.ok_or_else(|| op.error("C0", "its result has no type"))?;
        let types = result_types(op, decl, infer)?;
        let ty = *types.first().ok_or_else(|| op.error("C0", "it has no result"))?;
        let value =
            self.ctx.type_value::<Value>(ty).ok_or_else(|| op.error("C0", "its result is no value"))?;
        let result = self.module.add_result(id, ty, None, span);
        let ids = self.ids_of(&value, span)?;
        held.retain(|axis, _| ids.contains(axis));
        for axis in ids {
            if let std::collections::btree_map::Entry::Vacant(entry) = held.entry(axis) {
                entry.insert(Set::all(self.axes, axis, span)?);
            }
        }
        Ok(Known { value: result, dtype: value.dtype, held, ids: None })
    }

    /// The axes of a type.
    fn ids_of(&self, value: &Value, span: Span) -> Result<Vec<AxisId>, Diagnostic> {
        let id = |name: &Arc<str>| {
            self.axes.resolve(name).map_err(|error| crate::error::mapping_error(error, span))
        };
        value.axes.iter().map(id).collect()
    }

    /// The type of a value at the tensor level.
    #[must_use]
    pub fn ty(&self, known: &Known) -> Option<Rc<Value>> {
        self.ctx.type_value(self.module.ty(known.value))
    }

    /// The axes of some values together.
    #[must_use]
    pub fn union(&self, values: &[&Known]) -> Vec<Arc<str>> {
        let types: Vec<Rc<Value>> = values.iter().filter_map(|known| self.ty(known)).collect();
        union_of_axes(types.iter().map(|ty| &**ty))
    }

    /// The number of the tensor level for an index or a scalar.
    ///
    /// # Errors
    /// If nothing is known of it.
    pub fn number(&self, op: OpRef<'_>, value: ValueId) -> Result<ValueId, Diagnostic> {
        self.numbers.get(&value).copied().ok_or_else(|| op.error("C0", "a number is not known"))
    }

    /// Binds the result of an operation to a value. In a stream its elements keep the execution ids of operand 0.
    ///
    /// # Errors
    /// A type whose mappings are wrong.
    pub fn bind(&mut self, op: OpRef<'_>, known: Known) -> Result<(), Diagnostic> {
        let stream = op.result_type::<Tensor>(0).filter(|to| to.kind.stream);
        let ids = match (stream, self.ids(op, 0)) {
            (Some(to), Some(ids)) => {
                let to = Coverage::new(&to, self.axes, op.span())?;
                Some(self.narrow(op, (*ids).clone(), &to)?)
            }
            (Some(_) | None, _) => None,
        };
        self.bind_with(op, known, ids);
        Ok(())
    }

    /// Binds the result of an operation to a value with these execution ids.
    pub fn bind_with(&mut self, op: OpRef<'_>, known: Known, ids: Option<Known>) {
        if let Some(&result) = op.results().first() {
            self.meanings.insert(result, Meaning::Known(Known { ids: ids.map(Rc::new), ..known }));
        }
    }

    /// The execution ids of an operand; all are 0 if there are none.
    #[must_use]
    pub fn ids(&self, op: OpRef<'_>, index: usize) -> Option<Rc<Known>> {
        match self.meanings.get(op.operands().get(index)?)? {
            Meaning::Known(known) => known.ids.clone(),
            Meaning::Deferred(_) => None,
        }
    }

    /// Binds the result of an operation to a part of a computation that a later one completes.
    pub fn defer(&mut self, op: OpRef<'_>, part: Rc<dyn Any>) {
        if let Some(&result) = op.results().first() {
            self.meanings.insert(result, Meaning::Deferred(part));
        }
    }

    /// The part of a computation that an operand is.
    #[must_use]
    pub fn deferred<T: Any>(&self, op: OpRef<'_>, index: usize) -> Option<Rc<T>> {
        match self.meanings.get(op.operands().get(index)?)? {
            Meaning::Deferred(part) => Rc::clone(part).downcast().ok(),
            Meaning::Known(_) => None,
        }
    }
}

/// The coordinates along the axes of two values: along one that both have, those of both.
#[must_use]
pub fn both(left: &Known, right: &Known) -> BTreeMap<AxisId, Set> {
    let mut held = left.held.clone();
    for (&axis, set) in &right.held {
        let joined = held.get(&axis).map_or_else(|| set.clone(), |own| own.intersection(set));
        held.insert(axis, joined);
    }
    held
}
