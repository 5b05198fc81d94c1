//! The export of functions as linalg: each construct is run by mlir-runner and by the evaluator, and a
//! construct without a counterpart is refused at its line.

use crate::root;
use std::path::Path;
use std::process::Command;
use visa_opt::{Io, Registry};

/// Functions of each construct.
const CONSTRUCTS: &str = "tools/visa-mlir/tests/mlir/export/constructs.visa";

/// Runs `visa-mlir export` on a text.
fn export(text: &str, flags: &[&str]) -> (i32, String, String) {
    let args: Vec<String> =
        ["export", "-"].iter().chain(flags).map(|&argument| argument.to_owned()).collect();
    let mut io = Io::buffered(text.as_bytes(), root());
    let code = visa_mlir::run(&args, &mut io);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (code, text(io.stdout), text(io.stderr))
}

/// A function of the tensor level.
fn function(arguments: &str, body: &str) -> String {
    format!(
        "visa 1\ntm.axes [A = 8, B = 8, C = 4, D = 2, K = 64, B' = B - A]\n\
         tm.func @f({arguments}) {{\n{body}\n}}\n"
    )
}

/// Refuses `%0` of a function on `%x` and `%y`, at the line of the operation.
#[track_caller]
fn refused(arguments: &str, operation: &str, reasons: &[&str]) {
    let text = function(arguments, &format!("  %0 = {operation}\n  tm.return %0"));
    let (code, out, err) = export(&text, &[]);
    assert_eq!((code, out.as_str()), (1, ""), "{operation}\n{err}");
    for reason in reasons.iter().chain(&["error[mlir-export]", "<stdin>:4:"]) {
        assert!(err.contains(reason), "{operation}: expected `{reason}` in:\n{err}");
    }
}

/// Exports `%0` of a function.
#[track_caller]
fn accepted(arguments: &str, operation: &str, parts: &[&str]) {
    let text = function(arguments, &format!("  %0 = {operation}\n  tm.return %0"));
    let (code, out, err) = export(&text, &[]);
    assert_eq!((code, err.as_str()), (0, ""), "{operation}");
    for part in parts {
        assert!(out.contains(part), "{operation}: expected `{part}` in:\n{out}");
    }
}

/// The names of a function's arguments.
fn arguments(text: &str, name: &str) -> Vec<String> {
    let start = text.find(&format!("tm.func @{name}(")).expect("the function") + name.len() + 10;
    let list = &text[start..start + text[start..].find(") {").expect("its body")];
    list.split('%').skip(1).map(|part| part.split(':').next().expect("a name").to_owned()).collect()
}

/// Runs functions of a module by mlir-runner. The arguments and the results of each are written to a folder.
fn by_mlir_runner(module: &Path, names: &[&str], folder: &Path) {
    let script = root().join("test/peers/mlir/run.py");
    let mut command = Command::new("python3");
    command.arg(script).arg("run").arg(module).args(["--data", "small", "--out"]).arg(folder);
    command.args(names.iter().flat_map(|name| ["--entry", name]));
    let output = command.output().expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns true if mlir-runner and NumPy are installed, or required.
#[expect(clippy::print_stdout, reason = "a check that is skipped reports it")]
fn can_run() -> bool {
    let numpy = Command::new("python3").args(["-c", "import numpy"]).output();
    let there = numpy.is_ok_and(|output| output.status.success())
        && Path::new("/usr/lib/llvm-22/bin/mlir-runner").exists();
    let required = std::env::var("VISA_REQUIRE_MLIR").is_ok_and(|value| value == "1");
    if !there && !required {
        println!("skipped: mlir-runner of LLVM 22, or NumPy, is not installed");
    }
    there || required
}

/// Functions of one rounding more than the evaluator's, or of another order: `math` in 32 bits is within 4 ulps, and
/// six roundings follow at most; the sums have 12 summands of at most 9.
const TOLERANCE: &str = "2e-6,1e-6";

#[test]
fn each_construct_agrees_with_mlir_runner() {
    if !can_run() {
        return;
    }
    let text = std::fs::read_to_string(root().join(CONSTRUCTS)).expect("the functions");
    let (code, linalg, err) = export(&text, &[]);
    assert_eq!((code, err.as_str()), (0, ""));
    let folder = tempfile::tempdir().expect("a folder");
    let module = folder.path().join("constructs.mlir");
    std::fs::write(&module, linalg).expect("a file");
    let names = text.lines().filter_map(|line| line.strip_prefix("tm.func @")?.split('(').next());
    let names: Vec<&str> = names.collect();
    assert!(names.len() > 30, "{names:?}");
    by_mlir_runner(&module, &names, folder.path());
    for name in names {
        let path = |kind: &str, number: usize| folder.path().join(name).join(format!("{kind}{number}.npy"));
        let mut args = vec![CONSTRUCTS.to_owned(), "--entry".to_owned(), name.to_owned()];
        for (number, argument) in arguments(&text, name).iter().enumerate() {
            args.extend(["--arg".to_owned(), format!("{argument}={}", path("in", number).display())]);
        }
        let results = (0..).take_while(|&number| path("out", number).exists()).count();
        assert!(results > 0, "{name} has results");
        for number in 0..results {
            let result = if results == 1 { "out".to_owned() } else { format!("out{number}") };
            args.extend(["--expect".to_owned(), format!("{result}={}", path("out", number).display())]);
        }
        args.extend(["--tolerance".to_owned(), TOLERANCE.to_owned()]);
        let mut io = Io::buffered([], root());
        let code = visa_run::run(&Registry::standard(), &args, &mut io);
        assert_eq!(code, 0, "{name}: {}", String::from_utf8_lossy(&io.stderr));
    }
}

#[test]
fn dimensions_are_the_axes() {
    accepted(
        "%x: !tm.tensor<bf16, [A, K]>, %y: !tm.tensor<bf16, [K, B]>",
        "tm.contract %x, %y over [K], tree 32",
        &[
            r#"func.func @f(%arg0: tensor<8x64xbf16> {visa.axes = ["A", "K"], visa.name = "x"}"#,
            r#"-> (tensor<8x8xf32> {visa.axes = ["A", "B"]})"#,
            r#"iterator_types = ["parallel", "parallel", "reduction"]"#,
            "(d0, d1, d2) -> (d0, d2)",
            "(d0, d1, d2) -> (d2, d1)",
            "arith.extf %in : bf16 to f32",
            "arith.addf",
        ],
    );
    accepted("%x: !tm.tensor<f8e5m2, [A]>", "tm.cast f32 %x", &["arith.extf %in : f8E5M2 to f32"]);
}

/// An 8-bit float cannot be run by MLIR's tools. The conversions are those of docs/numerics.md: `f8e4m3` saturates at
/// 448, and `f8e5m2` rounds ties away from zero.
#[test]
fn narrow_floats_round_as_the_engine() {
    let value = "%x: !tm.tensor<f32, [A]>";
    let clamped = ["4.480000e+02", "arith.minimumf", "arith.maximumf", "arith.truncf %", "f32 to f8E4M3FN"];
    accepted(value, "tm.cast f8e4m3 %x", &clamped);
    accepted(value, "tm.cast f8e5m2 %x", &["arith.truncf %in to_nearest_away : f32 to f8E5M2"]);
    accepted(value, "tm.cast bf16 %x", &["arith.truncf %in : f32 to bf16"]);
}

#[test]
fn operations_without_a_counterpart_are_refused() {
    let (int, byte) = ("%x: !tm.tensor<i32, [A, B]>", "%x: !tm.tensor<i8, [A, B]>");
    refused(byte, "tm.lookup %x table i8 [0x00, 0x01]", &["`tm.lookup` is not exported", "no table"]);
    refused(
        "%x: !tm.tensor<i32, [A]>, %i: !tm.tensor<i32, [C]>, %r: !tm.tensor<i32, [C]>",
        "tm.scatter_into %r, %i, %x along [A]",
        &["`tm.scatter_into` is not exported", "no scatter"],
    );
    refused(
        "%x: !tm.tensor<i32, [K]>",
        "tm.pack %x, %x outer [1], steps [K / 8], within [K % 8], to [A]",
        &["`tm.pack` is not exported"],
    );
    refused(
        int,
        "tm.scan [x, s: x + s] %x, %x, %x outer [1], steps [A], within [1], keys [B]",
        &["`tm.scan` is not exported"],
    );
    refused(int, "tm.skew %x axis [B], to [B'], by [A]", &["`tm.skew` is not exported", "no skewed axes"]);
    refused(
        "%x: !tm.tensor<i32, [C]>",
        "tm.exchange %x along [C], from [1, 2, 3, 0]",
        &["`tm.exchange` is not exported"],
    );
}

#[test]
fn functions_without_a_counterpart_are_refused() {
    let value = "%x: !tm.tensor<i32, [A]>";
    for (function, reason) in [
        ("add_sat(x, 1)", "`add_sat` has no counterpart in `arith` or `math`: it saturates"),
        ("sub_sat(x, 1)", "`sub_sat` has no counterpart"),
        ("shl_sat(x, 1)", "`shl_sat` has no counterpart"),
        ("mul_fxp(x, 3)", "`mul_fxp` has no counterpart in `arith` or `math`: it rounds"),
        ("ashr_round(x, 1)", "`ashr_round` has no counterpart"),
    ] {
        refused(value, &format!("tm.map [x: {function}] %x"), &[reason, "`tm.map` is not exported"]);
    }
    refused(value, "tm.reduce AddSat %x over [A]", &["`AddSat` has no counterpart", "it saturates"]);
    accepted(value, "tm.map [x: shl(x, 1) + x] %x", &["arith.shli", "arith.addi"]);
    accepted(value, "tm.reduce Add %x over [A]", &["arith.addi"]);
}

#[test]
fn formats_without_a_counterpart_are_refused() {
    let text = function("%x: !tm.tensor<u8, [A]>", "  tm.return %x");
    let (code, out, err) = export(&text, &[]);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains("`u8` has no signless integer") && err.contains("tm.cast i8 %x bits"), "{err}");
    let text = function("%x: !tm.tensor<f4e2m1, [A]>", "  tm.return %x");
    let (code, _, err) = export(&text, &[]);
    assert!(code == 1 && err.contains("`f4e2m1` is read through a table"), "{err}");
    refused("", "tm.constant u8, values [1]", &["`u8` has no signless integer"]);
}

#[test]
fn sums_that_are_no_ranges_are_refused() {
    let both = "%x: !tm.tensor<i8, [A, K]>, %y: !tm.tensor<i8, [K]>";
    refused(
        both,
        "tm.contract %x, %y over [K @ (3, 1, 2, 9)]",
        &["`tm.contract` is not exported: `[K @ (3, 1, 2, 9)]` is no range of positions along each axis"],
    );
    refused(both, "tm.contract %x, %y over [K, 2]", &["adds each element 2 times"]);
    refused(both, "tm.contract %x, %y over [K / 8, K % 8 = 6 # 8]", &["is no range of positions along `K`"]);
    refused(
        both,
        "tm.contract %x, %y over [K / 8], keep [K % 4]",
        &["summed and kept positions do not count `K` together"],
    );
    accepted(both, "tm.contract %x, %y over [K / 8], keep [K % 8]", &["tensor.expand_shape"]);
    accepted(both, "tm.contract %x, %y over [K % 8, K / 8]", &["linalg.generic"]);
    accepted(both, "tm.contract %x, %y over [K = 60 # 64]", &["tensor<8x60xi8>"]);
}

#[test]
fn parts_that_are_no_slices_are_refused() {
    let both = "%x: !tm.tensor<i32, [K]>, %y: !tm.tensor<i32, [K]>";
    refused(both, "tm.insert %x, %y part [K / 8]", &["replaces coordinates along `K` that are not adjacent"]);
    accepted(both, "tm.insert %x, %y part [K % 8]", &["tensor.insert_slice", "[0] [8] [1]"]);
    accepted(
        both,
        "tm.extract %x along [K / 8], index 3, part [K % 8]",
        &["tensor.extract_slice %arg0[24] [8] [1]"],
    );
}

#[test]
fn other_levels_are_refused_with_the_fix() {
    let text = std::fs::read_to_string(root().join("test/kernels/gemv.visa")).expect("a kernel");
    let (code, out, err) = export(&text, &[]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("the text is at the memory level, expected the tensor level"), "{err}");
    assert!(err.contains("visa-opt --raise FILE"), "{err}");
    let args = ["test/kernels/gemv.visa", "--lower-to-seq", "--lower-to-hw"].map(str::to_owned);
    let mut io = Io::buffered([], root());
    assert_eq!(visa_opt::run(&Registry::standard(), &args, &mut io), 0);
    let (code, _, err) = export(&String::from_utf8(io.stdout).expect("text"), &[]);
    assert!(code == 1 && err.contains("hardware level"), "{err}");
    // The computation of the same kernel is exported.
    let mut io = Io::buffered([], root());
    let args = ["test/kernels/gemv.visa", "--raise"].map(str::to_owned);
    assert_eq!(visa_opt::run(&Registry::standard(), &args, &mut io), 0);
    let (code, out, err) = export(&String::from_utf8(io.stdout).expect("text"), &[]);
    assert!(code == 0 && out.contains("func.func @gemv"), "{err}");
}

#[test]
fn a_refused_function_takes_its_callers_along() {
    let text = "visa 1\ntm.axes [A = 8]\n\
                tm.func @main(%x: !tm.tensor<i32, [A]>) {\n  %0 = tm.call @bad %x : !tm.tensor<i32, [A]>\n  tm.return %0\n}\n\
                tm.func @bad(%x: !tm.tensor<i32, [A]>) {\n  %0 = tm.map [x: add_sat(x, 1)] %x\n  tm.return %0\n}\n\
                tm.func @good(%x: !tm.tensor<i32, [A]>) {\n  tm.return %x\n}\n";
    let (code, out, err) = export(text, &[]);
    assert_eq!(code, 1);
    assert!(out.contains("@good") && !out.contains("@main") && !out.contains("@bad"), "{out}");
    assert!(err.contains("<stdin>:8:") && err.contains("it calls `@bad`, which is refused"), "{err}");
    let (code, out, err) = export(text, &["--entry", "good"]);
    assert!(code == 0 && out.contains("@good"), "{err}");
    let (code, out, err) = export(text, &["--entry", "goood"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("there is no function `goood`") && err.contains("did you mean `good`?"), "{err}");
}

#[test]
fn bad_files_of_an_export_are_errors() {
    for (text, reason) in
        [("", "error["), ("tm.axis [A = 8]\n", "unknown-op"), ("visa 1\n", "found no `tm.func`")]
    {
        let (code, out, err) = export(text, &[]);
        assert_eq!((code, out.as_str()), (1, ""), "{text}");
        assert!(err.contains(reason), "{err}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("f.visa").display().to_string();
    std::fs::write(&file, function("%x: !tm.tensor<i32, [A]>", "  tm.return %x")).expect("a file");
    let run = |args: &[&str]| {
        let mut io = Io::buffered([], root());
        let args: Vec<String> = args.iter().map(|&argument| argument.to_owned()).collect();
        (visa_mlir::run(&args, &mut io), String::from_utf8(io.stderr).expect("text"))
    };
    let (code, err) = run(&["export", &file, "-o", &file]);
    assert!(code == 1 && err.contains("`--force` to overwrite the input"), "{err}");
    assert_eq!(run(&["export", &file, "-o", &file, "--force"]).0, 0);
    assert!(std::fs::read_to_string(&file).expect("text").contains("func.func @f"));
    let (code, err) = run(&["export", &file, "-o", "/nowhere/out.mlir"]);
    assert_eq!(code, 1, "{err}");
}
