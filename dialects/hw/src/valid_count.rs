//! The Valid Count Generator (book 24): how many leading elements of each packet are valid, from the packet's
//! number and the slice's. It knows neither axes nor mappings: counters, strides, masks and thresholds.

use std::fmt;
use std::rc::Rc;
use std::str::FromStr;
use visa_ir::decl::{Body, BodyDef, BodyError};
pub use visa_numerics::{CountDim, Counter, Gate};

/// Most counters, and most gates, of a text. A limit of this implementation: it bounds the allocations of a text; the
/// machine has fewer.
pub const MAX_LISTED: usize = 64;

/// `#hw.counters<[2 : 1 g0, 3 : 8 p]>`: [`Counters`].
pub static COUNTERS: BodyDef = BodyDef {
    name: "hw.counters",
    syntax: "[LIMIT : STRIDE DIM, LIMIT, ...]",
    doc: "The counters of the Valid Count Generator (book 24), outermost first: each counts to LIMIT and adds \
          STRIDE times its value to the index of a dimension, `p` for packets or `g0`, `g1`, ... for gates. One \
          without a dimension only counts packets.",
    parse: |text| text.parse::<Counters>().map(|counters| Rc::new(counters) as Rc<dyn Body>),
    ..BodyDef::BASE
};

/// `#hw.gates<[mask 0xc match 8 valid 1]>`: [`Gates`].
pub static GATES: BodyDef = BodyDef {
    name: "hw.gates",
    syntax: "[mask BITS match NUMBER valid NUMBER [transposed], ...]",
    doc: "The gates of the Valid Count Generator (book 24), from `g0` on. Slices whose number under the mask is \
          smaller than `match` pass; one that is equal passes while the gate's index is smaller than `valid`; a \
          larger one does not pass, or, `transposed`, passes as an equal one.",
    parse: |text| text.parse::<Gates>().map(|gates| Rc::new(gates) as Rc<dyn Body>),
    ..BodyDef::BASE
};

/// Counters, outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters(pub Vec<Counter>);

/// Gates, from `g0` on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gates(pub Vec<Gate>);

/// A configuration of the generator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValidCount {
    /// The counters; the product of their limits is the number of packets.
    pub counters: Counters,
    /// Elements along the packet dimension; none where it has no counter: every packet is full.
    pub packet: Option<u64>,
    /// The gates.
    pub gates: Gates,
}

impl ValidCount {
    /// Elements of a packet that belong to the packet dimension: the stride of its innermost counter, if it has one.
    #[must_use]
    pub fn packet_stride(&self) -> Option<u64> {
        let mut inner = self.counters.0.iter().rev();
        inner.find(|counter| counter.dim == Some(CountDim::Packet)).map(|counter| counter.stride)
    }

    /// The valid count of each packet of a slice, in order. `slice` counts within its cluster, `lanes` is the most.
    #[must_use]
    pub fn counts(&self, slice: u64, lanes: u64) -> Vec<u8> {
        let dimension = self.packet_stride().zip(self.packet);
        let counters = &self.counters.0;
        let steps = counters.iter().map(|counter| counter.limit).product::<u64>();
        let mut values = vec![0_u64; counters.len()];
        let mut indices = Indices { packet: 0, gates: vec![0; self.gates.0.len()] };
        let mut counts = Vec::new();
        for _ in 0..steps {
            let left = |(width, packet): (u64, u64)| width.min(packet.saturating_sub(indices.packet));
            let full = dimension.map_or(lanes, left);
            let mut gates = self.gates.0.iter().zip(&indices.gates);
            let open = gates.all(|(gate, &index)| gate.is_open(slice, index));
            counts.push(if open { full.min(lanes) as u8 } else { 0 });
            for (counter, value) in counters.iter().zip(&mut values).rev() {
                *value += 1;
                indices.add(counter, true, 1);
                if *value < counter.limit {
                    break;
                }
                indices.add(counter, false, *value);
                *value = 0;
            }
        }
        counts
    }
}

/// The index of each dimension.
struct Indices {
    packet: u64,
    gates: Vec<u64>,
}

impl Indices {
    /// Moves by `steps` of a counter, on or back.
    fn add(&mut self, counter: &Counter, on: bool, steps: u64) {
        let index = match counter.dim {
            None => return,
            Some(CountDim::Packet) => &mut self.packet,
            Some(CountDim::Gate(gate)) => match self.gates.get_mut(gate) {
                Some(index) => index,
                None => return,
            },
        };
        let distance = counter.stride.wrapping_mul(steps);
        *index = if on { index.wrapping_add(distance) } else { index.wrapping_sub(distance) };
    }
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counter = |Counter { limit, stride, dim }: &Counter| match dim {
            None => limit.to_string(),
            Some(CountDim::Packet) => format!("{limit} : {stride} p"),
            Some(CountDim::Gate(gate)) => format!("{limit} : {stride} g{gate}"),
        };
        write!(f, "[{}]", self.0.iter().map(counter).collect::<Vec<_>>().join(", "))
    }
}

impl FromStr for Counters {
    type Err = BodyError;

    fn from_str(text: &str) -> Result<Self, BodyError> {
        let wrong = || malformed(text, "counters such as `[2 : 1 g0, 3 : 8 p, 4]`");
        let counter = |part: &str| {
            let (limit, rest) = part.split_once(':').unwrap_or((part, ""));
            let limit = number(limit)?;
            let mut words = rest.split_whitespace();
            let (stride, dim) = (words.next(), words.next());
            let dim = match (dim, part.contains(':')) {
                (None, false) => return Some(Counter { limit, stride: 0, dim: None }),
                (Some("p"), _) => CountDim::Packet,
                (Some(gate), _) => CountDim::Gate(gate.strip_prefix('g')?.parse().ok()?),
                (None, true) => return None,
            };
            let stride = number(stride?)?;
            words.next().is_none().then_some(Counter { limit, stride, dim: Some(dim) })
        };
        items(text).and_then(|parts| parts.into_iter().map(counter).collect()).map(Self).ok_or_else(wrong)
    }
}

impl fmt::Display for Gates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gate = |Gate { mask, matches, valid, transposed }: &Gate| {
            let mode = if *transposed { " transposed" } else { "" };
            format!("mask {mask:#x} match {matches} valid {valid}{mode}")
        };
        write!(f, "[{}]", self.0.iter().map(gate).collect::<Vec<_>>().join(", "))
    }
}

impl FromStr for Gates {
    type Err = BodyError;

    fn from_str(text: &str) -> Result<Self, BodyError> {
        let wrong = || {
            malformed(text, "gates such as `[mask 0xc match 8 valid 1, mask 3 match 1 valid 1 transposed]`")
        };
        let gate = |part: &str| {
            let mut words = part.split_whitespace();
            let mut field =
                |name: &str| (words.next() == Some(name)).then(|| words.next().and_then(number))?;
            let (mask, matches, valid) = (field("mask")?, field("match")?, field("valid")?);
            match (words.next(), words.next()) {
                (None, _) => Some(Gate { mask, matches, valid, transposed: false }),
                (Some("transposed"), None) => Some(Gate { mask, matches, valid, transposed: true }),
                (Some(_), _) => None,
            }
        };
        items(text).and_then(|parts| parts.into_iter().map(gate).collect()).map(Self).ok_or_else(wrong)
    }
}

/// The parts of a list in brackets, which may be empty.
fn items(text: &str) -> Option<Vec<&str>> {
    let inside = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    if inside.trim().is_empty() {
        return Some(Vec::new());
    }
    let parts: Vec<&str> = inside.split(',').map(str::trim).take(MAX_LISTED + 1).collect();
    (parts.len() <= MAX_LISTED).then_some(parts)
}

/// A number of at most 32 bits, decimal or hexadecimal.
fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    let value = match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    value.ok().map(u64::from)
}

fn malformed(text: &str, expected: &str) -> BodyError {
    BodyError::new("valid-count-text", format!("found `{}`, expected {expected}", text.trim()))
}

#[cfg(test)]
mod tests;
