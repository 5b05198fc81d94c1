//! Everything that can be wrong with a text: its code, the text that its span covers, and the fix.

use crate::toy::{context, read};
use visa_ir::diag::Diagnostic;
use visa_ir::parse::limits;

/// The findings in `text`: code, covered text and fix of each.
fn found(text: &str) -> Vec<(String, String, Option<String>)> {
    let findings = read(&context(), text).1;
    let covered = |finding: &Diagnostic| text[finding.span.range()].to_owned();
    findings.iter().map(|finding| (finding.code.clone(), covered(finding), finding.fix.clone())).collect()
}

/// Fails unless exactly one finding is made, with this code, covered text and fix.
#[track_caller]
fn one(text: &str, code: &str, covered: &str, fix: Option<&str>) {
    assert_eq!(found(text), [(code.to_owned(), covered.to_owned(), fix.map(str::to_owned))], "{text}");
}

/// The statement inside a function.
#[track_caller]
fn inside(statement: &str, code: &str, covered: &str, fix: Option<&str>) {
    one(
        &format!("toy.func @f(%a: !toy.tensor<[4]>) {{\n  {statement}\n  toy.return\n}}\n"),
        code,
        covered,
        fix,
    );
}

#[test]
fn unbalanced_brackets() {
    one("toy.func @f() {\n  toy.loop [2 {\n  }\n}\n", "unbalanced", "}", None);
    one("toy.func @f() {\n  toy.return\n", "unbalanced", "{", None);
    one("toy.func @f() {\n  toy.return\n}\n}\n", "unbalanced", "}", None);
    one("toy.func @f(%a: !toy.tensor<[4]) {\n  toy.return\n}\n", "unbalanced", ")", None);
}

/// A string is refused at the position of its error, in a clause as in a location.
#[test]
fn escapes() {
    for (escape, part) in [
        ("\\80", "not UTF-8: the escape `\\80` is a byte that belongs to no character"),
        ("\\C3(", "the escape `\\C3` is a byte"),
        (
            "\\q",
            "`\\q` is no escape: expected `\\n`, `\\t`, `\\\"`, `\\\\`, or two hexadecimal digits of a byte",
        ),
        ("\\8", "`\\8` is no escape"),
        ("\\x41", "`\\x` is no escape"),
        ("\\é", "`\\é` is no escape"),
    ] {
        for statement in
            [format!("toy.note \"{escape}\", at 1"), format!("%m = toy.make size 4, names [\"{escape}\"]")]
        {
            let text = format!("toy.func @f(%a: !toy.tensor<[4]>) {{\n  {statement}\n  toy.return\n}}\n");
            let findings = read(&context(), &text).1;
            let [finding] = findings.as_slice() else { panic!("{text}: {findings:?}") };
            assert!(finding.code == "wrong-literal" && finding.message.contains(part), "{finding:?}");
            assert!(text[finding.span.range()].contains(escape));
        }
    }
    let (_, findings) =
        read(&context(), "toy.func @f() {\n  toy.note \"\\C3\\A9\\n\", at 1\n  toy.return\n}\n");
    assert!(findings.is_empty(), "{findings:?}");
}

#[test]
fn unknown_names() {
    inside("%m = toy.mak size 4", "unknown-op", "toy.mak", Some("did you mean `toy.make`?"));
    inside("%m = toi.make size 4", "unknown-dialect", "toi", Some("did you mean `toy`?"));
    inside("%m = quux.make size 4", "unknown-dialect", "quux", None);
    inside("%m = toy.make size 4, mod fast", "unknown-clause", "mod", Some("did you mean `mode`?"));
    inside("toy.note \"x\", at 1, zzzzzzzz 2", "unknown-clause", "zzzzzzzz", None);
    inside(
        "%s, %c = toy.mix sum %a : !toy.tensr<[1]>, !toy.tensor<[1]>",
        "unknown-type",
        "!toy.tensr<[1]>",
        Some("did you mean `!toy.tensor`?"),
    );
    inside(
        "%s, %c = toy.mix sum %b : !toy.tensor<[1]>, !toy.tensor<[1]>",
        "undefined-value",
        "%b",
        Some("did you mean `%a`?"),
    );
    inside("%m = \"toy.mak\"() : () -> ()", "unknown-op", "toy.mak", Some("did you mean `toy.make`?"));
}

#[test]
fn clauses_missing_or_twice() {
    inside("%m = toy.make mode fast", "missing-clause", "toy.make", None);
    inside("toy.note at 1", "missing-clause", "toy.note", None);
    inside("%m = toy.make size 4, size 5", "duplicate-clause", "size 5", None);
    inside(
        "%m = \"toy.make\"() <{mode = \"fast\"}> : () -> !toy.tensor<[4]>",
        "missing-clause",
        "toy.make",
        None,
    );
    inside(
        "%m = \"toy.make\"() <{size = 4 : i64, size = 4 : i64}> : () -> !toy.tensor<[4]>",
        "duplicate-clause",
        "4 : i64",
        None,
    );
}

#[test]
fn wrong_literals() {
    inside("%m = toy.make size four", "wrong-literal", "four", None);
    inside("%m = toy.make size", "wrong-literal", "size", None);
    inside("%m = toy.make size 4, label x", "wrong-literal", "x", None);
    inside("%m = toy.make size 4, mode fat", "wrong-literal", "fat", Some("did you mean `fast`?"));
    inside("%m = toy.make size 4, callee main", "wrong-literal", "main", None);
    inside("%m = toy.make size 4, strides [1, x]", "wrong-literal", "[1, x]", None);
    inside("%m = toy.make size 4, strides 1", "wrong-literal", "1", None);
    inside("%m = toy.make size 4, names [x]", "wrong-literal", "[x]", None);
    inside("%m = toy.make size 4, volatile 1", "wrong-literal", "1", None);
    inside("%m = toy.make size 4, tile [8, x]", "size", "x", Some("write a number"));
    inside("%m = \"toy.make\"() <{size = \"4\"}> : () -> !toy.tensor<[4]>", "wrong-literal", "\"4\"", None);
}

/// A string with an error is not read as an empty one, nor left out of its list.
#[test]
fn a_string_with_a_wrong_escape_is_refused() {
    let make = |clauses: &str| {
        format!("%m = \"toy.make\"() <{{size = 4 : i64, {clauses}}}> : () -> !toy.tensor<[4]>")
    };
    for wrong in [r#""\zz""#, r#""\FF""#, r#""\4""#] {
        inside(&make(&format!("mode = {wrong}")), "wrong-literal", wrong, None);
        inside(&make(&format!("names = [\"a\", {wrong}]")), "wrong-literal", wrong, None);
        inside(&make(&format!("{wrong} = 4 : i64")), "wrong-literal", wrong, None);
        inside(&format!("{wrong}() : () -> ()"), "wrong-literal", wrong, None);
        inside(
            &format!("%m = toy.make size 4, names [{wrong}]"),
            "wrong-literal",
            &format!("[{wrong}]"),
            None,
        );
    }
    let ctx = context();
    crate::toy::good(
        &ctx,
        &format!("toy.func @f() {{\n  {}\n  toy.return\n}}\n", make(r#"names = ["\41", ""]"#)),
    );
}

#[test]
fn integers_are_signed_64_bit() {
    let size = |text: &str| format!("%m = toy.make size {text}");
    inside(&size("9223372036854775808"), "wrong-literal", "9223372036854775808", None);
    inside(&size("-9223372036854775809"), "wrong-literal", "-9223372036854775809", None);
    inside(&size("0x8000000000000000"), "wrong-literal", "0x8000000000000000", None);
    inside(
        "%m = toy.make size 4, strides [9223372036854775808]",
        "wrong-literal",
        "[9223372036854775808]",
        None,
    );
    let ctx = context();
    for text in ["9223372036854775807", "-9223372036854775808", "0x7fffffffffffffff"] {
        crate::toy::good(&ctx, &format!("toy.func @f() {{\n  {}\n  toy.return\n}}\n", size(text)));
    }
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| {
        let (open, close) = ("toy.loop [] {\n".repeat(depth), "}\n".repeat(depth));
        format!("toy.func @f() {{\n{open}{close}toy.return\n}}\n")
    };
    // The function's brace is one level, and each loop's `[]` opens one more inside.
    crate::toy::good(&context(), &nested(limits::MAX_NESTING - 2));
    one(&nested(limits::MAX_NESTING), "nesting", "[", None);
    one(&nested(10_000), "nesting", "[", None);
    one(&format!("{}{}", "[".repeat(10_000), "]".repeat(10_000)), "nesting", "[", None);
}

#[test]
fn bytes_that_are_no_text() {
    assert_eq!(found(""), [("empty".into(), String::new(), None)]);
    assert_eq!(found(" \n"), [("empty".into(), String::new(), None)]);
    let refused = |bytes: &[u8]| limits::decode(bytes.to_vec()).unwrap_err();
    assert!(refused(b"toy.func @f\0").message.contains("NUL byte at offset 11"));
    assert!(refused(b"\x7fELF\x02\x01\x01\0").message.contains("not a text file"));
    assert!(refused(b"toy \xff\xfe").message.contains("not UTF-8 (offset 4)"));
}

#[test]
fn versions() {
    one("visa 2\ntoy.func @f() {\n  toy.return\n}\n", "version", "2", None);
    one("visa 0\ntoy.func @f() {\n  toy.return\n}\n", "version", "0", None);
    one("visa x\ntoy.func @f() {\n  toy.return\n}\n", "syntax", "x", None);
    one("visa 99999999999999999999\n", "version", "99999999999999999999", None);
    one("\"builtin.module\"() ({\n}) {visa.version = 2 : i64} : () -> ()\n", "version", "2 : i64", None);
}

#[test]
fn words_where_they_do_not_belong() {
    inside("toy.loop 2 {\n  }", "wrong-literal", "2", None);
    inside("toy.loop [2]", "syntax", "toy.loop", None);
    inside("%m = toy.make size 4 {\n  }", "syntax", "{", None);
    inside("%m = toy.make size 4 %a", "wrong-literal", "4 %a", None);
    inside("%x = toy.loop [2] {\n  }", "results", "%x", None);
    inside(
        "%m = toy.make size 4 : !toy.tensor<[5]>",
        "result-types",
        "!toy.tensor<[5]>",
        Some("write `!toy.tensor<[4]>`, or leave the type out"),
    );
    inside("%m = toy.make size 4\n  %m = toy.make size 4", "redefinition", "%m", None);
    inside("?", "syntax", "?", None);
    one("toy.func @f {\n  toy.return\n}\n", "syntax", "toy.func", None);
}

#[test]
fn structure() {
    inside("toy.return", "structure", "toy.return", None);
    one("toy.func @f() {\n}\n", "structure", "toy.func @f()", None);
    one("toy.return\n", "structure", "toy.return", None);
    inside("toy.loop [1] {\n  toy.return\n  }", "structure", "toy.return", None);
    one(
        "toy.func @f() {\n  toy.return\n}\ntoy.func @f() {\n  toy.return\n}\n",
        "duplicate-symbol",
        "@f",
        None,
    );
    inside(
        "%s, %c = toy.mix sum : !toy.tensor<[1]>, !toy.tensor<[1]>",
        "operands",
        "%s, %c = toy.mix sum : !toy.tensor<[1]>, !toy.tensor<[1]>",
        None,
    );
}

#[test]
fn the_version_of_a_generic_module_is_an_integer() {
    let module = |version| format!("\"builtin.module\"() ({{\n}}) {{visa.version = {version}}} : () -> ()\n");
    assert_eq!(found(&module("1 : i64")), []);
    for version in ["1 : i32", "\"1\"", "unit"] {
        one(&module(version), "version", version, None);
    }
}

#[test]
fn argument_names_are_value_names() {
    for name in ["", "#a", "a b", "%a", "ä"] {
        let names = format!("[\"{name}\"]");
        let text = format!("\"toy.func\"() <{{arg_names = {names}, name = @f}}> ({{\n}}) : () -> ()\n");
        one(&text, "wrong-literal", &names, None);
    }
}

#[test]
fn several_errors_in_one_run() {
    let text = "toy.func @f() {\n  %a = toy.mak size 1\n  %b = toy.make siz 1\n  toy.loop [1] {\n    %c = \
                toy.make size x\n  }\n  toy.return %d\n}\ntoy.fun @g() {\n  toy.note\n}\ntoy.func @h() {\n  \
                toy.return %e\n}\n";
    let codes: Vec<_> =
        found(text).into_iter().map(|(code, covered, _)| format!("{code} {covered}")).collect();
    let wanted = [
        "unknown-op toy.mak",
        "unknown-clause siz",
        "wrong-literal x",
        "undefined-value %d",
        "unknown-op toy.fun",
        "undefined-value %e",
    ];
    assert_eq!(codes, wanted);
}

/// A faulty operation's results are known to be missing: only names that nothing defines are reported.
#[test]
fn what_follows_from_an_error_is_not_reported() {
    let text =
        "toy.func @f() {\n  %a = toy.mak size 1\n  toy.return %a\n}\ntoy.func @g() {\n  toy.return %b\n}\n";
    let codes: Vec<_> =
        found(text).into_iter().map(|(code, covered, _)| format!("{code} {covered}")).collect();
    assert_eq!(codes, ["unknown-op toy.mak", "undefined-value %b"]);
}

#[test]
fn errors_are_bounded() {
    let text = "toy.mak\n".repeat(limits::MAX_ERRORS + 50);
    assert_eq!(found(&text).len(), limits::MAX_ERRORS);
}
