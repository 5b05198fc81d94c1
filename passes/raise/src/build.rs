//! The graph of a function of the tensor level.

use crate::graph::{Clauses, Declared, FREE, Graph, Id, Kind, Node};
use crate::order::{without_last_padding, without_order};
use std::collections::{HashMap, HashSet};
use std::fmt;
use visa_algebra::{Axes, Cell, Expr, Map};
use visa_engine::words::ContractionKind;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{BlockId, Module, OpId, OpRef, ValueId};
use visa_mapping::coverage::Coverage;
use visa_mapping::expression::{Function, NodeKind};
use visa_mapping::ops::contract::Contract;
use visa_mapping::ops::func::{RETURN, signature};
use visa_mapping::ops::reduce::Reduce;
use visa_mapping::ops::{constant, control, gather, map, number, restrict};
use visa_mapping::tensor::scalar::is_scalar;
use visa_mapping::tensor::value::Value;
use visa_numerics::{Bits, DType, ReduceName};

/// Most values of a graph, loops unrolled; a loop with which there would be more stays one.
const MAX_VALUES: usize = 200_000;

/// Most positions of a dimension whose parts are looked at one by one.
const MAX_PARTS: u64 = 1 << 20;

/// Longest axis along which parts are looked at.
const MAX_COORDINATES: usize = 1 << 24;

/// Functions of two elements that are the same for both in the other order, bit for bit.
const COMMUTE: [&str; 7] = ["add", "mul", "min", "max", "and", "or", "xor"];

/// The condition for two sums to be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sums {
    /// One in the same order.
    InOrder,
    /// One of the same elements.
    InAnyOrder,
}

/// The properties of a sum that its result depends on.
#[derive(Clone, Copy)]
struct Counts {
    /// The order of its positions.
    order: bool,
    /// Positions that hold nothing.
    padding: bool,
}

/// A function's graph, and the values that it returns.
pub(crate) struct Built {
    pub(crate) graph: Graph,
    pub(crate) results: Vec<Id>,
}

/// The graph of a function, in which values of `into` are found again.
pub(crate) fn build(
    ctx: &Context,
    module: &Module,
    func: OpId,
    axes: &Axes,
    sums: Sums,
    into: Graph,
) -> Result<Built, Diagnostic> {
    let func = module.op(ctx, func);
    let (arguments, results) = signature(func);
    let mut builder = Builder { axes, sums, graph: into, values: HashMap::new(), depth: 0 };
    let (mut tensors, mut scalars) = (0, 0);
    for &argument in arguments {
        let ty = module.ty(argument);
        let (kind, number) =
            if is_scalar(ctx, ty) { (Kind::Scalar, &mut scalars) } else { (Kind::Argument, &mut tensors) };
        // The order of the axes is that of the array.
        let clauses = vec![("number", number.to_string()), ("type", ctx.type_text(ty).to_string())];
        *number += 1;
        let node = Node { kind, clauses, values: Vec::new() };
        let dtype = ctx.type_value::<Value>(ty).map(|value| value.dtype);
        let id = builder.graph.node(node, dtype);
        builder.values.insert(argument, id);
    }
    for &block in func.regions() {
        builder.block(func, block)?;
    }
    let results = results.iter().map(|&value| builder.value(func, value)).collect::<Result<_, _>>()?;
    Ok(Built { graph: builder.graph, results })
}

struct Builder<'a> {
    axes: &'a Axes,
    sums: Sums,
    graph: Graph,
    values: HashMap<ValueId, Id>,
    /// Loops around, of those that are not unrolled.
    depth: usize,
}

impl Builder<'_> {
    fn value(&self, op: OpRef<'_>, value: ValueId) -> Result<Id, Diagnostic> {
        self.values.get(&value).copied().ok_or_else(|| op.error("C0", "a value is not known"))
    }

    fn block(&mut self, around: OpRef<'_>, block: BlockId) -> Result<(), Diagnostic> {
        around.module.ops(block).iter().try_for_each(|&id| self.operation(around.other(id)))
    }

    fn operation(&mut self, op: OpRef<'_>) -> Result<(), Diagnostic> {
        if op.is(&control::FOR) {
            return self.repeat(op);
        }
        if op.is(&control::IF) {
            return self.branch(op);
        }
        let Some(&result) = op.results().first() else { return Ok(()) };
        if op.is(&control::YIELD) || op.is(&RETURN) {
            return Ok(());
        }
        let values: Vec<Id> =
            op.operands().iter().map(|&value| self.value(op, value)).collect::<Result<_, _>>()?;
        let id = match op.is(&number::AFFINE) || op.is(&number::SELECT) {
            true => self.number(op, &values)?,
            false if op.is(&map::DECL) && !map::Map::of(op)?.fast() => self.computed(op, &values)?,
            false if op.is(&constant::CONSTANT) && op.attr("along").is_none() => {
                let of = constant::Constant::of(op)?;
                let bits = *constant::elements(of)?.first().ok_or_else(|| op.error("C2", "no number"))?;
                self.element(*of.dtype()?, bits)
            }
            false => {
                let (clauses, values) = self.clauses(op, values)?;
                let dtype = op.result_type::<Value>(0).map(|value| value.dtype);
                self.graph.node(Node { kind: kind(op)?, clauses, values }, dtype)
            }
        };
        self.values.insert(result, id);
        Ok(())
    }

    /// A number that is the same everywhere.
    fn element(&mut self, dtype: DType, bits: Bits) -> Id {
        let clauses = vec![("dtype", dtype.to_string()), ("bits", format!("{bits:#x}"))];
        self.graph.node(Node { kind: Kind::Element, clauses, values: Vec::new() }, Some(dtype))
    }

    /// An expression of elements, function by function. Values that it does not use count too: where they are
    /// undefined, so is the result.
    fn computed(&mut self, op: OpRef<'_>, values: &[Id]) -> Result<Id, Diagnostic> {
        let dag = map::computation(map::Map::of(op)?)?;
        let mut others: Vec<Id> = values.iter().flat_map(|&value| self.conditions(value)).collect();
        let mut ids: Vec<Id> = Vec::with_capacity(dag.nodes.len());
        for node in &dag.nodes {
            let id = match &node.kind {
                NodeKind::Operand(at) => self.unconditional(values[*at]),
                NodeKind::Number(bits) => self.element(node.dtype, *bits),
                NodeKind::Apply(function, args) => {
                    let of = dag.nodes[args[0]].dtype;
                    let given = args.iter().map(|&arg| ids[arg]).collect();
                    self.applied(function, of, given, node.dtype)
                }
            };
            ids.push(id);
        }
        let root = ids[dag.root];
        others.extend(values.iter().map(|&value| self.unconditional(value)));
        others.retain(|&other| self.graph.get(other).kind != Kind::Element && !self.needs(root, other));
        others.sort_unstable();
        others.dedup();
        if others.is_empty() {
            return Ok(root);
        }
        others.insert(0, root);
        let dtype = self.graph.dtype(root);
        Ok(self.graph.node(Node { kind: Kind::WhereDefined, clauses: Vec::new(), values: others }, dtype))
    }

    /// The value of a function of elements.
    fn applied(&mut self, mut function: &'static Function, of: DType, mut given: Vec<Id>, to: DType) -> Id {
        let shift = given.get(1).and_then(|&by| self.bits(by)).filter(|&by| by < 31);
        let product = Function::find("mul").filter(|_| function.name == "shl" && of == DType::I32);
        if let (Some(product), Some(by)) = (product, shift) {
            // A shift is a product, also where it wraps.
            (function, given[1]) = (product, self.element(DType::I32, 1 << by));
        }
        if COMMUTE.contains(&function.name) {
            given.sort_unstable();
        }
        self.graph.node(
            Node { kind: Kind::Function(function), clauses: vec![("of", of.to_string())], values: given },
            Some(to),
        )
    }

    /// The bits of a number that is the same everywhere.
    fn bits(&self, id: Id) -> Option<Bits> {
        let node = self.graph.get(id);
        let text = node.clause("bits").filter(|_| node.kind == Kind::Element)?;
        Bits::from_str_radix(text.trim_start_matches("0x"), 16).ok()
    }

    /// A value without the condition that others are defined.
    fn unconditional(&self, id: Id) -> Id {
        let node = self.graph.get(id);
        if node.kind == Kind::WhereDefined { node.values[0] } else { id }
    }

    /// The values that are defined wherever a value is, by its condition.
    fn conditions(&self, id: Id) -> Vec<Id> {
        let node = self.graph.get(id);
        if node.kind == Kind::WhereDefined { node.values[1..].to_vec() } else { Vec::new() }
    }

    /// Returns true if a value is a function of another, element by element: it is undefined where that is.
    fn needs(&self, id: Id, other: Id) -> bool {
        let (mut open, mut seen) = (vec![id], HashSet::new());
        while let Some(id) = open.pop() {
            if id == other {
                return true;
            }
            let node = self.graph.get(id);
            let is_function = matches!(node.kind, Kind::Function(_));
            if is_function && seen.insert(id) {
                open.extend(&node.values);
            }
        }
        false
    }

    /// The clauses of an operation, and its values: a known position is a clause.
    fn clauses(&self, op: OpRef<'_>, mut values: Vec<Id>) -> Result<(Clauses, Vec<Id>), Diagnostic> {
        let Some(decl) = op.decl() else { return Ok((Vec::new(), values)) };
        let mut clauses: Clauses = decl
            .clauses
            .iter()
            .filter_map(|clause| {
                let text = op.attr(clause.name)?.generic();
                let default = clause.default_value().map(|value| value.generic());
                (default.as_ref() != Some(&text)).then_some((clause.name, text))
            })
            .collect();
        if let Some(contract) = Contract::cast(op) {
            clauses = self.sum(
                &*contract.over()?,
                contract.tree()?,
                contract.keep()?.as_deref(),
                (self.of_contract(op)?, contract.free()),
            );
            let kind = contract.kind()?;
            clauses.push(("kind", kind.to_string()));
        }
        if let Some(reduce) = Reduce::cast(op) {
            let counts = (self.of_reduce(op)?, reduce.free());
            clauses = self.sum(&*reduce.over()?, reduce.tree()?, reduce.keep()?.as_deref(), counts);
            clauses.push(("op", reduce.op()?.to_string()));
        }
        if let Some(scatter) = gather::ScatterInto::cast(op) {
            // An axis that the index shares with the table selects a row; a further one of the index does not.
            clauses.push(("table", scatter.table()?.of_type::<Value>()?.axes.join(", ")));
        }
        let first = if op.is(&restrict::EXTRACT) { 1 } else { 2 };
        if op.is(&restrict::EXTRACT) || op.is(&restrict::INSERT) {
            clauses.retain(|(name, _)| *name != "index");
            let written = match restrict::Extract::cast(op) {
                Some(extract) => extract.index()?,
                None => restrict::Insert::of(op)?.index()?,
            };
            let number = values.get(first).and_then(|&id| self.known_number(id));
            let index = match (values.len() - first.min(values.len()), number) {
                (0, _) => written,
                (1, Some(number)) => {
                    values.truncate(first);
                    written.saturating_add(number)
                }
                _ => written,
            };
            clauses.push(("index", index.to_string()));
            clauses.push(("apart", self.apart(op)?));
        }
        Ok((clauses, values))
    }

    /// The clauses of a sum: its positions, in their order where the result depends on it and the order is not free.
    fn sum(&self, over: &Expr, tree: i64, keep: Option<&Expr>, (counts, free): (Counts, bool)) -> Clauses {
        let plain = match counts {
            Counts { order: false, padding } => without_order(over, self.axes, padding),
            Counts { order: true, padding: true } => None,
            Counts { order: true, padding: false } => {
                usize::try_from(tree).ok().and_then(|tree| without_last_padding(over, tree, self.axes))
            }
        };
        let mut clauses = vec![("over", plain.as_ref().unwrap_or(over).to_string())];
        if counts.order && tree != 1 {
            clauses.push(("tree", tree.to_string()));
        }
        clauses.extend(keep.map(|keep| ("keep", keep.to_string())));
        if counts.order && free {
            clauses.push((FREE, "yes".to_owned()));
        }
        clauses
    }

    /// The properties that a contraction depends on. Wrapping integers and maxima are the same in any order. Padding
    /// adds a zero, which a maximum depends on, and a sum of negative zeros.
    fn of_contract(&self, op: OpRef<'_>) -> Result<Counts, Diagnostic> {
        let greatest = Contract::of(op)?.kind()? == ContractionKind::Max;
        let exact = op.result_type::<Value>(0).is_some_and(|value| !value.dtype.is_float());
        let in_order = self.sums == Sums::InOrder;
        Ok(Counts { order: in_order && !exact && !greatest, padding: greatest || in_order && !exact })
    }

    /// The same of a reduction. A saturating sum depends on its order always. Padding is an identity: of floats it
    /// changes the sign of a zero, and a maximum of nothing but NaN.
    fn of_reduce(&self, op: OpRef<'_>) -> Result<Counts, Diagnostic> {
        let exact = op.result_type::<Value>(0).is_some_and(|value| !value.dtype.is_float());
        let in_order = self.sums == Sums::InOrder;
        let order = match Reduce::of(op)?.op()? {
            ReduceName::Max | ReduceName::Min => false,
            ReduceName::Add | ReduceName::Mul => in_order && !exact,
            ReduceName::AddSat => true,
        };
        Ok(Counts { order, padding: in_order && !exact })
    }

    /// `yes` if parts at different positions have no element in common.
    fn apart(&self, op: OpRef<'_>) -> Result<String, Diagnostic> {
        let no = Ok("no".to_owned());
        let (along, part) = match restrict::Extract::cast(op) {
            Some(extract) => (extract.along()?, extract.part()?),
            None => {
                let insert = restrict::Insert::of(op)?;
                (insert.along()?, Some(insert.part()?))
            }
        };
        let Some(part) = part else { return no };
        let Ok(map) = Map::new(&along, self.axes) else { return no };
        let cell = |at| match map.cell(at) {
            Some(Cell::Live(index)) => Some(index),
            Some(Cell::Shared(_) | Cell::Pad(_)) | None => None,
        };
        let Some(second) = cell(1) else { return Ok("yes".to_owned()) };
        let mut moved = second.iter();
        let (Some((axis, step)), None) = (moved.next(), moved.next()) else { return no };
        if map.size() > MAX_PARTS {
            return no;
        }
        let even = (0..map.size()).all(|at| {
            cell(at).is_some_and(|index| index.get(axis) == at * step && index.iter().count() <= 1)
        });
        let inside = Coverage::of_map(&part, self.axes, op.span())?;
        let size = usize::try_from(self.axes.size(axis)).ok().filter(|&size| size <= MAX_COORDINATES);
        let Some(size) = size else { return no };
        let last = inside.held(axis, size).iter().rposition(|&held| held);
        let apart = even && inside.mentions(axis) && last.is_some_and(|last| (last as u64) < step);
        Ok(if apart { "yes" } else { "no" }.to_owned())
    }

    /// The number that a value is, if it is known.
    fn known_number(&self, id: Id) -> Option<i64> {
        let node = self.graph.get(id);
        node.clause("is").filter(|_| node.kind == Kind::Number)?.parse().ok()
    }

    fn constant(&mut self, number: i64) -> Id {
        let clauses = vec![("is", number.to_string())];
        self.graph.node(Node { kind: Kind::Number, clauses, values: Vec::new() }, None)
    }

    /// A sum or a selection of numbers.
    fn number(&mut self, op: OpRef<'_>, values: &[Id]) -> Result<Id, Diagnostic> {
        let known: Option<Vec<i64>> = values.iter().map(|&id| self.known_number(id)).collect();
        if let Some(known) = known {
            let overflow = || op.error("C2", "the number does not fit 64 bits");
            if let Some(sum) = number::Sum::cast(op) {
                let mut total = sum.plus()?;
                for (factor, known) in sum.by()?.iter().zip(&known) {
                    let term = factor.checked_mul(*known).ok_or_else(overflow)?;
                    total = total.checked_add(term).ok_or_else(overflow)?;
                }
                return Ok(self.constant(total));
            }
            if let (Some(select), [number, inside, outside]) = (number::Select::cast(op), &*known) {
                let holds = in_range(*number, select.from()?, select.below()?);
                return Ok(self.constant(if holds { *inside } else { *outside }));
            }
        }
        let Some(decl) = op.decl() else { return Err(op.error("C0", "it is not declared")) };
        let clauses = decl
            .clauses
            .iter()
            .filter_map(|clause| Some((clause.name, op.attr(clause.name)?.generic())))
            .collect();
        Ok(self.graph.node(Node { kind: kind(op)?, clauses, values: values.to_vec() }, None))
    }

    /// A loop: unrolled if that is short, and else one operation with its body's values.
    fn repeat(&mut self, op: OpRef<'_>) -> Result<(), Diagnostic> {
        let Some(&body) = op.regions().first() else { return Ok(()) };
        let times = control::times(control::For::of(op)?, self.axes)?;
        let initial: Vec<Id> =
            op.operands().iter().map(|&value| self.value(op, value)).collect::<Result<_, _>>()?;
        let inside = op.module.walk(body).len();
        let short = usize::try_from(times).ok().and_then(|times| times.checked_mul(inside));
        if short.is_some_and(|count| self.graph.len() + count <= MAX_VALUES) {
            let mut carried = initial;
            for index in 0..times {
                let index = self.constant(index.cast_signed());
                self.values.extend(op.module.args(body).first().map(|&argument| (argument, index)));
                self.values.extend(control::arguments(op).iter().copied().zip(carried));
                self.block(op, body)?;
                let given = control::yielded(op).iter().map(|&value| self.value(op, value));
                carried = given.collect::<Result<_, _>>()?;
            }
            self.values.extend(op.results().iter().copied().zip(carried));
            return Ok(());
        }
        self.depth += 1;
        let symbol = |graph: &mut Graph, what: Kind, number: usize, depth: usize, dtype| {
            let clauses = vec![("loop", depth.to_string()), ("number", number.to_string())];
            graph.node(Node { kind: what, clauses, values: Vec::new() }, dtype)
        };
        let index = symbol(&mut self.graph, Kind::LoopIndex, 0, self.depth, None);
        self.values.extend(op.module.args(body).first().map(|&argument| (argument, index)));
        for (number, (&argument, &initial)) in control::arguments(op).iter().zip(&initial).enumerate() {
            let dtype = self.graph.dtype(initial);
            let id = symbol(&mut self.graph, Kind::Carried, number, self.depth, dtype);
            self.values.insert(argument, id);
        }
        self.block(op, body)?;
        let given = control::yielded(op).iter().map(|&value| self.value(op, value));
        let given: Vec<Id> = given.collect::<Result<_, _>>()?;
        self.depth -= 1;
        self.results(op, Kind::For, vec![("times", times.to_string())], &[&initial[..], &given].concat());
        Ok(())
    }

    fn branch(&mut self, op: OpRef<'_>) -> Result<(), Diagnostic> {
        let branch = control::If::of(op)?;
        let condition = self.value(op, op.operands()[0])?;
        let (from, below) = (branch.from()?, branch.below()?);
        let initial: Vec<Id> =
            control::initial(op).iter().map(|&value| self.value(op, value)).collect::<Result<_, _>>()?;
        let known = self.known_number(condition).map(|number| in_range(number, from, below));
        if known == Some(false) {
            self.values.extend(op.results().iter().copied().zip(initial));
            return Ok(());
        }
        for &block in op.regions() {
            self.block(op, block)?;
        }
        let given = control::yielded(op).iter().map(|&value| self.value(op, value));
        let given: Vec<Id> = given.collect::<Result<_, _>>()?;
        if known == Some(true) {
            self.values.extend(op.results().iter().copied().zip(given));
            return Ok(());
        }
        let bound = |bound: Option<i64>| bound.map_or_else(String::new, |bound| bound.to_string());
        let clauses = vec![("from", bound(from)), ("below", bound(below))];
        let values = [&[condition][..], &initial, &given].concat();
        self.results(op, Kind::If, clauses, &values);
        Ok(())
    }

    /// The results of a loop or of a branch that stays one.
    fn results(&mut self, op: OpRef<'_>, what: Kind, clauses: Clauses, values: &[Id]) {
        for (number, &result) in op.results().iter().enumerate() {
            let dtype = op.ctx.type_value::<Value>(op.module.ty(result)).map(|value| value.dtype);
            let mut clauses = clauses.clone();
            clauses.push(("result", number.to_string()));
            let node = Node { kind: what, clauses, values: values.to_vec() };
            let id = self.graph.node(node, dtype);
            self.values.insert(result, id);
        }
    }
}

fn in_range(number: i64, from: Option<i64>, below: Option<i64>) -> bool {
    from.is_none_or(|from| number >= from) && below.is_none_or(|below| number < below)
}

/// The kind of an operation.
fn kind(op: OpRef<'_>) -> Result<Kind, Diagnostic> {
    op.decl().map(|decl| Kind::Operation(Declared(decl))).ok_or_else(|| op.error("C0", "it is not declared"))
}

impl fmt::Debug for Built {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}results {:?}", self.graph, self.results)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shift_is_a_product() {
        let [shl, mul] = ["shl", "mul"].map(|name| Function::find(name).expect(name));
        for x in (0..400_u32).map(|at| at.wrapping_mul(0x9e37_79b9)) {
            for by in 0..31 {
                let shifted = shl.apply(DType::I32, &[x, by]);
                assert_eq!(shifted, mul.apply(DType::I32, &[x, 1 << by]), "{x:#x} << {by}");
                assert_eq!(shifted, Some(x << by));
            }
        }
    }

    #[test]
    fn functions_commute_bit_for_bit() {
        let edges = [0_u32, 1, 31].into_iter().chain(visa_numerics::edges::F32);
        let values: Vec<u32> = edges.chain((0..200_u32).map(|at| at.wrapping_mul(0x9e37_79b9))).collect();
        for name in COMMUTE {
            let function = Function::find(name).expect(name);
            for dtype in function.formats() {
                for (&x, &y) in values.iter().flat_map(|x| values.iter().map(move |y| (x, y))) {
                    let [there, back] = [[x, y], [y, x]].map(|args| function.apply(dtype, &args));
                    assert_eq!(there, back, "{name} {dtype} {x:#x} {y:#x}");
                }
            }
        }
    }
}
