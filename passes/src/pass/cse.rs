//! Merges operations that give the same.

use std::collections::HashMap;
use visa_ir::analysis::{AnalysisKind, Preserved};
use visa_ir::context::AttrId;
use visa_ir::decl::{OpDecl, Trait};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::{self, EffectKind, OpEffect};
use visa_ir::module::{BlockId, OpId, OpRef, TypeId, ValueId};
use visa_ir::open;
use visa_ir::symbols::Symbols;
use visa_mapping::facts::DeclaredAxes;
use visa_pass::{Pass, PassCx, Scope};

/// The pass.
pub static PASS: Pass = Pass {
    name: "cse",
    summary: "merges operations that give the same",
    doc: "An operation becomes an earlier one of its block, or of a block around it, that has the same operands, \
          clauses and result types, if neither has effects. Operations that read merge too, within a block, if \
          nothing between them writes a memory that they read. Their declarations list the effects (`effects`).\n\n\
          A pipeline runs where its last operation is, so a fetch reads there and not where it is written. That \
          stays: two pipelines that share their first operations are still two, each with all of them, and read \
          when they run. The tensor that both fetch is the same value, which nothing may change as long as one of \
          them needs it (`tm.func` C6, `stream.commit_view`).\n\n\
          Operations with open clauses (`auto`) stay: the best choice for one need not be right for the other. So \
          do those with bodies.",
    scope: Scope::Operation,
    preserves: Preserved::Only(&[AnalysisKind::of::<DeclaredAxes>(), AnalysisKind::of::<Symbols>()]),
    statistics: &[("pure", "operations merged that do nothing"), ("reads", "operations merged that read")],
    open: true,
    run,
    ..Pass::BASE
};

fn run(cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
    for block in cx.blocks() {
        merge(cx, block, &mut HashMap::new());
    }
    Ok(())
}

/// The key by which two operations are equal.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    /// A declaration is known by its name.
    name: &'static str,
    operands: Vec<ValueId>,
    clauses: Vec<(String, AttrId)>,
    extra: Vec<(String, AttrId)>,
    types: Vec<TypeId>,
}

/// An operation that reads, valid until a later operation writes its memory.
struct Reading {
    key: Key,
    op: OpId,
    reads: Vec<OpEffect>,
}

/// The role of an operation.
enum Part {
    /// It does nothing but give its results.
    Pure(Key),
    /// It only reads.
    Reads(Key, Vec<OpEffect>),
    /// It stays. These are its effects, if they are known.
    Stays(Option<Vec<OpEffect>>),
}

/// Merges the operations of a block. `pure` has those of the blocks around it, and when this returns no others.
fn merge(cx: &mut PassCx<'_>, block: BlockId, pure: &mut HashMap<Key, OpId>) {
    let (mut own, mut reading) = (Vec::new(), Vec::new());
    for id in cx.module.ops(block).to_vec() {
        for region in cx.module.op(cx.ctx, id).regions().to_vec() {
            merge(cx, region, pure);
        }
        match part(cx.module.op(cx.ctx, id)) {
            Part::Pure(key) => match pure.get(&key).copied() {
                Some(earlier) => become_earlier(cx, id, earlier, "pure"),
                None => {
                    own.push(key.clone());
                    pure.insert(key, id);
                }
            },
            Part::Reads(key, reads) => {
                match reading.iter().find(|read: &&Reading| read.key == key).map(|read| read.op) {
                    Some(earlier) => become_earlier(cx, id, earlier, "reads"),
                    None => reading.push(Reading { key, op: id, reads }),
                }
            }
            Part::Stays(Some(found)) => {
                let writes: Vec<_> =
                    found.into_iter().filter(|effect| effect.kind == EffectKind::Write).collect();
                let written = |read: &OpEffect| writes.iter().any(|write| write.meets(read));
                reading.retain(|earlier| !earlier.reads.iter().any(written));
            }
            Part::Stays(None) => reading.clear(),
        }
    }
    for key in &own {
        pure.remove(key);
    }
}

fn become_earlier(cx: &mut PassCx<'_>, id: OpId, earlier: OpId, statistic: &'static str) {
    let results = |id| cx.module.op(cx.ctx, id).results().to_vec();
    for (old, new) in results(id).into_iter().zip(results(earlier)) {
        cx.module.replace_uses(old, new);
    }
    cx.module.erase(id);
    cx.count(statistic, 1);
}

/// The role of an operation.
fn part(op: OpRef<'_>) -> Part {
    let found = effects::of(op);
    let Some(key) = key(op) else { return Part::Stays(found) };
    match found {
        Some(found) if found.is_empty() => Part::Pure(key),
        Some(found) if found.iter().all(|effect| effect.kind == EffectKind::Read) => Part::Reads(key, found),
        Some(_) | None => Part::Stays(found),
    }
}

/// The key of an operation and those that it may become; `None` if it always stays.
fn key(op: OpRef<'_>) -> Option<Key> {
    let decl: &'static OpDecl = op.decl()?;
    let stays = effects::declares(op)
        || decl.has(Trait::Terminator)
        || op.results().is_empty()
        || !op.regions().is_empty()
        || open::untyped(op)
        || open::clauses(op).next().is_some();
    if stays {
        return None;
    }
    let sorted = |clauses: &[visa_ir::module::Clause]| {
        let mut clauses: Vec<_> =
            clauses.iter().map(|clause| (clause.name.to_string(), clause.value)).collect();
        clauses.sort_unstable();
        clauses
    };
    Some(Key {
        name: decl.name,
        operands: op.operands().to_vec(),
        clauses: sorted(op.clauses()),
        extra: sorted(op.extra()),
        types: op.results().iter().map(|&result| op.module.ty(result)).collect(),
    })
}
