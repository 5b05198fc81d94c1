// Reductions with a first element, of bf16, by choices, and of pairs whose second result is dead.
// CHECK: tm.func @with_bias
// CHECK: tm.reduce Add %arg0 over [{{.*}}], free
// CHECK: tm.map [a, b: a + b] %arg1
func.func @with_bias(%x: tensor<3x5xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %y = linalg.reduce ins(%x : tensor<3x5xf32>) outs(%b : tensor<3xf32>) dimensions = [1]
    (%in: f32, %so_far: f32) {
      %s = arith.addf %in, %so_far : f32
      linalg.yield %s : f32
    }
  return %y : tensor<3xf32>
}
// CHECK: tm.func @chosen
// CHECK: tm.reduce Max %arg0
func.func @chosen(%x: tensor<3x5xf32>) -> tensor<3xf32> {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<3xf32>
  %init = linalg.fill ins(%low : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<3x5xf32>) outs(%init : tensor<3xf32>) {
  ^bb0(%in: f32, %so_far: f32):
    %g = arith.cmpf ogt, %in, %so_far : f32
    %m = arith.select %g, %in, %so_far : f32
    %n = arith.cmpf uno, %in, %in : f32
    %s = arith.select %n, %in, %m : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  return %y : tensor<3xf32>
}
// CHECK: tm.func @narrow
// CHECK: %[[WIDE:.*]] = tm.cast f32 %arg0
// CHECK: %[[SUM:.*]] = tm.reduce Add %[[WIDE]]
// CHECK: tm.cast bf16 %[[SUM]]
func.func @narrow(%x: tensor<3x5xbf16>) -> tensor<5xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<5xbf16>
  %init = linalg.fill ins(%zero : bf16) outs(%e : tensor<5xbf16>) -> tensor<5xbf16>
  %y = linalg.reduce {arith.addf} ins(%x : tensor<3x5xbf16>) outs(%init : tensor<5xbf16>) dimensions = [0]
  return %y : tensor<5xbf16>
}
// The position of the first greatest element, as torch-mlir writes argmax.
// CHECK: tm.func @argmax
// CHECK: %[[GREATEST:.*]] = tm.reduce Max %arg0
// CHECK: %[[CANDIDATE:.*]] = tm.where
// CHECK: tm.reduce Min %[[CANDIDATE]]
func.func @argmax(%x: tensor<3x5xf32>) -> tensor<3xi64> {
  %c0 = arith.constant 0 : i64
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<3xi64>
  %z = linalg.fill ins(%c0 : i64) outs(%e : tensor<3xi64>) -> tensor<3xi64>
  %f = tensor.empty() : tensor<3xf32>
  %l = linalg.fill ins(%low : f32) outs(%f : tensor<3xf32>) -> tensor<3xf32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<3x5xf32>) outs(%l, %z : tensor<3xf32>, tensor<3xi64>) {
  ^bb0(%in: f32, %out: f32, %o: i64):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i64
    %m = arith.maximumf %in, %out : f32
    %c = arith.cmpf ogt, %in, %out : f32
    %s = arith.select %c, %j, %o : i64
    linalg.yield %m, %s : f32, i64
  } -> (tensor<3xf32>, tensor<3xi64>)
  return %r#1 : tensor<3xi64>
}
