//! Operations from their builders: each setter writes the clause that the accessor of the same name reads.

use crate::toy::{Make, MakeBuilder, Mode, Place, Sizes, context, good};
use std::rc::Rc;
use visa_ir::build::NewOp;
use visa_ir::context::{Attr, Context};
use visa_ir::module::Module;
use visa_ir::print::{Form, print};
use visa_ir::span::Span;

/// Its operations: the function, `make`, `place`, the return.
const TEXT: &str = "visa 1\ntoy.func @main() {\n  %m = toy.make size 7\n  %p = toy.place fast %m at auto\n  \
                    toy.return\n}\n";
const MAKE: usize = 1;
const PLACE: usize = 2;

/// The text of a `toy.make` whose clauses `set` sets.
fn made(set: impl FnOnce(MakeBuilder<'_>) -> MakeBuilder<'_>) -> String {
    let ctx = context();
    let mut module = good(&ctx, TEXT);
    let ops = module.walk_all();
    let spec = set(Make::build_at(&ctx, Span::default())).spec();
    let ty = module.ty(module.op(&ctx, ops[MAKE]).results()[0]);
    module.insert_before(ops[MAKE], spec.result(ty, Some("n".into())));
    inserted(&ctx, &module, "  %n = ")
}

/// The line of the module that starts with `start`, without that start.
fn inserted(ctx: &Context, module: &Module, start: &str) -> String {
    let printed = print(ctx, module, Form::Pretty);
    good(ctx, &printed);
    let line = printed.lines().find_map(|line| line.strip_prefix(start));
    line.expect("the operation is printed").to_owned()
}

#[test]
fn every_kind_of_clause_is_set() {
    let text = made(|make| {
        make.size(4)
            .label(Some("a"))
            .mode(Mode::Exact)
            .callee(Some("main"))
            .strides(Some(vec![1, -2]))
            .names(Some(vec!["x".into()]))
            .volatile(true)
            .tile(Some(Sizes(vec![8])))
    });
    let clauses = "label \"a\", mode exact, callee @main, strides [1, -2], names [\"x\"], volatile, tile [8]";
    assert_eq!(text, format!("toy.make size 4, {clauses}"));
}

#[test]
fn absent_clauses_are_not_set() {
    let text = made(|make| {
        make.size(4).label(None::<&str>).strides(None::<Vec<i64>>).volatile(false).tile(None::<Rc<Sizes>>)
    });
    assert_eq!(text, "toy.make size 4");
}

#[test]
fn a_default_is_set_unless_the_caller_omits_it() {
    assert_eq!(made(|make| make.size(4).mode(Mode::Fast)), "toy.make size 4, mode fast");
    assert_eq!(made(|make| make.size(4).mode_unless_default(Mode::Fast)), "toy.make size 4");
    assert_eq!(made(|make| make.size(4).mode_unless_default(Mode::Exact)), "toy.make size 4, mode exact");
}

#[test]
fn the_last_value_of_a_clause_counts() {
    assert_eq!(made(|make| make.size(4).size(5)), "toy.make size 5");
}

#[test]
fn operands_results_and_open_clauses_are_set() {
    let ctx = context();
    let mut module = good(&ctx, TEXT);
    let ops = module.walk_all();
    let place = module.op(&ctx, ops[PLACE]);
    let (source, ty) = (place.operands()[0], place.value(place.results()[0]).ty());
    let again = Place::build(place, [source]).how_auto().at_auto().bases(Some(vec![0])).tile_auto();
    let spec = again.result(ty, Some("q".into())).spec();
    assert_eq!(spec.span(), place.span(), "an operation has the span of the one that it replaces");
    module.insert_before(ops[PLACE], spec);
    assert_eq!(inserted(&ctx, &module, "  %q = "), "toy.place auto %m at auto, bases [0], tile auto");
}

#[test]
fn a_copy_has_the_clauses_and_not_the_values() {
    let ctx = context();
    let mut module = good(&ctx, TEXT);
    let ops = module.walk_all();
    let place = module.op(&ctx, ops[PLACE]);
    let ty = place.value(place.results()[0]).ty();
    let copy = NewOp::copied(place).operands(place.operands().iter().copied());
    let copy = copy.attr("at", Attr::Int(3)).result(ty, Some("q".into()));
    module.insert_before(ops[PLACE], copy.spec());
    assert_eq!(inserted(&ctx, &module, "  %q = "), "toy.place fast %m at 3");
}
