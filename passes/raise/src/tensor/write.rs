//! Terms of an e-graph as a function of the tensor level.

use crate::tensor::choose::Choice;
use crate::tensor::facts::Graph;
use crate::tensor::fuse::Fusion;
use crate::tensor::schedule::{Entry, Schedule};
use crate::tensor::term::{Head, Term};
use egg::Id;
use std::collections::HashMap;
use std::rc::Rc;
use visa_algebra::Expr;
use visa_ir::build::NewOp;
use visa_ir::context::{Context, TypeId};
use visa_ir::decl::OpDecl;
use visa_ir::diag::Diagnostic;
use visa_ir::infer::result_types;
use visa_ir::module::{BlockId, Module, OpId, OpSpec, ValueId};
use visa_ir::span::Span;
use visa_mapping::ops::constant::Constant;
use visa_mapping::ops::control::{FOR, IF, Yield};
use visa_mapping::ops::func::{Return, signature};
use visa_mapping::ops::map::Map;
use visa_mapping::ops::rename::Rearrange;
use visa_mapping::tensor::numbers::Numbers;
use visa_mapping::tensor::value::Value;
use visa_numerics::{Bits, DType, from_number, to_f64};

/// Writes terms into the body of a function, which has its arguments. `types` are those of the results, in the order
/// of their arrays; `names` are those of some classes.
///
/// # Errors
/// An operation that cannot be built of them.
pub(crate) fn write(
    graph: &Graph<'_>,
    choice: &Choice,
    (results, names): (&[Id], &HashMap<Id, Rc<str>>),
    types: &[TypeId],
    (module, func): (&mut Module, OpId),
) -> Result<(), Diagnostic> {
    let ctx = graph.analysis.ctx;
    let op = module.op(ctx, func);
    let span = op.span();
    let body = *op.regions().first().ok_or_else(|| op.error("C0", "it has no body"))?;
    let arguments = signature(op).0.to_vec();
    let lost = || Diagnostic::error("raise", span, "a value of the canonical form has no term");
    let mut schedule = Schedule::new(graph, choice, results).ok_or_else(lost)?;
    let fusion = Fusion::new(graph, choice, &mut schedule, results);
    let (values, mut symbols) = (HashMap::new(), HashMap::new());
    symbols.extend(arguments.into_iter().enumerate().map(|(at, value)| (Symbol::Argument(at), value)));
    let mut writer = Writer { ctx, graph, choice, schedule, fusion, names, module, span, values, symbols };
    writer.block(0, body)?;
    let mut returned = Vec::new();
    for (&result, &ty) in results.iter().zip(types) {
        let value = writer.value(result)?;
        returned.push(writer.in_order(value, ty, body)?);
    }
    let end = Return::build_at(ctx, span, returned).spec();
    writer.module.append(body, end);
    Ok(())
}

/// A value that no operation makes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Symbol {
    Argument(usize),
    Index(usize),
    Carried(usize, usize),
}

struct Writer<'g, 'a, 'm> {
    ctx: &'a Context,
    graph: &'g Graph<'a>,
    choice: &'g Choice,
    schedule: Schedule<'g, 'a>,
    fusion: Fusion,
    names: &'g HashMap<Id, Rc<str>>,
    module: &'m mut Module,
    span: Span,
    values: HashMap<Id, Vec<ValueId>>,
    symbols: HashMap<Symbol, ValueId>,
}

impl Writer<'_, '_, '_> {
    fn lost(&self) -> Diagnostic {
        Diagnostic::error("raise", self.span, "a value of the canonical form is not known where it is used")
    }

    fn term(&self, class: Id) -> Result<Term, Diagnostic> {
        self.choice.term(self.graph.find(class)).cloned().ok_or_else(|| self.lost())
    }

    fn value(&self, class: Id) -> Result<ValueId, Diagnostic> {
        let term = self.term(class)?;
        let symbol = |symbol| self.symbols.get(&symbol).copied().ok_or_else(|| self.lost());
        match &term.head {
            Head::Argument(number, _) => symbol(Symbol::Argument(*number)),
            Head::Index(depth, _) => symbol(Symbol::Index(*depth)),
            Head::Carried { depth, number, .. } => symbol(Symbol::Carried(*depth, *number)),
            Head::Result(number) => {
                let all = term.children.first().and_then(|all| self.values.get(&self.graph.find(*all)));
                all.and_then(|all| all.get(*number)).copied().ok_or_else(|| self.lost())
            }
            Head::Number(..) | Head::Apply | Head::WhereDefined | Head::Operation(_) => {
                let value = self.values.get(&self.graph.find(class)).and_then(|values| values.first());
                value.copied().ok_or_else(|| self.lost())
            }
            Head::Loop(_) | Head::Branch | Head::Clause(_) | Head::Absent | Head::Name(_) => Err(self.lost()),
        }
    }

    fn all(&self, classes: &[Id]) -> Result<Vec<ValueId>, Diagnostic> {
        classes.iter().map(|&class| self.value(class)).collect()
    }

    fn block(&mut self, number: usize, block: BlockId) -> Result<(), Diagnostic> {
        for entry in self.schedule.blocks[number].entries.clone() {
            match entry {
                Entry::Value(class) => self.write(class, block)?,
                Entry::Around(class, body) => self.around(class, body, block)?,
            }
        }
        Ok(())
    }

    /// Appends an operation with the result that it infers.
    fn append(&mut self, block: BlockId, spec: OpSpec) -> Result<ValueId, Diagnostic> {
        let id = self.module.append(block, spec);
        let op = self.module.op(self.ctx, id);
        let infer = op.decl().and_then(|decl| Some((decl, decl.infer?)));
        let (decl, infer) = infer.ok_or_else(|| op.error("C0", "its result has no type"))?;
        let ty = result_types(op, decl, infer)?.first().copied();
        let ty = ty.ok_or_else(|| op.error("C0", "it has no result"))?;
        Ok(self.module.add_result(id, ty, None, self.span))
    }

    fn write(&mut self, class: Id, block: BlockId) -> Result<(), Diagnostic> {
        if self.fusion.parts.contains(&class) {
            return Ok(());
        }
        let term = self.term(class)?;
        let spec = match (&term.head, self.fusion.expressions.get(&class)) {
            (Head::Number(dtype, bits), _) => constant(self.ctx, self.span, *dtype, *bits),
            (Head::Operation(declared), _) => self.operation(declared.0, &term)?,
            (_, Some((expression, operands))) => {
                let operands = self.all(operands)?;
                Map::build_at(self.ctx, self.span, operands).expression(expression.clone()).spec()
            }
            (_, None) => return Err(self.lost()),
        };
        let value = self.append(block, spec)?;
        self.module.set_value_name(value, self.names.get(&class).cloned());
        self.values.insert(class, vec![value]);
        Ok(())
    }

    fn operation(&self, decl: &'static OpDecl, term: &Term) -> Result<OpSpec, Diagnostic> {
        let (operands, clauses) = term.children.split_at(term.children.len() - decl.clauses.len());
        let mut new = NewOp::written(decl, self.ctx, self.span).operands(self.all(operands)?);
        for (declared, &clause) in decl.clauses.iter().zip(clauses) {
            new = self.clause(new, declared.name, clause)?;
        }
        Ok(new.spec())
    }

    fn clause<'c>(&self, new: NewOp<'c>, name: &'static str, clause: Id) -> Result<NewOp<'c>, Diagnostic> {
        Ok(match self.term(clause)?.head {
            Head::Clause(attr) => new.attr_unless_default(name, self.ctx.attr_data(attr)),
            Head::Argument(..)
            | Head::Index(..)
            | Head::Carried { .. }
            | Head::Number(..)
            | Head::Apply
            | Head::WhereDefined
            | Head::Operation(_)
            | Head::Loop(_)
            | Head::Branch
            | Head::Result(_)
            | Head::Absent
            | Head::Name(_) => new,
        })
    }

    /// A loop or branch with its body.
    fn around(&mut self, class: Id, body: usize, block: BlockId) -> Result<(), Diagnostic> {
        let term = self.term(class)?;
        let (decl, names, depth): (&'static OpDecl, &[&'static str], _) = match term.head {
            Head::Loop(depth) => (&FOR, &["over"], Some(depth)),
            Head::Branch => (&IF, &["from", "below"], None),
            Head::Argument(..)
            | Head::Index(..)
            | Head::Carried { .. }
            | Head::Number(..)
            | Head::Apply
            | Head::WhereDefined
            | Head::Operation(_)
            | Head::Result(_)
            | Head::Clause(_)
            | Head::Absent
            | Head::Name(_) => {
                let message = "a term with a body is neither a loop nor a branch";
                return Err(Diagnostic::error("raise", self.span, message));
            }
        };
        let (clauses, values) = term.children.split_at(names.len());
        let numbers = usize::from(depth.is_none());
        let carried = (values.len() - numbers) / 2;
        let (operands, given) = values.split_at(numbers + carried);
        let operands = self.all(operands)?;
        let mut new = NewOp::written(decl, self.ctx, self.span).operands(operands.iter().copied());
        for (name, &clause) in names.iter().zip(clauses) {
            new = self.clause(new, name, clause)?;
        }
        let id = self.module.append(block, new.spec());
        let inside = self.module.add_region(id);
        let types: Vec<TypeId> = operands[numbers..].iter().map(|&value| self.module.ty(value)).collect();
        let before = self.symbols.clone();
        if let (Some(depth), Some(arguments)) = (depth, decl.arguments) {
            let index = arguments(self.module.op(self.ctx, id))?.into_iter().take(1);
            let symbols = (0..).map(|number| Symbol::Carried(depth, number));
            let symbols = std::iter::once(Symbol::Index(depth)).chain(symbols);
            for (symbol, ty) in symbols.zip(index.chain(types.iter().copied())) {
                let value = self.module.add_arg(inside, ty, None, self.span);
                self.symbols.insert(symbol, value);
            }
        }
        let outside = self.values.clone();
        self.block(body, inside)?;
        let given = self.all(given)?;
        let end = Yield::build_at(self.ctx, self.span, given).spec();
        self.module.append(inside, end);
        (self.symbols, self.values) = (before, outside);
        let results: Vec<ValueId> =
            types.into_iter().map(|ty| self.module.add_result(id, ty, None, self.span)).collect();
        self.values.insert(class, results);
        Ok(())
    }

    /// A value whose type has its axes in the order of `ty`: that of the array of a result.
    fn in_order(&mut self, value: ValueId, ty: TypeId, block: BlockId) -> Result<ValueId, Diagnostic> {
        let now = self.module.ty(value);
        if now == ty {
            return Ok(value);
        }
        let Some(wanted): Option<Rc<Value>> = self.ctx.type_value(ty) else { return Ok(value) };
        let axes = Expr::pair(wanted.axes.iter().map(|axis| Expr::axis(axis)));
        let new = Rearrange::build_at(self.ctx, self.span, [value]).from(axes.clone()).to(axes);
        self.append(block, new.spec())
    }
}

/// A constant, as a number if that has the bits.
fn constant(ctx: &Context, span: Span, dtype: DType, bits: Bits) -> OpSpec {
    let number = to_f64(dtype, bits);
    let exact = number.is_finite() && from_number(dtype, number) == Some(bits);
    let new = Constant::build_at(ctx, span).dtype(dtype);
    match exact {
        true => new.values(Numbers(vec![number])).spec(),
        false => new.values(Numbers(vec![f64::from(bits)])).bits(true).spec(),
    }
}
