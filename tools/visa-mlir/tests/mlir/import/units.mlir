// Dimensions of one coordinate are made by splits, and lost by parts at coordinate 0.
// CHECK: tm.func @before
// CHECK: %[[RENAMED:.*]] = tm.rename %{{.*}} axes [D], to [D3]
// CHECK-NEXT: tm.split %[[RENAMED]] axis [D3], to [U, D]
// CHECK-NEXT: tm.return
func.func @before(%x: tensor<1x8x16xf32>) -> tensor<1x8x16xf32> {
  %y = math.exp %x : tensor<1x8x16xf32>
  return %y : tensor<1x8x16xf32>
}
// CHECK: tm.func @after
// CHECK: tm.split %{{.*}} axis [{{D[0-9]*}}], to [{{D[0-9]*}}, U]
// CHECK-NEXT: tm.return
func.func @after(%x: tensor<8x16xf32>) -> tensor<8x1xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<8x16xf32>) outs(%i : tensor<8xf32>) dimensions = [1]
  %y = tensor.expand_shape %s [[0, 1]] output_shape [8, 1] : tensor<8xf32> into tensor<8x1xf32>
  return %y : tensor<8x1xf32>
}
// Another order of the axes includes them.
// CHECK: tm.func @swapped
// CHECK: tm.broadcast
// CHECK-NEXT: tm.rearrange
// CHECK-NEXT: tm.return
func.func @swapped(%x: tensor<1x8x16xf32>) -> tensor<16x1x8xf32> {
  %e = tensor.empty() : tensor<16x1x8xf32>
  %y = linalg.transpose ins(%x : tensor<1x8x16xf32>) outs(%e : tensor<16x1x8xf32>) permutation = [2, 0, 1]
  return %y : tensor<16x1x8xf32>
}
// A tensor of ones alone has nothing to split.
// CHECK: tm.func @alone
// CHECK: tm.broadcast %{{.*}} along [U, U2]
// CHECK-NEXT: tm.return
func.func @alone(%x: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %y = math.exp %x : tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}
