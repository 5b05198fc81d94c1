//! `hw.switch`: the Switch Engine (book 13).

use crate::build::{Build, KnowsSlices, verify};
use crate::clauses::{at_least, given, machine};
use crate::ops::exec::context_of;
use crate::route::{Packet, Pick, Route};
use crate::snoop::{SNOOP, Snoop};
use visa_engine::place::rngd;
use visa_engine::shadow::Shadow;
use visa_engine::unwritten::Unwritten;
use visa_engine::words::TopologyName;
use visa_engine::{Engine, Exchange, Flow, Mismatch, RunCx, Stage, StageCost, Stream, Unit, Wire};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_machine::Machine;

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&SWITCH];

/// `hw.switch`.
#[visa_ir::view(Switch)]
pub static SWITCH: OpDecl = OpDecl {
    name: "hw.switch",
    summary: "exchanges packets between the slices of a ring",
    doc: "A ring is `slice1 * slice0` consecutive slices of a cluster (book 13), numbered `s1 * slice0 + s0`; slice \
          n has the packets P(n, t). A slice d = (d1, d0) receives, in this nesting:\n\n\
          - `forwarding`: its own packets; a ring is one slice.\n\
          - `broadcast01`, time `[time1, time0]`: every slice receives, for each time1, s1, time0 and s0, P((s1, \
          s0), (time1, time0)).\n\
          - `broadcast1`: for each t and s1, P((s1, d0), t).\n\
          - `transpose`: for each t, P((s1, s0), t), where d is `s0 * slice1 + s1`.\n\
          - `inter_transpose`, time `[time2, slice1, time0]`: for each time2, time0 and s1, P((s1, d0), (time2, d1, \
          time0)).\n\
          - `transposed_broadcast1`: for each t and s0, P((s1, s0), t), where s1 is d % slice1.\n\
          - `custom`: for each t, the packet of every slice that d's row of the bitmap `snoop` names, in order; a \
          ring is `ring` slices.\n\n\
          The packets of an inactive member are undefined (docs/numerics.md, undefined memory). The bitmap is \
          written to registers before the first packet, 32 bits in `timing.bitmap_word_cycles` (assumed): 2048 \
          cycles for 256 slices, once a command. The other contexts and the DMA of the chip stand still meanwhile \
          (book 13).",
    constraints: &[
        ("C1", "slice1, slice0 and ring are powers of two (book 13)"),
        ("C2", "the ring is within a cluster: its slices divide those of a cluster (book 13)"),
        ("C3", "time0, for inter_transpose slice1 * time0, divides the packets that flow in (book 13)"),
        (
            "C4",
            "a topology has its own registers: custom has ring and snoop, forwarding none, all others slice1 and \
             slice0, broadcast01 and inter_transpose also time0",
        ),
        (
            "C5",
            "the bitmap's rows are those of whole rings, and all rows together are repeated without a rest (book \
             13)",
        ),
        ("C6", "a slice snoops slices of its ring (book 13)"),
        ("C7", "every slice snoops as many slices as any other, at least one: streams run in lockstep"),
    ],
    clauses: &[
        ClauseDecl::lead("topology", ClauseKind::word::<TopologyName>(), "How packets travel."),
        ClauseDecl::optional("slice1", ClauseKind::Int, "Extent of the ring's outer digit."),
        ClauseDecl::optional("slice0", ClauseKind::Int, "Extent of the ring's inner digit."),
        ClauseDecl::optional("time0", ClauseKind::Int, "Packets between two visits of the inner digit."),
        ClauseDecl::optional("ring", ClauseKind::Int, "Slices of a ring."),
        ClauseDecl::optional("snoop", ClauseKind::body::<Snoop>(&SNOOP), "Whose packets each slice outputs."),
    ],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Stream), writes(Target::Stream)]),
    verify: Some(|op, _| verify(op)),
    example: "hw.switch broadcast01, slice1 1, slice0 2, time0 1",
    interfaces: &[
        Interface(&KnowsSlices(|_| true)),
        Interface(&rngd::SWITCH),
        Interface(&Build::Alone(|op| Ok(Stage::exchange(read(op)?)))),
    ],
    ..OpDecl::BASE
};

struct SwitchUnit {
    /// Bytes that pass a router in a cycle: a flit.
    flit: u64,
    route: Route,
    /// True if its bitmap has to be written first.
    custom: bool,
}

fn read(op: OpRef<'_>) -> Result<SwitchUnit, Diagnostic> {
    let op = Switch::of(op)?;
    let topology = op.topology()?;
    let has = |clauses| registers(op, topology, clauses);
    let route = match topology {
        TopologyName::Forwarding => has(&[]).map(|()| Route::forwarding())?,
        TopologyName::Custom => has(&["ring", "snoop"]).and_then(|()| custom(op))?,
        TopologyName::Broadcast01 => {
            has(&["slice1", "slice0", "time0"]).and_then(|()| Shape::read(op)?.broadcast01(op))?
        }
        TopologyName::InterTranspose => {
            has(&["slice1", "slice0", "time0"]).and_then(|()| Shape::read(op)?.inter_transpose(op))?
        }
        TopologyName::Broadcast1 => {
            has(&["slice1", "slice0"]).and_then(|()| Shape::read(op)).map(Shape::broadcast1)?
        }
        TopologyName::Transpose => {
            has(&["slice1", "slice0"]).and_then(|()| Shape::read(op)).map(Shape::transpose)?
        }
        TopologyName::TransposedBroadcast1 => {
            has(&["slice1", "slice0"]).and_then(|()| Shape::read(op)).map(Shape::transposed_broadcast1)?
        }
    };
    let flit = machine(*op).flit_bytes(context_of(*op)?);
    Ok(SwitchUnit { flit, route, custom: topology == TopologyName::Custom })
}

/// C4: the registers of the topology are there, and no others.
fn registers(op: Switch<'_>, topology: TopologyName, wanted: &[&str]) -> Result<(), Diagnostic> {
    let registers = [
        ("slice1", op.slice1()?.is_some()),
        ("slice0", op.slice0()?.is_some()),
        ("time0", op.time0()?.is_some()),
        ("ring", op.ring()?.is_some()),
        ("snoop", op.snoop()?.is_some()),
    ];
    for (clause, found) in registers {
        let needed = wanted.contains(&clause);
        if found && !needed {
            let message = format!("`{clause}` is no register of `{topology}`");
            return Err(op.clause_error("C4", clause, message).fix(Some(format!("leave `{clause}` out"))));
        }
        if needed && !found {
            return Err(op.clause_error("C4", "topology", format!("`{topology}` needs `{clause}`")));
        }
    }
    Ok(())
}

/// C1 and C4.
fn power(op: Switch<'_>, (clause, value): (&str, Option<i64>)) -> Result<u64, Diagnostic> {
    let value = at_least(*op, "C1", (clause, given(*op, "C4", (clause, value))?), 1)?;
    if value.is_power_of_two() {
        return Ok(value);
    }
    Err(op.clause_error("C1", clause, format!("`{clause}` is {value}, expected a power of two")))
}

/// The digits of a ring of a predefined topology.
#[derive(Clone, Copy)]
struct Shape {
    slice1: usize,
    slice0: usize,
}

impl Shape {
    fn read(op: Switch<'_>) -> Result<Self, Diagnostic> {
        let slice1 = power(op, ("slice1", op.slice1()?))?;
        let slice0 = power(op, ("slice0", op.slice0()?))?;
        let slices = machine(*op).topology.slices_per_cluster;
        match slice1.checked_mul(slice0).filter(|&ring| slices.is_multiple_of(ring)) {
            Some(_) => Ok(Self { slice1: slice1 as usize, slice0: slice0 as usize }),
            None => {
                let message =
                    format!("a ring of {slice1} * {slice0} slices does not divide the {slices} of a cluster");
                Err(op.clause_error("C2", "slice1", message))
            }
        }
    }

    fn ring(self) -> usize {
        self.slice1 * self.slice0
    }

    /// The bitmap of one ring, which every ring repeats: row by row.
    fn plain(self, row: impl Fn(usize) -> Vec<usize>) -> Route {
        Route::plain(self.ring(), Snoop { rows: (0..self.ring()).map(row).collect() })
    }

    /// The ring's members with the inner digit of this one.
    fn column(self, member: usize) -> Vec<usize> {
        (0..self.slice1).map(|s1| s1 * self.slice0 + member % self.slice0).collect()
    }

    fn broadcast01(self, op: Switch<'_>) -> Result<Route, Diagnostic> {
        let burst = time0(op)?;
        Ok(Route { group: self.slice0, burst, ..self.plain(|_| (0..self.ring()).collect()) })
    }

    fn broadcast1(self) -> Route {
        self.plain(|member| self.column(member))
    }

    fn transpose(self) -> Route {
        self.plain(|member| vec![member % self.slice1 * self.slice0 + member / self.slice1])
    }

    fn inter_transpose(self, op: Switch<'_>) -> Result<Route, Diagnostic> {
        let packets = time0(op)?;
        let pick = Pick { parts: self.slice1, packets, width: self.slice0 };
        Ok(Route { pick: Some(pick), ..self.plain(|member| self.column(member)) })
    }

    fn transposed_broadcast1(self) -> Route {
        self.plain(|member| {
            let first = member % self.slice1 * self.slice0;
            (first..first + self.slice0).collect()
        })
    }
}

/// C3 and C4, of the register alone.
fn time0(op: Switch<'_>) -> Result<usize, Diagnostic> {
    let time0 = given(*op, "C4", ("time0", op.time0()?))?;
    Ok(at_least(*op, "C3", ("time0", time0), 1)? as usize)
}

fn custom(op: Switch<'_>) -> Result<Route, Diagnostic> {
    let (ring, slices) = (power(op, ("ring", op.ring()?))?, machine(*op).topology.slices_per_cluster);
    if !slices.is_multiple_of(ring) {
        let message =
            format!("a ring of {} does not divide the {slices} of a cluster", counted(ring, "slice"));
        return Err(op.clause_error("C2", "ring", message));
    }
    let snoop = given(*op, "C4", ("snoop", op.snoop()?))?;
    let error = |constraint, message| Err(op.clause_error(constraint, "snoop", message));
    let (rows, ring) = (snoop.rows.len(), ring as usize);
    if !rows.is_multiple_of(ring) || !(slices as usize).is_multiple_of(rows) {
        let message = format!(
            "{}, expected whole rings of {} that divide the {slices} of a cluster",
            counted(rows, "row"),
            counted(ring, "slice"),
        );
        return error("C5", message);
    }
    let sources = snoop.rows[0].len();
    for (slice, row) in snoop.rows.iter().enumerate() {
        let members = slice / ring * ring..(slice / ring + 1) * ring;
        if let Some(source) = row.iter().find(|source| !members.contains(source)) {
            let (first, last) = (members.start, members.end - 1);
            let message =
                format!("row {slice} names slice {source}, expected a member of its ring, {first} to {last}");
            return error("C6", message);
        }
        if row.is_empty() || row.len() != sources {
            let expected =
                if sources == 0 { "at least 1".to_owned() } else { format!("{sources} as in row 0") };
            return error(
                "C7",
                format!("row {slice} names {}, expected {expected}", counted(row.len(), "slice")),
            );
        }
    }
    Ok(Route::plain(ring, (*snoop).clone()))
}

impl Unit for SwitchUnit {
    fn connect(&self, _machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        let route = &self.route;
        let (parts, time0) = route.pick.map_or((1, route.burst), |pick| (pick.parts, pick.packets));
        let step = (parts as u64).checked_mul(time0 as u64);
        if step.is_none_or(|step| !input.packets.is_multiple_of(step)) {
            let times = if parts > 1 {
                format!("{parts} times `time0`, {time0},")
            } else {
                format!("`time0` is {time0}, which")
            };
            let message = format!("{times} does not divide {}", counted(input.packets, "packet"));
            return Err(Mismatch::new("C3", "time0", message));
        }
        let packets = route.delivered(input.packets).ok_or_else(|| {
            Mismatch::new(
                "C2",
                "topology",
                format!("{} from each of {}", counted(input.packets, "packet"), counted(route.ring, "slice")),
            )
        })?;
        Ok(Wire { packets, ..input })
    }

    /// Book 13: ring size * input packets * cycles a packet, a cycle for each flit; the way along the ring comes
    /// on top, and in front of all the writing of a custom bitmap.
    fn cost(&self, machine: &Machine, input: Flow) -> StageCost {
        let flits = input.packet.div_ceil(self.flit);
        let ring = self.route.ring as u64;
        let cycles = ring.saturating_mul(input.packets).saturating_mul(flits);
        let packets = self.route.priced(input.packets);
        let out = Flow { packets, packet: input.packet };
        let latency = self.setup(machine).saturating_add(ring - 1);
        StageCost { engine: Engine::SWITCH, cycles, latency, macs: 0, out }
    }

    fn setup(&self, machine: &Machine) -> u64 {
        if self.custom { machine.bitmap_cycles() } else { 0 }
    }

    fn assumed(&self) -> Vec<&'static str> {
        if self.custom { vec!["timing.bitmap_word_cycles"] } else { Vec::new() }
    }
}

impl Exchange for SwitchUnit {
    fn exchange(&self, cx: RunCx<'_>, inputs: &[Stream], slice: usize) -> Option<Stream> {
        let ring = self.route.ring;
        let start = slice / ring * ring;
        let model = inputs.get(start..start + ring)?.iter().find(|member| !member.bytes.is_empty())?;
        let (size, count) = (model.packet, model.bytes.len() / model.packet);
        let expected = self.route.delivered(count as u64)? as usize * size;
        let mut bytes = Vec::with_capacity(expected);
        let mut marker = cx.marker();
        let mut shadow = marker.is_some().then(|| Vec::with_capacity(expected));
        self.route.deliver(slice, count, |Packet { source, time }| {
            let (member, range) = (&inputs[source], time * size..(time + 1) * size);
            match member.bytes.get(range.clone()) {
                Some(found) => bytes.extend_from_slice(found),
                None => Unwritten::of(model.dtype).extend(bytes.len() as u64, size, &mut bytes),
            }
            if let (Some(marker), Some(shadow)) = (&mut marker, &mut shadow) {
                match member.shadow.as_deref().and_then(|marks| marks.get(range)) {
                    Some(marks) => shadow.extend(marks.iter().map(|&mark| marker.through(mark))),
                    None => shadow.resize(bytes.len(), marker.through(Shadow::NEVER_WRITTEN)),
                }
            }
        });
        Some(Stream { dtype: model.dtype, packet: size, bytes, shadow, operand: None, lanes: None })
    }
}
