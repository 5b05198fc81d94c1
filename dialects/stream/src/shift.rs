//! Shift-reuse: how the stream adapter takes a sliding window apart (book 15, 17; docs/compute.md).
//!
//! The adapter collects up to three flits and emits from them, for each shift s = 0, 1, ..., the 64 bytes that start s
//! distances further. So position p of packet s holds the content of the collected flits at p and s distances. The
//! flits hold a sliding term, such as `$(W:1, F:1)`: W and F are at the positions of their strides, W = w, F = f at
//! w + f. Dividing the computation by that placement gives the movement of each of its loops: those of the packet have
//! to stay at their positions, and those after the stream's time are the shifts.

use crate::plan::digits_of;
use visa_algebra::{
    Axes, AxisId, Digit, Digits, Expr, Movement, Opaque, Padded, Placement, Step, divide_exact, padded_terms,
    place, place_expr, without_zeros,
};
use visa_ir::diag::counted;
use visa_loops::{Stride, distance};
use visa_mapping::{Dim, Tensor};

/// The adapter's operation on a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shifts {
    /// Flits collected into the shift buffer.
    pub flits: u64,
    /// Packets emitted from them in addition to the first, without repetition.
    pub count: u64,
    /// Elements from one to the next.
    pub distance: u64,
    /// Number of repetitions of each packet (time broadcast).
    pub repeat: u64,
}

/// A stream whose packets slide, and the computation that it becomes.
pub struct Windows<'a> {
    stream: &'a Tensor,
    time: Digits,
    packet: Digits,
    terms: Vec<Padded>,
    opaque: Opaque,
    axes: &'a Axes,
}

/// The flits that are collected at once.
struct Collected {
    /// Where they hold each index.
    window: Placement,
    /// The stream's time around them.
    outer: Digits,
}

impl<'a> Windows<'a> {
    /// The windows of `stream`, which become the time and packet of `computed`. None if it has none.
    ///
    /// # Errors
    /// A mapping that breaks a size rule, or a computation that has no digit form.
    pub fn new(stream: &'a Tensor, computed: &Tensor, axes: &'a Axes) -> Result<Option<Self>, String> {
        let (time, packet) = (stream.dim(Dim::Time), stream.dim(Dim::Packet));
        let mut terms = padded_terms(&[&time, &packet], axes).map_err(|error| error.message)?;
        terms.retain(|term| term.slides);
        if terms.is_empty() {
            return Ok(None);
        }
        let read = |dim: Dim| {
            let map = computed.dim(dim);
            let elements = without_zeros(&map, axes).map_err(|error| error.message)?;
            digits_of(&elements, axes)
        };
        let opaque = Opaque::new(terms.clone(), axes);
        let (time, packet) = (read(Dim::Time)?, read(Dim::Packet)?);
        Ok(Some(Self { stream, time, packet, terms, opaque, axes }))
    }

    /// The fewest flits, up to `most` of `flit` elements, of which shifts make the computation.
    ///
    /// # Errors
    /// Why none do.
    pub fn shifts(&self, free: &dyn Fn(AxisId) -> bool, flit: u64, most: u64) -> Result<Shifts, String> {
        if let Some(term) = self.terms.iter().find(|term| term.size > flit.saturating_mul(most)) {
            let (text, size, held) = (&term.text, term.size, flit * most);
            return Err(format!(
                "`{text}` has {}, and the shift buffer holds {}, {}",
                counted(size, "position"),
                counted(held, "element"),
                counted(most, "flit")
            ));
        }
        let mut why = None;
        for flits in 1..=most {
            let Some(collected) = self.collected(flits * flit)? else { continue };
            match self.taken_apart(&collected, free) {
                Ok(shifts) => return Ok(Shifts { flits, ..shifts }),
                Err(error) => why = why.or(Some(error)),
            }
        }
        let windows: Vec<_> = self.terms.iter().map(|term| format!("`{}`", term.text)).collect();
        Err(why.unwrap_or_else(|| {
            format!("{} does not lie within one to {}", windows.join(", "), counted(most, "flit"))
        }))
    }

    /// The innermost `elements` of the stream, if its windows are whole in them.
    fn collected(&self, elements: u64) -> Result<Option<Collected>, String> {
        let all = Expr::pair([self.stream.dim(Dim::Time), self.stream.dim(Dim::Packet)]);
        let elements_only = without_zeros(&all, self.axes).map_err(|error| error.message)?;
        let view = self.opaque.view(&elements_only).map_err(|error| error.message)?;
        let Ok((inner, outer)) = digits_of(&view, &self.opaque.axes)?.split(elements) else {
            return Ok(None);
        };
        let slides = |digit: &Digit| self.term(digit).is_some();
        if outer.iter().any(slides) {
            return Ok(None);
        }
        let mut window = Placement::default();
        for placed in place(&inner, 1).digits {
            let own = match self.term(&placed.digit) {
                Some(term) if placed.digit.stride == 1 && placed.digit.live == term.size => {
                    place_expr(&term.inner, self.axes, placed.weight).map_err(|error| error.to_string())?
                }
                Some(_) => return Ok(None),
                None => Placement { digits: vec![placed], ..Placement::default() },
            };
            window = window.join(own);
        }
        // Where the elements start that do not slide. A window is taken apart from its first position on.
        let origin = inner.offset().to_vec();
        if origin
            .iter()
            .any(|offset| self.terms.iter().any(|term| self.opaque.axis(term) == Some(offset.axis)))
        {
            return Ok(None);
        }
        Ok(Some(Collected { window: window.join(Placement { origin, ..Placement::default() }), outer }))
    }

    /// The sliding term that a digit counts the positions of.
    fn term(&self, digit: &Digit) -> Option<&Padded> {
        self.terms.iter().find(|term| digit.axis.is_some() && self.opaque.axis(term) == digit.axis)
    }

    /// The shifts and repetitions, innermost in time, that make the computation from the collected flits.
    fn taken_apart(&self, collected: &Collected, free: &dyn Fn(AxisId) -> bool) -> Result<Shifts, String> {
        let digits: Vec<Digit> = self.time.iter().copied().collect();
        let tiled = digits.iter().take_while(|digit| digit.axis.is_none_or(free)).count();
        let wanted: Vec<Digit> = collected.outer.iter().copied().collect();
        let inner = digits.strip_suffix(&wanted[..]).ok_or("its outer loops are not those of the stream")?;
        let computed = place(&self.packet, 1).join(place(&self.time, 1)).origin;
        if !computed.iter().filter(|offset| !free(offset.axis)).eq(&collected.window.origin) {
            return Err("it starts with another element".to_owned());
        }
        let tiled = tiled.min(inner.len());
        let shifts = self.divided(collected, &inner[tiled..])?;
        let repeat = inner[..tiled].iter().map(|digit| digit.extent).product();
        Ok(Shifts { repeat, ..shifts })
    }

    /// The loops `shifted` over time and those of the packet, divided by the window.
    fn divided(&self, collected: &Collected, shifted: &[Digit]) -> Result<Shifts, String> {
        let size = distance(self.packet.size());
        let mut stream = place(&self.packet, 1);
        let mut weight = size;
        for &digit in shifted {
            stream.digits.push(visa_algebra::PlacedDigit { digit, weight });
            weight = weight.saturating_mul(distance(digit.extent));
        }
        stream.origin = collected.window.origin.clone();
        let division = divide_exact(&stream, &collected.window, &|_| false, self.axes)
            .map_err(|error| format!("the window is not taken apart: {error}"))?;
        let (packet, shifts): (Vec<Step>, Vec<Step>) =
            division.steps.into_iter().partition(|step| step.at < size);
        if let Some(step) = packet.iter().find(|step| !stays(step)) {
            return Err(format!("a loop of {} of the packet is not where the window has it", step.live));
        }
        even(&shifts)
    }
}

/// Returns true if a step of the packet moves as far in the window as in the packet. Padding does not move.
fn stays(step: &Step) -> bool {
    match step.movement {
        Movement::By(Stride::Fixed(stride)) => stride == step.at,
        Movement::Padding => true,
        Movement::By(Stride::Table(_)) | Movement::Broadcast => false,
    }
}

/// One loop of shifts with the movement of these steps together.
fn even(steps: &[Step]) -> Result<Shifts, String> {
    let (mut packets, mut distance) = (1_u64, 0_u64);
    for step in steps {
        let Movement::By(Stride::Fixed(stride)) = step.movement else {
            return Err("a shift goes nowhere".to_owned());
        };
        let stride = u64::try_from(stride).unwrap_or(0);
        if packets == 1 {
            distance = stride;
        }
        if step.live < step.extent || stride != distance.saturating_mul(packets) {
            let extent = step.extent;
            return Err(format!(
                "its shifts are not even: {packets} by {distance}, within {extent} by {stride}"
            ));
        }
        packets = packets.saturating_mul(step.extent);
    }
    Ok(Shifts { flits: 1, count: packets - 1, distance, repeat: 1 })
}
