//! Commands whose every cost is given.

use std::ops::Range;

use visa_cost::{MemoryModel, Report, price};
use visa_engine::{
    Access, BankUse, BankWalk, Engine, Flow, Map, Mismatch, RunCx, SliceMemory, Space, Stage, StageCost,
    Store, Stream, TreeUse, Unit, Wire,
};
use visa_hw::program::{self, Command, CommandKind, Context, Dma, Exec, PlacedStage};
use visa_ir::span::Span;
use visa_loops::{Program, Steps};
use visa_machine::Machine;
use visa_numerics::DType;

/// A stage of fixed cost.
#[derive(Clone)]
pub(crate) struct Fixed {
    pub(crate) name: &'static str,
    pub(crate) cost: StageCost,
    /// The format that it hands on.
    pub(crate) dtype: DType,
    pub(crate) accesses: Vec<Access>,
    pub(crate) bank: Option<BankUse>,
    pub(crate) trees: Option<TreeUse>,
    /// The slice bitmap, if it has one.
    pub(crate) stored: Option<Vec<Range<usize>>>,
    /// The loops in which it takes banks of data memory, if it does.
    pub(crate) walk: Option<Program>,
    /// Cycles in which it writes registers first.
    pub(crate) setup: u64,
}

/// A stage that keeps `engine` busy for `cycles` and makes a packet of 8 bytes a cycle.
pub(crate) fn stage(name: &'static str, engine: Engine, cycles: u64) -> Fixed {
    let out = Flow { packets: cycles, packet: 8 };
    let cost = StageCost { engine, cycles, latency: 0, macs: 0, out };
    Fixed {
        name,
        cost,
        dtype: DType::Bf16,
        accesses: Vec::new(),
        bank: None,
        trees: None,
        stored: None,
        walk: None,
        setup: 0,
    }
}

impl Fixed {
    pub(crate) fn latency(mut self, cycles: u64) -> Self {
        self.cost.latency = cycles;
        self
    }

    pub(crate) fn macs(mut self, macs: u64) -> Self {
        self.cost.macs = macs;
        self
    }

    pub(crate) fn dtype(mut self, dtype: DType) -> Self {
        self.dtype = dtype;
        self
    }

    pub(crate) fn bank(mut self, bank: BankUse) -> Self {
        self.bank = Some(bank);
        self
    }

    pub(crate) fn trees(mut self, trees: TreeUse) -> Self {
        self.trees = Some(trees);
        self
    }

    /// With loops over data memory, in bytes.
    pub(crate) fn walks(mut self, loops: &str) -> Self {
        self.walk = Some(loops.parse().expect(loops));
        self
    }

    /// Sets the cycles at its start in which it writes registers.
    pub(crate) fn sets_up(mut self, cycles: u64) -> Self {
        (self.setup, self.cost.latency) = (cycles, cycles);
        self
    }

    pub(crate) fn stores_in(mut self, slices: Range<usize>) -> Self {
        self.stored = Some(vec![slices]);
        self
    }

    pub(crate) fn reads(mut self, space: Space, range: Range<u64>) -> Self {
        self.accesses.push(Access { space, write: false, range });
        self
    }

    pub(crate) fn writes(mut self, space: Space, range: Range<u64>) -> Self {
        self.accesses.push(Access { space, write: true, range });
        self
    }
}

impl Unit for Fixed {
    fn connect(&self, _machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        Ok(Wire { dtype: self.dtype, ..input })
    }
    fn cost(&self, _machine: &Machine, _input: Flow) -> StageCost {
        self.cost
    }
    fn fetched(&self) -> u64 {
        let Flow { packets, packet } = self.cost.out;
        if self.cost.engine == Engine::FETCH { packets * packet } else { 0 }
    }
    fn bank_use(&self, _machine: &Machine, _input: Flow) -> Option<BankUse> {
        self.bank
    }
    fn tree_use(&self, _machine: &Machine, _input: Flow) -> Option<TreeUse> {
        self.trees
    }
    fn accesses(&self) -> Vec<Access> {
        self.accesses.clone()
    }
    fn bank_walk(&self) -> Option<BankWalk<'_>> {
        self.walk.as_ref().map(|loops| BankWalk { loops, alike: true })
    }
    fn setup(&self, _machine: &Machine) -> u64 {
        self.setup
    }
}

impl Map for Fixed {
    fn run(&self, _cx: RunCx<'_>, _memory: &SliceMemory, input: Stream) -> Stream {
        input
    }
}

impl Store for Fixed {
    fn store(&self, _cx: RunCx<'_>, _memory: &mut SliceMemory, _stream: Stream) {}
    fn slices(&self) -> Option<&[Range<usize>]> {
        self.stored.as_deref()
    }
}

impl From<&Fixed> for PlacedStage {
    fn from(fixed: &Fixed) -> Self {
        let stage =
            if fixed.stored.is_some() { Stage::store(fixed.clone()) } else { Stage::map(fixed.clone()) };
        Self {
            name: fixed.name,
            span: Span::default(),
            stage: stage.into(),
            entering: Wire::NOTHING,
            steps: Steps::default(),
        }
    }
}

pub(crate) fn exec(context: Context, slices: Range<usize>, stages: &[Fixed]) -> CommandKind {
    let mut entering = Wire::NOTHING;
    let placed = |fixed: &Fixed| {
        let stage = PlacedStage { entering: entering.clone(), ..PlacedStage::from(fixed) };
        entering.dtype = fixed.dtype;
        stage
    };
    let stages = stages.iter().map(placed).collect();
    CommandKind::Exec(Exec { context, slices: vec![slices], steps: Steps::default(), stages })
}

/// A run of 100 cycles on all slices that reads or writes according to `access`.
pub(crate) fn busy(context: Context, access: impl Fn(Fixed) -> Fixed) -> CommandKind {
    exec(context, 0..512, &[access(stage("test.work", Engine::VECTOR, 100))])
}

pub(crate) fn dma(from: Space, to: Space, loops: &str) -> CommandKind {
    let pcie = from == Space::HOST || to == Space::HOST;
    CommandKind::Dma(Dma::homogeneous(pcie, [from, to], loops.parse().unwrap(), 0))
}

/// The price on RNGD; command `n` is at byte `n`.
pub(crate) fn report(chips: usize, kinds: Vec<CommandKind>) -> Report {
    report_by(MemoryModel::Flat, chips, kinds)
}

/// The same by a model of memories.
pub(crate) fn report_by(model: MemoryModel, chips: usize, kinds: Vec<CommandKind>) -> Report {
    let command = |(at, kind)| Command::new(Span::new(at..at + 1), kind);
    let commands = kinds.into_iter().enumerate().map(command).collect();
    let name = "test".to_owned();
    let (buffers, scalars) = (Vec::new(), Vec::new());
    price(&program::Program { name, chips, pes: None, buffers, scalars, commands }, &Machine::rngd(), model)
        .expect("the model has a price for all")
}
