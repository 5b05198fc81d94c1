//! Tensors at rest: transfers, views, and parts that are written.

use crate::clauses::{Dims, TilePart};
use crate::emit::{at, new, with};
use crate::error::Error;
use crate::eval::{Eval, Evaluator, Frame, Stop};
use crate::map::{Map, Pad};
use crate::method::{Call, readable};
use crate::numbers::number;
use crate::value::merged;
use crate::value::{Affine, Memory, PlaceId, Step, TensorType, Value, View};
use proc_macro2::Span;
use visa_algebra::{Expr, PadKind};
use visa_engine::words::TensorMemory;
use visa_ir::build::NewOp;
use visa_ir::module::ValueId;
use visa_mapping::ops::empty::{Empty, EmptyBuilder};
use visa_mapping::ops::number::Sum;
use visa_mapping::ops::transfer::{ToDm, ToDmBuilder, ToHbm, ToHbmBuilder, ToSpm, ToSpmBuilder};
use visa_mapping::ops::view::{self, Relabel, Unpad};
use visa_mapping::tensor::numbers::Number;
use visa_numerics::DType;
use visa_stream::ops::fill::{FillTensor, FillTensorBuilder};
use visa_stream::ops::fill_view::FillView;

/// A tile that is written: the dimension it is cut along, its positions, the first, and its elements if those are cut.
type Part<'a> = (&'a Map, u64, Affine, Option<&'a Map>);

/// Tiles of tiles, with those along the same dimension as one.
fn joined(tiles: Vec<Part<'_>>) -> Vec<Part<'_>> {
    let mut all: Vec<Part<'_>> = Vec::new();
    for (along, size, first, element) in tiles {
        match all.last_mut() {
            Some((whole, positions, start, held)) if is_first_of(along, whole, *positions) => {
                match start.add(&first, 1) {
                    Some(sum) => (*start, *positions, *held) = (sum, size, element),
                    None => all.push((along, size, first, element)),
                }
            }
            Some(_) | None => all.push((along, size, first, element)),
        }
    }
    all
}

/// Returns true if a dimension is the first positions of another one, as `A = 4` of A, padded or not.
fn is_first_of(part: &Map, whole: &Map, positions: u64) -> bool {
    match &*part.factors() {
        [Map::Padding(of, ..)] => is_first_of(of, whole, positions),
        [Map::Resize(of, size)] => *size == positions && of.factors() == whole.factors(),
        _ => false,
    }
}

impl<'a> Evaluator<'a> {
    pub(crate) fn tensor_method(&mut self, frame: &mut Frame, view: View, call: &Call) -> Eval<Value> {
        match call.name.as_str() {
            "view" | "view_mut" | "as_ref" | "as_mut" => Ok(Value::View(view)),
            _ if view.ty.memory == Memory::Host => Err(self.unknown(frame, call, "a tensor in host memory")),
            "tile" => self.tile(frame, view, call, "element"),
            "chip_tile" => self.tile(frame, view, call, "chip"),
            "cluster_tile" => self.tile(frame, view, call, "cluster"),
            "slice_tile" => self.tile(frame, view, call, "slice"),
            "pad" => self.shaped(frame, view, call, Step::Pad),
            "unpad" => self.shaped(frame, view, call, Step::Unpad),
            "reshape" | "transmute" => self.relabelled(frame, view, call),
            // Versions before 0.4 pass the tensor that is written.
            "to_dm_pcopy" if matches!(&*call.given(), [Value::View(_)]) => {
                self.transfer_into(frame, &view, call)
            }
            "to_dm" | "to_dm_pcopy" => self.transfer(frame, &view, call, Memory::Dm),
            "to_hbm" => self.transfer(frame, &view, call, Memory::Hbm),
            "to_spm" => self.transfer(frame, &view, call, Memory::Spm),
            "to_dm_view" | "to_hbm_view" | "to_dm_view_pcopy" => self.transfer_into(frame, &view, call),
            "dm_chip_shuffle" | "hbm_chip_shuffle" => self.chip_shuffle(frame, &view, call),
            "dm_cluster_shuffle" => self.cluster_shuffle(frame, &view, call),
            "memset" => self.memset(frame, &view, call),
            "dma_gather_scaled" | "dma_gather_unscaled" | "dma_gather" => self.gather(frame, &view, call),
            "dma_scatter" | "dma_scatter_unscaled" => self.scatter(frame, &view, call),
            _ => {
                if let Some(value) = self.asymmetric_slice(frame, &view, call)? {
                    return Ok(value);
                }
                let deferred = self.deferral(frame, &view, call)?;
                deferred.ok_or_else(|| self.unknown(frame, call, "a tensor"))
            }
        }
    }

    /// The name of a tensor, which is declared if nothing has written it yet.
    pub(crate) fn current(&mut self, frame: &Frame, span: Span, place: PlaceId) -> Eval<String> {
        let cell = &self.state.cells[place.0];
        if let Some(name) = &cell.name {
            return Ok(name.clone());
        }
        let (ty, wanted) = (cell.ty.clone(), cell.wanted.clone());
        let dtype = self.dtype(frame, span, &ty)?;
        let memory = match ty.memory {
            Memory::Hbm => TensorMemory::Hbm,
            Memory::Dm => TensorMemory::Dm,
            Memory::Spm => TensorMemory::Spm,
            Memory::Host => {
                let message =
                    "the zeros of the host are data, which a host program of visa takes as arguments";
                let fix = "make the tensor an argument, and give `--arg NAME=zeros`";
                return Err(Stop::Error(Error::new(frame.place(span), message).fix(fix)));
            }
            Memory::Trf | Memory::Vrf => {
                let message = format!("a tensor in {} that nothing has written", ty.memory.name());
                return Err(frame.error(span, message));
            }
        };
        let Dims { chip, cluster, slice, pe, element, .. } = self.dims(&ty);
        self.reused(frame, span, place);
        let at = self.kept_of(place);
        let new = at!(new!(self.ctx, Empty).memory(memory).dtype(dtype), at);
        let new = new.chip(chip).cluster(cluster).slice(slice).pe(pe);
        let name = self.made(frame, span, wanted.as_deref(), with(new, element, EmptyBuilder::element));
        self.state.cells[place.0].name = Some(name.clone());
        Ok(name)
    }

    /// The format of a tensor, which must be known.
    pub(crate) fn dtype(&self, frame: &Frame, span: Span, ty: &TensorType) -> Eval<DType> {
        ty.dtype.ok_or_else(|| frame.error(span, "a tensor whose format is not known"))
    }

    /// The mapping of a dimension, which must be known.
    pub(crate) fn dim(&self, frame: &Frame, span: Span, ty: &TensorType, name: &str) -> Eval<Map> {
        let map = ty.dim(name).cloned();
        map.ok_or_else(|| frame.error(span, format!("what `{name}` of the tensor holds is not known")))
    }

    /// The mappings of a tensor as clauses.
    pub(crate) fn dims(&self, ty: &TensorType) -> Dims {
        let dim = |name: &str| ty.dim(name).map(|map| self.mapping(&readable(map)));
        Dims {
            // A tensor without this clause is on one chip.
            chip: dim("chip").filter(|_| ty.dim("chip") != Some(&Map::one())),
            cluster: dim("cluster"),
            slice: dim("slice"),
            pe: dim("pe"),
            row: dim("row"),
            element: dim("element"),
        }
    }

    /// The transfer of a tensor to a memory.
    pub(crate) fn moved(
        &self,
        frame: &Frame,
        span: Span,
        source: &str,
        (memory, at): (Memory, Option<i64>),
        dims: Dims,
    ) -> Eval<NewOp<'a>> {
        let (ctx, source) = (self.ctx, [self.value(source)]);
        let Dims { chip, cluster, slice, pe, element, .. } = dims;
        Ok(match memory {
            Memory::Hbm => {
                let new = at!(new!(ctx, ToHbm, source), at).chip(chip);
                with(new, element, ToHbmBuilder::element).into()
            }
            Memory::Dm => {
                let new = at!(new!(ctx, ToDm, source), at).chip(chip);
                let new = with(new, cluster, ToDmBuilder::cluster);
                let new = with(new, slice, ToDmBuilder::slice);
                with(new, element, ToDmBuilder::element).into()
            }
            Memory::Spm if chip.is_none() => {
                let new = at!(new!(ctx, ToSpm, source), at);
                let new = with(new, cluster, ToSpmBuilder::cluster);
                let new = with(new, pe, ToSpmBuilder::pe);
                with(new, element, ToSpmBuilder::element).into()
            }
            Memory::Spm => {
                return Err(frame.error(span, "what moves to scratchpad memory stays on its chips"));
            }
            Memory::Trf | Memory::Vrf => {
                return Err(frame.error(span, "a register file is written by a stream alone"));
            }
            Memory::Host => {
                return Err(frame.error(span, "a kernel does not move tensors to host memory"));
            }
        })
    }

    /// The name under which a view is read.
    pub(crate) fn read(&mut self, frame: &Frame, span: Span, view: &View) -> Eval<String> {
        let view = &self.settled(frame, span, view)?;
        let mut name = self.current(frame, span, view.place)?;
        for step in &view.steps {
            let ctx = self.ctx;
            let new: NewOp<'a> = match step {
                Step::Tile { along, size, first, element } => {
                    let (first, index) = self.first(frame, span, std::slice::from_ref(first))?;
                    let element = element.as_ref().map(|element| self.mapping(&readable(element)));
                    let (along, size) = (self.mapping(along), self.tile_size(frame, span, *size)?);
                    TilePart { first, along, size, index, element }.tile(ctx, self.value(&name))
                }
                Step::Pad(element) => {
                    let element = self.mapping(&readable(element));
                    new!(ctx, view::Pad, [self.value(&name)]).common(|pad| pad.element(element.into())).into()
                }
                Step::Unpad(element) => {
                    let element = self.mapping(&readable(element));
                    new!(ctx, Unpad, [self.value(&name)]).common(|pad| pad.element(element.into())).into()
                }
                Step::Reshape(changed, place) => {
                    let Dims { chip, cluster, slice, pe, row, element } = self.dims(changed);
                    let new = new!(ctx, Relabel, [self.value(&name)]).chip(chip).cluster(cluster);
                    let new = new.slice(slice).pe(pe).row(row).element(element);
                    name = self.made_at(place, None, new);
                    continue;
                }
            };
            name = self.made(frame, span, None, new);
        }
        Ok(name)
    }

    /// The name under which a pipeline reads a view. Its addresses do not move with a number that the kernel is
    /// given, so such a tile is copied first.
    pub(crate) fn begun(&mut self, frame: &Frame, span: Span, view: &View) -> Eval<String> {
        let name = self.read(frame, span, view)?;
        let moves = view.steps.iter().any(|step| match step {
            Step::Tile { first, .. } => first.terms.keys().any(|name| self.state.scalars.contains_key(name)),
            Step::Pad(_) | Step::Unpad(_) | Step::Reshape(..) => false,
        });
        if !moves || view.ty.memory != Memory::Dm {
            return Ok(name);
        }
        let message = "the addresses of a pipeline do not move with a number that the kernel is given: the tile is \
                       copied first, and the cost has this transfer";
        self.state.remarks.push(Error::new(frame.place(span), message));
        let dims = Dims { chip: None, ..self.dims(&view.ty) };
        let new = self.moved(frame, span, &name, (Memory::Dm, None), dims)?;
        Ok(self.made(frame, span, None, new))
    }

    /// The size of a tile as a clause.
    fn tile_size(&self, frame: &Frame, span: Span, size: u64) -> Eval<Option<i64>> {
        let size =
            i64::try_from(size).map_err(|_| frame.error(span, "a tile of more than 2^63 positions"))?;
        Ok(Some(size).filter(|&size| size != 1))
    }

    /// The starts of tiles: operands, and the clause for the known part.
    fn first(&mut self, frame: &Frame, span: Span, first: &[Affine]) -> Eval<(Vec<ValueId>, Option<i64>)> {
        let [only] = first else {
            let mut operands = Vec::new();
            for own in first {
                let name = self.index_name(frame, span, own)?;
                operands.push(self.value(&name));
            }
            return Ok((operands, None));
        };
        if let Some(number) = only.number() {
            return Ok((Vec::new(), Some(number)));
        }
        let moving = Affine { plus: 0, ..only.clone() };
        let name = self.index_name(frame, span, &moving)?;
        Ok((vec![self.value(&name)], Some(only.plus).filter(|&plus| plus != 0)))
    }

    pub(crate) fn index_name(&mut self, frame: &Frame, span: Span, index: &Affine) -> Eval<String> {
        let terms: Vec<(&String, &i64)> = index.terms.iter().collect();
        if let ([(name, 1)], 0) = (&*terms, index.plus) {
            return Ok((*name).clone());
        }
        let (names, by): (Vec<&String>, Vec<i64>) = terms.into_iter().unzip();
        let values: Vec<ValueId> = names.into_iter().map(|name| self.value(name)).collect();
        let new = new!(self.ctx, Sum, values).by(by).plus_unless_default(index.plus);
        Ok(self.index_made(frame, span, new))
    }

    /// A tile along one dimension of a tensor: its elements, or the chips, clusters or slices that it is on.
    fn tile(&mut self, frame: &mut Frame, mut view: View, call: &Call, dim: &str) -> Eval<Value> {
        let along = self.wanted_map(frame, call, call.map(0), "along what it cuts")?;
        let held = self.wanted_map(frame, call, call.map(1), "what the tile holds")?;
        let size = call.numbers.first().and_then(|&size| u64::try_from(size).ok());
        let size = size.ok_or_else(|| {
            frame.error(call.span, format!("`{}` does not say how many positions it has", call.name))
        })?;
        let first = match &*call.given() {
            [value] => self.index_of(frame, call.span, value)?,
            _ => return Err(frame.error(call.span, format!("`{}` takes where it begins", call.name))),
        };
        self.begins(&along, size, &first);
        let element = (dim == "element").then(|| held.clone());
        view = self.cut(frame, call, view, Step::Tile { along, size, first, element }, (dim, held))?;
        Ok(Value::View(view))
    }

    /// A view of a tile, whose dimension `dim` holds the given mapping.
    pub(crate) fn cut(
        &self,
        frame: &Frame,
        call: &Call,
        mut view: View,
        step: Step,
        (dim, held): (&str, Map),
    ) -> Eval<View> {
        let before = self.dim(frame, call.span, &view.ty, dim)?;
        if dim != "element"
            && let Step::Tile { along, size, .. } = &step
            && !self.is_tile(&before, along, *size, &held)
        {
            let message = format!(
                "`{}` says that `{dim}` holds {}, but a tile of {} has {size} of {}, and padding for the others",
                call.name,
                self.text(&held),
                self.text(&before),
                self.text(along)
            );
            return Err(frame.error(call.span, message));
        }
        view.ty = view.ty.with_dim(dim, held);
        // A dimension of one position has one tile: the whole.
        if !matches!(&step, Step::Tile { along, .. } if along.size(self) == Some(1)) {
            view.steps.push(step);
        }
        Ok(view)
    }

    /// Returns true if a mapping has as many positions as another one, and those of a tile of it hold something.
    fn is_tile(&self, whole: &Map, along: &Map, size: u64, tile: &Map) -> bool {
        let product = |all: [Option<u64>; 2]| all[0]?.checked_mul(all[1]?);
        whole.size(self) == tile.size(self)
            && product([whole.live(self), Some(size)]) == product([tile.live(self), along.live(self)])
    }

    fn shaped(
        &mut self,
        frame: &mut Frame,
        mut view: View,
        call: &Call,
        step: fn(Map) -> Step,
    ) -> Eval<Value> {
        let wanted = call.want.tensor().and_then(TensorType::element).cloned();
        let element = self.wanted_map(frame, call, call.map(0).or(wanted), "what it holds then")?;
        view.ty = view.ty.with_dim("element", element.clone());
        view.steps.push(step(element));
        Ok(Value::View(view))
    }

    pub(crate) fn relabelled(&mut self, frame: &Frame, mut view: View, call: &Call) -> Eval<Value> {
        let dims = view.ty.maps.len();
        let mut ty = view.ty.clone();
        ty.maps = vec![None; dims];
        for at in 0..dims {
            ty.maps[at] = call.map(at);
        }
        if let Some(wanted) = call.want.tensor() {
            ty = merged(&ty, wanted);
        }
        if ty.maps.iter().any(Option::is_none) {
            return Err(
                frame.error(call.span, format!("`{}` does not say the tensor's new mappings", call.name))
            );
        }
        let ty = self.on_device(frame, call.span, ty);
        self.check_two_dimensions(frame, call, &ty)?;
        if ty.maps != view.ty.maps {
            let mut changed = ty.clone();
            for (own, before) in changed.maps.iter_mut().zip(&view.ty.maps) {
                own.take_if(|own| Some(&*own) == before.as_ref());
            }
            view.steps.push(Step::Reshape(changed, frame.place(call.span)));
        }
        view.ty = ty;
        Ok(Value::View(view))
    }

    pub(crate) fn transfer(
        &mut self,
        frame: &mut Frame,
        view: &View,
        call: &Call,
        memory: Memory,
    ) -> Eval<Value> {
        let dims = memory.dims().len();
        let mut ty = TensorType { memory, dtype: view.ty.dtype, maps: vec![None; dims] };
        let given: Vec<Option<Map>> = (0..call.types.len()).map(|at| call.map(at)).collect();
        // The last mappings are given; chips stay as they are.
        for (at, map) in given.into_iter().rev().enumerate() {
            if let Some(own) = dims.checked_sub(at + 1) {
                ty.maps[own] = map;
            }
        }
        if let Some(wanted) = call.want.tensor() {
            ty = merged(&ty, wanted);
        }
        let like =
            if view.ty.memory == memory { view.ty.maps.clone() } else { vec![view.ty.maps[0].clone()] };
        for (own, other) in ty.maps[..dims - 1].iter_mut().zip(like) {
            *own = own.take().or(other);
        }
        let ty = self.on_device(frame, call.span, ty);
        for (dim, map) in memory.dims().iter().zip(&ty.maps) {
            self.wanted_map(frame, call, map.clone(), &format!("what `{dim}` holds"))?;
        }
        self.dropped_axis(frame, call, &view.ty, &ty);
        let mut source = self.read(frame, call.span, view)?;
        if memory == Memory::Dm && self.reads_on(&view.ty, &ty) {
            let element = Expr::Literal(1).pad(2, PadKind::Top);
            let new = new!(self.ctx, view::Pad, [self.value(&source)]);
            source = self.made(frame, call.span, None, new.common(|pad| pad.element(element.into())));
        }
        let chips = ty.maps[0] != view.ty.maps[0];
        let dims = self.dims(&ty);
        let dims = if chips { dims } else { Dims { chip: None, ..dims } };
        let at = self.address(frame, call)?;
        let kept = self.kept(frame, call.span, at);
        let new = self.moved(frame, call.span, &source, (memory, kept), dims)?;
        let name = self.made(frame, call.span, call.want.name.as_deref(), new);
        Ok(Value::View(self.stored(name, ty, call.want.name.clone(), at)))
    }

    /// A tensor of data memory, loaded from HBM.
    pub(crate) fn loaded(
        &mut self,
        frame: &Frame,
        span: Span,
        (source, name): (&str, &str),
        ty: &TensorType,
    ) -> Eval<String> {
        let new =
            self.moved(frame, span, source, (Memory::Dm, None), Dims { chip: None, ..self.dims(ty) })?;
        Ok(self.made(frame, span, Some(name), new))
    }

    /// Notes an axis of a source that the destination of a transfer lacks.
    pub(crate) fn dropped_axis(&mut self, frame: &Frame, call: &Call, from: &TensorType, to: &TensorType) {
        let mut kept = Vec::new();
        to.maps.iter().flatten().for_each(|map| map.axes(&mut kept));
        let factors = from.maps.iter().flatten().flat_map(Map::factors);
        let dropped = factors.filter_map(|factor| {
            let mut own = Vec::new();
            factor.axes(&mut own);
            let lost = own.into_iter().find(|id| !kept.contains(id))?;
            Some((lost, factor.live(self).filter(|&live| live > 1)?))
        });
        let Some((id, live)) = dropped.into_iter().next() else { return };
        let name = &self.axis_names[id.0];
        let message = format!(
            "`{}` leaves out axis `{name}`: the source has {live} positions of it, and the destination none",
            call.name
        );
        let fix = format!("add `{name}` to a mapping of the destination, or take a tile of the source");
        self.state.remarks.push(Error::new(frame.place(call.span), message).fix(fix));
    }

    /// Refuses a relabelling that has all of an axis in two dimensions.
    fn check_two_dimensions(&self, frame: &Frame, call: &Call, ty: &TensorType) -> Eval<()> {
        let dims: Vec<(&str, &Map)> = ty
            .memory
            .dims()
            .iter()
            .zip(&ty.maps)
            .filter_map(|(dim, map)| Some((*dim, map.as_ref()?)))
            .collect();
        for (at, (dim, map)) in dims.iter().enumerate() {
            for factor in map.factors() {
                let Map::Axis(id) = factor else { continue };
                let has = |map: &Map| {
                    let mut axes = Vec::new();
                    map.axes(&mut axes);
                    axes.contains(id)
                };
                let others = dims.iter().enumerate().filter(|(other, _)| *other != at);
                if let Some((_, (other, _))) = others.into_iter().find(|(_, (_, map))| has(map)) {
                    let name = &self.axis_names[id.0];
                    let message = format!("`{}` puts axis `{name}` on `{dim}` and on `{other}`", call.name);
                    let fix =
                        format!("give one of them another axis: a tensor holds each index of `{name}` once");
                    return Err(Error::new(frame.place(call.span), message).fix(fix).into());
                }
            }
        }
        Ok(())
    }

    /// Returns true if a transfer reads on past one number in HBM: data memory is written 8 bytes at a time, and the
    /// destination has padding there.
    fn reads_on(&self, from: &TensorType, to: &TensorType) -> bool {
        let one = |map: &Map| map.factors() == [&Map::Copies(1)];
        let padded = |map: &Map| match &*map.factors() {
            [Map::Padding(of, 2.., Pad::Top)] => one(of),
            _ => false,
        };
        from.memory == Memory::Hbm
            && from.dtype.is_some_and(|dtype| dtype.bits() == 32)
            && from.element().is_some_and(one)
            && to.element().is_some_and(padded)
    }

    /// A tensor moves to the view that a call names.
    fn transfer_into(&mut self, frame: &mut Frame, view: &View, call: &Call) -> Eval<Value> {
        let [Value::View(to)] = &*call.given() else {
            return Err(frame.error(call.span, format!("`{}` takes the view that is written", call.name)));
        };
        self.written(frame, call.span, view, to)?;
        Ok(Value::Nothing)
    }

    /// A tensor moves to a tile of another one, or to all of it.
    pub(crate) fn written(&mut self, frame: &mut Frame, span: Span, from: &View, to: &View) -> Eval<()> {
        let source = self.read(frame, span, from)?;
        let to = &self.aliased(to);
        let stays = self.state.cells[to.place.0].stays;
        let new = match self.target(frame, span, to)? {
            Some((tensor, part)) => part.transfer(self.ctx, self.value(&source), self.value(&tensor)),
            None if stays => {
                let tensor = self.current(frame, span, to.place)?;
                let part = self.whole(frame, span, to)?;
                part.transfer(self.ctx, self.value(&source), self.value(&tensor))
            }
            None => {
                let mut own = to.ty.clone();
                if own.maps[0] == from.ty.maps[0] {
                    own.maps[0] = None;
                }
                let at = self.kept_of(to.place);
                self.moved(frame, span, &source, (own.memory, at), self.dims(&own))?
            }
        };
        self.changed(frame, span, to.place, new);
        Ok(())
    }

    /// A tensor is another one from here on.
    pub(crate) fn changed(&mut self, frame: &Frame, span: Span, place: PlaceId, new: impl Into<NewOp<'a>>) {
        let wanted = self.state.cells[place.0].wanted.clone();
        let name = self.made(frame, span, wanted.as_deref(), new);
        let cell = &mut self.state.cells[place.0];
        cell.name = Some(name);
        cell.writes += 1;
        cell.written = self.state.out.acts();
    }

    /// The tensor whose tile is written, and the tile; `None` for a whole tensor.
    pub(crate) fn target(
        &mut self,
        frame: &Frame,
        span: Span,
        to: &View,
    ) -> Eval<Option<(String, TilePart)>> {
        if to.steps.is_empty() {
            return Ok(None);
        }
        let mut tiles = Vec::new();
        for step in &to.steps {
            match step {
                Step::Tile { along, size, first, element } => {
                    tiles.push((along, *size, first.clone(), element.as_ref()))
                }
                Step::Pad(_) | Step::Unpad(_) | Step::Reshape(..) => {
                    return Err(
                        frame.error(span, "what is written is a tensor or a tile of it, not another view")
                    );
                }
            }
        }
        let tensor = self.current(frame, span, to.place)?;
        let tiles = joined(tiles);
        if tiles.len() > 1 && tiles.iter().any(|(_, size, ..)| *size != 1) {
            return Err(frame.error(span, "of tiles of tiles, each has one position"));
        }
        let firsts: Vec<Affine> = tiles.iter().map(|(_, _, first, _)| first.clone()).collect();
        let (first, index) = self.first(frame, span, &firsts)?;
        let along: Vec<&Map> = tiles.iter().map(|(along, ..)| *along).collect();
        let along = self.mapping(&Map::List(along.into_iter().cloned().collect()));
        let element = tiles.iter().rev().find_map(|(along, _, _, element)| Some((along, (*element)?)));
        let element = element.map(|(along, element)| self.mapping(&self.named(along, element)));
        let size = self.tile_size(frame, span, tiles.last().map_or(1, |(_, size, ..)| *size))?;
        Ok(Some((tensor, TilePart { first, along, size, index, element })))
    }

    /// The contents of a tile of one position, with the dimension that it is cut along where the author writes `1`.
    fn named(&self, along: &Map, element: &Map) -> Map {
        let (mut axes, mut known) = (Vec::new(), Vec::new());
        along.axes(&mut axes);
        element.axes(&mut known);
        if axes.iter().any(|id| known.contains(id)) {
            return element.clone();
        }
        let size = along.size(self);
        let mut found = false;
        let factor = |own: &Map| match own {
            Map::Padding(of, all, pad) if !found && **of == Map::Copies(1) && Some(*all) == size => {
                found = true;
                let only = match &*along.factors() {
                    [only] => (*only).clone(),
                    _ => along.clone(),
                };
                Map::Padding(Map::Resize(only.into(), 1).into(), *all, *pad)
            }
            other => other.clone(),
        };
        Map::List(element.factors().into_iter().map(factor).collect())
    }

    /// All of a tensor as one tile of it.
    pub(crate) fn whole(&self, frame: &Frame, span: Span, to: &View) -> Eval<TilePart> {
        let element = self.dim(frame, span, &to.ty, "element")?;
        // Padding around one position has one position.
        let one = |own: &&Map| matches!(own, Map::Padding(of, ..) if **of == Map::Copies(1));
        let factors = element.factors().into_iter().filter(|own| !one(own));
        let sizes = factors.filter_map(|own| Some((own, own.size(self)?)));
        let found = sizes.filter(|(_, size)| *size > 1).map(|(own, size)| (own.clone(), size)).next();
        let (factor, size) =
            found.ok_or_else(|| frame.error(span, "a tensor of one element that stays has no tile"))?;
        let size = self.tile_size(frame, span, size)?;
        Ok(TilePart { first: Vec::new(), along: self.mapping(&factor), size, index: Some(0), element: None })
    }

    fn memset(&mut self, frame: &mut Frame, view: &View, call: &Call) -> Eval<Value> {
        let given = call.given();
        let number = given.first().and_then(|value| number(value));
        let number = number.ok_or_else(|| frame.error(call.span, "`memset` takes a number"))?;
        let view = &self.aliased(view);
        if !view.steps.is_empty() {
            return Err(frame.error(call.span, "`memset` of a part of a tensor is not read"));
        }
        let new: NewOp<'a> = match self.state.cells[view.place.0].name.clone() {
            None => {
                let dtype = self.dtype(frame, call.span, &view.ty)?;
                let at = self.kept_of(view.place);
                self.fill(number, dtype, self.dims(&view.ty), at)
            }
            Some(tensor) => {
                let element = self.dim(frame, call.span, &view.ty, "element")?;
                let new = new!(self.ctx, FillView, [self.value(&tensor)]);
                new.value(number).element(self.mapping(&element)).into()
            }
        };
        self.changed(frame, call.span, view.place, new);
        Ok(Value::Nothing)
    }

    /// A new tensor that holds a number everywhere.
    pub(crate) fn fill(&self, number: Number, dtype: DType, dims: Dims, at: Option<i64>) -> NewOp<'a> {
        let Dims { chip, cluster, slice, element, .. } = dims;
        let new = at!(new!(self.ctx, FillTensor).value(number), at).dtype(dtype).chip(chip);
        let new = with(new, cluster, FillTensorBuilder::cluster);
        let new = with(new, slice, FillTensorBuilder::slice);
        with(new, element, FillTensorBuilder::element).into()
    }
}
