//! Chooses the open clauses of pipelines.

use crate::config::choice::Choice;
use crate::config::computation::Computations;
use crate::config::memo::Means;
use crate::contradiction;
use crate::driver::{self, Chosen, Driver};
use crate::effort::budget::{Budget, DEFAULT};
use crate::effort::clock::{Clock, Phase};
use crate::effort::watch::Watch;
use crate::explain::advise::{Advice, ends, pipeline};
use crate::explain::dump::Dump;
use crate::explain::{refused, report};
use crate::rules::ruleset::RuleSet;
use std::rc::Rc;
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::open::Opening;
use visa_ir::span::Span;
use visa_machine::Unit;
use visa_pass::{Configured, Level, OutputName, Pass, PassCx};

visa_pass::options! {
    /// The options.
    struct Settings {
        explain: bool = ("explain", "false", "report each choice, engine by engine, and egg's proof that it makes \
             the tensor that the worst configuration makes"),
        advise: bool = ("advise", "false", "report pipelines that are written in full and could make the same \
             tensor in fewer cycles, with the rewrites and the new clauses"),
        apply: bool = ("apply", "false", "apply the changes that `advise` reports"),
        budget: i64 = ("budget", DEFAULT, "most work for the whole module, in units of about 15 microseconds: a \
             candidate that is proposed is one, one that is verified, lowered and priced one or more; then the \
             cheapest candidate so far is chosen, and a warning lists the omissions"),
        dump: OutputName = ("dump", "", "write the e-graphs to this file: for `NAME.json` in the format of \
                                         egraph-serialize, for `NAME.dot` for Graphviz; of several pipelines to \
                                         `NAME-1`, `NAME-2` and so on"),
    }
}

/// The pass.
pub static PASS: Pass = Pass {
    name: "select-configs",
    summary: "chooses open clauses of pipelines: the cheapest legal configuration",
    doc: "A clause that is `auto` gets the value that makes its pipeline take the fewest cycles; of equally fast \
          ones the one whose engines are busy for the fewest cycles together, then the shortest text. An e-graph a \
          pipeline holds every configuration that the rules reach (`passes/select/src/rules`): a class is a stream \
          or a tensor, its nodes are the ways to make it. A rule only proposes; verifiers and lowering refuse \
          candidates that the machine cannot run, and the cost function of `visa-run --report` prices the rest, \
          engine by engine. Extraction is exact: cycles are those of the busiest engine and the latencies, so a \
          class keeps the Pareto front of its ways. Pipelines that share tensors of open layout are extracted \
          together, by variable elimination. Pipelines are chosen in program order; explicit clauses stay. An open \
          context becomes `main` or `dual`, whichever makes the whole kernel faster.",
    takes: Level::Memory,
    gives: Level::Memory,
    open: true,
    closes: Some(Opening::Configuration),
    statistics: &[
        ("pipelines", "pipelines with open clauses"),
        ("advised", "pipelines without open clauses for which there is a cheaper way"),
        ("e-classes", "streams and tensors that some configuration makes"),
        ("e-nodes", "ways to make them"),
        ("iterations", "rounds of growth: operations reached"),
        ("saturated", "pipelines for which the rules found no more candidates"),
        ("node-limit", "pipelines whose e-graph reached its bound"),
        ("budget-limit", "functions of which the budget left something out"),
        (
            "budget-spent",
            "units of work: candidates that were proposed, verified, lowered and priced, of choices that are not \
             kept too",
        ),
        (
            "exchanged",
            "contractions whose operands were exchanged: the register file holds the operand that was to be \
             streamed",
        ),
        (
            "shared",
            "pipelines that share tensors whose layout is open: extracted together, as a graph, by an integer \
             program; the others as trees",
        ),
        ("layouts", "layouts of these tensors"),
        (
            "ways",
            "ways to run these pipelines, each for some layouts of its inputs: the candidates of the extraction",
        ),
        ("layout-limit", "groups of such pipelines of which not all layouts were tried"),
        (
            "distributions",
            "distributions of a kernel's tensors over slices that were tried, each with the whole kernel",
        ),
        ("dual", "pipelines of open context that run in `dual`"),
        ("rule-limit", "operations for which a bound left out proposals of textual rules"),
        ("refused", "candidates that broke a limit"),
        (
            "cycles-worst",
            "cycles of the most expensive configuration of each pipeline that no other dominates, together",
        ),
        ("cycles-best", "cycles of the chosen ones"),
    ],
    ..Pass::with::<Settings>()
};

impl Configured for Settings {
    fn run(self, cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
        let clock = cx.ctx.data::<Clock>();
        let before = Phase::ALL.map(|phase| clock.spent(phase));
        let ran = chosen(cx, &self);
        cx.ctx.data::<Watch>().tell(None);
        for (phase, before) in Phase::ALL.into_iter().zip(before) {
            cx.spend(phase.name(), clock.spent(phase) - before);
        }
        ran
    }
}

fn chosen(cx: &mut PassCx<'_>, settings: &Settings) -> Result<(), Vec<Diagnostic>> {
    let budget = budget(cx, settings.budget)?;
    let mut dump = Dump::to(&settings.dump.0).map_err(|refused| vec![refused])?;
    if settings.advise || settings.apply {
        advise(cx, dump.as_mut(), &budget, settings.apply)?;
    }
    let explains = settings.explain;
    let (mut counts, mut findings, mut dumped) = (Vec::new(), Vec::new(), Ok(()));
    let ctx = cx.ctx;
    let mut tell = |chosen: Chosen| match chosen {
        Chosen::Pipeline(mut choice) => {
            counts.extend(counted(&choice));
            findings.extend(choice.limits.iter().cloned());
            if let (Some(dump), Ok(())) = (&mut dump, &dumped) {
                dumped = dump.add(ctx, &choice);
            }
            if explains {
                findings.push(explained(&mut choice));
            }
        }
        Chosen::Shared(shared) => {
            counts.extend([
                ("shared", shared.pipelines as u64),
                ("layouts", shared.layouts as u64),
                ("ways", shared.ways as u64),
            ]);
            counts.push(("layout-limit", shared.bounded.into()));
            if explains {
                findings.push(remark(shared.at, report::shared(&shared)));
            }
        }
        Chosen::Exchanged(load) => {
            counts.push(("exchanged", 1));
            if explains {
                findings.push(exchanged(load));
            }
        }
        Chosen::Context(begin, unit) => {
            counts.push(("dual", (unit == Unit::Dual).into()));
            if explains {
                findings.push(remark(begin, format!("this pipeline runs in `{unit}`")));
            }
        }
        Chosen::Distribution(tried) => counts.push(("distributions", tried as u64)),
        Chosen::Cut(warning) => {
            counts.push(("budget-limit", 1));
            findings.push(warning);
        }
    };
    let rules = ctx.data::<RuleSet>();
    let written = cx.module.clone();
    let ran = driver::computations(ctx, cx.module).and_then(|computations| {
        let means = Means::new(&rules, &budget, Rc::new(computations));
        Driver { ctx, means: &means, tell: &mut tell }.run(cx.module)
    });
    cx.count("budget-spent", budget.spent());
    counts.into_iter().for_each(|(statistic, n)| cx.count(statistic, n));
    findings.into_iter().for_each(|finding| cx.report(finding));
    let named = |refused: Diagnostic| match refused.code == PASS.name {
        true => contradiction::named(ctx, &written, &rules, refused),
        false => refused,
    };
    ran.map_err(|refused| vec![named(refused)])?;
    dumped.map_err(|refused| vec![refused])?;
    dump.into_iter().flat_map(Dump::outputs).for_each(|output| cx.write(output));
    Ok(())
}

/// The budget that the options give.
fn budget(cx: &PassCx<'_>, written: i64) -> Result<Budget, Vec<Diagnostic>> {
    match u64::try_from(written) {
        Ok(most @ 1..) => Ok(Budget::new(most, cx.ctx.data())),
        Ok(0) | Err(_) => {
            let message = format!("found `budget={written}`, expected at least one unit of work");
            let error = Diagnostic::error("select-configs", Span::default(), message);
            Err(vec![error.fix(format!("leave it out for {DEFAULT}"))])
        }
    }
}

/// Reports pipelines that are written in full and could be cheaper; with `apply` they become so.
fn advise(
    cx: &mut PassCx<'_>,
    mut dump: Option<&mut Dump>,
    budget: &Budget,
    apply: bool,
) -> Result<(), Vec<Diagnostic>> {
    let rules = cx.ctx.data::<RuleSet>();
    let computations = Computations::of_module(cx.ctx, cx.module).map_err(|refused| vec![refused])?;
    let computations = Rc::new(computations);
    for end in ends(cx.ctx, cx.module) {
        let chain = pipeline(cx.ctx, cx.module, end);
        let Some(mut advice) = Advice::on(cx.ctx, cx.module, &chain, (&rules, budget, &computations)) else {
            continue;
        };
        cx.count("advised", 1);
        cx.count("rule-limit", advice.choice.graph.limits.len() as u64);
        advice.choice.limits.iter().for_each(|limit| cx.report(limit.clone()));
        cx.report(advice.remark(cx.ctx, cx.module));
        if let Some(dump) = &mut dump {
            dump.add(cx.ctx, &advice.choice).map_err(|refused| vec![refused])?;
        }
        if apply {
            *cx.module = advice.module;
        }
    }
    let first = ends(cx.ctx, cx.module).first().map(|&end| cx.module.op(cx.ctx, end).span());
    if let Some(cut) = first.and_then(|at| refused::cut(at, budget)) {
        cx.count("budget-limit", 1);
        cx.report(cut);
    }
    Ok(())
}

/// The statistics of one choice.
fn counted(choice: &Choice) -> [(&'static str, u64); 9] {
    let graph = &choice.graph;
    [
        ("pipelines", 1),
        ("e-classes", graph.egraph.number_of_classes() as u64),
        ("e-nodes", graph.egraph.total_size() as u64),
        ("iterations", graph.rounds as u64),
        (if graph.full { "node-limit" } else { "saturated" }, 1),
        ("rule-limit", graph.limits.len() as u64),
        ("refused", graph.refusals.values().map(|refused| refused.count).sum()),
        ("cycles-worst", choice.most_expensive),
        ("cycles-best", choice.best.time.cycles()),
    ]
}

fn exchanged(span: Span) -> Diagnostic {
    let message =
        "the operands of this contraction change places: it is cheaper to stream the tensor that was written to \
         stay"
            .to_owned();
    Diagnostic { severity: Severity::Remark, ..Diagnostic::error("select-configs", span, message) }
}

fn explained(choice: &mut Choice) -> Diagnostic {
    let mut text = format!("chosen for this pipeline:\n{}", report::explained(choice));
    if let Some(proof) = report::proof(choice) {
        text.push_str(&format!(
            "\nthe same tensor as the most expensive one that no other dominates:\n  {proof}"
        ));
    }
    remark(choice.at, text)
}

fn remark(span: Span, text: String) -> Diagnostic {
    Diagnostic { severity: Severity::Remark, ..Diagnostic::error("select-configs", span, text) }
}
