//! What a pipeline is to make, as far as it is written: the mappings of its written clauses and of the tensor that its result becomes.

use super::scratch::Clauses;
use std::collections::BTreeSet;
use std::rc::Rc;
use visa_ir::module::{OpRef, ValueId};
use visa_mapping::{Axes, AxisId, Dim, Expr, Tensor, digits};
use visa_stream::ops::contract;
use visa_stream::ops::switch::DECL as SWITCH_DECL;

/// What is written of a pipeline.
#[derive(Clone, Debug, Default)]
pub struct Aim {
    /// Every mapping that is written in it, and of the tensors that it reads and makes: their digits end where terms may be cut.
    pub written: Vec<Expr>,
    /// The layout that the result has, or that the next tensor made of it has.
    pub layout: Option<Expr>,
    /// The axes of the result; `None` if nothing says what they are.
    pub kept: Option<BTreeSet<AxisId>>,
    /// The axes that a contraction is to sum, where it says so: then it decides, and not what is kept.
    pub summed: Option<BTreeSet<AxisId>>,
    /// Axes that a written switch brings.
    pub brought: BTreeSet<AxisId>,
    /// Whether the stream meets a register file, which brings axes of its own.
    pub pairs: bool,
    /// Whether the stream is summed, or stands in a register file that sums are made with: padding must be zero.
    pub sums: bool,
    /// What the slices hold of the tensors at rest that the stream meets behind a switch: the stream must hold the same there.
    pub slice: Option<Expr>,
    /// What a register file holds, row by row, where all of it is written and the stream goes there as it is fetched: it must be in this order.
    pub filed: Option<Expr>,
    /// Clauses that each operation had before they were opened, for advice; they are tried with the proposals.
    pub seed: Vec<Clauses>,
}

impl Aim {
    /// What is written of the pipeline `chain`.
    pub fn of(chain: &[OpRef<'_>], axes: &Axes) -> Self {
        let mut aim = Self { pairs: chain.iter().any(|op| op.is(&contract::ALIGN_DECL)), ..Self::default() };
        for op in chain {
            let clauses = op.clauses().iter();
            aim.written
                .extend(clauses.filter_map(|clause| op.body::<Expr>(&clause.name).map(|map| (*map).clone())));
            aim.written.extend(op.operands().iter().filter_map(|&operand| element(*op, operand)));
        }
        let switches = chain.iter().filter(|op| op.name() == "stream.switch");
        let slices = switches.filter_map(|op| op.body::<Expr>("slice"));
        aim.brought = slices.flat_map(|slice| names(&slice, axes)).collect();
        let Some(last) = chain.last() else { return aim };
        let own = last.body::<Expr>("element").map(|map| (*map).clone());
        let next = || last.results().first().and_then(|&result| made_of(*last, result));
        aim.layout = own.or_else(next);
        aim.written.extend(aim.layout.clone());
        aim.slice = met(chain);
        aim.filed = filed(chain);
        aim.sums = aim.pairs || last.name() == "stream.to_trf";
        aim.kept = aim.layout.as_ref().map(|layout| names(layout, axes));
        let over =
            chain.iter().find(|op| op.is(&contract::CONTRACT_DECL)).and_then(|op| contract::over(*op, axes));
        aim.summed = over.map(|over| over.iter().filter_map(|name| axes.id(name)).collect());
        if let (Some(kept), Some(row)) = (&mut aim.kept, last.body::<Expr>("row")) {
            kept.extend(names(&row, axes));
        }
        aim
    }

    /// Whether the result is known to lack the axis, which then is summed.
    pub fn sums_over(&self, axis: AxisId) -> bool {
        match &self.summed {
            Some(summed) => summed.contains(&axis),
            None => self.kept.as_ref().is_some_and(|kept| !kept.contains(&axis)),
        }
    }

    /// Whether something says what is summed.
    pub fn knows_sums(&self) -> bool {
        self.summed.is_some() || self.kept.is_some()
    }

    /// How many coordinates of an axis the result has, counted from 0; `None` if it may have all.
    pub fn wanted(&self, axis: AxisId, axes: &Axes) -> Option<u64> {
        let layout = digits(self.layout.as_ref().filter(|_| !self.pairs)?, axes).ok()?;
        let own: Vec<_> = layout.iter().filter(|digit| digit.axis == Some(axis)).collect();
        let reaches = own.iter().map(|digit| digit.stride.saturating_mul(digit.live)).max()?;
        let whole = own.iter().map(|digit| digit.live).product::<u64>() == reaches;
        (whole && layout.offset().is_empty()).then_some(reaches)
    }

    /// Where digits of an axis end in what is written, as coordinates.
    pub fn ends(&self, axis: AxisId, axes: &Axes) -> BTreeSet<u64> {
        let all = self.written.iter().filter_map(|map| digits(map, axes).ok());
        let own = all.flat_map(|digits| digits.iter().copied().collect::<Vec<_>>());
        own.filter(|digit| digit.axis == Some(axis))
            .flat_map(|digit| [digit.stride, digit.stride.saturating_mul(digit.extent)])
            .collect()
    }
}

/// The axes of a mapping.
pub(in crate::select) fn names(map: &Expr, axes: &Axes) -> BTreeSet<AxisId> {
    map.axis_names(axes).iter().filter_map(|name| axes.id(name)).collect()
}

/// The slice mapping of the first tensor at rest that the stream meets behind its switch, before slices change again.
fn met(chain: &[OpRef<'_>]) -> Option<Expr> {
    let switch = chain.iter().position(|op| op.is(&SWITCH_DECL))?;
    let behind = chain[switch + 1..].iter().take_while(|op| op.body::<Expr>("slice").is_none());
    let others = behind.flat_map(|op| op.operands().iter().skip(1).map(|&operand| (*op, operand)));
    let mut tensors = others.filter_map(|(op, value)| op.ctx.type_value::<Tensor>(op.module.ty(value)));
    tensors.find(|tensor| !tensor.kind.stream).map(|tensor| tensor.dim(Dim::Slice))
}

/// Rows and elements of the register file that a pipeline fills as it fetches.
fn filed(chain: &[OpRef<'_>]) -> Option<Expr> {
    const KEEP_ORDER: [&str; 3] = ["stream.begin", "stream.fetch", "stream.collect"];
    let (last, others) = chain.split_last()?;
    let map = |name: &str| last.body::<Expr>(name).map(|map| (*map).clone());
    let whole = match last.name() {
        "stream.to_trf" => Expr::pair([map("row")?, map("element")?]),
        "stream.to_vrf" => map("element")?,
        _ => return None,
    };
    others.iter().all(|op| KEEP_ORDER.contains(&op.name())).then_some(whole)
}

/// The element mapping of a tensor at rest.
fn element(op: OpRef<'_>, value: ValueId) -> Option<Expr> {
    let tensor: Rc<Tensor> = op.ctx.type_value(op.module.ty(value))?;
    (!tensor.kind.stream).then(|| tensor.dim(Dim::Element))
}

/// The layout of the tensor that a transfer makes of `value`, through transfers whose layout is not written.
fn made_of(op: OpRef<'_>, value: ValueId) -> Option<Expr> {
    let users = op.module.uses(value).iter().map(|&user| op.other(user));
    users.filter(|user| user.name().starts_with("tm.")).find_map(|user| {
        let written = user.body::<Expr>("element").map(|map| (*map).clone());
        written.or_else(|| user.results().first().and_then(|&result| made_of(user, result)))
    })
}
