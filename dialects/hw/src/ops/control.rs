//! `hw.for`: a loop over commands.

use crate::ops::program::{BUFFER, PROGRAM};
use crate::ops::scalar::{self, SCALAR};
use crate::program::{self, Steps};
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::OpRef;
use visa_loops::{Entry, MAX_TIMES, Program};

/// The operations that commands may be in.
pub(crate) const COMMANDS: Trait = Trait::InsideOneOf(&["hw.program", "hw.for"]);

/// `hw.for`.
#[visa_ir::view(For)]
pub static FOR: OpDecl = OpDecl {
    name: "hw.for",
    summary: "runs commands again and again",
    doc: "The commands inside run in order, as many times as it says. Addresses of a command move with the loops \
          around it: its clause `steps` (`read_steps` and `write_steps` of a transfer) has a number of bytes for \
          each loop, the outermost first, that the loop's index is multiplied by. Before them are numbers for the \
          scalars of the program (`hw.scalar`).",
    constraints: &[("C1", "there are 1 to 2^32 iterations (ours: the interpreter runs each of them)")],
    clauses: &[ClauseDecl::lead("times", ClauseKind::Int, "Iterations.")],
    traits: &[COMMANDS, Trait::Region],
    effects: Effects::OfBody,
    verify: Some(|op, _| times(For::of(op)?).map(drop)),
    example: "hw.for 4 {\n  hw.dma tensor, from hbm, to dm, loops [64 : 1 -> 1] : 64, read_steps [64]\n}",
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&FOR];

/// The iterations of a loop.
///
/// # Errors
/// C1.
pub(crate) fn times(op: For<'_>) -> Result<u64, Diagnostic> {
    let times = op.times()?;
    u64::try_from(times).ok().filter(|times| (1..=MAX_TIMES).contains(times)).ok_or_else(|| {
        let message = format!("{}, expected 1 to {MAX_TIMES}", counted(times, "iteration"));
        op.clause_error("C1", "times", message)
    })
}

/// The iterations of the loops around an operation, outermost first.
///
/// # Errors
/// C1 of a loop.
pub(crate) fn around(op: OpRef<'_>) -> Result<Vec<u64>, Diagnostic> {
    let mut times = op.ancestors().filter_map(For::cast).map(times).collect::<Result<Vec<_>, _>>()?;
    times.reverse();
    Ok(times)
}

/// The scalars of the program around an operation, in order: all are declared before its commands.
///
/// # Errors
/// C1 of a scalar.
fn scalars(op: OpRef<'_>) -> Result<Vec<program::Scalar>, Diagnostic> {
    let program = op.ancestors().find(|op| op.is(&PROGRAM));
    let block = program.and_then(|program| program.regions().first().copied());
    let ops = block.into_iter().flat_map(|block| op.module.ops(block)).map(|&id| op.other(id));
    let declared = ops.take_while(|op| op.is(&SCALAR) || op.is(&BUFFER));
    declared.filter(|op| op.is(&SCALAR)).map(scalar::read).collect()
}

/// How far a clause says that addresses move with the scalars of the program and the loops around the operation.
///
/// # Errors
/// `constraint`: more numbers than scalars and loops.
pub(crate) fn steps(
    op: OpRef<'_>,
    constraint: &str,
    clause: &str,
    written: Option<std::rc::Rc<[i64]>>,
) -> Result<Moving, Diagnostic> {
    let (scalars, loops) = (scalars(op)?, around(op)?);
    let steps = written.map_or_else(Vec::new, |written| written.to_vec());
    if steps.len() > scalars.len() + loops.len() {
        let and = if scalars.is_empty() { String::new() } else { counted(scalars.len(), "scalar") + " and " };
        let (found, loops) = (counted(steps.len(), "step"), counted(loops.len(), "loop"));
        return Err(op.clause_error(
            constraint,
            clause,
            format!("{found} for {and}{loops} around the command"),
        ));
    }
    let (first, loops) = (scalars.len(), scalars.iter().map(|scalar| scalar.count).chain(loops).collect());
    Ok(Moving { steps: Steps(steps), loops, scalars: first })
}

/// How addresses move, and how many numbers the scalars and loops count that they move with.
pub(crate) struct Moving {
    pub(crate) steps: Steps,
    loops: Vec<u64>,
    /// How many of them are scalars.
    scalars: usize,
}

impl Moving {
    /// A loop for each loop around the operation with which addresses move.
    fn entries(&self) -> impl Iterator<Item = Entry> {
        let moving = self.loops.iter().zip(&self.steps.0).filter(|(_, step)| **step != 0);
        moving.map(|(&limit, &step)| Entry::new(limit, step))
    }

    /// How addresses that move so are apart from others in the same iterations.
    pub(crate) fn beside(&self, other: &Self) -> Self {
        let apart = |depth: usize| self.steps.of(depth).wrapping_sub(other.steps.of(depth));
        Self { steps: Steps((0..self.loops.len()).map(apart).collect()), loops: self.loops.clone(), ..*self }
    }

    /// Whether addresses move with a scalar of the program.
    pub(crate) fn with_scalars(&self) -> bool {
        self.steps.0.iter().take(self.scalars).any(|step| *step != 0)
    }

    /// All that a program touches in any iteration.
    pub(crate) fn reach(&self, program: &Program) -> Program {
        Program {
            entries: self.entries().chain(program.entries.iter().cloned()).collect(),
            ..program.clone()
        }
    }

    /// The first step that is no multiple of `align` bytes.
    pub(crate) fn misaligned(&self, align: u64) -> Option<i64> {
        self.steps.0.iter().copied().find(|step| !step.unsigned_abs().is_multiple_of(align))
    }
}
