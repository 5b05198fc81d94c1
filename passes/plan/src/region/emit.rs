//! Writes a planned region: loads, a pipeline for each operation, and stores.

use crate::array::{Array, whole_groups};
use crate::contraction::layout::{FLIT_BYTES, elements};
use crate::cut::{Cut, side_by_side};
use crate::flow::{Given, Written};
use crate::memory::Transfers;
use crate::order::ReduceOrder;
use crate::region::lanes::ReducedLanes;
use crate::region::layout::{LANES, Local};
use crate::region::pieces::Piece;
use crate::region::planned::PlannedRegion;
use crate::region::within::{between_slices, reduced_within};
use crate::region::{Computation, Operation, Slot};
use crate::tables::FetchTable;
use crate::vector;
use crate::writer::{Writer, new};
use std::rc::Rc;
use std::sync::Arc;
use visa_algebra::{Expr, PadKind};
use visa_cost::TransferCost;
use visa_engine::words::TensorMemory;
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_ir::span::Span;
use visa_machine::Unit;
use visa_mapping::expression::{Expression, Term};
use visa_mapping::ops::control::{For, Yield};
use visa_mapping::ops::empty::Empty;
use visa_mapping::ops::to_tile::ToTile;
use visa_mapping::ops::transfer::ToHbm;
use visa_mapping::ops::view::Tile;
use visa_mapping::{DM, Tensor};
use visa_numerics::{DType, ReduceName, SliceReduceName};
use visa_stream::ops::begin::Begin;
use visa_stream::ops::cast::Cast;
use visa_stream::ops::collect::Collect;
use visa_stream::ops::commit::Commit;
use visa_stream::ops::commit_view::CommitView;
use visa_stream::ops::fetch::Fetch;
use visa_stream::ops::store::ToVrf;
use visa_stream::ops::vector::{VectorFinal, VectorInit};
use visa_stream::ops::vector_reinterpret::VectorReinterpret;

/// The values of a region while it is written.
pub(super) struct Held {
    /// In HBM, or in data memory of one slice.
    hbm: Vec<Option<ValueId>>,
    /// In data memory.
    dm: Vec<Option<ValueId>>,
    /// In data memory, the bits of floats as integers.
    pub(super) bits: Vec<Option<ValueId>>,
}

impl PlannedRegion<'_> {
    /// The tensor that an input is in when pipelines read it.
    #[must_use]
    pub fn input(&self, slot: Slot) -> Tensor {
        let array = self.array(slot);
        self.in_memory(slot, self.layout.loaded(array))
    }

    /// The tensor that an output is in when its pipeline has ended.
    #[must_use]
    pub fn output(&self, slot: Slot) -> Tensor {
        self.in_memory(slot, self.element(slot))
    }

    /// Cycles to store an output by the engines of a cluster; `None` if no engine moves it.
    #[must_use]
    pub fn store(&self, slot: Slot, queue: Option<u64>, prices: &Transfers<'_>) -> Option<TransferCost> {
        let array = self.array(slot);
        prices.store(array, queue, &self.output(slot), &self.first_tile(array))
    }

    /// Returns true if the store of an output moves the padding of rows.
    fn stores_padding(&self, slot: Slot) -> bool {
        let array = self.array(slot);
        array.padded_axes(&self.output(slot), &self.first_tile(array), self.layout.axes).is_some()
    }

    /// Returns true if the lanes of a reduction hold the reduced axis, dimension `at` of the operand's. Packets of a
    /// part of an axis have no padding: each slice would have another count of elements.
    fn in_lanes(&self, order: ReduceOrder, at: usize, local: &[Local]) -> bool {
        match order {
            ReduceOrder::Free => {
                let is_part = !matches!(local[at].map, Expr::Axis(_));
                let fills =
                    local[at].size.is_multiple_of(LANES) || [1, 2, LANES / 2].contains(&local[at].size);
                let last = local.len() == 1 || at + 1 == local.len() && !self.apart;
                last && !self.layout.is_uneven(&local[at]) && (fills || !is_part)
            }
            ReduceOrder::Lanes => true,
            ReduceOrder::Sequential => false,
        }
    }

    /// The dimensions of a reduction of an operand along an axis; `None` if the axis has one position.
    #[must_use]
    pub fn lanes(&self, operand: Slot, axis: &str, order: ReduceOrder) -> Option<ReducedLanes> {
        let local = self.layout.local(self.array(operand));
        let at = local.iter().position(|own| *own == self.layout.held(axis))?;
        let in_lanes = self.in_lanes(order, at, &local);
        Some(ReducedLanes::new(local, at, in_lanes, self.is_grouped(operand)))
    }

    /// The layout of a computed value in data memory.
    fn element(&self, slot: Slot) -> Expr {
        let array = self.array(slot);
        let Some((operand, axis)) = self.grouped(slot) else { return self.tidy(self.layout.computed(array)) };
        let reduced = self.layout.held(axis);
        let whole = Expr::Literal(1).pad(whole_groups(1, array.dtype), PadKind::Top);
        let others = self.layout.local(self.array(operand)).into_iter().filter(|own| *own != reduced);
        self.dimension(others.map(|own| own.map).chain([whole]))
    }

    pub(super) fn first_tile(&self, array: &Array) -> Tensor {
        let rows = &self.layout.rows;
        let tiles: Vec<_> = rows.first_tile().filter(|_| rows.tiles() > 1).into_iter().collect();
        array.first_tile(&tiles, self.layout.axes)
    }

    pub(super) fn in_memory(&self, slot: Slot, element: Expr) -> Tensor {
        let cluster = self.tidy(self.layout.cluster(self.machine));
        let maps = vec![Expr::Literal(1), cluster, self.slices(slot), element];
        Tensor { kind: &DM, unit: None, dtype: self.array(slot).dtype, maps }
    }

    /// Writes the region, and stores those of its results that `stores` has, or all if a loop writes them.
    ///
    /// # Errors
    /// A plan that an engine refuses.
    pub fn write(
        &self,
        writer: &mut Writer<'_>,
        inputs: &[Given],
        stores: &[bool],
    ) -> Result<Vec<Written>, Diagnostic> {
        let rows = &self.layout.rows;
        let outputs: Vec<&Array> = self.region.outputs.iter().map(|&slot| self.array(slot)).collect();
        let mut given: Vec<(Slot, Given)> =
            self.region.inputs.iter().copied().zip(inputs.iter().copied()).collect();
        given.extend(self.coordinates(writer)?);
        if rows.tiles() == 1 {
            let results = self.operations(writer, &given)?;
            let results = results.into_iter().zip(&self.region.outputs).zip(stores);
            return results
                .map(|((result, &slot), stores)| {
                    if !stores {
                        return Ok(Written { stored: None, held: Some(result) });
                    }
                    let array = self.array(slot);
                    let op = new!(writer, ToHbm, [result]).at_auto().element(array.layout(self.layout.axes));
                    let op = op.queue(self.store_queue(slot).map(u64::cast_signed));
                    let stored = writer.value(op.padded(self.stores_padding(slot)), &array.name)?;
                    Ok(Written { stored: Some(stored), held: Some(result) })
                })
                .collect();
        }
        let mut initial = Vec::new();
        for array in &outputs {
            let op = new!(writer, Empty).memory(TensorMemory::Hbm).dtype(array.dtype).at_auto();
            initial.push(writer.value(op.element(array.layout(self.layout.axes)), &array.name)?);
        }
        let names: Vec<&str> = outputs.iter().map(|array| array.name.as_str()).collect();
        let index = rows.group().axes.first().map_or_else(|| "i".to_owned(), |axis| axis.to_lowercase());
        for (slot, given) in &mut given {
            if let Given::Stored(source) = *given
                && !self.is_tiled(*slot)
            {
                writer.comment("Each iteration reads the same of it: it is loaded before the loop.");
                *given = Given::Here(self.loaded(writer, *slot, source)?);
            }
        }
        writer.part(&self.why_tiles());
        let op = new!(writer, For, initial.iter().copied()).over(rows.tile());
        let stored = writer.repeat(op, &index, &initial, &names, |writer, index, carried| {
            let mut tiles = Vec::new();
            for &(slot, input) in &given {
                tiles.push((slot, self.tile(writer, rows, index, slot, input)?));
            }
            let results = self.operations(writer, &tiles)?;
            let mut filled = Vec::new();
            for ((result, &whole), &slot) in results.into_iter().zip(carried).zip(&self.region.outputs) {
                let op = new!(writer, ToTile, [result, whole, index]).along(rows.tile().into());
                let op = op.queue(self.store_queue(slot).map(u64::cast_signed));
                filled.push(writer.value(op.padded(self.stores_padding(slot)), &self.array(slot).name)?);
            }
            writer.end(new!(writer, Yield, filled));
            Ok(())
        })?;
        Ok(stored.into_iter().map(|value| Written { stored: Some(value), held: None }).collect())
    }

    /// The tile of an input in HBM.
    fn tile(
        &self,
        writer: &mut Writer<'_>,
        rows: &Cut,
        index: ValueId,
        slot: Slot,
        given: Given,
    ) -> Result<Given, Diagnostic> {
        let Given::Stored(input) = given else { return Ok(given) };
        let op = new!(writer, Tile, [input, index]).along(rows.tile().into());
        writer.value(op, &self.array(slot).name).map(Given::Stored)
    }

    /// Writes the operations. Returns the outputs in data memory.
    fn operations(
        &self,
        writer: &mut Writer<'_>,
        given: &[(Slot, Given)],
    ) -> Result<Vec<ValueId>, Diagnostic> {
        let count = self.region.values.len();
        let mut held = Held { hbm: vec![None; count], dm: vec![None; count], bits: vec![None; count] };
        for &(slot, given) in given {
            match given {
                Given::Stored(value) => held.hbm[slot] = Some(value),
                Given::Here(value) => held.dm[slot] = Some(value),
            }
        }
        for operation in &self.region.operations {
            if !matches!(operation.computation, Computation::Coordinates { .. }) {
                writer.part(&self.why_pipeline(operation));
            }
            let result = match &operation.computation {
                // Before all others, once.
                Computation::Coordinates { .. } => continue,
                Computation::Map { expression, operands, cast } => {
                    self.map(writer, &mut held, operation, (expression.as_ref(), operands), *cast)?
                }
                Computation::Reduce { op, operand, axis, order } => {
                    self.reduce(writer, &mut held, operation, (*op, *operand, axis), *order)?
                }
                Computation::Compare { operand, with } => {
                    self.compare(writer, &mut held, operation.result, *operand, with)?
                }
                Computation::Choose { condition, arms } => {
                    self.choose(writer, &mut held, operation.result, *condition, *arms)?
                }
            };
            held.dm[operation.result] = Some(result);
        }
        self.region.outputs.iter().map(|&slot| self.resident(writer, &mut held, slot)).collect()
    }

    /// A value in data memory.
    pub(super) fn resident(
        &self,
        writer: &mut Writer<'_>,
        held: &mut Held,
        slot: Slot,
    ) -> Result<ValueId, Diagnostic> {
        let slot = self.region.values[slot].storage;
        let array = self.array(slot);
        let source = match (held.dm[slot], held.hbm[slot]) {
            (Some(value), _) => return Ok(value),
            (None, Some(source)) => source,
            (None, None) => return Err(unwritten(array)),
        };
        let value = self.loaded(writer, slot, source)?;
        held.dm[slot] = Some(value);
        Ok(value)
    }

    /// Fetches a value in flits of eight lanes.
    pub(super) fn fetch(
        &self,
        writer: &mut Writer<'_>,
        held: &mut Held,
        slot: Slot,
        [time, packet]: [&Expr; 2],
    ) -> Result<ValueId, Diagnostic> {
        let source = self.resident(writer, held, slot)?;
        let (name, formats) = (&self.array(slot).name, self.read_formats(slot));
        self.fetch_from(writer, (source, name), formats, [time, packet])
    }

    /// The format in which a value is read, with the table and the conversion before it.
    fn read_formats(&self, slot: Slot) -> (DType, (Option<&FetchTable>, Option<DType>)) {
        let value = &self.region.values[slot];
        let conversion = (value.read != value.array.dtype).then_some(value.read);
        (value.read, (value.table.as_ref(), conversion))
    }

    /// Fetches a tensor of data memory, which has a name, in flits of eight lanes; in another format after a table and
    /// a conversion.
    pub(super) fn fetch_from(
        &self,
        writer: &mut Writer<'_>,
        (source, name): (ValueId, &str),
        (read, (table, conversion)): (DType, (Option<&FetchTable>, Option<DType>)),
        [time, packet]: [&Expr; 2],
    ) -> Result<ValueId, Diagnostic> {
        let begin = writer.value(new!(writer, Begin, [source]).context(Unit::Main), name)?;
        let op = new!(writer, Fetch, [begin]).table(table.map(|table| &*table.name)).dtype(conversion);
        let stream = writer.value(op.time(time.clone()).packet(packet.clone()), name)?;
        let flit = elements(FLIT_BYTES, read).max(LANES);
        let whole = packet.size(self.layout.axes).is_ok_and(|size| size >= flit);
        let packet = if whole { packet.clone() } else { packet.clone().pad(flit, PadKind::Top) };
        writer.value(new!(writer, Collect, [stream]).time(time.clone()).packet(packet), name)
    }

    /// The time and the packet of a pipeline over all elements of a value, or over a piece of them.
    pub(super) fn stream_of(&self, array: &Array, piece: Option<&Piece>) -> [Expr; 2] {
        self.packets_of(array, piece, LANES)
    }

    /// The time and the packet of a pipeline over all elements of a value, or over a piece of them, in packets of
    /// `lanes` elements.
    fn packets_of(&self, array: &Array, piece: Option<&Piece>, lanes: u64) -> [Expr; 2] {
        let mut local = self.local(array, piece);
        let last = local.pop().unwrap_or_else(|| Local::new(Expr::Literal(1), 1));
        let [outer, packet] = last.packets(lanes);
        let time = self.dimension(local.into_iter().map(|local| local.map).chain([outer]));
        [time, self.tidy(packet)]
    }

    /// Elements of a packet of a pipeline that computes nothing after its fetch: as many of a flit as divide the
    /// innermost dimension of `array`, as the vector engine at least.
    #[must_use]
    pub fn copied(&self, array: &Array) -> u64 {
        let size = self.layout.local(array).last().map_or(1, |last| last.size);
        let flit = elements(FLIT_BYTES, array.dtype);
        let lanes = std::iter::successors(Some(flit), |lanes| Some(lanes / 2));
        lanes.take_while(|lanes| *lanes > LANES).find(|lanes| size.is_multiple_of(*lanes)).unwrap_or(LANES)
    }

    fn map(
        &self,
        writer: &mut Writer<'_>,
        held: &mut Held,
        operation: &Operation,
        (expression, operands): (Option<&Expression>, &[Slot]),
        cast: Option<DType>,
    ) -> Result<ValueId, Diagnostic> {
        let array = self.array(operation.result);
        let Some((streamed, others)) = self.streamed(operands) else { return Err(unwritten(array)) };
        if expression.is_none()
            && cast.is_none()
            && let Some(matrices) = self.turned_copy(streamed, array)
        {
            let stream = self.turned_stream(writer, held, streamed, &matrices)?;
            return self.commit(writer, array, stream);
        }
        let Some(count) = self.pieces(operands, array) else { return Err(too_large(array)) };
        let mut result = if count == 1 { None } else { Some(self.empty(writer, array)?) };
        for piece in self.divided(array, count) {
            let lanes = if expression.is_none() && cast.is_none() { self.copied(array) } else { LANES };
            let [time, packet] = self.packets_of(array, piece.as_ref(), lanes);
            let mut files = Vec::new();
            for &slot in &others {
                files.push(self.operand(writer, held, slot, array, piece.as_ref())?);
            }
            let mut stream = self.fetch(writer, held, streamed, [&time, &packet])?;
            if let Some(expression) = expression {
                let number =
                    |slot: Slot| others.iter().position(|&other| other == slot).map_or(0, |at| at + 1);
                let terms: Vec<Term> = operands.iter().map(|&slot| Term::Name(number(slot))).collect();
                let names = (0..=others.len()).map(|at| format!("x{at}").into()).collect();
                let term = vector::substituted(&expression.term, &terms);
                stream = vector::apply(writer, &Expression { names, term }, stream, &files, &array.name)?;
            }
            let stream = self.converted(writer, array, stream, &packet, cast)?;
            result = Some(self.commit_part(writer, array, stream, piece.as_ref().zip(result))?);
        }
        result.ok_or_else(|| unwritten(array))
    }

    /// Commits a stream of all elements of `array`, or a piece of them into a tensor.
    pub(super) fn commit_part(
        &self,
        writer: &mut Writer<'_>,
        array: &Array,
        stream: ValueId,
        part: Option<(&Piece, ValueId)>,
    ) -> Result<ValueId, Diagnostic> {
        match part {
            Some((piece, whole)) => self.commit_piece(writer, array, stream, whole, piece),
            None => self.commit(writer, array, stream),
        }
    }

    /// A tensor in data memory that pieces of `array` fill.
    pub(super) fn empty(&self, writer: &mut Writer<'_>, array: &Array) -> Result<ValueId, Diagnostic> {
        let contents = self.layout.contents(array);
        let op = new!(writer, Empty).memory(TensorMemory::Dm).dtype(array.dtype).at_auto();
        let op = op.cluster(Some(self.tidy(self.layout.cluster(self.machine))));
        let op = op.slice(Some(self.tidy(self.layout.slice(contents, self.machine))));
        writer.value(op.element(self.tidy(self.layout.computed(array))), &format!("{}_dm", array.name))
    }

    /// Commits a piece of `array` into the tensor `whole`.
    fn commit_piece(
        &self,
        writer: &mut Writer<'_>,
        array: &Array,
        stream: ValueId,
        whole: ValueId,
        piece: &Piece,
    ) -> Result<ValueId, Diagnostic> {
        let mut local = self.local(array, Some(piece));
        // Rows of the whole may end with padding.
        let computed = self.layout.computed(array);
        let row = computed.terms().last().and_then(|row| row.size(self.layout.axes).ok());
        let row = row.unwrap_or(piece.whole.size);
        let last = local.pop().map(|last| last.mapping().pad(row, PadKind::Top));
        let element = side_by_side(local.into_iter().map(|local| local.map).chain(last));
        let op = new!(writer, CommitView, [stream, whole]).element(Rc::new(element));
        writer.value(op, &format!("{}_dm", array.name))
    }

    /// Loads a value into the vector register file, as operand of a pipeline over all elements of `array`, or over a
    /// piece of them.
    pub(super) fn operand(
        &self,
        writer: &mut Writer<'_>,
        held: &mut Held,
        slot: Slot,
        array: &Array,
        piece: Option<&Piece>,
    ) -> Result<ValueId, Diagnostic> {
        let [time, packet] = self.operand_stream(self.array(slot), array, piece);
        let stream = self.fetch(writer, held, slot, [&time, &packet])?;
        self.to_file(writer, &self.array(slot).name, stream, [time, packet])
    }

    /// Writes a stream into the vector register file.
    pub(super) fn to_file(
        &self,
        writer: &mut Writer<'_>,
        name: &str,
        stream: ValueId,
        packets: [Expr; 2],
    ) -> Result<ValueId, Diagnostic> {
        let element = self.dimension(packets);
        writer.value(new!(writer, ToVrf, [stream]).at_auto().element(element), &format!("{name}_vrf"))
    }

    /// The time and the packet in which the register file gets an operand of a pipeline over all elements of `array`,
    /// or over a piece of them.
    pub(super) fn operand_stream(&self, operand: &Array, array: &Array, piece: Option<&Piece>) -> [Expr; 2] {
        let mut local = self.local(operand, piece);
        let innermost = self.local(array, piece).pop();
        let [time, packet] = if let Some(at) = Self::packed_dimension(operand, &local, innermost.as_ref()) {
            let [outer, packet] = local.remove(at).packets(LANES);
            [self.dimension(local.into_iter().map(|local| local.map).chain([outer])), packet]
        } else {
            let size = local.iter().map(|local| local.size).product();
            Local::new(side_by_side(local.into_iter().map(|local| local.map)), size).packets(LANES)
        };
        [self.tidy(time), self.tidy(packet)]
    }

    /// The dimension of an operand that its packets count: the innermost one of the result, or rows that end with
    /// padding; `None` if packets count all dimensions as one.
    #[must_use]
    pub fn packed_dimension(operand: &Array, local: &[Local], innermost: Option<&Local>) -> Option<usize> {
        let padded = |last: &Local| {
            let odd = last.size > LANES && !last.size.is_multiple_of(LANES);
            odd || whole_groups(last.size, operand.dtype) != last.size
        };
        let apart = local.last().filter(|last| padded(last)).map(|_| local.len() - 1);
        innermost.and_then(|last| local.iter().position(|own| own == last)).or(apart)
    }

    /// Converts a stream of elements of `array`.
    fn converted(
        &self,
        writer: &mut Writer<'_>,
        array: &Array,
        stream: ValueId,
        packet: &Expr,
        cast: Option<DType>,
    ) -> Result<ValueId, Diagnostic> {
        let Some(dtype) = cast else { return Ok(stream) };
        let flit = packet.clone().pad(elements(FLIT_BYTES, dtype), PadKind::Top);
        let op = new!(writer, Cast, [stream]).dtype(dtype).packet(self.tidy(flit));
        writer.value(op, &array.name)
    }

    /// Commits a stream of all elements of `array`.
    pub(super) fn commit(
        &self,
        writer: &mut Writer<'_>,
        array: &Array,
        stream: ValueId,
    ) -> Result<ValueId, Diagnostic> {
        let op = new!(writer, Commit, [stream]).at_auto().element(self.tidy(self.layout.computed(array)));
        writer.value(op, &format!("{}_dm", array.name))
    }

    fn reduce(
        &self,
        writer: &mut Writer<'_>,
        held: &mut Held,
        operation: &Operation,
        (op, operand, axis): (ReduceName, Slot, &Arc<str>),
        order: ReduceOrder,
    ) -> Result<ValueId, Diagnostic> {
        let array = self.array(operation.result);
        let name = &array.name;
        let slices = self.layout.is_summed(axis).then(|| self.slices(operation.result));
        let Some(lanes) = self.lanes(operand, axis, order) else {
            return self.single(writer, held, (array, operand), slices.map(|slices| (op, slices)));
        };
        let stream = self.reduced_stream(writer, held, operand, &lanes)?;
        let axes = self.layout.axes;
        let mut stream = reduced_within(writer, stream, &lanes, (intra(op, array)?, axis), (name, axes))?;
        if let Some(slices) = slices {
            stream = between_slices(writer, stream, (op, slices), name)?;
        }
        let stream = as_format(writer, stream, self.region.values[operand].read, array.dtype, name)?;
        let stream = writer.value(new!(writer, VectorFinal, [stream]), name)?;
        if lanes.are_reduced() {
            let op = new!(writer, Commit, [stream]).at_auto().element(self.element(operation.result));
            return writer.value(op, &format!("{name}_dm"));
        }
        self.commit(writer, array, stream)
    }

    /// Fetches the operand of a reduction, after its pipeline that turns it if there is one.
    fn reduced_stream(
        &self,
        writer: &mut Writer<'_>,
        held: &mut Held,
        operand: Slot,
        lanes: &ReducedLanes,
    ) -> Result<ValueId, Diagnostic> {
        let turned = self.turned(operand, lanes);
        let whole = if turned.is_some() { &lanes.neighbours() } else { lanes };
        let [time, packet] = whole.fetched().map(|map| self.tidy(map));
        let Some(matrices) = turned else { return self.fetch(writer, held, operand, [&time, &packet]) };
        let source = self.turn(writer, held, operand, &matrices)?;
        let (name, formats) = (&self.array(operand).name, self.read_formats(operand));
        self.fetch_from(writer, (source, name), formats, [&time, &packet])
    }

    /// A reduction along an axis of one position in a slice: the value itself, or that of several slices.
    fn single(
        &self,
        writer: &mut Writer<'_>,
        held: &mut Held,
        (array, operand): (&Array, Slot),
        between: Option<(ReduceName, Expr)>,
    ) -> Result<ValueId, Diagnostic> {
        let [time, packet] = self.stream_of(array, None);
        let mut stream = self.fetch(writer, held, operand, [&time, &packet])?;
        if let Some(between) = between {
            stream = writer.value(new!(writer, VectorInit, [stream]), &array.name)?;
            stream = between_slices(writer, stream, between, &array.name)?;
            stream = writer.value(new!(writer, VectorFinal, [stream]), &array.name)?;
        }
        self.commit(writer, array, stream)
    }
}

/// Reads the words of a stream in another format.
pub(super) fn as_format(
    writer: &mut Writer<'_>,
    stream: ValueId,
    from: DType,
    to: DType,
    name: &str,
) -> Result<ValueId, Diagnostic> {
    if from == to {
        return Ok(stream);
    }
    writer.value(new!(writer, VectorReinterpret, [stream]).dtype(to), name)
}

/// The reduction within a slice.
fn intra(op: ReduceName, array: &Array) -> Result<SliceReduceName, Diagnostic> {
    SliceReduceName::of(op).ok_or_else(|| {
        let message =
            format!("`{}` is a reduction by `{op}`, which no engine computes within a slice", array.name);
        Diagnostic::error("plan-kernel", Span::default(), message)
    })
}

/// That the operands of a map do not fit the vector register file.
pub(super) fn too_large(array: &Array) -> Diagnostic {
    let message =
        format!("the operands of `{}` do not fit the vector register file, in pieces neither", array.name);
    Diagnostic::error("plan-kernel", Span::default(), message)
}

/// A value that no operation of the region writes.
pub(super) fn unwritten(array: &Array) -> Diagnostic {
    Diagnostic::error(
        "plan-kernel",
        Span::default(),
        format!("nothing in the region writes `{}`", array.name),
    )
}
