//! Writes a whole kernel: its steps, one after the other, with the values that pass between them.

use crate::flow::{Given, Ways, Written};
use crate::read::Kernel;
use crate::search::{Plan, Search};
use crate::writer::{Writer, new};
use std::collections::HashMap;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId, ValueId};
use visa_ir::span::Span;
use visa_mapping::ops::func::Return;

/// A kernel with a plan for each step.
pub struct Assembly<'a> {
    /// The environment.
    pub search: &'a Search<'a>,
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The plans, and the ways of their values.
    pub plans: &'a [(&'a Plan, &'a Ways)],
    /// The places of the operations in the source.
    pub span: &'a dyn Fn(OpId) -> Span,
}

impl Assembly<'_> {
    /// The comment at the beginning of a step: its results and operands.
    fn title(&self, number: usize) -> String {
        let (step, ways) = (&self.kernel.steps[number], self.plans[number].1);
        let names = |arrays: &[usize], flags: &[bool], flag: bool| {
            let all = arrays.iter().zip(flags).filter(|(_, own)| **own == flag);
            all.map(|(array, _)| format!("%{}", self.kernel.arrays[*array].name))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let read = [false, true].map(|here| names(&step.inputs, &ways.here, here));
        let written = [true, false].map(|stores| names(&step.outputs, &ways.stores, stores));
        let phrases = ["reads {}", "reads {} in data memory", "writes {} in HBM", "leaves {} in data memory"];
        let named = read.iter().chain(&written).zip(phrases).filter(|(names, _)| !names.is_empty());
        let done: Vec<String> = named.map(|(names, phrase)| phrase.replace("{}", names)).collect();
        format!("Step {} of {} {}.", number + 1, self.kernel.steps.len(), done.join(" and "))
    }

    /// The module `base` with the kernel at its end.
    ///
    /// # Errors
    /// A plan that an engine refuses.
    pub fn write(&self, base: Module, func: OpId) -> Result<Module, Diagnostic> {
        let (search, kernel) = (self.search, self.kernel);
        let mut writer = Writer::new(search.ctx, base);
        writer.write_for((self.span)(func));
        let body = writer.function(&kernel.name);
        let mut values: HashMap<usize, Written> = HashMap::new();
        for (number, array) in kernel.arrays[..kernel.arguments].iter().enumerate() {
            let argument = writer.argument(body, array.ty(search.ctx, search.axes), &array.name);
            values.insert(number, Written { stored: Some(argument), held: None });
        }
        for (number, (step, (plan, ways))) in kernel.steps.iter().zip(self.plans).enumerate() {
            if kernel.steps.len() > 1 {
                writer.part(&self.title(number));
            }
            writer.write_for((self.span)(step.op));
            let given = step.inputs.iter().zip(&ways.here);
            let given: Option<Vec<Given>> = given
                .map(|(array, here)| {
                    let value = values.get(array)?;
                    if *here { value.held.map(Given::Here) } else { value.stored.map(Given::Stored) }
                })
                .collect();
            let given = given.ok_or_else(|| elsewhere((self.span)(step.op)))?;
            let results = search.write(&mut writer, &step.work, plan, (&given, &ways.stores))?;
            values.extend(step.outputs.iter().copied().zip(results));
        }
        let results: Option<Vec<ValueId>> =
            kernel.results.iter().map(|number| values.get(number)?.stored).collect();
        let results = results.ok_or_else(|| elsewhere((self.span)(func)))?;
        writer.end(new!(writer, Return, results));
        Ok(writer.module)
    }
}

/// That a step reads a value that the steps before leave elsewhere.
fn elsewhere(span: Span) -> Diagnostic {
    Diagnostic::error("plan-kernel", span, "a step reads a value that no step before leaves where it reads")
}
