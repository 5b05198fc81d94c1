//! Gives every open address a value.

use crate::given::AllocationInput;
use crate::late;
use crate::plan::{Plan, Used, plan};
use crate::policy::Reuse;
use crate::space;
use crate::tensors::{PlacedTensor, Site};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use visa_ir::analysis::{AnalysisKind, Preserved};
use visa_ir::context::Attr;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId, TypeId};
use visa_ir::open::{self, Opening};
use visa_ir::verify::VerifyCx;
use visa_mapping::facts::address::{THEN, further};
use visa_mapping::facts::frames::Frames;
use visa_mapping::facts::{DeclaredAxes, Support, machine};
use visa_mapping::ops::func::{FUNC, Func, addresses};
use visa_pass::{Configured, Level, OptionKind, OptionType, OptionValue, Pass, PassCx};

visa_pass::options! {
    /// Options of the pass.
    struct Settings {
        reuse: Reuse = ("reuse", "needed", "whether bytes are used again only where tensors do not fit side by \
             side, or wherever that saves memory"),
    }
}

impl OptionType for Reuse {
    const KIND: OptionKind = OptionKind::Word(&["needed", "always"]);
    fn read(value: &OptionValue) -> Option<Self> {
        match value.text()? {
            "needed" => Some(Self::Needed),
            "always" => Some(Self::Always),
            _ => None,
        }
    }
}

/// Addresses and halves that are chosen, and the bytes of each memory.
const STATISTICS: [(&str, &str); 2 + space::STATISTICS.len()] = {
    let mut all = [("", ""); 2 + space::STATISTICS.len()];
    all[0] = ("addresses", "addresses chosen");
    all[1] = ("halves", "parts of the tensor register file chosen");
    let mut at = 0;
    while at < space::STATISTICS.len() {
        all[2 + at] = space::STATISTICS[at];
        at += 1;
    }
    all
};

/// The pass.
pub static PASS: Pass = Pass {
    name: "allocate",
    summary: "gives open addresses a value",
    doc: "Every `at auto` becomes an address of HBM, of data memory, of scratchpad memory or of the vector register \
          file, or a half of the tensor register file. Tensors that are needed at the same time share no byte; a \
          tensor is needed from the operation that makes it to the last one that reads it, through views, and \
          through a pipeline up to its end. Explicit addresses stay, and no other tensor overlaps them while they \
          are needed. Addresses satisfy the alignment of the operation that makes the tensor, as its verifier \
          requires.\n\n\
          Memory is there to be used: as long as all tensors of a memory fit side by side, each has separate bytes, \
          so that no command waits without a dependence in the kernel. Where they do not fit, bytes are used again \
          that have not been needed for as long as possible. With `reuse=always`, the least memory is looked for \
          instead (docs/choosing.md).\n\n\
          Where they do not fit at all, registers of the vector engine are loaded at their first read, not at their \
          position in the kernel.\n\n\
          A tensor that nothing uses gets an address too: it is written. Open clauses that types depend on have to \
          be closed before, as sizes follow from types.",
    preserves: Preserved::Only(&[AnalysisKind::of::<DeclaredAxes>(), AnalysisKind::of::<Support>()]),
    takes: Level::Memory,
    gives: Level::Memory,
    statistics: &STATISTICS,
    open: true,
    closes: Some(Opening::Address),
    ..Pass::with::<Settings>()
};

impl Configured for Settings {
    fn run(self, cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
        if open::first(cx.ctx, cx.module, |opening| opening == Opening::Address).is_none() {
            return Ok(());
        }
        sized(cx)?;
        let (axes, support) = (cx.analysis::<DeclaredAxes>(), cx.analysis::<Support>());
        let frames = cx.analysis::<Frames>();
        let Settings { reuse } = self;
        let facts = (Rc::clone(&axes), Rc::clone(&support), Rc::clone(&frames));
        let mut demands = Demands { candidate: cx.module.clone(), facts, known: HashMap::new() };
        let mut errors = Vec::new();
        let mut used: BTreeMap<&'static str, u64> = BTreeMap::new();
        for id in cx.module.ops(cx.module.body()).to_vec() {
            let func = cx.module.op(cx.ctx, id);
            if !func.is(&FUNC) {
                continue;
            }
            let (ctx, machine) = (cx.ctx, machine(func));
            let given =
                AllocationInput { axes: &axes, support: &support, frames: &frames, machine: &machine, reuse };
            let mut found = plan(func, &given, &mut |placed| demands.of(ctx, placed));
            if found.is_err() && late::load_late(cx.ctx, cx.module, id) {
                let (axes, support) = (cx.analysis::<DeclaredAxes>(), cx.analysis::<Support>());
                let frames = cx.analysis::<Frames>();
                let func = cx.module.op(cx.ctx, id);
                let given = AllocationInput {
                    axes: &axes,
                    support: &support,
                    frames: &frames,
                    machine: &machine,
                    reuse,
                };
                found = plan(func, &given, &mut |placed| demands.of(ctx, placed)).or(found);
            }
            match found {
                Ok(plan) => {
                    for (space, Used { end, live }) in &plan.used {
                        for (statistic, bytes) in space.statistics().into_iter().flatten().zip([*end, *live])
                        {
                            let most = used.entry(statistic).or_default();
                            *most = (*most).max(bytes);
                        }
                    }
                    errors.extend(write(cx, id, &plan).err());
                }
                Err(found) => errors.extend(found),
            }
        }
        used.into_iter().for_each(|(statistic, bytes)| cx.count(statistic, bytes));
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}

/// Refuses a module in which some types are not known yet.
fn sized(cx: &PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
    let Some((id, clause)) = open::first(cx.ctx, cx.module, |opening| opening == Opening::Configuration)
    else {
        return Ok(());
    };
    let op = cx.module.op(cx.ctx, id);
    let message = format!(
        "clause `{}` of `{}` is open (`{}`), so sizes that addresses depend on are not known",
        clause.name,
        op,
        open::WORD
    );
    let fix = "choose configurations before addresses: `--select-configs --allocate`, or write a value";
    Err(vec![Diagnostic::error("open", op.clause_span(clause.name), message).fix(Some(fix.to_owned()))])
}

/// Alignments of addresses, as the verifier of the operation that makes the tensor demands them.
struct Demands {
    /// A copy of the module, in which candidate addresses are tried.
    candidate: Module,
    /// Facts about it, which no address changes.
    facts: (Rc<DeclaredAxes>, Rc<Support>, Rc<Frames>),
    known: HashMap<(&'static str, TypeId), u64>,
}

/// Coarsest alignment that is tried. A tensor that is at no multiple of less can only be at 0, or nowhere.
const MAX_ALIGN: u64 = 1 << 16;

impl Demands {
    fn of(&mut self, ctx: &visa_ir::context::Context, placed: &PlacedTensor) -> u64 {
        let element = placed.tensor.dtype.align().max(1);
        let (Some(Site::Op(id)) | Some(Site::Then(id, _))) = placed.open else { return element };
        let Some(decl) = self.candidate.op(ctx, id).decl() else { return element };
        let key = (decl.name, self.candidate.ty(placed.value));
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let powers = std::iter::successors(Some(element), |align| Some(align * 2))
            .take_while(|&align| align < MAX_ALIGN);
        let found = powers.into_iter().find(|&align| self.accepts(ctx, id, align)).unwrap_or(MAX_ALIGN);
        self.known.insert(key, found);
        found
    }

    /// Returns true if the operation verifies with its tensor at `address`, which is less than [`MAX_ALIGN`].
    fn accepts(&mut self, ctx: &visa_ir::context::Context, id: OpId, address: u64) -> bool {
        let address = ctx.attr(Attr::Int(address.cast_signed()));
        self.candidate.set_clause(id, "at", Some(address));
        let op = self.candidate.op(ctx, id);
        let verify = op.decl().and_then(|decl| decl.verify);
        let (axes, support, frames) = &self.facts;
        let cx = VerifyCx::new(ctx, &self.candidate);
        cx.know(Rc::clone(axes));
        cx.know(Rc::clone(support));
        cx.know(Rc::clone(frames));
        verify.is_none_or(|verify| verify(op, &cx).is_ok())
    }
}

/// Writes the addresses of a function's plan.
fn write(cx: &mut PassCx<'_>, func: OpId, plan: &Plan) -> Result<(), Diagnostic> {
    let block = cx.module.op(cx.ctx, func).regions().first().copied();
    let args = block.map_or(&[][..], |block| cx.module.args(block)).iter();
    let in_hbm = args.filter(|&&arg| cx.ctx.type_name(cx.module.ty(arg)) == "tm.hbm").count();
    let written = addresses(Func::of(cx.module.op(cx.ctx, func))?)?;
    let mut list = written.unwrap_or_else(|| vec![None; in_hbm]);
    for &(site, address) in &plan.addresses {
        let address = i64::try_from(address).map_err(|_| {
            let span = cx.module.op(cx.ctx, func).span();
            Diagnostic::error("allocate-memory", span, format!("address {address} is too large to write"))
        })?;
        match site {
            Site::Op(op) => cx.module.set_clause(op, "at", Some(cx.ctx.attr(Attr::Int(address)))),
            Site::Then(op, at) => {
                let mut list = further(cx.module.op(cx.ctx, op));
                if let Some(entry) = list.get_mut(at) {
                    *entry = Some(address);
                }
                let known: Option<Vec<i64>> = list.iter().copied().collect();
                let list =
                    known.map_or_else(|| Attr::OpenInts(list.into()), |known| Attr::Ints(known.into()));
                cx.module.set_clause(op, THEN.name, Some(cx.ctx.attr(list)));
            }
            Site::Argument(index) => {
                if let Some(entry) = list.get_mut(index) {
                    *entry = Some(address);
                }
            }
        }
        cx.count("addresses", 1);
    }
    if open::is_open(cx.module.op(cx.ctx, func), "at") {
        let list: Vec<i64> = list.into_iter().flatten().collect();
        cx.module.set_clause(func, "at", Some(cx.ctx.attr(Attr::Ints(list.into()))));
    }
    for &(site, half) in &plan.halves {
        if let Site::Op(op) = site {
            cx.module.set_clause(op, "at", Some(cx.ctx.attr(Attr::Str(half.word().into()))));
            cx.count("halves", 1);
        }
    }
    Ok(())
}
