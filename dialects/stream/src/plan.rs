//! Sequencer plans: the loop nests that a fetch, a commit and the register-file reads need (book 07, 08, 09, 18).
//!
//! A plan is loops of (limit, stride or offset table) in elements, outermost first. The verifier asks for one to
//! know whether it exists; lowering asks for the same one and turns it into a sequencer program.

use std::collections::BTreeMap;
use std::fmt;
use visa_algebra::{
    Axes, AxisId, Cell, Crossing, Digit, Digits, DivideError, Division, Expr, Gathers, Index, Map, Movement,
    Offset, PadKind, PlacedDigit, Placement, Step, crossings, describe, digits, divide_across, loops_of,
    place, place_expr, step_text,
};
use visa_ir::diag::counted;
use visa_loops::{Entry, Stride, distance};
use visa_mapping::flat;

/// A loop of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Iterations, and how far they are apart in elements.
    pub entry: Entry,
    /// The factor of the stream that it counts, in the user's notation; `padding` where it counts none.
    pub factor: String,
}

impl Loop {
    /// The same with that many iterations.
    #[must_use]
    pub fn times(&self, limit: u64) -> Self {
        Self { entry: Entry { limit, stride: self.entry.stride.clone() }, factor: self.factor.clone() }
    }
}

/// As messages show it: `` `N / 512` 8 : 96``.
impl fmt::Display for Loop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entry: Entry { limit, stride }, factor } = self;
        let stride = stride.shortened();
        match factor.as_str() {
            PADDING => write!(f, "{factor} {limit} : {stride}"),
            _ => write!(f, "`{factor}` {limit} : {stride}"),
        }
    }
}

/// Name of the subject of a loop that counts no element.
pub(crate) const PADDING: &str = "padding";

/// A loop nest over elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Where they start, in elements from the buffer's first.
    pub base: i64,
    /// Outermost first; the last `packet_loops` of them run within a packet.
    pub loops: Vec<Loop>,
    /// Number of loops, counted from the innermost, that run within a packet.
    pub packet_loops: usize,
    /// Elements of a packet that the loops cover.
    pub packet: u64,
    /// The unread part of the buffer, in the user's notation (book 07, "Buf After").
    pub left_over: String,
    /// Distance in elements from `base` to the start of each place, in loops that count the places, chips first, then
    /// clusters and slices; empty if all start there (book 08: heterogeneous configurations).
    pub starts: Vec<Entry>,
}

impl Plan {
    /// The furthest start of a place, in elements past `base`.
    #[must_use]
    pub fn furthest(&self) -> i64 {
        let last = |Entry { limit, stride }: &Entry| match stride {
            Stride::Fixed(_) => stride.distance(limit.saturating_sub(1)),
            Stride::Table(table) => table.iter().max().copied().unwrap_or_default(),
        };
        self.starts.iter().map(last).fold(0, i64::saturating_add)
    }

    /// The distances between the starts of places.
    #[must_use]
    pub fn distances(&self) -> Vec<i64> {
        let of = |Entry { limit, stride }: &Entry| match stride {
            Stride::Fixed(step) if *limit > 1 => vec![*step],
            Stride::Fixed(_) => Vec::new(),
            Stride::Table(table) => table.to_vec(),
        };
        self.starts.iter().flat_map(of).collect()
    }

    /// The loops over time, outermost first.
    #[must_use]
    pub fn time(&self) -> &[Loop] {
        &self.loops[..self.loops.len() - self.packet_loops]
    }

    /// The elements that the innermost loops walk in one run, and the loop that does not continue it, if one is left.
    #[must_use]
    pub fn run(&self) -> (u64, Option<&Loop>) {
        let mut run = 1_u64;
        for step in self.loops.iter().rev().filter(|step| step.entry.limit > 1) {
            if step.entry.stride != Stride::Fixed(distance(run)) {
                return (run, Some(step));
            }
            run = run.saturating_mul(step.entry.limit);
        }
        (run, None)
    }
}

/// Reason why there is no plan, in the user's notation.
pub type PlanError = String;

/// The digits of a mapping.
///
/// # Errors
/// Its error, or that it has no digit form.
pub fn digits_of(map: &Expr, axes: &Axes) -> Result<Digits, PlanError> {
    digits(map, axes).map_err(|error| format!("`{map}`: {error}"))
}

/// A read or a write of a buffer in the order of a stream.
pub(crate) struct Access<'a> {
    pub(crate) element: &'a Expr,
    pub(crate) time: &'a Expr,
    pub(crate) packet: &'a Expr,
    pub(crate) axes: &'a Axes,
}

/// An access whose gathered terms have given way to scratch axes.
pub(crate) struct Order<'a> {
    access: &'a Access<'a>,
    gathers: Gathers<'a>,
    pub(crate) element: Expr,
    pub(crate) time: Expr,
    pub(crate) packet: Expr,
}

impl Access<'_> {
    /// Refuses a stream and a buffer that are not written in the same skewed axes: data at the same position in every
    /// slice cannot be read or written along a diagonal.
    pub(crate) fn check_skew(&self, free: &dyn Fn(AxisId) -> bool, done: &str) -> Result<(), PlanError> {
        let Self { element, time, packet, axes } = *self;
        match crossings(&[time, packet], &[element], free, axes).first() {
            Some(crossing) => {
                Err(self.refused(done, &DivideError::Skewed { axis: axes.name(crossing.axis).to_owned() }))
            }
            None => Ok(()),
        }
    }

    /// The reason why the stream cannot be read from the buffer, or written to it.
    fn refused(&self, done: &str, error: &DivideError) -> PlanError {
        let Self { element, time, packet, .. } = *self;
        let stream = flat([time.clone(), packet.clone()]);
        format!("`{stream}` cannot be {done} `{element}`: {error}")
    }

    /// The access without gathered terms.
    pub(crate) fn order(&self) -> Result<Order<'_>, PlanError> {
        let mut gathers = Gathers::new(self.axes);
        let time = gathers.stream(self.time)?;
        let packet = gathers.stream(self.packet)?;
        let element = gathers.buffer(self.element)?;
        Ok(Order { access: self, gathers, element, time, packet })
    }
}

impl Order<'_> {
    /// The axes, with scratch axes.
    pub(crate) fn axes(&self) -> &Axes {
        self.gathers.axes()
    }

    /// Where the stream holds each index, with a packet of these digits.
    pub(crate) fn stream(&self, packet: Placement) -> Result<Placement, PlanError> {
        let size = self.packet.size(self.axes()).map_err(|error| error.to_string())?;
        Ok(packet.join(place(&digits_of(&self.time, self.axes())?, distance(size))))
    }

    /// The stream divided by the buffer. `done` is the verb of the message.
    pub(crate) fn divide(
        &self,
        stream: &Placement,
        buffer: &Placement,
        free: &dyn Fn(AxisId) -> bool,
        done: &str,
    ) -> Result<Division, PlanError> {
        self.gathers.divide(stream, buffer, free).map_err(|error| self.access.refused(done, &error))
    }

    /// The steps within a packet of that size, and those over time.
    pub(crate) fn within(
        &self,
        steps: Vec<Step>,
        stream: &Placement,
        packet: u64,
    ) -> (Vec<Factor>, Vec<Factor>) {
        let packet = distance(packet);
        let factor = |step: Step| {
            let text = match step.movement {
                Movement::Padding => PADDING.to_owned(),
                Movement::By(_) | Movement::Broadcast => step_text(&step, stream, self.axes()),
            };
            Factor { step, text }
        };
        steps.into_iter().map(factor).partition(|factor| factor.step.at < packet)
    }

    /// Where the buffer holds each index.
    pub(crate) fn buffer(&self) -> Result<Placement, PlanError> {
        place_expr(&self.element, self.axes(), 1)
            .map_err(|error| format!("`{}`: {error}", self.access.element))
    }

    /// The walk of a read through the buffer: its start, the steps within a packet, and those over time. Minor first.
    pub(crate) fn read(
        &self,
        buffer: &Placement,
        free: &dyn Fn(AxisId) -> bool,
    ) -> Result<Walked, PlanError> {
        let packet = digits_of(&self.packet, self.axes())?;
        let stream = self.stream(place(&packet, 1))?;
        let division = self.divide(&stream, buffer, free, "read from")?;
        Ok(self.walked(division, &stream, packet.size()))
    }

    /// [`Self::read`] of a buffer that is the same within a number of coordinates of some axes.
    fn read_coarsely(
        &self,
        buffer: &Placement,
        free: &dyn Fn(AxisId) -> bool,
        coarse: &[(AxisId, u64)],
    ) -> Result<Walked, PlanError> {
        let packet = digits_of(&self.packet, self.axes())?;
        let mut stream = self.stream(place(&packet, 1))?;
        for &(axis, step) in coarse {
            stream.digits =
                stream.digits.into_iter().flat_map(|placed| without_finer(placed, axis, step)).collect();
        }
        let division = self.divide(&stream, buffer, free, "read from")?;
        Ok(self.walked(division, &stream, packet.size()))
    }

    fn walked(&self, division: Division, stream: &Placement, packet: u64) -> Walked {
        let left_over = division.left_over(self.axes());
        let (inner, outer) = self.within(division.steps, stream, packet);
        Walked { base: division.base, inner, outer, left_over, starts: Vec::new() }
    }

    /// The walks of a fetch's places through a buffer across skewed axes: the same loops, with different starts.
    pub(crate) fn read_across(
        &self,
        buffer: &Placement,
        free: &dyn Fn(AxisId) -> bool,
        across: &Across,
    ) -> Result<Walked, PlanError> {
        let packet = digits_of(&self.packet, self.axes())?;
        let stream = self.stream(place(&packet, 1))?;
        let refused = |error: DivideError| self.access.refused("read from", &error);
        let walk = |stream: &Placement| self.gathers.divide(stream, buffer, free);
        let mut known: BTreeMap<&[u64], i64> = BTreeMap::new();
        let mut first: Option<Division> = None;
        for at in across.at.iter().flatten() {
            if known.contains_key(&**at) {
                continue;
            }
            let division =
                divide_across(&stream, &across.crossings, at, &walk, self.axes()).map_err(refused)?;
            let base = division.base;
            known.insert(at, base);
            match &mut first {
                None => first = Some(division),
                Some(first) if first.steps != division.steps => {
                    return Err(refused(across.refuse(self.axes())));
                }
                Some(first) => first.base = first.base.min(base),
            }
        }
        let division = first.ok_or_else(|| refused(across.refuse(self.axes())))?;
        let start = |at: &Option<Vec<u64>>| Some(known.get(at.as_deref()?)?.saturating_sub(division.base));
        let starts = loops_from_first(&across.at.iter().map(start).collect::<Vec<_>>());
        Ok(Walked { starts, ..self.walked(division, &stream, packet.size()) })
    }

    /// The walks of a fetch's places through parts of a buffer: the same loops, with different starts.
    pub(crate) fn read_parts(
        &self,
        buffer: &Placement,
        free: &dyn Fn(AxisId) -> bool,
        parts: &[Option<Index>],
    ) -> Result<Walked, PlanError> {
        let packet = digits_of(&self.packet, self.axes())?;
        let stream = self.stream(place(&packet, 1))?;
        let mut known: BTreeMap<&Index, i64> = BTreeMap::new();
        let mut first: Option<Division> = None;
        for at in parts.iter().flatten() {
            if known.contains_key(at) {
                continue;
            }
            let started = self.started(&stream, free, at)?;
            let division = self.divide(&started, buffer, free, "read from")?;
            known.insert(at, division.base);
            match &mut first {
                None => first = Some(division),
                Some(first) if first.steps != division.steps => {
                    let Access { element, .. } = *self.access;
                    let [own, other] = self.two_parts(parts, at);
                    return Err(format!(
                        "the parts of `{element}` at {own} and {other} are read by other loops"
                    ));
                }
                Some(first) => first.base = first.base.min(division.base),
            }
        }
        let Some(division) = first else { return Err("no slice holds an element".to_owned()) };
        let start = |at: &Option<Index>| Some(known.get(at.as_ref()?)?.saturating_sub(division.base));
        let starts = loops_from_first(&parts.iter().map(start).collect::<Vec<_>>());
        Ok(Walked { starts, ..self.walked(division, &stream, packet.size()) })
    }

    /// The first part, and another one, for messages.
    fn two_parts(&self, parts: &[Option<Index>], other: &Index) -> [String; 2] {
        let first = parts.iter().flatten().next();
        [first.unwrap_or(other), other].map(|index| describe(Some(&Cell::Live(index.clone())), self.axes()))
    }

    /// A stream from these coordinates on.
    fn started(
        &self,
        stream: &Placement,
        free: &dyn Fn(AxisId) -> bool,
        at: &Index,
    ) -> Result<Placement, PlanError> {
        let mut started = stream.clone();
        for (axis, coordinate) in at.iter().filter(|(axis, _)| !free(*axis)) {
            let (start, axis_size) = (stream.start(axis).saturating_add(coordinate), self.axes().size(axis));
            let reach = stream.of_axis(axis).map(|(_, placed)| placed.digit);
            let reach = reach.map(|digit| digit.stride.saturating_mul(digit.live.saturating_sub(1)));
            if reach.fold(start, u64::saturating_add) >= axis_size {
                let Access { time, packet, .. } = *self.access;
                let (name, stream) = (self.axes().name(axis), flat([time.clone(), packet.clone()]));
                return Err(format!(
                    "from {name}={coordinate} on `{stream}` ends after {name} ({axis_size}): leave out of time the \
                     parts of {name} that slices, clusters or chips hold"
                ));
            }
            started.origin.retain(|offset| offset.axis != axis);
            started.origin.push(Offset { axis, coordinate: start, axis_size });
        }
        started.origin.sort_by_key(|offset| offset.axis);
        Ok(started)
    }
}

/// The loops that count these starts; empty if all places start at the first.
fn loops_from_first(starts: &[Option<i64>]) -> Vec<Entry> {
    if starts.iter().flatten().any(|start| *start > 0) { loops_of(starts) } else { Vec::new() }
}

/// The places of a fetch, and the skewed axes across which they read.
pub(crate) struct Across {
    pub(crate) crossings: Vec<Crossing>,
    /// Where each place is along the axis that each crossing subtracts; nothing for a place that holds nothing.
    pub(crate) at: Vec<Option<Vec<u64>>>,
}

/// Most places of a fetch: slices of all clusters and chips.
pub(crate) const MAX_PLACES: u64 = 1 << 16;

impl Across {
    /// Of the places that a mapping counts.
    pub(crate) fn new(crossings: Vec<Crossing>, places: &Expr, axes: &Axes) -> Result<Self, PlanError> {
        let map = Map::new(places, axes).map_err(|error| error.message)?;
        if map.size() > MAX_PLACES {
            return Err(format!("`{places}` counts {} places, at most {MAX_PLACES}", map.size()));
        }
        let at = |place: u64| match map.cell(place) {
            Some(Cell::Live(index)) => {
                Some(crossings.iter().map(|crossing| index.get(crossing.by)).collect())
            }
            Some(Cell::Shared(_) | Cell::Pad(_)) | None => None,
        };
        let at = (0..map.size()).map(at).collect();
        Ok(Self { crossings, at })
    }

    fn refuse(&self, axes: &Axes) -> DivideError {
        let axis =
            self.crossings.first().map_or(String::new(), |crossing| axes.name(crossing.axis).to_owned());
        DivideError::Skewed { axis }
    }
}

/// The walk of a read through the buffer.
pub(crate) struct Walked {
    pub(crate) base: i64,
    /// The steps within a packet, minor first.
    pub(crate) inner: Vec<Factor>,
    /// The steps over time, minor first.
    pub(crate) outer: Vec<Factor>,
    pub(crate) left_over: String,
    /// Where places start, as [`Plan::starts`].
    pub(crate) starts: Vec<Entry>,
}

/// A step of a walk, and the factor of the stream that it counts.
pub(crate) struct Factor {
    pub(crate) step: Step,
    text: String,
}

impl Factor {
    /// The loop that goes so far.
    pub(crate) fn moved(&self, limit: u64, stride: Stride) -> Loop {
        Loop { entry: Entry { limit, stride }, factor: self.text.clone() }
    }

    /// The loop of a read: a loop that needs no other element reads the same one again.
    fn read(&self) -> Loop {
        self.moved(self.step.extent, self.step.movement.read(self.step.extent))
    }
}

/// The loops of a fetch. Padding of the stream is read beyond the live elements (over-fetch, book 33), if that
/// continues a contiguous run; otherwise an element is read again.
pub(crate) fn fetch(walked: Walked) -> Plan {
    let Walked { base, inner, outer, left_over, starts } = walked;
    let mut loops: Vec<Loop> = Vec::new();
    for (at, factor) in inner.iter().enumerate() {
        let Step { extent, ref movement, .. } = factor.step;
        loops.push(match movement {
            Movement::Padding => {
                factor.moved(extent, Stride::Fixed(over_fetch(&loops, extent, inner.get(at + 1))))
            }
            Movement::By(_) | Movement::Broadcast => factor.read(),
        });
    }
    let packet_loops = loops.len();
    loops.extend(outer.iter().map(Factor::read));
    loops.reverse();
    let packet = inner.iter().map(|factor| factor.step.extent).product();
    Plan { base, loops, packet_loops, packet, left_over, starts }
}

/// The stride of padding above the loops `below`: it continues a contiguous run, if the next factor agrees with that.
fn over_fetch(below: &[Loop], extent: u64, above: Option<&Factor>) -> i64 {
    let mut run = 1_i64;
    for Loop { entry: Entry { limit, stride }, .. } in below {
        if *stride != Stride::Fixed(run) {
            return 0;
        }
        run = run.saturating_mul(distance(*limit));
    }
    let end = run.saturating_mul(distance(extent));
    match above.map(|factor| &factor.step.movement) {
        None => run,
        Some(Movement::By(Stride::Fixed(stride))) if *stride == end => run,
        Some(Movement::By(_) | Movement::Broadcast | Movement::Padding) => 0,
    }
}

/// A digit whose movement along `axis` by less than `step` is a repetition.
fn without_finer(placed: PlacedDigit, axis: AxisId, step: u64) -> Vec<PlacedDigit> {
    let PlacedDigit { digit, weight } = placed;
    if digit.axis != Some(axis) || digit.stride >= step || !step.is_multiple_of(digit.stride) {
        return vec![placed];
    }
    let repeats = |digit: Digit| Digit { axis: None, stride: 0, axis_size: 1, ..digit };
    let inside = step / digit.stride;
    if digit.extent <= inside {
        return vec![PlacedDigit { digit: repeats(digit), weight }];
    }
    if !digit.extent.is_multiple_of(inside) || !digit.live.is_multiple_of(inside) {
        return vec![placed];
    }
    let inner = Digit { extent: inside, live: inside, ..repeats(digit) };
    let outer = Digit { stride: step, extent: digit.extent / inside, live: digit.live / inside, ..digit };
    vec![
        PlacedDigit { digit: inner, weight },
        PlacedDigit { digit: outer, weight: weight.saturating_mul(distance(inside)) },
    ]
}

/// Method by which lanes get a shared element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shared {
    /// It is read once and repeated (the TRF sequencer, book 18).
    Repeated,
    /// Each lane reads a separate copy, if the register file holds copies side by side: elements stored along an axis
    /// that the tensor does not depend on (the vector engine, book 20).
    Copied,
}

/// The register file sequencer's reads of `element` for each packet of a computation, and the number of contiguous
/// elements that it reads at once (`reg_read_size`, book 18): the rest of the packet repeats them. `coarse` names axes
/// of which the file holds the multiples of a number, each for all coordinates up to the next.
///
/// # Errors
/// Why the register file cannot be read in that order.
pub fn register_read(
    element: &Expr,
    time: &Expr,
    packet: &Expr,
    free: &dyn Fn(AxisId) -> bool,
    (shared, coarse): (Shared, &[(AxisId, u64)]),
    axes: &Axes,
) -> Result<Plan, PlanError> {
    let access = Access { element, time, packet, axes };
    access.check_skew(free, "read from")?;
    let order = access.order()?;
    let buffer = order.buffer()?;
    let Walked { base, inner, outer, left_over, starts } = order.read_coarsely(&buffer, free, coarse)?;
    let mut read = 1_u64;
    let mut factors = Vec::new();
    let mut rest = inner.iter().peekable();
    while let Some(Factor { step, text }) = rest.peek() {
        let apart = distance(read);
        let copied = || shared == Shared::Copied && copies(&buffer, apart, free) >= step.live;
        if step.movement != Movement::By(Stride::Fixed(apart))
            && !(step.movement == Movement::Broadcast && copied())
        {
            break;
        }
        // Padding is read along only where the live elements alone are no power of two, which a read must be.
        read *= if (read * step.live).is_power_of_two() { step.live } else { step.extent };
        let padded = step.live < step.extent;
        factors.push(text.as_str());
        rest.next();
        if padded {
            break;
        }
    }
    let reads = |factor: &&Factor| matches!(factor.step.movement, Movement::By(_));
    if let Some(Factor { step, text }) = rest.find(|factor| reads(factor) && factor.step.live > 1) {
        return Err(format!(
            "packet `{packet}` is not contiguous in `{element}`: a loop of {} is apart from the {} read at \
             once, `{text}` (book 18)",
            step.live,
            counted(read, "element")
        ));
    }
    factors.reverse();
    let factor = if factors.is_empty() { PADDING.to_owned() } else { factors.join("`, `") };
    let mut loops = vec![Loop { entry: Entry::new(read, 1), factor }];
    loops.extend(outer.iter().map(Factor::read));
    loops.reverse();
    Ok(Plan { base, loops, packet_loops: 1, packet: read, left_over, starts })
}

/// Number of copies of the same elements in the buffer at this distance.
fn copies(buffer: &Placement, apart: i64, free: &dyn Fn(AxisId) -> bool) -> u64 {
    let same = |placed: &&PlacedDigit| placed.weight == apart && placed.digit.axis.is_none_or(free);
    buffer.digits.iter().find(same).map_or(1, |placed| placed.digit.live)
}

/// A loop over time of the accumulator, outermost first: how many steps, and whether they are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLoop {
    /// Steps.
    pub limit: u64,
    /// True if the steps are summed.
    pub summed: bool,
}

/// The time loops that an accumulation sums: those of `time` that `kept` leaves out. Order is preserved (book 19).
///
/// # Errors
/// If `kept` is no subsequence of `time`, or padding would be summed that is not zero.
pub fn accumulation(time: &Expr, kept: &Digits, axes: &Axes) -> Result<Vec<TimeLoop>, PlanError> {
    let found = digits_of(time, axes)?;
    if let Some(axis) = moved(&found, kept) {
        return Err(format!(
            "time `{time}` and its preserved part start at different coordinates of {}",
            axes.name(axis)
        ));
    }
    let mut wanted = kept.iter().copied().peekable();
    let mut loops = Vec::new();
    for digit in found.iter() {
        let mut rest = *digit;
        while rest.extent > 1 {
            let take = match wanted.peek() {
                Some(next)
                    if next.axis == rest.axis
                        && next.stride == rest.stride
                        && rest.extent.is_multiple_of(next.extent) =>
                {
                    let extent = next.extent;
                    wanted.next();
                    (extent, false)
                }
                Some(next) if inside(&rest, next) => (next.stride / rest.stride, true),
                Some(_) | None => (rest.extent, true),
            };
            let (limit, summed) = take;
            if summed && rest.live < rest.extent && rest.kind != PadKind::Zero {
                return Err(format!("time `{time}` has padding in a loop of {} that is summed", rest.extent));
            }
            loops.push(TimeLoop { limit, summed });
            rest.stride *= limit;
            rest.extent /= limit;
            rest.live = rest.live.div_ceil(limit);
        }
    }
    match wanted.next() {
        Some(digit) => Err(format!(
            "`{}` is no loop of time `{time}` that is left in order",
            visa_algebra::digit_text(&digit, axes)
        )),
        None => {
            loops.reverse();
            Ok(loops)
        }
    }
}

/// An axis that `kept` mentions and `whole` starts at another coordinate of.
fn moved(whole: &Digits, kept: &Digits) -> Option<AxisId> {
    let mentioned =
        kept.iter().filter_map(|digit| digit.axis).chain(kept.offset().iter().map(|offset| offset.axis));
    let (whole, kept) = (place(whole, 1), place(kept, 1));
    mentioned.into_iter().find(|&axis| whole.start(axis) != kept.start(axis))
}

/// Returns true if `next` counts higher coordinates within `rest`.
fn inside(rest: &visa_algebra::Digit, next: &visa_algebra::Digit) -> bool {
    let end = rest.stride * rest.extent;
    next.axis == rest.axis
        && rest.axis.is_some()
        && rest.stride < next.stride
        && next.stride < end
        && next.stride.is_multiple_of(rest.stride)
}

/// Number of levels of the reduction tree that a contraction uses: the fewest that turn `packet` into `sums`, which
/// may also drop trailing padding (book 19).
///
/// # Errors
/// If no depth up to `deepest` does.
pub fn tree_depth(packet: &Expr, sums: &Expr, deepest: u32, axes: &Axes) -> Result<u32, PlanError> {
    let wanted = digits_of(sums, axes)?;
    let size = packet.size(axes).map_err(|error| error.message)?;
    for depth in 0..=deepest {
        let group = 1_u64 << depth;
        if !size.is_multiple_of(group) || wanted.size() > size / group {
            continue;
        }
        let left = packet.clone().stride(group);
        let live = digits_of(&left, axes).ok().and_then(|left| left.live_count());
        if live != wanted.live_count() {
            continue;
        }
        let Ok(first) = digits_of(&left.resize(wanted.size()), axes) else { continue };
        // A slice of an axis that is summed away leaves its offset behind.
        if moved(&first, &wanted).is_none() && first.without_offset() == wanted.clone().without_offset() {
            return Ok(depth);
        }
    }
    Err(format!("packet `{packet}` summed in groups of up to {} gives no `{sums}`", 1_u64 << deepest))
}
