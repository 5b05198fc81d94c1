//! Writes a whole kernel: its steps with the values that pass between them, and the control flow around them.

use crate::flow::{Given, Ways, Written};
use crate::program::{Calls, Copied, Cut, Item, Kernel, Loop, Operand};
use crate::search::{Plan, Search};
use crate::writer::{Writer, new};
use std::collections::HashMap;
use std::rc::Rc;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId, TypeId, ValueId};
use visa_ir::span::Span;
use visa_mapping::ops::control::{For, Yield};
use visa_mapping::ops::func::Return;
use visa_mapping::ops::to_tile::ToTile;
use visa_mapping::ops::transfer::ToHbm;
use visa_mapping::ops::view::Tile;

/// A kernel with a plan for each step.
pub struct Assembly<'a> {
    /// The environment.
    pub search: &'a Search<'a>,
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The plans, and the ways of their values.
    pub plans: &'a [(&'a Plan, &'a Ways)],
    /// The module with the function.
    pub source: &'a Module,
}

impl Assembly<'_> {
    /// The comment at the beginning of a step: its results and operands. `stored` is true for an array in HBM.
    fn title(&self, number: usize, stored: &dyn Fn(usize) -> bool) -> String {
        let (step, ways) = (&self.kernel.steps[number], self.plans[number].1);
        let names = |arrays: &[usize], flags: &[bool], flag: bool, is: &dyn Fn(usize) -> bool| {
            let all = arrays.iter().zip(flags).filter(|(array, own)| **own == flag && is(**array));
            all.map(|(array, _)| format!("%{}", self.kernel.arrays[*array].name))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let (moved, any) = (|array: usize| !stored(array), |_: usize| true);
        let read = [
            names(&step.inputs, &ways.here, false, stored),
            names(&step.inputs, &ways.here, false, &moved),
            names(&step.inputs, &ways.here, true, &any),
        ];
        let written = [true, false].map(|stores| names(&step.outputs, &ways.stores, stores, &any));
        let phrases = [
            "reads {}",
            "moves {} within data memory",
            "reads {} in data memory",
            "writes {} in HBM",
            "leaves {} in data memory",
        ];
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
        writer.write_for(self.span(func));
        let block = writer.function(&kernel.name);
        let (mut values, mut numbers) = (HashMap::new(), HashMap::new());
        for argument in &kernel.arguments {
            match *argument {
                Operand::Array(number) => {
                    let array = &kernel.arrays[number];
                    let argument = writer.argument(block, array.ty(search.ctx, search.axes), &array.name);
                    values.insert(number, Written { stored: Some(argument), held: None });
                }
                Operand::Number(value) => {
                    let name = self.source.value_name(value).map_or_else(|| "number".into(), Rc::clone);
                    numbers.insert(value, writer.argument(block, self.source.ty(value), &name));
                }
            }
        }
        let mut body = Body { assembly: self, values, numbers };
        body.write(&mut writer, &kernel.body)?;
        let results = body.arrays(&kernel.results, func)?;
        writer.end(new!(writer, Return, results));
        Ok(writer.module)
    }

    /// The place of an operation in the source.
    fn span(&self, op: OpId) -> Span {
        self.source.op(self.search.ctx, op).span()
    }
}

/// Writes the body of a kernel.
struct Body<'a> {
    /// The kernel with its plans.
    assembly: &'a Assembly<'a>,
    /// The values of arrays.
    values: HashMap<usize, Written>,
    /// The numbers of the function.
    numbers: HashMap<ValueId, ValueId>,
}

impl Body<'_> {
    /// Writes items in their order.
    ///
    /// # Errors
    /// A plan that an engine refuses.
    fn write(&mut self, writer: &mut Writer<'_>, items: &[Item]) -> Result<(), Diagnostic> {
        for item in items {
            match item {
                Item::Step(number) => self.step(writer, *number)?,
                Item::Loop(own) => self.repeat(writer, own)?,
                Item::Call(call) => self.call(writer, call)?,
                Item::Copy(copied) => self.copy(writer, copied)?,
                Item::Tile(cut) => self.tile(writer, cut)?,
                Item::Insert(cut, part) => self.insert(writer, cut, *part)?,
                Item::Number(id) => self.number(writer, *id)?,
            }
        }
        Ok(())
    }

    fn name(&self, number: usize) -> &str {
        &self.assembly.kernel.arrays[number].name
    }

    fn ty(&self, number: usize) -> TypeId {
        self.assembly.kernel.arrays[number].ty(self.assembly.search.ctx, self.assembly.search.axes)
    }

    /// The written numbers for those of the function.
    fn given(&self, numbers: &[ValueId]) -> Vec<ValueId> {
        numbers.iter().map(|number| self.numbers[number]).collect()
    }

    /// The values of arrays in HBM.
    ///
    /// # Errors
    /// An array that is in data memory alone.
    fn arrays(&self, numbers: &[usize], op: OpId) -> Result<Vec<ValueId>, Diagnostic> {
        numbers.iter().map(|&number| self.array(number, op)).collect()
    }

    fn array(&self, number: usize, op: OpId) -> Result<ValueId, Diagnostic> {
        let stored = self.values.get(&number).and_then(|value| value.stored);
        stored.ok_or_else(|| elsewhere(self.assembly.span(op)))
    }

    fn store(&mut self, number: usize, value: ValueId) {
        self.values.insert(number, Written { stored: Some(value), held: None });
    }

    fn step(&mut self, writer: &mut Writer<'_>, number: usize) -> Result<(), Diagnostic> {
        let Assembly { search, kernel, plans, .. } = *self.assembly;
        let (step, (plan, ways)) = (&kernel.steps[number], plans[number]);
        if kernel.steps.len() > 1 {
            let stored = |array: usize| self.values.get(&array).is_some_and(|value| value.stored.is_some());
            writer.part(&self.assembly.title(number, &stored));
        }
        writer.write_for(self.assembly.span(step.op));
        let given = step.inputs.iter().zip(&ways.here).map(|(array, here)| {
            let value = self.values.get(array)?;
            // A value that nothing stored moves within data memory.
            if *here { value.held.map(Given::Here) } else { value.stored.or(value.held).map(Given::Stored) }
        });
        let given: Option<Vec<Given>> = given.collect();
        let given = given.ok_or_else(|| elsewhere(self.assembly.span(step.op)))?;
        let results = search.write(writer, &step.work, plan, (&given, &ways.stores))?;
        self.values.extend(step.outputs.iter().copied().zip(results));
        Ok(())
    }

    fn copy(&mut self, writer: &mut Writer<'_>, copied: &Copied) -> Result<(), Diagnostic> {
        writer.write_for(self.assembly.span(copied.op));
        let mut value = self.array(copied.from, copied.op)?;
        let stores_last = |step: usize| !self.assembly.plans[step].0.has_loops();
        if !copied.unless_stored_last.is_some_and(stores_last) {
            let name = &self.assembly.kernel.arrays[copied.from].name;
            writer.comment(&format!("A copy of %{name} in separate memory."));
            let layout = self.assembly.kernel.arrays[copied.to].layout(self.assembly.search.axes);
            let op = new!(writer, ToHbm, [value]).at_auto().element(layout);
            value = writer.value(op, self.name(copied.to))?;
        }
        self.store(copied.to, value);
        Ok(())
    }

    fn tile(&mut self, writer: &mut Writer<'_>, cut: &Cut) -> Result<(), Diagnostic> {
        writer.write_for(self.assembly.span(cut.op));
        let operands = [self.array(cut.whole, cut.op)?].into_iter().chain(self.given(&cut.numbers));
        let op =
            new!(writer, Tile, operands).along(Rc::clone(&cut.along)).element(Some(Rc::clone(&cut.element)));
        let op = if cut.index == 0 { op } else { op.index(cut.index) };
        let value = writer.value(op, self.name(cut.result))?;
        self.store(cut.result, value);
        Ok(())
    }

    fn insert(&mut self, writer: &mut Writer<'_>, cut: &Cut, part: usize) -> Result<(), Diagnostic> {
        writer.write_for(self.assembly.span(cut.op));
        let arrays = [self.array(part, cut.op)?, self.array(cut.whole, cut.op)?];
        let operands = arrays.into_iter().chain(self.given(&cut.numbers));
        let op = new!(writer, ToTile, operands)
            .along(Rc::clone(&cut.along))
            .element(Some(Rc::clone(&cut.element)));
        let op = if cut.index == 0 { op } else { op.index(cut.index) };
        let value = writer.value(op, self.name(cut.result))?;
        self.store(cut.result, value);
        Ok(())
    }

    fn repeat(&mut self, writer: &mut Writer<'_>, own: &Loop) -> Result<(), Diagnostic> {
        writer.write_for(self.assembly.span(own.op));
        let initial = self.arrays(&own.initial, own.op)?;
        let names: Vec<&str> =
            own.arguments.iter().map(|&number| self.assembly.kernel.arrays[number].name.as_str()).collect();
        let index = self.assembly.source.value_name(own.index).map_or_else(|| "i".into(), Rc::clone);
        let op = new!(writer, For, initial.iter().copied()).over(Rc::clone(&own.over));
        let results = writer.repeat(op, &index, &initial, &names, |writer, index, carried| {
            self.numbers.insert(own.index, index);
            own.arguments.iter().zip(carried).for_each(|(&number, &value)| self.store(number, value));
            self.write(writer, &own.body)?;
            let yielded = self.arrays(&own.yielded, own.op)?;
            writer.end(new!(writer, Yield, yielded));
            Ok(())
        })?;
        for (&number, value) in own.results.iter().zip(results) {
            writer.module.set_value_name(value, Some(self.name(number).into()));
            self.store(number, value);
        }
        Ok(())
    }

    fn call(&mut self, writer: &mut Writer<'_>, call: &Calls) -> Result<(), Diagnostic> {
        writer.write_for(self.assembly.span(call.op));
        let operands = call.operands.iter().map(|operand| match operand {
            Operand::Array(number) => self.array(*number, call.op),
            Operand::Number(number) => Ok(self.numbers[number]),
        });
        let operands: Vec<ValueId> = operands.collect::<Result<_, _>>()?;
        let results = call.results.iter().map(|&number| (self.ty(number), self.name(number)));
        let op = self.assembly.source.op(self.assembly.search.ctx, call.op);
        let results = writer.copy(op, operands, &results.collect::<Vec<_>>());
        call.results.iter().zip(results).for_each(|(&number, value)| self.store(number, value));
        Ok(())
    }

    fn number(&mut self, writer: &mut Writer<'_>, id: OpId) -> Result<(), Diagnostic> {
        let op = self.assembly.source.op(self.assembly.search.ctx, id);
        writer.write_for(op.span());
        let (result, operands) = (op.results()[0], self.given(op.operands()));
        let name = self.assembly.source.value_name(result).map_or_else(|| "number".into(), Rc::clone);
        let written = writer.copy(op, operands, &[(self.assembly.source.ty(result), &name)]);
        self.numbers.extend(written.into_iter().map(|value| (result, value)));
        Ok(())
    }
}

/// That a step reads a value that the steps before leave elsewhere.
fn elsewhere(span: Span) -> Diagnostic {
    Diagnostic::error("plan-kernel", span, "a step reads a value that no step before leaves where it reads")
}
