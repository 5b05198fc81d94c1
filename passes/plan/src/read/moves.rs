//! Steps with one plan: coordinates, constants with an axis, rows that an index chooses.

use crate::array::{Array, MostPadding};
use crate::program::Work;
use crate::read::{Reader, unplanned};
use crate::region::{Computation, Operation, Slot};
use crate::single::indexed::{distance, fits_scratchpad};
use crate::single::{Move, Part, Single, generate};
use std::collections::HashSet;
use std::sync::Arc;
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::{OpId, OpRef, ValueId};
use visa_mapping::expression::{Expression, Term};
use visa_mapping::ops::constant::{Constant, Coordinate};
use visa_mapping::ops::gather::{Gather, ScatterInto};
use visa_mapping::ops::{cast, contract, map, where_};
use visa_mapping::tensor::value::one_axis;
use visa_numerics::{DType, engine_cast};

/// Most runs of equal numbers of a constant: each takes a command.
const MOST_RUNS: usize = 64;

impl Reader<'_> {
    /// The limit on the padding of rows of a value that no step computes in pipelines.
    pub(super) fn padding(&self, value: ValueId) -> MostPadding {
        self.shared.padding(value).unwrap_or(MostPadding::Quarter)
    }

    /// Appends a step with one plan, whose result is `out`. Returns the number of its array.
    pub(super) fn single(&mut self, op: OpRef<'_>, kind: Move, out: Array, inputs: Vec<usize>) -> usize {
        // Transfers within HBM move no padding along: rows without gaps are whole units together. Rows that stay where
        // they are keep theirs.
        let unmoved = matches!(&kind, Move::Relabel { before, after, .. } if before.last() == after.last());
        let own = if unmoved { out.most_padding } else { MostPadding::Quarter };
        let out = Array { most_padding: self.shared.padding(op.results()[0]).unwrap_or(own), ..out };
        let number = self.add(op.results()[0], out.clone());
        if matches!(kind, Move::Relabel { .. }) {
            self.views.insert(number);
            self.aliases.extend(inputs.iter().map(|&input| (number, input)));
        }
        self.push(Work::Single(Box::new(Single { kind, out })), inputs, vec![number], op);
        number
    }

    /// The coordinates along an axis. Regions count them, if they alone read them; else one slice counts for all.
    pub(super) fn coordinates(&mut self, op: Coordinate<'_>) -> Result<(), Diagnostic> {
        let axis = one_axis(*op, "C1", "axis", &*op.axis()?)?;
        if let Some(&number) = self.coordinates.get(&axis) {
            self.known.insert(op.results()[0], number);
            return Ok(());
        }
        let size = self.size(&axis);
        let counters = self.counters.of(size).ok_or_else(|| unplanned(*op, "an index without counters"))?;
        let out = self.array(op.results()[0], &self.name(op.results()[0]), *op)?;
        self.check_slice(*op, &out, size)?;
        let uses = self.module.uses(op.results()[0]);
        if !uses.is_empty() && uses.iter().all(|user| self.is_of_region(*user)) {
            self.counted.insert(op.results()[0], counters);
            return Ok(());
        }
        let number = self.single(*op, Move::Coordinates { counters }, out, Vec::new());
        self.coordinates.insert(axis, number);
        Ok(())
    }

    /// The slot of coordinates that the open region counts.
    pub(super) fn counts(
        &mut self,
        op: OpRef<'_>,
        value: ValueId,
        counters: [Arc<str>; 2],
    ) -> Result<Slot, Diagnostic> {
        let array = self.array(value, &self.name(value), op)?;
        Ok(self.counts_axis(array, counters))
    }

    /// The slot of the coordinates along the only axis of `array` that the open region counts.
    pub(super) fn counts_axis(&mut self, array: Array, counters: [Arc<str>; 2]) -> Slot {
        let counts = |own: &&Operation| {
            matches!(own.computation, Computation::Coordinates { .. })
                && self.region.values[own.result].array.axes == array.axes
        };
        if let Some(known) = self.region.operations.iter().find(counts) {
            return known.result;
        }
        let result = self.new_slot(array);
        self.region.operations.push(Operation { computation: Computation::Coordinates { counters }, result });
        result
    }

    /// Returns true if an operation that reads coordinates is a part of a region. A map after a contraction may be a
    /// part of that.
    fn is_of_region(&self, user: OpId) -> bool {
        let op = self.module.op(self.ctx, user);
        let chooses = op.is(&where_::DECL) || op.is(&where_::COMPARE);
        chooses || op.is(&map::DECL) && !op.operands().iter().any(|value| self.is_contracted(*value))
    }

    /// Returns true if a value is a contraction, or maps and conversions of one.
    fn is_contracted(&self, value: ValueId) -> bool {
        let (mut open, mut seen) = (vec![value], HashSet::new());
        while let Some(value) = open.pop() {
            let Some(op) = self.module.def_op(value).filter(|op| seen.insert(*op)) else { continue };
            let op = self.module.op(self.ctx, op);
            if op.is(&contract::DECL) {
                return true;
            }
            if op.is(&map::DECL) || op.is(&cast::DECL) {
                open.extend(op.operands());
            }
        }
        false
    }

    /// Refuses numbers of 32 bits that do not fit a slice with the commands that make them.
    fn check_slice(&self, op: OpRef<'_>, out: &Array, size: u64) -> Result<(), Diagnostic> {
        // Counts of eight bits and their sums; or numbers of 32 bits and their conversion.
        let most = self.machine.memory.dm_bytes_per_slice / (2 * u64::from(DType::I32.bits()) / 8);
        if size <= most {
            return Ok(());
        }
        let message = format!("`{op}` has {}, a slice makes at most {most}", counted(size, "number"));
        let fix = format!("pass `%{}` as an argument", out.name);
        Err(Diagnostic::error("plan-kernel", op.span(), message).fix(fix))
    }

    /// A number that is the same everywhere, or numbers along an axis, with which one slice is filled.
    pub(super) fn constant(&mut self, op: Constant<'_>) -> Result<(), Diagnostic> {
        let (values, result) = (op.values()?, op.results()[0]);
        if op.bits() {
            return Err(unplanned(*op, "a constant that is a pattern of bits"));
        }
        if op.along()?.is_none() {
            let &[value] = values.0.as_slice() else {
                return Err(unplanned(*op, "a constant of several numbers without an axis"));
            };
            self.constants.insert(result, value);
            return Ok(());
        }
        let out = self.array(result, &self.name(result), *op)?;
        let (wide, runs) = (crate::expressions::computed(out.dtype), generate::runs(&values.0).len());
        if wide != out.dtype && engine_cast(wide, out.dtype).is_none() {
            return Err(unplanned(*op, &format!("a constant of `{}` with an axis", out.dtype)));
        }
        if runs > MOST_RUNS {
            let most = format!("at most {MOST_RUNS} are filled");
            let message = format!("`%{}` has {runs} contiguous runs of equal numbers, {most}", out.name);
            let fix = format!("pass `%{}` as an argument", out.name);
            return Err(Diagnostic::error("plan-kernel", op.span(), message).fix(fix));
        }
        self.check_slice(*op, &out, values.0.len() as u64)?;
        self.single(*op, Move::Numbers(values.0.clone()), out, Vec::new());
        Ok(())
    }

    /// An array whose elements are all the same number. Each use has its own: it may be in a loop.
    pub(super) fn filled(&mut self, op: OpRef<'_>, value: ValueId, number: f64) -> Result<usize, Diagnostic> {
        let array = self.array(value, &self.name(value), op)?;
        let Some(axis) = array.axes.last().cloned() else {
            return Err(unplanned(op, "a number without an axis in memory"));
        };
        let count = self.size(&axis);
        self.check_slice(op, &array, count)?;
        let out = Array { most_padding: self.padding(value), ..array };
        self.arrays.push(out.clone());
        let filled = self.arrays.len() - 1;
        let kind = Move::Join { axis, parts: vec![Part::Number(number, count)] };
        self.push(Work::Single(Box::new(Single { kind, out })), Vec::new(), vec![filled], op);
        Ok(filled)
    }

    /// Rows of a table that an index chooses. The index is in scratchpad memory if it is in HBM before and fits;
    /// otherwise a map makes distances in bytes of it.
    pub(super) fn gather(&mut self, op: Gather<'_>) -> Result<(), Diagnostic> {
        if self.leave_to_contraction(op)? {
            return Ok(());
        }
        let (table, index) = (op.operands()[0], op.operands()[1]);
        let along = one_axis(*op, "C1", "along", &*op.along()?)?;
        let rows = match self.known.get(&table) {
            Some(&number) => self.arrays[number].clone(),
            None => self.array(table, "table", *op)?,
        };
        let (index, distances) = self.chosen_rows(*op, index, (&rows, &along), op.unit()?)?;
        let table = self.number(*op, table)?;
        let out = self.array(op.results()[0], &self.name(op.results()[0]), *op)?;
        let own = self.arrays[index].clone();
        self.single(*op, Move::Gather { along, index: own, distances }, out, vec![table, index]);
        Ok(())
    }

    /// A table with rows that an index chooses replaced, in place if nothing reads it afterwards.
    pub(super) fn scatter(&mut self, op: ScatterInto<'_>) -> Result<(), Diagnostic> {
        self.close()?;
        let along = one_axis(*op, "C1", "along", &*op.along()?)?;
        let (values, result) = (op.operands().to_vec(), op.results()[0]);
        let (rows, table) = (self.number(*op, values[0])?, self.number(*op, values[2])?);
        let out = self.array(result, &self.name(result), *op)?;
        let out = Array { most_padding: self.padding(result), ..out };
        let (index, distances) = self.chosen_rows(*op, values[1], (&out, &along), op.unit()?)?;
        let stays = self.is_last_use(values[2], table, *op);
        let table = self.stored(table, &out, stays, *op);
        let own = self.arrays[index].clone();
        let kind = Move::Scatter { along, index: own, distances };
        let number = self.single(*op, kind, out, vec![rows, index, table]);
        self.aliases.insert(number, table);
        Ok(())
    }

    /// The number of the array of an index, and true if it has distances in bytes: it is not in units of rows, or does
    /// not fit scratchpad memory.
    fn chosen_rows(
        &mut self,
        op: OpRef<'_>,
        index: ValueId,
        (rows, along): (&Array, &str),
        unit: i64,
    ) -> Result<(usize, bool), Diagnostic> {
        let unit = u64::try_from(unit).map_err(|_| unplanned(op, "a negative unit"))?;
        let known = self.known.get(&index).map(|&number| &self.arrays[number]);
        let distances = unit != 1 || known.is_none_or(|own| !fits_scratchpad(own, self.axes, self.machine));
        if !distances {
            self.close()?;
            return Ok((self.number(op, index)?, false));
        }
        let bytes = distance(rows, along, self.axes).filter(|bytes| {
            let last = bytes.checked_mul(self.size(along));
            bytes.is_multiple_of(unit) && last.is_some_and(|last| i32::try_from(last).is_ok())
        });
        let Some(bytes) = bytes else { return Err(far(op, unit)) };
        Ok((self.scaled(op, index, bytes / unit)?, true))
    }

    /// The number of the array of an index times `factor`, by a map of the open region, which ends then.
    fn scaled(&mut self, op: OpRef<'_>, index: ValueId, factor: u64) -> Result<usize, Diagnostic> {
        if factor == 1 {
            self.close()?;
            return self.number(op, index);
        }
        if !self.region.slots.contains_key(&index) {
            self.close()?;
            self.region.ops.push(op.id);
        }
        let operand = self.slot(op, index)?;
        let array = Array { name: format!("{}_bytes", self.name(index)), ..self.array(index, "", op)? };
        let result = self.new_slot(array);
        let factor = u32::try_from(factor).map_err(|_| unplanned(op, "an index of 2 GB"))?;
        let number = Term::Number(factor.into());
        let term = Term::Call("mul".into(), vec![Term::Name(0), number]);
        let expression = Some(Expression { names: vec!["x0".into()], term });
        let computation = Computation::Map { expression, operands: vec![operand], cast: None };
        self.region.operations.push(Operation { computation, result });
        self.region.extra = Some(result);
        self.region.replaced = Some((index, op.id));
        self.close_with()?.ok_or_else(|| unplanned(op, "an index that no step computes"))
    }
}

/// That an index is no distance in 32 bits.
fn far(op: OpRef<'_>, unit: u64) -> Diagnostic {
    let message = format!(
        "an index of `{op}` in units of {unit}: the machine counts rows in bytes, in 32 bits, or by number in \
         scratchpad memory"
    );
    let fix = "index rows by number, of a table of less than 2 GB whose rows are whole bytes".to_owned();
    Diagnostic::error("plan-kernel", op.span(), message).fix(fix)
}
