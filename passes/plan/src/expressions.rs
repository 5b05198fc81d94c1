//! The passes of expressions through the vector engine, as `plan-vector` chooses them: the counts of plans have their
//! operations and their lanes.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};
use visa_machine::Machine;
use visa_mapping::expression::{Dag, Expression};
use visa_numerics::DType;
use visa_vector::{BUILTIN, VectorRule, count_passes, parse_rules};

/// Stages of a pipeline without those of the vector engine, each a cycle of latency: fetch, collect, commit.
pub const STAGES: u64 = 3;

/// The format in which the vector engine computes with elements of a format in memory (book 20).
#[must_use]
pub fn computed(dtype: DType) -> DType {
    if dtype.is_float() { DType::F32 } else { DType::I32 }
}

/// A pass through the vector engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorPass {
    /// Operations, each of which has the latency of an ALU.
    operations: u64,
    /// True if it works on four lanes at a time.
    narrow: bool,
}

/// The passes of an expression; `None` if no plan of it was found.
type Passes = Option<Arc<[VectorPass]>>;

/// The passes of some expressions, counted once.
#[derive(Clone, Default)]
pub struct KnownPasses(OnceLock<Vec<Passes>>);

/// Passes follow from the expressions, which a step has already.
impl fmt::Debug for KnownPasses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("passes")
    }
}

impl KnownPasses {
    /// The passes of expression `number` of `all`, each with the formats of its operands.
    pub fn of<'e>(
        &self,
        number: usize,
        all: impl FnOnce() -> Vec<Option<(&'e Expression, Vec<DType>)>>,
    ) -> Option<&[VectorPass]> {
        self.0.get_or_init(|| counted(&all())).get(number)?.as_deref()
    }
}

/// The passes of all expressions, those of equal ones counted once.
fn counted(all: &[Option<(&Expression, Vec<DType>)>]) -> Vec<Passes> {
    let Ok(rules) = parse_rules(BUILTIN) else { return Vec::new() };
    let mut known: HashMap<String, Passes> = HashMap::new();
    let passes = |own: &Option<(&Expression, Vec<DType>)>| {
        let (expression, formats) = own.as_ref()?;
        let key = format!("{:?} {formats:?}", expression.term);
        known.entry(key).or_insert_with(|| passes(expression, formats, &rules)).clone()
    };
    all.iter().map(passes).collect()
}

/// The passes of an expression.
fn passes(expression: &Expression, formats: &[DType], rules: &[VectorRule]) -> Passes {
    let dag = Dag::new(expression, formats).ok()?;
    let counted = count_passes(&dag, rules, false, true).ok()??;
    let pass = |stages: &Vec<_>| VectorPass {
        operations: stages.len() as u64,
        narrow: stages.iter().any(|stage: &visa_numerics::VectorStage| stage.is_narrow()),
    };
    Some(counted.stages.iter().map(pass).collect())
}

impl VectorPass {
    /// Cycles of the vector engine for a flit; `few` if at most four lanes of it are used, which take no longer on
    /// four lanes.
    #[must_use]
    pub fn steps(&self, few: bool) -> u64 {
        if self.narrow && !few { 2 } else { 1 }
    }

    /// Latency of the operations.
    #[must_use]
    pub fn latency(&self, machine: &Machine) -> u64 {
        self.operations * machine.timing.alu_latency_cycles
    }
}

/// Cycles of the pipelines of an expression on `flits`, of which at most four lanes are used if `few`. The fetch of
/// the first pipeline takes `accesses`.
#[must_use]
pub fn cycles(passes: &[VectorPass], (flits, accesses): (u64, u64), few: bool, machine: &Machine) -> u64 {
    let pass = |(number, pass): (usize, &VectorPass)| {
        let fetched = if number == 0 { accesses } else { flits };
        fetched.max(pass.steps(few) * flits) + pass.latency(machine) + STAGES
    };
    passes.iter().enumerate().map(pass).sum()
}
