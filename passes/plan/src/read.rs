//! Divides a function of the tensor level into steps: parts that are planned one by one and meet in HBM.

use crate::array::Array;
use crate::contraction::{Contraction, Epilogue, SumOrder};
use crate::cut::Group;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use visa_algebra::{Axes, AxisId};
use visa_engine::words::ContractionKind;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId, OpRef, ValueId};
use visa_mapping::expression::{Expression, Term};
use visa_mapping::ops::cast::{self, Cast};
use visa_mapping::ops::contract::{self, Contract};
use visa_mapping::ops::func::{Func, RETURN, argument_name};
use visa_mapping::ops::map::{self, Map};
use visa_mapping::tensor::value::{Value, axis_list};
use visa_numerics::{DType, engine_cast};

/// A step of a kernel.
pub struct Step {
    /// Its computation.
    pub computation: Contraction,
    /// Numbers of the arrays that it reads: the two operands, then those of the epilogue.
    pub inputs: Vec<usize>,
    /// Number of the array that it writes.
    pub output: usize,
    /// The operation at its beginning.
    pub op: OpId,
}

/// A kernel as steps between arrays.
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// All arrays: first the arguments, then the results of the steps.
    pub arrays: Vec<Array>,
    /// Number of arguments.
    pub arguments: usize,
    /// The steps, in an order in which they can run.
    pub steps: Vec<Step>,
    /// Numbers of the arrays that it returns.
    pub results: Vec<usize>,
}

/// Reads a kernel while it is divided.
struct Reader<'a> {
    ctx: &'a Context,
    module: &'a Module,
    axes: &'a Axes,
    arrays: Vec<Array>,
    /// The numbers of the arrays of values.
    known: HashMap<ValueId, usize>,
    /// Operations that a step before has computed.
    fused: HashSet<OpId>,
    steps: Vec<Step>,
}

/// Divides a function into steps.
///
/// # Errors
/// An operation that no step computes.
pub fn read(ctx: &Context, module: &Module, func: OpId, axes: &Axes) -> Result<Kernel, Diagnostic> {
    let op = module.op(ctx, func);
    let name = Func::of(op)?.name()?.to_string();
    let mut reader = Reader {
        ctx,
        module,
        axes,
        arrays: Vec::new(),
        known: HashMap::new(),
        fused: HashSet::new(),
        steps: Vec::new(),
    };
    let block = op.regions()[0];
    for (number, &argument) in module.args(block).iter().enumerate() {
        let array = reader.array(argument, &argument_name(op, number), op)?;
        reader.add(argument, array);
    }
    let arguments = reader.arrays.len();
    let mut results = Vec::new();
    for &id in module.ops(block) {
        let op = module.op(ctx, id);
        if op.is(&RETURN) {
            results = op.operands().iter().map(|value| reader.number(op, *value)).collect::<Result<_, _>>()?;
        } else if !reader.fused.contains(&id) {
            reader.step(op)?;
        }
    }
    Ok(Kernel { name, arrays: reader.arrays, arguments, steps: reader.steps, results })
}

impl Reader<'_> {
    /// The array of a value.
    fn array(&self, value: ValueId, name: &str, op: OpRef<'_>) -> Result<Array, Diagnostic> {
        let ty = self.ctx.type_value::<Value>(self.module.ty(value));
        let ty = ty.ok_or_else(|| unplanned(op, "an argument that is no value"))?;
        Ok(Array { name: name.to_owned(), dtype: ty.dtype, axes: ty.axes.clone() })
    }

    fn add(&mut self, value: ValueId, array: Array) -> usize {
        self.arrays.push(array);
        self.known.insert(value, self.arrays.len() - 1);
        self.arrays.len() - 1
    }

    fn number(&self, op: OpRef<'_>, value: ValueId) -> Result<usize, Diagnostic> {
        self.known.get(&value).copied().ok_or_else(|| unplanned(op, "an operand that no step computes"))
    }

    fn name(&self, value: ValueId) -> String {
        self.module.value_name(value).map_or_else(|| "out".to_owned(), |name| name.to_string())
    }

    /// Reads the step that begins with an operation.
    fn step(&mut self, op: OpRef<'_>) -> Result<(), Diagnostic> {
        if op.is(&contract::DECL) {
            return self.contraction(Contract::of(op)?);
        }
        Err(unplanned(op, &format!("`{op}`")))
    }

    fn contraction(&mut self, op: Contract<'_>) -> Result<(), Diagnostic> {
        let numbers = [self.number(*op, op.operands()[0])?, self.number(*op, op.operands()[1])?];
        let operands = numbers.map(|number| self.arrays[number].clone());
        if op.keep()?.is_some() {
            return Err(unplanned(*op, "a sum with `keep`"));
        }
        if op.kind()? != ContractionKind::Add {
            return Err(unplanned(*op, "a contraction of kind `max`"));
        }
        let summed = axis_list(&*op.over()?).map_err(|why| unplanned(*op, &format!("`over`: {why}")))?;
        let result = op.results()[0];
        let ty = self.array(result, &self.name(result), *op)?;
        let tree = u64::try_from(op.tree()?).map_err(|_| unplanned(*op, "a negative tree"))?;
        // Sums of integers wrap, so that they may be in any order.
        let order = if op.free() || !ty.dtype.is_float() { SumOrder::Free } else { SumOrder::Exact(tree) };
        let (epilogue, inputs, last) = self.epilogue(*op, &ty)?;
        let out = self.array(last, &self.name(last), *op)?;
        let only = |one: usize, other: usize| -> Vec<Arc<str>> {
            let kept = operands[one].axes.iter().filter(|axis| operands[other].position(axis).is_none());
            kept.cloned().collect()
        };
        let shared = |axis: &&Arc<str>| operands.iter().all(|array| array.position(axis).is_some());
        let batch: Vec<_> = out.axes.iter().filter(shared).filter(|axis| !summed.contains(axis)).cloned().collect();
        let computation = Contraction {
            batch: Group::new(&batch, self.axes),
            free: [Group::new(&only(0, 1), self.axes), Group::new(&only(1, 0), self.axes)],
            sum: Group::new(&self.in_array_order(&operands, &summed, order), self.axes),
            order,
            accumulator: ty.dtype,
            out: out.clone(),
            operands,
            epilogue,
        };
        let output = self.add(last, out);
        let inputs = numbers.into_iter().chain(inputs).collect();
        self.steps.push(Step { computation, inputs, output, op: op.id });
        Ok(())
    }

    /// The summed axes: in any order that is the one of the operand in which they are innermost.
    fn in_array_order(&self, operands: &[Array; 2], summed: &[Arc<str>], order: SumOrder) -> Vec<Arc<str>> {
        if order != SumOrder::Free {
            return summed.to_vec();
        }
        let long = |axis: &&Arc<str>| self.axes.id(axis).is_some_and(|id: AxisId| self.axes.size(id) > 1);
        let inner = |array: &&Array| array.axes.iter().rev().find(long).is_some_and(|axis| summed.contains(axis));
        let array = operands.iter().find(inner).unwrap_or(&operands[0]);
        array.axes.iter().filter(|axis| summed.contains(axis)).cloned().collect()
    }

    /// The computation on each element of the result of `op`, as far as it needs nothing else: the computation, the
    /// numbers of its other operands, and its result.
    fn epilogue(&mut self, op: OpRef<'_>, ty: &Array) -> Result<(Epilogue, Vec<usize>, ValueId), Diagnostic> {
        let (mut epilogue, mut inputs, mut value) = (Epilogue::default(), Vec::new(), op.results()[0]);
        let mut dtype = ty.dtype;
        while let Some(next) = self.only_use(value) {
            let result = next.results()[0];
            let after = self.array(result, "", next)?;
            let same = after.axes.len() == ty.axes.len() && ty.axes.iter().all(|axis| after.position(axis).is_some());
            if !same || epilogue.cast.is_some() {
                break;
            }
            if next.is(&map::DECL) && next.operands().iter().all(|own| *own == value || self.known.contains_key(own)) {
                self.compose(Map::of(next)?, value, &mut epilogue, &mut inputs)?;
            } else if next.is(&cast::DECL) && !Cast::of(next)?.bits() && engine_cast(dtype, after.dtype).is_some() {
                epilogue.cast = Some(after.dtype);
            } else {
                break;
            }
            dtype = after.dtype;
            self.fused.insert(next.id);
            value = result;
        }
        Ok((epilogue, inputs, value))
    }

    /// The only operation that uses a value, if there is one.
    fn only_use(&self, value: ValueId) -> Option<OpRef<'_>> {
        let users: HashSet<OpId> = self.module.uses(value).iter().copied().collect();
        let &user = users.iter().next().filter(|_| users.len() == 1)?;
        let op = self.module.op(self.ctx, user);
        (op.results().len() == 1).then_some(op)
    }

    /// Appends a map of `value` to an epilogue.
    fn compose(
        &self,
        op: Map<'_>,
        value: ValueId,
        epilogue: &mut Epilogue,
        inputs: &mut Vec<usize>,
    ) -> Result<(), Diagnostic> {
        let expression = op.expression()?;
        let (mut names, before) = match &epilogue.expression {
            Some(before) => (before.names.clone(), before.term.clone()),
            None => (vec![Arc::from("x")], Term::Name(0)),
        };
        let mut terms = Vec::new();
        for &operand in op.operands() {
            if operand == value {
                terms.push(before.clone());
                continue;
            }
            let number = self.number(*op, operand)?;
            let at = inputs.iter().position(|own| *own == number).unwrap_or_else(|| {
                inputs.push(number);
                epilogue.operands.push(self.arrays[number].clone());
                names.push(Arc::from(format!("x{}", names.len())));
                inputs.len() - 1
            });
            terms.push(Term::Name(at + 1));
        }
        epilogue.expression = Some(Expression { names, term: substituted(&expression.term, &terms) });
        Ok(())
    }
}

/// A term with others instead of its names.
fn substituted(term: &Term, terms: &[Term]) -> Term {
    match term {
        Term::Name(at) => terms[*at].clone(),
        Term::Number(number) => Term::Number(*number),
        Term::Call(name, arguments) => {
            Term::Call(Arc::clone(name), arguments.iter().map(|argument| substituted(argument, terms)).collect())
        }
    }
}

/// An operation that the planner does not plan.
fn unplanned(op: OpRef<'_>, subject: &str) -> Diagnostic {
    let message = format!("the planner has no step for {subject}");
    let fix = "write this part at the memory level, or split the function around it".to_owned();
    Diagnostic::error("plan-kernel", op.span(), message).fix(fix)
}

/// True if the vector engine converts sums to the format.
#[must_use]
pub fn is_cast(from: DType, to: DType) -> bool {
    engine_cast(from, to).is_some()
}
