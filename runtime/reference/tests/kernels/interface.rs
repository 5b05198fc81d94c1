//! Signatures, and calls that do not fit them.

use super::support::{context, read, refused, verified};
use visa_numerics::DType;
use visa_reference::{Signature, TensorInfo, interface};

const TWO: &str = "tm.axes [I = 512, J = 512, B = 64, N = 3]
tm.func @first(%a: !tm.host<bf16, [I / 32, J / 32, I % 32, J % 32]>, %s: !tm.host<f32, [1]>) {
  tm.return %a, %s
}
tm.func @second(%b: !tm.host<i8, [N # 4, B % 4]>) {
  tm.return %b
}";

fn info(name: &str, dtype: DType, shape: &[u64]) -> TensorInfo {
    TensorInfo { name: name.to_owned(), dtype, shape: shape.to_vec() }
}

#[test]
fn signatures_list_arrays_in_c_order() {
    let ctx = context();
    let module = verified(&ctx, TWO);
    let expected = Signature {
        entry: "first".to_owned(),
        arguments: vec![info("a", DType::Bf16, &[512, 512]), info("s", DType::F32, &[])],
        scalars: Vec::new(),
        results: vec![info("out0", DType::Bf16, &[512, 512]), info("out1", DType::F32, &[])],
    };
    assert_eq!(interface(&ctx, &module, Some("first")), Ok(expected));
    let expected = Signature {
        entry: "second".to_owned(),
        arguments: vec![info("b", DType::I8, &[3, 4])],
        scalars: Vec::new(),
        results: vec![info("out", DType::I8, &[3, 4])],
    };
    assert_eq!(interface(&ctx, &module, Some("@second")), Ok(expected));
}

#[test]
fn the_entry_must_be_clear() {
    let ctx = context();
    let cases = [
        (TWO, None, "2 kernels, choose one: `first`, `second`", None),
        (TWO, Some("third"), "no kernel `third`; the module has `first`, `second`", None),
        (TWO, Some("frst"), "no kernel `frst`", Some("did you mean `first`?")),
        ("tm.axes [I = 4]", None, "no kernel", None),
        ("tm.axes [I = 4]", Some("k"), "no kernel", None),
    ];
    for (text, entry, message, fix) in cases {
        let error = interface(&ctx, &read(&ctx, text), entry).unwrap_err();
        assert_eq!(error.code, "unknown-entry");
        assert!(error.message.contains(message), "{entry:?}: {error:?}");
        if fix.is_some() {
            assert_eq!(error.fix.as_deref(), fix);
        }
    }
}

#[test]
fn ports_must_be_arrays() {
    let ctx = context();
    let cases = [
        ("%a: !tm.host<i8, [B / 4]>", "argument `a`", "B"),
        ("%a: !tm.host<i8, [2, B]>", "argument `a`", "2 times"),
        ("%a: !tm.host<i8, [C]>", "argument `a`", "axis `C` is not declared"),
        ("%a: !tm.dm<i8, [1], [1 # 2], [1 # 256], [B]>", "argument `a`", "expected `!tm.host` or `!tm.hbm`"),
    ];
    for (argument, name, why) in cases {
        let text = format!("tm.axes [B = 64]\ntm.func @k({argument}) {{\n  tm.return\n}}");
        let error = interface(&ctx, &read(&ctx, &text), None).unwrap_err();
        assert_eq!(error.code, "array-layout", "{argument}");
        assert!(error.message.contains(name) && error.message.contains(why), "{argument}: {error:?}");
    }
    let text = "tm.axes [B = 64]\ntm.func @k(%a: !tm.host<i8, [B]>) {\n  %h = tm.to_hbm %a at 0, element [B / \
                4]\n  tm.return %h\n}";
    let error = interface(&ctx, &read(&ctx, text), None).unwrap_err();
    assert_eq!(error.code, "array-layout");
    assert!(error.message.contains("result `out`"), "{error:?}");
}

#[test]
fn arguments_must_fit() {
    let bytes = |count: usize| vec![0_u8; count];
    let second = Some("second");
    let error = refused(TWO, second, []);
    assert_eq!(error.code, "argument-missing");
    assert!(
        error.message.contains("argument `b` of `@second` is missing: `i8` of shape [3, 4]"),
        "{error:?}"
    );
    for wrong in [0, 11, 13, 24] {
        let error = refused(TWO, second, [("b", bytes(wrong))]);
        assert_eq!(error.code, "argument-size", "{wrong}");
        assert!(error.message.contains(&format!("has {wrong} bytes, expected 12")), "{error:?}");
    }
    let error = refused(TWO, second, [("b", bytes(12)), ("c", bytes(12))]);
    assert_eq!(error.code, "argument-unknown");
    assert!(error.message.contains("no argument `c`; it takes `b`"), "{error:?}");
    let error = refused(TWO, Some("first"), [("a", bytes(512 * 512 * 2))]);
    assert_eq!(error.code, "argument-missing");
    assert!(error.message.contains("`s`"), "{error:?}");
}
