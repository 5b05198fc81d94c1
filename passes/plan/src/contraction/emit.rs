//! Writes a planned contraction: loads, the register file, the stream past it, and the store.

use crate::array::{Array, Image, whole_groups};
use crate::contraction::images::windows;
use crate::contraction::layout::{FLIT_BYTES, Layout, SUMS, elements, in_memory, in_memory_around, position};
use crate::contraction::{Choice, Contraction, Gather, Mode, Move, Promotion};
use crate::cut::{Cut, Part, side_by_side, tidy};
use crate::flow::{Given, Written};
use crate::vector::{self, Resident};
use crate::writer::{Writer, new};
use visa_algebra::{Axes, Expr, PadKind};
use visa_engine::words::{AccumulatorOrder, RegionName, TensorMemory, TopologyName};
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_machine::{Machine, Unit};
use visa_mapping::ops::control::{For, Yield};
use visa_mapping::ops::empty::Empty;
use visa_mapping::ops::to_tile::ToTile;
use visa_mapping::ops::transfer::{ToDm, ToHbm};
use visa_mapping::ops::view::{Tile, Window};
use visa_mapping::{DM, Dim, Tensor};
use visa_numerics::{DType, ReduceName};
use visa_stream::ops::begin::Begin;
use visa_stream::ops::cast::Cast;
use visa_stream::ops::collect::Collect;
use visa_stream::ops::commit::Commit;
use visa_stream::ops::contract::{Accumulate, Align, Contract};
use visa_stream::ops::fetch::{Fetch, FetchBuilder};
use visa_stream::ops::fill_padding::FillPadding;
use visa_stream::ops::store::ToTrf;
use visa_stream::ops::switch::Switch;
use visa_stream::ops::transpose::Transpose;
use visa_stream::ops::vector::{VectorFinal, VectorInit};
use visa_stream::ops::vector_inter::VectorInterSliceReduce;

/// A contraction and its plan.
pub struct Planned<'a> {
    /// The contraction.
    pub problem: &'a Contraction,
    /// Its plan.
    pub choice: &'a Choice,
    /// The cuts of the plan.
    pub layout: &'a Layout,
    /// The axes.
    pub axes: &'a Axes,
    /// The machine.
    pub machine: &'a Machine,
}

/// The inputs of a contraction.
#[derive(Clone)]
pub struct Values {
    /// The operands.
    pub operands: [Given; 2],
    /// The operands of the epilogue.
    pub epilogue: Vec<Given>,
}

/// A stream of results, with its mappings.
pub(super) struct Results {
    pub(super) stream: ValueId,
    /// Time steps, slowest first.
    pub(super) time: Vec<Expr>,
    /// Elements of a flit, of which the first [`SUMS`] are results.
    pub(super) packet: Expr,
}

/// The mappings of the stream, within the time steps around a sum.
struct StreamTerms {
    /// Packets of the fetch.
    steps: Expr,
    /// A packet of the fetch.
    packet: Expr,
    /// Number of packets of the fetch.
    inner: u64,
    /// Flits.
    flits: Expr,
    /// A flit.
    flit: Expr,
    /// Packets of products.
    products: Expr,
    /// A packet of products.
    aligned: Expr,
}

/// Runs of results that are contiguous in the array, in several slices.
struct Runs {
    /// The dimensions around the runs, slowest first.
    outer: Vec<Expr>,
    /// The slices.
    digit: Expr,
    /// The run of a slice.
    run: Expr,
    /// Its elements.
    length: u64,
}

impl Runs {
    /// The dimensions of the collected results.
    fn whole(&self) -> impl Iterator<Item = Expr> {
        self.outer.iter().cloned().chain([self.digit.clone(), self.run.clone()])
    }
}

impl Planned<'_> {
    /// Writes the contraction, and stores its result if `stores`, or a loop writes it.
    ///
    /// # Errors
    /// A plan that an engine refuses.
    pub fn write(
        &self,
        writer: &mut Writer<'_>,
        values: &Values,
        stores: bool,
    ) -> Result<Written, Diagnostic> {
        let out = &self.problem.out;
        let (rows, columns) = (&self.layout.rows, &self.layout.stream);
        if rows.tiles() * columns.tiles() == 1 {
            let weights = self.weights(writer, values.operands[self.choice.stationary])?;
            let result = self.stream(writer, values, weights)?;
            if !stores {
                return Ok(Written { stored: None, held: Some(result) });
            }
            let op = new!(writer, ToHbm, [result]).at_auto().element(out.layout(self.axes));
            let op = op.padded(self.stores_padding()).queue(self.queue(Move::Store));
            let stored = writer.value(op, &out.name)?;
            return Ok(Written { stored: Some(stored), held: Some(result) });
        }
        let op = new!(writer, Empty).memory(TensorMemory::Hbm).dtype(out.dtype).at_auto();
        let whole = writer.value(op.element(out.layout(self.axes)), &out.name)?;
        let (mut values, stationary) = (values.clone(), self.choice.stationary);
        if let Given::Stored(source) = values.operands[1 - stationary]
            && self.layout.loads_stream_once()
        {
            writer.part(&self.why_before_loop(1 - stationary));
            values.operands[1 - stationary] = Given::Here(self.loaded(writer, 1 - stationary, source)?);
        }
        let stored = self.repeat(writer, rows, whole, |writer, row, whole| {
            let mut values = values.clone();
            self.tile(writer, rows, row, &mut values)?;
            let weights = self.weights(writer, values.operands[stationary])?;
            self.repeat(writer, columns, whole, |writer, column, whole| {
                let mut values = values.clone();
                self.tile(writer, columns, column, &mut values)?;
                let result = self.stream(writer, &values, weights)?;
                let tiles =
                    [(rows, row), (columns, column)].into_iter().filter_map(|(cut, at)| Some((cut, at?)));
                let (cuts, at): (Vec<&Cut>, Vec<ValueId>) = tiles.unzip();
                let along = side_by_side(cuts.iter().map(|cut| cut.tile()));
                let operands = [result, whole].into_iter().chain(at);
                let op = new!(writer, ToTile, operands).along(along.into()).padded(self.stores_padding());
                let op = op.queue(self.queue(Move::Store));
                writer.value(op, &out.name)
            })
        })?;
        Ok(Written { stored: Some(stored), held: None })
    }

    /// The tensor that an input, an operand or one of the epilogue's, is in when its pipeline begins.
    #[must_use]
    pub fn input(&self, number: usize) -> Tensor {
        let operands = self.problem.operands.len();
        if number < operands {
            return self.operand_tensor(number);
        }
        let array = &self.problem.epilogue.operands[number - operands];
        vector::operand_tensor(&self.resident(), array, &self.local(array), self.axes)
    }

    /// The tensor that an operand is in when its pipeline begins.
    pub(super) fn operand_tensor(&self, operand: usize) -> Tensor {
        let (layout, choice) = (self.layout, self.choice);
        let dtype = self.problem.operands[operand].dtype;
        if operand == choice.stationary {
            let element = layout.loaded(self.problem, choice, operand, self.axes);
            return self.in_memory(layout.slices(choice, self.machine), element, dtype);
        }
        if choice.by_rows {
            let slice = layout.slices_of_rows(choice, self.machine);
            return self.in_memory(slice, layout.loaded_rows(self.problem, choice, self.axes), dtype);
        }
        let slice = layout.loaded_slices(choice, self.machine);
        let element = layout.loaded(self.problem, choice, operand, self.axes);
        self.in_memory(slice, element, dtype)
    }

    /// An array in HBM, or its first tile.
    pub(super) fn first_tile(&self, array: &Array) -> Tensor {
        let tiled = [&self.layout.rows, &self.layout.stream].into_iter().filter(|cut| cut.tiles() > 1);
        let tiles: Vec<_> = tiled.filter_map(|cut| cut.first_tile()).collect();
        array.first_tile(&tiles, self.axes)
    }

    /// A tensor in data memory.
    fn in_memory(&self, slice: Expr, element: Expr, dtype: DType) -> Tensor {
        let cluster = self.tidy(self.layout.cluster(self.machine));
        let maps = vec![Expr::Literal(1), cluster, self.tidy(slice), element];
        Tensor { kind: &DM, unit: None, dtype, maps }
    }

    /// The results of an iteration in data memory.
    #[must_use]
    pub fn results(&self) -> Tensor {
        let slices = self.layout.result_slices(self.problem, self.choice, true, self.machine);
        self.in_memory(slices, self.stored(), self.problem.out.dtype)
    }

    /// The cluster whose engines make a transfer.
    fn queue(&self, transfer: Move) -> Option<i64> {
        self.choice.queue(transfer).map(integer)
    }

    /// Returns true if the store moves the padding of rows.
    fn stores_padding(&self) -> bool {
        let out = &self.problem.out;
        out.padded_axes(&self.results(), &self.first_tile(out), self.axes).is_some()
    }

    /// Writes a loop over the tiles of a cut, if there are several, that fills `whole`.
    fn repeat<'c>(
        &self,
        writer: &mut Writer<'c>,
        cut: &Cut,
        whole: ValueId,
        body: impl FnOnce(&mut Writer<'c>, Option<ValueId>, ValueId) -> Result<ValueId, Diagnostic>,
    ) -> Result<ValueId, Diagnostic> {
        if cut.tiles() == 1 {
            return body(writer, None, whole);
        }
        let name = cut.group().axes.first().map_or_else(|| "i".to_owned(), |axis| axis.to_lowercase());
        writer.part(&self.why_tiles(cut));
        let op = new!(writer, For, [whole]).over(cut.tile());
        let out = &self.problem.out.name;
        let results = writer.repeat(op, &name, &[whole], &[out], |writer, index, carried| {
            let filled = body(writer, Some(index), carried[0])?;
            writer.end(new!(writer, Yield, [filled]));
            Ok(())
        })?;
        Ok(results[0])
    }

    /// Replaces values that have the axes of a cut by their tiles.
    fn tile(
        &self,
        writer: &mut Writer<'_>,
        cut: &Cut,
        index: Option<ValueId>,
        values: &mut Values,
    ) -> Result<(), Diagnostic> {
        let Some(index) = index else { return Ok(()) };
        let arrays = self.problem.operands.iter().chain(&self.problem.epilogue.operands);
        for (array, given) in arrays.zip(values.operands.iter_mut().chain(&mut values.epilogue)) {
            match given {
                Given::Stored(value) if position(array, cut).is_some() => {
                    let op = new!(writer, Tile, [*value, index]).along(cut.tile().into());
                    *value = writer.value(op, &array.name)?;
                }
                Given::Stored(_) | Given::Here(_) => {}
            }
        }
        Ok(())
    }

    /// Loads an operand into data memory, if it is not there, and begins a pipeline on it.
    fn load(
        &self,
        writer: &mut Writer<'_>,
        operand: usize,
        given: Given,
        unit: Unit,
    ) -> Result<ValueId, Diagnostic> {
        let name = &self.problem.operands[operand].name;
        let loaded = match given {
            Given::Here(value) => {
                writer.part(&self.why_here(operand));
                value
            }
            Given::Stored(source) => {
                writer.part(&self.why_load(operand));
                self.loaded(writer, operand, source)?
            }
        };
        let loaded = self.exchanged_rows(writer, operand, loaded)?;
        let loaded = self.row_windows(writer, operand, loaded)?;
        let loaded = self.turned(writer, operand, loaded)?;
        writer.value(new!(writer, Begin, [loaded]).context(unit), name)
    }

    /// Loads an operand into data memory.
    fn loaded(
        &self,
        writer: &mut Writer<'_>,
        operand: usize,
        source: ValueId,
    ) -> Result<ValueId, Diagnostic> {
        let transfer = if operand == self.choice.stationary { Move::Operand } else { Move::Stream };
        self.why_queue(transfer).iter().for_each(|why| writer.comment(why));
        let tensor = self.operand_tensor(operand);
        let source = self.outer_windows(writer, operand, source)?;
        let op = new!(writer, ToDm, [source]).at_auto().cluster(tensor.dim(Dim::Cluster));
        let op = op.queue(self.queue(transfer)).slice(tensor.dim(Dim::Slice));
        let name = format!("{}_dm", self.problem.operands[operand].name);
        let loaded = writer.value(op.element(tensor.dim(Dim::Element)), &name)?;
        self.filled(writer, operand, loaded)
    }

    /// Fills an operand beyond the end of the sum, if the plan has that.
    fn filled(
        &self,
        writer: &mut Writer<'_>,
        operand: usize,
        loaded: ValueId,
    ) -> Result<ValueId, Diagnostic> {
        if !self.fills(operand) {
            return Ok(loaded);
        }
        writer.comment(&self.why_filled(operand));
        let name = format!("{}_filled", self.problem.operands[operand].name);
        let axis = self.layout.sum.group().mapping();
        writer.value(new!(writer, FillPadding, [loaded]).axis(axis), &name)
    }

    /// Returns true if positions beyond the end of the sum are filled with zeros in data memory. Of an operand that no
    /// slices divide along the sum, the fetch masks them.
    #[must_use]
    pub fn fills(&self, operand: usize) -> bool {
        self.choice.padded && (operand != self.choice.stationary || self.choice.sum > 1)
    }

    /// An array in HBM with its windows, an image with those along other axes than its rows.
    fn outer_windows(
        &self,
        writer: &mut Writer<'_>,
        operand: usize,
        source: ValueId,
    ) -> Result<ValueId, Diagnostic> {
        let array = &self.problem.operands[operand];
        if array.view.is_none() && !array.image.as_ref().is_some_and(Image::has_outer_windows) {
            return Ok(source);
        }
        let element = self.first_tile(array).dim(Dim::Element);
        writer.value(new!(writer, Window, [source]).common(|op| op.element(element.into())), &array.name)
    }

    /// An operand in data memory, an image with the windows of its rows.
    fn row_windows(
        &self,
        writer: &mut Writer<'_>,
        operand: usize,
        loaded: ValueId,
    ) -> Result<ValueId, Diagnostic> {
        let array = &self.problem.operands[operand];
        let Some(image) = &array.image else { return Ok(loaded) };
        let element = windows(&self.operand_tensor(operand).dim(Dim::Element), image);
        let op = new!(writer, Window, [loaded]).common(|op| op.element(element.into()));
        writer.value(op, &format!("{}_windows", array.name))
    }

    /// The fetch of an operand, without its mappings.
    fn fetch<'c>(&self, writer: &Writer<'c>, operand: usize, begin: ValueId) -> FetchBuilder<'c> {
        let prologue = &self.problem.prologues[operand];
        let table = prologue.table.as_ref();
        let dtype = prologue.dtype.or(table.map(|table| table.to));
        let op = new!(writer, Fetch, [begin]).table(table.map(|table| &*table.name)).dtype(dtype);
        op.zero_points(prologue.zero_points.clone())
    }

    pub(super) fn tidy(&self, map: Expr) -> Expr {
        tidy(&map, self.axes)
    }

    pub(super) fn dimension(&self, terms: impl IntoIterator<Item = Expr>) -> Expr {
        self.tidy(side_by_side(terms))
    }

    /// The summed positions that a slice loads of the stream, padded to `size`, and cut into parts of `by`.
    fn summed(&self, size: u64, by: u64) -> [Expr; 2] {
        let (map, depth) = (self.layout.sum.part(Part::Time), self.layout.sum.count(Part::Time));
        divided(self.padded(map, depth, size).0, size, by)
    }

    /// True if the sum has padding, which has to be zero, and which fetches mask.
    fn masked(&self) -> bool {
        match self.choice.mode {
            Mode::Tree => self.layout.depth != self.layout.sum.count(Part::Time),
            Mode::Columns => self.choice.padded && self.choice.sum == 1,
            Mode::Blocks => false,
        }
    }

    /// Loads the stationary operand into the register file.
    fn weights(&self, writer: &mut Writer<'_>, source: Given) -> Result<ValueId, Diagnostic> {
        let (layout, dtype) = (self.layout, self.problem.dtype());
        let begin = self.load(writer, self.choice.stationary, source, Unit::Main)?;
        writer.comment(&self.why_rows());
        let name = &self.problem.operands[self.choice.stationary].name;
        let flit = elements(FLIT_BYTES, dtype);
        let [promoted, row] = self.row_terms();
        let around = [layout.held_batch(), promoted, layout.rows.part(Part::Reuse)];
        let outer = || std::iter::once(row.clone()).chain(around.clone());
        // Pieces of the sum that are padded separately stay separate.
        let (piece, sum, depth) = match self.choice.mode {
            Mode::Columns if self.masked() => {
                (Expr::Literal(1), layout.sum.group().mapping(), layout.sum.size())
            }
            Mode::Columns | Mode::Blocks => {
                let depth = layout.depth * layout.sum.count(Part::Share);
                (Expr::Literal(1), side_by_side(layout.sum.rest(&[Part::Slice])), depth)
            }
            Mode::Tree => {
                let pieces = side_by_side([layout.sum.part(Part::Share), layout.sum.part(Part::Piece)]);
                (pieces, layout.sum.part(Part::Time), layout.sum.count(Part::Time))
            }
        };
        let outer = || outer().chain([piece.clone()]);
        let whole = self.padded(sum, depth, layout.row_depth(self.choice.mode, flit));
        let size = whole.1;
        let [flits, within] = divided(whole.0.clone(), size, flit);
        let packets = if size.is_multiple_of(layout.packet) { layout.packet } else { flit };
        let fetched = if self.masked() { packets.min(size) } else { size };
        let [fetched, packet] = divided(whole.0.clone(), size, fetched);
        let op = self.fetch(writer, self.choice.stationary, begin);
        let op = op.time(self.dimension(outer().chain([fetched])));
        let stream = writer.value(op.packet(self.tidy(packet)), name)?;
        let op = new!(writer, Collect, [stream]).time(self.dimension(outer().chain([flits])));
        let stream = writer.value(op.packet(self.tidy(within)), name)?;
        let op = new!(writer, ToTrf, [stream]).at(RegionName::Full).row(self.tidy(row.clone()));
        let element = around.into_iter().chain([piece.clone(), whole.0]);
        writer.value(op.element(self.dimension(element)), &format!("{name}_rows"))
    }

    /// The promoted rows around the rows of the register file, and these.
    fn row_terms(&self) -> [Expr; 2] {
        let rows = &self.layout.rows;
        match self.choice.promotion {
            Promotion::Row => {
                [Expr::Literal(1), side_by_side([rows.part(Part::Promoted), rows.part(Part::Row)])]
            }
            Promotion::None | Promotion::Stream | Promotion::Reuse => {
                [rows.part(Part::Promoted), rows.part(Part::Row)]
            }
        }
    }

    /// A part of the sum with padding up to `size`.
    fn padded(&self, map: Expr, depth: u64, size: u64) -> (Expr, u64) {
        let kind = match self.choice.mode {
            Mode::Tree => PadKind::Zero,
            Mode::Columns if self.masked() => PadKind::Zero,
            Mode::Columns | Mode::Blocks => PadKind::Top,
        };
        (if size == depth { map } else { map.pad(size, kind) }, size)
    }

    /// Streams the other operand past the register file, down to the result in data memory.
    fn stream(
        &self,
        writer: &mut Writer<'_>,
        values: &Values,
        weights: ValueId,
    ) -> Result<ValueId, Diagnostic> {
        let (layout, choice) = (self.layout, self.choice);
        let operand = 1 - choice.stationary;
        let name = &self.problem.operands[operand].name;
        let begin = self.load(writer, operand, values.operands[operand], choice.unit)?;
        let outer = self.packet_steps();
        let [members, _] = layout.exchanged(choice);
        let shared = || outer.iter().cloned().chain([members.clone()]);
        let terms = self.stream_terms();
        let op = self.fetch(writer, operand, begin);
        let op = op.time(self.dimension(outer.iter().cloned().chain([terms.steps.clone()])));
        let mut stream = writer.value(op.packet(self.tidy(terms.packet)), name)?;
        if choice.share > 1 {
            let op = new!(writer, Switch, [stream]).topology(TopologyName::Broadcast01);
            let op = op.slice1(Some(integer(choice.share))).slice0(Some(1)).time0(Some(integer(terms.inner)));
            let op = op.slice(Some(self.tidy(layout.slices(choice, self.machine))));
            let op = op.time(Some(self.dimension(shared().chain([terms.steps]))));
            stream = writer.value(op, name)?;
        }
        let op = new!(writer, Collect, [stream]).time(self.dimension(shared().chain([terms.flits])));
        let stream = writer.value(op.packet(self.tidy(terms.flit)), name)?;
        let [promoted, _] = self.row_terms();
        let reused = [promoted, layout.rows.part(Part::Reuse)];
        let time = shared().chain([terms.products]).chain(reused);
        writer.comment(&self.why_packets());
        let op = new!(writer, Align, [stream, weights]).time(self.dimension(time));
        let stream = writer.value(op.packet(self.tidy(terms.aligned)), name)?;
        let results = self.sums(writer, stream)?;
        self.finish(writer, values, results)
    }

    /// The steps of the stream around those of a sum.
    fn packet_steps(&self) -> [Expr; 3] {
        let layout = self.layout;
        [layout.batch.part(Part::Time), layout.stream.part(Part::Promoted), layout.stream.part(Part::Time)]
    }

    /// The mappings of the stream from its fetch to the multiplication.
    fn stream_terms(&self) -> StreamTerms {
        let layout = self.layout;
        let (piece, pieces) = (layout.sum.part(Part::Piece), layout.sum.count(Part::Piece));
        match self.choice.mode {
            Mode::Columns => {
                let (columns, count) = (layout.stream.part(Part::Packet), layout.stream.count(Part::Packet));
                let [flits, flit] = divided(columns.clone(), count, layout.flit);
                let [_, steps] = layout.exchanged(self.choice);
                StreamTerms {
                    packet: up_to(columns.clone(), count, layout.flit),
                    inner: layout.sum.count(Part::Time),
                    flits: side_by_side([steps.clone(), flits]),
                    flit: up_to(flit, count.min(layout.flit), layout.flit),
                    aligned: up_to(columns, count, layout.packet),
                    products: steps.clone(),
                    steps,
                }
            }
            Mode::Blocks => {
                let [steps, positions] = self.blocks();
                let columns = layout.stream.part(Part::Packet);
                let [flits, flit] = divided(columns.clone(), SUMS, layout.flit * SUMS / layout.packet);
                let aligned = side_by_side([columns, positions.clone()]);
                StreamTerms {
                    packet: aligned.clone(),
                    inner: layout.sum.count(Part::Time) * SUMS / layout.packet,
                    flits: side_by_side([steps.clone(), flits]),
                    flit: side_by_side([flit, positions]),
                    products: steps.clone(),
                    aligned,
                    steps,
                }
            }
            Mode::Tree => {
                let short = layout.packet.min(layout.depth);
                // A mask of the fetch reaches packets of up to 256 bytes.
                let fetched = if self.masked() { short } else { layout.depth };
                let [steps, packet] = self.summed(layout.depth, fetched);
                let [flits, flit] = self.summed(layout.depth, layout.flit);
                let [products, aligned] = self.summed(layout.depth, short);
                StreamTerms {
                    steps: side_by_side([piece.clone(), steps]),
                    packet,
                    inner: pieces * layout.depth / fetched,
                    flits: side_by_side([piece.clone(), flits]),
                    flit,
                    products: side_by_side([piece, products]),
                    aligned: up_to(aligned, short, layout.packet),
                }
            }
        }
    }

    /// Returns true if a flit of results has rows of the register file, not columns.
    fn has_rows(&self) -> bool {
        self.choice.has_rows(self.problem)
    }

    /// Sums products over time.
    fn sums(&self, writer: &mut Writer<'_>, stream: ValueId) -> Result<Results, Diagnostic> {
        let name = &self.problem.out.name;
        let products = match self.choice.mode {
            Mode::Columns | Mode::Blocks => self.layout.stream.part(Part::Packet),
            Mode::Tree => Expr::Literal(1),
        };
        let stream = writer.value(new!(writer, Contract, [stream]).packet(self.tidy(products)), name)?;
        let (time, packet, mode) = self.sum_steps();
        let op = new!(writer, Accumulate, [stream]).mode(mode).time(self.dimension(time.clone()));
        let stream = writer.value(op.packet(self.tidy(packet.clone())), name)?;
        Ok(Results { stream, time, packet })
    }

    /// The steps that have sums, the content of their packets, and the order of these.
    pub(super) fn sum_steps(&self) -> (Vec<Expr>, Expr, AccumulatorOrder) {
        let layout = self.layout;
        let [promoted, row] = self.row_terms();
        let outer = self.packet_steps();
        let shares = [&layout.batch, &layout.stream].map(|cut| cut.part(Part::Share));
        let kept = outer.into_iter().chain(shares).chain([promoted, layout.rows.part(Part::Reuse)]);
        let columns = layout.stream.part(Part::Packet);
        match self.choice.mode {
            Mode::Columns | Mode::Blocks if !self.has_rows() => {
                let [flits, flit] = divided(columns, layout.stream.count(Part::Packet), SUMS);
                let row = match self.choice.promotion {
                    Promotion::Row => vec![layout.rows.part(Part::Promoted), layout.rows.part(Part::Row)],
                    Promotion::None | Promotion::Stream | Promotion::Reuse => vec![row],
                };
                (kept.chain(row).chain([flits]).collect(), flit, AccumulatorOrder::Sequential)
            }
            Mode::Columns | Mode::Blocks => {
                let time = kept.chain([columns]).collect();
                (time, to_sums(row, self.choice.row), AccumulatorOrder::Interleaved)
            }
            Mode::Tree => (kept.collect(), to_sums(row, self.choice.row), AccumulatorOrder::Interleaved),
        }
    }

    /// The steps that are divided among the slices which the sum between slices frees.
    pub(super) fn promoted(&self) -> Expr {
        match self.choice.promotion {
            Promotion::None => Expr::Literal(1),
            Promotion::Stream => self.layout.stream.part(Part::Promoted),
            Promotion::Reuse | Promotion::Row => self.layout.rows.part(Part::Promoted),
        }
    }

    /// Sums between slices, computes the epilogue, and commits.
    fn finish(
        &self,
        writer: &mut Writer<'_>,
        values: &Values,
        mut results: Results,
    ) -> Result<ValueId, Diagnostic> {
        let (choice, epilogue) = (self.choice, &self.problem.epilogue);
        let name = &self.problem.out.name;
        if choice.sum > 1 {
            let promoted = self.promoted();
            results.time.retain(|term| *term != promoted);
            let stream = writer.value(new!(writer, VectorInit, [results.stream]), name)?;
            let slices = self.tidy(self.layout.computing_slices(choice, self.machine));
            writer.comment(&self.why_added());
            let op = new!(writer, VectorInterSliceReduce, [stream]).op(ReduceName::Add).slice(slices);
            let stream = writer.value(op.time(Some(self.dimension(results.time.clone()))), name)?;
            results.stream = writer.value(new!(writer, VectorFinal, [stream]), name)?;
        }
        let Some(expression) = &epilogue.expression else { return self.commit(writer, results) };
        // Operands are loaded while sums between slices are computed.
        let mut sums = None;
        if choice.sum > 1 {
            let element = self.element(self.problem.accumulator);
            let op = new!(writer, Commit, [results.stream]).at_auto().element(element);
            sums = Some(writer.value(op, name)?);
        }
        let resident = self.resident();
        let mut operands = Vec::new();
        for (array, &value) in epilogue.operands.iter().zip(&values.epilogue) {
            let terms = self.local(array);
            writer.part(&self.why_operand(array));
            operands.push(vector::load_operand(writer, &resident, array, value, &terms, self.axes)?);
        }
        if let Some(sums) = sums {
            let maps = [self.dimension(results.time.clone()), self.tidy(results.packet.clone())];
            let stream = writer.fetch(sums, maps.clone(), name)?;
            results.stream = writer.collect(stream, maps, name)?;
        }
        writer.comment(&self.why_map(expression));
        results.stream = vector::apply(writer, expression, results.stream, &operands, name)?;
        let results = match &epilogue.added {
            Some(axis) => self.added(writer, results, axis)?,
            None => results,
        };
        self.commit(writer, results)
    }

    /// The distribution of the sums.
    fn resident(&self) -> Resident {
        Resident {
            cluster: self.tidy(self.layout.cluster(self.machine)),
            slice: self.tidy(self.layout.computing_slices(self.choice, self.machine)),
            queue: self.queue(Move::Operand),
        }
    }

    /// Converts and commits the results.
    fn commit(&self, writer: &mut Writer<'_>, mut results: Results) -> Result<ValueId, Diagnostic> {
        let (problem, name) = (self.problem, &self.problem.out.name);
        let dtype = problem.out.dtype;
        if problem.epilogue.cast.is_some() {
            let flit = elements(FLIT_BYTES, dtype);
            let packet = results.packet.clone().pad(flit, PadKind::Top);
            let op = new!(writer, Cast, [results.stream]).dtype(dtype).packet(self.tidy(packet));
            results.stream = writer.value(op, name)?;
        }
        if self.choice.transposed {
            let (rows, columns) = self.exchanged();
            let batch = (!problem.adds_batch()).then(|| self.layout.batch.part(Part::Time));
            let time = batch.into_iter().chain([columns[0].clone(), rows]);
            let packet = columns[1].clone().pad(elements(FLIT_BYTES, dtype), PadKind::Top);
            writer.comment(&self.why_transposed());
            let op = new!(writer, Transpose, [results.stream]).time(self.dimension(time));
            results.stream = writer.value(op.packet(self.tidy(packet)), name)?;
        }
        let op = new!(writer, Commit, [results.stream]).at_auto().element(self.element(dtype));
        let committed = writer.value(op, &format!("{name}_dm"))?;
        match self.runs() {
            Some(runs) => self.gather(writer, committed, &runs),
            None => self.in_order(writer, committed),
        }
    }

    /// The runs of results that slices collect, if the plan has that.
    fn runs(&self) -> Option<Runs> {
        let layout = self.layout;
        let (cut, part) = match (self.choice.gather, self.choice.promotion) {
            (Gather::None | Gather::Own, _) | (Gather::Promoted, Promotion::None) => return None,
            (Gather::Rows, _) => (&layout.rows, Part::Slice),
            (Gather::Stream, _) => (&layout.stream, Part::Slice),
            (Gather::Promoted, Promotion::Stream) => (&layout.stream, Part::Promoted),
            (Gather::Promoted, Promotion::Reuse | Promotion::Row) => (&layout.rows, Part::Promoted),
        };
        let (except, [before, after]) = (self.except(), cut.around(part));
        let without = |parts: &[Part]| [except, parts, &[part]].concat();
        let cuts = layout.results(self.problem);
        let others = cuts.into_iter().filter(|own| !std::ptr::eq(*own, cut));
        let mut outer: Vec<Expr> = others.flat_map(|own| own.rest(except)).collect();
        outer.extend(cut.rest(&without(&after)));
        let kept = |part: &&Part| !except.contains(part);
        let length = after.iter().filter(kept).map(|part| cut.count(*part)).product();
        Some(Runs { outer, digit: cut.part(part), run: side_by_side(cut.rest(&without(&before))), length })
    }

    /// The layout of the results that are stored.
    fn stored(&self) -> Expr {
        if let Some(ordered) = self.ordered_layout() {
            return ordered;
        }
        self.runs().map_or_else(|| self.element(self.problem.out.dtype), |runs| self.dimension(runs.whole()))
    }

    /// Collects runs of several slices in one.
    fn gather(&self, writer: &mut Writer<'_>, results: ValueId, runs: &Runs) -> Result<ValueId, Diagnostic> {
        let (choice, out) = (self.choice, &self.problem.out);
        self.why_gather().iter().for_each(|why| writer.part(why));
        let maps = [self.dimension(runs.outer.iter().cloned()), self.tidy(runs.run.clone())];
        let stream = writer.fetch(results, maps, &out.name)?;
        let (slice1, slice0) = Layout::gathered(choice);
        let apart = choice.apart(self.machine);
        let op = new!(writer, Switch, [stream]).topology(TopologyName::Broadcast1);
        let op = op.slice1(Some(integer(slice1))).slice0(Some(integer(slice0 * apart)));
        let op =
            op.slice(Some(self.tidy(self.layout.result_slices(self.problem, choice, true, self.machine))));
        let time = || runs.outer.iter().cloned().chain([runs.digit.clone()]);
        let stream = writer.value(op.time(Some(self.dimension(time()))), &out.name)?;
        let flit = elements(FLIT_BYTES, out.dtype);
        // Flits end with padding if they do not divide the run.
        let parts = std::iter::successors(Some(flit), |part| Some(part / 2)).take_while(|part| *part > 1);
        let part = parts.into_iter().find(|part| runs.length.is_multiple_of(*part)).unwrap_or(flit);
        let [flits, packet] = divided(runs.run.clone(), runs.length, part);
        let op = new!(writer, Collect, [stream]).time(self.dimension(time().chain([flits])));
        let packet = up_to(packet, runs.length.min(part), flit);
        let stream = writer.value(op.packet(self.tidy(packet)), &out.name)?;
        let op = new!(writer, Commit, [stream]).at_auto().element(self.stored());
        writer.value(op, &format!("{}_rows", out.name))
    }

    /// The rows that the Transpose Engine exchanges, and the columns, in groups of 8 bytes.
    fn exchanged(&self) -> (Expr, [Expr; 2]) {
        let stream = &self.layout.stream;
        let except = self.except();
        let columns = side_by_side(stream.rest(except));
        let count = stream.count(Part::Time) * stream.count(Part::Share);
        (self.layout.rows.part(Part::Row), divided(columns, count, elements(8, self.problem.out.dtype)))
    }

    /// The parts of cuts that other slices hold in the result.
    fn except(&self) -> &'static [Part] {
        self.choice.held_elsewhere()
    }

    /// The layout of the results of a slice, with the padding of rows.
    fn element(&self, dtype: DType) -> Expr {
        self.problem.out.with_padding(self.packed(dtype), self.axes)
    }

    /// The layout of the results of a slice, in the order of the array, with the elements of a flit innermost.
    fn packed(&self, dtype: DType) -> Expr {
        let (layout, except) = (self.layout, self.except());
        let cuts = layout.results(self.problem);
        let flit = if self.choice.transposed {
            None
        } else if self.has_rows() {
            Some((&layout.rows, Part::Row, layout.rows.part(Part::Row)))
        } else {
            Some((&layout.stream, Part::Packet, layout.stream.part(Part::Packet)))
        };
        let last = cuts.iter().rev().find(|cut| !cut.rest(except).is_empty());
        let narrow = self.has_rows() && whole_groups(self.choice.row, dtype) != self.choice.row;
        let inside = |group: &Cut| last.is_some_and(|last| std::ptr::eq(*last, group)) && !narrow;
        let Some((group, part, innermost)) = flit.filter(|(group, _, _)| !inside(group)) else {
            return in_memory(cuts.iter().map(|cut| side_by_side(cut.rest(except))), dtype, self.axes);
        };
        let inside = |cut: &Cut| {
            let mut except = except.to_vec();
            if std::ptr::eq(cut, group) {
                except.push(part);
            }
            side_by_side(cut.rest(&except))
        };
        let [outer, innermost] = if self.has_rows() {
            [Expr::Literal(1), innermost]
        } else {
            divided(innermost, layout.stream.count(Part::Packet), SUMS)
        };
        let terms = cuts.iter().map(|cut| inside(cut)).chain([outer]);
        in_memory_around(terms, innermost, dtype, self.axes)
    }

    /// The parts of an operand of the epilogue that a slice holds, in the order of its array, and the elements of a
    /// flit of results among them.
    fn local(&self, array: &Array) -> vector::Terms {
        let (layout, except) = (self.layout, self.except());
        let held = layout.held_of(array);
        let memory = held.iter().map(|cut| side_by_side(cut.rest(except))).collect();
        let (flit, part, packet) = if self.has_rows() {
            (&layout.rows, Part::Row, to_sums(layout.rows.part(Part::Row), self.choice.row))
        } else {
            (&layout.stream, Part::Packet, layout.stream.part(Part::Packet))
        };
        let has = held.iter().any(|cut| std::ptr::eq(*cut, flit));
        let mut outer: Vec<Expr> = Vec::new();
        for cut in &held {
            let mut except = except.to_vec();
            if std::ptr::eq(*cut, flit) {
                except.push(part);
            }
            outer.extend(cut.rest(&except));
        }
        let packet = has.then(|| {
            if self.has_rows() {
                return packet;
            }
            let [time, packet] = divided(packet, layout.stream.count(Part::Packet), SUMS);
            outer.push(time);
            packet
        });
        vector::Terms { memory, outer, packet }
    }
}

/// A mapping of `size` positions in parts of `by` positions: the number of the part, and the position within it.
pub(super) fn divided(map: Expr, size: u64, by: u64) -> [Expr; 2] {
    if size <= by { [Expr::Literal(1), map] } else { [map.clone().stride(by), map.modulo(by)] }
}

/// A mapping of `size` positions with padding up to `whole`, if that is more.
pub(super) fn up_to(map: Expr, size: u64, whole: u64) -> Expr {
    if size < whole { map.pad(whole, PadKind::Top) } else { map }
}

/// The rows of a flit of sums.
fn to_sums(row: Expr, count: u64) -> Expr {
    up_to(row, count, SUMS)
}

pub(super) fn integer(count: u64) -> i64 {
    count.cast_signed()
}
