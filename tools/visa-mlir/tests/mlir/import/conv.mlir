// Convolutions in both layouts, depthwise, with strides and dilations, and pooling.
// CHECK: tm.func @nhwc
// CHECK: tm.rearrange %arg0 from [X, X2], to [$(P:1, F:1), $(P2:1, F2:1)]
// CHECK: tm.contract %{{.*}}, %{{.*}} over [F, F2, K], free
func.func @nhwc(%x: tensor<2x10x12x3xbf16>, %w: tensor<3x3x3x8xbf16>) -> tensor<2x8x10x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8x10x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8x10x8xf32>) -> tensor<2x8x10x8xf32>
  %y = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%x, %w : tensor<2x10x12x3xbf16>, tensor<3x3x3x8xbf16>) outs(%init : tensor<2x8x10x8xf32>) -> tensor<2x8x10x8xf32>
  return %y : tensor<2x8x10x8xf32>
}
// CHECK: tm.func @nchw
// CHECK: [$({{P[0-9]*}}:2, {{F[0-9]*}}:1), $({{P[0-9]*}}:2, {{F[0-9]*}}:1)]
func.func @nchw(%x: tensor<1x4x9x9xbf16>, %w: tensor<5x4x3x3xbf16>) -> tensor<1x5x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x5x4x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<1x5x4x4xf32>) -> tensor<1x5x4x4xf32>
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
    ins(%x, %w : tensor<1x4x9x9xbf16>, tensor<5x4x3x3xbf16>) outs(%init : tensor<1x5x4x4xf32>) -> tensor<1x5x4x4xf32>
  return %y : tensor<1x5x4x4xf32>
}
// CHECK: tm.func @depthwise
// CHECK: tm.contract
func.func @depthwise(%x: tensor<1x9x9x4xbf16>, %w: tensor<3x3x4xbf16>) -> tensor<1x5x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x5x5x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<1x5x5x4xf32>) -> tensor<1x5x5x4xf32>
  %y = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%x, %w : tensor<1x9x9x4xbf16>, tensor<3x3x4xbf16>) outs(%init : tensor<1x5x5x4xf32>) -> tensor<1x5x5x4xf32>
  return %y : tensor<1x5x5x4xf32>
}
// CHECK: tm.func @pool
// CHECK: tm.reduce Max
func.func @pool(%x: tensor<1x8x8x4xf32>) -> tensor<1x4x4x4xf32> {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1x4x4x4xf32>
  %k = tensor.empty() : tensor<2x2xf32>
  %init = linalg.fill ins(%low : f32) outs(%e : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %y = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
    ins(%x, %k : tensor<1x8x8x4xf32>, tensor<2x2xf32>) outs(%init : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  return %y : tensor<1x4x4x4xf32>
}
