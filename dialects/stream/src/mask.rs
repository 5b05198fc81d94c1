//! The elements that a fetch reads, and those that its adapter masks (book 08).
//!
//! Zero padding in the time or packet of a fetch means that these positions are zero. A padded term is read as a
//! separate opaque axis ([`visa_algebra::Opaque`]), which is in the buffer at the positions of its elements: position
//! p at `first element + (p - left) * stride`. Reads before and after the elements are over-fetch, and masked.
//!
//! At most two loops count the positions of the term: the innermost one, and one around it. In iteration t of
//! that, the positions left of the elements are a beginning of the innermost loop and those right of them an end
//! of it. So there is one left count for the first iteration and one right count for the last (the book's cases 1
//! and 2), or, without padding on the left, a right count for each iteration (case 3).
//!
//! Don't-care padding without a digit form is read the same way, and not masked; and so is a sliding term, whose
//! window the aligner takes apart (book 15, shift-reuse).

mod counted;

use crate::lift::{self, Parts};
use crate::plan::{self, Access, Across, Loop, Plan, digits_of};
use counted::Counted;
use std::rc::Rc;
use visa_algebra::{
    Axes, AxisId, Carries, Crossing, Digit, Division, Expr, Movement, Opaque, PadKind, Padded, PlacedDigit,
    Placement, Step, crossings, divide, padded_terms, place, place_expr,
};
use visa_ir::diag::{self, Diagnostic};
use visa_ir::module::OpRef;
use visa_loops::{Entry, Stride, distance};
use visa_machine::Machine;
use visa_mapping::{Dim, Tensor, Unit};
use visa_numerics::DType;

/// The masked elements of a fetch, in terms of the loops of its plan, numbered from the outermost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    /// The loop whose first iteration is masked on the left, and whose last one on the right.
    pub dim: usize,
    /// Elements of the innermost loop that are masked on the left.
    pub left: u64,
    /// The loop whose iterations have a count each.
    pub by: Option<usize>,
    /// Elements of the innermost loop that are not masked on the right: one count, or one an iteration of `by`.
    pub valid: Vec<u64>,
}

/// Reason why there is no such fetch: the violated constraint of `stream.fetch`, and the way out if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The constraint.
    pub constraint: &'static str,
    /// The text found and the text expected.
    pub message: String,
    /// The corrected text.
    pub fix: Option<String>,
}

impl Refused {
    /// The finding at a `stream.fetch`.
    #[must_use]
    pub fn at(self, op: OpRef<'_>) -> Diagnostic {
        let clause = match self.constraint {
            "C3" => "time",
            "C14" => lift::clause(op).unwrap_or("slice"),
            _ => "packet",
        };
        op.clause_error(self.constraint, clause, self.message).fix(self.fix)
    }
}

/// A read of the fetch engine.
pub struct Reading<'a> {
    /// The buffer.
    pub element: Expr,
    /// The order of the stream; of interleaved tensors, that of one.
    pub time: Expr,
    /// A packet of the stream.
    pub packet: Expr,
    /// The part that each slice of each cluster and chip holds.
    pub places: Expr,
    /// The parts that slices read of the copies that they hold; the error, if there are no such parts.
    pub parts: Rc<Result<Option<Parts>, String>>,
    /// Formats in data memory and after the fetch.
    pub formats: (DType, DType),
    /// The context.
    pub unit: Option<Unit>,
    /// The axes that the tensor does not depend on.
    pub free: &'a dyn Fn(AxisId) -> bool,
    /// The declared axes.
    pub axes: &'a Axes,
    /// The machine.
    pub machine: &'a Machine,
}

/// The opaque view of a fetch with one padded term.
struct Masked {
    term: Padded,
    opaque: Opaque,
    axis: AxisId,
    time: Expr,
    packet: Expr,
    buffer: Placement,
}

fn shape(message: String) -> Refused {
    Refused { constraint: "C7", message, fix: None }
}

fn width(message: String) -> Refused {
    Refused { constraint: "C8", message, fix: None }
}

fn unreadable(message: String) -> Refused {
    Refused { constraint: "C3", message, fix: None }
}

impl<'a> Reading<'a> {
    /// The fetch that makes the stream `result` of the tensor `source`, in the order of `time` if that is only a
    /// part of the stream's; the tensor does not depend on the axes that are `free`.
    #[must_use]
    pub fn new(
        source: &Tensor,
        result: &Tensor,
        time: Expr,
        free: &'a dyn Fn(AxisId) -> bool,
        axes: &'a Axes,
        machine: &'a Machine,
    ) -> Self {
        Self {
            element: source.dim(Dim::Packet),
            time,
            packet: result.dim(Dim::Packet),
            places: Expr::pair([Dim::Chip, Dim::Cluster, Dim::Slice].map(|dim| source.dim(dim))),
            parts: Rc::new(Parts::new(source, result, axes, plan::MAX_PLACES)),
            formats: (source.dtype, result.dtype),
            unit: result.unit,
            free,
            axes,
            machine,
        }
    }

    /// The loops of the fetch, and its mask if something is masked.
    ///
    /// # Errors
    /// The constraint that does not hold: C3, C7 to C9 and C14 of `stream.fetch`.
    pub fn plan(&self) -> Result<(Plan, Option<Mask>), Refused> {
        if let Err(message) = &*self.parts {
            return Err(Refused { constraint: "C14", message: message.clone(), fix: None });
        }
        let maps = [&self.time, &self.packet, &self.element];
        let carries = Carries::new(&maps, self.axes).map_err(|error| unreadable(error.message))?;
        let Some(carries) = carries else { return self.even_plan() };
        let view = |map: &Expr| carries.view(map).map_err(|error| unreadable(error.message));
        let free = |axis: AxisId| !carries.stands_in(axis) && (self.free)(axis);
        let (element, time, packet) = (view(&self.element)?, view(&self.time)?, view(&self.packet)?);
        let (places, axes) = (self.places.clone(), carries.axes());
        let parts = Rc::clone(&self.parts);
        let carried = Reading { element, time, packet, places, parts, free: &free, axes, ..*self };
        // Parts that have separate digits can be read by these: the positions that they count beyond the composite are
        // padding.
        carried.even_plan().or_else(|refused| self.even_plan().map_err(|_| refused))
    }

    /// The loops and the mask where no parts carry.
    fn even_plan(&self) -> Result<(Plan, Option<Mask>), Refused> {
        let Self { element, time, packet, places, .. } = self;
        let crossings = crossings(&[time, packet, places], &[element, places], self.free, self.axes);
        if let Ok(Some(parts)) = &*self.parts {
            return self.parts_plan(parts, crossings.first());
        }
        match (self.masked()?, crossings.first()) {
            (Some(masked), None) => self.masked_plan(&masked),
            (Some(masked), Some(crossing)) => {
                let (text, axis) = (&masked.term.text, self.axes.name(crossing.axis));
                Err(shape(format!(
                    "`{text}` is read as one, and `{axis}` from another start in each slice: a fetch does one of \
                     both"
                )))
            }
            (None, _) => {
                let access = self.access();
                let order = access.order().map_err(unreadable)?;
                let buffer = order.buffer().map_err(unreadable)?;
                let read = match crossings.is_empty() {
                    true => order.read(&buffer, self.free),
                    false => Across::new(crossings, places, self.axes)
                        .and_then(|across| order.read_across(&buffer, self.free, &across)),
                };
                Ok((plan::fetch(read.map_err(unreadable)?), None))
            }
        }
    }

    /// The loops of a fetch that reads copies in part.
    fn parts_plan(
        &self,
        parts: &Parts,
        crossing: Option<&Crossing>,
    ) -> Result<(Plan, Option<Mask>), Refused> {
        let refused = |message: String| Refused { constraint: "C14", message, fix: None };
        if let Some(crossing) = crossing {
            let axis = self.axes.name(crossing.axis);
            return Err(refused(format!(
                "copies are read in part, and `{axis}` is skewed: a fetch does one of both"
            )));
        }
        if let Some(masked) = self.masked()? {
            let text = &masked.term.text;
            return Err(refused(format!(
                "copies are read in part, and `{text}` is read as one: a fetch does one of both"
            )));
        }
        let access = self.access();
        let order = access.order().map_err(unreadable)?;
        let buffer = order.buffer().map_err(unreadable)?;
        let read = order.read_parts(&buffer, self.free, &parts.at).map_err(unreadable)?;
        Ok((plan::fetch(read), None))
    }

    fn access(&self) -> Access<'_> {
        Access { element: &self.element, time: &self.time, packet: &self.packet, axes: self.axes }
    }

    /// The one padded term, if there is one, and how the fetch sees it.
    fn masked(&self) -> Result<Option<Masked>, Refused> {
        let read = |maps: &[&Expr]| padded_terms(maps, self.axes).map_err(|error| unreadable(error.message));
        let mut terms = read(&[&self.time, &self.packet])?;
        let Some(term) = terms.pop() else { return Ok(None) };
        let inside = if term.slides { read(&term.inner.children())? } else { read(&[&term.inner])? };
        if let Some(other) = terms.first().or(inside.first()) {
            return Err(second(other, &term));
        }
        if term.split && !term.ends_axes(self.axes) {
            let (text, inner) = (&term.text, &term.inner);
            return Err(shape(format!(
                "`{text}` is cut, but `{inner}` starts or ends inside an axis, where the parts count other \
                 elements: only whole axes are cut"
            )));
        }
        let opaque = Opaque::new(vec![term.clone()], self.axes);
        let view = |map: &Expr| opaque.view(map).map_err(|error| unreadable(error.message));
        let (time, packet) = (view(&self.time)?, view(&self.packet)?);
        let axis = opaque.axis(&term).ok_or_else(|| unreadable(format!("`{}` has no axis", term.text)))?;
        let buffer = self.with_axis(&term, axis)?;
        Ok(Some(Masked { term, opaque, axis, time, packet, buffer }))
    }

    /// The buffer with the opaque axis of `term` where it holds the term's elements.
    fn with_axis(&self, term: &Padded, axis: AxisId) -> Result<Placement, Refused> {
        let access = self.access();
        let buffer = access.order().and_then(|order| order.buffer()).map_err(unreadable)?;
        let mut elements = place_expr(&term.inner, self.axes, 1)
            .map_err(|error| shape(format!("`{}`: {error}", term.inner)))?;
        let own: Vec<_> =
            term.inner.axis_names(self.axes).iter().filter_map(|name| self.axes.id(name)).collect();
        let others = buffer.origin.iter().filter(|offset| !own.contains(&offset.axis)).copied();
        elements.origin.extend(others.clone());
        elements.origin.sort_by_key(|offset| offset.axis);
        let division = divide(&elements, &buffer, self.free, self.axes).map_err(|error| {
            unreadable(format!("`{}` cannot be read from `{}`: {error}", term.inner, self.element))
        })?;
        let stride = single_stride(&division).ok_or_else(|| {
            let done = if term.slides { "a window is read" } else { "they are masked" };
            let (text, element) = (&term.text, &self.element);
            shape(format!(
                "the elements of `{text}` are not evenly spaced in `{element}`: {done} in one loop"
            ))
        })?;
        let before = stride.saturating_mul(distance(term.left));
        let (extent, kind) = (term.size, PadKind::Top);
        let digit = Digit { axis: Some(axis), stride: 1, extent, live: extent, kind, axis_size: extent };
        let mut digits = division.rest;
        digits.push(PlacedDigit { digit, weight: stride });
        Ok(Placement { base: division.base.saturating_sub(before), origin: others.collect(), digits })
    }

    fn masked_plan(&self, masked: &Masked) -> Result<(Plan, Option<Mask>), Refused> {
        let access = masked.access(self);
        let order = access.order().map_err(unreadable)?;
        let walked = order.read(&masked.buffer, &masked.free(self)).map_err(unreadable)?;
        let stream =
            digits_of(&order.packet, order.axes()).and_then(|packet| order.stream(place(&packet, 1)));
        let steps: Vec<Step> =
            walked.inner.iter().chain(&walked.outer).map(|factor| factor.step.clone()).collect();
        let plan = plan::fetch(walked);
        if masked.term.slides {
            return Ok((plan, None));
        }
        let counted = masked.counted(&stream.map_err(unreadable)?, &steps)?;
        if !masked.term.zero || counted.left(0) == 0 && counted.right(counted.steps - 1) == 0 {
            return Ok((plan, None));
        }
        let most = self.machine.limits.mask_packet_max_bytes;
        if let Some(unit @ (Unit::Sub | Unit::Dual)) = self.unit {
            let (text, context) = (&masked.term.text, unit);
            let message = format!("`{text}` has zero padding, which the {context} context cannot mask");
            let fix = Some("begin the pipeline with `stream.begin main`, or leave `{0}` out".to_owned());
            return Err(Refused { constraint: "C9", message, fix });
        }
        let size = self.packet.size(self.axes).map_err(|error| unreadable(error.to_string()))?;
        let bytes = self
            .formats
            .1
            .bytes(size)
            .ok_or_else(|| unreadable(format!("packet `{}` is over 2^64 bytes", self.packet)))?;
        if bytes > most {
            let (packet, text) = (&self.packet, &masked.term.text);
            let message = format!(
                "packet `{packet}` has {}, at most {most} with `{text}` masked",
                diag::counted(bytes, "byte")
            );
            return Err(Refused { constraint: "C9", message, fix: None });
        }
        let (plan, mask) = self.mask(plan, &counted)?;
        Ok((plan, Some(mask)))
    }

    /// The registers of the mask; a mask without a loop for `dim` gets one of a single iteration.
    fn mask(&self, mut plan: Plan, counted: &Counted<'_>) -> Result<(Plan, Mask), Refused> {
        let single = counted.single(self.machine.masked_right_max(u64::from(self.formats.0.bits())));
        let valid = match &single {
            Ok(_) => Vec::new(),
            Err(why) => counted.each(self.machine.limits.mask_counts, why)?,
        };
        let dummy = plan.loops.len() - plan.packet_loops.max(1);
        let moved = |index: usize| index + usize::from(index >= dummy);
        let mask = match (single, counted.outer) {
            (Ok((left, valid)), Some(dim)) => {
                return Ok((plan, Mask { dim, left, by: None, valid: vec![valid] }));
            }
            (Ok((left, valid)), None) => Mask { dim: dummy, left, by: None, valid: vec![valid] },
            (Err(_), outer) => Mask { dim: dummy, left: 0, by: outer.map(moved), valid },
        };
        let factor = plan::PADDING.to_owned();
        plan.loops.insert(dummy, Loop { entry: Entry::new(1, 0), factor });
        plan.packet_loops += usize::from(plan.packet_loops > 1);
        Ok((plan, mask))
    }
}

/// The error for a fetch with both terms.
fn second(one: &Padded, two: &Padded) -> Refused {
    let what = match (one, two) {
        _ if one.zero && two.zero => "both have zero padding",
        _ if one.slides && two.slides => "both slide",
        _ if one.slides || two.slides => "slide, or have padding that is read as one",
        _ => "both have padding that is read as one",
    };
    shape(format!("`{}` and `{}` {what}: a fetch has one such term (book 08)", one.text, two.text))
}

/// The distance in the buffer between neighbours of the divided term, if it is everywhere the same.
fn single_stride(division: &Division) -> Option<i64> {
    let mut single = None;
    for step in &division.steps {
        let stride = match step.movement {
            Movement::By(Stride::Fixed(stride)) => stride,
            Movement::Broadcast => 0,
            Movement::Padding | Movement::By(Stride::Table(_)) => return None,
        };
        // Of a sliding term the first step may be of several positions.
        let unit = *single.get_or_insert(stride.checked_div(step.at)?);
        if step.live < step.extent || Some(stride) != step.at.checked_mul(unit) {
            return None;
        }
    }
    Some(single.unwrap_or(1))
}

impl Masked {
    fn access<'b>(&'b self, fetch: &'b Reading<'_>) -> Access<'b> {
        Access { element: &fetch.element, time: &self.time, packet: &self.packet, axes: &self.opaque.axes }
    }

    fn free<'b>(&'b self, fetch: &'b Reading<'_>) -> impl Fn(AxisId) -> bool + 'b {
        move |axis| axis != self.axis && (fetch.free)(axis)
    }

    /// The positions of the term that the loops of the stream, minor first, count.
    fn counted(&self, stream: &Placement, steps: &[Step]) -> Result<Counted<'_>, Refused> {
        let mut counted = Counted {
            term: &self.term,
            start: stream.start(self.axis),
            innermost: steps.first().map_or(1, |step| step.extent),
            step: 0,
            outer: None,
            stride: 0,
            steps: 1,
        };
        for (_, placed) in stream.of_axis(self.axis) {
            let PlacedDigit { digit, weight } = *placed;
            if weight == 1 {
                counted.step = digit.stride;
            } else if counted.outer.is_some() {
                return Err(shape(format!(
                    "`{}` is cut into more than two loops: masked are the innermost one and one around it (book \
                     08)",
                    self.term.text
                )));
            } else {
                // The buffer holds the axis in one digit, so that the stream's is one loop.
                counted.outer = steps.iter().rev().position(|step| step.at == weight);
                (counted.stride, counted.steps) = (digit.stride, digit.extent);
            }
        }
        Ok(counted)
    }
}

#[cfg(test)]
mod tests;
