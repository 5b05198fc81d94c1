// Products of i8, plain and with zero points.
// CHECK: tm.func @plain
// CHECK: tm.contract %arg0, %arg1 over [K]
func.func @plain(%a: tensor<3x5xi8>, %b: tensor<5x7xi8>) -> tensor<3x7xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<3x7xi32>
  %init = linalg.fill ins(%zero : i32) outs(%e : tensor<3x7xi32>) -> tensor<3x7xi32>
  %y = linalg.matmul ins(%a, %b : tensor<3x5xi8>, tensor<5x7xi8>) outs(%init : tensor<3x7xi32>) -> tensor<3x7xi32>
  return %y : tensor<3x7xi32>
}
// CHECK: tm.func @zero_points
// CHECK: %[[WIDE:.*]] = tm.cast i9 %arg0
// CHECK: %[[LEFT:.*]] = tm.subtract_zero %[[WIDE]] points [3]
// CHECK: tm.subtract_zero %{{.*}} points [-4]
// CHECK: tm.contract %[[LEFT]]
func.func @zero_points(%a: tensor<3x5xi8>, %b: tensor<5x7xi8>) -> tensor<3x7xi32> {
  %zero = arith.constant 0 : i32
  %za = arith.constant 3 : i32
  %zb = arith.constant -4 : i32
  %e = tensor.empty() : tensor<3x7xi32>
  %init = linalg.fill ins(%zero : i32) outs(%e : tensor<3x7xi32>) -> tensor<3x7xi32>
  %y = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<3x5xi8>, tensor<5x7xi8>, i32, i32)
    outs(%init : tensor<3x7xi32>) -> tensor<3x7xi32>
  return %y : tensor<3x7xi32>
}
