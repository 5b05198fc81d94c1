//! Diagnostics: as text, as JSON, and held against expectations.

use super::toy::run;

const TWO_ERRORS: &str = "toy.func @f() {\n  %a = toy.const valu 1\n  toy.return %b\n}\n";

#[test]
fn text_shows_the_source_and_the_fix() {
    run(&[], TWO_ERRORS).refused(&[
        "error[unknown-clause]: `toy.const` has no clause `valu`",
        "<stdin>:2:18",
        "2 |   %a = toy.const valu 1",
        "                  ^^^^",
        "fix: did you mean `value`?",
        "error[undefined-value]: `%b` is not defined here",
        "<stdin>:3:14",
    ]);
}

#[test]
fn json_is_an_object_a_line() {
    let ran = run(&["--diagnostics=json"], TWO_ERRORS);
    let lines: Vec<serde_json::Value> =
        ran.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((ran.code, lines.len()), (1, 2));
    let first = &lines[0];
    assert_eq!(first["severity"], "error");
    assert_eq!(first["code"], "unknown-clause");
    assert_eq!(first["message"], "`toy.const` has no clause `valu`; it has `value`");
    assert_eq!(first["file"], "<stdin>");
    assert_eq!((&first["line"], &first["column"]), (&2.into(), &18.into()));
    assert_eq!((&first["end_line"], &first["end_column"]), (&2.into(), &22.into()));
    assert_eq!(first["fix"], "did you mean `value`?");
    assert_eq!(lines[1]["code"], "undefined-value");
}

#[test]
fn json_for_what_is_about_no_text() {
    let ran = run(&["--diagnostics=json", "missing.visa"], "");
    let line: serde_json::Value = serde_json::from_str(ran.err.trim_end()).unwrap();
    assert_eq!((ran.code, &line["code"]), (1, &"cannot-read".into()));
    assert!(line.get("line").is_none());
    run(&["--diagnostics=json", "--pass-pipeline=dec"], "").refused(&[]);
}

fn expect(input: &str) -> super::toy::Ran {
    run(&["--verify-diagnostics", "--split-input-file"], input)
}

#[test]
fn expectations_that_are_met() {
    let at = |place: &str, before: &str, after: &str| {
        format!("toy.func @f() {{\n{before}  %a = toy.const valu 1 {after}\n  toy.return\n}}\n// {place}\n")
    };
    let error = "{{no clause `valu`}}";
    expect(&at("", &format!("// expected-error@+1 {error}\n"), "")).quiet();
    expect(&at("", &format!("// expected-error@below {error}\n"), "")).quiet();
    expect(&at("", "", &format!("// expected-error {error}"))).quiet();
    expect(&at(&format!("expected-error @-3 {error}"), "", "")).quiet();
    expect(&at(
        "",
        &format!("// expected-error@+2 {error}\n// expected-note@below {{{{fix: did you mean}}}}\n"),
        "",
    ))
    .quiet();
    expect(
        "toy.func @f() {\n  toy.const value 13 // expected-error {{toy.const-C1}} expected-note {{is not 13}}\n  \
         toy.return\n}\n",
    )
    .quiet();
}

#[test]
fn expectations_hold_part_by_part() {
    let part = "toy.ad\n// expected-error@above {{unknown operation `toy.ad`}}\n";
    expect(&format!("{part}// -----\n{part}")).quiet();
}

#[test]
fn warnings_and_remarks_are_expected_too() {
    let input = |kind: &str| {
        format!(
            "toy.func @f() {{\n  %a = toy.const value 1 // expected-{kind} {{{{hello}}}}\n  toy.return %a\n}}\n"
        )
    };
    let args = ["--verify-diagnostics", "--pass-pipeline=set{note=hello}"];
    assert_eq!(run(&args, &input("remark")).code, 0);
    run(&args, &input("warning")).refused(&["unexpected remark: hello", "expected warning `hello`"]);
}

#[test]
fn expectations_that_are_not_met() {
    expect("toy.ad\n").refused(&["error[unknown-op]: unexpected error: unknown operation `toy.ad`"]);
    let fine = "toy.func @f() {\n  toy.return\n}\n";
    let not_found = "error[expectation]: expected error `x` on line 4 was not found";
    expect(&format!("{fine}// expected-error {{{{x}}}}\n")).refused(&[not_found, "<stdin>:4:4"]);
    expect("// expected-error@+1 {{another text}}\ntoy.ad\n")
        .refused(&["`another text`", "unexpected error"]);
    expect("// expected-error {{toy.ad}}\ntoy.ad\n")
        .refused(&["on line 1 was not found", "unexpected error"]);
    expect("// expected-error@+1 {{toy.ad}} expected-error@+1 {{toy.ad}}\ntoy.ad\n")
        .refused(&["was not found"]);
}

#[test]
fn malformed_expectations_are_errors() {
    for bad in [
        "expected-eror {{x}}",
        "expected-error x",
        "expected-error@x {{x}}",
        "expected-error@-9 {{x}}",
        "expected-error {{x",
    ] {
        expect(&format!("toy.func @f() {{\n  toy.return\n}}\n// {bad}\n"))
            .refused(&["error[expectation]", "is written"]);
    }
}
