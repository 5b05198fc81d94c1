//! Effects of operations, in addition to their results. A declaration lists them once; passes that erase, merge or
//! reorder operations look them up here, and keep no list of operations.

use crate::decl::Trait;
use crate::module::{OpRef, ValueId};

/// The effects of an operation, as declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effects {
    /// No effects are declared: no context registers such an operation.
    Undeclared,
    /// These and no others.
    Are(&'static [Effect]),
    /// Those of the operations in its regions.
    OfBody,
    /// It declares a name that others use: it is never erased or merged.
    Declares,
}

impl Effects {
    /// It only gives its results.
    pub const PURE: Self = Self::Are(&[]);
}

/// One effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect {
    /// Kind of the effect.
    pub kind: EffectKind,
    /// Target of the effect.
    pub on: Target,
    /// It is done only where this clause is written.
    pub with: Option<&'static str>,
}

/// Kind of an effect on a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EffectKind {
    /// Reads it.
    Read,
    /// Changes stored bytes.
    Write,
    /// Takes a part of it for a result.
    Allocate,
}

/// Target of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The memory that the operand of this name is in.
    Operand(&'static str),
    /// The memory that the result of this name is in.
    Result(&'static str),
    /// The memory whose values have this type, e.g. `tm.dm`.
    Memory(&'static str),
    /// The memory that the word clause of this name specifies.
    Clause(&'static str),
    /// The stream of packets that flows from one operation of the block to the next.
    Stream,
}

/// Reads `on`.
#[must_use]
pub const fn reads(on: Target) -> Effect {
    Effect { kind: EffectKind::Read, on, with: None }
}

/// Writes `on`.
#[must_use]
pub const fn writes(on: Target) -> Effect {
    Effect { kind: EffectKind::Write, on, with: None }
}

/// Takes memory for `on`.
#[must_use]
pub const fn allocates(on: Target) -> Effect {
    Effect { kind: EffectKind::Allocate, on, with: None }
}

impl Effect {
    /// The effect, where the clause `with` is written.
    #[must_use]
    pub const fn with(self, clause: &'static str) -> Self {
        Self { with: Some(clause), ..self }
    }
}

/// The memory that an effect is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    /// The stream of the block.
    Stream,
    /// One of these: names of types, or a word of the operation. A value whose type is not known yet may be in
    /// several.
    OneOf(Vec<String>),
    /// Any memory but the stream.
    Unknown,
}

impl Memory {
    fn named(name: &str) -> Self {
        Self::OneOf(vec![name.to_owned()])
    }

    /// Returns true if both may be the same memory.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Stream, Self::Stream) => true,
            (Self::Stream, Self::OneOf(_) | Self::Unknown)
            | (Self::OneOf(_) | Self::Unknown, Self::Stream) => false,
            (Self::Unknown, Self::OneOf(_) | Self::Unknown) | (Self::OneOf(_), Self::Unknown) => true,
            (Self::OneOf(own), Self::OneOf(others)) => own.iter().any(|name| others.contains(name)),
        }
    }
}

/// An effect of an operation of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpEffect {
    /// Kind of the effect.
    pub kind: EffectKind,
    /// To which memory.
    pub memory: Memory,
    /// The value that is read or written, if the effect is on one.
    pub value: Option<ValueId>,
}

impl OpEffect {
    /// Returns true if the effects may be on the same bytes, judged by their memories.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        self.memory.meets(&other.memory)
    }
}

/// The effects of an operation, with those of its regions. `None` if they are not known: its dialect is not
/// registered.
#[must_use]
pub fn of(op: OpRef<'_>) -> Option<Vec<OpEffect>> {
    let decl = op.decl()?;
    match decl.effects {
        Effects::Undeclared => None,
        Effects::Declares => Some(Vec::new()),
        Effects::Are(effects) => {
            let done =
                effects.iter().filter(|effect| effect.with.is_none_or(|clause| op.attr(clause).is_some()));
            Some(done.flat_map(|effect| found(op, effect)).collect())
        }
        Effects::OfBody => {
            let inner = op.regions().iter().flat_map(|&region| op.module.ops(region));
            let effects: Option<Vec<_>> = inner.map(|&id| of(op.other(id))).collect();
            Some(effects?.into_iter().flatten().collect())
        }
    }
}

/// The effect on each of its targets: an operand with several values has one effect for each.
fn found(op: OpRef<'_>, effect: &Effect) -> Vec<OpEffect> {
    let kind = effect.kind;
    let on_value = |value: ValueId, declared: &[&str]| {
        let name = op.ctx.type_name(op.module.ty(value));
        let memory = match (name, declared) {
            ("", []) => Memory::Unknown,
            ("", declared) => Memory::OneOf(declared.iter().map(|&name| name.to_owned()).collect()),
            (name, _) => Memory::named(name),
        };
        OpEffect { kind, memory, value: Some(value) }
    };
    match effect.on {
        Target::Operand(name) => {
            let declared =
                op.decl().and_then(|decl| decl.operands.iter().find(|operand| operand.name == name));
            let types = declared.map_or_else(Vec::new, |operand| operand.types.names());
            named_operands(op, name).iter().map(|&value| on_value(value, &types)).collect()
        }
        Target::Result(name) => {
            let index = op.decl().and_then(|decl| decl.results.iter().position(|result| *result == name));
            index
                .and_then(|index| op.results().get(index))
                .map(|&value| on_value(value, &[]))
                .into_iter()
                .collect()
        }
        Target::Memory(name) => vec![OpEffect { kind, memory: Memory::named(name), value: None }],
        Target::Clause(name) => {
            vec![OpEffect {
                kind,
                memory: op.word(name).map_or(Memory::Unknown, |word| Memory::named(&word)),
                value: None,
            }]
        }
        Target::Stream => vec![OpEffect { kind, memory: Memory::Stream, value: None }],
    }
}

/// The values of the operand called `name`.
fn named_operands<'a>(op: OpRef<'a>, name: &str) -> &'a [ValueId] {
    let Some(decl) = op.decl() else { return &[] };
    let Some(index) = decl.operands.iter().position(|operand| operand.name == name) else { return &[] };
    let values = op.operands().get(index..).unwrap_or_default();
    match decl.operands[index].arity {
        crate::decl::Arity::Variadic => values,
        crate::decl::Arity::One | crate::decl::Arity::Optional => values.get(..1).unwrap_or_default(),
    }
}

/// Returns true if an operation without users may be erased: it only computes its results and reads.
#[must_use]
pub fn erasable(op: OpRef<'_>) -> bool {
    let ends = op.decl().is_some_and(|decl| decl.has(Trait::Terminator));
    !ends
        && !declares(op)
        && of(op).is_some_and(|found| found.iter().all(|effect| effect.kind == EffectKind::Read))
}

/// Returns true if an operation only computes its results.
#[must_use]
pub fn pure(op: OpRef<'_>) -> bool {
    !declares(op) && of(op).is_some_and(|found| found.is_empty())
}

/// Returns true if an operation may have an effect of this kind on a memory.
#[must_use]
pub fn may(op: OpRef<'_>, kind: EffectKind, memory: &str) -> bool {
    let memory = Memory::named(memory);
    of(op).is_none_or(|found| found.iter().any(|effect| effect.kind == kind && effect.memory.meets(&memory)))
}

/// Returns true if an operation declares a name that others use.
#[must_use]
pub fn declares(op: OpRef<'_>) -> bool {
    op.decl().is_some_and(|decl| decl.effects == Effects::Declares)
}

#[cfg(test)]
mod tests {
    use super::Memory;

    #[test]
    fn memories_meet_that_may_be_the_same() {
        let (dm, vrf) = (Memory::named("tm.dm"), Memory::named("tm.vrf"));
        let either = Memory::OneOf(vec!["tm.vrf".to_owned(), "tm.trf".to_owned()]);
        for (one, other, expected) in [
            (&dm, &dm, true),
            (&dm, &vrf, false),
            (&either, &vrf, true),
            (&either, &dm, false),
            (&Memory::Unknown, &dm, true),
            (&Memory::Unknown, &Memory::Stream, false),
            (&Memory::Stream, &dm, false),
            (&Memory::Stream, &Memory::Stream, true),
        ] {
            assert_eq!((one.meets(other), other.meets(one)), (expected, expected), "{one:?} {other:?}");
        }
    }
}
