//! Rules about operations on values as a kind of rules.

use crate::tensor::computed::{Computed, Predicate};
use crate::tensor::facts::unwritten;
use crate::tensor::rule::{Equality, Rule, Side, Tensor, Test, Variable};
use crate::tensor::sound::check;
use crate::tensor::term::Head;
use visa_ir::context::{Attr, Context};
use visa_ir::decl::{Arity, ClauseDecl, ClauseKind, OpDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_mapping::expression::Function;
use visa_rules::{Kind, RuleKind, Scope, Syntax, Tree, Verdict, refuse};

/// The name of a function that a metavariable stands for: `each(F, x, y)`.
const EACH: &str = "each";

/// The name of [`Head::WhereDefined`].
const WHERE_DEFINED: &str = "where_defined";

impl RuleKind for Tensor {
    const KIND: Kind = Kind::Tensor;
    const FORM: &'static str = "the form of a rule is `rule NAME: OPERATION => OPERATION if CONDITION`";
    const BOTH_WAYS: bool = true;
    const CONDITIONS: &'static [&'static str] = &Predicate::NAMES;

    type Session<'a> = &'a Context;
    type Sort = Variable;
    type Options = Equality;
    type Side = Side;
    type Test = Test;

    fn arguments(predicate: &str) -> usize {
        Predicate::find(predicate).map_or(1, Predicate::arguments)
    }

    fn options(_: &Context, _: &Tree<'_>, options: &[Tree<'_>]) -> Result<Equality, Diagnostic> {
        match options {
            [] => Ok(Equality::Bits),
            [option] if option.as_str() == Equality::REALS => Ok(Equality::Reals),
            [.., option] => {
                let message = format!(
                    "`{}` is no option of a tensor rule; expected `{}`, or none for a rule that holds bit for bit",
                    option.as_str(),
                    Equality::REALS
                );
                Err(refuse("rule-option", option, message).fix("write `:` after the name".to_owned()))
            }
        }
    }

    fn side(
        ctx: &Context,
        _: &Equality,
        scope: &mut Scope<Variable>,
        side: Tree<'_>,
    ) -> Result<Side, Diagnostic> {
        let read = Reader { ctx, scope }.value(side.clone())?;
        if matches!(read, Side::Variable(_)) && scope.binding() {
            let message = format!("`{}` matches every value; expected an operation", side.as_str().trim());
            return Err(refuse("rule-left", &side, message));
        }
        Ok(read)
    }

    fn test(scope: &mut Scope<Variable>, test: Tree<'_>) -> Result<Test, Diagnostic> {
        let whole = test.clone();
        let mut parts = test.into_inner();
        let name = parts.next().and_then(|name| Predicate::find(name.as_str()));
        let predicate = name.ok_or_else(|| refuse("rule-syntax", &whole, "expected a condition"))?;
        let mut arguments = Vec::new();
        for term in parts {
            let Some(name) = metavariable(term.clone()) else {
                let message = format!("`{}` is not a metavariable", term.as_str().trim());
                return Err(refuse("rule-syntax", &term, message));
            };
            let slot = scope.position(name.as_str());
            let sort = slot.and_then(|slot| scope.names().get(slot)).map(|(_, sort)| *sort);
            arguments.push(scope.slot(&name, sort.unwrap_or(Variable::Value))?);
        }
        Ok(Test { predicate, arguments })
    }

    fn prove(ctx: &Context, rules: &[Rule]) -> Vec<Verdict> {
        rules.iter().map(|rule| check(ctx, rule)).collect()
    }
}

/// The metavariable that is all of a term.
fn metavariable(term: Tree<'_>) -> Option<Tree<'_>> {
    match term.as_rule() {
        Syntax::variable | Syntax::mapping => Some(term),
        Syntax::term | Syntax::literal | Syntax::number => {
            let mut parts = term.into_inner();
            let first = parts.next()?;
            if parts.next().is_none() { metavariable(first) } else { None }
        }
        _ => None,
    }
}

/// The reader of a side.
struct Reader<'a> {
    ctx: &'a Context,
    scope: &'a mut Scope<Variable>,
}

/// The arguments of an operation as they are written.
#[derive(Default)]
struct Arguments<'i> {
    values: Vec<Tree<'i>>,
    slots: Vec<Tree<'i>>,
    clauses: Vec<(Tree<'i>, Tree<'i>)>,
}

impl Reader<'_> {
    /// A tree of the grammar's rule `value`.
    fn value(&mut self, tree: Tree<'_>) -> Result<Side, Diagnostic> {
        let whole = tree.clone();
        match tree.into_inner().next() {
            Some(name) if name.as_rule() == Syntax::variable => {
                Ok(Side::Variable(self.scope.slot(&name, Variable::Value)?))
            }
            Some(applied) => self.applied(applied),
            None => Err(refuse("rule-syntax", &whole, "expected a value")),
        }
    }

    fn applied(&mut self, tree: Tree<'_>) -> Result<Side, Diagnostic> {
        let whole = tree.clone();
        let mut parts = tree.into_inner();
        let name = parts.next().ok_or_else(|| refuse("rule-syntax", &whole, "expected an operation"))?;
        let mut arguments = Arguments::default();
        for argument in parts.flat_map(Tree::into_inner) {
            match argument.as_rule() {
                Syntax::value => arguments.values.push(argument),
                Syntax::slot => arguments.slots.push(argument),
                _ => {
                    let mut pair = argument.into_inner();
                    arguments.clauses.extend(pair.next().zip(pair.next()));
                }
            }
        }
        if name.as_str() == EACH || name.as_str() == WHERE_DEFINED {
            return self.special(&name, arguments);
        }
        if let Some(function) = Function::find(name.as_str()) {
            return self.function(&name, function, arguments);
        }
        match self.ctx.op(&format!("tm.{}", name.as_str())).filter(|decl| is_of_values(decl)) {
            Some(decl) => self.operation(&name, decl, arguments),
            None => {
                let message = format!("`{}` is neither an operation on values nor a function", name.as_str());
                Err(refuse("rule-operation", &name, message))
            }
        }
    }

    /// `each(F, x, y)` and `where_defined(x, y)`.
    fn special(&mut self, name: &Tree<'_>, arguments: Arguments<'_>) -> Result<Side, Diagnostic> {
        let each = name.as_str() == EACH;
        let slots = usize::from(each);
        if arguments.slots.len() != slots || arguments.values.is_empty() || !arguments.clauses.is_empty() {
            let message = format!("expected `{EACH}(F, x, y)` or `{WHERE_DEFINED}(x, y)`");
            return Err(refuse("rule-operands", name, message));
        }
        let mut children = Vec::new();
        for slot in arguments.slots {
            children.push(Side::Variable(self.scope.slot(&slot, Variable::Function)?));
        }
        for value in arguments.values {
            children.push(self.value(value)?);
        }
        Ok(Side::Term(if each { Head::Apply } else { Head::WhereDefined }, children))
    }

    fn function(
        &mut self,
        name: &Tree<'_>,
        function: &'static Function,
        arguments: Arguments<'_>,
    ) -> Result<Side, Diagnostic> {
        let count = arguments.values.len();
        if count != function.arity || !arguments.slots.is_empty() || !arguments.clauses.is_empty() {
            let message =
                format!("`{}` has {}, expected {}", function.name, counted(count, "operand"), function.arity);
            return Err(refuse("rule-operands", name, message));
        }
        let mut children = vec![Side::Term(Head::Name(function), Vec::new())];
        for value in arguments.values {
            children.push(self.value(value)?);
        }
        Ok(Side::Term(Head::Apply, children))
    }

    fn operation(
        &mut self,
        name: &Tree<'_>,
        decl: &'static OpDecl,
        arguments: Arguments<'_>,
    ) -> Result<Side, Diagnostic> {
        if let Some(slot) = arguments.slots.first() {
            let message = format!("`{}` is a clause without its keyword", slot.as_str());
            return Err(refuse("rule-clause", slot, message));
        }
        let mut written: Vec<Option<Side>> = vec![None; decl.clauses.len()];
        let mut children = Vec::new();
        for value in arguments.values {
            // A flag is a word alone.
            let flag = decl.clauses.iter().position(|clause| {
                matches!(clause.kind, ClauseKind::Flag) && clause.name == value.as_str().trim()
            });
            match flag {
                Some(at) => written[at] = Some(self.attribute(Attr::Unit)),
                None => children.push(self.value(value)?),
            }
        }
        let least = decl.operands.iter().filter(|operand| operand.arity == Arity::One).count();
        let variadic = least < decl.operands.len();
        if children.len() < least || children.len() > least && !variadic {
            let message =
                format!("`{}` has {}, expected {least}", name.as_str(), counted(children.len(), "operand"));
            return Err(refuse("rule-operands", name, message));
        }
        for (keyword, parameter) in arguments.clauses {
            let Some(at) = decl.clauses.iter().position(|clause| clause.name == keyword.as_str()) else {
                let message = format!("`{}` has no clause `{}`", name.as_str(), keyword.as_str());
                return Err(refuse("rule-clause", &keyword, message));
            };
            written[at] = Some(self.parameter(&decl.clauses[at], &parameter)?);
        }
        for (clause, written) in decl.clauses.iter().zip(written) {
            let default = || unwritten(self.ctx, clause).map(|head| Side::Term(head, Vec::new()));
            let side = written.or_else(default).ok_or_else(|| {
                refuse("rule-clause", name, format!("`{}` lacks clause `{}`", name.as_str(), clause.name))
            })?;
            children.push(side);
        }
        Ok(Side::Term(Head::operation(decl), children))
    }

    fn attribute(&self, attr: Attr) -> Side {
        Side::Term(Head::Clause(self.ctx.attr(attr)), Vec::new())
    }

    /// A tree of the grammar's rule `parameter`.
    fn parameter(&mut self, clause: &ClauseDecl, tree: &Tree<'_>) -> Result<Side, Diagnostic> {
        let Some(inner) = tree.clone().into_inner().next() else {
            return Err(refuse("rule-syntax", tree, "expected a clause's value"));
        };
        match inner.as_rule() {
            Syntax::slot => Ok(Side::Variable(self.scope.slot(&inner, Variable::Clause)?)),
            Syntax::derived if self.scope.binding() => {
                Err(refuse("rule-left", &inner, "the left side has no computed clauses"))
            }
            Syntax::derived => {
                let mut parts = inner.clone().into_inner();
                let name = parts.next().map_or("", |name| name.as_str());
                let slots = parts.map(|slot| self.scope.slot(&slot, Variable::Clause));
                let slots = slots.collect::<Result<Vec<_>, _>>()?;
                match Computed::find(name).filter(|computed| computed.arguments() == slots.len()) {
                    Some(computed) => Ok(Side::Computed(computed, slots)),
                    None => {
                        let message = format!(
                            "`{name}` of {} is not computed; expected {}",
                            counted(slots.len(), "clause"),
                            Computed::NAMES.map(|name| format!("`{name}`")).join(", ")
                        );
                        Err(refuse("rule-function", &inner, message))
                    }
                }
            }
            _ => {
                let text = inner.as_str();
                let known = match clause.kind {
                    ClauseKind::Word(words) => words.contains(&text),
                    ClauseKind::Int | ClauseKind::Body(_) => true,
                    ClauseKind::Str | ClauseKind::Symbol | ClauseKind::Ints => false,
                    ClauseKind::Strs | ClauseKind::Flag => false,
                };
                match clause.kind.read_default(text).filter(|_| known) {
                    Some(attr) => Ok(self.attribute(attr)),
                    None => {
                        let expected = clause.kind.describe();
                        let message = format!("clause `{}` is `{text}`, expected {expected}", clause.name);
                        Err(refuse("rule-clause", &inner, message))
                    }
                }
            }
        }
    }
}

/// Returns true if an operation is one on values.
fn is_of_values(decl: &OpDecl) -> bool {
    decl.results == ["value"]
}
