// Functions of elements: powers, rounding, comparisons of two floats, and maxima as choices.
// CHECK: tm.func @elements
// CHECK: tm.map [x: float(fixed(x, 31), 31)] %arg0
// CHECK: tm.map [x: x * x * x] %arg0
// CHECK: tm.cast i8
#m = affine_map<(d0) -> (d0)>
func.func @elements(%x: tensor<6xf32>, %y: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xi32>, tensor<6xi1>) {
  %e = tensor.empty() : tensor<6xf32>
  %ei = tensor.empty() : tensor<6xi32>
  %eb = tensor.empty() : tensor<6xi1>
  %three = arith.constant 3 : i64
  %r:5 = linalg.generic {indexing_maps = [#m, #m, #m, #m, #m, #m, #m], iterator_types = ["parallel"]}
    ins(%x, %y : tensor<6xf32>, tensor<6xf32>) outs(%e, %e, %e, %ei, %eb : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xi32>, tensor<6xi1>) {
  ^bb0(%a: f32, %b: f32, %o0: f32, %o1: f32, %o2: f32, %o3: i32, %o4: i1):
    %p = math.fpowi %a, %three : f32, i64
    %f = math.floor %a : f32
    %c = arith.cmpf ogt, %a, %b : f32
    %s = arith.select %c, %a, %b : f32
    %i = arith.fptosi %a : f32 to i32
    linalg.yield %p, %f, %s, %i, %c : f32, f32, f32, i32, i1
  } -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xi32>, tensor<6xi1>)
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xi32>, tensor<6xi1>
}
// A ReLU as torch-mlir writes it is a maximum.
// CHECK: tm.func @relu
// CHECK-NEXT: tm.map [x: max(x, 0)] %arg0
func.func @relu(%x: tensor<6xf32>) -> tensor<6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6xf32>
  %y = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%x : tensor<6xf32>) outs(%e : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = arith.cmpf ugt, %a, %zero : f32
    %s = arith.select %c, %a, %zero : f32
    linalg.yield %s : f32
  } -> tensor<6xf32>
  return %y : tensor<6xf32>
}
