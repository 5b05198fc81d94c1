//! Plans of small products by code apart from the planner: random plans of a space of distributions, layouts,
//! transfers and sums, and the plans that differ in one field from the fastest, lowered by the ordinary passes. The
//! cycles of the fastest one are compared with those of the plan of `plan-kernel`.

mod problem;
mod space;
mod text;

use crate::checks;
use crate::enumeration::problem::Problem;
use crate::enumeration::space::{Values, change, draw, neighbours};
use crate::files::{context, read};
use crate::open_clauses::cases::passes;
use crate::settings::Settings;
use crate::shared;
use std::collections::{BTreeMap, BTreeSet};
use visa_cost::{MemoryModel, price};
use visa_ir::context::Context;
use visa_machine::Machine;
use visa_support::Random;

/// Legal plans of a problem.
const PLANS: usize = 1_500;

/// Most plans that are drawn for a problem.
const MOST_DRAWN: usize = 2_000_000;

/// The fastest plans, of which half of the others are changes.
const FAST: usize = 32;

/// The fastest plans whose neighbours are lowered.
const FASTEST: usize = 8;

/// The greatest gap: cycles of the planner over those of the fastest plan.
const WORST: f64 = 1.1;

/// The passes after those that plan.
const LOWERED: &str = "plan-vector,schedule,allocate,lower-to-seq,lower-to-hw";

/// The cycles of a text after `before` and the passes that lower it.
fn cycles(ctx: &Context, text: &str, before: &str) -> Result<u64, String> {
    let module = read(ctx, text).ok_or("it does not verify")?;
    let lowered = passes(ctx, module, &format!("{before}{LOWERED}"))?;
    let program = visa_hw::compile(ctx, &lowered, Some("f")).map_err(|error| format!("{error:?}"))?;
    let report = price(&program, &Machine::rngd(), *ctx.data::<MemoryModel>());
    report.map(|report| report.totals.cycles).map_err(|error| format!("{error:?}"))
}

/// The plans of a problem that were lowered.
#[derive(Default)]
struct Lowered {
    /// Texts that were seen.
    seen: BTreeSet<String>,
    /// The plans by cycles.
    plans: BTreeMap<u64, Vec<Values>>,
    /// Number of legal ones.
    legal: usize,
}

impl Lowered {
    /// Lowers a plan if its text is new.
    fn add(&mut self, ctx: &Context, problem: &Problem, values: &Values) {
        let Some(text) = text::text(problem, values) else { return };
        if !self.seen.insert(text.clone()) {
            return;
        }
        if let Ok(cycles) = cycles(ctx, &text, "") {
            self.plans.entry(cycles).or_default().push(*values);
            self.legal += 1;
        }
    }

    /// The fastest plans.
    fn fastest(&self) -> Vec<Values> {
        self.plans.values().flatten().take(FASTEST).copied().collect()
    }

    /// Lowers plans that are drawn, and then the neighbours of the fastest until none is faster.
    fn search(&mut self, ctx: &Context, problem: &Problem, random: &mut Random) {
        for _ in 0..MOST_DRAWN {
            if self.legal == PLANS {
                break;
            }
            let legal = self.plans.values().flatten().count();
            let values = match random.below(4) {
                0 => draw(problem, random),
                changed if legal > 0 => {
                    let among = if random.below(2) == 0 { legal.min(FAST) } else { legal };
                    let plan = self.plans.values().flatten().nth(random.below(among)).expect("a plan");
                    change(problem, plan, changed, random)
                }
                _ => draw(problem, random),
            };
            self.add(ctx, problem, &values);
        }
        loop {
            let before = self.fastest();
            for values in &before {
                neighbours(problem, values).iter().for_each(|values| self.add(ctx, problem, values));
            }
            if self.fastest() == before {
                return;
            }
        }
    }
}

/// A problem with its result.
struct Case {
    /// The problem and the memory model.
    about: String,
    /// Legal plans.
    plans: usize,
    /// Cycles of the fastest of them.
    best: u64,
    /// Cycles of the planner's.
    planner: u64,
    /// The kernel of the fastest one.
    kernel: String,
}

impl Case {
    /// The cycles of the planner over those of the fastest plan.
    fn gap(&self) -> f64 {
        self.planner as f64 / self.best as f64
    }
}

/// Plans a problem both ways.
fn run_case(seed: u64, number: u64) -> Case {
    let random = &mut Random::of_case(seed, number);
    let problem = Problem::draw(random);
    let model = random.of(&[MemoryModel::Flat, MemoryModel::Book]);
    let mut ctx = context(None);
    ctx.set_data(model);
    let function = problem.text();
    let planner = cycles(&ctx, &function, "plan-kernel,").unwrap_or_else(|why| panic!("{why}\n{function}"));
    let mut lowered = Lowered::default();
    lowered.search(&ctx, &problem, random);
    let (&best, plans) = lowered.plans.first_key_value().expect("a legal plan");
    let kernel = text::text(&problem, &plans[0]).expect("a kernel");
    let about = format!("enumeration, seed {seed}, case {number}: {}, {model:?}", problem.about());
    check(&about, &problem, &kernel);
    Case { about, plans: lowered.legal, best, planner, kernel }
}

/// Compares the kernel with the evaluator; one of integers, whose sums are the same in every order, also with its
/// function.
fn check(about: &str, problem: &Problem, kernel: &str) {
    let (code, planned, error) =
        checks::opt(about, kernel, &["-", "--plan-vector", "--schedule", "--allocate"]);
    assert!(code == 0, "{about}: {error}\n{kernel}");
    let (code, results, error) = checks::run(about, &planned, &[]);
    assert!(code == 0 && results.contains(" 0 differ"), "{about}: {results}{error}\n{kernel}");
    if problem.is_exact() {
        let expected = checks::evaluate(about, &problem.text());
        let same = checks::crc(&results) == checks::crc(&expected);
        assert!(same, "{about}: {results} is not {expected}\n{kernel}");
    }
}

/// Compares the planner with the fastest plans of small products.
///
/// # Panics
/// If a kernel of the space computes something else, or the planner's plans take too many cycles more.
pub fn run(settings: &Settings<'_>) {
    let Settings { count, seed, .. } = *settings;
    let shares = shared::each_core(|numbers| {
        let numbers = numbers.take_while(|number| *number < count);
        numbers.map(|number| run_case(seed, number)).collect::<Vec<_>>()
    });
    let mut cases: Vec<Case> = shares.into_iter().flatten().collect();
    cases.sort_by(|one, other| one.gap().total_cmp(&other.gap()).then_with(|| one.about.cmp(&other.about)));
    let plans: usize = cases.iter().map(|case| case.plans).sum();
    let behind: Vec<&Case> = cases.iter().filter(|case| case.best < case.planner).collect();
    for case in &behind {
        println!("{}: {} cycles, the planner {}\n{}", case.about, case.best, case.planner, case.kernel);
    }
    let least = cases.iter().map(|case| case.plans).min();
    let (Some(least), Some(worst)) = (least, cases.last().map(Case::gap)) else { return };
    println!(
        "enumeration, seed {seed}: {} problems, {plans} plans, at least {least} of each; {} with gap 0, the worst \
         gap is {worst:.2}",
        cases.len(),
        cases.len() - behind.len()
    );
    assert!(worst <= WORST, "seed {seed}: a gap of {worst}, expected {WORST} at most");
}
