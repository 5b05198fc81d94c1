//! Where in a pipeline of the Tensor Unit a stage may be (books 12, 21). A stage declares its place; the order of
//! all stages follows from their places, at each level.

use visa_machine::Unit;
use visa_numerics::VectorStage;

/// The position of an engine in the pipeline. There is room between two of them for an engine that RNGD does not
/// have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(pub u16);

impl Slot {
    /// Reads data memory.
    pub const FETCH: Self = Self(100);
    /// Writes a number to data memory, without a stream.
    pub const GENERATE: Self = Self(150);
    /// Moves packets between slices.
    pub const SWITCH: Self = Self(200);
    /// Cuts packets into flits.
    pub const COLLECT: Self = Self(300);
    /// Loads a register file.
    pub const LOAD: Self = Self(350);
    /// Pairs packets with the register file.
    pub const ALIGN: Self = Self(400);
    /// Multiplies and sums within a packet.
    pub const CONTRACT: Self = Self(500);
    /// Sums over packets.
    pub const ACCUMULATE: Self = Self(600);
    /// The vector engine. Its own stages have a [`Station`] each.
    pub const VECTOR: Self = Self(700);
    /// Keeps some elements.
    pub const FILTER: Self = Self(750);
    /// Stores the output of the vector engine in its register file.
    pub const KEEP: Self = Self(770);
    /// Stores execution ids.
    pub const STORE_IDS: Self = Self(780);
    /// Narrows elements.
    pub const CAST: Self = Self(800);
    /// Swaps rows and columns.
    pub const TRANSPOSE: Self = Self(900);
    /// Writes data memory.
    pub const COMMIT: Self = Self(1000);
    /// Writes the leading elements of packets to data memory.
    pub const PACK: Self = Self(1100);
}

/// Stages that may be right before a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// Nothing: the stage begins a pipeline.
    Nothing,
    /// A stage with a slot from the first to the second.
    Slots(Slot, Slot),
}

/// Stages that may be right after a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Any stage with a later slot that may be after this one.
    Later,
    /// A stage with this slot only.
    Only(Slot),
    /// Nothing: the stage ends its pipeline.
    Nothing,
}

/// Contexts that have an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contexts {
    /// Those that compute: main, and dual.
    Main,
    /// The one that prefetches.
    Sub,
    /// All.
    Both,
}

impl Contexts {
    /// Returns true if a context has it.
    #[must_use]
    pub fn has(self, unit: Unit) -> bool {
        match self {
            Self::Main => unit.computes(),
            Self::Sub => !unit.computes(),
            Self::Both => true,
        }
    }
}

/// Where a stage may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its position.
    pub slot: Slot,
    /// Stages that may be right before it.
    pub after: After,
    /// Stages that may be right after it.
    pub then: Then,
    /// The contexts that have it.
    pub contexts: Contexts,
    /// True if a stage of the same slot may be right before it.
    pub repeats: bool,
}

/// The places of a stage, as its declaration gives them: one for each way in which it is used.
#[derive(Clone, Copy, Debug)]
pub struct Places(pub &'static [Place]);

impl Place {
    /// The place of a stage after any stage with a slot from `first` to `last`, in both contexts.
    #[must_use]
    pub const fn after(slot: Slot, first: Slot, last: Slot) -> Self {
        let after = After::Slots(first, last);
        Self { slot, after, then: Then::Later, contexts: Contexts::Both, repeats: false }
    }

    /// The place of a stage that begins pipelines, in both contexts.
    #[must_use]
    pub const fn first(slot: Slot) -> Self {
        Self { slot, after: After::Nothing, then: Then::Later, contexts: Contexts::Both, repeats: false }
    }

    /// The place in these contexts.
    #[must_use]
    pub const fn contexts(self, contexts: Contexts) -> Self {
        Self { contexts, ..self }
    }

    /// The place of a stage that only a stage of `slot` may be after.
    #[must_use]
    pub const fn only(self, slot: Slot) -> Self {
        Self { then: Then::Only(slot), ..self }
    }

    /// The place of a stage that ends its pipeline.
    #[must_use]
    pub const fn ends(self) -> Self {
        Self { then: Then::Nothing, ..self }
    }

    /// The place of a stage that may be right after another of its slot.
    #[must_use]
    pub const fn repeats(self) -> Self {
        Self { repeats: true, ..self }
    }

    /// Returns true if a stage in this place may be right after one in place `before`; `None` is the begin of the
    /// pipeline.
    #[must_use]
    pub fn follows(&self, before: Option<&Self>) -> bool {
        let Some(before) = before else { return self.after == After::Nothing };
        let later = self.slot > before.slot || self.repeats && self.slot == before.slot;
        let takes = match self.after {
            After::Nothing => false,
            After::Slots(first, last) => (first..=last).contains(&before.slot),
        };
        let lets = match before.then {
            Then::Later => true,
            Then::Only(slot) => self.slot == slot,
            Then::Nothing => false,
        };
        later && takes && lets
    }
}

/// At which stage of the vector engine an operation works; its stages are in their order (book 21).
#[derive(Clone, Copy, Debug)]
pub enum Station {
    /// This one.
    At(VectorStage),
    /// The stage that a word of the operation selects: the clause's name, and the mapping of its words to stages.
    Word(&'static str, fn(&str) -> Option<VectorStage>),
}

/// The engines of RNGD, in pipeline order.
pub mod rngd {
    use super::{Contexts, Place, Places, Slot};

    /// No engine: the begin of a pipeline.
    pub static NONE: Places = Places(&[]);
    /// The Fetch Engine.
    pub static FETCH: Places = Places(&[Place::first(Slot::FETCH)]);
    /// The Commit Engine in generate mode.
    pub static GENERATE: Places = Places(&[Place::first(Slot::GENERATE).ends().contexts(Contexts::Sub)]);
    /// The Switch Engine.
    pub static SWITCH: Places = Places(&[Place::after(Slot::SWITCH, Slot::FETCH, Slot::FETCH)]);
    /// The Collect Engine.
    pub static COLLECT: Places = Places(&[Place::after(Slot::COLLECT, Slot::FETCH, Slot::SWITCH)]);
    /// A load of the tensor register file.
    pub static LOAD: Places = Places(&[Place::after(Slot::LOAD, Slot::COLLECT, Slot::COLLECT).ends()]);
    /// A store in the vector register file: a load, or the output of the Vector Engine in the main context.
    pub static KEEP: Places = Places(&[
        Place::after(Slot::LOAD, Slot::COLLECT, Slot::COLLECT).ends(),
        Place::after(Slot::KEEP, Slot::VECTOR, Slot::VECTOR).ends().contexts(Contexts::Main),
    ]);
    /// The aligner.
    pub static ALIGN: Places = Places(&[Place::after(Slot::ALIGN, Slot::COLLECT, Slot::COLLECT)
        .only(Slot::CONTRACT)
        .contexts(Contexts::Main)]);
    /// The Reducer.
    pub static CONTRACT: Places = Places(&[Place::after(Slot::CONTRACT, Slot::ALIGN, Slot::ALIGN)
        .only(Slot::ACCUMULATE)
        .contexts(Contexts::Main)]);
    /// The accumulator.
    pub static ACCUMULATE: Places =
        Places(&[Place::after(Slot::ACCUMULATE, Slot::CONTRACT, Slot::CONTRACT).contexts(Contexts::Main)]);
    /// A stage of the Vector Engine.
    pub static VECTOR: Places =
        Places(&[Place::after(Slot::VECTOR, Slot::COLLECT, Slot::VECTOR).repeats().contexts(Contexts::Main)]);
    /// The entry of the Vector Engine: there is one pass a pipeline.
    pub static ENTRY: Places =
        Places(&[Place::after(Slot::VECTOR, Slot::COLLECT, Slot::ACCUMULATE).contexts(Contexts::Main)]);
    /// The filter of the Vector Engine.
    pub static FILTER: Places = Places(&[Place::after(Slot::FILTER, Slot::COLLECT, Slot::VECTOR)
        .only(Slot::PACK)
        .contexts(Contexts::Main)]);
    /// A store of execution ids.
    pub static STORE_IDS: Places =
        Places(&[Place::after(Slot::STORE_IDS, Slot::COLLECT, Slot::VECTOR).ends().contexts(Contexts::Main)]);
    /// The Cast Engine: in the sub context between the collect engine and the commit.
    pub static CAST: Places = Places(&[
        Place::after(Slot::CAST, Slot::COLLECT, Slot::VECTOR).contexts(Contexts::Main),
        Place::after(Slot::CAST, Slot::COLLECT, Slot::COLLECT).only(Slot::COMMIT).contexts(Contexts::Sub),
    ]);
    /// The Transpose Engine.
    pub static TRANSPOSE: Places =
        Places(&[Place::after(Slot::TRANSPOSE, Slot::COLLECT, Slot::CAST).contexts(Contexts::Main)]);
    /// The Commit Engine.
    pub static COMMIT: Places = Places(&[Place::after(Slot::COMMIT, Slot::COLLECT, Slot::TRANSPOSE).ends()]);
    /// The Commit Engine where it packs: in the sub context after the collect engine, in the main context after
    /// the filter.
    pub static PACK: Places = Places(&[
        Place::after(Slot::PACK, Slot::COLLECT, Slot::COLLECT).ends().contexts(Contexts::Sub),
        Place::after(Slot::PACK, Slot::FILTER, Slot::FILTER).ends().contexts(Contexts::Main),
    ]);
}
