//! The control flow of a function: its blocks, loops, calls, and numbers that depend on indices.

use crate::array::Array;
use crate::placement::Placement;
use crate::program::{Calls, Copied, Item, Loop, Operand, Step, Work, same_layout};
use crate::read::storage::Carry;
use crate::read::{Reader, unplanned};
use std::collections::HashSet;
use std::mem::take;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{BlockId, OpRef, ValueId};
use visa_mapping::index::INDICES;
use visa_mapping::ops::call::{Calling, calling};
use visa_mapping::ops::control::{FOR, For, IF, YIELD, carried, times};
use visa_mapping::ops::func::{RETURN, argument_name};
use visa_mapping::ops::number::{AFFINE, SELECT};

impl Reader<'_> {
    /// Appends a step.
    pub(super) fn push(&mut self, work: Work, inputs: Vec<usize>, outputs: Vec<usize>, op: OpRef<'_>) {
        let loops = (!self.loops.is_empty()).then(|| self.loops.join(", and in "));
        let places = inputs.iter().map(|number| self.places.get(number).cloned()).collect();
        self.steps.push(Step { work, inputs, places, outputs, op: op.id, loops });
        self.items.push(Item::Step(self.steps.len() - 1));
    }

    /// Adds the arguments of a function.
    pub(super) fn arguments(&mut self, func: OpRef<'_>) -> Result<Vec<Operand>, Diagnostic> {
        let mut all = Vec::new();
        for (number, &argument) in self.module.args(func.regions()[0]).iter().enumerate() {
            if self.is_number(argument) {
                all.push(Operand::Number(argument));
                continue;
            }
            let array = self.array(argument, &argument_name(func, number), func)?;
            let array = Array { most_padding: self.padding(argument), ..array };
            let array = self.add(argument, array);
            self.places.extend(self.shared.place(argument).map(|place| (array, place)));
            all.push(Operand::Array(array));
        }
        Ok(all)
    }

    /// Returns true if a value is an index of a loop or a scalar.
    fn is_number(&self, value: ValueId) -> bool {
        INDICES.contains(&self.ctx.type_name(self.module.ty(value)))
    }

    /// Reads the operations of a block. Returns the numbers of the arrays that its end gives.
    pub(super) fn block(&mut self, block: BlockId) -> Result<Vec<usize>, Diagnostic> {
        for &id in self.module.ops(block) {
            let op = self.module.op(self.ctx, id);
            if op.is(&RETURN) || op.is(&YIELD) {
                self.close()?;
                let operands = op.operands().to_vec();
                return operands.into_iter().map(|value| self.number(op, value)).collect();
            }
            if !self.fused.contains(&id) {
                self.step(op)?;
            }
        }
        Ok(Vec::new())
    }

    /// Reads an operation of the control flow; false if it is another one.
    pub(super) fn flows(&mut self, op: OpRef<'_>) -> Result<bool, Diagnostic> {
        if op.is(&FOR) {
            self.close()?;
            self.repeat(For::of(op)?)?;
        } else if calling(op).is_some() {
            self.close()?;
            self.call(op)?;
        } else if op.is(&AFFINE) || op.is(&SELECT) {
            self.items.push(Item::Number(op.id));
        } else if op.is(&IF) {
            let message =
                "the planner has no step for `tm.if`: a loop of a plan has the same steps in each iteration";
            let fix =
                "divide the loop into one for the iterations with the branch and one for those without it";
            return Err(Diagnostic::error("plan-kernel", op.span(), message).fix(fix.to_owned()));
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// A loop: its body once, with the arrays that it carries.
    fn repeat(&mut self, op: For<'_>) -> Result<(), Diagnostic> {
        let (block, over) = (op.regions()[0], op.over()?);
        let (mut initial, mut arguments) = (Vec::new(), Vec::new());
        for own in carried(*op) {
            let argument = own.argument.ok_or_else(|| unplanned(*op, "a loop without arguments"))?;
            let array = self.array(argument, &self.name(argument), *op)?;
            let number = self.number(*op, own.initial)?;
            let stays = self.is_last_use(own.initial, number, *op);
            initial.push(self.stored(number, &array, stays, *op));
            arguments.push(self.add(argument, array));
        }
        let (outer, coordinates) = (take(&mut self.items), self.coordinates.clone());
        let count = times(op, self.axes)?;
        self.loops.push(format!("each of {count} iterations over `{over}`"));
        let mut yielded = self.block(block)?;
        self.place_yielded(&arguments, &mut yielded, *op);
        self.loops.pop();
        self.coordinates = coordinates;
        let body = std::mem::replace(&mut self.items, outer);
        let mut results = Vec::new();
        for (own, &before) in carried(*op).iter().zip(&initial) {
            let result = own.result.ok_or_else(|| unplanned(*op, "a loop without results"))?;
            let array = self.array(result, &self.name(result), *op)?;
            let number = self.add(result, array);
            self.aliases.insert(number, before);
            results.push(number);
        }
        let index = self.module.args(block)[0];
        let own = Loop { over, op: op.id, index, initial, arguments, body, yielded, results };
        self.items.push(Item::Loop(Box::new(own)));
        Ok(())
    }

    /// Puts the arrays at the end of a loop where those at its beginning are: a step writes there if nothing reads the
    /// old contents afterwards, otherwise they are copied.
    fn place_yielded(&mut self, arguments: &[usize], yielded: &mut [usize], op: OpRef<'_>) {
        let roots: Vec<usize> = yielded.iter().map(|&number| self.root(number)).collect();
        let carry = Carry { arguments, yielded: &roots };
        let placements: Vec<Placement> =
            (0..yielded.len()).map(|at| self.placement(&carry, yielded[at], at)).collect();
        for (at, number) in yielded.iter_mut().enumerate() {
            let of_other = arguments.iter().enumerate().any(|(other, own)| other != at && *own == roots[at]);
            if placements[at] == Placement::Apart && of_other {
                *number = self.copy(*number, &self.arrays[*number].clone(), op);
            }
        }
        for (at, number) in yielded.iter_mut().enumerate() {
            let array =
                Array { name: self.arrays[*number].name.clone(), ..self.arrays[arguments[at]].clone() };
            let same = same_layout(&self.arrays[*number], &array);
            *number = match placements[at] {
                Placement::Same if same => *number,
                Placement::SameIfStoredLast(step) if same => {
                    self.copy_unless(*number, &array, op, Some(step))
                }
                Placement::Same | Placement::SameIfStoredLast(_) | Placement::Apart => {
                    self.copy(*number, &array, op)
                }
            };
        }
    }

    /// The number of an array, or of a copy of it in the layout of `array`, if it does not stay where it is.
    pub(super) fn stored(&mut self, number: usize, array: &Array, stays: bool, op: OpRef<'_>) -> usize {
        if stays && same_layout(&self.arrays[number], array) {
            return number;
        }
        let array = Array { name: self.arrays[number].name.clone(), ..array.clone() };
        self.copy(number, &array, op)
    }

    /// Appends a copy of an array. Returns its number.
    pub(super) fn copy(&mut self, number: usize, out: &Array, op: OpRef<'_>) -> usize {
        self.copy_unless(number, out, op, None)
    }

    /// Appends a copy of an array, unless the plan of a step stores it after all of its loads.
    fn copy_unless(&mut self, from: usize, out: &Array, op: OpRef<'_>, unless: Option<usize>) -> usize {
        self.arrays.push(out.clone());
        let to = self.arrays.len() - 1;
        self.items.push(Item::Copy(Copied { op: op.id, from, to, unless_stored_last: unless }));
        to
    }

    /// A call of another function.
    fn call(&mut self, op: OpRef<'_>) -> Result<(), Diagnostic> {
        let mut operands = Vec::new();
        for &operand in op.operands() {
            if self.is_number(operand) {
                operands.push(Operand::Number(operand));
                continue;
            }
            let number = self.number(op, operand)?;
            let array = self.array(operand, &self.name(operand), op)?;
            operands.push(Operand::Array(self.stored(number, &array, true, op)));
        }
        let mut results = Vec::new();
        for &result in op.results() {
            let array = self.array(result, &self.name(result), op)?;
            results.push(self.add(result, array));
        }
        let callee = Calling::seen(op).callee()?;
        self.items.push(Item::Call(Calls { op: op.id, callee, operands, results }));
        Ok(())
    }

    /// Puts results into separate memory: parts of arrays, whose addresses may depend on numbers, and all results of a
    /// function that others call, so that callers can go on with its arguments.
    pub(super) fn separate_results(&mut self, results: &mut [usize], arguments: &[Operand], op: OpRef<'_>) {
        let called = self.shared.is_called(op.id);
        let mut roots: HashSet<usize> = arguments.iter().filter_map(Operand::array).collect();
        for number in results {
            let shares = self.views.contains(number) || !roots.insert(self.root(*number));
            if self.is_part(*number) || called && shares {
                *number = self.copy(*number, &self.arrays[*number].clone(), op);
            }
        }
    }
}
