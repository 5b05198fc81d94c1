//! Bounds of the rounding errors of a term, by which a rule of real arithmetic may differ.
//!
//! Each operation rounds its result once, except for the exponential function, whose result may be some units off. A
//! bound follows from the greatest magnitudes of the operands and from their bounds.

use crate::tensor::facts::{Graph, Kind};
use crate::tensor::term::{Head, Term};
use egg::Id;
use std::rc::Rc;
use visa_algebra::Expr;
use visa_mapping::ops::{cast, constant, contract, reduce, rename, restrict, where_};
use visa_numerics::{DType, from_number, to_f64};

/// Units in the last place by which the vector engine's exponential function may be off.
const UNITS_OF_EXP: f64 = 4.0;

/// The greatest magnitude of the elements of a value, and a bound of their errors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    /// The greatest magnitude.
    pub(crate) most: f64,
    /// The greatest error.
    pub(crate) error: f64,
}

/// The greatest magnitude of arguments: those of `Small` and `Moderate`.
fn most(dtype: DType) -> f64 {
    if dtype.is_float() { 3.0 } else { 8.0 }
}

/// The relative error of one rounding to a format: operations on integers are exact.
fn unit(dtype: DType) -> Option<f64> {
    if !dtype.is_float() {
        return Some(0.0);
    }
    let one = from_number(dtype, 1.0)?;
    Some((to_f64(dtype, one + 1) - 1.0) / 2.0)
}

/// The bound of a class, whose arguments are small; `None` for operations without one.
pub(crate) fn bound(graph: &Graph<'_>, class: Id) -> Option<Bound> {
    let class = graph.find(class);
    let term = graph[class].nodes.first()?;
    let of = |at: usize| bound(graph, *term.children.get(at)?);
    let dtype = graph.analysis.value(&graph[class].data)?.dtype;
    match &term.head {
        Head::Argument(..) => Some(Bound { most: most(dtype), error: 0.0 }),
        Head::Number(dtype, bits) => Some(Bound { most: to_f64(*dtype, *bits).abs(), error: 0.0 }),
        Head::Apply => function(graph, term),
        Head::Operation(_) => {
            let is = |decl| term.head == Head::operation(decl);
            if is(&rename::BROADCAST) || is(&restrict::RESTRICT) {
                return of(0);
            }
            if is(&where_::DECL) {
                let (then, otherwise) = (of(1)?, of(2)?);
                return Some(Bound {
                    most: then.most.max(otherwise.most),
                    error: then.error.max(otherwise.error),
                });
            }
            if is(&constant::INDEX) {
                return Some(Bound { most: positions(graph, term, 0)?, error: 0.0 });
            }
            if is(&cast::DECL) {
                return converted(graph, term, dtype);
            }
            if is(&reduce::DECL) {
                return sum(of(0)?, positions(graph, term, 1)?, unit(dtype)?);
            }
            if is(&contract::DECL) {
                let product = product(of(0)?, of(1)?);
                return sum(rounded(product, unit(dtype)?)?, positions(graph, term, 0)?, unit(dtype)?);
            }
            None
        }
        Head::Index(..) | Head::Carried { .. } | Head::WhereDefined | Head::Loop(_) | Head::Branch => None,
        Head::Result(_) | Head::Clause(_) | Head::Absent | Head::Name(_) => None,
    }
}

/// A cast of numbers. An integer is not rounded relative to its magnitude: such a cast has no bound.
fn converted(graph: &Graph<'_>, term: &Term, dtype: DType) -> Option<Bound> {
    let operand = *term.children.first()?;
    let from = graph.analysis.value(&graph[operand].data)?.dtype;
    let bits = *term.children.last()?;
    let numbers = graph[bits].data.kind == Kind::Clause(None) && (dtype.is_float() || !from.is_float());
    numbers.then(|| rounded(bound(graph, operand)?, unit(dtype)?))?
}

/// A value that is rounded once more.
fn rounded(value: Bound, unit: f64) -> Option<Bound> {
    let most = (value.most + value.error) * (1.0 + unit);
    Some(Bound { most, error: value.error + (value.most + value.error) * unit })
}

fn product(left: Bound, right: Bound) -> Bound {
    let most = left.most * right.most;
    Bound { most, error: left.error * right.most + right.error * left.most + left.error * right.error }
}

/// The sum of as many elements, in any order.
fn sum(element: Bound, positions: f64, unit: f64) -> Option<Bound> {
    let most = element.most * positions;
    let error = element.error * positions;
    Some(Bound { most, error: error + (most + error) * unit * positions })
}

fn positions(graph: &Graph<'_>, term: &Term, clause: usize) -> Option<f64> {
    let Head::Operation(declared) = &term.head else { return None };
    let at = term.children.len() - declared.0.clauses.len() + clause;
    let Kind::Clause(Some(attr)) = graph[*term.children.get(at)?].data.kind else { return None };
    let over: Rc<Expr> = graph.analysis.ctx.attr_value(attr)?;
    Some(over.size(&graph.analysis.axes).ok()? as f64)
}

fn function(graph: &Graph<'_>, term: &Term) -> Option<Bound> {
    let (&name, arguments) = term.children.split_first()?;
    let Kind::Function(function) = graph[name].data.kind else { return None };
    let arguments: Vec<Bound> =
        arguments.iter().map(|&argument| bound(graph, argument)).collect::<Option<_>>()?;
    // A function of integers is exact.
    let dtype = graph.analysis.value(&graph[*term.children.get(1)?].data)?.dtype;
    let one = unit(dtype)?;
    let plus =
        |left: Bound, right: Bound| Bound { most: left.most + right.most, error: left.error + right.error };
    match (function.name, arguments.as_slice()) {
        ("add" | "sub", [x, y]) => rounded(plus(*x, *y), one),
        ("mul" | "fused_mul", [x, y]) => rounded(product(*x, *y), one),
        ("fma", [x, y, z]) => rounded(plus(product(*x, *y), *z), one),
        ("exp" | "negexp", [x]) => {
            let most = x.most.exp();
            let value = Bound { most, error: most * x.error.exp_m1() };
            rounded(value, one * UNITS_OF_EXP)
        }
        // The divisors of rules are exponentials: at least exp(-most).
        ("div", [x, y]) => {
            let least = 1.0 / y.most - y.error;
            let quotient =
                Bound { most: x.most / least, error: (x.error + x.most * y.error / least) / least };
            (least > 0.0).then(|| rounded(quotient, one))?
        }
        (_, _) => None,
    }
}
