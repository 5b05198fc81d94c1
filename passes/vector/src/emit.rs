//! Writes the pipelines of a plan in place of the expression.

use super::chain::{Chain, Operation, Source, Step};
use super::search::Plan;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use visa_algebra::{Axes, Equality, Expr, PadKind, equal, equal_streams, padded_terms};
use visa_ir::build::NewOp;
use visa_ir::context::{Attr, Context};
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId, OpRef, OpSpec, ValueId};
use visa_ir::span::Span;
use visa_machine::{Machine, Unit};
use visa_mapping::tensor::numbers::Number;
use visa_mapping::{Dim, Tensor};
use visa_numerics::{AluOp, Bits, DType, VectorStage, default_mode, to_f64};
use visa_numerics::{ArgMode, ClipName, FpDivName, FpName, FxpName, LogicName};
use visa_stream::branch::IdSource;
use visa_stream::ops::begin::{Begin, CONTEXT};
use visa_stream::ops::collect::Collect;
use visa_stream::ops::commit::Commit;
use visa_stream::ops::fetch::Fetch;
use visa_stream::ops::store::ToVrf;
use visa_stream::ops::vector::{VectorFinal, VectorInit};
use visa_stream::ops::vector_alu::{self, VectorFpToFxp, VectorFxpToFp};
use visa_stream::ops::vector_branch::VectorBranch;
use visa_stream::ops::vector_lanes::{VectorConcat, VectorPad, VectorSplit, VectorTrim};
use visa_stream::ops::vector_stash::VectorStash;
use visa_stream::plan::digits_of;
use visa_stream::{ops, pipeline};

use visa_canonical::{RuleSet, canonicalize};

/// Where the pipelines of one expression go.
pub(crate) struct Emitter<'a> {
    pub(crate) ctx: &'a Context,
    pub(crate) module: &'a mut Module,
    pub(crate) axes: &'a Axes,
    pub(crate) machine: &'a Machine,
    /// The expression.
    pub(crate) op: OpId,
    /// The values emitted so far: streams at rest by class, and register files by class.
    made: BTreeMap<usize, ValueId>,
    files: BTreeMap<usize, ValueId>,
    /// True if a pass has taken the stream itself.
    taken: bool,
}

/// Time and packet of the stream, and how it goes through the 4 lanes.
struct Lanes {
    time: Expr,
    packet: Expr,
    /// The layout of a value between passes: in the order of the stream.
    element: Expr,
    /// Time and packet of 4 lanes.
    narrow: (Option<Expr>, Expr),
}

impl<'a> Emitter<'a> {
    /// For the expression `op`, whose operands are the classes `operands`.
    pub(crate) fn new(
        ctx: &'a Context,
        module: &'a mut Module,
        axes: &'a Axes,
        machine: &'a Machine,
        op: OpId,
        operands: &[(usize, usize)],
    ) -> Self {
        let view = module.op(ctx, op);
        let files = operands.iter().filter(|(_, operand)| *operand > 0);
        let files =
            files.filter_map(|&(class, operand)| Some((class, *view.operands().get(operand)?))).collect();
        Self { ctx, module, axes, machine, op, made: BTreeMap::new(), files, taken: false }
    }

    fn span(&self) -> Span {
        self.module.op(self.ctx, self.op).span()
    }

    fn stream(&self) -> Option<ValueId> {
        self.module.op(self.ctx, self.op).operands().first().copied()
    }

    fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error("plan-vector", self.span(), message)
    }

    /// Puts the passes of `plan` in place of the expression; `stream` is the class that is its stream.
    pub(crate) fn emit(&mut self, plan: &Plan, stream: Option<usize>) -> Result<(), Diagnostic> {
        let lanes = self.lanes()?;
        let last = plan.passes.len().saturating_sub(1);
        if last > 0 {
            self.check_spilled(&lanes)?;
        }
        for (at, (class, chain)) in plan.passes.iter().enumerate() {
            for step in &chain.steps {
                self.load(step, stream, &lanes)?;
            }
            let entry = match self.made.get(&chain.stream) {
                Some(&made) => self.fetched(Unit::Main, made, &lanes)?,
                None => self.stream_again()?,
            };
            let result = self.pass(chain, entry, &lanes)?;
            if at < last {
                let commit = Commit::build(self.origin(), [result]).at_auto().element(lanes.element.clone());
                let made = self.insert(commit.spec())?;
                self.made.insert(*class, made);
            } else {
                self.replace(result);
            }
        }
        Ok(())
    }

    fn replace(&mut self, result: ValueId) {
        let view = self.module.op(self.ctx, self.op);
        let (old, before) = (view.results().first().copied(), self.stream());
        if let Some(old) = old {
            let name = self.module.value_name(old).cloned();
            self.module.set_value_name(old, None);
            self.module.set_value_name(result, name);
            self.module.replace_uses(old, result);
        }
        self.module.erase(self.op);
        // The stream of an expression that only loads it has no use any more.
        let mut dead = before;
        while let Some(op) = dead
            .filter(|&value| self.module.uses(value).is_empty())
            .and_then(|value| self.module.def_op(value))
        {
            if !pipeline::contains(self.module.op(self.ctx, op)) {
                return;
            }
            dead = self.module.op(self.ctx, op).operands().first().copied();
            self.module.erase(op);
        }
    }

    /// The expression, which all operations of its passes replace.
    fn origin(&self) -> OpRef<'_> {
        self.module.op(self.ctx, self.op)
    }

    /// Inserts an operation before the expression, with the types that it infers.
    fn insert(&mut self, spec: OpSpec) -> Result<ValueId, Diagnostic> {
        let span = self.span();
        let id = self.module.insert_before(self.op, spec);
        let view = self.module.op(self.ctx, id);
        let infer = view.decl().and_then(|decl| decl.infer);
        let types = infer.map_or(Ok(Vec::new()), |infer| infer(view))?;
        let values = types.into_iter().map(|ty| self.module.add_result(id, ty, None, span));
        let values: Vec<ValueId> = values.collect();
        values.first().copied().ok_or_else(|| self.error("an operation without a result"))
    }

    /// Time and packet of the stream, on 8 lanes and on 4.
    fn lanes(&self) -> Result<Lanes, Diagnostic> {
        let tensor = self.module.op(self.ctx, self.op).operand_type::<Tensor>(0);
        let tensor = tensor.ok_or_else(|| self.error("the expression has no stream"))?;
        let (time, packet) = (tensor.dim(Dim::Time), tensor.dim(Dim::Packet));
        let narrow = self.machine.limits.vector_lanes / 2;
        let live = |map: &Expr| digits_of(map, self.axes).ok().and_then(|digits| digits.live_count());
        let lower = packet.clone().resize(narrow);
        let trims = live(&packet).is_some_and(|all| live(&lower) == Some(all));
        let narrow = match trims {
            true => (None, self.tidy(lower)),
            false => {
                let halves = [
                    Expr::pair([time.clone(), packet.clone().stride(narrow)]),
                    packet.clone().modulo(narrow),
                ];
                let whole = Expr::pair([time.clone(), packet.clone()]);
                let [time, half] = self.tidy_parts(halves, &whole);
                (Some(time), half)
            }
        };
        let element = self.tidy(Expr::pair([time.clone(), packet.clone()]));
        Ok(Lanes { time, packet, element, narrow })
    }

    /// Parts of a mapping as people would write them. Parts of a padded term are kept if each by itself does not tell
    /// where the padding is.
    fn tidy_parts(&self, parts: [Expr; 2], whole: &Expr) -> [Expr; 2] {
        let short = parts.clone().map(|part| self.tidy(part));
        match equal(&Expr::pair(short.clone()), whole, self.axes) {
            Equality::Equal => short,
            Equality::Different { .. } | Equality::Unknown { .. } => parts,
        }
    }

    /// A mapping as people would write it.
    fn tidy(&self, map: Expr) -> Expr {
        let rules = self.ctx.data::<RuleSet>();
        let padded = padded_terms(&[&map], self.axes).map_or(true, |terms| !terms.is_empty());
        let short = canonicalize(&map, self.axes, &rules).ok().map(|canonical| canonical.expr);
        let axes = |map: &Expr| map.axis_names(self.axes).into_iter().collect::<BTreeSet<_>>();
        let same = |short: &Expr| axes(short) == axes(&map);
        short.filter(|short| !padded && same(short)).unwrap_or(map)
    }

    /// Checks that the values between passes can be in memory as the stream holds them.
    fn check_spilled(&self, lanes: &Lanes) -> Result<(), Diagnostic> {
        let padded = padded_terms(&[&lanes.time, &lanes.packet], self.axes);
        match padded.is_ok_and(|terms| terms.is_empty()) {
            true => Ok(()),
            false => {
                let message = "the expression takes several passes, but a stream with zero padding cannot wait in \
                               memory between them";
                Err(self
                    .error(message)
                    .fix(Some("fetch it without `{0}`, or write passes by hand".to_owned())))
            }
        }
    }

    /// Loads the values that a step reads from the register file, if they are not there yet.
    fn load(&mut self, step: &Step, stream: Option<usize>, lanes: &Lanes) -> Result<(), Diagnostic> {
        let Step::Operate(operation) = step else { return Ok(()) };
        for source in operation.operands.into_iter().flatten() {
            let Source::File(class) = source else { continue };
            if self.files.contains_key(&class) {
                continue;
            }
            let collected = match self.made.get(&class) {
                Some(&made) => self.fetched(Unit::Sub, made, lanes)?,
                None if Some(class) == stream => self.copied(Some(Unit::Sub))?,
                None => return Err(self.error("an operand is neither in memory nor in the register file")),
            };
            let load = ToVrf::build(self.origin(), [collected]).at_auto().element(lanes.element.clone());
            let file = self.insert(load.spec())?;
            self.files.insert(class, file);
        }
        Ok(())
    }

    /// A value in data memory as the stream that it was.
    fn fetched(&mut self, context: Unit, made: ValueId, lanes: &Lanes) -> Result<ValueId, Diagnostic> {
        let (time, packet) = (&lanes.time, &lanes.packet);
        let begun = self.insert(Begin::build(self.origin(), [made]).context(context).spec())?;
        let fetch = Fetch::build(self.origin(), [begun]).time(time.clone()).packet(packet.clone());
        let fetched = self.insert(fetch.spec())?;
        let collect = Collect::build(self.origin(), [fetched]).time(time.clone()).packet(packet.clone());
        self.insert(collect.spec())
    }

    /// The stream itself for the first pass that takes it, a copy of its pipeline for others.
    fn stream_again(&mut self) -> Result<ValueId, Diagnostic> {
        let stream = self.stream().filter(|_| !self.taken);
        self.taken = true;
        match stream {
            Some(stream) => Ok(stream),
            None => self.copied(None),
        }
    }

    /// A copy of the pipeline that gives the stream, in another context if that is asked for.
    fn copied(&mut self, context: Option<Unit>) -> Result<ValueId, Diagnostic> {
        let mut pipeline = Vec::new();
        let mut at = self.stream();
        while let Some(op) = at.and_then(|value| self.module.def_op(value)) {
            pipeline.push(op);
            let view = self.module.op(self.ctx, op);
            let goes_on = view.operand_type::<Tensor>(0).is_some_and(|tensor| tensor.kind.stream);
            at = view.operands().first().copied().filter(|_| goes_on);
        }
        let mut last = None;
        for op in pipeline.into_iter().rev() {
            let view = self.module.op(self.ctx, op);
            if view.decl().is_none() {
                return Err(self.error("the stream comes from an unknown operation"));
            }
            let mut operands = view.operands().to_vec();
            if let (Some(first), Some(last)) = (operands.first_mut(), last) {
                *first = last;
            }
            let copy = NewOp::copied(view).operands(operands);
            let copy = match context.filter(|_| view.attr(CONTEXT).is_some()) {
                Some(context) => copy.attr(CONTEXT, Attr::Str(context.word().into())),
                None => copy,
            };
            last = Some(self.insert(copy.spec())?);
        }
        last.ok_or_else(|| self.error("the stream comes from nowhere"))
    }

    /// One pass through the vector engine.
    fn pass(&mut self, chain: &Chain, entry: ValueId, lanes: &Lanes) -> Result<ValueId, Diagnostic> {
        let begun = self.insert(VectorInit::build(self.origin(), [entry]).spec())?;
        let branch = VectorBranch::build(self.origin(), [begun]).mode(IdSource::Unconditional).spec();
        let mut stream = self.insert(branch)?;
        let (mut narrow, mut stash) = (false, None);
        for step in &chain.steps {
            let wants = match step {
                Step::Stash { narrow } => *narrow,
                Step::Operate(operation) => operation.row.stage.is_narrow(),
            };
            if wants != narrow {
                stream = if wants { self.narrowed(stream, lanes)? } else { self.widened(stream, lanes)? };
                narrow = wants;
            }
            stream = match step {
                Step::Stash { .. } => {
                    stash = Some(self.insert(VectorStash::build(self.origin(), [stream]).spec())?);
                    stash.unwrap_or(stream)
                }
                Step::Operate(operation) => self.operation(operation, stream, stash)?,
            };
        }
        if narrow {
            stream = self.widened(stream, lanes)?;
        }
        self.insert(VectorFinal::build(self.origin(), [stream]).spec())
    }

    fn narrowed(&mut self, stream: ValueId, lanes: &Lanes) -> Result<ValueId, Diagnostic> {
        let (time, packet) = lanes.narrow.clone();
        let origin = self.origin();
        self.insert(match time {
            None => VectorTrim::build(origin, [stream]).packet(packet.into()).spec(),
            Some(time) => VectorSplit::build(origin, [stream]).time(time.into()).packet(packet.into()).spec(),
        })
    }

    fn widened(&mut self, stream: ValueId, lanes: &Lanes) -> Result<ValueId, Diagnostic> {
        if lanes.narrow.0.is_some() {
            let concat = VectorConcat::build(self.origin(), [stream]).time(lanes.time.clone().into());
            return self.insert(concat.packet(lanes.packet.clone().into()).spec());
        }
        let wide = lanes.narrow.1.clone().pad(self.machine.limits.vector_lanes, PadKind::Top);
        let same = matches!(equal_streams(&wide, &lanes.packet, self.axes), Equality::Equal);
        let packet = if same { lanes.packet.clone() } else { wide };
        self.insert(VectorPad::build(self.origin(), [stream]).packet(packet.into()).spec())
    }

    fn operation(
        &mut self,
        operation: &Operation,
        stream: ValueId,
        stash: Option<ValueId>,
    ) -> Result<ValueId, Diagnostic> {
        let Operation { row, mode, operands } = operation;
        let constant = |source: Option<Source>| match source {
            Some(Source::Number(bits)) => Some(bits),
            Some(Source::File(_) | Source::Stash) | None => None,
        };
        let mut values = vec![stream];
        for source in operands.iter().flatten() {
            match source {
                Source::Number(_) => {}
                Source::File(class) => values.extend(self.files.get(class)),
                Source::Stash => values.extend(stash),
            }
        }
        let constants = operands.map(constant);
        let mode = Some(*mode).filter(|&mode| mode != default_mode(mode.args().len()));
        let spec = alu(self.origin(), row, mode, constants, values);
        let spec = spec.ok_or_else(|| self.error("a stage without an ALU"))?;
        self.insert(spec)
    }
}

/// The operation of an ALU; `None` for a stage that has none, or a conversion without a width.
fn alu(
    origin: OpRef<'_>,
    row: &AluOp,
    mode: Option<ArgMode>,
    constants: [Option<Bits>; 2],
    values: Vec<ValueId>,
) -> Option<OpSpec> {
    let [width, _] = constants;
    let [constant, constant1] =
        constants.map(|bits| bits.map(|bits| Rc::new(Number(to_f64(row.from, bits)))));
    macro_rules! build {
        ($view:ident, $name:ident) => {
            vector_alu::$view::build(origin, values).op($name::of(row.name)?).mode(mode).constant(constant)
        };
    }
    Some(match row.stage {
        VectorStage::Logic => build!(VectorLogic, LogicName).spec(),
        VectorStage::Fxp => build!(VectorFxp, FxpName).spec(),
        VectorStage::Float => build!(VectorFp, FpName).constant1(constant1).spec(),
        VectorStage::FpDiv => build!(VectorFpDiv, FpDivName).spec(),
        VectorStage::Clip => build!(VectorClip, ClipName).spec(),
        VectorStage::FxpToFp => VectorFxpToFp::build(origin, values).width(width?.into()).spec(),
        VectorStage::FpToFxp => VectorFpToFxp::build(origin, values).width(width?.into()).spec(),
        VectorStage::Branch
        | VectorStage::Narrow
        | VectorStage::Reduce
        | VectorStage::Widen
        | VectorStage::Filter => return None,
    })
}

/// Returns true if the stream of `op` and values like it fit the register file: the stream itself only if it comes
/// from memory just so.
pub(crate) fn loads(
    ctx: &Context,
    module: &Module,
    op: OpId,
    axes: &Axes,
    machine: &Machine,
) -> (bool, bool) {
    let view = module.op(ctx, op);
    let Some(tensor) = view.operand_type::<Tensor>(0) else { return (false, false) };
    let (time, packet) = (tensor.dim(Dim::Time), tensor.dim(Dim::Packet));
    let size =
        Expr::pair([time.clone(), packet.clone()]).size(axes).ok().and_then(|size| DType::F32.bytes(size));
    let fits = size.is_some_and(|bytes| bytes <= machine.memory.vrf_bytes);
    let unpadded = padded_terms(&[&time, &packet], axes).is_ok_and(|terms| terms.is_empty());
    let fetch = view.operand_def(0).filter(|collect| collect.is(&ops::collect::DECL));
    let fetch = fetch.and_then(|collect| collect.operand_def(0)).filter(|fetch| fetch.is(&ops::fetch::DECL));
    let plain = fetch.is_some_and(|fetch| {
        let begun = fetch.operand_def(0).is_some_and(|begin| begin.is(&ops::begin::DECL));
        begun && fetch.clauses().iter().all(|clause| matches!(&*clause.name, "time" | "packet" | "dtype"))
    });
    (fits && unpadded && plain, fits && unpadded)
}
