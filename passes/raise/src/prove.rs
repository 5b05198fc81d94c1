//! The comparison of two kernels.

use crate::build::{Sums, build};
use crate::data::small_integers;
use crate::direct::{direct, is_open, order_results};
use crate::graph::Graph;
use crate::interface::{Interface, result_axes};
use crate::tensor::equal::{Proved, equal};
use crate::tensor::ruleset::RuleSet;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use visa_algebra::Axes;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId};
use visa_ir::verify::Analysis as _;
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::ops::func::{Func, signature};
use visa_mapping::raise::function::{Raised, raise};
use visa_mapping::tensor::value::Value;
use visa_numerics::{load, to_f64};
use visa_reference::{KernelArguments, LogicalResult, Options, Signature, entry_point, evaluate, interface};

/// Most elements of arguments and results for which two kernels are evaluated.
const MAX_ELEMENTS: u64 = 1 << 24;

/// Distance of two results, as part of the greatest number, from which on rounding cannot be the reason.
const ROUNDING: f64 = 1.0 / 64.0;

/// Functions of small integers whose results may be no integers.
const ROUNDS: [&str; 11] =
    ["div", "exp", "negexp", "sqrt", "tanh", "sigmoid", "erf", "log", "sin", "cos", "float"];

/// Integers below this are exact in `f32`.
const EXACT: f64 = 16_777_216.0;

/// The relation of two kernels.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// They compute the same bits: both have the same graph, or the same class of an e-graph.
    Equal {
        /// Values of the graph, or classes of the e-graph.
        values: usize,
        /// The rules of the tensor level that the proof uses; none if both have the same graph.
        rules: Vec<String>,
    },
    /// They sum the same elements, in another order.
    UpToOrder {
        /// Values of the graph without orders, or classes of the e-graph.
        values: usize,
        /// The rules of the tensor level that the proof uses; none if both have the same graph.
        rules: Vec<String>,
    },
    /// They differ.
    Different(Difference),
    /// Neither was found: the reason.
    Unknown(String),
}

/// An element in which two kernels differ, on data of small integers.
#[derive(Clone, Debug, PartialEq)]
pub enum Difference {
    /// A difference of the interfaces.
    Interface(String),
    /// An element of a result.
    Element {
        /// The result.
        result: String,
        /// The coordinates of the element in the array.
        index: Vec<u64>,
        /// Its value in each.
        values: [f64; 2],
    },
    /// An element that one kernel leaves undefined.
    Undefined {
        /// The result.
        result: String,
        /// The coordinates of the element in the array.
        index: Vec<u64>,
    },
}

/// A kernel of a module.
#[derive(Clone, Copy)]
pub struct Kernel<'a> {
    /// Its module.
    pub module: &'a Module,
    /// Its name; the only one if absent.
    pub entry: Option<&'a str>,
}

/// The relation of two kernels. If clauses of one are open, both are compared as functions of the tensor level.
///
/// # Errors
/// A kernel that does not exist, that has no function at the tensor level, or whose results depend on an open clause.
pub fn prove(ctx: &Context, left: Kernel<'_>, right: Kernel<'_>) -> Result<Verdict, Diagnostic> {
    let functions = [left, right].map(|kernel| entry_point(ctx, kernel.module, kernel.entry));
    let [first, second] = functions;
    let (first, second) = (first?, second?);
    if !is_open(ctx, left.module, first) && !is_open(ctx, right.module, second) {
        return compare(ctx, left, right, None);
    }
    let functions = [direct(ctx, left.module, first)?, direct(ctx, right.module, second)?];
    let [left, right] = [with_arrays(ctx, left.module, first)?, with_arrays(ctx, right.module, second)?];
    let kernel = |module| Kernel { module, entry: None };
    compare(ctx, kernel(&left), kernel(&right), Some(functions))
}

/// The function of a kernel, whose results have their axes in the order of the kernel's arrays.
fn with_arrays(ctx: &Context, module: &Module, func: OpId) -> Result<Module, Diagnostic> {
    let mut raised = direct(ctx, module, func)?;
    order_results(ctx, &mut raised, &Interface::of(ctx, module, func)?.result_axes)?;
    Ok(raised.module)
}

/// The relation of two kernels without open clauses; `functions` are theirs, if they are known.
fn compare(
    ctx: &Context,
    left: Kernel<'_>,
    right: Kernel<'_>,
    functions: Option<[Raised; 2]>,
) -> Result<Verdict, Diagnostic> {
    let kernels = [left, right];
    let [first, second] = kernels.map(|kernel| interface(ctx, kernel.module, kernel.entry));
    let (first, second) = (first?, second?);
    if let Some(difference) = other_interface(&first, &second) {
        return Ok(Verdict::Different(Difference::Interface(difference)));
    }
    let raised = |kernel: Kernel<'_>, signature: &Signature| {
        raise(ctx, kernel.module, named(ctx, kernel.module, &signature.entry)?)
    };
    let [one, other] = match functions {
        Some(functions) => functions,
        None => [raised(left, &first)?, raised(right, &second)?],
    };
    let axes = |kernel: Kernel<'_>| DeclaredAxes::build(ctx, kernel.module).0;
    let (one, other): ((Raised, Axes), (Raised, Axes)) = ((one, axes(left)), (other, axes(right)));
    let arrays = [(left, &first, &one.1), (right, &second, &other.1)].map(|(kernel, signature, axes)| {
        let func = named(ctx, kernel.module, &signature.entry)?;
        result_axes(ctx, kernel.module, func, axes)
    });
    let [ours, theirs] = arrays;
    let same_arrays = ours? == theirs?;
    let mut exact = true;
    for sums in [Sums::InOrder, Sums::InAnyOrder] {
        let built = build(ctx, &one.0.module, one.0.func, &one.1, sums, Graph::default())?;
        let results = built.results;
        let again = build(ctx, &other.0.module, other.0.func, &other.1, sums, built.graph)?;
        exact &= !again.graph.has(&ROUNDS);
        if again.results == results && same_sizes(&one.1, &other.1) && same_arrays {
            let (values, rules) = (again.graph.len(), Vec::new());
            let ordered = sums == Sums::InOrder && !again.graph.has_free_sums();
            return Ok(same(ordered, values, rules));
        }
        let comparable = sums == Sums::InOrder && same_arrays && same_sizes(&one.1, &other.1);
        if let Some(axes) = joined(&one.1, &other.1).filter(|_| comparable) {
            let whole = whole_arguments(ctx, &one, &first) && whole_arguments(ctx, &other, &second);
            let set = rules(ctx)?;
            let proved = equal(ctx, [&one.0, &other.0], (&axes, whole), &set)?;
            if let Some(Proved { classes, rules }) = proved {
                return Ok(same(!again.graph.has_free_sums(), classes, rules));
            }
        }
    }
    by_evaluation(ctx, kernels, [&first, &second], exact)
}

/// The verdict on functions that are the same, bit for bit if their sums are `ordered`.
fn same(ordered: bool, values: usize, rules: Vec<String>) -> Verdict {
    if ordered { Verdict::Equal { values, rules } } else { Verdict::UpToOrder { values, rules } }
}

/// The rules of a context. They were read before.
fn rules(ctx: &Context) -> Result<Rc<RuleSet>, Diagnostic> {
    RuleSet::of(ctx).map_err(|findings| {
        let none = || Diagnostic::error("rule-none", visa_ir::span::Span::default(), "there are no rules");
        findings.into_iter().next().unwrap_or_else(none)
    })
}

/// The axes of two modules together; `None` if an axis is skewed in one and the other has different ones.
fn joined(left: &Axes, right: &Axes) -> Option<Axes> {
    let missing: Vec<(&str, u64)> = right
        .iter()
        .filter(|(_, name, _)| left.id(name).is_none())
        .map(|(_, name, size)| (name, size))
        .collect();
    let mut all = left.clone();
    if left.has_skew() || right.has_skew() {
        let same = missing.is_empty() && left.iter().count() == right.iter().count();
        return same.then_some(all);
    }
    missing.into_iter().all(|(name, size)| all.declare(name, size).is_ok()).then_some(all)
}

/// Returns true if each argument of a function is an array with all coordinates along its axes.
fn whole_arguments(ctx: &Context, (raised, axes): &(Raised, Axes), interface: &Signature) -> bool {
    let func = raised.module.op(ctx, raised.func);
    let values =
        signature(func).0.iter().filter_map(|&value| ctx.type_value::<Value>(raised.module.ty(value)));
    values.zip(&interface.arguments).all(|(value, argument)| {
        let sizes = value.axes.iter().map(|axis| axes.id(axis).map(|axis| axes.size(axis)));
        sizes.collect::<Option<Vec<u64>>>().is_some_and(|sizes| sizes == argument.shape)
    })
}

/// The function of this name.
fn named(ctx: &Context, module: &Module, name: &str) -> Result<OpId, Diagnostic> {
    let mut functions = module.ops(module.body()).iter().filter_map(|&id| Func::cast(module.op(ctx, id)));
    let found = functions.find(|func| func.name().is_ok_and(|own| &*own == name));
    found.map(|func| func.id).ok_or_else(|| {
        let message = format!("there is no kernel `{name}`");
        Diagnostic::error("unknown-entry", visa_ir::span::Span::default(), message)
    })
}

/// Returns true if axes that two modules declare have the same sizes.
fn same_sizes(left: &Axes, right: &Axes) -> bool {
    left.iter().all(|(_, name, size)| right.id(name).is_none_or(|axis| right.size(axis) == size))
}

/// The difference of two interfaces, if there is one: arguments and results correspond by their order.
fn other_interface(left: &Signature, right: &Signature) -> Option<String> {
    for (what, ours, theirs) in
        [("argument", &left.arguments, &right.arguments), ("result", &left.results, &right.results)]
    {
        if ours.len() != theirs.len() {
            return Some(format!("one has {} {what}(s), the other {}", ours.len(), theirs.len()));
        }
        for (one, other) in ours.iter().zip(theirs) {
            if one.dtype != other.dtype || one.shape != other.shape {
                return Some(format!(
                    "{what} `{}` is `{}` of shape {:?}, `{}` is `{}` of shape {:?}",
                    one.name, one.dtype, one.shape, other.name, other.dtype, other.shape
                ));
            }
        }
    }
    let counts =
        |signature: &Signature| signature.scalars.iter().map(|scalar| scalar.count).collect::<Vec<_>>();
    (counts(left) != counts(right)).then(|| "the scalars are of different ranges".to_owned())
}

/// The verdict of the results on some data.
fn by_evaluation(
    ctx: &Context,
    kernels: [Kernel<'_>; 2],
    signatures: [&Signature; 2],
    exact: bool,
) -> Result<Verdict, Diagnostic> {
    let all = signatures[0].arguments.iter().chain(&signatures[0].results);
    let elements = all.map(|info| info.shape.iter().product::<u64>()).fold(0, u64::saturating_add);
    if elements > MAX_ELEMENTS {
        let why = format!(
            "the graphs differ, and {elements} elements are too many to evaluate (`--axis` sets sizes)"
        );
        return Ok(Verdict::Unknown(why));
    }
    for seed in 1..=3 {
        let mut found = Vec::new();
        for (kernel, signature) in kernels.iter().zip(signatures) {
            let arguments = arguments(signature, signatures[0], seed);
            let results =
                evaluate(ctx, kernel.module, Some(&signature.entry), &arguments, Options::default());
            match results {
                Ok(results) => found.push(results),
                Err(error) => {
                    return Ok(Verdict::Unknown(format!("the graphs differ, and {}", error.message)));
                }
            }
        }
        let [right, left] = [found.pop(), found.pop()].map(Option::unwrap_or_default);
        if let Some(difference) =
            left.iter().zip(&right).find_map(|(one, other)| different(one, other, exact))
        {
            return Ok(Verdict::Different(difference));
        }
    }
    let rounds = signatures[0].results.iter().any(|info| info.dtype.is_float());
    let but = if rounds { " but for rounding" } else { "" };
    let why = format!("the graphs differ, and on three sets of data the results are the same{but}");
    Ok(Verdict::Unknown(why))
}

fn arguments(signature: &Signature, names: &Signature, seed: u64) -> KernelArguments {
    let numbered = (1..).zip(&signature.arguments);
    let tensors: BTreeMap<String, Vec<u8>> = numbered
        .filter_map(|(number, info)| {
            let count = info.shape.iter().product();
            Some((info.name.clone(), small_integers(info.dtype, count, seed * 1000 + number)?))
        })
        .collect();
    let scalars = signature.scalars.iter().zip(&names.scalars);
    let scalars = scalars.map(|(own, _)| (own.name.clone(), seed % own.count.max(1))).collect();
    KernelArguments { tensors, scalars }
}

/// The first element in which two results differ by more than rounding. With `exact` there is none on small integers.
fn different(left: &LogicalResult, right: &LogicalResult, exact: bool) -> Option<Difference> {
    let count = left.shape.iter().product::<u64>() as usize;
    let value =
        |result: &LogicalResult, at: usize| to_f64(result.dtype, load(result.dtype, &result.bytes, at));
    let defined =
        |result: &LogicalResult, at: usize| result.defined.as_ref().is_none_or(|defined| defined[at]);
    let greatest = (0..count).map(|at| value(left, at).abs()).filter(|x| x.is_finite()).fold(1.0, f64::max);
    let whole = exact && greatest < EXACT && (0..count).all(|at| value(left, at).fract() == 0.0);
    let allowed = if whole || !left.dtype.is_float() { 0.0 } else { greatest * ROUNDING };
    (0..count).find_map(|at| {
        let index = || coordinates(at as u64, &left.shape);
        let result = || left.name.clone();
        match (defined(left, at), defined(right, at)) {
            (false, false) => None,
            (true, true) => {
                let values = [value(left, at), value(right, at)];
                let same = values[0] == values[1] || values.iter().all(|value| value.is_nan());
                let near = (values[0] - values[1]).abs() <= allowed;
                (!same && !near).then(|| Difference::Element { result: result(), index: index(), values })
            }
            (_, _) => Some(Difference::Undefined { result: result(), index: index() }),
        }
    })
}

fn coordinates(mut at: u64, shape: &[u64]) -> Vec<u64> {
    let mut index: Vec<u64> = shape
        .iter()
        .rev()
        .map(|&extent| {
            let own = at % extent.max(1);
            at /= extent.max(1);
            own
        })
        .collect();
    index.reverse();
    index
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal { values, rules } if rules.is_empty() => {
                write!(f, "equal: both are the same graph of {values} values")
            }
            Self::Equal { rules, .. } => {
                write!(f, "equal: both are the same by the rules `{}`", rules.join("`, `"))
            }
            Self::UpToOrder { values, rules } if rules.is_empty() => write!(
                f,
                "equal up to order of sums: without the orders both are the same graph of {values} values"
            ),
            Self::UpToOrder { rules, .. } => write!(
                f,
                "equal up to order of sums: the order of a sum is free, and both are the same by the rules `{}`",
                rules.join("`, `")
            ),
            Self::Different(Difference::Interface(why)) => write!(f, "different: {why}"),
            Self::Different(Difference::Element { result, index, values: [one, other] }) => {
                write!(f, "different: {result}{index:?} is {one} in the first and {other} in the second")
            }
            Self::Different(Difference::Undefined { result, index }) => {
                write!(f, "different: {result}{index:?} is undefined in one of them")
            }
            Self::Unknown(why) => write!(f, "unknown: {why}"),
        }
    }
}
