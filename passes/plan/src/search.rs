//! Chooses the plan of a step: all plans are ranked by counts, the best are lowered, and the report decides.

use crate::contraction::emit::{Planned, Values};
use crate::contraction::guess::{Parts, guess};
use crate::contraction::layout::Layout;
use crate::contraction::{Choice, Contraction, space};
use crate::memory::Transfers;
use crate::writer::{Writer, new};
use visa_algebra::Axes;
use visa_cost::MemoryModel;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, ValueId};
use visa_ir::verify::verify;
use visa_machine::Machine;
use visa_mapping::ops::func::{Func, Return};
use visa_pass::{Options, PassCx};
use visa_select::price::{allocated, report};

/// Plans that are lowered.
const MOST_LOWERED: usize = 12;
/// Plans that are ranked by the prices of their transfers.
const MOST_RANKED: usize = 400;

/// The environment of a search.
pub struct Search<'a> {
    /// The context.
    pub ctx: &'a Context,
    /// The declarations of axes.
    pub declarations: &'a Module,
    /// The axes.
    pub axes: &'a Axes,
    /// The machine.
    pub machine: &'a Machine,
    /// The model of memories.
    pub model: MemoryModel,
}

/// A plan with its cost.
pub struct Candidate {
    /// The plan.
    pub choice: Choice,
    /// Its cuts.
    pub layout: Layout,
    /// Cycles by counts.
    pub guessed: Parts,
    /// Cycles of the report.
    pub cycles: u64,
}

/// The result of a search.
pub struct Outcome {
    /// The lowered plans, the best first.
    pub lowered: Vec<Candidate>,
    /// Plans that were ranked.
    pub explored: usize,
    /// Error of the first plan that an engine refused, if there is one.
    pub refused: Option<Diagnostic>,
}

impl Search<'_> {
    /// The best plans of a contraction.
    #[must_use]
    pub fn run(&self, problem: &Contraction) -> Outcome {
        let mut all: Vec<(u64, Choice, Layout, Parts)> = Vec::new();
        let mut explored = 0;
        space::each(problem, self.axes, self.machine, &mut |choice, layout| {
            explored += 1;
            let Some(parts) = guess(problem, &choice, &layout, self.machine, self.model) else { return };
            all.push((parts.total(&layout), choice, layout, parts));
            if all.len() >= 8 * MOST_RANKED {
                all.sort_by_key(|(total, ..)| *total);
                all.truncate(MOST_RANKED);
            }
        });
        all.sort_by_key(|(total, ..)| *total);
        all.truncate(MOST_RANKED);
        let prices = Transfers::new(self.axes, self.machine, self.model);
        let mut all: Vec<_> = all
            .into_iter()
            .filter_map(|(_, choice, layout, parts)| {
                let (axes, machine) = (self.axes, self.machine);
                let planned = Planned { problem, choice: &choice, layout: &layout, axes, machine };
                let parts = planned.transfers(parts, &prices)?;
                Some((parts.total(&layout), choice, layout, parts))
            })
            .collect();
        all.sort_by_key(|(total, ..)| *total);
        let mut lowered = Vec::new();
        let mut refused = None;
        let mut tried = 0;
        for (_, choice, layout, guessed) in all {
            if lowered.len() >= MOST_LOWERED || tried >= 4 * MOST_LOWERED {
                break;
            }
            tried += 1;
            match self.cycles(problem, &choice, &layout) {
                Ok(cycles) => lowered.push(Candidate { choice, layout, guessed, cycles }),
                Err(why) => {
                    if std::env::var("VISA_PLAN_DEBUG").is_ok() {
                        eprintln!("refused {choice:?}: {}", why.message);
                    }
                    refused.get_or_insert(why);
                }
            }
        }
        lowered.sort_by_key(|candidate| candidate.cycles);
        if std::env::var("VISA_PLAN_DEBUG").is_ok() {
            for candidate in &lowered {
                eprintln!("{} guessed {} {:?} {:?}", candidate.cycles, candidate.guessed.total(&candidate.layout), candidate.guessed, candidate.choice);
            }
            eprintln!("explored {explored}");
        }
        Outcome { lowered, explored, refused }
    }

    /// Cycles of a plan in the report.
    fn cycles(&self, problem: &Contraction, choice: &Choice, layout: &Layout) -> Result<u64, Diagnostic> {
        let module = self.kernel(problem, choice, layout)?;
        let findings = verify(self.ctx, &module);
        if findings.iter().any(|finding| finding.severity == visa_ir::diag::Severity::Error) {
            return Err(visa_select::price::first(findings));
        }
        let tiled = layout.rows.tiles() * layout.stream.tiles() > 1;
        let mut module = module;
        if tiled {
            let pass = &visa_schedule::passes::schedule::PASS;
            let options = Options::defaults(pass.options);
            (pass.run)(&mut PassCx::new(self.ctx, &mut module, &options)).map_err(visa_select::price::first)?;
        }
        report(self.ctx, allocated(self.ctx, &module)?, None).map(|report| report.totals.cycles)
    }

    /// A kernel that is one contraction.
    fn kernel(&self, problem: &Contraction, choice: &Choice, layout: &Layout) -> Result<Module, Diagnostic> {
        let mut writer = Writer::new(self.ctx, self.declarations.clone());
        let body = writer.function("step");
        let arrays = problem.operands.iter().chain(&problem.epilogue.operands);
        let values: Vec<ValueId> =
            arrays.map(|array| writer.argument(body, array.ty(self.ctx, self.axes), &array.name)).collect();
        let values = Values { operands: [values[0], values[1]], epilogue: values[2..].to_vec() };
        let planned = Planned { problem, choice, layout, axes: self.axes, machine: self.machine };
        let out = planned.write(&mut writer, &values)?;
        writer.end(new!(writer, Return, [out]));
        Ok(writer.module)
    }
}

impl Writer<'_> {
    /// Appends a function whose addresses are open, and continues in its body.
    pub fn function(&mut self, name: &str) -> visa_ir::module::BlockId {
        let func = self.end(new!(self, Func).name(name).at_auto());
        let body = self.module.add_region(func);
        self.continue_in(body);
        body
    }
}
