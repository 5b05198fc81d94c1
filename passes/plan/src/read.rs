//! Divides a function of the tensor level into steps: parts that are planned one by one and meet in HBM.

mod assembled;
mod choices;
pub mod fallbacks;
mod folded;
mod formats;
mod moves;
mod orders;
mod parts;
mod permuted;
mod products;
mod programs;
mod reductions;
mod relabels;
mod selected;
mod storage;
mod windows;

use crate::array::{Array, Image, MostPadding};
use crate::contraction::{Contraction, Epilogue, Prologue, SumOrder, in_operand_order};
use crate::counters::{Counters, positions};
use crate::cut::Group;
use crate::expressions::{self, KnownPasses};
use crate::placed::Places;
use crate::placement::InPlace;
use crate::program::{Item, Kernel, Step, Work};
use crate::read::fallbacks::Fallbacks;
use crate::read::formats::check_operands;
use crate::region::{Computation, Operation, Region, RegionValue, Slot};
use crate::selection::SelectedRows;
use crate::shared::Shared;
use crate::tables::{FetchTable, Tables};
use crate::vector;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use visa_algebra::{Axes, AxisId, Expr};
use visa_engine::words::ContractionKind;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId, OpRef, ValueDef, ValueId};
use visa_machine::Machine;
use visa_mapping::expression::{Expression, Term};
use visa_mapping::ops::cast::{self, Cast, SUBTRACT_ZERO, SubtractZero};
use visa_mapping::ops::constant::{CONSTANT, Constant, Coordinate, INDEX};
use visa_mapping::ops::contract::{self, Contract};
use visa_mapping::ops::func::Func;
use visa_mapping::ops::gather::{GATHER, Gather, LOOKUP, SCATTER_INTO, ScatterInto};
use visa_mapping::ops::map::{self, Map};
use visa_mapping::ops::reduce::{self, Reduce};
use visa_mapping::ops::where_::{self, Compare, Where};
use visa_mapping::tensor::value::{Value, axis_list};
use visa_numerics::{DType, engine_cast, fetch_cast};

/// Reads a kernel while it is divided.
struct Reader<'a> {
    ctx: &'a Context,
    module: &'a Module,
    axes: &'a Axes,
    /// The axes that count coordinates.
    counters: &'a Counters,
    /// The tables that fetches look elements up in.
    tables: &'a Tables,
    machine: &'a Machine,
    /// Contractions without a plan in their usual form.
    fallbacks: &'a Fallbacks,
    /// Values that other parts of the program share.
    shared: &'a Shared,
    /// The functions that are planned: results that may be written where arguments are.
    in_place: &'a InPlace,
    /// Bytes that HBM moves together.
    unit: u64,
    arrays: Vec<Array>,
    /// The numbers of the arrays of values.
    known: HashMap<ValueId, usize>,
    /// Operations that a step before has computed.
    fused: HashSet<OpId>,
    steps: Vec<Step>,
    /// The items of the block that is being read.
    items: Vec<Item>,
    /// The loops around the block, for messages.
    loops: Vec<String>,
    /// Arrays that are in the memory of others.
    aliases: HashMap<usize, usize>,
    /// Arrays that are views.
    views: HashSet<usize>,
    /// Arrays that are parts of others.
    cuts: HashSet<usize>,
    /// Parts of values.
    extracted: HashMap<ValueId, Extracted>,
    /// The numbers that values are everywhere.
    constants: HashMap<ValueId, f64>,
    /// Values that are conversions of others, for contractions alone.
    converted: HashMap<ValueId, (ValueId, Prologue)>,
    /// Values that are conversions of others at the fetch of the pipelines that read them.
    fetched: HashMap<ValueId, FetchedValue>,
    /// Parts of axes that are inserted elsewhere.
    pieces: HashMap<ValueId, assembled::Piece>,
    /// Values that parts are inserted into.
    assemblies: HashMap<ValueId, assembled::Assembly>,
    /// Rows that an index chooses, for a contraction alone.
    selected: HashMap<ValueId, SelectedRows>,
    /// Windows of arrays, by the numbers of these arrays.
    windows: HashMap<ValueId, (usize, Array)>,
    /// The written places in data memory of arguments, by their arrays.
    places: Places,
    /// The arrays of the coordinates along axes.
    coordinates: HashMap<Arc<str>, usize>,
    /// Coordinates that regions count.
    counted: HashMap<ValueId, [Arc<str>; 2]>,
    /// The region that is being read.
    region: OpenRegion,
}

/// A conversion of a value at the fetch of the pipelines that read it.
#[derive(Clone)]
struct FetchedValue {
    /// The value, which is in HBM.
    source: ValueId,
    /// The table that replaces each element first.
    table: Option<FetchTable>,
    /// The format.
    to: DType,
}

/// The operands of a contraction.
struct Factors {
    /// The numbers of their arrays.
    numbers: [usize; 2],
    /// The arrays, with their windows.
    arrays: [Array; 2],
    /// The conversions at their fetches.
    prologues: [Prologue; 2],
    /// The axes that are summed.
    summed: Vec<Arc<str>>,
}

/// A part of a value, which a restriction leaves without the axes that are cut.
#[derive(Clone)]
struct Extracted {
    value: ValueId,
    along: Rc<Expr>,
    axes: Vec<Arc<str>>,
    numbers: Vec<ValueId>,
    index: i64,
}

/// A region while it is read.
#[derive(Default)]
struct OpenRegion {
    values: Vec<RegionValue>,
    slots: HashMap<ValueId, Slot>,
    inputs: Vec<(Slot, usize)>,
    operations: Vec<Operation>,
    /// The operations of the function, and their results.
    ops: Vec<OpId>,
    results: Vec<ValueId>,
    reduced: Vec<Arc<str>>,
    /// A value that another step reads, and that is none of the function's.
    extra: Option<Slot>,
    /// A value and an operation that reads the extra value in its place.
    replaced: Option<(ValueId, OpId)>,
}

/// Divides a function into steps. HBM moves `unit` bytes together.
///
/// # Errors
/// An operation that no step computes.
pub fn read(
    ctx: &Context,
    module: &Module,
    func: OpId,
    (axes, counters, tables): (&Axes, &Counters, &Tables),
    (shared, in_place): (&Shared, &InPlace),
    (machine, unit): (&Machine, u64),
    fallbacks: &Fallbacks,
) -> Result<Kernel, Diagnostic> {
    let op = module.op(ctx, func);
    let name = Func::of(op)?.name()?.to_string();
    let mut reader = Reader {
        ctx,
        module,
        axes,
        counters,
        tables,
        machine,
        fallbacks,
        shared,
        in_place,
        unit,
        arrays: Vec::new(),
        known: HashMap::new(),
        fused: HashSet::new(),
        steps: Vec::new(),
        items: Vec::new(),
        loops: Vec::new(),
        aliases: HashMap::new(),
        views: HashSet::new(),
        cuts: HashSet::new(),
        extracted: HashMap::new(),
        constants: HashMap::new(),
        converted: HashMap::new(),
        fetched: HashMap::new(),
        pieces: HashMap::new(),
        assemblies: HashMap::new(),
        selected: HashMap::new(),
        windows: HashMap::new(),
        places: Places::new(),
        coordinates: HashMap::new(),
        counted: HashMap::new(),
        region: OpenRegion::default(),
    };
    let arguments = reader.arguments(op)?;
    let mut results = reader.block(op.regions()[0])?;
    reader.separate_results(&mut results, &arguments, op);
    let Reader { arrays, aliases, steps, items, .. } = reader;
    Ok(Kernel { name, arrays, arguments, aliases, steps, body: items, results })
}

impl Reader<'_> {
    /// The array of a value.
    fn array(&self, value: ValueId, name: &str, op: OpRef<'_>) -> Result<Array, Diagnostic> {
        let ty = self.ctx.type_value::<Value>(self.module.ty(value));
        let ty = ty.ok_or_else(|| unplanned(op, "an argument that is no value"))?;
        let written = self.shared.written(value);
        Ok(Array {
            name: name.to_owned(),
            dtype: ty.dtype,
            axes: written.map_or_else(|| self.axis_order(value, &ty), |layout| layout.axes.clone()),
            unit: self.shared.written_rows(value).map_or(self.unit, |layout| layout.unit),
            most_padding: self.shared.padding(value).unwrap_or(MostPadding::Packets),
            joined: 1,
            row: None,
            image: None,
            view: None,
        })
    }

    fn add(&mut self, value: ValueId, array: Array) -> usize {
        self.arrays.push(array);
        self.known.insert(value, self.arrays.len() - 1);
        self.arrays.len() - 1
    }

    /// The number of the array of a value. A number that is the same everywhere becomes an array.
    fn number(&mut self, op: OpRef<'_>, value: ValueId) -> Result<usize, Diagnostic> {
        match (self.known.get(&value), self.constants.get(&value)) {
            (Some(&number), _) => Ok(number),
            (None, Some(&constant)) => self.filled(op, value, constant),
            (None, None) => Err(unplanned(op, "an operand that no step computes")),
        }
    }

    fn name(&self, value: ValueId) -> String {
        self.module.value_name(value).map_or_else(|| "out".to_owned(), |name| name.to_string())
    }

    /// Reads an operation: the beginning of a step, or a part of a region.
    fn step(&mut self, op: OpRef<'_>) -> Result<(), Diagnostic> {
        if self.folds(op)? {
            return Ok(());
        }
        if op.is(&map::DECL) {
            self.begin(op, &[])?;
            return self.map(Map::of(op)?);
        }
        if op.is(&SUBTRACT_ZERO) {
            return self.subtract_zero(SubtractZero::of(op)?);
        }
        if let Some(prologue) = self.prologue(op)? {
            self.converted.insert(op.results()[0], (op.operands()[0], prologue));
            return Ok(());
        }
        let table = self.tables.of_op(op, self.machine)?;
        let casts = op.is(&cast::DECL) && !Cast::of(op)?.bits();
        if (casts || table.is_some()) && self.convert_at_fetch(op, table.clone())? {
            return Ok(());
        }
        if let Some(table) = table {
            return self.lookup(op, table);
        }
        if casts {
            self.begin(op, &[])?;
            return self.cast(op);
        }
        if op.is(&reduce::DECL) {
            return self.reduce(Reduce::of(op)?);
        }
        if op.is(&where_::DECL) {
            return self.choose(Where::of(op)?);
        }
        if op.is(&where_::COMPARE) {
            return self.compare(Compare::of(op)?);
        }
        if op.is(&CONSTANT) {
            return self.constant(Constant::of(op)?);
        }
        if op.is(&INDEX) {
            return self.coordinates(Coordinate::of(op)?);
        }
        if op.is(&GATHER) {
            return self.gather(Gather::of(op)?);
        }
        if op.is(&SCATTER_INTO) {
            return self.scatter(ScatterInto::of(op)?);
        }
        if self.begins_assembly(op) || self.relabels(op)? || self.parts(op)? || self.flows(op)? {
            return Ok(());
        }
        if op.is(&contract::DECL) {
            return self.contraction(Contract::of(op)?);
        }
        self.close()?;
        Err(unplanned(op, &format!("`{op}`")))
    }

    /// The conversion of an operation at the fetch of contractions, if only they use its result.
    fn prologue(&self, op: OpRef<'_>) -> Result<Option<Prologue>, Diagnostic> {
        let types = op.operand_type::<Value>(0).zip(op.result_type::<Value>(0));
        let converts = op.is(&LOOKUP) || op.is(&cast::DECL) && !Cast::of(op)?.bits();
        let Some((from, to)) = types.filter(|_| converts) else { return Ok(None) };
        let uses = self.module.uses(op.results()[0]);
        let contracts = |user: &OpId| {
            let user = self.module.op(self.ctx, *user);
            user.is(&contract::DECL) || user.is(&SUBTRACT_ZERO)
        };
        let alone = to.dtype.accumulator().is_some()
            && !uses.is_empty()
            && uses.iter().all(contracts)
            && self.known.contains_key(&op.operands()[0]);
        let table = self.tables.of_op(op, self.machine)?;
        let cast = op.is(&cast::DECL) && self.machine.fetch_cast(from.dtype, to.dtype).is_some();
        let dtype = cast.then_some(to.dtype);
        Ok((alone && (cast || table.is_some())).then_some(Prologue { table, dtype, zero_points: None }))
    }

    /// A look-up: at the fetch of the pipelines that read the result.
    fn lookup(&mut self, op: OpRef<'_>, table: FetchTable) -> Result<(), Diagnostic> {
        let operand = op.operands()[0];
        let converted = |slot: &Slot| self.region.values[*slot].storage != *slot;
        if self.region.slots.get(&operand).is_some_and(converted) {
            self.close()?;
        }
        self.begin(op, &[])?;
        let source = self.slot(op, operand)?;
        let result = self.result(op)?;
        let stored = &self.region.values[source];
        let array = Array { name: self.region.values[result].array.name.clone(), ..stored.array.clone() };
        self.region.values[result] =
            RegionValue { array, read: table.to, table: Some(table), storage: source };
        Ok(())
    }

    fn subtract_zero(&mut self, op: SubtractZero<'_>) -> Result<(), Diagnostic> {
        let source = op.operands()[0];
        let converted = self.converted.get(&source).filter(|(_, before)| before.zero_points.is_none());
        let Some((source, before)) =
            converted.cloned().filter(|_| op.along().is_ok_and(|along| along.is_none()))
        else {
            return Err(unplanned(
                *op,
                "zero points that are not those of a converted argument, one for all elements",
            ));
        };
        let prologue = Prologue { zero_points: Some(op.points()?.to_vec()), ..before };
        self.converted.insert(op.results()[0], (source, prologue));
        Ok(())
    }

    /// The number of the array of an operand of a contraction, which its fetch may convert.
    fn operand(&mut self, op: OpRef<'_>, value: ValueId) -> Result<usize, Diagnostic> {
        let source = self.converted.get(&value).map_or(value, |(source, _)| *source);
        match self.windows.get(&source) {
            Some((number, _)) => Ok(*number),
            None => self.number(op, source),
        }
    }

    /// Leaves out the padding between the summed axes of an argument, if they are its last ones and a contraction
    /// alone reads it.
    fn join(&mut self, value: ValueId, number: usize, summed: &[Arc<str>]) {
        let padded = |axis: &Arc<str>| self.arrays[number].pitch(self.size(axis)) != self.size(axis);
        if !self.arrays[number].axes.last().is_some_and(padded) {
            return;
        }
        let array = &mut self.arrays[number];
        let last = array.axes.iter().rev().take_while(|axis| summed.contains(axis)).count();
        let sizes = array.axes.iter().rev().take(last).filter_map(|axis| self.axes.id(axis));
        let is_single = sizes.map(|id| self.axes.size(id)).product::<u64>() == 1;
        let argument = matches!(self.module.def(value), ValueDef::Argument(..)) && self.loops.is_empty();
        let alone = argument && self.module.uses(value).len() == 1 && self.shared.padding(value).is_none();
        if alone && last > 1 && !is_single && array.most_padding == MostPadding::Quarter {
            array.joined = last;
        }
    }

    /// The array of an operand of a contraction, with its windows.
    fn operand_array(&self, value: ValueId, number: usize) -> Array {
        let source = self.converted.get(&value).map_or(value, |(source, _)| *source);
        self.windows.get(&source).map_or_else(|| self.arrays[number].clone(), |(_, array)| array.clone())
    }

    /// Continues the region, or begins another one if it has all operations that it may have, or if reductions along
    /// `reduced` would leave no rows to divide and slices do not divide those.
    fn begin(&mut self, op: OpRef<'_>, reduced: &[Arc<str>]) -> Result<(), Diagnostic> {
        let mut operands = Vec::new();
        for at in 0..op.operands().len() {
            let ty =
                op.operand_type::<Value>(at).ok_or_else(|| unplanned(op, "an operand that is no value"))?;
            operands.extend(ty.axes.iter().cloned());
        }
        let divides = |axis: &Arc<str>| !reduced.contains(axis) && !self.region.reduced.contains(axis);
        let before = self.region.values.iter().flat_map(|value| &value.array.axes);
        let rows = operands.iter().chain(before).any(|axis| divides(axis) && self.size(axis) > 1);
        let first = self.region.ops.first();
        let most = first.and_then(|first| self.fallbacks.most.get(first));
        let ends = most.is_some_and(|most| self.region.ops.len() >= *most);
        let divides_sums = first.is_some_and(|first| self.fallbacks.vectors.contains(first));
        if (!rows && !divides_sums || ends) && !self.region.operations.is_empty() {
            self.close()?;
        }
        self.region.ops.push(op.id);
        self.region.reduced.extend(reduced.iter().cloned());
        Ok(())
    }

    /// The axes with more than one position: the others are nowhere in memory.
    fn long(&self, names: &[Arc<str>]) -> Vec<Arc<str>> {
        names.iter().filter(|axis| self.size(axis) > 1).cloned().collect()
    }

    /// The positions of several axes.
    fn count(&self, names: &[Arc<str>]) -> u64 {
        names.iter().map(|axis| self.size(axis)).product()
    }

    fn size(&self, axis: &str) -> u64 {
        self.axes.id(axis).map_or(1, |id| self.axes.size(id))
    }

    /// The slot of a value of the region.
    fn slot(&mut self, op: OpRef<'_>, value: ValueId) -> Result<Slot, Diagnostic> {
        if let Some(&slot) = self.region.slots.get(&value) {
            return Ok(slot);
        }
        let slot = match (self.counted.get(&value).cloned(), self.fetched.get(&value).cloned()) {
            (Some(counters), _) => self.counts(op, value, counters)?,
            (None, Some(FetchedValue { source, table, to })) => {
                let source = self.slot(op, source)?;
                let array = Array { name: self.name(value), ..self.region.values[source].array.clone() };
                self.region.values.push(RegionValue { array, read: to, table, storage: source });
                self.region.values.len() - 1
            }
            (None, None) => match self.windows.get(&value).cloned() {
                Some((number, array)) => self.input_as(number, array),
                None => {
                    let number = self.number(op, value)?;
                    self.input_as(number, self.arrays[number].clone())
                }
            },
        };
        self.region.slots.insert(value, slot);
        Ok(slot)
    }

    /// Converts a value at the fetch of the pipelines that read it: true if the value is in HBM, and regions and the
    /// maps after contractions alone read the conversion.
    fn convert_at_fetch(&mut self, op: OpRef<'_>, table: Option<FetchTable>) -> Result<bool, Diagnostic> {
        let types = op.operand_type::<Value>(0).zip(op.result_type::<Value>(0));
        let Some((from, to)) = types.map(|(from, to)| (from.dtype, to.dtype)) else { return Ok(false) };
        let (mut source, result) = (op.operands()[0], op.results()[0]);
        let mut table = table;
        if let Some(before) = self.fetched.get(&source).filter(|_| table.is_none()) {
            (source, table) = (before.source, before.table.clone());
        }
        let reads = |user: &OpId| {
            let user = self.module.op(self.ctx, *user);
            let computes = [&map::DECL, &reduce::DECL, &where_::DECL, &where_::COMPARE];
            let whole = positions(user, self.axes).is_ok_and(|positions| positions.is_none());
            whole && computes.into_iter().any(|decl| user.is(decl))
                || table.is_some()
                    && user.is(&cast::DECL)
                    && fetch_cast(to, expressions::computed(to)).is_some()
        };
        let uses = self.module.uses(result);
        let casts = table.is_some() || fetch_cast(from, to).is_some() && expressions::computed(to) == to;
        if !casts || !self.known.contains_key(&source) || uses.is_empty() || !uses.iter().all(reads) {
            return Ok(false);
        }
        self.fetched.insert(result, FetchedValue { source, table, to });
        Ok(true)
    }

    /// The slot of an array that the region reads.
    fn input(&mut self, number: usize) -> Slot {
        self.input_as(number, self.arrays[number].clone())
    }

    /// The slot of an input, which the region reads as `array`: the array itself, or windows of it.
    fn input_as(&mut self, number: usize, array: Array) -> Slot {
        let same = |(slot, own): &&(Slot, usize)| {
            *own == number && self.region.values[*slot].array.view == array.view
        };
        let known = self.region.inputs.iter().find(same).map(|(slot, _)| *slot);
        known.unwrap_or_else(|| {
            let slot = self.new_slot(array);
            self.region.inputs.push((slot, number));
            slot
        })
    }

    /// A new value of the region.
    fn new_slot(&mut self, array: Array) -> Slot {
        let slot = self.region.values.len();
        self.region.values.push(RegionValue::stored(array, slot));
        slot
    }

    /// The slot of the result of an operation.
    fn result(&mut self, op: OpRef<'_>) -> Result<Slot, Diagnostic> {
        let value = op.results()[0];
        let array = self.array(value, &self.name(value), op)?;
        let slot = self.new_slot(array);
        self.region.slots.insert(value, slot);
        self.region.results.push(value);
        Ok(slot)
    }

    fn map(&mut self, op: Map<'_>) -> Result<(), Diagnostic> {
        check_operands(*op)?;
        let expression = op.expression()?;
        let (mut operands, mut terms) = (Vec::new(), Vec::new());
        for &operand in op.operands() {
            if let Some(&number) = self.constants.get(&operand) {
                terms.push(Term::Number(number));
                continue;
            }
            terms.push(Term::Name(operands.len()));
            let slot = self.slot(*op, operand)?;
            operands.push(slot);
        }
        if operands.is_empty() {
            return Err(unplanned(*op, "an expression of constants"));
        }
        let names = (0..operands.len()).map(|at| format!("x{at}").into()).collect();
        let expression = Some(Expression { names, term: vector::substituted(&expression.term, &terms) });
        let result = self.result(*op)?;
        let computation = Computation::Map { expression, operands, cast: None };
        self.region.operations.push(Operation { computation, result });
        Ok(())
    }

    /// A conversion: at the end of the pipeline that computes the value, at a fetch, or by itself.
    fn cast(&mut self, op: OpRef<'_>) -> Result<(), Diagnostic> {
        let operand = op.operands()[0];
        let source = self.slot(op, operand)?;
        let from = self.region.values[source].read;
        let result = self.result(op)?;
        let to = self.region.values[result].array.dtype;
        let alone = self.module.uses(operand).len() == 1;
        if engine_cast(from, to).is_some() {
            let last = self.region.operations.last_mut().filter(|last| last.result == source && alone);
            if let Some(Operation { computation: Computation::Map { cast: cast @ None, .. }, result: slot }) =
                last
            {
                (*cast, *slot) = (Some(to), result);
                return Ok(());
            }
            let computation = Computation::Map { expression: None, operands: vec![source], cast: Some(to) };
            self.region.operations.push(Operation { computation, result });
            return Ok(());
        }
        let stored = &self.region.values[source];
        let stays = !stored.is_converted() && (stored.storage == source || stored.table.is_some());
        if fetch_cast(from, to).is_none() || !stays || expressions::computed(to) != to {
            return Err(unplanned(op, &format!("a conversion of `{from}` to `{to}`")));
        }
        let array = Array { name: self.region.values[result].array.name.clone(), ..stored.array.clone() };
        let (table, storage) = (stored.table.clone(), stored.storage);
        self.region.values[result] = RegionValue { array, read: to, table, storage };
        Ok(())
    }

    /// Ends the region.
    fn close(&mut self) -> Result<(), Diagnostic> {
        self.close_with().map(drop)
    }

    /// Ends the region. Returns the number of the array of its extra value, if it has one.
    fn close_with(&mut self) -> Result<Option<usize>, Diagnostic> {
        let mut region = std::mem::take(&mut self.region);
        let Some(&first) = region.ops.first() else { return Ok(None) };
        let mut outputs: Vec<(Option<ValueId>, Slot)> =
            region.extra.iter().map(|&slot| (None, slot)).collect();
        for value in region.results.clone() {
            if let Some(slot) = self.output(&mut region, value) {
                outputs.push((Some(value), slot));
            }
        }
        if outputs.is_empty() {
            return Ok(None);
        }
        let first = self.module.op(self.ctx, first);
        let wanted: Vec<Vec<Arc<str>>> =
            outputs.iter().map(|(_, slot)| region.values[*slot].array.axes.clone()).collect();
        let reads_windows = region.inputs.iter().any(|(slot, _)| region.values[*slot].array.view.is_some());
        if self.fallbacks.orders.contains(&first.id) || reads_windows {
            self.in_order(&mut region, &outputs, first);
        }
        let rows = self.rows(&region);
        let mut numbers = Vec::new();
        for &(value, slot) in &outputs {
            self.arrays.push(region.values[slot].array.clone());
            let number = self.arrays.len() - 1;
            self.known.extend(value.map(|value| (value, number)));
            numbers.push(number);
        }
        let extra = region.extra.map(|_| numbers[0]);
        let work = Region {
            rows,
            inputs: region.inputs.iter().map(|(slot, _)| *slot).collect(),
            outputs: outputs.iter().map(|(_, slot)| *slot).collect(),
            values: region.values,
            operations: region.operations,
            passes: KnownPasses::default(),
        }
        .hoisted(self.axes);
        let inputs = region.inputs.iter().map(|(_, number)| *number).collect();
        self.push(Work::Region(Box::new(work)), inputs, numbers.clone(), first);
        for ((&(value, _), number), axes) in outputs.iter().zip(numbers).zip(wanted) {
            let ordered = |value: &ValueId| {
                self.arrays[number].axes == axes || reads_windows && !self.has_typed_order(*value)
            };
            let Some(value) = value.filter(|value| !ordered(value)) else { continue };
            let number = self.reordered(first, number, axes, 1);
            self.known.insert(value, number);
        }
        Ok(extra)
    }

    /// The slot of a value that later steps read or the function returns; `None` if there is no such use.
    fn output(&self, region: &mut OpenRegion, value: ValueId) -> Option<Slot> {
        let inside = |user: &OpId| region.ops.contains(user) || region.replaced == Some((value, *user));
        let outside = self.module.uses(value).iter().any(|user| !inside(user));
        let slot = region.slots[&value];
        let written = region.operations.iter().any(|own| own.result == slot);
        let converted = region.values[slot].clone();
        if !outside || (!written && converted.storage == slot) {
            return None;
        }
        if converted.storage == slot {
            return Some(slot);
        }
        // A conversion at the fetch is in no memory until a pipeline writes it.
        let array = Array { dtype: converted.read, ..converted.array };
        let result = region.values.len();
        region.values.push(RegionValue::stored(array, result));
        let computation = Computation::Map { expression: None, operands: vec![slot], cast: None };
        region.operations.push(Operation { computation, result });
        Some(result)
    }

    /// The axes of a region that no operation reduces, in the order of the largest value.
    fn rows(&self, region: &OpenRegion) -> Vec<Arc<str>> {
        let size = |array: &Array| array.axes.iter().map(|axis| self.size(axis)).product::<u64>();
        let mut arrays: Vec<&Array> = region.values.iter().map(|value| &value.array).collect();
        arrays.sort_by_key(|array| std::cmp::Reverse(size(array)));
        let mut rows: Vec<Arc<str>> = Vec::new();
        for axis in arrays.iter().flat_map(|array| &array.axes) {
            if !region.reduced.contains(axis) && !rows.contains(axis) && self.size(axis) > 1 {
                rows.push(Arc::clone(axis));
            }
        }
        rows
    }

    fn contraction(&mut self, op: Contract<'_>) -> Result<(), Diagnostic> {
        let factor = op.operand_type::<Value>(0).map(|value| value.dtype);
        if let Some(dtype) = factor.filter(|dtype| dtype.accumulator().is_none()) {
            return Err(not_multiplied(*op, dtype));
        }
        if op.keep()?.is_some() {
            let message = "the planner has no step for a sum with `keep`".to_owned();
            let fix =
                "count the digits of its axes with `tm.split` of both operands, and sum over some of them"
                    .to_owned();
            return Err(Diagnostic::error("plan-kernel", op.span(), message).fix(fix));
        }
        if op.kind()? != ContractionKind::Add {
            return Err(unplanned(*op, "a contraction of kind `max`"));
        }
        if let Some(at) = op.operands().iter().position(|value| self.selected.contains_key(value)) {
            return self.contraction_of_all(op, at);
        }
        if self.fallbacks.products.contains(&op.id) {
            return self.sum_of_products(op);
        }
        self.close()?;
        let result = op.results()[0];
        let ty = self.array(result, &self.name(result), *op)?;
        let factors = self.factors(op, [op.operands()[0], op.operands()[1]])?;
        let (epilogue, inputs, last) = self.epilogue(*op, &ty)?;
        let most_padding = self.shared.padding(last).unwrap_or(MostPadding::Whole);
        let mut out = Array { most_padding, ..self.array(last, &self.name(last), *op)? };
        let wanted = out.axes.clone();
        if self.fallbacks.batches.contains(&op.id) {
            let both = |axis: &Arc<str>| factors.arrays.iter().all(|array| array.position(axis).is_some());
            out.axes.sort_by_key(|axis| !both(axis));
        }
        if self.fallbacks.apart.contains(&op.id) {
            out.axes = in_operand_order(&out.axes, factors.arrays.each_ref().map(|array| &*array.axes));
        }
        let moves = out.axes != wanted && self.has_typed_order(last);
        let inputs = factors.numbers.iter().copied().chain(inputs).collect();
        let problem = self.problem(op, factors, (ty.dtype, out.clone()), epilogue)?;
        let output = self.add(last, out);
        self.push(Work::Contraction(Box::new(problem)), inputs, vec![output], *op);
        if moves {
            let number = self.reordered(*op, output, wanted, 1);
            self.known.insert(last, number);
        }
        Ok(())
    }

    /// The arrays of the operands of a contraction.
    fn factors(&mut self, op: Contract<'_>, values: [ValueId; 2]) -> Result<Factors, Diagnostic> {
        let mut numbers = [self.operand(*op, values[0])?, self.operand(*op, values[1])?];
        let mut summed = axis_list(&*op.over()?).map_err(|why| unplanned(*op, &format!("`over`: {why}")))?;
        if self.fallbacks.sums.contains(&op.id) {
            let sum = self.sum_axis(*op)?;
            summed = self.in_largest_order(op, numbers, summed)?;
            for (&value, number) in values.iter().zip(&mut numbers) {
                if self.long(&self.arrays[*number].axes).ends_with(&self.long(&summed)) {
                    self.join(value, *number, &summed);
                }
                *number = self.with_one_sum(*op, *number, (&summed, &sum))?;
            }
            summed = vec![sum];
        }
        if self.fallbacks.images.contains(&op.id) {
            for at in [0, 1] {
                numbers[at] = self.in_order_of_windows(*op, numbers[at], (values[1 - at], &summed));
            }
        }
        if self.fallbacks.operands.contains(&op.id) {
            numbers = self.in_roles(*op, numbers, &summed);
        }
        for (&value, number) in values.iter().zip(numbers) {
            self.join(value, number, &summed);
        }
        let arrays = [0, 1].map(|at| self.operand_array(values[at], numbers[at]));
        let arrays = arrays.map(|array| array.with_long_axes_last(self.axes));
        let prologues = values.map(|value| {
            self.converted.get(&value).map(|(_, prologue)| prologue.clone()).unwrap_or_default()
        });
        Ok(Factors { numbers, arrays, prologues, summed })
    }

    /// Returns true if a sum may be in any order. Sums of integers wrap.
    fn is_free(&self, op: Contract<'_>) -> Result<bool, Diagnostic> {
        let sums = op.result_type::<Value>(0).ok_or_else(|| unplanned(*op, "a result that is no value"))?;
        Ok(op.free() || !sums.dtype.is_float())
    }

    /// The summed axes: in any order that is the one of the operand whose last one is longer, so that others move in
    /// long rows; of equals that of the larger one, so that fewer elements move.
    fn in_largest_order(
        &self,
        op: Contract<'_>,
        numbers: [usize; 2],
        summed: Vec<Arc<str>>,
    ) -> Result<Vec<Arc<str>>, Diagnostic> {
        if !self.is_free(op)? {
            return Ok(summed);
        }
        let arrays = numbers.map(|number| &self.arrays[number]);
        let rank = |array: &Array| {
            let last = array.axes.iter().rfind(|axis| summed.contains(axis) && self.size(axis) > 1);
            let row = last.map_or(1, |axis| self.size(axis) * u64::from(array.dtype.bits()) / 8);
            (row.min(self.unit), array.axes.iter().map(|axis| self.size(axis)).product::<u64>())
        };
        let best = if rank(arrays[1]) > rank(arrays[0]) { arrays[1] } else { arrays[0] };
        Ok(best.axes.iter().filter(|axis| summed.contains(axis)).cloned().collect())
    }

    /// A contraction of `factors` whose sums have the format `accumulator`, and whose result is `out`.
    fn problem(
        &self,
        op: Contract<'_>,
        factors: Factors,
        (accumulator, out): (DType, Array),
        epilogue: Epilogue,
    ) -> Result<Contraction, Diagnostic> {
        let Factors { arrays: operands, prologues, summed, .. } = factors;
        let out = out.with_long_axes_last(self.axes);
        let tree = u64::try_from(op.tree()?).map_err(|_| unplanned(*op, "a negative tree"))?;
        // Sums of integers wrap, so that they may be in any order.
        let order = if op.free() || !accumulator.is_float() { SumOrder::Free } else { SumOrder::Exact(tree) };
        let only = |one: usize, other: usize| -> Vec<Arc<str>> {
            let own = &operands[one];
            // Rows of windows are packets, also of a single window.
            let counts = |axis: &&Arc<str>| own.image.is_some() || self.size(axis) > 1;
            let kept = own.axes.iter().filter(|axis| operands[other].position(axis).is_none());
            let mut kept: Vec<Arc<str>> = kept.filter(counts).cloned().collect();
            if self.fallbacks.results.contains(&op.id) {
                kept.sort_by_key(|axis| out.position(axis));
            }
            kept
        };
        let shared = |axis: &&Arc<str>| operands.iter().all(|array| array.position(axis).is_some());
        let kept = out.axes.iter().chain(&epilogue.added);
        let batch: Vec<_> = kept
            .filter(shared)
            .filter(|axis| !summed.contains(axis) && self.size(axis) > 1)
            .cloned()
            .collect();
        let (positions, apart) = self.summed(&operands, &summed, order);
        Ok(Contraction {
            batch: self.batch(op, &batch).into(),
            free: [(0, 1), (1, 0)]
                .map(|(own, other)| self.free(op, &operands[own], &only(own, other)).into()),
            sum: Group::new(&positions, self.axes).into(),
            apart,
            order,
            accumulator,
            out,
            prologues,
            operands,
            epilogue,
        })
    }

    /// The axes of an operand that the other one lacks. Rows of windows are whole packets.
    fn free(&self, op: Contract<'_>, array: &Array, names: &[Arc<str>]) -> Group {
        let image = array.image.as_ref();
        let row = names
            .last()
            .filter(|last| image.is_some_and(|image| image.windows.axis_names(self.axes).contains(last)));
        // Parts of several axes that are apart in an array are whole rows, or parts of one.
        let apart = || {
            let at = names.iter().filter_map(|axis| array.position(axis));
            let (first, last) = (at.clone().min(), at.max());
            first.zip(last).is_some_and(|(first, last)| last - first + 1 > names.len())
        };
        let odd = |last: &&Arc<str>| names.len() > 1 && !self.size(last).is_power_of_two();
        let padded = self.fallbacks.rows.contains(&op.id) || apart();
        match row.or_else(|| names.last().filter(odd).filter(|_| padded)) {
            Some(last) => Group::with_rows(names, Image::padded(self.size(last)), self.axes),
            None => Group::new(names, self.axes),
        }
    }

    /// The axes of both operands and the result.
    fn batch(&self, op: Contract<'_>, names: &[Arc<str>]) -> Group {
        match names.last().filter(|_| self.fallbacks.batch_rows.contains(&op.id)) {
            Some(last) => Group::with_rows(names, self.size(last).next_power_of_two(), self.axes),
            None => Group::new(names, self.axes),
        }
    }

    /// The summed axes in their order, and the positions outside of windows if an operand is an image. In any order,
    /// the positions within windows are the fastest.
    fn summed(
        &self,
        operands: &[Array; 2],
        summed: &[Arc<str>],
        order: SumOrder,
    ) -> (Vec<Arc<str>>, Option<u64>) {
        let all = self.long(&self.in_array_order(operands, summed, order));
        let Some(image) = operands.iter().find_map(|array| array.image.as_ref()) else { return (all, None) };
        if order != SumOrder::Free {
            return (all, Some(1));
        }
        let (within, apart): (Vec<_>, Vec<_>) = all.into_iter().partition(|axis| image.within.contains(axis));
        let count = apart.iter().map(|axis| self.size(axis)).product();
        (apart.into_iter().chain(within).collect(), Some(count))
    }

    /// The summed axes: in any order that is the one of the operand in which they are innermost.
    fn in_array_order(&self, operands: &[Array; 2], summed: &[Arc<str>], order: SumOrder) -> Vec<Arc<str>> {
        if order != SumOrder::Free {
            return summed.to_vec();
        }
        let long = |axis: &&Arc<str>| self.axes.id(axis).is_some_and(|id: AxisId| self.axes.size(id) > 1);
        let inner =
            |array: &&Array| array.axes.iter().rev().find(long).is_some_and(|axis| summed.contains(axis));
        let array = operands.iter().find(inner).unwrap_or(&operands[0]);
        array.axes.iter().filter(|axis| summed.contains(axis)).cloned().collect()
    }

    /// The operations after `op` that compute on each element of its result and of known arrays: the computation, the
    /// numbers of these arrays, and its result.
    fn epilogue(&mut self, op: OpRef<'_>, ty: &Array) -> Result<(Epilogue, Vec<usize>, ValueId), Diagnostic> {
        let (mut epilogue, mut inputs, mut value) = (Epilogue::default(), Vec::new(), op.results()[0]);
        let mut ty = ty.clone();
        let mut dtype = ty.dtype;
        let (ctx, module) = (self.ctx, self.module);
        while let Some(id) = self.only_use(value).map(|next| next.id) {
            let next = module.op(ctx, id);
            let result = next.results()[0];
            self.convert_operands(next)?;
            let fused = !self.fallbacks.maps.contains(&op.id);
            let known = |own: &ValueId| {
                *own == value || fused && self.in_hbm(*own).is_some() || self.constants.contains_key(own)
            };
            if let Some(axis) = self.added(next, &epilogue, (op, &ty))? {
                ty.axes.retain(|own| *own != axis);
                epilogue.added = Some(axis);
                self.fused.insert(next.id);
                value = result;
                continue;
            }
            let after = self.array(result, "", next)?;
            let same = after.axes.len() == ty.axes.len()
                && ty.axes.iter().all(|axis| after.position(axis).is_some());
            if !same || epilogue.cast.is_some() {
                break;
            }
            if epilogue.added.is_none() && next.is(&map::DECL) && next.operands().iter().all(known) {
                self.compose(Map::of(next)?, value, &mut epilogue, &mut inputs)?;
            } else if next.is(&cast::DECL)
                && !Cast::of(next)?.bits()
                && engine_cast(dtype, after.dtype).is_some()
            {
                epilogue.cast = Some(after.dtype);
            } else {
                break;
            }
            dtype = after.dtype;
            self.fused.insert(next.id);
            value = result;
        }
        Ok((epilogue, inputs, value))
    }

    /// Converts the operands of a map at their fetch, where the conversions follow the contraction before the map.
    fn convert_operands(&mut self, next: OpRef<'_>) -> Result<(), Diagnostic> {
        let (ctx, module) = (self.ctx, self.module);
        for &operand in next.operands().iter().filter(|_| next.is(&map::DECL)) {
            let ValueDef::Result(id, _) = module.def(operand) else { continue };
            let op = module.op(ctx, id);
            if op.is(&cast::DECL) && !Cast::of(op)?.bits() {
                self.convert_at_fetch(op, None)?;
            }
        }
        Ok(())
    }

    /// The only operation that uses a value, if there is one.
    fn only_use(&self, value: ValueId) -> Option<OpRef<'_>> {
        let users: HashSet<OpId> = self.module.uses(value).iter().copied().collect();
        let &user = users.iter().next().filter(|_| users.len() == 1)?;
        let op = self.module.op(self.ctx, user);
        (op.results().len() == 1).then_some(op)
    }

    /// The value in HBM that an operand of an epilogue is, if need be before its conversion to the format of the
    /// vector engine; `None` if a pipeline computes it.
    fn in_hbm(&self, value: ValueId) -> Option<ValueId> {
        let source = match self.fetched.get(&value) {
            Some(FetchedValue { table: Some(_), .. }) => return None,
            Some(FetchedValue { source, table: None, .. }) => *source,
            None => value,
        };
        self.known.contains_key(&source).then_some(source)
    }

    /// Appends a map of `value` to an epilogue.
    fn compose(
        &self,
        op: Map<'_>,
        value: ValueId,
        epilogue: &mut Epilogue,
        inputs: &mut Vec<usize>,
    ) -> Result<(), Diagnostic> {
        let expression = op.expression()?;
        let (mut names, before) = match &epilogue.expression {
            Some(before) => (before.names.clone(), before.term.clone()),
            None => (vec![Arc::from("x")], Term::Name(0)),
        };
        let mut terms = Vec::new();
        for &operand in op.operands() {
            if operand == value {
                terms.push(before.clone());
                continue;
            }
            if let Some(&number) = self.constants.get(&operand) {
                terms.push(Term::Number(number));
                continue;
            }
            let stored = self.in_hbm(operand).unwrap_or(operand);
            let number = self.known.get(&stored).copied();
            let number = number.ok_or_else(|| unplanned(*op, "an operand that no step computes"))?;
            let at = inputs.iter().position(|own| *own == number).unwrap_or_else(|| {
                inputs.push(number);
                epilogue.operands.push(self.arrays[number].clone());
                names.push(Arc::from(format!("x{}", names.len())));
                inputs.len() - 1
            });
            terms.push(Term::Name(at + 1));
        }
        epilogue.expression = Some(Expression { names, term: vector::substituted(&expression.term, &terms) });
        Ok(())
    }
}

/// A contraction of a format that only the tensor level sums.
fn not_multiplied(op: OpRef<'_>, dtype: DType) -> Diagnostic {
    let formats = DType::all().filter(|dtype| dtype.accumulator().is_some()).map(DType::name);
    let formats = formats.collect::<Vec<_>>().join("`, `");
    let message = format!("a contraction of `{dtype}`: the Contraction Engine multiplies `{formats}`");
    let narrow = if dtype.is_float() { DType::Bf16 } else { DType::I8 };
    let fix = format!("convert both operands before, with `tm.cast {narrow}`");
    Diagnostic::error("plan-kernel", op.span(), message).fix(fix)
}

/// An operation that the planner does not plan.
fn unplanned(op: OpRef<'_>, subject: &str) -> Diagnostic {
    let message = format!("the planner has no step for {subject}");
    let fix = "write this part at the memory level, or split the function around it".to_owned();
    Diagnostic::error("plan-kernel", op.span(), message).fix(fix)
}
