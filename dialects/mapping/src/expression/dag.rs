//! The semantics of an expression for operands of given formats: operations of the vector engine, each different one
//! once.

use super::functions::Function;
use super::named::named;
use super::{Expression, Term};
use std::collections::HashMap;
use visa_numerics::{Apply, Bits, DType, default_mode, from_number};

/// Most operations of the engine in an expression, definitions written out.
pub const MAX_OPERATIONS: usize = 64;

/// Operations, operands and numbers; equal ones are there once, and arguments come first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dag {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The one that is the result.
    pub root: usize,
}

/// A node of a [`Dag`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// Its kind.
    pub kind: NodeKind,
    /// The format of its value.
    pub dtype: DType,
}

/// Kind of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// The operand of this number.
    Operand(usize),
    /// A number.
    Number(Bits),
    /// A function of earlier nodes.
    Apply(&'static Function, Vec<usize>),
}

/// Reason why an expression has no semantics for the operands' formats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeError {
    /// The text found and the text expected.
    pub message: String,
    /// The corrected text, if there is exactly one.
    pub fix: Option<String>,
}

impl TypeError {
    fn new(message: String) -> Self {
        Self { message, fix: None }
    }
}

/// An argument before its counterpart is known.
#[derive(Clone, Copy)]
enum Value {
    Node(usize),
    Number(f64),
}

impl Dag {
    /// The meaning of `expression` for operands of the formats `dtypes`, in their order.
    ///
    /// # Errors
    /// A function of formats that it does not take, a number that its format does not hold, more than
    /// [`MAX_OPERATIONS`].
    pub fn new(expression: &Expression, dtypes: &[DType]) -> Result<Self, TypeError> {
        let mut builder = Builder { nodes: Vec::new(), known: HashMap::new(), operations: 0 };
        let operands = dtypes.iter().enumerate();
        let operands: Vec<Value> = operands
            .map(|(at, &dtype)| builder.node(NodeKind::Operand(at), dtype).map(Value::Node))
            .collect::<Result<_, _>>()?;
        match builder.term(&expression.term, &operands)? {
            Value::Node(root) => Ok(Self { nodes: builder.nodes, root }),
            Value::Number(_) => Err(TypeError::new("the expression depends on no operand".to_owned())),
        }
    }

    /// The format of the result.
    #[must_use]
    pub fn dtype(&self) -> Option<DType> {
        self.nodes.get(self.root).map(|node| node.dtype)
    }

    /// The result for one element of each operand, operation by operation; `None` for fewer operands than it was
    /// made with.
    #[must_use]
    pub fn eval(&self, operands: &[Bits]) -> Option<Bits> {
        Steps::of(self)?.eval(operands)
    }
}

/// Most nodes whose values are kept without an allocation.
const FEW_NODES: usize = 16;

/// A [`Dag`] with the operation of the engine at each node looked up, for many elements.
#[derive(Clone, Debug)]
pub struct Steps {
    steps: Vec<Step>,
    root: usize,
}

/// The value of a node.
#[derive(Clone, Debug)]
enum Step {
    Operand(usize),
    Number(Bits),
    /// An operation of earlier values.
    Apply(&'static Apply, [usize; 3]),
}

impl Steps {
    /// The operations of an expression, in order; `None` if one has no operation for its format.
    #[must_use]
    pub fn of(dag: &Dag) -> Option<Self> {
        let step = |node: &Node| {
            Some(match &node.kind {
                NodeKind::Operand(at) => Step::Operand(*at),
                NodeKind::Number(bits) => Step::Number(*bits),
                NodeKind::Apply(function, args) => {
                    let dtype = dag.nodes.get(*args.first()?)?.dtype;
                    let row = function.rows(dtype).next()?;
                    let mut ports = [0; 3];
                    if args.len() != function.arity {
                        return None;
                    }
                    ports.get_mut(..function.arity)?.copy_from_slice(args);
                    Step::Apply(&row.apply, ports)
                }
            })
        };
        Some(Self { steps: dag.nodes.iter().map(step).collect::<Option<_>>()?, root: dag.root })
    }

    /// The result for one element of each operand; `None` for fewer operands than the expression has.
    #[must_use]
    pub fn eval(&self, operands: &[Bits]) -> Option<Bits> {
        if self.steps.len() <= FEW_NODES {
            self.eval_in(operands, &mut [0; FEW_NODES])
        } else {
            self.eval_in(operands, &mut vec![0; self.steps.len()])
        }
    }

    fn eval_in(&self, operands: &[Bits], values: &mut [Bits]) -> Option<Bits> {
        for (at, step) in self.steps.iter().enumerate() {
            let value = match step {
                Step::Operand(at) => *operands.get(*at)?,
                Step::Number(bits) => *bits,
                Step::Apply(apply, [stream, first, second]) => {
                    let others = [*values.get(*first)?, *values.get(*second)?];
                    apply.eval(default_mode(apply.arity()), *values.get(*stream)?, others)
                }
            };
            *values.get_mut(at)? = value;
        }
        values.get(self.root).copied()
    }
}

struct Builder {
    nodes: Vec<Node>,
    known: HashMap<Node, usize>,
    operations: usize,
}

impl Builder {
    fn node(&mut self, kind: NodeKind, dtype: DType) -> Result<usize, TypeError> {
        let node = Node { kind, dtype };
        if let Some(&known) = self.known.get(&node) {
            return Ok(known);
        }
        if matches!(node.kind, NodeKind::Apply(..)) {
            self.operations += 1;
            if self.operations > MAX_OPERATIONS {
                let message = format!(
                    "the expression has more than {MAX_OPERATIONS} operations, definitions written out"
                );
                return Err(TypeError::new(message));
            }
        }
        self.nodes.push(node.clone());
        self.known.insert(node, self.nodes.len() - 1);
        Ok(self.nodes.len() - 1)
    }

    fn term(&mut self, term: &Term, operands: &[Value]) -> Result<Value, TypeError> {
        match term {
            Term::Number(number) => Ok(Value::Number(*number)),
            Term::Name(at) => {
                operands.get(*at).copied().ok_or_else(|| TypeError::new(format!("there is no operand {at}")))
            }
            Term::Call(name, args) => {
                let args = args.iter().map(|arg| self.term(arg, operands)).collect::<Result<Vec<_>, _>>()?;
                match (Function::find(name), named(name)) {
                    (Some(function), _) => self.apply(function, &args).map(Value::Node),
                    (None, Some(definition)) => self.term(&definition.term, &args),
                    (None, None) => Err(TypeError::new(format!("unknown function `{name}`"))),
                }
            }
        }
    }

    fn apply(&mut self, function: &'static Function, args: &[Value]) -> Result<usize, TypeError> {
        let dtype = self.format(function, args)?;
        let Some(row) = function.rows(dtype).next() else {
            let able: Vec<_> = function.formats().iter().map(|dtype| format!("`{dtype}`")).collect();
            let message =
                format!("`{}` works on {}, its argument is `{dtype}`", function.name, able.join(" and "));
            return Err(TypeError { fix: conversion(&[dtype]), ..TypeError::new(message) });
        };
        let (from, to) = (row.from, row.to);
        let args = args.iter().enumerate();
        let args = args.map(|(at, &arg)| match arg {
            Value::Node(node) => Ok(node),
            Value::Number(number) if function.is_conversion() && at == 1 => {
                let width = from_number(DType::I32, number).filter(|&width| width < 32);
                let width = width.ok_or_else(|| {
                    TypeError::new(format!("an integer width of {number}, expected 0 to 31 bits"))
                })?;
                self.node(NodeKind::Number(width), DType::I32)
            }
            Value::Number(number) => {
                let bits = from_number(from, number).ok_or_else(|| {
                    TypeError::new(format!("{number} is no `{from}`, which `{}` takes here", function.name))
                })?;
                self.node(NodeKind::Number(bits), from)
            }
        });
        let args = args.collect::<Result<Vec<_>, _>>()?;
        self.node(NodeKind::Apply(function, args), to)
    }

    /// The one format of the arguments that have one.
    fn format(&self, function: &Function, args: &[Value]) -> Result<DType, TypeError> {
        let of = |arg: &Value| match arg {
            Value::Node(node) => self.nodes.get(*node).map(|node| node.dtype),
            Value::Number(_) => None,
        };
        if function.is_conversion() {
            return match (args.first().and_then(of), args.get(1).map(of)) {
                (Some(dtype), Some(None)) => Ok(dtype),
                (Some(_), _) => {
                    Err(TypeError::new(format!("`{}` takes its integer width as a number", function.name)))
                }
                (None, _) => Err(numbers(function)),
            };
        }
        let mut formats = args.iter().filter_map(of);
        let Some(first) = formats.next() else { return Err(numbers(function)) };
        match formats.find(|&other| other != first) {
            None => Ok(first),
            Some(other) => {
                let message = format!("`{}` of `{first}` and `{other}`, expected one format", function.name);
                Err(TypeError { fix: conversion(&[first, other]), ..TypeError::new(message) })
            }
        }
    }
}

fn numbers(function: &Function) -> TypeError {
    let fix = Some("write the number that it is".to_owned());
    TypeError { fix, ..TypeError::new(format!("`{}` of numbers alone", function.name)) }
}

/// The fix for formats that a function does not take, or not together: the conversion within the expression if it
/// exists.
fn conversion(dtypes: &[DType]) -> Option<String> {
    if dtypes.iter().any(|dtype| !matches!(dtype, DType::I32 | DType::F32)) {
        return Some("convert the operand with a cast before".to_owned());
    }
    let function = if dtypes.contains(&DType::F32) { "fixed" } else { "float" };
    Some(format!("convert with `{function}(x, 31)`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dag(text: &str, dtypes: &[DType]) -> Result<Dag, String> {
        let expression = Expression::parse(text).map_err(|error| error.message)?;
        Dag::new(&expression, dtypes).map_err(|error| error.message)
    }

    #[test]
    fn values_by_hand() {
        let f = |x: f32| x.to_bits();
        for (text, x, expected) in [
            ("[x: max(x + 1, 0)]", f(-3.0), f(0.0)),
            ("[x: x * x - 1]", f(3.0), f(8.0)),
            ("[x: -x]", f(0.0), f(-0.0)),
            ("[x: abs(x)]", f(-2.5), f(2.5)),
            ("[x: clamp(x, -1, 1)]", f(7.0), f(1.0)),
            ("[x: leaky_relu(x, 0.5)]", f(-4.0), f(-2.0)),
            ("[x: float(fixed(x, 31), 31)]", f(2.5), f(3.0)),
            ("[x: hard_sigmoid(x)]", f(9.0), f(1.0)),
        ] {
            let dag = dag(text, &[DType::F32]).expect(text);
            assert_eq!(
                f32::from_bits(dag.eval(&[x]).expect("one operand")),
                f32::from_bits(expected),
                "{text}"
            );
            assert_eq!(dag.eval(&[x]).expect("one operand"), expected, "{text}");
        }
        let int = |x: i32| x.cast_unsigned();
        for (text, x, expected) in
            [("[x: -x]", 7, -7), ("[x: shl(x, 3) + 1]", 2, 17), ("[x: relu(x)]", -4, 0)]
        {
            assert_eq!(dag(text, &[DType::I32]).expect(text).eval(&[int(x)]), Some(int(expected)), "{text}");
        }
    }

    /// x, its product with a number, the error function, fma, and the product with x: definitions are shared, not
    /// copied.
    #[test]
    fn equal_operations_are_there_once() {
        let operations = |text| {
            let dag = dag(text, &[DType::F32]).expect(text);
            dag.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Apply(..))).count()
        };
        assert_eq!(operations("[x: gelu(x)]"), 4);
        assert_eq!(operations("[x: gelu(x) + gelu(x)]"), 5);
        assert_eq!(operations("[x: silu(silu(silu(silu(x))))]"), 8);
    }

    #[test]
    fn formats_are_checked() {
        for (text, dtypes, message) in [
            ("[x: exp(x)]", &[DType::I32][..], "`exp` works on `f32`, its argument is `i32`"),
            ("[x: shl(x, 1)]", &[DType::F32], "`shl` works on `i32`, its argument is `f32`"),
            ("[x: x / 2]", &[DType::I32], "`div` works on `f32`"),
            ("[x, y: x + y]", &[DType::F32, DType::I32], "`add` of `f32` and `i32`"),
            ("[x: x + 0.5]", &[DType::I32], "0.5 is no `i32`"),
            ("[x: x * 1e39]", &[DType::F32], "is no `f32`"),
            ("[x: x * exp(1)]", &[DType::F32], "`exp` of numbers alone"),
            ("[x: float(x, 32)]", &[DType::I32], "an integer width of 32, expected 0 to 31 bits"),
            ("[x: float(x, x)]", &[DType::I32], "takes its integer width as a number"),
            ("[x: float(x, 31)]", &[DType::F32], "`float` works on `i32`"),
        ] {
            let found = dag(text, dtypes).expect_err(text);
            assert!(found.contains(message), "{text}: {found}");
        }
        let long =
            |count: usize| (0..count).fold("x".to_owned(), |inner, at| format!("{inner} + {}", at + 1));
        let text = |count| format!("[x: {}]", long(count));
        assert!(dag(&text(MAX_OPERATIONS), &[DType::F32]).is_ok());
        assert!(
            dag(&text(MAX_OPERATIONS + 1), &[DType::F32])
                .is_err_and(|why| why.contains("more than 64 operations"))
        );
    }
}
