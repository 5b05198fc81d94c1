//! A kernel as a program: steps, and the control flow around them, which are loops, calls, and parts of arrays in HBM.

use crate::array::Array;
use crate::contraction::Contraction;
use crate::placed::Place;
use crate::region::Region;
use crate::single::Single;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use visa_algebra::Expr;
use visa_ir::module::{OpId, ValueId};

/// The computation of a step.
#[derive(Clone)]
pub enum Work {
    /// A contraction. Its inputs are the two operands, then those of the epilogue.
    Contraction(Box<Contraction>),
    /// Maps, conversions and reductions.
    Region(Box<Region>),
    /// A step with one plan.
    Single(Box<Single>),
}

impl Work {
    /// The number of its results.
    #[must_use]
    pub fn results(&self) -> usize {
        match self {
            Self::Contraction(_) | Self::Single(_) => 1,
            Self::Region(region) => region.outputs.len(),
        }
    }

    /// The number of its operations whose values a slice holds together.
    #[must_use]
    pub fn operations(&self) -> usize {
        match self {
            Self::Contraction(_) | Self::Single(_) => 1,
            Self::Region(region) => region.operations.len(),
        }
    }
}

/// A step of a kernel.
#[derive(Clone)]
pub struct Step {
    /// Its computation.
    pub work: Work,
    /// Numbers of the arrays that it reads.
    pub inputs: Vec<usize>,
    /// The written places in data memory of these; `None` where a plan chooses it.
    pub places: Vec<Option<Arc<Place>>>,
    /// Numbers of the arrays that it writes.
    pub outputs: Vec<usize>,
    /// The operation at its beginning.
    pub op: OpId,
    /// The loops of the function around it, outermost first, for messages; `None` if it is in no loop.
    pub loops: Option<String>,
}

/// A kernel as steps between arrays.
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// All arrays: first the arguments, then the results of the steps.
    pub arrays: Vec<Array>,
    /// The arguments.
    pub arguments: Vec<Operand>,
    /// Arrays that are in the memory of others.
    pub aliases: HashMap<usize, usize>,
    /// The steps, in the order of the body.
    pub steps: Vec<Step>,
    /// The body: steps, loops and calls.
    pub body: Vec<Item>,
    /// Numbers of the arrays that it returns.
    pub results: Vec<usize>,
}

/// A part of the body of a kernel.
pub enum Item {
    /// A step, by its number.
    Step(usize),
    /// A loop of the function.
    Loop(Box<Loop>),
    /// A call of another function.
    Call(Calls),
    /// A part of an array: a view.
    Tile(Cut),
    /// A copy of an array within HBM.
    Copy(Copied),
    /// An array with a part replaced, in place. The source is the part.
    Insert(Cut, usize),
    /// A number that depends on indices.
    Number(OpId),
}

/// A loop.
pub struct Loop {
    /// The dimension whose positions it goes through.
    pub over: Rc<Expr>,
    /// The operation of the function.
    pub op: OpId,
    /// Its index in the function.
    pub index: ValueId,
    /// The arrays that are carried into the loop.
    pub initial: Vec<usize>,
    /// The same arrays at the beginning of the body.
    pub arguments: Vec<usize>,
    /// The body.
    pub body: Vec<Item>,
    /// The arrays at the end of the body.
    pub yielded: Vec<usize>,
    /// The arrays after the loop.
    pub results: Vec<usize>,
}

/// A call or a launch.
pub struct Calls {
    /// The operation of the function.
    pub op: OpId,
    /// The name of the other function.
    pub callee: Rc<str>,
    /// The operands.
    pub operands: Vec<Operand>,
    /// The arrays that it returns.
    pub results: Vec<usize>,
}

/// An operand of a call, or an argument of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// An array, by its number.
    Array(usize),
    /// A number of the function.
    Number(ValueId),
}

impl Operand {
    /// The number of the array; `None` for a number.
    #[must_use]
    pub fn array(&self) -> Option<usize> {
        match self {
            Self::Array(number) => Some(*number),
            Self::Number(_) => None,
        }
    }
}

/// A copy of an array.
pub struct Copied {
    /// The operation of the function that needs it.
    pub op: OpId,
    /// The array.
    pub from: usize,
    /// Its copy.
    pub to: usize,
    /// The step that writes the array. If it stores after all of its loads, it writes where the copy would be.
    pub unless_stored_last: Option<usize>,
}

/// A part of an array.
pub struct Cut {
    /// The operation of the function.
    pub op: OpId,
    /// The array that is cut.
    pub whole: usize,
    /// The axes that are cut.
    pub along: Rc<Expr>,
    /// The numbers of the position along them.
    pub numbers: Vec<ValueId>,
    /// The position that is added to the numbers.
    pub index: i64,
    /// The layout of the part in the array.
    pub element: Rc<Expr>,
    /// The part, or the array after the replacement.
    pub result: usize,
}

impl Item {
    /// Numbers of the arrays that it reads, those inside of loops included.
    #[must_use]
    pub fn reads(&self, steps: &[Step]) -> Vec<usize> {
        match self {
            Self::Step(number) => steps[*number].inputs.clone(),
            Self::Loop(inner) => {
                let inside = inner.body.iter().flat_map(|item| item.reads(steps));
                inner.initial.iter().chain(&inner.yielded).copied().chain(inside).collect()
            }
            Self::Call(call) => call.operands.iter().filter_map(Operand::array).collect(),
            Self::Tile(cut) => vec![cut.whole],
            Self::Copy(copied) => vec![copied.from],
            Self::Insert(cut, part) => vec![cut.whole, *part],
            Self::Number(_) => Vec::new(),
        }
    }

    /// Numbers of the arrays that it makes in separate memory.
    #[must_use]
    pub fn makes<'a>(&'a self, steps: &'a [Step]) -> &'a [usize] {
        match self {
            Self::Step(number) => &steps[*number].outputs,
            Self::Call(call) => &call.results,
            Self::Copy(copied) => std::slice::from_ref(&copied.to),
            Self::Loop(_) | Self::Tile(_) | Self::Insert(..) | Self::Number(_) => &[],
        }
    }
}

/// Returns true if two arrays have the same elements at the same addresses.
#[must_use]
pub fn same_layout(one: &Array, other: &Array) -> bool {
    Array { name: String::new(), ..one.clone() } == Array { name: String::new(), ..other.clone() }
}
