//! One pass through the vector engine: which values it can compute, and how (book 21).
//!
//! A pass is a chain. The stream enters, each operation takes it and gives the next one; the other arguments are
//! numbers, and at most one value: of the register file, or the stream as it was further in front, which the stash has
//! kept. Stages come in their order, and each ALU works once. So the search for a value starts from the end: the
//! operation that gives it, its stage, and the values required before that. A question is a [`State`]; there are few,
//! and each is answered once.

use super::language::Equals;
use std::collections::{BTreeSet, HashMap};
use visa_ir::Word as _;
use visa_numerics::{
    Alu, AluName, AluOp, Arg, ArgMode, Bits, DType, VectorStage, alu_op, alu_ops, default_mode,
};

/// The stages with ALUs, in their order.
const STAGES: [VectorStage; 7] = [
    VectorStage::Logic,
    VectorStage::Fxp,
    VectorStage::FxpToFp,
    VectorStage::Float,
    VectorStage::FpDiv,
    VectorStage::FpToFxp,
    VectorStage::Clip,
];

/// The cost of a pass, compared in this order: a pass through the 4 lanes, which doubles its packets; values that it
/// loads into the register file; operations, a cycle of latency each; and modes. The cost function of the report
/// (`visa_cost`) orders passes likewise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cost {
    pub(crate) narrow: u32,
    pub(crate) loads: u32,
    pub(crate) operations: u32,
    /// Operations whose arguments do not have the stream first: no slower, but longer to read.
    pub(crate) modes: u32,
}

impl std::ops::Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            narrow: self.narrow + other.narrow,
            loads: self.loads + other.loads,
            operations: self.operations + other.operations,
            modes: self.modes + other.modes,
        }
    }
}

/// The values that are there before a pass.
#[derive(Clone, Debug, Default)]
pub(crate) struct Available {
    /// Those that can be its stream.
    pub(crate) streams: BTreeSet<usize>,
    /// Those that can be operands from the register file.
    pub(crate) files: BTreeSet<usize>,
    /// Those of them that are there already, and cost nothing to load.
    pub(crate) loaded: BTreeSet<usize>,
}

/// A step of a pass.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// The stash keeps the stream, in packets of 4 lanes or of 8.
    Stash { narrow: bool },
    /// An operation.
    Operate(Operation),
}

/// An operation of a pass.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) row: &'static AluOp,
    pub(crate) mode: ArgMode,
    /// Operand 0 and operand 1 of the mode.
    pub(crate) operands: [Option<Source>; 2],
}

/// The kind of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    Number(Bits),
    /// A class, from the register file.
    File(usize),
    Stash,
}

/// A pass: the class that enters, and the steps applied to it.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    pub(crate) stream: usize,
    pub(crate) steps: Vec<Step>,
}

/// The value that has to flow at some point of the pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Goal {
    /// This class.
    Class(usize),
    /// Anything of this format: the next operation does not look at it.
    Any(DType),
}

/// The value that the pass in front of some point must leave in the stash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Stash {
    /// Nothing after it reads it.
    Free,
    /// It must have kept this class, in packets of 4 lanes or of 8.
    Owed(usize, bool),
    /// It has, already.
    Kept,
}

/// A point in a pass and the values required there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct State {
    goal: Goal,
    /// Position in [`STAGES`]; later stages come after the place.
    stage: usize,
    /// The ALUs of that stage that work after the place.
    used: u32,
    /// True if anything after works on 4 lanes.
    narrow: bool,
    stash: Stash,
}

/// The derivation of a state.
#[derive(Clone, Debug)]
enum Move {
    Begin(usize),
    /// From a state in front; steps in the order in which they run.
    After(State, Vec<Step>),
}

/// Finds the values that one pass can compute from the available ones.
pub(crate) struct Passes<'a> {
    equals: &'a Equals,
    available: &'a Available,
    /// An ALU that may work twice: to find the ALU that a pass lacks.
    spare: Option<Alu>,
    known: HashMap<State, Option<(Cost, Move)>>,
}

impl<'a> Passes<'a> {
    pub(crate) fn new(equals: &'a Equals, available: &'a Available) -> Self {
        Self { equals, available, spare: None, known: HashMap::new() }
    }

    /// The same with an ALU that may work twice.
    pub(crate) fn with_spare(equals: &'a Equals, available: &'a Available, spare: Alu) -> Self {
        Self { spare: Some(spare), ..Self::new(equals, available) }
    }

    /// The lowest cost of a pass that computes `class`, if there is one.
    pub(crate) fn cost(&mut self, class: usize) -> Option<Cost> {
        self.find(end(class))
    }

    /// Number of questions answered so far.
    pub(crate) fn questions(&self) -> usize {
        self.known.len()
    }

    /// The cheapest pass that computes `class`.
    pub(crate) fn chain(&mut self, class: usize) -> Option<Chain> {
        self.cost(class)?;
        let (mut state, mut after) = (end(class), Vec::new());
        loop {
            match &self.known.get(&state)?.as_ref()?.1 {
                Move::Begin(stream) => {
                    let steps = after.into_iter().rev().collect();
                    return Some(Chain { stream: *stream, steps });
                }
                Move::After(front, steps) => {
                    after.extend(steps.iter().rev().cloned());
                    state = *front;
                }
            }
        }
    }

    fn find(&mut self, state: State) -> Option<Cost> {
        if let Some(known) = self.known.get(&state) {
            return known.as_ref().map(|(cost, _)| *cost);
        }
        let mut best: Option<(Cost, Move)> = None;
        for (own, way) in self.moves(state) {
            let cost = match &way {
                Move::Begin(_) => Some(own),
                Move::After(front, _) => self.find(*front).map(|cost| cost + own),
            };
            // The first of equals stays: a stable order.
            if let Some(cost) = cost.filter(|cost| best.as_ref().is_none_or(|(least, _)| cost < least)) {
                best = Some((cost, way));
            }
        }
        let cost = best.as_ref().map(|(cost, _)| *cost);
        self.known.insert(state, best);
        cost
    }

    /// Every derivation of a state, each with its cost.
    fn moves(&self, state: State) -> Vec<(Cost, Move)> {
        let free = Cost::default();
        let mut all = Vec::new();
        let class = match state.goal {
            Goal::Class(class) => class,
            Goal::Any(format) => {
                self.anything(state, format, &mut all);
                return all;
            }
        };
        if !matches!(state.stash, Stash::Owed(..)) && self.available.streams.contains(&class) {
            all.push((free, Move::Begin(class)));
        }
        if let Stash::Owed(owed, narrow) = state.stash {
            // After narrow and float operations everything can be kept, and in front of them after entry, logic
            // and fxp.
            let here = match STAGES[state.stage] {
                VectorStage::Float | VectorStage::FpDiv | VectorStage::Narrow => narrow,
                VectorStage::Logic | VectorStage::Fxp | VectorStage::Branch => !narrow,
                VectorStage::FxpToFp | VectorStage::Reduce | VectorStage::Widen => false,
                VectorStage::FpToFxp | VectorStage::Clip | VectorStage::Filter => false,
            };
            if here && owed == class {
                let front = State { stash: Stash::Kept, ..state };
                all.push((free, Move::After(front, vec![Step::Stash { narrow }])));
            }
        }
        self.entries(state, class, &mut all);
        self.operations(state, class, &mut all);
        if state.stage > 0 {
            let front = State { stage: state.stage - 1, used: 0, ..state };
            all.push((free, Move::After(front, Vec::new())));
        }
        all
    }

    /// Any value in this format: one that the stash keeps, a stream, or one that is converted for it.
    fn anything(&self, state: State, format: DType, all: &mut Vec<(Cost, Move)>) {
        let dtype = |class: usize| self.equals.classes[class].dtype;
        let after = |front, steps| Move::After(front, steps);
        match state.stash {
            Stash::Owed(owed, _) if dtype(owed) == format => {
                all.push((Cost::default(), after(State { goal: Goal::Class(owed), ..state }, Vec::new())));
            }
            Stash::Owed(..) => {}
            Stash::Free | Stash::Kept => {
                let stream = self.available.streams.iter().find(|&&stream| dtype(stream) == format);
                all.extend(stream.map(|&stream| (Cost::default(), Move::Begin(stream))));
            }
        }
        /// An integer as it is: any width would do.
        const WIDTH: Bits = 31;
        let stage = STAGES[state.stage];
        let conversions =
            alu_ops().filter(|row| row.stage == stage && row.from != row.to && row.to == format);
        for row in conversions {
            let Some(used) = self.taken(state.used, row.alu) else { continue };
            let operands = [Some(Source::Number(WIDTH)), None];
            let step = Step::Operate(Operation { row, mode: default_mode(2), operands });
            let front = State { goal: Goal::Any(row.from), used, ..state };
            all.push((Cost { operations: 1, ..Cost::default() }, after(front, vec![step])));
        }
        if state.stage > 0 {
            let front = State { stage: state.stage - 1, used: 0, ..state };
            all.push((Cost::default(), after(front, Vec::new())));
        }
    }

    /// A value of the register file takes the stream's place: `and(b, b)` and `or(b, b)` are b, bit by bit.
    fn entries(&self, state: State, class: usize, all: &mut Vec<(Cost, Move)>) {
        let dtype = self.equals.classes[class].dtype;
        if STAGES[state.stage] != VectorStage::Logic || !self.available.files.contains(&class) {
            return;
        }
        let mode = ArgMode::Mode11;
        for row in [AluName::BitAnd, AluName::BitOr]
            .into_iter()
            .filter_map(|name| alu_op(VectorStage::Logic, name, dtype))
        {
            let Some(used) = self.taken(state.used, row.alu) else { continue };
            let loads = u32::from(!self.available.loaded.contains(&class));
            let cost = Cost { loads, operations: 1, modes: 1, ..Cost::default() };
            let step = Step::Operate(Operation { row, mode, operands: [Some(Source::File(class)), None] });
            let front = State { goal: Goal::Any(dtype), used, ..state };
            all.push((cost, Move::After(front, vec![step])));
        }
    }

    /// The operations of the state's stage that give `class`.
    fn operations(&self, state: State, class: usize, all: &mut Vec<(Cost, Move)>) {
        let stage = STAGES[state.stage];
        for (function, from, args) in &self.equals.classes[class].forms {
            for row in function.rows(*from).filter(|row| row.stage == stage) {
                let Some(used) = self.taken(state.used, row.alu) else { continue };
                for &mode in ArgMode::ALL.iter().filter(|mode| mode.args().len() == args.len()) {
                    self.operation(State { used, ..state }, class, row, mode, args, all);
                }
            }
        }
    }

    /// The ALUs in use when `alu` is too; `None` if it may not work again.
    fn taken(&self, used: u32, alu: Alu) -> Option<u32> {
        /// The second use of the spare ALU; there are less than 31 ALUs.
        const AGAIN: u32 = 1 << 31;
        let bit = 1 << (alu as u32);
        if used & bit == 0 {
            return Some(used | bit);
        }
        (self.spare == Some(alu) && used & AGAIN == 0).then_some(used | AGAIN)
    }

    /// The ways in which `row` in a mode gives `class` from classes `args`.
    fn operation(
        &self,
        state: State,
        class: usize,
        row: &'static AluOp,
        mode: ArgMode,
        args: &[usize],
        all: &mut Vec<(Cost, Move)>,
    ) {
        // A conversion has an integer width instead of an operand.
        if row.from != row.to && mode != ArgMode::Mode01 {
            return;
        }
        let Some((stream, operands)) = assign(mode, args) else { return };
        let number = |class: usize| self.equals.classes[class].number;
        if stream.is_some_and(|stream| number(stream).is_some()) {
            return;
        }
        let value = match operands.map(|slot| slot.filter(|&operand| number(operand).is_none())) {
            [Some(_), Some(_)] => return,
            [value, None] | [None, value] => value,
        };
        if value.is_some_and(|value| self.equals.classes[value].dtype != row.from) {
            return;
        }
        let narrow = row.stage.is_narrow();
        let goal = stream.map_or(Goal::Any(row.from), Goal::Class);
        let modes = u32::from(mode != default_mode(mode.args().len()));
        let mut add = |source: Option<Source>, stash: Stash, loads: u32, after: &[Step]| {
            let operand = |operand: usize| number(operand).map(Source::Number).or(source);
            let operands = operands.map(|slot| slot.and_then(operand));
            let front = State { goal, narrow: state.narrow || narrow, stash, ..state };
            let cost = Cost { narrow: u32::from(narrow && !state.narrow), loads, operations: 1, modes };
            let steps = std::iter::once(Step::Operate(Operation { row, mode, operands }))
                .chain(after.iter().cloned());
            all.push((cost, Move::After(front, steps.collect())));
        };
        let mut from = |stash: Stash, after: &[Step]| match value {
            None => add(None, stash, 0, after),
            Some(value) => {
                if self.available.files.contains(&value) {
                    let load = u32::from(!self.available.loaded.contains(&value));
                    add(Some(Source::File(value)), stash, load, after);
                }
                if stash == Stash::Free {
                    add(Some(Source::Stash), Stash::Owed(value, narrow), 0, after);
                }
            }
        };
        from(state.stash, &[]);
        // The stash keeps the output of clip only right after the operation that gives it.
        if state.stash == Stash::Owed(class, false) && row.stage == VectorStage::Clip {
            from(Stash::Kept, &[Step::Stash { narrow: false }]);
        }
    }
}

/// The end of a pass that gives `class`.
fn end(class: usize) -> State {
    State { goal: Goal::Class(class), stage: STAGES.len() - 1, used: 0, narrow: false, stash: Stash::Free }
}

/// The classes that stream and operands have to be for a mode to give these arguments.
fn assign(mode: ArgMode, args: &[usize]) -> Option<(Option<usize>, [Option<usize>; 2])> {
    let (mut stream, mut operands) = (None, [None; 2]);
    for (from, &class) in mode.args().iter().zip(args) {
        let slot = match from {
            Arg::Stream => &mut stream,
            Arg::Operand0 => &mut operands[0],
            Arg::Operand1 => &mut operands[1],
        };
        if slot.is_some_and(|known| known != class) {
            return None;
        }
        *slot = Some(class);
    }
    Some((stream, operands))
}
