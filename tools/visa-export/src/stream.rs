//! Pipelines outside of the vector engine. A pipeline is one method chain, which is written where it ends.

use crate::body::Body;
use crate::literals::fill;
use crate::memory::Created;
use crate::parts::same_first;
use crate::refusals::{Export, REPLAN, has_only, refuse, refuse_if, refuse_with_fix};
use crate::values::Stream;
use crate::version::{CASTS, FETCH_CASTS, LOOKUPS, ZERO_POINTS};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use std::collections::BTreeSet;
use visa_algebra::{Expr, PadKind};
use visa_engine::words::{AccumulatorOrder, ContractionKind, RegionName, TopologyName};
use visa_ir::analysis::Analysis;
use visa_ir::module::{OpRef, ValueId};
use visa_ir::open;
use visa_machine::Unit;
use visa_mapping::facts::{Support, machine};
use visa_mapping::ops::table::Table;
use visa_mapping::{Dim, Tensor};
use visa_numerics::DType;
use visa_stream::ops::begin::Begin;
use visa_stream::ops::begin_interleaved::BeginInterleaved;
use visa_stream::ops::cast::Cast;
use visa_stream::ops::collect::Collect;
use visa_stream::ops::commit::Commit;
use visa_stream::ops::commit_tile::CommitTile;
use visa_stream::ops::commit_view::CommitView;
use visa_stream::ops::contract::{Accumulate, Align, Contract};
use visa_stream::ops::fetch::Fetch;
use visa_stream::ops::fill::FillTensor;
use visa_stream::ops::fill_view::FillView;
use visa_stream::ops::generate::Generate;
use visa_stream::ops::store::{ToTrf, ToVrf};
use visa_stream::ops::switch::Switch;
use visa_stream::ops::transpose::Transpose;
use visa_stream::planner::Planner;
use visa_stream::snoop::Snooping;

/// Bytes of a flit (book 14).
const FLIT_BYTES: u64 = 32;
/// The commit engine keeps a multiple of these bytes of a flit (book 09).
const KEPT_BYTES: u64 = 8;

#[expect(clippy::wrong_self_convention, reason = "methods have the names of the operations")]
impl Body<'_, '_> {
    /// `stream.begin`.
    pub(crate) fn begin(&mut self, op: OpRef<'_>) -> Export<()> {
        let begin = Begin::of(op)?;
        let tensor = op.operands().first().copied().ok_or_else(|| refuse(op, "it has no tensor"))?;
        let result = begin.result_stream()?.id;
        let operand = self.read_part(op, tensor, &fetched(op, result)?)?.into_view();
        let (view, root) = (operand.tokens, operand.root);
        self.begun(op, begin.context()?, result, BTreeSet::from([root]), quote!(.begin(#view)))
    }

    /// `stream.begin_interleaved`.
    pub(crate) fn begin_interleaved(&mut self, op: OpRef<'_>) -> Export<()> {
        let begin = BeginInterleaved::of(op)?;
        let result = begin.result_stream()?.id;
        let &[first, second] = op.operands() else {
            let count = op.operands().len();
            return Err(refuse(
                op,
                format!("it interleaves {count} tensors, and the language interleaves 2"),
            ));
        };
        let axis = self.axis(op, &*begin.axis()?)?;
        for tensor in [first, second] {
            let tensor = self.tensor(op, tensor)?;
            if !self.read_parts(op, &tensor, &fetched(op, result)?)?.is_empty() {
                let message =
                    "a part of the interleaved tensors is fetched, and the language interleaves whole ones";
                return Err(refuse_with_fix(op, message, "interleave tiles: `tm.tile`"));
            }
        }
        let (first, second) = (self.read_view(op, first)?, self.read_view(op, second)?);
        let reads = BTreeSet::from([first.root, second.root]);
        let (first, second) = (first.tokens, second.tokens);
        let call = quote!(.begin_interleaved::<#axis, _, _, _, _, _>(#first, #second));
        self.begun(op, begin.context()?, result, reads, call)
    }

    fn begun(
        &mut self,
        op: OpRef<'_>,
        unit: Unit,
        result: ValueId,
        reads: BTreeSet<ValueId>,
        call: TokenStream,
    ) -> Export<()> {
        let (device, comments) = (self.device(), self.comments_of(op));
        let context = match unit {
            Unit::Main => quote!(main),
            Unit::Sub => quote!(sub),
            Unit::Dual => {
                let message = "the language has the contexts `main` and `sub`, and no `dual`";
                let fix = format!("begin it in `main`, in flits of 32 bytes, or {REPLAN}");
                return Err(refuse_with_fix(op, message, fix));
            }
        };
        let chain = quote!(#device.#context #call);
        self.streams.insert(result, Stream { chain, reads, comments, unit, groups: None });
        Ok(())
    }

    /// `stream.fetch`.
    pub(crate) fn fetch(&mut self, op: OpRef<'_>) -> Export<()> {
        let fetch = Fetch::of(op)?;
        let (source, result) = (op.operands()[0], fetch.result_stream()?.id);
        if fetch.pad()?.is_some() {
            return Err(refuse_with_fix(op, "the language masks with zeros alone (`pad`)", REPLAN));
        }
        let (time, packet) = (fetch.time()?, fetch.packet()?);
        let masked = has_zero(&time) || has_zero(&packet);
        let [read_time, read_packet] = [&time, &packet].map(|map| without_zero(map));
        let read = self.tensor(op, source)?;
        let (before, lifts) = self.lifts(op, fetch, &read, &read_time)?;
        let (time_type, packet_type) = (self.map(op, &before)?, self.map(op, &read_packet)?);
        let mut call = quote!(.fetch::<#time_type, #packet_type>() #lifts);
        if masked {
            let (time, packet) = (self.map(op, &time)?, self.map(op, &packet)?);
            call.extend(quote!(.fetch_mask::<#time, #packet>()));
        }
        let (from, to) = (read.dtype, self.tensor(op, result)?.dtype);
        let adapted = self.adapter(op, fetch, (from, to))?;
        call.extend(adapted);
        self.chained(op, source, result, call)
    }

    /// The methods of the fetch adapter.
    fn adapter(
        &mut self,
        op: OpRef<'_>,
        fetch: Fetch<'_>,
        (from, to): (DType, DType),
    ) -> Export<TokenStream> {
        let (mut calls, mut dtype) = (TokenStream::new(), from);
        if let Some(name) = fetch.table()? {
            let looked_up = self.lookup(op, &name, from)?;
            let format = self.format(op, looked_up)?;
            calls.extend(quote!(.fetch_table_lookup::<#format>()));
            dtype = looked_up;
        }
        let points = fetch.zero_points()?;
        if points.is_some() || ZERO_POINTS.contains(&(dtype, to)) {
            if !ZERO_POINTS.contains(&(dtype, to)) {
                let message = format!("the language subtracts zero points from `{dtype}` to no `{to}`");
                return Err(refuse(op, message));
            }
            let point = match points.as_deref() {
                None => 0,
                Some([point]) => *point,
                Some(_) => return Err(refuse(op, "the language subtracts one zero point from a stream")),
            };
            let (format, literal) = (self.format(op, to)?, Literal::i64_unsuffixed(point.abs()));
            let sign = (point < 0).then(|| quote!(-));
            calls.extend(quote!(.fetch_zero_point_sub::<#format>(#sign #literal)));
        } else if dtype != to {
            if !FETCH_CASTS.contains(&(dtype, to)) {
                let message = format!("the language's fetch converts no `{dtype}` to `{to}`");
                return Err(refuse(op, message));
            }
            let format = self.format(op, to)?;
            calls.extend(quote!(.fetch_cast::<#format>()));
        }
        Ok(calls)
    }

    /// The format of a table's values. The language has a table for each pair of formats, with the same values.
    fn lookup(&self, op: OpRef<'_>, name: &str, from: DType) -> Export<DType> {
        let mut tables = op.module.ops(op.module.body()).iter().filter_map(|&id| Table::cast(op.other(id)));
        let table = tables.find(|table| table.name().is_ok_and(|own| *own == *name));
        let table = table.ok_or_else(|| refuse(op, format!("table `{name}` is not declared")))?;
        has_only(*table, &["name", "from", "to", "values"])?;
        let to = *table.to()?;
        if table.values()?.is_some() || !LOOKUPS.contains(&(from, to)) {
            let message = format!(
                "table `{name}` has values of its author, and the language looks up each number of one format in \
                 another one"
            );
            return Err(refuse(op, message));
        }
        Ok(to)
    }

    /// `stream.switch`.
    pub(crate) fn switch(&mut self, op: OpRef<'_>) -> Export<()> {
        let switch = Switch::of(op)?;
        let (source, result) = (op.operands()[0], switch.result_stream()?.id);
        let own = self.tensor(op, result)?;
        let (slice, time) = (self.map(op, &own.dim(Dim::Slice))?, self.map(op, &own.dim(Dim::Time))?);
        let field = |name: &str, value: Option<i64>| -> Export<TokenStream> {
            let value = value.ok_or_else(|| refuse(op, format!("its topology has no `{name}`")))?;
            let (name, value) = (format_ident!("{name}"), Literal::i64_unsuffixed(value));
            Ok(quote!(#name: #value))
        };
        let (slice1, slice0) = (("slice1", switch.slice1()?), ("slice0", switch.slice0()?));
        let ring = match switch.topology()? {
            TopologyName::Custom => Some(self.ring(op)?),
            TopologyName::Forwarding
            | TopologyName::Broadcast01
            | TopologyName::Broadcast1
            | TopologyName::Transpose
            | TopologyName::InterTranspose
            | TopologyName::TransposedBroadcast1 => None,
        };
        let (time0, ring) = (("time0", switch.time0()?), ("ring_size", ring));
        let (name, fields) = match switch.topology()? {
            TopologyName::Forwarding => ("Forwarding", Vec::new()),
            TopologyName::Broadcast01 => ("Broadcast01", vec![slice1, slice0, time0]),
            TopologyName::Broadcast1 => ("Broadcast1", vec![slice1, slice0]),
            TopologyName::Transpose => ("Transpose", vec![slice1, slice0]),
            TopologyName::InterTranspose => ("InterTranspose", vec![slice1, slice0, time0]),
            TopologyName::TransposedBroadcast1 => ("TransposedBroadcast1", vec![slice1, slice0]),
            TopologyName::Custom => ("CustomBroadcast", vec![ring]),
        };
        let given = fields.into_iter().map(|(name, value)| field(name, value)).collect::<Export<Vec<_>>>()?;
        let name = format_ident!("{name}");
        let config = if given.is_empty() {
            quote!(SwitchConfig::#name)
        } else {
            quote!(SwitchConfig::#name { #(#given),* })
        };
        self.chained(op, source, result, quote!(.switch::<#slice, #time>(#config)))
    }

    /// Slices of the ring of a custom switch: the smallest that holds the sources of each slice, if it is open.
    fn ring(&self, op: OpRef<'_>) -> Export<i64> {
        let (support, machine) = (Support::build(op.ctx, op.module), machine(op));
        let axes = self.file.mappings.axes;
        let planner = Planner { ctx: op.ctx, axes, machine: &machine, support: &support };
        let ring = planner.plan::<Snooping>(op)?.ring;
        i64::try_from(ring).map_err(|_| refuse(op, "its ring has more than 2^63 slices"))
    }

    /// `stream.collect`.
    pub(crate) fn collect(&mut self, op: OpRef<'_>) -> Export<()> {
        let result = Collect::of(op)?.result_stream()?.id;
        self.reshaped(op, result, &format_ident!("collect"))
    }

    /// `stream.transpose`.
    pub(crate) fn transpose(&mut self, op: OpRef<'_>) -> Export<()> {
        let result = Transpose::of(op)?.result_stream()?.id;
        self.reshaped(op, result, &format_ident!("transpose"))
    }

    fn reshaped(&mut self, op: OpRef<'_>, result: ValueId, method: &Ident) -> Export<()> {
        let (time, packet) = self.time_and_packet(op, result)?;
        self.chained(op, op.operands()[0], result, quote!(.#method::<#time, #packet>()))
    }

    /// `stream.align`.
    pub(crate) fn align(&mut self, op: OpRef<'_>) -> Export<()> {
        let align = Align::of(op)?;
        let result = align.result_pair()?.id;
        let (time, packet) = self.time_and_packet(op, result)?;
        let weights = self.borrowed(op, op.operands()[1])?;
        let call = quote!(.contract_outer::<#time, #packet, _, _, _>(#weights));
        self.chained(op, op.operands()[0], result, call)
    }

    /// `stream.contract`.
    pub(crate) fn contract(&mut self, op: OpRef<'_>) -> Export<()> {
        let contract = Contract::of(op)?;
        match contract.op()? {
            ContractionKind::Add => {}
            ContractionKind::Max => {
                return Err(refuse(op, "the language's contraction adds products (`op` is `max`)"));
            }
        }
        let over = contract.over()?.map(|over| self.lacks("summed-axis list", format!("over {over}")));
        let result = contract.result_sums()?.id;
        let packet = self.tensor(op, result)?.dim(Dim::Packet);
        let packet = self.map(op, &packet)?;
        self.chained(op, op.operands()[0], result, quote!(.contract_packet::<#packet>()))?;
        if let Some(stream) = self.streams.get_mut(&result) {
            stream.comments.extend(over);
        }
        Ok(())
    }

    /// `stream.accumulate`: sums over time, then the rows as lanes.
    pub(crate) fn accumulate(&mut self, op: OpRef<'_>) -> Export<()> {
        let accumulate = Accumulate::of(op)?;
        let (source, result) = (op.operands()[0], accumulate.result_stream()?.id);
        let (before, own) = (self.tensor(op, source)?, self.tensor(op, result)?);
        let (mode, inner) = match accumulate.mode()? {
            AccumulatorOrder::Interleaved => ("Interleaved", before.dim(Dim::Packet)),
            AccumulatorOrder::Sequential => ("Sequential", before.dim(Dim::Row)),
        };
        let axes = self.file.mappings.axes;
        let inner = inner.size(axes).map_err(|error| refuse(op, error.message))?;
        let outer = outer_part(&own.dim(Dim::Time), inner, axes)
            .ok_or_else(|| refuse(op, "its time does not end with whole terms of the sums"))?;
        let (mode, outer) = (format_ident!("{mode}"), self.map(op, &outer)?);
        let (time, packet) = self.time_and_packet(op, result)?;
        let call = quote!(.contract_time::<#outer>().contract_lane::<#time, #packet>(LaneMode::#mode));
        self.chained(op, source, result, call)
    }

    /// `stream.cast`.
    pub(crate) fn cast(&mut self, op: OpRef<'_>) -> Export<()> {
        let cast = Cast::of(op)?;
        let (source, result) = (op.operands()[0], cast.result_stream()?.id);
        let (from, own) = (self.tensor(op, source)?.dtype, self.tensor(op, result)?);
        if !CASTS.contains(&(from, own.dtype)) {
            let to = own.dtype;
            return Err(refuse(op, format!("the language's cast engine converts no `{from}` to `{to}`")));
        }
        let (format, packet) = (self.format(op, own.dtype)?, self.map(op, &own.dim(Dim::Packet))?);
        self.chained(op, source, result, quote!(.cast::<#format, #packet>()))
    }

    /// `stream.to_trf`.
    pub(crate) fn to_trf(&mut self, op: OpRef<'_>) -> Export<()> {
        let to = ToTrf::of(op)?;
        let mut lacking = Vec::new();
        if let Some(region) = to.at_unless_auto()? {
            let word = match region {
                RegionName::Full => "full",
                RegionName::First => "first",
                RegionName::Second => "second",
            };
            lacking.push(self.lacks("register-file part", format!("at {word}")));
        }
        let takes_sub = self.file.spelling.trf_takes_sub;
        self.register_file(op, to.result_tensor()?.id, ("to_trf", takes_sub), &lacking)
    }

    /// `stream.to_vrf`.
    pub(crate) fn to_vrf(&mut self, op: OpRef<'_>) -> Export<()> {
        let to = ToVrf::of(op)?;
        let lacking = self.address(to.at_unless_auto()?);
        let takes_sub = self.file.spelling.vrf_takes_sub;
        self.register_file(op, to.result_tensor()?.id, ("to_vrf", takes_sub), &lacking)
    }

    fn register_file(
        &mut self,
        op: OpRef<'_>,
        result: ValueId,
        (method, takes_sub): (&str, bool),
        lacking: &[String],
    ) -> Export<()> {
        let stream = self.stream(op, op.operands()[0])?;
        let (method, device) = (format_ident!("{method}"), self.device());
        let from_main = takes_sub && stream.unit != Unit::Sub;
        let sub = from_main.then(|| quote!(&mut #device.sub));
        self.ended(op, stream, result, lacking, quote!(.#method(#sub)))
    }

    /// `stream.commit`.
    pub(crate) fn commit(&mut self, op: OpRef<'_>) -> Export<()> {
        let commit = Commit::of(op)?;
        refuse_if(op, commit.slice()?, "the language's commit writes all slices of its stream (`slice`)")?;
        let lacking = self.rotating(op, commit.at_unless_auto()?);
        let result = commit.result_tensor()?.id;
        let element = commit.element()?;
        let trim = self.trim(op, &element)?;
        let stream = self.stream(op, op.operands()[0])?.then(trim);
        if let Some(place) = self.roots.place(result).filter(|place| !stream.reads.contains(place)) {
            let name = self.changed(op, place)?;
            let chain = stream.chain;
            self.comment(&stream.comments);
            self.comment(&lacking);
            self.statement(quote!(#chain.commit_view(#name.view_mut());));
            return Ok(());
        }
        self.ended(op, stream, result, &lacking, quote!(.commit()))
    }

    /// `stream.commit_tile`.
    pub(crate) fn commit_tile(&mut self, op: OpRef<'_>) -> Export<()> {
        let commit = CommitTile::of(op)?;
        let tile = visa_mapping::ops::to_tile::part(*commit, self.file.mappings.axes)?;
        let whole = commit.tensor()?.of_type::<Tensor>()?;
        if let Some(dim) = [Dim::Chip, Dim::Cluster].into_iter().find(|&dim| tile.dim(dim) != whole.dim(dim))
        {
            let dim = dim.name();
            return Err(refuse(op, format!("the language's commit writes all {dim}s that its stream is on")));
        }
        let element = tile.dim(Dim::Element);
        let trim = self.trim(op, &element)?;
        let target = self.written_tile(op, *commit)?;
        self.written(op, commit.tensor()?.id, (trim, target))
    }

    /// `stream.commit_view`, of all of a tensor or of a part.
    pub(crate) fn commit_view(&mut self, op: OpRef<'_>) -> Export<()> {
        let commit = CommitView::of(op)?;
        refuse_if(op, commit.slice()?, "the language's commit writes all slices of its stream (`slice`)")?;
        let (element, tensor) = (commit.element()?, commit.tensor()?);
        let whole = tensor.of_type::<Tensor>()?;
        let stream = self.tensor(op, op.operands()[0])?;
        let moves = stream.dim(Dim::Slice) != whole.dim(Dim::Slice);
        if moves && !self.file.spelling.since_07 {
            let message = "this version commits to the slices of the stream";
            return Err(refuse_with_fix(op, message, "export `--for 0.8` or `--for 0.10`"));
        }
        let written =
            Tensor::build(whole.kind, None, whole.dtype, &[(Dim::Element, (*element).clone())], &whole)
                .map_err(|dim| refuse(op, format!("the {dim} mapping of the part is not known")))?;
        same_first(op, &[(*stream).clone(), written], self.file.mappings.axes)?;
        let steps = self.shortened(op, (&whole.dim(Dim::Element), &element), true)?;
        let trim = self.trim(op, &element)?;
        let name = self.changed(op, tensor.id)?;
        let target = steps.iter().fold(quote!(#name.view_mut()), |view, step| step.on(&view));
        self.written(op, tensor.id, (trim, target))
    }

    /// A pipeline that ends in a view of a tensor.
    fn written(
        &mut self,
        op: OpRef<'_>,
        tensor: ValueId,
        (trim, target): (TokenStream, TokenStream),
    ) -> Export<()> {
        let stream = self.stream(op, op.operands()[0])?.then(trim);
        if stream.reads.contains(&self.roots.root(tensor)) {
            let message = "it writes the tensor that the pipeline reads, and a variable is borrowed once";
            return Err(refuse_with_fix(op, message, "commit to a new tensor"));
        }
        let chain = stream.chain;
        self.comment(&stream.comments);
        self.statement(quote!(#chain.commit_view(#target);));
        Ok(())
    }

    /// `stream.fill`.
    pub(crate) fn fill(&mut self, op: OpRef<'_>) -> Export<()> {
        let fill_op = FillTensor::of(op)?;
        let lacking = self.rotating(op, fill_op.at_unless_auto()?);
        let value = fill(op, *fill_op.value()?, *fill_op.dtype()?)?;
        let device = self.device();
        let write = |target| quote!(#target.memset(#value, &mut #device.sub););
        self.created(op, fill_op.result_tensor()?.id, &lacking, Created::Written(&write))
    }

    /// `stream.generate`: the language fills the tensor, which is the same command.
    pub(crate) fn generate(&mut self, op: OpRef<'_>) -> Export<()> {
        let generate = Generate::of(op)?;
        let result = generate.result_tensor()?.id;
        if self.only_counts(op, result) {
            return Ok(());
        }
        let lacking = self.address(generate.at_unless_auto()?);
        let value = fill(op, *generate.value()?, *generate.dtype()?)?;
        let device = self.device();
        let write = |target| quote!(#target.memset(#value, &mut #device.sub););
        self.created(op, result, &lacking, Created::Written(&write))
    }

    /// `stream.fill_view`, of all of a tensor.
    pub(crate) fn fill_view(&mut self, op: OpRef<'_>) -> Export<()> {
        let fill_op = FillView::of(op)?;
        let tensor = fill_op.tensor()?;
        let own = tensor.of_type::<Tensor>()?;
        if fill_op.slice()?.is_some() || *fill_op.element()? != own.dim(Dim::Element) {
            return Err(refuse(op, "it fills a part of a tensor, and the language fills whole tensors"));
        }
        let value = fill(op, *fill_op.value()?, own.dtype)?;
        let (name, device) = (self.changed(op, tensor.id)?, self.device());
        self.with_comments(op, &[], quote!(#name.view_mut().memset(#value, &mut #device.sub);));
        Ok(())
    }

    /// Adds a method call to a pipeline.
    pub(crate) fn chained(
        &mut self,
        op: OpRef<'_>,
        source: ValueId,
        result: ValueId,
        call: TokenStream,
    ) -> Export<()> {
        let stream = self.stream(op, source)?.then(call);
        self.streams.insert(result, stream);
        Ok(())
    }

    /// Ends a pipeline with a method call that makes a tensor.
    pub(crate) fn ended(
        &mut self,
        op: OpRef<'_>,
        stream: Stream,
        result: ValueId,
        lacking: &[String],
        call: TokenStream,
    ) -> Export<()> {
        let (chain, comments) = (stream.chain, stream.comments);
        self.comment(&comments);
        self.created(op, result, lacking, Created::Value(quote!(#chain #call)))
    }

    /// Time and packet of a stream.
    pub(crate) fn time_and_packet(&mut self, op: OpRef<'_>, stream: ValueId) -> Export<(Ident, Ident)> {
        let own = self.tensor(op, stream)?;
        Ok((self.map(op, &own.dim(Dim::Time))?, self.map(op, &own.dim(Dim::Packet))?))
    }

    /// The method that trims a packet to the bytes that memory keeps.
    pub(crate) fn trim(&mut self, op: OpRef<'_>, element: &Expr) -> Export<TokenStream> {
        let own = self.tensor(op, op.operands()[0])?;
        let kept = kept(&own, element, self.file.mappings.axes);
        let kept = self.map(op, &kept)?;
        Ok(quote!(.commit_trim::<#kept>()))
    }
}

/// The mappings of the fetch that reads a stream; none of one with open clauses, which is refused.
fn fetched(op: OpRef<'_>, stream: ValueId) -> Export<Vec<Expr>> {
    let mut maps = Vec::new();
    let fetches = op.module.uses(stream).iter().filter_map(|&user| Fetch::cast(op.other(user)));
    for fetch in fetches.filter(|fetch| open::clauses(**fetch).next().is_none()) {
        maps.extend([(*fetch.time()?).clone(), (*fetch.packet()?).clone()]);
    }
    Ok(maps)
}

/// The part of a packet that memory keeps: without the padding that the element mapping does not have.
fn kept(stream: &Tensor, element: &Expr, axes: &visa_algebra::Axes) -> Expr {
    let packet = stream.dim(Dim::Packet);
    let (Some(Expr::Pad { inner, size, kind, .. }), [.., last]) = (padded(&packet), &*element.terms()) else {
        return packet;
    };
    if matches!(last, Expr::Pad { .. }) && last.size(axes).is_ok_and(|own| own >= *size) {
        return packet;
    }
    let unit = (KEPT_BYTES * 8).checked_div(u64::from(stream.dtype.bits())).filter(|unit| *unit > 0);
    let (Ok(live), Some(unit)) = (inner.size(axes), unit) else { return packet };
    let (bytes, whole) =
        (live.next_multiple_of(unit), FLIT_BYTES * 8 / u64::from(stream.dtype.bits()).max(1));
    match bytes {
        bytes if bytes >= whole.max(*size) => packet.clone(),
        bytes if bytes == live => (**inner).clone(),
        bytes => (**inner).clone().pad(bytes, *kind),
    }
}

/// The padded term that a packet is.
fn padded(packet: &Expr) -> Option<&Expr> {
    match &*packet.terms() {
        [only @ Expr::Pad { .. }] => Some(only),
        _ => None,
    }
}

/// The outer terms of a mapping, without inner ones of this size together.
fn outer_part(map: &Expr, inner: u64, axes: &visa_algebra::Axes) -> Option<Expr> {
    let terms = map.terms();
    let mut left = inner;
    let mut kept = terms.len();
    while left > 1 {
        kept = kept.checked_sub(1)?;
        let size = terms[kept].size(axes).ok()?;
        if !left.is_multiple_of(size) {
            let outer = size.is_multiple_of(left).then(|| terms[kept].clone().stride(left))?;
            return Some(Expr::pair(terms[..kept].iter().map(|term| (*term).clone()).chain([outer])));
        }
        left /= size;
    }
    Some(Expr::pair(terms[..kept].iter().map(|term| (*term).clone())))
}

/// Returns true if a mapping has zero padding.
fn has_zero(map: &Expr) -> bool {
    matches!(map, Expr::Pad { kind: PadKind::Zero, .. }) || map.children().into_iter().any(has_zero)
}

/// The mapping with padding of any content instead of zeros.
fn without_zero(map: &Expr) -> Expr {
    let Ok(changed) = map.map_children(|child| Ok::<_, std::convert::Infallible>(without_zero(child)));
    match changed {
        Expr::Pad { inner, size, kind: PadKind::Zero, side } => {
            Expr::Pad { inner, size, kind: PadKind::Top, side }
        }
        other => other,
    }
}
