// Functions that call one another, and that other modules may call, with axes of other names, and results that are arguments or there twice.
// CHECK: tm.func @double(%arg0: !tm.tensor<f32, [{{.*}}]>)
// CHECK: tm.func @main
// CHECK: tm.call @double %arg0
// CHECK: tm.rename
// CHECK: %[[LAST:.*]] = tm.call @double
// CHECK: tm.return %[[LAST]], %[[LAST]], %arg0
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %e = tensor.empty() : tensor<4x4xf32>
  %a = call @double(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %t = linalg.transpose ins(%a : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  %b = call @double(%t) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %b, %b, %x : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
func.func @double(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = arith.addf %x, %x : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
// A private function is a part of those that call it.
// CHECK-NOT: @part
// CHECK: tm.func @whole
// CHECK-NOT: tm.call
func.func @whole(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @part(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @part(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
