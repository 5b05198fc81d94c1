//! Analyses: given out for the module that they were built from only.

use crate::toy::{context, good};
use visa_ir::analysis::{Analyses, Analysis, AnalysisKind, Preserved};
use visa_ir::context::Context;
use visa_ir::module::{Module, OpId};

const TEXT: &str =
    "visa 1\ntoy.func @f() {\n  %a = toy.make size 4\n  %b = toy.make size 4\n  toy.return\n}\n";

/// Number of operations of a module.
#[derive(Debug, PartialEq)]
struct Count(usize);

impl Analysis for Count {
    const SAME: Option<fn(&Self, &Self) -> bool> = Some(Self::eq);

    fn build(_: &Context, module: &Module) -> Self {
        Self(module.walk_all().len())
    }
}

/// It cannot be compared.
struct Dark;

impl Analysis for Dark {
    fn build(_: &Context, _: &Module) -> Self {
        Self
    }
}

fn makes(ctx: &Context, module: &Module) -> Vec<OpId> {
    let ops = module.walk_all().into_iter();
    ops.filter(|&id| module.op(ctx, id).name() == "toy.make").collect()
}

#[test]
fn one_of_another_state_is_never_given_out() {
    let (ctx, analyses) = (context(), Analyses::default());
    let mut module = good(&ctx, TEXT);
    assert_eq!(*analyses.get::<Count>(&ctx, &module), Count(4));
    let copy = module.clone();
    module.erase(makes(&ctx, &module)[0]);
    assert_eq!(*analyses.get::<Count>(&ctx, &module), Count(3));
    assert_eq!(*analyses.get::<Count>(&ctx, &copy), Count(4), "a copy from before");
}

#[test]
fn a_handle_says_why_it_does_not_hold() {
    let (ctx, analyses) = (context(), Analyses::default());
    let mut module = good(&ctx, TEXT);
    let handle = analyses.handle::<Count>(&ctx, &module);
    assert_eq!(handle.get(&module).map(|count| count.0), Ok(4));
    let before = module.stamp();
    module.erase(makes(&ctx, &module)[0]);
    let refused = handle.get(&module).expect_err("the module changed");
    assert!(
        refused.message.contains("`Count` is asked for through a handle from before the module was changed")
    );
    analyses.end("shrink", &before, Preserved::None, &module);
    let refused = handle.get(&module).expect_err("the pass ended it");
    assert!(refused.message.contains("from before pass `shrink`, which does not preserve it"), "{refused:?}");
}

#[test]
fn what_is_preserved_is_kept_and_may_be_wrong() {
    let (ctx, analyses) = (context(), Analyses::default());
    let mut module = good(&ctx, TEXT);
    let (count, dark) = (analyses.handle::<Count>(&ctx, &module), analyses.handle::<Dark>(&ctx, &module));
    let before = module.stamp();
    module.erase(makes(&ctx, &module)[0]);
    static COUNT: &[AnalysisKind] = &[AnalysisKind::of::<Count>()];
    analyses.end("shrink", &before, Preserved::Only(COUNT), &module);
    assert_eq!(count.get(&module).map(|count| count.0), Ok(4), "the pass said so");
    assert!(dark.get(&module).is_err());
    assert_eq!(analyses.wrong(&ctx, &module), ["Count"]);
    analyses.get::<Dark>(&ctx, &module);
    assert_eq!(analyses.wrong(&ctx, &module), ["Count"], "what cannot be compared is not wrong");
}

#[test]
fn a_pass_that_changes_nothing_preserves_everything() {
    let (ctx, analyses) = (context(), Analyses::default());
    let module = good(&ctx, TEXT);
    let handle = analyses.handle::<Count>(&ctx, &module);
    analyses.end("look", &module.stamp(), Preserved::None, &module);
    assert!(handle.get(&module).is_ok());
    assert_eq!(analyses.wrong(&ctx, &module), [""; 0]);
}
