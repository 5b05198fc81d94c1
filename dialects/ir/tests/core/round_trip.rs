//! print ∘ parse is a fixed point, in both forms.

use crate::toy::{EVERYTHING, context, good};
use visa_ir::print::{Form, print};
use visa_ir::verify::same;

#[test]
fn pretty_text_is_a_fixed_point() {
    let ctx = context();
    assert_eq!(print(&ctx, &good(&ctx, EVERYTHING), Form::Pretty), EVERYTHING);
}

#[test]
fn generic_text_is_a_fixed_point_and_the_same_module() {
    let ctx = context();
    let module = good(&ctx, EVERYTHING);
    let generic = print(&ctx, &module, Form::Generic);
    let again = good(&ctx, &generic);
    assert_eq!(print(&ctx, &again, Form::Generic), generic);
    assert_eq!(print(&ctx, &again, Form::Pretty), EVERYTHING);
    assert!(same(&ctx, &module, &again));
}

#[test]
fn different_modules_are_not_the_same() {
    let ctx = context();
    let module = good(&ctx, EVERYTHING);
    for (from, to) in [
        ("size 3", "size 4"),
        (" mode exact,", ""),
        ("%m, %s, %1", "%m, %s, %c"),
        ("at auto", "at 0"),
        ("[0, auto", "[0, 1"),
        ("tile auto", "tile [4]"),
        ("@empty", "@void"),
    ] {
        assert!(EVERYTHING.contains(from));
        assert!(!same(&ctx, &module, &good(&ctx, &EVERYTHING.replace(from, to))), "{from}");
    }
    let renamed = EVERYTHING.replace("%m,", "%k,").replace("%m =", "%k =");
    assert!(same(&ctx, &module, &good(&ctx, &renamed)));
}

#[test]
fn free_spelling_is_read_and_printed_canonically() {
    let ctx = context();
    let free = "// a comment\n\ttoy.func @f( %x : !toy.tensor<[ 4,8 ]>,\n  // another\n %y: !toy.tensor<[1]>) {\r\n\
                %m = toy.make volatile,\n      size 0x10 // hexadecimal, clauses in any order\n toy.return %m }\n";
    let wanted = "visa 1\ntoy.func @f(%x: !toy.tensor<[4, 8]>, %y: !toy.tensor<[1]>) {\n  %m = toy.make size 16, \
                  volatile\n  toy.return %m\n}\n";
    assert_eq!(print(&ctx, &good(&ctx, free), Form::Pretty), wanted);
}

#[test]
fn both_forms_in_one_text() {
    let ctx = context();
    let mixed = "toy.func @f() {\n  %a = \"toy.make\"() <{size = 4 : i64}> : () -> !toy.tensor<[4]>\n  toy.return \
                 %a\n}\n";
    let pretty = "visa 1\ntoy.func @f() {\n  %a = toy.make size 4\n  toy.return %a\n}\n";
    assert_eq!(print(&ctx, &good(&ctx, mixed), Form::Pretty), pretty);
}

#[test]
fn unregistered_operations_come_through() {
    let mut ctx = context();
    ctx.allow_unregistered = true;
    let text = "%0 = \"foo.bar\"() <{k = 1.5 : f32, m = #foo.x<[A / 8 # 256]>}> ({\n  %1:2 = \"foo.two\"() : () \
                -> (i32, tensor<4x!foo.t<f32>>)\n  \"foo.use\"(%1#1, %1#0) {unit_attr} : (tensor<4x!foo.t<f32>>, \
                i32) -> ()\n\
                }) : () -> !foo.type<$(N:1, F:2), B' @ x>\n";
    let module = good(&ctx, text);
    let printed = print(&ctx, &module, Form::Generic);
    assert!(same(&ctx, &module, &good(&ctx, &printed)), "{printed}");
}

#[test]
fn attributes_that_the_pretty_form_has_no_place_for_are_kept() {
    let ctx = context();
    let text = "\"builtin.module\"() ({\n  toy.func @f() {\n    %a = \"toy.make\"() <{size = 4 : i64}> {note \
                = \"kept\"} : () -> !toy.tensor<[4]>\n    toy.return %a\n  }\n}) {visa.version = 1 : i64, origin \
                = \"a tool\"} : () -> ()\n";
    let module = good(&ctx, text);
    let pretty = print(&ctx, &module, Form::Pretty);
    assert_eq!(pretty, text);
    assert!(same(&ctx, &module, &good(&ctx, &pretty)));
}

#[test]
fn numbered_and_very_long_names_are_given_anew() {
    let ctx = context();
    let generic = |name: &str| {
        format!(
            "\"toy.func\"() <{{arg_names = [\"{name}\"], name = @f}}> ({{\n^bb0(%x: !toy.tensor<[4]>):\n  %y \
             = \"toy.make\"() <{{size = 4 : i64}}> : () -> !toy.tensor<[4]>\n  %{name} = \"toy.make\"() <{{size = \
             4 : i64}}> : () -> !toy.tensor<[4]>\n  \"toy.return\"(%x, %y) : (!toy.tensor<[4]>, !toy.tensor<[4]>) \
             -> ()\n}}) : () -> ()\n"
        )
    };
    let (kept, dropped) = ("n".repeat(2048), "n".repeat(2049));
    for (name, shown) in [("a", "%a:"), ("0", "%0:"), (&kept, &format!("%{kept}:")), (&dropped, "%0:")] {
        let module = good(&ctx, &generic(name));
        for form in [Form::Pretty, Form::Generic] {
            let printed = print(&ctx, &module, form);
            assert!(printed.contains(shown), "{printed}");
            assert!(same(&ctx, &module, &good(&ctx, &printed)), "{printed}");
        }
    }
}
