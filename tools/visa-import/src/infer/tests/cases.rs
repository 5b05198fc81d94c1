//! Chosen programs.

use super::{compare, program};
use quote::ToTokens;

/// The text of a program with its suffixes, without blanks, and the reasons of those that are unread.
fn printed(text: &str) -> (String, Vec<String>) {
    let (file, reasons) = program::inferred(text);
    let text = file.to_token_stream().to_string().replace(' ', "");
    (text, reasons.into_iter().map(|(_, why)| why).collect())
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    let (printed, _) = printed(text);
    for part in parts {
        assert!(printed.contains(part), "no `{part}` in {printed}");
    }
}

/// Asserts that the literal `7` of a body depends on a construct that is not read.
#[track_caller]
fn stops(body: &str, why: &str) {
    let (printed, reasons) = printed(&format!("fn f() {{ {body} }}"));
    assert!(printed.contains("7unread"), "7 is not unread in {printed}");
    assert!(reasons.iter().any(|own| own.contains(why)), "no `{why}` in {reasons:?}");
}

#[test]
fn programs_are_read() {
    for text in [include_str!("programs/read.rs"), include_str!("programs/more.rs")] {
        let (count, unread) = compare(text);
        assert!(count > 100, "rustc lists {count} literals");
        assert!(unread.is_empty(), "unread: {unread:#?}");
    }
}

#[test]
fn constructs_that_are_not_read_taint_no_more_than_they_touch() {
    let (count, unread) = compare(include_str!("programs/partly.rs"));
    assert!(unread.len() > 20 && unread.len() * 5 < count, "{} of {count} unread: {unread:#?}", unread.len());
}

#[test]
fn literals_keep_their_form() {
    has(
        "fn f() { let a: u8 = 0x1f; let b: i64 = 0x1f32; let c: u16 = 0b1_01; let d: f32 = 1.; let e = 1e3; \
         let g: u32 = 1_000; }",
        &["0x1fu8", "0x1f32i64", "0b1_01u16", "1.0f32", "1e3f64", "1_000u32"],
    );
    has(
        "fn f(x: (u8, (u8, u8))) { x.1.0; b'a'; 'a'; 5u8; 0x1fu8; 2.5f32; 1f64; }",
        &[".1.0;b'a';'a';5u8;0x1fu8;2.5f32;1f64;"],
    );
}

#[test]
fn conversions_get_their_types() {
    has("fn f(x: u8) -> u64 { x.into() }", &["((x"]);
    has("fn f(x: u8) -> u64 { x.into() }", &["asu64)"]);
    has("fn f(x: i64) -> u8 { let y = x as _; y }", &["asu8;"]);
    has("fn f() -> u8 { (1..5).sum() }", &["(1u8..5u8).sum::<u8>()"]);
    has("fn f() -> i16 { [1, 2].iter().product() }", &["[1i16,2i16].iter().product::<i16>()"]);
    has("fn f(x: i64) -> u8 { x.try_into().unwrap() }", &[".try_into::<u8>()"]);
    has("fn f(x: u8) { let y = x.into(); }", &[".into::<unread"]);
}

#[test]
fn a_cast_tells_the_type_of_its_literal_only() {
    has(
        "fn f() { 300 as u8; -(1) as i8; !{ 2 } as u16; 66 as char; }",
        &["300u8as", "-(1i8)as", "!{2u16}as", "66u8as"],
    );
    has(
        "fn f(c: bool) { (if c { 1 } else { 2 }) as u8; (3 + 4) as u8; 5 as f32; 6.5 as u8; }",
        &["{1i32}", "{2i32}", "3i32+4i32", "5i32as", "6.5f64as"],
    );
}

#[test]
fn the_toolchain_fixes_what_nothing_else_does() {
    let text = "fn f(t: &Tensor, a: [u8; 9]) -> u32 {
        t.tile(1); for i in 2..3 { t.tile(i); } let n: u32 = t.len() + 4; let m = 5; t.tile(m); let k = a[m];
        if t.len() == 6 { 7 } else { 8 + n } }";
    let toolchain = ["tile(1toolchain)", "2toolchain..3toolchain", "+4toolchain", "==6toolchain"];
    has(text, &toolchain);
    has(text, &["=5usize", "{7u32}", "{8u32+"]);
    let (_, reasons) = printed(text);
    assert!(reasons.is_empty(), "{reasons:?}");
}

#[test]
fn a_closure_of_the_toolchain_is_the_toolchains() {
    has("fn f(t: &Tensor) { t.map(|x| x + 1); }", &["+1toolchain"]);
    has("fn f(t: &Tensor) { t.map(|x: u8| x + 1); }", &["+1u8"]);
}

#[test]
fn arguments_of_toolchain_types_are_the_toolchains() {
    let text = "fn f(t: &Tensor<u8, 1>) { t.reduce::<2, { 3 + n }>(); let x: Tensor<4> = t.into(); \
                t.f as Tensor<5>; }";
    has(
        text,
        &["Tensor<u8,1toolchain>", "::<2toolchain,{3toolchain+", "Tensor<4toolchain>", "Tensor<5toolchain>"],
    );
    has("fn f(t: &Tensor) -> u8 { t.into() }", &[".into::<toolchain>()"]);
    has(
        "fn f(t: &Tensor, x: [u8; 2]) { let y: [Tensor<3>; 4]; }",
        &["[u8;2usize]", "[Tensor<3toolchain>;4usize]"],
    );
}

#[test]
fn what_depends_on_an_unread_construct_is_unread() {
    stops("let x = 7; unknown::f(x);", "unknown::f");
    stops("let x = core::hint::black_box(7);", "core::hint::black_box");
    stops("let x = 7; let y = core::hint::black_box(1u8); x + y;", "core::hint::black_box");
    stops("let v = vec![7];", "the macro `vec`");
    stops("let x = 7.pow(2);", "the method `pow`");
    stops("let x: Vec<u8> = (7..9).collect();", "the method `collect`");
    stops("let x = \"1\".parse().unwrap() + 7;", "the method `parse`");
    stops("let x = <u8 as Default>::default() + 7;", "a path through a trait");
    stops("let x = async { 7 };", "this expression is not read");
    stops("let c = |x| x + 7;", "the types here are not known");
    stops("let x = 7 as *const u8;", "this type is not read");
    stops("let x = f32::from(7.0);  let y = 7;  core::hint::black_box(y);", "this conversion of a literal");
    stops("let x = core::array::from_fn::<u8, 7, _>(|i| i as u8);", "a place that is not read");
}

#[test]
fn items_of_the_input_that_are_not_read_stop_inference() {
    let item = |item: &str, body: &str, why: &str| {
        let (printed, reasons) = printed(&format!("{item} fn f() {{ {body} }}"));
        assert!(printed.contains("7unread"), "7 is not unread in {printed}");
        assert!(reasons.iter().any(|own| own.contains(why)), "no `{why}` in {reasons:?}");
    };
    item("trait T {} fn g<U: T>(u: U) {}", "g(7);", "the bound `T`");
    item("fn g<U>(u: U) where u64: From<U> {}", "g(7);", "the bound `From`");
    item("trait T { fn max(self, x: u64) -> u8; }", "7.max(2);", "the method `max`");
    item("struct S(u8);", "let s = S(1) + 7;", "an operator");
    item("struct S(u8);", "let s = S(1) == 7;", "a comparison");
    item("struct S(u8);", "let s: S = 7.into();", "this conversion");
    item("struct S(u8);", "S(1)[7];", "an index");
    item("struct S(u8);", "S(1).get(7);", "the method `get`");
    item("struct S(u8);", "let s = -S(1); s + 7;", "an operator");
    item("struct S { a: u8 }", "let s = S { b: 7 };", "this field is not known");
    item(
        "trait T { const SIZE: u8; } fn g<U: T>() { let x = U::SIZE + 7; }",
        "",
        "an item of a generic parameter",
    );
}

#[test]
fn a_contradiction_stops_the_whole_body() {
    stops("let a = 7; let b: u8 = 1u16;", "the types u16 and u8 differ");
    stops("let a = 7; let b: bool = 1;", "differ");
    stops("let a = 7; let (b, c) = (1, 2, 3);", "differ");
    stops("let a = 7; let b: f32 = 1;", "differ");
}
