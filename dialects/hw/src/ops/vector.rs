//! `hw.vector`: an ALU of the Vector Engine (books 20, 21).

use crate::attrs::{GUARDS, PROGRAM};
use crate::build::{Build, verify};
use crate::clauses::machine;
use crate::ops::vector_lanes::{self, ChangesLanes as _};
use crate::vrf::{ROW_BYTES, RegisterFile};
use crate::ways::way_bytes;
use std::borrow::Cow;
use visa_engine::place::{Station, rngd};
use visa_engine::shadow::{Marker, Shadow};
use visa_engine::words::LaneChange;
use visa_engine::{
    Access, Bank, Engine, Flow, Lanes, Map, Mismatch, RunCx, SliceMemory, Stage, StageCost, Stash, Stream,
    Unit, Wire,
};
use visa_ir::Word as _;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_loops::Program;
use visa_machine::Machine;
use visa_numerics::{
    AluName, AluOp, AluStage, Apply, ArgMode, Bits, DType, GuardFault, Guards, IdSet, Slot, VectorStage,
    alu_op, alu_ops, default_mode,
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&VECTOR];

/// `hw.vector`.
#[visa_ir::view(Vector)]
pub static VECTOR: OpDecl = OpDecl {
    name: "hw.vector",
    summary: "applies one ALU to every element",
    doc: "Every element of the stream becomes the ALU's result for it and up to two operands; `mode` assigns them \
          to the arguments (book 21, argument modes). An operand is a constant, or a value from a port: the element \
          with the same index in the output of the vector register file, one access of a packet's size for each \
          packet (book 20), or of the stash. Of three arguments two may be values, in the order of the operands \
          (book 21). With `when` the operation is conditional: the first guard that holds for an element's \
          execution id counts, its operand stands where no constant does, and an element for which none holds \
          passes unchanged. With `write_back` the results for whose ids a guard holds also replace the words of the \
          register file that the packet read, before the next packet reads (book 35, section 4).",
    constraints: &[
        (
            "C1",
            "the operands that the mode reads are given, the others are not; each that is no constant is `vrf` or \
             `stash`, the second such one `vrf1` or `stash1`",
        ),
        ("C2", "a constant fits a signed 32-bit integer; that of a float is its bit pattern"),
        ("C3", "the stage has the operation, for elements of the stream's format (book 21)"),
        (
            "C4",
            "the loops fit the sequencer, with accesses of one packet (book 07), or of a power of two of its \
             elements, repeated (w)",
        ),
        ("C5", "every address is in the vector register file (book 04)"),
        ("C6", "the loops make one access for each packet"),
        ("C7", "a packet is 8 elements, in the stages fp and fp_div 4 (book 21)"),
        (
            "C8",
            "the stash holds the stream's format, and its packets, split, trimmed, joined or padded to the \
             stream's width (book 21)",
        ),
        ("C9", "the mode is one of an operation with that many arguments (book 21)"),
        (
            "C10",
            "the slots of `when` all have an operand or none has: 3 immediates at most, then the port's, if there \
             is one value; conversions have no `when`",
        ),
        ("C11", "every guard holds for an execution id that no guard before it takes"),
        ("C12", "`write_back` has guards without operands, and `vrf` is there, the only value"),
    ],
    clauses: &[
        ClauseDecl::lead("op", ClauseKind::word::<AluName>(), "Function of the ALU."),
        ClauseDecl::default("stage", ClauseKind::word::<AluStage>(), "fxp", "The stage that holds the ALU."),
        ClauseDecl::optional(
            "mode",
            ClauseKind::word::<ArgMode>(),
            "The arguments; if absent the stream, then the operands.",
        ),
        ClauseDecl::optional("constant", ClauseKind::Int, "Operand 0: a signed 32-bit integer."),
        ClauseDecl::optional(
            "constant1",
            ClauseKind::Int,
            "Operand 1, of three arguments: a signed 32-bit integer.",
        ),
        ClauseDecl::optional(
            "when",
            ClauseKind::body::<Guards<i32>>(&GUARDS),
            "Where it applies, by execution id, and with which operand.",
        ),
        ClauseDecl::optional(
            "write_back",
            ClauseKind::body::<Guards<i32>>(&GUARDS),
            "Where results go to the register file, by execution id.",
        ),
        ClauseDecl::optional(
            "vrf",
            ClauseKind::body::<Program>(&PROGRAM),
            "Addresses in the vector register file, bytes.",
        ),
        ClauseDecl::optional("stash", ClauseKind::Flag, "The operand is the stash."),
        ClauseDecl::optional("vrf1", ClauseKind::body::<Program>(&PROGRAM), "The same of the second value."),
        ClauseDecl::optional("stash1", ClauseKind::Flag, "The second value is the stash."),
    ],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[
        reads(Target::Stream),
        reads(Target::Memory("vrf")).with("vrf"),
        reads(Target::Memory("vrf")).with("vrf1"),
        writes(Target::Memory("vrf")).with("write_back"),
        writes(Target::Stream),
    ]),
    verify: Some(|op, _| verify(op)),
    example: "hw.vector AddFxp, constant 1",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Build::Alone(|op| Ok(Stage::map(read(op)?)))),
        Interface(&Station::Word("stage", |word| AluStage::from_word(word).map(AluStage::stage))),
    ],
    ..OpDecl::BASE
};

/// Where an operand comes from.
#[derive(Clone, Copy)]
enum Source {
    /// The mode does not read it.
    Unused,
    Constant(Bits),
    /// The value of that port.
    Port(usize),
    /// The slot of the guard that holds.
    Chosen,
}

/// The clauses of the first value and of the second: in the register file, in the stash.
const VALUES: [[&str; 2]; 2] = [["vrf", "stash"], ["vrf1", "stash1"]];

/// The operand that a port of the ALU reads.
enum Port {
    Vrf(Box<RegisterFile>),
    Stash,
}

impl Port {
    /// The clause by which the first value or the second is there.
    fn clause(&self, number: usize) -> &'static str {
        let [vrf, stash] = VALUES[number];
        match self {
            Self::Vrf(_) => vrf,
            Self::Stash => stash,
        }
    }
}

struct VectorUnit {
    name: AluName,
    stage: VectorStage,
    mode: ArgMode,
    sources: [Source; 2],
    /// The values, one for each operand that is no constant and that no guard chooses.
    ports: Vec<Port>,
    guards: Option<Guards<Bits>>,
    write_back: Option<Guards<i32>>,
}

/// The row of `stage` with the name in the text, for any format; they all have the same number of arguments.
fn row(op: Vector<'_>, stage: VectorStage) -> Result<&'static AluOp, Diagnostic> {
    let name = op.op()?;
    alu_ops().find(|row| row.stage == stage && row.name == name).ok_or_else(|| {
        let here: Vec<&str> = alu_ops().filter(|row| row.stage == stage).map(|row| row.name.word()).collect();
        let message = format!("the stage {stage} has no `{name}`, expected one of `{}`", here.join("`, `"));
        op.clause_error("C3", "op", message)
    })
}

fn read(op: OpRef<'_>) -> Result<VectorUnit, Diagnostic> {
    let op = Vector::of(op)?;
    let stage = op.stage()?.stage();
    let row = row(op, stage)?;
    let mode = mode(op, row)?;
    let ports = ports(op)?;
    let guards = guards(op, row, ports.len())?;
    let chosen = guards.as_ref().is_some_and(|guards| guards.0.iter().any(|(_, slot)| *slot != Slot::Apply));
    let fillers = if chosen { vec![Source::Chosen] } else { (0..ports.len()).map(Source::Port).collect() };
    let mut free = fillers.into_iter();
    let mut sources = [Source::Unused; 2];
    let constants = [("constant", op.constant()?), ("constant1", op.constant1()?)];
    for ((source, (clause, number)), read) in sources.iter_mut().zip(constants).zip(mode.operands()) {
        *source = match (read, constant(*op, clause, number)?) {
            (true, Some(bits)) => Source::Constant(bits),
            (true, None) => free.next().ok_or_else(|| {
                let [vrf, stash] = VALUES[ports.len().min(1)];
                op.error("C1", format!("there is no operand, expected `{clause}`, `{vrf}` or `{stash}`"))
            })?,
            (false, None) => Source::Unused,
            (false, Some(_)) => {
                let message = format!("`{clause}` is there, but `{}` does not read it", mode);
                return Err(op.clause_error("C1", clause, message));
            }
        };
    }
    if let Some(filler) = free.next() {
        let clause = match filler {
            Source::Port(number) => ports[number].clause(number),
            Source::Chosen | Source::Constant(_) | Source::Unused => "when",
        };
        let message = match op.constant()? {
            Some(_) => format!("`constant` and `{clause}` are both there, expected one of them"),
            None => format!("`{clause}` is there, but `{}` reads no operand", mode),
        };
        return Err(op.clause_error("C1", clause, message));
    }
    Ok(VectorUnit { name: row.name, stage, mode, sources, ports, guards, write_back: write_back(op)? })
}

fn mode(op: Vector<'_>, row: &AluOp) -> Result<ArgMode, Diagnostic> {
    let Some(mode) = op.mode()? else { return Ok(default_mode(row.apply.arity())) };
    if mode.args().len() == row.apply.arity() {
        return Ok(mode);
    }
    let arguments = counted(row.apply.arity(), "argument");
    let message = format!("`{mode}` does not fit `{}`, which has {arguments}", row.name);
    Err(op.clause_error("C9", "mode", message))
}

fn constant(op: OpRef<'_>, clause: &str, number: Option<i64>) -> Result<Option<Bits>, Diagnostic> {
    let Some(constant) = number else { return Ok(None) };
    let Ok(constant) = i32::try_from(constant) else {
        let message = format!("`{clause}` is {constant}, expected {} to {}", i32::MIN, i32::MAX);
        return Err(op.clause_error("C2", clause, message));
    };
    Ok(Some(constant.cast_unsigned()))
}

/// The values, first to last.
fn ports(op: Vector<'_>) -> Result<Vec<Port>, Diagnostic> {
    let mut ports = Vec::new();
    let values = [(op.vrf()?, op.stash()), (op.vrf1()?, op.stash1())];
    for (number, ([vrf, stash], value)) in VALUES.into_iter().zip(values).enumerate() {
        let port = match value {
            (Some(_), true) => {
                let message = format!("`{vrf}` and `{stash}` are both there, expected one of them");
                return Err(op.clause_error("C1", stash, message));
            }
            (Some(program), false) => Port::Vrf(Box::new(RegisterFile::of(*op, (vrf, program))?)),
            (None, true) => Port::Stash,
            (None, false) => continue,
        };
        if ports.len() < number {
            let clause = port.clause(number);
            return Err(op.clause_error(
                "C1",
                clause,
                format!("`{clause}` is the second value, but there is no first"),
            ));
        }
        ports.push(port);
    }
    Ok(ports)
}

/// C10 and C11.
fn guards(op: Vector<'_>, row: &AluOp, ports: usize) -> Result<Option<Guards<Bits>>, Diagnostic> {
    let Some(written) = op.when()? else { return Ok(None) };
    let refuse = |message: String| Err(op.clause_error("C10", "when", message));
    if row.from != row.to {
        return refuse(format!(
            "{} converts: an element that passes unchanged would have the other format",
            row.name
        ));
    }
    let has = |wanted: fn(&Slot<i32>) -> bool| written.0.iter().any(|(_, slot)| wanted(slot));
    let (bare, value) = (has(|slot| *slot == Slot::Apply), has(|slot| *slot == Slot::Value));
    if bare && has(|slot| *slot != Slot::Apply) {
        return refuse("some guards choose an operand, others do not".to_owned());
    }
    if !bare && ports > 1 {
        return refuse("a guard chooses an operand, but both are values".to_owned());
    }
    if !bare && value != (ports == 1) {
        let (chosen, reads) =
            (if value { "" } else { "not " }, if ports == 1 { "reads" } else { "does not read" });
        return refuse(format!("`value` is {chosen}chosen, but the port {reads}"));
    }
    match written.check(machine(*op).limits.vector_immediates, IdSet::MAX) {
        Ok(()) => written.try_map(|value| Ok(value.cast_unsigned())).map(Some),
        Err(GuardFault::Slots(message)) => refuse(message),
        Err(GuardFault::Dead(message, fix)) => Err(op.clause_error("C11", "when", message).fix(Some(fix))),
    }
}

/// C12.
fn write_back(op: Vector<'_>) -> Result<Option<Guards<i32>>, Diagnostic> {
    let Some(written) = op.write_back()? else { return Ok(None) };
    let refuse = |message: String| Err(op.clause_error("C12", "write_back", message));
    if op.vrf()?.is_none() {
        return refuse("there is no `vrf` to write to".to_owned());
    }
    if op.vrf1()?.is_some() || op.stash1() {
        return refuse("there are two values, expected `vrf` alone".to_owned());
    }
    if written.0.iter().any(|(_, slot)| *slot != Slot::Apply) {
        return refuse("a guard of `write_back` has no operand".to_owned());
    }
    match written.check(0, IdSet::MAX) {
        Ok(()) => Ok(Some((*written).clone())),
        Err(GuardFault::Slots(message) | GuardFault::Dead(message, _)) => refuse(message),
    }
}

/// The rule for reading a stash in packets of another width than it was written in.
enum Reread {
    Same,
    As(LaneChange),
}

impl Reread {
    fn of(stash: Flow, stream: Flow) -> Option<Self> {
        if stash == stream { Some(Self::Same) } else { vector_lanes::between(stash, stream).map(Self::As) }
    }
}

/// So many bytes in packets.
fn flow(bytes: usize, packet: usize) -> Flow {
    Flow { packets: (bytes / packet.max(1)) as u64, packet: packet as u64 }
}

/// Items of a stash, one a byte, in the packets of the stream; `fill` in lanes that it does not have.
fn reread<'a, T: Copy>(items: &'a [T], stash: &Stash, stream: Flow, fill: T) -> Cow<'a, [T]> {
    match Reread::of(flow(items.len(), stash.packet), stream) {
        Some(Reread::As(how)) => Cow::Owned(how.items(items.to_vec(), stash.packet, fill)),
        Some(Reread::Same) | None => Cow::Borrowed(items),
    }
}

/// The execution ids of elements from `first` on; all 0 where elements travel without ids.
#[derive(Clone, Copy)]
struct Ids<'a> {
    beside: Option<&'a Lanes>,
    first: usize,
}

impl Ids<'_> {
    fn of(self, at: usize) -> u8 {
        self.beside.map_or(0, |lanes| lanes.id(self.first + at))
    }

    fn mark(self, at: usize) -> Shadow {
        self.beside.map_or(Shadow::DEFINED, |lanes| lanes.id_mark(self.first + at))
    }
}

/// The word that a port delivers for an element.
fn delivered(port: &[[u8; 4]], at: usize) -> Bits {
    port.get(at).map_or(0, |word| Bits::from_le_bytes(*word))
}

impl VectorUnit {
    fn check_port(port: &Port, [vrf, stash]: [&'static str; 2], input: &Wire) -> Result<(), Mismatch> {
        match port {
            Port::Vrf(file) => file.check(vrf, input),
            Port::Stash
                if !input.stash.is_some_and(|(dtype, flow)| {
                    dtype == input.dtype && Reread::of(flow, input.flow()).is_some()
                }) =>
            {
                let found = match input.stash {
                    Some((dtype, flow)) => format!(
                        "{} of {} of {dtype}",
                        counted(flow.packets, "packet"),
                        counted(flow.packet, "byte")
                    ),
                    None => "nothing".to_owned(),
                };
                let Wire { dtype, packets, packet, .. } = input;
                let message = format!(
                    "the stash holds {found}, the stream is {} of {} of {dtype}",
                    counted(*packets, "packet"),
                    counted(*packet, "byte")
                );
                Err(Mismatch::new("C8", stash, message))
            }
            Port::Stash => Ok(()),
        }
    }

    /// C12: the words written back replace a packet's words, each of which a separate lane read.
    fn check_write_back(&self, port: &Port, input: &Wire) -> Result<(), Mismatch> {
        match port {
            Port::Vrf(file) if self.write_back.is_some() && file.read_size() != input.packet => {
                let message = format!(
                    "lanes share the {} of an access, expected packets of {}, as each lane writes back its own",
                    counted(file.read_size(), "byte"),
                    input.packet
                );
                Err(Mismatch::new("C12", "write_back", message))
            }
            Port::Vrf(_) | Port::Stash => Ok(()),
        }
    }

    /// The operand that a port delivers, element by element; empty where it is not used.
    fn operand<'a>(
        &self,
        number: usize,
        memory: &SliceMemory,
        stash: Option<&'a Stash>,
        stream: Flow,
    ) -> Cow<'a, [u8]> {
        match self.ports.get(number) {
            None => Cow::Borrowed(&[]),
            Some(Port::Stash) => {
                stash.map_or(Cow::Borrowed(&[]), |stash| reread(&stash.bytes, stash, stream, 0))
            }
            Some(Port::Vrf(file)) => Cow::Owned(file.words(memory, stream.packet as usize)),
        }
    }

    /// Applies the ALU to every element of `bytes`.
    fn apply(&self, row: &AluOp, bytes: &mut [u8], ports: [&[u8]; 2], ids: Ids<'_>) {
        let ports = ports.map(|port| port.as_chunks::<4>().0);
        let (elements, _) = bytes.as_chunks_mut::<4>();
        if let Some(guards) = &self.guards {
            return self.apply_guarded(row, guards, elements, ports, ids);
        }
        let constant = |source| if let Source::Constant(bits) = source { bits } else { 0 };
        let constants = self.sources.map(constant);
        if ports[0].is_empty() {
            for element in elements {
                *element = row.apply.eval(self.mode, Bits::from_le_bytes(*element), constants).to_le_bytes();
            }
            return;
        }
        // The usual case without its choices.
        if let (Apply::Binary(apply), true) = (row.apply, self.mode == default_mode(2)) {
            for (element, operand) in elements.iter_mut().zip(ports[0]) {
                *element = apply(Bits::from_le_bytes(*element), Bits::from_le_bytes(*operand)).to_le_bytes();
            }
            return;
        }
        for (at, element) in elements.iter_mut().enumerate() {
            let operands = self.sources.map(|source| match source {
                Source::Constant(bits) => bits,
                Source::Port(number) => delivered(ports[number], at),
                Source::Unused | Source::Chosen => 0,
            });
            *element = row.apply.eval(self.mode, Bits::from_le_bytes(*element), operands).to_le_bytes();
        }
    }

    /// Applies the ALU where a guard holds.
    fn apply_guarded(
        &self,
        row: &AluOp,
        guards: &Guards<Bits>,
        elements: &mut [[u8; 4]],
        ports: [&[[u8; 4]]; 2],
        ids: Ids<'_>,
    ) {
        let slots: [Option<Slot<Bits>>; 16] = std::array::from_fn(|id| guards.slot(id as u8).copied());
        for (at, element) in elements.iter_mut().enumerate() {
            let Some(slot) = slots[usize::from(ids.of(at) & 15)] else { continue };
            let operands = self.sources.map(|source| match (source, slot) {
                (Source::Unused, _) => 0,
                (Source::Constant(bits), _) | (Source::Chosen, Slot::Immediate(bits)) => bits,
                (Source::Port(number), _) => delivered(ports[number], at),
                (Source::Chosen, Slot::Value | Slot::Apply) => delivered(ports[0], at),
            });
            *element = row.apply.eval(self.mode, Bits::from_le_bytes(*element), operands).to_le_bytes();
        }
    }

    /// The arguments that an element with this id has: of the stream's element and of the ports' elements, which it
    /// depends on.
    fn depends(&self, id: u8) -> (bool, bool) {
        let own = self.mode.reads_stream();
        match &self.guards {
            None => (own, !self.ports.is_empty()),
            Some(guards) => match guards.slot(id) {
                None => (true, false),
                Some(Slot::Immediate(_)) => (own, false),
                Some(Slot::Apply | Slot::Value) => (own, !self.ports.is_empty()),
            },
        }
    }

    /// One mark an element: of its id where the operation is conditional, of the stream's element where it is an
    /// argument, and of the operand that the port delivers. `first` is the number of the first element in its stream.
    fn mark(
        &self,
        marker: &mut Marker<'_>,
        marks: &mut [Shadow],
        port: &[Shadow],
        beside: Option<&Lanes>,
        first: usize,
    ) {
        let beside = beside.filter(|_| self.guards.is_some());
        for (at, element) in marks.chunks_mut(4).enumerate() {
            let ids = Ids { beside, first };
            let (own, read) = self.depends(ids.of(at));
            let used = |used: bool, marks: &[Shadow]| if used { Shadow::all(marks) } else { Shadow::DEFINED };
            let operand = port.get(4 * at..4 * at + 4).unwrap_or_default();
            let mark = used(own, element).or(used(read, operand)).or(ids.mark(at));
            element.fill(marker.through(mark));
        }
    }

    /// The marks of the operands that the ports deliver: of a byte of one and of the other, if there are two.
    fn port_marks(&self, memory: &SliceMemory, stream: &Stream) -> Vec<Shadow> {
        let mut all = self.ports.iter().map(|port| Self::marks_of(port, memory, stream));
        let Some(first) = all.next() else { return Vec::new() };
        all.fold(first, |first, second| {
            first.into_iter().zip(second).map(|(first, second)| first.or(second)).collect()
        })
    }

    fn marks_of(port: &Port, memory: &SliceMemory, stream: &Stream) -> Vec<Shadow> {
        match port {
            Port::Stash => {
                let stash = stream.lanes.as_ref().and_then(|lanes| lanes.stash.as_ref());
                let flow = flow(stream.bytes.len(), stream.packet);
                let marks = stash.and_then(|stash| {
                    Some(reread(stash.shadow.as_ref()?, stash, flow, Shadow::NEVER_WRITTEN).into_owned())
                });
                marks.unwrap_or_default()
            }
            Port::Vrf(file) => file.marks(memory, stream.packet),
        }
    }

    /// One packet after the other, each of which leaves results in the register file for the next.
    fn run_writing(
        &self,
        cx: RunCx<'_>,
        (row, reads): (&AluOp, &RegisterFile),
        file: &Bank,
        input: &mut Stream,
    ) {
        let Some(write_back) = &self.write_back else { return };
        let size = input.packet.max(1);
        let mut file = file.clone();
        let mut lanes = input.lanes.take().unwrap_or_default();
        let mut marker = cx.marker();
        for ((number, packet), &address) in input.bytes.chunks_mut(size).enumerate().zip(reads.addresses()) {
            let (address, first) = (address as usize, number * size / 4);
            let range = address..address + packet.len();
            let mut port = Vec::with_capacity(size);
            file.read(range.clone(), &mut port);
            self.apply(row, packet, [&port, &[]], Ids { beside: Some(&lanes), first });
            let marks = input
                .shadow
                .as_mut()
                .and_then(|marks| marks.get_mut(number * size..number * size + packet.len()));
            let mut marks = marker.as_mut().zip(marks).map(|(marker, marks)| {
                let mut port = Vec::with_capacity(size);
                file.read_shadow(range, Shadow::NEVER_WRITTEN, &mut port);
                self.mark(marker, marks, &port, Some(&lanes), first);
                marks
            });
            for (lane, word) in packet.chunks(4).enumerate() {
                if write_back.slot(lanes.id(first + lane)).is_none() {
                    continue;
                }
                file.write(address + 4 * lane, word);
                if let Some(marks) = &mut marks {
                    let id_mark = lanes.id_mark(first + lane);
                    file.write_shadow(
                        address + 4 * lane,
                        &[Shadow::all(&marks[4 * lane..4 * lane + 4]).or(id_mark); 4],
                    );
                }
            }
        }
        lanes.written = Some(file);
        input.lanes = Some(lanes);
    }
}

impl Unit for VectorUnit {
    fn connect(&self, machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        let Some(row) = alu_op(self.stage, self.name, input.dtype) else {
            let able: Vec<&str> = DType::all()
                .filter(|&dtype| alu_op(self.stage, self.name, dtype).is_some())
                .map(DType::name)
                .collect();
            let message = format!(
                "{} works on {}, the stream's elements are {}",
                self.name,
                able.join(" and "),
                input.dtype
            );
            return Err(Mismatch::new("C3", "op", message));
        };
        let wanted = way_bytes(self.stage, machine);
        if input.packet != wanted {
            let message = format!(
                "the stage {} takes packets of {}, found {}",
                self.stage,
                counted(wanted, "byte"),
                input.packet
            );
            return Err(Mismatch::new("C7", "stage", message));
        }
        for (port, clauses) in self.ports.iter().zip(VALUES) {
            Self::check_port(port, clauses, &input)?;
            self.check_write_back(port, &input)?;
        }
        Ok(Wire { dtype: row.to, ..input })
    }

    /// Both ports read at the same time: the one with more rows counts.
    fn operand_rows(&self, input: &Wire) -> u64 {
        let of_port = |port: &Port| match port {
            Port::Vrf(file) => file.rows(),
            Port::Stash => input
                .stash
                .map_or(0, |(_, held)| held.packets.saturating_mul(held.packet).div_ceil(ROW_BYTES as u64)),
        };
        self.ports.iter().map(of_port).fold(0, u64::max)
    }

    fn cost(&self, machine: &Machine, input: Flow) -> StageCost {
        let latency = machine.timing.alu_latency_cycles;
        StageCost { engine: Engine::VECTOR, cycles: input.packets, latency, macs: 0, out: input }
    }

    fn accesses(&self) -> Vec<Access> {
        let of_port = |port: &Port| match port {
            Port::Vrf(file) => {
                let written = self.write_back.is_some().then(|| file.access(true));
                [Some(file.access(false)), written].into_iter().flatten().collect()
            }
            Port::Stash => Vec::new(),
        };
        self.ports.iter().flat_map(of_port).collect()
    }
}

impl Map for VectorUnit {
    fn run(&self, cx: RunCx<'_>, memory: &SliceMemory, mut input: Stream) -> Stream {
        let Some(row) = alu_op(self.stage, self.name, input.dtype) else { return input };
        input.dtype = row.to;
        if let (Some(Port::Vrf(file)), Some(_)) = (self.ports.first(), &self.write_back) {
            self.run_writing(cx, (row, file), &memory.vrf, &mut input);
            return input;
        }
        let stash = input.lanes.as_ref().and_then(|lanes| lanes.stash.as_ref());
        let flow = flow(input.bytes.len(), input.packet);
        let ports = [0, 1].map(|number| self.operand(number, memory, stash, flow));
        let ids = Ids { beside: input.lanes.as_deref(), first: 0 };
        self.apply(row, &mut input.bytes, [&ports[0], &ports[1]], ids);
        drop(ports);
        if let Some(mut marker) = cx.marker() {
            let port = self.port_marks(memory, &input);
            if let Some(marks) = &mut input.shadow {
                self.mark(&mut marker, marks, &port, input.lanes.as_deref(), 0);
            }
        }
        input
    }
}
