//! Comments that passes attach to operations: printed before them, and dropped by the reader.

use crate::toy::{context, good};
use visa_ir::module::{Module, OpId, OpSpec};
use visa_ir::print::{Form, print, print_op};

const TEXT: &str = "visa 1\ntoy.func @f() {\n  %m = toy.make size 4\n  toy.return %m\n}\n";

/// The operation of that name.
fn op(ctx: &visa_ir::context::Context, module: &Module, name: &str) -> OpId {
    module.walk_all().into_iter().find(|&id| module.op(ctx, id).name() == name).unwrap()
}

#[test]
fn each_line_is_printed_before_the_operation_in_both_forms() {
    let ctx = context();
    let mut module = good(&ctx, TEXT);
    module.set_comment(op(&ctx, &module, "toy.make"), "\nfour, because\nof the flit");
    let comment = "  // four, because\n  // of the flit\n";
    let pretty = &TEXT.replace("  %m = toy", &format!("\n{comment}  %m = toy"));
    assert_eq!(print(&ctx, &module, Form::Pretty), *pretty);
    let generic = print(&ctx, &module, Form::Generic);
    assert!(
        generic.contains("\n\n    // four, because\n    // of the flit\n    %m = \"toy.make\""),
        "{generic}"
    );
    // The reader drops comments, in both forms.
    for text in [pretty, &generic] {
        assert_eq!(print(&ctx, &good(&ctx, text), Form::Pretty), TEXT);
    }
}

#[test]
fn a_later_comment_replaces_an_earlier_one() {
    let ctx = context();
    let mut module = good(&ctx, TEXT);
    let make = op(&ctx, &module, "toy.make");
    module.set_comment(make, "earlier");
    module.set_comment(make, "later");
    let printed = print(&ctx, &module, Form::Pretty);
    assert!(printed.contains("  // later\n  %m") && !printed.contains("earlier"), "{printed}");
}

#[test]
fn the_first_of_several_replacements_has_the_comment() {
    let ctx = context();
    let mut module = good(&ctx, TEXT);
    let make = op(&ctx, &module, "toy.make");
    module.set_comment(make, "reason");
    for _ in 0..2 {
        let view = module.op(&ctx, make);
        let ty = module.ty(view.results()[0]);
        let clauses = OpSpec::at(view.decl().unwrap(), view).result(ty, Some("other".into()));
        module.insert_before(make, clauses);
    }
    let printed = print(&ctx, &module, Form::Generic);
    assert_eq!(printed.matches("// reason").count(), 1, "{printed}");
    assert!(printed.contains("// reason\n    %other = "), "{printed}");
}

#[test]
fn an_operation_printed_alone_or_erased_has_no_comment() {
    let ctx = context();
    let mut module = good(&ctx, TEXT);
    let end = op(&ctx, &module, "toy.return");
    module.set_comment(end, "reason");
    assert_eq!(print_op(&ctx, &module, end, Form::Pretty), "toy.return %m\n");
    module.erase(end);
    assert!(!print(&ctx, &module, Form::Pretty).contains("reason"));
}
