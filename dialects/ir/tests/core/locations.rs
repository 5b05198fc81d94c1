//! Locations: reading, printing and fusing them, and all errors in them.

use crate::toy::{TOY, context, good, read};
use std::time::{Duration, Instant};
use visa_ir::context::Context;
use visa_ir::location::{Location, MAX_FUSED, Origins};
use visa_ir::module::{OpId, OpSpec};
use visa_ir::parse::{limits, parse};
use visa_ir::print::{Form, print, print_located};
use visa_ir::span::Source;

/// A function with one operation, `toy.make size 4`, that has this text after it, and this text after the function.
fn with(location: &str, after: &str) -> String {
    format!("toy.func @f() {{\n  %m = toy.make size 4 {location}\n  toy.return %m\n}}\n{after}")
}

/// The text with locations, in one form.
fn located(ctx: &Context, text: &str, form: Form) -> String {
    let source = Source::new("k.visa", text);
    let parsed = parse(ctx, &source, 0..text.len());
    assert_eq!(parsed.diagnostics, [], "{text}");
    print_located(ctx, &parsed.module, form, &source)
}

/// The location that `toy.make` is printed with.
fn of_make(location: &str, after: &str) -> String {
    let printed = located(&context(), &with(location, after), Form::Pretty);
    let line = printed.lines().find(|line| line.contains("toy.make")).unwrap().to_owned();
    line.split_once("size 4 ").unwrap().1.to_owned()
}

/// Fails unless the one finding is this, at this part of the text.
#[track_caller]
fn wrong(text: &str, code: &str, covered: &str, message: &str) {
    let findings = read(&context(), text).1;
    let found: Vec<_> =
        findings.iter().map(|finding| (finding.code.as_str(), &text[finding.span.range()])).collect();
    let shown: String = text.chars().take(400).collect();
    assert_eq!(found, [(code, covered)], "{shown}");
    assert!(findings[0].message.contains(message), "{}: {shown}", findings[0].message);
}

fn op(ctx: &Context, module: &visa_ir::module::Module, name: &str) -> OpId {
    module.walk_all().into_iter().find(|&id| module.op(ctx, id).name() == name).unwrap()
}

#[test]
fn every_kind_is_printed_as_it_is_read() {
    let same = [
        "unknown",
        "\"k\":3:5",
        "\"k\":3:5 to :9",
        "\"k\":3:5 to 4:1",
        "\"fetch\"",
        "\"fetch\"(\"k\":3:5)",
        "callsite(\"exp\" at \"k\":3:5)",
        "fused[\"a\", \"k\":1:2]",
        "\"a \\\"b\\\" \\\\ \u{e9} ) loc( // \\0A\"",
        "callsite(\"f\"(fused[\"a\", \"b\"]) at callsite(\"g\" at unknown))",
    ];
    for text in same {
        let text = format!("loc({text})");
        assert_eq!(of_make(&text, ""), text);
    }
}

#[test]
fn equal_locations_are_written_in_one_way() {
    assert_eq!(of_make("loc( \"k\" : 3 : 5 to 3 : 5 )", ""), "loc(\"k\":3:5)");
    assert_eq!(of_make("loc(\"n\"(unknown))", ""), "loc(\"n\")");
    assert_eq!(of_make("loc(fused[\"a\", unknown, fused[\"b\", \"a\"]])", ""), "loc(fused[\"a\", \"b\"])");
    assert_eq!(of_make("loc(fused[\"a\", \"a\"])", ""), "loc(\"a\")");
    assert_eq!(of_make("loc(fused[])", ""), "loc(unknown)");
    assert_eq!(of_make("loc(fused[ // one\n \"a\",\n \"b\"]) // two", ""), "loc(fused[\"a\", \"b\"])");
}

#[test]
fn without_one_it_is_the_place_in_the_text() {
    assert_eq!(of_make("", ""), "loc(\"k.visa\":2:3)");
    let text = "visa 1\n\ntoy.func @f(%a: !toy.tensor<[4]>,\n  %b: !toy.tensor<[4]> loc(\"b\")) {\n  toy.return \
                %a\n}\n";
    let pretty = "visa 1 loc(\"k.visa\":1:1)\ntoy.func @f(%a: !toy.tensor<[4]> loc(\"k.visa\":3:13), %b: \
                  !toy.tensor<[4]> loc(\"b\")) {\n  toy.return %a loc(\"k.visa\":5:3)\n} loc(\"k.visa\":3:1)\n";
    let ctx = context();
    assert_eq!(located(&ctx, text, Form::Pretty), pretty);
    assert_eq!(located(&ctx, pretty, Form::Pretty), pretty);
    let generic = located(&ctx, text, Form::Generic);
    assert!(
        generic.contains("^bb0(%a: !toy.tensor<[4]> loc(\"k.visa\":3:13), %b: !toy.tensor<[4]> loc(\"b\")):"),
        "{generic}"
    );
    assert!(generic.ends_with(": () -> () loc(\"k.visa\":1:1)\n"), "{generic}");
    assert_eq!(located(&ctx, &generic, Form::Generic), generic);
    assert_eq!(located(&ctx, &generic, Form::Pretty), pretty);
}

#[test]
fn a_location_may_follow_every_kind_of_clause() {
    let lines = [
        "%m = toy.make size 4 LOC",
        "%m = toy.make size 4, volatile LOC",
        "%m = toy.make size 4, volatile\tLOC",
        "%m = toy.make size 4, label \"loc(\" LOC",
        "%m = toy.make size 4, names [\"x loc(\"] LOC",
        "%m = toy.make size 4, callee @loc LOC",
        "%m = toy.make size 4, tile [8, 16] LOC",
        "%m = toy.make size 4 : !toy.tensor<[4]> LOC",
        "%m = \"toy.make\"() <{size = 4 : i64}> : () -> !toy.tensor<[4]> LOC",
        "%s, %c = toy.mix sum %a : !toy.tensor<[1]>, !toy.tensor<[1]> LOC",
        "toy.loop [2] {\n  } LOC",
        "toy.note \"loc(\", at 1 LOC",
        "toy.note \"loc\", at 1 LOC// loc(\"no\")",
    ];
    for line in lines {
        let line = line.replace("LOC", "loc(\"here\":7:7)");
        let text = format!("toy.func @f(%a: !toy.tensor<[4]>) {{\n  {line}\n  toy.return\n}}\n");
        let printed = located(&context(), &text, Form::Pretty);
        assert_eq!(printed.matches(" loc(\"here\":7:7)").count(), 1, "{printed}");
        let ctx = context();
        let plain = print(&ctx, &good(&ctx, &text), Form::Pretty);
        assert!(!plain.contains("here"), "{plain}");
    }
}

#[test]
fn aliases_may_be_before_and_after_their_uses() {
    let defined = "#l1 = loc(\"k\":1:2)\n#l2 = loc(fused[#l1, \"b\"])\n";
    assert_eq!(of_make("loc(#l2)", defined), "loc(fused[\"k\":1:2, \"b\"])");
    assert_eq!(
        of_make("loc(callsite(#l2 at #l1))", defined),
        "loc(callsite(fused[\"k\":1:2, \"b\"] at \"k\":1:2))"
    );
    for form in [Form::Pretty, Form::Generic] {
        let ctx = context();
        let text = format!("#l1 = loc(\"top\")\n{}", print(&ctx, &good(&ctx, &with("", "")), form));
        let text = text.replace("visa 1\n", "");
        let op = ["size 4\n", "-> !toy.tensor<[4]>\n"].into_iter().find(|end| text.contains(end)).unwrap();
        let text = text.replace(op, &format!("{} loc(#l1)\n", op.trim_end()));
        assert!(located(&context(), &text, Form::Pretty).contains("size 4 loc(\"top\")"), "{text}");
    }
}

#[test]
fn what_is_not_a_location() {
    wrong(&with("loc(", ""), "unbalanced", "}", "found `}`, expected `)`");
    wrong("toy.func @f() {\n  toy.return loc(\n", "unbalanced", "(", "never closed");
    wrong(&with("loc(\"k\":x:1)", ""), "syntax", "x", "found `x` in a location, expected a line or column");
    wrong(&with("loc(\"k\":1)", ""), "syntax", ")", "found `)` in a location");
    wrong(&with("loc(\"k\":-1:2)", ""), "syntax", "-", "expected a line or column");
    wrong(&with("loc(\"k\":1.5:2)", ""), "syntax", ".", "found `.`");
    wrong(
        &with("loc(\"k\":4294967296:1)", ""),
        "wrong-literal",
        "4294967296",
        "a number of at most 4294967295",
    );
    wrong(&with("loc(\"k\":1:2 to 4294967296:1)", ""), "wrong-literal", "4294967296", "line or column");
    wrong(&with("loc(\"k\":1:2 to 3)", ""), "syntax", ")", "found `)`");
    wrong(&with("loc()", ""), "syntax", ")", "found `)` in a location, expected");
    wrong(&with("loc(k)", ""), "syntax", "k", "found `k` in a location");
    wrong(&with("loc(\"k)", ""), "unbalanced", "}", "found `}`, expected `)`");
    wrong(&with("loc(\"\\zz\")", ""), "wrong-literal", "\"\\zz\"", "`\\z` is no escape: expected `\\n`");
    wrong(&with("loc(\"\\8\")", ""), "wrong-literal", "\"\\8\"", "`\\8` is no escape");
    wrong(&with("loc(\"\\8g\")", ""), "wrong-literal", "\"\\8g\"", "`\\8g` is no escape");
    wrong(
        &with("loc(\"a\\80\")", ""),
        "wrong-literal",
        "\"a\\80\"",
        "not UTF-8: the escape `\\80` is a byte",
    );
    wrong(&with("loc(\"\\FF\")", ""), "wrong-literal", "\"\\FF\"", "not UTF-8");
    wrong(&with("loc(unknownish)", ""), "syntax", "u", "found `u`");
    wrong(&with("loc(fused[\"a\" \"b\"])", ""), "syntax", "\"", "found `\"`");
    wrong(&with("loc(fused<\"pass\">[\"a\"])", ""), "syntax", "<\"pass\">", "a fused location with metadata");
    wrong(&with("loc(callsite(\"a\"))", ""), "syntax", ")", "found `)`");
    wrong(&with("loc(callsite(\"a\" at ))", ""), "syntax", ")", "found `)`");
    wrong(
        &with("loc(\"a\") loc(\"b\")", ""),
        "syntax",
        "l",
        "after a location, expected the end of the line",
    );
    wrong(
        &with("loc(\"a\"), label \"x\"", ""),
        "syntax",
        ",",
        "after a location, expected the end of the line",
    );
    let early = "toy.func @f() loc(\"a\") {\n  toy.return\n}\n";
    wrong(early, "syntax", "toy.func", "needs a body: expected `{`");
    wrong(&format!("visa 1 loc(x)\n{}", with("", "")), "syntax", "x", "found `x` in a location");
    wrong(
        "toy.func @f(%a: !toy.tensor<[4]> loc(1)) {\n  toy.return\n}\n",
        "syntax",
        "1",
        "found `1` in a location",
    );
}

#[test]
fn what_is_wrong_with_an_alias() {
    wrong(&with("loc(#no)", ""), "undefined-alias", "#no", "location alias `#no` is not defined");
    wrong(&with("loc(#loc3)", "#loc1 = loc(\"a\")\n"), "undefined-alias", "#loc3", "`#loc3` is not defined");
    wrong(&with("", "#a = loc(\"x\"(#a))\n"), "undefined-alias", "#a", "`#a` is not defined");
    wrong(
        &with("", "#a = loc(\"x\")\n#a = loc(\"y\")\n"),
        "redefinition",
        "#a",
        "alias `#a` is defined twice",
    );
    wrong(&with("", "#a = loc(\"x\":y:1)\n"), "syntax", "y", "expected a line or column");
    wrong(&with("loc(#a)", "#a = loc(\"x\":y:1)\n"), "syntax", "y", "expected a line or column");
    wrong(&with("", "#a = affine_map<(d0) -> (d0)>\n"), "syntax", "a", "only locations have aliases");
    wrong(&with("", "#a loc(\"x\")\n"), "syntax", "l", "expected `=`");
    wrong(&with("", "#a = loc(\"x\"\n"), "unbalanced", "(", "never closed");
    wrong("toy.func @f() {\n  #a = loc(\"x\")\n  toy.return\n}\n", "syntax", "#a", "expected an operation");
    // Two aliases of each other: the first names one that is not defined so far, and no use of either is also
    // reported.
    let cycle = with("loc(#a)", "#a = loc(\"x\"(#b))\n#b = loc(\"y\"(#a))\n");
    wrong(&cycle, "undefined-alias", "#b", "`#b` is not defined");
    assert!(read(&context(), &cycle).1[0].notes[0].message.contains("aliases that are defined before it"));
    // One of them however often it is used.
    let uses = "  toy.note \"n\", at 1 loc(#no)\n".repeat(1000);
    wrong(&format!("toy.func @f() {{\n{uses}  toy.return\n}}\n"), "undefined-alias", "#no", "is not defined");
}

#[test]
fn locations_are_bounded() {
    let too_long = format!("a location of more than {} bytes", limits::MAX_LOCATION_BYTES);
    let fits = |length: usize| format!("loc(\"{}\")", "a".repeat(length - "loc(\"\")".len()));
    let longest = fits(limits::MAX_LOCATION_BYTES);
    assert_eq!(of_make(&longest, ""), longest);
    wrong(&with(&fits(limits::MAX_LOCATION_BYTES + 1), ""), "location-too-long", "loc(", &too_long);

    let nested = |depth: usize| format!("loc({}\"a\"{})", "\"n\"(".repeat(depth), ")".repeat(depth));
    assert_eq!(of_make(&nested(limits::MAX_LOCATION_DEPTH), ""), nested(limits::MAX_LOCATION_DEPTH));
    let deep = nested(limits::MAX_LOCATION_DEPTH + 1);
    wrong(&with(&deep, ""), "nesting", &deep, "nest deeper than 64");
    let deep = nested(limits::MAX_NESTING);
    let code = |text: &str| read(&context(), text).1.iter().map(|f| f.code.clone()).collect::<Vec<_>>();
    assert_eq!(code(&with(&deep, "")), ["nesting"]);
    assert_eq!(code(&with(&nested(100_000), "")), ["nesting"]);

    // Through aliases: each is twice as long, or one deeper, than the one before it.
    let doubled = |number| format!("#l{} = loc(callsite(#l{number} at #l{number}))\n", number + 1);
    let aliases = format!("#l0 = loc(\"a\")\n{}", (0..40).map(doubled).collect::<String>());
    assert_eq!(code(&with("loc(#l40)", &aliases)), ["location-too-long"]);
    let deeper = |number| format!("#l{} = loc(\"n\"(#l{number}))\n", number + 1);
    let aliases = format!("#l0 = loc(\"a\")\n{}", (0..100).map(deeper).collect::<String>());
    assert_eq!(code(&with("loc(#l100)", &aliases)), ["nesting"]);
    // Nothing nests in these.
    let renamed = |number| format!("#l{} = loc(#l{number})\n", number + 1);
    let aliases = format!("#l0 = loc(\"a\")\n{}", (0..100_000).map(renamed).collect::<String>());
    assert_eq!(of_make("loc(#l100000)", &aliases), "loc(\"a\")");
}

/// Locations of a million characters are refused where they get too long. A quadratic check would take minutes.
#[test]
fn a_location_of_a_million_characters_is_an_error() {
    let start = Instant::now();
    let million = 1_000_000;
    let texts = [
        format!("loc(\"{}\")", "a".repeat(million)),
        format!("loc(\"{}\":1:1)", "\\22".repeat(million / 3)),
        format!("loc(fused[{}\"a\"])", "\"a\", ".repeat(million / 5)),
        format!("loc(unknown{})", " ".repeat(million)),
        format!("loc({}unknown)", "// )\n".repeat(million / 5)),
        format!("loc(fused{})", "\"(\" ".repeat(million / 4)),
    ];
    for location in &texts {
        wrong(&with(location, ""), "location-too-long", "loc(", "a location of more than");
        wrong(
            &with("", &format!("#a = {location}\n")),
            "location-too-long",
            "loc(",
            "a location of more than",
        );
        wrong(&format!("visa 1 {location}\n{}", with("", "")), "location-too-long", "loc(", "a location");
        let generic = format!(
            "\"toy.func\"() <{{name = @f}}> ({{\n^bb0:\n  \"toy.return\"() : () -> ()\n}}) : () -> () \
             {location}\n"
        );
        wrong(&generic, "location-too-long", "loc(", "a location of more than");
        let argument = format!("toy.func @f(%a: !toy.tensor<[4]> {location}) {{\n  toy.return\n}}\n");
        wrong(&argument, "location-too-long", location, "a location of more than");
    }
    let name = with(&format!("loc({})", "a".repeat(million)), "");
    wrong(&name, "token-too-long", &"a".repeat(limits::MAX_TOKEN_BYTES), "a token of more than");
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

#[test]
fn what_a_pass_makes_comes_from_what_it_was_made_of() {
    let ctx = context();
    let text = "toy.func @f() {\n  %a = toy.make size 4 loc(\"a\")\n  %b = toy.make size 4\n  toy.note \"n\", at \
                1 loc(fused[\"c\", \"a\"])\n  toy.return\n}\n";
    let source = Source::new("k.visa", text);
    let mut module = parse(&ctx, &source, 0..text.len()).module;
    let note = module.op(&ctx, op(&ctx, &module, "toy.note"));
    let decl = TOY.ops[1][0];
    let made: Vec<_> = note.module.ops(note.block())[..3].iter().map(|&id| note.other(id)).collect();
    let specs = [
        OpSpec::at(decl, made[0]),
        OpSpec::at(decl, made[1]),
        OpSpec::at(decl, note).fused(made.iter().copied()),
        OpSpec::new(decl, note.span()),
        OpSpec::at(decl, note).fused([]),
    ];
    let block = note.block();
    let ids: Vec<_> = specs.into_iter().map(|spec| module.append(block, spec)).collect();
    let printed = print_located(&ctx, &module, Form::Pretty, &source);
    let lines: Vec<_> = printed.lines().rev().skip(1).take(ids.len()).collect();
    let locations: Vec<_> = lines.iter().rev().map(|line| line.trim_start_matches("  toy.make ")).collect();
    assert_eq!(
        locations,
        [
            "loc(\"a\")",
            "loc(\"k.visa\":3:3)",
            "loc(fused[\"a\", \"k.visa\":3:3, \"c\"])",
            "loc(\"k.visa\":4:3)",
            "loc(fused[\"c\", \"a\"])",
        ]
    );
}

#[test]
fn fused_locations_are_bounded() {
    let ctx = context();
    let names = |count: usize| -> Vec<_> {
        (0..count).map(|number| ctx.location(Location::Name(number.to_string().into(), None))).collect()
    };
    let parts = |id| match ctx.location_data(id) {
        Location::Fused(parts) => parts.len(),
        other => panic!("{other:?}"),
    };
    assert_eq!(parts(ctx.fuse(names(MAX_FUSED))), MAX_FUSED);
    let many = ctx.fuse(names(MAX_FUSED + 1));
    assert_eq!(parts(many), MAX_FUSED);
    assert_eq!(ctx.fuse([many, many]), many);
    assert_eq!(parts(ctx.fuse(names(100_000).into_iter().rev().chain([many]))), MAX_FUSED);
    // Printed text can be read, however long the file's name is.
    let file: std::rc::Rc<str> = "d/".repeat(2000).into();
    let place = |line| ctx.location(Location::File { file: file.clone(), start: (line, 1), end: (line, 1) });
    let text = with("", "");
    let source = Source::new("k.visa", text.as_str());
    let mut module = parse(&ctx, &source, 0..text.len()).module;
    let make = op(&ctx, &module, "toy.make");
    module.set_location(make, ctx.fuse((1..20).map(place)));
    let printed = print_located(&ctx, &module, Form::Pretty, &source);
    assert!(printed.contains("\":4:1, \"and more\"])"), "{printed}");
    assert_eq!(located(&ctx, &printed, Form::Pretty), printed);
}

#[test]
fn a_finding_names_the_place_that_an_operation_comes_from() {
    let ctx = context();
    let notes = |location: &str, after: &str| {
        let place = format!("%p = toy.place fast %a at 13 {location}");
        let text = format!(
            "toy.func @f(%a: !toy.tensor<[4]>) {{\n  {place}\n  toy.return\n}} loc(\"func\":1:1)\n{after}"
        );
        let (module, mut found) = read(&ctx, &text);
        Origins::of(&ctx, &module).explain(&ctx, &mut found);
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0).notes.into_iter().map(|note| (note.message, note.places.len())).collect::<Vec<_>>()
    };
    let one = |text: &str, places| vec![(format!("the operation comes from {text}"), places)];
    assert_eq!(notes("", ""), []);
    assert_eq!(notes("loc(unknown)", ""), []);
    assert_eq!(notes("loc(\"k.visa\":3:5)", ""), one("k.visa:3:5", 1));
    assert_eq!(notes("loc(#l)", "#l = loc(\"k.visa\":3:5)\n"), one("k.visa:3:5", 1));
    assert_eq!(notes("loc(\"fetch\")", ""), one("\"fetch\"", 0));
    assert_eq!(notes("loc(fused[\"k\":1:2, \"n\"(\"k\":3:4)])", ""), one("k:1:2, k:3:4", 2));
    let many: Vec<_> = (1..20).map(|line| format!("\"k\":{line}:1")).collect();
    let listed = "k:1:1, k:2:1, k:3:1, k:4:1, k:5:1, k:6:1, k:7:1, k:8:1, and more";
    assert_eq!(notes(&format!("loc(fused[{}])", many.join(", ")), ""), one(listed, 8));
    // Text that cannot be read has a location too, which may be an alias of further down.
    for location in ["loc(\"k.visa\":3:5)", "loc(#l) // why"] {
        let text = with("", "#l = loc(\"k.visa\":3:5)\n").replace("size 4", &format!("size four {location}"));
        let found = read(&ctx, &text).1;
        assert_eq!(found.len(), 1, "{found:?}");
        let places: Vec<_> =
            found[0].notes.iter().flat_map(|note| &note.places).map(ToString::to_string).collect();
        assert_eq!(places, ["k.visa:3:5"]);
    }
}
