//! Mistakes that MLIR refuses because of the declarations.

use crate::mlir_opt::mlir_opt;
use crate::{gemv, messages, mlir};

/// A mistake: a text and its replacement, and a part of MLIR's message.
struct Mistake(&'static str, &'static str, &'static str);

/// Mistakes in tm and stream.
const IN_STREAM: &[Mistake] = &[
    // Names.
    Mistake(r#""stream.fetch""#, r#""stream.fetsh""#, "unregistered operation 'stream.fetsh'"),
    Mistake(r#""stream.fetch""#, r#""streem.fetch""#, "operation being parsed with an unregistered dialect"),
    Mistake("#tm.map<", "#tm.mapp<", "expected"),
    Mistake("!stream.collect<", "!stream.kollect<", "expected"),
    // Clauses that are missing.
    Mistake(r#"packet = #tm.map<"[J]">, "#, "", r#"attribute "packet" is expected but not provided"#),
    Mistake(r#"context = "sub""#, "", r#"attribute "context" is expected but not provided"#),
    Mistake("dtype = #visa.absent, ", "", r#"attribute "dtype" is expected but not provided"#),
    Mistake("at = 8192 : i64, ", "", r#"attribute "at" is expected but not provided"#),
    // Clauses of a wrong kind.
    Mistake(r#"packet = #tm.map<"[J]">"#, "packet = 3 : i64", "does not satisfy the constraint"),
    Mistake(r#"packet = #tm.map<"[J]">"#, r#"packet = "[J]""#, "does not satisfy the constraint"),
    Mistake(r#"packet = #tm.map<"[J]">"#, r#"packet = #tm.dtype<"i8">"#, "does not satisfy the constraint"),
    Mistake(r#"packet = #tm.map<"[J]">"#, "packet = #visa.absent", "does not satisfy the constraint"),
    Mistake("at = 8192 : i64", r#"at = "8192""#, "does not satisfy the constraint"),
    Mistake("at = 8192 : i64", "at = #visa.absent", "does not satisfy the constraint"),
    Mistake("chips = 1 : i64", "chips = array<i64: 1>", "does not satisfy the constraint"),
    Mistake(
        "name = @gemv",
        r#"name = "gemv""#,
        "expected base attribute 'builtin.symbol_ref' but got 'builtin.string'",
    ),
    Mistake("at = array<i64: 0, 268435456>", "at = 0 : i64", "does not satisfy the constraint"),
    Mistake("dtype = #visa.absent", "dtype = 4 : i64", "does not satisfy the constraint"),
    Mistake("dtype = #visa.absent", "dtype = #visa.auto", "does not satisfy the constraint"),
    // Values that are none of those declared.
    Mistake(r#"context = "sub""#, r#"context = "sup""#, "does not satisfy the constraint"),
    Mistake(r#"mode = "interleaved""#, r#"mode = "interlaced""#, "does not satisfy the constraint"),
    Mistake(r#"#tm.dtype<"bf16">"#, r#"#tm.dtype<"bf17">"#, "does not satisfy the constraint"),
    Mistake(r#"!tm.hbm<"bf16""#, r#"!tm.hbm<"bf17""#, "does not satisfy the constraint"),
    // Types and attributes of a wrong shape.
    Mistake(
        r#"!tm.hbm<"bf16", "[1]", "[I, J]">"#,
        r#"!tm.hbm<"bf16", "[I, J]">"#,
        "expected 3 type arguments, but had 2",
    ),
    Mistake(
        r#"!tm.hbm<"bf16", "[1]", "[I, J]">"#,
        r#"!tm.hbm<"bf16", "[1]", 4>"#,
        "expected base attribute 'builtin.string' but got 'builtin.integer'",
    ),
    Mistake(
        r#"#tm.map<"[J]">"#,
        "#tm.map<4>",
        "expected base attribute 'builtin.string' but got 'builtin.integer'",
    ),
    Mistake(r#"#tm.map<"[J]">"#, "#tm.map", "expected 1 type arguments, but had 0"),
    Mistake(r#"#tm.map<"[J]">"#, r#"#tm.map<"[J]", "[J]">"#, "expected 1 type arguments, but had 2"),
    Mistake(r#"#tm.map<"[J]">"#, "#tm.map<[J]>", "expected attribute value"),
];

/// Mistakes in operands, results and regions: an operation put in front of the first one inside the kernel.
const OPERATIONS: &[(&str, &str)] = &[
    (
        r#"%x = "tm.to_dm"() {at = 0 : i64, cluster = #tm.map<"[1]">, element = #tm.map<"[J]">, slice = #tm.map<"[I]">} : () -> !visa.auto"#,
        "op expects exactly 1 operands, but got 0",
    ),
    (
        r#""tm.return"() {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : () -> ()"#,
        "must be equal to the number of operands",
    ),
    (r#""tm.return"() : () -> ()"#, "'operandSegmentSizes' attribute is expected but not provided"),
    (
        r#"%x = "tm.axes"() {sizes = #tm.sizes<"[K = 2]">} : () -> !visa.auto"#,
        "op expects exactly 0 results, but got 1",
    ),
    (
        r#"%x:2 = "stream.begin"(%matrix) {context = "sub"} : (!tm.hbm<"bf16", "[1]", "[I, J]">) -> (!visa.auto, !visa.auto)"#,
        "op expects exactly 1 results, but got 2",
    ),
    (
        r#"%x = "stream.begin"(%matrix, %matrix) {context = "sub"} : (!tm.hbm<"bf16", "[1]", "[I, J]">, !tm.hbm<"bf16", "[1]", "[I, J]">) -> !visa.auto"#,
        "op expects exactly 1 operands, but got 2",
    ),
    (
        r#"%x = "stream.begin"(%matrix) {context = "sub"} : (!tm.hbm<"bf16", "[1]", "[I, J]">) -> !visa.auto"#,
        "does not satisfy the constraint",
    ),
    (
        r#""tm.axes"() ({}) {sizes = #tm.sizes<"[K = 2]">} : () -> ()"#,
        "unexpected number of regions: expected 0 but got 1",
    ),
    (
        r#"%x = "stream.begin"(%m) {context = "sub"} : (!tm.dm<"bf16", "[1]", "[1 # 2]", "[I]", "[J]">) -> !visa.auto"#,
        "operand #0 does not dominate this use",
    ),
    (r#""stream.vector_if"() : () -> ()"#, "unregistered operation 'stream.vector_if'"),
];

/// Mistakes in hw.
const IN_HW: &[Mistake] = &[
    Mistake(r#""hw.collect""#, r#""hw.kollect""#, "unregistered operation 'hw.kollect'"),
    Mistake("flits = 128 : i64, ", "", r#"attribute "flits" is expected but not provided"#),
    Mistake("flits = 128 : i64", "flits", "expected base attribute 'builtin.integer' but got 'builtin.unit'"),
    Mistake("mask = #visa.absent", r#"mask = #hw.program<"[1 : 1] : 1">"#, "does not satisfy the constraint"),
    Mistake(r#"region = "full""#, r#"region = "whole""#, "does not satisfy the constraint"),
    Mistake(r#"#hw.dtype<"bf16">"#, r#"#hw.dtype<"float">"#, "does not satisfy the constraint"),
    Mistake(
        r#"name = "matrix""#,
        "name = @matrix",
        "expected base attribute 'builtin.string' but got 'builtin.symbol_ref'",
    ),
    Mistake(
        "slices = array<i64: 0, 256>",
        "slices = [0, 256]",
        "expected base attribute 'builtin.dense_array' but got 'builtin.array'",
    ),
    Mistake(
        r#"slices = array<i64: 0, 256>"#,
        "slices = #visa.auto",
        "expected base attribute 'builtin.dense_array' but got 'visa.auto'",
    ),
    Mistake(
        r#""hw.exec"() ({"#,
        "\"hw.exec\"() ({\n^bb0(%x: i32):",
        "expected region 0 to have 0 arguments but got 1",
    ),
    Mistake(
        r#""hw.exec"() ({"#,
        "\"hw.exec\"() ({\n\"ub.unreachable\"() : () -> ()\n^bb1:",
        "expected region 0 to have 1 block(s) but got 2",
    ),
    Mistake(
        r#""hw.exec"() ({"#,
        "\"hw.exec\"() ({\n\"ub.unreachable\"() : () -> ()\n}, {",
        "unexpected number of regions: expected 1 but got 2",
    ),
    Mistake("\"ub.unreachable\"() : () -> ()\n    })", "})", "block with no terminator"),
];

/// A text with a mistake in it.
struct Wrong {
    /// The mistake, for messages.
    what: String,
    text: String,
    says: &'static str,
}

/// A text with one place changed.
fn wrong(text: &str, from: &str, to: &str, says: &'static str) -> Wrong {
    assert!(text.contains(from), "`{from}` is not in:\n{text}");
    Wrong { what: format!("`{from}` -> `{to}`"), text: text.replacen(from, to, 1), says }
}

fn all_mistakes() -> Vec<Wrong> {
    let (stream, hw) = (gemv(&[]), gemv(&["--lower-to-seq", "--lower-to-hw"]));
    let put = |text: &str, mistakes: &[Mistake]| {
        mistakes.iter().map(|Mistake(from, to, says)| wrong(text, from, to, says)).collect::<Vec<_>>()
    };
    let mut all = put(&stream, IN_STREAM);
    all.extend(put(&hw, IN_HW));
    let first = "    %m = ";
    let before_first =
        |&(op, says): &(&str, &'static str)| wrong(&stream, first, &format!("    {op}\n{first}"), says);
    all.extend(OPERATIONS.iter().map(before_first));
    all
}

/// The mistakes that are not refused, or for another reason.
fn missed(says: impl Fn(&str) -> Option<(bool, String)>) -> Vec<String> {
    let missed = all_mistakes().into_iter().filter_map(|Wrong { what, text, says: expected }| {
        let (good, said) = says(&text)?;
        let found = said.lines().next().unwrap_or("nothing");
        (good || !said.contains(expected)).then(|| format!("{what}: expected `{expected}`, found `{found}`"))
    });
    missed.collect()
}

#[test]
fn what_is_right_is_taken() {
    for passes in [&[][..], &["--lower-to-seq"], &["--lower-to-seq", "--lower-to-hw"], &["--open-clauses"]] {
        let text = gemv(passes);
        let found = mlir().verify(&text);
        assert!(found.is_empty(), "{passes:?}: {found:?}\n{text}");
        assert!(mlir_opt(&text).is_none_or(|(good, _)| good), "{passes:?}");
    }
}

#[test]
fn mistakes_are_refused_in_process() {
    let mlir = mlir();
    let missed = missed(|text| {
        let found = mlir.verify(text);
        Some((found.is_empty(), messages(&found)))
    });
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn mistakes_are_refused_by_mlir_opt() {
    let missed = missed(mlir_opt);
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
