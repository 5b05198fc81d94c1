//! The command line: exit codes, and where findings are put.

use crate::{gemv, root};
use visa_opt::Io;

fn run(args: &[&str], stdin: &[u8]) -> (i32, String, String) {
    let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
    let mut io = Io::buffered(stdin, root());
    let code = visa_mlir::run(&args, &mut io);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (code, text(io.stdout), text(io.stderr))
}

#[track_caller]
fn refused(args: &[&str], stdin: &[u8], says: &[&str]) {
    let (code, out, err) = run(args, stdin);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    for say in says {
        assert!(err.contains(say), "expected `{say}` in:\n{err}");
    }
}

#[test]
fn files_in_either_form_are_verified() {
    let (code, out, err) = run(&["verify", "test/kernels/gemv.visa", "test/kernels/dot.visa"], b"");
    assert_eq!((code, out.as_str(), err.as_str()), (0, "MLIR verifies 2 modules of 2 files\n", ""));
    let generic =
        "\"builtin.module\"() ({\n\"tm.axes\"() <{sizes = #tm.sizes<[A = 8]>}> : () -> ()\n}) : () -> ()";
    let (code, out, err) = run(&["verify", "-"], generic.as_bytes());
    assert_eq!((code, out.as_str(), err.as_str()), (0, "MLIR verifies 1 module of 1 file\n", ""));
    let (code, out, _) = run(&["verify", "--registered", "-"], gemv(&[]).as_bytes());
    assert_eq!((code, out.as_str()), (0, "MLIR verifies 1 module of 1 file\n"));
}

#[test]
fn parts_are_modules() {
    let text = b"tm.axes [A = 8]\n// -----\ntm.axes [B = 8]\n";
    assert_eq!(run(&["verify", "--split-input-file", "-"], text).1, "MLIR verifies 2 modules of 1 file\n");
}

#[test]
fn a_machine_is_asked_for_limits() {
    let file = "test/kernels/fetch_casts_rngd_s.visa";
    assert_eq!(run(&["verify", "--machine", "rngd-s", file], b"").0, 0);
    refused(&["verify", file], b"", &["error["]);
    refused(&["verify", "--machine", "rngd-x", file], b"", &["cannot read `rngd-x`"]);
}

#[test]
fn what_visa_finds_comes_first() {
    refused(
        &["verify", "-"],
        b"tm.axis [A = 8]\n",
        &["error[unknown-op]", "<stdin>:1:1", "did you mean `tm.axes`?"],
    );
}

#[test]
fn findings_of_mlir_have_file_and_line() {
    let wrong = gemv(&[]).replacen("\"stream.fetch\"", "\"stream.fetsh\"", 1);
    let line = wrong.lines().position(|line| line.contains("fetsh")).expect("the line") + 1;
    let place = format!("<stdin>:{line}:11");
    refused(
        &["verify", "--registered", "-"],
        wrong.as_bytes(),
        &["error[mlir]: unregistered operation", &place],
    );
    refused(
        &["verify", "--registered", "--diagnostics=json", "-"],
        wrong.as_bytes(),
        &[r#""code":"mlir""#, r#""file":"<stdin>""#, &format!(r#""line":{line}"#)],
    );
    let two = format!("module {{}}\n// -----\n{wrong}");
    let place = format!("<stdin>:{}:11", line + 2);
    refused(&["verify", "--registered", "--split-input-file", "-"], two.as_bytes(), &[&place]);
}

#[test]
fn more_values_than_mlir_is_told_of_are_at_their_line() {
    let values = vec!["%a"; 17].join(", ");
    let text = format!(
        "tm.axes [A = 8]\ntm.func @f(%a: !tm.hbm<i8, [1], [A]>) at [0], chips 1 {{\n  tm.return {values}\n}}\n"
    );
    refused(
        &["verify", "-"],
        text.as_bytes(),
        &["error[mlir]", "must have 16 elements, but got 17", "<stdin>:3:3"],
    );
}

#[test]
fn bad_files_are_errors() {
    refused(
        &["verify", "test/kernels/gemv.visaa"],
        b"",
        &["cannot read `test/kernels/gemv.visaa`", "did you mean `gemv.visa`?"],
    );
    refused(&["verify", "test/kernels"], b"", &["cannot read `test/kernels`"]);
    refused(&["verify", "-"], b"\xff\xfe", &["error["]);
    refused(&["verify", "-"], b"", &["error["]);
    // One bad file does not hide the next.
    refused(
        &["verify", "nowhere.visa", "-"],
        b"tm.axis [A = 8]\n",
        &["cannot read `nowhere.visa`", "error[unknown-op]"],
    );
}

#[test]
fn bad_text_for_mlir_is_an_error() {
    for text in [
        &b"garbage"[..],
        b"\"tm.axes\"() {sizes = #tm.sizes<\"",
        b"\0",
        b"module {",
        b"%",
        b"\"builtin.module\"() ({\n\"tm.axes\"() : () -> ()\n}) : () -> ()",
    ] {
        refused(&["verify", "--registered", "-"], text, &["error["]);
    }
    // MLIR's parser calls itself for each bracket: 100000 would end the process.
    let deep = format!("module attributes {{a = {}1{}}} {{}}", "[".repeat(100_000), "]".repeat(100_000));
    refused(&["verify", "--registered", "-"], deep.as_bytes(), &["error[nesting]"]);
    let deep = format!("module attributes {{a = affine_map<(d0) -> ({}d0)>}} {{}}", "-".repeat(100_000));
    refused(
        &["verify", "--registered", "-"],
        deep.as_bytes(),
        &["found `affine_map`: MLIR reads it without a bound"],
    );
    refused(&["verify", "-"], deep.as_bytes(), &["found `affine_map`: MLIR reads it without a bound"]);
}

#[test]
fn a_name_may_be_a_word_of_mlir() {
    let text = "tm.axes [A = 8]\ntm.func @affine.map(%affine_map: !tm.hbm<i8, [1], [A]>) at [0], chips 1 {\n  \
                tm.return %affine_map\n}\n";
    let (code, _, err) = run(&["verify", "-"], text.as_bytes());
    assert_eq!(code, 0, "{err}");
}

#[test]
fn a_wrong_command_line_is_an_error() {
    refused(&[], b"", &["Usage: visa-mlir"]);
    refused(&["verify"], b"", &["<FILE>..."]);
    refused(&["verifi", "x"], b"", &["unrecognized subcommand 'verifi'"]);
    refused(&["verify", "--registered", "--machine", "rngd", "-"], b"", &["cannot be used with"]);
    refused(&["verify", "--diagnostics", "xml", "-"], b"", &["invalid value 'xml'"]);
    assert_eq!(run(&["--help"], b"").0, 0);
}
