// Maps with quotients and remainders, a contraction that is written with math.fma, and tensors without elements.
#d = affine_map<(d0, d1) -> (d0 floordiv 3, d1 mod 4)>
#o = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: tm.func @digits
// CHECK: %[[D:.*]] = tm.index [D]
// CHECK: %[[Q:.*]] = tm.map [x: ashr(x * 11, 5)] %[[D]]
// CHECK: tm.gather %arg0, %[[Q]]
// CHECK: tm.map [x: and(x, 3)]
func.func @digits(%x: tensor<2x4xf32>, %y: tensor<6x12xf32>) -> tensor<6x12xf32> {
  %e = tensor.empty() : tensor<6x12xf32>
  %r = linalg.generic {indexing_maps = [#d, #o, #o], iterator_types = ["parallel", "parallel"]}
    ins(%x, %y : tensor<2x4xf32>, tensor<6x12xf32>) outs(%e : tensor<6x12xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %t = arith.mulf %p, %q : f32
    linalg.yield %t : f32
  } -> tensor<6x12xf32>
  return %r : tensor<6x12xf32>
}
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
// CHECK: tm.func @fused
// CHECK: tm.contract %arg0, %arg1
func.func @fused(%x: tensor<7x9xbf16>, %w: tensor<9x5xbf16>) -> tensor<7x5xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x5xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<7x5xf32>) -> tensor<7x5xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<7x9xbf16>, tensor<9x5xbf16>) outs(%i : tensor<7x5xf32>) {
  ^bb0(%p: bf16, %q: bf16, %acc: f32):
    %p1 = arith.extf %p : bf16 to f32
    %q1 = arith.extf %q : bf16 to f32
    %t = math.fma %p1, %q1, %acc : f32
    linalg.yield %t : f32
  } -> tensor<7x5xf32>
  return %r : tensor<7x5xf32>
}
// CHECK: tm.func @empty
// CHECK-NEXT: tm.return %arg0
func.func @empty(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %none = tensor.empty() : tensor<0x3xf32>
  %n = arith.negf %none : tensor<0x3xf32>
  %y = tensor.concat dim(0) %n, %x : (tensor<0x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}
// CHECK: tm.func @table
// CHECK: %[[C:.*]] = tm.constant f32, values [1, 2, 3, 4, 5, 6]
// CHECK: tm.gather
func.func @table(%i: tensor<5xi32>) -> tensor<5x3xf32> {
  %t = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %e = tensor.empty() : tensor<5x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, #o], iterator_types = ["parallel", "parallel"]}
    ins(%i : tensor<5xi32>) outs(%e : tensor<5x3xf32>) {
  ^bb0(%k: i32, %o: f32):
    %kk = arith.index_cast %k : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%kk, %j] : tensor<2x3xf32>
    linalg.yield %v : f32
  } -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}
// CHECK: tm.func @narrow
// CHECK-DAG: tm.constant bf16, values [1, 3, -2, 4]
// CHECK-DAG: tm.constant f16, values [1, 2, -2, 0.5]
// CHECK-DAG: tm.constant f8e4m3, values [1, 2, -2, 0.5]
// CHECK-DAG: tm.constant i4, values [1, -8, 7, -1]
// CHECK-DAG: tm.constant i32, values [1, 0, 0, 1]
// CHECK-DAG: tm.constant i4, values [-8, 7, 3, 0]
// CHECK-DAG: tm.constant f32, values [1.5, -2, 0.1, 3]
func.func @narrow() -> (tensor<4xbf16>, tensor<4xf16>, tensor<4xf8E4M3FN>, tensor<4xi4>, tensor<4xi1>, tensor<4xi4>, tensor<4xf32>) {
  %b = arith.constant dense_resource<brain> : tensor<4xbf16>
  %h = arith.constant dense_resource<half> : tensor<4xf16>
  %f = arith.constant dense_resource<eight> : tensor<4xf8E4M3FN>
  %n = arith.constant dense_resource<four> : tensor<4xi4>
  %c = arith.constant dense_resource<one> : tensor<4xi1>
  %d = arith.constant dense<[-8, 7, 3, 0]> : tensor<4xi4>
  %w = arith.constant dense<[1.5, -2.0, 0.1, 3.0]> : tensor<4xf64>
  %t = arith.truncf %w : tensor<4xf64> to tensor<4xf32>
  return %b, %h, %f, %n, %c, %d, %t : tensor<4xbf16>, tensor<4xf16>, tensor<4xf8E4M3FN>, tensor<4xi4>, tensor<4xi1>, tensor<4xi4>, tensor<4xf32>
}
{-#
  dialect_resources: {
    builtin: {
      brain: "0x02000000803F404000C08040",
      half: "0x02000000003C004000C00038",
      eight: "0x010000003840C030",
      four: "0x010000000108070F",
      one: "0x0100000001000001"
    }
  }
#-}
