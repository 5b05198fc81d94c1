//! Reads of the vector register file (book 20): an access for each packet. One of fewer elements than a packet has
//! is repeated over the lanes, as the tensor register file's is (book 18).

use crate::clauses::machine;
use crate::loops::{Loops, Written};
use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;
use visa_engine::shadow::Shadow;
use visa_engine::{Access, Mismatch, SliceMemory, Space, Wire};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::OpRef;
use visa_loops::Program;

/// Bytes of a row of a register file or of the stash, in which a calibrated machine counts operands.
pub(crate) const ROW_BYTES: usize = 32;

/// The loops of a clause that reads the vector register file.
pub(crate) struct RegisterFile(Loops);

impl RegisterFile {
    /// The operand that a clause specifies. C4 and C5.
    pub(crate) fn of(
        op: OpRef<'_>,
        (clause, program): (&'static str, Rc<Program>),
    ) -> Result<Self, Diagnostic> {
        let machine = machine(op);
        let written = Written::new(op, clause, program);
        written.sequencer("C4", &machine.vrf_read_sizes())?;
        written.within("C5", machine.memory.vrf_bytes, "the vector register file")?;
        written.loops("C5").map(Self)
    }

    /// C4 and C6: accesses for the packets of `input`, one each.
    pub(crate) fn check(&self, clause: &'static str, input: &Wire) -> Result<(), Mismatch> {
        let (read, made) = (self.0.program.packet, self.0.accesses());
        if read > input.packet {
            let message =
                format!("accesses of {}, expected packets of {}", counted(read, "byte"), input.packet);
            return Err(Mismatch::new("C4", clause, message));
        }
        if made != input.packets {
            let message = format!(
                "the loops make {}, expected {}, one a packet",
                counted(made, "access"),
                input.packets
            );
            return Err(Mismatch::new("C6", clause, message));
        }
        Ok(())
    }

    /// Bytes of an access.
    pub(crate) fn read_size(&self) -> u64 {
        self.0.program.packet
    }

    /// The words of the lanes, for packets of `packet` bytes.
    pub(crate) fn words(&self, memory: &SliceMemory, packet: usize) -> Vec<u8> {
        let mut words = Vec::new();
        self.0.runs().iter().for_each(|run| memory.vrf.read(run.clone(), &mut words));
        self.over_lanes(words, packet)
    }

    /// The marks of [`Self::words`].
    pub(crate) fn marks(&self, memory: &SliceMemory, packet: usize) -> Vec<Shadow> {
        let mut marks = Vec::new();
        for run in self.0.runs() {
            memory.vrf.read_shadow(run.clone(), Shadow::NEVER_WRITTEN, &mut marks);
        }
        self.over_lanes(marks, packet)
    }

    /// The words that each access reads, again and again, until it fills a packet.
    fn over_lanes<T: Copy>(&self, read: Vec<T>, packet: usize) -> Vec<T> {
        let size = self.0.program.packet as usize;
        if size == packet {
            return read;
        }
        read.chunks(size).flat_map(|access| access.iter().copied().cycle().take(packet)).collect()
    }

    /// Where each packet's access begins, bytes.
    pub(crate) fn addresses(&self) -> &[u32] {
        self.0.addresses()
    }

    /// Rows of [`ROW_BYTES`] that are read, each counted once.
    pub(crate) fn rows(&self) -> u64 {
        let of_run = |run: &Range<usize>| run.start / ROW_BYTES..run.end.div_ceil(ROW_BYTES);
        self.0.runs().iter().flat_map(of_run).collect::<BTreeSet<usize>>().len() as u64
    }

    /// That the register file is read there, or written.
    pub(crate) fn access(&self, write: bool) -> Access {
        let range: Range<u64> = self.0.extent();
        Access { space: Space::Vrf, write, range }
    }
}
