//! Small examples of the left side of a rule, at random but the same in each run.

use crate::tensor::facts::{Facts, Graph, Kind};
use crate::tensor::rule::{Side, Variable};
use crate::tensor::term::{Head, Term};
use egg::Id;
use std::sync::Arc;
use visa_algebra::Expr;
use visa_ir::context::{Attr, AttrId, Context};
use visa_ir::decl::{ClauseDecl, ClauseKind, Presence, make_type};
use visa_mapping::expression::FUNCTIONS;
use visa_mapping::index::INDICES;
use visa_mapping::ops::{constant, restrict};
use visa_mapping::tensor::attrs::{DTYPE, MAP};
use visa_mapping::tensor::numbers::{NUMBER, Number};
use visa_mapping::tensor::scalar::{SCALAR, Scalar};
use visa_mapping::tensor::value::value_type;
use visa_numerics::{DType, edges, from_f32, from_number, store};

/// The axes of examples, as `tm.axes` declares them.
pub(crate) const AXES: &str = "[A = 2, B = 3, C = 2, M = 6, N = 6, P = 8]";

/// The mappings of clauses.
const MAPS: [&str; 33] = [
    "[A]",
    "[B]",
    "[C]",
    "[M]",
    "[N]",
    "[P]",
    "[A, B]",
    "[B, A]",
    "[A, M]",
    "[M, A]",
    "[M, N]",
    "[1]",
    "[M / 2]",
    "[M / 3]",
    "[M % 3]",
    "[M % 2]",
    "[M % 3, A]",
    "[M @ 2]",
    "[M = 4]",
    "[M # 8]",
    "[A, M # 8]",
    "[P / 4]",
    "[P % 4]",
    "[P % 2, P / 2]",
    "[M % 2, M / 2]",
    "[A # 4]",
    "[P = 4, M = 4]",
    "[M @ 3, A]",
    "[P / 2 % 2]",
    "[N, M % 2]",
    "[M / 3 % 2]",
    "[A, M / 3]",
    "[A, M % 3]",
];

/// The axes of values.
const SHAPES: [&[&str]; 10] = [
    &["M"],
    &["A", "M"],
    &["A", "B"],
    &["P"],
    &["M", "N"],
    &["A"],
    &[],
    &["M", "P"],
    &["A", "B", "M"],
    &["N"],
];

const FORMATS: [DType; 6] = [DType::F32, DType::I32, DType::Bf16, DType::I8, DType::F16, DType::F8e4m3];

/// Choices of the clauses of one operation before the operands are chosen again.
const CHOICES: usize = 24;

/// SplitMix64.
pub(crate) struct Random(u64);

impl Random {
    /// The numbers of a seed.
    #[must_use]
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `count`.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }

    /// True in one of `of` cases.
    pub(crate) fn one_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

/// An example in the making.
pub(crate) struct Sample<'r, 'a> {
    /// Its terms.
    pub(crate) graph: Graph<'a>,
    /// The class of each metavariable.
    pub(crate) slots: Vec<Option<Id>>,
    /// The arguments of both sides.
    pub(crate) arguments: Vec<Head>,
    random: &'r mut Random,
    dtype: DType,
    shape: usize,
}

impl<'r, 'a> Sample<'r, 'a> {
    /// An example without a term.
    #[must_use]
    pub(crate) fn new(facts: Facts<'a>, slots: usize, random: &'r mut Random) -> Self {
        let (dtype, shape) = (random.pick(&FORMATS[..4]), random.below(SHAPES.len()));
        let graph = Graph::new(facts);
        Self { graph, slots: vec![None; slots], arguments: Vec::new(), random, dtype, shape }
    }

    fn ctx(&self) -> &'a Context {
        self.graph.analysis.ctx
    }

    fn add(&mut self, head: Head, children: Vec<Id>) -> Option<Id> {
        let id = self.graph.add(Term::new(head, children));
        (self.graph[id].data.kind != Kind::Wrong).then_some(id)
    }

    /// A term of a side; its metavariables get values where they have none.
    pub(crate) fn side(&mut self, side: &Side, names: &[(String, Variable)]) -> Option<Id> {
        let (head, children) = match side {
            Side::Variable(slot) => return self.variable(*slot, names),
            Side::Term(head, children) => (head, children),
            Side::Computed(..) => return None,
        };
        let first = match head {
            Head::Operation(declared) => children.len() - declared.0.clauses.len(),
            Head::Apply => return self.applied(children, names),
            Head::Argument(..)
            | Head::Index(..)
            | Head::Carried { .. }
            | Head::Number(..)
            | Head::WhereDefined
            | Head::Loop(_)
            | Head::Branch
            | Head::Result(_)
            | Head::Clause(_)
            | Head::Absent
            | Head::Name(_) => children.len(),
        };
        let (operands, clauses) = children.split_at(first);
        let Head::Operation(declared) = head else {
            let operands: Option<Vec<Id>> = operands.iter().map(|side| self.side(side, names)).collect();
            return self.add(head.clone(), operands?);
        };
        let operands: Vec<Id> = operands
            .iter()
            .enumerate()
            .map(|(at, side)| match (side, declared.0.operands.get(at).or(declared.0.operands.last())) {
                (Side::Variable(slot), Some(operand)) if operand.types.names() == INDICES => {
                    self.index(*slot)
                }
                (side, _) => self.side(side, names),
            })
            .collect::<Option<_>>()?;
        let before = self.slots.clone();
        for _ in 0..CHOICES {
            self.slots.clone_from(&before);
            let mut all = operands.clone();
            for (declared, side) in declared.0.clauses.iter().zip(clauses) {
                all.push(self.clause(declared, side)?);
            }
            if let Some(id) = self.add(head.clone(), all) {
                return Some(id);
            }
        }
        None
    }

    /// A function of elements; one that a metavariable stands for takes as many arguments.
    fn applied(&mut self, children: &[Side], names: &[(String, Variable)]) -> Option<Id> {
        let (name, arguments) = children.split_first()?;
        let arguments: Vec<Id> =
            arguments.iter().map(|side| self.side(side, names)).collect::<Option<_>>()?;
        let slot = match name {
            Side::Variable(slot) if self.slots[*slot].is_none() => *slot,
            Side::Variable(_) | Side::Term(..) | Side::Computed(..) => {
                let name = self.side(name, names)?;
                return self.add(Head::Apply, [vec![name], arguments].concat());
            }
        };
        for _ in 0..CHOICES {
            let function = &FUNCTIONS[self.random.below(FUNCTIONS.len())];
            if function.arity != arguments.len() {
                continue;
            }
            let name = self.add(Head::Name(function), Vec::new())?;
            self.slots[slot] = Some(name);
            if let Some(id) = self.add(Head::Apply, [vec![name], arguments.clone()].concat()) {
                return Some(id);
            }
        }
        None
    }

    fn variable(&mut self, slot: usize, names: &[(String, Variable)]) -> Option<Id> {
        if let Some(known) = self.slots[slot] {
            return Some(known);
        }
        let id = match names[slot].1 {
            Variable::Value => self.value()?,
            Variable::Clause | Variable::Function => return None,
        };
        self.slots[slot] = Some(id);
        Some(id)
    }

    /// A position: a scalar argument.
    fn index(&mut self, slot: usize) -> Option<Id> {
        if let Some(known) = self.slots[slot] {
            return Some(known);
        }
        let ty = make_type(self.ctx(), &SCALAR, Scalar { of: Expr::Literal(2) });
        let argument = Head::Argument(self.arguments.len(), ty);
        self.arguments.push(argument.clone());
        self.slots[slot] = self.add(argument, Vec::new());
        self.slots[slot]
    }

    /// A value: an argument, a part of one, a number, or coordinates.
    fn value(&mut self) -> Option<Id> {
        let dtype = if self.random.one_in(6) { self.random.pick(&FORMATS) } else { self.dtype };
        let shape = if self.random.one_in(3) { self.random.below(SHAPES.len()) } else { self.shape };
        let axes: Vec<Arc<str>> = SHAPES[shape].iter().map(|axis| Arc::from(*axis)).collect();
        match self.random.below(12) {
            0 => {
                let bits = match self.random.below(4) {
                    at @ 0..=2 => u32::try_from(at).ok()?,
                    _ => 0x3f80_0000,
                };
                let bits = if dtype.bits() < 32 { bits % 4 } else { bits };
                return self.add(Head::Number(dtype, bits), Vec::new());
            }
            1 if dtype == DType::I32 => {
                let axis = self.map(&format!("[{}]", axes.first()?))?;
                let axis = self.add(Head::Clause(axis), Vec::new())?;
                return self.add(Head::operation(&constant::INDEX), vec![axis]);
            }
            _ => {}
        }
        let argument = Head::Argument(self.arguments.len(), value_type(self.ctx(), dtype, axes));
        self.arguments.push(argument.clone());
        let id = self.add(argument, Vec::new())?;
        if !self.random.one_in(3) {
            return Some(id);
        }
        let part = self.random.pick(&MAPS);
        let part = self.map(part)?;
        let part = self.add(Head::Clause(part), Vec::new())?;
        self.add(Head::operation(&restrict::RESTRICT), vec![id, part])
    }

    fn map(&self, text: &str) -> Option<AttrId> {
        Some(self.ctx().body_attr(&MAP, Expr::parse(text).ok()?))
    }

    /// A clause of a side: the written one, that of its metavariable, or one of its kind.
    fn clause(&mut self, declared: &ClauseDecl, side: &Side) -> Option<Id> {
        let slot = match side {
            Side::Term(head, _) => return self.add(head.clone(), Vec::new()),
            Side::Variable(slot) => *slot,
            Side::Computed(..) => return None,
        };
        if let Some(known) = self.slots[slot] {
            return Some(known);
        }
        let absent = matches!(declared.presence, Presence::Optional) && self.random.one_in(2);
        let head = if absent { Head::Absent } else { Head::Clause(self.attribute(declared)?) };
        let id = self.add(head, Vec::new())?;
        self.slots[slot] = Some(id);
        Some(id)
    }

    /// A value of a clause, of its kind.
    fn attribute(&mut self, declared: &ClauseDecl) -> Option<AttrId> {
        let ctx = self.ctx();
        let is = |def, wanted| std::ptr::eq::<visa_ir::decl::BodyDef>(def, wanted);
        Some(match declared.kind {
            ClauseKind::Int => ctx.attr(Attr::Int(self.random.pick(&[0, 1, 2, 4, 1]))),
            ClauseKind::Word(words) => ctx.attr(Attr::Str(self.random.pick(words).into())),
            ClauseKind::Flag => ctx.attr(Attr::Unit),
            ClauseKind::Ints => ctx.attr(Attr::Ints(self.random.pick(&[&[0, 1][..], &[1, 0], &[3]]).into())),
            ClauseKind::Body(def) if is(def, &MAP) => {
                let text = self.random.pick(&MAPS);
                self.map(text)?
            }
            ClauseKind::Body(def) if is(def, &DTYPE) => ctx.body_attr(&DTYPE, self.random.pick(&FORMATS)),
            ClauseKind::Body(def) if is(def, &NUMBER) => {
                ctx.body_attr(&NUMBER, Number(self.random.pick(&[0.0, 1.0, -1.0])))
            }
            ClauseKind::Body(_) | ClauseKind::Str | ClauseKind::Symbol | ClauseKind::Strs => return None,
        })
    }
}

/// The elements of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Data {
    /// Integers from 0 to 3.
    Small,
    /// Numbers of one magnitude, of whose sums most are rounded.
    Moderate,
    /// Bits at the edges of arithmetic, and any others.
    Edges,
}

/// The bytes of an argument.
#[must_use]
pub(crate) fn bytes(dtype: DType, count: u64, random: &mut Random, data: Data) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(dtype.bytes(count)?).ok()?];
    for at in 0..usize::try_from(count).ok()? {
        let bits = match (data, dtype.bits()) {
            (Data::Small, _) => from_number(dtype, random.below(4) as f64)?,
            (Data::Moderate, _) => {
                let bits = (random.next() as u32 & 0x80ff_ffff) | 0x3f00_0000;
                from_f32(dtype, f32::from_bits(bits) * if dtype.is_float() { 1.0 } else { 4.0 })
            }
            (Data::Edges, 32) if random.one_in(2) => random.pick(&edges::F32),
            (Data::Edges, bits) => (random.next() & ((1_u64 << bits) - 1)) as u32,
        };
        store(dtype, &mut bytes, at, bits);
    }
    Some(bytes)
}
