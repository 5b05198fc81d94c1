//! Loads of a region's inputs. All slices need the same of an input without rows: each slice of a ring loads a part of
//! it, and the switch exchanges the parts, where that takes fewer cycles than a copy for each slice (book 13).

use crate::array::Array;
use crate::contraction::layout::{FLIT_BYTES, elements, in_memory};
use crate::cut::{Part, side_by_side};
use crate::memory::Transfers;
use crate::region::Slot;
use crate::region::planned::PlannedRegion;
use crate::writer::{Writer, new};
use visa_algebra::{Expr, PadKind};
use visa_cost::TransferCost;
use visa_engine::words::TopologyName;
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_mapping::ops::transfer::ToDm;
use visa_mapping::ops::view::Window;
use visa_mapping::{DM, Dim, Tensor};
use visa_stream::ops::collect::Collect;
use visa_stream::ops::commit::Commit;
use visa_stream::ops::switch::Switch;

/// Latency of the pipeline that exchanges parts.
const LATENCY: u64 = 40;

/// Most tiles whose transfers are priced one by one.
const MOST_PERIOD: u64 = 16;

/// The exchange of an input among the slices of a ring.
struct Exchange {
    /// Slices of the ring.
    ring: u64,
    /// The elements that all slices need, their number, and those of a flit.
    map: Expr,
    count: u64,
    flit: u64,
}

impl Exchange {
    /// Cycles of the pipeline: a flit of each slice after the other.
    fn cycles(&self) -> u64 {
        self.count / self.flit + self.ring + LATENCY
    }

    /// The parts of the slices, and the elements of a part.
    fn parts(&self) -> [Expr; 2] {
        let part = self.count / self.ring;
        [self.map.clone().stride(part), self.map.clone().modulo(part)]
    }
}

impl PlannedRegion<'_> {
    /// Cycles to load an input by the engines of a cluster, with its exchange; `None` if no engine moves it.
    #[must_use]
    pub fn load(&self, slot: Slot, queue: Option<u64>, prices: &Transfers<'_>) -> Option<TransferCost> {
        let source = self.first_tile(self.array(slot));
        let exchanged = self.exchange(self.array(slot)).map_or(0, |exchange| exchange.cycles());
        let cost = prices.load(queue, &source, &self.parts(slot))?;
        Some(TransferCost { cycles: exchanged + cost.cycles, ..cost })
    }

    /// Cycles to load a tile of an input; `None` if no engine moves it.
    #[must_use]
    pub fn load_tile(&self, slot: Slot, tile: u64, prices: &Transfers<'_>) -> Option<u64> {
        let source = self.first_tile(self.array(slot));
        let offset = self.tile_offset(slot, tile, prices);
        prices.load_from((None, offset), &source, &self.parts(slot)).map(|cost| cost.cycles)
    }

    /// Cycles to store a tile of an output; `None` if no engine moves it.
    #[must_use]
    pub fn store_tile(&self, slot: Slot, tile: u64, prices: &Transfers<'_>) -> Option<u64> {
        let array = self.array(slot);
        let offset = self.tile_offset(slot, tile, prices);
        let (source, result) = (self.output(slot), self.first_tile(array));
        prices.store_to(array, (None, offset), &source, &result).map(|cost| cost.cycles)
    }

    /// Tiles after which the first bytes of tiles are at equal distances from multiples of a request, at most
    /// `MOST_PERIOD`.
    #[must_use]
    pub fn tile_period(&self, slot: Slot, prices: &Transfers<'_>) -> u64 {
        let aligned = |tile: &u64| self.tile_offset(slot, *tile, prices) == 0;
        (1..MOST_PERIOD).find(aligned).unwrap_or(MOST_PERIOD)
    }

    /// Bytes from a multiple of a request to the first byte of a tile.
    fn tile_offset(&self, slot: Slot, tile: u64, prices: &Transfers<'_>) -> u64 {
        let (rows, array) = (&self.layout.rows, self.array(slot));
        let bits = rows.first_tile().and_then(|first| array.tile_bits(&first, self.layout.axes));
        prices.offset(bits.map_or(0, |bits| tile * bits / 8))
    }

    /// Returns true if each iteration of the loop needs another part of an input.
    #[must_use]
    pub fn is_tiled(&self, slot: Slot) -> bool {
        let rows = &self.layout.rows;
        let axis = rows.group().axes.first().filter(|_| rows.tiles() > 1);
        axis.is_some_and(|axis| self.array(slot).position(axis).is_some())
    }

    /// The exchange of an input without rows, if it takes fewer cycles than copies for all slices.
    fn exchange(&self, array: &Array) -> Option<Exchange> {
        let (layout, machine) = (&self.layout, self.machine);
        let [local] = &layout.local(array)[..] else { return None };
        if layout.spread || layout.sum.is_some() || array.axes.iter().any(|axis| layout.is_row(axis)) {
            return None;
        }
        let (count, flit) = (local.size, elements(FLIT_BYTES, array.dtype));
        let [clusters, slices] = [Part::Cluster, Part::Slice].map(|part| layout.rows.count(part));
        let rings = std::iter::successors(Some(slices), |ring| Some(ring / 2)).take_while(|ring| *ring > 1);
        let ring = rings.into_iter().find(|ring| count.is_multiple_of(ring * flit))?;
        let exchange = Exchange { ring, map: local.map.clone(), count, flit };
        let bytes = count * u64::from(array.dtype.bits()) / 8 * slices * clusters;
        let (timing, topology) = (&machine.timing, &machine.topology);
        let networks = machine.pes_per_chip() * topology.dmns_per_pe;
        let copies = bytes / (networks * timing.dm_bytes_per_cycle_per_dmn).max(1);
        (exchange.cycles() + copies / ring < copies).then_some(exchange)
    }

    /// The tensor into which an input is loaded.
    fn parts(&self, slot: Slot) -> Tensor {
        let array = self.array(slot);
        let Some(exchange) = self.exchange(array) else { return self.input(slot) };
        let (rows, all) = (&self.layout.rows, self.machine.topology.slices_per_cluster);
        let [number, part] = exchange.parts();
        let slices = rows.count(Part::Slice);
        let copies = if slices == exchange.ring {
            Expr::Literal(1)
        } else {
            rows.part(Part::Slice).stride(exchange.ring)
        };
        let slice = side_by_side([copies, number]);
        let slice = if slices == all { slice } else { slice.pad(all, PadKind::Top) };
        let cluster = self.tidy(self.layout.cluster(self.machine));
        let element = in_memory([part], array.dtype, self.layout.axes);
        let maps = vec![Expr::Literal(1), cluster, self.tidy(slice), element];
        Tensor { kind: &DM, unit: None, dtype: array.dtype, maps }
    }

    /// Loads an input into data memory.
    pub(super) fn loaded(
        &self,
        writer: &mut Writer<'_>,
        slot: Slot,
        source: ValueId,
    ) -> Result<ValueId, Diagnostic> {
        let (array, exchange) = (self.array(slot), self.exchange(self.array(slot)));
        writer.comment(&match &exchange {
            Some(exchange) => self.why_exchange(slot, exchange.ring),
            None => self.why_load(slot),
        });
        let (tensor, source) = (self.parts(slot), self.windows(writer, slot, source)?);
        let op = new!(writer, ToDm, [source]).at_auto().cluster(tensor.dim(Dim::Cluster));
        let op = op.slice(tensor.dim(Dim::Slice)).element(tensor.dim(Dim::Element));
        let op = op.queue(self.load_queue(slot).map(u64::cast_signed));
        let value = writer.value(op, &format!("{}_dm", array.name))?;
        match exchange {
            Some(exchange) => self.exchanged(writer, slot, &exchange, value),
            None => Ok(value),
        }
    }

    /// An input in HBM, or its tile, with its windows.
    fn windows(&self, writer: &mut Writer<'_>, slot: Slot, source: ValueId) -> Result<ValueId, Diagnostic> {
        let array = self.array(slot);
        if array.view.is_none() {
            return Ok(source);
        }
        let element = self.first_tile(array).dim(Dim::Element);
        writer.value(new!(writer, Window, [source]).common(|op| op.element(element.into())), &array.name)
    }

    /// Exchanges the parts that the slices of a ring have loaded.
    fn exchanged(
        &self,
        writer: &mut Writer<'_>,
        slot: Slot,
        exchange: &Exchange,
        loaded: ValueId,
    ) -> Result<ValueId, Diagnostic> {
        let array = self.array(slot);
        let (name, flit) = (&array.name, exchange.flit);
        let ([number, part], count) = (exchange.parts(), exchange.count / exchange.ring);
        let [steps, packet] = if count == flit {
            [Expr::Literal(1), part]
        } else {
            [part.clone().stride(flit), part.modulo(flit)]
        };
        let maps = [self.dimension([steps.clone()]), self.tidy(packet.clone())];
        let stream = writer.fetch(loaded, maps, name)?;
        let time = self.dimension([number, steps]);
        let op = new!(writer, Switch, [stream]).topology(TopologyName::Broadcast01);
        let op = op.slice1(Some(exchange.ring.cast_signed())).slice0(Some(1));
        let op = op.time0(Some((count / flit).cast_signed()));
        let op = op.slice(Some(self.slices(slot))).time(Some(time.clone()));
        let stream = writer.value(op, name)?;
        let op = new!(writer, Collect, [stream]).time(time).packet(self.tidy(packet));
        let stream = writer.value(op, name)?;
        let op = new!(writer, Commit, [stream]).at_auto().element(self.layout.loaded(array));
        writer.value(op, &format!("{name}_all"))
    }
}
