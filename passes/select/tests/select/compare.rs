//! Choices against the cheapest of all configurations: pipelines that are drawn, and those of the kernels in
//! `test/`, each left open alone.

use super::brute::{Least, enumerate, join};
use super::{cases, whole};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use visa_algebra::Expr;
use visa_ir::context::{Attr, Context};
use visa_ir::decl::OpDecl;
use visa_ir::infer::infer_all;
use visa_ir::module::{Module, OpId, OpRef};
use visa_ir::open::{self, Opening};
use visa_mapping::ops::func::FUNC;
use visa_mapping::ops::transfer;
use visa_select::config::choice::choose;
use visa_select::rules::ruleset::RuleSet;
use visa_stream::ops::{begin, cast, collect, commit, contract, fetch, store, switch};
use visa_stream::pipeline::Pipeline;

/// Slices of a drawn case's machine: rules are the same with fewer, and runs are short.
pub(crate) const SLICES: u64 = 8;

/// Slices of a kernel's.
pub(crate) const ALL_SLICES: u64 = 256;

/// A pipeline with its configuration open.
#[derive(Clone, Debug)]
pub(crate) enum Case {
    /// Number `number` of a seed.
    Drawn { seed: u64, number: u64 },
    /// A pipeline of a function of a file, counted by their ends.
    Kernel { file: PathBuf, function: usize, end: usize },
}

/// The result of the comparison.
pub(crate) struct Compared {
    /// The case.
    pub(crate) case: Case,
    /// The cheapest of all, without its module.
    pub(crate) least: Least,
    /// Cycles of the chosen one, or why there is none.
    pub(crate) chosen: Result<u64, String>,
    /// Processor time of the choice.
    pub(crate) took: Duration,
    /// Duration of the search.
    pub(crate) searched: Duration,
}

impl Case {
    /// Cases of a seed.
    pub(crate) fn drawn(seed: u64, numbers: std::ops::Range<u64>) -> Vec<Self> {
        numbers.map(|number| Self::Drawn { seed, number }).collect()
    }

    /// Every pipeline of the files in these folders.
    pub(crate) fn kernels(folders: &[PathBuf]) -> Vec<Self> {
        let ctx = whole::context(ALL_SLICES);
        let listed = folders.iter().flat_map(|folder| std::fs::read_dir(folder).expect("a folder"));
        let mut files: Vec<PathBuf> = listed.map(|entry| entry.expect("an entry").path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "visa"));
        files.sort();
        let mut found = Vec::new();
        for file in files {
            let Some(module) = read(&ctx, &file) else { continue };
            for function in 0..functions(&ctx, &module).len() {
                let ends = whole::ends(&ctx, &alone(&ctx, &module, function)).len();
                let case = |end| Self::Kernel { file: file.clone(), function, end };
                found.extend((0..ends).map(case).filter(|case| case.open(&ctx, &ctx).is_some()));
            }
        }
        found
    }

    /// Its kernel's text.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Drawn { seed, number } => cases::kernel(*seed, *number).1,
            Self::Kernel { file, .. } => std::fs::read_to_string(file).expect("a kernel"),
        }
    }

    /// Its module with holes, and its pipeline; none if it cannot have holes.
    pub(crate) fn open(&self, small: &Context, large: &Context) -> Option<(Module, Vec<OpId>)> {
        match self {
            Self::Drawn { seed, number } => {
                let module = whole::load(small, &cases::kernel(*seed, *number).1).ok()?;
                let chain = whole::open_chains(small, &module).into_iter().next()?;
                Some((module, chain))
            }
            Self::Kernel { file, function, end } => {
                let module = alone(large, &read(large, file)?, *function);
                let end = *whole::ends(large, &module).get(*end)?;
                with_holes(large, module, end)
            }
        }
    }

    fn context<'c>(&self, small: &'c Context, large: &'c Context) -> &'c Context {
        match self {
            Self::Drawn { .. } => small,
            Self::Kernel { .. } => large,
        }
    }
}

fn read(ctx: &Context, file: &Path) -> Option<Module> {
    let module = whole::load(ctx, &std::fs::read_to_string(file).ok()?).ok()?;
    let closed = |id: &OpId| visa_ir::open::clauses(module.op(ctx, *id)).next().is_none();
    module.walk_all().iter().all(closed).then_some(module)
}

/// The functions of a module.
pub(crate) fn functions(ctx: &Context, module: &Module) -> Vec<OpId> {
    let all = module.ops(module.body()).iter().copied();
    all.filter(|&id| module.op(ctx, id).is(&FUNC)).collect()
}

/// The module with one of its functions.
pub(crate) fn alone(ctx: &Context, module: &Module, function: usize) -> Module {
    let mut module = module.clone();
    let all = functions(ctx, &module).into_iter().enumerate();
    all.filter(|(at, _)| *at != function).for_each(|(_, id)| module.erase(id));
    module
}

/// The operations that a search chooses in a pipeline.
const OPEN: [&OpDecl; 7] = [
    &fetch::DECL,
    &collect::DECL,
    &contract::ALIGN_DECL,
    &contract::CONTRACT_DECL,
    &contract::ACCUMULATE_DECL,
    &cast::DECL,
    &commit::DECL,
];

/// The module with the clauses of a pipeline open that no other text depends on, with the semantics that
/// `open-clauses` makes explicit; `None` if it has an operation that chooses more, or is not legal alone.
fn with_holes(ctx: &Context, mut module: Module, end: OpId) -> Option<(Module, Vec<OpId>)> {
    let chain = Pipeline::up_to(module.op(ctx, end)).ops;
    whole::compile(ctx, module.clone()).ok()?;
    let all = whole::run(ctx, module.clone(), "open-clauses{distributions=false}").expect("a module to open");
    for &id in &chain {
        let op = module.op(ctx, id);
        let opens = OPEN.iter().any(|decl| op.is(decl)) && (id != end || is_free(op));
        let clauses = op.decl()?.clauses.iter().filter(|clause| clause.opening == Opening::Configuration);
        let present: Vec<_> =
            clauses.map(|clause| clause.name).filter(|name| op.attr(name).is_some()).collect();
        if !opens && !STAY.iter().any(|decl| op.is(decl)) && !present.is_empty() {
            return None;
        }
        let stated = all.op(ctx, id).clauses().iter();
        let stated = stated.filter(|clause| module.op(ctx, id).attr(&clause.name).is_none());
        let stated: Vec<_> =
            stated.filter_map(|clause| Some((op.decl()?.clause(&clause.name)?.name, clause.value))).collect();
        let open: Vec<_> =
            present.into_iter().filter(|name| opens && open::is_open(all.op(ctx, id), name)).collect();
        stated.into_iter().for_each(|(name, value)| module.set_clause(id, name, Some(value)));
        let auto = ctx.attr(Attr::Auto);
        open.into_iter().for_each(|name| module.set_clause(id, name, Some(auto)));
    }
    let is_open = |id: &OpId| open::clauses(module.op(ctx, *id)).next().is_some();
    chain.iter().any(is_open).then_some(())?;
    infer_all(ctx, &mut module).ok()?;
    Some((module, chain))
}

/// Operations that stay as written.
const STAY: [&OpDecl; 5] = [&begin::DECL, &switch::DECL, &commit::DECL, &store::TO_TRF, &store::TO_VRF];

/// Transfers of a tensor.
const TRANSFERS: [&OpDecl; 3] = [&transfer::TO_HBM, &transfer::TO_DM, &transfer::TO_HOST];

/// Returns true if the readers of the result specify the layout of their results.
fn is_free(end: OpRef<'_>) -> bool {
    let users: Vec<_> = end.results().iter().flat_map(|&result| end.module.uses(result)).collect();
    let says = |user: OpRef<'_>| {
        TRANSFERS.iter().any(|decl| user.is(decl)) && user.body::<Expr>("element").is_some()
    };
    users.iter().all(|&&user| says(end.other(user)))
}

/// Chooses for every case, one after the other, then searches all of them on every core. In the order of the cases.
pub(crate) fn compare(cases: &[Case], most: u64) -> Vec<Compared> {
    let contexts = || (whole::context(SLICES), whole::context(ALL_SLICES));
    let (small, large) = contexts();
    let choices: Vec<_> = cases.iter().map(|case| chosen(case, (&small, &large))).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let ((small, large), mut found) = (contexts(), Vec::new());
        while let Some((at, case)) = take(cases, &next) {
            let Some((module, chain)) = case.open(&small, &large) else { continue };
            let start = Instant::now();
            let mut least = enumerate(case.context(&small, &large), &module, &chain, most);
            least.first = None;
            found.push((
                at,
                least.best,
                (least.legal, least.tried, least.lowered, least.whole),
                start.elapsed(),
            ));
        }
        found
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut found = thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a search")).collect::<Vec<_>>()
    });
    found.sort_by_key(|found| found.0);
    let mut choices: Vec<_> = choices.into_iter().map(Some).collect();
    let compared = |(at, best, counts, searched): (usize, _, (u64, u64, u64, bool), Duration)| {
        let (chosen, took) = choices[at].take()??;
        let (legal, tried, lowered, whole) = counts;
        let least = Least { legal, tried, lowered, whole, best, first: None };
        Some(Compared { case: cases[at].clone(), least, chosen, took, searched })
    };
    found.into_iter().filter_map(compared).collect()
}

fn take<'c>(cases: &'c [Case], next: &AtomicUsize) -> Option<(usize, &'c Case)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    cases.get(at).map(|case| (at, case))
}

/// Time that this thread has run, independent of other processes. If the system does not report it, time of the clock.
fn processor_time() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ran = text.split_whitespace().next().and_then(|nanoseconds| nanoseconds.parse().ok());
    ran.map_or_else(|| START.get_or_init(Instant::now).elapsed(), Duration::from_nanos)
}

/// Cycles of the chosen pipeline, and how long that took.
fn chosen(case: &Case, (small, large): (&Context, &Context)) -> Option<(Result<u64, String>, Duration)> {
    let ((module, chain), ctx) = (case.open(small, large)?, case.context(small, large));
    let start = processor_time();
    let choice = choose(ctx, &module, &chain, &RuleSet::default());
    let took = processor_time().saturating_sub(start);
    let cycles = choice.map_err(|why| format!("{why:?}")).and_then(|choice| {
        let mut closed = module.clone();
        choice.apply(ctx, &mut closed).map_err(|why| format!("{why:?}"))?;
        let program = whole::compile(ctx, closed).map_err(|why| format!("{why:?}"))?;
        let last = module.op(ctx, chain[chain.len() - 1]).span();
        let stages = whole::stages(&program, &ctx.data::<visa_machine::Machine>(), last);
        let times = stages.iter().map(|(_, cost, wait)| (cost.cycles, cost.latency, *wait));
        let (busiest, latency, _) = times.fold((0, 0, 0), join);
        Ok(busiest + latency)
    });
    Some((cycles, took))
}
