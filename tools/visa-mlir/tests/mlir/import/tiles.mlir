// Dimensions that are cut into tiles, and tiles that are joined: splits and merges of axes.
// CHECK: tm.func @pack
// CHECK-NEXT: %[[PADDED:.*]] = tm.extend %arg0 axis [{{.*}}], to [{{.*}}], with 7
// CHECK-NEXT: %[[ROWS:.*]] = tm.split %[[PADDED]]
// CHECK-NEXT: tm.split %[[ROWS]]
func.func @pack(%x: tensor<6x10xf32>) -> tensor<3x3x4x2xf32> {
  %p = arith.constant 7.0 : f32
  %e = tensor.empty() : tensor<3x3x4x2xf32>
  %y = linalg.pack %x padding_value(%p : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [4, 2]
    into %e : tensor<6x10xf32> -> tensor<3x3x4x2xf32>
  return %y : tensor<3x3x4x2xf32>
}
// Two of the twelve columns are padding.
// CHECK: tm.func @unpack
// CHECK-COUNT-2: tm.merge
// CHECK: tm.gather
func.func @unpack(%x: tensor<3x3x4x2xf32>) -> tensor<6x10xf32> {
  %e = tensor.empty() : tensor<6x10xf32>
  %y = linalg.unpack %x outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [4, 2]
    into %e : tensor<3x3x4x2xf32> -> tensor<6x10xf32>
  return %y : tensor<6x10xf32>
}
// Tiles that are packed and unpacked alike stay the axes of the tensor.
// CHECK: tm.func @both
// CHECK-NOT: tm.gather
// CHECK: tm.merge
func.func @both(%x: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %e = tensor.empty() : tensor<2x6x4xf32>
  %f = tensor.empty() : tensor<8x6xf32>
  %p = linalg.pack %x inner_dims_pos = [0] inner_tiles = [4] into %e : tensor<8x6xf32> -> tensor<2x6x4xf32>
  %s = math.exp %p : tensor<2x6x4xf32>
  %y = linalg.unpack %s inner_dims_pos = [0] inner_tiles = [4] into %f : tensor<2x6x4xf32> -> tensor<8x6xf32>
  return %y : tensor<8x6xf32>
}
// CHECK: tm.func @reshape
// CHECK-NEXT: %[[FLAT:.*]] = tm.merge %arg0
// CHECK-NEXT: tm.split %[[FLAT]]
func.func @reshape(%x: tensor<4x6xf32>) -> tensor<3x2x4xf32> {
  %s = arith.constant dense<[3, 2, 4]> : tensor<3xindex>
  %y = tensor.reshape %x(%s) : (tensor<4x6xf32>, tensor<3xindex>) -> tensor<3x2x4xf32>
  return %y : tensor<3x2x4xf32>
}
// A dimension that is cut needs no merge.
// CHECK: tm.func @cut
// CHECK-NEXT: tm.split %arg0
// CHECK-NEXT: tm.return
func.func @cut(%x: tensor<24xf32>) -> tensor<4x6xf32> {
  %s = arith.constant dense<[4, 6]> : tensor<2xindex>
  %y = tensor.reshape %x(%s) : (tensor<24xf32>, tensor<2xindex>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
