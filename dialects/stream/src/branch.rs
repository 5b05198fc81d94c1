//! Execution ids: 4 bits for each element, which select the elements of a conditional operation (book 21, branch
//! stage).

use crate::chain::input;
use crate::ops::vector_branch::VectorBranch;
use crate::plan::digits_of;
use crate::raise::{call, constant, mapped, result};
use std::collections::BTreeMap;
use std::sync::Arc;
use visa_algebra::{Axes, Digits, Expr};
use visa_ir::decl::Interface;
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::OpRef;
use visa_ir::words;
use visa_mapping::coverage::Coverage;
use visa_mapping::expression::Term;
use visa_mapping::ops::constant::Coordinate;
use visa_mapping::ops::where_::Compare;
use visa_mapping::raise::Raising;
use visa_mapping::tensor::numbers::Number;
use visa_mapping::{Dim, Tensor, operand};
use visa_numerics::{Bits, Comparisons, DType, IdSet, from_number};

/// The bit of an execution id that is the group.
pub const GROUP_BIT: u32 = 3;

words! {
    /// The source of execution ids, as the text names it.
    pub enum IdSource {
        /// None: every element has id 0.
        Unconditional = "unconditional",
        /// The coordinate along an axis.
        AxisToggle = "axis_toggle",
        /// The valid counts of packets.
        ValidCount = "valid_count",
        /// Comparisons of the elements.
        Comparison = "comparison",
        /// The vector register file.
        Vrf = "vrf",
    }
}

/// Where execution ids come from.
#[derive(Clone, Debug, PartialEq)]
pub enum BranchMode {
    /// Every element has id 0.
    Unconditional,
    /// The group is the coordinate along this axis, modulo 2.
    AxisToggle(Arc<str>),
    /// Bit 0 is set if the element is valid.
    ValidCount,
    /// Each bit is a comparison of the element.
    Comparison(Comparisons<Bits>),
    /// Ids are in the vector register file: operand 1.
    RegisterFile,
}

/// An interface with the execution ids that an operation gives its elements.
#[derive(Clone, Copy)]
pub struct GivesIds(pub fn(OpRef<'_>) -> IdSet);

/// The interface of an operation that gives the ids of its branch mode.
pub const GIVES_OWN: Interface = Interface(&GivesIds(|op| mode(op).map_or(IdSet::MAX, |mode| mode.ids())));

/// The interface of an operation after which every execution id is 0.
pub const GIVES_NONE: Interface = Interface(&GivesIds(|_| 1));

impl BranchMode {
    /// The ids that it can give.
    #[must_use]
    pub fn ids(&self) -> IdSet {
        match self {
            Self::Unconditional => 1,
            Self::AxisToggle(_) => 1 | 1 << (1 << GROUP_BIT),
            Self::ValidCount => 0b11,
            Self::Comparison(comparisons) => comparisons.ids(),
            Self::RegisterFile => IdSet::MAX,
        }
    }
}

/// The branch mode of `stream.vector_branch`.
///
/// # Errors
/// C1 and C2.
pub fn mode(op: OpRef<'_>) -> Result<BranchMode, Diagnostic> {
    let word = VectorBranch::of(op)?.mode()?;
    for (clause, owner) in [("axis", IdSource::AxisToggle), ("compare", IdSource::Comparison)] {
        if op.attr(clause).is_some() != (word == owner) {
            let what = if word == owner { "needs" } else { "has no" };
            let message = format!("`{word}` {what} clause `{clause}`");
            return Err(op.error("C1", message));
        }
    }
    if operand(op, 1).is_some() != (word == IdSource::Vrf) {
        let what = if word == IdSource::Vrf { "needs" } else { "has no" };
        return Err(op.error("C1", format!("`{word}` {what} register-file operand")));
    }
    Ok(match word {
        IdSource::AxisToggle => BranchMode::AxisToggle(axis(op)?),
        IdSource::ValidCount => BranchMode::ValidCount,
        IdSource::Comparison => BranchMode::Comparison(comparisons(op)?),
        IdSource::Vrf => BranchMode::RegisterFile,
        IdSource::Unconditional => BranchMode::Unconditional,
    })
}

fn axis(op: OpRef<'_>) -> Result<Arc<str>, Diagnostic> {
    let map = VectorBranch::of(op)?.axis()?.ok_or_else(|| op.error("C1", "no axis"))?;
    match &*map {
        Expr::Axis(name) => Ok(name.clone()),
        other => {
            Err(op.clause_error("C1", "axis", format!("`{other}` is no axis: expected one such as `[A]`")))
        }
    }
}

/// C1 and C2.
fn comparisons(op: OpRef<'_>) -> Result<Comparisons<Bits>, Diagnostic> {
    let written = VectorBranch::of(op)?.compare()?.ok_or_else(|| op.error("C1", "no comparisons"))?;
    let dtype = input(op)?.dtype;
    if written.0.len() > GROUP_BIT as usize + 1 {
        let message =
            format!("{}, expected 4 at most: one for each bit", counted(written.0.len(), "comparison"));
        return Err(op.clause_error("C2", "compare", message));
    }
    written.try_map(|value| {
        let refuse = || op.clause_error("C2", "compare", format!("{value} is no `{dtype}`"));
        from_number(dtype, value.0).ok_or_else(refuse)
    })
}

/// A digit of the stream's position, counted in elements, whose parity is part of the group: `position / apart %
/// limit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Toggle {
    /// Elements between its steps.
    pub apart: u64,
    /// Its steps.
    pub limit: u64,
}

/// The digits of the stream whose parities together are that of the coordinate along `name`.
///
/// # Errors
/// C3, if the parity is not one of positions within the stream.
pub fn toggles(op: OpRef<'_>, source: &Tensor, name: &str, axes: &Axes) -> Result<Vec<Toggle>, Diagnostic> {
    let refuse = |message: String| op.clause_error("C3", "axis", message);
    let digits = |map: &Expr| digits_of(map, axes).map_err(refuse);
    let id = axes.resolve(name).map_err(|error| refuse(error.to_string()))?;
    let odd = |digits: &Digits| {
        let counts =
            |digit: &visa_algebra::Digit| digit.axis == Some(id) && digit.stride % 2 == 1 && digit.live > 1;
        digits.iter().any(counts)
            || digits.offset().iter().any(|start| start.axis == id && start.coordinate % 2 == 1)
    };
    for dim in [Dim::Chip, Dim::Cluster, Dim::Slice] {
        let map = source.dim(dim);
        if odd(&digits(&map)?) {
            let message = format!("whether `{name}` is odd depends on the {} `{map}`", dim.name());
            let fix = format!("place `{name} % 2` in time or in the packet");
            return Err(refuse(message).fix(Some(fix)));
        }
    }
    let stream = Expr::pair([source.dim(Dim::Time), source.dim(Dim::Packet)]);
    let digits = digits(&stream)?;
    if digits.offset().iter().any(|start| start.axis == id && start.coordinate % 2 == 1) {
        return Err(refuse(format!("`{stream}` begins at an odd `{name}`")));
    }
    let mut toggles = Vec::new();
    let mut apart = 1_u64;
    for digit in digits.iter() {
        if digit.axis == Some(id) && digit.stride % 2 == 1 && digit.live > 1 {
            toggles.push(Toggle { apart, limit: digit.extent });
        }
        apart = apart.saturating_mul(digit.extent);
    }
    if toggles.is_empty() {
        return Err(refuse(format!("no part of `{stream}` tells even and odd `{name}` apart")));
    }
    Ok(toggles)
}

/// Operand 0, each element with an execution id from now on; undefined where the id is.
///
/// # Errors
/// C1 and C2.
pub fn branched(cx: &mut Raising<'_>, op: OpRef<'_>, mode: BranchMode) -> Result<(), Diagnostic> {
    let to = result(op)?;
    let known = cx.held(op, 0, &to)?;
    let number = |number: u32| Term::Number(f64::from(number));
    let ids = match mode {
        BranchMode::Unconditional => None,
        BranchMode::ValidCount => Some(constant(cx, op, DType::I32, 1)?),
        BranchMode::Comparison(_) => {
            let written = VectorBranch::of(op)?.compare()?.ok_or_else(|| op.error("C1", "no comparisons"))?;
            let list: Comparisons<Number> = (*written).clone();
            let spec = Compare::build(op, [known.value]).with(list).spec();
            Some(cx.emit(spec, known.held.clone())?)
        }
        BranchMode::RegisterFile => {
            let ids = cx.held(op, 1, &to)?;
            Some(mapped(cx, op, &[&ids], call("and", vec![Term::Name(0), number(15)]))?)
        }
        BranchMode::AxisToggle(name) => {
            let index = cx.emit(Coordinate::build(op).axis(Expr::axis(&name)).spec(), BTreeMap::new())?;
            let odd = call("and", vec![Term::Name(0), number(1)]);
            Some(mapped(cx, op, &[&index], call("shl", vec![odd, number(GROUP_BIT)]))?)
        }
    };
    let Some(ids) = ids else {
        cx.bind_with(op, known, None);
        return Ok(());
    };
    let known = mapped(cx, op, &[&known, &ids], Term::Name(0))?;
    let ids = cx.narrow(op, ids, &Coverage::new(&to, cx.axes, op.span())?)?;
    cx.bind_with(op, known, Some(ids));
    Ok(())
}
