//! From loops over elements to commands in bytes: merging, access sizes, the limits of the machine.

use crate::indexed;
use crate::transfers::{Way, table};
use std::rc::Rc;
use visa_engine::words::{DmaEngine, LoadPath};
use visa_hw::machine;
use visa_hw::ops as hw;
use visa_hw::ops::exec;
use visa_hw::ops::store::{self, StoreTrf};
use visa_ir::Word as _;
use visa_ir::decl::OpDecl;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpId, OpRef, OpSpec, ValueId};
use visa_ir::rewrite::{
    Conversion, ConversionPattern, ConversionTarget, Converter, Greedy, NoMatch, RewritePattern,
};
use visa_ir::verify::has_errors;
use visa_loops::Program;
use visa_numerics::AluName;
use visa_numerics::DType;
use visa_pass::{Level, Pass, PassCx};
use visa_sequencer::access::{self, AccessError, Accesses, Accessor};
use visa_sequencer::ops::stages::{Align, Commit, Fetch, Vector, VectorBranch};
use visa_sequencer::ops::{dma as seq_dma, stages};

/// The pass.
pub static PASS: Pass = Pass {
    name: "lower-to-hw",
    summary: "lowers sequencer programs to commands in bytes",
    doc: "Strides become bytes; adjacent loops merge (book 07). Then the sizes follow: `fetch_size` is the largest \
          supported divisor of packet and contiguous bytes (book 08), `commit_size` the greatest common divisor of \
          contiguous bytes and `commit_in_size` (book 09), `reg_read_size` the contiguous bytes in the register \
          file (book 18), and a DMA packet the largest contiguous run that a transaction carries (book 10). A load \
          of the register file from one contiguous run becomes a short command (book 18).",
    takes: Level::Sequencer,
    gives: Level::Hardware,
    statistics: &[("programs", "sequencer programs lowered")],
    run,
    ..Pass::BASE
};

type LowerFn = fn(OpRef<'_>) -> Result<OpSpec, Diagnostic>;

/// Every operation of seq, and the function that makes its hw counterpart.
const LOWERINGS: [(&OpDecl, LowerFn); 7] = [
    (&stages::FETCH, fetch),
    (&stages::ALIGN, align),
    (&stages::VECTOR, vector),
    (&stages::VECTOR_BRANCH, vector_branch),
    (&stages::COMMIT, commit),
    (&seq_dma::DMA, dma),
    (&seq_dma::DMA_INDEXED, dma_indexed),
];

static PATTERNS: [&ConversionPattern; 7] = [
    &counterpart(&stages::FETCH),
    &counterpart(&stages::ALIGN),
    &counterpart(&stages::VECTOR),
    &counterpart(&stages::VECTOR_BRANCH),
    &counterpart(&stages::COMMIT),
    &counterpart(&seq_dma::DMA),
    &counterpart(&seq_dma::DMA_INDEXED),
];

const fn counterpart(root: &'static OpDecl) -> ConversionPattern {
    let summary = "becomes its hw counterpart: the same loops in bytes, within the machine's limits";
    ConversionPattern { name: root.name, summary, root: Some(root), benefit: 1, convert: become_counterpart }
}

fn become_counterpart(cx: &mut Converter<'_>, id: OpId, _: &[ValueId]) -> Result<(), NoMatch> {
    let spec = lowered(cx.op(id)).ok_or_else(|| NoMatch::because("it has no hw counterpart"))??;
    cx.replace_with(id, spec).map(drop)
}

fn run(cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
    let target = ConversionTarget::new().illegal_dialect("seq").legal_dialect("hw");
    let blocks = cx.blocks();
    let applied = Conversion::new(PASS.name, &target, &PATTERNS).run(cx.ctx, cx.module, &blocks)?;
    cx.count("programs", applied.values().sum());
    shorten_loads(cx).map_err(|error| vec![error])?;
    // Alignment and capacity show in bytes only, and the verifiers of hw know them: a kernel that breaks them is
    // refused, not lowered to a program that does not verify.
    let found = cx.verify();
    if has_errors(&found) { Err(found) } else { Ok(()) }
}

/// The hw counterpart of an operation of seq; `None` for others.
#[must_use]
pub fn lowered(op: OpRef<'_>) -> Option<Result<OpSpec, Diagnostic>> {
    let (_, lower) = LOWERINGS.iter().find(|(decl, _)| op.is(decl))?;
    Some(lower(op))
}

static SHORT_LOAD: RewritePattern = RewritePattern {
    name: "short-load",
    summary: "a load of the tensor register file from one contiguous run becomes a short command (book 18)",
    root: Some(&store::STORE_TRF),
    benefit: 1,
    rewrite: |rewriter, id| {
        let short = shortened(rewriter.op(id)).ok_or_else(|| NoMatch::because("the load is no short one"))?;
        rewriter.replace_with(id, short)?;
        Ok(())
    },
};

/// Loads of the tensor register file that can be a short command (book 18) become one.
fn shorten_loads(cx: &mut PassCx<'_>) -> Result<(), Diagnostic> {
    let greedy =
        Greedy { patterns: &[&SHORT_LOAD], declared: false, erase_unused: false, ..Greedy::default() };
    let blocks = cx.blocks();
    // Each load becomes short once: however many there are, they are not too many.
    let max_rewrites = cx.walk().len() as u64;
    Greedy { max_rewrites, ..greedy }.run(cx.ctx, cx.module, &blocks).map(drop)
}

/// The short command that a load of the tensor register file can be (book 18).
#[must_use]
pub fn shortened(op: OpRef<'_>) -> Option<OpSpec> {
    if !op.is(&store::STORE_TRF) || op.attr("load").is_some() || !store::contiguous_load(op) {
        return None;
    }
    let load = StoreTrf::seen(op);
    let (region, rows, row_bytes) = (load.region().ok()?, load.rows().ok()?, load.row_bytes().ok()?);
    Some(StoreTrf::build(op).region(region).rows(rows).row_bytes(row_bytes).load(LoadPath::Short).spec())
}

fn int(op: OpRef<'_>, value: u64) -> Result<i64, Diagnostic> {
    i64::try_from(value).map_err(|_| op.error("C0", format!("`{value}` is too large to write")))
}

/// The count that a clause holds.
fn count(op: OpRef<'_>, clause: &str, value: i64) -> Result<u64, Diagnostic> {
    let negative = |_| op.clause_error("C0", clause, format!("`{clause}` is {value}, which is no count"));
    u64::try_from(value).map_err(negative)
}

/// The accesses of `op` in bytes, which runs `elements` over elements.
fn accesses(
    op: OpRef<'_>,
    elements: &Program,
    dtype: DType,
    accessor: Accessor,
) -> Result<Rc<Accesses>, Diagnostic> {
    accessor.known(op.ctx, elements, dtype).map_err(|error| error.diagnostic(op.span()))
}

fn fetch(op: OpRef<'_>) -> Result<OpSpec, Diagnostic> {
    let fetch = Fetch::of(op)?;
    let from = *fetch.dtype()?;
    let to = fetch.to()?.map(|dtype| *dtype);
    let table = fetch.table()?;
    let grown = to.or(table.as_ref().map(|table| table.to));
    let mask = fetch.mask()?.map(|mask| (*mask).clone());
    let accessor = Accessor::Fetch { to: grown, unit: exec::context_of(op)?, mask };
    let Accesses { program, mask, packet, .. } = &*accesses(op, &*fetch.loops()?, from, accessor)?;
    let starts = fetch.starts()?.map(|starts| access::starts(&starts, from)).transpose();
    let lowered = hw::fetch::Fetch::build(op)
        .dtype(from)
        .packet(int(op, *packet)?)
        .table(table)
        .to(to)
        .zero(fetch.zero()?)
        .mask(mask.clone())
        .loops(program.clone())
        .starts(starts.map_err(|error| error.diagnostic(op.span()))?)
        .steps(fetch.steps()?);
    Ok(lowered.spec())
}

fn align(op: OpRef<'_>) -> Result<OpSpec, Diagnostic> {
    let machine = machine(op);
    let align = Align::of(op)?;
    let dtype = *align.dtype()?;
    let program = accesses(op, &*align.loops()?, dtype, Accessor::Align)?.program.clone();
    let flits = align.flits()?;
    let data = count(op, "flits", flits)?.saturating_mul(machine.flit_bytes(exec::context_of(op)?));
    let data = data.min(machine.limits.mac_width_bytes);
    let mut lowered = hw::align::Align::build(op).region(align.region()?).flits(flits);
    if let (Some(shifts), Some(distance)) = (align.shifts()?, align.distance()?) {
        let bytes = count(op, "distance", distance)?.saturating_mul(u64::from(dtype.bits())) / 8;
        lowered = lowered.shifts(shifts).shift_bytes(int(op, bytes)?);
    }
    Ok(lowered.repeat(align.repeat()?).rows(align.rows()?).data(int(op, data)?).loops(program).spec())
}

fn vector(op: OpRef<'_>) -> Result<OpSpec, Diagnostic> {
    let vector = Vector::of(op)?;
    let program = |elements: Option<Rc<Program>>| {
        let accesses = elements.map(|elements| accesses(op, &elements, DType::I32, Accessor::Vector));
        Ok::<_, Diagnostic>(accesses.transpose()?.map(|accesses| accesses.program.clone()))
    };
    let name = vector.op()?;
    let name = AluName::from_word(&name)
        .ok_or_else(|| op.clause_error("C0", "op", format!("no ALU computes `{name}`")))?;
    let lowered = hw::vector::Vector::build(op)
        .op(name)
        .stage_unless_default(vector.stage()?)
        .mode(vector.mode()?)
        .constant(vector.constant()?)
        .constant1(vector.constant1()?)
        .when(vector.when()?)
        .write_back(vector.write_back()?)
        .stash(vector.stash())
        .stash1(vector.stash1())
        .vrf(program(vector.loops()?)?)
        .vrf1(program(vector.loops1()?)?);
    Ok(lowered.spec())
}

fn vector_branch(op: OpRef<'_>) -> Result<OpSpec, Diagnostic> {
    let loops = VectorBranch::of(op)?.loops()?;
    let program = accesses(op, &loops, DType::I32, Accessor::Vector)?.program.clone();
    Ok(hw::vector_branch::VectorBranch::build(op)
        .mode(hw::vector_branch::IdSource::Vrf)
        .vrf(Some(program))
        .spec())
}

fn commit(op: OpRef<'_>) -> Result<OpSpec, Diagnostic> {
    let commit = Commit::of(op)?;
    let accessor = Accessor::Commit { unit: exec::context_of(op)? };
    let Accesses { program, packet, .. } = &*accesses(op, &*commit.loops()?, *commit.dtype()?, accessor)?;
    let lowered = hw::commit::Commit::build(op).bytes(int(op, *packet)?).loops(program.clone());
    Ok(lowered.slices(commit.slices()?).steps(commit.steps()?).spec())
}

fn dma_indexed(op: OpRef<'_>) -> Result<OpSpec, Diagnostic> {
    let machine = machine(op);
    let dma = seq_dma::DmaIndexed::of(op)?;
    let (from, to) = (dma.from()?, dma.to()?);
    let (loops, indices) =
        indexed::accesses(&*dma.loops()?, &*dma.indices()?, access::dma_group(to, &machine), &machine)
            .map_err(|error| error.diagnostic(op.span()))?;
    let shared = indexed::share(loops, indices, [from, to], &machine);
    let engines = Some(shared.engines).filter(|&engines| engines != 1);
    let lowered = hw::dma_indexed::DmaIndexed::build(op)
        .direction(dma.direction()?)
        .from(dma.from()?)
        .to(dma.to()?)
        .loops(shared.loops)
        .index(dma.index()?)
        .indices(shared.indices)
        .distance(dma.distance()?)
        .count(dma.count()?)
        .read_steps(dma.read_steps()?)
        .write_steps(dma.write_steps()?)
        .index_steps(dma.index_steps()?)
        .engines(engines.map(|engines| int(op, engines)).transpose()?);
    Ok(lowered.spec())
}

fn dma(op: OpRef<'_>) -> Result<OpSpec, Diagnostic> {
    let machine = machine(op);
    let dma = seq_dma::Dma::of(op)?;
    let (from, to) = (dma.from()?, dma.to()?);
    let dtype = dma.dtype()?.map_or(DType::I8, |dtype| *dtype);
    let refused = |error: AccessError| error.diagnostic(op.span());
    let pcie = dma.engine()? == DmaEngine::Pcie;
    let queue = seq_dma::queue(op)?;
    let way = Way { pcie, media: [from, to], queue, machine: &machine, kept: Some(op.ctx) };
    let table = table(&seq_dma::work(op)?, dtype, &way).map_err(refused)?;
    let lowered = hw::dma::Dma::build(op)
        .engine(dma.engine()?)
        .from(dma.from()?)
        .to(dma.to()?)
        .read_steps(dma.read_steps()?)
        .write_steps(dma.write_steps()?);
    let lowered = match &table.0[..] {
        [part] if part.engines.start == 0 => {
            let engines = Some(part.count()).filter(|&engines| engines != 1);
            let engines = engines.map(|engines| int(op, engines)).transpose()?;
            lowered.loops(Some(part.loops.clone())).engines(engines)
        }
        _ => lowered.table(Some(table)),
    };
    Ok(lowered.spec())
}
