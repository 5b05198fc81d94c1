// Elements of f64 that f32 has, and numbers.
#m = affine_map<(d0) -> (d0)>
// CHECK: tm.func @extended
// CHECK-NEXT: %[[SIZE:.*]] = tm.map [x: abs(x)] %arg0
// CHECK-NEXT: tm.map [x: max(x, 0.5)] %[[SIZE]]
func.func @extended(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]}
    ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %half = arith.constant 0.5 : f64
    %d = arith.extf %a : f32 to f64
    %s = math.absf %d : f64
    %m = arith.maximumf %s, %half : f64
    %r = arith.truncf %m : f64 to f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// A choice of the greater one is compared, element by element.
// CHECK: tm.func @chosen
// CHECK-NEXT: tm.compare %arg0 with [greater 0.5]
func.func @chosen(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]}
    ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %half = arith.constant 0.5 : f64
    %d = arith.extf %a : f32 to f64
    %c = arith.cmpf ogt, %d, %half : f64
    %s = arith.select %c, %d, %half : f64
    %r = arith.truncf %s : f64 to f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// The index of a loop is below 2^24, which f32 has.
// CHECK: tm.func @index
// CHECK: tm.map [x: float(x, 31)]
func.func @index() -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#m], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %d = arith.sitofp %n : i64 to f64
    %r = arith.truncf %d : f64 to f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// Elements of a constant round once, to f32.
// CHECK: tm.func @listed
// CHECK-NEXT: %[[LIST:.*]] = tm.constant f32, values [0.1, 0.5], along [{{.*}}]
// CHECK-NEXT: tm.return %[[LIST]]
func.func @listed() -> tensor<2xf32> {
  %x = arith.constant dense<[0.1, 0.5]> : tensor<2xf64>
  %y = arith.truncf %x : tensor<2xf64> to tensor<2xf32>
  return %y : tensor<2xf32>
}
