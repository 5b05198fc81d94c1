//! From loops over elements to commands in bytes: merging, access sizes, the limits of the machine.

use crate::access::{self, AccessError, Accesses, Accessor};
use crate::indexed;
use crate::transfers::{Way, table};
use std::rc::Rc;
use visa_hw::machine;
use visa_hw::ops::exec;
use visa_hw::ops::store;
use visa_ir::context::Attr;
use visa_ir::decl::{BodyDef, OpDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpId, OpRef, OpSpec, ValueId};
use visa_ir::rewrite::{
    Conversion, ConversionPattern, ConversionTarget, Converter, Greedy, NoMatch, RewritePattern,
};
use visa_ir::verify::has_errors;
use visa_loops::Program;
use visa_memory::Medium;
use visa_numerics::DType;
use visa_pass::{Level, Pass, PassCx};
use visa_sequencer::ops::stages::{Align, Commit, Fetch, Vector, VectorBranch};
use visa_sequencer::ops::{dma as seq_dma, stages};

/// The pass.
pub static PASS: Pass = Pass {
    name: "lower-to-hw",
    summary: "lowers sequencer programs to commands in bytes",
    doc: "Strides become bytes; adjacent loops merge (book 07). Then the sizes follow: `fetch_size` is the \
          largest supported divisor of packet and contiguous bytes (book 08), `commit_size` the greatest common \
          divisor of contiguous bytes and `commit_in_size` (book 09), `reg_read_size` what the register file \
          holds contiguously (book 18), and a DMA packet the largest contiguous run that a transaction carries \
          (book 10). A load of the register file from one contiguous run becomes a short command (book 18).",
    takes: Level::Sequencer,
    gives: Level::Hardware,
    statistics: &[("programs", "sequencer programs lowered")],
    run,
    ..Pass::BASE
};

type LowerFn = fn(OpRef<'_>) -> Result<OpSpec, Diagnostic>;

/// Every operation of seq, and what makes its hw counterpart.
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
    // refused, not lowered to what does not verify.
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
    let mut short = OpSpec::at(&store::STORE_TRF, op);
    for clause in ["region", "rows", "row_bytes"] {
        short = short.clause(clause, op.ctx.attr(op.attr(clause)?));
    }
    Some(short.clause("load", op.ctx.attr(Attr::Str("short".into()))))
}

fn spec(op: OpRef<'_>, name: &str) -> Result<OpSpec, Diagnostic> {
    let decl = op.ctx.op(name).ok_or_else(|| {
        Diagnostic::error(
            "lower-to-hw",
            op.span(),
            format!("lowering needs `{name}`, but its dialect is not registered"),
        )
    })?;
    Ok(OpSpec::at(decl, op))
}

fn body(op: OpRef<'_>, def: &'static BodyDef, value: impl visa_ir::decl::Body) -> visa_ir::module::AttrId {
    op.ctx.body_attr(def, value)
}

fn int(op: OpRef<'_>, value: u64) -> Result<visa_ir::module::AttrId, Diagnostic> {
    let too_large = |_| op.error("C0", format!("`{value}` is too large to write"));
    Ok(op.ctx.attr(Attr::Int(i64::try_from(value).map_err(too_large)?)))
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
    let mut lowered = spec(op, "hw.fetch")?
        .clause("dtype", body(op, &visa_hw::attrs::DTYPE, from))
        .clause("packet", int(op, *packet)?);
    if let Some(table) = table {
        lowered = lowered.clause("table", body(op, &visa_hw::attrs::TABLE, (*table).clone()));
    }
    if let Some(to) = to {
        lowered = lowered.clause("to", body(op, &visa_hw::attrs::DTYPE, to));
    }
    if let Some(zero) = fetch.zero()? {
        lowered = lowered.clause("zero", op.ctx.attr(Attr::Ints(zero)));
    }
    if let Some(mask) = mask {
        lowered = lowered.clause("mask", body(op, &visa_hw::attrs::MASK, mask.clone()));
    }
    lowered = lowered.clause("loops", body(op, &visa_hw::attrs::PROGRAM, program.clone()));
    if let Some(starts) = fetch.starts()? {
        lowered = lowered.clause(
            "starts",
            body(
                op,
                &visa_hw::attrs::PROGRAM,
                access::starts(&starts, from).map_err(|error| error.diagnostic(op.span()))?,
            ),
        );
    }
    Ok(copied(op, lowered, &["steps"]))
}

fn align(op: OpRef<'_>) -> Result<OpSpec, Diagnostic> {
    let machine = machine(op);
    let align = Align::of(op)?;
    let dtype = *align.dtype()?;
    let program = accesses(op, &*align.loops()?, dtype, Accessor::Align)?.program.clone();
    let flits = align.flits()?;
    let data = count(op, "flits", flits)?.saturating_mul(machine.flit_bytes(exec::context_of(op)?));
    let data = data.min(machine.limits.mac_width_bytes);
    let number = |value: i64| op.ctx.attr(Attr::Int(value));
    let mut lowered = spec(op, "hw.align")?
        .clause("region", op.ctx.attr(Attr::Str(align.region()?)))
        .clause("flits", number(flits));
    if let (Some(shifts), Some(distance)) = (align.shifts()?, align.distance()?) {
        let bytes = count(op, "distance", distance)?.saturating_mul(u64::from(dtype.bits())) / 8;
        lowered = lowered.clause("shifts", number(shifts)).clause("shift_bytes", int(op, bytes)?);
    }
    lowered = lowered.clause("repeat", number(align.repeat()?)).clause("rows", number(align.rows()?));
    Ok(lowered.clause("data", int(op, data)?).clause("loops", body(op, &visa_hw::attrs::PROGRAM, program)))
}

fn vector(op: OpRef<'_>) -> Result<OpSpec, Diagnostic> {
    let mut lowered = spec(op, "hw.vector")?;
    for clause in ["op", "stage", "mode", "constant", "constant1", "when", "write_back", "stash", "stash1"] {
        if let Some(value) = op.attr(clause) {
            lowered = lowered.clause(clause, op.ctx.attr(value));
        }
    }
    let vector = Vector::of(op)?;
    for (elements, to) in [(vector.loops()?, "vrf"), (vector.loops1()?, "vrf1")] {
        let Some(elements) = elements else { continue };
        let accesses = accesses(op, &elements, DType::I32, Accessor::Vector)?;
        lowered = lowered.clause(to, body(op, &visa_hw::attrs::PROGRAM, accesses.program.clone()));
    }
    Ok(lowered)
}

fn vector_branch(op: OpRef<'_>) -> Result<OpSpec, Diagnostic> {
    let loops = VectorBranch::of(op)?.loops()?;
    let program = accesses(op, &loops, DType::I32, Accessor::Vector)?.program.clone();
    let lowered = spec(op, "hw.vector_branch")?.clause("mode", op.ctx.attr(Attr::Str("vrf".into())));
    Ok(lowered.clause("vrf", body(op, &visa_hw::attrs::PROGRAM, program)))
}

fn commit(op: OpRef<'_>) -> Result<OpSpec, Diagnostic> {
    let commit = Commit::of(op)?;
    let accessor = Accessor::Commit { unit: exec::context_of(op)? };
    let Accesses { program, packet, .. } = &*accesses(op, &*commit.loops()?, *commit.dtype()?, accessor)?;
    let lowered = spec(op, "hw.commit")?.clause("bytes", int(op, *packet)?);
    let lowered = lowered.clause("loops", body(op, &visa_hw::attrs::PROGRAM, program.clone()));
    Ok(copied(op, lowered, &["slices", "steps"]))
}

/// The operation with the clauses of `op` that stay as they are.
fn copied(op: OpRef<'_>, lowered: OpSpec, clauses: &[&str]) -> OpSpec {
    clauses.iter().fold(lowered, |lowered, clause| match op.attr(clause) {
        Some(value) => lowered.clause(clause, op.ctx.attr(value)),
        None => lowered,
    })
}

/// The memory that a clause names.
fn medium(op: OpRef<'_>, clause: &str, word: &str) -> Result<Medium, Diagnostic> {
    Medium::named(word).ok_or_else(|| op.clause_error("C0", clause, format!("there is no memory `{word}`")))
}

fn dma_indexed(op: OpRef<'_>) -> Result<OpSpec, Diagnostic> {
    let machine = machine(op);
    let dma = seq_dma::DmaIndexed::of(op)?;
    let (from, to) = (medium(op, "from", &dma.from()?)?, medium(op, "to", &dma.to()?)?);
    let (loops, indices) =
        indexed::accesses(&*dma.loops()?, &*dma.indices()?, access::dma_group(to, &machine), &machine)
            .map_err(|error| error.diagnostic(op.span()))?;
    let shared = indexed::share(loops, indices, [from, to], &machine);
    let mut lowered = spec(op, "hw.dma_indexed")?;
    for (clause, word) in [("direction", dma.direction()?), ("from", dma.from()?), ("to", dma.to()?)] {
        lowered = lowered.clause(clause, op.ctx.attr(Attr::Str(word)));
    }
    lowered = lowered
        .clause("loops", body(op, &visa_hw::attrs::PAIRED, shared.loops))
        .clause("index", op.ctx.attr(Attr::Str(dma.index()?)))
        .clause("indices", body(op, &visa_hw::attrs::PROGRAM, shared.indices))
        .clause("distance", op.ctx.attr(Attr::Int(dma.distance()?)))
        .clause("count", op.ctx.attr(Attr::Int(dma.count()?)));
    let lowered = copied(op, lowered, &["read_steps", "write_steps", "index_steps"]);
    Ok(match shared.engines {
        1 => lowered,
        engines => lowered.clause("engines", int(op, engines)?),
    })
}

fn dma(op: OpRef<'_>) -> Result<OpSpec, Diagnostic> {
    let machine = machine(op);
    let dma = seq_dma::Dma::of(op)?;
    let (from, to) = (medium(op, "from", &dma.from()?)?, medium(op, "to", &dma.to()?)?);
    let dtype = dma.dtype()?.map_or(DType::I8, |dtype| *dtype);
    let refused = |error: AccessError| error.diagnostic(op.span());
    let way = Way { pcie: &*dma.engine()? == "pcie", media: [from, to], machine: &machine };
    let table = table(&seq_dma::work(op)?, dtype, &way).map_err(refused)?;
    let mut lowered = spec(op, "hw.dma")?;
    for (clause, word) in [("engine", dma.engine()?), ("from", dma.from()?), ("to", dma.to()?)] {
        lowered = lowered.clause(clause, op.ctx.attr(Attr::Str(word)));
    }
    let lowered = copied(op, lowered, &["read_steps", "write_steps"]);
    match &table.0[..] {
        [part] if part.engines.start == 0 => {
            let lowered = lowered.clause("loops", body(op, &visa_hw::attrs::PAIRED, part.loops.clone()));
            Ok(match part.count() {
                1 => lowered,
                engines => lowered.clause("engines", int(op, engines)?),
            })
        }
        _ => Ok(lowered.clause("table", body(op, &visa_hw::attrs::ENGINES, table))),
    }
}
