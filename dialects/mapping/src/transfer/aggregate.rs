//! The stream of a transfer (book 10, "Homogeneous Aggregate Operation"): the axes that count engines, the order in
//! which an engine moves its part, and the packet.

use crate::transfer::error::TransferError;
use crate::transfer::segments::Blocks;
use visa_algebra::{Axes, AxisId, Digit, Digits, Expr, Placement, digits, times};
use visa_ir::diag::counted;
use visa_loops::Stride;

/// The part of a stream that a loop belongs to, from the innermost part outwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// Within a packet.
    Packet,
    /// From packet to packet.
    Time,
    /// From engine to engine.
    Engines,
}

impl Role {
    /// The clause that specifies it.
    const fn clause(self) -> &'static str {
        match self {
            Self::Packet => "packet",
            Self::Time => "time",
            Self::Engines => "engines",
        }
    }

    fn refused(self, message: String) -> TransferError {
        TransferError::Stream { clause: self.clause(), message, fix: None, ragged: false }
    }
}

/// The stream of a transfer as the user gives it. Omitted clauses default to the order of the destination and to the
/// largest packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamOrder {
    /// The expression that counts the engines.
    pub engines: Expr,
    /// In which order an engine moves its packets.
    pub time: Option<Expr>,
    /// The contents of a packet.
    pub packet: Option<Expr>,
}

/// A loop that has its place yet to find.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// The digit that it counts, without padding that moves along.
    pub(crate) digit: Digit,
    /// Iterations.
    pub(crate) limit: u64,
    pub(crate) read: Stride,
    pub(crate) write: i64,
}

/// A loop in its place.
#[derive(Clone, Debug)]
pub(crate) struct Ordered {
    pub(crate) piece: Piece,
    pub(crate) role: Role,
}

/// Loops in the order of a stream, minor first, and which engine each of their iterations is for.
#[derive(Clone, Debug)]
pub(crate) struct Aggregate {
    pub(crate) loops: Vec<Ordered>,
    /// Numbers of engines, in the order of the loops that count them.
    pub(crate) engines: Vec<u64>,
    /// True if the stream specifies the packet.
    pub(crate) packet: bool,
}

/// A factor of the stream.
struct Factor {
    role: Role,
    digit: Digit,
}

impl StreamOrder {
    /// Its mappings.
    pub(crate) fn maps(&self) -> impl Iterator<Item = &Expr> {
        std::iter::once(&self.engines).chain(&self.time).chain(&self.packet)
    }

    /// The same of other mappings.
    pub(crate) fn map<E>(&self, of: impl Fn(&Expr) -> Result<Expr, E>) -> Result<Self, E> {
        let (time, packet) =
            (self.time.as_ref().map(&of).transpose()?, self.packet.as_ref().map(&of).transpose()?);
        Ok(Self { engines: of(&self.engines)?, time, packet })
    }

    /// The blocks of axes that the factors count.
    pub(crate) fn blocks(&self, axes: &Axes) -> Result<Vec<Blocks>, TransferError> {
        let factors = self.factors(axes)?;
        let ends = factors.iter().flat_map(|Factor { digit, .. }| {
            let lengths = [Some(digit.stride), digit.stride.checked_mul(digit.extent)];
            let axis = digit.axis.into_iter();
            axis.flat_map(move |axis| {
                lengths.into_iter().flatten().map(move |length| Blocks { axis, start: 0, length })
            })
        });
        Ok(ends.filter(|blocks| blocks.length > 1).collect())
    }

    /// Puts the loops of a segment, minor first, in the order of the stream. `whole` is the destination.
    ///
    /// # Errors
    /// The part that the stream leaves out, counts twice, or cuts in two; and a packet that is not contiguous.
    pub(crate) fn arrange(
        &self,
        pieces: Vec<Piece>,
        [whole, segment]: [&Placement; 2],
        element: i64,
        axes: &Axes,
    ) -> Result<Aggregate, TransferError> {
        let factors = self.factors(axes)?;
        let mut pool = Pool { pieces, whole, axes };
        let (mut loops, mut engines) = (Vec::new(), Engines::default());
        for factor in &factors {
            let taken = pool.take(factor)?;
            if factor.role == Role::Engines {
                engines.count(factor, &taken, segment);
            }
            loops.extend(taken.into_iter().map(|piece| Ordered { piece, role: factor.role }));
        }
        pool.leave(self, &mut loops)?;
        self.check_packet(&loops, element, axes)?;
        Ok(Aggregate { loops, engines: engines.numbers(), packet: self.packet.is_some() })
    }

    /// Checks that the loops of a packet, minor first, are contiguous on both sides.
    fn check_packet(&self, loops: &[Ordered], element: i64, axes: &Axes) -> Result<(), TransferError> {
        let mut run = element;
        for Ordered { piece, .. } in loops.iter().filter(|ordered| ordered.role == Role::Packet) {
            if piece.read != Stride::Fixed(run) || piece.write != run {
                let text = visa_algebra::digit_text(&piece.digit, axes);
                let apart =
                    format!("it is read {} and written {} bytes apart", piece.read.shortened(), piece.write);
                return Err(match self.packet {
                    Some(_) => Role::Packet.refused(format!(
                        "`{text}` does not go on where the {} before it end: {apart}",
                        counted(run, "byte")
                    )),
                    None => Role::Time
                        .refused(format!("it leaves out `{text}`, which is no part of a packet: {apart}")),
                });
            }
            run = times(run, piece.limit);
        }
        Ok(())
    }

    /// The factors of the stream, minor first. No two count the same.
    fn factors(&self, axes: &Axes) -> Result<Vec<Factor>, TransferError> {
        let parts = [
            (Role::Packet, self.packet.as_ref()),
            (Role::Time, self.time.as_ref()),
            (Role::Engines, Some(&self.engines)),
        ];
        let mut factors: Vec<Factor> = Vec::new();
        for (role, map) in parts {
            let Some(map) = map else { continue };
            let refuse = |message| role.refused(message);
            let found: Digits = digits(map, axes).map_err(|error| refuse(error.to_string()))?;
            if let Some(offset) = found.offset().first() {
                let message = format!(
                    "`{map}` starts at coordinate {} of {}",
                    offset.coordinate,
                    axes.name(offset.axis)
                );
                return Err(refuse(format!("{message}, expected all of the axis")));
            }
            for digit in found.iter().filter(|digit| digit.live > 1) {
                if let Some(axis) =
                    digit.axis.filter(|_| factors.iter().any(|other| counts_same(&other.digit, digit)))
                {
                    return Err(refuse(format!("`{map}` counts coordinates of {} again", axes.name(axis))));
                }
                factors.push(Factor { role, digit: *digit });
            }
        }
        Ok(factors)
    }
}

/// Returns true if two digits count coordinates of one axis at the same scale.
fn counts_same(one: &Digit, other: &Digit) -> bool {
    let end = |digit: &Digit| digit.stride.saturating_mul(digit.extent);
    one.axis.is_some() && one.axis == other.axis && one.stride < end(other) && other.stride < end(one)
}

/// Loops that no factor has taken yet.
struct Pool<'a> {
    pieces: Vec<Piece>,
    /// The destination.
    whole: &'a Placement,
    axes: &'a Axes,
}

impl Pool<'_> {
    /// The loops that a factor counts, minor first. Loops are split at its ends.
    fn take(&mut self, factor: &Factor) -> Result<Vec<Piece>, TransferError> {
        let (mut taken, mut rest) = (Vec::new(), factor.digit);
        while rest.live > 1 {
            let Some(at) = self.pieces.iter().position(|piece| holds(&piece.digit, &rest)) else { break };
            self.split_below(at, &rest, factor)?;
            self.split_above(at, &rest, factor)?;
            let piece = self.pieces.remove(at);
            let count = piece.digit.live;
            rest = Digit {
                stride: rest.stride.saturating_mul(count),
                live: rest.live.div_ceil(count),
                extent: rest.extent.div_ceil(count),
                ..rest
            };
            taken.push(piece);
            // An anonymous factor is one loop: nothing states which other ones it would count.
            if rest.axis.is_none() {
                break;
            }
        }
        // A segment has some of the coordinates that the destination has.
        let lacks = |axis: AxisId| !self.whole.of_axis(axis).any(|(_, placed)| reaches(&placed.digit, &rest));
        let beyond = match rest.axis {
            Some(axis) => rest.live > 1 && lacks(axis),
            None => taken.is_empty(),
        };
        if beyond {
            let text = visa_algebra::digit_text(&rest, self.axes);
            return Err(self.refused(factor, format!("the destination does not count `{text}`")));
        }
        Ok(taken)
    }

    fn refused(&self, factor: &Factor, why: String) -> TransferError {
        let text = visa_algebra::digit_text(&factor.digit, self.axes);
        factor.role.refused(format!("`{text}`: {why}"))
    }

    fn cuts(&self, factor: &Factor, piece: &Digit) -> TransferError {
        let text = visa_algebra::digit_text(piece, self.axes);
        let own = visa_algebra::digit_text(&factor.digit, self.axes);
        let message = format!("`{own}`: it ends within `{text}`, which is one loop of the transfer");
        TransferError::Stream { clause: factor.role.clause(), message, fix: None, ragged: true }
    }

    /// Leaves in the pool the part of the loop below the factor.
    fn split_below(&mut self, at: usize, factor: &Digit, whole: &Factor) -> Result<(), TransferError> {
        let digit = self.pieces[at].digit;
        let below = factor.stride / digit.stride.max(1);
        if factor.axis.is_none() || below <= 1 {
            return Ok(());
        }
        let splits = factor.stride.is_multiple_of(digit.stride) && digit.live.is_multiple_of(below);
        let (lower, upper) =
            splits.then(|| self.pieces[at].split(below)).flatten().ok_or_else(|| self.cuts(whole, &digit))?;
        self.pieces[at] = upper;
        self.pieces.push(lower);
        Ok(())
    }

    /// Leaves in the pool the part of the loop above the factor.
    fn split_above(&mut self, at: usize, factor: &Digit, whole: &Factor) -> Result<(), TransferError> {
        let digit = self.pieces[at].digit;
        if factor.extent >= digit.live {
            return Ok(());
        }
        let splits = digit.live.is_multiple_of(factor.extent);
        let (lower, upper) = splits
            .then(|| self.pieces[at].split(factor.extent))
            .flatten()
            .ok_or_else(|| self.cuts(whole, &digit))?;
        self.pieces[at] = lower;
        self.pieces.push(upper);
        Ok(())
    }

    /// Adds the loops that no factor takes, in the order of the destination, if the stream leaves their order open.
    fn leave(self, order: &StreamOrder, loops: &mut Vec<Ordered>) -> Result<(), TransferError> {
        let Some(first) = self.pieces.first() else { return Ok(()) };
        let role = match (&order.packet, &order.time) {
            (_, None) => Role::Time,
            (None, Some(_)) => Role::Packet,
            (Some(_), Some(_)) => {
                let text = visa_algebra::digit_text(&first.digit, self.axes);
                return Err(Role::Time.refused(format!("`engines`, `time` and `packet` leave out `{text}`")));
            }
        };
        // Where only the packet is open, the remainder must be one.
        let at = loops.iter().position(|other| other.role > role).unwrap_or(loops.len());
        let mut left = self.pieces;
        left.sort_by_key(|piece| piece.write.unsigned_abs());
        loops.splice(at..at, left.into_iter().map(|piece| Ordered { piece, role }));
        Ok(())
    }
}

/// Returns true if a digit counts up to the start of a factor.
fn reaches(digit: &Digit, factor: &Digit) -> bool {
    digit.stride.saturating_mul(digit.live) > factor.stride
}

/// Returns true if a loop counts the coordinates at which a factor starts.
fn holds(piece: &Digit, factor: &Digit) -> bool {
    let end = piece.stride.saturating_mul(piece.live);
    match factor.axis {
        Some(axis) => piece.axis == Some(axis) && piece.stride <= factor.stride && factor.stride < end,
        None => piece.axis.is_none(),
    }
}

impl Piece {
    /// The loop as one of `count` iterations inside, and the rest of it outside. `None` for a table, and where padding
    /// moves along.
    fn split(&self, count: u64) -> Option<(Piece, Piece)> {
        let read = self.read.fixed().filter(|_| self.limit == self.digit.live)?;
        let far = i64::try_from(count).ok()?;
        let rest = self.digit.live / count;
        let digit = |stride: u64, live: u64| Digit { stride, live, extent: live, ..self.digit };
        let lower = Piece { digit: digit(self.digit.stride, count), limit: count, ..self.clone() };
        let upper = Piece {
            digit: digit(self.digit.stride.saturating_mul(count), rest),
            limit: rest,
            read: Stride::Fixed(read.checked_mul(far)?),
            write: self.write.checked_mul(far)?,
        };
        Some((lower, upper))
    }
}

/// The engine of each iteration of the loops that count engines.
#[derive(Default)]
struct Engines {
    /// Numbers so far, and how many engines a further factor counts in.
    numbers: Vec<u64>,
    unit: u64,
}

impl Engines {
    /// Adds a factor, of which a segment has the loops `taken`, from where it starts.
    fn count(&mut self, factor: &Factor, taken: &[Piece], segment: &Placement) {
        let unit = self.unit.max(1);
        let Digit { axis, stride, extent, .. } = factor.digit;
        let first = axis.map_or(0, |axis| segment.start(axis) / stride % extent);
        let live: u64 = taken.iter().map(|piece| piece.digit.live).product();
        let before = if self.numbers.is_empty() { vec![0] } else { std::mem::take(&mut self.numbers) };
        let steps = (first..first.saturating_add(live)).map(|step| step.saturating_mul(unit));
        self.numbers = steps.flat_map(|step| before.iter().map(move |number| number + step)).collect();
        self.unit = unit.saturating_mul(extent);
    }

    fn numbers(self) -> Vec<u64> {
        if self.numbers.is_empty() { vec![0] } else { self.numbers }
    }
}

/// Limits of the machine for a stream (book 10).
pub(crate) struct StreamLimits {
    /// Number of engines.
    pub(crate) engines: u64,
    /// Most bytes of a packet.
    pub(crate) packet: u64,
    /// Bytes that are written together.
    pub(crate) group: u64,
}

impl StreamLimits {
    /// Checks that the engines exist, and that `packet` bytes are a valid packet.
    pub(crate) fn check(&self, engines: &[u64], packet: Option<u64>) -> Result<(), TransferError> {
        if let Some(engine) = engines.iter().find(|&&engine| engine >= self.engines) {
            let all = counted(self.engines, "engine");
            return Err(
                Role::Engines.refused(format!("there is no engine {engine}, only {all}, counted from 0"))
            );
        }
        let Some(bytes) = packet else { return Ok(()) };
        let found = format!("a packet has {}", counted(bytes, "byte"));
        if bytes > self.packet {
            return Err(TransferError::Stream {
                clause: Role::Packet.clause(),
                message: format!("{found}, expected at most {}", self.packet),
                fix: Some("leave the outer factors of it to `time`".to_owned()),
                ragged: false,
            });
        }
        if !bytes.is_multiple_of(self.group) {
            return Err(Role::Packet.refused(format!("{found}, expected a multiple of {}", self.group)));
        }
        Ok(())
    }
}
