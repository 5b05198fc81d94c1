//! Programs and engines for tests. Slices move and add single bytes.

use std::ops::Range;

use visa_engine::shadow::Shadow;
use visa_engine::{
    Access, Engine, Flow, Map, RunCx, SliceMemory, Space, Stage, StageCost, Stream, Unit, Wire,
};
use visa_hw::program::{Buffer, Command, CommandKind, Context, Dma, Exec, PlacedStage, Program};
use visa_interpreter::{Interpreter, Options, RunError};
use visa_ir::span::Span;
use visa_loops::Steps;
use visa_machine::Machine;
use visa_numerics::DType;

/// The content of memory that was never written, from an address that is a multiple of eight (docs/numerics.md).
pub(crate) const UNWRITTEN: [u8; 8] = [0x77, 0x77, 0x77, 0x77, 0xf5, 0xf5, 0xf5, 0xf5];

/// A span that tests tell apart.
pub(crate) fn span(at: usize) -> Span {
    Span::new(at..at + 1)
}

pub(crate) fn program(chips: usize, buffers: Vec<Buffer>, kinds: Vec<CommandKind>) -> Program {
    let command = |(number, kind)| Command::new(span(number), kind);
    let commands = kinds.into_iter().enumerate().map(command).collect();
    Program { name: "test".to_owned(), chips, pes: None, buffers, scalars: Vec::new(), commands }
}

pub(crate) fn buffer(argument: bool, name: &str, space: Space, shape: &[u64], layout: &str) -> Buffer {
    Buffer {
        argument,
        name: name.to_owned(),
        space,
        dtype: DType::I8,
        shape: shape.to_vec(),
        layout: layout.parse().unwrap(),
        span: Span::default(),
    }
}

pub(crate) fn dma(from: Space, to: Space, loops: &str) -> CommandKind {
    let pcie = from == Space::HOST || to == Space::HOST;
    CommandKind::Dma(Dma::homogeneous(pcie, [from, to], loops.parse().unwrap(), 0))
}

/// A run on ranges of slices, first and one past the last.
pub(crate) fn exec(slices: &[[usize; 2]], stages: Vec<PlacedStage>) -> CommandKind {
    let slices = slices.iter().map(|&[from, to]| from..to).collect();
    CommandKind::Exec(Exec { context: Context::Main, slices, steps: Steps::default(), stages })
}

pub(crate) fn options(threads: usize, shadow: bool) -> Options {
    Options { threads: Some(threads), shadow, ..Options::default() }
}

/// Runs `program` on RNGD with the given arguments.
pub(crate) fn run<'a>(
    program: &'a Program,
    machine: &'a Machine,
    options: Options,
    arguments: &[(&str, &[u8])],
) -> Result<Interpreter<'a>, RunError> {
    let mut interpreter = Interpreter::new(program, machine, options)?;
    for (name, bytes) in arguments {
        interpreter.set_argument(name, bytes)?;
    }
    interpreter.run(&mut |_, _| {})?;
    Ok(interpreter)
}

fn cost(engine: Engine, flow: Flow) -> StageCost {
    StageCost { engine, cycles: flow.packets, latency: 0, macs: 0, out: flow }
}

/// Reads `range` of data memory as packets of 8 bytes.
pub(crate) struct Fetch(pub(crate) Range<usize>);

impl Unit for Fetch {
    fn cost(&self, _machine: &Machine, _input: Flow) -> StageCost {
        cost(Engine::FETCH, Flow { packets: self.0.len() as u64 / 8, packet: 8 })
    }
}

impl Map for Fetch {
    fn run(&self, cx: RunCx<'_>, memory: &SliceMemory, input: Stream) -> Stream {
        let mut bytes = Vec::new();
        memory.dm.read(self.0.clone(), &mut bytes);
        let shadow = cx.marker().map(|mut marker| {
            let mut marks = Vec::new();
            memory.dm.read_shadow(self.0.clone(), Shadow::NEVER_WRITTEN, &mut marks);
            marker.through_all(&mut marks);
            marks
        });
        Stream { packet: 8, bytes, shadow, ..input }
    }
}

impl From<Fetch> for PlacedStage {
    fn from(unit: Fetch) -> Self {
        Self {
            name: "test.fetch",
            span: span(100),
            stage: Stage::map(unit).into(),
            entering: Wire::NOTHING,
            steps: Steps::default(),
        }
    }
}

/// Gives every slice the stream of the slice `0` places further on, around the chip.
pub(crate) struct Rotate(pub(crate) usize);

impl Unit for Rotate {
    fn cost(&self, _machine: &Machine, input: Flow) -> StageCost {
        cost(Engine::SWITCH, input)
    }
}

impl visa_engine::Exchange for Rotate {
    fn exchange(&self, cx: RunCx<'_>, inputs: &[Stream], slice: usize) -> Option<Stream> {
        let input = &inputs[(slice + self.0) % inputs.len()];
        if !input.bytes.is_empty() {
            return Some(input.clone());
        }
        let shadow = cx.marker().map(|mut marker| vec![marker.through(Shadow::NEVER_WRITTEN); 8]);
        Some(Stream { packet: 8, bytes: vec![0; 8], shadow, ..input.clone() })
    }
}

impl From<Rotate> for PlacedStage {
    fn from(unit: Rotate) -> Self {
        Self {
            name: "test.rotate",
            span: span(101),
            stage: Stage::exchange(unit).into(),
            entering: Wire::NOTHING,
            steps: Steps::default(),
        }
    }
}

/// Adds a number to every byte.
pub(crate) struct Add(pub(crate) u8);

impl Unit for Add {
    fn cost(&self, _machine: &Machine, input: Flow) -> StageCost {
        cost(Engine::VECTOR, input)
    }
}

impl Map for Add {
    fn run(&self, cx: RunCx<'_>, _memory: &SliceMemory, mut input: Stream) -> Stream {
        for byte in &mut input.bytes {
            *byte = byte.wrapping_add(self.0);
        }
        if let (Some(mut marker), Some(marks)) = (cx.marker(), &mut input.shadow) {
            marker.through_all(marks);
        }
        input
    }
}

impl From<Add> for PlacedStage {
    fn from(unit: Add) -> Self {
        Self {
            name: "test.add",
            span: span(102),
            stage: Stage::map(unit).into(),
            entering: Wire::NOTHING,
            steps: Steps::default(),
        }
    }
}

/// Writes the stream to data memory at an address; claims to write `1` bytes there.
pub(crate) struct Store(pub(crate) usize, pub(crate) usize);

impl Unit for Store {
    fn cost(&self, _machine: &Machine, input: Flow) -> StageCost {
        cost(Engine::COMMIT, input)
    }
    fn accesses(&self) -> Vec<Access> {
        let start = self.0 as u64;
        vec![Access { space: Space::DM, write: true, range: start..start + self.1 as u64 }]
    }
}

impl visa_engine::Store for Store {
    fn store(&self, cx: RunCx<'_>, memory: &mut SliceMemory, mut stream: Stream) {
        memory.dm.write(self.0, &stream.bytes);
        if let (Some(mut marker), Some(marks)) = (cx.marker(), &mut stream.shadow) {
            marker.through_all(marks);
            memory.dm.write_shadow(self.0, marks);
        }
    }
}

impl From<Store> for PlacedStage {
    fn from(unit: Store) -> Self {
        Self {
            name: "test.store",
            span: span(103),
            stage: Stage::store(unit).into(),
            entering: Wire::NOTHING,
            steps: Steps::default(),
        }
    }
}
