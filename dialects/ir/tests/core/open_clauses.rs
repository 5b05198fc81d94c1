//! `auto`: where it may be, the facts that are then unknown, and the checks that remain.

use crate::toy::{context, good, read};
use visa_ir::module::Module;
use visa_ir::open::{self, Opening, is_open, open_up};
use visa_ir::print::{Form, print};

/// The module with `statement` in a function of a tensor `%a`.
fn inside(statement: &str) -> String {
    format!("toy.func @f(%a: !toy.tensor<[4]>) {{\n  {statement}\n  toy.return\n}}\n")
}

/// The code and the message of the only finding.
#[track_caller]
fn refused(statement: &str) -> (String, String) {
    let findings = read(&context(), &inside(statement)).1;
    assert_eq!(findings.len(), 1, "{statement}: {findings:?}");
    (findings[0].code.clone(), findings[0].message.clone())
}

/// The type of the last result.
fn type_of(statement: &str) -> String {
    let ctx = context();
    let module: Module = good(&ctx, &inside(statement));
    let ops = module.walk_all();
    let last = module.op(&ctx, ops[ops.len() - 2]).results()[0];
    ctx.type_text(module.ty(last)).to_string()
}

#[test]
fn an_open_configuration_hides_the_type_and_those_after_it() {
    assert_eq!(type_of("%p = toy.place auto %a at 0"), "!visa.auto");
    assert_eq!(type_of("%p = toy.place fast %a at 0, tile auto"), "!visa.auto");
    assert_eq!(type_of("%p = toy.place auto %a at 0\n  %q = toy.place fast %p at 0"), "!visa.auto");
}

#[test]
fn an_open_address_leaves_the_type() {
    assert_eq!(type_of("%p = toy.place fast %a at auto, bases [auto, 3]"), "!toy.tensor<[4]>");
    assert_eq!(type_of("%p = toy.place fast %a at auto, bases auto"), "!toy.tensor<[4]>");
}

#[test]
fn the_type_of_an_open_result_may_be_written() {
    assert_eq!(type_of("%p = toy.place auto %a at 0 : !visa.auto"), "!visa.auto");
    let (code, message) = refused("%p = toy.place auto %a at 0 : !toy.tensor<[4]>");
    assert_eq!(
        (code.as_str(), message.as_str()),
        ("result-types", "`toy.place` gives `!visa.auto`, but `!toy.tensor<[4]>` is written")
    );
    assert_eq!(refused("%p = toy.place fast %a at 0 : !visa.auto").0, "result-types");
}

#[test]
fn an_operation_with_an_open_address_is_verified_and_one_with_an_open_configuration_is_not() {
    assert_eq!(refused("%p = toy.place fast %a at 13").0, "toy.place-C1");
    assert_eq!(refused("%p = toy.place fast %a at 13, bases auto").0, "toy.place-C1");
    good(&context(), &inside("%p = toy.place auto %a at 13"));
    good(&context(), &inside("%p = toy.place auto %a at 0\n  %q = toy.place fast %p at 13"));
}

#[test]
fn structure_is_checked_whatever_is_open() {
    assert_eq!(refused("%p = toy.place auto, at 0").0, "operands");
    assert_eq!(refused("%p = toy.place auto %a").0, "missing-clause");
    assert_eq!(refused("%p = toy.place auto %a at 0, tile 7").0, "size");
    assert_eq!(refused("%p = toy.place auto %a at 0, at auto").0, "duplicate-clause");
}

#[test]
fn a_clause_that_is_never_open_refuses_the_word() {
    let (code, message) = refused("%m = toy.make size auto");
    assert_eq!(
        (code.as_str(), message.as_str()),
        ("never-open", "clause `size` is never `auto`: expected integer")
    );
    assert_eq!(refused("%m = toy.make size 4, mode auto").0, "never-open");
    assert_eq!(refused("%m = toy.make size 4, strides auto").0, "never-open");
    assert_eq!(refused("%m = toy.make size 4, strides [1, auto]").0, "never-open");
    assert_eq!(refused("%m = toy.make size 4, tile auto").0, "never-open");
    assert_eq!(refused("%m = toy.make size 4, label auto").0, "never-open");
    assert_eq!(refused("%m = toy.make size 4, callee auto").0, "never-open");
    assert_eq!(refused("%m = toy.make size 4, volatile auto").0, "never-open");
    assert_eq!(refused("%m = \"toy.make\"() <{size = #visa.auto}> : () -> !toy.tensor<[4]>").0, "never-open");
    assert_eq!(
        refused(
            "%m = \"toy.make\"() <{size = 4 : i64, strides = [1 : i64, #visa.auto]}> : () -> !toy.tensor<[4]>"
        )
        .0,
        "never-open"
    );
}

#[test]
fn what_only_looks_like_the_word_is_refused() {
    assert_eq!(refused("%p = toy.place fast %a at automatic").0, "wrong-literal");
    assert_eq!(refused("%p = toy.place fast %a at [auto]").0, "wrong-literal");
    assert_eq!(refused("%p = toy.place fast %a at 0, bases [auto, x]").0, "wrong-literal");
    assert_eq!(refused("%p = toy.place fast %a at 0, bases [auto, ]").0, "wrong-literal");
    assert_eq!(refused("%p = toy.place fast %a at 0 : !visa.autos").0, "unknown-type");
    assert_eq!(refused("%p = toy.place fast %a at 0 : !auto").0, "unknown-type");
    let generic = |value: &str| {
        refused(&format!(
            "%p = \"toy.place\"(%a) <{{at = {value}, how = \"fast\"}}> : (!toy.tensor<[4]>) -> !toy.tensor<[4]>"
        ))
    };
    assert_eq!(generic("#visa.auto<x>").0, "unknown-attribute");
    assert_eq!(generic("#visa.automatic").0, "wrong-literal");
    assert_eq!(generic("\"auto\"").0, "wrong-literal");
    assert_eq!(generic("[#visa.auto]").0, "wrong-literal");
}

#[test]
fn opening_and_closing_leaves_the_module_as_it_was() {
    let ctx = context();
    let before = good(&ctx, &inside("%p = toy.place fast %a at 5, tile [4]\n  %q = toy.place exact %p at 6"));
    let mut module = before.clone();
    open_up(&ctx, &mut module, |_, clause| clause.opening == Opening::Configuration).expect("types follow");
    let wanted = "  %p = toy.place auto %a at 5, tile auto\n  %q = toy.place auto %p at 6\n";
    assert!(print(&ctx, &module, Form::Pretty).contains(wanted));
    let (first, clause) = open::first(&ctx, &module, |_| true).expect("an open clause");
    assert_eq!(clause.name, "how");
    assert!(open::first(&ctx, &module, |opening| opening == Opening::Address).is_none());
    assert!(is_open(module.op(&ctx, first), "tile") && !is_open(module.op(&ctx, first), "at"));
    for id in module.walk_all() {
        let written = before.op(&ctx, id).clauses().to_vec();
        written.into_iter().for_each(|clause| module.set_clause(id, &clause.name, Some(clause.value)));
    }
    visa_ir::infer::infer_all(&ctx, &mut module).expect("types follow");
    assert_eq!(print(&ctx, &module, Form::Generic), print(&ctx, &before, Form::Generic));
}
