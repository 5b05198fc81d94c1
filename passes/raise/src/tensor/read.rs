//! A function of the tensor level as terms of an e-graph.

use crate::tensor::facts::{Graph, unwritten};
use crate::tensor::term::{Head, Term};
use egg::Id;
use std::collections::{HashMap, HashSet};
use visa_ir::context::TypeId;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{BlockId, Module, OpId, OpRef, ValueId};
use visa_mapping::expression::NodeKind;
use visa_mapping::ops::func::{RETURN, signature};
use visa_mapping::ops::{constant, control, map};

/// Most loops around an operation.
pub(crate) const MAX_DEPTH: usize = 60;

/// Adds a function to an e-graph. Returns the classes of its results.
///
/// # Errors
/// An operation without a declaration, or loops that nest too deep.
pub(crate) fn read(graph: &mut Graph<'_>, module: &Module, func: OpId) -> Result<Vec<Id>, Diagnostic> {
    let func = module.op(graph.analysis.ctx, func);
    let (arguments, results) = signature(func);
    let mut reading = Reading { graph, values: HashMap::new(), depth: 0 };
    for (number, &argument) in arguments.iter().enumerate() {
        reading.symbol(argument, Head::Argument(number, module.ty(argument)));
    }
    for &block in func.regions() {
        reading.block(func, block)?;
    }
    results.iter().map(|&value| reading.value(func, value)).collect()
}

struct Reading<'g, 'a> {
    graph: &'g mut Graph<'a>,
    values: HashMap<ValueId, Id>,
    depth: usize,
}

impl Reading<'_, '_> {
    fn value(&self, op: OpRef<'_>, value: ValueId) -> Result<Id, Diagnostic> {
        self.values.get(&value).copied().ok_or_else(|| op.error("C0", "a value is not known"))
    }

    fn all(&self, op: OpRef<'_>, values: &[ValueId]) -> Result<Vec<Id>, Diagnostic> {
        values.iter().map(|&value| self.value(op, value)).collect()
    }

    fn symbol(&mut self, value: ValueId, head: Head) {
        let id = self.graph.add(Term::new(head, []));
        self.values.insert(value, id);
    }

    fn block(&mut self, around: OpRef<'_>, block: BlockId) -> Result<(), Diagnostic> {
        around.module.ops(block).iter().try_for_each(|&id| self.operation(around.other(id)))
    }

    fn operation(&mut self, op: OpRef<'_>) -> Result<(), Diagnostic> {
        if op.is(&control::YIELD) || op.is(&RETURN) {
            return Ok(());
        }
        if op.is(&control::FOR) {
            return self.repeat(op);
        }
        if op.is(&control::IF) {
            return self.branch(op);
        }
        let [result] = op.results() else { return Err(op.error("C0", "it has no result")) };
        let plain_map = map::Map::cast(op).filter(|map| !map.fast());
        let id = match (plain_map, number(op)?) {
            (Some(map), _) => self.expression(map)?,
            (None, Some(number)) => self.graph.add(Term::new(number, [])),
            (None, None) => {
                let operands = self.all(op, op.operands())?;
                self.declared(op, operands)?
            }
        };
        self.values.insert(*result, id);
        Ok(())
    }

    /// The term of an operation: its operands, and a child for each declared clause.
    fn declared(&mut self, op: OpRef<'_>, mut children: Vec<Id>) -> Result<Id, Diagnostic> {
        let ctx = self.graph.analysis.ctx;
        let decl = op.decl().ok_or_else(|| op.error("C0", "it is not declared"))?;
        for clause in decl.clauses {
            let head = match op.clauses().iter().find(|written| written.name == clause.name) {
                Some(written) => Head::Clause(written.value),
                None => unwritten(ctx, clause)
                    .ok_or_else(|| op.error("C0", format!("clause `{}` is missing", clause.name)))?,
            };
            children.push(self.graph.add(Term::new(head, [])));
        }
        Ok(self.graph.add(Term::new(Head::operation(decl), children)))
    }

    /// An expression of elements, function by function. An operand that it does not use counts, too: the result is
    /// undefined where that is.
    fn expression(&mut self, op: map::Map<'_>) -> Result<Id, Diagnostic> {
        let operands = self.all(*op, op.operands())?;
        let dag = map::computation(op)?;
        let mut ids: Vec<Id> = Vec::with_capacity(dag.nodes.len());
        let mut used = HashSet::new();
        let mut open = vec![dag.root];
        while let Some(at) = open.pop() {
            if let (true, NodeKind::Apply(_, args)) = (used.insert(at), &dag.nodes[at].kind) {
                open.extend(args);
            }
        }
        for node in &dag.nodes {
            let term = match &node.kind {
                NodeKind::Operand(at) => {
                    ids.push(operands[*at]);
                    continue;
                }
                NodeKind::Number(bits) => Term::new(Head::Number(node.dtype, *bits), []),
                NodeKind::Apply(function, args) => {
                    let name = self.graph.add(Term::new(Head::Name(function), []));
                    let args = args.iter().map(|&arg| ids[arg]);
                    Term::new(Head::Apply, std::iter::once(name).chain(args).collect::<Vec<_>>())
                }
            };
            ids.push(self.graph.add(term));
        }
        let mut root = ids[dag.root];
        for (at, node) in dag.nodes.iter().enumerate() {
            if matches!(node.kind, NodeKind::Operand(_)) && !used.contains(&at) {
                root = self.graph.add(Term::new(Head::WhereDefined, [root, ids[at]]));
            }
        }
        Ok(root)
    }

    fn repeat(&mut self, op: OpRef<'_>) -> Result<(), Diagnostic> {
        let Some(&body) = op.regions().first() else { return Ok(()) };
        let initial = self.all(op, op.operands())?;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(op.error("C0", format!("more than {MAX_DEPTH} loops are around an operation")));
        }
        let depth = self.depth;
        if let Some(&index) = op.module.args(body).first() {
            self.symbol(index, Head::Index(depth, op.module.ty(index)));
        }
        for (number, (&argument, &initial)) in control::arguments(op).iter().zip(op.operands()).enumerate() {
            let ty: TypeId = op.module.ty(initial);
            self.symbol(argument, Head::Carried { depth, number, ty });
        }
        self.block(op, body)?;
        let given = self.all(op, control::yielded(op))?;
        self.depth -= 1;
        let over = op.clauses().iter().find(|clause| clause.name == "over");
        let over = over.ok_or_else(|| op.error("C0", "clause `over` is missing"))?;
        let over = self.graph.add(Term::new(Head::Clause(over.value), []));
        self.results(op, Head::Loop(depth), vec![over], initial, given);
        Ok(())
    }

    fn branch(&mut self, op: OpRef<'_>) -> Result<(), Diagnostic> {
        let initial = self.all(op, control::initial(op))?;
        let number = self.all(op, &op.operands()[..1])?;
        for &block in op.regions() {
            self.block(op, block)?;
        }
        let given = self.all(op, control::yielded(op))?;
        let mut children = Vec::new();
        for name in ["from", "below"] {
            let written = op.clauses().iter().find(|clause| clause.name == name);
            let head = written.map_or(Head::Absent, |written| Head::Clause(written.value));
            children.push(self.graph.add(Term::new(head, [])));
        }
        children.extend(number);
        self.results(op, Head::Branch, children, initial, given);
        Ok(())
    }

    fn results(&mut self, op: OpRef<'_>, head: Head, mut first: Vec<Id>, initial: Vec<Id>, given: Vec<Id>) {
        first.extend(initial);
        first.extend(given);
        let all = self.graph.add(Term::new(head, first));
        for (number, &result) in op.results().iter().enumerate() {
            let id = self.graph.add(Term::new(Head::Result(number), [all]));
            self.values.insert(result, id);
        }
    }
}

/// The number that a constant is, if it is one number.
fn number(op: OpRef<'_>) -> Result<Option<Head>, Diagnostic> {
    let Some(constant) = constant::Constant::cast(op) else { return Ok(None) };
    if constant.along()?.is_some() {
        return Ok(None);
    }
    let bits = *constant::elements(constant)?.first().ok_or_else(|| op.error("C2", "no number"))?;
    Ok(Some(Head::Number(*constant.dtype()?, bits)))
}
