//! From tensors and streams to nested loops: mappings become sequencer programs over elements, and the axes are gone.

use crate::slices::Slices;
use crate::transfers::{Start, Way, medium, work};
use crate::{buffers, indexed, names};
use std::collections::HashMap;
use std::rc::Rc;
use visa_engine::words::{DmaEngine, ProgramMemory};
use visa_hw::ops as hw;
use visa_hw::ops::commit::SLICES;
use visa_ir::context::TypeId;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{BlockId, OpId, OpRef, OpSpec, ValueId};
use visa_ir::rewrite::{
    Conversion, ConversionPattern, ConversionTarget, Converter, Kind, NoMatch, Order, TypeConverter,
};
use visa_ir::view;
use visa_loops::distance;
use visa_machine::Machine;
use visa_mapping::facts::frames::Frames;
use visa_mapping::facts::{DeclaredAxes, Support, machine};
use visa_mapping::index::affine::Affine;
use visa_mapping::index::cases::{Bound, Case};
use visa_mapping::ops::call::{BEGIN_LAUNCH, BeginLaunch, Calling, calling};
use visa_mapping::ops::chip_shuffle::CHIP_SHUFFLE;
use visa_mapping::ops::control::{FOR, For, IF, If, initial, times};
use visa_mapping::ops::func::{FUNC, Func, RETURN, argument_name, result_names, signature};
use visa_mapping::ops::indexed::indexing;
use visa_mapping::ops::number::{condition, never_runs};
use visa_mapping::ops::to_tile::TileWrite;
use visa_mapping::ops::transfer::{is_transfer, moved_axes, queue, stream_order};
use visa_mapping::ops::{chip_shuffle, to_tile};
use visa_mapping::tensor::scalar;
use visa_mapping::{DM, Tensor, transfer};
use visa_pass::{Level, Pass, PassCx};
use visa_sequencer::ops::dma::{Dma, DmaWork};
use visa_stream::forgotten;
use visa_stream::lower::address::Addresses;
use visa_stream::lower::{self, LowerStage, StageCx, address, origin};
use visa_stream::ops::begin::context;
use visa_stream::ops::fill_padding::{self, FillPaddingPlan};
use visa_stream::ops::vector_intra_slice_reduce::lower_valid_count;
use visa_stream::ops::{commit_view, fill_view};
use visa_stream::pipeline::{Pipeline, generates};

/// The pass.
pub static PASS: Pass = Pass {
    name: "lower-to-seq",
    summary: "lowers tensors and streams to sequencer programs over elements",
    doc: "A kernel becomes an `hw.program`: its arguments and results become buffers, a transfer becomes `seq.dma` \
          or `seq.dma_indexed`, and each pipeline becomes an `hw.exec` that holds an operation an engine. Loops \
          come from term-by-term division of the stream's mapping by the buffer's (book 07). A pipeline runs at the \
          position of its last operation. The name of a command's location is the tensor that it moves or makes: \
          `loc(\"y = m * v\"(...))`.\n\n\
          Warns of a *forgotten axis* (`forgotten-axis`): elements of an operand differ along an axis that no \
          mapping of the result mentions, and no operation reduces or slices it. Its first coordinate is kept. `A = \
          1` in the mapping makes this explicit. After this pass, `--lint` makes it an error.",
    takes: Level::Memory,
    gives: Level::Sequencer,
    statistics: &[("pipelines", "pipelines lowered"), ("transfers", "transfers lowered")],
    run,
    ..Pass::BASE
};

fn run(cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
    inlined(cx)?;
    leave_out_unreached(cx).map_err(|error| vec![error])?;
    let kernels = Kernels::of(cx).map_err(|error| vec![error])?;
    let warnings = kernels.warnings(cx);
    let tensor_level = cx.ctx.dialects().filter(|dialect| dialect.level == Level::Memory);
    let target =
        tensor_level.fold(ConversionTarget::new(), |target, dialect| target.illegal_dialect(dialect.name));
    // A dialect of several levels specifies it operation by operation.
    let declared = cx.ctx.dialects().flat_map(|dialect| dialect.ops.iter().copied().flatten().copied());
    let stages = declared.filter(|decl| decl.interface::<LowerStage>().is_some());
    let target = stages.fold(target, ConversionTarget::illegal_op);
    let conversion = Conversion {
        name: PASS.name,
        target: &target,
        patterns: &PATTERNS,
        types: TypeConverter::default(),
        kind: Kind::Partial,
        order: Order::Backward,
        state: &kernels,
    };
    let blocks = cx.blocks();
    let applied = conversion.run(cx.ctx, cx.module, &blocks)?;
    let times = |pattern: &ConversionPattern<Kernels>| applied.get(pattern.name).copied().unwrap_or(0);
    cx.count("pipelines", times(&PIPELINE));
    cx.count("transfers", times(&TRANSFER) + times(&INDEXED));
    warnings.into_iter().for_each(|warning| cx.report(warning));
    Ok(())
}

/// A pipeline is found backwards from its end, so the pattern for its end goes before the others.
static PATTERNS: [&ConversionPattern<Kernels>; 9] =
    [&KERNEL, &RESULTS, &LOOP, &BRANCH, &BEGIN, &TRANSFER, &INDEXED, &PIPELINE, &MEANT];

const BASE: ConversionPattern<Kernels> =
    ConversionPattern { name: "", summary: "", root: None, benefit: 2, convert: |_, _, _| Ok(()) };

static KERNEL: ConversionPattern<Kernels> = ConversionPattern {
    name: "kernel",
    summary: "a kernel becomes a program of its commands; its arguments become buffers and scalars",
    root: Some(&FUNC),
    convert: |cx, id, _| {
        let (func, stage) = stage(cx, id);
        let program = header(func)?;
        let mut buffers = Vec::new();
        for (number, &arg) in signature(func).0.iter().enumerate() {
            let name = argument_name(func, number);
            let span = func.module.value_span(arg);
            buffers.push(match scalar::count(stage.ctx, func.module.ty(arg), stage.axes, span)? {
                Some(count) => scalar(&stage, func, arg, &name, count),
                None => buffer(&stage, func, arg, &name, true)?,
            });
        }
        func.regions().iter().try_for_each(|&block| cx.unused(func.module.args(block)))?;
        let program = cx.rewriter.insert_before(id, program);
        cx.rewriter.move_region(id, program);
        for block in cx.op(program).regions().to_vec() {
            in_front(cx, block, std::mem::take(&mut buffers));
            cx.rewriter.erase_arguments(block);
        }
        cx.rewriter.erase(id);
        Ok(())
    },
    ..BASE
};

static RESULTS: ConversionPattern<Kernels> = ConversionPattern {
    name: "results",
    summary: "the results of a kernel become buffers",
    root: Some(&RETURN),
    convert: |cx, id, _| {
        let (op, stage) = stage(cx, id);
        let func = op.parent().ok_or_else(|| op.error("C0", "it is in no function"))?;
        let names = result_names(Func::of(func)?)?;
        let results =
            op.operands().iter().zip(&names).map(|(&value, name)| buffer(&stage, func, value, name, false));
        let (buffers, block) = (results.collect::<Result<_, _>>()?, op.block());
        in_front(cx, block, buffers);
        cx.rewriter.erase(id);
        Ok(())
    },
    ..BASE
};

static LOOP: ConversionPattern<Kernels> = ConversionPattern {
    name: "loop",
    summary: "a loop becomes one over commands: carried tensors stay at their addresses, accesses that depend on \
              its index move",
    root: Some(&FOR),
    convert: |cx, id, _| {
        let (op, stage) = stage(cx, id);
        let times = times(For::of(op)?, stage.axes)?;
        let repeat = hw::control::For::build(op).times(distance(times)).spec();
        cx.unused(op.results())?;
        op.regions().iter().try_for_each(|&block| cx.unused(op.module.args(block)))?;
        let repeat = cx.rewriter.insert_before(id, repeat);
        cx.rewriter.move_region(id, repeat);
        for block in cx.op(repeat).regions().to_vec() {
            cx.rewriter.erase_arguments(block);
        }
        cx.rewriter.erase(id);
        Ok(())
    },
    ..BASE
};

static BRANCH: ConversionPattern<Kernels> = ConversionPattern {
    name: "branch",
    summary: "a branch becomes one over commands",
    root: Some(&IF),
    convert: |cx, id, _| {
        let (op, stage) = stage(cx, id);
        let condition = condition(If::of(op)?, stage.axes)?;
        let branch = match condition.iter().as_slice() {
            [Case { bounds, what }] if bounds.is_empty() => Some(branch(op, what)?),
            // The commands inside know the cases.
            _ => None,
        };
        cx.unused(op.results())?;
        match branch {
            Some(branch) => {
                let branch = cx.rewriter.insert_before(id, branch);
                cx.rewriter.move_region(id, branch);
            }
            None => {
                let inside = op.regions().iter().flat_map(|&block| op.module.ops(block).to_vec());
                inside.collect::<Vec<_>>().into_iter().for_each(|inside| cx.rewriter.move_before(inside, id));
            }
        }
        cx.rewriter.erase(id);
        Ok(())
    },
    ..BASE
};

static BEGIN: ConversionPattern<Kernels> = ConversionPattern {
    name: "launch",
    summary: "the start of a kernel becomes a command",
    root: Some(&BEGIN_LAUNCH),
    convert: |cx, id, _| {
        let op = cx.op(id);
        let launch = hw::launch::Launch::build(op).kernel(BeginLaunch::of(op)?.kernel()?).spec();
        cx.rewriter.insert_before(id, launch);
        cx.rewriter.erase(id);
        Ok(())
    },
    ..BASE
};

static TRANSFER: ConversionPattern<Kernels> = ConversionPattern {
    name: "transfer",
    summary: "a transfer becomes a command that walks its source and its result",
    convert: |cx, id, _| {
        let (op, stage) = stage(cx, id);
        if !is_transfer(op) {
            return Err(NoMatch::because("it is no transfer"));
        }
        let commands = commands(&stage, op, &[op], |stage| Ok((dma(stage, op)?, Vec::new())))?;
        let commands = called(cx, op, commands);
        cx.unused(op.results())?;
        in_place(cx, id, commands);
        Ok(())
    },
    ..BASE
};

static INDEXED: ConversionPattern<Kernels> = ConversionPattern {
    name: "indexed",
    summary: "a transfer of rows that an index chooses becomes a command that walks table, index and rows",
    convert: |cx, id, _| {
        let (op, stage) = stage(cx, id);
        if indexing(op).is_none() {
            return Err(NoMatch::because("it chooses no rows"));
        }
        let commands = commands(&stage, op, &[op], |stage| Ok((indexed::lower(stage, op)?, Vec::new())))?;
        let commands = called(cx, op, commands);
        cx.unused(op.results())?;
        in_place(cx, id, commands);
        Ok(())
    },
    ..BASE
};

static PIPELINE: ConversionPattern<Kernels> = ConversionPattern {
    name: "pipeline",
    summary: "a pipeline becomes a command that holds an operation an engine, where its last operation is",
    convert: |cx, id, _| {
        let (op, stage) = stage(cx, id);
        if !ends_pipeline(op) {
            return Err(NoMatch::because("no pipeline ends in it"));
        }
        let chain = chain(op);
        let commands = commands(&stage, op, &chain, |stage| exec(stage, op, &chain))?;
        let commands = called(cx, op, commands);
        cx.unused(op.results())?;
        in_place(cx, id, commands);
        Ok(())
    },
    ..BASE
};

static MEANT: ConversionPattern<Kernels> = ConversionPattern {
    name: "meant",
    summary: "operations whose users are now loops are erased: axes, tables, views, streams",
    benefit: 1,
    convert: |cx, id, _| {
        cx.unused(cx.op(id).results())?;
        cx.rewriter.erase(id);
        Ok(())
    },
    ..BASE
};

/// An operation, and the context for lowering it.
fn stage<'a>(cx: &'a Converter<'_, Kernels>, id: OpId) -> (OpRef<'a>, StageCx<'a>) {
    let op = cx.op(id);
    let Kernels { axes, support, frames, whole, machines, addresses, names: _ } = cx.state;
    let func = std::iter::once(op).chain(op.ancestors()).find_map(Func::cast);
    let machine = func.and_then(|func| machines.get(&func.id)).unwrap_or(whole);
    (op, StageCx { ctx: op.ctx, axes: &axes.0, machine, support, addresses, frames, case: &[], bitmap: None })
}

/// A command, which holds operations of engines, in the branches in which it runs.
struct Command {
    branches: Vec<OpSpec>,
    command: OpSpec,
    engines: Vec<OpSpec>,
}

/// Commands that replace `op`, which stands for all of `ops`: one for each case of their tensors' addresses.
fn commands(
    cx: &StageCx<'_>,
    op: OpRef<'_>,
    ops: &[OpRef<'_>],
    lower: impl Fn(&StageCx<'_>) -> Result<(OpSpec, Vec<OpSpec>), Diagnostic>,
) -> Result<Vec<Command>, Diagnostic> {
    let command = |case: &Vec<Bound>| {
        let branches = case.iter().map(|bound| branch(op, bound)).collect::<Result<_, _>>()?;
        let (command, engines) = lower(&StageCx { case, ..*cx })?;
        Ok(Command { branches, command, engines })
    };
    address::cases(cx, op, ops)?.iter().map(command).collect()
}

/// Commands with the name of the data that `op` moves or makes.
fn called(cx: &Converter<'_, Kernels>, op: OpRef<'_>, commands: Vec<Command>) -> Vec<Command> {
    let Some(name) = cx.state.names.get(&op.id) else { return commands };
    let called = |own: Command| Command { command: own.command.called(op.ctx, name), ..own };
    commands.into_iter().map(called).collect()
}

/// Replaces an operation by commands.
fn in_place(cx: &mut Converter<'_, Kernels>, id: OpId, commands: Vec<Command>) {
    for Command { branches, command, engines } in commands {
        let mut around = None;
        for branch in branches {
            let branch = insert(cx, id, around, branch);
            around = Some(cx.rewriter.add_region(branch));
        }
        let command = insert(cx, id, around, command);
        if !engines.is_empty() {
            let block = cx.rewriter.add_region(command);
            for engine in engines {
                cx.rewriter.append(block, engine);
            }
        }
    }
    cx.rewriter.erase(id);
}

/// Adds an operation to a block, or where there is none, before another operation.
fn insert(cx: &mut Converter<'_, Kernels>, before: OpId, block: Option<BlockId>, spec: OpSpec) -> OpId {
    match block {
        Some(block) => cx.rewriter.append(block, spec),
        None => cx.rewriter.insert_before(before, spec),
    }
}

/// Inserts operations in front of all others of a block.
fn in_front(cx: &mut Converter<'_, Kernels>, block: BlockId, specs: Vec<OpSpec>) {
    let first = cx.rewriter.module().ops(block).first().copied();
    for spec in specs {
        match first {
            Some(first) => cx.rewriter.insert_before(first, spec),
            None => cx.rewriter.append(block, spec),
        };
    }
}

/// The kernels of a module as they were before any of them was lowered.
struct Kernels {
    axes: Rc<DeclaredAxes>,
    support: Rc<Support>,
    frames: Rc<Frames>,
    whole: Rc<Machine>,
    /// The machine that each function runs on.
    machines: HashMap<OpId, Rc<Machine>>,
    /// Where each tensor at rest is, in bytes.
    addresses: Addresses,
    /// Name of the data that each command moves or makes, by the operation that becomes it.
    names: HashMap<OpId, String>,
}

impl Kernels {
    fn of(cx: &PassCx<'_>) -> Result<Self, Diagnostic> {
        let (axes, support) = (cx.analysis::<DeclaredAxes>(), cx.analysis::<Support>());
        let (mut machines, mut all) = (HashMap::new(), Addresses::new());
        for func in functions(cx) {
            machines.insert(func.id, machine(func));
            all.extend(address::all(func, &axes)?);
        }
        let frames = cx.analysis::<Frames>();
        let ops = cx.walk().into_iter().map(|id| cx.module.op(cx.ctx, id));
        let names = ops.filter_map(|op| Some((op.id, name(op)?))).collect();
        Ok(Self { axes, support, frames, whole: cx.ctx.data(), machines, addresses: all, names })
    }

    /// Warnings about operations that their authors may not have meant.
    fn warnings(&self, cx: &PassCx<'_>) -> Vec<Diagnostic> {
        let inside = functions(cx).flat_map(|func| {
            let ops = func.regions().iter().flat_map(move |&block| func.module.walk(block));
            ops.map(move |id| func.other(id))
        });
        let of = |op: OpRef<'_>| {
            let unstored = if is_command(op) { None } else { unstored(op) };
            forgotten::warnings(op, &self.support, &self.axes.0)
                .into_iter()
                .chain(unstored)
                .collect::<Vec<_>>()
        };
        inside.flat_map(of).collect()
    }
}

fn functions<'a>(cx: &'a PassCx<'_>) -> impl Iterator<Item = OpRef<'a>> {
    let ops = cx.module.ops(cx.module.body()).iter().map(|&id| cx.module.op(cx.ctx, id));
    ops.filter(|op| op.is(&FUNC))
}

/// Leaves out branches that never run: their inputs do not change.
fn leave_out_unreached(cx: &mut PassCx<'_>) -> Result<(), Diagnostic> {
    let axes = cx.analysis::<DeclaredAxes>();
    for id in cx.walk() {
        if cx.module.is_erased(id) {
            continue;
        }
        let op = cx.module.op(cx.ctx, id);
        let inside =
            op.regions().first().and_then(|&block| op.module.ops(block).last()).filter(|_| op.is(&IF));
        let Some(&inside) = inside else { continue };
        if never_runs(op.other(inside), &axes.0)? {
            let same: Vec<_> = op.results().iter().copied().zip(initial(op).iter().copied()).collect();
            same.into_iter().for_each(|(result, initial)| cx.module.replace_uses(result, initial));
            cx.module.erase(id);
        }
    }
    Ok(())
}

/// Refuses calls: a program has no functions.
fn inlined(cx: &PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
    let calls = cx.walk().into_iter().filter_map(|id| calling(cx.module.op(cx.ctx, id)));
    let refused: Vec<_> = calls.map(refused).collect();
    if refused.is_empty() { Ok(()) } else { Err(refused) }
}

fn refused(call: Calling<'_>) -> Diagnostic {
    let callee = match call.callee() {
        Ok(callee) => callee,
        Err(error) => return error,
    };
    let message = format!("the call of `@{callee}` cannot be lowered: a program has no functions");
    Diagnostic::error("lower-to-seq", call.span(), message).fix("run `inline` before".to_owned())
}

/// The branch over commands at the place of `op` that lets them run where a bound holds.
fn branch(op: OpRef<'_>, bound: &Bound) -> Result<OpSpec, Diagnostic> {
    let side = |clause: &str, side: Option<i64>| {
        let overflow = || op.error("C0", format!("`{clause}` is too far from the number"));
        let relative = |side: i64| side.checked_sub(bound.number.base).ok_or_else(overflow);
        side.map(relative).transpose()
    };
    let branch = hw::control::If::build(op).steps(address::factors(op, &bound.number));
    Ok(branch.from(side("from", bound.from)?).below(side("below", bound.below)?).spec())
}

fn header(func: OpRef<'_>) -> Result<OpSpec, Diagnostic> {
    let func = Func::of(func)?;
    let program = hw::program::Program::build(*func).name(func.name()?).chips(func.chips()?);
    Ok(program.pes(func.pes()?).spec())
}

fn scalar(cx: &StageCx<'_>, func: OpRef<'_>, value: ValueId, name: &str, count: u64) -> OpSpec {
    let (span, location) = (func.module.value_span(value), func.module.value_location(cx.ctx, value));
    let scalar = hw::scalar::Scalar::build(func).name(name).count(distance(count));
    scalar.spec().spanned(span).located(location)
}

fn buffer(
    cx: &StageCx<'_>,
    func: OpRef<'_>,
    value: ValueId,
    name: &str,
    argument: bool,
) -> Result<OpSpec, Diagnostic> {
    let span = func.module.value_span(value);
    let refuse =
        |why: String| Diagnostic::error("lower-to-seq", span, format!("`{name}` cannot be an array: {why}"));
    let tensor = func
        .ctx
        .type_value::<Tensor>(func.module.ty(value))
        .ok_or_else(|| refuse("it is no tensor".into()))?;
    let address = address::of(cx, func, func.value(value))?;
    let plan = buffers::plan(&tensor, address, argument, cx.axes).map_err(refuse)?;
    let shape: Result<Vec<i64>, _> = plan.shape.iter().copied().map(i64::try_from).collect();
    let shape = shape.map_err(|_| refuse("an axis is too long to write".into()))?;
    let space = medium(&tensor);
    let space = ProgramMemory::of(space).ok_or_else(|| refuse(format!("it is in {space}")))?;
    let buffer = hw::program::Buffer::build(func)
        .name(name)
        .role(if argument { hw::program::Role::Argument } else { hw::program::Role::Result })
        .space(space)
        .dtype(tensor.dtype)
        .shape(shape)
        .layout(plan.layout);
    Ok(buffer.spec().located(func.module.value_location(cx.ctx, value)))
}

/// Name of the data that the command of `op` moves or makes; `None` if `op` stands for no command.
fn name(op: OpRef<'_>) -> Option<String> {
    if is_transfer(op) {
        Some(names::transfer(op))
    } else if indexing(op).is_some() {
        Some(names::rows(op))
    } else {
        ends_pipeline(op).then(|| names::pipeline(&chain(op)))
    }
}

/// The operations of the pipeline that ends in `last`.
fn chain(last: OpRef<'_>) -> Vec<OpRef<'_>> {
    Pipeline::up_to(last).ops.into_iter().map(|id| last.other(id)).collect()
}

/// Returns true if `op` stands for a command: a transfer, or the end of a pipeline.
fn is_command(op: OpRef<'_>) -> bool {
    is_transfer(op) || indexing(op).is_some() || ends_pipeline(op)
}

fn ends_pipeline(op: OpRef<'_>) -> bool {
    let ends = op.result_type::<Tensor>(0).is_some_and(|tensor| !tensor.kind.stream);
    let stream = op.operand_type::<Tensor>(0).is_some_and(|tensor| tensor.kind.stream);
    // A number is written to data memory without a stream.
    ends && stream || generates(op)
}

/// A stream without a consumer is work without an effect.
fn unstored(op: OpRef<'_>) -> Option<Diagnostic> {
    let stream = op.result_type::<Tensor>(0).is_some_and(|tensor| tensor.kind.stream);
    let unused = op.results().iter().all(|&result| op.module.uses(result).is_empty());
    let mut warning =
        Diagnostic::error("unstored", op.span(), "this pipeline stores nothing and is left out");
    warning.severity = visa_ir::diag::Severity::Warning;
    (stream && unused).then_some(warning)
}

fn dma(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<OpSpec, Diagnostic> {
    let (Some(source), Some(result)) = (op.operand_type::<Tensor>(0), to_tile::written(op, cx.axes)?) else {
        return Err(op.error("C0", "no tensor type"));
    };
    let value = op.operands()[0];
    let free = |axis| !cx.support.depends(value, cx.axes.name(axis));
    let order = stream_order(op)?;
    let shuffles = op.is(&CHIP_SHUFFLE);
    let frames = cx.frames;
    let chips = frames.cross_chips(op, [&source, &result], cx.axes);
    let segments = match shuffles {
        true => chip_shuffle::plan(op, cx.axes, cx.machine)?,
        false => {
            let axes = moved_axes(op, "C0", [&source, &result], cx.axes)?;
            transfer(&source, &result, &free, order.as_ref(), chips, &axes, cx.machine)
                .map_err(|error| op.clause_error("C2", error.clause(), error.to_string()))?
        }
    };
    let read = address::moving(cx, op, view::operand(&op, 0, "source")?)?;
    let read = address::in_transfer(cx, op, &read, (&*source, address::frame(cx, op, frames.of(value))?))?;
    let write = address::written(cx, op)?;
    let written = frames.written(op, cx.axes);
    let write = address::in_transfer(cx, op, &write, (&*result, address::frame(cx, op, &written)?))?;
    let start = Start { read: read.base(), write: write.base(), dtype: source.dtype };
    let pcie = shuffles || chips;
    let media = [medium(&source), medium(&result)];
    let way = Way { pcie, media, queue: None, machine: cx.machine, kept: Some(op.ctx) };
    let work = work(&segments, &start, &way).map_err(|(segment, error)| {
        error.diagnostic(op.span()).note(origin::entries(&segments[segment].loops, "bytes"), None)
    })?;
    let (table, loops) = match work {
        DmaWork::Assigned(table) => (Some(table), None),
        DmaWork::Any(loops) => (None, Some(loops)),
    };
    let lowered = Dma::build(op)
        .engine(if pcie { DmaEngine::Pcie } else { DmaEngine::Tensor })
        .from(way.media[0])
        .to(way.media[1])
        .dtype(Some(source.dtype))
        .read_steps(address::steps(op, &read))
        .write_steps(address::steps(op, &write))
        .table(table)
        .loops(loops)
        .queue(queue(op)?);
    Ok(lowered.spec())
}

/// The pipeline that ends in `last`.
fn exec(cx: &StageCx<'_>, last: OpRef<'_>, chain: &[OpRef<'_>]) -> Result<(OpSpec, Vec<OpSpec>), Diagnostic> {
    // Of a fill, the part alone takes part.
    let entering = if last.is(&fill_view::DECL) {
        Rc::new(Slices::of(cx, last, &fill_view::part(last)?)?)
    } else if last.is(&fill_padding::DECL) {
        let (plan, tensor) = (cx.plan::<FillPaddingPlan>(last)?, fill_padding::whole(last)?);
        Rc::new(Slices::in_clusters(cx, last, &tensor, &plan.slices)?)
    } else {
        Slices::holding(cx, last, entering(last)?)?
    };
    // A slice that takes part anywhere is active: it may hold something between two exchanges only.
    let mut slices = (*entering).clone();
    for &op in &chain[..chain.len() - 1] {
        if let Some(&stream) = op.results().first() {
            slices.join(&*Slices::holding(cx, last, op.module.ty(stream))?);
        }
    }
    // Mappings count slices from the one that the pipeline begins on.
    let begins = match last.operands().first() {
        Some(&value) => {
            let slice = address::frame(cx, last, cx.frames.of(value))?.slice(cx.machine);
            slice.ok_or_else(|| last.error("C3", "a tile is on slices that 64 bits do not count"))?
        }
        None => Affine::default(),
    };
    let ends_in_dm = last.result_type::<Tensor>(0).is_some_and(|tensor| tensor.is(&DM));
    let written = written(cx, last, &entering)?;
    // Slices that only send, or whose part is not wanted, keep their contents.
    let bitmap = (ends_in_dm && written != slices).then(|| written.ranges());
    let mut ops = Vec::new();
    for &op in chain {
        let bitmap = bitmap.as_deref().filter(|_| op.id == last.id);
        ops.extend(lower_valid_count(cx, op, chain)?);
        ops.extend(lower::lower(&StageCx { bitmap, ..*cx }, op)?);
    }
    if bitmap.is_some() && !ops.last().is_some_and(|end| end.has(&SLICES)) {
        return Err(whole(last));
    }
    let spec = hw::exec::Exec::build(last)
        .context(context(chain[0])?)
        .slices(slices.ranges_from(begins.base))
        .steps(address::steps(last, &begins.into()));
    Ok((spec.spec().fused(chain.iter().copied()), ops))
}

/// An end whose lowering writes every active slice, where it must not.
fn whole(last: OpRef<'_>) -> Diagnostic {
    let message = format!("`{last}` writes part of the active slices, but its lowering writes all of them");
    let fix = format!("set the clause `{}` of the lowered operation to `StageCx::bitmap`", SLICES.name);
    last.error("C0", message).fix(fix)
}

/// The type of the stream that a pipeline's end takes; of its output, if it takes none.
fn entering(last: OpRef<'_>) -> Result<TypeId, Diagnostic> {
    let value = last.operands().iter().chain(last.results()).next();
    value
        .map(|&value| last.module.ty(value))
        .ok_or_else(|| last.error("C0", "it neither takes nor gives a tensor"))
}

/// The slices that a pipeline's end writes: those that its stream holds, if its slice mapping wants them.
fn written(cx: &StageCx<'_>, last: OpRef<'_>, entering: &Slices) -> Result<Slices, Diagnostic> {
    let mut written = entering.clone();
    if last.is(&commit_view::DECL) {
        written.meet(&Slices::of(cx, last, &commit_view::part(last)?)?);
    } else if let Some(tile) = TileWrite::cast(last) {
        written.meet(&Slices::of(cx, last, &to_tile::part(tile, cx.axes)?)?);
    } else if last.is(&fill_padding::DECL) {
        // Its slices may hold nothing but padding.
    } else if let Some(&result) = last.results().first() {
        written.meet(&*Slices::holding(cx, last, last.module.ty(result))?);
    }
    Ok(written)
}
