//! Write plans: the loop nest of a commit, and that it writes what it must and nothing else (book 09, 33).

use crate::plan::{Access, Plan, PlanError, digits_of, within};
use visa_ir::module::OpRef;
use visa_mapping::{
    Axes, Cell, Digit, Digits, Expr, MapError, Opaque, PadKind, Padded, Placement, Step, Unit, Walk,
    padded_terms, place,
};

/// A stream on its way into data memory.
pub struct Write<'a> {
    /// The layout of what is written.
    pub element: &'a Expr,
    /// Time of the stream.
    pub time: &'a Expr,
    /// Packet of the stream.
    pub packet: &'a Expr,
    /// Bytes of an element.
    pub element_bytes: u64,
    /// The context: the sub context writes 8 bytes at a time, however many are kept (book 09).
    pub unit: Option<Unit>,
    /// Supported numbers of bytes kept of a packet (`commit_in_size`, book 09).
    pub sizes: &'a [u64],
    /// The module's axes.
    pub axes: &'a Axes,
    /// Whether the zero padding of the stream is zero: the fetch has masked it, and nothing behind the fetch has computed with it.
    pub zeros: bool,
    /// The tensor that it becomes a part of; none if it is a tensor by itself.
    pub into: Option<Whole<'a>>,
}

/// Whether zero padding of the stream that `op` takes is still what the fetch made of it: only engines that move packets, or
/// convert zeros to zeros, lie between.
#[must_use]
pub fn zeros_kept(op: OpRef<'_>) -> bool {
    let mut before = op.operand_def(0);
    while let Some(engine) = before {
        match engine.name() {
            "stream.fetch" => return true,
            "stream.switch" | "stream.collect" | "stream.cast" => before = engine.operand_def(0),
            _ => return false,
        }
    }
    false
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
    loops: Vec<(u64, i64)>,
    /// How far the step above them goes in the destination.
    stride: i64,
    /// How many iterations of that step are live.
    live: u64,
    /// How many may be kept, in order of preference.
    counts: Vec<u64>,
    /// Bytes of one iteration.
    bytes: u64,
}

impl Write<'_> {
    /// The loops of the write. Truncation may drop padding and trailing elements. A write may touch only live elements and
    /// don't-care padding of the destination, and must fill every live element once. Zero padding that stream and destination
    /// both have is written along, as zeros.
    ///
    /// # Errors
    /// Which of these rules no write order keeps.
    pub fn plan(&self) -> Result<Plan, PlanError> {
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
        let view = |map: &Expr| opaque.view(map).map_err(|error| error.message);
        let (element, time, packet) = (view(self.element)?, view(self.time)?, view(self.packet)?);
        let whole =
            self.into.map(|whole| Ok::<_, PlanError>((view(whole.element)?, whole.start))).transpose()?;
        let into = whole.as_ref().map(|(element, start)| Whole { element, start: *start });
        let axes = &opaque.axes;
        Write { element: &element, time: &time, packet: &packet, axes, into, ..*self }.elements_only()
    }

    /// The write of what is live.
    fn elements_only(&self) -> Result<Plan, PlanError> {
        let Self { element, time, packet, axes, .. } = *self;
        let target = digits_of(element, axes)?;
        let written = digits_of(packet, axes)?;
        let clipped = clip(&written, &target)?;
        let access = Access { element, time, packet, axes };
        let stream = access.stream(Placement { origin: written.offset().to_vec(), ..place(&clipped, 1) })?;
        let division = access.divide(&stream, &place(&target, 1), &|_| false, "written to")?;
        let (inner, outer) = within(division.steps, written.size());
        let kept = self.packet(&inner)?;
        let mut time_loops = Vec::new();
        for step in &outer {
            let Walk::Stride(stride) = step.walk else {
                return Err(format!(
                    "time `{time}` repeats {} times what `{element}` holds once: every write stride must be non-zero (book 33)",
                    step.extent
                ));
            };
            time_loops.push((step.extent, stride));
        }
        self.check_complete(&stream, &target)?;
        let mut refused = String::new();
        for &count in &kept.counts {
            let plan = kept.plan(count, &time_loops, division.base);
            match self.check_safe(&plan, &target) {
                Ok(()) => {
                    let start = self.into.map_or(0, |whole| whole.start);
                    let base = plan.base.saturating_add(i64::try_from(start).unwrap_or(i64::MAX));
                    return Ok(Plan { base, ..plan });
                }
                Err(why) => refused = kept.explain(count, why),
            }
        }
        Err(refused)
    }

    /// What is kept of a packet. All live elements are; padding behind them is kept too as far as the destination has room
    /// for it in the same run, as a longer write costs no more (book 33, full-flit commit).
    fn packet(&self, inner: &[Step]) -> Result<Packet, PlanError> {
        let element = self.element;
        let full = inner.iter().take_while(|step| step.live == step.extent).count();
        let (mut loops, mut kept, mut run) = (Vec::new(), 1, Some(1));
        for step in &inner[..full] {
            let Walk::Stride(stride) = step.walk else {
                return Err(format!(
                    "the packet repeats an element {} times, `{element}` holds it once",
                    step.extent
                ));
            };
            loops.push((step.extent, stride));
            kept *= step.extent;
            run = run.filter(|&run| run == stride).and_then(|_| i64::try_from(kept).ok());
        }
        let (live, most, stride) = match inner.get(full) {
            None => (1, 1, 0),
            Some(step) => match step.walk {
                Walk::Stride(stride) => (step.live, step.extent, stride),
                Walk::Broadcast => {
                    return Err(format!("the packet repeats an element, `{element}` holds it once"));
                }
                Walk::Padding => (1, step.extent, i64::try_from(kept).unwrap_or(i64::MAX)),
            },
        };
        if inner.iter().skip(full + 1).any(|step| step.live > 1) {
            return Err(
                "padding inside the packet: only trailing elements can be dropped (book 09)".to_owned()
            );
        }
        let bytes = kept * self.element_bytes;
        let counts = self.counts(bytes, live, most, run == Some(stride))?;
        Ok(Packet { loops, stride, live, counts, bytes })
    }

    /// How many iterations of `bytes` the engine can keep so that the live ones are among them: the fewest, or the most
    /// first where all of them are one run and one write.
    fn counts(&self, bytes: u64, live: u64, most: u64, is_run: bool) -> Result<Vec<u64>, PlanError> {
        let whole = self.sizes.iter().filter(|size| size.is_multiple_of(bytes)).map(|size| size / bytes);
        let mut counts: Vec<u64> = whole.filter(|count| (live..=most).contains(count)).collect();
        counts.sort_unstable();
        if counts.is_empty() {
            let sizes: Vec<_> = self.sizes.iter().map(u64::to_string).collect();
            let found = bytes.saturating_mul(live);
            return Err(format!(
                "{found} bytes of each packet are live; a commit keeps {} bytes",
                sizes.join(", ")
            ));
        }
        match self.unit {
            Some(Unit::Main) | None if is_run => counts.reverse(),
            Some(Unit::Main | Unit::Sub) | None => counts.truncate(1),
        }
        Ok(counts)
    }

    /// Checks that the stream brings as many elements as the destination holds. Where padding was cut into packets, the last
    /// ones run past the end of their axis, and what they hold there is no element.
    fn check_complete(&self, stream: &Placement, target: &Digits) -> Result<(), PlanError> {
        let (produced, wanted) = (stream.live_count(), target.live_count());
        if produced.is_some() && produced == wanted {
            return Ok(());
        }
        let text =
            |count: Option<u64>| count.map_or("an unknown number of".to_owned(), |count| count.to_string());
        let (produced, wanted) = (text(produced), text(wanted));
        let element = self.element;
        Err(format!(
            "the stream has {produced} elements, `{element}` holds {wanted}: not every element would be written"
        ))
    }

    /// Checks, position by position, that nothing is written twice and nothing but live elements and don't-care padding. Of a
    /// tensor that is written in part, what lies between is not padding but its other elements.
    ///
    /// The division sends every element of the stream to its own position, and there are as many as live positions. So each
    /// live position gets its element, and anything else that came there would be a second write.
    fn check_safe(&self, plan: &Plan, target: &Digits) -> Result<(), PlanError> {
        let held = self.into.map(|whole| digits_of(whole.element, self.axes)).transpose()?;
        let (held, start) = (held.as_ref().unwrap_or(target), self.into.map_or(0, |whole| whole.start));
        let element = self.into.map_or(self.element, |whole| whole.element);
        let others = || format!("`{element}` holds other elements there");
        let room = held.size().saturating_sub(start);
        let full = target.live_count() == Some(target.size());
        for at in positions(plan, room, element, &others)? {
            if at < target.size() && (full || matches!(target.cell(at), Some(Cell::Live(_)))) {
                continue;
            }
            match held.cell(start + at) {
                Some(Cell::Pad(PadKind::Top)) | None => {}
                Some(Cell::Pad(kind)) => {
                    return Err(format!("`{element}` has {kind} there, which may not be written"));
                }
                Some(Cell::Live(_) | Cell::Shared(_)) => return Err(others()),
            }
        }
        Ok(())
    }
}

/// The positions that a plan writes, in order of position; none of them twice, and none from `room` on.
fn positions(
    plan: &Plan,
    room: u64,
    element: &Expr,
    others: &dyn Fn() -> String,
) -> Result<Vec<u64>, PlanError> {
    let mut written = vec![false; usize::try_from(room).unwrap_or(usize::MAX)];
    let mut counts = vec![0; plan.loops.len()];
    let mut at = plan.base;
    loop {
        let place = usize::try_from(at).ok().and_then(|at| written.get_mut(at));
        let Some(place) = place else {
            return Err(format!("`{element}` ends before; pad it (`# n`) so that the bytes are its own"));
        };
        if std::mem::replace(place, true) {
            return Err(others());
        }
        if !advance(&plan.loops, &mut counts, &mut at) {
            break;
        }
    }
    Ok((0..).zip(written).filter_map(|(at, written)| written.then_some(at)).collect())
}

impl Packet {
    /// The loop nest that keeps `count` iterations, under the loops over `time`, innermost first.
    fn plan(&self, count: u64, time: &[(u64, i64)], base: i64) -> Plan {
        let mut loops = self.loops.clone();
        if count > 1 {
            loops.push((count, self.stride));
        }
        let packet_loops = loops.len();
        let packet = loops.iter().map(|&(limit, _)| limit).product();
        loops.extend(time);
        loops.reverse();
        Plan { base, loops, packet_loops, packet }
    }

    /// Says of what is kept beyond the live elements that it is.
    fn explain(&self, count: u64, why: PlanError) -> PlanError {
        if count == self.live {
            return why;
        }
        let (kept, live) = (self.bytes * count, self.bytes * self.live);
        format!("a commit keeps {kept} bytes of each packet, {live} of them live: {why}")
    }
}

/// Goes to the next position of a loop nest, outermost loop first; `false` behind the last one.
fn advance(loops: &[(u64, i64)], counts: &mut [u64], at: &mut i64) -> bool {
    for (&(limit, stride), count) in loops.iter().zip(counts).rev() {
        *count += 1;
        *at = at.saturating_add(stride);
        if *count < limit {
            return true;
        }
        let back = stride.saturating_mul(i64::try_from(*count).unwrap_or(i64::MAX));
        *at = at.saturating_sub(back);
        *count = 0;
    }
    false
}

/// Drops what the destination truncates: a packet digit longer than the destination's digit of the same stride.
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
