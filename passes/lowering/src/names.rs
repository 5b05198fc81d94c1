//! Descriptions of the data of commands, in the kernel's names: `load %k`, `store out`, `scores = q * k`.
//!
//! Lowering gives a command its name as that of its location, which text keeps (`--print-locations`) and reports show.

use visa_ir::module::{OpRef, ValueDef, ValueId};
use visa_machine::{ClusterPart, Part};
use visa_mapping::ops::control::YIELD;
use visa_mapping::ops::func::{FUNC, Func, RETURN, result_names};
use visa_mapping::ops::indexed::{Indexing, indexing};
use visa_mapping::ops::transfer::is_transfer;
use visa_mapping::{Tensor, TensorKind, view};
use visa_stream::formula::formula;
use visa_stream::pipeline::{Pipeline, ends};

/// Stands for a tensor that has no name.
const UNNAMED: &str = "_";

/// Most views and transfers that a name is looked for through.
const MOST_STEPS: usize = 64;

/// Name of a transfer of a whole tensor.
#[must_use]
pub fn transfer(op: OpRef<'_>) -> String {
    let Some(&source) = op.operands().first() else { return UNNAMED.to_owned() };
    let [from, to] = [op.operand_type::<Tensor>(0), op.result_type::<Tensor>(0)]
        .map(|tensor| tensor.and_then(|tensor| distance(tensor.kind)));
    match from.cmp(&to) {
        std::cmp::Ordering::Greater => format!("load %{}", known(op, source)),
        std::cmp::Ordering::Less => format!("store {}", target(op).unwrap_or_else(|| known(op, source))),
        std::cmp::Ordering::Equal => made(op, known(op, source)),
    }
}

/// Name of a transfer of rows that an index chooses.
#[must_use]
pub fn rows(op: OpRef<'_>) -> String {
    let name = |number: usize| {
        op.operands().get(number).map_or_else(|| UNNAMED.to_owned(), |&value| known(op, value))
    };
    match indexing(op) {
        Some(Indexing::Scatter) => format!("{}[{}] = {}", name(2), name(1), name(0)),
        Some(Indexing::Gather) | None => made(op, format!("{}[{}]", name(0), name(1))),
    }
}

/// Name of the result of a pipeline, which ends in the last of `chain`.
#[must_use]
pub fn pipeline(chain: &[OpRef<'_>]) -> String {
    let Some(&last) = chain.last() else { return UNNAMED.to_owned() };
    let computed = formula(chain, &|value| in_brackets(known(last, value)));
    let formula = made(last, computed);
    let file =
        last.result_type::<Tensor>(0).map(|tensor| tensor.kind).filter(|kind| distance(kind).is_none());
    match file {
        Some(file) => format!("{formula} ({})", file.def.name.rsplit('.').next().unwrap_or_default()),
        None => formula,
    }
}

/// Distance of a memory from the Tensor Unit; `None` for a register file.
fn distance(kind: &TensorKind) -> Option<u8> {
    match kind.medium?.decl().part {
        Part::Cluster(ClusterPart::Slice) => Some(0),
        Part::Cluster(ClusterPart::Pe) => Some(1),
        Part::Chip => Some(2),
        Part::Host => Some(3),
    }
}

/// `name = formula` if the result has a name, else the formula.
fn made(op: OpRef<'_>, formula: String) -> String {
    match target(op) {
        Some(name) => format!("{name} = {formula}"),
        None => formula,
    }
}

/// The name of an operation's result.
fn target(op: OpRef<'_>) -> Option<String> {
    purpose(op, *op.results().first()?)
}

/// A tensor at rest that is read, in a formula: text that is no name is in brackets.
fn in_brackets(text: String) -> String {
    if text.contains(' ') { format!("({text})") } else { text }
}

/// The name of a tensor at rest that is read: its own, or that of the tensor which it is a view or a copy of. Without
/// one, the name of its producer.
fn known(op: OpRef<'_>, value: ValueId) -> String {
    if let Some(name) = origin(op, value).or_else(|| purpose(op, value)) {
        return name;
    }
    match op.module.def_op(value).map(|id| op.other(id)).filter(|made| ends(*made)) {
        Some(made) => {
            let chain: Vec<_> = Pipeline::up_to(made).ops.into_iter().map(|id| op.other(id)).collect();
            let name = |value| origin(op, value).unwrap_or_else(|| UNNAMED.to_owned());
            formula(&chain, &name)
        }
        None => UNNAMED.to_owned(),
    }
}

/// The name of a tensor, or of the tensor which it is a view or a copy of.
fn origin(op: OpRef<'_>, value: ValueId) -> Option<String> {
    let mut value = value;
    for _ in 0..MOST_STEPS {
        if let Some(name) = own(op, value) {
            return Some(name);
        }
        let made = op.other(op.module.def_op(value)?);
        value = *made.operands().first().filter(|_| view::kind(made).is_some() || is_transfer(made))?;
    }
    None
}

/// The name of a tensor that is made: that of the result which it is returned as, its own, or that of the view or copy
/// of it.
fn purpose(op: OpRef<'_>, value: ValueId) -> Option<String> {
    let mut value = value;
    for _ in 0..MOST_STEPS {
        if let Some(name) = result(op, value).or_else(|| own(op, value)) {
            return Some(name);
        }
        let mut users = op.module.uses(value).iter().map(|&id| op.other(id));
        let through = users.find(|user| view::kind(*user).is_some() || is_transfer(*user))?;
        value = *through.results().first()?;
    }
    None
}

/// The name of the result that a value is returned as, through loops and branches.
fn result(op: OpRef<'_>, value: ValueId) -> Option<String> {
    let mut value = value;
    for _ in 0..MOST_STEPS {
        let mut users = op.module.uses(value).iter().map(|&id| op.other(id));
        let last = users.find(|user| user.is(&RETURN) || user.is(&YIELD))?;
        if last.is(&RETURN) {
            return returned(last, value);
        }
        let position = last.operands().iter().position(|&operand| operand == value)?;
        value = *last.parent()?.results().get(position)?;
    }
    None
}

/// The name that a value is written with; of an argument without one, the name that data files have for it.
fn own(op: OpRef<'_>, value: ValueId) -> Option<String> {
    if let Some(name) = op.module.value_name(value) {
        return Some(name.to_string());
    }
    match op.module.def(value) {
        ValueDef::Argument(block, number) => {
            let around = op.other(op.module.block_parent(block)?);
            around.is(&FUNC).then(|| format!("arg{number}"))
        }
        ValueDef::Result(..) => None,
    }
}

/// The name of the result that a function returns a value as.
fn returned(last: OpRef<'_>, value: ValueId) -> Option<String> {
    let func = Func::cast(last.parent()?)?;
    let position = last.operands().iter().position(|&operand| operand == value)?;
    result_names(func).ok()?.into_iter().nth(position)
}
