// Constants: lists, splats, resources and conditions.
// CHECK: tm.func @constants
// CHECK: tm.constant f32, values [1, 2.5, -3], along
func.func @constants(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %list = arith.constant dense<[1.0, 2.5, -3.0]> : tensor<3xf32>
  %splat = arith.constant dense<4.0> : tensor<2x3xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %full = linalg.broadcast ins(%list : tensor<3xf32>) outs(%e : tensor<2x3xf32>) dimensions = [0]
  %a = arith.mulf %x, %full : tensor<2x3xf32>
  %b = arith.addf %a, %splat : tensor<2x3xf32>
  return %b : tensor<2x3xf32>
}
// CHECK: tm.func @resource
// CHECK: tm.constant f32, values [1, 2], along
func.func @resource(%x: tensor<2xf32>) -> tensor<2xf32> {
  %list = arith.constant dense_resource<weights> : tensor<2xf32>
  %y = arith.addf %x, %list : tensor<2xf32>
  return %y : tensor<2xf32>
}
{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F00000040"
    }
  }
#-}
