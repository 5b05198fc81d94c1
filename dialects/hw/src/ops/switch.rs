//! `hw.switch`: the Switch Engine (book 13).

use crate::clauses::{at_least, machine};
use crate::stage::{
    Build, Engine, Flow, Mismatch, RunCx, SliceMemory, Stage, StageCost, Stream, Wire,
};
use crate::taint::Taint;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_ir::span::Span;
use visa_machine::Machine;

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&SWITCH];

/// `hw.switch`.
pub static SWITCH: OpDecl = OpDecl {
    name: "hw.switch",
    summary: "exchanges packets between the slices of a ring",
    doc: "`broadcast01` (book 13): a ring is `slice1 * slice0` consecutive slices of a cluster, numbered `s1 * slice0 + \
          s0`; the input's time is `[time1, time0]`. Every slice of the ring receives, for each time1, s1, time0 and s0 \
          in this nesting, the packet that member (s1, s0) has at time (time1, time0). A member that is not active \
          gives packets of zeros.",
    constraints: &[
        ("C1", "slice1 and slice0 are powers of two (book 13)"),
        ("C2", "the ring lies within a cluster: slice1 * slice0 divides its slices (book 13)"),
        ("C3", "time0 divides the packets that flow in (book 13)"),
    ],
    clauses: &[
        ClauseDecl::lead("topology", ClauseKind::Word(&["broadcast01"]), "How packets travel."),
        ClauseDecl::required("slice1", ClauseKind::Int, "Extent of the ring's outer digit."),
        ClauseDecl::required("slice0", ClauseKind::Int, "Extent of the ring's inner digit."),
        ClauseDecl::required("time0", ClauseKind::Int, "Packets between two visits of the inner digit."),
    ],
    traits: &[Trait::Inside("hw.exec")],
    verify: Some(|op, _| read(op).map(drop)),
    example: "hw.switch broadcast01, slice1 1, slice0 2, time0 1",
    interfaces: &[Interface(&Build(|op| Ok(Box::new(read(op)?))))],
    ..OpDecl::BASE
};

struct Switch {
    span: Span,
    slice1: u64,
    slice0: u64,
    time0: u64,
}

fn read(op: OpRef<'_>) -> Result<Switch, Diagnostic> {
    let power = |clause| {
        let value = at_least(op, "C1", clause, 1)?;
        if value.is_power_of_two() {
            return Ok(value);
        }
        let message = format!("`{clause}` is {value}, expected a power of two");
        Err(op.clause_error("C1", clause, message))
    };
    let (slice1, slice0) = (power("slice1")?, power("slice0")?);
    let slices = machine(op).topology.slices_per_cluster;
    let ring = slice1.checked_mul(slice0).filter(|&ring| slices.is_multiple_of(ring));
    if ring.is_none() {
        let message = format!("a ring of {slice1} * {slice0} slices does not divide the {slices} of a cluster");
        return Err(op.clause_error("C2", "slice1", message));
    }
    Ok(Switch { span: op.span(), slice1, slice0, time0: at_least(op, "C3", "time0", 1)? })
}

impl Switch {
    fn ring(&self) -> u64 {
        self.slice1 * self.slice0
    }
}

impl Stage for Switch {
    fn name(&self) -> &'static str {
        SWITCH.name
    }

    fn span(&self) -> Span {
        self.span
    }

    fn connect(&self, _machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        if !input.packets.is_multiple_of(self.time0) {
            let message = format!("`time0` is {}, which does not divide {} packets", self.time0, input.packets);
            return Err(Mismatch::new("C3", "time0", message));
        }
        let packets = input.packets.checked_mul(self.ring()).ok_or_else(|| {
            Mismatch::new("C2", "slice1", format!("{} packets from each of {} slices", input.packets, self.ring()))
        })?;
        Ok(Wire { packets, ..input })
    }

    /// A slice alone: a ring of one.
    fn run(&self, cx: RunCx<'_>, _memory: &SliceMemory, input: Stream) -> Stream {
        let alone = Switch { span: self.span, slice1: 1, slice0: 1, time0: 1 };
        let inputs = [input];
        let routed = alone.route(cx, &inputs, 0);
        let [input] = inputs;
        routed.unwrap_or(input)
    }

    fn route(&self, cx: RunCx<'_>, inputs: &[Stream], slice: usize) -> Option<Stream> {
        let ring = self.ring() as usize;
        let start = slice / ring * ring;
        let members = inputs.get(start..start + ring)?;
        let model = members.iter().find(|member| !member.bytes.is_empty())?;
        let (packet, time0) = (model.packet, self.time0 as usize);
        let mut bytes = Vec::with_capacity(model.bytes.len() * ring);
        let mut marker = cx.marker();
        let mut taint = marker.is_some().then(|| Vec::with_capacity(bytes.capacity()));
        for time1 in 0..model.bytes.len() / (packet * time0) {
            for s1 in 0..self.slice1 as usize {
                let outer = &members[s1 * self.slice0 as usize..][..self.slice0 as usize];
                for time in time1 * time0..(time1 + 1) * time0 {
                    let range = time * packet..(time + 1) * packet;
                    for member in outer {
                        match member.bytes.get(range.clone()) {
                            Some(found) => bytes.extend_from_slice(found),
                            None => bytes.resize(bytes.len() + packet, 0),
                        }
                        if let (Some(marker), Some(taint)) = (&mut marker, &mut taint) {
                            let marks = member.taint.as_deref().and_then(|marks| marks.get(range.clone()));
                            match marks {
                                Some(marks) => taint.extend(marks.iter().map(|&mark| marker.through(mark))),
                                None => taint.resize(bytes.len(), marker.through(Taint::NEVER_WRITTEN)),
                            }
                        }
                    }
                }
            }
        }
        Some(Stream { dtype: model.dtype, packet, bytes, taint, operand: None })
    }

    fn is_switch(&self) -> bool {
        true
    }

    /// Book 13: ring size * input packets * cycles a packet, a cycle for each flit.
    fn cost(&self, machine: &Machine, input: Flow) -> StageCost {
        let packets = self.ring() * input.packets;
        let cycles = packets * input.packet.div_ceil(machine.limits.flit_bytes);
        let out = Flow { packets, packet: input.packet };
        StageCost { engine: Engine::Switch, cycles, latency: 1, macs: 0, out }
    }
}
