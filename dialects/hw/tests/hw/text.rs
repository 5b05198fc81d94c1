//! Both forms of the text give the same module back.

use crate::{codes, context, parsed};
use visa_ir::parse::parse;
use visa_ir::print::{Form, print};
use visa_ir::span::Source;
use visa_ir::verify::same;

pub(crate) const GEMV: &str = r#"visa 1
hw.program @gemv, chips 1 {
  hw.buffer "matrix", role arg, space hbm, dtype bf16, shape [256, 2048], layout [524288 : 1 -> 2] : 1
  hw.buffer "out", role result, space hbm, dtype bf16, shape [256], layout [256 : 1 -> 2] : 1 @ 0 -> 536870912
  hw.dma tensor, from hbm, to dm, loops [256 : 4096 -> 524288, 4096 : 1 -> 1] : 4096
  hw.exec sub, slices [0, 256] {
    hw.fetch bf16, packet 4096, loops [512 : 8, 8 : 1] : 8 @ 262144
    hw.collect flits 128
    hw.store_trf full, rows 1, row_bytes 4096
  }
  hw.exec main, slices [0, 256] {
    hw.fetch bf16, packet 32, loops [128 : 32, 32 : 1] : 32
    hw.collect flits 1
    hw.align full, flits 2, repeat 1, rows 1, data 64, loops [64 : 64, 64 : 1] : 64
    hw.contract bf16, depth 5
    hw.accumulate interleaved, rows 1, columns 1, slots [64 : 0] : 1
    hw.cast bf16
    hw.commit bytes 8, loops [8 : 1] : 8 @ 8192
  }
}
"#;

#[test]
fn the_example_verifies_and_prints_back() {
    assert_eq!(codes(GEMV), Vec::<String>::new());
    let ctx = context();
    let module = parsed(&ctx, GEMV);
    for form in [Form::Pretty, Form::Generic] {
        let text = print(&ctx, &module, form);
        let again = parsed(&ctx, &text);
        assert!(same(&ctx, &module, &again), "{text}");
        assert_eq!(print(&ctx, &again, form), text);
    }
    assert_eq!(print(&ctx, &module, Form::Pretty).replace(' ', ""), GEMV.replace(' ', ""));
}

#[test]
fn every_operation_shows_an_example_that_parses() {
    for decl in visa_hw::DIALECT.ops.iter().copied().flatten() {
        let ctx = context();
        let text = format!("visa 1\n{}\n", decl.example);
        let source = Source::new("example", text.clone());
        let parsed = parse(&ctx, &source, 0..text.len());
        assert!(parsed.diagnostics.is_empty(), "{}: {:?}", decl.name, parsed.diagnostics);
        let ops = parsed.module.ops(parsed.module.body()).to_vec();
        assert_eq!(parsed.module.op(&ctx, ops[0]).to_string(), decl.name);
    }
}

#[test]
fn wrong_bodies_are_refused_with_their_codes() {
    for (line, code, message) in [
        ("hw.cast bf17", "dtype", "unknown format `bf17`"),
        ("hw.commit bytes 8, loops [8 : ] : 8", "P1", "expected an offset table `(o, p, ...)` or a stride"),
        ("hw.commit bytes 8, loops [8 : 1]", "P1", "expected"),
        ("hw.dma tensor, from hbm, to dm, loops [8 : 1] : 8", "P1", "expected"),
        ("hw.commit bytes 8, loops [3 : (0, 8)] : 8", "S6", "has 2 offsets"),
        ("hw.commit bytes 8, loops [99999999999999999999 : 1] : 8", "P2", "64-bit"),
    ] {
        let ctx = context();
        let text = format!("visa 1\n{line}\n");
        let source = Source::new("test", text.clone());
        let found = parse(&ctx, &source, 0..text.len()).diagnostics;
        assert_eq!(found.len(), 1, "{line}: {found:?}");
        assert!(found[0].code.contains(code), "{line}: {}", found[0].code);
        assert!(found[0].message.contains(message), "{line}: {}", found[0].message);
        assert!(found[0].span.range().start >= text.find("hw").unwrap_or(0));
    }
}
