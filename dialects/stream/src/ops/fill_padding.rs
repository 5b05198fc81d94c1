//! `stream.fill_padding`: the sub context writes zeros beyond the end of an axis in data memory (book 09, generate
//! mode).

use crate::chain::axes;
use crate::fill::{FROM_ITS_START, Fill, held};
use crate::lower::{LowerStage, loops};
use crate::ops::fetch;
use crate::plan::digits_of;
use crate::planner::{Planner, StagePlan, planned};
use std::rc::Rc;
use std::sync::Arc;
use visa_algebra::{Axes, AxisId, Digit, Digits, Expr, PadKind, Padded, PlacedDigit, padded_terms, place};
use visa_engine::place::rngd;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, writes};
use visa_ir::module::{OpRef, TypeId};
use visa_ir::verify::VerifyCx;
use visa_loops::{Entry, Program, distance};
use visa_mapping::error::mapping_error;
use visa_mapping::facts::{check_mappings, machine};
use visa_mapping::ops::transfer::TO_DM;
use visa_mapping::raise::{Semantics, moves};
use visa_mapping::tensor::attrs::MAP;
use visa_mapping::{Dim, Tensor, make, operand, view};

/// `stream.fill_padding`.
#[visa_ir::view(FillPadding)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.fill_padding",
    summary: "Writes zeros to the padding of a tensor in data memory that is beyond the end of an axis.",
    doc: "A command of the sub context by itself, as `stream.fill` (book 09, generate mode). Parts of an axis in \
          slices and in elements may count more coordinates than the axis has: `slice [K / 16 # 32], element [K % \
          16]` of `[K = 500]` counts to 511. The positions of coordinates from 500 on become zeros, in all of \
          these slices. A contraction may then sum over them. The elements of the tensor stay as they are, and \
          the result has its address and its type.",
    constraints: &[
        ("C1", "`tensor` is no view"),
        ("C2", "`axis` is one axis, which the tensor holds from its first coordinate on"),
        (
            "C3",
            "the parts of the axis count beyond its end, in each slice that does so from the same position on, \
             which one part in `element` counts",
        ),
        (
            "C4",
            "the filled part is contiguous in multiples of 4 bytes, a multiple of 4 bytes apart, from an address \
             that is one (book 09)",
        ),
    ],
    operands: &[OperandDecl::one("tensor", &["tm.dm"])],
    clauses: &[ClauseDecl::lead("axis", ClauseKind::body::<Expr>(&MAP), "the axis")],
    results: &["tensor"],
    effects: Effects::Are(&[writes(Target::Operand("tensor"))]),
    infer: Some(infer),
    verify: Some(verify),
    example: "%z = stream.fill_padding [K] %y",
    interfaces: &[
        Interface(&rngd::GENERATE),
        Interface(&Semantics(moves::same)),
        Interface(&LowerStage(|cx, op| loops::fill(cx, op, &cx.plan::<FillPaddingPlan>(op)?.fill, 0))),
    ],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

/// The tensor whose padding is filled.
///
/// # Errors
/// If the operand is no tensor.
pub fn whole(op: OpRef<'_>) -> Result<Rc<Tensor>, Diagnostic> {
    operand(op, 0).ok_or_else(|| op.error("C1", "operand 0 is no tensor"))
}

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    Ok(vec![make(op.ctx, (*whole(op)?).clone())])
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    check_mappings(op, &axes(cx).0)?;
    let whole = whole(op)?;
    if op.operand_def(0).is_some_and(|def| view::kind(def).is_some()) {
        let error =
            op.error("C1", "the tensor is a view: its padding may hold elements of the view's source");
        return Err(error.fix(Some("fill the padding of the view's source".to_owned())));
    }
    let machine = machine(op);
    // A tensor that does not fit its memory is refused where it is made.
    if whole
        .dim_bytes(Dim::Element, &axes(cx).0)
        .is_none_or(|bytes| bytes > machine.memory.dm_bytes_per_slice)
    {
        return Ok(());
    }
    let plan = planned::<FillPaddingPlan>(op, cx)?;
    let fits = plan.fill.at(FROM_ITS_START, &[], &machine);
    fits.map(drop).map_err(|why| op.clause_error("C4", "axis", why))
}

/// The fill of the padding of a tensor.
pub struct FillPaddingPlan {
    /// The addresses in each slice, from the tensor's first byte on.
    pub fill: Fill,
    /// A flag for each slice of a cluster: true if it has padding.
    pub slices: Vec<bool>,
}

impl StagePlan for FillPaddingPlan {
    fn make(planner: &Planner<'_>, op: OpRef<'_>) -> Result<Self, Diagnostic> {
        let (tensor, axes, name) = (whole(op)?, planner.axes, axis(op)?);
        let unknown = || op.clause_error("C2", "axis", format!("`{name}` is no axis of the module"));
        let id = axes.id(&name).ok_or_else(unknown)?;
        let padding = Padding { op, name, size: axes.size(id), tensor: &tensor };
        let (outer, inner) = (padding.parts(Dim::Slice, id, axes)?, padding.parts(Dim::Element, id, axes)?);
        let slices = planner.machine.topology.slices_per_cluster;
        let held = held(&tensor.dim(Dim::Slice), slices, axes);
        let held = held.map_err(|error| mapping_error(error, op.span()))?;
        let first = (0..).zip(held).map(|(slice, held)| held.then(|| outer.coordinate(slice)));
        let (part, starts) = padding.starts(first, &inner)?;
        let program = inner.program(part, padding.common(&starts)?);
        let fill = Fill::along(program, tensor.dtype).map_err(|why| op.clause_error("C4", "axis", why))?;
        Ok(Self { fill, slices: starts.iter().map(Option::is_some).collect() })
    }
}

/// The axis whose padding is filled.
fn axis(op: OpRef<'_>) -> Result<Arc<str>, Diagnostic> {
    let map = FillPadding::of(op)?.axis()?;
    match &*map {
        Expr::Axis(name) => Ok(name.clone()),
        other => {
            Err(op.clause_error("C2", "axis", format!("`{other}` is no axis: expected one such as `[A]`")))
        }
    }
}

/// The parts of an axis in a mapping.
struct Parts {
    digits: Digits,
    axis: AxisId,
}

impl Parts {
    fn own(&self) -> Vec<PlacedDigit> {
        let all = place(&self.digits, 1).digits.into_iter();
        all.filter(|placed| placed.digit.axis == Some(self.axis)).collect()
    }

    /// The coordinate along the axis that a position counts.
    fn coordinate(&self, position: u64) -> u64 {
        let counted = self.own().into_iter().map(|PlacedDigit { digit, weight }| {
            position / weight.unsigned_abs().max(1) % digit.extent * digit.stride
        });
        counted.sum()
    }

    /// The loops over all positions, those of `part` from `start` on.
    fn program(&self, part: Option<PlacedDigit>, start: u64) -> Program {
        let is_part = |placed: &PlacedDigit| part.is_some_and(|part| part == *placed);
        let entry = |placed: PlacedDigit| {
            let PlacedDigit { digit, weight } = placed;
            let positions = match digit.kind {
                _ if is_part(&placed) => digit.extent - start,
                PadKind::Top | PadKind::Zero => digit.extent,
                PadKind::Bottom => digit.live,
            };
            Entry::new(positions, weight)
        };
        let mut entries: Vec<Entry> = place(&self.digits, 1).digits.into_iter().map(entry).collect();
        entries.reverse();
        let base = part.map_or(0, |part| part.weight.saturating_mul(distance(start)));
        Program { entries, packet: 1, base }
    }
}

/// The padding that is filled.
struct Padding<'a> {
    op: OpRef<'a>,
    name: Arc<str>,
    size: u64,
    tensor: &'a Tensor,
}

impl Padding<'_> {
    /// The parts of the axis in a dimension of the tensor.
    fn parts(&self, dim: Dim, axis: AxisId, axes: &Axes) -> Result<Parts, Diagnostic> {
        let (op, name, map) = (self.op, &self.name, self.tensor.dim(dim));
        let digits = digits_of(&map, axes).map_err(|why| op.clause_error("C2", "axis", why))?;
        if digits.offset().iter().any(|offset| offset.axis == axis) {
            let message = format!("the {} mapping `{map}` starts inside `{name}`", dim.name());
            return Err(op.clause_error("C2", "axis", message));
        }
        let parts = Parts { digits, axis };
        let is_kept_out = |part: &PlacedDigit| {
            let Digit { kind, live, extent, .. } = part.digit;
            kind == PadKind::Bottom && live < extent
        };
        if parts.own().iter().any(is_kept_out) {
            let dim = dim.name();
            let message =
                format!("the {dim} mapping `{map}` has padding of `{name}` that must not be written");
            return Err(self.refuse(message));
        }
        Ok(parts)
    }

    /// The part of the axis in the elements, and its first position beyond the end of the axis in each slice; `None`
    /// for a slice without padding. `first` has the coordinate at which each slice begins, `None` if it holds nothing.
    fn starts(
        &self,
        first: impl Iterator<Item = Option<u64>>,
        inner: &Parts,
    ) -> Result<(Option<PlacedDigit>, Vec<Option<u64>>), Diagnostic> {
        let own = inner.own();
        if own.len() > 1 {
            let (element, name) = (self.tensor.dim(Dim::Element), &self.name);
            let parts = counted(own.len() as u64, "part");
            return Err(self.refuse(format!("element `{element}` has {parts} of `{name}`, expected 1")));
        }
        let (step, extent) = own.first().map_or((1, 1), |part| (part.digit.stride, part.digit.extent));
        let starts = first.map(|first| {
            let start = self.size.saturating_sub(first?).div_ceil(step);
            (start < extent).then_some(start)
        });
        Ok((own.first().copied(), starts.collect()))
    }

    /// The position from which on each slice with padding is filled.
    fn common(&self, starts: &[Option<u64>]) -> Result<u64, Diagnostic> {
        let (name, size, tensor) = (&self.name, self.size, self.tensor);
        let mut found = starts.iter().enumerate().filter_map(|(slice, start)| Some((slice, (*start)?)));
        let Some((slice, start)) = found.next() else {
            let (slices, element) = (tensor.dim(Dim::Slice), tensor.dim(Dim::Element));
            return Err(self.refuse(format!(
                "slice `{slices}` and element `{element}` count no coordinates of `{name}` from {size} on"
            )));
        };
        match found.find(|(_, other)| *other != start) {
            None => Ok(start),
            Some((next, other)) => Err(self.refuse(format!(
                "padding of `{name}` starts at position {start} in slice {slice} and at {other} in slice {next}: \
                 a command fills the same positions of each slice"
            ))),
        }
    }

    fn refuse(&self, message: String) -> Diagnostic {
        self.op.clause_error("C3", "axis", message)
    }
}

/// C1 of `stream.accumulate`: the zero padding of time that `op` adds up, from the type `source` of its operand.
///
/// # Errors
/// A reduction `is_max` over zeros, and slices that were loaded without zeros in their padding.
pub fn check_summed(op: OpRef<'_>, source: &Tensor, is_max: bool, axes: &Axes) -> Result<(), Diagnostic> {
    let Some(result) = op.result_type::<Tensor>(0) else { return Ok(()) };
    let kept: Vec<_> = result.maps.iter().flat_map(|map| map.axis_names(axes)).collect();
    let is_summed = |term: &Padded| term.term.axis_names(axes).iter().all(|axis| !kept.contains(axis));
    let summed = zero_terms(op, &[&source.dim(Dim::Time)], axes)?.into_iter().find(is_summed);
    let Some(term) = summed else { return Ok(()) };
    if is_max {
        let message = format!(
            "`op max` over `{}` of time: a zero would be the greatest of negative products",
            term.text
        );
        return Err(op.clause_error("C1", "time", message));
    }
    let Some(fetch) = fetch_of(op) else { return Ok(()) };
    let Some(stream) = fetch.result_type::<Tensor>(0) else { return Ok(()) };
    let masked = zero_terms(op, &[&stream.dim(Dim::Time), &stream.dim(Dim::Packet)], axes)?;
    if masked.iter().any(|own| own.term == term.term) {
        return Ok(());
    }
    let begin = fetch.operand_def(0);
    let Some(loaded) = begin.and_then(|begin| begin.operand_def(0)).filter(|def| def.is(&TO_DM)) else {
        return Ok(());
    };
    let name = term.term.axis_names(axes).first().map_or_else(String::new, ToString::to_string);
    let message = format!("`{}` of time is summed, and slices of its padding hold nothing", term.text);
    let fix = format!("fill them after the load: `{} [{name}]`", DECL.name);
    let error = op.clause_error("C1", "time", message).fix(Some(fix));
    Err(error.note("loaded here", Some(loaded.span())))
}

fn zero_terms(op: OpRef<'_>, maps: &[&Expr], axes: &Axes) -> Result<Vec<Padded>, Diagnostic> {
    let terms = padded_terms(maps, axes).map_err(|error| mapping_error(error, op.span()))?;
    Ok(terms.into_iter().filter(|term| term.zero).collect())
}

/// The fetch of the stream that operand 0 is.
#[must_use]
pub fn fetch_of(op: OpRef<'_>) -> Option<OpRef<'_>> {
    let mut op = op.operand_def(0)?;
    while !op.is(&fetch::DECL) {
        op = op.operand_def(0)?;
    }
    Some(op)
}
