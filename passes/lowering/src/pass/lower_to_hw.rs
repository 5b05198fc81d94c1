//! From loops over elements to commands in bytes: merging, access sizes, the limits of the machine.

use crate::access::{self, Accesses, Accessor};
use std::rc::Rc;
use visa_hw::ops::store;
use visa_ir::context::Attr;
use visa_ir::decl::{BodyDef, OpDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpId, OpRef, OpSpec, ValueId};
use visa_ir::rewrite::{
    Conversion, ConversionPattern, ConversionTarget, Converter, Greedy, NoMatch, RewritePattern,
};
use visa_ir::verify::has_errors;
use visa_loops::{Mask, PairedProgram, Program};
use visa_machine::Machine;
use visa_numerics::{DType, LookupTable};
use visa_pass::{Level, Pass, PassCx};
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
const LOWERINGS: [(&OpDecl, LowerFn); 6] = [
    (&stages::FETCH, fetch),
    (&stages::ALIGN, align),
    (&stages::VECTOR, vector),
    (&stages::VECTOR_BRANCH, vector_branch),
    (&stages::COMMIT, commit),
    (&seq_dma::DMA, dma),
];

static PATTERNS: [&ConversionPattern; 6] = [
    &counterpart(&stages::FETCH),
    &counterpart(&stages::ALIGN),
    &counterpart(&stages::VECTOR),
    &counterpart(&stages::VECTOR_BRANCH),
    &counterpart(&stages::COMMIT),
    &counterpart(&seq_dma::DMA),
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
        short = short.clause(clause, op.ctx.attr(op.attr(clause).unwrap_or(Attr::Unit)));
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

fn int(op: OpRef<'_>, value: u64) -> visa_ir::module::AttrId {
    op.ctx.attr(Attr::Int(i64::try_from(value).unwrap_or(i64::MAX)))
}

fn machine(op: OpRef<'_>) -> Rc<Machine> {
    op.ctx.data()
}

fn dtype(op: OpRef<'_>, clause: &str) -> Result<DType, Diagnostic> {
    op.body::<DType>(clause)
        .map(|dtype| *dtype)
        .ok_or_else(|| op.clause_error("C0", clause, "no number format"))
}

fn in_sub(op: OpRef<'_>) -> bool {
    op.parent().and_then(|exec| exec.word("context")).as_deref() == Some("sub")
}

/// The program of `op`, over elements.
fn program(op: OpRef<'_>) -> Result<Rc<Program>, Diagnostic> {
    op.body::<Program>("loops").ok_or_else(|| op.clause_error("C0", "loops", "no sequencer program"))
}

/// The accesses of `op` in bytes.
fn accesses(op: OpRef<'_>, dtype: DType, accessor: Accessor) -> Result<Rc<Accesses>, Diagnostic> {
    accessor.known(op.ctx, &*program(op)?, dtype).map_err(|error| error.diagnostic(op.span()))
}

fn fetch(op: OpRef<'_>) -> Result<OpSpec, Diagnostic> {
    let from = dtype(op, "dtype")?;
    let to = op.body::<DType>("to").map(|dtype| *dtype);
    let table = op.body::<LookupTable>("table");
    let grown = to.or(table.as_ref().map(|table| table.to));
    let mask = op.body::<Mask>("mask").map(|mask| (*mask).clone());
    let accessor = Accessor::Fetch { to: grown, sub: in_sub(op), mask };
    let Accesses { program, mask, packet, .. } = &*accesses(op, from, accessor)?;
    let mut lowered = spec(op, "hw.fetch")?
        .clause("dtype", body(op, &visa_hw::attrs::DTYPE, from))
        .clause("packet", int(op, *packet));
    if let Some(table) = table {
        lowered = lowered.clause("table", body(op, &visa_hw::attrs::TABLE, (*table).clone()));
    }
    if let Some(to) = to {
        lowered = lowered.clause("to", body(op, &visa_hw::attrs::DTYPE, to));
    }
    if let Some(zero) = op.attr("zero") {
        lowered = lowered.clause("zero", op.ctx.attr(zero));
    }
    if let Some(mask) = mask {
        lowered = lowered.clause("mask", body(op, &visa_hw::attrs::MASK, mask.clone()));
    }
    lowered = lowered.clause("loops", body(op, &visa_hw::attrs::PROGRAM, program.clone()));
    if let Some(starts) = op.body::<Program>("starts") {
        lowered = lowered.clause(
            "starts",
            body(
                op,
                &visa_hw::attrs::PROGRAM,
                access::starts(&starts, from).map_err(|error| error.diagnostic(op.span()))?,
            ),
        );
    }
    Ok(lowered)
}

fn align(op: OpRef<'_>) -> Result<OpSpec, Diagnostic> {
    let machine = machine(op);
    let dtype = dtype(op, "dtype")?;
    let program = accesses(op, dtype, Accessor::Align)?.program.clone();
    let count = |clause: &str| op.int(clause).and_then(|count| u64::try_from(count).ok());
    let data = (count("flits").unwrap_or(1) * machine.limits.flit_bytes).min(machine.limits.mac_width_bytes);
    let copied = |lowered: OpSpec, clause: &'static str| {
        lowered.clause(clause, op.ctx.attr(op.attr(clause).unwrap_or(Attr::Int(1))))
    };
    let mut lowered = copied(copied(spec(op, "hw.align")?, "region"), "flits");
    if let (Some(shifts), Some(distance)) = (count("shifts"), count("distance")) {
        let bytes = distance.saturating_mul(u64::from(dtype.bits())) / 8;
        lowered = lowered.clause("shifts", int(op, shifts)).clause("shift_bytes", int(op, bytes));
    }
    lowered = copied(copied(lowered, "repeat"), "rows");
    Ok(lowered.clause("data", int(op, data)).clause("loops", body(op, &visa_hw::attrs::PROGRAM, program)))
}

fn vector(op: OpRef<'_>) -> Result<OpSpec, Diagnostic> {
    let mut lowered = spec(op, "hw.vector")?;
    for clause in ["op", "stage", "mode", "constant", "constant1", "when", "write_back", "stash", "stash1"] {
        if let Some(value) = op.attr(clause) {
            lowered = lowered.clause(clause, op.ctx.attr(value));
        }
    }
    for (from, to) in [("loops", "vrf"), ("loops1", "vrf1")] {
        let Some(elements) = op.body::<Program>(from) else { continue };
        let accesses = Accessor::Vector.known(op.ctx, &elements, DType::I32);
        let accesses = accesses.map_err(|error| error.diagnostic(op.span()))?;
        lowered = lowered.clause(to, body(op, &visa_hw::attrs::PROGRAM, accesses.program.clone()));
    }
    Ok(lowered)
}

fn vector_branch(op: OpRef<'_>) -> Result<OpSpec, Diagnostic> {
    let program = accesses(op, DType::I32, Accessor::Vector)?.program.clone();
    let lowered = spec(op, "hw.vector_branch")?.clause("mode", op.ctx.attr(Attr::Str("vrf".into())));
    Ok(lowered.clause("vrf", body(op, &visa_hw::attrs::PROGRAM, program)))
}

fn commit(op: OpRef<'_>) -> Result<OpSpec, Diagnostic> {
    let Accesses { program, packet, .. } =
        &*accesses(op, dtype(op, "dtype")?, Accessor::Commit { sub: in_sub(op) })?;
    let lowered = spec(op, "hw.commit")?.clause("bytes", int(op, *packet));
    let lowered = lowered.clause("loops", body(op, &visa_hw::attrs::PROGRAM, program.clone()));
    Ok(match op.attr("slices") {
        Some(slices) => lowered.clause("slices", op.ctx.attr(slices)),
        None => lowered,
    })
}

fn dma(op: OpRef<'_>) -> Result<OpSpec, Diagnostic> {
    let machine = machine(op);
    let program = op
        .body::<PairedProgram>("loops")
        .ok_or_else(|| op.clause_error("C0", "loops", "no sequencer program"))?;
    let program = access::dma(&program, &machine).map_err(|error| error.diagnostic(op.span()))?;
    let mut lowered = spec(op, "hw.dma")?;
    for clause in ["engine", "from", "to"] {
        lowered = lowered.clause(clause, op.ctx.attr(op.attr(clause).unwrap_or(Attr::Unit)));
    }
    Ok(lowered.clause("loops", body(op, &visa_hw::attrs::PAIRED, program)))
}
