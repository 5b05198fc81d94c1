//! A transfer from segments to engines: over elements for seq, in bytes for hw (book 10).

use crate::engines::{alone, deal};
use std::ops::Range;
use std::rc::Rc;
use visa_ir::context::Context;
use visa_loops::{
    EnginePart, EngineTable, PairedEntry, PairedProgram, Segments, Stride, contiguous_paired, dma_packet,
};
use visa_machine::Machine;
use visa_mapping::{GivenStream, Tensor, Transfer, TransferLoop};
use visa_memory::Medium;
use visa_numerics::DType;
use visa_sequencer::access::{self, AccessError};
use visa_sequencer::ops::dma::DmaWork;

/// The memory that a tensor is in.
#[must_use]
pub fn medium(tensor: &Tensor) -> Medium {
    tensor.medium().unwrap_or(Medium::Hbm)
}

/// Start of a transfer, in bytes, and the format of its elements.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// The address of the source.
    pub read: i64,
    /// The address of the destination.
    pub write: i64,
    /// The format of the elements.
    pub dtype: DType,
}

/// The unit that moves a transfer, and the memories between which it moves.
#[derive(Clone, Copy)]
pub struct Way<'a> {
    /// True if PCIe moves it.
    pub pcie: bool,
    /// The memories read and written.
    pub media: [Medium; 2],
    /// The cluster whose engines share it; `None` for those of all clusters.
    pub queue: Option<u64>,
    /// The machine.
    pub machine: &'a Machine,
    /// Store for the programs of engines, so that the lowering to seq, which refuses programs that no engine runs, and
    /// that to hw make them once; `None` for transfers that are only tried.
    pub kept: Option<&'a Context>,
}

/// Programs of the engines for one segment, in bytes.
pub struct EnginePrograms(Vec<PairedProgram>);

impl Way<'_> {
    /// The engines that share the transfer.
    fn engines(&self) -> Range<u64> {
        let (topology, each) = (&self.machine.topology, self.machine.topology.pes_per_cluster);
        match self.queue {
            None => 0..topology.dma_engines_per_chip,
            Some(cluster) => cluster * each..((cluster + 1) * each).min(topology.dma_engines_per_chip),
        }
    }

    /// The programs of a segment over elements.
    fn programs(&self, segment: &PairedProgram, dtype: DType) -> Result<Rc<EnginePrograms>, AccessError> {
        let group = access::dma_group(self.media[1], self.machine);
        let work = || {
            let bytes = segment.in_bytes(dtype)?;
            access::dma(&bytes, group, self.machine).map(EnginePrograms)
        };
        match self.kept {
            Some(ctx) => ctx.once((segment.clone(), dtype, group), work),
            None => work().map(Rc::new),
        }
    }
}

impl Start {
    /// A segment over elements.
    ///
    /// # Errors
    /// If an address or a distance is no whole number of elements.
    pub fn elements(&self, segment: &Transfer) -> Result<PairedProgram, AccessError> {
        let bits = self.dtype.bits().into();
        let refused = |what: String| {
            AccessError::Aligned(format!("{what}, which is no whole number of elements of `{}`", self.dtype))
        };
        let elements = |stride: &Stride| stride.scaled(8)?.divided(bits);
        let address = |bytes: i64| {
            let found = elements(&Stride::Fixed(bytes)).and_then(|stride| stride.fixed());
            found.ok_or_else(|| refused(format!("it starts at byte {bytes}")))
        };
        let entry = |step: &TransferLoop| {
            let sides = elements(&step.read).zip(elements(&Stride::Fixed(step.write)));
            let (read, write) = sides.ok_or_else(|| refused(format!("it moves by {step}")))?;
            Ok::<_, AccessError>(PairedEntry { limit: step.limit, read, write })
        };
        let mut entries = Vec::new();
        // The last loop goes through the bytes of an element, or of pairs that share one.
        if let Some((last, outer)) = segment.loops.split_last() {
            entries = outer.iter().map(entry).collect::<Result<_, _>>()?;
            let within = last.limit.saturating_mul(8) / bits.unsigned_abs();
            if within > 1 || entries.is_empty() {
                entries.push(PairedEntry::new(within, 1, 1));
            }
        }
        Ok(PairedProgram {
            entries,
            // Elements that share a byte move together.
            packet: 8_u64.div_ceil(bits.unsigned_abs()),
            read_base: address(self.read.saturating_add(segment.read_base))?,
            write_base: address(self.write.saturating_add(segment.write_base))?,
        })
    }
}

/// Work of the segments of a transfer, for seq.
///
/// # Errors
/// If a segment is no whole number of elements apart, or no sequencer runs it: with its number.
pub fn work(segments: &[Transfer], start: &Start, way: &Way<'_>) -> Result<DmaWork, (usize, AccessError)> {
    let group = access::dma_group(way.media[1], way.machine);
    let (mut any, mut given) = (Vec::new(), Vec::new());
    for (number, segment) in segments.iter().enumerate() {
        let refused = |error| (number, error);
        let program = start.elements(segment).map_err(refused)?;
        way.programs(&program, start.dtype).map_err(refused)?;
        match &segment.given {
            Some(own) => given.extend(engine_parts(own, &program, start.dtype, group, way.machine)),
            None => any.push(program),
        }
    }
    Ok(if given.is_empty() { DmaWork::Any(Segments(any)) } else { DmaWork::Assigned(EngineTable(given)) })
}

/// Programs of the engines, in bytes.
///
/// # Errors
/// A limit of the sequencer.
pub fn table(work: &DmaWork, dtype: DType, way: &Way<'_>) -> Result<EngineTable, AccessError> {
    divided(work, dtype, way, &|programs| match way.pcie {
        true => alone(programs),
        false => deal(programs, way.media, way.engines(), way.machine),
    })
}

/// Programs of a transfer by one engine, in bytes: of all engines, they move the same.
///
/// # Errors
/// A limit of the sequencer.
pub fn undivided(work: &DmaWork, dtype: DType, way: &Way<'_>) -> Result<EngineTable, AccessError> {
    divided(work, dtype, way, &alone)
}

/// Programs of the engines, in bytes, where `divide` assigns segments that have no engines yet.
fn divided(
    work: &DmaWork,
    dtype: DType,
    way: &Way<'_>,
    divide: &dyn Fn(&[PairedProgram]) -> EngineTable,
) -> Result<EngineTable, AccessError> {
    match work {
        DmaWork::Any(segments) => {
            let mut programs = Vec::new();
            for segment in &segments.0 {
                programs.extend_from_slice(&way.programs(segment, dtype)?.0);
            }
            Ok(divide(&programs))
        }
        DmaWork::Assigned(table) => {
            let parts = table.0.iter().map(|part| access::dma_part(part, dtype, way.machine));
            Ok(EngineTable(parts.collect::<Result<Vec<_>, _>>()?.concat()))
        }
    }
}

/// Programs of the engines of a segment: one part if they follow each other, otherwise one each.
fn engine_parts(
    given: &GivenStream,
    program: &PairedProgram,
    dtype: DType,
    group: u64,
    machine: &Machine,
) -> Vec<EnginePart> {
    let bits = u64::from(dtype.bits());
    let (outer, inner) = program.entries.split_at(given.engine_loops);
    let mut own = PairedProgram { entries: inner.to_vec(), ..program.clone() };
    if own.entries.is_empty() {
        own.entries.push(PairedEntry::new(1, 1, 1));
    }
    let bytes = given.packet.unwrap_or_else(|| {
        let run = contiguous_paired(&own) * bits / 8;
        dma_packet(run, machine.limits.dma_packet_max_bytes, group.max(bits.div_ceil(8)))
    });
    own.packet = bytes * 8 / bits;
    let count = given.engines.len() as u64;
    if let Some(&first) = given.engines.first()
        && given.engines.iter().copied().eq(first..first + count)
    {
        own.entries.splice(..0, outer.iter().cloned());
        return vec![EnginePart { engines: first..first + count, loops: own }];
    }
    let alone = given.engines.iter().zip(0..).map(|(&engine, iteration)| {
        let starts = program.iteration(given.engine_loops, iteration);
        let loops =
            PairedProgram { read_base: starts.read_base, write_base: starts.write_base, ..own.clone() };
        EnginePart { engines: engine..engine + 1, loops }
    });
    alone.collect()
}
