//! Refusals of numbers that the machine lacks, and of operations without a counterpart: each by name, at its place,
//! with the way around it.

use crate::import::{function, imported, mapped, refused};

/// A map over `tensor<4xf32>` in whose body `%d` is an element of `f64`.
fn doubled(operation: &str) -> String {
    mapped("f32", &format!("%d = arith.extf %a : f32 to f64\n    {operation}"))
}

#[test]
fn arithmetic_in_f64_is_refused_by_name() {
    for (operation, name) in [
        ("arith.addf %d, %d : f64", "arith.addf"),
        ("arith.subf %d, %d : f64", "arith.subf"),
        ("arith.mulf %d, %d : f64", "arith.mulf"),
        ("arith.divf %d, %d : f64", "arith.divf"),
        ("arith.remf %d, %d : f64", "arith.remf"),
        ("math.sqrt %d : f64", "math.sqrt"),
        ("math.rsqrt %d : f64", "math.rsqrt"),
        ("math.exp %d : f64", "math.exp"),
        ("math.powf %d, %d : f64", "math.powf"),
        ("math.fma %d, %d, %d : f64", "math.fma"),
        ("math.atan2 %d, %d : f64", "math.atan2"),
        ("math.cbrt %d : f64", "math.cbrt"),
        ("math.log %d : f64", "math.log"),
        ("math.log1p %d : f64", "math.log1p"),
        ("math.expm1 %d : f64", "math.expm1"),
        ("math.tanh %d : f64", "math.tanh"),
        ("math.erf %d : f64", "math.erf"),
        ("math.sin %d : f64", "math.sin"),
        ("math.asin %d : f64", "math.asin"),
        ("math.sinh %d : f64", "math.sinh"),
        ("math.exp2 %d : f64", "math.exp2"),
    ] {
        let text = doubled(&format!("%s = {operation}\n    %r = arith.truncf %s : f64 to f32"));
        refused(
            text.as_bytes(),
            &[
                &format!("`{name}`: computes in `f64`, which no engine does; expected `f32`"),
                "<stdin>:7:10",
                "fix: truncate its operands first, by `arith.truncf`",
            ],
        );
    }
    // The choice between two branches.
    let branches = doubled(
        "%n = arith.constant 0.0 : f32\n    %c = arith.cmpf ogt, %a, %n : f32\n    %s = scf.if %c -> (f64) {\n      \
         scf.yield %d : f64\n    } else {\n      %m = arith.negf %d : f64\n      scf.yield %m : f64\n    }\n    %r = \
         arith.truncf %s : f64 to f32",
    );
    refused(branches.as_bytes(), &["computes in `f64`"]);
}

#[test]
fn numbers_that_f32_lacks_are_not_rounded_in_between() {
    let tenth = "%c = arith.constant 0.1 : f64\n    ";
    let text =
        doubled(&format!("{tenth}%s = arith.maximumf %d, %c : f64\n    %r = arith.truncf %s : f64 to f32"));
    refused(
        text.as_bytes(),
        &["`arith.maximumf`: reads the number 0.1 of `f64`", "<stdin>:8:10", "`arith.truncf`"],
    );
    let text = doubled(&format!(
        "{tenth}%s = arith.cmpf ogt, %d, %c : f64\n    %n = arith.negf %a : f32\n    %r = arith.select %s, %a, %n : f32"
    ));
    refused(text.as_bytes(), &["`arith.cmpf`: reads the number 0.1 of `f64`", "<stdin>:8:10"]);
    // Integers beyond 2^24.
    let text = mapped("i32", "%s = arith.sitofp %a : i32 to f64\n    %r = arith.fptosi %s : f64 to i32");
    refused(
        text.as_bytes(),
        &[
            "`arith.sitofp`: converts integers up to 2147483648 to `f64`; expected at most 16777216",
            "<stdin>:6:10",
        ],
    );
    imported(&mapped("i16", "%s = arith.sitofp %a : i16 to f64\n    %r = arith.fptosi %s : f64 to i16"), &[]);
    // Elements of a constant that f32 lacks round to f32 alone.
    let listed = |numbers: &str, to: &str| {
        format!(
            "func.func @f() -> tensor<2x{to}> {{\n  %x = arith.constant dense<{numbers}> : tensor<2xf64>\n  %y = \
             arith.truncf %x : tensor<2xf64> to tensor<2x{to}>\n  return %y : tensor<2x{to}>\n}}\n"
        )
    };
    imported(&listed("[0.1, 0.5]", "f32"), &[]);
    imported(&listed("[0.25, 0.5]", "bf16"), &[]);
    let bits = function(
        "tensor<2xi64>",
        "tensor<2xi64>",
        "%d = arith.constant dense<[0.5, 0.25]> : tensor<2xf64>\n  %b = arith.bitcast %d : tensor<2xf64> to \
         tensor<2xi64>\n  %y = arith.andi %x, %b : tensor<2xi64>",
    );
    refused(bits.as_bytes(), &["error["]);
}

#[test]
fn tensors_of_f64_are_neither_reduced_nor_joined() {
    let wide = "%w = arith.extf %x : tensor<4xf32> to tensor<4xf64>\n  ";
    let sum = format!(
        "%z = arith.constant 0.0 : f64\n  %e = tensor.empty() : tensor<f64>\n  %i = linalg.fill ins(%z : f64) outs(%e : \
         tensor<f64>) -> tensor<f64>\n  {wide}%s = linalg.reduce {{ arith.addf }} ins(%w : tensor<4xf64>) outs(%i : \
         tensor<f64>) dimensions = [0]\n  %y = arith.truncf %s : tensor<f64> to tensor<f32>"
    );
    let sum = function("tensor<4xf32>", "tensor<f32>", &sum);
    refused(sum.as_bytes(), &["`linalg.reduce`: computes in `f64`", "<stdin>:6:8"]);
    let product = "func.func @f(%a: tensor<3x5xf32>, %b: tensor<5x7xf32>) -> tensor<3x7xf32> {\n  %z = arith.constant 0.0 \
                   : f64\n  %e = tensor.empty() : tensor<3x7xf64>\n  %i = linalg.fill ins(%z : f64) outs(%e : \
                   tensor<3x7xf64>) -> tensor<3x7xf64>\n  %c = arith.extf %a : tensor<3x5xf32> to tensor<3x5xf64>\n  %d = \
                   arith.extf %b : tensor<5x7xf32> to tensor<5x7xf64>\n  %s = linalg.matmul ins(%c, %d : tensor<3x5xf64>, \
                   tensor<5x7xf64>) outs(%i : tensor<3x7xf64>) -> tensor<3x7xf64>\n  %y = arith.truncf %s : \
                   tensor<3x7xf64> to tensor<3x7xf32>\n  return %y : tensor<3x7xf32>\n}\n";
    refused(product.as_bytes(), &["`linalg.matmul`: computes in `f64`", "<stdin>:7:8"]);
    let pad = format!(
        "%z = arith.constant 0.1 : f64\n  {wide}%p = tensor.pad %w low[1] high[1] {{\n  ^bb0(%i: index):\n    \
         tensor.yield %z : f64\n  }} : tensor<4xf64> to tensor<6xf64>\n  %y = arith.truncf %p : tensor<6xf64> to \
         tensor<6xf32>"
    );
    let pad = function("tensor<4xf32>", "tensor<6xf32>", &pad);
    refused(pad.as_bytes(), &["`tensor.pad`: computes in `f64`", "<stdin>:4:8"]);
    let join = format!(
        "{wide}%p = tensor.concat dim(0) %w, %w : (tensor<4xf64>, tensor<4xf64>) -> tensor<8xf64>\n  %y = arith.truncf \
         %p : tensor<8xf64> to tensor<8xf32>"
    );
    let join = function("tensor<4xf32>", "tensor<8xf32>", &join);
    refused(join.as_bytes(), &["`tensor.concat`: computes in `f64`", "<stdin>:3:8"]);
}

#[test]
fn other_roundings_are_refused() {
    let narrow = |rounding: &str, ty: &str| {
        let body =
            format!("%n = arith.truncf %a {rounding} : f32 to {ty}\n    %r = arith.extf %n : {ty} to f32");
        mapped("f32", &body)
    };
    for (ty, expected) in
        [("bf16", "to_nearest_even"), ("f8E4M3FN", "to_nearest_even"), ("f8E5M2", "to_nearest_away")]
    {
        imported(&narrow("", ty), &[]);
        imported(&narrow(expected, ty), &[]);
        let all = ["to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away"];
        for rounding in all.into_iter().filter(|rounding| *rounding != expected) {
            refused(
                narrow(rounding, ty).as_bytes(),
                &[
                    &format!("`arith.truncf`: rounds by `{rounding}`; expected `{expected}`"),
                    "<stdin>:6:10",
                    "fix: leave out the rounding",
                ],
            );
        }
    }
}

#[test]
fn operations_without_a_counterpart_have_a_way_around() {
    for (ty, operation, name, fix) in [
        ("f32", "%r, %c = math.sincos %a : f32", "math.sincos", "use `math.sin` and `math.cos`"),
        (
            "i32",
            "%r, %c = arith.addui_extended %a, %a : i32, i1",
            "arith.addui_extended",
            "widen the operands",
        ),
        ("i32", "%r, %h = arith.mulsi_extended %a, %a : i32", "arith.mulsi_extended", "widen the operands"),
        ("i32", "%r, %h = arith.mului_extended %a, %a : i32", "arith.mului_extended", "widen the operands"),
    ] {
        let text = mapped(ty, operation);
        refused(text.as_bytes(), &[&format!("`{name}` is not imported"), "<stdin>:6:14", fix]);
    }
    let scatter = "func.func @f(%x: tensor<2x4xf32>, %d: tensor<8x4xf32>, %i: tensor<2x1xi32>) -> tensor<8x4xf32> {\n  %y = \
                   tensor.scatter %x into %d[%i] scatter_dims([0]) unique : (tensor<2x4xf32>, tensor<8x4xf32>, \
                   tensor<2x1xi32>) -> tensor<8x4xf32>\n  return %y : tensor<8x4xf32>\n}\n";
    refused(scatter.as_bytes(), &["`tensor.scatter` is not imported", "<stdin>:2:8", "`tensor.gather`"]);
    let filter = "func.func @f(%x: tensor<2x3x3x5xf32>, %e: tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32> {\n  %y = \
                  linalg.winograd_filter_transform fmr(F_4_3) ins(%x : tensor<2x3x3x5xf32>) outs(%e : \
                  tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32>\n  return %y : tensor<6x6x5x2xf32>\n}\n";
    refused(
        filter.as_bytes(),
        &["`linalg.winograd_filter_transform` is not imported", "<stdin>:2:8", "use the convolution itself"],
    );
    let bits =
        function("tensor<4xf32>", "tensor<4xi32>", "%y = tensor.bitcast %x : tensor<4xf32> to tensor<4xi32>");
    refused(bits.as_bytes(), &["`tensor.bitcast` is not imported", "<stdin>:2:8", "`arith.bitcast`"]);
}

#[test]
fn bits_of_wide_integers_are_not_counted() {
    for operation in ["ctlz", "cttz", "ctpop"] {
        let text = mapped("i64", &format!("%r = math.{operation} %a : i64"));
        refused(
            text.as_bytes(),
            &[
                &format!("`math.{operation}`: counts the bits of an integer of 64 bits"),
                "<stdin>:6:10",
                "`arith.trunci`",
            ],
        );
    }
}

#[test]
fn bounds_of_made_tensors_are_checked() {
    let insert = |at: i64| {
        function(
            "tensor<4xf32>",
            "tensor<4xf32>",
            &format!(
                "%i = arith.constant {at} : index\n  %k = arith.constant 7.0 : f32\n  %y = tensor.insert %k into %x[%i] : \
                 tensor<4xf32>"
            ),
        )
    };
    imported(&insert(3), &[]);
    refused(insert(4).as_bytes(), &["`tensor.insert`: writes index 4 of a dimension of 4", "<stdin>:4:8"]);
    refused(insert(-1).as_bytes(), &["`tensor.insert`: writes index -1 of a dimension of 4", "<stdin>:4:8"]);
    let elements = |count: usize| {
        let scalars = vec!["%a"; count].join(", ");
        function(
            "tensor<4xf32>",
            &format!("tensor<{count}xf32>"),
            &format!(
                "%i = arith.constant 1 : index\n  %a = tensor.extract %x[%i] : tensor<4xf32>\n  %y = tensor.from_elements \
                 {scalars} : tensor<{count}xf32>"
            ),
        )
    };
    imported(&elements(64), &[]);
    refused(
        elements(65).as_bytes(),
        &["`tensor.from_elements`: has 65 scalars; expected at most 64", "<stdin>:4:8", "as a tensor"],
    );
    // An operation of the body.
    let generate = function(
        "tensor<4xf32>",
        "tensor<4xf32>",
        "%y = tensor.generate {\n  ^bb0(%i: index):\n    %a = tensor.extract %x[%i] : tensor<4xf32>\n    %r, %c = \
         math.sincos %a : f32\n    tensor.yield %r : f32\n  } : tensor<4xf32>",
    );
    refused(generate.as_bytes(), &["`math.sincos` is not imported", "<stdin>:5:14"]);
}

/// A function that packs five elements.
fn packed(padding: &str, tile: &str, result: &str) -> String {
    function(
        "tensor<5xf32>",
        &format!("tensor<{result}xf32>"),
        &format!(
            "%i = arith.constant 0 : index\n  %p = arith.constant 9.0 : f32\n  %q = tensor.extract %x[%i] : \
             tensor<5xf32>\n  %e = tensor.empty() : tensor<{result}xf32>\n  %y = linalg.pack %x {padding} inner_dims_pos \
             = [0] inner_tiles = [{tile}] into %e : tensor<5xf32> -> tensor<{result}xf32>"
        ),
    )
}

#[test]
fn tiles_are_whole_or_padded_by_a_constant() {
    imported(&packed("padding_value(%p : f32)", "2", "3x2"), &[]);
    refused(
        packed("padding_value(%q : f32)", "2", "3x2").as_bytes(),
        &["`linalg.pack`: pads by a number that is computed; expected a constant", "<stdin>:6:8"],
    );
    // MLIR checks the rest.
    refused(packed("", "2", "3x2").as_bytes(), &["error[mlir]", "<stdin>:6:8"]);
    refused(packed("padding_value(%p : f32)", "2", "4x2").as_bytes(), &["error[", "<stdin>:6:8"]);
    refused(packed("padding_value(%p : f32)", "0", "5x0").as_bytes(), &["error[", "<stdin>:6:8"]);
}
