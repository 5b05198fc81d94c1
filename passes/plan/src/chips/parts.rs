//! The axes that chips divide.

use std::collections::BTreeSet;
use std::sync::Arc;
use visa_algebra::{Axes, Expr};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::{OpId, OpRef};
use visa_ir::span::Span;
use visa_mapping::facts::{DeclaredAxes, mappings};
use visa_mapping::ops::func::signature;
use visa_mapping::ops::rename::BROADCAST;
use visa_mapping::tensor::value::Value;
use visa_mapping::{Dim, GivenSizes, Tensor};
use visa_pass::PassCx;

/// Divisions that are planned.
const MOST_DIVISIONS: usize = 8;

/// An axis that chips divide.
#[derive(Clone, Debug)]
struct Part {
    axis: Arc<str>,
    /// Its elements, and those of a part.
    whole: u64,
    size: u64,
}

/// The axes that chips divide. A value has at most one of them, and each result has one.
#[derive(Clone, Debug)]
pub struct Parts {
    /// Number of chips.
    chips: u64,
    parts: Vec<Part>,
}

impl Parts {
    /// The sizes of the axes on one chip.
    #[must_use]
    pub fn sizes_of_a_part(&self) -> GivenSizes {
        self.sizes(|part| part.size)
    }

    /// The sizes of the axes on all chips.
    #[must_use]
    pub fn sizes_of_all(&self) -> GivenSizes {
        self.sizes(|part| part.whole)
    }

    fn sizes(&self, size: impl Fn(&Part) -> u64) -> GivenSizes {
        GivenSizes::new(self.parts.iter().map(|part| (part.axis.to_string(), size(part))).collect())
    }

    /// Number of chips.
    #[must_use]
    pub const fn chips(&self) -> u64 {
        self.chips
    }

    /// A copy on each chip.
    #[must_use]
    pub const fn copies(&self) -> Expr {
        Expr::Literal(self.chips)
    }

    /// The chip mapping of values that have a part of the axis.
    #[must_use]
    pub fn of_axis(&self, axis: &str) -> Expr {
        let part = self.parts.iter().find(|part| *part.axis == *axis);
        part.map_or_else(|| self.copies(), |part| Expr::axis(&part.axis).stride(part.size))
    }

    /// The chip mapping of a tensor in HBM, whose layout names its axes in that order. Files have dimensions in the
    /// order in which the type names axes, chips first: digits of one position name the axes in front of the divided
    /// one.
    #[must_use]
    pub fn in_order(&self, names: &[Arc<str>], axes: &Axes) -> Expr {
        let Some(at) = names.iter().position(|name| self.divides(name)) else { return self.copies() };
        let single = |name: &Arc<str>| {
            let size = axes.id(name).map(|id| axes.size(id))?;
            Some(Expr::axis(name).stride(size))
        };
        Expr::pair(names[..at].iter().filter_map(single).chain([self.of_axis(&names[at])]))
    }

    /// That no kernel of a part is one of all chips: padding within a part is an element of the next one, for example.
    #[must_use]
    pub fn refused(&self, errors: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let parts: Vec<String> =
            self.parts.iter().map(|part| format!("{} elements of `{}`", part.size, part.axis)).collect();
        let message = format!("no plan for {} chips, each with {}", self.chips, parts.join(" and "));
        let first = errors.into_iter().next();
        let span = first.as_ref().map_or_else(Span::default, |error| error.span);
        let error = Diagnostic::error("plan-kernel", span, message);
        let why = first.map(|why| format!("the first obstacle in the plan of one chip: {}", why.message));
        let fix = "give the axis a size whose parts are multiples of 8, or leave `chips` out".to_owned();
        vec![why.into_iter().fold(error, |error, why| error.note(why, None)).fix(fix)]
    }

    /// Returns true if chips divide the axis.
    #[must_use]
    pub fn divides(&self, axis: &str) -> bool {
        self.parts.iter().any(|part| *part.axis == *axis)
    }

    /// A mapping of a part as one of all: an axis is the positions within its part.
    #[must_use]
    pub fn within(&self, map: &Expr) -> Expr {
        if let Expr::Axis(name) = map {
            let part = self.parts.iter().find(|part| part.axis == *name);
            return part.map_or_else(|| map.clone(), |part| map.clone().modulo(part.size));
        }
        let Ok(inner) = map.map_children::<std::convert::Infallible>(|child| Ok(self.within(child)));
        match inner {
            Expr::Modulo { inner, n } => match *inner {
                Expr::Modulo { inner, n: size } if size.is_multiple_of(n) => inner.modulo(n),
                inner => inner.modulo(n),
            },
            inner => inner,
        }
    }

    /// A tensor of one chip in HBM as a part of one of all.
    #[must_use]
    pub fn tensor(&self, tensor: &Tensor, axes: &Axes) -> Tensor {
        let chip = self.in_order(&tensor.dim(Dim::Element).axis_names(axes), axes);
        let dims = tensor.kind.dims.iter().zip(&tensor.maps);
        let maps = dims.map(|(&dim, map)| if dim == Dim::Chip { chip.clone() } else { self.within(map) });
        Tensor { maps: maps.collect(), ..tensor.clone() }
    }
}

/// The divisions of the functions among `chips` chips.
///
/// # Errors
/// A result without an axis that chips can divide, with the reason for each of its axes.
pub fn divisions(cx: &PassCx<'_>, funcs: &[OpId], chips: u64) -> Result<Vec<Parts>, Diagnostic> {
    let axes = &cx.analysis::<DeclaredAxes>().0;
    let values = values(cx, funcs);
    let mut choices: BTreeSet<BTreeSet<Arc<str>>> = BTreeSet::from([BTreeSet::new()]);
    for &func in funcs {
        for &result in signature(cx.module.op(cx.ctx, func)).1 {
            let Some(own) = cx.ctx.type_value::<Value>(cx.module.ty(result)) else { continue };
            let obstacles: Vec<_> =
                own.axes.iter().map(|axis| obstacle(cx, funcs, (axis, axes), chips)).collect();
            let free: Vec<_> = own.axes.iter().zip(&obstacles).filter(|(_, why)| why.is_none()).collect();
            let with =
                |set: &BTreeSet<Arc<str>>, axis: &Arc<str>| set.iter().chain([axis]).cloned().collect();
            let more = choices.iter().flat_map(|set| free.iter().map(|(axis, _)| with(set, axis)));
            choices = more.filter(|set| values.iter().all(|value| has_one(value, set))).collect();
            if choices.is_empty() {
                return Err(undivided(cx, func, &own.axes, obstacles));
            }
        }
    }
    let part = |axis: &Arc<str>| {
        let whole = axes.id(axis).map(|id| axes.size(id))?;
        Some(Part { axis: axis.clone(), whole, size: whole / chips })
    };
    let parts = |set: &BTreeSet<Arc<str>>| Parts { chips, parts: set.iter().filter_map(part).collect() };
    Ok(choices.iter().take(MOST_DIVISIONS).map(parts).collect())
}

/// The axes of all values of the functions.
fn values(cx: &PassCx<'_>, funcs: &[OpId]) -> Vec<Vec<Arc<str>>> {
    let all = inside(cx, funcs).flat_map(|op| op.results().iter().chain(op.operands()));
    let value = all.filter_map(|&value| cx.ctx.type_value::<Value>(cx.module.ty(value)));
    value.map(|value| value.axes.clone()).collect()
}

/// The operations of the functions.
fn inside<'c>(cx: &'c PassCx<'_>, funcs: &'c [OpId]) -> impl Iterator<Item = OpRef<'c>> {
    let blocks = funcs.iter().flat_map(|&func| cx.module.op(cx.ctx, func).regions());
    blocks.flat_map(|&block| cx.module.walk(block)).map(|id| cx.module.op(cx.ctx, id))
}

/// Returns true if at most one axis of a value is in the set.
fn has_one(value: &[Arc<str>], set: &BTreeSet<Arc<str>>) -> bool {
    value.iter().filter(|axis| set.contains(*axis)).count() <= 1
}

/// The reason why chips cannot divide an axis: its size, or an operation that needs all of its positions.
fn obstacle(
    cx: &PassCx<'_>,
    funcs: &[OpId],
    (axis, axes): (&Arc<str>, &Axes),
    chips: u64,
) -> Option<(String, Option<Span>)> {
    let size = axes.size(axes.id(axis)?);
    if !size.is_multiple_of(chips) {
        let elements = counted(size, "element");
        return Some((format!("`{axis}` has {elements}, which {chips} chips do not divide evenly"), None));
    }
    let names = |op: &OpRef<'_>| {
        !op.is(&BROADCAST) && mappings(*op).any(|(_, map)| map.axis_names(axes).contains(axis))
    };
    let op = inside(cx, funcs).find(names)?;
    Some((format!("`{op}` needs all positions of `{axis}`"), Some(op.span())))
}

/// That no axis of a result is a part on each chip.
fn undivided(
    cx: &PassCx<'_>,
    func: OpId,
    axes: &[Arc<str>],
    obstacles: Vec<Option<(String, Option<Span>)>>,
) -> Diagnostic {
    let names: Vec<&str> = axes.iter().map(|axis| &**axis).collect();
    let message = format!("no axis of the result [{}] can be divided among the chips", names.join(", "));
    let error = Diagnostic::error("plan-kernel", cx.module.op(cx.ctx, func).clause_span("chips"), message);
    let error = obstacles.into_iter().flatten().fold(error, |error, (why, span)| error.note(why, span));
    error.fix("leave `chips` out, and the kernel runs on one chip".to_owned())
}
