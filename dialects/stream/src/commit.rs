//! Write plans: the loop nest of a commit, and the check that it writes exactly the required elements (book 09, 33).

mod safe;

use crate::pad::Pad;
use crate::padding::padding_kept;
use crate::plan::{Access, Factor, Loop, Plan, PlanError, digits_of};
use visa_algebra::{
    Axes, Carries, Digit, Digits, Expr, MapError, Movement, Opaque, PadKind, Padded, Placement, Step,
    padded_terms, place,
};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::OpRef;
use visa_loops::{Stride, distance};
use visa_mapping::Unit;
use visa_mapping::ops::func::aligned_fix;
use visa_numerics::DType;

/// A stream on its way into data memory.
pub struct Write<'a> {
    /// The layout of the written tensor.
    pub element: &'a Expr,
    /// Time of the stream.
    pub time: &'a Expr,
    /// Packet of the stream.
    pub packet: &'a Expr,
    /// Format of the elements.
    pub dtype: DType,
    /// The context: the sub context writes 8 bytes at a time, however many are kept (book 09).
    pub unit: Option<Unit>,
    /// Supported numbers of bytes kept of a packet (`commit_in_size`, book 09).
    pub sizes: &'a [u64],
    /// The module's axes.
    pub axes: &'a Axes,
    /// True if the zero padding of the stream is zero: the fetch has masked it, and no operation after the fetch has
    /// computed with it.
    pub zeros: bool,
    /// The tensor that it becomes a part of; none if it is a tensor by itself.
    pub into: Option<Whole<'a>>,
}

/// Returns true if zero padding of the stream that `op` takes is unchanged since the fetch, and zero.
///
/// # Errors
/// If the fetch's mask clause cannot be read.
pub fn zeros_kept(op: OpRef<'_>) -> Result<bool, Diagnostic> {
    Ok(padding_kept(op)? == Some(Pad::Zero))
}

/// A tensor in data memory of which a part is written.
#[derive(Clone, Copy)]
pub struct Whole<'a> {
    /// Its layout.
    pub element: &'a Expr,
    /// Where the part starts, in elements.
    pub start: u64,
}

/// The leading elements of a packet, and where they go.
struct Packet {
    /// The loops over whole steps, innermost first.
    loops: Vec<Loop>,
    /// The loop above them: how far it goes in the destination.
    above: Option<Loop>,
    /// Number of live iterations of that step.
    live: u64,
    /// Possible numbers of iterations, in order of preference.
    counts: Vec<u64>,
    /// Bits of one iteration.
    bits: u64,
}

impl Write<'_> {
    /// The loops of the write. Truncation may drop padding and trailing elements. A write may touch only live
    /// elements and don't-care padding of the destination, and must fill every live element once. Zero padding
    /// that stream and destination both have is written along, as zeros.
    ///
    /// # Errors
    /// The violated rule, if no write order satisfies all.
    pub fn plan(&self) -> Result<Plan, PlanError> {
        let mut maps = vec![self.time, self.packet, self.element];
        maps.extend(self.into.map(|whole| whole.element));
        match Carries::new(&maps, self.axes).map_err(|error| error.message)? {
            Some(carries) => {
                self.in_views(&|map| carries.view(map), carries.axes(), |write| write.even_plan())
            }
            None => self.even_plan(),
        }
    }

    /// The loops where no parts carry.
    fn even_plan(&self) -> Result<Plan, PlanError> {
        let Self { element, time, packet, axes, .. } = *self;
        Access { element, time, packet, axes }.check_skew(&|_| false, "written to")?;
        let shared = self.shared_padding().map_err(|error| error.message)?;
        if shared.is_empty() {
            return self.elements_only();
        }
        let with_padding = self.with_padding(shared);
        with_padding.or_else(|why| self.elements_only().map_err(|_| why))
    }

    /// The padded terms that the stream brings and the destination has.
    fn shared_padding(&self) -> Result<Vec<Padded>, MapError> {
        let brought = padded_terms(&[self.time, self.packet], self.axes)?;
        let mut shared = padded_terms(&[self.element], self.axes)?;
        shared.retain(|term| (self.zeros || !term.zero) && brought.iter().any(|own| own.term == term.term));
        Ok(shared)
    }

    /// The write with these terms as data, padding included.
    fn with_padding(&self, terms: Vec<Padded>) -> Result<Plan, PlanError> {
        let opaque = Opaque::new(terms, self.axes);
        self.in_views(&|map| opaque.view(map), &opaque.axes, |write| write.elements_only())
    }

    /// The result of `plan` for the write with views instead of its mappings.
    fn in_views(
        &self,
        view: &dyn Fn(&Expr) -> Result<Expr, MapError>,
        axes: &Axes,
        plan: impl Fn(&Write<'_>) -> Result<Plan, PlanError>,
    ) -> Result<Plan, PlanError> {
        let view = |map: &Expr| view(map).map_err(|error| error.message);
        let (element, time, packet) = (view(self.element)?, view(self.time)?, view(self.packet)?);
        let whole =
            self.into.map(|whole| Ok::<_, PlanError>((view(whole.element)?, whole.start))).transpose()?;
        let into = whole.as_ref().map(|(element, start)| Whole { element, start: *start });
        plan(&Write { element: &element, time: &time, packet: &packet, axes, into, ..*self })
    }

    /// The write of the live elements.
    fn elements_only(&self) -> Result<Plan, PlanError> {
        let Self { element, time, packet, axes, .. } = *self;
        let access = Access { element, time, packet, axes };
        let order = access.order()?;
        let target = digits_of(&order.element, order.axes())?;
        let written = digits_of(&order.packet, order.axes())?;
        let clipped = clip(&written, &target)?;
        let stream = order.stream(Placement { origin: written.offset().to_vec(), ..place(&clipped, 1) })?;
        let division = order.divide(&stream, &place(&target, 1), &|_| false, "written to")?;
        let left_over = division.left_over(order.axes());
        let (inner, outer) = order.within(division.steps, &stream, written.size());
        let kept = self.packet(&inner)?;
        let time_loops = outer.iter().map(|factor| self.time_loop(factor)).collect::<Result<Vec<_>, _>>()?;
        self.check_complete(&stream, &target)?;
        let mut refused = String::new();
        for (at, &count) in kept.counts.iter().enumerate() {
            let plan = kept.plan(count, &time_loops, division.base);
            // A fault is reported of the last one.
            if at + 1 < kept.counts.len() && safe::collides(&plan) {
                continue;
            }
            match self.check_safe(&plan, &target) {
                Ok(()) => {
                    let start = self.into.map_or(0, |whole| whole.start);
                    let base = plan.base.saturating_add(distance(start));
                    return Ok(Plan { base, left_over, ..plan });
                }
                Err(why) => refused = kept.explain(count, why),
            }
        }
        Err(refused)
    }

    /// A loop over time, each iteration of which writes a packet.
    fn time_loop(&self, factor: &Factor) -> Result<Loop, PlanError> {
        let Self { element, time, .. } = *self;
        let Step { extent, live, ref movement, .. } = factor.step;
        match movement {
            Movement::By(Stride::Fixed(stride)) => Ok(factor.moved(extent, Stride::Fixed(*stride))),
            Movement::By(Stride::Table(table)) if live == extent => {
                Ok(factor.moved(extent, Stride::Table(table.clone())))
            }
            Movement::By(Stride::Table(_)) => Err(padded_time(time, extent, live)),
            Movement::Padding => Err(padded_time(time, extent, 1)),
            Movement::Broadcast => Err(format!(
                "time `{time}` repeats {} elements that `{element}` holds once: every write stride must be non-zero \
                 (book 33)",
                counted(extent, "time")
            )),
        }
    }

    /// The stored part of a packet. All live elements are stored. Padding after them is stored too if the destination
    /// has space for it in the same contiguous run, as a longer write costs no more (book 33, full-flit commit).
    fn packet(&self, inner: &[Factor]) -> Result<Packet, PlanError> {
        let element = self.element;
        let full = inner.iter().take_while(|factor| factor.step.live == factor.step.extent).count();
        let (mut loops, mut kept, mut run) = (Vec::new(), 1, Some(1));
        for factor in &inner[..full] {
            let step = &factor.step;
            let stride = match &step.movement {
                Movement::By(Stride::Fixed(stride)) => Stride::Fixed(*stride),
                Movement::By(Stride::Table(table)) => Stride::Table(table.clone()),
                Movement::Broadcast | Movement::Padding => {
                    return Err(format!(
                        "the packet repeats an element {}, `{element}` holds it once",
                        counted(step.extent, "time")
                    ));
                }
            };
            kept *= step.extent;
            run = run.filter(|&run| stride == Stride::Fixed(run)).and_then(|_| i64::try_from(kept).ok());
            loops.push(factor.moved(step.extent, stride));
        }
        let (live, most, stride) = match inner.get(full) {
            None => (1, 1, Stride::Fixed(0)),
            Some(Factor { step, .. }) => match &step.movement {
                Movement::By(Stride::Fixed(stride)) => (step.live, step.extent, Stride::Fixed(*stride)),
                Movement::By(Stride::Table(table)) => (step.live, step.live, Stride::Table(table.clone())),
                Movement::Broadcast => {
                    return Err(format!("the packet repeats an element, `{element}` holds it once"));
                }
                Movement::Padding => (1, step.extent, Stride::Fixed(distance(kept))),
            },
        };
        if inner.iter().skip(full + 1).any(|factor| factor.step.live > 1) {
            return Err(
                "padding inside the packet: only trailing elements can be dropped (book 09)".to_owned()
            );
        }
        let bits = kept * u64::from(self.dtype.bits());
        let counts = self.counts(bits, live, most, run.is_some_and(|run| stride == Stride::Fixed(run)))?;
        let above = inner.get(full).map(|factor| factor.moved(live, stride));
        Ok(Packet { loops, above, live, counts, bits })
    }

    /// Numbers of iterations of `bits` bits that the engine can store so that the live ones are among them: the
    /// fewest, or the most first if all of them are one contiguous run and one write.
    fn counts(&self, bits: u64, live: u64, most: u64, is_run: bool) -> Result<Vec<u64>, PlanError> {
        let sizes = self.sizes.iter().map(|size| size * 8);
        let whole = sizes.filter(|size| size.is_multiple_of(bits)).map(|size| size / bits);
        let mut counts: Vec<u64> = whole.filter(|count| (live..=most).contains(count)).collect();
        counts.sort_unstable();
        if counts.is_empty() {
            let sizes: Vec<_> = self.sizes.iter().map(u64::to_string).collect();
            let found = bits.saturating_mul(live).div_ceil(8);
            return Err(format!(
                "{} of each packet are live; a commit keeps {} bytes",
                counted(found, "byte"),
                sizes.join(", ")
            ));
        }
        match self.unit {
            Some(Unit::Main | Unit::Dual) | None if is_run => counts.reverse(),
            Some(Unit::Main | Unit::Sub | Unit::Dual) | None => counts.truncate(1),
        }
        Ok(counts)
    }

    /// Checks that the stream brings as many elements as the destination holds. If padding was cut into packets, the
    /// last ones run past the end of their axis, and their content there is no element.
    fn check_complete(&self, stream: &Placement, target: &Digits) -> Result<(), PlanError> {
        let (produced, wanted) = (stream.live_count(), target.live_count());
        if produced.is_some() && produced == wanted {
            return Ok(());
        }
        let produced = produced
            .map_or_else(|| "an unknown number of elements".to_owned(), |count| counted(count, "element"));
        let wanted = wanted.map_or_else(|| "an unknown number".to_owned(), |count| count.to_string());
        let element = self.element;
        Err(format!(
            "the stream has {produced}, `{element}` holds {wanted}: not every element would be written"
        ))
    }

    /// Checks that no position is written twice, and only live elements and don't-care padding are. In a tensor that
    /// is written in part, the rest is not padding but its other elements.
    ///
    /// The division sends every element of the stream to its own position, and there are as many as live
    /// positions. So each live position gets its element, and anything else that came there would be a second write.
    fn check_safe(&self, plan: &Plan, target: &Digits) -> Result<(), PlanError> {
        if safe::by_digits(plan, target, self.into.is_some()) {
            return Ok(());
        }
        let held = self.into.map(|whole| digits_of(whole.element, self.axes)).transpose()?;
        let (held, start) = (held.as_ref().unwrap_or(target), self.into.map_or(0, |whole| whole.start));
        let element = self.into.map_or(self.element, |whole| whole.element);
        safe::by_position(plan, target, &safe::WrittenTensor { digits: held, start, element })
    }
}

impl Packet {
    /// The loop nest that keeps `count` iterations, under the loops over `time`, innermost first.
    fn plan(&self, count: u64, time: &[Loop], base: i64) -> Plan {
        let mut loops = self.loops.clone();
        if count > 1 {
            loops.extend(self.above.iter().map(|above| above.times(count)));
        }
        let packet_loops = loops.len();
        let packet = loops.iter().map(|step| step.entry.limit).product();
        loops.extend_from_slice(time);
        loops.reverse();
        Plan { base, loops, packet_loops, packet, left_over: String::new(), starts: Vec::new() }
    }

    /// Adds that elements are stored beyond the live ones to the error.
    fn explain(&self, count: u64, why: PlanError) -> PlanError {
        if count == self.live {
            return why;
        }
        let bytes = |count: u64| (self.bits * count).div_ceil(8);
        let (kept, live) = (bytes(count), bytes(self.live));
        format!("a commit keeps {} of each packet, {live} of them live: {why}", counted(kept, "byte"))
    }
}

/// Checks that a commit writes at a multiple of `align`; while its address is open, there is nothing to check.
///
/// # Errors
/// If it does not, as `constraint` of the operation.
pub fn check_aligned(op: OpRef<'_>, at: Option<i64>, align: u64, constraint: &str) -> Result<(), Diagnostic> {
    let Some(at) = at.filter(|at| !at.unsigned_abs().is_multiple_of(align)) else { return Ok(()) };
    let fix = i64::try_from(align).ok().and_then(|align| aligned_fix(at, align));
    let message = format!("address {at} is not a multiple of {align} (book 09)");
    Err(op.clause_error(constraint, "at", message).fix(fix))
}

/// The reason why padding in time cannot be committed.
fn padded_time(time: &Expr, extent: u64, live: u64) -> PlanError {
    format!(
        "time `{time}` has padding: of {} only the first {live} bring elements, and a commit writes every step \
         (book 09)",
        counted(extent, "step")
    )
}

/// Drops the elements that the destination truncates: a packet digit longer than the destination's digit of the same
/// stride.
fn clip(packet: &Digits, target: &Digits) -> Result<Digits, PlanError> {
    let mut clipped = Digits::unit();
    for digit in packet.iter() {
        let held = || target.iter().filter(|held| held.axis == digit.axis && held.axis.is_some());
        let same = held().find(|held| held.stride == digit.stride && held.live < digit.live);
        let continued = |end: u64| held().any(|held| held.stride == end);
        let live = match same {
            Some(held) if !continued(held.stride * held.live) => held.live,
            Some(_) | None => digit.live,
        };
        let digit = Digits::of(Digit { live, kind: PadKind::Top, ..*digit });
        clipped = Digits::concat(&digit, &clipped).map_err(|error| error.to_string())?;
    }
    Ok(clipped)
}
