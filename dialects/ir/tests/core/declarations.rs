//! Texts that are written from declarations: syntax lines and reference pages.

use crate::toy::TOY;
use visa_ir::doc::{dialect_page, syntax};

#[test]
fn syntax_lines() {
    let lines: Vec<_> = TOY.ops.iter().copied().flatten().map(|op| syntax(op)).collect();
    assert_eq!(
        lines,
        [
            "toy.func NAME(%argument: type, ...) [chips CHIPS] { ... }",
            "toy.return %values...",
            "%made = toy.make size SIZE, [label LABEL], [mode MODE], [callee CALLEE], [strides STRIDES], [names \
             NAMES], [volatile VOLATILE], [tile TILE]",
            "%sum, %carry = toy.mix HOW %left[, %right]",
            "toy.loop TIMES { ... }",
            "toy.note TEXT, at AT",
            "%placed = toy.place HOW %source at AT, [bases BASES], [tile TILE]",
        ]
    );
}

#[test]
fn a_page_names_everything() {
    let page = dialect_page(&TOY);
    for part in [
        "# Dialect `toy`",
        "### `!toy.tensor<[SIZE, ...]>`",
        "### `#toy.tile<",
        "### `toy.make`",
        "| `mode` | one of `fast`, `exact` | `fast` | how |",
    ] {
        assert!(page.contains(part), "no `{part}` in:\n{page}");
    }
}
