//! The stream of a transfer that takes the fewest cycles: each of the e-graph is lowered and priced.

use crate::transfer::streams::{Cuts, Factor, Stream, Streams};
use visa_algebra::{Axes, AxisId, Expr, digits, rebuild};
use visa_cost::{MemoryModel, TransferCost, transfer_cost};
use visa_engine::Space;
use visa_hw::program::Dma;
use visa_loops::{EngineTable, Stride};
use visa_lowering::transfers::{Start, Way, medium, table, undivided, work};
use visa_machine::Machine;
use visa_mapping::{StreamOrder, Tensor, Transfer, transfer};
use visa_numerics::DType;
use visa_sequencer::access::AccessError;
use visa_sequencer::ops::dma::DmaWork;

/// A clause of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slot {
    /// It is not there.
    Absent,
    /// It is to be chosen.
    Open,
    /// It stays as it is.
    Written(Expr),
}

/// The clauses of a stream.
#[derive(Clone, Debug)]
pub struct Slots {
    /// The loops that count the engines.
    pub engines: Slot,
    /// In which order an engine moves its packets.
    pub time: Slot,
    /// The content of a packet.
    pub packet: Slot,
}

/// A transfer whose stream is to be chosen.
pub struct TransferCx<'a> {
    /// The source.
    pub source: &'a Tensor,
    /// The destination.
    pub result: &'a Tensor,
    /// Where both are.
    pub start: Start,
    /// The axes that the tensor does not depend on.
    pub free: &'a dyn Fn(AxisId) -> bool,
    /// True if PCIe moves it, between chips.
    pub pcie: bool,
    /// The cluster whose engines move it, if no stream determines them; `None` for those of all clusters.
    pub queue: Option<u64>,
    /// The axes.
    pub axes: &'a Axes,
    /// The machine.
    pub machine: &'a Machine,
    /// The price.
    pub model: MemoryModel,
}

/// The best of all streams.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The stream.
    pub order: StreamOrder,
    /// Its cycles.
    pub cycles: u64,
    /// Cycles of the lowering's default.
    pub own: Option<u64>,
    /// Streams that were priced.
    pub priced: u64,
    /// Nodes of the e-graph.
    pub nodes: u64,
}

impl Slot {
    /// The clause, if `proposed` is the choice.
    fn with(&self, proposed: impl FnOnce() -> Expr) -> Option<Expr> {
        match self {
            Self::Absent => None,
            Self::Open => Some(proposed()),
            Self::Written(map) => Some(map.clone()),
        }
    }
}

impl TransferCx<'_> {
    /// The stream with the fewest cycles; of equally fast ones that with the fewest loops, then the first by text.
    /// `None` if the transfer has several segments or loops that no axis counts: the lowering deals those.
    #[must_use]
    pub fn choose(&self, slots: &Slots) -> Option<Choice> {
        let (outer, packet) = self.factors()?;
        let streams = Streams::grow(&outer, &packet, &self.cuts());
        let mut orders: Vec<StreamOrder> = Vec::new();
        for stream in streams.all() {
            let order = self.order(&streams, &stream, slots);
            if !orders.contains(&order) {
                orders.push(order);
            }
        }
        let mut priced = 0;
        let candidates = orders.into_iter().filter_map(|order| {
            let (cost, loops) = self.price(Some(&order))?;
            priced += 1;
            Some((cost.cycles, loops, text(&order), order))
        });
        let best = candidates.min_by(|one, other| (one.0, one.1, &one.2).cmp(&(other.0, other.1, &other.2)));
        let (cycles, _, _, order) = best?;
        let own = self.price(None).map(|(cost, _)| cost.cycles);
        Some(Choice { order, cycles, own, priced, nodes: streams.nodes() as u64 })
    }

    /// The loops of the transfer as factors, outermost first: those from packet to packet, and those of the longest
    /// packet.
    fn factors(&self) -> Option<(Vec<Factor>, Vec<Factor>)> {
        let found =
            transfer(self.source, self.result, self.free, None, self.pcie, self.axes, self.machine).ok()?;
        let [single] = &found[..] else { return None };
        let (element, loops) = single.loops.split_last()?;
        let bytes = i64::try_from(element.limit).ok()?;
        let mut factors = Vec::new();
        for step in loops {
            factors.push(Factor { map: step.counts.clone()?, limit: step.limit });
        }
        let packet = factors.split_off(loops.len() - self.contiguous(single, bytes));
        let outer = factors;
        // A packet has something in it.
        (!packet.is_empty()).then_some((outer, packet))
    }

    /// Number of the innermost loops that a packet can hold.
    fn contiguous(&self, segment: &Transfer, element: i64) -> usize {
        let most = self.machine.limits.dma_packet_max_bytes;
        let (mut run, mut count) = (element, 0);
        for step in segment.loops.iter().rev().skip(1) {
            let next = i64::try_from(step.limit).ok().and_then(|limit| run.checked_mul(limit));
            let follows = step.read == Stride::Fixed(run) && step.write == run;
            let Some(next) = next.filter(|next| follows && next.unsigned_abs() <= most) else { break };
            (run, count) = (next, count + 1);
        }
        count
    }

    fn cuts(&self) -> Cuts {
        let machine = self.machine;
        let networks = machine.pes_per_chip() * machine.topology.dmns_per_pe;
        let bits = u64::from(self.start.dtype.bits());
        Cuts {
            engines: if self.pcie { 1 } else { machine.topology.dma_engines_per_chip },
            network: (machine.slices_per_chip() / networks.max(1)).max(1),
            request: (machine.limits.dma_request_bytes * 8 / bits).max(1),
        }
    }

    /// The clauses of a stream.
    fn order(&self, streams: &Streams, stream: &Stream, slots: &Slots) -> StreamOrder {
        let map = |numbers: &[usize]| {
            let map = Expr::pair(numbers.iter().map(|&at| streams.factors[at].map.clone()));
            let found = digits(&map, self.axes).ok().and_then(|digits| rebuild(&digits, self.axes).ok());
            found.unwrap_or(map)
        };
        StreamOrder {
            engines: slots.engines.with(|| map(&stream.engines)).unwrap_or(Expr::Literal(1)),
            time: slots.time.with(|| map(&stream.time)),
            packet: slots.packet.with(|| map(&stream.packet)),
        }
    }

    /// The cost of a stream, or of the lowering's default, and the number of its loops. `None` if it is not legal.
    #[must_use]
    pub fn price(&self, order: Option<&StreamOrder>) -> Option<(TransferCost, usize)> {
        self.priced(order, self.model, &table)
    }

    /// The cost by the `flat` model, whose price does not depend on the division among engines; `None` if no engine
    /// makes the transfer.
    #[must_use]
    pub fn flat_price(&self) -> Option<TransferCost> {
        self.priced(None, MemoryModel::Flat, &undivided).map(|(cost, _)| cost)
    }

    fn priced(
        &self,
        order: Option<&StreamOrder>,
        model: MemoryModel,
        table: &dyn Fn(&DmaWork, DType, &Way<'_>) -> Result<EngineTable, AccessError>,
    ) -> Option<(TransferCost, usize)> {
        let segments =
            transfer(self.source, self.result, self.free, order, self.pcie, self.axes, self.machine).ok()?;
        let pcie = self.pcie;
        let media = [medium(self.source), medium(self.result)];
        let way = Way { pcie, media, queue: self.queue, machine: self.machine, kept: None };
        let work = work(&segments, &self.start, &way).ok()?;
        let table = table(&work, self.start.dtype, &way).ok()?;
        let loops = table.0.iter().map(|part| part.loops.entries.len()).sum();
        let dma = Dma::of_table(pcie, media.map(Space::from), &table)?;
        Some((transfer_cost(&dma, self.machine, model).ok()?, loops))
    }
}

/// The clauses, for a total order.
fn text(order: &StreamOrder) -> String {
    let parts = [Some(&order.engines), order.time.as_ref(), order.packet.as_ref()];
    parts.into_iter().flatten().map(Expr::to_string).collect::<Vec<_>>().join(", ")
}
