//! Passes that keep, break and ask for analyses, and that rename symbols.

use super::conversion;
use super::numbers::{CONST, Const};
use std::cell::{Cell, RefCell};
use visa_ir::analysis::{Analysis, AnalysisKind, Handle, Preserved};
use visa_ir::context::Context;
use visa_ir::decl::make_type;
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::module::{Module, OpRef};
use visa_ir::span::Span;
use visa_ir::symbols::Symbols;
use visa_ir::verify::VerifyCx;
use visa_pass::{Configured, OptionKind, OptionType, OptionValue, Pass, PassCx};

/// The passes of dialect `test`.
pub static PASSES: &[&Pass] = &[
    &conversion::CONVERT,
    &ASK,
    &BUILDS,
    &GROW,
    &GROW_KEEPING,
    &TAKE,
    &USE,
    &TAKE_AND_GROW,
    &RENAME,
    &UNREAD,
];

/// How many constants a module has.
#[derive(PartialEq, Eq)]
struct Constants(usize);

/// How often [`Constants`] was built.
#[derive(Default)]
struct Built(Cell<u64>);

impl Analysis for Constants {
    const SAME: Option<fn(&Self, &Self) -> bool> = Some(Self::eq);

    fn build(ctx: &Context, module: &Module) -> Self {
        let built = ctx.data::<Built>();
        built.0.set(built.0.get() + 1);
        Self(module.walk_all().into_iter().filter(|&id| module.op(ctx, id).is(&CONST)).count())
    }
}

/// A verifier that asks for the analysis, as those of `tm` ask for theirs.
pub(crate) fn count_in_verifier(_: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    cx.analysis::<Constants>();
    Ok(())
}

fn remark(cx: &mut PassCx<'_>, message: String) {
    cx.report(Diagnostic {
        severity: Severity::Remark,
        ..Diagnostic::error("test", Span::default(), message)
    });
}

static ASK: Pass = Pass {
    name: "test-ask",
    summary: "says how many constants there are",
    run: |cx| {
        let constants = cx.analysis::<Constants>().0;
        remark(cx, format!("{constants} constants"));
        Ok(())
    },
    open: true,
    ..Pass::BASE
};

static BUILDS: Pass = Pass {
    name: "test-builds",
    summary: "says how often the constants were counted",
    run: |cx| {
        let built = cx.ctx.data::<Built>().0.get();
        remark(cx, format!("counted {built} times"));
        Ok(())
    },
    open: true,
    ..Pass::BASE
};

/// Adds a constant to each function.
fn grow(cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
    let ty = make_type(cx.ctx, &super::INT, 32_u32);
    for id in cx.module.ops(cx.module.body()).to_vec() {
        let op = cx.module.op(cx.ctx, id);
        let first = op.regions().first().and_then(|&block| cx.module.ops(block).first()).copied();
        let spec = Const::build_at(cx.ctx, op.span()).value(7).result(ty, None).spec();
        if let Some(first) = first {
            cx.module.insert_before(first, spec);
        }
    }
    Ok(())
}

static GROW: Pass =
    Pass { name: "test-grow", summary: "adds constants", run: grow, open: true, ..Pass::BASE };

static GROW_KEEPING: Pass = Pass {
    name: "test-grow-keeping",
    summary: "adds constants, and says that their count stays",
    preserves: Preserved::Only(&[AnalysisKind::of::<Constants>()]),
    ..GROW
};

/// A handle that outlives a pass.
#[derive(Default)]
struct Taken(RefCell<Option<Handle<Constants>>>);

static TAKE: Pass = Pass {
    name: "test-take",
    summary: "keeps a handle on the count of constants",
    run: |cx| {
        cx.ctx.data::<Taken>().0.replace(Some(cx.analysis_handle()));
        Ok(())
    },
    open: true,
    ..Pass::BASE
};

fn ask_handle(cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
    let taken = cx.ctx.data::<Taken>();
    let handle = taken.0.borrow().clone();
    let handle =
        handle.ok_or_else(|| vec![Diagnostic::error("test", Span::default(), "nobody took a handle")])?;
    let constants = handle.get(cx.module).map_err(|error| vec![error])?.0;
    remark(cx, format!("{constants} constants, by the handle"));
    Ok(())
}

static USE: Pass = Pass {
    name: "test-use",
    summary: "asks the handle that was kept",
    run: ask_handle,
    open: true,
    ..Pass::BASE
};

static TAKE_AND_GROW: Pass = Pass {
    name: "test-take-and-grow",
    summary: "asks a handle after it changed the module",
    run: |cx| {
        cx.ctx.data::<Taken>().0.replace(Some(cx.analysis_handle()));
        grow(cx)?;
        ask_handle(cx)
    },
    open: true,
    ..Pass::BASE
};

visa_pass::options! {
    /// What is renamed.
    struct Names {
        from: String = ("from", "", "the symbol"),
        to: String = ("to", "", "its new name; empty for one that is free"),
    }
}

static RENAME: Pass =
    Pass { name: "test-rename", summary: "renames a symbol", open: true, ..Pass::with::<Names>() };

impl Configured for Names {
    fn run(self, cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
        let Names { from, to } = self;
        let mut symbols = (*cx.analysis::<Symbols>()).clone();
        let to = if to.is_empty() { symbols.unique(&from) } else { to.into() };
        let renamed = symbols.rename(cx.ctx, cx.module, &from, &to);
        renamed.map_err(|why| vec![Diagnostic::error("test-rename", Span::default(), why)])
    }
}

/// A type of option that forgets one of its words.
struct Side;

impl OptionType for Side {
    const KIND: OptionKind = OptionKind::Word(&["left", "right"]);
    fn read(value: &OptionValue) -> Option<Self> {
        (value.text()? == "left").then_some(Self)
    }
}

visa_pass::options! {
    /// Of a type with a mistake.
    struct Sides { side: Side = ("side", "left", "the side") }
}

static UNREAD: Pass = Pass {
    name: "test-unread",
    summary: "has an option whose type forgets one of its words",
    open: true,
    ..Pass::with::<Sides>()
};

impl Configured for Sides {
    fn run(self, _: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
        let Sides { side: Side } = self;
        Ok(())
    }
}
