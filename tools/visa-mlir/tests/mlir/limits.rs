//! The limits of MLIR's checks: docs/integrators.md lists them. If one of these tests fails, the page has become too
//! modest.

use crate::{gemv, messages, mlir};
use visa_ir::irdl::MAX_VARIADIC;

#[test]
fn these_mistakes_are_taken() {
    let (mlir, text) = (mlir(), gemv(&[]));
    let last =
        text.lines().find(|line| line.contains("tm.return")).expect("an operation that returns").to_owned();
    for (from, to) in [
        // A clause that no operation has.
        (r#"{context = "sub"}"#, r#"{context = "sub", colour = 3 : i64}"#),
        // The text of a mapping.
        (r#"#tm.map<"[J]">"#, r#"#tm.map<"[J] / / 3">"#),
        // An integer of another width.
        ("at = 8192 : i64", "at = true"),
        // A type that the operands and clauses do not give.
        (r#"-> !stream.begin<"sub", "bf16""#, r#"-> !stream.begin<"sub", "f32""#),
        // An operation that must end a block, and does not.
        (last.as_str(), ""),
    ] {
        assert!(text.contains(from), "`{from}` is not in:\n{text}");
        // The type of a result is at its uses too.
        let wrong = if from.starts_with("->") {
            text.replace(&from[3..], &to[3..])
        } else {
            text.replacen(from, to, 1)
        };
        assert_eq!(messages(&mlir.verify(&wrong)), "", "{from} -> {to}");
    }
}

#[test]
fn more_values_than_mlir_is_told_of_are_refused() {
    let returned = |count: usize| {
        let values = vec!["%out"; count].join(", ");
        let types = vec![r#"!tm.hbm<"bf16", "[1]", "[I]">"#; count].join(", ");
        let sizes: Vec<_> =
            (0..count.max(MAX_VARIADIC)).map(|at| if at < count { "1" } else { "0" }).collect();
        let text = gemv(&[]);
        let lines = text.lines().map(|line| match line.contains("tm.return") {
            true => format!(
                "\"tm.return\"({values}) {{operandSegmentSizes = array<i32: {}>}} : ({types}) -> ()\n",
                sizes.join(", ")
            ),
            false => format!("{line}\n"),
        });
        messages(&mlir().verify(&lines.collect::<String>()))
    };
    assert_eq!(returned(0), "");
    assert_eq!(returned(MAX_VARIADIC), "");
    let said = returned(MAX_VARIADIC + 1);
    assert!(
        said.contains(&format!("must have {MAX_VARIADIC} elements, but got {}", MAX_VARIADIC + 1)),
        "{said}"
    );
}
