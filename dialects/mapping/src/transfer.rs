//! Transfers between memories: the loop nest that reads a tensor in one layout and writes it in another (book 06,
//! 10).

pub(crate) mod aggregate;
pub(crate) mod error;
pub(crate) mod indexed;
pub mod padding;
pub(crate) mod segments;
pub mod shuffle;

use crate::tensor::{Dim, Tensor};
use crate::transfer::aggregate::{Piece, Role, StreamLimits, StreamOrder};
use crate::transfer::error::TransferError;
use crate::transfer::segments::{Blocks, segments};
use std::fmt;
use visa_algebra::{
    Axes, AxisId, Carries, Crossing, Digit, DivideError, Division, Expr, Gathers, MapError, Movement,
    PadKind, PlacedDigit, Placement, Step, crossings, digit_expr, digit_text, digits, divide_across, place,
    place_expr, step_digit, times,
};
use visa_ir::diag::counted;
use visa_loops::Stride;
use visa_machine::{Machine, Medium};
use visa_numerics::DType;

/// One loop of a transfer, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferLoop {
    /// Iterations.
    pub limit: u64,
    /// Distance between the bytes read.
    pub read: Stride,
    /// Distance between bytes written.
    pub write: i64,
    /// The factor of the destination that it counts, in the user's notation.
    pub factor: String,
    /// The factor as a mapping without padding; `None` where several loops are one, or it counts neither an axis nor
    /// copies.
    pub counts: Option<Expr>,
}

/// As messages show it: `` `R / 4` 2 : 128 -> 64``.
impl fmt::Display for TransferLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {} : {} -> {}", self.factor, self.limit, self.read.shortened(), self.write)
    }
}

/// A segment of a transfer: its loops and where they start, relative to the addresses of the two tensors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The loops, outermost first; the last one runs over the bytes of an element.
    pub loops: Vec<TransferLoop>,
    /// The engines and their parts, if the kernel specifies them.
    pub given: Option<GivenStream>,
    /// First byte read.
    pub read_base: i64,
    /// First byte written.
    pub write_base: i64,
}

/// The engines of a transfer as the kernel specifies them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenStream {
    /// Number of outermost loops that count engines.
    pub engine_loops: usize,
    /// The engine of each of their iterations, in order.
    pub engines: Vec<u64>,
    /// Bytes of a packet, if the kernel specifies them too.
    pub packet: Option<u64>,
}

/// Distance between the memories of two chips in transfers by PCIe; the hw level has the same figure.
pub const CHIP_STRIDE: i64 = 1 << 40;

/// Direction of an access to a tensor: a read or a write. A position that several indices share can be read as each of
/// them, but not written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// Where a memory tensor holds each index, in bytes, or for 4-bit elements in half bytes: element within a slice, PE
/// or chip, then slices or PEs (as far apart as each has memory, clusters one after another), then, if `chips`,
/// chips.
pub(crate) fn placed(
    tensor: &Tensor,
    gathers: &mut Gathers<'_>,
    machine: &Machine,
    chips: bool,
    access: Access,
) -> Result<Placement, TransferError> {
    let element = times(1, tensor.dtype.align());
    let byte = byte_units(tensor.dtype);
    let (part, bytes) = tensor.cluster_part(machine);
    let bytes = times(byte, bytes);
    let units = [
        (Dim::Element, element),
        (part.into(), bytes),
        (Dim::Cluster, times(bytes, part.per_cluster(machine))),
        (Dim::Chip, byte * CHIP_STRIDE),
    ];
    let mut all = Placement::default();
    for (dim, unit) in units {
        let Some(map) = tensor.map(dim).filter(|_| chips || dim != Dim::Chip) else { continue };
        let refuse =
            |error: String| TransferError::Mapping(format!("{} mapping `{map}`: {error}", dim.name()));
        let replaced = match access {
            Access::Read => gathers.buffer(map),
            Access::Write => gathers.stream(map),
        };
        let replaced = replaced.map_err(refuse)?;
        let found = match access {
            Access::Read => place_expr(&replaced, gathers.axes(), unit),
            Access::Write => digits(&replaced, gathers.axes()).map(|digits| place(&digits, unit)),
        };
        all = all.join(found.map_err(|error| refuse(error.to_string()))?);
    }
    Ok(all)
}

/// Returns true if a transfer is one of PCIe: one side is host memory, or chips hold other parts after it than before.
/// Otherwise each chip does the same in its own memories. A chip that has a copy of the whole source takes its own.
#[must_use]
pub fn leaves_chip(from: &Tensor, to: &Tensor, axes: &Axes) -> bool {
    let (Some(before), Some(after)) = (from.map(Dim::Chip), to.map(Dim::Chip)) else { return true };
    let same = || digits(before, axes).is_ok_and(|own| digits(after, axes).is_ok_and(|other| own == other));
    if before == after || same() {
        return false;
    }
    let copies = |map: &Expr| map.terms().into_iter().all(|term| matches!(term, Expr::Literal(_)));
    let held = from.axis_names(axes);
    let same_size = before.size(axes).ok() == after.size(axes).ok();
    !(same_size && copies(before) && after.axis_names(axes).iter().all(|name| !held.contains(name)))
}

/// The loops that fill every live element of `to` from `from`. A gathered term of `to` reads by an offset table.
/// `free` names the axes that the tensor does not depend on. Chips take part where `chips` specifies it; otherwise
/// each does the same in its own memories.
///
/// From memories of the clusters each copy is made of the copy in its place, where the source holds them all: copies
/// next to each other move as one run.
///
/// Padding that follows the elements of a row on both sides moves along, as it is, where the row alone is no whole
/// number of the bytes that the destination is written in (book 10).
///
/// A transfer without a single loop nest is several segments. `order` is the stream, if the kernel specifies it.
///
/// # Errors
/// Where `from` does not hold an element of `to`, an order has no loop nest, or the stream does not fit.
pub fn transfer(
    from: &Tensor,
    to: &Tensor,
    free: &dyn Fn(AxisId) -> bool,
    order: Option<&StreamOrder>,
    chips: bool,
    axes: &Axes,
    machine: &Machine,
) -> Result<Vec<Transfer>, TransferError> {
    if is_sram(from) {
        let held = from.axis_names(axes);
        let lacking = |axis: AxisId| free(axis) && held.iter().all(|name| **name != *axes.name(axis));
        if let Ok(found) = moved(from, to, &lacking, order, chips, axes, machine) {
            return Ok(found);
        }
    }
    moved(from, to, free, order, chips, axes, machine)
}

/// The transfer that copies along the axes that are `free`.
fn moved(
    from: &Tensor,
    to: &Tensor,
    free: &dyn Fn(AxisId) -> bool,
    order: Option<&StreamOrder>,
    chips: bool,
    axes: &Axes,
    machine: &Machine,
) -> Result<Vec<Transfer>, TransferError> {
    let given = order.into_iter().flat_map(StreamOrder::maps);
    let maps: Vec<&Expr> = from.maps.iter().chain(&to.maps).chain(given).collect();
    let refuse = |error: MapError| TransferError::Mapping(error.message);
    let Some(carries) = Carries::new(&maps, axes).map_err(refuse)? else {
        return ordered([from, to], [from, to], free, order, chips, axes, machine);
    };
    let view = |tensor: &Tensor| {
        let maps = tensor.maps.iter().map(|map| carries.view(map)).collect::<Result<_, _>>();
        Ok::<_, TransferError>(Tensor { maps: maps.map_err(refuse)?, ..tensor.clone() })
    };
    let views = [&view(from)?, &view(to)?];
    let own = |axis: AxisId| !carries.stands_in(axis) && free(axis);
    let viewed = order.map(|order| order.map(|map| carries.view(map))).transpose().map_err(refuse)?;
    let refused = match ordered(views, [from, to], &own, viewed.as_ref(), chips, carries.axes(), machine) {
        Err(refused) => refused,
        found => return found,
    };
    // Where parts of the destination have separate digits, the positions that these count beyond the composite are
    // padding, which may be written.
    match Carries::new(&from.maps.iter().collect::<Vec<_>>(), axes) {
        Ok(None) => ordered([from, to], [from, to], free, order, chips, axes, machine).map_err(|_| refused),
        Ok(Some(_)) | Err(_) => Err(refused),
    }
}

/// The transfer between tensors none of whose parts carry; `written` are the tensors as they are written, for
/// messages.
fn ordered(
    [from, to]: [&Tensor; 2],
    written: [&Tensor; 2],
    free: &dyn Fn(AxisId) -> bool,
    order: Option<&StreamOrder>,
    chips: bool,
    axes: &Axes,
    machine: &Machine,
) -> Result<Vec<Transfer>, TransferError> {
    let divide = |error| TransferError::Divide {
        wanted: whole(written[1], chips),
        held: whole(written[0], chips),
        error,
    };
    let maps = |tensor: &Tensor| tensor.kind.dims.iter().map(|&dim| tensor.dim(dim)).collect::<Vec<_>>();
    let (wanted, held) = (maps(to), maps(from));
    let crossings =
        crossings(&wanted.iter().collect::<Vec<_>>(), &held.iter().collect::<Vec<_>>(), free, axes);
    let chip = to.dim(Dim::Chip).axis_names(axes);
    let on_chips = |crossing: &&Crossing| !chips && chip.iter().any(|name| **name == *axes.name(crossing.by));
    if let Some(crossing) = crossings.iter().find(on_chips) {
        return Err(divide(DivideError::Chips { axis: axes.name(crossing.axis).to_owned() }));
    }
    let mut gathers = Gathers::new(axes);
    let target = placed(to, &mut gathers, machine, chips, Access::Write)?;
    let source = placed(from, &mut gathers, machine, chips, Access::Read)?;
    let walked = |target: &Placement| gathers.divide(target, &source, free);
    let nest = |target: &Placement| match crossings.len() {
        0 => walked(target),
        count => divide_across(target, &crossings, &vec![0; count], &walked, gathers.axes()),
    };
    let cx = SegmentCx {
        source: &source,
        whole: &target,
        group: write_group(to, machine),
        dtype: from.dtype,
        order,
        limits: StreamLimits {
            engines: if chips { 1 } else { machine.topology.dma_engines_per_chip },
            packet: machine.limits.dma_packet_max_bytes,
            group: written_together(to, machine),
        },
        axes: gathers.axes(),
    };
    let make = |target: &Placement| cx.transfer(target, nest(target).map_err(divide)?);
    segments(target.clone(), &cx.blocks()?, &make, &TransferError::is_ragged)
}

/// Inputs from which the loops of a segment are built.
struct SegmentCx<'a> {
    source: &'a Placement,
    /// The destination, of which a segment is a part.
    whole: &'a Placement,
    /// Bytes of a group in which the destination is written.
    group: u64,
    dtype: DType,
    order: Option<&'a StreamOrder>,
    limits: StreamLimits,
    axes: &'a Axes,
}

impl SegmentCx<'_> {
    /// Where the target can be cut: the blocks that the source's digits count, and those of the stream.
    fn blocks(&self) -> Result<Vec<Blocks>, TransferError> {
        let held = self.source.digits.iter().filter_map(|PlacedDigit { digit, .. }| {
            let axis = digit.axis?;
            Some(Blocks {
                axis,
                start: self.source.start(axis),
                length: digit.stride.checked_mul(digit.live)?,
            })
        });
        let mut blocks: Vec<Blocks> = held.collect();
        blocks.extend(self.order.map(|order| order.blocks(self.axes)).transpose()?.into_iter().flatten());
        Ok(blocks)
    }

    fn transfer(&self, target: &Placement, division: Division) -> Result<Transfer, TransferError> {
        let mut steps = division.steps;
        let element = times(1, self.dtype.align());
        let live: Vec<u64> = steps.iter().map(|step| step.live).collect();
        Rows { source: self.source, target, group: self.group }.fill(&mut steps, element);
        let pieces = steps.iter().zip(live).filter(|(step, _)| step.live > 1).map(|(step, live)| Piece {
            digit: step_digit(&Step { live, ..step.clone() }, target),
            limit: step.live,
            read: step.movement.read(step.live),
            write: step.at,
        });
        let pieces = pieces.collect();
        let (loops, given) = match self.order {
            None => (pieces, None),
            Some(order) => {
                let found = order.arrange(pieces, [self.whole, target], element, self.axes)?;
                let count = |role| found.loops.iter().filter(move |ordered| ordered.role == role);
                let packet = count(Role::Packet)
                    .fold(self.dtype.align(), |bytes, ordered| bytes * ordered.piece.limit);
                let packet = found.packet.then_some(packet);
                self.limits.check(&found.engines, packet)?;
                let given = GivenStream {
                    engine_loops: count(Role::Engines).count(),
                    engines: found.engines,
                    packet,
                };
                (found.loops.into_iter().map(|ordered| ordered.piece).collect(), Some(given))
            }
        };
        let mut loops: Vec<TransferLoop> = loops.into_iter().map(|piece| self.counted(piece)).collect();
        loops.reverse();
        loops.push(TransferLoop {
            limit: self.dtype.align(),
            read: Stride::Fixed(1),
            write: 1,
            factor: "an element".to_owned(),
            counts: None,
        });
        let transfer = Transfer { loops, given, read_base: division.base, write_base: target.base };
        if byte_units(self.dtype) == 1 { Ok(transfer) } else { transfer.halved() }
    }

    fn counted(&self, piece: Piece) -> TransferLoop {
        let factor = digit_text(&Digit { live: piece.limit, ..piece.digit }, self.axes);
        let bare = Digit { extent: piece.digit.live, ..piece.digit };
        let counts = digit_expr(&bare, self.axes).ok();
        TransferLoop { limit: piece.limit, read: piece.read, write: piece.write, factor, counts }
    }
}

/// Returns true if a tensor is in SRAM that a DMA reads and writes, the memories of the clusters (book 06).
fn is_sram(tensor: &Tensor) -> bool {
    tensor.medium().is_some_and(Medium::is_sram)
}

/// The bytes that are written together: SRAM in groups (book 10), others one by one.
fn written_together(to: &Tensor, machine: &Machine) -> u64 {
    if is_sram(to) { machine.limits.dma_dm_align } else { 1 }
}

/// The same in the units of [`placed`].
fn write_group(to: &Tensor, machine: &Machine) -> u64 {
    written_together(to, machine).saturating_mul(byte_units(to.dtype).cast_unsigned())
}

/// Both sides of a transfer, whose rows may be padded alike.
struct Rows<'a> {
    source: &'a Placement,
    target: &'a Placement,
    /// Bytes of a group in which the destination is written.
    group: u64,
}

impl Rows<'_> {
    /// Makes the run that is contiguous on both sides, of elements so large, a whole number of groups where
    /// padding allows it: a step then counts the fewest iterations of padding that do, as live ones.
    fn fill(&self, steps: &mut [Step], element: i64) {
        let mut run = element;
        for step in steps.iter_mut().filter(|step| step.extent > 1) {
            let contiguous = match step.movement {
                Movement::By(Stride::Fixed(stride)) => stride == run,
                Movement::Padding => true,
                Movement::By(Stride::Table(_)) | Movement::Broadcast => false,
            };
            if !contiguous || step.at != run {
                return;
            }
            let filled = step.live.next_multiple_of(self.iterations(run));
            if filled > step.live && self.is_padding(step, filled) {
                step.live = filled;
                step.movement = Movement::By(Stride::Fixed(run));
            }
            run = times(run, step.live);
        }
    }

    /// The fewest iterations of a run that are whole groups.
    fn iterations(&self, run: i64) -> u64 {
        let (mut divisor, mut rest) = (self.group, run.unsigned_abs());
        while rest > 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        self.group / divisor
    }

    /// Returns true if a step, which continues the contiguous run on both sides, goes on over padding alone up to
    /// `end`. The padding is of the same kind, or replaces padding with unspecified contents.
    fn is_padding(&self, step: &Step, end: u64) -> bool {
        let written = self.target.digits.iter().find(|placed| ends_with(placed, step));
        let held = self.source.digits.iter().find(|placed| placed.weight == step.at);
        let (Some(PlacedDigit { digit: written, .. }), Some(PlacedDigit { digit: held, .. })) =
            (written, held)
        else {
            return false;
        };
        let same_start = held.axis.is_none_or(|axis| self.source.start(axis) == self.target.start(axis));
        let allowed = match written.kind {
            PadKind::Top => true,
            PadKind::Zero => held.kind == PadKind::Zero,
            PadKind::Bottom => false,
        };
        same_start && allowed && held.live <= step.live && end <= held.extent.min(step.extent)
    }
}

/// Returns true if the step is the outermost part of the digit.
fn ends_with(placed: &PlacedDigit, step: &Step) -> bool {
    placed.weight <= step.at && times(placed.weight, placed.digit.extent) == times(step.at, step.extent)
}

/// The dimensions of a tensor that take part in a transfer, as messages show them.
pub(crate) fn whole(tensor: &Tensor, chips: bool) -> Expr {
    let dims = tensor.kind.dims.iter().filter(|&&dim| chips || dim != Dim::Chip);
    flat(dims.map(|&dim| tensor.dim(dim)))
}

/// Address units of a byte in this format: 2 half bytes for 4-bit elements, otherwise 1.
#[must_use]
pub fn byte_units(dtype: DType) -> i64 {
    if dtype.bits() < 8 { 2 } else { 1 }
}

impl Transfer {
    /// The same in bytes, where this is in half bytes: pairs of elements share a byte on both sides.
    fn halved(mut self) -> Result<Self, TransferError> {
        let refuse = |found: String| {
            let message =
                format!("4-bit elements share bytes in pairs, and a transfer moves whole bytes: {found}");
            Err(TransferError::HalfByte(message))
        };
        let (mut run, mut factors) = (1_i64, Vec::new());
        while let Some(step) = self.loops.pop_if(|step| step.read == Stride::Fixed(run) && step.write == run)
        {
            run = times(run, step.limit);
            factors.insert(0, step.factor);
        }
        if run % 2 != 0 {
            return refuse(format!(
                "runs of {} are contiguous on both sides, expected an even number",
                counted(run, "element")
            ));
        }
        for step in &mut self.loops {
            let Some(read) = step.read.divided(2).filter(|_| step.write % 2 == 0) else {
                return refuse(format!(
                    "runs are read {} and written {} apart, expected even distances",
                    step.read,
                    counted(step.write, "element")
                ));
            };
            (step.read, step.write) = (read, step.write / 2);
        }
        if self.read_base % 2 != 0 || self.write_base % 2 != 0 {
            return refuse(format!(
                "it reads from element {} and writes from element {}, expected even ones",
                self.read_base, self.write_base
            ));
        }
        let factor = factors.join("`, `");
        self.loops.push(TransferLoop {
            limit: run.cast_unsigned() / 2,
            read: Stride::Fixed(1),
            write: 1,
            factor,
            counts: None,
        });
        Ok(Self { read_base: self.read_base / 2, write_base: self.write_base / 2, ..self })
    }
}

/// The terms of several mappings, major first, as one group without identities and terms that only pad. Messages show
/// it for a stream, or of a tensor that several mappings hold.
#[must_use]
pub fn flat(maps: impl IntoIterator<Item = Expr>) -> Expr {
    let terms = maps.into_iter().flat_map(|map| match map {
        Expr::Pair(terms) | Expr::Outer(terms) => terms,
        term => vec![term],
    });
    let bare = |term: &Expr| match term {
        Expr::Pad { inner, .. } => **inner == Expr::Literal(1),
        term => *term == Expr::Literal(1),
    };
    Expr::pair(terms.filter(|term| !bare(term)))
}
