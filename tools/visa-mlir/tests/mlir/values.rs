//! Values of imported functions, worked out by hand.

use crate::import::{function, imported, mapped};
use crate::root;
use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, PI};
use std::path::Path;
use visa_opt::{Io, Registry};

/// An array of NumPy.
struct Array {
    descr: &'static str,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Array {
    fn floats(numbers: &[f32]) -> Self {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        Self { descr: "<f4", shape: vec![numbers.len()], bytes }
    }

    fn integers(numbers: &[i32]) -> Self {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        Self { descr: "<i4", shape: vec![numbers.len()], bytes }
    }

    fn bytes(numbers: &[i8]) -> Self {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        Self { descr: "|i1", shape: vec![numbers.len()], bytes }
    }

    fn of_shape(self, shape: &[usize]) -> Self {
        Self { shape: shape.to_vec(), ..self }
    }

    fn write(&self, path: &Path) {
        let shape: String = self.shape.iter().map(|size| format!("{size}, ")).collect();
        let header = format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({shape}), }}", self.descr);
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        // The header ends with a line break, at a multiple of 64 bytes.
        let length = (file.len() + 2 + header.len() + 1).next_multiple_of(64) - file.len() - 2;
        file.extend(u16::try_from(length).expect("a short header").to_le_bytes());
        file.extend(format!("{header:width$}\n", width = length - 1).bytes());
        file.extend(&self.bytes);
        std::fs::write(path, file).expect("a file");
    }
}

/// Checks the result of an imported function `@f`, within a relative distance.
#[track_caller]
fn check(text: &str, args: &[Array], expected: &Array, tolerance: f32) {
    let folder = tempfile::tempdir().expect("a folder");
    let module = folder.path().join("f.visa");
    std::fs::write(&module, imported(text, &[])).expect("a file");
    let mut flags = vec![module.display().to_string(), "--entry".to_owned(), "f".to_owned()];
    for (number, array) in args.iter().enumerate() {
        let path = folder.path().join(format!("in{number}.npy"));
        array.write(&path);
        flags.extend(["--arg".to_owned(), format!("arg{number}={}", path.display())]);
    }
    let path = folder.path().join("out.npy");
    expected.write(&path);
    flags.extend(["--expect".to_owned(), format!("out={}", path.display())]);
    if tolerance > 0.0 {
        flags.extend(["--tolerance".to_owned(), tolerance.to_string()]);
    }
    let mut io = Io::buffered([], root());
    let code = visa_run::run(&Registry::standard(), &flags, &mut io);
    let (out, err) = (String::from_utf8_lossy(&io.stdout), String::from_utf8_lossy(&io.stderr));
    assert_eq!(code, 0, "{text}\n{out}\n{err}");
}

/// A function of tensors of this shape, with an operation on `%x` and `%z`.
fn of_two(shape: &str, operation: &str) -> String {
    format!(
        "func.func @f(%x: tensor<{shape}>, %z: tensor<{shape}>) -> tensor<{shape}> {{\n  {operation}\n  return %y : \
         tensor<{shape}>\n}}\n"
    )
}

/// Two numbers of `f32` in a row are up to this relative distance apart, times two: the distance that arcs have.
const ARC: f32 = 1.0 / 2_097_152.0;

#[test]
fn arcs_have_quadrants_and_signs_of_zeros() {
    let atan2 = of_two("8xf32", "%y = math.atan2 %x, %z : tensor<8xf32>");
    let infinite = f32::INFINITY;
    check(
        &atan2,
        &[
            Array::floats(&[1.0, 1.0, -1.0, -1.0, 0.0, 2.0, infinite, 3.0]),
            Array::floats(&[1.0, -1.0, -1.0, 1.0, -0.0, 0.0, -infinite, infinite]),
        ],
        &Array::floats(&[
            FRAC_PI_4,
            3.0 * FRAC_PI_4,
            -3.0 * FRAC_PI_4,
            -FRAC_PI_4,
            PI,
            FRAC_PI_2,
            3.0 * FRAC_PI_4,
            0.0,
        ]),
        ARC,
    );
    let one = |operation: &str| mapped("f32", operation);
    // The tangent of a sixth of pi is 1 / sqrt(3), the sine is 1 / 2, and the cosine is sqrt(3) / 2.
    let (sixth, root) = (PI / 6.0, 3.0_f32.sqrt());
    check(
        &one("%r = math.atan %a : f32"),
        &[Array::floats(&[1.0 / root, root, -infinite, 0.0])],
        &Array::floats(&[sixth, 2.0 * sixth, -FRAC_PI_2, 0.0]),
        ARC,
    );
    check(
        &one("%r = math.asin %a : f32"),
        &[Array::floats(&[0.5, -0.5, 1.0, -1.0])],
        &Array::floats(&[sixth, -sixth, FRAC_PI_2, -FRAC_PI_2]),
        ARC,
    );
    check(
        &one("%r = math.acos %a : f32"),
        &[Array::floats(&[0.5, -0.5, 1.0, -1.0])],
        &Array::floats(&[2.0 * sixth, 4.0 * sixth, 0.0, PI]),
        ARC,
    );
    check(
        &one("%r = math.cbrt %a : f32"),
        &[Array::floats(&[8.0, -27.0, 0.0, infinite])],
        &Array::floats(&[2.0, -3.0, 0.0, infinite]),
        ARC,
    );
}

#[test]
fn bits_are_counted_within_the_type() {
    for (operation, expected) in
        [("ctlz", [31, 32, 0, 15]), ("cttz", [0, 32, 0, 16]), ("ctpop", [1, 0, 32, 1])]
    {
        let text = mapped("i32", &format!("%r = math.{operation} %a : i32"));
        check(&text, &[Array::integers(&[1, 0, -1, 65_536])], &Array::integers(&expected), 0.0);
    }
    // 6 is 00000110, and -128 is 10000000.
    for (operation, expected) in [("ctlz", [5, 8, 0, 0]), ("cttz", [1, 8, 0, 7]), ("ctpop", [2, 0, 8, 1])] {
        let text = mapped("i8", &format!("%r = math.{operation} %a : i8"));
        check(&text, &[Array::bytes(&[6, 0, -1, -128])], &Array::bytes(&expected), 0.0);
    }
}

#[test]
fn numbers_of_f64_are_computed_in_f64() {
    // 1 + 2^-25 is a number of `f64`, and 1 in `f32`. MLIR folds constants, but not the number of an iteration.
    let text = function(
        "tensor<4xf32>",
        "tensor<4xf32>",
        "%first = arith.constant 1 : index\n  %end = arith.constant 2 : index\n  %one = arith.constant 1.0 : f64\n  \
         %least = arith.constant 2.98023223876953125e-08 : f64\n  %y = scf.for %i = %first to %end step %first \
         iter_args(%a = %x) -> (tensor<4xf32>) {\n    %k = arith.index_cast %i : index to i32\n    %d = arith.sitofp %k : \
         i32 to f64\n    %sum = arith.addf %d, %least : f64\n    %rest = arith.subf %sum, %one : f64\n    %n = \
         arith.truncf %rest : f64 to f32\n    %t = tensor.splat %n : tensor<4xf32>\n    %b = arith.addf %a, %t : \
         tensor<4xf32>\n    scf.yield %b : tensor<4xf32>\n  }",
    );
    let least = 2.0_f32.powi(-25);
    check(
        &text,
        &[Array::floats(&[0.0, least, -least, 1.0])],
        &Array::floats(&[least, 2.0 * least, 0.0, 1.0]),
        0.0,
    );
}

#[test]
fn tiles_come_last_and_padding_goes() {
    // Three rows in tiles of two: the second tile has a row of padding. The tiles of columns come first.
    let pack = function(
        "tensor<3x2xf32>",
        "tensor<2x2x2x1xf32>",
        "%p = arith.constant 9.0 : f32\n  %e = tensor.empty() : tensor<2x2x2x1xf32>\n  %y = linalg.pack %x \
         padding_value(%p : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [2, 1] into %e : \
         tensor<3x2xf32> -> tensor<2x2x2x1xf32>",
    );
    let rows = || Array::floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).of_shape(&[3, 2]);
    let tiles = || Array::floats(&[1.0, 3.0, 5.0, 9.0, 2.0, 4.0, 6.0, 9.0]).of_shape(&[2, 2, 2, 1]);
    check(&pack, &[rows()], &tiles(), 0.0);
    let unpack = function(
        "tensor<2x2x2x1xf32>",
        "tensor<3x2xf32>",
        "%e = tensor.empty() : tensor<3x2xf32>\n  %y = linalg.unpack %x outer_dims_perm = [1, 0] inner_dims_pos = [0, \
         1] inner_tiles = [2, 1] into %e : tensor<2x2x2x1xf32> -> tensor<3x2xf32>",
    );
    check(&unpack, &[tiles()], &rows(), 0.0);
}

#[test]
fn made_tensors_have_the_elements_of_their_coordinates() {
    let generate = function(
        "tensor<2x3xf32>",
        "tensor<3x2xf32>",
        "%y = tensor.generate {\n  ^bb0(%i: index, %j: index):\n    %a = tensor.extract %x[%j, %i] : tensor<2x3xf32>\n    \
         %n = arith.index_cast %i : index to i32\n    %s = arith.sitofp %n : i32 to f32\n    %r = arith.addf %a, %s : \
         f32\n    tensor.yield %r : f32\n  } : tensor<3x2xf32>",
    );
    let numbers = || Array::floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).of_shape(&[2, 3]);
    // The transpose plus the row.
    let expected = Array::floats(&[1.0, 4.0, 3.0, 6.0, 5.0, 8.0]).of_shape(&[3, 2]);
    check(&generate, &[numbers()], &expected, 0.0);
    let elements = function(
        "tensor<2x3xf32>",
        "tensor<2x2xf32>",
        "%0 = arith.constant 0 : index\n  %1 = arith.constant 1 : index\n  %2 = arith.constant 2 : index\n  %k = \
         arith.constant 7.0 : f32\n  %a = tensor.extract %x[%1, %2] : tensor<2x3xf32>\n  %b = tensor.extract %x[%0, %1] \
         : tensor<2x3xf32>\n  %s = arith.subf %a, %b : f32\n  %y = tensor.from_elements %a, %k, %b, %s : \
         tensor<2x2xf32>",
    );
    check(&elements, &[numbers()], &Array::floats(&[6.0, 7.0, 2.0, 4.0]).of_shape(&[2, 2]), 0.0);
    let insert = function(
        "tensor<2x3xf32>",
        "tensor<2x3xf32>",
        "%1 = arith.constant 1 : index\n  %k = arith.constant 7.0 : f32\n  %y = tensor.insert %k into %x[%1, %1] : \
         tensor<2x3xf32>",
    );
    check(&insert, &[numbers()], &Array::floats(&[1.0, 2.0, 3.0, 4.0, 7.0, 6.0]).of_shape(&[2, 3]), 0.0);
    let reshape = function(
        "tensor<2x3xf32>",
        "tensor<3x2xf32>",
        "%s = arith.constant dense<[3, 2]> : tensor<2xindex>\n  %y = tensor.reshape %x(%s) : (tensor<2x3xf32>, \
         tensor<2xindex>) -> tensor<3x2xf32>",
    );
    check(&reshape, &[numbers()], &numbers().of_shape(&[3, 2]), 0.0);
}

#[test]
fn normal_numbers_depend_on_the_format() {
    // 2^-20 is subnormal in f16, whose least normal number is 2^-14.
    let text = |ty: &str| {
        format!(
            "func.func @f(%x: tensor<4xf32>) -> tensor<4xi32> {{\n  %w = arith.truncf %x : tensor<4xf32> to \
             tensor<4x{ty}>\n  %c = math.isnormal %w : tensor<4x{ty}>\n  %y = arith.extui %c : tensor<4xi1> to \
             tensor<4xi32>\n  return %y : tensor<4xi32>\n}}\n"
        )
    };
    let numbers = || Array::floats(&[2.0_f32.powi(-20), 2.0_f32.powi(-14), 0.0, f32::INFINITY]);
    check(&text("f16"), &[numbers()], &Array::integers(&[0, 1, 0, 0]), 0.0);
    check(&text("bf16"), &[numbers()], &Array::integers(&[1, 1, 0, 0]), 0.0);
}
