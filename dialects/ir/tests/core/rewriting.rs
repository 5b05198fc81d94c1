//! Changing a module: use lists, insertion, erasure.

use crate::toy::{Make, Mix, Mixing, context, good};
use visa_ir::module::{Module, OpId};
use visa_ir::print::{Form, print};

const TEXT: &str = "visa 1\ntoy.func @f(%a: !toy.tensor<[4]>) {\n  %m = toy.make size 4\n  %s, %c = toy.mix sum \
                    %m, %m : !toy.tensor<[4]>, !toy.tensor<[4]>\n  toy.return %m, %s\n}\n";

fn op(ctx: &visa_ir::context::Context, module: &Module, name: &str) -> OpId {
    module.walk_all().into_iter().find(|&id| module.op(ctx, id).name() == name).unwrap()
}

#[test]
fn uses_are_counted_once_a_use() {
    let ctx = context();
    let module = good(&ctx, TEXT);
    let (make, mix, end) =
        (op(&ctx, &module, "toy.make"), op(&ctx, &module, "toy.mix"), op(&ctx, &module, "toy.return"));
    let made = module.op(&ctx, make).results()[0];
    assert_eq!(module.uses(made), [mix, mix, end]);
    assert_eq!(module.uses(module.op(&ctx, mix).results()[1]), []);
}

#[test]
fn replacing_and_erasing() {
    let ctx = context();
    let mut module = good(&ctx, TEXT);
    let (make, mix) = (op(&ctx, &module, "toy.make"), op(&ctx, &module, "toy.mix"));
    let made = module.op(&ctx, make).results()[0];
    let argument = module.args(module.op(&ctx, make).block())[0];
    module.replace_uses(module.op(&ctx, mix).results()[0], argument);
    module.erase(mix);
    assert_eq!(module.uses(made).len(), 1);
    module.replace_uses(made, argument);
    module.erase(make);
    let wanted = "visa 1\ntoy.func @f(%a: !toy.tensor<[4]>) {\n  toy.return %a, %a\n}\n";
    assert_eq!(print(&ctx, &module, Form::Pretty), wanted);
    good(&ctx, wanted);
}

#[test]
fn inserting_before_and_renaming_on_print() {
    let ctx = context();
    let mut module = good(&ctx, TEXT);
    let mix = op(&ctx, &module, "toy.mix");
    let make = module.op(&ctx, op(&ctx, &module, "toy.make"));
    let ty = module.ty(make.results()[0]);
    let spec = Make::build_at(&ctx, make.span()).size(4).result(ty, Some("m".into())).spec();
    module.insert_before(mix, spec);
    let printed = print(&ctx, &module, Form::Pretty);
    assert!(
        printed.contains("  %m = toy.make size 4\n  %m_1 = toy.make size 4\n  %s, %c = toy.mix"),
        "{printed}"
    );
    good(&ctx, &printed);
}

#[test]
fn a_use_before_its_definition_is_found() {
    let ctx = context();
    let mut module = good(&ctx, TEXT);
    let (make, mix) = (op(&ctx, &module, "toy.make"), op(&ctx, &module, "toy.mix"));
    let carry = module.op(&ctx, mix).results()[1];
    let again = Mix::build(module.op(&ctx, mix), [carry]).how(Mixing::Sum);
    let spec = again.result(module.ty(carry), None).result(module.ty(carry), None).spec();
    module.insert_before(make, spec);
    let found = visa_ir::verify::verify(&ctx, &module);
    assert_eq!(found.iter().map(|finding| finding.code.as_str()).collect::<Vec<_>>(), ["dominance"]);
}
