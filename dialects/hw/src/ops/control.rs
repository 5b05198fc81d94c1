//! `hw.for`, `hw.if`: loops and branches over commands.

use crate::ops::program::{BUFFER, PROGRAM};
use crate::ops::scalar::{self, SCALAR};
use crate::program;
use std::ops::Range;
use std::rc::Rc;
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::OpRef;
use visa_loops::{Condition, MAX_TIMES, Program, Step, Steps, narrowed};

/// The operations that commands may be in.
pub(crate) const COMMANDS: Trait = Trait::InsideOneOf(&["hw.program", "hw.for", "hw.if"]);

/// `hw.for`.
#[visa_ir::view(For)]
pub static FOR: OpDecl = OpDecl {
    name: "hw.for",
    summary: "runs commands again and again",
    doc: "The commands inside run in order, for its number of iterations. Addresses of a command move with the \
          loops around it: its clause `steps` (`read_steps` and `write_steps` of a transfer) has a number of bytes \
          for each loop, the outermost first, that the loop's index is multiplied by. Before them are numbers for \
          the scalars of the program (`hw.scalar`).",
    constraints: &[("C1", "there are 1 to 2^32 iterations (ours: the interpreter runs each of them)")],
    clauses: &[ClauseDecl::lead("times", ClauseKind::Int, "Iterations.")],
    traits: &[COMMANDS, Trait::Region],
    effects: Effects::OfBody,
    verify: Some(|op, _| times(For::of(op)?).map(drop)),
    example: "hw.for 4 {\n  hw.dma tensor, from hbm, to dm, loops [64 : 1 -> 1] : 64, read_steps [64]\n}",
    ..OpDecl::BASE
};

/// `hw.if`.
#[visa_ir::view(If)]
pub static IF: OpDecl = OpDecl {
    name: "hw.if",
    summary: "runs commands in some iterations of the loops around them",
    doc: "`steps` has a number for each scalar of the program and then for each loop around the branch, the outermost \
          first, that the scalar or the loop's index is multiplied by. The commands inside run where the sum of these \
          is at least `from` and less than `below`.",
    constraints: &[
        ("C1", "`from` or `below` is given"),
        ("C2", "`steps` has no more numbers than there are scalars and loops"),
        ("C3", "there is a number of a scalar or an iteration of the loops in which the commands run"),
    ],
    clauses: &[
        ClauseDecl::required("steps", ClauseKind::Ints, "Factors of scalars and indices."),
        ClauseDecl::optional("from", ClauseKind::Int, "The least sum."),
        ClauseDecl::optional("below", ClauseKind::Int, "One more than the greatest sum."),
    ],
    traits: &[COMMANDS, Trait::Region],
    effects: Effects::OfBody,
    verify: Some(|op, _| verify_if(op)),
    example: "hw.if steps [1], from 1 {\n  hw.dma tensor, from hbm, to dm, loops [64 : 1 -> 1] : 64 @ -64 -> 0, \
    read_steps [64]\n}",
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&FOR, &IF];

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

/// The loops that addresses move with: the scalars of the program around an operation, and then the loops around it,
/// the outermost first.
struct Around {
    /// Count of numbers that each of them goes through.
    counts: Vec<u64>,
    /// Count of scalars among them.
    scalars: usize,
}

impl Around {
    /// # Errors
    /// C1 of a scalar, and of a loop.
    fn of(op: OpRef<'_>) -> Result<Self, Diagnostic> {
        let mut loops = op.ancestors().filter_map(For::cast).map(times).collect::<Result<Vec<_>, _>>()?;
        loops.reverse();
        let scalars = scalars(op)?;
        let counts = scalars.iter().map(|scalar| scalar.count).chain(loops).collect();
        Ok(Self { counts, scalars: scalars.len() })
    }

    /// Checks that a clause has no more numbers than there are of these.
    ///
    /// # Errors
    /// `constraint`: there are more of them.
    fn no_more(
        &self,
        op: OpRef<'_>,
        (constraint, clause): (&str, &str),
        written: usize,
    ) -> Result<(), Diagnostic> {
        if written <= self.counts.len() {
            return Ok(());
        }
        let and = if self.scalars == 0 { String::new() } else { counted(self.scalars, "scalar") + " and " };
        let loops = counted(self.counts.len() - self.scalars, "loop");
        let message = format!("{} for {and}{loops} around the command", counted(written, "step"));
        Err(op.clause_error(constraint, clause, message))
    }
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

/// When the commands of a branch run.
///
/// # Errors
/// C1 and C2.
pub(crate) fn condition(branch: If<'_>) -> Result<Condition, Diagnostic> {
    let (from, below) = (branch.from()?, branch.below()?);
    if from.is_none() && below.is_none() {
        return Err(branch.error("C1", "neither `from` nor `below` is given"));
    }
    let factors = branch.steps()?;
    Around::of(*branch)?.no_more(*branch, ("C2", "steps"), factors.len())?;
    Ok(Condition::new(factors.to_vec(), from, below))
}

/// The conditions of branches.
///
/// # Errors
/// C1 and C2 of one.
fn conditions<'a>(branches: impl Iterator<Item = If<'a>>) -> Result<Vec<Condition>, Diagnostic> {
    branches.map(condition).collect()
}

fn verify_if(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let branches = std::iter::once(op).chain(op.ancestors()).filter_map(If::cast);
    match narrowed(&Around::of(op)?.counts, &conditions(branches)?) {
        Some(_) => Ok(()),
        None => Err(op.error("C3", "the commands inside never run")),
    }
}

/// Distance that addresses move with the scalars of the program and the loops around the operation, according to a
/// clause.
///
/// # Errors
/// `constraint`: more numbers than scalars and loops.
pub(crate) fn steps(
    op: OpRef<'_>,
    constraint: &str,
    clause: &str,
    written: Option<Rc<Steps>>,
) -> Result<Moving, Diagnostic> {
    let around = Around::of(op)?;
    let steps = written.as_deref().cloned().unwrap_or_default();
    around.no_more(op, (constraint, clause), steps.each.len())?;
    let conditions = conditions(op.ancestors().filter_map(If::cast))?;
    // If the operation never runs, its branch is refused.
    let ranges = narrowed(&around.counts, &conditions)
        .unwrap_or_else(|| around.counts.iter().map(|&count| 0..count).collect());
    Ok(Moving { steps, ranges, scalars: around.scalars })
}

/// The same of a pipeline's stage: with loops only, by multiples of `align` bytes.
pub(crate) fn steps_of_stage(
    op: OpRef<'_>,
    constraint: &str,
    written: Option<Rc<Steps>>,
    align: u64,
) -> Result<Moving, Diagnostic> {
    const CLAUSE: &str = "steps";
    let moving = steps(op, constraint, CLAUSE, written)?;
    let refuse = |message: String| Err(op.clause_error(constraint, CLAUSE, message));
    if moving.with_scalars() {
        return refuse(
            "addresses of a pipeline move with a scalar, but only those of transfers can".to_owned(),
        );
    }
    match moving.misaligned(align) {
        Some(step) => refuse(format!("a step is {step} bytes, expected a multiple of {align}")),
        None => Ok(moving),
    }
}

/// The steps of addresses, and the numbers of the scalars and loops that they move with.
pub(crate) struct Moving {
    pub(crate) steps: Steps,
    ranges: Vec<Range<u64>>,
    /// Count of steps that belong to scalars.
    scalars: usize,
}

impl Moving {
    /// Distance that addresses have moved where the operation runs first.
    pub(crate) fn first(&self) -> i64 {
        self.steps.reach(&self.ranges).0
    }

    /// The steps of addresses from where they are when the operation runs first.
    pub(crate) fn after_first(self) -> Steps {
        Steps { plus: self.first().saturating_neg(), ..self.steps }
    }

    /// The steps of the distance between these addresses and others in the same iterations.
    pub(crate) fn beside(&self, other: &Self) -> Self {
        Self { steps: self.steps.beside(&other.steps), ranges: self.ranges.clone(), ..*self }
    }

    /// Returns true if addresses move with a scalar of the program.
    pub(crate) fn with_scalars(&self) -> bool {
        self.steps.each.iter().take(self.scalars).any(|step| !step.is_still())
    }

    /// The addresses that a program touches in any iteration, and more where rotations are cut off.
    fn reach(&self, program: &Program) -> Program {
        let (first, entries) = self.steps.reach(&self.ranges);
        Program {
            entries: entries.into_iter().chain(program.entries.iter().cloned()).collect(),
            base: program.base.saturating_add(first),
            ..program.clone()
        }
    }

    /// All addresses that a program touches in any iteration, in parts: where rotations are cut off, their last part
    /// is separate.
    pub(crate) fn reaches(&self, program: &Program) -> Vec<Program> {
        let none = Step::default();
        let mut parts: Vec<Vec<Range<u64>>> = vec![Vec::new()];
        for (depth, range) in self.ranges.iter().enumerate() {
            let whole = self.steps.each.get(depth).unwrap_or(&none).whole_turns(range);
            parts = parts
                .into_iter()
                .flat_map(|known| {
                    whole.iter().map(move |part| [&known[..], std::slice::from_ref(part)].concat())
                })
                .collect();
        }
        let part = |ranges| Self { steps: self.steps.clone(), ranges, ..*self }.reach(program);
        parts.into_iter().map(part).collect()
    }

    /// The first number of bytes that addresses move by which is no multiple of `align`.
    pub(crate) fn misaligned(&self, align: u64) -> Option<i64> {
        let each = self.steps.each.iter();
        let mut moves = each.flat_map(|step| std::iter::once(&step.by).chain(&step.turns)).copied();
        moves.find(|step| !step.unsigned_abs().is_multiple_of(align))
    }
}
