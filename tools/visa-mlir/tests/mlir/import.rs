//! Modules of linalg as functions of the tensor level: each module of the folder `import`, and modules that are refused.

use crate::root;
use melior::dialect::DialectRegistry;
use melior::ir::Module;
use melior::ir::operation::OperationLike as _;
use melior::utility::register_all_dialects;
use std::path::PathBuf;
use visa_filecheck::{Call, Options, Text};
use visa_opt::{Io, Registry};

fn run(args: &[&str], stdin: &[u8]) -> (i32, String, String) {
    let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
    let mut io = Io::buffered(stdin, root());
    let code = visa_mlir::run(&args, &mut io);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (code, text(io.stdout), text(io.stderr))
}

/// The module that a text becomes.
#[track_caller]
pub(crate) fn imported(text: &str, flags: &[&str]) -> String {
    let (code, out, err) = run(&[&["import", "-"], flags].concat(), text.as_bytes());
    assert_eq!((code, err.as_str()), (0, ""), "{text}");
    out
}

#[track_caller]
pub(crate) fn refused(text: &[u8], says: &[&str]) {
    let (code, out, err) = run(&["import", "-"], text);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    for say in says {
        assert!(err.contains(say), "expected `{say}` in:\n{err}");
    }
}

/// The modules of the folder, sorted.
fn modules() -> Vec<PathBuf> {
    let files = std::fs::read_dir(root().join("tools/visa-mlir/tests/mlir/import"))
        .expect("the folder")
        .filter_map(Result::ok);
    let mut files: Vec<PathBuf> = files.map(|file| file.path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "mlir"));
    files.sort();
    files
}

#[test]
fn modules_are_imported_as_their_checks_state() {
    let files = modules();
    assert!(files.len() >= 11, "{files:?}");
    for file in files {
        let text = std::fs::read(&file).expect("a module");
        let out = imported(std::str::from_utf8(&text).expect("text"), &[]);
        let name = file.display().to_string();
        let Ok(Call::Check(options)) = Options::parse(std::slice::from_ref(&name)) else { panic!("options") };
        let verdict = visa_filecheck::check(
            &options,
            Text { name: &name, bytes: &text },
            Text { name: "<imported>", bytes: out.as_bytes() },
        );
        assert_eq!(verdict.code, 0, "{}\n{out}", verdict.report);
        // The text is a module of visa.
        let mut io = Io::buffered(out.as_bytes(), root());
        assert_eq!(visa_opt::run(&Registry::standard(), &["-".to_owned()], &mut io), 0, "{name}");
        assert_eq!(String::from_utf8(io.stdout).expect("text"), out, "{name}");
    }
}

const MATMUL: &str = "func.func @f(%a: tensor<3x5xf32>, %b: tensor<5x7xf32>) -> tensor<3x7xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x7xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<3x7xf32>) -> tensor<3x7xf32>
  %y = linalg.matmul ins(%a, %b : tensor<3x5xf32>, tensor<5x7xf32>) outs(%i : tensor<3x7xf32>) -> tensor<3x7xf32>
  return %y : tensor<3x7xf32>
}
";

#[test]
fn the_precision_of_contractions_is_asked_for() {
    refused(
        MATMUL.as_bytes(),
        &[
            "error[mlir-import]: `linalg.matmul`: a contraction of `f32` and `f32`",
            "<stdin>:5:8",
            "`--contract bf16`",
        ],
    );
    let once = imported(MATMUL, &["--contract", "bf16"]);
    assert_eq!(once.matches("tm.contract").count(), 1, "{once}");
    assert_eq!(once.matches("tm.cast bf16").count(), 2, "{once}");
    let thrice = imported(MATMUL, &["--contract", "bf16x3"]);
    assert_eq!(thrice.matches("tm.contract").count(), 3, "{thrice}");
    assert_eq!(thrice.matches("tm.cast bf16").count(), 4, "{thrice}");
    // Operands that are bf16 are multiplied as they are, whatever is asked for.
    let narrow = MATMUL.replace("5xf32>, %b: tensor<5x7xf32>", "5xbf16>, %b: tensor<5x7xbf16>");
    let narrow = narrow.replace("tensor<3x5xf32>, tensor<5x7xf32>", "tensor<3x5xbf16>, tensor<5x7xbf16>");
    assert_eq!(imported(&narrow, &[]), imported(&narrow, &["--contract", "bf16x3"]));
}

#[test]
fn bytecode_is_read() {
    let registry = DialectRegistry::new();
    register_all_dialects(&registry);
    let context = melior::Context::new_with_registry(&registry, false);
    context.load_all_available_dialects();
    let narrow = std::fs::read_to_string(root().join("tools/visa-mlir/tests/mlir/import/int8.mlir"))
        .expect("a module");
    let bytes = Module::parse(&context, &narrow).expect("a module").as_operation().write_bytecode();
    let (code, out, err) = run(&["import", "-"], &bytes);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, imported(&narrow, &[]));
    let bytes = Module::parse(&context, MATMUL).expect("a module").as_operation().write_bytecode();
    refused(&bytes, &["a contraction of `f32` and `f32`", "MLIR location: loc(\"-\":5:8)"]);
    // Half of a module.
    refused(&bytes[..bytes.len() / 2], &["error[mlir]"]);
}

/// A function with an operation in the body of a map over `tensor<4xTYPE>`.
pub(crate) fn mapped(ty: &str, operation: &str) -> String {
    format!(
        "#m = affine_map<(d0) -> (d0)>\nfunc.func @f(%x: tensor<4x{ty}>) -> tensor<4x{ty}> {{\n  %e = \
         tensor.empty() : tensor<4x{ty}>\n  %y = linalg.generic {{indexing_maps = [#m, #m], iterator_types = \
         [\"parallel\"]}} ins(%x : tensor<4x{ty}>) outs(%e : tensor<4x{ty}>) {{\n  ^bb0(%a: {ty}, %o: {ty}):\n    \
         {operation}\n    linalg.yield %r : {ty}\n  }} -> tensor<4x{ty}>\n  return %y : tensor<4x{ty}>\n}}\n"
    )
}

/// A function of one argument and one result with an operation.
pub(crate) fn function(argument: &str, result: &str, operations: &str) -> String {
    format!("func.func @f(%x: {argument}) -> {result} {{\n  {operations}\n  return %y : {result}\n}}\n")
}

#[test]
fn operations_without_a_counterpart_are_refused_at_their_place() {
    for (text, says) in [
        (mapped("i64", "%r = arith.addi %a, %a : i64"), ["may exceed `i32`", "<stdin>:6:10"]),
        (
            mapped("i32", "%r = arith.divsi %a, %a : i32"),
            ["`arith.divsi`: is imported for divisors that are constants", "<stdin>:6:10"],
        ),
        (mapped("f32", "%r = arith.addf %a, %o : f32"), ["nothing has written", "<stdin>:6:10"]),
        (
            function("tensor<4xf32>", "tensor<4xf32>", "%y = tosa.exp %x : (tensor<4xf32>) -> tensor<4xf32>"),
            ["`tosa.exp` is not imported", "tosa-to-linalg"],
        ),
    ] {
        refused(text.as_bytes(), &says);
    }
}

/// An operation on `%x` with a constant.
fn with_constant(argument: &str, result: &str, constant: &str, operation: &str) -> String {
    function(argument, result, &format!("%c = arith.constant {constant}\n  {operation}"))
}

#[test]
fn bounds_of_slices_and_divisors_are_checked() {
    let slice = |offset: i64| {
        let operation = "%y = tensor.extract_slice %x[%c] [2] [1] : tensor<4xf32> to tensor<2xf32>";
        with_constant("tensor<4xf32>", "tensor<2xf32>", &format!("{offset} : index"), operation)
    };
    imported(&slice(2), &[]);
    refused(slice(3).as_bytes(), &["a slice up to element 4 of a dimension of 4", "<stdin>:3:8"]);
    refused(slice(-1).as_bytes(), &["a slice from -1 on", "<stdin>:3:8"]);
    let dim = |at: u64| {
        let operation = "%d = tensor.dim %x, %c : tensor<4x7xf32>\n  %i = arith.index_cast %d : index to i32\n  %y = \
                         tensor.from_elements %i : tensor<i32>";
        with_constant("tensor<4x7xf32>", "tensor<i32>", &format!("{at} : index"), operation)
    };
    imported(&dim(1), &[]);
    refused(dim(2).as_bytes(), &["`tensor.dim` of dimension 2", "<stdin>:3:8"]);
    for (constant, say) in
        [("0", "other than 0"), ("5000", "`arith.divsi`: divides numbers up to 2147483648 by 5000")]
    {
        let operation = format!("%d = arith.constant {constant} : i32\n    %r = arith.divsi %a, %d : i32");
        refused(mapped("i32", &operation).as_bytes(), &[say, "<stdin>:7:10"]);
    }
    for constant in ["4", "-4", "3", "-4095", "8192"] {
        let operation = format!("%d = arith.constant {constant} : i32\n    %r = arith.divsi %a, %d : i32");
        imported(&mapped("i32", &operation), &[]);
    }
}

/// A loop of this many iterations.
fn counted_loop(count: usize) -> String {
    function(
        "tensor<4xf32>",
        "tensor<4xf32>",
        &format!(
            "%0 = arith.constant 0 : index\n  %1 = arith.constant 1 : index\n  %n = arith.constant {count} : index\n  %y = \
         scf.for %i = %0 to %n step %1 iter_args(%a = %x) -> (tensor<4xf32>) {{\n    %b = arith.addf %a, %x : \
         tensor<4xf32>\n    scf.yield %b : tensor<4xf32>\n  }}"
        ),
    )
}

#[test]
fn loops_have_constant_bounds_and_few_iterations() {
    let once = imported(&counted_loop(1), &[]);
    assert_eq!(once.matches("tm.map").count(), 1, "{once}");
    // None: the result is the first value.
    assert!(imported(&counted_loop(0), &[]).contains("tm.return %arg0"));
    imported(&counted_loop(1024), &[]);
    refused(counted_loop(1025).as_bytes(), &["more than 1024 iterations of `scf.for`", "<stdin>:5:8"]);
    let unknown = counted_loop(1).replace(
        "%n = arith.constant 1 : index",
        "%e = tensor.extract %x[%0] : \
         tensor<4xf32>\n  %s = arith.fptosi %e : f32 to i32\n  %n = arith.index_cast %s : i32 to index",
    );
    refused(unknown.as_bytes(), &["error["]);
}

#[test]
fn elements_of_windows_are_rounded_once() {
    let conv = "func.func @f(%x: tensor<1x4x9x9xf32>, %w: tensor<5x4x3x3xf32>, %i: tensor<1x5x7x7xf32>) -> \
                tensor<1x5x7x7xf32> {\n  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x4x9x9xf32>, \
                tensor<5x4x3x3xf32>) outs(%i : tensor<1x5x7x7xf32>) -> tensor<1x5x7x7xf32>\n  return %y : \
                tensor<1x5x7x7xf32>\n}\n";
    for (precision, windows) in [("bf16", 1), ("bf16x3", 2)] {
        let out = imported(conv, &["--contract", precision]);
        let (cast, slide) = (out.find("tm.cast bf16").expect("a cast"), out.find("to [$(").expect("windows"));
        assert!(cast < slide, "{out}");
        assert_eq!(out.matches("to [$(").count(), windows, "{out}");
    }
}

#[test]
fn types_without_a_format_are_refused() {
    for (ty, say) in [
        ("tensor<?xf32>", "dynamic dimension"),
        ("tensor<*xf32>", "has no rank"),
        ("memref<4xf32>", "is no tensor"),
        ("tensor<4xf64>", "`f64` is no format"),
        ("tensor<4xcomplex<f32>>", "are not imported; expected `f32`"),
        ("tensor<4xui8>", "are not imported; expected `f32`"),
        ("tensor<4xi5>", "are not imported; expected `f32`"),
        ("tensor<4xi9>", "are not imported; expected `f32`"),
        ("tensor<4xi128>", "are not imported; expected `f32`"),
        ("tensor<0xf32>", "has no elements"),
        ("tensor<4xf32, \"layout\">", "has an encoding"),
        ("vector<4xf32>", "is no tensor"),
    ] {
        let text = format!("func.func @f(%x: {ty}) -> {ty} {{\n  return %x : {ty}\n}}\n");
        refused(text.as_bytes(), &["error[mlir-import]: `func.func`: argument 0", say, "<stdin>:1:1"]);
    }
}

#[test]
fn functions_that_are_no_function_of_tensors_are_refused() {
    for (text, says) in [
        ("func.func @f(%x: tensor<4xf32>) {\n  return\n}\n", ["has no result", "<stdin>:2:3"]),
        ("func.func private @f(tensor<4xf32>) -> tensor<4xf32>\n", ["no function with a body", ""]),
        (
            "func.func private @g(tensor<4xf32>) -> tensor<4xf32>\nfunc.func @f(%x: tensor<4xf32>) -> tensor<4xf32> \
             {\n  %y = call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>\n  return %y : tensor<4xf32>\n}\n",
            ["`@g` is called, and has no body", ""],
        ),
        (
            "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = call @f(%x) : (tensor<4xf32>) -> \
             tensor<4xf32>\n  return %y : tensor<4xf32>\n}\n",
            ["one calls itself", "<stdin>:1:1"],
        ),
        (
            "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  cf.br ^bb1\n^bb1:\n  return %x : \
             tensor<4xf32>\n}\n",
            ["has branches", "<stdin>:1:1"],
        ),
        ("module {\n  module {}\n}\n", ["`builtin.module` is not imported", "<stdin>:2:3"]),
    ] {
        refused(text.as_bytes(), &says);
    }
}

#[test]
fn texts_that_mlir_refuses_are_errors() {
    refused(b"", &["error["]);
    refused(b"\xff\xfe", &["neither UTF-8 text nor MLIR bytecode"]);
    refused(b"garbage", &["error[mlir]", "<stdin>:1:1"]);
    refused(
        b"func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = stablehlo.exponential %x : tensor<4xf32>\n  return %y : tensor<4xf32>\n}\n",
        &["error[mlir]", "stablehlo", "<stdin>:2:8", "--stablehlo-legalize-to-linalg"],
    );
    // It parses, and does not verify.
    let wrong = MATMUL.replace(
        "outs(%i : tensor<3x7xf32>) -> tensor<3x7xf32>\n  return",
        "outs(%a : tensor<3x5xf32>) -> tensor<3x5xf32>\n  return",
    );
    refused(wrong.as_bytes(), &["error[mlir]", "<stdin>:"]);
}

/// A module with an affine map of an expression.
fn map(expression: &str) -> String {
    format!("module attributes {{a = affine_map<(d0) -> ({expression})>}} {{}}")
}

#[test]
fn texts_that_nest_deep_do_not_reach_mlir() {
    let deep = format!("module attributes {{a = {}1{}}} {{}}", "[".repeat(100_000), "]".repeat(100_000));
    refused(deep.as_bytes(), &["error[nesting]: brackets nest deeper than 128"]);
    for expression in [format!("{}d0", "- ".repeat(100_000)), format!("d0{}", " + d0".repeat(100_000))] {
        refused(map(&expression).as_bytes(), &["error[nesting]: an affine map of more than 1024 operators"]);
    }
    // Two brackets count, too.
    refused(map(&format!("d0{}", " + d0".repeat(1022))).as_bytes(), &["error[mlir]: 'builtin.module' op"]);
    refused(map(&format!("d0{}", " + d0".repeat(1023))).as_bytes(), &["error[nesting]"]);
    refused(
        b"func.func @f(%x: tensor<4xf32, #sparse_tensor.encoding<{map = (d0) -> (d0 : dense)}>>)",
        &["error[unbounded]: found `sparse_tensor.`"],
    );
}

#[test]
fn the_input_is_not_overwritten_by_accident() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("matmul.mlir");
    std::fs::write(&file, MATMUL).expect("a file");
    let name = file.display().to_string();
    let (code, _, err) = run(&["import", &name, "-o", &name, "--contract", "bf16"], b"");
    assert_eq!(code, 1);
    assert!(err.contains("`--force`"), "{err}");
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), MATMUL);
    let (code, _, err) = run(&["import", &name, "-o", &name, "--contract", "bf16", "--force"], b"");
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(std::fs::read_to_string(&file).expect("the file").starts_with("visa 1\n"));
    let (code, _, err) = run(&["import", "nowhere.mlir"], b"");
    assert_eq!(code, 1);
    assert!(err.contains("cannot read `nowhere.mlir`"), "{err}");
    let (code, _, err) = run(&["import", "-", "--contract", "f32"], b"");
    assert_eq!(code, 1);
    assert!(err.contains("[possible values: bf16, bf16x3]"), "{err}");
}

#[test]
fn refusals_name_the_operation_and_its_place() {
    for (text, says) in [
        (
            mapped("i32", "%c = arith.constant 3 : i32\n    %r = arith.divui %a, %c : i32"),
            ["`arith.divui`: reads a number", "<stdin>:7:10"],
        ),
        (
            mapped("i32", "%c = arith.constant 3 : i32\n    %r = arith.remui %a, %c : i32"),
            ["`arith.remui`: reads a number", "<stdin>:7:10"],
        ),
        (
            mapped("i32", "%c = arith.constant 8 : i32\n    %r = arith.ceildivui %a, %c : i32"),
            ["`arith.ceildivui`: reads a number", "<stdin>:7:10"],
        ),
        (
            mapped("i32", "%r = arith.ceildivsi %a, %a : i32"),
            ["`arith.ceildivsi`: is imported for divisors", "<stdin>:6:10"],
        ),
        (
            mapped("i32", "%r = arith.floordivsi %a, %a : i32"),
            ["`arith.floordivsi`: is imported for divisors", "<stdin>:6:10"],
        ),
        (
            mapped("i32", "%c = arith.constant 0 : i32\n    %r = arith.remsi %a, %c : i32"),
            ["`arith.remsi`: is imported for divisors", "<stdin>:7:10"],
        ),
        (
            mapped("i64", "%c = arith.constant 1099511627776 : i64\n    %r = arith.divsi %a, %c : i64"),
            ["`arith.divsi`: is imported for divisors that are constants of `i32`", "<stdin>:7:10"],
        ),
        (
            mapped("i64", "%r = arith.muli %a, %a : i64"),
            ["`arith.muli`: it computes in `i64`", "<stdin>:6:10"],
        ),
        (
            mapped("i64", "%c = arith.constant 1 : i64\n    %r = arith.shrui %a, %c : i64"),
            ["`arith.shrui`: reads a number", "<stdin>:7:10"],
        ),
        (
            mapped("i32", "%r = math.ipowi %a, %a : i32"),
            ["`math.ipowi`: an integer exponent", "<stdin>:6:10"],
        ),
        (
            mapped("i32", "%c = arith.constant 17 : i32\n    %r = math.ipowi %a, %c : i32"),
            ["from 0 to 16", "<stdin>:7:10"],
        ),
        (
            mapped("bf16", "%i = arith.bitcast %a : bf16 to i16\n    %r = arith.bitcast %i : i16 to bf16"),
            ["`arith.bitcast` is imported between", "<stdin>:6:10"],
        ),
    ] {
        refused(text.as_bytes(), &says);
    }
}

/// A map of a tensor of 12 elements whose index is computed.
fn indexed(index: &str) -> String {
    format!(
        "#d = affine_map<(d0) -> ({index})>\n#o = affine_map<(d0) -> (d0)>\nfunc.func @f(%x: tensor<4xf32>, %i: tensor<12xf32>) -> \
         tensor<12xf32> {{\n  %y = linalg.generic {{indexing_maps = [#d, #o], iterator_types = [\"parallel\"]}} ins(%x : \
         tensor<4xf32>) outs(%i : tensor<12xf32>) {{\n  ^bb0(%a: f32, %o: f32):\n    linalg.yield %a : f32\n  }} -> \
         tensor<12xf32>\n  return %y : tensor<12xf32>\n}}\n"
    )
}

#[test]
fn quotients_in_maps_stay_within_the_tensor() {
    for index in [
        "d0 floordiv 3",
        "d0 mod 4",
        "d0 ceildiv 4",
        "(d0 floordiv 2) mod 4",
        "3 - d0 floordiv 3",
        "(11 - d0) floordiv 3",
    ] {
        let out = imported(&indexed(index), &[]);
        assert_eq!(out.matches("tm.gather").count(), 1, "{index}: {out}");
    }
    // MLIR checks the ends of many indices.
    for index in ["d0 floordiv 2", "d0 floordiv 3 - 1", "(d0 mod 3) * 2"] {
        refused(indexed(index).as_bytes(), &["error[mlir]", "<stdin>:4:8"]);
    }
    let message = "`linalg.generic`: reads indices 0 to 4 of a dimension of 4";
    refused(indexed("d0 mod 5").as_bytes(), &[message, "<stdin>:4:8"]);
}

/// A function that returns a resource of four elements.
fn resource(ty: &str, bytes: &str) -> String {
    format!(
        "func.func @f() -> tensor<4x{ty}> {{\n  %y = arith.constant dense_resource<r> : tensor<4x{ty}>\n  return %y : \
         tensor<4x{ty}>\n}}\n{{-#\n  dialect_resources: {{\n    builtin: {{\n      r: \"0x{bytes}\"\n    }}\n  }}\n#-}}\n"
    )
}

#[test]
fn resources_have_the_bytes_of_their_elements() {
    assert!(
        imported(&resource("i16", "02000000FFFF000001000080"), &[]).contains("values [-1, 0, 1, -32768]")
    );
    for (ty, bytes, says) in [
        ("i16", "02000000FFFF00000100", "`arith.constant`: its elements have 6 bytes; expected 4 of 2"),
        ("f32", "040000000000803F", "`arith.constant`: its elements have 4 bytes; expected 4 of 4"),
        (
            "bf16",
            "02000000FFFF00000100000000000000",
            "`arith.constant`: its elements have 12 bytes; expected 4 of 2",
        ),
        ("i1", "01000000010001", "`arith.constant`: its elements have 3 bytes; expected 4 of 1"),
    ] {
        refused(resource(ty, bytes).as_bytes(), &[says, "<stdin>:2:8"]);
    }
    // A handle without bytes.
    let text = resource("f32", "");
    let (text, _) = text.split_once("{-#").expect("the resources");
    refused(text.as_bytes(), &["`arith.constant`: the file lacks its resource", "<stdin>:2:8"]);
}

#[test]
fn tensors_without_elements_are_neither_arguments_nor_results() {
    let none = "func.func @f(%x: tensor<4xf32>) -> tensor<0xf32> {\n  %y = tensor.extract_slice %x[0] [0] [1] : tensor<4xf32> to \
                tensor<0xf32>\n  return %y : tensor<0xf32>\n}\n";
    refused(
        none.as_bytes(),
        &["`func.return`: result 0: type `tensor<0xf32>` has no elements", "<stdin>:3:3"],
    );
}

#[test]
fn outputs_that_cannot_be_written_are_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    let name = folder.path().join("missing").join("out.visa").display().to_string();
    let (code, out, err) = run(&["import", "-", "--contract", "bf16", "-o", &name], MATMUL.as_bytes());
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("error[file]: cannot write `") && err.contains("No such file"), "{err}");
    let name = folder.path().display().to_string();
    let (code, _, err) = run(&["import", "-", "--contract", "bf16", "-o", &name], MATMUL.as_bytes());
    assert_eq!(code, 1);
    assert!(err.contains("error[file]: cannot write `"), "{err}");
    // Another file is overwritten.
    let file = folder.path().join("out.visa");
    std::fs::write(&file, "before").expect("a file");
    let name = file.display().to_string();
    let (code, _, err) = run(&["import", "-", "--contract", "bf16", "-o", &name], MATMUL.as_bytes());
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(std::fs::read_to_string(&file).expect("the file").starts_with("visa 1\n"));
}

#[test]
fn bytecode_that_ends_early_is_an_error() {
    let registry = DialectRegistry::new();
    register_all_dialects(&registry);
    let context = melior::Context::new_with_registry(&registry, false);
    context.load_all_available_dialects();
    let bytes = Module::parse(&context, MATMUL).expect("a module").as_operation().write_bytecode();
    for length in [4, 5, 16, bytes.len() / 4, bytes.len() - 1] {
        refused(&bytes[..length], &["error[mlir]"]);
    }
}

#[test]
fn results_may_be_arguments() {
    let text = "func.func @f(%x: tensor<4xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {\n  return %x, %x : \
                tensor<4xf32>, tensor<4xf32>\n}\n";
    assert!(imported(text, &[]).contains("tm.return %arg0, %arg0"));
}
