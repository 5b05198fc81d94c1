//! The declarations in IRDL, and modules in the form that MLIR checks against them.

use crate::mlir::mlir_opt;
use crate::toy::{EVERYTHING, TOY, context, good, read};
use std::path::Path;
use visa_ir::irdl::{emit, registered};

/// The lines of the declaration that starts with `head`.
fn declaration(head: &str) -> Vec<String> {
    let text = emit(&[&TOY]);
    let lines = text.lines().map(str::trim).skip_while(|line| *line != format!("{head} {{")).skip(1);
    lines.take_while(|line| *line != "}").map(str::to_owned).collect()
}

#[test]
fn a_declaration_says_operands_results_and_clauses() {
    assert_eq!(
        declaration("irdl.operation @mix"),
        [
            "%0 = irdl.base @types::@toy::@tensor",
            "%1 = irdl.base @types::@visa::@auto",
            "%2 = irdl.any_of(%0, %1)",
            "%3 = irdl.base @types::@toy::@tensor",
            "%4 = irdl.base @types::@visa::@auto",
            "%5 = irdl.any_of(%3, %4)",
            "irdl.operands(left: %2, right: optional %5)",
            "%6 = irdl.any",
            "%7 = irdl.any",
            "irdl.results(result_sum: %6, result_carry: %7)",
            "%8 = irdl.is \"sum\"",
            "%9 = irdl.is \"max\"",
            "%10 = irdl.any_of(%8, %9)",
            "irdl.attributes { \"how\" = %10 }",
        ]
    );
}

#[test]
fn clauses_may_be_open_or_left_out() {
    let lines = declaration("irdl.operation @place");
    let expected = [
        "%8 = irdl.base \"#builtin.integer\"",
        "%9 = irdl.base @attributes::@visa::@auto",
        "%10 = irdl.any_of(%8, %9)",
        "%11 = irdl.base \"#builtin.dense_array\"",
        "%12 = irdl.base @attributes::@visa::@auto",
        "%13 = irdl.base \"#builtin.array\"",
        "%14 = irdl.base @attributes::@visa::@absent",
        "%15 = irdl.any_of(%11, %12, %13, %14)",
    ];
    assert_eq!(lines[10..18], expected);
    let clauses = "irdl.attributes { \"how\" = %7, \"at\" = %10, \"bases\" = %15, \"tile\" = %19 }";
    assert_eq!(lines.last().expect("clauses"), clauses);
}

#[test]
fn regions_have_one_block_and_only_functions_have_arguments() {
    assert!(declaration("irdl.operation @loop").contains(&"%1 = irdl.region() with size 1".to_owned()));
    assert!(declaration("irdl.operation @func").contains(&"%4 = irdl.region with size 1".to_owned()));
    assert!(!declaration("irdl.operation @note").iter().any(|line| line.contains("region")));
}

#[test]
fn every_means_of_a_declaration_is_registered() {
    let ctx = context();
    let text = registered(&ctx, &good(&ctx, EVERYTHING)).text;
    for part in [
        "^bb0(%a: !toy.tensor<\"[4, 8]\">, %b: !toy.tensor<\"[2]\">):",
        "callee = @main, label = \"a \\\"b\\\", \\\\ [ }\", mode = \"exact\", names = [\"x, y\", \"]\"]",
        "tile = #toy.tile<\"[8, 16]\">, volatile}",
        "mode = #visa.absent",
        "\"toy.mix\"(%a) {how = \"sum\"}",
        "{at = #visa.auto, bases = [0 : i64, #visa.auto, -7 : i64], how = \"fast\", tile = #visa.absent}",
        ": (!toy.tensor<\"[4, 8]\">) -> !visa.auto",
        "{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}",
        "\"toy.return\"() {operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}",
    ] {
        assert!(text.contains(part), "expected\n{part}\nin\n{text}");
    }
    let regions = ["toy.func", "toy.loop"].map(|name| text.matches(&format!("\"{name}\"")).count());
    assert_eq!(
        text.matches("\"ub.unreachable\"() : () -> ()").count(),
        regions.iter().sum::<usize>(),
        "{text}"
    );
}

#[test]
fn a_line_knows_its_operation() {
    let ctx = context();
    let printed = registered(&ctx, &good(&ctx, EVERYTHING));
    let mut operations = 0;
    for (line, place) in printed.text.lines().zip(&printed.places) {
        let name = line.split_once("\"toy.").and_then(|(_, rest)| rest.split_once("\"("));
        let Some((name, _)) = name else { continue };
        let source = &EVERYTHING[place.expect("a place").range()];
        assert!(source.contains(&format!("toy.{name}")), "{line}\nis said to be\n{source}");
        operations += 1;
    }
    assert_eq!(operations, EVERYTHING.matches("toy.").count() - EVERYTHING.matches("!toy.").count());
}

#[test]
fn what_is_not_declared_stays_as_it_is() {
    let mut ctx = context();
    ctx.allow_unregistered = true;
    let text = "\"builtin.module\"() ({\n\"toy.func\"() <{name = @f}> ({\n\
                %0 = \"far.op\"() <{tile = #toy.tile<[2]>, size = 3 : i64}> {far.note = #toy.tile<[3]>} : () -> \
                !far.type<[1]>\n\
                \"toy.return\"() : () -> ()\n}) : () -> ()\n}) {far.tile = #toy.tile<[4]>} : () -> ()\n";
    let text = registered(&ctx, &good(&ctx, text)).text;
    let op = "%0 = \"far.op\"() <{size = 3 : i64, tile = #toy.tile<\"[2]\">}> {far.note = #toy.tile<\"[3]\">} : \
              () -> !far.type<[1]>";
    assert!(text.contains(op), "{text}");
    assert!(text.contains("{visa.version = 1 : i64, far.tile = #toy.tile<\"[4]\">}"), "{text}");
}

/// The strings that stand for bodies are none of ours, also after they were printed.
#[test]
fn the_registered_form_is_not_read_back() {
    let ctx = context();
    let text = registered(&ctx, &good(&ctx, EVERYTHING)).text;
    for wrong in ["!toy.tensor<\"[4, 8]\">", "#toy.tile<\"[8, 16]\">"] {
        assert!(text.contains(wrong), "{text}");
    }
    let (_, findings) = read(&ctx, "toy.func @f(%a: !toy.tensor<\"[4, 8]\">) {\n  toy.return\n}\n");
    assert!(findings.iter().any(|finding| finding.code == "size"), "{findings:?}");
    let (_, findings) = read(
        &ctx,
        "\"toy.make\"() <{size = 3 : i64, tile = #toy.tile<\"[8, 16]\">}> : () -> !toy.tensor<[3]>",
    );
    assert!(findings.iter().any(|finding| finding.code == "size"), "{findings:?}");
}

#[test]
fn mlir_opt_checks_every_means_of_a_declaration() {
    let ctx = context();
    let text = registered(&ctx, &good(&ctx, EVERYTHING)).text;
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("toy.irdl.mlir");
    std::fs::write(&file, emit(&[&TOY])).expect("a file");
    let run = |text: &str| mlir_opt(text, &format!("--irdl-file={}", file.display()));
    let Some(taken) = run(&text) else { return };
    assert!(taken.is_ok(), "{taken:?}\n{text}");
    for (from, to) in [
        ("\"toy.make\"", "\"toy.fake\""),
        ("mode = \"exact\"", "mode = \"rough\""),
        ("callee = @main", "callee = \"main\""),
        ("strides = array<i64: 1, -2, 3>", "strides = [1, -2, 3]"),
        ("names = [\"x, y\", \"]\"]", "names = \"x, y\""),
        ("volatile", "volatile = 1 : i64"),
        ("tile = #toy.tile<\"[8, 16]\">", "tile = \"[8, 16]\""),
        ("label = \"a", "labels = \"a"),
        ("chips = 2 : i64", "chips = #visa.auto"),
        ("(%a, %b) {how", "() {how"),
        ("bases = [0 : i64, #visa.auto, -7 : i64]", "bases = 0 : i64"),
        ("array<i32: 1, 1, 1, 1, 0", "array<i32: 1, 1, 1, 0, 0"),
    ] {
        assert!(text.contains(from), "`{from}` is not in\n{text}");
        let said = run(&text.replacen(from, to, 1));
        assert!(matches!(said, Some(Err(_))), "`{from}` -> `{to}`: {said:?}");
    }
}
